#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command on pretended machines of each family. The models of the families (tools/pretend/models)
say what every event counts, so wanted values are arithmetic on their comments.

    PERFMON_LONG  40 sets of events on each machine, instead of 3"""
import csv
import io
import json
import os
import random
import re
import subprocess
import tempfile
import unittest

from tap import main
from test_pretend import PFM, REGIONS, WHY, WORK, pretend, run
from waiting import wait_until

# Cycles of a nanosecond, and instructions of a cycle, by the model of each machine's family.
SPEEDS = {"skl": (3, 2), "spr": (3, 2), "adl": (3, 2), "amdzen2": (3, 2), "amdzen5": (3, 2),
          "neoverse_v2": (3, 2), "power10": (3, 2), "z16": (5, 1)}
# An event that takes a pair of counters: six counters are three pairs.
PAIRS = {"amdzen2": "fp_ret_sse_avx_ops.all"}
MACHINES = [name for name in SPEEDS if name != "adl" or os.cpu_count() > 1]


def on_each_machine(test):
    def run_all(self):
        for cpu in MACHINES:
            with self.subTest(cpu=cpu):
                test(self, cpu)
    return run_all


def read(path):
    """The text of a file that may not be there yet."""
    try:
        with open(path, encoding="ascii") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def objects(text):
    return [json.loads(line) for line in text.splitlines() if line[:1] == "{"]


@unittest.skipIf(WHY, WHY)
class Machines(unittest.TestCase):
    """Each test runs on a machine of each family."""

    @on_each_machine
    def test_stat_counts_cycles_and_instructions_of_the_model(self, cpu):
        done = pretend(cpu, PFM, "stat", "--json", "-e", "cycles,instructions,task-clock", "--",
                       *WORK)
        rows = objects(done.stdout)
        self.assertEqual({r["quality"] for r in rows}, {"pretended"}, done.stderr)
        sums = {}
        for r in rows:
            name = r["event"].split(":")[0]
            sums[name] = sums.get(name, 0) + (r["value"] or 0)
        cycles, per_cycle = SPEEDS[cpu]
        self.assertAlmostEqual(sums["instructions"] / sums["cycles"] / per_cycle, 1, places=2)
        self.assertAlmostEqual(sums["cycles"] / sums["task-clock"] / cycles, 1, places=1)

    @on_each_machine
    def test_recordings_have_samples_of_the_work_and_say_what_they_are(self, cpu):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "perf.data")
            done = pretend(cpu, PFM, "record", "-o", path, "-e", "cycles", "-c", "100000",
                           "--", *WORK)
            self.assertEqual(done.returncode, 0, done.stderr)
            reported = run(PFM, "report", "--json", "--sort", "task", path)
        self.assertIn("recorded on a pretended machine", reported.stderr)
        rows = objects(reported.stdout)
        self.assertIn("sh", {r["task"] for r in rows})
        self.assertGreater(sum(r["samples"] for r in rows), 10)

    @on_each_machine
    def test_metrics_in_samples_are_those_of_the_model(self, cpu):
        if cpu == "adl":
            return      # a session on both types of cores is not sampled in one group
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "perf.data")
            done = pretend(cpu, PFM, "record", "-o", path, "-M", "ipc", "-c", "300000", "--", *WORK)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = run(PFM, "report", "--metrics", "--sort", "task", "--json", path)
        found = [r["metrics"][0]["value"] for r in objects(told.stdout) if r.get("task") == "sh"]
        self.assertEqual([round(value, 2) for value in found], [SPEEDS[cpu][1]], told.stderr)

    @on_each_machine
    def test_doctor_and_list_know_the_processor(self, cpu):
        done = pretend(cpu, PFM, "doctor")
        self.assertRegex(done.stdout.splitlines()[1], rf"this machine is pretended: \w*{cpu}")
        listed = pretend(cpu, PFM, "list", "--pmus")
        self.assertIn(cpu, listed.stdout)

    @on_each_machine
    def test_plans_are_those_of_the_table(self, cpu):
        if cpu == "adl":
            return      # the tables of its types of cores have other names
        here = pretend(cpu, PFM, "plan", "--json", "ipc")
        there = run(PFM, "plan", "--json", "--pmu", cpu, "ipc")
        self.assertEqual([r.get("group") for r in objects(here.stdout)],
                         [r.get("group") for r in objects(there.stdout)], here.stderr)
        self.assertTrue(objects(here.stdout))

    def test_events_of_pairs_are_refused_and_share_as_dispatch_says(self):
        """Zen 2: each takes an even counter and the next one, so three fit beside each other."""
        for cpu, event in PAIRS.items():
            for n, fits in ((3, True), (4, False)):
                refused = run(PFM, "dispatch", "--pmu", cpu, *[event] * n).returncode != 0
                self.assertEqual(refused, not fits)
                done = pretend(cpu, PFM, "stat", "--json", "-e", "{" + ",".join([event] * n) + "}",
                               "--", "true")
                self.assertEqual({r.get("cause") for r in objects(done.stdout)},
                                 {None if fits else "group"}, done.stderr)

    @on_each_machine
    def test_groups_are_refused_exactly_where_dispatch_refuses_them(self, cpu):
        """Sets that are drawn from all events of the table; the events that begin alike often
        share a register or counters."""
        draw = random.Random(cpu)
        pmu = "adl_goldencove" if cpu == "adl" else cpu
        names = [r["event"] for r in objects(run(PFM, "list", "--json", "--pmu", pmu).stdout)]
        for _ in range(40 if os.environ.get("PERFMON_LONG") else 3):
            alike = [n for n in names if n[:6] == draw.choice(names)[:6]]
            events = draw.sample(alike, min(len(alike), 4)) + draw.sample(names, 4)
            events = [f"{pmu}::{n}" for n in events[:draw.randrange(2, 9)]]
            events = [e for e in events if run(PFM, "encode", e).returncode == 0]
            refused = run(PFM, "dispatch", *events).returncode != 0
            done = pretend(cpu, PFM, "stat", "--json", "-e", "{" + ",".join(events) + "}", "--",
                           "true")
            rows = objects(done.stdout)
            found = any("error" in r or r.get("cause") in ("group", "attribute") for r in rows)
            self.assertEqual(found, refused, (events, done.stdout))

    @unittest.skipUnless(os.path.exists(REGIONS), "the program with regions was not built")
    @on_each_machine
    def test_regions_are_pretended(self, cpu):
        done = pretend(cpu, PFM, "stat", "--regions", "--json", "-e", "cycles", "--", REGIONS)
        found = set(re.findall(r'"event": ?"cycles".*?"quality": ?"([^"]*)"', done.stdout))
        self.assertIn("pretended", found, done.stderr)
        self.assertLessEqual(found, {"pretended", "not counted"})   # the other type of core

    @unittest.skipUnless(os.geteuid() == 0, "counting whole CPUs needs privileges")
    @on_each_machine
    def test_top_shows_functions_and_serve_the_quality(self, cpu):
        done = pretend(cpu, PFM, "top", "-e", "cycles", "-c", "300000", "-d", "0.2",
                       "--iterations", "1", "--", *WORK)
        self.assertRegex(done.stdout, r"\d% \+-", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.prom")
            words = [PFM, "pretend", "--cpu", cpu, "--", PFM, "serve", "-e", "cycles",
                     "--interval", "200", "--textfile", path]
            with subprocess.Popen(words, stderr=subprocess.DEVNULL) as p:
                try:
                    text = wait_until(lambda: read(path), "the file of the service")
                finally:
                    p.terminate()
        rank = re.search(r"(\d+) pretended", text)[1]
        self.assertRegex(text, r"perfmon_event_quality_rank\{event=\"cycles.* %s\n" % rank)

    @on_each_machine
    def test_exports_name_the_quality(self, cpu):
        done = pretend(cpu, PFM, "stat", "-x", ",", "-e", "cycles", "--", "true")
        rows = list(csv.reader(io.StringIO(done.stdout + done.stderr)))
        self.assertTrue(any("pretended" in cell for row in rows for cell in row), done.stderr)


if __name__ == "__main__":
    main()
