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

void pfmi_perf_attr(const struct pfm_session *s, unsigned i, unsigned k, bool leader, union attr *out)
{
	const struct counting *c = &s->counts[i];
	const struct perf_state *st = s->state;
	const struct part *p = &st->parts[c->opened.part + k];
	struct perf_event_attr *a = &out->attr;
	bool grouped = (i && s->counts[i - 1].asked.group == c->asked.group) ||
	               (i + 1 < s->n && s->counts[i + 1].asked.group == c->asked.group);

	memset(out, 0, sizeof(*out));
	(void)pfmi_perf_fill(&c->asked.attr, a, sizeof(*out)); /* there is room for all of it */
	if (c->asked.device && p->instance < c->asked.device->n_instances && c->asked.attr.type == (uint32_t)c->asked.device->types[0])
		a->type = (uint32_t)c->asked.device->types[p->instance];
	if (p->pid == 0)
		a->config1 |= c->asked.user_read;
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (grouped && !c->opened.alone && !st->one_by_one)
		a->read_format |= PERF_FORMAT_GROUP;
	a->inherit = (s->options.flags & PFM_SESSION_INHERIT) && p->pid >= 0;
	/* Members follow their leader. */
	a->disabled = leader;
	a->pinned = a->pinned && leader;
	a->exclusive = leader && c->asked.exclusive;
	a->enable_on_exec = leader && p->pid >= 0 && (s->options.flags & PFM_SESSION_ENABLE_ON_EXEC);
	if (s->sampling)
		pfmi_sampling_attr(s, c, a);
}

bool pfmi_only_in_kernel(const pfm_attr_t *attr)
{
	static const uint64_t from_kernel = 1u << PERF_COUNT_SW_CONTEXT_SWITCHES | 1u << PERF_COUNT_SW_CPU_MIGRATIONS |
	                                    1u << PERF_COUNT_SW_BPF_OUTPUT | 1u << PERF_COUNT_SW_CGROUP_SWITCHES;

	return attr->type_known && attr->type == PERF_TYPE_SOFTWARE && attr->config < 32 && from_kernel >> attr->config & 1;
}

bool pfmi_is_clock(const pfm_attr_t *attr)
{
	return attr->type_known && attr->type == PERF_TYPE_SOFTWARE && attr->config <= PERF_COUNT_SW_TASK_CLOCK;
}

static int open_with(const struct sys *sys, union attr *a, int pid, int cpu, int group, unsigned long flags)
{
	int fd;

	do
		fd = sys->perf_event_open(sys, &a->attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC | flags);
	while (fd == -EINTR);
	return fd;
}

int pfmi_perf_open(const struct sys *sys, union attr *a, int pid, int cpu, int group)
{
	return open_with(sys, a, pid, cpu, group, 0);
}

/* ---- opening ------------------------------------------------------------------------------------------------------- */

static void close_part(struct pfm_session *s, struct part *p)
{
	const struct perf_state *st = s->state;

	if (p->page)
		s->sys.munmap(&s->sys, p->page, st->page_size);
	p->page = NULL;
	if (p->fd >= 0)
		s->sys.close(&s->sys, p->fd);
	p->fd = p->lead = p->next = p->last = -1;
	p->members = 0;
}

/* Takes the last member of a group out again. Members are closed in the opposite order of their opening. */
static void leave_group(struct perf_state *st, const struct part *p)
{
	int me = (int)(p - st->parts), at;

	if (p->lead < 0)
		return;
	for (at = p->lead; st->parts[at].next != me; at = st->parts[at].next)
		;
	st->parts[at].next = -1;
	st->parts[p->lead].last = at == p->lead ? -1 : at;
	st->parts[p->lead].members--;
}

