#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where tasks wait: pfm record --off-cpu and pfm report --off-cpu, beside a program that measures
its own waits.

    PFM  the command (default: pfm of the path)
"""
import base64
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402
from test_record import PFM, Crafted, crafted_program  # noqa: E402

# The main thread waits for a mutex and for a pipe, and works. What it measures by the clock is the
# truth, whatever else the machine does.
PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turns[2], data[2];
static long lock_ns, pipe_ns;
static volatile unsigned x;
static long read_clock(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}
static void pause_ns(long n)
{
	struct timespec t = { 0, n };
	nanosleep(&t, NULL); /* waiting is what is measured */
}
__attribute__((noinline)) static char take(int fd)
{
	char c = 0;
	long before = read_clock(CLOCK_MONOTONIC);
	if (read(fd, &c, 1) != 1)
		_exit(9);
	pipe_ns += read_clock(CLOCK_MONOTONIC) - before;
	return c;
}
__attribute__((noinline)) static void lock(void)
{
	long before = read_clock(CLOCK_MONOTONIC);
	pthread_mutex_lock(&mutex);
	lock_ns += read_clock(CLOCK_MONOTONIC) - before;
	pthread_mutex_unlock(&mutex);
}
static void work(void)
{
	for (long i = 0; i < 15000000; i++)
		x += (unsigned)i;
}
__attribute__((noinline)) static void *help(void *arg)
{
	prctl(PR_SET_NAME, "helper");
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&mutex);
		if (write(turns[1], "t", 1) != 1)
			_exit(9);
		pause_ns(40000000);
		pthread_mutex_unlock(&mutex);
		pause_ns(30000000);
		if (write(data[1], "d", 1) != 1)
			_exit(9);
		pause_ns(30000000);
	}
	return arg;
}
int main(void)
{
	long begin = read_clock(CLOCK_MONOTONIC), all;
	pthread_t thread;
	if (pipe(turns) || pipe(data) || pthread_create(&thread, NULL, help, NULL))
		return 9;
	for (int i = 0; i < 10; i++) {
		take(turns[0]);
		lock();
		take(data[0]);
		work();
	}
	all = read_clock(CLOCK_MONOTONIC) - begin;
	printf("%ld %ld %ld %ld\n", all, lock_ns, pipe_ns, read_clock(CLOCK_THREAD_CPUTIME_ID));
	return 0;
}
"""


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perfmon-waits-")
        self.addCleanup(shutil.rmtree, self.folder)

    def pfm(self, *args):
        return subprocess.run([PFM, *args], cwd=self.folder, capture_output=True, text=True,
                              timeout=120, check=False)


