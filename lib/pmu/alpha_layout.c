/* SPDX-License-Identifier: MIT */
/* Fields of the registers of Alpha PMUs, and the bits that select events. */
#include <string.h>
#include "pmu/alpha.h"

static const struct register_field iccsr_bits[] = {
	{ "pc1", 0, 1 }, { "pc0", 3, 1 }, { "mux0", 8, 4 }, { "mux1", 32, 3 }, { "disable", 35, 2 }
};
static const struct register_field pmctr_bits[] = {
	{ "sel2", 0, 4 },  { "sel1", 4, 4 },  { "kk", 8, 1 },     { "kp", 9, 1 },
	{ "ctl2", 10, 2 }, { "ctl1", 12, 2 }, { "ctl0", 14, 2 },  { "ctr2", 16, 14 },
	{ "ku", 30, 1 },   { "sel0", 31, 1 }, { "ctr1", 32, 16 }, { "ctr0", 48, 16 },
};
static const struct register_field pcnt5mux_bits[] = { { "sel2", 0, 4 },
	                                               { "sel1", 4, 4 },
	                                               { "sel0", 31, 1 },
	                                               { "cbox1", 51, 3 },
	                                               { "cbox2", 54, 3 } };
/* Arguments of wrperfmon function 2: the cbox selects are where BC_CTL or PM_MUX has them. */
static const struct register_field ev5_select_bits[] = { { "sel2", 0, 4 },
	                                                 { "sel1", 4, 4 },
	                                                 { "sel0", 31, 1 },
	                                                 { "cbox1", 19, 3 },
	                                                 { "cbox2", 22, 3 } };
static const struct register_field pca56_select_bits[] = {
	{ "sel2", 0, 4 }, { "sel1", 4, 4 }, { "sel0", 31, 1 }, { "cbox1", 8, 3 }, { "cbox2", 11, 3 }
};
static const struct register_field ev5_freq_bits[] = { { "frq2", 4, 2 },
	                                               { "frq1", 6, 2 },
	                                               { "frq0", 8, 2 } };
/* Argument of wrperfmon function 3: the modes that are not counted are where PMCTR has them. */
static const struct register_field ev5_mode_bits[] = {
	{ "selected", 0, 1 }, { "kk", 8, 1 }, { "kp", 9, 1 }, { "ku", 30, 1 }
};
/* Argument of the enabling functions: a bit for each counter. EV4's has no argument. */
static const struct register_field ev5_enable_bits[] = { { "ctr0", 0, 1 },
	                                                 { "ctr1", 1, 1 },
	                                                 { "ctr2", 2, 1 } };
static const struct register_field ev6_enable_bits[] = { { "ctr0", 0, 1 }, { "ctr1", 1, 1 } };
static const struct register_field bc_ctl_bits[] = { { "cbox1", 19, 3 }, { "cbox2", 22, 3 } };
static const struct register_field pm_mux_bits[] = { { "pm0_mux", 8, 3 }, { "pm1_mux", 11, 3 } };
static const struct register_field ev6_pctr_ctl_bits[] = {
	{ "sl1", 0, 4 }, { "sl0", 4, 1 }, { "pctr1", 6, 20 }, { "pctr0", 28, 20 }
};
static const struct register_field ev67_pctr_ctl_bits[] = {
	{ "tak", 0, 1 },    { "val", 1, 1 },           { "sl1", 2, 2 },         { "sl0", 4, 1 },
	{ "pctr1", 6, 20 }, { "pm_killed_bm", 26, 1 }, { "pm_stalled", 27, 1 }, { "pctr0", 28, 20 },
};
static const struct register_field i_stat_bits[] = {
	{ "par", 29, 1 }, { "ovr", 30, 3 }, { "icm", 33, 1 }, { "trap_type", 34, 4 },
	{ "lso", 38, 1 }, { "trp", 39, 1 }, { "mis", 40, 1 },
};
static const struct register_field i_ctl_bits[] = { { "spce", 0, 1 },
	                                            { "pct0_en", 18, 1 },
	                                            { "pct1_en", 19, 1 } };

enum {
	FAMILY_EV4 = 1,
	FAMILY_EV5 = 2,
	FAMILY_PCA56 = 4,
	FAMILY_EV6 = 8,
	FAMILY_EV67 = 16
}; /* bit n: PFMLIB_ALPHA_EV4_PMU + n */

