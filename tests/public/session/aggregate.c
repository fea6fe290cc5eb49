/* SPDX-License-Identifier: MIT */
/* Sums and tallies of counts beside arithmetic over the whole list. */
#include <math.h>
#include <perfmon/aggregate.h>
#include "units.h"

static pfm_count_t make_count(uint64_t value, pfm_quality_t quality, pfm_cause_t cause)
{
	return (pfm_count_t){ .size = sizeof(pfm_count_t),
		              .value = value,
		              .raw = value,
		              .enabled = 10,
		              .running = 10,
		              .quality = quality,
		              .cause = cause,
		              .scale = 1 };
}

static void a_sum_is_as_good_as_its_worst_count(void **state)
{
	const pfm_count_t counts[] = { make_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE),
		                       make_count(20, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED),
		                       make_count(300, PFM_QUALITY_EXACT, PFM_CAUSE_NONE) };
	pfm_count_sum_t sum = PFM_INIT(sum);

	(void)state;
	for (unsigned i = 0; i < COUNT(counts); i++)
		assert_int_equal(pfm_add_count(&sum, &counts[i]), PFMLIB_SUCCESS);
	assert_int_equal(sum.count.value, 321);
	assert_int_equal(sum.count.enabled, 30);
	assert_int_equal(sum.count.quality, PFM_QUALITY_SCALED);
	assert_int_equal(sum.count.cause, PFM_CAUSE_MULTIPLEXED);
	assert_int_equal(sum.n, 3);
	assert_int_equal(sum.worst, 1);
}

/* A missing count makes the sum partial in any order; a count that had no time to run does not. */
static void a_missing_count_makes_the_sum_partial(void **state)
{
	const pfm_count_t good = make_count(5, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	const pfm_count_t missing = make_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_PERMISSION);
	const pfm_count_t idle = make_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	const pfm_count_t *orders[][3] = { { &good, &missing, &idle },
		                           { &missing, &good, &idle },
		                           { &idle, &missing, &good },
		                           { &idle, &good, &missing } };

	(void)state;
	for (unsigned i = 0; i < COUNT(orders); i++) {
		pfm_count_sum_t sum = PFM_INIT(sum);

		for (unsigned k = 0; k < 3; k++)
			pfm_add_count(&sum, orders[i][k]);
		assert_int_equal(sum.count.value, 5);
		assert_int_equal(sum.count.quality, PFM_QUALITY_PARTIAL);
		assert_int_equal(sum.count.cause, PFM_CAUSE_PERMISSION);
	}
}

/* A pretended part makes the sum pretended, in any order, and a missing one does not change that.
 */
static void sums_with_a_pretended_count_are_pretended(void **state)
{
	const pfm_count_t good = make_count(5, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	const pfm_count_t made_up = make_count(7, PFM_QUALITY_PRETENDED, PFM_CAUSE_NONE);
	const pfm_count_t missing = make_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_PERMISSION);
	const pfm_count_t *orders[][3] = { { &good, &made_up, &missing },
		                           { &missing, &made_up, &good },
		                           { &made_up, &missing, &good },
		                           { &good, &missing, &made_up } };

	(void)state;
	for (unsigned i = 0; i < COUNT(orders); i++) {
		pfm_count_sum_t sum = PFM_INIT(sum);
		pfm_tally_t tally = PFM_INIT(tally);

		for (unsigned k = 0; k < 3; k++) {
			pfm_add_count(&sum, orders[i][k]);
			pfm_add_run(&tally, orders[i][k]);
		}
		assert_int_equal(sum.count.value, 12);
		assert_int_equal(sum.count.cause, PFM_CAUSE_PERMISSION);
		assert_int_equal(sum.count.quality, PFM_QUALITY_PRETENDED);
		assert_int_equal(tally.count.quality, PFM_QUALITY_PRETENDED);
		assert_int_equal(tally.counted, 2);
	}
}

