/* SPDX-License-Identifier: MIT */
/* Decoding of Alpha interrupt arguments and ProfileMe registers. Bit positions: 21264/EV67 hardware
 * reference manual, sections 5.2 and 6.10; interrupt arguments: Alpha Architecture Handbook,
 * appendix E. */
#include <perfmon/alpha.h>
#include <string.h>

#define ARRAY_LENGTH(A) (sizeof(A) / sizeof((A)[0]))

/* ---- interrupts ------------------------------------------------------------------------------ */

#define VECTOR_PERFMON        0x650u /* offset in the system control block, and a1 of entINT */
#define OSF_PERFMON_INTERRUPT 4      /* a0 of entINT */

pfm_err_t pfm_alpha_decode_interrupt(int pmu, int os, const uint64_t *regs,
                                     pfm_alpha_interrupt_t *out)
{
	uint64_t counter;

	if (!regs || !out || pfm_alpha_num_counters(pmu) == 0 ||
	    (os != PFM_ALPHA_OS_UNIX && os != PFM_ALPHA_OS_VMS))
		return PFMLIB_ERR_INVAL;
	if (os == PFM_ALPHA_OS_UNIX &&
	    (regs[0] != OSF_PERFMON_INTERRUPT || regs[1] != VECTOR_PERFMON))
		return PFMLIB_ERR_NOTFOUND;
	counter = regs[os == PFM_ALPHA_OS_UNIX ? 2 : 0];
	if (counter >= pfm_alpha_num_counters(pmu))
		return PFMLIB_ERR_INVAL;
	out->counter = (unsigned int)counter;
	out->ipl = os == PFM_ALPHA_OS_UNIX ? 6 : 29;
	out->entry = os == PFM_ALPHA_OS_UNIX ? "entINT" : "";
	out->vector = VECTOR_PERFMON;
	return PFMLIB_SUCCESS;
}

/* ---- statistics ------------------------------------------------------------------------------ */

enum { PREFIX_LEN = sizeof "PF67_PM_" - 1 };
/* Names of statistics by number, in an array of characters: pointers would need relocations. */
#define STATISTIC_NAME(NAME) [PF67_PM_##NAME] = "PF67_PM_" #NAME
static const char statistic_names[][28] = {
	STATISTIC_NAME(DISABLED),
	STATISTIC_NAME(ABORT),
	STATISTIC_NAME(ABORT_PER_RET),
	STATISTIC_NAME(ARITH_TRAP),
	STATISTIC_NAME(CBR_TAKEN),
	STATISTIC_NAME(CBR_TAKEN_PER_RET),
	STATISTIC_NAME(CYCLES),
	STATISTIC_NAME(CYCLES_PER_RET),
	STATISTIC_NAME(DELAY),
	STATISTIC_NAME(DELAY_PER_RET),
	STATISTIC_NAME(DSTREAM_FAULT),
	STATISTIC_NAME(DTB_MISS),
	STATISTIC_NAME(DTB_MISS_PER_RET),
	STATISTIC_NAME(DTB_MISS3),
	STATISTIC_NAME(DTB_MISS4),
	STATISTIC_NAME(EARLY_KILL),
	STATISTIC_NAME(EARLY_KILL_PER_RET),
	STATISTIC_NAME(FP_DISABLED),
	STATISTIC_NAME(FREQ),
	STATISTIC_NAME(ICACHE_MISS),
	STATISTIC_NAME(ICACHE_MISS_PER_RET),
	STATISTIC_NAME(ICACHE_PARITY),
	STATISTIC_NAME(INFLT_BCACHE_MISS),
	STATISTIC_NAME(INFLT_REPLAYS),
	STATISTIC_NAME(INFLT_RETIRES),
	STATISTIC_NAME(INTERRUPT),
	STATISTIC_NAME(ISTREAM_ACCVIO),
	STATISTIC_NAME(ITB_MISS),
	STATISTIC_NAME(LDST_ALIGN_TRAP),
	STATISTIC_NAME(LDST_ORDER_TRAP),
	STATISTIC_NAME(MAP_STALL),
	STATISTIC_NAME(MAP_STALL_PER_RET),
	STATISTIC_NAME(MCHK_TRAP),
	STATISTIC_NAME(MISPREDICT),
	STATISTIC_NAME(MISPREDICT_PER_RET),
	STATISTIC_NAME(MT_FPCR_TRAP),
	STATISTIC_NAME(OPCDEC_TRAP),
	STATISTIC_NAME(REPLAY_TRAP),
	STATISTIC_NAME(REPLAY_TRAP_PER_RET),
	STATISTIC_NAME(RESET),
	STATISTIC_NAME(RETIRE),
	STATISTIC_NAME(TRAP),
	STATISTIC_NAME(TRAP_PER_RET),
	STATISTIC_NAME(VALID),
};

const char *pfm_alpha_statistic_name(unsigned int n)
{
	return n < ARRAY_LENGTH(statistic_names) ? statistic_names[n] : NULL;
}

