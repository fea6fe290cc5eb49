/* SPDX-License-Identifier: MIT */
/* Extra registers and counters of events. MSR numbers are those of the SDM, volume 4:
 * MSR_OFFCORE_RSP_0 and 1 0x1a6 and 0x1a7, MSR_PEBS_LD_LAT_THRESHOLD 0x3f6, MSR_PEBS_FRONTEND
 * 0x3f7. */
#include "unit_tables.h"
#include "open_for.h"
#include "lookup/lookup.h"
#include "pmu/x86.h"

static void expect_extra_register(const char *pmu, const char *text, uint32_t msr, uint64_t value)
{
	pfm_ctx_t *ctx = open_for(pmu);
	struct event ev;
	unsigned unit;
	uint64_t own[N_CONFIG_WORDS], got_value;
	uint32_t got_msr;
	const uint64_t *config;

	assert_int_equal(pfmi_lookup_event(ctx, text, &unit, &ev, NULL), PFMLIB_SUCCESS);
	config = x86_build_config(&ev, own, &got_msr, &got_value);
	assert_int_equal(got_msr, msr);
	assert_int_equal(got_value, value);
	assert_int_equal(pfmi_x86_compute_extra_msr(&ev), msr);
	assert_int_equal(x86_has_no_extra_register(&ev), msr == 0);
	assert_int_equal(config[1], value); /* perf has it in config1 */
	pfm_close_context(ctx);
}

static void events_have_the_extra_registers_of_their_fields(void **state)
{
	(void)state;
	expect_extra_register("skl", "MEM_LOAD_RETIRED.L3_MISS", 0, 0);
	expect_extra_register("skl", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", 0x3f6, 4);
	expect_extra_register("skl", "FRONTEND_RETIRED.DSB_MISS", 0x3f7, 0x11);
	expect_extra_register("skl", "OFFCORE_RESPONSE_0:offcore_rsp=0x10001", 0x1a6, 0x10001);
	expect_extra_register("skl", "OFFCORE_RESPONSE_1:offcore_rsp=0x10001", 0x1a7, 0x10001);
	/* Without a row, the event code selects the register. */
	expect_extra_register("skl", "skl/event=0xb7,umask=1,offcore_rsp=0x10001/", 0x1a6, 0x10001);
	expect_extra_register("skl", "skl/event=0xbb,umask=1,offcore_rsp=0x10001/", 0x1a7, 0x10001);
}

static void keys_of_registers(void **state)
{
	(void)state;
	assert_int_equal(pfmi_x86_find_msr_key(0x1a6), KEY_OFFCORE);
	assert_int_equal(pfmi_x86_find_msr_key(0x1a7), KEY_OFFCORE);
	assert_int_equal(pfmi_x86_find_msr_key(0x3f6), KEY_LDLAT);
	assert_int_equal(pfmi_x86_find_msr_key(0x3f7), KEY_FRONTEND);
	assert_int_equal(pfmi_x86_find_msr_key(0), KEY_NONE);
	assert_int_equal(pfmi_x86_find_msr_key(0x38d), KEY_NONE);
	assert_true(pfmi_x86_has_extra_registers(table_called("skl")));
	assert_false(pfmi_x86_has_extra_registers(table_called("coreduo3")));
}

/* Filters exist in PERFEVTSEL only: an event with one uses no fixed counter. */
static void filters_exclude_fixed_counters(void **state)
{
	pfm_ctx_t *ctx = open_for("skl");
	struct event ev;
	unsigned unit;
	const uint64_t all = 0xf | (uint64_t)7 << 32;

	(void)state;
	assert_int_equal(pfmi_lookup_event(ctx, "INST_RETIRED.ANY", &unit, &ev, NULL),
	                 PFMLIB_SUCCESS);
	assert_true(x86_get_row_counter_mask(&ev, false) == (uint64_t)1 << 32);
	assert_true(x86_narrow_counter_mask(&ev, 0xc0, all) == all);
	assert_true(x86_narrow_counter_mask(&ev, 0xc0 | 1 << 18, all) == 0xf); /* edge */
	assert_true(x86_narrow_counter_mask(&ev, 0xc0 | 2 << 24, all) == 0xf); /* cmask */
	ev.counter_pin = 2;
	assert_true(x86_narrow_counter_mask(&ev, 0xc0, all) == 4);
	ev.row = NULL;
	assert_int_equal(pfmi_lookup_event(ctx, "skl/event=0,umask=2/", &unit, &ev, NULL),
	                 PFMLIB_SUCCESS);
	assert_true(x86_get_row_counter_mask(&ev, false) & (uint64_t)1 << 33); /* pseudo code */
	pfm_close_context(ctx);
}

UNIT(pmu_x86_config, cmocka_unit_test(events_have_the_extra_registers_of_their_fields),
     cmocka_unit_test(keys_of_registers), cmocka_unit_test(filters_exclude_fixed_counters));
