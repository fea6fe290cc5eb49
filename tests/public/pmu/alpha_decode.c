/* SPDX-License-Identifier: MIT */
/* Reports of interrupt handlers and ProfileMe registers: each bit alone, each edge, each refusal.
 */
#include "units.h"
#include <ctype.h>
#include <perfmon/alpha.h>

static const int TYPES[] = { PFMLIB_ALPHA_EV4_PMU, PFMLIB_ALPHA_EV5_PMU, PFMLIB_ALPHA_PCA56_PMU,
	                     PFMLIB_ALPHA_EV6_PMU, PFMLIB_ALPHA_EV67_PMU };

static void interrupt_names_counter(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(TYPES); i++)
		for (uint64_t n = 0; n < 5; n++) {
			uint64_t regs[3] = { 4, 0x650, n };
			int want = n < pfm_alpha_num_counters(TYPES[i]) ? PFMLIB_SUCCESS
			                                                : PFMLIB_ERR_INVAL;
			pfm_alpha_interrupt_t out = { 0 };

			assert_int_equal(
				pfm_alpha_decode_interrupt(TYPES[i], PFM_ALPHA_OS_UNIX, regs, &out),
				want);
			if (want == PFMLIB_SUCCESS)
				assert_true(out.counter == n && out.ipl == 6 &&
				            strcmp(out.entry, "entINT") == 0 &&
				            out.vector == 0x650);
			assert_int_equal(pfm_alpha_decode_interrupt(TYPES[i], PFM_ALPHA_OS_VMS,
			                                            regs + 2, &out),
			                 want);
			if (want == PFMLIB_SUCCESS)
				assert_true(out.counter == n && out.ipl == 29 &&
				            strcmp(out.entry, "") == 0 && out.vector == 0x650);
		}
}

static void interrupts_of_others(void **state)
{
	static const uint64_t bad[][3] = {
		{ 3, 0x650, 0 }, { 5, 0x650, 0 }, { 4, 0x651, 0 }, { 4, 0x64f, 0 }
	};
	uint64_t regs[3] = { 4, 0x650, UINT64_C(1) << 32 };
	pfm_alpha_interrupt_t out;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV5_PMU, PFM_ALPHA_OS_UNIX,
		                                            bad[i], &out),
		                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(
		pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV5_PMU, PFM_ALPHA_OS_UNIX, regs, &out),
		PFMLIB_ERR_INVAL);
	regs[2] = 0;
	assert_int_equal(pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV5_PMU, 2, regs, &out),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV5_PMU, -1, regs, &out),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_decode_interrupt(4, PFM_ALPHA_OS_UNIX, regs, &out),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(
		pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV5_PMU, PFM_ALPHA_OS_UNIX, NULL, &out),
		PFMLIB_ERR_INVAL);
	assert_int_equal(
		pfm_alpha_decode_interrupt(PFMLIB_ALPHA_EV5_PMU, PFM_ALPHA_OS_UNIX, regs, NULL),
		PFMLIB_ERR_INVAL);
}

enum { STATISTICS = 44 };

/* A statistic is found by its full or short name in any case, and by no part of it. */
static void names_of_statistics(void **state)
{
	(void)state;
	assert_null(pfm_alpha_statistic_name(STATISTICS));
	assert_int_equal(pfm_alpha_find_statistic("freq"), PF67_PM_FREQ);
	assert_string_equal(pfm_alpha_statistic_name(PF67_PM_VALID), "PF67_PM_VALID");
	assert_int_equal(PF67_PM_VALID, STATISTICS - 1);
	for (unsigned i = 0; i < STATISTICS; i++) {
		const char *name = pfm_alpha_statistic_name(i);
		char lower[64];
		size_t n = strlen(name);

		for (size_t k = 0; k <= n; k++)
			lower[k] = (char)tolower((unsigned char)name[k]);
		assert_memory_equal(name, "PF67_PM_", 8);
		assert_int_equal(pfm_alpha_find_statistic(name), i);
		assert_int_equal(pfm_alpha_find_statistic(name + 8), i);
		assert_int_equal(pfm_alpha_find_statistic(lower), i);
		assert_int_equal(pfm_alpha_find_statistic(lower + 8), i);
		assert_int_not_equal(pfm_alpha_find_statistic(name + 7), i);
		lower[n - 1] = '\0';
		assert_int_not_equal(pfm_alpha_find_statistic(lower), i);
	}
	assert_int_equal(pfm_alpha_find_statistic("retired"), PF67_PM_RETIRE);
	assert_int_equal(pfm_alpha_find_statistic("VALIDx"), -1);
	assert_int_equal(pfm_alpha_find_statistic("[ALID"), -1);
	assert_int_equal(pfm_alpha_find_statistic(""), -1);
	assert_int_equal(pfm_alpha_find_statistic(NULL), -1);
}

