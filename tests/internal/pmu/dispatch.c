/* SPDX-License-Identifier: MIT */
/* Sets of one PMU, placed and refused, and the perf attribute of one event. */
#include "dispatched_set.h"
#include "unit_tables.h"
#include "open_for.h"
#include "lookup/lookup.h"

static struct event event_called(const pfm_ctx_t *ctx, const char *text)
{
	struct event ev;
	unsigned unit;

	assert_int_equal(pfmi_lookup_event(ctx, text, &unit, &ev, NULL), PFMLIB_SUCCESS);
	return ev;
}

static void set_is_placed(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	struct event events[2];
	struct placement where;
	struct register_values regs;

	(void)state;
	events[0] = event_called(ctx, "LLC_Misses");
	events[1] = event_called(ctx, "FP_Assist"); /* can use counter 1 only */
	find_place(events, 2, PFM_PLM0 | PFM_PLM3, &where, &regs);
	assert_true(where.counters[0] == 0 && where.counters[1] == 1);
	assert_int_equal(regs.n_pmds, 2);
	assert_true(regs.pmcs[0].kind == PFM_REG_PMC && regs.pmcs[0].num == 0 &&
	            (regs.pmcs[0].value & 0xffff) == 0x412e);
	assert_true(regs.pmcs[1].num == 1 && (regs.pmcs[1].value & 0xffff) == 0x0011);
	pfm_close_context(ctx);
}

/* Two events that can use one counter only are refused, and the output stays unchanged. */
static void events_of_one_counter_are_refused(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	struct event events[2];
	const struct encode_request req = {
		.table = table_called("coreduo"), .events = events, .n_events = 2, .plm = PFM_PLM3
	};
	pfm_error_t why = PFM_INIT(why);
	struct placement where;
	struct register_values regs = { .n_pmcs = 5, .n_pmds = 5 };
	struct plan plan;

	(void)state;
	events[0] = events[1] = event_called(ctx, "FP_Assist");
	assert_int_equal(pfmi_pmu_plan_set(&req, &plan, NULL), PFMLIB_SUCCESS);
	assert_true(plan.request == &req && plan.n_alternatives == 1 &&
	            plan.alternatives[0].counter_masks[0] == 2);
	assert_int_equal(pfmi_pmu_dispatch_set(&req, &where, &regs, &why), PFMLIB_ERR_NOASSIGN);
	assert_true(has_clash(&why, 3));
	assert_true(regs.n_pmcs == 0 && regs.n_pmds == 0);
	pfm_close_context(ctx);
}

static void reserved_counters_are_not_used(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	const pfmlib_regmask_t taken = { .bits = { 1 } };
	struct event ev = event_called(ctx, "LLC_Misses");
	const struct encode_request req = { .table = ev.table,
		                            .events = &ev,
		                            .n_events = 1,
		                            .plm = PFM_PLM3,
		                            .unavailable_regs = &taken };
	struct placement where;
	struct register_values regs;
	struct plan plan;

	(void)state;
	assert_int_equal(pfmi_pmu_dispatch_plan(&req, &plan, &where, &regs, NULL), PFMLIB_SUCCESS);
	assert_int_equal(where.counters[0], 1);
	assert_int_equal(regs.pmcs[0].num, 1);
	pfm_close_context(ctx);
}

static void levels_of_a_text_go_to_the_attribute(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	struct event ev = event_called(ctx, "LLC_Misses"),
		     kernel = event_called(ctx, "LLC_Misses:k");
	perfmon_attr_t attr;

	(void)state;
	pfmi_pmu_build_event_attr(&ev, 4, PFM_PLM3, &attr);
	assert_true(attr.type == 4 && attr.type_known && attr.config == 0x412e);
	assert_true(!attr.exclude_user && attr.exclude_kernel && !attr.exclude_hv);
	pfmi_pmu_build_event_attr(&kernel, -1, PFM_PLM3, &attr); /* the level of the text */
	assert_true(!attr.type_known && attr.exclude_user && !attr.exclude_kernel &&
	            attr.exclude_hv);
	/* Levels in the request exclude all other levels. */
	pfmi_pmu_build_requested_attr(&ev, 4, PFM_PLM0, &attr);
	assert_true(attr.exclude_user && !attr.exclude_kernel && attr.exclude_hv);
	pfmi_pmu_build_requested_attr(&ev, 4, 0, &attr);
	assert_true(!attr.exclude_hv);
	pfm_close_context(ctx);
}

static void exclusion_flags_reach_the_attributes(void **state)
{
	pfm_ctx_t *ctx = open_for("coreduo");
	struct event ev = event_called(ctx, "LLC_Misses");
	perfmon_attr_t attr = { 0 };

	(void)state;
	ev.exclude_flags = EVENT_EXCLUDE_IDLE | EVENT_ONLY_GUEST;
	ev.precise = 2;
	pfmi_pmu_build_event_attr(&ev, 4, PFM_PLM0 | PFM_PLM3, &attr);
	assert_true(attr.exclude_idle && attr.exclude_host && !attr.exclude_guest &&
	            attr.precise == 2);
	assert_true(!attr.exclude_user && !attr.exclude_kernel);
	ev.exclude_flags = EVENT_ONLY_HOST;
	pfmi_pmu_build_event_attr(&ev, 4, PFM_PLM3, &attr);
	assert_true(!attr.exclude_idle && !attr.exclude_host && attr.exclude_guest);
	pfm_close_context(ctx);
}

static void levels_of_the_caller_replace_the_default_ones(void **state)
{
	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		assert_int_equal(pfmi_pmu_choose_levels(t, PFM_PLM0), PFM_PLM0);
		assert_int_equal(pfmi_pmu_choose_levels(t, 0),
		                 pfmi_pmu_get_encoder(t)->default_levels);
	}
}

UNIT(pmu_dispatch, cmocka_unit_test(set_is_placed),
     cmocka_unit_test(events_of_one_counter_are_refused),
     cmocka_unit_test(reserved_counters_are_not_used),
     cmocka_unit_test(levels_of_a_text_go_to_the_attribute),
     cmocka_unit_test(exclusion_flags_reach_the_attributes),
     cmocka_unit_test(levels_of_the_caller_replace_the_default_ones));
