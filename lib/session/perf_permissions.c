/* SPDX-License-Identifier: MIT */
/* Programs with more rights. When a task starts one that has more than its caller (set-user-ID), or that may not be read, the kernel takes
 * the task's events away and tells nobody: they stand still from then on. What shows it is the processor time of the process, which all its
 * threads were counted in. */
#include <errno.h>
#include "session/session.h"

#define ESCAPE_NS 5000000u /* less than that says nothing */

/* The processor time of the process. False if the session does not follow all of it, or it is not known. */
static bool ask_time(const struct pfm_session *s, uint64_t *ns)
{
	const unsigned flags = PFM_SESSION_INHERIT | PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_ENABLE_ON_EXEC | PFM_SESSION_DRY_RUN;
	const struct perf_state *st = s->state;

	return s->options.pid > 0 && st->tasks.whole && !st->n_witnesses && !s->sampling &&
	       (s->options.flags & flags) == PFM_SESSION_INHERIT && s->sys.time_of && s->sys.time_of(&s->sys, s->options.pid, ns) == 0;
}

void pfmi_perf_rights_started(struct pfm_session *s)
{
	struct stopwatch *w = &((struct perf_state *)s->state)->process;
	uint64_t now;

	if (!w->runs && ask_time(s, &now))
		stopwatch_start(w, now);
}

void pfmi_perf_rights_stopping(struct pfm_session *s)
{
	struct stopwatch *w = &((struct perf_state *)s->state)->process;
	uint64_t now;

	if (w->runs)
		stopwatch_stop(w, ask_time(s, &now) ? now : w->since);
}

void pfmi_perf_rights_reset(struct pfm_session *s)
{
	struct stopwatch *w = &((struct perf_state *)s->state)->process;
	uint64_t now = 0;

	w->runs = w->runs && ask_time(s, &now);
	stopwatch_reset(w, now);
}

uint64_t pfmi_perf_rights_taken(const struct pfm_session *s)
{
	const struct stopwatch *w = &((const struct perf_state *)s->state)->process;
	uint64_t now;

	return w->runs && ask_time(s, &now) ? stopwatch_read(w, now) : w->lasted;
}

/* True if count @c is one of the process. */
static bool is_of_process(const struct perf_state *st, const struct counting *c)
{
	return c->opened.n_open && st->parts[c->opened.part].pid > 0;
}

/* Births and ends of tasks are not counted: of many short ones they are a quarter. */
bool pfmi_perf_rights_seen(struct pfm_session *s, uint64_t taken, const pfm_count_t *counts)
{
	const struct perf_state *st = s->state;
	uint64_t seen = 0;
	bool any = false, missing;

	for (unsigned i = 0; i < s->n; i++) {
		if (!is_of_process(st, &s->counts[i]) || counts[i].cause == PFM_CAUSE_BUSY)
			continue;
		any = true;
		seen = counts[i].enabled > seen ? counts[i].enabled : seen;
	}
	missing = any && taken > 2 * seen + ESCAPE_NS;
	for (unsigned i = 0; missing && i < s->n; i++) {
		struct counting *c = &s->counts[i];

		if (c->told.cause || !is_of_process(st, c))
			continue;
		pfmi_give_up(c, PFM_CAUSE_PERMISSION, EACCES, "start counting from a process that has its rights",
		             "process %d has started a program with more rights (set-user-ID), or one that may not be read: what it does since is "
		             "not counted",
		             s->options.pid);
	}
	return !missing;
}
