#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings, and files that they name, made to write out of bounds, to run for ever, to use all
memory, or to print wrong numbers. docs/security.md forbids each.

    PFM  the command (default: pfm of the path)
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
from test_record import Crafted  # noqa: E402

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

    def run_pfm(self, *arguments, expected=0, timeout=60):
        done = subprocess.run([PFM, *arguments], capture_output=True, check=False, timeout=timeout,
                              stdin=subprocess.DEVNULL)
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
