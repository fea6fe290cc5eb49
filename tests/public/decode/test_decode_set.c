/* SPDX-License-Identifier: MIT */
/* pfm_decode_set() reads the registers that pfm_dispatch_set() writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <perfmon/perfmon.h>
#include "dispatched_set.h"
#include "built_in.h"

static pfm_decoded_event_t found[64];

static int decode(int pmu, const pfm_reg_t *regs, unsigned n)
{
	for (unsigned i = 0; i < 64; i++)
		found[i] = (pfm_decoded_event_t)PFM_INIT(found[i]);
	return pfm_decode_set(ctx, pmu, regs, n, found, 64);
}

static void dispatch(struct dispatched_set *set, const char *const *texts, unsigned n)
{
	*set = (struct dispatched_set){ 0 };
	assert_int_equal(dispatch_set(ctx, texts, n, NULL, set, NULL), PFMLIB_SUCCESS);
}

/* Decodes a set; each event must be found once, on its counter, and encode to the same register. */
static void expect_round_trip(const char *const *texts, unsigned n)
{
	pfm_encoding_t before = PFM_INIT(before), after = PFM_INIT(after);
	struct dispatched_set set;

	dispatch(&set, texts, n);
	assert_int_equal(decode(set.pmu, set.pmcs, set.n_pmcs), n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(found[i].n_candidates, 1);
		assert_int_equal(found[i].counter, set.counter[i]);
		assert_int_equal(pfm_encode_event(ctx, texts[i], 0, &before, NULL), PFMLIB_SUCCESS);
		assert_int_equal(pfm_encode_event(ctx, found[i].text, 0, &after, NULL),
		                 PFMLIB_SUCCESS);
		if (before.n_regs != after.n_regs || before.attr.config != after.attr.config ||
		    before.attr.config1 != after.attr.config1)
			fail_msg("%s: decoded as %s", texts[i], found[i].text);
	}
}

static void sets_are_read_back(void **state)
{
	const char *const skl[] = { "skl::INST_RETIRED.ANY", "skl::MEM_LOAD_RETIRED.L3_MISS:u",
		                    "skl::OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_MISS.ANY_SNOOP" };
	const char *const zen[] = { "amdzen4::ls_not_halted_cyc" };
	const char *const montecito[] = { "montecito::CPU_OP_CYCLES_ALL" };
	pfm_encoding_t e = PFM_INIT(e);

	(void)state;
	expect_round_trip(skl, pfm_encode_event(ctx, skl[2], 0, &e, NULL) ? 2 : 3);
	if (!pfm_encode_event(ctx, zen[0], 0, &e, NULL))
		expect_round_trip(zen, 1);
	expect_round_trip(montecito, 1);
}

/* Without the extra register many events have the same control register. */
static void an_extra_register_decides(void **state)
{
	const char *const text[] = { "icx::OCR.DEMAND_DATA_RD.L3_MISS" };
	struct dispatched_set set;
	int n;

	(void)state;
	dispatch(&set, text, 1);
	assert_int_equal(set.n_pmcs, 3);
	assert_int_equal(decode(set.pmu, set.pmcs, set.n_pmcs), 1);
	assert_string_equal(found[0].text, "icx::OCR:DEMAND_DATA_RD:L3_MISS");
	n = decode(set.pmu, set.pmcs, 1);
	assert_true(n > 1);
	for (int i = 0; i < n; i++) {
		assert_int_equal(found[i].n_candidates, n);
		assert_int_equal(found[i].candidate, i);
		assert_int_equal(found[i].enabled, -1);
	}
}

/* Montecito's IA64_INST_RETIRED and its tagged forms have one code: all are candidates. */
static void events_with_one_code_are_all_named(void **state)
{
	const char *const text[] = { "montecito::IA64_INST_RETIRED" };
	bool is_named = false;
	struct dispatched_set set;
	int n;

	(void)state;
	dispatch(&set, text, 1);
	n = decode(set.pmu, set.pmcs, set.n_pmcs);
	assert_true(n > 1 && found[0].n_candidates == (unsigned)n);
	for (int i = 0; i < n; i++)
		is_named |= strcmp(found[i].text, text[0]) == 0;
	assert_true(is_named);
}

