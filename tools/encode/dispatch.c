/* SPDX-License-Identifier: MIT */
/* pfm dispatch: a set of events measured together. */
#include "common/pfm.h"
#include "common/event_list.h"
#include "common/montecito.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_EVENTS = 64 }; /* of a set */

enum {
	OPT_JSON = LONG_ONLY,
	OPT_PMU,
	OPT_SYSTEM,
	OPT_UNAVAILABLE,
	OPT_HTOFF,
	OPT_OPCM,
	OPT_IRANGE,
	OPT_DRANGE,
	OPT_IEAR,
	OPT_DEAR,
	OPT_ETB,
	OPT_IPEAR,
	OPT_THRES,
	OPT_NO_QUALCHECK
};

static const struct command_option options[] = {
	{ OPT_PMU, "pmu", "NAME", "processor of names without one; default: this machine's" },
	{ 'u', "user", NULL, "count in user mode only, unless the event names a level" },
	{ 'k', "kernel", NULL, "count in the kernel only, unless the event names a level" },
	{ OPT_SYSTEM, "system-wide", NULL, "count the whole system instead of one task" },
	{ OPT_UNAVAILABLE, "unavailable", "LIST",
	  "control registers that are in use elsewhere: 4,6-8" },
	{ OPT_HTOFF, "ht-off", NULL, "hyper-threading is off: more counters may count an event" },
	{ OPT_JSON, "json", NULL, "one JSON object" },
	{ OPT_OPCM, "opcm", "SETTINGS",
	  "Montecito: opcode matcher, slots=mifb,match=N,mask=N; twice for both" },
	{ OPT_IRANGE, "irange", "RANGE",
	  "Montecito: code range, START-END[,inv][,nofine][,demand][,prefetch][,plm=uk]; up to "
	  "four" },
	{ OPT_DRANGE, "drange", "RANGE",
	  "Montecito: data range, START-END or START+SIZE; up to four" },
	{ OPT_IEAR, "iear", "MODE",
	  "Montecito: code event address register, cache|tlb[,umask=N][,plm=uk]" },
	{ OPT_DEAR, "dear", "MODE",
	  "Montecito: data event address register, cache|tlb|alat[,umask=N][,plm=uk]" },
	{ OPT_ETB, "etb", "[SETTINGS]",
	  "Montecito: trace of branches, "
	  "tm=taken|nottaken|all,ptm=right|wrong|all,ppm=...,brt=all|iprel|return|indirect" },
	{ OPT_IPEAR, "ipear", "[SETTINGS]",
	  "Montecito: trace of retired instructions, delay=N,plm=uk" },
	{ OPT_THRES, "thres", "N,...", "Montecito: threshold of each event" },
	{ OPT_NO_QUALCHECK, "no-qualcheck", NULL,
	  "Montecito: allow events that ignore a filter in use" },
	{ 0, NULL, NULL, NULL }
};

/* Options of the command line. */
struct dispatch_job {
	pfm_ctx_t *ctx;
	const char *const *texts;
	unsigned n;
	bool json;
	struct json out;
	pfm_dispatch_options_t set_options;
	pfmlib_regmask_t unavailable;
	struct mont_settings mont;
	pfmlib_mont_output_param_t mont_out;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool parse_registers(const char *text, pfmlib_regmask_t *out)
{
	unsigned long first, last;
	char *end;

	for (;; text = end + 1) {
		first = last = strtoul(text, &end, 10);
		if (end == text || !isdigit((unsigned char)*text))
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (end == text || !isdigit((unsigned char)*text))
				return false;
		}
		if (first > last || last >= PFMLIB_REG_MAX)
			return false;
		for (; first <= last; first++)
			pfm_regmask_set(out, (unsigned)first);
		if (*end != ',')
			return *end == 0;
	}
}

static const struct command_option *find_option(int id)
{
	const struct command_option *o;

	for (o = options; o->id != id; o++)
		;
	return o;
}

