/* SPDX-License-Identifier: MIT */
/* Processor and PMUs of a recorded machine. */
#include "check_fixture.h"

static void a_hybrid_machine(void **state)
{
	struct checked_machine m;
	pfm_finding_t f;

	(void)state;
	open_machine(&m);
	check_machine_now(&m, PFM_CHECK_NO_WORKLOAD);
	f = find_check(&m, "processor");
	assert_int_equal(f.topic, PFM_FINDING_MACHINE);
	assert_int_equal(f.state, PFM_FINDING_GOOD);
	f = find_check(&m, "PMUs");
	assert_int_equal(f.state, PFM_FINDING_GOOD);
	assert_non_null(strstr(f.observed, "cpu_core"));
	assert_non_null(strstr(f.observed, "cpu_atom"));
	close_machine(&m);
}

UNIT(system_check_machine, cmocka_unit_test(a_hybrid_machine));
