/* SPDX-License-Identifier: MIT */
/* Events and errors as texts. Nothing here allocates, reads a global or keeps a pointer. */
#ifndef PERFMON_REVERSE_H
#define PERFMON_REVERSE_H

#include "lookup/lookup.h"

/* Bytes that pfmi_format_print_event() writes at most, terminator included. */
#define PRINTED_TEXT_SIZE 2048

/* Writes @ev in @dialect. @read is the text that was resolved to @ev, or NULL; @device perf's name
 * of the PMU. The text equals @read, or was read back and found equal. Returns PFMLIB_ERR_NOTSUPP
 * with a reason in @why if the dialect cannot express it, PFMLIB_ERR_FULL with nothing written if
 * @buf is too small. */
int pfmi_format_print_event(const struct event *ev, const struct spec *read, pfm_dialect_t dialect,
                            struct slice device, char *buf, size_t len, pfm_error_t *why);

/* Writes perf's letters for the levels and the precision of @ev: at most 6 and the terminator. */
void pfmi_format_write_perf_modifiers(const struct event *ev, char out[12]);

#endif
