/* SPDX-License-Identifier: MIT */
/* One PMU's part of a plan: groups, counters, and the proof of the number of groups, for sets
 * that can be checked by hand. */
#include "event_plans.h"

static const char TEXTS[][40] = { "skx::L2_RQSTS.MISS",
	                          "skx::L2_RQSTS.REFERENCES",
	                          "skx::LONGEST_LAT_CACHE.MISS",
	                          "skx::LONGEST_LAT_CACHE.REFERENCE",
	                          "skx::BR_INST_RETIRED.ALL_BRANCHES",
	                          "skx::BR_MISP_RETIRED.ALL_BRANCHES",
	                          "skx::MACHINE_CLEARS.COUNT",
	                          "skx::ARITH.DIVIDER_ACTIVE" };

/* @n of those events, on the counters that are left: as many groups as it takes, each counter once
 * in each. */
static void groups_of(unsigned n, uint64_t taken, unsigned want, const char *proof)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const char *texts[COUNT(TEXTS)];
	struct pfm_plan *plan;
	uint64_t used[COUNT(TEXTS)] = { 0 };
	unsigned unit;

	for (unsigned i = 0; i < n; i++)
		texts[i] = TEXTS[i];
	plan = plan_of(ctx, texts, n, &unit);
	plan->options.taken = taken;
	assert_int_equal(part(plan, unit, false, NULL), PFMLIB_SUCCESS);
	if (strcmp(plan->certificate, proof) != 0)
		fail_msg("%s", plan->certificate);
	assert_true(plan->n_groups == want && plan->bound == want && plan->n_rounds == want &&
	            plan->is_optimal);
	for (unsigned i = 0; i < n; i++) {
		const struct planned_event *e = &plan->events[i];

		assert_true(e->group < want && e->counter >= 0 && e->counter < 8 &&
		            !(taken >> e->counter & 1));
		assert_false(used[e->group] >> e->counter & 1);
		used[e->group] |= (uint64_t)1 << e->counter;
		assert_int_equal(e->is_in_proof, want > 1);
	}
	done(plan);
	pfm_close_context(ctx);
}

static void events_of_general_counters(void **state)
{
	(void)state;
	groups_of(1, 0, 1, "one group holds every event");
	groups_of(4, 0, 1, "one group holds every event");
	groups_of(8, 0, 2, "8 events have 4 counters (0,1,2,3) and no others: at least 2 groups");
	groups_of(8, 0xf0, 2,
	          "8 events have 4 counters (0,1,2,3) and no others: at least 2 groups");
	groups_of(8, 0xfe, 8, "8 events have 1 counter (0) and no other: at least 8 groups");
	groups_of(5, 0xfc, 3, "5 events have 2 counters (0,1) and no others: at least 3 groups");
}

/* Groups follow those of other PMUs, and a certificate names its PMU if there are several. */
static void parses_formulas_after_other_terms(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const char *texts[] = { TEXTS[0], TEXTS[1] };
	struct pfm_plan *plan;
	unsigned unit;

	(void)state;
	plan = plan_of(ctx, texts, 2, &unit);
	plan->options.taken = 0xfe;
	plan->n_groups = 3;
	plan->n_rounds = 1;
	plan->bound = 3;
	plan->certificate = strdup("before");
	assert_int_equal(part(plan, unit, true, NULL), PFMLIB_SUCCESS);
	assert_true(plan->n_groups == 5 && plan->bound == 5 && plan->n_rounds == 2);
	assert_true(plan->events[0].group + plan->events[1].group == 3 + 4 &&
	            plan->events[0].group != plan->events[1].group);
	assert_string_equal(
		plan->certificate,
		"before; skx: 2 events have 1 counter (0) and no other: at least 2 groups");
	done(plan);
	pfm_close_context(ctx);
}

