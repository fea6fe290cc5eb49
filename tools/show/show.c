/* SPDX-License-Identifier: MIT */
/* pfm show: everything about one event, or about one processor. */
#include "common/pfm.h"
#include "common/metric.h"
#include "show/show.h"

#include <string.h>

enum { OPT_JSON = LONG_ONLY, OPT_PMU, OPT_ERRATA };

static const struct command_option options[] = {
	{ OPT_PMU, "pmu", "NAME", "processor of names without one; default: this machine's" },
	{ OPT_ERRATA, "errata", NULL, "list the errata of a processor" },
	{ OPT_JSON, "json", NULL, "one JSON object" },
	{ 0, NULL, NULL, NULL }
};

/* ---- a group of metrics ---------------------------------------------------------------------- */

struct member_counter {
	struct shower *owner;
	const char *text;
	unsigned n;
};

/* Prints a member of a group, after the heading if it is the first. */
static bool show_member(void *arg, int pmu, unsigned event, const pfm_metric_info_t *info)
{
	struct member_counter *m = arg;
	perfmon_event_info_t e = PFM_INIT(e);
	perfmon_pmu_info_t p = PFM_INIT(p);
	char name[SHOW_TEXT_SIZE];

	if (pfm_describe_event(m->owner->ctx, pmu, event, &e) ||
	    pfm_describe_pmu(m->owner->ctx, pmu, &p))
		return true;
	snprintf(name, sizeof(name), "%s::%s", p.name, info->name);
	if (!m->n++ && m->owner->json) {
		put_begin(&m->owner->out, NULL, '{');
		put_text(&m->owner->out, "input", m->text);
		put_begin(&m->owner->out, "metrics", '[');
	} else if (m->n == 1) {
		printf("%s%s%s\n  A group of metrics; pfm stat -M counts what they need.\n\n",
		       term_colour_begin(stdout, BOLD), m->text, term_colour_end(stdout));
	}
	if (m->owner->json) {
		put_text(&m->owner->out, NULL, name);
		return true;
	}
	printf("  %s%s%s\n    ", term_colour_begin(stdout, CYAN), name, term_colour_end(stdout));
	term_wrap(stdout, 4, 4, *e.desc ? e.desc : "-");
	return true;
}

/* Returns EXIT_REFUSED if @text is not a group of metrics. */
static int show_group(struct shower *s, const char *text)
{
	struct member_counter m = { s, text, 0 };

	if (!visit_group_metrics(s->ctx, text, show_member, &m))
		return report_no_memory();
	if (m.n && s->json) {
		put_end(&s->out, ']');
		put_end(&s->out, '}');
		put_line(&s->out);
	}
	return m.n ? EXIT_DONE : EXIT_REFUSED;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Checks the attributes of an existing event. It is shown even if required fields are missing. */
static void check_event_text(const struct shower *s, const char *text, pfm_error_t *error)
{
	pfm_encoding_t enc = PFM_INIT(enc);
	pfm_error_t wrong = PFM_INIT(wrong);

	if (pfm_encode_event(s->ctx, text, 0, &enc, &wrong) == PFMLIB_SUCCESS)
		return;
	switch (wrong.kind) {
	case PFM_KIND_UNKNOWN_QUALIFIER:
	case PFM_KIND_EMPTY_QUALIFIER:
	case PFM_KIND_UNEXPECTED_VALUE:
	case PFM_KIND_BAD_VALUE:
	case PFM_KIND_CONFLICT:
	case PFM_KIND_QUALIFIER_NOT_ALLOWED:
	case PFM_KIND_SYNTAX: *error = wrong; break;
	default: break;
	}
}

static int show_event(struct shower *s, const char *text, const pfm_error_t *error, int pmu,
                      unsigned event)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	perfmon_event_info_t e = PFM_INIT(e);

	if (error->code != PFMLIB_SUCCESS ||
	    pfm_describe_pmu(s->ctx, pmu, &info) != PFMLIB_SUCCESS ||
	    pfm_describe_event(s->ctx, pmu, event, &e) != PFMLIB_SUCCESS) {
		refuse_input(s->json ? &s->out : NULL, s->ctx, text, error, WANTED_ANY);
		return EXIT_REFUSED;
	}
	if (s->json) {
		show_event_as_json(s, text, &info, &e);
	} else {
		show_event_as_text(s, text, &info, &e);
		report_generic_fallback(s->ctx, pmu);
	}
	return EXIT_DONE;
}

/* Shows the event that fields or words of the kernel select. Returns EXIT_REFUSED, with the reason
 * printed, if they select none. */
static int show_event_without_name(struct shower *s, const char *text, pfm_error_t *error)
{
	pfm_encoding_t enc = PFM_INIT(enc);
	perfmon_pmu_info_t info = PFM_INIT(info);
	perfmon_event_info_t e = PFM_INIT(e);

	if (pfm_encode_event(s->ctx, text, 0, &enc, error) != PFMLIB_SUCCESS ||
	    pfm_describe_pmu(s->ctx, enc.pmu, &info) != PFMLIB_SUCCESS)
		return EXIT_REFUSED;
	if (pfm_describe_event(s->ctx, enc.pmu, enc.event, &e) == PFMLIB_SUCCESS) {
		if (s->json)
			show_event_as_json(s, text, &info, &e);
		else
			show_event_as_text(s, text, &info, &e);
	} else if (s->json) {
		show_unlisted_as_json(s, text, &info, &enc);
	} else {
		show_unlisted_as_text(s, text, &info);
	}
	return EXIT_DONE;
}

