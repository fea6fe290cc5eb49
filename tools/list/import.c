/* SPDX-License-Identifier: MIT */
/* pfm import: vendors' event lists to images. The work is done by pmuc.py, which the build uses as
 * well. */
#include "common/pfm.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PERFMON_PMUC
#define PERFMON_PMUC "/usr/share/perfmon/compiler/pmuc.py"
#endif

/* Options that pmuc.py parses; they are here for help and completion. */
enum { OPT_CPU = LONG_ONLY, OPT_JSON, OPT_TEXT, OPT_FACTS, OPT_FORCE };

static const struct command_option options[] = {
	{ OPT_CPU, "cpu", "PATTERN", "only processors whose folder or name matches, with * and ?" },
	{ 'o', "output", "FILE", "write to this file, or one image per processor to this folder" },
	{ OPT_JSON, "json", NULL, "print the summary as JSON" },
	{ OPT_FORCE, "force", NULL, "compile images again even if they are up to date" },
	{ OPT_TEXT, "text", "DIR", "write .pmu files to that folder instead of images" },
	{ OPT_FACTS, "facts", NULL,
	  "with --text: leave out descriptions, and the formulas of Linux" },
	{ 'v', "verbose", NULL, "list the rows that were corrected or are doubtful" },
	{ 0, NULL, NULL, NULL }
};

/* Finds the script beside a command in its build folder; it is executed only if it has the same
 * owner. */
static const char *find_beside_executable(char path[PATH_MAX])
{
	static const char from_here[] = "/../compiler/pmuc.py";
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof(from_here));
	struct stat st;
	char *slash;

	if (n <= 0)
		return NULL;
	path[n] = 0;
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	memcpy(slash, from_here, sizeof(from_here));
	if (stat(path, &st) != 0 || (st.st_uid != 0 && st.st_uid != geteuid()) ||
	    (st.st_mode & S_IWOTH))
		return NULL;
	return path;
}

/* A command in its build folder uses the script of that build, also where another version is
 * installed. */
static const char *find_pmuc(char path[PATH_MAX])
{
	const char *given = secure_getenv("PERFMON_PMUC"), *beside;

	if (given && *given)
		return given;
	beside = find_beside_executable(path);
	return beside ? beside : access(PERFMON_PMUC, R_OK) == 0 ? PERFMON_PMUC : NULL;
}

/* Blocks interrupts, which would end in a traceback while Python starts, until pmuc.py unblocks
 * them. */
static void hold_interrupts(sigset_t *before)
{
	sigset_t interrupts;

	sigemptyset(&interrupts);
	sigaddset(&interrupts, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupts, before);
}

/* Copies the arguments to @out without --color, which pmuc.py does not support. */
static void copy_args(char **out, const struct command_args *args)
{
	static const char option[] = "--color";
	const size_t len = sizeof(option) - 1;
	bool is_operand = false;

	for (int i = 0; i < args->argc; i++) {
		const char *arg = args->argv[i];

		is_operand |= strcmp(arg, "--") == 0;
		if (is_operand || strncmp(arg, option, len) != 0 ||
		    (arg[len] != 0 && arg[len] != '='))
			*out++ = args->argv[i];
		else if (arg[len] == 0)
			i++; /* its value */
	}
}

/* Executes "python3 pmuc.py import" with the arguments. Returns only on failure. */
static int run_pmuc(const struct command_args *args)
{
	char size[PATH_MAX], python[] = "python3", bare[] = "-S", *script;
	char **argv = calloc((size_t)args->argc + 5, sizeof(*argv));
	const char *path = find_pmuc(size);
	sigset_t before;

	if (!path || access(path, R_OK) != 0) {
		fprintf(stderr,
		        "pfm import: the script that reads the lists is missing: %s\n"
		        "Install it with 'meson install', or set PERFMON_PMUC to compiler/pmuc.py "
		        "of the sources.\n",
		        path ? path : PERFMON_PMUC);
		free(argv);
		return EXIT_REFUSED;
	}
	script = strdup(path);
	if (argv && script) {
		argv[0] = python;
		argv[1] = bare; /* the script needs no installed packages */
		argv[2] = script;
		copy_args(argv + 3, args);
		hold_interrupts(&before);
		execvp(python, argv);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	fprintf(stderr, "pfm import: cannot run python3, which this command needs: %s\n",
	        strerror(errno));
	free(script);
	free(argv);
	return EXIT_REFUSED;
}

static int run_import(struct command_args *args)
{
	const char *value;
	int id;

	/* The options are only checked here; pmuc.py parses them again. */
	while ((id = next_option(args, &value)) > 0)
		;
	if (id < 0)
		return args->status;
	if (args->n == 0)
		return report_usage_error(args, "expected a folder, a file or an archive.");
	return run_pmuc(args);
}

const struct command cmd_import = {
	.name = "import",
	.usage = "PATH... [--cpu PATTERN] [-o FILE]",
	.summary = "compile vendors' event lists for all commands",
	.about = "Reads Intel's perfmon repository, one of its folders or files; Arm's telemetry "
		 "data; a Linux source tree, its tools/perf/pmu-events/arch folder, or Debian's "
		 "linux-source archive; gator's pmus.xml and event files; lists of PerfSpect; or "
		 ".pmu files. Writes images (.pmdb) to "
		 "$XDG_DATA_HOME/perfmon, where the library finds them, and prints how many "
		 "processors and events they hold and which rows were refused. A bad row does not "
		 "stop the others.",
	.examples = "All of Intel's processors\n"
		    "pfm import perfmon/\n"
		    "Arm's Neoverse family from a kernel source archive\n"
		    "pfm import linux-source-6.1.tar.xz --cpu 'neoverse*'\n"
		    "One processor, to a file of your own\n"
		    "pfm import perfmon/SPR -o spr.pmdb && PERFMON_EVENTS=spr.pmdb pfm list\n",
	.options = options,
	.run = run_import
};
