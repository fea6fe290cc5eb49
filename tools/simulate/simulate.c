/* SPDX-License-Identifier: MIT */
#include "simulate/simulate.h"

#include <stdlib.h>
#include <string.h>
#include "common/pfm.h"

enum { OPT_SIMULATE = LONG_ONLY, OPT_JSON, OPT_NO_FIXED, OPT_MODEL, OPT_FAIL_ABOVE, OPT_REGIONS };
enum { RUNS_MAX = 1000, N_COMMANDS = 2 };

static const struct command_option options[] = {
	{ OPT_SIMULATE, "simulate", NULL, "count by an emulator" },
	{ 'e', "event", "EVENT,...",
	  "of instructions, loads, stores, branches and syscalls; default: all" },
	{ 'r', "repeat", "N", "run the command N times, and print the distinct values" },
	{ OPT_NO_FIXED, "no-fixed", NULL, "keep the environment and random addresses" },
	{ OPT_MODEL, "simulate-cpu", "NAME", "the emulated CPU, as -cpu of QEMU" },
	{ OPT_FAIL_ABOVE, "fail-above", "PERCENT",
	  "of two commands, OLD :: NEW: exit with 1 if NEW has more of the first event by this" },
	{ OPT_REGIONS, "regions", "[FORMAT]",
	  "count the regions that the program marks, as pfm stat --regions" },
	{ OPT_JSON, "json", NULL, "one JSON object for each event" },
	{ 0, NULL, NULL, NULL }
};

static const char *const event_names[N_SIMULATED] = { "instructions", "loads", "stores", "branches",
	                                              "syscalls" };

/* Options of the command. */
struct simulation {
	struct engine engine;
	unsigned events[N_SIMULATED], n_events; /* in the order of the request */
	uint64_t n_runs;
	bool has_json, is_limited;
	double limit; /* percent */
	char **commands[N_COMMANDS];
	unsigned n_commands;
	struct simulated_run *runs[N_COMMANDS];
	char message[MESSAGE_MAX];
};

/* ---- options --------------------------------------------------------------------------------- */

static int refuse_event(const struct command_args *args, const char *name, size_t len)
{
	return report_usage_error(
		args,
		"'%.*s' cannot be simulated: an emulator has no pipeline, caches, clock or kernel. "
		"Expected instructions, loads, stores, branches or syscalls.",
		(int)len, name);
}

/* Adds the events of a list. Returns an exit status. */
static int add_events(const struct command_args *args, struct simulation *s, const char *list)
{
	for (const char *at = list; *at; at += *at == ',') {
		size_t len = strcspn(at, ",");
		unsigned i = 0;

		while (i < N_SIMULATED &&
		       (strlen(event_names[i]) != len || strncmp(event_names[i], at, len) != 0))
			i++;
		if (i == N_SIMULATED)
			return refuse_event(args, at, len);
		if (s->n_events < N_SIMULATED)
			s->events[s->n_events++] = i;
		at += len;
	}
	return EXIT_DONE;
}

static int set_limit(const struct command_args *args, struct simulation *s, const char *value)
{
	char *end;

	s->limit = strtod(value, &end);
	s->is_limited = true;
	if (end == value || (*end && strcmp(end, "%") != 0) || !(s->limit >= 0))
		return report_usage_error(args, "--fail-above: expected percent, got '%s'.", value);
	return EXIT_DONE;
}

/* Handles option @id. Returns an exit status. */
static int set_option(struct command_args *args, struct simulation *s, int id, const char *value)
{
	switch (id) {
	case 'e': return add_events(args, s, value);
	case 'r':
		return option_number(args, "-r", value, 1, RUNS_MAX, &s->n_runs) ? EXIT_DONE
		                                                                 : EXIT_USAGE;
	case OPT_NO_FIXED: s->engine.is_fixed = false; break;
	case OPT_MODEL: s->engine.model = value; break;
	case OPT_FAIL_ABOVE: return set_limit(args, s, value);
	case OPT_REGIONS: s->engine.regions = value ? value : "table"; break;
	case OPT_JSON: s->has_json = true; break;
	default: break;
	}
	return EXIT_DONE;
}

