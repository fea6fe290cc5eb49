/* SPDX-License-Identifier: MIT */
/* pfm decode: names and fields of register values. */
#include "encode/decode.h"
#include "encode/extra_registers.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { OPT_JSON = LONG_ONLY, OPT_PMU, MANY_EVENTS = 40, FIRST_EVENTS = 8 };

static const struct command_option options[] = {
	{ OPT_PMU, "pmu", "NAME", "processor of the registers; default: this machine's" },
	{ OPT_JSON, "json", NULL, "one JSON object for each register" },
	{ 0, NULL, NULL, NULL }
};

static bool parse_setting(const char *text, struct setting *out, pfm_error_t *error)
{
	size_t len = strcspn(text, "=");
	char *end;

	if (!text[len] || len == 0 || len >= sizeof(out->reg)) {
		report_culprit(error, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, 0, len,
		               "expected REGISTER=VALUE");
		return false;
	}
	snprintf(out->reg, sizeof(out->reg), "%.*s", (int)len, text);
	errno = 0;
	out->value = strtoull(text + len + 1, &end, 0);
	if (!isdigit((unsigned char)text[len + 1]) || *end || errno) {
		report_culprit(error, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, len + 1,
		               strlen(text), "not a 64-bit number");
		return false;
	}
	return true;
}

static bool parse_register_setting(const struct decoder *d, const char *text, struct setting *out,
                                   pfm_error_t *error)
{
	const char *name, *meaning;
	uint64_t field;

	if (!parse_setting(text, out, error))
		return false;
	if (pfm_decode_field(d->ctx, d->pmu, out->reg, out->value, 0, &name, &field, &meaning) !=
	    PFMLIB_ERR_INVAL)
		return true;
	report_culprit(error, PFMLIB_ERR_INVAL, PFM_KIND_BAD_VALUE, 0, strlen(out->reg),
	               "the processor has no register of this name");
	return false;
}

uint64_t compute_bits_without_field(const struct decoder *d, const struct setting *s)
{
	const char *name, *text;
	uint64_t field, rest = 0;

	for (uint64_t left = s->value; left; left &= left - 1) {
		uint64_t bit = left & -left, seen = 0;

		for (unsigned i = 0; pfm_decode_field(d->ctx, d->pmu, s->reg, bit, i, &name, &field,
		                                      &text) == PFMLIB_SUCCESS;
		     i++)
			seen |= field;
		rest |= seen ? 0 : bit;
	}
	return rest;
}

static void print_fields(const struct decoder *d, const struct setting *s)
{
	const char *name, *text;
	uint64_t field, rest = compute_bits_without_field(d, s);
	unsigned i;

	for (i = 0; pfm_decode_field(d->ctx, d->pmu, s->reg, s->value, i, &name, &field, &text) ==
	            PFMLIB_SUCCESS;
	     i++)
		if (*text)
			printf("  %-14s 0x%-10" PRIx64 " %s\n", name, field, text);
		else
			printf("  %-14s 0x%" PRIx64 "\n", name, field);
	if (rest)
		printf("  %-14s 0x%" PRIx64 "\n", "no field", rest);
}

void add_found_event(struct found_events *f, const char *event)
{
	for (unsigned i = 0; i < f->n; i++)
		if (strcmp(f->event[i], event) == 0)
			return;
	if (f->n < EVENTS_SHOWN)
		snprintf(f->event[f->n++], EVENT_MAX, "%s", event);
	else
		f->more = true;
}

static void list_events_of_setting(struct decoder *d, const struct setting *s)
{
	char event[EVENT_MAX];

	for (unsigned i = 0; i <= EVENTS_SHOWN; i++) {
		if (pfm_decode_event(d->ctx, d->pmu, s->reg, s->value, i, event, sizeof(event)) !=
		    PFMLIB_SUCCESS)
			break;
		add_found_event(&d->found, event);
	}
}

/* The extra register of @e, programmed with the code and unit mask in @value: its address, 0 if it
 * has none. */
static uint64_t find_extra_register_of_encoding(const pfm_encoding_t *e, uint64_t value)
{
	for (unsigned i = 0; i < e->n_alternatives; i++)
		if (!((e->alternatives[i].control ^ value) & 0xffff))
			return e->alternatives[i].msr;
	for (unsigned i = 0; i < e->n_regs; i++)
		if (e->regs[i].kind == PFM_REG_EXTRA)
			return e->regs[i].num;
	return 0;
}

