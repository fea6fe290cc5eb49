/* SPDX-License-Identifier: MIT */
/* Slices of time of pfm stat: what they add up to when they become too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tools/stat/stat.h"

enum { MOST = 64 };

static struct stat_job job;
static struct stat_row row;

static int begin(void **state)
{
	(void)state;
	memset(&job, 0, sizeof(job));
	memset(&row, 0, sizeof(row));
	job.result.rows = &row;
	job.result.n_rows = 1;
	job.timing.repeat = 1;
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(row.slices);
	return 0;
}

static void add_slice(uint64_t raw)
{
	const pfm_count_t c = { .size = sizeof(c), .raw = raw, .enabled = 1000, .running = 500 };

	add_to_slice(&row, job.slices.n, &c);
	end_slice(&job);
}

/* As many as are kept become half as many, which hold their sums. */
static void neighbouring_slices_are_joined(void **state)
{
	(void)state;
	job.slices.length = 5;
	for (unsigned k = 0; k < MOST; k++)
		add_slice(k);
	assert_true(job.slices.n == MOST / 2 && job.slices.length == 10);
	for (unsigned k = 0; k < MOST / 2; k++)
		assert_true(row.slices[k].raw == 4 * k + 1 && row.slices[k].enabled == 2000 &&
		            row.slices[k].running == 1000);
	add_slice(7);
	assert_true(job.slices.n == MOST / 2 + 1 && row.slices[MOST / 2].raw == 7);
}

/* A run that does not fill a slice is added to the next one. */
static void runs_share_a_slice_after_that(void **state)
{
	(void)state;
	job.timing.repeat = 2 * MOST;
	for (unsigned k = 0; k < MOST; k++)
		add_slice(1);
	assert_true(job.slices.n == MOST / 2 && job.slices.runs_each == 2);
	add_slice(10);
	assert_int_equal(job.slices.n, MOST / 2);
	add_slice(100);
	assert_true(job.slices.n == MOST / 2 + 1 && row.slices[MOST / 2].raw == 110);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(neighbouring_slices_are_joined, begin, end),
		cmocka_unit_test_setup_teardown(runs_share_a_slice_after_that, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("stat_slices", tests, NULL, NULL);
}
