/* SPDX-License-Identifier: MIT */
/* Sums that a thread adds each visit to. Inline and in straight code: begin and end of a small
 * region cost what is executed here. Whatever a division or a look at the sums can give later is
 * computed when results are read (entry.c).
 *
 *     sums:   | round 0                          | round 1 ...
 *             | visit_sums | group 0                                  | group 1 | visit_sums ...
 *                          | group_sums and a span for each event
 */
#ifndef PERFMON_REGION_SUMS_H
#define PERFMON_REGION_SUMS_H

#include "region/region.h"
#include "region/words.h"

#define REGION_UNLIKELY(X) __builtin_expect(!!(X), 0)
#define REGION_INLINE      static inline __attribute__((always_inline))
#define REGION_COLD_PART   static __attribute__((noinline, cold))

static inline struct visit_sums *get_round_sums(const struct entry *e, const struct round *r)
{
	return (struct visit_sums *)(uintptr_t)(e->sums + r->sums);
}

static inline struct group_sums *get_group_sums(const struct entry *e, const struct group *g)
{
	return (struct group_sums *)(uintptr_t)(e->sums + g->sums);
}

static inline struct span *get_group_spans(const struct entry *e, const struct group *g)
{
	return (struct span *)(get_group_sums(e, g) + 1);
}

/* Adds @a times @b to @to. */
REGION_INLINE void add_product(struct wide *to, uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 sum =
		((unsigned __int128)to->high << 64 | to->low) + (unsigned __int128)a * b;

	REGION_PUT(to->low, (uint64_t)sum);
	REGION_PUT(to->high, (uint64_t)(sum >> 64));
#else
	uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t first = a0 * b0, middle = a1 * b0 + (first >> 32), other;
	uint64_t more, sum;

	other = a0 * b1 + (uint32_t)middle;
	more = a1 * b1 + (middle >> 32) + (other >> 32);
	more += __builtin_add_overflow(to->low, other << 32 | (uint32_t)first, &sum);
	REGION_PUT(to->low, sum);
	REGION_ADD(to->high, more);
#endif
}

/* Adds @value of an outermost visit. @cost: what begin and end of the visits inside have
 * counted. */
REGION_INLINE void add_to_span(struct span *s, uint64_t value, uint64_t cost)
{
	REGION_ADD(s->inclusive, value);
	if (cost)
		REGION_ADD(s->cost, cost);
	value -= cost;
	if (value < s->min)
		REGION_PUT(s->min, value);
	if (value > s->max)
		REGION_PUT(s->max, value);
	add_product(&s->squares, value, value);
}

REGION_INLINE void begin_sums(struct entry *e)
{
	__atomic_store_n(&e->sequence, e->sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

REGION_INLINE void end_sums(struct entry *e)
{
	__atomic_store_n(&e->sequence, e->sequence + 1, __ATOMIC_RELEASE);
}

/* Adds a visit that is outermost, has none inside, and was counted completely, as nearly all visits
 * are. This case alone saves a third of the instructions of begin and end. @g is a group, @start
 * and @now are readings. */
REGION_INLINE bool add_plain_group(struct entry *e, const struct group *g, const uint64_t *start,
                                   const uint64_t *now)
{
	struct group_sums *s = get_group_sums(e, g);
	struct span *span = (struct span *)(s + 1);
	uint64_t task = now[GROUP_ENABLED] - start[GROUP_ENABLED];

	if (REGION_UNLIKELY(start[GROUP_NR] != g->n || now[GROUP_NR] != g->n ||
	                    task != now[GROUP_RUNNING] - start[GROUP_RUNNING]))
		return false;
	REGION_ADD(s->task, task);
	start += GROUP_VALUES;
	now += GROUP_VALUES;
	for (const uint64_t *end = start + g->n; start < end; span++)
		add_to_span(span, *now++ - *start++, 0);
	return true;
}

#endif
