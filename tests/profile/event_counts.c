/* SPDX-License-Identifier: MIT */
#include "profile/event_counts.h"
#include "units.h"

static double add_batches(const struct event_counts *c, uint32_t block, uint32_t event)
{
	double sum = 0;

	for (unsigned i = 0; i < COUNT_BATCHES; i++)
		sum += event_counts_value(c, block, event, i);
	return sum;
}

static void sums_of_batches(void **state)
{
	struct event_counts c;
	uint32_t a = 0, b = 0;
	double expected = 0;

	(void)state;
	assert_true(event_counts_init(&c, 2));
	for (uint64_t time = 1; time <= 100; time++) {
		assert_true(event_counts_add(&c, &a, 0, time, time));
		expected += (double)time;
	}
	assert_true(event_counts_add(&c, &b, 1, 5, 40));
	assert_true(add_batches(&c, a, 0) == expected);
	assert_true(add_batches(&c, a, 1) == 0);
	assert_true(event_counts_samples(&c, a, 0) == 100);
	assert_true(event_counts_merge(&c, a, &b));
	assert_true(add_batches(&c, b, 0) == expected);
	assert_true(add_batches(&c, b, 1) == 40);
	event_counts_free(&c);
}

static void counts_off_the_counters_are_extrapolated(void **state)
{
	struct event_counts c;
	uint32_t a = 0;

	(void)state;
	assert_true(event_counts_init(&c, 1));
	assert_true(event_counts_add(&c, &a, 0, 1, 30));
	c.enabled[0] = 900;
	c.running[0] = 300;
	assert_true(add_batches(&c, a, 0) == 90);
	event_counts_free(&c);
}

UNIT(profile_event_counts, cmocka_unit_test(sums_of_batches),
     cmocka_unit_test(counts_off_the_counters_are_extrapolated));
