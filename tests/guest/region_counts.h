/* SPDX-License-Identifier: MIT */
/* Regions on a PMU that counts exactly: part of guest_session. */
#ifndef PERFMON_GUEST_REGION_COUNTS_H
#define PERFMON_GUEST_REGION_COUNTS_H

#include <stdbool.h>

typedef void (*check_function)(bool ok, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Counts instructions of known loops in regions; @user_reads: user space reads the counters. */
void check_region_counts(check_function check, bool user_reads);
/* Counts the comma-separated @events of instructions of many visits, more than fit at once. */
void check_region_turns(check_function check, const char *events);
/* Counts known page faults in regions of several threads, on a machine without a PMU. */
void check_region_faults(check_function check);

#endif
