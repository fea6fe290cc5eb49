#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings, and files that they name, made to write out of bounds, to run for ever, to use all
memory, or to print wrong numbers. docs/security.md forbids each.

    PFM  the command (default: pfm of the path)
"""

import gzip
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [HERE, os.path.join(HERE, "support")]
import dwarf_writer as dwarf  # noqa: E402
import elf_writer as elf  # noqa: E402
import tap  # noqa: E402
from readable_copy import ReadableCopy  # noqa: E402
from instructions import count_instructions  # noqa: E402
from test_record import Crafted, crafted_program  # noqa: E402
from test_symbols import START, Recording, record_of_another_kernel  # noqa: E402

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
        return self.make(b"".join(crafted.data), name)

    def make(self, content, name="prog"):
        """Writes a file; an older one may be another user's, which root may not write to."""
        if os.path.exists(self.path(name)):
            os.remove(self.path(name))
        with open(self.path(name), "wb") as f:
            f.write(content)
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

    @unittest.skipUnless(shutil.which("objdump") and shutil.which("cc"),
                         "no objdump or compiler (Debian packages binutils and gcc)")
    def test_c2_source_files_are_regular(self):
        """C2: a program whose source is a FIFO; a disassembler would wait for it."""
        source = self.make(b"volatile int x;\nint work(void)\n{\n\treturn x;\n}\n", "x.c")
        subprocess.run(["cc", "-g", "-shared", "-fPIC", "-Wl,-z,noseparate-code", "-o",
                        self.path("x.so"), source], check=True)
        text = subprocess.run(["nm", self.path("x.so")], capture_output=True, text=True,
                              check=True).stdout
        address = int(re.search(r"(\w+) T work", text)[1], 16)
        path = self.record(self.path("x.so"), address)
        self.assertIn("return x;", self.run_pfm("annotate", "work", path).decode())
        os.remove(source)
        os.mkfifo(source)
        text = self.run_pfm("annotate", "work", path, timeout=20).decode()
        self.assertIn("<work>:", text)

    def test_c2_debug_files_are_regular(self):
        """The sibling of C2: a link to a FIFO, for the symbols, the lines and the call frames."""
        os.mkfifo(self.path("pipe.debug"))
        file = elf.Elf()
        file.add(".gnu_debuglink", elf.PROGBITS, b"pipe.debug\0\0" + bytes(4))
        path = self.record(self.make(file.build()), 0x1010)
        self.report("--source", path=path)

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


NOBODY = 65534


