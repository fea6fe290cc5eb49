/* SPDX-License-Identifier: MIT */
/* Stacks as lines of text, "task;outer;inner". */
#ifndef PERFMON_PROFILE_FOLDED_STACKS_H
#define PERFMON_PROFILE_FOLDED_STACKS_H

#include "profile/tree/function_table.h"

struct folded_line {
	char *text;
	uint64_t weight;
	size_t order; /* order of first occurrence */
};

struct folded_stacks {
	struct folded_line *lines; /* the heaviest first */
	size_t n, capacity;
	struct hash_table table;
};

/* Makes the lines of event @event: stacks that differ in labels and source lines are one. False
 * without memory; free_folded_stacks() frees what there is. */
bool fold_stacks(struct folded_stacks *f, struct function_table *t, const struct profile *p,
                 unsigned event);
void free_folded_stacks(struct folded_stacks *f);

#endif
