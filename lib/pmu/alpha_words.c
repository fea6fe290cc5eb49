/* SPDX-License-Identifier: MIT */
/* The words that Alpha's counter device and PALcode read and return. The encoder, the device
 * backend and programs use these functions, which read nothing but their arguments. */
#include <perfmon/alpha.h>
#include <string.h>

#define ARRAY_LENGTH(A) (sizeof(A) / sizeof((A)[0]))

/* ---- families -------------------------------------------------------------------------------- */

static int is_ev5_family(int pmu)
{
	return pmu == PFMLIB_ALPHA_EV5_PMU || pmu == PFMLIB_ALPHA_PCA56_PMU;
}

static int is_ev6_family(int pmu)
{
	return pmu == PFMLIB_ALPHA_EV6_PMU || pmu == PFMLIB_ALPHA_EV67_PMU;
}

unsigned int pfm_alpha_num_counters(int pmu)
{
	if (is_ev5_family(pmu))
		return 3;
	return pmu == PFMLIB_ALPHA_EV4_PMU || is_ev6_family(pmu) ? 2 : 0;
}

unsigned int pfm_alpha_counter_width(int pmu, unsigned int counter)
{
	if (counter >= pfm_alpha_num_counters(pmu))
		return 0;
	if (is_ev6_family(pmu))
		return 20;
	if (is_ev5_family(pmu))
		return counter == 2 ? 14 : 16;
	return counter == 0 ? 16 : 12;
}

uint64_t pfm_alpha_rate(int pmu, unsigned int counter, unsigned int n)
{
	unsigned int width = pfm_alpha_counter_width(pmu, counter);

	if (width == 0 || n > 1)
		return 0;
	if (n == 0)
		return (uint64_t)1 << width;
	if (is_ev6_family(pmu))
		return 0;
	return pmu == PFMLIB_ALPHA_EV4_PMU && counter == 0 ? 4096 : 256;
}

/* ---- rates ----------------------------------------------------------------------------------- */

/* The field FRQ of a counter: 2 slow, 3 fast. FRQ of counter n is at bit 8 - 2n. */
static uint64_t build_frq_bits(unsigned int counter, unsigned int fast)
{
	return (uint64_t)(2 + fast) << (8 - 2 * counter);
}

pfm_err_t pfm_alpha_rate_word(int pmu, const uint64_t *rates, unsigned int counters, uint64_t *word,
                              int *privileged)
{
	uint64_t bits = 0;
	int priv = 0;

	if (!rates || !word || pfm_alpha_num_counters(pmu) == 0)
		return PFMLIB_ERR_INVAL;
	for (unsigned int i = 0; i < pfm_alpha_num_counters(pmu); i++) {
		unsigned int fast = 0;

		if ((counters >> i & 1) && rates[i] != 0 && rates[i] != pfm_alpha_rate(pmu, i, 0)) {
			if (rates[i] != pfm_alpha_rate(pmu, i, 1))
				return PFMLIB_ERR_INVAL;
			fast = 1;
		}
		if (is_ev5_family(pmu))
			bits |= build_frq_bits(i, fast);
		else if (fast)
			bits |= i == 0 ? ICCSR_PC0 : ICCSR_PC1;
		priv |= (int)fast && is_ev5_family(pmu);
	}
	*word = bits;
	if (privileged)
		*privileged = priv;
	return PFMLIB_SUCCESS;
}

void pfm_alpha_driver_rates(uint64_t word, uint64_t *a1, int *privileged)
{
	uint64_t kept = (word & PF5_FREQ_KMASK) | PF5_FREQ_SLOW;

	if (a1)
		*a1 = kept;
	if (privileged)
		*privileged = (kept & PF5_FREQ_PRIVILEGED) != 0;
}

uint64_t pfm_alpha_pmctr_ctl(uint64_t a1, unsigned int counters)
{
	uint64_t ctl = 0;

	for (unsigned int i = 0; i < 3; i++)
		if (counters >> i & 1)
			ctl |= (a1 & build_frq_bits(i, 1)) << 6;
	return ctl;
}

