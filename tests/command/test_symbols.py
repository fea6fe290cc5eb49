#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of functions of stripped libraries, replaced files and compilers at run time. nm says what
the names are.

    PFM  the command (default: pfm of the path)
"""
import http.server
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402
import test_mem  # noqa: E402
from test_record import PFM, Crafted, crafted_program  # noqa: E402

LIBRARY = """
static volatile int x;
__attribute__((noinline)) static void hidden_one(int n) { for (int i = 0; i < n; i++) x += i; }
__attribute__((noinline)) static void hidden_two(int n) { for (int i = 0; i < n; i++) x -= i; }
void shown(int n) { hidden_one(n); hidden_two(n); }
"""
START = 0x10000000


def thumb_program(symbols):
    """A 32-bit Arm program without code: Thumb functions of 16 bytes each from 0x1000 on, whose
    values have bit 0 set."""
    names, table = b"\0", bytes(16)
    for i, name in enumerate(symbols):
        table += struct.pack("<IIIBBH", len(names), 0x1000 + 16 * i | 1, 16, 2, 0, 1)
        names += name + b"\0"
    names_at = 52 + 32
    table_at = names_at + len(names) + -len(names) % 8
    head = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 3, 40, 1, 0, 52,
                                                     table_at + len(table), 0, 52, 32, 1, 40, 3, 0)
    load = struct.pack("<IIIIIIII", 1, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000, 5, 0x1000)
    strings = struct.pack("<IIIIIIIIII", 0, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
    symtab = struct.pack("<IIIIIIIIII", 0, 2, 0, 0, table_at, len(table), 0, 0, 4, 16)
    code = struct.pack("<IIIIIIIIII", 0, 1, 6, 0x1000, 0x1000, 64, 0, 0, 1, 0)
    return head + load + names + bytes(-len(names) % 8) + table + strings + symtab + code
MISSING = [tool for tool in ("cc", "nm", "objcopy", "strip", "readelf") if not shutil.which(tool)]


class Recording(Crafted):
    def file(self, pid, path, build_id=b"", start=START):
        if build_id:
            self.record(
                10,
                struct.pack("<IIQQQB3x20sII", pid, pid, start, 0x100000, 0, len(build_id), build_id,
                            5, 2) + path + bytes(8 - len(path) % 8) + self.trailer(pid),
                2 | 1 << 14)
        else:
            self.record(
                1,
                struct.pack("<IIQQQ", pid, pid, start, 0x100000, 0) + path +
                bytes(8 - len(path) % 8) + self.trailer(pid))


@unittest.skipIf(MISSING, "%s: missing (Debian packages gcc and binutils)" % ", ".join(MISSING))
class Library(unittest.TestCase):
    """A library that is compiled here, and recordings of it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="perfmon-symbols-")
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.debug = os.path.join(self.folder, "debug")
        self.home = os.path.join(self.folder, "home")
        self.path = os.path.join(self.folder, "lib", "libwork.so")
        os.makedirs(os.path.dirname(self.path))

    def tool(self, *words):
        return subprocess.run(words, cwd=self.folder, check=True, capture_output=True,
                              text=True).stdout

    def build(self, *flags, source=LIBRARY):
        """The library; where its functions are in the file, by name."""
        with open(os.path.join(self.folder, "lib.c"), "w", encoding="utf-8") as f:
            f.write(source)
        self.tool("cc", "-shared", "-fPIC", "-O1", "-g", *flags, "-o", self.path, "lib.c")
        segments = re.findall(r"^  LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)",
                              self.tool("readelf", "-lW", self.path), re.M)
        self.build_id = bytes.fromhex("".join(
            re.findall(r"Build ID: (\w+)", self.tool("readelf", "-n", self.path))))
        self.offsets = {}
        for address, name in re.findall(r"^(\w+) [tT] (hidden_one|hidden_two|shown)$",
                                        self.tool("nm", self.path), re.M):
            for offset, start, size in (map(lambda s: int(s, 16), s) for s in segments):
                if start <= int(address, 16) < start + size:
                    self.offsets[name] = int(address, 16) - start + offset
        self.assertEqual(len(self.offsets), 3)

    def split(self, to, link=False):
        """Strips the library; its symbols go to the file @to, which a link names if that is
        wanted."""
        os.makedirs(os.path.dirname(to), exist_ok=True)
        self.tool("objcopy", "--only-keep-debug", self.path, to)
        self.tool("strip", self.path)
        if link:
            self.tool("objcopy", "--add-gnu-debuglink=" + to, self.path)

    def by_id(self, folder, name=".debug"):
        return os.path.join(folder, ".build-id",
                            self.build_id.hex()[:2],
                            self.build_id.hex()[2:] + name)

    def record(self, build_id=b""):
        made = Recording()
        made.attr()
        made.comm(5, b"work")
        made.file(5, self.path.encode(), build_id)
        for offset in self.offsets.values():
            made.sample(5, START + offset + 1)
        made.write(os.path.join(self.folder, "perf.data"))

    def names(self, *args, build_id=b"", record=True):
        """Names of the three functions, in the order of offsets; addresses are None."""
        if record:
            self.record(build_id)
        done = subprocess.run(
            [PFM, "report", "--json", "--sort", "symbol,address", "--debug-dir", self.debug, *args],
            cwd=self.folder, env={**os.environ, "HOME": self.home}, capture_output=True, text=True,
            timeout=60, check=True)
        self.said = done.stderr
        # Addresses are those of the file, or offsets in it where they are unknown: both are equal
        # within a page.
        found = {
            (int(p["address"], 16) - 1) % 0x1000: p["function"]
            for p in map(json.loads, done.stdout.splitlines())
        }
        return {name: found[offset % 0x1000] for name, offset in self.offsets.items()}

    def expect_named(self, names):
        self.assertEqual(names, {name: name for name in self.offsets}, self.said)

    def expect_hidden(self, names):
        """Only what the dynamic linker needs has a name."""
        self.assertEqual({name for name in names.values() if not name.startswith("0x")}, {"shown"},
                         self.said)


