/* SPDX-License-Identifier: MIT */
/* Sums of a region in one thread: creates them, adds visits and other sums to them, and computes
 * results from them. */
#include <string.h>
#include "region/region.h"
#include "region/sums.h"

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

__attribute__((noinline, cold)) static struct entry *make_entry(struct thread *t, struct node *node,
                                                                uint32_t region, uint32_t parent,
                                                                struct entry **place)
{
	struct entry *e = pfmi_storage_alloc_slot(t, pfmi_entry_get_size(&pfmi_regions.layout));

	if (!e)
		return NULL;
	pfmi_entry_clear(e);
	e->node = node;
	e->region = region;
	e->parent = parent;
	e->threads = 1;
	pfmi_storage_commit_slot(t);
	*place = e;
	__atomic_store_n(t->last, e, __ATOMIC_RELEASE);
	t->last = &e->next;
	return e;
}

/* Where the entry under @parent is, or belongs. A region can be visited under thousands of parents:
 * each step from @place chooses by two more bits of a hash. Parents with different numbers have
 * different hashes, because the factor is odd, so that a search takes at most 17 steps. */
static struct entry **find_place(struct entry **place, uint32_t parent)
{
	uint32_t hash = parent * 0x9e3779b9u;

	for (; *place && (*place)->parent != parent; hash <<= 2)
		place = &(*place)->others[hash >> 30];
	return place;
}

struct entry *pfmi_thread_find_or_make_entry(struct thread *t, uint32_t region, uint32_t parent,
                                             struct node **node)
{
	struct entry **place;

	*node = pfmi_thread_find_node(t, region);
	if (!*node)
		*node = make_node(t, region);
	if (!*node)
		return NULL;
	place = find_place(&(*node)->entries, parent);
	return *place ? *place : make_entry(t, *node, region, parent, place);
}

/* ---- sums -------------------------------------------------------------------------------- */

/* Calls @change with each span of @to and the same one of @from. */
static void for_each_span(struct entry *to, const struct entry *from,
                          void (*change)(struct span *to, const struct span *from))
{
	const struct layout *l = &pfmi_regions.layout;

	change(&to->wall, &from->wall);
	for (unsigned r = 0; r < l->n_rounds; r++)
		for (unsigned g = 0; g < l->rounds[r].n; g++) {
			const struct group *group = &l->rounds[r].groups[g];

			for (unsigned i = 0; i < group->n; i++)
				change(get_group_spans(to, group) + i,
				       get_group_spans(from, group) + i);
		}
}

static void reset_minimum(struct span *s, const struct span *from)
{
	(void)from;
	REGION_PUT(s->min, UINT64_MAX);
}

static void store_zeros(uint64_t *words, size_t n)
{
	while (n-- > 0)
		REGION_PUT(words[n], 0);
}

/* Clears the sums of visits that have ended; open visits stay. */
void pfmi_entry_clear(struct entry *e)
{
	const struct layout *l = &pfmi_regions.layout;
	uint64_t open = e->begun;

	for (unsigned r = 0; r < l->n_rounds; r++)
		open -= get_round_sums(e, &l->rounds[r])->visits;
	begin_sums(e);
	REGION_PUT(e->begun, open);
	store_zeros((uint64_t *)&e->wall, sizeof(e->wall) / sizeof(uint64_t));
	store_zeros(e->sums, l->sums);
	for_each_span(e, e, reset_minimum);
	end_sums(e);
}

bool pfmi_visit_has_group(const struct visit *v, const struct group *g)
{
	const uint64_t *start = v->start + g->word, *now = v->now + g->word;

	return start[GROUP_NR] == g->n && now[GROUP_NR] == g->n &&
	       now[GROUP_ENABLED] - start[GROUP_ENABLED] ==
	               now[GROUP_RUNNING] - start[GROUP_RUNNING];
}

/* Adds @value of a visit of any kind; @pair: what a begin and end inside it count. */
static void add_value(struct span *s, uint64_t value, const struct visit *v, double pair)
{
	double cost = v->pairs && !(pfmi_regions.flags & PFM_REGIONS_NO_SUBTRACT)
	                      ? (double)v->pairs * pair + 0.5
	                      : 0;

	if (!v->outermost)
		REGION_ADD(s->nested, value);
	else
		add_to_span(s, value, cost < (double)value ? (uint64_t)cost : value);
}

static void add_visit_sums(struct visit_sums *s, const struct visit *v)
{
	REGION_ADD(s->visits, 1);
	if (!v->outermost)
		REGION_ADD(s->nested, 1);
	if (!v->children)
		return;
	REGION_ADD(s->children, v->children);
	if (v->outermost)
		REGION_ADD(s->pairs, v->pairs);
}

