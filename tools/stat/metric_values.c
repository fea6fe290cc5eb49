/* SPDX-License-Identifier: MIT */
/* pfm stat: computes metrics from the rows of the result. */
#include "stat/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

/* Finds the event of @text, whose last part is @name. Returns no event if qualifiers change the
 * count. */
static struct event_at find_event(const struct stat_job *job, const char *text, const char *name)
{
	struct event_at at;

	if (strpbrk(name, ":/,@") ||
	    pfm_find_event_by_text(job->ctx, text, &at.pmu, &at.event, NULL))
		at = (struct event_at){ -1, 0 };
	return at;
}

/* The event of a row called @name, with or without a processor before it. */
static struct event_at find_event_by_name(const struct stat_job *job, const char *name)
{
	const char *colons = strstr(name, "::");

	return find_event(job, name, colons ? colons + 2 : name);
}

bool is_same_event(struct event_at a, struct event_at b)
{
	return a.pmu >= 0 && a.pmu == b.pmu && a.event == b.event;
}

/* The generic event with the same name as an event of the kernel's core PMU. */
static struct event_at find_general_event(const struct stat_job *job, struct event_at at)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	perfmon_event_info_t e = PFM_INIT(e);
	char text[256];

	if (at.pmu < 0 || pfm_describe_pmu(job->ctx, at.pmu, &pmu) ||
	    !(pmu.flags & PFM_PMU_KERNEL) || !(pmu.flags & PFM_PMU_CORE) ||
	    pfm_describe_event(job->ctx, at.pmu, at.event, &e))
		return (struct event_at){ -1, 0 };
	snprintf(text, sizeof(text), "hardware::%s", e.name);
	return find_event(job, text, e.name);
}

/* True if a row counts this event. */
static bool has_event(const struct stat_result *result, struct event_at at)
{
	for (unsigned i = 0; i < result->n_rows; i++)
		if (is_same_event(result->rows[i].named, at))
			return true;
	return false;
}

void find_row_events(struct stat_job *job)
{
	for (struct stat_row *row = job->result.rows; row < job->result.rows + job->result.n_rows;
	     row++)
		row->named = find_event_by_name(job, row->event);
	for (struct stat_row *row = job->result.rows; row < job->result.rows + job->result.n_rows;
	     row++) {
		struct event_at at = find_general_event(job, row->named);

		row->at = at.pmu >= 0 && !has_event(&job->result, at) ? at : row->named;
	}
}

bool find_stat_input(const struct stat_job *job, const struct stat_metric *m, unsigned i,
                     struct metric_input *out)
{
	const char *colons;

	out->in = (pfm_metric_input_t)PFM_INIT(out->in);
	if (pfm_describe_metric_input(job->ctx, m->pmu, m->event, i, &out->in))
		return false;
	colons = strstr(out->in.text, "::");
	out->at = out->in.is_constant
	                  ? (struct event_at){ -1, 0 }
	                  : find_event(job, out->in.text, colons ? colons + 2 : out->in.text);
	return true;
}

bool is_row_of_input(const struct stat_row *row, const struct metric_input *input)
{
	return is_same_event(row->at, input->at) || strcmp(row->event, input->in.text) == 0 ||
	       strcmp(row->event, input->in.alias) == 0;
}

static bool is_row_of(const struct stat_result *result, unsigned k,
                      const struct metric_search *rows, const struct metric_input *input)
{
	const struct stat_row *row = &result->rows[k];

	return strcmp(row->label, rows->label) == 0 && is_row_of_input(row, input) &&
	       (!rows->pmu || strcmp(row->info.pmu, rows->pmu) == 0);
}

static bool is_same_group(const struct stat_row *a, const struct stat_row *b)
{
	return a->part == b->part && a->info.group == b->info.group;
}

/* Counts the inputs of the metric with a value in the group of @row; 0 if that row has no value. */
static int count_inputs_in_group(const struct stat_job *job, const struct metric_search *rows,
                                 const struct stat_row *row)
{
	struct metric_input input;
	int n = 0;

	for (unsigned i = 0; row->tally.counted && find_stat_input(job, rows->metric, i, &input);
	     i++)
		for (unsigned k = 0; k < job->result.n_rows; k++)
			if (job->result.rows[k].tally.counted &&
			    is_same_group(&job->result.rows[k], row) &&
			    is_row_of(&job->result, k, rows, &input)) {
				n++;
				break;
			}
	return n;
}

/* Ranks @row by its nearness to the row beside which the value is shown: the same row, a member of
 * its group, another row. For a value shown alone: by the number of inputs in the row's group. */
static int rank_row_nearness(const struct stat_job *job, const struct stat_row *row,
                             const struct metric_search *rows)
{
	const struct stat_row *beside = rows->beside;

	return !beside         ? count_inputs_in_group(job, rows, row)
	       : row == beside ? 2
	                       : is_same_group(row, beside);
}

/* True if another row counts the same event, which was named twice, and is nearer, or equally near
 * and earlier. */
