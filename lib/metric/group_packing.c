/* SPDX-License-Identifier: MIT */
/* The search behind a plan: see pack.h. */
#include "metric/group_packing.h"

#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib.h>

#define GENERAL 0xffffffffull

/* One number of groups that is tried. */
struct attempt {
	const struct pack *p;
	unsigned k;
	unsigned long steps; /* left */
	uint16_t *group;     /* of each item; PACK_NONE: any */
	uint16_t *at;        /* slot of each item: 64 * group + counter; PACK_NONE: none yet */
	uint16_t *owner;     /* item in each slot */
	uint64_t *seen;      /* counters of each group that were asked in this round */
	uint16_t *order;     /* items that are not plain, in the order they choose */
	unsigned n_order, n_apart;
	uint16_t *saved; /* room to go back: at and owner of every level */
};

static unsigned popcount(uint64_t x)
{
	return (unsigned)__builtin_popcountll(x);
}

static unsigned lowest(uint64_t x)
{
	return (unsigned)__builtin_ctzll(x);
}

static bool is_apart(const struct pack *p, unsigned item)
{
	return p->apart && p->apart[item];
}

static unsigned count_apart(const struct pack *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n; i++)
		n += is_apart(p, i);
	return n;
}

/* ---- matching ---------------------------------------------------------------------------------------------------------- */

static void seat(struct attempt *a, unsigned item, unsigned slot)
{
	a->owner[slot] = (uint16_t)item;
	a->at[item] = (uint16_t)slot;
}

/* The counters of group @g that @item could have if nobody had one. */
static uint64_t open_to(const struct attempt *a, unsigned item, unsigned g)
{
	return g < a->n_apart && !is_apart(a->p, item) ? a->p->mask[item] & ~GENERAL : a->p->mask[item];
}

static bool seat_free(struct attempt *a, unsigned item, unsigned first, unsigned last)
{
	for (unsigned g = first; g < last; g++)
		for (uint64_t left = open_to(a, item, g) & ~a->seen[g]; left; left &= left - 1)
			if (a->owner[64 * g + lowest(left)] == PACK_NONE) {
				seat(a, item, 64 * g + lowest(left));
				return true;
			}
	return false;
}

/* Finds a slot for @item, moving others aside. */
static bool augment(struct attempt *a, unsigned item)
{
	unsigned first = a->group[item] == PACK_NONE ? 0 : a->group[item], last = a->group[item] == PACK_NONE ? a->k : first + 1u;

	if (seat_free(a, item, first, last))
		return true;
	for (unsigned g = first; g < last; g++)
		for (uint64_t left = open_to(a, item, g) & ~a->seen[g]; left; left = open_to(a, item, g) & ~a->seen[g]) {
			unsigned slot = 64 * g + lowest(left);

			a->seen[g] |= left & -left;
			if (augment(a, a->owner[slot])) {
				seat(a, item, slot);
				return true;
			}
		}
	return false;
}

static bool match(struct attempt *a, unsigned item)
{
	if (!a->p->mask[item] || a->at[item] != PACK_NONE)
		return true;
	memset(a->seen, 0, a->k * sizeof(a->seen[0]));
	return augment(a, item);
}

/* From now on @item is in group @g; false if not every item has a counter then. */
static bool pin(struct attempt *a, unsigned item, unsigned g)
{
	a->group[item] = (uint16_t)g;
	if (!a->p->mask[item] || a->at[item] / 64 == g)
		return true;
	if (a->at[item] != PACK_NONE)
		a->owner[a->at[item]] = PACK_NONE;
	a->at[item] = PACK_NONE;
	return match(a, item);
}

static size_t state_size(const struct attempt *a)
{
	return a->p->n + (size_t)64 * a->k;
}

static void keep(const struct attempt *a, uint16_t *to)
{
	memcpy(to, a->at, a->p->n * sizeof(*to));
	memcpy(to + a->p->n, a->owner, (size_t)64 * a->k * sizeof(*to));
}

static void bring_back(struct attempt *a, const uint16_t *from)
{
	memcpy(a->at, from, a->p->n * sizeof(*from));
	memcpy(a->owner, from + a->p->n, (size_t)64 * a->k * sizeof(*from));
}

/* ---- search ------------------------------------------------------------------------------------------------------------ */

