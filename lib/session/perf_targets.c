/* SPDX-License-Identifier: MIT */
/* Where counts must be opened: for which tasks, on which CPUs, on which instances of a PMU.
 *
 * The kernel gives an event of a task on one CPU the time the task spent on other CPUs as time it was enabled and did not run:
 * just as if it had waited for a counter. A witness, an event that never waits, opened for the same task and CPU, tells the two
 * apart. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "session/session.h"
#include "context/context.h"

/* ---- tasks ----------------------------------------------------------------------------------------------------------- */

static int add_pid(void *arg, const char *name)
{
	struct tasks *t = arg;
	char *end;
	long pid = strtol(name, &end, 10);

	if (*end || pid <= 0 || pid > INT32_MAX)
		return 0;
	if (t->n == t->room) {
		unsigned room = t->room * 2 + 8;
		int *pids = realloc(t->pids, room * sizeof(*pids));

		if (!pids)
			return -ENOMEM;
		t->pids = pids;
		t->room = room;
	}
	t->pids[t->n++] = (int)pid;
	return 0;
}

/* The number behind @key, "\nTgid:", in what /proc says of task @whose; -errno if it says none. */
static int number_of(const struct sys *sys, const char *whose, const char *key)
{
	char path[64], *text;
	const char *line;
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "/proc/%s/status", whose);
	rc = pfmi_sys_read(sys, path, &text, &len);
	if (rc)
		return rc;
	line = strstr(text, key);
	rc = line ? atoi(line + strlen(key)) : -EINVAL;
	free(text);
	return rc;
}

/* 1 if @pid is a process, 0 if it is one of the threads of another, -errno if that cannot be seen: not either where /proc is that of
 * another namespace, in which the number is somebody else's. */
static int leads_threads(const struct sys *sys, int pid)
{
	char name[16];
	int us = number_of(sys, "self", "\nPid:"), leader;

	if (us < 0)
		return us;
	snprintf(name, sizeof(name), "%d", pid);
	leader = us == getpid() ? number_of(sys, name, "\nTgid:") : -ENOENT;
	return leader < 0 ? leader : leader == pid;
}

static int one_task(struct tasks *t, int pid)
{
	char name[16];

	t->n = 0;
	if (pid) {
		snprintf(name, sizeof(name), "%d", pid);
		return add_pid(t, name);
	}
	t->pids = pfmi_zeros(sizeof(*t->pids));
	t->n = t->room = t->pids != NULL;
	return t->pids ? 0 : -ENOMEM;
}

int pfmi_perf_tasks(const struct sys *sys, int pid, bool alone, struct tasks *out)
{
	char path[64];
	int rc;

	*out = (struct tasks){ .whole = false };
	rc = pid > 0 && !alone ? leads_threads(sys, pid) : 0;
	if (rc == 1) {
		snprintf(path, sizeof(path), "/proc/%d/task", pid);
		rc = sys->list(sys, path, add_pid, out);
		out->whole = rc == 0 && out->n;
		if (out->whole)
			return 0;
		rc = rc ? rc : -ENOENT;
	}
	if (rc == -ENOMEM)
		return rc;
	out->unseen = -rc;
	return one_task(out, pid);
}

