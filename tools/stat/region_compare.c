/* SPDX-License-Identifier: MIT */
/* pfm stat --regions -- OLD :: NEW: which regions changed between two commands. Each round runs
 * both, every other round in the reverse order, so that slow changes of the machine affect them
 * alike. One round before the others warms up caches and clocks, and is not counted. */
#include "common/pfm.h"
#include "diff/regions.h"
#include "stat/options.h"
#include "stat/region_results.h"
#include "stat/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_ROUNDS = 10, CONFIDENCE = 95 };

struct region_runs {
	struct stat_job *job;
	const char *events, *on; /* on: interfaces whose marks are counted */
	char **commands[SIDES];
	unsigned n_rounds;
	struct region_collection *results; /* of each round, those of the old command first */
};

/* Refuses what a comparison cannot use. */
static int check_comparison(struct command_args *args, const struct stat_job *job)
{
	int rc = check_option_modes(args, job, STAT_REGION_COMMANDS);

	if (rc != EXIT_DONE)
		return rc;
	if (strcmp(job->regions.format, "table") != 0 && strcmp(job->regions.format, "json") != 0)
		return report_usage_error(args,
		                          "--regions=%s: with several commands (::), expected "
		                          "table or json.",
		                          job->regions.format);
	if (job->options.append && !job->options.output)
		return report_usage_error(args, "--append needs --output.");
	return check_rounds(args, job);
}

/* Runs both commands. @results: of the old one, then of the new one. */
static int run_round(const struct region_runs *runs, unsigned round,
                     struct region_collection *results)
{
	int rc = EXIT_DONE;

	for (unsigned i = 0; i < SIDES && rc == EXIT_DONE; i++) {
		const unsigned side = round % 2 ? SIDES - 1 - i : i;

		results[side].format = "json";
		rc = run_region_command(runs->job, runs->commands[side], runs->events,
		                        &results[side]);
		if (rc == EXIT_DONE && (!results[side].n_written || results[side].n_lost)) {
			if (!results[side].n_written && !results[side].n_lost)
				report_no_region(runs->commands[side][0], runs->on);
			rc = EXIT_REFUSED;
		}
	}
	return rc;
}

static void free_texts(struct region_collection *results, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		free(results[i].text);
}

static int run_rounds(const struct region_runs *runs)
{
	struct region_collection warm[SIDES] = { { 0 } };
	int rc = run_round(runs, 0, warm);

	free_texts(warm, SIDES);
	for (unsigned i = 0; i < runs->n_rounds && rc == EXIT_DONE; i++)
		rc = run_round(runs, i, &runs->results[(size_t)i * SIDES]);
	return rc;
}

static void put_heading(FILE *out, const struct region_runs *runs)
{
	static const char *const names[SIDES] = { "old", "new" };
	char command[256];

	fprintf(out, "%u interleaved rounds after one that is not counted\n", runs->n_rounds);
	for (unsigned i = 0; i < SIDES; i++)
		fprintf(out, "  %s  %s\n", names[i],
		        quote_command(runs->commands[i], command, sizeof(command)));
	fputc('\n', out);
}

/* Compares the results of all rounds. Returns an exit status. */
static int compare_results(const struct region_runs *runs, FILE *out)
{
	const struct stat_job *job = runs->job;
	const bool json = job->options.json || strcmp(job->regions.format, "json") == 0;
	const struct region_comparison how = { .confidence = CONFIDENCE / 100.0,
		                               .limit = job->regions.has_limit ? job->regions.limit
		                                                               : -1,
		                               .json = json,
		                               .out = out,
		                               .command = program_name };
	const unsigned n = runs->n_rounds * SIDES;
	struct region_text *texts = calloc(n, sizeof(*texts));
	int rc = texts ? EXIT_DONE : report_no_memory();

	for (unsigned i = 0; i < n && rc == EXIT_DONE; i++) {
		FILE *in = fmemopen(runs->results[i].text, runs->results[i].size, "r");

		texts[i] =
			(struct region_text){ in, runs->commands[i % SIDES][0], i % SIDES, true };
		rc = in ? EXIT_DONE : report_no_memory();
	}
	if (rc == EXIT_DONE && !json)
		put_heading(out, runs);
	if (rc == EXIT_DONE)
		rc = compare_region_texts(&how, texts, n);
	for (unsigned i = 0; i < n && texts; i++)
		if (texts[i].in)
			fclose(texts[i].in);
	free(texts);
	return rc;
}

static int write_comparison(const struct region_runs *runs)
{
	const struct stat_options *options = &runs->job->options;
	FILE *out = options->output ? term_open(options->output, options->append) : stdout;
	int rc;

	if (!out)
		return report_bad_option(options->output, errno);
	rc = compare_results(runs, out);
	if (options->output && fclose(out) != 0)
		return report_bad_option(options->output, errno);
	return rc;
}

int compare_regions(struct command_args *args, struct stat_job *job)
{
	struct region_runs runs = { .job = job,
		                    .n_rounds = job->timing.repeat > 1 ? job->timing.repeat
		                                                       : USUAL_ROUNDS };
	char *events = NULL, on[128];
	int rc;

	if (split_operands(args->operands, runs.commands, SIDES) != SIDES)
		return report_usage_error(args, "--regions: expected two commands, OLD :: NEW.");
	rc = check_comparison(args, job);
	if (rc == EXIT_DONE)
		rc = prepare_region_events(job, &events);
	if (rc != EXIT_DONE)
		return rc;
	load_region_adapters(job, on, sizeof(on));
	runs.events = events;
	runs.on = on;
	runs.results = calloc((size_t)runs.n_rounds * SIDES, sizeof(*runs.results));
	rc = runs.results ? run_rounds(&runs) : report_no_memory();
	if (rc == EXIT_DONE)
		rc = write_comparison(&runs);
	if (runs.results)
		free_texts(runs.results, runs.n_rounds * SIDES);
	free(runs.results);
	free(events);
	return rc;
}