/* The pinned items of group @g, and @item. */
static bool fits_with(const struct attempt *a, unsigned depth, unsigned item, unsigned g)
{
	uint16_t items[PACK_MAX_GROUP];
	uint64_t counters = a->p->mask[item];
	unsigned n = 0, takers = a->p->mask[item] != 0;

	for (unsigned i = 0; i < depth; i++)
		if (a->group[a->order[i]] == g) {
			if (n + 1 == PACK_MAX_GROUP)
				return false;
			counters |= a->p->mask[a->order[i]];
			takers += a->p->mask[a->order[i]] != 0;
			items[n++] = a->order[i];
		}
	items[n++] = (uint16_t)item;
	return n == 1 || (takers <= popcount(counters) && a->p->fits(a->p->arg, items, n));
}

static unsigned groups_used(const struct attempt *a, unsigned depth)
{
	unsigned used = 0;

	for (unsigned i = 0; i < depth; i++)
		if (a->group[a->order[i]] >= used)
			used = a->group[a->order[i]] + 1u;
	return used;
}

enum found { NO,
	     YES,
	     TIRED };

static enum found place(struct attempt *a, unsigned depth)
{
	unsigned item = a->order[depth], used = groups_used(a, depth);
	uint16_t *here = a->saved + (size_t)depth * state_size(a);

	if (depth == a->n_order)
		return YES;
	keep(a, here);
	/* Empty groups are alike: the first of them stands for all. Those kept apart come first, each into its own. */
	for (unsigned g = depth < a->n_apart ? depth : 0; g < a->k && g <= used; g++) {
		enum found f = NO;

		if (a->steps-- == 0)
			return TIRED;
		if (!fits_with(a, depth, item, g)) {
			a->group[item] = PACK_NONE;
			continue;
		}
		if (pin(a, item, g))
			f = place(a, depth + 1);
		if (f)
			return f;
		a->group[item] = PACK_NONE;
		bring_back(a, here);
	}
	return NO;
}

static bool comes_before(const struct pack *p, unsigned i, unsigned other)
{
	if (is_apart(p, i) != is_apart(p, other))
		return is_apart(p, i);
	return !is_apart(p, i) && popcount(p->mask[i]) < popcount(p->mask[other]);
}

/* Those kept apart first, then those with few counters; equal ones in the caller's order. */
static void sort_order(struct attempt *a)
{
	a->n_order = 0;
	for (unsigned i = 0; i < a->p->n; i++) {
		unsigned at = a->n_order;

		if (a->p->plain[i])
			continue;
		for (; at && comes_before(a->p, i, a->order[at - 1]); at--)
			a->order[at] = a->order[at - 1];
		a->order[at] = (uint16_t)i;
		a->n_order++;
	}
}

/* Members of a family follow the first of them into its group, as far as everybody keeps a counter. */
static void join_families(struct attempt *a)
{
	const struct pack *p = a->p;

	for (unsigned i = 0; p->family && i < p->n; i++) {
		unsigned lead = 0;

		while (lead < i && (p->family[lead] != p->family[i] || a->group[lead] == PACK_NONE))
			lead++;
		if (!p->family[i] || a->group[i] != PACK_NONE || !p->mask[i])
			continue;
		keep(a, a->saved);
		if (lead == i || !pin(a, i, a->group[lead])) {
			bring_back(a, a->saved);
			a->group[i] = PACK_NONE;
			pin(a, i, a->at[i] / 64);
		}
	}
}

static void deliver(const struct attempt *a)
{
	const struct pack *p = a->p;

	for (unsigned i = 0; i < p->n; i++)
		p->group[i] = a->group[i] != PACK_NONE ? a->group[i] : p->mask[i] ? a->at[i] / 64
		                                                                  : 0;
}

