/* SPDX-License-Identifier: MIT */
/* Montecito's features other than counters: the value of each register, with bits as the manual
 * numbers them, and each refusal. */
#include "montecito_request.h"

static void no_features_clear_the_output(void **state)
{
	struct asked *a = begin(1);

	(void)state;
	a->mp.n_pmcs = a->mp.n_pmds = 3; /* left from an earlier plan */
	a->mp.irange.rr_nbr_used = a->mp.drange.rr_nbr_used = 2;
	a->mp.irange.rr_infos[3].rr_eoff = a->mp.drange.rr_infos[3].rr_eoff = 7;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	expect_registers(a, ":");
	assert_true(a->mp.irange.rr_nbr_used == 0 && a->mp.drange.rr_nbr_used == 0);
	assert_true(a->mp.irange.rr_infos[3].rr_eoff == 0 && a->mp.drange.rr_infos[3].rr_eoff == 0);
	a->w.input = NULL;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	expect_registers(a, ":");
}

/* The EAR of an event uses the request's levels, the EAR of the settings uses its own. */
static void the_ear_of_an_event_has_the_levels_of_the_request(void **state)
{
	struct asked *a = begin(2);

	(void)state;
	a->w.ear_kinds = 1;
	a->mp.events[1].ear = MONT_EAR_ICACHE;
	a->mp.events[1].ear_umask = 0xe1;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	expect_registers(a, "37: 34 35");
	assert_int_equal(pmc(a, 37), 8 | 0xe1 << 5 | 1 << 13);
	a->mp.events[1].ear = MONT_EAR_ITLB;
	a->req.flags = PFMLIB_PFP_SYSTEMWIDE;
	plan(a);
	assert_int_equal(pmc(a, 37), 8 | 1 << 4 | 0x61 << 5); /* seven bits of unit mask, ct is 0 */
	a->w.input = NULL;
	plan(a);
	assert_int_equal(pmc(a, 37), 8 | 1 << 4 | 0x61 << 5);
	a->w.input = &a->in;
	a->in.pfp_mont_iear = (pfmlib_mont_ear_t){
		.ear_used = 1, .ear_mode = PFMLIB_MONT_EAR_CACHE_MODE, .ear_plm = 1, .ear_umask = 3
	};
	plan(a);
	assert_int_equal(pmc(a, 37), 1 | 1 << 4 | 3 << 5 | 1 << 13);
	a->in.pfp_mont_iear.ear_plm = 0;
	plan(a);
	assert_int_equal(pmc(a, 37), 8 | 1 << 4 | 3 << 5 | 1 << 13);
	a->in.pfp_mont_iear.ear_mode = PFMLIB_MONT_EAR_ALAT_MODE;
	refused(a, PFMLIB_ERR_INVAL, -1);
	a->in.pfp_mont_iear.ear_mode = PFMLIB_MONT_EAR_TLB_MODE;
	a->in.pfp_mont_iear.ear_plm = 16;
	refused(a, PFMLIB_ERR_INVAL, -1);
	a->in.pfp_mont_iear.ear_plm = 15;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
}

static void each_kind_of_data_ear_has_its_registers(void **state)
{
	static const struct {
		unsigned ear, mode;
		const char *registers;
	} rows[] = { { MONT_EAR_DCACHE, 0, "40: 32 33 36" },
		     { MONT_EAR_DTLB, 1, "40 39: 32 33 36" },
		     { MONT_EAR_ALAT, 2, "40 39: 32 33 36" } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct asked *a = begin(1);

		a->w.ear_kinds = 1;
		a->mp.events[0].ear = (uint8_t)rows[i].ear;
		a->mp.events[0].ear_umask = 0x15; /* a unit mask has four bits */
		assert_int_equal(plan(a), PFMLIB_SUCCESS);
		expect_registers(a, rows[i].registers);
		assert_int_equal(pmc(a, 40), 8 | rows[i].mode << 7 | 5 << 16 | 2 << 24);
		a = begin(1);
		a->in.pfp_mont_dear =
			(pfmlib_mont_ear_t){ .ear_used = 1,
			                     .ear_mode = (pfmlib_mont_ear_mode_t)rows[i].mode,
			                     .ear_plm = 3,
			                     .ear_umask = 2 };
		a->req.flags = PFMLIB_PFP_SYSTEMWIDE;
		assert_int_equal(plan(a), PFMLIB_SUCCESS);
		expect_registers(a, rows[i].registers);
		assert_int_equal(pmc(a, 40), 3 | 1 << 6 | rows[i].mode << 7 | 2 << 16 | 2 << 24);
		a->in.pfp_mont_dear.ear_mode = (pfmlib_mont_ear_mode_t)3;
		refused(a, PFMLIB_ERR_INVAL, -1);
		a->in.pfp_mont_dear.ear_mode = PFMLIB_MONT_EAR_CACHE_MODE;
		a->in.pfp_mont_dear.ear_plm = 16;
		refused(a, PFMLIB_ERR_INVAL, -1);
	}
}

