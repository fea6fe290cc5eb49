#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules of events as commands tell them. What they say comes from the kernel's scheduling code and
the vendors' specification updates, as the source of each rule does."""
import json
import os
import subprocess
import tempfile
import unittest

import tap

PFM = os.environ.get("PFM", "pfm")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("PERFMON_", "LIBPFM_"))}
CLEAN["PERFMON_EVENTS"] = "/nonexistent"
HASWELL = "GenuineIntel-6-3C-3"
SKYLAKE = "GenuineIntel-6-5E-3"
SIBLING = "hsw::MEM_LOAD_UOPS_RETIRED.L3_HIT"

# An event, and a word of what is hidden in its numbers.
TRAPS = (
    ("amdzen3::fp_ret_sse_avx_ops.all", "even counter and the next one"),
    ("amd64_fam10h_barcelona::MEMORY_CONTROLLER_REQUESTS", "one core at a time"),
    ("amdzen3::ex_ret_brn_tkn", "branches (BRS) takes counter 0"),
    ("cortex_a72::CHAIN", "overflows of the event before it"),
    ("neoverse_v2::CPU_CYCLES", "counter 31 has no threshold"),
    ("olympus::CPU_CYCLES", "waits for an interrupt"),
    ("power9::PM_L2_ST_MISS_128B", "on counter 4 before it"),
    ("power10::PM_FLUSH", "one qualifier of L1 reloads"),
    ("power8::PM_L1MISS_LAT_EXC_1024", "have one threshold"),
    ("smmuv3::transaction", "filter all events of a set"),
    ("arm_cmn::hnf_cache_miss", "4 counters for its nodes"),
    ("u74::ICACHE_MISS", "two programmable counters"),
    ("riscv_sbi::BRANCH_MISSES", "29 programmable counters"),
    ("cf_z13::MT_DIAG_CYCLES_ONE_THR_ACTIVE", "only while SMT is on"),
    (SIBLING, "other hyper-thread must be unused"),
    ("hsw::INST_RETIRED.ANY", "write GLOBAL_CTRL first"),
    ("skl::BR_INST_RETIRED.ALL_BRANCHES", "counter 2 alone can leave out"),
    ("glm::BR_INST_RETIRED.JCC", "counter 0 alone"),
    ("icl::PERF_METRICS.RETIRING", "count the same levels"),
    ("spr::PERF_METRICS.MEMORY_BOUND", "as the first event of their group"),
    ("spr::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128", "before them in the group"),
    ("spr::INST_RETIRED.ANY_P", "do not count on counter 0"),
    ("icx_uncore_imc_free_running::UNC_M_CLOCKTICKS_FREERUN", "nothing starts, stops or resets"),
    ("amd_ibs_op::clocks", "one event at a time"),
    ("nhm_ep::OFFCORE_RESPONSE_0.ANY_DATA.ANY_DRAM", "share the OFFCORE_RSP"),
)


def pfm(*args, env=None):
    return subprocess.run([PFM, *args], env=dict(CLEAN, **(env or {})), capture_output=True,
                          text=True, timeout=120, stdin=subprocess.DEVNULL)


def lines(*args, env=None):
    r = pfm(*args, env=env)
    assert r.returncode == 0, r.stderr
    return [json.loads(line) for line in r.stdout.splitlines()]


