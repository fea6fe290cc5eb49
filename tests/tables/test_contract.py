#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Metrics with one name everywhere: defined with the contract's unit, or refused with a reason.

Values are compared with arithmetic on made-up counts, written here by hand.
"""

import json
import os
import re
import subprocess
import sys
import unittest

from tap import main

ROOT = os.path.join(os.environ["PERFMON_TESTS"], "..")
BUILD = os.environ.get("PERFMON_BUILD", os.path.join(ROOT, "build"))
PFM = os.environ.get("PFM", "pfm")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "compiler"), os.path.join(ROOT, "scripts")]
import metrics  # noqa: E402
from language import standard_metrics  # noqa: E402
from language import tables as pt  # noqa: E402
from language.event_meanings import parse_tags  # noqa: E402
from image import image_reader  # noqa: E402

# The names that fleets and benchmarks ask for, with their units.
NAMES = {
    "ipc": "insn per cycle", "cpi": "cycles per insn", "ghz": "GHz", "branch_mpki": "MPKI",
    "l1d_mpki": "MPKI", "l2_mpki": "MPKI", "l3_mpki": "MPKI", "itlb_mpki": "MPKI",
    "dtlb_mpki": "MPKI", "membw_read": "MB/s", "membw_write": "MB/s", "membw_total": "MB/s",
    "l3_hit_ratio": "ratio", "flops_sp": "GFLOP/s", "flops_dp": "GFLOP/s", "vector_ratio": "ratio",
    "topdown_frontend": "ratio", "topdown_backend": "ratio", "topdown_backend_memory": "ratio",
    "topdown_backend_core": "ratio", "topdown_bad_speculation": "ratio",
    "topdown_retired": "ratio", "power_pkg": "W", "energy_pkg": "J", "stalled_ratio": "ratio",
    "smt_contention": "ratio",
}
# (processor, metric, counts, value)
VALUES = (
    ("skx", "ipc", {"INST_RETIRED.ANY": 300, "CPU_CLK_UNHALTED.THREAD": 200}, 1.5),
    ("skx", "cpi", {"INST_RETIRED.ANY": 300, "CPU_CLK_UNHALTED.THREAD": 150}, 0.5),
    ("amdzen5", "branch_mpki", {"ex_ret_brn_misp": 4, "ex_ret_instr": 2000}, 2),
    # Requests of the prefetchers of the L1 are misses of the L1, which are counted already: AMD's
    # all_l2_cache_misses_pti has the same events.
    ("amdzen5", "l2_mpki",
     {"l2_cache_req_stat.ic_dc_miss_in_l2": 10, "l2_pf_miss_l2_hit_l3.l2_hwpf": 20,
      "l2_pf_miss_l2_l3.l2_hwpf": 30, "ex_ret_instr": 2000}, 30),
    ("amdzen6", "l2_mpki",
     {"l2_cache_req_stat.ic_dc_miss_in_l2": 10, "l2_pf_miss_l2_hit_l3.l2_hwpf": 20,
      "l2_pf_miss_l2_l3.l2_hwpf": 30, "ex_ret_instr": 2000}, 30),
    ("neoverse_v2", "l1d_mpki", {"L1D_CACHE_REFILL": 9, "INST_RETIRED": 3000}, 3),
    ("power10", "dtlb_mpki", {"PM_DTLB_MISS": 5, "PM_RUN_INST_CMPL": 1000}, 5),
    ("cf_z16", "l1d_mpki", {"L1D_DIR_WRITES": 6, "INSTRUCTIONS": 2000}, 3),
    ("p650", "itlb_mpki", {"ITLB_MISS": 7, "INSTRUCTIONS_RETIRED": 1000}, 7),
    ("gnr", "l3_hit_ratio",
     {"LONGEST_LAT_CACHE.MISS": 25, "LONGEST_LAT_CACHE.REFERENCE": 100}, 0.75),
    ("amdzen6", "topdown_frontend",
     {"de_no_dispatch_per_slot.no_ops_from_frontend": 160, "ls_not_halted_cyc": 100}, 0.2),
    ("amdzen4", "topdown_retired", {"ex_ret_ops": 300, "ls_not_halted_cyc": 100}, 0.5),
    ("neoverse_v3", "topdown_retired",
     {"OP_RETIRED": 80, "OP_SPEC": 100, "STALL_SLOT": 500, "CPU_CYCLES": 100}, 0.4),
    # Arm's SBSA formulas of the first level with five slots a clock.
    ("cortex_x2", "topdown_frontend",
     {"STALL_SLOT_FRONTEND": 150, "CPU_CYCLES": 100, "#slots": 5}, 0.3),
    ("cortex_x2", "topdown_bad_speculation",
     {"OP_RETIRED": 80, "OP_SPEC": 100, "STALL_SLOT": 250, "CPU_CYCLES": 100, "#slots": 5}, 0.1),
    # Half of the back end's clocks waited for memory.
    ("cortex_x2", "topdown_backend_memory",
     {"STALL_SLOT_BACKEND": 100, "CPU_CYCLES": 100, "#slots": 5, "STALL_BACKEND_MEM": 20,
      "STALL_BACKEND": 40}, 0.1),
    ("olympus", "topdown_backend", {"STALL_SLOT_BACKEND": 300, "CPU_SLOT": 1000}, 0.3),
    ("olympus", "topdown_backend_memory",
     {"STALL_SLOT_BACKEND": 300, "CPU_SLOT": 1000, "STALL_BACKEND_MEMBOUND": 10,
      "STALL_BACKEND": 40}, 0.075),
    # Vectors of 128 bits: two operations of double precision count once for each 128 bits.
    ("olympus", "flops_dp",
     {"FP_DP_FIXED_OPS_SPEC": 1e9, "FP_DP_SCALE_OPS_SPEC": 3e9, "#duration_ms": 2000}, 2),
    ("olympus", "membw_total",
     {"mem_bytes_rd": 3e9, "mem_bytes_wr": 1e9, "#duration_ms": 2000}, 2000),
    # Four slots a clock: 100 empty for the front end, 240 issued, 200 of them retired.
    ("hip08", "topdown_backend", {"FETCH_BUBBLE": 100, "INST_SPEC": 240, "CPU_CYCLES": 100}, 0.15),
    ("hip08", "topdown_backend_memory",
     {"FETCH_BUBBLE": 100, "INST_SPEC": 240, "CPU_CYCLES": 100, "MEM_STALL_ANYLOAD": 10,
      "EXE_STALL_CYCLE": 30}, 0.05),
    ("ampereone", "topdown_backend_memory",
     {"STALL_SLOT_BACKEND": 80, "CPU_CYCLES": 100, "#slots": 8, "STALL_BACKEND_CACHE": 20,
      "STALL_BACKEND_TLB": 4, "STALL_BACKEND": 40}, 0.06),
    ("hip08", "topdown_bad_speculation",
     {"INST_SPEC": 240, "INST_RETIRED": 200, "CPU_CYCLES": 100}, 0.1),
    ("hip08", "membw_read", {"rd_ddr_64b": 1e6, "rd_ddr_128b": 2e6, "#duration_ms": 1000}, 320),
    ("neoverse_v2", "membw_read", {"cmem_rd_data": 1e6, "#duration_ms": 1000}, 32),
    ("neoverse_v2", "l3_mpki", {"LL_CACHE_MISS_RD": 4, "INST_RETIRED": 2000}, 2),
    ("neoverse_v2", "l3_hit_ratio", {"LL_CACHE_MISS_RD": 25, "LL_CACHE_RD": 100}, 0.75),
    ("cortex_x2", "l3_hit_ratio", {"L3D_CACHE_REFILL": 25, "L3D_CACHE": 100}, 0.75),
    ("ampereone", "membw_write", {"wr_wra_sent": 1e6, "#duration_ms": 1000}, 64),
    # Intel's optimization manual, top-down method: four slots a clock; with both threads on, a
    # thread has half of the core's.
    ("ivb", "topdown_bad_speculation",
     {"UOPS_ISSUED.ANY": 240, "UOPS_RETIRED.RETIRE_SLOTS": 200, "INT_MISC.RECOVERY_CYCLES": 5,
      "INT_MISC.RECOVERY_CYCLES_ANY": 7, "CPU_CLK_UNHALTED.THREAD": 100,
      "CPU_CLK_UNHALTED.THREAD_ANY": 150, "#smt_on": 0}, 0.15),
    ("ivb", "topdown_bad_speculation",
     {"UOPS_ISSUED.ANY": 240, "UOPS_RETIRED.RETIRE_SLOTS": 200, "INT_MISC.RECOVERY_CYCLES": 5,
      "INT_MISC.RECOVERY_CYCLES_ANY": 10, "CPU_CLK_UNHALTED.THREAD": 100,
      "CPU_CLK_UNHALTED.THREAD_ANY": 150, "#smt_on": 1}, 0.2),
    ("c1_ultra", "topdown_backend",
     {"STALL_SLOT_BACKEND": 300, "CPU_CYCLES": 110, "IMP_WFX_CLOCK_CYCLES": 10}, 0.3),
)

# Names of events whose meaning is beyond doubt: a processor with one of them has the metric. They
# are written by hand, beside the patterns of the contract.
SAY = (
    ("topdown_frontend", r"STALL_SLOT_FRONTEND|IDQ_UOPS_NOT_DELIVERED\.CORE|IDQ_BUBBLES\.CORE|"
     r"TOPDOWN_FE_BOUND\.ALL(_P)?|de_no_dispatch_per_slot\.no_ops_from_frontend|FETCH_BUBBLE"),
    ("topdown_backend", r"STALL_SLOT_BACKEND|TOPDOWN_BE_BOUND\.ALL(_P)?|"
     r"TOPDOWN\.BACKEND_BOUND_SLOTS"),
    ("topdown_retired", r"UOPS_RETIRED\.(RETIRE_)?SLOTS|TOPDOWN_RETIRING\.ALL(_P)?"),
    ("l1d_mpki", r"L1D_CACHE_REFILL|L1D\.REPLACEMENT"),
    ("l2_mpki", r"L2D_CACHE_REFILL|L2_LINES_IN\.ALL"),
    ("l3_mpki", r"L3D_CACHE_REFILL|LL_CACHE_MISS_RD"),
    ("itlb_mpki", r"ITLB_WALK|L1I_TLB_REFILL|ITLB_MISSES\.WALK_COMPLETED"),
    ("dtlb_mpki", r"DTLB_WALK|L1D_TLB_REFILL|DTLB_LOAD_MISSES\.WALK_COMPLETED"),
    ("flops_dp", r"FP_DP_FIXED_OPS_SPEC|FP_ARITH_INST_RETIRED\.SCALAR_DOUBLE"),
    ("stalled_ratio", r"STALL_BACKEND|CYCLE_ACTIVITY\.STALLS_TOTAL"),
)


class Contract(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = os.path.join(BUILD, "lib", "events", "builtin.pmdb")
        with open(cls.path, "rb") as f:
            cls.tables, _ = image_reader.read_image(f.read())
        cls.cores = list(metrics.core_tables(cls.tables))

    def test_contract_has_the_required_names_and_units(self):
        found = {s.name: s.unit for s in standard_metrics.read_contract(metrics.CONTRACT)}
        self.assertEqual(found, NAMES)

    def test_defined_or_explained_on_every_processor(self):
        wrong = []
        for core, home in self.cores:
            for name, unit in NAMES.items():
                found = home.find_folded(pt.fold(name))
                if found is None:
                    wrong.append((core.name, name, "neither"))
                    continue
                _, target, kind = found
                if kind == pt.NAME_UNSUPPORTED:
                    if not home.read_text(target).startswith("cannot be measured: "):
                        wrong.append((core.name, name, home.read_text(target)))
                elif not home.read_row(target)["flags"] & pt.ROW_METRIC:
                    wrong.append((core.name, name, "an event"))
                elif home.read_value_text(target, "unit") != unit:
                    wrong.append((core.name, name, home.read_value_text(target, "unit")))
                elif "standard" not in home.read_value_text(target, "metric_group").split(";"):
                    wrong.append((core.name, name, home.read_value_text(target, "metric_group")))
        self.assertEqual(wrong, [])
        self.assertGreater(len(self.cores), 170)

    def test_the_last_level_has_its_own_number(self):
        """Processors whose last level is the second: it is not called the third."""
        for name in ("coreduo", "core2", "slm", "glm", "glp"):
            text = subprocess.run([PFM, "show", name + "::l3_mpki", name + "::l3_hit_ratio"],
                                  capture_output=True, text=True, check=True).stdout
            self.assertEqual(text.count("it has no level-3 cache"), 2, name)
            text = subprocess.run([PFM, "show", name + "::l2_mpki"], capture_output=True, text=True,
                                  check=True).stdout
            self.assertIn("formula", text, name)

    def test_show_explains_missing_metrics(self):
        """Every standard metric of every processor is shown with status 0: its formula, or the
        reason."""
        names = ["%s::%s" % (core.name, name) for core, _ in self.cores for name in NAMES]
        done = subprocess.run([PFM, "show", "--json", *names], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([a["input"] for a in answers], names)
        self.assertEqual(
            [a["input"] for a in answers if not a.get("formula") and not a.get("unsupported")], [])
        text = subprocess.run([PFM, "show", "u74::l3_mpki"], capture_output=True, text=True,
                              check=True).stdout
        self.assertIn("cannot be measured on SiFive U74", text)

    def test_most_processors_have_the_common_ones(self):
        """Figures of the time when this was written, less some: a list that loses events shows."""
        least = {"ipc": 175, "branch_mpki": 170, "l1d_mpki": 145, "l3_mpki": 90,
                 "topdown_retired": 40, "membw_total": 35}
        for name, n in least.items():
            have = sum(home.find_row(name) is not None for _, home in self.cores)
            self.assertGreaterEqual(have, n, name)

    def test_server_cores_have_most(self):
        """Of 26 metrics these cores have at least 20, with their boxes."""
        by_name = {core.name: home for core, home in self.cores}
        for name in ("neoverse_v2", "hip08", "ampereone", "olympus", "amdzen5", "amdzen6"):
            lacking = [n for n in NAMES if by_name[name].find_row(n) is None]
            self.assertLessEqual(len(lacking), 6, (name, lacking))

    def test_no_name_of_an_event_contradicts_a_refusal(self):
        wrong = []
        for core, home in self.cores:
            names = [core.read_row(i)["name"] for i in range(core.count["rows"])]
            for metric, pattern in SAY:
                found = [n for n in names if re.fullmatch(pattern, n)]
                if found and home.find_row(metric) is None:
                    wrong.append((core.name, metric, found))
        self.assertEqual(wrong, [])

    def test_a_metric_uses_boxes_of_its_processor_alone(self):
        """Broadwell's client has no memory controllers of Broadwell-DE, whose table is a
        neighbour."""
        for core, home in self.cores:
            for name in NAMES:
                row = home.find_row(name)
                for text in home.read_texts(row, "metric_inputs") if row is not None else ():
                    prefix, colons, _ = text.split("|")[0].partition("::")
                    box = next((t for t in self.tables if t.name == prefix), None)
                    if colons and box and box.flags & pt.TABLE_UNCORE:
                        family = {"grace_scf": "neoverse_v2", "vera_ucf": "olympus",
                                  "ampereone_mcu": "ampereone"}.get(prefix, box.family_name)
                        self.assertIn(family, (core.name, core.family_name), text)

    def test_tags_are_of_the_vocabulary(self):
        """Every tag, and those of some common events."""
        found = {}
        for t in self.tables:
            if t.find_field("meaning") is not None:
                for i in range(t.count["rows"]):
                    text = t.read_value_text(i, "meaning")
                    if text:
                        found[t.name, t.read_row(i)["name"]] = text
        self.assertEqual([x for x in found.items() if not parse_tags(x[1])], [])
        self.assertGreater(len(found), 2500)
        for name, text in (
            (("skx", "INST_RETIRED.ANY"), "instructions"),
            (("skx", "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE"),
             "+8*flops_sp;+fp_vectors;fp_256_sp"),
            (("skx_uncore_imc", "UNC_M_CAS_COUNT.RD"), "64*dram_read_bytes"),
            (("grace_scf", "cmem_rd_data"), "32*dram_read_bytes"),
            (("amdzen5", "ex_ret_brn_misp"), "branch_misses"),
            (("power10", "PM_LD_MISS_L1"), "l1d_misses"),
        ):
            self.assertEqual(found[name], text, name)

    def test_metrics_have_the_values_of_the_contract(self):
        lines = "".join(json.dumps({"id": i, "pmu": pmu, "metric": metric, "counts": counts}) + "\n"
                        for i, (pmu, metric, counts, _) in enumerate(VALUES))
        done = subprocess.run([PFM, "metric", "--json", "-"], input=lines, capture_output=True,
                              text=True, check=False)
        got = [json.loads(line).get("value") for line in done.stdout.splitlines()]
        self.assertEqual(len(got), len(VALUES))
        for (pmu, metric, counts, want), value in zip(VALUES, got):
            self.assertIsNotNone(value, (pmu, metric, counts))
            self.assertAlmostEqual(value, want, 12, (pmu, metric, counts))

    def test_inputs_can_be_encoded(self):
        """Each event of each metric, but energy meters, which only a machine has."""
        texts = {}
        for core, home in self.cores:
            for name in NAMES:
                row = home.find_row(name)
                for text in home.read_texts(row, "metric_inputs") if row is not None else ():
                    text = text.split("|")[0]
                    if text[0] != "#" and "/" not in text:
                        text = text if "::" in text else "%s::%s" % (home.name, text)
                        texts[text] = "%s of %s" % (name, core.name)
        done = subprocess.run([PFM, "encode", "--json", "-"], input="\n".join(texts) + "\n",
                              capture_output=True, text=True, check=False)
        wrong = [(o["input"], texts[o["input"]], o["error"]["message"])
                 for o in map(json.loads, done.stdout.splitlines()) if "error" in o]
        self.assertEqual(wrong, [])
        self.assertGreater(len(texts), 900)

    def test_top_down_shares_sum_to_one(self):
        """On AMD the shares of the first level, with the other thread's, are all slots."""
        slots, counts = 8 * 1000, {
            "ls_not_halted_cyc": 1000, "de_no_dispatch_per_slot.no_ops_from_frontend": 1700,
            "de_no_dispatch_per_slot.backend_stalls": 2300,
            "de_no_dispatch_per_slot.smt_contention": 500, "ex_ret_ops": 3000}
        counts["de_src_op_disp.all"] = slots - 1700 - 2300 - 500
        names = ("frontend", "backend", "bad_speculation", "retired")
        metrics_ = ["topdown_" + n for n in names] + ["smt_contention"]
        lines = "".join(
            json.dumps({"id": i, "pmu": "amdzen5", "metric": n, "counts": counts}) + "\n"
            for i, n in enumerate(metrics_))
        done = subprocess.run([PFM, "metric", "--json", "-"], input=lines, capture_output=True,
                              text=True, check=False)
        shares = [json.loads(line)["value"] for line in done.stdout.splitlines()]
        self.assertEqual(len(shares), 5)
        self.assertAlmostEqual(sum(shares), 1, 12)

    def test_the_page_is_of_these_tables(self):
        script = os.path.join(ROOT, "scripts", "metrics.py")
        done = subprocess.run([sys.executable, script, self.path], capture_output=True, text=True,
                              check=True)
        with open(os.path.join(ROOT, "docs", "metrics.md"), encoding="utf-8") as f:
            self.assertEqual(f.read().split("\n"), done.stdout.split("\n"))


if __name__ == "__main__":
    main()
