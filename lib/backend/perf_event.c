/* SPDX-License-Identifier: MIT */
/* The conversation with Linux's perf_event_open(2). A count becomes one kernel event per task, CPU and instance of its PMU;
 * groups become kernel groups; values are read a group at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../ctx.h"
#include "../kernel.h"
#include "perf.h"

#define GROUP_HEAD 3 /* number of members, enabled, running */

/* ---- asking ------------------------------------------------------------------------------------------------------ */

void pfmi_perf_attr(const struct pfm_session *s, unsigned i, unsigned k, bool leader, union attr *out)
{
	const struct counting *c = &s->counts[i];
	const struct perf_state *st = s->state;
	const struct part *p = &st->parts[c->part + k];
	struct perf_event_attr *a = &out->attr;
	bool grouped = (i && s->counts[i - 1].group == c->group) || (i + 1 < s->n && s->counts[i + 1].group == c->group);

	memset(out, 0, sizeof(*out));
	a->size = sizeof(*a);
	a->type = c->device && p->instance < c->device->n_instances && c->attr.type == (uint32_t)c->device->types[0]
	                  ? (uint32_t)c->device->types[p->instance]
	                  : c->attr.type;
	a->config = c->attr.config;
	a->config1 = c->attr.config1 | (p->pid == 0 ? c->user_read : 0);
	a->config2 = c->attr.config2;
	if (a->type == PERF_TYPE_BREAKPOINT) {
		a->bp_type = (uint32_t)c->attr.config; /* pfm_attr_t has no other place for it */
		a->config = 0;
	}
	if (c->attr.config3) {
		out->words[16] = c->attr.config3;
		a->size = 17 * sizeof(uint64_t);
	}
	a->exclude_user = c->attr.exclude_user != 0;
	a->exclude_kernel = c->attr.exclude_kernel != 0;
	a->exclude_hv = c->attr.exclude_hv != 0;
	a->exclude_idle = c->attr.exclude_idle != 0;
	a->exclude_host = c->attr.exclude_host != 0;
	a->exclude_guest = c->attr.exclude_guest != 0;
	a->precise_ip = c->attr.precise & 3u;
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (grouped && !c->alone && !st->one_by_one)
		a->read_format |= PERF_FORMAT_GROUP;
	a->inherit = (s->options.flags & PFM_SESSION_INHERIT) && p->pid >= 0;
	/* Members follow their leader. */
	a->disabled = leader;
	a->pinned = leader && (c->pinned || c->attr.pinned);
	a->enable_on_exec = leader && p->pid >= 0 && (s->options.flags & PFM_SESSION_ENABLE_ON_EXEC);
}