class Machine(unittest.TestCase):
    """Rules on machines that are folders."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.write("sys/bus/event_source/devices/cpu/type", "4")
        self.write("sys/bus/event_source/devices/cpu/format/event", "config:0-7")
        self.write("sys/bus/event_source/devices/cpu/format/umask", "config:8-15")

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as f:
            f.write(text + "\n")

    def get(self, cpuid, *args):
        return lines(*args, env={"PERFMON_SYSFS": self.root, "PERFMON_CPUID": cpuid})

    def get_rules(self, *args):
        (o,) = self.get(HASWELL, *args)
        return {r["name"]: r for r in o.get("rules", ())}

    def test_rule_of_sibling_threads_holds_where_smt_is_on(self):
        self.write("sys/devices/system/cpu/smt/active", "1")
        for args in (("encode", "--json", SIBLING),
                     ("stat", "--dry-run", "--json", "-e", SIBLING)):
            rule = self.get_rules(*args)["sibling"]
            self.assertEqual(rule["evidence"], "/sys/devices/system/cpu/smt/active is 1", args)
            self.assertIn("HSD29", rule["source"])

    def test_rule_of_sibling_threads_is_not_told_where_smt_is_off(self):
        self.write("sys/devices/system/cpu/smt/active", "0")
        self.assertNotIn("sibling", self.get_rules("encode", "--json", SIBLING))
        self.assertNotIn("holds", self.get_rules("show", "--json", SIBLING)["sibling"])

    def test_rule_of_sibling_threads_is_told_of_other_machines(self):
        (o,) = lines("encode", "--json", SIBLING)
        (rule,) = [r for r in o["rules"] if r["name"] == "sibling"]
        self.assertNotIn("evidence", rule)

    def test_doctor_tells_rules_that_hold_here(self):
        self.write("sys/devices/system/cpu/smt/active", "1")
        found = {o["check"]: o for o in self.get(HASWELL, "doctor", "--json")}
        self.assertEqual(found["sibling"]["found"], "/sys/devices/system/cpu/smt/active is 1")
        self.write("sys/devices/system/cpu/smt/active", "0")
        self.assertNotIn("sibling", {o["check"] for o in self.get(HASWELL, "doctor", "--json")})

    def test_doctor_tells_who_has_counter_3(self):
        checks = {o["check"] for o in self.get(SKYLAKE, "doctor", "--json")}
        self.assertFalse(checks & {"tsx_reserve", "tsx_aborts"})
        self.write("sys/devices/cpu/allow_tsx_force_abort", "0")
        self.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hle rtm avx2")
        found = {o["check"]: o for o in self.get(SKYLAKE, "doctor", "--json")}
        self.assertEqual(found["tsx_reserve"]["found"],
                         "/sys/devices/cpu/allow_tsx_force_abort is 0")
        self.assertEqual(found["tsx_aborts"]["found"], "/proc/cpuinfo has the flag rtm")


    def test_counter_3_is_left_to_transactions(self):
        """Row 35 of the constraints (SKL179): three events fit where the kernel may not use counter
        3, four where it may."""
        four = ["skl::" + n for n in ("UOPS_ISSUED.ANY", "LD_BLOCKS.NO_SR", "L2_RQSTS.MISS",
                                      "DTLB_LOAD_MISSES.STLB_HIT")]
        file = "/sys/devices/cpu/allow_tsx_force_abort is 0"
        self.write("sys/devices/cpu/allow_tsx_force_abort", "0")
        for events, n_groups in ((four[:3], 1), (four, 2)):
            self.assertEqual(self.run_on_skylake("dispatch", *events).returncode, n_groups - 1)
            plan = json.loads(self.run_on_skylake("plan", "--json", *events).stdout)
            self.assertEqual(len(plan["groups"]), n_groups)
        for args in (("encode",), ("stat", "--dry-run", "-e"), ("show",)):
            self.assertIn(file, " ".join(self.run_on_skylake(*args, four[0]).stdout.split()), args)
        bare = json.loads(self.run_on_skylake("plan", "--json", "--bare", *four).stdout)
        self.assertEqual(len(bare["groups"]), 1)
        self.write("sys/devices/cpu/allow_tsx_force_abort", "1")
        self.assertEqual(self.run_on_skylake("dispatch", *four).returncode, 0)
        self.assertNotIn("counter 3", self.run_on_skylake("encode", four[0]).stdout)

    def run_on_skylake(self, *args):
        return pfm(*args, env={"PERFMON_SYSFS": self.root, "PERFMON_CPUID": SKYLAKE})


class Levels(unittest.TestCase):
    """Events that count wrong at one privilege level: rows 32 to 34 of the constraints (BDM126,
    BDM62 and HSD73, SKL128)."""

    BRANCHES = tuple("bdw::" + n for n in (
        "BR_INST_RETIRED.ALL_BRANCHES", "BR_MISP_RETIRED.ALL_BRANCHES",
        "BR_INST_RETIRED.CONDITIONAL", "BR_MISP_RETIRED.CONDITIONAL",
        "BR_INST_RETIRED.NEAR_TAKEN"))

    def test_counters_4_to_7_have_no_user_mode_alone(self):
        """With hyper-threading off, four events of user mode fit, and one of all levels beside
        them, on counter 4."""
        user = [b + ":u" for b in self.BRANCHES]
        refused = pfm("dispatch", "--ht-off", *user)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("events 1, 2, 3, 4 and 5 can only count on counters 0, 1, 2 and 3",
                      refused.stderr)
        fits = pfm("dispatch", "--ht-off", *user[:4], self.BRANCHES[4])
        self.assertEqual(fits.returncode, 0, fits.stderr)
        self.assertRegex(fits.stdout, r"(?m)^  4 +bdw::BR_INST_RETIRED.NEAR_TAKEN$")
        self.assertEqual(pfm("dispatch", "--ht-off", *self.BRANCHES).returncode, 0)

    def test_wrong_counts_of_one_level_are_told(self):
        for event, rule in (
            ("hsw::BR_INST_RETIRED.ALL_BRANCHES:any=1:u", "any_level"),
            ("bdw::BR_INST_RETIRED.ALL_BRANCHES:any=1:k", "any_level"),
            ("skl::BR_INST_RETIRED.ALL_BRANCHES:inv=1:c=2:u", "inv_level"),
            ("skl::MEM_LOAD_RETIRED.L3_MISS:u", "mem_level"),
            ("hsw::MEM_UOPS_RETIRED.ALL_LOADS:k", "mem_level"),
        ):
            for text, holds in ((event, True), (event[:-2], False)):
                (o,) = lines("encode", "--json", text)
                rules = {r["name"] for r in o.get("rules", ()) if r.get("holds")}
                self.assertEqual(rule in rules, holds, text)


class Partners(unittest.TestCase):
    """Events that count nothing alone: encode and stat's dry run name the other one."""

    def test_commands_name_the_partner(self):
        for event, words in (
            ("spr::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128", "LD_BLOCKS.STORE_FORWARD (0x8203)"),
            ("icl::PERF_METRICS.RETIRING", "TOPDOWN.SLOTS (0x400)"),
            ("intel_arch::topdown-fe-bound", "TOPDOWN.SLOTS (0x400)"),
            ("cortex_a72::CHAIN", "the event before it"),
            ("amdzen3::fp_ret_sse_avx_ops.all", "even counter and the next one"),
            ("power9::PM_L2_ST_MISS_128B", "on counter 4 before it"),
        ):
            for command in (("encode", event), ("stat", "--dry-run", "-e", event)):
                self.assertIn(words, " ".join(pfm(*command).stdout.split()), command)
            (o,) = lines("encode", "--json", event)
            self.assertTrue([r for r in o["rules"] if words in r["text"]], event)

    def test_figures_alone_are_no_set(self):
        """Linux refuses them without SLOTS as the leader."""
        for events in (("icl::PERF_METRICS.RETIRING",),
                       ("icl::PERF_METRICS.RETIRING", "icl::TOPDOWN.SLOTS"),
                       ("icl::INST_RETIRED.ANY", "icl::TOPDOWN.SLOTS",
                        "icl::PERF_METRICS.RETIRING")):
            self.assertIn("as the first event of their group", pfm("dispatch", *events).stderr)
        done = pfm("dispatch", "icl::TOPDOWN.SLOTS", "icl::PERF_METRICS.RETIRING")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_decode_knows_the_companion_of_a_pair(self):
        (o,) = lines("decode", "--json", "--pmu", "amdzen3", "PERFEVTSEL1=0xf004000ff")
        self.assertIn("an even counter and the next one", o["fields"][0]["text"])
        self.assertEqual(o["events"], [])
        text = pfm("decode", "--pmu", "amdzen3", "PERFEVTSEL1=0xf004000ff").stdout
        self.assertIn("an even counter and the next one", text)
        (o,) = lines("decode", "--json", "--pmu", "amdzen3", "PERFEVTSEL1=0xf005300ff")
        self.assertNotIn("text", o["fields"][0])


