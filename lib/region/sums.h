/* SPDX-License-Identifier: MIT */
/* What a thread adds up for each visit. Inline and in straight code: begin and end of a small
 * region cost what is executed here. Whatever a division or a look at the sums can give later is
 * computed when results are read (entry.c).
 *
 *     sums:   | round 0                          | round 1 ...
 *             | round_sums | group 0   | group 1 | round_sums ...
 *                          | visit_sums of visits in which the group was not counted
 *                          | a span for each event
 */
#ifndef PERFMON_REGION_SUMS_H
#define PERFMON_REGION_SUMS_H

#include "region/region.h"
#include "region/words.h"

#define REGION_RARE(X)   __builtin_expect(!!(X), 0)
#define REGION_INLINE    static inline __attribute__((always_inline))
#define REGION_COLD_PART static __attribute__((noinline, cold))

static inline struct round_sums *sums_of_round(const struct entry *e, const struct round *r)
{
	return (struct round_sums *)(uintptr_t)(e->sums + r->sums);
}

static inline struct visit_sums *sums_without_group(const struct entry *e, const struct group *g)
{
	return (struct visit_sums *)(uintptr_t)(e->sums + g->sums);
}

static inline struct span *spans_of_group(const struct entry *e, const struct group *g)
{
	return (struct span *)(sums_without_group(e, g) + 1);
}

/* @a times @b in 128 bits. */
REGION_INLINE uint64_t multiply(uint64_t a, uint64_t b, uint64_t *high)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)a * b;

	*high = (uint64_t)(product >> 64);
	return (uint64_t)product;
#else
	uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)middle;

	*high = a1 * b1 + (middle >> 32) + (other >> 32);
	return other << 32 | (uint32_t)low;
#endif
}

/* Adds @value of an outermost visit. */
REGION_INLINE void add_to_span(struct span *s, uint64_t value)
{
	uint64_t high, low = multiply(value, value, &high), sum;

	REGION_ADD(s->inclusive, value);
	if (value < s->min)
		REGION_PUT(s->min, value);
	if (value > s->max)
		REGION_PUT(s->max, value);
	high += __builtin_add_overflow(s->square_low, low, &sum);
	REGION_PUT(s->square_low, sum);
	REGION_ADD(s->square, high);
}

/* Adds @value of any visit. */
REGION_INLINE void add_value(struct span *s, uint64_t value, const struct visit *v)
{
	if (REGION_RARE(!v->outermost))
		REGION_ADD(s->nested, value);
	else
		add_to_span(s, value);
}

REGION_INLINE void add_visit_sums(struct visit_sums *s, const struct visit *v)
{
	REGION_ADD(s->visits, 1);
	if (REGION_RARE(!v->outermost))
		REGION_ADD(s->nested, 1);
	if (!v->children)
		return;
	REGION_ADD(s->children, v->children);
	if (v->outermost)
		REGION_ADD(s->pairs, v->pairs);
}

REGION_INLINE bool visit_has_group(const struct visit *v, const struct group *g)
{
	const uint64_t *start = v->start + g->word, *now = v->now + g->word;

	return start[GROUP_NR] == g->n && now[GROUP_NR] == g->n &&
	       now[GROUP_ENABLED] - start[GROUP_ENABLED] ==
	               now[GROUP_RUNNING] - start[GROUP_RUNNING];
}

/* Counts of @v in the visits directly inside, including one that goes on. */
REGION_INLINE void add_inside(struct span *spans, const struct group *g, const struct visit *v)
{
	for (unsigned i = 0; i < g->n; i++) {
		unsigned w = g->word + GROUP_VALUES + i;
		uint64_t inside = v->inside ? v->inside[w] : 0;

		if (v->beyond)
			inside += v->now[w] - v->beyond[w];
		REGION_ADD(spans[i].inside, inside);
	}
}

REGION_INLINE void add_group(struct entry *e, const struct visit *v, const struct group *g)
{
	struct span *spans = spans_of_group(e, g);
	const uint64_t *start = v->start + g->word + GROUP_VALUES,
		       *now = v->now + g->word + GROUP_VALUES;

	for (unsigned i = 0; i < g->n; i++)
		add_value(&spans[i], now[i] - start[i], v);
	if (v->inside || v->beyond)
		add_inside(spans, g, v);
}

/* The time that a task's events are enabled is the time that the task runs. */
REGION_INLINE void add_task(struct round_sums *s, const struct visit *v, const struct group *g)
{
	const uint64_t *start = v->start + g->word, *now = v->now + g->word;

	if (!v->outermost || g->n_system || start[GROUP_NR] != g->n || now[GROUP_NR] != g->n)
		return;
	REGION_ADD(s->task, now[GROUP_ENABLED] - start[GROUP_ENABLED]);
	REGION_ADD(s->task_visits, 1);
}

/* Adds @v to the sums of @e, which the calling thread owns. */
REGION_INLINE void add_visit(struct entry *e, const struct visit *v)
{
	const struct round *r = &pfmi_regions.layout.rounds[v->round];
	struct round_sums *s = sums_of_round(e, r);
	uint32_t sequence = e->sequence;

	__atomic_store_n(&e->sequence, sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	add_visit_sums(&s->visits, v);
	add_value(&e->wall, v->wall, v);
	if (v->wall_inside)
		REGION_ADD(e->wall.inside, v->wall_inside);
	if (v->whole && r->n)
		add_task(s, v, &r->groups[0]);
	for (unsigned i = 0; i < r->n; i++)
		if (v->whole && visit_has_group(v, &r->groups[i]))
			add_group(e, v, &r->groups[i]);
		else
			add_visit_sums(sums_without_group(e, &r->groups[i]), v);
	__atomic_store_n(&e->sequence, sequence + 2, __ATOMIC_RELEASE);
}

#endif
