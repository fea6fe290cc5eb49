/* SPDX-License-Identifier: MIT */
/* Questions about Montecito's events: that the answers about each event agree with each other, and
 * every refusal. */
#include "unit_tables.h"
#include <perfmon/pfmlib_montecito.h>
#include "pmu/montecito.h"

static const struct table *find_montecito_table(void)
{
	return table_with(ENCODER_MONTECITO, NULL);
}

static unsigned row_of(const char *name)
{
	const struct table *t = find_montecito_table();

	for (uint32_t i = 0; i < t->n_rows; i++)
		if (strcmp(table_get_row_name(t, i), name) == 0)
			return i;
	fail_msg("no event %s", name);
	return 0;
}

/* An event is of one register at most, and its mode is that kind's. */
static void an_event_is_of_one_address_register_at_most(void **state)
{
	const struct table *t = find_montecito_table();
	unsigned kinds[3] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		int cache = pfm_mont_is_iear_cache(i) + pfm_mont_is_dear_cache(i),
		    tlb = pfm_mont_is_iear_tlb(i) + pfm_mont_is_dear_tlb(i);
		int alat = pfm_mont_is_dear_alat(i);
		pfmlib_mont_ear_mode_t mode = 77, same = 77;
		int rc = pfm_mont_get_ear_mode(i, &mode);

		assert_int_equal(cache + tlb + alat, pfm_mont_is_ear(i));
		assert_int_equal(pfm_mont_is_iear(i),
		                 pfm_mont_is_iear_cache(i) + pfm_mont_is_iear_tlb(i));
		assert_int_equal(pfm_mont_is_dear(i),
		                 pfm_mont_is_dear_cache(i) + pfm_mont_is_dear_tlb(i) + alat);
		assert_int_equal(rc, pfm_mont_is_ear(i) ? PFMLIB_SUCCESS : PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_mont_get_event_ear_mode(i, &same), rc);
		assert_int_equal(mode, same);
		if (rc)
			continue;
		assert_int_equal(mode, cache ? PFMLIB_MONT_EAR_CACHE_MODE
		                       : tlb ? PFMLIB_MONT_EAR_TLB_MODE
		                             : PFMLIB_MONT_EAR_ALAT_MODE);
		kinds[mode]++;
	}
	assert_true(kinds[0] && kinds[1] && kinds[2]);
}

/* One event of each kind, as its name says. */
static void kinds_by_name(void **state)
{
	const unsigned dear = row_of("DATA_EAR_CACHE_LAT4"), alat = row_of("DATA_EAR_ALAT"),
		       plain = row_of("CPU_OP_CYCLES_ALL");
	unsigned max = 0;
	int n;

	(void)state;
	assert_true(pfm_mont_is_dear_cache(dear) && !pfm_mont_is_dear_tlb(dear) &&
	            !pfm_mont_is_iear(dear));
	assert_true(pfm_mont_is_dear_alat(alat) && !pfm_mont_is_dear_cache(alat));
	assert_true(pfm_mont_is_dear_tlb(row_of("DATA_EAR_TLB_ALL")) &&
	            pfm_mont_is_iear_tlb(row_of("L1I_EAR_TLB_ALL")));
	assert_true(pfm_mont_is_iear_cache(row_of("L1I_EAR_CACHE_LAT0")));
	assert_true(pfm_mont_is_etb(row_of("ETB_EVENT")) && !pfm_mont_is_ear(row_of("ETB_EVENT")) &&
	            !pfm_mont_is_etb(dear));
	assert_false(pfm_mont_is_ear(plain));
	assert_true(pfm_mont_get_event_maxincr(plain, &max) == PFMLIB_SUCCESS && max == 1);
	assert_true(pfm_mont_get_event_group(plain, &n) == PFMLIB_SUCCESS &&
	            n == PFMLIB_MONT_EVT_NO_GRP);
	assert_true(pfm_mont_get_event_set(plain, &n) == PFMLIB_SUCCESS &&
	            n == PFMLIB_MONT_EVT_NO_SET);
}

