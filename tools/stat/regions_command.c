/* SPDX-License-Identifier: MIT */
/* pfm regions: results so far of running programs, and those in a folder that pfm stat --regions
 * --keep left. */
#include "common/pfm.h"
#include "stat/options.h"
#include "stat/region_results.h"
#include "stat/region_units.h"
#include "stat/stat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OPT_JSON = LONG_ONLY, OPT_FORMAT, OPT_BY, OPT_APPEND };

static const struct command_option options[] = {
	{ 'p', "pid", "PID,...", "show the regions of these running processes" },
	{ OPT_BY, "by", "UNIT", "show min, mean and max over units: rank, process or thread" },
	{ OPT_FORMAT, "format", "FORMAT",
	  "table, json, csv, likwid, papi, chrome or firefox; the last two need visits that were "
	  "kept for them" },
	{ OPT_JSON, "json", NULL, "one JSON object for each process and region" },
	{ 'o', "output", "FILE", "write the results to FILE" },
	{ OPT_APPEND, "append", NULL, "with -o: append to FILE" },
	{ 0, NULL, NULL, NULL }
};

/* Applies option @id. Returns an exit status, or -1 to continue. */
static int apply_option(struct command_args *args, struct stat_job *job, int id, const char *value)
{
	switch (id) {
	case 'p': return read_task_ids(args, "-p", value, &job->targets.pids, &job->targets.n_pids);
	case OPT_BY: return set_region_unit(args, job, value);
	case OPT_FORMAT: job->regions.format = value; return -1;
	case OPT_JSON: job->options.json = true; return -1;
	case OPT_APPEND: job->options.append = true; return -1;
	default: job->options.output = value; return -1;
	}
}

/* The folder with the results: a shared one is inside. */
static void make_results_path(const char *folder, char path[REGION_PATH_SIZE])
{
	struct stat s;

	snprintf(path, REGION_PATH_SIZE, "%s/results", folder);
	if (stat(path, &s) != 0 || !S_ISDIR(s.st_mode))
		snprintf(path, REGION_PATH_SIZE, "%s", folder);
}

static int show_folder(struct stat_job *job, const char *folder)
{
	struct region_collection results = { .format = get_collected_format(job),
		                             .is_snapshot = true };
	char path[REGION_PATH_SIZE];
	struct stat s;
	int rc;

	make_results_path(folder, path);
	if (stat(path, &s) != 0) {
		fprintf(stderr, "pfm regions: %s: %s\n", folder, strerror(errno));
		return EXIT_REFUSED;
	}
	if (!S_ISDIR(s.st_mode)) {
		fprintf(stderr, "pfm regions: %s: expected a folder\n", folder);
		return EXIT_REFUSED;
	}
	collect_region_results(&results, path);
	if (!results.n_written && !results.n_lost) {
		fprintf(stderr, "pfm regions: %s: no results of regions\n", folder);
		rc = EXIT_REFUSED;
	} else {
		rc = write_region_results(job, NULL, &results, "");
	}
	free(results.text);
	return rc;
}

static int run_regions(struct command_args *args)
{
	struct stat_job job = { .timing.repeat = 1, .regions.format = "table" };
	const char *value;
	int id, status = -1;

	program_name = "pfm regions";
	while (status < 0 && (id = next_option(args, &value)) > 0)
		status = apply_option(args, &job, id, value);
	if (status < 0 && id < 0)
		status = args->status;
	if (status < 0 && (args->n > 1 || (args->n == 1) == (job.targets.n_pids > 0)))
		status = report_usage_error(args, "expected -p PID or one folder.");
	if (status < 0)
		status = check_region_format(args, &job);
	if (status < 0 || status == EXIT_DONE)
		status =
			args->n ? show_folder(&job, args->operands[0]) : show_running_regions(&job);
	free(job.targets.pids);
	return status;
}

const struct command cmd_regions = {
	.name = "regions",
	.usage = "[OPTION]... -p PID,...\n[OPTION]... FOLDER",
	.summary = "show the regions of a running program, or of a kept folder",
	.about = "Prints the results so far of processes whose regions are counted: by pfm stat "
		 "--regions, or by PERFMON_REGIONS with a folder in PERFMON_REGIONS_OUTPUT. The "
		 "processes go on. FOLDER is one that pfm stat --regions --keep has named, or that "
		 "PERFMON_REGIONS_OUTPUT names.",
	.examples = "The regions of a running program so far\n"
		    "pfm regions -p 1\n"
		    "How even is the work of its threads?\n"
		    "pfm regions --by thread -p 1\n",
	.options = options,
	.run = run_regions
};
