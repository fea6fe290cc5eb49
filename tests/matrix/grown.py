#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs built with today's headers run on a library whose growable structs have one member more.

    PERFMON_SOURCE  the source tree, a checkout of git
    PERFMON_BUILD   a build of it: its library is linked, its event tables are used
    PERFMON_JOBS    how many compilers run at once (1)

The library is built in PERFMON_BUILD/matrix/grown."""

import glob
import os
import shutil
import subprocess
import sys
import unittest

SOURCE, BUILD = os.environ["PERFMON_SOURCE"], os.path.abspath(os.environ["PERFMON_BUILD"])
sys.path.insert(0, os.path.join(SOURCE, "tests"))
import public_structs  # noqa: E402
import tap  # noqa: E402

WORK = os.path.join(BUILD, "matrix", "grown")
COPY = os.path.join(WORK, "source")
LIBRARIES = ["lib/libperfmon.so.1.0.0", "lib/profile/libperfmon-profile.so.1.0.0",
             "lib/compat/libpfm3/libpfm.so.3"]


def run(*command, **how):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    if done.returncode:
        raise AssertionError("%s: status %d\n%s" % (" ".join(command), done.returncode,
                                                    (done.stdout + done.stderr)[-4000:]))
    return done.stdout


def copy_source():
    shutil.rmtree(COPY, ignore_errors=True)
    for name in run("git", "-C", SOURCE, "ls-files").splitlines():
        path = os.path.join(SOURCE, name)
        if os.path.isfile(path):
            os.makedirs(os.path.dirname(os.path.join(COPY, name)), exist_ok=True)
            shutil.copy2(path, os.path.join(COPY, name))


def grow_headers():
    for path in glob.glob(os.path.join(COPY, "include", "perfmon", "*.h")):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(public_structs.append_member(text, "grown_member_"))


def build_library():
    """Builds the grown library. Returns the folders of its shared objects."""
    copy_source()
    grow_headers()
    folder = os.path.join(WORK, "build")
    shutil.rmtree(folder, ignore_errors=True)
    off = ["-D%s=disabled" % o for o in ("tests", "tools", "man", "python", "bench")]
    run("meson", "setup", folder, COPY, "-Dtables=" + BUILD, *off)
    run("ninja", "-C", folder, "-j", os.environ.get("PERFMON_JOBS", "1"), *LIBRARIES)
    return [os.path.join(folder, os.path.dirname(name)) for name in LIBRARIES]


class Grown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ours = [os.path.join(BUILD, os.path.dirname(name)) for name in LIBRARIES]
        cls.grown = build_library()

    def compile(self, compiler, *sources):
        program = os.path.join(WORK, os.path.splitext(os.path.basename(sources[0]))[0])
        run(*compiler, "-I" + SOURCE + "/include", *(os.path.join(SOURCE, s) for s in sources),
            "-o", program, *("-L" + f for f in self.ours), "-lperfmon-profile", "-lperfmon",
            "-lpthread", "-lm")
        return program

    def run_on(self, folders, *command):
        return run(*command, timeout=120,
                   env=dict(os.environ, LD_LIBRARY_PATH=":".join(folders)))

    def check_equal_output(self, *command):
        output = self.run_on(self.grown, *command)
        self.assertEqual(output, self.run_on(self.ours, *command))
        return output

    def test_the_library_is_larger_in_each_growable_struct(self):
        with open(os.path.join(COPY, "include/perfmon/session.h"), encoding="utf-8") as f:
            structs = [s for s in public_structs.read_structs(f.read()) if s.has_size]
        self.assertEqual({s.members[-1].name for s in structs}, {"grown_member_"})

    def test_a_consumer_gets_equal_registers(self):
        self.check_equal_output(self.compile(["cc"], "tests/consumer/consumer.c"))

    def test_sums_tallies_and_descriptions_are_equal(self):
        program = self.compile(["cc", "-Wall", "-Werror"], "tests/abi/grown_client.c")
        self.assertIn("mean 2", self.check_equal_output(program))

    def test_the_wrapper_of_cxx_runs(self):
        if not shutil.which("g++"):
            self.skipTest("g++ is not installed")
        self.run_on(self.grown, self.compile(["g++", "-std=c++17"], "tests/cxx/wrapper.cc"))

    def test_examples_print_what_they_print_on_our_library(self):
        program = self.compile(["cc", "-D_GNU_SOURCE"], "examples/resolve_only.c")
        self.check_equal_output(program)
        # One that measures prints other figures each time.
        program = self.compile(["cc", "-D_GNU_SOURCE"], "examples/metrics.c")
        self.assertTrue(self.run_on(self.grown, program).strip())

    def test_bindings_that_leave_sizes_at_0_get_equal_results(self):
        program = self.compile(["cc", "-Wall", "-Werror", "-DWITHOUT_SIZES"],
                               "tests/abi/grown_client.c")
        self.assertIn("mean 2", self.check_equal_output(program))

    def test_the_python_module_gets_equal_registers(self):
        """The module is compiled with today's headers."""
        package = os.path.join(BUILD, "python")
        if not glob.glob(os.path.join(package, "**", "_perfmon*.so"), recursive=True):
            self.skipTest("the Python module is not built")
        program = ("import perfmon; e = perfmon.event('skl::MEM_LOAD_RETIRED.L3_MISS:u:c=2');"
                   "print(e.registers, e.perf_attr, perfmon.dispatch(['skl::CPU_CLK_UNHALTED.THREAD'])"
                   ".counters)")
        env = dict(os.environ, PYTHONPATH=package)
        ours, grown = (run(sys.executable, "-c", program, timeout=120,
                           env=dict(env, LD_LIBRARY_PATH=":".join(folders)))
                       for folders in (self.ours, self.grown))
        self.assertEqual(ours, grown)
        self.assertIn("value", ours)


if __name__ == "__main__":
    tap.main()
