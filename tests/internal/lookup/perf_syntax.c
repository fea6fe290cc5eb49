/* SPDX-License-Identifier: MIT */
/* perf's texts without names: every event as a raw number and as terms, names between slashes,
 * and texts that are not numbers. */
#include "expect.h"
#include "unit_tables.h"
#include <inttypes.h>
#include <perfmon/types.h>
#include "lookup/lookup_internal.h"
#include "open_for.h"

static int encode(const pfm_ctx_t *ctx, const char *text, pfm_encoding_t *out, pfm_error_t *error)
{
	*out = (pfm_encoding_t)PFM_INIT(*out);
	*error = (pfm_error_t)PFM_INIT(*error);
	return pfm_encode_event(ctx, text, PFM_PLM3, out, error);
}

/* The raw number @word encodes to that word, whichever event has it. */
static void expect_raw(const pfm_ctx_t *ctx, uint64_t word, const char *form)
{
	char text[64];
	pfm_encoding_t e;
	pfm_error_t error;

	snprintf(text, sizeof(text), form, word);
	if (encode(ctx, text, &e, &error))
		fail_msg("%s: kind %d", text, error.kind);
	if (e.attr.config != word)
		fail_msg("%s: config is %" PRIx64, text, e.attr.config);
}

/* Every core event that consists of a code and a unit mask only. */
static void every_word_is_a_raw_number(void **state)
{
	const char *const names[] = { "skl", "amdzen4", "coreduo", "neoverse_n1" };
	unsigned n = 0;

	(void)state;
	for (unsigned k = 0; k < COUNT(names); k++) {
		const struct table *t = table_called(names[k]);
		pfm_ctx_t *ctx = open_for(names[k]);

		for (uint32_t row = 0; row < t->n_rows; row++) {
			struct event ev;
			uint64_t config[N_CONFIG_WORDS];

			pfmi_pmu_init_event(&ev, t, row);
			pfmi_pmu_build_config_words(&ev, ANY_COUNTER, config);
			if (!is_event(t, row) || config[0] > 0xffff)
				continue;
			expect_raw(ctx, config[0], "r%" PRIx64);
			expect_raw(ctx, config[0], "r%" PRIX64);
			expect_raw(ctx, config[0], "r%016" PRIx64 ":u");
			n++;
		}
		pfm_close_context(ctx);
	}
	assert_true(n > 300);
}

static void texts_that_are_not_raw_numbers(void **state)
{
	static const struct {
		const char *text;
		bool raw;
	} cases[] = {
		{ "r", false },     { "r3c", true },
		{ "r3C:u", true },  { "r3g", false },
		{ "3c", false },    { "R3c", false },
		{ "rr3c", false },  { "r0000000000000003c", false },
		{ "r0x3c", false }, { "r3c.u", false },
		{ "r3c,os", true }, { "r000000000000003c", true },
	};
	pfm_ctx_t *ctx = open_for("skl");

	(void)state;
	for (unsigned i = 0; i < COUNT(cases); i++) {
		struct spec spec;
		unsigned unit = 0;
		uint64_t raw = 0;

		assert_int_equal(pfmi_spec_parse(cases[i].text, &spec, NULL), PFMLIB_SUCCESS);
		if (pfmi_lookup_raw_number(ctx, &spec, &unit, &raw) != cases[i].raw)
			fail_msg("%s", cases[i].text);
		if (!cases[i].raw)
			continue;
		assert_int_equal(raw, 0x3c);
		assert_int_equal(spec.form, SPEC_RAW);
		assert_ptr_equal(context_get_pmu_table(ctx, unit), table_called("skl"));
	}
	pfm_close_context(ctx);
}

