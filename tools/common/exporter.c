/* SPDX-License-Identifier: MIT */
/* pfm serve: starts the exporter, a program of its own, with the same arguments. It is in the
 * folder of pfm. */
#include "common/pfm.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define EXPORTER "pfm-exporter"

static int start_exporter(struct command_args *args)
{
	static char name[] = EXPORTER;
	char path[PATH_MAX + sizeof(EXPORTER)];
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash = len > 0 ? memrchr(path, '/', (size_t)len) : NULL;

	snprintf(slash ? slash + 1 : path, sizeof(EXPORTER), EXPORTER);
	args->argv[0] = name;
	execvp(path, args->argv);
	fprintf(stderr, "pfm serve: cannot run %s: %s (Debian package perfmon-exporter)\n", path,
	        strerror(errno));
	return EXIT_REFUSED;
}

const struct command cmd_serve = { .name = "serve",
	                           .usage = "[OPTION]...",
	                           .summary =
	                                   "serve counts and metrics of the machine to Prometheus",
	                           .is_program = true,
	                           .run = start_exporter };
