/* SPDX-License-Identifier: MIT */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_CANNOT_EXECUTE = 127 };

/* Reads @n bytes in spite of signals. False if there are fewer. */
static bool read_bytes(int fd, void *to, size_t n)
{
	ssize_t got;

	do
		got = read(fd, to, n);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)n;
}

/* The processor time of this process in nanoseconds; 0: unknown. */
static uint64_t get_processor_time(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void write_bytes(int fd, const void *from, size_t n)
{
	while (write(fd, from, n) < 0 && errno == EINTR)
		;
}

/* Does what follows the start once without effect, and reports that the child waits. The start then
 * finds its pages in memory, and events that are on before it count no page fault of it. "." is a
 * folder in each folder of PATH: the search for it executes nothing. */
static void rehearse_start(int failure)
{
	volatile char stack[2 * 4096];
	char *const none[] = { NULL };
	sigset_t mask;

	for (size_t i = 0; i < sizeof(stack); i += 1024)
		stack[i] = 0;
	(void)get_processor_time();
	sigprocmask(SIG_SETMASK, NULL, &mask);
	execvp(".", none);
	write_bytes(failure, "", 1);
}

/* Runs in the child, which may only call functions that are safe after a fork of a program with
 * threads. */
static _Noreturn void run_program(char *const *argv, const sigset_t *mask, int go, int failure)
{
	uint64_t time;
	char byte;
	int err;

	rehearse_start(failure);
	if (!read_bytes(go, &byte, 1))
		_exit(0);
	if (mask)
		sigprocmask(SIG_SETMASK, mask, NULL);
	time = get_processor_time();
	write_bytes(failure, &time, sizeof(time));
	execvp(argv[0], argv);
	err = errno;
	write_bytes(failure, &err, sizeof(err));
	_exit(EXIT_CANNOT_EXECUTE);
}

static void close_pair(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

int base_fork_child(char *const *argv, const sigset_t *mask, struct child *c)
{
	int failure[2], err;
	char ready;

	*c = (struct child){ .pid = 0 };
	if (pipe2(c->go, O_CLOEXEC))
		return errno;
	if (pipe2(failure, O_CLOEXEC)) {
		err = errno;
		close_pair(c->go);
		return err;
	}
	c->pid = fork();
	err = errno;
	if (c->pid == 0) {
		close(c->go[1]);
		run_program(argv, mask, c->go[0], failure[1]);
	}
	close(failure[1]);
	c->failure = failure[0];
	c->is_waiting = c->pid > 0;
	if (c->is_waiting) {
		(void)read_bytes(c->failure, &ready, 1);
		return 0;
	}
	close_pair(c->go);
	close(c->failure);
	c->pid = 0;
	return err;
}

static void wait_for_end(struct child *c)
{
	while (c->pid > 0 && waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}

/* The caller's reading end of the pipe is open until here: writing to a child that was killed
 * raises no SIGPIPE. */
int base_start_child(struct child *c)
{
	int err = 0;

	write_bytes(c->go[1], "", 1);
	close_pair(c->go);
	if (!read_bytes(c->failure, &c->time_before_exec, sizeof(c->time_before_exec)))
		c->time_before_exec = 0;
	else if (!read_bytes(c->failure, &err, sizeof(err)))
		err = 0;
	close(c->failure);
	c->is_waiting = false;
	if (err)
		wait_for_end(c);
	return err;
}

void base_discard_child(struct child *c)
{
	if (c->is_waiting) {
		close_pair(c->go);
		close(c->failure);
	}
	c->is_waiting = false;
	wait_for_end(c);
}
