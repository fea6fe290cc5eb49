#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands that README.md and CONTRIBUTING.md give a newcomer, each from a copy of the sources in an empty folder, and the
scripts in tests/walks: the work of people of several trades, with pfm, a compiler and pkg-config."""
import json
import os
import shlex
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap

SOURCE = os.environ.get("PERFMON_SOURCE", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("PERFMON_BUILD", os.path.join(SOURCE, "build"))
LEFT_OUT = shutil.ignore_patterns(".git", "build*", "__pycache__", ".mesonpy*")


def document(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
        return f.read()


def blocks(text, kind=""):
    """The fenced blocks of a kind, without the indentation of a list that holds them."""
    found = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", text, re.M | re.S)
    return ["".join(line[len(indent):] if line.startswith(indent) else line for line in body.splitlines(True))
            for indent, word, body in found if word == kind]


def copy_of_the_sources(folder):
    """Like a clone: what is built, and what lies in folders called build*, is not in it. lib/table/build.c and its like are."""
    top = os.path.join(folder, "perfmon")
    os.makedirs(top)
    for name in os.listdir(SOURCE):
        path = os.path.join(SOURCE, name)
        if os.path.isfile(path):
            shutil.copy2(path, top)
        elif not LEFT_OUT(SOURCE, [name]):
            shutil.copytree(path, os.path.join(top, name), ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
    return top


def run(*args, cwd=None, more=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PERFMON_", "LD_", "MALLOC_", "CMOCKA_"))}
    done = subprocess.run(args, capture_output=True, text=True, cwd=cwd, env={**env, **(more or {})}, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise AssertionError("%s ended with %d\n%s%s" % (" ".join(args), done.returncode, done.stdout[-2000:], done.stderr[-2000:]))
    return done.stdout


class Walks(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.top = copy_of_the_sources(self.folder)

    def test_quickstart_and_the_examples_of_the_readme(self):
        said = run("./quickstart", cwd=self.top)
        self.assertIn("PERFEVTSEL0  0x00000000005320d1  at 0x186", said)
        self.assertIn("Next: ./check", said)
        pfm = os.path.join(self.top, "build", "tools", "pfm")
        text = document("README.md")
        command, _, answer = blocks(text, "console")[0].partition("\n")
        self.assertEqual(run(pfm, *command.split()[2:]), answer)
        # The program, with nothing but the headers and the library.
        source, program = os.path.join(self.folder, "readme.c"), os.path.join(self.folder, "readme")
        with open(source, "w", encoding="utf-8") as f:
            f.write(blocks(text, "c")[0])
        lib = os.path.join(self.top, "build", "lib")
        run("cc", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(self.top, "include"), source, "-o", program, "-L" + lib, "-lperfmon")
        self.assertEqual(run(program, more={"LD_LIBRARY_PATH": lib}), "register 0x186 = 0x5320d1\n")
        # The lines for a terminal that ask nothing of the machine.
        for line in "\n".join(blocks(text, "sh")[1:]).splitlines():
            words = shlex.split(line, comments=True) or [""]
            if words[0] == "pfm" and words[1] in ("encode", "list", "plan"):
                self.assertTrue(run(pfm, *words[1:]), line)

    def test_a_processor_is_added(self):
        text = document("CONTRIBUTING.md")
        table = blocks(text)[0]
        with open(os.path.join(self.top, "lib", "events", "toy9.pmu"), "w", encoding="utf-8") as f:
            f.write(table)
        build = os.path.join(self.top, "build")
        run("meson", "setup", build, "-Ddevel=true", "-Doptimization=0", "-Dbench=disabled", "-Dpython=disabled", cwd=self.top)
        run("ninja", "-C", build, "tools/pfm")
        pfm = os.path.join(build, "tools", "pfm")
        # Step 2: an image is enough.
        compile_it, use_it = [b for b in blocks(text, "sh") if "pmuc.py" in b][0].strip().splitlines()
        run("sh", "-c", compile_it, cwd=self.top)
        said = run("sh", "-c", use_it, cwd=self.top, more={"PATH": os.path.dirname(pfm) + os.pathsep + os.environ["PATH"]})
        self.assertIn("PERFEVTSEL0  0x000000000253c024  at 0x186", said)
        # Step 3: part of the library, with its page, and the tests over all tables see it.
        path = os.path.join(self.top, "lib", "events", "meson.build")
        with open(path, encoding="utf-8") as f:
            listed = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(listed.replace("processors = files(\n", "processors = files(\n  'toy9.pmu',\n", 1))
        run("ninja", "-C", build)
        events = [json.loads(line)["event"] for line in run(pfm, "list", "--json", "--pmu", "toy9").splitlines()]
        self.assertEqual(sorted(events), ["Cycles", "Div", "L2_Misses"])
        self.assertTrue(os.path.exists(os.path.join(build, "docs", "perfmon_toy9.7")))
        run("meson", "test", "-C", build, "--no-rebuild", "table_table", "table_roundtrip",
                "lookup_resolve", "man", "cli", more={"PERFMON_QUICK": "1"})


def python():
    """A Python that the module was built for; None if there is none."""
    for name in (sys.executable, "python3", "/usr/bin/python3"):
        done = subprocess.run([name, "-c", "import perfmon"], env=dict(os.environ, PYTHONPATH=os.path.join(BUILD, "python")),
                              capture_output=True,
                              check=False)
        if done.returncode == 0:
            return name
    return None


class Trades(unittest.TestCase):
    def walk(self, name, **more):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "bin"))
            os.symlink(os.environ.get("PFM", os.path.join(BUILD, "tools", "pfm")), os.path.join(folder, "bin", "pfm"))
            env = {"PATH": os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"],
                    "SOURCE": SOURCE, "BUILD": BUILD, "HOME": folder,
                   "PKG_CONFIG_PATH": os.path.join(BUILD, "meson-uninstalled"), "LD_LIBRARY_PATH": os.path.join(BUILD, "lib")}
            run("sh", "-eu", os.path.join(SOURCE, "tests", "walks", name + ".sh"), cwd=folder, more={**env, **more})

    def compiled(self, name):
        for program in ("cc", "pkg-config"):
            if not shutil.which(program):
                self.skipTest(program + " is not installed")
        self.walk(name)

    def test_engineer(self):
        self.walk("engineer")

    def test_author_of_a_profiler(self):
        self.compiled("profiler")

    def test_libpfm3_programmer(self):
        self.compiled("libpfm3")

    def test_data_scientist(self):
        name = python()
        if not name:
            self.skipTest("the Python module was not built")
        self.walk("scientist", PYTHON=name, PYTHONPATH=os.path.join(BUILD, "python"))

    def test_packager(self):
        self.walk("packager")

    def test_cplusplus_programmer(self):
        if not shutil.which("c++"):
            self.skipTest("c++ is not installed")
        self.compiled("cplusplus")

    def test_tru64_programmer(self):
        self.compiled("tru64")

    def test_there_is_a_case_for_each(self):
        self.assertEqual(len(os.listdir(os.path.join(SOURCE, "tests", "walks"))), 7)


if __name__ == "__main__":
    tap.main()
