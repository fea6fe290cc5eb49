#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm doctor against faults: those of machines that are files, and those that this machine can be
given for one process."""
import ctypes
import fcntl
import json
import os
import re
import platform
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import tap

sys.path.append(os.path.join(os.path.dirname(tap.__file__), "support"))
from readable_copy import ReadableCopy  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
BUILD = os.environ.get("PERFMON_BUILD", "")
SOURCE = os.environ["PERFMON_SOURCE"]
CLEAN = {
    k: v for k, v in os.environ.items()
    if not k.startswith(("PERFMON_", "LIBPFM_", "LC_")) and k != "LANG"
}
CLEAN["PERFMON_EVENTS"] = "/nonexistent"
CLEAN["LD_LIBRARY_PATH"] = os.pathsep.join(p for p in (os.path.join(BUILD, "lib"),
                                                       os.environ.get("LD_LIBRARY_PATH", "")) if p)
NOBODY = 65534


def doctor(env=None, before=(), **more):
    r = subprocess.run([*before, PFM, "doctor", "--json"], env=dict(CLEAN, **(env or {})),
                       capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, **more)
    if r.returncode:
        raise AssertionError("%d\n%s" % (r.returncode, r.stderr))
    return {o["check"]: o for o in map(json.loads, r.stdout.splitlines())}


def pretend(model):
    """{check: finding} on a pretended Sapphire Rapids, whose events count what @model says."""
    with tempfile.NamedTemporaryFile("w", suffix=".model") as f:
        f.write(model)
        f.flush()
        os.chmod(f.name, 0o644)
        return doctor(env={"PERFMON_EVENTS": ""}, before=(
            PFM, "pretend", "--cpu", "spr", "--model", f.name, "--"))


class KnownCounts(unittest.TestCase):
    """The quick check of events against kernels whose counts are known."""

    @classmethod
    def setUpClass(cls):
        done = subprocess.run([PFM, "pretend", "--cpu", "spr", "--", "true"], env=CLEAN,
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise unittest.SkipTest(done.stderr.strip() or "pfm pretend fails")

    def test_common_events_are_compared_and_the_rest_is_named(self):
        found = pretend("event CPU_CLK* 3 * clock\nevent * faults\n")["known counts"]
        self.assertRegex(found["found"], "^[0-9]+ events right: .*INST_RETIRED.ANY")
        self.assertRegex(found["why"], "^not checked: [0-9]+ ")
        self.assertEqual(found["remedy"], "pfm check-events --all")

    def test_an_event_that_is_not_right_is_bad(self):
        found = pretend("event INST_RETIRED.ANY* faults / 2\nevent * faults\n")
        self.assertEqual(found["spr::INST_RETIRED.ANY"]["state"], "bad")
        self.assertIn("biased", found["spr::INST_RETIRED.ANY"]["found"])
        self.assertEqual(found["known counts"]["state"], "note")

    def test_counters_of_others_are_left_to_them(self):
        """After one event of the PMU no other is tried."""
        found = pretend("fault busy *\nevent * faults\n")["known counts"]
        tried, left = (int(re.search(r"([0-9]+) \(%s" % text, found["why"])[1])
                       for text in ("another program holds", "other users hold"))
        self.assertEqual(tried, 1)
        self.assertGreater(left, 40)


class Recorded(unittest.TestCase):
    """A machine that is a folder: nothing is tried there."""

    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n")
        self.write("proc/sys/kernel/perf_event_paranoid", "2\n")
        self.write("sys/bus/event_source/devices/cpu/type", "4\n")
        self.write("sys/bus/event_source/devices/cpu/format/event", "config:0-7\n")
        self.write("sys/bus/event_source/devices/cpu/rdpmc", "1\n")

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)

    def look(self):
        return doctor(env={"PERFMON_SYSFS": self.root})

    def test_each_paranoid_level_says_what_it_allows(self):
        for level, words in ((-1, "everything"), (0, "CPUs"), (1, "time in the kernel"),
                             (2, "user mode only"), (3, "kernels of Debian"),
                             (4, "kernels of Debian")):
            self.write("proc/sys/kernel/perf_event_paranoid", "%d\n" % level)
            self.assertIn(words, self.look()["paranoid level"]["found"], level)

    def test_a_missing_proc_is_bad(self):
        os.unlink(os.path.join(self.root, "proc/sys/kernel/perf_event_paranoid"))
        f = self.look()["paranoid level"]
        self.assertEqual((f["state"], f["remedy"]), ("bad", "mount -t proc proc /proc"))

    def test_a_missing_pmu_is_bad(self):
        self.assertEqual(self.look()["PMUs"]["state"], "good")
        shutil.rmtree(os.path.join(self.root, "sys/bus/event_source/devices/cpu"))
        f = self.look()["PMUs"]
        self.assertEqual(f["state"], "bad")
        self.assertIn("hypervisor", f["why"])
        self.assertIn("task-clock", f["works"])
        self.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu\n")
        self.assertNotIn("hypervisor", self.look()["PMUs"]["why"])

    def test_groups_of_resctrl(self):
        self.assertNotIn("resctrl", self.look())
        self.write("sys/fs/resctrl/mon_groups/db/tasks", "")
        self.assertEqual(self.look()["resctrl"]["found"], "1 group for monitoring")

    def test_an_active_watchdog_is_a_note(self):
        self.assertNotIn("NMI watchdog", self.look())
        for on, state in (0, "good"), (1, "note"):
            self.write("proc/sys/kernel/nmi_watchdog", "%d\n" % on)
            self.assertEqual(self.look()["NMI watchdog"]["state"], state)
        self.assertEqual(self.look()["NMI watchdog"]["remedy"], "sysctl kernel.nmi_watchdog=0")

    def test_a_forbidden_rdpmc_is_a_note(self):
        for value, state in (0, "note"), (1, "good"), (2, "good"):
            self.write("sys/bus/event_source/devices/cpu/rdpmc", "%d\n" % value)
            self.assertEqual(self.look()["rdpmc"]["state"], state)

    def test_a_missing_tracefs_has_a_remedy(self):
        self.assertEqual(self.look()["tracefs"]["remedy"],
                         "mount -t tracefs tracefs /sys/kernel/tracing")
        self.write("sys/kernel/debug/tracing/events/enable", "0\n")
        self.assertEqual(self.look()["tracefs"]["found"], "on /sys/kernel/debug/tracing")

    def test_hidden_processes_are_a_note(self):
        self.assertNotIn("other processes", self.look())
        for options, state in ("rw,nosuid",
                               "good"), ("rw,hidepid=0",
                                         "good"), ("rw,hidepid=2",
                                                   "note"), ("rw,hidepid=invisible,gid=4", "note"):
            self.write(
                "proc/mounts",
                "sysfs /sys sysfs rw 0 0\nproc /proc proc %s 0 0\nproc /elsewhere proc rw,hidepid=2"
                " 0 0\n" % options,
            )
            self.assertEqual(self.look()["other processes"]["state"], state, options)
        f = self.look()["other processes"]
        self.assertEqual((f["remedy"], "hidepid=invisible:" in f["found"]),
                         ("mount -o remount,hidepid=0 /proc", True))

    def test_nothing_is_tried(self):
        self.assertFalse({"own code", "whole CPUs", "seccomp", "page-faults:u"} & set(self.look()))


def deny_perf_event_open():
    """For a child: a filter as containers have, under which the call is not permitted."""
    number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | 1),
            (0x06, 0, 0, 0x7fff0000)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
    fprog = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(code), ctypes.addressof(program)))
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)
    libc.prctl(22, 2, fprog, 0, 0)


class Here(unittest.TestCase):
    """Findings in real processes: open events, limits, capabilities, a seccomp filter."""

    def test_the_workload_is_counted(self):
        found = doctor()
        f = found["page-faults:u"]
        if f["state"] == "good":
            self.assertGreaterEqual(int(f["found"].split(",")[0]), 512)
        self.assertIn("task-clock", found)
        self.assertTrue({"quality", "cause", "expected"} <= set(f))
        self.assertEqual("count" in f, f["state"] != "bad"
                         or "does not match the workload" in f.get("why", ""))

    def test_doctor_names_processes_with_open_events(self):
        with subprocess.Popen(
            [PFM, "stat", "-e", "page-faults,task-clock", "--", "sh", "-c", "echo; read line"],
                env=CLEAN, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL) as p:
            self.assertEqual(p.stdout.readline(), "\n")
            folder = "/proc/%d/fd/" % p.pid
            files = sum(
                os.readlink(folder + fd) == "anon_inode:[perf_event]" for fd in os.listdir(folder))
            shown = doctor()
            p.communicate("\n")
        self.assertGreater(files, 0)
        # Other tests may have events open at the same time; eight processes are named.
        if "more processes" not in shown["open events"]["found"]:
            self.assertIn("pfm (process %d): %d file" % (p.pid, files),
                          shown["open events"]["found"])

    @unittest.skipIf(os.getuid(), "not root")
    def test_doctor_names_the_holder_of_the_lock(self):
        folder, lock = "/run/perfmon", "/run/perfmon/pmu.lock"
        if os.path.exists(folder):
            self.skipTest("%s is in use" % folder)
        os.mkdir(folder)
        self.addCleanup(shutil.rmtree, folder)
        with open(lock, "w", encoding="ascii") as f:
            self.assertNotIn("lock", doctor())
            fcntl.flock(f, fcntl.LOCK_EX)
            self.assertIn("(process %d) holds %s" % (os.getpid(), lock), doctor()["lock"]["found"])

    def test_a_reason_is_given_once(self):
        page = subprocess.run([PFM, "doctor"], env=CLEAN, capture_output=True, text=True,
                              timeout=60, check=True).stdout
        workload = page[page.index("A small known workload"):]
        reasons = re.findall(r"^ {6,}do: (.*)", workload, re.M)
        self.assertEqual(len(reasons), len(set(reasons)))
        if workload.count("not supported") < 2:
            self.skipTest("this machine counts them all")
        self.assertIn("for the same reason", workload)

    def test_hidden_processes_are_noticed(self):
        if os.geteuid() or not shutil.which("unshare"):
            self.skipTest("not root")
        try:
            f = doctor(before=[
                "unshare", "--mount", "--pid", "--fork", "sh", "-c",
                'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh"
            ])
        except AssertionError as why:
            self.skipTest("no /proc can be mounted here: %s" % why)
        self.assertEqual(f["other processes"]["state"], "note")

    def test_a_low_limit_of_files_is_bad(self):
        f = doctor(
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 4096)))["limits"]
        self.assertEqual((f["state"], f["remedy"]), ("bad", "ulimit -n 4096"))

    def as_nobody(self, *words):
        """Findings of an unprivileged user with @words of setpriv, and the paranoid level."""
        level = int(open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii").read())
        if os.geteuid() or not shutil.which("setpriv") or level < 1 or level > 2:
            self.skipTest("not root, or a level at which capabilities do not matter so")
        copy = ReadableCopy(PFM)
        self.addCleanup(copy.remove)
        r = subprocess.run([
            "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words, copy.path(PFM),
            "doctor", "--json"
        ], cwd="/", text=True, env=copy.environment(CLEAN), capture_output=True, timeout=60)
        self.assertEqual(r.returncode, 0, r.stderr)
        return {o["check"]: o for o in map(json.loads, r.stdout.splitlines())}, level

    def test_a_user_without_capability_sees_own_code(self):
        found, level = self.as_nobody()
        self.assertIn("CAP_PERFMON no", found["capabilities"]["found"])
        self.assertEqual(found["own code"]["state"], "good")
        self.assertEqual(found["own kernel time"]["state"], "bad" if level > 1 else "good")
        self.assertEqual(found["whole CPUs"]["state"], "bad")
        self.assertIn("perf_event_paranoid is %d" % level, found["whole CPUs"]["why"])
        self.assertIn("pfm stat", found["whole CPUs"]["works"])

    def test_a_service_has_one_capability(self):
        """AmbientCapabilities= and CapabilityBoundingSet= of a service set these capabilities."""
        found, _ = self.as_nobody("--bounding-set=-all,+perfmon", "--inh-caps=+perfmon",
                                  "--ambient-caps=+perfmon")
        self.assertIn("CAP_PERFMON yes, CAP_SYS_ADMIN no", found["capabilities"]["found"])
        self.assertEqual((found["own kernel time"]["state"], found["whole CPUs"]["state"]),
                         ("good", "good"))

    def test_a_filter_of_system_calls_is_named(self):
        if platform.machine() not in ("x86_64", "aarch64"):
            self.skipTest("its system call has another number")
        found = doctor(preexec_fn=deny_perf_event_open)
        if found["seccomp"]["found"] == "no filter":
            self.skipTest("no filters here")
        self.assertEqual(found["seccomp"]["state"], "bad")
        self.assertEqual(found["seccomp"]["found"],
                         "a seccomp filter is active, and perf_event_open does not pass it")
        self.assertIn("--cap-add PERFMON", found["seccomp"]["remedy"])
        self.assertEqual(found["own code"]["state"], "bad")

    def test_how_the_kernel_was_built(self):
        """An option that begins like one that is wanted is not that one."""
        if not tap.own_mounts():
            self.skipTest("not root")
        said = {
            "CONFIG_PERF_EVENTS": "nothing can be counted",
            "CONFIG_HW_PERF_EVENTS": "no hardware event", "CONFIG_CGROUP_PERF": "no control group",
            "CONFIG_FTRACE": "no tracepoint"
        }
        for missing in (), ("CONFIG_PERF_EVENTS", ), ("CONFIG_HW_PERF_EVENTS",
                                                      "CONFIG_FTRACE"), tuple(said):
            lines = ["%s_MORE=y" % name if name in missing else name + "=y"
                     for name in said] + ["# CONFIG_PERF_EVENTS=y is not set"]
            f = doctor(before=[
                "unshare", "-m", "sh", "-c",
                'mkdir -p /boot && mount -t tmpfs none /boot && printf "%s\\n" "$0" '
                '>"/boot/config-$(uname -r)" && exec "$@"', "\n".join(lines)
            ])["kernel"]
            self.assertEqual(f["state"], "note" if missing else "good")
            self.assertEqual(
                f.get("why", ""), "; ".join("without %s: %s" % (name, said[name]) for name in said
                                            if name in missing))

    def test_no_proc_and_no_tracefs(self):
        if not tap.own_mounts():
            self.skipTest("not root")
        found = doctor(before=[
            "unshare", "-m", "sh", "-c",
            'mount -t tmpfs none /proc && mount -t tmpfs none /sys/kernel && exec "$@"', "sh"
        ])
        self.assertEqual(found["paranoid level"]["remedy"], "mount -t proc proc /proc")
        self.assertEqual(found["tracefs"]["found"], "not mounted")
        self.assertNotIn("capabilities", found)


if __name__ == "__main__":
    tap.main()
