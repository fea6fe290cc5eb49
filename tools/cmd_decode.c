/* SPDX-License-Identifier: MIT */
/* pfm decode: names and fields behind register values. */
#include "pfm.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_JSON = LONG_ONLY,
       OPT_PMU,
       EVENT_MAX = 512,
       EVENTS_SHOWN = 64 };

static const struct opt options[] = {
	{ OPT_PMU, "pmu", "NAME", "processor the registers belong to; this machine's otherwise" },
	{ OPT_JSON, "json", NULL, "one JSON object for each register" },
	{ 0, NULL, NULL, NULL }
};

struct decoder {
	pfm_ctx_t *ctx;
	int pmu;
	const char *pmu_name;
	bool json;
	struct json out;
};

/* One REG=VALUE taken apart. */
struct setting {
	char reg[64];
	uint64_t value;
};

static bool parse_setting(const char *text, struct setting *out, pfm_error_t *error)
{
	size_t len = strcspn(text, "=");
	char *end;

	if (!text[len] || len == 0 || len >= sizeof(out->reg)) {
		blame(error, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, 0, len, "expected REGISTER=VALUE");
		return false;
	}
	snprintf(out->reg, sizeof(out->reg), "%.*s", (int)len, text);
	errno = 0;
	out->value = strtoull(text + len + 1, &end, 0);
	if (!isdigit((unsigned char)text[len + 1]) || *end || errno) {
		blame(error, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, len + 1, strlen(text), "not a 64-bit number");
		return false;
	}
	return true;
}

static bool parse(const struct decoder *d, const char *text, struct setting *out, pfm_error_t *error)
{
	const char *name, *meaning;
	uint64_t field;

	if (!parse_setting(text, out, error))
		return false;
	if (pfm_decode_field(d->ctx, d->pmu, out->reg, out->value, 0, &name, &field, &meaning) != PFMLIB_ERR_INVAL)
		return true;
	blame(error, PFMLIB_ERR_INVAL, PFM_KIND_BAD_VALUE, 0, strlen(out->reg), "the processor has no register of this name");
	return false;
}

/* Bits of the value that no field shows. */
static uint64_t rest_of(const struct decoder *d, const struct setting *s)
{
	const char *name, *text;
	uint64_t field, rest = 0;

	for (uint64_t left = s->value; left; left &= left - 1) {
		uint64_t bit = left & -left, seen = 0;

		for (unsigned i = 0; pfm_decode_field(d->ctx, d->pmu, s->reg, bit, i, &name, &field, &text) == PFMLIB_SUCCESS; i++)
			seen |= field;
		rest |= seen ? 0 : bit;
	}
	return rest;
}

static void print_fields(const struct decoder *d, const struct setting *s)
{
	const char *name, *text;
	uint64_t field, rest = rest_of(d, s);
	unsigned i;

	for (i = 0; pfm_decode_field(d->ctx, d->pmu, s->reg, s->value, i, &name, &field, &text) == PFMLIB_SUCCESS; i++)
		if (*text)
			printf("  %-14s 0x%-10" PRIx64 " %s\n", name, field, text);
		else
			printf("  %-14s 0x%" PRIx64 "\n", name, field);
	if (rest)
		printf("  %-14s 0x%" PRIx64 "\n", "no field", rest);
}

static void print_events(const struct decoder *d, const struct setting *s)
{
	char event[EVENT_MAX];
	unsigned i;

	for (i = 0; i < EVENTS_SHOWN; i++) {
		if (pfm_decode_event(d->ctx, d->pmu, s->reg, s->value, i, event, sizeof(event)) != PFMLIB_SUCCESS)
			break;
		printf("  %-14s %s%s%s\n", i ? "or" : "event", term_on(stdout, GREEN), event, term_off(stdout));
	}
}

