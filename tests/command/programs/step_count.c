/* SPDX-License-Identifier: MIT */
/* step_count PROGRAM: executes a program by single steps, and prints how many instructions it
 * completed and the signal that ended it, or 0. An instruction that faults is not completed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Continues for one instruction with @signal, which the program gets. Returns the signal of the
 * next stop; 0 if the program has ended, with its @status. */
static int step(pid_t pid, int signal, int *status)
{
	union {
		intptr_t number;
		void *pointer;
	} data = { .number = signal };

	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, data.pointer) || waitpid(pid, status, 0) < 0)
		exit(2);
	return WIFSTOPPED(*status) ? WSTOPSIG(*status) : 0;
}

int main(int argc, char **argv)
{
	unsigned long n = 0;
	int status, signal = 0, next;
	const pid_t pid = argc > 1 ? fork() : -1;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return 2;
	/* The end of execve(2) is a stop, and so is the beginning of a signal's handler: neither
	 * follows an instruction. */
	while ((next = step(pid, signal, &status))) {
		n += next == SIGTRAP && !signal;
		signal = next == SIGTRAP ? 0 : next;
	}
	/* The system call that ends the program has no stop after it. */
	n += WIFEXITED(status);
	printf("%lu %d\n", n, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return 0;
}