/* Sets up @a for @k groups; false without memory. */
static bool begin(struct attempt *a, const struct pack *p, unsigned k)
{
	unsigned n_hard = 1;

	for (unsigned i = 0; i < p->n; i++)
		n_hard += !p->plain[i];
	*a = (struct attempt){ .p = p, .k = k, .n_apart = count_apart(p), .steps = p->effort + (unsigned long)n_hard * k };
	a->group = malloc((p->n + 1) * sizeof(uint16_t));
	a->at = malloc((p->n + 1) * sizeof(uint16_t));
	a->order = malloc((p->n + 1) * sizeof(uint16_t));
	a->owner = malloc((size_t)64 * k * sizeof(uint16_t));
	a->seen = calloc(k + 1u, sizeof(uint64_t));
	a->saved = malloc((n_hard * state_size(a) + 1) * sizeof(uint16_t)); /* of nothing, some C libraries give NULL */
	if (!a->group || !a->at || !a->order || !a->owner || !a->seen || !a->saved)
		return false;
	memset(a->group, 0xff, p->n * sizeof(uint16_t));
	memset(a->at, 0xff, p->n * sizeof(uint16_t));
	memset(a->owner, 0xff, (size_t)64 * k * sizeof(uint16_t));
	a->order[p->n] = 0;
	sort_order(a);
	a->order[a->n_order] = 0;
	for (unsigned i = 0; i < a->n_apart; i++)
		a->group[a->order[i]] = (uint16_t)i;
	return true;
}

static void end(struct attempt *a)
{
	free(a->group);
	free(a->at);
	free(a->order);
	free(a->owner);
	free(a->seen);
	free(a->saved);
}

/* ---- bounds ------------------------------------------------------------------------------------------------------------ */

/* An item found no slot: what was asked on the way are counters that too many items are confined to. */
static uint64_t asked(const struct attempt *a)
{
	uint64_t all = 0;

	for (unsigned g = 0; g < a->k; g++)
		all |= a->seen[g];
	return all;
}

static enum found attempt(struct pack *p, unsigned k, bool *out_of_memory)
{
	struct attempt a;
	enum found f = YES;

	*out_of_memory = !begin(&a, p, k);
	if (*out_of_memory) {
		end(&a);
		return NO;
	}
	for (unsigned i = 0; i < p->n && f; i++)
		if (!match(&a, i)) {
			p->proof = a.n_apart ? PACK_SEARCH : PACK_COUNTERS;
			p->counters = asked(&a);
			f = NO;
		}
	if (f) {
		f = place(&a, 0);
		if (f == NO)
			p->proof = PACK_SEARCH;
	}
	if (f == YES) {
		join_families(&a);
		deliver(&a);
	}
	end(&a);
	return f;
}

/* Items without a counter of their own are many for one group only beyond what a set can have. */
static int check_alone(struct pack *p)
{
	for (uint16_t i = 0; i < p->n; i++)
		if (!p->fits(p->arg, &i, 1)) {
			p->n_groups = i;
			return PFMLIB_ERR_NOASSIGN;
		}
	return PFMLIB_SUCCESS;
}

/* So many groups at least, by each single counter set: the largest of all masks is enough to start from. */
static unsigned first_guess(const struct pack *p)
{
	uint64_t all = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < p->n; i++) {
		all |= p->mask[i];
		n += p->mask[i] != 0;
	}
	return n ? (n + popcount(all) - 1) / popcount(all) : 1;
}

/* Counting items on all counters together is the same proof. */
static void begin_proof(struct pack *p, unsigned k)
{
	p->proof = k > 1 ? PACK_COUNTERS : PACK_ONE;
	p->counters = 0;
	for (unsigned i = 0; i < p->n; i++)
		p->counters |= p->mask[i];
	if (p->given > k)
		p->proof = PACK_GIVEN;
	if (count_apart(p) > k && count_apart(p) > p->given)
		p->proof = PACK_APART;
}

int pfmi_pack(struct pack *p)
{
	bool out_of_memory = false;
	unsigned k;
	int rc = p->n > PACK_MAX_ITEMS ? PFMLIB_ERR_TOOMANY : check_alone(p);

	if (rc)
		return rc;
	k = first_guess(p);
	begin_proof(p, k);
	k = p->given > k ? p->given : k;
	k = count_apart(p) > k ? count_apart(p) : k;
	p->optimal = true;
	for (p->bound = k;; k++) {
		enum pack_proof proof = p->proof;
		uint64_t counters = p->counters;
		enum found f = attempt(p, k, &out_of_memory);

		if (out_of_memory)
			return PFMLIB_ERR_NOMEM;
		if (f == YES)
			break;
		/* From here on it is a plan that is looked for, no proof. */
		if (f == TIRED)
			p->optimal = false;
		if (!p->optimal)
			p->effort /= 2;
		if (p->optimal) {
			p->bound = k + 1;
		} else {
			p->proof = proof;
			p->counters = counters;
		}
	}
	p->n_groups = k;
	return PFMLIB_SUCCESS;
}
