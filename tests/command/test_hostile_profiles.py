#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings, and files that they name, made to write out of bounds, to run for ever, to use all
memory, or to print wrong numbers. docs/security.md forbids each.

    PFM  the command (default: pfm of the path)
"""

import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [HERE, os.path.join(HERE, "support")]
import dwarf_writer as dwarf  # noqa: E402
import elf_writer as elf  # noqa: E402
import tap  # noqa: E402
from instructions import count_instructions  # noqa: E402
from test_record import Crafted  # noqa: E402
from test_symbols import START, Recording  # noqa: E402

PFM = os.environ.get("PFM", "pfm")


class Folder(unittest.TestCase):
    """A test case with a folder of its own."""

    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="perfmon-hostile-")
        self.addCleanup(made.cleanup)
        self.folder = made.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, crafted, name="perf.data"):
        crafted.write(self.path(name))
        return self.path(name)

    def run_pfm(self, *arguments, expected=0, timeout=60, memory=None):
        limit = limit_memory(memory) if memory else None
        done = subprocess.run([PFM, *arguments], capture_output=True, check=False, timeout=timeout,
                              stdin=subprocess.DEVNULL, preexec_fn=limit)
        self.assertEqual(done.returncode, expected, (arguments, done.stderr[-2000:]))
        self.messages = done.stderr.decode(errors="replace")
        return done.stdout


class Timed(Crafted):
    """Samples whose times the test chooses."""

    def trailer(self, pid):
        return struct.pack("<IIQ", pid, pid, self.time)

    def sample_at(self, time, weight=1, address=0x1000):
        self.time = time
        self.record(9, struct.pack("<Q", address) + self.trailer(5) + struct.pack("<Q", weight))


def limit_memory(size):
    """For a child: it has at most so many bytes of memory."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


