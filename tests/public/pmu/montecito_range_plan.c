/* SPDX-License-Identifier: MIT */
/* Montecito's code and data ranges: the value of each register and each refusal. */
#include "montecito_request.h"

/* One block, fine mode, both pairs of prefetch events. */
static void code_ranges_take_blocks_or_fine_mode(void **state)
{
	struct asked *a = begin(1);
	pfmlib_mont_input_rr_t *in = &a->in.pfp_mont_irange;

	(void)state;
	a->w.has_irange = true;
	in->rr_used = 1;
	in->rr_flags = PFMLIB_MONT_RR_NO_FINE_MODE;
	in->rr_limits[0] = (pfmlib_mont_input_rr_desc_t){ 8, 0x1000, 0x2000 };
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	expect_registers(a, "38 41 32:");
	assert_int_equal(pmc(a, 38), 0xdb6 & ~2);
	assert_true(pmc(a, 32) == UINT64_C(0x000f01ffffffffff)); /* ig_ad and inv are clear */
	assert_true(a->mp.irange.rr_nbr_used == 2 && a->mp.irange.rr_br[0].reg_num == 0);
	in->rr_flags |= PFMLIB_MONT_RR_INV;
	plan(a);
	assert_true(pmc(a, 32) == UINT64_C(0x010f01ffffffffff));
	in->rr_flags = 0;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	assert_int_equal(pmc(a, 38),
	                 (0xdb6 & ~2 & ~0x80) | 1 << 13); /* pairs 0 and 2: lower and upper limit */
	a->mp.events[0].code = CODE_L1I_PREFETCHES;       /* event of pair 1 */
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	assert_int_equal(pmc(a, 38), (0xdb6 & ~0x10 & ~0x400) | 1 << 13);
	a->mp.events[0].code = CODE_L1I_FILLS;
	refused(a, PFMLIB_ERR_IRRFLAGS, 0);
	in->rr_flags = PFMLIB_MONT_IRR_DEMAND_FETCH | PFMLIB_MONT_IRR_PREFETCH_MATCH |
	               PFMLIB_MONT_RR_NO_FINE_MODE;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	assert_int_equal(pmc(a, 38), 0xdb6 & ~2 & ~0x10);
	in->rr_flags &= ~(unsigned)PFMLIB_MONT_IRR_DEMAND_FETCH;
	plan(a);
	assert_int_equal(pmc(a, 38), 0xdb6 & ~0x10);
	a->req.model_out = NULL;
	refused(a, PFMLIB_ERR_INVAL, -1);
}

