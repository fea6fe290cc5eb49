/* SPDX-License-Identifier: MIT */
/* pfm encode: registers and perf attributes of each event on its own. */
#include "common/errata.h"
#include "common/input_lines.h"
#include "common/pfm.h"

#include <inttypes.h>
#include <string.h>

enum { OPT_JSON = LONG_ONLY, OPT_PMU };

static const struct command_option options[] = {
	{ OPT_PMU, "pmu", "NAME", "processor of names without one; default: this machine's" },
	{ 'u', "user", NULL, "count in user mode only, unless the event names a level" },
	{ 'k', "kernel", NULL, "count in the kernel only, unless the event names a level" },
	{ OPT_JSON, "json", NULL, "one JSON object for each event" },
	{ 0, NULL, NULL, NULL }
};

struct encoder {
	pfm_ctx_t *ctx;
	unsigned plm;
	bool json;
	struct json out;
	size_t n_answered; /* events encoded or refused so far */
};

static void put_encoding(struct encoder *e, const char *text, const pfm_encoding_t *enc)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	perfmon_event_info_t event = PFM_INIT(event);
	struct json *j = &e->out;
	unsigned i;

	pfm_describe_pmu(e->ctx, enc->pmu, &pmu);
	pfm_describe_event(e->ctx, enc->pmu, enc->event, &event);
	put_text(j, "pmu", pmu.name ? pmu.name : "");
	put_text(j, "event", event.name ? event.name : text);
	put_begin(j, "regs", '[');
	for (i = 0; i < enc->n_regs; i++) {
		put_begin(j, NULL, '{');
		put_int(j, "num", enc->regs[i].num);
		put_hex(j, "addr", enc->regs[i].addr);
		put_hex(j, "value", enc->regs[i].value);
		put_end(j, '}');
	}
	put_end(j, ']');
	if (enc->n_alternatives)
		put_begin(j, "alternatives", '[');
	for (i = 0; i < enc->n_alternatives; i++) {
		put_begin(j, NULL, '{');
		put_hex(j, "control", enc->alternatives[i].control);
		put_hex(j, "msr", enc->alternatives[i].msr);
		put_hex(j, "value", enc->alternatives[i].value);
		put_end(j, '}');
	}
	if (enc->n_alternatives)
		put_end(j, ']');
	put_counter_numbers(j, "counters", enc->counters);
	put_attr(j, "perf", &enc->attr);
	put_text_rules(j, e->ctx, text, true);
	put_encoded_errata(j, e->ctx, text, e->plm, enc);
	if (!(pmu.flags & PFM_PMU_HOST))
		put_bool(j, "foreign", true);
}

static void print_perf(const perfmon_attr_t *a, bool foreign)
{
	if (!a->expressible) {
		printf("  %-12s the kernel's perf events cannot express it\n", "perf");
		return;
	}
	printf("  %-12s ", "perf");
	print_attr(stdout, a);
	putchar('\n');
	if (!a->type_known)
		printf("  %-12s (type: the number of this PMU on the machine that counts)\n", "");
	else if (foreign)
		printf("  %-12s (on a machine with this processor; on this machine it has another "
		       "meaning)\n",
		       "");
}

static void print_errata(const struct encoder *e, const char *text, const pfm_encoding_t *enc)
{
	pfm_erratum_t erratum = PFM_INIT(erratum);
	unsigned i = 0;

	while (find_encoded_erratum(e->ctx, text, e->plm, enc, &i, &erratum))
		printf("  %-12s %s: %s\n", "erratum", erratum.ids, erratum.effect);
}

static void print_encoding(const struct encoder *e, const char *text, const pfm_encoding_t *enc)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	perfmon_event_info_t event = PFM_INIT(event);
	char counters[COUNTERS_MAX];
	unsigned i;

	pfm_describe_pmu(e->ctx, enc->pmu, &pmu);
	pfm_describe_event(e->ctx, enc->pmu, enc->event, &event);
	printf("%s%s%s%s\n", e->n_answered ? "\n" : "", term_colour_begin(stdout, BOLD), text,
	       term_colour_end(stdout));
	if (event.name)
		printf("  %-12s %s::%s\n", "event", pmu.name, event.name);
	else
		printf("  %-12s %s (fields that no event of its list has)\n", "processor",
		       pmu.name ? pmu.name : "?");
	if (event.name && event.flags & PFM_EVENT_DEPRECATED)
		printf("  %-12s %s%s\n", "deprecated", *event.replaced ? "use instead: " : "yes",
		       event.replaced);
	if (enc->counters)
		printf("  %-12s %s\n", "counters", format_counters(enc->counters, counters));
	for (i = 0; i < enc->n_regs; i++)
		print_reg(&enc->regs[i], 12);
	for (i = 0; i < enc->n_alternatives; i++)
		printf("  %-12s 0x%" PRIx64 " with MSR 0x%" PRIx64 " = 0x%" PRIx64 "\n",
		       i ? "" : "or", enc->alternatives[i].control, enc->alternatives[i].msr,
		       enc->alternatives[i].value);
	print_perf(&enc->attr, !(pmu.flags & PFM_PMU_HOST));
	print_remarks(stdout, e->ctx, text, "  rule         ");
	print_errata(e, text, enc);
}

