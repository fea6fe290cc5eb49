#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Rust crates: tests and documents without a warning and without a network, the golden vectors,
the examples. Needs cargo."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap
import native_requests

SOURCE = os.environ["PERFMON_SOURCE"]
BUILD = os.environ["PERFMON_BUILD"]
RUST = os.path.join(SOURCE, "bindings/rust")
LIBRARY = os.path.join(BUILD, "lib")


class RawLayer(unittest.TestCase):
    def test_is_what_the_script_writes(self):
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "scripts/bindings.py"),
                               "--check"], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Cargo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("cargo"):
            raise unittest.SkipTest("no cargo")
        if not os.path.exists(os.path.join(LIBRARY, "libperfmon.so")):
            raise unittest.SkipTest("no shared library")
        cls.home = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.home.cleanup)
        cls.target = os.path.join(BUILD, "tests/rust-target")
        cls.environment = {**os.environ, "CARGO_NET_OFFLINE": "true", "CARGO_HOME": cls.home.name,
                           "CARGO_TARGET_DIR": cls.target, "PERFMON_LIB_DIR": LIBRARY,
                           "LD_LIBRARY_PATH": LIBRARY, "RUSTDOCFLAGS": "-Dwarnings"}

    def cargo(self, *arguments):
        done = subprocess.run(["cargo", arguments[0], "--locked", *arguments[1:]], cwd=RUST,
                              env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
        self.assertNotIn("warning", done.stderr)
        return done.stdout

    def program(self, name):
        self.cargo("build", "--quiet", "--example", name)
        return os.path.join(self.target, "debug/examples", name)

    def test_units_and_examples_of_documents_and_of_the_readme(self):
        results = re.findall(r"(\d+) passed; (\d+) failed", self.cargo("test"))
        self.assertGreaterEqual(sum(int(passed) for passed, _ in results), 8)
        self.assertEqual({failed for _, failed in results}, {"0"})

    def test_clippy_has_no_advice(self):
        if not shutil.which("cargo-clippy"):
            self.skipTest("no cargo-clippy")
        self.cargo("clippy", "--all-targets", "--", "-Dwarnings")

    def test_documents_build_without_a_warning(self):
        self.cargo("doc", "--no-deps")

    def test_golden_vectors_have_the_answers_of_c(self):
        native_requests.compare(self, [self.program("vectors")], env=self.environment)

    def test_crates_build_without_std(self):
        for features in ((), ("--features", "alloc")):
            self.cargo("build", "--package", "perfmon", "--no-default-features", *features)

    def test_profiler_samples_its_own_work(self):
        out = subprocess.run([self.program("profiler")], env=self.environment, check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        self.assertRegex(out, r"(?m)^\d+ samples, \d+ lost$")
        self.assertRegex(out, r"task-clock:u \(\w+")


if __name__ == "__main__":
    tap.main()
