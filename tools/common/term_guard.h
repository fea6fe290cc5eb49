/* SPDX-License-Identifier: MIT */
/* Shared by term.c and term_guard.c. */
#ifndef PFM_TERM_GUARD_H
#define PFM_TERM_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The descriptor that @out writes to, through the guard or directly. */
int guard_descriptor(FILE *out);
/* True if @out writes through the guard; *@is_terminal is set then. */
bool guard_find(FILE *out, bool *is_terminal);
/* True if the @len bytes are an escape sequence with which pfm sets a colour. (term.c) */
bool is_colour_code(const char *bytes, size_t len);

#endif
