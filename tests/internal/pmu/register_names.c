/* SPDX-License-Identifier: MIT */
/* Names of registers of each kind and encoder; pfm_decode_field() accepts each name. */
#include "unit_tables.h"

static void expect_register(const struct table *t, unsigned kind, unsigned num, uint64_t addr,
                            const char *want)
{
	pfm_reg_t reg = { 0 };

	reg.kind = kind;
	reg.num = num;
	reg.addr = addr;
	assert_string_equal(pfmi_pmu_get_register_name(t, &reg), want);
}

static void control_registers_have_the_names_of_their_manuals(void **state)
{
	char want[32];

	(void)state;
	expect_register(table_with(ENCODER_X86, "skl"), PFM_REG_PMC, 3, 0, "PERFEVTSEL3");
	expect_register(table_with(ENCODER_NETBURST, NULL), PFM_REG_PMC, 12, 0, "CCCR12");
	expect_register(table_with(ENCODER_MIPS, NULL), PFM_REG_PMC, 1, 0, "PERFCTL1");
	expect_register(table_called("montecito"), PFM_REG_PMC, 4, 0, "PMC4");
	for (unsigned i = 0; i < 64; i++) {
		snprintf(want, sizeof(want), "PERFEVTSEL%u", i);
		expect_register(table_with(ENCODER_X86, "skl"), PFM_REG_PMC, i, 0, want);
		snprintf(want, sizeof(want), "PMC%u", i);
		expect_register(table_called("montecito"), PFM_REG_PMC, i, 0, want);
		snprintf(want, sizeof(want), "PMD%u", i);
		expect_register(table_called("montecito"), PFM_REG_PMD, i, 0, want);
	}
}

static void registers_of_no_counter_have_names(void **state)
{
	const struct table *skl = table_with(ENCODER_X86, "skl"),
			   *netburst = table_with(ENCODER_NETBURST, NULL);

	(void)state;
	expect_register(skl, PFM_REG_FIXED_CTRL, 0, 0, "FIXED_CTR_CTRL");
	expect_register(skl, PFM_REG_GLOBAL_CTRL, 0, 0, "GLOBAL_CTRL");
	expect_register(skl, PFM_REG_EXTRA, 0, 0x1a6, "OFFCORE_RSP_0");
	expect_register(skl, PFM_REG_EXTRA, 0, 0x1a7, "OFFCORE_RSP_1");
	expect_register(skl, PFM_REG_EXTRA, 0, 0x3e0, "OMR_0");
	expect_register(skl, PFM_REG_EXTRA, 0, 0x3e3, "OMR_3");
	expect_register(skl, PFM_REG_EXTRA, 0, 0x3f6, "PEBS_LD_LAT");
	expect_register(skl, PFM_REG_EXTRA, 0, 0x3f7, "PEBS_FRONTEND");
	expect_register(skl, PFM_REG_EXTRA, 0, 0x1328, "SNOOP_RSP_0");
	expect_register(skl, PFM_REG_EXTRA, 0, 0x1329, "SNOOP_RSP_1");
	expect_register(skl, PFM_REG_EXTRA, 0, 0x999, "MSR");
	expect_register(netburst, PFM_REG_EXTRA, 0, 0x3b2, "ESCR0");
	expect_register(netburst, PFM_REG_EXTRA, 0, 0x3b3, "ESCR1");
	expect_register(skl, PFM_REG_IBR, 7, 0, "IBR7");
	expect_register(skl, PFM_REG_DBR, 0, 0, "DBR0");
	expect_register(skl, PFM_REG_CONFIG, 0, 0, "config");
	expect_register(skl, PFM_REG_CONFIG, 3, 0, "config3");
}

/* Addresses of x86, from Intel's manual volume 4 and AMD's for family 19h. */
static void register_addresses_of_x86(void **state)
{
	const struct table *skl = table_called("skl"), *zen4 = table_called("amdzen4");

	(void)state;
	assert_string_equal(pfmi_pmu_resolve_register_name(skl, "0x186"), "PERFEVTSEL0");
	assert_string_equal(pfmi_pmu_resolve_register_name(skl, "0x189"), "PERFEVTSEL3");
	assert_string_equal(pfmi_pmu_resolve_register_name(skl, "0x38d"), "FIXED_CTR_CTRL");
	assert_string_equal(pfmi_pmu_resolve_register_name(skl, "0x38f"), "GLOBAL_CTRL");
	assert_string_equal(pfmi_pmu_resolve_register_name(skl, "0x1a6"), "OFFCORE_RSP_0");
	assert_string_equal(pfmi_pmu_resolve_register_name(skl, "0x3f7"), "PEBS_FRONTEND");
	assert_string_equal(pfmi_pmu_resolve_register_name(zen4, "0xc0010202"), "PERFEVTSEL1");
	/* Addresses without a name stay as they are. */
	assert_string_equal(pfmi_pmu_resolve_register_name(skl, "0x18a"), "0x18a");
	assert_string_equal(pfmi_pmu_resolve_register_name(skl, "0x186x"), "0x186x");
	assert_string_equal(pfmi_pmu_resolve_register_name(zen4, "0x1a6"), "0x1a6");
	assert_string_equal(pfmi_pmu_resolve_register_name(skl, ""), "");
	assert_string_equal(pfmi_pmu_resolve_register_name(skl, "PMC0"), "PMC0");
	assert_string_equal(pfmi_pmu_resolve_register_name(table_called("montecito"), "0x186"),
	                    "0x186");
}

/* Each register name of an encoder has a layout. */
static void names_are_known(void **state)
{
	static const unsigned kinds[] = { PFM_REG_PMC, PFM_REG_FIXED_CTRL, PFM_REG_GLOBAL_CTRL };
	const struct table *skl = table_with(ENCODER_X86, "skl");
	unsigned n;

	(void)state;
	for (unsigned i = 0; i < COUNT(kinds); i++) {
		pfm_reg_t reg = { 0 };

		reg.kind = kinds[i];
		assert_non_null(pfmi_pmu_get_register_layout(
			skl, pfmi_pmu_get_register_name(skl, &reg), &n));
	}
}

UNIT(pmu_register_names, cmocka_unit_test(control_registers_have_the_names_of_their_manuals),
     cmocka_unit_test(registers_of_no_counter_have_names), cmocka_unit_test(names_are_known),
     cmocka_unit_test(register_addresses_of_x86));
