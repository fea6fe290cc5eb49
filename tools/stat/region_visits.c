/* SPDX-License-Identifier: MIT */
/* pfm stat --regions --visits N: runs the command until each region has N visits. The error of a
 * visit's value falls with the root of their number. */
#include "base/text_output.h"
#include "common/pfm.h"
#include "stat/region_results.h"
#include "stat/stat.h"

#include <inttypes.h>
#include <stdlib.h>

#include <perfmon/region.h>

/* Finds the region with the fewest visits. False without a region. */
static bool find_least_visited(const pfm_region_results_t *r, pfm_region_info_t *least)
{
	pfm_region_info_t info = PFM_INIT(info);
	bool is_found = false;

	for (unsigned i = 0; pfm_describe_region(r, i, &info) == PFMLIB_SUCCESS; i++) {
		if (info.thread || (is_found && info.outermost >= least->outermost))
			continue;
		*least = info;
		is_found = true;
	}
	return is_found;
}

static void report_runs(const pfm_region_info_t *least, uint64_t visits, uint64_t runs)
{
	fprintf(stderr, "%s: %" PRIu64 " run%s", program_name, runs, runs == 1 ? "" : "s");
	if (least->outermost < visits) {
		fputs("; the last one did not enter ", stderr);
		base_put_line(stderr, least->region);
		fprintf(stderr, ", which has %" PRIu64 " of %" PRIu64 " visits", least->outermost,
		        visits);
	}
	fputc('\n', stderr);
}

/* True if the region with the fewest visits had as many before the last run. */
static bool has_stopped(const pfm_region_info_t *least, const pfm_region_info_t *before)
{
	return least->region == before->region && least->parent == before->parent &&
	       least->outermost == before->outermost;
}

int count_region_visits(const struct stat_job *job, char *const *command, const char *events,
                        const char *on)
{
	struct region_collection results = { .format = job->regions.format, .is_summed = true };
	pfm_region_info_t least = PFM_INIT(least), before;
	uint64_t runs = 0;
	int rc;

	do {
		before = least;
		rc = run_region_command(job, command, events, &results);
		runs++;
		if (rc != EXIT_DONE || !results.sum || !find_least_visited(results.sum, &least))
			break;
	} while (least.outermost < job->regions.visits && !has_stopped(&least, &before));
	if (results.sum)
		report_runs(&least, job->regions.visits, runs);
	if (results.sum && !write_region_sum(&results))
		rc = report_no_memory();
	if (rc == EXIT_DONE)
		rc = write_region_results(job, command, &results, on);
	free(results.text);
	return rc;
}
