/* SPDX-License-Identifier: MIT */
/* Functions that programs compiled while they ran: /tmp/perf-PID.map, and dumps of compilers. */
#ifndef PFM_PERF_MAP_H
#define PFM_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct perf_map;
struct profile_messages;
struct trust;

/* Functions that all processes compiled. All zeros is empty. */
struct perf_maps {
	struct hash_table table;
	struct perf_map **list;
	uint32_t n;
	size_t capacity;
	const struct trust *trust; /* NULL: of running processes */
	struct profile_messages *messages;
	const char *store; /* the folder beside the recording, with maps and dumps; NULL: none */
};

/* Notes that process @pid has mapped the file at @path, which is a compiler's dump if it is called
 * jit-PID.dump: compilers map it to tell. */
void perf_maps_note_mapping(struct perf_maps *maps, uint32_t pid, const char *path);

/**
 * Find the function of process @pid at @address.
 *
 * Reads the dump that was seen and the map of the process when it is first asked for; maps that
 * neither the user of the process nor root owns are ignored (trust.h). A process of another PID
 * namespace has written its map with its own number into its own /tmp: that one is read as long as
 * the process runs.
 *
 * Returns NULL if neither names the address.
 */
const char *perf_maps_find(struct perf_maps *maps, uint32_t pid, uint64_t address);

void perf_maps_free(struct perf_maps *maps);

#endif
