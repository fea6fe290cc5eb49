#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Views of pfm report over crafted recordings: what is expected is added up here, sample by sample.

    PFM  the command (default: pfm of the path)
"""
import collections
import fcntl
import json
import os
import pty
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402
from instructions import count_instructions  # noqa: E402
from test_record import PFM, Crafted, crafted_program  # noqa: E402
from waiting import wait_until  # noqa: E402

IP, TID, TIME, CALLCHAIN, CPU, PERIOD, CGROUP = 1, 2, 4, 1 << 5, 1 << 7, 1 << 8, 1 << 21
FUNCTIONS = ["f%d" % i for i in range(8)]
# stack: numbers of functions, the outermost first
Sample = collections.namedtuple("Sample", "pid cpu time weight stack cgroup")


def is_pipe_empty(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))) == (0,)


class Recording(Crafted):
    """With CPUs, call chains and control groups; every time is given."""

    def attr(self, ids=(1,), config=1):
        attr = bytearray(112)
        fields = IP | TID | TIME | CPU | PERIOD | CALLCHAIN | CGROUP
        struct.pack_into("<IIQQQ", attr, 0, 1, 112, config, 1, fields)
        struct.pack_into("<Q", attr, 40, 1 << 18)
        self.record(64, bytes(attr) + struct.pack("<%dQ" % len(ids), *ids), 0)

    def trailer(self, pid):
        return struct.pack("<IIQII", pid, pid, self.time, 0, 0)

    def cgroup(self, number, path):
        self.record(19,
                    struct.pack("<Q", number) + path + bytes(8 - len(path) % 8) + self.trailer(0),
                    0)

    def add(self, s):
        self.time = s.time
        chain = [2 ** 64 - 512] + [0x1004 + 16 * f for f in reversed(s.stack)]
        self.record(
            9,
            struct.pack("<QIIQIIQQ", chain[1], s.pid, s.pid, s.time, s.cpu, 0, s.weight, len(chain))
            + struct.pack("<%dQ" % len(chain), *chain) + struct.pack("<Q", s.cgroup))


def write(path, program, samples):
    made = Recording()
    made.attr()
    made.cgroup(7, b"/seven")
    for pid in sorted({s.pid for s in samples}):
        made.comm(pid, b"task%d" % pid)
        made.map(pid, 0x1000, program.encode())
    for s in samples:
        made.add(s)
    made.write(path)


def drawn(n, seed):
    draw = random.Random(seed)
    return [
        Sample(5 + draw.randrange(2), draw.randrange(3), 10**9 + 10**6 * i, draw.randrange(1, 1000),
               tuple(draw.randrange(8) for _ in range(draw.randrange(1, 6))), draw.choice((7, 9)))
        for i in range(n)
    ]


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="perfmon-report-")
        cls.program = os.path.join(cls.folder, "program")
        with open(cls.program, "wb") as f:
            f.write(crafted_program([name.encode() for name in FUNCTIONS]))
        cls.samples = drawn(3000, 1)
        cls.path = os.path.join(cls.folder, "perf.data")
        write(cls.path, cls.program, cls.samples)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def pfm(self, *args):
        return subprocess.run([PFM, "report", *args], cwd=self.folder, capture_output=True,
                              text=True, timeout=60, check=False)

    def places(self, *args):
        done = self.pfm("--json", *args)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def expect(self, args, key, samples=None, weight=lambda p: p["weight"]):
        """The places of the report are those of the samples, which @key adds up."""
        want = collections.Counter()
        for s in self.samples if samples is None else samples:
            want[key(s)] += s.weight
        places = self.places(*args)
        total = sum(want.values())
        got = collections.Counter()
        for p in places:
            got[tuple(p[k] for k in ("task", "function", "cpu", "cgroup", "address", "from")
                      if k in p)] += weight(p)
            self.assertAlmostEqual(p["share"], p["weight"] / total)
        self.assertEqual(got, want)
        self.assertEqual(len(places), len(want))

    def test_samples_are_added_up_by_each_key(self):
        self.expect(["--sort", "symbol"], lambda s: (FUNCTIONS[s.stack[-1]],))
        self.expect(["--sort", "task,cpu"], lambda s: ("task%d" % s.pid, s.cpu))
        self.expect(["--sort", "cgroup"], lambda s: ("/seven" if s.cgroup == 7 else "[cgroup 9]",))
        self.expect(["--sort", "address"], lambda s: ("%#x" % (0x1004 + 16 * s.stack[-1]),))
        self.expect([], lambda s: ("task%d" % s.pid, FUNCTIONS[s.stack[-1]]))

    def test_addresses_of_two_runs_are_those_of_the_file(self):
        """A program that is loaded at another address each time."""
        made = Recording()
        made.attr()
        for pid, start in (5, 0x1000), (6, 0x7f0000):
            made.comm(pid, b"work")
            made.map(pid, start, self.program.encode())
            made.time += 1
            made.add(Sample(pid, 0, made.time, 10, (3 + (start - 0x1000) // 16, ), 7))
        path = os.path.join(self.folder, "runs.data")
        made.write(path)
        rows = self.places("--sort", "address", path)
        self.assertEqual([(r["object"], r["address"], r["samples"]) for r in rows],
                         [(self.program, "0x1034", 2)])

    def test_places_without_a_line_have_a_name(self):
        rows = self.pfm("--sort", "line").stdout.splitlines()[1:]
        self.assertEqual([r.split("  ")[-1] for r in rows if r], ["[unknown line]"])

    def read_slowly(self, command, error):
        """Standard output of a command that waits for two seconds in the middle of the
        recording."""
        with open(self.path, "rb") as f:
            recording = f.read()
        p = subprocess.Popen([PFM, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=error, env=dict(os.environ, TERM="xterm"))
        p.stdin.write(recording[:1000])
        p.stdin.flush()
        wait_until(lambda: is_pipe_empty(p.stdin))
        time.sleep(2.1)    # progress is shown two seconds after the first bytes were read
        out, _ = p.communicate(recording[1000:], timeout=60)
        self.assertEqual(p.returncode, 0)
        return out

    @staticmethod
    def read_all(master):
        """Reads a terminal whose other side is closed: Linux returns EIO at its end."""
        parts = []
        try:
            while part := os.read(master, 65536):
                parts.append(part)
        except OSError:
            pass
        return b"".join(parts).decode()

    def test_a_sample_without_a_task(self):
        """The kernel writes -1 where the task had ended: no number that could be a task's."""
        path = os.path.join(self.folder, "ended.data")
        write(path, self.program, [])
        made = Recording()
        made.attr()
        made.add(Sample(2 ** 32 - 1, 0, 10 ** 9, 5, (1,), 9))
        made.write(path)
        for command in ("report --json",
                        *("export -f " + f
                          for f in ("csv", "json", "firefox", "chrome", "speedscope"))):
            done = subprocess.run([PFM, *command.split(), path], capture_output=True, text=True,
                                  check=True, timeout=60)
            self.assertIn(":-1", done.stdout, command)
            self.assertNotIn("4294967295", done.stdout, command)

    def test_progress_is_for_terminals(self):
        for command in (["report", "--json", "-"], ["export", "-f", "folded", "-"]):
            master, slave = pty.openpty()
            seen = self.read_slowly(command, slave)
            os.close(slave)
            progress = self.read_all(master)
            os.close(master)
            self.assertRegex(progress, r"-: [\d,]+ records")
            self.assertTrue(progress.endswith("\r\x1b[K"), repr(progress))
        with tempfile.TemporaryFile() as error:
            self.assertEqual(self.read_slowly(command, error), seen)
            error.seek(0)
            self.assertEqual(error.read(), b"")

    def test_filters_choose_samples(self):
        for args, wanted in ((["--task",
                               "task5"], lambda s: s.pid == 5), (["--symbol",
                                                                  "f[12]"], lambda s: s.stack[-1] in
                                                                 (1, 2)),
                             (["--time", "0.5,1"], lambda s: 500 <=
                              (s.time - 10**9) // 10**6 < 1000), (["--time", ",1"], lambda s:
                                                                  (s.time - 10**9) // 10**6 < 1000),
                             (["--time", "2.5,"], lambda s: (s.time - 10**9) // 10**6 >= 2500)):
            with self.subTest(args):
                self.expect([*args, "--sort", "symbol"], lambda s: (FUNCTIONS[s.stack[-1]], ),
                            list(filter(wanted, self.samples)))
        done = self.pfm("--task", "nobody")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("has no samples that --task", done.stderr)

    def test_a_function_twice_in_a_stack_counts_once(self):
        """A function that is in a stack twice is counted once."""
        want, self_weight, n = collections.Counter(), collections.Counter(), collections.Counter()
        for s in self.samples:
            self_weight[FUNCTIONS[s.stack[-1]]] += s.weight
            for f in set(s.stack):
                want[FUNCTIONS[f]] += s.weight
                n[FUNCTIONS[f]] += 1
        places = self.places("--children", "--sort", "symbol")
        total = sum(self_weight.values())
        self.assertEqual({p["function"]: p["children_weight"] for p in places}, dict(want))
        self.assertEqual({p["function"]: p["children_samples"] for p in places}, dict(n))
        self.assertEqual({p["function"]: p["weight"] for p in places}, dict(self_weight))
        shares = [p["children_share"] for p in places]
        self.assertEqual(shares, sorted(shares, reverse=True))
        for p in places:
            share = p["children_weight"] / total
            self.assertAlmostEqual(p["children_error"],
                                   (share * (1 - share) / len(self.samples))**0.5)
        self.assertRegex(
            self.pfm("--children").stdout,
            r"\n +children +self\n +\d+\.\d\d% \+- ?\d\.\d\d +\d+\.\d\d% \+- ?\d\.\d\d ")

    def tree(self, *args):
        """Path of functions from the root: weights with and without callees."""
        paths, nodes = {}, {}
        for p in self.places("--sort", "symbol", *args):
            path = nodes.get(p["parent"], ()) + (p["function"],)
            self.assertEqual(p["depth"], len(path) - 1)
            nodes[p["node"]] = path
            self.assertNotIn(path, paths)
            paths[path] = p["children_weight"], p["weight"]
        return paths

    def wanted_tree(self, order):
        want = collections.defaultdict(lambda: [0, 0])
        for s in self.samples:
            path = tuple(FUNCTIONS[f] for f in order(s.stack))
            for n in range(1, len(path) + 1):
                want[path[:n]][0] += s.weight
                want[path[:n]][1] += s.weight if (
                    n == len(path) if order is tuple else n == 1) else 0
        return {path: tuple(w) for path, w in want.items()}

    def test_trees_have_the_weights_of_their_samples(self):
        callers = self.wanted_tree(tuple)
        self.assertEqual(self.tree("-g"), callers)
        self.assertEqual(self.tree("--call-graph=caller"), callers)
        self.assertEqual(self.tree("--call-graph=callee"),
                         self.wanted_tree(lambda stack: tuple(reversed(stack))))

    def test_a_limited_tree_has_the_heaviest_nodes(self):
        whole = self.tree("-g")
        heaviest = sorted((w[0] for w in whole.values()), reverse=True)[:20]
        limited = self.tree("-g", "--limit", "20")
        self.assertEqual(sorted((w[0] for w in limited.values()), reverse=True), heaviest)
        for path, weights in limited.items():
            self.assertEqual(whole[path], weights)
            self.assertTrue(len(path) == 1 or path[:-1] in limited)
        text = self.pfm("-g", "-n", "20", "--sort", "symbol").stdout
        self.assertIn("%d more nodes with at most " % (len(whole) - 20), text)
        self.assertEqual(len(text.splitlines()), 2 + 20 + 2)
        indents = [
            len(line[33:]) - len(line[33:].lstrip()) for line in text.splitlines()
            if line.strip().split(" ")[-1] in FUNCTIONS
        ]
        self.assertEqual(collections.Counter(indents),
                         collections.Counter(1 + 2 * (len(path) - 1) for path in limited))

    def test_slices_of_time(self):
        first, last = self.samples[0].time, self.samples[-1].time
        length = (last - first) / 4
        want = collections.Counter()
        for s in self.samples:
            want[min(int((s.time - first) / length), 3), FUNCTIONS[s.stack[-1]]] += s.weight
        got, shares = {}, collections.Counter()
        for p in self.places("--time-slices", "4", "--sort", "symbol"):
            k = round(p["from"] / (length / 1e9))
            self.assertAlmostEqual(p["to"] - p["from"], length / 1e9)
            got[k, p["function"]] = p["weight"]
            shares[k] += p["share"]
        self.assertEqual(got, dict(want))
        for k in range(4):
            self.assertAlmostEqual(shares[k], 1)
        text = self.pfm("--time-slices", "4", "-n", "1").stdout
        self.assertEqual(text.count(" in 15 more places; -n 0 shows all"), 4)
        self.assertIn(
            "task-clock, 0.000 to 0.750 s: 750 samples"
            if "task-clock" in text else ", 0.000 to 0.750 s: 750 samples", text)

    def test_slices_need_a_file(self):
        with open(self.path, "rb") as f:
            done = subprocess.run([PFM, "report", "--time-slices", "2", "-"], stdin=f,
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("name a file", done.stderr)

    def test_options_that_do_not_go_together(self):
        for args in (["--sort", "symbol,x"], ["--sort", ""], ["--call-graph=both"], ["--time", "2"],
                     ["--time",
                      "2,1"], ["--time",
                               "a,b"], ["-g", "--time-slices",
                                        "2"], ["-g", "--folded"], ["--svg", "--sort",
                                                                   "cpu"], ["--time-slices", "0"]):
            with self.subTest(args):
                done = self.pfm(*args)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("usage:", done.stderr)

    def test_trees_take_linear_time(self):
        """Four times the stacks, all different, take at most five times the instructions."""
        counts, draw = [], random.Random(2)
        path = os.path.join(self.folder, "big.data")
        for n in 5000, 20000:
            write(path, self.program, [
                Sample(5, 0, 10**9 + i, 1, tuple(draw.randrange(8) for _ in range(8)), 7)
                for i in range(n)
            ])
            counts.append(count_instructions([PFM, "report", "-g", path]))
        self.assertLess(counts[1], 5 * counts[0], counts)


if __name__ == "__main__":
    tap.main()
