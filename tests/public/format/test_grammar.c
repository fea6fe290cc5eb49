/* SPDX-License-Identifier: MIT */
/* The functions that list registers, modifiers, levels and words agree with the text that the
 * parser accepts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "built_in.h"

/* ---- registers ------------------------------------------------------------------------------- */

static void expect_registers(const char *pmu, const char *wanted)
{
	char all[1024] = "", name[16];
	size_t n = 0;

	for (unsigned i = 0;
	     !pfm_describe_register(ctx, pfm_find_pmu(ctx, pmu), i, name, sizeof(name)); i++)
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", i ? " " : "", name);
	assert_string_equal(all, wanted);
}

static void registers_by_name(void **state)
{
	char little[4];

	(void)state;
	expect_registers("coreduo", "PMC0 PMC1 PERFEVTSEL0 PERFEVTSEL1 config");
	expect_registers("ev5", "PMCTR PCNT5MUX FREQ BC_CTL PMC8 PMC9 PMC10 PMC11");
	expect_registers("armv8", "config config1");
	expect_registers(
		"intel_arch",
		"PMC0 PMC1 PMC2 PMC3 PMC4 PMC5 PMC6 PMC7 PERFEVTSEL0 PERFEVTSEL1 PERFEVTSEL2 "
		"PERFEVTSEL3 "
		"PERFEVTSEL4 "
		"PERFEVTSEL5 PERFEVTSEL6 PERFEVTSEL7 FIXED_CTR_CTRL GLOBAL_CTRL PEBS_LD_LAT "
		"PEBS_FRONTEND OFFCORE_RSP_0 OFFCORE_RSP_1 SNOOP_RSP_0 SNOOP_RSP_1 OMR_0 OMR_1 "
		"OMR_2 OMR_3 config");
	assert_int_equal(
		pfm_describe_register(ctx, pfm_find_pmu(ctx, "coreduo"), 0, little, sizeof(little)),
		PFMLIB_ERR_FULL);
	assert_int_equal(pfm_describe_register(ctx, -1, 0, little, sizeof(little)),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_register(ctx, 0, 0, NULL, 16), PFMLIB_ERR_INVAL);
}

/* Of every processor, each register can be taken apart, and is named once. */
static void registers_are_taken(void **state)
{
	(void)state;
	for (int pmu = 0; pmu < pfm_count_pmus(ctx); pmu++) {
		char name[16], before[128][16];
		const char *field, *text;
		uint64_t value;

		for (unsigned i = 0; !pfm_describe_register(ctx, pmu, i, name, sizeof(name)); i++) {
			assert_true(i < 128);
			assert_int_equal(
				pfm_decode_field(ctx, pmu, name, 0, 0, &field, &value, &text),
				PFMLIB_SUCCESS);
			for (unsigned k = 0; k < i; k++)
				assert_string_not_equal(name, before[k]);
			memcpy(before[i], name, sizeof(name));
		}
	}
}

/* ---- modifiers and levels -------------------------------------------------------------------- */

static int encode_with(const char *event, const char *name, uint64_t value)
{
	pfm_encoding_t e = PFM_INIT(e);
	char text[128];

	snprintf(text, sizeof(text), "%s:%s=%llu", event, name, (unsigned long long)value);
	return pfm_encode_event(ctx, text, 0, &e, NULL);
}

static void modifiers_have_a_range(void **state)
{
	static const char event[] = "intel_arch::LLC_MISSES";
	pfm_modifier_info_t m = PFM_INIT(m);
	unsigned row, n = 0;
	bool cmask = false;
	int pmu;

	(void)state;
	assert_int_equal(pfm_find_event_by_text(ctx, event, &pmu, &row, NULL), PFMLIB_SUCCESS);
	for (; !pfm_describe_modifier(ctx, pmu, row, n, &m); n++) {
		assert_int_equal(encode_with(event, m.name, m.min), PFMLIB_SUCCESS);
		assert_int_equal(encode_with(event, m.name, m.max), PFMLIB_SUCCESS);
		assert_int_not_equal(encode_with(event, m.name, m.max + 1), PFMLIB_SUCCESS);
		assert_true(m.preset >= m.min && m.preset <= m.max);
		cmask |= strcmp(m.name, "cmask") == 0 && m.max == 255;
	}
	assert_true(n >= 3 && cmask);
	assert_int_equal(pfm_describe_modifier(ctx, pmu, row, n, &m), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_modifier(ctx, pmu, 1u << 30, 0, &m), PFMLIB_ERR_INVAL);
}

