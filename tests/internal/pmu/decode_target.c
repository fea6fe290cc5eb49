/* SPDX-License-Identifier: MIT */
/* Names of registers and targets of a decode. */
#include "expect.h"
#include "unit_tables.h"
#include "pmu/pmu.h"

static void config_word_names(void **state)
{
	static const struct {
		const char *name;
		int word;
	} names[] = {
		{ "config", 0 },   { "CONFIG", 0 },    { "config0", 0 },     { "Config1", 1 },
		{ "config2", 2 },  { "config3", 3 },   { "config4", 4 },     { "config5", -1 },
		{ "config/", -1 }, { "config00", -1 }, { "config1x", -1 },   { "confi", -1 },
		{ "", -1 },        { "xconfig", -1 },  { "PERFEVTSEL", -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		EXPECT_ROW_NUMBER(names[i].name, pfmi_pmu_get_config_index(names[i].name),
		                  names[i].word);
}

/* A register name gives the register and its counter. */
static void register_names_give_their_counter(void **state)
{
	static const struct {
		const char *reg;
		bool found;
		unsigned counter;
	} regs[] = {
		{ "PERFEVTSEL0", true, 0 }, { "PERFEVTSEL12", false, 12 },
		{ "PMC1", true, 1 },        { "config", true, 64 },
		{ "config1", true, 64 },    { "PERFEVTSEL", true, 64 },
		{ "NOTHING", false, 64 },   { "FIXED_CTR_CTRL", false, 64 },
	};
	const struct table *t = table_with(ENCODER_X86, "coreduo");

	(void)state;
	for (size_t i = 0; i < COUNT(regs); i++) {
		struct decode_target g = { .table = t, .reg_name = regs[i].reg, .value = 0x4300c0 };

		if (pfmi_pmu_init_decode_target(&g) != regs[i].found)
			fail_msg("%s", regs[i].reg);
		assert_int_equal(g.counter, regs[i].counter);
	}
}

UNIT(pmu_decode_target, cmocka_unit_test(config_word_names),
     cmocka_unit_test(register_names_give_their_counter));
