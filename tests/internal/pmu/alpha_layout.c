/* SPDX-License-Identifier: MIT */
/* The registers of Alpha processors, bit by bit as their hardware reference manuals draw them. */
#include "unit_tables.h"
#include "pmu/pmu_internal.h"

/* @drawn: see expect_fields(). */
static void expect_layout(const char *table, const char *reg, const char *drawn)
{
	unsigned n = 0;
	const struct register_field *b = pfmi_alpha_find_layout(table_called(table), reg, &n);

	if (!b)
		fail_msg("%s has no %s", table, reg);
	expect_fields(b, n, drawn);
}

/* 21064 ICCSR; 21164 PMCTR; 21264 PCTR_CTL. */
static void control_registers_have_the_fields_of_their_manuals(void **state)
{
	(void)state;
	expect_layout("ev4", "ICCSR", "pc1:0 pc0:3 mux0:8-11 mux1:32-34 disable:35-36");
	expect_layout("ev5", "pmctr",
	              "sel2:0-3 sel1:4-7 kk:8 kp:9 ctl2:10-11 ctl1:12-13 ctl0:14-15 ctr2:16-29 "
	              "ku:30 sel0:31 ctr1:32-47 ctr0:48-63");
	expect_layout("ev6", "PCTR_CTL", "sl1:0-3 sl0:4 pctr1:6-25 pctr0:28-47");
	expect_layout("ev67", "PMC11", "ctr0:0 ctr1:1");
}

static void registers_of_other_families(void **state)
{
	static const struct {
		const char *table, *reg;
	} absent[] = { { "ev5", "ICCSR" },    { "ev6", "PMCTR" }, { "ev4", "PCTR_CTL" },
		       { "ev6", "I_STAT" },   { "ev4", "PMC11" }, { "ev5", "PM_MUX" },
		       { "pca56", "BC_CTL" }, { "ev67", "PMC9" }, { "ev6", "PCTR_CTL0" } };

	(void)state;
	for (size_t i = 0; i < COUNT(absent); i++) {
		unsigned n;

		if (pfmi_alpha_find_layout(table_called(absent[i].table), absent[i].reg, &n))
			fail_msg("%s has %s", absent[i].table, absent[i].reg);
	}
}

/* The event select bits of a counter belong to no other counter, except on EV67, where one mode
 * selects for both counters. */
static void select_bits_of_counters_do_not_overlap(void **state)
{
	static const char names[][6] = { "ev4", "ev5", "pca56", "ev6", "ev67" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		const struct table *t = table_called(names[i]);
		unsigned counter = 64, n = 0;
		uint64_t all = 0, mask;

		while ((mask = pfmi_alpha_get_event_select_mask(t, "PMC8", n, &counter)) != 0) {
			assert_int_equal(counter, n);
			if (t->encoder == ENCODER_EV67)
				assert_int_equal(mask, 0x1c);
			else
				assert_int_equal(mask & all, 0);
			all |= mask;
			n++;
		}
		assert_int_equal(n, t->encoder == ENCODER_EV5 ? 3 : 2);
		assert_int_equal(pfmi_alpha_get_event_select_mask(t, "NOTHING", 0, &counter), 0);
	}
}

UNIT(pmu_alpha_layout, cmocka_unit_test(control_registers_have_the_fields_of_their_manuals),
     cmocka_unit_test(registers_of_other_families),
     cmocka_unit_test(select_bits_of_counters_do_not_overlap));
