/* SPDX-License-Identifier: MIT */
/* Packs items into the least number of groups. Each item takes one of the counters in its mask, and
 * each counter of a group serves one item. Items that are not plain share more than counters; a
 * function of the caller decides whether they fit together.
 *
 * Plain items alone are a matching problem with an exact solution: k groups are k copies of the
 * counters. So only the other items are searched for a group; at each step a matching decides
 * whether all items still have a counter. The result is the least number of groups unless the
 * search runs out of steps; the bound then limits the difference.
 *
 * Exclusive items leave the others of their group no general counter. No two of them share a group,
 * so they are in the first groups, in their order. */
#ifndef PERFMON_PACK_H
#define PERFMON_PACK_H

#include <stdbool.h>
#include <stdint.h>

#define PACK_MAX_ITEMS 1024
#define PACK_MAX_GROUP 48 /* items of one group */
#define PACK_NONE      0xffffu

/* Proof of the bound. */
enum pack_proof {
	PACK_PROOF_ONE_GROUP, /* there is at least one event */
	PACK_PROOF_COUNTERS,  /* the items that only these counters can count */
	PACK_PROOF_CALLER,    /* the caller's own bound */
	PACK_PROOF_EXCLUSIVE, /* the number of exclusive items */
	PACK_PROOF_SEARCH     /* every way to use fewer groups was tried */
};

struct pack_problem {
	unsigned n_items;
	const uint64_t *counter_mask; /* counters of each item; 0: needs none */
	const bool *is_plain;
	const bool *is_exclusive; /* items that are not plain only; or NULL */
	/* Can these items be counted together? Called for sets of items that are not plain, and for
	 * each item alone. */
	bool (*can_share_group)(void *arg, const uint16_t *items, unsigned n);
	void *arg;
	unsigned proven_bound;    /* a bound the caller has proved */
	const uint16_t *affinity; /* items of equal affinity (not 0) share a group if that needs no
	                             further group; or NULL */
	unsigned long
		effort; /* steps of the search beyond those of a search without backtracking */
	/* Results. */
	uint16_t *group;
	unsigned n_groups, bound;
	bool is_optimal;
	enum pack_proof proof;
	uint64_t proof_counters; /* of PACK_PROOF_COUNTERS */
};

/* Returns PFMLIB_SUCCESS, PFMLIB_ERR_NOMEM, PFMLIB_ERR_TOOMANY, or PFMLIB_ERR_NOASSIGN for an item
 * that does not fit even alone (p->n_groups is its number then). */
int pfmi_plan_pack_groups(struct pack_problem *p);

#endif
