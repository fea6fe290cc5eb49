/* SPDX-License-Identifier: MIT */
/* Samples of a place are counts: Poisson distributed, or hypergeometric where the total is given.
 * Where counts are small, exact tails replace the normal approximation, whose tails are too thin
 * there. */
#include "diff/stats.h"

#include <math.h>
#include <stdlib.h>

#define ENOUGH_SAMPLES 100.0 /* expected in each recording; the normal approximation holds */

double normal_quantile(double probability)
{
	double low = 0, high = 40;

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (erf(middle / sqrt(2)) < probability)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The continued fraction of the incomplete beta function (modified Lentz method). */
static double evaluate_beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return h;
}

/* The regularized incomplete beta function I_x(a, b). */
static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * evaluate_beta_fraction(a, b, x) / a
	                                 : 1 - front * evaluate_beta_fraction(b, a, 1 - x) / b;
}

/* The probability of at least @k successes in @n trials, each with probability @p. Real numbers
 * interpolate. */
static double binomial_tail(double k, double n, double p)
{
	if (k <= 0)
		return 1;
	return k > n ? 0 : incomplete_beta(k, n - k + 1, p);
}

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* The probability of exactly @k. */
static double hypergeometric(double k, double draw, double marked, double all)
{
	return exp(log_choose(marked, k) + log_choose(all - marked, draw - k) -
	           log_choose(all, draw));
}

/* The probability of at least @k marked ones in a draw of @draw out of @all, of which @marked are
 * marked. */
static double hypergeometric_tail(double k, double draw, double marked, double all)
{
	double least = fmax(0, draw + marked - all), most = fmin(draw, marked);
	double rest = all - marked - draw, sum = 0, term;

	if (k <= least)
		return 1;
	if (k > most)
		return 0;
	/* From @k away from the middle: terms only fall. */
	if (k * all > draw * marked) {
		term = hypergeometric(k, draw, marked, all);
		while (k <= most && term > sum * 1e-17) {
			sum += term;
			term *= (marked - k) * (draw - k) / ((k + 1) * (rest + k + 1));
			k++;
		}
		return fmin(1, sum);
	}
	term = hypergeometric(--k, draw, marked, all);
	while (k >= least && term > sum * 1e-17) {
		sum += term;
		term *= k * (rest + k) / ((marked - k + 1) * (draw - k + 1));
		k--;
	}
	return fmax(0, 1 - sum);
}

double compute_variance(const struct diff_side *side, bool is_share)
{
	/* One sample more: a place without samples is not known to have none. */
	double value = (side->samples + 1) / side->exposure;
	double variance = value / side->exposure;

	if (is_share)
		variance *= fmax(0, 1 - side->samples / side->exposure);
	return variance + value * value * side->divisor_variance;
}

/* By the normal approximation, with the variance that both have if they have one value. */
static double normal_probability(const struct diff_side *a, const struct diff_side *b,
                                 bool is_share)
{
	double value = (a->samples + b->samples) / (a->exposure + b->exposure);
	double variance = value / a->exposure + value / b->exposure;
	double difference = b->samples / b->exposure - a->samples / a->exposure;

	if (is_share)
		variance *= fmax(0, 1 - value);
	variance += value * value * (a->divisor_variance + b->divisor_variance);
	return variance > 0 ? erfc(fabs(difference) / sqrt(2 * variance)) : 1;
}

/* By the distribution of the samples of @b among those of both. */
static double compute_exact_probability(const struct diff_side *a, const struct diff_side *b,
                                        bool is_share)
{
	double x = round(a->samples), y = round(b->samples), at_least, more;

	if (is_share) {
		double draw = fmax(y, round(b->total)), all = draw + fmax(x, round(a->total));

		at_least = hypergeometric_tail(y, draw, x + y, all);
		more = hypergeometric_tail(y + 1, draw, x + y, all);
	} else {
		double p = b->exposure / (a->exposure + b->exposure);

		at_least = binomial_tail(y, x + y, p);
		more = binomial_tail(y + 1, x + y, p);
	}
	return fmin(1, 2 * fmin(at_least, 1 - more));
}

/* Are there too few samples for the normal approximation? */
static bool is_rare(const struct diff_side *old_side, const struct diff_side *new_side,
                    bool is_share)
{
	double value =
		(old_side->samples + new_side->samples) / (old_side->exposure + new_side->exposure);

	/* Few samples outside the place are as far from normal as few in it. */
	if (is_share)
		value = fmin(value, 1 - value);
	return value * fmin(old_side->exposure, new_side->exposure) < ENOUGH_SAMPLES;
}

double compute_difference_probability(const struct diff_side *old_side,
                                      const struct diff_side *new_side, bool is_share)
{
	double p = normal_probability(old_side, new_side, is_share);

	return is_rare(old_side, new_side, is_share)
	               ? fmax(p, compute_exact_probability(old_side, new_side, is_share))
	               : p;
}

double compute_rare_probability(const struct diff_side *old_side, const struct diff_side *new_side,
                                bool is_share)
{
	return is_rare(old_side, new_side, is_share)
	               ? compute_exact_probability(old_side, new_side, is_share)
	               : 0;
}

/* ---- Student's distribution ------------------------------------------------------------------ */

double compute_student_probability(double t, double freedom)
{
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double student_quantile(double probability, double freedom)
{
	double low = 0, high = 1;

	while (high < 1e9 && compute_student_probability(high, freedom) > 1 - probability)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (compute_student_probability(middle, freedom) > 1 - probability)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* ---- families of tests ----------------------------------------------------------------------- */

struct ranked {
	double p;
	size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->p < y->p ? -1 : x->p > y->p;
}

/* Holm: the smallest of N is multiplied by N, the next by N - 1, and so on. */
static void bound_false_alarms(double *p, const struct ranked *order, size_t n)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++) {
		largest = fmax(largest, fmin(1, order[i].p * (double)(n - i)));
		p[order[i].index] = largest;
	}
}

/* Benjamini and Hochberg: the smallest of N is multiplied by N, the next by N / 2, and so on. */
static void bound_false_discoveries(double *p, const struct ranked *order, size_t n)
{
	double smallest = 1;

	for (size_t i = n; i-- > 0;) {
		smallest = fmin(smallest, order[i].p * (double)n / (double)(i + 1));
		p[order[i].index] = smallest;
	}
}

bool adjust_probabilities(double *p, size_t n, enum error_bound bound)
{
	struct ranked *order = malloc((n + 1) * sizeof(*order));

	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct ranked){ p[i], i };
	if (n)
		qsort(order, n, sizeof(*order), compare_ranked);
	if (bound == FALSE_ALARMS)
		bound_false_alarms(p, order, n);
	else
		bound_false_discoveries(p, order, n);
	free(order);
	return true;
}
