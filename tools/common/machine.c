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
