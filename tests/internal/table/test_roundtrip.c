/* SPDX-License-Identifier: MIT */
/* Printed texts read back as the same registers: every row of every built-in table, bare and with
 * random unit masks, modifiers and levels, in every dialect. In the other direction, registers
 * decode to an event that has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <inttypes.h>
#include <unistd.h>
#include "lookup/lookup.h"
#include "format/format.h"
#include "pmu/pmu.h"
#include "open_for.h"
#include "shared.h"

/* Every row of tables written by hand. Of vendors' lists, every row in the long run, every third
 * one in the short run, and a sample under an emulator or a checker. */
static uint32_t row_step(bool listed)
{
	return !listed || getenv("PERFMON_LONG") ? 1 : getenv("PERFMON_QUICK") ? 29 : 3;
}

/* Random variants of each row, fewer under an emulator. */
static unsigned n_variants(void)
{
	return getenv("PERFMON_QUICK") ? 4 : 24;
}

/* A generator of this test: the texts are equal on all machines. */
static uint64_t random_state = 1;

static unsigned random_below(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)((random_state >> 11) % n);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void append_formatted(char *text, const char *format, const char *a, const char *b)
{
	size_t n = strlen(text);

	snprintf(text + n, 512 - n, format, a, b);
}

static void add_group(char *text, const struct table *t, const struct umask_group *g)
{
	const struct named_value *w = table_named_values(t) + g->first_named_value;

	if (!(g->flags & GROUP_REQUIRED) && random_below(3) == 0)
		return;
	for (unsigned n = g->flags & GROUP_COMBINABLE ? 1 + random_below(3) : 1; n--;)
		append_formatted(text, ":%s=%s", table_get_text(t, g->name),
		                 table_get_text(t, w[random_below(g->n_named_values)].name));
}

static void add_modifiers(char *text, const struct table *t)
{
	const struct field *f = table_fields(t);

	for (unsigned i = 0; i < t->n_fields; i++) {
		char number[24];
		uint64_t span = f[i].max - f[i].min, value;

		if (!f[i].is_modifier || random_below(3))
			continue;
		value = f[i].min +
		        (span > 1000000 ? random_below(1000000) : random_below((unsigned)span + 1));
		snprintf(number, sizeof(number), "%" PRIu64, value);
		append_formatted(text, ":%s=%s", table_get_text(t, f[i].name), number);
	}
}

static void add_levels(char *text)
{
	static const char *const levels[] = { "", "", ":u", ":k", ":u:k", ":k=0", ":u=0" };

	append_formatted(text, "%s%s", levels[random_below(7)], "");
}

/* Writes a text of the row with its required attributes only, or with random ones that it accepts.
 */
static void make_text(char text[512], const struct table *t, uint32_t row, bool full)
{
	snprintf(text, 512, "%s", table_get_row_name(t, row));
	for (unsigned i = 0; i < table_get_row(t, row)->n_groups; i++) {
		const struct umask_group *g = pfmi_pmu_get_row_group(t, row, i);

		if (full || g->flags & GROUP_REQUIRED)
			add_group(text, t, g);
	}
	if (full) {
		add_modifiers(text, t);
		add_levels(text);
	}
}

/* ---- round trip ------------------------------------------------------------------------------ */

static bool same_attr(const pfm_encoding_t *a, const pfm_encoding_t *b)
{
	return a->plm == b->plm && a->attr.config == b->attr.config &&
	       a->attr.config1 == b->attr.config1 && a->attr.config2 == b->attr.config2 &&
	       a->attr.exclude_user == b->attr.exclude_user &&
	       a->attr.exclude_kernel == b->attr.exclude_kernel &&
	       a->attr.exclude_idle == b->attr.exclude_idle &&
	       a->attr.exclude_host == b->attr.exclude_host &&
	       a->attr.exclude_guest == b->attr.exclude_guest && a->attr.precise == b->attr.precise;
}

static bool same_regs(const pfm_encoding_t *a, const pfm_encoding_t *b)
{
	bool same = a->n_regs == b->n_regs && a->counters == b->counters;

	for (unsigned i = 0; same && i < a->n_regs; i++)
		same = a->regs[i].num == b->regs[i].num && a->regs[i].kind == b->regs[i].kind &&
		       a->regs[i].value == b->regs[i].value;
	return same;
}

/* The extra register of an encoding, 0 for none. The perf attribute shows it too. */
static uint64_t extra_of(const pfm_encoding_t *e)
{
	for (unsigned i = 0; i < e->n_regs; i++)
		if (e->regs[i].kind == PFM_REG_EXTRA)
			return e->regs[i].addr;
	return 0;
}

/* Returns true for a table written by hand: only lists have events that the kernel cannot
 * distinguish. */
static bool is_by_hand(const struct table *t)
{
	static const char *const names[] = { "coreduo", "coreduo3", "intel_arch", "amd", "armv8" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(table_get_text(t, t->name), names[i]) == 0)
			return true;
	return t->encoder != ENCODER_X86 && t->encoder != ENCODER_FORMAT;
}

/* Returns true if the dialect can express the event. */
static bool must_print(const struct table *t, const pfm_encoding_t *e, const char *text,
                       pfm_dialect_t dialect)
{
	bool no_level = strstr(text, ":u=0") || strstr(text, ":k=0");

	switch (dialect) {
	case PFM_DIALECT_LIBPFM:
	case PFM_DIALECT_VENDOR: return true;
	case PFM_DIALECT_LIBPMC:
		return !no_level &&
		       !strstr(text, "=0"); /* the dialect can set flags, not clear them */
	case PFM_DIALECT_PERF:
		/* The kernel has no filters of transactions for events that must be precise. */
		return e->attr.expressible && table_has_field_bits(t) && !no_level &&
		       !(e->attr.precise && strstr(text, "in_tx"));
	}
	return false;
}

