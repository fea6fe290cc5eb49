#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm stat and pfm record --control: a harness that counts a part of itself, and two commands
compared."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import tap  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
PROGRAM = os.path.join(os.environ.get("REGION_PROGRAMS", ""), "controlling")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("PERFMON_REGIONS")}


def faults(args, pages):
    """Page faults of a run in which the program counts two parts with @pages pages each, and
    pfm's messages."""
    control, ack = os.pipe(), os.pipe()
    fds = control + ack
    command = [
        PFM, "stat", "--json", "-e", "page-faults", *args, "--control",
        "fd:%d,%d" % (control[0], ack[1]), "--", PROGRAM,
        str(control[1]),
        str(ack[0]),
        str(pages)
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, pass_fds=fds,
                          env=CLEAN)
    for fd in fds:
        os.close(fd)
    if done.returncode:
        raise AssertionError("status %d: %s" % (done.returncode, done.stderr))
    row = json.loads(done.stdout.splitlines()[0])
    return row["value"] if row["quality"] == "exact" else None, done.stderr


def counts_here():
    return os.path.exists(PROGRAM) and faults(["-D", "-1"], 0)[0] is not None


@unittest.skipUnless(counts_here(), "the kernel counts no page faults here")
class Stat(unittest.TestCase):
    def test_parts_alone_are_counted(self):
        """Both runs have equal page faults besides those on the parts' pages."""
        without, _ = faults(["-D", "-1"], 0)
        with_pages, said = faults(["-D", "-1"], 500)
        self.assertEqual(with_pages - without, 1000)
        self.assertLess(without, 500)
        self.assertIn("page-faults", said)

    def test_on_from_the_start(self):
        value, _ = faults([], 0)
        self.assertGreaterEqual(value, 1000)
        self.assertLess(value, 2000)

    def test_a_fifo_enables_and_disables_the_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            control, ack = os.path.join(folder, "control"), os.path.join(folder, "ack")
            os.mkfifo(control)
            os.mkfifo(ack)
            with subprocess.Popen([
                    PFM, "stat", "-e", "page-faults", "-D", "-1", "--control",
                    "fifo:%s,%s" % (control, ack), "--", "sleep", "1"
            ], stderr=subprocess.PIPE, text=True, env=CLEAN) as p:
                with open(control, "w", encoding="ascii") as f, open(ack, "rb") as answers:
                    f.write("nonsense\nping\n")
                    f.flush()
                    self.assertEqual(answers.read(5), b"ack\n\0")
                _, said = p.communicate()
            self.assertIn("unknown command 'nonsense'", said)

    def test_counts_that_were_never_enabled_say_so(self):
        control = os.pipe()
        with subprocess.Popen([
                PFM, "stat", "-e", "page-faults", "-D", "-1", "--control",
                "fd:%d" % control[0], "--", "true"
        ], stderr=subprocess.PIPE, text=True, env=CLEAN, pass_fds=control) as p:
            _, said = p.communicate()
        for fd in control:
            os.close(fd)
        self.assertIn("<not counted> page-faults", said)
        self.assertIn("send 'enable' to the control pipe", said)
        self.assertNotIn("start the session", said)

    def test_answers_come_at_once(self):
        start = time.monotonic()
        faults(["-D", "-1"], 0)
        self.assertLess(time.monotonic() - start, 2)

    def test_wrong_controls_are_refused(self):
        for args, text in ((["--control", "pipe:1"], "expected fd:N"),
                           (["--control", "fd:999"], "Bad file"), (["-D",
                                                                    "-1"], "needs --control")):
            done = subprocess.run([PFM, "stat", *args, "--", "true"], capture_output=True,
                                  text=True, check=False, env=CLEAN)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(text, done.stderr)


@unittest.skipUnless(counts_here(), "the kernel counts no page faults here")
class Record(unittest.TestCase):
    def test_parts_alone_are_sampled(self):
        """A sample at every fault."""
        seen = []
        for pages in (0, 200):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "perf.data")
                control, ack = os.pipe(), os.pipe()
                fds = control + ack
                subprocess.run([
                    PFM, "record", "-e", "page-faults:u", "-c", "1", "-o", path, "-D", "-1",
                    "--control",
                    "fd:%d,%d" % (control[0], ack[1]), "--", PROGRAM,
                    str(control[1]),
                    str(ack[0]),
                    str(pages)
                ], capture_output=True, check=True, pass_fds=fds, env=CLEAN)
                for fd in fds:
                    os.close(fd)
                out = subprocess.run([PFM, "report", "--json", path], capture_output=True,
                                     text=True, check=True).stdout
                self.assertLessEqual({json.loads(line)["task"] for line in out.splitlines()},
                                     {"controlling"})
                seen.append(sum(json.loads(line).get("samples", 0) for line in out.splitlines()))
        self.assertEqual(seen[1] - seen[0], 400)


def compare(*args, status=0):
    done = subprocess.run([PFM, "stat", "--json", *args], capture_output=True, text=True,
                          check=False, env=CLEAN)
    if done.returncode != status:
        raise AssertionError("status %d, expected %d: %s" % (done.returncode, status, done.stderr))
    return {(r["event"], r["number"]): r
            for r in map(json.loads, done.stdout.splitlines())}, done.stderr


@unittest.skipUnless(counts_here(), "the kernel counts no page faults here")
class Compare(unittest.TestCase):
    def touching(self, pages):
        return [
            sys.executable,
            "-c",
            "import mmap; m = mmap.mmap(-1, %d * 4096); [m.__setitem__(i * 4096, 1) for i in"
            " range(%d)]" % (pages + 1, pages),
        ]

    def test_a_command_and_itself(self):
        rows, _ = compare("-r", "5", "-e", "page-faults", "--", *self.touching(1), "::",
                          *self.touching(1))
        row = rows["page-faults", 2]
        self.assertEqual(row["rounds"], 5)
        self.assertTrue(0.9 < row["low"] <= row["ratio"] <= row["high"] < 1.1)

    def test_more_pages_are_shown(self):
        rows, _ = compare("-r", "5", "-e", "page-faults", "--", *self.touching(1), "::",
                          *self.touching(2000), "::", *self.touching(4000))
        for number, pages in ((2, 1999), (3, 3999)):
            row = rows["page-faults", number]
            self.assertTrue(row["difference"])
            self.assertAlmostEqual(row["mean"] - row["base_mean"], pages, delta=60)

    def test_a_command_that_fails_ends_it(self):
        compare("-e", "page-faults", "--", "true", "::", "false", status=1)
        _, said = compare("-e", "page-faults", "--", "true", "::", status=2)
        self.assertIn("a command on each side", said)


if __name__ == "__main__":
    sys.exit(tap.main())
