#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Metrics under the names of Linux and PerfSpect, beside their formulas: the lists
data/newer/*_metrics.csv of $PERFMON_SHARED, by default the folder `shared` beside the sources.

The formulas of both are computed from the same made-up counts."""

import csv
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import unittest

from tap import main

ROOT = os.path.join(os.environ["PERFMON_TESTS"], "..")
PFM = os.environ.get("PFM", "pfm")
SHARED = os.environ.get("PERFMON_SHARED", os.path.join(ROOT, "..", "shared"))
LISTS = os.path.join(SHARED, "data", "newer")
NAME = re.compile(r"#?[A-Za-z_][A-Za-z0-9_.]*(?:\(0x[0-9a-f]+\))?")
SECONDS = 2.5
# Names of ours for codes that a list's formulas use without a name.
CODES = {
    0x1001: "SP_FLUSHES", 0x100d: "BR_MIS_PRED_POP", 0x1010: "BR_MIS_PRED_INDIRECT",
    0x1013: "BR_MIS_PRED_PUSH_0", 0x1016: "BR_MIS_PRED_PUSH_1", 0x2004: "ROB_STALL_CYCLE",
    0x2005: "PC_BUFFER_STALL_CYCLE", 0x2006: "PTAG_STALL_CYCLE_0", 0x2007: "PTAG_STALL_CYCLE_1",
    0x2008: "PTAG_STALL_CYCLE_2", 0x2010: "SYNC_STALL_CYCLE", 0x2012: "NUKE_FLUSHES",
    0x2013: "OOO_FLUSHES", 0x201d: "FETCH_LATENCY_CYCLE", 0x201e: "SAVEOPQ_STALL_CYCLE",
    0x7002: "DIVIDER_STALL_CYCLE", 0x7003: "FSU_STALL_CYCLE", 0x7005: "MEM_STALL_ANYSTORE",
}
# Formulas that a list leaves to Arm's standard ones.
STANDARD = {"backend_bound": "100 * STALL_SLOT_BACKEND / (#slots * CPU_CYCLES)"}
# Arithmetic of the test: what a formula of a list may call.
FUNCTIONS = {"d_ratio": lambda a, b: a / b if b else 0.0, "max": max, "min": min}


def count_of(name):
    """A made-up count of an event: the same for the same name, not 0, not round."""
    digest = hashlib.sha256(name.lower().encode()).digest()
    return 1000.0 + int.from_bytes(digest[:4], "little") % 900001


def scale_of(unit):
    """The factor of a list's scale_unit: "1e3per_1k_instr" -> 1000, "100%" -> 100."""
    m = re.match(r"[0-9.]+(?:e-?[0-9]+)?", unit)
    return float(m[0]) if m else 1.0


@unittest.skipUnless(os.path.isdir(LISTS), "no lists to compare with")
class BesideLists(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.rows = {}
        for name in ("amd", "arm"):
            with open(os.path.join(LISTS, name + "_metrics.csv"), encoding="utf-8") as f:
                for row in csv.DictReader(f):
                    if row["formula"].startswith("ArchStdEvent"):
                        row["formula"] = STANDARD.get(row["metric"], row["formula"])
                    cls.rows.setdefault(row["core"], {})[row["metric"]] = row

    def compute(self, core, formula, depth=0):
        """The value of a list's formula, and the names of the events that it read."""
        used, values = set(), {}

        def replace(match):
            name = match[0]
            if name in FUNCTIONS:
                return name
            if name in self.rows[core] and name not in used and depth < 5 and name != formula:
                value, more = self.compute(core, self.rows[core][name]["formula"], depth + 1)
                used.update(more)
            elif name == "duration_time":
                value = SECONDS
            elif name == "#slots":
                value = 8.0
            else:
                code = re.match(r"event\((0x[0-9a-f]+)\)", name)
                name = CODES[int(code[1], 0)] if code else name
                value = count_of({"instructions": "ex_ret_instr"}.get(name, name))
                used.add(name)
            key = "v%d" % len(values)
            values[key] = value
            return key

        text = NAME.sub(replace, re.sub(r"\b1e([0-9])", lambda m: "1" + "0" * int(m[1]), formula))
        return eval(text, {"__builtins__": {}}, {**FUNCTIONS, **values}), used

    def answer(self, requests):
        lines = "".join(json.dumps(r) + "\n" for r in requests)
        done = subprocess.run([PFM, "metric", "--json", "-"], input=lines, capture_output=True,
                              text=True, check=False)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def list_tables(self, core):
        return [core] + [core + "_amd_" + box for box in ("l3", "umc", "df")
                         if core.startswith("amd")]

    def make_requests(self, core):
        """(name, table, value of the list's formula, request) of each metric of a list."""
        for name, row in sorted(self.rows[core].items()):
            try:
                value, used = self.compute(core, row["formula"])
            except (SyntaxError, NameError, ZeroDivisionError, TypeError):
                continue        # "ArchStdEvent of Arm" and the like
            counts = {n: count_of(n) for n in used}
            counts["ex_ret_instr"] = count_of("ex_ret_instr")
            for table in self.list_tables(core):
                yield name, table, value * scale_of(row["scale_unit"]), {
                    "id": 0, "pmu": table, "metric": name, "counts": counts,
                    "constants": {"#duration_ms": 1000 * SECONDS, "#slots": 8}}

    def test_values(self):
        wrong, same = [], {}
        for core in self.rows:
            made = [m for m in self.make_requests(core)]
            for (name, table, want, _), got in zip(made, self.answer([m[3] for m in made])):
                if "error" in got:
                    continue        # a metric of the list that the table lacks
                value = got["value"]
                if value is None or not math.isclose(value, want, rel_tol=1e-9, abs_tol=1e-9):
                    wrong.append((table, name, value, want, got.get("missing")))
                else:
                    same[core] = same.get(core, 0) + 1
        self.assertEqual(wrong, [])
        for core, least in (("amdzen5", 63), ("amdzen6", 48), ("olympus", 103), ("ampereone", 55),
                            ("ampereonex", 63), ("hip08", 33)):
            self.assertGreaterEqual(same.get(core, 0), least, core)


if __name__ == "__main__":
    main()