struct tally {
	unsigned texts, refused, printed[4];
};

static void check_round_trip(const pfm_ctx_t *ctx, const struct table *t, const char *text,
                             bool must_encode, struct tally *tally)
{
	pfm_encoding_t before = PFM_INIT(before), after = PFM_INIT(after);
	pfm_error_t error = PFM_INIT(error);
	char printed[PRINTED_TEXT_SIZE];

	if (pfm_encode_event(ctx, text, 0, &before, &error)) {
		if (must_encode)
			fail_msg("%s: %s", text, pfm_error_kind_name(error.kind));
		tally->refused++;
		return;
	}
	tally->texts++;
	for (pfm_dialect_t d = PFM_DIALECT_LIBPFM; d <= PFM_DIALECT_VENDOR; d++) {
		int rc = pfm_print_event(ctx, text, d, printed, sizeof(printed), &error);

		if ((unsigned)d == tally->texts % 4)
			if (rc && must_print(t, &before, text, d))
				fail_msg("%s in dialect %d: %d, %s", text, d, rc,
				         error.detail ? error.detail : "");
		if (rc) {
			assert_int_equal(rc, PFMLIB_ERR_NOTSUPP);
			assert_int_equal(error.kind, PFM_KIND_UNEXPRESSIBLE);
			continue;
		}
		tally->printed[d]++;
		if (pfm_encode_event(ctx, printed, 0, &after, &error))
			fail_msg("%s was printed as %s: %s", text, printed,
			         pfm_error_kind_name(error.kind));
		/* Vendors list events on different counters that the kernel cannot distinguish;
		 * perf's fields mean the first one. */
		if (!same_attr(&before, &after) || extra_of(&before) != extra_of(&after) ||
		    ((d != PFM_DIALECT_PERF || is_by_hand(t)) && !same_regs(&before, &after)))
			fail_msg("%s was printed as %s, which is something else", text, printed);
	}
}

/* Calls @each for each built-in table, with a context for it. */
static void on_each_table(void (*each)(const pfm_ctx_t *ctx, const struct table *t, unsigned i,
                                       struct tally *all),
                          struct tally *all)
{
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		pfm_ctx_t *ctx =
			open_for(table_get_text(table_get_builtin(i), table_get_builtin(i)->name));

		each(ctx, table_get_builtin(i), i, all);
		pfm_close_context(ctx);
	}
}

static void rows_in_every_dialect(const pfm_ctx_t *ctx, const struct table *t, unsigned i,
                                  struct tally *all)
{
	char text[512];

	for (uint32_t row = i % row_step(!is_by_hand(t)); row < t->n_rows;
	     row += row_step(!is_by_hand(t))) {
		if (table_get_row(t, row)->flags & (ROW_SHADOWED | ROW_METRIC))
			continue;
		make_text(text, t, row, false);
		check_round_trip(ctx, t, text, true, all);
		for (unsigned k = 0; k < n_variants(); k++) {
			make_text(text, t, row, true);
			check_round_trip(ctx, t, text, false, all);
		}
	}
}

static void rows_read_back_in_each_dialect(void **state)
{
	struct tally all = { 0 };

	(void)state;
	on_each_table(rows_in_every_dialect, &all);
	print_message("# %u texts, %u refused; printed %u libpfm, %u libpmc, %u perf, %u vendor\n",
	              all.texts, all.refused, all.printed[0], all.printed[1], all.printed[2],
	              all.printed[3]);
	assert_true(all.refused < all.texts);
}

/* Perf's terms count the same event with the same extra register. */
static void check_perf_terms(const pfm_ctx_t *ctx, const char *text, const pfm_encoding_t *before)
{
	pfm_encoding_t after = PFM_INIT(after);
	char printed[PRINTED_TEXT_SIZE];
	int rc = pfm_print_event(ctx, text, PFM_DIALECT_PERF, printed, sizeof(printed), NULL);

	if (rc)
		assert_int_equal(rc, PFMLIB_ERR_NOTSUPP);
	else if (pfm_encode_event(ctx, printed, 0, &after, NULL) || !same_attr(before, &after) ||
	         extra_of(before) != extra_of(&after))
		fail_msg("%s was printed as %s, which is something else", text, printed);
}

/* The full name of a text that encodes reads back. */
static void check_full_name(const pfm_ctx_t *ctx, const char *text, struct tally *tally)
{
	pfm_encoding_t before = PFM_INIT(before), after = PFM_INIT(after);
	char printed[PRINTED_TEXT_SIZE];
	int rc;

	if (pfm_encode_event(ctx, text, 0, &before, NULL)) {
		tally->refused++;
		return;
	}
	rc = pfm_print_event(ctx, text, PFM_DIALECT_LIBPFM, printed, sizeof(printed), NULL);
	if (rc)
		fail_msg("%s: %d", text, rc);
	if (pfm_encode_event(ctx, printed, 0, &after, NULL) || !same_attr(&before, &after) ||
	    !same_regs(&before, &after))
		fail_msg("%s was printed as %s, which is something else", text, printed);
	check_perf_terms(ctx, text, &before);
	tally->texts++;
}

/* Each mask alone, and several masks. */
static void rows_with_each_mask(const pfm_ctx_t *ctx, const struct table *t, unsigned i,
                                struct tally *all)
{
	char text[512];

