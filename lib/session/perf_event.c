/* SPDX-License-Identifier: MIT */
/* The conversation with Linux's perf_event_open(2). A count becomes one kernel event per task, CPU and instance of its PMU;
 * groups become kernel groups; values are read a group at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "context/context.h"
#include "machine/machine.h"
#include "session/session.h"
#include "sampling/sampling.h"

/* ---- asking ------------------------------------------------------------------------------------------------------ */

void pfmi_perf_build_attr(const struct pfm_session *s, unsigned i, unsigned k, bool leader, union perf_attr_buffer *out)
{
	const struct session_count *c = &s->counts[i];
	const struct perf_state *st = s->backend_state;
	const struct kernel_event *p = &st->events[c->kernel_state.first_event + k];
	struct perf_event_attr *a = &out->attr;
	bool grouped = (i && s->counts[i - 1].config.group == c->config.group) ||
	               (i + 1 < s->n_counts && s->counts[i + 1].config.group == c->config.group);

	memset(out, 0, sizeof(*out));
	(void)pfmi_perf_fill_attr(&c->config.attr, a, sizeof(*out)); /* there is room for all of it */
	if (c->config.kernel_pmu && p->instance < c->config.kernel_pmu->n_instances && c->config.attr.type == (uint32_t)c->config.kernel_pmu->instance_types[0])
		a->type = (uint32_t)c->config.kernel_pmu->instance_types[p->instance];
	if (p->pid == 0)
		a->config1 |= c->config.get_user_read_bits;
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (grouped && !c->kernel_state.is_ungrouped && !st->reads_singly)
		a->read_format |= PERF_FORMAT_GROUP;
	a->inherit = (s->options.flags & PFM_SESSION_INHERIT) && p->pid >= 0;
	/* Members follow their leader. */
	a->disabled = leader;
	a->pinned = a->pinned && leader;
	a->exclusive = leader && c->config.exclusive;
	a->enable_on_exec = leader && p->pid >= 0 && (s->options.flags & PFM_SESSION_ENABLE_ON_EXEC);
	if (s->sampling)
		pfmi_sampling_fill_attr(s, c, a);
}

bool pfmi_perf_is_kernel_only_event(const pfm_attr_t *attr)
{
	static const uint64_t from_kernel = 1u << PERF_COUNT_SW_CONTEXT_SWITCHES | 1u << PERF_COUNT_SW_CPU_MIGRATIONS |
	                                    1u << PERF_COUNT_SW_BPF_OUTPUT | 1u << PERF_COUNT_SW_CGROUP_SWITCHES;

	return attr->type_known && attr->type == PERF_TYPE_SOFTWARE && attr->config < 32 && from_kernel >> attr->config & 1;
}

bool pfmi_perf_is_clock_event(const pfm_attr_t *attr)
{
	return attr->type_known && attr->type == PERF_TYPE_SOFTWARE && attr->config <= PERF_COUNT_SW_TASK_CLOCK;
}

static int open_event_with_flags(const struct sys *sys, union perf_attr_buffer *a, int pid, int cpu, int group, unsigned long flags)
{
	int fd;

	do
		fd = sys->perf_event_open(sys, &a->attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC | flags);
	while (fd == -EINTR);
	return fd;
}

int pfmi_perf_open_event(const struct sys *sys, union perf_attr_buffer *a, int pid, int cpu, int group)
{
	return open_event_with_flags(sys, a, pid, cpu, group, 0);
}

/* ---- opening ------------------------------------------------------------------------------------------------------- */

static void close_kernel_event(struct pfm_session *s, struct kernel_event *p)
{
	const struct perf_state *st = s->backend_state;

	if (p->user_page)
		s->sys.munmap(&s->sys, p->user_page, st->page_size);
	p->user_page = NULL;
	if (p->fd >= 0)
		s->sys.close(&s->sys, p->fd);
	p->fd = p->leader = p->next_member = p->last_member = -1;
	p->n_members = 0;
}

/* Takes the last member of a group out again. Members are closed in the opposite order of their opening. */
static void leave_group(struct perf_state *st, const struct kernel_event *p)
{
	int me = (int)(p - st->events), at;

	if (p->leader < 0)
		return;
	for (at = p->leader; st->events[at].next_member != me; at = st->events[at].next_member)
		;
	st->events[at].next_member = -1;
	st->events[p->leader].last_member = at == p->leader ? -1 : at;
	st->events[p->leader].n_members--;
}

