/* SPDX-License-Identifier: MIT */
/* Arrangement of groups in the slots of a cycle: one group in each slot, and the first slot follows
 * the last one. */
#ifndef PERFMON_SLOT_PACKING_H
#define PERFMON_SLOT_PACKING_H

/* The needs of a group. */
struct slot_demand {
	unsigned min_slots;    /* in a cycle, at least 1 */
	unsigned max_distance; /* from one of its slots to the next one, at most; 0: any */
};

enum slot_result {
	SLOTS_ARRANGED,
	SLOTS_TOO_FEW,    /* the demands need more slots than there are */
	SLOTS_IMPOSSIBLE, /* every arrangement was tried */
	SLOTS_NOT_FOUND,  /* the search ended before every arrangement was tried */
	SLOTS_NO_MEMORY
};

/* The fewest slots of a cycle of @n_slots that meet @d: a group needs one for each of its greatest
 * distances. */
unsigned pfmi_plan_count_needed_slots(const struct slot_demand *d, unsigned n_slots);
/* The greatest distance between two slots of group @g, 0 if it has none. */
unsigned pfmi_plan_compute_slot_distance(const unsigned *group_of, unsigned n_slots, unsigned g);
/* Fills @group_of[0 .. n_slots - 1] with groups 0 .. n - 1, evenly spread. Slots that no demand
 * needs go to the groups with fewest slots. Equal input gives an equal arrangement.
 * @effort  steps of the search for distances that an even spread does not keep */
enum slot_result pfmi_plan_arrange_slots(const struct slot_demand *demands, unsigned n,
                                         unsigned n_slots, unsigned long effort,
                                         unsigned *group_of);

#endif
