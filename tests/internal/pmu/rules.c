/* SPDX-License-Identifier: MIT */
/* Sets of events under the rules of their tables. What is expected comes from the kernel's
 * scheduling code and the vendors' manuals, as the source of each rule says. */
#include "set_answers.h"
#include "unit_tables.h"

#define FLOPS     "fp_ret_sse_avx_ops.all"
#define INSNS     "ex_ret_instr"
#define JUMPS     "BR_INST_RETIRED.JCC"
#define CALLS     "BR_INST_RETIRED.CALL"
#define BRANCHES  "BR_INST_RETIRED.ALL_BRANCHES"
#define MISSES    "BR_MISP_RETIRED.ALL_BRANCHES"
#define TAKEN     "BR_INST_RETIRED.COND"
#define INSNS_ANY "INST_RETIRED.ANY"
#define DRAM      "OCR.DEMAND_DATA_RD.DRAM"
#define FPU       "amd64_fam15h_interlagos"

#define MESH(n)               "arm_cmn/type=5,eventid=" #n "/"
#define MESH_OCCUPANCY(i, n)  "arm_cmn/type=5,eventid=0xf,bynodeid=1,occupid=" #i ",nodeid=" #n "/"
#define WATCHPOINT(direction) "arm_cmn/type=0x7770,eventid=" #direction "/"

