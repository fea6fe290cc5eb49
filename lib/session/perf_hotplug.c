/* SPDX-License-Identifier: MIT */
/* CPUs that come and go while whatever runs on them is counted. The kernel takes a CPU's events from it when it is switched off and does
 * not give them back when it returns; and on a CPU that comes later it has opened none. Neither shows in the numbers. The first shows by
 * the clock: time goes on, and the time for which such an event is enabled stands still. The second shows in the list of CPUs that are on
 * line. A CPU that comes and goes again between two readings is not seen. */
#include <stdlib.h>
#include "base/text.h"
#include "session/session.h"

#define SLACK_NS 40000000u /* what a clock of slow ticks and a slow start may come to */
#define DRIFT    512u      /* the kernel's two clocks go apart by less than so many-th of the time */

/* True if the part counts what runs on its CPU, of everybody or of a control group. */
static bool is_timed(const struct part *p)
{
	return p->fd >= 0 && p->pid == -1;
}

void pfmi_perf_cpus_begin(struct pfm_session *s)
{
	struct perf_state *st = s->state;

	st->watch = (struct watch){ .others = s->assumed ? NO_OTHERS : OTHERS_UNKNOWN };
	for (unsigned i = 0; i < st->n_parts && !st->watch.timed; i++)
		st->watch.timed = is_timed(&st->parts[i]);
	st->watch.open_ended = s->options.flags & PFM_SESSION_SYSTEM_WIDE && !(s->options.flags & PFM_SESSION_DRY_RUN) && !s->wanted.n_words;
}

void pfmi_perf_cpus_started(struct pfm_session *s)
{
	struct watch *w = &((struct perf_state *)s->state)->watch;

	if (w->timed)
		stopwatch_start(&w->clock, s->sys.now(&s->sys));
}

void pfmi_perf_cpus_stopping(struct pfm_session *s)
{
	struct watch *w = &((struct perf_state *)s->state)->watch;

	if (w->timed)
		stopwatch_stop(&w->clock, s->sys.now(&s->sys));
}

void pfmi_perf_cpus_reset(struct pfm_session *s)
{
	struct watch *w = &((struct perf_state *)s->state)->watch;

	if (w->timed)
		stopwatch_reset(&w->clock, s->sys.now(&s->sys));
}

/* How long events must have been enabled since the last reset, at the least. */
static uint64_t time_due(const struct sys *sys, const struct watch *w)
{
	uint64_t lasted = stopwatch_read(&w->clock, sys->now(sys)), slack = SLACK_NS + lasted / DRIFT;

	return lasted > slack ? lasted - slack : 0;
}

static bool within(const struct cpus *some, const struct cpus *all)
{
	for (unsigned cpu = 0; pfmi_cpus_from(some, &cpu); cpu++)
		if (!pfmi_cpus_has(all, cpu))
			return false;
	return true;
}

/* True if @path lists CPUs that were not on line when the session was opened, or cannot be read. */
static bool lists_others(const struct pfm_session *s, const char *path)
{
	struct cpus now;
	bool others = pfmi_cpus_load(&s->sys, path, &now) || !within(&now, &s->online);

	pfmi_cpus_free(&now);
	return others;
}

void pfmi_perf_cpus_look(struct pfm_session *s)
{
	struct watch *w = &((struct perf_state *)s->state)->watch;

	w->due = w->timed ? time_due(&s->sys, w) : 0;
	if (!w->open_ended || w->joined || w->others == NO_OTHERS)
		return;
	if (w->others == OTHERS_UNKNOWN)
		w->others = lists_others(s, PFMI_CPUS_POSSIBLE) ? OTHERS_MAY_COME : NO_OTHERS;
	w->joined = w->others == OTHERS_MAY_COME && lists_others(s, PFMI_CPUS_ONLINE);
	w->missed |= w->joined;
}

/* True too where that cannot be known. */
static bool is_on_line(const struct sys *sys, int cpu)
{
	struct cpus online;
	bool is = pfmi_cpus_load(sys, PFMI_CPUS_ONLINE, &online) || pfmi_cpus_has(&online, (unsigned)cpu);

	pfmi_cpus_free(&online);
	return is;
}

/* Does the kernel tell how long count @c was enabled? Some have a clock that never ticks. */
static bool tells_time(const struct perf_state *st, const struct counting *c)
{
	for (unsigned k = 0; k < c->opened.n_parts; k++)
		if (st->readings[st->parts[c->opened.part + k].times])
			return true;
	return false;
}

/* Does the part's time stand still? One that lost its counter has the longest of all. */
static bool is_late(const struct perf_state *st, const struct part *p)
{
	const struct witness *w = p->witness < 0 ? NULL : &st->witnesses[p->witness];
	uint64_t enabled = st->readings[p->times];

	if (!is_timed(p))
		return false;
	/* A control group's events are enabled as long as it runs there: the witness beside them always is. */
	if (w)
		return w->fd >= 0 && w->here < st->watch.due;
	return enabled - st->zeros[p->times] < st->watch.due;
}

bool pfmi_perf_cpus_missed(struct pfm_session *s, const struct counting *c)
{
	struct perf_state *st = s->state;
	bool uncore = c->asked.device && c->asked.device->is_uncore, any = st->watch.joined && c->asked.cpu < 0 && !uncore;
	bool told = st->watch.due && tells_time(st, c);

	for (unsigned k = 0; k < c->opened.n_parts; k++) {
		struct part *p = &st->parts[c->opened.part + k];

		/* As long as it is off there is nothing to count. */
		if (told && !p->dead && is_late(st, p))
			p->dead = is_on_line(&s->sys, p->cpu);
		any |= p->dead;
	}
	st->watch.missed |= any;
	return any;
}
