/* SPDX-License-Identifier: MIT */
/* Counts of an emulator in regions, without an emulator: the system call fails. */
#include "made_regions.h"

static void counts_of_an_emulator_are_planned(void **state)
{
	struct layout l = { .n_events = 0 };
	uint64_t words[16] = { 0 };

	(void)state;
	assert_int_equal(pfmi_layout_plan_simulated(&l, "branches,cycles,instructions", NULL), 0);
	pfmi_layout_assign_places(&l);
	assert_int_equal(l.n_events, 3);
	assert_int_equal(l.rounds[0].groups[0].n, 2);
	assert_int_equal(l.events[1].quality, PFM_QUALITY_NOT_SUPPORTED);
	assert_string_equal(l.events[1].why, "an emulator does not have it");
	words[GROUP_VALUES] = words[GROUP_VALUES + 1] = 7;
	pfmi_region_read_simulated(&l, 5, words);
	assert_int_equal(words[GROUP_NR], 2);
	assert_int_equal(words[GROUP_ENABLED], 5);
	assert_int_equal(words[GROUP_VALUES], 0);
	pfmi_layout_free(&l);
}

static void only_the_variable_asks_for_it(void **state)
{
	(void)state;
	assert_false(pfmi_region_is_simulated());
	setenv("PERFMON_SIMULATED", "1", 1);
	assert_true(pfmi_region_is_simulated());
	unsetenv("PERFMON_SIMULATED");
}

UNIT(region_simulated, cmocka_unit_test(counts_of_an_emulator_are_planned),
     cmocka_unit_test(only_the_variable_asks_for_it));
