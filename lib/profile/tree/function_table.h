/* SPDX-License-Identifier: MIT */
/* The stacks of a profile as lists of frames, and its functions with their own samples and those of
 * their callees. */
#ifndef PERFMON_PROFILE_FUNCTION_TABLE_H
#define PERFMON_PROFILE_FUNCTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "profile/profile.h"

/* Members but the last two are numbers of texts. */
struct profile_frame {
	uint32_t function, object, build_id, source;
	uint32_t flags; /* PFM_FRAME_* */
	uint32_t row;   /* number of its function's row */
};

struct function_row {
	uint32_t event, function, object, build_id, flags;
	uint64_t self_samples, self_weight, children_samples, children_weight;
	size_t last_stack; /* 1 + the last stack that was added to children */
};

/* The frames of a place, the outermost first. */
struct frame_range {
	uint32_t first, n;
};

/* All zeros is empty. */
struct function_table {
	uint32_t *stacks; /* innermost node of each stack */
	size_t n_stacks;
	struct frame_range *places; /* of each place of the profile */
	struct profile_frame *frames;
	size_t n_frames, frames_capacity;
	struct function_row *rows; /* by event, the heaviest first */
	size_t n_rows, rows_capacity;
	size_t *first_rows; /* of each event, and n_rows */
	struct hash_table row_table;
	const char *const *texts; /* set while the rows are sorted */
	/* frames of the stack that was listed last */
	const struct profile_frame **listed;
	size_t n_listed, listed_capacity;
	size_t listed_stack; /* 1 + the number of that stack; 0: no stack */
};

/* Makes the table of a profile with CALLER_TREE. False without memory; free_function_table() frees
 * what there is. */
bool make_function_table(struct function_table *t, struct profile *p);
void free_function_table(struct function_table *t);
/* The @n frames of stack number @stack, the innermost first; valid until the next call. NULL
 * without memory. */
const struct profile_frame *const *
list_stack_frames(struct function_table *t, const struct profile *p, size_t stack, unsigned *n);

#endif
