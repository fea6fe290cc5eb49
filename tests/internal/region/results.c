/* SPDX-License-Identifier: MIT */
/* Results: sums over threads, and the cost of begin and end subtracted. */
#include "made_regions.h"

static void results_before_a_start(void **state)
{
	pfm_region_event_t event = PFM_INIT(event);

	(void)state;
	assert_null(pfm_read_regions());
	assert_int_equal(pfm_count_region_events(), 0);
	assert_int_equal(pfm_count_region_metrics(), 0);
	assert_int_equal(pfm_describe_region_event(0, &event), PFMLIB_ERR_NOTFOUND);
	pfm_close_region_results(NULL);
}

static void add_visit(struct thread *t, uint32_t region, uint64_t wall, uint64_t count)
{
	const uint64_t start[WORDS] = { 2, 0, 0, 0, 0 }, now[WORDS] = { 2, wall, wall, count, 1 };
	struct node *node;
	struct entry *e = pfmi_thread_find_or_make_entry(t, region, 0, &node);

	assert_non_null(e);
	e->begun++;
	pfmi_entry_add_visit(e, &(struct visit){ .start = start,
	                                         .now = now,
	                                         .is_complete = true,
	                                         .outermost = true,
	                                         .wall = wall,
	                                         .pairs = 2,
	                                         .children = 2 });
}

static void sums_over_threads(void **state)
{
	uint32_t region = pfmi_region_find_or_make_number("results"),
		 empty = pfmi_region_find_or_make_number("results: none");
	struct made_regions m;
	struct thread other;
	pfm_region_results_t *r;
	pfm_region_count_t c;
	struct node *node;
	unsigned all;

	(void)state;
	make_regions(&m);
	other = m.thread;
	other.tid = 9;
	other.last = &other.entries;
	other.missed = 3;
	m.thread.unmatched = 2;
	m.thread.next = &other;
	add_visit(&m.thread, region, 100, 1000);
	add_visit(&other, region, 300, 3000);
	add_visit(&other, EMPTY_REGION, 1, 1); /* of the measurement: left out */
	pfmi_thread_find_or_make_entry(&m.thread, empty, 0, &node); /* not visited */
	r = pfm_read_regions();
	assert_non_null(r);
	assert_int_equal(r->n, 3);
	assert_true(r->missed == 3 && r->unmatched == 2);
	all = made_row(r, "results", "", 0);
	assert_true(made_info(r, all).visits == 2 && made_info(r, all).threads == 2 &&
	            made_info(r, all).wall == 400);
	assert_true(made_info(r, all).wall_min == 100 && made_info(r, all).wall_max == 300 &&
	            made_info(r, all).wall_variance == 20000);
	assert_int_equal(made_info(r, made_row(r, "results", "", 9)).wall, 300);
	assert_true(made_info(r, made_row(r, "results", "", 7)).wall_variance <
	            0); /* of one visit */
	c = made_count(r, all, 0);
	assert_true(c.inclusive == 4000 && c.min == 1000 && c.max == 3000 &&
	            c.quality == PFM_QUALITY_EXACT && c.cause == PFM_CAUSE_NONE);
	pfm_close_region_results(r);
	pfmi_arena_free(&other.arena);
	unmake_regions(&m);
}

/* A program may use any name, also one that starts with a control character. */
static void results_of_any_name(void **state)
{
	struct made_regions m;
	pfm_region_results_t *r;

	(void)state;
	make_regions(&m);
	add_visit(&m.thread, pfmi_region_find_or_make_number("\001empty"), 100, 1000);
	r = pfm_read_regions();
	assert_int_equal(made_info(r, made_row(r, "\001empty", "", 0)).visits, 1);
	pfm_close_region_results(r);
	unmake_regions(&m);
}

