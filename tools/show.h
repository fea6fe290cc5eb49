/* SPDX-License-Identifier: MIT */
/* pfm show: what its parts share. */
#ifndef PFM_SHOW_H
#define PFM_SHOW_H

#include <stdbool.h>
#include <perfmon/perfmon.h>
#include "json.h"

enum { SHOW_TEXT_SIZE = 1024, SHOW_LABEL_WIDTH = 14 };

struct shower {
	pfm_ctx_t *ctx;
	const char *pmu; /* --pmu, or NULL */
	bool json;
	struct json out;
};

/* show_lines.c: lines of text that begin with a label. */

void show_label(const char *label);
/* Prints nothing if @text is empty or NULL. */
void show_line(const char *label, const char *text);
void show_number(const char *label, uint64_t value);
void show_heading(const char *text);

/* show_event.c: event @text as one of a list, @e, or as fields that no event of a list has. */

void show_event_as_text(const struct shower *s, const char *text, const pfm_pmu_info_t *pmu,
                        const pfm_event_info_t *e);
void show_event_as_json(struct shower *s, const char *text, const pfm_pmu_info_t *pmu,
                        const pfm_event_info_t *e);
void show_unlisted_as_text(const struct shower *s, const char *text, const pfm_pmu_info_t *pmu);
void show_unlisted_as_json(struct shower *s, const char *text, const pfm_pmu_info_t *pmu,
                           const pfm_encoding_t *enc);

/* show_pmu.c: a processor, or another PMU. */

void show_pmu_as_text(const struct shower *s, int pmu, const pfm_pmu_info_t *p);
void show_pmu_as_json(struct shower *s, int pmu, const pfm_pmu_info_t *p);

/* show_models.c: what is particular to a processor. */

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
