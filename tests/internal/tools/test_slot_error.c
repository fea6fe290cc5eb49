/* SPDX-License-Identifier: MIT */
/* Intervals of counts whose groups take turns, on programs that are made up: their true counts are
 * known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/units.h"
#include "tools/common/slot_error.h"

enum { RUNS = 1000, MAX_SLOTS = 400, FEWEST = 20 };

/* The rate of each slot, and its time; the first and the last are cut off somewhere. */
static double rates[MAX_SLOTS], times[MAX_SLOTS];
static uint64_t state;

/* Returns a number from 0 to 1. */
static double draw(void)
{
	return (double)(unit_random(&state) >> 11) / (double)(1ull << 53);
}

/* ---- programs ------------------------------------------------------------------------------- */

static void make_constant(unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		rates[k] = 1;
}

/* The sum of twelve uniform numbers is nearly normal, with deviation 1. */
static void make_noisy(unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		double sum = -6;

		for (unsigned i = 0; i < 12; i++)
			sum += draw();
		rates[k] = fmax(0, 1 + 0.2 * sum);
	}
}

static void make_uniform(unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		rates[k] = 2 * draw();
}

static void make_two_rates(unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		rates[k] = draw() < 0.5 ? 0.2 : 1.8;
}

static void make_phases(unsigned n)
{
	double rate = draw() < 0.5 ? 0.5 : 2;

	for (unsigned k = 0; k < n; k++) {
		rate = draw() < 0.1 ? 2.5 - rate : rate;
		rates[k] = rate;
	}
}

/* Most slots have little, few have much: a gamma distribution of shape 2. */
static void make_skewed(unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		rates[k] = -log((1 - draw()) * (1 - draw())) / 2;
}

static void make_ramp(unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		rates[k] = 0.5 + (double)k / n;
}

/* ---- rotations ------------------------------------------------------------------------------ */

/* Starting and ending are slower, or up to twice as fast. */
static void set_ends(unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		times[k] = 1e7;
	times[0] *= draw();
	times[n - 1] *= draw();
	rates[0] *= 2 * draw();
	rates[n - 1] *= draw();
}

/* Counts group @group of @n_groups. Returns the estimate, and the true count of all slots. */
static double count_in_turns(struct slot_rates *s, unsigned n, unsigned n_groups, unsigned group,
                             double *truth)
{
	*s = (struct slot_rates){ 0 };
	*truth = 0;
	for (unsigned k = 0; k < n; k++) {
		s->is_on = k % n_groups == group;
		s->time = times[k];
		s->running = s->is_on ? times[k] : 0;
		s->raw = s->is_on ? rates[k] * times[k] : 0;
		*truth += rates[k] * times[k];
		add_slot(s);
	}
	return s->sum_raw / s->sum_running * s->sum_time;
}

/* Returns how many of RUNS intervals contain the truth. */
static unsigned count_covered(void (*make)(unsigned n), unsigned n, unsigned n_groups)
{
	unsigned covered = 0;

	state = 0x9e3779b97f4a7c15;
	for (unsigned run = 0; run < RUNS; run++) {
		struct slot_rates s;
		double truth, estimate, half;

		make(n);
		set_ends(n);
		estimate = count_in_turns(&s, n, n_groups, run % n_groups, &truth);
		half = compute_slot_interval(&s, true) / 100 * estimate;
		assert_true(half >= 0);
		covered += fabs(estimate - truth) <= half * (1 + 1e-9);
	}
	return covered;
}

static void test_intervals_cover_the_truth_in_95_of_100_runs(void **unused)
{
	static const struct {
		const char *name;
		void (*make)(unsigned n);
	} programs[] = {
		{ "constant", make_constant }, { "noisy", make_noisy },
		{ "uniform", make_uniform },   { "two rates", make_two_rates },
		{ "phases", make_phases },     { "ramp", make_ramp },
		{ "skewed", make_skewed },
	};
	static const unsigned slots[] = { FEWEST, 30, 60, 100 }, groups[] = { 2, 3, 4 };

	(void)unused;
	for (unsigned p = 0; p < COUNT(programs); p++)
		for (unsigned i = 0; i < COUNT(slots); i++)
			for (unsigned g = 0; g < COUNT(groups); g++) {
				unsigned n = count_covered(programs[p].make, slots[i] * groups[g],
				                           groups[g]);

				if (n < RUNS * 95 / 100)
					fail_msg("%s, %u slots of %u groups: %u of %u intervals "
					         "cover the true count, expected 950",
					         programs[p].name, slots[i] * groups[g], groups[g],
					         n, RUNS);
			}
}

static void test_few_slots_have_no_interval(void **unused)
{
	struct slot_rates s;
	double truth;

	(void)unused;
	make_constant(MAX_SLOTS);
	set_ends(2 * FEWEST);
	count_in_turns(&s, 2 * FEWEST - 1, 2, 1, &truth);
	assert_int_equal(s.n, FEWEST - 1);
	assert_true(compute_slot_interval(&s, true) < 0);
	count_in_turns(&s, 2 * FEWEST, 2, 1, &truth);
	assert_true(compute_slot_interval(&s, true) > 0);
}

/* Counts of CPUs have no start and no end: equal slots have no error. */
static void test_ends_matter_for_commands_only(void **unused)
{
	struct slot_rates s;
	double truth;

	(void)unused;
	make_constant(MAX_SLOTS);
	for (unsigned k = 0; k < MAX_SLOTS; k++)
		times[k] = 1e7;
	count_in_turns(&s, 100, 2, 1, &truth);
	assert_true(compute_slot_interval(&s, false) < 1e-6);
	/* The first slot alone was off: one of a hundred. */
	assert_true(fabs(compute_slot_interval(&s, true) - 1) < 1e-6);
}

/* What a group counts between its last reading and the change of groups is not a slot. */
static void test_remainder_of_a_slot_is_not_a_slot(void **unused)
{
	struct slot_rates s = { .time = 1e7, .running = 1e4, .raw = 3e4 };

	(void)unused;
	add_slot(&s);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.n_past, 1);
	assert_true(s.unseen_first == 1e7);
	assert_true(compute_standard_slot_error(&s) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals_cover_the_truth_in_95_of_100_runs),
		cmocka_unit_test(test_few_slots_have_no_interval),
		cmocka_unit_test(test_ends_matter_for_commands_only),
		cmocka_unit_test(test_remainder_of_a_slot_is_not_a_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
