/* SPDX-License-Identifier: MIT */
/* Counts of the known workload beside what is expected of it. test_doctor_faults.c has
 * the rest. */
#include "check_fixture.h"

static void count_pages(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = 600;
	e->is_open = e->running = 1000000;
}

/* 600 page faults are plausible, 600 instructions are not. */
static void reports_implausible_counts(void **state)
{
	struct checked_machine m;
	pfm_finding_t f;

	(void)state;
	open_machine(&m);
	m.fake.tick = count_pages;
	check_machine_now(&m, 0);
	f = find_check(&m, "page-faults:u");
	assert_int_equal(f.topic, PFM_FINDING_WORKLOAD);
	assert_int_equal(f.has_count, 1);
	assert_int_equal(f.count, 600);
	assert_int_equal(f.state, PFM_FINDING_GOOD);
	assert_int_equal(find_check(&m, "instructions:u").state, PFM_FINDING_BAD);
	close_machine(&m);
}

UNIT(system_check_workload, cmocka_unit_test(reports_implausible_counts));
