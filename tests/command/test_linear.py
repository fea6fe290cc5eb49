#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Twice the input takes at most 2.5 times the instructions: hostile recordings, and event lists.
Sizes differ by four, so the bound is the square of that. Instructions are counted because times are
not linear where the larger input no longer fits the caches, and differ from run to run.

PFM names the command. Each recording is made so that a table of fixed size, a list that every
sample walks, or a sort for every mark would take time that grows with the square of its size.
"""

import itertools
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [HERE, os.path.join(HERE, "support")]
# pylint: disable=wrong-import-position
import dwarf_writer as dwarf
import elf_writer as elf
import tap
from instructions import count_instructions
from test_record import Crafted

PFM = os.environ.get("PFM", "pfm")
RATIO = 2.5
DOUBLINGS = 2
LONG = bool(os.environ.get("PERFMON_LONG"))
SIZES = (2000, 8000) if LONG else (1000, 4000)


def tasks_in_one_bucket(crafted, n):
    """Task ids that are multiples of 1024."""
    for i in range(1, n + 1):
        crafted.sample(i * 1024 % 2 ** 32, 0x1000)


def mappings_in_none(crafted, n):
    """As many samples as mappings, and no sample is in a mapping."""
    for i in range(n):
        crafted.map(5, 0x100000 + 0x2000 * i, b"/x")
    for i in range(n):
        crafted.sample(5, 0x10 + i % 16)


def mappings_and_samples_in_turn(crafted, n):
    """Each mapping replaces a part of an older one and is sampled at once."""
    for i in range(n):
        crafted.map(5, 0x100000 + 0x800 * (i * 7919 % n), b"/x")
        crafted.sample(5, 0x10)


def names_that_collide(crafted, n):
    """File names with one value of the hash h = 33 h + c: "Ez" and "FY" share it."""
    names = itertools.islice(itertools.product((b"Ez", b"FY"), repeat=18), n)
    for i, name in enumerate(names):
        crafted.map(5, 0x100000 + 0x1000 * i, b"/" + b"".join(name))


def marks_before_waiting_records(crafted, n):
    """Records of a late time wait through many marks of finished rounds."""
    crafted.time = 1 << 40
    for i in range(n):
        crafted.sample(5, 0x10 + i % 16)
    crafted.time = 0
    for i in range(n):
        crafted.record(68, b"", 0)
        if i % 16 == 0:
            crafted.sample(5, 0x10)


def builds_of_one_path(crafted, n):
    """One path with a build id of its own in every mapping."""
    for i in range(n):
        crafted.map2(5, 0x100000 + 0x1000 * i, b"/x", struct.pack("<QQI", i, 1, 2))


class Deferred(Crafted):
    """Samples whose user frames come in a later record."""

    def attr(self, ids=(1,), config=0):
        super().attr(ids, config)
        self.data[-1] = self.data[-1].replace(struct.pack("<Q", 0x107), struct.pack("<Q", 0x127))

    def deferred_sample(self, pid, cookie):
        chain = struct.pack("<3Q", 2, 2 ** 64 - 640, cookie)
        self.record(
            9,
            struct.pack("<Q", 0x1000) + self.trailer(pid) + struct.pack("<Q", 1) + chain)

    def frames(self, pid, cookie):
        self.record(22, struct.pack("<3Q", cookie, 1, 0x1000) + self.trailer(pid))


# ---- files that recordings name: each function returns the bytes of one ------------------------


def program(*sections, functions=((b"work", 0x1000, 0x1000),)):
    """A program with debugging information, if any is given."""
    file = elf.Elf()
    file.add_symbols(functions)
    for made in sections:
        made.add_to(file)
    return file.build()


def siblings_that_are_children(n):
    """Each entry's sibling is its first child, thirty levels deep, n / 30 times."""
    towers = []
    for _ in range(n // 30):
        inner = dwarf.inlined("f", 0x1000, 0x1800)
        for i in range(29):
            inner = dwarf.inlined("f%d" % i, 0x1000, 0x1800, [inner])
            inner.attributes[dwarf.SIBLING] = ("reference", inner.children[0])
        towers.append(inner)
    return program(dwarf.Dwarf(dwarf.unit(towers)))


def functions_that_share_ranges(n):
    """As many functions as ranges, and all have all of them."""
    made = dwarf.Dwarf(dwarf.unit([]))
    shared = made.add_ranges([(0x1000 + i, 0x1001 + i) for i in range(n // 4)])
    made.root.children = [
        dwarf.Entry(dwarf.INLINED, {dwarf.NAME: ("text", "f"), dwarf.RANGES: ("section", shared)})
        for _ in range(n // 4)
    ]
    return program(made)


def units_that_share_ranges(n):
    """As many units as ranges, and all have all of them, away from the samples."""
    made = dwarf.Dwarf(dwarf.Entry(dwarf.COMPILE_UNIT, {dwarf.NAME: ("text", "x.c")}))
    shared = made.add_ranges([(0x3000 + i, 0x3001 + i) for i in range(n // 4)])
    made.root.attributes[dwarf.RANGES] = ("section", shared)
    file = elf.Elf()
    file.add_symbols([(b"work", 0x1000, 0x1000)])
    for name, data in made.sections().items():
        if data:
            file.add(name, elf.PROGBITS, data * (n // 4 if name == ".debug_info" else 1))
    return file.build()


def relocations_over_the_same_bytes(n):
    """As many sections as relocations in each of them."""
    file = elf.Elf()
    table = file.add_symbols([(b"called", 0x1000, 16)], elf.DYNSYM)
    rela = struct.pack("<QQq", 0x3000, 1 << 32 | 7, 0) * n
    first = file.add(".rela.plt", elf.RELA, rela, link=table)
    for _ in range(n // 2):
        file.add(".rela.plt", elf.RELA, link=table, size=len(rela), shares=first)
    return file.build()


def notes_over_the_same_bytes(n):
    """As many headers as notes."""
    file = elf.Elf()
    file.add_symbols([(b"work", 0x1000, 0x1000)])
    notes = file.add(".notes", elf.NOTE, struct.pack("<III4s", 4, 0, 9, b"GNU") * n)
    for _ in range(n):
        file.add_segment(elf.PT_NOTE, file.sections[notes], 0)
    return file.build()


def names_of_rust(n):
    """A name of binders, a name of escapes, a name of references."""
    names = (b"_RINvC1a1b" + b"FG5bb_Eu" * (n // 8) + b"E",
             b"_ZN%d" % (5 * n) + b"$u7e$" * n + b"17h0123456789abcdefE",
             b"_RINvC1a1b" + b"Tmm" + b"B9_" * n + b"EE")
    return program(functions=[(name, 0x1000 + 0x10 * i, 16) for i, name in enumerate(names)] +
                   [(names[i % 3], 0x1010 - i, 1) for i in range(3)])


def names_of_cpp(n):
    """Scopes, pointers, template arguments and substitutions that refer to each other."""
    pairs = b"1aI1b1bE" + b"".join(
        b"1aIS%s_S%s_E" % ((b"%X" % min(i, 15),) * 2) for i in range(n // 12))
    names = (b"_ZN" + b"1a" * n + b"1fEv", b"_Z1f" + b"P" * n + b"i",
             b"_Z1f" + b"1aI" * (n // 4) + b"i" + b"E" * (n // 4), b"_Z1f" + pairs,
             b"_Z1fILi0EEvT_" + b"S0_" * n, b"_Z1fIJ" + b"ic" * n + b"EEvDpT_")
    return program(functions=[(name, 0x1000 + 0x10 * i, 16) for i, name in enumerate(names)] +
                   [(names[i % 6], 0x1010 - i, 1) for i in range(6)])


def code_that_moves(n):
    """A dump of a compiler: as many functions as moves of the first one, and moves of none."""
    out = [struct.pack("<6I2Q", 0x4a695444, 1, 40, 62, 0, 5, 0, 0)]
    for i in range(n):
        out.append(struct.pack("<2IQ2I4Q", 0, 64, 0, 5, 5, 0x100000 + i, 0x100000 + i, 1, i) +
                   b"compile\0")
    for i in range(n):
        new, old = 0x900000 + i, 0x100000 + i % 2
        out.append(struct.pack("<2IQ2I5Q", 1, 64, 0, 5, 5, new, old, new, 1, i))
    return b"".join(out)


FILES = (siblings_that_are_children, functions_that_share_ranges, units_that_share_ranges,
         relocations_over_the_same_bytes, notes_over_the_same_bytes, names_of_rust,
         names_of_cpp, code_that_moves)
EXPORTS = ("pprof", "script", "firefox", "speedscope", "folded", "chrome", "callgrind", "otlp",
           "csv", "json")
SHAPES = (tasks_in_one_bucket, mappings_in_none, names_that_collide, mappings_and_samples_in_turn,
          marks_before_waiting_records, builds_of_one_path)


def write_list(root, n):
    """A list of @n events in the form of Intel's, and texts of them for pfm plan and pfm encode."""
    common = {
        "BriefDescription": "An event.", "PublicDescription": "", "Counter": "0,1,2,3",
        "CounterHTOff": "0,1,2,3", "SampleAfterValue": "100003", "MSRIndex": "0", "MSRValue": "0",
        "CounterMask": "0", "Invert": "0", "EdgeDetect": "0", "PEBS": "0", "Offcore": "0",
        "Deprecated": "0"
    }
    rows = [{
        "EventName": "EVENT_%d.PART" % i, "EventCode": "0x%02x" % (i % 200),
        "UMask": "0x%02x" % (i // 200), **common
    } for i in range(n)]
    files = {
        "mapfile.csv": (
            "Family-model,Version,Filename,EventType,Core Type,Native Model ID,Core Role Name\n"
            "GenuineIntel-6-E5-[01234],V7,/TOY/events/toyx_core.json,core,,,\n"
        ),
        "TOY/events/toyx_core.json": json.dumps(
            {
                "Header": {
                    "Copyright": "Made up.",
                    "Info": "Toy - V7",
                    "DatePublished": "01/02/2003",
                    "Version": "7",
                },
                "Events": rows,
            }
        ),
        "sets": "".join("EVENT_%d.PART,EVENT_%d.PART\n" % (i, (i + 1) % n) for i in range(0, n, 2)),
        "names": "".join("EVENT_%d.PART\n" % i for i in range(n)),
        "misspelled": "".join("EVENTX_%d.PART\n" % i for i in range(15)),
    }
    os.makedirs(os.path.join(root, "TOY/events"))
    for name, text in files.items():
        with open(os.path.join(root, name), "w", encoding="ascii") as f:
            f.write(text)


class LinearCost:
    """Part of a test case that compares the cost of two sizes of input."""

    def compare(self, name, small, large):
        """Compares two commands, the second of which has four times the input of the first."""
        counts = [
            count_instructions([PFM, *arguments], **more) for arguments, more in (small, large)
        ]
        self.assertLess(counts[1], RATIO ** DOUBLINGS * counts[0], name)


class Linear(LinearCost, unittest.TestCase):
    def write(self, folder, make):
        """Two recordings of the shape that @make gives; returns their paths."""
        paths = []
        for size in SIZES:
            crafted = Crafted()
            crafted.attr()
            make(crafted, size)
            if make in (names_that_collide, builds_of_one_path):
                crafted.sample(5, 0x10)
            paths.append(os.path.join(folder, "%d.data" % size))
            crafted.write(paths[-1])
        return paths

    def test_recordings_take_linear_time(self):
        """Report every shape, and export as many formats of one shape as there are. The long run
        also compares every shape with itself, and exports a few formats of the others."""
        for k, make in enumerate(SHAPES):
            with self.subTest(make.__name__), tempfile.TemporaryDirectory() as folder:
                paths = self.write(folder, make)
                self.compare("report", *((("report", path), {}) for path in paths))
                if k == 0:
                    self.compare("report by address",
                                 *((("report", "--sort", "address", path), {}) for path in paths))
                if k == 0 or LONG:
                    self.compare("diff", *((("diff", path, path), {}) for path in paths))
                for name in EXPORTS if k == 0 else EXPORTS[k::len(SHAPES)] if LONG else ():
                    self.compare(name, *((("export", "-f", name, path), {}) for path in paths))

    def test_lists_of_events_take_linear_time(self):
        """List, plan, encode and misspell events of imported lists; the long run counts the
        imports, too."""
        made = []
        with tempfile.TemporaryDirectory() as folder:
            for n in SIZES:
                root = os.path.join(folder, str(n))
                made.append((root, dict(os.environ, PERFMON_EVENTS=root + ".pmdb")))
                write_list(root, n)
            imports = [["import", root, "-o", root + ".pmdb"] for root, _ in made]
            if LONG:
                self.compare("import", *((words, {}) for words in imports))
            else:
                for words in imports:
                    subprocess.run([PFM, *words], check=True, capture_output=True)
            for words in (["list", "--pmu", "toy"], ["list", "--pmu", "toy", "--json", "*PART*"]):
                self.compare(words, *((words, {"env": env}) for _, env in made))
            for words, name, expected in ((["plan", "--pmu", "toy", "-"], "sets", 0),
                                          (["encode", "--pmu", "toy",
                                            "-"], "names", 0), (["encode", "--pmu", "toy",
                                                                 "-"], "misspelled", 1)):
                self.compare(
                    (words[0], name),
                    *((words, {"env": env, "stdin": os.path.join(root, name), "expected": expected})
                      for root, env in made))
            self.compare(
                "plan",
                *((["plan", "--pmu", "toy", *("toy::EVENT_%d.PART" % i
                                              for i in range(n // 10))], {"env": env})
                  for n, (_, env) in zip(SIZES, made)))

    def assert_has_name(self, words):
        """The report names the function of the only sample: the file was read as was meant."""
        out = subprocess.run([PFM, *words], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(out.splitlines()[1], r" 0x[0-9a-f]+$")

    def test_files_of_samples_take_linear_time(self):
        """Report samples in files that refer to the same bytes again and again."""
        for make in FILES:
            with self.subTest(make.__name__), tempfile.TemporaryDirectory() as folder:
                commands = []
                is_jitdump = make is code_that_moves
                for size in SIZES:
                    path = os.path.join(folder,
                                        ("jit-%d.dump" if is_jitdump else "program-%d") % size)
                    with open(path, "wb") as f:
                        f.write(make(size))
                    crafted = Crafted()
                    crafted.attr()
                    crafted.map(5, 0x1000, path.encode())
                    crafted.sample(5, 0x900002 if is_jitdump else 0x100c)
                    crafted.write(path + ".data")
                    commands.append((("report", "--source", path + ".data"), {}))
                self.assert_has_name(commands[0][0])
                self.compare(make.__name__, *commands)

    def test_maps_of_jit_compilers(self):
        """Functions that contain all earlier ones, and functions of one address."""

        def nested(i, n):
            return 0x100000 + n - i, 2 * i + 1

        def equal(_, n):
            return 0x100000 + n, 16

        for k, place in enumerate((nested, equal)):
            commands, maps = [], []
            with self.subTest(place.__name__), tempfile.TemporaryDirectory() as folder:
                for size in SIZES:
                    pid = 4194304 + 10 * k + SIZES.index(size)  # above the kernel's largest number
                    maps.append("/tmp/perf-%d.map" % pid)
                    with open(maps[-1], "w", encoding="ascii") as f:
                        f.writelines("%x %x f%d\n" % (*place(i, size), i) for i in range(size))
                    crafted = Crafted()
                    crafted.attr()
                    crafted.map(pid, 0x100000, b"//anon")
                    for i in range(size):
                        crafted.sample(pid, 0x100000 + i)
                    path = os.path.join(folder, "%d.data" % size)
                    crafted.write(path)
                    commands.append((("report", path), {}))
                try:
                    self.compare(place.__name__, *commands)
                finally:
                    for path in maps:
                        os.unlink(path)

    def test_programs_that_share_a_debug_file(self):
        """As many programs as kilobytes of the debug file that all of them name."""
        commands = []
        with tempfile.TemporaryDirectory() as folder:
            for size in SIZES:
                crafted = Crafted()
                crafted.attr()
                debug = os.path.join(folder, "%d.debug" % size)
                with open(debug, "wb") as f:
                    f.write(program() + bytes(size * 100))
                for i in range(size // 20):
                    file = elf.Elf()
                    file.add(".gnu_debuglink", elf.PROGBITS,
                             os.path.basename(debug).encode().ljust(12, b"\0") + bytes(4))
                    path = os.path.join(folder, "%d-%d" % (size, i))
                    with open(path, "wb") as f:
                        f.write(file.build())
                    crafted.map(5, 0x1000 + 0x1000 * i, path.encode())
                    crafted.sample(5, 0x1010 + 0x1000 * i)
                crafted.write(debug + ".data")
                commands.append((("report", debug + ".data"), {}))
            self.compare("debug files", *commands)

    def test_regions_under_many_parents(self):
        program = os.path.join(os.environ.get("PERFMON_BUILD", ""), "tests", "command", "regions",
                               "many_parents")
        if not os.path.exists(program):
            self.skipTest("%s is not built" % program)
        for more in ([], ["papi"]):
            with self.subTest(more):
                counts = [count_instructions([program, str(size), *more]) for size in SIZES]
                self.assertLess(counts[1], RATIO ** DOUBLINGS * counts[0])

    def test_chains_that_never_come(self):
        """One task waits for its frames for ever; those of another one always come."""
        commands = []
        with tempfile.TemporaryDirectory() as folder:
            for size in SIZES:
                crafted = Deferred()
                crafted.attr()
                crafted.deferred_sample(7, 1)
                for i in range(size):
                    crafted.deferred_sample(5, i)
                    crafted.frames(5, i)
                path = os.path.join(folder, "%d.data" % size)
                crafted.write(path)
                commands.append((("report", "-g", path), {}))
            self.compare("deferred chains", *commands)

    def test_task_minus_1_has_that_number(self):
        crafted = Crafted()
        crafted.attr()
        crafted.sample(2 ** 32 - 1, 0x1000)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "minus.data")
            crafted.write(path)
            out = subprocess.run([PFM, "report", "--json", path], capture_output=True, text=True,
                                 check=True).stdout
        self.assertIn('":-1"', out)


class Folders(unittest.TestCase):
    """perf writes some recordings as folders: they are called what they are."""

    def refused(self, *names):
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                with open(os.path.join(folder, name), "wb") as f:
                    f.write(b"PERFILE2")
            done = subprocess.run([PFM, "report", folder], capture_output=True, text=True,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_a_folder_is_no_file(self):
        self.assertIn("got a folder", self.refused())
        self.assertIn("perf record --kcore", self.refused("data"))
        self.assertIn("perf record --threads", self.refused("data", "data.0"))


if __name__ == "__main__":
    tap.main()
