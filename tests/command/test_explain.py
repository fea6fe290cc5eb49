#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pfm explain`: programs with planted limits, whose counts a model makes up, on three processors;
programs that wait, which no model changes; rules that claim something without evidence.

    PERFMON_LONG  every program on every processor, and 20 runs of the balanced one
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from tap import main

PFM = os.environ.get("PFM", "pfm")
RULES = os.path.join(os.environ.get("PERFMON_SOURCE", "."), "tools", "explain", "rules.py")
LONG = bool(os.environ.get("PERFMON_LONG"))
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(("PERFMON_", "PERF_", "LIBPFM_", "LC_", "LSAN_", "ASAN_"))}
WORK = ("sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")
# Shares of slots: front end, bad speculation, back end by memory and by core; the rest retires.
# Misses in 1,000 instructions: branches, level 1, 2 and 3, data and instruction TLB.
BALANCED = {"front": .1, "bad": .05, "memory": .1, "core": .1, "branch": 1, "l1": 5, "l2": 1,
            "l3": .2, "dtlb": .5, "itlb": .1}
MEMORY = {"memory": .4}
# A program, what differs from the balanced one, and the nodes that explain it.
PROGRAMS = {
    "front end": ({"front": .45}, ["front-end"]),
    "instruction TLB": ({"front": .4, "itlb": 4}, ["front-end", "front-end-itlb"]),
    "bad speculation": ({"bad": .3, "branch": 12}, ["bad-speculation", "mispredicted-branches"]),
    "level 1": (MEMORY, ["memory", "memory-l1"]),
    "store forwarding": ({"memory": .3}, ["memory", "memory-l1"]),
    "level 2": ({**MEMORY, "l1": 60}, ["memory", "memory-l2"]),
    "level 3": ({**MEMORY, "l1": 60, "l2": 20}, ["memory", "memory-l3"]),
    "latency of memory": ({**MEMORY, "l1": 20, "l2": 12, "l3": 10}, ["memory", "memory-dram"]),
    "bandwidth of memory": ({"memory": .6, "l1": 60, "l2": 50, "l3": 40},
                            ["memory", "memory-dram"]),
    "data TLB": ({**MEMORY, "dtlb": 20}, ["memory", "memory-tlb"]),
    "division": ({"core": .45}, ["core"]),
    "balanced": ({}, []),
}


def make_spr_model(p, retired):
    """Sapphire Rapids counts shares of six slots a cycle."""
    backend = p["memory"] + p["core"]
    return [("TOPDOWN.SLOTS", 6), ("PERF_METRICS.FRONTEND_BOUND", 6 * p["front"]),
            ("PERF_METRICS.BAD_SPECULATION", 6 * p["bad"]),
            ("PERF_METRICS.BACKEND_BOUND", 6 * backend),
            ("PERF_METRICS.MEMORY_BOUND", 6 * p["memory"]),
            ("PERF_METRICS.RETIRING", 6 * retired), ("INT_MISC.UOP_DROPPING", 0)], {
        "BR_MISP_RETIRED.ALL_BRANCHES": "branch", "L1D.REPLACEMENT": "l1",
        "L2_LINES_IN.ALL": "l2", "LONGEST_LAT_CACHE.MISS": "l3",
        "DTLB_LOAD_MISSES.WALK_COMPLETED": "dtlb", "ITLB_MISSES.WALK_COMPLETED": "itlb"}


def make_zen5_model(p, retired):
    """Zen 5 has eight slots a cycle; memory's part is that of clocks in which loads are open."""
    backend = p["memory"] + p["core"]
    return [("de_no_dispatch_per_slot.no_ops_from_frontend", 8 * p["front"]),
            ("de_src_op_disp.all", 8 * (p["bad"] + retired)), ("ex_ret_ops", 8 * retired),
            ("de_no_dispatch_per_slot.backend_stalls", 8 * backend),
            ("ex_no_retire.load_not_complete", p["memory"] / backend / 10),
            ("ex_no_retire.not_complete", .1), ("ls_not_halted_cyc", 1)], {
        "ex_ret_brn_misp": "branch", "ls_any_fills_from_sys.all": "l1",
        "l2_cache_req_stat.ic_dc_miss_in_l2": "l2", "ls_any_fills_from_sys.dram_io_all": "l3",
        "ls_l1_d_tlb_miss.all_l2_miss": "dtlb", "bp_l1_tlb_miss_l2_tlb_miss.all": "itlb"}


def make_v2_model(p, retired):
    """Neoverse V2: Arm's formulas take four slots of each misprediction from the stalls."""
    missed = 2 * p["branch"] / 1000
    front, backend = p["front"] + missed, p["memory"] + p["core"] + 3 * missed
    return [("STALL_SLOT_FRONTEND", 8 * front), ("STALL_SLOT_BACKEND", 8 * backend),
            ("STALL_SLOT", 8 * (front + backend)), ("OP_RETIRED", 8 * retired),
            ("OP_SPEC", 8 * (p["bad"] + retired - 4 * missed)), ("CPU_CYCLES", 1),
            ("STALL_BACKEND_MEM", p["memory"] / (p["memory"] + p["core"]) / 10),
            ("STALL_BACKEND", .1)], {
        "BR_MIS_PRED_RETIRED": "branch", "BR_MIS_PRED": "branch", "L1D_CACHE_REFILL": "l1",
        "L2D_CACHE_REFILL": "l2", "LL_CACHE_MISS_RD": "l3", "DTLB_WALK": "dtlb",
        "ITLB_WALK": "itlb"}


PROCESSORS = {"spr": (make_spr_model, "INST_RETIRED.ANY"),
              "amdzen5": (make_zen5_model, "ex_ret_instr"),
              "neoverse_v2": (make_v2_model, "INST_RETIRED")}


