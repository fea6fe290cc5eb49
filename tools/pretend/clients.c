/* SPDX-License-Identifier: MIT */
#include "common/pfm.h"
#include "pretend/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "pretend/filter.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL /* Linux 6.9 */
#endif

static int open_thread(int tid)
{
	long fd = syscall(SYS_pidfd_open, tid, PIDFD_THREAD);

	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_pidfd_open, read_thread_process(tid), 0);
	return (int)fd;
}

/* Finds or makes the record of thread @tid; NULL if it is gone. */
static struct client *get_client(struct client *clients, int tid)
{
	struct client *c = &clients[tid % N_CLIENTS];

	if (c->tid == tid && c->pidfd > 0)
		return c;
	if (c->pidfd > 0)
		close(c->pidfd);
	*c = (struct client){ .tid = tid, .pidfd = open_thread(tid) };
	return c->pidfd > 0 ? c : NULL;
}

int copy_client_fd(struct client *clients, int tid, int fd)
{
	struct client *c = get_client(clients, tid);
	long copy;

	if (!c)
		return -ESRCH;
	copy = syscall(SYS_pidfd_getfd, c->pidfd, fd, 0);

	/* The thread has ended, and another has its number. */
	if (copy < 0 && errno == ESRCH) {
		close(c->pidfd);
		c->pidfd = open_thread(c->tid);
		copy = syscall(SYS_pidfd_getfd, c->pidfd, fd, 0);
	}
	return copy < 0 ? -errno : (int)copy;
}

bool read_client_memory(int tid, uint64_t at, void *to, size_t n)
{
	struct iovec own = { to, n }, theirs = { (void *)(uintptr_t)at, n };

	return process_vm_readv(tid, &own, 1, &theirs, 1, 0) == (ssize_t)n;
}

bool write_client_memory(int tid, uint64_t at, const void *from, size_t n)
{
	union {
		const void *in;
		void *out;
	} u = { .in = from };
	struct iovec own = { u.out, n }, theirs = { (void *)(uintptr_t)at, n };

	return process_vm_writev(tid, &own, 1, &theirs, 1, 0) == (ssize_t)n;
}

static void send_answer(const struct call *call, int64_t value, int error, uint32_t flags)
{
	struct seccomp_notif_resp r = {
		.id = call->notif->id, .val = value, .error = error, .flags = flags
	};

	/* Fails if the thread was ended meanwhile. */
	(void)ioctl(call->listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
}

void answer(const struct call *call, int64_t value)
{
	if (value < 0)
		send_answer(call, 0, (int)value, 0);
	else
		send_answer(call, value, 0, 0);
}

void pass_call(const struct call *call)
{
	send_answer(call, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

void answer_with_fd(const struct call *call, int fd, int at, bool close_on_exec)
{
	struct seccomp_notif_addfd a = { .id = call->notif->id,
		                         .flags =
		                                 SECCOMP_ADDFD_FLAG_SETFD | SECCOMP_ADDFD_FLAG_SEND,
		                         .srcfd = (uint32_t)fd,
		                         .newfd = (uint32_t)at,
		                         .newfd_flags = close_on_exec ? O_CLOEXEC : 0 };

	if (ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &a) < 0)
		answer(call, -errno);
}

int give_low_fd(const struct call *call, int fd)
{
	struct seccomp_notif_addfd a = { .id = call->notif->id,
		                         .srcfd = (uint32_t)fd,
		                         .newfd_flags = O_CLOEXEC };
	int given = ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &a);

	return given < 0 ? -errno : given;
}

/* The first number above those that the client may have. */
static int get_fd_limit(int tid)
{
	struct rlimit limit = { 0, 0 };

	if (prlimit(tid, RLIMIT_NOFILE, NULL, &limit) ||
	    limit.rlim_cur > FIRST_EVENT_FD + N_EVENT_FDS)
		return FIRST_EVENT_FD + N_EVENT_FDS;
	return (int)limit.rlim_cur;
}

/* Numbers are given in turn, so that the search is short however many were opened and closed. */
int answer_with_free_fd(const struct call *call, int fd, int least, bool close_on_exec)
{
	const int begin = least > FIRST_EVENT_FD ? least : FIRST_EVENT_FD;
	const int tid = (int)call->notif->pid, n = get_fd_limit(tid) - begin;
	struct client *c = get_client(call->clients, tid);
	int copy = 0, given = -1;

	for (int i = 0; c && i < n && copy != -EBADF; i++) {
		int at = begin + (int)(c->next_fd++ % (unsigned)n);

		copy = copy_client_fd(call->clients, tid, at);
		if (copy >= 0)
			close(copy);
		else if (copy == -EBADF)
			answer_with_fd(call, fd, given = at, close_on_exec);
	}
	if (given < 0)
		answer(call, -EMFILE);
	return given;
}
