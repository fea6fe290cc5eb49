/* SPDX-License-Identifier: MIT */
/* Events and errors as texts. Nothing here allocates, reads a global or keeps a pointer. */
#ifndef PERFMON_REVERSE_H
#define PERFMON_REVERSE_H

#include "encode/encode.h"

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

/* The place of an error: the token, and as far as known its event and attribute. */
struct error_location {
	struct slice token;
	struct spec spec;
	bool is_parsed, has_event, has_attr;
	unsigned pmu;
	uint32_t row;              /* ROW_NONE for an event spelled out in fields */
	const struct table *table; /* with has_event */
	struct spec_attr attr;
};
/* (lib/format/explain.c) */
void pfmi_format_locate_error(const struct pfm_ctx *ctx, const char *text, const pfm_error_t *error,
                              struct error_location *out);

#endif
