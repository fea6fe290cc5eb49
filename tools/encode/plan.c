/* SPDX-License-Identifier: MIT */
/* pfm plan: the smallest number of groups that count a set of events, with a proof. */
#include "common/input_lines.h"
#include "common/pfm.h"

#include <stdlib.h>
#include <string.h>
#include "stat/stat.h"

enum {
	OPT_JSON = LONG_ONLY,
	OPT_TAKEN,
	OPT_HTOFF,
	OPT_BARE,
	OPT_EFFORT,
	OPT_SCHEDULE,
	OPT_WISH,
	OPT_SLOT,
	OPT_SHIFT
};

static const struct command_option options[] = {
	{ 'p', "pmu", "PMU", "processor of events without a prefix" },
	{ OPT_JSON, "json", NULL, "one JSON object per set" },
	{ OPT_TAKEN, "taken", "COUNTERS", "counters that are in use elsewhere, such as 0-3,F1" },
	{ OPT_HTOFF, "ht-off", NULL, "hyper-threading is off: more counters may count an event" },
	{ OPT_BARE, "bare", NULL, "ignore the counters that this machine's kernel reserves" },
	{ OPT_EFFORT, "effort", "N", "limit the search for fewer groups to N steps" },
	{ OPT_SCHEDULE, "schedule", "[SLOTS]",
	  "lay the groups over the slots of a cycle; with wishes of a minute, else of one slot for "
	  "each round" },
	{ OPT_SLOT, "slot", "MS", "with --schedule: slots of MS milliseconds, 1000" },
	{ OPT_WISH, "wish", "WISH",
	  "with --schedule: [NAME=]N[/GAP] counts NAME in N slots a minute, and again after GAP "
	  "seconds at most; may be repeated" },
	{ OPT_SHIFT, "shift", NULL, "with --schedule: shift the cycle by the name of the machine" },
	{ 0, NULL, NULL, NULL }
};

enum { MAX_SET_EVENTS = 63 }; /* one less than pfm_dispatch_set() takes */

struct planner {
	pfm_ctx_t *ctx;
	bool json;
	pfm_plan_options_t options;
	struct rotation rotation; /* of --schedule */
	struct json out;
};

/* ---- answers --------------------------------------------------------------------------------- */

/* Writes an array of groups: of counter numbers if @counters, else of event names. */
static void put_groups(struct json *j, const pfm_plan_t *plan, const char *key, bool counters)
{
	pfm_planned_event_t e = PFM_INIT(e);
	unsigned group = 0;

	put_begin(j, key, '[');
	if (pfm_describe_planned_event(plan, 0, &e)) {
		put_end(j, ']');
		return;
	}
	for (unsigned i = 0; !pfm_describe_planned_event(plan, i, &e); i++) {
		if (i && e.group != group)
			put_end(j, ']');
		if (!i || e.group != group)
			put_begin(j, NULL, '[');
		group = e.group;
		if (counters)
			put_int(j, NULL, e.counter);
		else
			put_text(j, NULL, e.text);
	}
	put_end(j, ']');
	put_end(j, ']');
}

/* The rule because of which @n events and event @text of their PMU are no set; NULL if there is
 * another reason, or none. @texts has room for @text. */
static const char *find_rule_between(const pfm_ctx_t *ctx, const char **texts, unsigned n,
                                     const char *text)
{
	const pfm_set_t *set = NULL;
	pfm_error_t why = PFM_INIT(why);
	int rc;

	texts[n] = text;
	rc = pfm_dispatch_set(&set, ctx, texts, n + 1, NULL, &why);
	pfm_close_set(set);
	return rc && why.kind == PFM_KIND_NO_PLACEMENT && why.detail && *why.detail ? why.detail
	                                                                            : NULL;
}

/* The rule that keeps an event of group @group out of the first group; NULL without one. */
static const char *find_reason(const pfm_ctx_t *ctx, const pfm_plan_t *plan, unsigned group)
{
	const char *texts[MAX_SET_EVENTS + 1], *reason = NULL;
	pfm_planned_event_t e = PFM_INIT(e);
	unsigned n = 0;
	int pmu = -1;

	for (unsigned i = 0; !reason && !pfm_describe_planned_event(plan, i, &e); i++)
		if (e.group == 0 && n < MAX_SET_EVENTS) {
			texts[n++] = e.text;
			pmu = e.pmu;
		} else if (e.group == group && e.pmu == pmu) {
			reason = find_rule_between(ctx, texts, n, e.text);
		}
	return reason;
}

