/* SPDX-License-Identifier: MIT */
/* pfm stat: prints metrics and marks impossible values. */
#include "stat/metrics.h"
#include "common/term.h"

#include <string.h>

enum { NUMBER_SIZE = 40, UNIT_SIZE = 512 };

const char *get_common_pmu(const struct stat_job *job, int number)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);

	for (unsigned i = 0; i < job->result.metrics.n; i++)
		if (job->result.metrics.at[i].pmu != number)
			return pfm_describe_pmu(job->ctx, number, &pmu) ? "" : pmu.name;
	return "";
}

/* Prints the mark of an impossible value; its reason follows the metrics. */
static void print_check(const struct stat_report *report, const pfm_session_metric_t *v)
{
	if (v->plausibility)
		fprintf(report->out, "  %s%s%s", term_colour_begin(report->out, RED),
		        pfm_plausibility_name(v->plausibility), term_colour_end(report->out));
}

static void print_metric(const struct stat_job *job, const struct metric_answer *r,
                         const char *label, double time)
{
	const pfm_session_metric_t *v = &r->value;
	const char *pmu = get_common_pmu(job, v->pmu);
	char value[40] = "";

	if (v->state == PFM_METRIC_DEFINED)
		snprintf(value, sizeof(value), "%.4g", v->value);
	else
		snprintf(value, sizeof(value), "<%s>", pfm_metric_state_name(v->state));
	if (time >= 0)
		fprintf(job->report.out, "%12.6f", time);
	if (*label)
		print_label(job, label, measure_widest_label(&job->result));
	fprintf(job->report.out, "%s%20s%s %s%s%*s%s",
	        term_colour_begin(job->report.out, v->state                ? RED
	                                           : v->over_threshold > 0 ? YELLOW
	                                                                   : PLAIN),
	        value, term_colour_end(job->report.out), v->state ? "" : r->info.unit,
	        !v->state && *r->info.unit ? "  " : "",
	        r->info.level > 1 && *r->info.parent ? 2 * (int)(r->info.level - 1) : 0, "",
	        r->info.name);
	if (*pmu)
		fprintf(job->report.out, "  %s[%s]%s", term_colour_begin(job->report.out, DIM), pmu,
		        term_colour_end(job->report.out));
	if (!v->state && v->error > 0)
		fprintf(job->report.out, "  +- %.2g", v->error);
	if (!v->state && v->error < 0)
		fprintf(job->report.out, "  +- unknown");
	if (!v->state && v->quality == PFM_QUALITY_SCALED && v->across_groups)
		fprintf(job->report.out, "  (from groups counted at different times)");
	else if (!v->state && v->quality != PFM_QUALITY_EXACT)
		fprintf(job->report.out, "  %s", pfm_quality_name(v->quality));
	if (v->over_threshold > 0)
		fputs("  look closer", job->report.out);
	print_check(&job->report, v);
	fputc('\n', job->report.out);
}

/* The count whose quality the metric has, and the fact that supports its cause. */
static void put_worst_input(struct json *j, const struct stat_row *row)
{
	const pfm_count_t *c = row ? &row->tally.count : NULL;
	char times[96] = "";

	if (!row)
		return;
	put_text(j, "worst_input", row->info.name);
	if (c->cause != PFM_CAUSE_NONE)
		put_text(j, "cause", pfm_cause_name(c->cause));
	put_text_if(j, "remedy", row->info.remedy);
	if (c->running < c->enabled)
		snprintf(times, sizeof(times), "ran for %llu ns, enabled for %llu ns",
		         (unsigned long long)c->running, (unsigned long long)c->enabled);
	put_text_if(j, "evidence",
	            row->info.evidence && *row->info.evidence ? row->info.evidence : times);
}

