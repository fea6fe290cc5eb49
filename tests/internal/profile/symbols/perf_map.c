/* SPDX-License-Identifier: MIT */
#include "profile/symbols/perf_map.h"
#include <unistd.h>
#include "units.h"

/* Names as the kernel's tools/perf/Documentation/jit-interface.txt has them; the last one holds. */
static void the_map_of_a_process(void **state)
{
	struct perf_maps maps = { .n = 0 };
	uint32_t pid = (uint32_t)getpid();
	char path[64];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("1000 20 first\n0x2000 0x10 second function\nno line\n1000 10 first again\n", f);
	fclose(f);
	assert_string_equal(perf_maps_find(&maps, pid, 0x1008), "first again");
	assert_null(perf_maps_find(&maps, pid, 0x1010));
	assert_string_equal(perf_maps_find(&maps, pid, 0x200f), "second function");
	assert_null(perf_maps_find(&maps, pid, 0x3000));
	perf_maps_free(&maps);
	unlink(path);
}

UNIT(profile_perf_map, cmocka_unit_test(the_map_of_a_process));
