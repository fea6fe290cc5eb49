#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/audit.md is what scripts/audit.py makes of the sources."""

import os
import subprocess
import sys
import unittest

import tap

ROOT = os.path.join(os.environ["PERFMON_TESTS"], "..")


class Audit(unittest.TestCase):
    def test_the_document_is_of_these_sources(self):
        if not os.path.isdir(os.path.join(tap.SHARED, "data", "full")):
            self.skipTest("vendors' lists are not here")
        for path, more in (("docs/audit.md", []), ("lib/events/audit.txt", ["--rows"]),
                           ("lib/events/sources.txt", ["--sources"])):
            made = subprocess.run(
                [sys.executable,
                 os.path.join(ROOT, "scripts", "audit.py"), tap.SHARED, *more],
                stdout=subprocess.PIPE, check=True).stdout.decode()
            with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                self.assertEqual(f.read().split("\n"), made.split("\n"))

    def test_every_cause_has_a_decision(self):
        with open(os.path.join(ROOT, "docs", "audit.md"), encoding="utf-8") as f:
            text = f.read()
        self.assertEqual(text.count("\n## "), text.count("**Decision:**"))


if __name__ == "__main__":
    tap.main()