static void put_metric_line(const struct stat_job *job, const struct metric_answer *r,
                            const char *label, double time)
{
	const pfm_session_metric_t *v = &r->value;
	struct json j = { .out = job->report.out };
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);

	put_begin(&j, NULL, '{');
	if (time >= 0)
		put_real(&j, "time", time);
	put_text(&j, "metric", r->info.name);
	if (!pfm_describe_pmu(job->ctx, v->pmu, &pmu))
		put_text(&j, "pmu", pmu.name);
	put_text_if(&j, "label", label);
	if (v->state)
		put_null(&j, "value");
	else
		put_number(&j, "value", v->value);
	put_text_if(&j, "unit", r->info.unit);
	if (v->state)
		put_text(&j, "why", pfm_metric_state_name(v->state));
	if (!v->state && v->error < 0)
		put_null(&j, "error");
	if (!v->state && v->error > 0) {
		put_number(&j, "error", v->error);
		put_number(&j, "low", v->low);
		put_number(&j, "high", v->high);
	}
	put_text(&j, "quality", pfm_quality_name(v->state ? PFM_QUALITY_NOT_COUNTED : v->quality));
	put_worst_input(&j, r->worst);
	put_bool(&j, "scaled", v->quality == PFM_QUALITY_SCALED);
	put_bool(&j, "across_groups", v->across_groups != 0);
	if (v->over_threshold >= 0)
		put_bool(&j, "over_threshold", v->over_threshold != 0);
	if (v->plausibility) {
		put_text(&j, "implausible", pfm_plausibility_name(v->plausibility));
		put_text(&j, "reason", v->reason);
	}
	put_text_if(&j, "parent", r->info.parent);
	if (r->info.level)
		put_int(&j, "level", r->info.level);
	put_end(&j, '}');
	put_line(&j);
}

/* Prints a further metric of a count as perf does: with empty columns of the count. */
static void print_metric_columns(const struct stat_job *job, const struct metric_answer *r,
                                 const char *label, double time)
{
	const pfm_session_metric_t *v = &r->value;
	const char *sep = job->options.separator;
	char value[NUMBER_SIZE] = "", error[NUMBER_SIZE] = "", unit[UNIT_SIZE];

	put_time_field(job, time);
	if (has_row_labels(job))
		put_field(job, label, sep);
	fprintf(job->report.out, "%s%s%s%s%s%s", sep, sep, sep, job->timing.repeats ? sep : "", sep,
	        sep);
	if (!v->state)
		snprintf(value, sizeof(value), "%.9g", v->value);
	snprintf(unit, sizeof(unit), "%s%s%s", r->info.unit, *r->info.unit ? "  " : "",
	         r->info.name);
	put_field(job, value, sep);
	put_field(job, unit, sep);
	put_field(job, pfm_quality_name(v->state ? PFM_QUALITY_NOT_COUNTED : v->quality), sep);
	put_field(job,
	          v->state          ? pfm_metric_state_name(v->state)
	          : v->plausibility ? pfm_plausibility_name(v->plausibility)
	                            : "",
	          sep);
	if (!v->state && v->error > 0)
		snprintf(error, sizeof(error), "%.9g", v->error);
	put_field(job, !v->state && v->error < 0 ? "unknown" : error, "\n");
}

/* ---- plausibility ---------------------------------------------------------------------------- */

enum { MAX_SUM_PARTS = 8 };

bool is_requested_metric(const struct stat_result *result, int pmu, unsigned event)
{
	for (unsigned i = 0; i < result->metrics.n; i++)
		if (result->metrics.at[i].pmu == pmu && result->metrics.at[i].event == event)
			return true;
	return false;
}

