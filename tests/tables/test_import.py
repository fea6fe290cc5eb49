#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Vendors' event lists become images that give the registers the vendors mean.

Lists and golden values are read from $PERFMON_SHARED, by default the folder `shared` beside the
checkout; what needs them is skipped where they are not. The rest works on small lists made up here.
"""

import collections
import contextlib
import errno
import gc
import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import weakref
from unittest import mock

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EVENTS = os.path.join(HERE, "..", "compiler")
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, EVENTS]
from vendors import heads  # noqa: E402
from vendors import hosts  # noqa: E402
from image import image_writer  # noqa: E402
from image import layout  # noqa: E402
from language import tables as pt  # noqa: E402
from image import image_reader  # noqa: E402
from image import atomic_files  # noqa: E402
import pmuc  # noqa: E402
from vendors import importing  # noqa: E402
from vendors.lists import Model  # noqa: E402
from vendors.output import format_size  # noqa: E402
from tap import SHARED, main  # noqa: E402
from waiting import wait_until  # noqa: E402

PFM = os.environ.get("PFM")
DATA = os.path.join(SHARED, "data")
VECTORS = os.path.join(SHARED, "vectors", "modern_public.jsonl")
TOYS = os.path.join(HERE, "lists")
needs_data = unittest.skipUnless(os.path.isdir(DATA), "no vendor lists at PERFMON_SHARED")


def run(*args, check=True):
    """`pmuc.py import` in this process: (status, standard output, standard error)."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = pmuc.main(["import", *args])
    return status, out.getvalue(), err.getvalue()


def images(folder):
    """Model -> its tables."""
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            found[name[:-5]] = image_reader.read_image(f.read())[0]
    return found


class Encoded:
    """Registers of a row, computed from the table alone: the C encoders must agree."""

    def __init__(self, t, row, mods):
        self.t, self.row = t, t.read_row(row)
        self.values = {}
        self.alts = []
        alt = t.find_field("alt")
        for field, counter, v in self.row["values"]:
            if field == alt:
                self.alts.append(v)
            elif counter == pt.ANY_COUNTER:
                self.values[field] = v
        for name, v in mods.items():
            if name != "plm":
                field = t.find_field(name)
                if field is None:
                    raise KeyError("%s has no field %s" % (t.name, name))
                assert t.read_record("fields", field)[5], "%s is no modifier" % name
                self.values[field] = v
        plm = mods.get("plm", "uk")
        self.plm = ("u" in plm) << 16 | ("k" in plm) << 17

    def config(self, replace=()):
        words = [0, 0, 0, 0]
        values = dict(self.values, **{})
        values.update(replace)
        for field, v in values.items():
            for word, lsb, width in self.t.read_field_ranges(field):
                words[word] |= (v & ((1 << width) - 1)) << lsb
                v >>= width
            if self.t.read_field_ranges(field) and v:
                raise ValueError("does not fit")
        return words

    def key(self, name):
        return self.values.get(self.t.find_field(name), 0)

    def evtsel(self, replace=()):
        return self.config(replace)[0] | self.plm | 1 << 20 | 1 << 22

    def msr_value(self):
        msr = self.key("msr")
        field = {0x1A6: "offcore_rsp", 0x1A7: "offcore_rsp", 0x3F6: "ldlat",
                 0x3F7: "frontend"}.get(msr)
        return self.key(field) if field else self.key("msr_value")

    def counters(self, bits):
        uncore = self.t.flags & pt.TABLE_UNCORE
        return [n for n in range(32) if bits >> n & 1] + \
               [("F" if uncore else "F%d" % n) for n in range(32) if bits >> (32 + n) & 1]

    def answer(self, want):
        """The keys of a golden row, as this table gives them."""
        c = self.config()
        got = {
            "config": hex(c[0]), "config1": hex(c[1]), "config2": hex(c[2]), "pmu": self.t.device,
            "type": 4 if self.t.perf_type == 4 else "dyn"
        }
        bits = self.row["counters"]
        if "counters" in want:
            got["counters"] = self.counters(bits)
        if self.t.find_field("on_htoff") is not None and self.key("on_htoff"):
            got["counters_htoff"] = self.counters(self.key("on_htoff"))
        if self.t.encoder == 2 and "precise" in want:
            got["precise"] = ("no", "may", "must")[self.key("precise")]
            if bits >> 32:
                n = (bits >> 32).bit_length() - 1
                nibble = (self.plm >> 17) | (self.plm >> 16 & 1) << 1 | self.key("any") << 2
                got["fixed_ctrl"] = hex(nibble << (4 * n))
            else:
                got["evtsel"] = hex(self.evtsel())
        if self.key("msr"):
            got["msr"] = [hex(self.key("msr")), hex(self.msr_value())]
        if self.alts:
            got["alt"] = []
            for a in self.alts:
                other = {
                    self.t.find_field("code"): a & 0xFFFF,
                    self.t.find_field("umask"): a >> 16 & 0xFFFF
                }
                one = {"config": hex(self.config(other)[0]), "evtsel": hex(self.evtsel(other))}
                if a >> 32:
                    one["msr"] = [hex(a >> 32), hex(self.msr_value())]
                got["alt"].append(one)
        if self.row["flags"] & pt.ROW_DEPRECATED:
            got["deprecated"] = 1
        if self.row["flags"] & pt.ROW_ALONE:
            got["alone"] = 1
        return got


class Trees:
    """Properties of all trees of lists, which are imported once. Subclasses give the places of the
    lists."""

    root = vectors = None
    literal = []            # what golden rows are known to have otherwise
    least = 0, 0            # golden rows, names of lists
    part = model = None     # the folder of one model, and its name
    # what is imported into one image, and what of it; what is packed, where in the archive, models
    mixed = packed = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.status, cls.out, cls.err = run(cls.root, "-o", cls.folder + "/", "--json")
        cls.lines = [json.loads(line) for line in cls.out.splitlines()]
        cls.images = images(cls.folder)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_every_golden_value(self):
        if not os.path.isfile(self.vectors):
            self.skipTest("no vectors at PERFMON_SHARED")
        wrong, n = [], 0
        with open(self.vectors, encoding="utf-8") as f:
            for line in f:
                want = json.loads(line)
                n += 1
                cpu = want["cpu"]
                model = cpu.split("/")[0].lower() if cpu[:1].isupper() else cpu.split(
                    "/")[-1].replace("-", "_")
                tables = [t for t in self.images[model] if t.device == want["pmu"]]
                rows = [(t, t.find_row(want["event"])) for t in tables]
                rows = [(t, r) for t, r in rows if r is not None]
                if not rows:
                    wrong.append("%s %s: not found" % (cpu, want["event"]))
                    continue
                e = Encoded(*rows[0], want["mods"])
                got = e.answer(want)
                # its list names no register; the second way is the second one's
                if want["event"] == "OFFCORE_RESPONSE":
                    self.assertEqual([a.pop("msr", [0])[0] for a in got["alt"]], ["0x1a7"])
                for key in set(want) | set(got):
                    if key not in ("cpu", "src", "event", "mods") and got.get(key) != want.get(key):
                        wrong.append(
                            "%s %s %s: %s %s is not %s" %
                            (cpu, want["event"], want["mods"], key, got.get(key), want.get(key)))
        self.assertEqual(sorted(wrong)[:20], self.literal, "of %d rows" % n)
        self.assertGreaterEqual(n, self.least[0])

    def test_no_row_is_lost(self):
        """Each object of each list is a row, or reported; metrics too."""
        known, lost, n = {}, [], 0
        for model, tables in self.images.items():
            names = known.setdefault(model, set())
            for t in tables:
                names.update(t.read_row(i)["name"] for i in range(t.count["rows"]))
        reported = {(r["file"], r["event"]) for line in self.lines for r in [line.get("refused")]
                    if r}
        for folder, _, files in os.walk(self.root):
            for name in files:
                if not name.endswith(".json"):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as f:
                    data = json.load(f)
                model = self.model_of(folder, name)
                if model is None:
                    # standard events of an architecture: rows where a model names them
                    continue
                rows = data if type(data) is list else data.get("Events", []) + data.get(
                    "Metrics", [])
                for e in rows:
                    for key in ("EventName", "MetricName"):
                        if key in e:
                            n += 1
                            name = e[key].strip()
                            if name not in known[model] and name + ".metric" not in known[model] \
                                    and (path, name) not in reported:
                                lost.append((path, name))
        self.assertEqual(lost[:10], [], "%d of %d lost" % (len(lost), n))
        self.assertGreater(n, self.least[1])

    def test_all_names_of_all_tables_lead_home(self):
        for tables in self.images.values():
            for t in tables:
                for i in range(t.count["rows"]):
                    row = t.read_row(i)
                    if row["flags"] & pt.ROW_SHADOWED:
                        found = t.read_row(t.find_row(row["name"]))
                        self.assertEqual(pt.fold(found["name"]), pt.fold(row["name"]))
                    else:
                        self.assertEqual(t.find_row(row["name"]), i, row["name"])
                        self.assertEqual(t.find_row(row["name"].lower().replace("_", "-")), i)
                    self.assertEqual(row["counters"] & ~t.get_all_counters, 0)

    def table(self, name):
        return next(t for tables in self.images.values() for t in tables if t.name == name)

    def test_same_input_same_bytes(self):
        with tempfile.TemporaryDirectory() as other:
            run(self.root, "-o", other + "/", "--jobs", "1")
            for name in os.listdir(self.folder):
                with open(os.path.join(self.folder, name),
                          "rb") as a, open(os.path.join(other, name), "rb") as b:
                    self.assertTrue(a.read() == b.read(), name)

    def test_second_run_does_nothing(self):
        name = os.path.join(self.folder, self.model + ".pmdb")
        before = os.stat(name)
        status, out, _ = run(self.root, "-o", self.folder + "/", "--json")
        after = os.stat(name)
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        summary = json.loads(out.splitlines()[-1])["summary"]
        self.assertEqual((status, summary["unchanged"]), (0, summary["models"]))
        with open(name, "rb") as f:
            raw = f.read()
        with open(name, "wb") as f:
            f.write(raw[:-8])                        # a damaged image is made anew
        run(self.root, "-o", self.folder + "/", "--cpu", self.model)
        with open(name, "rb") as f:
            self.assertTrue(f.read() == raw)

    def test_other_byte_order(self):
        with tempfile.TemporaryDirectory() as other:
            run(self.part, "-o", other + "/", "--byteorder", "big")
            with open(os.path.join(other, self.model + ".pmdb"), "rb") as f:
                tables, head = image_reader.read_image(f.read())
            self.assertEqual(head["byteorder"], "big")
            mine = {t.name: t for t in self.images[self.model]}
            for t in tables:
                for i in range(t.count["rows"]):
                    self.assertEqual(t.read_row(i), mine[t.name].read_row(i))

    def test_one_file_and_one_image(self):
        paths, names = self.mixed
        with tempfile.TemporaryDirectory() as other:
            target = os.path.join(other, "all.pmdb")
            self.assertEqual(run(*paths, "-o", target)[0], 0)
            with open(target, "rb") as f:
                tables, _ = image_reader.read_image(f.read())
            self.assertLessEqual(set(names), {t.name for t in tables})
            first = next(t for t in tables if t.name == names[0])
            # from the mapfile above it
            self.assertEqual(len(first.read_records("matches")), 1)
            self.assertEqual(first.read_records("matches")[0][2:5], (6, *[self.mixed_model] * 2))

    def test_archive_is_read_unopened(self):
        """A packed kernel source gives the images of the folder."""
        folder, inside, models = self.packed
        with tempfile.TemporaryDirectory() as other:
            packed = os.path.join(other, "linux-source-6.12.tar.xz")
            with tarfile.open(packed, "w:xz", preset=0) as tar:
                tar.add(folder, inside)
            self.assertEqual(run(packed, "-o", other + "/out/", "--json")[0], 0)
            got = images(other + "/out")
            for model in models:
                self.assertTrue([t.raw for t in got[model]] == [t.raw for t in self.images[model]],
                                model)


