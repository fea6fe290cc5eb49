#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm record and pfm report, over a program that spends its time where it is known to.

    PFM  the command (default: pfm of the path)
"""
import collections
import glob
import json
import os
import platform
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
PROGRAM = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile unsigned x;
__attribute__((noinline)) void three(void) { for (unsigned i = 0; i < 60000000; i++) x += i; }
__attribute__((noinline)) void one(void) { for (unsigned i = 0; i < 20000000; i++) x += i; }
__attribute__((noinline)) void both(void) { three(); one(); x++; }
static void touch(size_t pages, size_t size)
{
	char *p = mmap(NULL, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, pages * size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		p[i * size] = 1;
}
/* With a number: touches so many pages while the recorder, its parent, is stopped. */
int main(int argc, char **argv)
{
	if (argc > 1) {
		kill(getppid(), SIGSTOP);
		touch((size_t)atoi(argv[1]), (size_t)sysconf(_SC_PAGESIZE));
		kill(getppid(), SIGCONT);
	} else {
		both();
	}
	puts("done");
	return 3;
}
"""
# A table with metrics: with its own partners, as a part of that one, without any.
METRICS = """pmu toy "Toy"
encoder format
source "made up"
counter 0..1 width=32
field sel at=config:0-7
text metric
text metric_locate
text metric_parent
event CYCLES sel=1 "Cycles."
metric Faults metric="software::page_faults / software::task_clock" \\
 metric_locate="software::page_faults;software::context_switches" "Faults."
metric Part metric="software::major_faults / software::task_clock" metric_parent=Faults "Some of them."
metric Ticks metric="1000 * software::task_clock" "Time."
"""
PMUC = os.path.join(
    os.environ["PERFMON_SOURCE"], "compiler", "pmuc.py")
# Samples are in work::Sum::add(), which is inlined into work::spend(): both names are C++.
INLINED = """
#include <cstdio>
namespace work {
struct Sum {
	unsigned value = 0;
	inline __attribute__((always_inline)) void add(unsigned i)
	{
		for (volatile unsigned x = 0; x < 100; x = x + 1) // here
			value += x * i;
	}
};
__attribute__((noinline)) unsigned spend(Sum &sum)
{
	for (unsigned i = 0; i < 600000; i++)
		sum.add(i);
	return sum.value;
}
}
int main() { work::Sum sum; work::spend(sum); std::puts("done"); return 3; }
"""

# Functions that are inlined three deep, some of them into a cold part far away.
MANY_INLINED = """
#include <stdlib.h>
extern volatile int sink[64];
volatile int sink[64];
""" + "".join("""
static inline int low%(i)d(int x) { if (__builtin_expect(x == %(i)d, 0)) { sink[1]++; abort(); } return sink[x & 63] + %(i)d; }
static inline int middle%(i)d(int x) { int s = 0; for (int i = 0; i < x; i++) s += low%(i)d(i) ^ low%(i)d(i + 7); return s; }
__attribute__((noinline)) int high%(i)d(int x) { sink[2] = middle%(i)d(x); return x > %(i)d ? low%(i)d(x) : middle%(i)d(-x); }
""" % {"i": i} for i in range(40)) + "int main(int n, char **v) { (void)v; return " + "+".join("high%d(n)" % i for i in range(40)) + "; }"

# A recursion deeper than any call chain, and one that is not.
DEEP = """
#include <stdlib.h>
#include <stdio.h>
static volatile unsigned x;
__attribute__((noinline)) void spend(void) { for (unsigned i = 0; i < 60000000; i++) x += i; }
__attribute__((noinline)) void down(int n) { if (n) down(n - 1); else spend(); x++; }
int main(int argc, char **argv) { down(atoi(argv[argc - 1])); puts("done"); return 3; }
"""
# Clicks on the element that is on top at the place of a box.
CLICK = """<script><![CDATA[
function click(element) {
  const r = element.getBoundingClientRect();
  document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2).dispatchEvent(new MouseEvent('click', { bubbles: true }));
}
const box = name => boxes.find(g => g.querySelector('title').textContent.startsWith(name + ',')).querySelector('rect');
%s
]]></script></svg>"""


def hotspot_output(path):
    """Strings, names of events, task and time of each sample, and what they weigh together."""
    strings, names, periods, samples, weight = {}, [], {}, [], 0
    with open(path, "rb") as f:
        data = f.read()
    at = len(b"QPERFSTREAM\0") + 4
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        kind, body = data[at + 4], data[at + 5:at + 4 + size]
        at += 4 + size
        if kind == 5:  # a string
            number, length = struct.unpack_from(">iI", body)
            strings[number] = body[8:8 + length].decode()
        # an event: number, type, config, name, whether what follows is a frequency
        elif kind == 11:
            number, _, _, name, _, periods[number] = struct.unpack_from(">iIQiBQ", body)
            names.append(name)
        elif kind == 13:  # a sample: process, thread, time, CPU, frames, guessed ones, costs
            _, tid, time, _, n = struct.unpack_from(">IIQII", body)
            samples.append((tid, time))
            costs = 24 + 4 * n + 1
            for k in range(struct.unpack_from(">I", body, costs)[0]):
                number, cost = struct.unpack_from(">iQ", body, costs + 4 + 12 * k)
                weight += cost or periods[number]
    return set(strings.values()), {strings.get(i) for i in names}, samples, weight


class Crafted:
    """A recording as it comes through a pipe, record by record: one event, whose samples have address, task, time and weight."""
    HEAD = b"PERFILE2" + struct.pack("<Q", 16)

    def __init__(self):
        self.data, self.time = [self.HEAD], 0

    def record(self, kind, body, misc=2):
        body += bytes(-len(body) % 8)
        self.data.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)

    def trailer(self, pid):
        self.time += 1
        return struct.pack("<IIQ", pid, pid, self.time)

    def attr(self, ids=(1,), config=0):
        attr = bytearray(112)
        struct.pack_into("<IIQQQ", attr, 0, 1, 112, config, 1, 0x107)
        struct.pack_into("<Q", attr, 40, 1 << 18)
        self.record(64, bytes(attr) + struct.pack("<%dQ" % len(ids), *ids), 0)

    def map(self, pid, start, name):
        name += bytes(8 - len(name) % 8)
        self.record(
            1,
            struct.pack("<IIQQQ", pid, pid, start, 0x1000, 0x1000) + name + self.trailer(pid))

    def comm(self, pid, name):
        self.record(
            3,
            struct.pack("<II", pid, pid) + name + bytes(8 - len(name) % 8) + self.trailer(pid))

    def map2(self, pid, start, name, build_id):
        self.record(
            10,
            struct.pack("<IIQQQB3x20sII", pid, pid, start, 0x1000, 0x1000, len(build_id), build_id,
                        5, 2) + name + bytes(8 - len(name) % 8) + self.trailer(pid), 2 | 1 << 14)

    def kernel(self, symbol, address):
        name = b"[kernel.kallsyms]" + symbol
        self.record(
            1,
            struct.pack("<iIQQQ", -1, 0, address, 0x1000, address) + name +
            bytes(8 - len(name) % 8) + self.trailer(0), 1)

    def fork(self, pid, parent):
        self.record(
            7,
            struct.pack("<IIIIQ", pid, parent, pid, parent, self.time + 1) + self.trailer(pid))

    def sample(self, pid, address, misc=2):
        self.record(9, struct.pack("<Q", address) + self.trailer(pid) + struct.pack("<Q", 1), misc)

    def write(self, path):
        with open(path, "wb") as f:
            f.write(b"".join(self.data))