class Told(unittest.TestCase):
    def test_show_tells_each_trap_with_its_source(self):
        for event, words in TRAPS:
            with self.subTest(event):
                (o,) = lines("show", "--json", event)
                self.assertTrue([r for r in o.get("rules", ())
                                 if words in r["text"] and len(r["source"]) > 5], o.get("rules"))
                text = " ".join(pfm("show", event).stdout.split())
                self.assertIn(words, text)

    def test_lists_carry_rules(self):
        (pmu,) = [o for o in lines("list", "--json", "--pmus", "--all") if o["pmu"] == "u74"]
        names = {r["name"] for r in pmu["rules"]}
        self.assertEqual(names, {"programmable"})
        for o in lines("list", "--json", "--pmu", "u74"):
            self.assertLessEqual(set(o.get("rules", ())), names)

    def test_show_of_a_pmu_lists_its_rules(self):
        (o,) = lines("show", "--json", "nhm_ep")
        self.assertIn("magic", {r["name"] for r in o["rules"]})
        self.assertIn("0x4300b5", " ".join(pfm("show", "nhm_ep").stdout.split()))

    def test_encode_says_each_remark_in_a_line(self):
        said = pfm("encode", "amdzen3::fp_ret_sse_avx_ops.all", "amdzen3::ex_ret_instr").stdout
        self.assertEqual([line.split()[0] for line in said.splitlines() if line].count("rule"), 1)

    def test_plan_explains_a_split_by_its_rule(self):
        events = "power10::PM_FLUSH", "power10::PM_DATA_FROM_L_OC_MEM_ALL"
        r = pfm("dispatch", *events)
        self.assertEqual(r.returncode, 1)
        self.assertIn("one qualifier of L1 reloads", r.stderr)
        self.assertIn("one qualifier of L1 reloads", pfm("plan", *events).stdout)
        (o,) = lines("plan", "--json", *events)
        self.assertEqual([r["group"] for r in o["reasons"]], [1])
        self.assertIn("one qualifier of L1 reloads", o["reasons"][0]["rule"])


class Registers(unittest.TestCase):
    """Linux arch/x86/events/amd/core.c: amd_pmu_v2_enable_all, perf_ctr_pair_en."""

    def test_amd_has_a_global_enable_register_from_version_2_on(self):
        for pmu, has in (("amdzen3", False), ("amdzen4", True), ("amdzen5", True)):
            (o,) = lines("dispatch", "--json", pmu + "::ex_ret_instr",
                         pmu + "::fp_ret_sse_avx_ops.all")
            self.assertEqual(o.get("global_ctrl"),
                             {"addr": "0xc0000301", "value": "0x7"} if has else None, pmu)


if __name__ == "__main__":
    tap.main()
