/* SPDX-License-Identifier: MIT */
/* pfm list: processors and their events. */
#include "list/list.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	OPT_JSON = LONG_ONLY,
	OPT_PMU,
	OPT_COMPLETE,
	OPT_PMUS,
	OPT_METRICS,
	OPT_COUNTER,
	OPT_UNIT,
	OPT_NO_PAGER
};

static const struct command_option options[] = {
	{ OPT_PMU, "pmu", "NAME", "only events of this PMU" },
	{ OPT_PMUS, "pmus", NULL, "list PMUs, not events" },
	{ OPT_METRICS, "metrics", NULL,
	  "list metrics, which are computed from events, instead of events" },
	{ 'd', "descriptions", NULL, "search descriptions as well; the best answers come first" },
	{ 'a', "all", NULL,
	  "list hidden and deprecated events, metrics, and the events of all processors as well" },
	{ OPT_COUNTER, "counter", "LIST",
	  "only events that one of these counters can count: 0-3,F1" },
	{ OPT_UNIT, "unit", "NAME",
	  "only events of units outside the cores whose name or description contains NAME" },
	{ OPT_JSON, "json", NULL, "one JSON object for each processor and event" },
	{ OPT_NO_PAGER, "no-pager", NULL, "write to the terminal directly, without $PAGER" },
	{ OPT_COMPLETE, "complete", "PREFIX", NULL },
	{ 0, NULL, NULL, NULL }
};

/* True if the pattern has characters that only a regular expression has. */
static bool looks_like_expression(const char *pattern)
{
	return strpbrk(pattern, "|()^$+\\") || strstr(pattern, ".*");
}

/* Compiles a pattern that looks like a regular expression. Reports one that is not valid; its
 * text is searched as it is. */
static bool compile_pattern(struct lister *l, const char *pattern)
{
	char why[TEXT_SIZE_MAX];
	int rc = looks_like_expression(pattern)
	                 ? regcomp(&l->expression, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB)
	                 : -1;

	if (rc > 0) {
		regerror(rc, &l->expression, why, sizeof(why));
		fprintf(stderr,
		        "pfm: note: '%s' is not a regular expression (%s); searching for the text "
		        "itself.\n",
		        pattern, why);
	}
	return rc == 0;
}

/* Finds the event whose whole name is @pattern: "branches", "^cycles$". */
static void find_named_event(struct lister *l, const char *pattern)
{
	const char *name = pattern + (*pattern == '^');
	size_t len = strlen(name);
	char text[2 * FOLDED_MAX], *word = l->alias;

	snprintf(word, sizeof(l->alias), "%.*s", (int)(len && name[len - 1] == '$' ? len - 1 : len),
	         name);
	write_event_text(l, word, text);
	l->has_named_event =
		!strpbrk(word, "*?[|()^$+\\:") &&
		!pfm_find_event_by_text(l->ctx, text, &l->named_pmu, &l->named_event, NULL);
}

/* Splits "pmu::pattern". False if the PMU is unknown. */
static bool split_pattern(struct lister *l, const char *pattern)
{
	const char *colons = strstr(pattern, "::");
	char name[FOLDED_MAX];

	if (colons && colons > pattern) {
		snprintf(name, sizeof(name), "%.*s", (int)(colons - pattern), pattern);
		l->pmu = pfm_find_pmu(l->ctx, name);
		if (l->pmu < 0)
			return false;
		pattern = colons + 2;
	} else if (l->pmu < 0 && !l->pmus_only && !l->unit_name &&
	           pfm_find_pmu(l->ctx, pattern) >= 0) {
		/* The name of a processor alone requests all its events. */
		l->pmu = pfm_find_pmu(l->ctx, pattern);
		return true;
	}
	l->question = pattern;
	find_named_event(l, pattern);
	l->is_expression = compile_pattern(l, pattern);
	fold_case(pattern, l->folded, sizeof(l->folded));
	l->pattern = l->folded[0] ? l->folded : NULL;
	l->is_ranked =
		l->descriptions && l->pattern && !l->is_expression && !strpbrk(pattern, "*?[");
	if (l->is_ranked)
		pfmi_find_parse_words(&l->words,
		                      (struct slice){ pattern, (uint32_t)strlen(pattern) });
	l->words.desc_suffices = true;
	return true;
}

/* Computes the layout of lines from the width of the terminal. */
static void init_layout(struct lister *l)
{
	l->width = term_width(stdout);
	l->is_narrow = l->width && l->width < NAME_COLUMN + 30;
	l->column = l->is_narrow ? 4 : NAME_COLUMN;
}

