/* SPDX-License-Identifier: MIT */
/* Counter assignment for every PMU.
 *
 * A plan has alternatives, each with the counter mask of every event and, rarely, holds (a counter
 * that one of some events must use). The first alternative with a placement is used. Within it,
 * events with the fewest counters choose first. Each takes the lowest counter that leaves every
 * other event a counter and every hold an event. A placement is found if there is one, in
 * polynomial time: whether a choice leaves a solution is decided by bipartite matching (augmenting
 * paths), not by trying placements.
 *
 * An event of a pair takes an even counter and the next one. Pairs are tried on all counters that
 * leave the single events theirs; the few processors that have pairs have few counters.
 *
 * Holds need no search either, by a theorem of Mendelsohn and Dulmage: if one matching gives every
 * event a counter and another gives every held counter an event, some matching does both. So two
 * matchings are computed separately. */
#include <string.h>
#include "base/bits.h"
#include "pmu/pmu.h"

#define NO_COUNTER 0xffu

struct assignment_problem {
	unsigned n;
	uint64_t counter_masks[PLAN_MAX_EVENTS];
	uint64_t active_events; /* events that need a counter */
	uint8_t event_order[PLAN_MAX_EVENTS];
	unsigned n_order;
	const struct counter_hold *holds; /* holds of the alternative */
	unsigned n_holds;
	uint64_t pairs;   /* active events that take two counters */
	uint64_t blocked; /* counters of pairs while single events are matched */
};

/* Orders events by their number of counters, the fewest first; ties stay in the caller's order. */
static void sort_events(struct assignment_problem *p)
{
	uint8_t sizes[PLAN_MAX_EVENTS]; /* number of counters of each ordered event, because
	                                   counting bits can be a function call */

	p->n_order = 0;
	for (unsigned i = 0; i < p->n; i++) {
		unsigned at = p->n_order;
		uint8_t size;

		if (!(p->active_events >> i & 1))
			continue;
		size = (uint8_t)base_count_bits(p->counter_masks[i]);
		for (; at > 0 && sizes[at - 1] > size; at--) {
			sizes[at] = sizes[at - 1];
			p->event_order[at] = p->event_order[at - 1];
		}
		sizes[at] = size;
		p->event_order[at] = (uint8_t)i;
		p->n_order++;
	}
}

static bool assign_greedily(const struct assignment_problem *p, uint8_t *counter)
{
	uint64_t used = 0;

	for (unsigned i = 0; i < p->n_order; i++) {
		unsigned e = p->event_order[i];
		bool is_pair = p->pairs >> e & 1;
		uint64_t left = p->counter_masks[e] & ~used & (is_pair ? ~(used >> 1) : ~0ull);

		if (!left)
			return false;
		counter[e] = (uint8_t)base_find_lowest_bit(left);
		used |= (left & -left) | (is_pair ? (left & -left) << 1 : 0);
	}
	return true;
}

/* Finds a counter for event @e, for which other events may move. @seen: counters tried before. */
static bool search_augmenting_path(const struct assignment_problem *p, unsigned e, uint64_t *seen,
                                   uint8_t owner[64])
{
	for (uint64_t left = p->counter_masks[e] & ~p->blocked; left; left &= left - 1) {
		unsigned c = base_find_lowest_bit(left);

		if (*seen >> c & 1)
			continue;
		*seen |= (uint64_t)1 << c;
		if (owner[c] == NO_COUNTER || search_augmenting_path(p, owner[c], seen, owner)) {
			owner[c] = (uint8_t)e;
			return true;
		}
	}
	return false;
}

/* Can every event that takes one counter have one of its own? */
static bool match_single_events(const struct assignment_problem *p)
{
	uint8_t owner[64];

	memset(owner, NO_COUNTER, sizeof(owner));
	for (unsigned i = 0; i < p->n; i++) {
		uint64_t seen = 0;

		if ((p->active_events & ~p->pairs) >> i & 1 &&
		    !search_augmenting_path(p, i, &seen, owner))
			return false;
	}
	return true;
}

/* Places @pairs beside each other and the single events. Pairs with equal masks take ascending
 * counters, because they are interchangeable: those like the one before, whose mask was @mask, take
 * counters from @from on. */
