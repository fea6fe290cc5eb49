/* SPDX-License-Identifier: MIT */
/* struct perf_event_attr and its constants come from the kernel's header. The C library has no
 * function for the system call. */
#ifndef PERFMON_LIBPFM4_PERF_EVENT_H
#define PERFMON_LIBPFM4_PERF_EVENT_H

#include <inttypes.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef __cplusplus
/* The C library declares this function only for programs that request extensions of the
 * standard. */
extern long syscall(long number, ...);
#endif

static inline int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                                  unsigned long flags)
{
	return (int)syscall(__NR_perf_event_open, attr, pid, cpu, group_fd, flags);
}

#endif
