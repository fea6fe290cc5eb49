/* SPDX-License-Identifier: MIT */
/* Output files of a process: its results, and a marker while it runs. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "region/region.h"

bool pfmi_region_build_path(char *path, size_t size, const char *suffix)
{
	const char *output = pfmi_regions.output, *p = strstr(output, "%p");
	size_t len = strlen(output);
	int n;

	if (!len)
		return false;
	if (output[len - 1] == '/')
		n = snprintf(path, size, "%sregions.%d%s", output, (int)getpid(), suffix);
	else if (p)
		n = snprintf(path, size, "%.*s%d%s", (int)(p - output), output, (int)getpid(),
		             p + 2);
	else if (pfmi_regions.epoch)
		n = snprintf(path, size, "%s.%d", output, (int)getpid());
	else
		n = snprintf(path, size, "%s", output);
	return n > 0 && (size_t)n < size;
}

void pfmi_region_mark_process(void)
{
	size_t len = strlen(pfmi_regions.output);
	char path[4200];
	int fd;

	if (!len || pfmi_regions.output[len - 1] != '/' ||
	    !pfmi_region_build_path(path, sizeof(path), ".started"))
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0)
		close(fd);
}

void pfmi_region_unmark_process(void)
{
	size_t len = strlen(pfmi_regions.output);
	char path[4200];

	if (pfmi_regions.output[len - 1] == '/' &&
	    pfmi_region_build_path(path, sizeof(path), ".started"))
		unlink(path);
}