const struct register_field *pfmi_alpha_find_layout(const struct table *t, const char *name,
                                                    unsigned *n)
{
	unsigned family = 1u << (t->libpfm_type - PFMLIB_ALPHA_EV4_PMU);
	struct slice s = { name, (uint32_t)strlen(name) };

	/* A table of pointers would need relocations, so code compares the names. */
#define MATCH_LAYOUT(FAMILIES, NAME, BITS)                                                         \
	if ((family & (FAMILIES)) && pfmi_base_is_slice_icase(s, NAME)) {                          \
		*n = (unsigned)(sizeof(BITS) / sizeof((BITS)[0]));                                 \
		return BITS;                                                                       \
	}
	MATCH_LAYOUT(FAMILY_EV4, "ICCSR", iccsr_bits)
	MATCH_LAYOUT(FAMILY_EV5 | FAMILY_PCA56, "PMCTR", pmctr_bits)
	MATCH_LAYOUT(FAMILY_EV5 | FAMILY_PCA56, "PCNT5MUX", pcnt5mux_bits)
	MATCH_LAYOUT(FAMILY_EV5 | FAMILY_PCA56, "FREQ", ev5_freq_bits)
	MATCH_LAYOUT(FAMILY_EV5, "BC_CTL", bc_ctl_bits)
	MATCH_LAYOUT(FAMILY_PCA56, "PM_MUX", pm_mux_bits)
	MATCH_LAYOUT(FAMILY_EV6, "PCTR_CTL", ev6_pctr_ctl_bits)
	MATCH_LAYOUT(FAMILY_EV67, "PCTR_CTL", ev67_pctr_ctl_bits)
	MATCH_LAYOUT(FAMILY_EV67, "I_STAT", i_stat_bits)
	MATCH_LAYOUT(FAMILY_EV6 | FAMILY_EV67, "I_CTL", i_ctl_bits)
	/* The word of selects in the device's form, and as register PMC8. */
	MATCH_LAYOUT(FAMILY_EV4, "PCNTSETMUX", iccsr_bits)
	MATCH_LAYOUT(FAMILY_EV6, "PCNT6MUX", ev6_pctr_ctl_bits)
	MATCH_LAYOUT(FAMILY_EV67, "PCNT6MUX", ev67_pctr_ctl_bits)
	MATCH_LAYOUT(FAMILY_EV4, "PMC8", iccsr_bits)
	MATCH_LAYOUT(FAMILY_EV5, "PMC8", ev5_select_bits)
	MATCH_LAYOUT(FAMILY_PCA56, "PMC8", pca56_select_bits)
	MATCH_LAYOUT(FAMILY_EV6, "PMC8", ev6_pctr_ctl_bits)
	MATCH_LAYOUT(FAMILY_EV67, "PMC8", ev67_pctr_ctl_bits)
	/* Other registers of a set: rates, modes, and enabled counters. */
	MATCH_LAYOUT(FAMILY_EV5 | FAMILY_PCA56, "PMC9", ev5_freq_bits)
	MATCH_LAYOUT(FAMILY_EV5 | FAMILY_PCA56, "PMC10", ev5_mode_bits)
	MATCH_LAYOUT(FAMILY_EV5 | FAMILY_PCA56, "PMC11", ev5_enable_bits)
	MATCH_LAYOUT(FAMILY_EV6 | FAMILY_EV67, "PMC11", ev6_enable_bits)
#undef MATCH_LAYOUT
	return NULL;
}

/* The event select mask of counter @i in a register: its selects; on EV67 the mode, which both
 * counters share. */
uint64_t pfmi_alpha_get_event_select_mask(const struct table *t, const char *reg, unsigned i,
                                          unsigned *counter)
{
	static const char names[][4][6] = {
		{ "mux0", "", "mux1", "" },
		{ "sel0", "", "sel1", "cbox1" },
		{ "sl0", "", "sl1", "" },
		{ "sl0", "sl1", "sl0", "sl1" },
	};
	unsigned which = t->encoder == ENCODER_EV4   ? 0
	                 : t->encoder == ENCODER_EV5 ? 1
	                 : t->encoder == ENCODER_EV6 ? 2
	                                             : 3,
		 n;
	static const char third[2][6] = { "sel2", "cbox2" };
	const struct register_field *b = pfmi_alpha_find_layout(t, reg, &n);
	uint64_t mask = 0;

	if (!b || i >= pfm_alpha_num_counters(t->libpfm_type))
		return 0;
	*counter = i;
	for (unsigned k = 0; k < n; k++)
		for (unsigned half = 0; half < 2; half++)
			if (strcmp(b[k].name, i == 2 ? third[half] : names[which][2 * i + half]) ==
			    0)
				mask |= register_field_mask(b[k]) << b[k].lsb;
	return mask;
}

/* One setting of modes applies to all counters. User level alone is executive and supervisor mode;
 * see get_named_modes(). */
int pfmi_alpha_decode_shared_levels(const struct table *t, const char *reg, uint64_t value)
{
	struct slice s = { reg, (uint32_t)strlen(reg) };

	if (t->encoder != ENCODER_EV5 ||
	    (!pfmi_base_is_slice_icase(s, "PMC10") && !pfmi_base_is_slice_icase(s, "PMCTR")))
		return 0;
	switch (pfm_alpha_word_modes(value, NULL, NULL)) {
	case PFM_ALPHA_MODE_ALL: return 0;
	case PFM_ALPHA_MODE_EXEC | PFM_ALPHA_MODE_SUPER: return PFM_PLM3;
	case PFM_ALPHA_MODE_KERNEL | PFM_ALPHA_MODE_EXEC | PFM_ALPHA_MODE_SUPER:
		return PFM_PLM0 | PFM_PLM1 | PFM_PLM2;
	default: return -1;
	}
}
