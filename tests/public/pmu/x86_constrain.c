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

/* Dispatches the events whose bits are set in @which. */
static int dispatch_some(const char *pmu, const char *const *texts, unsigned which,
                         pfm_error_t *why)
{
	struct dispatched_set set = { 0 };
	const char *some[8];
	unsigned n = 0;

	for (unsigned i = 0; i < 8; i++)
		if (which >> i & 1)
			some[n++] = texts[i];
	return dispatch(pmu, some, n, &set, why);
}

/* An event that has one register only beside events that can use either: the clash that is reported
 * is a smallest one, by trying all smaller sets. */
static void a_clash_is_a_smallest_one(void **state)
{
	static const char *const sets[][5] = {
		{ "skl", "OFFCORE_RESPONSE_0:offcore_rsp=1", "OFFCORE_RESPONSE_0:offcore_rsp=2",
		  "OFFCORE_RESPONSE.OTHER.ANY_RESPONSE",
		  "OFFCORE_RESPONSE.DEMAND_RFO.ANY_RESPONSE" },
		{ "skl", "OFFCORE_RESPONSE.OTHER.ANY_RESPONSE", "OFFCORE_RESPONSE_1:offcore_rsp=1",
		  "OFFCORE_RESPONSE_1:offcore_rsp=2", "OFFCORE_RESPONSE_0:offcore_rsp=4" },
		{ "knl", "OFFCORE_RESPONSE.ANY_PF_L2.DDR_NEAR",
		  "OFFCORE_RESPONSE.ANY_PF_L2.OUTSTANDING", "OFFCORE_RESPONSE.ANY_READ.OUTSTANDING",
		  "OFFCORE_RESPONSE.ANY_RFO.DDR_NEAR" },
	};

	(void)state;
	for (size_t k = 0; k < COUNT(sets); k++)
		for (unsigned which = 3; which < 16; which++) {
			pfm_error_t why = PFM_INIT(why), less = PFM_INIT(less);
			unsigned n_all = (unsigned)__builtin_popcount(which), n_least = n_all;

			if (dispatch_some(sets[k][0], sets[k] + 1, which, &why) !=
			    PFMLIB_ERR_NOASSIGN)
				continue;
			for (unsigned part = 1; part < which; part++)
				if ((part & which) == part &&
				    (unsigned)__builtin_popcount(part) < n_least &&
				    dispatch_some(sets[k][0], sets[k] + 1, part, &less) ==
				            PFMLIB_ERR_NOASSIGN)
					n_least = (unsigned)__builtin_popcount(part);
			if ((unsigned)__builtin_popcountll(get_clash(&why)) != n_least)
				fail_msg("%s, set %x: expected a clash of %u", sets[k][0], which,
				         n_least);
		}
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
     cmocka_unit_test(a_clash_is_a_smallest_one), cmocka_unit_test(equal_values_share_a_register),
     cmocka_unit_test(top_down_figures));
