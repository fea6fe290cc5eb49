/* SPDX-License-Identifier: MIT */
/* Items into the least number of groups: each item takes one of the counters in its mask, each
 * counter of a group serves one item, and items that are not plain share more than counters, which
 * a question to the caller settles.
 *
 * Plain items alone are a matching problem with an exact answer: k groups are k copies of the
 * counters. So only the other items are searched for a group; at every step a matching says whether
 * all items still find a counter. What is found is the least number unless the search runs out of
 * its budget; then the bound says how far off it can be.
 *
 * Items that are kept apart leave the others of their group no general counter. No two of them
 * share a group, so the first groups are theirs, in their order. */
#ifndef PERFMON_PACK_H
#define PERFMON_PACK_H

#include <stdbool.h>
#include <stdint.h>

#define PACK_MAX_ITEMS 1024
#define PACK_MAX_GROUP 48 /* items of one group */
#define PACK_NONE      0xffffu

/* Proof of the bound. */
enum pack_proof {
	PACK_PROOF_ONE_GROUP, /* there is something to count */
	PACK_PROOF_COUNTERS,  /* so many items have only these counters */
	PACK_PROOF_CALLER,    /* the caller's own bound */
	PACK_PROOF_EXCLUSIVE, /* so many items are kept apart */
	PACK_PROOF_SEARCH     /* every way to use fewer groups was tried */
};

struct pack_problem {
	unsigned n_items;
	const uint64_t *counter_mask; /* counters of each item; 0: takes none */
	const bool *is_plain;
	const bool *is_exclusive; /* of those that are not plain; or NULL */
	/* Can these items, of which some are not plain, be counted together? Asked of items that
	 * are not plain, and of whole groups. */
	bool (*can_share_group)(void *arg, const uint16_t *items, unsigned n);
	void *arg;
	unsigned proven_bound;    /* a bound the caller has proved */
	const uint16_t *affinity; /* items of one family (not 0) go together where that costs
	                             nothing; or NULL */
	unsigned long effort;     /* steps of the search beyond one straight walk through it */
	/* Results. */
	uint16_t *group;
	unsigned n_groups, bound;
	bool is_optimal;
	enum pack_proof proof;
	uint64_t proof_counters; /* of PACK_PROOF_COUNTERS */
};

/* PFMLIB_SUCCESS, PFMLIB_ERR_NOMEM, PFMLIB_ERR_TOOMANY, or PFMLIB_ERR_NOASSIGN for an item that
 * does not even fit alone (p->n_groups is its number then). */
int pfmi_plan_pack_groups(struct pack_problem *p);

#endif
