#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm diff of results of regions: planted changes are found, equal programs have none."""

import json
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..")]
import tap  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
PROGRAM = os.path.join(os.environ.get("REGION_PROGRAMS", ""), "marked_ends")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("PERFMON_REGIONS")}
PLANTED = ["region %d" % i for i in (11, 19, 27, 3, 35)]


def row(region, mean, deviation, visits):
    """A row with one event, without times."""
    count = {"event": "e", "inclusive": mean * visits, "visits": visits,
             "variance": deviation * deviation}
    return json.dumps({"region": region, "parent": None, "thread": "all", "visits": visits,
                       "outermost": visits, "wall_ns": {}, "counts": [count]})


class Diff(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def write(self, name, lines):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        return self.path(name)

    def diff(self, *args, status=0):
        done = subprocess.run([PFM, "diff", "--json", *args], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def significant(self, *args, metric="e", **options):
        rows, _ = self.diff(*args, **options)
        return sorted(r["region"] for r in rows if r["significant"] and r["metric"] == metric)

    def test_change_and_its_interval(self):
        """The interval of two means is that of Welch's test: t(0.975, 198) = 1.972."""
        old = self.write("old", [row("a", 1000, 50, 100)])
        new = self.write("new", [row("a", 1030, 50, 100)])
        (r,), _ = self.diff(old, new)
        error = (50 * 50 / 100 * (1 + 1.03 ** 2)) ** 0.5 / 1000
        self.assertAlmostEqual(r["change"], 0.03, 9)
        self.assertAlmostEqual(r["high"] - r["low"], 2 * 1.972 * error, 4)
        self.assertTrue(r["significant"])

    def test_equal_programs_have_no_change(self):
        """20 comparisons of 40 regions whose runs vary: at most one has a mark. A change of 3 % in
        five regions is found in each."""
        draw = random.Random(47)
        marked = 0

        def runs(name, factor):
            return self.write(name, [row("region %d" % i,
                                         draw.gauss(1000, 4) * (factor if i % 8 == 3 else 1), 50,
                                         100) for _ in range(10) for i in range(40)])

        for i in range(20):
            old = runs("old", 1)
            marked += bool(self.significant(old, runs("new", 1)))
            self.assertTrue(set(PLANTED) <= set(self.significant(old, runs("new", 1.03))), i)
        self.assertLessEqual(marked, 1)

    def test_one_visit_is_no_sample(self):
        line = json.loads(row("a", 10, 0, 1))
        line["counts"][0]["variance"] = None
        old, new = (self.write(name, [json.dumps(line)]) for name in ("old", "new"))
        (r,), _ = self.diff(old, new)
        self.assertEqual((r["significant"], r["low"], r["high"]), (False, None, None))

    def test_growth_beyond_a_limit_fails(self):
        old, new = (self.write(n, [row("a", 100 + 5 * i, 1, 1000)])
                    for i, n in enumerate(("old", "new")))
        self.diff("--fail-above", "6%", old, new)
        _, message = self.diff("--fail-above", "3%", old, new, status=1)
        self.assertIn("1 value of regions grew by more than 3%", message)
        self.diff("--fail-above", "3%", new, old)

    def test_a_damaged_file_is_named_with_its_line(self):
        _, message = self.diff(self.write("old", ["{", "}"]), self.write("new", []), status=2)
        self.assertIn("line 1 is not of pfm stat --regions --json: expected JSON", message)

    def test_values_that_are_none_are_refused(self):
        """They were left out, or compared: a count of -2 was a significant change."""
        good = row("a", 1, 0, 9)
        for change, problem in (({"region": {"a": 1}}, "expected the name of a region"),
                                ({"visits": -1}, "not negative"), ({"visits": "x"}, "not negative"),
                                ({"wall_ns": 5}, "not negative"),
                                ({"counts": [{"event": "e", "inclusive": -2}]}, "none of them"),
                                ({"counts": [{"event": "e", "inclusive": "x"}]}, "none of them"),
                                ({"run": 2 ** 32}, "a number of a run")):
            _, message = self.diff(self.write("old", [json.dumps({**json.loads(good), **change})]),
                                   self.write("new", [good]), status=2)
            self.assertIn(problem, message)

    def test_a_pipe_is_not_taken_for_an_empty_file(self):
        """The kind of a file is found by its first byte, which a pipe gives only once."""
        r, w = os.pipe()
        new = self.write("new", [row("a", 1, 0, 9)])
        with open(new, "rb") as f:
            os.write(w, f.read())
        os.close(w)
        done = subprocess.run([PFM, "diff", "/dev/fd/%d" % r, new], capture_output=True,
                              text=True, check=False, timeout=60, pass_fds=(r, ))
        os.close(r)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("not a perf.data file", done.stderr)

    def test_growth_from_nothing_is_a_change(self):
        old, new = (self.write(n, [row("a", i, 0, 100)]) for i, n in enumerate(("old", "new")))
        (r,), message = self.diff("--fail-above", "900%", old, new, status=1)
        self.assertEqual((r["old"], r["new"], r["change"], r["significant"]), (0, 1, None, True))
        self.assertIn("1 value of regions grew", message)

    def test_region_of_one_side_is_named(self):
        old, new = self.write("old", [row("a", 1, 0, 9)]), self.write("new", [row("b", 1, 0, 9)])
        self.assertEqual(self.diff(old, new)[0],
                         [{"region": "a", "parent": "", "only": "old"},
                          {"region": "b", "parent": "", "only": "new"}])

    def test_processes_of_a_run_are_one_value(self):
        """Two ranks with different work, in three runs: the runs differ by chance, the ranks do
        not; without the numbers of the runs the ranks would hide the change."""
        draw = random.Random(1)

        def runs(name, factor):
            lines = []
            for run in (1, 2, 3):
                noise = draw.gauss(factor, 0.002)
                for rank, mean in ((0, 100), (1, 900)):
                    lines += [json.dumps({"run": run, "process": rank + 1, "program": "p"}),
                              row("a", mean * noise, 5, 10)]
            return self.write(name, lines)

        (r,), _ = self.diff(runs("old", 1), runs("new", 1.05))
        self.assertAlmostEqual(r["old"], 500, delta=5)
        self.assertTrue(r["significant"], r)
        self.assertTrue(0.03 < r["low"] < 0.05 < r["high"] < 0.07, r)

    def test_more_visits_are_a_change(self):
        old, new = (self.write(n, [json.dumps({"process": 1 + i, "program": "p"}) + "\n" +
                                   row("a", 10, 0, visits) for i in range(3)])
                    for n, visits in (("old", 4), ("new", 5)))
        rows, _ = self.diff(old, new)
        self.assertEqual([(r["metric"], r["old"], r["new"]) for r in rows if r["significant"]],
                         [("visits", 4, 5)])

    def test_computed_metrics_are_compared(self):
        def runs(name, value):
            lines = []
            for i in range(4):
                line = json.loads(row("a", 10, 0, 4))
                line["metrics"] = [{"metric": "ipc", "value": value + i / 1000}]
                lines += [json.dumps({"process": 1 + i, "program": "p"}), json.dumps(line)]
            return self.write(name, lines)

        self.assertEqual(self.significant(runs("old", 1), runs("new", 2), metric="ipc"), ["a"])

    def compare(self, *args, status=0):
        done = subprocess.run([PFM, "stat", "--regions", "-e", "page-faults", *args],
                              capture_output=True, text=True, check=False, env=CLEAN)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    @unittest.skipUnless(os.path.exists(PROGRAM), "built without programs")
    def test_two_commands_are_compared(self):
        """Of 40 regions, five have 3 % more page faults."""
        commands = ["--", PROGRAM, "many", "0", "::", PROGRAM, "many", "3"]
        done = self.compare("--json", "-r", "2", *commands)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        rows = [r for r in rows if r["metric"] == "page-faults"]
        if not rows:
            self.skipTest("the kernel counts no page faults here")
        self.assertEqual(sorted(r["region"] for r in rows if r["significant"]), PLANTED)
        self.assertEqual({round(r["change"], 9) for r in rows if r["significant"]}, {0.03})
        self.assertEqual(len(rows), 40)
        text = self.compare("-r", "2", "--fail-above", "2%", *commands, status=1)
        self.assertIn("2 interleaved rounds after one that is not counted", text.stdout)
        # Two rounds on a busy machine may differ in time.
        marked = re.findall(r"^\* .* page-faults  ", text.stdout, re.M)
        self.assertEqual(len(marked), 5, text.stdout)
        self.assertIn("grew by more than 2%", text.stderr)

    @unittest.skipUnless(os.path.exists(PROGRAM), "built without programs")
    def test_runs_have_numbers(self):
        lines = self.compare("--json", "-r", "2", "--", PROGRAM, "many", "0").stdout.splitlines()
        runs = [json.loads(line)["run"] for line in lines if '"program"' in line]
        self.assertEqual(runs, [1, 2])

    def test_comparisons_that_are_refused(self):
        for args, message in ((["--", "true", "::", "true", "::", "true"], "expected two commands"),
                              (["-r", "1", "--", "true", "::", "true"], "at least 2 rounds"),
                              (["--fail-above", "x", "--", "true"], "expected a percentage"),
                              (["--fail-above", "1", "--", "true"], "cannot be combined")):
            self.assertIn(message, self.compare(*args, status=2).stderr)
        done = subprocess.run([PFM, "stat", "--regions=csv", "--", "true", "::", "true"],
                              capture_output=True, text=True, check=False, env=CLEAN)
        self.assertIn("expected table or json", done.stderr)
        self.assertIn("entered no region",
                      self.compare("--", "true", "::", "true", status=1).stderr)

    @unittest.skipUnless(os.path.exists(PROGRAM), "built without programs")
    def test_planted_page_faults(self):
        for name, more in (("old", "0"), ("new", "3"), ("same", "0")):
            done = subprocess.run([PFM, "stat", "--regions", "--json", "-r", "2", "-o",
                                   self.path(name), "-e", "page-faults", "--", PROGRAM, "many",
                                   more], capture_output=True, text=True, check=True, env=CLEAN)
        with open(self.path("old"), encoding="utf-8") as f:
            if '"exact"' not in f.read():
                self.skipTest("the kernel counts no page faults here: " + done.stderr)
        for name, want in (("new", PLANTED), ("same", [])):
            self.assertEqual(self.significant(self.path("old"), self.path(name),
                                              metric="page-faults"), want)

    def record(self, name, *command):
        done = subprocess.run([PFM, "record", "--regions", "-e", "page-faults", "-c", "1", "-o",
                               self.path(name), "--", *command], capture_output=True, text=True,
                              check=False, env=CLEAN)
        if done.returncode:
            self.skipTest(done.stderr)
        return done.stderr

    @unittest.skipUnless(os.path.exists(PROGRAM), "built without programs")
    def test_samples_for_each_visit(self):
        """3 visits of one process, and 1 + 2 * 3 of three."""
        self.record("old", PROGRAM, "END", "return")
        self.record("new", PROGRAM, "workers", "2", "return")
        for unit in "work visit", "region visit":
            rows, _ = self.diff("--per", unit, self.path("old"), self.path("new"))
            (whole,) = [r for r in rows if r.get("total")]
            self.assertGreater(whole["old"]["weight"], 3 * 2)
            self.assertAlmostEqual(whole["new"]["value"], (whole["new"]["weight"] / 7) /
                                   (whole["old"]["weight"] / 3))
        packed = subprocess.run([PFM, "archive", "-o", self.path("new.tar"), self.path("new")],
                                capture_output=True, check=True)
        with tarfile.open(self.path("new.tar")) as made:
            self.assertIn("new.regions", made.getnames(), packed.stderr)
        self.assertIn("entered no region", self.record("new", "true"))
        self.assertFalse(os.path.exists(self.path("new.regions")))

    def test_visits_that_cannot_be_recorded(self):
        for args, said in ((["-a"], "--regions counts visits of a command's regions"),
                           (["-p", "1", "--", "true"], "cannot be combined with -p"),
                           (["-o", "x.pb.gz", "--", "true"], "--regions is for pfm diff")):
            done = subprocess.run([PFM, "record", "--regions", *args], capture_output=True,
                                  text=True, check=False, env=CLEAN)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    tap.main()
