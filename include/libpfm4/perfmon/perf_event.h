/* SPDX-License-Identifier: MIT */
/* struct perf_event_attr and what belongs to it come from the kernel's header; the call has no
 * wrapper in the C library. */
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
/* The C library declares it only for programs that ask for more than the standard. */
extern long syscall(long number, ...);
#endif

static inline int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                                  unsigned long flags)
{
	return (int)syscall(__NR_perf_event_open, attr, pid, cpu, group_fd, flags);
}

#endif
