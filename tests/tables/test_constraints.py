#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sets of events as the hardware counts them, and what pfm show says of traps. The expected counters
and refusals follow from vendors' manuals, specification updates and Linux's drivers (see the sources
that the rules name); they were written by hand, not by pfm."""

import json
import os
import re
import subprocess
import unittest

from tap import main

PFM = os.environ.get("PFM", "pfm")
FLOPS = "fp_ret_sse_avx_ops.all"
INSNS = "INST_RETIRED.ANY_P"
BRANCHES, MISSES = "BR_INST_RETIRED.ALL_BRANCHES", "BR_MISP_RETIRED.ALL_BRANCHES"
LATENCY, AUX = "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128", "LD_BLOCKS.STORE_FORWARD"
OPCODE = "UNC_C_TOR_INSERTS.OPCODE:filter_opc="
BAND = "UNC_P_FREQ_BAND0_CYCLES:filter_band0="
OMR = "MEM_LOAD_L2_MISS_RETIRED."
TSX = ("hsw hsx bdw bdx skl skx clx icl icx tgl rkl spr emr gnr adl_goldencove mtl_redwoodcove"
       " lnl_lioncove")
FIVE = " ".join(("BR_INST_RETIRED.CONDITIONAL", "UOPS_ISSUED.ANY", "L2_RQSTS.MISS",
                 "LONGEST_LAT_CACHE.MISS", "LONGEST_LAT_CACHE.REFERENCE"))
NODE = ":bynodeid=1:nodeid=4"

# Case: PMUs, options and events, counters that each event may get ("0,2", "F1", "-" for none), or
# "! part of the sentence" of a refusal. Sources are those of the rules. Krait's registers for events
# of its own have no case: its list has common events alone. Facts of a machine (SMT, transactions)
# are in test_remarks.py.
CASES = {
    "large increments take two counters": (
        ("amdzen1 amdzen2 amdzen3 amdzen4 amdzen5 amdzen6", "%s %s:u %s:k" % ((FLOPS,) * 3),
         "0,2,4 0,2,4 0,2,4"),
        ("amdzen1 amdzen3 amdzen6", "%s %s:u %s:k ex_ret_instr" % ((FLOPS,) * 3),
         "! takes an even counter and the next one"),
        ("amdzen3", FLOPS + " ex_ret_instr ex_ret_ops ex_ret_brn ex_ret_brn_misp",
         "0,2,4 0-5 0-5 0-5 0-5"),
        ("amdzen3", FLOPS + " ex_ret_instr ex_ret_ops ex_ret_brn ex_ret_brn_misp ex_ret_brn_tkn",
         "! takes an even counter and the next one"),
        ("amdzen3", "--unavailable 1,3 %s %s:u" % (FLOPS, FLOPS), "!"),
    ),
    "units of family 15h": (
        ("amd64_fam15h_interlagos", "r0 r1 r2", "3-5 3-5 3-5"),
        ("amd64_fam15h_interlagos", "r0 r1 r2 r5", "! counters 3, 4 and 5"),
        ("amd64_fam15h_interlagos", "r3 r3:u", "! counter 3"),
        ("amd64_fam15h_interlagos", "rb rd", "! counter 3"),
        ("amd64_fam15h_interlagos", "r300 r1100", "4,5 3"),
        ("amd64_fam15h_interlagos", "r104 r304", "4,5 3"),
        ("amd64_fam15h_interlagos", "r60 r9f rd0", "0-2 0-2 0-2"),
        ("amd64_fam15h_interlagos", "r60 r9f rd0 r23", "! counters 0, 1 and 2"),
        ("amd64_fam15h_interlagos", "r43 r45 r46 r54", "! counters 0, 1 and 2"),
        ("amd64_fam15h_interlagos", "r131", "0-2"),
        ("amd64_fam15h_interlagos", "r331", "! takes one unit mask"),
        ("amd64_fam15h_interlagos", "r8f r100000087", "! counter 0"),
        ("amd64_fam15h_interlagos", "r100000088", "0"),
        ("amd64_fam15h_interlagos", "r2d r2e", "3 0"),
        ("amd64_fam15h_interlagos", "r2e r2e:u r2e:k", "! counters 0 and 3"),
        ("amd64_fam15h_interlagos", "r1000000c0", "3-5"),
    ),
    "checkpointed counts": (
        (TSX, INSNS + ":in_tx_cp=1", "2"),
        (TSX, "%s:in_tx_cp=1 %s:in_tx_cp=1" % (INSNS, BRANCHES), "! counter 2"),
        ("icl spr", BRANCHES + ":in_tx_cp=1:p", "! no filter for transactions"),
    ),
    "leaders and companions": (
        ("spr emr adl_goldencove", LATENCY, "! need LD_BLOCKS.STORE_FORWARD (0x8203) before them"),
        ("spr emr adl_goldencove", LATENCY + " " + AUX, "! (0x8203) before them"),
        ("spr emr adl_goldencove", AUX + " " + LATENCY, "0-3 1-7"),
        ("gnr mtl_redwoodcove lnl_lioncove", LATENCY, "1-9"),
        ("icl spr", "TOPDOWN.SLOTS PERF_METRICS.RETIRING", "F3 -"),
        ("icl spr", "PERF_METRICS.RETIRING TOPDOWN.SLOTS", "! as the first event"),
        ("icl", "TOPDOWN.SLOTS_P PERF_METRICS.RETIRING", "!"),
        ("icl", "TOPDOWN.SLOTS:u PERF_METRICS.RETIRING:k", "! count the same levels"),
    ),
    "filters of boxes": (
        ("jkt_uncore_cbox ivt_uncore_cbox hsx_uncore_cbox bdx_uncore_cbox bdw_de_uncore_cbox",
         OPCODE + "0x180 " + OPCODE + "0x181", "! one filter register"),
        ("jkt_uncore_cbox ivt_uncore_cbox hsx_uncore_cbox bdx_uncore_cbox",
         OPCODE + "0x180 UNC_C_TOR_INSERTS.MISS_OPCODE:filter_opc=0x180", "0-3 0-3"),
        ("jkt_uncore_cbox", "UNC_C_LLC_LOOKUP.DATA_READ:filter_state=1 " + OPCODE + "0x180",
         "0-1 0-1"),
        ("skx_uncore_cha clx_uncore_cha",
         "UNC_CHA_TOR_INSERTS.IA:filter_opc0=0x200 UNC_CHA_TOR_INSERTS.IO_HIT:filter_opc0=0x201",
         "! one filter register"),
        ("knl_uncore_cha",
         "UNC_H_TOR_INSERTS.IRQ:filter_opc=1 UNC_H_TOR_INSERTS.EVICT:filter_opc=2",
         "! one filter register"),
        ("jkt_uncore_pcu ivt_uncore_pcu hsx_uncore_pcu bdx_uncore_pcu skx_uncore_pcu",
         " ".join(BAND + n for n in ("10", "20", "30", "40")), "0-3 0-3 0-3 0-3"),
        ("jkt_uncore_qpi ivt_uncore_qpi hsx_uncore_qpi bdx_uncore_qpi",
         "r38:match0=1 r38:match0=2", "! one match and one mask"),
        ("jkt_uncore_qpi hsx_uncore_qpi", "r38:match0=1 r138:match0=1", "0-3 0-3"),
    ),
    "registers of POWER": (
        ("power9", "PM_L2_ST_MISS_128B", "! on counter 4 before it"),
        ("power9", "PM_L2_DISP_ALL_L2MISS PM_L2_ST_MISS", "4 2"),
        ("power9", "PM_L2_ST_MISS PM_L2_DISP_ALL_L2MISS", "! on counter 4 before it"),
        ("power9", "PM_L2_DISP_ALL_L2MISS PM_L2_DC_INV", "! are of one bank"),
        ("power8", "PM_L1MISS_LAT_EXC_1024 PM_RC_LIFETIME_EXC_256", "! have one threshold"),
        ("power8", "PM_L1MISS_LAT_EXC_1024 PM_L1MISS_LAT_EXC_256", "3 1"),
        ("power9", "r67200101e0 r6f200101e0", "! compare with a threshold"),
        ("power9", "r800020010000", "! upper two bits of its mantissa"),
        ("power10", "r10000016080 r20000026080", "! use one selector"),
        ("power10", "r10000016080 r10000026080", "1 2"),
        ("power10", "PM_FLUSH PM_DATA_FROM_L_OC_MEM_ALL", "! one qualifier of L1 reloads"),
        ("power8", "PM_DATA_ALL_FROM_RL4 PM_INST_ALL_FROM_L3_NO_CONFLICT", "! the same one"),
        ("power10", "r200 r1e", "! one scope of radix translation"),
        ("power9", "r10100001e0 r11000001e0", "! sampled in one mode"),
        ("power10", "r20010001:thresh_cmp=5 r20020002:thresh_cmp=6", "! compare with a threshold"),
        ("power10", "r20010001:thresh_cmp=5 r20020002:thresh_cmp=5", "1 2"),
    ),
    "counters of precise events": (
        ("glm", "MEM_UOPS_RETIRED.ALL_LOADS:p %s:p" % BRANCHES, "! counter 0"),
        ("glm", "MEM_UOPS_RETIRED.ALL_LOADS:p " + BRANCHES, "0 1-3"),
        ("slm knl", "%s:p %s:p" % (BRANCHES, MISSES), "! counter 0"),
        ("bnl", INSNS + ":p BR_INST_RETIRED.MISPRED:p", "! counter 0"),
        ("spr emr gnr adl_goldencove mtl_redwoodcove", "INST_RETIRED.NOP:p", "1-7"),
        ("spr emr gnr adl_goldencove mtl_redwoodcove", INSNS + ":p", "1-7"),
        ("spr emr gnr adl_goldencove mtl_redwoodcove lnl_lioncove", INSNS + ":ppp", "F0"),
        ("spr emr gnr adl_goldencove mtl_redwoodcove lnl_lioncove",
         "%s:ppp %s:ppp" % (BRANCHES, MISSES), "!"),
        ("glm glp", INSNS + ":ppp", "0"),
        ("glm glp snr ehl adl_gracemont", "%s:ppp %s:ppp" % (BRANCHES, MISSES), "! counter 0"),
        ("snr ehl adl_gracemont", INSNS + ":ppp", "0,F0"),
        ("mtl_crestmont srf grr lnl_skymont", "%s:ppp %s:ppp" % (BRANCHES, MISSES), "0-1 0-1"),
        ("mtl_crestmont srf grr lnl_skymont",
         "%s:ppp %s:ppp BR_INST_RETIRED.NEAR_CALL:ppp" % (BRANCHES, MISSES),
         "! counters 0 and 1"),
        ("mtl_crestmont srf grr lnl_skymont", INSNS + ":ppp", "0-1,F0"),
        ("mtl_crestmont srf grr lnl_skymont",
         "--unavailable 0-5 MEM_UOPS_RETIRED.STORE_LATENCY:p", "!"),
        ("mtl_crestmont srf grr lnl_skymont",
         "--unavailable 0-4 MEM_UOPS_RETIRED.STORE_LATENCY:p", "5"),
    ),
    "the stricter source": (
        ("lnl_lioncove arl_lioncove", "--unavailable 0-3 r12a:offcore_rsp=1", "!"),
        ("lnl_lioncove arl_lioncove", "r12a:offcore_rsp=1", "0-3"),
        ("snb jkt", "L1D_PEND_MISS.FB_FULL", "2"),
        ("snb jkt", "L1D_PEND_MISS.FB_FULL L1D_PEND_MISS.PENDING", "! counter 2"),
        ("hsx_uncore_cbox", "UNC_C_FAST_ASSERTED UNC_C_FAST_ASSERTED", "! counter 0"),
        ("hsx_uncore_r3qpi", " ".join(["UNC_R3_CLOCKTICKS"] * 2), "0-1 0-1"),
        ("hsx_uncore_r3qpi", " ".join(["UNC_R3_CLOCKTICKS"] * 3), "! counters 0 and 1"),
        ("core2", "ITLB_MISS_RETIRED", "0"),
    ),
    "privilege levels": (
        ("bdw bdx bdw_de", "--ht-off -u " + FIVE, "! counters 0, 1, 2 and 3"),
        ("bdw bdx bdw_de", "--ht-off " + FIVE, "0-7 0-7 0-7 0-7 0-7"),
    ),
    "counters of Arm": (
        ("cortex_a57 cortex_a72", "CHAIN", "! the event before it"),
        ("cortex_a57 cortex_a72", "CHAIN INST_RETIRED", "! the event before it"),
        ("cortex_a57 cortex_a72", "INST_RETIRED CHAIN", "0,2,4 1,3,5"),
        ("cortex_a57", "BR_MIS_PRED INST_RETIRED CHAIN", "0-5 0,2,4 1,3,5"),
        ("neoverse_v2", "CPU_CYCLES", "31"),
        ("neoverse_v2", "CPU_CYCLES:threshold=5", "0-30"),
        ("neoverse_v2", "INST_RETIRED:threshold=5", "0-30"),
        ("olympus", "CPU_CYCLES", "0-30"),
    ),
    "filters of an SMMU, nodes of a mesh": (
        ("smmuv3", "cycles:filter_enable=1:filter_stream_id=1"
                   " transaction:filter_enable=1:filter_stream_id=2", "! filter all events"),
        ("smmuv3", "cycles:filter_enable=1:filter_stream_id=1"
                   " transaction:filter_enable=1:filter_stream_id=1", "- -"),
        ("smmuv3", "cycles:filter_enable=1:filter_span=1"
                   " transaction:filter_enable=1", "! filter all events"),
        ("arm_cmn", " ".join("hnf_" + n for n in (
            "cache_miss", "slc_sf_cache_access", "cache_fill", "pocq_retry", "pocq_reqs_recvd")),
         "! 4 counters for its nodes"),
        ("arm_cmn", "hnf_cache_miss%s hnf_cache_fill%s hnf_sf_hit%s hnf_mc_reqs%s"
         % ((NODE,) * 4), "- - - -"),
        ("arm_cmn", " ".join("r%x" % (7 << 16 | n << 32 | 1 << 31 | 5) for n in range(8)),
         " ".join("-" * 8)),
        ("arm_cmn", " ".join("r%x" % (n % 4 + 1 << 16 | n // 4 << 32 | 5) for n in range(9)),
         "! 8 counters"),
        ("arm_cmn", "rf0005 r80f0005", "! one selector of occupancy"),
        ("arm_cmn", "rf0005 rf0005", "- -"),
        ("arm_cmn", "r7770 r7770 r7770", "! two watchpoints for each direction"),
    ),
    "one at a time": (
        ("amd_ibs_op", "clocks dispatched_ops", "! one event at a time"),
        ("amd_ibs_fetch", "fetches l3_misses", "! one event at a time"),
        ("spe", "loads stores", "! one event at a time"),
        ("spe", "loads", "-"),
    ),
    "counters that firmware gives": (
        ("u74 bullet_07 bullet_0d p550", "DCACHE_RELEASE ITLB_MISS", "- -"),
        ("u74", "DCACHE_RELEASE ITLB_MISS DTLB_MISS", "! two programmable counters"),
        ("p550 p650 bullet_07", " ".join("r%x" % (n << 8 | 1) for n in range(30)),
         "! at most 29 programmable counters"),
        ("riscv_sbi", " ".join(["FW_ACCESS_LOAD"] * 30), " ".join("-" * 30)),
    ),
    "raw events of Apple": (
        ("m1_firestorm m1_icestorm m2_avalanche m2_blizzard", "rf5 rf6 rf7", "2,4,6 2,4,6 2,4,6"),
        ("m1_firestorm m2_avalanche", "rf5 rf6 rf7 rfd", "! counters 2, 4 and 6"),
        ("m1_firestorm m2_avalanche", "rf8", "2-7"),
        ("m1_firestorm", "--unavailable 2-7 rf8", "!"),
    ),
    "counter sets of s390": (
        ("cf_z10 cf_z196 cf_zec12 cf_z13 cf_z14", "r50", "! ends at 79"),
        ("cf_z15 cf_z16 cf_z17", "r53", "-"),
        ("cf_z15 cf_z16 cf_z17", "r54", "! ends at 83"),
        ("cf_z10", "ra0", "! ends at 159"),
        ("cf_z196", "rb0", "! ends at 175"),
        ("cf_zec12 cf_z13 cf_z14", "r100", "! ends at 255"),
        ("cf_z15 cf_z16 cf_z17", "r120", "! ends at 287"),
        ("cf_z10 cf_z196 cf_zec12", "r1c0", "!"),
        ("cf_z13 cf_z17", "r1c0 r1ef", "- -"),
        ("cf_z13 cf_z17", "r6", "! six counters each"),
    ),
    "extra registers of Intel's cores": (
        ("nhm_ep", "OFFCORE_RESPONSE.ANY_DATA.ANY_DRAM OFFCORE_RESPONSE.ANY_RFO.ANY_DRAM",
         "! the same extra register"),
        ("icx", "OCR.DEMAND_DATA_RD.L3_MISS OCR.DEMAND_RFO.L3_MISS", "0-3 0-3"),
        ("icx", "OCR.DEMAND_DATA_RD.L3_MISS OCR.DEMAND_RFO.L3_MISS"
                " OCR.HWPF_L1D_AND_SWPF.L3_MISS", "! the same extra register"),
        ("knl", "OFFCORE_RESPONSE.ANY_READ.OUTSTANDING OFFCORE_RESPONSE.ANY_PF_L2.OUTSTANDING",
         "! the same extra register"),
        ("skl spr", "FRONTEND_RETIRED.DSB_MISS FRONTEND_RETIRED.L1I_MISS",
         "! the same extra register"),
        ("skl icl", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_64 " + LATENCY, "!"),
        # Four registers of Nova Lake, each with its unit mask.
        ("nvl_coyotecove", OMR + "L3_MISS " + OMR + "L3_HIT_SAME_CBB " + OMR + "MEM_REGION_1 " +
         OMR + "L3_HIT_SAME_CBB_SNP_HIT_NO_FWD", "0-3 0-3 0-3 0-3"),
    ),
    "counters of single events": (
        ("icl", "INST_RETIRED.PREC_DIST INST_RETIRED.ANY", "! fixed counter 0"),
        ("snb ivb hsw bdw", "INST_RETIRED.PREC_DIST", "1"),
        ("m1_firestorm", "RETIRE_UOP", "7"),
        ("lnl_skymont", "TOPDOWN_BAD_SPECULATION.ALL TOPDOWN_FE_BOUND.ALL TOPDOWN_RETIRING.ALL",
         "F4 F5 F6"),
        ("imx8_ddr", "axid-read:axi_id=1 axid-write:axi_id=2", "! one filter of masters"),
        ("imx8_ddr", "axid-read:axi_id=1 axid-write:axi_id=1", "1-3 1-3"),
        ("imx9_ddr", "cycles cycles", "! counter 0"),
        ("imx9_ddr", "ddrc_qx_row_open_3 ddrc_qx_row_open_3", "! counter 4"),
    ),
}

# Registers that a set needs beside those of its events' counters: (PMU, events, name, value).
REGISTERS = (
    ("amdzen3", FLOPS, 1, 0xf004000ff),
    ("amdzen1", "ex_ret_instr " + FLOPS, 1, 0xf004000ff),
    ("skx_uncore_pcu", BAND + "10 " + BAND + "20", 0, 0xc),
    ("skx_uncore_pcu", BAND + "10 " + BAND + "20", 1, 0x1400),    # config1
    ("knl", "OFFCORE_RESPONSE.ANY_PF_L2.DDR_NEAR OFFCORE_RESPONSE.ANY_READ.DDR_NEAR", 1, 0x5302b7),
    ("nvl_coyotecove", OMR + "L3_MISS " + OMR + "L3_HIT_SAME_CBB", 1, 0x5302d6),
    ("amdzen4", "ex_ret_instr", "GLOBAL_CTRL", 1),
)

# Sentences of pfm show about an event or a PMU.
TRAPS = (
    ("snb::MEM_LOAD_UOPS_RETIRED.L1_HIT", "the same counter of the other hyper-thread must be unused"),
    ("jkt::MEM_LOAD_UOPS_RETIRED.L1_HIT", "gives a thread half of the counters"),
    ("ivb::MEM_LOAD_UOPS_RETIRED.L1_HIT", "BJ122, BV98 and HSD29"),
    ("ivt", "the same counter of the other hyper-thread must be unused"),
    ("hsw::MEM_LOAD_UOPS_RETIRED.L1_HIT", "the same counter of the other hyper-thread"),
    ("nhm_ep::OFFCORE_RESPONSE.ANY_DATA.ANY_DRAM", "share the OFFCORE_RSP registers"),
    ("slm", "the cores of a module, share the OFFCORE_RSP registers"),
    ("skl::OFFCORE_RESPONSE.DEMAND_RFO.ANY_RESPONSE", "OFFCORE_RSP registers of its own"),
    ("skl", "one filter of recorded branches (LBR_SELECT)"),
    ("adl_goldencove", "written to Processor Trace all together or not at all"),
    ("srf", "counts of events (branch counters)"),
    ("gnr", "counts of events (branch counters)"),
    ("gnr::INST_RETIRED.ANY_P", "latency of retirement (weight) come from counters 1 to 7"),
    ("mtl_redwoodcove", "latency of retirement (weight)"),
    ("lnl_lioncove", "latency of retirement (weight)"),
    ("icl::TOPDOWN.SLOTS", "starts from 0 and is not sampled"),
    ("icl::PERF_METRICS.RETIRING", "need TOPDOWN.SLOTS (0x400) as the first event"),
    ("spr::TOPDOWN.SLOTS", "count the same levels"),
    ("amd64_k8_revf::MEMORY_CONTROLLER_PAGE_TABLE_OVERFLOWS", "one core at a time"),
    ("amd64_fam16h", "all cores of a northbridge share its counters"),
    ("amdzen3", "sampling with branches (BRS) takes counter 0"),
    ("amdzen3::" + FLOPS, "takes an even counter and the next one"),
    ("nhm_ep", "must count the codes 0x4300b5, 0x4300d2, 0x4300b1"),
    ("hsw::INST_RETIRED.ANY_P", "write GLOBAL_CTRL first"),
    ("icx_uncore_imc_free_running", "nothing starts, stops or resets it"),
    ("imx8_ddr::axid-read", "one filter of masters"),
    ("power8", "so Linux refuses codes that need one, as in every guest"),
    ("spr::" + LATENCY, "need LD_BLOCKS.STORE_FORWARD (0x8203) before them"),
    ("power9::PM_L2_ST_MISS_128B", "on counter 4 before it"),
    ("bdw::UOPS_ISSUED.ANY", "counters 4 to 7 read 0 for events of user mode alone"),
    ("skl::UOPS_ISSUED.ANY", "microcode keeps counter 3 for transactions"),
    ("skx", "aborts all transactions (RTM) while it counts"),
    ("hsw::UOPS_ISSUED.ANY", "counts of any thread are wrong at one level alone"),
    ("skl::MEM_LOAD_RETIRED.L3_MISS", "the event counts wrong at one level alone"),
    ("cortex_a72::CHAIN", "counts the overflows of the event before it"),
    ("olympus::CPU_CYCLES", "in which the core waits for an interrupt (WFI)"),
    ("u74", "of which the firmware (SBI) chooses one for each event"),
    ("cf_z13", "only while SMT is on"),
    ("cf_z15::PROBLEM_STATE_CPU_CYCLES", "whatever levels the set counts"),
    ("snb::L1D_PEND_MISS.FB_FULL", "events of code 0x48 count on counter 2"),
    ("skl::FRONTEND_RETIRED.DSB_MISS", "has one value at a time"),
    ("icx::OCR.DEMAND_RFO.L3_MISS", "another value of a set takes MSR 0x1a7"),
)


def run(*args):
    return subprocess.run([PFM, *args], capture_output=True, text=True, timeout=60, check=False)


def read_counters(text):
    """The counters in a list such as 0-3,F0, as pfm prints them; none is None."""
    out = set()
    for part in text.split(","):
        m = re.fullmatch(r"(F?)(\d+)(?:-(\d+))?", part)
        numbers = range(int(m[2]), int(m[3] or m[2]) + 1) if m else ()
        out |= {"F%d" % n if m[1] else n for n in numbers} or {None}
    return out


class Sets(unittest.TestCase):
    maxDiff = None

    def check(self, pmu, words, expected):
        r = run("dispatch", "--json", "--pmu", pmu, *words.split())
        o = json.loads(r.stdout or "{}")
        if expected.startswith("!"):
            self.assertEqual(r.returncode, 1, r.stdout + r.stderr)
            self.assertIn(expected[2:], o["error"]["message"])
            return
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        counters = [e["counter"] for e in o["events"]]
        for counter, allowed in zip(counters, expected.split(), strict=True):
            self.assertIn(counter, read_counters(allowed), counters)
        taken = [c for c in counters if c is not None]
        self.assertEqual(len(taken), len(set(taken)), counters)

    def test_sets_are_placed_or_refused_as_the_hardware_counts_them(self):
        for kind, cases in CASES.items():
            for pmus, words, expected in cases:
                for pmu in pmus.split():
                    with self.subTest(kind, pmu=pmu, set=words):
                        self.check(pmu, words, expected)

    def test_sets_have_the_registers_of_companions_and_of_moved_events(self):
        for pmu, words, register, value in REGISTERS:
            o = json.loads(run("dispatch", "--json", "--pmu", pmu, *words.split()).stdout)
            found = [(r.get("name"), r.get("num"), int(r["value"], 16)) for r in o["pmc"]]
            if "global_ctrl" in o:
                found.append(("GLOBAL_CTRL", None, int(o["global_ctrl"]["value"], 16)))
            self.assertTrue([f for f in found if register in f[:2] and f[2] == value],
                            (pmu, words, found))


class Traps(unittest.TestCase):
    def test_show_tells_traps(self):
        for name, sentence in TRAPS:
            with self.subTest(name, sentence=sentence):
                self.assertIn(sentence, " ".join(run("show", name).stdout.split()))


if __name__ == "__main__":
    main()
