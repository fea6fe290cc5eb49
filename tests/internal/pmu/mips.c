/* SPDX-License-Identifier: MIT */
/* MIPS: PerfCtl as the architecture defines it: EXL, K, S, U in bits 0 to 3, the event from bit 5
 * on. */
#include "expect.h"
#include "unit_tables.h"
#include <perfmon/types.h>
#include "pmu/pmu_internal.h"

static const struct table *get_mips_table(void)
{
	return table_with(ENCODER_MIPS, NULL);
}

static uint64_t code_of(const struct table *t, uint32_t row)
{
	return pfmi_table_get_row_value(t, row, KEY_CODE, ANY_COUNTER);
}

/* Each event at each combination of levels, on each of its counters. */
static void control_registers_have_event_and_levels(void **state)
{
	const struct table *t = get_mips_table();

	(void)state;
	for (uint32_t row = 0; row < t->n_rows; row++)
		for (unsigned plm = 1; plm < 16; plm++)
			for (unsigned counter = 0; counter < 4; counter++) {
				uint64_t levels =
					(plm & PFM_PLM0 ? 2u : 0) | (plm & PFM_PLM1 ? 4u : 0) |
					(plm & PFM_PLM2 ? 1u : 0) | (plm & PFM_PLM3 ? 8u : 0);
				struct placement where;
				struct event ev;
				struct register_values regs;

				pfmi_pmu_init_event(&ev, t, row);
				ev.counter_pin = (uint16_t)counter;
				if (!pfmi_pmu_get_counter_mask(&ev))
					continue;
				find_place(&ev, 1, plm, &where, &regs);
				assert_int_equal(regs.n_pmcs, 1);
				assert_int_equal(regs.n_pmds, 1);
				assert_true(regs.pmcs[0].num == counter &&
				            regs.pmcs[0].addr == counter &&
				            regs.pmcs[0].kind == PFM_REG_PMC);
				assert_true(regs.pmds[0].num == counter &&
				            regs.pmds[0].addr == counter &&
				            regs.pmds[0].kind == PFM_REG_PMD);
				assert_true(regs.pmcs[0].value ==
				            ((code_of(t, row) & 0x7f) << 5 | levels));
			}
}

/* Bit 7 of the kernel's event number means odd counters: the even ones cannot count the event. */
static void events_of_odd_counters_have_bit_7(void **state)
{
	const struct table *t = get_mips_table();
	unsigned odd = 0;

	(void)state;
	for (uint32_t row = 0; row < t->n_rows; row++)
		if (code_of(t, row) & 0x80) {
			assert_true((table_get_row_counter_mask(t, table_get_row(t, row)) & 5) ==
			            0);
			odd++;
		}
	assert_true(odd > 10);
}

/* The supervisor and exception levels exist on MIPS only: an event that names one counts at this
 * level alone, and a perf attribute cannot express it. */
static void mips_levels_have_no_perf_attribute(void **state)
{
	const struct table *t = get_mips_table();
	static const struct {
		enum field_key key;
		uint64_t bit;
	} levels[] = { { KEY_SUPERVISOR, 4 }, { KEY_EXCEPTION, 1 } };

	(void)state;
	for (size_t i = 0; i < COUNT(levels); i++) {
		struct placement where;
		struct event ev;
		struct register_values regs;
		perfmon_attr_t attr = { 0 };

		pfmi_pmu_init_event(&ev, t, 0);
		pfmi_pmu_build_event_attr(&ev, -1, PFM_PLM3, &attr);
		assert_true(attr.expressible && attr.config == code_of(t, 0));
		assert_true(pfmi_pmu_set_user_field(
			&ev, table_get_key_field_plus1(t, levels[i].key) - 1u, 1));
		find_place(&ev, 1, PFM_PLM0 | PFM_PLM3, &where, &regs);
		assert_true((regs.pmcs[0].value & 15) == levels[i].bit);
		ev.plm = PFM_PLM3;
		find_place(&ev, 1, PFM_PLM0, &where, &regs);
		assert_true((regs.pmcs[0].value & 15) == (levels[i].bit | 8));
		pfmi_pmu_build_event_attr(&ev, -1, PFM_PLM3, &attr);
		assert_false(attr.expressible);
	}
}

static void registers_of_four_counters_have_names(void **state)
{
	static const char *const good[] = { "PERFCTL0", "perfctl3", "PMC1", "pmc2" };
	static const char *const bad[] = { "PERFCTL", "PERFCTL4",  "PERFCTL10", "PERFCTL1x",
		                           "PMD0",    "PERFCTLX0", "PERFCT0",   "0",
		                           "",        "PMC/" };
	unsigned n, counter;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		EXPECT_ROW_TRUE(good[i],
		                pfmi_mips_find_layout(get_mips_table(), good[i], &n) != NULL);
		EXPECT_ROW_TRUE(good[i], pfmi_mips_get_event_select_mask(get_mips_table(), good[i],
		                                                         0, &counter) == 0xfe0);
		EXPECT_ROW_NUMBER(good[i], counter, good[i][strlen(good[i]) - 1] - '0');
		EXPECT_ROW_TRUE(good[i], pfmi_mips_get_event_select_mask(get_mips_table(), good[i],
		                                                         1, &counter) == 0);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		EXPECT_ROW_TRUE(bad[i],
		                pfmi_mips_find_layout(get_mips_table(), bad[i], &n) == NULL);
		EXPECT_ROW_TRUE(bad[i], pfmi_mips_get_event_select_mask(get_mips_table(), bad[i], 0,
		                                                        &counter) == 0);
	}
}

UNIT(pmu_mips, cmocka_unit_test(control_registers_have_event_and_levels),
     cmocka_unit_test(events_of_odd_counters_have_bit_7),
     cmocka_unit_test(mips_levels_have_no_perf_attribute),
     cmocka_unit_test(registers_of_four_counters_have_names));
