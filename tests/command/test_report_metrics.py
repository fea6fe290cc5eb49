#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Metrics of functions: pfm record -M and pfm report --metrics, beside sums that are made here.

    PFM  the command (default: pfm of the path)
"""
import collections
import itertools
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
from test_report_columns import MARKED, columns_of, on_terminal  # noqa: E402
from test_record import PFM, Crafted, crafted_program  # noqa: E402

IP, TID, TIME, READ, CALLCHAIN, CPU, PERIOD, IDENTIFIER = (
    1,
    2,
    4,
    1 << 4,
    1 << 5,
    1 << 7,
    1 << 8,
    1 << 16,
)
TIMES, ID, GROUP = 3, 4, 8    # bits of a read format
N_FUNCTIONS = 200
CYCLES, INSTRUCTIONS, REFERENCES, MISSES, TASK_CLOCK = 1, 2, 3, 4, 5     # ids
# type and configuration of each; the first of a group samples
EVENTS = {
    CYCLES: (0, 0), INSTRUCTIONS: (0, 1), TASK_CLOCK: (1, 1), REFERENCES: (0, 2), MISSES: (0, 3)
}
GROUPS = ((CYCLES, INSTRUCTIONS), (TASK_CLOCK, REFERENCES, MISSES))
# counts: of each member; stack: outermost first
Sample = collections.namedtuple("Sample", "group time stack counts")


class Recording(Crafted):
    """Two groups that their leaders sample, which share the counters: each is counted half of the
    time."""

    def __init__(self):
        super().__init__()
        self.totals, self.running = collections.Counter(), collections.Counter()

    def attrs(self):
        for number, (kind, config) in EVENTS.items():
            attr = bytearray(112)
            fields = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | READ | CALLCHAIN
            struct.pack_into("<IIQQQQ", attr, 0, kind, 112, config, 1, fields, TIMES | ID | GROUP)
            struct.pack_into("<Q", attr, 40, 1 << 18)
            self.record(64, bytes(attr) + struct.pack("<Q", number), 0)

    def trailer(self, pid):
        return struct.pack("<IIQIIQ", pid, pid, self.time, 0, 0, CYCLES)

    def add(self, s):
        members = GROUPS[s.group]
        self.time = s.time
        for number, count in zip(members, s.counts):
            self.totals[number] += count
        self.running[s.group] += 1000
        read = struct.pack("<QQQ", len(members), 2 * self.running[s.group], self.running[s.group])
        read += b"".join(struct.pack("<QQ", self.totals[number], number) for number in members)
        chain = [2 ** 64 - 512] + [0x1004 + 16 * f for f in reversed(s.stack)]
        self.record(
            9,
            struct.pack("<QQIIQIIQ", members[0], chain[1], 5, 5, s.time, 0, 0, 1) + read +
            struct.pack("<Q%dQ" % len(chain), len(chain), *chain))


def drawn(n, seed):
    """Function f retires 0.5 + f / 100 instructions in a clock and misses a share of f / 400 of the
    cache, on average."""
    draw, samples = random.Random(seed), []
    for i in range(n):
        f = draw.randrange(N_FUNCTIONS - 1)    # the last one has no samples of its own but two
        group = draw.randrange(2)
        if group == 0:
            cycles = draw.randrange(50000, 150000)
            counts = (cycles, int(cycles * (0.5 + f / 100) * draw.uniform(0.6, 1.4)))
        else:
            references = draw.randrange(1000, 9000)
            counts = (draw.randrange(40000, 60000), references,
                      int(references * f / 400 * draw.uniform(0.5, 1.5)))
        samples.append(Sample(group, 10 ** 9 + 50000 * i + draw.randrange(50000), (199, f), counts))
    for group in (0, 1):
        samples.append(
            Sample(group, 10**9 + 50000 * (n + group), (N_FUNCTIONS - 1, ),
                   (1000, 2000, 30)[:2 + group]))
    return samples


class Apart(Recording):
    """Two events that sample each for itself, with one period: 100 samples of each, of which a
    function has a share."""

    def attrs(self):
        for number in (CYCLES, INSTRUCTIONS):
            attr = bytearray(112)
            struct.pack_into("<IIQQQ", attr, 0, 0, 112, EVENTS[number][1], 10 ** 6,
                             IDENTIFIER | IP | TID | TIME | CPU)
            struct.pack_into("<Q", attr, 40, 1 << 18)
            self.record(64, bytes(attr) + struct.pack("<Q", number), 0)

    def trailer(self, pid):
        return struct.pack("<IIQIIQ", pid, pid, self.time, 0, 0, CYCLES)

    def take(self, number, function, draw):
        self.time += draw.randrange(400000, 600000)
        self.record(9, struct.pack("<QQIIQII", number, 0x1004 + 16 * function, 5, 5, self.time, 0,
                                   0))


PROGRAM = """
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
static volatile unsigned x;
__attribute__((noinline)) void spin(void) { for (unsigned i = 0; i < 40000000; i++) x += i; }
__attribute__((noinline)) void touch(void)
{
	size_t size = 2000 * 4096;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	munmap(p, size);
}
/* With arguments: moves to the CPU of each in turn. */
int main(int argc, char **argv)
{
	for (int i = 0; i < 20; i++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		if (argc > 1) {
			CPU_SET(atoi(argv[1 + i % (argc - 1)]), &set);
			sched_setaffinity(0, sizeof(set), &set);
		}
		spin();
		touch();
	}
	puts("done");
	return 3;
}
"""


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="perfmon-report-metrics-")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def pfm(self, *args):
        return subprocess.run([PFM, *args], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, check=False)

    def values(self, *args):
        """Value of each metric, with its interval, by function (or by node of a tree)."""
        done = self.pfm("report", "--json", "--sort", "symbol", *args)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        out, nodes = {}, {}
        for line in done.stdout.splitlines():
            p = json.loads(line)
            path = nodes.get(p.get("parent"), ()) + (p["function"],)
            nodes[p.get("node")] = path
            out[path if "node" in p else p["function"]] = {m["metric"]: m for m in p["metrics"]}
        return out


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class EventsThatSampleApart(Base):
    """The number of samples in the whole recording is that of the periods counted, within one."""

    def record(self, functions):
        program = os.path.join(self.folder, "program")
        with open(program, "wb") as f:
            f.write(crafted_program([b"f%d" % i for i in range(2)]))
        made = Apart()
        made.attrs()
        made.map(5, 0x1000, program.encode())
        draw = random.Random(11)
        for function in functions:
            made.take(CYCLES, function, draw)
            made.take(INSTRUCTIONS, function, draw)
        made.write(os.path.join(self.folder, "perf.data"))

    def test_the_samples_of_each_event_are_counted(self):
        self.record([0] * 100)
        self.assertIn("samples: 100 of cycles, 100 of instructions\n",
                      self.pfm("report", "--metrics=hardware::ipc").stdout)

    def test_a_function_with_all_samples_is_known_within_a_period(self):
        self.record([0] * 100)
        ipc = self.values("--metrics=hardware::ipc")["f0"]["ipc"]
        self.assertAlmostEqual(ipc["value"], 1)
        self.assertLess(ipc["error"], 0.01)

    def test_a_function_with_half_of_them_is_not(self):
        """Of 200 samples that fall on two functions by chance, 100 +- 7 are on one of them."""
        draw = random.Random(5)
        self.record([draw.randrange(2) for _ in range(200)])
        ipc = self.values("--metrics=hardware::ipc")["f0"]["ipc"]
        self.assertGreater(ipc["error"], 0.05)
        self.assertLess(ipc["error"], 0.15)


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class Crafts(Base):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        program = os.path.join(cls.folder, "program")
        with open(program, "wb") as f:
            f.write(crafted_program([b"f%d" % i for i in range(N_FUNCTIONS)]))
        cls.samples = drawn(24000, 3)
        made = Recording()
        made.attrs()
        made.map(5, 0x1000, program.encode())
        for s in cls.samples:
            made.add(s)
        made.write(os.path.join(cls.folder, "perf.data"))

    def counts(self, belongs):
        """For each event of the samples that belong, what each of them counted."""
        out = collections.defaultdict(list)
        for s in filter(belongs, self.samples):
            for number, count in zip(GROUPS[s.group], s.counts):
                out[number].append(count)
        return out

    def ratio(self, above, below):
        """Quotient of the sums, and the standard error that the samples' residuals give (the delta
        method)."""
        value = sum(above) / sum(below)
        return value, math.sqrt(sum((a - value * b)**2 for a, b in zip(above, below))) / sum(below)

    def test_values_of_functions_are_quotients_of_their_sums(self):
        got = self.values("--metrics=hardware::ipc,hardware::cache_miss_share,hardware::ghz")
        ratios = []
        for f in range(N_FUNCTIONS - 1):
            have, want = got["f%d" % f], self.counts(lambda s, f=f: s.stack[-1] == f)
            for metric, above, below, unit in (("ipc", INSTRUCTIONS, CYCLES, 1),
                                               ("cache_miss_share", MISSES, REFERENCES, 100)):
                value, error = self.ratio(want[above], want[below])
                self.assertAlmostEqual(have[metric]["value"], unit * value, places=9)
                self.assertEqual(have[metric]["samples"], len(want[above]))
                if error:
                    ratios.append(have[metric]["error"] / (unit * error))
            # Groups that took turns: both are scaled to the whole time, which is twice theirs.
            self.assertAlmostEqual(have["ghz"]["value"],
                                   sum(want[CYCLES]) / sum(want[TASK_CLOCK]), places=9)
            self.assertEqual(have["ghz"]["samples"], min(len(want[CYCLES]), len(want[TASK_CLOCK])))
        self.assertAlmostEqual(sum(ratios) / len(ratios), 1, delta=0.1)

    def test_intervals_hold_the_truth_as_often_as_they_say(self):
        got = self.values("--metrics=hardware::ipc,hardware::cache_miss_share")
        inside = total = 0
        for f in range(1, N_FUNCTIONS - 1):
            for metric, truth in (("ipc", 0.5 + f / 100), ("cache_miss_share", f / 4)):
                m = got["f%d" % f][metric]
                inside += m["low"] <= truth <= m["high"]
                total += 1
        self.assertGreater(inside / total, 0.91)
        self.assertLess(inside / total, 0.99)

    def test_too_few_samples_are_named(self):
        got = self.values("--metrics=hardware::ipc")["f%d" % (N_FUNCTIONS - 1)]["ipc"]
        self.assertEqual(
            got, {
                "metric": "ipc", "unit": "insn per cycle", "samples": 1, "value": None,
                "why": "too few samples"
            })
        self.assertIn("too few samples (1)",
                      self.pfm("report", "--metrics=hardware::ipc", "-n", "0").stdout)

    def test_nodes_have_the_counts_of_their_callees(self):
        root = "f%d" % (N_FUNCTIONS - 1)
        for args, path, belongs in ((["-g"], (root, ), lambda s: True),
                                    (["-g"], (root, "f7"), lambda s: s.stack[-1] == 7),
                                    (["--call-graph=callee"], ("f7", root),
                                     lambda s: s.stack[-1] == 7)):
            want = self.counts(belongs)
            got = self.values(*args, "--metrics=hardware::ipc")[path]["ipc"]
            self.assertAlmostEqual(got["value"],
                                   sum(want[INSTRUCTIONS]) / sum(want[CYCLES]), places=9)
            self.assertEqual(got["samples"], len(want[CYCLES]))

    def test_slices_have_their_own_counts(self):
        done = self.pfm("report", "--json", "--sort", "symbol", "--time-slices", "2",
                        "--metrics=hardware::ipc")
        places = [json.loads(line) for line in done.stdout.splitlines()]
        got = {(p["function"], p["from"] > 0): p["metrics"][0] for p in places}
        times = [s.time for s in self.samples]
        middle = (min(times) + max(times)) / 2
        want = self.counts(lambda s: s.stack[-1] == 20 and s.time >= middle)
        self.assertAlmostEqual(got["f20", True]["value"],
                               sum(want[INSTRUCTIONS]) / sum(want[CYCLES]), places=9)

    def test_columns_of_a_terminal(self):
        """On a narrow terminal, cells become narrower; then metrics and the function's own share
        are omitted."""
        metrics = json.loads(
            self.pfm("report", "--metrics", "--json", "-n", "1").stdout.splitlines()[0])["metrics"]
        names = [m["metric"] for m in metrics]
        self.assertGreater(len(names), 2)
        shown = {}
        for width, tree in itertools.product((60, 80, 97, 120, 160, 200, 300), ([], ["-g"])):
            with self.subTest(width=width, tree=tree):
                lines = on_terminal(width, "report", "--metrics", "-n", "30", *tree,
                                    folder=self.folder)
                self.assertEqual([line for line in lines if columns_of(line) > width], [])
                rows = [line for line in lines if MARKED.match(line)]
                self.assertEqual(len(rows), 30)
                self.assertEqual([line for line in rows if not re.search(r" f\d+$", line)], [])
                hidden = re.search(r"Hidden metrics: ([\w, \n]*);", "\n".join(lines))
                hidden = re.split(r",\s*", hidden[1]) if hidden else []
                self.assertEqual(hidden, names[len(names) - len(hidden):])
                shown[width, bool(tree)] = len(names) - len(hidden)
                self.assertEqual(lines[1].split()[0], "children" if tree else "samples")
                self.assertEqual("self" in lines[1].split(), bool(tree) and width >= 80)
        self.assertEqual(shown[300, True], len(names))
        self.assertEqual(shown[60, False], 1)
        for tree in False, True:
            numbers = [shown[key] for key in sorted(shown) if key[1] == tree]
            self.assertEqual(numbers, sorted(numbers))

    def test_metrics_without_their_events(self):
        done = self.pfm("report", "--metrics=hardware::branch_miss_share")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("branch_miss_share is left out: it needs hardware::branch", done.stderr)
        self.assertIn("no events from which a metric can be computed", done.stderr)
        done = self.pfm("report", "--metrics=hardware::no_metric")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        for args in (["--children"], ["--folded"], ["--svg"], ["-e", "cycles"]):
            self.assertEqual(self.pfm("report", "--metrics", *args).returncode, 2)
        self.assertEqual(self.pfm("report", "--metrics=").returncode, 2)


class Recorded(Base):
    def setUp(self):
        super().setUp()
        cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if not cc:
            self.skipTest("no C compiler: install gcc")
        with open(os.path.join(self.folder, "p.c"), "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run([cc, "-O1", "-fno-omit-frame-pointer", "-o", "program", "p.c"],
                       cwd=self.folder, check=True)

    def record(self, *args, cpus=()):
        done = self.pfm("record", *args, "--", "./program", *map(str, cpus))
        if done.returncode == 1:
            self.skipTest(done.stderr)
        self.assertEqual((done.returncode, done.stdout), (3, "done\n"), done.stderr)
        return done

    def record_running(self, *args, cpus=()):
        """From outside, while the program runs."""
        with subprocess.Popen(["./program", *map(str, cpus)], cwd=self.folder,
                              stdout=subprocess.DEVNULL) as p:
            done = self.pfm("record", *args, "-p", str(p.pid))
        if done.returncode:
            self.skipTest(done.stderr)

    def test_rates_of_a_program_that_moves_between_cpus(self):
        cpus = sorted(os.sched_getaffinity(0))[:4]
        if len(cpus) < 2:
            self.skipTest("one CPU: a program cannot move")
        for record in (self.record, self.record_running):
            with self.subTest(record.__name__):
                record("-g", "-F", "1000", "-M", "faults_per_second,cpus_used", cpus=cpus)
                tree = self.values("--metrics", "-g")
                used = max(m["cpus_used"]["value"] or 0 for m in tree.values())
                if not used:
                    self.skipTest("the machine was too slow to take samples")
                self.assertLess(used, 1.1)

    def test_page_faults_belong_to_the_function_that_has_them(self):
        done = self.record("-g", "-F", "1000", "-M", "faults_per_second,cpus_used")
        self.assertIn("'pfm report --metrics' shows them", done.stderr)
        tree = self.values("--metrics", "-g")
        nodes = {}
        for path, m in sorted(tree.items(), key=lambda node: node[1]["cpus_used"]["samples"]):
            nodes[path[-1]] = m    # of several nodes of one function the heaviest
        if any(
                nodes.get(name, {}).get("faults_per_second", {}).get("value") is None
                for name in ("spin", "touch", "main")):
            self.skipTest("the machine was too slow to take samples")
        self.assertEqual(set(nodes["main"]), {"faults_per_second", "cpus_used"})
        rate = {name: m["faults_per_second"]["value"] for name, m in nodes.items()}
        used = {name: m["cpus_used"]["value"] for name, m in nodes.items()}
        self.assertGreater(rate["touch"], 20 * rate["spin"])
        self.assertGreater(rate["main"], rate["spin"])
        for name in ("spin", "touch", "main"):
            self.assertGreater(used[name], 0)
            self.assertLess(used[name], 1.1)
        # The page faults of the loop are all there: 20 times 2000.
        faults = self.pfm("report", "--json", "-e", "software::page-faults").stdout.splitlines()
        self.assertAlmostEqual(sum(json.loads(line)["weight"] for line in faults), 40000,
                               delta=2500)
        text = self.pfm("report", "--metrics").stdout
        self.assertRegex(text, r"\n +samples +faults_per_second \[/s\] +cpus_used \[CPUs used\]\n")

    def test_a_kernel_that_cannot_sample_inherited_groups(self):
        """Before Linux 6.12: the children are left out, and a message says so."""
        shim = os.path.join(os.environ["PERFMON_BUILD"], "tests", "libold_groups.so")
        done = subprocess.run([PFM, "record", "-M", "faults_per_second", "-F", "999", "--",
                               "./program"], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, "LD_PRELOAD": shim})
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("this kernel cannot sample groups of child processes and threads: they are "
                      "left out", done.stderr)
        self.assertNotIn("no samples", done.stderr)
        self.assertGreater(self.values("--metrics")["touch"]["faults_per_second"]["samples"], 0)

    def test_wrong_metrics_are_refused(self):
        for args, status in ((["-M", ""], 2), (["-M", "ipc", "-M",
                                                "ghz"], 2), (["-M", "no_metric_of_this_name"], 1)):
            done = self.pfm("record", *args, "--", "true")
            self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)


if __name__ == "__main__":
    tap.main()
