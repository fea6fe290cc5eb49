/* SPDX-License-Identifier: MIT */
/* Counts instructions:u of fifty programs (programs.c) by the PMU of the guest, from their
 * execution on, and prints them. */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRAMS = 50 };

static int open_instructions(pid_t pid)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
		                        .size = sizeof(attr),
		                        .config = PERF_COUNT_HW_INSTRUCTIONS,
		                        .disabled = 1,
		                        .enable_on_exec = 1,
		                        .exclude_kernel = 1,
		                        .exclude_hv = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0);
}

/* Executes program @number once the other end of @gate is closed. */
static _Noreturn void execute(unsigned number, const int gate[2])
{
	char text[12], byte, *argv[] = { "/programs", text, NULL };
	char *environment[] = { "LC_ALL=C", NULL };

	close(gate[1]);
	snprintf(text, sizeof(text), "%u", number);
	if (read(gate[0], &byte, 1) == 0)
		execve(argv[0], argv, environment);
	_exit(127);
}

/* Prints the count of program @number. False on a failure. */
static int count_program(unsigned number)
{
	int gate[2], status = 1, fd;
	uint64_t value = 0;
	pid_t pid;

	if (pipe(gate))
		return 0;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		execute(number, gate);
	fd = open_instructions(pid);
	close(gate[0]);
	close(gate[1]);
	waitpid(pid, &status, 0);
	if (fd < 0 || read(fd, &value, sizeof(value)) != (long)sizeof(value))
		status = 1;
	close(fd);
	printf("# program %u: %llu instructions\n", number, (unsigned long long)value);
	return status == 0;
}

int main(void)
{
	int counted = 1;

	puts("TAP version 13\n1..1");
	for (unsigned i = 0; i < PROGRAMS; i++)
		counted &= count_program(i);
	printf("%sok 1 - programs are counted\n", counted ? "" : "not ");
	return !counted;
}