	(void)i;
	for (uint32_t row = t->n_rows; table_has_row(t, row); row++) {
		for (unsigned k = 0; k < pfmi_pmu_count_row_umasks(t, row); k++) {
			snprintf(text, sizeof(text), "%s:%s", table_get_row_name(t, row),
			         table_get_text(t, pfmi_pmu_get_row_umask(t, row, k, NULL)->name));
			check_full_name(ctx, text, all);
		}
		for (unsigned k = 0; k < n_variants(); k++) {
			make_text(text, t, row, true);
			check_full_name(ctx, text, all);
		}
	}
}

/* Large cores have an event code for each off-core register, small ones a unit mask. The kernel
 * finds the register from these bits, so tables must agree with it, as must events of fields that
 * no row has. */
static uint64_t offcore_of(uint64_t config)
{
	switch (config & 0xffff) {
	case 0x1b7:
	case 0x12a: return 0x1a6;
	case 0x1bb:
	case 0x12b:
	case 0x2b7: return 0x1a7;
	default: return 0;
	}
}

static void rows_with_offcore(const pfm_ctx_t *ctx, const struct table *t, unsigned i,
                              struct tally *all)
{
	char text[512];

	(void)i;
	for (uint32_t row = 0; t->encoder == ENCODER_X86 && table_has_row(t, row); row++) {
		uint64_t msr = pfmi_table_get_row_value(t, row, KEY_MSR, ANY_COUNTER), config;
		pfm_encoding_t e = PFM_INIT(e);

		if (msr != 0x1a6 && msr != 0x1a7)
			continue;
		config = pfmi_table_get_row_value(t, row, KEY_CODE, ANY_COUNTER) |
		         pfmi_table_get_row_value(t, row, KEY_UMASK, ANY_COUNTER) << 8;
		if (msr != offcore_of(config))
			fail_msg("%s::%s", table_get_text(t, t->name), table_get_row_name(t, row));
		snprintf(text, sizeof(text),
		         "%s/event=0x%" PRIx64 ",umask=0x%" PRIx64 ",offcore_rsp=0x5a5a5a/",
		         table_get_text(t, t->name), config & 0xff, config >> 8);
		assert_int_equal(pfm_encode_event(ctx, text, 0, &e, NULL), PFMLIB_SUCCESS);
		assert_int_equal(extra_of(&e), offcore_of(config));
		all->texts++;
	}
}

static void offcore_registers_are_those_of_the_codes(void **state)
{
	struct tally all = { 0 };

	(void)state;
	on_each_table(rows_with_offcore, &all);
	print_message("# %u rows\n", all.texts);
	assert_true(all.texts > 1000);
}

/* @text and @same have equal registers and equal names in libpfm's dialect; @same has no fast path.
 * Returns false if @text, made of @row, is the name of another row. */
static bool same_answers(const pfm_ctx_t *ctx, const char *text, const char *same, uint32_t row,
                         bool names)
{
	pfm_encoding_t a = PFM_INIT(a), b = PFM_INIT(b);
	char name[PRINTED_TEXT_SIZE] = "", other[PRINTED_TEXT_SIZE] = "";
	int rc = pfm_encode_event(ctx, text, 0, &a, NULL);

	if (rc == 0 && a.event != row)
		return false;
	assert_int_equal(pfm_encode_event(ctx, same, 0, &b, NULL), rc);
	assert_int_equal(
		pfm_print_event(ctx, text, PFM_DIALECT_LIBPFM, name, sizeof(name), NULL),
		pfm_print_event(ctx, same, PFM_DIALECT_LIBPFM, other, sizeof(other), NULL));
	assert_memory_equal(&a, &b, sizeof(a));
	if (names && strcmp(name, other) != 0)
		fail_msg("%s is %d %s, and %s is %s", text, rc, name, same, other);
	return rc == 0;
}

/* A mask named once takes a faster path through reading, encoding and printing than a mask named
 * twice. */
static void rows_with_one_mask(const pfm_ctx_t *ctx, const struct table *t, unsigned i,
                               struct tally *all)
{
	const struct field *edge = table_get_key_field(t, KEY_EDGE);
	char text[1024], twice[1280];

	for (uint32_t row = 0; table_has_row(t, row); row++) {
		const struct row *r = table_get_row(t, row);
		const char *name = table_get_text(t, r->name),
			   *pmu = (row + i) % 2 ? table_get_text(t, t->name) : "",
			   *colons = *pmu ? "::" : "";

		for (unsigned k = 0; k < r->n_groups; k++) {
			const struct umask_group *g = table_get_row_group(t, r, k);

			for (unsigned w = 0; w < g->n_named_values; w++) {
				const char *word = table_get_text(
					t, table_named_values(t)[g->first_named_value + w].name);

				snprintf(text, sizeof(text), "%s%s%s:%s", pmu, colons, name, word);
				snprintf(twice, sizeof(twice), "%s:%s", text, word);
				all->texts += same_answers(ctx, text, twice, row, true);
			}
		}
		snprintf(text, sizeof(text), "%s%s%s", pmu, colons, name);
		snprintf(twice, sizeof(twice), "%s:edge=0", text);
		if (r->n_groups && edge && edge->is_modifier && t->encoder == ENCODER_X86 &&
		    !(t->flags & TABLE_COMPAT_VIEW))
			all->printed[0] += same_answers(ctx, text, twice, row, false);
	}
}

static void a_mask_named_once_or_twice(void **state)
{
	struct tally all = { 0 };

	(void)state;
	on_each_table(rows_with_one_mask, &all);
	print_message("# %u texts with masks, %u without\n", all.texts, all.printed[0]);
	assert_true(all.texts > 5500 && all.printed[0] > 700);
}

