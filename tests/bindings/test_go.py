#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Go package: go vet, tests under the race detector, the golden vectors, the benchmark, the
program of its README. Needs go."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tap
import native_requests

SOURCE = os.environ["PERFMON_SOURCE"]
BUILD = os.environ["PERFMON_BUILD"]
GO = os.path.join(SOURCE, "bindings/go")
LIBRARY = os.path.join(BUILD, "lib")
README_PROGRAM = """package main

import (
	"fmt"

	"perfmon"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
%s}
"""


class Go(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("go"):
            raise unittest.SkipTest("no go")
        if not os.path.exists(os.path.join(LIBRARY, "libperfmon.so")):
            raise unittest.SkipTest("no shared library")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.environment = {**os.environ, "GOFLAGS": "-mod=mod", "HOME": cls.folder,
                           "GOCACHE": os.path.join(BUILD, "tests/go-cache"), "GOPROXY": "off",
                           "CGO_CFLAGS": "-I" + os.path.join(SOURCE, "include"),
                           "CGO_LDFLAGS": "-L" + LIBRARY, "LD_LIBRARY_PATH": LIBRARY}

    def go(self, *arguments, cwd=GO):
        done = subprocess.run(["go", *arguments], cwd=cwd, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
        return done.stdout

    def test_vet_and_gofmt_have_no_advice(self):
        self.go("vet", "./...")
        if shutil.which("gofmt"):
            out = subprocess.run(["gofmt", "-l", GO], check=True, stdout=subprocess.PIPE).stdout
            self.assertEqual(out, b"")

    def test_package_under_the_race_detector(self):
        self.go("test", "-count=1", "-race", ".")

    def test_golden_vectors_have_the_answers_of_c(self):
        program = os.path.join(self.folder, "vectors")
        self.go("build", "-o", program, "./cmd/vectors")
        native_requests.compare(self, [program], env=self.environment)

    def test_benchmark_reports_counts(self):
        out = self.go("test", "-run", "none", "-bench", "Library/small", "-benchtime", "100x",
                      "./examples")
        self.assertRegex(out, r"task-clock/op|- task-clock \(")

    def test_program_of_the_readme(self):
        with open(os.path.join(GO, "README.md"), encoding="utf-8") as f:
            code, expected = re.search(r"```go\n(.*?// (\S+)\n)```", f.read(), re.S).groups()
        module = os.path.join(self.folder, "readme")
        os.mkdir(module)
        for name, text in (("main.go", README_PROGRAM % code),
                           ("go.mod", "module readme\n\ngo 1.18\n\nrequire perfmon v1.0.0\n\n"
                                      f"replace perfmon => {GO}\n")):
            with open(os.path.join(module, name), "w", encoding="utf-8") as f:
                f.write(text)
        self.assertEqual(self.go("run", ".", cwd=module).strip(), expected)


if __name__ == "__main__":
    tap.main()
