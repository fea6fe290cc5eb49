#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm diff over recordings whose samples are drawn from known distributions.

    PFM  the command (default: pfm of the path)
"""
import collections
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402
from test_record import PFM, Crafted, crafted_program  # noqa: E402

FUNCTIONS = ["f%d" % i for i in range(20)]
# The costs of an invented program, in samples: one function of a third, and ever smaller ones.
COSTS = [600, *(400 / 1.25 ** i for i in range(19))]
# Samples of the functions of a compiler, which was recorded 60 times over one file.
RECORDED = [
    2144, 1762, 1151, 1107, 991, 947, 925, 837, 826, 751, 725, 695, 604, 598, 519, 511, 508, 477,
    463, 447, 442, 370, 358, 350, 347, 344, 343, 336, 335, 320, 317, 313, 311, 300, 289, 278, 277,
    272, 266, 260, 254, 250, 245, 239, 238, 223, 223, 220, 220, 218, 216, 213, 210, 209, 206, 204,
    201, 198, 196, 193, 190, 189, 185, 185, 185, 181, 179, 177, 176, 175, 175, 173, 172, 171, 171,
    171, 170, 169, 168, 167, 165, 164, 164, 161, 161, 161, 158, 157, 157, 154, 154, 153, 152, 150,
    150, 148, 148, 147, 146, 146, 146, 143, 139, 139, 138, 138, 137, 136, 134, 133, 133, 132, 131,
    131, 130, 130, 130, 127, 125, 123, 123, 123, 122, 122, 118, 118, 117, 116, 115, 115, 114, 114,
    113, 112, 112, 111, 110, 110, 110, 108, 107, 107, 106, 104, 104, 104, 103, 102, 101, 101, 101,
    100, 99, 98, 98, 98, 97, 97, 97, 97, 96, 95, 95, 95, 95, 95, 94, 94, 94, 93, 93, 90, 89, 89, 89,
    89, 89, 88, 88, 87, 87, 85, 83, 83, 82, 82, 82, 82, 80, 80, 79, 79, 79, 78, 78, 77, 77, 77, 77,
    76, 76, 76, 75, 75, 75, 75, 74, 74, 73, 73, 73, 72, 72, 72, 72, 71, 71, 70, 70, 70, 69, 69, 69,
    68, 68, 68, 67, 66, 66, 65, 65, 64, 64, 64, 64, 64, 63, 62, 62
]
ALL_DRAWS = 100
IDENTIFIER, IP, TID, TIME, PERIOD = 1 << 16, 1, 2, 4, 256


class Events(Crafted):
    """Samples of several events, by their numbers."""

    def attr(self, ids=(1,), config=1):
        attr = bytearray(112)
        struct.pack_into("<IIQQQ", attr, 0, 1, 112, config, 1,
                         IDENTIFIER | IP | TID | TIME | PERIOD)
        struct.pack_into("<Q", attr, 40, 1 << 18)
        self.record(64, bytes(attr) + struct.pack("<%dQ" % len(ids), *ids), 0)

    def trailer(self, pid):
        self.time += 1
        return struct.pack("<IIQQ", pid, pid, self.time, 1)

    def map_whole(self, pid, start, name):
        """A file from its first byte on."""
        name += bytes(8 - len(name) % 8)
        self.record(
            1, struct.pack("<IIQQQ", pid, pid, start, 0x100000, 0) + name + self.trailer(pid))

    def add(self, number, address, weight):
        self.time += 1000000
        self.record(9, struct.pack("<QQIIQQ", number, address, 5, 5, self.time, weight))


def poisson(draw, mean):
    """By the times between events."""
    n, at = 0, draw.expovariate(1)
    while at < mean:
        n += 1
        at += draw.expovariate(1)
    return n


def binomial_at_least(k, n, p):
    return sum(math.comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(k, n + 1))


def hypergeometric_at_least(k, draw, marked, everything):
    return sum(math.comb(marked, i) * math.comb(everything - marked, draw - i)
               for i in range(k, min(draw, marked) + 1)) / math.comb(everything, draw)


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class Diff(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="perfmon-diff-")
        cls.programs = [os.path.join(cls.folder, name, "program") for name in ("old", "new")]
        for program in cls.programs:
            os.mkdir(os.path.dirname(program))
        cls.write_programs(FUNCTIONS)

    @classmethod
    def write_programs(cls, functions):
        for program in cls.programs:
            with open(program, "wb") as f:
                f.write(crafted_program([f.encode() for f in functions]))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def write(self, name, counts, weight=1000, events=None):
        """A recording with so many samples of each function, or of each (event, function)."""
        made = Events()
        for number in sorted(events or [1]):
            made.attr((number,), number)
        made.comm(5, b"work")
        made.map(5, 0x1000, self.programs[name].encode())
        body = []
        for key, n in (events or {1: counts}).items():
            body += [(key, f) for f, count in enumerate(n) for _ in range(count)]
        random.Random(1).shuffle(body)
        for number, f in body:
            made.add(number, 0x1004 + 16 * f, weight)
        path = os.path.join(self.folder, "%d.data" % name)
        made.write(path)
        return path

    def pfm(self, *args):
        return subprocess.run([PFM, "diff", *args], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, check=False)

    def rows(self, *args):
        done = self.pfm("--json", *args, "0.data", "1.data")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {r.get("function"): r for r in map(json.loads, done.stdout.splitlines())}

    def draw(self, draw, costs, name):
        counts = [poisson(draw, c) for c in costs]
        self.write(name, counts)
        return counts

    def test_a_change_of_a_tenth_is_found(self):
        draw = random.Random(1)
        self.draw(draw, [10 * c for c in COSTS], 0)
        self.draw(draw, [10 * c * (1.1 if i == 0 else 1) for i, c in enumerate(COSTS)], 1)
        total = sum(COSTS)
        for by, true in (("count", 0.1 * COSTS[0] / total),
                         ("share", 1.1 * COSTS[0] / (total + 0.1 * COSTS[0]) - COSTS[0] / total)):
            with self.subTest(by):
                rows = self.rows("--normalize", by)
                self.assertEqual([f for f, r in rows.items() if r["significant"] and f], ["f0"])
                self.assertLess(rows["f0"]["low"], true)
                self.assertGreater(rows["f0"]["high"], true)
                self.assertEqual(next(f for f in rows if f), "f0")
        text = self.pfm("0.data", "1.data").stdout
        self.assertEqual(sum(line.startswith("*") for line in text.splitlines()), 1)
        self.assertRegex(
            text,
            (
                r"\n\* +\+\d\.\d\d% \+- ?\d\.\d\d +\d\d\.\d\d% +\d\d\.\d\d% +\+\d+\.\d% +\d+ +\d+"
                r" +program +f0\n"
            ),
        )
        coloured = self.pfm("--color=always", "0.data", "1.data").stdout
        self.assertEqual((coloured.count("\x1b[1;31m"), coloured.count("\x1b[32m")), (1, 0))
        # The whole value grew by a thirtieth.
        for limit, status in (("0.5%", 1), ("1e-3", 1), ("5%", 0), ("50", 0)):
            done = self.pfm("--normalize", "count", "--fail-above", limit, "0.data", "1.data")
            self.assertEqual((done.returncode, "grew by more than" in done.stderr),
                             (status, status == 1), limit)
        self.assertEqual(
            self.pfm("--normalize", "count", "--fail-above", "0.5%", "1.data", "0.data").returncode,
            0)

    def test_equal_programs_have_no_change(self):
        """At 95 %, a change is marked in at most 5 of 100 comparisons; none fails a build.
        Intervals of single rows hold 95 %."""
        draw = random.Random(2)
        marked, inside, intervals = {"share": 0, "count": 0}, 0, 0
        for _ in range(ALL_DRAWS):
            self.draw(draw, [c / 2 for c in COSTS], 0)
            self.draw(draw, [c / 2 for c in COSTS], 1)
            for by in marked:
                done = self.pfm("--json", "--normalize", by, "--fail-above", "1%", "0.data",
                                "1.data")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                rows = [json.loads(line) for line in done.stdout.splitlines()]
                marked[by] += any(r["significant"] for r in rows)
                large = [r for r in rows if r["old"]["samples"] > 30 and not r["total"]]
                intervals += len(large)
                inside += sum(r["low"] < 0 < r["high"] for r in large)
        self.assertLessEqual(max(marked.values()), 5, marked)
        self.assertGreater(intervals, 1000)
        self.assertAlmostEqual(inside / intervals, 0.95, delta=0.015)

    def test_a_program_that_has_its_version_in_its_name(self):
        """Functions of app-1.0 and app-1.1 are matched by their names; the message says so."""
        kept = self.programs[:]
        try:
            for i in range(2):
                self.programs[i] = os.path.join(self.folder, "app-1.%d" % i)
            self.write_programs(FUNCTIONS)
            for i in range(2):
                self.write(i, [50] * (len(FUNCTIONS) - 1) + [50 + 200 * i])
            done = self.pfm("--json", "--normalize", "count", "0.data", "1.data")
            self.assertEqual(done.stderr, "pfm diff: app-1.0 and app-1.1 have the same functions: "
                             "compared as one file\n")
            rows = {r.get("function"): r for r in map(json.loads, done.stdout.splitlines())}
            for i, name in enumerate(FUNCTIONS):
                sides = rows[name]["old"]["samples"], rows[name]["new"]["samples"]
                self.assertEqual(sides, (50, 250 if i == len(FUNCTIONS) - 1 else 50))
                self.assertEqual(os.path.basename(rows[name]["object"]), "app-1.1")
            self.assertEqual(self.pfm("--sort", "symbol", "0.data", "1.data").stderr, "")
        finally:
            self.programs[:] = kept

    def test_recordings_drawn_from_a_real_one(self):
        """Samples are drawn with replacement. A change is marked in at most 5 of 100 comparisons of
        the same program; a tenth more time in its first function is found."""
        self.write_programs(["f%d" % i for i in range(len(RECORDED))])
        self.addCleanup(self.write_programs, FUNCTIONS)
        draw, marked = random.Random(4), {"share": 0, "count": 0}
        for _ in range(ALL_DRAWS):
            for side in 0, 1:
                drawn = collections.Counter(draw.choices(range(len(RECORDED)), RECORDED, k=2000))
                self.write(side, [drawn[i] for i in range(len(RECORDED))])
            for by in marked:
                marked[by] += any(r["significant"] for r in self.rows("--normalize", by).values())
        self.assertLessEqual(max(marked.values()), 5, marked)
        # 12,000 samples of the function: the change is 7.6 standard deviations
        for side, more in (0, 1), (1, 1.1):
            self.write(side, [
                poisson(draw, 12000 * n / RECORDED[0] * (1 if i else more))
                for i, n in enumerate(RECORDED)
            ])
        for by in marked:
            self.assertTrue(self.rows("--normalize", by)["f0"]["significant"])

    def boxes(self, *args):
        """The boxes of a differential flame graph: name -> (width, share, old share, change, (red,
        green, blue))."""
        done = self.pfm("--svg", *args, "0.data", "1.data")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        box = (
            r'data-w="([\d.]+)"[^>]*><title>([^,<]*), ([\d.]+)% after ([\d.]+)%: ([a-z ]+)</title>'
            r'<rect [^>]*fill="rgb\((\d+),(\d+),(\d+)\)"')
        found = re.findall(box, done.stdout)
        self.assertEqual(len(found), done.stdout.count("<title>"))
        return {
            m[1]: (float(m[0]), float(m[2]) / 100, float(m[3]) / 100, m[4], tuple(map(int, m[5:])))
            for m in found
        }

    def test_boxes_of_changed_functions_are_coloured(self):
        counts = [[3000, 2000, 1000, 500, 1], [4000, 1500, 1000, 501, 0]]
        for side in 0, 1:
            self.write(side, counts[side])
        boxes = self.boxes()
        # what has no samples any more has no width
        self.assertEqual(set(boxes), {"f0", "f1", "f2", "f3"})
        for i in range(4):
            width, new, old, change, (red, green, blue) = boxes["f%d" % i]
            with self.subTest(i):
                self.assertAlmostEqual(width, counts[1][i] / sum(counts[1]), delta=1e-8)
                self.assertAlmostEqual(new, counts[1][i] / sum(counts[1]), delta=1e-4)
                self.assertAlmostEqual(old, counts[0][i] / sum(counts[0]), delta=1e-4)
                self.assertEqual(change, ("grew", "fell", "no significant change",
                                          "no significant change")[i])
                self.assertEqual((red > blue) - (red < blue), (1, -1, 0, 0)[i])
                self.assertEqual(red == green == blue, i > 1)
        # By the larger of two ratios, a box is stronger: 9.1 % grew to 15.2 % is more than 46 % to
        # 57 %.
        self.write(1, [3000, 2000, 2000, 500, 1])
        self.assertLess(self.boxes()["f2"][4][1], boxes["f0"][4][1])

    def test_boxes_of_equal_programs_are_grey(self):
        draw = random.Random(3)
        coloured = 0
        for _ in range(ALL_DRAWS):
            for side in 0, 1:
                self.draw(draw, [c / 2 for c in COSTS], side)
            coloured += any(box[3] != "no significant change" for box in self.boxes().values())
        self.assertLessEqual(coloured, 5)

    def test_a_flame_graph_is_of_one_event(self):
        for side in 0, 1:
            self.write(side, None, events={1: [100, 50], 2: [50, 500 * side + 50]})
        several = self.pfm("--svg", "0.data", "1.data")
        self.assertEqual((several.returncode, several.stdout), (2, ""))
        self.assertIn("choose one with --event", several.stderr)
        names = sorted({
            json.loads(line)["event"]
            for line in self.pfm("--json", "0.data", "1.data").stdout.splitlines()
        })
        self.assertEqual(len(names), 2)
        changes = sorted(self.boxes("-e", name)["f1"][3] for name in names)
        self.assertEqual(changes, ["grew", "no significant change"])
        for refused in (["--json"], ["--fail-above", "1%"], ["--normalize", "count"]):
            done = self.pfm("--svg", *refused, "0.data", "1.data")
            self.assertEqual((done.returncode, "cannot be combined" in done.stderr), (2, True),
                             refused)

    def test_probabilities_of_few_samples_are_exact(self):
        for a, b, rest in ((3, 20, 400), (30, 12, 100), (0, 11, 1000), (2, 8, 30)):
            with self.subTest((a, b)):
                self.write(0, [a, rest])
                self.write(1, [b, rest])
                tails = [binomial_at_least(b, a + b, 0.5), 1 - binomial_at_least(b + 1, a + b, 0.5)]
                self.assertGreaterEqual(
                    self.rows("--normalize", "count")["f0"]["p"], 2 * min(tails))
                draw, everything = b + rest, a + b + 2 * rest
                tails = [
                    hypergeometric_at_least(b, draw, a + b, everything),
                    1 - hypergeometric_at_least(b + 1, draw, a + b, everything)
                ]
                exact = 2 * min(tails)
                pooled = (a + b) / everything
                z = (b / (b + rest) - a / (a + rest)) / math.sqrt(pooled * (1 - pooled) *
                                                                  (1 / (a + rest) + 1 / (b + rest)))
                p = min(1, max(exact, math.erfc(abs(z) / math.sqrt(2))))
                # Two rows, whose probabilities are equal: that of the rest is as improbable.
                self.assertAlmostEqual(self.rows()["f0"]["p"], min(1, 2 * p), places=9)

    def test_weights_are_no_samples(self):
        """Samples of half the weight: the same cost, twice the samples."""
        draw = random.Random(3)
        counts = [poisson(draw, c) for c in COSTS]
        self.write(0, counts, weight=2000)
        self.write(1, [2 * c for c in counts], weight=1000)
        for row in self.rows("--normalize", "count").values():
            self.assertEqual(row["old"]["weight"], row["new"]["weight"])
            self.assertAlmostEqual(row["change"], 0)
            self.assertFalse(row["significant"])

    def test_divided_by_another_event(self):
        """Twice the work: twice the counts, and as much of one event for each of the other."""
        first = {1: [2000, 1000], 2: [500, 300]}
        self.write(0, None, events=first)
        self.write(1, None, events={e: [2 * n for n in counts] for e, counts in first.items()})
        name = json.loads(self.pfm("--json", "0.data", "1.data").stdout.splitlines()[0])["event"]
        other = sorted({
            json.loads(line)["event"]
            for line in self.pfm("--json", "0.data", "1.data").stdout.splitlines()
        } - {name})
        self.assertEqual(len(other), 1)
        rows = self.rows("-e", name, "--normalize", "count")
        self.assertTrue(all(r["significant"] for r in rows.values()))
        self.assertAlmostEqual(rows["f0"]["change"], 2 / 3)
        for by in (other[0], name):
            for row in self.rows("-e", name, "--normalize", by).values():
                self.assertAlmostEqual(row["change"], 0)
                self.assertFalse(row["significant"])
        # The relative variance of a ratio is the sum of those of its parts.
        row = self.rows("-e", name, "--normalize", other[0])["f1"]
        value = 1 / 3
        variance = value ** 2 * (1001 / 1000 ** 2 + 2001 / 2000 ** 2 + 1 / 800 + 1 / 1600)
        self.assertAlmostEqual(row["high"] - row["low"], 2 * 1.959964 * math.sqrt(variance),
                               delta=1e-3)
        done = self.pfm("--normalize", "nothing", "0.data", "1.data")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("got 'nothing'", done.stderr)

    def test_counts_for_each_unit_of_work(self):
        """A function that costs the same for each visit, one that costs half, in a run with three
        times the visits."""
        self.write(0, [1000, 2000])
        self.write(1, [3000, 3000])
        rows = self.rows("--normalize", "500,1500")
        self.assertAlmostEqual(rows["f0"]["change"], 0)
        self.assertFalse(rows["f0"]["significant"])
        self.assertAlmostEqual(rows["f1"]["change"], -1 / 3)
        self.assertAlmostEqual(rows[None]["change"], -1 / 3)
        self.assertTrue(rows["f1"]["significant"])
        for wrong in "500,", "0,1", "1,-1", "1,2,3", "nan,1", "inf,1":
            self.assertEqual(self.pfm("--normalize", wrong, "0.data", "1.data").returncode, 2)

    def write_visits(self, name, visits):
        """Writes the file that pfm record --regions makes beside a recording."""
        path = os.path.join(self.folder, "%d.data.regions" % name)
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        with open(path, "w", encoding="utf-8") as f:
            f.write(json.dumps({"program": "work", "process": 5}) + "\n")
            for region, parent, n in visits:
                f.write(json.dumps({
                    "region": region, "parent": parent, "thread": "all", "visits": n,
                    "outermost": n, "wall_ns": {"inclusive": 1, "visits": n}
                }) + "\n")

    def test_counts_for_each_visit_of_a_region(self):
        self.write(0, [1000, 2000])
        self.write(1, [3000, 3000])
        missing = self.pfm("--per", "solve visit", "0.data", "1.data")
        self.assertEqual((missing.returncode, missing.stdout), (2, ""))
        self.assertIn("0.data.regions: No such file or directory; record visits with 'pfm record "
                      "--regions'", missing.stderr)
        self.write_visits(0, [("all", None, 1), ("solve", "all", 400), ("solve", "retry", 100)])
        self.write_visits(1, [("all", None, 1), ("solve", "all", 1500)])
        rows = self.rows("--per", "solve visit")
        self.assertAlmostEqual(rows["f0"]["change"], 0)
        self.assertAlmostEqual(rows["f1"]["change"], -1 / 3)
        self.assertTrue(rows["f1"]["significant"])
        self.assertAlmostEqual(rows[None]["change"], -1 / 3)
        for unit in "sort visit", "region visit":
            wrong = self.pfm("--per", unit, "0.data", "1.data")
            self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
            self.assertIn("expected a region of 0.data before ' visit', got '%s'; it has visited "
                          "all, solve\n" % unit, wrong.stderr)
        for name in 0, 1:
            self.write_visits(name, [("loop", None, 500 + 1000 * name)])
        self.assertAlmostEqual(self.rows("--per", "region visit")["f1"]["change"], -1 / 3)

    def test_counts_for_each_second(self):
        self.write(0, [1000, 500])
        self.write(1, [3000, 1500])    # three times as long
        for row in self.rows("--normalize", "time").values():
            self.assertAlmostEqual(row["change"], 0, delta=0.01)
            self.assertFalse(row["significant"])

    def test_wrong_recordings_are_refused(self):
        self.write(0, [10])
        for args, status, said in ((["0.data"], 2, "or OLD... -- NEW..., got 1"),
                                   (["0.data", "missing"], 2, "missing: no such file"),
                                   (["--fail-above", "x", "0.data",
                                     "0.data"], 2, "expected a percentage"),
                                   (["--fail-above", "5%%", "0.data",
                                     "0.data"], 2, "expected a percentage"),
                                   (["--sort", "address", "0.data", "0.data"], 2,
                                    "--sort: expected"), (["-e", "other", "0.data",
                                                           "0.data"], 2, "no event in common")):
            with self.subTest(args):
                done = self.pfm(*args)
                self.assertEqual((done.returncode, done.stdout), (status, ""))
                self.assertIn(said, done.stderr)

    def test_rows_beyond_the_limit_are_counted(self):
        self.write(0, [100] * 20)
        self.write(1, [100 + i for i in range(20)])
        self.assertEqual(len(self.rows("-n", "3")), 3)
        text = self.pfm("--limit", "3", "0.data", "1.data").stdout
        self.assertIn("\n17 more places changed less; -n 0 shows all\n", text)
        table, notes = text.split("\n\n")
        self.assertEqual(len(table.splitlines()), 2 + 3 + 1)
        self.assertIn("how much two runs of one program differ is not known", notes)


def write_run(path, program, counts, seconds):
    """A recording with so many samples of each function, in so many seconds."""
    made = Events()
    made.attr()
    made.comm(5, b"work")
    made.map(5, 0x1000, program.encode())
    last = 1000 + int(seconds * 1e9)
    for f, count in enumerate(counts):
        body = struct.pack("<QQIIQQ", 1, 0x1004 + 16 * f, 5, 5, 1000, 1000)
        made.data.append((struct.pack("<IHH", 9, 2, 8 + len(body)) + body) * (count - (f == 0)))
    made.record(9, struct.pack("<QQIIQQ", 1, 0x1004, 5, 5, last, 1000))
    made.write(path)


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class Runs(unittest.TestCase):
    """Several recordings of each side, of simulated runs on a loaded machine.

    The costs of all functions differ from run to run by 1 % together and each by 1 %. A program
    with a function of two thirds differed less, beside builds that kept both CPUs busy: by 1.0 % of
    its samples and 0.55 % of its share. Samples are independent, which those of a clock are not.
    """
    RUNS, SAMPLES, TOGETHER, EACH = 5, 10000, 0.01, 0.01
    COSTS = [2 / 3, *(1 / 3 / 19 for _ in range(19))]

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perfmon-runs-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.program = os.path.join(self.folder, "program")
        with open(self.program, "wb") as f:
            f.write(crafted_program([f.encode() for f in FUNCTIONS]))

    def draw(self, draw, path, slower=1.0, together=TOGETHER):
        """A run, in which the first function is slower."""
        together = draw.lognormvariate(0, together)
        costs = [
            self.SAMPLES * c * together * draw.lognormvariate(0, self.EACH) *
            (slower if i == 0 else 1) for i, c in enumerate(self.COSTS)
        ]
        counts = [max(1, round(draw.gauss(c, math.sqrt(c)))) for c in costs]
        seconds = sum(costs) / 1000 * draw.lognormvariate(0, 0.2)
        write_run(os.path.join(self.folder, path), self.program, counts, seconds)

    def paths(self, side):
        return ["%s%d.data" % (side, i) for i in range(self.RUNS)]

    def draw_sides(self, draw, slower, together=TOGETHER):
        for path in self.paths("a"):
            self.draw(draw, path, 1, together)
        for path in self.paths("b"):
            self.draw(draw, path, slower, together)

    def diff(self, *args):
        return subprocess.run([PFM, "diff", *args], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, check=False)

    def rows(self, *args):
        done = self.diff("--json", *args, *self.paths("a"), "--", *self.paths("b"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {r.get("function"): r for r in map(json.loads, done.stdout.splitlines())}

    def test_a_regression_of_a_tenth_is_marked(self):
        """In at least 19 of 20 comparisons, by its share and by its count."""
        draw, marked = random.Random(11), collections.Counter()
        for _ in range(20):
            self.draw_sides(draw, 1.1)
            for by in "share", "count":
                row = self.rows("--normalize", by)["f0"]
                marked[by] += row["significant"] and row["change"] > 0
                self.assertEqual(row["runs"], {"old": self.RUNS, "new": self.RUNS})
        print("# marked in %s of 20 comparisons" % dict(marked))
        self.assertGreaterEqual(min(marked.values()), 19, marked)

    def test_equal_programs_have_no_change(self):
        """At most 1 of 20 comparisons marks anything: 3 of 60. Intervals hold 95 %. All functions
        together differ by 5 %."""
        draw, marked, intervals, inside = random.Random(12), collections.Counter(), 0, 0
        for _ in range(60):
            self.draw_sides(draw, 1, 0.05)
            for by in ["--normalize", "share"], ["--normalize", "count"], ["--per", "second"]:
                rows = self.rows(*by)
                marked[by[1]] += any(r["significant"] for r in rows.values())
                intervals += len(rows)
                inside += sum(r["low"] < 0 < r["high"] for r in rows.values())
        print("# marked in %s of 60 comparisons; %.1f %% of intervals hold" %
              (dict(marked), 100 * inside / intervals))
        self.assertLessEqual(max(marked.values()), 3, marked)
        self.assertAlmostEqual(inside / intervals, 0.95, delta=0.02)

    def test_differences_between_runs_are_no_change(self):
        """Runs that differ by a tenth: a pair of them is marked by chance in sampling alone, all
        together are not."""
        for side, costs in ("a", (900, 1100, 1000, 950, 1050)), ("b", (1100, 1000, 950, 1080, 990)):
            for path, cost in zip(self.paths(side), costs):
                write_run(os.path.join(self.folder, path), self.program, [10 * cost, 10000], 1)
        rows = self.rows("--normalize", "count")
        self.assertFalse(any(r["significant"] for r in rows.values()), rows)
        pair = self.diff("--json", "--normalize", "count", "a0.data", "b0.data")
        self.assertTrue(json.loads(pair.stdout.splitlines()[1])["significant"])

    def test_values_and_intervals_are_of_the_means_of_runs(self):
        """Student's t of 8 degrees of freedom is 2.306 at 95 % (any table)."""
        counts = {"a": [100, 102, 98, 101, 99], "b": [110, 112, 108, 111, 109]}
        for side, numbers in counts.items():
            for path, n in zip(self.paths(side), numbers):
                write_run(os.path.join(self.folder, path), self.program, [10 * n, 1000], 1)
        row = self.rows("--normalize", "count")["f0"]
        self.assertAlmostEqual(row["old"]["value"], 0.5)
        self.assertAlmostEqual(row["change"], 0.05)
        deviation = math.sqrt(2.5) * 10 / 2000
        self.assertAlmostEqual(row["deviation"], deviation, places=9)
        self.assertAlmostEqual(row["high"] - row["change"], 2.306 * deviation * math.sqrt(2 / 5),
                               places=5)

    def test_what_recordings_cannot_show_is_said(self):
        """One of each: differences between runs; how many would show what is not marked."""
        draw = random.Random(13)
        write_run(os.path.join(self.folder, "a0.data"), self.program, [1000, 500], 1)
        write_run(os.path.join(self.folder, "b0.data"), self.program, [1060, 500], 1)
        one = self.diff("a0.data", "b0.data").stdout
        self.assertIn("how much two runs of one program differ is not known", one)
        needed = int(re.search(r"at least (\d+) recordings of each side are needed", one)[1])
        # 2 (1.96 + 1.64)^2 times the variance over the square of the change, and one more
        share, other = 1000 / 1500, 1060 / 1560
        variance = (share * (1 - share) / 1500 + other * (1 - other) / 1560) / 2
        expected = 2 * (1.95996 + 1.64485) ** 2 * variance / (other - share) ** 2 + 1
        self.assertAlmostEqual(needed, expected, delta=2)
        self.draw_sides(draw, 1.1)
        several = self.diff(*self.paths("a"), "--", *self.paths("b")).stdout
        self.assertIn("at most 5% are expected to have it by chance", several)
        self.assertRegex(several, r"samples of 5 recordings, then [\d,]+ of 5 recordings")

    def test_wrong_lists_of_recordings_are_refused(self):
        self.draw_sides(random.Random(14), 1)
        for args, said in ((["--", *self.paths("a")], "expected two recordings, or OLD... -- NEW"),
                           ([*self.paths("a"), "--"], "expected two recordings, or OLD... -- NEW"),
                           (self.paths("a"), "expected two recordings, or OLD... -- NEW"),
                           (["--svg", "a0.data", "a1.data", "--",
                             "b0.data"], "--svg compares two recordings"),
                           (["--per", "other", "a0.data", "a1.data", "--", "b0.data"],
                            "an event of all recordings, got 'other'")):
            with self.subTest(args):
                done = self.diff(*args)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(said, done.stderr)
        self.assertEqual(self.diff("--", "a0.data", "b0.data").returncode, 0)