def make_model(cpu, program):
    """The model of a program: 3 cycles in a nanosecond, 2 instructions in a cycle."""
    p = {**BALANCED, **program}
    make, instructions = PROCESSORS[cpu]
    per_cycle, misses = make(p, 1 - p["front"] - p["bad"] - p["memory"] - p["core"])
    lines = ["event %s* %.9f * clock" % (instructions, 6)]
    # Names that begin other names come last.
    counted = per_cycle + [(name, 2 * p[key] / 1000) for name, key in misses.items()]
    for name, value in sorted(counted, key=lambda c: -len(c[0])):
        lines.append("event %s* %.9f * clock" % (name, 3 * value))
    return "\n".join(lines + ["event * 0", ""])


def explain(*command, cpu=None, model=None):
    """The answer of pfm explain --json."""
    words = [PFM, "explain", "--json", "--", *command]
    with tempfile.NamedTemporaryFile("w", suffix=".model") as f:
        if cpu:
            f.write(model)
            f.flush()
            os.chmod(f.name, 0o644)
            words = [PFM, "pretend", "--cpu", cpu, "--model", f.name, "--", *words]
        done = subprocess.run(words, env=CLEAN, capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, check=False)
    answer = done.stdout.splitlines()[-1:] if done.stdout else ["{}"]
    return json.loads(answer[0]), done


def obstacle():
    """Why this machine cannot pretend; None if it can."""
    done = subprocess.run([PFM, "pretend", "--cpu", "skl", "--", "true"], env=CLEAN,
                          capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip() or "pfm pretend fails"


WHY = obstacle()


def nodes_of_the_core(answer):
    """Names of nodes but those about time without a CPU: the machine may be busy."""
    return [n["node"] for n in answer["nodes"] if n["node"] != "no-cpu"]


@unittest.skipIf(WHY, WHY)
class Planted(unittest.TestCase):
    def check_program(self, name, cpu):
        program, expected = PROGRAMS[name]
        answer, done = explain(*WORK, cpu=cpu, model=make_model(cpu, program))
        self.assertEqual(done.stderr, "")
        self.assertEqual(nodes_of_the_core(answer), expected, "%s on %s: %s" % (
            name, cpu, answer["evidence"]))
        self.assertTrue(answer["pretended"])

    def test_planted_limits_are_found(self):
        cpus = list(PROCESSORS)
        for i, name in enumerate(PROGRAMS):
            for cpu in cpus if LONG else [cpus[i % 3]]:
                self.check_program(name, cpu)

    def test_a_balanced_program_has_no_limit(self):
        for i in range(20 if LONG else 1):
            self.check_program("balanced", list(PROCESSORS)[i % 3])

    def test_a_program_that_sleeps_is_not_limited_by_memory(self):
        """Though the model says that its counts are those of memory."""
        answer, _ = explain("sleep", "0.6", cpu="spr", model=make_model("spr", MEMORY))
        self.assertNotIn("memory", [n["node"] for n in answer["nodes"]
                                    if "waiting" in [m["node"] for m in answer["nodes"]]])
        self.assertIn("waiting", [n["node"] for n in answer["nodes"]])


class Software(unittest.TestCase):
    def test_short_waits_are_told_from_sleep(self):
        # The sleeps are what is explained.
        answer, _ = explain(sys.executable, "-c",
                            "import time\nfor i in range(1500): time.sleep(0.0005)")  # its waits
        names = [n["node"] for n in answer["nodes"]]
        rate = {v["metric"]: v for v in answer["evidence"]}["switch_rate"]
        self.assertGreater(rate["high"], 1000 / answer["seconds"])
        # A busy machine stretches the sleeps, and can leave undecided whether the program waits.
        if rate["low"] > 100:
            self.assertEqual("waiting" in names, "waiting-switches" in names)
            self.assertNotIn("waiting-sleeps", names)

    def test_claims_have_a_command_and_nothing_is_claimed_without_a_pmu(self):
        answer, _ = explain("sleep", "0.6")
        for node in answer["nodes"]:
            self.assertIn("-- sleep 0.6", node["command"])
            self.assertIn(node["node"], ("waiting", "waiting-sleeps", "no-cpu"))
        for value in answer["evidence"]:
            self.assertTrue(("value" in value) != ("reason" in value), value)

    def test_the_status_is_that_of_the_program(self):
        _, done = explain("sh", "-c", "sleep 0.2; exit 7")
        self.assertEqual(done.returncode, 7)

    def test_wrong_requests(self):
        for words, status, text in (([], 2, "expected a program"), (["-p", "x"], 2, "-p"),
                                    (["-a", "true"], 2, "expected a program"),
                                    (["--", "/nonexistent"], 1, "cannot run")):
            done = subprocess.run([PFM, "explain", *words], env=CLEAN, capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, status, words)
            self.assertIn(text, done.stderr)


class Rules(unittest.TestCase):
    def compile(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.rules")
            with open(path, "w", encoding="ascii") as f:
                f.write(text)
            return subprocess.run([sys.executable, RULES, os.path.join(folder, "x.c"), path],
                                  capture_output=True, text=True, check=False).stderr

    def test_a_claim_without_evidence_is_refused(self):
        rest = "say A.\nlook b\nshow c\n"
        self.assertIn("needs when", self.compile("node a\n" + rest))
        said = self.compile("node a\nwhen x > 1\nsay {ipc}.\nlook b\nshow c\n")
        self.assertIn("says {ipc}", said)
        self.assertIn("must come before", self.compile("node a under b\n"))
        self.assertIn("expected METRIC", self.compile("node a\nwhen x = 1\n"))
        self.assertEqual(self.compile("node a\nwhen x > 1\n" + rest), "")


if __name__ == "__main__":
    main()
