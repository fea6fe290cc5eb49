/* SPDX-License-Identifier: MIT */
/* Regions named for places in programs. */
#ifndef PERFMON_REGION_PLACE_H
#define PERFMON_REGION_PLACE_H

#include <perfmon/region.h>

/* The region of a parallel region at @address, code: "parallel FILE+0xOFFSET", with the path of the
 * program or library and the offset in it. pfm replaces this name by that of the function and the
 * line (tools/stat/region_places.c), for which programs have neither the time nor the memory.
 * "parallel" for code of no file. */
pfm_region_t *find_region_of_place(const void *address);

#endif
