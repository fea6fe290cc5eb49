#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The headers in C++: every public macro from C++11 on, and perfmon.hpp from C++17 on, with each
compiler there is and no warning."""
import os
import shutil
import subprocess
import tempfile
import unittest

import tap

SOURCE = os.environ["PERFMON_SOURCE"]
BUILD = os.environ.get("PERFMON_BUILD", os.path.join(SOURCE, "build"))
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wshadow", "-Werror"]


class Compilers(unittest.TestCase):
    def build_and_run(self, compiler, standard, name):
        if not shutil.which(compiler):
            self.skipTest(compiler + " is not installed")
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, name)
            lib = os.path.join(BUILD, "lib")
            done = subprocess.run([
                compiler, "-std=" + standard, *WARNINGS, "-I" + os.path.join(SOURCE, "include"),
                "-I" + os.path.join(SOURCE, "include", "libpfm3"),
                os.path.join(SOURCE, "tests", "cxx", name + ".cc"), "-o", program, "-L" + lib,
                "-L" + lib + "/profile", "-lperfmon-profile", "-lperfmon"
            ], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            done = subprocess.run([program], env=dict(os.environ,
                                                      LD_LIBRARY_PATH=lib + ":" + lib + "/profile"),
                                  timeout=60)
            self.assertEqual(done.returncode, 0)

    def test_older_standard_gets_a_clear_error(self):
        for compiler in "g++", "clang++":
            if not shutil.which(compiler):
                self.skipTest(compiler + " is not installed")
            done = subprocess.run([
                compiler, "-std=c++14", "-fsyntax-only", "-x", "c++",
                "-I" + os.path.join(SOURCE, "include"), "-"
            ], input="#include <perfmon/perfmon.hpp>\n", capture_output=True, text=True)
            first = next(line for line in done.stderr.splitlines() if "error:" in line)
            self.assertIn("needs C++17", first)


def add(compiler, standard, name):
    def case(self):
        self.build_and_run(compiler, standard, name)
    setattr(Compilers,
            "test_%s_%s_%s" % (name, compiler.replace("+", "p"), standard.replace("+", "p")), case)


for compiler in ("g++", "clang++"):
    for standard in ("c++11", "c++14", "c++17", "c++20"):
        add(compiler, standard, "macros")
    for standard in ("c++17", "c++20"):
        add(compiler, standard, "wrapper")
        add(compiler, standard, "profile")

if __name__ == "__main__":
    tap.main()
