/* SPDX-License-Identifier: MIT */
/* Values and sums that can be true, and others, from made-up counts. */
#include <float.h>
#include "units.h"
#include <stdbool.h>
#include "open_for.h"

static pfm_ctx_t *ctx;

static int open_context(void **state)
{
	(void)state;
	ctx = open_for(NULL);
	return ctx ? 0 : -1;
}

static int close_context(void **state)
{
	(void)state;
	pfm_close_context(ctx);
	return 0;
}

static pfm_metric_check_t check(const char *name, const pfm_metric_value_t *v, int extrapolated,
                                double peak)
{
	pfm_metric_check_t out = PFM_INIT(out);
	unsigned event;
	int pmu;

	assert_int_equal(pfm_find_event_by_text(ctx, name, &pmu, &event, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_check_metric(ctx, pmu, event, v, extrapolated, peak, &out),
	                 PFMLIB_SUCCESS);
	return out;
}

/* A value with interval @value - @half to @value + @half; unknown error if @half is negative. */
static pfm_metric_value_t make_value(double value, double half)
{
	return (pfm_metric_value_t){ .size = sizeof(pfm_metric_value_t),
		                     .value = value,
		                     .error = half < 0 ? -1 : half / 2,
		                     .low = half < 0 ? -DBL_MAX : value - half,
		                     .high = half < 0 ? DBL_MAX : value + half };
}

static void shares_and_amounts(void **state)
{
	static const struct {
		const char *metric;
		double value, half, peak;
		pfm_plausibility_t want;
	} rows[] = {
		/* percent */
		{ "spr::Memory_Bound", 0, 0, 0, PFM_PLAUSIBLE },
		{ "spr::Memory_Bound", 100, 0, 0, PFM_PLAUSIBLE },
		{ "spr::Memory_Bound", 100.9, 0, 0, PFM_PLAUSIBLE },
		{ "spr::Memory_Bound", 101.1, 0, 0, PFM_OUTSIDE_RANGE },
		{ "spr::Memory_Bound", -1.1, 0, 0, PFM_OUTSIDE_RANGE },
		{ "spr::Memory_Bound", 130, 29, 0, PFM_OUTSIDE_RANGE },
		{ "spr::Memory_Bound", 130, 31, 0, PFM_PLAUSIBLE },
		{ "spr::Memory_Bound", -20, 19, 0, PFM_OUTSIDE_RANGE },
		{ "spr::Memory_Bound", -20, 21, 0, PFM_PLAUSIBLE },
		{ "spr::Memory_Bound", 130, -1, 0, PFM_OUTSIDE_RANGE },
		{ "neoverse_v2::backend_bound", 101.1, 0, 0, PFM_OUTSIDE_RANGE },
		{ "amdzen5::backend_bound", 101.1, 0, 0, PFM_OUTSIDE_RANGE },
		/* figures beside the tree */
		{ "spr::Info_System_CPU_Utilization", 130, 0, 0, PFM_PLAUSIBLE },
		/* ratio */
		{ "skx::l3_hit_ratio", 1, 0, 0, PFM_PLAUSIBLE },
		{ "skx::l3_hit_ratio", 1.02, 0, 0, PFM_OUTSIDE_RANGE },
		{ "skx::l3_hit_ratio", -0.02, 0, 0, PFM_OUTSIDE_RANGE },
		/* amounts */
		{ "skx::branch_mpki", 1e6, 0, 0, PFM_PLAUSIBLE },
		{ "skx::branch_mpki", -1e-9, 0, 0, PFM_OUTSIDE_RANGE },
		{ "skx::ipc", -0.1, 0, 0, PFM_OUTSIDE_RANGE },
		/* bandwidth of memory: six channels of DDR4-2666 */
		{ "skx::membw_total", 127968, 0, 6 * 21328., PFM_PLAUSIBLE },
		{ "skx::membw_total", 130000, 0, 6 * 21328., PFM_ABOVE_PEAK },
		{ "skx::membw_read", 130000, 3000, 6 * 21328., PFM_PLAUSIBLE },
		{ "skx::memory_bandwidth_write", 130000, 0, 6 * 21328., PFM_ABOVE_PEAK },
		{ "skx::membw_total", 130000, 0, 0, PFM_PLAUSIBLE },
		{ "skx::membw_total", -1, 0, 6 * 21328., PFM_OUTSIDE_RANGE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		pfm_metric_value_t v = make_value(rows[i].value, rows[i].half);
		pfm_metric_check_t c = check(rows[i].metric, &v, 0, rows[i].peak);

		if (c.result != rows[i].want)
			fail_msg("%s = %g: %s", rows[i].metric, rows[i].value,
			         pfm_plausibility_name(c.result));
		assert_int_equal(*c.reason != '\0', rows[i].want != PFM_PLAUSIBLE);
	}
}

static void limits_and_reasons(void **state)
{
	pfm_metric_value_t v = make_value(150, 0);
	pfm_metric_check_t c = check("spr::Memory_Bound", &v, 0, 0);

	(void)state;
	assert_true(c.low == 0 && c.high == 100);
	assert_non_null(strstr(c.reason, "errata"));
	c = check("spr::Memory_Bound", &v, 1, 0);
	assert_non_null(strstr(c.reason, "not counted all the time"));
	c = check("skx::membw_total", &v, 0, 100);
	assert_true(c.low == 0 && c.high == 100);
	assert_non_null(strstr(c.reason, "memory devices"));
	c = check("skx::branch_mpki", &v, 0, 0);
	assert_true(c.low == 0 && c.high == DBL_MAX);
	v.state = PFM_METRIC_DIVISION;
	c = check("spr::Memory_Bound", &v, 0, 0);
	assert_int_equal(c.result, PFM_PLAUSIBLE);
	assert_true(c.low == -DBL_MAX && c.high == DBL_MAX);
}

/* Top-down shares of 1,000 slots, whose counts are made up. */
static void shares_that_do_not_add_up_are_marked(void **state)
{
	static const struct {
		double slots[4], half, whole;
		pfm_plausibility_t want;
	} rows[] = {
		{ { 250, 250, 250, 250 }, 0, 1, PFM_PLAUSIBLE },
		{ { 250, 250, 250, 259 }, 0, 1, PFM_PLAUSIBLE },
		{ { 250, 250, 250, 261 }, 0, 1, PFM_WRONG_SUM },
		{ { 250, 250, 250, 239 }, 0, 1, PFM_WRONG_SUM },
		{ { 300, 300, 300, 300 }, 0.04, 1, PFM_WRONG_SUM },
		{ { 300, 300, 300, 300 }, 0.05, 1, PFM_PLAUSIBLE },
		{ { 270, 270, 270, 270 }, -1, 1, PFM_PLAUSIBLE },
		{ { 300, 300, 300, 300 }, -1, 1, PFM_WRONG_SUM },
		{ { 250, 250, 250, 250 }, 0, 100, PFM_PLAUSIBLE },
		{ { 250, 250, 250, 261 }, 0, 100, PFM_WRONG_SUM },
	};
	pfm_metric_check_t c = PFM_INIT(c);
	pfm_metric_value_t parts[4];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (unsigned k = 0; k < 4; k++)
			parts[k] =
				make_value(rows[i].slots[k] / 1000 * rows[i].whole, rows[i].half);
		assert_int_equal(pfm_check_metric_sum(parts, 4, rows[i].whole, 0, &c),
		                 PFMLIB_SUCCESS);
		assert_int_equal(c.result, rows[i].want);
		assert_int_equal(*c.reason != '\0', rows[i].want != PFM_PLAUSIBLE);
	}
	parts[2].state = PFM_METRIC_NOT_COUNTED;
	assert_int_equal(pfm_check_metric_sum(parts, 4, 1, 0, &c), PFMLIB_SUCCESS);
	assert_int_equal(c.result, PFM_PLAUSIBLE);
}

/* How many parts the sum of metric @name has; its whole in *@whole. */
static int list_sum(const char *name, double *whole)
{
	unsigned events[8], event;
	int pmu, n;
	bool has_own = false;

	assert_int_equal(pfm_find_event_by_text(ctx, name, &pmu, &event, NULL), PFMLIB_SUCCESS);
	n = pfm_list_metric_sum(ctx, pmu, event, events, COUNT(events), whole);
	for (int i = 0; i < n; i++)
		has_own |= events[i] == event;
	assert_int_equal(has_own, n > 0);
	return n;
}

static void parts_of_sums(void **state)
{
	static const struct {
		const char *metric;
		int n;
		double whole;
	} rows[] = {
		{ "spr::Frontend_Bound", 4, 100 },
		{ "spr::topdown_retired", 4, 1 },
		{ "adl_gracemont::Backend_Bound", 4, 100 },
		{ "neoverse_v2::bad_speculation", 4, 100 },
		{ "c1_ultra::retiring", 4, 100 },
		{ "amdzen5::retiring", 5, 100 },
		{ "amdzen5::topdown_backend", 5, 1 },
		{ "amdzen5::smt_contention", 5, 1 },
		{ "spr::Memory_Bound", PFMLIB_ERR_NOTFOUND, 0 },
		{ "skx::ipc", PFMLIB_ERR_NOTFOUND, 0 },
		{ "skx::INST_RETIRED.ANY", PFMLIB_ERR_NOTFOUND, 0 },
	};
	unsigned event;
	int pmu;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double whole = 0;
		int n = list_sum(rows[i].metric, &whole);

		if (n != rows[i].n)
			fail_msg("%s: %d parts", rows[i].metric, n);
		assert_true(whole == rows[i].whole);
	}
	assert_int_equal(pfm_find_event_by_text(ctx, "spr::Retiring", &pmu, &event, NULL), 0);
	assert_int_equal(pfm_list_metric_sum(ctx, pmu, event, NULL, 0, NULL), 4);
	assert_int_equal(pfm_list_metric_sum(ctx, pmu, event, NULL, 1, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_list_metric_sum(ctx, -1, event, NULL, 0, NULL), PFMLIB_ERR_INVAL);
}

/* Top-down by made-up counts of consistent slots: the formulas of each processor that has the first
 * level sum to the whole. */
static double evaluate(int pmu, unsigned event)
{
	static const struct {
		const char *name;
		double count;
	} counts[] = {
		/* Arm: 8 slots in 1,000 cycles */
		{ "CPU_CYCLES", 1000 },
		{ "STALL_SLOT", 3000 },
		{ "STALL_SLOT_FRONTEND", 1000 },
		{ "STALL_SLOT_BACKEND", 2000 },
		{ "OP_RETIRED", 4000 },
		{ "OP_SPEC", 5000 },
		{ "BR_MIS_PRED", 7 },
		/* Zen 5: 8 slots in 1,000 cycles */
		{ "ls_not_halted_cyc", 1000 },
		{ "de_no_dispatch_per_slot.no_ops_from_frontend", 1000 },
		{ "de_no_dispatch_per_slot.backend_stalls", 1500 },
		{ "de_no_dispatch_per_slot.smt_contention", 500 },
		{ "de_src_op_disp.all", 5000 },
		{ "ex_ret_ops", 4000 },
		/* Gracemont: 5 slots in 1,000 cycles */
		{ "CPU_CLK_UNHALTED.CORE", 1000 },
		{ "TOPDOWN_FE_BOUND.ALL", 1500 },
		{ "TOPDOWN_BE_BOUND.ALL", 500 },
		{ "TOPDOWN_RETIRING.ALL", 2500 },
	};
	pfm_metric_operand_t operands[16] = { { 0 } };
	pfm_metric_data_t data = PFM_INIT(data);
	pfm_metric_value_t value = PFM_INIT(value);
	pfm_metric_input_t in = PFM_INIT(in);

	data.operands = operands;
	for (; !pfm_describe_metric_input(ctx, pmu, event, data.n_inputs, &in); data.n_inputs++)
		for (size_t i = 0; i < COUNT(counts); i++)
			if (strcmp(strstr(in.text, "::") + 2, counts[i].name) == 0)
				operands[data.n_inputs] =
					(pfm_metric_operand_t){ .value = counts[i].count,
					                        .known = 1 };
	assert_int_equal(pfm_compute_metric(ctx, pmu, event, &data, &value), PFMLIB_SUCCESS);
	assert_int_equal(value.state, PFM_METRIC_DEFINED);
	return value.value;
}

static void sums_of_formulas(void **state)
{
	static const char *const names[] = { "neoverse_v2::retiring", "neoverse_v1::retiring",
		                             "amdzen5::retiring", "amdzen6::topdown_retired",
		                             "adl_gracemont::Retiring" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		unsigned events[8], event;
		double sum = 0, whole = 0;
		int pmu, n;

		assert_int_equal(pfm_find_event_by_text(ctx, names[i], &pmu, &event, NULL), 0);
		n = pfm_list_metric_sum(ctx, pmu, event, events, COUNT(events), &whole);
		for (int k = 0; k < n; k++)
			sum += evaluate(pmu, events[k]);
		if (!(sum > whole * 0.999999 && sum < whole * 1.000001))
			fail_msg("%s: %g of %g", names[i], sum, whole);
	}
}

static void checks_of_metrics_refuse_wrong_arguments(void **state)
{
	pfm_metric_value_t v = make_value(1, 0);
	pfm_metric_check_t c = PFM_INIT(c), none = { .size = 1 };
	unsigned event;
	int pmu;

	(void)state;
	assert_int_equal(pfm_find_event_by_text(ctx, "skx::ipc", &pmu, &event, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_check_metric(ctx, pmu, event, NULL, 0, 0, &c), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_check_metric(ctx, pmu, event, &v, 0, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_check_metric(ctx, pmu, event, &v, 0, 0, &none), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_check_metric(ctx, -1, event, &v, 0, 0, &c), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_by_text(ctx, "skx::INST_RETIRED.ANY", &pmu, &event, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_check_metric(ctx, pmu, event, &v, 0, 0, &c), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_check_metric_sum(NULL, 1, 1, 0, &c), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_check_metric_sum(&v, 0, 1, 0, &c), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_check_metric_sum(&v, 1, 0, 0, &c), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_check_metric_sum(&v, 1, 1, 0, NULL), PFMLIB_ERR_INVAL);
	v.size = 1;
	assert_int_equal(pfm_check_metric_sum(&v, 1, 1, 0, &c), PFMLIB_ERR_INVAL);
	assert_string_equal(pfm_plausibility_name(PFM_ABOVE_PEAK), "above the peak");
	assert_string_equal(pfm_plausibility_name((pfm_plausibility_t)9), "");
}

UNIT(metric_plausibility,
     cmocka_unit_test_setup_teardown(shares_and_amounts, open_context, close_context),
     cmocka_unit_test_setup_teardown(limits_and_reasons, open_context, close_context),
     cmocka_unit_test(shares_that_do_not_add_up_are_marked),
     cmocka_unit_test_setup_teardown(parts_of_sums, open_context, close_context),
     cmocka_unit_test_setup_teardown(sums_of_formulas, open_context, close_context),
     cmocka_unit_test_setup_teardown(checks_of_metrics_refuse_wrong_arguments, open_context,
                                     close_context));
