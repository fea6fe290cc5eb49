#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm top: its tables in a pipe, and its screen on a pseudo-terminal, over a program whose shares
are known.

    PFM  the command (default: pfm of the path)
"""
import fcntl
import os
import pty
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402
from waiting import wait_until  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
PROGRAM = """
static volatile unsigned x;
__attribute__((noinline)) void three(void) { for (unsigned i = 0; i < 60000; i++) x += i; x++; }
__attribute__((noinline)) void one(void) { for (unsigned i = 0; i < 20000; i++) x += i; x++; }
__attribute__((noinline)) void both(void) { three(); one(); x++; }
int main(void) { for (;;) both(); }
"""
ENTER_SCREEN, LEAVE_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"
ROW = re.compile(r"^(?:> |  )?((?: *\d+\.\d\d% \+- ?\d+\.\d\d)+)  (.*)$")


class Screen:
    """pfm top on a terminal, and what the terminal shows: our sequences are few."""

    def __init__(self, *args, size=(24, 80), term="xterm"):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = term
            os.execv(PFM, [PFM, *args])
        self.status, self.all = None, b""
        self.resize(*size)

    def resize(self, lines, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys):
        os.write(self.fd, keys)

    def read(self, wanted, seconds=10):
        """Reads until @wanted(the last whole screen) is true. Returns the screen."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    got = os.read(self.fd, 65536)
                except OSError:
                    break
                self.all += got
                if not got:
                    break
            screen = self.last()
            if screen is not None and wanted(screen):
                return screen
        raise AssertionError("not seen; the last screen: %r" % self.last())

    def last(self):
        screens = re.findall(rb"\x1b\[H(.*?)\x1b\[J", self.all, re.S)
        if not screens:
            return None
        text = re.sub(rb"\x1b\[(?:K|1m|0m)", b"", screens[-1]).decode()
        return text.replace("\r", "").split("\n")

    def finish(self, seconds=10):
        """Waits for the end. Returns what else came, and the exit status."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.all += os.read(self.fd, 65536)
                    continue
                except OSError:
                    pass
            done, status, _ = os.wait4(self.pid, os.WNOHANG)
            if done:
                os.close(self.fd)
                self.status = status
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError("pfm top did not end")


def rows(lines):
    """Share and name of each row."""
    found = [ROW.match(line) for line in lines]
    return [(float(m.group(1).split("%")[0]), m.group(2).split()) for m in found if m]


class Top(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="perfmon-top-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        with open(os.path.join(cls.folder, "p.c"), "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        cls.program = os.path.join(cls.folder, "known")
        if not cc:
            raise unittest.SkipTest("no C compiler: install gcc")
        subprocess.run([
            cc, "-O0", "-fno-omit-frame-pointer", "-o", cls.program,
            os.path.join(cls.folder, "p.c")
        ], check=True)
        cls.work = subprocess.Popen([cls.program])    # older than every session here
        cls.addClassCleanup(cls.work.wait)
        cls.addClassCleanup(cls.work.kill)
        done = subprocess.run([
            PFM, "top", "-p",
            str(cls.work.pid), "-e", "task-clock", "-d", "0.1", "--iterations", "1"
        ], capture_output=True, text=True, timeout=30, check=False)
        if done.returncode == 1:
            raise unittest.SkipTest(done.stderr)

    def plain(self, *args):
        return subprocess.run([PFM, "top", "-e", "task-clock", *args], capture_output=True,
                              text=True, timeout=60, check=False)

    def screen(self, *args, **how):
        screen = Screen("top", "-e", "task-clock", "-p", str(self.work.pid), "-d", "0.3", *args,
                        **how)
        self.addCleanup(lambda: screen.status is None and os.kill(screen.pid, signal.SIGKILL))
        return screen

    def test_tables_in_a_pipe(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = self.plain("-p", str(self.work.pid), "-g", "-F", "1000", "-d", "1.5", "--iterations",
                          "2", "-n", "3")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        tables = done.stdout.rstrip("\n").split("\n\n")
        self.assertEqual(len(tables), 2)
        self.assertRegex(tables[1],
                         r"^task-clock: [\d,]+ samples, \d+ a second\n +children +\*self\n")
        got = rows(tables[1].split("\n"))
        share = {name[-1]: percent for percent, name in got}
        self.assertEqual(got[0][1], ["known", "known", "three"])
        self.assertAlmostEqual(share["three"], 75, delta=10)
        self.assertAlmostEqual(share["one"], 25, delta=10)
        self.assertLessEqual(len(got), 3)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        # at most 2 % of a CPU, besides what it takes to read the symbols
        self.assertLess(used, 0.02 * 3 + 0.15)

    def test_top_ends_with_the_command(self):
        """Ends with the command; each table begins anew."""
        done = self.plain("--sort", "symbol", "-z", "-d", "0.4", "-n", "2", "--", "timeout", "1",
                          self.program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(", ended\n", done.stdout)
        numbers = [int(n.replace(",", "")) for n in re.findall(r": ([\d,]+) samples", done.stdout)]
        self.assertGreaterEqual(len(numbers), 2)
        self.assertLess(max(numbers), 700)
        self.assertRegex(done.stdout, r"\+- ?\d+\.\d\d  three\n")

    def test_rows_are_sorted_by_children(self):
        done = self.plain("-p", str(self.work.pid), "-g", "--children", "--sort", "symbol", "-d",
                          "0.5", "--iterations", "1", "-n", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("*children", done.stdout)
        share = {name[-1]: percent for percent, name in rows(done.stdout.split("\n"))}
        self.assertGreater(share["both"], 90)

    def test_keys_change_the_view(self):
        screen = self.screen("-g")
        seen = screen.read(lambda s: len(rows(s)) > 1 and rows(s)[0][1][-1] == "three")
        self.assertTrue(seen[0].startswith("task-clock: "))
        self.assertTrue(seen[-1].startswith("q quit"))
        self.assertEqual(sum(line.startswith("> ") for line in seen), 1)
        screen.press(b"\r")     # callers of the first row
        seen = screen.read(lambda s: "callers" in s[2])
        names = [line.split()[-1] for line in seen[3:6]]
        self.assertEqual(names, ["three", "both", "main"])
        screen.press(b"q")      # back
        screen.read(lambda s: "self" in s[2])
        screen.press(b"\x1b[B")  # down
        seen = screen.read(lambda s: len(s) > 4 and s[4].startswith("> "))
        screen.press(b"k" + b"k")
        screen.read(lambda s: rows(s) and rows(s)[0][1] == ["three"])
        screen.press(b"s")
        seen = screen.read(lambda s: "*children" in s[2] and rows(s) and len(rows(s)[0][1]) == 1)
        self.assertGreater(rows(seen)[0][0], 90)
        screen.press(b"p")
        paused = screen.read(lambda s: "paused" in s[0])
        time.sleep(0.5)    # the time without a change of the screen is what is measured
        self.assertEqual(screen.last()[3:], paused[3:])
        screen.press(b"pz")
        screen.read(lambda s: "paused" not in s[0])
        screen.press(b"h")
        screen.read(lambda s: any("this help" in line for line in s))
        screen.press(b"hq")
        self.assertEqual(screen.finish(), 0)
        self.assertIn(LEAVE_SCREEN, screen.all)

    def test_a_screen_of_another_size(self):
        screen = self.screen("-g", size=(24, 80))
        screen.read(rows)
        screen.resize(9, 41)
        screen.read(lambda s: rows(s) and len(s) <= 9 and max(map(len, s)) == 40)
        screen.resize(1, 2)
        screen.read(lambda s: len(s) == 1)
        screen.resize(40, 120)
        screen.read(lambda s: len(s) > 5)
        screen.press(b"q")
        self.assertEqual(screen.finish(), 0)

    def test_signals_give_the_terminal_back(self):
        for end in (b"\x03", signal.SIGTERM):
            screen = self.screen()
            before = termios.tcgetattr(screen.fd)
            screen.read(rows)
            self.assertFalse(termios.tcgetattr(screen.fd)[3] & termios.ECHO)
            if isinstance(end, bytes):
                screen.press(end)
            else:
                os.kill(screen.pid, end)
            screen.read(lambda s: LEAVE_SCREEN in screen.all)
            # The last words on the screen come just before the terminal's former settings.
            wait_until(lambda: termios.tcgetattr(screen.fd) == before)
            self.assertEqual(screen.finish(), 0)
            self.assertEqual(screen.all.count(ENTER_SCREEN), screen.all.count(LEAVE_SCREEN))

    def test_a_terminal_that_can_do_nothing(self):
        for term in ("dumb", ""):
            screen = self.screen("--iterations", "1", term=term)
            self.assertEqual(screen.finish(), 0)
            self.assertNotIn(b"\x1b", screen.all)
            self.assertIn(b"three", screen.all)

    def test_wrong_options_are_refused(self):
        for args in (["-d", "0"], ["-d", "x"], ["-p", "1", "-a"], ["-p", "1", "--", "true"],
                     ["--sort", "cpu"], ["--sort", "x"], ["--children"], ["-F", "1", "-c",
                                                                          "1"], ["-C", "x"]):
            done = self.plain(*args)
            self.assertEqual((done.returncode, done.stdout), (2, ""), args)
        done = self.plain("--", "/nonexistent/program")
        self.assertEqual((done.returncode, done.stdout), (127, ""))


if __name__ == "__main__":
    tap.main()
