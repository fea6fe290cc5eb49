/* SPDX-License-Identifier: MIT */
/* Functions that a program compiled while it ran: /tmp/perf-PID.map. */
#ifndef PFM_PERF_MAP_H
#define PFM_PERF_MAP_H

#include <stdint.h>

struct perf_map;

/* Reads the map of a process. NULL if this user and root have none, or without memory, which
 * symbols_starved() reports. */
struct perf_map *perf_map_open(uint32_t pid);
void perf_map_close(struct perf_map *map);
/* The function at @address, or NULL. */
const char *perf_map_at(const struct perf_map *map, uint64_t address);

#endif