static void close_count(struct pfm_session *s, struct counting *c)
{
	struct perf_state *st = s->state;

	for (unsigned k = c->opened.n_parts; k-- > 0;)
		if (st->parts[c->opened.part + k].fd >= 0) {
			leave_group(st, &st->parts[c->opened.part + k]);
			close_part(s, &st->parts[c->opened.part + k]);
		}
	c->opened.n_open = 0;
}

/* First member of count @i's group that is open, or @i itself. */
static unsigned leader_of(const struct pfm_session *s, unsigned i)
{
	unsigned first = s->counts[i].opened.first;

	if (s->counts[i].opened.alone)
		return i;
	while (first < i && !s->counts[first].opened.n_open)
		first++;
	return first;
}

static bool same_place(const struct part *a, const struct part *b)
{
	return a->pid == b->pid && a->cpu == b->cpu && a->instance == b->instance;
}

enum { LEADS = -1,
       LEADER_MISSING = -2,
       NO_LEADER = -3 };

/* The part that part @k of count @i joins: the one of the group's leader at the same place. */
static int find_leader(const struct pfm_session *s, unsigned i, unsigned k)
{
	const struct perf_state *st = s->state;
	unsigned lead = leader_of(s, i);
	const struct counting *c = &s->counts[lead];
	const struct part *p = &st->parts[s->counts[i].opened.part + k];

	if (lead == i)
		return LEADS;
	for (unsigned m = 0; m < c->opened.n_parts; m++) {
		unsigned at = c->opened.part + (k + m) % c->opened.n_parts;

		if (same_place(&st->parts[at], p))
			return st->parts[at].fd >= 0 ? (int)at : LEADER_MISSING;
	}
	return NO_LEADER;
}

/* Events the kernel counts itself are always counted: beside a group they lose nothing. */
static bool is_software(const struct counting *c)
{
	return c->asked.attr.type == PERF_TYPE_SOFTWARE || c->asked.attr.type == PERF_TYPE_TRACEPOINT;
}

/* The thread has ended, the CPU has been switched off: that happens while a session is opened. */
static bool is_gone(int err)
{
	return err == -ESRCH || err == -ENODEV;
}

static bool may_leave_kernel_out(const struct counting *c)
{
	return c->asked.levels_free && !c->asked.attr.exclude_kernel && c->asked.attr.type != PERF_TYPE_TRACEPOINT &&
	       !pfmi_only_in_kernel(&c->asked.attr);
}

/* A control group's events are opened for its folder in place of a task. */
static int open_at(const struct pfm_session *s, union attr *a, const struct part *p, int group)
{
	const struct perf_state *st = s->state;
	bool grouped = st->cgroup >= 0 && p->pid < 0;

	return open_with(&s->sys, a, grouped ? st->cgroup : p->pid, p->cpu, group, grouped ? PERF_FLAG_PID_CGROUP : 0);
}

static int try_part(struct pfm_session *s, unsigned i, unsigned k, int group)
{
	struct perf_state *st = s->state;
	struct part *p = &st->parts[s->counts[i].opened.part + k];
	union attr a;
	int fd;

	pfmi_perf_attr(s, i, k, group == -1, &a);
	fd = open_at(s, &a, p, group);
	/* Older kernels refuse to read inherited groups at once. */
	if (fd == -EINVAL && group == -1 && a.attr.inherit && a.attr.read_format & PERF_FORMAT_GROUP) {
		a.attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
		fd = open_at(s, &a, p, group);
		st->one_by_one |= fd >= 0;
	}
	/* A wish, not a condition. */
	if ((fd == -EINVAL || fd == -EOPNOTSUPP) && a.attr.config1 != s->counts[i].asked.attr.config1 && s->counts[i].asked.user_read) {
		a.attr.config1 = s->counts[i].asked.attr.config1;
		fd = open_at(s, &a, p, group);
		if (fd >= 0)
			s->counts[i].asked.user_read = 0;
	}
	if (fd < 0 && s->sampling)
		fd = pfmi_sampling_settle(s, &s->counts[i], &a, p->pid, p->cpu, group, fd);
	p->whole = (a.attr.read_format & PERF_FORMAT_GROUP) != 0;
	p->tells = (a.attr.read_format & PERF_FORMAT_LOST) != 0;
	return fd;
}

