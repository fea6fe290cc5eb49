/* SPDX-License-Identifier: MIT */
/* Waits for records, and delivers a signal for them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sampling/sampling_internal.h"

static bool has_buffer_data(const struct sample_buffer *st, uint64_t at_least)
{
	const struct perf_event_mmap_page *page = st->mapping;
	uint64_t head = pfmi_sampling_load_ring_head(page);

	return head - (st->ring.tail - st->next_size) >= at_least &&
	       head != st->ring.tail - st->next_size;
}

/* poll(2) reports a wakeup only once, so the buffers themselves are checked for data. */
static bool is_data_ready(const struct sampling_state *sm, bool any)
{
	for (unsigned i = 0; i < sm->n_buffers; i++) {
		const struct sample_buffer *st = &sm->buffers[i];

		if (has_buffer_data(st, any || sm->config.wakeup_events
		                                ? 1
		                                : pfmi_sampling_get_watermark(sm, st->ring.size)))
			return true;
	}
	return false;
}

/* Polls another event that writes into the buffer, since the task of its owner has ended. */
static void replace_polled_event(struct sampling_state *sm, unsigned stream)
{
	struct sample_buffer *st = &sm->buffers[stream];

	sm->side_events[st->polled_event].has_ended = true;
	st->polled_event = -1;
	for (unsigned i = 0; i < sm->n_side_events; i++)
		if (sm->side_events[i].fd >= 0 && !sm->side_events[i].has_ended &&
		    sm->side_events[i].buffer_index == stream) {
			st->polled_event = (int)i;
			return;
		}
}

static unsigned fill_poll_fds(const struct sampling_state *sm)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sm->n_buffers; i++)
		if (sm->buffers[i].polled_event >= 0)
			sm->poll_fds[n++] = (struct pollfd){
				.fd = sm->side_events[sm->buffers[i].polled_event].fd,
				.events = POLLIN
			};
	return n;
}

/* True if a task has ended since the last check. */
static bool update_ended_tasks(struct sampling_state *sm)
{
	bool any = false;

	for (unsigned i = 0, at = 0; i < sm->n_buffers; i++) {
		if (sm->buffers[i].polled_event < 0)
			continue;
		if (sm->poll_fds[at++].revents & (POLLHUP | POLLERR | POLLNVAL)) {
			replace_polled_event(sm, i);
			any = true;
		}
	}
	return any;
}

int pfm_wait_session(pfm_session_t *s, int timeout)
{
	struct sampling_state *sm;

	if (!sampling_is_active(s))
		return PFMLIB_ERR_INVAL;
	if (pfmi_sampling_uses_device(s))
		return pfmi_device_wait_for_sample(s, timeout);
	sm = s->sampling;
	if (timeout && is_data_ready(sm, false))
		return PFM_WAIT_READY;
	for (;;) {
		int rc = s->sys.poll(&s->sys, sm->poll_fds, fill_poll_fds(sm),
		                     sampling_has_only_ended_tasks(sm) ? 0 : timeout);

		if (rc < 0 && rc != -EINTR) {
			s->sys_errno = -rc;
			return PFMLIB_ERR_SYS;
		}
		if (rc <= 0 || !update_ended_tasks(sm))
			break;
		timeout = 0; /* more tasks may have ended, so do not wait again */
	}
	if (is_data_ready(sm, true))
		return PFM_WAIT_READY;
	return sampling_has_only_ended_tasks(sm) ? PFM_WAIT_ENDED : PFM_WAIT_TIMEOUT;
}

unsigned pfm_session_fds(const pfm_session_t *s, int *fds, unsigned n)
{
	unsigned k = 0;

	if (!sampling_is_active(s))
		return 0;
	for (unsigned i = 0; i < s->sampling->n_buffers; i++) {
		const struct sample_buffer *st = &s->sampling->buffers[i];

		if (st->polled_event < 0)
			continue;
		if (k < n && fds)
			fds[k] = s->sampling->side_events[st->polled_event].fd;
		k++;
	}
	return k;
}

static int set_signal_delivery(int fd, int signo)
{
	struct f_owner_ex me = { .type = F_OWNER_TID, .pid = (pid_t)syscall(SYS_gettid) };
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (signo && (fcntl(fd, F_SETOWN_EX, &me) || fcntl(fd, F_SETSIG, signo))))
		return -errno;
	return fcntl(fd, F_SETFL, signo ? flags | O_ASYNC : flags & ~O_ASYNC) ? -errno : 0;
}

/* The signal comes from the sampling event, even if its samples are in the buffer of another
 * event. */
int pfm_signal_session(pfm_session_t *s, int signo)
{
	const struct perf_state *st;

	if (!sampling_is_active(s) || signo < 0 || signo >= NSIG)
		return PFMLIB_ERR_INVAL;
	if (!sampling_has_buffers(s))
		return PFMLIB_ERR_NOTSUPP;
	st = s->live.backend_state;
	for (unsigned i = 0; i < st->n_events; i++) {
		int rc = st->events[i].fd >= 0 ? set_signal_delivery(st->events[i].fd, signo) : 0;

		if (rc) {
			s->sys_errno = -rc;
			return PFMLIB_ERR_SYS;
		}
	}
	return PFMLIB_SUCCESS;
}
