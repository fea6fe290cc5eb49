/* SPDX-License-Identifier: MIT */
/* The process that makes a request to the served device. */
#include <errno.h>
#include <perfmon/pfcntr.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include "alpha/serve_caller.h"

/* ---- the program's memory -------------------------------------------------------------------- */

int copy_caller_memory(pid_t pid, uint64_t there, void *here, size_t n, bool out)
{
	struct iovec local = { here, n }, remote = { (void *)(uintptr_t)there, n };
	ssize_t done = out ? process_vm_writev(pid, &local, 1, &remote, 1, 0)
	                   : process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return done == (ssize_t)n ? 0 : -EFAULT;
}

int read_caller_memory(void *arg, uint64_t from, void *to, size_t n)
{
	return copy_caller_memory(*(pid_t *)arg, from, to, n, false);
}

int write_caller_memory(void *arg, uint64_t to, const void *from, size_t n)
{
	union {
		const void *in;
		void *out;
	} here = { from }; /* process_vm_writev() only reads it */

	return copy_caller_memory(*(pid_t *)arg, to, here.out, n, true);
}

bool is_device_path(pid_t pid, uint64_t at)
{
	char path[sizeof PFCNTR_DEVICE];

	/* Reading fails for shorter paths at the end of a mapping, which are not the device's. */
	return copy_caller_memory(pid, at, path, sizeof path, false) == 0 &&
	       memcmp(path, PFCNTR_DEVICE, sizeof path) == 0;
}

/* ---- the calling process --------------------------------------------------------------------- */

bool read_caller_status(pid_t task, struct caller *out)
{
	char path[64], line[256];
	unsigned found = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)task);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		found |= sscanf(line, "Tgid: %d", &out->pid) == 1 ? 1u : 0;
		found |= sscanf(line, "PPid: %d", &out->parent) == 1 ? 2u : 0;
		found |= sscanf(line, "Uid: %*u %u", &out->uid) == 1 ? 4u : 0;
	}
	if (f)
		fclose(f);
	return found == 7;
}
