/* SPDX-License-Identifier: MIT */
/* Detects CPUs that come and go while everything on them is counted. When a CPU is switched off,
 * the kernel removes its events and does not restore them later; on a CPU that appears later no
 * events were opened. The counts themselves show neither. The first case shows in the times: the
 * clock advances and the enabled time of such an event does not. The second shows in the list of
 * CPUs on line. A CPU that comes and goes between two readings is not detected. */
#include <stdlib.h>
#include "base/text.h"
#include "session/perf_event_internal.h"

/* A slow clock and a slow start may account for this time. */
#define CLOCK_SLACK_NS 40000000u
/* the kernel's two clocks differ by less than this fraction of the time */
#define CLOCK_DRIFT_DIVISOR 512u

/* True if the kernel event counts what its CPU runs: all tasks, or those of a control group. */
static bool is_cpu_event(const struct kernel_event *p)
{
	return p->fd >= 0 && p->pid == -1;
}

void pfmi_perf_init_hotplug(struct pfm_session *s)
{
	struct perf_state *st = s->live.backend_state;

	st->hotplug =
		(struct hotplug_state){ .new_cpus = s->cpus.is_online_assumed ? NEW_CPUS_IMPOSSIBLE
		                                                              : NEW_CPUS_UNKNOWN };
	for (unsigned i = 0; i < st->n_events && !st->hotplug.has_cpu_events; i++)
		st->hotplug.has_cpu_events = is_cpu_event(&st->events[i]);
	st->hotplug.has_many_tasks = !(s->options.flags & PFM_SESSION_SYSTEM_WIDE) &&
	                             s->options.flags & PFM_SESSION_INHERIT && !s->live.turns;
	st->hotplug.counts_all_cpus = s->options.flags & PFM_SESSION_SYSTEM_WIDE &&
	                              !(s->options.flags & PFM_SESSION_DRY_RUN) &&
	                              !s->cpus.requested.n_words;
}

void pfmi_perf_start_longest_clock(struct pfm_session *s)
{
	struct hotplug_state *w = &((struct perf_state *)s->live.backend_state)->hotplug;

	if (w->has_cpu_events || w->has_many_tasks)
		session_start_stopwatch(&w->longest_clock, s->sys.get_time(&s->sys));
}

void pfmi_perf_stop_longest_clock(struct pfm_session *s)
{
	struct hotplug_state *w = &((struct perf_state *)s->live.backend_state)->hotplug;

	if (w->has_cpu_events || w->has_many_tasks)
		session_stop_stopwatch(&w->longest_clock, s->sys.get_time(&s->sys));
}

void pfmi_perf_start_hotplug_clock(struct pfm_session *s)
{
	struct hotplug_state *w = &((struct perf_state *)s->live.backend_state)->hotplug;

	if (w->has_cpu_events)
		session_start_stopwatch(&w->clock, s->sys.get_time(&s->sys));
}

void pfmi_perf_stop_hotplug_clock(struct pfm_session *s)
{
	struct hotplug_state *w = &((struct perf_state *)s->live.backend_state)->hotplug;

	if (w->has_cpu_events)
		session_stop_stopwatch(&w->clock, s->sys.get_time(&s->sys));
}

void pfmi_perf_reset_hotplug_clock(struct pfm_session *s, uint64_t before)
{
	struct hotplug_state *w = &((struct perf_state *)s->live.backend_state)->hotplug;

	if (w->has_cpu_events)
		session_reset_stopwatch(&w->clock, s->sys.get_time(&s->sys));
	if (w->has_cpu_events || w->has_many_tasks)
		session_reset_stopwatch(&w->longest_clock, before);
}

static uint64_t get_clock_slack(uint64_t lasted)
{
	return CLOCK_SLACK_NS + lasted / CLOCK_DRIFT_DIVISOR;
}

/* Computes the time for which events have been enabled since the last reset, at least. */
static void compute_min_enabled_time(const struct sys *sys, struct hotplug_state *w)
{
	uint64_t lasted = session_read_stopwatch(&w->clock, sys->get_time(sys));
	uint64_t slack = get_clock_slack(lasted);

	w->min_enabled_time = lasted > slack ? lasted - slack : 0;
}

/* CPUs that can be on line while the session lives; 0: unknown. */
static unsigned count_possible_cpus(const struct sys *sys, struct hotplug_state *w)
{
	struct cpu_mask possible;

	if (!w->n_possible_cpus) {
		if (pfmi_machine_read_cpus(sys, PFMI_POSSIBLE_CPUS_PATH, &possible) == 0)
			w->n_possible_cpus = (unsigned)pfmi_machine_count_cpus(&possible);
		pfmi_machine_free_cpus(&possible);
	}
	return w->n_possible_cpus;
}