/* Rows that libpfm4's names are aliases of may be the vendor's, without a mask. */
static void alias_rows_with_each_mask(void **state)
{
	struct tally all = { 0 };

	(void)state;
	on_each_table(rows_with_each_mask, &all);
	print_message("# %u texts, %u refused\n", all.texts, all.refused);
	assert_true(all.refused < all.texts);
}

/* Spells row @row in libpfm's dialect without attributes, character by character. */
static void spell_out(char text[512], const struct table *t, uint32_t row)
{
	char *to = text + snprintf(text, 256, "%s::", table_get_text(t, t->name));

	for (const char *s = table_get_row_name(t, row); *s; s++)
		*to++ = *s == '.' ? ':' : *s >= 'a' && *s <= 'z' ? (char)(*s - 'a' + 'A') : *s;
	*to = '\0';
}

/* Returns true if @text is read as the name of @row. */
static bool leads_to(const struct table *t, const char *text, uint32_t row)
{
	struct spec spec;
	struct name_entry n;

	if (pfmi_spec_parse(text, &spec, NULL) || spec.form != SPEC_NAME ||
	    spec.name.text + spec.name.len != text + strlen(text) ||
	    strncmp(text, table_get_text(t, t->name), spec.pmu_name.len) != 0)
		return false;
	n = table_find_name(t, spec.prefixes[spec.n_prefixes - 1].hash, spec.name.text,
	                    spec.name.len);
	return n.kind < NAME_UNSUPPORTED && n.row == row;
}

/* Printing a row of a built-in table skips the lookup of its name, so each printed bare name must
 * lead back to its row. */
static void every_bare_name_leads_back(void **state)
{
	unsigned bare = 0, refused = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		for (uint32_t row = 0; table_has_row(t, row); row++) {
			char text[512], buf[PRINTED_TEXT_SIZE];
			struct event ev;

			if (table_get_row(t, row)->n_groups ||
			    table_get_row(t, row)->flags & ROW_METRIC)
				continue;
			pfmi_pmu_init_event(&ev, t, row);
			spell_out(text, t, row);
			if (pfmi_format_print_event(&ev, NULL, PFM_DIALECT_LIBPFM,
			                            (struct slice){ 0 }, buf, sizeof(buf), NULL)) {
				if (leads_to(t, text, row))
					fail_msg("%s is not printed", text);
				refused++;
				continue;
			}
			assert_string_equal(buf, text);
			if (!leads_to(t, text, row))
				fail_msg("%s is printed, and means another event", text);
			bare++;
		}
	}
	print_message("# %u names, %u refused\n", bare, refused);
	assert_true(bare > 1000);
}

/* A metric is not an event: encoding one must fail instead of returning zeros. */
static void refuses_to_encode_metrics(void **state)
{
	unsigned metrics = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		pfm_ctx_t *ctx = open_for(table_get_text(t, t->name));
		char text[512];

		for (uint32_t row = 0; row < t->n_rows; row++) {
			pfm_encoding_t e = PFM_INIT(e);
			pfm_error_t error = PFM_INIT(error);

			if (!(table_get_row(t, row)->flags & ROW_METRIC))
				continue;
			metrics++;
			snprintf(text, sizeof(text), "%s::%s", table_get_text(t, t->name),
			         table_get_row_name(t, row));
			assert_int_equal(pfm_encode_event(ctx, text, 0, &e, &error),
			                 PFMLIB_ERR_ALIAS);
			assert_non_null(strstr(error.detail, "pfm stat -M"));
			assert_int_equal(pfm_encode_event_at(ctx, (int)i, row, 0, &e, &error),
			                 PFMLIB_ERR_ALIAS);
		}
		pfm_close_context(ctx);
	}
	print_message("# %u metrics\n", metrics);
	assert_true(metrics > 10);
}

static bool same_event(const struct event *a, const struct event *b)
{
	bool same = a->table == b->table && a->row_index == b->row_index && a->row == b->row &&
	            a->chosen_groups == b->chosen_groups && a->n_user_fields == b->n_user_fields &&
	            a->row_keys == b->row_keys &&
	            memcmp(a->base_config, b->base_config, sizeof(a->base_config)) == 0 &&
	            a->has_counter_values == b->has_counter_values &&
	            a->user_keys == b->user_keys && a->plm == b->plm &&
	            a->has_no_levels == b->has_no_levels && a->precise == b->precise &&
	            a->exclude_flags == b->exclude_flags && a->counter_pin == b->counter_pin &&
	            a->has_raw_umask == b->has_raw_umask;

	for (unsigned i = 0; same && i < a->n_user_fields; i++)
		same = a->user_fields[i].field == b->user_fields[i].field &&
		       a->user_fields[i].value == b->user_fields[i].value;
	for (unsigned i = 0; same && a->row && i < a->row->n_groups; i++)
		same = a->group_values[i] == b->group_values[i];
	return same;
}

/* Writes an event code and a unit mask as perf's terms. */
static void write_perf_terms(char text[256], const char *pmu, const struct spec_codes *n,
                             bool decimal)
{
	size_t at = (size_t)snprintf(
		text, 200, decimal ? "%s/event=%" PRIu64 : "%s/event=0x%" PRIx64, pmu, n->code);

	if (n->n_terms == 2)
		at += (size_t)snprintf(text + at, 40,
		                       decimal ? ",umask=%" PRIu64 : ",umask=0x%" PRIx64, n->umask);
	strcpy(text + at, "/");
}

/* Hexadecimal codes are looked up as numbers; other digits make an event of fields first. Counts
 * codes of both kinds. */
