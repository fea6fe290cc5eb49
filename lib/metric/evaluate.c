/* SPDX-License-Identifier: MIT */
/* The value of a metric for a caller's counts, and the error that follows from errors of the
 * counts. */
#include <float.h>
#include <string.h>
#include "base/sizes.h"
#include "metric/metric.h"

/* Newton's method from above, because the library does not use libm. */
double pfmi_metric_compute_sqrt(double x)
{
	double r = x > 1 ? x : 1, before;

	if (!(x > 0))
		return 0;
	do {
		before = r;
		r = (r + x / r) / 2;
	} while (r < before);
	return before;
}

/* ---- values and errors ----------------------------------------------------------------------- */

/* The first input that was not counted if the value is undefined for that reason; otherwise -1. */
static int get_missing_input(const pfm_metric_operand_t *inputs, unsigned n,
                             const struct metric_number *value)
{
	for (unsigned i = 0; i < n && value->state == PFM_METRIC_NOT_COUNTED; i++)
		if (!inputs[i].known)
			return (int)i;
	return -1;
}

/* Is @value above the metric's threshold? 1, 0, or -1 if that is unknown. */
static int check_threshold(const struct metric *m, const pfm_metric_operand_t *inputs, unsigned n,
                           const struct metric_number *value)
{
	struct metric_number over;

	if (!*m->threshold_code ||
	    pfmi_metric_run_code(m->threshold_code, inputs, n, n, value, &over) || over.state)
		return -1;
	return over.value != 0;
}

static int evaluate_metric(const struct metric *m, const pfm_metric_operand_t *inputs, unsigned n,
                           pfm_metric_value_t *out)
{
	struct metric_number value;
	int rc = pfmi_metric_run_code(m->code, inputs, n, n, NULL, &value);

	if (rc)
		return rc;
	out->state = value.state;
	out->value = value.state ? 0 : value.value;
	out->missing = get_missing_input(inputs, n, &value);
	out->over_threshold = check_threshold(m, inputs, n, &value);
	return PFMLIB_SUCCESS;
}

/* The derivative of the value along input @i; 0 if it is undefined. */
static double compute_slope(const struct metric *m, const pfm_metric_operand_t *inputs, unsigned n,
                            unsigned i)
{
	struct metric_number value;

	if (pfmi_metric_run_code(m->code, inputs, n, i, NULL, &value) || value.state)
		return 0;
	return value.derivative;
}

/* Half of a 95 % interval in standard errors, by Student's distribution with @n degrees of freedom;
 * @n 0 is the normal distribution. */
static double get_interval_half_width(unsigned n)
{
	static const float table[] = { 0,       12.7062f, 4.3027f, 3.1824f, 2.7764f, 2.5706f,
		                       2.4469f, 2.3646f,  2.3060f, 2.2622f, 2.2281f, 2.2010f,
		                       2.1788f, 2.1604f,  2.1448f, 2.1314f, 2.1199f, 2.1098f,
		                       2.1009f, 2.0930f,  2.0860f, 2.0796f, 2.0739f, 2.0687f,
		                       2.0639f, 2.0595f,  2.0555f, 2.0518f, 2.0484f, 2.0452f,
		                       2.0423f };
	const double z = 1.959964, z2 = z * z;

	if (n > 0 && n < sizeof(table) / sizeof(table[0]))
		return (double)table[n];
	/* Two terms of the expansion in 1/n have four correct digits from 30 on. */
	return n ? z + z * (z2 + 1) / (4 * n) + z * (5 * z2 * z2 + 16 * z2 + 3) / (96.0 * n * n)
	         : z;
}

/* The relative error that arithmetic leaves in a value of counts that vary together. */
#define ROUNDING_ERROR (16 * DBL_EPSILON)

static void set_interval(pfm_metric_value_t *out, double variance, unsigned freedom)
{
	out->error = pfmi_metric_compute_sqrt(variance);
	if (out->error < ROUNDING_ERROR * (out->value < 0 ? -out->value : out->value))
		out->error = 0;
	out->low = out->value - get_interval_half_width(freedom) * out->error;
	out->high = out->value + get_interval_half_width(freedom) * out->error;
}

