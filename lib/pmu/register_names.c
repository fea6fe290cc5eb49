/* SPDX-License-Identifier: MIT */
/* Names of registers, as pfm_decode_field() takes them.
 *
 * The names are in arrays of characters: pointers would need relocations. */
#include "pmu/power.h"
#include "pmu/x86.h"

#include <string.h>

#define NAMES_10(PREFIX)                                                                           \
	PREFIX "0", PREFIX "1", PREFIX "2", PREFIX "3", PREFIX "4", PREFIX "5", PREFIX "6",        \
		PREFIX "7", PREFIX "8", PREFIX "9"
#define NAMES_64(PREFIX)                                                                           \
	NAMES_10(PREFIX), NAMES_10(PREFIX "1"), NAMES_10(PREFIX "2"), NAMES_10(PREFIX "3"),        \
		NAMES_10(PREFIX "4"), NAMES_10(PREFIX "5"), PREFIX "60", PREFIX "61", PREFIX "62", \
		PREFIX "63"
#define N_NAMES 64u

static const char pmc_names[N_NAMES][6] = { NAMES_64("PMC") };
static const char pmd_names[N_NAMES][6] = { NAMES_64("PMD") };
static const char ibr_names[N_NAMES][6] = { NAMES_64("IBR") };
static const char dbr_names[N_NAMES][6] = { NAMES_64("DBR") };
static const char perfevtsel_names[N_NAMES][13] = { NAMES_64("PERFEVTSEL") };
static const char cccr_names[N_NAMES][7] = { NAMES_64("CCCR") };
static const char perfctl_names[N_NAMES][10] = { NAMES_64("PERFCTL") };
static const char pmevtyper_names[N_NAMES][12] = { NAMES_64("PMEVTYPER") };
static const char config_names[N_CONFIG_WORDS][8] = { "config", "config1", "config2", "config3",
	                                              "config4" };

static const char *get_control_name(const struct table *t, unsigned num)
{
	switch (t->encoder) {
	case ENCODER_X86: return perfevtsel_names[num];
	case ENCODER_NETBURST: return cccr_names[num];
	case ENCODER_MIPS: return perfctl_names[num];
	case ENCODER_FORMAT:
		return pfmi_power_has_controls(t) ? pfmi_power_get_control_name(num)
		       : num == 31                ? "PMCCFILTR"
		                                  : pmevtyper_names[num];
	default: return pmc_names[num];
	}
}

/* The name of an extra register of x86 by its address. Those of a Pentium 4 are pairs of ESCRs. */
static const char *get_extra_name(const struct table *t, uint64_t addr)
{
	if (t->encoder == ENCODER_NETBURST)
		return addr & 1 ? "ESCR1" : "ESCR0";
	switch (addr) {
	case 0x1a6: return "OFFCORE_RSP_0";
	case 0x1a7: return "OFFCORE_RSP_1";
	case 0x3e0: return "OMR_0"; /* MSR_OMR_0 of Linux's msr-index.h: off-module response */
	case 0x3e1: return "OMR_1";
	case 0x3e2: return "OMR_2";
	case 0x3e3: return "OMR_3";
	case 0x3f6: return "PEBS_LD_LAT";
	case 0x3f7: return "PEBS_FRONTEND";
	case 0x1328: return "SNOOP_RSP_0";
	case 0x1329: return "SNOOP_RSP_1";
	default: return "MSR";
	}
}

const char *pfmi_pmu_get_register_name(const struct table *t, const pfm_reg_t *reg)
{
	const unsigned num = reg->num < N_NAMES ? reg->num : 0;

	switch (reg->kind) {
	case PFM_REG_PMC: return get_control_name(t, num);
	case PFM_REG_PMD:
		return t->encoder == ENCODER_X86 && reg->addr == PERF_METRICS ? "PERF_METRICS"
		                                                              : pmd_names[num];
	case PFM_REG_FIXED_CTRL: return "FIXED_CTR_CTRL";
	case PFM_REG_GLOBAL_CTRL: return "GLOBAL_CTRL";
	case PFM_REG_EXTRA: return get_extra_name(t, reg->addr);
	case PFM_REG_IBR: return ibr_names[num];
	case PFM_REG_DBR: return dbr_names[num];
	case PFM_REG_CONFIG: return config_names[num < N_CONFIG_WORDS ? num : 0];
	}
	return "";
}

const char *pfmi_pmu_resolve_register_name(const struct table *t, const char *name)
{
	uint64_t addr;
	pfm_reg_t reg;
	const char *found;

	if (t->encoder != ENCODER_X86 || *name != '0' ||
	    !pfmi_base_parse_number((struct slice){ name, (uint32_t)strlen(name) }, &addr) ||
	    !pfmi_x86_find_register(t, addr, &reg))
		return name;
	found = pfmi_pmu_get_register_name(t, &reg);
	return strcmp(found, "MSR") == 0 ? name : found;
}
