#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pfm check-events`: judgements of software events on this machine, and of events on pretended
machines, where a kernel does a page fault for each operation and a model says what is counted."""
import json
import os
import subprocess
import tempfile
import unittest

from tap import main

PFM = os.environ.get("PFM", "pfm")
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(("PERFMON_", "PERF_", "LIBPFM_", "LC_", "LSAN_", "ASAN_"))}
RIGHT = """
event CPU_CLK_UNHALTED.PAUSE* faults
event CPU_CLK_UNHALTED.REF* 2 * clock
event CPU_CLK_UNHALTED.* 3 * clock
event * faults
"""


def run(*words):
    return subprocess.run(words, env=CLEAN, capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, check=False)


def check(*words, model=None, cpu="spr"):
    """{event: its part of the report}, and the finished process."""
    command = [PFM, "check-events", "--json", *words]
    with tempfile.NamedTemporaryFile("w", suffix=".model") as f:
        if model:
            f.write(model)
            f.flush()
            os.chmod(f.name, 0o644)
            command = [PFM, "pretend", "--cpu", cpu, "--model", f.name, "--", *command]
        done = run(*command)
    report = json.loads(done.stdout) if done.stdout.startswith("{") else {"events": []}
    return {e["event"]: e for e in report["events"]}, report, done


def obstacle():
    """Why this machine cannot pretend; None if it can."""
    done = run(PFM, "pretend", "--cpu", "skl", "--", "true")
    return None if done.returncode == 0 else done.stderr.strip() or "pfm pretend fails"


WHY = obstacle()
BRANCHES = "spr::BR_INST_RETIRED.ALL_BRANCHES"


class Software(unittest.TestCase):
    def test_software_events_are_right_beside_another_program(self):
        """Their counts are compared with the system's own account of the thread."""
        with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy:
            try:
                events, _, done = check("page-faults", "minor-faults", "task-clock")
            finally:
                busy.kill()
        self.assertEqual(done.stderr, "")
        self.assertEqual({n: e["judgement"] for n, e in events.items()},
                         dict.fromkeys(events, "right"))
        self.assertEqual(len(events), 3)
        self.assertEqual([k["kernel"] for k in events["page-faults"]["kernels"]],
                         ["written_pages", "read_pages"])

    def test_the_report_names_the_processor_and_no_host(self):
        _, report, _ = check("page-faults")
        self.assertNotIn(os.uname().nodename, json.dumps(report["machine"]))
        self.assertIn("=", report["machine"]["processor"])
        self.assertGreater(report["seconds"], 0)
        self.assertNotIn("emulator", report["machine"])

    def test_a_report_says_which_program_emulates_the_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            done = run(PFM, "check-events", "--emulator", "QEMU", "-o", path, "page-faults")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(path, encoding="utf-8") as f:
                self.assertEqual(json.load(f)["machine"]["emulator"], "QEMU")

    def test_an_event_that_no_kernel_knows_is_not_checked(self):
        events, _, _ = check("alignment-faults")
        self.assertEqual(events["alignment-faults"]["judgement"], "not checked")
        self.assertIn("gives it no meaning", events["alignment-faults"]["reason"])

    def test_wrong_requests(self):
        for words, status, text in ((["nonsense"], 1, "nonsense"),
                                    (["--pmu", "nope"], 1, "unknown PMU 'nope'"),
                                    (["--pmu", "software", "faults"], 2, "got both"),
                                    (["-o", "/nonexistent/x", "page-faults"], 1, "nonexistent")):
            done = run(PFM, "check-events", *words)
            self.assertEqual(done.returncode, status, words)
            self.assertIn(text, done.stderr)


@unittest.skipIf(WHY, WHY)
class Pretended(unittest.TestCase):
    def judge(self, event, line):
        """The judgement of one event, with a line of the model before the right ones."""
        events, _, done = check(event, model=line + RIGHT)
        self.assertEqual(done.stderr, "")
        return events[event]

    def test_a_right_machine_gives_no_alarm(self):
        """Each event of a meaning counts what the kernels do: at least 40 of a modern x86 core.
        Neoverse's own kernels, such as barriers, do not run here."""
        others = {"spr": 55, "neoverse_v2": 28} if os.environ.get("PERFMON_LONG") else {}
        for cpu, least in {"amdzen5": 40, **others}.items():
            events, report, _ = check("--pmu", cpu, cpu=cpu, model=RIGHT.replace(
                "event *", "event *CYC* 3 * clock\nevent *"))
            wrong = {n: e for n, e in events.items()
                     if e["judgement"] not in ("right", "not checked")}
            self.assertEqual(wrong, {}, cpu)
            self.assertGreaterEqual(sum(e["judgement"] == "right" for e in events.values()), least,
                                    cpu)
            self.assertEqual(report["machine"]["emulator"], "pfm pretend")

    def test_half_of_the_branches_is_missing(self):
        found = self.judge(BRANCHES, "event BR_INST_RETIRED.* faults / 2")
        self.assertEqual(found["judgement"], "biased")
        self.assertAlmostEqual(found["low"], -0.5, delta=0.02)
        self.assertAlmostEqual(found["high"], -0.5, delta=0.02)

    def test_an_event_that_stays_at_0_is_zero(self):
        self.assertEqual(self.judge(BRANCHES, "fault zero BR_INST_RETIRED.*")["judgement"], "zero")

    def test_a_counter_that_another_user_holds_is_not_checked(self):
        for fault, text in (("busy", "holds"), ("share", "shared")):
            found = self.judge(BRANCHES, "fault %s BR_INST_RETIRED.*%s" % (
                fault, " 0.5" if fault == "share" else ""))
            self.assertEqual(found["judgement"], "not checked", fault)
            self.assertIn(text, found["reason"])

    def test_memory_controllers_are_compared_with_streams(self):
        """Each byte that a stream moves is a page fault here; two controllers count lines of 64.
        Faults of other programs are counted, too: what follows from the counts is tested with
        made-up ones."""
        found = self.judge("spr_uncore_imc::UNC_M_CAS_COUNT.RD",
                           "event UNC_M_CAS_COUNT.* faults / 128\n")
        if found.get("reason") == "other programs use the memory now":
            self.skipTest(found["reason"])
        self.assertEqual([k["kernel"] for k in found["kernels"]],
                         ["idle_memory", "memory_reads", "memory_writes"], found)
        self.assertEqual(found["meaning"], "64*dram_read_bytes")

    def test_clocks_are_compared_with_the_time(self):
        cycles = "spr::CPU_CLK_UNHALTED.THREAD"
        self.assertEqual(self.judge(cycles, "")["judgement"], "right")
        # On a busy machine the times of a clock can be too noisy for more.
        self.assertIn(self.judge(cycles, "event CPU_CLK_UNHALTED.THREAD* 30 * clock")["judgement"],
                      ("biased", "noisy"))


if __name__ == "__main__":
    main()
