#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients of libpfm4, built from their sources against our headers and libraries."""
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

import tap

SOURCE = os.environ["PERFMON_SOURCE"]
LIBRARIES = os.environ["PERFMON_LIBPFM4"]
PAGES = 64
BENCHMARK = """
#include <benchmark/benchmark.h>
#include <sys/mman.h>
static void touch(benchmark::State &state)
{
	for (auto _ : state) {
		char *p = (char *)mmap(0, PAGES * 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(p, PAGES * 65536, MADV_NOHUGEPAGE);
		for (int i = 0; i < PAGES; i++)
			p[i * 65536] = 1;
		munmap(p, PAGES * 65536);
	}
}
BENCHMARK(touch)->Iterations(100);
BENCHMARK_MAIN();
"""


def source_of(case, package):
    """The folder with the source of a Debian package; skips the case where it cannot be had."""
    done = subprocess.run([os.path.join(SOURCE, "tests/matrix/source.sh"), package],
                          capture_output=True, text=True, check=False)
    if done.returncode == 77:
        case.skipTest(done.stderr.strip().splitlines()[-1])
    case.assertEqual(done.returncode, 0, done.stderr)
    return done.stdout.strip()


class Builds(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.prefix = os.path.join(self.folder, "prefix")
        os.makedirs(os.path.join(self.prefix, "lib"))
        shutil.copytree(os.path.join(SOURCE, "include/libpfm4"),
                        os.path.join(self.prefix, "include"))
        for name, target in (("libpfm.so", "libpfm.so.4"), ("libpfm.so.4", "libpfm.so.4"),
                             ("libpfm.a", "libpfm.a")):
            os.symlink(os.path.join(LIBRARIES, target), os.path.join(self.prefix, "lib", name))
        lib = os.path.join(self.prefix, "lib")
        self.env = {
            **os.environ, "LIBRARY_PATH": lib, "LD_LIBRARY_PATH": lib,
            "CPATH": os.path.join(self.prefix, "include")
        }

    def do(self, *command):
        done = subprocess.run(command, env=self.env, cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-3000:])
        return done.stdout + done.stderr

    @unittest.skipUnless(os.environ.get("PERFMON_LONG"), "a long run (PERFMON_LONG=1)")
    @unittest.skipUnless(
        shutil.which("cmake") and shutil.which("c++"),
        "cmake or c++ is missing (Debian packages cmake and g++)")
    def test_google_benchmark_counts_a_fault_for_each_page(self):
        """One page fault for each page: what its --benchmark_perf_counters counts."""
        source, build = source_of(self, "benchmark"), os.path.join(self.folder, "build")
        said = self.do("cmake", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Debug",
                       "-DBENCHMARK_ENABLE_LIBPFM=ON", "-DBENCHMARK_ENABLE_TESTING=OFF",
                       "-DBENCHMARK_ENABLE_GTEST_TESTS=OFF")
        self.assertIn("Using Perf Counters", said)
        self.do("cmake", "--build", build, "--target", "benchmark")
        with open(os.path.join(self.folder, "touch.cc"), "w", encoding="ascii") as f:
            f.write(BENCHMARK)
        program = os.path.join(self.folder, "touch")
        self.do("c++", "-DPAGES=%d" % PAGES, "-I", source + "/include", "touch.cc", "-o", program,
                build + "/src/libbenchmark.a", "-lpfm", "-lpthread")
        self.assertIn(self.prefix, self.do("ldd", program))
        done = subprocess.run([
            program, "--benchmark_perf_counters=PAGE-FAULTS,perf::MINOR-FAULTS",
            "--benchmark_format=json"
        ], env=self.env, capture_output=True, text=True, check=True)
        row = json.loads(done.stdout)["benchmarks"][0]
        if "PAGE-FAULTS" not in row:
            self.skipTest("perf events cannot be opened here: " + done.stderr[-300:])
        # The loop of the benchmark itself may touch a new page.
        self.assertAlmostEqual(row["PAGE-FAULTS"], PAGES, delta=0.1)
        self.assertAlmostEqual(row["perf::MINOR-FAULTS"], PAGES, delta=0.1)
        self.check_pretended_counters(program)

    def check_pretended_counters(self, program):
        """Events of processors that this machine is not, which count 1,000 for each page fault."""
        model = os.path.join(self.folder, "faults.model")
        with open(model, "w", encoding="ascii") as f:
            f.write("event * 1000 * faults\n")
        for cpu, events in (("spr", "INST_RETIRED:ANY_P,MEM_INST_RETIRED:ALL_LOADS"),
                            ("amdzen5", "RETIRED_INSTRUCTIONS,CYCLES_NOT_IN_HALT"),
                            ("adl", "adl_glc::INST_RETIRED:ANY_P")):
            if cpu == "adl" and os.cpu_count() < 2:
                continue        # each type of core needs a CPU
            command = [os.environ["PFM"], "pretend", "--cpu", cpu, "--model", model, "--",
                       "taskset", "-c", "0", program, "--benchmark_perf_counters=" + events,
                       "--benchmark_format=json"]
            rows = []
            for _ in range(2):
                done = subprocess.run(command, env=self.env, capture_output=True, text=True,
                                      check=True)
                row = json.loads(done.stdout)["benchmarks"][0]
                rows.append([row.get(name) for name in events.split(",")])
            self.assertEqual(rows[0], rows[1], (cpu, done.stderr))
            for value in rows[0]:
                self.assertAlmostEqual(value, 1000 * PAGES, delta=100)

    @unittest.skipUnless(shutil.which("swig"), "swig is missing (Debian package swig)")
    def test_python_binding_of_libpfm4(self):
        """SWIG reads the headers and finds the members of structures without a name."""
        source = os.path.join(source_of(self, "libpfm4"), "python/src/perfmon_int.i")
        include = sysconfig.get_paths()["include"]
        if not os.path.exists(os.path.join(include, "Python.h")):
            self.skipTest("Python.h is missing (Debian package python3-dev)")
        shutil.copy(source, self.folder)
        self.do("swig", "-python", "-w326,523", "-I" + os.path.join(SOURCE, "include/libpfm4"),
                "perfmon_int.i")
        self.do("cc", "-shared", "-fPIC", "-w", "-I" + include, "perfmon_int_wrap.c", "-o",
                "_perfmon_int.so", "-lpfm")
        said = self.do(
            sys.executable, "-c", "import perfmon_int as p\np.pfm_initialize()\n"
            "attr = p.pfm_get_perf_event_encoding('PERF_COUNT_SW_PAGE_FAULTS', 8, None, None)[1]\n"
            "print(attr.type, attr.config, p.pfm_get_pmu_info(p.PFM_PMU_PERF_EVENT)[1].flags.is_dfl)")
        self.assertEqual(said, "1 2 0\n")

    @unittest.skipUnless(os.environ.get("PERFMON_LONG"), "a long run (PERFMON_LONG=1)")
    def test_papi_builds_with_our_header(self):
        """Its own configure finds the header and the library; the tool for one event is built."""
        source = os.path.join(self.folder, "papi")
        shutil.copytree(source_of(self, "papi"), source)
        self.do("sh", "-c", "cd papi/src && ./configure --with-pfm-incdir=%s --with-pfm-libdir=%s"
                " && make libpapi.a" % (os.path.join(SOURCE, "include/libpfm4"), LIBRARIES))

    def test_programs_of_libpfm4(self):
        """tests/validate.c and every example of the source tree, which test_libpfm4.py builds and
        runs."""
        env = dict(os.environ, PERFMON_LIBPFM4_SOURCE=source_of(self, "libpfm4"))
        done = subprocess.run([
            sys.executable, os.path.join(SOURCE, "tests/peer/test_libpfm4.py"), "Source"
        ], env=env, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
        self.assertEqual(len(re.findall(r"^ok \d+ - \S+$", done.stdout, re.M)), 2,
                         done.stdout[-3000:])


if __name__ == "__main__":
    tap.main()