/* Two events can share an address register only if both need it to capture the same. */
static void ears_of_two_events(void **state)
{
	for (unsigned ear = MONT_EAR_ICACHE; ear <= MONT_EAR_DCACHE; ear += 2) {
		struct asked *a = begin(3);

		(void)state;
		a->w.ear_kinds = 1;
		a->mp.events[0].ear = a->mp.events[2].ear = (uint8_t)ear;
		refused(a, PFMLIB_ERR_EVTINCOMP, 2);
		a->mp.events[2].row = 0;
		assert_int_equal(plan(a), PFMLIB_SUCCESS);
		a->mp.events[2].row = 2;
		a->mp.events[2].ear = ear == MONT_EAR_ICACHE
		                              ? MONT_EAR_DCACHE
		                              : MONT_EAR_ICACHE; /* one event of each register */
		assert_int_equal(plan(a), PFMLIB_SUCCESS);
		expect_registers(a, "37 40: 34 35 32 33 36");
	}
}

static void opcode_matchers_fill_their_registers(void **state)
{
	struct asked *a = begin(1);
	const uint64_t most = (UINT64_C(1) << 41) - 1;

	(void)state;
	a->w.has_opcm1 = a->w.has_opcm2 = true;
	a->in.pfp_mont_opcm1 = (pfmlib_mont_opcm_t){ 1, .opcm_m = 1, .opcm_f = 1,
		                                     .opcm_match = most, .opcm_mask = 1 };
	a->in.pfp_mont_opcm2 = (pfmlib_mont_opcm_t){ 1, .opcm_i = 1, .opcm_b = 1, .opcm_match = 5,
		                                     .opcm_mask = most };
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	expect_registers(a, "32 33 34 35:");
	assert_true(pmc(a, 32) == (UINT64_C(0x0200000000000001) | UINT64_C(1) << 49 |
	                           UINT64_C(1) << 51)); /* ig_ad: no range is set */
	assert_true(pmc(a, 33) == most && pmc(a, 35) == 5);
	assert_true(pmc(a, 34) == (most | UINT64_C(1) << 48 | UINT64_C(1) << 50));
	a->in.pfp_mont_opcm1.opcm_match = most + 1;
	refused(a, PFMLIB_ERR_INVAL, -1);
	a->in.pfp_mont_opcm1.opcm_match = most;
	a->in.pfp_mont_opcm2.opcm_mask = most + 1;
	refused(a, PFMLIB_ERR_INVAL, -1);
	a->w.has_opcm2 = false; /* not requested, so not checked */
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	expect_registers(a, "32 33:");
}

#define TRACE " 38 39 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63"