static void json_decoding(struct decoder *d, const struct setting *s)
{
	const char *name, *text;
	char event[EVENT_MAX];
	struct json *j = &d->out;
	uint64_t field, rest = rest_of(d, s);
	unsigned i;

	put_text(j, "pmu", d->pmu_name);
	put_text(j, "reg", s->reg);
	put_hex(j, "value", s->value);
	put_begin(j, "fields", '[');
	for (i = 0; pfm_decode_field(d->ctx, d->pmu, s->reg, s->value, i, &name, &field, &text) == PFMLIB_SUCCESS; i++) {
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
	for (i = 0; i < EVENTS_SHOWN; i++) {
		if (pfm_decode_event(d->ctx, d->pmu, s->reg, s->value, i, event, sizeof(event)) != PFMLIB_SUCCESS)
			break;
		put_text(j, NULL, event);
	}
	put_end(j, ']');
}

/* @name with the number at its end one higher; "" if it has none. */
static void next_name(const char *name, char *next, size_t len)
{
	size_t base = strlen(name);

	while (base && isdigit((unsigned char)name[base - 1]))
		base--;
	if (name[base])
		snprintf(next, len, "%.*s%lu", (int)base, name, strtoul(name + base, NULL, 10) + 1);
	else
		*next = 0;
}

/* The registers there are; those that differ in a number that goes up are told as a run. */
static void tell_registers(const struct decoder *d)
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
				fprintf(stderr, strcmp(first, last) ? "%s%s to %s" : "%s%s", before, first, last);
			before = *first ? ", " : before;
			snprintf(first, sizeof(first), "%s", rc ? "" : name);
			snprintf(last, sizeof(last), "%s", first);
		}
		next_name(last, next, sizeof(next));
	}
	if (*before == ',')
		fputc('\n', stderr);
}

static int decode(struct decoder *d, const char *text)
{
	pfm_error_t error = PFM_INIT(error);
	struct setting s;
	bool ok = parse(d, text, &s, &error);

	if (d->json) {
		put_begin(&d->out, NULL, '{');
		put_text(&d->out, "input", text);
		if (ok)
			json_decoding(d, &s);
		else
			refuse_json(&d->out, d->ctx, text, &error);
		put_end(&d->out, '}');
		put_line(&d->out);
	} else if (ok) {
		printf("%s%s%s = 0x%" PRIx64 "  (%s)\n", term_on(stdout, BOLD), s.reg, term_off(stdout), s.value, d->pmu_name);
		print_fields(d, &s);
		print_events(d, &s);
	} else {
		fflush(stdout);
		refuse(d->ctx, text, &error);
		if (error.code == PFMLIB_ERR_INVAL)
			tell_registers(d);
	}
	return ok ? DONE : REFUSED;
}

/* The processor that names without a prefix belong to: the one asked for, or the first of this machine's cores. */
static int find_pmu(const struct decoder *d, const char *name)
{
	pfm_pmu_info_t info = PFM_INIT(info);
	int i, n = pfm_count_pmus(d->ctx);

	if (name)
		return pfm_find_pmu(d->ctx, name);
	for (i = 0; i < n; i++)
		if (pfm_describe_pmu(d->ctx, i, &info) == PFMLIB_SUCCESS && (info.flags & PFM_PMU_HOST) && (info.flags & PFM_PMU_CORE))
			return i;
	return -1;
}

static int run(struct args *args)
{
	struct decoder d = { .out = { .out = stdout } };
	pfm_pmu_info_t info = PFM_INIT(info);
	const char *value, *pmu = NULL;
	int id, i, status = DONE;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_PMU: pmu = value; break;
		case OPT_JSON: d.json = true; break;
		}
	if (id < 0)
		return args->status;
	if (args->n == 0)
		return usage(args, "which register, and what is in it?");
	d.ctx = open_context(pmu);
	if (!d.ctx)
		return REFUSED;
	d.pmu = find_pmu(&d, pmu);
	if (d.pmu < 0 || pfm_describe_pmu(d.ctx, d.pmu, &info) != PFMLIB_SUCCESS) {
		pfm_close_context(d.ctx);
		return usage(args, "this machine's processor is not known; name one with --pmu.");
	}
	d.pmu_name = info.name;
	for (i = 0; i < args->n; i++)
		if (decode(&d, args->operands[i]) != DONE)
			status = REFUSED;
	pfm_close_context(d.ctx);
	return status;
}

const struct command cmd_decode = {
	.name = "decode",
	.usage = "--pmu NAME [--json] REGISTER=VALUE...",
	.summary = "names and fields behind register values",
	.about = "Takes register values apart into fields and finds the events that program a counter so. Registers go by the "
		 "names that 'pfm dispatch' prints, and by those of their manuals.",
	.examples = "What does this counter count?\n"
		    "pfm decode --pmu coreduo PERFEVTSEL0=0x53d024\n"
		    "A kernel's raw number\n"
		    "pfm decode --pmu coreduo config=0x412e\n"
		    "Two registers of an Itanium 2\n"
		    "pfm decode --pmu montecito PMC4=0x2035808 PMC38=0xdb6\n",
	.options = options,
	.run = run
};