/* The extra register that distinguishes events with the same code and unit mask; 0 if no register
 * does. */
static uint64_t find_deciding_register(const struct decoder *d, uint64_t value)
{
	pfm_encoding_t e = PFM_INIT(e);
	char text[EVENT_MAX + 256];
	uint64_t decides = 0;

	for (unsigned i = 0; d->found.n > 1 && i < d->found.n; i++) {
		uint64_t extra;

		snprintf(text, sizeof(text), "%s::%s", d->pmu_name, d->found.event[i]);
		if (pfm_encode_event(d->ctx, text, 0, &e, NULL) != PFMLIB_SUCCESS)
			return 0;
		extra = find_extra_register_of_encoding(&e, value);
		if (extra && decides && extra != decides)
			return 0;
		decides = extra ? extra : decides;
	}
	return decides;
}

static void print_deciding_register(const struct decoder *d, uint64_t value)
{
	uint64_t decides = find_deciding_register(d, value);

	if (decides)
		printf("  %-14s one of %s%u events: extra register 0x%" PRIx64
		       " decides; add 0x%" PRIx64 "=VALUE, or give config and config1\n",
		       "", d->found.more ? "more than " : "", d->found.n, decides, decides);
}

/* Prints the first few events. Only --json prints all. */
static void print_events(const struct found_events *f)
{
	unsigned n = f->n > MANY_EVENTS ? FIRST_EVENTS : f->n;

	for (unsigned i = 0; i < n; i++)
		printf("  %-14s %s%s%s\n", i ? "or" : "event", term_colour_begin(stdout, GREEN),
		       f->event[i], term_colour_end(stdout));
	if (n < f->n)
		printf("  %-14s %s%u others; --json lists them\n", "or",
		       f->more ? "more than " : "", f->n - n);
}

static void put_decoding(struct decoder *d, const struct setting *s, bool in_run)
{
	const char *name, *text;
	struct json *j = &d->out;
	uint64_t field, rest = compute_bits_without_field(d, s);
	unsigned i;

	put_text(j, "pmu", d->pmu_name);
	put_text(j, "reg", s->reg);
	put_hex(j, "value", s->value);
	put_begin(j, "fields", '[');
	for (i = 0; pfm_decode_field(d->ctx, d->pmu, s->reg, s->value, i, &name, &field, &text) ==
	            PFMLIB_SUCCESS;
	     i++) {
		put_begin(j, NULL, '{');
		put_text(j, "name", name);
		put_hex(j, "value", field);
		put_text_if(j, "text", text);
		put_end(j, '}');
	}
	put_end(j, ']');
	if (rest)
		put_hex(j, "rest", rest);
	put_begin(j, "events", '[');
	for (i = 0; i < d->found.n; i++)
		put_text(j, NULL, d->found.event[i]);
	put_end(j, ']');
	if (d->found.more)
		put_bool(j, "more", true);
	if (!in_run && find_deciding_register(d, s->value))
		put_hex(j, "decided_by", find_deciding_register(d, s->value));
}

/* ---- operands that belong together ----------------------------------------------------------- */

/* The number of the perf_event_attr word called @reg, or -1. */
static int parse_config_word_name(const char *reg)
{
	if (strncasecmp(reg, "config", 6) != 0)
		return -1;
	if (!reg[6])
		return 0;
	return reg[6] >= '0' && reg[6] < '0' + N_WORDS && !reg[7] ? reg[6] - '0' : -1;
}

/* True for ESCRs, the registers of Pentium 4 that select events. */
static bool is_escr(const char *reg)
{
	return strncasecmp(reg, "ESCR", 4) == 0;
}

/* True for registers that select no event without an ESCR. */
static bool needs_escr(const struct decoder *d, const char *reg)
{
	const char *name, *text;
	uint64_t field;

	return parse_config_word_name(reg) < 0 && !is_escr(reg) &&
	       pfm_decode_field(d->ctx, d->pmu, "ESCR0", 0, 0, &name, &field, &text) ==
	               PFMLIB_SUCCESS;
}

/* Collects operands that are words of one perf_event_attr in @w; a repeated word begins another
 * one. Returns the number of operands. */
static int collect_config_words(const struct decoder *d, char **operands, int n,
                                struct config_words *w)
{
	pfm_error_t error = PFM_INIT(error);
	struct setting s;
	int i, word;

