/* SPDX-License-Identifier: MIT */
/* pfm list: processors and their events. */
#include "list.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/title.h"

enum {
	OPT_JSON = LONG_ONLY,
	OPT_PMU,
	OPT_COMPLETE,
	OPT_PMUS,
	OPT_METRICS,
	OPT_COUNTER,
	OPT_UNIT,
	OPT_NO_PAGER,
	SIMILAR_NAMES = 5
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

/* ---- events of a PMU ------------------------------------------------------------------------ */

/* Finds the requested events of PMU @pmu, sorted. Returns their number. */
static size_t find_events(struct lister *l, int pmu, const pfm_pmu_info_t *info)
{
	pfm_event_info_t e = PFM_INIT(e);
	bool has_topics = false;
	size_t n = 0;

	for (unsigned i = 0; i < info->n_events; i++) {
		if (pfm_describe_event(l->ctx, pmu, i, &e) || !matches_pattern(l, &e))
			continue;
		has_topics |= *e.topic != 0;
		l->found[n++] = (struct found_event){
			.name = e.name,
			.desc = e.desc,
			.replaced = e.replaced,
			.unit = e.unit,
			.topic = l->is_ranked ? "" : e.topic,
			.alias = is_named_event(l, &e) && !is_whole_name(l, e.name) ? l->alias
			                                                            : NULL,
			.pmu = pmu,
			.event = i,
			.flags = e.flags,
			.rank = l->is_ranked ? compute_rank(l, &e) : 0,
		};
	}
	if (has_topics || l->is_ranked)
		qsort(l->found, n, sizeof(*l->found), compare_found);
	return n;
}

static bool reserve_found_events(struct lister *l, size_t n)
{
	struct found_event *more =
		n > l->found_capacity ? realloc(l->found, n * sizeof(*more)) : l->found;

	if (n <= l->found_capacity)
		return true;
	if (!more)
		return false;
	l->found = more;
	l->found_capacity = n;
	return true;
}

static int list_events(struct lister *l, int pmu, const pfm_pmu_info_t *info)
{
	size_t n;

	if (!reserve_found_events(l, info->n_events))
		return report_no_memory();
	n = find_events(l, pmu, info);
	if (l->json)
		put_found_events(l, info, n);
	else if (n)
		print_list_heading(l, info);
	if (!l->json)
		print_found(l, l->found, n);
	l->n_events += n;
	return EXIT_DONE;
}

/* ---- which ----------------------------------------------------------------------------------- */

static bool has_table(const struct lister *l, const char *name)
{
	pfm_pmu_info_t info = PFM_INIT(info);
	int i;

	for (i = 0; pfm_describe_pmu(l->ctx, i, &info) == PFMLIB_SUCCESS; i++)
		if (info.n_events && strcmp(info.name, name) == 0)
			return true;
	return false;
}

/* True for a table of ratios, which is beside that of a processor. */
bool has_only_metrics(const struct lister *l, int pmu, const pfm_pmu_info_t *info)
{
	pfm_event_info_t e = PFM_INIT(e);

	for (unsigned i = 0; i < info->n_events; i++)
		if (pfm_describe_event(l->ctx, pmu, i, &e) || !(e.flags & PFM_EVENT_METRIC))
			return false;
	return info->n_events > 0;
}

static bool is_shown_pmu(const struct lister *l, int pmu, pfm_pmu_info_t *info)
{
	if (pfm_describe_pmu(l->ctx, pmu, info) != PFMLIB_SUCCESS)
		return false;
	/* A kernel PMU without events of its own is not listed if its processor has a table. */
	if (info->n_events == 0 && has_table(l, info->name))
		return false;
	if (l->pmu >= 0)
		return pmu == l->pmu;
	return l->all_pmus ||
	       (!(info->flags & PFM_PMU_HIDDEN) && (l->metrics || !has_only_metrics(l, pmu, info)));
}

static bool is_on_host(const pfm_pmu_info_t *info)
{
	return info->flags & (PFM_PMU_HOST | PFM_PMU_KERNEL);
}

/* True if the PMU's events are listed: those of other machines would hide those that can be counted
 * here. */
static bool selects_events(const struct lister *l, const pfm_pmu_info_t *info)
{
	bool here = is_on_host(info);

	if (l->pmus_only)
		return false;
	if (l->unit_name &&
	    (!(info->flags & PFM_PMU_UNCORE) ||
	     !(strcasestr(info->name, l->unit_name) || strcasestr(info->desc, l->unit_name))))
		return false;
	return l->pmu >= 0 || l->all_pmus || (l->other_hosts ? !here : here);
}

/* True if the user asked for something in particular. */
static bool is_search(const struct lister *l)
{
	return l->pattern || l->counters || l->unit_name;
}

static bool selects_pmu(const struct lister *l, const pfm_pmu_info_t *info)
{
	return !l->pattern || contains_text(l, info->name) || contains_text(l, info->aliases) ||
	       contains_text(l, info->desc);
}

static int list_matching_events(struct lister *l, int n, int first_pass)
{
	pfm_pmu_info_t info = PFM_INIT(info);
	int status = EXIT_DONE;

	/* Ranked answers: the first pass lists PMUs of this machine, the second one all others. */
	for (int pass = first_pass; pass < 2; pass++)
		for (int i = 0; i < n && status == EXIT_DONE; i++)
			if (is_shown_pmu(l, i, &info) && selects_events(l, &info) &&
			    (!l->is_ranked || is_on_host(&info) == !pass))
				status = list_events(l, i, &info);
	return status;
}

static int list_selected(struct lister *l, int n)
{
	int first_pass = l->is_ranked ? 0 : 1;
	int status = list_matching_events(l, n, first_pass);

	/* If no event matches all words of the question, list events that match most of them. */
	while (l->is_ranked && strchr(l->question, ' ') && !l->n_events && status == EXIT_DONE &&
	       pfmi_format_relax_words(&l->words))
		status = list_matching_events(l, n, first_pass);
	return status;
}

/* ---- similar names and other machines ---------------------------------------------------------
 */

/* Writes @name with the requested PMU. Returns where the name begins. */
static size_t write_event_text(const struct lister *l, const char *name, char text[2 * FOLDED_MAX])
{
	pfm_pmu_info_t info = PFM_INIT(info);
	bool is_bare =
		l->pmu >= 0 && !strstr(name, "::") && !pfm_describe_pmu(l->ctx, l->pmu, &info);
	const char *colons;

	snprintf(text, 2 * (size_t)FOLDED_MAX, "%s%s%s", is_bare ? info.name : "",
	         is_bare ? "::" : "", name);
	colons = strstr(text, "::");
	return colons ? (size_t)(colons + 2 - text) : 0;
}

/* True if @pattern begins with the name of an event. */
static bool is_event(const struct lister *l, const char *pattern, pfm_event_info_t *e)
{
	char text[2 * FOLDED_MAX];
	unsigned event;
	int pmu;

	write_event_text(l, pattern, text);
	return !pfm_find_event_by_text(l->ctx, text, &pmu, &event, NULL) &&
	       !pfm_describe_event(l->ctx, pmu, event, e);
}

/* Prints names that are similar to the pattern after @title; of this machine only, if @here. */
static void print_similar_names(const struct lister *l, const char *title, bool here)
{
	pfm_event_info_t e = PFM_INIT(e);
	pfm_encoding_t encoding = PFM_INIT(encoding);
	pfm_error_t error = PFM_INIT(error);
	char names[SIMILAR_NAMES][96], text[2 * FOLDED_MAX];
	size_t start = write_event_text(l, l->question, text), n, shown = 0;

	/* The error of a known event with an unknown unit mask, such as "INST_RETIRED.PREC_DST",
	 * has similar unit masks. */
	pfm_encode_event(l->ctx, text, 0, &encoding, &error);
	if (error.kind != PFM_KIND_UNKNOWN_QUALIFIER)
		report_culprit(&error, PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, start,
		               strlen(text), NULL);
	n = pfm_suggest_names(l->ctx, text, &error, names, SIMILAR_NAMES);
	for (size_t i = 0; i < n; i++) {
		if (here && (strstr(names[i], "::") || pfm_find_pmu(l->ctx, names[i]) >= 0))
			continue;
		if (l->metrics && !(is_event(l, names[i], &e) && e.flags & PFM_EVENT_METRIC))
			continue;
		fprintf(stderr, "%s%s", shown++ ? ", " : title, names[i]);
	}
	if (shown)
		fputc('\n', stderr);
}

/* Lists matches of other machines if this machine has none. */
static int list_other_hosts(struct lister *l, int n)
{
	int status;

	if (!is_search(l) || l->pmu >= 0 || l->all_pmus || l->n_events)
		return EXIT_DONE;
	l->other_hosts = true;
	status = list_selected(l, n);
	if (l->n_events && l->question && !l->metrics && !l->is_expression)
		print_similar_names(l, "pfm: note: similar events of this machine: ", true);
	if (l->n_events)
		fprintf(stderr,
		        "pfm: note: no %s of this machine match; these belong to other "
		        "processors.\n",
		        l->metrics ? "metrics" : "events");
	return status;
}

/* Lists metrics of that name if there are no events. */
static int list_metrics(struct lister *l, int n)
{
	int status;

	if (!l->pattern || l->all_pmus || l->metrics || l->n_events)
		return EXIT_DONE;
	l->metrics = true;
	l->other_hosts = false;
	status = list_selected(l, n);
	if (status == EXIT_DONE)
		status = list_other_hosts(l, n);
	l->metrics = false;
	if (l->n_events) {
		fputs("pfm: note: no event matches; these are metrics.\n", stderr);
		if (l->question && !l->is_expression && !l->has_named_event)
			print_similar_names(l, "pfm: note: similar names: ", false);
	}
	return status;
}

/* Prints PMU @info, after the heading of its section if it is the first one. */
static void list_pmu_of_section(struct lister *l, const pfm_pmu_info_t *info)
{
	if (!l->json && !l->n_pmus)
		printf("%sPMUs%s\n", term_colour_begin(stdout, BOLD), term_colour_end(stdout));
	print_listed_pmu(l, info);
	l->n_pmus++;
}

/* Lists the PMUs of this machine, and all others if requested. */
static void list_pmus(struct lister *l, int n)
{
	pfm_pmu_info_t info = PFM_INIT(info);
	unsigned others = 0;

	for (int here = 1; here >= 0; here--)
		for (int i = 0; i < n; i++) {
			if (!is_shown_pmu(l, i, &info) || !selects_pmu(l, &info) ||
			    is_on_host(&info) != here)
				continue;
			if (!here && !l->pmus_only && !l->all_pmus) {
				others++;
				continue;
			}
			list_pmu_of_section(l, &info);
		}
	if (others && !l->json)
		printf("  and %u of other machines: 'pfm list --pmus' lists them, 'pfm list --pmu "
		       "NAME' lists the events of one\n",
		       others);
}

/* True if the pattern names the processor of PMU @info: the beginning of its name, an alias, or
 * words of the processor's title. */
static bool is_named_processor(const struct lister *l, const pfm_pmu_info_t *info)
{
	char folded[FOLDED_MAX], processor[FOLDED_MAX];

	fold_case(info->name, folded, sizeof(folded));
	if (strncmp(folded, l->pattern, strlen(l->pattern)) == 0 || contains_text(l, info->aliases))
		return true;
	snprintf(processor, sizeof(processor), "%.*s",
	         (int)base_measure_processor_title(info->desc), info->desc);
	return contains_text(l, processor);
}

/* True for the PMUs of Linux, such as "software", which belong to no processor. */
static bool is_pmu_of_linux(const pfm_pmu_info_t *info)
{
	return is_on_host(info) && !(info->flags & (PFM_PMU_CORE | PFM_PMU_UNCORE));
}

/* Lists the processors that the pattern names, such as "sapphire" or "zen 6". */
static void list_named_processors(struct lister *l, int n)
{
	pfm_pmu_info_t info = PFM_INIT(info);

	if (!l->pattern || l->pmu >= 0 || l->all_pmus || l->metrics || l->counters ||
	    l->unit_name || l->n_events || l->is_expression || strlen(l->pattern) < 3)
		return;
	for (int core = 1; core >= 0; core--)
		for (int i = 0; i < n; i++) {
			if (!is_shown_pmu(l, i, &info) || is_pmu_of_linux(&info) ||
			    (info.flags & PFM_PMU_UNCORE ? core : !core) ||
			    !is_named_processor(l, &info))
				continue;
			list_pmu_of_section(l, &info);
		}
	if (l->n_pmus)
		fprintf(stderr,
		        "pfm: note: '%s' names processors; 'pfm list --pmu NAME' lists the events "
		        "of one.\n",
		        l->question);
}

static bool has_core_pmu(const struct lister *l, int n)
{
	pfm_pmu_info_t info = PFM_INIT(info);

	for (int i = 0; i < n; i++)
		if (!pfm_describe_pmu(l->ctx, i, &info) && info.flags & PFM_PMU_KERNEL &&
		    info.flags & PFM_PMU_CORE)
			return true;
	return false;
}

/* Warns that the list has the events of this machine's processor, although the kernel cannot count
 * them. */
static void warn_without_pmu(const struct lister *l, int n)
{
	if (l->json || l->pmus_only || l->pmu >= 0 || is_search(l) || has_core_pmu(l, n))
		return;
	printf("This machine has no hardware PMU: of these events only software events and "
	       "tracepoints can be\n"
	       "counted here. 'pfm doctor' gives the cause.\n\n");
}

static int list_all(struct lister *l)
{
	int n = pfm_count_pmus(l->ctx), status;

	warn_without_pmu(l, n);
	if (l->pmus_only || (!is_search(l) && l->pmu < 0 && !l->metrics))
		list_pmus(l, n);
	status = list_selected(l, n);
	if (status == EXIT_DONE && !l->pmus_only) {
		list_tracepoints(l);
		list_forms(l);
	}
	if (status != EXIT_DONE || l->pmus_only)
		return status;
	list_named_processors(l, n);
	if (l->n_pmus && is_search(l))
		return status;
	status = list_other_hosts(l, n);
	return status == EXIT_DONE ? list_metrics(l, n) : status;
}

/* Reports the images that cannot be used, because their events are missing from the list. */
static void report_rejected_images(const struct lister *l)
{
	const char *path, *why;
	unsigned i;

	for (i = 0; pfm_describe_rejected_image(l->ctx, i, &path, &why) == PFMLIB_SUCCESS; i++)
		fprintf(stderr, "pfm: %s is not used: %s\n", path, why);
}

static int report_nothing_found(const struct lister *l, const char *pattern)
{
	pfm_event_info_t e = PFM_INIT(e);
	bool is_known;

	if (!pattern) {
		fputs(is_search(l) ? "pfm: no event has that unit or counter.\n"
		                   : "pfm: the processor has no metrics.\n",
		      stderr);
		return EXIT_REFUSED;
	}
	if (l->pmus_only) {
		fprintf(stderr, "pfm: no PMU matches '%s'; 'pfm list --pmus' lists them.\n",
		        pattern);
		return EXIT_REFUSED;
	}
	is_known = is_event(l, pattern, &e) && is_whole_name(l, e.name);
	if (is_known && !l->all_pmus && !l->metrics &&
	    e.flags & (PFM_EVENT_HIDDEN | PFM_EVENT_DEPRECATED)) {
		fprintf(stderr, "pfm: '%s' is hidden or deprecated; --all shows it.\n", pattern);
		return EXIT_REFUSED;
	}
	fprintf(stderr, "pfm: no %s matches '%s'.\n", l->metrics ? "metric" : "event", pattern);
	if (!is_known)
		print_similar_names(l, "  similar: ", false);
	return EXIT_REFUSED;
}

/* Reports that the name before "::" in @pattern is not a PMU. */
static int report_unknown_pmu(const struct lister *l, const char *pattern)
{
	pfm_error_t error;

	report_culprit(&error, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, 0,
	               (size_t)(strstr(pattern, "::") - pattern), NULL);
	report_refusal(l->ctx, pattern, &error, WANTED_ANY);
	return EXIT_REFUSED;
}

/* ---- the command ----------------------------------------------------------------------------- */

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
		pfmi_format_parse_words(&l->words,
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
