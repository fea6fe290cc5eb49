/* SPDX-License-Identifier: MIT */
/* Visits that a handle holds, with readings that are known. */
#include "made_regions.h"

static void suspended_time_is_not_counted(void **state)
{
	struct made_regions m;
	pfm_region_visit_t *v;
	pfm_region_results_t *r;
	pfm_region_count_t c;

	(void)state;
	make_regions(&m);
	add_reading(&m, 0, 0, 10, 0);
	add_reading(&m, 100, 100, 30, 1);
	add_reading(&m, 500, 500, 100, 7);
	add_reading(&m, 600, 600, 105, 9);
	v = pfm_enter_region(pfm_find_region("handle: segments"));
	assert_non_null(v);
	assert_int_equal(m.thread.handles, 1);
	pfm_suspend_region(v);
	assert_int_equal(m.thread.handles, 0);
	pfm_suspend_region(v); /* it is */
	pfm_resume_region(v);
	pfm_resume_region(v);
	pfm_leave_region(v);
	assert_int_equal(m.thread.handles, 0);
	r = pfm_read_regions();
	c = made_count(r, made_row(r, "handle: segments", "", 7), 0);
	assert_true(c.inclusive == 20 + 5 && c.exclusive == 25 && c.visits == 1 &&
	            c.quality == PFM_QUALITY_EXACT);
	assert_int_equal(made_count(r, 0, 1).inclusive, 1 + 2);
	assert_int_equal(made_info(r, 0).task, 200);
	pfm_close_region_results(r);
	unmake_regions(&m);
}

/* One that goes to another thread on its own has a time and no counts. */
static void moved_segment_has_time_only(void **state)
{
	struct made_regions m;
	pfm_region_visit_t *v;
	pfm_region_results_t *r;

	(void)state;
	make_regions(&m);
	add_reading(&m, 0, 0, 10, 0);
	add_reading(&m, 100, 100, 30, 1);
	v = pfm_enter_region(pfm_find_region("handle: moved"));
	assert_non_null(v);
	m.thread.tid = 8;
	pfm_leave_region(v);
	r = pfm_read_regions();
	assert_int_equal(made_info(r, 0).visits, 1);
	assert_int_equal(made_count(r, 0, 0).visits, 0);
	assert_int_equal(made_count(r, 0, 0).quality, PFM_QUALITY_NOT_COUNTED);
	pfm_close_region_results(r);
	unmake_regions(&m);
}

/* Two at a time, in any order, whose handles are used again. */
static void handles_overlap_and_are_reused(void **state)
{
	struct made_regions m;
	pfm_region_visit_t *a, *b, *c;
	pfm_region_results_t *r;

	(void)state;
	make_regions(&m);
	for (unsigned i = 0; i < 4; i++)
		add_reading(&m, 100 * i, 100 * i, (const uint64_t[]){ 0, 2, 5, 9 }[i], 0);
	a = pfm_enter_region(pfm_find_region("handle: a"));
	b = pfm_enter_region(pfm_find_region("handle: b"));
	assert_true(a && b && a != b);
	pfm_leave_region(a);
	pfm_leave_region(b);
	r = pfm_read_regions();
	assert_int_equal(made_count(r, made_row(r, "handle: a", "", 7), 0).inclusive, 5);
	assert_int_equal(made_count(r, made_row(r, "handle: b", "", 7), 0).inclusive, 7);
	pfm_close_region_results(r);
	c = pfm_enter_region(pfm_find_region("handle: c"));
	assert_true(c == a || c == b);
	pfm_leave_region(c);
	unmake_regions(&m);
}

static void missing_handles_are_ignored(void **state)
{
	struct made_regions m;

	(void)state;
	make_regions(&m);
	assert_null(pfm_enter_region(NULL));
	perfmon_regions_active = 0;
	assert_null(pfm_enter_region(pfm_find_region("handle: off")));
	pfm_suspend_region(NULL);
	pfm_resume_region(NULL);
	pfm_leave_region(NULL);
	unmake_regions(&m);
}

UNIT(region_handle, cmocka_unit_test(suspended_time_is_not_counted),
     cmocka_unit_test(moved_segment_has_time_only),
     cmocka_unit_test(handles_overlap_and_are_reused),
     cmocka_unit_test(missing_handles_are_ignored));
