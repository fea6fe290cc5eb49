/* SPDX-License-Identifier: MIT */
/* Counts and metrics as series. A counter never decreases: it is the sum of what its intervals
 * counted, each extrapolated for itself, since a count that is extrapolated over all of the time
 * can decrease. What was not counted in the last interval has no sample. */
#include "series/values.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Samples of a count: value, share of the time, cause and rank of its quality; of a metric: value,
 * error, cause and rank. A refused name has the last two. */
enum { SAMPLES_EACH = 4, SAMPLES_REFUSED = 2 };

static int compare_labels(const struct stat_row *a, const struct stat_row *b)
{
	int order = strcmp(a->label, b->label);

	return order ? order : !a->own - !b->own;
}

static int compare_events(const struct stat_row *a, const struct stat_row *b)
{
	int order = compare_labels(a, b);

	if (!order)
		order = strcmp(a->info.pmu, b->info.pmu);
	return order ? order : strcmp(get_series_event(&a->info), get_series_event(&b->info));
}

struct sorted_row {
	const struct stat_row *at;
};

/* Rows are of one array: of equal ones the first comes first. */
static int compare_rows(const void *a, const void *b)
{
	const struct stat_row *x = ((const struct sorted_row *)a)->at,
			      *y = ((const struct sorted_row *)b)->at;
	int order = compare_events(x, y);

	return order ? order : (x > y) - (x < y);
}

/* Of rows with one label, which are neighbours among the @n sorted ones, marks the first. */
static void mark_first_rows(const struct stat_job *job, const struct sorted_row *sorted)
{
	const struct stat_row *first = NULL;

	for (unsigned i = 0; i < job->result.n_rows; i++) {
		if (!first || sorted[i].at < first || compare_labels(sorted[i].at, first) != 0)
			first = sorted[i].at;
		if (i + 1 == job->result.n_rows || compare_labels(sorted[i + 1].at, first) != 0)
			job->report.series->rows[first - job->result.rows].starts_label =
				!first->own;
	}
}

static bool make_row_series(struct stat_job *job)
{
	struct sorted_row *sorted = calloc(job->result.n_rows + 1, sizeof(*sorted));

	if (!sorted)
		return false;
	for (unsigned i = 0; i < job->result.n_rows; i++) {
		sorted[i].at = &job->result.rows[i];
		job->report.series->rows[i].family = get_count_family(&job->result.rows[i].info);
		job->report.series->rows[i].event = get_series_event(&job->result.rows[i].info);
		if (!job->report.series->rows[i].start)
			job->report.series->rows[i].start = now_ns();
	}
	qsort(sorted, job->result.n_rows, sizeof(*sorted), compare_rows);
	for (unsigned i = 0; i < job->result.n_rows; i++) {
		bool is_repeated = i && compare_events(sorted[i - 1].at, sorted[i].at) == 0;

		job->report.series->rows[sorted[i].at - job->result.rows].is_repeated = is_repeated;
		job->report.series->n_row_series += !is_repeated;
	}
	mark_first_rows(job, sorted);
	free(sorted);
	return true;
}

/* Each metric has a series for each place. */
static bool make_metric_series(struct stat_job *job)
{
	struct series *s = job->report.series;
	unsigned n = 0;

	for (unsigned i = 0; i < job->result.n_rows; i++)
		n += s->rows[i].starts_label;
	s->metrics = calloc((size_t)n * job->result.metrics.n + 1, sizeof(*s->metrics));
	for (unsigned m = 0; s->metrics && m < job->result.metrics.n; m++)
		for (unsigned i = 0; i < job->result.n_rows; i++)
			if (s->rows[i].starts_label)
				s->metrics[s->n_metrics++] =
					(struct metric_series){ .metric = m, .row = i };
	return s->metrics;
}

static void list_processors(struct series *s, const pfm_ctx_t *ctx)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	int n = pfm_count_pmus(ctx);

	for (int i = 0; i < n && s->n_processors < MAX_PROCESSORS; i++) {
		if (pfm_describe_pmu(ctx, i, &pmu) || !(pmu.flags & PFM_PMU_HOST) ||
		    !(pmu.flags & PFM_PMU_CORE) || (pmu.flags & (PFM_PMU_HIDDEN | PFM_PMU_KERNEL)))
			continue;
		s->processors[s->n_processors++] = (struct named_processor){ pmu.name, pmu.desc };
	}
}

static bool prepare_series(struct stat_job *job)
{
	if (job->report.series)
		return true;
	job->report.series = calloc(1, sizeof(*job->report.series));
	if (!job->report.series)
		return false;
	list_processors(job->report.series, job->ctx);
	job->report.series->rows =
		calloc(job->result.n_rows + 1, sizeof(*job->report.series->rows));
	job->report.series->n_rows = job->result.n_rows;
	return job->report.series->rows && make_row_series(job) && make_metric_series(job);
}

