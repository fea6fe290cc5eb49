/* SPDX-License-Identifier: MIT */
/* One PMU of the kernel as an event table: its format, its events, its capabilities. What cannot be understood is left out. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include "machine/machine_internal.h"

#define MAX_EVENTS 20000

/* ---- format ------------------------------------------------------------------------------------------------------ */

/* "config1:0-7,32-35" */
static unsigned read_ranges(const char *s, struct bitrange out[4])
{
	unsigned n = 0, first, last;
	uint8_t word = 0;

	if (strncmp(s, "config", 6) != 0)
		return 0;
	s += 6;
	if (*s >= '1' && *s <= '3')
		word = (uint8_t)(*s++ - '0');
	if (*s++ != ':')
		return 0;
	while (pfmi_cpus_next(&s, &first, &last)) {
		if (last > 63 || n == 4)
			return 0;
		if (n && out[n - 1].lsb + out[n - 1].width == first)
			out[n - 1].width = (uint8_t)(last + 1 - out[n - 1].lsb);
		else
			out[n++] = (struct bitrange){ .word = word, .lsb = (uint8_t)first, .width = (uint8_t)(last - first + 1) };
	}
	return *s ? 0 : n;
}

/* The number by which C code knows a format field; the kernel calls the event select "event". */
static enum key key_of(const char *name)
{
	static const struct {
		char name[12];
		uint8_t key;
	} known[] = {
		{ "event", KEY_CODE },
		{ "umask", KEY_UMASK },
		{ "cmask", KEY_CMASK },
		{ "inv", KEY_INV },
		{ "edge", KEY_EDGE },
		{ "any", KEY_ANY },
		{ "pc", KEY_PC },
		{ "in_tx", KEY_IN_TX },
		{ "in_tx_cp", KEY_IN_TX_CP },
		{ "eq", KEY_EQ },
		{ "offcore_rsp", KEY_OFFCORE },
		{ "ldlat", KEY_LDLAT },
		{ "frontend", KEY_FRONTEND },
		{ "snoop_rsp", KEY_OFFCORE1 },
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (is_word(known[i].name, name))
			return (enum key)known[i].key;
	return KEY_NONE;
}

static void add_formats(struct reading *r, struct builder *b, const char *pmu)
{
	static const char words[][8] = { "config", "config1", "config2", "config3" };
	struct strings files = pfmi_reading_names(r, pmu, "format", MAX_FORMATS, 63);
	struct bitrange ranges[4];

	for (size_t i = 0; i < files.n; i++) {
		unsigned n = pfmi_reading_file(r, pmu, "format/", files.at[i]) ? read_ranges(r->text, ranges) : 0;

		if (n)
			pfmi_build_field(b, files.at[i], key_of(files.at[i]), ranges, n);
	}
	/* Whole words can be given for every PMU, as perf has it. */
	for (unsigned i = 0; i < 4; i++)
		if (pfmi_build_find_field(b, words[i], strlen(words[i])) < 0)
			pfmi_build_field(b, words[i], i ? KEY_NONE : KEY_CONFIG,
			                 &(struct bitrange){ .word = (uint8_t)i, .width = 64 }, 1);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

struct text_fields {
	unsigned scale, unit, params;
};

/* Adds the terms in r->text to the row that was begun. False if one of them cannot be understood. */
static bool add_terms(struct reading *r, struct builder *b, struct text_fields texts)
{
	char params[256];
	size_t used = 0;
	const char *s = r->text;

	if (!*s)
		return false;
	for (;;) {
		size_t len = strcspn(s, ","), name = strcspn(s, "=,");
		int field = pfmi_build_find_field(b, s, name);
		uint64_t value = 1;

		if (field < 0)
			return false;
		if (name < len && s[name + 1] == '?' && len == name + 2) {
			if (used + name + 2 > sizeof(params))
				return false;
			if (used)
				params[used++] = ' ';
			memcpy(params + used, s, name);
			used += name;
		} else {
			uint64_t max = pfmi_build_get_field(b, (unsigned)field)->max;

			if (name < len && !pfmi_spec_number((struct slice){ s + name + 1, (uint32_t)(len - name - 1) }, &value))
				return false;
			if (value > max)
				return false;
			pfmi_build_value(b, (unsigned)field, value);
		}
		if (!s[len])
			break;
		s += len + 1;
	}
	if (used)
		pfmi_build_value(b, texts.params, pfmi_build_text(b, params, used));
	return true;
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static bool is_companion(const char *name)
{
	static const char tails[][10] = { ".unit", ".scale", ".per-pkg", ".snapshot" };
	size_t len = strlen(name);

	for (unsigned i = 0; i < 4; i++)
		if (len > strlen(tails[i]) && is_word(name + len - strlen(tails[i]), tails[i]))
			return true;
	return false;
}

/* Contents of the companion @tail of event @event in r->text; false if it has none. */
static bool companion(struct reading *r, const struct strings *files, const char *pmu, const char *event, const char *tail)
{
	char name[256];
	const char *p = name;
	int n = snprintf(name, sizeof(name), "%s%s", event, tail);

	return n > 0 && (size_t)n < sizeof(name) && bsearch(&p, files->at, files->n, sizeof(*files->at), by_name) &&
	       pfmi_reading_file(r, pmu, "events/", name);
}

static void add_event(struct reading *r, struct builder *b, const struct strings *files, const char *pmu, const char *event,
                      struct text_fields texts)
{
	uint32_t flags = 0;
	double number = 1;
	bool known;

	if (companion(r, files, pmu, event, ".per-pkg") && is_word(r->text, "1"))
		flags |= ROW_PER_PKG;
	if (companion(r, files, pmu, event, ".snapshot") && is_word(r->text, "1"))
		flags |= ROW_SNAPSHOT;
	pfmi_build_row(b, event, "Described by the running kernel.", flags);
	known = pfmi_reading_file(r, pmu, "events/", event) && add_terms(r, b, texts);
	if (!known) {
		pfmi_build_drop_row(b);
		return;
	}
	if (companion(r, files, pmu, event, ".scale")) {
		if (!pfmi_decimal(r->text, &number) || number > DBL_MAX)
			number = 0;
		if (number > 0)
			pfmi_build_value(b, texts.scale, pfmi_build_text(b, r->text, strlen(r->text)));
	}
	/* A plain count is none of units whose scale makes no sense. */
	if (number > 0 && companion(r, files, pmu, event, ".unit"))
		pfmi_build_value(b, texts.unit, pfmi_build_text(b, r->text, strlen(r->text)));
}

static void add_events(struct reading *r, struct builder *b, const char *pmu)
{
	struct strings files = pfmi_reading_names(r, pmu, "events", MAX_EVENTS, 200);
	struct text_fields texts = {
		.scale = pfmi_build_text_field(b, KEY_SCALE),
		.unit = pfmi_build_text_field(b, KEY_UNIT),
		.params = pfmi_build_text_field(b, KEY_PARAMS),
	};

	for (size_t i = 0; i < files.n; i++)
		if (!is_companion(files.at[i]))
			add_event(r, b, &files, pmu, files.at[i], texts);
}

static void add_caps(struct reading *r, struct builder *b, const char *pmu)
{
	struct strings files = pfmi_reading_names(r, pmu, "caps", 64, 60);
	uint64_t value;

	for (size_t i = 0; i < files.n; i++) {
		if (!pfmi_reading_file(r, pmu, "caps/", files.at[i]))
			continue;
		if (pfmi_spec_number((struct slice){ r->text, (uint32_t)strlen(r->text) }, &value))
			pfmi_build_feature(b, files.at[i], NULL, value);
		else
			pfmi_build_feature(b, files.at[i], r->text, 0);
	}
	if (pfmi_reading_file(r, pmu, "", "identifier"))
		pfmi_build_feature(b, "identifier", r->text, 0);
}

void pfmi_reading_table(struct reading *r, struct builder *b, const char *pmu)
{
	add_formats(r, b, pmu);
	add_events(r, b, pmu);
	add_caps(r, b, pmu);
}
