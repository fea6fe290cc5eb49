/* SPDX-License-Identifier: MIT */
#include "pretend/generic.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

/* Indexed by PERF_COUNT_HW_*. */
static const char *const hardware_names[] = { "cpu-cycles",
	                                      "instructions",
	                                      "cache-references",
	                                      "cache-misses",
	                                      "branch-instructions",
	                                      "branch-misses",
	                                      "bus-cycles",
	                                      "stalled-cycles-frontend",
	                                      "stalled-cycles-backend",
	                                      "ref-cycles" };
enum { N_HARDWARE = sizeof(hardware_names) / sizeof(hardware_names[0]) };

/* As perf list prints them: cache, operation, result. */
static bool name_cache_event(uint64_t config, char name[GENERIC_NAME_MAX])
{
	static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
		                              "iTLB",      "branch",    "node" };
	static const char *const accesses[] = { "loads", "stores", "prefetches" };
	static const char *const misses[] = { "load-misses", "store-misses", "prefetch-misses" };
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16;

	if (cache >= sizeof(caches) / sizeof(caches[0]) || op > 2 || result > 1)
		return false;
	snprintf(name, GENERIC_NAME_MAX, "%s-%s", caches[cache],
	         result ? misses[op] : accesses[op]);
	return true;
}

bool name_generic(uint32_t type, uint64_t config, char name[GENERIC_NAME_MAX])
{
	if (type == PERF_TYPE_HW_CACHE)
		return name_cache_event(config, name);
	if (type != PERF_TYPE_HARDWARE || config >= N_HARDWARE)
		return false;
	snprintf(name, GENERIC_NAME_MAX, "%s", hardware_names[config]);
	return true;
}

bool is_hardware_generic(const char *name)
{
	for (unsigned i = 0; i < N_HARDWARE; i++)
		if (strcmp(name, hardware_names[i]) == 0)
			return true;
	return false;
}