class Trust(Folder):
    """A19, and the table of docs/security.md: whose files name code. Processes are those of root
    and of an ordinary user; both of them ask."""

    JITDUMP = struct.pack("<6I2Q", 0x4a695444, 1, 40, 62, 0, 5, 0, 0) + struct.pack(
        "<2IQ2I4Q", 0, 64, 0, 5, 5, 0x1000, 0x1000, 4096, 1) + b"forged\0\0"

    def setUp(self):
        super().setUp()
        if os.geteuid() or not shutil.which("setpriv"):
            self.skipTest("only root has files and processes of several users")
        os.chmod(self.folder, 0o1777)
        self.copy = ReadableCopy(PFM)
        self.addCleanup(self.copy.remove)

    def own(self, path, owner):
        os.chown(path, owner, owner)
        os.chmod(path, 0o644)
        return path

    def process(self, user):
        """A process of @user, until the end of the test; its PID."""
        words = ["setpriv", "--reuid=%d" % user, "--clear-groups", "sleep", "60"]
        child = subprocess.Popen(words)
        self.addCleanup(lambda: (child.kill(), child.wait()))
        while True:
            with open("/proc/%d/status" % child.pid, encoding="ascii") as f:
                if re.search(r"^Name:\tsleep$", f.read(), re.M):
                    return child.pid

    def recording(self, pid, path, recorder, offset=0x1010, made=None):
        made = made or Recording()
        made.attr()
        made.comm(pid, b"prog")
        made.file(pid, path.encode(), start=0x1000 if path.endswith(".dump") else START)
        made.sample(pid, offset if path.endswith(".dump") else START + offset)
        return self.own(self.write(made), recorder)

    def function(self, path, asks):
        words = [] if asks == 0 else ["setpriv", "--reuid=%d" % asks, "--clear-groups"]
        done = subprocess.run([*words, self.copy.path(PFM), "report", "--json", "--source", path],
                              capture_output=True, text=True, check=False, timeout=60,
                              env=self.copy.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.messages = done.stderr
        return json.loads(done.stdout)

    def check(self, believed, row, path, asks):
        name = self.function(path, asks)["function"]
        self.assertEqual(name == "forged", believed, (row, asks, name, self.messages))
        self.assertEqual("is ignored: it belongs to another user than" in self.messages,
                         not believed, (row, asks, self.messages))

    def test_dumps_of_compilers(self):
        """Of the user of the process and of root; of the recorder, when the process has ended."""
        ended = subprocess.Popen(["true"])
        ended.wait()
        running = {0: self.process(0), NOBODY: self.process(NOBODY)}
        for owner, pid, recorder, believed in ((NOBODY, running[0], 0, False),
                                               (NOBODY, running[NOBODY], 0, True),
                                               (NOBODY, running[NOBODY], NOBODY, True),
                                               (1, running[NOBODY], NOBODY, False),
                                               (0, running[NOBODY], NOBODY, True),
                                               (NOBODY, ended.pid, 0, False),
                                               (NOBODY, ended.pid, NOBODY, True),
                                               (1, ended.pid, NOBODY, False)):
            dump = self.own(self.make(self.JITDUMP, "jit-5.dump"), owner)
            path = self.recording(pid, dump, recorder)
            os.utime(path, (time.time() + 60, time.time() + 60))
            for asks in 0, NOBODY:
                self.check(believed, (owner, pid, recorder), path, asks)

    def test_maps_of_processes(self):
        """As for dumps, and a process that took the number of the one that was recorded."""
        pid = self.process(NOBODY)
        path = "/tmp/perf-%d.map" % pid
        self.addCleanup(os.remove, path)
        with open(path, "w", encoding="ascii") as f:
            f.write("%x 10000 forged\n" % START)
        for owner, recorder, age, believed in ((NOBODY, 0, 60, True), (1, 0, 60, False),
                                               (NOBODY, 0, -600, False), (0, 0, -600, True)):
            self.own(path, owner)
            recording = self.recording(pid, "//anon", recorder)
            os.utime(recording, (time.time() + age, time.time() + age))
            for asks in 0, NOBODY:
                self.check(believed, (owner, recorder, age), recording, asks)

    def test_programs_and_debug_files_in_folders_of_all(self):
        """Of root and of the recorder, where all users can create files; elsewhere of any user."""
        def write(folder, name, functions, link=None, owner=0):
            file = elf.Elf()
            if functions:
                file.add_symbols([(b"forged", 0x1000, 0x1000)])
            content = file.build()
            if link is not None:
                file = elf.Elf()
                name_and_checksum = b"x.debug\0" + struct.pack("<I", zlib.crc32(link))
                file.add(".gnu_debuglink", elf.PROGBITS, name_and_checksum)
                content = file.build()
            return self.own(self.make(content, os.path.join(folder, name)), owner), content

        private = self.path("private")
        os.mkdir(private)
        os.chmod(private, 0o755)
        for folder, owner, recorder, believed in ((self.folder, NOBODY, 0, False),
                                                  (self.folder, 0, NOBODY, True),
                                                  (self.folder, NOBODY, NOBODY, True),
                                                  (self.folder, 1, NOBODY, False),
                                                  (private, 1, 0, True)):
            program, _ = write(folder, "prog", True, owner=owner)
            recording = self.recording(5, program, recorder)
            os.utime(recording, (time.time() + 60, time.time() + 60))
            for asks in 0, NOBODY:
                self.check(believed, ("program", folder, owner, recorder), recording, asks)
            debug, content = write(folder, "x.debug", True, owner=owner)
            program, _ = write(folder, "prog2", False, link=content)
            recording = self.recording(5, program, recorder)
            os.utime(recording, (time.time() + 60, time.time() + 60))
            for asks in 0, NOBODY:
                self.check(believed, ("debug file", debug, owner, recorder), recording, asks)


    def files_of_all(self, private):
        """Folder, owner of a file in it, owner of the recording, whether the file is believed."""
        return ((self.folder, NOBODY, 0, False), (self.folder, 0, NOBODY, True),
                (self.folder, NOBODY, NOBODY, True), (self.folder, 1, NOBODY, False),
                (private, 1, 0, True))

    def private_folder(self):
        private = self.path("private")
        os.mkdir(private)
        os.chmod(private, 0o755)
        return private

    def ask(self, user, *arguments):
        words = [] if user == 0 else ["setpriv", "--reuid=%d" % user, "--clear-groups"]
        done = subprocess.run([*words, self.copy.path(PFM), *arguments], capture_output=True,
                              text=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
                              env=self.copy.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def expect(self, believed, shown, row, *arguments):
        """@shown comes from a file that root and an ordinary user believe, or both ignore."""
        for asks in 0, NOBODY:
            done = self.ask(asks, *arguments)
            self.assertEqual(shown in done.stdout, believed, (row, asks, done.stderr))
            self.assertEqual("is ignored: it belongs to another user than" in done.stderr,
                             not believed, (row, asks, done.stderr))

    @unittest.skipUnless(shutil.which("objdump") and shutil.which("cc"),
                         "no objdump or compiler (Debian packages binutils and gcc)")
    def test_sources_in_folders_of_all(self):
        """Of root and of the recorder, where all users can create files; elsewhere of any user."""
        for folder, owner, recorder, believed in self.files_of_all(self.private_folder()):
            source = self.make(b"volatile int x;\nint work(void)\n{\n\treturn x;\n}\n",
                               os.path.join(folder, "x.c"))
            subprocess.run(["cc", "-g", "-shared", "-fPIC", "-Wl,-z,noseparate-code", "-o",
                            self.path("x.so"), source], check=True)
            self.own(source, owner)
            program = self.own(self.path("x.so"), 0)
            text = subprocess.run(["nm", program], capture_output=True, text=True,
                                  check=True).stdout
            recording = self.recording(5, program, recorder,
                                       int(re.search(r"(\w+) T work", text)[1], 16))
            self.expect(believed, "return x;", (folder, owner, recorder), "annotate", "work",
                        recording)

    def test_kernels_in_folders_of_all(self):
        """A kernel's file that a debug folder has: as for sources."""
        private = self.private_folder()
        for folder, mode in (self.folder, 0o1777), (private, 0o755):
            os.mkdir(os.path.join(folder, "boot"))
            os.chmod(os.path.join(folder, "boot"), mode)
        for folder, owner, recorder, believed in self.files_of_all(private):
            kernel = os.path.join(folder, "boot", "vmlinux-9.9.9-test")
            self.own(self.make(crafted_program([b"_stext", b"forged"]), kernel), owner)
            if os.path.exists(self.path("perf.data")):
                os.remove(self.path("perf.data"))
            record_of_another_kernel(self.folder, b"9.9.9-test")
            recording = self.own(self.path("perf.data"), recorder)
            self.expect(believed, '"forged"', (folder, owner, recorder), "report", "--json",
                        "--debug-dir", folder, recording)


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

    def test_a14_shares_of_huge_periods_are_at_most_all(self):
        """A14: periods whose sum has more than 64 bits; and, in pprof, more than 63."""
        crafted = Timed()
        crafted.attr()
        crafted.comm(5, b"prog")
        for i, weight in enumerate((2 ** 63, 2 ** 64 - 1, 2 ** 62, 3)):
            crafted.sample_at(i, weight, 0x1000 * i)
        path = self.write(crafted)
        rows = [json.loads(line) for line in self.run_pfm("report", "--json", path).splitlines()]
        self.assertEqual(sum(row["samples"] for row in rows), 4)
        self.assertLessEqual(sum(row["share"] for row in rows), 1)
        self.assertIn("damaged", self.run_pfm("report", path).decode() + self.messages)
        for arguments in ((), ("--call-graph", ), ("--children", )):
            text = self.run_pfm("report", *arguments, path).decode()
            self.assertNotIn("nan", text)
            for share in re.findall(r"(\d+\.\d+)%", text):
                self.assertLessEqual(float(share), 100, text)
        out = self.path("out.pb.gz")
        self.run_pfm("export", "-f", "pprof", "--check", "-o", out, path)
        with gzip.open(out) as f:
            text = f.read()
        self.assertNotIn(b"\xff" * 8 + b"\x01", text)     # a negative number, as protobuf has it
        folded = self.run_pfm("export", "-f", "folded", path).decode()
        self.assertLess(sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()
                            if not line.startswith("#")), 2 ** 63)

    def test_no_time_ends_an_export(self):
        for times in ((2 ** 64 - 1, 0, 3), (2 ** 64 - 2, 2 ** 64 - 1, 2 ** 63)):
            path = self.times(*times)
            for name in ("chrome", "firefox", "speedscope", "pprof", "otlp", "script", "json"):
                self.run_pfm("export", "-f", name, path)


if __name__ == "__main__":
    tap.main()
