/* SPDX-License-Identifier: MIT */
/* Counting with perf_event_open(2). A count becomes one kernel event for each task, CPU and
 * instance of its PMU; groups become kernel groups. Values are read a group at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "context/context.h"
#include "machine/machine.h"
#include "session/perf_event_internal.h"

/* ---- sessions ------------------------------------------------------------------------------ */

#define MAX_OPEN_ROUNDS 6 /* attempts to open a process that keeps starting threads */

/* Closes the members of @lead first: closing a leader detaches its members, which takes the kernel
 * longer. */
static void close_leader_and_members(struct pfm_session *s, struct kernel_event *lead)
{
	struct perf_state *st = s->live.backend_state;

	for (int k = lead->next_member, next; k >= 0; k = next) {
		next = st->events[k].next_member;
		pfmi_perf_close_event(s, &st->events[k]);
	}
	pfmi_perf_close_event(s, lead);
}

/* Releases everything that one attempt has opened. */
static void close_round(struct pfm_session *s)
{
	struct perf_state *st = s->live.backend_state;

	/* CPUs in the reverse order of opening, so that each CPU has to wake up only once; then
	 * events that were opened in part. */
	for (unsigned i = st->n_read_events; i-- > 0;)
		close_leader_and_members(s, &st->events[st->read_events[i]]);
	for (unsigned i = st->n_events; i-- > 0;)
		pfmi_perf_close_event(s, &st->events[i]);
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
		c->kernel_state.is_read_together = false;
		if (c->status.cause && !c->kernel_state.is_rejected_early)
			c->status.cause = c->status.reason_cause = c->status.sys_errno = 0;
	}
}

static void close_perf_counts(struct pfm_session *s)
{
	struct perf_state *st = s->live.backend_state;

	if (!st)
		return;
	if (s->sampling)
		s->sampling_ops->close_buffers(s);
	close_round(s);
	if (st->cgroup_fd >= 0)
		s->sys.close(&s->sys, st->cgroup_fd);
	free(st->events);
	free(st->readings);
	free(st);
	s->live.backend_state = NULL;
}

static void open_time_references(struct pfm_session *s)
{
	struct perf_state *st = s->live.backend_state;

	for (unsigned i = 0; i < st->n_time_references; i++) {
		struct time_reference *w = &st->time_references[i];
		struct perf_attr a;

		if (!w->is_needed)
			continue;
		memset(&a, 0, sizeof(a));
		a.size = PERF_ATTR_SIGNAL_SIZE;
		a.type = PERF_TYPE_SOFTWARE;
		a.config = PERF_COUNT_SW_DUMMY;
		a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		a.disabled = a.exclude_kernel = a.exclude_hv = 1;
		a.inherit = (s->options.flags & PFM_SESSION_INHERIT) != 0;
		a.enable_on_exec = w->pid >= 0 && s->options.flags & PFM_SESSION_ENABLE_ON_EXEC;
		w->fd = pfmi_perf_open_event(&s->sys, &a, w->pid, w->cpu, -1);
		w->open_error = w->fd < 0 ? w->fd : 0;
	}
}

/* Lists the tasks, plans and opens the events, and prepares for reading. Returns 0 or -ENOMEM. */
static int open_round(struct pfm_session *s)
{
	struct perf_state *st = s->live.backend_state;
	int rc = pfmi_perf_list_tasks(&s->sys, s->options.pid,
	                              s->options.flags & PFM_SESSION_ONE_THREAD, &st->tasks);

	/* Without /proc: a process that waits for its program has one thread. */
	if (s->options.flags & PFM_SESSION_ENABLE_ON_EXEC)
		st->tasks.list_errno = 0;
	if (!rc)
		rc = pfmi_perf_plan_events(s);
	if (rc)
		return rc;
	open_time_references(s);
	for (unsigned i = 0, end; i < s->n_counts; i = end) {
		end = pfmi_perf_open_software_events(s, i);
		if (end > i)
			continue;
		end = pfmi_perf_find_group_end(s, i);
		pfmi_perf_open_group(s, i, end);
	}
	return pfmi_perf_assign_readings(s);
}

