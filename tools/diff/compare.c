/* SPDX-License-Identifier: MIT */
/* Decides whether a change is by chance. With one recording on each side, only chance in sampling
 * is known. With several, the variance of a place's value between the runs of a side is measured;
 * it contains both chance in sampling and what differs from run to run: other programs, clock
 * frequencies, layouts of memory. Samples of a clock are taken at equal distances, so that between
 * equal runs they differ by less than independent samples would: of a function with two thirds of
 * 2,000 samples, the measured deviation was 0.4 % of the whole, that of independent samples is 1.1
 * %. */
#include "diff/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/pfm.h"
#include "diff/matches.h"
#include "diff/stats.h"
#include "diff/visits.h"

bool has_several_runs(const struct diff *d)
{
	return d->n_recordings > SIDES;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The divisor of weights of @event in recording @run. */
static double compute_divisor(const struct diff *d, uint32_t event, unsigned run)
{
	const struct diff_recording *r = &d->recordings[run];

	switch (d->divisor) {
	case DIVIDE_BY_TOTAL: return (double)d->events[event].runs[run].weight;
	case DIVIDE_BY_NUMBERS: return d->numbers[r->side];
	case DIVIDE_BY_VISITS: return r->visits;
	case DIVIDE_BY_TIME: return (double)time_span_length(&r->profile.sampled) / 1e9;
	case DIVIDE_BY_EVENT:
		return (double)d->events[find_diff_event(d, d->divisor_event)].runs[run].weight;
	default: return 1;
	}
}

/* The divisor of all recordings of a side together. */
static double add_divisors(const struct diff *d, uint32_t event, unsigned side)
{
	double sum = 0;

	for (unsigned run = 0; run < d->n_recordings; run++)
		if (d->recordings[run].side == side)
			sum += compute_divisor(d, event, run);
	return sum;
}

/* The relative variance of the divisor of a side. */
static double compute_divisor_variance(const struct diff *d, unsigned side)
{
	const struct profile_sum *sum;

	if (d->divisor != DIVIDE_BY_EVENT)
		return 0;
	sum = &d->events[find_diff_event(d, d->divisor_event)].sum[side];
	return sum->squares / ((double)sum->weight * (double)sum->weight);
}

static void fill_side(const struct diff *d, const struct diff_row *row, unsigned side,
                      struct diff_side *out)
{
	const struct profile_sum *sum = &d->events[row->event].sum[side];
	double weight = (double)sum->weight;

	out->total = weight * weight / sum->squares;
	out->samples = out->total * (double)row->weight[side] / weight;
	out->exposure = out->total / weight * add_divisors(d, row->event, side);
	out->divisor_variance = compute_divisor_variance(d, side);
}

/* Is the share of something that is divided by itself? */
static bool is_share(const struct diff *d, uint32_t event)
{
	return d->divisor == DIVIDE_BY_TOTAL ||
	       (d->divisor == DIVIDE_BY_EVENT &&
	        strcmp(d->events[event].name, d->divisor_event) == 0);
}

static bool is_tested(const struct diff_row *row)
{
	return row->samples[OLD_SIDE] + row->samples[NEW_SIDE] >= TESTED_SAMPLES;
}

/* The value of the whole event on the old side, in which values are measured. */
static double compute_unit(const struct diff *d, uint32_t event)
{
	const struct diff_event *e = &d->events[event];
	double sum = 0;

	for (unsigned run = 0; run < d->n_recordings; run++)
		if (d->recordings[run].side == OLD_SIDE)
			sum += (double)e->runs[run].weight / compute_divisor(d, event, run);
	return sum / d->n_runs[OLD_SIDE];
}

/* ---- one recording on each side -------------------------------------------------------------- */

static void set_interval(const struct diff *d, struct diff_row *row, double deviation, double wide)
{
	row->change = row->value[NEW_SIDE] - row->value[OLD_SIDE];
	row->low = row->change - normal_quantile(d->confidence) * deviation;
	row->high = row->change + normal_quantile(d->confidence) * deviation;
	row->surely = row->change - wide * deviation;
}

/* Values, and the change with its intervals by chance in sampling; @n_tested rows are tested. */
static void compare_sides(struct diff *d, struct diff_row *row, const struct diff_side side[SIDES],
                          size_t n_tested)
{
	bool share = is_share(d, row->event);
	double unit = compute_unit(d, row->event), variance[SIDES];

	for (unsigned i = 0; i < SIDES; i++) {
		row->value[i] = side[i].samples / side[i].exposure / unit;
		variance[i] = compute_variance(&side[i], share);
	}
	row->deviation = sqrt((variance[OLD_SIDE] + variance[NEW_SIDE]) / 2) / unit;
	set_interval(d, row, sqrt(variance[OLD_SIDE] + variance[NEW_SIDE]) / unit,
	             normal_quantile(1 - (1 - d->confidence) / (double)(n_tested ? n_tested : 1)));
	row->p = is_tested(row)
	                 ? compute_difference_probability(&side[OLD_SIDE], &side[NEW_SIDE], share)
	                 : 1;
}

/* ---- counts of an emulator ------------------------------------------------------------------- */

/* Every difference is one of the programs. */
static void compare_counts(const struct diff *d, struct diff_row *row)
{
	const double unit = compute_unit(d, row->event);

	for (unsigned i = 0; i < SIDES; i++)
		row->value[i] = (double)row->weight[i] / add_divisors(d, row->event, i) / unit;
	row->change = row->value[NEW_SIDE] - row->value[OLD_SIDE];
	row->low = row->high = row->surely = row->change;
	row->deviation = 0;
	row->is_significant = row->weight[OLD_SIDE] != row->weight[NEW_SIDE];
	row->p = row->is_significant ? 0 : 1;
}

/* ---- several recordings ---------------------------------------------------------------------- */

static double get_run_value(const struct diff *d, const struct diff_row *row, unsigned run)
{
	return (double)get_run_weight(d, row, run) / compute_divisor(d, row->event, run);
}

static void compute_means(const struct diff *d, const struct diff_row *row, double mean[SIDES])
{
	mean[OLD_SIDE] = mean[NEW_SIDE] = 0;
	for (unsigned run = 0; run < d->n_recordings; run++) {
		unsigned side = d->recordings[run].side;

		mean[side] += get_run_value(d, row, run) / d->n_runs[side];
	}
}

/* The variance of the value of a run, from the differences between the runs of each side. It is at
 * least that of rounding to a whole number of samples. */
static double measure_variance(const struct diff *d, const struct diff_row *row,
                               const double mean[SIDES], const struct diff_side side[SIDES])
{
	double sum = 0, rounding = 0;

	for (unsigned run = 0; run < d->n_recordings; run++) {
		double difference = get_run_value(d, row, run) - mean[d->recordings[run].side];

		sum += difference * difference;
	}
	for (unsigned i = 0; i < SIDES; i++) {
		double step = d->n_runs[i] / side[i].exposure;

		rounding = fmax(rounding, step * step / 12);
	}
	return fmax(sum / (d->n_recordings - SIDES), rounding);
}

/* Values, and the change with its intervals by the differences between runs. */
static void compare_runs(struct diff *d, struct diff_row *row, const struct diff_side side[SIDES],
                         size_t n_tested)
{
	double freedom = d->n_recordings - SIDES, unit = compute_unit(d, row->event), mean[SIDES],
	       error, width;

	compute_means(d, row, mean);
	row->deviation = sqrt(measure_variance(d, row, mean, side)) / unit;
	error = row->deviation * sqrt(1.0 / d->n_runs[OLD_SIDE] + 1.0 / d->n_runs[NEW_SIDE]);
	for (unsigned i = 0; i < SIDES; i++)
		row->value[i] = mean[i] / unit;
	row->change = row->value[NEW_SIDE] - row->value[OLD_SIDE];
	width = student_quantile(d->confidence, freedom) * error;
	row->low = row->change - width;
	row->high = row->change + width;
	row->surely = row->change -
	              student_quantile(1 - (1 - d->confidence) / (double)(n_tested ? n_tested : 1),
	                               freedom) *
	                      error;
	row->p = 1;
	if (is_tested(row))
		row->p = fmax(compute_student_probability(row->change / error, freedom),
		              compute_rare_probability(&side[OLD_SIDE], &side[NEW_SIDE],
		                                       is_share(d, row->event)));
}

double estimate_needed_runs(const struct diff_row *row)
{
	/* A change is marked at 1.96 standard errors; one that is 1.64 larger is above that in 95
	 * of 100 comparisons. */
	double errors = normal_quantile(0.95) + normal_quantile(0.9);
	double n = 2 * pow(errors * row->deviation / row->change, 2);

	/* One more, as the variance of few runs is not well known. */
	return row->change < 0 || row->change > 0 ? ceil(n) + 1 : 0;
}

/* ---- all rows -------------------------------------------------------------------------------- */

/* The share of the row in its event, of all recordings. */
static double get_share(const struct diff *d, const struct diff_row *row)
{
	const struct profile_sum *sum = d->events[row->event].sum;

	return (double)(row->weight[OLD_SIDE] + row->weight[NEW_SIDE]) /
	       (double)(sum[OLD_SIDE].weight + sum[NEW_SIDE].weight);
}

/* Weighs the probabilities of the @n rows that are tested: one half of the permitted false
 * discoveries is divided equally, the other half by the sizes of places, which do not depend on
 * their changes. A function that is two thirds of a program is not hidden by a hundred small ones.
 */
static void weigh_probabilities(const struct diff *d, double *p, size_t n)
{
	double shares = 0;
	size_t k = 0;

	for (size_t i = 0; i < d->n_rows; i++)
		shares += is_tested(&d->rows[i]) ? get_share(d, &d->rows[i]) : 0;
	for (size_t i = 0; i < d->n_rows; i++)
		if (is_tested(&d->rows[i]))
			p[k++] /= 0.5 + 0.5 * (double)n * get_share(d, &d->rows[i]) / shares;
}

/* Adjusts the probabilities of the rows that are tested. */
static bool adjust_rows(struct diff *d)
{
	double *p = calloc(d->n_rows + 1, sizeof(*p));
	size_t n = 0;
	bool is_adjusted;

	if (!p)
		return false;
	for (size_t i = 0; i < d->n_rows; i++)
		if (is_tested(&d->rows[i]))
			p[n++] = d->rows[i].p;
	if (has_several_runs(d))
		weigh_probabilities(d, p, n);
	is_adjusted =
		adjust_probabilities(p, n, has_several_runs(d) ? FALSE_DISCOVERIES : FALSE_ALARMS);
	n = 0;
	for (size_t i = 0; is_adjusted && i < d->n_rows; i++) {
		if (is_tested(&d->rows[i]))
			d->rows[i].p = p[n++];
		d->rows[i].is_significant = d->rows[i].p < 1 - d->confidence;
	}
	free(p);
	return is_adjusted;
}

/* By event, the whole first, then by the size of the change. */
static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	double m = fabs(x->change), n = fabs(y->change);

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (!x->place != !y->place)
		return x->place ? 1 : -1;
	if (m < n || m > n)
		return m < n ? 1 : -1;
	if (x->weight[NEW_SIDE] != y->weight[NEW_SIDE])
		return x->weight[NEW_SIDE] < y->weight[NEW_SIDE] ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

static void compare_row(struct diff *d, struct diff_row *row, size_t n_tested)
{
	struct diff_side side[SIDES];

	for (unsigned i = 0; i < SIDES; i++) {
		fill_side(d, row, i, &side[i]);
		if (is_share(d, row->event))
			side[i].divisor_variance = 0;
	}
	if (d->is_exact)
		compare_counts(d, row);
	else if (has_several_runs(d))
		compare_runs(d, row, side, n_tested);
	else
		compare_sides(d, row, side, n_tested);
}

static bool compare_all(struct diff *d)
{
	size_t n_tested = 0;

	for (size_t i = 0; i < d->n_rows; i++)
		n_tested += is_tested(&d->rows[i]);
	for (size_t i = 0; i < d->n_rows; i++)
		compare_row(d, &d->rows[i], n_tested);
	if (!d->is_exact && !adjust_rows(d))
		return false;
	if (d->n_rows)
		qsort(d->rows, d->n_rows, sizeof(*d->rows), compare_rows);
	return true;
}

/* Can values be divided as is wanted? */
static int check_divisor(struct diff *d)
{
	char problem[300];
	uint32_t event;

	for (unsigned i = 0; d->divisor == DIVIDE_BY_TIME && i < d->n_recordings; i++)
		if (!time_span_length(&d->recordings[i].profile.sampled)) {
			fprintf(stderr,
			        "pfm diff: --normalize time needs samples at two times, got fewer "
			        "in %s\n",
			        d->recordings[i].path);
			return EXIT_REFUSED;
		}
	if (d->divisor == DIVIDE_BY_VISITS)
		return read_visits(d);
	if (d->divisor != DIVIDE_BY_EVENT)
		return EXIT_DONE;
	event = find_diff_event(d, d->divisor_event);
	if (event < d->n_events && is_event_of_all(d, &d->events[event]))
		return EXIT_DONE;
	snprintf(problem, sizeof(problem),
	         "--normalize: expected share, count, time or an event of %s recordings, got '%s'",
	         has_several_runs(d) ? "all" : "both", d->divisor_event);
	return refuse_events(d, problem);
}

int compute_diff(struct diff *d)
{
	int status = read_diff(d);

	if (status != EXIT_DONE)
		return status;
	status = check_divisor(d);
	if (status != EXIT_DONE)
		return status;
	if (!collect_rows(d))
		return report_no_memory();
	if (!d->n_rows)
		return refuse_events(d, "the recordings have no event in common");
	status = apply_matches(d);
	if (status != EXIT_DONE)
		return status;
	return compare_all(d) && (!d->options.code_ranges || find_offers(d)) ? EXIT_DONE
	                                                                     : report_no_memory();
}