/* Adds the counts of the visits directly inside @v, including an open one. */
static void add_inside_counts(struct span *spans, const struct group *g, const struct visit *v)
{
	for (unsigned i = 0; i < g->n; i++) {
		unsigned w = g->word + GROUP_VALUES + i;
		uint64_t inside = v->inside ? v->inside[w] : 0;

		if (v->overlapping)
			inside += v->now[w] - v->overlapping[w];
		REGION_ADD(spans[i].inside, inside);
	}
}

static void add_group_counts(struct entry *e, const struct visit *v, const struct group *g)
{
	struct span *spans = get_group_spans(e, g);
	const uint64_t *start = v->start + g->word + GROUP_VALUES,
		       *now = v->now + g->word + GROUP_VALUES;

	for (unsigned i = 0; i < g->n; i++)
		add_value(&spans[i], now[i] - start[i], v,
		          pfmi_regions.layout.events[g->events[i]].cost_pair);
	if (v->inside || v->overlapping)
		add_inside_counts(spans, g, v);
}

/* Adds the enabled time of the task's events, which is the time that the task ran. */
static void add_task_time(struct group_sums *s, const struct visit *v, const struct group *g)
{
	const uint64_t *start = v->start + g->word, *now = v->now + g->word;

	if (!v->outermost)
		return;
	if (v->is_complete && start[GROUP_NR] == g->n && now[GROUP_NR] == g->n)
		REGION_ADD(s->task, now[GROUP_ENABLED] - start[GROUP_ENABLED]);
	else
		REGION_ADD(s->unread, 1);
}

void pfmi_entry_add_group(struct entry *e, const struct visit *v, const struct group *g)
{
	struct group_sums *s = get_group_sums(e, g);

	add_task_time(s, v, g);
	if (v->is_complete && pfmi_visit_has_group(v, g))
		add_group_counts(e, v, g);
	else
		add_visit_sums(&s->without, v);
}

void pfmi_entry_add_visit(struct entry *e, const struct visit *v)
{
	const struct round *r = &pfmi_regions.layout.rounds[v->round];

	begin_sums(e);
	add_value(&e->wall, v->wall, v, pfmi_regions.layout.wall_pair);
	if (v->wall_inside)
		REGION_ADD(e->wall.inside, v->wall_inside);
	for (unsigned i = 0; i < r->n; i++)
		pfmi_entry_add_group(e, v, &r->groups[i]);
	add_visit_sums(get_round_sums(e, r), v);
	end_sums(e);
}

void pfmi_entry_copy(struct entry *copy, const struct entry *e)
{
	uint32_t before, after;

	do {
		before = __atomic_load_n(&e->sequence, __ATOMIC_ACQUIRE);
		region_load_words(&copy->wall, &e->wall, sizeof(e->wall));
		region_load_words(copy->sums, e->sums, pfmi_regions.layout.sums * sizeof(uint64_t));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		after = __atomic_load_n(&e->sequence, __ATOMIC_RELAXED);
	} while (before != after || before & 1);
	/* Copied after the sums of ended visits, so that the number of begun visits is never
	 * smaller. */
	region_load_words(&copy->begun, &e->begun, sizeof(e->begun));
	copy->region = e->region;
	copy->parent = e->parent;
	copy->threads = e->threads;
}

static void merge_spans(struct span *to, const struct span *from)
{
	to->inclusive += from->inclusive;
	to->nested += from->nested;
	to->inside += from->inside;
	to->cost += from->cost;
	to->min = from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
	to->squares.high += from->squares.high;
	to->squares.high +=
		__builtin_add_overflow(to->squares.low, from->squares.low, &to->squares.low);
}

static void merge_visit_sums(struct visit_sums *to, const struct visit_sums *from)
{
	to->visits += from->visits;
	to->nested += from->nested;
	to->pairs += from->pairs;
	to->children += from->children;
}

static void merge_group_sums(struct group_sums *to, const struct group_sums *from)
{
	merge_visit_sums(&to->without, &from->without);
	to->task += from->task;
	to->unread += from->unread;
}

void pfmi_entry_merge(struct entry *to, const struct entry *from)
{
	const struct layout *l = &pfmi_regions.layout;

	begin_sums(to);
	to->begun += from->begun;
	to->threads += from->threads;
	for_each_span(to, from, merge_spans);
	for (unsigned r = 0; r < l->n_rounds; r++) {
		const struct round *round = &l->rounds[r];

		merge_visit_sums(get_round_sums(to, round), get_round_sums(from, round));
		for (unsigned g = 0; g < round->n; g++)
			merge_group_sums(get_group_sums(to, &round->groups[g]),
			                 get_group_sums(from, &round->groups[g]));
	}
	end_sums(to);
}