/* True if it is the group that refuses the part. */
static bool opens_alone(struct pfm_session *s, unsigned i, unsigned k)
{
	int fd = try_part(s, i, k, -1);

	if (fd >= 0)
		s->sys.close(&s->sys, fd);
	return fd >= 0;
}

/* The same without the kernel, for users who may not look at it; the name shows it (it has room for that), unless nothing is missing. */
static int try_without_kernel(struct pfm_session *s, unsigned i, unsigned k, int group, int err)
{
	struct counting *c = &s->counts[i];
	size_t len = strlen(c->asked.name);
	const char *tail = len && c->asked.name[len - 1] == '/' ? "u" : ":u";
	int fd;

	c->asked.attr.exclude_kernel = c->asked.attr.exclude_hv = 1;
	fd = try_part(s, i, k, group);
	if (fd >= 0 || is_gone(fd) || (fd == -EINVAL && group >= 0 && opens_alone(s, i, k))) {
		if (s->sampling || !pfmi_is_clock(&c->asked.attr))
			memcpy(c->asked.name + len, tail, strlen(tail) + 1);
		return fd;
	}
	c->asked.attr.exclude_kernel = c->asked.attr.exclude_hv = 0;
	/* A PMU that cannot leave the kernel out says EINVAL: permission is what is missing. */
	return fd == -EINVAL ? err : fd;
}

static void map_page(struct pfm_session *s, struct part *p)
{
	const struct perf_state *st = s->state;
	void *page;

	if (!s->sampling && s->options.flags & PFM_SESSION_USER_READ && p->pid == 0 && p->cpu == -1 &&
	    s->sys.mmap(&s->sys, p->fd, st->page_size, 0, &page) == 0)
		p->page = page;
}

static void join(struct perf_state *st, struct part *p, int lead)
{
	struct part *l;
	int me = (int)(p - st->parts);

	p->lead = lead;
	if (lead < 0)
		return;
	l = &st->parts[lead];
	st->parts[l->last < 0 ? lead : l->last].next = me;
	l->last = me;
	l->members++;
}

/* The caller's filter for the tracepoint of part @p. 0 or -errno. */
static int set_filter(const struct pfm_session *s, const struct part *p)
{
	const char *filter = s->options.filters ? s->options.filters[s->counts[p->count].asked.request] : NULL;
	char *copy = filter ? strdup(filter) : NULL;
	int rc;

	if (!filter)
		return 0;
	rc = copy ? s->sys.ioctl(&s->sys, p->fd, PERF_EVENT_IOC_SET_FILTER, copy) : -ENOMEM;
	free(copy);
	return rc;
}

static void no_filter(struct counting *c)
{
	pfmi_give_up(c, PFM_CAUSE_ATTRIBUTE, EINVAL, "the fields are in the tracepoint's file 'format' below events/ of tracefs",
	             c->asked.attr.type == PERF_TYPE_TRACEPOINT ? "the kernel refuses the filter: it does not fit the fields of %s"
	                                                        : "a filter is for tracepoints, and %s is none",
	             c->asked.name);
}

/* Opens part @k of count @i. Returns 0 or -errno; -ENOEXEC, which perf_event_open never gives, if its filter is refused. */
static int open_part(struct pfm_session *s, unsigned i, unsigned k, int lead)
{
	struct perf_state *st = s->state;
	struct counting *c = &s->counts[i];
	struct part *p = &st->parts[c->opened.part + k];
	int group = lead < 0 ? -1 : st->parts[lead].fd, fd;

	if (p->pid >= 0 && p->witness >= 0 && st->witnesses[p->witness].fd < 0)
		return st->witnesses[p->witness].err;
	fd = try_part(s, i, k, group);
	st->absent |= fd == -ENODEV;
	if ((fd == -EACCES || fd == -EPERM) && c->opened.n_open == 0 && may_leave_kernel_out(c))
		fd = try_without_kernel(s, i, k, group, fd);
	if (fd < 0)
		return fd;
	p->fd = fd;
	if (set_filter(s, p)) {
		close_part(s, p);
		return -ENOEXEC;
	}
	c->opened.n_open++;
	join(st, p, lead);
	map_page(s, p);
	return 0;
}

