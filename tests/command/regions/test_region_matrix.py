#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs in C and Fortran, and one with the marks in a shared library, behind wrappers: each cell
has the same page faults. REGION_MATRIX=all: all programs, else one of each interface."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..")]
import tap  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
PROGRAMS = os.environ.get("REGION_PROGRAMS", "")
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(("PERFMON_REGIONS", "LD_PRELOAD", "PAPI_", "OMPI_", "SLURM_", "PMI"))}
MPI = dict(CLEAN, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

# Region, visits, page faults with those inside.
FORTRAN = [("solve", 3, 12)]
LIBRARY = [("inside", 3, 12)]
PROGRAM = {
    "C, likwid": (["marked_likwid"], [("copy one", 6, 18), ("solve", 6, 36)]),
    "C, PAPI": (["marked_papi"], [("compute", 3, 21), ("inside", 3, 6)]),
    "Fortran, likwid": (["marked_fortran_likwid"], FORTRAN),
    "Fortran, PAPI": (["marked_fortran_papi"], FORTRAN),
    "library, likwid": (["marked_library"], LIBRARY),
    "library, PAPI": (["marked_library", "papi"], LIBRARY),
}
USUAL = ("C, likwid", "Fortran, PAPI")
# As srun starts its tasks: in sessions of their own, with their ranks in the environment.
SRUN = """for rank in 0 1; do SLURM_PROCID=$rank setsid -w "$@" & done; wait"""
WRAPPERS = {
    "direct": [],
    "sh": ["sh", "-c", '"$@"; exit $?', "sh"],
    "env": ["env", "X=1"],
    "numactl": ["numactl", "-l"],
    "mpirun": ["mpirun", "--oversubscribe", "-n", "2"],
    "srun-like": ["sh", "-c", SRUN, "srun"],
}
RANKS = {"mpirun": [0, 1], "srun-like": [0, 1]}
WRITER = "needs papi_hl_output_writer (Debian package papi-tools)"


def count(wrapper, command):
    done = subprocess.run([PFM, "stat", "--regions", "--json", "-e", "page-faults", "--", *wrapper,
                           os.path.join(PROGRAMS, command[0]), *command[1:]], capture_output=True,
                          text=True, check=False, env=MPI)
    if done.returncode:
        raise AssertionError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def counts_here():
    if not os.path.exists(os.path.join(PROGRAMS, "marked_papi")):
        return False
    rows = count([], ["marked_papi"])
    return rows[1]["counts"][0]["quality"] == "exact"


@unittest.skipUnless(counts_here(), "the kernel counts no page faults here")
class Matrix(unittest.TestCase):
    def check(self, kind):
        wrapper = WRAPPERS[kind]
        if wrapper and not shutil.which(wrapper[0]):
            self.skipTest("needs the command %s%s" % (wrapper[0], {
                "mpirun": " (Debian package openmpi-bin)", "numactl": " (Debian package numactl)"
            }.get(wrapper[0], "")))
        for name in PROGRAM if os.environ.get("REGION_MATRIX") == "all" else USUAL:
            command, want = PROGRAM[name]
            with self.subTest(name):
                if not os.path.exists(os.path.join(PROGRAMS, command[0])):
                    self.skipTest("built without the Debian packages likwid, libpapi-dev and "
                                  "gfortran")
                rows, processes = count(wrapper, command), {}
                ranks = [r["rank"] for r in rows if "program" in r]
                self.assertEqual(sorted(ranks, key=str), RANKS.get(kind, [None]))
                for r in rows:
                    if r.get("thread") == "all" and r["region"] != "first":
                        processes.setdefault(r["process"], []).append(
                            (r["region"], r["visits"], r["counts"][0]["inclusive"]))
                self.assertEqual([sorted(p) for p in processes.values()], [want] * len(ranks))


for KIND in WRAPPERS:
    setattr(Matrix, "test_" + KIND.replace("-", "_"), lambda self, kind=KIND: self.check(kind))


@unittest.skipUnless(counts_here(), "the kernel counts no page faults here")
class Exports(unittest.TestCase):
    """Two ranks, each with a file or a part of one."""

    def export(self, form, *args, program="marked_papi", wrapper="srun-like"):
        done = subprocess.run([PFM, "stat", "--regions=" + form, "-e", "page-faults", *args, "--",
                               *WRAPPERS[wrapper], os.path.join(PROGRAMS, program)],
                              capture_output=True, text=True, check=False, env=CLEAN)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def summarize(self, folder, kind="summary"):
        """The report that PAPI's script computes from the files in @folder."""
        done = subprocess.run(["papi_hl_output_writer", "--source", folder, "--type", kind,
                               "--notation", "raw"],
                              capture_output=True, text=True, check=False, cwd=folder + "/..")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @unittest.skipUnless(shutil.which("papi_hl_output_writer"), WRITER)
    def test_writer_of_papi_reads_the_file_of_each_rank(self):
        """It counts three visits of each rank, as in files of PAPI itself."""
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "papi_hl_output/")
            self.export("papi", "-o", out)
            self.assertEqual(sorted(os.listdir(out)), ["rank_000000.json", "rank_000001.json"])
            summary = self.summarize(out)
            for region, faults in (("compute", 7), ("inside", 2)):
                r = summary[region]
                self.assertEqual((r["region_count"], r["Number of ranks"]), (6, 2), summary)
                of = r["page-faults"]
                self.assertEqual((of["total"], of["min"], of["max"]),
                                 (6 * faults, faults, faults), summary)

    @unittest.skipUnless(shutil.which("papi_hl_output_writer"), WRITER)
    @unittest.skipUnless(os.path.exists(os.path.join(PROGRAMS, "marked_libpapi")),
                         "needs the Debian package libpapi-dev")
    def test_regions_are_those_of_the_file_that_papi_writes(self):
        """The same program, counted by its libpapi. PAPI needs a PMU, which is a pretended one; the
        page faults are real, and PAPI's memory has some of its own in a visit."""
        program = os.path.join(PROGRAMS, "marked_libpapi")
        with tempfile.TemporaryDirectory() as folder:
            theirs, ours = (os.path.join(folder, name) for name in ("papi_hl_output", "ours"))
            library = os.environ.get("PERFMON_LIBPFM4", "")
            env = dict(CLEAN, PAPI_EVENTS="perf::PAGE-FAULTS", PAPI_OUTPUT_DIRECTORY=folder,
                       LD_LIBRARY_PATH=library)
            done = subprocess.run([PFM, "pretend", "--cpu", "skl", "--", "env", "-u",
                                   "LIBPFM_FORCE_PMU", program],
                                  capture_output=True, text=True, check=False, env=env)
            if not os.path.isdir(theirs) or done.stderr:
                self.skipTest("libpapi counts nothing here: " + done.stderr.strip()[-200:])
            self.export("papi", "-o", ours + "/", wrapper="direct", program="marked_libpapi")
            want, found = self.summarize(theirs), self.summarize(ours)
            self.assertEqual([(name, r["region_count"]) for name, r in found.items()],
                             [(name, r["region_count"]) for name, r in want.items()])
            self.assertEqual([r["page-faults"]["min"] for r in found.values()],
                             [r["perf::PAGE-FAULTS"]["min"] for r in want.values()])
            records = [[{number: (r["name"], r["parent_region_id"])
                         for number, r in thread["regions"].items()}
                        for rank in self.summarize(out, "detail")["ranks"].values()
                        for thread in rank["threads"].values()] for out in (ours, theirs)]
            self.assertEqual(records[0], records[1])

    def test_file_of_likwid_for_each_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "marks/")
            self.export("likwid", "-o", out)
            self.assertEqual(sorted(os.listdir(out)), ["rank_000000.txt", "rank_000001.txt"])
            for name in os.listdir(out):
                with open(os.path.join(out, name), encoding="utf-8") as f:
                    head, *lines = f.read().splitlines()
                self.assertEqual((head, lines[:2]), ("1 2 1", ["0:compute-0", "1:inside-0"]))
                fields = [line.split() for line in lines[2:]]
                self.assertEqual([(f[0], f[3], float(f[6])) for f in fields],
                                 [("0", "3", 21.0), ("1", "3", 6.0)])

    def test_columns_have_one_header(self):
        lines = self.export("csv").splitlines()
        self.assertEqual([i for i, line in enumerate(lines) if line.startswith("process,")], [0])
        self.assertEqual(len({line.split(",")[0] for line in lines[1:]}), 2)

    def test_drawings_name_each_process(self):
        events = json.loads(self.export("chrome"))["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertEqual(sorted(names), sorted({e["pid"] for e in events if e["ph"] == "X"}))
        self.assertEqual(sorted(names.values()), ["marked_papi, rank 0", "marked_papi, rank 1"])
        threads = json.loads(self.export("firefox"))["threads"]
        self.assertEqual(sorted(t["processName"] for t in threads),
                         ["marked_papi, rank 0", "marked_papi, rank 1"])
        self.assertEqual(len({t["pid"] for t in threads}), 2)


if __name__ == "__main__":
    tap.main()
