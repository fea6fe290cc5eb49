/* SPDX-License-Identifier: MIT */
/* Which events make one item, and which items can share a group: values of extra registers, events
 * that are counted alone, fixed counters, leaders. */
#include "event_plans.h"

#define VALUES(N) N " events need different values in the same extra registers: at least "
#define ALONE(N)  N " events must be counted alone: at least " N " groups"
#define OCR       "icx::OCR.DEMAND_"
#define FRONTEND  "skx::FRONTEND_RETIRED."

/* Two registers take two values and any event; a value that is there already costs nothing. */
static void values_of_registers(void **state)
{
	static const struct wanted rows[] = {
		{ { OCR "DATA_RD.L3_MISS", OCR "RFO.LOCAL_DRAM" }, 0, 1, "0:0 0:1", ONE },
		{ { OCR "DATA_RD.L3_MISS", OCR "RFO.LOCAL_DRAM", OCR "DATA_RD.L3_MISS",
		    OCR "RFO.LOCAL_DRAM" },
		  0,
		  1,
		  "0:0 0:1 0:2 0:3",
		  ONE },
		{ { OCR "DATA_RD.L3_MISS", OCR "RFO.LOCAL_DRAM", OCR "CODE_RD.L3_MISS" },
		  0,
		  2,
		  "0:0* 0:1* 1:0*",
		  VALUES("3") "2 groups" },
		{ { OCR "DATA_RD.L3_MISS", OCR "RFO.LOCAL_DRAM", OCR "CODE_RD.L3_MISS",
		    OCR "CODE_RD.LOCAL_DRAM" },
		  0,
		  2,
		  "0:0* 0:1* 1:0* 1:1*",
		  VALUES("4") "2 groups" },
		{ { OCR "DATA_RD.L3_MISS", OCR "RFO.LOCAL_DRAM", OCR "CODE_RD.L3_MISS",
		    OCR "CODE_RD.LOCAL_DRAM", OCR "DATA_RD.ANY_RESPONSE" },
		  0,
		  3,
		  "0:0* 0:1* 1:0* 1:1* 2:0*",
		  VALUES("5") "3 groups" },
		{ { FRONTEND "DSB_MISS", FRONTEND "L1I_MISS" },
		  0,
		  2,
		  "0:0* 1:0*",
		  VALUES("2") "2 groups" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		plan_is(&rows[i]);
}

/* Events that must be alone share a group with those that have fixed counters, but not with each
 * other. */
static void events_that_must_be_alone_share_no_group(void **state)
{
	static const struct wanted rows[] = {
		{ { FRONTEND "DSB_MISS", "skx::INST_RETIRED.ANY" }, 0, 1, "0:0 0:F0", ONE },
		{ { FRONTEND "DSB_MISS", FRONTEND "DSB_MISS", "skx::INST_RETIRED.ANY" },
		  0,
		  2,
		  "0:0* 1:0* 0:F0",
		  ALONE("2") },
		{ { FRONTEND "DSB_MISS", FRONTEND "L1I_MISS", FRONTEND "DSB_MISS",
		    FRONTEND "L2_MISS" },
		  0,
		  4,
		  "0:0* 1:0* 2:0* 3:0*",
		  ALONE("4") },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		plan_is(&rows[i]);
}

static void events_of_fixed_counters_take_them(void **state)
{
	static const struct wanted rows[] = {
		{ { "skx::INST_RETIRED.ANY", "skx::CPU_CLK_UNHALTED.REF_TSC" },
		  0xff,
		  1,
		  "0:F0 0:F2",
		  ONE },
		{ { "skx::INST_RETIRED.ANY", "skx::INST_RETIRED.ANY" },
		  0,
		  2,
		  "0:F0* 1:F0*",
		  "2 events have 1 counter (F0) and no other: at least 2 groups" },
		{ { "skx::CPU_CLK_UNHALTED.REF_TSC", "skx::BR_INST_RETIRED.ALL_BRANCHES",
		    "skx::CPU_CLK_UNHALTED.REF_TSC" },
		  0,
		  2,
		  "0:F2* 0:0 1:F2*",
		  "2 events have 1 counter (F2) and no other: at least 2 groups" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		plan_is(&rows[i]);
}

/* Values that are read after SLOTS: SLOTS is added once, or is in the request, before or after
 * them. */
static void reads_values_after_a_leader(void **state)
{
	static const struct wanted rows[] = {
		{ { "icx::PERF_METRICS.RETIRING" }, 0, 1, "0:- 0:F3+!", ONE },
		{ { "icx::PERF_METRICS.RETIRING", "icx::PERF_METRICS.BAD_SPECULATION" },
		  0,
		  1,
		  "0:- 0:- 0:F3+!",
		  ONE },
		{ { "icx::TOPDOWN.SLOTS", "icx::PERF_METRICS.RETIRING" }, 0, 1, "0:F3! 0:-", ONE },
		{ { "icx::PERF_METRICS.RETIRING", "icx::INST_RETIRED.ANY", "icx::TOPDOWN.SLOTS" },
		  0,
		  1,
		  "0:- 0:F0 0:F3!",
		  ONE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		plan_is(&rows[i]);
}

/* Another event has the counter of SLOTS: the value is refused at the place of its request. */
static void a_value_without_its_leader_is_refused(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const char *texts[] = { "icx::INST_RETIRED.ANY", "icx::PERF_METRICS.RETIRING" };
	pfm_error_t why = { .size = sizeof(why) };
	struct pfm_plan *plan;
	unsigned unit;

	(void)state;
	plan = plan_of(ctx, texts, 2, &unit);
	plan->options.taken = UINT64_C(1) << 35;
	assert_int_equal(part(plan, unit, false, &why), PFMLIB_ERR_NOASSIGN);
	assert_true(why.event == 1 && why.kind == PFM_KIND_NO_PLACEMENT);
	assert_true(why.start == 0 && why.end == strlen(texts[1]));
	done(plan);
	pfm_close_context(ctx);
}

UNIT(metric_plan_items, cmocka_unit_test(values_of_registers),
     cmocka_unit_test(events_that_must_be_alone_share_no_group),
     cmocka_unit_test(events_of_fixed_counters_take_them),
     cmocka_unit_test(reads_values_after_a_leader),
     cmocka_unit_test(a_value_without_its_leader_is_refused));
