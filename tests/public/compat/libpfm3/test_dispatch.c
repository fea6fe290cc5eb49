/* SPDX-License-Identifier: MIT */
/* Dispatch of sets in the libpfm 3 interface: levels, opcodes and given registers. */
#include "rows.h"
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib_montecito.h>
#include <perfmon/pfmlib.h>

static const int types[] = { PFMLIB_MONTECITO_PMU,  PFMLIB_COREDUO_PMU,   PFMLIB_GEN_IA32_PMU,
	                     PFMLIB_ALPHA_EV4_PMU,  PFMLIB_ALPHA_EV5_PMU, PFMLIB_ALPHA_PCA56_PMU,
	                     PFMLIB_ALPHA_EV6_PMU,  PFMLIB_ALPHA_EV6_PMU, PFMLIB_ALPHA_EV67_PMU,
	                     PFMLIB_AMD64_PMU,      PFMLIB_PENTIUM4_PMU,  PFMLIB_INTEL_CORE_PMU,
	                     PFMLIB_INTEL_ATOM_PMU, PFMLIB_INTEL_NHM_PMU, PFMLIB_INTEL_WSM_PMU };
#define N_TYPES (sizeof(types) / sizeof(types[0]))

static int dispatch_one(const char *event, pfmlib_mont_input_param_t *model,
                        pfmlib_output_param_t *out)
{
	pfmlib_input_param_t in = { 0 };
	pfmlib_mont_output_param_t model_out = { 0 };

	assert_int_equal(pfm_force_pmu(PFMLIB_MONTECITO_PMU), 0);
	in.pfp_event_count = 1;
	in.pfp_dfl_plm = PFM_PLM3;
	assert_int_equal(pfm_find_full_event(event, &in.pfp_events[0]), 0);
	memset(out, 0, sizeof(*out));
	return pfm_dispatch_events(&in, model, out, &model_out);
}

/* A set of levels has four bits, and none of them may be lost on the way. */
static void test_unknown_levels_are_refused(void **state)
{
	static const unsigned wrong[] = { 0x10, 0x18, 0x100, 0x108, ~0u };
	pfmlib_input_param_t in = { .pfp_event_count = 1 };
	pfmlib_output_param_t out = { 0 };

	(void)state;
	for (unsigned t = 0; t < N_TYPES; t++) {
		assert_int_equal(pfm_force_pmu(types[t]), 0);
		in.pfp_events[0] = (pfmlib_event_t){ .event = 0 };
		assert_int_equal(pfm_get_num_event_masks(0, &in.pfp_events[0].num_masks), 0);
		in.pfp_events[0].num_masks = in.pfp_events[0].num_masks > 0; /* the first mask */
		for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
			in.pfp_dfl_plm = wrong[i];
			assert_int_equal(pfm_dispatch_events(&in, NULL, &out, NULL),
			                 PFMLIB_ERR_INVAL);
		}
		in.pfp_dfl_plm = PFM_PLM3;
		for (unsigned i = 2; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
			in.pfp_events[0].plm = wrong[i];
			assert_int_equal(pfm_dispatch_events(&in, NULL, &out, NULL),
			                 PFMLIB_ERR_INVAL);
		}
	}
}

/* 41 bits are an instruction: what is wider would match something else than was asked. */
static void test_wide_opcodes_are_refused(void **state)
{
	static const uint64_t wide = (uint64_t)1 << 41;
	pfmlib_output_param_t out;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		pfmlib_mont_input_param_t model = { 0 };
		pfmlib_mont_opcm_t *o = i & 1 ? &model.pfp_mont_opcm2 : &model.pfp_mont_opcm1;

		o->opcm_used = o->opcm_m = 1;
		o->opcm_match = i & 2 ? wide - 1 : 0;
		o->opcm_mask = i & 2 ? 0 : wide - 1;
		if (i & 4)
			*(i & 2 ? &o->opcm_match : &o->opcm_mask) = wide;
		assert_int_equal(dispatch_one("IA64_INST_RETIRED_THIS", &model, &out),
		                 i & 4 ? PFMLIB_ERR_INVAL : 0);
	}
}

/* Method 2 of libpfm_montecito(3): what is given says what the register captures, and the event
 * only counts. */
static void test_a_given_register_wins(void **state)
{
	pfmlib_mont_input_param_t model = { 0 };
	pfmlib_output_param_t out;
	bool seen = false;

	(void)state;
	model.pfp_mont_dear.ear_used = 1;
	model.pfp_mont_dear.ear_mode = PFMLIB_MONT_EAR_TLB_MODE;
	model.pfp_mont_dear.ear_umask = 5;
	model.pfp_mont_dear.ear_plm = PFM_PLM0;
	assert_int_equal(dispatch_one("DATA_EAR_CACHE_LAT4", &model, &out), 0);
	for (unsigned i = 0; i < out.pfp_pmc_count; i++)
		if (out.pfp_pmcs[i].reg_num == 40) {
			seen = true;
			assert_int_equal(out.pfp_pmcs[i].reg_value & 0xf, PFM_PLM0);
			assert_int_equal(out.pfp_pmcs[i].reg_value >> 7 & 3, 1);
			assert_int_equal(out.pfp_pmcs[i].reg_value >> 16 & 0xf, 5);
		}
	assert_true(seen);
}

/* AMD's large increments: the counter after the event's own has a companion, which counts nothing
 * else. Run it last: the PMU is that of the environment, which libpfm 3 has no number for. */
static void test_large_increments_take_two_counters(void **state)
{
	pfmlib_input_param_t in = { .pfp_event_count = 2, .pfp_dfl_plm = PFM_PLM3 };
	pfmlib_output_param_t out = { 0 };

	(void)state;
	assert_int_equal(setenv("PERFMON_PMU", "amdzen3", 1), 0);
	assert_int_equal(pfm_initialize(), 0);
	assert_int_equal(pfm_find_full_event("fp_ret_sse_avx_ops.all", &in.pfp_events[0]), 0);
	assert_int_equal(pfm_find_full_event("ex_ret_instr", &in.pfp_events[1]), 0);
	assert_int_equal(pfm_dispatch_events(&in, NULL, &out, NULL), 0);
	assert_int_equal(out.pfp_pmc_count, 3);
	assert_int_equal(out.pfp_pmd_count, 2);
	assert_int_equal(out.pfp_pmcs[0].reg_num, 0);
	assert_int_equal(out.pfp_pmcs[1].reg_num, 2);
	assert_int_equal(out.pfp_pmcs[2].reg_num, 1);
	assert_true(out.pfp_pmcs[2].reg_value == 0xf004000ff);
	in.pfp_events[3] = in.pfp_events[1];
	in.pfp_events[1] = in.pfp_events[2] = in.pfp_events[0];
	in.pfp_event_count = 3;
	assert_int_equal(pfm_dispatch_events(&in, NULL, &out, NULL), 0);
	assert_int_equal(out.pfp_pmc_count, 6);
	in.pfp_event_count = 4;
	assert_int_equal(pfm_dispatch_events(&in, NULL, &out, NULL), PFMLIB_ERR_NOASSIGN);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_levels_are_refused),
		cmocka_unit_test(test_wide_opcodes_are_refused),
		cmocka_unit_test(test_a_given_register_wins),
		cmocka_unit_test(test_large_increments_take_two_counters),
	};

	return cmocka_run_group_tests_name("libpfm3_dispatch", tests, NULL, NULL);
}
