/* SPDX-License-Identifier: MIT */
/* pfm mem: where loads and stores found their data, and which cache lines are hot or shared. */
#include <stdlib.h>
#include <string.h>
#include "mem/print.h"
#include "common/pfm.h"

enum { OPT_JSON = LONG_ONLY, OPT_LINE_SIZE, OPT_LIMIT };

enum { DEFAULT_LINES = 10, MAX_LINE_SIZE = 4096 };

extern const struct command cmd_record;

static const struct command_option options[] = {
	{ OPT_JSON, "json", NULL, "one JSON object for each level and each line" },
	{ 'e', "event", "NAME", "only samples of this event; * and ? are wildcards" },
	{ 'n', "lines", "N", "show at most N cache lines, 0 for all; default 10, with --json all" },
	{ OPT_LIMIT, "limit", "N", "another name of --lines" },
	{ OPT_LINE_SIZE, "line-size", "BYTES",
	  "size of a cache line in bytes, a power of two; default 64" },
	{ 0, NULL, NULL, NULL }
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Adds a sample, if it is of an access. */
static void add_sample(struct mem_job *job, struct export_sample *s)
{
	const pfm_sample_t *sample = &s->record->body.sample;
	const struct export_location *location;
	struct mem_access a = { .address = sample->addr,
		                .physical = sample->phys_addr,
		                .latency = sample->weight,
		                .pid = s->pid,
		                .tid = s->tid,
		                .task = s->task,
		                .node = MEM_NO_NODE,
		                .data_node = mem_nodes_of_address(job->nodes, sample->phys_addr) };

	if (!(s->has & (PFM_SAMPLE_SOURCE | PFM_SAMPLE_ADDR)))
		return;
	export_read_frames(&job->reader, s);
	if (job->reader.failed)
		return;
	location = &job->reader.locations[s->frames[0]];
	job->n_without_address += !sample->addr;
	if (s->has & PFM_SAMPLE_CPU)
		a.node = mem_nodes_of_cpu(job->nodes, s->cpu);
	mem_source_read(sample->source, &a.source);
	a.function = job->reader.names[location->first_name + location->n_names - 1];
	a.object = sample->addr ? export_find_object(&job->reader, s->pid, sample->addr) : 0;
	job->has_nodes |= a.data_node != MEM_NO_NODE;
	job->has_latency |= a.latency != 0;
	mem_lines_add(&job->lines, &a);
}

static int read_recording(struct mem_job *job)
{
	struct export_sample sample;
	int rc, status = export_open(&job->reader, job->path, job->event);

	if (status != EXIT_DONE)
		return status;
	job->nodes = mem_nodes_read(job->path);
	while ((rc = export_next(&job->reader, &sample)) == 1 && !job->lines.failed)
		add_sample(job, &sample);
	if (job->lines.failed)
		return report_no_memory();
	if (rc < 0)
		return EXIT_REFUSED;
	if (!job->lines.all.samples)
		fprintf(stderr,
		        "pfm mem: %s has no samples with data addresses; record them with 'pfm mem "
		        "record'\n",
		        job->path);
	return mem_lines_sort(&job->lines, &job->order) ? EXIT_DONE : report_no_memory();
}

/* ---- the command line ------------------------------------------------------------------------ */

static void report_losses(const struct export_reader *r)
{
	char text[LOSSES_MAX];

	if (!is_profile_complete(&r->losses))
		fprintf(stderr, "pfm mem: %s: %s\n", r->path,
		        print_profile_losses(&r->losses, text));
}

static int read_options(struct command_args *args, struct mem_job *job)
{
	const char *value;
	uint64_t number;
	int id;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_JSON: job->json = true; break;
		case 'e': job->event = value; break;
		case OPT_LINE_SIZE:
			if (!option_number(args, "--line-size", value, 1, MAX_LINE_SIZE, &number))
				return args->status;
			if (number & (number - 1))
				return report_usage_error(
					args, "--line-size: expected a power of two, got '%s'.",
					value);
			job->lines.line_size = (uint32_t)number;
			break;
		default:
			if (!option_number(args, id == 'n' ? "-n" : "--limit", value, 0, UINT32_MAX,
			                   &job->line_limit))
				return args->status;
			break;
		}
	return id < 0 ? args->status : -1;
}

static int run_report(struct command_args *args)
{
	struct mem_job job = { .line_limit = UINT64_MAX, .lines = { .line_size = 64 } };
	int status = read_options(args, &job);

	if (status >= 0)
		return status;
	if (args->n > 1)
		return report_usage_error(args, "expected one recording, got %d.", args->n);
	job.path = args->n ? args->operands[0] : "perf.data";
	if (job.line_limit == UINT64_MAX)
		job.line_limit = job.json ? 0 : DEFAULT_LINES;
	status = read_recording(&job);
	if (status == EXIT_DONE) {
		if (job.json)
			print_mem_json(&job);
		else
			print_mem_text(&job);
		report_losses(&job.reader);
	}
	export_close(&job.reader);
	mem_nodes_free(job.nodes);
	mem_lines_free(&job.lines);
	free(job.order);
	return status;
}

/* pfm record --memory with the same arguments. */
static int run_record(const struct command_args *args)
{
	char **argv = calloc((size_t)args->argc + 2, sizeof(*argv));
	char name[] = "record", memory[] = "--memory";
	int status;

	if (!argv)
		return report_no_memory();
	argv[0] = name;
	argv[1] = memory;
	for (int i = 2; i < args->argc; i++)
		argv[i] = args->argv[i];
	status = run_pfm_command(&cmd_record, args->argc, argv);
	free(argv);
	return status;
}

static int run_mem(struct command_args *args)
{
	if (args->argc > 1 && strcmp(args->argv[1], "record") == 0)
		return run_record(args);
	if (args->argc > 1 && strcmp(args->argv[1], "report") == 0) {
		args->argc--;
		args->argv++;
	}
	return run_report(args);
}

const struct command cmd_mem = {
	.name = "mem",
	.usage = "[report] [OPTION]... [FILE]\nrecord [OPTION]... -- COMMAND [ARG]...",
	.summary = "show where loads and stores found their data, and false sharing",
	.about = "'pfm mem record' samples loads and stores with their data addresses, latencies "
		 "and the level that had the data; it takes the options of 'pfm record'. 'pfm mem' "
		 "shows such a recording of pfm or perf, by default perf.data: latencies by level "
		 "and NUMA node, the cache lines that cost most, and for "
		 "lines that threads share which thread uses which bytes. Threads that use "
		 "different bytes of a line share it falsely: padding between them helps.",
	.examples = "Where a program waits for memory\n"
		    "pfm mem record -- ./work && pfm mem\n"
		    "The fifty hottest lines\n"
		    "pfm mem -n 50\n",
	.options = options,
	.reads_recording = true,
	.run = run_mem
};
