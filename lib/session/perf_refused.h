/* SPDX-License-Identifier: MIT */
/* A kernel event that was refused, and what to change before it is tried again. */
#ifndef PERFMON_SESSION_PERF_REFUSED_H
#define PERFMON_SESSION_PERF_REFUSED_H

#include "session/perf_event_internal.h"

/* The kernel event that was refused, and how to open it again. */
struct refused_event {
	struct pfm_session *session;
	struct session_count *count;
	struct perf_attr attr;
	int pid, cpu, group_fd;
};

/* Opens the event with attributes @a and closes it at once. Returns 0 or -errno. */
int pfmi_perf_retry_open(const struct refused_event *q, struct perf_attr *a, int group);
/* Finds the setting without which the kernel accepts the event; NULL without one. */
const char *pfmi_perf_find_refused_setting(const struct refused_event *q);
/* Finds the field of the event without which the kernel accepts it; NULL without one. */
const struct field *pfmi_perf_find_refused_field(const struct refused_event *q, uint64_t *value);
/* Bits of the first config word for which the PMU's format has no field; 0 if it has no format. */
uint64_t pfmi_perf_compute_undeclared_bits(const struct session_count *c);

#endif
