/* SPDX-License-Identifier: MIT */
/* Shared by the files of pfm show. */
#ifndef PFM_SHOW_H
#define PFM_SHOW_H

#include <stdbool.h>
#include <perfmon/perfmon.h>
#include "common/json.h"

enum { SHOW_TEXT_SIZE = 1024, SHOW_LABEL_WIDTH = 14 };

struct shower {
	pfm_ctx_t *ctx;
	const char *pmu; /* --pmu, or NULL */
	bool json, errata;
	struct json out;
};

/* lines.c: lines of text that begin with a label. */

void show_label(const char *label);
/* Prints nothing if @text is empty or NULL. */
void show_line(const char *label, const char *text);
void show_number(const char *label, uint64_t value);
void show_heading(const char *text);

/* event.c: shows event @text of a list. */

void show_event_as_text(const struct shower *s, const char *text, const perfmon_pmu_info_t *pmu,
                        const perfmon_event_info_t *e);
void show_event_as_json(struct shower *s, const char *text, const perfmon_pmu_info_t *pmu,
                        const perfmon_event_info_t *e);
/* Show the registers and perf attributes of @text, and how the dialects spell it. */
void print_registers(const struct shower *s, const char *text);
void print_spellings(const struct shower *s, const char *text);
void put_spellings(struct shower *s, const char *text);

/* unlisted.c: shows an event that fields select. */

void show_unlisted_as_text(const struct shower *s, const char *text, const perfmon_pmu_info_t *pmu);
void show_unlisted_as_json(struct shower *s, const char *text, const perfmon_pmu_info_t *pmu,
                           const pfm_encoding_t *enc);

/* pmu.c: shows a PMU. */

void show_pmu_as_text(const struct shower *s, int pmu, const perfmon_pmu_info_t *p);
void show_pmu_as_json(struct shower *s, int pmu, const perfmon_pmu_info_t *p);

/* formats.c: the bits of a PMU's fields. */

/* Writes format @i of @pmu, such as "config1:9-18", and gives its *@name. False past the last. */
bool get_format(const struct shower *s, int pmu, unsigned i, const char **name, char *buf,
                size_t size);
void print_formats(const struct shower *s, int pmu);

/* errata.c: shows errata, of an event or of a PMU. */

/* False if the event has none. */
bool show_event_errata(const struct shower *s, const perfmon_pmu_info_t *pmu,
                       const perfmon_event_info_t *event);
void show_pmu_errata(struct shower *s, int pmu, const perfmon_pmu_info_t *info);

/* models.c: shows properties that only some processors have. */

/* Prints one labelled line. */
typedef void (*show_line_fn)(const char *label, const char *text);

/* Show these properties for event @e. @type is a PFMLIB_*_PMU. */
void print_model_lines(const pfm_ctx_t *ctx, int type, const perfmon_event_info_t *e,
                       show_line_fn line);
void put_model(const pfm_ctx_t *ctx, struct json *j, int type, const perfmon_event_info_t *e);
/* True for a field that print_model_lines() shows in words. */
bool model_has_field(int type, const char *field);
/* Writes the uncertainty of counts of event @text, "" for most events. Returns @buf. */
#define NOTE_MAX 256
char *describe_uncertainty(const pfm_ctx_t *ctx, const char *text, char buf[NOTE_MAX]);

#endif
