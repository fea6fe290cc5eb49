#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm stat --regions --by: ranks, processes and threads of programs with a known number of page
faults; pfm regions and folders that are kept."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..")]
import tap  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
FOLDER = os.environ.get("REGION_PROGRAMS", "")
MARKED = os.path.join(FOLDER, "marked_perfmon")
ENDS = os.path.join(FOLDER, "marked_ends")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("PERFMON_REGIONS", "OMPI_",
                                                                   "PMI"))}
# Two ranks: 100 and 107 page faults in a visit of region 3.
RANKS = "OMPI_COMM_WORLD_RANK=0 %s many 0 & OMPI_COMM_WORLD_RANK=1 %s many 7 & wait" % (ENDS, ENDS)
COUNT = ["stat", "--regions", "-e", "page-faults"]


def run(*args, status=0, env=None):
    done = subprocess.run([PFM, *args], capture_output=True, text=True, check=False,
                          env=env or CLEAN)
    if done.returncode != status:
        raise AssertionError("status %d, expected %d: %s" % (done.returncode, status, done.stderr))
    return done


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


def counts_here():
    if not os.path.exists(MARKED):
        return False
    return '"exact"' in run(*COUNT, "--json", "--", MARKED).stdout


@unittest.skipUnless(counts_here(), "the kernel counts no page faults here")
class Units(unittest.TestCase):
    def test_ranks_as_computed_from_the_json_of_each(self):
        spread = {(r["region"], r["metric"]): r
                  for r in rows_of(run(*COUNT, "--json", "--by", "rank", "--", "sh", "-c",
                                       RANKS).stdout)}
        rank, values = None, {}
        for row in rows_of(run(*COUNT, "--json", "--", "sh", "-c", RANKS).stdout):
            rank = row.get("rank", rank)
            if row.get("thread") == "all":
                values.setdefault(row["region"], {})[rank] = row["counts"][0]["inclusive"]
        self.assertEqual(len(values), 40)
        for region, of in values.items():
            r = spread[region, "page-faults"]
            self.assertEqual((r["min"], r["max"], r["mean"]),
                             (min(of.values()), max(of.values()), sum(of.values()) / 2), region)
            self.assertEqual(r["imbalance"], r["max"] / r["mean"] - 1)
        r = spread["region 3", "page-faults"]
        self.assertEqual((r["min"], r["max"], r["min_unit"], r["max_unit"]), (300, 321, 0, 1))
        self.assertEqual(spread["region 3", "visits"]["mean"], 3)

    def test_processes_of_a_rank_are_added_up(self):
        both = "OMPI_COMM_WORLD_RANK=4 sh -c '%s many 0 & %s many 0 & wait'" % (ENDS, ENDS)
        rows = rows_of(run(*COUNT, "--json", "--by", "rank", "--", "sh", "-c", both).stdout)
        [r] = [r for r in rows if (r["region"], r["metric"]) == ("region 3", "page-faults")]
        self.assertEqual((r["units"], r["min"], r["max"], r["max_unit"]), (1, 600, 600, 4))

    def test_threads(self):
        rows = rows_of(run(*COUNT, "--json", "--by", "thread", "--", MARKED).stdout)
        found = {r["region"]: (r["units"], r["min"], r["mean"], r["max"], r["imbalance"])
                 for r in rows if r["metric"] == "page-faults"}
        self.assertEqual(found["threads"], (3, 3, 3, 3, 0))
        self.assertEqual(found["outer"], (1, 28, 28, 28, 0))

    def test_table_of_processes_fits_a_terminal(self):
        text = run(*COUNT, "--by", "process", "--", "sh", "-c", RANKS).stderr
        lines = text.splitlines()
        self.assertIn("region 3: 2 processes", lines)
        self.assertTrue(all(len(line) <= 80 for line in lines), text)
        line = lines[lines.index("region 3: 2 processes") + 3]
        self.assertRegex(line, r"^page-faults +300 +310\.5 +321 +3\.4 %  \d+$")

    def test_processes_without_a_rank(self):
        done = run(*COUNT, "--by", "rank", "--", MARKED, status=1)
        self.assertIn("1 process has no rank: OMPI_COMM_WORLD_RANK", done.stderr)

    def test_refusals(self):
        for args, message in ((["--by", "core"], "expected rank, process or thread"),
                              (["--by", "rank", "-r", "2"], "--by shows one run"),
                              (["--by", "rank", "-x", ","], "table or JSON")):
            self.assertIn(message, run(*COUNT, *args, "--", "true", status=2).stderr)


@unittest.skipUnless(counts_here(), "the kernel counts no page faults here")
class Folders(unittest.TestCase):
    def test_kept_folder_is_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            env = dict(CLEAN, TMPDIR=folder)
            done = run(*COUNT, "--keep", "--json", "--", "sh", "-c", RANKS, env=env)
            kept = re.search("the results are in (.*)", done.stderr)[1]
            self.assertEqual(os.listdir(folder), [os.path.basename(kept)])
            os.utime(kept, (1, 1))
            run(*COUNT, "--", MARKED, env=env)    # removes orphaned folders
            self.assertEqual(run("regions", "--json", kept).stdout, done.stdout)
            spread = rows_of(run("regions", "--json", "--by", "rank", kept).stdout)
            self.assertEqual(len(spread), 120)
            self.assertIn("region 3: 3 visits", run("regions", kept).stdout)

    def test_running_program(self):
        with tempfile.NamedTemporaryFile() as ended, tempfile.TemporaryDirectory() as folder:
            ended.write(bytes(4096))
            ended.flush()
            env = dict(CLEAN, PERFMON_REGIONS="page-faults", PERFMON_REGIONS_OUTPUT=folder + "/")
            with subprocess.Popen([ENDS, "forever", ended.name], env=env) as program:
                done = None
                while not done or done.returncode:
                    done = subprocess.run([PFM, "regions", "--json", "-p", str(program.pid)],
                                          capture_output=True, text=True, check=False, env=CLEAN)
                    self.assertIsNone(program.poll())
                table = run("regions", "-p", str(program.pid)).stdout
                program.send_signal(signal.SIGKILL)
            [row] = [r for r in rows_of(done.stdout) if r.get("thread") == "all"]
            self.assertEqual(row["counts"][0]["inclusive"], 2 * row["visits"])
            self.assertRegex(table, r"work: [\d,]+ visits? in 2 threads|work: [\d,]+ visit")
            [kept] = [f for f in os.listdir(folder) if f.endswith(".regions")]
            self.assertTrue(kept)
            self.assertIn("work: ", run("regions", folder).stdout)

    def test_refusals(self):
        self.assertIn("expected -p PID or one folder", run("regions", status=2).stderr)
        self.assertIn("expected -p PID or one folder", run("regions", "-p", "1", "x",
                                                           status=2).stderr)
        self.assertIn("No such file", run("regions", "/nonexistent", status=1).stderr)
        self.assertIn("expected a folder", run("regions", "/etc/passwd", status=1).stderr)
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("no results of regions", run("regions", folder, status=1).stderr)


if __name__ == "__main__":
    tap.main()