static void same_in_other_digits(const pfm_ctx_t *ctx, const char *pmu, struct spec_codes n,
                                 unsigned tally[2])
{
	char hexadecimal[256], decimal[256];
	struct event quick, slow;
	uint32_t at_once;
	unsigned unit[2];
	int rc;

	write_perf_terms(hexadecimal, pmu, &n, false);
	write_perf_terms(decimal, pmu, &n, true);
	rc = pfmi_lookup_event(ctx, decimal, &unit[0], &slow, NULL);
	if (pfmi_lookup_event(ctx, hexadecimal, &unit[1], &quick, NULL) != rc)
		fail_msg("%s is refused otherwise than %s", hexadecimal, decimal);
	if (rc)
		return;
	if (unit[0] != unit[1] || !same_event(&quick, &slow))
		fail_msg("%s is another event than %s", hexadecimal, decimal);
	tally[pfmi_pmu_find_row_by_codes(slow.table, &n, &at_once)]++;
}

/* The codes of every @step-th row of @t, and neighbouring values. */
static void all_in_other_digits(const pfm_ctx_t *ctx, const struct table *t, uint32_t step,
                                unsigned tally[2])
{
	const struct field *code = table_get_key_field(t, KEY_CODE),
			   *umask = table_get_key_field(t, KEY_UMASK);

	for (uint32_t row = 0; code && row < t->n_rows; row += step) {
		struct event ev;
		uint64_t own[N_CONFIG_WORDS];
		const uint64_t *words;
		struct spec_codes n = { .n_terms = 2 };

		pfmi_pmu_init_event(&ev, t, row);
		words = pfmi_pmu_get_config_words(&ev, own);
		if (!words)
			continue;
		n.code = pfmi_pmu_extract_field(code, words);
		n.umask = umask ? pfmi_pmu_extract_field(umask, words) : 0;
		same_in_other_digits(ctx, table_get_text(t, t->name), n, tally);
		n.umask ^= 1;
		same_in_other_digits(ctx, table_get_text(t, t->name), n, tally);
		n.umask = 0;
		n.code += row % 5;
		n.n_terms = 1;
		same_in_other_digits(ctx, table_get_text(t, t->name), n, tally);
	}
}

static void codes_and_masks_mean_the_same_in_all_digits(void **state)
{
	unsigned tally[2] = { 0 };

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		pfm_ctx_t *ctx =
			open_for(table_get_text(table_get_builtin(i), table_get_builtin(i)->name));

		all_in_other_digits(ctx, table_get_builtin(i), row_step(true), tally);
		pfm_close_context(ctx);
	}
	print_message("# %u codes and masks found at once, %u not\n", tally[1], tally[0]);
	assert_true(tally[1] > 1000 && tally[0] > 1000);
}

static bool is_fixed(const struct table *t, const struct row *r)
{
	uint64_t on = table_get_row_counter_mask(t, r);

	return on >> 32 && !(on & 0xffffffff) && !(r->flags & (ROW_SHADOWED | ROW_METRIC));
}

/* The kernel uses one configuration for an event on a fixed counter and its equivalent on general
 * ones: perf's dialect must distinguish them. */
static void fixed_events_stay_fixed_in_perfs_dialect(void **state)
{
	unsigned seen = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		pfm_ctx_t *ctx =
			t->encoder == ENCODER_X86 ? open_for(table_get_text(t, t->name)) : NULL;

		for (uint32_t row = 0; ctx && row < t->n_rows; row++) {
			pfm_encoding_t before = PFM_INIT(before), after = PFM_INIT(after);
			char text[512], printed[PRINTED_TEXT_SIZE];

			if (!is_fixed(t, table_get_row(t, row)))
				continue;
			snprintf(text, sizeof(text), "%s%s", table_get_row_name(t, row),
			         seen++ % 2 ? ":u" : "");
			assert_int_equal(pfm_encode_event(ctx, text, 0, &before, NULL),
			                 PFMLIB_SUCCESS);
			assert_int_equal(pfm_print_event(ctx, text, PFM_DIALECT_PERF, printed,
			                                 sizeof(printed), NULL),
			                 PFMLIB_SUCCESS);
			if (pfm_encode_event(ctx, printed, 0, &after, NULL) ||
			    !same_attr(&before, &after) || !same_regs(&before, &after))
				fail_msg("%s::%s was printed as %s, which is something else",
				         table_get_text(t, t->name), text, printed);
		}
		if (ctx)
			pfm_close_context(ctx);
	}
	print_message("# %u events of fixed counters\n", seen);
	assert_true(seen > 4);
}

/* ---- expected texts -------------------------------------------------------------------------- */

/* The image of one test in a folder of its own, removed at the end even if the test fails. */
static char folder[32], image[64];

static int remove_image(void **state)
{
	(void)state;
	unlink(image);
	rmdir(folder);
	return 0;
}

/* Under an emulator the tests run on another byte order than the compiler of tables. */
#define BYTE_ORDER_NAME (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "big" : "little")

/* Runs pmuc.py; false if it or a file that it needs is missing. */
static bool make_image(const char *arguments)
{
	const char *pmuc = getenv("PERFMON_PMUC");
	char command[2048];

	strcpy(folder, P_tmpdir "/perfmon-roundtrip-XXXXXX");
	if (!mkdtemp(folder))
		return false;
	snprintf(image, sizeof(image), "%s/it.pmdb", folder);
	snprintf(command, sizeof(command), "python3 '%s' %s '%s' >/dev/null 2>&1", pmuc ? pmuc : "",
	         arguments, image);
	return pmuc && system(command) == 0;
}

