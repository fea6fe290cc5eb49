#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Groups that take turns: pfm plan --schedule, pfm stat --rotate, pfm serve --rotate. The toy
processor of tests/answers has one counter for Falls and Trips, so that they make two groups.

    PERFMON_LONG  60 runs of a program whose counts are known, instead of 3"""
import ctypes
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
import openmetrics  # noqa: E402
import tap  # noqa: E402
import test_answers  # noqa: E402
from test_pretend import WHY, pretend  # noqa: E402
from test_serve import Server, ask  # noqa: E402
from waiting import wait_until  # noqa: E402

PFM = test_answers.PFM
ADDR_NO_RANDOMIZE = 0x0040000    # linux/personality.h


class Schedule(unittest.TestCase):
    """The slots that are printed keep what was wished for, by their definition."""

    EVENTS = ("Uops_Ret", "L2_Lines_In", "L2_Rqsts")    # any two fit the two counters of Core Duo

    def plan(self, *words, status=0):
        p = subprocess.run([PFM, "plan", "--pmu", "coreduo", *words], capture_output=True,
                           text=True, check=False)
        self.assertEqual(p.returncode, status, p.stdout + p.stderr)
        return p.stdout if status == 0 else p.stderr

    def slots_of(self, found, event):
        (group, ) = [g for g, events in enumerate(found["groups"]) if event in events]
        return [t for t, groups in enumerate(found["schedule"]["slots"]) if group in groups]

    def check(self, found, event, readings, gap, seconds=60):
        slots = self.slots_of(found, event)
        n = len(found["schedule"]["slots"])
        length = found["schedule"]["slot_seconds"]
        steps = [(b - a - 1) % n for a, b in zip(slots, slots[1:] + slots[:1])]
        self.assertGreaterEqual(len(slots), readings * seconds / 60)
        self.assertLessEqual(max(steps) * length, gap + 1e-9)
        (reading, ) = [r for r in found["schedule"]["readings"] if r["name"] == event]
        self.assertEqual(reading["slots"], len(slots))
        self.assertAlmostEqual(reading["longest_gap"], max(steps) * length)
        self.assertAlmostEqual(reading["standard_error"],
                               math.sqrt((1 - len(slots) / n) / len(slots)))

    def test_wishes_are_kept(self):
        for wish, readings, gap in (("L2_Rqsts=40", 40, 60), ("L2_Rqsts=12/2", 12, 2),
                                    ("L2_Rqsts=/1", 0, 1), ("12/4", 12, 4)):
            found = json.loads(self.plan("--json", "--schedule", "--wish", wish, *self.EVENTS))
            self.assertEqual(len(found["schedule"]["slots"]), 60)
            self.check(found, "L2_Rqsts", readings, gap)
        found = json.loads(
            self.plan("--json", "--schedule=500", "--slot", "100", "--wish", "L2_Rqsts=300/0.1",
                      *self.EVENTS))
        self.check(found, "L2_Rqsts", 300, 0.1, seconds=50)

    def test_each_slot_has_one_group(self):
        found = json.loads(self.plan("--json", "--schedule", *self.EVENTS))
        self.assertEqual(sorted(found["schedule"]["slots"]), [[0], [1]])

    def test_why_it_cannot_be(self):
        err = self.plan("--schedule", "--wish", "L2_Rqsts=40", "--wish", "Uops_Ret=30",
                        *self.EVENTS, status=1)
        self.assertIn("need more slots", err)
        self.assertIn("they need 70 slots, most of them for L2_Rqsts", err)
        self.assertIn("expected the name of an event",
                      self.plan("--schedule", "--wish", "cycles=1", *self.EVENTS, status=1))
        for wish in ("x", "=3", "L2_Rqsts=", "L2_Rqsts=0", "L2_Rqsts=-1", "L2_Rqsts=1/",
                     "L2_Rqsts=1/0", "L2_Rqsts=1/2/3", "nan"):
            self.plan("--schedule", "--wish", wish, *self.EVENTS, status=2)
        self.plan("--wish", "L2_Rqsts=1", *self.EVENTS, status=2)

    def test_a_shifted_schedule_says_so(self):
        text = self.plan("--schedule=60", "--shift", *self.EVENTS)
        self.assertRegex(text, r"60 slots of 1 s in a cycle, shifted by \d+ on this machine")


class Scripted(unittest.TestCase):
    """Each event of the kernel counts its line of tests/answers/files/counts while it is enabled:
    all for 2 seconds, Falls on a counter for 1.5 of them, Trips for 0.5."""

    @classmethod
    def setUpClass(cls):
        cls.place = test_answers.Place()

    @classmethod
    def tearDownClass(cls):
        cls.place.close()

    def stat(self, *words, status=0):
        p = subprocess.run(["scripted", "stat", *words], env=self.place.env, cwd=self.place.folder,
                           capture_output=True, text=True, check=False)
        self.assertEqual(p.returncode, status, p.stdout + p.stderr)
        return p.stdout if status == 0 else p.stderr

    def test_values_are_of_all_the_time(self):
        found = {}
        for line in self.stat("--json", "--rotate=20", "-a", "--timeout", "150", "-e",
                              "toy::Falls,toy::Trips,page-faults").splitlines():
            row = json.loads(line)
            found[row.get("event", row.get("name"))] = row
        falls, trips, faults = (next(r for name, r in found.items() if part in str(name))
                                for part in ("Falls", "Trips", "page-faults"))
        # Each group was enabled for 2 of 4 seconds on each of four CPUs, and extrapolated by the
        # kernel's own share.
        self.assertEqual(falls["running"] / falls["enabled"], 1.5 / 4)
        self.assertEqual(trips["running"] / trips["enabled"], 0.5 / 4)
        self.assertAlmostEqual(falls["value"], 2 * sum(80 + cpu for cpu in range(4)) * 2 / 1.5,
                               delta=4)
        self.assertAlmostEqual(trips["value"], 2 * sum(17 + cpu for cpu in range(4)) * 2 / 0.5,
                               delta=4)
        self.assertEqual({r["quality"] for r in (falls, trips)}, {"scaled"})
        self.assertEqual((faults["quality"], faults["value"]), ("exact", 4 * 1234567 + 6))

    def test_wrong_rotations_are_refused(self):
        self.assertIn(
            "without braces",
            self.stat("--rotate", "-a", "--timeout", "1", "-e", "{page-faults,minor-faults}",
                      status=1))
        self.stat("--wish", "page-faults=1", "-a", "--timeout", "1", "-e", "page-faults", status=2)
        self.stat("--rotate", "-r", "2", "-e", "page-faults", "--", "true", status=2)
        self.stat("--rotate=x", "-e", "page-faults", "--", "true", status=2)
        self.assertIn(
            "expected the name of an event",
            self.stat("--rotate", "--wish", "nobody=3", "-a", "--timeout", "1", "-e", "page-faults",
                      status=1))

    @staticmethod
    def read_after(address, n):
        """A text of the reading with number @n or a later one."""
        def read():
            f = openmetrics.parse(ask(address)[2], openmetrics=False)
            return f if openmetrics.value(f, "perfmon_readings_total") >= n else None

        return wait_until(read)

    def test_the_service_rotates(self):
        env = dict(self.place.env)
        with Server("--listen", "127.0.0.1:0", "--rotate=50", "-e",
                    "toy::Falls,toy::Trips,page-faults", program=["scripted", "serve"], env=env,
                    cwd=self.place.folder) as s:
            f = self.read_after(s.address(), 3)
        self.assertAlmostEqual(openmetrics.value(f, "perfmon_rotation_cycle_seconds"), 0.1)
        self.assertIn(openmetrics.value(f, "perfmon_rotation_slot"), (0, 1))


    def test_clock_set_back(self):
        """Cycles go on, as the clock says which slot it is."""
        with Server("--listen", "127.0.0.1:0", "--rotate=50", "-e",
                    "toy::Falls,toy::Trips,page-faults", program=["scripted", "serve"],
                    env=self.place.env, cwd=self.place.folder) as s:
            address = s.address()
            readings = 0
            for seconds in (-3601, -7203, 86400, 1 - 10 ** 9):
                with open(self.place.folder + "/clock.new", "w", encoding="ascii") as f:
                    f.write(str(seconds))
                os.rename(self.place.folder + "/clock.new", self.place.folder + "/clock")
                f = self.read_after(address, readings + 3)
                readings = openmetrics.value(f, "perfmon_readings_total")
                self.assertIn(openmetrics.value(f, "perfmon_rotation_slot"), (0, 1))
                self.assertLess(openmetrics.value(f, "perfmon_reading_interval_seconds"), 5)
        os.remove(self.place.folder + "/clock")


class Live(unittest.TestCase):
    """Software events of this machine need no turns: nothing is scaled."""

    def test_the_start_of_the_command_is_not_counted(self):
        """The child has no page fault between the start of the events and the command, found by its
        path or by its name. Addresses that are the same in each run make the same faults."""
        libc = ctypes.CDLL(None)

        def count(command, *options):
            done = subprocess.run([PFM, "stat", *options, "--json", "-e", "page-faults:u", "--",
                                   command], capture_output=True, text=True, check=True,
                                  preexec_fn=lambda: libc.personality(ADDR_NO_RANDOMIZE))
            return json.loads(done.stdout)["value"]

        if count("true") is None:
            self.skipTest("page faults cannot be counted here")
        for command in shutil.which("true"), "true":
            plain, turns = (statistics.median(count(command, *options) for _ in range(9))
                            for options in ((), ("--rotate=5",)))
            self.assertEqual(turns, plain, command)

    def test_one_group_is_not_scaled(self):
        text = subprocess.run([
            PFM, "stat", "--rotate=10", "-x", ",", "-a", "--timeout", "100", "-e",
            "page-faults,context-switches"
        ], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("scaled", text)
        self.assertTrue(re.search(r"context-switches", text))


@unittest.skipIf(WHY, WHY)
class Pretended(unittest.TestCase):
    """Events that count 1,000 for each page fault, in two groups that take turns. All page faults
    are counted as well, which need no counter: the true count."""

    EVENTS = ["MEM_LOAD_RETIRED." + name
              for name in ("L1_HIT", "L2_HIT", "L3_HIT", "L1_MISS", "L2_MISS", "L3_MISS", "FB_HIT")]
    # Page faults come in bursts of different length.
    PROGRAM = """
