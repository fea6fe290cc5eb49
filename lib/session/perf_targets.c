/* SPDX-License-Identifier: MIT */
/* The places where counts must be opened: tasks, CPUs, instances of a PMU. For an event of a task
 * on one CPU, the kernel reports the time that the task spent on other CPUs as enabled and not
 * running, as if it had waited for a counter. To distinguish the two, a time reference, which is an
 * event that never waits, is opened for the same task and CPU. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "session/perf_event_internal.h"
#include "context/context.h"
#include "base/grow.h"

/* ---- tasks --------------------------------------------------------------------------------- */

static int add_pid_of_name(void *arg, const char *name)
{
	struct task_list *t = arg;
	char *end;
	long pid = strtol(name, &end, 10);
	bool failed = false;

	if (*end || pid <= 0 || pid > INT32_MAX)
		return 0;
	t->pids = base_grow_list(t->pids, t->n_pids, &t->capacity, sizeof(*t->pids), &failed);
	if (failed)
		return -ENOMEM;
	t->pids[t->n_pids++] = (int)pid;
	return 0;
}

/* Reads the number after @key ("\nTgid:") in the /proc status of task @whose; -errno if it has
 * none. */
static int read_status_number(const struct sys *sys, const char *whose, const char *key)
{
	char path[64], *text;
	const char *line;
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "/proc/%s/status", whose);
	rc = pfmi_machine_read_file(sys, path, &text, &len);
	if (rc)
		return rc;
	line = strstr(text, key);
	rc = line ? atoi(line + strlen(key)) : -EINVAL;
	free(text);
	return rc;
}

/* Returns 1 if @pid is a process, 0 if it is a thread of a process, -errno if unknown, as when
 * /proc belongs to another namespace, where the number is another task's. */
static int check_thread_group_leader(const struct sys *sys, int pid)
{
	char name[16];
	int us = read_status_number(sys, "self", "\nPid:"), leader;

	if (us < 0)
		return us;
	snprintf(name, sizeof(name), "%d", pid);
	leader = us == getpid() ? read_status_number(sys, name, "\nTgid:") : -ENOENT;
	return leader < 0 ? leader : leader == pid;
}

static int set_single_task(struct task_list *t, int pid)
{
	char name[16];

	t->n_pids = 0;
	if (pid) {
		snprintf(name, sizeof(name), "%d", pid);
		return add_pid_of_name(t, name);
	}
	t->pids = calloc(1, sizeof(*t->pids));
	t->capacity = t->n_pids = t->pids != NULL;
	return t->pids ? 0 : -ENOMEM;
}

int pfmi_perf_list_tasks(const struct sys *sys, int pid, bool alone, struct task_list *out)
{
	char path[64];
	int rc;

	*out = (struct task_list){ .has_all_threads = false };
	rc = pid > 0 && !alone ? check_thread_group_leader(sys, pid) : 0;
	if (rc == 1) {
		snprintf(path, sizeof(path), "/proc/%d/task", pid);
		rc = sys->list_folder(sys, path, add_pid_of_name, out);
		out->has_all_threads = rc == 0 && out->n_pids;
		if (out->has_all_threads)
			return 0;
		rc = rc ? rc : -ENOENT;
	}
	if (rc == -ENOMEM)
		return rc;
	out->list_errno = -rc;
	return set_single_task(out, pid);
}

void pfmi_perf_free_tasks(struct task_list *t)
{
	free(t->pids);
	*t = (struct task_list){ .n_pids = 0 };
}