static void close_count(struct pfm_session *s, struct session_count *c)
{
	struct perf_state *st = s->backend_state;

	for (unsigned k = c->kernel_state.n_events; k-- > 0;)
		if (st->events[c->kernel_state.first_event + k].fd >= 0) {
			leave_group(st, &st->events[c->kernel_state.first_event + k]);
			close_kernel_event(s, &st->events[c->kernel_state.first_event + k]);
		}
	c->kernel_state.n_open = 0;
}

/* First member of count @i's group that is open, or @i itself. */
static unsigned get_open_leader(const struct pfm_session *s, unsigned i)
{
	unsigned first = s->counts[i].kernel_state.group_first;

	if (s->counts[i].kernel_state.is_ungrouped)
		return i;
	while (first < i && !s->counts[first].kernel_state.n_open)
		first++;
	return first;
}

static bool is_same_target(const struct kernel_event *a, const struct kernel_event *b)
{
	return a->pid == b->pid && a->cpu == b->cpu && a->instance == b->instance;
}

enum { IS_LEADER = -1,
       LEADER_NOT_OPEN = -2,
       NO_LEADER_AT_TARGET = -3 };

/* The part that part @k of count @i joins: the one of the group's leader at the same place. */
static int find_leader_event(const struct pfm_session *s, unsigned i, unsigned k)
{
	const struct perf_state *st = s->backend_state;
	unsigned lead = get_open_leader(s, i);
	const struct session_count *c = &s->counts[lead];
	const struct kernel_event *p = &st->events[s->counts[i].kernel_state.first_event + k];

	if (lead == i)
		return IS_LEADER;
	for (unsigned m = 0; m < c->kernel_state.n_events; m++) {
		unsigned at = c->kernel_state.first_event + (k + m) % c->kernel_state.n_events;

		if (is_same_target(&st->events[at], p))
			return st->events[at].fd >= 0 ? (int)at : LEADER_NOT_OPEN;
	}
	return NO_LEADER_AT_TARGET;
}

/* Events the kernel counts itself are always counted: beside a group they lose nothing. */
static bool is_software_count(const struct session_count *c)
{
	return c->config.attr.type == PERF_TYPE_SOFTWARE || c->config.attr.type == PERF_TYPE_TRACEPOINT;
}

/* The thread has ended, the CPU has been switched off: that happens while a session is opened. */
static bool is_target_gone(int err)
{
	return err == -ESRCH || err == -ENODEV;
}

static bool can_exclude_kernel(const struct session_count *c)
{
	return c->config.has_default_levels && !c->config.attr.exclude_kernel && c->config.attr.type != PERF_TYPE_TRACEPOINT &&
	       !pfmi_perf_is_kernel_only_event(&c->config.attr);
}

/* A control group's events are opened for its folder in place of a task. */
static int open_event_at_target(const struct pfm_session *s, union perf_attr_buffer *a, const struct kernel_event *p, int group)
{
	const struct perf_state *st = s->backend_state;
	bool grouped = st->cgroup_fd >= 0 && p->pid < 0;

	return open_event_with_flags(&s->sys, a, grouped ? st->cgroup_fd : p->pid, p->cpu, group, grouped ? PERF_FLAG_PID_CGROUP : 0);
}

static int try_open_event(struct pfm_session *s, unsigned i, unsigned k, int group)
{
	struct perf_state *st = s->backend_state;
	struct kernel_event *p = &st->events[s->counts[i].kernel_state.first_event + k];
	union perf_attr_buffer a;
	int fd;

	pfmi_perf_build_attr(s, i, k, group == -1, &a);
	fd = open_event_at_target(s, &a, p, group);
	/* Older kernels refuse to read inherited groups at once. */
	if (fd == -EINVAL && group == -1 && a.attr.inherit && a.attr.read_format & PERF_FORMAT_GROUP) {
		a.attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
		fd = open_event_at_target(s, &a, p, group);
		st->reads_singly |= fd >= 0;
	}
	/* A wish, not a condition. */
	if ((fd == -EINVAL || fd == -EOPNOTSUPP) && a.attr.config1 != s->counts[i].config.attr.config1 && s->counts[i].config.get_user_read_bits) {
		a.attr.config1 = s->counts[i].config.attr.config1;
		fd = open_event_at_target(s, &a, p, group);
		if (fd >= 0)
			s->counts[i].config.get_user_read_bits = 0;
	}
	if (fd < 0 && s->sampling)
		fd = pfmi_sampling_retry_open(s, &s->counts[i], &a, p->pid, p->cpu, group, fd);
	p->reads_group = (a.attr.read_format & PERF_FORMAT_GROUP) != 0;
	p->reads_lost_samples = (a.attr.read_format & PERF_FORMAT_LOST) != 0;
	return fd;
}