/* A raw number needs a core: one that is named and known, or the machine's. */
static void raw_numbers_without_a_pmu(void **state)
{
	static const struct {
		const char *text;
		int rc;
	} cases[] = { { "r3c", PFMLIB_ERR_NOTFOUND },
		      { "nobody::r3c", PFMLIB_ERR_NOPMU },
		      { "skl::r3c", PFMLIB_SUCCESS } };
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	for (unsigned i = 0; i < COUNT(cases); i++) {
		pfm_encoding_t e;
		pfm_error_t error;

		EXPECT_ROW_NUMBER(cases[i].text, encode(ctx, cases[i].text, &e, &error),
		                  cases[i].rc);
	}
	pfm_close_context(ctx);
}

/* The device of a part of the chosen processor, by numbers and by a name. */
static void devices_of_parts(void **state)
{
	static const char *const texts[] = { "uncore_cha/event=0x35,umask=0x3/",
		                             "uncore_cha/UNC_CHA_CLOCKTICKS/",
		                             "skx_uncore_cha/event=0x35,umask=3/" };
	pfm_ctx_t *ctx = open_for("skx");

	(void)state;
	for (unsigned i = 0; i < COUNT(texts); i++) {
		pfm_encoding_t e;
		pfm_error_t error;

		EXPECT_ROW_NUMBER(texts[i], encode(ctx, texts[i], &e, &error), PFMLIB_SUCCESS);
		EXPECT_ROW_NUMBER(texts[i], e.pmu, pfm_find_pmu(ctx, "skx_uncore_cha"));
		EXPECT_ROW_NUMBER(texts[i], e.attr.config, i == 1 ? 0 : 0x335);
	}
	pfm_close_context(ctx);
}

/* The extra register @field is kept on the event with @word as its code and unit mask, as the first
 * term and after another term. */
static void extra_stays(const pfm_ctx_t *ctx, const char *field, uint64_t word)
{
	static const char *const forms[] = { "cpu/%s=0x13,cmask=2,%s/", "cpu/cmask=2,%s=0x13,%s/" };
	char numbers[48];

	snprintf(numbers, sizeof(numbers), "event=0x%" PRIx64 ",umask=0x%" PRIx64, word & 0xff,
	         word >> 8);
	for (unsigned i = 0; i < COUNT(forms); i++) {
		pfm_encoding_t e;
		pfm_error_t error;
		char text[96];

		snprintf(text, sizeof(text), forms[i], field, numbers);
		if (encode(ctx, text, &e, &error) || e.attr.config != (word | 2 << 24) ||
		    e.attr.config1 != 0x13)
			fail_msg("%s: %" PRIx64 " %" PRIx64, text, e.attr.config, e.attr.config1);
	}
}

/* On every event that is its code and unit mask, and no more: what was named is what is written,
 * whichever row that is. */
static void extra_registers_that_are_named(void **state)
{
	static const char *const fields[] = { "ldlat", "offcore_rsp", "frontend" };
	const struct table *t = table_called("skl");
	pfm_ctx_t *ctx = open_for("skl");
	unsigned n = 0;

	(void)state;
	for (uint32_t row = 0; row < t->n_rows; row++) {
		struct event ev;
		uint64_t config[N_CONFIG_WORDS];

		pfmi_pmu_init_event(&ev, t, row);
		pfmi_pmu_build_config_words(&ev, ANY_COUNTER, config);
		for (unsigned k = 0; k < COUNT(fields) && is_event(t, row) && config[0] <= 0xffff &&
		                     config[0] & 0xff;
		     k++, n++)
			extra_stays(ctx, fields[k], config[0]);
	}
	assert_true(n > 500);
	pfm_close_context(ctx);
}

/* "PMU/.../" of a processor's own name or its device's: the row as a word and, of one with a code
 * and a unit mask, in numbers. */