class Files(Folder):
    """C: files that a recording names, which take more time or memory than their size deserves."""

    MEMORY = 600 << 20  # bytes, of address space

    def record(self, path, *addresses):
        """A recording with a sample at each address of the file."""
        made = Recording()
        made.attr()
        made.comm(5, b"prog")
        made.file(5, path.encode())
        for address in addresses:
            made.sample(5, START + address)
        return self.write(made)

    def make(self, content, name="prog"):
        with open(self.path(name), "wb") as f:
            f.write(content)
        return self.path(name)

    def report(self, *arguments, path):
        return self.run_pfm("report", "--json", *arguments, path,
                            memory=self.MEMORY, timeout=20).decode()

    def program(self, made, functions=((b"work", 0x1000, 0x1000),)):
        """A program with debugging information."""
        file = elf.Elf()
        file.add_symbols(functions)
        return self.make(made.add_to(file).build())

    def test_c1_an_entry_whose_sibling_is_its_child_is_left(self):
        """C1: a walk along these attributes takes twice the time with each level."""
        inner = dwarf.inlined("f60", 0x1000, 0x1800)
        for i in range(60):
            inner = dwarf.inlined("f%d" % i, 0x1000, 0x1800, [inner])
            inner.attributes[dwarf.SIBLING] = ("reference", inner.children[0])
        path = self.program(dwarf.Dwarf(dwarf.unit([inner])))
        out = self.report("--source", path=self.record(path, 0x1010))
        self.assertIn("f59;f58;", out)

    def test_c7_functions_that_share_a_list_of_ranges(self):
        """C7: 3,000 functions times 3,000 ranges."""
        made = dwarf.Dwarf(dwarf.unit([]))
        shared = made.add_ranges([(0x1000 + i, 0x1001 + i) for i in range(3000)])
        made.root.children = [
            dwarf.Entry(dwarf.INLINED, {
                dwarf.NAME: ("text", "f%d" % i), dwarf.RANGES: ("section", shared)
            }) for i in range(3000)
        ]
        path = self.program(made)
        self.MEMORY = 200 << 20
        self.report("--source", path=self.record(path, 0x1010))
        self.assertIn("inlined functions of %s are incomplete: the limit is" % path, self.messages)

    def test_c7_units_that_share_a_list_of_ranges(self):
        """The sibling: ranges of units, which are read where .debug_aranges is missing."""
        made = dwarf.Dwarf(dwarf.Entry(dwarf.COMPILE_UNIT, {dwarf.NAME: ("text", "x.c")}))
        shared = made.add_ranges([(0x3000 + i, 0x3001 + i) for i in range(3000)])
        made.root.attributes[dwarf.RANGES] = ("section", shared)
        sections = made.sections()
        file = elf.Elf()
        file.add_symbols([(b"work", 0x1000, 0x1000)])
        sections[".debug_info"] *= 3000
        for name, data in sections.items():
            if data:
                file.add(name, elf.PROGBITS, data)
        self.MEMORY = 200 << 20
        path = self.make(file.build())
        self.report("--source", path=self.record(path, 0x1010))
        self.assertIn("source lines of %s are incomplete: the limit is" % path, self.messages)

    def test_c6_sections_of_relocations_over_the_same_bytes(self):
        file = elf.Elf()
        table = file.add_symbols([(b"called", 0x1000, 16)], elf.DYNSYM)
        rela = struct.pack("<QQq", 0x3000, 1 << 32 | 7, 0) * 20000
        first = file.add(".rela.plt", elf.RELA, rela, link=table)
        for _ in range(400):
            file.add(".rela.plt", elf.RELA, link=table, size=len(rela), shares=first)
        path = self.make(file.build())
        self.MEMORY = 100 << 20
        self.report(path=self.record(path, 0x1010))
        self.assertIn("functions of %s are incomplete: the limit is" % path, self.messages)

    def test_c6_headers_of_notes_over_the_same_bytes(self):
        file = elf.Elf()
        file.add_symbols([(b"work", 0x1000, 0x1000)])
        notes = file.add(".notes", elf.NOTE, struct.pack("<III4s", 4, 0, 9, b"GNU") * (1 << 16))
        for _ in range(65000):
            file.add_segment(elf.PT_NOTE, file.sections[notes], 0)
        path = self.make(file.build())
        self.report(path=self.record(path, 0x1010))
        self.assertIn("functions of %s are incomplete: the limit is" % path, self.messages)

    def test_c5_a_checksum_reads_no_endless_file(self):
        file = elf.Elf()
        file.add(".gnu_debuglink", elf.PROGBITS, b"big.debug\0\0\0" + bytes(4))
        path = self.make(file.build())
        with open(self.path("big.debug"), "wb") as f:
            f.write(elf.Elf().build())
            f.truncate(200 << 30)
        self.report(path=self.record(path, 0x1010))
        self.assertIn("are incomplete: the limit is", self.messages)
        self.assertIn("big.debug", self.messages)

    def test_c3_a_long_name_of_rust_is_cut(self):
        """C3: binders of 20,000 lifetimes each, after the text is full. What the name costs is
        little beside what starting the command does."""
        counts = []
        for name in (b"_RNvC1a1b", b"_RINvC1a1b" + b"FG5bb_Eu" * 2000 + b"E"):
            file = elf.Elf()
            file.add_symbols([(name, 0x1000, 0x1000)])
            path = self.record(self.make(file.build()), 0x1010)
            self.assertIn("a::b", self.report(path=path))
            counts.append(count_instructions([PFM, "report", path]))
        self.assertLess(counts[1], counts[0] + 5e6)

    def test_a17_chains_of_inlined_functions_are_whole(self):
        """A17: names of C++ that take more than 4,096 bytes together, and more than 32 of them."""
        names = ["f%d_" % i + "x" * 1000 for i in range(100)]
        inner = []
        for name in reversed(names):
            inner = [dwarf.inlined(name, 0x1000, 0x1800, inner)]
        path = self.record(self.program(dwarf.Dwarf(dwarf.unit(inner))), 0x1010)
        self.assertEqual(json.loads(self.report("--source", path=path))["inlined"],
                         ";".join(names))
        folded = self.run_pfm("report", "--folded", path).decode()
        self.assertEqual(folded.split(" ")[0].split(";")[2:], [name + "_[i]" for name in names])
        tree = self.run_pfm("report", "--call-graph", "-n", "0", path).decode()
        self.assertEqual(tree.count("(inlined)"), len(names))
        out = json.loads(self.run_pfm("export", "-f", "speedscope", path))
        self.assertEqual([frame["name"] for frame in out["shared"]["frames"]][-len(names):], names)

    def test_random_trees_end(self):
        """Trees with cycles, depth and shared lists from a fixed seed: each ends, with a report."""
        for seed in range(12):
            path = self.program(dwarf.random_tree(seed, 400))
            out = self.report("--source", path=self.record(path, *range(0x1000, 0x2000, 64)))
            self.assertIn("work", out, seed)
            self.run_pfm("report", "--call-graph", self.path("perf.data"), memory=self.MEMORY)
            self.run_pfm("report", "--folded", self.path("perf.data"), memory=self.MEMORY)


class Times(Folder):
    """B1: an index computed from times that the file chooses."""

    def times(self, *times):
        crafted = Timed()
        crafted.attr()
        crafted.comm(5, b"prog")
        for time in times:
            crafted.sample_at(time)
        return self.write(crafted)

    def counter_sum(self, *times):
        out = json.loads(self.run_pfm("export", "-f", "firefox", "-o", "-", self.times(*times)))
        rows = out["counters"][0]["sample_groups"][0]["samples"]["data"]
        return sum(row[2] for row in rows)

    def test_firefox_counts_each_sample_whatever_its_time(self):
        for times in ((0, 10 ** 12, 2 * 10 ** 12), (0, 2 ** 63, 2 ** 64 - 1),
                      (2 ** 64 - 1, 0, 5), (7, 7, 7), (0, 0, 0)):
            self.assertEqual(self.counter_sum(*times), len(times),
                             times)

    def test_slices_have_all_samples(self):
        for times in ((0, 10 ** 9, 2 * 10 ** 9), (2 ** 64 - 1, 0, 1), (5, 4, 3)):
            out = self.run_pfm("report", "--json", "--time-slices", "4", self.times(*times))
            rows = [json.loads(line) for line in out.decode().splitlines()]
            self.assertEqual(sum(row["samples"] for row in rows if "function" in row), len(times),
                             times)

    def test_no_time_ends_an_export(self):
        for times in ((2 ** 64 - 1, 0, 3), (2 ** 64 - 2, 2 ** 64 - 1, 2 ** 63)):
            path = self.times(*times)
            for name in ("chrome", "firefox", "speedscope", "pprof", "otlp", "script", "json"):
                self.run_pfm("export", "-f", name, path)


if __name__ == "__main__":
    tap.main()
