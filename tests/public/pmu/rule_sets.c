/* SPDX-License-Identifier: MIT */
/* Rules of sets: shared registers, and events that need others. What is expected comes from the
 * kernel's scheduling code. */
#include "set_answers.h"

#define BRANCHES    "BR_INST_RETIRED.ALL_BRANCHES"
#define INSNS_ANY   "INST_RETIRED.ANY"
#define AUX         "LD_BLOCKS.STORE_FORWARD"
#define LATENCY     "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_64"
#define INSERTS     "UNC_C_TOR_INSERTS.OPCODE:filter_opc="
#define CHA_INSERTS "UNC_CHA_TOR_INSERTS.IA:filter_opc0="

static const struct set_answer answers[] = {
	/* load latency with an auxiliary event: Linux require_mem_loads_aux_event */
	{ "spr", { AUX, LATENCY }, FITS, { 0, 1 }, 0 },
	{ "spr", { INSNS_ANY, AUX, LATENCY }, FITS, { 32, 0, 1 }, 0 },
	{ "adl_goldencove", { AUX, LATENCY }, FITS, { 0, 1 }, 0 },
	{ "emr", { LATENCY }, REFUSED, { 0 }, 0 },
	{ "spr", { LATENCY, AUX }, REFUSED, { 0 }, 0 },
	{ "spr", { AUX, LATENCY, BRANCHES }, REFUSED, { 0 }, 0 },
	{ "gnr", { LATENCY }, FITS, { 1 }, 0 },
	{ "lnl_lioncove", { LATENCY }, FITS, { 2 }, 0 },
	/* filters of boxes: Linux uncore_snbep.c */
	{ "ivt_uncore_cbox", { INSERTS "0x180", INSERTS "0x181" }, REFUSED, { 0 }, 0x3 },
	{ "hsx_uncore_cbox", { INSERTS "0x180", INSERTS "0x180" }, FITS, { 0, 1 }, 0 },
	{ "bdx_uncore_cbox",
	  { INSERTS "0x180", "UNC_C_CLOCKTICKS", INSERTS "0x1c8" },
	  REFUSED,
	  { 0 },
	  0x5 },
	{ "jkt_uncore_cbox", { INSERTS "0x180", "UNC_C_CLOCKTICKS" }, FITS, { 0, 1 }, 0 },
	{ "skx_uncore_cha", { CHA_INSERTS "0x201", CHA_INSERTS "0x202" }, REFUSED, { 0 }, 0x3 },
	{ "skx_uncore_cha", { CHA_INSERTS "0x201", "UNC_CHA_CLOCKTICKS" }, FITS, { 0, 1 }, 0 },
	{ "skx_uncore_cha",
	  { "UNC_CHA_LLC_LOOKUP.DATA_READ:filter_state=1", CHA_INSERTS "0x202" },
	  FITS,
	  { 0, 1 },
	  0 },
	{ "skx_uncore_cha",
	  { "UNC_CHA_LLC_LOOKUP.DATA_READ:filter_state=1",
	    "UNC_CHA_LLC_LOOKUP.ANY:filter_state=2" },
	  REFUSED,
	  { 0 },
	  0x3 },
	{ "icx_uncore_cha",
	  { "UNC_CHA_CLOCKTICKS:tid_en=1:filter_tid=1",
	    "UNC_CHA_CLOCKTICKS:tid_en=1:filter_tid=2" },
	  REFUSED,
	  { 0 },
	  0x3 },
	{ "jkt_uncore_qpi",
	  { "UNC_Q_CTO_COUNT:match0=1:mask0=1", "UNC_Q_CTO_COUNT:match0=2:mask0=1" },
	  REFUSED,
	  { 0 },
	  0x3 },
	{ "bdx_uncore_qpi",
	  { "UNC_Q_CTO_COUNT:match_opc=1", "UNC_Q_CTO_COUNT:match_opc=1" },
	  FITS,
	  { 0, 1 },
	  0 },
};

static void sets_share_registers_and_have_leaders(void **state)
{
	(void)state;
	check_answers(answers, COUNT(answers));
}

UNIT(pmu_rule_sets, cmocka_unit_test(sets_share_registers_and_have_leaders));