/* No counter is left: the first such event is named. */
static void the_first_event_without_a_counter_is_named(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const char *texts[] = { "skx::INST_RETIRED.ANY", TEXTS[0], TEXTS[1] };
	pfm_error_t why = { .size = sizeof(why) };
	struct pfm_plan *plan;
	unsigned unit;

	(void)state;
	plan = plan_of(ctx, texts, 3, &unit);
	plan->options.taken = 0xff;
	assert_int_equal(part(plan, unit, false, &why), PFMLIB_ERR_NOASSIGN);
	assert_true(why.event == 1 && why.kind == PFM_KIND_NO_PLACEMENT);
	done(plan);
	pfm_close_context(ctx);
}

/* Values of one extra register: as many groups as there are of them. */
static void each_value_of_an_extra_register_takes_a_group(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const char *texts[] = { "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4",
		                "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_8",
		                "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_16",
		                "skx::INST_RETIRED.ANY" };
	struct pfm_plan *plan;
	unsigned unit;

	(void)state;
	plan = plan_of(ctx, texts, 4, &unit);
	assert_int_equal(part(plan, unit, false, NULL), PFMLIB_SUCCESS);
	if (plan->n_groups != 3 || plan->bound != 3 || !plan->is_optimal)
		fail_msg("%u: %s", plan->n_groups, plan->certificate);
	assert_string_equal(
		plan->certificate,
		"3 events need different values in the same extra registers: at least 3 groups");
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(plan->events[i].is_in_proof, i < 3);
	done(plan);
	pfm_close_context(ctx);
}

/* Events of other tables are another part's. */
static void events_of_others(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const char *texts[] = { "coreduo::BACLEARS", TEXTS[0] };
	struct pfm_plan *plan;
	unsigned unit;

	(void)state;
	plan = plan_of(ctx, texts, 2, &unit);
	assert_int_equal(part(plan, unit, false, NULL), PFMLIB_SUCCESS);
	assert_true(plan->events[0].counter == -1 && plan->events[1].counter >= 0 &&
	            plan->n_groups == 1);
	done(plan);
	pfm_close_context(ctx);
}

