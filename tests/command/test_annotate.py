#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm annotate over samples at known instructions of a library; objdump and addr2line say what
these are.

    PFM  the command (default: pfm of the path)
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402
import test_linear  # noqa: E402
import test_symbols  # noqa: E402
from test_report_columns import columns_of, on_terminal  # noqa: E402
from test_symbols import PFM, START, Recording  # noqa: E402


# objdump draws arrows for jumps since binutils 2.34.
ARROWS = [] if not shutil.which("objdump") else re.findall(
    "--visualize-jumps(?= )",
    subprocess.run(["objdump", "--help"], capture_output=True, text=True, check=False).stdout)[:1]


class Annotate(test_symbols.Library):
    def setUp(self):
        super().setUp()
        if not shutil.which("objdump") or not shutil.which("addr2line"):
            self.skipTest("objdump is missing (Debian package binutils)")
        self.build()
        listing = self.tool("objdump", "-d", "--no-show-raw-insn", "--disassemble=hidden_one",
                            self.path)
        self.code = {int(a, 16): text for a, text in re.findall(r"^ +(\w+):\t(.*)$", listing, re.M)}
        first = min(self.code)
        # More samples at each instruction than at the one before it.
        self.samples = {address: 1 + i for i, address in enumerate(sorted(self.code))}
        made = Recording()
        made.attr()
        made.comm(5, b"work")
        made.file(5, self.path.encode())
        for address, n in self.samples.items():
            for _ in range(n):
                made.sample(5, START + self.offsets["hidden_one"] + address - first)
        made.sample(5, START + self.offsets["hidden_two"])
        made.write(os.path.join(self.folder, "perf.data"))

    def annotate(self, *args, path=None, status=0):
        env = {**os.environ, **({"PATH": path} if path is not None else {})}
        done = subprocess.run([shutil.which(PFM), "annotate", *args], cwd=self.folder, env=env,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.said = done.stderr
        return done.stdout

    def test_shares_of_instructions(self):
        places = [json.loads(line) for line in self.annotate("--json", "hidden_one").splitlines()]
        self.assertEqual({int(p["address"], 16): p["samples"] for p in places}, self.samples)
        total = sum(self.samples.values())
        for p in places:
            self.assertEqual((p["function"], p["object"]), ("hidden_one", self.path))
            self.assertAlmostEqual(p["share"], self.samples[int(p["address"], 16)] / total)
            self.assertEqual(p["instruction"].split(), self.code[int(p["address"], 16)].split())
        text = self.annotate("hidden_one")
        self.assertEqual(self.said, "")
        for address, n in self.samples.items():
            self.assertRegex(
                text, r"(?m)^ *%s%% \+-[ \d.]{5} +%x  [ |/\\\\>-]*%s" %
                (re.escape("%.2f" %
                           (100 * n / total)), address, re.escape(self.code[address].split()[0])))
        self.assertNotIn("hidden_two>:", text)

    def fake_objdump(self, script):
        """A folder with an objdump that is this shell script, before those of the path."""
        folder = os.path.join(self.folder, "fake")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "objdump"), "w", encoding="ascii") as f:
            f.write("#!/bin/sh\n" + script)
        os.chmod(f.name, 0o755)
        return folder + os.pathsep + os.environ["PATH"]

    def test_objdump_has_a_limit_of_time_on_a_cpu(self):
        real = shutil.which("objdump")
        path = self.fake_objdump('[ "$(ulimit -t)" = 60 ] && exec %s "$@"\n' % real)
        self.annotate("hidden_one", path=path)
        self.assertEqual(self.said, "")

    def test_objdump_that_never_ends(self):
        """The clock of waiting is made short; the program waits for a writer that never comes."""
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        path = self.fake_objdump("exec cat %s\n" % fifo)
        shim = os.path.join(os.environ["PERFMON_BUILD"], "tests", "libimpatient.so")
        done = subprocess.run([shutil.which(PFM), "annotate", "hidden_one"], cwd=self.folder,
                              env={**os.environ, "PATH": path, "LD_PRELOAD": shim},
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("instructions are not shown: objdump takes too long for", done.stderr)

    def test_an_event_is_a_pattern(self):
        places = [json.loads(line) for line in self.annotate("--json", "hidden_one").splitlines()]
        (event,) = {p["event"] for p in places}
        for pattern in (event, event[:3] + "*", "?" + event[1:]):
            self.assertEqual([
                json.loads(line)
                for line in self.annotate("--json", "--event", pattern, "hidden_one").splitlines()
            ], places)
        self.annotate("--event", event[:3], "hidden_one", status=1)

    def test_shares_of_lines(self):
        text = self.annotate("hidden_one")
        if "libdw is missing" in self.said:
            self.skipTest("libdw is missing (Debian package libdw1)")
        want, total = collections.Counter(), sum(self.samples.values())
        for address, n in self.samples.items():
            line = self.tool("addr2line", "-e", self.path, hex(address)).split(" ")[0].strip()
            want[os.path.basename(line)] += n
        got = {
            os.path.basename(where): float(share)
            for share, where in re.findall(r"^ *([\d.]+)% \+-[ \d.]+  (\S+:\d+)$", text, re.M)
        }
        self.assertEqual(got, {line: round(100 * n / total, 2) for line, n in want.items()})

    def test_code_on_a_terminal(self):
        """Each line has its place; what does not fit is cut at the end."""
        self.annotate("hidden_one")
        whole = self.annotate("hidden_one").split("\n")
        for width in 44, 60, 80, 200:
            lines = on_terminal(width, "annotate", "hidden_one", folder=self.folder)
            self.assertEqual(len(lines), len(whole))
            for line, all_of_it in list(zip(lines, whole))[1:]:
                self.assertLessEqual(columns_of(line), width)
                if line.endswith("\u2026"):
                    self.assertTrue(all_of_it.startswith(line[:-1]), (width, line, all_of_it))
                    self.assertEqual(columns_of(line), width)
                elif "\u2026" not in line:  # paths are cut in their middle
                    self.assertEqual(line, all_of_it)
            self.assertEqual(any(line.endswith("\u2026") for line in lines),
                             max(map(columns_of, whole)) > width)

    def test_lines_without_an_index_of_units(self):
        """clang writes no .debug_aranges."""
        self.tool("objcopy", "--remove-section", ".debug_aranges", self.path)
        self.test_shares_of_lines()

    def test_tabulators_are_blanks(self):
        """Those of the source text and of the instructions: each line is what expandtabs() makes of
        objdump's."""
        self.build(source=test_symbols.LIBRARY.replace(
            "{ for (int i = 0; i < n; i++) x += i; }",
            "{\n\tfor (int i = 0; i < n; i++)\n\t\tx += i; \t/* \u00e4\tb */\n}"))
        start, size = (int(a, 16) for a in re.search(r"(?m)^(\w+) (\w+) t hidden_one$",
                                                     self.tool("nm", "-S", self.path)).groups())
        made = Recording()
        made.attr()
        made.comm(5, b"work")
        made.file(5, self.path.encode())
        made.sample(5, START + self.offsets["hidden_one"])
        made.write(os.path.join(self.folder, "perf.data"))
        listing = self.tool("objdump", "-d", "-S", "-C", "--no-show-raw-insn", *ARROWS,
                            "--start-address=%d" % start, "--stop-address=%d" % (start + size),
                            self.path)
        lines = [
            line for line in listing.partition("Disassembly of section")[2].splitlines()[1:] if line
        ]
        expected = [re.sub(r"^ +\w+:\t", "", line).expandtabs(8) for line in lines]
        self.assertIn("                x += i;         /* \u00e4    b */", expected)
        text = self.annotate("hidden_one")
        shown = text[text.index("<hidden_one>:"):].splitlines()
        self.assertEqual(
            [re.sub(r"^(.{17}) {0,7}[0-9a-f]+  ", r"\1", line)[17:] for line in shown[1:-1]],
            expected[1:])

    @unittest.skipUnless(ARROWS, "objdump draws no arrows (Debian package binutils)")
    def test_arrows_of_many_jumps_are_left_out(self):
        """One jump has its arrow; where 40 overlap, the instructions have the room."""
        for n, wanted in (1, True), (40, False):
            body = "".join("if (n == %d) goto out%d; x = %d; " % (i, i, i) for i in range(n))
            body += "".join("x = 1000 + %d; out%d: x++; " % (i, i) for i in range(n))
            self.build(source=test_symbols.LIBRARY.replace(
                "{ for (int i = 0; i < n; i++) x += i; }", "{ %s}" % body))
            made = Recording()
            made.attr()
            made.comm(5, b"work")
            made.file(5, self.path.encode())
            made.sample(5, START + self.offsets["hidden_one"])
            made.write(os.path.join(self.folder, "perf.data"))
            text = self.annotate("hidden_one")
            self.assertEqual("-> " in text, wanted, text)
            self.assertEqual("/-" in text, wanted, text)

    def test_addresses_are_shown_without_objdump(self):
        text = self.annotate("hidden_one", path=self.folder)
        self.assertIn("objdump is missing (Debian package binutils)", self.said)
        self.assertEqual(len(re.findall(r"% \+-[ \d.]+  0x\w+$", text, re.M)), len(self.samples))

    def test_a_name_of_several_functions_is_said(self):
        self.assertIn("samples in hidden_one of libwork.so", self.annotate("hidden_*"))
        self.assertIn("is the name of several functions", self.said)

    def test_unknown_functions_are_refused(self):
        self.assertEqual(self.annotate("nothing", status=1), "")
        self.assertIn("has no samples in 'nothing'", self.said)
        self.assertEqual(self.annotate(status=2), "")
        self.assertIn("expected a function, then a recording", self.said)


@unittest.skipIf(test_symbols.MISSING,
                 "%s: missing (Debian packages gcc and binutils)" % ", ".join(test_symbols.MISSING))
class LargeFunctions(test_linear.LinearCost, unittest.TestCase):
    def write(self, folder, n):
        """A recording with a sample at each instruction of a function of some @n thousand; returns
        its path."""
        library = os.path.join(folder, "lib%d.so" % n)
        source = "volatile int x;\nvoid large(void)\n{\n%s}\n" % ("\tx++;\n" * 1000 * n)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-xc", "-", "-o", library], input=source,
                       text=True, check=True, timeout=300)
        listing = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", "--disassemble=large", library],
            capture_output=True, text=True, check=True, timeout=60).stdout
        made = Recording()
        made.attr()
        made.comm(5, b"work")
        made.file(5, library.encode())
        for address in re.findall(r"(?m)^ +(\w+):\t", listing):
            made.sample(5, START + int(address, 16))
        path = os.path.join(folder, "%d.data" % n)
        made.write(path)
        return path

    def test_cost_is_linear(self):
        with tempfile.TemporaryDirectory(prefix="perfmon-annotate-") as folder:
            paths = [self.write(folder, n) for n in (5, 20)]
            self.compare("annotate --json",
                         *((("annotate", "--json", "large", path), {}) for path in paths))


if __name__ == "__main__":
    tap.main()