class Invented(Trees, unittest.TestCase):
    """Lists of invented processors in the makers' formats: tests/lists, and the results by hand in
    tests/vectors/lists.jsonl."""

    root, vectors = TOYS, os.path.join(HERE, "vectors", "lists.jsonl")
    least = 60, 50
    part, model = os.path.join(TOYS, "intel-like", "TOY"), "toy"
    mixed = ((os.path.join(TOYS, "intel-like", "DUO", "events",
                           "duo_oxen_core.json"), os.path.join(TOYS, "linux-like"), "--cpu", "duo",
              "--cpu", "amdtoy"), ("duo_oxen", "amdtoy", "amdtoy_amd_df"))
    mixed_model = 0xE6
    packed = (os.path.join(TOYS, "linux-like"), "linux-6.99",
              ("amdtoy", "twofold", "toy_n9", "mesh", "shed", "powertoy", "cf_toy", "t9"))

    def model_of(self, folder, name):
        inside = os.path.relpath(folder, self.root).split(os.sep)
        if inside[0] == "arm-like":
            return name[:-5].replace("-", "_") if inside[-1] == "pmu" else None
        if inside[0] == "linux-like" and (inside[-2] == "arch" or "test" in inside):
            return None
        model = inside[1] if inside[
            0] == "intel-like" else inside[-2] if inside[-1] == "sys" else inside[-1]
        return model.lower().replace("-", "_")

    def test_nothing_is_refused(self):
        self.assertEqual([line for line in self.lines if "refused" in line or "problem" in line],
                         [])
        summary = self.lines[-1]["summary"]
        self.assertEqual((self.status, summary["models"], summary["models"]),
                         (0, 12, len(self.images)))

    def test_metrics_of_each_form_are_imported(self):
        """Of both forms of Intel's, and of Linux's; of units too."""
        toy, amd = self.table("toy"), self.table("amdtoy")
        # a ratio of ours last
        self.assertEqual([
            toy.read_row(i)["name"]
            for i in range(toy.count["rows"]) if toy.read_row(i)["flags"] & pt.ROW_METRIC
        ], ["farm_cpi", "farm_emptiness", "hay_rate", "farm_frequency", "cart_bandwidth", "ipc"])
        self.assertEqual(toy.find_row("metric_TMA_Hay_Rate(%)"), toy.find_row("hay_rate"))
        self.assertEqual(toy.read_texts(toy.find_row("hay_rate"), "metric_inputs"),
                         ["SHED.PAINTED", "TOPDOWN.SLOTS"])
        self.assertEqual(toy.read_value_text(toy.find_row("farm_frequency"), "unit"), "GHz")
        self.assertTrue(amd.read_row(amd.find_row("cow_share"))["flags"] & pt.ROW_METRIC)
        self.assertTrue(
            self.table("mesh_arm_cmn").read_row(self.table("mesh_arm_cmn").find_row("late_share"))
            ["flags"] & pt.ROW_METRIC)
        self.assertIsNotNone(self.table("toy_n9").find_row("l1d_miss"))

    def test_masks_and_remarks(self):
        toy = self.table("toy")
        row = toy.read_row(toy.find_row("OFFCORE_RESPONSE"))
        words = [[toy.read_text(toy.read_record("named_values", g[3] + k)[1]) for k in range(g[4])]
                 for g in (toy.read_record("groups", g) for g in row["groups"])]
        # WAITING is one register's alone
        self.assertEqual(words, [["HAY", "STRAW"], ["NEAR_BARN", "FAR_BARN"]])
        self.assertIsNotNone(toy.find_row("OFFCORE_RESPONSE_0"))
        g = toy.read_record("groups",
                            toy.read_row(toy.find_row("FP_ARITH_INST_RETIRED"))["groups"][0])
        self.assertEqual([toy.read_record("named_values", g[3] + k)[0] for k in range(g[4])],
                         [1, 8])
        self.assertIn("mean 7.5", toy.read_value_text(toy.find_row("GATE.OPENED_COST"), "note"))
        self.assertEqual(toy.read_value_text(toy.find_row("SHED.EMPTY_CYCLES"), "errata"),
                         "TOY01, TOY02")
        self.assertEqual(toy.read_value_text(toy.find_row("BARN.STRAW"), "replaced"), "BARN.HAY")
        self.assertIsNotNone(toy.find_row("PERF_METRICS.RETIRING"))

    def test_identities_of_a_list_are_imported(self):
        def ids(name):
            return [(m[2], m[3], m[5], m[9] if m[10] else None)
                    for m in self.table(name).read_records("matches")]
        self.assertEqual(set(ids("toy")), {(6, 0xE5, 0x1F, None)})
        self.assertEqual((ids("duo_oxen"), ids("duo_goats")),
                         ([(6, 0xE6, 0, 0x40)], [(6, 0xE6, 0, 0x20)]))
        self.assertEqual(self.table("amdtoy").read_records("matches")[0][2:5], (99, 0, 0xFF))
        self.assertTrue(
            any(0x611FEE12 & m[7] == m[6] for m in self.table("toy_n9").read_records("matches")))
        self.assertEqual(
            {
                t.name for ts in self.images.values()
                for t in ts if t.family_name == "toy" and t.flags & pt.TABLE_UNCORE
            }, {"toy_uncore_" + u for u in ("cha", "imc", "iio", "iio_free_running", "upi", "pcu")})


