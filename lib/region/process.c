/* SPDX-License-Identifier: MIT */
/* The process as its results name it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "machine/machine.h"
#include "region/region.h"

/* Field 22 of /proc/self/stat, after the command in parentheses. */
static uint64_t read_start_time(void)
{
	char text[1024], *at;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	for (unsigned field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

/* Rank of the process among those of a parallel program; -1 if the environment has none. */
static int get_rank(void)
{
	static const char names[][24] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
		                          "SLURM_PROCID" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = pfmi_machine_get_env(names[i]);
		char *end;
		long rank = text ? strtol(text, &end, 10) : -1;

		if (rank >= 0 && rank < INT_MAX && !*end)
			return (int)rank;
	}
	return -1;
}

void pfmi_region_fill_process(struct region_process *p)
{
	p->pid = (int)getpid();
	p->rank = get_rank();
	p->start_time = read_start_time();
	snprintf(p->program, sizeof(p->program), "%s", program_invocation_short_name);
}