static pfm_ctx_t *open_image(const char *pmu)
{
	pfm_ctx_options_t options = PFM_INIT(options);
	pfm_ctx_t *ctx;

	options.flags = PFM_CTX_NO_HOST;
	options.images = image;
	options.pmu = pmu;
	assert_int_equal(pfm_open_context(&ctx, &options, NULL), PFMLIB_SUCCESS);
	return ctx;
}

static void rows_beside_the_one_that_numbers_mean(void **state)
{
	static const struct {
		const char *text, *event;
	} lines[] = {
		{ "numbers/event=0x1,umask=0x1/", "numbers::WITH_A_GROUP" },
		{ "numbers/event=0x2,umask=0x1/", "numbers::SHOWN" },
		{ "numbers/event=0x3,umask=0x1/", "numbers::NEW" },
		{ "numbers/event=0x4,umask=0x1/", "numbers::GENERAL" },
		{ "numbers/event=0x5,umask=0x1/", "numbers::UPRIGHT" },
		{ "numbers/event=0x7,umask=0x1/", "numbers::HIDDEN_ALONE" },
		{ "default_mode/event=0x1,umask=0x1/", "default_mode::USUAL_MODE" },
	};
	const char *tests = getenv("PERFMON_TESTS") ? getenv("PERFMON_TESTS") : "";
	char text[1024];
	unsigned tally[2] = { 0 };
	pfm_ctx_t *ctx;

	(void)state;
	snprintf(text, sizeof(text),
	         "'%s/pmu/numbers.pmu' '%s/pmu/default_mode.pmu' --byteorder %s --image", tests,
	         tests, BYTE_ORDER_NAME);
	if (!make_image(text))
		skip();
	ctx = open_image(NULL);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(pfm_print_event(ctx, lines[i].text, PFM_DIALECT_LIBPFM, text,
		                                 sizeof(text), NULL),
		                 PFMLIB_SUCCESS);
		assert_string_equal(text, lines[i].event);
	}
	/* No row has these values. */
	assert_int_equal(pfm_print_event(ctx, "numbers/event=0x6,umask=0x1/", PFM_DIALECT_LIBPFM,
	                                 text, sizeof(text), NULL),
	                 PFMLIB_ERR_NOTSUPP);
	assert_int_not_equal(pfm_print_event(ctx, "numbers/event=0x1,umask=0x11/",
	                                     PFM_DIALECT_LIBPFM, text, sizeof(text), NULL),
	                     PFMLIB_SUCCESS);
	for (unsigned i = table_count_builtins(); i < (unsigned)pfm_count_pmus(ctx); i++)
		all_in_other_digits(ctx, context_get_pmu_table(ctx, i), 1, tally);
	assert_true(tally[1] > 0);
	pfm_close_context(ctx);
}

struct line {
	const char *pmu, *text, *printed[4];
};

/* tests/pmu/testpmu.pmu has every kind of field and group; it is loaded as an image. */
static void an_invented_processor_from_an_image(void **state)
{
	static const struct line lines[] = {
		{ "testpmu",
		  "L2_LINES_IN:BOTH_CORES:e=1:u",
		  { "testpmu::L2_LINES_IN:BOTH_CORES:u:e=1", "L2_LINES_IN,core=all,edge,usr",
		    "testcpu/event=0x24,umask=0xcc,edge/u", "L2_LINES_IN:core=all:edge:u" } },
		{ "testpmu",
		  "L2_LINES_IN:m:state=e:s",
		  { "testpmu::L2_LINES_IN:m:state=e:s", "L2_LINES_IN,state=mes",
		    "testcpu/event=0x24,umask=0x4e/", "L2_LINES_IN:state=mes" } },
		{ "testpmu",
		  "BUS:TRAFFIC:a:cmask=3:b",
		  { "testpmu::BUS:TRAFFIC:a:b:cmask=3", "BUS:TRAFFIC,free=ab,cmask=3",
		    "testcpu/event=0x60,cmask=3,filter=3/", "BUS:TRAFFIC:free=ab:cmask=3" } },
		/* The row itself has all of these values. */
		{ "testpmu",
		  "LAST_ONE:cmask=255:inv:edge",
		  { "testpmu::LAST_ONE", "LAST_ONE",
		    "testcpu/event=0x1,cmask=255,inv,edge,filter=65535,tag=15/", "LAST_ONE" } },
		{ "testpmu",
		  "LAST_ONE:inv=0",
		  { "testpmu::LAST_ONE:i=0", NULL,
		    "testcpu/event=0x1,cmask=255,edge,filter=65535,tag=15/", "LAST_ONE:inv=0" } },
	};
	char buf[PRINTED_TEXT_SIZE], text[512];
	const struct table *t;
	struct tally tally = { 0 };
	pfm_ctx_t *ctx;

	(void)state;
	snprintf(text, sizeof(text), "'%s/pmu/testpmu.pmu' --byteorder %s --image",
	         getenv("PERFMON_TESTS") ? getenv("PERFMON_TESTS") : "", BYTE_ORDER_NAME);
	if (!make_image(text))
		skip();
	ctx = open_image("testpmu");
	t = context_get_pmu_table(ctx, (unsigned)pfm_find_pmu(ctx, "testpmu"));
	for (uint32_t row = 0; row < t->n_rows; row++)
		for (unsigned k = 0;
		     k < 10 * n_variants() && !(table_get_row(t, row)->flags & ROW_SHADOWED); k++) {
			make_text(text, t, row, k > 0);
			check_round_trip(ctx, t, text, k == 0, &tally);
		}
	print_message("# %u texts, %u refused\n", tally.texts, tally.refused);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		for (pfm_dialect_t d = PFM_DIALECT_LIBPFM; d <= PFM_DIALECT_VENDOR; d++) {
			int rc = pfm_print_event(ctx, lines[i].text, d, buf, sizeof(buf), NULL);

			assert_int_equal(rc,
			                 lines[i].printed[d] ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTSUPP);
			if (!rc)
				assert_string_equal(buf, lines[i].printed[d]);
		}
	pfm_close_context(ctx);
}