/* True if it is the group that refuses the part. */
static bool can_open_ungrouped(struct pfm_session *s, unsigned i, unsigned k)
{
	int fd = try_open_event(s, i, k, -1);

	if (fd >= 0)
		s->sys.close(&s->sys, fd);
	return fd >= 0;
}

/* The same without the kernel, for users who may not look at it; the name shows it (it has room for that), unless nothing is missing. */
static int try_open_without_kernel(struct pfm_session *s, unsigned i, unsigned k, int group, int err)
{
	struct session_count *c = &s->counts[i];
	size_t len = strlen(c->config.name);
	const char *tail = len && c->config.name[len - 1] == '/' ? "u" : ":u";
	int fd;

	c->config.attr.exclude_kernel = c->config.attr.exclude_hv = 1;
	fd = try_open_event(s, i, k, group);
	if (fd >= 0 || is_target_gone(fd) || (fd == -EINVAL && group >= 0 && can_open_ungrouped(s, i, k))) {
		if (s->sampling || !pfmi_perf_is_clock_event(&c->config.attr))
			memcpy(c->config.name + len, tail, strlen(tail) + 1);
		return fd;
	}
	c->config.attr.exclude_kernel = c->config.attr.exclude_hv = 0;
	/* A PMU that cannot leave the kernel out says EINVAL: permission is what is missing. */
	return fd == -EINVAL ? err : fd;
}

static void map_user_page(struct pfm_session *s, struct kernel_event *p)
{
	const struct perf_state *st = s->backend_state;
	void *page;

	if (!s->sampling && s->options.flags & PFM_SESSION_USER_READ && p->pid == 0 && p->cpu == -1 &&
	    s->sys.mmap(&s->sys, p->fd, st->page_size, 0, &page) == 0)
		p->user_page = page;
}

static void join_group(struct perf_state *st, struct kernel_event *p, int lead)
{
	struct kernel_event *l;
	int me = (int)(p - st->events);

	p->leader = lead;
	if (lead < 0)
		return;
	l = &st->events[lead];
	st->events[l->last_member < 0 ? lead : l->last_member].next_member = me;
	l->last_member = me;
	l->n_members++;
}

/* The caller's filter for the tracepoint of part @p. 0 or -errno. */
static int set_event_filter(const struct pfm_session *s, const struct kernel_event *p)
{
	const char *filter = s->options.filters ? s->options.filters[s->counts[p->count_index].config.request] : NULL;
	char *copy = filter ? strdup(filter) : NULL;
	int rc;

	if (!filter)
		return 0;
	rc = copy ? s->sys.ioctl(&s->sys, p->fd, PERF_EVENT_IOC_SET_FILTER, copy) : -ENOMEM;
	free(copy);
	return rc;
}

static void explain_refused_filter(struct session_count *c)
{
	pfmi_session_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "the fields are in the tracepoint's file 'format' below events/ of tracefs",
	                        c->config.attr.type == PERF_TYPE_TRACEPOINT ? "the kernel refuses the filter: it does not fit the fields of %s"
	                                                                    : "a filter is for tracepoints, and %s is none",
	                        c->config.name);
}

