/* SPDX-License-Identifier: MIT */
/* pfm_compute_metric() with each error model, from plain arguments. */
#ifndef PERFMON_TESTS_METRICS_H
#define PERFMON_TESTS_METRICS_H

#include <perfmon/metric.h>

/* One measurement with independent errors. */
static inline int compute_propagated(const pfm_ctx_t *context, int pmu, unsigned event,
                                     const pfm_metric_operand_t *operands, unsigned n,
                                     pfm_metric_value_t *out)
{
	pfm_metric_data_t data = { .size = sizeof(data), .n_inputs = n, .operands = operands };

	return pfm_compute_metric(context, pmu, event, &data, out);
}

/* Repeated measurements. */
static inline int compute_from_repetitions(const pfm_ctx_t *context, int pmu, unsigned event,
                                           const double *samples, unsigned rounds, unsigned n,
                                           pfm_metric_value_t *out)
{
	pfm_metric_data_t data = { .size = sizeof(data), .model = PFM_ERROR_FROM_REPETITIONS };

	data.n_inputs = n;
	data.samples = samples;
	data.n_samples = rounds;
	return pfm_compute_metric(context, pmu, event, &data, out);
}

/* One measurement, read at intervals. */
static inline int compute_from_intervals(const pfm_ctx_t *context, int pmu, unsigned event,
                                         const pfm_metric_operand_t *operands, unsigned n,
                                         const double *samples, unsigned n_samples, double observed,
                                         pfm_metric_value_t *out)
{
	pfm_metric_data_t data = { .size = sizeof(data), .model = PFM_ERROR_FROM_INTERVALS };

	data.n_inputs = n;
	data.operands = operands;
	data.samples = samples;
	data.n_samples = n_samples;
	data.observed = observed;
	return pfm_compute_metric(context, pmu, event, &data, out);
}

#endif