static bool is_repeated(const struct stat_job *job, unsigned k, const struct metric_search *rows,
                        const struct metric_input *input)
{
	const struct stat_row *row = &job->result.rows[k];
	int near = -1;

	for (unsigned i = 0; i < job->result.n_rows; i++) {
		const struct stat_row *other = &job->result.rows[i];
		int nearer;

		if (i == k || !is_row_of(&job->result, i, rows, input) ||
		    strcmp(row->info.pmu, other->info.pmu) != 0)
			continue;
		if (near < 0)
			near = rank_row_nearness(job, row, rows);
		nearer = rank_row_nearness(job, other, rows) - near;
		if (nearer > 0 || (!nearer && i < k))
			return true;
	}
	return false;
}

/* The counts of a metric's inputs. */
struct collected_rows {
	pfm_input_count_t *counts;
	unsigned n;
	size_t capacity;
	bool failed;
	const struct stat_row *worst; /* of the inputs that are not exact */
};

static pfm_quality_t get_input_quality(const struct stat_row *row)
{
	return row->tally.counted ? row->tally.count.quality : PFM_QUALITY_NOT_COUNTED;
}

/* Values that were made up have nothing to explain. */
static pfm_quality_t rank_input(const struct stat_row *row)
{
	pfm_quality_t quality = get_input_quality(row);

	return quality > PFM_QUALITY_NOT_SUPPORTED ? PFM_QUALITY_EXACT : quality;
}

static void collect_row(const struct stat_job *job, const struct stat_row *row, unsigned input,
                        struct collected_rows *c)
{
	const pfm_tally_t *t = &row->tally;

	if (rank_input(row) > (c->worst ? rank_input(c->worst) : PFM_QUALITY_EXACT))
		c->worst = row;
	c->counts = base_grow_list(c->counts, c->n, &c->capacity, sizeof(*c->counts), &c->failed);
	if (c->failed)
		return;
	c->counts[c->n++] = (pfm_input_count_t){
		.input = input,
		.group = row->info.group,
		.value = t->mean,
		.error = t->counted > 1 ? sqrt(t->squares / (t->counted - 1) / t->counted) : 0,
		.observed =
			t->count.enabled ? (double)t->count.running / (double)t->count.enabled : 1,
		.quality = get_input_quality(row),
		.parts = needs_slices(job) ? row->slices : NULL
	};
}

/* Collects the rows that count @input, number @i: counts of one event on several core types are
 * summed. False without such a row. */
static bool collect_rows_of_input(const struct stat_job *job, const struct metric_search *rows,
                                  const struct metric_input *input, unsigned i,
                                  struct collected_rows *c)
{
	bool is_found = false;

	for (unsigned k = 0; k < job->result.n_rows; k++) {
		if (!is_row_of(&job->result, k, rows, input) || is_repeated(job, k, rows, input))
			continue;
		collect_row(job, &job->result.rows[k], i, c);
		is_found = true;
	}
	return is_found;
}

/* Collects the rows of all inputs. @whole: fails at the first event without a row. */
static bool collect_rows(const struct stat_job *job, const struct stat_metric *m,
                         const struct metric_search *rows, const pfm_metric_info_t *info,
                         bool whole, struct collected_rows *c)
{
	struct metric_input input;
	bool is_asked = !whole;

	for (unsigned i = 0; i < info->n_inputs && find_stat_input(job, m, i, &input); i++) {
		bool is_found =
			!input.in.is_constant && collect_rows_of_input(job, rows, &input, i, c);

		if (input.in.is_constant || i >= info->n_value_inputs)
			continue;
		is_asked = true;
		if (whole && !is_found)
			return false;
	}
	return is_asked && !c->failed;
}

/* Repetitions show the error by themselves, one run by slices of time. */
static int compute_rows(const struct stat_job *job, const struct stat_metric *m, double elapsed,
                        const struct collected_rows *c, pfm_session_metric_t *out)
{
	pfm_metric_counts_t data = { .size = sizeof(data),
		                     .n_counts = c->n,
		                     .counts = c->counts,
		                     .seconds = elapsed > 0 ? elapsed : 0 };

	if (needs_slices(job)) {
		data.model = job->timing.repeat > 1 ? PFM_ERROR_FROM_REPETITIONS
		                                    : PFM_ERROR_FROM_INTERVALS;
		data.n_parts = job->slices.n;
		data.runs_per_part = job->timing.repeat > 1 ? job->slices.runs_each : 1;
	}
	return pfm_compute_counted_metric(job->ctx, m->pmu, m->event, &data, out);
}

bool evaluate_rows(const struct stat_job *job, const struct stat_metric *m,
                   const struct metric_search *rows, double elapsed, bool whole,
                   struct metric_answer *out)
{
	struct collected_rows c = { 0 };
	int rc = PFMLIB_SUCCESS;
	bool is_computed;

	*out = (struct metric_answer){ .info = PFM_INIT(out->info), .value = PFM_INIT(out->value) };
	is_computed = !pfm_describe_metric(job->ctx, m->pmu, m->event, &out->info) &&
	              collect_rows(job, m, rows, &out->info, whole, &c) &&
	              !(rc = compute_rows(job, m, elapsed, &c, &out->value)) &&
	              !(whole && out->value.state);
	if (c.failed || rc == PFMLIB_ERR_NOMEM)
		report_no_memory();
	free(c.counts);
	out->worst = c.worst;
	return is_computed;
}

bool compute_stat_metric(const struct stat_job *job, const struct stat_metric *m, const char *label,
                         double elapsed, struct metric_answer *out)
{
	return evaluate_rows(job, m, &(struct metric_search){ .label = label, .metric = m },
	                     elapsed, false, out);
}