/* Encoders of processors other than Intel's decide which resources events share. */
static void encoders_decide_what_events_share(void **state)
{
	static const struct wanted rows[] = {
		{ { "montecito::CPU_OP_CYCLES_ALL", "montecito::L2D_REFERENCES_ALL",
		    "montecito::L1D_READS_SET0" },
		  0,
		  1,
		  "0:6 0:4 0:5",
		  ONE },
		{ { "montecito::L1D_READS_SET0", "montecito::L1D_READS_SET1" },
		  0,
		  2,
		  "0:5 1:5",
		  "every way to use fewer than 2 groups was tried" },
		{ { "ev5::cycles", "ev5::issues" }, 0, 1, "0:2 0:0", ONE },
		{ { "ev5::cycles", "ev5::issues", "ev5::cycles" },
		  0,
		  2,
		  "0:2* 0:0* 1:0*",
		  "3 events have 2 counters (0,2) and no others: at least 2 groups" },
		{ { "ev5::cycles", "ev5::issues" },
		  4,
		  2,
		  "0:0* 1:0*",
		  "2 events have 1 counter (0) and no other: at least 2 groups" },
		{ { "ev67::cycles0", "ev67::replay" }, 0, 1, "0:0 0:1", ONE },
		{ { "amdzen4::EX_RET_INSTR", "amdzen4::EX_RET_BRN" }, 0, 1, "0:0 0:1", ONE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		plan_is(&rows[i]);
}

/* The kernel's own events take no counters; a group holds so many of them. */
static void events_of_the_kernel(void **state)
{
	static const struct {
		unsigned n, groups;
	} rows[] = { { 1, 1 }, { 48, 1 }, { 49, 2 }, { 96, 2 }, { 97, 3 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		pfm_ctx_t *ctx = open_for(NULL);
		const char *texts[97];
		struct pfm_plan *plan;
		unsigned unit, in_group[3] = { 0 };

		for (unsigned k = 0; k < rows[i].n; k++)
			texts[k] = "software::page-faults";
		plan = plan_of(ctx, texts, rows[i].n, &unit);
		assert_int_equal(part(plan, unit, false, NULL), PFMLIB_SUCCESS);
		assert_int_equal(plan->n_groups, rows[i].groups);
		for (unsigned k = 0; k < rows[i].n; k++) {
			assert_true(plan->events[k].group < rows[i].groups &&
			            plan->events[k].counter == -1);
			in_group[plan->events[k].group]++;
		}
		for (unsigned g = 0; g < 3; g++)
			assert_true(in_group[g] <= 48);
		done(plan);
		pfm_close_context(ctx);
	}
}

/* The plan of events while a watchdog holds a counter of the unit, which has @flags; NULL: the
 * plan is refused. */
static void beside_watchdog(const char *const *texts, unsigned n, bool on, unsigned flags,
                            unsigned plan_flags, const char *want)
{
	pfm_ctx_t *ctx = open_for(NULL);
	struct pfm_ctx machine;
	struct kernel_info kernel = { .nmi_watchdog = on };
	struct pfm_plan *plan;
	struct pmu_info u;
	unsigned unit;
	char text[64];

	plan = plan_of(ctx, texts, n, &unit);
	memcpy(&machine, ctx, sizeof(machine));
	machine.kernel = &kernel;
	u = pfmi_context_get_pmu(ctx, unit);
	u.flags |= flags;
	plan->ctx = &machine;
	plan->options.flags = plan_flags;
	assert_int_equal(pfmi_plan_group_pmu_events(plan, &u, false, NULL),
	                 want ? PFMLIB_SUCCESS : PFMLIB_ERR_NOASSIGN);
	write_plan(plan, text, sizeof(text));
	if (want)
		assert_string_equal(text, want);
	done(plan);
	pfm_close_context(ctx);
}

/* It has the fixed counter of cycles, else the last one there is; of this machine's cores alone. */
static void the_watchdog_takes_the_counter_of_cycles(void **state)
{
	static const char *const two[] = { "coreduo::BACLEARS", "coreduo::BR_CND_EXEC" },
				 *const cycles[] = { "skx::CPU_CLK_UNHALTED.THREAD",
		                                     "skx::INST_RETIRED.ANY" },
				 *const four[] = { TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[3] },
				 *const other[] = { "montecito::L1D_READS_SET0",
		                                    "montecito::L2D_REFERENCES_ALL" };

	(void)state;
	beside_watchdog(two, 2, true, PFM_PMU_HOST, 0, "0:0* 1:0*");
	beside_watchdog(two, 2, false, PFM_PMU_HOST, 0, "0:0 0:1");
	beside_watchdog(two, 2, true, 0, 0, "0:0 0:1");
	beside_watchdog(two, 2, true, PFM_PMU_HOST, PFM_PLAN_ALL_COUNTERS, "0:0 0:1");
	beside_watchdog(cycles, 2, true, PFM_PMU_HOST, 0, NULL);
	beside_watchdog(cycles, 2, false, PFM_PMU_HOST, 0, "0:F1 0:F0");
	beside_watchdog(four, 4, true, PFM_PMU_HOST, 0, "0:0 0:1 0:2 0:3");
	beside_watchdog(cycles + 1, 1, true, PFM_PMU_HOST, 0, "0:F0");
	beside_watchdog(other, 2, true, PFM_PMU_HOST, 0, "0:5 0:4");
}

UNIT(metric_pmu_plan, cmocka_unit_test(events_of_general_counters),
     cmocka_unit_test(parses_formulas_after_other_terms),
     cmocka_unit_test(the_first_event_without_a_counter_is_named),
     cmocka_unit_test(each_value_of_an_extra_register_takes_a_group),
     cmocka_unit_test(events_of_others), cmocka_unit_test(encoders_decide_what_events_share),
     cmocka_unit_test(events_of_the_kernel),
     cmocka_unit_test(the_watchdog_takes_the_counter_of_cycles));
