/* SPDX-License-Identifier: MIT */
/* Sums of a region in one thread: found again, added to by visits, added to each other. */
#include "made_regions.h"

static void found_again(void **state)
{
	struct made_regions m;
	struct node *node, *same, *far;
	struct entry *e, *other;

	(void)state;
	make_regions(&m);
	e = pfmi_thread_entry(&m.thread, 3, 0, &node);
	assert_non_null(e);
	assert_true(e->region == 3 && e->parent == 0);
	assert_ptr_equal(pfmi_thread_entry(&m.thread, 3, 0, &same), e);
	assert_ptr_equal(same, node);
	other = pfmi_thread_entry(&m.thread, 3, 2, &same);
	assert_ptr_not_equal(other, e);
	assert_ptr_equal(same, node);
	assert_true(other->region == 3 && other->parent == 2);
	assert_non_null(pfmi_thread_entry(&m.thread, 5000, 3, &far)); /* pages grow */
	assert_ptr_not_equal(far, node);
	assert_ptr_equal(pfmi_thread_entry(&m.thread, 3, 0, &same), e);
	assert_ptr_equal(m.thread.entries, e); /* in the order of their first visit */
	assert_ptr_equal(e->next, other);
	assert_int_equal(other->next->region, 5000);
	assert_null(other->next->next);
	unmake_regions(&m);
}

static void visits_are_added(void **state)
{
	const uint64_t start[WORDS] = { 2, 100, 100, 10, 1 }, now[WORDS] = { 2, 300, 300, 100, 9 },
		       inside[WORDS] = { 0, 0, 0, 40, 3 };
	const uint64_t busy[WORDS] = { 2, 300, 299, 100, 9 };
	struct visit v = { .start = start,
		           .now = now,
		           .inside = inside,
		           .whole = true,
		           .outermost = true,
		           .wall = 50,
		           .wall_exclusive = 30,
		           .pairs = 4,
		           .children = 2 };
	struct made_regions m;
	struct node *node;
	struct entry *e;

	(void)state;
	make_regions(&m);
	e = pfmi_thread_entry(&m.thread, 1, 0, &node);
	pfmi_entry_add(e, &v);
	assert_int_equal(e->sequence, 2); /* even: nobody writes */
	assert_true(e->times.visits == 1 && e->times.outermost == 1 && e->times.wall == 50 &&
	            e->times.exclusive == 30);
	assert_true(e->times.min == 50 && e->times.max == 50 && e->times.pairs == 4 &&
	            e->times.children == 2);
	assert_true(e->times.task == 200 && e->times.task_visits == 1);
	assert_true(e->tallies[0].inclusive == 90 && e->tallies[0].exclusive == 50 &&
	            e->tallies[0].visits == 1);
	assert_true(e->tallies[1].inclusive == 8 && e->tallies[1].exclusive == 5);
	v.wall = 70;
	v.now = busy; /* the group was off its counters for a while: times alone count */
	pfmi_entry_add(e, &v);
	assert_true(e->times.visits == 2 && e->times.max == 70 && e->times.min == 50 &&
	            e->times.mean == 60 && e->times.m2 == 200);
	assert_true(e->tallies[0].visits == 1 && e->tallies[0].inclusive == 90);
	v.now = now;
	v.outermost = false; /* inside itself: what it counts is in the outermost visit */
	pfmi_entry_add(e, &v);
	assert_true(e->times.visits == 3 && e->times.outermost == 2 && e->times.wall == 120 &&
	            e->times.exclusive == 90);
	assert_true(e->tallies[0].visits == 1 && e->tallies[0].exclusive_visits == 2 &&
	            e->tallies[0].exclusive == 100);
	v.whole = false;
	pfmi_entry_add(e, &v);
	assert_true(e->times.visits == 4 && e->tallies[0].exclusive_visits == 2);
	unmake_regions(&m);
}

/* Mean and deviations as of all visits one by one. */
static void sums_of_sums(void **state)
{
	struct times a = { .visits = 2,
		           .outermost = 2,
		           .wall = 30,
		           .min = 10,
		           .max = 20,
		           .mean = 15,
		           .m2 = 50 },
		     to = { 0 };
	const struct times b = { .visits = 3,
		                 .outermost = 2,
		                 .wall = 70,
		                 .min = 30,
		                 .max = 40,
		                 .mean = 35,
		                 .m2 = 50,
		                 .task = 9,
		                 .task_visits = 2 };
	const struct tally c = { .inclusive = 6,
		                 .visits = 2,
		                 .min = 2,
		                 .max = 4,
		                 .mean = 3,
		                 .m2 = 2,
		                 .pairs = 1 },
			   none = { 0 };
	struct tally sum = { 0 };

	(void)state;
	pfmi_region_add_times(&to, &a);
	assert_memory_equal(&to, &a, sizeof(a));
	pfmi_region_add_times(&to, &b);
	assert_true(to.visits == 5 && to.outermost == 4 && to.wall == 100 && to.min == 10 &&
	            to.max == 40 && to.mean == 25);
	assert_true(to.m2 == 500); /* 15 * 15 + 5 * 5 + 5 * 5 + 15 * 15 */
	assert_true(to.task == 9 && to.task_visits == 2);
	pfmi_region_add_tally(&sum, &c);
	pfmi_region_add_tally(&sum, &none);
	assert_memory_equal(&sum, &c, sizeof(c));
	pfmi_region_add_tally(&sum, &c);
	assert_true(sum.inclusive == 12 && sum.visits == 4 && sum.mean == 3 && sum.m2 == 4 &&
	            sum.pairs == 2);
}

UNIT(region_entry, cmocka_unit_test(found_again), cmocka_unit_test(visits_are_added),
     cmocka_unit_test(sums_of_sums));
