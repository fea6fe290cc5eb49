#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm stat beside what is known otherwise: pages that a program touches, clocks, the kernel's own
topology files, signals."""
import csv
import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import tap
from waiting import start_counting, wait_until

PFM = os.environ.get("PFM", "pfm")
CLEAN = {
    k: v for k, v in os.environ.items()
    if not k.startswith(("PERFMON_", "LIBPFM_", "LC_")) and k not in ("NO_COLOR", "LANG")
}
CLEAN["PERFMON_EVENTS"] = "/nonexistent"
PAGES = 2000
# Touches so many pages, in a second thread if asked for, when a line arrives; says when it is ready
# and when it is done.
TOUCH = """
import mmap, sys, threading
def touch(n):
    m = mmap.mmap(-1, n * mmap.PAGESIZE)
    if hasattr(m, "madvise"):
        m.madvise(mmap.MADV_NOHUGEPAGE)
    for i in range(n):
        m[i * mmap.PAGESIZE] = 1
def wait():
    ready.wait()
    touch(int(sys.argv[1]))
ready = threading.Event()
threads = [threading.Thread(target=wait, name="toucher")] if sys.argv[2:] else []
for t in threads: t.start()
print("ready", flush=True)
sys.stdin.readline()
ready.set()
for t in threads: t.join()
if not threads: touch(int(sys.argv[1]))
print("done", flush=True)
sys.stdin.readline()
"""


def stat(*args, env=None, **more):
    more = {"stdin": subprocess.DEVNULL, "timeout": 60, **more}
    return subprocess.run([PFM, "stat", *args], env=dict(CLEAN, **(env or {})), capture_output=True,
                          text=True, **more)


def command_of(pid):
    try:
        with open("/proc/%s/cmdline" % pid, "rb") as f:
            return f.read()
    except OSError: # it has ended
        return b""


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


class Toucher:
    """A process that waits, touches pages, waits."""

    def __init__(self, pages, *more):
        self.p = subprocess.Popen([sys.executable, "-S", "-c", TOUCH,
                                   str(pages), *more], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        self.pid = self.p.pid
        self.p.stdout.readline()

    def go(self):
        self.p.stdin.write("\n")
        self.p.stdin.flush()
        self.p.stdout.readline()

    def end(self):
        self.p.stdin.close()
        self.p.stdout.close()
        self.p.wait()


class Case(unittest.TestCase):
    def counted(self, *args, events="page-faults:u", touchers=()):
        """Objects of a count of touchers, which start once all events are open and whose exit ends
        the count."""
        p = start_counting([PFM, "stat", None, "--json", "-e", events, *args], env=CLEAN,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for t in touchers:
            t.go()
        for t in touchers:
            t.end()
        out, err = p.communicate(timeout=60)
        self.assertIn(p.returncode, (0, 1), err)
        return objects(out)

    def near(self, got, wanted, slack=PAGES // 4):
        self.assertGreaterEqual(got, wanted)
        self.assertLess(got, wanted + slack)


class Tasks(Case):
    def test_several_processes_are_one_sum(self):
        a, b = Toucher(PAGES), Toucher(2 * PAGES)
        (o,) = self.counted("-p", "%d,%d,%d" % (a.pid, b.pid, a.pid), touchers=(a, b))
        self.assertEqual(o["quality"], "exact")
        self.near(o["value"], 3 * PAGES)

    def test_each_thread_has_a_row(self):
        a = Toucher(PAGES, "thread")
        rows = self.counted("-p", str(a.pid), "--per-thread", touchers=(a,))
        self.assertEqual(len(rows), 2)
        values = {o["thread"]: o["value"] or 0 for o in rows}
        (leader,) = [v for k, v in values.items() if k.endswith("-%d" % a.pid)]
        (other,) = [v for k, v in values.items() if not k.endswith("-%d" % a.pid)]
        self.near(other, PAGES)
        self.assertLess(leader, PAGES // 2)

    def test_one_thread_is_not_its_process(self):
        a = Toucher(PAGES, "thread")
        tids = [int(t) for t in os.listdir("/proc/%d/task" % a.pid)]
        (o,) = self.counted("-t", str(a.pid), touchers=(a,))
        self.assertLess(o["value"] or 0, PAGES // 2)
        self.assertEqual(len(tids), 2)

    def test_processes_and_threads_are_counted_together(self):
        a, b = Toucher(PAGES), Toucher(PAGES, "thread")
        (thread,) = [int(t) for t in os.listdir("/proc/%d/task" % b.pid) if int(t) != b.pid]
        (o,) = self.counted("-p", str(a.pid), "-t", str(thread), touchers=(a, b))
        self.near(o["value"], 2 * PAGES)

    def test_a_thread_of_a_process_is_counted_once(self):
        for ids in (("-p", "{pid}", "-t", "{tid}"), ("-p", "{tid},{pid}"), ("-p", "{pid}", "-t",
                                                                            "{pid}")):
            a = Toucher(PAGES, "thread")
            (thread,) = [int(t) for t in os.listdir("/proc/%d/task" % a.pid) if int(t) != a.pid]
            (o,) = self.counted(*[x.format(pid=a.pid, tid=thread) for x in ids], touchers=(a,))
            self.near(o["value"], PAGES)

    def test_an_event_that_is_there_twice_has_two_counts(self):
        for events in "page-faults:u,page-faults:u", "{page-faults:u,page-faults:u}":
            a, b = Toucher(PAGES), Toucher(PAGES)
            rows = self.counted("-p", "%d,%d" % (a.pid, b.pid), events=events, touchers=(a, b))
            self.assertEqual(len(rows), 2)
            for o in rows:
                self.near(o["value"], 2 * PAGES)

    def test_refuses_bad_process_numbers(self):
        for wrong in ("x", "", "1,", "0", "-1", "1,,2", "99999999999"):
            r = stat("-p", wrong)
            self.assertEqual(r.returncode, 2, wrong)
            self.assertIn("-p: expected task numbers", r.stderr)


class Groups(Case):
    MOUNT = next(
        (line.split()[1]
         for line in open("/proc/self/mounts", encoding="utf-8") if line.split()[2] == "cgroup2"),
        None)

    def setUp(self):
        if not self.MOUNT:
            self.skipTest("no cgroup2 is mounted")
        self.names = ["perfmon-test-%d-%s" % (os.getpid(), c) for c in "ab"]
        for name in self.names:
            try:
                os.mkdir(os.path.join(self.MOUNT, name))
            except OSError as e:
                self.skipTest("no control group can be made: %s" % e)
            self.addCleanup(os.rmdir, os.path.join(self.MOUNT, name))
        r = stat("-a", "--timeout", "1", "--json", "-e", "page-faults")
        if objects(r.stdout)[0]["value"] is None:
            self.skipTest("this user may not count CPUs")

    def put(self, toucher, name):
        with open(os.path.join(self.MOUNT, name, "cgroup.procs"), "w", encoding="ascii") as f:
            f.write(str(toucher.pid))

    def count_both(self, *args, events="page-faults:u"):
        a, b = Toucher(PAGES), Toucher(3 * PAGES)
        for toucher, name in zip((a, b), self.names):
            self.put(toucher, name)
        return self.counted(*args, "--timeout", "3000", events=events, touchers=(a, b))

    def test_each_group_has_a_row(self):
        rows = self.count_both("--for-each-cgroup", ",".join(self.names))
        self.assertEqual([o["cgroup"] for o in rows], self.names)
        self.near(rows[0]["value"], PAGES)
        self.near(rows[1]["value"], 3 * PAGES)

    def test_a_group_that_is_named_twice(self):
        rows = self.count_both("--for-each-cgroup", ",".join(self.names + self.names[:1]))
        self.assertEqual([o["cgroup"] for o in rows], self.names)
        self.near(rows[0]["value"], PAGES)

    def test_one_group_for_every_event(self):
        rows = self.count_both("-G", self.names[1], events="page-faults:u,minor-faults:u")
        for o in rows:
            self.near(o["value"], 3 * PAGES)

    def test_a_group_for_each_event(self):
        rows = self.count_both("-G", ",".join(self.names), events="page-faults:u,minor-faults:u")
        self.assertEqual([o["cgroup"] for o in rows], self.names)
        self.near(rows[0]["value"], PAGES)
        self.near(rows[1]["value"], 3 * PAGES)

    def test_ratios_stay_within_a_group(self):
        """Faults of one group in a second of another's time are nothing."""
        rows = objects(
            stat("--json", "--timeout", "100", "-G", "/,", "-e", "page-faults,task-clock").stdout)
        self.assertEqual([o["cgroup"] for o in rows], ["/", ""])
        self.assertNotIn("ratio", rows[0])
        self.assertEqual(rows[1]["ratio"], "cpus_used")

    def test_each_core_of_each_group(self):
        names = ",".join(self.names)
        for words in (["--for-each-cgroup", names,
                       "--per-cpu"], ["--per-cpu", "--for-each-cgroup", names]):
            rows = objects(stat("--json", "--timeout", "10", "-e", "task-clock", *words).stdout)
            cpus = [o["cpu"] for o in rows if o["cgroup"] == self.names[0]]
            self.assertEqual([(o["cgroup"], o["cpu"]) for o in rows],
                             [(name, cpu) for name in self.names for cpu in cpus])
            self.assertEqual(len(set(cpus)), len(os.sched_getaffinity(0)))
        text = stat("--timeout", "10", "-e", "task-clock", "--per-cpu", "--for-each-cgroup",
                    names).stdout
        self.assertIn("  %s CPU %s " % (self.names[1], cpus[0]), text)
        names, first = list(
            csv.reader(
                io.StringIO(stat("-x", ",", "--timeout", "10", "-e", "task-clock",
                                 *words).stdout)))[:2]
        self.assertEqual((names[0], first[0]),
                         ("cgroup_cpu", "%s CPU %s" % (self.names[0], cpus[0])))

    def test_more_groups_than_events(self):
        r = stat("-G", ",".join(self.names * 2), "-e", "page-faults", "--timeout", "10")
        self.assertEqual(r.returncode, 1)
        self.assertIn("more names than the 1 event", r.stderr)

    def test_a_group_that_is_not_there(self):
        r = stat("-G", "perfmon-no-such-group", "-e", "page-faults", "--timeout", "10")
        self.assertEqual(r.returncode, 1)
        self.assertIn("perfmon-no-such-group: No such file", r.stderr)