static void refuses_impossible_code_ranges(void **state)
{
	struct asked *a = begin(2);
	pfmlib_mont_input_rr_t *in = &a->in.pfp_mont_irange;

	(void)state;
	a->w.has_irange = true;
	in->rr_used = 1;
	refused(a, PFMLIB_ERR_IRRINVAL, -1); /* no range given */
	in->rr_limits[0] = (pfmlib_mont_input_rr_desc_t){ 8, 0x1008, 0x2000 };
	refused(a, PFMLIB_ERR_IRRALIGN, -1);
	assert_non_null(strstr(a->why.detail, "16-byte"));
	in->rr_limits[0] = (pfmlib_mont_input_rr_desc_t){ 8, 0x2000, 0x1000 };
	refused(a, PFMLIB_ERR_IRRINVAL, -1);
	assert_null(strstr(a->why.detail, "16-byte"));
	for (unsigned i = 0; i < 3; i++)
		in->rr_limits[i] =
			(pfmlib_mont_input_rr_desc_t){ 8, 0x1000 + 0x100 * i, 0x1010 + 0x100 * i };
	refused(a, PFMLIB_ERR_IRRTOOMANY, -1); /* fine mode has two ranges */
	in->rr_limits[2] = (pfmlib_mont_input_rr_desc_t){ 0 };
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	a->mp.events[1].code = CODE_L2I_PREFETCHES; /* prefetch events have one range */
	refused(a, PFMLIB_ERR_IRRTOOMANY, -1);
	a->mp.events[1].code = 0;
	in->rr_flags = PFMLIB_MONT_RR_NO_FINE_MODE;
	refused(a, PFMLIB_ERR_IRRTOOMANY,
	        -1); /* only retired instructions can use several ranges */
	in->rr_limits[1] = (pfmlib_mont_input_rr_desc_t){ 0 };
	a->mp.events[1].code = CODE_L2I_PREFETCHES; /* pair 1, while the other event uses pair 0 */
	refused(a, PFMLIB_ERR_FEATCOMB, -1);
	a->mp.events[0].code = CODE_CYCLES;
	a->mp.events[0].umask = UMASK_CYCLES_QUAL;
	in->rr_flags = 0;
	refused(a, PFMLIB_ERR_FEATCOMB, -1);
	a->mp.events[0].umask = 0;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	a->mp.events[0].code = CODE_RETIRED; /* an event tagged by pair 2, and an event of pair 0 */
	a->mp.events[0].umask = 2;
	a->mp.events[1].code = 0;
	in->rr_flags = PFMLIB_MONT_RR_NO_FINE_MODE;
	refused(a, PFMLIB_ERR_FEATCOMB, -1);
	a->mp.events[0].umask = 0;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	in->rr_limits[0] = (pfmlib_mont_input_rr_desc_t){ 8, 0, UINT64_C(1) << 57 };
	refused(a, PFMLIB_ERR_IRRTOOBIG, -1);
	in->rr_limits[0] = (pfmlib_mont_input_rr_desc_t){ 8, (UINT64_C(1) << 57) - 16,
		                                          (UINT64_C(1) << 57) + 16 };
	refused(a, PFMLIB_ERR_IRRINVAL, -1);
}

/* Events of retired instructions tagged by pairs 0, 1, ... without a gap allow as many blocks as
 * there are such events. */
static void ranges_of_retired_instructions(void **state)
{
	for (unsigned tagged = 0; tagged < 16; tagged++)
		for (unsigned blocks = 1; blocks <= 4; blocks++) {
			struct asked *a = begin((unsigned)__builtin_popcount(tagged) + !tagged);
			unsigned n = 0, leading = (unsigned)__builtin_ctz(~tagged);
			int rc;

			(void)state;
			for (unsigned k = 0; k < 4; k++)
				if (tagged >> k & 1)
					a->mp.events[n++].umask = (uint8_t)k;
			for (unsigned i = 0; i < n; i++)
				a->mp.events[i].code = CODE_RETIRED;
			if (!tagged) /* any other pair is another one's */
				continue;
			a->w.has_irange = true;
			a->in.pfp_mont_irange.rr_used = 1;
			a->in.pfp_mont_irange.rr_flags = PFMLIB_MONT_RR_NO_FINE_MODE;
			for (unsigned i = 0; i < blocks; i++)
				a->in.pfp_mont_irange.rr_limits[i] =
					(pfmlib_mont_input_rr_desc_t){ 8, 0x100000 + 0x30000 * i,
					                               0x110000 + 0x30000 * i };
			rc = plan(a);
			if (blocks > leading && rc == PFMLIB_ERR_IRRINVAL) {
				char pair[8];

				snprintf(pair, sizeof(pair), "IBRP%u", blocks - 1);
				assert_non_null(strstr(
					a->why.detail,
					pair)); /* the refusal names the pair without an event */
			} else if (rc == PFMLIB_SUCCESS) {
				assert_true(a->mp.irange.rr_nbr_used <= 2 * leading &&
				            a->mp.irange.rr_nbr_used);
				for (unsigned i = 0; i < a->mp.irange.rr_nbr_used; i++)
					assert_int_equal(a->mp.irange.rr_br[i].reg_num, i);
			} else {
				assert_int_equal(rc, PFMLIB_ERR_IRRTOOMANY);
			}
			assert_true(blocks > leading || rc == PFMLIB_SUCCESS);
		}
}

