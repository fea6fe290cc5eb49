#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm diff of results of regions: planted changes are found, equal programs have none."""

import json
import os
import random
import subprocess
import sys
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

    def test_damaged_file(self):
        _, message = self.diff(self.write("old", ["{", "}"]), self.write("new", []), status=2)
        self.assertIn("line 1 is not JSON", message)

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


if __name__ == "__main__":
    tap.main()