/* ---- values of results ------------------------------------------------------------------- */

/* Computes the mean of @n values and the sum of their squared deviations, from their sum and the
 * sum of their squares. Only the last step is not exact: deviations from a whole number near the
 * mean are summed first, in integers. */
static void compute_deviation(const struct span *s, uint64_t n, double *mean, double *m2)
{
	uint64_t sum = s->inclusive - s->cost, near = n ? sum / n : 0, rest = n ? sum % n : 0;
	struct wide less = { 0 }, squares;

	*mean = *m2 = 0;
	if (!n)
		return;
	/* The sum is n * near + rest, so that the sum of (v - near)^2 is that of v^2 less
	 * near * (sum + rest). */
	add_product(&less, near, sum);
	add_product(&less, near, rest);
	squares.high = s->squares.high - less.high;
	squares.high -= __builtin_sub_overflow(s->squares.low, less.low, &squares.low);
	*mean = (double)near + (double)rest / (double)n;
	*m2 = (double)squares.high * 18446744073709551616.0 + (double)squares.low -
	      (double)rest * (double)rest / (double)n;
}

/* Sums the visits of all rounds. */
static struct visit_sums sum_all_visits(const struct layout *l, const struct entry *e)
{
	struct visit_sums all = { 0 };

	for (unsigned r = 0; r < l->n_rounds; r++)
		merge_visit_sums(&all, get_round_sums(e, &l->rounds[r]));
	return all;
}

/* Sums in a file that was damaged may contradict each other: a difference is never below 0. */
static uint64_t subtract(uint64_t from, uint64_t n)
{
	return from > n ? from - n : 0;
}

void pfmi_entry_compute_times(const struct layout *l, const struct entry *e, struct times *times)
{
	struct visit_sums all = sum_all_visits(l, e);

	*times = (struct times){ .visits = all.visits,
		                 .outermost = subtract(all.visits, all.nested),
		                 .wall = e->wall.inclusive,
		                 .exclusive = subtract(e->wall.inclusive + e->wall.nested,
		                                       e->wall.inside),
		                 .max = e->wall.max,
		                 .pairs = all.pairs,
		                 .children = all.children };
	if (times->outermost)
		times->min = e->wall.min;
	for (unsigned r = 0; r < l->n_rounds; r++) {
		const struct round *round = &l->rounds[r];
		const struct visit_sums *visits = get_round_sums(e, round);
		const struct group_sums *first = NULL;

		if (round->n && !round->groups[0].n_system)
			first = get_group_sums(e, &round->groups[0]);
		times->task += first ? first->task : 0;
		times->task_visits +=
			first ? subtract(visits->visits, visits->nested + first->unread) : 0;
	}
	compute_deviation(&e->wall, times->outermost, &times->mean, &times->m2);
}

static struct tally compute_tally(const struct span *s, const struct visit_sums *all,
                                  const struct visit_sums *without)
{
	struct tally t = { .inclusive = s->inclusive,
		           .exclusive = subtract(s->inclusive + s->nested, s->inside),
		           .exclusive_visits = subtract(all->visits, without->visits),
		           .pairs = subtract(all->pairs, without->pairs),
		           .children = subtract(all->children, without->children),
		           .max = s->max };

	t.visits = subtract(t.exclusive_visits, subtract(all->nested, without->nested));
	t.min = t.visits ? s->min : 0;
	compute_deviation(s, t.visits, &t.mean, &t.m2);
	return t;
}

void pfmi_entry_compute_tallies(const struct layout *l, const struct entry *e,
                                struct tally *tallies)
{
	memset(tallies, 0, l->n_events * sizeof(*tallies));
	for (unsigned r = 0; r < l->n_rounds; r++)
		for (unsigned g = 0; g < l->rounds[r].n; g++) {
			const struct group *group = &l->rounds[r].groups[g];

			for (unsigned i = 0; i < group->n; i++) {
				struct tally t = compute_tally(get_group_spans(e, group) + i,
				                               get_round_sums(e, &l->rounds[r]),
				                               &get_group_sums(e, group)->without);

				pfmi_region_add_tally(&tallies[group->events[i]], &t);
			}
		}
}

/* ---- merging ---------------------------------------------------------------------------- */

/* Adds @n observations with mean @mean and @m2, the sum of their squared deviations, to those of
 * *@to_mean and *@to_m2. */
static void merge_deviation(double *to_mean, double *to_m2, uint64_t to_n, double mean, double m2,
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
	merge_deviation(&to->mean, &to->m2, to->outermost, from->mean, from->m2, from->outermost);
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
	merge_deviation(&to->mean, &to->m2, to->visits, from->mean, from->m2, from->visits);
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
