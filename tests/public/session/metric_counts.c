/* SPDX-License-Identifier: MIT */
/* Metrics of counts that a caller has summed. The expected error is what pfm_compute_metric() says
 * of samples that the test works out for itself. */
#include <float.h>
#include <math.h>
#include <perfmon/session.h>
#include "units.h"
#include "built_in.h"
#include "metrics.h"

enum { INPUTS = 2, PARTS = 16 };

static int pmu;
static unsigned event;
static pfm_count_part_t parts[INPUTS][PARTS];
static pfm_input_count_t counts[INPUTS];
static pfm_metric_counts_t data;

/* Instructions per cycle from two counts in one group. */
static int begin(void **state)
{
	open_context(state);
	memset(parts, 0, sizeof(parts));
	for (unsigned i = 0; i < INPUTS; i++)
		counts[i] = (pfm_input_count_t){
			.input = i, .observed = 1, .quality = PFM_QUALITY_SCALED, .parts = parts[i]
		};
	data = (pfm_metric_counts_t){ .size = sizeof(data),
		                      .model = PFM_ERROR_FROM_INTERVALS,
		                      .n_counts = INPUTS,
		                      .counts = counts };
	return pfm_find_event_by_text(ctx, "hardware::ipc", &pmu, &event, NULL);
}

/* Count of each input in part @k while its counter was available, out of 1000. */
static double make_count(unsigned input, unsigned k)
{
	return 3000 + 1000 * input + (k * 37 + input * 11) % 50;
}

/* A part in which input i had @running[i] of 1000. */
static void add_part(const double running[INPUTS])
{
	for (unsigned i = 0; i < INPUTS; i++) {
		double raw = running[i] > 0 ? make_count(i, data.n_parts) : 0;

		parts[i][data.n_parts] = (pfm_count_part_t){ raw, 1000, running[i] };
		counts[i].value += running[i] > 0 ? raw * 1000 / running[i] : 0;
	}
	data.n_parts++;
}

static pfm_session_metric_t compute(void)
{
	pfm_session_metric_t m = PFM_INIT(m);

	assert_int_equal(pfm_compute_counted_metric(ctx, pmu, event, &data, &m), PFMLIB_SUCCESS);
	assert_true(m.pmu == pmu && m.event == event && m.request == 0);
	return m;
}

static void expect_interval(const double *samples, unsigned n, double observed)
{
	pfm_metric_operand_t operands[INPUTS];
	pfm_metric_value_t want = PFM_INIT(want);
	pfm_session_metric_t got = compute();

	for (unsigned i = 0; i < INPUTS; i++)
		operands[i] = (pfm_metric_operand_t){ .value = counts[i].value, .known = 1 };
	assert_int_equal(compute_from_intervals(ctx, pmu, event, operands, INPUTS, samples, n,
	                                        observed, &want),
	                 PFMLIB_SUCCESS);
	if (got.value != want.value || got.error != want.error || got.low != want.low ||
	    got.high != want.high)
		fail_msg("%g +- %g, %g to %g, expected %g +- %g, %g to %g", got.value, got.error,
		         got.low, got.high, want.value, want.error, want.low, want.high);
}

/* The share is that of the count that was taken least, whichever it is; of counts in several groups
 * it is 0. */
static void the_least_observed_count_decides(void **state)
{
	static const double shares[][INPUTS] = {
		{ 500, 1000 }, { 1000, 500 }, { 250, 500 }, { 500, 250 }, { 800, 800 }
	};

	for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
		double samples[PARTS * INPUTS];

		close_context(state);
		begin(state);
		for (unsigned k = 0; k < PARTS; k++) {
			for (unsigned i = 0; i < INPUTS; i++)
				samples[k * INPUTS + i] = make_count(i, k) * (1000 / shares[s][i]);
			add_part(shares[s]);
		}
		for (unsigned i = 0; i < INPUTS; i++)
			counts[i].observed = shares[s][i] / 1000;
		expect_interval(samples, PARTS, fmin(shares[s][0], shares[s][1]) / 1000);
		assert_false(compute().across_groups);
		counts[1].group = 1;
		expect_interval(samples, PARTS, 0);
		assert_true(compute().across_groups);
	}
}

/* Counts that had their turn in every other part: samples are as long as both took. */
static void parts_without_a_count_are_joined(void **state)
{
	double samples[PARTS / 2 * INPUTS];

	(void)state;
	for (unsigned k = 0; k < PARTS; k++) {
		samples[k / 2 * INPUTS + k % 2] = make_count(k % 2, k) * 2;
		add_part((const double[]){ k % 2 ? 0 : 1000, k % 2 ? 1000 : 0 });
	}
	counts[0].observed = counts[1].observed = 0.5;
	expect_interval(samples, PARTS / 2, 0.5);
}