int pfmi_perf_open(const struct sys *sys, union attr *a, int pid, int cpu, int group)
{
	int fd;

	do
		fd = sys->perf_event_open(sys, &a->attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
	while (fd == -EINTR);
	return fd;
}

/* ---- where a count must be opened --------------------------------------------------------------------------------- */

static int add_pid(void *arg, const char *name)
{
	struct perf_state *st = arg;
	int *pids;
	char *end;
	long pid = strtol(name, &end, 10);

	if (*end || pid <= 0 || pid > INT32_MAX)
		return 0;
	pids = realloc(st->pids, (st->n_pids + 1) * sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	st->pids = pids;
	pids[st->n_pids++] = (int)pid;
	return 0;
}

/* True if @pid is a process, not one of its threads. */
static bool leads_threads(const struct sys *sys, int pid)
{
	char path[64], buf[4096];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (pfmi_sys_slurp(sys, path, buf, sizeof(buf)) <= 0)
		return false;
	line = strstr(buf, "\nTgid:");
	return line && atoi(line + 6) == pid;
}

/* The tasks of the session: all threads of a process, one thread, or the caller's own. */
static int list_tasks(const struct pfm_session *s, struct perf_state *st)
{
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/task", s->options.pid);
	if (s->options.pid > 0 && leads_threads(&s->sys, s->options.pid)) {
		rc = s->sys.list(&s->sys, path, add_pid, st);
		if (rc == -ENOMEM)
			return rc;
	}
	if (st->n_pids)
		return 0;
	st->pids = malloc(sizeof(*st->pids));
	if (!st->pids)
		return -ENOMEM;
	st->pids[st->n_pids++] = s->options.pid;
	return 0;
}

/* CPUs of instance @k: those it serves, of those the caller wants, of those this count is for. */
static const char *served(const struct counting *c, unsigned k)
{
	return c->device && k < c->device->n_instances ? c->device->instance_cpus[k] : "";
}

static bool in_list(const char *list, unsigned cpu)
{
	return !list || !*list || pfmi_cpus_has(list, cpu);
}

struct walk {
	const struct pfm_session *s;
	struct counting *c;
	struct part *out; /* NULL: count only */
	unsigned n;
	unsigned absent; /* CPUs that were asked for but are not on line */
};

static void put(struct walk *w, int pid, int cpu, unsigned instance)
{
	if (w->out)
		w->out[w->n] = (struct part){ .fd = -1,
			                      .pid = pid,
			                      .cpu = cpu,
			                      .instance = instance,
			                      .lead = -1,
			                      .next = -1,
			                      .last = -1,
			                      .count = (unsigned)(w->c - w->s->counts) };
	w->n++;
}

/* One part per CPU of @list that everything else allows. */
static void put_cpus(struct walk *w, const char *list, int pid, unsigned instance)
{
	unsigned first, last;

	while (pfmi_cpus_next(&list, &first, &last))
		for (unsigned cpu = first; cpu <= last; cpu++) {
			if (!in_list(served(w->c, instance), cpu) || !in_list(w->c->cpus, cpu) || !in_list(w->s->options.cpus, cpu))
				continue;
			if (in_list(w->s->online, cpu))
				put(w, pid, (int)cpu, instance);
			else
				w->absent++;
		}
}

static void walk_parts(struct walk *w)
{
	const struct pfm_session *s = w->s;
	const struct perf_state *st = s->state;
	const char *list = s->options.cpus && *s->options.cpus ? s->options.cpus : *s->online ? s->online
	                                                                                      : "0";
	unsigned one = w->c->instance ? w->c->instance - 1 : 0;

	w->n = w->absent = 0;
	if (w->c->device && w->c->device->is_uncore) {
		for (unsigned k = 0; k < w->c->device->n_instances; k++)
			if (pfmi_wants_instance(w->c, k))
				put_cpus(w, *served(w->c, k) ? served(w->c, k) : list, -1, k);
		return;
	}
	if (s->options.flags & PFM_SESSION_SYSTEM_WIDE) {
		put_cpus(w, list, -1, one);
		return;
	}
	for (unsigned i = 0; i < st->n_pids; i++)
		if (s->options.cpus && *s->options.cpus)
			put_cpus(w, s->options.cpus, st->pids[i], one);
		else
			put(w, st->pids[i], -1, one);
}

static void no_cpu(struct counting *c, unsigned absent)
{
	c->cause = PFM_CAUSE_NO_CPU;
	c->sys_errno = ENODEV;
	if (absent)
		snprintf(c->why, sizeof(c->why), "%u of the CPUs asked for %s not on line", absent, absent == 1 ? "is" : "are");
	else
		snprintf(c->why, sizeof(c->why), "%s counts only from CPUs %s, and none of them was asked for",
		         c->device ? c->device->name : "the PMU", c->device && *c->device->cpus ? c->device->cpus : "(none)");
	snprintf(c->remedy, sizeof(c->remedy), "choose CPUs of the list in /sys/devices/system/cpu/online%s%s%s",
	         c->device && *c->device->cpus ? " and in the PMU's own (" : "", c->device ? c->device->cpus : "",
	         c->device && *c->device->cpus ? ")" : "");
}

/* Lays out the parts of all counts. */
static int plan_parts(struct pfm_session *s, struct perf_state *st)
{
	unsigned total = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0, at = 0; i < s->n; i++, at += s->counts[i - 1].n_parts) {
			struct counting *c = &s->counts[i];
			struct walk w = { .s = s, .c = c, .out = pass ? st->parts + at : NULL };

			if (c->cause && !c->n_parts) {
				c->part = at;
				continue;
			}
			walk_parts(&w);
			c->part = at;
			c->n_parts = w.n;
			if (!pass)
				total += w.n;
			else if (w.absent || !w.n)
				no_cpu(c, w.absent);
		}
		if (!pass) {
			st->n_parts = total;
			st->parts = calloc(total + 1, sizeof(*st->parts));
			if (!st->parts)
				return -ENOMEM;
		}
	}
	return 0;
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

	for (unsigned k = c->n_parts; k-- > 0;)
		if (st->parts[c->part + k].fd >= 0) {
			leave_group(st, &st->parts[c->part + k]);
			close_part(s, &st->parts[c->part + k]);
		}
	c->n_open = 0;
}

