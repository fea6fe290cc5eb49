/* SPDX-License-Identifier: MIT */
/* Montecito's registers, field by field. Numbers and bits: dual-core update to the Itanium 2
 * reference manual, performance monitoring. */
#ifndef PERFMON_MONTECITO_REGS_H
#define PERFMON_MONTECITO_REGS_H

#include "pmu/pmu.h"

enum {
	PMC_OPCM1_MASK = 32,
	PMC_OPCM1_MATCH,
	PMC_OPCM2_MASK,
	PMC_OPCM2_MATCH,
	PMC_CHANNELS,
	PMC_IEAR,
	PMC_IRANGE,
	PMC_ETB,
	PMC_DEAR,
	PMC_DRANGE,
	PMC_IPEAR
};

static const struct register_field counter_bits[] = {
	{ "plm", 0, 4 },  { "ev", 4, 1 },     { "oi", 5, 1 },     { "pm", 6, 1 },
	{ "es", 8, 8 },   { "umask", 16, 4 }, { "thres", 20, 3 }, { "ism", 24, 2 },
	{ "all", 26, 1 }, { "mesi", 27, 4 },
};
enum {
	COUNTER_FIELD_PLM,
	COUNTER_FIELD_EV,
	COUNTER_FIELD_OI,
	COUNTER_FIELD_PM,
	COUNTER_FIELD_ES,
	COUNTER_FIELD_UMASK,
	COUNTER_FIELD_THRES,
	COUNTER_FIELD_ISM,
	COUNTER_FIELD_ALL,
	COUNTER_FIELD_MESI
};

static const struct register_field opcm_mask_bits[] = {
	{ "mask", 0, 41 }, { "b", 48, 1 },   { "f", 49, 1 },     { "i", 50, 1 },
	{ "m", 51, 1 },    { "inv", 56, 1 }, { "ig_ad", 57, 1 },
};
enum {
	OPCM_FIELD_MASK,
	OPCM_FIELD_B,
	OPCM_FIELD_F,
	OPCM_FIELD_I,
	OPCM_FIELD_M,
	OPCM_FIELD_INV,
	OPCM_FIELD_IG_AD
};

static const struct register_field opcm_match_bits[] = { { "match", 0, 41 } };
static const struct register_field channel_bits[] = { { "ch0_ig_opcm", 0, 1 },
	                                              { "ch1_ig_opcm", 1, 1 },
	                                              { "ch2_ig_opcm", 2, 1 },
	                                              { "ch3_ig_opcm", 3, 1 } };

/* ct 1 is cache mode with a unit mask of eight bits; in TLB mode ct and the eighth bit are 0. */
static const struct register_field iear_bits[] = {
	{ "plm", 0, 4 }, { "pm", 4, 1 }, { "umask", 5, 8 }, { "ct", 13, 1 }
};
static const struct register_field iear_tlb_umask = { "umask", 5, 7 };
enum { IEAR_FIELD_PLM, IEAR_FIELD_PM, IEAR_FIELD_UMASK, IEAR_FIELD_CT };

static const struct register_field irange_bits[] = { { "ig_ibrp0", 1, 1 },
	                                             { "ig_ibrp1", 4, 1 },
	                                             { "ig_ibrp2", 7, 1 },
	                                             { "ig_ibrp3", 10, 1 },
	                                             { "fine", 13, 1 } };
enum { IRANGE_FIELD_FINE = 4 };

static const struct register_field etb_bits[] = {
	{ "plm", 0, 4 },  { "pm", 6, 1 },   { "ds", 7, 1 },   { "tm", 8, 2 },
	{ "ptm", 10, 2 }, { "ppm", 12, 2 }, { "brt", 14, 2 },
};
enum {
	ETB_FIELD_PLM,
	ETB_FIELD_PM,
	ETB_FIELD_DS,
	ETB_FIELD_TM,
	ETB_FIELD_PTM,
	ETB_FIELD_PPM,
	ETB_FIELD_BRT
};

static const struct register_field dear_bits[] = {
	{ "plm", 0, 4 }, { "pm", 6, 1 }, { "mode", 7, 2 }, { "umask", 16, 4 }, { "ism", 24, 2 }
};
enum { DEAR_FIELD_PLM, DEAR_FIELD_PM, DEAR_FIELD_MODE, DEAR_FIELD_UMASK, DEAR_FIELD_ISM };

static const struct register_field drange_bits[] = {
	{ "cfg_dtag0", 3, 2 },  { "cfg_dtag1", 11, 2 }, { "cfg_dtag2", 19, 2 },
	{ "cfg_dtag3", 27, 2 }, { "ena_dbrp0", 45, 1 }, { "ena_dbrp1", 46, 1 },
	{ "ena_dbrp2", 47, 1 }, { "ena_dbrp3", 48, 1 },
};
static const struct register_field ipear_bits[] = {
	{ "plm", 0, 4 }, { "pm", 6, 1 }, { "mode", 8, 3 }, { "delay", 11, 8 }
};
enum { IPEAR_FIELD_PLM, IPEAR_FIELD_PM, IPEAR_FIELD_MODE, IPEAR_FIELD_DELAY };

/* Register values before fields are inserted: other bits are as the manual requires. */
#define OPCM1_BASE  0x030f01ffffffffffu
#define OPCM2_BASE  0x000001ffffffffffu
#define IRANGE_BASE 0xdb6u
#define DRANGE_BASE 0x2078fefefefeu
#define ISM_IA64    2
#define IPEAR_MODE  4

static const struct register_field pmd_counter[] = { { "count", 0, 47 }, { "sxt47", 47, 17 } };
static const struct register_field pmd_dear_addr[] = { { "daddr", 0, 64 } };
static const struct register_field pmd_dear_latency[] = { { "latency", 0, 13 },
	                                                  { "overflow", 13, 1 },
	                                                  { "status", 14, 2 } };
static const struct register_field pmd_iear_addr[] = { { "status", 0, 2 }, { "iaddr", 5, 59 } };
static const struct register_field pmd_iear_latency[] = { { "latency", 0, 12 },
	                                                  { "overflow", 12, 1 } };
static const struct register_field pmd_dear_iaddr[] = {
	{ "slot", 0, 2 }, { "bundle", 2, 1 }, { "valid", 3, 1 }, { "iaddr", 4, 60 }
};
static const struct register_field pmd_etb_index[] = { { "next", 0, 4 }, { "full", 5, 1 } };
static const struct register_field pmd_etb_ext[] = {
	{ "ext48", 0, 4 },  { "ext56", 4, 4 },  { "ext49", 8, 4 },  { "ext57", 12, 4 },
	{ "ext50", 16, 4 }, { "ext58", 20, 4 }, { "ext51", 24, 4 }, { "ext59", 28, 4 },
	{ "ext52", 32, 4 }, { "ext60", 36, 4 }, { "ext53", 40, 4 }, { "ext61", 44, 4 },
	{ "ext54", 48, 4 }, { "ext62", 52, 4 }, { "ext55", 56, 4 }, { "ext63", 60, 4 },
};
static const struct register_field pmd_etb[] = {
	{ "source", 0, 1 }, { "mispredict", 1, 1 }, { "slot", 2, 2 }, { "addr", 4, 60 }
};
static const struct register_field debug_mask[] = {
	{ "mask", 0, 56 }, { "plm", 56, 4 }, { "w", 62, 1 }, { "rx", 63, 1 }
};
static const struct register_field debug_addr[] = { { "addr", 0, 64 } };

#endif
