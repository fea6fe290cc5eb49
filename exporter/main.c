/* SPDX-License-Identifier: MIT */
/* pfm-exporter: the program that "pfm serve" starts. Its arguments are those after "pfm serve". */
#include "common/pfm.h"

#include <string.h>

#ifdef HAVE_MICROHTTPD
#define WITHOUT ""
#else
#define WITHOUT " (without libmicrohttpd: --listen is refused)"
#endif

extern const struct command cmd_exporter;

const struct command *const commands[] = { &cmd_exporter, NULL };

static int run_exporter(int argc, char **argv)
{
	static char name[] = "serve";

	if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
		puts("pfm-exporter " PERFMON_VERSION WITHOUT);
		return EXIT_DONE;
	}
	if (argc > 0)
		argv[0] = name;
	return run_pfm_command(&cmd_exporter, argc, argv);
}

int main(int argc, char **argv)
{
	return run_pfm(run_exporter, argc, argv);
}
