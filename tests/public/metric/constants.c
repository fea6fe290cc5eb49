/* SPDX-License-Identifier: MIT */
/* Constants of formulas on a machine made of files. */
#include "units.h"
#include "machine_files.h"

static void expect_constant(const pfm_ctx_t *ctx, const char *name, double seconds, int rc,
                            double want)
{
	pfm_metric_input_t in = PFM_INIT(in);
	double value = -1;

	in.is_constant = 1;
	snprintf(in.text, sizeof(in.text), "%s", name);
	assert_int_equal(pfm_read_metric_constant(ctx, &in, seconds, &value), rc);
	assert_true(value == want);
	in.has_preset = 1;
	in.preset = 77;
	assert_int_equal(pfm_read_metric_constant(ctx, &in, seconds, &value), PFMLIB_SUCCESS);
	assert_true(value == (rc ? 77 : want));
	in.is_constant = 0;
	assert_int_equal(pfm_read_metric_constant(ctx, &in, seconds, &value), PFMLIB_ERR_NOTFOUND);
}

static void constants_are_those_of_the_machine_and_the_measurement(void **state)
{
	char root[] = "/tmp/perfmon_constants_XXXXXX";
	pfm_metric_input_t in = PFM_INIT(in);
	pfm_ctx_t *ctx;
	double value;

	(void)state;
	assert_non_null(mkdtemp(root));
	put(root, "sys/devices/system/cpu/present", "0-7\n");
	put(root, "sys/devices/system/cpu/online", "0-3,6\n");
	put(root, "sys/devices/system/cpu/smt/active", "1\n");
	ctx = open_machine("GenuineIntel-6-55-4", root);
	expect_constant(ctx, "#num_cpus", 0, PFMLIB_SUCCESS, 8);
	expect_constant(ctx, "#num_cpus_online", 0, PFMLIB_SUCCESS, 5);
	expect_constant(ctx, "#smt_on", 0, PFMLIB_SUCCESS, 1);
	expect_constant(ctx, "#threads_per_core", 0, PFMLIB_SUCCESS, 2);
	expect_constant(ctx, "#duration_ms", 1.5, PFMLIB_SUCCESS, 1500);
	expect_constant(ctx, "#duration_ms", 0, PFMLIB_ERR_NOTFOUND, 0);
	expect_constant(ctx, "#num_packages", 1.5, PFMLIB_ERR_NOTFOUND, 0);
	assert_int_equal(pfm_read_metric_constant(ctx, &in, -1, &value), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_metric_constant(ctx, NULL, 0, &value), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_read_metric_constant(ctx, &in, 0, NULL), PFMLIB_ERR_INVAL);
	in.size = 1;
	assert_int_equal(pfm_read_metric_constant(ctx, &in, 0, &value), PFMLIB_ERR_INVAL);
	pfm_close_context(ctx);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void constants_of_a_machine_without_files_are_unknown(void **state)
{
	pfm_ctx_t *ctx = open_machine("GenuineIntel-6-55-4", "/nonexistent");

	(void)state;
	expect_constant(ctx, "#num_cpus", 0, PFMLIB_ERR_NOTFOUND, 0);
	expect_constant(ctx, "#smt_on", 0, PFMLIB_ERR_NOTFOUND, 0);
	expect_constant(ctx, "#threads_per_core", 0, PFMLIB_ERR_NOTFOUND, 0);
	pfm_close_context(ctx);
}

UNIT(metric_constants, cmocka_unit_test(constants_are_those_of_the_machine_and_the_measurement),
     cmocka_unit_test(constants_of_a_machine_without_files_are_unknown));