@needs_data
class Lists(Trees, unittest.TestCase):
    """The vendors' own."""

    root, vectors = DATA, VECTORS
    least = 1730, 10000
    # One row transcribes a list that writes fixed counter 6 as the bare number 38 = 32 + 6, and
    # gives it a PERFEVTSEL value. Intel's own list calls it "Fixed counter 6", and the golden row
    # for that list has F6: so does our table.
    literal = [
        "x86/lunarlake TOPDOWN_RETIRING.ALL {}: " + what
        for what in ("counters ['F6'] is not [38]", "evtsel None is not 0x530700",
                     "fixed_ctrl 0x3000000 is not None")
    ]
    part, model = os.path.join(DATA, "intel", "HSW"), "hsw"
    mixed = ((os.path.join(DATA, "intel", "SPR", "events",
                           "sapphirerapids_core.json"), os.path.join(DATA, "linux-6.12"), "--cpu",
              "spr", "--cpu", "amdzen*"), ("spr", "amdzen4", "amdzen4_amd_df"))
    mixed_model = 0x8F
    packed = (os.path.join(DATA, "linux-6.12"), "linux-source-6.12/tools/perf/pmu-events/arch",
              ("amdzen4", "skylake", "lunarlake", "neoverse_n1", "power9", "cf_z15", "u74"))

    def model_of(self, folder, _):
        inside = os.path.relpath(folder, self.root).split(os.sep)
        model = inside[1] if inside[
            0] == "intel" else inside[-2] if inside[-1] == "sys" else inside[-1]
        return model.lower().replace("-", "_") if len(inside) > 2 else None

    def test_these_lists_are_clean(self):
        summary = self.lines[-1]["summary"]
        self.assertEqual(self.status, 0)
        # The samples leave out lists that metrics speak of.
        refused = [line["refused"] for line in self.lines if "refused" in line]
        self.assertEqual([
            r for r in refused
            if not re.search("^no event |a number, which is missing$|^unknown event ", r["reason"])
        ], [])
        self.assertEqual(summary["models"], len(self.images))

    def test_names_of_pmus(self):
        names = {t.name for tables in self.images.values() for t in tables}
        self.assertLessEqual(
            {
                "skx", "skx_uncore_cha", "adl_goldencove", "adl_gracemont", "lnl_skymont",
                "amdzen4", "amdzen4_amd_l3", "neoverse_n1", "power9", "cf_z15", "u74",
                "hsw_uncore_cbox_0", "arm_cmn", "hip08_hisi_sccl_ddrc", "skylake", "lunarlake_atom"
            }, names)
        aliases = {t.name: t.aliases for tables in self.images.values() for t in tables}
        self.assertIn("adl_glc", aliases["adl_goldencove"])
        self.assertIn("adl_grt", aliases["adl_gracemont"])
        self.assertIn("skylakex", aliases["skx"])
        self.assertIn("skl", aliases["skylake"])
        self.assertIn("amd64_fam19h_zen4", aliases["amdzen4"])
        self.assertIn("arm_n1", aliases["neoverse_n1"])

    def matching(self, family, model, stepping, vendor="GenuineIntel"):
        """Core tables for an x86 id, with the core type each is for."""
        found = set()
        for tables in self.images.values():
            for t in tables:
                if t.flags & pt.TABLE_UNCORE:
                    continue
                for m in t.read_records("matches"):
                    if (
                        t.read_text(m[1]) == vendor
                        and m[2] == family
                        and m[3] <= model <= m[4]
                        and (not m[5] or m[5] >> stepping & 1)
                    ):
                        found.add((t.name, m[9] if m[10] else None))
        return found

    def test_identities_find_their_list(self):
        self.assertEqual(self.matching(6, 0x55, 4), {("skx", None)})
        # Cascade Lake, whose lists are not here
        self.assertEqual(self.matching(6, 0x55, 7), set())
        self.assertEqual(self.matching(6, 0x9E, 10), {("skl", None), ("skylake", None)})
        self.assertEqual(self.matching(6, 0x97, 2), {("adl_goldencove", 0x40),
                                                     ("adl_gracemont", 0x20)})
        self.assertEqual(self.matching(6, 0xBE, 0), {("adl_n", None)})
        amd = "AuthenticAMD"
        # 6.1 gives the whole family to Zen 3; the head file lists the models of each.
        self.assertEqual(self.matching(25, 0x61, 2, amd), {("amdzen4", None)})
        self.assertEqual(self.matching(25, 0x21, 0, amd), {("amdzen3", None)})
        self.assertEqual(self.matching(23, 0x31, 0, amd), set())
        midr = [m for m in self.table("neoverse_n1").read_records("matches")]
        self.assertTrue(any(0x413FD0C1 & m[7] == m[6] and m[7] for m in midr))
        pvr = self.table("power9").read_records("matches")
        self.assertTrue(any(0x004E1203 & m[7] == m[6] and m[7] for m in pvr))
        self.assertRegex(
            "0x489-0x8000000000000007-0x4210427",
            hosts.convert_posix_to_python(
                self.table("u74").read_text(self.table("u74").read_records("matches")[0][8])))

    def test_matrix_values_compose_the_listed_events(self):
        """Request and response of the matrix give the value of the event that has both in its
        name."""
        hsw = self.table("hsw")
        row = hsw.read_row(hsw.find_row("OFFCORE_RESPONSE"))
        groups = [hsw.read_record("groups", g) for g in row["groups"]]
        self.assertEqual([hsw.read_text(g[0]) for g in groups], ["request", "response"])
        # the list has the bare event: masks are optional
        self.assertEqual([g[1] for g in groups], [pt.GROUP_COMBINABLE] * 2)
        words = [[hsw.read_record("named_values", g[3] + k) for k in range(g[4])] for g in groups]
        self.assertIn("L3_HIT_SNOOP_MISS", [hsw.read_text(w[1]) for w in words[1]])
        rows = {re.sub("[._]", "", hsw.read_row(i)["name"]): i for i in range(hsw.count["rows"])}
        seen = 0
        for a in words[0]:
            for b in words[1]:
                named = rows.get(
                    re.sub("[._]", "",
                           "OFFCORE_RESPONSE" + hsw.read_text(a[1]) + hsw.read_text(b[1])))
                if named is not None:
                    seen += 1
                    self.assertEqual(hsw.read_value(named, "offcore_rsp"), a[0] | b[0])
        self.assertEqual(seen, 41)

    def test_floating_point_masks(self):
        """Bits of the unit mask with what each counts; none of them spells another event."""
        skx = self.table("skx")
        row = skx.read_row(skx.find_row("FP_ARITH_INST_RETIRED"))
        g = skx.read_record("groups", row["groups"][0])
        words = {
            skx.read_text(w[1]): (w[0], skx.read_text(w[2])[:14])
            for w in (skx.read_record("named_values", g[3] + k) for k in range(g[4]))
        }
        self.assertEqual(len(words), 8)
        self.assertEqual(words["512BIT_PACKED_SINGLE"], (0x80, "16 operations."))
        # FP_ARITH_INST_RETIRED.SCALAR_DOUBLE is an event
        self.assertEqual(words["SCALAR_DOUBLE_MASK"][0], 1)
        for word in words:
            self.assertIsNone(skx.find_row("FP_ARITH_INST_RETIRED." + word))

    def test_metrics_become_code_and_keep_their_unit(self):
        skx, zen = self.table("skx"), self.table("amdzen4")
        row = skx.find_row("cpu_operating_frequency")
        self.assertTrue(skx.read_row(row)["flags"] & pt.ROW_METRIC)
        self.assertEqual(skx.read_texts(row, "metric_inputs"), [
            "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.REF_TSC",
            "#system_tsc_freq|SYSTEM_TSC_FREQ"
        ])
        # both lists have it: Intel's own
        self.assertRegex(skx.read_value_text(row, "metric"), r"^e00e01/e02\*(k.{11}|j..)/$")
        self.assertEqual(skx.read_value_text(row, "unit"), "GHz")
        self.assertEqual(skx.find_row("metric_TMA_......Mispredicts_Resteers(%)"),
                         skx.find_row("Mispredicts_Resteers"))
        row = zen.find_row("bad_speculation")
        self.assertEqual(zen.read_value_text(row, "unit"), "%")
        self.assertTrue(zen.read_value_text(row, "metric").endswith("j1T*"))      # its scale, 100

    def manifest(self, name):
        """device without instance number -> field -> bits, of a recorded machine."""
        found = {}
        with open(os.path.join(DATA, "sysfs", name + ".txt"), encoding="utf-8") as f:
            for line in f:
                m = re.match(r"(\w+?)(?:_\d+)?/format/(\w+)\t(.*)", line)
                if m:
                    found.setdefault(m[1], {})[{"event": "code"}.get(m[2], m[2])] = m[3].strip()
        return found

    def test_boxes_have_the_kernels_formats(self):
        """Of every box of the recorded machines. PC is in no list and no use off the core."""
        seen = 0
        for machine, family in (("skx", "skx"), ("icx", "icx"), ("spr", "spr"), ("hsw", "snb")):
            for device, fields in self.manifest(machine).items():
                if not device.startswith("uncore_") or fields == {"code": "config:0-7"}:
                    continue
                seen += 1
                fields.pop("pc", None)
                head, _ = heads.build_skeleton([heads.find_box_section(family, device[7:])])
                self.assertEqual({f.name: list(f.ranges) for f in head.fields},
                                 {k: heads.parse_bits(v) for k, v in fields.items()},
                                 "%s %s" % (machine, device))
        self.assertGreater(seen, 25)

    def test_cores_have_the_kernels_formats(self):
        for machine, device, table in (("skx", "cpu", "skx"), ("icx", "cpu", "icx"), ("spr", "cpu",
                                                                                      "spr"),
                                       ("hsw", "cpu", "hsw"), ("adl", "cpu_core", "adl_goldencove"),
                                       ("adl", "cpu_atom", "adl_gracemont"), ("lnl", "cpu_core",
                                                                              "lnl_lioncove"),
                                       ("lnl", "cpu_atom", "lnl_skymont"), ("zen4", "cpu",
                                                                            "amdzen4"),
                                       ("zen4", "amd_l3", "amdzen4_amd_l3"), ("zen4", "amd_df",
                                                                              "amdzen4_amd_df"),
                                       ("zen4", "amd_umc", "amdzen4_amd_umc"), ("z15", "cpum_cf",
                                                                                "cf_z15"),
                                       ("neoverse-n1", "armv8_pmuv3",
                                        "neoverse_n1"), ("riscv-u74", "cpu",
                                                         "u74"), ("power9", "cpu", "power9")):
            t = self.table(table)
            for field, where in self.manifest(machine)[device].items():
                if table == "power9" and field != "code":
                    continue          # parts of the code under other names
                index = t.find_field(field)
                self.assertIsNotNone(index, "%s has no %s" % (table, field))
                self.assertEqual([tuple(r) for r in t.read_field_ranges(index)],
                                 heads.parse_bits(where), "%s %s" % (table, field))

    def test_top_down_figures(self):
        """In no list, but in metrics: the kernel's codes for PERF_METRICS, beside SLOTS on fixed
        counter 3."""
        icx, spr, hsw = self.table("icx"), self.table("spr"), self.table("hsw")
        row = spr.find_row("PERF_METRICS.MEMORY_BOUND")
        self.assertEqual((spr.find_row("topdown-mem-bound"), spr.read_value(
            row, "code"), spr.read_value(row, "umask")), (row, 0, 0x87))
        self.assertIsNotNone(icx.find_row("PERF_METRICS.RETIRING"))
        self.assertIsNone(icx.find_row("PERF_METRICS.MEMORY_BOUND"))
        self.assertIsNone(hsw.find_row("PERF_METRICS.RETIRING"))
        self.assertIsNone(self.table("adl_gracemont").find_row("PERF_METRICS.RETIRING"))
        self.assertEqual(self.table("adl_goldencove").find_row("topdown-retiring"),
                         self.table("adl_goldencove").find_row("PERF_METRICS.RETIRING"))

    def test_deprecated_rows_name_their_successor(self):
        skx = self.table("skx_uncore_cha")
        row = skx.find_row("UNC_H_DIR_LOOKUP.SNP")
        self.assertTrue(skx.read_row(row)["flags"] & pt.ROW_DEPRECATED)
        self.assertEqual(skx.read_value_text(row, "replaced"), "UNC_CHA_DIR_LOOKUP.SNP")

    def test_spellings_that_fold_together(self):
        """PROT_HDR is the old name of PROTHDR: one of two equal rows answers, both are listed."""
        upi = self.table("skx_uncore_upi")
        rows = [
            i for i in range(upi.count["rows"])
            if pt.fold(upi.read_row(i)["name"]) == b"uncupirxlflits.prothdr"
        ]
        self.assertEqual(len(rows), 2)
        found = upi.find_row("UNC_UPI_RxL_FLITS.PROT_HDR")
        self.assertEqual(upi.read_row(found)["name"], "UNC_UPI_RxL_FLITS.PROTHDR")
        self.assertFalse(upi.read_row(found)["flags"] & pt.ROW_DEPRECATED)

def event(**more):
    """A sound core event of Intel's lists."""
    e = {
        "EventCode": "0x3C", "UMask": "0x00", "EventName": "CPU_CLK_UNHALTED.THREAD_P",
        "BriefDescription": "Cycles.", "PublicDescription": "Cycles.", "Counter": "0,1,2,3",
        "SampleAfterValue": "2000003", "MSRIndex": "0", "MSRValue": "0", "CounterMask": "0",
        "Invert": "0", "EdgeDetect": "0", "PEBS": "0", "Errata": "null"
    }
    e.update({k: v for k, v in more.items() if v is not None})
    for k, v in more.items():
        if v is None:
            e.pop(k, None)
    return e


