/* SPDX-License-Identifier: MIT */
/* Opens the kernel events of counts, separately or as a kernel group. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "session/perf_event_internal.h"

void pfmi_perf_close_event(struct pfm_session *s, struct kernel_event *p)
{
	const struct perf_state *st = s->live.backend_state;

	if (p->user_page)
		s->sys.munmap(&s->sys, p->user_page, st->page_size);
	p->user_page = NULL;
	if (p->fd >= 0)
		s->sys.close(&s->sys, p->fd);
	p->fd = p->leader = p->next_member = p->last_member = -1;
	p->n_members = 0;
}

/* Removes the last member of a group. Members are closed in the reverse order of their opening. */
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
	struct perf_state *st = s->live.backend_state;

	for (unsigned k = c->kernel_state.n_events; k-- > 0;)
		if (st->events[c->kernel_state.first_event + k].fd >= 0) {
			leave_group(st, &st->events[c->kernel_state.first_event + k]);
			pfmi_perf_close_event(s, &st->events[c->kernel_state.first_event + k]);
		}
	c->kernel_state.n_open = 0;
}

/* The first open member of count @i's group, or @i. */
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

enum { IS_LEADER = -1, LEADER_NOT_OPEN = -2, NO_LEADER_AT_TARGET = -3 };

/* Finds the kernel event that kernel event @k of count @i joins: the one of the group's leader that
 * counts the same task and CPU. */
