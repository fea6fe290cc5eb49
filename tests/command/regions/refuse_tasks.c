/* SPDX-License-Identifier: MIT */
/* Preloaded: perf_event_open(2) refuses page faults of tasks, as the kernel refuses events of boxes
 * outside the cores. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

static int is_refused(const struct perf_event_attr *attr, int pid)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_PAGE_FAULTS &&
	       pid >= 0;
}

long syscall(long number, ...)
{
	static long (*next)(long number, ...);
	void *found;
	long a[6];
	va_list args;

	va_start(args, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open &&
	    is_refused((const struct perf_event_attr *)a[0], (int)a[1])) {
		errno = EINVAL;
		return -1;
	}
	if (!next) {
		found = dlsym(RTLD_NEXT, "syscall");
		memcpy(&next, &found, sizeof(next));
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