/* First member of count @i's group that is open, or @i itself. */
static unsigned leader_of(const struct pfm_session *s, unsigned i)
{
	unsigned first = i;

	if (s->counts[i].alone)
		return i;
	while (first && s->counts[first - 1].group == s->counts[i].group)
		first--;
	while (first < i && !s->counts[first].n_open)
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
	const struct part *p = &st->parts[s->counts[i].part + k];

	if (lead == i)
		return LEADS;
	for (unsigned m = 0; m < c->n_parts; m++) {
		unsigned at = c->part + (k + m) % c->n_parts;

		if (same_place(&st->parts[at], p))
			return st->parts[at].fd >= 0 ? (int)at : LEADER_MISSING;
	}
	return NO_LEADER;
}

/* Events the kernel counts itself are always counted: beside a group they lose nothing. */
static bool is_software(const struct counting *c)
{
	return c->attr.type == PERF_TYPE_SOFTWARE || c->attr.type == PERF_TYPE_TRACEPOINT;
}

/* The thread has ended, the CPU has been switched off: that happens while a session is opened. */
static bool is_gone(int err)
{
	return err == -ESRCH || err == -ENODEV;
}

static bool may_leave_kernel_out(const struct counting *c)
{
	/* What the kernel raises itself is never seen at user level: leaving the kernel out would give zeros that look like counts. */
	static const uint64_t from_kernel = 1u << PERF_COUNT_SW_CONTEXT_SWITCHES | 1u << PERF_COUNT_SW_CPU_MIGRATIONS |
	                                    1u << PERF_COUNT_SW_BPF_OUTPUT | 1u << PERF_COUNT_SW_CGROUP_SWITCHES;

	if (!c->levels_free || c->attr.exclude_kernel || c->attr.type == PERF_TYPE_TRACEPOINT)
		return false;
	return c->attr.type != PERF_TYPE_SOFTWARE || c->attr.config > 31 || !(from_kernel >> c->attr.config & 1);
}

static int try_part(struct pfm_session *s, unsigned i, unsigned k, int group)
{
	struct perf_state *st = s->state;
	struct part *p = &st->parts[s->counts[i].part + k];
	union attr a;
	int fd;

	pfmi_perf_attr(s, i, k, group == -1, &a);
	fd = pfmi_perf_open(&s->sys, &a, p->pid, p->cpu, group);
	/* Older kernels refuse to read inherited groups at once. */
	if (fd == -EINVAL && group == -1 && a.attr.inherit && a.attr.read_format & PERF_FORMAT_GROUP) {
		a.attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
		fd = pfmi_perf_open(&s->sys, &a, p->pid, p->cpu, group);
		st->one_by_one |= fd >= 0;
	}
	/* A wish, not a condition. */
	if ((fd == -EINVAL || fd == -EOPNOTSUPP) && a.attr.config1 != s->counts[i].attr.config1 && s->counts[i].user_read) {
		a.attr.config1 = s->counts[i].attr.config1;
		fd = pfmi_perf_open(&s->sys, &a, p->pid, p->cpu, group);
		if (fd >= 0)
			s->counts[i].user_read = 0;
	}
	p->whole = (a.attr.read_format & PERF_FORMAT_GROUP) != 0;
	return fd;
}

