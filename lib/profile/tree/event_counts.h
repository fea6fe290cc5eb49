/* SPDX-License-Identifier: MIT */
/* Counts of several events at the places of a profile, from which metrics are computed. */
#ifndef PFM_EVENT_COUNTS_H
#define PFM_EVENT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <perfmon/sampling.h>
#include "base/hash.h"

/* Samples fall into batches by their time. The differences between batches give the error of a
 * metric. Each batch costs 8 bytes for every place and event. */
enum { COUNT_BATCHES = 16 };

/* The times at the last sample of a kernel event, or of all those that count in one task. */
struct group_times {
	uint64_t id;
	uint32_t tid;
	uint64_t enabled, running;
	uint32_t sampled_tid; /* the first task that was sampled */
};

struct event_counts {
	unsigned n_events;
	double *blocks; /* of each place: samples of each event, then its counts in each batch */
	size_t n_blocks, capacity;
	uint32_t *leader; /* of each event: the event whose samples count it */
	/* nanoseconds of each event's group, 0 if they are unknown: of all its kernel events, and
	 * of its tasks, in each of which they are enabled at once */
	double *running, *enabled, *enabled_in_tasks;
	/* of each event, of a leader for all its group: samples in the recording, and those of them
	 * that were added to places */
	uint64_t *recorded, *added;
	bool *is_inherited; /* of each event: every task has counts of its own */
	bool *is_of_cpus;   /* of each event: it counts all that a CPU runs */
	struct group_times *times;
	size_t n_times, times_capacity;
	struct hash_table time_table;
	const void *last_raw; /* the last sample, whose group the next record may belong to */
	uint64_t last_time;
	uint32_t last_leader;
};

/* Room for the counts of @n events. False without memory. */
bool event_counts_init(struct event_counts *c, unsigned n);
void event_counts_free(struct event_counts *c);
/* Notes the group of sample @record of event @event. *@is_leader: it is a sample of its own, rather
 * than the count of a member of the last record's group. False without memory. */
bool event_counts_read_record(struct event_counts *c, const pfm_record_t *record, uint32_t event,
                              bool *is_leader);
/* Adds @count events of @event at @time to the place whose block is *@block; 0: it has no block,
 * and gets one. False without memory. */
bool event_counts_add(struct event_counts *c, uint32_t *block, uint32_t event, uint64_t time,
                      uint64_t count);
/* Adds block @from, which may be 0, to block *@to, which is made if it is 0. False without
 * memory. */
bool event_counts_merge(struct event_counts *c, uint32_t from, uint32_t *to);
/* Samples that counted @event at the place with @block. */
double event_counts_get_samples(const struct event_counts *c, uint32_t block, uint32_t event);
/* Counts of @event, had all batches been as each is. The recording is counted from its beginning to
 * its end, so that the batches of a place with all samples differ without an error of their sum:
 * they are nearer to their mean then. */
void event_counts_get_repetitions(const struct event_counts *c, uint32_t block, uint32_t event,
                                  double values[COUNT_BATCHES]);
/* Counts of @event in batch @batch, extrapolated to the time in which its group was off the
 * counters. */
double event_counts_get_value(const struct event_counts *c, uint32_t block, uint32_t event,
                              unsigned batch);

#endif
