/* SPDX-License-Identifier: MIT */
/* The lock of the process, and what it says to a signal handler in the same thread. */
#include "units.h"
#include "region/region.h"

static void regions_are_undecided_at_first(void **state)
{
	(void)state;
	assert_int_equal(perfmon_regions_active, -1); /* undecided */
	assert_false(pfmi_regions.started);
	assert_null(pfmi_region_caller.thread);
}

static void lock_makes_the_caller_busy(void **state)
{
	(void)state;
	pfmi_regions_lock();
	assert_int_equal(pfmi_region_caller.busy, 1);
	assert_int_not_equal(pthread_mutex_trylock(&pfmi_regions.lock), 0);
	pfmi_regions_unlock();
	assert_int_equal(pfmi_region_caller.busy, 0);
	assert_int_equal(pthread_mutex_trylock(&pfmi_regions.lock), 0);
	pthread_mutex_unlock(&pfmi_regions.lock);
}

/* In a region call the thread was busy before, and it stays so. */
static void lock_inside_a_call_keeps_its_state(void **state)
{
	(void)state;
	pfmi_region_caller.busy = 1;
	pfmi_regions_lock();
	pfmi_regions_unlock();
	assert_int_equal(pfmi_region_caller.busy, 1);
	pfmi_region_caller.busy = 0;
}

UNIT(region_state, cmocka_unit_test(regions_are_undecided_at_first),
     cmocka_unit_test(lock_makes_the_caller_busy),
     cmocka_unit_test(lock_inside_a_call_keeps_its_state));
