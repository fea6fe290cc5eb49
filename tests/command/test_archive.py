#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm archive: a recording that is read without the files of its machine.

    PFM  the command (default: pfm of the path)
"""
import ctypes.util
import functools
import http.server
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402
from test_record import PFM, Crafted  # noqa: E402

PROGRAM = """
#include <unistd.h>
static volatile unsigned x;
__attribute__((noinline)) void hot(long n) { for (long i = 0; i < n; i++) x += (unsigned)i; }
int main(void)
{
	hot(100000000);
	for (int i = 0; i < 100000; i++)
		getppid();
	return 0;
}
"""


class Archive(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perfmon-archive-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.other = os.path.join(self.folder, "other")
        os.mkdir(self.other)

    def pfm(self, *args, cwd=None, status=0):
        done = subprocess.run([PFM, *args], cwd=cwd or self.folder, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def record(self):
        if not shutil.which("gcc"):
            self.skipTest("no C compiler (Debian: gcc)")
        with open(os.path.join(self.folder, "work.c"), "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run(["gcc", "-O1", "-Wl,--build-id", "-o", "work", "work.c"], cwd=self.folder,
                       check=True)
        self.pfm("record", "-e", "cpu-clock", "-o", "run.data", "--", "./work")
        return self.pfm("report", "-n", "0", "run.data").stdout

    def unpack(self, path):
        subprocess.run(["tar", "-xf", os.path.join(self.folder, path)], cwd=self.other, check=True)

    def test_the_report_of_another_machine_is_the_same(self):
        wanted = self.record()
        self.assertIn(" hot\n", wanted)
        said = self.pfm("archive", "-o", "run.tar", "run.data").stderr
        self.assertRegex(said, r"the recording and \d+ files that name its code are in run.tar")
        os.rename(os.path.join(self.folder, "work"), os.path.join(self.folder, "gone"))
        self.unpack("run.tar")
        self.assertEqual(self.pfm("report", "-n", "0", "run.data", cwd=self.other).stdout, wanted)

    def test_compressed_by_default(self):
        if not shutil.which("zstd"):
            self.skipTest("zstd is not installed")
        wanted = self.record()
        self.pfm("archive", "run.data")
        packed = os.path.join(self.folder, "run.data.tar.zst")
        with open(packed, "rb") as f:
            self.assertEqual(f.read(4), bytes.fromhex("28b52ffd"))
        self.unpack("run.data.tar.zst")
        self.assertEqual(self.pfm("report", "-n", "0", "run.data", cwd=self.other).stdout, wanted)

    def test_names_of_the_kernel_are_those_of_the_archive(self):
        wanted = self.record()
        if "do_syscall_64" not in wanted or os.geteuid() != 0:
            self.skipTest("names of the kernel are hidden here")
        self.pfm("archive", "-o", "run.tar", "run.data")
        self.unpack("run.tar")
        path = os.path.join(self.other, "run.data.files", "kallsyms")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(" do_syscall_64\n", " another_name\n"))
        said = self.pfm("report", "-n", "0", "run.data", cwd=self.other).stdout
        self.assertIn(" another_name\n", said)
        os.chown(path, 65534, 65534)
        said = self.pfm("report", "-n", "0", "run.data", cwd=self.other).stdout
        self.assertEqual(said, wanted)

    def test_maps_of_compiled_code(self):
        made = Crafted()
        made.attr()
        made.comm(5, b"work")
        made.map(5, 0x1000, b"//anon")
        made.sample(5, 0x1008)
        made.write(os.path.join(self.folder, "run.data"))
        os.mkdir(os.path.join(self.folder, "run.data.files"))
        with open(os.path.join(self.folder, "run.data.files", "perf-5.map"), "w",
                  encoding="utf-8") as f:
            f.write("1000 20 compiled_function\n")
        self.assertIn(" compiled_function\n", self.pfm("report", "run.data").stdout)

    def test_members_are_plain_files_of_root(self):
        self.record()
        self.pfm("archive", "-o", "run.tar", "run.data")
        with tarfile.open(os.path.join(self.folder, "run.tar")) as t:
            members = t.getmembers()
        self.assertEqual(members[0].name, "run.data")
        for m in members:
            self.assertTrue(m.isfile())
            self.assertEqual((m.uid, m.gid, m.mode), (0, 0, 0o600))
            self.assertFalse(m.name.startswith("/") or ".." in m.name)
        self.assertEqual(members[0].size, os.path.getsize(os.path.join(self.folder, "run.data")))

    def test_a_bundle_is_made_with_the_recording(self):
        if not shutil.which("zstd"):
            self.skipTest("zstd is not installed")
        self.record()
        said = self.pfm("record", "-e", "cpu-clock", "--bundle", "-o", "b.data", "--",
                        "./work").stderr
        self.assertRegex(said, r"pfm record: the recording and \d+ files .* are in b.data.tar.zst")
        wanted = self.pfm("report", "-n", "0", "b.data").stdout
        os.rename(os.path.join(self.folder, "work"), os.path.join(self.folder, "gone"))
        self.unpack("b.data.tar.zst")
        self.assertEqual(self.pfm("report", "-n", "0", "b.data", cwd=self.other).stdout, wanted)
        done = self.pfm("record", "--bundle", "-o", "x.folded", "--", "./gone", status=2)
        self.assertIn("--bundle packs a recording", done.stderr)

    def split(self):
        """Moves the symbols of the program to a debug file, as packages of debug symbols have them.
        Returns its path and its build id."""
        if not shutil.which("objcopy"):
            self.skipTest("no objcopy (Debian: binutils)")
        program = os.path.join(self.folder, "work")
        notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True,
                               check=True).stdout
        build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
        debug = os.path.join(self.folder, "debug", ".build-id", build_id[:2],
                             build_id[2:] + ".debug")
        os.makedirs(os.path.dirname(debug))
        subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
        subprocess.run(["strip", program], check=True)
        return debug, build_id

    def test_debug_files_are_in_the_archive(self):
        self.record()
        debug, build_id = self.split()
        os.makedirs(os.path.join(self.folder, "home", ".debug", ".build-id", build_id[:2],
                                 build_id[2:]))
        os.rename(debug, os.path.join(self.folder, "home", ".debug", ".build-id", build_id[:2],
                                      build_id[2:], "debug"))
        env = dict(os.environ, HOME=os.path.join(self.folder, "home"))
        subprocess.run([PFM, "archive", "-o", "run.tar", "run.data"], cwd=self.folder, env=env,
                       check=True, capture_output=True)
        shutil.rmtree(os.path.join(self.folder, "home"))
        os.unlink(os.path.join(self.folder, "work"))
        self.unpack("run.tar")
        self.assertIn(" hot\n", self.pfm("report", "run.data", cwd=self.other).stdout)

    def test_a_server_has_programs_and_debug_files(self):
        """The server of debuginfod(8), as far as files are asked for by build id."""
        if not ctypes.util.find_library("debuginfod"):
            self.skipTest("libdebuginfod is missing (Debian: libdebuginfod1)")
        self.record()
        debug, build_id = self.split()
        pages = os.path.join(self.folder, "pages", "buildid", build_id)
        os.makedirs(pages)
        os.rename(debug, os.path.join(pages, "debuginfo"))
        os.rename(os.path.join(self.folder, "work"), os.path.join(pages, "executable"))

        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *args):
                pass

        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Quiet, directory=os.path.join(self.folder,
                                                                              "pages")))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = "http://127.0.0.1:%d/" % server.server_address[1]
        for command, files, said in (("report", ["run.data"], " hot\n"),
                                     ("annotate", ["hot", "run.data"], " samples in hot of "),
                                     ("diff", ["run.data", "run.data"], " hot\n")):
            env = {**os.environ, "DEBUGINFOD_CACHE_PATH": os.path.join(self.folder, command)}
            env.pop("DEBUGINFOD_URLS", None)
            done = subprocess.run([PFM, command, "--symbols", url, *files], cwd=self.folder,
                                  env=env, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(said, done.stdout)

    def test_dumps_of_compilers_are_in_the_archive(self):
        path = os.path.join(self.folder, "jit-5.dump")
        name, code = b"compiled\0", b"\xc3" * 16
        load = struct.pack("<IIQIIQQQQ", 0, 16 + 40 + len(name) + len(code), 1, 5, 5, 0x1000,
                           0x1000, len(code), 1) + name + code
        with open(path, "wb") as f:
            f.write(struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 5, 0, 0) + load)
        made = Crafted()
        made.attr()
        made.comm(5, b"work")
        made.map(5, 0x20000, path.encode())
        made.map(5, 0x1000, b"//anon")
        made.sample(5, 0x1008)
        made.write(os.path.join(self.folder, "run.data"))
        self.assertIn(" compiled\n", self.pfm("report", "run.data").stdout)
        self.pfm("archive", "-o", "run.tar", "run.data")
        os.unlink(path)
        self.unpack("run.tar")
        self.assertIn(" compiled\n", self.pfm("report", "run.data", cwd=self.other).stdout)

    def test_wrong_recordings_are_refused(self):
        self.assertIn("missing: no such file", self.pfm("archive", "missing", status=1).stderr)
        self.assertIn("expected one recording", self.pfm("archive", "a", "b", status=2).stderr)
        self.assertIn("got standard input", self.pfm("archive", "-", status=2).stderr)
        self.record()
        for end in ("tar.gz", "tgz", "tar.xz", "zip"):
            said = self.pfm("archive", "-o", "x." + end, "run.data", status=2).stderr
            self.assertIn("expected a name that ends in .tar or .zst, got 'x.%s'" % end, said)
        said = self.pfm("archive", "-o", "/nonexistent/x.tar", "run.data", status=1).stderr
        self.assertIn("/nonexistent/x.tar: ", said)
        env = dict(os.environ, PATH="/nonexistent")
        done = subprocess.run([os.path.abspath(PFM), "archive", "run.data"], cwd=self.folder,
                              capture_output=True, text=True, env=env, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("zstd is missing", done.stderr)
        self.assertEqual([n for n in os.listdir(self.folder) if "zst" in n], [])


if __name__ == "__main__":
    tap.main()
