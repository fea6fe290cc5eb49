/* SPDX-License-Identifier: MIT */
/* The search for the least number of groups: see group_packing.h. */
#include "base/bits.h"
#include "metric/group_packing.h"

#include <stdlib.h>
#include <string.h>
#include <perfmon/types.h>

#define GENERAL_COUNTERS 0xffffffffull

/* The search for a packing into n_groups groups. */
struct pack_attempt {
	const struct pack_problem *problem;
	unsigned n_groups;
	unsigned long steps_left;
	uint16_t *group;          /* group of each item; PACK_NONE: not fixed */
	uint16_t *slot;           /* slot of each item: 64 * group + counter; PACK_NONE: none yet */
	uint16_t *slot_item;      /* item in each slot */
	uint64_t *tried_counters; /* counters of each group that this augmentation has tried */
	uint16_t
		*search_order; /* items that are not plain, in the order in which they are placed */
	unsigned n_order, n_exclusive;
	uint16_t *saved_states; /* @slot and @slot_item before each level of the search */
};

static bool is_exclusive_item(const struct pack_problem *p, unsigned item)
{
	return p->is_exclusive && p->is_exclusive[item];
}

static unsigned count_exclusive_items(const struct pack_problem *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n_items; i++)
		n += is_exclusive_item(p, i);
	return n;
}

/* ---- matching -------------------------------------------------------------------------------- */

static void assign_slot(struct pack_attempt *a, unsigned item, unsigned slot)
{
	a->slot_item[slot] = (uint16_t)item;
	a->slot[item] = (uint16_t)slot;
}

/* The counters of group @g that @item can use. */
static uint64_t get_allowed_counters(const struct pack_attempt *a, unsigned item, unsigned g)
{
	return g < a->n_exclusive && !is_exclusive_item(a->problem, item)
	               ? a->problem->counter_mask[item] & ~GENERAL_COUNTERS
	               : a->problem->counter_mask[item];
}

static bool assign_free_slot(struct pack_attempt *a, unsigned item, unsigned first, unsigned last)
{
	for (unsigned g = first; g < last; g++)
		for (uint64_t left = get_allowed_counters(a, item, g) & ~a->tried_counters[g]; left;
		     left &= left - 1)
			if (a->slot_item[64 * g + base_find_lowest_bit(left)] == PACK_NONE) {
				assign_slot(a, item, 64 * g + base_find_lowest_bit(left));
				return true;
			}
	return false;
}

/* Finds a slot for @item, for which other items may move to other slots. */
static bool augment_matching(struct pack_attempt *a, unsigned item)
{
	unsigned first = a->group[item] == PACK_NONE ? 0 : a->group[item],
		 last = a->group[item] == PACK_NONE ? a->n_groups : first + 1u;

	if (assign_free_slot(a, item, first, last))
		return true;
	for (unsigned g = first; g < last; g++)
		for (uint64_t left = get_allowed_counters(a, item, g) & ~a->tried_counters[g]; left;
		     left = get_allowed_counters(a, item, g) & ~a->tried_counters[g]) {
			unsigned slot = 64 * g + base_find_lowest_bit(left);

			a->tried_counters[g] |= left & -left;
			if (augment_matching(a, a->slot_item[slot])) {
				assign_slot(a, item, slot);
				return true;
			}
		}
	return false;
}

static bool place_item(struct pack_attempt *a, unsigned item)
{
	if (!a->problem->counter_mask[item] || a->slot[item] != PACK_NONE)
		return true;
	memset(a->tried_counters, 0, a->n_groups * sizeof(a->tried_counters[0]));
	return augment_matching(a, item);
}

/* Fixes @item in group @g. False if some item has no counter then. */
static bool fix_item_in_group(struct pack_attempt *a, unsigned item, unsigned g)
{
	a->group[item] = (uint16_t)g;
	if (!a->problem->counter_mask[item] || a->slot[item] / 64 == g)
		return true;
	if (a->slot[item] != PACK_NONE)
		a->slot_item[a->slot[item]] = PACK_NONE;
	a->slot[item] = PACK_NONE;
	return place_item(a, item);
}

static size_t get_state_size(const struct pack_attempt *a)
{
	return a->problem->n_items + (size_t)64 * a->n_groups;
}

static void save_matching(const struct pack_attempt *a, uint16_t *to)
{
	memcpy(to, a->slot, a->problem->n_items * sizeof(*to));
	memcpy(to + a->problem->n_items, a->slot_item, (size_t)64 * a->n_groups * sizeof(*to));
}

static void restore_matching(struct pack_attempt *a, const uint16_t *from)
{
	memcpy(a->slot, from, a->problem->n_items * sizeof(*from));
	memcpy(a->slot_item, from + a->problem->n_items, (size_t)64 * a->n_groups * sizeof(*from));
}

/* ---- search ---------------------------------------------------------------------------------- */

