/* SPDX-License-Identifier: MIT */
/* LD_PRELOAD for pfm stat: what the kernel says of counters, as if they had been counted half of
 * the time, in turns with others. What a look at them finds is off by up to a fifth, as programs
 * differ from turn to turn. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST_FDS = 256, MOST_VALUES = 8 };

/* The kernel's last reading of a descriptor, and the values that were made of it. */
static struct {
	uint64_t enabled, real[MOST_VALUES], running, made[MOST_VALUES];
} fds[MOST_FDS];

static double switch_off(void)
{
	static uint32_t state = 1;

	state = state * 1664525u + 1013904223u;
	return 0.2 * (2.0 * (state >> 8) / (1u << 24) - 1);
}

/* @times: enabled and running; @values: @n counts. */
static void running_share(int fd, uint64_t *times, uint64_t *values, uint64_t n)
{
	if (fd >= MOST_FDS || n > MOST_VALUES)
		return;
	if (times[0] < fds[fd].enabled)
		memset(&fds[fd], 0, sizeof(fds[fd]));
	fds[fd].running += (times[0] - fds[fd].enabled) / 2;
	fds[fd].enabled = times[0];
	times[1] = fds[fd].running;
	for (uint64_t i = 0; i < n; i++) {
		fds[fd].made[i] +=
			(uint64_t)((double)(values[i] - fds[fd].real[i]) / 2 * (1 + switch_off()));
		fds[fd].real[i] = values[i];
		values[i] = fds[fd].made[i];
	}
}

static ssize_t shared_read(int fd, void *buf, size_t n)
{
	static ssize_t (*real)(int, void *, size_t);
	char link[64], name[64] = "";
	uint64_t *w = buf;
	ssize_t got;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "read");
	got = real(fd, buf, n);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (got < 24 || readlink(link, name, sizeof(name) - 1) < 0 || !strstr(name, "perf_event"))
		return got;
	if ((size_t)got == 8 * (3 + w[0]))
		running_share(fd, w + 1, w + 3, w[0]);
	else if (got == 24)
		running_share(fd, w + 1, w, 1);
	return got;
}

/* Another name for it: the C library's header declares this one with words of its own. */
extern __typeof__(read) read __attribute__((alias("shared_read")));