static void the_trace_buffer_fills_its_registers(void **state)
{
	struct asked *a = begin(2);
	pfmlib_mont_etb_t *e = &a->in.pfp_mont_etb;

	(void)state;
	a->w.has_etb_event = true;
	a->mp.events[1].etb = 1;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	expect_registers(a, "39:" TRACE);
	assert_int_equal(pmc(a, 39), 8 | 0x3f00);
	*e = (pfmlib_mont_etb_t){
		.etb_used = 1, .etb_plm = 5, .etb_tm = 1, .etb_ptm = 2, .etb_ppm = 3, .etb_brt = 2
	};
	a->req.flags = PFMLIB_PFP_SYSTEMWIDE;
	plan(a);
	assert_int_equal(pmc(a, 39), 5 | 1 << 6 | 1 << 8 | 2 << 10 | 3 << 12 | 2 << 14);
	for (unsigned i = 0; i < 4; i++) {
		unsigned char *field = i == 0   ? &e->etb_tm
		                       : i == 1 ? &e->etb_ptm
		                       : i == 2 ? &e->etb_ppm
		                                : &e->etb_brt;

		*field = 4;
		refused(a, PFMLIB_ERR_INVAL, -1);
		assert_non_null(strstr(a->why.detail, "two bits"));
		*field = 3;
	}
	e->etb_ds = 1;
	refused(a, PFMLIB_ERR_INVAL, -1);
	assert_non_null(strstr(a->why.detail, "data selection"));
	e->etb_ds = 0;
	e->etb_plm = 17;
	refused(a, PFMLIB_ERR_INVAL, -1);
	e->etb_plm = 0;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	a->w.ear_kinds = 1; /* the data EAR in TLB mode excludes the trace buffer */
	a->mp.events[0].ear = MONT_EAR_DTLB;
	refused(a, PFMLIB_ERR_EVTINCOMP, -1);
	a->mp.events[0].ear = MONT_EAR_DCACHE;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	a->in.pfp_mont_dear =
		(pfmlib_mont_ear_t){ .ear_used = 1, .ear_mode = PFMLIB_MONT_EAR_TLB_MODE };
	refused(a, PFMLIB_ERR_EVTINCOMP, -1);
}

/* Unit masks of address registers, instruction slots and flags: the widest value that fits, and the
 * first that does not. */
static void values_that_do_not_fit(void **state)
{
	static const struct {
		bool is_code;
		pfmlib_mont_ear_mode_t mode;
		uint64_t last;
	} ears[] = {
		{ true, PFMLIB_MONT_EAR_CACHE_MODE, 0xff },
		{ true, PFMLIB_MONT_EAR_TLB_MODE, 0x7f },
		{ false, PFMLIB_MONT_EAR_CACHE_MODE, 0xf },
	};
	struct asked *a = begin(1);
	unsigned char *slots[] = { &a->in.pfp_mont_opcm1.opcm_m, &a->in.pfp_mont_opcm1.opcm_i,
		                   &a->in.pfp_mont_opcm1.opcm_f, &a->in.pfp_mont_opcm1.opcm_b };

	(void)state;
	for (size_t i = 0; i < COUNT(ears); i++) {
		pfmlib_mont_ear_t *e =
			ears[i].is_code ? &a->in.pfp_mont_iear : &a->in.pfp_mont_dear;

		*e = (pfmlib_mont_ear_t){ .ear_used = 1,
			                  .ear_mode = ears[i].mode,
			                  .ear_umask = ears[i].last };
		assert_int_equal(plan(a), PFMLIB_SUCCESS);
		e->ear_umask++;
		refused(a, PFMLIB_ERR_INVAL, -1);
		e->ear_used = 0;
	}
	a->w.has_opcm1 = true;
	for (size_t i = 0; i < COUNT(slots); i++) {
		*slots[i] = 1;
		assert_int_equal(plan(a), PFMLIB_SUCCESS);
		*slots[i] = 2;
		refused(a, PFMLIB_ERR_INVAL, -1);
		*slots[i] = 0;
	}
	a->w.has_opcm1 = false;
	a->in.pfp_mont_flags = 1;
	refused(a, PFMLIB_ERR_INVAL, -1);
	a->in.pfp_mont_flags = 0;
	a->mp.events[0].flags = 16;
	refused(a, PFMLIB_ERR_INVAL, 0);
}