/* All statistics per retired instruction are percentages, except cycles. */
static void statistics_are_ratios(void **state)
{
	uint64_t num = 0, den = 0;

	(void)state;
	for (unsigned i = 0; i <= STATISTICS; i++) {
		const char *name = pfm_alpha_statistic_name(i),
			   *end = name ? strstr(name, "_PER_RET") : NULL;
		int got = pfm_alpha_ratio(i, 7, 3, &num, &den);

		assert_int_equal(got, end ? PFMLIB_SUCCESS : PFMLIB_ERR_INVAL);
		if (!end)
			continue;
		assert_true(num == (i == PF67_PM_CYCLES_PER_RET ? 7 : 700) && den == 3);
		assert_int_equal(pfm_alpha_ratio(i, 7, 0, &num, &den), PFMLIB_ERR_NOTFOUND);
		assert_int_equal(pfm_alpha_ratio(i, 7, 1, NULL, &den), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_alpha_ratio(i, 7, 1, &num, NULL), PFMLIB_ERR_INVAL);
	}
}

#define BIT(N) ((uint64_t)1 << (N))

/* Statistics of one register: each bit alone, all bits, and all bits without a statistic. */
static void statistics_of_registers(void **state)
{
	static const struct {
		unsigned bit, statistic;
	} control[] = { { 0, PF67_PM_CBR_TAKEN },
		        { 1, PF67_PM_VALID },
		        { 26, PF67_PM_EARLY_KILL },
		        { 27, PF67_PM_MAP_STALL } };
	static const struct {
		uint64_t entry;
		unsigned statistic;
	} entries[] = { { 0x581, PF67_PM_ITB_MISS },
		        { 0x481, PF67_PM_ISTREAM_ACCVIO },
		        { 0x681, PF67_PM_INTERRUPT } };
	uint64_t all = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(control); i++) {
		assert_true(pfm_alpha_pctr_ctl_statistics(BIT(control[i].bit)) ==
		            BIT(control[i].statistic));
		all |= BIT(control[i].statistic);
	}
	assert_true(pfm_alpha_pctr_ctl_statistics(~UINT64_C(0)) == all);
	assert_true(pfm_alpha_pctr_ctl_statistics(~(BIT(0) | BIT(1) | BIT(26) | BIT(27))) == 0);
	for (size_t i = 0; i < COUNT(entries);
	     i++) { /* only the 15 bits of an address in PALcode count */
		assert_true(pfm_alpha_pmpc_statistics(entries[i].entry) ==
		            BIT(entries[i].statistic));
		assert_true(pfm_alpha_pmpc_statistics(entries[i].entry | ~UINT64_C(0x7fff)) ==
		            BIT(entries[i].statistic));
		assert_true(pfm_alpha_pmpc_statistics(entries[i].entry ^ 0x4000) == 0);
		assert_true(pfm_alpha_pmpc_statistics(entries[i].entry ^ 1) == 0);
	}
	assert_true(pfm_alpha_pmpc_statistics(0) == 0);
}

enum { PAR = 29, ICM = 33, TYPE = 34, LSO = 38, TRP = 39, MIS = 40 };

static const struct {
	int type;
	unsigned statistic;
} trap_types[] = {
	{ PFM_ALPHA_TRAP_REPLAY, PF67_PM_REPLAY_TRAP },
	{ PFM_ALPHA_TRAP_DTB_DOUBLE3, PF67_PM_DTB_MISS3 },
	{ PFM_ALPHA_TRAP_DTB_DOUBLE4, PF67_PM_DTB_MISS4 },
	{ PFM_ALPHA_TRAP_FP_DISABLED, PF67_PM_FP_DISABLED },
	{ PFM_ALPHA_TRAP_UNALIGNED, PF67_PM_LDST_ALIGN_TRAP },
	{ PFM_ALPHA_TRAP_DTB_SINGLE, PF67_PM_DTB_MISS },
	{ PFM_ALPHA_TRAP_DSTREAM, PF67_PM_DSTREAM_FAULT },
	{ PFM_ALPHA_TRAP_OPCDEC, PF67_PM_OPCDEC_TRAP },
	{ PFM_ALPHA_TRAP_MACHINE_CHECK, PF67_PM_MCHK_TRAP },
	{ PFM_ALPHA_TRAP_ARITHMETIC, PF67_PM_ARITH_TRAP },
	{ PFM_ALPHA_TRAP_MT_FPCR, PF67_PM_MT_FPCR_TRAP },
	{ PFM_ALPHA_TRAP_RESET, PF67_PM_RESET },
};