static const struct set_answer answers[] = {
	/* AMD's large increments: Linux amd_is_pair_event_code(), pair_constraint */
	{ "amdzen3", { FLOPS, INSNS }, FITS, { 0, 2 }, 0 },
	{ "amdzen1", { INSNS, FLOPS, INSNS }, FITS, { 2, 0, 3 }, 0 },
	{ "amdzen5", { FLOPS, FLOPS, FLOPS }, FITS, { 0, 2, 4 }, 0 },
	{ "amdzen2", { FLOPS, FLOPS, FLOPS, FLOPS }, REFUSED, { 0 }, 0xf },
	{ "amdzen4", { FLOPS, INSNS, FLOPS, INSNS, FLOPS }, REFUSED, { 0 }, 0x17 },
	{ "amdzen6", { FLOPS, INSNS, INSNS, INSNS, INSNS }, FITS, { 0, 2, 3, 4, 5 }, 0 },
	{ "amdzen3", { FLOPS, INSNS, INSNS, INSNS, INSNS, INSNS }, REFUSED, { 0 }, 0x3f },
	{ "amdzen3", { "amdzen3/event=0x3,umask=0xff/", INSNS }, FITS, { 0, 2 }, 0 },
	/* precise events of Atoms: Linux intel_glm_, intel_slm_ and
	   intel_atom_pebs_event_constraints */
	{ "glm", { "LD_BLOCKS.4K_ALIAS:p", "LD_BLOCKS.STORE_FORWARD:p" }, REFUSED, { 0 }, 0x3 },
	{ "glm", { "LD_BLOCKS.4K_ALIAS", "LD_BLOCKS.STORE_FORWARD:p" }, FITS, { 1, 0 }, 0 },
	{ "glm", { JUMPS, CALLS }, FITS, { 0, 1 }, 0 },
	{ "slm", { JUMPS ":p", CALLS ":p" }, REFUSED, { 0 }, 0x3 },
	{ "slm", { JUMPS, CALLS ":p" }, FITS, { 1, 0 }, 0 },
	{ "knl", { JUMPS ":p", CALLS ":p" }, REFUSED, { 0 }, 0x3 },
	{ "knl", { JUMPS, CALLS ":p" }, FITS, { 1, 0 }, 0 },
	{ "bnl",
	  { "X87_COMP_OPS_EXE.ANY.AR:p", "X87_COMP_OPS_EXE.FXCH.AR:p" },
	  REFUSED,
	  { 0 },
	  0x3 },
	/* groups of family 15H: Linux amd_get_event_constraints_f15h */
	{ FPU, { "CYCLES_FPU_EMPTY", "RETIRED_SSE_OPS:ALL" }, FITS, { 4, 3 }, 0 },
	{ FPU,
	  { "CYCLES_FPU_EMPTY", "BOTTOM_EXECUTE_OP", "CYCLES_FPU_EMPTY" },
	  FITS,
	  { 3, 4, 5 },
	  0 },
	{ FPU,
	  { "CYCLES_FPU_EMPTY", "BOTTOM_EXECUTE_OP", "CYCLES_FPU_EMPTY", "BOTTOM_EXECUTE_OP" },
	  REFUSED,
	  { 0 },
	  0xf },
	{ FPU, { "DISPATCHED_FPU_OPS:OPS_PIPE0" }, FITS, { 3 }, 0 },
	{ FPU,
	  { "DISPATCHED_FPU_OPS:OPS_PIPE0:OPS_DUAL_PIPE0", "RETIRED_SSE_OPS" },
	  REFUSED,
	  { 0 },
	  0x3 },
	{ FPU, { "DISPATCHED_FPU_OPS:OPS_PIPE0:OPS_PIPE1", "RETIRED_SSE_OPS" }, FITS, { 4, 3 }, 0 },
	{ FPU, { "LOAD_Q_STORE_Q_FULL", "DATA_CACHE_ACCESSES" }, FITS, { 0, 1 }, 0 },
	{ FPU, { FPU "/event=0x2d/", FPU "/event=0x2d/" }, REFUSED, { 0 }, 0x3 },
	{ FPU, { FPU "/event=0x2e/", FPU "/event=0x2e/" }, FITS, { 0, 3 }, 0 },
	{ FPU, { FPU "/event=0x188/", FPU "/event=0x8f/" }, REFUSED, { 0 }, 0x3 },
	{ FPU, { FPU "/event=0x1c0/" }, FITS, { 3 }, 0 },
	{ FPU, { FPU "/event=0x31,umask=1/" }, FITS, { 0 }, 0 },
	{ FPU, { FPU "/event=0x31,umask=3/" }, REFUSED, { 0 }, 0x1 },
	{ FPU, { FPU "/event=0xdb/" }, FITS, { 0 }, 0 },
	{ FPU,
	  { "DATA_CACHE_ACCESSES", FPU "/event=0x1d6/", FPU "/event=0x1d5/" },
	  FITS,
	  { 1, 2, 0 },
	  0 },
	/* counts without aborted transactions: Linux hsw_get_event_constraints, hsw_hw_config */
	{ "skl", { BRANCHES ":in_tx_cp=1", MISSES }, FITS, { 2, 0 }, 0 },
	{ "hsw", { BRANCHES ":in_tx_cp=1", MISSES ":in_tx_cp=1" }, REFUSED, { 0 }, 0x3 },
	{ "spr", { BRANCHES ":in_tx_cp=1", MISSES ":in_tx_cp=1" }, REFUSED, { 0 }, 0x3 },
	{ "lnl_lioncove", { BRANCHES ":in_tx_cp=1" }, FITS, { 2 }, 0 },
	{ "hsw", { "L1D_PEND_MISS.PENDING:in_tx_cp=1" }, FITS, { 2 }, 0 },
	{ "skx", { MISSES "_PEBS:in_tx_cp=1:p" }, REFUSED, { 0 }, 0x1 },
	{ "skx", { MISSES "_PEBS:in_tx=1:p" }, REFUSED, { 0 }, 0x1 },
	/* precise instructions: Linux intel_glc_pebs_event_constraints */
	{ "spr", { INSNS_ANY "_P:p" }, FITS, { 1 }, 0 },
	{ "spr", { INSNS_ANY "_P" }, FITS, { 0 }, 0 },
	{ "gnr", { "INST_RETIRED.NOP:p" }, FITS, { 1 }, 0 },
	{ "icx", { INSNS_ANY "_P:p" }, FITS, { 0 }, 0 },
	/* precise distribution: Linux glc_, icl_, tnt_, cmt_ and glp_get_event_constraints */
	{ "spr", { INSNS_ANY "_P:ppp" }, FITS, { 32 }, 0 },
	{ "icx", { INSNS_ANY "_P:ppp" }, FITS, { 32 }, 0 },
	{ "lnl_lioncove", { INSNS_ANY "_P:ppp" }, FITS, { 32 }, 0 },
	{ "spr", { INSNS_ANY ":ppp", INSNS_ANY "_P:ppp" }, REFUSED, { 0 }, 0x3 },
	{ "spr", { "INST_RETIRED.NOP:ppp" }, REFUSED, { 0 }, 0x1 },
	{ "spr", { BRANCHES ":ppp", MISSES ":ppp" }, REFUSED, { 0 }, 0x3 },
	{ "spr", { MISSES, BRANCHES ":ppp" }, FITS, { 1, 0 }, 0 },
	{ "icx", { BRANCHES ":ppp", MISSES ":ppp" }, FITS, { 0, 1 }, 0 },
	{ "glp", { BRANCHES ":ppp", JUMPS ":ppp" }, REFUSED, { 0 }, 0x3 },
	{ "glp", { INSNS_ANY ":ppp" }, FITS, { 0 }, 0 },
	{ "snr", { INSNS_ANY "_P:ppp", BRANCHES ":ppp" }, FITS, { 32, 0 }, 0 },
	{ "adl_gracemont", { JUMPS ":ppp", BRANCHES ":ppp" }, REFUSED, { 0 }, 0x3 },
	{ "srf", { TAKEN ":ppp", BRANCHES ":ppp", MISSES ":ppp" }, REFUSED, { 0 }, 0x7 },
	{ "srf", { TAKEN ":ppp", BRANCHES ":ppp", INSNS_ANY ":ppp" }, FITS, { 0, 1, 32 }, 0 },
	/* Linux intel_lnc_, intel_snb_event_constraints */
	{ "lnl_lioncove", { DRAM, DRAM, DRAM, DRAM, DRAM }, REFUSED, { 0 }, 0x1f },
	{ "snb", { "L1D_PEND_MISS.FB_FULL" }, FITS, { 2 }, 0 },
	{ "jkt", { "L1D_PEND_MISS.FB_FULL", "L1D_PEND_MISS.PENDING" }, REFUSED, { 0 }, 0x3 },
	{ "hsx_uncore_cbox",
	  { "UNC_C_FAST_ASSERTED", "UNC_C_FAST_ASSERTED" },
	  REFUSED,
	  { 0 },
	  0x3 },
	{ "bdx_uncore_cbox", { "UNC_C_FAST_ASSERTED", "UNC_C_FAST_ASSERTED" }, FITS, { 0, 1 }, 0 },
	{ "hsx_uncore_r3qpi",
	  { "UNC_R3_CLOCKTICKS", "UNC_R3_CLOCKTICKS", "UNC_R3_CLOCKTICKS" },
	  REFUSED,
	  { 0 },
	  0x7 },
	{ "core2", { "ITLB_MISS_RETIRED", "MEM_LOAD_RETIRED:L2_MISS" }, REFUSED, { 0 }, 0x3 },
	/* samplers: Linux amd/ibs.c and arm_spe_pmu.c */
	{ "amd_ibs_op", { "clocks", "dispatched_ops" }, REFUSED, { 0 }, 0x3 },
	{ "amd_ibs_fetch", { "fetches", "l3_misses" }, REFUSED, { 0 }, 0x3 },
	{ "spe", { "loads", "stores" }, REFUSED, { 0 }, 0x3 },
	/* thresholds: Linux armv8pmu_get_event_idx */
	{ "neoverse_v2", { "CPU_CYCLES:threshold=5" }, FITS, { 0 }, 0 },
	{ "neoverse_v2", { "CPU_CYCLES" }, FITS, { 31 }, 0 },
	/* chains: Linux armv8pmu_get_chain_idx */
	{ "cortex_a72", { "CHAIN" }, REFUSED, { 0 }, 0 },
	{ "cortex_a72", { "CHAIN", "INST_SPEC" }, REFUSED, { 0 }, 0 },
	{ "cortex_a72", { "INST_SPEC", "CHAIN", "CHAIN" }, REFUSED, { 0 }, 0 },
	{ "cortex_a72", { "INST_RETIRED", "INST_SPEC", "CHAIN" }, FITS, { 2, 0, 1 }, 0 },
	{ "cortex_a72", { "cortex_a72/event=0x1e/" }, REFUSED, { 0 }, 0 },
	/* numbers of events: those of the core's counters, and counter 31 for cycles alone */
	{ "cortex_r52plus", { "r3f1", "r3f2", "r3f3", "r3f4" }, FITS, { 0, 1, 2, 3 }, 0 },
	{ "cortex_r52plus", { "r3f1", "r3f2", "r3f3", "r3f4", "r3f5" }, REFUSED, { 0 }, 0x1f },
	{ "cortex_r52plus",
	  { "r3f1", "r3f2", "r3f3", "r3f4", "r11" },
	  FITS,
	  { 0, 1, 2, 3, 31 },
	  0 },
	{ "m3", { "m3/event=0x3f1/", "m3/event=0x3f2/" }, FITS, { 2, 3 }, 0 },
	{ "m4", { "m4/event=0x3f1/", "m4/event=0x11/" }, FITS, { 2, 0 }, 0 },
	{ "power9", { "r3f1", "r3f2", "r3f3", "r3f4", "r500fa" }, FITS, { 1, 2, 3, 4, 5 }, 0 },
	{ "power9", { "r3f1", "r3f2", "r3f3", "r3f4", "r3f5" }, REFUSED, { 0 }, 0x1f },
	{ "power7", { "r3f1", "r3f2", "r3f3", "r3f4", "r3f5" }, REFUSED, { 0 }, 0x1f },
	/* NVIDIA/NV-Kernels, pull request 383 */
	{ "olympus", { "CPU_CYCLES" }, FITS, { 0 }, 0 },
	/* POWER: Linux isa207_get_constraint, power9 group_constraint_mask */
	{ "power9", { "PM_L2_ST_MISS_128B" }, REFUSED, { 0 }, 0 },
	{ "power9", { "power9/event=0x46880/", "power9/event=0x26880/" }, FITS, { 4, 2 }, 0 },
	{ "power9", { "power9/event=0x26880/", "power9/event=0x46880/" }, REFUSED, { 0 }, 0 },
	{ "power9", { "power9/event=0x46880/", "power9/event=0x26082/" }, REFUSED, { 0 }, 0x3 },
	{ "power9",
	  { "power9/event=0x20020104/", "power9/event=0x40030108/" },
	  REFUSED,
	  { 0 },
	  0x3 },
	{ "power9", { "power9/event=0x20020104/", "power9/event=0x20030108/" }, FITS, { 2, 3 }, 0 },
	{ "power9", { "power9/event=0x800020020104/" }, REFUSED, { 0 }, 0x1 },
	{ "power9", { "power9/event=0xc00020020104/" }, FITS, { 2 }, 0 },
	{ "power9", { "power9/event=0x1020104/", "power9/event=0x2030108/" }, REFUSED, { 0 }, 0x3 },
	{ "power8", { "PM_L1MISS_LAT_EXC_1024", "PM_LD_MISS_L1" }, REFUSED, { 0 }, 0x3 },
	/* PM_L1MISS_LAT_EXC_1024 and PM_RC_LIFETIME_EXC_256 with libpfm4's codes */
	{ "power8",
	  { "power8/event=0x67200301ea/", "power8/event=0xde200101e8/" },
	  REFUSED,
	  { 0 },
	  0x3 },
	/* levels of SLOTS: Linux intel_pmu_hw_config */
	{ "icl", { "TOPDOWN.SLOTS:u", "PERF_METRICS.RETIRING:k" }, REFUSED, { 0 }, 0x3 },
	{ "icl", { "TOPDOWN.SLOTS:u", "PERF_METRICS.RETIRING:u" }, FITS, { 35, -1 }, 0 },
	{ "power8", { "power8/event=0x800000010004/" }, REFUSED, { 0 }, 0x1 },
	{ "power8",
	  { "PM_DATA_ALL_FROM_RL4", "PM_INST_ALL_FROM_L3_NO_CONFLICT" },
	  REFUSED,
	  { 0 },
	  0x3 },
	{ "power8",
	  { "power8/event=0x100030056/", "power8/event=0x20004f052/" },
	  REFUSED,
	  { 0 },
	  0x3 },
	{ "power8",
	  { "power8/event=0x100030056/", "power8/event=0x10004f052/" },
	  FITS,
	  { 3, 4 },
	  0 },
	{ "power10", { "PM_L2_LD_MISS", "PM_L2_ST_HIT" }, REFUSED, { 0 }, 0x3 },
	{ "power10", { "PM_L2_LD_MISS", "PM_L2_INST_MISS" }, FITS, { 2, 3 }, 0 },
	{ "power10", { "PM_FLUSH", "PM_DATA_FROM_L_OC_MEM_ALL" }, REFUSED, { 0 }, 0x3 },
	{ "power10", { "power10/event=0x10200/", "PM_FLUSH" }, REFUSED, { 0 }, 0x3 },
	{ "power10",
	  { "power10/event=0x20020104,thresh_cmp=1/", "power10/event=0x20030108,thresh_cmp=2/" },
	  REFUSED,
	  { 0 },
	  0x3 },
	{ "power10",
	  { "power10/event=0x20020104,thresh_cmp=1/", "power10/event=0x20030108,thresh_cmp=1/" },
	  FITS,
	  { 2, 3 },
	  0 },
	/* filters of a unit: Linux smmu_pmu_check_global_filter */
	{ "smmuv3",
	  { "transaction:filter_enable=1:filter_stream_id=0x42",
	    "tlb_miss:filter_enable=1:filter_stream_id=0x43" },
	  REFUSED,
	  { 0 },
	  0x3 },
	{ "smmuv3", { "transaction:filter_enable=1", "tlb_miss" }, REFUSED, { 0 }, 0x3 },
	{ "smmuv3",
	  { "transaction:filter_enable=1:filter_stream_id=0x42",
	    "tlb_miss:filter_enable=1:filter_stream_id=0x42" },
	  FITS,
	  { -1, -1 },
	  0 },
	{ "smmuv3", { "transaction", "tlb_miss:filter_stream_id=1" }, FITS, { -1, -1 }, 0 },
	/* meshes: Linux arm_cmn_validate_group */
	{ "arm_cmn", { MESH(1), MESH(2), MESH(3), MESH(4) }, FITS, { -1, -1, -1, -1 }, 0 },
	{ "arm_cmn", { MESH(1), MESH(2), MESH(3), MESH(4), MESH(5) }, REFUSED, { 0 }, 0x1f },
	{ "arm_cmn", { MESH_OCCUPANCY(1, 8), MESH_OCCUPANCY(2, 8) }, REFUSED, { 0 }, 0x3 },
	{ "arm_cmn", { MESH_OCCUPANCY(1, 8), MESH_OCCUPANCY(2, 16) }, FITS, { -1, -1 }, 0 },
	{ "arm_cmn", { MESH_OCCUPANCY(2, 8), MESH_OCCUPANCY(2, 8) }, FITS, { -1, -1 }, 0 },
	{ "arm_cmn", { WATCHPOINT(0), WATCHPOINT(0), WATCHPOINT(2) }, FITS, { -1, -1, -1 }, 0 },
	{ "arm_cmn", { WATCHPOINT(0), WATCHPOINT(0), WATCHPOINT(0) }, REFUSED, { 0 }, 0x7 },
	{ "arm_cmn_700", { "dtc_cycles", "dtc_cycles" }, REFUSED, { 0 }, 0x3 },
	/* RISC-V: privileged architecture, SiFive U74-MC manual */
	{ "u74", { "ICACHE_MISS", "DCACHE_MISS" }, FITS, { -1, -1 }, 0 },
	{ "u74", { "ICACHE_MISS", "DCACHE_MISS", "ITLB_MISS" }, REFUSED, { 0 }, 0x7 },
	{ "u74", { "ICACHE_MISS", "DCACHE_MISS", "FW_IPI_SENT" }, FITS, { -1, -1, -1 }, 0 },
	{ "p550", { "ICACHE_MISS", "DCACHE_MISS", "ITLB_MISS" }, FITS, { -1, -1, -1 }, 0 },
	/* Apple: Linux m1_pmu_event_affinity */
	{ "m1_firestorm", { "m1_firestorm/event=0xf5/" }, FITS, { 2 }, 0 },
	{ "m1_firestorm",
	  { "m1_firestorm/event=0xf5/", "m1_firestorm/event=0xf6/", "m1_firestorm/event=0xf7/",
	    "m1_firestorm/event=0xfd/" },
	  REFUSED,
	  { 0 },
	  0xf },
	{ "m2_blizzard", { "m2_blizzard/event=0xf8/" }, FITS, { 2 }, 0 },
	{ "m2_blizzard", { "m2_blizzard/event=0xee/" }, FITS, { 2 }, 0 },
	/* s390: Linux validate_ctr_version */
	{ "cf_z13", { "cf_z13/event=0x50/" }, REFUSED, { 0 }, 0x1 },
	{ "cf_z15", { "cf_z15/event=0x50/" }, FITS, { -1 }, 0 },
	{ "cf_z15", { "cf_z15/event=0x54/" }, REFUSED, { 0 }, 0x1 },
	{ "cf_z10", { "cf_z10/event=0xa0/" }, REFUSED, { 0 }, 0x1 },
	{ "cf_z196", { "cf_z196/event=0xa0/" }, FITS, { -1 }, 0 },
	{ "cf_z196", { "cf_z196/event=0xb0/" }, REFUSED, { 0 }, 0x1 },
	{ "cf_zec12", { "cf_zec12/event=0x1c0/" }, REFUSED, { 0 }, 0x1 },
	{ "cf_z14", { "cf_z14/event=0x100/" }, REFUSED, { 0 }, 0x1 },
	{ "cf_z17", { "cf_z17/event=0x11f/" }, FITS, { -1 }, 0 },
	{ "cf_z17", { "cf_z17/event=0x120/" }, REFUSED, { 0 }, 0x1 },
	{ "cf_z16", { "cf_z16/event=0x6/" }, REFUSED, { 0 }, 0x1 },
};