def crafted_program(symbols, tables=1, build_id=b"", section=0, apart=16):
    """A program of 64 bits without code: functions by name, 16 bytes each from 0x1000 on, so far
    apart, in so many tables that are all the same; with so many bytes of a section, in which they
    have no size."""
    names, table = b"\0", bytes(24)
    size, inside = (0, tables + 1) if section else (16, 1)
    for i, name in enumerate(symbols):
        table += struct.pack("<IBBHQQ", len(names), 2, 0, inside, 0x1000 + apart * i, size)
        names += name + b"\0"
    segments = 64
    note = struct.pack("<III4s", 4, len(build_id), 3, b"GNU") + build_id
    names_at = segments + 2 * 56 + len(note)
    table_at = names_at + len(names) + -len(names) % 8
    sections = table_at + len(table)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, segments,
                                                     sections, 0, 64, 56, 2, 64, tables + 2, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000)
    load += struct.pack("<IIQQQQQQ", 4, 4, segments + 2 * 56, 0, 0, len(note), len(note), 4) + note
    code = struct.pack("<IIQQQQIIQQ", 0, 1, 6, 0x1000, 0x1000, section, 0, 0, 1, 0)
    strings = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
    symtab = struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, table_at, len(table), 0, 0, 8, 24)
    return head + load + names + bytes(-len(names) % 8) + table + strings + symtab * tables + code