/* Round trips of vendors' lists, where they are installed. */
static void imported_lists_survive_the_round_trip(void **state)
{
	struct tally tally = { 0 };
	char data[512], arguments[1200];
	unsigned n, tables = 0;
	pfm_ctx_t *all;

	(void)state;
	shared_path(data, sizeof(data), "data");
	snprintf(arguments, sizeof(arguments),
	         "import --byteorder %s '%s/intel' '%s/linux-6.12' -o", BYTE_ORDER_NAME, data,
	         data);
	if (access(data, R_OK) || !make_image(arguments))
		skip();
	all = open_image(NULL);
	n = (unsigned)pfm_count_pmus(all);
	for (unsigned i = table_count_builtins(); i < n; i++) {
		const struct table *t;
		pfm_ctx_t *ctx;
		char text[512];

		assert_true(context_is_pmu_usable(all, i));
		t = context_get_pmu_table(all, i);
		ctx = open_image(table_get_text(t, t->name));
		for (uint32_t row = 0; row < t->n_rows; row++)
			for (unsigned k = 0;
			     k < (n_variants() > 4 ? 3 : 1) &&
			     !(table_get_row(t, row)->flags & (ROW_SHADOWED | ROW_METRIC));
			     k++) {
				make_text(text, t, row, k > 0);
				check_round_trip(ctx, t, text, false, &tally);
			}
		pfm_close_context(ctx);
		tables++;
	}
	pfm_close_context(all);
	print_message("# %u tables, %u texts, %u refused; printed %u libpfm, %u libpmc, %u perf, "
	              "%u vendor\n",
	              tables, tally.texts, tally.refused, tally.printed[0], tally.printed[1],
	              tally.printed[2], tally.printed[3]);
	assert_true(tally.texts > 1000);
}

/* ---- registers ------------------------------------------------------------------------------- */

/* Has the table modifiers with the same bits, as node and xp of Arm's CCN, two names of the number
 * of a node? Decoding names one of them. */
static bool has_modifiers_with_equal_bits(const struct table *t)
{
	const struct field *f = table_fields(t);

	for (unsigned i = 0; i < t->n_fields; i++)
		for (unsigned k = 0; k < i; k++)
			if (f[i].is_modifier && f[k].is_modifier && f[i].n_ranges &&
			    f[i].n_ranges == f[k].n_ranges &&
			    memcmp(f[i].ranges, f[k].ranges, sizeof(f[i].ranges)) == 0)
				return true;
	return false;
}

/* Do the texts name one event with the same register? */
static bool means_the_same(const pfm_ctx_t *ctx, const struct table *t, const char *a,
                           const char *b)
{
	pfm_encoding_t of_a = PFM_INIT(of_a), of_b = PFM_INIT(of_b);
	char text[2 * PRINTED_TEXT_SIZE];
	size_t n = strcspn(a, ":");

	if (strcspn(b, ":") != n || strncmp(a, b, n) != 0)
		return false;
	snprintf(text, sizeof(text), "%s::%s", table_get_text(t, t->name), a);
	if (pfm_encode_event(ctx, text, 0, &of_a, NULL))
		return false;
	snprintf(text, sizeof(text), "%s::%s", table_get_text(t, t->name), b);
	return !pfm_encode_event(ctx, text, 0, &of_b, NULL) && same_attr(&of_a, &of_b) &&
	       same_regs(&of_a, &of_b);
}

static bool decodes_to(const pfm_ctx_t *ctx, const struct table *t, const char *reg, uint64_t value,
                       const char *text)
{
	int pmu = pfm_find_pmu(ctx, table_get_text(t, t->name));
	bool has_twins = has_modifiers_with_equal_bits(t);
	char buf[PRINTED_TEXT_SIZE];

	for (unsigned i = 0;
	     pfm_decode_event(ctx, pmu, reg, value, i, buf, sizeof(buf)) == PFMLIB_SUCCESS; i++)
		if (strcmp(buf, text) == 0 || (has_twins && means_the_same(ctx, t, buf, text)))
			return true;
	return false;
}

static const char *register_name(const struct table *t, const pfm_reg_t *reg, char buf[32])
{
	if (reg->kind == PFM_REG_CONFIG)
		return "config";
	if (t->encoder == ENCODER_X86)
		snprintf(buf, 32, "PERFEVTSEL%u", reg->num);
	else if (t->encoder == ENCODER_NETBURST)
		snprintf(buf, 32, "CCCR%u", reg->num);
	else
		snprintf(buf, 32, "PMC%u", reg->num);
	return buf;
}

/* Pentium 4 has its event in two registers; the upper half of a decoded value is the second one. */
static uint64_t register_value(const struct table *t, const pfm_encoding_t *e)
{
	return t->encoder == ENCODER_NETBURST ? e->regs[0].value | e->regs[1].value << 32
	                                      : e->regs[0].value;
}

/* Returns true if this register identifies the event. Fixed counters share a register, some events
 * need two, configuration words have no levels, a register without levels means nothing, and replay
 * tags of Pentium 4 are in another register. */