/* Opens part @k of count @i. Returns 0 or -errno; -ENOEXEC, which perf_event_open never gives, if its filter is refused. */
static int open_kernel_event(struct pfm_session *s, unsigned i, unsigned k, int lead)
{
	struct perf_state *st = s->backend_state;
	struct session_count *c = &s->counts[i];
	struct kernel_event *p = &st->events[c->kernel_state.first_event + k];
	int group = lead < 0 ? -1 : st->events[lead].fd, fd;

	if (p->pid >= 0 && p->time_reference >= 0 && st->time_references[p->time_reference].fd < 0)
		return st->time_references[p->time_reference].open_error;
	fd = try_open_event(s, i, k, group);
	st->has_offline_cpu |= fd == -ENODEV;
	if ((fd == -EACCES || fd == -EPERM) && c->kernel_state.n_open == 0 && can_exclude_kernel(c))
		fd = try_open_without_kernel(s, i, k, group, fd);
	if (fd < 0)
		return fd;
	p->fd = fd;
	if (set_event_filter(s, p)) {
		close_kernel_event(s, p);
		return -ENOEXEC;
	}
	c->kernel_state.n_open++;
	join_group(st, p, lead);
	map_user_page(s, p);
	return 0;
}

/* Opens every part of count @i. If one cannot be opened, none stays open and the cause is written down; only where a thread
 * or a CPU has gone meanwhile the others go on. */
static void open_count(struct pfm_session *s, unsigned i)
{
	struct perf_state *st = s->backend_state;
	struct session_count *c = &s->counts[i];
	unsigned gone = 0;

	for (unsigned k = 0; k < c->kernel_state.n_events; k++) {
		int lead = find_leader_event(s, i, k), err;

		if (lead == LEADER_NOT_OPEN)
			continue;
		if (lead == NO_LEADER_AT_TARGET && (is_software_count(c) || is_software_count(&s->counts[get_open_leader(s, i)])))
			lead = IS_LEADER;
		err = lead == NO_LEADER_AT_TARGET ? -EINVAL : open_kernel_event(s, i, k, lead);
		if (err == 0)
			continue;
		if (is_target_gone(err) && c->kernel_state.n_events > 1) {
			gone = k + 1;
			st->has_ended_task |= err == -ESRCH;
			if (err == -ENODEV)
				pfmi_perf_diagnose_event(s, i, k, -1, ENODEV);
			continue;
		}
		close_count(s, c);
		if (lead == NO_LEADER_AT_TARGET)
			pfmi_perf_reject_group_member(s, i);
		else if (err == -ENOEXEC)
			explain_refused_filter(c);
		else
			pfmi_perf_diagnose_event(s, i, k, lead < 0 ? -1 : st->events[lead].fd, -err);
		if (s->sampling)
			pfmi_sampling_diagnose_count(s, i, k, -err);
		return;
	}
	if (!c->kernel_state.n_open && gone && !c->status.cause)
		pfmi_perf_diagnose_event(s, i, gone - 1, -1, ESRCH);
}

/* A group that does not fit and may be broken up: each member on its own. */
static void break_up_group(struct pfm_session *s, unsigned first, unsigned end)
{
	for (unsigned i = end; i-- > first;)
		close_count(s, &s->counts[i]);
	for (unsigned i = first; i < end; i++) {
		struct session_count *c = &s->counts[i];

		if (c->status.cause == PFM_CAUSE_GROUP)
			c->status.cause = c->status.reason_cause = c->status.sys_errno = 0;
		c->kernel_state.is_ungrouped = true;
		if (i > first)
			c->config.group = s->n_groups++;
		if (c->status.cause == PFM_CAUSE_NONE && c->kernel_state.n_events)
			open_count(s, i);
	}
}

static unsigned find_group_end(const struct pfm_session *s, unsigned first)
{
	unsigned end = first + 1;

	while (end < s->n_counts && s->counts[end].config.group == s->counts[first].config.group)
		end++;
	return end;
}

/* True if counts [@first, @end) are a group on several CPUs, each of them on the same ones. */
static bool has_shared_cpus(const struct pfm_session *s, unsigned first, unsigned end)
{
	const struct perf_state *st = s->backend_state;
	const struct count_kernel_state *lead = &s->counts[first].kernel_state;

	if (end - first < 2 || lead->n_events < 2 || s->sampling)
		return false;
	for (unsigned i = first; i < end; i++)
		for (unsigned k = 0; k < lead->n_events; k++) {
			const struct kernel_event *p = &st->events[s->counts[i].kernel_state.first_event + k];

			if (s->counts[i].kernel_state.n_events != lead->n_events || p->pid >= 0 || !is_same_target(p, &st->events[lead->first_event + k]))
				return false;
		}
	return true;
}

