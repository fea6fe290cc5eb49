/* SPDX-License-Identifier: MIT */
#include "pretend/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "pretend/filter.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS _IOW('!', 4, uint64_t) /* Linux 6.6 */
#endif
#define SYNC_WAKE_UP 1UL
enum { RING_MILLISECONDS = 5 };

/* ---- ioctl(2) -------------------------------------------------------------------------------- */

/* Calls @each for @e, or with PERF_IOC_FLAG_GROUP in the call for its whole group. */
static void visit_members(struct supervisor *s, struct pretended_event *e, const struct call *call,
                          void (*each)(const struct supervisor *s, struct pretended_event *e,
                                       uint64_t request))
{
	const uint64_t request = call->notif->data.args[1];

	if (!(call->notif->data.args[2] & PERF_IOC_FLAG_GROUP)) {
		each(s, e, request);
		return;
	}
	for (size_t i = 0; i < s->events.n; i++)
		if (s->events.at[i]->leader == e->leader)
			each(s, s->events.at[i], request);
}

static void set_enabled(const struct supervisor *s, struct pretended_event *e, uint64_t request)
{
	(void)s;
	e->is_enabled = request == PERF_EVENT_IOC_ENABLE;
}

static void reset_event(const struct supervisor *s, struct pretended_event *e, uint64_t request)
{
	(void)request;
	e->value = 0;
	begin_ticks(s, e);
}

/* The period is in the client's memory, so the supervisor executes the call itself. */
static void set_period(const struct call *call, int fd, const struct pretended_event *e)
{
	uint64_t period;

	if (!read_client_memory((int)call->notif->pid, call->notif->data.args[2], &period,
	                        sizeof(period))) {
		answer(call, -EFAULT);
		return;
	}
	if (e->pmu && !e->is_by_frequency && period)
		period = translate_period(&e->rate, period);
	answer(call, ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0);
}

static void join_buffer(struct supervisor *s, const struct call *call,
                        const struct pretended_event *e)
{
	int fd = copy_client_fd(s->clients, (int)call->notif->pid, (int)call->notif->data.args[2]);
	bool is_event;

	if (can_join_buffer(e, fd >= 0 ? identify_event(s, fd, &is_event) : NULL))
		pass_call(call);
	else
		answer(call, -EOPNOTSUPP);
	if (fd >= 0)
		close(fd);
}

static void control_event(struct supervisor *s, const struct call *call, int fd,
                          struct pretended_event *e)
{
	switch (call->notif->data.args[1]) {
	case PERF_EVENT_IOC_PERIOD: set_period(call, fd, e); return;
	case PERF_EVENT_IOC_SET_OUTPUT: join_buffer(s, call, e); return;
	case PERF_EVENT_IOC_RESET:
		settle_context(s, e->context);
		visit_members(s, e, call, reset_event);
		break;
	default:
		settle_context(s, e->context);
		visit_members(s, e, call, set_enabled);
		share_counters(s, e->context);
		break;
	}
	pass_call(call);
}

/* ---- prctl(2) -------------------------------------------------------------------------------- */

/* For the kernel the supervisor owns the events: it enables or disables those that the calling
 * thread has opened. */
static void control_own_events(struct supervisor *s, const struct call *call)
{
	const bool enables = call->notif->data.args[0] == PR_TASK_PERF_EVENTS_ENABLE;

	for (size_t i = 0; i < s->events.n; i++) {
		struct pretended_event *e = s->events.at[i];
		int fd;

		if (e->owner != (int)call_thread(call) || e->is_enabled == enables)
			continue;
		settle_context(s, e->context);
		fd = copy_event_fd(s, e);
		if (fd >= 0 &&
		    ioctl(fd, enables ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) == 0)
			e->is_enabled = enables;
		if (fd >= 0)
			close(fd);
	}
	/* From the end: closed events leave the list meanwhile. */
	for (size_t i = s->events.n; i-- > 0;)
		if (i < s->events.n && s->events.at[i]->owner == (int)call_thread(call))
			share_counters(s, s->events.at[i]->context);
	answer(call, 0);
}

