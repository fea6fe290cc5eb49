#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/audit.md is what scripts/audit.py makes of the sources."""

import os
import subprocess
import sys
import unittest

import tap

ROOT = os.path.join(os.environ["PERFMON_TESTS"], "..")
PFM = os.environ.get("PFM", "pfm")


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


class Sources(unittest.TestCase):
    def test_show_names_a_list_that_has_the_event(self):
        """Rows beside those of a list have a source of their own; none is said of events that
        libpfm4 alone has."""
        for event, source in (
            ("icl::INST_RETIRED.ANY", ["intel/perfmon ICL"]),
            ("icl::PERF_METRICS.RETIRING", ["Linux arch/x86/events/intel/core.c"]),
            ("skl::OFFCORE_RESPONSE_0", []),
            ("hip08::SVE_INST_RETIRED", ["names and numbers of libpfm4"]),
            ("hip08::ROB_STALL_CYCLE", ["Linux hip08/metrics.json"]),
            ("c1_nano::SSVE_LD_SPEC", ["ARM-software/gator events-C1-Nano.xml"]),
        ):
            shown = subprocess.run([PFM, "show", event], stdout=subprocess.PIPE, text=True,
                                   check=True).stdout
            found = [line.split(None, 1)[1] for line in shown.splitlines()
                     if line.startswith("  source ")]
            self.assertEqual([f[:len(s)] for f, s in zip(found, source)], source, event)
            self.assertEqual(len(found), len(source), event)


if __name__ == "__main__":
    tap.main()
