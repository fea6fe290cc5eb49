/* SPDX-License-Identifier: MIT */
/* The share of the memory's bandwidth that the program uses. */
#include "explain/explain.h"
#include "truth/speed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 64 };

/* Sets @v to the share of the memory's bytes that the lines are. A program that uses less than a
 * CPU could move as many in each moment that it runs. */
static void compute_bandwidth_share(const struct explain_evidence *e, struct explain_value *v)
{
	const struct explain_value *lines = find_value(e, LINES_METRIC),
				   *cpus = find_value(e, CPUS_METRIC);
	double share_of_line;

	if (!lines->is_known || !cpus->is_known) {
		snprintf(v->reason, sizeof(v->reason), "%s",
		         lines->is_known ? cpus->reason : lines->reason);
		return;
	}
	share_of_line = 1e9 * LINE_BYTES / e->memory.bytes_a_second * fmax(1, cpus->value);
	v->value = lines->value * share_of_line;
	v->low = lines->low * share_of_line;
	v->high = lines->high * share_of_line;
	v->is_known = true;
}

void measure_memory_use(struct explain_evidence *e)
{
	for (size_t i = 0; i < e->n; i++) {
		struct explain_value *v = &e->values[i];

		if (strcmp(v->metric, BANDWIDTH_METRIC) != 0)
			continue;
		*v->reason = 0;
		if (!e->memory.is_known) {
			e->memory.is_measured = true;
			e->memory.is_known = truth_measure_memory(&e->memory.nanoseconds,
			                                          &e->memory.bytes_a_second);
		}
		if (e->memory.is_known)
			compute_bandwidth_share(e, v);
		else
			snprintf(v->reason, sizeof(v->reason),
			         "the speed of the memory cannot be measured here; --memory "
			         "NS,GB/S");
	}
}
