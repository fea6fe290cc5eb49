/* SPDX-License-Identifier: MIT */
#ifndef PFM_EXPLAIN_QUEUE_H
#define PFM_EXPLAIN_QUEUE_H

#include <sys/types.h>

/* Seconds in which threads of process @pid and its descendants could run and had no CPU, by
 * /proc/PID/task/TID/schedstat: of those that exist now. */
double read_queue_time(pid_t pid);

#endif