static void levels_are_taken(void **state)
{
	int pmu = pfm_find_pmu(ctx, "montecito"), usual;
	const char *word;
	unsigned plm, n = 0;

	(void)state;
	for (; !pfm_describe_privilege_level(ctx, pmu, n, &word, &plm, &usual); n++)
		assert_int_equal(usual, plm == PFM_PLM3);
	assert_int_equal(n, 5);
	assert_int_equal(pfm_describe_privilege_level(ctx, pfm_find_pmu(ctx, "coreduo"), 1, &word,
	                                              &plm, &usual),
	                 PFMLIB_SUCCESS);
	assert_string_equal(word, "k");
	assert_int_equal(plm, PFM_PLM0);
	assert_true(usual);
	assert_int_equal(pfm_describe_privilege_level(ctx, -1, 0, &word, &plm, &usual),
	                 PFMLIB_ERR_INVAL);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void words_of_fields(void **state)
{
	int pmu = pfm_find_pmu(ctx, "montecito");
	const char *word;
	uint64_t value;

	(void)state;
	assert_int_equal(pfm_describe_value_name(ctx, pmu, "accepts", 2, &word, &value),
	                 PFMLIB_SUCCESS);
	assert_string_equal(word, "darr");
	assert_int_equal(value, 4);
	assert_int_equal(pfm_describe_value_name(ctx, pmu, "accepts", 3, &word, &value),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_value_name(ctx, pmu, "ear", 0, &word, &value),
	                 PFMLIB_SUCCESS);
	assert_string_equal(word, "none");
	assert_int_equal(value, 0);
	assert_int_equal(pfm_describe_value_name(ctx, pmu, "ear", 5, &word, &value),
	                 PFMLIB_SUCCESS);
	assert_string_equal(word, "alat");
	assert_int_equal(value, 5);
	assert_int_equal(pfm_describe_value_name(ctx, pmu, "nothing", 0, &word, &value),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_value_name(ctx, pmu, "code", 0, &word, &value),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_value_name(ctx, pmu, NULL, 0, &word, &value),
	                 PFMLIB_ERR_INVAL);
}

static void spellings_of_a_unit_mask(void **state)
{
	const char *name;
	unsigned row;
	int pmu;

	(void)state;
	assert_int_equal(pfm_find_event_by_text(ctx, "coreduo::L2_Lines_In", &pmu, &row, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_umask_name(ctx, pmu, row, 1, 0, &name), PFMLIB_SUCCESS);
	assert_string_equal(name, "all");
	assert_int_equal(pfm_describe_umask_name(ctx, pmu, row, 1, 1, &name), PFMLIB_SUCCESS);
	assert_string_equal(name, "BOTH_CORES");
	assert_int_equal(pfm_describe_umask_name(ctx, pmu, row, 1, 2, &name), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_umask_name(ctx, pmu, row, 99, 0, &name), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_umask_name(ctx, pmu, row, 0, 0, NULL), PFMLIB_ERR_INVAL);
}

/* ---- this machine ---------------------------------------------------------------------------- */

static int stand_in_for(const char *cpuid)
{
	pfm_ctx_options_t o = { .size = sizeof(o), .flags = PFM_CTX_NO_IMAGES, .cpuid = cpuid };
	pfm_ctx_t *of;
	int pmu;

	assert_int_equal(pfm_open_context(&of, &o, NULL), PFMLIB_SUCCESS);
	pmu = pfm_find_fallback_pmu(of);
	pfm_close_context(of);
	return pmu;
}

static void unknown_processors_have_a_stand_in(void **state)
{
	(void)state;
	assert_int_equal(stand_in_for("GenuineIntel-6-FE-1"), pfm_find_pmu(ctx, "intel_arch"));
	assert_int_equal(stand_in_for("GenuineIntel-6-E-8"), -1);
	assert_int_equal(pfm_find_fallback_pmu(ctx), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_by_name),
		cmocka_unit_test(registers_are_taken),
		cmocka_unit_test(modifiers_have_a_range),
		cmocka_unit_test(levels_are_taken),
		cmocka_unit_test(words_of_fields),
		cmocka_unit_test(spellings_of_a_unit_mask),
		cmocka_unit_test(unknown_processors_have_a_stand_in),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("questions", tests, open_context, close_context);
}