/* The whole group on one CPU after the other: so the CPU stays awake, and its kernel events lie together. If any of it is refused nothing
 * is left open, and it is for open_count() to find out what can be. */
static bool open_group_by_cpu(struct pfm_session *s, unsigned first, unsigned end)
{
	const struct count_kernel_state *lead = &s->counts[first].kernel_state;

	for (unsigned k = 0; k < lead->n_events; k++)
		for (unsigned i = first; i < end; i++)
			if (open_kernel_event(s, i, k, i == first ? IS_LEADER : (int)(lead->first_event + k))) {
				for (unsigned m = end; m-- > first;)
					close_count(s, &s->counts[m]);
				return false;
			}
	return true;
}

static void open_group(struct pfm_session *s, unsigned first, unsigned end)
{
	bool broken = false;

	for (unsigned i = first; i < end; i++)
		s->counts[i].kernel_state.group_first = first;
	if (has_shared_cpus(s, first, end) && open_group_by_cpu(s, first, end))
		return;
	for (unsigned i = first; i < end && !broken; i++) {
		if (s->counts[i].kernel_state.n_events)
			open_count(s, i);
		broken = s->counts[i].config.weak && s->counts[i].status.cause == PFM_CAUSE_GROUP;
	}
	if (broken)
		break_up_group(s, first, end);
}

/* ---- sessions -------------------------------------------------------------------------------------------------------- */

#define MAX_OPEN_ROUNDS 6 /* of opening, where threads are born all the while */

/* Closes @lead after what joined it: a closed leader sets its members free, which costs the kernel time. */
static void close_leader_and_members(struct pfm_session *s, struct kernel_event *lead)
{
	struct perf_state *st = s->backend_state;

	for (int k = lead->next_member, next; k >= 0; k = next) {
		next = st->events[k].next_member;
		close_kernel_event(s, &st->events[k]);
	}
	close_kernel_event(s, lead);
}

/* Gives everything back that belongs to one round of opening. */
static void close_round(struct pfm_session *s)
{
	struct perf_state *st = s->backend_state;

	/* The last CPU first, as its group was opened: each has to wake up but once. Then what was not opened to the end. */
	for (unsigned i = st->n_read_events; i-- > 0;)
		close_leader_and_members(s, &st->events[st->read_events[i]]);
	for (unsigned i = st->n_events; i-- > 0;)
		close_kernel_event(s, &st->events[i]);
	for (unsigned i = 0; i < st->n_time_references; i++)
		if (st->time_references[i].is_needed && st->time_references[i].fd >= 0)
			s->sys.close(&s->sys, st->time_references[i].fd);
	free(st->time_references);
	free(st->unserved_times);
	pfmi_perf_free_tasks(&st->tasks);
	st->time_references = NULL;
	st->unserved_times = NULL;
	st->n_events = st->n_time_references = st->n_unserved_times = st->n_read_events = 0;
	st->has_offline_cpu = st->has_ended_task = false;
	for (unsigned i = 0; i < s->n_counts; i++) {
		struct session_count *c = &s->counts[i];

		c->kernel_state.n_events = c->kernel_state.n_open = 0;
		if (c->status.cause && !c->kernel_state.is_rejected_early)
			c->status.cause = c->status.reason_cause = c->status.sys_errno = 0;
	}
}

static void close_perf_counts(struct pfm_session *s)
{
	struct perf_state *st = s->backend_state;

	if (!st)
		return;
	if (s->sampling)
		pfmi_sampling_close_buffers(s);
	close_round(s);
	if (st->cgroup_fd >= 0)
		s->sys.close(&s->sys, st->cgroup_fd);
	free(st->events);
	free(st->readings);
	free(st);
	s->backend_state = NULL;
}

static void open_time_references(struct pfm_session *s)
{
	struct perf_state *st = s->backend_state;

	for (unsigned i = 0; i < st->n_time_references; i++) {
		struct time_reference *w = &st->time_references[i];
		union perf_attr_buffer a;

		if (!w->is_needed)
			continue;
		memset(&a, 0, sizeof(a));
		a.attr.size = sizeof(a.attr);
		a.attr.type = PERF_TYPE_SOFTWARE;
		a.attr.config = PERF_COUNT_SW_DUMMY;
		a.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		a.attr.disabled = a.attr.exclude_kernel = a.attr.exclude_hv = 1;
		a.attr.inherit = (s->options.flags & PFM_SESSION_INHERIT) != 0;
		a.attr.enable_on_exec = w->pid >= 0 && s->options.flags & PFM_SESSION_ENABLE_ON_EXEC;
		w->fd = pfmi_perf_open_event(&s->sys, &a, w->pid, w->cpu, -1);
		w->open_error = w->fd < 0 ? w->fd : 0;
	}
}

