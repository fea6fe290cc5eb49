/* SPDX-License-Identifier: MIT */
/* Programs with more rights. When a task starts one that has more than its caller (set-user-ID), or that may not be read, the kernel takes
 * the task's events away and tells nobody: they stand still from then on. What shows it is the processor time of the process, which all its
 * threads were counted in. */
#include <errno.h>
#include "session/perf_event_internal.h"

#define MAX_UNSEEN_TIME_NS 5000000u /* less than that says nothing */

/* The processor time of the process. False if the session does not follow all of it, or it is not known. */
static bool get_process_time(const struct pfm_session *s, uint64_t *ns)
{
	const unsigned flags = PFM_SESSION_INHERIT | PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_ENABLE_ON_EXEC | PFM_SESSION_DRY_RUN;
	const struct perf_state *st = s->backend_state;

	return s->options.pid > 0 && st->tasks.has_all_threads && !st->n_time_references && !s->sampling &&
	       (s->options.flags & flags) == PFM_SESSION_INHERIT && s->sys.get_process_time && s->sys.get_process_time(&s->sys, s->options.pid, ns) == 0;
}

void pfmi_perf_start_process_clock(struct pfm_session *s)
{
	struct stopwatch *w = &((struct perf_state *)s->backend_state)->process_clock;
	uint64_t now;

	if (!w->is_running && get_process_time(s, &now))
		session_start_stopwatch(w, now);
}

void pfmi_perf_stop_process_clock(struct pfm_session *s)
{
	struct stopwatch *w = &((struct perf_state *)s->backend_state)->process_clock;
	uint64_t now;

	if (w->is_running)
		session_stop_stopwatch(w, get_process_time(s, &now) ? now : w->started_at);
}

void pfmi_perf_reset_process_clock(struct pfm_session *s)
{
	struct stopwatch *w = &((struct perf_state *)s->backend_state)->process_clock;
	uint64_t now = 0;

	w->is_running = w->is_running && get_process_time(s, &now);
	session_reset_stopwatch(w, now);
}

uint64_t pfmi_perf_read_process_time(const struct pfm_session *s)
{
	const struct stopwatch *w = &((const struct perf_state *)s->backend_state)->process_clock;
	uint64_t now;

	return w->is_running && get_process_time(s, &now) ? session_read_stopwatch(w, now) : w->elapsed;
}

/* True if count @c is one of the process. */
static bool is_process_count(const struct perf_state *st, const struct session_count *c)
{
	return c->kernel_state.n_open && st->events[c->kernel_state.first_event].pid > 0;
}

/* Births and ends of tasks are not counted: of many short ones they are a quarter. */
bool pfmi_perf_check_process_time(struct pfm_session *s, uint64_t taken, const pfm_count_t *counts)
{
	const struct perf_state *st = s->backend_state;
	uint64_t seen = 0;
	bool any = false, missing;

	for (unsigned i = 0; i < s->n_counts; i++) {
		if (!is_process_count(st, &s->counts[i]) || counts[i].cause == PFM_CAUSE_BUSY)
			continue;
		any = true;
		seen = counts[i].enabled > seen ? counts[i].enabled : seen;
	}
	missing = any && taken > 2 * seen + MAX_UNSEEN_TIME_NS;
	for (unsigned i = 0; missing && i < s->n_counts; i++) {
		struct session_count *c = &s->counts[i];

		if (c->status.cause || !is_process_count(st, c))
			continue;
		pfmi_session_fail_count(c, PFM_CAUSE_PERMISSION, EACCES, "start counting from a process that has its rights",
		                        "process %d has started a program with more rights (set-user-ID), or one that may not be read: what it does since is "
		                        "not counted",
		                        s->options.pid);
	}
	return !missing;
}
