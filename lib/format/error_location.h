/* SPDX-License-Identifier: MIT */
/* The place of an error in a text, which its sentence and its suggestions share. */
#ifndef PERFMON_FORMAT_ERROR_LOCATION_H
#define PERFMON_FORMAT_ERROR_LOCATION_H

#include "lookup/lookup.h"

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
/* Finds the place of @error in @text. */
void pfmi_format_locate_error(const struct pfm_ctx *ctx, const char *text, const pfm_error_t *error,
                              struct error_location *out);
/* The group of unit masks that the attribute names, or NULL. */
const struct umask_group *pfmi_format_find_named_group(const struct error_location *p);

static inline bool format_is_perf_form(const struct error_location *p)
{
	return p->spec.form == SPEC_PERF;
}

#endif
