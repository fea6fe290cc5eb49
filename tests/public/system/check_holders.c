/* SPDX-License-Identifier: MIT */
/* Groups of resctrl. test_doctor.py has real processes with events and a real lock. */
#include "check_fixture.h"

static void groups_of_resctrl(void **state)
{
	struct checked_machine m;

	(void)state;
	open_machine(&m);
	check_machine_now(&m, PFM_CHECK_NO_WORKLOAD);
	assert_null(find_check(&m, "resctrl").check);
	fake_file(&m.fake, "/sys/fs/resctrl/mon_groups/db/tasks", "");
	fake_file(&m.fake, "/sys/fs/resctrl/mon_groups/web/tasks", "");
	check_machine_now(&m, PFM_CHECK_NO_WORKLOAD);
	assert_int_equal(find_check(&m, "resctrl").state, PFM_FINDING_NOTE);
	assert_string_equal(find_check(&m, "resctrl").observed, "2 groups for monitoring");
	fake_file(&m.fake, "/sys/fs/resctrl/info/L3_MON/num_rmids", "256");
	check_machine_now(&m, PFM_CHECK_NO_WORKLOAD);
	assert_string_equal(find_check(&m, "resctrl").observed,
	                    "2 groups for monitoring, of at most 256");
	close_machine(&m);
}

UNIT(system_check_holders, cmocka_unit_test(groups_of_resctrl));
