/* SPDX-License-Identifier: MIT */
/* Layout of a file of sums (perfmon_regions(5)). A process maps the file and adds its visits there,
 * so that the sums outlive it. All numbers have the byte order of the machine.
 *
 *     | header, 4096 bytes | chunk | chunk ...
 *
 * A chunk starts at a multiple of 4096, and of the machine's page, with its own header. A page of
 * 4096 bytes whose first word is 0, where a chunk would start, is unused. Chunks by kind:
 *
 *     CHUNK_EVENTS   events, groups and rounds, in one chunk of CHUNK_EVENTS (storage.c draws it)
 *     CHUNK_NAMES    names of regions: number, length, bytes, filled up to a multiple of 8
 *     CHUNK_SUMS     slots of header.slot_bytes, of one thread: header.private_bytes that only the
 *                    process uses, then struct entry from its member region on
 *     CHUNK_VISITS   visits one by one, of header.visit_bytes each, behind 16 private bytes
 *     CHUNK_UNDO     the sums of a slot before another slot is added to it
 *     CHUNK_FREE     nothing
 */
#ifndef PERFMON_REGION_STORAGE_H
#define PERFMON_REGION_STORAGE_H

#include <stdint.h>
#include "region/region.h"

#define REGION_FILE_MAGIC "PFMREGN\n"

enum {
	REGION_FILE_VERSION = 3,
	REGION_FILE_ORDER = 0x01020304,
	REGION_FILE_PAGE = 4096,
	REGION_PROGRAM_SIZE = 64,
	VISITS_PRIVATE_BYTES = 16
};

enum region_file_state { REGION_FILE_RUNNING, REGION_FILE_ENDED };

struct region_file_header {
	char magic[8];
	uint32_t version, order;
	uint32_t slot_bytes, private_bytes, visit_bytes;
	uint32_t flags;    /* PFM_REGIONS_* */
	int32_t pid, rank; /* rank: -1 if the environment has none */
	uint32_t state;
	uint32_t lost;       /* chunks that did not fit into the file */
	uint64_t start_time; /* of the process, as in proc_pid_stat(5) */
	uint64_t dropped;    /* visits beyond the limit of those kept one by one */
	double wall_inside, wall_pair, task_inside;
	uint64_t merge_target, merge_source; /* slots; target 0: no merge is in progress */
	uint64_t merges; /* number of merges, for readers of a running process */
	char program[REGION_PROGRAM_SIZE];
	struct uncertainty inside, pair; /* of the costs of the wall time */
};

enum region_chunk_kind {
	CHUNK_FREE = 1,
	CHUNK_EVENTS,
	CHUNK_NAMES,
	CHUNK_SUMS,
	CHUNK_VISITS,
	CHUNK_UNDO
};

struct region_chunk {
	uint32_t kind, bytes;
	int32_t tid;
	uint32_t n;    /* complete records */
	uint32_t used; /* bytes, this header included */
	uint32_t unmatched_region;
	uint64_t missed, unmatched; /* of the thread, in its last chunk */
	/* of the process alone */
	uint64_t offset; /* in the file; 0: the chunk is not in a file */
	union {
		struct region_chunk *next;
		uint64_t room;
	} own;
};

/* One event in CHUNK_EVENTS, behind the number of events and the length of their list. */
struct region_file_event {
	double scale, inside, pair;
	struct uncertainty of_inside, of_pair;
	int32_t quality, cause;
	uint32_t round, flags;            /* REGION_EVENT_* */
	uint32_t name, unit, why, remedy; /* lengths; the bytes follow */
};

enum { REGION_EVENT_COUNTABLE = 1, REGION_EVENT_SOFT = 2, REGION_EVENT_SYSTEM = 4 };

/* Checks of numbers in files: finite, not negative, and small enough for sums.
 * (lib/region/storage_events.c) */
bool pfmi_storage_is_cost(double value);
bool pfmi_storage_is_uncertainty(const struct uncertainty *u);

#endif
