/* SPDX-License-Identifier: MIT */
/* The place of a CPU as recorded files have it. */
#include <perfmon/aggregate.h>
#include "check_fixture.h"

static void numbers_of_the_files(void **state)
{
	pfm_cpu_info_t info = PFM_INIT(info);
	struct checked_machine m;

	(void)state;
	open_machine(&m);
	fake_file(&m.fake, "/sys/devices/system/cpu/cpu70/topology/core_id", "3");
	fake_file(&m.fake, "/sys/devices/system/cpu/cpu70/topology/die_id", "1");
	fake_file(&m.fake, "/sys/devices/system/cpu/cpu70/topology/physical_package_id", "2");
	fake_file(&m.fake, "/sys/devices/system/cpu/cpu70/node4/x", "");
	assert_int_equal(pfm_describe_cpu(m.ctx, 70, &info), PFMLIB_SUCCESS);
	assert_int_equal(info.core, 3);
	assert_int_equal(info.die, 1);
	assert_int_equal(info.socket, 2);
	assert_int_equal(info.node, 4);
	close_machine(&m);
}

/* Kernels write -1 for what they do not know. */
static void a_place_of_minus_1_is_unknown(void **state)
{
	pfm_cpu_info_t info = PFM_INIT(info);
	struct checked_machine m;

	(void)state;
	open_machine(&m);
	fake_file(&m.fake, "/sys/devices/system/cpu/cpu70/topology/die_id", "-1");
	assert_int_equal(pfm_describe_cpu(m.ctx, 70, &info), PFMLIB_SUCCESS);
	assert_int_equal(info.core, -1);
	assert_int_equal(info.die, -1);
	assert_int_equal(info.node, -1);
	assert_int_equal(pfm_describe_cpu(m.ctx, 70, NULL), PFMLIB_ERR_INVAL);
	close_machine(&m);
}

UNIT(session_cpu_topology, cmocka_unit_test(numbers_of_the_files),
     cmocka_unit_test(a_place_of_minus_1_is_unknown));