/* Opens every part of count @i. If one cannot be opened, none stays open and the cause is written down; only where a thread
 * or a CPU has gone meanwhile the others go on. */
static void open_count(struct pfm_session *s, unsigned i)
{
	struct perf_state *st = s->state;
	struct counting *c = &s->counts[i];
	unsigned gone = 0;

	for (unsigned k = 0; k < c->opened.n_parts; k++) {
		int lead = find_leader(s, i, k), err;

		if (lead == LEADER_MISSING)
			continue;
		if (lead == NO_LEADER && (is_software(c) || is_software(&s->counts[leader_of(s, i)])))
			lead = LEADS;
		err = lead == NO_LEADER ? -EINVAL : open_part(s, i, k, lead);
		if (err == 0)
			continue;
		if (is_gone(err) && c->opened.n_parts > 1) {
			gone = k + 1;
			st->gone |= err == -ESRCH;
			if (err == -ENODEV)
				pfmi_perf_diagnose(s, i, k, -1, ENODEV);
			continue;
		}
		close_count(s, c);
		if (lead == NO_LEADER)
			pfmi_perf_foreign(s, i);
		else if (err == -ENOEXEC)
			no_filter(c);
		else
			pfmi_perf_diagnose(s, i, k, lead < 0 ? -1 : st->parts[lead].fd, -err);
		if (s->sampling)
			pfmi_sampling_diagnose(s, i, k, -err);
		return;
	}
	if (!c->opened.n_open && gone && !c->told.cause)
		pfmi_perf_diagnose(s, i, gone - 1, -1, ESRCH);
}

/* A group that does not fit and may be broken up: each member on its own. */
static void break_up(struct pfm_session *s, unsigned first, unsigned end)
{
	for (unsigned i = end; i-- > first;)
		close_count(s, &s->counts[i]);
	for (unsigned i = first; i < end; i++) {
		struct counting *c = &s->counts[i];

		if (c->told.cause == PFM_CAUSE_GROUP)
			c->told.cause = c->told.about = c->told.sys_errno = 0;
		c->opened.alone = true;
		if (i > first)
			c->asked.group = s->n_groups++;
		if (c->told.cause == PFM_CAUSE_NONE && c->opened.n_parts)
			open_count(s, i);
	}
}

static unsigned group_end(const struct pfm_session *s, unsigned first)
{
	unsigned end = first + 1;

	while (end < s->n && s->counts[end].asked.group == s->counts[first].asked.group)
		end++;
	return end;
}

/* True if counts [@first, @end) are a group on several CPUs, each of them on the same ones. */
static bool share_cpus(const struct pfm_session *s, unsigned first, unsigned end)
{
	const struct perf_state *st = s->state;
	const struct opened *lead = &s->counts[first].opened;

	if (end - first < 2 || lead->n_parts < 2 || s->sampling)
		return false;
	for (unsigned i = first; i < end; i++)
		for (unsigned k = 0; k < lead->n_parts; k++) {
			const struct part *p = &st->parts[s->counts[i].opened.part + k];

			if (s->counts[i].opened.n_parts != lead->n_parts || p->pid >= 0 || !same_place(p, &st->parts[lead->part + k]))
				return false;
		}
	return true;
}

/* The whole group on one CPU after the other: so the CPU stays awake, and its kernel events lie together. If any of it is refused nothing
 * is left open, and it is for open_count() to find out what can be. */