class MadeUp(unittest.TestCase):
    """Odd, broken and hostile lists."""

    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.root = self.tmp.name
        self.addCleanup(self.tmp.cleanup)

    def put(self, path, what):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as f:
            f.write(what if isinstance(what, bytes) else
                    what.encode() if isinstance(what, str) else json.dumps(what).encode())
        return full

    def intel(self, folder, events, name="x_core.json", info="test - V1"):
        return self.put("%s/events/%s" % (folder, name),
                        {"Header": {"Info": info, "Version": "1"}, "Events": events})

    def convert(self, path="."):
        """(tables by name, refused rows as (event, key), notes, status)"""
        out = os.path.join(self.root, "out")
        status, text, err = run(os.path.join(self.root, path), "-o", out + "/", "--json", "--force")
        refused, notes, self.problems = [], [], []
        for line in text.splitlines():
            d = json.loads(line)
            if "refused" in d:
                refused.append((d["refused"]["event"], d["refused"]["key"], d["refused"]["reason"]))
            elif "note" in d:
                notes.append((d["note"]["event"], d["note"]["key"]))
            elif "problem" in d:
                self.problems.append(d["problem"])
        tables = {
            t.name: t for ts in (images(out) if os.path.isdir(out) else {}).values() for t in ts
        }
        return tables, refused, notes, status

    def config(self, t, name, mods=()):
        return Encoded(t, t.find_row(name), dict(mods)).config()

    def test_list_shapes_of_alternatives(self):
        self.intel("ADL", [
            event(EventName="A", EventCode="0xB7, 0xBB", UMask="0x01", MSRIndex="0x1a6,0x1a7",
                  MSRValue="0x10001"),
            event(EventName="B", EventCode="0xB7", UMask="0x01,0x02", MSRIndex="0x1a6, 0x1a7",
                  MSRValue="0x2\u00a0"),
            event(EventName="C", EventCode="0xB7", UMask="0x01,0x02", MSRIndex="0x1a7",
                  MSRValue="0x3"),
            event(EventName="D", EventCode="0xB7", UMask="0x01,0x02", MSRIndex="0", MSRValue="0"),
            event(EventName="E", EventCode="0xD6", UMask="0x01,0x02,0x04,0x08",
                  MSRIndex="0x3E0,0x3E1,0x3E2,0x3E3", MSRValue="0x5"),
            event(EventName="F", EventCode="0xCD", UMask="0x01", MSRIndex="0x3F6", MSRValue="0x0",
                  PEBS="2"),
            event(EventName="G", EventCode="0X2a", UMask="0x2", MSRIndex="0x3f7",
                  MSRValue="0x600006"),
            event(EventName="H", EventCode="0xB7,0xBB", UMask="0x01", MSRIndex="0", MSRValue="0")
        ])
        tables, refused, _, _ = self.convert()
        self.assertEqual(refused, [])
        t = tables["adl"]

        def ways(name):
            row = t.find_row(name)
            return (t.read_value(row, "code"), t.read_value(row, "umask"), t.read_value(row, "msr"),
                    t.read_value_list(row, "alt"))
        self.assertEqual(ways("A"), (0xB7, 1, 0x1A6, [0xBB | 1 << 16 | 0x1A7 << 32]))
        self.assertEqual(ways("B"), (0xB7, 1, 0x1A6, [0xB7 | 2 << 16 | 0x1A7 << 32]))
        self.assertEqual(ways("C"), (0xB7, 2, 0x1A7, []))
        self.assertEqual(ways("D"), (0xB7, 1, 0, []))
        self.assertEqual(ways("E")[:3], (0xD6, 1, 0x3E0))
        self.assertEqual(len(ways("E")[3]), 3)
        self.assertEqual(ways("H"), (0xB7, 1, 0, [0xBB | 1 << 16]))
        self.assertEqual(self.config(t, "B")[1], 2)
        # no kernel field: only the raw register
        self.assertEqual(self.config(t, "E")[1], 0)
        self.assertEqual(t.read_value(t.find_row("E"), "msr_value"), 5)
        self.assertEqual(t.read_value(t.find_row("F"), "precise"), 2)
        # a zero that is meant
        self.assertIn(t.find_field("ldlat"), [v[0] for v in t.read_row(t.find_row("F"))["values"]])
        self.assertEqual(self.config(t, "G")[1], 0x600006)

    def test_events_of_fixed_counters_are_imported(self):
        self.intel("BNL", [
            event(EventName="INST_RETIRED.ANY", EventCode="0x0A", UMask="0x0",
                  Counter="Fixed counter 1"),
            event(EventName="CPU_CLK_UNHALTED.CORE", EventCode="0x0A", Counter="Fixed counter 2"),
            event(EventName="CPU_CLK_UNHALTED.REF", EventCode="0x0A", Counter="Fixed counter 3")
        ])
        self.intel("NHM-EP", [
            event(EventName="A.X", EventCode="0x0", Counter="Fixed counter 1"),
            event(EventName="B.X", EventCode="0x0", Counter="Fixed counter 2"),
            event(EventName="INST_RETIRED.ANY_P", EventCode="0xC0", UMask="0x1"),
            event(EventName="OFFCORE_RESPONSE_0.ANY", EventCode="0xB7", UMask="1", MSRIndex="0x1A6",
                  MSRValue="0xFF")
        ])
        self.intel("ICL", [
            event(EventName="INST_RETIRED.PREC_DIST", EventCode="0x00", UMask="1",
                  Counter="Fixed counter 0"),
            event(EventName="TOPDOWN.SLOTS", EventCode="0x00", UMask="4",
                  Counter="Fixed counter 3"),
            event(EventName="ANY.THREAD", EventCode="0x00", UMask="2", Counter="Fixed counter 1")
        ])
        tables, refused, _, _ = self.convert()
        self.assertEqual(refused, [])
        bnl, nhm, icl = tables["bnl"], tables["nhm_ep"], tables["icl"]
        self.assertEqual([
            self.config(bnl, n)[0]
            for n in ("INST_RETIRED.ANY", "CPU_CLK_UNHALTED.CORE", "CPU_CLK_UNHALTED.REF")
        ], [0xC0, 0x3C, 0x300])
        self.assertEqual([bnl.read_row(i)["counters"] >> 32 for i in range(3)], [1, 2, 4])
        self.assertEqual([self.config(nhm, n)[0] for n in ("A.X", "B.X", "INST_RETIRED.ANY_P")],
                         [0x3C, 0x300, 0x1C0])
        self.assertEqual(nhm.find_row("OFFCORE_RESPONSE.ANY"),
                         nhm.find_row("OFFCORE_RESPONSE_0.ANY"))
        self.assertEqual([
            self.config(icl, n)[0]
            for n in ("INST_RETIRED.PREC_DIST", "TOPDOWN.SLOTS", "ANY.THREAD")
        ], [0x100, 0x400, 0x3C])

    def test_wide_unit_masks(self):
        self.intel("LNL", [
            event(EventName="A", EventCode="0xc4", UMask="0x00", UMaskExt="0x01", Equal="0"),
            event(EventName="B", EventCode="0xc4", UMask="0x41", UMaskExt="0x02", Equal="1")
        ])
        self.intel("SKL", [event(EventName="A", EventCode="0xc4", UMask="0x141")])
        tables, refused, _, _ = self.convert()
        self.assertEqual(self.config(tables["lnl"], "A")[0], 0x1 << 40 | 0xC4)
        self.assertEqual(self.config(tables["lnl"], "B")[0], 0x2 << 40 | 1 << 36 | 0x41C4)
        self.assertEqual(refused[0][:2], ("A", "UMask"))

    def test_request_and_response_names(self):
        self.intel("CLX", [
            event(EventName="OFFCORE_RESPONSE:request=ALL_DATA_RD:response=L3_HIT.ANY_SNOOP",
                  EventCode="0xB7,0xBB", UMask="1", MSRIndex="0x1a6,0x1a7", MSRValue="0x3F803C0491")
        ])
        t = self.convert()[0]["clx"]
        for name in ("OFFCORE_RESPONSE:request=ALL_DATA_RD:response=L3_HIT.ANY_SNOOP",
                     "offcore_response.request=all_data_rd.response=l3_hit.any_snoop",
                     "OFFCORE_RESPONSE.ALL_DATA_RD.L3_HIT.ANY_SNOOP",
                     "offcore_response:all_data_rd:l3_hit:any_snoop"):
            self.assertEqual(t.find_row(name), 0, name)

    def test_matrix_in_both_forms(self):
        rows = [{
            "MATRIX_REQUEST": "ANY", "MATRIX_RESPONSE": "Null", "MATRIX_VALUE": "0x8000",
            "MATRIX_REGISTER": "0,1", "DESCRIPTION": "any"
        }, {
            "MATRIX_REQUEST": "NULL", "MATRIX_RESPONSE": "MISS", "MATRIX_VALUE": "0x100000000",
            "MATRIX_REGISTER": "0,1", "DESCRIPTION": "missed"
        }, {
            "MATRIX_REQUEST": "Null", "MATRIX_RESPONSE": "OUTSTANDING",
            "MATRIX_VALUE": "0x4000000000", "MATRIX_REGISTER": "0", "DESCRIPTION": "waiting"
        }, {
            "MATRIX_REQUEST": "x", "MATRIX_RESPONSE": "y", "MATRIX_VALUE": "1",
            "MATRIX_REGISTER": "0"
        }]
        self.intel("SLM", [event()])
        self.intel("SLM", rows, "x_matrix.json")
        tables, refused, _, _ = self.convert()
        t = tables["slm"]
        self.assertEqual([r[1] for r in refused], ["MATRIX_REQUEST"])
        both, zero, one = (t.find_row("OFFCORE_RESPONSE" + s) for s in ("", "_0", "_1"))
        words = {}
        for row in (both, zero, one):
            g = t.read_record("groups", t.read_row(row)["groups"][1])
            words[row] = [(t.read_text(w[1]), w[0])
                          for w in (t.read_record("named_values", g[3] + k) for k in range(g[4]))]
        self.assertEqual(words[both], [("MISS", 0x100000000)])
        self.assertEqual(words[zero], [("MISS", 0x100000000), ("OUTSTANDING", 0x4000000000)])
        self.assertEqual(words[one], [("MISS", 0x100000000)])
        self.assertEqual(
            (t.read_value(one, "umask"), t.read_value(one, "msr"), t.read_value_list(both, "alt")),
            (2, 0x1A7, [0xB7 | 2 << 16 | 0x1A7 << 32]))

    def test_uncore_of_several_generations(self):
        def u(**more):
            e = {
                "Unit": "CHA", "EventCode": "0x50", "UMask": "0x01", "EventName": "UNC_X",
                "BriefDescription": "x", "Counter": "0,1,2,3", "Filter": "na", "ExtSel": "0"
            }
            e.update(more)
            return e
        self.intel("SPR", [
            u(EventName="TOR", UMask="0x01", UMaskExt="0xC001FE"),
            u(EventName="IO", Unit="IIO", UMask="0x1", UMaskExt="0x00070800", PortMask="0x080",
              FCMask="0x07"),
            u(EventName="IO2", Unit="IIO", UMask="0x1", UMaskExt="0x00070010"),
            u(EventName="UNC_IIO_BANDWIDTH_IN.PART6_FREERUN", Unit="IIO", EventCode="0x00",
              UMask="0", CounterType="FREERUN", Counter="7"),
            u(EventName="CLOCK", Unit="UBOX", EventCode="0x00", Counter="FIXED")
        ], "x_uncore.json")
        self.intel("JKT", [
            u(EventName="Q", Unit="QPI LL", EventCode="0x02", UMask="0x8", ExtSel="1"),
            u(EventName="P", Unit="PCU", EventCode="0x80", UMask="0x40", Filter="PCUFilter[7:0]"),
            u(EventName="C", Unit="CBO", UMask="0x100")
        ], "x_uncore.json")
        self.intel("SKX", [
            u(EventName="F1", Filter="Filter1", FILTER_VALUE="0x40433"),
            u(EventName="NOWHERE", Unit="../etc"),
            u(EventName="WIDE", Unit="imc", UMask="0x1ff")
        ], "x_uncore.json")
        self.intel("SKL", [
            u(EventName="UNC_CLOCK.SOCKET", Unit="NCU", EventCode="0x0", UMask="0x01",
              Counter="FIXED"),
            u(EventName="ARB", Unit="iMPH-U", CounterMask="1")
        ], "x_uncore.json")
        self.intel("TGL", [
            u(EventName="UNC_MC1_RDCAS_COUNT_FREERUN", Unit="h_imc", EventCode="0x0", UMask="0",
              CounterType="FREERUN", Counter="4")
        ], "x_uncore.json")
        tables, refused, _, _ = self.convert()
        self.assertEqual(self.config(tables["spr_uncore_cha"], "TOR")[0], 0xC001FE << 32 | 0x150)
        self.assertEqual(
            self.config(tables["spr_uncore_iio"], "IO")[0], 7 << 48 | 0x80 << 36 | 0x150)
        self.assertEqual(self.config(tables["spr_uncore_iio"], "IO2")[0], 7 << 48 | 1 << 36 | 0x150)
        free = tables["spr_uncore_iio_free_running"]
        self.assertEqual(self.config(free, "UNC_IIO_BANDWIDTH_IN.PART6_FREERUN")[0], 0x26FF)
        self.assertTrue(free.read_row(0)["flags"] & pt.ROW_FREE_RUNNING)
        self.assertEqual(self.config(tables["spr_uncore_ubox"], "CLOCK")[0], 0xFF)
        self.assertEqual(tables["spr_uncore_ubox"].read_row(0)["counters"], 1 << 32)
        self.assertEqual(self.config(tables["jkt_uncore_qpi"], "Q")[0], 1 << 21 | 0x802)
        self.assertEqual(self.config(tables["jkt_uncore_pcu"], "P")[0], 1 << 14 | 0x80)
        self.assertEqual(self.config(tables["skx_uncore_cha"], "F1")[1], 0x40433 << 32)
        self.assertEqual(self.config(tables["skl_uncore_cbox_0"], "UNC_CLOCK.SOCKET")[0], 0xFF)
        self.assertEqual(self.config(tables["skl_uncore_arb"], "ARB")[0], 1 << 24 | 0x150)
        self.assertEqual(
            self.config(tables["tgl_uncore_imc_free_running_1"], "UNC_MC1_RDCAS_COUNT_FREERUN")[0],
            0x20FF)
        self.assertEqual(sorted(r[:2] for r in refused), [("C", "UMask"), ("NOWHERE", "Unit"),
                                                          ("WIDE", "UMask")])

    def test_linux_special_rows(self):
        arch = "tools/perf/pmu-events/arch/"
        self.put(
            arch + "x86/mapfile.csv",
            "GenuineIntel-6-3E,v1,haswellx,core\n"  # a header by position, whatever it says
            "GenuineIntel-6-3F,v1,haswellx,core\nAuthenticAMD-25-[[:xdigit:]]+,v1,amdzen4,core\n"
            "AuthenticAMD-31-([12][0-9A-F]|[0-9A-F]),v2,amdnew1,core\n"
            "AuthenticAMD-31-[[:xdigit:]]+,v1,amdnew2,core\n")
        for new in ("amdnew1", "amdnew2"):
            self.put(arch + "x86/%s/core.json" % new, [{"EventName": "a", "EventCode": "0xD0"}])
        self.put(arch + "x86/haswellx/uncore-cache.json", [{
            "EventName": "LLC_MISSES.MMIO_READ", "EventCode": "0x35", "UMask": "0x3",
            "Unit": "CBOX", "PerPkg": "1", "Filter": "filter_opc=0x187,filter_nc=1",
            "ScaleUnit": "64Bytes", "Counter": "0,1,2,3", "MetricName": "LLC_MISSES.MMIO_READ",
            "MetricExpr": "LLC_MISSES.MMIO_READ * 2", "BriefDescript6ion": "b"
        }])
        self.put(arch + "x86/haswellx/counter.json",
                 [{"Unit": "CBOX", "CountersNumFixed": 0, "CountersNumGeneric": "4"}])
        self.put(arch + "x86/amdzen1/core.json",
                 [{"EventName": "a", "EventCode": "0x1D0", "UMask": "0xff"}])
        self.put(arch + "x86/amdzen2/l3.json", [{
            "EventName": "l3", "EventCode": "0x9a", "UMask": "0x1f", "Unit": "L3PMC", "PerPkg": "1",
            "ThreadMask": "0xff"
        }, {"EventName": "df", "EventCode": "0x1C7", "UMask": "0x38", "Unit": "DFPMC"}])
        self.put(arch + "x86/amdzen4/df.json",
                 [{"EventName": "df", "EventCode": "0x21C7", "UMask": "0x7fe", "Unit": "DFPMC"}])
        self.put(arch + "x86/graniterapids/io.json", [{
            "EventName": "iio", "EventCode": "0x83", "UMask": "0x7080002", "PortMask": "0x080",
            "FCMask": "0x07", "Unit": "IIO", "Counter": "0,1"
        }])
        self.put(arch + "arm64/mapfile.csv",
                 "#MIDR,Version,File,Type\n#\n0x00000000411fd0c1,v1,arm/x1000,core\n")
        self.put(arch + "arm64/recommended.json", [{
            "EventName": "L1D_CACHE_RD", "EventCode": "0x40", "BriefDescription": "read",
            "PublicDescription": "read access"
        }])
        self.put(arch + "arm64/arm/x1000/core.json",
                 [{"ArchStdEvent": "l1d_cache_rd", "BriefDescription": "mine"
                   }, {"ArchStdEvent": "NO_SUCH"}, {"EventName": "CPU_CYCLES", "EventCode": "0x11"},
                  {"EventName": "WIDE", "EventCode": "0x12345"}])
        self.put(arch + "s390/mapfile.csv", "h\n^IBM.856[12].*3\\.6.[[:xdigit:]]+$,3,cf_z15,core\n")
        self.put(arch + "s390/cf_z15/basic.json",
                 [{"Unit": "CPU-M-CF", "EventCode": "140", "EventName": "TX"}])
        self.put(arch + "test/soc/cpu/x.json", [{"EventName": "not a processor", "EventCode": "1"}])
        tables, refused, _, _ = self.convert()
        cbox = tables["haswellx_uncore_cbox"]
        self.assertEqual(
            self.config(cbox, "LLC_MISSES.MMIO_READ")[:2], [0x335, 0x187 << 52 | 1 << 62])
        self.assertEqual(cbox.read_value_text(0, "unit"), "Bytes")
        self.assertEqual(tables["haswellx"].read_row(0)["name"], "LLC_MISSES.MMIO_READ.metric")
        self.assertEqual(self.config(tables["amdzen1"], "a")[0], 1 << 32 | 0xFFD0)
        self.assertEqual(self.config(tables["amdzen2_amd_l3"], "l3")[0], 0xFF << 56 | 0x1F9A)
        self.assertEqual(self.config(tables["amdzen2_amd_df"], "df")[0], 1 << 32 | 0x38C7)
        self.assertEqual(
            self.config(tables["amdzen4_amd_df"], "df")[0], 0x21 << 32 | 0x7 << 24 | 0xFEC7)
        self.assertEqual(
            self.config(tables["graniterapids_uncore_iio"], "iio")[0], 7 << 48 | 0x80 << 36 | 0x283)
        self.assertEqual([m[3] for m in cbox.read_records("matches")], [0x3F])
        models = [[m[3:5] for m in tables[new].read_records("matches")]
                  for new in ("amdnew1", "amdnew2")]
        # the first line that matches wins
        self.assertEqual(models, [[(0, 0x2F)], [(0x30, 0xFF)]])
        arm = tables["x1000"]
        self.assertEqual(arm.read_row(arm.find_row("L1D_CACHE_RD"))["desc"], "mine")
        self.assertEqual(
            [arm.read_row(arm.find_row(n))["counters"] for n in ("CPU_CYCLES", "L1D_CACHE_RD")],
            [0xFFFFFFFF, 0x7FFFFFFF])
        midr = arm.read_records("matches")

        def is_for(value):
            return any(value & m[7] == m[6] for m in midr)
        self.assertTrue(is_for(0x411FD0C1) and is_for(0x412FD0C0) and is_for(0x411FD0CF))
        self.assertFalse(is_for(0x410FD0C1) or is_for(0x411FD0C0) or is_for(0x411FD0D1))
        z15 = tables["cf_z15"]
        self.assertEqual(self.config(z15, "TX")[0], 140)
        self.assertRegex(
            "IBM,8561,T01,703,3.6,002f",
            hosts.convert_posix_to_python(z15.read_text(z15.read_records("matches")[0][8])))
        self.assertEqual(sorted(refused),
                         [("NO_SUCH", "ArchStdEvent", "no standard event of that name"),
                          ("WIDE", "EventCode", "0x12345 does not fit the 16 bits of 'code'")])

    def test_one_bad_row_never_costs_the_rest(self):
        good = [event(EventName="GOOD.%d" % i) for i in range(3)]
        bad = [
            event(EventName="N1", EventCode="0x1FF"),
            event(EventName="N2", UMask="0xZZ"),
            event(EventName="N3", Counter="eleven"),
            event(EventName="N4", CounterMask="256"),
            event(EventName="N5", MSRIndex="0x3F6", MSRValue="0x10000"),
            event(EventName="N6", SampleAfterValue="1_0"),
            event(EventName="N7", Counter="Fixed counter 99"),
            event(EventName=""),
            event(EventName=None),
            event(EventName="N8\u0007"),
            event(EventName="N" * 300),
            event(EventName="N9", EventCode=["0x1"]),
            event(EventName="N10", EventCode={"a": 1}),
            event(EventName="N11", UMask=1.5), 7, None, "text", [],
            event(EventName="GOOD.0", UMask="1"),
            event(EventName="GO_OD.0", UMask="0x7"),
            event(EventName="N12", MSRIndex="0x123456789a", MSRValue="1"),
            event(EventName="N13", Invert="2"),
            event(EventName="N14", BriefDescription="x" * 20000),
            event(EventName="N15", EventCode="9" * 400),
            event(EventName="N16", EventCode=None),
            event(EventName="N17", EventCode=" ", UMask="0x01")
        ]
        fine = [event(EventName="ZERO", EventCode="0x00", UMask="0x05"),
                event(EventName="FIXED", EventCode=None, UMask="0x02", Counter="Fixed counter 1")]
        fine += [
            event(EventName="LAST", BriefDescription=None, PublicDescription=None),
            event(EventName="INT", UMask=3)
        ]
        self.intel("HSW", good[:1] + bad + good[1:] + fine)
        tables, refused, _, status = self.convert()
        t = tables["hsw"]
        self.assertEqual([t.read_row(i)["name"] for i in range(t.count["rows"])],
                         ["GOOD.0", "GOOD.1", "GOOD.2", "ZERO", "FIXED", "LAST", "INT"])
        self.assertEqual(len(refused), len(bad), refused)
        self.assertEqual(status, 0)
        self.assertEqual(t.read_row(5)["desc"], "LAST")
        keys = {e: k for e, k, _ in refused}
        self.assertEqual((keys["N1"], keys["N2"], keys["N3"], keys["N4"], keys["N5"], keys["N9"],
                          keys["N13"], keys["N16"], keys["N17"]),
                         ("EventCode", "UMask", "Counter", "CounterMask", "MSRValue", "EventCode",
                          "Invert", "EventCode", "EventCode"))

    def test_import_does_not_wait_for_pipes(self):
        """Neither among what is read, nor for what was written before."""
        self.intel("HSW", [event()])
        for name in ("pipe.json", "pipe.pmu", "pipe.tar", "mapfile.csv", "HSW/events/pipe.json",
                     "HSW/pipe.pmu"):
            os.mkfifo(os.path.join(self.root, name))
        pipes = [os.path.join(self.root, "pipe" + end) for end in (".json", ".pmu", ".tar")]
        out = os.path.join(self.root, "out.pmdb")
        said = subprocess.run(
            [sys.executable, pmuc.__file__, "import", *pipes, "/dev/zero", self.root, "-o", out],
            capture_output=True, text=True, encoding="utf-8", timeout=60)
        self.assertEqual([said.stderr.count(": no file\n"), said.returncode], [4, 0], said)
        with open(out, "rb") as f:
            image = f.read()
        said = subprocess.run([
            sys.executable, pmuc.__file__, "import",
            os.path.join(self.root, "HSW"), "-o", "/dev/stderr"
        ], check=True, capture_output=True, timeout=60)
        self.assertEqual(said.stderr[:8], image[:8])
        said = subprocess.run([
            sys.executable, pmuc.__file__, "import",
            os.path.join(self.root, "HSW"), "-o", "/dev/stdout"
        ], check=True, capture_output=True, timeout=60)
        self.assertEqual(len(image_reader.read_image(said.stdout)[0]), 1)
        self.assertIn(b"1 models", said.stderr)

    def test_a_link_stays_one(self):
        self.intel("HSW", [event()])
        for target in ("there.pmdb", "not_yet.pmdb"):
            link = os.path.join(self.root, "link.pmdb")
            self.put("there.pmdb", "an old one")
            os.symlink(target, link)
            self.assertEqual(run(os.path.join(self.root, "HSW"), "-o", link)[0], 0)
            self.assertEqual(os.readlink(link), target)
            with open(link, "rb") as f:
                self.assertEqual(len(image_reader.read_image(f.read())[0]), 1)
            os.unlink(link)

    def test_a_refused_name_begins_no_line(self):
        self.intel("HSW", [
            event(),
            event(EventName="N1\n/etc/shadow: read"),
            event(EventName="N2\tx\r\u001b[2J")
        ])
        err = subprocess.run([
            sys.executable, pmuc.__file__, "import", self.root, "-o",
            os.path.join(self.root, "out") + "/"
        ], check=True, capture_output=True, text=True, encoding="utf-8").stderr
        self.assertEqual([
            line.rpartition(": EventName")[0].rpartition("json: ")[2] for line in err.splitlines()
        ], ["N1\\x0a/etc/shadow: read", "N2\\x09x\\x0d\\x1b[2J"])

    def test_files_that_are_no_lists(self):
        self.intel("SKX", [event()])
        for i, raw in enumerate(
            (b"", b"\xff\xfe{}", b"{", b"[" * 100000, b'{"Events": 5, "Header": 1}', b"nul",
             b'{"Header": {}, "Events": [%s]}' % (b"9" * 5000), b'[]', b'{"a": 1e999}')):
            self.put("SKX/events/b%d_uncore.json" % i, raw)
        tables, refused, _, status = self.convert()
        self.assertEqual(tables["skx"].count["rows"], 1)
        self.assertEqual(len(refused), 9, refused)
        self.assertEqual(status, 1)

    def test_twice_in_one_object(self):
        raw = json.dumps({"Header": {}, "Events": [event(EventName="A")]
                          }).replace('"UMask": "0x00"', '"UMask": "0x01", "UMask": "0x02"')
        self.put("SKX/events/x_core.json", raw)
        tables, _, notes, _ = self.convert()
        self.assertEqual(tables["skx"].read_value(0, "umask"), 2)
        self.assertEqual(notes, [("A", "UMask")])

    def test_unknown_model_without_mapfile(self):
        """An unknown folder: its events are found by its name, and no machine is detected as it."""
        self.intel("ZZZ", [event(Precise="1", Equal="0", UMaskExt="0x00", PEBS=None)])
        t = self.convert()[0]["zzz"]
        self.assertEqual(t.count["matches"], 0)
        self.assertEqual(t.read_value(0, "precise"), 1)
        self.assertIsNotNone(t.find_field("eq"))

    def test_our_own_table(self):
        path = os.path.join(HERE, "pmu", "testpmu.pmu")
        out = os.path.join(self.root, "t.pmdb")
        self.assertEqual(run(path, "-o", out)[0], 0)
        with open(out, "rb") as f:
            self.assertEqual(image_reader.read_image(f.read())[0][0].name, "testpmu")

    def test_default_place_and_modes(self):
        self.intel("SKX", [event()])
        old = os.environ.get("XDG_DATA_HOME")
        os.environ["XDG_DATA_HOME"] = os.path.join(self.root, "home")
        try:
            self.assertEqual(run(self.root)[0], 0)
        finally:
            os.environ.pop("XDG_DATA_HOME")
            if old is not None:
                os.environ["XDG_DATA_HOME"] = old
        made = os.path.join(self.root, "home", "perfmon", "skx.pmdb")
        self.assertEqual(os.stat(made).st_mode & 0o022, 0)

    def test_full_disk_keeps_the_old_image(self):
        self.intel("SKX", [event()])
        out = os.path.join(self.root, "out")
        run(self.root, "-o", out + "/")
        with open(os.path.join(out, "skx.pmdb"), "rb") as f:
            before = f.read()
        self.intel("SKX", [event(EventName="OTHER")])
        real = os.fsync

        def full(fd):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync = full
        try:
            status, said, err = run(self.root, "-o", out + "/")
        finally:
            os.fsync = real
        self.assertEqual(status, 1)
        self.assertIn("No space left", err)
        self.assertIn(
            "0 models (0 up to date), 0 core and 0 uncore events, 0 metrics, 0 refused, 0 B in",
            said)
        self.assertEqual(os.listdir(out), ["skx.pmdb"])
        with open(os.path.join(out, "skx.pmdb"), "rb") as f:
            self.assertTrue(f.read() == before)

    def test_interrupt_leaves_nothing_half_written(self):
        self.intel("SKX", [event()])
        out = os.path.join(self.root, "out")
        real = os.rename

        def interrupted(a, b):
            raise KeyboardInterrupt
        os.rename = interrupted
        try:
            status = run(self.root, "-o", out + "/")[0]
        finally:
            os.rename = real
        self.assertEqual((status, os.listdir(out)), (130, []))

    def test_whose_script_is_run(self):
        """The compiler beside a command that was not installed is used if it belongs to the user or
        to root, as the command does."""
        if os.geteuid() or not PFM:
            self.skipTest("root, who can be another user")
        user, other = 12345, 12346
        with tempfile.TemporaryDirectory() as folder:
            command, script = os.path.join(folder, "tools",
                                           "pfm"), os.path.join(folder, "compiler", "pmuc.py")
            for path in command, script, os.path.join(folder, "lib", "libperfmon.so.1"):
                os.makedirs(os.path.dirname(path))
            os.chmod(folder, 0o755)
            shutil.copy(PFM, command)
            with open(script, "w", encoding="ascii") as f:
                f.write("print('the script beside')")
            env = {k: v for k, v in os.environ.items() if not k.startswith("PERFMON_")}
            library = os.path.join(os.path.dirname(PFM), "..", "lib", "libperfmon.so.1")
            if os.path.exists(library): # the folder it is in may be root's alone
                shutil.copy(library, os.path.join(folder, "lib"))
            env["LD_LIBRARY_PATH"] = os.path.join(folder, "lib")
            for owner, mode, run_by, wanted in ((0, 0o644, user, True), (user, 0o600, user, True),
                                                (0, 0o644, 0, True), (other, 0o644, user, False),
                                                (0, 0o646, user, False), (user, 0o646, user, False),
                                                (user, 0o644, 0, False)):
                os.chown(script, owner, owner)
                os.chmod(script, mode)
                said = subprocess.run([command, "import", folder], env=env, user=run_by, cwd="/",
                                      capture_output=True, text=True, check=False)
                self.assertEqual("the script beside" in said.stdout, wanted,
                                 (owner, oct(mode), run_by, said))

    def test_wrong_options_are_refused(self):
        self.assertEqual(run()[0], 2)
        self.assertEqual(run("--nonsense")[0], 2)
        self.assertEqual(run("--cpu")[0], 2)
        self.assertEqual(run(os.path.join(self.root, "nothing"))[0], 1)
        self.intel("SKX", [event()])
        status, _, err = run(self.root, "--cpu", "zzz", "-o", self.root + "/o/")
        self.assertEqual((status, "no model matches" in err), (1, True))
        self.assertEqual(run("--help")[0], 0)

    def test_errata_of_a_list_are_errata_of_the_table(self):
        """An id that no statement of ours explains is an erratum of the events that name it."""
        self.intel("SKX", [event(EventName="A", Errata="SKX9001, SKX9002"),
                           event(EventName="B", UMask="0x02", Errata="SKX9001"),
                           event(EventName="C", UMask="0x03")])
        t = self.convert()[0]["skx"]
        found = {}
        for i in range(t.count["errata"]):
            record = t.read_record("errata", i)
            texts = [t.read_text(x) for x in record[:2] if isinstance(x, int)]
            found[texts[0]] = texts[1]
        self.assertEqual(
            {ids: text for ids, text in found.items() if ids.startswith("SKX900")},
            dict.fromkeys(("SKX9001", "SKX9002"),
                          "The vendor's list names this erratum of the event; its effect is not"
                          " known here."))

    def test_odd_texts_are_the_same_without_being_written(self):
        """Rows go to the compiler as they are; their text says the same."""
        self.intel("SKX", [
            event(BriefDescription='Says "A" # no remark.',
                  PublicDescription="A back\\slash and\ta tab, \\\" too."),
            event(EventName="WITH SPACE", UMask="0x02", BriefDescription="Short.",
                  Errata='E1, "E2" # \\'),
            event(EventName='A"QUOTE', UMask="0x03", BriefDescription="One.",
                  PublicDescription="Two.", Errata="E3 \\ E4"),
            event(EventName="NOTHING", UMask="0x04", BriefDescription="", PublicDescription="")
        ])
        own = self.convert()[0]["skx"]
        folder = os.path.join(self.root, "text")
        self.assertEqual(run("--text", folder, self.root)[0], 0)
        image = os.path.join(self.root, "text.pmdb")
        self.assertEqual(pmuc.main(["--image", image, os.path.join(folder, "skx.pmu")]), 0)
        with open(image, "rb") as f:
            again, = image_reader.read_image(f.read())[0]
        said = [[(*[t.read_row(i)[key]
                    for key in ("name", "desc", "counters", "flags")], t.read_texts(i, "detail"),
                  t.read_texts(i, "errata"), t.read_value(i, "code"), t.read_value(i, "umask"))
                 for i in range(t.count["rows"])] for t in (own, again)]
        self.assertEqual(*said)
        self.assertEqual((len(said[0]), said[0][0][1], *[row[5] for row in said[0][1:3]]),
                         (4, 'Says "A" # no remark.', ['E1, "E2" # \\'], ["E3 \\ E4"]))

    def test_nothing_of_a_model_stays(self):
        """Rows and what wrote them are gone when a model is done, without a search for circles."""
        self.intel("SKX", [event()])
        gc.disable()
        self.addCleanup(gc.enable)
        records = weakref.ref(image_writer.ImageWriter("little").rows)
        self.assertIsNone(records())
        self.convert()
        self.assertEqual([f for f in heads.LIBRARY.files if f != "head" and not os.path.isabs(f)],
                         [])

    def test_nothing_holds_itself(self):
        """An import runs without the cycle collector, so a reference cycle would keep its model in
        memory."""
        def usual():
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()
        gc.collect()
        gc.disable()
        gc.set_debug(gc.DEBUG_SAVEALL)
        self.addCleanup(usual)
        with tempfile.TemporaryDirectory() as out:
            status, _, err = run(TOYS, "-o", out + "/", "--jobs", "1")
            self.assertEqual((status, len(os.listdir(out)) > 2), (0, True), err)
        gc.collect()
        self.assertEqual(
            {type(x).__name__ for x in gc.garbage if type(x).__module__.startswith("pm")}, set())

    def test_alike_models_are_read_after_each_other(self):
        models = [Model("intel", name.lower(), name, [])
                  for name in ("EMR", "HSW", "SPR", "NEW", "HSX", "SNB")]
        self.assertEqual([models[i].folder for i in importing.order_models(models)],
                         ["SNB", "HSW", "HSX", "SPR", "EMR", "NEW"])

    def arm(self, **more):
        return dict(
            {
                "_type": "Events", "implementer": "A", "cpuid": "0x41fff", "cpu": "Invented F1",
                "pmu_architecture": "pmuv3", "counters": 6, "events": [{
                    "code": 17, "name": "CPU_CYCLES", "type": "CYCLE",
                    "description": "Made up, cycles."
                }, {
                    "code": 3, "name": "L1D_CACHE_REFILL", "component": "L1D",
                    "description": "Made up, refills.", "trm_name": "FILL"
                }, {"code": 5, "description": "Only described."
                    }, {"name": "TRACE_ONLY", "event_lsb": 3}, {"code": 70000, "name": "TOO_WIDE"}]
            }, **more)

    def test_arms_own_lists(self):
        self.put("arm/pmu/invented-f1.json", self.arm())
        self.put("arm/pmu/invented-f0.json",
                 self.arm(pmu_architecture="pmuv2", cpuid="0x41ffe", cpu="Invented F0"))
        self.put("arm/cpus.json", {"_type": "CPUs", "cpus": []})
        self.put("arm/schemas/pmu-schema.json", {"$schema": "http://example.org/"})
        tables, refused, notes, status = self.convert("arm")
        self.assertEqual((sorted(tables), status, self.problems),
                         (["invented_f0", "invented_f1"], 0, []))
        self.assertEqual({(e, k) for e, k, _ in refused}, {("TOO_WIDE", "code")})
        self.assertEqual(collections.Counter(notes), {("-", "name"): 2, ("TRACE_ONLY", "code"): 2})
        t = tables["invented_f1"]
        self.assertEqual([t.read_row(i)["counters"] for i in range(2)], [0x8000003F, 0x3F])
        self.assertEqual(t.find_row("FILL"), t.find_row("L1D_CACHE_REFILL"))
        self.assertEqual((t.device, t.read_row(0)["desc"]), ("armv8_pmuv3_0", "Made up, cycles."))
        self.assertEqual(tables["invented_f0"].device, "armv7_invented_f0")

    def test_a_byte_order_mark_before_arms_lists(self):
        self.put("arm/pmu/invented-f1.json", b"\xef\xbb\xbf" + json.dumps(self.arm()).encode())
        self.assertEqual(sorted(self.convert("arm")[0]), ["invented_f1"])

    def test_further_names_are_one_each(self):
        """With a comma in it as well, in the image and in the text of the list."""
        self.put("arm/pmu/invented-f1.json", self.arm(events=[
            {"code": 3, "name": "FIRST", "description": "Made up.", "trm_name": "THIS,THAT"},
            {"code": 4, "name": "SECOND", "description": "Made up.", "trm_name": "OTHER"},
            {"code": 5, "name": "THIRD", "description": "Made up.", "trm_name": 'A "B",\\C'}]))
        tables, refused, _, status = self.convert("arm")
        self.assertEqual((refused, status), ([], 0))
        text, image = os.path.join(self.root, "text"), os.path.join(self.root, "text.pmdb")
        self.assertEqual(run("--text", text, os.path.join(self.root, "arm"))[0], 0)
        self.assertEqual(pmuc.main(["--image", image, os.path.join(text, "invented_f1.pmu")]), 0)
        with open(image, "rb") as f:
            again, = image_reader.read_image(f.read())[0]
        for t in (tables["invented_f1"], again):
            for name, row in (("THIS,THAT", "FIRST"), ("OTHER", "SECOND"), ('A "B",\\C', "THIRD")):
                self.assertIsNotNone(t.find_row(name), name)
                self.assertEqual(t.find_row(name), t.find_row(row), name)
            for name in ("THIS", "THAT", 'A "B"', "\\C"):
                self.assertIsNone(t.find_row(name), name)

    def test_every_listed_name_encodes(self):
        """Names have no character that ends a name in a text. All other characters are accepted, in
        full names and in perf's syntax."""
        names = [
            "A,B", "A,", "A,thr=1", "A:B", "A::B", "A/B", "A/", "/A", "A B", "A;B", "A{B}", "A\\B",
            'A"B"', "'A'", "A=1", "A:u", "-A", "@A", ".A", "#A", "A#1", "A|1", "(A)", "A*", "~A",
            "1", "0x1", "r12", "u", "config", "event=1", "cpu/A/", "software::A", "\u00e9", "A:c=2",
            "A.m=1", "A:m0=1"
        ]
        unusable = {name for name in names if "," in name} | {"A:c=2", "A.m=1"}
        self.put(
            "arm/pmu/invented-f1.json",
            self.arm(events=[{"code": 256 + i, "name": name, "description": "Made up."}
                             for i, name in enumerate(names)]))
        _, refused, _, status = self.convert("arm")
        self.assertEqual({(name, key) for name, key, _ in refused},
                         {(name, "EventName") for name in unusable})
        if not PFM:
            return
        image = os.path.join(self.root, "it.pmdb")
        self.assertEqual(run(os.path.join(self.root, "arm"), "-o", image, check=False)[0], status)
        env = dict(os.environ, PERFMON_EVENTS=image)
        said = subprocess.run([PFM, "list", "--all", "--json", "--pmu", "invented_f1"], env=env,
                              capture_output=True, text=True).stdout
        shown = [o["event"] for o in map(json.loads, said.splitlines()) if "event" in o]
        self.assertEqual(set(shown), set(names) - unusable)
        for form in "invented_f1::%s", "invented_f1/%s/":
            # in perf's syntax a term with a value is not a name
            texts = [name for name in shown if form[-1] != "/" or "=" not in name]
            said = subprocess.run([PFM, "encode", "--json", "-"], env=env,
                                  input="".join(form % name + "\n" for name in texts),
                                  capture_output=True, text=True).stdout
            self.assertEqual([json.loads(line).get("event") for line in said.splitlines()], texts)

    def test_halves_of_characters(self):
        """JSON can have one half of a pair alone; no file can."""
        for escaped, whole, noted in (("\\uD83D\\ude00", "\U0001f600",
                                       False), ("\\ud83d", "\ufffd", True), ("\\uDE00\\ud83d",
                                                                             "\ufffd\ufffd", True),
                                      ("\\\\ud83d", "\\ud83d", False), ("\\ud83d\\ud83d\\ude00",
                                                                        "\ufffd\U0001f600", True)):
            raw = json.dumps(self.arm()).replace("refills", escaped)
            self.put("arm/pmu/invented-f1.json", raw)
            tables, refused, notes, status = self.convert("arm")
            t = tables["invented_f1"]
            self.assertEqual((status, len(refused), t.read_row(t.find_row("FILL"))["desc"]),
                             (0, 1, "Made up, %s." % whole), escaped)
            self.assertEqual(("-", "-") in notes, noted, escaped)

    def test_lists_as_text(self):
        """The text of a list compiles to the tables of the list; without sentences, if only facts
        are wanted."""
        self.intel("SKX", [
            event(BriefDescription="Made up."),
            event(EventName="OTHER", UMask="0x02", BriefDescription="Made up as well.")
        ])
        tables, _, _, _ = self.convert()
        folder = os.path.join(self.root, "text")
        self.assertEqual(run("--text", folder, self.root)[0], 0)
        image = os.path.join(self.root, "text.pmdb")
        self.assertEqual(pmuc.main(["--image", image, os.path.join(folder, "skx.pmu")]), 0)
        with open(image, "rb") as f:
            again, = image_reader.read_image(f.read())[0]
        rows = [[
            t.read_row(i)
            for i in range(t.count["row_numbers"] if "row_numbers" in t.count else t.count["rows"])
        ] for t in (tables["skx"], again)]
        self.assertEqual([[(r["name"], r["desc"], r["counters"]) for r in own] for own in rows][0],
                         [[(r["name"], r["desc"], r["counters"]) for r in own] for own in rows][1])
        self.assertEqual(run("--text", folder, "--facts", self.root)[0], 0)
        with open(os.path.join(folder, "skx.pmu"), encoding="utf-8") as f:
            self.assertNotIn("Made up", f.read())

    def test_bad_scale_drops_its_row(self):
        for scale, fits in ("64Bytes",
                            True), ("1e-3 us",
                                    True), (".5", True), ("1.2.3Bytes",
                                                          False), ("Bytes", False), ("1..2", False):
            self.intel("SKX", [event(), event(EventName="SCALED", UMask="0x2", ScaleUnit=scale)])
            status, out, err = run(self.root, "-o", os.path.join(self.root, "s.pmdb"), "--force",
                                   check=False)
            self.assertEqual(status, 0, err)
            self.assertEqual("is not a number and a unit" in err, not fits, scale)
            self.assertIn("%d core" % (1 + fits), out, scale)

    def test_a_folder_of_texts_is_imported_as_its_lists_are(self):
        """The files of a processor's boxes and metrics belong to it."""
        lists = os.path.join(os.environ["PERFMON_TESTS"], "lists", "intel-like")
        folder = os.path.join(self.root, "texts")
        self.assertEqual(run("--text", folder, lists)[0], 0)
        self.assertTrue([n for n in os.listdir(folder) if n.endswith("_metrics.pmu")])
        made = []
        for source in lists, folder:
            image = os.path.join(self.root, "made.pmdb")
            status, _, err = run(source, "--force", "-o", image, check=False)
            self.assertEqual(status, 0, err)
            with open(image, "rb") as f:
                made.append(
                    sorted((t.name, t.count["rows"], t.source)
                           for t in image_reader.read_image(f.read())[0]))
        self.assertEqual(*made)

    def test_a_damaged_list_leaves_the_former_image(self):
        self.intel("SKX", [event()])
        out = os.path.join(self.root, "out")
        self.assertEqual(run(self.root, "-o", out + "/")[0], 0)
        with open(os.path.join(out, "skx.pmdb"), "rb") as f:
            before = f.read()
        self.put("SKX/events/x_uncore.json", b'{"Header": {}, "Events": [{"EventNa')
        self.put("SKX/metrics/x_metrics_perf.json",
                 [{"MetricName": "of_a_box", "MetricExpr": "UNC_CHA_CLOCKTICKS"}])
        status, _, err = run(self.root, "-o", out + "/", check=False)
        # the cause; what follows from it is counted
        self.assertEqual((status, len(err.splitlines())), (1, 1), err)
        self.assertIn("x_uncore.json", err)
        self.assertIn("of_a_box", run(self.root, "-v", "-o", out + "/", check=False)[2])
        with open(os.path.join(out, "skx.pmdb"), "rb") as f:
            self.assertEqual(f.read(), before)

    def test_import_reports_what_it_wrote(self):
        """How much, and whether what was there before stays where a list is damaged: with one image
        for all, and with texts, too."""
        self.intel("SKX", [event()])
        image, texts, folder = (os.path.join(self.root, n) for n in ("one.pmdb", "texts", "images"))
        to = {image: ("-o", image), texts: ("--text", texts), folder: ("-o", folder + "/")}
        for damaged, end in (False, ""), (True, "; a list is damaged: written without it"):
            for where, options in to.items():
                status, out, _ = run(self.root, "--force", *options, check=False)
                if where == folder and damaged:
                    end = "; a list is damaged: the former image stays"
                size = 0 if where == folder and damaged else self.size_of(options[1])
                own = ", " + format_size(size) if where == folder and not damaged else ""
                self.assertEqual(status, damaged)
                self.assertEqual(
                    " ".join(out.splitlines()[0].split()),
                    "skx 1 core, 0 uncore events, 0 metrics in 1 tables%s%s%s" %
                    (own, ", 1 refused" if damaged else "", end))
                self.assertIn(", %s in " % format_size(size), out.splitlines()[-1])
                records = [
                    json.loads(line) for line in run(self.root, "--json", "--force", *options,
                                                     check=False)[1].splitlines()
                ]
                self.assertEqual([t["model"]["state"] for t in records if "model" in t],
                                 ["damaged" if damaged else "done"])
                self.assertEqual(records[-1]["summary"]["bytes"], size)
            self.put("SKX/events/x_uncore.json", b'{"Header": {}, "Events": [{"EventNa')

    @staticmethod
    def size_of(path):
        """Of a file, or of all that are in a folder."""
        return sum(os.path.getsize(os.path.join(path, n))
                   for n in os.listdir(path)) if os.path.isdir(path) else os.path.getsize(path)

    def test_lists_among_test_data_are_ignored(self):
        self.intel("SKX", [event()])
        for folder in ("scripts/testdata/TST", "tests/AAA"):
            self.put(folder + "/events/x_core.json", {"Header": {}, "Events": [event()]})
        self.assertEqual(sorted(self.convert()[0]), ["skx"])

    def test_packed_repository_and_stray_files(self):
        self.intel("perfmon-main/SKX", [event()])
        self.put(
            "perfmon-main/mapfile.csv",
            "Family-model,Version,Filename,EventType,Core Type,Native Model ID,Core Role Name\n"
            "GenuineIntel-6-55-[01234],V1,/SKX/events/x_core.json,core,,,\n")
        self.put("perfmon-main/scripts/config.json", {"a": 1})
        self.put("perfmon-main/.github/x.json", [{"EventName": "hidden"}])
        tables, refused, _, status = self.convert("perfmon-main")
        self.assertEqual((sorted(tables), refused, status), (["skx"], [], 0))
        self.assertEqual(tables["skx"].read_records("matches")[0][5], 0x1F)
        self.assertEqual(self.problems, [])         # scripts and what is hidden are not read
        packed = os.path.join(self.root, "perfmon.tar.gz")
        with tarfile.open(packed, "w:gz") as tar:
            tar.add(os.path.join(self.root, "perfmon-main"), "perfmon-main")
        self.assertEqual(run(packed, "-o", self.root + "/packed/")[0], 0)
        self.assertTrue(images(self.root + "/packed")["skx"][0].raw == tables["skx"].raw)

    def test_hostile_patterns_do_no_harm(self):
        arch = "arch/x86/"
        self.put(
            arch + "mapfile.csv",
            "header\nGenuineIntel-6-(A+)+$,v1,evil,core\nGenuineIntel-6-[,v1,evil,core\n"
            "GenuineIntel-6-8F,v1,evil,core\n,,,\n,\n" + "GenuineIntel-6-" + "(" * 5000 +
            ",v1,evil,core\n")
        self.put(arch + "evil/x.json", [{"EventName": "A", "EventCode": "0x1", "Counter": "0"}])
        tables, refused, _, _ = self.convert()
        self.assertEqual([m[2:5] for m in tables["evil"].read_records("matches")],
                         [(6, 0x8F, 0x8F)])
        self.assertEqual({r[1] for r in refused}, {"CPUID"})

    def test_damaged_archives_are_refused(self):
        for name, raw in (("a.tar.xz", b"\xfd7zXZ\0garbage"), ("b.tar.xz", b""), ("c.tar",
                                                                                  b"x" * 2048)):
            path = self.put(name, raw)
            status, _, err = run(path, "-o", self.root + "/o/")
            self.assertEqual(status, 1, name)
            self.assertIn(name, err)


