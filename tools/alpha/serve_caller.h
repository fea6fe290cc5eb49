/* SPDX-License-Identifier: MIT */
/* The process that makes a request to the served device: its memory and its status. */
#ifndef PERFMON_ALPHA_SERVE_CALLER_H
#define PERFMON_ALPHA_SERVE_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Copies @n bytes from address @there of process @pid to @here, or to it if @out. Returns 0 or
 * -EFAULT. */
int copy_caller_memory(pid_t pid, uint64_t there, void *here, size_t n, bool out);
/* The functions of a struct alpha_device_memory whose argument is a pid_t. */
int read_caller_memory(void *arg, uint64_t from, void *to, size_t n);
int write_caller_memory(void *arg, uint64_t to, const void *from, size_t n);
/* True if the text at @at is the device's path. */
bool is_device_path(pid_t pid, uint64_t at);

struct caller {
	int pid, parent;
	unsigned uid;
};

/* Reads the status of task @task. False if it has ended. */
bool read_caller_status(pid_t task, struct caller *out);

#endif
