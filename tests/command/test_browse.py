#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm report on a terminal: keys open functions, search, and show instructions.

    PFM  the command (default: pfm of the path)

A screen is what follows the last sequence that goes home (ESC [ H); it ends with ESC [ J.
"""
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402
from test_record import PFM, crafted_program  # noqa: E402
from test_report_page import Chains  # noqa: E402

FUNCTIONS = ["main", "parse", "print", "hash"]
MAIN, PARSE, PRINT, HASH = range(4)


class Terminal:
    """A command on a terminal of 24 lines."""

    def __init__(self, args, folder):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ["TERM"] = "xterm"
            os.execvp(args[0], args)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self.bytes = b""

    def read(self):
        """False at the end, or after 30 s without output."""
        if not select.select([self.fd], [], [], 30)[0]:
            return False
        try:
            got = os.read(self.fd, 65536)
        except OSError:
            return False
        self.bytes += got
        return bool(got)

    def wait_for(self, pattern, keys=""):
        """Types, then reads until a whole screen matches. Returns its lines."""
        self.bytes = b"" if keys else self.bytes
        os.write(self.fd, keys.encode())
        while True:
            for screen in self.bytes.decode(errors="replace").split("\x1b[H")[1:]:
                text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.replace("\r\n", "\n"))
                if "\x1b[J" in screen and re.search(pattern, text):
                    return text.split("\n")
            if not self.read():
                raise AssertionError("%r is not in %r" % (pattern, self.bytes))

    def end(self):
        while self.read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class Browse(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perfmon-browse-")
        self.addCleanup(shutil.rmtree, self.folder)
        program = os.path.join(self.folder, "program")
        with open(program, "wb") as f:
            f.write(crafted_program([f.encode() for f in FUNCTIONS]))
        made = Chains()
        made.attr()
        made.comm(5, b"work")
        made.map(5, 0x1000, program.encode())
        for chain, n in ((PARSE, MAIN), 50), ((HASH, PRINT, MAIN), 30), ((HASH, PARSE, MAIN), 20):
            for _ in range(n):
                made.add(chain)
        made.write(os.path.join(self.folder, "perf.data"))

    def open(self, *args):
        return Terminal([shutil.which(PFM), "report", *args], self.folder)

    def test_keys_open_close_search_and_end(self):
        t = self.open()
        lines = t.wait_for("parse")
        self.assertRegex(lines[0], r"^cpu-clock.*: 100 samples, perf.data")
        self.assertEqual([re.sub(" +", " ", x).strip() for x in lines[2:4]],
                         ["> + 50.00% parse [program]", "+ 50.00% hash [program]"])
        # Down, and enter: the callers of hash, the heaviest first.
        lines = t.wait_for("print", "\x1b[B\r")
        self.assertEqual([re.sub(" +", " ", x).strip() for x in lines[2:6]],
                         ["+ 50.00% parse [program]", "> - 50.00% hash [program]",
                          "+ 30.00% print [program]", "+ 20.00% parse [program]"])
        # Right opens the chosen row, left closes it.
        t.wait_for(r"> -  30.00% +print[^\n]*\n +30.00% +main", "\x1b[B\x1b[C")
        t.wait_for(r"> \+  30.00% +print[^\n]*\n *\+? +20.00%", "\x1b[D")
        # A search leaves the functions that match; escape shows all again.
        lines = t.wait_for(r"/par\n?$", "/par\r")
        self.assertEqual(len([x for x in lines if "%" in x]), 1)
        t.wait_for(r"(?s)parse.*hash", "\x1b")
        t.wait_for("instructions and source lines", "h")
        t.wait_for("(?s)parse.*hash", "q")
        os.write(t.fd, b"q")
        self.assertEqual(t.end(), 0)

    def test_a_key_shows_the_instructions(self):
        if not shutil.which("objdump"):
            self.skipTest("objdump is missing (Debian package binutils)")
        t = self.open()
        t.wait_for("parse")
        t.wait_for("samples in parse of program", "a")
        t.wait_for("> \\+  50.00%  parse", "q")
        os.write(t.fd, b"q")
        self.assertEqual(t.end(), 0)

    def test_output_that_is_no_screen_is_plain(self):
        for args in ["--stdio"], ["-n", "5"], ["--children"]:
            t = self.open(*args)
            self.assertEqual(t.end(), 0)
            self.assertNotIn(b"\x1b[?1049h", t.bytes)
            self.assertIn(b"parse", t.bytes)
        plain = subprocess.run([PFM, "report"], cwd=self.folder, capture_output=True, check=True,
                               timeout=60)
        self.assertNotIn(b"\x1b", plain.stdout)
        self.assertIn(b"parse", plain.stdout)


if __name__ == "__main__":
    tap.main()