	*w = (struct config_words){ 0 };
	for (i = 0; i < n && parse_register_setting(d, operands[i], &s, &error); i++) {
		word = parse_config_word_name(s.reg);
		if (word < 0 || w->given >> word & 1)
			break;
		w->given |= 1u << word;
		w->value[word] = s.value;
	}
	return i;
}

/* Joins a CCCR and an ESCR, which select an event together, in one value as the library takes
 * it: the ESCR in the upper half. */
static bool join_escr(const struct decoder *d, char **operands, int n, struct setting *both)
{
	pfm_error_t error = PFM_INIT(error);
	struct setting s[2];
	int escr;

	if (n < 2 || !parse_register_setting(d, operands[0], &s[0], &error) ||
	    !parse_register_setting(d, operands[1], &s[1], &error))
		return false;
	escr = !is_escr(s[0].reg);
	if (!is_escr(s[escr].reg) || is_escr(s[!escr].reg) ||
	    parse_config_word_name(s[!escr].reg) >= 0 || (s[0].value | s[1].value) >> 32)
		return false;
	*both = s[!escr];
	both->value |= s[escr].value << 32;
	return true;
}

/* Finds the events of a control register and an extra register. False if the two do not belong
 * together. */
static bool list_events_of_pair(struct decoder *d, char **operands, int n)
{
	pfm_decoded_event_t found[EVENTS_SHOWN];
	pfm_error_t error = PFM_INIT(error);
	char event[EVENT_MAX];
	struct setting s[2];
	unsigned n_found;

	if (n < 2 || !parse_register_setting(d, operands[0], &s[0], &error) ||
	    !parse_register_setting(d, operands[1], &s[1], &error))
		return false;
	n_found = find_events_of_extra(
		d->ctx, d->pmu,
		(struct register_value[2]){ { s[0].reg, s[0].value }, { s[1].reg, s[1].value } },
		found, EVENTS_SHOWN);
	d->found.n = d->found.more = 0;
	for (unsigned i = 0; i < n_found && i < EVENTS_SHOWN; i++)
		if (pfm_print_event(d->ctx, found[i].text, PFM_DIALECT_VENDOR, event, sizeof(event),
		                    NULL) == PFMLIB_SUCCESS)
			add_found_event(&d->found, event);
	return d->found.n > 0;
}

/* ---- output ---------------------------------------------------------------------------------- */

/* Writes @name with the number at its end increased by one; "" if it has no number. */
static void make_next_name(const char *name, char *next, size_t len)
{
	size_t base = strlen(name);

	while (base && isdigit((unsigned char)name[base - 1]))
		base--;
	if (name[base])
		snprintf(next, len, "%.*s%lu", (int)base, name, strtoul(name + base, NULL, 10) + 1);
	else
		*next = 0;
}

/* Lists the registers that can be decoded; consecutively numbered ones are shown as a range. */
static void report_register_names(const struct decoder *d)
{
	char name[32], first[32] = "", last[32] = "", next[32] = "";
	const char *before = "  there are ";
	int rc;

	for (unsigned i = 0; *first || i == 0; i++) {
		rc = pfm_describe_register(d->ctx, d->pmu, i, name, sizeof(name));
		if (!rc && *first && strcmp(name, next) == 0) {
			snprintf(last, sizeof(last), "%s", name);
		} else {
			if (*first)
				fprintf(stderr, strcmp(first, last) ? "%s%s to %s" : "%s%s", before,
				        first, last);
			before = *first ? ", " : before;
			snprintf(first, sizeof(first), "%s", rc ? "" : name);
			snprintf(last, sizeof(last), "%s", first);
		}
		make_next_name(last, next, sizeof(next));
	}
	if (*before == ',')
		fputc('\n', stderr);
}

/* Decodes one operand. @in_run: the events of its run of words are found already. @last: the
 * operand is single or ends the run. */
