/* SPDX-License-Identifier: MIT */
/* Finds metrics and shows their formulas and inputs. */
#include "common/metric.h"

#include <stdlib.h>
#include <string.h>
#include <perfmon/aggregate.h>

int find_metric(const pfm_ctx_t *ctx, const char *pmu, const char *name, struct metric_use *out,
                pfm_error_t *error)
{
	char text[NAME_MAX_LEN];
	int rc;

	if (strstr(name, "::"))
		pmu = NULL;
	snprintf(out->text, sizeof(out->text), "%s%s%s", pmu ? pmu : "", pmu ? "::" : "", name);
	rc = pfm_find_event_by_text(ctx, out->text, &out->pmu, &out->event, error);
	if (rc)
		return rc;
	out->info = (pfm_metric_info_t)PFM_INIT(out->info);
	rc = pfm_describe_metric(ctx, out->pmu, out->event, &out->info);
	if (rc == PFMLIB_ERR_NOTFOUND) {
		/* A metric with the same name as an event has the suffix ".metric". */
		snprintf(text, sizeof(text), "%s%s%s.metric", pmu ? pmu : "", pmu ? "::" : "",
		         name);
		rc = pfm_find_event_by_text(ctx, text, &out->pmu, &out->event, NULL);
		if (!rc)
			rc = pfm_describe_metric(ctx, out->pmu, out->event, &out->info);
		if (rc)
			report_culprit(error, PFMLIB_ERR_NOTFOUND, PFM_KIND_NONE,
			               strlen(out->text) - strlen(name), strlen(out->text),
			               "expected a metric, got an event: pfm list --metrics lists "
			               "metrics");
	}
	return rc;
}

bool visit_group_metrics(const pfm_ctx_t *ctx, const char *name,
                         bool (*each)(void *arg, int pmu, unsigned event,
                                      const pfm_metric_info_t *info),
                         void *arg)
{
	int n = pfm_list_metric_group(ctx, name, NULL, 0);
	pfm_metric_ref_t *found = n > 0 ? calloc((size_t)n, sizeof(*found)) : NULL;
	pfm_metric_info_t info = PFM_INIT(info);

	if (n == PFMLIB_ERR_NOMEM || (n > 0 && !found) ||
	    (found && pfm_list_metric_group(ctx, name, found, (unsigned)n) < 0)) {
		free(found);
		return false;
	}
	for (int i = 0; found && i < n; i++)
		if (!pfm_describe_metric(ctx, found[i].pmu, found[i].event, &info) &&
		    !each(arg, found[i].pmu, found[i].event, &info))
			break;
	free(found);
	return true;
}

/* ---- showing --------------------------------------------------------------------------------- */

/* Returns the formula of a metric, or of its threshold; NULL if missing. To be freed. */
static char *format_formula_text(const pfm_ctx_t *ctx, int pmu, unsigned event, int threshold)
{
	int n = pfm_print_metric(ctx, pmu, event, threshold, NULL, 0);
	char *text = n < 0 ? NULL : malloc((size_t)n + 1);

	if (text)
		pfm_print_metric(ctx, pmu, event, threshold, text, (size_t)n + 1);
	return text;
}

/* Returns @text without "PROCESSOR::" if that is the processor of the metric. */
static const char *strip_pmu_prefix(const char *text, const char *pmu)
{
	size_t n = strlen(pmu);

	return strncmp(text, pmu, n) == 0 && strncmp(text + n, "::", 2) == 0 ? text + n + 2 : text;
}

/* Shows an input: an event with the counters that can count it, or a constant. */
static void show_input(const pfm_ctx_t *ctx, const pfm_metric_input_t *in, const char *pmu,
                       show_line_fn line)
{
	pfm_encoding_t enc = PFM_INIT(enc);
	char counters[COUNTERS_MAX], text[NAME_MAX_LEN + COUNTERS_MAX];
	const char *name = strip_pmu_prefix(in->text, pmu);

	if (in->is_constant || pfm_encode_event(ctx, in->text, 0, &enc, NULL) || !enc.counters)
		snprintf(text, sizeof(text), "%s", name);
	else
		snprintf(text, sizeof(text), "%s  on %s", name,
		         format_counters(enc.counters, counters));
	line(in->is_constant ? "constant" : "needs", text);
}

/* Plans the events of a metric without counters taken by others. NULL on failure. */
static pfm_plan_t *make_metric_plan(const pfm_ctx_t *ctx, int pmu, unsigned event,
                                    pfm_plan_info_t *info)
{
	pfm_plan_options_t options = PFM_INIT(options);
	perfmon_pmu_info_t p = PFM_INIT(p);
	pfm_metric_info_t m = PFM_INIT(m);
	char text[NAME_MAX_LEN];
	const char *texts[] = { text };
	pfm_plan_t *plan;

	if (pfm_describe_pmu(ctx, pmu, &p) || pfm_describe_metric(ctx, pmu, event, &m))
		return NULL;
	snprintf(text, sizeof(text), "%s::%s", p.name, m.name);
	options.flags = PFM_PLAN_ALL_COUNTERS;
	if (pfm_create_plan(&plan, ctx, texts, 1, &options, NULL))
		return NULL;
	pfm_describe_plan(plan, info);
	return plan;
}

