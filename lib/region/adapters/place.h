/* SPDX-License-Identifier: MIT */
/* Regions named for places in programs. */
#ifndef PERFMON_REGION_PLACE_H
#define PERFMON_REGION_PLACE_H

#include <dlfcn.h>
#include <stdio.h>
#include "adapter.h"

/* The region of a parallel region at @place: "parallel FUNCTION+OFFSET", or "parallel FILE+OFFSET"
 * where the program does not export its functions' names. */
static inline pfm_region_t *make_region_of_place(const void *place)
{
	Dl_info info = { 0 };
	char name[256];
	const char *file;

	if (!place || !dladdr(place, &info) || !info.dli_fname)
		return pfm_find_region("parallel");
	file = strrchr(info.dli_fname, '/');
	if (info.dli_sname)
		snprintf(name, sizeof(name), "parallel %s+0x%zx", info.dli_sname,
		         (size_t)((const char *)place - (const char *)info.dli_saddr));
	else
		snprintf(name, sizeof(name), "parallel %s+0x%zx", file ? file + 1 : info.dli_fname,
		         (size_t)((const char *)place - (const char *)info.dli_fbase));
	return pfm_find_region(name);
}

#endif