/* Lists the tasks, plans and opens, and prepares for reading. 0 or -ENOMEM. */
static int open_round(struct pfm_session *s)
{
	struct perf_state *st = s->backend_state;
	int rc = pfmi_perf_list_tasks(&s->sys, s->options.pid, s->options.flags & PFM_SESSION_ONE_THREAD, &st->tasks);

	if (!rc)
		rc = pfmi_perf_plan_events(s);
	if (rc)
		return rc;
	open_time_references(s);
	for (unsigned i = 0, end; i < s->n_counts; i = end) {
		end = find_group_end(s, i);
		open_group(s, i, end);
	}
	return pfmi_perf_assign_readings(s);
}

/* Threads may have been born while the others were opened, by one that was not open yet: they and what they give birth to would be
 * missing. Whether a newcomer is counted already cannot be seen, so it cannot just be added. Nor can what a child inherited that was forked
 * between two members of a group. -EAGAIN: there are newcomers. */
static int check_new_tasks(struct pfm_session *s)
{
	struct perf_state *st = s->backend_state;
	struct task_list now;
	int rc;

	/* The caller's own thread gives birth to nobody meanwhile, nor does a program that waits for its start. */
	if (s->options.pid == 0 || (s->options.flags & (PFM_SESSION_INHERIT | PFM_SESSION_ENABLE_ON_EXEC)) != PFM_SESSION_INHERIT)
		return 0;
	if (pfmi_perf_has_unreadable_group(s))
		return -EAGAIN;
	if (!st->tasks.has_all_threads)
		return 0;
	rc = pfmi_perf_list_tasks(&s->sys, s->options.pid, s->options.flags & PFM_SESSION_ONE_THREAD, &now);
	/* A process that has ended has no newcomers. */
	if (!rc && now.has_all_threads && !pfmi_perf_is_task_subset(&now, &st->tasks))
		rc = -EAGAIN;
	pfmi_perf_free_tasks(&now);
	return rc;
}

/* What keeps the counts of tasks from being whole. */
static void explain_missing_tasks(struct pfm_session *s, bool newcomers)
{
	const struct perf_state *st = s->backend_state;
	int err = st->tasks.list_errno;

	for (unsigned i = 0; i < s->n_counts && (err || newcomers); i++) {
		struct session_count *c = &s->counts[i];

		if (c->status.cause || !c->kernel_state.n_open || st->events[c->kernel_state.first_event].pid < 0)
			continue;
		if (newcomers)
			pfmi_session_fail_count(c, PFM_CAUSE_OTHER, EAGAIN, "stop the process (SIGSTOP) while it is opened",
			                        "process %d gives birth to threads faster than they can be opened: some are missing",
			                        s->options.pid);
		else
			pfmi_session_fail_count(c, err == EACCES || err == EPERM || err == ENOENT ? PFM_CAUSE_PERMISSION : PFM_CAUSE_OTHER, err,
			                        "run as the owner of the process or as root, with this namespace's /proc mounted (and not with hidepid)",
			                        "which threads process %d has cannot be read from /proc/%d: no other is counted", s->options.pid,
			                        s->options.pid);
	}
}

static int open_in_rounds(struct pfm_session *s)
{
	struct perf_state *st = s->backend_state;
	int rc;

	for (unsigned round = 1;; round++) {
		rc = open_round(s);
		if (!rc && st->has_offline_cpu && s->is_online_assumed)
			rc = pfmi_session_refresh_online_cpus(s);
		if (!rc)
			rc = check_new_tasks(s);
		/* A thread that starts a program becomes the first of its process, whose number was opened before for another. */
		if (!rc && st->has_ended_task && round == 1)
			rc = -EAGAIN;
		if (rc != -EAGAIN || round == MAX_OPEN_ROUNDS)
			break;
		close_round(s);
	}
	/* Read one by one, what is there can be read. */
	if (rc == -EAGAIN) {
		close_round(s);
		st->reads_singly = true;
		rc = open_round(s);
		rc = rc ? rc : -EAGAIN;
	}
	if (rc == 0 || rc == -EAGAIN)
		explain_missing_tasks(s, rc == -EAGAIN);
	return rc == -ENOMEM || rc == -E2BIG ? rc : 0;
}

