/* SPDX-License-Identifier: MIT */
/* pfm stat: errors of metrics. Counts of shared counters are extrapolated. The error of
 * extrapolation is estimated from slices of time, at whose ends the counts are read. With
 * repetitions, every run is a slice. */
#include "stat/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLICES = 64, MIN_SLICES = 4, FIRST_NS = 10000000, COUNTS_READ_AT_ONCE = 100 };

/* The count of a row in one slice. */
struct slice {
	double raw, enabled, running;
};

bool needs_slices(const struct stat_job *job)
{
	return job->metrics.n || job->rotation.is_on;
}

void free_slices(struct stat_job *job)
{
	for (unsigned i = 0; i < job->n_rows; i++)
		if (job->rows[i].slices)
			memset(job->rows[i].slices, 0, SLICES * sizeof(*job->rows[i].slices));
	job->n_slices = 0;
	job->slice_ns = 0;
	job->runs_in_slice = job->runs_here = 0;
}

uint64_t begin_slice(struct stat_job *job)
{
	unsigned counts = 0;

	if (job->rotation.is_on)
		return compute_slot_end(&job->rotation);
	for (unsigned i = 0; i < job->n_parts; i++)
		counts += job->parts[i].n;
	/* Reading takes time, so more counts need longer slices. */
	if (!job->slice_ns)
		job->slice_ns = FIRST_NS * (1 + (uint64_t)(counts / COUNTS_READ_AT_ONCE));
	return job->slice_ns;
}

static void add_slice_count(struct slice *s, const struct slice *more)
{
	s->raw += more->raw;
	s->enabled += more->enabled;
	s->running += more->running;
}

/* Joins pairs of adjacent slices to limit their number. */
static void merge_slices(struct stat_job *job)
{
	for (unsigned i = 0; i < job->n_rows; i++) {
		struct slice *s = job->rows[i].slices;

		for (unsigned k = 0; s && k < SLICES / 2; k++) {
			struct slice both = s[2 * k];

			add_slice_count(&both, &s[2 * k + 1]);
			s[k] = both;
		}
		if (s)
			memset(s + SLICES / 2, 0, SLICES / 2 * sizeof(*s));
	}
	job->n_slices = SLICES / 2;
	job->slice_ns *= 2;
	job->runs_in_slice *= 2;
}

void add_to_slice(struct stat_row *row, unsigned slice, const pfm_count_t *count)
{
	const struct slice more = { (double)count->raw, (double)count->enabled,
		                    (double)count->running };

	if (!row->slices)
		row->slices = calloc(SLICES, sizeof(*row->slices));
	if (row->slices)
		add_slice_count(&row->slices[slice], &more);
}

void end_slice(struct stat_job *job)
{
	if (!job->runs_in_slice)
		job->runs_in_slice = 1;
	/* A repetition, or a slot, that does not fill its slice is joined with the next one. */
	if ((job->repeat > 1 || job->rotation.is_on) && ++job->runs_here < job->runs_in_slice)
		return;
	job->runs_here = 0;
	if (++job->n_slices == SLICES)
		merge_slices(job);
}

/* The extrapolated count of the row in @width slices from number @first on; NaN if it was not
 * enabled. A slow clock may show no time for an existing count. */
static double extrapolate_count(const struct stat_row *row, unsigned first, unsigned width)
{
	struct slice sum = { 0, 0, 0 };

	if (!row->slices)
		return NAN;
	for (unsigned k = first; k < first + width; k++)
		add_slice_count(&sum, &row->slices[k]);
	if (sum.running <= 0)
		return sum.enabled > 0 ? NAN : sum.raw;
	return sum.raw * (sum.enabled / sum.running);
}

/* Fills the inputs for each of @n_parts parts of @width slices; constants are those of @counts.
 * False if an input has no count in some part. */
static bool fill_inputs(const struct stat_job *job, const struct metric_inputs *j, unsigned n_parts,
                        unsigned width, double *parts)
{
	double share = job->repeat > 1 ? 1.0 / job->runs_in_slice : 1;
	bool there = true;

	for (unsigned k = 0; k < n_parts; k++) {
		double *part = parts + (size_t)k * j->n;

		for (unsigned i = 0; i < j->n; i++)
			part[i] = j->counts[i].known ? j->counts[i].value : NAN;
		for (unsigned u = 0; u < j->n_uses; u++)
			part[j->uses[u].input] = 0;
		for (unsigned u = 0; u < j->n_uses; u++)
			part[j->uses[u].input] +=
				extrapolate_count(&job->rows[j->uses[u].row], k * width, width) *
				share;
		for (unsigned u = 0; u < j->n_uses; u++)
			there &= !isnan(part[j->uses[u].input]);
	}
	return there;
}

/* Returns the fraction of time in which all inputs were counted together; 0 if they were in
 * different groups. */
static double compute_observed_share(const struct stat_job *job, const struct metric_inputs *j)
{
	double least = 1;

	for (unsigned u = 0; u < j->n_uses; u++) {
		const pfm_count_t *c = &job->rows[j->uses[u].row].tally.count;

		if (c->enabled && (double)c->running / (double)c->enabled < least)
			least = (double)c->running / (double)c->enabled;
	}
	return j->spans_groups ? 0 : least;
}

static void estimate_run_error(const struct stat_job *job, const struct metric_inputs *j,
                               double *parts, pfm_metric_value_t *v)
{
	unsigned width = 1, n_parts = job->n_slices;

	/* Uses longer slices if some were too short for a turn of every group. */
	while (n_parts >= MIN_SLICES && !fill_inputs(job, j, n_parts, width, parts)) {
		width *= 2;
		n_parts = job->n_slices / width;
	}
	if (n_parts < MIN_SLICES)
		n_parts = 0;
	pfm_compute_metric(job->ctx, j->metric.pmu, j->metric.event,
	                   &(pfm_metric_data_t){ .size = sizeof(pfm_metric_data_t),
	                                         .model = PFM_ERROR_FROM_INTERVALS,
	                                         .n_inputs = j->n,
	                                         .operands = j->counts,
	                                         .samples = parts,
	                                         .n_samples = n_parts,
	                                         .observed = compute_observed_share(job, j) },
	                   v);
}

static void estimate_runs_error(const struct stat_job *job, const struct metric_inputs *j,
                                const double *samples, unsigned n_samples, pfm_metric_value_t *v)
{
	pfm_metric_data_t d = { .size = sizeof(d),
		                .model = PFM_ERROR_FROM_REPETITIONS,
		                .n_inputs = j->n,
		                .samples = samples,
		                .n_samples = n_samples };
	pfm_metric_value_t e = PFM_INIT(e);

	if (pfm_compute_metric(job->ctx, j->metric.pmu, j->metric.event, &d, &e) || e.state ||
	    n_samples < 2)
		return;
	v->error = e.error;
	v->low = v->value - (e.value - e.low);
	v->high = v->value + (e.high - e.value);
}

void estimate_metric_error(const struct stat_job *job, const struct metric_inputs *j,
                           pfm_metric_value_t *v)
{
	double *parts = calloc((size_t)SLICES * j->n + 1, sizeof(*parts));

	/* Slices lack the missing part of a partial count. */
	if (j->quality == PFM_QUALITY_PARTIAL)
		v->error = -1;
	else if (parts && job->repeat > 1 && fill_inputs(job, j, job->n_slices, 1, parts))
		estimate_runs_error(job, j, parts, job->n_slices, v);
	else if (parts && job->repeat < 2 && j->quality != PFM_QUALITY_EXACT)
		estimate_run_error(job, j, parts, v);
	free(parts);
}
