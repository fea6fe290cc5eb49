/* SPDX-License-Identifier: MIT */
/* Records of a recording, sorted by time. */
#ifndef PERFMON_PERFDATA_RECORD_SORTER_H
#define PERFMON_PERFDATA_RECORD_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pending_record {
	uint64_t time, sequence;
	size_t pool_offset, size;
};

/* The records from start to end of the list wait. */
struct record_queue {
	struct pending_record *list;
	size_t start, end, capacity;
};

struct record_sorter {
	uint8_t *pool; /* bytes of records that wait to be sorted */
	size_t pool_used, pool_capacity;
	struct record_queue in_order;   /* records not older than the one before them */
	struct pending_record *pending; /* a heap of the other records */
	size_t n_pending, pending_capacity;
	size_t n_live_bytes;  /* bytes of the pool that belong to waiting records */
	uint64_t ready_until; /* records up to this time may be returned ... */
	size_t n_forced;      /* ... and so many records of any time */
	bool has_ready_until;
	uint64_t next_sequence; /* orders records with equal times */
};

/* Copies a record after the others. It waits only after pfmi_perfdata_push_staged_record(); until
 * then the caller may change it. NULL without memory. */
uint8_t *pfmi_perfdata_stage_record(struct record_sorter *s, const uint8_t *bytes, size_t size);
/* Makes the staged record of @size bytes wait for its turn. Returns 0 or PFMLIB_ERR_NOMEM. */
int pfmi_perfdata_push_staged_record(struct record_sorter *s, uint64_t time, size_t size);
size_t pfmi_perfdata_count_pending_records(const struct record_sorter *s);
/* Permits returning records up to time @limit. Returns 1 if there are some. */
int pfmi_perfdata_release_records_until(struct record_sorter *s, uint64_t limit);
bool pfmi_perfdata_has_ready_record(const struct record_sorter *s);
/* Returns the oldest record; there must be one. It stays valid until
 * pfmi_perfdata_compact_pool(). */
const uint8_t *pfmi_perfdata_pop_record(struct record_sorter *s, size_t *size);
/* Moves the waiting records to a new pool once most of the pool is not needed any more. Returns 0
 * or PFMLIB_ERR_NOMEM. */
int pfmi_perfdata_compact_pool(struct record_sorter *s);
void pfmi_perfdata_free_sorter(struct record_sorter *s);

#endif
