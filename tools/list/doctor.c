/* SPDX-License-Identifier: MIT */
/* pfm doctor: prints the findings of pfm_check_system(), and those of a quick pfm check-events. */
#include "common/pfm.h"
#include "list/list.h"

#include <string.h>
#include <perfmon/system.h>

enum { OPT_JSON = LONG_ONLY, LABEL_WIDTH = 18, TEXT_MAX = 640 };

static const struct command_option options[] = {
	{ OPT_JSON, "json", NULL, "one JSON object for each finding" }, { 0, NULL, NULL, NULL }
};

/* Prints @text under a finding, after @label; nothing if it is empty. */
static void print_detail(const char *label, const char *text)
{
	if (!*text)
		return;
	printf("  %-*s %s", LABEL_WIDTH, "", label);
	term_wrap(stdout, LABEL_WIDTH + 3 + strlen(label), LABEL_WIDTH + 5, text);
}

/* @repeats: the previous finding has the same consequence, so it is omitted here. */
static void print_finding(const pfm_finding_t *f, bool repeats)
{
	static const enum style styles[] = { GREEN, PLAIN, RED };
	char text[TEXT_MAX];

	printf("  %s%-*s%s ", term_colour_begin(stdout, styles[f->state]), LABEL_WIDTH, f->check,
	       term_colour_end(stdout));
	snprintf(text, sizeof(text), "%s%s", f->observed, repeats ? ", for the same reason" : "");
	term_wrap(stdout, LABEL_WIDTH + 3, LABEL_WIDTH + 3, text);
	print_detail("", repeats ? "" : f->consequence);
	print_detail("do: ", repeats ? "" : f->remedy);
	print_detail("works: ", f->available);
}

static void print_finding_json(const pfm_finding_t *f)
{
	static const char *const state_names[] = { "good", "note", "bad" };
	struct json j = { .out = stdout };

	put_begin(&j, NULL, '{');
	put_text(&j, "check", f->check);
	put_text(&j, "state", state_names[f->state]);
	put_text(&j, "found", f->observed);
	put_text_if(&j, "why", f->consequence);
	put_text_if(&j, "remedy", f->remedy);
	put_text_if(&j, "works", f->available);
	if (f->has_count) {
		if (pfm_counter_quality((pfm_quality_t)f->quality, (pfm_cause_t)f->cause) <=
		    PFM_QUALITY_PARTIAL)
			put_count(&j, "count", f->count);
		put_text(&j, "quality", pfm_quality_name((pfm_quality_t)f->quality));
		put_text(&j, "cause", pfm_cause_name((pfm_cause_t)f->cause));
		put_text(&j, "expected", f->expected);
	}
	put_end(&j, '}');
	put_line(&j);
}

static void print_findings_json(pfm_ctx_t *ctx, const pfm_system_check_t *check)
{
	pfm_finding_t f = PFM_INIT(f);

	for (unsigned i = 0; !pfm_describe_finding(check, i, &f); i++)
		print_finding_json(&f);
	report_known_counts(ctx, true);
}

static void print_findings(pfm_ctx_t *ctx, const pfm_system_check_t *check)
{
	static const char *const headings[] = { "This machine", "Permissions", "Obstacles",
		                                "A small known workload" };
	pfm_finding_t f = PFM_INIT(f);
	const char *reason = "";
	unsigned n_causes = 0;
	int topic = -1;

	for (unsigned i = 0; !pfm_describe_finding(check, i, &f); i++) {
		bool repeats = *f.consequence && strcmp(f.consequence, reason) == 0;

		if (f.topic == PFM_FINDING_WORKLOAD && (int)f.topic != topic)
			report_known_counts(ctx, false);
		if ((int)f.topic != topic)
			printf("%s%s%s%s\n", i ? "\n" : "", term_colour_begin(stdout, BOLD),
			       headings[f.topic], term_colour_end(stdout));
		topic = (int)f.topic;
		print_finding(&f, repeats);
		n_causes += f.state == PFM_FINDING_BAD && !repeats;
		reason = f.consequence;
	}
	printf("\n%u obstacle%s to counting everything.\n", n_causes, n_causes == 1 ? "" : "s");
	puts("'pfm check-events' compares the other events with known counts.");
}

static int run_doctor(struct command_args *args)
{
	pfm_system_check_t *check;
	const char *value;
	bool json = false;
	pfm_ctx_t *ctx;
	int id, rc;

	while ((id = next_option(args, &value)) > 0)
		json = true;
	if (id < 0)
		return args->status;
	if (args->n)
		return report_usage_error(args, "expected no operand.");
	ctx = open_context(NULL);
	if (!ctx)
		return EXIT_REFUSED;
	rc = pfm_check_system(&check, ctx, 0);
	if (!rc && json)
		print_findings_json(ctx, check);
	else if (!rc)
		print_findings(ctx, check);
	if (!rc)
		pfm_close_system_check(check);
	pfm_close_context(ctx);
	return rc ? report_no_memory() : EXIT_DONE;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.usage = "[--json]",
	.summary = "check what this machine can count, and what prevents it",
	.about = "Reports on one page: the processor and its table, the PMUs, who may count what, "
		 "who holds counters, limits, and the count of each basic event over a small known "
		 "workload beside the expected count. For each problem: the cause, the remedy, and "
		 "what works without it. The checks try each call instead of guessing from "
		 "settings.",
	.examples = "Why is an event not supported here?\n"
		    "pfm doctor\n"
		    "The findings as JSON\n"
		    "pfm doctor --json\n",
	.options = options,
	.run = run_doctor
};