/* Sets the interval of a value whose error is unknown. */
static void set_unknown_interval(pfm_metric_value_t *out)
{
	out->low = -DBL_MAX;
	out->high = DBL_MAX;
}

/* Computes the error for PFM_ERROR_PROPAGATED. */
static int compute_propagated_error(const struct metric *m, const pfm_metric_data_t *data,
                                    pfm_metric_value_t *out)
{
	const pfm_metric_operand_t *operands = data->operands;
	double variance = 0;
	int rc = evaluate_metric(m, operands, data->n_inputs, out);

	if (rc)
		return rc;
	for (unsigned i = 0; i < data->n_inputs && !out->state; i++)
		if (operands[i].known && operands[i].error > 0) {
			double part =
				compute_slope(m, operands, data->n_inputs, i) * operands[i].error;

			variance += part * part;
		}
	set_interval(out, variance, 0);
	return PFMLIB_SUCCESS;
}

/* ---- from repetitions ------------------------------------------------------------------------ */

static void compute_means(const double *samples, unsigned rounds, unsigned n,
                          pfm_metric_operand_t *out)
{
	for (unsigned i = 0; i < n; i++) {
		double sum = 0;

		for (unsigned r = 0; r < rounds; r++)
			sum += samples[(size_t)r * n + i];
		out[i] = (pfm_metric_operand_t){ .value = sum / rounds, .known = sum == sum };
	}
}

/* The variance of the mean, along the slopes of the formula at the means. The counts of one round
 * are combined first, so deviations that they share (a longer round has more of everything) cancel
 * where the formula is a ratio. */
static double compute_variance_of_mean(const double *samples, unsigned rounds, unsigned n,
                                       const pfm_metric_operand_t *mean, const double *slopes)
{
	double sum = 0;

	for (unsigned r = 0; r < rounds; r++) {
		double away = 0;

		for (unsigned i = 0; i < n; i++)
			if (mean[i].known)
				away += slopes[i] * (samples[(size_t)r * n + i] - mean[i].value);
		sum += away * away;
	}
	return sum / rounds / (rounds - 1);
}

/* Computes the error for PFM_ERROR_FROM_REPETITIONS. */
static int compute_error_from_repetitions(const struct metric *m, const pfm_metric_data_t *data,
                                          pfm_metric_value_t *out)
{
	const unsigned rounds = data->n_samples, n = data->n_inputs;
	pfm_metric_operand_t mean[METRIC_MAX_INPUTS];
	double slopes[METRIC_MAX_INPUTS];
	int rc;

	compute_means(data->samples, rounds, n, mean);
	rc = evaluate_metric(m, mean, n, out);
	if (rc)
		return rc;
	if (!out->state && rounds > 1) {
		for (unsigned i = 0; i < n; i++)
			slopes[i] = compute_slope(m, mean, n, i);
		set_interval(out, compute_variance_of_mean(data->samples, rounds, n, mean, slopes),
		             rounds - 1);
	} else if (!out->state) {
		set_unknown_interval(out);
	}
	return PFMLIB_SUCCESS;
}

/* ---- from the intervals of one measurement --------------------------------------------------- */

/* The sum of the counts of part @k, weighted with the slopes of the formula and scaled to all
 * parts. NaN if a count of the part is missing. */
static double extrapolate_part(const double *parts, unsigned n_parts, unsigned n, unsigned k,
                               const double *slopes)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		if (slopes[i] != 0)
			sum += slopes[i] * parts[(size_t)k * n + i] * n_parts;
	return sum;
}

/* The variance of the sum of parts, from the differences of neighbouring parts: slow changes of the
 * program add nothing. */