class Record(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="perfmon-record-")
        with open(os.path.join(cls.folder, "p.c"), "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        cls.built = cc and subprocess.run(
            [cc, "-O0", "-fno-omit-frame-pointer", "-o", "program", "p.c"], cwd=cls.folder,
            check=False).returncode == 0

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def pfm(self, *args, env=None):
        return subprocess.run([PFM, *args], cwd=self.folder, capture_output=True, text=True,
                              timeout=120, check=False, env=dict(os.environ, **(env or {})))

    def record(self, *args, program=("./program",)):
        if not self.built:
            self.skipTest("no C compiler")
        done = self.pfm("record", *args, "--", *program)
        if done.returncode == 1:
            self.skipTest(done.stderr)
        self.assertEqual((done.returncode, done.stdout), (3, "done\n"), done.stderr)
        return done

    def test_time_is_where_it_is_spent(self):
        self.record("-e", "task-clock:u:period=500000", "-g")
        places = [json.loads(line) for line in self.pfm("report", "--json").stdout.splitlines()]
        share = {p["function"]: p["share"] for p in places}
        self.assertAlmostEqual(sum(share.values()), 1)
        self.assertAlmostEqual(share["three"], 0.75, delta=0.1)
        self.assertAlmostEqual(share["one"], 0.25, delta=0.1)
        self.assertTrue(
            all(p["event"].startswith("task-clock") and p["task"] == "program" for p in places))
        n = sum(p["samples"] for p in places)
        for p in places:
            self.assertAlmostEqual(p["error"], (p["share"] * (1 - p["share"]) / n) ** 0.5)
        text = self.pfm("report").stdout
        self.assertRegex(text, r"\d\d\.\d\d% \+- ?\d\.\d\d +program +program +three\n")
        self.assertEqual(len(self.pfm("report", "-n", "1").stdout.splitlines()), 4)

    def test_inlined_functions_are_those_of_addr2line(self):
        """At every address of a program whose functions are inlined into each other, and split into
        hot and cold parts."""
        cc = shutil.which("gcc")
        if not cc or not shutil.which("addr2line") or sys.byteorder == "big":
            self.skipTest("no gcc or addr2line: install gcc and binutils")
        with open(os.path.join(self.folder, "many.c"), "w", encoding="utf-8") as f:
            f.write(MANY_INLINED)
        subprocess.run([cc, "-O2", "-g", "-no-pie", "-o", "many", "many.c"], cwd=self.folder,
                       check=True)
        program = os.path.join(self.folder, "many")
        sections = subprocess.run(["objdump", "-h", program], capture_output=True, text=True,
                                  check=True).stdout
        size, start, at = (int(
            n, 16) for n in re.search(r" \.text +(\w+) +(\w+) +\w+ +(\w+)", sections).groups())
        addresses = range(start, start + size, 3)
        made = Crafted()
        made.attr()
        first = start & ~0xfff
        name = program.encode() + bytes(8 - len(program) % 8)
        made.record(
            1,
            struct.pack("<IIQQQ", 5, 5, first, 0x100000, at - (start - first)) + name +
            made.trailer(5))
        for address in addresses:
            made.sample(5, address)
        made.write(os.path.join(self.folder, "many.data"))
        done = self.pfm("report", "--json", "--sort", "address,symbol,line", "many.data")
        places = {int(p["address"], 16): p for p in map(json.loads, done.stdout.splitlines())}
        if "inlined" not in done.stdout or not any(p["inlined"] for p in places.values()):
            self.skipTest("pfm was built without libdw: install libdw-dev")
        want = subprocess.run(["addr2line", "-a", "-i", "-f", "-e", program, *map(hex, addresses)],
                              capture_output=True, text=True, check=True).stdout
        n = 0
        for block in re.split(r"(?m)^0x", want)[1:]:
            lines = block.splitlines()
            names = [name for name in lines[1::2] if name != "??"]
            ours = [name for name in places[int(lines[0], 16)]["inlined"].split(";") if name]
            # the last name of addr2line is the function's own
            self.assertEqual(ours, names[-2::-1], lines[0])
            n += len(ours) > 1
        self.assertGreater(n, 20)

    def test_leader_samples_for_its_group(self):
        """Each page fault is counted once, by the samples of the clock, and the kernel's own count
        agrees."""
        self.record("-e", "{task-clock:freq=1000,page-faults}:S", program=("./program", "20000"))
        places = [json.loads(line) for line in self.pfm("report", "--json").stdout.splitlines()]
        samples, weight = collections.Counter(), collections.Counter()
        for p in places:
            samples[p["event"].split(":")[0]] += p["samples"]
            weight[p["event"].split(":")[0]] += p["weight"]
        self.assertLessEqual(samples["page-faults"], samples["task-clock"])
        self.assertLess(samples["task-clock"], 5000)
        self.assertGreater(weight["page-faults"], 10000)
        self.assertLess(weight["page-faults"], 21000)

    def test_stacks_are_folded_and_drawn(self):
        self.record("-e", "task-clock:u:period=500000", "-g")
        folded = self.pfm("report", "--folded").stdout
        self.assertRegex(folded, r"(?m)^program;.*main;both;three \d+$")
        self.assertRegex(folded, r"(?m)^program;.*main;both;one \d+$")
        svg = self.pfm("report", "--svg").stdout
        root = xml.etree.ElementTree.fromstring(svg)
        titles = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
        self.assertTrue(
            any(
                t.startswith("three, 7") or t.startswith("three, 8") or t.startswith("three, 6")
                for t in titles), titles)
        self.assertNotRegex(svg, r"(src|href)=")  # a file that stands alone

    def test_report_shows_inlined_functions_and_cxx_names(self):
        cxx = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
        if not cxx:
            self.skipTest("no C++ compiler")
        with open(os.path.join(self.folder, "inlined.cc"), "w", encoding="utf-8") as f:
            f.write(INLINED)
        subprocess.run([cxx, "-g", "-O2", "-fno-omit-frame-pointer", "-o", "inlined", "inlined.cc"],
                       cwd=self.folder, check=True)
        self.record("-e", "task-clock:u:period=500000", "-g", "-o", "cxx.data",
                    program=("./inlined", ))
        first = json.loads(self.pfm("report", "--json", "cxx.data").stdout.splitlines()[0])
        self.assertEqual((first["function"], "source" in first), ("work::spend(work::Sum&)", False))
        self.assertGreater(first["share"], 0.9)
        done = self.pfm("report", "--source", "--json", "cxx.data")
        if "no libdw" in done.stderr:
            self.assertEqual(done.stderr.count("libdw"), 1)
            self.skipTest("there is no libdw")
        places = [json.loads(line) for line in done.stdout.splitlines()]
        inside = [p for p in places if p["inlined"] == "work::Sum::add(unsigned int)"]
        self.assertGreater(sum(p["share"] for p in inside), 0.8)
        here = 1 + next(i for i, line in enumerate(INLINED.splitlines()) if "// here" in line)
        for p in inside:
            self.assertEqual(p["function"], "work::spend(work::Sum&)")
            self.assertRegex(p["source"], r"inlined\.cc:\d+$")
        self.assertTrue({int(p["source"].rpartition(":")[2]) for p in inside} <= {here, here + 1},
                        inside)
        self.assertRegex(
            self.pfm("report", "--source", "cxx.data").stdout,
            r"work::spend\(work::Sum&\) > work::Sum::add\(unsigned int\)  inlined\.cc:\d+\n")
        self.assertRegex(
            self.pfm("report", "--folded", "cxx.data").stdout,
            (
                r"(?m)^inlined;.*main;work::spend\(work::Sum&\);work::Sum::add\(unsigned"
                r" int\)_\[i\] \d+$"
            ),
        )
        self.assertEqual(self.pfm("report", "--source", "--svg", "cxx.data").returncode, 2)

    def boxes(self, browser, script):
        """The flame graph's boxes that a browser shows after the script: name, x and width."""
        with open(os.path.join(self.folder, "flame.svg"), "w", encoding="utf-8") as f:
            f.write(self.svg.replace("</svg>", CLICK % script))
        with tempfile.TemporaryDirectory(prefix="perfmon-browser-") as profile:
            done = subprocess.run([
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1400",
                "--user-data-dir=" + profile, "--dump-dom",
                "file://" + os.path.join(self.folder, "flame.svg")
            ], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120,
                                  check=False)
        if done.returncode:
            self.skipTest("Chromium does not start here")
        return {
            m[2]: (float(m[3]), float(m[4]))
            for m in re.finditer(
                (
                    r'<g ([^>]*)><title>([^,<]*),[^<]*</title><rect[^>]* x="([^"]*)"[^>]*'
                    r' width="([^"]*)"'
                ),
                done.stdout,
            )
            if "none" not in m[1]
        }

    def test_a_flame_graph_is_clicked(self):
        browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which(
            "google-chrome")
        if not browser:
            self.skipTest("no Chromium")
        self.record("-e", "task-clock:u:period=500000", "-g")
        self.svg = self.pfm("report", "--svg").stdout
        one = self.boxes(browser, "click(box('one'));")
        self.assertEqual((one["one"][0], one["both"][0]), (0, 0))
        # alone, as wide as the page; those that called it stay below
        self.assertGreater(one["one"][1], 1190)
        self.assertNotIn("three", one)
        whole = self.boxes(browser, "click(box('one')); click(document.getElementById('whole'));")
        self.assertAlmostEqual(whole["three"][1] / 1200, 0.75, delta=0.1)
        self.assertAlmostEqual(whole["one"][1] / 1200, 0.25, delta=0.1)

    def test_boxes_stand_on_each_other(self):
        """A click shows what is above a box: by its place, so none may stick out by a rounding."""
        self.record("-e", "page-faults:u", "-c", "1", "-g",
                    program=(sys.executable, "-c", "print('done'); raise SystemExit(3)"))
        boxes = [(int(m[3]), float(m[1]), float(m[2]))
                 for m in re.finditer(r'data-x="([^"]*)" data-w="([^"]*)" data-d="([^"]*)"',
                                      self.pfm("report", "--svg").stdout)]
        for depth, x, width in boxes:
            self.assertTrue(
                depth == 0 or any(d == depth - 1 and bx <= x + 1e-6 and bx + bw >= x + width - 1e-6
                                  for d, bx, bw in boxes), (depth, x, width))

    def test_compressed_it_is_the_same(self):
        done = self.record("-z", "-e", "page-faults:u", "-c", "1", "-m", "64", "-o", "packed.data",
                           program=("./program", "2000"))
        if "libzstd" in done.stderr:
            self.skipTest("no libzstd.so.1")
        n_samples = sum(
            json.loads(line)["samples"]
            for line in self.pfm("report", "--json", "packed.data").stdout.splitlines())
        self.assertGreaterEqual(n_samples, 2000)
        self.assertLess(os.path.getsize(os.path.join(self.folder, "packed.data")), 2000 * 48)

    def test_an_event_in_every_way(self):
        done = self.record("-e", "page-faults:u", "-c", "1", "-d", "-o", "faults.data")
        self.assertIn("pfm report faults.data", done.stderr)
        self.assertIn("page-faults:u", self.pfm("report", "faults.data").stdout)
        self.record("-F", "500", "-e", "task-clock:u,page-faults:u:period=2")
        names = {
            json.loads(line)["event"] for line in self.pfm("report", "--json").stdout.splitlines()
        }
        self.assertTrue({"task-clock:u", "page-faults:u:period=2"} >= names and names)

    def test_the_partner_of_a_metric_is_sampled(self):
        """pfm record --metric samples what pfm show names, and refuses a metric without it."""
        with open(os.path.join(self.folder, "toy.pmu"), "w", encoding="utf-8") as f:
            f.write(METRICS)
        subprocess.run([sys.executable, PMUC, "--image", "toy.pmdb", "toy.pmu"], cwd=self.folder,
                       check=True)
        env = dict(os.environ, PERFMON_EVENTS=os.path.join(self.folder, "toy.pmdb"))

        def pfm(*args):
            return subprocess.run([PFM, *args], cwd=self.folder, capture_output=True, text=True,
                                  timeout=120, check=False, env=env)

        self.assertIn("\n  sample with    software::page_faults, software::context_switches\n",
                      pfm("show", "toy::Faults").stdout)
        shown = json.loads(pfm("show", "--json", "toy::Faults").stdout)
        self.assertEqual(shown["sample_with"],
                         ["software::page_faults", "software::context_switches"])
        self.assertNotIn("sample with", pfm("show", "toy::Ticks").stdout)
        done = pfm("record", "--metric", "toy::Ticks", "--", "true")
        self.assertEqual(
            (done.returncode, done.stderr),
            (1, "pfm record: toy::Ticks has no event whose samples show where it comes from; "
             "sample its clocks: -e cycles\n"))
        self.assertIn("is not an event of toy",
                      pfm("record", "--metric", "toy::Other", "--", "true").stderr)
        self.assertIn("expected a metric, got an event",
                      pfm("record", "--metric", "toy::CYCLES", "--", "true").stderr)
        if not self.built:
            self.skipTest("no C compiler")
        done = pfm("record", "--metric", "toy::Part", "-c", "1", "-o", "partner.data", "--",
                   "./program", "100")
        if "not permitted" in done.stderr or "paranoid" in done.stderr:
            self.skipTest("sampling is not permitted here")
        self.assertIn("pfm record: toy::Part: sampling software::page_faults\n", done.stderr)
        rows = [
            json.loads(line)
            for line in pfm("report", "--json", "partner.data").stdout.splitlines()
        ]
        self.assertGreaterEqual(
            sum(r["samples"] for r in rows if r["event"] == "software::page_faults"), 100)

    def test_losses_are_reported(self):
        done = self.record("-e", "page-faults:u", "-c", "1", "-m", "1",
                           program=("./program", "4000"))
        self.assertRegex(done.stderr, r"pfm record: .* MB in perf\.data")
        lost = re.search(r"page-faults:u: (\d+) samples lost; larger buffers", done.stderr)
        self.assertIsNotNone(lost, done.stderr)
        n_samples = sum(
            json.loads(line)["samples"]
            for line in self.pfm("report", "--json").stdout.splitlines())
        self.assertGreaterEqual(n_samples + int(lost[1]), 4000)
        records = re.search(r"pfm report: (\d+) records were lost", self.pfm("report").stderr)
        self.assertTrue(records and int(records[1]) >= int(lost[1]), (records, lost))
        with open(os.path.join(self.folder, "perf.data"), "rb") as f:
            data = f.read()
        at, size = struct.unpack_from("=QQ", data, 40)
        end, accounts = at + size, []
        while at < end:  # the events' own accounts, whatever the buffers had room to tell
            kind, _, size = struct.unpack_from("=IHH", data, at)
            accounts += struct.unpack_from("=Q", data, at + 8) if kind == 13 else ()
            at += size
        self.assertEqual(accounts, [int(lost[1])])

    def test_full_disk_keeps_complete_records(self):
        if not self.built:
            self.skipTest("no C compiler")
        for room in range(65536, 65536 + 56, 8):      # the end of a record among them
            with self.subTest(room=room):
                self.fill(room)

    def fill(self, room):
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
        try:
            done = subprocess.run([
                PFM, "record", "-e", "page-faults:u", "-c", "1", "-m", "64", "-o", "full.data",
                "./program", "4000"
            ], cwd=self.folder, capture_output=True, text=True, timeout=120, check=False,
                                  restore_signals=False)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        if "File too large" not in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 1)
        done = self.pfm("report", "--json", "full.data")
        n_samples = sum(json.loads(line)["samples"] for line in done.stdout.splitlines())
        self.assertGreater(n_samples, 1000)
        self.assertIn(
            "full.data is damaged or cut off: the records after the first %d samples" % n_samples,
            done.stderr)

    def test_perf_reads_it(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        self.record("-e", "task-clock:u:period=500000", "-g")
        done = subprocess.run(["perf", "report", "--stdio", "--no-children", "-g", "none"],
                              cwd=self.folder, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {
            m[2]: float(m[1])
            for m in re.finditer(r"^ +(\d+\.\d+)% .*\[\.\] (\w+)", done.stdout, re.M)
        }
        ours = {
            p["function"]: 100 * p["share"]
            for p in map(json.loads,
                         self.pfm("report", "--json").stdout.splitlines())
        }
        for name in ("three", "one"):
            self.assertAlmostEqual(found[name], ours[name], delta=0.01)

    def test_a_chain_that_is_cut_off_says_so(self):
        with open(os.path.join(self.folder, "deep.c"), "w", encoding="utf-8") as f:
            f.write(DEEP)
        cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if not cc or subprocess.run([cc, "-O0", "-fno-omit-frame-pointer", "-o", "deep", "deep.c"],
                                    cwd=self.folder, check=False).returncode:
            self.skipTest("no C compiler")
        self.record("-e", "task-clock:u:period=500000", "-g", "-o", "deep.data",
                    program=("./deep", "500"))
        lines = [
            line for line in self.pfm("report", "--folded", "deep.data").stdout.splitlines()
            if ";spend " in line
        ]
        self.assertTrue(
            lines and all(line.startswith("deep;[cut off];down;down;") for line in lines),
            lines[:1])
        self.record("-e", "task-clock:u:period=500000", "-g", "-o", "deep.data",
                    program=("./deep", "20"))
        lines = [
            line for line in self.pfm("report", "--folded", "deep.data").stdout.splitlines()
            if ";spend " in line
        ]
        self.assertTrue(lines and not any("[cut off]" in line for line in lines), lines[:1])

    def test_a_recording_comes_through_a_pipe(self):
        """Ours, which has its head at the front, and perf's own form of a pipe, without one."""
        self.record("-e", "page-faults:u", "-c", "1", "-o", "piped.data")
        with open(os.path.join(self.folder, "piped.data"), "rb") as f:
            done = subprocess.run([PFM, "report", "--json", "-"], cwd=self.folder, stdin=f,
                                  capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.stdout, self.pfm("report", "--json", "piped.data").stdout)
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        with subprocess.Popen([
                "perf", "record", "-q", "-c", "1", "-e", "page-faults:u", "-o", "-", "./program",
                "300"
        ], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as perf:
            done = subprocess.run([PFM, "report", "--json", "-"], cwd=self.folder,
                                  stdin=perf.stdout, capture_output=True, text=True, timeout=120,
                                  check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        places = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertGreaterEqual(sum(p["samples"] for p in places), 300)
        self.assertEqual({p["event"] for p in places}, {"page-faults:u"})

    def script(self, name, fields):
        return subprocess.run(["perf", "script", "-i", name, "--ns", "-F", fields], cwd=self.folder,
                              capture_output=True, text=True, timeout=120, check=False).stdout

    def test_without_a_pmu_a_clock_is_sampled(self):
        done = self.record("-o", "usual.data")
        events = {
            json.loads(line)["event"]
            for line in self.pfm("report", "--json", "usual.data").stdout.splitlines()
        }
        if "cycles cannot be sampled here" in done.stderr:
            self.assertIn("sampling cpu-clock instead", done.stderr)
            self.assertEqual(events, {"cpu-clock"})
        else:
            self.assertEqual(events, {"cycles"})

    def test_samples_weigh_their_period(self):
        """Two events in one recording, whose samples have different weights."""
        self.record("-e", "page-faults:u:period=4,task-clock:period=100000", "-o", "weighed.data",
                    program=("./program", "2000"))
        places = [
            json.loads(line)
            for line in self.pfm("report", "--json", "weighed.data").stdout.splitlines()
        ]
        for name, period, least in (("page-faults:u:period=4", 4, 1996),
                                    ("task-clock:period=100000", 100000, 100000)):
            mine = [p for p in places if p["event"] == name]
            self.assertGreaterEqual(sum(p["weight"] for p in mine), least)
            self.assertTrue(all(p["weight"] == period * p["samples"] for p in mine), mine)
            self.assertAlmostEqual(sum(p["share"] for p in mine), 1)

    def test_hotspot_reads_it(self):
        """Its parser hands on as many samples as perf sees, of the same tasks at the same times and
        of the same weight, and finds the functions. What it writes: messages of a length, the
        lowest byte first, then a type and numbers, the highest first."""
        parser = sorted(glob.glob("/usr/lib/*/libexec/hotspot-perfparser"))
        if not parser:
            self.skipTest("no hotspot-perfparser (Debian: hotspot)")
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        for words in ((), ("-z",)):
            self.record(*words, "-e", "task-clock:u:period=500000,page-faults:u:period=1", "-g",
                        "-o", "hot.data")
            done = subprocess.run([parser[0], "--input", "hot.data", "--output", "hot.out"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=120,
                                  check=False, env=dict(os.environ, QT_QPA_PLATFORM="offscreen"))
            if "decompression support not available" in done.stderr:
                continue  # it supports the compression but was built without the library
            self.assertEqual(done.returncode, 0, done.stderr)
            strings, events, samples, weight = hotspot_output(os.path.join(self.folder, "hot.out"))
            lines = self.script("hot.data", "tid,time")
            theirs = sorted((int(m[1]), 10**9 * int(m[2]) + int(m[3]))
                            for m in re.finditer(r"^ *(\d+) +(\d+)\.(\d{9}):", lines, re.M))
            self.assertGreater(len(theirs), 50)
            self.assertEqual(sorted(samples), theirs)
            self.assertTrue({"three", "one", "both", "main"} <= strings)
            self.assertTrue({"task-clock:u:period=500000", "page-faults:u:period=1"} <= events,
                            events)
            places = self.pfm("report", "--json", "hot.data").stdout.splitlines()
            self.assertEqual(weight, sum(json.loads(line)["weight"] for line in places))

    def test_perf_annotates_it(self):
        if not shutil.which("perf") or not shutil.which("objdump"):
            self.skipTest("perf or objdump is not installed")
        self.record("-e", "task-clock:u:period=500000")
        done = subprocess.run(["perf", "annotate", "--stdio", "-s", "three"], cwd=self.folder,
                              capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("three", done.stdout)
        self.assertAlmostEqual(
            sum(float(m[1]) for m in re.finditer(r"^ +(\d+\.\d+) +", done.stdout, re.M)), 100,
            delta=1)

    def test_the_alpha_device(self):
        """A model of it, whose program is at 0x120000000; fields that a sample cannot have are reported one by one."""
        done = self.pfm("record", "--device-model", "ev5", "-e", "cycles", "--", "sleep", "0.1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.findall(r"^pfm record: ([a-z, ]+): the device", done.stderr, re.M),
                         ["time", "task", "mappings, names of tasks"])
        places = [json.loads(line) for line in self.pfm("report", "--json").stdout.splitlines()]
        self.assertTrue(places and all(p["event"] == "cycles" for p in places), places[:1])
        self.assertTrue(all(0x120000000 <= int(p["function"], 16) < 0x120004000 for p in places),
                        places[:3])
        if shutil.which("perf"):
            lines = subprocess.run(["perf", "script", "-F", "ip,event,period"], cwd=self.folder,
                                   capture_output=True, text=True, check=False).stdout.split("\n")
            self.assertEqual(sum(line.split()[:2] == ["65536", "cycles:"] for line in lines),
                             sum(p["samples"] for p in places))
        done = self.pfm("alpha", "device", "--model", "ev5", "--", PFM, "record", "--device",
                        "0x120000000-0x120002000", "-a", "-e", "ev5::cycles",
                        "--", "sleep", "0.1")
        if done.returncode == 0:
            self.assertRegex(done.stderr,
                             r"ev5::cycles: \d+ samples were outside the range of --device")
        for words, why in ((("--device-model", "ev5"), "name it with -e"),
                           (("--device-model", "ev5", "-e", "cycles", "-g"), "no call chains"),
                           *((("--device", text, "-e", "ev5::cycles"), "range of addresses")
                             for text in ("5-3", "5--7", "5- 7", " 5-7",
                                          "0-99999999999999999999"))):
            done = self.pfm("record", *words, "--", "true")
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)

    def test_the_alpha_device_samples_the_command(self):
        """On the model that `pfm alpha device` serves, not the requests of pfm itself: 100 ms are some 760 samples."""
        cc = shutil.which("cc")
        if not cc or platform.machine() not in ("x86_64", "aarch64"):
            self.skipTest("needs a compiler and a machine whose fixed programs start at 0x400000")
        source = os.path.join(self.folder, "spin.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write("#include <time.h>\nint main(void) { volatile int x = 0; while (clock() <"
                    " CLOCKS_PER_SEC / 10) for (int i = 0; i < 1000000; i++) x++; return 0; }\n")
        subprocess.run([cc, "-no-pie", "-o", "spin", source], cwd=self.folder, check=True)
        done = self.pfm("alpha", "device", "--", PFM, "record", "--device", "0x400000-0x410000",
                        "-a", "-e", "ev5::cycles", "--", "./spin")
        if done.returncode == 126 or "cannot sample the program counter" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        places = [json.loads(line) for line in self.pfm("report", "--json").stdout.splitlines()]
        self.assertGreater(sum(p["samples"] for p in places), 100)

    def test_events_are_counted_separately(self):
        """Weights of one event are not added to those of another: stacks are added up for one event, or for all that are requested."""
        done = self.record("-g", "-e", "page-faults:u:period=10", "-e", "minor-faults:u:period=7",
                           program=("./program", "200"))
        self.assertEqual(done.returncode, 3)
        places = {
            e: [
                json.loads(line)
                for line in self.pfm("report", "--json", "-e", e).stdout.splitlines()
            ] for e in ("page-faults", "minor-faults:u:period=7", "*")
        }
        self.assertEqual({p["event"] for p in places["page-faults"]}, {"page-faults:u:period=10"})
        self.assertEqual({p["event"] for p in places["minor-faults:u:period=7"]},
                         {"minor-faults:u:period=7"})
        self.assertEqual(len(places["*"]),
                         len(places["page-faults"]) + len(places["minor-faults:u:period=7"]))
        sums = {}
        for e in ("page-faults", "minor-faults", "*", "*-faults*"):
            done = self.pfm("report", "--folded", "--event", e)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            sums[e] = sum(int(line.rpartition(" ")[2]) for line in done.stdout.splitlines())
        self.assertEqual(sums["*"], sums["page-faults"] + sums["minor-faults"])
        self.assertEqual(sums["*-faults*"], sums["*"])
        self.assertEqual((sums["page-faults"] % 10, sums["minor-faults"] % 7), (0, 0))
        for form in "--folded", "--svg":
            done = self.pfm("report", form)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("cannot be added; choose one with --event ('*' adds all anyway): "
                          "page-faults:u:period=10, minor-faults:u:period=7", done.stderr)
        for e in "faults", "page-fault", "page-faults:", "":
            done = self.pfm("report", "-e", e)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(
                (
                    f"no '{e}' was recorded in perf.data, but page-faults:u:period=10,"
                    " minor-faults:u:period=7"
                ),
                done.stderr,
            )

    def test_events_without_samples(self):
        """A recorded event without samples is accepted; an event that was not recorded is refused, with samples or without."""
        for events in ("alignment-faults:u",), ("alignment-faults:u", "page-faults:u"):
            self.record(*(word for e in events for word in ("-e", e)))
            for form in (), ("--json",), ("--folded",), ("--svg",), ("--source",):
                done = self.pfm("report", *form, "-e", "alignment-faults")
                self.assertEqual((done.returncode, done.stdout), (0, ""))
                self.assertEqual(done.stderr,
                                 "pfm report: perf.data has no samples of 'alignment-faults'\n")
                done = self.pfm("report", *form, "-e", "emulation-faults")
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertEqual(
                    done.stderr,
                    "pfm report: no 'emulation-faults' was recorded in perf.data, but %s\n" %
                    ", ".join(events))

    def test_the_program_has_the_signal_mask_of_its_caller(self):
        mine = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGCHLD})
        try:
            done = self.pfm("record", "-e", "page-faults:u", "--", "grep", "SigBlk",
                            "/proc/self/status")
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mine)
        if done.returncode == 1:
            self.skipTest(done.stderr)
        self.assertEqual(int(done.stdout.split()[1], 16), 1 << (signal.SIGUSR2 - 1) | 1 <<
                         (signal.SIGCHLD - 1))

    def test_a_command_ends_with_its_recorder(self):
        for sig in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM):
            with self.subTest(sig.name), subprocess.Popen([
                    PFM, "record", "-e", "page-faults:u", "-o", "ended.data", "--", "sh", "-c",
                    "echo $$; exec sleep 60"
            ], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                                          restore_signals=True) as p:
                child = p.stdout.readline()
                if not child.strip():
                    self.skipTest(p.stderr.read())
                p.send_signal(sig)
                try:
                    _, said = p.communicate(timeout=20)
                finally:
                    p.kill()
                self.assertIn("was ended by signal %d" % sig, said)
                self.assertEqual(p.returncode, 128 + sig)
                self.assertRaises(ProcessLookupError, os.kill, int(child), 0)
                # The recording is closed: it is read to its end without a complaint.
                done = self.pfm("report", "ended.data")
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_without_samples_it_says_why(self):
        done = self.pfm("record", "-e", "page-faults:u:period=100000000", "-o", "none.data", "--",
                        "true")
        self.assertRegex(done.stderr,
                         r"no samples: [0-9]+ events are fewer than a period of 100000000")
        done = self.pfm("record", "-e", "alignment-faults:u", "-o", "none.data", "--", "true")
        self.assertIn("no samples: the event did not occur in user code", done.stderr)

    def json_of(self, *args, **more):
        """The objects of --json: events by name, and that of the file."""
        done = self.pfm("record", "--json", *args, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        *events, file = map(json.loads, done.stdout.splitlines())
        return {e["event"]: e for e in events}, file

    def test_json_has_the_numbers_of_the_recording_and_the_facts(self):
        events, file = self.json_of("-e", "page-faults:u:period=1", "-e",
                                    "minor-faults:u:period=100000000", "-o", "some.data", "--",
                                    sys.executable, "-S", "-c", "bytearray(4000000)")
        self.assertEqual(file, {"file": "some.data", "bytes": os.path.getsize(
            os.path.join(self.folder, "some.data"))})
        some, none = events["page-faults:u:period=1"], events["minor-faults:u:period=100000000"]
        self.assertGreater(some["samples"], 900)
        self.assertEqual(some["samples"] + some["lost"], some["count"])
        self.assertEqual((some["period"], some["discarded"], some["throttled"]), (1, 0, 0))
        self.assertNotIn("why", some)
        self.assertEqual(none["samples"], 0)
        self.assertRegex(none["why"], "^%d events are fewer than a period of 100000000" %
                         none["count"])
        self.assertRegex(none["evidence"], r"^counted %d, enabled for [\d.]+ s$" % none["count"])

    def test_json_of_each_run(self):
        done = self.pfm("record", "--json", "-r", "2", "-e", "page-faults:u", "-o", "run.data",
                        "--", "true")
        self.assertEqual([o["file"] for o in map(json.loads, done.stdout.splitlines())
                          if "file" in o], ["run.1.data", "run.2.data"])

    def test_json_of_an_exported_recording(self):
        _, file = self.json_of("-e", "page-faults:u", "-o", "some.folded", "--", "true")
        self.assertEqual(file, {"file": "some.folded"})

    def test_json_on_a_full_disk_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PFM, "record", "--json", "-e", "page-faults:u", "-o",
                                   os.path.join(self.folder, "x.data"), "--", "true"],
                                  stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write the output: No space left on device", done.stderr)

    def test_fewer_samples_than_count_and_period_make_are_reported(self):
        shim = os.path.join(os.environ["PERFMON_BUILD"], "tests", "libfew_interrupts.so")
        touch = [sys.executable, "-S", "-c", "bytearray(4000000)"]
        record = ["record", "-e", "page-faults:u", "-c", "1", "-o", "few.data", "--", *touch]
        done = self.pfm(*record, env={"LD_PRELOAD": shim})
        self.assertRegex(done.stderr, "page-faults:u: [0-9]+ samples, but [0-9]+000 events make "
                                      "[0-9]+000 at a period of 1: few of the interrupts")
        self.assertNotIn("samples, but", self.pfm(*record).stderr)

    def test_clocks_count_time_at_levels_that_are_not_sampled(self):
        """A program that is in the kernel nearly all the time: few samples of user code are right,
        and none is explained."""
        done = self.pfm("record", "-e", "task-clock:u", "-o", "few.data", "--", "dd",
                        "if=/dev/zero", "of=/dev/null", "bs=1M", "count=12000", "status=none")
        self.assertNotIn("interrupt", done.stderr)

    def refused(self, *args, status=2):
        done = self.pfm("record", "-e", "cpu-clock", *args, "--", "true")
        self.assertEqual((done.returncode, done.stdout), (status, ""), args)
        return done

    def test_wrong_options_are_refused(self):
        self.assertEqual(self.pfm("record").returncode, 2)
        self.assertEqual(self.pfm("record", "-F", "9", "-c", "9", "--", "true").returncode, 2)
        self.assertEqual(self.pfm("record", "-a", "-p", "1").returncode, 2)
        self.assertEqual(self.pfm("record", "-m", "3", "--", "true").returncode, 2)
        for cpus in ("", "x", "0-", "1-0", "0,", "-1"):
            self.assertIn("-C: expected CPU numbers up to 65535", self.refused("-C", cpus).stderr)
        self.assertIn("expected a file, got standard output", self.refused("-o", "-").stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "-")))
        self.assertIn("/dev/stdout: expected a file, got a pipe",
                      self.refused("-o", "/dev/stdout", status=1).stderr)
        done = self.pfm("record", "-e", "page-faults:period=0", "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("^^^^^^^^", done.stderr)
        self.assertEqual(
            self.pfm("record", "-e", "page-faults:u", "-o", "/nonexistent/x", "--",
                     "true").returncode, 1)
        self.assertEqual(self.pfm("report", "p.c").returncode, 1)
        self.assertEqual(self.pfm("report", "/nonexistent").returncode, 1)
        self.assertEqual(self.pfm("report", "--json", "--svg").returncode, 2)
        done = self.pfm("record", "-e", "page-faults:u", "--", "/nonexistent/program")
        self.assertIn(done.returncode, (1, 127))


class OtherPeoples(unittest.TestCase):
    """Recordings without samples, without stacks, cut off anywhere: each form of the report is complete, or refused with a reason."""

    def check(self, form, path):
        done = subprocess.run([PFM, "report", *form, path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        said = (form, done.returncode, done.stdout[-300:], done.stderr[-300:])
        self.assertIn(done.returncode, (0, 1), said)
        self.assertTrue(done.stdout or done.stderr.startswith("pfm report: "), said)
        self.assertNotIn("runtime error", done.stderr)
        if done.returncode:
            self.assertEqual(done.stdout, "", said)
        if form == ["--json"]:
            for line in done.stdout.splitlines():
                self.assertIn("samples", json.loads(line))
        if form == ["--svg"] and done.stdout:
            self.assertEqual(
                xml.etree.ElementTree.fromstring(done.stdout).tag.rpartition("}")[2], "svg")

    def report(self, folder, crafted, *form):
        """Output, and the memory it took in MiB."""
        path = os.path.join(folder, "data")
        crafted.write(path)
        with tempfile.TemporaryFile() as out, subprocess.Popen([PFM, "report", *form, path],
                                                               stdin=subprocess.DEVNULL,
                                                               stdout=out) as p:
            late = threading.Timer(60, p.kill)
            late.start()
            _, status, usage = os.wait4(p.pid, 0)
            late.cancel()
            p.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            self.assertEqual(
                p.returncode, 0,
                (form, p.returncode, "ended after a minute" if p.returncode == -9 else ""))
            return out.read().decode(), usage.ru_maxrss / 1024

    def report_both(self, crafted, *form):
        """Returns standard output and standard error of a report."""
        with tempfile.TemporaryDirectory() as folder:
            crafted.write(os.path.join(folder, "data"))
            done = subprocess.run([PFM, "report", *form, "data"], cwd=folder, capture_output=True,
                                  text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def kernel_symbols(self):
        with open("/proc/kallsyms", encoding="ascii") as f:
            lines = [line.split() for line in f]
        if not int(lines[0][0] if lines else "0", 16) and not any(
                int(line[0], 16) for line in lines[:100]):
            self.skipTest("addresses of the kernel are a secret")
        # without modules
        return [(int(line[0], 16), line[1], line[2]) for line in lines if len(line) == 3]

    def test_weak_functions_of_the_kernel(self):
        functions = sorted(s for s in self.kernel_symbols() if s[1] in "tTwW")
        weak = [
            b for a, b, c in zip(functions, functions[1:], functions[2:])
            if b[1] in "wW" and a[0] < b[0] < c[0]
        ]
        if not weak:
            self.skipTest("the kernel has none")
        crafted = Crafted()
        crafted.attr()
        crafted.sample(5, weak[0][0], 1)
        self.assertIn("[kernel]                 %s\n" % weak[0][2], self.report_both(crafted)[0])

    def test_functions_of_another_kernel(self):
        at, _, name = next(s for s in self.kernel_symbols() if s[1] == "T" and s[2] == "_stext")
        for off in 0, 0x200000:
            crafted = Crafted()
            crafted.attr()
            crafted.kernel(name.encode(), at + off)
            crafted.sample(5, at + 0x1000, 1)
            out, said = self.report_both(crafted)
            self.assertEqual(
                ("%#x\n" %
                 (at + 0x1000) in out, "of another kernel, or of an earlier boot" in said),
                (off > 0, off > 0), (out, said))

    def test_guests_have_no_functions_of_their_host(self):
        crafted = Crafted()
        crafted.attr()
        crafted.map(5, 0x1000, b"/bin/host")
        for misc in 2, 3, 4, 5:
            crafted.sample(5, 0x1008, misc)
        places = [json.loads(line) for line in self.report_both(crafted, "--json")[0].splitlines()]
        self.assertEqual(sorted((p["object"], p["samples"]) for p in places),
                         [("/bin/host", 1), ("[guest kernel]", 1), ("[guest]", 1),
                          ("[hypervisor]", 1)])

    def test_reports_lost_samples(self):
        """Lost samples are included in the lost records if the buffers reported these."""
        for records, samples, want in (0, 7, 7), (9, 7, 9):
            crafted = Crafted()
            crafted.attr()
            crafted.sample(5, 0x1008)
            if records:
                crafted.record(2, struct.pack("<QQ", 1, records) + crafted.trailer(5), 0)
            crafted.record(5, struct.pack("<QQQ", 1, 1, 1) + crafted.trailer(5), 0)
            crafted.record(13, struct.pack("<Q", samples) + crafted.trailer(5), 0)
            said = self.report_both(crafted)[1]
            self.assertIn("pfm report: %d records were lost while recording\n" % want, said)
            self.assertIn("pfm report: the kernel throttled sampling 1 time:", said)

    def test_samples_without_a_known_event_are_separate(self):
        for configs, twins in ((2, 3), False), ((2, 2), True), ((1, 1), False), ((0, 0), False):
            crafted = Crafted()
            for i, config in enumerate(configs):
                crafted.attr([1 + i], config)
            crafted.sample(5, 0x1008)
            out, said = self.report_both(crafted)
            self.assertEqual(out, "")
            self.assertIn("pfm report: 1 samples are left out: their event is unknown\n", said)
            self.assertEqual("cannot be distinguished" in said, twins, said)

    def test_report_counts_rows_not_shown(self):
        crafted = Crafted()
        crafted.attr()
        for k in range(50):
            crafted.sample(5, 0x1000 + k)
        for form, want in ((), "20.00% in 10 more places"), (("-n", "49"),
                                                             "2.00% in 1 more place;"):
            self.assertIn(want, self.report_both(crafted, *form)[0])
        self.assertNotIn("more place", self.report_both(crafted, "-n", "50")[0])

    def test_each_of_many_places_is_one(self):
        """Lists that grow a few times: what was added before is found again, and nothing else."""
        draw, want = random.Random(1), collections.Counter()
        crafted = Crafted()
        crafted.attr()
        for tid in range(300):
            crafted.comm(5 + tid, b"task %d" % tid)
        for _ in range(20000):
            place = draw.randrange(300), 0x1000 + draw.randrange(1500)
            crafted.sample(5 + place[0], place[1])
            want[place] += 1
        places = [json.loads(line) for line in self.report_both(crafted, "--json")[0].splitlines()]
        got = {(int(p["task"].split()[1]), int(p["function"], 16)): p["samples"] for p in places}
        self.assertEqual((len(places), got), (len(want), dict(want)))
        folded = [
            line.rsplit(" ", 1) for line in self.report_both(crafted, "--folded")[0].splitlines()
        ]
        self.assertEqual(len(folded), len(want))
        self.assertEqual(
            {(int(t.split(";")[0].split()[1]), int(t.rsplit(";", 1)[1], 16)): int(n)
             for t, n in folded}, dict(want))

    def sampled(self, folder, name, *form):
        """The report of one sample in the first function of the file of that name."""
        crafted = Crafted()
        crafted.attr()
        crafted.comm(5, b"work")
        crafted.map(5, 0x1000, os.path.join(folder, name).encode())
        crafted.sample(5, 0x1008)
        return self.report(folder, crafted, *form)

    @unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
    def test_functions_of_a_crafted_program(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "program"), "wb") as f:
                f.write(crafted_program([b"first", b"second"]))
            self.assertIn(" first\n", self.sampled(folder, "program")[0])

    @unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
    def test_first_name_by_letter_represents_a_function(self):
        names = [b"alpha", b"beta", b"gamma", b"delta"]
        with tempfile.TemporaryDirectory() as folder:
            for order in names, names[::-1], names[2:] + names[:2]:
                with open(os.path.join(folder, "program"), "wb") as f:
                    f.write(crafted_program(order, apart=0))
                self.assertIn(" alpha\n", self.sampled(folder, "program")[0])

    @unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
    def test_functions_without_a_size_end_with_their_section(self):
        with tempfile.TemporaryDirectory() as folder:
            for size, name in (4, "0x1008"), (16, "first"):
                with open(os.path.join(folder, "program"), "wb") as f:
                    f.write(crafted_program([b"first"], section=size))
                self.assertIn(" %s\n" % name, self.sampled(folder, "program")[0])

    @unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
    def test_a_program_that_was_replaced_has_no_functions(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program")
            for ids, names in ((b"a" * 20, b"a" * 20), ["first", "first"]), ((b"a" * 20, b"b" * 20),
                                                                             ["0x1008", "first"]):
                crafted = Crafted()
                crafted.attr()
                for i, build_id in enumerate(ids):
                    crafted.map2(5 + i, 0x1000, path.encode(), build_id)
                    crafted.sample(5 + i, 0x1008)
                with open(path, "wb") as f:
                    f.write(crafted_program([b"first"], build_id=ids[1]))
                out, said = self.report_both(crafted, "--json")
                places = {p["task"]: p["function"] for p in map(json.loads, out.splitlines())}
                self.assertEqual(places, {":5": names[0], ":6": names[1]})
                self.assertEqual("the file has changed since the recording" in said,
                                 names[0] != names[1], said)

    def test_a_fifo_that_was_mapped_is_not_waited_for(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(os.path.join(folder, "fifo"))
            for form in [], ["--source"], ["--folded"]:
                self.assertIn("0x1008", self.sampled(folder, "fifo", *form)[0])

    @unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
    def test_tables_of_symbols_that_are_all_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "program"), "wb") as f:
                f.write(crafted_program([b"f%d" % i for i in range(20000)], tables=16000))
            out, memory = self.sampled(folder, "program")
            self.assertIn(" f0\n", out)
            self.assertLess(memory, 1024)

    @unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
    def test_names_without_end(self):
        digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        doubled = b"_Z1f1AIiiE" + b"".join(b"S_IS%c_S%c_E" % (d, d) for d in digits)
        with tempfile.TemporaryDirectory() as folder:
            for name, want in ((doubled, b"f(A<int, int>, A<A<int, int>, A<int, int> >"),
                               (b"n" * 100000, b"nnn"), (b"_Z1fi", b"f")):
                with open(os.path.join(folder, "program"), "wb") as f:
                    f.write(crafted_program([name]))
                for form in [], ["--folded"]:
                    out, memory = self.sampled(folder, "program", *form)
                    self.assertIn(want, out.encode())
                    self.assertLess(len(out), 10000)
                    self.assertLess(memory, 1024)

    def test_many_births_from_many_mappings(self):
        crafted = Crafted()
        crafted.attr()
        for i in range(10000):
            crafted.map(5, 0x1000 * (i + 1), b"/x%d" % i)
        for i in range(10000):
            crafted.fork(6 + i, 5)
        crafted.map(7, 0x1000, b"/own")  # neither the parent's nor its other children's
        for pid in 5, 6, 7:
            crafted.sample(pid, 0x1008)
            crafted.sample(pid, 0x2008)
        with tempfile.TemporaryDirectory() as folder:
            out, memory = self.report(folder, crafted, "--json")
            self.assertLess(memory, 1024)
        places = sorted((p["task"], p["object"]) for p in map(json.loads, out.splitlines()))
        self.assertEqual(places, [(":5", "/own"), (":5", "/x0"), (":5", "/x1")])
        self.assertEqual({p["object"]: p["samples"] for p in map(json.loads, out.splitlines())},
                         {"/own": 1, "/x0": 2, "/x1": 3})

    def test_events_that_are_announced_one_by_one(self):
        crafted = Crafted()
        for k in range(128):
            crafted.attr(range(8000 * k, 8000 * k + 8000))
        for k in range(3900):
            crafted.attr([2000000 - k])
        crafted.sample(5, 0x1008)
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("0x1008", self.report(folder, crafted)[0])

    def test_names_begin_no_lines_and_no_frames(self):
        crafted = Crafted()
        crafted.attr()
        crafted.comm(5, b"w\n99;x\t")
        crafted.map(5, 0x1000, b"/bin/a\nb")
        crafted.sample(5, 0x1008)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(
                self.report(folder, crafted, "--folded")[0], "w\\x0a99:x\\x09;0x1008 1\n")
            out = self.report(folder, crafted)[0]
            self.assertEqual(len(out.strip().splitlines()), 2, out)
            self.assertIn("w\\x0a99;x\\x09", out)
            self.assertIn("a\\x0ab", out)
            place = json.loads(self.report(folder, crafted, "--json")[0])
            self.assertEqual((place["task"], place["object"]), ("w\n99;x\t", "/bin/a\nb"))

    def test_they_do_no_harm(self):
        corpus = os.path.join(os.environ["PERFMON_TESTS"], "fuzz", "corpus",
                              "recording")
        forms = [], ["--json"], ["--folded"], ["--svg"], ["--source"]
        names = sorted(os.listdir(corpus))
        self.assertTrue(names)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "data")
            for name in names:
                with open(os.path.join(corpus, name), "rb") as f:
                    whole = f.read()
                for i, cut in enumerate(
                    [len(whole), 0, *range(16, len(whole), max(len(whole) // 12, 1))]):
                    with open(path, "wb") as f:
                        f.write(whole[:cut])
                    for form in forms if cut == len(whole) else [forms[i % len(forms)]]:
                        self.check(form, path)


if __name__ == "__main__":
    tap.main()