void pfmi_perf_tasks_free(struct tasks *t)
{
	free(t->pids);
	*t = (struct tasks){ .n = 0 };
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool pfmi_perf_tasks_within(const struct tasks *some, struct tasks *all)
{
	if (!all->n)
		return !some->n;
	qsort(all->pids, all->n, sizeof(*all->pids), by_number);
	for (unsigned i = 0; i < some->n; i++)
		if (!bsearch(&some->pids[i], all->pids, all->n, sizeof(*all->pids), by_number))
			return false;
	return true;
}

/* ---- parts ----------------------------------------------------------------------------------------------------------- */

struct walk {
	struct pfm_session *s;
	struct counting *c;
	unsigned absent; /* CPUs that were asked for but are not on line */
	bool blind;      /* which CPUs are on line is not known */
	int rc;
};

/* Where in the session a part is to be. */
struct place {
	int pid;
	unsigned task; /* number of the task */
	unsigned instance;
	bool own; /* the instance says where it is counted: nobody needs to ask for those CPUs */
};

/* Room for @n parts in all: 0 or -ENOMEM. */
static int make_room(struct perf_state *st, size_t n)
{
	size_t room = n > 2 * (size_t)st->room ? n : 2 * (size_t)st->room;
	struct part *parts;

	if (n <= st->room)
		return 0;
	parts = realloc(st->parts, room * sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	st->parts = parts;
	st->room = (unsigned)room;
	return 0;
}

static void put(struct walk *w, const struct place *at, int cpu, int witness)
{
	struct perf_state *st = w->s->state;

	w->rc = st->n_parts == SESSION_MAX ? -E2BIG : make_room(st, st->n_parts + 1);
	if (w->rc)
		return;
	st->parts[st->n_parts++] = (struct part){ .fd = -1,
		                                  .pid = at->pid,
		                                  .cpu = cpu,
		                                  .instance = at->instance,
		                                  .lead = -1,
		                                  .next = -1,
		                                  .last = -1,
		                                  .witness = witness,
		                                  .count = (unsigned)(w->c - w->s->counts) };
	w->c->opened.n_parts++;
}

/* A CPU that was asked for and that the count's PMU does not serve: the time the task spends there is missing. */
static void put_elsewhere(struct walk *w, unsigned witness)
{
	struct perf_state *st = w->s->state;
	struct elsewhere *e = realloc(st->elsewhere, (st->n_elsewhere + 1) * sizeof(*e));

	if (!e) {
		w->rc = -ENOMEM;
		return;
	}
	st->elsewhere = e;
	e[st->n_elsewhere++] = (struct elsewhere){ .count = (unsigned)(w->c - w->s->counts), .witness = witness };
}

/* CPUs of instance @k, in words; "" for all. */
static const char *served(const struct counting *c, unsigned k)
{
	return c->asked.device && k < c->asked.device->n_instances ? c->asked.device->instance_cpus[k] : "";
}

static bool in(const struct cpus *set, unsigned cpu)
{
	return set->n_words == 0 || pfmi_cpus_has(set, cpu);
}

/* One part for each CPU that was asked for, is on line and is served by the instance. */
static void put_cpus(struct walk *w, const struct place *at)
{
	const struct pfm_session *s = w->s;
	const struct perf_state *st = s->state;
	const struct cpus *base = s->wanted.n_words ? &s->wanted : &s->online;
	unsigned next = at->task * st->n_cpus;
	int only = w->c->asked.cpu; /* never a task's: its witnesses are numbered from the first CPU on */
	struct cpus serves;

	if (pfmi_cpus_read(served(w->c, at->instance), &serves) == -ENOMEM)
		w->rc = -ENOMEM;
	if (at->own && serves.n_words)
		base = &serves;
	w->blind |= base->n_words == 0;
	for (unsigned cpu = only < 0 ? 0 : (unsigned)only; !w->rc && pfmi_cpus_from(base, &cpu); cpu++) {
		unsigned witness = st->cgroup >= 0 ? cpu : next++;
		bool timed = at->pid >= 0 || (st->cgroup >= 0 && cpu < st->n_witnesses); /* a unit's own CPUs may be others */

		if (only >= 0 && cpu != (unsigned)only)
			break;
		if (!in(&s->wanted, cpu))
			continue;
		if (!in(&s->online, cpu)) {
			w->absent += in(&serves, cpu) && at->task == 0;
			continue;
		}
		if (in(&serves, cpu))
			put(w, at, (int)cpu, timed ? (int)witness : -1);
		else if (at->pid >= 0 && w->c->asked.one_core)
			put_elsewhere(w, witness);
		else
			continue;
		if (timed)
			st->witnesses[witness] = (struct witness){ .wanted = true, .pid = at->pid, .cpu = (int)cpu, .fd = -1 };
	}
	pfmi_cpus_free(&serves);
}

static void walk_parts(struct walk *w)
{
	const struct pfm_session *s = w->s;
	const struct perf_state *st = s->state;
	const struct kernel_pmu *device = w->c->asked.device;
	struct place at = { .pid = -1, .instance = w->c->asked.instance ? w->c->asked.instance - 1 : 0 };

	if (device && device->is_uncore) {
		at.own = true;
		for (at.instance = 0; !w->rc && at.instance < device->n_instances; at.instance++)
			if (pfmi_wants_instance(w->c, at.instance))
				put_cpus(w, &at);
		return;
	}
	if (s->options.flags & PFM_SESSION_SYSTEM_WIDE) {
		put_cpus(w, &at);
		return;
	}
	for (; !w->rc && at.task < st->tasks.n; at.task++) {
		at.pid = st->tasks.pids[at.task];
		if (s->wanted.n_words)
			put_cpus(w, &at);
		else
			put(w, &at, -1, -1);
	}
}

static void no_cpu(struct counting *c, const struct walk *w)
{
	const char *cpus = c->asked.device ? c->asked.device->cpus : "";
	char remedy[sizeof(c->told.remedy)];

	snprintf(remedy, sizeof(remedy), "choose CPUs of the list in /sys/devices/system/cpu/online%s%s%s",
	         *cpus ? " and in the PMU's own (" : "", cpus, *cpus ? ")" : "");
	if (w->blind)
		pfmi_give_up(c, PFM_CAUSE_NO_CPU, ENODEV, "name the CPUs (-C), or make that file readable",
		             "which CPUs are on line cannot be read from /sys/devices/system/cpu/online");
	else if (w->absent)
		pfmi_give_up(c, PFM_CAUSE_NO_CPU, ENODEV, remedy, "%u of the CPUs asked for %s not on line", w->absent,
		             w->absent == 1 ? "is" : "are");
	else
		pfmi_give_up(c, PFM_CAUSE_NO_CPU, ENODEV, remedy, "%s counts only from CPUs %s, and none of them was asked for",
		             c->asked.device ? c->asked.device->name : "the PMU", *cpus ? cpus : "(none)");
}

/* A witness for every task on every CPU that was asked for, in that order; of a control group one for each CPU, by its number. */
static int make_witnesses(struct pfm_session *s)
{
	const struct cpus *base = s->wanted.n_words ? &s->wanted : &s->online;
	struct perf_state *st = s->state;
	bool wide = s->options.flags & PFM_SESSION_SYSTEM_WIDE;
	unsigned n;

	if (wide ? st->cgroup < 0 : s->wanted.n_words == 0)
		return 0;
	st->n_cpus = wide ? (unsigned)base->n_words * 64 : (unsigned)pfmi_cpus_count(base);
	if ((uint64_t)st->tasks.n * st->n_cpus > SESSION_MAX)
		return -E2BIG;
	n = (wide ? 1 : st->tasks.n) * st->n_cpus;
	st->witnesses = calloc(n + 1, sizeof(*st->witnesses));
	if (!st->witnesses)
		return -ENOMEM;
	st->n_witnesses = n;
	return 0;
}

/* True if count @c is counted wherever the one before it is: for all that is asked here they are alike. */
static bool is_beside_last(const struct pfm_session *s, const struct counting *c)
{
	const struct perf_state *st = s->state;
	const struct counting *last = c - 1;

	return c > s->counts && !st->n_witnesses && !last->told.cause && last->asked.device == c->asked.device &&
	       last->asked.instance == c->asked.instance && last->asked.cpu == c->asked.cpu;
}

/* The parts of the count before it once more. */
static void repeat_parts(struct walk *w)
{
	struct perf_state *st = w->s->state;
	const struct opened *last = &w->c[-1].opened;

	w->rc = st->n_parts + last->n_parts > SESSION_MAX ? -E2BIG : make_room(st, st->n_parts + last->n_parts);
	for (unsigned k = 0; k < last->n_parts && !w->rc; k++) {
		struct part *p = &st->parts[st->n_parts++];

		*p = st->parts[last->part + k];
		p->count = (unsigned)(w->c - w->s->counts);
	}
	w->c->opened.n_parts = w->rc ? 0 : last->n_parts;
}

/* As many parts as there mostly are. */
static size_t usual_parts(const struct pfm_session *s)
{
	const struct perf_state *st = s->state;
	bool wide = s->options.flags & PFM_SESSION_SYSTEM_WIDE;
	size_t cpus = pfmi_cpus_count(s->wanted.n_words ? &s->wanted : &s->online), each = wide ? 1 : st->tasks.n, n;

	if (wide ? !(s->options.flags & PFM_SESSION_PER_CPU) : s->wanted.n_words != 0)
		each *= cpus;
	n = s->n * each;
	return n < SESSION_MAX ? n : SESSION_MAX;
}

int pfmi_perf_plan(struct pfm_session *s)
{
	struct perf_state *st = s->state;
	struct walk w = { .s = s, .rc = make_witnesses(s) };

	if (!w.rc)
		w.rc = make_room(st, usual_parts(s));
	for (unsigned i = 0; i < s->n && !w.rc; i++) {
		struct counting *c = &s->counts[i];

		c->opened.part = st->n_parts;
		c->opened.n_parts = 0;
		if (c->told.cause)
			continue;
		w.c = c;
		w.absent = 0;
		w.blind = false;
		if (is_beside_last(s, c))
			repeat_parts(&w);
		else
			walk_parts(&w);
		if (!w.rc && (w.absent || !c->opened.n_parts))
			no_cpu(c, &w);
	}
	return w.rc;
}