/* Opens the folder of the control group that is wanted. */
static int open_cgroup(const struct pfm_session *s, struct perf_state *st, pfm_error_t *why)
{
	int fd;

	if (!s->options.cgroup)
		return PFMLIB_SUCCESS;
	if (!(s->options.flags & PFM_SESSION_SYSTEM_WIDE))
		return pfmi_base_set_error(why, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 },
		                           "a control group is counted system-wide");
	fd = s->sys.open(&s->sys, s->options.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		st->cgroup_fd = fd;
		return PFMLIB_SUCCESS;
	}
	return pfmi_base_set_errno_error(why, PFMLIB_ERR_SYS, -fd, "the folder of the control group cannot be opened");
}

static int open_perf_counts(struct pfm_session *s, pfm_error_t *why)
{
	struct perf_state *st = session_alloc_zeroed(sizeof(*st));
	long page = sysconf(_SC_PAGESIZE);
	int rc;

	if (!st)
		return pfmi_base_set_error(why, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	s->backend_state = st;
	st->cgroup_fd = -1;
	rc = open_cgroup(s, st, why);
	if (rc) {
		close_perf_counts(s);
		return rc;
	}
	st->reads_singly = s->sampling != NULL; /* each with its own losses */
	if (s->sampling)
		pfmi_sampling_choose_rates(s);
	for (unsigned i = 0; i < s->n_counts; i++)
		s->counts[i].kernel_state.is_rejected_early = s->counts[i].status.cause != PFM_CAUSE_NONE;
	st->page_size = page > 0 ? (size_t)page : 4096;
	rc = open_in_rounds(s);
	if (!rc)
		pfmi_perf_init_hotplug(s);
	if (!rc && s->sampling && !(s->options.flags & PFM_SESSION_DRY_RUN)) {
		rc = pfmi_sampling_open_buffers(s, why);
		if (rc)
			close_perf_counts(s);
		return rc;
	}
	if (!rc)
		return PFMLIB_SUCCESS;
	close_perf_counts(s);
	if (rc == -E2BIG)
		return pfmi_base_set_error(why, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, NULL, (struct slice){ 0 },
		                           "more than 262144 counters of the kernel would be opened: name CPUs, or fewer events or boxes");
	return pfmi_base_set_error(why, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
}

/* The kernel shows its PMUs because it has them. Where a filter of system calls keeps them away all the same, the first event says so. */
static bool is_perf_known_usable(const struct pfm_ctx *ctx)
{
	return !ctx->sys.root[0] && ctx->kernel && ctx->kernel->n_pmus;
}

static int probe_perf(const struct sys *sys, pfm_error_t *why)
{
	union perf_attr_buffer a;
	int fd;

	memset(&a, 0, sizeof(a));
	a.attr.size = sizeof(a.attr);
	a.attr.type = PERF_TYPE_SOFTWARE;
	a.attr.config = PERF_COUNT_SW_DUMMY;
	a.attr.disabled = a.attr.exclude_kernel = a.attr.exclude_hv = 1;
	fd = pfmi_perf_open_event(sys, &a, 0, -1, -1);
	if (fd >= 0)
		sys->close(sys, fd);
	if (fd != -ENOSYS)
		return PFMLIB_SUCCESS; /* a refusal is an answer, too: each event will tell its own */
	return pfmi_base_set_errno_error(why, PFMLIB_ERR_NOTSUPP, ENOSYS, "the kernel has no perf_event_open");
}

const struct backend pfmi_perf_backend = {
	.name = "perf_event",
	.is_known_usable = is_perf_known_usable,
	.probe = probe_perf,
	.open_counts = open_perf_counts,
	.start_counting = pfmi_perf_start_counting,
	.stop_counting = pfmi_perf_stop_counting,
	.reset_counts = pfmi_perf_reset_counts,
	.read_counts = pfmi_perf_read_counts,
	.read_user_count = pfmi_perf_read_user_count,
	.close_counts = close_perf_counts,
};
