/* SPDX-License-Identifier: MIT */
/* Events of the kernel: the numbers of its header, and no counters. */
#include "unit_tables.h"
#include <linux/perf_event.h>
#include <perfmon/types.h>
#include "pmu/pmu_internal.h"

static void expect_number(const char *text, uint32_t type, uint64_t config)
{
	pfm_ctx_options_t options = { .size = sizeof(options),
		                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	pfm_encoding_t e = PFM_INIT(e);
	pfm_ctx_t *ctx;

	assert_int_equal(pfm_open_context(&ctx, &options, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_encode_event(ctx, text, 0, &e, NULL), PFMLIB_SUCCESS);
	assert_true(e.attr.type_known && e.attr.expressible);
	if (e.attr.type != type || e.attr.config != config || e.n_regs != 1 ||
	    e.regs[0].value != config || e.regs[0].kind != PFM_REG_CONFIG)
		fail_msg("%s: %u %llx", text, e.attr.type, (unsigned long long)e.attr.config);
	pfm_close_context(ctx);
}

static void kernel_event_numbers(void **state)
{
	(void)state;
	expect_number("software::cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	expect_number("software::task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	expect_number("software::page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	expect_number("software::context-switches", PERF_TYPE_SOFTWARE,
	              PERF_COUNT_SW_CONTEXT_SWITCHES);
	expect_number("software::cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);
	expect_number("hardware::cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	expect_number("hardware::instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	expect_number("hardware::branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES);
	expect_number("hw_cache::L1-dcache-load-misses", PERF_TYPE_HW_CACHE,
	              PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 |
	                      PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
	expect_number("hw_cache::LLC-stores", PERF_TYPE_HW_CACHE,
	              PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_WRITE << 8 |
	                      PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16);
}

/* A set of the maximum size: each event keeps its position, and none uses a counter. */
static void large_sets_need_no_counter(void **state)
{
	const struct table *t = table_with(ENCODER_PERF, "software");
	struct event events[PLAN_MAX_EVENTS];
	struct placement where;
	struct register_values regs;

	(void)state;
	for (unsigned i = 0; i < PLAN_MAX_EVENTS; i++)
		pfmi_pmu_init_event(&events[i], t,
		                    i * 5 % 12); /* row numbers are the kernel's event numbers */
	find_place(events, PLAN_MAX_EVENTS, PFM_PLM3, &where, &regs);
	assert_int_equal(regs.n_pmcs, PLAN_MAX_EVENTS);
	assert_int_equal(regs.n_pmds, 0);
	for (unsigned i = 0; i < PLAN_MAX_EVENTS; i++) {
		assert_int_equal(where.counters[i], 0xff);
		assert_int_equal(regs.pmcs[i].event, i);
		assert_int_equal(regs.pmcs[i].addr, 0); /* the number of the word */
		assert_true(regs.pmcs[i].value == i * 5 % 12);
	}
}

/* The plan gets one alternative, no held counters and no event on a counter, regardless of its
 * old contents. */
static void plan_holds_no_counter(void **state)
{
	const struct table *t = table_with(ENCODER_PERF, "software");
	struct event events[3];
	struct encode_request req = { .table = t, .events = events, .n_events = COUNT(events) };
	struct plan plan;

	(void)state;
	for (unsigned i = 0; i < COUNT(events); i++)
		pfmi_pmu_init_event(&events[i], t, i);
	memset(&plan, 0x5a, sizeof(plan));
	plan.counterless_events = 0;
	assert_int_equal(pfmi_pmu_constrain_perf_set(&req, &plan, NULL), PFMLIB_SUCCESS);
	assert_int_equal(plan.n_alternatives, 1);
	assert_int_equal(plan.alternatives[0].n_holds, 0);
	for (unsigned i = 0; i < COUNT(events); i++)
		assert_true(plan.alternatives[0].counter_masks[i] == 0);
	assert_true(plan.counterless_events == 7);
}

static void settings_are_refused(void **state)
{
	struct event ev;
	pfm_error_t why = PFM_INIT(why);
	struct encode_request req = { .table = table_with(ENCODER_PERF, "software"),
		                      .events = &ev,
		                      .n_events = 1,
		                      .model_in = &why };
	struct plan plan;

	(void)state;
	pfmi_pmu_init_event(&ev, req.table, 0);
	assert_int_equal(pfmi_pmu_constrain_perf_set(&req, &plan, &why), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(why.kind, PFM_KIND_MODEL);
}

UNIT(pmu_perf, cmocka_unit_test(kernel_event_numbers), cmocka_unit_test(large_sets_need_no_counter),
     cmocka_unit_test(plan_holds_no_counter), cmocka_unit_test(settings_are_refused));
