/* SPDX-License-Identifier: MIT */
/* Shared by the adapters. An adapter is a small library that turns the marks of another interface
 * into regions; the runtime of that interface loads it. Its threads keep a pointer into the
 * library: it is linked so that it is never unloaded. */
#ifndef PERFMON_REGION_ADAPTER_H
#define PERFMON_REGION_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/region.h>

#define EXPORT __attribute__((visibility("default")))

/* The regions that a thread has open through push and pop, which name none at the end. Visits
 * deeper than this are left out. */
enum { OPEN_MAX_DEPTH = 256 };

struct open_regions {
	pfm_region_t *regions[OPEN_MAX_DEPTH];
	unsigned depth;
};

static inline void push_region(struct open_regions *open, pfm_region_t *region)
{
	if (open->depth < OPEN_MAX_DEPTH) {
		open->regions[open->depth] = region;
		if (region)
			pfm_begin_region(region);
	}
	open->depth++;
}

/* Returns the depth before, 0 if nothing was open. */
static inline unsigned pop_region(struct open_regions *open)
{
	unsigned depth = open->depth;

	if (!depth)
		return 0;
	open->depth--;
	if (open->depth < OPEN_MAX_DEPTH && open->regions[open->depth])
		pfm_end_region(open->regions[open->depth]);
	return depth;
}

#endif