/* ---- counter words --------------------------------------------------------------------------- */

pfm_err_t pfm_alpha_counter_word(int pmu, unsigned int select, unsigned int cpu,
                                 const uint64_t *values, uint64_t *word)
{
	static const uint64_t none[PFM_ALPHA_MAX_COUNTERS];
	unsigned int n = pfm_alpha_num_counters(pmu);
	const uint64_t *v = values ? values : none;

	if (!word || n == 0 || cpu > PMCTRS_ALL_CPUS || select >> n)
		return PFMLIB_ERR_INVAL;
	if (pmu == PFMLIB_ALPHA_EV4_PMU)
		return PFMLIB_ERR_NOTSUPP;
	for (unsigned int i = 0; i < n; i++)
		if (v[i] >> pfm_alpha_counter_width(pmu, i))
			return PFMLIB_ERR_INVAL;
	*word = is_ev5_family(pmu) ? PF5_CTRS(select, cpu, v[0], v[1], v[2])
	                           : PF6_CTRS(select, cpu, v[0], v[1]);
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_alpha_split_counter_word(int pmu, uint64_t word, unsigned int *select,
                                       unsigned int *cpu, uint64_t *values)
{
	if (!is_ev5_family(pmu) && !is_ev6_family(pmu))
		return PFMLIB_ERR_NOTSUPP;
	if (select)
		*select =
			(unsigned int)(word & (is_ev5_family(pmu) ? PF5_SEL_KMASK : PF6_SEL_KMASK));
	if (cpu)
		*cpu = (unsigned int)(is_ev5_family(pmu) ? (word & PF5_CPU_KMASK) >> PF5_CPU_SHIFT
		                                         : word >> PF6_CPU_SHIFT);
	if (values && is_ev5_family(pmu)) {
		values[0] = (word & PF5_CTR0_KMASK) >> PF5_CTR0_SHIFT;
		values[1] = (word & PF5_CTR1_KMASK) >> PF5_CTR1_SHIFT;
		values[2] = (word & PF5_CTR2_KMASK) >> PF5_CTR2_SHIFT;
	} else if (values) {
		values[0] = (word & PF6_CTR0_KMASK) >> PF6_CTR0_SHIFT;
		values[1] = (word & PF6_CTR1_KMASK) >> PF6_CTR1_SHIFT;
	}
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_alpha_start_value(unsigned int width, uint64_t period, uint64_t *value)
{
	uint64_t full;

	if (!value || width == 0 || width > 63)
		return PFMLIB_ERR_INVAL;
	full = (uint64_t)1 << width;
	if (period == 0 || period > full)
		return PFMLIB_ERR_INVAL;
	*value = full - period;
	return PFMLIB_SUCCESS;
}

/* ---- modes ----------------------------------------------------------------------------------- */

enum { INNER_MODES = PFM_ALPHA_MODE_KERNEL | PFM_ALPHA_MODE_EXEC | PFM_ALPHA_MODE_SUPER };

pfm_err_t pfm_alpha_mode_word(unsigned int modes, unsigned int scope, uint64_t *word)
{
	uint64_t bits = 0;
	unsigned int inner = modes & INNER_MODES;

	if (!word || modes & ~(unsigned int)PFM_ALPHA_MODE_ALL || scope > PFM_ALPHA_SCOPE_PROCESS)
		return PFMLIB_ERR_INVAL;
	if (modes == (PFM_ALPHA_MODE_EXEC | PFM_ALPHA_MODE_SUPER)) {
		bits = PF5_CTXT_EXEC_AND_SUPER;
	} else if (modes == 0 || (inner != 0 && inner != INNER_MODES)) {
		return PFMLIB_ERR_NOTSUPP;
	} else {
		bits |= inner ? 0 : PF5_CTXT_NO_KERNEL;
		bits |= modes & PFM_ALPHA_MODE_USER ? 0 : PF5_CTXT_NO_USER;
		bits |= modes & PFM_ALPHA_MODE_PAL ? 0 : PF5_CTXT_NO_PAL;
	}
	*word = bits | (scope == PFM_ALPHA_SCOPE_PROCESS ? PF5_CTXT_THIS_PROC : PF5_CTXT_ALL_PROC);
	return PFMLIB_SUCCESS;
}

unsigned int pfm_alpha_word_modes(uint64_t word, int *select, int *marks)
{
	uint64_t off = word & PF5_CTXT_EXEC_AND_SUPER;
	unsigned int modes = 0;

	if (select)
		*select = (word & PF5_CTXT_SEL_PROC) != 0;
	if (marks)
		*marks = (word & PF5_CTXT_PME_THIS) != 0;
	if (off == PF5_CTXT_EXEC_AND_SUPER)
		return PFM_ALPHA_MODE_EXEC | PFM_ALPHA_MODE_SUPER;
	modes |= off & PF5_CTXT_NO_KERNEL ? 0 : (unsigned int)INNER_MODES;
	modes |= off & PF5_CTXT_NO_USER ? 0 : (unsigned int)PFM_ALPHA_MODE_USER;
	modes |= off & PF5_CTXT_NO_PAL ? 0 : (unsigned int)PFM_ALPHA_MODE_PAL;
	return modes;
}

pfm_err_t pfm_alpha_pm_mode_word(unsigned int mode, uint64_t *word)
{
	if (!word || mode > 3)
		return PFMLIB_ERR_INVAL;
	*word = PF67_PROFILE_ME_MODE | (uint64_t)mode << 2;
	return PFMLIB_SUCCESS;
}

/* ---- from the device to the PALcode ---------------------------------------------------------- */

/* Builds the argument of wrperfmon that selects events. PALcode reads the cache box selects at
 * lower bits than the device. */
static uint64_t build_select_argument(int pmu, uint64_t word)
{
	if (pmu == PFMLIB_ALPHA_EV4_PMU)
		return word & ~ICCSR_DISABLE_MASK; /* on the chip these bits have another meaning */
	if (is_ev6_family(pmu))
		return word & PF6_MUX_KMASK;
	return (word & (PF5_MUX0_KMASK | 0xff)) |
	       (word & PF5_MUX_CBOX_KMASK) >> (pmu == PFMLIB_ALPHA_PCA56_PMU
	                                               ? PFPCA56_MUX_CBOX_KSHIFT
	                                               : PF5_MUX_CBOX_KSHIFT);
}

/* Builds the argument of wrperfmon from a counter word: the counters, and their values if
 * @with_values. */
static uint64_t build_counters_argument(int pmu, uint64_t word, int with_values)
{
	uint64_t select = word & (is_ev5_family(pmu) ? PF5_SEL_KMASK : PF6_SEL_KMASK);

	if (!with_values)
		return select;
	return is_ev5_family(pmu) ? word & PF5_WRITE_KMASK
	                          : word & PF6_WRITE_KMASK & ~PF6_CPU_KMASK;
}

pfm_err_t pfm_alpha_device_call(int pmu, uint32_t request, uint64_t word, pfmlib_alpha_call_t *call)
{
	enum { SELECT, MODES, RATES, BARE, VALUES };
	static const struct {
		uint32_t request;
		unsigned char ev, function, argument_kind;
	} known[] = {
		{ PCNTSETMUX, 4, 2, SELECT },    { PCNT5MUX, 5, 2, SELECT },
		{ PCNT6MUX, 6, 2, SELECT },      { PCNT5CTXTS, 5, 3, MODES },
		{ PCNT5FREQ, 5, 4, RATES },      { PCNT5DISABLE, 5, 0, BARE },
		{ PCNT6DISABLE, 6, 0, BARE },    { PCNT5ENABLE, 5, 1, BARE },
		{ PCNT6ENABLE, 6, 1, BARE },     { PCNT5RESTART, 5, 7, BARE },
		{ PCNT6RESTART, 6, 7, BARE },    { PCNT6ENABWRITE, 6, 7, VALUES },
		{ PCNT5SETCNTRS, 5, 6, VALUES }, { PCNT6SETCNTRS, 6, 6, VALUES },
		{ PCNT6CLEAR, 6, 6, BARE },      { PCNTRDISABLE, 4, 0, BARE },
		{ PCNTRENABLE, 4, 1, BARE },
	};
	unsigned int ev = is_ev6_family(pmu) ? 6 : is_ev5_family(pmu) ? 5 : 4;

	if (!call || pfm_alpha_num_counters(pmu) == 0)
		return PFMLIB_ERR_INVAL;
	for (size_t i = 0; i < ARRAY_LENGTH(known); i++) {
		uint64_t a1 = 0;

		if (known[i].request != request || known[i].ev != ev)
			continue;
		if (known[i].argument_kind == SELECT)
			a1 = build_select_argument(pmu, word);
		else if (known[i].argument_kind == MODES)
			a1 = word & PF5_CTXT_KMASK;
		else if (known[i].argument_kind == RATES)
			pfm_alpha_driver_rates(word, &a1, NULL);
		else if (ev != 4)
			a1 = build_counters_argument(pmu, word, known[i].argument_kind == VALUES);
		call->function = known[i].function;
		call->reserved = 0;
		call->argument = a1;
		return PFMLIB_SUCCESS;
	}
	return PFMLIB_ERR_NOTSUPP;
}

/* ---- names ----------------------------------------------------------------------------------- */

enum { FAMILY_BIT_EV4 = 1, FAMILY_BIT_EV5 = 2, FAMILY_BIT_EV6 = 4, FAMILY_BIT_ALL = 7 };

/* The rows have the names in arrays of characters: pointers would need relocations. */
#define REQUEST_ENTRY(NAME, FAMILIES)                                                              \
	{                                                                                          \
		NAME, FAMILIES, #NAME                                                              \
	}
static const struct {
	uint32_t request;
	unsigned char families;
	char name[19];
} device_requests[] = {
	REQUEST_ENTRY(PCNTRDISABLE, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTRENABLE, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTSETMUX, FAMILY_BIT_EV4),
	REQUEST_ENTRY(PCNTLOGALL, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTLOGSELECT, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTCLEARCNT, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTGETCNT, FAMILY_BIT_EV4),
	REQUEST_ENTRY(PCNTCLEARPCBPME, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTCALLER, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTGETRSIZE, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTGETIPLHIS, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTSETITEMS, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTSETUADDR, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTSETKADDR, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTSETURANGE, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNTSETKRANGE, FAMILY_BIT_ALL),
	REQUEST_ENTRY(PCNT5CTXTS, FAMILY_BIT_EV5),
	REQUEST_ENTRY(PCNT5MUX, FAMILY_BIT_EV5),
	REQUEST_ENTRY(PCNT5FREQ, FAMILY_BIT_EV5),
	REQUEST_ENTRY(PCNT5DISABLE, FAMILY_BIT_EV5),
	REQUEST_ENTRY(PCNT5ENABLE, FAMILY_BIT_EV5),
	REQUEST_ENTRY(PCNT5CLEAR, FAMILY_BIT_EV5),
	REQUEST_ENTRY(PCNT5RESTART, FAMILY_BIT_EV5),
	REQUEST_ENTRY(PCNT5SETCNTRS, FAMILY_BIT_EV5),
	REQUEST_ENTRY(PCNT5GETCNTRS, FAMILY_BIT_EV5),
	REQUEST_ENTRY(PCNT5GETCNT, FAMILY_BIT_EV5),
	REQUEST_ENTRY(PCNT5READCNTRS, FAMILY_BIT_EV5),
	REQUEST_ENTRY(PCNT6MUX, FAMILY_BIT_EV6),
	REQUEST_ENTRY(PCNT6ENABWRITE, FAMILY_BIT_EV6),
	REQUEST_ENTRY(PCNT6DISABLE, FAMILY_BIT_EV6),
	REQUEST_ENTRY(PCNT6ENABLE, FAMILY_BIT_EV6),
	REQUEST_ENTRY(PCNT6CLEAR, FAMILY_BIT_EV6),
	REQUEST_ENTRY(PCNT6RESTART, FAMILY_BIT_EV6),
	REQUEST_ENTRY(PCNT6SETCNTRS, FAMILY_BIT_EV6),
	REQUEST_ENTRY(PCNT6GETCNTRS, FAMILY_BIT_EV6),
	REQUEST_ENTRY(PCNT6GETCNT, FAMILY_BIT_EV6),
	REQUEST_ENTRY(PCNT6READCNTRS, FAMILY_BIT_EV6),
	REQUEST_ENTRY(PCNTGETCNT_OLD, FAMILY_BIT_EV4),
};

pfm_err_t pfm_alpha_request(unsigned int i, pfm_alpha_request_t *out)
{
	if (!out)
		return PFMLIB_ERR_INVAL;
	if (i >= ARRAY_LENGTH(device_requests))
		return PFMLIB_ERR_NOTFOUND;
	out->name = device_requests[i].name;
	out->request = device_requests[i].request;
	out->families = device_requests[i].families;
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_alpha_find_request(const char *name, pfm_alpha_request_t *out)
{
	pfm_alpha_request_t r;

	if (!name)
		return PFMLIB_ERR_INVAL;
	for (unsigned int i = 0; pfm_alpha_request(i, &r) == PFMLIB_SUCCESS; i++)
		if (strcmp(r.name, name) == 0)
			return pfm_alpha_request(i, out);
	return PFMLIB_ERR_NOTFOUND;
}

pfm_err_t pfm_alpha_mask(const char *name, uint64_t *value)
{
#define MASK_ENTRY(NAME)                                                                           \
	{                                                                                          \
		NAME, #NAME                                                                        \
	}
	static const struct {
		uint64_t value;
		char name[24];
	} masks[] = {
		MASK_ENTRY(PF5_WRITE_KMASK), MASK_ENTRY(PF5_CPU_KMASK),
		MASK_ENTRY(PF5_SEL_KMASK),   MASK_ENTRY(PF6_WRITE_KMASK),
		MASK_ENTRY(PF6_CPU_KMASK),   MASK_ENTRY(PF6_SEL_KMASK),
		MASK_ENTRY(PF6_MUX_KMASK),   MASK_ENTRY(PF5_MUX_KMASK),
		MASK_ENTRY(PF5_MUX0_KMASK),  MASK_ENTRY(PF5_MUX_CBOX_KMASK),
		MASK_ENTRY(PF5_FREQ_KMASK),  MASK_ENTRY(PF5_CTXT_KMASK),
	};

	if (!name || !value)
		return PFMLIB_ERR_INVAL;
	for (size_t i = 0; i < ARRAY_LENGTH(masks); i++)
		if (strcmp(masks[i].name, name) == 0) {
			*value = masks[i].value;
			return PFMLIB_SUCCESS;
		}
	return PFMLIB_ERR_NOTFOUND;
}

/* ---- samples and levels ---------------------------------------------------------------------- */

pfm_err_t pfm_alpha_sample_bytes(uint64_t start, uint64_t end, uint64_t stride, unsigned int open,
                                 unsigned int n_cpus, uint64_t *bytes)
{
	uint64_t n = 1, per;

	if (!bytes || start >= end || (stride & (stride - 1)) || open > PFM_ALPHA_OPEN_ONE)
		return PFMLIB_ERR_INVAL;
	if (stride != 0 && stride < UINT64_MAX / 4) {
		per = stride * 4;
		n = (end - start) / per + ((end - start) % per != 0);
	}
	*bytes = n * sizeof(pfcntr_bucket_t) * (open == PFM_ALPHA_OPEN_EACH ? n_cpus : 1);
	return PFMLIB_SUCCESS;
}

uint64_t pfm_alpha_bucket(uint64_t start, uint64_t stride, uint64_t pc)
{
	return stride == 0 || stride > UINT64_MAX / 4 ? 0 : (pc - start) / (stride * 4);
}

unsigned int pfm_alpha_level_entry(int user, int idle, unsigned int ipl)
{
	if (user)
		return PFM_IPL_USER;
	if (idle && ipl == 0)
		return PFM_IPL_IDLE;
	return ipl < PFM_IPL_IDLE ? ipl : PFM_IPL_IDLE - 1;
}
