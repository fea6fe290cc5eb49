/* SPDX-License-Identifier: MIT */
/* The program that pfm alpha device serves, between fork() and exec(). */
#ifndef PERFMON_ALPHA_SERVE_CHILD_H
#define PERFMON_ALPHA_SERVE_CHILD_H

#include <signal.h>

/* Exit statuses of shells. */
enum { CANNOT_RUN = 126, NOT_FOUND = 127, BY_SIGNAL = 128 };

/* Installs the filter, sends its descriptor or an error to socket @to, and executes @argv[0] with
 * the signal mask @mask. The filter ignores reads of descriptors below @first_descriptor. */
_Noreturn void run_program(int to, int first_descriptor, char *const argv[], const sigset_t *mask);
/* Receives the descriptor of the filter from the socket. Returns 0, or -errno of the program. */
int receive_listener(int from, int *fd);

#endif
