#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pfm explain`: programs with planted limits, whose counts a model makes up, on three processors;
programs that wait, which no model changes; rules that claim something without evidence.

    PERFMON_LONG  every program on every processor, and 20 runs of the balanced one
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from tap import main
from waiting import wait_until

PFM = os.environ.get("PFM", "pfm")
RULES = os.path.join(os.environ.get("PERFMON_SOURCE", "."), "tools", "explain", "rules.py")
LONG = bool(os.environ.get("PERFMON_LONG"))
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(("PERFMON_", "PERF_", "LIBPFM_", "LC_", "LSAN_", "ASAN_"))}
BOTTLENECK = os.path.join(os.environ.get("PERFMON_BUILD", "."), "tests", "bottleneck")
REGIONS = os.path.join(os.environ.get("PERFMON_BUILD", "."), "tests", "region_loop")
SOURCE = os.path.join(os.environ.get("PERFMON_SOURCE", "."), "tests", "command", "programs",
                      "bottleneck.c")
SECONDS = "0.3"
# Nanoseconds of a load, and gigabytes a second that the memory delivers.
MEMORY = "90,20"
# Shares of slots: front end, bad speculation, back end by memory and by core; the rest retires.
# Misses in 1,000 instructions: branches, level 1, 2 and 3, data and instruction TLB.
# Loads that a store holds up, in 1,000 instructions, and clocks of a divider.
BALANCED = {"front": .1, "bad": .05, "memory": .1, "core": .1, "branch": 1, "l1": 5, "l2": 1,
            "l3": .2, "dtlb": .5, "itlb": .1, "forward": .1, "divider": .02}
SLOW = {"memory": .4}
# A program, what differs from the balanced one, and the nodes that explain it. Where the place is
# that of another event than time, it is by this meaning.
PROGRAMS = {
    "front-end": ({"front": .45}, ["front-end"]),
    "bad-speculation": ({"bad": .3, "branch": 12}, ["bad-speculation", "mispredicted-branches"]),
    "level-1": (SLOW, ["memory", "memory-l1"]),
    "forwarding": ({"memory": .3, "forward": 20}, ["memory", "memory-forwarding"]),
    "level-2": ({**SLOW, "l1": 60}, ["memory", "memory-l2"]),
    "level-3": ({**SLOW, "l1": 60, "l2": 20}, ["memory", "memory-l3"]),
    "latency": ({**SLOW, "l1": 20, "l2": 12, "l3": 10}, ["memory", "memory-latency"]),
    "bandwidth": ({"memory": .6, "l1": 60, "l2": 50, "l3": 40}, ["memory", "memory-bandwidth"]),
    "tlb": ({**SLOW, "dtlb": 20}, ["memory", "memory-tlb"]),
    "division": ({"core": .45, "divider": .6}, ["core", "core-divider"]),
}
# What a processor has no event of is not kept apart.
INSTEAD = {("neoverse_v2", "forwarding"): ["memory", "memory-l1"],
           ("neoverse_v2", "division"): ["core"]}
# Programs of the short run.
SHORT = ("bad-speculation", "forwarding", "latency", "bandwidth")
ITLB = ({"front": .4, "itlb": 4}, ["front-end", "front-end-itlb"])


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
        "DTLB_LOAD_MISSES.WALK_COMPLETED": "dtlb", "ITLB_MISSES.WALK_COMPLETED": "itlb",
        "LD_BLOCKS.STORE_FORWARD": "forward", "ARITH.DIV_ACTIVE": "divider"}


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
        "ls_l1_d_tlb_miss.all_l2_miss": "dtlb", "bp_l1_tlb_miss_l2_tlb_miss.all": "itlb",
        "ls_bad_status2.stli_other": "forward", "ex_div_busy": "divider"}


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


CYCLES = ("CPU_CLK_UNHALTED.", "CPU_CYCLES", "ls_not_halted_cyc", "cpu-cycles", "cycles")
PLACES = ("MEM_LOAD_RETIRED", "ls_dmnd_fills_from_sys", "L1D_CACHE_REFILL_RD",
          "L2D_CACHE_REFILL_RD")


def make_model(cpu, program):
    """The model of a program: 3 cycles in a nanosecond, 2 instructions in a cycle."""
    p = {**BALANCED, **program}
    make, instructions = PROCESSORS[cpu]
    per_cycle, misses = make(p, 1 - p["front"] - p["bad"] - p["memory"] - p["core"])
    lines = ["event %s* %.9f * clock" % (instructions, 6)]
    # Names that begin other names come last.
    counted = per_cycle + [(name, p[key] if key == "divider" else 2 * p[key] / 1000)
                           for name, key in misses.items()]
    for name, value in sorted(counted, key=lambda c: -len(c[0])):
        lines.append("event %s* %.9f * clock" % (name, 3 * value))
    # Clocks, and events that only show places.
    lines += ["event %s* 3 * clock" % name for name in CYCLES]
    lines += ["event %s* 0.1 * clock" % name for name in PLACES]
    return "\n".join(lines + ["event * 0", ""])