/* The statistic of a trap of @type, 0 for an unused type. */
static uint64_t trap_bit(unsigned type)
{
	for (size_t i = 0; i < COUNT(trap_types); i++)
		if (trap_types[i].type == (int)type)
			return BIT(trap_types[i].statistic);
	return 0;
}

static void traps_of_sample_flags(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 16; type++)
		for (unsigned flags = 0; flags < 8;
		     flags++) { /* trapped, mispredicted, out of order */
			uint64_t stat = (uint64_t)type << TYPE | (flags & 1 ? BIT(TRP) : 0) |
			                (flags & 2 ? BIT(MIS) : 0) | (flags & 4 ? BIT(LSO) : 0);
			uint64_t want = 0;
			pfm_alpha_sample_t s;

			if (flags & 1)
				want = BIT(PF67_PM_TRAP) |
				       (flags & 2 ? BIT(PF67_PM_MISPREDICT) : trap_bit(type));
			if ((flags & 3) == 1 && (flags & 4) && type == PFM_ALPHA_TRAP_REPLAY)
				want |= BIT(PF67_PM_LDST_ORDER_TRAP);
			assert_true(pfm_alpha_i_stat_statistics(stat) == want);
			memset(&s, 0xff, sizeof s);
			pfm_alpha_decode_sample(stat, 0, 0, &s);
			assert_int_equal(s.trap, !(flags & 1) || (flags & 2) ? PFM_ALPHA_TRAP_NONE
			                         : trap_bit(type)            ? (int)type
			                                          : PFM_ALPHA_TRAP_INVALID);
			if (flags & 1)
				assert_true((s.trap_name[0] != '\0') ==
				            ((flags & 2) || trap_bit(type)));
			else
				assert_string_equal(s.trap_name, "");
			assert_true(!(flags & 2) || !(flags & 1) ||
			            strcmp(s.trap_name, "mispredict") == 0);
			assert_true(s.trapped == (flags & 1) &&
			            s.mispredicted == (flags >> 1 & 1) &&
			            s.load_store_order == flags >> 2);
		}
}

/* Every field of a sample, first alone, then as the only clear one. */
static void fields_of_samples(void **state)
{
	pfm_alpha_sample_t s;

	(void)state;
	for (unsigned inverted = 0; inverted < 2; inverted++) {
		uint64_t turn = inverted ? ~UINT64_C(0) : 0;

		pfm_alpha_decode_sample(BIT(ICM) ^ turn, 0, 0, &s);
		assert_true(s.icache_miss == !inverted && s.icache_parity == inverted);
		pfm_alpha_decode_sample(BIT(PAR) ^ turn, 0, 0, &s);
		assert_true(s.icache_parity == !inverted && s.icache_miss == inverted);
		for (unsigned bit = 0; bit < 64; bit++) {
			pfm_alpha_decode_sample(BIT(bit) ^ turn, 0, BIT(bit) ^ turn, &s);
			assert_int_equal(s.residue,
			                 (bit >= 30 && bit <= 32 ? 1u << (bit - 30) : 0) ^
			                         (inverted ? 7 : 0));
			assert_int_equal(s.taken, (bit == 0) ^ inverted);
			assert_int_equal(s.valid, (bit == 1) ^ inverted);
			assert_int_equal(s.mode, (bit == 2 || bit == 3 ? 1u << (bit - 2) : 0) ^
			                                 (inverted ? 3 : 0));
			assert_int_equal(s.profileme, (bit == 4) ^ inverted);
			assert_int_equal(s.pctr1, (bit >= 6 && bit < 26 ? 1u << (bit - 6) : 0) ^
			                                  (inverted ? 0xfffff : 0));
			assert_int_equal(s.killed_early, (bit == 26) ^ inverted);
			assert_int_equal(s.stalled, (bit == 27) ^ inverted);
			assert_int_equal(s.pctr0, (bit >= 28 && bit < 48 ? 1u << (bit - 28) : 0) ^
			                                  (inverted ? 0xfffff : 0));
			assert_int_equal(s.trapped, (bit == TRP) ^ inverted);
			assert_int_equal(s.mispredicted, (bit == MIS) ^ inverted);
			assert_int_equal(s.load_store_order, (bit == LSO) ^ inverted);
			assert_int_equal(s.icache_miss, (bit == ICM) ^ inverted);
			assert_int_equal(s.icache_parity, (bit == PAR) ^ inverted);
		}
	}
	assert_true(pfm_alpha_i_stat_statistics(BIT(ICM)) == BIT(PF67_PM_ICACHE_MISS));
	assert_true(pfm_alpha_i_stat_statistics(BIT(PAR)) == BIT(PF67_PM_ICACHE_PARITY));
	assert_true(pfm_alpha_i_stat_statistics(7u << 30) == 0);
	pfm_alpha_decode_sample(0, 0, 0, NULL);
}

