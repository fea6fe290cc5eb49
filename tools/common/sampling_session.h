/* SPDX-License-Identifier: MIT */
/* Opens sampling sessions for pfm record and pfm top. */
#ifndef PFM_SAMPLING_SESSION_H
#define PFM_SAMPLING_SESSION_H

#include "common/event_list.h"
#include "common/pfm.h"

/* The target of sampling: CPUs, a process, or the command that is about to start. */
struct sampling_target {
	const char *cpus; /* NULL: unless @all_cpus, the tasks of @pid */
	int pid, child;   /* @pid 0: the command, whose first process is @child */
	bool all_cpus, one_thread, no_inherit;
	bool enable_on_exec; /* the command */
};

/* Opens a session of @events with @options, whose target it sets. Without events it samples cycles,
 * or cpu-clock on a machine without a PMU, and sets *@is_clock. Reports errors and returns an exit
 * status. */
int open_sampling_session(pfm_session_t **out, const pfm_ctx_t *ctx,
                          const struct sampling_target *target, pfm_session_options_t *options,
                          const struct event_list *events, bool *is_clock);
/* True if at least one event of @session samples. */
bool has_sampling_event(const pfm_session_t *session);
/* Reports on standard error, as @program, why the other events of @session do not sample. */
void report_events_without_samples(const char *program, const pfm_session_t *session);

#endif