/* Checks the sum that the metric is a part of, if all its parts were requested. */
static void check_sum(const struct stat_job *job, const char *label, double elapsed,
                      pfm_session_metric_t *v)
{
	pfm_metric_check_t check = PFM_INIT(check);
	pfm_metric_value_t parts[MAX_SUM_PARTS];
	unsigned events[MAX_SUM_PARTS];
	bool extrapolated = false;
	double whole;
	int n = pfm_list_metric_sum(job->ctx, v->pmu, v->event, events, MAX_SUM_PARTS, &whole);

	for (int i = 0; i < n; i++)
		if (!is_requested_metric(&job->result, v->pmu, events[i]))
			return;
	for (int i = 0; i < n; i++) {
		struct metric_answer a;

		if (!compute_stat_metric(job,
		                         &(struct stat_metric){ .pmu = v->pmu, .event = events[i] },
		                         label, elapsed, &a))
			return;
		parts[i] = (pfm_metric_value_t){ .size = sizeof(parts[i]),
			                         .value = a.value.value,
			                         .error = a.value.error,
			                         .low = a.value.low,
			                         .high = a.value.high,
			                         .state = a.value.state };
		extrapolated |= a.value.quality != PFM_QUALITY_EXACT;
	}
	if (n <= 0 || pfm_check_metric_sum(parts, (unsigned)n, whole, extrapolated, &check))
		return;
	v->plausibility = check.result;
	v->reason = check.reason;
}

/* The reasons why values of a report are impossible, each once. */
struct check_reasons {
	unsigned n;
	struct check_reason {
		pfm_plausibility_t result;
		const char *text;
	} list[2 * (PFM_ABOVE_PEAK + 1)];
};

static void add_reason(struct check_reasons *r, const pfm_session_metric_t *v)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->list[i].result == v->plausibility && strcmp(r->list[i].text, v->reason) == 0)
			return;
	if (v->plausibility && r->n < sizeof(r->list) / sizeof(r->list[0]))
		r->list[r->n++] = (struct check_reason){ v->plausibility, v->reason };
}

static void print_check_reasons(const struct stat_report *report, const struct check_reasons *r)
{
	for (unsigned i = 0; i < r->n; i++)
		fprintf(report->out, "\n  %s:\n    %s\n", pfm_plausibility_name(r->list[i].result),
		        r->list[i].text);
}

static void report_metric(const struct stat_job *job, const struct stat_metric *m,
                          const char *label, double elapsed, double time, bool whole,
                          struct check_reasons *reasons)
{
	struct metric_answer r;

	if (!evaluate_rows(job, m, &(struct metric_search){ .label = label, .metric = m }, elapsed,
	                   whole, &r))
		return;
	if (r.value.plausibility == PFM_PLAUSIBLE && !r.value.state)
		check_sum(job, label, elapsed, &r.value);
	add_reason(reasons, &r.value);
	if (job->options.json)
		put_metric_line(job, &r, label, time);
	else if (job->options.separator)
		print_metric_columns(job, &r, label, time);
	else
		print_metric(job, &r, label, time);
}

/* Reports the metrics of each label. */
static void report_labels(const struct stat_job *job, const struct stat_metric *m, double elapsed,
                          double time, bool whole, struct check_reasons *reasons)
{
	for (unsigned i = 0; i < job->result.n_rows; i++) {
		unsigned k = 0;

		while (strcmp(job->result.rows[k].label, job->result.rows[i].label) != 0)
			k++;
		if (k == i)
			report_metric(job, m, job->result.rows[i].label, elapsed, time, whole,
			              reasons);
	}
}

/* Reports the ratios that are not shown beside a count. */
static void report_ratios(const struct stat_job *job, double elapsed, double time,
                          struct check_reasons *reasons)
{
	for (unsigned i = 0; i < job->result.ratios.n; i++) {
		struct stat_metric *m = &job->result.ratios.at[i];

		if (!m->is_beside_count)
			report_labels(job, m, elapsed, time, true, reasons);
		m->is_beside_count = false;
	}
}

void report_metrics(const struct stat_job *job, double elapsed, double time)
{
	struct check_reasons reasons = { .n = 0 };

	for (unsigned i = 0; i < job->result.metrics.n; i++)
		report_labels(job, &job->result.metrics.at[i], elapsed, time, false, &reasons);
	if (job->options.json || job->options.separator)
		return;
	report_ratios(job, elapsed, time, &reasons);
	if (time < 0)
		print_check_reasons(&job->report, &reasons);
}
