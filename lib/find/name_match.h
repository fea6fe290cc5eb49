/* SPDX-License-Identifier: MIT */
#ifndef PERFMON_NAME_MATCH_H
#define PERFMON_NAME_MATCH_H

#include "base/text.h"

/* The best match first. */
enum name_match {
	NAME_MATCH_CHILD,     /* MEM_LOAD_RETIRED: MEM_LOAD_RETIRED.L3_MISS */
	NAME_MATCH_COMPONENT, /* L3_MISS: MEM_LOAD_RETIRED.L3_MISS */
	NAME_MATCH_WORDS,     /* L3_MISS: MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM */
	NAME_MATCH_LONG_NAME, /* L3_MISS: OFFCORE_RESPONSE.DEMAND_RFO.L3_MISS */
	NAME_MATCH_NONE,
};

/* How @name contains @token as whole words, without regard to case. Any separator ('.', ':', '_',
 * '-') matches any other. */
enum name_match pfmi_find_match_name(const char *name, struct slice token);

#endif