static bool match_pairs(struct assignment_problem *p, uint64_t pairs, uint64_t mask, unsigned from)
{
	unsigned e = pairs ? base_find_lowest_bit(pairs) : 0;
	bool fits = false;

	if (!pairs)
		return match_single_events(p);
	for (uint64_t left = p->counter_masks[e]; left && !fits; left &= left - 1) {
		unsigned c = base_find_lowest_bit(left);

		if (p->blocked >> c & 3 || (p->counter_masks[e] == mask && c < from))
			continue;
		p->blocked |= (uint64_t)3 << c;
		fits = match_pairs(p, pairs & (pairs - 1), p->counter_masks[e], c + 2);
		p->blocked &= ~((uint64_t)3 << c);
	}
	return fits;
}

/* Has every active event counters of its own? */
static bool has_event_matching(struct assignment_problem *p)
{
	uint64_t counters = 0;

	for (unsigned i = 0; i < p->n; i++)
		if (p->active_events >> i & 1)
			counters |= p->counter_masks[i] |
			            (p->pairs >> i & 1 ? p->counter_masks[i] << 1 : 0);
	return base_count_bits(p->active_events) + base_count_bits(p->pairs) <=
	               base_count_bits(counters) &&
	       match_pairs(p, p->pairs, 0, 0);
}

/* True if no active event can fill the hold. */
static bool is_hold_unfillable(const struct assignment_problem *p, const struct counter_hold *h)
{
	return !(h->events & p->active_events);
}

/* True if an earlier hold has the same counter, which reserve_held_counters() has reserved for
 * events that are in both. */
static bool is_counter_held_before(const struct assignment_problem *p, unsigned h)
{
	for (unsigned i = 0; i < h; i++)
		if (p->holds[i].counter == p->holds[h].counter &&
		    !is_hold_unfillable(p, &p->holds[i]))
			return true;
	return false;
}

/* Finds an event for hold @h, for which other holds may get other events. @filler: the hold that
 * each event fills, or NO_COUNTER. */
static bool find_hold_filler(const struct assignment_problem *p, unsigned h, uint64_t *seen,
                             uint8_t filler[PLAN_MAX_EVENTS])
{
	for (uint64_t left = p->holds[h].events & p->active_events & ~*seen; left;
	     left &= left - 1) {
		unsigned e = base_find_lowest_bit(left);

		if (*seen >> e & 1 || !(p->counter_masks[e] >> p->holds[h].counter & 1))
			continue;
		*seen |= (uint64_t)1 << e;
		if (filler[e] == NO_COUNTER || find_hold_filler(p, filler[e], seen, filler)) {
			filler[e] = (uint8_t)h;
			return true;
		}
	}
	return false;
}

/* Can every held counter have an event of its own? */
static bool has_hold_matching(const struct assignment_problem *p)
{
	uint8_t filler[PLAN_MAX_EVENTS];

	memset(filler, NO_COUNTER, p->n);
	for (unsigned h = 0; h < p->n_holds; h++) {
		uint64_t seen = 0;

		if (!is_hold_unfillable(p, &p->holds[h]) && !is_counter_held_before(p, h) &&
		    !find_hold_filler(p, h, &seen, filler))
			return false;
	}
	return true;
}

static bool has_matching(struct assignment_problem *p)
{
	return has_event_matching(p) && has_hold_matching(p);
}

/* Reserves each held counter for the events of its hold. */
static void reserve_held_counters(struct assignment_problem *p)
{
	for (unsigned h = 0; h < p->n_holds; h++)
		for (unsigned i = 0; i < p->n && !is_hold_unfillable(p, &p->holds[h]); i++)
			if (!(p->holds[h].events >> i & 1))
				p->counter_masks[i] &= ~((uint64_t)1 << p->holds[h].counter);
}

static bool has_filled_holds(const struct assignment_problem *p, const uint8_t *counter)
{
	for (unsigned h = 0; h < p->n_holds; h++) {
		bool filled = is_hold_unfillable(p, &p->holds[h]);

		for (unsigned i = 0; i < p->n_order && !filled; i++)
			filled = counter[p->event_order[i]] == p->holds[h].counter;
		if (!filled)
			return false;
	}
	return true;
}

/* Chooses the lowest counter for each event that leaves a solution; there is one. */
static void choose_lowest_counters(struct assignment_problem *p, uint8_t *counter)
{
	for (unsigned i = 0; i < p->n_order; i++) {
		unsigned e = p->event_order[i];

		for (uint64_t left = p->counter_masks[e]; left; left &= left - 1) {
			p->counter_masks[e] = left & -left;
			if (has_matching(p))
				break;
		}
		counter[e] = (uint8_t)base_find_lowest_bit(p->counter_masks[e]);
	}
}

