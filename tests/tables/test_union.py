#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists of several makers become one table; lists of gator and PerfSpect; what gator has and no
table of ours."""

import contextlib
import csv
import glob
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.join(HERE, "..")
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(ROOT, "compiler")]
import pmuc  # noqa: E402
from image import image_reader  # noqa: E402
from language import tables as pt  # noqa: E402
from tap import SHARED, main  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
BUILD = os.environ.get("PERFMON_BUILD", os.path.join(ROOT, "build"))
GATOR = os.path.join(SHARED, "data", "newer", "gator")
FACTS = os.path.join(SHARED, "data", "newer", "events")
# Boxes of gator and the table of each.
BOXES = {"CCI_400": "cci_400", "CCI_400_r1": "cci_400_r1", "CCI_500": "cci_500",
         "CMN_600": "arm_cmn_600", "L2C-310": "l2c_310", "DSU": "dsu", "l3c%d": "xgene3_l3c",
         "mc%d": "xgene3_mc", "mcb%d": "xgene3_mcb"}


def run_import(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = pmuc.main(["import", *words])
    return status, out.getvalue(), err.getvalue()


def read_tables(path):
    with open(path, "rb") as f:
        return {t.name: t for t in image_reader.read_image(f.read())[0]}


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def encode(text, **env):
    said = subprocess.run([PFM, "encode", "--json", text], env=dict(os.environ, **env),
                          capture_output=True, text=True, check=False).stdout
    return json.loads(said or "{}")


def host_tables(cpu):
    """Tables of the processor with identity @cpu."""
    env = dict(os.environ, PERFMON_CPUID=cpu, PERFMON_SYSFS=HERE, XDG_DATA_HOME="/nonexistent")
    said = subprocess.run([PFM, "list", "--pmus", "--json"], env=env, capture_output=True,
                          text=True, check=True).stdout
    found = [json.loads(line) for line in said.splitlines()]
    return {p["pmu"] for p in found if p["host"] and not p.get("fallback")
            and not p.get("nearest")} - {"hardware", "software", "hw_cache"}


def list_events(table):
    """Numbers of the rows of a table that are no metrics."""
    return [i for i in range(table.count["rows"])
            if not table.read_row(i)["flags"] & pt.ROW_METRIC]


def find_codes(table):
    """Numbers of the events of a table; those of CCI have an interface in the same word."""
    codes = set()
    for row in list_events(table):
        for field in ("code", "config", "l3c_eventid", "mc_eventid", "mcb_eventid"):
            if table.find_field(field) is not None:
                codes.add(table.read_value(row, field) or 0)
        if table.find_field("eventid") is not None:
            codes.add((table.read_value(row, "eventid") or 0) << 16
                      | (table.read_value(row, "type") or 0)
                      | (table.read_value(row, "occupid") or 0) << 27)
    return codes


@unittest.skipUnless(os.path.isdir(GATOR), "gator's numbers are not here")
class Unexplained(unittest.TestCase):
    """Numbers of gator that no table of ours has, with the reason."""

    def find_tables(self, unit):
        if unit["kind"] != "pmu":
            name = BOXES.get(unit["id_sysfs"]) or BOXES.get(unit["counter_set"])
            return [name] if name else []
        found = set()
        for cpuid in unit["cpuids"].split():
            midr = (int(cpuid, 16) >> 12) << 24 | (int(cpuid, 16) & 0xFFF) << 4 | 0xF0000
            found |= host_tables("0x%016x" % midr)
        return [n for n in sorted(found) if n in self.tables]

    def test_at_most_a_hundred(self):
        self.tables = read_tables(os.path.join(BUILD, "lib", "events", "builtin.pmdb"))
        reasons = {}
        for unit in read_csv(os.path.join(GATOR, "_pmus.csv")):
            path = os.path.join(GATOR, unit["events_file"] + ".csv")
            if not os.path.exists(path):
                continue
            wanted = {int(r["code"], 16) for r in read_csv(path)
                      if r["code"] and r["counter_set"] == unit["counter_set"]}
            if unit["profile"].endswith("m"):
                reasons.setdefault("M profile: no Linux", set()).update(
                    (unit["events_file"], c) for c in wanted)
                continue
            names = self.find_tables(unit)
            have = set().union(*(find_codes(self.tables[n]) for n in names)) if names else set()
            for code in wanted - have:
                why = "no table" if not names else "another number counts cycles" if code == 0xFF \
                    else "not in %s" % ", ".join(names)
                reasons.setdefault(why, set()).add((unit["core_name"], code))
        for why, codes in sorted(reasons.items()):
            print("# %3d %s: %s" % (len(codes), why, ", ".join(
                "%s 0x%x" % c for c in sorted(codes)[:6])))
        self.assertLessEqual(sum(map(len, reasons.values())), 100, sorted(reasons))
        self.assertNotIn("no table", reasons)


@unittest.skipUnless(os.path.isdir(GATOR), "gator's numbers are not here")
class BuiltIn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tables = read_tables(os.path.join(BUILD, "lib", "events", "builtin.pmdb"))

    def test_rows_of_other_lists_are_there(self):
        """Linux has 25 events of Cortex-A53 that Arm's list lacks, gator one of Neoverse N1."""
        a53 = self.tables["cortex_a53"]
        for name, code in (("PREFETCH_LINEFILL", 0xC2), ("EXT_SNOOP", 0xC8), ("TLB_ERR", 0xD2)):
            row = a53.find_row(name)
            self.assertEqual(a53.read_value(row, "code"), code, name)
            self.assertIn("Linux", a53.read_value_text(row, "source"))
        n1 = self.tables["neoverse_n1"]
        ldst, other = n1.find_row("LDST_SPEC"), n1.find_row("LD_SPEC")
        self.assertEqual(n1.read_value(ldst, "code"), 0x72)
        self.assertEqual(n1.read_row(ldst)["counters"], n1.read_row(other)["counters"])

    def test_numbers_of_new_cores(self):
        """Each named number of gator's list of a core, read here anew."""
        wrong, n = [], 0
        for name, table in (("cortex_x925", "cortex_x925"), ("cortex_a725", "cortex_a725"),
                            ("cortex_a78ae", "cortex_a78ae"), ("cortex_a720ae", "cortex_a720ae"),
                            ("cortex_a520ae", "cortex_a520ae"), ("cortex_r82ae", "cortex_r82ae"),
                            ("cortex_r52plus", "cortex_r52plus"), ("cortex_a53", "cortex_a53"),
                            ("thunderx1", "thunderx"), ("exynos_m1", "exynos_m1_m2"),
                            ("exynos_m3", "exynos_m3"), ("cobalt_100", "neoverse_n2")):
            t = self.tables[table]
            codes = find_codes(t)
            for r in read_csv(os.path.join(FACTS, name + ".csv")):
                code = int(r["code"], 16)
                if code not in codes and code != 0xFF:
                    wrong.append((table, r["name"], r["code"]))
                n += 1
        self.assertEqual(wrong, [])
        self.assertGreater(n, 1600)

    def test_identities(self):
        """Cores and processors by the part numbers of their makers."""
        for cpu, table in (
            ("0x00000000410fd850", "cortex_x925"), ("0x00000000410fd870", "cortex_a725"),
            ("0x00000000410fd420", "cortex_a78ae"), ("0x00000000410fd890", "cortex_a720ae"),
            ("0x00000000410fd880", "cortex_a520ae"), ("0x00000000410fd140", "cortex_r82ae"),
            ("0x00000000410fd160", "cortex_r52plus"), ("0x00000000410fd0e0", "cortex_a76ae"),
            ("0x00000000410fd4b0", "cortex_a78c"), ("0x00000000410fd4c0", "cortex_x1c"),
            ("0x00000000410fd830", "neoverse_v3ae"), ("0x00000000410fd8f0", "cortex_a320"),
            ("0x00000000410fd8a0", "c1_nano"), ("0x00000000410fd8b0", "c1_pro"),
            ("0x00000000410fd8c0", "c1_ultra"), ("0x00000000410fd900", "c1_premium"),
            ("0x000000006d0fd490", "neoverse_n2"), ("0x00000000480fd010", "hip08"),
            ("0x00000000480fd020", "hip09"), ("0x00000000480fd060", "hip12"),
            ("0x00000000480fd400", "kirin_980"), ("0x00000000510f2010", "kryo_silver"),
            ("0x00000000510f2110", "kryo_silver"), ("0x00000000510f2050", "kryo_gold"),
            ("0x00000000510f8010", "kryo_250_260_280_silver"),
            ("0x00000000510f8000", "kryo_260_280_gold"),
            ("0x00000000510f8030", "kryo_360_385_silver"),
            ("0x00000000510f8020", "kryo_360_385_gold"),
            ("0x00000000510f8050", "kryo_460_485_495_585_silver"),
            ("0x00000000510f8040", "kryo_460_485_495_gold"), ("0x00000000510fc000", "falkor"),
            ("0x00000000510f0010", "oryon"), ("0x00000000510f00f0", "scorpion"),
            ("0x00000000510f02d0", "scorpionmp"), ("0x00000000510f0490", "krait"),
            ("0x00000000510f04d0", "krait"), ("0x00000000510f06f0", "krait"),
            ("0x00000000530f0010", "exynos_m1_m2"), ("0x00000000530f0020", "exynos_m3"),
            ("0x00000000530f0030", "exynos_m4"), ("0x00000000530f0040", "exynos_m5"),
            ("0x000000004e0f0000", "nvidia_denver"), ("0x000000004e0f0030", "nvidia_denver"),
            ("0x000000004e0f0040", "carmel"), ("0x000000004e0f0100", "olympus"),
            ("0x00000000430f0a10", "thunderx"), ("0x00000000430f0b30", "octeontx2"),
            ("0x00000000500f0000", "emag"), ("0x00000000c00fac30", "ampereone"),
            ("0x00000000c00fac40", "ampereonex"), ("0x00000000410fc0d0", "cortex_a17"),
            ("CentaurHauls-6-F-E", "zxc"), ("  Shanghai  -7-1B", "zxd"),
            ("CentaurHauls-7-3B", "zxe"),
        ):
            self.assertIn(table, host_tables(cpu), cpu)

    def test_words_of_zhaoxin_apple_and_bonnell(self):
        """X86_CONFIG of Linux's zhaoxin/core.c; macOS' list of M3; libpfm4's words of Bonnell."""
        for text, config in (
            ("zxd::STALLED_CYCLES_FRONTEND", "0x1800101"), ("zxd::BRANCH_INSTRUCTIONS", "0x700"),
            ("zxe::BRANCH_MISSES", "0x29"), ("zxc::CPU_CYCLES", "0x82"),
            ("m3::L1D_CACHE_MISS_LD", "0x5a3"), ("m3::MAP_UOP", "0x269"),
            ("m3::INST_ALL", "0x8c"), ("m2_avalanche::L1D_CACHE_MISS_LD", "0xa3"),
            ("bnl::UOPS_RETIRED.ANY", "0x10c2"), ("bnl::UOPS_RETIRED.STALLED_CYCLES", "0x18010c2"),
            ("bnl::UOPS_RETIRED.STALLS", "0x18410c2"), ("bnl::PAGE_WALKS.WALKS", "0x4030c"),
            ("bnl::PAGE_WALKS.CYCLES", "0x30c"), ("bnl::PAGE_WALKS.D_SIDE_WALKS", "0x4010c"),
            ("bnl::PAGE_WALKS.I_SIDE_WALKS", "0x4020c"),
        ):
            self.assertEqual(encode(text)["perf"]["config"], config, text)

    def test_numbers_of_m3(self):
        t = self.tables["m3"]
        wrong = [(r["name"], r["code"]) for r in read_csv(os.path.join(FACTS, "apple_m3.csv"))
                 if t.find_row(r["name"]) is None
                 or t.read_value(t.find_row(r["name"]), "code") != int(r["code"], 16)]
        self.assertEqual(wrong, [])

    def test_sources_have_their_events(self):
        """A row whose source is a list of its own is in that list."""
        lists = {}
        for path in glob.glob(os.path.join(GATOR, "*.csv")):
            name = os.path.basename(path)[:-4]
            if not name.startswith("_") and "." not in name:
                lists["events-%s.xml" % name] = {int(r["code"], 16) for r in read_csv(path)
                                                 if r["code"]}
        seen = 0
        for t in self.tables.values():
            for row in list_events(t) if t.find_field("source") is not None else ():
                m = re.match(r"ARM-software/gator (\S+\.xml)", t.read_value_text(row, "source"))
                if m:
                    self.assertIn(t.read_value(row, "code"), lists[m[1]], t.name)
                    seen += 1
        self.assertGreater(seen, 900)


