#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The npm package: it builds, is small, answers the golden vectors, and its README works. Needs
clang with wasm32-wasi, lld and node."""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import tap
import native_requests

sys.path.append(os.path.join(os.environ["PERFMON_TESTS"], "support"))
import npm_packages  # noqa: E402

SOURCE = os.environ["PERFMON_SOURCE"]
BUILD = os.environ["PERFMON_BUILD"]
DRIVER = os.path.join(os.environ["PERFMON_TESTS"], "bindings/vectors.mjs")
# All files of the package, each compressed: 2 MB.
SIZE_MAX = 2_000_000


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for program in ("clang", "wasm-ld", "node"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"no {program}")
        if not os.path.isdir("/usr/include/wasm32-wasi"):
            raise unittest.SkipTest("no wasi-libc")
        # A folder node_modules, so that the name of the package is found.
        cls.folder = os.path.join(BUILD, "tests/node_modules/perfmon")
        subprocess.run([os.path.join(SOURCE, "scripts/wasm.sh"), BUILD, cls.folder], check=True)

    def test_package_has_at_most_2_mb_compressed(self):
        size = 0
        with open(os.path.join(self.folder, "package.json"), encoding="utf-8") as f:
            names = ["package.json", *json.load(f)["files"]]
        for name in names:
            with open(os.path.join(self.folder, name), "rb") as f:
                size += len(gzip.compress(f.read(), 9))
        self.assertLessEqual(size, SIZE_MAX)

    def test_golden_vectors_have_the_answers_of_c(self):
        native_requests.compare(self, ["node", DRIVER, self.folder])

    def test_golden_vectors_in_deno(self):
        deno = shutil.which("deno") or os.path.join(
            npm_packages.install("deno-2.9.6", "deno@2.9.6"), "node_modules", "@deno",
            "linux-x64-glibc", "deno")
        native_requests.compare(self, [deno, "run", "--allow-read", "--no-remote", DRIVER,
                                       self.folder])

    def test_program_of_the_readme(self):
        with open(os.path.join(self.folder, "README.md"), encoding="utf-8") as f:
            code = re.search(r"```js\n(.*?)```", f.read(), re.S)[1]
        program = os.path.join(BUILD, "tests/readme.mjs")
        with open(program, "w", encoding="utf-8") as f:
            f.write(code)
        out = subprocess.run(["node", program], check=True, stdout=subprocess.PIPE,
                             text=True).stdout
        self.assertEqual(out, re.search(r"// (0x\S+)", code)[1] + "\nMEM_LOAD_RETIRED.L3_MISS\n")

    def test_module_imports_nothing_but_wasi(self):
        code = ("import {readFileSync} from 'node:fs';"
                "const m = new WebAssembly.Module(readFileSync(process.argv[1]));"
                "const names = WebAssembly.Module.imports(m).map(i => i.module);"
                "console.log([...new Set(names)].join())")
        out = subprocess.run(["node", "--input-type=module", "-e", code,
                              os.path.join(self.folder, "perfmon.wasm")], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(out.strip(), "wasi_snapshot_preview1")

    def test_types_declare_each_method(self):
        with open(os.path.join(self.folder, "perfmon.js"), encoding="utf-8") as f:
            methods = set(re.findall(r"^  (\w+)\(.*\) \{$", f.read(), re.M)) - {"constructor"}
        with open(os.path.join(self.folder, "perfmon.d.ts"), encoding="utf-8") as f:
            declared = set(re.findall(r"^  (\w+)\(.*\): ", f.read(), re.M))
        self.assertEqual(methods, declared)


if __name__ == "__main__":
    tap.main()
