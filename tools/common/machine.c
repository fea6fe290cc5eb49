/* SPDX-License-Identifier: MIT */
/* Reads files of this machine or of a recorded one. */
#include "common/pfm.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

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

int read_machine_number(const char *path)
{
	char text[PATH_SIZE];
	int number = -1;
	FILE *f = fopen(make_machine_path(path, text, sizeof(text)), "r");

	if (!f)
		return -1;
	if (fscanf(f, "%d", &number) != 1)
		number = -1;
	fclose(f);
	return number;
}