static int compare_pids(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool pfmi_perf_is_task_subset(const struct task_list *some, struct task_list *all)
{
	if (!all->n_pids)
		return !some->n_pids;
	qsort(all->pids, all->n_pids, sizeof(*all->pids), compare_pids);
	for (unsigned i = 0; i < some->n_pids; i++)
		if (!bsearch(&some->pids[i], all->pids, all->n_pids, sizeof(*all->pids),
		             compare_pids))
			return false;
	return true;
}

/* ---- kernel events --------------------------------------------------------------------------- */

struct event_planner {
	struct pfm_session *session;
	struct session_count *count;
	unsigned n_offline_cpus; /* requested CPUs that are off line */
	bool is_online_unknown;  /* the CPUs on line are unknown */
	int error_code;
};

/* The target of a kernel event. */
struct event_target {
	int pid;
	unsigned task_index; /* index of the task */
	unsigned instance;
	/* the instance is counted on its own CPUs, which need not be requested */
	bool uses_instance_cpus;
};

/* Allocates memory for @n kernel events. Returns 0 or -ENOMEM. */
static int reserve_events(struct perf_state *st, size_t n)
{
	size_t size = n > 2 * (size_t)st->events_capacity ? n : 2 * (size_t)st->events_capacity;
	struct kernel_event *events;

	if (n <= st->events_capacity)
		return 0;
	events = realloc(st->events, size * sizeof(*events));
	if (!events)
		return -ENOMEM;
	st->events = events;
	st->events_capacity = (unsigned)size;
	return 0;
}

static void add_kernel_event(struct event_planner *w, const struct event_target *at, int cpu,
                             int reference)
{
	struct perf_state *st = w->session->live.backend_state;

	w->error_code =
		st->n_events == MAX_SESSION_COUNTS ? -E2BIG : reserve_events(st, st->n_events + 1);
	if (w->error_code)
		return;
	st->events[st->n_events++] =
		(struct kernel_event){ .fd = -1,
		                       .pid = at->pid,
		                       .cpu = cpu,
		                       .instance = at->instance,
		                       .leader = -1,
		                       .next_member = -1,
		                       .last_member = -1,
		                       .time_reference = reference,
		                       .count_index = (unsigned)(w->count - w->session->counts) };
	w->count->kernel_state.n_events++;
}

/* Notes a requested CPU that the count's PMU does not serve: the time that the task spends there is
 * missing. */
static void add_unserved_time(struct event_planner *w, unsigned reference)
{
	struct perf_state *st = w->session->live.backend_state;
	struct unserved_time *e =
		realloc(st->unserved_times, (st->n_unserved_times + 1) * sizeof(*e));

	if (!e) {
		w->error_code = -ENOMEM;
		return;
	}
	st->unserved_times = e;
	e[st->n_unserved_times++] =
		(struct unserved_time){ .count_index = (unsigned)(w->count - w->session->counts),
		                        .time_reference = reference };
}

/* List of the CPUs of instance @k; "": all. */
static const char *get_served_cpu_list(const struct session_count *c, unsigned k)
{
	return c->config.kernel_pmu && k < c->config.kernel_pmu->n_instances
	               ? c->config.kernel_pmu->instance_cpu_lists[k]
	               : "";
}

static bool is_cpu_in_set(const struct cpu_mask *set, unsigned cpu)
{
	return set->n_words == 0 || pfmi_machine_has_cpu(set, cpu);
}

/* Adds a kernel event for each requested CPU that is on line and that the instance serves. */
static void add_cpu_events(struct event_planner *w, const struct event_target *at)
{
	const struct pfm_session *s = w->session;
	const struct perf_state *st = s->live.backend_state;
	const struct cpu_mask *base =
		s->cpus.requested.n_words ? &s->cpus.requested : &s->cpus.online;
	unsigned next = at->task_index * st->n_cpus;
	/* counts of tasks have no such CPU, because their time references are numbered from the
	 * first CPU */
	int only = w->count->config.cpu;
	struct cpu_mask serves;

	if (pfmi_machine_parse_cpu_list(get_served_cpu_list(w->count, at->instance), &serves) ==
	    -ENOMEM)
		w->error_code = -ENOMEM;
	if (at->uses_instance_cpus && serves.n_words)
		base = &serves;
	w->is_online_unknown |= base->n_words == 0;
	for (unsigned cpu = only < 0 ? 0 : (unsigned)only;
	     !w->error_code && pfmi_machine_next_cpu(base, &cpu); cpu++) {
		unsigned reference = st->cgroup_fd >= 0 ? cpu : next++;
		/* a PMU may have CPUs that have no time reference */
		bool timed = at->pid >= 0 || (st->cgroup_fd >= 0 && cpu < st->n_time_references);

		if (only >= 0 && cpu != (unsigned)only)
			break;
		if (!is_cpu_in_set(&s->cpus.requested, cpu))
			continue;
		if (!is_cpu_in_set(&s->cpus.online, cpu)) {
			w->n_offline_cpus += is_cpu_in_set(&serves, cpu) && at->task_index == 0;
			continue;
		}
		if (is_cpu_in_set(&serves, cpu))
			add_kernel_event(w, at, (int)cpu, timed ? (int)reference : -1);
		else if (at->pid >= 0 && w->count->config.lacks_core_types)
			add_unserved_time(w, reference);
		else
			continue;
		if (timed)
			st->time_references[reference] = (struct time_reference){
				.is_needed = true, .pid = at->pid, .cpu = (int)cpu, .fd = -1
			};
	}
	pfmi_machine_free_cpus(&serves);
}

/* True if each event of a task belongs to a CPU: those that were requested, or all because children
 * of the task write to the buffers of the CPU they are on. */
static bool is_split_by_cpu(const struct pfm_session *s)
{
	return s->cpus.requested.n_words || (s->sampling && s->options.flags & PFM_SESSION_INHERIT);
}

static void plan_events_of_count(struct event_planner *w)
{
	const struct pfm_session *s = w->session;
	const struct perf_state *st = s->live.backend_state;
	const struct kernel_pmu *device = w->count->config.kernel_pmu;
	struct event_target at = {
		.pid = -1, .instance = w->count->config.instance ? w->count->config.instance - 1 : 0
	};

	if (device && device->is_uncore) {
		at.uses_instance_cpus = true;
		for (at.instance = 0; !w->error_code && at.instance < device->n_instances;
		     at.instance++)
			if (session_count_has_instance(w->count, at.instance))
				add_cpu_events(w, &at);
		return;
	}
	if (s->options.flags & PFM_SESSION_SYSTEM_WIDE) {
		add_cpu_events(w, &at);
		return;
	}
	for (; !w->error_code && at.task_index < st->tasks.n_pids; at.task_index++) {
		at.pid = st->tasks.pids[at.task_index];
		if (is_split_by_cpu(s))
			add_cpu_events(w, &at);
		else
			add_kernel_event(w, &at, -1, -1);
	}
}

static void explain_no_cpu(struct session_count *c, const struct event_planner *w)
{
	const char *cpus = c->config.kernel_pmu ? c->config.kernel_pmu->cpu_list : "";
	char remedy[sizeof(c->status.remedy)];

	snprintf(remedy, sizeof(remedy),
	         "choose CPUs of the list in /sys/devices/system/cpu/online%s%s%s",
	         *cpus ? " and in the PMU's own (" : "", cpus, *cpus ? ")" : "");
	if (w->is_online_unknown)
		pfmi_session_fail_count(c, PFM_CAUSE_NO_CPU, ENODEV,
		                        "name the CPUs (-C), or make that file readable",
		                        "the list of CPUs on line cannot be read from "
		                        "/sys/devices/system/cpu/online");
	else if (w->n_offline_cpus)
		pfmi_session_fail_count(c, PFM_CAUSE_NO_CPU, ENODEV, remedy,
		                        "%u of the requested CPUs %s not on line",
		                        w->n_offline_cpus, w->n_offline_cpus == 1 ? "is" : "are");
	else
		pfmi_session_fail_count(c, PFM_CAUSE_NO_CPU, ENODEV, remedy,
		                        "%s counts only on CPUs %s: request at least one of them",
		                        c->config.kernel_pmu ? c->config.kernel_pmu->name
		                                             : "the PMU",
		                        *cpus ? cpus : "(none)");
}

/* Creates a time reference for every task on every requested CPU, in that order; for a control
 * group one for each CPU. */
static int create_time_references(struct pfm_session *s)
{
	const struct cpu_mask *base =
		s->cpus.requested.n_words ? &s->cpus.requested : &s->cpus.online;
	struct perf_state *st = s->live.backend_state;
	bool wide = s->options.flags & PFM_SESSION_SYSTEM_WIDE;
	unsigned n;

	if (wide ? st->cgroup_fd < 0 : s->cpus.requested.n_words == 0)
		return 0;
	st->n_cpus = wide ? (unsigned)base->n_words * 64 : (unsigned)pfmi_machine_count_cpus(base);
	if ((uint64_t)st->tasks.n_pids * st->n_cpus > MAX_SESSION_COUNTS)
		return -E2BIG;
	n = (wide ? 1 : st->tasks.n_pids) * st->n_cpus;
	st->time_references = calloc(n + 1, sizeof(*st->time_references));
	if (!st->time_references)
		return -ENOMEM;
	st->n_time_references = n;
	return 0;
}

/* True if count @c is counted at the same places as the count before it. */
static bool is_placed_like_previous(const struct pfm_session *s, const struct session_count *c)
{
	const struct perf_state *st = s->live.backend_state;
	const struct session_count *last = c - 1;

	return c > s->counts && !st->n_time_references && !last->status.cause &&
	       last->config.kernel_pmu == c->config.kernel_pmu &&
	       last->config.instance == c->config.instance && last->config.cpu == c->config.cpu;
}

/* Repeats the kernel events of the previous count for count @i. */
static void repeat_previous_events(struct event_planner *w)
{
	struct perf_state *st = w->session->live.backend_state;
	const struct count_kernel_state *last = &w->count[-1].kernel_state;

	w->error_code = st->n_events + last->n_events > MAX_SESSION_COUNTS
	                        ? -E2BIG
	                        : reserve_events(st, st->n_events + last->n_events);
	for (unsigned k = 0; k < last->n_events && !w->error_code; k++) {
		struct kernel_event *p = &st->events[st->n_events++];

		*p = st->events[last->first_event + k];
		p->count_index = (unsigned)(w->count - w->session->counts);
	}
	w->count->kernel_state.n_events = w->error_code ? 0 : last->n_events;
}

/* An estimate of the number of kernel events. */
static size_t estimate_event_total(const struct pfm_session *s)
{
	const struct perf_state *st = s->live.backend_state;
	bool wide = s->options.flags & PFM_SESSION_SYSTEM_WIDE;
	size_t cpus = pfmi_machine_count_cpus(s->cpus.requested.n_words ? &s->cpus.requested
	                                                                : &s->cpus.online),
	       each = wide ? 1 : st->tasks.n_pids, n;

	if (wide ? !(s->options.flags & PFM_SESSION_PER_CPU) : s->cpus.requested.n_words != 0)
		each *= cpus;
	n = s->n_counts * each;
	return n < MAX_SESSION_COUNTS ? n : MAX_SESSION_COUNTS;
}

int pfmi_perf_plan_events(struct pfm_session *s)
{
	struct perf_state *st = s->live.backend_state;
	struct event_planner w = { .session = s, .error_code = create_time_references(s) };

	if (!w.error_code)
		w.error_code = reserve_events(st, estimate_event_total(s));
	for (unsigned i = 0; i < s->n_counts && !w.error_code; i++) {
		struct session_count *c = &s->counts[i];

		c->kernel_state.first_event = st->n_events;
		c->kernel_state.n_events = 0;
		if (c->status.cause || session_is_file_count(c))
			continue;
		w.count = c;
		w.n_offline_cpus = 0;
		w.is_online_unknown = false;
		if (is_placed_like_previous(s, c))
			repeat_previous_events(&w);
		else
			plan_events_of_count(&w);
		if (!w.error_code && (w.n_offline_cpus || !c->kernel_state.n_events))
			explain_no_cpu(c, &w);
	}
	return w.error_code;
}
