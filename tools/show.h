/* SPDX-License-Identifier: MIT */
/* Between cmd_show.c and what it says of particular processors. */
#ifndef PFM_SHOW_H
#define PFM_SHOW_H

#include <stdbool.h>
#include <perfmon/perfmon.h>
#include "json.h"

/* Prints one labelled line. */
typedef void (*show_line_fn)(const char *label, const char *text);

/* @type is a PFMLIB_*_PMU; prints nothing for processors without functions of their own. */
void print_model(const pfm_ctx_t *ctx, int type, const pfm_event_info_t *e, show_line_fn line);
void json_model(const pfm_ctx_t *ctx, struct json *j, int type, const pfm_event_info_t *e);
/* True for a field of the table that print_model() shows in words. */
bool model_has_field(int type, const char *field);
/* The warning for readers of a count of event @text; "" for most events. Returns @buf. */
#define NOTE_MAX 256
char *uncertainty_note(const pfm_ctx_t *ctx, const char *text, char buf[NOTE_MAX]);

#endif
