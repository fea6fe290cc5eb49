/* SPDX-License-Identifier: MIT */
/* A metric from counts of its inputs: those of a session, or sums that a caller has made of them.
 * Counts of one input are added; the worst of them decides the quality. */
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include "session/session_internal.h"
#include "base/sizes.h"
#include "metric/metric.h"

enum { LEAST_INTERVALS = 4 };

/* A metric whose counts are added. */
struct counted_metric {
	const struct pfm_ctx *ctx;
	const pfm_metric_counts_t *data;
	pfm_metric_info_t info;
	bool has_counts[METRIC_MAX_INPUTS];
	pfm_metric_operand_t inputs[METRIC_MAX_INPUTS];
	pfm_quality_t quality;
	double observed; /* the least share of the time in which a count was taken */
	int64_t group;   /* -1: no group so far */
	bool is_across_groups;
	int missing; /* index of the first count without a value; -1: all have one */
};

static double get_missing_value(void)
{
	const uint64_t bits = 0x7ff8000000000000;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static bool has_input_value(const pfm_input_count_t *c)
{
	return pfm_counter_quality(c->quality, PFM_CAUSE_NONE) <= PFM_QUALITY_PARTIAL;
}

/* Only the counts of the value decide its quality; the threshold may need others. */
static void note_quality(struct counted_metric *m, unsigned i)
{
	const pfm_input_count_t *c = &m->data->counts[i];

	m->is_across_groups |= m->group >= 0 && m->group != c->group;
	m->group = c->group;
	m->observed = c->observed < m->observed ? c->observed : m->observed;
	if (!has_input_value(c))
		m->missing = m->missing < 0 ? (int)i : m->missing;
	else if (c->quality > m->quality)
		m->quality = c->quality;
}

static void add_counts(struct counted_metric *m)
{
	for (unsigned i = 0; i < m->data->n_counts; i++) {
		const pfm_input_count_t *c = &m->data->counts[i];
		pfm_metric_operand_t *to = &m->inputs[c->input];

		to->known = (to->known || !m->has_counts[c->input]) && has_input_value(c);
		to->value += c->value;
		to->error += c->error * c->error;
		m->has_counts[c->input] = true;
		if (c->input < m->info.n_value_inputs)
			note_quality(m, i);
	}
	for (unsigned i = 0; i < m->info.n_inputs; i++)
		m->inputs[i].error = pfmi_metric_compute_sqrt(m->inputs[i].error);
}

/* Reads the inputs that are constants of the machine or of the measurement. */
static void read_constants(struct counted_metric *m)
{
	pfm_metric_input_t in = PFM_INIT(in);

	for (unsigned i = 0; i < m->info.n_inputs; i++)
		if (!m->has_counts[i] &&
		    !pfm_describe_metric_input(m->ctx, m->info.pmu, m->info.event, i, &in))
			m->inputs[i].known = !pfm_read_metric_constant(
				m->ctx, &in, m->data->seconds, &m->inputs[i].value);
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* The extrapolated count in @width parts from number @first on; NaN if it was not enabled. A slow
 * clock may show no time for an existing count. */
static double extrapolate_parts(const pfm_count_part_t *parts, unsigned first, unsigned width)
{
	double raw = 0, enabled = 0, running = 0;

	if (!parts)
		return get_missing_value();
	for (unsigned k = first; k < first + width; k++) {
		raw += parts[k].raw;
		enabled += parts[k].enabled;
		running += parts[k].running;
	}
	if (running <= 0)
		return enabled > 0 ? get_missing_value() : raw;
	return raw * (enabled / running);
}

/* Fills the inputs of @n samples, each @width parts long. False if one has no count somewhere. */
static bool fill_samples(const struct counted_metric *m, unsigned n, unsigned width,
                         double *samples)
{
	const pfm_metric_counts_t *d = m->data;
	double share = d->runs_per_part ? 1.0 / d->runs_per_part : 1;
	bool is_complete = true;

	for (unsigned k = 0; k < n; k++) {
		double *sample = samples + (size_t)k * m->info.n_inputs;

		for (unsigned i = 0; i < m->info.n_inputs; i++)
			sample[i] = m->has_counts[i]     ? 0
			            : m->inputs[i].known ? m->inputs[i].value
			                                 : get_missing_value();
		for (unsigned i = 0; i < d->n_counts; i++) {
			double count = extrapolate_parts(d->counts[i].parts, k * width, width);

			sample[d->counts[i].input] += count * share;
			is_complete &= count == count;
		}
	}
	return is_complete;
}

static int compute_with_samples(const struct counted_metric *m, pfm_error_model_t model,
                                const double *samples, unsigned n, pfm_metric_value_t *v)
{
	return pfm_compute_metric(
		m->ctx, m->info.pmu, m->info.event,
		&(pfm_metric_data_t){ .size = sizeof(pfm_metric_data_t),
	                              .model = model,
	                              .n_inputs = m->info.n_inputs,
	                              .operands = m->inputs,
	                              .samples = samples,
	                              .n_samples = n,
	                              .observed = m->is_across_groups ? 0 : m->observed },
		v);
}

static void set_unknown_error(pfm_metric_value_t *v)
{
	v->error = -1;
	v->low = -DBL_MAX;
	v->high = DBL_MAX;
}

/* Joins parts that were too short for a turn of every group. */
static int estimate_from_intervals(const struct counted_metric *m, double *samples,
                                   pfm_metric_value_t *v)
{
	unsigned width = 1, n = m->data->n_parts;

	while (n >= LEAST_INTERVALS && !fill_samples(m, n, width, samples)) {
		width *= 2;
		n = m->data->n_parts / width;
	}
	return compute_with_samples(m, PFM_ERROR_FROM_INTERVALS, samples,
	                            n < LEAST_INTERVALS ? 0 : n, v);
}

/* The interval is around the value of the mean counts. */
static int estimate_from_repetitions(const struct counted_metric *m, double *samples,
                                     pfm_metric_value_t *v)
{
	pfm_metric_value_t e = PFM_INIT(e);
	int rc;

	if (!fill_samples(m, m->data->n_parts, 1, samples))
		return PFMLIB_SUCCESS;
	rc = compute_with_samples(m, PFM_ERROR_FROM_REPETITIONS, samples, m->data->n_parts, &e);
	if (rc || e.state)
		return rc;
	v->error = e.error;
	v->low = v->value - (e.value - e.low);
	v->high = v->value + (e.high - e.value);
	return PFMLIB_SUCCESS;
}

/* Pretended counts that were not extrapolated are as good as exact ones. */
static pfm_quality_t get_counter_quality(const struct counted_metric *m)
{
	return pfm_counter_quality(m->quality,
	                           m->observed < 1 ? PFM_CAUSE_MULTIPLEXED : PFM_CAUSE_NONE);
}

/* Sets the error of @v, which has that of the counts' own errors. Parts lack what a partial count
 * lacks. One measurement of exact counts has no error; of others, none that it shows. */
static int estimate_error(const struct counted_metric *m, pfm_metric_value_t *v)
{
	const pfm_metric_counts_t *d = m->data;
	bool is_single = d->model == PFM_ERROR_FROM_INTERVALS || d->n_parts < 2;
	double *samples;
	int rc;

	if (d->model == PFM_ERROR_PROPAGATED ||
	    (is_single && get_counter_quality(m) == PFM_QUALITY_EXACT))
		return PFMLIB_SUCCESS;
	if (m->quality == PFM_QUALITY_PARTIAL ||
	    (is_single && d->model == PFM_ERROR_FROM_REPETITIONS)) {
		set_unknown_error(v);
		return PFMLIB_SUCCESS;
	}
	samples = calloc((size_t)d->n_parts * m->info.n_inputs + 1, sizeof(*samples));
	if (!samples)
		return PFMLIB_ERR_NOMEM;
	rc = d->model == PFM_ERROR_FROM_INTERVALS ? estimate_from_intervals(m, samples, v)
	                                          : estimate_from_repetitions(m, samples, v);
	free(samples);
	return rc;
}

/* ---- the call -------------------------------------------------------------------------------- */

static int check_value(const struct counted_metric *m, const pfm_metric_value_t *v,
                       pfm_metric_check_t *check)
{
	double peak = !v->state && pfmi_metric_is_memory_bandwidth(&m->info)
	                      ? pfm_memory_bandwidth(m->ctx)
	                      : 0;

	return pfm_check_metric(m->ctx, m->info.pmu, m->info.event, v,
	                        get_counter_quality(m) != PFM_QUALITY_EXACT, peak, check);
}

static int compute_counts(struct counted_metric *m, pfm_session_metric_t *out)
{
	pfm_metric_value_t v = PFM_INIT(v);
	pfm_metric_check_t check = PFM_INIT(check);
	int rc;

	add_counts(m);
	read_constants(m);
	rc = compute_with_samples(m, PFM_ERROR_PROPAGATED, NULL, 0, &v);
	if (!rc && !v.state)
		rc = estimate_error(m, &v);
	if (!rc)
		rc = check_value(m, &v, &check);
	*out = (pfm_session_metric_t){ .size = sizeof(*out),
		                       .pmu = m->info.pmu,
		                       .event = m->info.event,
		                       .state = v.state,
		                       .value = v.value,
		                       .error = v.error,
		                       .low = v.low,
		                       .high = v.high,
		                       .quality = m->missing < 0 ? m->quality
		                                                 : PFM_QUALITY_NOT_COUNTED,
		                       .missing = m->missing,
		                       .across_groups = m->is_across_groups,
		                       .over_threshold = v.over_threshold,
		                       .plausibility = check.result,
		                       .reason = check.reason };
	return rc;
}

static bool is_data_valid(const pfm_metric_counts_t *d, unsigned n_inputs)
{
	if ((d->n_counts && !d->counts) || !(d->seconds >= 0) ||
	    (unsigned)d->model > PFM_ERROR_FROM_INTERVALS || n_inputs > METRIC_MAX_INPUTS)
		return false;
	for (unsigned i = 0; i < d->n_counts; i++)
		if (d->counts[i].input >= n_inputs)
			return false;
	return true;
}

int pfm_compute_counted_metric(const pfm_ctx_t *ctx, int pmu, unsigned event,
                               const pfm_metric_counts_t *data, pfm_session_metric_t *out)
{
	pfm_metric_counts_t d;
	struct counted_metric m = { .ctx = ctx,
		                    .data = &d,
		                    .info = PFM_INIT(m.info),
		                    .observed = 1,
		                    .group = -1,
		                    .missing = -1 };
	pfm_session_metric_t full;
	int rc;

	if (!data || !base_copy_struct_in(&d, sizeof(d), data) || !base_has_struct_size(out))
		return PFMLIB_ERR_INVAL;
	rc = pfm_describe_metric(ctx, pmu, event, &m.info);
	if (!rc && !is_data_valid(&d, m.info.n_inputs))
		rc = PFMLIB_ERR_INVAL;
	if (!rc)
		rc = compute_counts(&m, &full);
	if (!rc)
		base_copy_struct_out(out, &full, sizeof(full));
	return rc;
}