/* Splits the operands at "::". Returns an exit status. */
static int split_commands(const struct command_args *args, struct simulation *s)
{
	s->commands[s->n_commands++] = args->operands;
	for (char **at = args->operands; *at; at++) {
		if (strcmp(*at, "::") != 0)
			continue;
		*at = NULL;
		if (s->n_commands == N_COMMANDS)
			return report_usage_error(args, "expected at most two commands.");
		s->commands[s->n_commands++] = at + 1;
	}
	for (unsigned i = 0; i < s->n_commands; i++)
		if (!*s->commands[i])
			return report_usage_error(args, "expected a command.");
	if (s->is_limited && s->n_commands < N_COMMANDS)
		return report_usage_error(args, "--fail-above: expected OLD :: NEW.");
	return EXIT_DONE;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The values of an event in several runs. */
struct spread {
	uint64_t least, most, middle;
	unsigned n_distinct;
};

static int compare_values(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static struct spread measure_spread(const struct simulation *s, unsigned command, unsigned event)
{
	uint64_t values[RUNS_MAX] = { 0 };
	const unsigned n = (unsigned)s->n_runs;
	struct spread d = { .n_distinct = 1 };

	for (unsigned i = 0; i < n; i++)
		values[i] = s->runs[command][i].counts[event];
	qsort(values, n, sizeof(*values), compare_values);
	for (unsigned i = 1; i < n; i++)
		d.n_distinct += values[i] != values[i - 1];
	d.least = values[0];
	d.most = values[n - 1];
	d.middle = values[n / 2];
	return d;
}

static double compute_change(uint64_t before, uint64_t after)
{
	return before ? 100 * ((double)after - (double)before) / (double)before : after ? 100 : 0;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void print_row(const struct simulation *s, unsigned command, unsigned event)
{
	const struct spread d = measure_spread(s, command, event);
	char value[GROUPED_MAX], most[GROUPED_MAX];

	fprintf(stderr, "  %19s %-12s  simulated", group_digits(d.middle, value),
	        event_names[event]);
	if (s->n_runs > 1 && d.n_distinct == 1)
		fprintf(stderr, ", the same in %u runs", (unsigned)s->n_runs);
	else if (s->n_runs > 1)
		fprintf(stderr, ", %u distinct values in %u runs: %s to %s (%.3g%%)", d.n_distinct,
		        (unsigned)s->n_runs, group_digits(d.least, value),
		        group_digits(d.most, most), compute_change(d.least, d.most));
	if (command) {
		const struct spread old = measure_spread(s, 0, event);

		fprintf(stderr, "  %+.3f%%", compute_change(old.middle, d.middle));
	}
	fputc('\n', stderr);
}

static void print_remarks_of(const struct simulated_run *r)
{
	if (r->n_uncounted)
		fprintf(stderr,
		        "  not counted: %u programs for another architecture, or of 32 bits\n",
		        r->n_uncounted);
	if (r->n_threads > r->n_programs)
		fputs("  several threads or processes: what they do may depend on their timing\n",
		      stderr);
	if (r->n_raced)
		fprintf(stderr, "  counts may be too low: %u threads started in an unknown way\n",
		        r->n_raced);
	if (r->n_threads > SIMULATED_THREADS)
		fputs("  not counted: threads after the first 65,536\n", stderr);
}

static void print_command(const struct simulation *s, unsigned command)
{
	fprintf(stderr, "\n  %s, by %s %s%s%s, %s\n\n", s->commands[command][0],
	        base_name(s->engine.path), s->engine.version, s->engine.model ? " as " : "",
	        s->engine.model ? s->engine.model : "",
	        s->engine.is_fixed ? "fixed environment" : "environment of this shell");
	for (unsigned i = 0; i < s->n_events; i++)
		print_row(s, command, s->events[i]);
	print_remarks_of(&s->runs[command][0]);
}

static void put_row(const struct simulation *s, unsigned command, unsigned event)
{
	const struct spread d = measure_spread(s, command, event);
	const struct simulated_run *r = &s->runs[command][0];
	struct json j = { .out = stdout };

	put_begin(&j, NULL, '{');
	put_text(&j, "event", event_names[event]);
	put_count(&j, "value", d.middle);
	put_text(&j, "quality", pfm_quality_name(PFM_QUALITY_SIMULATED));
	put_text(&j, "engine", base_name(s->engine.path));
	put_text(&j, "version", s->engine.version);
	put_text(&j, "model", s->engine.model ? s->engine.model : "default");
	put_bool(&j, "fixed", s->engine.is_fixed);
	put_int(&j, "command", command);
	put_int(&j, "runs", (int)s->n_runs);
	put_int(&j, "distinct", d.n_distinct);
	put_count(&j, "least", d.least);
	put_count(&j, "most", d.most);
	put_int(&j, "threads", r->n_threads);
	put_int(&j, "programs", r->n_programs);
	put_int(&j, "uncounted", r->n_uncounted);
	put_end(&j, '}');
	put_line(&j);
}

static void report(const struct simulation *s)
{
	for (unsigned c = 0; c < s->n_commands; c++) {
		if (!s->has_json)
			print_command(s, c);
		for (unsigned i = 0; i < s->n_events && s->has_json; i++)
			put_row(s, c, s->events[i]);
	}
	if (!s->has_json)
		fputc('\n', stderr);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int refuse_engine(const struct simulation *s)
{
	fprintf(stderr, "pfm stat --simulate: %s\n", s->message);
	return EXIT_REFUSED;
}

/* Both commands need the same emulator: counts of different ones cannot be compared. */
static int choose_engine(struct simulation *s)
{
	struct engine other = s->engine;

	for (unsigned i = 0; i < s->n_events; i++)
		s->engine.has_accesses |=
			s->events[i] == SIMULATED_LOADS || s->events[i] == SIMULATED_STORES;
	for (unsigned i = 0; i < s->n_events; i++) {
		strcat(s->engine.events, i ? "," : "");
		strcat(s->engine.events, event_names[s->events[i]]);
	}
	if (!find_engine(&s->engine, s->commands[0][0], s->message))
		return refuse_engine(s);
	if (s->n_commands > 1 && !find_engine(&other, s->commands[1][0], s->message))
		return refuse_engine(s);
	if (s->n_commands > 1 && strcmp(other.path, s->engine.path) != 0) {
		snprintf(s->message, sizeof(s->message),
		         "%s and %s are for different architectures: counts of different emulators "
		         "cannot be compared",
		         s->commands[0][0], s->commands[1][0]);
		return refuse_engine(s);
	}
	return test_engine(&s->engine, s->message) ? EXIT_DONE : refuse_engine(s);
}

/* Runs all commands. Returns the first exit status that is not 0. */
static int run_commands(struct simulation *s, bool *is_counted)
{
	int status = EXIT_DONE;

	*is_counted = true;
	for (unsigned c = 0; c < s->n_commands; c++)
		for (unsigned i = 0; i < s->n_runs && *is_counted; i++) {
			struct simulated_run *r = &s->runs[c][i];

			*is_counted = run_simulated(&s->engine, s->commands[c], r, s->message);
			status = status == EXIT_DONE ? r->status : status;
		}
	return status;
}

/* EXIT_REFUSED if the new command has more of the first event than the limit allows. */
static int check_limit(const struct simulation *s)
{
	double change;

	if (!s->is_limited)
		return EXIT_DONE;
	change = compute_change(measure_spread(s, 0, s->events[0]).middle,
	                        measure_spread(s, 1, s->events[0]).middle);
	if (change <= s->limit)
		return EXIT_DONE;
	fprintf(stderr, "pfm stat --simulate: %s rose by %.3f%%, more than %g%%\n",
	        event_names[s->events[0]], change, s->limit);
	return EXIT_REFUSED;
}

static int simulate(struct simulation *s)
{
	int status = choose_engine(s);
	bool is_counted;

	if (status != EXIT_DONE)
		return status;
	for (unsigned c = 0; c < s->n_commands; c++) {
		s->runs[c] = calloc((size_t)s->n_runs, sizeof(*s->runs[c])); /* RUNS_MAX at most */
		if (!s->runs[c])
			return report_no_memory();
	}
	status = run_commands(s, &is_counted);
	if (!is_counted)
		return refuse_engine(s);
	report(s);
	return status == EXIT_DONE ? check_limit(s) : status;
}

static int run_simulate(struct command_args *args)
{
	static struct simulation s;
	const char *value;
	int id, status = EXIT_DONE;

	s = (struct simulation){ .n_runs = 1, .engine = { .is_fixed = true } };
	while ((id = next_option(args, &value)) > 0 && status == EXIT_DONE)
		status = set_option(args, &s, id, value);
	if (status != EXIT_DONE)
		return status;
	if (id < 0)
		return args->status;
	if (!args->n)
		return report_usage_error(args, "expected a command.");
	for (unsigned i = 0; !s.n_events && i < N_SIMULATED; i++)
		s.events[i] = i;
	s.n_events = s.n_events ? s.n_events : N_SIMULATED;
	status = split_commands(args, &s);
	if (status == EXIT_DONE)
		status = simulate(&s);
	for (unsigned c = 0; c < N_COMMANDS; c++)
		free(s.runs[c]);
	return status;
}

const struct command cmd_simulate = {
	.name = "stat --simulate",
	.usage = "[-e EVENT,...] [-r N] [--json] [--] COMMAND [ARG]...\n"
		 "[--fail-above PERCENT] -- OLD [ARG]... :: NEW [ARG]...",
	.summary = "count by an emulator: the same number in each run",
	.about = "Runs the command in QEMU's user mode emulator and counts each instruction, load, "
		 "store, conditional branch and system call of it, its threads and the programs "
		 "that "
		 "it executes. No PMU and no privileges are needed. The quality of the counts is "
		 "simulated: the library code that a machine would choose, and everything about "
		 "time, may differ. By default addresses, environment and random numbers are the "
		 "same in each run.",
	.examples = "How many instructions does it take?\n"
		    "pfm stat --simulate -e instructions -- ./work\n"
		    "In CI: fail if it takes 0.5 % more than before\n"
		    "pfm stat --simulate --fail-above 0.5% -- ./old :: ./work\n",
	.options = options,
	.stops_at_operand = true,
	.run = run_simulate
};

bool is_simulation(char *const *arguments)
{
	for (; *arguments && strcmp(*arguments, "--") != 0; arguments++)
		if (strcmp(*arguments, "--simulate") == 0)
			return true;
	return false;
}
