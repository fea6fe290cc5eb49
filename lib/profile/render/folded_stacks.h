/* SPDX-License-Identifier: MIT */
/* Stacks as lines of text, "task;outer;inner". */
#ifndef PERFMON_PROFILE_FOLDED_STACKS_H
#define PERFMON_PROFILE_FOLDED_STACKS_H

#include <stdio.h>
#include "profile/tree/function_table.h"
#include "profile/tree/losses.h"

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
/* Writes the name of a task or a frame without line ends and semicolons, which would end a line or
 * a frame. */
void put_folded_name(FILE *out, const char *name);
/* Adds @weight to the line @text, which is freed or kept. False without memory, also for NULL. */
bool add_folded_line(struct folded_stacks *f, char *text, uint64_t weight);
/* The heaviest first; lines that weigh the same stay in the order in which they came. */
void sort_folded_lines(struct folded_stacks *f);
/* Writes the lines with their weights; losses follow as a comment, which ends in a
 * word: no reader takes it for a stack. */
void write_folded_lines(FILE *out, const struct folded_stacks *f,
                        const struct profile_losses *losses);
void free_folded_stacks(struct folded_stacks *f);

#endif