static void three_parts_show_no_error(void **state)
{
	static const double none[INPUTS];

	(void)state;
	for (unsigned k = 0; k < 3; k++)
		add_part((const double[]){ 500, 500 });
	counts[0].observed = counts[1].observed = 0.5;
	expect_interval(none, 0, 0.5);
}

static void exact_counts_have_no_error_and_partial_ones_an_unknown_one(void **state)
{
	pfm_session_metric_t m;

	(void)state;
	for (unsigned k = 0; k < PARTS; k++)
		add_part((const double[]){ 1000, 1000 });
	counts[0].quality = counts[1].quality = PFM_QUALITY_EXACT;
	m = compute();
	assert_true(m.error == 0 && m.low == m.value && m.high == m.value);
	assert_int_equal(m.quality, PFM_QUALITY_EXACT);
	counts[1].quality = PFM_QUALITY_PARTIAL;
	m = compute();
	assert_true(m.error < 0 && m.low == -DBL_MAX && m.high == DBL_MAX);
	assert_int_equal(m.quality, PFM_QUALITY_PARTIAL);
}

/* With repetitions each part is a run, or the sum of several. */
static void the_interval_of_repetitions_is_around_the_mean(void **state)
{
	pfm_metric_value_t want = PFM_INIT(want);
	double samples[8 * INPUTS];
	pfm_session_metric_t got;

	(void)state;
	for (unsigned k = 0; k < 8; k++) {
		for (unsigned i = 0; i < INPUTS; i++)
			samples[k * INPUTS + i] = make_count(i, k);
		add_part((const double[]){ 1000, 1000 });
	}
	for (unsigned i = 0; i < INPUTS; i++)
		counts[i].value /= 8;
	assert_int_equal(compute_from_repetitions(ctx, pmu, event, samples, 8, INPUTS, &want),
	                 PFMLIB_SUCCESS);
	data.model = PFM_ERROR_FROM_REPETITIONS;
	got = compute();
	assert_true(want.error > 0 && got.error == want.error);
	assert_true(fabs(got.low - want.low) < 1e-12 && fabs(got.high - want.high) < 1e-12);
	data.n_parts = 1; /* one run of shared counters shows nothing */
	assert_true(compute().error < 0);
}

/* Counts of one input are added; the error is that of both. */
static void counts_of_one_input_are_added(void **state)
{
	pfm_input_count_t three[INPUTS + 1];
	pfm_session_metric_t m;

	(void)state;
	data.model = PFM_ERROR_PROPAGATED;
	counts[0].value = 1000;
	counts[1].value = 500;
	m = compute();
	memcpy(three, counts, sizeof(counts));
	three[2] = three[0];
	data.counts = three;
	data.n_counts = INPUTS + 1;
	assert_true(compute().value == 2 * m.value);
}

static void a_missing_count_is_named(void **state)
{
	pfm_session_metric_t m;

	(void)state;
	data.model = PFM_ERROR_PROPAGATED;
	counts[0].value = counts[1].value = 10;
	counts[1].quality = PFM_QUALITY_NOT_COUNTED;
	m = compute();
	assert_int_equal(m.missing, 1);
	assert_int_equal(m.state, PFM_METRIC_NOT_COUNTED);
	assert_int_equal(m.quality, PFM_QUALITY_NOT_COUNTED);
	data.n_counts = 1; /* the other input has no count at all */
	m = compute();
	assert_int_equal(m.missing, -1);
	assert_int_equal(m.state, PFM_METRIC_NOT_COUNTED);
}

static void wrong_arguments_are_refused(void **state)
{
	pfm_session_metric_t m = PFM_INIT(m);
	int rc;

	(void)state;
	assert_int_equal(pfm_compute_counted_metric(ctx, pmu, event, NULL, &m), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_compute_counted_metric(ctx, pmu, event, &data, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_compute_counted_metric(ctx, -1, event, &data, &m), PFMLIB_ERR_INVAL);
	counts[1].input = 77;
	rc = pfm_compute_counted_metric(ctx, pmu, event, &data, &m);
	assert_int_equal(rc, PFMLIB_ERR_INVAL);
	counts[1].input = 1;
	data.seconds = -1;
	rc = pfm_compute_counted_metric(ctx, pmu, event, &data, &m);
	assert_int_equal(rc, PFMLIB_ERR_INVAL);
	data.seconds = 0;
	data.model = (pfm_error_model_t)3;
	rc = pfm_compute_counted_metric(ctx, pmu, event, &data, &m);
	assert_int_equal(rc, PFMLIB_ERR_INVAL);
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin, close_context)

UNIT(session_metric_counts, CASE(the_least_observed_count_decides),
     CASE(parts_without_a_count_are_joined), CASE(three_parts_show_no_error),
     CASE(exact_counts_have_no_error_and_partial_ones_an_unknown_one),
     CASE(the_interval_of_repetitions_is_around_the_mean), CASE(counts_of_one_input_are_added),
     CASE(a_missing_count_is_named), CASE(wrong_arguments_are_refused));