static bool open_by_cpu(struct pfm_session *s, unsigned first, unsigned end)
{
	const struct opened *lead = &s->counts[first].opened;

	for (unsigned k = 0; k < lead->n_parts; k++)
		for (unsigned i = first; i < end; i++)
			if (open_part(s, i, k, i == first ? LEADS : (int)(lead->part + k))) {
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
		s->counts[i].opened.first = first;
	if (share_cpus(s, first, end) && open_by_cpu(s, first, end))
		return;
	for (unsigned i = first; i < end && !broken; i++) {
		if (s->counts[i].opened.n_parts)
			open_count(s, i);
		broken = s->counts[i].asked.weak && s->counts[i].told.cause == PFM_CAUSE_GROUP;
	}
	if (broken)
		break_up(s, first, end);
}

/* ---- sessions -------------------------------------------------------------------------------------------------------- */

#define ROUNDS 6 /* of opening, where threads are born all the while */

/* Closes @lead after what joined it: a closed leader sets its members free, which costs the kernel time. */
static void close_led(struct pfm_session *s, struct part *lead)
{
	struct perf_state *st = s->state;

	for (int k = lead->next, next; k >= 0; k = next) {
		next = st->parts[k].next;
		close_part(s, &st->parts[k]);
	}
	close_part(s, lead);
}

/* Gives everything back that belongs to one round of opening. */
static void close_round(struct pfm_session *s)
{
	struct perf_state *st = s->state;

	/* The last CPU first, as its group was opened: each has to wake up but once. Then what was not opened to the end. */
	for (unsigned i = st->n_read; i-- > 0;)
		close_led(s, &st->parts[st->read[i]]);
	for (unsigned i = st->n_parts; i-- > 0;)
		close_part(s, &st->parts[i]);
	for (unsigned i = 0; i < st->n_witnesses; i++)
		if (st->witnesses[i].wanted && st->witnesses[i].fd >= 0)
			s->sys.close(&s->sys, st->witnesses[i].fd);
	free(st->witnesses);
	free(st->elsewhere);
	pfmi_perf_tasks_free(&st->tasks);
	st->witnesses = NULL;
	st->elsewhere = NULL;
	st->n_parts = st->n_witnesses = st->n_elsewhere = st->n_read = 0;
	st->absent = st->gone = false;
	for (unsigned i = 0; i < s->n; i++) {
		struct counting *c = &s->counts[i];

		c->opened.n_parts = c->opened.n_open = 0;
		if (c->told.cause && !c->opened.barred)
			c->told.cause = c->told.about = c->told.sys_errno = 0;
	}
}

static void perf_close(struct pfm_session *s)
{
	struct perf_state *st = s->state;

	if (!st)
		return;
	if (s->sampling)
		pfmi_sampling_close(s);
	close_round(s);
	if (st->cgroup >= 0)
		s->sys.close(&s->sys, st->cgroup);
	free(st->parts);
	free(st->readings);
	free(st);
	s->state = NULL;
}

static void open_witnesses(struct pfm_session *s)
{
	struct perf_state *st = s->state;

	for (unsigned i = 0; i < st->n_witnesses; i++) {
		struct witness *w = &st->witnesses[i];
		union attr a;

		if (!w->wanted)
			continue;
		memset(&a, 0, sizeof(a));
		a.attr.size = sizeof(a.attr);
		a.attr.type = PERF_TYPE_SOFTWARE;
		a.attr.config = PERF_COUNT_SW_DUMMY;
		a.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		a.attr.disabled = a.attr.exclude_kernel = a.attr.exclude_hv = 1;
		a.attr.inherit = (s->options.flags & PFM_SESSION_INHERIT) != 0;
		a.attr.enable_on_exec = w->pid >= 0 && s->options.flags & PFM_SESSION_ENABLE_ON_EXEC;
		w->fd = pfmi_perf_open(&s->sys, &a, w->pid, w->cpu, -1);
		w->err = w->fd < 0 ? w->fd : 0;
	}
}

/* Lists the tasks, plans and opens, and prepares for reading. 0 or -ENOMEM. */
static int open_round(struct pfm_session *s)
{
	struct perf_state *st = s->state;
	int rc = pfmi_perf_tasks(&s->sys, s->options.pid, s->options.flags & PFM_SESSION_ONE_TASK, &st->tasks);

	if (!rc)
		rc = pfmi_perf_plan(s);
	if (rc)
		return rc;
	open_witnesses(s);
	for (unsigned i = 0, end; i < s->n; i = end) {
		end = group_end(s, i);
		open_group(s, i, end);
	}
	return pfmi_perf_place(s);
}

/* Threads may have been born while the others were opened, by one that was not open yet: they and what they give birth to would be
 * missing. Whether a newcomer is counted already cannot be seen, so it cannot just be added. Nor can what a child inherited that was forked
 * between two members of a group. -EAGAIN: there are newcomers. */
static int look_for_newcomers(struct pfm_session *s)
{
	struct perf_state *st = s->state;
	struct tasks now;
	int rc;

	/* The caller's own thread gives birth to nobody meanwhile, nor does a program that waits for its start. */
	if (s->options.pid == 0 || (s->options.flags & (PFM_SESSION_INHERIT | PFM_SESSION_ENABLE_ON_EXEC)) != PFM_SESSION_INHERIT)
		return 0;
	if (pfmi_perf_groups_differ(s))
		return -EAGAIN;
	if (!st->tasks.whole)
		return 0;
	rc = pfmi_perf_tasks(&s->sys, s->options.pid, s->options.flags & PFM_SESSION_ONE_TASK, &now);
	/* A process that has ended has no newcomers. */
	if (!rc && now.whole && !pfmi_perf_tasks_within(&now, &st->tasks))
		rc = -EAGAIN;
	pfmi_perf_tasks_free(&now);
	return rc;
}

/* What keeps the counts of tasks from being whole. */
static void tell_missing_tasks(struct pfm_session *s, bool newcomers)
{
	const struct perf_state *st = s->state;
	int err = st->tasks.unseen;

	for (unsigned i = 0; i < s->n && (err || newcomers); i++) {
		struct counting *c = &s->counts[i];

		if (c->told.cause || !c->opened.n_open || st->parts[c->opened.part].pid < 0)
			continue;
		if (newcomers)
			pfmi_give_up(c, PFM_CAUSE_OTHER, EAGAIN, "stop the process (SIGSTOP) while it is opened",
			             "process %d gives birth to threads faster than they can be opened: some are missing",
			             s->options.pid);
		else
			pfmi_give_up(c, err == EACCES || err == EPERM || err == ENOENT ? PFM_CAUSE_PERMISSION : PFM_CAUSE_OTHER, err,
			             "run as the owner of the process or as root, with this namespace's /proc mounted (and not with hidepid)",
			             "which threads process %d has cannot be read from /proc/%d: no other is counted", s->options.pid,
			             s->options.pid);
	}
}

static int open_rounds(struct pfm_session *s)
{
	struct perf_state *st = s->state;
	int rc;

	for (unsigned round = 1;; round++) {
		rc = open_round(s);
		if (!rc && st->absent && s->assumed)
			rc = pfmi_ask_online(s);
		if (!rc)
			rc = look_for_newcomers(s);
		/* A thread that starts a program becomes the first of its process, whose number was opened before for another. */
		if (!rc && st->gone && round == 1)
			rc = -EAGAIN;
		if (rc != -EAGAIN || round == ROUNDS)
			break;
		close_round(s);
	}
	/* Read one by one, what is there can be read. */
	if (rc == -EAGAIN) {
		close_round(s);
		st->one_by_one = true;
		rc = open_round(s);
		rc = rc ? rc : -EAGAIN;
	}
	if (rc == 0 || rc == -EAGAIN)
		tell_missing_tasks(s, rc == -EAGAIN);
	return rc == -ENOMEM || rc == -E2BIG ? rc : 0;
}

/* Opens the folder of the control group that is wanted. */
static int open_cgroup(const struct pfm_session *s, struct perf_state *st, pfm_error_t *why)
{
	int fd;

	if (!s->options.cgroup)
		return PFMLIB_SUCCESS;
	if (!(s->options.flags & PFM_SESSION_SYSTEM_WIDE))
		return pfmi_refuse(why, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 },
		                   "a control group is counted system-wide");
	fd = s->sys.open(&s->sys, s->options.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		st->cgroup = fd;
		return PFMLIB_SUCCESS;
	}
	return pfmi_refuse_errno(why, PFMLIB_ERR_SYS, -fd, "the folder of the control group cannot be opened");
}

