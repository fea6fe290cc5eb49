#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results of regions survive the end of the process, whichever it is: each visit that had ended is
counted."""

import json
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", ".."),
                os.path.join(HERE, "..", "..", "support")]
import tap  # noqa: E402
from readable_copy import ReadableCopy  # noqa: E402
from waiting import wait_until  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
PROGRAM = os.path.join(os.environ.get("REGION_PROGRAMS", ""), "marked_ends")
KILLS = int(os.environ.get("REGION_KILLS", "50"))
CLEAN = {
    k: v for k, v in os.environ.items()
    if not k.startswith(("PERFMON_REGIONS", "LD_PRELOAD", "PAPI_"))
}
PYTHON = dict(CLEAN, PYTHONPATH=os.path.join(os.environ.get("PERFMON_BUILD", ""), "python"))
COUNT = [PFM, "stat", "--regions", "--json", "-e", "page-faults", "--"]


def count(*command, status=0, **options):
    """The rows of all threads together, the processes, and the messages."""
    done = subprocess.run([*COUNT, *command], capture_output=True, text=True, check=False,
                          **{"env": CLEAN, **options})
    if status is not None and done.returncode != status:
        raise AssertionError("status %d, expected %d: %s" % (done.returncode, status, done.stderr))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return ([r for r in lines if r.get("thread") == "all"], [r for r in lines if "program" in r],
            done.stderr)


def of(rows, region):
    return [r for r in rows if r["region"] == region]


def faults(row):
    return row["counts"][0]["inclusive"]


def counts_here():
    if not os.path.exists(PROGRAM):
        return False
    rows, _, _ = count(PROGRAM, "end", "return", status=None)
    return bool(rows) and rows[0]["counts"][0]["quality"] == "exact"


@unittest.skipUnless(counts_here(), "the kernel counts no page faults here")
class Ends(unittest.TestCase):
    def check_end(self, how, status):
        rows, processes, messages = count(PROGRAM, "end", how, status=status)
        work, opened = of(rows, "work"), of(rows, "open")
        self.assertEqual([(r["visits"], faults(r)) for r in work], [(3, 6)], how)
        self.assertEqual([(r["visits"], r["unfinished"]) for r in opened], [(0, 1)], how)
        self.assertEqual(len(processes), 1)
        return messages

    def test_visits_survive_each_signal(self):
        for how in ("TERM", "INT", "KILL", "ABRT", "SEGV", "HUP"):
            number = getattr(signal, "SIG" + how)
            with self.subTest(how):
                messages = self.check_end(how, 128 + number)
                self.assertIn("was killed by signal %d" % number, messages)
                self.assertIn("1 open visit", messages)

    def test_exits_without_handlers(self):
        for how in ("_exit", "exec"):
            with self.subTest(how):
                self.assertIn("1 open visit", self.check_end(how, 0))
        self.check_end("quick_exit", 0)

    def test_usual_end_has_no_message(self):
        for how in ("return", "system"):
            _, _, messages = count(PROGRAM, "end", how)
            self.assertEqual(messages, "")

    def test_workers_have_results_of_their_own(self):
        for how in ("return", "_exit", "KILL"):
            rows, processes, _ = count(PROGRAM, "workers", "3", how)
            self.assertEqual(sorted((r["visits"], faults(r)) for r in of(rows, "work")),
                             [(1, 2)] + [(3, 6)] * 3, how)
            self.assertEqual(len(processes), 4)

    def test_first_visit_of_a_forked_child_counts_nothing_of_the_library(self):
        rows, _, _ = count(PROGRAM, "child")
        self.assertEqual([(r["visits"], faults(r)) for r in of(rows, "empty")], [(1, 0)])

    def test_threads_that_share_a_record_are_counted_one_by_one(self):
        rows, _, _ = count(PROGRAM, "short", "1100")
        self.assertEqual([(r["visits"], faults(r), r["threads"]) for r in of(rows, "work")],
                         [(1100, 2200, 1100)])

    def test_ranks_are_in_the_results(self):
        for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
            _, processes, _ = count(PROGRAM, "end", "return", env=dict(CLEAN, **{name: "7"}))
            self.assertEqual([p["rank"] for p in processes], [7])
        _, processes, _ = count(PROGRAM, "end", "return")
        self.assertEqual([p["rank"] for p in processes], [None])

    def test_csv_of_processes_has_one_header(self):
        done = subprocess.run([PFM, "stat", "--regions=csv", "-e", "page-faults", "--", PROGRAM,
                               "workers", "2", "return"], capture_output=True, text=True,
                              check=True, env=CLEAN)
        heads = [line for line in done.stdout.splitlines() if line.startswith("process,")]
        self.assertEqual(len(heads), 1)
        self.assertEqual(len({line.split(",")[0] for line in done.stdout.splitlines()[1:]}), 3)

    def test_formats_of_one_process_have_a_file_for_each(self):
        """PAPI's and likwid's forms: a folder for several processes, else an error."""
        def work_of(text, form):
            if form == "likwid":
                return int(text.splitlines()[-1].split()[3]) if text else 0
            threads = json.loads(text)["threads"].values()
            return sum(r["name"] == "work" for t in threads for r in t["regions"].values())

        for form, suffix in (("papi", ".json"), ("likwid", ".txt")):
            with tempfile.TemporaryDirectory() as folder:
                out = os.path.join(folder, "out", "")
                command = [PFM, "stat", "--regions=" + form, "-o", out, "-e", "page-faults", "--",
                           PROGRAM, "workers", "2", "return"]
                subprocess.run(command, check=True, env=CLEAN, capture_output=True)
                self.assertEqual(sorted(os.listdir(out)),
                                 ["rank_%06d%s" % (i, suffix) for i in range(3)])
                for name in os.listdir(out):
                    with open(os.path.join(out, name), encoding="utf-8") as f:
                        self.assertTrue(work_of(f.read(), form), name)
                command[command.index(out)] = os.path.join(folder, "file")
                done = subprocess.run(command, check=False, env=CLEAN, capture_output=True,
                                      text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn("-o FOLDER/", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root")
    def test_process_that_has_changed_its_user(self):
        copy = ReadableCopy(PROGRAM)
        self.addCleanup(copy.remove)
        for how in ("return", "_exit"):
            rows, _, _ = count("setpriv", "--reuid=65534", "--clear-groups", copy.path(PROGRAM),
                               "end", how, env=copy.environment(CLEAN))
            self.assertEqual([(r["visits"], faults(r)) for r in of(rows, "work")], [(3, 6)])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root")
    def test_full_disk_is_an_error(self):
        script = "mount -t tmpfs -o size=%s none /mnt && TMPDIR=/mnt exec \"$@\""
        for size in ("4k", "24k"):
            done = subprocess.run(["unshare", "-m", "sh", "-c", script % size, "sh", *COUNT,
                                   PROGRAM, "short", "30"], capture_output=True, text=True,
                                  check=False, env=CLEAN)
            if "permission denied" in done.stderr or "unshare" in done.stderr:
                self.skipTest("cannot mount here")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("could not write", done.stderr)

    @unittest.skipUnless(os.path.isdir(os.path.join(PYTHON["PYTHONPATH"], "perfmon")),
                         "built without Python")
    def test_visits_of_python_workers_are_counted(self):
        script = ("import concurrent.futures, multiprocessing, perfmon\n"
                  "def work(i):\n"
                  "    with perfmon.region('task'):\n"
                  "        return i\n"
                  "if __name__ == '__main__':\n"
                  "    context = multiprocessing.get_context('%s')\n"
                  "    with context.Pool(2) as pool:\n"
                  "        pool.map(work, range(20), 1)\n"
                  "        pool.close()\n"
                  "        pool.join()\n"
                  "    process = context.Process(target=work, args=(0,))\n"
                  "    process.start()\n"
                  "    process.join()\n"
                  "    with concurrent.futures.ProcessPoolExecutor(2, context) as pool:\n"
                  "        list(pool.map(work, range(10)))\n")
        for method in ("fork", "spawn", "forkserver"):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "work.py")
                with open(path, "w", encoding="utf-8") as f:
                    f.write(script % method)
                rows, _, _ = count(sys.executable, path, env=PYTHON)
            self.assertEqual(sum(r["visits"] for r in of(rows, "task")), 31, method)

    def test_running_process_is_shown(self):
        """A snapshot by another pfm, and one at each interval. The sums of two page faults for each
        visit agree in each of them."""
        with tempfile.NamedTemporaryFile() as ended:
            ended.write(bytes(4096))
            ended.flush()
            with subprocess.Popen([*COUNT[:4], "-I", "20", *COUNT[4:], PROGRAM, "forever",
                                   ended.name], stdout=subprocess.PIPE, text=True,
                                  env=CLEAN) as pfm:
                lines = [json.loads(pfm.stdout.readline()) for _ in range(8)]
                child = subprocess.run(["pgrep", "-P", str(pfm.pid)], check=True,
                                       capture_output=True, text=True).stdout.strip()
                done = subprocess.run([PFM, "stat", "--regions", "--json", "-p", child],
                                      capture_output=True, text=True, check=True, env=CLEAN)
                os.kill(int(child), signal.SIGKILL)
                pfm.stdout.read()
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            rows = [r for r in [*lines, *rows] if r.get("region") == "work" and r["visits"]]
            self.assertTrue(rows)
            for r in rows:
                self.assertEqual((faults(r), r["counts"][0]["quality"]), (2 * r["visits"], "exact"))
        done = subprocess.run([PFM, "stat", "--regions", "-p", str(os.getpid())],
                              capture_output=True, text=True, check=False, env=CLEAN)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no results of regions", done.stderr)

    def test_command_of_a_killed_pfm_goes_on(self):
        """Its folder is removed by a later pfm."""
        with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as ended:
            env = dict(CLEAN, TMPDIR=folder)
            ended.write(bytes(4096))
            ended.flush()
            with mmap.mmap(ended.fileno(), 4096, prot=mmap.PROT_READ) as shared:
                def wait_for(n):
                    wait_until(lambda: struct.unpack_from("Q", shared)[0] >= n, "%d visits" % n)

                with subprocess.Popen([*COUNT, PROGRAM, "forever", ended.name], env=env,
                                      stdout=subprocess.DEVNULL) as pfm:
                    wait_for(1)
                    child = int(subprocess.run(["pgrep", "-P", str(pfm.pid)], check=True,
                                               capture_output=True, text=True).stdout)
                    pfm.kill()
                try:
                    wait_for(struct.unpack_from("Q", shared)[0] + 100)
                finally:
                    os.kill(child, signal.SIGKILL)
            left = [os.path.join(folder, name) for name in os.listdir(folder)]
            self.assertEqual(len(left), 1)
            os.utime(left[0], (0, 0))
            count(PROGRAM, "end", "return", env=env)
            self.assertEqual(os.listdir(folder), [])

    def test_processes_with_one_output_file_have_a_file_each(self):
        """Two ranks of a program that run at once; a later run replaces the results."""
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.json")
            env = dict(CLEAN, PERFMON_REGIONS="page-faults", PERFMON_REGIONS_FORMAT="json",
                       PERFMON_REGIONS_OUTPUT=out)
            ranks = [subprocess.Popen([PROGRAM, "end", "wait"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, env=dict(env, PMI_RANK=str(rank)))
                     for rank in range(2)]
            for process in ranks:
                process.stdout.read(1)
            for process in ranks:
                process.communicate()

            def rank_of(name):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    return json.loads(f.readline())["rank"]

            self.assertEqual({rank_of(name) for name in os.listdir(folder)}, {0, 1})
            self.assertEqual(sorted(os.listdir(folder)),
                             ["out.json", "out.json.%d" % ranks[1].pid])
            subprocess.run([PROGRAM, "end", "return"], check=True, env=env)
            self.assertEqual(rank_of("out.json"), None)

    def test_killed_at_any_moment(self):
        """The visits in the results are those that had ended, or one more for each thread that
        ended it just before it noted it. A row of counts that a visit was being added to is
        partial."""
        random.seed(KILLS)
        for _ in range(KILLS):
            with tempfile.NamedTemporaryFile() as ended:
                ended.write(bytes(4096))
                ended.flush()
                moment = random.randrange(1, 3000)
                with subprocess.Popen([*COUNT, PROGRAM, "forever", ended.name],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      env=CLEAN) as pfm:
                    with mmap.mmap(ended.fileno(), 4096, prot=mmap.PROT_READ) as shared:
                        while struct.unpack_from("Q", shared)[0] < moment:
                            if pfm.poll() is not None:
                                break
                        child = subprocess.run(["pgrep", "-P", str(pfm.pid)], check=True,
                                               capture_output=True, text=True).stdout
                        os.kill(int(child), signal.SIGKILL)
                        out, _ = pfm.communicate()
                        noted = [struct.unpack_from("Q", shared, at)[0] for at in (0, 512)]
                rows = [json.loads(line) for line in out.splitlines()]
                rows = [r for r in rows if isinstance(r.get("thread"), int)]
                self.assertTrue(rows)
                for n, row in zip(noted, sorted(rows, key=lambda r: r["thread"])):
                    self.assertIn(row["visits"], (n, n + 1))
                    if row["counts"][0]["quality"] == "exact":
                        self.assertEqual(faults(row), 2 * row["visits"])


if __name__ == "__main__":
    tap.main()