/* Assigns counters within one alternative. Changes p->counter_masks. */
static bool place_events(struct assignment_problem *p, uint8_t *counter)
{
	reserve_held_counters(p);
	sort_events(p);
	if (assign_greedily(p, counter) && has_filled_holds(p, counter))
		return true;
	if (!has_matching(p))
		return false;
	choose_lowest_counters(p, counter);
	return true;
}

/* Finds the first alternative in which the events in @active have counters. */
static bool solve_alternatives(const struct plan *plan, uint64_t active, struct placement *out)
{
	struct assignment_problem p;

	p.n = plan->request->n_events;
	p.active_events = active;
	p.pairs = plan->pairs & active;
	p.blocked = 0;
	for (unsigned a = 0; a < plan->n_alternatives; a++) {
		const struct alternative *alt = &plan->alternatives[a];

		memcpy(p.counter_masks, alt->counter_masks, p.n * sizeof(p.counter_masks[0]));
		p.holds = alt->holds;
		p.n_holds = alt->n_holds;
		if (place_events(&p, out->counters)) {
			out->alternative = a;
			return true;
		}
	}
	return false;
}

/* ---- who clashes ----------------------------------------------------------------------------- */

/* Finding a smallest clash takes exponential time in general (it is the girth of a transversal
 * matroid). So the search ends after this many sets of events; the manual pages state the number.
 */
#define MAX_TRIED_SETS 32768

struct clash_search {
	const struct plan *plan;
	uint64_t active;
	uint64_t clash; /* the best one so far: the fewest events, then the lowest number */
	unsigned size;  /* its number of events */
	unsigned n_tried;
	uint64_t alike[PLAN_MAX_EVENTS]; /* for each event, those before it that could replace it */
};

/* Leaves out of @clash what it does not need: the rest fits as soon as one of its events is left
 * out. */
static uint64_t reduce_clash(const struct plan *plan, uint64_t clash)
{
	struct placement scratch;

	for (unsigned i = 0; i < plan->request->n_events; i++)
		if (clash >> i & 1 &&
		    !solve_alternatives(plan, clash & ~((uint64_t)1 << i), &scratch))
			clash &= ~((uint64_t)1 << i);
	return clash;
}

/* The active events that can use no other counters than @counters. */
static uint64_t list_confined_events(const struct clash_search *s, uint64_t counters)
{
	const uint64_t *mask = s->plan->alternatives[0].counter_masks;
	uint64_t confined = 0;

	for (uint64_t left = s->active; left; left &= left - 1)
		if (!(mask[base_find_lowest_bit(left)] & ~counters))
			confined |= left & -left;
	return confined;
}

/* Keeps the @size lowest of @events if they are a better clash than the one before. */
static void keep_better_clash(struct clash_search *s, uint64_t events, unsigned size)
{
	while (base_count_bits(events) > size)
		events &= ~((uint64_t)1 << (63 - (unsigned)__builtin_clzll(events)));
	if (size < s->size || (size == s->size && events < s->clash)) {
		s->clash = events;
		s->size = size;
	}
}

/* Without holds, pairs and alternatives, n + 1 events that are confined to n counters clash, and
 * the counters of a smallest clash are a union of counter masks (Hall's theorem). Adds masks of
 * events from @from on to @counters, to which the events @confined are confined. A union is tried
 * only from the lowest events that make it, so each is tried once. */
static void search_hall_violators(struct clash_search *s, uint64_t counters, uint64_t confined,
                                  unsigned from)
{
	for (uint64_t left = s->active & ~confined & ~(((uint64_t)1 << from) - 1);
	     left && s->n_tried < MAX_TRIED_SETS; left &= left - 1) {
		unsigned e = base_find_lowest_bit(left);
		uint64_t all = counters | s->plan->alternatives[0].counter_masks[e], inside;
		unsigned n = base_count_bits(all);

		if (n >= s->size)
			continue;
		s->n_tried++;
		inside = list_confined_events(s, all);
		if (inside & ~confined & ((left & -left) - 1))
			continue;
		if (base_count_bits(inside) > n)
			keep_better_clash(s, inside, n + 1);
		else if (e < 63)
			search_hall_violators(s, all, inside, e + 1);
	}
}

/* True if the solver treats both events equally. */
static bool are_events_alike(const struct plan *plan, unsigned a, unsigned b)
{
	if ((plan->pairs >> a ^ plan->pairs >> b) & 1)
		return false;
	for (unsigned k = 0; k < plan->n_alternatives; k++) {
		const struct alternative *alt = &plan->alternatives[k];

		if (alt->counter_masks[a] != alt->counter_masks[b])
			return false;
		for (unsigned h = 0; h < alt->n_holds; h++)
			if ((alt->holds[h].events >> a ^ alt->holds[h].events >> b) & 1)
				return false;
	}
	return true;
}

