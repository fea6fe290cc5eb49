/* SPDX-License-Identifier: MIT */
/* Reads files of this machine or of a recorded one. */
#include "common/pfm.h"

#include <stdlib.h>
#include <string.h>

char *make_machine_path(const char *path, char *buf, size_t size)
{
	const char *root = getenv("PERFMON_SYSFS");

	snprintf(buf, size, "%s%s", root ? root : "", path);
	return buf;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int read_thread_process(int tid)
{
	char path[64], line[256];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && !pid && fgets(line, sizeof(line), f))
		if (strncmp(line, "Tgid:", 5) == 0)
			pid = atoi(line + 5);
	if (f)
		fclose(f);
	return pid;
}
