#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The processors that come from lists: what holds of all of them, and that they come out again."""

import collections
import glob
import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "compiler"))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import events  # noqa: E402
from language import audit_remarks  # noqa: E402
from language import table_compiler  # noqa: E402
from language import tables as pt  # noqa: E402
from tap import SHARED, main  # noqa: E402

FULL = os.path.join(SHARED, "data", "full")
EVENTS = os.path.join(ROOT, "lib", "events")
PEER = os.path.join(SHARED, "vectors", "libpfm4_public.jsonl")
PFM = os.environ.get("PFM")
CYCLES = ("CPU_CLK_UNHALTED.CORE", "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.THREAD_ANY")


def paths():
    return sorted(p for folder in events.folders()
                  for p in glob.glob(os.path.join(EVENTS, folder, "*.pmu")))


class Tables(unittest.TestCase):
    """Every table of every list."""

    @classmethod
    def setUpClass(cls):
        # descriptions are the business of other tests
        texts, table_compiler.event_texts = table_compiler.event_texts, None
        compile_metrics = table_compiler.compile_metrics
        table_compiler.compile_metrics = lambda *_: None
        try:
            cls.tables, _, errors = table_compiler.compile_all(paths())
        finally:
            table_compiler.event_texts, table_compiler.compile_metrics = texts, compile_metrics
        if errors:
            raise AssertionError(errors[:3])
        cls.by_name = {t.name: t for t in cls.tables}

    def rows(self, flags=0):
        for t in self.tables:
            for r in t.rows:
                if not r.flags & pt.ROW_METRIC and not r.flags & flags:
                    yield t, r, {t.fields[f].name: v for f, c, v in r.values if c == pt.ANY_COUNTER}

    def test_there_are_many(self):
        self.assertGreater(len(self.tables), 350)
        self.assertGreater(sum(1 for _ in self.rows()), 50000)

    def test_no_text_of_anybody(self):
        """Descriptions are composed when tables are compiled; the files hold facts. Heads have
        words of our own."""
        of_heads = set()
        for path in glob.glob(os.path.join(os.environ["PERFMON_SOURCE"], "lib/events/heads/*.pmu")):
            with open(path, encoding="utf-8") as f:
                of_heads |= set(re.findall(r"^event (\S+)", f.read(), re.M))
        for t, r, values in self.rows():
            if r.name in of_heads:
                continue
            self.assertEqual((r.desc, values.get("detail", "")), ("", ""),
                             "%s::%s" % (t.name, r.name))

    def test_fixed_counters_are_numbered_from_zero(self):
        """Nehalem, Westmere, Silvermont and a row of Sandy Bridge EP count them from one in their
        lists."""
        seen = collections.Counter()
        for t, r, _ in self.rows():
            if t.encoder != "x86" or not r.counters >> 32 or r.counters & 0xFFFFFFFF:
                continue
            name = r.name.upper()
            want = (
                0
                if name in ("INST_RETIRED.ANY", "INST_RETIRED.PREC_DIST")
                else (
                    1
                    if name in CYCLES
                    else 2 if name in ("CPU_CLK_UNHALTED.REF", "CPU_CLK_UNHALTED.REF_TSC") else None
                )
            )
            if want is not None:
                self.assertEqual(r.counters, 1 << 32 + want, "%s::%s" % (t.name, r.name))
                seen[want] += 1
        self.assertTrue(all(seen[i] > 40 for i in range(3)), seen)

    def test_counters_of_two_controllers_are_in_two_boxes(self):
        """UNC_M_MC0_ and UNC_M_MC1_ of Meteor and Arrow Lake had one configuration in one box."""
        seen = 0
        for t, r, _ in self.rows():
            m = re.match(r"UNC_(?:M_)?MC([01])_", r.name)
            if m and r.flags & pt.ROW_FREE_RUNNING:
                self.assertTrue(t.device.endswith("free_running_" + m[1]),
                                "%s::%s" % (t.name, r.name))
                seen += 1
        self.assertGreater(seen, 20)

    def test_no_two_free_running_events_are_the_same(self):
        for t in self.tables:
            if "free_running" in t.device:
                ways = [
                    tuple(sorted(v for v in r.values if t.fields[v[0]].ranges)) for r in t.rows
                    if not r.flags & pt.ROW_DEPRECATED
                ]
                self.assertEqual(len(set(ways)), len(ways), t.name)

    def test_bare_off_core_responses_may_take_either_register(self):
        seen = 0
        for t, r, values in self.rows():
            if r.name == "OFFCORE_RESPONSE":
                self.assertEqual(values["alt"] >> 32, 0x1A7, t.name)
                seen += 1
        self.assertGreaterEqual(seen, 11)

    def test_look_ups_count_in_some_state(self):
        """A state filter of nothing lets nothing through."""
        seen = 0
        for t, r, values in self.rows():
            if "LLC_LOOKUP" in r.name and "filter_state" in t.field_at:
                self.assertTrue(
                    values.get("filter_state") or values.get("config1"),
                    "%s::%s" % (t.name, r.name))
                seen += 1
        self.assertGreater(seen, 30)

    def test_notes_name_bits_that_the_kernel_drops(self):
        seen = 0
        for t, r, values in self.rows():
            if re.fullmatch(r"(jkt|ivt)_uncore_(pcu|ubox)", t.name) and values["code"] > 0xFF:
                self.assertIn("extra select", values["note"])
                seen += 1
        self.assertEqual(seen, 38)

    def test_boxes_belong_to_their_own_processor(self):
        for t in self.tables:
            if t.family_name:
                self.assertTrue(t.name.startswith(t.family_name), t.name)
        self.assertEqual(self.by_name["bdw_de_uncore_ha"].family_name, "bdw_de")

    def test_big_cores_come_first(self):
        first = {}
        for t in self.tables:
            if t.family_name and not t.flags & pt.TABLE_UNCORE:
                first.setdefault(t.family_name, t.device)
        self.assertEqual({p: d for p, d in first.items() if d in ("cpu_atom", "cpu_lowpower")}, {})
        self.assertIn("arl", first)

    def test_disputes_are_of_rows(self):
        """Every line of audit.txt finds the rows that it speaks of."""
        disputes = audit_remarks.read_disputes(os.path.join(EVENTS, "audit.txt"))
        left = {(where, event) for where, events in disputes.items() for event in events}
        self.assertGreater(len(left), 1000)
        for t, r, _ in self.rows():
            left.discard((audit_remarks.get_part(t), audit_remarks.fold_name(r.name)))
        self.assertEqual(left, set())

    def test_agreement_is_of_rows(self):
        """Every list that was compared is a table's, row for row."""
        path = os.path.join(EVENTS, "sources.txt")
        agreeing = audit_remarks.read_sources_by_row(self.tables, path)
        self.assertEqual(set(audit_remarks.read_sources(path)), set(agreeing))
        self.assertGreater(sum(len(rows) for rows in agreeing.values()), 50000)

    def test_each_says_its_source(self):
        self.assertEqual([t.name for t in self.tables if not t.source], [])

    def test_each_core_of_a_list_is_found(self):
        """Every core that a list is for is found by some identity, but for those whose lists name
        none."""
        without = {t.name for t in self.tables if not t.matches and not t.flags & pt.TABLE_UNCORE}
        # the one is known as eMAG, which has a list, the other by the kernel
        self.assertEqual(without, {"xgene", "cpum_sf"})