static char to_upper_ascii(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static int is_same_word(const char *a, const char *b)
{
	while (*a && to_upper_ascii(*a) == to_upper_ascii(*b))
		a++, b++;
	return to_upper_ascii(*a) == to_upper_ascii(*b);
}

int pfm_alpha_find_statistic(const char *name)
{
	if (!name)
		return -1;
	if (is_same_word(name, "retired")) /* the spelling of the manual page */
		return PF67_PM_RETIRE;
	for (size_t i = 0; i < ARRAY_LENGTH(statistic_names); i++)
		if (is_same_word(name, statistic_names[i]) ||
		    is_same_word(name, statistic_names[i] + PREFIX_LEN))
			return (int)i;
	return -1;
}

pfm_err_t pfm_alpha_ratio(unsigned int statistic, uint64_t count, uint64_t retired, uint64_t *num,
                          uint64_t *den)
{
	const char *name = pfm_alpha_statistic_name(statistic);

	if (!name || !num || !den || !strstr(name, "_PER_RET"))
		return PFMLIB_ERR_INVAL;
	if (retired == 0)
		return PFMLIB_ERR_NOTFOUND;
	*num = statistic == PF67_PM_CYCLES_PER_RET
	               ? count
	               : count * 100; /* all other ratios are percentages */
	*den = retired;
	return PFMLIB_SUCCESS;
}

/* ---- registers ------------------------------------------------------------------------------- */

/* I_STAT */
enum {
	I_STAT_PAR = 29,
	I_STAT_OVR = 30,
	I_STAT_ICM = 33,
	I_STAT_TRAP_TYPE = 34,
	I_STAT_LSO = 38,
	I_STAT_TRP = 39,
	I_STAT_MIS = 40
};
/* PCTR_CTL */
enum {
	PCTR_CTL_TAK = 0,
	PCTR_CTL_VAL = 1,
	PCTR_CTL_SL1 = 2,
	PCTR_CTL_SL0 = 4,
	PCTR_CTL_PCTR1 = 6,
	PCTR_CTL_PM_KILLED_BM = 26,
	PCTR_CTL_PM_STALLED = 27,
	PCTR_CTL_PCTR0 = 28
};

static uint64_t get_bits(uint64_t reg, unsigned int lsb, unsigned int width)
{
	return reg >> lsb & (((uint64_t)1 << width) - 1);
}

static const struct {
	char name[39];
	unsigned char statistic;
} trap_types[16] = {
	[PFM_ALPHA_TRAP_REPLAY] = { "replay", PF67_PM_REPLAY_TRAP },
	[PFM_ALPHA_TRAP_DTB_DOUBLE3] = { "double data translation miss, 3 levels",
	                                 PF67_PM_DTB_MISS3 },
	[PFM_ALPHA_TRAP_DTB_DOUBLE4] = { "double data translation miss, 4 levels",
	                                 PF67_PM_DTB_MISS4 },
	[PFM_ALPHA_TRAP_FP_DISABLED] = { "floating point disabled", PF67_PM_FP_DISABLED },
	[PFM_ALPHA_TRAP_UNALIGNED] = { "unaligned load or store", PF67_PM_LDST_ALIGN_TRAP },
	[PFM_ALPHA_TRAP_DTB_SINGLE] = { "single data translation miss", PF67_PM_DTB_MISS },
	[PFM_ALPHA_TRAP_DSTREAM] = { "data-stream fault", PF67_PM_DSTREAM_FAULT },
	[PFM_ALPHA_TRAP_OPCDEC] = { "reserved opcode", PF67_PM_OPCDEC_TRAP },
	[PFM_ALPHA_TRAP_MACHINE_CHECK] = { "machine check", PF67_PM_MCHK_TRAP },
	[PFM_ALPHA_TRAP_ARITHMETIC] = { "arithmetic", PF67_PM_ARITH_TRAP },
	[PFM_ALPHA_TRAP_MT_FPCR] = { "write to FPCR", PF67_PM_MT_FPCR_TRAP },
	[PFM_ALPHA_TRAP_RESET] = { "reset", PF67_PM_RESET },
};

static uint64_t get_statistic_bit(unsigned int n)
{
	return (uint64_t)1 << n;
}

uint64_t pfm_alpha_i_stat_statistics(uint64_t i_stat)
{
	unsigned int type = (unsigned int)get_bits(i_stat, I_STAT_TRAP_TYPE, 4);
	uint64_t s = 0;

	if (get_bits(i_stat, I_STAT_ICM, 1))
		s |= get_statistic_bit(PF67_PM_ICACHE_MISS);
	if (get_bits(i_stat, I_STAT_PAR, 1))
		s |= get_statistic_bit(PF67_PM_ICACHE_PARITY);
	if (!get_bits(i_stat, I_STAT_TRP, 1))
		return s;
	s |= get_statistic_bit(PF67_PM_TRAP);
	if (get_bits(i_stat, I_STAT_MIS, 1)) /* the trap type of a mispredict is undefined */
		return s | get_statistic_bit(PF67_PM_MISPREDICT);
	if (trap_types[type].statistic)
		s |= get_statistic_bit(trap_types[type].statistic);
	if (type == PFM_ALPHA_TRAP_REPLAY && get_bits(i_stat, I_STAT_LSO, 1))
		s |= get_statistic_bit(PF67_PM_LDST_ORDER_TRAP);
	return s;
}

/* For redirected fetches PMPC has the address of a PALcode entry. */
static const struct {
	unsigned short entry;
	unsigned char statistic;
} pal_redirects[] = {
	{ 0x581, PF67_PM_ITB_MISS },
	{ 0x481, PF67_PM_ISTREAM_ACCVIO },
	{ 0x681, PF67_PM_INTERRUPT },
};

uint64_t pfm_alpha_pmpc_statistics(uint64_t pmpc)
{
	for (size_t i = 0; i < ARRAY_LENGTH(pal_redirects); i++)
		if (get_bits(pmpc, 0, 15) == pal_redirects[i].entry)
			return get_statistic_bit(pal_redirects[i].statistic);
	return 0;
}

uint64_t pfm_alpha_pctr_ctl_statistics(uint64_t pctr_ctl)
{
	uint64_t s = 0;

	if (get_bits(pctr_ctl, PCTR_CTL_TAK, 1))
		s |= get_statistic_bit(PF67_PM_CBR_TAKEN);
	if (get_bits(pctr_ctl, PCTR_CTL_VAL, 1))
		s |= get_statistic_bit(PF67_PM_VALID);
	if (get_bits(pctr_ctl, PCTR_CTL_PM_KILLED_BM, 1))
		s |= get_statistic_bit(PF67_PM_EARLY_KILL);
	if (get_bits(pctr_ctl, PCTR_CTL_PM_STALLED, 1))
		s |= get_statistic_bit(PF67_PM_MAP_STALL);
	return s;
}

static void decode_trap(uint64_t i_stat, pfm_alpha_sample_t *out)
{
	unsigned int type = (unsigned int)get_bits(i_stat, I_STAT_TRAP_TYPE, 4);

	out->trap = PFM_ALPHA_TRAP_NONE;
	out->trap_name = "";
	if (!get_bits(i_stat, I_STAT_TRP, 1))
		return;
	out->trap = trap_types[type].statistic ? (int)type : PFM_ALPHA_TRAP_INVALID;
	out->trap_name = trap_types[type].name;
	if (get_bits(i_stat, I_STAT_MIS, 1)) {
		out->trap = PFM_ALPHA_TRAP_NONE;
		out->trap_name = "mispredict";
	}
}

void pfm_alpha_decode_sample(uint64_t i_stat, uint64_t pmpc, uint64_t pctr_ctl,
                             pfm_alpha_sample_t *out)
{
	uint64_t redirect = pfm_alpha_pmpc_statistics(pmpc);

	if (!out)
		return;
	memset(out, 0, sizeof *out);
	out->pc_in_exc_addr = redirect != 0;
	out->pc = redirect ? 0 : pmpc & ~(uint64_t)3;
	out->pal = (int)get_bits(pmpc, 0, 1);
	decode_trap(i_stat, out);
	out->residue = (unsigned int)get_bits(i_stat, I_STAT_OVR, 3);
	out->icache_miss = (unsigned char)get_bits(i_stat, I_STAT_ICM, 1);
	out->icache_parity = (unsigned char)get_bits(i_stat, I_STAT_PAR, 1);
	out->load_store_order = (unsigned char)get_bits(i_stat, I_STAT_LSO, 1);
	out->trapped = (unsigned char)get_bits(i_stat, I_STAT_TRP, 1);
	out->mispredicted = (unsigned char)get_bits(i_stat, I_STAT_MIS, 1);
	out->taken = (unsigned char)get_bits(pctr_ctl, PCTR_CTL_TAK, 1);
	out->valid = (unsigned char)get_bits(pctr_ctl, PCTR_CTL_VAL, 1);
	out->killed_early = (unsigned char)get_bits(pctr_ctl, PCTR_CTL_PM_KILLED_BM, 1);
	out->stalled = (unsigned char)get_bits(pctr_ctl, PCTR_CTL_PM_STALLED, 1);
	out->profileme = (unsigned char)get_bits(pctr_ctl, PCTR_CTL_SL0, 1);
	out->mode = (unsigned int)get_bits(pctr_ctl, PCTR_CTL_SL1, 2);
	out->pctr1 = get_bits(pctr_ctl, PCTR_CTL_PCTR1, 20);
	out->pctr0 = get_bits(pctr_ctl, PCTR_CTL_PCTR0, 20);
	out->statistics = pfm_alpha_i_stat_statistics(i_stat) | redirect |
	                  pfm_alpha_pctr_ctl_statistics(pctr_ctl);
	if (out->valid && !out->trapped)
		out->statistics |=
			get_statistic_bit(PF67_PM_RETIRE) | get_statistic_bit(PF67_PM_FREQ);
	else if (!out->valid && (out->trapped || out->killed_early || i_stat))
		out->statistics |= get_statistic_bit(PF67_PM_ABORT);
}
