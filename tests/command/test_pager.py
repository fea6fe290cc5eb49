#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm list on a terminal: through $PAGER, which is recognised by a mark that it puts before the text. Also lists by PMU and counter."""
import os
import pty
import subprocess
import tempfile
import time
import unittest

import tap

PFM = os.environ.get("PFM", "pfm")
CLEAN = {
    k: v for k, v in os.environ.items()
    if not k.startswith(("PERFMON_", "LIBPFM_", "LESS", "PAGER", "NO_COLOR"))
}
CLEAN.update(PERFMON_EVENTS="/nonexistent", TERM="xterm")
MARK = "sed s/^/paged:/"


def on_terminal(*args, pager=None, **env):
    """The text that the terminal got, and the exit status."""
    master, slave = pty.openpty()
    more = dict(env, PAGER=pager) if pager is not None else env
    child = subprocess.Popen([PFM, *args], stdin=slave, stdout=slave, stderr=slave,
                             env={**CLEAN, **more}, close_fds=True)
    os.close(slave)
    said = b""
    while True:
        try:
            got = os.read(master, 1 << 16)
        except OSError:
            break
        if not got:
            break
        said += got
    os.close(master)
    return said.decode().replace("\r\n", "\n"), child.wait(timeout=60)


def listed(*args):
    return subprocess.run([PFM, "list", *args], env=CLEAN, capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL)


class Pager(unittest.TestCase):
    def test_a_terminal_is_paged(self):
        said, status = on_terminal("list", "--pmu", "ev6", pager=MARK)
        self.assertEqual(status, 0)
        self.assertTrue(all(line.startswith("paged:") for line in said.splitlines()), said)
        self.assertIn("\x1b[", said)    # colours stay, and so does the width
        self.assertTrue(all(len(line) < 140 for line in said.splitlines()))

    def test_no_pager_unless_wanted(self):
        for pager, args in ((MARK, ["--no-pager"]), ("", []), ("cat", []), (MARK, ["--json"])):
            said, status = on_terminal("list", "--pmu", "ev6", *args, pager=pager)
            self.assertEqual((status, "paged:" in said), (0, False), (pager, args))
            self.assertIn("retinst" if "--json" not in args else '"event"', said)
        done = subprocess.run([PFM, "list", "--pmu", "ev6"], env=dict(CLEAN, PAGER=MARK),
                              capture_output=True, text=True, check=True)
        self.assertNotIn("paged:", done.stdout)
        self.assertNotIn("paged:", on_terminal("encode", "ev6::cycles0", pager=MARK)[0])

    def test_a_pager_that_is_not_there(self):
        said, status = on_terminal("list", "--pmu", "ev6", pager="no-such-pager-anywhere")
        self.assertEqual(status, 0)
        self.assertIn("retinst", said)

    def test_a_pager_with_arguments_needs_no_shell(self):
        """The pager says whose child it is, and what its arguments are. A pipe needs a shell."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pager")
            with open(path, "w", encoding="ascii") as f:
                f.write("#!/bin/sh\nread name </proc/$PPID/comm\n"
                        'echo "child of $name: $# $2"\nexec cat\n')
            os.chmod(path, 0o755)
            for pager, first in ((path + " -a 'two words' three", "child of pfm: 3 two words"),
                                 (path + " a \"\" '|'", "child of sh: 3 "),
                                 (path + " | cat", "child of sh: 0 ")):
                said, status = on_terminal("list", "--pmu", "ev6", pager=pager)
                self.assertEqual((status, said.splitlines()[0].rstrip()), (0, first.rstrip()))
                self.assertIn("retinst", said)

    def test_less_gets_options_for_short_answers(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "less"), "w", encoding="ascii") as f:
                f.write('#!/bin/sh\necho "less with $LESS"\nexec cat\n')
            os.chmod(f.name, 0o755)
            said, status = on_terminal("list", "--pmu", "ev6",
                                       PATH=folder + os.pathsep + os.environ["PATH"])
        self.assertEqual((status, said.splitlines()[0]), (0, "less with FRX"))

    def test_a_pager_that_has_seen_enough(self):
        began = time.monotonic()
        said, status = on_terminal("list", "-a", pager="head -n 3")
        self.assertEqual((len(said.splitlines()), status), (3, 1))
        self.assertLess(time.monotonic() - began, 30)

    def test_refusals_go_to_the_terminal(self):
        said, status = on_terminal("list", "ev6::no-such-thing-at-all", pager=MARK)
        self.assertEqual(status, 1)
        self.assertIn("pfm: no event matches", said)


class Search(unittest.TestCase):
    def test_events_are_found_by_their_unit(self):
        done = listed("--unit", "icx_uncore_imc")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("UNC_M_CAS_COUNT", done.stdout)
        heads = [line for line in done.stdout.splitlines() if line and not line.startswith(" ")]
        self.assertTrue(heads and all("icx_uncore_imc" in line for line in heads), heads)
        self.assertEqual(listed("--unit", "no-such-unit").returncode, 1)
        self.assertEqual(listed("--unit", "imc", "--pmu", "icx").returncode, 2)

    def test_events_are_found_by_their_counter(self):
        both, one = listed("ev5::*").stdout, listed("--counter", "1", "ev5::*").stdout
        names = [line.split()[0] for line in one.splitlines()[1:]]
        self.assertTrue(names and len(names) < len(both.splitlines()) - 1)
        self.assertIn("nonissue", names)
        self.assertNotIn("issues", names)
        self.assertIn("INST_RETIRED.ANY ", listed("--counter", "F0,F2", "skx::*").stdout)
        for wrong in ("", "x", "3-", "F"):
            self.assertEqual(listed("--counter", wrong).returncode, 2, wrong)


if __name__ == "__main__":
    tap.main()