static bool parse_montecito_option(struct dispatch_job *job, int id, const char *value)
{
	struct mont_mistake mistake = { 0, 0, "" };
	struct mont_settings *s = &job->mont;
	const struct command_option *o;
	bool ok = true;

	switch (id) {
	case OPT_OPCM: ok = mont_parse_opcm(s, value, &mistake); break;
	case OPT_IRANGE: ok = mont_parse_irange(s, value, &mistake); break;
	case OPT_DRANGE: ok = mont_parse_drange(s, value, &mistake); break;
	case OPT_IEAR: ok = mont_parse_iear(s, value, &mistake); break;
	case OPT_DEAR: ok = mont_parse_dear(s, value, &mistake); break;
	case OPT_ETB: ok = mont_parse_etb(s, value, &mistake); break;
	case OPT_IPEAR: ok = mont_parse_ipear(s, value, &mistake); break;
	case OPT_THRES: ok = mont_parse_thres(s, value, &mistake); break;
	case OPT_NO_QUALCHECK: mont_turn_off_qualcheck(s); break;
	}
	if (ok)
		return true;
	o = find_option(id);
	fprintf(stderr, "pfm dispatch: --%s: %s\n", o->name, mistake.reason);
	term_mark_error(stderr, value, mistake.start, mistake.end);
	fprintf(stderr, "  --%s is for %s\n", o->name, o->help);
	return false;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void put_registers(struct json *j, const char *key, const pfm_reg_t *regs, unsigned n,
                          bool values)
{
	unsigned i;

	put_begin(j, key, '[');
	for (i = 0; i < n; i++) {
		put_begin(j, NULL, '{');
		put_int(j, "num", regs[i].num);
		put_hex(j, "addr", regs[i].addr);
		if (regs[i].alt_addr != regs[i].addr)
			put_hex(j, "alt_addr", regs[i].alt_addr);
		if (values)
			put_hex(j, "value", regs[i].value);
		if (regs[i].event >= 0)
			put_int(j, "event", regs[i].event);
		put_end(j, '}');
	}
	put_end(j, ']');
}

static void put_range(struct json *j, const char *key, const pfmlib_mont_output_rr_t *rr)
{
	unsigned i;

	if (!rr->rr_nbr_used)
		return;
	put_begin(j, key, '[');
	for (i = 0; i < rr->rr_nbr_used; i++) {
		put_begin(j, NULL, '{');
		put_int(j, "num", rr->rr_br[i].reg_num);
		put_hex(j, "value", rr->rr_br[i].reg_value);
		put_end(j, '}');
	}
	put_end(j, ']');
}

/* True if the set has the register that enables counters. It has a key of its own: "pmc" has the
 * registers of the events. */
static bool has_global_ctrl(const pfm_set_t *set)
{
	return set->n_pmcs && set->pmcs[set->n_pmcs - 1].kind == PFM_REG_GLOBAL_CTRL;
}

static void put_global_ctrl(struct json *j, const pfm_reg_t *reg)
{
	put_begin(j, "global_ctrl", '{');
	put_hex(j, "addr", reg->addr);
	put_hex(j, "value", reg->value);
	put_end(j, '}');
}

static void put_set(struct dispatch_job *job, const pfm_set_t *set)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	struct json *j = &job->out;
	char name[16];
	unsigned i;

	put_text(j, "pmu",
	         pfm_describe_pmu(job->ctx, set->pmu, &pmu) == PFMLIB_SUCCESS ? pmu.name : "");
	put_begin(j, "events", '[');
	for (i = 0; i < set->n_events; i++) {
		put_begin(j, NULL, '{');
		put_text(j, "input", i < job->n ? job->texts[i] : "");
		if (set->counter[i] < 0)
			put_null(j, "counter");
		else if (set->counter[i] < 32)
			put_int(j, "counter", set->counter[i]);
		else
			put_text(j, "counter", format_counter(set->counter[i], name));
		if (i < job->n)
			put_text_rules(j, job->ctx, job->texts[i], true);
		put_end(j, '}');
	}
	put_end(j, ']');
	put_registers(j, "pmc", set->pmcs, set->n_pmcs - has_global_ctrl(set), true);
	put_registers(j, "pmd", set->pmds, set->n_pmds, false);
	put_range(j, "ibr", &job->mont_out.pfp_mont_irange);
	put_range(j, "dbr", &job->mont_out.pfp_mont_drange);
	if (has_global_ctrl(set))
		put_global_ctrl(j, &set->pmcs[set->n_pmcs - 1]);
	if (report_generic_fallback(job->ctx, set->pmu))
		put_bool(j, "fallback", true);
}

/* Prints the names of data registers. They have no value because dispatching programs control
 * registers only. */
static void print_data_regs(const pfm_reg_t *regs, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		printf("  %s", regs[i].name);
		if (regs[i].addr != regs[i].num)
			printf("%*sat 0x%" PRIx64, (int)(15 - strlen(regs[i].name)), "",
			       regs[i].addr);
		if (regs[i].alt_addr != regs[i].addr)
			printf(", or 0x%" PRIx64, regs[i].alt_addr);
		putchar('\n');
	}
}

