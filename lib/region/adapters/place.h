/* SPDX-License-Identifier: MIT */
/* Regions named for places in programs. */
#ifndef PERFMON_REGION_PLACE_H
#define PERFMON_REGION_PLACE_H

#include <perfmon/region.h>

/* The region of the parallel region whose code is at @address. Its name is "parallel
 * FILE+0xOFFSET", with the path of the program or library and the offset in it; "parallel" for code
 * of no file. The command pfm replaces the name by those of the function and the line
 * (tools/stat/region_places.c): a program that looked them up would lose time and memory. */
pfm_region_t *find_region_of_place(const void *address);

#endif