/* The description of the processor that @text names before "::", or --pmu names; "" if neither. */
static void describe_named_pmu(const struct shower *s, const char *text, char *desc, size_t size)
{
	const char *colons = strstr(text, "::");
	perfmon_pmu_info_t info = PFM_INIT(info);
	char name[SHOW_TEXT_SIZE];

	snprintf(name, sizeof(name), "%.*s", colons ? (int)(colons - text) : 0, text);
	if (!colons && s->pmu)
		snprintf(name, sizeof(name), "%s", s->pmu);
	*desc = '\0';
	if (!pfm_describe_pmu(s->ctx, pfm_find_pmu(s->ctx, name), &info))
		snprintf(desc, size, "%s", info.desc);
}

/* Shows why the processor lacks a standard metric. False if @error has another cause. */
static bool show_missing_metric(struct shower *s, const char *text, const pfm_error_t *error)
{
	static const char begin[] = "cannot be measured: ";
	char sentence[SHOW_TEXT_SIZE], desc[SHOW_TEXT_SIZE];
	const char *reason;

	if (error->kind != PFM_KIND_UNSUPPORTED_ALIAS)
		return false;
	pfm_explain_error(s->ctx, text, error, sentence, sizeof(sentence));
	reason = strstr(sentence, begin);
	if (!reason)
		return false;
	reason += strlen(begin);
	describe_named_pmu(s, text, desc, sizeof(desc));
	if (s->json) {
		put_begin(&s->out, NULL, '{');
		put_text(&s->out, "input", text);
		put_text(&s->out, "desc", desc);
		put_text(&s->out, "unsupported", reason);
		put_end(&s->out, '}');
		put_line(&s->out);
	} else {
		printf("%s\n  cannot be measured on %s: %s\n", text,
		       *desc ? desc : "this processor", reason);
	}
	return true;
}

static int show_name(struct shower *s, const char *text)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	pfm_error_t error = PFM_INIT(error);
	unsigned event = 0;
	int pmu = pfm_find_pmu(s->ctx, text);

	if (pmu < 0 || pfm_describe_pmu(s->ctx, pmu, &info) != PFMLIB_SUCCESS) {
		error.code = pfm_find_event_by_text(s->ctx, text, &pmu, &event, &error);
		if (error.code == PFMLIB_SUCCESS)
			check_event_text(s, text, &error);
		else if (show_missing_metric(s, text, &error) ||
		         show_event_without_name(s, text, &error) == EXIT_DONE ||
		         show_group(s, text) == EXIT_DONE)
			return EXIT_DONE;
		return show_event(s, text, &error, pmu, event);
	}
	if (s->errata)
		show_pmu_errata(s, pmu, &info);
	else if (s->json)
		show_pmu_as_json(s, pmu, &info);
	else
		show_pmu_as_text(s, pmu, &info);
	return EXIT_DONE;
}

static int run_show(struct command_args *args)
{
	struct shower s = { .out = { .out = stdout } };
	const char *value, *pmu = NULL;
	int id, i, status = EXIT_DONE;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_PMU: pmu = value; break;
		case OPT_JSON: s.json = true; break;
		case OPT_ERRATA: s.errata = true; break;
		}
	if (id < 0)
		return args->status;
	if (args->n == 0)
		return report_usage_error(args, s.errata ? "expected a processor."
		                                         : "expected an event, a metric or a "
		                                           "processor.");
	s.pmu = pmu;
	s.ctx = open_context(pmu);
	if (!s.ctx)
		return EXIT_REFUSED;
	for (i = 0; i < args->n; i++) {
		if (i && !s.json)
			putchar('\n');
		if (show_name(&s, args->operands[i]) != EXIT_DONE)
			status = EXIT_REFUSED;
	}
	pfm_close_context(s.ctx);
	return status;
}

const struct command cmd_show = {
	.name = "show",
	.usage = "[--pmu NAME] [--errata] [--json] EVENT | PMU...",
	.summary = "describe an event, a metric or a processor in full",
	.about = "For an event: what it counts, its code, its unit masks and modifiers, the "
		 "counters that can count it, filters, errata, its replacement if it is "
		 "deprecated, its registers, and its spelling in each dialect. Modifiers that you "
		 "append are taken into account.\n"
		 "For a tracepoint: its fields. For a raw event: the named event with the same "
		 "code, if there is one.\n"
		 "For a metric: its formula, the threshold above which its value needs attention, "
		 "its events with their counters, the number of groups that count them, and the "
		 "event to sample where it is high. For a group of metrics: its members.\n"
		 "For a processor: its counters and their width, its capabilities, and the source "
		 "of its table. With --errata, what it counts wrong: the events, the effect, the "
		 "steppings, what helps, and what Linux does.",
	.examples = "An event with all its modifiers\n"
		    "pfm show spr::MEM_LOAD_RETIRED.L3_MISS\n"
		    "The spelling of an event with modifiers in each dialect\n"
		    "pfm show coreduo::L2_Rqsts,core=all,cachestate=mi,usr\n"
		    "An Itanium 2 event: group, set, filters, event address register\n"
		    "pfm show montecito::DATA_EAR_CACHE_LAT4\n"
		    "A metric: its events, and in how many groups they are counted\n"
		    "pfm show skl::Frontend_Bound\n"
		    "The name of a raw event\n"
		    "pfm show coreduo::r412e\n"
		    "What a processor counts wrong\n"
		    "pfm show --errata hsw\n"
		    "A processor and its capabilities\n"
		    "pfm show amdzen4\n",
	.options = options,
	.run = run_show
};