static int find_leader_event(const struct pfm_session *s, unsigned i, unsigned k)
{
	const struct perf_state *st = s->live.backend_state;
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

/* True for events that the kernel counts itself: they need no counter, so they lose nothing outside
 * of a group. */
static bool is_software_count(const struct session_count *c)
{
	return c->config.attr.type == PERF_TYPE_SOFTWARE ||
	       c->config.attr.type == PERF_TYPE_TRACEPOINT;
}

/* True if the thread has ended or the CPU was switched off, which may happen while a session is
 * opened. */
static bool is_target_gone(int err)
{
	return err == -ESRCH || err == -ENODEV;
}

static bool can_exclude_kernel(const struct session_count *c)
{
	return c->config.has_default_levels && !c->config.attr.exclude_kernel &&
	       c->config.attr.type != PERF_TYPE_TRACEPOINT &&
	       !pfmi_perf_is_kernel_only_event(&c->config.attr);
}

/* Opens the event for a task, or for the folder of a control group. */
static int open_event_at_target(const struct pfm_session *s, struct perf_attr *a,
                                const struct kernel_event *p, int group)
{
	const struct perf_state *st = s->live.backend_state;
	bool grouped = st->cgroup_fd >= 0 && p->pid < 0;

	return pfmi_perf_open_with_flags(&s->sys, a, grouped ? st->cgroup_fd : p->pid, p->cpu,
	                                 group, grouped ? PERF_FLAG_PID_CGROUP : 0);
}

static int try_open_event(struct pfm_session *s, unsigned i, unsigned k, int group)
{
	struct perf_state *st = s->live.backend_state;
	struct kernel_event *p = &st->events[s->counts[i].kernel_state.first_event + k];
	struct perf_attr a;
	int fd;

	pfmi_perf_build_attr(s, i, k, group == -1, &a);
	fd = open_event_at_target(s, &a, p, group);
	/* Older kernels cannot read groups of inherited events at once. */
	if (fd == -EINVAL && group == -1 && a.inherit && !s->sampling &&
	    a.read_format & PERF_FORMAT_GROUP) {
		a.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
		fd = open_event_at_target(s, &a, p, group);
		st->reads_singly |= fd >= 0;
	}
	/* Setting this flag is optional. */
	if ((fd == -EINVAL || fd == -EOPNOTSUPP) && a.config1 != s->counts[i].config.attr.config1 &&
	    s->counts[i].config.get_user_read_bits) {
		a.config1 = s->counts[i].config.attr.config1;
		fd = open_event_at_target(s, &a, p, group);
		if (fd >= 0)
			s->counts[i].config.get_user_read_bits = 0;
	}
	if (fd < 0 && s->sampling)
		fd = s->sampling_ops->retry_open(s, &s->counts[i], &a, p->pid, p->cpu, group, fd);
	p->reads_member_ids = (a.read_format & PERF_FORMAT_ID) != 0;
	p->reads_group = (a.read_format & PERF_FORMAT_GROUP) != 0 && !p->reads_member_ids;
	p->reads_lost_samples = (a.read_format & PERF_FORMAT_LOST) != 0;
	return fd;
}

/* True if the kernel event opens outside its group: the group was refused, not the event. */
static bool can_open_ungrouped(struct pfm_session *s, unsigned i, unsigned k)
{
	int fd = try_open_event(s, i, k, -1);

	if (fd >= 0)
		s->sys.close(&s->sys, fd);
	return fd >= 0;
}

/* Opens the event for user code alone, for users who may not count the kernel. Appends "u" to the
 * name, whose memory is large enough, unless the count stays the same. */
static int try_open_without_kernel(struct pfm_session *s, unsigned i, unsigned k, int group,
                                   int err)
{
	struct session_count *c = &s->counts[i];
	size_t len = strlen(c->config.name);
	const char *tail = len && c->config.name[len - 1] == '/' ? "u" : ":u";
	int fd;

	c->config.attr.exclude_kernel = c->config.attr.exclude_hv = 1;
	fd = try_open_event(s, i, k, group);
	if (fd >= 0 || is_target_gone(fd) ||
	    (fd == -EINVAL && group >= 0 && can_open_ungrouped(s, i, k))) {
		if (s->sampling || !pfmi_perf_is_clock_event(&c->config.attr))
			memcpy(c->config.name + len, tail, strlen(tail) + 1);
		return fd;
	}
	c->config.attr.exclude_kernel = c->config.attr.exclude_hv = 0;
	/* A PMU that cannot exclude the kernel returns EINVAL; the cause is still the
	 * permission. */
	return fd == -EINVAL ? err : fd;
}

static void map_user_page(struct pfm_session *s, struct kernel_event *p)
{
	const struct perf_state *st = s->live.backend_state;
	void *page;

	if (!s->sampling && s->options.flags & PFM_SESSION_USER_READ && p->pid == 0 &&
	    p->cpu == -1 && s->sys.mmap(&s->sys, p->fd, st->page_size, 0, &page) == 0)
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
	p->reads_group = l->reads_group;
	st->events[l->last_member < 0 ? lead : l->last_member].next_member = me;
	l->last_member = me;
	l->n_members++;
}

/* Sets the caller's filter on the tracepoint of kernel event @p. Returns 0 or -errno. */
static int set_event_filter(const struct pfm_session *s, const struct kernel_event *p)
{
	const char *filter = s->options.filters
	                             ? s->options.filters[s->counts[p->count_index].config.request]
	                             : NULL;
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
	pfmi_session_fail_count(
		c, PFM_CAUSE_ATTRIBUTE, EINVAL,
		"the fields are in the tracepoint's file 'format' below events/ of tracefs",
		c->config.attr.type == PERF_TYPE_TRACEPOINT
			? "the kernel refuses the filter: it does not fit the fields of %s"
			: "expected a tracepoint for the filter, got %s",
		c->config.name);
}

/* Opens kernel event @k of count @i. Returns 0 or -errno; -ENOEXEC, which perf_event_open(2) never
 * returns, if the kernel refuses its filter. */
static int open_kernel_event(struct pfm_session *s, unsigned i, unsigned k, int lead)
{
	struct perf_state *st = s->live.backend_state;
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
		pfmi_perf_close_event(s, p);
		return -ENOEXEC;
	}
	c->kernel_state.n_open++;
	join_group(st, p, lead);
	map_user_page(s, p);
	return 0;
}

