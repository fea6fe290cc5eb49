/* SPDX-License-Identifier: MIT */
/* Registers of sets on an Intel core. Addresses and bits are those of the SDM, volume 3, chapter
 * "Performance Monitoring": IA32_PERFEVTSELx from 0x186, IA32_PMCx from 0xc1, IA32_FIXED_CTRx from
 * 0x309, IA32_FIXED_CTR_CTRL 0x38d, IA32_PERF_GLOBAL_CTRL 0x38f. */
#include "dispatched_set.h"
#include "unit_tables.h"
#include "open_for.h"

enum { SEL_USER = 1 << 16, SEL_KERNEL = 1 << 17, SEL_INTERRUPT = 1 << 20, SEL_ENABLE = 1 << 22 };

static void general_and_fixed_counters(void **state)
{
	static const char *const texts[] = { "INST_RETIRED.ANY:u", "CPU_CLK_UNHALTED.THREAD",
		                             "MEM_LOAD_RETIRED.L3_MISS:c=2" };
	pfm_ctx_t *ctx = open_for("skl");
	pfm_dispatch_options_t options = PFM_INIT(options);
	struct dispatched_set set = { 0 };

	(void)state;
	options.plm = PFM_PLM0 | PFM_PLM3;
	assert_int_equal(dispatch_set(ctx, texts, 3, &options, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.n_pmcs, 4);
	/* Both events on fixed counters carry the whole register: user, and kernel and user. */
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(set.pmcs[i].kind, PFM_REG_FIXED_CTRL);
		assert_int_equal(set.pmcs[i].addr, 0x38d);
		assert_int_equal(set.pmcs[i].value, 2 | 3 << 4);
		assert_int_equal(set.pmds[i].addr, 0x309 + i);
		assert_int_equal(set.pmds[i].alt_addr, 0x40000000 + i); /* for RDPMC */
	}
	assert_int_equal(set.pmcs[2].addr, 0x186);
	assert_int_equal(set.pmcs[2].value,
	                 0x20d1 | SEL_USER | SEL_KERNEL | SEL_INTERRUPT | SEL_ENABLE | 2 << 24);
	assert_int_equal(set.pmds[2].addr, 0xc1);
	assert_int_equal(set.pmcs[3].addr, 0x38f);
	assert_true(set.pmcs[3].value == ((uint64_t)3 << 32 | 1));
	pfm_close_context(ctx);
}

/* An extra register follows the registers of the counters. */
static void an_extra_register_follows_the_counters(void **state)
{
	pfm_ctx_t *ctx = open_for("skl");
	pfm_encoding_t e = PFM_INIT(e);

	(void)state;
	assert_int_equal(pfm_encode_event(ctx, "FRONTEND_RETIRED.DSB_MISS", PFM_PLM3, &e, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(e.n_regs, 2);
	assert_int_equal(e.regs[0].value, 0x01c6 | SEL_USER | SEL_INTERRUPT | SEL_ENABLE);
	assert_int_equal(e.regs[1].kind, PFM_REG_EXTRA);
	assert_int_equal(e.regs[1].addr, 0x3f7); /* MSR_PEBS_FRONTEND */
	assert_int_equal(e.regs[1].value, 0x11);
	assert_int_equal(e.attr.config1, 0x11);
	pfm_close_context(ctx);
}

UNIT(pmu_x86, cmocka_unit_test(general_and_fixed_counters),
     cmocka_unit_test(an_extra_register_follows_the_counters));
