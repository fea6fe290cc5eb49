/* SPDX-License-Identifier: MIT */
/* pfm stat: slices of time, at whose ends the counts are read. The library estimates from them the
 * error that extrapolation of shared counters leaves in metrics. With repetitions, every run is a
 * slice. */
#include "stat/stat.h"

#include <stdlib.h>
#include <string.h>

enum { SLICES = 64, FIRST_NS = 10000000, COUNTS_READ_AT_ONCE = 100 };

bool needs_slices(const struct stat_job *job)
{
	return job->result.metrics.n || job->rotation.is_on;
}

void free_slices(struct stat_job *job)
{
	for (unsigned i = 0; i < job->result.n_rows; i++)
		if (job->result.rows[i].slices)
			memset(job->result.rows[i].slices, 0,
			       SLICES * sizeof(*job->result.rows[i].slices));
	job->slices.n = 0;
	job->slices.length = 0;
	job->slices.runs_each = job->slices.runs_now = 0;
}

uint64_t begin_slice(struct stat_job *job)
{
	unsigned counts = 0;

	if (job->rotation.is_on)
		return compute_slot_end(&job->rotation);
	for (unsigned i = 0; i < job->targets.n; i++)
		counts += job->targets.list[i].n;
	/* Reading takes time, so more counts need longer slices. */
	if (!job->slices.length)
		job->slices.length = FIRST_NS * (1 + (uint64_t)(counts / COUNTS_READ_AT_ONCE));
	return job->slices.length;
}

static void add_slice_count(pfm_count_part_t *s, const pfm_count_part_t *more)
{
	s->raw += more->raw;
	s->enabled += more->enabled;
	s->running += more->running;
}

/* Joins pairs of adjacent slices to limit their number. */
static void merge_slices(struct stat_job *job)
{
	for (unsigned i = 0; i < job->result.n_rows; i++) {
		pfm_count_part_t *s = job->result.rows[i].slices;

		for (unsigned k = 0; s && k < SLICES / 2; k++) {
			pfm_count_part_t both = s[2 * k];

			add_slice_count(&both, &s[2 * k + 1]);
			s[k] = both;
		}
		if (s)
			memset(s + SLICES / 2, 0, SLICES / 2 * sizeof(*s));
	}
	job->slices.n = SLICES / 2;
	job->slices.length *= 2;
	job->slices.runs_each *= 2;
}

void add_to_slice(struct stat_row *row, unsigned slice, const pfm_count_t *count)
{
	const pfm_count_part_t more = { (double)count->raw, (double)count->enabled,
		                        (double)count->running };

	if (!row->slices)
		row->slices = calloc(SLICES, sizeof(*row->slices));
	if (row->slices)
		add_slice_count(&row->slices[slice], &more);
}

void end_slice(struct stat_job *job)
{
	if (!job->slices.runs_each)
		job->slices.runs_each = 1;
	/* A repetition, or a slot, that does not fill its slice is joined with the next one. */
	if ((job->timing.repeat > 1 || job->rotation.is_on) &&
	    ++job->slices.runs_now < job->slices.runs_each)
		return;
	job->slices.runs_now = 0;
	if (++job->slices.n == SLICES)
		merge_slices(job);
}
