#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pfm pretend`: programs on machines whose PMUs are made up. The models say what every event
counts, so expected values are arithmetic on them.

    PERFMON_LONG  the machines of all tables, instead of every fifth"""
import glob
import http.client
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

from tap import main

sys.path.append(os.path.join(os.environ["PERFMON_TESTS"], "support"))
from readable_copy import ReadableCopy  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
SOURCE = os.environ.get("PERFMON_SOURCE", "")
TESTS = os.path.join(os.environ.get("PERFMON_BUILD", ""), "tests")
CLIENT = os.path.join(TESTS, "pretend_client")
REGIONS = os.path.join(TESTS, "command", "regions", "marked_perfmon")
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(("PERFMON_", "PERF_", "LIBPFM_", "LC_", "LSAN_", "ASAN_"))}
# Values that depend on nothing but the program: pages that it touches.
FAULTS = """
event INST_RETIRED.* 1000 * faults
event CPU_CLK_UNHALTED.* 500 * faults
event BR_INST_RETIRED.* 7
generic instructions INST_RETIRED.ANY_P
generic cpu-cycles CPU_CLK_UNHALTED.THREAD_P
"""
WORK = ("sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done")
# A processor, metrics, and their values by the model of its family.
METRICS = {
    "skl": {"Frontend_Bound": 20, "Backend_Bound": 30, "Retiring": 40, "Bad_Speculation": 10,
            "ipc": 2, "branch_mpki": 2},
    "spr": {"Frontend_Bound": 20, "Backend_Bound": 30, "Retiring": 40, "Bad_Speculation": 10,
            "ipc": 2},
    "amdzen2": {"ipc": 2, "branch_mpki": 2},
    "amdzen5": {"frontend_bound": 20, "retiring": 40, "ipc": 2, "branch_mpki": 2},
    "neoverse_v2": {"retiring": 40, "ipc": 2, "branch_mpki": 2},
    "power10": {"ipc": 2},
    "z16": {"ipc": 1},
}


def run(*words, env=None, **more):
    return subprocess.run(words, env={**CLEAN, **(env or {})}, capture_output=True, text=True,
                          errors="replace", timeout=300, stdin=subprocess.DEVNULL, check=False,
                          **more)


def pretend(cpu, *words, model=None, **more):
    """Runs a program on the machine of @cpu, with the text of a model of its own."""
    options = ["--cpu", cpu]
    if model is None:
        return run(PFM, "pretend", *options, "--", *words, **more)
    with tempfile.NamedTemporaryFile("w", suffix=".model") as f:
        f.write(model)
        f.flush()
        os.chmod(f.name, 0o644)
        return run(PFM, "pretend", *options, "--model", f.name, "--", *words, **more)


def counts(cpu, *options, model=None, command=WORK):
    """The JSON lines of pfm stat, and its messages."""
    done = pretend(cpu, PFM, "stat", "--json", *options, "--", *command, model=model)
    return [json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"], done


def lines(done):
    """The "NAME VALUE" lines of the client; names that occur again have a list."""
    found = {}
    for line in done.stdout.splitlines():
        name, value = line.split(" ", 1)
        found.setdefault(name, []).append(value)
    return found


def obstacle():
    """Why this machine cannot pretend; None if it can."""
    done = run(PFM, "pretend", "--cpu", "skl", "--", "true")
    return None if done.returncode == 0 else done.stderr.strip() or "pfm pretend fails"


# Runs a program in a chroot whose root is not a mount point: a folder in which the folders of this
# machine are mounted, with shared propagation. Then lists the PMUs' folder outside of the chroot.
CHROOT = """
mount --make-rshared / && mount -t tmpfs base "$PWD" && cd "$PWD" && mkdir root && cd root || exit
for entry in /*; do
    if [ -L "$entry" ]; then cp -P "$entry" .
    elif [ -d "$entry" ]; then mkdir ".$entry" && mount --rbind "$entry" ".$entry"
    fi
done
chroot . "$@"
echo outside
ls /sys/bus/event_source
"""


WHY = obstacle()


@unittest.skipIf(WHY, WHY)
class Files(unittest.TestCase):
    def test_the_first_finding_of_doctor_is_the_pretence(self):
        done = pretend("spr", PFM, "doctor")
        self.assertRegex(done.stdout.splitlines()[1], "this machine is pretended: spr")

    @unittest.skipIf(os.cpu_count() < 2, "each type of core needs a CPU")
    def test_files_below_a_folder_describe_the_processor(self):
        with tempfile.TemporaryDirectory() as root:
            done = run(PFM, "pretend", "--cpu", "adl", "--root", root)
            self.assertEqual(done.stderr, "")
            devices = os.path.join(root, "sys/bus/event_source/devices")

            def content(name):
                with open(os.path.join(devices, name), encoding="ascii") as f:
                    return f.read().strip()
            self.assertEqual(content("cpu_core/format/umask"), "config:8-15")
            self.assertEqual(content("cpu_core/format/event"), "config:0-7")
            self.assertEqual(content("cpu_core/events/cpu-cycles"), "event=0x3c")
            self.assertNotEqual(content("cpu_core/cpus"), content("cpu_atom/cpus"))
            self.assertNotEqual(content("uncore_imc_0/type"), content("uncore_imc_1/type"))
            listed = run(PFM, "doctor", env={"PERFMON_SYSFS": root})
            self.assertIn("this machine is pretended", listed.stdout)

    def test_symbolic_links_do_not_lead_out_of_the_folder(self):
        for link in ("sys", "sys/bus", "sys/bus/event_source/devices"):
            with tempfile.TemporaryDirectory() as folder:
                root, other = os.path.join(folder, "root"), os.path.join(folder, "other")
                os.makedirs(os.path.dirname(os.path.join(root, link)))
                os.mkdir(other)
                os.symlink(other, os.path.join(root, link))
                done = run(PFM, "pretend", "--cpu", "skl", "--root", root)
                self.assertEqual((done.returncode, os.listdir(other)), (1, []), link)
                self.assertIn("symbolic links below the folder are not followed", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            root, other = os.path.join(folder, "root"), os.path.join(folder, "other")
            os.makedirs(os.path.join(root, "sys/bus/event_source"))
            os.symlink(other, os.path.join(root, "sys/bus/event_source/pretended"))
            done = run(PFM, "pretend", "--cpu", "skl", "--root", root)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertFalse(os.path.exists(other))

    def test_failures_name_the_file(self):
        with tempfile.TemporaryDirectory() as root:
            path = os.path.join(root, "sys/bus/event_source/pretended")
            os.makedirs(path)
            done = run(PFM, "pretend", "--cpu", "skl", "--root", root)
            self.assertEqual((done.returncode, done.stderr),
                             (1, f"pfm pretend: {path}: Is a directory\n"))

    def test_capabilities_are_those_of_linux(self):
        """Names: arch/x86/events/intel/core.c; slots: the width of the core, drivers/perf."""
        wanted = {"skl": {"pmu_name": "skylake", "max_precise": "0"},
                  "spr": {"pmu_name": "sapphire_rapids", "max_precise": "0"},
                  "amdzen5": {"max_precise": "0"},
                  "neoverse_v2": {"slots": "0x00000008", "bus_slots": "0x00000000",
                                  "bus_width": "0x00000000"},
                  "cortex_a57": {"slots": "0x00000000", "bus_slots": "0x00000000",
                                 "bus_width": "0x00000000"},
                  "power10": {"pmu_name": "POWER10"}, "z16": {}}
        for cpu, files in wanted.items():
            with tempfile.TemporaryDirectory() as root:
                run(PFM, "pretend", "--cpu", cpu, "--root", root)
                devices = os.path.join(root, "sys/bus/event_source/devices")
                found = {}
                for device in os.listdir(devices):
                    caps = os.path.join(devices, device, "caps")
                    for name in os.listdir(caps) if os.path.isdir(caps) else ():
                        with open(os.path.join(caps, name), encoding="ascii") as f:
                            found[name] = f.read().strip()
                self.assertEqual(found, files, cpu)

    def test_each_core_of_a_table_has_a_machine(self):
        """Every fifth table; PERFMON_LONG: all. Linux has no driver for the last of Apple's."""
        reasons = "Linux has no driver for the PMU|types of cores, and each needs a CPU"
        names = []
        for path in glob.glob(os.path.join(SOURCE, "lib/events/**/*.pmu"), recursive=True):
            with open(path, encoding="utf-8") as f:
                names += re.findall(r"^pmu (\S+) [^\n]*\n(?:(?!pmu |uncore )[^\n]*\n)*?match arch",
                                    f.read(), re.M)
        names = sorted(set(names))
        self.assertGreater(len(names), 150)
        with tempfile.TemporaryDirectory() as root:
            for name in names if os.environ.get("PERFMON_LONG") else names[::5]:
                folder = os.path.join(root, name)
                done = run(PFM, "pretend", "--cpu", name, "--root", folder)
                if done.returncode:
                    self.assertRegex(done.stderr, reasons, name)
                    continue
                found = glob.glob(folder + "/sys/bus/event_source/devices/*/format/*")
                self.assertTrue(found, name)

    def test_arm_announces_its_architectural_events(self):
        with tempfile.TemporaryDirectory() as root:
            run(PFM, "pretend", "--cpu", "neoverse_v2", "--root", root)
            events = os.path.join(root, "sys/bus/event_source/devices/armv8_pmuv3_0/events")
            with open(os.path.join(events, "cpu_cycles"), encoding="ascii") as f:
                self.assertEqual(f.read(), "event=0x0011\n")
            names = os.listdir(events)
            self.assertIn("l1d_cache_refill", names)
            self.assertNotIn("sve_inst_spec", names)        # 0x8006: not announced so

    def test_recorded_machines(self):
        folder = os.path.join(os.environ["PERFMON_TESTS"], "machines")
        script = ("cat /sys/bus/event_source/devices/amd_l3/type "
                  "/sys/bus/event_source/devices/amd_l3/cpumask; "
                  f"{PFM} stat --json -e cycles -- true")
        done = run(PFM, "pretend", "--cpu", "AuthenticAMD-25-61-2", "--recording",
                   os.path.join(folder, "amd.txt"), "--", "sh", "-c", script)
        found = done.stdout.splitlines()
        self.assertEqual(found[:2], ["11", "0"], done.stderr)
        self.assertEqual(json.loads(found[2])["quality"], "pretended")
        refused = run(PFM, "pretend", "--cpu", "skl", "--recording",
                      os.path.join(folder, "arm.txt"), "--", "true")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("the recording has no core of skl", refused.stderr)

    def test_this_machine_stays_as_it_is(self):
        pretend("skl", "true")
        self.assertFalse(os.path.exists("/sys/bus/event_source/pretended"))

    @unittest.skipIf(os.geteuid() or not shutil.which("unshare"), "only root can use a chroot")
    def test_a_chroot_has_files_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("unshare", "--mount", "sh", "-c", CHROOT, "sh", PFM, "pretend", "--cpu",
                       "skl", "--", "ls", "/sys/bus/event_source", cwd=folder)
        if re.search("^(unshare|mount): ", done.stderr, re.M):
            self.skipTest("no mounts of one's own here: " + done.stderr.strip())
        inside, _, outside = done.stdout.partition("outside")
        self.assertIn("pretended", inside, done.stderr)
        self.assertNotIn("pretended", outside)

    def test_the_status_is_that_of_the_program(self):
        self.assertEqual(pretend("skl", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(pretend("skl", "sh", "-c", "kill -9 $$").returncode, 128 + 9)
        self.assertEqual(pretend("skl", "/nonexistent").returncode, 127)


@unittest.skipIf(WHY, WHY)
class Clients(unittest.TestCase):
    def test_descriptors_groups_threads_and_children_of_a_static_program(self):
        found = lines(pretend("skl", CLIENT, "3000", model=FAULTS))
        self.assertEqual(found["faults"], ["10000"])
        self.assertEqual(found["reset"], ["0"])
        self.assertEqual(found["disabled"], ["0"])
        self.assertEqual(found["enabled"], ["3000"])
        self.assertEqual((found["off"], found["on"]), (["0"], ["2000"]))
        self.assertEqual(found["copy"], ["1"] * 4)
        self.assertEqual(found["low"], ["22"])
        self.assertEqual(found["child"], ["0"])
        self.assertEqual((found["group"], found["members"]), (["56"], ["2"]))
        self.assertEqual((found["ids"], found["half"], found["times"]), (["1"],) * 3)
        self.assertEqual(found["small"], ["28"])
        self.assertEqual(found["thread"], ["7000"])
        self.assertEqual(found["opens"], ["3000"])

    def test_two_runs_of_a_deterministic_program_are_equal(self):
        values = [pretend("skl", CLIENT, "10", model=FAULTS).stdout for _ in range(2)]
        self.assertEqual(values[0], values[1])

    def test_events_of_one_model_keep_their_ratio(self):
        rows, _ = counts("skl", "-e", "instructions:u", "-e", "cycles:u", "-e",
                         "BR_INST_RETIRED.ALL_BRANCHES", model=FAULTS)
        values = [r["value"] for r in rows]
        self.assertEqual(values, [2 * values[1], values[1], 7])

    def test_hundreds_of_clients_at_once(self):
        script = f"for i in $(seq 300); do {CLIENT} 0 | grep -c '^faults 10000$' & done; wait"
        done = pretend("skl", "sh", "-c", script, model=FAULTS)
        self.assertEqual(done.stdout.split(), ["1"] * 300)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_a_user_without_privileges(self):
        copy = ReadableCopy(PFM, CLIENT)
        self.addCleanup(copy.remove)
        with tempfile.NamedTemporaryFile("w", suffix=".model") as f:
            f.write(FAULTS)
            f.flush()
            os.chmod(f.name, 0o644)
            done = run(copy.path(PFM), "pretend", "--cpu", "skl", "--model", f.name, "--",
                       copy.path(CLIENT), "10", user=65534, group=65534, extra_groups=[],
                       env=copy.environment(CLEAN), cwd="/")
        if "cannot make a mount namespace" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual(lines(done).get("faults"), ["10000"], done.stderr)

    @unittest.skipUnless(shutil.which("perf"), "perf (linux-perf) is missing")
    def test_perf_counts_and_samples(self):
        done = pretend("spr", "perf", "stat", "-x,", "-e", "cycles,instructions", *WORK)
        cycles, instructions = [int(line.split(",")[0]) for line in done.stderr.splitlines()]
        self.assertAlmostEqual(instructions / cycles, 2, places=5)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "perf.data")
            # Without build IDs in its records, perf ends beside a recorder that has them: Linux
            # marks the records of both.
            done = pretend("spr", "perf", "record", "--buildid-mmap", "-o", path, "-e", "cycles",
                           "-c", "300000", *WORK)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run("perf", "report", "-i", path, "--stdio", "--header")
            self.assertRegex(done.stdout, r"cpudesc : pretended: spr")
            self.assertRegex(done.stdout, r"Samples: \d+ +of event 'cycles'")

    @unittest.skipUnless(shutil.which("papi_command_line"), "papi-tools is missing")
    def test_papi_counts_on_a_pretended_machine(self):
        done = pretend("skl", "papi_command_line", "PAPI_TOT_CYC", "PAPI_TOT_INS")
        found = dict(re.findall(r"(PAPI_TOT_\w+) : \t(\d+)", done.stdout))
        self.assertAlmostEqual(int(found["PAPI_TOT_INS"]) / int(found["PAPI_TOT_CYC"]), 2, places=2)


@unittest.skipIf(WHY, WHY)
class Rules(unittest.TestCase):
    def test_requests_are_answered_as_by_the_kernel_of_a_guest(self):
        """tests/guest/perf_cases.txt, which the guest cases-arm64 runs on a kernel with a PMU."""
        cases = os.path.join(os.environ["PERFMON_TESTS"], "guest", "perf_cases.txt")
        done = pretend("cortex_a57", os.path.join(TESTS, "perf_cases"), cases)
        self.assertEqual([line for line in done.stdout.splitlines() if line[:3] == "not"], [],
                         done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout)


@unittest.skipIf(WHY, WHY)
class Counts(unittest.TestCase):
    def test_metrics_have_the_values_of_the_model(self):
        for cpu, wanted in METRICS.items():
            with self.subTest(cpu=cpu):
                rows, done = counts(cpu, "-M", ",".join(wanted))
                values = {r["metric"]: r["value"] for r in rows if "metric" in r}
                self.assertEqual(set(values), set(wanted), done.stderr)
                for name, value in wanted.items():
                    self.assertAlmostEqual(values[name] / value, 1, places=3, msg=name)

    def test_nothing_is_called_exact(self):
        for cpu in METRICS:
            rows, _ = counts(cpu, "-e", "cycles,instructions,task-clock,page-faults", "-M", "ipc")
            self.assertEqual({r["quality"] for r in rows}, {"pretended"}, cpu)

    def test_a_group_is_refused_where_dispatch_refuses_it(self):
        events = ["MEM_LOAD_RETIRED.L1_HIT", "MEM_LOAD_RETIRED.L2_HIT", "MEM_LOAD_RETIRED.L3_HIT",
                  "MEM_LOAD_RETIRED.L1_MISS", "MEM_LOAD_RETIRED.L2_MISS"]
        for n in (4, 5):
            refused = run(PFM, "dispatch", "--pmu", "skl", *events[:n]).returncode != 0
            rows, _ = counts("skl", "-e", "{" + ",".join(events[:n]) + "}")
            has_values = all(r["quality"] == "pretended" for r in rows)
            self.assertEqual(has_values, not refused, n)

    def test_more_events_than_counters_take_turns(self):
        """Seven events on four counters: each turn of the rotation serves four of them."""
        names = ["L1_HIT", "L2_HIT", "L3_HIT", "L1_MISS", "L2_MISS", "L3_MISS", "FB_HIT"]
        rows, _ = counts("skl", *sum((["-e", "MEM_LOAD_RETIRED." + n] for n in names), []))
        self.assertEqual({r["cause"] for r in rows}, {"multiplexed"})
        for r in rows:
            self.assertAlmostEqual(r["running"] / r["enabled"], 4 / 7, places=3)

    def test_groups_that_fit_beside_each_other_take_no_turns(self):
        """Fixed counters count cycles and instructions; the slots must be first in their group."""
        for groups in (("{cycles,instructions}", "{TOPDOWN.SLOTS,PERF_METRICS.RETIRING}"),
                       ("{TOPDOWN.SLOTS,PERF_METRICS.RETIRING}", "{cycles,instructions}")):
            rows, done = counts("spr", "-e", groups[0], "-e", groups[1])
            self.assertEqual([r.get("cause") for r in rows], [None] * 4, done.stderr)
            self.assertEqual({r["running"] - r["enabled"] for r in rows}, {0})

    @unittest.skipIf(os.cpu_count() < 2 or not shutil.which("taskset"), "needs two CPUs")
    def test_a_task_on_one_core_of_a_hybrid_is_not_counted_by_the_other(self):
        done = pretend("adl", "taskset", "-c", "0", PFM, "stat", "--json", "-e", "cycles", "--",
                       *WORK)
        by_pmu = {r["pmu"]: r["value"] or 0 for r in map(json.loads, done.stdout.splitlines())}
        self.assertLessEqual(by_pmu["cpu_atom"], by_pmu["cpu_core"] / 100)

    def test_faults_of_the_model(self):
        model = FAULTS + "fault %s INST_RETIRED.*%s\n"
        options = ("-e", "instructions:u")
        rows, _ = counts("skl", *options, model=model % ("busy", ""))
        self.assertEqual(rows[0]["cause"], "busy")
        rows, _ = counts("skl", *options, model=model % ("zero", ""))
        self.assertEqual(rows[0]["value"], 0)
        rows, _ = counts("skl", *options, model=model % ("share", " 0.25"))
        self.assertEqual(rows[0]["cause"], "multiplexed")
        self.assertAlmostEqual(rows[0]["running"] / rows[0]["enabled"], 0.25, places=3)
        wrapping = "event INST_RETIRED.* 281474976710663\nfault wrap INST_RETIRED.*\n"
        wrapping += "generic instructions INST_RETIRED.ANY_P\n"
        rows, _ = counts("skl", *options, model=wrapping)
        self.assertEqual(rows[0]["value"], 281474976710663 - 2**48)

    def trouble(self, fault, *options, command=WORK):
        """The rows of pfm stat with a fault in a model in which each event counts nanoseconds."""
        model = ("generic instructions INST_RETIRED.ANY_P\nevent * clock\n"
                 f"fault {fault}\n")
        return counts("skl", *options, model=model, command=command)

    def test_a_counter_that_another_user_has_taken(self):
        """Each of the five events counts on counters 0 to 3 alone; one is another user's."""
        names = ["MEM_LOAD_RETIRED." + n for n in ("L1_HIT", "L2_HIT", "L3_HIT", "L2_MISS")]
        group = ("-e", "{" + ",".join(names) + "}")
        rows, _ = self.trouble("taken MEM_LOAD_RETIRED.L1_MISS", *group)
        self.assertEqual({(r["quality"], r["cause"]) for r in rows},
                         {("not counted", "group")})
        rows, _ = self.trouble("taken INST_RETIRED.ANY", *group)
        self.assertEqual({r["quality"] for r in rows}, {"pretended"})
        alone = sum((["-e", n] for n in names), [])
        rows, _ = self.trouble("taken MEM_LOAD_RETIRED.L1_MISS", *alone)
        self.assertEqual({r["cause"] for r in rows}, {"multiplexed"})
        for r in rows:
            self.assertAlmostEqual(r["running"] / r["enabled"], 3 / 4, places=3)

    @unittest.skipUnless(os.geteuid() == 0, "counting whole CPUs needs privileges")
    def test_a_cpu_that_goes_off_line(self):
        """The times of the count end long before the run, which is longer than clocks differ."""
        options = ("-C", "0", "-e", "MEM_LOAD_RETIRED.L1_HIT")
        command = ("sleep", "0.3")    # the time of the run is what is compared
        rows, _ = self.trouble("gone * 2", *options, command=command)
        self.assertEqual((rows[0]["value"], rows[0]["enabled"]), (2000000, 2000000))
        self.assertEqual(rows[0]["cause"], "no CPU")
        rows, _ = self.trouble("gone * 0", *options, command=command)
        self.assertEqual((rows[0]["quality"], rows[0]["cause"]), ("not counted", "no CPU"))

    def test_a_move_to_a_host_without_a_pmu_shows_in_no_time(self):
        """The count stands still and its times go on: nothing tells a program."""
        rows, _ = self.trouble("moved * 2", "-e", "MEM_LOAD_RETIRED.L1_HIT")
        self.assertEqual((rows[0]["value"], rows[0].get("cause")), (2000000, None))
        self.assertGreater(rows[0]["running"], 2000000)

    def test_no_interrupt_comes(self):
        model = "generic cpu-cycles CPU_CLK_UNHALTED.THREAD_P\nevent * clock\nfault silent *\n"
        with tempfile.TemporaryDirectory() as folder:
            done = pretend("skl", PFM, "record", "-o", os.path.join(folder, "x"), "-e", "cycles",
                           "-c", "1000", "--", *WORK, model=model)
        self.assertRegex(done.stderr, r"(?i)no samples|0 samples|no interrupt")

    def test_paranoid_levels(self):
        """The first level at which users are refused: kernel level, whole CPUs, everything."""
        cases = ((("-e", "cycles"), 3), (("-a", "-e", "cycles:u"), 1), (("-e", "cycles:u"), 3))
        for options, first in cases:
            for level in range(-1, 4):
                done = run(PFM, "pretend", "--cpu", "skl", "--paranoid", str(level), "--", PFM,
                           "stat", "--json", *options, "--", "true")
                row = json.loads(done.stdout.splitlines()[0])
                wanted = "permission" if level >= first else None
                self.assertEqual(row.get("cause"), wanted, (options, level, done.stderr))
        done = run(PFM, "pretend", "--cpu", "skl", "--paranoid", "2", "--", "cat",
                   "/proc/sys/kernel/perf_event_paranoid")
        self.assertEqual(done.stdout, "2\n")

    def test_phases_change_the_speed(self):
        """Half of each cycle of 2 ms counts twice as fast: 1.5 times as much in the long run."""
        model = ("event CPU_CLK_UNHALTED.* clock\ngeneric cpu-cycles CPU_CLK_UNHALTED.THREAD_P\n"
                 "phase 1 1\nphase 1 2\n")
        rows, _ = counts("skl", "-e", "cycles", "-e", "task-clock", model=model)
        cycles, clock = rows[0]["value"], rows[1]["value"]
        self.assertLess(abs(cycles - 1.5 * clock), 0.02 * clock + 1e6)


@unittest.skipIf(WHY, WHY)
class Commands(unittest.TestCase):
    def test_a_recording_says_that_it_is_pretended(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "perf.data")
            done = pretend("amdzen5", PFM, "record", "-o", path, "-e", "cycles", "-c", "300000",
                           "--", *WORK)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run(PFM, "report", path)
            self.assertIn("recorded on a pretended machine", done.stderr)
            self.assertRegex(done.stdout, r"cycles: \d+ samples")
            exported = run(PFM, "export", "--format", "json", path)
            self.assertIn('"quality": "pretended"', exported.stdout)

    def test_values_in_samples_are_those_of_the_model(self):
        """The metric of each place is 2 to a few parts in a million: values are whole numbers."""
        for cpu, metric in (("skl", "ipc"), ("amdzen5", "ipc"), ("neoverse_v2", "ipc")):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "perf.data")
                done = pretend(cpu, PFM, "record", "-o", path, "-M", metric, "-c", "300000", "--",
                               *WORK)
                self.assertEqual(done.returncode, 0, done.stderr)
                done = run(PFM, "report", "--metrics", "--sort", "task", "--json", path)
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            found = [r["metrics"][0] for r in rows if r.get("task") == "sh"]
            self.assertEqual([round(m["value"], 3) for m in found], [2], done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("perf"), "perf (linux-perf) is missing")
    def test_perf_reads_groups_in_samples(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "perf.data")
            done = pretend("spr", "perf", "record", "--buildid-mmap", "-o", path, "-e",
                           "{cycles,instructions}:S", "-c", "300000", *WORK)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run("perf", "script", "-i", path, "-F", "event,period")
        pairs = [line.split() for line in done.stdout.splitlines()]
        cycles = sum(int(p[0]) for p in pairs if p[1] == "cycles:")
        instructions = sum(int(p[0]) for p in pairs if p[1] == "instructions:")
        self.assertGreater(len(pairs), 20)
        self.assertAlmostEqual(instructions / cycles, 2, places=3)

    def test_a_throttled_event_is_reported(self):
        model = ("generic cpu-cycles CPU_CLK_UNHALTED.THREAD_P\nevent * clock\n"
                 "fault throttle * 5\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "perf.data")
            done = pretend("skl", PFM, "record", "-o", path, "-e", "cycles", "-c", "100000", "--",
                           *WORK, model=model)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run(PFM, "report", path)
        self.assertRegex(done.stderr, r"the kernel throttled sampling \d+ times?")
        self.assertRegex(done.stdout, r"cycles: \d+ samples")

    @unittest.skipUnless(os.path.exists(REGIONS), "the program with regions was not built")
    def test_regions_are_pretended(self):
        done = pretend("skl", PFM, "stat", "--regions", "--json", "-e", "cycles", "--", REGIONS)
        qualities = set(re.findall(r'"event": ?"cycles".*?"quality": ?"([^"]*)"', done.stdout))
        self.assertEqual(qualities, {"pretended"}, done.stdout[:500] + done.stderr)

    def test_plans_are_those_of_the_processor(self):
        events = ("MEM_LOAD_RETIRED.L1_HIT", "INST_RETIRED.ANY", "BR_INST_RETIRED.ALL_BRANCHES")
        here = pretend("skl", PFM, "plan", "--json", *events)
        there = run(PFM, "plan", "--json", "--pmu", "skl", *events)
        groups = [[r.get("group") for r in map(json.loads, d.stdout.splitlines())]
                  for d in (here, there)]
        self.assertEqual(groups[0], groups[1])
        self.assertTrue(groups[0])

    @unittest.skipUnless(os.geteuid() == 0, "counting whole CPUs needs privileges")
    def test_the_exporter_shows_the_state(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "socket")
            with subprocess.Popen([PFM, "pretend", "--cpu", "skl", "--", PFM, "serve", "-e",
                                   "cycles", "--listen", "unix:" + path], env=CLEAN,
                                  stderr=subprocess.PIPE, text=True) as p:
                try:
                    if "listening" not in p.stderr.readline():
                        self.skipTest("pfm serve has no HTTP")
                    text = self.scrape(path)
                finally:
                    p.terminate()
        rank = int(re.search(r"(\d+) pretended", text)[1])
        self.assertRegex(text, r'perfmon_event_quality_rank\{event="cycles".*\} %d\n' % rank)

    @staticmethod
    def scrape(path):
        c = http.client.HTTPConnection("localhost", timeout=60)
        c.sock = socket.socket(socket.AF_UNIX)
        c.sock.connect(path)
        c.request("GET", "/metrics")
        return c.getresponse().read().decode()


def simulation_obstacle():
    done = run(PFM, "stat", "--simulate", "-e", "instructions", "--", "/bin/true")
    return None if done.returncode == 0 else done.stderr.strip() or "pfm stat --simulate fails"


@unittest.skipIf(WHY or simulation_obstacle(), WHY or simulation_obstacle())
class Simulated(unittest.TestCase):
    """Counts of a pretended processor are those of programs in an emulator: 2,000,000 rounds of two
    instructions and four more, of which the models make 2 a cycle and a fifth branches."""

    CODE = (b"\xb9" + (2000000).to_bytes(4, "little")
            + bytes.fromhex("ffc975fc b83c000000 31ff 0f05"))   # mov; dec, jnz; exit(0)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        size = 120 + len(self.CODE)
        head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
        segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, size, size, 0x10000)
        self.program = os.path.join(self.folder.name, "loop")
        with open(self.program, "wb") as f:
            f.write(head + segment + self.CODE)
        os.chmod(self.program, 0o755)

    def machine(self, cpu, *words):
        return run(PFM, "pretend", "--cpu", cpu, "--simulate", "--", *words, "--", PFM, "pretend",
                   "--emulate", "--", self.program)

    @unittest.skipUnless(shutil.which("perf"), "perf (linux-perf) is missing")
    def test_perf_stat_is_repeatable(self):
        for cpu in ("skl", "amdzen5", "spr"):
            for _ in range(2):
                done = self.machine(cpu, "perf", "stat", "-x,", "-e",
                                    "instructions:u,cycles:u,branches:u")
                counts_of = [line.split(",")[0] for line in done.stderr.splitlines()]
                self.assertEqual(counts_of, ["4000004", "2000002", "800001"], cpu)

    def test_metrics_and_their_quality(self):
        done = self.machine("neoverse_v2", PFM, "stat", "--json", "-e", "instructions", "-M",
                            "ipc,retiring")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(rows[0]["value"], 4000004, done.stderr)
        self.assertEqual({r["quality"] for r in rows}, {"pretended"})
        self.assertEqual([round(r["value"], 4) for r in rows if "metric" in r], [2, 40])

    def test_the_emulator_needs_such_a_machine(self):
        done = run(PFM, "pretend", "--emulate", "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("works on a machine of pfm pretend --simulate alone", done.stderr)


class Refusals(unittest.TestCase):
    def expect(self, model, message):
        with tempfile.NamedTemporaryFile("w", suffix=".model") as f:
            f.write(model)
            f.flush()
            done = run(PFM, "pretend", "--cpu", "skl", "--model", f.name, "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn(message, done.stderr)

    def test_lines_that_are_wrong(self):
        self.expect("evnt X 1", ":1: expected event, let, generic, fault, phase or user")
        self.expect("\nevent X clock * faults", ":2: expected a number on one side of '*'")
        self.expect("event X clock + faults", "expected one of clock, faults and switches")
        self.expect("event X speed", "unknown name")
        self.expect("event X (1", "expected ')'")
        self.expect("event X 1 / 0", "expected a number other than 0 after '/'")
        self.expect("event X " + "(" * 100, "expected fewer parentheses")
        self.expect("fault never X", "expected 'fault KIND PATTERN'")
        self.expect("fault taken NEVER", "expected the name of an event of skl, got 'NEVER'")
        self.expect("fault share X 2", "expected a share from 0 to 1")
        self.expect("phase 0 1", "expected 'phase MILLISECONDS SPEED'")
        self.expect("user 2", "expected 'user SHARE'")

    def test_counts_that_no_counter_has(self):
        for line in ("event X 1e999", "event X 1e300 * clock", "event X clock - 5",
                     "event X 5 - 1e999", "let x = 0 - 2 * faults"):
            self.expect(line, "expected a count that does not decrease")
        for line in ("phase inf 1", "phase 1 inf", "phase 1e-320 1", "phase 1 1 1", "phase 1"):
            self.expect(line, "expected 'phase MILLISECONDS SPEED'")

    def test_nothing_of_a_line_is_ignored(self):
        self.expect("event %s clock" % ("X" * 128), "a shorter name or pattern")
        self.expect("let %s = 1" % ("x" * 64), "a shorter name or pattern")
        self.expect("let clock = 1", "clock, faults and switches are taken")
        self.expect("let x-y = 1", "expected 'let NAME = EXPRESSION'")
        self.expect("fault share X 0.5x", "expected a share from 0 to 1")
        self.expect("fault share X", "expected a share from 0 to 1")
        self.expect("fault zero X 3", "expected nothing after the pattern")
        self.expect("event X 1\n\0garbage", "expected text, got a zero byte")
        self.expect("generic cycles", "expected 'generic NAME EVENT | EVENT...'")

    def test_options_that_are_wrong(self):
        for words, message in (
                (("--cpu", "nothing", "--", "true"), "unknown processor 'nothing'"),
                (("--", "true"), "expected --cpu NAME"),
                (("--cpu", "skl"), "expected a program"),
                (("--cpu", "skl", "--paranoid", "4", "--", "true"), "a number from -1 to 3"),
                (("--cpu", "skl", "--recording", "/nonexistent", "--", "true"), "No such file"),
                (("--cpu", "skl", "--model", "/nonexistent", "--", "true"), "No such file")):
            done = run(PFM, "pretend", *words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    main()