/* The address of the instruction, or of the handler entered instead. */
static void a_sample_has_the_address_of_its_instruction_or_handler(void **state)
{
	pfm_alpha_sample_t s;

	(void)state;
	pfm_alpha_decode_sample(0, 0x12000abcd, 0, &s);
	assert_true(s.pc == 0x12000abcc && s.pal == 1 && s.pc_in_exc_addr == 0);
	pfm_alpha_decode_sample(0, 0x12000abce, 0, &s);
	assert_true(s.pc == 0x12000abcc && s.pal == 0);
	pfm_alpha_decode_sample(0, 0x8581, 0, &s);
	assert_true(s.pc == 0 && s.pal == 1 && s.pc_in_exc_addr == 1 &&
	            s.statistics == BIT(PF67_PM_ITB_MISS));
}

/* A valid sample without a trap is retired. An invalid one is aborted if anything is known of it.
 */
static void retired_or_aborted(void **state)
{
	static const uint64_t valid = BIT(1), killed = BIT(26), trapped = BIT(TRP);
	static const struct {
		uint64_t i_stat, control;
		uint64_t want;
	} rows[] = {
		{ 0, BIT(1), BIT(PF67_PM_RETIRE) | BIT(PF67_PM_FREQ) },
		{ BIT(ICM), BIT(1), BIT(PF67_PM_RETIRE) | BIT(PF67_PM_FREQ) },
		{ BIT(TRP), BIT(1), 0 },
		{ 0, 0, 0 },
		{ 0, BIT(27), 0 },
		{ BIT(TRP), 0, BIT(PF67_PM_ABORT) },
		{ BIT(ICM), 0, BIT(PF67_PM_ABORT) },
		{ 0, BIT(26), BIT(PF67_PM_ABORT) },
		{ BIT(TRP), BIT(26) | BIT(1), 0 },
	};
	const uint64_t ends = BIT(PF67_PM_RETIRE) | BIT(PF67_PM_FREQ) | BIT(PF67_PM_ABORT);
	pfm_alpha_sample_t s;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		pfm_alpha_decode_sample(rows[i].i_stat, 0, rows[i].control, &s);
		assert_true((s.statistics & ends) == rows[i].want);
		assert_true((s.statistics & ~ends) ==
		            (pfm_alpha_i_stat_statistics(rows[i].i_stat) |
		             pfm_alpha_pctr_ctl_statistics(rows[i].control)));
	}
	pfm_alpha_decode_sample(trapped, 0, killed | valid, &s);
	assert_true(s.trapped && s.killed_early && s.valid);
}

UNIT(pmu_alpha_decode, cmocka_unit_test(interrupt_names_counter),
     cmocka_unit_test(interrupts_of_others), cmocka_unit_test(names_of_statistics),
     cmocka_unit_test(statistics_are_ratios), cmocka_unit_test(statistics_of_registers),
     cmocka_unit_test(traps_of_sample_flags), cmocka_unit_test(fields_of_samples),
     cmocka_unit_test(a_sample_has_the_address_of_its_instruction_or_handler),
     cmocka_unit_test(retired_or_aborted));