static void print_range(const char *name, const pfmlib_mont_output_rr_t *rr, unsigned n_ranges)
{
	unsigned i;

	for (i = 0; i < rr->rr_nbr_used; i++)
		printf("  %s%-9u 0x%016llx\n", name, rr->rr_br[i].reg_num, rr->rr_br[i].reg_value);
	for (i = 0; i < n_ranges && i < 4; i++)
		if (rr->rr_infos[i].rr_soff || rr->rr_infos[i].rr_eoff)
			printf("  range %u also covers %" PRIu64
			       " bytes before its start and %" PRIu64 " after its end\n",
			       i + 1, rr->rr_infos[i].rr_soff, rr->rr_infos[i].rr_eoff);
}

static void print_heading(const char *text)
{
	printf("%s%s%s\n", term_colour_begin(stdout, BOLD), text, term_colour_end(stdout));
}

static void print_set(const struct dispatch_job *job, const pfm_set_t *set)
{
	const pfmlib_mont_output_param_t *mont = &job->mont_out;
	char name[16], label[24];
	unsigned i;

	print_heading("Counters");
	for (i = 0; i < set->n_events && i < job->n; i++)
		printf("  %-12s %s\n",
		       set->counter[i] < 0 ? "none" : format_counter(set->counter[i], name),
		       job->texts[i]);
	print_heading("Write");
	for (i = 0; i < set->n_pmcs; i++)
		print_reg(&set->pmcs[i], 14);
	print_range("IBR", &mont->pfp_mont_irange, job->mont.n_irange);
	print_range("DBR", &mont->pfp_mont_drange, job->mont.n_drange);
	if (set->n_pmds)
		print_heading("Read");
	print_data_regs(set->pmds, set->n_pmds);
	for (i = 0; i < set->n_events && i < job->n; i++) {
		snprintf(label, sizeof(label), "  event %-7u", i + 1);
		print_remarks(stdout, job->ctx, job->texts[i], label);
	}
}

/* ---- refusals -------------------------------------------------------------------------------- */

static const char *get_culprit(const struct dispatch_job *job, const pfm_error_t *error)
{
	return error->event >= 0 && (unsigned)error->event < job->n ? job->texts[error->event]
	                                                            : NULL;
}

static void refuse_set(struct dispatch_job *job, const pfm_error_t *error)
{
	report_refusal(job->ctx, error->n_clash ? NULL : get_culprit(job, error), error,
	               WANTED_EVENT);
	for (unsigned i = 0; i < error->n_clash; i++)
		fprintf(stderr, "  number %u: %s\n", error->clash[i] + 1u,
		        job->texts[error->clash[i]]);
}

static void put_refusal(struct dispatch_job *job, const pfm_error_t *error)
{
	struct json *j = &job->out;
	unsigned i;

	put_begin(j, "inputs", '[');
	for (i = 0; i < job->n; i++)
		put_text(j, NULL, job->texts[i]);
	put_end(j, ']');
	put_refusal_json(j, job->ctx, error->n_clash ? NULL : get_culprit(job, error), error,
	                 WANTED_EVENT);
	if (get_culprit(job, error))
		put_int(j, "event", error->event);
	if (!error->n_clash)
		return;
	put_begin(j, "clash", '[');
	for (i = 0; i < error->n_clash; i++)
		put_int(j, NULL, error->clash[i]);
	put_end(j, ']');
	put_counter_numbers(j, "clash_counters", error->clash_counters);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int dispatch_event_set(struct dispatch_job *job)
{
	const pfm_set_t *set;
	pfm_error_t error = PFM_INIT(error);
	int rc;

	error.event = -1;
	job->set_options.size = sizeof(job->set_options);
	if (job->mont.is_used) {
		job->set_options.model_in = &job->mont.in;
		job->set_options.model_out = &job->mont_out;
	}
	rc = pfm_dispatch_set(&set, job->ctx, job->texts, job->n, &job->set_options, &error);
	if (job->json) {
		put_begin(&job->out, NULL, '{');
		if (rc == PFMLIB_SUCCESS)
			put_set(job, set);
		else
			put_refusal(job, &error);
		put_end(&job->out, '}');
		put_line(&job->out);
	} else if (rc == PFMLIB_SUCCESS) {
		print_set(job, set);
		report_generic_fallback(job->ctx, set->pmu);
	} else {
		refuse_set(job, &error);
	}
	pfm_close_set(set);
	return rc == PFMLIB_SUCCESS ? EXIT_DONE : EXIT_REFUSED;
}

/* Checks that settings are for the processor: each encoder has a structure of its own. */
static bool check_settings_pmu(const struct dispatch_job *job, const char *pmu)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	unsigned event;
	int found = pmu ? pfm_find_pmu(job->ctx, pmu) : -1;

	if (job->n &&
	    pfm_find_event_by_text(job->ctx, job->texts[0], &found, &event, NULL) != PFMLIB_SUCCESS)
		return true; /* pfm_dispatch_events() reports the unknown event */
	return found >= 0 && pfm_describe_pmu(job->ctx, found, &info) == PFMLIB_SUCCESS &&
	       info.libpfm_type == PFMLIB_MONTECITO_PMU;
}

