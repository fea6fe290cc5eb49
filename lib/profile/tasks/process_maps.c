/* SPDX-License-Identifier: MIT */
#include "profile/tasks/process_maps.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a line of /proc/PID/maps. False for a mapping that cannot be executed or has no name. */
static bool read_map_line(char *line, struct process_mapping *m)
{
	unsigned long long start, end, offset;
	char mode[5];
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%llx-%llx %4s %llx %*x:%*x %*u %n", &start, &end, mode, &offset, &path) <
	            4 ||
	    mode[2] != 'x' || !path || !line[path])
		return false;
	*m = (struct process_mapping){ start, end, offset, line + path };
	return true;
}

void read_process_maps(uint32_t pid, void (*add)(void *arg, const struct process_mapping *m),
                       void *arg)
{
	char path[32], *line = NULL;
	struct process_mapping m;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && getline(&line, &size, f) >= 0)
		if (read_map_line(line, &m))
			add(arg, &m);
	free(line);
	if (f)
		fclose(f);
}
