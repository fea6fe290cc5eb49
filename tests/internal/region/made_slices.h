/* SPDX-License-Identifier: MIT */
/* Slices for the formats that draw them: in thread 7 "inner" inside "outer", the second event
 * counted in "outer" only; and a visit of "apart" that overlaps. */
#ifndef TESTS_REGION_MADE_SLICES_H
#define TESTS_REGION_MADE_SLICES_H

#include "made_regions.h"

static inline void keep_slice(struct made_regions *m, const char *name, uint64_t begin,
                              uint64_t end, uint64_t first, uint64_t second, bool overlaps)
{
	const uint64_t zero[WORDS] = { 2 };
	const uint64_t now[WORDS] = { 2, end - begin, end - begin, first, second };

	pfmi_slices_add_visit(&m->thread, pfmi_region_find_or_make_number(name),
	                      &(struct visit){ .start = zero,
	                                       .now = now,
	                                       .is_complete = true,
	                                       .wall = end - begin,
	                                       .pairs = strcmp(name, "outer") == 0 },
	                      &(struct slice_times){ begin, end, overlaps });
}

static inline void make_slices(struct made_regions *m)
{
	make_regions(m);
	pfmi_regions.keeps_slices = true;
	m->events[0].cost_inside = 2;
	m->events[0].cost_pair = 10;
	keep_slice(m, "inner", 1500200, 1500450, 52, 3, false);
	keep_slice(m, "outer", 1500000, 1501001, 112, 4, false);
	keep_slice(m, "apart", 1500900, 2500900, 1, 5, true);
}

static inline void unmake_slices(struct made_regions *m)
{
	pfmi_slices_release_page(&m->thread);
	pfmi_slices_forget();
	pfmi_regions.keeps_slices = false;
	unmake_regions(m);
}

#endif