class Times(Case):
    def test_time_before_the_program_is_not_missing(self):
        """A child's processor time includes what it does between fork and exec; its counts do
        not."""
        env = dict(os.environ, LD_PRELOAD=os.path.join(os.environ["PERFMON_BUILD"], "tests",
                                                       "libslow_fork.so"))
        (count,) = objects(stat("--json", "-e", "page-faults:u", "--", "true", env=env).stdout)
        if count["quality"] == "not supported":
            self.skipTest(count["why"])
        self.assertEqual((count["quality"], count.get("why")), ("exact", None))

    def test_clocks_of_the_run_are_events(self):
        rows = {
            o["event"]: o for o in objects(
                stat("--json", "-e", "duration_time,user_time,system_time", "--", "sleep",
                     "0.3").stdout)
        }
        self.assertEqual(rows["duration_time"]["unit"], "ns")
        self.assertGreater(rows["duration_time"]["value"], 0.3e9)
        self.assertAlmostEqual(rows["duration_time"]["value"] / 1e9,
                               rows["duration_time"]["elapsed"], places=3)
        self.assertLess(rows["user_time"]["value"] + rows["system_time"]["value"], 0.2e9)
        busy = "import time\nwhile time.process_time() < 0.2: pass"
        rows = {
            o["event"]: o["value"] for o in objects(
                stat("--json", "-e", "user_time,system_time", "--", sys.executable, "-S", "-c",
                     busy).stdout)
        }
        self.near(rows["user_time"] + rows["system_time"], 0.2e9, 0.1e9)
        rows = {
            o["event"]: o["value"] for o in objects(
                stat("--json", "-e", "user_time,system_time", "--", sys.executable, "-S", "-c",
                     "for i in range(5000000): pass").stdout)
        }
        self.assertGreater(rows["user_time"], rows["system_time"])

    def test_a_time_that_is_over_ends_the_command(self):
        began = time.monotonic()
        r = stat("--timeout", "300", "--json", "-e", "duration_time", "--", "sleep", "20")
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertGreater(objects(r.stdout)[0]["value"], 0.3e9)
        self.assertEqual(r.stderr, "")

    def test_a_command_that_does_not_want_to_end(self):
        stubborn = (
            "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True);"
            " signal.pause()"
        )
        began = time.monotonic()
        r = stat("--timeout", "1000", "-x,", "-e", "duration_time", "--", sys.executable, "-S",
                 "-c", stubborn)
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual((r.returncode, r.stdout), (0, "ready\n"))
        self.assertIn("duration_time", r.stderr)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no full device")
    def test_counts_that_cannot_be_written(self):
        for form in [], ["-x,"], ["-I", "50"]:
            for command, status in ("exit 0", 1), ("exit 3", 3):
                with open("/dev/full", "w",
                          encoding="ascii") as full, self.subTest(form=form, command=command):
                    r = subprocess.run(
                        [PFM, "stat", *form, "-e", "page-faults:u", "--", "sh", "-c", command],
                        env=CLEAN, timeout=60, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                        stderr=full, check=False)
                    self.assertEqual(r.returncode, status)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no full device")
    def test_counting_ends_when_the_file_is_full(self):
        """Nothing else would end these, but a command goes on to its own end."""
        for whom, status in (["-p", str(os.getpid())],
                             1), (["-a"], 1), (["--", "sh", "-c", "sleep 0.3; exit 3"], 3):
            with self.subTest(whom=whom):
                r = stat("-I", "20", "-o", "/dev/full", "-e", "page-faults:u", *whom, timeout=20)
                self.assertEqual(r.returncode, status)
                self.assertIn("/dev/full: No space left", r.stderr)
        r, w = os.pipe()
        os.close(r)
        # the pipe has no reader, and SIGPIPE is ignored, as in Python
        p = subprocess.Popen(
            [PFM, "stat", "-I", "20", "--json", "-e", "page-faults:u", "-p",
             str(os.getpid())], env=CLEAN, stdout=w, restore_signals=False)
        os.close(w)
        self.assertEqual(p.wait(20), 1)

    @unittest.skipUnless(shutil.which("strace"), "no strace")
    def test_command_ends_if_pfm_is_killed_before_start(self):
        """The command waits until its counts are open. If pfm is killed before that, the command
        ends without having started."""
        mark = "300.%d" % os.getpid()
        subprocess.run([
            "strace", "-qq", "-o", "/dev/null", "-e", "inject=perf_event_open:signal=KILL", PFM,
            "stat", "-e", "page-faults", "sleep", mark
        ], check=False, capture_output=True, timeout=60)
        def find_waiting():
            return [pid for pid in filter(str.isdigit, os.listdir("/proc"))
                    if mark.encode() in command_of(pid)]

        try:
            wait_until(lambda: not find_waiting(), "no process is left that waits")
        finally:
            for pid in find_waiting():
                os.kill(int(pid), signal.SIGKILL)

    def test_so_many_intervals(self):
        rows = objects(
            stat("-I", "50", "--interval-count", "3", "--json", "-e", "page-faults", "--", "sleep",
                 "20").stdout)
        self.assertEqual(len(rows), 3)

    def test_time_that_is_so_many_intervals(self):
        """The last interval is as long as the others, and no sliver is left behind it."""
        rows = objects(
            stat("-I", "200", "--timeout", "400", "--json", "-e", "task-clock", "--", "sleep",
                 "20").stdout)
        ends = [0] + [o["time"] for o in rows]
        self.assertGreater(min(b - a for a, b in zip(ends, ends[1:])), 0.01)
        self.assertEqual([o["elapsed"] > 0.01 for o in rows], [True] * len(rows))
        self.assertGreaterEqual(ends[-1], 0.4)
        # An interval that the timeout cuts short is shown.
        self.assertEqual(len(objects(stat("-I", "20000", "--timeout", "50", "--json", "-e",
                                          "task-clock", "--", "sleep", "20").stdout)), 1)

    def test_intervals_end_with_the_reasons(self):
        r = stat("-I", "20", "--interval-count", "3", "-e", "page-faults,coreduo::Instr_Ret", "--",
                 "sleep", "20")
        lines, _, why = r.stderr.partition("\n\n")
        self.assertEqual(len(lines.splitlines()), 6)
        self.assertRegex(why, r"^  coreduo::Instr_Ret:\n    \S")
        self.assertEqual(
            len(
                stat("-I", "20", "--interval-count", "3", "-x", ",", "-e", "coreduo::Instr_Ret",
                     "--", "sleep", "20").stderr.splitlines()), 1 + 3)

    def test_nothing_is_counted_before_the_delay(self):
        early = "import mmap,time\nm=mmap.mmap(-1,2000*4096)\nm.madvise(mmap.MADV_NOHUGEPAGE)\n" \
                "for i in range(2000): m[i*4096]=1\ntime.sleep(1.5)"    # longer than the delay
        whole, late = (objects(
            stat(*more, "--json", "-e", "page-faults:u", "--", sys.executable, "-S", "-c",
                 early).stdout)[0]["value"] for more in ((), ("-D", "1000")))
        self.assertGreaterEqual(whole, 2000)
        self.assertLess(late or 0, 500)

    def test_a_command_that_ends_before_the_delay(self):
        r = stat("-D", "5000", "-e", "page-faults", "--", "true")
        self.assertIn(r.returncode, (0, 1))
        self.assertIn("not counted", r.stderr)
        self.assertIn("within the delay of -D: nothing was counted", r.stderr)
        rows = objects(
            stat("-D", "5000", "-I", "10", "--json", "-e", "page-faults,duration_time", "--",
                 "sleep", "0.1").stdout)
        self.assertEqual([(o["value"], o["quality"], o["elapsed"]) for o in rows],
                         [(None, "not counted", 0)] * 2)