SPINNER = """
#define OUT __attribute__((noinline, noclone))
static volatile unsigned long x;
OUT void half(unsigned long n) { for (unsigned long i = 0; i < n; i++) x += i; }
OUT void quarter(unsigned long n) { for (unsigned long i = 0; i < n; i++) x ^= i; }
OUT void eighth(unsigned long n) { for (unsigned long i = 0; i < n; i++) x -= i; }
OUT void rest(unsigned long n) { for (unsigned long i = 0; i < n; i++) x |= i; }
int main(void)
{
	for (int i = 0; i < TURNS; i++) {
		half(40000 * MORE / 10);
		quarter(20000);
		eighth(10000);
		rest(10000);
	}
	return 0;
}
"""


# Functions with two names, of which one was changed a little, and two that differ.
RENAMED = """
#define OUT __attribute__((noinline, noclone))
OUT unsigned FIRST(const char *text, unsigned start)
{
	unsigned hash = start;
	for (const char *c = text; *c; c++) {
		if (*c == ' ')
			continue;
		hash = (hash << 5) + hash + (unsigned char)*c;
		hash ^= hash >> 11;
		CHANGE
	}
	return hash ? hash : 1;
}
OUT int SECOND(int *list, int n)
{
	int swaps = 0;
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && list[k - 1] > list[k]; k--) {
			int kept = list[k];
			list[k] = list[k - 1];
			list[k - 1] = kept;
			swaps++;
		}
	return swaps;
}
#ifdef OLD
OUT long only_old(long n) { long sum = 0; while (n > 1) { sum += n % 7; n = n % 2 ? 3 * n + 1 : n / 2; } return sum; }
#else
OUT double only_new(double x, int n) { double y = x; for (int i = 0; i < n; i++) y = y * x + i / (y + 2); return y; }
#endif
OUT int stays(int n) { return n * 3; }
int _start(void)
{
	int list[] = { 3, 1, 2 };
	return (int)FIRST("text", 7) + SECOND(list, 3) + stays(4);
}
"""


