/* SPDX-License-Identifier: MIT */
/* Output files of a process: their paths, and messages about them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "machine/machine.h"
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

void pfmi_region_print_message(const char *variable, const char *text)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "perfmon: %s: %s\n", variable, text);

	n = n < (int)sizeof(line) ? n : (int)sizeof(line) - 1;
	for (int i = 0; i < n - 1; i++)
		line[i] = (unsigned char)line[i] < ' ' || line[i] == 0x7f ? '?' : line[i];
	(void)!write(STDERR_FILENO, line, (size_t)n);
}

void pfmi_region_print_lost_output(const char *path, int err)
{
	char text[900];

	if (!pfmi_machine_get_env("PERFMON_REGIONS_OUTPUT"))
		return;
	snprintf(text, sizeof(text), "the results cannot be written to %.700s: %s", path,
	         strerror(err));
	pfmi_region_print_message("PERFMON_REGIONS_OUTPUT", text);
}