# Identities of machines, made up after the manuals' numbers of models, and the processor each is.
IDENTITIES = """
GenuineIntel-6-1A nhm_ep|GenuineIntel-6-1E nhm_ep|GenuineIntel-6-2E nhm_ex|GenuineIntel-6-25 wsm_ep_sp|GenuineIntel-6-2C wsm_ep_dp|
GenuineIntel-6-2F wsm_ex|GenuineIntel-6-2A snb|GenuineIntel-6-2D jkt|GenuineIntel-6-3A ivb|GenuineIntel-6-3E ivt|GenuineIntel-6-3C hsw|
GenuineIntel-6-45 hsw|GenuineIntel-6-46 hsw|GenuineIntel-6-3F hsx|GenuineIntel-6-3D bdw|GenuineIntel-6-47 bdw|GenuineIntel-6-4F bdx|
GenuineIntel-6-56 bdw_de|GenuineIntel-6-4E skl|GenuineIntel-6-5E skl|GenuineIntel-6-8E-9 skl|GenuineIntel-6-9E-A skl|
GenuineIntel-6-A5 skl|GenuineIntel-6-55-4 skx|GenuineIntel-6-55-7 clx|GenuineIntel-6-55-B clx|GenuineIntel-6-7E icl|
GenuineIntel-6-A7 rkl|GenuineIntel-6-8C tgl|GenuineIntel-6-8D tgl|GenuineIntel-6-6A icx|GenuineIntel-6-6C icx|GenuineIntel-6-8F spr|
GenuineIntel-6-CF emr|GenuineIntel-6-AD gnr|GenuineIntel-6-AE gnr|GenuineIntel-6-AF srf|GenuineIntel-6-B6 grr|GenuineIntel-6-DD cwf|
GenuineIntel-6-57 knl|GenuineIntel-6-85 knl|GenuineIntel-6-1C bnl|GenuineIntel-6-37 slm|GenuineIntel-6-4D slm|GenuineIntel-6-5C glm|
GenuineIntel-6-5F glm|GenuineIntel-6-7A glp|GenuineIntel-6-86 snr|GenuineIntel-6-96 ehl|GenuineIntel-6-9C ehl|AuthenticAMD-23-1 amdzen1|
AuthenticAMD-23-8 amdzen1|AuthenticAMD-23-31 amdzen2|AuthenticAMD-23-71 amdzen2|AuthenticAMD-25-1 amdzen3|AuthenticAMD-25-21 amdzen3|
AuthenticAMD-25-11 amdzen4|AuthenticAMD-25-61 amdzen4|AuthenticAMD-26-2 amdzen5|AuthenticAMD-26-44 amdzen5|0x00000000410fd030 cortex_a53|
0x00000000410fd080 cortex_a72|0x00000000413fd0c1 neoverse_n1|0x00000000410fd400 neoverse_v1|0x00000000410fd490 neoverse_n2|
0x00000000410fd4f0 neoverse_v2|0x00000000410fd840 neoverse_v3|0x00000000410fd8e0 neoverse_n3|0x00000000460f0010 a64fx|
0x00000000480fd010 hip08|0x00000000c00fac30 ampereone|0x004b0201 power8|0x004e1202 power9|0x00800200 power10|
IBM,2964,400,N96,1.4,002f cf_z13|IBM,3906,703,M04,3.6,002f cf_z14|IBM,3931,704,A01,3.7,002f cf_z16|IBM,9175,705,ME1,3.8,002f cf_z17|
AuthenticAMD-26-50 amdzen6|AuthenticAMD-26-90 amdzen6|
0x00000000411fd8a0 c1_nano|0x00000000410fd8b0 c1_pro|0x00000000412fd8c1 c1_ultra|0x00000000410fd900 c1_premium|
0x00000000610f0230 m1_firestorm|0x00000000610f0220 m1_icestorm|0x00000000611f0331 m2_avalanche|0x00000000610f0380 m2_blizzard|
0x00000000610f0430 m3|0x00000000610f0530 m4|0x00820200 power10|0x489-0x8000000000000007-0x20181004 u74|
0x489-0x8000000000000107-0x7200000 bullet_07|0x489-0x8000000000000207-0xd100000 bullet_0d|0x489-0x8000000000000008-0x6220425 p550|
0x489-0x8000000000000108-0x9230000 p650|0x602-0x3-0x0 cva6|0x710-0x8000000058000001-0x1000000049772200 x60|0x999-0x1-0x1 riscv_sbi"""


