/* SPDX-License-Identifier: MIT */
#include "pretend/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#define OWN_ARCH 0
#endif

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5) /* Linux 5.19 */
#endif

/* Offset of the low half of argument @n. */
#define ARGUMENT(n)                                                                                \
	(offsetof(struct seccomp_data, args) + 8 * (n) +                                           \
	 (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0))
#define LOAD(offset)      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define UNLESS(k, skip)   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(k), 0, skip)
#define IF(k, skip)       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(k), skip, 0)
#define IF_BELOW(k, skip) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)(k), 0, skip)
#define RETURN(what)      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##what)
/* Calls of @call go to the supervisor if their first argument is an event's descriptor. */
#define EVENT_CALL(call)                                                                           \
	UNLESS(call, 4), LOAD(ARGUMENT(0)), IF_BELOW(FIRST_EVENT_FD, 1), RETURN(USER_NOTIF),       \
		RETURN(ALLOW)
/* Calls of @call whose first argument is @k. */
#define KIND_CALL(call, k)                                                                         \
	UNLESS(call, 4), LOAD(ARGUMENT(0)), UNLESS(k, 1), RETURN(USER_NOTIF),                      \
		LOAD(offsetof(struct seccomp_data, nr))
/* Calls of @call whose fifth argument is an event's descriptor, not -1. */
#define FIFTH_CALL(call)                                                                           \
	UNLESS(call, 5), LOAD(ARGUMENT(4)), IF_BELOW(FIRST_EVENT_FD, 2), IF(0xffffffff, 1),        \
		RETURN(USER_NOTIF), RETURN(ALLOW)
/* Such calls, if their second argument is @k as well. */
#define EVENT_REQUEST(call, k)                                                                     \
	UNLESS(call, 7), LOAD(ARGUMENT(1)), UNLESS(k, 4), LOAD(ARGUMENT(0)),                       \
		IF_BELOW(FIRST_EVENT_FD, 1), RETURN(USER_NOTIF), RETURN(ALLOW),                    \
		LOAD(offsetof(struct seccomp_data, nr))

static int install(const struct sock_fprog *program, unsigned long flags)
{
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);

	return fd < 0 ? -errno : (int)fd;
}

int install_filter(void)
{
	struct sock_filter lines[] = {
		LOAD(offsetof(struct seccomp_data, arch)),
		IF(OWN_ARCH, 1),
		RETURN(ALLOW),
		LOAD(offsetof(struct seccomp_data, nr)),
		UNLESS(SYS_perf_event_open, 1),
		RETURN(USER_NOTIF),
		EVENT_REQUEST(SYS_ioctl, PERF_EVENT_IOC_ENABLE),
		EVENT_REQUEST(SYS_ioctl, PERF_EVENT_IOC_DISABLE),
		EVENT_REQUEST(SYS_ioctl, PERF_EVENT_IOC_RESET),
		EVENT_REQUEST(SYS_ioctl, PERF_EVENT_IOC_PERIOD),
		EVENT_REQUEST(SYS_ioctl, PERF_EVENT_IOC_SET_OUTPUT),
		EVENT_REQUEST(SYS_fcntl, F_DUPFD),
		EVENT_REQUEST(SYS_fcntl, F_DUPFD_CLOEXEC),
		KIND_CALL(SYS_prctl, PR_TASK_PERF_EVENTS_ENABLE),
		KIND_CALL(SYS_prctl, PR_TASK_PERF_EVENTS_DISABLE),
		FIFTH_CALL(MAP_CALL),
		EVENT_CALL(SYS_read),
		EVENT_CALL(SYS_readv),
		EVENT_CALL(SYS_dup),
#ifdef SYS_dup2
		EVENT_CALL(SYS_dup2),
#endif
		EVENT_CALL(SYS_dup3),
		RETURN(ALLOW),
	};
	const struct sock_fprog program = { sizeof(lines) / sizeof(lines[0]), lines };
	int fd;

	if (!OWN_ARCH)
		return -ENOSYS;
	/* Without privileges only programs that can gain none may have a filter. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	fd = install(&program,
	             SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	return fd == -EINVAL ? install(&program, SECCOMP_FILTER_FLAG_NEW_LISTENER) : fd;
}
