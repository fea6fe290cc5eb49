/* SPDX-License-Identifier: MIT */
/* Metrics as OpenTelemetry's message ExportMetricsServiceRequest, made from the families that
 * openmetrics.h writes. */
#ifndef PFM_OTLP_METRICS_H
#define PFM_OTLP_METRICS_H

#include "export/protobuf.h"
#include "series/openmetrics.h"

struct otlp_metrics {
	uint64_t start_ns, now_ns; /* since 1970: start of the counters; time of all samples */
	uint64_t opened;           /* start_ns by now_ns() */
	uint64_t point_start; /* start of the next sample's counter, by now_ns(); 0: start_ns */
	struct message scope; /* ScopeMetrics */
	struct message metric, data, point, pair, value; /* under way */
	bool has_metric, is_sum;
};

void otlp_begin_family(struct otlp_metrics *o, const char *name, enum family_type type,
                       const char *unit, const char *help);
/* Adds a sample to the family. @extra: a further label, or NULL. */
void otlp_add_whole(struct otlp_metrics *o, const struct label *labels, const struct label *extra,
                    uint64_t value);
void otlp_add_real(struct otlp_metrics *o, const struct label *labels, double value);
/* Returns the request, which the caller frees. @resource: attributes of the service and its
 * machine. Frees the rest of @o. */
struct message otlp_end(struct otlp_metrics *o, const char *version, const struct label *resource);

#endif
