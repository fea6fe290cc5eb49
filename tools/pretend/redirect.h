/* SPDX-License-Identifier: MIT */
/* Calls that a client executes with other arguments: seccomp can answer a call, or let the kernel
 * execute it as it is. */
#ifndef PFM_PRETEND_REDIRECT_H
#define PFM_PRETEND_REDIRECT_H

#include <stdbool.h>
#include <stdint.h>

struct call;

/* A thread that is stopped by ptrace(2) after its call was answered. */
struct stopped_client {
	int tid, signal; /* a signal that arrived meanwhile */
};

/* True if the client's architecture is known. */
bool can_redirect(void);
/* Stops the thread of @call, which gets an answer. Returns 0 or -errno. */
int stop_client(const struct call *call, struct stopped_client *c);
/* Executes system call @number in the thread. Returns its result, or -errno if the thread is gone.
 */
int64_t call_in_client(struct stopped_client *c, long number, const uint64_t args[6]);
/* Lets the thread go on after its call, which returns @result. */
void release_client(struct stopped_client *c, int64_t result);

#endif