static int decode_operand(struct decoder *d, const char *text, bool in_run, bool last)
{
	pfm_error_t error = PFM_INIT(error);
	struct setting s;
	bool ok = parse_register_setting(d, text, &s, &error);

	if (!in_run)
		d->found.n = d->found.more = 0;
	if (ok && !in_run)
		list_events_of_setting(d, &s);

	if (d->json) {
		put_begin(&d->out, NULL, '{');
		put_text(&d->out, "input", text);
		if (ok)
			put_decoding(d, &s, in_run);
		else
			put_refusal_json(&d->out, d->ctx, text, &error, WANTED_EVENT);
		put_end(&d->out, '}');
		put_line(&d->out);
	} else if (ok) {
		printf("%s%s%s = 0x%" PRIx64 "  (%s)\n", term_colour_begin(stdout, BOLD), s.reg,
		       term_colour_end(stdout), s.value, d->pmu_name);
		print_fields(d, &s);
		if (last) {
			print_events(&d->found);
			if (!in_run)
				print_deciding_register(d, s.value);
		}
		if (!in_run && !d->found.n && s.value >> 32 == 0 && needs_escr(d, s.reg))
			printf("  %-14s is chosen in the ESCR: give both registers\n", "event");
	} else {
		fflush(stdout);
		report_refusal(d->ctx, text, &error, WANTED_EVENT);
		if (error.code == PFMLIB_ERR_INVAL)
			report_register_names(d);
	}
	return ok ? EXIT_DONE : EXIT_REFUSED;
}

static int decode_all(struct decoder *d, char **operands, int n)
{
	struct setting both;
	struct config_words w;
	int status = EXIT_DONE, run, i;

	while (n > 0) {
		run = collect_config_words(d, operands, n, &w);
		if (run > 1) {
			d->found.n = d->found.more = 0;
			list_joint_events(d, &w);
		} else if (join_escr(d, operands, n, &both)) {
			run = 2;
			d->found.n = d->found.more = 0;
			list_events_of_setting(d, &both);
		} else if (list_events_of_pair(d, operands, n)) {
			run = 2;
		}
		for (i = 0; i < run || i == 0; i++)
			if (decode_operand(d, operands[i], run > 1, i + 1 >= run) != EXIT_DONE)
				status = EXIT_REFUSED;
		operands += i;
		n -= i;
	}
	return status;
}

/* Finds the processor of names without a prefix: that of --pmu, or the first core PMU of this
 * machine. */
static int choose_pmu(const struct decoder *d, const char *name)
{
	perfmon_pmu_info_t info = PFM_INIT(info);
	int i, n = pfm_count_pmus(d->ctx);

	if (name)
		return pfm_find_pmu(d->ctx, name);
	for (i = 0; i < n; i++)
		if (pfm_describe_pmu(d->ctx, i, &info) == PFMLIB_SUCCESS &&
		    (info.flags & PFM_PMU_HOST) && (info.flags & PFM_PMU_CORE))
			return i;
	return -1;
}

static int decode_arguments(struct command_args *args)
{
	struct decoder d = { .out = { .out = stdout } };
	perfmon_pmu_info_t info = PFM_INIT(info);
	const char *value, *pmu = NULL;
	int id, status;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_PMU: pmu = value; break;
		case OPT_JSON: d.json = true; break;
		}
	if (id < 0)
		return args->status;
	if (args->n == 0)
		return report_usage_error(args, "expected REGISTER=VALUE.");
	d.ctx = open_context(pmu);
	if (!d.ctx)
		return EXIT_REFUSED;
	d.pmu = choose_pmu(&d, pmu);
	if (d.pmu < 0 || pfm_describe_pmu(d.ctx, d.pmu, &info) != PFMLIB_SUCCESS) {
		pfm_close_context(d.ctx);
		return report_usage_error(
			args, "The processor of this machine is unknown; name one with --pmu.");
	}
	d.pmu_name = info.name;
	d.n_events = info.n_events;
	status = decode_all(&d, args->operands, args->n);
	pfm_close_context(d.ctx);
	return status;
}

const struct command cmd_decode = {
	.name = "decode",
	.usage = "--pmu NAME [--json] REGISTER=VALUE...",
	.summary = "find the events and fields of register values",
	.about = "Splits register values into fields and finds the events that program a counter "
		 "with them. Name registers as 'pfm dispatch' prints them or as their manuals do, "
		 "those of x86 also by address (0x186). Consecutive words of perf_event_attr "
		 "(config, config1 ...) belong to one event, and so do a control register and its "
		 "extra register (OFFCORE_RSP_0 ...) next to each other.",
	.examples = "What does this counter count?\n"
		    "pfm decode --pmu skl PERFEVTSEL0=0x5320d1\n"
		    "A raw number of the kernel\n"
		    "pfm decode --pmu amdzen4 config=0x76\n"
		    "An event with two words\n"
		    "pfm decode --pmu skx config=0x1bb config1=0x10001\n"
		    "Two registers of an Itanium 2\n"
		    "pfm decode --pmu montecito PMC4=0x2035808 PMC38=0xdb6\n",
	.options = options,
	.run = decode_arguments
};