class Waiting(Case):
    @unittest.skipUnless(shutil.which("strace"), "strace is missing (Debian package strace)")
    def test_the_end_of_the_command_is_not_polled(self):
        """One look for each interval and one for the end."""
        with tempfile.NamedTemporaryFile() as log:
            done = subprocess.run([
                "strace", "-qq", "-e", "trace=wait4", "-e", "signal=none", "-o", log.name,
                shutil.which(PFM), "stat", "-I", "500", "-e", "task-clock", "-o", os.devnull, "--",
                "sleep", "1.2"
            ], capture_output=True, text=True, timeout=60, check=False)
            if "ptrace" in done.stderr:
                self.skipTest("strace may not trace here")
            self.assertEqual(done.returncode, 0, done.stderr)
            calls = log.read().decode().count("wait4(")
        self.assertGreaterEqual(calls, 2)
        self.assertLessEqual(calls, 6)


class Ends(Case):
    def test_death_in_words(self):
        r = stat("-e", "page-faults", "--", "sh", "-c", "kill -SEGV $$")
        self.assertEqual(r.returncode, 128 + signal.SIGSEGV)
        self.assertRegex(r.stderr, r"sh was ended by signal 11 \(Segmentation fault")
        self.assertRegex(r.stderr, r"\d page-faults|\d +page-faults")

    STOPPED = ["sh", "-c", 'trap "echo told; exit 9" TERM; echo $$; kill -STOP $$']

    def test_a_command_that_is_stopped_hears_of_the_end(self):
        p = subprocess.Popen([PFM, "stat", "-x,", "-e", "page-faults", "--", *self.STOPPED],
                             env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             start_new_session=True)
        path, state = "/proc/%d/stat" % int(p.stdout.readline()), ""
        while state != "T":
            with open(path, encoding="ascii") as f:
                state = f.read().split()[2]
        p.terminate()
        try:
            self.assertEqual((p.communicate(timeout=20)[0], p.returncode), ("told\n", 9))
        finally:
            if p.returncode is None:
                os.killpg(p.pid, signal.SIGKILL)
        r = stat("--timeout", "300", "-x,", "-e", "page-faults", "--", *self.STOPPED)
        self.assertEqual((r.stdout.split()[1:], r.returncode), (["told"], 0))

    def test_a_command_ends_with_its_counter(self):
        """Each signal that ends pfm stat ends its command, and the counts are printed."""
        for sig in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM):
            with self.subTest(sig.name), subprocess.Popen([
                    PFM, "stat", "-x,", "-e", "page-faults:u", "--", "sh", "-c",
                    "echo $$; exec sleep 60"
            ], env=CLEAN, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                                          restore_signals=True) as p:
                child = int(p.stdout.readline())
                p.send_signal(sig)
                try:
                    _, said = p.communicate(timeout=20)
                finally:
                    p.kill()
                self.assertIn("page-faults:u", said)
                self.assertEqual(p.returncode, 128 + sig, said)
                self.assertRaises(ProcessLookupError, os.kill, child, 0)

    def test_an_interrupt_before_takes_no_time_from_the_end(self):
        """A command that ignored the interrupt still has its full time to clean up at the end."""
        script = (
            'trap "" INT; trap "sleep 0.2; echo done; exit" TERM; echo ready; while :; do sleep'
            ' 0.02; done'
        )
        p = subprocess.Popen(
            [PFM, "stat", "--timeout", "700", "-x,", "-e", "page-faults", "--", "sh", "-c", script],
            env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.assertEqual(p.stdout.readline(), "ready\n")
        os.killpg(p.pid, signal.SIGINT)
        self.assertEqual(p.communicate(timeout=20)[0], "done\n")

    def test_interrupted_without_a_command(self):
        p = start_counting([PFM, "stat", None, "-e", "page-faults:u", "-p", str(os.getpid())],
                           env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=20)
        self.assertIn("seconds elapsed", out)


class Answers(Case):
    def test_the_command_as_it_would_be_typed(self):
        words = ["printf", "%s\n", "two words", "it's", "", "$HOME", "a=b"]
        r = stat("-e", "page-faults", "--", *words)
        line = [line for line in r.stderr.splitlines() if line.startswith("  printf")][0]
        shown = subprocess.run([
            "sh", "-c", "for w in " + r.stderr.split("  printf ")[1].partition("\n\n")[0] +
            "; do printf '%s\\0' \"$w\"; done"
        ], capture_output=True, text=True).stdout.split("\0")[:-1]
        self.assertEqual(shown, words[1:], line)

    def test_columns_have_the_chosen_separator(self):
        for sep in (",", ";", "::"):
            r = stat("-x", sep, "-e", "page-faults,task-clock,duration_time", "--", "true")
            rows = [line.split(sep) for line in r.stderr.splitlines()] if sep != "," else list(
                csv.reader(io.StringIO(r.stderr)))
            self.assertEqual(rows.pop(0), [
                "value", "unit", "event", "running_ns", "running_percent", "ratio", "ratio_unit",
                "quality", "cause", "error"
            ])
            self.assertEqual([row[2].removesuffix(":u") for row in rows],
                             ["page-faults", "task-clock", "duration_time"])
            for row in rows:
                self.assertEqual(len(row), 10)
                float(row[0])
                self.assertEqual(float(row[4]), 100)
                self.assertEqual(row[7:], ["exact", "", ""])
            self.assertEqual(rows[1][1], "msec")

    def test_columns_quote_separators(self):
        text = "{page-faults,minor-faults}"
        r = stat("-x", ",", "--no-header", "-e", "coreduo::L2_Rqsts,core=all", "-e", text, "--",
                 "true")
        rows = list(csv.reader(io.StringIO(r.stderr)))
        self.assertEqual(rows[0][2], "coreduo::L2_Rqsts,core=all")
        self.assertEqual(rows[0][0], "<not supported>")

    def test_columns_beside_a_digit(self):
        for more in (), ("-I", "1", "--interval-count", "1"), ("-r", "3"):
            r = stat("-x", "1", *more, "-e", "page-faults,task-clock", "--", "true")
            rows = list(csv.reader(io.StringIO(r.stderr), delimiter="1"))
            self.assertTrue(
                rows and all(len(row) == 10 + (more[:1] in (("-I", ), ("-r", ))) for row in rows),
                (more, r.stderr))

    def test_times_of_several_runs_are_their_means(self):
        """Each run is twice as long as the one before, so the mean is not that of a single run."""
        with tempfile.NamedTemporaryFile("w+") as f:
            f.write("1")
            f.flush()
            script = (
                'n=$(cat %s); echo $((2 * n)) >%s; i=0; while [ $i -lt $((n * 10000)) ]; do i=$((i'
                ' + 1)); done' % (f.name, f.name)
            )
            r = stat("-r", "4", "--json", "-e", "task-clock", "--", "sh", "-c", script)
        (o,) = objects(r.stdout)
        for key in "enabled", "running":
            self.assertLess(abs(o[key] - o["value"]), o["value"] / 10, o)

    def test_append_and_overwrite(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "counts")
            for more, lines in ((), 2), (("--append", ), 3), (("--append", ),
                                                              4), ((), 2), (("--no-header", ), 1):
                stat("-x", ",", "-o", path, *more, "-e", "page-faults", "--", "true")
                with open(path, encoding="utf-8") as f:
                    self.assertEqual(len(f.readlines()), lines)

    def test_names_of_columns(self):
        """Each row of the columns is named, whatever columns there are."""
        for words, first in ([], "value"), (["-I", "10", "--interval-count",
                                             "1"], "time"), (["-r", "2"], "value"):
            r = stat("-x", ",", *words, "-e", "page-faults", "--", "true")
            names, *rows = csv.reader(io.StringIO(r.stderr))
            self.assertEqual((names[0], {len(row) for row in rows}), (first, {len(names)}))
            self.assertEqual(rows[0][names.index("event")].removesuffix(":u"), "page-faults")
            self.assertIn(rows[0][names.index("quality")], ("exact", "partial"))

    def test_a_process_that_does_not_exist(self):
        for letter, kind in ("-p", "process"), ("-t", "thread"):
            r = stat(letter, "2147483647", "-e", "page-faults")
            self.assertEqual((r.returncode, r.stdout, r.stderr),
                             (1, "", "pfm stat: %s 2147483647 does not exist\n" % kind))

    def test_table_of_runs(self):
        r = stat("-r", "4", "--table", "-e", "page-faults", "--", "true")
        rows = re.findall(r"^ +(\d+\.\d+)  ([+-]\d+\.\d+)", r.stderr, re.M)
        self.assertEqual(len(rows), 4)
        mean = float(re.search(r"(\d+\.\d+) seconds elapsed", r.stderr).group(1))
        self.assertAlmostEqual(sum(float(a) for a, _ in rows) / 4, mean, places=5)
        for a, b in rows:
            self.assertAlmostEqual(float(a) - mean, float(b), places=5)

    def test_errors_are_objects_too(self):
        r = stat("--json", "-e", "page-faults,foo", "--", "true")
        self.assertEqual(r.returncode, 1)
        (o,) = objects(r.stdout)
        self.assertEqual((o["input"], o["error"]["kind"], o["error"]["at"]),
                         ("foo", "unknown_event", [0, 3]))
        self.assertEqual(r.stderr, "")

    def test_stalled_clocks_where_the_kernel_has_them(self):
        with tempfile.TemporaryDirectory() as root:
            events = os.path.join(root, "sys/bus/event_source/devices/cpu/events")
            os.makedirs(events)
            for there in ([], ["stalled-cycles-frontend"],
                          ["stalled-cycles-backend", "stalled-cycles-frontend"]):
                for name in there:
                    open(os.path.join(events, name), "w").close()
                said = stat("--dry-run", "--json", "--", "true", env={"PERFMON_SYSFS": root})
                self.assertEqual(
                    [o["event"] for o in objects(said.stdout) if "stalled" in o["event"]],
                    sorted(there, reverse=True))

    def test_details_add_events(self):
        plans = [[
            o["event"]
            for o in objects(stat("--dry-run", "--json", *["-d"] * n, "--", "true").stdout)
        ] for n in range(4)]
        self.assertEqual([len(p) for p in plans], [8, 12, 18, 20])
        for less, more in zip(plans, plans[1:]):
            self.assertEqual(more[:len(less)], less)

    def test_labels_are_the_kernels_topology(self):
        r = stat("-a", "--timeout", "20", "--json", "--per-core", "-e", "context-switches")
        rows = objects(r.stdout)
        if rows[0]["value"] is None:
            self.skipTest("this user may not count CPUs")
        wanted = set()
        for cpu in range(os.cpu_count()):
            def of(name, cpu=cpu):
                try:
                    with open("/sys/devices/system/cpu/cpu%d/topology/%s" % (cpu, name),
                              encoding="ascii") as f:
                        return f.read().strip()
                except OSError:
                    return "?"
            wanted.add("S%s-D%s-C%s" % (of("physical_package_id"), of("die_id"), of("core_id")))
        self.assertEqual({o["core"] for o in rows}, wanted)
        self.assertEqual(len(rows), len(wanted))
        sockets = {
            o["socket"] for o in objects(
                stat("-a", "--timeout", "20", "--json", "--per-socket", "-e",
                     "context-switches").stdout)
        }
        self.assertEqual(sockets, {w.split("-")[0] for w in wanted})

    def test_refuses_options_that_conflict(self):
        for words in (["--per-core"], ["-a", "--per-core", "--per-socket", "--timeout",
                                       "1"], ["--table", "--",
                                              "true"], ["--interval-count", "2", "--", "true"],
                      ["-p", "1", "-a"], ["-p", "1", "-G",
                                          "x"], ["--json", "-x", ",", "--",
                                                 "true"], ["--append", "--",
                                                           "true"], ["--per-thread", "-a"],
                      ["-x", "", "--", "true"], ["--filter", "a == 1", "--",
                                                 "true"], ["-d", "-e", "page-faults", "--",
                                                           "true"]):
            r = stat(*words)
            self.assertEqual(r.returncode, 2, words)
            self.assertIn("usage: pfm stat", r.stderr)


class Filters(Case):
    def test_the_kernel_counts_what_fits(self):
        if not tap.own_mounts():
            self.skipTest("no mounts of one's own here")
        script = (
            'mount -t tracefs tracefs /sys/kernel/tracing || exit 77; "$0" stat -a --json -e'
            ' sched:sched_process_exit -e sched:sched_process_exit --filter \'comm =='
            ' \"perfmon-exits\"\' -- sh -c \'\"$0\"; \"$0\"; \"$0\"; true; /bin/true\' \"$1\"'
        )
        with tempfile.TemporaryDirectory() as folder:
            program = shutil.copy("/bin/true", os.path.join(folder, "perfmon-exits"))
            r = subprocess.run(["unshare", "-m", "sh", "-c", script, PFM, program], env=CLEAN,
                               capture_output=True, text=True, timeout=60)
        if r.returncode == 77:
            self.skipTest("no tracefs")
        plain, filtered = objects(r.stdout)
        self.assertEqual((filtered["value"], filtered["quality"]), (3, "exact"), r.stderr)
        self.assertGreaterEqual(plain["value"], 4)

    @staticmethod
    def define(line):
        """Append @line: truncating the file would remove the probes of all users."""
        fd = os.open("/sys/kernel/tracing/uprobe_events", os.O_WRONLY | os.O_APPEND)
        try:
            os.write(fd, line.encode())
        finally:
            os.close(fd)

    def test_a_probe_that_was_given_a_name(self):
        """The entry of a program of one's own is passed once each time it runs."""
        name = "perfmon_%d" % os.getpid()
        with tempfile.TemporaryDirectory() as folder:
            program = shutil.copy("/bin/true", folder)
            with open(program, "rb") as f:
                elf = f.read()
            if elf[4] != 2 or elf[5] != 1:
                self.skipTest("another kind of program")
            entry, headers = struct.unpack_from("<QQ", elf, 24)
            for n in range(struct.unpack_from("<H", elf, 56)[0]):
                kind, _, offset, at, _, size = struct.unpack_from("<IIQQQQ", elf, headers + 56 * n)
                if kind == 1 and at <= entry < at + size:
                    entry += offset - at
                    break
            try:
                self.define("p:%s %s:0x%x\n" % (name, program, entry))
            except OSError as why:
                self.skipTest("no probes can be made: %s" % why)
            try:
                rows = [
                    objects(stat("--json", "-e", event, "--", program).stdout)
                    for event in ("uprobes:" + name, "uprobes:%s*" % name)
                ]
                listed = subprocess.run([PFM, "list", "uprobes:" + name], env=CLEAN,
                                        capture_output=True, text=True).stdout
            finally:
                self.define("-:%s\n" % name)
        for (o,) in rows:
            self.assertEqual((o["event"].removesuffix(":u"), o["value"], o["quality"]),
                             ("uprobes:" + name, 1, "exact"))
        self.assertIn("  uprobes:" + name + "\n", listed)

    def test_no_tracepoint_has_no_fields(self):
        (o, ) = objects(
            stat("--json", "-e", "page-faults", "--filter", "pid == 1", "--", "true").stdout)
        self.assertEqual((o["value"], o["quality"]), (None, "not supported"))
        self.assertIn("expected a tracepoint", o["why"])


if __name__ == "__main__":
    tap.main()
