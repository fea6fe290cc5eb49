/* SPDX-License-Identifier: MIT */
/* Paths of the files of a process. */
#include "units.h"
#include <unistd.h>
#include "region/region.h"

static void expect_path(const char *output, uint32_t epoch, const char *want)
{
	char path[4200];

	snprintf(pfmi_regions.output, sizeof(pfmi_regions.output), "%s", output);
	pfmi_regions.epoch = epoch;
	assert_true(pfmi_region_build_path(path, sizeof(path), ".json"));
	assert_string_equal(path, want);
	assert_false(pfmi_region_build_path(path, strlen(want), ".json")); /* no room for its end */
	assert_true(pfmi_region_build_path(path, strlen(want) + 1, ".json"));
	pfmi_regions.epoch = 0;
	pfmi_regions.output[0] = '\0';
}

static void path_has_process_id_and_suffix(void **state)
{
	char want[64], path[64];

	(void)state;
	expect_path("a.txt", 0, "a.txt");
	snprintf(want, sizeof(want), "a.txt.%d", (int)getpid());
	expect_path("a.txt", 1, want); /* after a fork */
	snprintf(want, sizeof(want), "a.%d.txt", (int)getpid());
	expect_path("a.%p.txt", 0, want);
	expect_path("a.%p.txt", 1, want);
	snprintf(want, sizeof(want), "d/regions.%d.json", (int)getpid());
	expect_path("d/", 0, want);
	assert_false(pfmi_region_build_path(path, sizeof(path), ""));
}

UNIT(region_output, cmocka_unit_test(path_has_process_id_and_suffix));