class Stripped(Library):
    def test_by_build_id(self):
        self.build()
        self.expect_named(self.names())
        self.split(self.by_id(self.debug))
        self.expect_named(self.names())
        self.expect_named(self.names(build_id=self.build_id))
        os.rename(self.by_id(self.debug), self.by_id(self.debug) + ".gone")
        self.expect_hidden(self.names())

    def test_in_the_cache_of_perf(self):
        self.build()
        cached = self.by_id(os.path.join(self.home, ".debug"), "/debug")
        self.split(cached)
        self.expect_named(self.names())
        os.remove(cached)
        self.expect_hidden(self.names())

    def test_places_without_a_name_are_addresses_of_the_file(self):
        """Two processes loaded the file at two addresses: what they ran is one place, the one that
        nm says."""
        self.build()
        address = re.search(r"^(\w+) t hidden_one$", self.tool("nm", self.path), re.M)[1]
        self.tool("strip", self.path)
        made = Recording()
        made.attr()
        for pid, start in ((5, START), (6, START + 0x7000000)):
            made.comm(pid, b"work")
            made.file(pid, self.path.encode(), start=start)
            made.sample(pid, start + self.offsets["hidden_one"])
        made.write(os.path.join(self.folder, "perf.data"))
        done = subprocess.run([PFM, "report", "--json", "--sort", "object,symbol"], cwd=self.folder,
                              capture_output=True, text=True, timeout=60, check=True)
        rows = [(p["function"], p["samples"]) for p in map(json.loads, done.stdout.splitlines())]
        self.assertEqual(rows, [(hex(int(address, 16)), 2)])

    def test_separate_files_are_found_by_their_link(self):
        for to in ("lib/libwork.dbg", "lib/.debug/libwork.dbg",
                   "debug" + "%s/lib/libwork.dbg" % self.folder):
            with self.subTest(to):
                self.build()
                to = os.path.join(self.folder, to)
                self.split(to, link=True)
                self.expect_named(self.names())
                os.remove(to)
                self.expect_hidden(self.names())

    def test_by_link_without_a_build_id(self):
        """Then the checksum in the link decides."""
        self.build("-Wl,--build-id=none")
        self.assertEqual(self.build_id, b"")
        to = os.path.join(self.folder, "lib", "libwork.dbg")
        self.split(to, link=True)
        self.expect_named(self.names())
        with open(to, "ab") as f:
            f.write(b"\0")
        self.expect_hidden(self.names())

    def test_debug_files_of_another_build(self):
        self.build()
        self.split(os.path.join(self.folder, "other"))
        wanted = self.by_id(self.debug)
        os.makedirs(os.path.dirname(wanted))
        kept = self.offsets
        shutil.copy(self.path, os.path.join(self.folder, "kept"))
        swapped = LIBRARY.replace("hidden_one",
                                  "hidden_ONE").replace("hidden_two", "hidden_one").replace(
                                      "hidden_ONE", "hidden_two")
        self.build(source=swapped)
        self.tool("objcopy", "--only-keep-debug", self.path, wanted)
        shutil.copy(os.path.join(self.folder, "kept"), self.path)
        self.offsets = kept
        self.expect_hidden(self.names())

    def test_packed_symbols_name_functions(self):
        """In the file's own section .gnu_debugdata, as some distributions have them."""
        if not shutil.which("xz"):
            self.skipTest("no xz (Debian: xz-utils)")
        self.build()
        self.tool("objcopy", "--strip-debug", self.path, "mini")
        self.tool("strip", self.path)
        self.expect_hidden(self.names())
        stripped = os.path.join(self.folder, "stripped")
        shutil.copy(self.path, stripped)
        self.tool("xz", "mini")
        with open(os.path.join(self.folder, "mini.xz"), "rb") as f:
            packed = f.read()
        for data, expect in ((packed, self.expect_named), (packed[:len(packed) // 2],
                                                           self.expect_hidden),
                             (b"", self.expect_hidden), (packed[:40] + bytes(40) + packed[80:],
                                                         self.expect_hidden)):
            with self.subTest(size=len(data)):
                with open(os.path.join(self.folder, "section"), "wb") as f:
                    f.write(data)
                self.tool("objcopy", "--add-section", ".gnu_debugdata=section", stripped, self.path)
                expect(self.names())

    def test_servers_are_asked_only_if_named(self):
        """Debug files are fetched only where DEBUGINFOD_URLS names a server."""
        self.build()
        self.split(os.path.join(self.folder, "debugfile"))
        with open(os.path.join(self.folder, "debugfile"), "rb") as f:
            content = f.read()
        addresses = []

        class Server(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                addresses.append(self.path)
                self.send_response(200 if self.path.endswith("/debuginfo") else 404)
                self.send_header("Content-Length",
                                 str(len(content) if self.path.endswith("/debuginfo") else 0))
                self.end_headers()
                if self.path.endswith("/debuginfo"):
                    self.wfile.write(content)

            def log_message(self, *args):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        env = {
            "DEBUGINFOD_URLS": "http://127.0.0.1:%d" % server.server_address[1],
            "DEBUGINFOD_CACHE_PATH": os.path.join(self.folder, "cache"), "DEBUGINFOD_VERBOSE": ""
        }
        with unittest.mock.patch.dict(os.environ, env):
            os.environ.pop("DEBUGINFOD_URLS")
            self.expect_hidden(self.names(build_id=self.build_id))
            self.assertEqual(addresses, [])
            os.environ.update(env)
            names = self.names(build_id=self.build_id)
            if "libdebuginfod.so.1" in self.said:
                self.skipTest("no libdebuginfod.so.1 (Debian: libdebuginfod1)")
            self.expect_named(names)
            self.assertEqual(addresses, ["/buildid/%s/debuginfo" % self.build_id.hex()])

    def test_lines_of_separate_files(self):
        self.build()
        self.split(self.by_id(self.debug))
        self.record()
        out = subprocess.run([PFM, "report", "--source", "--debug-dir", self.debug],
                             cwd=self.folder, capture_output=True, text=True, timeout=60,
                             check=True)
        if "libdw is missing" in out.stderr:
            self.skipTest("libdw is missing (Debian package libdw1)")
        self.assertRegex(out.stdout, r"hidden_one.*  lib\.c:3\n")

    def test_a_replaced_file(self):
        """Its functions come from perf's cache, or they have no names."""
        self.build()
        cached = os.path.join(self.home, ".debug", ".build-id",
                              self.build_id.hex()[:2],
                              self.build_id.hex()[2:], "elf")
        os.makedirs(os.path.dirname(cached))
        shutil.copy(self.path, cached)
        kept, old = self.offsets, self.build_id
        self.build(source="int added(int n) { return n * 3; }" + LIBRARY)
        self.assertNotEqual(self.build_id, old)
        self.offsets = kept
        self.expect_named(self.names(build_id=old))
        os.remove(cached)
        self.assertTrue(all(name.startswith("0x") for name in self.names(build_id=old).values()))
        self.assertIn("the file has changed since the recording", self.said)

    def test_a_file_newer_than_the_recording(self):
        self.build()
        self.expect_named(self.names())
        self.assertEqual(self.said, "")
        late = os.stat(os.path.join(self.folder, "perf.data")).st_mtime + 1
        os.utime(self.path, (late, late))
        self.expect_named(self.names(record=False))
        self.assertIn("%s has changed since the recording: names may be wrong\n" % self.path,
                      self.said)


CALLER = """
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
int (*taken)(const char *) = puts;
int call(const char *s) { return puts(s) + (int)strlen(s) + (memchr(s, 'a', 3) != 0) + atoi(getenv(s)); }
"""


@unittest.skipIf(MISSING, "%s: missing (Debian packages gcc and binutils)" % ", ".join(MISSING))
class Stubs(unittest.TestCase):
    """Stubs of the linkage table have the names that objdump computes for them."""

    def expect_stubs(self, machine, *flags):
        prefix = "" if os.uname().machine == machine else machine + "-linux-gnu-"
        compiler, objdump = (prefix or "") + "gcc", prefix + "objdump"
        if not shutil.which(compiler) or not shutil.which(objdump):
            self.skipTest("%s: missing (Debian package gcc-%s-linux-gnu)" %
                          (compiler, machine.replace("_", "-")))
        with tempfile.TemporaryDirectory(prefix="perfmon-stubs-") as folder:
            path = os.path.join(os.path.realpath(folder), "libcaller.so")
            with open(os.path.join(folder, "caller.c"), "w", encoding="ascii") as f:
                f.write(CALLER)
            subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-s", *flags, "-o", path, f.name],
                           check=True, timeout=60)
            listing = subprocess.run([objdump, "-d", path], check=True, capture_output=True,
                                     text=True, timeout=60).stdout
            wanted = {
                int(address, 16): name
                for address, name in re.findall(r"(?m)^(\w+) <(\w+@plt)>:$", listing)
            }
            self.assertGreater(len(wanted), 3, listing)
            listing = subprocess.run(["readelf", "-lW", path], check=True, capture_output=True,
                                     text=True, timeout=60).stdout
            segments = [[
                int(word, 16) for word in words
            ] for words in re.findall(r"(?m)^  LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", listing)]
            made = Recording()
            made.attr()
            made.comm(5, b"work")
            made.file(5, path.encode())
            for address in wanted:
                offset, start = next((offset, start) for offset, start, size in segments
                                     if start <= address < start + size)
                made.sample(5, START + address - start + offset + 4)
            made.write(os.path.join(folder, "perf.data"))
            done = subprocess.run(
                [PFM, "report", "--json", "--sort", "symbol",
                 os.path.join(folder, "perf.data")], capture_output=True, text=True, timeout=60,
                check=True)
            self.assertEqual(
                sorted(json.loads(line)["function"] for line in done.stdout.splitlines()),
                sorted(wanted.values()))

    def test_bound_when_first_called(self):
        self.expect_stubs("x86_64", "-Wl,-z,lazy")

    def test_bound_at_the_start(self):
        self.expect_stubs("x86_64", "-Wl,-z,now")

    def test_with_landing_pads(self):
        self.expect_stubs("x86_64", "-fcf-protection=full", "-Wl,-z,ibtplt,-z,lazy")

    def test_stubs_of_aarch64_are_named(self):
        self.expect_stubs("aarch64")

    def test_aarch64_with_landing_pads(self):
        self.expect_stubs("aarch64", "-mbranch-protection=bti", "-Wl,-z,force-bti")


class Thumb(unittest.TestCase):
    """The ABI for the Arm Architecture, ELF: bit 0 of a function's value is the instruction set,
    not part of the address."""

    @unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
    def test_the_first_instruction_is_the_functions(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program")
            with open(path, "wb") as f:
                f.write(thumb_program([b"first", b"second"]))
            for address, name in ((0x1000, "first"), (0x100f, "first"), (0x1010, "second"),
                                  (0x101f, "second")):
                crafted = Crafted()
                crafted.attr()
                crafted.comm(5, b"work")
                crafted.map(5, 0x1000, path.encode())
                crafted.sample(5, address)
                crafted.write(os.path.join(folder, "perf.data"))
                done = subprocess.run([PFM, "report", "--json"], cwd=folder, capture_output=True,
                                      text=True, timeout=60, check=True)
                self.assertEqual(
                    [json.loads(line)["function"] for line in done.stdout.splitlines()], [name],
                    hex(address))


class Compiled(unittest.TestCase):
    """/tmp/perf-PID.map, of a process whose number no process has."""
    PID = (1 << 22) + os.getpid()

    def places(self, text):
        path = "/tmp/perf-%d.map" % self.PID
        made = Recording()
        made.attr()
        made.comm(self.PID, b"jit")
        made.file(self.PID, b"//anon")
        for address in 0x10, 0x2f, 0x30, 0x55, 0x90:
            made.sample(self.PID, START + address)
        with tempfile.TemporaryDirectory() as folder:
            made.write(os.path.join(folder, "perf.data"))
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            try:
                done = subprocess.run([PFM, "report", "--json", "--sort", "object,symbol,address"],
                                      cwd=folder, capture_output=True, text=True, timeout=60,
                                      check=True)
            finally:
                os.remove(path)
        self.assertEqual(done.stderr, "")
        return {
            int(p["address"], 16) - START: (p["object"], p["function"])
            for p in map(json.loads, done.stdout.splitlines())
        }

    def test_maps_name_compiled_functions(self):
        for prefix in "", "0x":
            with self.subTest(prefix):
                p, at = prefix, START
                got = self.places("%s%x %s20 first\n%s%x %s10 void Second::run(int)\n" %
                                  (p, at + 0x10, p, p, at + 0x50, p) +
                                  "not a line\n%x\n%x 10\n%x 0 empty\n" %
                                  (at + 0x90, at + 0x90, at + 0x90) +
                                  "%s%x %s20 first, compiled again\n" % (p, at + 0x10, p))
                self.assertEqual(
                    got, {
                        0x10: ("[JIT]", "first, compiled again"),
                        0x2f: ("[JIT]", "first, compiled again"), 0x30: ("//anon", hex(at + 0x30)),
                        0x55: ("[JIT]", "void Second::run(int)"), 0x90: ("//anon", hex(at + 0x90))
                    })

    def test_a_map_of_many_lines_is_sorted_once(self):
        """A map is sorted once."""
        lines = ["%x 8 f%d\n" % (START + 8 * i, i) for i in range(50000)]
        got = self.places("".join(reversed(lines)))
        self.assertEqual({name for _, name in got.values()},
                         {"f%d" % (a // 8) for a in (0x10, 0x2f, 0x30, 0x55, 0x90)})

    def folded(self, made, command):
        """Functions of the samples, by task, as report or export sees them."""
        with tempfile.TemporaryDirectory() as folder:
            made.write(os.path.join(folder, "perf.data"))
            args = ["report", "--folded"] if command == "report" else ["export", "-f", "folded"]
            done = subprocess.run([PFM, *args], cwd=folder, capture_output=True, text=True,
                                  timeout=60, check=True)
        return sorted(
            tuple(line.rsplit(" ", 1)[0].split(";")) for line in done.stdout.splitlines()
            if line[0] != "#")

    def dump(self, *records):
        """A dump: (kind, body) of each record."""
        data = struct.pack("<6IQQ", 0x4a695444, 1, 40, 62, 0, self.PID, 1, 0)
        for kind, body in records:
            data += struct.pack("<IIQ", kind, 16 + len(body), 5) + body
        return data

    def load(self, address, size, name, number=1):
        return 0, struct.pack("<IIQQQQ", self.PID, self.PID, address, address, size,
                              number) + name + b"\0" + bytes(size)

    def test_dumps_name_the_code_of_their_process(self):
        """Of two processes with the same addresses, of which one has a dump."""
        move = 1, struct.pack("<IIQQQQQ", self.PID, self.PID, START + 0x60, START + 0x10,
                              START + 0x60, 16, 1)
        lines = 2, struct.pack("<QQQII", START + 0x10, 1, START + 0x10, 7, 0) + b"x.js\0"
        good = self.dump(self.load(START + 0x10, 16, b"first"),
                         self.load(START + 0x20, 16, b"second"), lines, move,
                         self.load(START + 0x20, 16, b"second, compiled again"), (3, b""))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "jit-%d.dump" % self.PID)
            made = Recording()
            made.attr()
            for pid, name in ((self.PID, b"jit"), (self.PID + 1, b"other")):
                made.comm(pid, name)
                made.file(pid, b"//anon")
            made.map(self.PID, 0x1000, path.encode())
            for address in 0x10, 0x2f, 0x60, 0x70:
                made.sample(self.PID, START + address)
            made.sample(self.PID + 1, START + 0x10)
            named = [("jit", "first"), ("jit", "second, compiled again"),
                     ("jit", hex(START + 0x70)), ("other", hex(START + 0x10))]
            unnamed = [("jit", hex(START + a))
                       for a in (0x2f, 0x60, 0x70)] + [("other", hex(START + 0x10))]
            # The dump as it was written, cut off in its second record, of another byte order, and
            # with a size that is too large.
            for data, wanted in ((good, named), (good[:40 + 60 + 80], [("jit", "first")] + unnamed),
                                 (b"JiTD" + good[4:], [("jit", hex(START + 0x10))] + unnamed),
                                 (good[:44] + struct.pack("<I", 2**31) + good[48:],
                                  [("jit", hex(START + 0x10))] + unnamed)):
                with open(path, "wb") as f:
                    f.write(data)
                for command in "report", "export":
                    with self.subTest(command, size=len(data)):
                        self.assertEqual(self.folded(made, command), sorted(wanted))

    def test_maps_of_other_namespaces_are_found(self):
        """A process that is number 1 in its own namespace, with its own /tmp."""
        script = (
            "mount -t tmpfs none /tmp && echo %x 20 inside >/tmp/perf-1.map && echo ready && exec"
            " sleep 60" % (START + 0x10)
        )
        try:
            process = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--fork", "sh", "-c", script],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except FileNotFoundError:
            self.skipTest("no unshare (Debian: util-linux)")
        try:
            if process.stdout.readline() != "ready\n":
                self.skipTest("namespaces are not permitted")
            with open("/proc/%d/task/%d/children" % (process.pid, process.pid),
                      encoding="ascii") as f:
                pid = int(f.read().split()[0])
            made = Recording()
            made.attr()
            made.comm(pid, b"inner")
            made.file(pid, b"//anon")
            made.sample(pid, START + 0x18)
            for command in "report", "export":
                self.assertEqual(self.folded(made, command), [("inner", "inside")])
            os.kill(pid, 9)
        finally:
            process.kill()
            process.stdout.close()
            process.wait()


RUST = """
use std::collections::HashMap;
trait Shape { fn area(&self) -> f64; }
struct Square<const N: usize>(f64);
impl<const N: usize> Shape for Square<N> { #[inline(never)] fn area(&self) -> f64 { self.0 * N as f64 } }
impl<const N: usize> Square<N> { #[inline(never)] fn new(x: f64) -> Self { Square(x) } }
#[inline(never)] fn apply<F: Fn(i32) -> i32>(f: F, n: i32) -> i32 { f(n) }
#[inline(never)] fn sum<T: Shape + ?Sized>(s: &[&T]) -> f64 { s.iter().map(|x| x.area()).sum() }
#[inline(never)] fn pointer(f: unsafe extern "C" fn(*const u8, &mut [i64; 3]) -> bool) -> usize { f as usize }
unsafe extern "C" fn c(_p: *const u8, _q: &mut [i64; 3]) -> bool { true }
#[inline(never)] fn generic<T, U>(t: T, u: U) -> (U, T) { (u, t) }
fn main() {
    let mut m: HashMap<String, Vec<(u8, char, Option<&'static str>)>> = HashMap::new();
    m.insert("a".to_string(), vec![(1, 'x', Some("y"))]);
    let k = m.len() as i32;
    println!("{} {}", apply(|x| x + k, 3), apply(move |x| x * k, 4));
    println!("{} {}", sum::<dyn Shape>(&[&Square::<3>::new(2.0)]), sum(&[&Square::<1000000>::new(1.0)]));
    println!("{}", pointer(c));
    println!("{:?}", generic::<[u8; 4], &(dyn Fn(i32) -> i32 + Send)>([1; 4], &|x| x).1);
    println!("{:?}", generic::<fn(&str) -> !, ()>(|_| loop {}, ()).0);
}
"""


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class Rust(unittest.TestCase):
    """Names of functions that rustc compiles, beside those of c++filt."""

    def names(self, folder, *options):
        with open(os.path.join(folder, "r.rs"), "w", encoding="utf-8") as f:
            f.write(RUST)
        done = subprocess.run(["rustc", "-O", *options, "-o", "r", "r.rs"], cwd=folder,
                              capture_output=True, text=True, timeout=300,
                              env={**os.environ, "RUSTC_BOOTSTRAP": "1"}, check=False)
        if done.returncode:
            self.skipTest(done.stderr)
        table = subprocess.run(["nm", "r"], cwd=folder, capture_output=True, text=True,
                               check=True).stdout
        return sorted(set(re.findall(r"(?m) [tTwW] (_R\S+|_ZN\S+17h[0-9a-f]{16}E)$", table)))

    def check(self, names):
        """A sample in each function of an invented program that has these symbols."""
        self.assertGreater(len(names), 10)
        said = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                              check=True).stdout.splitlines()
        # Without hashes of crates and functions, and without types of constants.
        extra = (
            r"\[[0-9a-f]{5,}\]|:"
            r" (?:[iu](?:8|16|32|64|128|size)|bool|char)(?=[],>;])|::h[0-9a-f]{16}$"
        )
        want = [re.sub(extra, "", name) for name in said]
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "program"), "wb") as f:
                f.write(crafted_program([name.encode() for name in names]))
            made = Crafted()
            made.attr()
            made.comm(5, b"work")
            made.map(5, 0x1000, os.path.join(folder, "program").encode())
            for i in range(len(names)):
                made.sample(5, 0x1004 + 16 * i)
            made.write(os.path.join(folder, "perf.data"))
            done = subprocess.run(
                [PFM, "report", "--json", "--sort", "symbol,address", "perf.data"], cwd=folder,
                capture_output=True, text=True, timeout=60, check=True)
        found = {(int(row["address"], 16) - 0x1004) // 16: row["function"]
                 for row in map(json.loads, done.stdout.splitlines())}
        self.assertEqual([found[i] for i in range(len(names))], want)

    @unittest.skipUnless(
        shutil.which("rustc") and shutil.which("c++filt"),
        "rustc or c++filt is missing (Debian: rustc, binutils)")
    def test_names_of_rust_are_readable(self):
        for options in ["-Csymbol-mangling-version=v0"
                        ], ["-Zunstable-options", "-Csymbol-mangling-version=legacy"]:
            with self.subTest(options), tempfile.TemporaryDirectory() as folder:
                names = self.names(folder, *options)
                # the program of the recording has 4,096 bytes
                self.check(names[::1 + len(names) // 200])


STEXT = 0xffffffff9a401000


def record_of_another_kernel(folder, release, symbol=b"_stext"):
    """A recording with samples in four functions of a kernel that does not run."""
    r = test_mem.Recording()
    r.kernel(symbol, STEXT)
    for i, n in enumerate((1, 2, 4, 8)):
        for _ in range(n):
            r.time += 1
            r.record(
                9,
                struct.pack("<QIIQQIIQIHHQQ", STEXT + 16 * i + 4, 5, 5, r.time, 0, 0, 0, 1, 1, 0,
                            0, 0, 0), 1)
    r.write(os.path.join(folder, "perf.data"),
            {4: struct.pack("<I", 64) + release + bytes(64 - len(release))})


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class AnotherKernel(unittest.TestCase):
    """A recording of a kernel that does not run, whose file is where debug packages put it."""
    # each has 16 bytes, from 0x1000 on in the file
    FUNCTIONS = [b"_stext", b"do_one", b"do_two", b"do_three"]

    def report(self, folder):
        done = subprocess.run([PFM, "report", "--json", "--debug-dir", folder, "perf.data"],
                              cwd=folder, capture_output=True, text=True, timeout=60, check=True)
        return {
            row["function"]: row["samples"] for row in map(json.loads, done.stdout.splitlines())
        }, done.stderr

    def test_functions_of_another_kernel_are_named(self):
        for place in "boot/vmlinux-9.9.9-test", "lib/modules/9.9.9-test/vmlinux":
            with tempfile.TemporaryDirectory() as folder:
                os.makedirs(os.path.dirname(os.path.join(folder, place)))
                with open(os.path.join(folder, place), "wb") as f:
                    f.write(crafted_program(self.FUNCTIONS))
                record_of_another_kernel(folder, b"9.9.9-test")
                functions, said = self.report(folder)
                self.assertEqual(functions, {"_stext": 1, "do_one": 2, "do_two": 4, "do_three": 8})
                self.assertEqual(
                    said, "pfm report: functions of the kernel are those of %s\n" %
                    os.path.join(folder, place))
                # Other releases, and a file without the symbol that says where the kernel was.
                for release, symbol in ((b"9.9.8-test", b"_stext"), (b"../boot/9.9.9-test",
                                                                     b"_stext"), (b"9.9.9-test",
                                                                                  b"_text")):
                    record_of_another_kernel(folder, release, symbol)
                    functions, said = self.report(folder)
                    self.assertEqual(set(functions),
                                     {"%#x" % (STEXT + 16 * i + 4) for i in range(4)},
                                     (release, said))


if __name__ == "__main__":
    tap.main()
