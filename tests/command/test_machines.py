#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recorded machines replayed through the command: what `pfm list`, `pfm encode` and `pfm stat
--dry-run` make of them.

A recording is a text file, a line for each file of the machine: path, TAB, content. It is laid out
below a folder that PERFMON_SYSFS names, PERFMON_CPUID says which processor it is, PERFMON_EVENTS
which imported lists there are: nothing is asked of the machine that the test runs on. Recordings of
our own are in tests/machines/; more, and the vendors' lists, are read from $PERFMON_SHARED.
"""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(HERE, "..", "compiler")]
import pmuc  # noqa: E402
from tap import SHARED, main  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
DATA = os.path.join(SHARED, "data")
VECTORS = os.path.join(SHARED, "vectors", "modern_public.jsonl")
DEVICES = "/sys/bus/event_source/devices/"
ONLINE = "/sys/devices/system/cpu/online"
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
SLOWEST = 120

# Each recording: identity as in the vendors' mapfiles, online CPUs, and the source of its event
# list.
MACHINES = {
    "adl": ("GenuineIntel-6-97-2", "0-23", "intel"),
    "lnl": ("GenuineIntel-6-BD-1", "0-7", "intel"),
    "hsw": ("GenuineIntel-6-3C-3", "0-7", "intel"),
    "skx": ("GenuineIntel-6-55-4", "0-55", "intel"),
    "icx": ("GenuineIntel-6-6A-6", "0-63", "intel"),
    "spr": ("GenuineIntel-6-8F-8", "0-111", "intel"),
    "zen4": ("AuthenticAMD-25-61-2", "0-15", "linux-6.12"),
    "neoverse-n1": ("0x00000000413fd0c1", "0-63", "linux-6.12"),
    "power9": ("0x004e1202", "0-31", "linux-6.12"),
    "z15": ("IBM,8561,703,T01,3.6,002f", "0-7", "linux-6.12"),
    "riscv-u74": ("0x489-0x8000000000000007-0x4210427", "0-3", "linux-6.12"),
}


class Machine:
    """A recording laid out in a folder of its own."""

    def __init__(self, recording, cpuid, images="", more=None):
        self.root = tempfile.mkdtemp()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("PERFMON_")}
        self.env.update(PERFMON_SYSFS=self.root, PERFMON_CPUID=cpuid, PERFMON_EVENTS=images,
                        NO_COLOR="1", XDG_DATA_HOME=os.path.join(self.root, "none"),
                        HOME=os.path.join(self.root, "none"))
        if recording:
            with open(recording, encoding="utf-8") as f:
                for line in f:
                    path, tab, text = line.rstrip("\n").partition("\t")
                    if tab and not path.startswith("#"):
                        self.put(path, text.replace("\\n", "\n"))
        for path, text in (more or {}).items():
            self.put(path, text)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        shutil.rmtree(self.root)

    def path(self, path):
        return self.root + (path if path.startswith("/") else DEVICES + path)

    def put(self, path, text):
        """@text None takes the file away, bytes are written as they are."""
        full = self.path(path)
        if text is None:
            os.unlink(full)
            return
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode() + b"\n")

    def read(self, path):
        with open(self.path(path), encoding="utf-8") as f:
            return f.read().strip()

    def run(self, *args, text=None):
        return subprocess.run([PFM, *args], input=text, capture_output=True, text=True,
                              errors="surrogateescape", env=self.env, timeout=SLOWEST, check=False)

    def lines(self, *args, text=None):
        p = self.run(*args, text=text)
        return [json.loads(line) for line in p.stdout.splitlines()]

    def pmus(self):
        """(name, origin) -> PMU: a kernel PMU and the list that describes it may have one name."""
        return {(p["pmu"], origin(p)): p for p in self.lines("list", "--pmus", "--json")}

    def here(self):
        return {key for key, p in self.pmus().items() if p["host"]}

    def origins(self, event):
        """Where an event of this name, and this very name, comes from, in the order of the
        listing."""
        found = self.lines("list", "--json", event)
        return {e["pmu"]: origin(e) for e in found if e["event"].lower() == event.lower()}

    def encode(self, *texts):
        return self.lines("encode", "--json", "-", text="".join(t + "\n" for t in texts))

    def perf(self, text):
        """Type and configuration words that matter."""
        a = self.encode(text)[0]
        return words(a["perf"]) if "perf" in a else a["error"]["kind"]

    def plan(self, events, *args):
        return self.lines("stat", "--dry-run", "--json", "-e", events, *args)


def origin(object_with_origin):
    return "image" if "/" in object_with_origin["origin"] else object_with_origin["origin"]


def words(perf):
    found = [perf["type"]] + [int(perf[k], 16) for k in ("config", "config1", "config2")]
    while len(found) > 2 and found[-1] == 0:
        found.pop()
    return tuple(found)


def brief(plan):
    """Event, PMU, parts."""
    return [(p["event"], p["pmu"], p["parts"]) for p in plan]


def importing(path, folder):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(
            io.StringIO()) as err:
        if pmuc.main(["import", path, "-o", folder + "/"]):
            raise AssertionError(err.getvalue())


def ours(name, cpuid, images="", **more):
    return Machine(os.path.join(HERE, "machines", name + ".txt"), cpuid, images,
                   {k.replace("__", "/"): v for k, v in more.items()})


# ---- recordings of our own -----------------------------------------------------------------------

HYBRID, UNCORE = "GenuineIntel-6-97-2", "GenuineIntel-6-55-4"

LIST = """\
pmu      made_up    "A list made up for tests"
encoder  x86
device   cpu
pmctype  perf 4
match    arch=x86 vendor="GenuineIntel" family=6 model=0x55
source   "nowhere"
counter  0..3       width=48 control=0x186 value=0xc1
field    code       at=config:0-7
field    umask      at=config:8-15
event  instructions    code=0x11 "The same name everywhere."
event  CPU-MIGRATIONS  code=0x12 "In the list and built in."
event  LISTED.ONLY     code=0x13 umask=0x7 "In the list alone."
"""


class Hybrid(unittest.TestCase):
    """Four fast and four small cores, tests/machines/hybrid.txt."""

    def setUp(self):
        self.m = ours("hybrid", HYBRID)
        self.addCleanup(self.m.__exit__)

    def test_both_cores_are_listed(self):
        here = self.m.here()
        for name in ("cpu_core", "cpu_atom", "power", "uncore_imc", "tracepoint", "breakpoint"):
            self.assertIn((name, "kernel"), here)
        for name in ("hardware", "software", "hw_cache"):
            self.assertIn((name, "built in"), here)
        self.assertEqual(self.m.pmus()["uncore_imc", "kernel"]["instances"], 2)
        self.assertTrue(self.m.pmus()["uncore_imc", "kernel"]["uncore"])

    def test_an_event_goes_to_every_core_that_has_it(self):
        self.assertEqual(brief(self.m.plan("cpu-cycles,mem-stores", "true")),
                         [("cpu-cycles", "cpu_atom", 1), ("cpu-cycles", "cpu_core", 1),
                          ("mem-stores", "cpu_atom", 1), ("mem-stores", "cpu_core", 1)])
        plan = self.m.plan("mem-stores", "true")
        self.assertEqual([words(p["perf"]) for p in plan], [(10, 0x6d0), (4, 0x2cd)])
        self.assertEqual([p["cpus"] for p in plan], ["4-7", "0-3"])

    def test_events_of_memory_accesses(self):
        """Those that the kernel exports for each kind of core, with a least latency of 30 cycles
        for loads."""
        (plan,) = self.m.plan("cpu_core/mem-loads,ldlat=30/", "true")
        self.assertEqual(words(plan["perf"])[:2], (4, 0x1cd))
        done = subprocess.run([PFM, "mem", "record", "-o", os.devnull, "--", "true"],
                              env=self.m.env, capture_output=True, text=True, timeout=SLOWEST,
                              check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(
            re.findall(r"^pfm record: (cpu_\S+): ", done.stderr, re.M),
            ["cpu_core/mem-loads,ldlat=30/", "cpu_core/mem-stores/", "cpu_atom/mem-stores/"])

    def test_generic_events_carry_the_type_of_the_core(self):
        plan = self.m.plan("cycles,L1-dcache-loads", "true")
        self.assertEqual([(p["pmu"],) + words(p["perf"]) for p in plan],
                         [("cpu_atom", 0, 0xa00000000), ("cpu_core", 0, 0x400000000),
                          ("cpu_atom", 3, 0xa00000000), ("cpu_core", 3, 0x400000000)])

    def test_messages_name_the_cores_that_lack_an_event(self):
        for event in ("slots", "mem-loads"):
            plan = self.m.plan(event, "true")
            self.assertEqual(brief(plan), [(event, "cpu_core", 1)])
            self.assertEqual(plan[0]["why"],
                             "cpu_atom does not have the event: not counted on CPUs 4-7")
        self.assertIn("cpu_atom does not have the event",
                      self.m.run("stat", "--dry-run", "-e", "slots", "true").stdout)
        self.assertNotIn("why", self.m.plan("cpu_core/slots/", "true")[0])

    def test_naming_a_core(self):
        self.assertEqual(self.m.perf("cpu_core/mem-loads/"), (4, 0x1cd, 3))
        self.assertEqual(self.m.perf("cpu_core/mem-loads,ldlat=0x40/"), (4, 0x1cd, 0x40))
        self.assertEqual(self.m.perf("cpu_atom/event=0x2e,umask=0x41/"), (10, 0x412e))
        self.assertEqual(self.m.perf("cpu_atom/mem-loads/"), "unknown_qualifier")
        # Generic names of Linux between slashes are that PMU's own.
        self.assertEqual(self.m.perf("cpu_core/cycles/"), (4, 0x3c))
        self.assertEqual(self.m.perf("cpu_atom/cycles/u"), (10, 0x3c))
        self.assertEqual(self.m.perf("cpu_atom/PERF_COUNT_HW_INSTRUCTIONS/"), (10, 0xc0))
        self.assertEqual(self.m.perf("cpu_atom/branches/"), "unknown_qualifier")
        self.assertEqual(self.m.perf("power/cycles/"), "unknown_qualifier")

    def test_metrics_are_counted_on_their_cores(self):
        """Those of a type of core are counted there, of the big ones slots before the figures; the
        generic ones on every type."""
        plan = self.m.lines("stat", "--dry-run", "--json", "--topdown", "true")
        self.assertEqual({(p["event"].split("::")[0], p["pmu"], p["cpus"]) for p in plan},
                         {("adl_goldencove", "cpu_core", "0-3"),
                          ("adl_gracemont", "cpu_atom", "4-7")})
        self.assertEqual(plan[0]["event"], "adl_goldencove::TOPDOWN.SLOTS")
        self.assertEqual(words(plan[0]["perf"]), (4, 0x400))
        self.assertEqual({words(p["perf"]) for p in plan[1:5]}, {(4, 0x8000), (4, 0x8100),
                                                                 (4, 0x8200), (4, 0x8300)})
        self.assertEqual({p["group"] for p in plan[:5]}, {0})
        plan = self.m.lines("stat", "--dry-run", "--json", "-M", "hardware::ipc", "true")
        self.assertEqual(sorted(
            (p["event"], p["pmu"]) for p in plan), [("hardware::cpu-cycles", "cpu_atom"),
                                                    ("hardware::cpu-cycles", "cpu_core"),
                                                    ("hardware::instructions", "cpu_atom"),
                                                    ("hardware::instructions", "cpu_core")])

    def test_groups_are_opened_on_each_core(self):
        plan = self.m.plan("{cpu-cycles,instructions},page-faults", "true")
        self.assertEqual([(p["group"], p["event"], p["pmu"]) for p in plan],
                         [(0, "cpu-cycles", "cpu_atom"), (0, "instructions", "cpu_atom"),
                          (1, "cpu-cycles", "cpu_core"), (1, "instructions", "cpu_core"),
                          (2, "page-faults", "software")])

    def test_chosen_cpus_choose_the_core(self):
        plan = self.m.plan("cpu-cycles", "-C", "1-2,5")
        self.assertEqual(brief(plan), [("cpu-cycles", "cpu_atom", 1),
                                       ("cpu-cycles", "cpu_core", 2)])
        plan = self.m.plan("cpu-cycles", "-C", "0")
        self.assertEqual(brief(plan), [("cpu-cycles", "cpu_atom", 0),
                                       ("cpu-cycles", "cpu_core", 1)])
        self.assertIn("cpu_atom counts only on CPUs 4-7", plan[0]["why"])
        self.assertEqual(brief(self.m.plan("cpu-cycles", "-a")), [("cpu-cycles", "cpu_atom", 4),
                                                                  ("cpu-cycles", "cpu_core", 4)])

    def test_off_the_core_and_software(self):
        plan = self.m.plan(
            "uncore_imc/data_reads/,uncore_imc_1/data_reads/,power/energy-pkg/,context-switches,sched:sched_switch",
            "-a",
        )
        self.assertEqual([(p["pmu"], p["parts"], p.get("unit", "")) + words(p["perf"])
                          for p in plan], [("uncore_imc", 2, "MiB", 21, 1),
                                           ("uncore_imc_1", 1, "MiB", 22, 1),
                                           ("power", 1, "Joules", 20, 2), ("software", 8, "", 1, 3),
                                           ("tracepoint", 8, "", 2, 372)])

    def test_nothing_is_counted_here(self):
        p = self.m.run("stat", "-e", "cpu-cycles,page-faults", "true")
        self.assertEqual(p.returncode, 1)
        self.assertIn("is a recorded machine", p.stdout + p.stderr)


class Uncore(unittest.TestCase):
    """Two packages with boxes, CPU 6 off line: tests/machines/uncore.txt."""

    def test_a_kernel_event_for_each_instance_on_the_cpus_of_its_mask(self):
        with ours("uncore", UNCORE) as m:
            self.assertEqual(m.pmus()["uncore_cha", "kernel"]["instances"], 12)
            plan = m.plan("uncore_cha/event=1/,uncore_cha_10/event=1/", "-a")
            self.assertEqual([(p["pmu"], p["parts"], p["cpus"]) for p in plan],
                             [("uncore_cha", 24, "0,4"), ("uncore_cha_10", 2, "0,4")])
            self.assertEqual(words(plan[1]["perf"])[0], int(m.read("uncore_cha_10/type")))
            self.assertEqual(brief(m.plan("uncore_cha/event=1/", "-C", "4")),
                             [("uncore_cha/event=1/", "uncore_cha", 12)])
            self.assertEqual(brief(m.plan("cstate_core/c6-residency/", "-a")),
                             [("cstate_core/c6-residency/", "cstate_core", 7)])

    def test_metrics_are_counted_on_every_instance(self):
        """On every instance of a box, groups of boxes and of cores side by side."""
        with ours("uncore", "GenuineIntel-6-55-4") as m:
            plan = m.lines(
                "stat", "-a", "--dry-run", "--json", "-M",
                "Info_System_DRAM_BW_Use,Info_System_MEM_DRAM_Read_Latency,Info_Thread_IPC")
            boxes = [p for p in plan if p["pmu"] == "uncore_imc"]
            self.assertEqual([(p["event"].partition("::")[2], words(p["perf"])[1])
                              for p in boxes if "CAS" in p["event"]],
                             [("UNC_M_CAS_COUNT.RD", 0x304), ("UNC_M_CAS_COUNT.WR", 0xc04)])
            self.assertEqual({(p["parts"], p["cpus"]) for p in boxes}, {(4, "0,4")})
            self.assertEqual({words(p["perf"])[0] for p in boxes},
                             {int(m.read("uncore_imc_0/type"))})
            cores = [p for p in plan if p["pmu"] == "cpu"]
            self.assertEqual({p["event"] for p in cores},
                             {"skx::INST_RETIRED.ANY", "skx::CPU_CLK_UNHALTED.THREAD"})
            self.assertFalse({p["group"] for p in boxes} & {p["group"] for p in cores})

    def test_split_fields_go_to_their_bits(self):
        with ours("uncore", UNCORE) as m:
            self.assertEqual(
                m.perf("uncore_cha/event=0x34,umask=0x155/")[1], 0x55 << 8 | 1 << 32 | 0x34)
            self.assertEqual(m.perf("uncore_cha/event=0x34,filter_opc0=0x3ff/")[2], 0x3ff << 41)
            self.assertEqual(m.perf("uncore_cha/event=0x100/"), "bad_value")

    def test_a_cpu_that_went_off_line(self):
        # CPU 6 is in the mask, as it is for a moment after it went away, and not on line.
        with ours("uncore", UNCORE, uncore_cha_0__cpumask="0,6", uncore_cha_1__cpumask="6") as m:
            plan = m.plan("uncore_cha_0/event=1/,uncore_cha_1/event=1/,uncore_cha/event=1/", "-a")
            self.assertEqual([p["parts"] for p in plan], [1, 0, 21])
            self.assertIn("not on line", plan[1]["why"])
        with ours("uncore", UNCORE) as m:
            plan = m.plan("cpu-cycles", "-C", "6")
            self.assertEqual(plan[0]["parts"], 0)
            self.assertIn("not on line", plan[0]["why"])
            self.assertEqual([p["parts"] for p in m.plan("cpu-cycles", "-C", "5-7")], [2])

    def test_values_the_user_has_to_give(self):
        with ours("uncore", UNCORE) as m:
            self.assertEqual(m.perf("hv_24x7/PM_PB_CYC/"), "missing_value")
            self.assertEqual(m.perf("hv_24x7/PM_PB_CYC,chip=2/"), (19, 0x60 << 32 | 2 << 16 | 1))


class Servers(unittest.TestCase):
    """AMD's and Arm's boxes with the lists built in, tests/machines/amd.txt and arm.txt."""

    def check(self, m, tables, answers, plans):
        self.addCleanup(m.__exit__)
        self.assertLessEqual(set(tables), {n for n, o in m.here() if o == "built in"})
        for text, (pmu, *want) in answers.items():
            a = m.encode(text)[0]
            self.assertEqual((a.get("pmu"), words(a["perf"]) if "perf" in a else a),
                             (pmu, tuple(want)), text)
        for text, want in plans.items():
            self.assertEqual([(p["pmu"], p["parts"]) for p in m.plan(text, "-a")], want, text)

    def test_a_server_of_amd_has_its_boxes(self):
        self.check(
            ours("amd", "AuthenticAMD-25-61-2"),
            ("amdzen4", "amdzen4_amd_l3", "amdzen4_amd_df", "amdzen4_amd_umc"), {
                "ex_ret_instr": ("amdzen4", 4, 0xc0),
                "ls_dispatch.ld_dispatch": ("amdzen4", 4, 0x129),
                "cpu-cycles": ("cpu", 4, 0x76),
                "l3_lookup_state.all_coherent_accesses_to_l3": ("amdzen4_amd_l3", 11, 0xff04),
                "local_processor_read_data_beats_cs0": ("amdzen4_amd_df", 12, 0x700fe1f),
                "umc_mem_clk": ("amdzen4_amd_umc", 20, 0),
                "amd_umc_3/event=0xa,rdwrmask=1/": ("amd_umc", 23, 0x10a),
                "ibs_op/cnt_ctl=1/": ("ibs_op", 10, 1 << 19),
            }, {
                "l3_lookup_state.all_coherent_accesses_to_l3,umc_mem_clk": [("amd_l3", 2),
                                                                            ("amd_umc", 4)],
                "power/energy-pkg/,ex_ret_instr": [("power", 2), ("cpu", 16)]
            })

    def test_a_server_of_arm_has_its_mesh(self):
        m = ours("arm", "0x00000000413fd0c1")
        self.check(
            m,
            ("neoverse_n1", "arm_cmn"),
            {
                "CPU_CYCLES": ("armv8_pmuv3_0", 8, 0x11),
                "MEM_ACCESS": ("neoverse_n1", 8, 0x13),
                "neoverse_n1::CPU_CYCLES:long=1": ("neoverse_n1", 8, 0x11, 1),
                "hnf_sf_hit": ("arm_cmn", 20, 6 << 16 | 5),
                "arm_cmn_1/hnf_cache_miss/": ("arm_cmn", 21, 1 << 16 | 5),
                "arm_dsu_1/bus_access/": ("arm_dsu", 31, 0x19),
                "arm_spe_0/jitter=1,min_latency=32/": ("arm_spe", 9, 1 << 16, 0, 32),
                # A unit has an event of that name too: perf means the cores' by it.
                "cycles": ("hardware", 0, 0),
                "arm_dsu::cycles": ("arm_dsu", 30, 0x11),
                "arm_dsu_0/cycles/": ("arm_dsu", 30, 0x11),
            },
            {
                "hnf_sf_hit,arm_dsu/bus_access/": [("arm_cmn", 2), ("arm_dsu", 2)],
                "arm_cmn_1/hnf_cache_miss/": [("arm_cmn_1", 1)], "cycles": [("hardware", 32)]
            })


class Imported(unittest.TestCase):
    """Invented lists in Intel's form (tests/lists) for the machines of this folder."""

    @classmethod
    def setUpClass(cls):
        cls.images = tempfile.mkdtemp()
        importing(os.path.join(HERE, "lists", "intel-like"), cls.images)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.images)

    def test_imported_boxes_are_counted(self):
        with ours("uncore", "GenuineIntel-6-E5-1", self.images) as m:
            self.assertEqual({n for n, o in m.here() if o == "image"},
                             {"toy", "toy_uncore_cha", "toy_uncore_imc", "toy_uncore_upi"})
            self.assertEqual(m.perf("SHED.PAINTED:u"), (4, 0x7a1))
            self.assertEqual(m.perf("OCR.HAY.FAR_BARN"), (4, 0x1b7, 0x3f80c00001))
            self.assertEqual(m.perf("cpu/BARN.HAY,cmask=2/"), (4, 2 << 24 | 0x402c))
            self.assertEqual(
                [(p["pmu"], p["parts"])
                 for p in m.plan("UNC_CHA_CLOCKTICKS,UNC_M_CARTS.IN,SHED.PAINTED", "-a")],
                [("uncore_cha", 24), ("uncore_imc", 4), ("cpu", 7)])
            self.assertEqual(m.perf("hay_rate"), "unsupported_alias")

    def test_both_types_of_cores(self):
        with ours("hybrid", "GenuineIntel-6-E6-0", self.images) as m:
            self.assertEqual(m.perf("YOKE.PULLED"), (4, 1 << 40 | 0xc4))
            self.assertEqual(m.perf("CLIMB.ROCKS"), (10, 0x210d))
            self.assertEqual([(p["pmu"], p["parts"])
                              for p in m.plan("INST_RETIRED.ANY,CLIMB.ROCKS", "true")],
                             [("cpu_atom", 1), ("cpu_core", 1), ("cpu_atom", 1)])


class Precedence(unittest.TestCase):
    """The running kernel's names, then the list, then what is built in."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        source = os.path.join(cls.folder, "made_up.pmu")
        with open(source, "w", encoding="utf-8") as f:
            f.write("# SPDX-License-Identifier: MIT\n" + LIST)
        importing(source, cls.folder)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_kernel_then_list_then_built_in(self):
        gone = {"cpu__events__instructions": None}
        with ours("uncore", UNCORE, self.folder) as m:
            self.assertEqual(m.perf("instructions"), (4, 0xc0))
            self.assertEqual(m.encode("instructions")[0]["pmu"], "cpu")
        with ours("uncore", UNCORE, self.folder, **gone) as m:
            self.assertEqual(m.perf("instructions"), (4, 0x11))
            self.assertEqual(m.encode("instructions")[0]["pmu"], "made_up")
        with ours("uncore", UNCORE, **gone) as m:
            self.assertEqual(m.perf("instructions"), (0, 1))
            self.assertEqual(m.encode("instructions")[0]["pmu"], "hardware")

    def test_a_processor_the_list_is_not_for(self):
        with ours("uncore", "GenuineIntel-6-8F-8", self.folder,
                  cpu__events__instructions=None) as m:
            self.assertEqual(m.perf("instructions"), (0, 1))
            self.assertEqual(m.perf("LISTED.ONLY"), "unknown_event")
            self.assertEqual(m.perf("made_up::LISTED.ONLY"), (4, 0x713))

    def test_a_prefix_chooses_the_table(self):
        with ours("uncore", UNCORE, self.folder) as m:
            self.assertEqual(m.perf("made_up::instructions"), (4, 0x11))
            self.assertEqual(m.perf("hardware::instructions"), (0, 1))
            self.assertEqual(m.perf("cpu/instructions/"), (4, 0xc0))
            self.assertEqual(m.perf("cpu/LISTED.ONLY/"), (4, 0x713))
            self.assertEqual(m.perf("cpu::LISTED.ONLY"), (4, 0x713))
            self.assertEqual(m.perf("LISTED.ONLY"), (4, 0x713))

    def test_imported_lists_come_before_built_in_tables(self):
        with ours("uncore", UNCORE, self.folder) as m:
            self.assertEqual(m.perf("cpu-migrations"), (4, 0x12))
        with ours("uncore", UNCORE) as m:
            self.assertEqual(m.perf("cpu-migrations"), (1, 4))

    def test_listing_says_where_each_came_from(self):
        with ours("uncore", UNCORE, self.folder) as m:
            found = m.origins("instructions")
            self.assertEqual({k: found[k] for k in ("cpu", "made_up", "hardware")},
                             {"cpu": "kernel", "made_up": "image", "hardware": "built in"})
            text = m.run("list", "instructions").stdout
            for heading in ("cpu  ", "(kernel)", "(built in)", "made_up.pmdb)"):
                self.assertIn(heading, text)
            path = {p["origin"] for (name, _), p in m.pmus().items() if name == "made_up"}
            self.assertEqual(path, {os.path.join(self.folder, "made_up.pmdb")})


# Two kinds of units that come with any processor: what the kernel reads from them says which list
# is theirs.
IDENTIFIED = """\
pmu      mesh_list  "A mesh made up for tests"
encoder  format
device   mesh
uncore   mesh
text     compat
field    code       at=config:0-7
event  mesh.flits  code=0x21 compat="434* 435* 436* 50a*" "Known by the unit's identifier."
event  mesh.turns  code=0x22 compat="777" "Of another make."
"""


class Identified(unittest.TestCase):
    """Lists with no processor of theirs are for units whose identifier they name."""

    def encode(self, identifier):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "mesh_list.pmu")
            with open(source, "w", encoding="utf-8") as f:
                f.write(IDENTIFIED)
            importing(source, folder)
            more = {
                "mesh_%d/%s" % (i, name): text for i in (0, 1)
                for name, text in (("type", str(60 + i)), ("cpumask", "0"), ("format/event",
                                                                             "config:0-7"))
            }
            if identifier:
                more.update({"mesh_%d/identifier" % i: identifier for i in (0, 1)})
            with Machine(None, "0x00000000413fd0c1", folder, more) as m:
                host = m.pmus()["mesh_list", "image"]["host"]
                return host, m.perf("mesh.flits"), m.perf("mesh_1/mesh.flits/"), [
                    p["parts"] for p in m.plan("mesh.flits", "-a") if "error" not in p
                ]

    def test_a_known_identifier_has_events(self):
        for identifier in "43401", "50a", "777":
            self.assertEqual(self.encode(identifier), (True, (60, 0x21), (61, 0x21), [2]))

    def test_an_unknown_identifier_has_none(self):
        for identifier in "0434", "43701", "50", None:
            host, event, _, plan = self.encode(identifier)
            self.assertEqual((host, event, plan), (False, "unknown_event", []))


class Unknown(unittest.TestCase):
    """Processors no list is for."""

    def test_an_intel_of_tomorrow(self):
        with ours("uncore", "GenuineIntel-19-7-1") as m:
            fallback = m.pmus()["intel_arch", "built in"]
            self.assertTrue(fallback["host"] and fallback["fallback"])
            line = next(s for s in m.run("list", "--pmus").stdout.splitlines()
                        if s.split()[:1] == ["intel_arch"])
            self.assertIn("this model is unknown", line)
            a = m.encode("LLC_MISSES")[0]
            self.assertEqual((a["pmu"], words(a["perf"])), ("intel_arch", (4, 0x412e)))
            self.assertEqual(m.perf("L1D.REPLACEMENT"), "unknown_event")
            self.assertEqual(m.perf("cpu-cycles"), (4, 0x3c))

    def test_unknown_models_have_the_events_of_their_architecture(self):
        for cpuid, device, pmu, event, want in (("AuthenticAMD-24-EE-0", "cpu", "amd",
                                                 "ls_dispatch.all", (4, 0x729)),
                                                ("0x00000000990fabc0", "armv8_pmuv3_0", "armv8",
                                                 "INST_RETIRED", (4, 8)),
                                                ("0x00000000990fabc0", "nothing", "armv8",
                                                 "INST_RETIRED", (None, 8))):
            with Machine(None, cpuid,
                         more={device + "/type": "4", device + "/format/event": "config:0-7"}) as m:
                self.assertTrue(m.pmus()[pmu, "built in"]["fallback"], cpuid)
                a = m.encode(event)[0]
                self.assertEqual((a["pmu"], words(a["perf"])), (pmu, want))

    def test_a_list_takes_the_place_of_the_fallback(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "made_up.pmu")
            with open(source, "w", encoding="utf-8") as f:
                f.write(LIST)
            importing(source, folder)
            with ours("uncore", UNCORE, folder) as m:
                here = m.here()
                self.assertIn(("made_up", "image"), here)
                self.assertNotIn(("intel_arch", "built in"), here)

    def test_an_unknown_machine_encodes_by_prefix(self):
        with Machine(None, "nonsense") as m:
            self.assertEqual(m.perf("coreduo::L2_LINES_IN:SELF")[1], 0x7024)
            self.assertIn(m.perf("L2_LINES_IN"), ("unknown_event", "ambiguous"))
            self.assertEqual(m.run("list", "--pmus").returncode, 0)


class Odd(unittest.TestCase):
    """Files that cannot be read or make no sense cost what they say, and nothing else."""

    def check(self, change, still=("cpu/cpu-cycles/", (4, 0x3c)), lost=None):
        with ours("uncore", UNCORE) as m:
            change(m)
            p = m.run("list", "--pmus")
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            self.assertEqual(m.perf(still[0]), still[1])
            self.assertEqual(m.perf("uncore_cha_1/event=1/")[1], 1)
            if lost:
                # The processor's own table still encodes a box, without this machine's type.
                answer = m.perf(lost)
                self.assertTrue(isinstance(answer, str) or answer[0] is None, answer)
            return m.plan("cpu-cycles,uncore_cha/event=1/", "-a")

    @staticmethod
    def folder(m, path):
        m.put(path, None)
        os.mkdir(m.path(path))

    @staticmethod
    def dangling(m, path):
        m.put(path, None)
        os.symlink("nowhere", m.path(path))

    def test_an_odd_type_loses_its_pmu_only(self):
        for text in ("", "abc", "-3", "99999999999999999999", "4 5", b"\0\0", b"x" * 5000):
            self.check(lambda m, t=text: m.put("cstate_core/type", t),
                       lost="cstate_core/c6-residency/")
        self.check(lambda m: self.folder(m, "cstate_core/type"), lost="cstate_core/c6-residency/")
        self.check(lambda m: self.dangling(m, "cstate_core/type"), lost="cstate_core/c6-residency/")

    def test_an_odd_format_loses_its_field_only(self):
        for text in ("", "config", "config:", "config:70", "config9:1", "config:7-0", "config:0-7,",
                     "gonfig:0-7", b"\xff\xfe", b"x" * 5000,
                     "config:" + ",".join(str(2 * i) for i in range(32))):
            self.check(lambda m, t=text: m.put("cpu/format/any", t), lost="cpu/event=1,any=1/")
        self.check(lambda m: self.folder(m, "cpu/format/any"), lost="cpu/event=1,any=1/")

    def test_an_odd_event_is_lost_alone(self):
        for text in ("", "event", "event=", "event=0xzz", "event=0x100", "nofield=1",
                     "event=1,,umask=1", "event=0x3c,", b"\0", b"=" * 5000):
            plan = self.check(lambda m, t=text: m.put("cpu/events/branch-misses", t))
            self.assertEqual(len(plan), 2)
        for text in ("event=", "event=0xzz", "event=0x100", "nofield=1", ""):
            self.check(lambda m, t=text: m.put("cpu/events/odd-one", t), lost="cpu/odd-one/")
        self.check(lambda m: m.put("cpu/events/" + "n" * 250, "event=1"))
        self.check(lambda m: m.put("cpu/events/\udcff\udcfe", "event=1"))
        self.check(lambda m: m.put("cpu/events/a b,c", "event=1"))

    def test_an_odd_scale_is_ignored(self):
        for text in ("", "x", "1e999", "-", "0,5", "nan", b"\xff"):
            self.check(
                lambda m, t=text: (m.put("cpu/events/instructions.scale", t),
                                   m.put("cpu/events/instructions.unit", t)),
                still=("cpu/instructions/", (4, 0xc0)))
        self.check(lambda m: m.put("cpu/events/orphan.unit", "Joules"), lost="cpu/orphan.unit/")

    def test_an_odd_list_of_cpus_is_ignored(self):
        for text in ("", "garbage", "3-1", "0,,4", "0-99999999", "-1", b"\0"):
            plan = self.check(
                lambda m, t=text: [m.put("uncore_cha_%d/cpumask" % i, t) for i in range(12)])
            self.assertEqual(len(plan), 2)
        for text in ("", "garbage", "7-0"):
            self.check(lambda m, t=text: m.put(ONLINE, t))
        self.check(lambda m: m.put(ONLINE, None))
        for text in ("", "x", "99999999999999999999"):
            self.check(lambda m, t=text: m.put(PARANOID, t))

    def test_strange_folders_do_no_harm(self):
        def many(m):
            m.put("uncore_cha_x/type", "77")
            m.put("uncore_cha_/type", "78")
            m.put("0/type", "79")
            m.put("_/type", "80")
            m.put("uncore_cha_99999999999999999999/type", "81")
            m.put("n" * 200 + "/type", "82")
            m.put("a file.d", "not a folder")
            os.symlink(".", m.path("loop"))
            os.mkfifo(m.path("cpu/events/fifo"))
        self.check(many)

    def test_an_empty_machine_encodes(self):
        for more in ({}, {"/sys/x": ""}, {"cpu/type": "4"}, {ONLINE: "0"}):
            with Machine(None, UNCORE, more=more) as m:
                self.assertEqual(m.run("list", "--pmus").returncode, 0)
                self.assertEqual(m.perf("cycles"), (0, 0))
                p = m.run("stat", "--dry-run", "--json", "-e", "page-faults", "true")
                self.assertEqual(words(json.loads(p.stdout)["perf"]), (1, 2))

    def test_no_such_root(self):
        with Machine(None, UNCORE) as m:
            m.env["PERFMON_SYSFS"] = os.path.join(m.root, "nowhere")
            self.assertEqual(m.run("list", "--pmus").returncode, 0)
            self.assertEqual(m.perf("cycles"), (0, 0))


# ---- shared recordings ---------------------------------------------------------------------------

def instances(m, unit):
    """Names of the folders of a unit, from the recording itself."""
    return [
        d for d in os.listdir(m.path(""))
        if d == unit or (d.startswith(unit + "_") and d[len(unit) + 1:].isdigit())
    ]


class Recorded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.images = {}
        if os.path.isdir(DATA):
            for lists in ("intel", "linux-6.12"):
                cls.images[lists] = tempfile.mkdtemp()
                importing(os.path.join(DATA, lists), cls.images[lists])

    @classmethod
    def tearDownClass(cls):
        for folder in cls.images.values():
            shutil.rmtree(folder)

    def machine(self, name):
        recording = os.path.join(DATA, "sysfs", name + ".txt")
        if not self.images or not os.path.isfile(recording):
            self.skipTest("no recorded machines at PERFMON_SHARED")
        cpuid, online, lists = MACHINES[name]
        m = Machine(recording, cpuid, self.images[lists], {ONLINE: online, PARANOID: "0"})
        self.addCleanup(m.__exit__)
        return m

    def check(self, name, tables, answers, plans):
        """@tables: lists for this machine. @answers: text -> PMU it is found on and perf words.
        @plans: text -> (PMU, parts)."""
        m = self.machine(name)
        listed = m.pmus()
        here = {key for key, p in listed.items() if p["host"]}
        self.assertEqual({n for n, o in here if o == "image"}, set(tables))
        units = {n for n, o in here if o == "kernel"}
        for folder in os.listdir(m.path("")):
            base = folder.rstrip("0123456789").rstrip("_")
            # Names that coincide with a table's, as the kernel's "software", are listed once.
            self.assertTrue(folder in units or base in units or folder == "software", folder)
        for (unit, where), p in listed.items():
            if where == "kernel":
                self.assertEqual(p["instances"], max(1, len(instances(m, unit))), unit)
        for text, (pmu, *want) in answers.items():
            a = m.encode(text)[0]
            self.assertEqual((a.get("pmu"), words(a["perf"]) if "perf" in a else a),
                             (pmu, tuple(want)), text)
        for text, want in plans.items():
            args = ("true",) if text.startswith("task ") else ("-a",)
            plan = m.plan(text[5:] if text.startswith("task ") else text, *args)
            self.assertEqual([(p["pmu"], p["parts"]) for p in plan], want, text)
        return m

    def test_alder_lake_has_its_events(self):
        m = self.check(
            "adl", ("adl_goldencove", "adl_gracemont"), {
                "INST_RETIRED.ANY": ("adl_goldencove", 4, 0xc0),
                "adl_gracemont::INST_RETIRED.ANY": ("adl_gracemont", 10, 0xc0),
                "cpu_atom/LD_HEAD.ANY_AT_RET/": ("adl_gracemont", 10, 0xff05),
                "slots": ("cpu_core", 4, 0x400),
                "topdown-retiring": ("cpu_atom", 10, 0xc2),
                "cpu_core/topdown-retiring/": ("cpu_core", 4, 0x8000),
                "cpu_core/cycles/": ("cpu_core", 4, 0x3c),
                "msr/tsc/": ("msr", 9, 0),
                "uncore_imc_free_running_0/data_read/": ("uncore_imc_free_running", 22, 0x20ff),
            }, {
                "task INST_RETIRED.ANY": [("cpu_atom", 1), ("cpu_core", 1)],
                "task L1D.REPLACEMENT": [("cpu_core", 1)],
                "task LD_HEAD.ANY_AT_RET": [("cpu_atom", 1)],
                "cpu-cycles": [("cpu_atom", 8), ("cpu_core", 16)],
                "cycles": [("cpu_atom", 8), ("cpu_core", 16)],
                "power/energy-pkg/,context-switches": [("power", 1), ("software", 24)],
            })
        self.assertEqual(
            m.plan("LD_HEAD.ANY_AT_RET", "true")[0]["why"],
            "cpu_core does not have the event: not counted on CPUs 0-15")
        self.assertEqual([p["group"] for p in m.plan("{cycles,instructions},page-faults", "true")],
                         [0, 0, 1, 1, 2])

    def test_lunar_lake_has_its_events(self):
        m = self.check(
            "lnl", ("lnl_lioncove", "lnl_skymont"), {
                "BR_INST_RETIRED.COND_TAKEN_FWD": ("lnl_lioncove", 4, 1 << 40 | 0xc4),
                "lnl_skymont::INST_RETIRED.ANY": ("lnl_skymont", 10, 0xc0),
            }, {
                "task INST_RETIRED.ANY": [("cpu_atom", 1),
                                          ("cpu_core", 1)], "task slots": [("cpu_core", 1)]
            })
        self.assertEqual(
            m.plan("slots", "true")[0]["why"],
            "cpu_atom does not have the event: not counted on CPUs 4-7")

    def test_haswell_has_its_events(self):
        self.check(
            "hsw", ("hsw", "hsw_uncore_cbox", "hsw_uncore_arb", "hsw_uncore_cbox_0"), {
                "L2_RQSTS.CODE_RD_HIT": ("hsw", 4, 0xc424),
                "mem-loads": ("cpu", 4, 0x1cd, 3),
                "cycles-ct": ("cpu", 4, 0x30000003c),
            }, {
                "task INST_RETIRED.ANY,mem-stores": [("cpu", 1)] * 2, "UNC_CLOCK.SOCKET": [
                    ("uncore_cbox_0", 1)
                ], "UNC_CBO_CACHE_LOOKUP.READ_M": [("uncore_cbox", 4)]
            })

    def test_skylake_server_has_its_events(self):
        m = self.check(
            "skx",
            ("skx", *("skx_uncore_" + u
                      for u in ("cha", "iio", "irp", "upi", "m2m", "imc", "m3upi", "pcu", "ubox"))),
            {
                "UNC_CHA_CLOCKTICKS": ("skx_uncore_cha", 30, 0),
                "uncore_imc::UNC_M_CAS_COUNT.RD": ("skx_uncore_imc", 70, 0x304),
                "uncore_imc_3/cas_count_read/": ("uncore_imc", 73, 0x304),
                "uncore_imc_3::UNC_M_CAS_COUNT.RD": ("skx_uncore_imc", 73, 0x304),
                "OFFCORE_REQUESTS.DEMAND_DATA_RD": ("skx", 4, 0x1b0),
                "tx-start": ("cpu", 4, 0x1c9),
            }, {
                "UNC_CHA_CLOCKTICKS,UNC_M_CAS_COUNT.RD": [("uncore_cha", 56), ("uncore_imc", 12)],
                "uncore_imc_3/cas_count_read/": [("uncore_imc_3", 2)],
                "{UNC_M_CAS_COUNT.RD,UNC_M_CAS_COUNT.WR},power/energy-pkg/": [("uncore_imc", 12)] *
                2 + [("power", 1)],
                "cycles,page-faults": [("hardware", 56), ("software", 56)],
            })
        plan = m.plan("{UNC_M_CAS_COUNT.RD,UNC_M_CAS_COUNT.WR},power/energy-pkg/", "-a")
        self.assertEqual([(p["group"], p["cpus"], p.get("unit", "")) for p in plan],
                         [(0, "0,28", ""), (0, "0,28", ""), (1, "0", "Joules")])

    def test_ice_lake_server_has_its_events(self):
        self.check(
            "icx", ("icx", ), {
                "MEM_LOAD_MISC_RETIRED.UC": ("icx", 4, 0x4d4),
                "uncore_cha/event=0x35,umask=0xc001fe01/": ("uncore_cha", 30,
                                                            0xc001fe << 32 | 0x135),
            }, {"task INST_RETIRED.ANY": [("cpu", 1)]})

    def test_sapphire_rapids_has_its_events(self):
        self.check("spr", ("spr",), {
            "TOPDOWN.SLOTS": ("spr", 4, 0x400), "UOPS_RETIRED.MS": ("spr", 4, 0x4c2, 8),
            "INT_MISC.UNKNOWN_BRANCH_CYCLES": ("spr", 4, 0x40ad, 7),
        }, {"task {slots,topdown-retiring}": [("cpu", 1)] * 2})

    def test_zen_4_has_its_events(self):
        self.check(
            "zen4", ("amdzen4", "amdzen4_amd_l3", "amdzen4_amd_df", "amdzen4_amd_umc"), {
                "ex_ret_instr": ("amdzen4", 4, 0xc0),
                "local_processor_read_data_beats_cs0": ("amdzen4_amd_df", 13, 0x700fe1f),
                "l3_lookup_state.all_coherent_accesses_to_l3": ("amdzen4_amd_l3", 12, 0xff04),
                "umc_mem_clk": ("amdzen4_amd_umc", 14, 0),
                "cpu-cycles": ("cpu", 4, 0x76),
                "cpu/cycles/": ("cpu", 4, 0x76),
                "ibs_op/cnt_ctl=1/": ("ibs_op", 16, 1 << 19),
            }, {
                "l3_lookup_state.all_coherent_accesses_to_l3,umc_mem_clk": [("amd_l3", 2),
                                                                            ("amd_umc", 1)],
                "task ex_ret_instr": [("cpu", 1)]
            })

    def test_neoverse_n1_has_its_events(self):
        self.check(
            "neoverse-n1", ("neoverse_n1", ), {
                "CPU_CYCLES": ("armv8_pmuv3_0", 8, 0x11),
                "MEM_ACCESS": ("neoverse_n1", 8, 0x13),
                "neoverse_n1::CPU_CYCLES:long=1": ("neoverse_n1", 8, 0x11, 1),
            }, {
                "task CPU_CYCLES,L1D_CACHE_RD,page-faults": [("armv8_pmuv3_0", 1)] * 2 +
                [("software", 1)], "L1D_CACHE_RD": [("armv8_pmuv3_0", 64)]
            })

    def test_power9_has_its_events(self):
        m = self.check(
            "power9", ("power9", ), {
                "PM_CYC": ("power9", 4, 0x1e),
                "PM_LD_MISS_L1": ("power9", 4, 0x3e054),
                "cpu-cycles": ("cpu", 4, 0x1001e),
                "hv_24x7/PM_PB_CYC,chip=1/": ("hv_24x7", 9, 0x80 << 32 | 1 << 16 | 1),
                "cpu/pmcxsel=0x54,unit=0xe,pmc=3/": ("cpu", 4, 0x3e054),
            }, {"task {PM_CYC,PM_LD_MISS_L1}": [("cpu", 1)] * 2})
        self.assertEqual(m.perf("hv_24x7/PM_PB_CYC/"), "missing_value")

    def test_z15_has_its_events(self):
        self.check(
            "z15", ("cf_z15", ), {
                "CPU_CYCLES": ("cpum_cf", 8, 0),
                "TX_C_TEND": ("cf_z15", 8, 0x8c),
                "L1I_DIR_WRITES": ("cpum_cf", 8, 2),
                "SF_CYCLES_BASIC": ("cpum_sf", 4, 0xb0000),
            }, {"CPU_CYCLES,TX_C_TEND": [("cpum_cf", 8)] * 2})

    def test_u74_has_its_events(self):
        self.check(
            "riscv-u74", ("u74", ), {
                "INTEGER_LOAD_RETIRED": ("u74", 4, 0x200),
                "FW_ACCESS_LOAD": ("u74", 4, 0x8000000000000002),
                "cpu/firmware=2,event=5/": ("cpu", 4, 2 << 62 | 5),
            }, {"task INTEGER_LOAD_RETIRED": [("cpu", 1)]})


VECTORS_OF = {
    "ADL/core": ("adl", "adl_goldencove"),
    "ADL/atom": ("adl", "adl_gracemont"),
    "LNL/core": ("lnl", "lnl_lioncove"),
    "LNL/atom": ("lnl", "lnl_skymont"),
    "HSW": ("hsw", ""),
    "SKX": ("skx", ""),
    "ICX": ("icx", ""),
    "SPR": ("spr", ""),
    "x86/amdzen4": ("zen4", ""),
    "arm64/arm/neoverse-n1": ("neoverse-n1", ""),
    "powerpc/power9": ("power9", ""),
    "s390/cf_z15": ("z15", ""),
    "riscv/sifive/u74": ("riscv-u74", ""),
}


def vector_text(v, prefix):
    mods = "".join(":" + (value if key == "plm" else "%s=%s" % (key, value))
                   for key, value in v["mods"].items())
    return (prefix + "::" if prefix else "") + v["event"] + mods


def add_vector_tests():
    """The golden answers, asked of the recorded machines: bare names where one PMU has the event,
    the machine's own types."""
    def each(name):
        def test(self):
            if not os.path.isfile(VECTORS):
                self.skipTest("no vectors at PERFMON_SHARED")
            m = self.machine(name)
            with open(VECTORS, encoding="utf-8") as f:
                rows = [v for v in map(json.loads, f) if VECTORS_OF.get(v["cpu"], ("",))[0] == name]
            wrong = []
            texts = [vector_text(v, VECTORS_OF[v["cpu"]][1]) for v in rows]
            for v, text, a in zip(rows, texts, m.encode(*texts)):
                folders = sorted(instances(m, v["pmu"]), key=lambda d: int(m.read(d + "/type")))
                want = (int(m.read(folders[0] + "/type")), ) + tuple(
                    int(v[k], 16) for k in ("config", "config1", "config2"))
                plm = v["mods"].get("plm", "uk")
                want += ("u" not in plm, "k" not in plm)
                p = a.get("perf")
                got = p and (p["type"],) + tuple(
                    int(p[k], 16) for k in ("config", "config1", "config2")
                ) + (bool(p["exclude_user"]), bool(p["exclude_kernel"]))
                if got != want:
                    wrong.append("%s: %s, want %s" % (text, got or a, want))
            print("# %s: %d golden answers" % (name, len(rows)))
            self.assertGreater(len(rows), 0)
            self.assertEqual(wrong, [], "\n" + "\n".join(wrong))
        setattr(Recorded, "test_vectors_" + name.replace("-", "_"), test)

    for name in MACHINES:
        each(name)


add_vector_tests()
if __name__ == "__main__":
    main()