static void costs_are_subtracted(void **state)
{
	struct made_regions m;
	pfm_region_results_t *r;
	double inside, pair;

	(void)state;
	make_regions(&m);
	add_visit(&m.thread, pfmi_region_find_or_make_number("costs"), 100, 1000);
	pfmi_regions.layout.wall_inside = 10;
	pfmi_regions.layout.wall_pair = 15;
	m.events[0].cost_inside = 50;
	m.events[0].cost_pair = 80;
	pfm_region_cost(NULL, NULL);
	pfm_region_cost(&inside, &pair);
	assert_true(inside == 10 && pair == 15);
	r = pfm_read_regions();
	assert_int_equal(made_info(r, 0).wall, 100 - 10 - 2 * 15);
	assert_int_equal(made_info(r, 0).exclusive, 100 - 10 - 2 * (15 - 10));
	assert_true(made_info(r, 0).costly);
	assert_int_equal(made_count(r, 0, 0).inclusive, 1000 - 50 - 2 * 80);
	assert_int_equal(made_count(r, 0, 0).exclusive, 1000 - 50 - 2 * (80 - 50));
	assert_int_equal(made_count(r, 0, 0).overhead, 50 + 2 * 80);
	assert_int_equal(made_count(r, 0, 1).inclusive, 1);
	r->flags |= PFM_REGIONS_NO_SUBTRACT;
	assert_int_equal(made_info(r, 0).wall, 100);
	assert_int_equal(made_count(r, 0, 0).inclusive, 1000);
	assert_int_equal(made_count(r, 0, 0).overhead, 50 + 2 * 80);
	pfm_close_region_results(r);
	pfmi_regions.layout.wall_inside = 1000; /* never below zero */
	r = pfm_read_regions();
	assert_int_equal(made_info(r, 0).wall, 0);
	pfm_close_region_results(r);
	unmake_regions(&m);
}

static void wrong_arguments_are_refused(void **state)
{
	struct {
		pfm_region_count_t count;
		char beyond[16];
	} larger;
	pfm_region_count_t count = PFM_INIT(count);
	pfm_region_info_t info = PFM_INIT(info);
	pfm_region_event_t event = PFM_INIT(event);
	pfm_session_metric_t metric = PFM_INIT(metric);
	struct made_regions m;
	struct made_results made;
	const pfm_region_results_t *r = &made.results;

	(void)state;
	make_regions(&m);
	make_results(&made, "refusals");
	assert_int_equal(pfm_describe_region(NULL, 0, &info), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_region(r, 2, &info), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_region(r, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_region_count(NULL, 0, 0, &count), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_region_count(r, 2, 0, &count), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_region_count(r, 0, 2, &count), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_region_event(2, &event), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_region_event(1, &event), PFMLIB_SUCCESS);
	assert_string_equal(event.name, "page-faults");
	assert_int_equal(pfm_region_metric(r, 0, 0, NULL, &metric), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_region_metric(r, 0, 0, NULL, NULL), PFMLIB_ERR_INVAL);
	count.size = 1;
	assert_int_equal(pfm_region_count(r, 0, 0, &count), PFMLIB_ERR_INVAL);
	count.size = offsetof(pfm_region_count_t, exclusive); /* an older program */
	count.exclusive = 77;
	assert_int_equal(pfm_region_count(r, 0, 0, &count), PFMLIB_SUCCESS);
	assert_true(count.inclusive == 600 && count.exclusive == 77);
	memset(&larger, 'x', sizeof(larger)); /* a newer one */
	larger.count.size = sizeof(larger);
	assert_int_equal(pfm_region_count(r, 0, 0, &larger.count), PFMLIB_SUCCESS);
	assert_true(larger.count.exclusive == 400 && larger.count.size == sizeof(larger) &&
	            larger.beyond[0] == 'x');
	unmake_regions(&m);
}

static void qualities_of_counts(void **state)
{
	struct made_regions m;
	struct made_results made;

	(void)state;
	make_regions(&m);
	make_results(&made, "qualities");
	assert_int_equal(made_count(&made.results, 0, 1).quality, PFM_QUALITY_NOT_COUNTED);
	assert_int_equal(made_count(&made.results, 0, 1).cause, PFM_CAUSE_BUSY);
	made.tallies[1].visits = 2;
	assert_int_equal(made_count(&made.results, 0, 1).quality, PFM_QUALITY_PARTIAL);
	pfmi_regions.layout.n_rounds = 2;
	assert_int_equal(made_count(&made.results, 0, 1).cause, PFM_CAUSE_MULTIPLEXED);
	m.events[1].countable = false;
	m.events[1].quality = PFM_QUALITY_NOT_SUPPORTED;
	m.events[1].cause = PFM_CAUSE_PERMISSION;
	assert_int_equal(made_count(&made.results, 0, 1).quality, PFM_QUALITY_NOT_SUPPORTED);
	assert_int_equal(made_count(&made.results, 0, 1).cause, PFM_CAUSE_PERMISSION);
	unmake_regions(&m);
}

UNIT(region_results, cmocka_unit_test(results_before_a_start), cmocka_unit_test(sums_over_threads),
     cmocka_unit_test(results_of_any_name), cmocka_unit_test(costs_are_subtracted),
     cmocka_unit_test(wrong_arguments_are_refused), cmocka_unit_test(qualities_of_counts));
