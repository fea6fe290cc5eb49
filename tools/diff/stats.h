/* SPDX-License-Identifier: MIT */
/* Statistics of two samples: how probable a difference is by chance. */
#ifndef PFM_DIFF_STATS_H
#define PFM_DIFF_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* One of the two recordings that are compared, as the place sees it. */
struct diff_side {
	double samples;  /* of the place */
	double total;    /* samples of the event: those that have the same information as samples of
	                    equal weight */
	double exposure; /* samples / exposure is the value that is compared */
	double divisor_variance; /* relative variance of what the exposure was computed from */
};

/* The two-sided probability of a difference at least as large as that of @old and @new if both
 * places have the same value. @is_share: values are shares of the total. */
double compute_difference_probability(const struct diff_side *old_side,
                                      const struct diff_side *new_side, bool is_share);
/* The variance of the value of a side. */
double compute_variance(const struct diff_side *side, bool is_share);
/* The number of standard deviations on both sides of the mean that hold @probability of a normal
 * distribution. */
double normal_quantile(double probability);

/* The exact two-sided probability where samples are few; 0 where they are many. */
double compute_rare_probability(const struct diff_side *old_side, const struct diff_side *new_side,
                                bool is_share);

/* The two-sided probability of |@t| or more by Student's distribution. */
double compute_student_probability(double t, double freedom);
/* The t that a share of @probability is within, on both sides of 0. */
double student_quantile(double probability, double freedom);

/* The quantity that is kept small in a family of tests: the probability that a family without a
 * difference has any alarm (Holm's method), or the expected share of false ones among the alarms of
 * a family (the method of Benjamini and Hochberg). */
enum error_bound { FALSE_ALARMS, FALSE_DISCOVERIES };

/* Adjusts the @n probabilities of a family: one below A is significant. False without memory. */
bool adjust_probabilities(double *p, size_t n, enum error_bound bound);

#endif