/* Can @item be counted with the items that are fixed in group @g? */
static bool can_join_group(const struct pack_attempt *a, unsigned depth, unsigned item, unsigned g)
{
	uint16_t items[PACK_MAX_GROUP];
	uint64_t counters = a->problem->counter_mask[item];
	unsigned n = 0, takers = a->problem->counter_mask[item] != 0;

	for (unsigned i = 0; i < depth; i++)
		if (a->group[a->search_order[i]] == g) {
			if (n + 1 == PACK_MAX_GROUP)
				return false;
			counters |= a->problem->counter_mask[a->search_order[i]];
			takers += a->problem->counter_mask[a->search_order[i]] != 0;
			items[n++] = a->search_order[i];
		}
	items[n++] = (uint16_t)item;
	return n == 1 || (takers <= base_count_bits(counters) &&
	                  a->problem->can_share_group(a->problem->arg, items, n));
}

static unsigned count_used_groups(const struct pack_attempt *a, unsigned depth)
{
	unsigned used = 0;

	for (unsigned i = 0; i < depth; i++)
		if (a->group[a->search_order[i]] >= used)
			used = a->group[a->search_order[i]] + 1u;
	return used;
}

enum search_result { SEARCH_FAILED, SEARCH_SUCCEEDED, SEARCH_EXHAUSTED };

static enum search_result place_items(struct pack_attempt *a, unsigned depth)
{
	unsigned item = a->search_order[depth], used = count_used_groups(a, depth);
	uint16_t *here = a->saved_states + (size_t)depth * get_state_size(a);

	if (depth == a->n_order)
		return SEARCH_SUCCEEDED;
	save_matching(a, here);
	/* Empty groups are equal, so only the first is tried. Exclusive items come first, each in a
	 * group of its own. */
	for (unsigned g = depth < a->n_exclusive ? depth : 0; g < a->n_groups && g <= used; g++) {
		enum search_result f = SEARCH_FAILED;

		if (a->steps_left-- == 0)
			return SEARCH_EXHAUSTED;
		if (!can_join_group(a, depth, item, g)) {
			a->group[item] = PACK_NONE;
			continue;
		}
		if (fix_item_in_group(a, item, g))
			f = place_items(a, depth + 1);
		if (f)
			return f;
		a->group[item] = PACK_NONE;
		restore_matching(a, here);
	}
	return SEARCH_FAILED;
}

static bool is_ordered_before(const struct pack_problem *p, unsigned i, unsigned other)
{
	if (is_exclusive_item(p, i) != is_exclusive_item(p, other))
		return is_exclusive_item(p, i);
	return !is_exclusive_item(p, i) &&
	       base_count_bits(p->counter_mask[i]) < base_count_bits(p->counter_mask[other]);
}

/* Orders the items that are not plain: exclusive items, then those with few counters; equal ones in
 * the caller's order. */
static void build_search_order(struct pack_attempt *a)
{
	a->n_order = 0;
	for (unsigned i = 0; i < a->problem->n_items; i++) {
		unsigned at = a->n_order;

		if (a->problem->is_plain[i])
			continue;
		for (; at && is_ordered_before(a->problem, i, a->search_order[at - 1]); at--)
			a->search_order[at] = a->search_order[at - 1];
		a->search_order[at] = (uint16_t)i;
		a->n_order++;
	}
}

/* Moves items of one affinity to the group of the first of them if every item keeps a counter. */
static void group_related_items(struct pack_attempt *a)
{
	const struct pack_problem *p = a->problem;

	for (unsigned i = 0; p->affinity && i < p->n_items; i++) {
		unsigned lead = 0;

		while (lead < i &&
		       (p->affinity[lead] != p->affinity[i] || a->group[lead] == PACK_NONE))
			lead++;
		if (!p->affinity[i] || a->group[i] != PACK_NONE || !p->counter_mask[i])
			continue;
		save_matching(a, a->saved_states);
		if (lead == i || !fix_item_in_group(a, i, a->group[lead])) {
			restore_matching(a, a->saved_states);
			a->group[i] = PACK_NONE;
			fix_item_in_group(a, i, a->slot[i] / 64);
		}
	}
}

static void write_groups(const struct pack_attempt *a)
{
	const struct pack_problem *p = a->problem;

	for (unsigned i = 0; i < p->n_items; i++)
		p->group[i] = a->group[i] != PACK_NONE ? a->group[i]
		              : p->counter_mask[i]     ? a->slot[i] / 64
		                                       : 0;
}