static int perf_program(struct pfm_session *s, pfm_error_t *why)
{
	struct perf_state *st = pfmi_zeros(sizeof(*st));
	long page = sysconf(_SC_PAGESIZE);
	int rc;

	if (!st)
		return pfmi_refuse(why, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	s->state = st;
	st->cgroup = -1;
	rc = open_cgroup(s, st, why);
	if (rc) {
		perf_close(s);
		return rc;
	}
	st->one_by_one = s->sampling != NULL; /* each with its own losses */
	if (s->sampling)
		pfmi_sampling_prepare(s);
	for (unsigned i = 0; i < s->n; i++)
		s->counts[i].opened.barred = s->counts[i].told.cause != PFM_CAUSE_NONE;
	st->page_size = page > 0 ? (size_t)page : 4096;
	rc = open_rounds(s);
	if (!rc)
		pfmi_perf_cpus_begin(s);
	if (!rc && s->sampling && !(s->options.flags & PFM_SESSION_DRY_RUN)) {
		rc = pfmi_sampling_open(s, why);
		if (rc)
			perf_close(s);
		return rc;
	}
	if (!rc)
		return PFMLIB_SUCCESS;
	perf_close(s);
	if (rc == -E2BIG)
		return pfmi_refuse(why, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, NULL, (struct slice){ 0 },
		                   "more than 262144 counters of the kernel would be opened: name CPUs, or fewer events or boxes");
	return pfmi_refuse(why, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
}

/* The kernel shows its PMUs because it has them. Where a filter of system calls keeps them away all the same, the first event says so. */
static bool perf_is_shown(const struct pfm_ctx *ctx)
{
	return !ctx->sys.root[0] && ctx->kernel && ctx->kernel->n;
}

static int perf_probe(const struct sys *sys, pfm_error_t *why)
{
	union attr a;
	int fd;

	memset(&a, 0, sizeof(a));
	a.attr.size = sizeof(a.attr);
	a.attr.type = PERF_TYPE_SOFTWARE;
	a.attr.config = PERF_COUNT_SW_DUMMY;
	a.attr.disabled = a.attr.exclude_kernel = a.attr.exclude_hv = 1;
	fd = pfmi_perf_open(sys, &a, 0, -1, -1);
	if (fd >= 0)
		sys->close(sys, fd);
	if (fd != -ENOSYS)
		return PFMLIB_SUCCESS; /* a refusal is an answer, too: each event will tell its own */
	return pfmi_refuse_errno(why, PFMLIB_ERR_NOTSUPP, ENOSYS, "the kernel has no perf_event_open");
}

const struct backend pfmi_backend_perf_event = {
	.name = "perf_event",
	.is_shown = perf_is_shown,
	.probe = perf_probe,
	.program = perf_program,
	.start = pfmi_perf_start,
	.stop = pfmi_perf_stop,
	.reset = pfmi_perf_reset,
	.read = pfmi_perf_read,
	.read_fast = pfmi_perf_read_fast,
	.close = perf_close,
};