/* Dispatches the set in the operands: events, or lists of events. */
static int dispatch_arguments(struct command_args *args, struct dispatch_job *job, const char *pmu)
{
	int status;

	if (job->n > MAX_EVENTS)
		return report_usage_error(args, "at most %d events together.", MAX_EVENTS);
	job->ctx = open_context(pmu);
	if (!job->ctx)
		return EXIT_REFUSED;
	if (job->mont.n_thres > job->n)
		status = report_usage_error(
			args,
			"--thres: expected at most one number per event, got %u for %u event%s.",
			job->mont.n_thres, job->n, job->n == 1 ? "" : "s");
	else if (job->mont.is_used && !check_settings_pmu(job, pmu))
		status = report_usage_error(args, "the Montecito options need events of that "
		                                  "processor: add --pmu montecito.");
	else
		status = dispatch_event_set(job);
	pfm_close_context(job->ctx);
	return status;
}

static int run_dispatch(struct command_args *args)
{
	struct event_list list = { 0 };
	struct dispatch_job job = { .out = { .out = stdout } };
	const char *value, *pmu = NULL;
	int id, status;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_PMU: pmu = value; break;
		case OPT_JSON: job.json = true; break;
		case OPT_SYSTEM: job.set_options.flags |= PFMLIB_PFP_SYSTEMWIDE; break;
		case OPT_HTOFF: job.set_options.htoff = 1; break;
		case 'u': job.set_options.plm |= PFM_PLM3; break;
		case 'k': job.set_options.plm |= PFM_PLM0; break;
		case OPT_UNAVAILABLE:
			if (!parse_registers(value, &job.unavailable))
				return report_usage_error(args,
				                          "--unavailable: expected register "
				                          "numbers such as 4,6-8, got '%s'.",
				                          value);
			job.set_options.unavailable = &job.unavailable;
			break;
		default:
			if (!parse_montecito_option(&job, id, value))
				return EXIT_USAGE;
		}
	if (id < 0)
		return args->status;
	if (args->n == 0)
		return report_usage_error(args, "expected events");
	for (int i = 0; i < args->n; i++)
		if (!event_list_add(&list, args->operands[i]))
			return report_no_memory();
	job.texts = (const char *const *)list.texts;
	job.n = list.n;
	status = dispatch_arguments(args, &job, pmu);
	event_list_free(&list);
	return status;
}

const struct command cmd_dispatch = {
	.name = "dispatch",
	.usage = "[--pmu NAME] [--json] [OPTION]... EVENT...",
	.summary = "place a set of events on counters, and print all registers",
	.about = "Places events, which commas may separate, on counters so that all of them are "
		 "counted at the same time, and prints every register to write and to read. If a "
		 "placement exists, it is found. If none exists, the error names a smallest group "
		 "of events that conflict.",
	.examples =
		"Two events of Sapphire Rapids\n"
		"pfm dispatch --pmu spr MEM_LOAD_RETIRED.L3_MISS INST_RETIRED.ANY\n"
		"A set that does not fit, and why\n"
		"pfm dispatch --pmu coreduo Mul Div\n"
		"Itanium 2: retired instructions of one function\n"
		"pfm dispatch --pmu montecito --irange 0x4000000000001000+0x200 IA64_INST_RETIRED\n"
		"Itanium 2: where loads miss, and the branches before them\n"
		"pfm dispatch --pmu montecito --dear cache,umask=3 --etb=tm=taken L3_MISSES\n",
	.options = options,
	.run = run_dispatch
};