/* The same without the kernel, for users who may not look at it; the name shows it (it has room for that). */
static int try_without_kernel(struct pfm_session *s, unsigned i, unsigned k, int group, int err)
{
	struct counting *c = &s->counts[i];
	size_t len = strlen(c->name);
	const char *tail = len && c->name[len - 1] == '/' ? "u" : ":u";
	int fd;

	c->attr.exclude_kernel = c->attr.exclude_hv = 1;
	fd = try_part(s, i, k, group);
	if (fd >= 0 || is_gone(fd)) {
		memcpy(c->name + len, tail, strlen(tail) + 1);
		return fd;
	}
	c->attr.exclude_kernel = c->attr.exclude_hv = 0;
	/* A PMU that cannot leave the kernel out says EINVAL: permission is what is missing. */
	return fd == -EINVAL ? err : fd;
}

static void map_page(struct pfm_session *s, struct part *p)
{
	const struct perf_state *st = s->state;
	void *page;

	if (s->options.flags & PFM_SESSION_USER_READ && p->pid == 0 && p->cpu == -1 &&
	    s->sys.mmap(&s->sys, p->fd, st->page_size, 0, &page) == 0)
		p->page = page;
}

static void join(struct perf_state *st, struct part *p, int lead)
{
	struct part *l;
	int me = (int)(p - st->parts);

	p->lead = lead;
	p->next = -1;
	if (lead < 0)
		return;
	l = &st->parts[lead];
	st->parts[l->last < 0 ? lead : l->last].next = me;
	l->last = me;
	l->members++;
}

/* Opens part @k of count @i. Returns 0 or -errno. */
static int open_part(struct pfm_session *s, unsigned i, unsigned k, int lead)
{
	struct perf_state *st = s->state;
	struct counting *c = &s->counts[i];
	struct part *p = &st->parts[c->part + k];
	int group = lead < 0 ? -1 : st->parts[lead].fd, fd = try_part(s, i, k, group);

	if ((fd == -EACCES || fd == -EPERM) && c->n_open == 0 && may_leave_kernel_out(c))
		fd = try_without_kernel(s, i, k, group, fd);
	if (fd < 0)
		return fd;
	p->fd = fd;
	c->n_open++;
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

	for (unsigned k = 0; k < c->n_parts; k++) {
		int lead = find_leader(s, i, k), err;

		if (lead == LEADER_MISSING)
			continue;
		if (lead == NO_LEADER && (is_software(c) || is_software(&s->counts[leader_of(s, i)])))
			lead = LEADS;
		err = lead == NO_LEADER ? -EINVAL : open_part(s, i, k, lead);
		if (err == 0)
			continue;
		if (is_gone(err) && c->n_parts > 1) {
			gone = k + 1;
			if (err == -ENODEV)
				pfmi_perf_diagnose(s, i, k, -1, ENODEV);
			continue;
		}
		close_count(s, c);
		if (lead == NO_LEADER)
			pfmi_perf_foreign(s, i);
		else
			pfmi_perf_diagnose(s, i, k, lead < 0 ? -1 : st->parts[lead].fd, -err);
		return;
	}
	if (!c->n_open && gone && !c->cause)
		pfmi_perf_diagnose(s, i, gone - 1, -1, ESRCH);
}

/* A group that does not fit and may be broken up: each member on its own. */
static void break_up(struct pfm_session *s, unsigned first, unsigned end)
{
	for (unsigned i = end; i-- > first;)
		close_count(s, &s->counts[i]);
	for (unsigned i = first; i < end; i++) {
		struct counting *c = &s->counts[i];

		if (c->cause == PFM_CAUSE_GROUP) {
			c->cause = PFM_CAUSE_NONE;
			c->sys_errno = 0;
			c->why[0] = c->remedy[0] = '\0';
		}
		c->alone = true;
		if (i > first)
			c->group = s->n_groups++;
		if (c->cause == PFM_CAUSE_NONE && c->n_parts)
			open_count(s, i);
	}
}

static unsigned group_end(const struct pfm_session *s, unsigned first)
{
	unsigned end = first + 1;

	while (end < s->n && s->counts[end].group == s->counts[first].group)
		end++;
	return end;
}

static void open_group(struct pfm_session *s, unsigned first, unsigned end)
{
	bool broken = false;

	for (unsigned i = first; i < end && !broken; i++) {
		if (s->counts[i].n_parts)
			open_count(s, i);
		broken = s->counts[i].weak && s->counts[i].cause == PFM_CAUSE_GROUP;
	}
	if (broken)
		break_up(s, first, end);
}