/* Puts the rules that keep groups apart from the first one. An empty list is left out. */
static void put_reasons(struct json *j, const pfm_ctx_t *ctx, const pfm_plan_t *plan,
                        unsigned n_groups)
{
	unsigned n = 0;

	for (unsigned group = 1; group < n_groups; group++) {
		const char *reason = find_reason(ctx, plan, group);

		if (!reason)
			continue;
		if (!n++)
			put_begin(j, "reasons", '[');
		put_begin(j, NULL, '{');
		put_int(j, "group", group);
		put_text(j, "rule", reason);
		put_end(j, '}');
	}
	if (n)
		put_end(j, ']');
}

/* Writes the events that were replaced because they count wrong. */
static void put_replaced_events(struct json *j, const pfm_plan_t *plan)
{
	pfm_planned_event_t e = PFM_INIT(e);
	unsigned n = 0;

	for (unsigned i = 0; !pfm_describe_planned_event(plan, i, &e); i++) {
		if (!*e.replaced)
			continue;
		if (!n++)
			put_begin(j, "replaced", '[');
		put_begin(j, NULL, '{');
		put_text(j, "event", e.replaced);
		put_text(j, "by", e.text);
		put_text(j, "errata", e.errata);
		put_end(j, '}');
	}
	if (n)
		put_end(j, ']');
}

static void put_plan(struct json *j, const pfm_ctx_t *ctx, const pfm_plan_t *plan,
                     const struct rotation *r, const char *const *texts)
{
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_planned_event_t e = PFM_INIT(e);

	pfm_describe_plan(plan, &info);
	put_begin(j, NULL, '{');
	put_groups(j, plan, "groups", false);
	put_groups(j, plan, "counters", true);
	put_int(j, "bound", info.bound);
	put_bool(j, "optimal", info.optimal != 0);
	put_int(j, "rounds", info.n_rounds);
	put_text(j, "certificate", info.certificate);
	put_begin(j, "proof", '[');
	for (unsigned i = 0; !pfm_describe_planned_event(plan, i, &e); i++)
		if (e.in_proof)
			put_text(j, NULL, e.text);
	put_end(j, ']');
	put_reasons(j, ctx, plan, info.n_groups);
	put_replaced_events(j, plan);
	if (r->schedule)
		put_schedule(j, r, texts);
	put_end(j, '}');
	put_line(j);
}

static void print_planned_event(const pfm_planned_event_t *e)
{
	char counter[16];

	printf("  %-4s %s%s%s\n", format_counter(e->counter, counter), e->text,
	       e->added ? "  (added: the group needs it)" : "", e->in_proof ? "  *" : "");
	if (*e->replaced)
		printf("       (instead of %s, which counts wrong: erratum %s)\n", e->replaced,
		       e->errata);
}

static void print_plan(const pfm_ctx_t *ctx, const pfm_plan_t *plan)
{
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_planned_event_t e = PFM_INIT(e);
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	bool marked = false;

	pfm_describe_plan(plan, &info);
	for (unsigned i = 0, group = ~0u; !pfm_describe_planned_event(plan, i, &e); i++) {
		if (e.group != group && !pfm_describe_pmu(ctx, e.pmu, &pmu))
			printf("%s%sgroup %u%s  on %s\n", i ? "\n" : "",
			       term_colour_begin(stdout, BOLD), e.group + 1,
			       term_colour_end(stdout), pmu.name);
		group = e.group;
		print_planned_event(&e);
		marked |= e.in_proof != 0;
	}
	printf("\n%u group%s, %s: %s\n", info.n_groups, info.n_groups == 1 ? "" : "s",
	       info.optimal ? "no plan has fewer" : "not proved to be the least", info.certificate);
	if (marked)
		puts("* the events of this proof");
	for (unsigned group = 1; group < info.n_groups; group++) {
		const char *reason = find_reason(ctx, plan, group);

		if (reason)
			printf("group %u is apart from group 1: %s\n", group + 1, reason);
	}
}