/* Sets have numbers of their own in each group, and no event without a group has one. */
static void groups_and_sets(void **state)
{
	const struct table *t = find_montecito_table();
	unsigned seen[2] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		int group, grp, set;

		assert_int_equal(pfm_mont_get_event_group(i, &group), PFMLIB_SUCCESS);
		assert_int_equal(pfm_mont_get_event_grp(i, &grp), PFMLIB_SUCCESS);
		assert_int_equal(pfm_mont_get_event_set(i, &set), PFMLIB_SUCCESS);
		assert_int_equal(group, grp);
		assert_int_equal(set == PFMLIB_MONT_EVT_NO_SET, group == PFMLIB_MONT_EVT_NO_GRP);
		if (group == PFMLIB_MONT_EVT_NO_GRP)
			continue;
		assert_in_range(set, 0, group == PFMLIB_MONT_EVT_L1D_CACHE_GRP ? 6 : 8);
		seen[group == PFMLIB_MONT_EVT_L2D_CACHE_GRP] |= 1u << (set & 31);
	}
	assert_true((seen[0] & 1) && seen[0] >> 6 && (seen[1] & 1) && seen[1] >> 8);
}

static void beyond_the_table(void **state)
{
	static int (*const questions[])(unsigned int) = {
		pfm_mont_is_ear,        pfm_mont_is_dear,       pfm_mont_is_dear_tlb,
		pfm_mont_is_dear_cache, pfm_mont_is_dear_alat,  pfm_mont_is_iear,
		pfm_mont_is_iear_tlb,   pfm_mont_is_iear_cache, pfm_mont_support_opcm,
		pfm_mont_support_iarr,  pfm_mont_support_darr,  pfm_mont_is_etb,
		pfm_mont_support_all,
	};
	const unsigned end = find_montecito_table()->n_rows;
	pfmlib_mont_ear_mode_t mode;
	unsigned long umask;
	unsigned max;
	int n;

	(void)state;
	for (size_t i = 0; i < COUNT(questions); i++)
		assert_int_equal(questions[i](end), 0);
	assert_int_equal(pfm_mont_get_event_maxincr(end, &max), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_get_event_umask(end, &umask), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_get_event_group(end, &n), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_get_event_set(end, &n), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_get_event_type(end, &n), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_get_ear_mode(end, &mode), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_mont_get_event_type(end - 1, &n), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < end; i += end - 1) {
		assert_int_equal(pfm_mont_get_event_maxincr(i, NULL), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_mont_get_event_umask(i, NULL), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_mont_get_event_group(i, NULL), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_mont_get_event_set(i, NULL), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_mont_get_event_type(i, NULL), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_mont_get_ear_mode(i, NULL), PFMLIB_ERR_INVAL);
	}
}

/* The range register says it, among those that were filled in. */
static void the_range_register_says_whether_a_range_is_fine(void **state)
{
	static pfmlib_output_param_t out;
	static pfmlib_mont_output_param_t mont;

	(void)state;
	mont.pfp_mont_irange.rr_nbr_used = 2;
	out.pfp_pmcs[0].reg_num = 37;
	out.pfp_pmcs[0].reg_value = 1 << 13;
	out.pfp_pmcs[1].reg_num = 38;
	out.pfp_pmcs[1].reg_value = 1 << 13;
	out.pfp_pmc_count = 1; /* the second one is left over from before */
	assert_int_equal(pfm_mont_irange_is_fine(&out, &mont), 0);
	out.pfp_pmc_count = 2;
	assert_int_equal(pfm_mont_irange_is_fine(&out, &mont), 1);
	out.pfp_pmcs[1].reg_value = ~UINT64_C(0x2000);
	assert_int_equal(pfm_mont_irange_is_fine(&out, &mont), 0);
	out.pfp_pmcs[1].reg_value = 1 << 13;
	mont.pfp_mont_irange.rr_nbr_used = 0;
	assert_int_equal(pfm_mont_irange_is_fine(&out, &mont), 0);
	mont.pfp_mont_irange.rr_nbr_used = 2;
	out.pfp_pmc_count = PFMLIB_MAX_PMCS; /* of no dispatch */
	assert_int_equal(pfm_mont_irange_is_fine(&out, &mont), 0);
	out.pfp_pmc_count = PFMLIB_MAX_PMCS - 1;
	assert_int_equal(pfm_mont_irange_is_fine(&out, &mont), 1);
	assert_int_equal(pfm_mont_irange_is_fine(NULL, &mont), 0);
	assert_int_equal(pfm_mont_irange_is_fine(&out, NULL), 0);
}

UNIT(compat_montecito_query, cmocka_unit_test(an_event_is_of_one_address_register_at_most),
     cmocka_unit_test(kinds_by_name), cmocka_unit_test(groups_and_sets),
     cmocka_unit_test(beyond_the_table),
     cmocka_unit_test(the_range_register_says_whether_a_range_is_fine));