static void list_alike_events(struct clash_search *s)
{
	for (unsigned i = 0; i < s->plan->request->n_events; i++) {
		s->alike[i] = 0;
		for (unsigned k = 0; k < i; k++)
			if (s->active >> k & 1 && are_events_alike(s->plan, k, i))
				s->alike[i] |= (uint64_t)1 << k;
	}
}

/* Adds @n events before @end to @chosen, in every way in which an event has those like it before it
 * beside it, until the set clashes. @needed: events that those of @chosen need beside them. */
static bool search_clash_of_size(struct clash_search *s, uint64_t chosen, uint64_t needed,
                                 unsigned n, unsigned end)
{
	struct placement scratch;

	s->n_tried++;
	if (n == 0) {
		if (solve_alternatives(s->plan, chosen, &scratch))
			return false;
		keep_better_clash(s, chosen, base_count_bits(chosen));
		return true;
	}
	for (unsigned i = n - 1; i < end && s->n_tried < MAX_TRIED_SETS; i++) {
		uint64_t one = (uint64_t)1 << i, beside = (needed | s->alike[i]) & ~one;

		if (s->active & one && beside < one && base_count_bits(beside) < n &&
		    search_clash_of_size(s, chosen | one, beside, n - 1, i))
			return true;
	}
	return false;
}

/* A smallest set of clashing events if MAX_TRIED_SETS suffice to find it; otherwise one that fits
 * as soon as any of its events is left out. */
static uint64_t search_smallest_clash(const struct plan *plan, uint64_t active)
{
	struct clash_search s = { .plan = plan,
		                  .active = active,
		                  .clash = reduce_clash(plan, active) };

	s.size = base_count_bits(s.clash);
	if (plan->n_alternatives == 1 && plan->alternatives[0].n_holds == 0 && !plan->pairs) {
		search_hall_violators(&s, 0, 0, 0);
		return reduce_clash(plan, s.clash);
	}
	list_alike_events(&s);
	for (unsigned k = 1; k <= s.size; k++)
		if (search_clash_of_size(&s, 0, 0, k, plan->request->n_events))
			break;
	return s.clash;
}

static int report_clash(const struct plan *plan, uint64_t active, pfm_error_t *why)
{
	uint64_t clash, counters = 0;

	if (!why)
		return PFMLIB_ERR_NOASSIGN;
	clash = search_smallest_clash(plan, active);
	for (unsigned a = 0; a < plan->n_alternatives; a++)
		for (uint64_t left = clash; left; left &= left - 1)
			counters |= plan->alternatives[a].counter_masks[base_find_lowest_bit(left)];
	*why = (pfm_error_t){ .size = why->size,
		              .code = PFMLIB_ERR_NOASSIGN,
		              .kind = PFM_KIND_NO_PLACEMENT,
		              .event = (int)base_find_lowest_bit(clash | (uint64_t)1 << 63),
		              .clash_counters = counters };
	pfmi_base_set_clash(why, clash);
	return PFMLIB_ERR_NOASSIGN;
}

static int assign_event_set(const struct plan *plan, struct placement *out, pfm_error_t *why)
{
	unsigned n = plan->request->n_events;
	uint64_t active = (n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) &
	                  ~plan->counterless_events & ~plan->followers;

	memset(out->counters, NO_COUNTER, n);
	if (!solve_alternatives(plan, active, out))
		return report_clash(plan, active, why);
	for (uint64_t left = plan->followers; left; left &= left - 1)
		out->counters[base_find_lowest_bit(left)] =
			(uint8_t)(out->counters[base_find_lowest_bit(left) - 1] + 1);
	return PFMLIB_SUCCESS;
}

int pfmi_pmu_assign_counters(const struct plan *plan, struct placement *out, pfm_error_t *why)
{
	out->alternative = 0;
	/* One event without holds is by far the most frequent case. */
	if (plan->request->n_events == 1 && plan->n_alternatives == 1 &&
	    plan->alternatives[0].n_holds == 0 && !plan->counterless_events &&
	    plan->alternatives[0].counter_masks[0]) {
		out->counters[0] =
			(uint8_t)base_find_lowest_bit(plan->alternatives[0].counter_masks[0]);
		return PFMLIB_SUCCESS;
	}
	return assign_event_set(plan, out, why);
}
