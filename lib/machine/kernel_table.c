/* SPDX-License-Identifier: MIT */
/* The table of one PMU of the kernel: its format, its events, its capabilities. Files that cannot
 * be parsed are left out. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/bits.h"
#include "machine/machine_internal.h"

#define MAX_KERNEL_EVENTS 20000

/* ---- format ---------------------------------------------------------------------------------- */

static uint64_t make_bit_range(unsigned first, unsigned last)
{
	return ~(uint64_t)0 >> (63 - (last - first)) << first;
}

/* Stores the runs of bits that are set, lowest first. Returns 0 if there are more than four. */
static unsigned split_bits(uint64_t bits, uint8_t word, struct bitrange out[4])
{
	unsigned n = 0;

	for (unsigned lsb = 0, width; lsb < 64 && bits >> lsb; lsb += width) {
		lsb += base_find_lowest_bit(bits >> lsb);
		width = ~(bits >> lsb) ? base_find_lowest_bit(~(bits >> lsb)) : 64;
		if (n == 4)
			return 0;
		out[n++] = (struct bitrange){ .config_word = word,
			                      .lsb = (uint8_t)lsb,
			                      .width = (uint8_t)width };
	}
	return n;
}

/* Parses "config1:0-7,32-35". As in perf, the list is a set of bits: the lowest bit of a value is
 * in the lowest bit of the set, in whatever order the list has them. */
static unsigned parse_bit_ranges(const char *s, struct bitrange out[4])
{
	unsigned first, last;
	uint64_t bits = 0;
	uint8_t word = 0;

	if (strncmp(s, "config", 6) != 0)
		return 0;
	s += 6;
	if (*s >= '1' && *s < '0' + (int)N_CONFIG_WORDS)
		word = (uint8_t)(*s++ - '0');
	if (*s++ != ':')
		return 0;
	while (pfmi_machine_next_cpu_range(&s, &first, &last)) {
		if (last > 63)
			return 0;
		bits |= make_bit_range(first, last);
	}
	return *s ? 0 : split_bits(bits, word, out);
}

/* The key of a format field of the kernel, which calls the code of an event "event". */
static enum field_key lookup_format_key(const char *name)
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
		if (machine_is_same_text(known[i].name, name))
			return (enum field_key)known[i].key;
	return KEY_NONE;
}

static void add_formats(struct sysfs_reader *r, struct table_builder *b, const char *pmu)
{
	static const char words[N_CONFIG_WORDS][8] = { "config", "config1", "config2", "config3",
		                                       "config4" };
	struct string_list files =
		pfmi_machine_list_sysfs_names(r, pmu, "format", MAX_FORMAT_FIELDS, 63);
	struct bitrange ranges[4];

	for (size_t i = 0; i < files.n; i++) {
		unsigned n = pfmi_machine_read_sysfs_file(r, pmu, "format/", files.items[i])
		                     ? parse_bit_ranges(r->text, ranges)
		                     : 0;

		if (n)
			pfmi_table_add_field(b, files.items[i], lookup_format_key(files.items[i]),
			                     ranges, n);
	}
	/* Users may set whole config words on every PMU, as perf allows it. */
	for (unsigned i = 0; i < N_CONFIG_WORDS; i++)
		if (pfmi_table_find_built_field(b, words[i], strlen(words[i])) < 0)
			pfmi_table_add_field(
				b, words[i], i ? KEY_NONE : KEY_CONFIG,
				&(struct bitrange){ .config_word = (uint8_t)i, .width = 64 }, 1);
}

/* ---- events ---------------------------------------------------------------------------------- */

struct text_field_numbers {
	unsigned scale, unit, params;
};

/* The configuration words of an event, and the bits that its terms have set. */
struct term_bits {
	uint64_t words[N_CONFIG_WORDS], taken[N_CONFIG_WORDS];
};

/* Adds bit @i of @value to each bit of the field. False if an earlier term has set one of its bits
 * to another value: perf ORs such terms, which is an event that no one meant. */
static bool take_bits(struct term_bits *bits, const struct field *f, uint64_t value)
{
	for (unsigned i = 0; i < f->n_ranges; i++) {
		const struct bitrange *r = &f->ranges[i];
		uint64_t mask = make_bit_range(r->lsb, r->lsb + r->width - 1u),
			 put = value << r->lsb & mask, *word = &bits->words[r->config_word],
			 *taken = &bits->taken[r->config_word];

		if ((*word ^ put) & *taken & mask)
			return false;
		*word |= put;
		*taken |= mask;
		value = r->width < 64 ? value >> r->width : 0;
	}
	return true;
}

/* Sets a field of the last row from the term "NAME" or "NAME=VALUE" of @len characters at @s, with
 * @name characters of the name. False if the value cannot be parsed, is too large, or contradicts
 * an earlier term. */
static bool add_event_term(struct table_builder *b, unsigned field, const char *s, size_t name,
                           size_t len, struct term_bits *bits)
{
	const struct field *f = pfmi_table_get_built_field(b, field);
	uint64_t value = 1;

	if (name < len &&
	    !pfmi_base_parse_perf_number((struct slice){ s + name + 1, (uint32_t)(len - name - 1) },
	                                 &value))
		return false;
	if (value > f->max || !take_bits(bits, f, value))
		return false;
	pfmi_table_set_row_value(b, field, value);
	return true;
}