/* ---- dup(2) and fcntl(2) --------------------------------------------------------------------- */

static bool is_call_of(const struct seccomp_data *d, long nr)
{
	return d->nr == (int)nr;
}

/* A copy of an event at a number that the filter does not watch could not be translated. */
static void duplicate_at(const struct call *call, int fd)
{
	const struct seccomp_data *d = &call->notif->data;
	const int old = (int)d->args[0], at = (int)d->args[1];

	if (old == at)
		pass_call(call);
	else if (at < FIRST_EVENT_FD)
		answer(call, -EINVAL);
	else
		answer_with_fd(call, fd, at, is_call_of(d, SYS_dup3) && (d->args[2] & O_CLOEXEC));
}

static void duplicate(const struct call *call, int fd)
{
	const struct seccomp_data *d = &call->notif->data;

	if (is_call_of(d, SYS_dup))
		(void)answer_with_free_fd(call, fd, 0, false);
	else if (is_call_of(d, SYS_fcntl))
		(void)answer_with_free_fd(call, fd, (int)d->args[2], d->args[1] == F_DUPFD_CLOEXEC);
	else
		duplicate_at(call, fd);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Answers a call about a descriptor. Files that are no events stay the kernel's. */
static void handle_descriptor(struct supervisor *s, const struct call *call)
{
	const struct seccomp_data *d = &call->notif->data;
	const bool is_mapping = is_call_of(d, MAP_CALL);
	int fd =
		copy_client_fd(s->clients, (int)call->notif->pid, (int)d->args[is_mapping ? 4 : 0]);
	bool is_event = false;
	struct pretended_event *e = fd >= 0 ? identify_event(s, fd, &is_event) : NULL;

	if (fd < 0 && fd != -EBADF)
		answer(call, -EIO);
	else if (!is_event)
		pass_call(call);
	else if (is_mapping && e)
		map_event(s, call, fd, e);
	else if (is_mapping)
		pass_call(call);
	else if (is_call_of(d, SYS_readv))
		answer(call, -EINVAL);
	else if (!is_call_of(d, SYS_ioctl))
		duplicate(call, fd);
	else if (e)
		control_event(s, call, fd, e);
	else
		answer(call, -EIO);
	if (fd >= 0)
		close(fd);
}

static void handle_call(struct supervisor *s, const struct call *call)
{
	if (is_call_of(&call->notif->data, SYS_perf_event_open))
		open_event(s, call);
	else if (is_call_of(&call->notif->data, SYS_read))
		read_event(s, call);
	else if (is_call_of(&call->notif->data, SYS_prctl))
		control_own_events(s, call);
	else
		handle_descriptor(s, call);
}

/* Waits for a call. False when no process has the filter any more. */
static bool receive_call(struct supervisor *s, int listener, struct seccomp_notif *n)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };

	for (;;) {
		if (poll(&p, 1, s->n_rings ? RING_MILLISECONDS : -1) < 0 && errno != EINTR)
			return false;
		s->moment = read_moment(s);
		if (s->n_rings)
			pump_rings(s);
		if (p.revents & POLLIN) {
			memset(n, 0, sizeof(*n));
			if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, n) == 0)
				return true;
		} else if (p.revents) {
			return false;
		}
	}
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

void supervise(const struct pretend_machine *m, const struct model *model, int listener)
{
	struct supervisor *s = calloc(1, sizeof(*s));
	struct seccomp_notif n;
	struct call call = { .listener = listener, .notif = &n };

	if (!s)
		return;
	raise_file_limit();
	/* Older kernels wake the caller up on another CPU, which takes longer. */
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP);
	s->machine = m;
	s->model = model;
	find_taken_events(s);
	find_simulated_rate(s);
	s->began = read_moment(s);
	call.clients = s->clients;
	while (receive_call(s, listener, &n))
		handle_call(s, &call);
	free(s);
}