/* Stores why kernel event @k of count @i could not be opened with error @err. Returns false if the
 * count found no counter beside its group. */
static bool explain_open_failure(struct pfm_session *s, unsigned i, unsigned k, int lead, int err)
{
	const struct perf_state *st = s->live.backend_state;
	struct session_count *c = &s->counts[i];

	if (lead == NO_LEADER_AT_TARGET)
		pfmi_perf_reject_group_member(s, i);
	else if (err == -ENOEXEC)
		explain_refused_filter(c);
	else
		pfmi_perf_diagnose_event(s, i, k, lead < 0 ? -1 : st->events[lead].fd, -err);
	if (s->sampling)
		s->sampling_ops->diagnose_count(s, i, k, -err);
	return lead == NO_LEADER_AT_TARGET ||
	       (c->status.cause != PFM_CAUSE_GROUP && c->status.cause != PFM_CAUSE_BUSY);
}

/* Opens all kernel events of count @i. If one cannot be opened, closes the others and stores the
 * cause, unless a thread or a CPU has only disappeared. Returns false if the count found no counter
 * beside its group. */
static bool open_count(struct pfm_session *s, unsigned i)
{
	struct perf_state *st = s->live.backend_state;
	struct session_count *c = &s->counts[i];
	unsigned gone = 0;

	for (unsigned k = 0; k < c->kernel_state.n_events; k++) {
		int lead = find_leader_event(s, i, k), err;

		if (lead == LEADER_NOT_OPEN)
			continue;
		if (lead == NO_LEADER_AT_TARGET &&
		    (is_software_count(c) || is_software_count(&s->counts[get_open_leader(s, i)])))
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
		return explain_open_failure(s, i, k, lead, err);
	}
	if (!c->kernel_state.n_open && gone && !c->status.cause)
		pfmi_perf_diagnose_event(s, i, gone - 1, -1, ESRCH);
	return true;
}

/* Opens the members of a group separately: the group does not fit, and is a weak one. */
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

unsigned pfmi_perf_find_group_end(const struct pfm_session *s, unsigned first)
{
	unsigned end = first + 1;

	while (end < s->n_counts && s->counts[end].config.group == s->counts[first].config.group)
		end++;
	return end;
}

/* True if counts [@first, @end) are all counted on the same CPUs. */
static bool has_shared_cpus(const struct pfm_session *s, unsigned first, unsigned end)
{
	const struct perf_state *st = s->live.backend_state;
	const struct count_kernel_state *lead = &s->counts[first].kernel_state;

	if (!lead->n_events)
		return false;
	for (unsigned i = first; i < end; i++)
		for (unsigned k = 0; k < lead->n_events; k++) {
			const struct kernel_event *p =
				&st->events[s->counts[i].kernel_state.first_event + k];

			if (s->counts[i].kernel_state.n_events != lead->n_events || p->pid >= 0 ||
			    !is_same_target(p, &st->events[lead->first_event + k]))
				return false;
		}
	return true;
}

/* Opens the whole group on one CPU after the other, so that the CPU stays awake and its kernel
 * events are adjacent. If the kernel refuses any of it, leaves nothing open; open_count() then
 * finds out what is possible. */
static bool open_group_by_cpu(struct pfm_session *s, unsigned first, unsigned end)
{
	const struct count_kernel_state *lead = &s->counts[first].kernel_state;

	for (unsigned k = 0; k < lead->n_events; k++)
		for (unsigned i = first; i < end; i++)
			if (open_kernel_event(s, i, k,
			                      i == first ? IS_LEADER
			                                 : (int)(lead->first_event + k))) {
				for (unsigned m = end; m-- > first;)
					close_count(s, &s->counts[m]);
				return false;
			}
	return true;
}

