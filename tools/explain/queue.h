/* SPDX-License-Identifier: MIT */
#ifndef PFM_EXPLAIN_QUEUE_H
#define PFM_EXPLAIN_QUEUE_H

#include <sys/types.h>

/* Seconds in which threads of process @pid and its descendants could run and had no CPU, by
 * /proc/PID/task/TID/schedstat: of those that exist now. */
double read_queue_time(pid_t pid);
/* The number of threads of process @pid and its descendants that wait for a lock now, by
 * /proc/PID/task/TID/syscall: in futex(2) for the value that the locks of the C library have while
 * threads wait for them. 0 if the system does not tell. */
double count_lock_waiters(pid_t pid);

#endif
