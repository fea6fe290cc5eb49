/* SPDX-License-Identifier: MIT */
/* Slices: kept in pages, listed in order, within a limit. */
#include "made_slices.h"
#include <pthread.h>
#include <unistd.h>

static void slices_are_sorted(void **state)
{
	static const char *const names[] = { "outer", "inner", "apart" };
	struct made_regions m;
	struct slice_list list;

	(void)state;
	make_slices(&m);
	assert_true(pfmi_slices_collect(NULL, &list));
	assert_int_equal(list.n, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_string_equal(pfmi_region_get_name(list.items[i]->region), names[i]);
		assert_int_equal(list.items[i]->tid, 7);
	}
	assert_true(list.items[0]->begin == 1500000 && list.items[0]->end == 1501001);
	assert_true(list.items[2]->overlaps && !list.items[1]->overlaps);
	free(list.items);
	unmake_slices(&m);
}

/* An event that was off its counter for a while has no count in the slice. */
static void uncounted_events_have_no_count(void **state)
{
	const uint64_t zero[WORDS] = { 2 }, shared[WORDS] = { 2, 100, 99, 5, 6 };
	struct pfm_region_results r = { .layout = &pfmi_regions.layout };
	struct made_regions m;
	struct slice_list list;
	uint64_t count;

	(void)state;
	make_slices(&m);
	pfmi_slices_add_visit(&m.thread, pfmi_region_find_or_make_number("shared"),
	                      &(struct visit){ .start = zero, .now = shared, .is_complete = true },
	                      &(struct slice_times){ 9000000, 9000100, false });
	assert_true(pfmi_slices_collect(NULL, &list));
	assert_int_equal(list.n, 4);
	assert_true(pfmi_slice_compute_count(&r, list.items[0], 0, &count));
	assert_int_equal(count, 100); /* 112, less 2 for itself and 10 for the visit inside */
	assert_true(pfmi_slice_compute_count(&r, list.items[1], 0, &count));
	assert_int_equal(count, 50);
	r.flags = PFM_REGIONS_NO_SUBTRACT;
	assert_true(pfmi_slice_compute_count(&r, list.items[0], 0, &count));
	assert_int_equal(count, 112);
	assert_false(pfmi_slice_compute_count(&r, list.items[3], 0, &count));
	assert_false(pfmi_slice_compute_count(&r, list.items[3], 1, &count));
	free(list.items);
	unmake_slices(&m);
}

/* Slices of the cost measurement are not kept; a thread goes on with the page of one that ended. */
static void threads_reuse_pages(void **state)
{
	enum { MANY = 3000 };
	const uint64_t zero[WORDS] = { 2 };
	const struct visit v = { .start = zero, .now = zero, .is_complete = true };
	struct made_regions m;
	struct slice_list list;
	const struct visit_slice *first;

	(void)state;
	make_slices(&m);
	pfmi_slices_add_visit(&m.thread, EMPTY_REGION, &v, &(struct slice_times){ 1, 2, false });
	pfmi_slices_release_page(&m.thread);
	assert_null(m.thread.slices);
	m.thread.tid = 8;
	for (uint64_t i = 0; i < MANY; i++)
		keep_slice(&m, "many", i, i + 1, i, 0, false);
	assert_true(pfmi_slices_collect(NULL, &list));
	assert_int_equal(list.n, 3 + MANY);
	assert_int_equal(list.dropped, 0);
	for (unsigned i = 0; i < MANY; i++)
		assert_true(list.items[3 + i]->begin == i && list.items[3 + i]->tid == 8 &&
		            list.items[3 + i]->counts[0] == i);
	first = list.items[0];
	assert_true((const char *)list.items[3] > (const char *)first &&
	            (const char *)list.items[3] < (const char *)first + 16384);
	free(list.items);
	unmake_slices(&m);
}

/* 64 MiB of slices of 64 bytes are a million and more; all others are counted as dropped. */
static void slices_beyond_the_limit_are_dropped(void **state)
{
	const uint64_t zero[WORDS] = { 2 };
	const struct visit v = { .start = zero, .now = zero, .is_complete = true };
	const struct slice_times times = { 1, 2, false };
	struct made_regions m;
	struct slice_list list;
	uint32_t number;

	(void)state;
	make_slices(&m);
	number = pfmi_region_find_or_make_number("many");
	for (unsigned i = 0; i < 1200000; i++)
		pfmi_slices_add_visit(&m.thread, number, &v, &times);
	assert_true(pfmi_slices_collect(NULL, &list));
	assert_int_equal(list.n + list.dropped, 1200003);
	assert_true(list.n * sizeof(struct visit_slice) < 64 << 20);
	assert_true(list.n > 800000 && list.dropped > 0);
	free(list.items);
	unmake_slices(&m);
}

UNIT(region_slices, cmocka_unit_test(slices_are_sorted),
     cmocka_unit_test(uncounted_events_have_no_count), cmocka_unit_test(threads_reuse_pages),
     cmocka_unit_test(slices_beyond_the_limit_are_dropped));
