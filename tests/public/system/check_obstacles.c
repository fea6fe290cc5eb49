/* SPDX-License-Identifier: MIT */
/* The watchdog and rdpmc as the kernel shows them. */
#include <sys/resource.h>
#include "check_fixture.h"

static void watchdog_and_rdpmc(void **state)
{
	struct checked_machine m;

	(void)state;
	open_machine(&m);
	fake_file(&m.fake, "/proc/sys/kernel/nmi_watchdog", "1");
	fake_file(&m.fake, "/sys/bus/event_source/devices/cpu_core/rdpmc", "0");
	check_machine_now(&m, PFM_CHECK_NO_WORKLOAD);
	assert_int_equal(find_check(&m, "NMI watchdog").state, PFM_FINDING_NOTE);
	assert_string_equal(find_check(&m, "NMI watchdog").remedy, "sysctl kernel.nmi_watchdog=0");
	assert_string_equal(find_check(&m, "rdpmc").remedy,
	                    "echo 1 > /sys/bus/event_source/devices/cpu_core/rdpmc");
	close_machine(&m);
}

/* The limit of this very process. test_doctor.py has a lower one, and tracefs in either
 * place. */
static void limits_of_this_process(void **state)
{
	struct checked_machine m;
	struct rlimit files;
	char text[64];

	(void)state;
	open_machine(&m);
	check_machine_now(&m, PFM_CHECK_NO_WORKLOAD);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	snprintf(text, sizeof(text), "%llu open files", (unsigned long long)files.rlim_cur);
	assert_non_null(strstr(find_check(&m, "limits").observed, text));
	close_machine(&m);
}

UNIT(system_check_obstacles, cmocka_unit_test(watchdog_and_rdpmc),
     cmocka_unit_test(limits_of_this_process));