/* True if count @i is a software event that is in no group. */
static bool is_lone_software_count(const struct pfm_session *s, unsigned i)
{
	const struct count_config *c = &s->counts[i].config;

	return c->attr.type == PERF_TYPE_SOFTWARE && !c->attr.pinned && !c->exclusive &&
	       pfmi_perf_find_group_end(s, i) == i + 1;
}

static void mark_read_together(struct pfm_session *s, unsigned first, unsigned end, bool is)
{
	for (unsigned i = first; i < end; i++)
		s->counts[i].kernel_state.is_read_together = is;
}

/* Opens software events as a group, because one system call and one interrupt of each CPU then read
 * them all. They need no counter, so the group does not change what they count. */
unsigned pfmi_perf_open_software_events(struct pfm_session *s, unsigned first)
{
	const struct perf_state *st = s->live.backend_state;
	unsigned end = first;

	if (s->sampling || s->live.turns || st->reads_singly)
		return first;
	while (end < s->n_counts && end - first < MAX_GROUP_MEMBERS &&
	       is_lone_software_count(s, end) && has_shared_cpus(s, first, end + 1))
		end++;
	if (end - first < 2)
		return first;
	mark_read_together(s, first, end, true);
	if (open_group_by_cpu(s, first, end))
		return end;
	mark_read_together(s, first, end, false);
	return first;
}

/* Closes the group because @refused found no counter: the members of a group are counted at the
 * same times or not at all. */
static void close_whole_group(struct pfm_session *s, unsigned first, unsigned end, unsigned refused)
{
	const struct session_count *culprit = &s->counts[refused];

	for (unsigned i = end; i-- > first;) {
		struct session_count *c = &s->counts[i];

		if (!c->kernel_state.n_open)
			continue;
		close_count(s, c);
		pfmi_session_fail_count(
			c, PFM_CAUSE_GROUP, culprit->status.sys_errno,
			"make the group smaller, or allow the library to split it (:W after the "
			"brace)",
			"the group is not counted: no counter is left for its member %s",
			culprit->config.name);
	}
}

/* Opens the event that samples for counts [@first, @end). If it is refused, the others would count
 * without any sample: they are refused as well. Returns whether they may be opened. */
static bool open_sampling_leader(struct pfm_session *s, unsigned first, unsigned end)
{
	const struct session_count *lead = &s->counts[first];

	if (lead->kernel_state.n_events)
		open_count(s, first);
	if (lead->kernel_state.n_open || lead->status.cause == PFM_CAUSE_NONE)
		return true;
	for (unsigned i = first + 1; i < end; i++)
		if (s->counts[i].status.cause == PFM_CAUSE_NONE)
			pfmi_session_fail_count(
				&s->counts[i], lead->status.cause, lead->status.sys_errno,
				"sample the group by another event",
				"its group has no samples without %s", lead->config.name);
	return false;
}

void pfmi_perf_open_group(struct pfm_session *s, unsigned first, unsigned end)
{
	bool is_led = s->sampling && end - first > 1 && s->counts[first].config.is_leader_sampled;
	unsigned refused = end;
	bool broken = false;

	for (unsigned i = first; i < end; i++)
		s->counts[i].kernel_state.group_first = first;
	if (is_led && !open_sampling_leader(s, first, end))
		return;
	if (end - first > 1 && s->counts[first].kernel_state.n_events > 1 && !s->sampling &&
	    has_shared_cpus(s, first, end) && open_group_by_cpu(s, first, end))
		return;
	for (unsigned i = is_led ? first + 1 : first; i < end && !broken; i++) {
		if (s->counts[i].kernel_state.n_events && !open_count(s, i) && refused == end)
			refused = i;
		broken = s->counts[i].config.weak && s->counts[i].status.cause == PFM_CAUSE_GROUP;
	}
	if (broken)
		break_up_group(s, first, end);
	else if (refused != end)
		close_whole_group(s, first, end, refused);
}
