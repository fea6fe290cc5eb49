/* SPDX-License-Identifier: MIT */
/* Starts, stops and switches the events that are open. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "session/perf_event_internal.h"

static int send_ioctl(struct pfm_session *s, int fd, unsigned long request)
{
	int rc;

	do
		rc = s->sys.ioctl(&s->sys, fd, request, NULL);
	while (rc == -EINTR);
	return rc;
}

static int keep_first_error(int before, int rc)
{
	return before ? before : rc < 0 ? rc : 0;
}

/* True if the kernel enables the event when the task executes its program. */
static bool is_enabled_on_exec(const struct pfm_session *s, int pid)
{
	return s->options.flags & PFM_SESSION_ENABLE_ON_EXEC && pid >= 0;
}

static int send_to_all_time_references(struct pfm_session *s, unsigned long request)
{
	const struct perf_state *st = s->live.backend_state;
	int first = 0;

	for (unsigned i = 0; i < st->n_time_references; i++) {
		const struct time_reference *w = &st->time_references[i];

		if (w->is_needed && w->fd >= 0 &&
		    !(request == PERF_EVENT_IOC_ENABLE && is_enabled_on_exec(s, w->pid)))
			first = keep_first_error(first, send_ioctl(s, w->fd, request));
	}
	return first;
}

/* Sends @request to every time reference: most sessions have none. */
static inline int send_to_time_references(struct pfm_session *s, unsigned long request)
{
	const struct perf_state *st = s->live.backend_state;

	return st->n_time_references ? send_to_all_time_references(s, request) : 0;
}

/* Sends @request to every leader of the session. Returns the first error, after all leaders got the
 * request. */
static int send_to_leaders(struct pfm_session *s, unsigned long request)
{
	const struct perf_state *st = s->live.backend_state;
	int first = 0;

	for (unsigned i = 0; i < st->n_read_events; i++) {
		const struct kernel_event *p = &st->events[st->read_events[i]];

		if (p->leader >= 0)
			continue;
		if (request == PERF_EVENT_IOC_ENABLE && is_enabled_on_exec(s, p->pid))
			continue;
		if (s->live.turns && request == PERF_EVENT_IOC_ENABLE &&
		    !pfmi_session_is_group_on(s, s->counts[p->count_index].config.group))
			continue;
		first = keep_first_error(first, send_ioctl(s, p->fd, request));
	}
	return first;
}

/* nanoseconds; much more than two clocks differ, and less than a system has usually been running */
#define CGROUP_TIME_SLACK_NS 60000000000u

static bool is_counting_cgroup(const struct pfm_session *s)
{
	return ((const struct perf_state *)s->live.backend_state)->cgroup_fd >= 0;
}

/* Some kernels count the time of a control group's first event from the start of the system. Such a
 * time becomes the zero of later times. */
static void rebase_cgroup_times(struct pfm_session *s)
{
	struct perf_state *st = s->live.backend_state;
	uint64_t possible = s->sys.get_time(&s->sys) - st->opened_at + CGROUP_TIME_SLACK_NS;

	if (pfmi_perf_read_all_events(s))
		return;
	for (unsigned i = 0; i < st->n_events; i++) {
		const uint64_t *times = st->readings + st->events[i].times_index;

		if (st->events[i].fd >= 0 && times[0] != LOST_COUNTER_TIME &&
		    times[0] - st->reset_readings[st->events[i].times_index] > possible)
			memcpy(st->reset_readings + st->events[i].times_index, times,
			       2 * sizeof(*times));
	}
}

/* Time references are enabled first and disabled last, so that their times include those of all
 * others. After the leaders are enabled, every start executes the same instructions, so that a
 * program that counts itself gets equal counts each time. */
int pfmi_perf_start_counting(struct pfm_session *s)
{
	int rc;

	pfmi_perf_start_longest_clock(s);
	rc = send_to_time_references(s, PERF_EVENT_IOC_ENABLE);
	if (s->sampling)
		rc = keep_first_error(
			rc, s->sampling_ops->control_side_events(s, PERF_EVENT_IOC_ENABLE));
	rc = keep_first_error(rc, send_to_leaders(s, PERF_EVENT_IOC_ENABLE));
	if (!rc) {
		pfmi_perf_start_process_clock(s);
		pfmi_perf_start_hotplug_clock(s);
		if (is_counting_cgroup(s) && !s->live.started)
			rebase_cgroup_times(s);
		return PFMLIB_SUCCESS;
	}
	send_to_leaders(s, PERF_EVENT_IOC_DISABLE);
	send_to_time_references(s, PERF_EVENT_IOC_DISABLE);
	pfmi_perf_stop_longest_clock(s);
	return pfmi_perf_record_errno(s, rc);
}

int pfmi_perf_stop_counting(struct pfm_session *s)
{
	int rc;

	pfmi_perf_stop_hotplug_clock(s);
	pfmi_perf_stop_process_clock(s);
	rc = send_to_leaders(s, PERF_EVENT_IOC_DISABLE);
	rc = keep_first_error(rc, send_to_time_references(s, PERF_EVENT_IOC_DISABLE));
	if (s->sampling)
		rc = keep_first_error(
			rc, s->sampling_ops->control_side_events(s, PERF_EVENT_IOC_DISABLE));
	pfmi_perf_stop_longest_clock(s);
	return rc ? pfmi_perf_record_errno(s, rc) : PFMLIB_SUCCESS;
}

/* Sends @request to the leaders of the groups that are in @these and not in @others. */
static int send_to_groups(struct pfm_session *s, unsigned long request, const unsigned char *these,
                          const unsigned char *others)
{
	const struct perf_state *st = s->live.backend_state;
	int first = 0;

	for (unsigned i = 0; i < st->n_read_events; i++) {
		const struct kernel_event *p = &st->events[st->read_events[i]];
		unsigned group = s->counts[p->count_index].config.group;

		if (p->leader < 0 && these[group] && !others[group])
			first = keep_first_error(first, send_ioctl(s, p->fd, request));
	}
	return first;
}

/* The time that passes for the counts of the session: of the process, or on CPUs. False if it is
 * unknown. */
static bool read_counted_clock(const struct pfm_session *s, uint64_t *ns)
{
	if (pfmi_perf_get_process_time(s, ns))
		return true;
	*ns = s->sys.get_time(&s->sys);
	return s->options.flags & PFM_SESSION_SYSTEM_WIDE || s->options.cpus;
}

/* On every CPU the old groups stop before the new ones start, because it has not enough counters
 * for both. In between neither counts, so the clock of the process stops: it would show this time
 * as that of tasks that are not counted. Groups are switched one after the other, so that each is
 * off for half of the time on average. */
int pfmi_perf_switch_groups(struct pfm_session *s, const unsigned char *was_on,
                            const unsigned char *is_on)
{
	uint64_t before, after;
	const bool has_clock = read_counted_clock(s, &before);
	int rc;

	pfmi_perf_stop_process_clock(s);
	rc = send_to_groups(s, PERF_EVENT_IOC_DISABLE, was_on, is_on);
	rc = keep_first_error(rc, send_to_groups(s, PERF_EVENT_IOC_ENABLE, is_on, was_on));
	pfmi_perf_start_process_clock(s);
	if (has_clock && read_counted_clock(s, &after))
		pfmi_session_add_turn_gap(s, (after - before) / 2);
	return rc ? pfmi_perf_record_errno(s, rc) : PFMLIB_SUCCESS;
}