static double compute_neighbour_variance(const double *parts, unsigned n_parts, unsigned n,
                                         const double *slopes)
{
	double sum = 0, before = extrapolate_part(parts, n_parts, n, 0, slopes);

	for (unsigned k = 1; k < n_parts; k++) {
		double here = extrapolate_part(parts, n_parts, n, k, slopes);

		sum += (here - before) * (here - before);
		before = here;
	}
	return sum / 2 / n_parts / (n_parts - 1);
}

/* The degrees of freedom of that variance. */
static unsigned compute_neighbour_freedom(unsigned n_parts)
{
	uint64_t n = n_parts;

	return (unsigned)(2 * (n - 1) * (n - 1) / (3 * n - 4));
}

static void estimate_interval_error(const struct metric *m, const pfm_metric_operand_t *counts,
                                    unsigned n, const double *parts, unsigned n_parts,
                                    double observed, pfm_metric_value_t *full)
{
	double slopes[METRIC_MAX_INPUTS], variance;

	for (unsigned i = 0; i < n; i++)
		slopes[i] = counts[i].known ? compute_slope(m, counts, n, i) : 0;
	variance = n_parts > 1 ? compute_neighbour_variance(parts, n_parts, n, slopes) : 0;
	if (observed >= 1) {
		set_interval(full, 0, 0);
	} else if (n_parts < 2 || !metric_is_finite(variance)) {
		set_unknown_interval(full);
		full->error = -1;
	} else {
		set_interval(full, (1 - observed) * variance, compute_neighbour_freedom(n_parts));
	}
}

/* Computes the error for PFM_ERROR_FROM_INTERVALS. */
static int compute_error_from_intervals(const struct metric *m, const pfm_metric_data_t *data,
                                        pfm_metric_value_t *out)
{
	int rc = evaluate_metric(m, data->operands, data->n_inputs, out);

	if (!rc && !out->state)
		estimate_interval_error(m, data->operands, data->n_inputs, data->samples,
		                        data->n_samples, data->observed, out);
	return rc;
}

/* ---- the call -------------------------------------------------------------------------------- */

static bool is_data_valid(const pfm_metric_data_t *d)
{
	bool has_operands = d->operands || !d->n_inputs, has_samples = d->samples || !d->n_samples;

	if (d->n_inputs > METRIC_MAX_INPUTS)
		return false;
	switch (d->model) {
	case PFM_ERROR_PROPAGATED: return has_operands;
	case PFM_ERROR_FROM_REPETITIONS: return d->samples && d->n_samples;
	case PFM_ERROR_FROM_INTERVALS:
		return has_operands && has_samples && d->observed >= 0 && d->observed <= 1;
	default: return false;
	}
}

int pfm_compute_metric(const pfm_ctx_t *ctx, int pmu, unsigned event, const pfm_metric_data_t *data,
                       pfm_metric_value_t *out)
{
	pfm_metric_value_t full = PFM_INIT(full);
	pfm_metric_data_t d;
	struct metric m;
	int rc;

	if (!data || !base_copy_struct_in(&d, sizeof(d), data) || !base_has_struct_size(out) ||
	    !is_data_valid(&d))
		return PFMLIB_ERR_INVAL;
	rc = pfmi_metric_find_by_row(ctx, pmu, event, &m);
	if (rc)
		return rc;
	switch (d.model) {
	case PFM_ERROR_FROM_REPETITIONS: rc = compute_error_from_repetitions(&m, &d, &full); break;
	case PFM_ERROR_FROM_INTERVALS: rc = compute_error_from_intervals(&m, &d, &full); break;
	default: rc = compute_propagated_error(&m, &d, &full);
	}
	if (rc == PFMLIB_SUCCESS)
		base_copy_struct_out(out, &full, sizeof(full));
	return rc;
}

const char *pfm_metric_state_name(pfm_metric_state_t state)
{
	switch (state) {
	case PFM_METRIC_DEFINED: return "defined";
	case PFM_METRIC_DIVISION: return "division by zero";
	case PFM_METRIC_NOT_COUNTED: return "not counted";
	case PFM_METRIC_OVERFLOW: return "out of range";
	default: return "";
	}
}