/* Looks for threads that started while the others were opened. A thread that was not open yet may
 * have started them: then they and their children would be missing. They cannot simply be added,
 * because those that a counted thread has started are counted already. Children that were forked
 * between two members of a group have only some of its members. Returns -EAGAIN if there are new
 * threads. */
static int check_new_tasks(struct pfm_session *s)
{
	struct perf_state *st = s->live.backend_state;
	struct task_list now;
	int rc;

	/* The caller's own thread, and a program that waits for its start, cannot start others
	 * meanwhile. */
	if (s->options.pid == 0 ||
	    (s->options.flags & (PFM_SESSION_INHERIT | PFM_SESSION_ENABLE_ON_EXEC)) !=
	            PFM_SESSION_INHERIT)
		return 0;
	if (pfmi_perf_has_unreadable_group(s))
		return -EAGAIN;
	if (!st->tasks.has_all_threads)
		return 0;
	rc = pfmi_perf_list_tasks(&s->sys, s->options.pid,
	                          s->options.flags & PFM_SESSION_ONE_THREAD, &now);
	/* A process that has ended has no new threads. */
	if (!rc && now.has_all_threads && !pfmi_perf_is_task_subset(&now, &st->tasks))
		rc = -EAGAIN;
	pfmi_perf_free_tasks(&now);
	return rc;
}

/* Marks the counts of tasks as incomplete if threads could not be listed or opened. */
static void explain_missing_tasks(struct pfm_session *s, bool newcomers)
{
	const struct perf_state *st = s->live.backend_state;
	int err = st->tasks.list_errno;

	for (unsigned i = 0; i < s->n_counts && (err || newcomers); i++) {
		struct session_count *c = &s->counts[i];

		if (c->status.cause || !c->kernel_state.n_open ||
		    st->events[c->kernel_state.first_event].pid < 0)
			continue;
		if (newcomers)
			pfmi_session_fail_count(
				c, PFM_CAUSE_OTHER, EAGAIN,
				"stop the process (SIGSTOP) while the session opens",
				"process %d creates threads faster than events can be opened: some "
				"threads are missing",
				s->options.pid);
		else
			pfmi_session_fail_count(
				c,
				err == EACCES || err == EPERM || err == ENOENT
					? PFM_CAUSE_PERMISSION
					: PFM_CAUSE_OTHER,
				err,
				"run as the owner of the process or as root, with this namespace's "
				"/proc mounted (and not with hidepid)",
				"the threads of process %d cannot be read from /proc/%d: only its "
				"main thread is counted",
				s->options.pid, s->options.pid);
	}
}

