/* SPDX-License-Identifier: MIT */
/* pfm check-events: options, the table of results, and the file. */
#include "check_events/check_events.h"
#include "common/pfm.h"
#include "stat/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_PMU = LONG_ONLY, OPT_ALL, OPT_EMULATOR, OPT_JSON };

static const struct command_option options[] = {
	{ OPT_PMU, "pmu", "NAME", "the events of this PMU" },
	{ OPT_ALL, "all", NULL, "list also events whose meaning no kernel has" },
	{ 'o', "output", "FILE", "write the report, one JSON object, to FILE" },
	{ OPT_EMULATOR, "emulator", "NAME", "the report is of a machine that NAME emulates" },
	{ 'v', "verbose", NULL,
	  "print what each kernel should have counted, and what was counted" },
	{ OPT_JSON, "json", NULL, "print the report in place of the table" },
	{ 0, NULL, NULL, NULL }
};

struct check_options {
	const char *pmu, *output, *emulator;
	bool all, verbose, json;
};

static bool parse_options(struct command_args *args, struct check_options *o)
{
	const char *value;
	int id;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_PMU: o->pmu = value; break;
		case OPT_ALL: o->all = true; break;
		case 'o': o->output = value; break;
		case OPT_EMULATOR: o->emulator = value; break;
		case 'v': o->verbose = true; break;
		default: o->json = true; break;
		}
	if (id == 0 && o->pmu && args->n)
		args->status = report_usage_error(args, "expected --pmu or events, got both.");
	return id == 0 && !(o->pmu && args->n);
}

static void print_observations(const struct event_check *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		const struct observation *o = &c->seen[i];

		printf("    %-24s expected %.6g", o->kernel->name, o->expected.low);
		if (o->expected.high > o->expected.low)
			printf(" to %.6g", o->expected.high);
		printf(", counted %.6g +- %.2g", o->mean * c->factor, o->error * c->factor);
		if (o->kernel->control)
			printf("; without the operation: %s", o->kernel->control);
		putchar('\n');
	}
}

/* @above: the event before it, or NULL: a reason that it has, too, is not repeated. */
static void print_check(const struct event_check *c, const struct event_check *above, bool verbose)
{
	static const enum style styles[N_JUDGEMENTS] = { DIM, GREEN, RED, YELLOW, RED, RED };
	char text[96];

	printf("%-40s %-20s %s%s%s", c->text, c->meaning,
	       term_colour_begin(stdout, styles[c->result.judgement]),
	       describe_judgement(&c->result, text), term_colour_end(stdout));
	if (c->n)
		printf(" (%u kernel%s)", c->n, c->n == 1 ? "" : "s");
	putchar('\n');
	if (*c->reason && (!above || strcmp(above->reason, c->reason) != 0)) {
		printf("    ");
		term_wrap(stdout, 4, 4, c->reason);
	}
	if (verbose)
		print_observations(c);
}

static void print_summary(const struct check_list *list)
{
	unsigned n[N_JUDGEMENTS] = { 0 };

	for (size_t i = 0; i < list->n; i++)
		n[list->checks[i].result.judgement]++;
	printf("\n%zu event%s in %.1f seconds: ", list->n, list->n == 1 ? "" : "s", list->seconds);
	for (unsigned i = 1; i < N_JUDGEMENTS; i++)
		if (n[i])
			printf("%u %s, ", n[i], name_judgement((enum judgement)i));
	printf("%u %s.\n", n[NOT_JUDGED], name_judgement(NOT_JUDGED));
}

static bool write_report(const struct check_options *o, bool is_pretended,
                         const struct check_list *list)
{
	struct machine_facts facts;
	struct json j = { .out = stdout };
	bool ok;

	read_machine_facts(&facts);
	if (o->json)
		put_check_report(&j, &facts, o->emulator, is_pretended, list);
	if (!o->output)
		return true;
	j = (struct json){ .out = fopen(o->output, "we") };
	if (!j.out) {
		fprintf(stderr, "pfm: %s: %s\n", o->output, describe_output_error(errno));
		return false;
	}
	put_check_report(&j, &facts, o->emulator, is_pretended, list);
	ok = !ferror(j.out);
	ok = fclose(j.out) == 0 && ok;
	if (!ok)
		fprintf(stderr, "pfm: %s: %s\n", o->output, describe_output_error(errno));
	return ok;
}

static int check_list_of_events(pfm_ctx_t *ctx, const struct check_options *o,
                                struct check_list *list)
{
	struct checker k = { .ctx = ctx,
		             .n_pairs = USUAL_PAIRS,
		             .is_pretended = is_pretended_machine() };
	const uint64_t begin = now_ns();

	for (size_t i = 0; i < list->n; i++) {
		check_event(&k, &list->checks[i]);
		if (!o->json)
			print_check(&list->checks[i], i ? &list->checks[i - 1] : NULL, o->verbose);
	}
	free_kernel_memory(&k.memory);
	list->seconds = (double)(now_ns() - begin) / 1e9;
	if (!o->json)
		print_summary(list);
	return write_report(o, k.is_pretended, list) ? EXIT_DONE : EXIT_REFUSED;
}

static int run_check_events(struct command_args *args)
{
	struct check_options o = { 0 };
	struct check_list list = { 0 };
	int status = EXIT_REFUSED;
	bool ok = true;
	pfm_ctx_t *ctx;

	if (!parse_options(args, &o))
		return args->status;
	ctx = open_context(NULL);
	if (!ctx)
		return EXIT_REFUSED;
	for (int i = 0; ok && i < args->n; i++)
		ok = add_named_check(ctx, args->operands[i], &list);
	if (ok && (args->n || add_tagged_checks(ctx, o.pmu, o.all, &list)))
		status = check_list_of_events(ctx, &o, &list);
	free(list.checks);
	pfm_close_context(ctx);
	return status;
}

const struct command cmd_check_events = {
	.name = "check-events",
	.usage = "[EVENT...] [--pmu NAME] [--all] [-o FILE]",
	.summary = "compare what events count with kernels whose counts are known",
	.about = "Runs small pieces of work that do a known number of instructions, branches, "
		 "loads, "
		 "page faults and so on, and compares what the events of this machine count. An "
		 "event is right, biased, noisy, zero or unrelated to its meaning, or it is not "
		 "checked, with the reason. Without events it checks all that have a meaning.",
	.examples = "Which events of this machine count right?\n"
		    "pfm check-events\n"
		    "Two events, with what each kernel counted\n"
		    "pfm check-events -v instructions branches\n"
		    "A report that can be contributed\n"
		    "pfm check-events --all -o report.json\n",
	.options = options,
	.run = run_check_events
};
