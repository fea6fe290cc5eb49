/* SPDX-License-Identifier: MIT */
/* Counts of several events at the places of a profile. A group that its leader samples gives one
 * record for each member, all with the leader's time; what they count falls into the same batch, so
 * that batches show how the events vary together. */
#include "profile/tree/event_counts.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

static size_t get_block_size(const struct event_counts *c)
{
	return (size_t)c->n_events * (1 + COUNT_BATCHES);
}

static double *get_block(const struct event_counts *c, uint32_t block)
{
	return c->blocks + (block - 1) * get_block_size(c);
}

static double *get_event_batches(const struct event_counts *c, uint32_t block, uint32_t event)
{
	return get_block(c, block) + c->n_events + (size_t)event * COUNT_BATCHES;
}

bool event_counts_init(struct event_counts *c, unsigned n)
{
	*c = (struct event_counts){ .n_events = n,
		                    .leader = calloc(n + 1, sizeof(*c->leader)),
		                    .enabled = calloc(n + 1, sizeof(*c->enabled)),
		                    .running = calloc(n + 1, sizeof(*c->running)),
		                    .enabled_in_tasks = calloc(n + 1, sizeof(*c->enabled_in_tasks)),
		                    .recorded = calloc(n + 1, sizeof(*c->recorded)),
		                    .added = calloc(n + 1, sizeof(*c->added)),
		                    .is_inherited = calloc(n + 1, sizeof(*c->is_inherited)),
		                    .is_of_cpus = calloc(n + 1, sizeof(*c->is_of_cpus)) };
	for (unsigned i = 0; c->leader && i < n; i++)
		c->leader[i] = i;
	return c->leader && c->enabled && c->running && c->enabled_in_tasks && c->recorded &&
	       c->added && c->is_inherited && c->is_of_cpus;
}

void event_counts_free(struct event_counts *c)
{
	free(c->blocks);
	free(c->leader);
	free(c->enabled);
	free(c->running);
	free(c->enabled_in_tasks);
	free(c->recorded);
	free(c->added);
	free(c->is_inherited);
	free(c->is_of_cpus);
	free(c->times);
	pfmi_base_free_hash(&c->time_table);
}

/* ---- groups ---------------------------------------------------------------------------------- */

struct times_search {
	const struct group_times *list;
	uint64_t id;
	uint32_t tid;
};

static bool is_same_group(const void *arg, uint32_t i)
{
	const struct times_search *s = arg;

	return s->list[i].id == s->id && s->list[i].tid == s->tid;
}

/* The times of group @id in task @tid, 0 at first. @sampled_tid: the task of the sample. NULL
 * without memory. */
static struct group_times *find_or_add_times(struct event_counts *c, uint64_t id, uint32_t tid,
                                             uint32_t sampled_tid)
{
	const struct times_search search = { c->times, id, tid };
	const uint64_t key[] = { id, tid };
	uint64_t hash = pfmi_base_hash_bytes(key, sizeof(key));
	uint32_t at = pfmi_base_find_hash(&c->time_table, hash, is_same_group, &search);
	bool failed = false;

	if (at != HASH_NOT_FOUND)
		return &c->times[at];
	c->times = base_grow_list(c->times, c->n_times, &c->times_capacity, sizeof(*c->times),
	                          &failed);
	if (failed || !pfmi_base_add_hash(&c->time_table, hash, (uint32_t)c->n_times))
		return NULL;
	c->times[c->n_times] =
		(struct group_times){ .id = id, .tid = tid, .sampled_tid = sampled_tid };
	return &c->times[c->n_times++];
}

/* Returns the nanoseconds since *@last, which becomes @now; 0 if the clock started again. */
static double get_time_since(uint64_t *last, uint64_t now)
{
	uint64_t since = now >= *last ? now - *last : 0;

	*last = now;
	return (double)since;
}

/* Adds the times since the last sample of the group. What begins anew starts from 0.
 *
 * A kernel event that is not inherited and is sampled in several tasks counts all that a CPU runs.
 * The others count in tasks: each has a kernel event for each CPU, all are enabled at once, and
 * each runs while the task is on its CPU. */
