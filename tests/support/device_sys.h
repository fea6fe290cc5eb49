/* SPDX-License-Identifier: MIT */
/* The device model as a whole system: /dev/pfcntr exists, nothing else does. */
#ifndef PERFMON_TESTS_DEVICE_SYS_H
#define PERFMON_TESTS_DEVICE_SYS_H

#include <errno.h>
#include <time.h>
#include "alpha/emulator.h"
#include "machine/machine.h"

static inline int device_sys_open(const struct sys *sys, const char *path, int flags)
{
	return alpha_device_sys_open(sys->arg, path, flags);
}

static inline long device_sys_read(const struct sys *sys, int fd, void *buf, size_t n)
{
	return alpha_device_sys_read(sys->arg, fd, buf, n);
}

static inline int device_sys_ioctl(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	return alpha_device_sys_ioctl(sys->arg, fd, request, arg);
}

static inline int device_sys_close(const struct sys *sys, int fd)
{
	return alpha_device_sys_close(sys->arg, fd);
}

static inline int refuse_perf_event(const struct sys *sys, struct perf_attr *attr, int pid, int cpu,
                                    int group, unsigned long flags)
{
	(void)sys, (void)attr, (void)pid, (void)cpu, (void)group, (void)flags;
	return -ENOSYS;
}

static inline int refuse_folder(const struct sys *sys, const char *path,
                                int (*each)(void *arg, const char *name), void *arg)
{
	(void)sys, (void)path, (void)each, (void)arg;
	return -ENOENT;
}

static inline bool refuse_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf,
                                uint32_t regs[4])
{
	(void)sys, (void)leaf, (void)subleaf, (void)regs;
	return false;
}

static inline uint64_t get_device_time(const struct sys *sys)
{
	struct timespec now;

	(void)sys;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void init_device_sys(struct sys *out, struct alpha_device_sys *s)
{
	alpha_device_start_clock(s);
	*out = (struct sys){ .open = device_sys_open,
		             .read = device_sys_read,
		             .ioctl = device_sys_ioctl,
		             .close = device_sys_close,
		             .perf_event_open = refuse_perf_event,
		             .list_folder = refuse_folder,
		             .read_cpuid = refuse_cpuid,
		             .get_time = get_device_time,
		             .arg = s };
}

#endif
