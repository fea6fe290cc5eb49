/* SPDX-License-Identifier: MIT */
/* Sets that share extra registers. There are two registers for off-core responses and one for
 * front-end events; each has one value at a time. */
#include "dispatched_set.h"
#include "unit_tables.h"
#include "open_for.h"

static int dispatch(const char *pmu, const char *const *texts, unsigned n,
                    struct dispatched_set *set, pfm_error_t *why)
{
	pfm_ctx_t *ctx = open_for(pmu);
	pfm_dispatch_options_t options = PFM_INIT(options);
	int rc;

	options.plm = PFM_PLM3;
	rc = dispatch_set(ctx, texts, n, &options, set, why);
	pfm_close_context(ctx);
	return rc;
}

/* The value of extra register @msr in @set; 0 if the set does not have it. */
static uint64_t find_value(const struct dispatched_set *set, uint64_t msr)
{
	for (unsigned i = 0; i < set->n_pmcs; i++)
		if (set->pmcs[i].kind == PFM_REG_EXTRA && set->pmcs[i].addr == msr)
			return set->pmcs[i].value;
	return 0;
}

/* A second value uses the other register, which has another event code. A third value is refused.
 */
static void two_offcore_registers(void **state)
{
	static const char *const texts[] = { "OCR.DEMAND_DATA_RD.L3_MISS", "OCR.DEMAND_RFO.L3_MISS",
		                             "OCR.HWPF_L1D_AND_SWPF.L3_MISS" };
	struct dispatched_set set = { 0 };
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	assert_int_equal(dispatch("icx", texts, 2, &set, NULL), PFMLIB_SUCCESS);
	assert_true(find_value(&set, 0x1a6) == 0x3fbfc00001);
	assert_true(find_value(&set, 0x1a7) == 0x3f3fc00002);
	assert_int_equal(set.pmcs[0].value & 0xffff, 0x01b7);
	assert_int_equal(set.pmcs[1].value & 0xffff, 0x01bb);
	assert_int_equal(dispatch("icx", texts, 3, &set, &why), PFMLIB_ERR_NOASSIGN);
	assert_true(has_clash(&why, 7));
}

/* Events with equal values share one register. */
static void equal_values_share_a_register(void **state)
{
	static const char *const texts[] = { "OCR.DEMAND_DATA_RD.L3_MISS",
		                             "OCR.DEMAND_DATA_RD.L3_MISS:k",
		                             "OCR.DEMAND_RFO.L3_MISS" };
	struct dispatched_set set = { 0 };

	(void)state;
	assert_int_equal(dispatch("icx", texts, 3, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.pmcs[1].value & 0xffff, 0x01b7);
	assert_int_equal(set.n_pmcs, 3 + 2 + 1); /* counters, extra registers, GLOBAL_CTRL */
}

/* A figure of PERF_METRICS is read with the slots counter, so its set starts with SLOTS. */
static void top_down_figures(void **state)
{
	static const char *const good[] = { "TOPDOWN.SLOTS", "PERF_METRICS.RETIRING" },
				 *const bad[] = { "PERF_METRICS.RETIRING", "TOPDOWN.SLOTS" };
	struct dispatched_set set = { 0 };
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	assert_int_equal(dispatch("icl", good, 2, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.counter[0], 35);
	assert_int_equal(set.counter[1], -1);
	assert_int_equal(dispatch("icl", bad, 2, &set, &why), PFMLIB_ERR_EVTINCOMP);
}

UNIT(pmu_x86_constrain, cmocka_unit_test(two_offcore_registers),
     cmocka_unit_test(equal_values_share_a_register), cmocka_unit_test(top_down_figures));