/* The counters that some event of @pmu may have. */
static uint64_t collect_pmu_counters(const pfm_ctx_t *ctx, int pmu)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	perfmon_event_info_t e = PFM_INIT(e);
	uint64_t all = 0;

	pfm_describe_pmu(ctx, pmu, &info);
	for (unsigned i = 0; i < info.n_events; i++)
		if (!pfm_describe_event(ctx, pmu, i, &e))
			all |= e.counters;
	return all;
}

/* True if --taken names counters that no PMU of the plan has; @why is then the reason. */
static bool has_unknown_taken_counters(const struct planner *p, const pfm_plan_t *plan, char *why,
                                       size_t len)
{
	pfm_planned_event_t e = PFM_INIT(e);
	char has[COUNTERS_MAX], lacks[COUNTERS_MAX];
	uint64_t all = 0;
	int last = -1;

	for (unsigned i = 0; p->options.taken && !pfm_describe_planned_event(plan, i, &e); i++) {
		if (e.pmu != last)
			all |= collect_pmu_counters(p->ctx, e.pmu);
		last = e.pmu;
	}
	if (!all || !(p->options.taken & ~all))
		return false;
	snprintf(why, len, "--taken %s: unknown counter; the PMUs of these events have %s",
	         format_counters(p->options.taken & ~all, lacks), format_counters(all, has));
	return true;
}

/* Checks the taken counters and calls pfm_create_plan(). @why: memory for a reason. */
static int make_plan(struct planner *p, const struct event_list *list, pfm_plan_t **plan,
                     pfm_error_t *error, char *why, size_t len)
{
	int rc = pfm_create_plan(plan, p->ctx, (const char *const *)list->texts, list->n,
	                         &p->options, error);

	if (rc || !has_unknown_taken_counters(p, *plan, why, len))
		return rc;
	error->code = PFMLIB_ERR_INVAL;
	error->kind = PFM_KIND_NONE;
	error->detail = why;
	return error->code;
}