import mmap, random, time
random.seed(%d)
while time.process_time() < 0.6:
    size = random.choice((4, 40, 400)) * 4096
    for _ in range(random.randrange(20)):
        with mmap.mmap(-1, size) as pages:
            for at in range(0, size, 4096):
                pages[at] = 1
    sum(range(random.randrange(100000)))
"""
    RUNS = 60 if os.environ.get("PERFMON_LONG") else 3

    def count(self, seed, *options):
        done = pretend("skl", PFM, "stat", "--json", *options, "-e",
                       ",".join(self.EVENTS + ["page-faults"]), "--", sys.executable, "-c",
                       self.PROGRAM % seed, model="event * 1000 * faults\n")
        rows = {r["event"]: r for r in map(json.loads, done.stdout.splitlines()) if "event" in r}
        self.assertEqual(len(rows), len(self.EVENTS) + 1, done.stderr)
        return rows

    def test_intervals_cover_the_true_count(self):
        """The interval of an event holds the true count in 95 of 100 runs. The errors of a group's
        events are equal, so one event of each group is checked. By chance, 52 or fewer of 60
        intervals hold it once in 100 times (binomial distribution), and no error is as large as
        three intervals."""
        covered, widest = [0, 0], 0
        for seed in range(self.RUNS):
            rows = self.count(seed, "--rotate=5")
            true = 1000 * rows["page-faults"]["value"]
            for group, event in enumerate((self.EVENTS[0], self.EVENTS[-1])):
                found = rows[event]
                self.assertEqual(found["cause"], "multiplexed", found)
                away = abs(true / found["value"] - 1) / (found["interval"] / 100)
                self.assertLess(away, 3, (seed, true, found))
                covered[group] += away <= 1
                widest = max(widest, found["interval"])
        print(f"# {covered} of {self.RUNS} runs, intervals up to {widest:.1f}%", flush=True)
        if self.RUNS == 60:
            self.assertGreater(min(covered), 52)

    def test_no_cause_is_printed_without_a_fact(self):
        """A program that runs another one has no more rights for that, whatever runs beside it."""
        rows = self.count(1, "--rotate=5")
        for r in rows.values():
            self.assertIn(r.get("cause"), (None, "multiplexed"), r)
        done = pretend("skl", PFM, "stat", "--json", "--rotate=5", "-e", ",".join(self.EVENTS),
                       "--", "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; "
                       "exec sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'",
                       model="event * 1000 * faults\n")
        for line in done.stdout.splitlines():
            self.assertEqual(json.loads(line)["cause"], "multiplexed", line)


if __name__ == "__main__":
    tap.main()