static void the_ip_ear_fills_its_registers(void **state)
{
	struct asked *a = begin(1);

	(void)state;
	a->in.pfp_mont_ipear =
		(pfmlib_mont_ipear_t){ .ipear_used = 1, .ipear_plm = 2, .ipear_delay = 0xc4 };
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	expect_registers(a, "42:" TRACE);
	assert_int_equal(pmc(a, 42), 2 | 4 << 8 | 0xc4 << 11);
	a->req.flags = PFMLIB_PFP_SYSTEMWIDE;
	plan(a);
	assert_int_equal(pmc(a, 42), 2 | 1 << 6 | 4 << 8 | 0xc4 << 11);
	a->in.pfp_mont_ipear.ipear_delay = 255;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	a->in.pfp_mont_ipear.ipear_delay = 256;
	refused(a, PFMLIB_ERR_INVAL, -1);
	assert_non_null(strstr(a->why.detail, "0 to 255"));
	a->in.pfp_mont_ipear.ipear_delay = 0;
	a->in.pfp_mont_ipear.ipear_plm = 16;
	refused(a, PFMLIB_ERR_INVAL, -1);
	a->in.pfp_mont_ipear.ipear_plm = 0;
	a->in.pfp_mont_etb.etb_used = 1;
	refused(a, PFMLIB_ERR_FEATCOMB, -1);
	a->in.pfp_mont_etb.etb_used = 0;
	a->w.has_etb_event = true;
	a->mp.events[0].etb = 1;
	refused(a, PFMLIB_ERR_FEATCOMB, -1);
}

static void counters_of_events(void **state)
{
	struct asked *a = begin(2);
	struct mont_event_traits *tr = &a->mp.events[1];

	(void)state;
	tr->max_increment = 4;
	tr->threshold = 3;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	tr->threshold = 4;
	refused(a, PFMLIB_ERR_INVAL, 1);
	tr->threshold = 0;
	tr->max_increment = 0;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	tr->flags = PFMLIB_MONT_FL_EVT_ACTIVE_ONLY;
	tr->type = PFMLIB_MONT_EVT_FLOATING;
	refused(a, PFMLIB_ERR_NOTSUPP, 1);
	tr->type = PFMLIB_MONT_EVT_ACTIVE;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
	tr->flags = PFMLIB_MONT_FL_EVT_ALWAYS;
	refused(a, PFMLIB_ERR_NOTSUPP, 1);
	tr->type = PFMLIB_MONT_EVT_CAUSAL;
	assert_int_equal(plan(a), PFMLIB_SUCCESS);
}

/* An unavailable register causes a refusal exactly if the request needs it. */
static void refuses_requests_for_unavailable_registers(void **state)
{
	static const unsigned needed[] = { 32, 33, 34, 35, 37, 38, 40, 41, 42 };

	(void)state;
	for (unsigned num = 32; num <= 42; num++) {
		struct asked *a = begin(1);
		bool is_needed = false;

		for (size_t i = 0; i < COUNT(needed); i++)
			is_needed |= needed[i] == num;
		a->w.has_opcm1 = a->w.has_opcm2 = a->w.has_irange = true;
		a->in.pfp_mont_irange.rr_used = 1;
		a->in.pfp_mont_irange.rr_limits[0] =
			(pfmlib_mont_input_rr_desc_t){ 8, 0x1000, 0x2000 };
		a->in.pfp_mont_iear.ear_used = a->in.pfp_mont_dear.ear_used =
			a->in.pfp_mont_ipear.ipear_used = 1;
		assert_int_equal(plan(a), PFMLIB_SUCCESS);
		expect_registers(a, "37 40 38 41 32 33 34 35 42: 34 35 32 33 36" TRACE);
		assert_int_equal(pfm_regmask_set(&a->unavailable, num), PFMLIB_SUCCESS);
		assert_int_equal(plan(a), is_needed ? PFMLIB_ERR_NOASSIGN : PFMLIB_SUCCESS);
	}
}

UNIT(pmu_montecito_feature, cmocka_unit_test(no_features_clear_the_output),
     cmocka_unit_test(the_ear_of_an_event_has_the_levels_of_the_request),
     cmocka_unit_test(each_kind_of_data_ear_has_its_registers),
     cmocka_unit_test(ears_of_two_events), cmocka_unit_test(opcode_matchers_fill_their_registers),
     cmocka_unit_test(the_trace_buffer_fills_its_registers),
     cmocka_unit_test(the_ip_ear_fills_its_registers), cmocka_unit_test(values_that_do_not_fit),
     cmocka_unit_test(counters_of_events),
     cmocka_unit_test(refuses_requests_for_unavailable_registers));
