/* SPDX-License-Identifier: MIT */
/* Sums of a region in one thread: found again, added to by visits, added to each other. */
#include "made_regions.h"

static void entry_is_found_again(void **state)
{
	struct made_regions m;
	struct node *node, *same, *far;
	struct entry *e, *other;

	(void)state;
	make_regions(&m);
	e = pfmi_thread_find_or_make_entry(&m.thread, 3, 0, &node);
	assert_non_null(e);
	assert_true(e->region == 3 && e->parent == 0);
	assert_ptr_equal(pfmi_thread_find_or_make_entry(&m.thread, 3, 0, &same), e);
	assert_ptr_equal(same, node);
	other = pfmi_thread_find_or_make_entry(&m.thread, 3, 2, &same);
	assert_ptr_not_equal(other, e);
	assert_ptr_equal(same, node);
	assert_true(other->region == 3 && other->parent == 2);
	assert_non_null(pfmi_thread_find_or_make_entry(&m.thread, 5000, 3, &far)); /* pages grow */
	assert_ptr_not_equal(far, node);
	assert_ptr_equal(pfmi_thread_find_or_make_entry(&m.thread, 3, 0, &same), e);
	assert_ptr_equal(m.thread.entries, e); /* in the order of their first visit */
	assert_ptr_equal(e->next, other);
	assert_int_equal(other->next->region, 5000);
	assert_null(other->next->next);
	unmake_regions(&m);
}

/* Adds @v to @e, and takes its sums as results have them. */
static void add_visit_to(struct entry *e, const struct visit *v, struct times *times,
                         struct tally *tallies)
{
	static const uint64_t nothing[WORDS];
	struct visit visit = *v;

	visit.start = v->start ? v->start : nothing;
	visit.now = v->now ? v->now : nothing;
	e->begun++;
	pfmi_entry_add_visit(e, &visit);
	pfmi_entry_compute_times(&pfmi_regions.layout, e, times);
	pfmi_entry_compute_tallies(&pfmi_regions.layout, e, tallies);
}

static void visits_are_added(void **state)
{
	const uint64_t start[WORDS] = { 2, 100, 100, 10, 1 }, now[WORDS] = { 2, 300, 300, 100, 9 },
		       inside[WORDS] = { 0, 0, 0, 40, 3 };
	const uint64_t busy[WORDS] = { 2, 300, 299, 100, 9 };
	struct visit v = { .start = start,
		           .now = now,
		           .inside = inside,
		           .is_complete = true,
		           .outermost = true,
		           .wall = 50,
		           .wall_inside = 20,
		           .pairs = 4,
		           .children = 2 };
	struct made_regions m;
	struct node *node;
	struct entry *e;
	struct times times;
	struct tally tallies[2];

	(void)state;
	make_regions(&m);
	e = pfmi_thread_find_or_make_entry(&m.thread, 1, 0, &node);
	add_visit_to(e, &v, &times, tallies);
	assert_int_equal(e->sequence % 2, 0); /* no write is in progress */
	assert_true(times.visits == 1 && times.outermost == 1 && times.wall == 50 &&
	            times.exclusive == 30);
	assert_true(times.min == 50 && times.max == 50 && times.pairs == 4 && times.children == 2);
	assert_true(times.task == 200 && times.task_visits == 1);
	assert_true(tallies[0].inclusive == 90 && tallies[0].exclusive == 50 &&
	            tallies[0].visits == 1);
	assert_true(tallies[1].inclusive == 8 && tallies[1].exclusive == 5);
	v.wall = 70;
	v.now = busy; /* the group was off its counters for a while: times alone count */
	add_visit_to(e, &v, &times, tallies);
	assert_true(times.visits == 2 && times.max == 70 && times.min == 50 && times.mean == 60 &&
	            times.m2 == 200);
	assert_true(tallies[0].visits == 1 && tallies[0].inclusive == 90 && tallies[0].pairs == 4);
	v.now = now;
	v.outermost = false; /* inside itself: what it counts is in the outermost visit */
	add_visit_to(e, &v, &times, tallies);
	assert_true(times.visits == 3 && times.outermost == 2 && times.wall == 120 &&
	            times.exclusive == 30 + 50 + 50);
	assert_true(tallies[0].visits == 1 && tallies[0].exclusive_visits == 2 &&
	            tallies[0].exclusive == 100);
	v.is_complete = false;
	add_visit_to(e, &v, &times, tallies);
	assert_true(times.visits == 4 && tallies[0].exclusive_visits == 2);
	unmake_regions(&m);
}

