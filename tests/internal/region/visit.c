/* SPDX-License-Identifier: MIT */
/* Begin and end, with readings that are known. */
#include "made_regions.h"

static void nested_visits_are_inside_their_parent(void **state)
{
	pfm_region_t *outer = pfm_find_region("visit: outer"),
		     *inner = pfm_find_region("visit: inner");
	struct made_regions m;
	pfm_region_results_t *r;
	pfm_region_count_t c;
	unsigned row;

	(void)state;
	make_regions(&m);
	add_reading(&m, 100, 100, 10, 1);
	add_reading(&m, 150, 150, 30, 2);
	add_reading(&m, 250, 250, 70, 5);
	add_reading(&m, 300, 300, 100, 9);
	pfm_begin_region(outer);
	assert_int_equal(m.thread.depth, 1);
	pfm_begin_region(inner);
	assert_int_equal(m.thread.depth, 2);
	pfm_end_region(inner);
	pfm_end_region(outer);
	assert_int_equal(m.thread.depth, 0);
	r = pfm_read_regions();
	row = made_row(r, "visit: outer", "", 7);
	c = made_count(r, row, 0);
	assert_true(c.inclusive == 90 && c.exclusive == 50 && c.min == 90 && c.max == 90 &&
	            c.quality == PFM_QUALITY_EXACT);
	c = made_count(r, row, 1);
	assert_true(c.inclusive == 8 && c.exclusive == 5);
	assert_int_equal(made_info(r, row).task, 200);
	row = made_row(r, "visit: inner", "visit: outer", 7);
	c = made_count(r, row, 0);
	assert_true(c.inclusive == 40 && c.exclusive == 40);
	assert_int_equal(made_info(r, row).task, 100);
	assert_true(made_info(r, row).wall <=
	            made_info(r, made_row(r, "visit: outer", "", 7)).wall);
	pfm_close_region_results(r);
	unmake_regions(&m);
}

/* A begins, B begins, A ends, B ends: until A ends, B is inside A. */
static void a_visit_is_inside_the_one_that_ends_later(void **state)
{
	pfm_region_t *a = pfm_find_region("visit: a"), *b = pfm_find_region("visit: b");
	struct made_regions m;
	pfm_region_results_t *r;

	(void)state;
	make_regions(&m);
	for (unsigned i = 0; i < 4; i++)
		add_reading(&m, 100 * i, 100 * i, (const uint64_t[]){ 0, 2, 5, 9 }[i], 0);
	pfm_begin_region(a);
	pfm_begin_region(b);
	pfm_end_region(a);
	pfm_end_region(b);
	r = pfm_read_regions();
	assert_int_equal(made_count(r, made_row(r, "visit: a", "", 7), 0).inclusive, 5);
	assert_int_equal(made_count(r, made_row(r, "visit: a", "", 7), 0).exclusive, 2);
	assert_int_equal(made_count(r, made_row(r, "visit: b", "visit: a", 7), 0).inclusive, 7);
	pfm_close_region_results(r);
	unmake_regions(&m);
}

static void unmatched_ends_are_counted(void **state)
{
	pfm_region_t *open = pfm_find_region("visit: open");
	struct made_regions m;
	pfm_region_results_t *r;

	(void)state;
	make_regions(&m);
	pfm_end_region(pfm_find_region("visit: never begun"));
	assert_int_equal(m.thread.unmatched, 1);
	assert_string_equal(pfmi_region_get_name(m.thread.unmatched_region), "visit: never begun");
	pfm_begin_region(NULL);
	pfm_end_region(NULL);
	pfm_begin_region(open);
	r = pfm_read_regions();
	assert_int_equal(made_info(r, made_row(r, "visit: open", "", 0)).unfinished, 1);
	assert_int_equal(made_info(r, made_row(r, "visit: open", "", 0)).visits, 0);
	pfm_close_region_results(r);
	pfmi_regions.run++; /* as a stop and another start do: the visit is dropped */
	perfmon_regions_active++;
	pfm_begin_region(open);
	assert_int_equal(m.thread.depth, 1);
	pfm_end_region(open);
	unmake_regions(&m);
}

/* In a signal handler that interrupts another call nothing is counted. */
static void calls_in_signal_handlers_are_missed(void **state)
{
	struct made_regions m;
	struct thread *t;

	(void)state;
	make_regions(&m);
	assert_true(pfmi_region_enter_call(&t));
	assert_ptr_equal(t, &m.thread);
	pfm_begin_region(pfm_find_region("visit: handler"));
	assert_true(m.thread.missed == 1 && m.thread.depth == 0);
	pfmi_region_leave_call();
	perfmon_regions_active = 0;
	assert_false(pfmi_region_enter_call(&t));
	assert_int_equal(m.thread.missed, 1);
	unmake_regions(&m);
}

static void reset_clears_ended_visits(void **state)
{
	pfm_region_t *region = pfm_find_region("visit: reset");
	struct made_regions m;
	pfm_region_results_t *r;

	(void)state;
	make_regions(&m);
	for (unsigned i = 0; i < 4; i++)
		add_reading(&m, 100 * i, 100 * i, 10 * i * i, 0);
	pfm_begin_region(region);
	pfm_end_region(region);
	pfm_reset_region(region);
	pfm_begin_region(region);
	pfm_end_region(region);
	r = pfm_read_regions();
	assert_int_equal(made_info(r, 0).visits, 1);
	assert_int_equal(made_count(r, 0, 0).inclusive, 90 - 40);
	pfm_close_region_results(r);
	unmake_regions(&m);
}

static void deep_stack_grows(void **state)
{
	char name[32];
	struct made_regions m;

	(void)state;
	make_regions(&m);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "visit: deep %u", i);
		pfm_begin_region(pfm_find_region(name));
	}
	assert_int_equal(m.thread.depth, 100);
	for (unsigned i = 100; i-- > 0;) {
		snprintf(name, sizeof(name), "visit: deep %u", i);
		pfm_end_region(pfm_find_region(name));
	}
	assert_true(m.thread.depth == 0 && m.thread.unmatched == 0 && m.thread.missed == 0);
	unmake_regions(&m);
}

UNIT(region_visit, cmocka_unit_test(nested_visits_are_inside_their_parent),
     cmocka_unit_test(a_visit_is_inside_the_one_that_ends_later),
     cmocka_unit_test(unmatched_ends_are_counted),
     cmocka_unit_test(calls_in_signal_handlers_are_missed),
     cmocka_unit_test(reset_clears_ended_visits), cmocka_unit_test(deep_stack_grows));
