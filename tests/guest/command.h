/* SPDX-License-Identifier: MIT */
/* Runs pfm in a guest and keeps its output. Included once by each program. */
#ifndef PERFMON_TESTS_GUEST_COMMAND_H
#define PERFMON_TESTS_GUEST_COMMAND_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* The output of the last RUN(). The report of all events is the longest. */
static char said[4 << 20];

/* Starts pfm with both outputs in @fd; returns its process ID. */
static inline pid_t start_pfm(const char *const *words, int fd)
{
	pid_t pid = fork();

	if (pid == 0) {
		dup2(fd, 1);
		dup2(fd, 2);
		execv("/pfm", (char *const *)(uintptr_t)words);
		_exit(127);
	}
	return pid;
}

/* Runs pfm and keeps its output; returns its exit status. */
static inline int run_pfm(const char *const *words)
{
	int status = -1, fd = open("/tmp/said", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t n;

	waitpid(start_pfm(words, fd), &status, 0);
	n = pread(fd, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	close(fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define RUN(...) run_pfm((const char *const[]){ "pfm", __VA_ARGS__, NULL })

#endif