static void perf_close(struct pfm_session *s)
{
	struct perf_state *st = s->state;

	if (!st)
		return;
	/* Members before leaders: a closed leader sets its members free, which costs the kernel time. */
	for (unsigned i = st->parts ? st->n_parts : 0; i-- > 0;)
		close_part(s, &st->parts[i]);
	free(st->parts);
	free(st->pids);
	free(st->buf);
	free(st);
	s->state = NULL;
}

static int perf_program(struct pfm_session *s, pfm_error_t *why)
{
	struct perf_state *st = calloc(1, sizeof(*st));
	long page = sysconf(_SC_PAGESIZE);
	int rc;

	if (!st)
		return pfmi_refuse(why, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	s->state = st;
	st->page_size = page > 0 ? (size_t)page : 4096;
	st->buf = malloc((GROUP_HEAD + 1 + s->n) * sizeof(*st->buf));
	rc = st->buf ? list_tasks(s, st) : -ENOMEM;
	if (!rc)
		rc = plan_parts(s, st);
	if (rc) {
		perf_close(s);
		return pfmi_refuse(why, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	}
	for (unsigned i = 0, end; i < s->n; i = end) {
		end = group_end(s, i);
		open_group(s, i, end);
	}
	return PFMLIB_SUCCESS;
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
	pfmi_refuse(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, "the kernel has no perf_event_open");
	if (why)
		why->sys_errno = ENOSYS;
	return PFMLIB_ERR_NOTSUPP;
}

/* ---- counting ------------------------------------------------------------------------------------------------------ */

static int failed(struct pfm_session *s, int err)
{
	s->sys_errno = -err;
	return err == -EACCES || err == -EPERM ? PFMLIB_ERR_PERM : err == -ENOMEM ? PFMLIB_ERR_NOMEM
	                                                                          : PFMLIB_ERR_SYS;
}

static int command(struct pfm_session *s, int fd, unsigned long request)
{
	int rc;

	do
		rc = s->sys.ioctl(&s->sys, fd, request, NULL);
	while (rc == -EINTR);
	return rc;
}

/* Sends @request to every leader of the session. The first error is returned after all have been asked. */
static int command_all(struct pfm_session *s, unsigned long request, bool starting)
{
	const struct perf_state *st = s->state;
	int first = 0;

	for (unsigned i = 0; i < st->n_parts; i++) {
		const struct part *p = &st->parts[i];
		int rc;

		if (p->fd < 0 || p->lead >= 0)
			continue;
		/* Those begin with the program. */
		if (starting && s->options.flags & PFM_SESSION_ENABLE_ON_EXEC && p->pid >= 0)
			continue;
		rc = command(s, p->fd, request);
		if (rc < 0 && !first)
			first = rc;
	}
	return first;
}

static int perf_start(struct pfm_session *s)
{
	int rc = command_all(s, PERF_EVENT_IOC_ENABLE, true);

	if (!rc)
		return PFMLIB_SUCCESS;
	command_all(s, PERF_EVENT_IOC_DISABLE, false);
	return failed(s, rc);
}

static int perf_stop(struct pfm_session *s)
{
	int rc = command_all(s, PERF_EVENT_IOC_DISABLE, false);

	return rc ? failed(s, rc) : PFMLIB_SUCCESS;
}

/* What a part has counted: value, enabled, running. NULL: a pinned event that lost its counter. */
typedef void (*take_fn)(struct pfm_session *s, struct part *p, const uint64_t v[3], void *arg);

static long read_fd(struct pfm_session *s, int fd, size_t words)
{
	const struct perf_state *st = s->state;
	long n;

	do
		n = s->sys.read(&s->sys, fd, st->buf, words * sizeof(*st->buf));
	while (n == -EINTR);
	/* End of file is how the kernel says that a pinned event has lost its counter. */
	return n <= 0 || n == (long)(words * sizeof(*st->buf)) ? n : -EIO;
}

static int read_single(struct pfm_session *s, struct part *p, take_fn take, void *arg)
{
	const struct perf_state *st = s->state;
	long n = read_fd(s, p->fd, 3);

	if (n < 0)
		return (int)n;
	take(s, p, n ? st->buf : NULL, arg);
	return 0;
}

static int read_group(struct pfm_session *s, struct part *lead, take_fn take, void *arg)
{
	struct perf_state *st = s->state;
	long n = read_fd(s, lead->fd, GROUP_HEAD + 1 + lead->members);
	unsigned at = GROUP_HEAD;

	if (n < 0)
		return (int)n;
	if (n && st->buf[0] != 1 + lead->members)
		return -EIO;
	for (struct part *p = lead; p; p = p->next >= 0 ? &st->parts[p->next] : NULL, at++) {
		uint64_t v[3] = { 0 };

		if (n) {
			v[0] = st->buf[at];
			v[1] = st->buf[1];
			v[2] = st->buf[2];
		}
		take(s, p, n ? v : NULL, arg);
	}
	return 0;
}

static int read_all(struct pfm_session *s, take_fn take, void *arg)
{
	const struct perf_state *st = s->state;

	for (unsigned i = 0; i < st->n_parts; i++) {
		struct part *p = &st->parts[i];
		int rc = 0;

		if (p->fd < 0)
			continue;
		if (!p->whole)
			rc = read_single(s, p, take, arg);
		else if (p->lead < 0)
			rc = read_group(s, p, take, arg);
		if (rc)
			return rc;
	}
	return 0;
}

static void take_base(struct pfm_session *s, struct part *p, const uint64_t v[3], void *arg)
{
	(void)s;
	(void)arg;
	if (v)
		memcpy(p->base, v, sizeof(p->base));
}

/* The kernel's own reset leaves the times and what ended children have counted as they are: so zero is where we say it is. */
static int perf_reset(struct pfm_session *s)
{
	int rc = read_all(s, take_base, NULL);

	return rc ? failed(s, rc) : PFMLIB_SUCCESS;
}

/* Adds what one part has counted to its count. */
static void add_part(const struct counting *c, const struct part *p, const uint64_t v[3], pfm_count_t *out)
{
	uint64_t raw, enabled, running;

	if (!v) {
		out->cause = PFM_CAUSE_BUSY;
		out->quality = PFM_QUALITY_PARTIAL;
		return;
	}
	raw = c->is_level ? v[0] : v[0] - p->base[0];
	enabled = v[1] - p->base[1];
	running = v[2] - p->base[2];
	out->raw += raw;
	out->enabled += enabled;
	out->running += running;
	if (running == 0 && enabled) {
		out->quality = PFM_QUALITY_PARTIAL;
	} else if (running < enabled && !c->is_level) {
		uint64_t more = pfmi_extrapolate(raw, enabled, running);

		out->value = out->value > UINT64_MAX - more ? UINT64_MAX : out->value + more;
		if (out->quality == PFM_QUALITY_EXACT)
			out->quality = PFM_QUALITY_SCALED;
	} else {
		out->value += raw;
	}
}

static void take_count(struct pfm_session *s, struct part *p, const uint64_t v[3], void *arg)
{
	pfm_count_t *counts = arg;

	add_part(&s->counts[p->count], p, v, &counts[p->count]);
}

/* @n is the number of counts of the session. */
static int perf_read(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	int rc;

	for (unsigned i = 0; i < n; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]), .quality = PFM_QUALITY_EXACT };
	rc = read_all(s, take_count, counts);
	return rc ? failed(s, rc) : PFMLIB_SUCCESS;
}

static int perf_read_fast(struct pfm_session *s, unsigned i, pfm_count_t *count)
{
	const struct perf_state *st = s->state;
	const struct counting *c = &s->counts[i];
	const struct part *p = &st->parts[c->part];
	uint64_t v[3];

	if (c->n_parts != 1 || !p->page || !s->running || !pfmi_perf_page_read(p->page, v))
		return PFMLIB_ERR_NOTSUPP;
	*count = (pfm_count_t){ .size = sizeof(*count), .quality = PFM_QUALITY_EXACT };
	add_part(c, p, v, count);
	return PFMLIB_SUCCESS;
}

const struct backend pfmi_backend_perf_event = {
	.name = "perf_event",
	.probe = perf_probe,
	.program = perf_program,
	.start = perf_start,
	.stop = perf_stop,
	.reset = perf_reset,
	.read = perf_read,
	.read_fast = perf_read_fast,
	.close = perf_close,
};
