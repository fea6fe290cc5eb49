/* SPDX-License-Identifier: MIT */
/* Metrics in the command: finding them, and showing what they are. */
#include "metric.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int find_metric(const pfm_ctx_t *ctx, const char *pmu, const char *name, struct metric_use *out, pfm_error_t *error)
{
	char text[NAME_MAX_LEN];
	int rc;

	snprintf(text, sizeof(text), "%s%s%s", pmu ? pmu : "", pmu ? "::" : "", name);
	rc = pfm_find_event_by_text(ctx, text, &out->pmu, &out->event, error);
	if (rc)
		return rc;
	out->info = (pfm_metric_info_t)PFM_INIT(out->info);
	rc = pfm_describe_metric(ctx, out->pmu, out->event, &out->info);
	if (rc == PFMLIB_ERR_NOTFOUND) {
		/* An event took the name, the metric stepped aside. */
		snprintf(text, sizeof(text), "%s%s%s.metric", pmu ? pmu : "", pmu ? "::" : "", name);
		rc = pfm_find_event_by_text(ctx, text, &out->pmu, &out->event, NULL);
		if (!rc)
			rc = pfm_describe_metric(ctx, out->pmu, out->event, &out->info);
		if (rc)
			blame(error, PFMLIB_ERR_NOTFOUND, PFM_KIND_NONE, 0, strlen(name), "this is an event, not a metric: pfm list --metrics shows those");
	}
	return rc;
}

bool in_groups(const char *groups, const char *group)
{
	size_t n = strlen(group);

	for (const char *p = groups; *p; p += strcspn(p, ";"), p += *p == ';')
		if (strcspn(p, ";") == n && strncasecmp(p, group, n) == 0)
			return true;
	return false;
}

void put_number(struct json *j, const char *key, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.17g", value);
	put_raw(j, key, text);
}

/* ---- showing ----------------------------------------------------------------------------------------------------------- */

char *metric_formula(const pfm_ctx_t *ctx, int pmu, unsigned event, int threshold)
{
	int n = pfm_print_metric(ctx, pmu, event, threshold, NULL, 0);
	char *text = n < 0 ? NULL : malloc((size_t)n + 1);

	if (text)
		pfm_print_metric(ctx, pmu, event, threshold, text, (size_t)n + 1);
	return text;
}

/* "PROCESSOR::EVENT" without the processor where that is the metric's own. */
static const char *short_name(const char *text, const char *pmu)
{
	size_t n = strlen(pmu);

	return strncmp(text, pmu, n) == 0 && strncmp(text + n, "::", 2) == 0 ? text + n + 2 : text;
}

void show_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, void (*line)(const char *label, const char *text))
{
	char *formula = metric_formula(ctx, pmu, event, 0), *threshold = metric_formula(ctx, pmu, event, 1);
	pfm_metric_input_t in = PFM_INIT(in);
	pfm_pmu_info_t info = PFM_INIT(info);

	line("formula", formula);
	line("look closer", threshold);
	if (!pfm_describe_pmu(ctx, pmu, &info))
		for (unsigned i = 0; !pfm_describe_metric_input(ctx, pmu, event, i, &in); i++)
			line(in.is_constant ? "constant" : "needs", short_name(in.text, info.name));
	free(formula);
	free(threshold);
}

void show_metric_json(struct json *j, const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	char *formula = metric_formula(ctx, pmu, event, 0), *threshold = metric_formula(ctx, pmu, event, 1);
	pfm_metric_input_t in = PFM_INIT(in);

	put_text_if(j, "formula", formula);
	put_text_if(j, "threshold", threshold);
	put_begin(j, "inputs", '[');
	for (unsigned i = 0; !pfm_describe_metric_input(ctx, pmu, event, i, &in); i++)
		put_text(j, NULL, in.text);
	put_end(j, ']');
	free(formula);
	free(threshold);
}
