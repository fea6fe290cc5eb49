/* SPDX-License-Identifier: MIT */
#include "profile/tree/event_counts.h"
#include <linux/perf_event.h>
#include "units.h"

static double add_batches(const struct event_counts *c, uint32_t block, uint32_t event)
{
	double sum = 0;

	for (unsigned i = 0; i < COUNT_BATCHES; i++)
		sum += event_counts_get_value(c, block, event, i);
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
	assert_true(event_counts_get_samples(&c, a, 0) == 100);
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
	c.enabled_in_tasks[0] = 900;
	c.running[0] = 300;
	assert_true(add_batches(&c, a, 0) == 90);
	event_counts_free(&c);
}

/* Adds a sample in task @tid of kernel event @id, that was enabled and ran so long. */
static void note_times(struct event_counts *c, uint64_t id, uint32_t tid, uint64_t enabled,
                       uint64_t running)
{
	const uint64_t read[] = { 1, enabled, running, 7, id };
	pfm_record_t record = PFM_INIT(record);
	bool is_leader;

	record.type = PFM_RECORD_SAMPLE;
	record.has = PFM_SAMPLE_READ;
	record.id = id;
	record.tid = tid;
	record.time = enabled;
	record.body.sample.read = read;
	record.body.sample.n_read = COUNT(read);
	record.body.sample.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	assert_true(event_counts_read_record(c, &record, 0, &is_leader));
}

/* The group was on the counters all the time: its counts are not extrapolated. */
static void expect_no_extrapolation(struct event_counts *c)
{
	uint32_t block = 0;

	assert_true(event_counts_add(c, &block, 0, 1, 30));
	assert_true(add_batches(c, block, 0) == 30);
	event_counts_free(c);
}

/* A task that moves: its kernel event of either CPU is enabled all the time. */
static void times_of_a_task_that_moves(void **state)
{
	struct event_counts c;

	(void)state;
	for (unsigned is_inherited = 0; is_inherited < 2; is_inherited++) {
		assert_true(event_counts_init(&c, 1));
		c.is_inherited[0] = is_inherited;
		for (uint64_t i = 1; i <= 10; i++)
			note_times(&c, 100 + i % 2, 5, 1000 * i, 1000 * ((i + 1) / 2));
		assert_false(c.is_of_cpus[0]);
		expect_no_extrapolation(&c);
	}
}

/* A child begins at 0 in the kernel events that it inherits. */
static void times_of_a_child(void **state)
{
	struct event_counts c;

	(void)state;
	assert_true(event_counts_init(&c, 1));
	c.is_inherited[0] = true;
	note_times(&c, 100, 5, 1000, 1000);
	note_times(&c, 100, 6, 200, 200);
	note_times(&c, 100, 5, 2000, 2000);
	note_times(&c, 100, 6, 1200, 1200);
	assert_false(c.is_of_cpus[0]);
	assert_true(c.running[0] == 3200);
	expect_no_extrapolation(&c);
}

/* All that two CPUs run: tasks take turns, and one moves. */
static void times_of_cpus(void **state)
{
	struct event_counts c;

	(void)state;
	assert_true(event_counts_init(&c, 1));
	for (uint64_t i = 1; i <= 10; i++) {
		note_times(&c, 100, 5 + i % 2, 1000 * i, 1000 * i);
		note_times(&c, 101, 6 + i % 2, 1000 * i, 1000 * i);
	}
	assert_true(c.is_of_cpus[0]);
	assert_true(c.running[0] == 20000);
	expect_no_extrapolation(&c);
}

UNIT(profile_event_counts, cmocka_unit_test(sums_of_batches),
     cmocka_unit_test(times_of_a_task_that_moves), cmocka_unit_test(times_of_a_child),
     cmocka_unit_test(times_of_cpus), cmocka_unit_test(counts_off_the_counters_are_extrapolated));
