/* SPDX-License-Identifier: MIT */
/* Sums of a region in one thread: found or made, added to by a visit, added to each other. */
#include <string.h>
#include "region/region.h"
#include "region/words.h"

/* ---- entries of a thread ----------------------------------------------------------------- */

static bool grow_pages(struct thread *t, unsigned page)
{
	unsigned n = t->n_pages ? t->n_pages : 4;
	struct node **bigger;

	while (n <= page)
		n *= 2;
	bigger = pfmi_arena_alloc(&t->arena, n * sizeof(*bigger));
	if (!bigger)
		return false;
	if (t->n_pages)
		memcpy(bigger, t->nodes, t->n_pages * sizeof(*bigger));
	t->nodes = bigger;
	t->n_pages = n;
	return true;
}

__attribute__((noinline, cold)) static struct node *make_node(struct thread *t, uint32_t region)
{
	unsigned page = region / NODES;

	if (page >= t->n_pages && !grow_pages(t, page))
		return NULL;
	if (!t->nodes[page])
		t->nodes[page] = pfmi_arena_alloc(&t->arena, NODES * sizeof(struct node));
	return t->nodes[page] ? &t->nodes[page][region % NODES] : NULL;
}

static struct node *node_of(struct thread *t, uint32_t region)
{
	unsigned page = region / NODES;

	return page < t->n_pages && t->nodes[page] ? &t->nodes[page][region % NODES]
	                                           : make_node(t, region);
}

__attribute__((noinline, cold)) static struct entry *make_entry(struct thread *t, struct node *node,
                                                                uint32_t region, uint32_t parent)
{
	struct entry *e = pfmi_arena_alloc(&t->arena, sizeof(*e) + pfmi_regions.layout.n_events *
	                                                                   sizeof(struct tally));

	if (!e)
		return NULL;
	e->region = region;
	e->parent = parent;
	e->other_parent = node->entries;
	node->entries = e;
	__atomic_store_n(t->last, e, __ATOMIC_RELEASE);
	t->last = &e->next;
	return e;
}

struct entry *pfmi_thread_entry(struct thread *t, uint32_t region, uint32_t parent,
                                struct node **node)
{
	*node = node_of(t, region);
	if (!*node)
		return NULL;
	for (struct entry *e = (*node)->entries; e; e = e->other_parent)
		if (e->parent == parent)
			return e;
	return make_entry(t, *node, region, parent);
}

/* ---- sums -------------------------------------------------------------------------------- */

/* Welford's method: the sum of squared deviations without cancellation. */
static void deviate(double *mean, double *m2, uint64_t n, double value)
{
	double d = value - *mean, m = *mean + d / (double)n, sum = *m2 + d * (value - m);

	region_store_words(mean, &m, sizeof(m));
	region_store_words(m2, &sum, sizeof(sum));
}

static void add_times(struct times *s, const struct visit *v)
{
	REGION_PUT(s->visits, s->visits + 1);
	REGION_ADD(s->exclusive, v->wall_exclusive);
	REGION_ADD(s->children, v->children);
	if (!v->outermost)
		return;
	REGION_PUT(s->outermost, s->outermost + 1);
	REGION_ADD(s->wall, v->wall);
	REGION_ADD(s->pairs, v->pairs);
	if (s->outermost == 1 || v->wall < s->min)
		REGION_PUT(s->min, v->wall);
	if (v->wall > s->max)
		REGION_PUT(s->max, v->wall);
	deviate(&s->mean, &s->m2, s->outermost, (double)v->wall);
}

static void add_count(struct tally *s, const struct visit *v, uint64_t inclusive,
                      uint64_t exclusive)
{
	REGION_PUT(s->exclusive_visits, s->exclusive_visits + 1);
	REGION_ADD(s->exclusive, exclusive);
	REGION_ADD(s->children, v->children);
	if (!v->outermost)
		return;
	REGION_PUT(s->visits, s->visits + 1);
	REGION_ADD(s->inclusive, inclusive);
	REGION_ADD(s->pairs, v->pairs);
	if (s->visits == 1 || inclusive < s->min)
		REGION_PUT(s->min, inclusive);
	if (inclusive > s->max)
		REGION_PUT(s->max, inclusive);
	deviate(&s->mean, &s->m2, s->visits, (double)inclusive);
}

