/* SPDX-License-Identifier: MIT */
#include "dispatched_set.h"
#include "unit_tables.h"
#include "open_for.h"

/* Values by hand from the bits of the codes and the fields of Power ISA 3.1 and the user's guide of
 * Power10's monitor. PM_INST_CMPL (0x100fe: counter 1), PM_LD_MISS_L1 (0x3e054: counter 3, unit
 * 0xe), PM_MRK_INST_CMPL (0x401e0: counter 4, marked), PM_RUN_INST_CMPL (0x500fa: counter 5). */
static void power_sets_have_the_control_registers_of_the_set(void **state)
{
	static const char *const texts[] = {
		"power10::PM_INST_CMPL:u",
		"power10::PM_LD_MISS_L1:k",
		"power10::PM_MRK_INST_CMPL",
		"power10::PM_RUN_INST_CMPL",
	};
	static const struct {
		const char *name;
		uint64_t addr, value;
	} rows[] = {
		{ "MMCR1", 798,
		  UINT64_C(0xe) << 52 | UINT64_C(0xfe) << 24 | UINT64_C(0x54) << 8 | 0xe0 },
		/* FCS and FCH of counter 1, FCP and FCH of counter 3 */
		{ "MMCR2", 785,
		  UINT64_C(1) << 63 | UINT64_C(1) << 57 | UINT64_C(1) << 44 | UINT64_C(1) << 39 },
		{ "MMCR3", 754, 0 },
		/* sampling, no branches; marked instructions bring the addresses of data */
		{ "MMCRA", 786, UINT64_C(1) << 37 | 1 },
		/* PMCCEXT, PMCjCE, PMC1CE; counters 5 and 6 are not frozen */
		{ "MMCR0", 795, 0xc200 },
	};
	pfm_ctx_t *ctx = open_for("power10");
	struct dispatched_set set = { 0 };
	unsigned n = 0;

	(void)state;
	assert_int_equal(dispatch_set(ctx, texts, 4, NULL, &set, NULL), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < set.n_pmcs; i++) {
		if (set.pmcs[i].kind != PFM_REG_PMC)
			continue;
		assert_true(n < 5);
		assert_string_equal(set.pmcs[i].name, rows[n].name);
		assert_int_equal(set.pmcs[i].addr, rows[n].addr);
		assert_int_equal(set.pmcs[i].value, rows[n].value);
		assert_int_equal(set.pmcs[i].event, -1);
		n++;
	}
	assert_int_equal(n, 5);
	assert_int_equal(set.pmds[1].addr, 789); /* PMC3 */
	assert_int_equal(pfm_decode_set(ctx, set.pmu, set.pmcs, set.n_pmcs, NULL, 0), 4);
	pfm_close_context(ctx);
}

/* Fields whose place differs between the three processors. */
static void power_registers_differ_between_processors(void **state)
{
	static const struct {
		const char *text, *name;
		uint64_t value;
	} rows[] = {
		/* the miss of the TLB brings the address of data; of the data cache */
		{ "power8::PM_INST_CMPL", "MMCRA", UINT64_C(1) << 42 },
		{ "power9::PM_INST_CMPL", "MMCRA", UINT64_C(2) << 42 },
		{ "power8::PM_INST_CMPL", "MMCR0", 0x8010 },
		/* thresh_cmp 0x12c, 300, is 75 and the exponent 1 */
		{ "power10::PM_INST_CMPL:thresh_cmp=300", "MMCRA",
		  UINT64_C(0x14b) << 45 | UINT64_C(2) << 42 | UINT64_C(1) << 37 },
	};
	pfm_ctx_t *ctx = open_for("power10");
	pfm_encoding_t e = PFM_INIT(e);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned found = 0;

		assert_int_equal(pfm_encode_event(ctx, rows[i].text, 0, &e, NULL), PFMLIB_SUCCESS);
		for (unsigned k = 0; k < e.n_regs; k++)
			if (strcmp(e.regs[k].name, rows[i].name) == 0) {
				assert_int_equal(e.regs[k].value, rows[i].value);
				found++;
			}
		assert_int_equal(found, 1);
	}
	pfm_close_context(ctx);
}

/* Of two words with one code, the first is on the lower counter. */
static void levels_are_decoded_by_counter(void **state)
{
	static const char *const texts[] = { "power10::PM_INST_FROM_L1:u",
		                             "power10::PM_INST_FROM_L1:k",
		                             "power10::PM_RUN_INST_CMPL" };
	pfm_decoded_event_t decoded[3] = { PFM_INIT(decoded[0]) };
	pfm_ctx_t *ctx = open_for("power10");
	struct dispatched_set set = { 0 };

	(void)state;
	assert_int_equal(dispatch_set(ctx, texts, 3, NULL, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_decode_set(ctx, set.pmu, set.pmcs, set.n_pmcs, decoded, 3), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_string_equal(decoded[i].text, texts[i]);
	pfm_close_context(ctx);
}

UNIT(pmu_power, cmocka_unit_test(power_sets_have_the_control_registers_of_the_set),
     cmocka_unit_test(power_registers_differ_between_processors),
     cmocka_unit_test(levels_are_decoded_by_counter));
