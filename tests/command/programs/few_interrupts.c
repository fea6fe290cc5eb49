/* SPDX-License-Identifier: MIT */
/* LD_PRELOAD for pfm record: each event counts a thousand times as many as it has samples, as where
 * few interrupts are delivered. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_event(int fd)
{
	char path[40], target[40] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "perf_event");
}

ssize_t read(int fd, void *buf, size_t nbytes)
{
	ssize_t got = syscall(SYS_read, fd, buf, nbytes);
	uint64_t value;

	if (got < (ssize_t)sizeof(value) || !is_event(fd))
		return got;
	memcpy(&value, buf, sizeof(value));
	value *= 1000;
	memcpy(buf, &value, sizeof(value));
	return got;
}
