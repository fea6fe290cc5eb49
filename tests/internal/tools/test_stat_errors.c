/* SPDX-License-Identifier: MIT */
/* How far off pfm stat says that a metric may be, from slices that the test makes up: the same as
 * the library says of the parts that the test works out for itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <perfmon/types.h>
#include "tools/stat/stat.h"
#include "built_in.h"
#include "metrics.h"

enum { INPUTS = 2, MOST = 64 };

static struct stat_job job;
static struct stat_row rows[INPUTS];
static struct metric_inputs judged;
static pfm_metric_operand_t counts[INPUTS];
static struct row_use uses[INPUTS]; /* a row for each input */

static int begin(void **state)
{
	(void)state;
	memset(&job, 0, sizeof(job));
	memset(rows, 0, sizeof(rows));
	job.ctx = ctx;
	job.rows = rows;
	job.n_rows = INPUTS;
	job.repeat = 1;
	judged = (struct metric_inputs){ .counts = counts,
		                         .n = INPUTS,
		                         .uses = uses,
		                         .n_uses = INPUTS,
		                         .quality = PFM_QUALITY_SCALED };
	assert_int_equal(pfm_find_event_by_text(ctx, "hardware::ipc", &judged.metric.pmu,
	                                        &judged.metric.event, NULL),
	                 PFMLIB_SUCCESS);
	for (unsigned i = 0; i < INPUTS; i++) {
		uses[i] = (struct row_use){ .input = i, .row = i };
		counts[i] = (pfm_metric_operand_t){ .known = 1 };
		rows[i].tally.count.enabled = rows[i].tally.count.running = 1000;
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < INPUTS; i++)
		free(rows[i].slices);
	return 0;
}

/* Count of each input in slice @k while its counter was available, out of 1000. */
static double compute_count(unsigned input, unsigned k)
{
	return 3000 + 1000 * input + (k * 37 + input * 11) % 50;
}

/* A slice in which input @i had @running[i] of 1000. */
static void add_slice(const uint64_t running[INPUTS])
{
	for (unsigned i = 0; i < INPUTS; i++) {
		pfm_count_t c = PFM_INIT(c);

		c.enabled = 1000;
		c.running = running[i];
		c.raw = running[i] ? (uint64_t)compute_count(i, job.n_slices) : 0;
		counts[i].value += running[i] ? (double)c.raw * 1000 / (double)running[i] : 0;
		add_to_slice(&rows[i], job.n_slices, &c);
	}
	end_slice(&job);
}

static pfm_metric_value_t compute_value(void)
{
	pfm_metric_value_t v = PFM_INIT(v);

	assert_int_equal(
		compute_propagated(ctx, judged.metric.pmu, judged.metric.event, counts, INPUTS, &v),
		PFMLIB_SUCCESS);
	return v;
}

static void expect_interval(const double *parts, unsigned n_parts, double observed)
{
	pfm_metric_value_t got = compute_value(), want = compute_value();

	assert_int_equal(compute_from_intervals(ctx, judged.metric.pmu, judged.metric.event, counts,
	                                        INPUTS, parts, n_parts, observed, &want),
	                 PFMLIB_SUCCESS);
	estimate_metric_error(&job, &judged, &got);
	if (got.error != want.error || got.low != want.low || got.high != want.high)
		fail_msg("%g, %g to %g, not %g, %g to %g", got.error, got.low, got.high, want.error,
		         want.low, want.high);
}

/* All slices are parts; the share is that of the input that was counted least, whichever it is. */
static void the_least_share_of_all_inputs(void **state)
{
	static const uint64_t shares[][INPUTS] = {
		{ 500, 1000 }, { 1000, 500 }, { 250, 500 }, { 500, 250 }, { 800, 800 }
	};

	for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
		double parts[16 * INPUTS];

		end(state);
		begin(state);
		for (unsigned k = 0; k < 16; k++) {
			for (unsigned i = 0; i < INPUTS; i++)
				parts[k * INPUTS + i] =
					compute_count(i, k) * (1000 / (double)shares[s][i]);
			add_slice(shares[s]);
		}
		for (unsigned i = 0; i < INPUTS; i++)
			rows[i].tally.count.running = shares[s][i];
		expect_interval(
			parts, 16,
			(double)(shares[s][0] < shares[s][1] ? shares[s][0] : shares[s][1]) / 1000);
		judged.spans_groups = true; /* never all together */
		expect_interval(parts, 16, 0);
	}
}