def explain(*command, cpu=None, model=None, options=()):
    """The answer of pfm explain --json."""
    words = [PFM, "explain", "--json", "--memory", MEMORY, *options, "--", *command]
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


def find_line(name):
    """The line of the program's source whose comment is @name."""
    with open(SOURCE, encoding="ascii") as f:
        return next(n for n, line in enumerate(f, 1) if "/* %s */" % name in line)


def obstacle():
    """Why this machine cannot pretend; None if it can."""
    done = subprocess.run([PFM, "pretend", "--cpu", "skl", "--", "true"], env=CLEAN,
                          capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip() or "pfm pretend fails"


WHY = obstacle()


def nodes_of_the_core(answer):
    """Names of nodes but those about time without a CPU: the machine may be busy."""
    return [n["node"] for n in answer["nodes"] if n["node"] not in ("no-cpu", "off-cpu")]


@unittest.skipIf(WHY, WHY)
class Planted(unittest.TestCase):
    def check_program(self, name, cpu):
        program, expected = PROGRAMS[name]
        answer, done = explain(BOTTLENECK, name, SECONDS, cpu=cpu, model=make_model(cpu, program))
        self.assertEqual(done.stderr, "")
        self.assertEqual(nodes_of_the_core(answer), INSTEAD.get((cpu, name), expected),
                         "%s on %s: %s" % (name, cpu, answer["evidence"]))
        self.assertTrue(answer["pretended"])
        self.check_place(answer["nodes"][-1], name)
        return answer

    def check_place(self, node, name):
        """The function and the line of the work have most of the samples."""
        place = node["where"][0]
        self.assertEqual(os.path.basename(place["source"]), "bottleneck.c:%d" % find_line(name),
                         node)
        self.assertGreater(place["share"], 0.5, node)
        self.assertGreaterEqual(place["share"], place["line_share"])

    def test_planted_limits_are_found_with_their_lines(self):
        """On each processor 11 of the 12 programs have the right node: ten here, waits below."""
        cpus = list(PROCESSORS)
        for i, name in enumerate(PROGRAMS):
            for cpu in cpus if LONG else [cpus[i % 3]] if name in SHORT else []:
                self.check_program(name, cpu)

    def test_instructions_of_the_place_have_addresses(self):
        answer = self.check_program("division", "spr")
        place = answer["nodes"][-1]["where"][0]
        self.assertEqual(place["function"], "divide")
        self.assertIn("DIV_ACTIVE", place["event"])
        self.assertGreater(place["address"], 0)

    def test_misses_of_the_instruction_tlb_are_a_part_of_the_front_end(self):
        answer, _ = explain(BOTTLENECK, "front-end", SECONDS, cpu="spr",
                            model=make_model("spr", ITLB[0]))
        self.assertEqual(nodes_of_the_core(answer), ITLB[1])

    def test_a_balanced_program_has_no_limit(self):
        for i in range(20 if LONG else 1):
            cpu = list(PROCESSORS)[i % 3]
            answer, _ = explain(BOTTLENECK, "balanced", SECONDS, cpu=cpu,
                                model=make_model(cpu, {}))
            self.assertEqual(nodes_of_the_core(answer), [], answer["evidence"])

    def test_a_program_whose_slots_retire_does_useful_work(self):
        busy = {"front": .05, "bad": .02, "memory": .05, "core": .05}
        for cpu in PROCESSORS if LONG else ["neoverse_v2"]:
            answer, _ = explain(BOTTLENECK, "balanced", SECONDS, cpu=cpu,
                                model=make_model(cpu, busy))
            self.assertEqual(nodes_of_the_core(answer), ["useful-work"], answer["evidence"])

    def test_a_program_that_sleeps_is_not_limited_by_memory(self):
        """Though the model says that its counts are those of memory."""
        for cpu in PROCESSORS if LONG else ["spr"]:
            answer, _ = explain(BOTTLENECK, "sleeping", "0.6", cpu=cpu,
                                model=make_model(cpu, SLOW))
            self.assertEqual([n["node"] for n in answer["nodes"]], ["waiting", "waiting-sleeps"])
            self.check_place(answer["nodes"][-1], "sleeping")

    def test_threads_that_wait_for_a_lock_are_found_where_they_take_it(self):
        for cpu in PROCESSORS if LONG else ["amdzen5"]:
            answer, _ = explain(BOTTLENECK, "lock-contention", "0.6", cpu=cpu,
                                model=make_model(cpu, SLOW))
            self.assertEqual([n["node"] for n in answer["nodes"] if n["node"] != "no-cpu"],
                             ["locks"], answer["evidence"])
            places = {p["function"]: p for p in answer["nodes"][-1]["where"]}
            self.assertEqual(os.path.basename(places["take_lock"]["source"]),
                             "bottleneck.c:%d" % find_line("lock-contention"), places)

    def test_regions_are_explained_one_by_one(self):
        answer, done = explain(REGIONS, "2000000", cpu="spr", options=("--regions",),
                               model=make_model("spr", PROGRAMS["bandwidth"][0]))
        self.assertEqual(done.stderr, "")
        self.assertNotIn("nodes", answer)
        names = [r["region"] for r in answer["regions"]]
        self.assertEqual(len(set(names)), len(names), names)
        self.assertGreater(len(names), 0)
        for region in answer["regions"]:
            if "off-cpu" not in [n["node"] for n in region["nodes"]]:
                self.assertEqual(nodes_of_the_core(region), ["memory", "memory-dram"], region)

    def test_once_means_that_the_program_runs_once(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runs")
            shell = ("sh", "-c", "echo run >>%s; exec %s division %s" % (path, BOTTLENECK, SECONDS))
            model = make_model("spr", PROGRAMS["division"][0])
            runs = []
            for options in ((), ("--once",)):
                answer, done = explain(*shell, cpu="spr", model=model, options=options)
                self.assertEqual(done.stderr, "")
                with open(path, encoding="ascii") as f:
                    runs.append(len(f.readlines()))
                self.check_place(answer["nodes"][-1], "division")
            self.assertEqual(runs, [2, 3])

    def test_the_second_run_can_be_interrupted_as_the_first(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "signals")
            shell = ("sh", "-c", "grep SigIgn /proc/self/status >>%s; exec %s division %s"
                     % (path, BOTTLENECK, SECONDS))
            explain(*shell, cpu="spr", model=make_model("spr", PROGRAMS["division"][0]))
            with open(path, encoding="ascii") as f:
                first, second = f.readlines()
        self.assertEqual(first, second)

    def test_a_process_that_runs_is_explained(self):
        script = '"$0" division 60 & "$1" explain --json --timeout 1 -p $!; kill $!'
        with tempfile.NamedTemporaryFile("w", suffix=".model") as f:
            f.write(make_model("spr", PROGRAMS["division"][0]))
            f.flush()
            os.chmod(f.name, 0o644)
            done = subprocess.run(
                [PFM, "pretend", "--cpu", "spr", "--model", f.name, "--", "sh", "-c", script,
                 BOTTLENECK, PFM], env=CLEAN, capture_output=True, text=True, timeout=300,
                check=False)
        self.assertEqual(done.stderr, "")
        answer = json.loads(done.stdout)
        self.assertEqual(nodes_of_the_core(answer), ["core", "core-divider"], answer["evidence"])
        self.check_place(answer["nodes"][-1], "division")


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

    def test_the_system_is_explained(self):
        done = subprocess.run([PFM, "explain", "--json", "-a", "--timeout", "1"], env=CLEAN,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        answer = json.loads(done.stdout)
        self.assertEqual(answer["target"], "-a")
        self.assertGreater(answer["seconds"], 0.9)
        for value in answer["evidence"]:
            self.assertTrue(("value" in value) != ("reason" in value), value)

    def test_an_interrupt_ends_the_measurement_of_what_it_did_not_start(self):
        def has_interrupt(pid):
            """True once the command has chosen what an interrupt does."""
            with open("/proc/%d/status" % pid, encoding="ascii") as f:
                lines = dict(line.split(":\t", 1) for line in f if line.startswith("Sig"))
            return (int(lines["SigCgt"], 16) | int(lines["SigIgn"], 16)) >> (signal.SIGINT - 1) & 1

        with subprocess.Popen([PFM, "explain", "--json", "-p", str(os.getpid()), "--timeout", "30"],
                              env=CLEAN, stdout=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as p:
            wait_until(lambda: has_interrupt(p.pid))
            p.send_signal(signal.SIGINT)
            answer = json.loads(p.stdout.read())
        self.assertEqual(p.returncode, 0)
        self.assertLess(answer["seconds"], 30)

    def test_the_speed_of_the_memory_is_measured_where_it_is_needed(self):
        answer, _ = explain("sleep", "0.3")
        self.assertEqual(answer["memory"], {"nanoseconds": 90, "bytes_a_second": 20e9,
                                            "measured": False})
        for value in answer["evidence"]:
            self.assertTrue(("value" in value) != ("reason" in value), value)

    def test_the_status_is_that_of_the_program(self):
        _, done = explain("sh", "-c", "sleep 0.2; exit 7")
        self.assertEqual(done.returncode, 7)

    def test_wrong_requests(self):
        for words, status, text in (([], 2, "expected a program"), (["-p", "x"], 2, "-p"),
                                    (["-a", "true"], 2, "expected a program"),
                                    (["-p", "1", "--regions"], 2, "needs a program"),
                                    (["--memory", "7", "true"], 2, "--memory"),
                                    (["--memory", "7,x", "true"], 2, "--memory"),
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