static int plan_event_list(struct planner *p, const struct event_list *list)
{
	pfm_error_t error = PFM_INIT(error);
	char why[3 * COUNTERS_MAX];
	pfm_plan_t *plan;
	int rc = make_plan(p, list, &plan, &error, why, sizeof(why));
	const char *culprit = error.event >= 0 && (unsigned)error.event < list->n
	                              ? list->texts[error.event]
	                      : list->n ? list->texts[0]
	                                : "";

	if (rc && p->json) {
		put_begin(&p->out, NULL, '{');
		put_text_if(&p->out, "input", culprit);
		put_refusal_json(&p->out, p->ctx, culprit, &error, WANTED_EVENT);
		put_end(&p->out, '}');
		put_line(&p->out);
	} else if (rc) {
		/* Keeps answers and errors in order where both go to the same file. */
		fflush(stdout);
		report_refusal(p->ctx, culprit, &error, WANTED_EVENT);
	} else if (p->rotation.is_on &&
	           make_schedule(&p->rotation, plan, (const char *const *)list->texts, list->n) !=
	                   EXIT_DONE) {
		rc = PFMLIB_ERR_NOASSIGN;
	} else if (p->json) {
		put_plan(&p->out, p->ctx, plan, &p->rotation, (const char *const *)list->texts);
	} else {
		print_plan(p->ctx, plan);
		if (p->rotation.schedule)
			print_schedule(&p->rotation, (const char *const *)list->texts);
	}
	pfm_close_schedule(p->rotation.schedule);
	p->rotation.schedule = NULL;
	pfm_close_plan(plan);
	return rc ? EXIT_REFUSED : EXIT_DONE;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static int plan_arguments(struct planner *p, char *const *texts, int n)
{
	struct event_list list = { 0 };
	bool is_added = true;
	int status;

	for (int i = 0; i < n && is_added; i++)
		is_added = event_list_add(&list, texts[i]);
	status = is_added ? plan_event_list(p, &list) : report_no_memory();
	event_list_free(&list);
	return status;
}

static int plan_line(void *arg, char *line, size_t len)
{
	if (is_blank_event_line(line, len))
		return EXIT_DONE;
	strip_event_line(&line, len);
	return plan_arguments(arg, &line, 1);
}

static int read_number(struct command_args *args, const char *name, const char *value,
                       uint64_t most, uint64_t *number)
{
	return option_number(args, name, value, 1, most, number) ? -1 : args->status;
}

/* Applies option @id. Returns an exit status, or -1 to continue. */
static int apply_option(struct command_args *args, struct planner *p, int id, const char *value)
{
	uint64_t number = 0;
	int status = -1;

	switch (id) {
	case OPT_JSON: p->json = true; break;
	case OPT_HTOFF: p->options.htoff = 1; break;
	case OPT_BARE: p->options.flags |= PFM_PLAN_ALL_COUNTERS; break;
	case OPT_TAKEN:
		return read_counters(value, &p->options.taken)
		               ? -1
		               : report_usage_error(
					 args,
					 "expected a list of counters such as 0-3,F1, got '%s'",
					 value);
	case OPT_SCHEDULE:
		p->rotation.is_on = true;
		if (value)
			status = read_number(args, "--schedule", value, 10000, &number);
		p->rotation.n_slots = (unsigned)number;
		return status;
	case OPT_SLOT:
		status = read_number(args, "--slot", value, 86400000, &number);
		p->rotation.slot_seconds = (double)number / 1000;
		return status;
	case OPT_SHIFT: p->rotation.is_shifted = true; break;
	case OPT_WISH: return parse_rotation_wish(args, &p->rotation, value);
	default:
		status = read_number(args, "--effort", value, 1000000000, &number);
		p->options.effort = (unsigned long)number;
		return status;
	}
	return -1;
}

/* Parses and checks the options. Returns an exit status, or -1 to continue. */
static int read_plan_options(struct command_args *args, struct planner *p, const char **pmu)
{
	const char *value;
	int id, status = -1;

	while (status < 0 && (id = next_option(args, &value)) > 0)
		if (id == 'p')
			*pmu = value;
		else
			status = apply_option(args, p, id, value);
	if (status >= 0)
		return status;
	if (id < 0)
		return args->status;
	if (args->n == 0)
		return report_usage_error(args, "expected events or metrics");
	for (int i = 0; i < args->n && args->n > 1; i++)
		if (strcmp(args->operands[i], "-") == 0)
			return report_usage_error(
				args,
				"expected no event beside -: sets are read from standard input");
	if (!p->rotation.is_on &&
	    (p->rotation.n_wishes || p->rotation.is_shifted || p->rotation.slot_seconds > 0))
		return report_usage_error(args, "--wish, --slot and --shift need --schedule.");
	return -1;
}

static int run_plan(struct command_args *args)
{
	struct planner p = { .options = PFM_INIT(p.options), .out = { .out = stdout } };
	const char *pmu = NULL;
	int status;

	program_name = "pfm plan";
	status = read_plan_options(args, &p, &pmu);
	if (status >= 0)
		return status;
	p.ctx = open_context(pmu);
	if (!p.ctx)
		return EXIT_REFUSED;
	status = args->n == 1 && strcmp(args->operands[0], "-") == 0
	                 ? visit_input_lines(plan_line, &p)
	                 : plan_arguments(&p, args->operands, args->n);
	pfm_close_context(p.ctx);
	free_rotation(&p.rotation);
	return status;
}

const struct command cmd_plan = {
	.name = "plan",
	.usage = "[--pmu PMU] [--json] EVENT|METRIC...\n[--pmu PMU] [--json] - < SETS",
	.summary = "plan the fewest groups that count a set of events",
	.about = "Divides events, and the events of metrics and groups of metrics, into as few "
		 "groups as the counters allow. Each group can be counted at one time; each event "
		 "is shown with its counter. Events in braces, {A,B}, stay in one group. The last "
		 "line proves that no plan has fewer groups, "
		 "or gives a lower bound. With -, reads one set per line, its events separated as "
		 "for pfm stat -e.",
	.examples = "In how many groups does the processor count these metrics?\n"
		    "pfm plan --pmu skx TmaL1 Info_Thread_IPC\n"
		    "Which group counts when, if ipc is to be read 12 times a minute?\n"
		    "pfm plan --pmu skx --schedule --wish Info_Thread_IPC=12/10 TmaL1 "
		    "Info_Thread_IPC\n"
		    "In how many groups does it count these events, as JSON?\n"
		    "pfm plan --pmu ev5 --json ISSUES CYCLES\n",
	.options = options,
	.run = run_plan
};
