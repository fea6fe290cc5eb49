#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Metrics with one name everywhere: defined with the contract's unit, or refused with a reason.

Values are compared with arithmetic on made-up counts, written here by hand.
"""

import json
import os
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
    ("c1_ultra", "topdown_backend",
     {"STALL_SLOT_BACKEND": 300, "CPU_CYCLES": 110, "IMP_WFX_CLOCK_CYCLES": 10}, 0.3),
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

    def test_values(self):
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
