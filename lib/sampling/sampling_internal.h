/* SPDX-License-Identifier: MIT */
/* Shared by the files of this module. */
#ifndef PERFMON_SAMPLING_INTERNAL_H
#define PERFMON_SAMPLING_INTERNAL_H

#include "session/perf_event.h"
#include "sampling/sampling.h"

/* Fields of a sample unless the caller requests others. */
#define DEFAULT_FIELDS                                                                             \
	(PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_CPU | PFM_SAMPLE_PERIOD)

/* True for a session that samples, not for a recording. */
static inline bool sampling_is_active(const pfm_session_t *s)
{
	return s && s->sampling && s->sampling->totals && !s->recording;
}

static inline bool sampling_has_buffers(const pfm_session_t *s)
{
	return sampling_is_active(s) && s->sampling->buffers;
}

/* True for events that the kernel raises itself, except clocks. If several of them are open for one
 * occurrence, even in different processes, Linux 6.18 gives all their samples the id of the first.
 */
static inline bool sampling_has_shared_ids(const struct session_count *c)
{
	return c->config.attr.type == PERF_TYPE_SOFTWARE &&
	       c->config.attr.config > PERF_COUNT_SW_TASK_CLOCK;
}

static inline bool sampling_has_only_ended_tasks(const struct sampling_state *sm)
{
	for (unsigned i = 0; i < sm->n_buffers; i++)
		if (sm->buffers[i].polled_event >= 0)
			return false;
	return true;
}

/* ---- sampling_attr.c ---- */

int pfmi_sampling_read_options(struct session_builder *o);
/* True if the samples of count @c hold the values of all members of its group. */
bool pfmi_sampling_has_group_samples(const struct pfm_session *s, const struct session_count *c);
void pfmi_sampling_choose_rates(struct pfm_session *s);
/* If every sample is to have its period, the kernel ignores the period of its own events. So a
 * fixed period is not requested. */
uint64_t pfmi_sampling_get_sample_fields(const struct pfm_session *s,
                                         const struct session_count *c);
uint64_t pfmi_sampling_get_read_format(const struct pfm_session *s, const struct session_count *c);
void pfmi_sampling_set_common_attr(const pfm_sampling_t *q, struct perf_attr *a);
void pfmi_sampling_fill_event_attr(const struct pfm_session *s, const struct session_count *c,
                                   struct perf_attr *a);

/* ---- sampling_diagnose.c ---- */

int pfmi_sampling_retry_open(struct pfm_session *s, struct session_count *c, struct perf_attr *a,
                             int pid, int cpu, int group, int err);
void pfmi_sampling_diagnose_count(struct pfm_session *s, unsigned i, unsigned k, int err);

#endif
