/* SPDX-License-Identifier: MIT */
/* Files of the machine that is looked at: this one, or a recorded one. */
#include "pfm.h"

#include <stdlib.h>

enum { PATH_ROOM = 4096 };

char *make_machine_path(const char *path, char *buf, size_t room)
{
	const char *root = getenv("PERFMON_SYSFS");

	snprintf(buf, room, "%s%s", root ? root : "", path);
	return buf;
}

int read_machine_number(const char *path)
{
	char text[PATH_ROOM];
	int number = -1;
	FILE *f = fopen(make_machine_path(path, text, sizeof(text)), "r");

	if (!f)
		return -1;
	if (fscanf(f, "%d", &number) != 1)
		number = -1;
	fclose(f);
	return number;
}
