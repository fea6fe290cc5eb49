/* SPDX-License-Identifier: MIT */
/* A parallel region of gcc's OpenMP: the preloaded library (preload.c) hands it to the adapter
 * (gomp.c). */
#ifndef PERFMON_REGION_GOMP_H
#define PERFMON_REGION_GOMP_H

typedef void (*gomp_code)(void *data);

/* perfmon_gomp_find_region() of the adapter. */
typedef struct pfm_region *(*gomp_find_region)(const void *place);

/* The code that each thread of the team executes, and the region that counts it. */
struct gomp_part {
	gomp_code code;
	void *data;
	struct pfm_region *region;
};

#endif
