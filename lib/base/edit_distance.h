/* SPDX-License-Identifier: MIT */
/* The edit distance of two names, for suggestions after a misspelled name. */
#ifndef PERFMON_BASE_EDIT_DISTANCE_H
#define PERFMON_BASE_EDIT_DISTANCE_H

/* Bytes of the longest name that is compared. */
enum { EDIT_DISTANCE_MAX = 96 };

/* Insertions, deletions, replacements and swaps of neighbours that make the @n bytes at @a into
 * the @m bytes at @b, both at most EDIT_DISTANCE_MAX. Returns @limit + 1 if there are more than
 * @limit. */
unsigned base_compute_edit_distance(const unsigned char *a, unsigned n, const unsigned char *b,
                                    unsigned m, unsigned limit);

#endif
