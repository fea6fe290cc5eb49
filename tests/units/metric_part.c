/* SPDX-License-Identifier: MIT */
/* One PMU's part of a plan: groups, counters, and what is said for the number, of sets that anybody can check. */
#include "units.h"
#include "../open_for.h"
#include "metric/plan.h"

/* A plan with @n events of the texts; they are of unit @unit, the last one that was looked up. */
static struct pfm_plan_result *plan_of(const pfm_ctx_t *ctx, const char *const *texts, unsigned n, unsigned *unit)
{
	struct pfm_plan_result *plan = calloc(1, sizeof(*plan));

	assert_non_null(plan);
	plan->ctx = ctx;
	plan->optimal = true;
	for (unsigned i = 0; i < n; i++) {
		struct planned *e = pfmi_plan_event(plan);

		assert_non_null(e);
		*e = (struct planned){ .request = i, .counter = -1 };
		snprintf(e->text, sizeof(e->text), "%s", texts[i]);
		assert_int_equal(pfmi_ctx_event(ctx, texts[i], &e->unit, &e->event, NULL), PFMLIB_SUCCESS);
		*unit = e->unit;
	}
	return plan;
}

static void done(struct pfm_plan_result *plan)
{
	free(plan->events);
	free(plan->certificate);
	free(plan);
}

static int part(struct pfm_plan_result *plan, unsigned unit, bool several, pfm_error_t *why)
{
	struct unit u = pfmi_unit(plan->ctx, unit);

	return pfmi_plan_part(plan, &u, several, why);
}

static const char TEXTS[][40] = { "skx::L2_RQSTS.MISS", "skx::L2_RQSTS.REFERENCES", "skx::LONGEST_LAT_CACHE.MISS",
	                          "skx::LONGEST_LAT_CACHE.REFERENCE", "skx::BR_INST_RETIRED.ALL_BRANCHES",
	                          "skx::BR_MISP_RETIRED.ALL_BRANCHES", "skx::MACHINE_CLEARS.COUNT", "skx::ARITH.DIVIDER_ACTIVE" };

/* @n of those events, on the counters that are left: as many groups as it takes, each counter once in each. */
static void groups_of(unsigned n, uint64_t taken, unsigned want, const char *proof)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const char *texts[COUNT(TEXTS)];
	struct pfm_plan_result *plan;
	uint64_t used[COUNT(TEXTS)] = { 0 };
	unsigned unit;

	for (unsigned i = 0; i < n; i++)
		texts[i] = TEXTS[i];
	plan = plan_of(ctx, texts, n, &unit);
	plan->options.taken = taken;
	assert_int_equal(part(plan, unit, false, NULL), PFMLIB_SUCCESS);
	if (strcmp(plan->certificate, proof) != 0)
		fail_msg("%s", plan->certificate);
	assert_true(plan->n_groups == want && plan->bound == want && plan->n_rounds == want && plan->optimal);
	for (unsigned i = 0; i < n; i++) {
		const struct planned *e = &plan->events[i];

		assert_true(e->group < want && e->counter >= 0 && e->counter < 8 && !(taken >> e->counter & 1));
		assert_false(used[e->group] >> e->counter & 1);
		used[e->group] |= (uint64_t)1 << e->counter;
		assert_int_equal(e->in_proof, want > 1);
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
	groups_of(8, 0xf0, 2, "8 events have 4 counters (0,1,2,3) and no others: at least 2 groups");
	groups_of(8, 0xfe, 8, "8 events have 1 counter (0) and no other: at least 8 groups");
	groups_of(5, 0xfc, 3, "5 events have 2 counters (0,1) and no others: at least 3 groups");
}

/* Groups come behind those that are there, and a certificate says whose it is if there are several. */
static void behind_other_parts(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const char *texts[] = { TEXTS[0], TEXTS[1] };
	struct pfm_plan_result *plan;
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
	assert_true(plan->events[0].group + plan->events[1].group == 3 + 4 && plan->events[0].group != plan->events[1].group);
	assert_true(strncmp(plan->certificate, "before; ", 8) == 0 && strstr(plan->certificate, ": 2 events have 1 counter (0)"));
	done(plan);
	pfm_close_context(ctx);
}

/* No counter is left: the first such event is named. */
static void no_counter(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const char *texts[] = { "skx::INST_RETIRED.ANY", TEXTS[0], TEXTS[1] };
	pfm_error_t why = { .size = sizeof(why) };
	struct pfm_plan_result *plan;
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
static void extra_registers(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const char *texts[] = { "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_8",
		                "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_16", "skx::INST_RETIRED.ANY" };
	struct pfm_plan_result *plan;
	unsigned unit;

	(void)state;
	plan = plan_of(ctx, texts, 4, &unit);
	assert_int_equal(part(plan, unit, false, NULL), PFMLIB_SUCCESS);
	if (plan->n_groups != 3 || plan->bound != 3 || !plan->optimal)
		fail_msg("%u: %s", plan->n_groups, plan->certificate);
	assert_string_equal(plan->certificate, "3 events need different values in the same extra registers: at least 3 groups");
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(plan->events[i].in_proof, i < 3);
	done(plan);
	pfm_close_context(ctx);
}

/* Events of other tables are another part's. */
static void events_of_others(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	const char *texts[] = { "coreduo::BACLEARS", TEXTS[0] };
	struct pfm_plan_result *plan;
	unsigned unit;

	(void)state;
	plan = plan_of(ctx, texts, 2, &unit);
	assert_int_equal(part(plan, unit, false, NULL), PFMLIB_SUCCESS);
	assert_true(plan->events[0].counter == -1 && plan->events[1].counter >= 0 && plan->n_groups == 1);
	done(plan);
	pfm_close_context(ctx);
}

UNIT(metric_part, cmocka_unit_test(events_of_general_counters), cmocka_unit_test(behind_other_parts), cmocka_unit_test(no_counter),
     cmocka_unit_test(extra_registers), cmocka_unit_test(events_of_others));
