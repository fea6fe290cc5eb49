#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm mem over recordings that are written here: what is expected is added up sample by sample.

    PFM  the command (default: pfm of the path)
"""
import collections
import json
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

IP, TID, TIME, ADDR, CPU, PERIOD, WEIGHT, SOURCE, PHYS, WEIGHTS = (
    1,
    2,
    4,
    8,
    1 << 7,
    1 << 8,
    1 << 14,
    1 << 15,
    1 << 19,
    1 << 24,
)
LOAD, STORE = 2, 4
HIT, MISS, L1, LFB, L2, L3, LOCAL_RAM, REMOTE_RAM, REMOTE_CACHE = (
    2,
    4,
    8,
    0x10,
    0x20,
    0x40,
    0x80,
    0x100,
    0x400,
)
SNOOP_HITM, PEER = 16, 2
BLOCK = 1 << 27
# Levels as a processor reports them: bits, number, remote, hops, snoop; then pfm's name of the
# level, and whether perf 6.1 supports it. PEBS gives bits and numbers, IBS and SPE of newer kernels
# numbers and hops, older kernels bits alone.
LEVELS = [
    ((HIT | L1, 1, 0, 0, 2), "L1", True),
    ((MISS | L1, 1, 0, 0, 2), "L1 miss", True),
    ((HIT | L1, 0, 0, 0, 2), "L1", True),
    ((HIT | LFB, 12, 0, 0, 2), "fill buffer", True),
    ((HIT | L2, 2, 0, 0, 2), "L2", True),
    ((HIT | L3, 3, 0, 0, SNOOP_HITM), "L3", True),
    ((HIT | LOCAL_RAM, 13, 0, 0, 2), "RAM", True),
    ((HIT | REMOTE_RAM, 13, 1, 0, 2), "remote RAM, 1 hop", True),
    ((HIT | REMOTE_CACHE, 11, 1, 0, SNOOP_HITM), "remote cache, 1 hop", True),
    ((0, 13, 1, 3, 2), "remote RAM, other socket", False),
    ((0, 11, 1, 1, 2), "cache, other core", False),
    ((1, 15, 0, 0, 2), "unknown", False),
]
Access = collections.namedtuple("Access",
                                "pid tid cpu address physical operation level weight function")


def source_word(operation, level):
    bits, number, remote, hops, snoop = LEVELS[level][0]
    return (
        operation
        | bits << 5
        | snoop << 19
        | 1 << 24
        | 1 << 26
        | number << 33
        | remote << 37
        | hops << 43
    )


class Recording(Crafted):
    def __init__(self, fields=WEIGHTS | PHYS):
        super().__init__()
        self.fields = IP | TID | TIME | ADDR | CPU | PERIOD | SOURCE | fields
        attr = bytearray(112)
        struct.pack_into("<IIQQQ", attr, 0, 4, 112, 0x1cd, 1, self.fields)
        struct.pack_into("<Q", attr, 40, 1 << 18)
        self.first_attr = bytes(attr)
        self.data = []

    def trailer(self, pid):
        self.time += 1
        return struct.pack("<IIQII", pid, pid, self.time, 0, 0)

    def add(self, a):
        self.time += 1
        body = struct.pack("<QIIQQIIQ", 0x1004 + 16 * a.function, a.pid, a.tid, self.time,
                           a.address, a.cpu, 0, 1)
        if self.fields & WEIGHTS:
            body += struct.pack("<IHH", a.weight, 7, 9)
        elif self.fields & WEIGHT:
            body += struct.pack("<Q", a.weight)
        body += struct.pack("<Q", source_word(a.operation, a.level))
        if self.fields & PHYS:
            body += struct.pack("<Q", a.physical)
        self.record(9, body)

    @staticmethod
    def numa():
        """Node 0 has CPU 0 and blocks 0 and 2, node 1 has CPUs 1 to 3 and block 1."""
        text = b"".join(
            struct.pack("<IQQI64s", node, 1 << 20, 1 << 10, 64, cpus)
            for node, cpus in ((0, b"0"), (1, b"1-2,3")))
        blocks = b"".join(
            struct.pack("<QQQQ", node, 3, 3, bits) for node, bits in ((0, 0b101), (1, 0b010)))
        return {14: struct.pack("<I", 2) + text, 22: struct.pack("<QQQ", 1, BLOCK, 2) + blocks}

    def write(self, path, features=None):
        features = features or {}
        data = b"".join(self.data)
        where = 104 + 8 + len(self.first_attr) + 16
        at = where + len(data) + 16 * len(features)
        table = b""
        for _, section in sorted(features.items()):
            table += struct.pack("<QQ", at, len(section))
            at += len(section)
        mask = sum(1 << bit for bit in features)
        with open(path, "wb") as f:
            entry = len(self.first_attr) + 16
            f.write(b"PERFILE2" +
                    struct.pack("<8Q", 104, entry, 112, entry, where, len(data), 0, 0) +
                    mask.to_bytes(32, "little") + struct.pack("<Q", 1) + self.first_attr +
                    struct.pack("<QQ", 104, 8) + data + table +
                    b"".join(section for _, section in sorted(features.items())))


def is_hitm(a):
    return LEVELS[a.level][0][4] & SNOOP_HITM != 0


def is_remote(a):
    return LEVELS[a.level][0][2] == 1 and LEVELS[a.level][0][3] != 1


def sums(accesses):
    """Members of an object that accesses have together."""
    weighed = [a.weight for a in accesses if a.weight]
    return {
        "samples": len(accesses), "loads": sum(a.operation == LOAD for a in accesses),
        "stores": sum(a.operation == STORE for a in accesses), "hitm": sum(map(is_hitm, accesses)),
        "remote_hitm": sum(is_hitm(a) and is_remote(a) for a in accesses),
        "latency": round(sum(weighed) / len(weighed), 6) if weighed else None,
        "total_latency": sum(weighed)
    }


def rounded(o):
    return {
        k: round(o[k], 6) if k == "latency" and o[k] is not None else o[k]
        for k in ("samples", "loads", "stores", "hitm", "remote_hitm", "latency", "total_latency")
    }


def grouped(accesses, key):
    groups = collections.defaultdict(list)
    for a in accesses:
        groups[key(a)].append(a)
    return groups


@unittest.skipIf(sys.byteorder == "big", "recordings of this order are not crafted")
class Mem(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perfmon-mem-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        with open(os.path.join(self.folder, "program"), "wb") as f:
            f.write(crafted_program([b"f%d" % i for i in range(8)]))

    def make(self, accesses, features=None, fields=WEIGHTS | PHYS):
        r = Recording(fields)
        for pid in sorted({a.pid for a in accesses}):
            r.comm(pid, b"task%d" % pid)
            r.map(pid, 0x1000, os.path.join(self.folder, "program").encode())
            # The heap, which is not executable.
            r.record(
                1,
                struct.pack("<IIQQQ", pid, pid, 0x10000000, 1 << 24, 0) + b"[heap]\0\0" +
                r.trailer(pid), 2 | 1 << 13)
        for a in accesses:
            r.add(a)
        r.write(os.path.join(self.folder, "perf.data"), features)

    def run_pfm(self, *args):
        return subprocess.run([PFM, "mem", *args], cwd=self.folder, capture_output=True, text=True,
                              timeout=120, check=False)

    def objects(self, *args):
        done = self.run_pfm("--json", *args)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        objects = [json.loads(line) for line in done.stdout.splitlines()]
        return [o for o in objects
                if o["kind"] == "level"], [o for o in objects if o["kind"] == "line"]

    @staticmethod
    def drawn(n, seed):
        draw = random.Random(seed)
        found = []
        for _ in range(n):
            offset = 4 * draw.randrange(400)
            pid = draw.choice((5, 6))
            found.append(
                Access(pid, pid + 10 * draw.randrange(3), draw.randrange(4), 0x10000000 + offset,
                       (0x40000000 if pid == 5 else 0x50000000) + offset,
                       draw.choice((LOAD, LOAD, STORE, 1)), draw.randrange(len(LEVELS)),
                       draw.choice((0, draw.randrange(1, 900))), draw.randrange(8)))
        return found

    def expect_lines(self, lines, accesses, key, size):
        wanted = grouped(accesses, key)
        self.assertEqual(len(lines), len(wanted))
        by_address = {(int(o.get("physical", o["address"]), 16), o["object"]): o for o in lines}
        for line, group in wanted.items():
            o = by_address[line[-1], "[heap]"]
            self.assertEqual(rounded(o), sums(group))
            self.assertEqual(o["threads"], len({a.tid for a in group}))
            shared = o["threads"] > 1 and (o["stores"] or o["hitm"])
            common = any(
                len({a.tid for a in same}) > 1
                for same in grouped(group, lambda a: a.address % size).values())
            self.assertEqual(o["sharing"], "none" if not shared else "true" if common else "false")
            places = grouped(group, lambda a: (a.address % size, a.tid, "f%d" % a.function))
            self.assertEqual(
                {(p["offset"], p["tid"], p["function"]): rounded(p) for p in o["places"]},
                {place: sums(same) for place, same in places.items()})
            self.assertEqual([p["offset"] for p in o["places"]],
                             sorted(p["offset"] for p in o["places"]))
        order = [(-o["total_latency"], -o["samples"]) for o in lines]
        self.assertEqual(order, sorted(order))

    def test_lines_and_levels(self):
        accesses = self.drawn(6000, 1)
        self.make(accesses)
        levels, lines = self.objects()
        wanted = grouped(
            accesses, lambda a:
            ({LOAD: "load", STORE: "store"}.get(a.operation, "other"), LEVELS[a.level][1]))
        self.assertEqual({(o["operation"], o["level"]): rounded(o) for o in levels},
                         {k: sums(v) for k, v in wanted.items()})
        self.assertTrue(all(o["cpu_node"] is None and o["data_node"] is None for o in levels))
        self.expect_lines(lines, accesses, lambda a: (a.physical & -64,), 64)

    def test_without_physical_addresses(self):
        """Processes have the same addresses, which are not the same memory."""
        accesses = self.drawn(2000, 2)
        self.make(accesses, fields=WEIGHT)
        _, lines = self.objects("--line-size", "128")
        self.assertEqual(len(lines), len({(a.pid, a.address & -128) for a in accesses}))
        five = [a for a in accesses if a.pid == 5]
        self.make(five, fields=WEIGHT)
        self.expect_lines(
            self.objects("--line-size=128")[1], five, lambda a: (a.address & -128, ), 128)

    def test_accesses_are_added_up_by_node(self):
        accesses = [a._replace(physical=draw * BLOCK + 64 * (i + 1)) for i, (a, draw) in
                    enumerate(zip(self.drawn(900, 3), [0, 1, 2] * 300))]
        self.make(accesses, Recording.numa())
        levels, _ = self.objects()
        wanted = grouped(
            accesses, lambda a:
            ({LOAD: "load", STORE: "store"}.get(a.operation, "other"), LEVELS[a.level][1], 0
             if a.cpu == 0 else 1, 1 if a.physical // BLOCK == 1 else 0))
        self.assertEqual(
            {(o["operation"], o["level"], o["cpu_node"], o["data_node"]): rounded(o)
             for o in levels}, {k: sums(v) for k, v in wanted.items()})
        self.assertRegex(self.run_pfm().stdout, r"CPU +data +level\n")

    def test_shared_lines_of_a_known_program_are_found(self):
        """Two threads write to neighbouring addresses, two others write one counter, a fifth reads
        data that no thread writes."""
        base = Access(5, 5, 0, 0x10000000, 0, STORE, 0, 100, 1)
        accesses = [base] * 30 + [base._replace(tid=6, address=0x10000008, function=2)] * 20
        accesses += [
            base._replace(tid=t, address=0x10000040, weight=10, function=3) for t in (7, 8)
        ] * 5
        accesses += [
            base._replace(tid=t, address=0x10000080, operation=LOAD, weight=1) for t in (5, 6)
        ]
        self.make(accesses)
        _, lines = self.objects()
        self.assertEqual([(o["address"], o["sharing"]) for o in lines],
                         [("0x10000000", "false"), ("0x10000040", "true"), ("0x10000080", "none")])
        for args in ((), ("report",), ("perf.data",), ("report", "perf.data")):
            text = self.run_pfm(*args).stdout
            self.assertIn("0x10000000: 2 threads use different bytes: false sharing\n", text)
            self.assertIn("0x10000040: 2 threads share bytes\n", text)
            self.assertRegex(text, r" 0x8 +0 +20 +0 +100\.0 +6 +task5|:6 +f2\n")
            self.assertNotIn("0x10000080:", text)
        self.assertEqual(len(self.objects("-n", "1")[1]), 1)

    def test_recordings_without_addresses(self):
        r = Crafted()
        r.attr()
        r.sample(5, 0x1000)
        r.write(os.path.join(self.folder, "perf.data"))
        done = self.run_pfm()
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("record them with 'pfm mem record'", done.stderr)

    def test_wrong_options_are_refused(self):
        for args, text in ((["--line-size", "65"], "power of two"), (["a", "b"], "one recording"),
                           (["--line-size", "0"], "--line-size")):
            done = self.run_pfm(*args)
            self.assertEqual(done.returncode, 2, args)
            self.assertIn(text, done.stderr)
        done = self.run_pfm("no.data")
        self.assertEqual(done.returncode, 1)
        self.assertIn("pfm mem: no.data: ", done.stderr)

    def test_page_faults_have_data_addresses(self):
        """On machines without the hardware, page faults have data addresses, too."""
        done = subprocess.run([PFM, "mem", "record", "-e", "page-faults:u", "--", "true"],
                              cwd=self.folder, capture_output=True, text=True, timeout=60,
                              check=False)
        if done.returncode:
            self.skipTest(done.stderr)
        levels, lines = self.objects()
        self.assertEqual({(o["operation"], o["level"]) for o in levels}, {("other", "unknown")})
        self.assertEqual(sum(o["samples"] for o in lines), sum(o["samples"] for o in levels))

    @unittest.skipUnless(shutil.which("perf"), "no perf (Debian: linux-perf)")
    def test_perf_counts_the_same_levels(self):
        accesses = [a for a in self.drawn(3000, 4) if LEVELS[a.level][2] and a.operation == LOAD]
        self.make(accesses, fields=WEIGHT)
        done = subprocess.run([
            "perf", "report", "--mem-mode", "--stdio", "-i", "perf.data", "-F", "sample,mem",
            "--sort", "mem"
        ], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        rows = re.findall(r"^ +(\d+) +(\S.*?) *$", done.stdout, re.M)
        self.assertTrue(rows, done.stderr)
        found = collections.Counter()
        for o in self.objects()[0]:
            found[o["level"]] += o["samples"]
        # Versions of perf name the levels differently.
        self.assertEqual(sorted(int(n) for n, _ in rows), sorted(found.values()))

    @unittest.skipUnless(shutil.which("perf"), "no perf (Debian: linux-perf)")
    def test_perf_c2c_counts_the_same(self):
        self.make(self.drawn(3000, 5), {7: struct.pack("<II", 4, 4), **Recording.numa()},
                  WEIGHT | PHYS)
        done = subprocess.run(["perf", "c2c", "report", "--stdio", "-i", "perf.data"],
                              cwd=self.folder, capture_output=True, text=True, timeout=60,
                              check=False)
        theirs = {
            name: int(n) for name, n in re.findall(r"^ +(\S.*?) +: +(\d+)$", done.stdout, re.M)
        }
        if "Load Local HITM" not in theirs:
            self.skipTest(done.stderr)
        levels = self.objects()[0]
        self.assertEqual(theirs["Load Operations"], sum(o["loads"] for o in levels))
        self.assertEqual(theirs["Store Operations"], sum(o["stores"] for o in levels))
        loads = [o for o in levels if o["operation"] == "load"]
        self.assertEqual(theirs["Load Remote HITM"], sum(o["remote_hitm"] for o in loads))
        self.assertEqual(theirs["Load Local HITM"] + theirs["Load Remote HITM"],
                         sum(o["hitm"] for o in loads))


if __name__ == "__main__":
    tap.main()