def find_children(pid):
    """The workers. A script that finds Python, such as pyenv's, has children of its own before."""
    def is_python(child):
        try:
            with open("/proc/%s/comm" % child, encoding="utf-8") as f:
                return f.read().startswith("python")
        except OSError:
            return False    # it has ended

    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
        return [child for child in f.read().split() if is_python(child)]


def is_empty(group):
    """No process of the group is left; those that end have a while to do so."""
    def has_ended():
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        return False

    return wait_until(has_ended)


class Command(unittest.TestCase):
    """The command as it is run."""

    def begin(self, root, *args, out=os.devnull, **env):
        """An import that takes a while, with workers, in a process group of its own. @out: a file,
        or a "pipe" without a reader."""
        argv = [PFM] if PFM else [sys.executable, os.path.join(EVENTS, "pmuc.py")]
        reader, writer = os.pipe() if out == "pipe" else (None, os.open(out, os.O_WRONLY))
        if reader is not None:
            os.close(reader)
        try:
            return subprocess.Popen(
                [*argv, "import", *args, root, "-o",
                 os.path.join(root, "out/")],
                start_new_session=True,
                stdout=writer,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL
                                                 ),  # ignored where tests run unseen
                env=dict(os.environ, PERFMON_PMUC=os.path.join(EVENTS, "pmuc.py"), **env))
        finally:
            os.close(writer)

    def big_lists(self, root):
        for folder in ("SKX", "CLX", "ICX", "SPR"):
            path = os.path.join(root, folder, "events")
            os.makedirs(path)
            with open(os.path.join(path, "x_core.json"), "w", encoding="utf-8") as f:
                json.dump(
                    {
                        "Header": {"Info": "made up"},
                        "Events": [event(EventName="MADE.UP_%d" % i) for i in range(1500)]
                    }, f)

    def test_output_that_takes_nothing(self):
        """A full disk and a reader that is gone, with and without Python's buffer between: it is
        reported at most once."""
        with tempfile.TemporaryDirectory() as root:
            self.big_lists(root)
            for out, said in (("/dev/full",
                               "pfm: cannot write the output: No space left on device\n"), ("pipe",
                                                                                            "")):
                for args, unbuffered in ((["--json"], "1"), (["--json"], ""), ([], "1"), ([], "")):
                    p = self.begin(root, *args, out=out, PYTHONUNBUFFERED=unbuffered)
                    self.assertEqual((p.communicate(timeout=60)[1], p.returncode), (said, 1),
                                     (out, args, unbuffered))

    def test_interrupted_at_any_moment(self):
        """As a terminal does it: the whole group hears of it. Before Python is up only "pfm" holds
        it back."""
        with tempfile.TemporaryDirectory() as root:
            self.big_lists(root)
            ends = []
            for delay in (0.01, 0.05, 0.1, 0.2, 0.35, 0.6) if PFM else (0.4, 0.6):
                p = self.begin(root)
                time.sleep(delay)    # any moment will do: the rule holds at each
                os.killpg(p.pid, signal.SIGINT)
                said = p.communicate(timeout=60)[1]
                ends.append(p.returncode)
                # 0: it was faster; killed: before main(), on a busy machine.
                self.assertIn(p.returncode, (0, 130, -signal.SIGINT), said)
                self.assertNotIn("Traceback", said)
                self.assertLessEqual(len(said.splitlines()), p.returncode != -signal.SIGINT, said)
                self.assertTrue(is_empty(p.pid))
            self.assertIn(130, ends)

    def test_an_interruption_is_not_lost(self):
        """Where Python cannot raise it, in what it calls by the way, it comes once more."""
        code = ("import gc, os, signal, sys, weakref; sys.path.insert(0, %r); import pmuc; "
                "sys.unraisablehook = pmuc.repeat_interrupt\n"
                "class Thing: pass\n"
                "def by_the_way(ref): os.kill(os.getpid(), signal.SIGINT)\n"
                "thing = Thing(); ref = weakref.ref(thing, by_the_way)\n"
                "try:\n"
                "    del thing; gc.collect(); signal.pause()\n"
                "except KeyboardInterrupt:\n"
                "    print('heard')\n" % EVENTS)
        p = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                           check=False)
        self.assertEqual((p.stdout, p.stderr, p.returncode), ("heard\n", "", 0))

    def test_no_worker_outlives_its_parent(self):
        with tempfile.TemporaryDirectory() as root:
            self.big_lists(root)
            p = self.begin(root)
            wait_until(lambda: find_children(p.pid) or p.poll() is not None)
            os.kill(p.pid, signal.SIGKILL)
            p.communicate(timeout=60)
            self.assertTrue(is_empty(p.pid))

    def test_import_reports_a_killed_worker(self):
        with tempfile.TemporaryDirectory() as root:
            self.big_lists(root)
            p, worker = self.begin(root), []
            while p.poll() is None and not worker:
                worker = find_children(p.pid)
            if not worker:
                self.skipTest("no worker was seen: one CPU alone")
            os.kill(int(worker[0]), signal.SIGKILL)
            said = p.communicate(timeout=60)[1]
            self.assertIn("a process that reads lists has ended early", said)
            self.assertEqual((p.returncode, len(said.splitlines())), (1, 1), said)
            self.assertTrue(is_empty(p.pid))

    def test_an_interruption_at_the_creation_of_a_file_leaves_none(self):
        """Ctrl-C arrives before the import has the name of the file that it has made, and once
        more while it removes the file."""
        make, remove = atomic_files.tempfile.mkstemp, os.unlink

        def interrupt(act):
            def interrupted(*args, **named):
                done = act(*args, **named)
                os.kill(os.getpid(), signal.SIGINT)
                return done
            return interrupted
        with tempfile.TemporaryDirectory() as root:
            with mock.patch.object(atomic_files.tempfile, "mkstemp", interrupt(make)), \
                    mock.patch.object(atomic_files.os, "unlink", interrupt(remove)), \
                    self.assertRaises(KeyboardInterrupt):
                atomic_files.write_atomically(os.path.join(root, "x"), b"whole")
            self.assertEqual(os.listdir(root), [])

    def test_a_file_of_a_killed_import_is_removed_by_the_next(self):
        """A file that another import is still writing stays."""
        code = ("import os, signal, sys; sys.path.insert(0, %r)\n"
                "from image import atomic_files\n"
                "os.fsync = lambda fd: (print(flush=True), signal.pause())\n"
                "atomic_files.write_atomically(sys.argv[1], b'x')\n" % EVENTS)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.pmdb")
            writers = [subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE)
                       for _ in range(2)]
            for w in writers:
                w.stdout.readline()
            self.assertEqual(len(os.listdir(folder)), 2)
            self.stop(writers[0])
            atomic_files.write_atomically(path, b"whole")
            self.assertEqual(len(os.listdir(folder)), 2)
            self.stop(writers[1])
            atomic_files.write_atomically(path, b"whole")
            self.assertEqual(os.listdir(folder), ["a.pmdb"])

    def stop(self, p):
        p.kill()
        p.communicate()

    def test_as_a_program(self):
        with tempfile.TemporaryDirectory() as tmp:
            p = subprocess.run([
                sys.executable,
                os.path.join(EVENTS, "pmuc.py"), "import",
                os.path.join(TOYS, "intel-like"), "-o", tmp + "/"
            ], capture_output=True, text=True, check=False)
            self.assertEqual(p.returncode, 0, p.stderr)
            self.assertIn("models", p.stdout.splitlines()[-1])
            self.assertNotIn("\r", p.stderr)
            self.assertEqual(
                len(struct.pack("<" + layout.IMAGE_FORMAT, *[0] * 6, b"", *[0] * 32)),
                layout.IMAGE_SIZE)


if __name__ == "__main__":
    main()
