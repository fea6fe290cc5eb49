/* SPDX-License-Identifier: MIT */
/* Regions that are named for places in programs. */
#ifndef PFM_STAT_REGION_PLACES_H
#define PFM_STAT_REGION_PLACES_H

#include <perfmon/profile.h>
#include <perfmon/region.h>

/* Places that have been named. All zeros is empty. */
struct region_places {
	pfm_symbols_t *symbols; /* opened with the first place */
	void *by_place, *by_name;
};

/* Names the regions "parallel FILE+0xOFFSET" of results that are in the file open as @fd. A file
 * that has changed since then names nothing. */
void name_region_places(struct region_places *places, pfm_region_results_t *results, int fd);
void free_region_places(struct region_places *places);

#endif