/* Filters of each channel of PMC41: none, data, opcode, code, with the codes of the manual. */
static void channels_of_pmc41(void **state)
{
	struct asked *a = begin(1);
	const uint64_t base = UINT64_C(0x2078fefefefe);

	(void)state;
	a->w.has_drange = true;
	a->in.pfp_mont_drange.rr_used = 1;
	a->in.pfp_mont_drange.rr_limits[0] = (pfmlib_mont_input_rr_desc_t){ 8, 0x1000, 0x2000 };
	a->in.pfp_mont_drange.rr_limits[1] = (pfmlib_mont_input_rr_desc_t){ 8, 0x101000, 0x102000 };
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	expect_registers(a, "41:");
	assert_int_equal(a->mp.drange.rr_nbr_used, 4);
	/* Channels 0 and 1 are enabled and filter by data (2); the others are disabled (3). */
	assert_true(pmc(a, 41) == ((base & ~(UINT64_C(15) << 45) & ~UINT64_C(0x18181818)) |
	                           2u << 3 | 2u << 11 | 3u << 19 | 3u << 27 | UINT64_C(3) << 45));
	a->w.has_opcm2 = true; /* channels 1 and 3 filter by data and opcode: 0 */
	plan(a);
	expect_registers(a, "41 34 35:");
	assert_true((pmc(a, 41) & 0x18181818) == (2u << 3 | 0u << 11 | 3u << 19 | 3u << 27));
	a->w.has_opcm2 = false;
	a->w.has_opcm1 = true;
	plan(a);
	assert_true((pmc(a, 41) & 0x18181818) == (0u << 3 | 2u << 11 | 3u << 19 | 3u << 27));
	a->w.has_opcm1 = false;
	a->w.has_irange = true;
	a->in.pfp_mont_irange.rr_used =
		1; /* fine mode: pair 0 has the lower limit, pair 2 the upper one */
	a->in.pfp_mont_irange.rr_limits[0] = (pfmlib_mont_input_rr_desc_t){ 8, 0x1000, 0x2000 };
	plan(a);
	expect_registers(a, "38 41 32:");
	assert_true((pmc(a, 41) & 0x18181818) == (0u << 3 | 2u << 11 | 3u << 19 | 3u << 27));
	assert_true((pmc(a, 41) >> 45 & 15) == 3);
	a->w.has_drange = false; /* code alone: 1 */
	plan(a);
	assert_true((pmc(a, 41) & 0x18181818) == (1u << 3 | 3u << 11 | 3u << 19 | 3u << 27));
	assert_true((pmc(a, 41) >> 45 & 15) == 1);
}

static void refuses_impossible_data_ranges(void **state)
{
	struct asked *a = begin(1);
	pfmlib_mont_input_rr_t *in = &a->in.pfp_mont_drange;

	(void)state;
	a->w.has_drange = true;
	in->rr_used = 1;
	refused(a, PFMLIB_ERR_DRRINVAL, -1);
	for (unsigned i = 0; i < 4; i++) /* each range needs two pairs */
		in->rr_limits[i] = (pfmlib_mont_input_rr_desc_t){ 1u << i % 4, 0xfff + 0x100000 * i,
			                                          0x1003 + 0x100000 * i };
	in->rr_limits[0] = (pfmlib_mont_input_rr_desc_t){ 8, 0, ~UINT64_C(0) };
	refused(a, PFMLIB_ERR_DRRTOOMANY, -1);
	in->rr_limits[0] = (pfmlib_mont_input_rr_desc_t){ 16, 0x1000, 0x1001 };
	in->rr_limits[1] = (pfmlib_mont_input_rr_desc_t){ 0 };
	refused(a, PFMLIB_ERR_INVAL, -1); /* level mask 16 does not exist */
	in->rr_limits[0].rr_plm = 0;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	a->req.model_out = NULL;
	refused(a, PFMLIB_ERR_INVAL, -1);
}

UNIT(pmu_montecito_range_plan, cmocka_unit_test(code_ranges_take_blocks_or_fine_mode),
     cmocka_unit_test(refuses_impossible_code_ranges),
     cmocka_unit_test(ranges_of_retired_instructions), cmocka_unit_test(channels_of_pmc41),
     cmocka_unit_test(refuses_impossible_data_ranges));
