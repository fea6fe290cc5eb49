/* SPDX-License-Identifier: MIT */
#include "html/page_metrics.h"

#include <stdlib.h>
#include <string.h>
#include "common/profile_messages.h"
#include "report/view.h"

enum { SLICES_MOST = 100, SAMPLES_OF_SLICE = 32 };

/* Adds the counts of all places of each slice together. False without memory. */
static bool add_up_slices(struct profile *p, uint32_t *blocks)
{
	for (size_t i = 0; i < p->n_places; i++)
		if (!event_counts_merge(&p->counts, p->places[i].counts,
		                        &blocks[p->places[i].slice]))
			return false;
	return true;
}

static bool put_slices(struct json *j, struct report_job *job)
{
	uint32_t *blocks = calloc(job->profile.n_slices, sizeof(*blocks));
	bool is_added = blocks && add_up_slices(&job->profile, blocks);

	put_begin(j, "slices", '[');
	for (unsigned i = 0; is_added && i < job->profile.n_slices; i++) {
		put_begin(j, NULL, '{');
		put_metric_members(j, job, blocks[i]);
		put_end(j, '}');
	}
	put_end(j, ']');
	free(blocks);
	return is_added;
}

static bool is_of_metrics(const char *path)
{
	char *names = strcmp(path, "-") == 0 ? NULL : read_recorded_metrics(path);

	free(names);
	return names != NULL;
}

bool put_page_metrics(struct json *j, const char *path, size_t n_samples)
{
	size_t n = n_samples / SAMPLES_OF_SLICE;
	struct report_job job = { .options = { .keys = KEY_TASK,
		                               .metrics = true,
		                               .innermost_only = true,
		                               .no_lines = true } };
	bool is_put = true;

	if (!is_of_metrics(path))
		return true;
	job.options.n_slices = n > SLICES_MOST ? SLICES_MOST : n ? (unsigned)n : 1;
	if (read_recorded_profile(&job.profile, path, &job.options) == EXIT_DONE &&
	    choose_metric_columns(&job, path) == EXIT_DONE)
		is_put = put_slices(j, &job);
	free_metric_columns(&job);
	profile_free(&job.profile);
	return is_put;
}