static void idle_tasks_leave_a_sum_exact(void **state)
{
	const pfm_count_t good = make_count(5, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	const pfm_count_t idle = make_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	pfm_count_sum_t sum = PFM_INIT(sum);

	(void)state;
	pfm_add_count(&sum, &idle);
	pfm_add_count(&sum, &good);
	pfm_add_count(&sum, &idle);
	assert_int_equal(sum.count.quality, PFM_QUALITY_EXACT);
	assert_int_equal(sum.count.value, 5);
	assert_int_equal(sum.worst, 1);
}

static void mean_and_variance_of_runs(void **state)
{
	pfm_tally_t tally = PFM_INIT(tally);
	double sum = 0, squares = 0, mean;
	uint64_t seed = 7, values[100];

	(void)state;
	for (unsigned i = 0; i < COUNT(values); i++) {
		pfm_count_t c = make_count(values[i] = unit_random(&seed) % 1000, PFM_QUALITY_EXACT,
		                           PFM_CAUSE_NONE);

		sum += (double)values[i];
		assert_int_equal(pfm_add_run(&tally, &c), 1);
	}
	mean = sum / 100;
	for (unsigned i = 0; i < COUNT(values); i++)
		squares += ((double)values[i] - mean) * ((double)values[i] - mean);
	assert_true(fabs(tally.mean - mean) < 1e-9 * mean);
	assert_true(fabs(tally.squares - squares) < 1e-9 * squares);
	assert_int_equal(tally.counted, COUNT(values));
}

static void runs_without_a_value(void **state)
{
	const pfm_count_t missing = make_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
	const pfm_count_t good = make_count(5, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	pfm_tally_t tally = PFM_INIT(tally);

	(void)state;
	assert_int_equal(pfm_add_run(&tally, &missing), 1);
	assert_int_equal(tally.count.quality, PFM_QUALITY_NOT_COUNTED);
	assert_int_equal(pfm_add_run(&tally, &good), 0);
	assert_int_equal(tally.count.quality, PFM_QUALITY_PARTIAL);
	assert_int_equal(tally.count.cause, PFM_CAUSE_BUSY);
	assert_int_equal(tally.runs, 2);
	assert_int_equal(tally.counted, 1);
	assert_true(tally.mean == 5);
}

static void sums_of_size_0_are_those_of_the_first_version(void **state)
{
	pfm_count_t good = make_count(5, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	pfm_count_sum_t sum = { 0 };
	pfm_tally_t tally = { 0 };

	(void)state;
	good.size = 0;
	assert_int_equal(pfm_add_count(&sum, &good), PFMLIB_SUCCESS);
	assert_int_equal(pfm_add_count(&sum, &good), PFMLIB_SUCCESS);
	assert_true(sum.size == 0 && sum.n == 2 && sum.count.value == 10);
	assert_int_equal(pfm_add_count(NULL, &good), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_add_run(&tally, &good), 1);
	assert_true(tally.runs == 1 && tally.mean == 5);
	assert_int_equal(pfm_add_run(NULL, &good), PFMLIB_ERR_INVAL);
}

/* A sum or tally that cannot hold a count of version 1.0 is refused, and stays as it is. */
static void shorter_sums_are_refused(void **state)
{
	pfm_count_t good = make_count(5, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	pfm_count_sum_t sum;
	pfm_tally_t tally;
	unsigned char before[sizeof(tally)];

	(void)state;
	for (size_t size = sizeof(size_t); size < sizeof(sum); size += 8) {
		memset(&sum, 0x5a, sizeof(sum));
		sum.size = size;
		memcpy(before, &sum, sizeof(sum));
		assert_int_equal(pfm_add_count(&sum, &good), PFMLIB_ERR_INVAL);
		assert_memory_equal(&sum, before, sizeof(sum));
	}
	for (size_t size = sizeof(size_t); size < sizeof(tally); size += 8) {
		memset(&tally, 0x5a, sizeof(tally));
		tally.size = size;
		memcpy(before, &tally, sizeof(tally));
		assert_int_equal(pfm_add_run(&tally, &good), PFMLIB_ERR_INVAL);
		assert_memory_equal(&tally, before, sizeof(tally));
	}
}

/* Members that a count lacks are 0, and those that the library lacks are not stored. */
static void counts_of_other_versions_are_added(void **state)
{
	struct {
		pfm_count_t known;
		uint64_t later[4];
	} newer = { .known = make_count(5, PFM_QUALITY_EXACT, PFM_CAUSE_NONE), .later = { 1, 2 } };
	struct {
		size_t size;
		uint64_t value;
		uint64_t past_the_end[8];
	} older = { .size = sizeof(size_t) + sizeof(uint64_t),
		    .value = 7,
		    .past_the_end = { 90, 91, 92, 93, 94 } };
	pfm_count_sum_t sum = PFM_INIT(sum);
	pfm_tally_t tally = PFM_INIT(tally);

	(void)state;
	newer.known.size = sizeof(newer);
	assert_int_equal(pfm_add_count(&sum, &newer.known), PFMLIB_SUCCESS);
	assert_int_equal(pfm_add_count(&sum, (pfm_count_t *)(void *)&older), PFMLIB_SUCCESS);
	assert_int_equal(sum.count.value, 12);
	assert_int_equal(sum.count.enabled, 10);
	assert_int_equal(sum.count.size, sizeof(sum.count));
	assert_int_equal(pfm_add_run(&tally, &newer.known), 1);
	assert_int_equal(pfm_add_run(&tally, (pfm_count_t *)(void *)&older), 1);
	assert_int_equal(tally.count.size, sizeof(tally.count));
	assert_true(tally.mean == 6 && tally.enabled == 5);
}

UNIT(session_aggregate, cmocka_unit_test(a_sum_is_as_good_as_its_worst_count),
     cmocka_unit_test(a_missing_count_makes_the_sum_partial),
     cmocka_unit_test(sums_with_a_pretended_count_are_pretended),
     cmocka_unit_test(idle_tasks_leave_a_sum_exact), cmocka_unit_test(mean_and_variance_of_runs),
     cmocka_unit_test(runs_without_a_value),
     cmocka_unit_test(sums_of_size_0_are_those_of_the_first_version),
     cmocka_unit_test(shorter_sums_are_refused),
     cmocka_unit_test(counts_of_other_versions_are_added));