/* Parses and checks the options. Returns an exit status, or -1 to continue. */
static int read_list_options(struct command_args *args, struct lister *l, const char **pmu,
                             const char **prefix)
{
	const char *value;
	int id;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_PMU: *pmu = value; break;
		case OPT_PMUS: l->pmus_only = true; break;
		case OPT_METRICS: l->metrics = true; break;
		case OPT_COUNTER:
			if (!read_counters(value, &l->counters))
				return report_usage_error(
					args, "expected counters such as 0-3,F1, got '%s'.", value);
			break;
		case OPT_UNIT:
			if (!*value)
				return report_usage_error(
					args, "--unit: expected a part of the name of a unit, got "
					      "an empty text.");
			l->unit_name = value;
			break;
		case OPT_NO_PAGER: l->no_pager = true; break;
		case OPT_JSON: l->json = true; break;
		case OPT_COMPLETE: *prefix = value; break;
		case 'a': l->all_pmus = true; break;
		case 'd': l->descriptions = true; break;
		}
	if (id < 0)
		return args->status;
	if (l->unit_name && *pmu)
		return report_usage_error(args, "expected no pattern with PMU:: beside --unit; "
		                                "write --unit icx_uncore_imc.");
	if (l->pmus_only && (l->metrics || l->unit_name || l->counters))
		return report_usage_error(args,
		                          "--pmus lists PMUs only: omit the options that select "
		                          "events.");
	if (args->n > 1)
		return report_usage_error(
			args, "expected one pattern; quote it if the shell expanded it.");
	return -1;
}

static int run_list(struct command_args *args)
{
	struct lister l = { .out = { .out = stdout }, .pmu = -1 };
	const char *pmu = NULL, *prefix = NULL;
	int status = read_list_options(args, &l, &pmu, &prefix);

	if (status >= 0)
		return status;
	l.ctx = open_context(pmu);
	if (!l.ctx)
		return EXIT_REFUSED;
	if (pmu)
		l.pmu = pfm_find_pmu(l.ctx, pmu);
	if (!prefix && !l.json && !l.no_pager)
		term_page();
	init_layout(&l);
	if (prefix)
		status = complete_list_text(&l, prefix);
	else if (args->n && !split_pattern(&l, args->operands[0]))
		status = report_unknown_pmu(&l, args->operands[0]);
	else
		status = list_all(&l);
	if (status == EXIT_DONE && (args->n || is_search(&l) || (l.metrics && l.pmu >= 0)) &&
	    !prefix && l.n_events + l.n_pmus == 0)
		status = report_nothing_found(&l, args->n ? args->operands[0] : NULL);
	if (!prefix)
		report_rejected_images(&l);
	if (l.is_expression)
		regfree(&l.expression);
	free(l.found);
	pfm_close_context(l.ctx);
	return status;
}

const struct command cmd_list = {
	.name = "list",
	.usage = "[PATTERN] [--pmu NAME] [--json]\n--metrics [PATTERN] [--pmu NAME] [--json]",
	.summary = "list processors and their events, or search them",
	.about = "Without a pattern, lists the PMUs of this machine, then their events; --pmus "
		 "lists the processors and units of all machines. With a pattern, lists the events "
		 "of this machine, tracepoints included, whose names contain the pattern; where no "
		 "name does, those of all other processors. Case, blanks, \"-\" and \"_\" make no "
		 "difference. A pattern with * ? or [ must match the whole name; one with | ( ) ^ "
		 "$ + \\ or .* is a regular expression. The name of a processor lists all its "
		 "events. --metrics lists metrics (see pfm stat -M) instead of events; the pattern "
		 "may name a group of metrics.",
	.examples = "What can be counted here?\n"
		    "pfm list\n"
		    "All events of one processor\n"
		    "pfm list --pmu amdzen5\n"
		    "Everything with TLB in its name or description\n"
		    "pfm list -d tlb\n"
		    "What an event is called, in plain words\n"
		    "pfm list --pmu spr -d 'last level cache misses'\n"
		    "Metrics of Sapphire Rapids that concern branches\n"
		    "pfm list --metrics spr::branch\n"
		    "Events of the memory controllers of an Ice Lake server\n"
		    "pfm list --unit icx_uncore_imc\n"
		    "Retired instructions that counter 0 of a Core Duo can count\n"
		    "pfm list --counter 0 'coreduo::*ret*'\n"
		    "Loads or stores of all processors\n"
		    "pfm list -a '^L1.*(load|store)'\n"
		    "Branch events of Neoverse N1\n"
		    "pfm list 'neoverse_n1::br*'\n",
	.options = options,
	.run = run_list
};
