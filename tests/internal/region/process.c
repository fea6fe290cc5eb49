/* SPDX-License-Identifier: MIT */
/* The process in its results. */
#include "units.h"
#include <errno.h>
#include <unistd.h>
#include "region/region.h"

static int get_rank(const char *name, const char *value)
{
	struct region_process p;

	setenv(name, value, 1);
	pfmi_region_fill_process(&p);
	unsetenv(name);
	return p.rank;
}

static void process_is_this_one(void **state)
{
	struct region_process p;

	(void)state;
	pfmi_region_fill_process(&p);
	assert_int_equal(p.pid, getpid());
	assert_string_equal(p.program, program_invocation_short_name);
	assert_true(p.start_time > 0);
	assert_int_equal(p.rank, -1);
}

static void rank_is_a_number_of_the_environment(void **state)
{
	(void)state;
	assert_int_equal(get_rank("OMPI_COMM_WORLD_RANK", "3"), 3);
	assert_int_equal(get_rank("PMI_RANK", "0"), 0);
	assert_int_equal(get_rank("SLURM_PROCID", "17"), 17);
	assert_int_equal(get_rank("PMI_RANK", "-2"), -1);
	assert_int_equal(get_rank("PMI_RANK", "3x"), -1);
	assert_int_equal(get_rank("PMI_RANK", "99999999999"), -1);
}

UNIT(region_process, cmocka_unit_test(process_is_this_one),
     cmocka_unit_test(rank_is_a_number_of_the_environment));