static void rows_between_slashes(void **state)
{
	static const char *const pmus[] = { "skl", "cpu" };
	const struct table *t = table_called("skl");
	pfm_ctx_t *ctx = open_for("skl");
	unsigned n = 0, adopted = 0;

	(void)state;
	for (uint32_t row = 0; row < t->n_rows; row++) {
		pfm_encoding_t named, e;
		pfm_error_t error;
		char text[256];

		if (!is_event(t, row) || table_get_row(t, row)->n_groups)
			continue;
		for (unsigned k = 0; k < 2; k++) {
			snprintf(text, sizeof(text), "%s/%s/", pmus[k], table_get_row_name(t, row));
			if (encode(ctx, text, &named, &error) || named.event != row)
				fail_msg("%s", text);
		}
		n++;
		if (named.attr.config > 0xffff || named.attr.config1)
			continue;
		snprintf(text, sizeof(text), "cpu/event=0x%" PRIx64 ",umask=0x%" PRIx64 "/",
		         named.attr.config & 0xff, named.attr.config >> 8);
		assert_int_equal(encode(ctx, text, &e, &error), PFMLIB_SUCCESS);
		assert_int_equal(e.attr.config, named.attr.config);
		/* Terms in another order lead to the same row, whose counters are known. */
		snprintf(text, sizeof(text), "cpu/umask=0x%" PRIx64 ",event=0x%" PRIx64 "/u",
		         named.attr.config >> 8, named.attr.config & 0xff);
		assert_int_equal(encode(ctx, text, &e, &error), PFMLIB_SUCCESS);
		assert_int_equal(e.attr.config, named.attr.config);
		adopted += e.event != ROW_NONE && e.counters == named.counters;
	}
	assert_true(n > 200 && adopted > 100);
	pfm_close_context(ctx);
}

static void errors_between_slashes(void **state)
{
	static const struct {
		const char *text;
		int rc;
		pfm_error_kind_t kind;
		unsigned start, end;
	} cases[] = {
		{ "cpu//", PFMLIB_ERR_ATTR_EMPTY, PFM_KIND_EMPTY_QUALIFIER, 4, 4 },
		{ "cpu/=3/", PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, 4, 6 },
		{ "cpu/", PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, 3, 4 },
		{ "nobody/event=1/", PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, 0, 6 },
		{ "cpu/event=1,nothing=2/", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 12, 19 },
		{ "cpu/event=0x100/", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 10, 15 },
	};
	pfm_ctx_t *ctx = open_for("skl");

	(void)state;
	for (unsigned i = 0; i < COUNT(cases); i++) {
		pfm_encoding_t e;
		pfm_error_t error;
		int rc = encode(ctx, cases[i].text, &e, &error);

		if (rc != cases[i].rc || error.kind != cases[i].kind ||
		    error.start != cases[i].start || error.end != cases[i].end)
			fail_msg("%s: %d, kind %d, %u to %u", cases[i].text, rc, error.kind,
			         error.start, error.end);
	}
	pfm_close_context(ctx);
}

/* Terms that are levels or modifiers alone select no event. */
static void terms_without_an_event(void **state)
{
	static const char *const texts[] = { "skl/u/", "skl/k/", "cpu/u/", "skl/u,k/" };
	pfm_ctx_t *ctx = open_for("skl");

	(void)state;
	for (unsigned i = 0; i < COUNT(texts); i++) {
		pfm_encoding_t e;
		pfm_error_t error;

		if (encode(ctx, texts[i], &e, &error) != PFMLIB_ERR_SYNTAX)
			fail_msg("%s: kind %d, config %" PRIx64, texts[i], error.kind,
			         e.attr.config);
	}
	pfm_close_context(ctx);
}

UNIT(lookup_perf_syntax, cmocka_unit_test(every_word_is_a_raw_number),
     cmocka_unit_test(texts_that_are_not_raw_numbers), cmocka_unit_test(raw_numbers_without_a_pmu),
     cmocka_unit_test(devices_of_parts), cmocka_unit_test(extra_registers_that_are_named),
     cmocka_unit_test(rows_between_slashes), cmocka_unit_test(errors_between_slashes),
     cmocka_unit_test(terms_without_an_event));