static int open_in_rounds(struct pfm_session *s)
{
	struct perf_state *st = s->live.backend_state;
	int rc;

	for (unsigned round = 1;; round++) {
		rc = open_round(s);
		if (!rc && st->has_offline_cpu && s->cpus.is_online_assumed)
			rc = pfmi_session_refresh_online_cpus(s);
		if (!rc)
			rc = check_new_tasks(s);
		/* A thread that executes a program takes over the number of its process, which was
		 * opened for another thread before. */
		if (!rc && st->has_ended_task && round == 1)
			rc = -EAGAIN;
		if (rc != -EAGAIN || round == MAX_OPEN_ROUNDS)
			break;
		close_round(s);
	}
	/* Without groups, the members that exist can be read. */
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

/* Opens all events anew. */
static int separate_perf_groups(struct pfm_session *s)
{
	int rc;

	if (s->live.started)
		return PFMLIB_ERR_NOTSUPP;
	close_round(s);
	rc = open_in_rounds(s);
	if (rc)
		return PFMLIB_ERR_NOMEM;
	pfmi_perf_init_hotplug(s);
	return PFMLIB_SUCCESS;
}

/* Opens the folder of the session's control group. */
static int open_cgroup(const struct pfm_session *s, struct perf_state *st, pfm_error_t *why)
{
	int fd;

	if (!s->options.cgroup)
		return PFMLIB_SUCCESS;
	if (!(s->options.flags & PFM_SESSION_SYSTEM_WIDE))
		return pfmi_base_refuse_argument(why, "a control group is counted system-wide");
	fd = s->sys.open(&s->sys, s->options.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		st->cgroup_fd = fd;
		return PFMLIB_SUCCESS;
	}
	return pfmi_base_set_errno_error(why, PFMLIB_ERR_SYS, -fd,
	                                 "the folder of the control group cannot be opened");
}

static int open_perf_counts(struct pfm_session *s, pfm_error_t *why)
{
	struct perf_state *st = calloc(1, sizeof(*st));
	long page = sysconf(_SC_PAGESIZE);
	int rc;

	if (!st)
		return pfmi_base_set_no_memory_error(why);
	s->live.backend_state = st;
	st->cgroup_fd = -1;
	st->opened_at = s->sys.get_time ? s->sys.get_time(&s->sys) : 0;
	rc = open_cgroup(s, st, why);
	if (rc) {
		close_perf_counts(s);
		return rc;
	}
	st->reads_singly = s->sampling != NULL; /* each event has its own count of lost samples */
	if (s->sampling)
		s->sampling_ops->choose_rates(s);
	for (unsigned i = 0; i < s->n_counts; i++)
		s->counts[i].kernel_state.is_rejected_early =
			s->counts[i].status.cause != PFM_CAUSE_NONE;
	st->page_size = page > 0 ? (size_t)page : 4096;
	rc = open_in_rounds(s);
	if (!rc)
		pfmi_perf_init_hotplug(s);
	if (!rc && s->sampling && !(s->options.flags & PFM_SESSION_DRY_RUN)) {
		rc = s->sampling_ops->open_buffers(s, why);
		if (rc)
			close_perf_counts(s);
		return rc;
	}
	if (!rc)
		return PFMLIB_SUCCESS;
	close_perf_counts(s);
	if (rc == -E2BIG)
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY,
		                                 "more than 262144 counters of the kernel would be "
		                                 "opened: name CPUs, or fewer events or boxes");
	return pfmi_base_set_no_memory_error(why);
}

/* True if the kernel lists its PMUs. If a filter of system calls blocks them, opening the first
 * event reports it. */
static bool is_perf_known_usable(const struct pfm_ctx *ctx)
{
	return !ctx->sys.root[0] && ctx->kernel && ctx->kernel->n_pmus;
}

static int probe_perf(const struct sys *sys, pfm_error_t *why)
{
	struct perf_attr a;
	int fd;

	memset(&a, 0, sizeof(a));
	a.size = PERF_ATTR_SIGNAL_SIZE;
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_DUMMY;
	a.disabled = a.exclude_kernel = a.exclude_hv = 1;
	fd = pfmi_perf_open_event(sys, &a, 0, -1, -1);
	if (fd >= 0)
		sys->close(sys, fd);
	if (fd != -ENOSYS)
		/* the kernel refuses this event, so it has the call; each event reports its own
		 * cause */
		return PFMLIB_SUCCESS;
	return pfmi_base_set_errno_error(why, PFMLIB_ERR_NOTSUPP, ENOSYS,
	                                 "the kernel has no perf_event_open");
}

const struct backend pfmi_perf_backend = {
	.name = "perf_event",
	.reports_offline_cpus = true,
	.is_known_usable = is_perf_known_usable,
	.probe = probe_perf,
	.open_counts = open_perf_counts,
	.start_counting = pfmi_perf_start_counting,
	.stop_counting = pfmi_perf_stop_counting,
	.reset_counts = pfmi_perf_reset_counts,
	.separate_groups = separate_perf_groups,
	.switch_groups = pfmi_perf_switch_groups,
	.read_counts = pfmi_perf_read_counts,
	.read_user_count = pfmi_perf_read_user_count,
	.close_counts = close_perf_counts,
};
