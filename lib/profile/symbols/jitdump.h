/* SPDX-License-Identifier: MIT */
/* Dumps of compilers that run in a program (jitdump, of Linux's tools/perf). */
#ifndef PFM_JITDUMP_H
#define PFM_JITDUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "profile/budget.h"
#include "profile/symbols/symbol_table.h"

/* True if the last part of @path is jit-PID.dump. */
bool is_jitdump_path(const char *path);

/* Adds the functions of the dump @f to @t, the later ones with higher ranks, which begin at @rank.
 * Reading ends where the dump is cut off or damaged, and where @budget, of bytes of functions, is
 * spent. False without memory. */
bool jitdump_read(struct symbol_table *t, FILE *f, uint32_t rank, struct budget *budget);

#endif
