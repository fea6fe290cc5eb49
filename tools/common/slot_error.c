/* SPDX-License-Identifier: MIT */
/* The estimate is the count of the slots that were seen, divided by their time and multiplied with
 * the time of all slots. Slots are a sample without replacement, so the ratio estimator's variance
 * (Cochran, Sampling Techniques, chapter 6) applies: the sum of squares of raw - rate * running.
 *
 * Two things are beyond that variance. A command starts and ends once: where a group was off in the
 * first or the last slot, nothing tells its rate there, which is assumed to be anything between
 * none and twice the mean. And a few slots say little about the others, so they have no interval:
 * of rates with two values, the rarer in one of five slots, 20 slots miss it in one of a hundred
 * samples. */
#include "common/slot_error.h"

#include <math.h>
#include "common/student_t.h"

enum { MIN_SLOTS = 20 };

void add_slot(struct slot_rates *s)
{
	if (s->time <= 0)
		return;
	if (s->is_on && s->running > 0) {
		s->n++;
		s->sum_raw += s->raw;
		s->sum_running += s->running;
		s->raw_squares += s->raw * s->raw;
		s->running_squares += s->running * s->running;
		s->products += s->raw * s->running;
		s->unseen_last = 0;
	} else {
		s->unseen_last = s->time;
	}
	if (s->n_past++ == 0)
		s->unseen_first = s->unseen_last;
	s->sum_time += s->time;
	s->raw = s->running = s->time = 0;
	s->is_on = false;
}

/* Returns the standard error of the rate, in percent of it; negative: unknown. */
static double compute_rate_error(const struct slot_rates *s)
{
	double rate, squares;

	if (s->n < 2 || s->sum_raw <= 0)
		return -1;
	rate = s->sum_raw / s->sum_running;
	squares = s->raw_squares - 2 * rate * s->products + rate * rate * s->running_squares;
	return squares > 0 ? 100 * sqrt(squares / (s->n - 1) * s->n) / s->sum_raw : 0;
}

double compute_standard_slot_error(const struct slot_rates *s)
{
	double error = compute_rate_error(s), seen = s->sum_running / s->sum_time;

	return error > 0 && seen < 1 ? error * sqrt(1 - seen) : error;
}

/* The slots that were not seen are taken to differ from the estimate like a new sample: this makes
 * up for skewed rates. */
double compute_slot_interval(const struct slot_rates *s, bool has_ends)
{
	double error = compute_rate_error(s), ends = 0;

	if (s->n < MIN_SLOTS || error < 0)
		return -1;
	if (has_ends && s->n_past > 1)
		ends = 100 * (s->unseen_first + s->unseen_last) / s->sum_time;
	return get_student_t(s->n - 1) * error + ends;
}