/* GLOBAL_CTRL comes last in a set: bit n for counter n, 32 + n for fixed counter n (Intel's manual,
 * volume 4, MSR 38FH). */
static void global_ctrl_enables_counters(void **state)
{
	const char *const texts[] = { "skl::INST_RETIRED.ANY", "skl::MEM_LOAD_RETIRED.L3_MISS" };
	const pfm_reg_t *global;
	struct dispatched_set set;

	(void)state;
	dispatch(&set, texts, 2);
	global = &set.pmcs[set.n_pmcs - 1];
	assert_int_equal(global->kind, PFM_REG_GLOBAL_CTRL);
	assert_string_equal(global->name, "GLOBAL_CTRL");
	assert_int_equal(global->addr, 0x38f);
	assert_true(global->value == ((uint64_t)1 << 32 | 1));
	set.pmcs[set.n_pmcs - 1].value = 1;
	assert_int_equal(decode(set.pmu, set.pmcs, set.n_pmcs), 2);
	assert_int_equal(found[0].enabled, 0);
	assert_int_equal(found[1].enabled, 1);
}

/* Each register of a set has a name that pfm_decode_field() takes. */
static void names_are_taken(void **state)
{
	const char *const texts[] = { "icx::INST_RETIRED.ANY", "icx::OCR.DEMAND_DATA_RD.L3_MISS" };
	const char *name, *text;
	uint64_t field;
	struct dispatched_set set;

	(void)state;
	dispatch(&set, texts, 2);
	for (unsigned i = 0; i < set.n_pmcs; i++)
		if (pfm_decode_field(ctx, set.pmu, set.pmcs[i].name, set.pmcs[i].value, 0, &name,
		                     &field, &text))
			fail_msg("no register %s", set.pmcs[i].name);
}

static void decoding_refuses_wrong_arguments(void **state)
{
	pfm_reg_t reg = { .kind = PFM_REG_PMC, .value = 0x5300c0 };
	int pmu = pfm_find_pmu(ctx, "skl");

	(void)state;
	assert_int_equal(pfm_decode_set(ctx, pmu, NULL, 1, NULL, 0), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_set(ctx, -1, &reg, 1, NULL, 0), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_set(ctx, pmu, &reg, 1, NULL, 1), PFMLIB_ERR_INVAL);
	assert_true(pfm_decode_set(ctx, pmu, &reg, 1, NULL, 0) > 0);
	reg.value = 0xffff;
	assert_int_equal(decode(pmu, &reg, 1), 1);
	assert_int_equal(found[0].n_candidates, 0);
	assert_string_equal(found[0].text, "");
}

/* The size of the first entry applies to all entries; the others may be 0. */
static void one_size_is_enough(void **state)
{
	const char *const texts[] = { "skl::INST_RETIRED.ANY", "skl::MEM_LOAD_RETIRED.L3_MISS" };
	pfm_decoded_event_t out[2] = { { .size = sizeof(out[0]) } };
	struct dispatched_set set;

	(void)state;
	dispatch(&set, texts, 2);
	assert_int_equal(pfm_decode_set(ctx, set.pmu, set.pmcs, set.n_pmcs, out, 2), 2);
	assert_string_equal(out[1].text, "skl::MEM_LOAD_RETIRED:L3_MISS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_read_back),
		cmocka_unit_test(an_extra_register_decides),
		cmocka_unit_test(events_with_one_code_are_all_named),
		cmocka_unit_test(global_ctrl_enables_counters),
		cmocka_unit_test(names_are_taken),
		cmocka_unit_test(decoding_refuses_wrong_arguments),
		cmocka_unit_test(one_size_is_enough),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("decode set", tests, open_context, close_context);
}
