/* SPDX-License-Identifier: MIT */
/* Values of regions by rank, process or thread. */
#ifndef PFM_STAT_REGION_UNITS_H
#define PFM_STAT_REGION_UNITS_H

#include <stdbool.h>

struct region_collection;

enum region_unit { BY_NO_UNIT, BY_RANK, BY_PROCESS, BY_THREAD_ID };

/* The unit called @name. False if there is none. */
bool find_region_unit(const char *name, enum region_unit *by);
/* Replaces the text of @results, JSON, by the spread of its values over the units. Returns an exit
 * status. */
int write_region_units(struct region_collection *results, enum region_unit by, bool is_json);

#endif