@unittest.skipIf(sys.byteorder == "big", "recordings of this order are not crafted")
class Renamed(unittest.TestCase):
    """Functions that one side alone has are offered by their code, and stay apart."""

    def setUp(self):
        if not shutil.which("gcc") or os.uname().machine not in ("x86_64", "aarch64"):
            self.skipTest("no C compiler (Debian: gcc) for a processor whose code is compared")
        self.folder = tempfile.mkdtemp(prefix="perfmon-renamed-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.make("0", "-DOLD", "-DFIRST=hash_text", "-DSECOND=sort_rows", "-DCHANGE=")
        self.make("1", "-DFIRST=digest", "-DSECOND=order_rows", "-DCHANGE=hash+=3;")

    def make(self, side, *args):
        """A program, and a recording with 100 samples in each of its functions."""
        source, program = (os.path.join(self.folder, n) for n in ("work.c", side + "/work"))
        os.mkdir(os.path.dirname(program))
        with open(source, "w", encoding="utf-8") as f:
            f.write(RENAMED)
        subprocess.run(["gcc", "-O1", "-nostdlib", "-static", "-no-pie", "-fcf-protection=none",
                        "-Wl,-z,noseparate-code", *args, "-o", program, source], check=True)
        listed = subprocess.run(["nm", "-f", "posix", program], capture_output=True, text=True,
                                check=True).stdout
        made = Events()
        made.attr()
        made.comm(5, b"work")
        made.map_whole(5, 0x10000000, program.encode())
        base = self.first_address(program)
        for line in listed.splitlines():
            name, kind, address = line.split()[:3]
            if kind in "Tt" and name not in ("_start", "main"):
                for _ in range(100):
                    made.add(1, 0x10000000 + int(address, 16) - base, 1000)
        made.write(os.path.join(self.folder, side + ".data"))

    def first_address(self, program):
        """That of the first segment, which begins with the file."""
        listed = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True,
                                check=True).stdout
        return int(next(line.split()[2] for line in listed.splitlines()
                        if line.split()[:2] == ["LOAD", "0x000000"]), 16)

    def diff(self, *args, status=0):
        done = subprocess.run([PFM, "diff", *args, "0.data", "1.data"], cwd=self.folder,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_functions_with_code_that_is_alike_are_offered(self):
        rows = list(map(json.loads, self.diff("--json").stdout.splitlines()))
        offers = {r["old"]["function"]: r for r in rows if "offered" in r}
        self.assertEqual({name: o["new"]["function"] for name, o in offers.items()},
                         {"hash_text": "digest", "sort_rows": "order_rows"})
        self.assertEqual(offers["sort_rows"]["alike"], 1)
        self.assertGreater(offers["hash_text"]["alike"], 0.7)
        self.assertLess(offers["hash_text"]["alike"], 1)
        alone = {r["function"] for r in rows if "offered" not in r and
                 0 in (r["old"]["samples"], r["new"]["samples"])}
        self.assertEqual(alone, {"hash_text", "digest", "sort_rows", "order_rows", "only_old",
                                 "only_new"})
        text = " ".join(self.diff().stdout.split())
        self.assertIn("Perhaps renamed or moved: sort_rows of work (25.00%) and order_rows of work "
                      "(25.00%) have code that is 100% alike; --match OLD=NEW compares them as "
                      "one.", text)

    def test_functions_that_the_user_matches_are_one(self):
        said = self.diff("--json", "--match", "sort_rows=order_rows", "--match", "hash_text=digest")
        rows = {r["function"]: r for r in map(json.loads, said.stdout.splitlines())}
        self.assertEqual(set(rows), {"order_rows", "digest", "stays", "only_old", "only_new"})
        for name in "order_rows", "digest":
            self.assertEqual((rows[name]["old"]["samples"], rows[name]["new"]["samples"]),
                             (100, 100))
        for wrong in "sort_rows", "sort_rows=", "sort_rows=missing", "missing=digest":
            said = self.diff("--match", wrong, status=2)
            self.assertIn("--match: expected OLD=NEW, a function of the old recordings and one of "
                          "the new ones, got '%s'" % wrong, said.stderr)

    def test_code_that_is_not_here_is_said(self):
        os.remove(os.path.join(self.folder, "0", "work"))
        said = self.diff("--json")
        self.assertFalse([line for line in said.stdout.splitlines() if "offered" in line])
        self.assertIn("1 function or file of one side alone could not be compared by its code",
                      " ".join(self.diff().stdout.split()))


class Recorded(unittest.TestCase):
    """Recordings of a program: two runs never have the same samples.

    PERFMON_LONG  100 pairs of recordings, instead of 12
    """
    PAIRS = 100 if os.environ.get("PERFMON_LONG") else 12

    def setUp(self):
        cc = shutil.which("cc") or shutil.which("gcc")
        if not cc:
            self.skipTest("no C compiler (Debian: gcc)")
        self.folder = tempfile.mkdtemp(prefix="perfmon-diff-")
        self.addCleanup(shutil.rmtree, self.folder)
        with open(os.path.join(self.folder, "spin.c"), "w", encoding="utf-8") as f:
            f.write(SPINNER)
        for name, turns, more in (("short", 400, 10), ("long", 12000, 10), ("slower", 12000, 11)):
            subprocess.run(
                [cc, "-O1",
                 "-DTURNS=%d" % turns,
                 "-DMORE=%d" % more, "-o", name, "spin.c"], cwd=self.folder, check=True)

    def record(self, program, out, *args):
        done = subprocess.run(
            [PFM, "record", "-e", "task-clock:u", *args, "-o", out, "--", "./" + program],
            cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            self.skipTest(done.stderr)

    def diff(self, *args):
        done = subprocess.run([PFM, "diff", "--json", *args], cwd=self.folder, capture_output=True,
                              text=True, timeout=60, check=False)
        return done.returncode, {
            row.get("function"): row for row in map(json.loads, done.stdout.splitlines())
        }

    def test_a_program_beside_itself(self):
        """A change is marked in so few comparisons as happen with 5 % each in 99 of 100 such tests,
        and no build fails."""
        marked, failed = collections.Counter(), collections.Counter()
        for _ in range(self.PAIRS):
            for out in "0.data", "1.data":
                self.record("short", out, "-F", "2000")
            for by in "share", "count":
                status, rows = self.diff("--normalize", by, "--fail-above", "5%", "0.data",
                                         "1.data")
                self.assertGreater(rows["half"]["old"]["samples"], 30)
                marked[by] += any(row["significant"] for row in rows.values())
                failed[by] += status
        print("# marked in %s, failed in %s of %d comparisons" %
              (dict(marked), dict(failed), self.PAIRS))
        most = next(k for k in range(self.PAIRS)
                    if binomial_at_least(k + 1, self.PAIRS, 0.05) < 0.01)
        self.assertLessEqual(max(marked.values()), most)
        self.assertEqual(sum(failed.values()), 0)

    def test_runs_in_turns(self):
        """pfm record -r: a file for each run, old and new in turns."""
        done = subprocess.run([
            PFM, "record", "-e", "task-clock:u", "-r", "2", "--alternate", "-o", "out.data", "--",
            "./short", ":: ", "::", "./short", "--"
        ], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("'pfm diff out.old.*.data -- out.new.*.data' compares them", done.stderr)
        made = sorted(name for name in os.listdir(self.folder) if name.startswith("out."))
        self.assertEqual(made, ["out.%s.%d.data" % (s, i) for s in ("new", "old") for i in (1, 2)])
        times = [os.stat(os.path.join(self.folder, "out.%s.%d.data" % (s, i))).st_mtime_ns
                 for i in (1, 2) for s in ("old", "new")]
        self.assertEqual(times, sorted(times))
        status, rows = self.diff("out.old.1.data", "out.old.2.data", "--", "out.new.1.data",
                                 "out.new.2.data")
        self.assertEqual((status, rows["half"]["runs"]), (0, {"old": 2, "new": 2}))

    def test_runs_that_cannot_be(self):
        for args, status, said in (
            (["--alternate", "--", "./short"], 2, "--alternate needs -r"),
            (["-r", "2"], 2, "expected a command"),
            (["-r", "2", "--alternate", "--", "./short"], 2, "expected two commands, OLD :: NEW"),
            (["-r", "2", "--alternate", "--", "./short", "::"], 2, "expected two commands"),
            (["-r", "2", "--", "false"], 1, "run 1 of false ended with status 1")):
            with self.subTest(args):
                done = subprocess.run([PFM, "record", "-e", "task-clock:u", *args], cwd=self.folder,
                                      capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, status)
                self.assertIn(said, done.stderr)

    def test_a_function_that_takes_a_tenth_longer(self):
        """Half of the time: its share grows by 2.4 % of the whole."""
        self.record("long", "0.data", "-F", "10000")
        self.record("slower", "1.data", "-F", "10000")
        _, rows = self.diff("--sort", "symbol", "0.data", "1.data")
        print(
            "# ", {
                name: ("%.2f%%" % (100 * r["change"]), r["p"])
                for name, r in rows.items() if r["old"]["samples"] > 100
            })
        self.assertTrue(rows["half"]["significant"], rows["half"])
        # Intervals of 95 % miss in one of 20 tests, those that are twice as wide in one of 10,000.
        middle, width = (rows["half"]["high"] +
                         rows["half"]["low"]) / 2, rows["half"]["high"] - rows["half"]["low"]
        self.assertLess(abs(middle - 0.024), width, rows["half"])
        self.assertEqual(max(rows, key=lambda name: rows[name]["change"]), "half")


if __name__ == "__main__":
    tap.main()
