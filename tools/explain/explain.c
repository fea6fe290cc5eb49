/* SPDX-License-Identifier: MIT */
/* pfm explain: options, and the steps to the answer. */
#include "explain/explain.h"
#include "common/pfm.h"
#include "stat/stat.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
	OPT_JSON = LONG_ONLY,
	OPT_TIMEOUT,
	OPT_ONCE,
	OPT_MEMORY,
	OPT_REGIONS,
	DEFAULT_SECONDS = 5,
	TARGET_TEXT_MAX = 512
};

static const struct command_option options[] = {
	{ 'p', "pid", "PID", "a running process" },
	{ 'a', "all", NULL, "the whole system" },
	{ OPT_TIMEOUT, "timeout", "SECONDS", "with -p and -a: how long; 5 by default" },
	{ OPT_ONCE, "once", NULL, "run the program once: places are by time, not by event" },
	{ OPT_REGIONS, "regions", NULL, "explain each region that the program marks" },
	{ OPT_MEMORY, "memory", "NS,GB/S",
	  "latency and bandwidth of this machine's memory, in place of a measurement" },
	{ OPT_JSON, "json", NULL, "one JSON object" },
	{ 0, NULL, NULL, NULL }
};

struct explain_job {
	struct explain_target target;
	struct memory_speed memory; /* of --memory */
	char text[TARGET_TEXT_MAX]; /* "-- ./work 3", "-p 17", "-a" */
	bool json, regions;
};

/* Reads "85,40": nanoseconds, and gigabytes in a second. */
static bool read_memory_speed(const char *text, struct memory_speed *out)
{
	char *end;

	out->nanoseconds = strtod(text, &end);
	if (end == text || *end != ',')
		return false;
	text = end + 1;
	out->bytes_a_second = 1e9 * strtod(text, &end);
	out->is_known = end != text && !*end && out->nanoseconds > 0 && out->bytes_a_second > 0;
	return out->is_known;
}

static bool refuse(struct command_args *args, const char *text)
{
	args->status = report_usage_error(args, "%s", text);
	return false;
}

static bool parse_options(struct command_args *args, struct explain_job *j)
{
	const char *value;
	uint64_t number;
	bool all = false;
	int id;

	j->target.seconds = DEFAULT_SECONDS;
	while ((id = next_option(args, &value)) > 0) {
		if (id == 'a')
			all = true;
		else if (id == OPT_JSON)
			j->json = true;
		else if (id == OPT_ONCE)
			j->target.once = true;
		else if (id == OPT_REGIONS)
			j->regions = true;
		else if (id == OPT_MEMORY && read_memory_speed(value, &j->memory))
			continue;
		else if (id == OPT_MEMORY)
			return refuse(args, "--memory: expected NANOSECONDS,GIGABYTES/SECOND.");
		else if (!option_number(args, id == 'p' ? "-p" : "--timeout", value, 1, 1 << 30,
		                        &number))
			return false;
		else if (id == 'p')
			j->target.pid = (int)number;
		else
			j->target.seconds = (double)number;
	}
	if (id < 0)
		return false;
	j->target.command = args->n ? args->operands : NULL;
	if ((args->n > 0) + all + (j->target.pid > 0) != 1)
		return refuse(args, "expected a program, -p or -a.");
	if (j->regions && !args->n)
		return refuse(args, "--regions needs a program that it starts.");
	return true;
}

static void describe_target(struct explain_job *j)
{
	char command[TARGET_TEXT_MAX - 4];

	if (j->target.command)
		snprintf(j->text, sizeof(j->text), "-- %s",
		         quote_command(j->target.command, command, sizeof(command)));
	else if (j->target.pid)
		snprintf(j->text, sizeof(j->text), "-p %d", j->target.pid);
	else
		snprintf(j->text, sizeof(j->text), "-a");
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Measures the target, then the memory and the places that the answer needs. */
static int explain_target(pfm_ctx_t *ctx, struct explain_job *j, struct explain_evidence *e,
                          int *ended)
{
	const struct explain_rule *nodes[EXPLAIN_NODES_MAX];
	int status = measure_evidence(ctx, &j->target, e, ended);
	unsigned n;

	if (status != EXIT_DONE)
		return status;
	if (needs_metric(explain_rules, e, BANDWIDTH_METRIC))
		measure_memory_use(e);
	n = find_nodes(explain_rules, e, nodes);
	if (n && !j->target.once)
		sample_node(ctx, &j->target, nodes[n - 1], e);
	if (j->json)
		put_explanation(e, j->text);
	else
		print_explanation(e, j->text);
	return EXIT_DONE;
}

static int run_explain(struct command_args *args)
{
	struct explain_job j = { .text = "" };
	struct explain_evidence *e;
	int status = EXIT_REFUSED, ended = 0;
	pfm_ctx_t *ctx;

	if (!parse_options(args, &j))
		return args->status;
	describe_target(&j);
	ctx = open_context(NULL);
	e = calloc(1, sizeof(*e));
	if (ctx && e) {
		list_metrics(explain_rules, e);
		e->memory = j.memory;
		status = j.regions ? explain_regions(ctx, &j.target, j.text, j.json, e, &ended)
		                   : explain_target(ctx, &j, e, &ended);
	}
	free(e);
	pfm_close_context(ctx);
	return status == EXIT_DONE && j.target.command
	               ? child_get_status(j.target.command[0], ended)
	               : status;
}

const struct command cmd_explain = {
	.name = "explain",
	.usage = "[--json] [--once | --regions] COMMAND [ARGUMENT...]\n"
		 "[--json] -p PID | -a [--timeout SECONDS]",
	.summary = "tell what limits a program, with the evidence",
	.about = "Counts a program and tells what limits it: waiting, the front end, bad "
		 "speculation, "
		 "memory by level, or the core, and where: function, line and instruction. Each "
		 "claim has the values with their intervals, and a command that shows it. What was "
		 "not measured is not claimed; without a PMU that is all but waiting. Where an "
		 "event shows the places, the program runs a second time, without its output.",
	.examples = "What limits this program?\n"
		    "pfm explain -- ./work\n"
		    "A service, for 30 seconds\n"
		    "pfm explain --timeout 30 -p 1234\n"
		    "Each region of a program\n"
		    "pfm explain --regions -- ./work\n",
	.options = options,
	.stops_at_operand = true,
	.run = run_explain
};
