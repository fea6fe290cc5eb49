#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tree is laid out as docs/architecture.md and CONTRIBUTING.md say: each folder is named there,
and a folder of more than 40 files of one kind has its reason there. docs/checks.md names each row of ./check.

    PERFMON_SOURCE  the source tree, a checkout of git
    PERFMON_BUILD   a build of it
"""

import collections
import fnmatch
import json
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402

SOURCE, BUILD = os.environ["PERFMON_SOURCE"], os.environ["PERFMON_BUILD"]
FILES_MAX = 40
# Folders of data that tests read: their layout is that of a list or a machine.
DATA = ("tests/lists/", "tests/fuzz/corpus/", "tests/answers/", "tests/consumer/", "debian/")


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as f:
        return f.read()


def tracked_files():
    done = subprocess.run(["git", "-C", SOURCE, "ls-files"], capture_output=True, text=True,
                          check=False)
    if done.returncode or not done.stdout:
        raise unittest.SkipTest("no checkout of git: " + SOURCE)
    return done.stdout.splitlines()


class Sleeps(unittest.TestCase):
    def test_each_sleep_of_a_test_has_its_reason(self):
        """Tests wait for facts (tests/waiting.py). Where time itself is measured, a comment says so
        on the line or on the one above it. The load of soak_serve.py is paced by the clock."""
        bare = []
        for path in tracked_files():
            if not re.match(r"tests/.*\.(py|c|h)$", path) or path == "tests/soak_serve.py":
                continue
            lines = ["", *read(path).splitlines()]
            bare += ["%s:%d" % (path, i) for i, line in enumerate(lines)
                     if re.search(r"time\.sleep\(|\b(usleep|nanosleep)\(", line)
                     and not re.search(r"#|/\*|\*/", lines[i - 1] + line)]
        self.assertEqual(bare, [])


class Folders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.counts = collections.Counter(os.path.dirname(f) for f in tracked_files())
        cls.map = read("docs", "architecture.md") + read("CONTRIBUTING.md")

    def test_each_folder_is_named_in_the_map(self):
        missing = []
        for folder in sorted(self.counts):
            if not folder or (folder + "/").startswith(DATA) or folder.startswith("."):
                continue
            # "lib/profile/symbols" is named from any of its parents on: `symbols/`
            parts = folder.split("/")
            names = [re.escape("/".join(parts[i:])) for i in range(len(parts))]
            if not re.search(r"`(?:%s)/?`" % "|".join(names), self.map):
                missing.append(folder)
        self.assertEqual([m for m in missing if not m.startswith(("tests/internal/",
                                                                  "tests/public/"))], [])

    def test_tests_of_the_library_mirror_it(self):
        """tests/public and tests/internal have the folders of lib/, and tools/ for the command."""
        for folder in self.counts:
            kind, _, module = folder.partition("/")[2].partition("/")
            if folder.startswith("tests/") and kind in ("public", "internal"):
                self.assertTrue(
                    os.path.isdir(os.path.join(SOURCE, "lib", module))
                    or os.path.isdir(os.path.join(SOURCE, module)), folder)

    def test_a_large_folder_has_a_reason(self):
        reasons = self.map.partition("These have more:")[2]
        kinds = collections.Counter(
            (os.path.dirname(f), os.path.splitext(f)[1]) for f in tracked_files())
        large = sorted({folder for (folder, _), n in kinds.items() if n > FILES_MAX})
        self.assertTrue(large)
        self.assertEqual([
            f for f in large
            if not any("`%s`" % above in reasons for above in (f, os.path.dirname(f)))
        ], [])


class Checks(unittest.TestCase):
    def test_each_row_is_explained(self):
        """Rows of the matrix and of guests one by one; a long row has the mark."""
        rows = [line for line in read("docs", "checks.md").splitlines() if line.startswith("| `")]
        wanted = json.loads(subprocess.check_output(["meson", "introspect", "--tests", BUILD]))
        for test in wanted:
            suites = {s.rpartition(":")[2] for s in test["suite"]}
            if not suites & {"matrix", "guest"}:
                continue
            found = [
                line for line in rows
                if any(fnmatch.fnmatchcase(test["name"], p)
                       for p in re.findall(r"`([^`]+)`", line.split("|")[1]))
            ]
            self.assertTrue(found, test["name"])
            # a row with its own name counts before a pattern
            exact = [line for line in found if "`%s`" % test["name"] in line]
            marked = (exact or found)[0].split("|")[2].strip() == "yes"
            self.assertEqual(marked, "long" in suites, test["name"])


if __name__ == "__main__":
    tap.main()