EVENTS = """<!-- a list -->
<counter_set name="TOY_cnt" count="4"/>
<category name="Toy" counter_set="TOY_cnt">
  <event counter="TOY_ccnt" event="0x11" title="Cycles" name="CPU Cycles"/>
  <event event="0x03" title="L1 Data Cache" name="Refill"/>
  <!--TOY_LOADS-->
  <event event="0xc1" title="Loads" name="All"/>
  <event event="0xc2" title="Stores (Late)" name="All, or most"/>
  <event event="0xc3" title="Other" name="WAIT_CYC"/>
  <event event="0x1ffff" title="Too" name="Big"/>
  <event event="many" title="Not" name="Numeric"/>
  <event title="No" name="Number"/>
</category>
"""
UNITS = """<?xml version="1.0" encoding="UTF-8"?>
<pmus version="2">
  <pmu id="TOY" cpuid="0x7ea01" core_name="Toy-1" pmnc_counters="4" profile="8a"/>
  <pmu id="TOY2" counter_set="TOY" core_name="Toy-2" profile="8a">
    <cpuid id="0x7ea02"/><cpuid id="7ea"/></pmu>
  <uncore_pmu id="TOY_BUS" core_name="Toy Bus" pmnc_counters="2"/>
</pmus>
"""
BUS = """<counter_set name="TOY_BUS_cnt" count="2"/><category name="Bus" counter_set="TOY_BUS_cnt">
<option_set name="Port"><option event_delta="0x20" name="P1"/><option event_delta="0x40" name="P2"/>
</option_set><event event="0x03" option_set="Port" title="Bus" name="Reads"/></category>
"""
TEXT = """# Toy list
cpu/event=0x76,name='toy_cycles'/,
cpu/event=0x43,umask=0x2,cmask=0x1,name='toy.loads'/,
cpu/event=0x43,umask=0x2,cmask=0x1,name='toy.loads:k'/k,
cpu-cycles;
l3/event=0x4,umask=0xff,threadmask=0x3,name='l3.all'/;
"""