static void show_plan(const pfm_ctx_t *ctx, int pmu, unsigned event, show_line_fn line)
{
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_plan_t *plan = make_metric_plan(ctx, pmu, event, &info);
	char text[NAME_MAX_LEN];

	if (!plan)
		return;
	snprintf(text, sizeof(text), "%u group%s of events, %s: %s", info.n_groups,
	         info.n_groups == 1 ? "" : "s",
	         info.optimal ? "no plan has fewer" : "not proved to be the least",
	         info.certificate);
	line("counted as", text);
	pfm_close_plan(plan);
}

/* Shows the events to sample for a metric. */
static void show_partners(const pfm_ctx_t *ctx, int pmu, unsigned event, const char *name,
                          show_line_fn line)
{
	char text[NAME_MAX_LEN], all[4 * NAME_MAX_LEN] = "";
	size_t at = 0;

	for (unsigned i = 0; at < sizeof(all) &&
	                     pfm_print_metric_partner(ctx, pmu, event, i, text, sizeof(text)) > 0;
	     i++)
		at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s", i ? ", " : "",
		                       strip_pmu_prefix(text, name));
	line("sample with", all);
}

void show_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, show_line_fn line)
{
	char *formula = format_formula_text(ctx, pmu, event, 0),
	     *threshold = format_formula_text(ctx, pmu, event, 1);
	pfm_metric_info_t m = PFM_INIT(m);
	pfm_metric_input_t in = PFM_INIT(in);
	perfmon_pmu_info_t info = PFM_INIT(info);
	char level[NAME_MAX_LEN] = "";

	line("formula", formula);
	line("look closer", threshold);
	if (!pfm_describe_pmu(ctx, pmu, &info) && !pfm_describe_metric(ctx, pmu, event, &m)) {
		line("unit", m.unit);
		if (m.level)
			snprintf(level, sizeof(level), "level %u of its tree%s%s", m.level,
			         *m.parent ? ", part of " : "", m.parent);
		line("place", level);
		for (unsigned i = 0; !pfm_describe_metric_input(ctx, pmu, event, i, &in); i++)
			show_input(ctx, &in, info.name, line);
		show_plan(ctx, pmu, event, line);
		show_partners(ctx, pmu, event, info.name, line);
	}
	free(formula);
	free(threshold);
}

void put_metric(struct json *j, const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	pfm_metric_info_t m = PFM_INIT(m);
	char group[NAME_MAX_LEN];

	if (pfm_describe_metric(ctx, pmu, event, &m))
		return;
	put_text_if(j, "unit", m.unit);
	put_begin(j, "groups", '[');
	for (const char *p = m.groups; *p; p += strcspn(p, ";"), p += *p == ';') {
		size_t n = strcspn(p, ";");

		n = n < sizeof(group) ? n : sizeof(group) - 1;
		memcpy(group, p, n);
		group[n] = '\0';
		put_text(j, NULL, group);
	}
	put_end(j, ']');
	put_text_if(j, "parent", m.parent);
	if (m.level)
		put_int(j, "level", m.level);
}

static void put_plan(struct json *j, const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_plan_t *plan = make_metric_plan(ctx, pmu, event, &info);

	if (!plan)
		return;
	put_begin(j, "plan", '{');
	put_int(j, "groups", info.n_groups);
	put_int(j, "bound", info.bound);
	put_bool(j, "optimal", info.optimal != 0);
	put_text(j, "certificate", info.certificate);
	put_end(j, '}');
	pfm_close_plan(plan);
}

static void put_input(struct json *j, const pfm_ctx_t *ctx, const pfm_metric_input_t *in)
{
	pfm_encoding_t enc = PFM_INIT(enc);

	put_begin(j, NULL, '{');
	put_text(j, in->is_constant ? "constant" : "event", in->text);
	if (!in->is_constant && !pfm_encode_event(ctx, in->text, 0, &enc, NULL))
		put_counter_numbers(j, "counters", enc.counters);
	if (in->has_preset)
		put_number(j, "preset", in->preset);
	put_end(j, '}');
}

static void put_partners(struct json *j, const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	char text[NAME_MAX_LEN];

	put_begin(j, "sample_with", '[');
	for (unsigned i = 0; pfm_print_metric_partner(ctx, pmu, event, i, text, sizeof(text)) > 0;
	     i++)
		put_text(j, NULL, text);
	put_end(j, ']');
}

void show_metric_json(struct json *j, const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	char *formula = format_formula_text(ctx, pmu, event, 0),
	     *threshold = format_formula_text(ctx, pmu, event, 1);
	pfm_metric_input_t in = PFM_INIT(in);

	put_text_if(j, "formula", formula);
	put_text_if(j, "threshold", threshold);
	put_metric(j, ctx, pmu, event);
	put_begin(j, "inputs", '[');
	for (unsigned i = 0; !pfm_describe_metric_input(ctx, pmu, event, i, &in); i++)
		put_input(j, ctx, &in);
	put_end(j, ']');
	put_plan(j, ctx, pmu, event);
	put_partners(j, ctx, pmu, event);
	free(formula);
	free(threshold);
}