/* Counts of word @w in the visits directly inside, including one that goes on. */
static uint64_t inside(const struct visit *v, unsigned w)
{
	return (v->inside ? v->inside[w] : 0) + (v->beyond ? v->now[w] - v->beyond[w] : 0);
}

bool pfmi_visit_has_group(const struct visit *v, const struct group *g)
{
	const uint64_t *start = v->start + g->word, *now = v->now + g->word;

	return start[GROUP_NR] == g->n && now[GROUP_NR] == g->n &&
	       now[GROUP_ENABLED] - start[GROUP_ENABLED] ==
	               now[GROUP_RUNNING] - start[GROUP_RUNNING];
}

static void add_group(struct entry *e, const struct visit *v, const struct group *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		unsigned w = g->word + GROUP_VALUES + i;
		uint64_t inclusive = v->now[w] - v->start[w];

		add_count(&e->tallies[g->events[i]], v, inclusive, inclusive - inside(v, w));
	}
}

/* The time that a task's events are enabled is the time that the task runs. */
static void add_task(struct times *s, const struct visit *v, const struct group *g)
{
	const uint64_t *start = v->start + g->word, *now = v->now + g->word;

	if (!v->outermost || g->n_system || start[GROUP_NR] != g->n || now[GROUP_NR] != g->n)
		return;
	REGION_ADD(s->task, now[GROUP_ENABLED] - start[GROUP_ENABLED]);
	REGION_PUT(s->task_visits, s->task_visits + 1);
}

void pfmi_entry_add(struct entry *e, const struct visit *v)
{
	const struct round *r = &pfmi_regions.layout.rounds[v->round];
	uint32_t sequence = e->sequence;

	__atomic_store_n(&e->sequence, sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	add_times(&e->times, v);
	for (unsigned i = 0; i < r->n && v->whole; i++) {
		if (i == 0)
			add_task(&e->times, v, &r->groups[i]);
		if (pfmi_visit_has_group(v, &r->groups[i]))
			add_group(e, v, &r->groups[i]);
	}
	__atomic_store_n(&e->sequence, sequence + 2, __ATOMIC_RELEASE);
}

/* ---- sums of sums ------------------------------------------------------------------------ */

/* Adds @n observations with mean @mean and @m2, the sum of their squared deviations, to those of
 * *@to_mean and *@to_m2. */
static void add_deviation(double *to_mean, double *to_m2, uint64_t to_n, double mean, double m2,
                          uint64_t n)
{
	double d = mean - *to_mean, all = (double)(to_n + n);

	if (!n)
		return;
	*to_mean += d * (double)n / all;
	*to_m2 += m2 + d * d * (double)to_n * (double)n / all;
}

void pfmi_region_add_times(struct times *to, const struct times *from)
{
	add_deviation(&to->mean, &to->m2, to->outermost, from->mean, from->m2, from->outermost);
	if (from->outermost && (!to->outermost || from->min < to->min))
		to->min = from->min;
	to->max = from->max > to->max ? from->max : to->max;
	to->visits += from->visits;
	to->outermost += from->outermost;
	to->wall += from->wall;
	to->exclusive += from->exclusive;
	to->pairs += from->pairs;
	to->children += from->children;
	to->task += from->task;
	to->task_visits += from->task_visits;
}

void pfmi_region_add_tally(struct tally *to, const struct tally *from)
{
	add_deviation(&to->mean, &to->m2, to->visits, from->mean, from->m2, from->visits);
	if (from->visits && (!to->visits || from->min < to->min))
		to->min = from->min;
	to->max = from->max > to->max ? from->max : to->max;
	to->inclusive += from->inclusive;
	to->exclusive += from->exclusive;
	to->visits += from->visits;
	to->exclusive_visits += from->exclusive_visits;
	to->pairs += from->pairs;
	to->children += from->children;
}
