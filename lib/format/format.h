/* SPDX-License-Identifier: MIT */
/* The way back: an event becomes a text again, register values become words. Like the corridor, nothing here allocates, reads a
 * global or keeps a pointer. */
#ifndef PERFMON_REVERSE_H
#define PERFMON_REVERSE_H

#include "encode/encode.h"

/* Longest text pfmi_format_print_event() writes, with the terminator. */
#define PRINTED_TEXT_SIZE 2048

/* Writes @ev in @dialect. @read: the text that was read as @ev, or NULL. @device: what perf calls the PMU. Whatever is written is what
 * was read, or was read again and found equal; what cannot be written so is PFMLIB_ERR_NOTSUPP with a reason in @why, a buffer that is too
 * small PFMLIB_ERR_FULL and nothing written. */
int pfmi_format_print_event(const struct event *ev, const struct spec *read, pfm_dialect_t dialect, struct slice device,
                            char *buf, size_t len, pfm_error_t *why);

/* Letters of perf that stand for the levels and the precision of @ev: at most 6 and the terminator. */
void pfmi_format_write_perf_modifiers(const struct event *ev, char out[12]);

/* What an error points at: the token, and as far as they can be made out the event and the attribute it stands in. */
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
void pfmi_format_locate_error(const struct pfm_ctx *ctx, const char *text, const pfm_error_t *error, struct error_location *out);

#endif
