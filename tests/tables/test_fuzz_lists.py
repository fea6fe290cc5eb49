#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The corpus of event lists, and a few hundred mutations of it: an image comes out, or a reason with
a place, in a time that is linear in the input.

The seed is fixed, so each run has the same inputs. tests/fuzz/fuzz_lists.py runs longer.
"""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [HERE]
from tap import main  # noqa: E402

FUZZ = os.path.join(HERE, "fuzz")
LONG = bool(os.environ.get("PERFMON_LONG"))


class Lists(unittest.TestCase):
    def run_fuzzer(self, kind, runs):
        done = subprocess.run(
            [sys.executable, os.path.join(FUZZ, "fuzz_lists.py"), kind, "--runs", str(runs),
             "--seed", "20261128", os.path.join(FUZZ, "corpus", kind)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        self.assertIn("%d inputs from seed" % runs, done.stdout)

    def test_texts_of_the_language(self):
        self.run_fuzzer("pmu", 400 if LONG else 200)

    def test_lists_of_vendors(self):
        self.run_fuzzer("vendor", 150 if LONG else 75)


if __name__ == "__main__":
    main()
