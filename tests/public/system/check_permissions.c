/* SPDX-License-Identifier: MIT */
/* Levels, capabilities and filters as the kernel shows them. */
#include "check_fixture.h"

static void capabilities_by_their_bits(void **state)
{
	struct checked_machine m;
	pfm_finding_t f;

	(void)state;
	open_machine(&m);
	fake_file(&m.fake, "/proc/self/status", "Name:\tx\nCapEff:\t0000004000000000\nSeccomp:\t0");
	check_machine_now(&m, PFM_CHECK_NO_WORKLOAD);
	f = find_check(&m, "capabilities");
	assert_int_equal(f.topic, PFM_FINDING_PERMISSIONS);
	assert_string_equal(f.observed, "CAP_PERFMON yes, CAP_SYS_ADMIN no, CAP_SYS_PTRACE no");
	assert_string_equal(find_check(&m, "seccomp").observed, "no filter");
	close_machine(&m);
}

static void hidden_processes_are_a_note(void **state)
{
	struct checked_machine m;

	(void)state;
	open_machine(&m);
	fake_file(&m.fake, "/proc/mounts", "proc /proc proc rw,hidepid=invisible,gid=4 0 0");
	check_machine_now(&m, PFM_CHECK_NO_WORKLOAD);
	assert_int_equal(find_check(&m, "other processes").state, PFM_FINDING_NOTE);
	assert_non_null(strstr(find_check(&m, "other processes").observed, "hidepid=invisible:"));
	close_machine(&m);
}

static int deny(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group)
{
	(void)f;
	(void)attr;
	(void)pid;
	(void)cpu;
	(void)group;
	return -EACCES;
}

static void permits_no_counting(void **state)
{
	struct checked_machine m;

	(void)state;
	open_machine(&m);
	m.fake.decide = deny;
	fake_file(&m.fake, "/proc/self/status", "Seccomp:\t2");
	check_machine_now(&m, PFM_CHECK_NO_WORKLOAD);
	assert_int_equal(find_check(&m, "seccomp").state, PFM_FINDING_BAD);
	assert_int_equal(find_check(&m, "own code").state, PFM_FINDING_BAD);
	assert_string_not_equal(find_check(&m, "whole CPUs").consequence, "");
	close_machine(&m);
}

UNIT(system_check_permissions, cmocka_unit_test(capabilities_by_their_bits),
     cmocka_unit_test(hidden_processes_are_a_note), cmocka_unit_test(permits_no_counting));
