/* SPDX-License-Identifier: MIT */
/* OpenMP of gcc. Its runtime has no tools interface, but programs call a function of it at each
 * parallel region, with the code that each thread of the team executes. The preloaded library gets
 * these calls, and this adapter executes that code inside a visit: each thread counts its part,
 * without the barrier at the end. */
#include "gomp.h"
#include "adapter.h"
#include "place.h"

/* Executes the code of a parallel region in a thread of the team. */
EXPORT void perfmon_gomp_execute(void *part);
EXPORT void perfmon_gomp_execute(void *part)
{
	const struct gomp_part p = *(struct gomp_part *)part;

	if (p.region)
		pfm_begin_region(p.region);
	p.code(p.data);
	if (p.region)
		pfm_end_region(p.region);
}

/* The region whose code is at @place; NULL if regions are not counted. */
EXPORT pfm_region_t *perfmon_gomp_find_region(const void *place);
EXPORT pfm_region_t *perfmon_gomp_find_region(const void *place)
{
	return perfmon_regions_active ? find_region_of_place(place) : NULL;
}
