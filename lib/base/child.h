/* SPDX-License-Identifier: MIT */
/* A child process that waits before it executes its program, so that counters are open before the
 * program's first instruction. */
#ifndef PERFMON_BASE_CHILD_H
#define PERFMON_BASE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* {0}: no child yet. */
struct child {
	pid_t pid;       /* 0: none, or the caller has waited for it */
	bool is_waiting; /* the descriptors are open */
	int go[2];       /* pipe: a byte starts the program, closing it ends the child */
	/* pipe: delivers the processor time, then the errno of exec */
	int failure;
	/* nanoseconds of processor time from fork to just before exec, once the program runs */
	uint64_t time_before_exec;
};

/* Forks a child for @argv. Its program starts with the signal mask @mask; NULL: the caller's.
 * Returns 0 or an errno. */
int base_fork_child(char *const *argv, const sigset_t *mask, struct child *c);

/* Lets the child execute its program. Returns 0, or the errno of exec after waiting for the child's
 * end. If the child was killed before, its wait status reports that. */
int base_start_child(struct child *c);

/* Ends a child that still waits, and waits for any other one. */
void base_discard_child(struct child *c);

#endif