/* Inputs that had their turn in every other slice: parts are as long as both took. */
static void slices_in_which_something_is_missing(void **state)
{
	double parts[8 * INPUTS];

	(void)state;
	for (unsigned k = 0; k < 16; k++) {
		parts[k / 2 * INPUTS + k % 2] = compute_count(k % 2, k) * 2;
		add_slice((const uint64_t[]){ k % 2 ? 0 : 1000, k % 2 ? 1000 : 0 });
	}
	rows[0].tally.count.running = rows[1].tally.count.running = 500;
	expect_interval(parts, 8, 0.5);
}

/* Fewer than four parts do not tell. */
static void few_slices(void **state)
{
	static const double none[INPUTS];

	(void)state;
	for (unsigned k = 0; k < 3; k++)
		add_slice((const uint64_t[]){ 500, 500 });
	rows[0].tally.count.running = rows[1].tally.count.running = 500;
	expect_interval(none, 0, 0.5);
	assert_true(job.n_slices == 3);
}

/* As many as are kept become half as many, and what they had is in them. */
static void slices_that_are_merged(void **state)
{
	double parts[MOST * INPUTS] = { 0 };

	(void)state;
	job.slice_ns = 5;
	for (unsigned k = 0; k < MOST; k++) {
		for (unsigned i = 0; i < INPUTS; i++)
			parts[k / 2 * INPUTS + i] += compute_count(i, k) * 2;
		add_slice((const uint64_t[]){ 500, 500 });
	}
	assert_true(job.n_slices == MOST / 2 && job.slice_ns == 10);
	for (unsigned i = 0; i < INPUTS; i++)
		parts[MOST / 2 * INPUTS + i] = compute_count(i, MOST / 2) * 2;
	rows[0].tally.count.running = rows[1].tally.count.running = 500;
	expect_interval(parts, MOST / 2, 0.5);
	add_slice((const uint64_t[]){ 500, 500 });
	assert_int_equal(job.n_slices, MOST / 2 + 1);
	expect_interval(parts, MOST / 2 + 1, 0.5);
}

/* An exact value keeps its error; that of a partial one is unknown. */
static void exact_and_partial_values(void **state)
{
	pfm_metric_value_t before, v;

	(void)state;
	for (unsigned k = 0; k < 16; k++)
		add_slice((const uint64_t[]){ 1000, 1000 });
	before = v = compute_value();
	judged.quality = PFM_QUALITY_EXACT;
	estimate_metric_error(&job, &judged, &v);
	assert_memory_equal(&v, &before, sizeof(v));
	judged.quality = PFM_QUALITY_PARTIAL;
	estimate_metric_error(&job, &judged, &v);
	assert_true(v.error == -1 && v.value == before.value);
}

/* With repetitions each slice is a run, and the interval is that of their mean. */
static void repetitions_are_runs(void **state)
{
	pfm_metric_value_t got, e = PFM_INIT(e);
	double samples[8 * INPUTS];

	(void)state;
	job.repeat = 8;
	for (unsigned k = 0; k < 8; k++) {
		for (unsigned i = 0; i < INPUTS; i++)
			samples[k * INPUTS + i] = compute_count(i, k);
		add_slice((const uint64_t[]){ 1000, 1000 });
	}
	for (unsigned i = 0; i < INPUTS; i++)
		counts[i].value /= 8;
	assert_int_equal(compute_from_repetitions(ctx, judged.metric.pmu, judged.metric.event,
	                                          samples, 8, INPUTS, &e),
	                 PFMLIB_SUCCESS);
	got = compute_value();
	judged.quality = PFM_QUALITY_EXACT;
	estimate_metric_error(&job, &judged, &got);
	assert_true(e.error > 0 && got.error == e.error);
	assert_true(fabs(got.low - (got.value - (e.value - e.low))) < 1e-12 &&
	            fabs(got.high - (got.value + (e.high - e.value))) < 1e-12);
	assert_true(got.low < got.value && got.value < got.high);
}

int main(void)
{
#define ROW(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)
	const struct CMUnitTest tests[] = {
		ROW(the_least_share_of_all_inputs),
		ROW(slices_in_which_something_is_missing),
		ROW(few_slices),
		ROW(slices_that_are_merged),
		ROW(exact_and_partial_values),
		ROW(repetitions_are_runs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("stat_errors", tests, open_context, close_context);
}
