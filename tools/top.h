/* SPDX-License-Identifier: MIT */
/* pfm top: a profile that grows, as a table or as the callers of one function. */
#ifndef PFM_TOP_H
#define PFM_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "profile/profile.h"

/* The part of a profile that is shown. */
struct top_view {
	unsigned event;      /* whose samples */
	bool is_by_children; /* sorted by the share with callees */
	bool has_children;   /* callees have shares: call chains are recorded */
	size_t chosen;       /* row of the cursor */
	bool is_zoomed;      /* the callers of one function, instead of the table */
	uint32_t zoomed;     /* its place */
	bool has_cursor;
	size_t columns; /* of the lines; 0: names are not cut */
};

/* Lines of text, without their ends. */
struct text_lines {
	char **line;
	size_t n, capacity;
	bool failed;
};

void text_lines_free(struct text_lines *lines);
/* Adds at most @limit rows of the table, or of the callers, to @lines, and how many are left out.
 * Returns the place of the chosen row, UINT32_MAX without rows. Without memory
 * @lines->failed. */
uint32_t put_top_rows(const struct profile *p, unsigned keys, struct top_view *view, size_t limit,
                      struct text_lines *lines);

#endif
