/* SPDX-License-Identifier: MIT */
/* The error of a count that was estimated from slots, those in which its group was on. */
#ifndef PFM_SLOT_ERROR_H
#define PFM_SLOT_ERROR_H

#include <stdbool.h>

/* One row. Times are nanoseconds of the counted tasks or CPUs: @running on a counter, @time in all
 * groups of the turn. */
struct slot_rates {
	/* the current slot */
	double raw, running, time;
	bool is_on;
	/* completed slots: sums over those in which the group was on */
	unsigned n, n_past;
	double sum_raw, sum_running, raw_squares, running_squares, products;
	double sum_time;                  /* of all completed slots */
	double unseen_first, unseen_last; /* time of the first and of the latest slot; 0 if on */
};

void add_slot(struct slot_rates *s);

/* Returns the standard error of the estimate, in percent of it; negative: unknown. */
double compute_standard_slot_error(const struct slot_rates *s);

/* Returns half of the estimate's 95 % interval, in percent of it; negative: too few slots.
 * @has_ends: the first and the last slot contain the start and the end of a command. */
double compute_slot_interval(const struct slot_rates *s, bool has_ends);

#endif