class Imports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="perfmon-union-")
        self.addCleanup(folder.cleanup)
        self.top = folder.name

    def write(self, name, text):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(text if type(text) is bytes else text.encode())
        return path

    def import_to(self, *paths):
        image = os.path.join(self.top, "toy.pmdb")
        status, out, err = run_import("-v", "-o", image, "--force", *paths)
        return status, out + err, read_tables(image) if os.path.exists(image) else {}

    def test_gators_files(self):
        """Names are those of comments, of the architecture, of titles written like names, or made
        of titles; a number that does not fit is refused with line and key."""
        self.write("daemon/pmus.xml", UNITS)
        self.write("daemon/events-Toy.xml", EVENTS)
        self.write("daemon/events-Bus.xml", BUS)
        status, said, tables = self.import_to(os.path.join(self.top, "daemon"))
        self.assertEqual(status, 0, said)
        self.assertEqual(sorted(tables), ["toy_1", "toy_2", "toy_bus"])
        t = tables["toy_1"]
        for name, code in (("CPU_CYCLES", 0x11), ("L1D_CACHE_REFILL", 3), ("TOY_LOADS", 0xC1),
                           ("STORES_LATE_ALL_OR_MOST", 0xC2), ("WAIT_CYC", 0xC3)):
            self.assertEqual(t.read_value(t.find_row(name), "code"), code, name)
        for part in ("expected an event number of at most 0xffff, got '0x1ffff' in line 10",
                     "expected a number such as 0x1d, got 'many' in line 11",
                     "without a number: left out in line 12",
                     "three of a part, got '7ea'"):
            self.assertIn(part, said)
        said = encode("toy_bus::BUS_READS:p2", PERFMON_EVENTS=os.path.join(self.top, "toy.pmdb"))
        self.assertEqual(said["perf"]["config"], "0x43")

    def test_one_event_file_of_gator(self):
        status, said, tables = self.import_to(self.write("events-Toy.xml", EVENTS))
        self.assertEqual((status, list(tables)), (0, ["toy"]), said)

    def test_hostile_files_of_gator(self):
        bomb = '<!DOCTYPE a [<!ENTITY a "%s"><!ENTITY b "&a;&a;&a;">]>' % ("x" * 100)
        for text, why in (
            (bomb + EVENTS, "not XML|a document type"),
            ("<counter_set name=\"A\"/>\n" + "<category>" * 40, "nested deeper than 16 in line 2"),
            ("<counter_set name=\"A\"/>\n<event event=\"1\" name=\"a\">",
             "not XML: .* in line 2, column [0-9]+: correct the file"),
            ("<counter_set name=\"A\"/>" + "<event/>" * 100001, "more than 100000 elements"),
            ("<counter_set name=\"A\"/><event event=\"1\" name=\"%s\"/>" % ("x" * 20000),
             "an attribute of more than 16384 characters"),
            (b"<counter_set name=\"A\"/>\xff\xfe", "not XML"),
        ):
            status, said, _ = self.import_to(self.write("events-Toy.xml", text))
            self.assertEqual(status, 1, said)
            self.assertRegex(said, why)

    def test_perfspects_files(self):
        self.write("resources/events/x86_64/AuthenticAMD/toy.txt", TEXT)
        self.write("resources/metrics/x86_64/AuthenticAMD/toy.json", json.dumps([
            {"name": "Loads per clock", "expression": "[toy.loads] / [toy_cycles]"},
            {"name": "Other", "expression": "[TXN] / [toy_cycles]"}]))
        status, said, tables = self.import_to(os.path.join(self.top, "resources"))
        self.assertEqual(status, 0, said)
        self.assertEqual(sorted(tables), ["toy", "toy_amd_l3"])
        t = tables["toy"]
        row = t.find_row("toy.loads")
        self.assertEqual([t.read_value(row, k) for k in ("code", "umask", "cmask")], [0x43, 2, 1])
        self.assertIsNotNone(t.find_row("loads_per_clock"))
        self.assertIn("left out: it needs TXN", said)
        image = os.path.join(self.top, "toy.pmdb")
        said = encode("toy_amd_l3::l3.all", PERFMON_EVENTS=image)
        self.assertEqual(said["perf"]["config"], "0x30000000000ff04")

    def test_hostile_lines_of_perfspect(self):
        good = "cpu/event=0x76,name='good'/,\n"
        for line, why in (
            ("cpu/event=0x1ffffffff,name='a'/,", "0x1ffffffff does not fit the 12 bits of 'event'"),
            ("cpu/event=1,colour=2,name='a'/,", "this unit has no field 'colour'"),
            ("cpu/event=1/,", "expected name='NAME'"),
            ("cpu/event=x,name='a'/,", "expected field=number, got 'event=x'"),
            ("cpu/event=1,name='a'", "expected DEVICE/field=number"),
            ("cpu/event=1,%sname='a'/," % ("umask=1," * 200), "a line of more than 1000"),
            ("cpu/event=0x77,name='good'/,", "this name twice, with other values"),
        ):
            status, said, tables = self.import_to(self.write("events/toy.txt", good + line + "\n"))
            self.assertRegex(said, re.escape(why) + ".* in line 2")
            self.assertEqual(list(tables), ["toy"], line)

    def test_lists_of_one_core_are_united(self):
        """Arm's list decides; a new number comes with its list as source, a new name becomes an
        alias, and a name with two numbers is a remark."""
        arm = {"_type": "Events", "cpu": "Toy-1", "cpuid": "0x7ea01", "pmu_architecture": "pmuv3",
               "counters": 6, "events": [{"code": 0x11, "name": "CPU_CYCLES"},
                                         {"code": 0xC1, "name": "LOADS"},
                                         {"code": 0xC2, "name": "WAIT_CYC"}]}
        self.write("arm/toy_1.json", json.dumps(arm))
        self.write("daemon/pmus.xml", UNITS)
        self.write("daemon/events-Toy.xml", EVENTS)
        status, said, tables = self.import_to(os.path.join(self.top, "arm"),
                                              os.path.join(self.top, "daemon"), "--cpu=toy_1")
        self.assertEqual((status, list(tables)), (0, ["toy_1"]), said)
        t = tables["toy_1"]
        self.assertEqual(t.read_value(t.find_row("LOADS"), "code"), 0xC1)
        row = t.find_row("L1D_CACHE_REFILL")
        self.assertEqual(t.read_value_text(row, "source"), "ARM-software/gator events-Toy.xml")
        self.assertEqual(t.read_row(row)["counters"], 0x3F)
        self.assertIn("WAIT_CYC: code: note: 0xc3 in ARM-software/gator", said)
        image = os.path.join(self.top, "toy.pmdb")
        self.assertEqual(encode("toy_1::TOY_LOADS", PERFMON_EVENTS=image)["perf"]["config"], "0xc1")
        self.assertEqual(encode("toy_1::WAIT_CYC", PERFMON_EVENTS=image)["perf"]["config"], "0xc2")


if __name__ == "__main__":
    main()