static void sets_are_answered_as_the_hardware_would(void **state)
{
	(void)state;
	check_answers(answers, COUNT(answers));
}

/* The control register of a pair's second counter has MergeEvent, code 0xfff, enabled. */
static void pair_writes_both_control_registers(void **state)
{
	const char *const events[] = { INSNS, FLOPS };
	pfm_ctx_t *ctx = open_for("amdzen3");
	struct dispatched_set set = { 0 };
	unsigned found = 0;

	(void)state;
	assert_int_equal(dispatch_set(ctx, events, 2, NULL, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.n_pmcs, 3);
	for (unsigned i = 0; i < set.n_pmcs; i++)
		if (set.pmcs[i].num == 1) {
			assert_int_equal(set.pmcs[i].addr, 0xc0010202);
			assert_int_equal(set.pmcs[i].value, 0xf004000ff);
			assert_int_equal(set.pmcs[i].event, 1);
			found++;
		}
	assert_int_equal(found, 1);
	assert_int_equal(set.n_pmds, 2);
	pfm_close_context(ctx);
}

/* Pairs avoid counters of which one is taken. */
static void pair_needs_both_counters(void **state)
{
	const char *const event = FLOPS;
	pfm_dispatch_options_t options = PFM_INIT(options);
	pfmlib_regmask_t taken = { .bits = { 0x2 } };
	pfm_ctx_t *ctx = open_for("amdzen2");
	struct dispatched_set set = { 0 };

	(void)state;
	options.unavailable = &taken;
	assert_int_equal(dispatch_set(ctx, &event, 1, &options, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.counter[0], 2);
	taken.bits[0] = 0x15;
	assert_int_equal(dispatch_set(ctx, &event, 1, &options, &set, NULL), PFMLIB_ERR_NOASSIGN);
	pfm_close_context(ctx);
}

/* Every event of every table can be counted, unless a rule refuses it. */
static void rules_leave_each_event_a_counter(void **state)
{
	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		for (uint32_t row = 0; t->n_rules && row < t->n_rows; row++) {
			struct event ev;
			struct encode_request req = { .table = t,
				                      .events = &ev,
				                      .n_events = 1,
				                      .plm = PFM_PLM0 | PFM_PLM3,
				                      .is_described = true };
			pfm_error_t why = PFM_INIT(why);
			struct placement where;
			struct register_values regs;

			if (!is_event(t, row))
				continue;
			pfmi_pmu_init_event(&ev, t, row);
			if (pfmi_pmu_dispatch_set(&req, &where, &regs, &why))
				fail_msg("%s::%s: %s", table_get_text(t, t->name),
				         table_get_row_name(t, row), why.detail ? why.detail : "");
		}
	}
}

UNIT(pmu_rules, cmocka_unit_test(sets_are_answered_as_the_hardware_would),
     cmocka_unit_test(pair_writes_both_control_registers),
     cmocka_unit_test(pair_needs_both_counters),
     cmocka_unit_test(rules_leave_each_event_a_counter));