static int encode_text(struct encoder *e, const char *text, size_t len)
{
	pfm_encoding_t enc;
	pfm_error_t error = PFM_INIT(error);
	int rc;

	enc.size = sizeof(enc);
	if (strlen(text) == len) {
		rc = pfm_encode_event(e->ctx, text, e->plm, &enc, &error);
	} else {
		rc = PFMLIB_ERR_SYNTAX;
		report_culprit(&error, rc, PFM_KIND_SYNTAX, strlen(text), strlen(text) + 1,
		               "a zero byte");
	}
	if (e->json) {
		put_begin(&e->out, NULL, '{');
		put_bytes(&e->out, "input", text, len);
		if (rc != PFMLIB_SUCCESS)
			put_refusal_json(&e->out, e->ctx, text, &error, WANTED_EVENT);
		else
			put_encoding(e, text, &enc);
		if (rc == PFMLIB_SUCCESS && report_generic_fallback(e->ctx, enc.pmu))
			put_bool(&e->out, "fallback", true);
		put_end(&e->out, '}');
		put_line(&e->out);
	} else if (rc == PFMLIB_SUCCESS) {
		print_encoding(e, text, &enc);
		report_generic_fallback(e->ctx, enc.pmu);
	} else {
		/* Keeps answers and errors in order where both go to the same file. */
		fflush(stdout);
		report_refusal(e->ctx, text, &error, WANTED_EVENT);
	}
	e->n_answered++;
	return rc == PFMLIB_SUCCESS ? EXIT_DONE : EXIT_REFUSED;
}

static int encode_line(void *arg, char *line, size_t len)
{
	struct encoder *e = arg;

	/* With --json, every input line has an output line. */
	if (is_blank_event_line(line, len) && !(e->json && strspn(line, " \t\r") == len))
		return EXIT_DONE;
	len = strip_event_line(&line, len);
	return encode_text(e, line, len);
}

static int run_encode(struct command_args *args)
{
	struct encoder e = { .out = { .out = stdout } };
	const char *value, *pmu = NULL;
	int id, i, status = EXIT_DONE;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_PMU: pmu = value; break;
		case OPT_JSON: e.json = true; break;
		case 'u': e.plm |= PFM_PLM3; break;
		case 'k': e.plm |= PFM_PLM0; break;
		}
	if (id < 0)
		return args->status;
	if (args->n == 0)
		return report_usage_error(
			args, "expected events, or - to read them from standard input.");
	e.ctx = open_unloaded_context(pmu);
	if (!e.ctx)
		return EXIT_REFUSED;
	for (i = 0; i < args->n; i++)
		if ((strcmp(args->operands[i], "-") == 0
		             ? visit_input_lines(encode_line, &e)
		             : encode_text(&e, args->operands[i], strlen(args->operands[i]))) !=
		    EXIT_DONE)
			status = EXIT_REFUSED;
	pfm_close_context(e.ctx);
	return status;
}

const struct command cmd_encode = {
	.name = "encode",
	.usage = "[--pmu NAME] [--json] EVENT... | -",
	.summary = "print registers and perf attributes of each event",
	.about = "Prints the register values that count an event on the lowest counter that can "
		 "count it, and the perf_event_open(2) attributes that select the same event. "
		 "Write events as libpfm, libpmc, perf or the vendor write them.\n"
		 "With -, reads events from standard input, one per line, and answers each of "
		 "them. A # after a blank begins a comment; without --json, blank lines are "
		 "skipped. The exit status is 1 if any event was refused.",
	.examples = "One event, three spellings\n"
		    "pfm encode --pmu skl MEM_LOAD_RETIRED.L3_MISS 'skl::MEM_LOAD_RETIRED:L3_MISS' "
		    "'cpu/event=0xd1,umask=0x20/'\n"
		    "Events of other processors than this one\n"
		    "pfm encode amdzen4::ls_dispatch.ld_dispatch neoverse_n1::L2D_CACHE_REFILL:u\n"
		    "A whole list, as JSON\n"
		    "pfm encode --pmu spr --json - < events.txt\n",
	.options = options,
	.run = run_encode
};