/* Values whose squares need more than 64 bits, and whose deviations are small beside them: the sum
 * of squares loses nothing. */
static void deviations_of_large_values(void **state)
{
	const uint64_t values[] = { 1ull << 40, (1ull << 40) + 2, (1ull << 40) + 4,
		                    (1ull << 40) + 7 };
	const double squares = 10.5625 + 1.5625 + 0.5625 + 14.0625; /* from the mean, 3.25 more */
	struct made_regions m;
	struct node *node;
	struct entry *e, *copy;
	struct times times;
	struct tally tallies[2];

	(void)state;
	make_regions(&m);
	e = pfmi_thread_find_or_make_entry(&m.thread, 1, 0, &node);
	for (unsigned i = 0; i < COUNT(values); i++)
		add_visit_to(e, &(struct visit){ .outermost = true, .wall = values[i] }, &times,
		             tallies);
	assert_true(times.mean == (double)(1ull << 40) + 3.25 && times.m2 == squares);
	copy = calloc(1, pfmi_entry_get_size(&pfmi_regions.layout));
	assert_non_null(copy);
	pfmi_entry_copy(copy, e);
	pfmi_entry_merge(copy, e);
	pfmi_entry_compute_times(&pfmi_regions.layout, copy, &times);
	assert_true(times.visits == 8 && times.min == values[0] && times.max == values[3]);
	assert_true(times.mean == (double)(1ull << 40) + 3.25 && times.m2 == 2 * squares);
	free(copy);
	pfmi_entry_clear(e);
	pfmi_entry_compute_times(&pfmi_regions.layout, e, &times);
	assert_true(times.visits == 0 && times.wall == 0 && times.min == 0 && times.m2 == 0);
	unmake_regions(&m);
}

/* Visits inside count for the one around them: min, max and deviations leave out what their begin
 * and end cost. */
static void cost_of_visits_inside(void **state)
{
	static const uint64_t counts[] = { 50, 62 }, pairs[] = { 0, 3 };
	const uint64_t start[WORDS] = { 2, 0, 0, 0, 0 };
	struct made_regions m;
	struct node *node;
	struct entry *e;
	struct times times;
	struct tally tallies[2];

	(void)state;
	make_regions(&m);
	m.events[0].cost_pair = 4.1;
	e = pfmi_thread_find_or_make_entry(&m.thread, 1, 0, &node);
	for (unsigned i = 0; i < COUNT(counts); i++) {
		const uint64_t now[WORDS] = { 2, 9, 9, counts[i], 0 };

		add_visit_to(e,
		             &(struct visit){ .start = start,
		                              .now = now,
		                              .is_complete = true,
		                              .outermost = true,
		                              .pairs = pairs[i],
		                              .children = pairs[i] },
		             &times, tallies);
	}
	assert_true(tallies[0].inclusive == 112 && tallies[0].pairs == 3);
	assert_true(tallies[0].min == 50 && tallies[0].max == 50 && tallies[0].m2 == 0);
	pfmi_entry_clear(e);
	pfmi_regions.flags = PFM_REGIONS_NO_SUBTRACT;
	e->begun++;
	pfmi_entry_add_visit(e, &(struct visit){ .start = start,
	                                         .now = (const uint64_t[]){ 2, 9, 9, 62, 0 },
	                                         .is_complete = true,
	                                         .outermost = true,
	                                         .pairs = 3,
	                                         .children = 3 });
	pfmi_entry_compute_tallies(&pfmi_regions.layout, e, tallies);
	assert_int_equal(tallies[0].min, 62);
	unmake_regions(&m);
}

/* Mean and deviations as of all visits one by one. */
static void merged_sums_equal_those_of_all_visits(void **state)
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

UNIT(region_entry, cmocka_unit_test(entry_is_found_again), cmocka_unit_test(visits_are_added),
     cmocka_unit_test(deviations_of_large_values), cmocka_unit_test(cost_of_visits_inside),
     cmocka_unit_test(merged_sums_equal_those_of_all_visits));
