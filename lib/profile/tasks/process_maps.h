/* SPDX-License-Identifier: MIT */
/* Mappings of a process that runs. */
#ifndef PERFMON_PROFILE_PROCESS_MAPS_H
#define PERFMON_PROFILE_PROCESS_MAPS_H

#include <stdint.h>

/* Executable bytes [start, end), which hold the file @name from @offset on. */
struct process_mapping {
	uint64_t start, end, offset;
	const char *name; /* valid during the call */
};

/* Calls @add for each executable mapping of /proc/PID/maps that has a name. */
void read_process_maps(uint32_t pid, void (*add)(void *arg, const struct process_mapping *m),
                       void *arg);

#endif