/* Adds the terms in r->text to the last row. False if one of them cannot be parsed. */
static bool add_event_terms(struct sysfs_reader *r, struct table_builder *b,
                            struct text_field_numbers texts)
{
	char params[256]; /* names of the terms that a user must give a value: "NAME=?" */
	size_t used = 0;
	const char *s = r->text;
	struct term_bits bits = { { 0 }, { 0 } };

	if (!*s)
		return false;
	for (;;) {
		size_t len = strcspn(s, ","), name = strcspn(s, "=,");
		int field = pfmi_table_find_built_field(b, s, name);

		if (field < 0)
			return false;
		if (name < len && s[name + 1] == '?' && len == name + 2) {
			if (used + name + 2 > sizeof(params))
				return false;
			if (used)
				params[used++] = ' ';
			memcpy(params + used, s, name);
			used += name;
		} else if (!add_event_term(b, (unsigned)field, s, name, len, &bits)) {
			return false;
		}
		if (!s[len])
			break;
		s += len + 1;
	}
	if (used)
		pfmi_table_set_row_value(b, texts.params, pfmi_table_add_text(b, params, used));
	return true;
}

static bool is_companion_file(const char *name)
{
	static const char tails[][10] = { ".unit", ".scale", ".per-pkg", ".snapshot" };
	size_t len = strlen(name);

	for (unsigned i = 0; i < 4; i++)
		if (len > strlen(tails[i]) &&
		    machine_is_same_text(name + len - strlen(tails[i]), tails[i]))
			return true;
	return false;
}

/* Reads the companion file @event@tail into r->text. False if it is missing. */
static bool read_companion_file(struct sysfs_reader *r, const struct string_list *files,
                                const char *pmu, const char *event, const char *tail)
{
	char name[256];
	const char *p = name;
	int n = snprintf(name, sizeof(name), "%s%s", event, tail);

	return n > 0 && (size_t)n < sizeof(name) &&
	       bsearch(&p, files->items, files->n, sizeof(*files->items),
	               pfmi_machine_compare_names) &&
	       pfmi_machine_read_sysfs_file(r, pmu, "events/", name);
}

static void add_event(struct sysfs_reader *r, struct table_builder *b,
                      const struct string_list *files, const char *pmu, const char *event,
                      struct text_field_numbers texts)
{
	uint32_t flags = 0;
	double number = 1;
	bool known;

	if (read_companion_file(r, files, pmu, event, ".per-pkg") &&
	    machine_is_same_text(r->text, "1"))
		flags |= ROW_PER_PKG;
	if (read_companion_file(r, files, pmu, event, ".snapshot") &&
	    machine_is_same_text(r->text, "1"))
		flags |= ROW_SNAPSHOT;
	pfmi_table_begin_row(b, event, "Described by the running kernel.", flags);
	known = pfmi_machine_read_sysfs_file(r, pmu, "events/", event) &&
	        add_event_terms(r, b, texts);
	if (!known) {
		pfmi_table_drop_row(b);
		return;
	}
	if (read_companion_file(r, files, pmu, event, ".scale")) {
		if (!pfmi_base_parse_decimal(r->text, &number) || number > DBL_MAX)
			number = 0;
		if (number > 0)
			pfmi_table_set_row_value(b, texts.scale,
			                         pfmi_table_add_text(b, r->text, strlen(r->text)));
	}
	/* If the scale is invalid, the event has neither scale nor unit. */
	if (number > 0 && read_companion_file(r, files, pmu, event, ".unit"))
		pfmi_table_set_row_value(b, texts.unit,
		                         pfmi_table_add_text(b, r->text, strlen(r->text)));
}

static void add_events(struct sysfs_reader *r, struct table_builder *b, const char *pmu)
{
	struct string_list files =
		pfmi_machine_list_sysfs_names(r, pmu, "events", MAX_KERNEL_EVENTS, 200);
	struct text_field_numbers texts = {
		.scale = pfmi_table_add_text_field(b, KEY_SCALE),
		.unit = pfmi_table_add_text_field(b, KEY_UNIT),
		.params = pfmi_table_add_text_field(b, KEY_PARAMS),
	};

	for (size_t i = 0; i < files.n; i++)
		if (!is_companion_file(files.items[i]))
			add_event(r, b, &files, pmu, files.items[i], texts);
}

static void add_capabilities(struct sysfs_reader *r, struct table_builder *b, const char *pmu)
{
	struct string_list files = pfmi_machine_list_sysfs_names(r, pmu, "caps", 64, 60);
	uint64_t value;

	for (size_t i = 0; i < files.n; i++) {
		if (!pfmi_machine_read_sysfs_file(r, pmu, "caps/", files.items[i]))
			continue;
		if (pfmi_base_parse_perf_number(
			    (struct slice){ r->text, (uint32_t)strlen(r->text) }, &value))
			pfmi_table_add_feature(b, files.items[i], NULL, value);
		else
			pfmi_table_add_feature(b, files.items[i], r->text, 0);
	}
	if (pfmi_machine_read_sysfs_file(r, pmu, "", "identifier"))
		pfmi_table_add_feature(b, "identifier", r->text, 0);
}

void pfmi_machine_build_pmu_table(struct sysfs_reader *r, struct table_builder *b, const char *pmu)
{
	add_formats(r, b, pmu);
	add_events(r, b, pmu);
	add_capabilities(r, b, pmu);
}
