/* SPDX-License-Identifier: MIT */
/* Shared by the files that read records of a session. */
#ifndef PERFMON_SAMPLING_INTERNAL_H
#define PERFMON_SAMPLING_INTERNAL_H

#include "session/perf_event.h"
#include "sampling/sampling.h"

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

#endif