static bool add_times(struct event_counts *c, const pfm_record_t *record, uint32_t event)
{
	const uint64_t both = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	const pfm_sample_t *s = &record->body.sample;
	struct group_times *last;

	if (!(record->has & PFM_SAMPLE_READ) || (s->read_format & both) != both || s->n_read < 3)
		return true;
	last = find_or_add_times(c, record->id, c->is_inherited[event] ? record->tid : 0,
	                         record->tid);
	if (!last)
		return false;
	c->is_of_cpus[event] |= last->sampled_tid != record->tid;
	c->running[event] += get_time_since(&last->running, s->read[2]);
	c->enabled[event] += get_time_since(&last->enabled, s->read[1]);
	last = find_or_add_times(c, ~(uint64_t)event, record->tid, record->tid);
	if (!last)
		return false;
	c->enabled_in_tasks[event] += get_time_since(&last->enabled, s->read[1]);
	return true;
}

bool event_counts_read_record(struct event_counts *c, const pfm_record_t *record, uint32_t event,
                              bool *is_leader)
{
	*is_leader = !(record->has & PFM_SAMPLE_READ) || !record->raw ||
	             record->raw != c->last_raw || record->time != c->last_time;
	if (!*is_leader) {
		c->leader[event] = c->last_leader;
		return true;
	}
	c->last_raw = record->raw;
	c->last_time = record->time;
	c->last_leader = event;
	c->recorded[event]++;
	return add_times(c, record, event);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Creates a block of zeros; 0 without memory. */
static uint32_t create_block(struct event_counts *c)
{
	size_t size = get_block_size(c) * sizeof(*c->blocks);
	bool failed = false;

	c->blocks = base_grow_list(c->blocks, c->n_blocks, &c->capacity, size, &failed);
	if (failed)
		return 0;
	c->n_blocks++;
	memset(get_block(c, (uint32_t)c->n_blocks), 0, size);
	return (uint32_t)c->n_blocks;
}

/* Maps a time to a batch. Neighbours fall into different batches as if by chance, and equally in
 * every run. */
static unsigned choose_batch(uint64_t time)
{
	return (unsigned)(time * 0x9e3779b97f4a7c15u >> 60) % COUNT_BATCHES;
}

bool event_counts_add(struct event_counts *c, uint32_t *block, uint32_t event, uint64_t time,
                      uint64_t count)
{
	if (!*block)
		*block = create_block(c);
	if (!*block)
		return false;
	get_block(c, *block)[event]++;
	c->added[event]++;
	get_event_batches(c, *block, event)[choose_batch(time)] += (double)count;
	return true;
}

bool event_counts_merge(struct event_counts *c, uint32_t from, uint32_t *to)
{
	if (!from)
		return true;
	if (!*to)
		*to = create_block(c);
	for (size_t i = 0; *to && i < get_block_size(c); i++)
		get_block(c, *to)[i] += get_block(c, from)[i];
	return *to;
}

double event_counts_get_samples(const struct event_counts *c, uint32_t block, uint32_t event)
{
	return block ? get_block(c, block)[c->leader[event]] : 0;
}

double event_counts_get_value(const struct event_counts *c, uint32_t block, uint32_t event,
                              unsigned batch)
{
	uint32_t leader = c->leader[event];
	double enabled = c->is_of_cpus[leader] ? c->enabled[leader] : c->enabled_in_tasks[leader];
	double scale = c->running[leader] > 0 ? enabled / c->running[leader] : 1;

	return block ? scale * get_event_batches(c, block, event)[batch] : 0;
}

/* The standard error of a sum of @n of @all samples, as a part of what it is if the others are
 * unknown. The two ends of the recording are within a period, each sample having an equal chance.
 */
static double compute_error_scale(double n, double all)
{
	double share = all > 0 ? n / all : 0;

	return n > 0 ? sqrt((share < 1 ? 1 - share : 0) + 1 / (12 * n)) : 1;
}

void event_counts_get_repetitions(const struct event_counts *c, uint32_t block, uint32_t event,
                                  double values[COUNT_BATCHES])
{
	uint32_t leader = c->leader[event];
	double mean = 0, scale = 1;

	if (c->running[leader] >= c->enabled[leader]) /* counted all the time */
		scale = compute_error_scale(event_counts_get_samples(c, block, event),
		                            (double)c->recorded[leader]);
	for (unsigned b = 0; b < COUNT_BATCHES; b++) {
		values[b] = COUNT_BATCHES * event_counts_get_value(c, block, event, b);
		mean += values[b] / COUNT_BATCHES;
	}
	for (unsigned b = 0; b < COUNT_BATCHES; b++)
		values[b] = mean + scale * (values[b] - mean);
}