void free_series(struct stat_report *report)
{
	if (report->series) {
		free(report->series->rows);
		free(report->series->metrics);
	}
	free(report->series);
	report->series = NULL;
}

void move_series(struct stat_job *job, const unsigned *moved)
{
	struct series *s = job->report.series;

	for (unsigned i = 0; s && i < s->n_rows; i++)
		if (moved[i] != UINT_MAX)
			s->rows[moved[i]] = s->rows[i];
	if (s)
		s->n_rows = job->result.n_rows;
}

bool extend_series(struct stat_job *job)
{
	struct series *s = job->report.series;
	struct row_series *more;

	if (!s)
		return prepare_series(job);
	more = realloc(s->rows, (job->result.n_rows + 1) * sizeof(*more));
	if (!more)
		return false;
	s->rows = more;
	for (unsigned i = s->n_rows; i < job->result.n_rows; i++)
		s->rows[i] = (struct row_series){ 0 };
	for (unsigned i = 0; i < job->result.n_rows; i++)
		s->rows[i].starts_label = false;
	s->n_rows = job->result.n_rows;
	free(s->metrics);
	s->metrics = NULL;
	s->n_metrics = s->n_row_series = 0;
	return make_row_series(job) && make_metric_series(job);
}

size_t count_most_series(struct stat_job *job)
{
	size_t states;

	if (!prepare_series(job))
		return 0;
	states = job->options.has_full_quality ? N_QUALITIES : 0;
	return ((size_t)job->report.series->n_row_series + job->report.series->n_metrics) *
	               (SAMPLES_EACH + states) +
	       (size_t)job->request.n_refused * (SAMPLES_REFUSED + states) +
	       (job->rotation.is_on ? job->report.series->n_row_series : 0) +
	       (size_t)job->targets.n * job->targets.more_series;
}

/* Adds what a target counted since its last turn to the totals: of groups that are on, and of
 * others only what they count at all times if @is_turn_over is false. */
static void add_target_turns(struct stat_job *job, struct stat_target *p, bool is_turn_over)
{
	pfm_count_info_t info = PFM_INIT(info);
	pfm_count_t since;

	for (unsigned i = 0; i < p->n; i++) {
		pfm_describe_count(p->session, i, &info);
		if (p->is_on && (is_turn_over ? !p->is_on[info.group] : p->turns[info.group] != 0))
			continue;
		since = p->counts[i];
		if (p->turn_counts[i].size)
			pfm_subtract_counts(&p->turn_counts[i], &p->counts[i], info.is_level,
			                    &since);
		if (has_value(&since))
			job->report.series->rows[p->rows[i]].total += since.value;
		p->turn_counts[i] = p->counts[i];
	}
}

bool add_turns(struct stat_job *job, bool is_turn_over)
{
	if (!prepare_series(job))
		return false;
	job->report.series->has_turns = true;
	for (unsigned k = 0; k < job->targets.n; k++)
		if (job->targets.list[k].session)
			add_target_turns(job, &job->targets.list[k], is_turn_over);
	return true;
}

/* A count is read somewhere within a reading, each time at the same place. On a loaded machine a
 * reading may be interrupted for so long that rates over 5 s, or over its interval if that is
 * longer, would be wrong by more than 1 %: in the interval that it ends and in the one that it
 * begins. */
static void note_late_reading(struct series *s, double took, double elapsed)
{
	const double change =
		took > s->reading_took ? took - s->reading_took : s->reading_took - took;

	s->is_late = change > (elapsed > 5 ? elapsed : 5) / 100;
	s->reading_took = took;
}

bool update_series(struct stat_job *job, double elapsed)
{
	if (!prepare_series(job))
		return false;
	note_late_reading(job->report.series, job->timing.reading_took, elapsed);
	job->report.series->paused_share = elapsed > 0 ? job->timing.paused / elapsed : 0;
	if (job->report.series->paused_share > 1)
		job->report.series->paused_share = 1;
	elapsed -= job->timing.paused;
	for (unsigned i = 0; i < job->result.n_rows; i++) {
		if (job->result.rows[i].tally.counted && !job->report.series->has_turns)
			job->report.series->rows[i].total += job->result.rows[i].tally.count.value;
		if (job->rotation.is_on)
			job->report.series->rows[i].slot_error =
				compute_standard_slot_error(&job->result.rows[i].slot_rates);
		note_worse_reading(job, i);
	}
	for (unsigned i = 0; i < job->report.series->n_metrics; i++) {
		struct metric_series *m = &job->report.series->metrics[i];

		m->is_computed =
			!is_series_hidden(job, m->row) &&
			compute_stat_metric(job, &job->result.metrics.at[m->metric],
		                            job->result.rows[m->row].label, elapsed, &m->answer);
	}
	return true;
}