static bool is_decodable(const struct table *t, const pfm_encoding_t *e, const char *text)
{
	bool second = e->n_regs > 1 && e->regs[1].kind != PFM_REG_PMC;

	if (e->n_regs == 0 || second != (t->encoder == ENCODER_NETBURST) || strstr(text, "u=0") ||
	    strstr(text, "k=0"))
		return false;
	if ((t->encoder == ENCODER_X86 && e->attr.config1) ||
	    (t->encoder == ENCODER_NETBURST && e->attr.config & 0x3f))
		return false;
	if (e->regs[0].kind == PFM_REG_CONFIG)
		return t->encoder != ENCODER_X86 && e->plm == (PFM_PLM0 | PFM_PLM3);
	return e->regs[0].kind == PFM_REG_PMC;
}

/* Removes both levels at the end of @text if the register of @e cannot distinguish them from no
 * named levels, which is the usual case. Beside the own levels of MIPS it can. */
static void remove_default_levels(const pfm_ctx_t *ctx, const struct table *t,
                                  const pfm_encoding_t *e, char *text)
{
	pfm_encoding_t bare = PFM_INIT(bare);
	char shorter[2 * PRINTED_TEXT_SIZE];
	size_t n = strlen(text);

	if (!strstr(text, ":k:u"))
		return;
	snprintf(shorter, sizeof(shorter), "%s::%.*s", table_get_text(t, t->name), (int)n - 4,
	         text);
	if (!pfm_encode_event(ctx, shorter, 0, &bare, NULL) &&
	    bare.regs[0].value == e->regs[0].value)
		text[n - 4] = '\0';
}

static bool is_found_from_its_register(const pfm_ctx_t *ctx, const struct table *t,
                                       const char *text)
{
	pfm_encoding_t e = PFM_INIT(e);
	char vendor[PRINTED_TEXT_SIZE], name[32];

	if (pfm_encode_event(ctx, text, 0, &e, NULL) || !is_decodable(t, &e, text))
		return false;
	assert_int_equal(
		pfm_print_event(ctx, text, PFM_DIALECT_VENDOR, vendor, sizeof(vendor), NULL),
		PFMLIB_SUCCESS);
	if (t->encoder != ENCODER_MONTECITO)
		remove_default_levels(ctx, t, &e, vendor);
	if (!decodes_to(ctx, t, register_name(t, &e.regs[0], name), register_value(t, &e), vendor))
		fail_msg("%s::%s is not among what %s=0x%" PRIx64 " decodes to",
		         table_get_text(t, t->name), vendor, register_name(t, &e.regs[0], name),
		         register_value(t, &e));
	return true;
}

/* Returns true if two groups of the row have the same bits, so that decoding cannot tell which one
 * set them. */
static bool groups_overlap(const struct table *t, uint32_t row)
{
	uint64_t owned = 0;

	for (unsigned i = 0; i < table_get_row(t, row)->n_groups; i++) {
		const struct umask_group *g = table_get_row_group(t, table_get_row(t, row), i);

		if (table_fields(t)[g->field].key == KEY_UMASK && owned & g->mask)
			return true;
		owned |= table_fields(t)[g->field].key == KEY_UMASK ? g->mask : 0;
	}
	return false;
}

/* Every event is among the events that its control register decodes to, and with its modifiers
 * where the table has field bits. */
static void every_row_is_found_from_its_register(void **state)
{
	unsigned rows[2] = { 0 }, found[2] = { 0 }, varied = 0;
	char text[512];

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		pfm_ctx_t *ctx = open_for(table_get_text(t, t->name));
		bool listed = !is_by_hand(t);
		uint32_t step = row_step(listed && t->encoder != ENCODER_NETBURST);

		for (uint32_t row = i % step; row < t->n_rows && !(t->flags & TABLE_COMPAT_VIEW);
		     row += step) {
			if (table_get_row(t, row)->flags & (ROW_METRIC | ROW_SHADOWED) ||
			    groups_overlap(t, row))
				continue;
			rows[listed]++;
			make_text(text, t, row, false);
			found[listed] += is_found_from_its_register(ctx, t, text);
			for (unsigned k = 0;
			     k < 3 && table_has_field_bits(t) && t->encoder != ENCODER_PERF; k++) {
				make_text(text, t, row, true);
				varied += is_found_from_its_register(ctx, t, text);
			}
		}
		pfm_close_context(ctx);
	}
	print_message("# %u of %u rows found again, %u of %u of lists, and %u variants\n", found[0],
	              rows[0], found[1], rows[1], varied);
	assert_true(found[0] > rows[0] - 20 && varied > 400);
	/* The others need an extra register, or only a fixed counter counts them. */
	assert_true(found[1] > rows[1] / 7 * 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_read_back_in_each_dialect),
		cmocka_unit_test(alias_rows_with_each_mask),
		cmocka_unit_test(a_mask_named_once_or_twice),
		cmocka_unit_test(every_bare_name_leads_back),
		cmocka_unit_test(fixed_events_stay_fixed_in_perfs_dialect),
		cmocka_unit_test(offcore_registers_are_those_of_the_codes),
		cmocka_unit_test(refuses_to_encode_metrics),
		cmocka_unit_test(codes_and_masks_mean_the_same_in_all_digits),
		cmocka_unit_test_teardown(rows_beside_the_one_that_numbers_mean, remove_image),
		cmocka_unit_test_teardown(an_invented_processor_from_an_image, remove_image),
		cmocka_unit_test_teardown(imported_lists_survive_the_round_trip, remove_image),
		cmocka_unit_test(every_row_is_found_from_its_register),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
