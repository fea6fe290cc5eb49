/* SPDX-License-Identifier: MIT */
/* pfm stat: ratios of common events, shown beside counts unless metrics were requested. */
#include "stat/metrics.h"

#include <string.h>

struct ratio_collection {
	struct stat_metrics *ratios;
	bool failed;
};

static bool add_ratio(void *arg, int pmu, unsigned event, const pfm_metric_info_t *info)
{
	struct ratio_collection *c = arg;

	(void)info;
	c->failed = !add_stat_metric(c->ratios, pmu, event);
	return !c->failed;
}

/* Adds the usual ratios of PMU @p. False without memory. */
static bool add_ratios(struct stat_job *job, int p)
{
	struct ratio_collection c = { .ratios = &job->result.ratios };
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	char group[128];

	if (p < 0 || pfm_describe_pmu(job->ctx, p, &pmu))
		return true;
	snprintf(group, sizeof(group), "%s::ratios", pmu.name);
	return visit_group_metrics(job->ctx, group, add_ratio, &c) && !c.failed;
}

/* Returns the table of ratios of PMU @p, or -1. */
static int find_ratios(const struct stat_job *job, int p)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	char name[128];

	if (p < 0 || pfm_describe_pmu(job->ctx, p, &pmu))
		return -1;
	snprintf(name, sizeof(name), "%s_ratios", pmu.name);
	return pfm_find_pmu(job->ctx, name);
}

/* True unless metrics were requested. */
static bool needs_ratios(const struct stat_job *job)
{
	return !job->result.metrics.n && !job->options.no_ratios;
}

/* True if some row counts @input. */
static bool has_row(const struct stat_result *result, const struct metric_input *input)
{
	for (unsigned i = 0; i < result->n_rows; i++)
		if (is_row_of_input(&result->rows[i], input))
			return true;
	return false;
}

/* True if rows count all inputs of ratio @m. Stores its first event, or no event if a row may have
 * it under another name. */
static bool are_metric_inputs_counted(const struct stat_job *job, struct stat_metric *m)
{
	pfm_metric_info_t info = PFM_INIT(info);
	struct metric_input input;

	m->first = (struct event_at){ -1, 0 };
	if (pfm_describe_metric(job->ctx, m->pmu, m->event, &info))
		return false;
	for (unsigned i = 0; i < info.n_value_inputs && find_stat_input(job, m, i, &input); i++) {
		if (i == 0 && !*input.in.alias)
			m->first = input.at;
		if (!input.in.is_constant && !has_row(&job->result, &input))
			return false;
	}
	return true;
}

bool prepare_ratios(struct stat_job *job)
{
	static const char *const names[] = { "hardware", "software", "hw_cache" };
	unsigned n = 0;
	bool is_added = true;
	int last = -1;

	if (job->result.metrics.n || !job->options.no_ratios)
		find_row_events(job);
	if (!needs_ratios(job))
		return true;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]) && is_added; i++)
		is_added = add_ratios(job, pfm_find_pmu(job->ctx, names[i]));
	for (unsigned i = 0; i < job->result.n_rows && is_added; i++) {
		int p;

		p = pfm_find_pmu(job->ctx, job->result.rows[i].info.pmu);
		if (p != last)
			is_added = add_ratios(job, p) && add_ratios(job, find_ratios(job, p));
		last = p;
	}
	for (unsigned i = 0; i < job->result.ratios.n; i++)
		if (are_metric_inputs_counted(job, &job->result.ratios.at[i]))
			job->result.ratios.at[n++] = job->result.ratios.at[i];
	job->result.ratios.n = n;
	return is_added;
}

/* True if ratio @m may begin with the event of @row. */
static bool may_start_expression(const struct stat_job *job, const struct stat_metric *m,
                                 const struct stat_row *row)
{
	struct metric_input input;

	if (row->at.pmu >= 0 && m->first.pmu >= 0)
		return is_same_event(row->at, m->first);
	return find_stat_input(job, m, 0, &input) && is_row_of_input(row, &input);
}

/* Computes the events of @row per second of task time: of the task-clock with the same label. */
static bool compute_row_rate(const struct stat_result *result, const struct stat_row *row,
                             struct ratio *out)
{
	if (*row->info.unit || row->own || !row->tally.counted || row->info.is_level)
		return false;
	for (unsigned i = 0; i < result->n_rows; i++) {
		const struct stat_row *clock = &result->rows[i];
		pfm_quality_t quality = clock->tally.count.quality;

		if (clock->own || strcmp(clock->info.name, "task-clock") != 0 ||
		    strcmp(clock->label, row->label) != 0 || clock->tally.mean <= 0)
			continue;
		if (row->tally.count.quality > quality)
			quality = row->tally.count.quality;
		*out = (struct ratio){ "per_second", "/s", row->tally.mean / clock->tally.mean * NS,
			               quality };
		return true;
	}
	return false;
}

/* Uses the counts of one core type if it has all events of the ratio, else the counts of all core
 * types. */
bool compute_row_ratio(const struct stat_job *job, const struct stat_row *row, double elapsed,
                       struct ratio *out)
{
	struct metric_answer a;
	const struct metric_search own = { row->label, row->info.pmu, row, NULL },
				   all = { row->label, NULL, row, NULL };

	for (unsigned i = 0; i < job->result.ratios.n; i++) {
		struct stat_metric *m = &job->result.ratios.at[i];

		if (!may_start_expression(job, m, row) ||
		    (!evaluate_rows(job, m, &own, elapsed, true, &a) &&
		     !evaluate_rows(job, m, &all, elapsed, true, &a)))
			continue;
		*out = (struct ratio){ a.info.name, a.info.unit, a.value.value, a.value.quality };
		m->is_beside_count = true;
		return true;
	}
	return needs_ratios(job) && compute_row_rate(&job->result, row, out);
}
