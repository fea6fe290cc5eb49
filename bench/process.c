/* SPDX-License-Identifier: MIT */
/* Whole processes, and what they ask of the processor. Linked to neither library.
 *
 *   process bare                 does nothing: what every process costs
 *   process open FILE            time of dlopen(FILE), once, in this process
 *   process spawn N CMD... [-- CMD...]...   median wall time of each command, interleaved, N rounds
 *   process cpuid CMD...         CPUID instructions the command executes (x86; one step at a time)
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <sys/user.h>
#endif

#define MAX_COMMANDS 8
#define MAX_ROUNDS   400

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare_values(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

static int open_library(const char *path)
{
	double t = now_us();
	void *library = dlopen(path, RTLD_LAZY);

	t = now_us() - t;
	if (!library)
		return fprintf(stderr, "%s\n", dlerror()), 1;
	return printf("{\"us\": %.2f}\n", t) < 0;
}

static double run_once(char **command, posix_spawn_file_actions_t *quiet)
{
	double t = now_us();
	pid_t pid;
	int status;

	if (posix_spawn(&pid, command[0], quiet, NULL, command, environ) ||
	    waitpid(pid, &status, 0) < 0 || status) {
		fprintf(stderr, "%s failed\n", command[0]);
		exit(1);
	}
	return now_us() - t;
}

static int spawn_child(int rounds, char **argv)
{
	static double v[MAX_COMMANDS][MAX_ROUNDS];
	char **commands[MAX_COMMANDS] = { argv };
	posix_spawn_file_actions_t quiet;
	unsigned n = 1;

	for (; *argv; argv++)
		if (!strcmp(*argv, "--") && n < MAX_COMMANDS) {
			*argv = NULL;
			commands[n++] = ++argv;
		}
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	for (int r = 0; r < rounds && r < MAX_ROUNDS; r++)
		for (unsigned i = 0; i < n; i++)
			v[i][r] = run_once(commands[i], &quiet);
	printf("{\"us\": [");
	for (unsigned i = 0; i < n; i++) {
		qsort(v[i], (size_t)rounds, sizeof(double), compare_values);
		printf("%s%.1f", i ? ", " : "", v[i][rounds / 2]);
	}
	return puts("]}") < 0;
}

#if defined(__x86_64__)
static int count_cpuids(char **command)
{
	unsigned long found = 0, steps = 0;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(command[0], command);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		struct user_regs_struct regs;
		long word;

		if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
			break;
		errno = 0;
		word = ptrace(PTRACE_PEEKTEXT, pid, regs.rip, NULL);
		found += errno == 0 && (word & 0xffff) == 0xa20f;
		steps++;
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
			break;
	}
	return printf("{\"cpuids\": %lu, \"steps\": %lu}\n", found, steps) < 0;
}
#else
static int count_cpuids(char **command)
{
	(void)command;
	return puts("{\"cpuids\": 0, \"steps\": 0}") < 0;
}
#endif

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "bare"))
		return 0;
	if (!strcmp(what, "open") && argc == 3)
		return open_library(argv[2]);
	if (!strcmp(what, "spawn") && argc > 3 && atoi(argv[2]) > 0 && atoi(argv[2]) <= MAX_ROUNDS)
		return spawn_child(atoi(argv[2]), argv + 3);
	if (!strcmp(what, "cpuid") && argc > 2)
		return count_cpuids(argv + 2);
	fputs("usage: process bare | open FILE | spawn N CMD... [-- CMD...] | cpuid CMD...\n",
	      stderr);
	return 2;
}