/* Enabling, reading and disabling take time, more than the slack on many CPUs or a loaded machine.
 * So the bound is that of a clock which runs before and after them. */
void pfmi_perf_compute_max_enabled_time(struct pfm_session *s)
{
	struct hotplug_state *w = &((struct perf_state *)s->live.backend_state)->hotplug;
	uint64_t lasted;

	if (!w->has_cpu_events && !w->has_many_tasks)
		return;
	lasted = session_read_stopwatch(&w->longest_clock, s->sys.get_time(&s->sys));
	w->max_enabled_time = lasted ? lasted + get_clock_slack(lasted) : 0;
	if (w->has_many_tasks)
		w->max_task_time = w->max_enabled_time * count_possible_cpus(&s->sys, w);
}

static bool is_cpu_subset(const struct cpu_mask *some, const struct cpu_mask *all)
{
	for (unsigned cpu = 0; pfmi_machine_next_cpu(some, &cpu); cpu++)
		if (!pfmi_machine_has_cpu(all, cpu))
			return false;
	return true;
}

/* True if @path lists CPUs that were not on line when the session was opened, or cannot be read. */
static bool has_new_cpus(const struct pfm_session *s, const char *path)
{
	struct cpu_mask now;
	bool others = pfmi_machine_read_cpus(&s->sys, path, &now) ||
	              !is_cpu_subset(&now, &s->cpus.online);

	pfmi_machine_free_cpus(&now);
	return others;
}

void pfmi_perf_check_hotplug(struct pfm_session *s)
{
	struct hotplug_state *w = &((struct perf_state *)s->live.backend_state)->hotplug;

	if (w->has_cpu_events)
		compute_min_enabled_time(&s->sys, w);
	/* The time of a group that is not its turn does not advance. */
	if (s->live.turns)
		w->min_enabled_time = 0;
	if (!w->counts_all_cpus || w->has_new_cpu || w->new_cpus == NEW_CPUS_IMPOSSIBLE)
		return;
	if (w->new_cpus == NEW_CPUS_UNKNOWN)
		w->new_cpus = has_new_cpus(s, PFMI_POSSIBLE_CPUS_PATH) ? NEW_CPUS_POSSIBLE
		                                                       : NEW_CPUS_IMPOSSIBLE;
	w->has_new_cpu = w->new_cpus == NEW_CPUS_POSSIBLE && has_new_cpus(s, PFMI_ONLINE_CPUS_PATH);
	w->has_missed_cpu |= w->has_new_cpu;
}

/* True also if it is unknown. */
static bool is_cpu_online(const struct sys *sys, int cpu)
{
	struct cpu_mask online;
	bool is = pfmi_machine_read_cpus(sys, PFMI_ONLINE_CPUS_PATH, &online) ||
	          pfmi_machine_has_cpu(&online, (unsigned)cpu);

	pfmi_machine_free_cpus(&online);
	return is;
}

/* True if the kernel reports for how long count @c was enabled. On some kernels the clock does not
 * advance. */
static bool has_ticking_clock(const struct perf_state *st, const struct session_count *c)
{
	for (unsigned k = 0; k < c->kernel_state.n_events; k++)
		if (st->readings[st->events[c->kernel_state.first_event + k].times_index])
			return true;
	return false;
}

/* True if the enabled time of the event does not advance. An event that lost its counter has the
 * largest time possible. */
static bool has_stalled_time(const struct perf_state *st, const struct kernel_event *p)
{
	const struct time_reference *w =
		p->time_reference < 0 ? NULL : &st->time_references[p->time_reference];
	uint64_t enabled = st->readings[p->times_index];

	if (!is_cpu_event(p))
		return false;
	/* Events of a control group are enabled only while it runs on the CPU; the time reference
	 * beside them is always enabled. */
	if (w)
		return w->fd >= 0 && w->time_on_cpu < st->hotplug.min_enabled_time;
	return enabled - st->reset_readings[p->times_index] < st->hotplug.min_enabled_time;
}

bool pfmi_perf_has_missed_cpu(struct pfm_session *s, const struct session_count *c)
{
	struct perf_state *st = s->live.backend_state;
	bool uncore = c->config.kernel_pmu && c->config.kernel_pmu->is_uncore,
	     any = st->hotplug.has_new_cpu && c->config.cpu < 0 && !uncore;
	bool can_stall = st->hotplug.min_enabled_time && has_ticking_clock(st, c);

	for (unsigned k = 0; k < c->kernel_state.n_events; k++) {
		struct kernel_event *p = &st->events[c->kernel_state.first_event + k];

		/* A CPU that is still off has nothing to count. */
		if (can_stall && !p->is_orphaned && has_stalled_time(st, p))
			p->is_orphaned = is_cpu_online(&s->sys, p->cpu);
		any |= p->is_orphaned;
	}
	st->hotplug.has_missed_cpu |= any;
	return any;
}