/* Sets up @a for @k groups; false without memory. */
static bool init_attempt(struct pack_attempt *a, const struct pack_problem *p, unsigned k)
{
	unsigned n_hard = 1;

	for (unsigned i = 0; i < p->n_items; i++)
		n_hard += !p->is_plain[i];
	*a = (struct pack_attempt){ .problem = p,
		                    .n_groups = k,
		                    .n_exclusive = count_exclusive_items(p),
		                    .steps_left = p->effort + (unsigned long)n_hard * k };
	a->group = malloc((p->n_items + 1) * sizeof(uint16_t));
	a->slot = malloc((p->n_items + 1) * sizeof(uint16_t));
	a->search_order = malloc((p->n_items + 1) * sizeof(uint16_t));
	a->slot_item = malloc((size_t)64 * k * sizeof(uint16_t));
	a->tried_counters = calloc(k + 1u, sizeof(uint64_t));
	a->saved_states = malloc((n_hard * get_state_size(a) + 1) *
	                         sizeof(uint16_t)); /* malloc(0) may return NULL */
	if (!a->group || !a->slot || !a->search_order || !a->slot_item || !a->tried_counters ||
	    !a->saved_states)
		return false;
	memset(a->group, 0xff, p->n_items * sizeof(uint16_t));
	memset(a->slot, 0xff, p->n_items * sizeof(uint16_t));
	memset(a->slot_item, 0xff, (size_t)64 * k * sizeof(uint16_t));
	a->search_order[p->n_items] = 0;
	build_search_order(a);
	a->search_order[a->n_order] = 0;
	for (unsigned i = 0; i < a->n_exclusive; i++)
		a->group[a->search_order[i]] = (uint16_t)i;
	return true;
}

static void free_attempt(struct pack_attempt *a)
{
	free(a->group);
	free(a->slot);
	free(a->search_order);
	free(a->slot_item);
	free(a->tried_counters);
	free(a->saved_states);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* All counters that were tried for an item without a slot: too many items are confined to them. */
static uint64_t collect_tried_counters(const struct pack_attempt *a)
{
	uint64_t all = 0;

	for (unsigned g = 0; g < a->n_groups; g++)
		all |= a->tried_counters[g];
	return all;
}

static enum search_result try_group_count(struct pack_problem *p, unsigned k, bool *out_of_memory)
{
	struct pack_attempt a;
	enum search_result f = SEARCH_SUCCEEDED;

	*out_of_memory = !init_attempt(&a, p, k);
	if (*out_of_memory) {
		free_attempt(&a);
		return SEARCH_FAILED;
	}
	for (unsigned i = 0; i < p->n_items && f; i++)
		if (!place_item(&a, i)) {
			p->proof = a.n_exclusive ? PACK_PROOF_SEARCH : PACK_PROOF_COUNTERS;
			p->proof_counters = collect_tried_counters(&a);
			f = SEARCH_FAILED;
		}
	if (f) {
		f = place_items(&a, 0);
		if (f == SEARCH_FAILED)
			p->proof = PACK_PROOF_SEARCH;
	}
	if (f == SEARCH_SUCCEEDED) {
		group_related_items(&a);
		write_groups(&a);
	}
	free_attempt(&a);
	return f;
}

/* Refuses an item that cannot be counted even alone. */
static int check_single_items(struct pack_problem *p)
{
	for (uint16_t i = 0; i < p->n_items; i++)
		if (!p->can_share_group(p->arg, &i, 1)) {
			p->n_groups = i;
			return PFMLIB_ERR_NOASSIGN;
		}
	return PFMLIB_SUCCESS;
}

/* Returns a number of groups that no packing can go below: the items that need a counter, divided
 * by the counters that any of them can use. */
static unsigned compute_counter_bound(const struct pack_problem *p)
{
	uint64_t all = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < p->n_items; i++) {
		all |= p->counter_mask[i];
		n += p->counter_mask[i] != 0;
	}
	return n ? (n + base_count_bits(all) - 1) / base_count_bits(all) : 1;
}

/* Sets the proof of the bound @k before the search. */
static void init_proof(struct pack_problem *p, unsigned k)
{
	p->proof = k > 1 ? PACK_PROOF_COUNTERS : PACK_PROOF_ONE_GROUP;
	p->proof_counters = 0;
	for (unsigned i = 0; i < p->n_items; i++)
		p->proof_counters |= p->counter_mask[i];
	if (p->proven_bound > k)
		p->proof = PACK_PROOF_CALLER;
	if (count_exclusive_items(p) > k && count_exclusive_items(p) > p->proven_bound)
		p->proof = PACK_PROOF_EXCLUSIVE;
}

int pfmi_plan_pack_groups(struct pack_problem *p)
{
	bool out_of_memory = false;
	unsigned k;
	int rc = p->n_items > PACK_MAX_ITEMS ? PFMLIB_ERR_TOOMANY : check_single_items(p);

	if (rc)
		return rc;
	k = compute_counter_bound(p);
	init_proof(p, k);
	k = p->proven_bound > k ? p->proven_bound : k;
	k = count_exclusive_items(p) > k ? count_exclusive_items(p) : k;
	p->is_optimal = true;
	for (p->bound = k;; k++) {
		enum pack_proof proof = p->proof;
		uint64_t counters = p->proof_counters;
		enum search_result f = try_group_count(p, k, &out_of_memory);

		if (out_of_memory)
			return PFMLIB_ERR_NOMEM;
		if (f == SEARCH_SUCCEEDED)
			break;
		/* An exhausted search proves nothing: from here on any packing is searched for. */
		if (f == SEARCH_EXHAUSTED)
			p->is_optimal = false;
		if (!p->is_optimal)
			p->effort /= 2;
		if (p->is_optimal) {
			p->bound = k + 1;
		} else {
			p->proof = proof;
			p->proof_counters = counters;
		}
	}
	p->n_groups = k;
	return PFMLIB_SUCCESS;
}
