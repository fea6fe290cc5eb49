/* SPDX-License-Identifier: MIT */
/* LD_PRELOAD for pfm record: a kernel before Linux 6.12, which refuses events that are inherited
 * and whose samples have the counts of a group (perf_event_alloc() of kernel/events/core.c). */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

enum { N_ARGUMENTS = 6 };

static long call_system(long number, const long *a)
{
	static long (*real)(long number, ...);
	void *found = dlsym(RTLD_NEXT, "syscall");

	memcpy(&real, &found, sizeof(real));
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

long syscall(long number, ...)
{
	const struct perf_event_attr *attr;
	long a[N_ARGUMENTS];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < N_ARGUMENTS; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	attr = (const struct perf_event_attr *)a[0];
	if (number != SYS_perf_event_open || !attr->inherit ||
	    !(attr->sample_type & PERF_SAMPLE_READ))
		return call_system(number, a);
	errno = EINVAL;
	return -1;
}