class Waits(Folder):
    def record(self, *how):
        """Records the program. What it measured: wall, lock, pipe and CPU, in nanoseconds."""
        if not shutil.which("gcc"):
            self.skipTest("no C compiler (Debian: gcc)")
        with open(os.path.join(self.folder, "waiter.c"), "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", "waiter", "waiter.c"],
                       cwd=self.folder, check=True)
        done = self.pfm("record", "--off-cpu", *how, "-o", "w.data", "--", "./waiter")
        if done.returncode or "no samples" in done.stderr:
            self.skipTest(done.stderr)
        return map(int, done.stdout.split())

    def rows(self, *args):
        report = self.pfm("report", *args, "--json", "--task", "waiter", "w.data")
        self.assertEqual(report.returncode, 0, report.stderr)
        self.said = report.stderr
        return list(map(json.loads, report.stdout.splitlines()))

    def test_waits_are_as_long_as_the_program_measures(self):
        """Lock, pipe and CPU, as shares of the time of the main thread, within 2 points; all causes
        together are the whole time."""
        wall, lock, pipe, cpu = self.record()
        found = {}
        for row in self.rows("--off-cpu"):
            found[row["cause"]] = found.get(row["cause"], 0) + row["nanoseconds"]
        print("# measured: lock %.1f %%, pipe %.1f %%, CPU %.1f %%; reported:" %
              tuple(100 * n / wall for n in (lock, pipe, cpu)),
              {cause: "%.1f %%" % (100 * n / wall) for cause, n in found.items()})
        for cause, truth in ("lock", lock), ("pipe", pipe), ("CPU", cpu):
            self.assertAlmostEqual(found.get(cause, 0) / wall, truth / wall, delta=0.02, msg=cause)
        self.assertAlmostEqual(sum(found.values()) / wall, 1, delta=0.02)
        table = self.pfm("report", "--off-cpu", "--task", "waiter", "w.data").stdout
        self.assertRegex(table, r"s on CPUs, \d+\.\d{3} s of waiting, of all tasks together\n")
        self.assertRegex(table, r"(?m)^ *\d+\.\d\d% +\d+\.\d ms +\d+  lock +waiter +\S+$")
        if "not recorded" not in table:
            self.assertIn("switches; who ended them is from the tracepoint sched:sched_waking.\n",
                          table)
        folded = self.pfm("report", "--off-cpu", "--folded", "w.data").stdout
        self.assertRegex(folded, r"(?m)^waiter;.*futex.*_\[k\] \d+$")
        for name in "folded", "json":
            out = self.pfm("export", "--off-cpu", "-f", name, "-e", "context-switches", "w.data")
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertIn("futex", out.stdout)
        weights = [int(line.rsplit(" ", 1)[1]) for line in self.pfm(
            "export", "--off-cpu", "-f", "folded", "-e", "context-switches",
            "w.data").stdout.splitlines() if line.startswith("waiter;")]
        waited = sum(n for cause, n in found.items() if cause != "CPU")
        self.assertEqual(sum(weights), waited)

    def test_locks_have_an_address_a_place_and_who_released_them(self):
        _, lock, _, _ = self.record("--call-graph", "dwarf")
        if os.geteuid() != 0 or "not recorded" in self.pfm("report", "--locks", "w.data").stderr:
            self.skipTest("tracepoints cannot be read")
        rows = self.rows("--locks")
        self.assertEqual({r["waiter"]["function"] for r in rows}, {"lock"})
        self.assertEqual(len({r["lock"] for r in rows}), 1)
        self.assertEqual({r["waker"]["task"] + " in " + r["waker"]["function"] for r in rows
                          if "waker" in r}, {"helper in help"})
        known = sum(r["nanoseconds"] for r in rows if "waker" in r)
        self.assertGreater(known, 0.9 * sum(r["nanoseconds"] for r in rows))
        self.assertAlmostEqual(sum(r["nanoseconds"] for r in rows) / lock, 1, delta=0.05)
        of_pipe = [r for r in self.rows("--wakers") if r["cause"] == "pipe"]
        self.assertEqual({r["waiter"]["function"] for r in of_pipe}, {"take"})
        self.assertEqual({r["waker"]["function"] for r in of_pipe if "waker" in r}, {"help"})
        self.assertRegex(self.pfm("report", "--locks", "w.data").stdout,
                         r"(?m)ms +\d+  0x[0-9a-f]+ +waiter in lock +helper in help$")

    def test_who_may_not_see_tracepoints_is_told(self):
        done = self.pfm("report", "--locks", "--html", "x", "w.data")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--locks and --wakers can be combined with", done.stderr)
        env = dict(os.environ, PERFMON_SYSFS=self.folder)
        done = subprocess.run([PFM, "record", "--off-cpu", "-o", "x.data", "--", "true"], env=env,
                              cwd=self.folder, capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertIn("who ends a wait is not recorded: tracepoints cannot be read here",
                      done.stderr)


class ShortProcesses(Folder):
    def test_time_in_processes_that_are_too_short_to_be_sampled_is_said(self):
        command = "i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i + 1)); done"
        said = self.pfm("record", "-e", "cpu-clock", "--", "sh", "-c", command).stderr
        self.assertRegex(said, r"\d+ % of the CPU time is in processes that used less than 10 ms: "
                         r".*; -a samples CPUs")
        said = self.pfm("record", "-e", "cpu-clock", "--", "sh", "-c",
                        command.replace("40", "3")).stderr
        self.assertNotIn("used less than", said)


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class Switches(Folder):
    """Recordings with known switches."""

    def setUp(self):
        super().setUp()
        self.made = Crafted()
        attr = bytearray(112)
        struct.pack_into("<IIQQQ", attr, 0, 1, 112, 3, 1, 0x107)    # context-switches
        struct.pack_into("<Q", attr, 40, 1 << 18)
        self.made.record(64, bytes(attr) + struct.pack("<Q", 1), 0)
        self.made.comm(5, b"work")
        program = os.path.join(self.folder, "program")
        with open(program, "wb") as f:
            f.write(crafted_program([b"first", b"second"]))
        for pid in 5, 6:
            self.made.map(pid, 0x1000, program.encode())

    test_waits_are_as_long_as_the_program_measures = None

    def leave(self, address, time, tid=5):
        self.made.time = time - 1
        self.made.sample(tid, address)
        self.made.record(14, self.made.trailer(tid), 1 << 13)

    def come(self, time, tid=5):
        self.made.time = time - 1
        self.made.record(14, self.made.trailer(tid), 0)

    def end(self, time, tid):
        self.made.record(4, struct.pack("<IIIIQ", 5, 5, tid, 5, time) + self.made.trailer(tid))

    def rows(self):
        self.made.write(os.path.join(self.folder, "w.data"))
        done = self.pfm("report", "--off-cpu", "--json", "w.data")
        self.assertEqual(done.returncode, 0, done.stderr)
        sums = {}
        for row in map(json.loads, done.stdout.splitlines()):
            sums[row["function"]] = sums.get(row["function"], 0) + row["nanoseconds"]
        return sums, done.stderr

    def test_a_wait_ends_when_its_own_task_comes_back(self):
        self.leave(0x1004, 1000)
        self.leave(0x1014, 1500, tid=6)
        self.come(3000)
        self.leave(0x1004, 5000)
        self.come(5700, tid=6)
        self.come(6000)
        rows, said = self.rows()
        self.assertEqual(rows, {"first": 2000 + 1000, "second": 4200})
        self.assertEqual(said, "")

    def test_the_page_has_the_waits_as_times(self):
        self.leave(0x1004, 1000)
        self.come(3000)
        self.made.write(os.path.join(self.folder, "w.data"))
        done = self.pfm("report", "--off-cpu", "--html", "w.html", "w.data")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(os.path.join(self.folder, "w.html"), encoding="utf-8") as f:
            text = f.read()
        data = json.loads(text.split('id="data">', 1)[1].split("</script>", 1)[0])
        (recording,) = data["recordings"]
        packed = base64.b64decode(recording["samples"]["weight"])
        self.assertEqual((recording["samples"]["n"], packed[0] & 127 | packed[1] << 7), (1, 2000))
        self.assertEqual(recording["events"][0]["unit"], "nanoseconds")
        said = "Waits are from records of context switches; who ended them was not recorded."
        self.assertEqual(recording["waits"], said)
        self.assertIn("\n" + said + "\n", self.pfm("report", "--off-cpu", "w.data").stdout)

    def test_a_wait_that_does_not_end_is_as_long_as_the_recording(self):
        self.leave(0x1004, 1000)
        self.leave(0x1014, 2000, tid=6)
        self.come(9000, tid=6)
        rows, said = self.rows()
        self.assertEqual(rows, {"first": 8000, "second": 7000})
        self.assertIn("1 wait had not ended", said)

    def test_the_end_of_a_task_is_no_wait(self):
        self.leave(0x1004, 1000)
        self.come(1400)
        self.made.time = 2000
        self.end(2000, 5)
        self.leave(0x1014, 2100)
        self.leave(0x1004, 3000, tid=6)
        self.come(4000, tid=6)
        rows, said = self.rows()
        self.assertEqual(rows, {"first": 1400, "second": 0})
        self.assertEqual(said, "")

    def test_recordings_without_switches_are_refused(self):
        self.made.sample(5, 0x1004)
        self.made.write(os.path.join(self.folder, "w.data"))
        done = self.pfm("report", "--off-cpu", "w.data")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no records of context switches; take them with pfm record --off-cpu",
                      done.stderr)
        self.assertEqual(self.pfm("report", "--off-cpu", "--html", "x", "w.data").returncode, 1)
        self.assertIn("--off-cpu can be combined with",
                      self.pfm("report", "--off-cpu", "-g", "w.data").stderr)
        self.assertIn("--off-cpu cannot be combined",
                      self.pfm("record", "--off-cpu", "-M", "ipc", "--", "true").stderr)


if __name__ == "__main__":
    tap.main()
