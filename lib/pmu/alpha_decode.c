/* SPDX-License-Identifier: MIT */
/* Alpha: what interrupt handlers and ProfileMe registers say. Bit positions: 21264/EV67 hardware reference manual, sections 5.2
 * and 6.10; interrupt arguments: Alpha Architecture Handbook, appendix E. */
#include <perfmon/pfmlib_alpha.h>
#include <string.h>

#define NELEM(A) (sizeof(A) / sizeof((A)[0]))

/* ---- interrupts -------------------------------------------------------------------------------------------------- */

#define VECTOR_PERFMON 0x650u /* offset in the system control block, and a1 of entINT */
#define OSF_PERF       4      /* a0 of entINT */

pfm_err_t pfm_alpha_decode_interrupt(int pmu, int os, const uint64_t *regs, pfm_alpha_interrupt_t *out)
{
	uint64_t counter;

	if (!regs || !out || pfm_alpha_num_counters(pmu) == 0 || (os != PFM_ALPHA_OS_UNIX && os != PFM_ALPHA_OS_VMS))
		return PFMLIB_ERR_INVAL;
	if (os == PFM_ALPHA_OS_UNIX && (regs[0] != OSF_PERF || regs[1] != VECTOR_PERFMON))
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

/* ---- statistics -------------------------------------------------------------------------------------------------- */

enum { PREFIX_LEN = sizeof "PF67_PM_" - 1 };
/* In the order of the enumeration; no pointers, so nothing to relocate. */
#define STATISTIC(NAME) [PF67_PM_##NAME] = "PF67_PM_" #NAME
static const char STATISTICS[][28] = {
	STATISTIC(DISABLED),
	STATISTIC(ABORT),
	STATISTIC(ABORT_PER_RET),
	STATISTIC(ARITH_TRAP),
	STATISTIC(CBR_TAKEN),
	STATISTIC(CBR_TAKEN_PER_RET),
	STATISTIC(CYCLES),
	STATISTIC(CYCLES_PER_RET),
	STATISTIC(DELAY),
	STATISTIC(DELAY_PER_RET),
	STATISTIC(DSTREAM_FAULT),
	STATISTIC(DTB_MISS),
	STATISTIC(DTB_MISS_PER_RET),
	STATISTIC(DTB_MISS3),
	STATISTIC(DTB_MISS4),
	STATISTIC(EARLY_KILL),
	STATISTIC(EARLY_KILL_PER_RET),
	STATISTIC(FP_DISABLED),
	STATISTIC(FREQ),
	STATISTIC(ICACHE_MISS),
	STATISTIC(ICACHE_MISS_PER_RET),
	STATISTIC(ICACHE_PARITY),
	STATISTIC(INFLT_BCACHE_MISS),
	STATISTIC(INFLT_REPLAYS),
	STATISTIC(INFLT_RETIRES),
	STATISTIC(INTERRUPT),
	STATISTIC(ISTREAM_ACCVIO),
	STATISTIC(ITB_MISS),
	STATISTIC(LDST_ALIGN_TRAP),
	STATISTIC(LDST_ORDER_TRAP),
	STATISTIC(MAP_STALL),
	STATISTIC(MAP_STALL_PER_RET),
	STATISTIC(MCHK_TRAP),
	STATISTIC(MISPREDICT),
	STATISTIC(MISPREDICT_PER_RET),
	STATISTIC(MT_FPCR_TRAP),
	STATISTIC(OPCDEC_TRAP),
	STATISTIC(REPLAY_TRAP),
	STATISTIC(REPLAY_TRAP_PER_RET),
	STATISTIC(RESET),
	STATISTIC(RETIRE),
	STATISTIC(TRAP),
	STATISTIC(TRAP_PER_RET),
	STATISTIC(VALID),
};

const char *pfm_alpha_statistic_name(unsigned int n)
{
	return n < NELEM(STATISTICS) ? STATISTICS[n] : NULL;
}

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static int same_word(const char *a, const char *b)
{
	while (*a && upper(*a) == upper(*b))
		a++, b++;
	return upper(*a) == upper(*b);
}

int pfm_alpha_find_statistic(const char *name)
{
	if (!name)
		return -1;
	if (same_word(name, "retired")) /* as the manual page spells it */
		return PF67_PM_RETIRE;
	for (size_t i = 0; i < NELEM(STATISTICS); i++)
		if (same_word(name, STATISTICS[i]) || same_word(name, STATISTICS[i] + PREFIX_LEN))
			return (int)i;
	return -1;
}

pfm_err_t pfm_alpha_ratio(unsigned int statistic, uint64_t count, uint64_t retired, uint64_t *num, uint64_t *den)
{
	const char *name = pfm_alpha_statistic_name(statistic);

	if (!name || !num || !den || !strstr(name, "_PER_RET"))
		return PFMLIB_ERR_INVAL;
	if (retired == 0)
		return PFMLIB_ERR_NOTFOUND;
	*num = statistic == PF67_PM_CYCLES_PER_RET ? count : count * 100; /* the only one that is no percentage */
	*den = retired;
	return PFMLIB_SUCCESS;
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

/* I_STAT */
enum { PAR = 29,
       OVR = 30,
       ICM = 33,
       TRAP_TYPE = 34,
       LSO = 38,
       TRP = 39,
       MIS = 40 };
/* PCTR_CTL */
enum { TAK = 0,
       VAL = 1,
       SL1 = 2,
       SL0 = 4,
       PCTR1 = 6,
       PM_KILLED_BM = 26,
       PM_STALLED = 27,
       PCTR0 = 28 };

static uint64_t bits(uint64_t reg, unsigned int lsb, unsigned int width)
{
	return reg >> lsb & (((uint64_t)1 << width) - 1);
}

static const struct {
	char name[39];
	unsigned char statistic;
} TRAPS[16] = {
	[PFM_ALPHA_TRAP_REPLAY] = { "replay", PF67_PM_REPLAY_TRAP },
	[PFM_ALPHA_TRAP_DTB_DOUBLE3] = { "double data translation miss, 3 levels", PF67_PM_DTB_MISS3 },
	[PFM_ALPHA_TRAP_DTB_DOUBLE4] = { "double data translation miss, 4 levels", PF67_PM_DTB_MISS4 },
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

static uint64_t stat_bit(unsigned int n)
{
	return (uint64_t)1 << n;
}

uint64_t pfm_alpha_i_stat_statistics(uint64_t i_stat)
{
	unsigned int type = (unsigned int)bits(i_stat, TRAP_TYPE, 4);
	uint64_t s = 0;

	if (bits(i_stat, ICM, 1))
		s |= stat_bit(PF67_PM_ICACHE_MISS);
	if (bits(i_stat, PAR, 1))
		s |= stat_bit(PF67_PM_ICACHE_PARITY);
	if (!bits(i_stat, TRP, 1))
		return s;
	s |= stat_bit(PF67_PM_TRAP);
	if (bits(i_stat, MIS, 1)) /* a mispredict is a trap of its own: its type field says nothing */
		return s | stat_bit(PF67_PM_MISPREDICT);
	if (TRAPS[type].statistic)
		s |= stat_bit(TRAPS[type].statistic);
	if (type == PFM_ALPHA_TRAP_REPLAY && bits(i_stat, LSO, 1))
		s |= stat_bit(PF67_PM_LDST_ORDER_TRAP);
	return s;
}

/* Redirected fetches: PMPC has the address of the PALcode entry instead. */
static const struct {
	unsigned short entry;
	unsigned char statistic;
} REDIRECTS[] = {
	{ 0x581, PF67_PM_ITB_MISS },
	{ 0x481, PF67_PM_ISTREAM_ACCVIO },
	{ 0x681, PF67_PM_INTERRUPT },
};

uint64_t pfm_alpha_pmpc_statistics(uint64_t pmpc)
{
	for (size_t i = 0; i < NELEM(REDIRECTS); i++)
		if (bits(pmpc, 0, 15) == REDIRECTS[i].entry)
			return stat_bit(REDIRECTS[i].statistic);
	return 0;
}

uint64_t pfm_alpha_pctr_ctl_statistics(uint64_t pctr_ctl)
{
	uint64_t s = 0;

	if (bits(pctr_ctl, TAK, 1))
		s |= stat_bit(PF67_PM_CBR_TAKEN);
	if (bits(pctr_ctl, VAL, 1))
		s |= stat_bit(PF67_PM_VALID);
	if (bits(pctr_ctl, PM_KILLED_BM, 1))
		s |= stat_bit(PF67_PM_EARLY_KILL);
	if (bits(pctr_ctl, PM_STALLED, 1))
		s |= stat_bit(PF67_PM_MAP_STALL);
	return s;
}

static void decode_trap(uint64_t i_stat, pfm_alpha_sample_t *out)
{
	unsigned int type = (unsigned int)bits(i_stat, TRAP_TYPE, 4);

	out->trap = PFM_ALPHA_TRAP_NONE;
	out->trap_name = "";
	if (!bits(i_stat, TRP, 1))
		return;
	out->trap = TRAPS[type].statistic ? (int)type : PFM_ALPHA_TRAP_INVALID;
	out->trap_name = TRAPS[type].name;
	if (bits(i_stat, MIS, 1)) {
		out->trap = PFM_ALPHA_TRAP_NONE;
		out->trap_name = "mispredict";
	}
}

void pfm_alpha_decode_sample(uint64_t i_stat, uint64_t pmpc, uint64_t pctr_ctl, pfm_alpha_sample_t *out)
{
	uint64_t redirect = pfm_alpha_pmpc_statistics(pmpc);

	if (!out)
		return;
	memset(out, 0, sizeof *out);
	out->pc_in_exc_addr = redirect != 0;
	out->pc = redirect ? 0 : pmpc & ~(uint64_t)3;
	out->pal = (int)bits(pmpc, 0, 1);
	decode_trap(i_stat, out);
	out->residue = (unsigned int)bits(i_stat, OVR, 3);
	out->icache_miss = (unsigned char)bits(i_stat, ICM, 1);
	out->icache_parity = (unsigned char)bits(i_stat, PAR, 1);
	out->load_store_order = (unsigned char)bits(i_stat, LSO, 1);
	out->trapped = (unsigned char)bits(i_stat, TRP, 1);
	out->mispredicted = (unsigned char)bits(i_stat, MIS, 1);
	out->taken = (unsigned char)bits(pctr_ctl, TAK, 1);
	out->valid = (unsigned char)bits(pctr_ctl, VAL, 1);
	out->killed_early = (unsigned char)bits(pctr_ctl, PM_KILLED_BM, 1);
	out->stalled = (unsigned char)bits(pctr_ctl, PM_STALLED, 1);
	out->profileme = (unsigned char)bits(pctr_ctl, SL0, 1);
	out->mode = (unsigned int)bits(pctr_ctl, SL1, 2);
	out->pctr1 = bits(pctr_ctl, PCTR1, 20);
	out->pctr0 = bits(pctr_ctl, PCTR0, 20);
	out->statistics = pfm_alpha_i_stat_statistics(i_stat) | redirect | pfm_alpha_pctr_ctl_statistics(pctr_ctl);
	if (out->valid && !out->trapped)
		out->statistics |= stat_bit(PF67_PM_RETIRE) | stat_bit(PF67_PM_FREQ);
	else if (!out->valid && (out->trapped || out->killed_early || i_stat))
		out->statistics |= stat_bit(PF67_PM_ABORT);
}