@unittest.skipUnless(PFM, "no command (PFM)")
class Command(unittest.TestCase):
    """With nothing imported."""

    def encode(self, text, cpu):
        env = {k: v for k, v in os.environ.items() if not k.startswith("PERFMON_")}
        env.update(PERFMON_CPUID=cpu, PERFMON_EVENTS="", XDG_DATA_HOME="/nonexistent")
        done = subprocess.run([PFM, "encode", text], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def test_vendors_names_of_this_machine(self):
        for cpu, text, config in (("GenuineIntel-6-8F", "MEM_LOAD_RETIRED.L3_MISS", "0x20d1"),
                                  ("AuthenticAMD-25-61-2", "ls_dispatch.ld_dispatch", "0x129"),
                                  ("0x00000000413fd0c1", "L1D_CACHE_REFILL", "0x3"),
                                  ("GenuineIntel-6-2E", "INST_RETIRED.ANY", "0xc0")):
            status, said = self.encode(text, cpu)
            self.assertEqual(status, 0, said)
            self.assertRegex(said, r"config=%s\b" % config)

    def test_identities_find_their_processor(self):
        cases = [case.split() for case in IDENTITIES.replace("\n", "").split("|")]
        self.assertGreater(len(cases), 60)
        wrong = [(cpu, want) for cpu, want in cases
                 if want not in [p["pmu"] for p in run_requests([], cpu, "list") if p["host"]]]
        self.assertEqual(wrong, [])

    def test_sources_and_disputes_are_shown(self):
        said = subprocess.run([PFM, "show", "icx::UNC_CHA_LLC_LOOKUP.ANY_F"],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertRegex(
            said,
            (
                r"dispute +Intel umask=0x2000; Linux umask=0x0; libpfm4 umask=0x2000\. Taken:"
                r" Intel's mask"
            ),
        )
        self.assertRegex(said, r"source +intel/perfmon ICX, version \S+ of ")
        self.assertRegex(said, r"sources +the vendor's list and libpfm4 agree\n")
        self.assertEqual(
            self.sources("icx::INST_RETIRED.ANY_P", "icx::UNC_M_CLOCKTICKS",
                         "srf::INST_RETIRED.ANY"),
            [["vendor", "linux", "libpfm4"], ["vendor", "linux", "libpfm4"], ["vendor", "linux"]])
        # Of names that libpfm4 alone has, and of a processor whose names only it has.
        names = (
            "snb::OFFCORE_RESPONSE_0:DMND_DATA_RD:LLC_HITMESF",
            "amdzen4::ex_ret_brn",
            "amd64_k8_revb::CPU_CLK_UNHALTED",
        )
        self.assertEqual(self.sources(*names), [["libpfm4"], ["linux", "libpfm4"], None])

    @staticmethod
    def sources(*names):
        said = subprocess.run([PFM, "show", "--json", *names], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        return [json.loads(line).get("sources") for line in said.splitlines()]

    def test_instructions_are_on_the_first_fixed_counter(self):
        for pmu in ("slm", "nhm_ep", "nhm_ex", "wsm_ep_dp", "wsm_ep_sp", "wsm_ex", "jkt", "bnl"):
            status, said = self.encode(pmu + "::INST_RETIRED.ANY", "GenuineIntel-6-8F")
            self.assertEqual(status, 0, said)
            self.assertRegex(said, r"counters +F0\b")

    def test_a_family_is_not_its_neighbour(self):
        self.assertEqual(self.encode("bdw_de::UNC_H_CLOCKTICKS", "GenuineIntel-6-3D")[0], 0)
        self.assertEqual(self.encode("bdw::UNC_H_CLOCKTICKS", "GenuineIntel-6-3D")[0], 1)


def run_requests(texts, cpu="none", command="encode"):
    env = {k: v for k, v in os.environ.items() if not k.startswith("PERFMON_")}
    env.update(PERFMON_CPUID=cpu, PERFMON_EVENTS="", XDG_DATA_HOME="/nonexistent",
               PERFMON_SYSFS=HERE)
    words = ["encode", "--json", "-"] if command == "encode" else ["list", "--pmus", "--json"]
    done = subprocess.run([PFM, *words], input="".join(t + "\n" for t in texts), env=env,
                          stdout=subprocess.PIPE, text=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


@unittest.skipUnless(PFM, "no command (PFM)")
class Older(unittest.TestCase):
    """Processors that no list has, from libpfm4's names."""

    # Worked out by hand from the events' codes and masks; the register is the control register of
    # the first counter.
    GOLDEN = (
        ("ppro::L2_LD:M:I", 0x186, 0x530929),
        ("pm::L2_ST:S:M:E", 0x186, 0x530E2A),
        ("p6::FLOPS", 0x186, 0x5300C1),
        ("p6::MUL", 0x187, 0x530012),
        ("pii::CPU_CLK_UNHALTED:c=2:i", 0x186, 0x2D30079),
        ("core2::L2_LINES_IN", 0x186, 0x537024),
        ("core2::L2_LINES_IN:BOTH_CORES:PREFETCH", 0x186, 0x53D024),
        ("core2::RS_UOPS_DISPATCHED_NONE", 0x186, 0x1D300A0),
        ("core2::BRANCH_INSTRUCTIONS_RETIRED", 0x186, 0x5300C4),
        ("knc::VPU_DATA_READ", 0x28, 0x532000),
        ("amd64_k7::CPU_CLK_UNHALTED", 0xC0010000, 0x530076),
        ("amd64_k8_revg::DISPATCHED_FPU", 0xC0010000, 0x533F00),
        ("amd64_k8_revb::DISPATCHED_FPU:OPS_ADD:OPS_STORE", 0xC0010000, 0x530500),
        ("amd64_fam15h_interlagos::CPU_CLK_UNHALTED", 0xC0010200, 0x530076),
        ("amd64_fam16h::CPU_CLK_UNHALTED:u", 0xC0010000, 0x510076),
        ("amdzen6::RETIRED_INSTRUCTIONS", 0xC0010200, 0x5300C0),
        ("mips_74k::ICACHE_MISSES:u", 1, 0xC8),
        ("mips_74k::CYCLES:s:e", 0, 0x5),
    )
    # Configuration words of the kernel. Pentium 4: its number of the event, mask, tag; CCCR. SPARC:
    # selector and counters. Power: the code.
    CONFIGS = (
        ("netburst::global_power_events", 24 << 57 | 1 << 41 | 0x3D000),
        ("netburst::packed_SP_uop:ALL:TAG1", 16 << 57 | 0x8000 << 41 | 5 << 36 | 0x33000),
        ("netburst_p::instr_completed:NBOGUS:thr=3:e", 45 << 57 | 1 << 41 | 0x1339000 | 1 << 18),
        ("netburst::replay_event:NBOGUS:L1_LD_MISS", 37 << 57 | 1 << 41 | 0x3B001),
        ("niagara2::Instr_cnt:Stores", 0x2100003),
        ("niagara2::cache:DC_miss", 0x3020003),
        ("ultra3::EC_wb", 0xD0002),
        ("niagara1::Instr_cnt", 0x2),
        ("power4::PM_MRK_INST_FIN", 0x7005),
        ("mips_74k::ICACHE_MISSES", 0x86),
    )
    HOSTS = (("GenuineIntel-6-1", "ppro"), ("GenuineIntel-6-5", "pii"), ("GenuineIntel-6-8", "p6"),
             ("GenuineIntel-6-D", "pm"), ("GenuineIntel-6-17", "core2"),
             ("AuthenticAMD-6-8", "amd64_k7"), ("AuthenticAMD-15-5-1", "amd64_k8_revb"),
             ("AuthenticAMD-15-5-A", "amd64_k8_revc"), ("AuthenticAMD-15-41-3", "amd64_k8_revf"),
             ("AuthenticAMD-16-2", "amd64_fam10h_barcelona"), ("AuthenticAMD-16-8",
                                                               "amd64_fam10h_istanbul"),
             ("AuthenticAMD-18-1",
              "amd64_fam12h_llano"), ("AuthenticAMD-20-2",
                                      "amd64_fam14h_bobcat"), ("AuthenticAMD-21-2",
                                                               "amd64_fam15h_interlagos"),
             ("AuthenticAMD-22-30", "amd64_fam16h"), ("AuthenticAMD-26-50",
                                                      "amdzen6"), ("AuthenticAMD-26-44", "amdzen5"),
             ("0x00000000461f0030", "monaka"), ("0x000000004e0f0101",
                                                "olympus"), ("GenuineIntel-15-2", "netburst"),
             ("GenuineIntel-15-4-1", "netburst_p"), ("0x00350100", "power4"), ("0x003c0301",
                                                                               "ppc970"),
             ("0x00440101", "ppc970mp"), ("0x003a0201", "power5"), ("0x003b0301", "power5p"),
             ("0x003e0301", "power6"), ("0x004a0201", "power7"), ("sparc,ultra12", "ultra12"),
             ("sparc,ultra3", "ultra3"), ("sparc,ultra3i", "ultra3i"), ("sparc,ultra3+", "ultra3p"),
             ("sparc,ultra4+", "ultra4p"), ("sparc,niagara",
                                            "niagara1"), ("sparc,niagara2",
                                                          "niagara2"), ("mips,74Kc", "mips_74k"))

    def test_registers_of_older_processors_have_their_values(self):
        for (text, address, value), a in zip(self.GOLDEN,
                                             run_requests([g[0] for g in self.GOLDEN])):
            self.assertEqual([(int(r["addr"], 16), int(r["value"], 16)) for r in a.get("regs", ())],
                             [(address, value)], text)

    def test_configurations_of_older_processors_have_their_values(self):
        for (text, config), a in zip(self.CONFIGS, run_requests([c[0] for c in self.CONFIGS])):
            self.assertEqual(a.get("perf", {}).get("config"), hex(config), text)

    def dispatch(self, *events):
        return subprocess.run([PFM, "dispatch", *events], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)

    def test_two_events_of_one_escr_part_its_counters(self):
        """The second of a pair of ESCRs, one address on, is for the upper half of the counters; a
        third event finds none."""
        both = self.dispatch("netburst::TC_deliver_mode:BD:u", "netburst::TC_misc:k",
                             "netburst::tc_ms_xfer")
        self.assertEqual(both.returncode, 0, both.stdout)
        for name, register, value in (("ESCR0", "0x3c4", 0x02001005), ("ESCR1", "0x3c5",
                                                                       0x0C00200A)):
            self.assertRegex(both.stdout, r"%s +0x0*%x +at %s\b" % (name, value, register))
        third = self.dispatch("netburst::TC_deliver_mode:BD", "netburst::TC_misc",
                              "netburst::TC_deliver_mode:IB")
        self.assertEqual(third.returncode, 1)
        self.assertIn("the same ESCR", third.stdout)

    def test_one_name_for_two_masks(self):
        """Both names of a value are accepted after a colon."""
        a, b = run_requests([
            "amd64_fam15h_interlagos::OCTWORD_WRITE_TRANSFERS" + m
            for m in (":OCTWORD_WRITE_TRANSFER", ":ALL")
        ])
        self.assertEqual(a["regs"], b["regs"])

    def test_sister_models_differ(self):
        """Revisions of one processor have masks and events of their own."""
        early, late = run_requests(
            ["amd64_k8_rev%s::L2_FILL_WRITEBACK:L2_WRITEBACKS" % rev for rev in "bg"])
        self.assertEqual((early["error"]["kind"], late["regs"][0]["value"]),
                         ("unknown_qualifier", "0x53027f"))

    def test_older_processors_are_found(self):
        for cpu, want in self.HOSTS:
            here = [
                p["pmu"] for p in run_requests([], cpu, "list") if p["host"] and not p.get("uncore")
            ]
            here = [n for n in here if n not in ("hardware", "software", "hw_cache")]
            self.assertEqual(here, [want], cpu)

    @unittest.skipUnless(os.path.isfile(PEER), "no answers of libpfm4 at PERFMON_SHARED")
    def test_as_libpfm4_has_them(self):
        """Every answer of libpfm4's for these processors, but for levels of its own (h, g, hv),
        masks by number, and a bit that Linux does not take (o)."""
        import older
        wanted = []
        with open(PEER, encoding="utf-8") as f:
            for row in map(json.loads, f):
                pmu, _, event = row["s"].partition("::")
                if pmu in older.PROCESSORS and row["r"] == 0 and row["plm"] == 9 and not re.search(
                        r"(?i):(hv|h|g|o)\b|:0x", event):
                    wanted.append(
                        (older.PROCESSORS[pmu][0] + "::" + event, [int(w, 16) for w in row["c"]]))
        self.assertGreater(len(wanted), 4500)
        for (text, words), a in zip(wanted, run_requests([w[0] for w in wanted])):
            self.assertIn("perf", a, text)
            self.assertEqual(*self.words(text, words, a), text)

    @staticmethod
    def words(text, words, a):
        """Ours and libpfm4's, without levels where the kernel has them apart."""
        pmu, regs = text.partition("::")[0], [int(r["value"], 16) for r in a["regs"]]
        if pmu.startswith("netburst"):
            return sorted(regs), sorted(words)
        if pmu == "mips_74k":
            return [regs[0], sum(1 << n for n in a["counters"])], words
        config = int(a["perf"]["config"], 16)
        if pmu == "niagara2":    # masks that Linux does not take as libpfm4 gives them
            return [config >> 24, config & 3], [words[0] & 0xFFFFFF, words[1]]
        if pmu.startswith(("ultra", "niagara")):
            return [config >> 16, config & 3], words
        arm, plain = ("monaka", "olympus", "xgene", "arm1176", "krait"), ("power", "ppc9",
                                                                          "thunderx2_")
        levels = 0x1F << 27 if pmu in arm else 0 if pmu.startswith(plain) else 0x53 << 16 | 3 << 40
        return [config & ~levels], [words[0] & ~levels]


@unittest.skipUnless(os.path.isdir(FULL), "no packed lists at PERFMON_SHARED")
class Again(unittest.TestCase):
    def test_the_files_come_out_again(self):
        status = subprocess.run(
            [sys.executable,
             os.path.join(ROOT, "scripts", "events.py"), FULL, "--check"], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual((status.returncode, status.stdout.strip()), (0, ""))


if __name__ == "__main__":
    sys.exit(main())
