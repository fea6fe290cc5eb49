/* SPDX-License-Identifier: MIT */
/* Errors of metrics: intervals against the truth. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "metric/metric.h"
#include "metrics.h"

/* An emulator or a checker runs us: a part of the long loops will do. */
static bool is_quick(void)
{
	return getenv("PERFMON_QUICK") != NULL;
}

/* ---- intervals ------------------------------------------------------------------------------- */

static double uniform(void)
{
	return (rand() + 0.5) / ((double)RAND_MAX + 1);
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static void find(const char *name, int *pmu, unsigned *event)
{
	assert_int_equal(pfm_find_event_by_text(NULL, name, pmu, event, NULL), PFMLIB_SUCCESS);
}

/* A program of a known IPC, its events on counters a part of the time: what is extrapolated is
 * off by some per cent, and rounds differ in length. The interval contains the true value 95
 * times of 100. */
static void the_truth_is_in_the_interval(void **state)
{
	const double ipc = 1.7;
	unsigned trials = 4000, inside = 0, rounds = 8, event;
	double samples[16];
	int pmu;

	(void)state;
	srand(11);
	find("hardware::ipc", &pmu, &event);
	for (unsigned t = 0; t < trials; t++) {
		pfm_metric_value_t v = PFM_INIT(v);

		for (unsigned r = 0; r < rounds; r++) {
			double length = 1e9 * (1 + 0.3 * uniform());

			samples[2 * r] = ipc * length * (1 + 0.03 * normal());
			samples[2 * r + 1] = length * (1 + 0.03 * normal());
		}
		assert_int_equal(compute_from_repetitions(NULL, pmu, event, samples, rounds, 2, &v),
		                 PFMLIB_SUCCESS);
		inside += v.low <= ipc && ipc <= v.high;
	}
	assert_in_range(inside, trials * 93 / 100, trials * 97 / 100);
}

/* The share of Student's distribution with @n degrees of freedom within @t of 0, by Simpson's
 * rule. */
static double share_within(double t, unsigned n)
{
	const unsigned steps = 2000;
	double factor = exp(lgamma((n + 1) / 2.0) - lgamma(n / 2.0)) / sqrt(n * acos(-1)), sum = 0;

	for (unsigned i = 0; i <= steps; i++) {
		double x = t * i / steps;

		sum += (i == 0 || i == steps ? 1
		        : i % 2              ? 4
		                             : 2) *
		       pow(1 + x * x / n, -0.5 * (n + 1));
	}
	return 2 * factor * sum * t / steps / 3;
}

static void an_interval_is_students(void **state)
{
	double samples[2 * 202];
	unsigned event;
	int pmu;

	(void)state;
	find("hardware::ipc", &pmu, &event);
	for (unsigned i = 0; i < 202; i++) {
		samples[2 * i] = i % 2 ? 900 : 1100;
		samples[2 * i + 1] = 1000;
	}
	for (unsigned n = 1; n <= 200; n++) {
		pfm_metric_value_t v = PFM_INIT(v);

		assert_int_equal(compute_from_repetitions(NULL, pmu, event, samples, n + 1, 2, &v),
		                 PFMLIB_SUCCESS);
		assert_true(v.error > 0 && fabs((v.high - v.value) - (v.value - v.low)) < 1e-9);
		assert_true(fabs(share_within((v.high - v.value) / v.error, n) - 0.95) < 1e-5);
	}
}

/* ---- one measurement whose groups took turns ------------------------------------------------- */

enum { TURNS = 60, MOST_PARTS = 32 };

/* A program of known IPC, run once. Its speed changes from turn to turn, and slowly over the run;
 * groups of events take turns. */
struct run {
	double parts[2 * MOST_PARTS], truth[2], counted[2];
};

/* @groups take turns, instructions in group 0, cycles in group @second. @drift: how much faster it
 * is at the end. */
static void run_program(struct run *r, unsigned n_parts, unsigned groups, unsigned second,
                        double drift)
{
	const double ipc = 1.7;

	*r = (struct run){ .truth = { 0 } };
	for (unsigned k = 0; k < n_parts; k++)
		for (unsigned t = 0; t < TURNS; t++) {
			double cycles = 1e6 * (1 + 0.1 * normal());
			double instructions =
				cycles * ipc * (1 + drift * k / n_parts) * (1 + 0.2 * normal());

			r->truth[0] += instructions;
			r->truth[1] += cycles;
			if (t % groups == 0)
				r->parts[2 * k] += instructions * groups;
			if (t % groups == second)
				r->parts[2 * k + 1] += cycles * groups;
		}
	for (unsigned k = 0; k < n_parts; k++)
		for (unsigned i = 0; i < 2; i++)
			r->counted[i] += r->parts[2 * k + i];
}

/* How often, of @trials, the interval has the ratio that the whole run had. */
static unsigned judged_rightly(unsigned trials, unsigned n_parts, unsigned groups, unsigned second,
                               double drift)
{
	unsigned inside = 0, event;
	int pmu;

	find("hardware::ipc", &pmu, &event);
	for (unsigned t = 0; t < trials; t++) {
		pfm_metric_value_t v = PFM_INIT(v);
		struct run r;

		run_program(&r, n_parts, groups, second, drift);
		assert_int_equal(
			compute_from_intervals(
				NULL, pmu, event,
				(pfm_metric_operand_t[]){ { .value = r.counted[0], .known = 1 },
		                                          { .value = r.counted[1], .known = 1 } },
				2, r.parts, n_parts, second ? 0 : 1.0 / groups, &v),
			PFMLIB_SUCCESS);
		assert_true(fabs(v.value - r.counted[0] / r.counted[1]) < 1e-12);
		inside += v.low <= r.truth[0] / r.truth[1] && r.truth[0] / r.truth[1] <= v.high;
	}
	return inside;
}

static void extrapolated_values_have_intervals(void **state)
{
	const unsigned trials = 2000, most = is_quick() ? 8 : MOST_PARTS,
		       most_groups = is_quick() ? 2 : 4;

	(void)state;
	srand(23);
	for (unsigned n = 8; n <= most; n *= 4)
		for (unsigned groups = 2; groups <= most_groups; groups += 2) {
			/* All in one group: neither too narrow nor too wide. */
			assert_in_range(judged_rightly(trials, n, groups, 0, 0), trials * 93 / 100,
			                trials * 97 / 100);
			/* It gets faster on the way, or its events are in groups of their own: the
			 * bound holds. */
			assert_in_range(judged_rightly(trials, n, groups, 0, 0.3),
			                trials * 93 / 100, trials);
			assert_in_range(judged_rightly(trials, n, groups, 1, 0), trials * 93 / 100,
			                trials);
		}
}

static void parts_that_do_not_tell(void **state)
{
	pfm_metric_operand_t in[] = { { .value = 20, .known = 1 }, { .value = 10, .known = 1 } };
	double parts[] = { 9, 5, 11, 5 };
	pfm_metric_value_t v = PFM_INIT(v);
	unsigned event;
	int pmu;

	(void)state;
	find("hardware::ipc", &pmu, &event);
	assert_int_equal(compute_from_intervals(NULL, pmu, event, in, 2, parts, 2, 0.5, &v),
	                 PFMLIB_SUCCESS);
	/* 18 / 10 and 22 / 10: (0.4 ** 2 / 2 / 2) * 0.5 is the variance, 12.7062 Student's of one
	 * degree. */
	assert_true(fabs(v.error - sqrt(0.02)) < 1e-12);
	assert_true(fabs((v.high - 2) / v.error - 12.7062) < 1e-4);
	assert_int_equal(compute_from_intervals(NULL, pmu, event, in, 2, parts, 1, 0.5, &v),
	                 PFMLIB_SUCCESS);
	assert_true(v.value == 2 && v.error < 0 && v.low < -1e300 && v.high > 1e300);
	assert_int_equal(compute_from_intervals(NULL, pmu, event, in, 2, NULL, 0, 1, &v),
	                 PFMLIB_SUCCESS);
	assert_true(v.error == 0 && v.low == 2 && v.high == 2);
	parts[1] = NAN;
	assert_int_equal(compute_from_intervals(NULL, pmu, event, in, 2, parts, 2, 0, &v),
	                 PFMLIB_SUCCESS);
	assert_true(v.error < 0);
	in[1].known = 0;
	assert_int_equal(compute_from_intervals(NULL, pmu, event, in, 2, parts, 2, 0, &v),
	                 PFMLIB_SUCCESS);
	assert_int_equal(v.state, PFM_METRIC_NOT_COUNTED);
	assert_int_equal(compute_from_intervals(NULL, pmu, event, in, 2, NULL, 2, 0, &v),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(compute_from_intervals(NULL, pmu, event, in, 2, parts, 2, 1.5, &v),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(compute_from_intervals(NULL, pmu, event, in, 2, parts, 2, NAN, &v),
	                 PFMLIB_ERR_INVAL);
}

static void errors_of_counts_become_errors_of_values(void **state)
{
	pfm_metric_operand_t in[] = { { .value = 2000, .error = 20, .known = 1 },
		                      { .value = 1000, .error = 10, .known = 1 } };
	pfm_metric_value_t v = PFM_INIT(v);
	unsigned event;
	int pmu;

	(void)state;
	find("hardware::ipc", &pmu, &event);
	assert_int_equal(compute_propagated(NULL, pmu, event, in, 2, &v), PFMLIB_SUCCESS);
	assert_true(fabs(v.value - 2) < 1e-12);
	assert_true(fabs(v.error - 2 * sqrt(2) * 0.01) < 1e-12);
	assert_true(fabs(v.high - v.value - 1.959964 * v.error) < 1e-12);
	in[1].known = 0;
	assert_int_equal(compute_propagated(NULL, pmu, event, in, 2, &v), PFMLIB_SUCCESS);
	assert_int_equal(v.state, PFM_METRIC_NOT_COUNTED);
	assert_int_equal(v.missing, 1);
	assert_int_equal(compute_propagated(NULL, pmu, 0, in, 2, &v), PFMLIB_ERR_NOTFOUND);
}

/* Counts that go up and down together: nothing is left of that in their ratio, not even what was
 * rounded. */
static void cancelling_terms_leave_nothing(void **state)
{
	pfm_metric_value_t v = PFM_INIT(v);
	double samples[2 * 16];
	unsigned event;
	int pmu;

	(void)state;
	find("hardware::ipc", &pmu, &event);
	srand(7);
	for (unsigned t = 0; t < 200; t++) {
		const double ipc = 0.1 + (double)(t % 40) / 7;

		for (unsigned r = 0; r < 16; r++) {
			samples[2 * r + 1] = 1e6 + rand() % 1000000;
			samples[2 * r] = ipc * samples[2 * r + 1];
		}
		assert_int_equal(compute_from_repetitions(NULL, pmu, event, samples, 16, 2, &v),
		                 PFMLIB_SUCCESS);
		assert_true(v.error == 0 && v.low == v.value && v.high == v.value);
		samples[0] *= 1 + 1e-12;
		assert_int_equal(compute_from_repetitions(NULL, pmu, event, samples, 16, 2, &v),
		                 PFMLIB_SUCCESS);
		assert_true(v.error > 0 && v.low < v.value && v.high > v.value);
	}
}

static void formulas_are_printed(void **state)
{
	char text[128];
	unsigned event;
	int pmu, n;

	(void)state;
	find("software::cpus_used", &pmu, &event);
	n = pfm_print_metric(NULL, pmu, event, 0, text, sizeof(text));
	assert_string_equal(text, "('task-clock' / (#duration_ms * 1000000))");
	assert_int_equal(n, (int)strlen(text));
	assert_int_equal(pfm_print_metric(NULL, pmu, event, 0, text, 5), n);
	assert_string_equal(text, "('ta");
	assert_int_equal(pfm_print_metric(NULL, pmu, event, 1, text, 5), PFMLIB_ERR_NOTFOUND);
}

static void the_error_of_a_metric_needs_two_rounds(void **state)
{
	double samples[80];
	pfm_metric_value_t v = PFM_INIT(v);
	unsigned event;
	int pmu;

	(void)state;
	find("hardware::ipc", &pmu, &event);
	for (unsigned i = 0; i < 40; i++) {
		samples[2 * i] = 2000 + (i & 1);
		samples[2 * i + 1] = 1000;
	}
	/* One round says nothing of its error. */
	assert_int_equal(compute_from_repetitions(NULL, pmu, event, samples, 1, 2, &v),
	                 PFMLIB_SUCCESS);
	assert_true(v.low < -1e300 && v.high > 1e300 && v.value == 2);
	assert_int_equal(compute_from_repetitions(NULL, pmu, event, samples, 40, 2, &v),
	                 PFMLIB_SUCCESS);
	assert_true(fabs(v.value - 2.0005) < 1e-12);
	/* Student's 2.0227 for 39 degrees of freedom. */
	assert_true(fabs((v.high - v.value) / v.error - 2.0227) < 1e-3);
	samples[1] = 0;
	assert_int_equal(compute_from_repetitions(NULL, pmu, event, samples, 1, 2, &v),
	                 PFMLIB_SUCCESS);
	assert_int_equal(v.state, PFM_METRIC_DIVISION);
	assert_int_equal(v.missing, -1);
	samples[1] = NAN;
	assert_int_equal(compute_from_repetitions(NULL, pmu, event, samples, 1, 2, &v),
	                 PFMLIB_SUCCESS);
	assert_int_equal(v.state, PFM_METRIC_NOT_COUNTED);
	assert_int_equal(compute_from_repetitions(NULL, pmu, event, samples, 0, 2, &v),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(compute_from_repetitions(NULL, pmu, event, NULL, 1, 2, &v),
	                 PFMLIB_ERR_INVAL);
	/* Fewer counts than the formula reads. */
	assert_int_equal(compute_from_repetitions(NULL, pmu, event, samples, 1, 1, &v),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(compute_propagated(NULL, pmu, event, NULL, 1, &v), PFMLIB_ERR_INVAL);
}

static void states_have_names(void **state)
{
	(void)state;
	assert_string_equal(pfm_metric_state_name(PFM_METRIC_DEFINED), "defined");
	assert_string_equal(pfm_metric_state_name(PFM_METRIC_DIVISION), "division by zero");
	assert_string_equal(pfm_metric_state_name(PFM_METRIC_NOT_COUNTED), "not counted");
	assert_string_equal(pfm_metric_state_name(PFM_METRIC_OVERFLOW), "out of range");
	assert_string_equal(pfm_metric_state_name(77), "");
}

static void what_a_table_says(void **state)
{
	pfm_metric_info_t info = PFM_INIT(info);
	pfm_metric_input_t in = PFM_INIT(in);
	char text[64];
	perfmon_pmu_info_t whole = PFM_INIT(whole);
	unsigned event;
	int pmu;

	(void)state;
	find("hardware::ghz", &pmu, &event);
	assert_int_equal(pfm_describe_metric(NULL, pmu, event, &info), PFMLIB_SUCCESS);
	assert_string_equal(info.unit, "GHz");
	assert_string_equal(info.groups, "ratios");
	assert_int_equal(info.n_inputs, 2);
	assert_int_equal(info.n_value_inputs, 2);
	assert_int_equal(info.has_threshold, 0);
	assert_int_equal(pfm_describe_metric_input(NULL, pmu, event, 0, &in), PFMLIB_SUCCESS);
	assert_string_equal(in.text, "hardware::cpu-cycles");
	assert_int_equal(pfm_describe_metric_input(NULL, pmu, event, 1, &in), PFMLIB_SUCCESS);
	assert_string_equal(in.text, "software::task-clock");
	assert_int_equal(in.is_constant, 0);
	assert_int_equal(pfm_describe_metric_input(NULL, pmu, event, 2, &in), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_metric(NULL, pmu, 0, &info), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_metric(NULL, -1, 0, &info), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_metric(NULL, pfm_count_pmus(NULL), 0, &info),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_pmu(NULL, pmu, &whole), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_metric(NULL, pmu, whole.n_events, &info), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_metric_input(NULL, pmu, 0, 0, &in), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_print_metric(NULL, pmu, 0, 0, text, sizeof(text)),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_print_metric(NULL, pmu, event, 0, NULL, 1), PFMLIB_ERR_INVAL);
	/* A shorter struct is filled up to its size. */
	info.size = offsetof(pfm_metric_info_t, name);
	info.name = "before";
	assert_int_equal(pfm_describe_metric(NULL, pmu, event, &info), PFMLIB_SUCCESS);
	assert_string_equal(info.name, "before");
	info.size = in.size = sizeof(size_t) - 1;
	assert_int_equal(pfm_describe_metric(NULL, pmu, event, &info), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_metric_input(NULL, pmu, event, 0, &in), PFMLIB_ERR_INVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_truth_is_in_the_interval),
		cmocka_unit_test(an_interval_is_students),
		cmocka_unit_test(extrapolated_values_have_intervals),
		cmocka_unit_test(parts_that_do_not_tell),
		cmocka_unit_test(errors_of_counts_become_errors_of_values),
		cmocka_unit_test(the_error_of_a_metric_needs_two_rounds),
		cmocka_unit_test(states_have_names),
		cmocka_unit_test(cancelling_terms_leave_nothing),
		cmocka_unit_test(formulas_are_printed),
		cmocka_unit_test(what_a_table_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
