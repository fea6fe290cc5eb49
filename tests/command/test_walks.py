#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands that README.md and CONTRIBUTING.md give a newcomer, each from a copy of the
sources in an empty folder, and the scripts in tests/walks: the work of people of several trades,
with pfm, a compiler and pkg-config."""
import json
import os
import shlex
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

import tap

SOURCE = os.environ["PERFMON_SOURCE"]
BUILD = os.environ.get("PERFMON_BUILD", os.path.join(SOURCE, "build"))
PFM = os.environ.get("PFM", os.path.join(BUILD, "tools", "pfm"))
LEFT_OUT = shutil.ignore_patterns(".git", "build*", "__pycache__", ".mesonpy*")


def document(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
        return f.read()


def blocks(text, kind=""):
    """The fenced blocks of a kind, without the indentation of a list that holds them."""
    found = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", text, re.M | re.S)
    return [
        "".join(line[len(indent):] if line.startswith(indent) else line
                for line in body.splitlines(True)) for indent, word, body in found if word == kind
    ]


def copy_of_the_sources(folder):
    """Copies the sources without build outputs and top folders called build*, like a clone.
    Files such as lib/table/build.c are copied."""
    top = os.path.join(folder, "perfmon")
    os.makedirs(top)
    for name in os.listdir(SOURCE):
        path = os.path.join(SOURCE, name)
        if os.path.isfile(path):
            shutil.copy2(path, top)
        elif not LEFT_OUT(SOURCE, [name]):
            shutil.copytree(path, os.path.join(top, name),
                            ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
    return top


def run(*args, cwd=None, more=None):
    env = {
        k: v for k, v in os.environ.items()
        if not k.startswith(("PERFMON_", "LD_", "MALLOC_", "CMOCKA_"))
    }
    done = subprocess.run(args, capture_output=True, text=True, cwd=cwd,
                          env={**env, **(more or {})}, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise AssertionError(
            "%s ended with %d\n%s%s" %
            (" ".join(args), done.returncode, done.stdout[-2000:], done.stderr[-2000:]))
    return done.stdout


class Walks(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.top = copy_of_the_sources(self.folder)

    def test_quickstart_and_the_examples_of_the_readme(self):
        # Without optimisation: the build of the suite has it.
        said = run("./quickstart", cwd=self.top, more={"CFLAGS": "-O0"})
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
        run("cc", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(self.top, "include"), source,
            "-o", program, "-L" + lib, "-lperfmon")
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
        run("meson", "setup", build, "-Ddevel=true", "-Doptimization=0", "-Ddebug=false",
            "-Dbench=disabled", "-Dpython=disabled", cwd=self.top)
        # Step 2: an image is enough.
        compile_it, use_it = [b for b in blocks(text, "sh")
                              if "pmuc.py" in b][0].strip().splitlines()
        run("sh", "-c", compile_it, cwd=self.top)
        said = run("sh", "-c", use_it, cwd=self.top,
                   more={"PATH": os.path.dirname(PFM) + os.pathsep + os.environ["PATH"]})
        self.assertIn("PERFEVTSEL0  0x000000000253c024  at 0x186", said)
        # Step 3: part of the library, with its page, and the tests over all tables see it.
        path = os.path.join(self.top, "lib", "events", "meson.build")
        with open(path, encoding="utf-8") as f:
            listed = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(
                listed.replace("processors = files(\n", "processors = files(\n  'toy9.pmu',\n", 1))
        run("ninja", "-C", build, "tools/pfm", "docs/perfmon_toy9.7")
        pfm = os.path.join(build, "tools", "pfm")
        events = [
            json.loads(line)["event"]
            for line in run(pfm, "list", "--json", "--pmu", "toy9").splitlines()
        ]
        self.assertEqual(sorted(events), ["Cycles", "Div", "L2_Misses"])
        self.assertTrue(os.path.exists(os.path.join(build, "docs", "perfmon_toy9.7")))
        run("meson", "test", "-C", build, "table_table", "lookup_resolve", "man",
            more={"PERFMON_QUICK": "1"})


# Loops that take the same time each: 2 of 10 in parse, 6 in look_up, which parse calls for 2 and
# index for 4, 2 in print. Where LESS is 1, index looks up an eighth of that.
WORK = r"""
#include <string>
#include <vector>
#ifndef LESS
#define LESS 0
#endif
namespace work {
static volatile unsigned long sum, calls;
static inline void spin(unsigned long n)
{
	volatile unsigned long last = n; /* gcc omits the frame pointer of functions that have nothing on the stack */
	for (unsigned long i = 0; i < n; i++)
		sum += i;
	last = sum;
}
template <class Key> struct Table {
	std::vector<Key> keys;
	__attribute__((noinline)) void look_up(unsigned long n) { spin(n); }
};
using Texts = Table<std::string>;
__attribute__((noinline)) void parse(Texts &table) { spin(200000); table.look_up(200000); calls++; }
__attribute__((noinline)) void index(Texts &table) { table.look_up(LESS ? 50000 : 400000); calls++; }
__attribute__((noinline)) void print(Texts &table) { spin(200000); table.keys[0] = "x"; }
}
int main()
{
	work::Texts table{ { "" } };
	for (int i = 0; i < 500; i++) {
		work::parse(table);
		work::index(table);
		work::print(table);
	}
	return table.keys.size() != 1;
}
"""


@unittest.skipUnless(shutil.which("c++"), "c++ is not installed")
class FindWhatIsSlow(unittest.TestCase):
    """Runs the commands of the chapter in their order, for a program in C++."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        with open(os.path.join(self.folder, "work.cpp"), "w", encoding="utf-8") as f:
            f.write(WORK)
        os.mkdir(os.path.join(self.folder, "bin"))
        os.symlink(PFM, os.path.join(self.folder, "bin", "pfm"))
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("PERFMON_")}
        self.env.update(PATH=os.path.join(self.folder, "bin") + os.pathsep + self.env["PATH"],
                        HOME=self.folder, LC_ALL="C.UTF-8")

    def type(self, line, statuses=(0,)):
        done = subprocess.run(["sh", "-c", line], cwd=self.folder, env=self.env,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
        if line.startswith("pfm record") and done.returncode == 1:
            self.skipTest(done.stderr)
        self.assertIn(done.returncode, statuses, line + "\n" + done.stdout[-2000:] + done.stderr)
        return done

    def compile(self, name, *more):
        said = re.search(r"compile it with `([^`]*)`",
                         document("docs/guide/find-what-is-slow.md").replace("\n", " "))[1]
        self.type(" ".join(["c++ -O2", said, *more, "-o", name, "work.cpp"]))

    def shares(self, text):
        """Share of each function of our program, by its name without parameters; the first of
        several."""
        found = {}
        for share, name in re.findall(r"(?m)^[* ] *[+-]?(\d+\.\d\d)% .*\bwork::([\w:<, >]*?\w)\(",
                                      text):
            found.setdefault(name.rpartition("::")[2], float(share))
        return found

    def test_commands_of_the_chapter(self):
        lines = "".join(blocks(document("docs/guide/find-what-is-slow.md"), "sh")).splitlines()
        os.mkdir(os.path.join(self.folder, "changed"))
        self.compile("work")
        self.compile("changed/work", "-DLESS=1")
        began, said = time.monotonic(), {}
        for line in lines:
            # A build whose unchanged functions took 5 % longer, on a busy machine, fails as it
            # should.
            done = self.type(line, (0, 1) if "--fail-above" in line else (0,))
            self.assertEqual(done.returncode == 1, "grew by more than" in done.stderr, line)
            said[line] = done.stdout
        took = time.monotonic() - began
        print("# %d commands of the chapter took %.1f seconds" % (len(lines), took))
        self.assertLess(took, 60)
        self.assertEqual(len(said), len(lines))
        self.check_report(said)
        self.check_callers(said)
        self.check_lines(said)
        self.check_comparison(said)
        self.check_files()

    def check_report(self, said):
        text = said["pfm report old.data"]
        self.assertRegex(
            text,
            (
                r"^task-clock: [\d,]+ samples\n +\d+\.\d\d% \+- ?\d+\.\d\d  work +work"
                r" +work::Table<.*>::look_up\("
            ),
        )
        for name, share in (("look_up", 60), ("parse", 20), ("print", 20)):
            self.assertAlmostEqual(self.shares(text)[name], share, delta=8)

    def check_callers(self, said):
        children = self.shares(said["pfm report --children old.data"])
        for name, share in (("parse", 40), ("index", 40), ("print", 20), ("look_up", 60)):
            self.assertAlmostEqual(children[name], share, delta=8)
        tree = said["pfm report -g old.data"].splitlines()
        self.assertRegex(tree[1], r"children +self$")
        self.assertTrue(any(re.search(r" work {21}( {4,}) work::Table", line) for line in tree),
                        tree)
        callees = said["pfm report --call-graph=callee -n 20 old.data"].splitlines()
        self.assertRegex("".join(callees[1:3]), r"spin \(inlined\) .*  work::Table<.*>::look_up\(")
        graph = xml.etree.ElementTree.parse(os.path.join(self.folder, "flame.svg"))
        titles = [t.text for t in graph.iter("{http://www.w3.org/2000/svg}title")]
        self.assertTrue(
            any("look_up" in t for t in titles) and any(t.startswith("main") for t in titles),
            titles)
        # Callers that the compiler hides from frame pointers.
        self.type("pfm record --call-graph dwarf -e task-clock -o dwarf.data -- ./work")
        paths = self.type("pfm report --folded dwarf.data").stdout
        for caller in "parse", "index":
            self.assertRegex(paths, r"main;work::%s\([^;]*;work::Table<[^;]*>::look_up\(" % caller)

    def check_lines(self, said):
        number = 1 + next(i for i, line in enumerate(WORK.splitlines()) if "sum += i;" in line)
        self.assertIn("work.cpp:%d" % number, said["pfm report --source -n 10 old.data"])
        self.assertRegex(said["pfm report --sort symbol,cpu old.data"],
                         r"\n *\d+\.\d\d% \+- ?\d+\.\d\d  \d+ +work::")
        slices = said["pfm report --time-slices 4 -n 3 old.data"]
        self.assertEqual(
            len(re.findall(r"(?m)^task-clock, [\d.]+ to [\d.]+ s: [\d,]+ samples$", slices)), 4)
        code = said["pfm annotate '*' old.data"]
        self.assertRegex(code, r"(?m)^ *\d+\.\d\d%% \+- ?\d+\.\d\d  \S*work\.cpp:%d$" % number)
        if shutil.which("objdump"):
            self.assertRegex(code, r"(?m)^ *\d+\.\d\d% \+- ?\d+\.\d\d +[0-9a-f]+  [ |/\\\\>-]*\w+ ")

    def check_comparison(self, said):
        for line in "pfm diff old.data new.data", "pfm diff --normalize count old.data new.data":
            marked = [row for row in said[line].splitlines() if row.startswith("*")]
            self.assertTrue(any("look_up" in row and "-" in row.split("%")[0] for row in marked),
                            said[line])
        boxes = xml.etree.ElementTree.parse(os.path.join(self.folder, "diff.svg"))
        titles = [t.text for t in boxes.iter("{http://www.w3.org/2000/svg}title")]
        self.assertTrue(any("work::index" in t and t.endswith("fell") for t in titles), titles)
        # Back to what it was, look_up takes 60 % of the time instead of 38 %.
        done = self.type("pfm diff --fail-above 5% new.data old.data", (1,))
        self.assertIn("grew by more than 5% of the old value", done.stderr)
        done = self.type("pfm diff missing.data old.data", (2,))

    def check_files(self):
        for name in "old.speedscope.json", "old.firefox.json":
            with open(os.path.join(self.folder, name), encoding="utf-8") as f:
                self.assertIn("look_up", f.read())
        if shutil.which("go"):
            top = self.type("GOCACHE=$HOME/go go tool pprof -top old.pb.gz").stdout
            self.assertRegex(top, r"(?m)% +work::Table\S*look_up")


def python():
    """The name of a Python that can import the module, or None."""
    for name in (sys.executable, "python3", "/usr/bin/python3"):
        done = subprocess.run([name, "-c", "import perfmon"],
                              env=dict(os.environ, PYTHONPATH=os.path.join(BUILD, "python")),
                              capture_output=True, check=False)
        if done.returncode == 0:
            return name
    return None


class Trades(unittest.TestCase):
    def walk(self, name, **more):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "bin"))
            os.symlink(PFM, os.path.join(folder, "bin", "pfm"))
            env = {
                "PATH": os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"],
                "SOURCE": SOURCE, "BUILD": BUILD, "HOME": folder,
                "PKG_CONFIG_PATH": os.path.join(BUILD, "meson-uninstalled"),
                "LD_LIBRARY_PATH": os.path.join(BUILD, "lib")
            }
            run("sh", "-eu", os.path.join(SOURCE, "tests", "walks", name + ".sh"), cwd=folder,
                more={**env, **more})

    def compiled(self, name):
        for program in ("cc", "pkg-config"):
            if not shutil.which(program):
                self.skipTest(program + " is not installed")
        self.walk(name)

    def test_an_engineer_can_type_the_documents(self):
        self.walk("engineer")

    def test_author_of_a_profiler(self):
        self.compiled("profiler")

    def test_a_libpfm3_programmer_can_compile(self):
        self.compiled("libpfm3")

    def test_a_data_scientist_can_type_the_documents(self):
        name = python()
        if not name:
            self.skipTest("the Python module was not built")
        self.walk("scientist", PYTHON=name, PYTHONPATH=os.path.join(BUILD, "python"))

    def test_a_packager_can_type_the_documents(self):
        self.walk("packager")

    def test_a_cplusplus_programmer_can_compile(self):
        if not shutil.which("c++"):
            self.skipTest("c++ is not installed")
        self.compiled("cplusplus")

    def test_a_tru64_programmer_can_compile(self):
        self.compiled("tru64")

    def test_there_is_a_case_for_each(self):
        self.assertEqual(len(os.listdir(os.path.join(SOURCE, "tests", "walks"))), 7)


if __name__ == "__main__":
    tap.main()
