#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The compiler of event tables: what it accepts, what it refuses and where, and that what it writes
can be read back.

Files in pmu/ called wrong_*.pmu carry their errors as comments: a caret below the column, and the
text.
"""

import contextlib
import copy
import glob
import hashlib
import io
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIB = os.path.join(HERE, "..", "lib")
EVENTS = os.path.join(LIB, "events")
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(os.path.dirname(LIB), "compiler")]
from image import image_writer  # noqa: E402
from image import layout  # noqa: E402
from language import tables as pt  # noqa: E402
from image import image_reader  # noqa: E402
import pmuc  # noqa: E402
from language.statements import RowLine  # noqa: E402
from tap import main  # noqa: E402

PMU = os.path.join(HERE, "pmu")
TESTPMU = [os.path.join(PMU, "testpmu.pmu"), os.path.join(PMU, "testpmu2.pmu")]
BUILTIN = sorted(glob.glob(os.path.join(EVENTS, "*.pmu")))
CC = next((c for c in (os.environ.get("CC", "").split() or [""])[:1] + ["cc", "gcc", "clang"]
           if c and shutil.which(c)), None)


def run(*args):
    """pmuc.py in this process: (status, standard output, standard error)."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = pmuc.main(list(args))
    return status, out.getvalue(), err.getvalue()


def compiled(*paths):
    tables, _, errors = pmuc.compile_all(paths)
    assert not errors, errors
    return tables


def view(table, byteorder="little"):
    return image_reader.read_image(image_writer.make_image([table], byteorder))[0][0]


class Language(unittest.TestCase):
    """The table compiled from testpmu.pmu has the contents of that source."""

    @classmethod
    def setUpClass(cls):
        cls.tables = compiled(*TESTPMU)
        cls.t, cls.t2 = (view(t) for t in cls.tables)

    def row(self, name, t=None):
        t = t or self.t
        found = t.find_row(name)
        self.assertIsNotNone(found, name)
        return t.read_row(found)

    def test_a_head_has_its_members(self):
        t = self.t
        self.assertEqual((t.name, t.aliases, t.device, t.perf_type, t.libpfm_type),
                         ("testpmu", ["tp", "test_pmu"], "testcpu", 4, 4095))
        self.assertEqual((pt.ENCODERS[t.encoder], t.flags),
                         ("format", pt.TABLE_TEST_ONLY | pt.TABLE_HAS_FOLDED_TWINS))
        self.assertEqual((t.n_general, t.get_all_counters), (4, 0x30000000F))
        self.assertEqual(t.read_records("counters"), [(0, 2, 40, 0, 0x186, 0xC1, 1),
                                                      (3, 3, 14, 0, 0x400, 0x500, 2),
                                                      (0, 1, 48, 1, 0x38D, 0x309, 1)])
        features = {t.read_text(n): (t.read_text(s), v) for n, s, v in t.read_records("features")}
        self.assertEqual(
            features, {
                "issue_width": ("", 4), "cap": ("PMC_CAP_EDGE PMC_CAP_INVERT", 0),
                "stepping_name": ("b2", 0), "big": ("", 0xFEDCBA9876543210)
            })

    def test_matches_have_masks_and_ranges(self):
        t = self.t
        m = t.read_records("matches")
        self.assertEqual([(t.read_text(x[0]), x[2], x[3], x[4], x[5]) for x in m[:2]],
                         [("test", 7, 1, 3, 0x27), ("test", 7, 9, 9, 0x27)])
        self.assertEqual(m[2][6:8], (0x4100D010, 0xFF00FFF0))
        self.assertEqual((t.read_text(m[3][1]), m[3][9:15]),
                         ("Example Works", (0x40, 1, 2, 5, 3, 0)))

    def test_fields_have_their_bits(self):
        t = self.t
        self.assertEqual(t.read_field_ranges(t.find_field("code")), [(0, 0, 8), (0, 32, 4)])
        self.assertEqual(t.read_field_ranges(t.find_field("tag")), [(2, 60, 4)])
        code, c, cmask, max_ = (t.read_record("fields", t.find_field(n))
                                for n in ("code", "c", "cmask", "max"))
        self.assertEqual((code[3], code[5], c[5], cmask[5], c[11], cmask[11]),
                         (12, 0, 1, 1, 15, 255))
        self.assertEqual((max_[10:13], max_[3]), ((1, 7, 1), 3))
        set_ = t.read_record("fields", t.find_field("set"))
        words = {
            t.read_text(t.read_record("named_values", set_[7] + i)[1]):
            t.read_record("named_values", set_[7] + i)[0] for i in range(set_[6])
        }
        self.assertEqual(words,
                         {"L1D:0": 0, "L1D:1": 1, "L1D:2": 2, "L2D:0": 3, "L2D:1": 4, "last": 9})

    def test_groups_have_their_values(self):
        t = self.t
        found = {}
        for name, flags, field, first, n, distinct, preset, mask in t.read_records("groups"):
            words = [t.read_record("named_values", first + i) for i in range(n)]
            self.assertEqual(len({w[0] for w in words[:distinct]}), distinct)
            found[t.read_text(name)] = (flags, t.read_text(t.read_record("fields", field)[0]),
                                        preset, mask, [t.read_text(w[1]) for w in words], distinct)
        self.assertEqual(found["core"],
                         (2, "umask", 0x40, 0xC0, ["this", "all", "SELF", "BOTH_CORES"], 2))
        self.assertEqual(found["state"], (3, "umask", 0xC, 0xF, ["m", "e", "s", "i"], 4))
        self.assertEqual(found["must"][:3], (4, "umask", 0))
        self.assertEqual(found["free"][:4], (1, "filter", 0, 7))
        self.assertEqual(found["spelled"][:4],
                         (pt.GROUP_HAS_DEFAULT | pt.GROUP_EXPLICIT_IN_LIBPFM, "umask", 1, 3))

    def test_rows_have_counters_and_values(self):
        t = self.t
        cycles = self.row("CYCLES")
        self.assertEqual((cycles["counters"], cycles["flags"] & ~pt.ROW_WITHOUT_RULE),
                         (0x10000000F, pt.ROW_ARCH))
        self.assertEqual([t.read_value(0, key) for key in ("code", "umask", "max", "weight")],
                         [0x3C, 0, 1, 0])
        self.assertEqual(t.read_value_text(0, "detail"), "Clock cycles, halted ones left out.")
        choosy = t.find_row("CHOOSY")
        self.assertEqual(self.row("CHOOSY")["counters"], 0b101)
        self.assertEqual([t.read_value(choosy, "sel", n) for n in (0, 1, 2)], [1, 0, 12])
        self.assertEqual(t.read_value_text(choosy, "header", 2), "TP_C2")
        anywhere = t.find_row("CHOOSY_ANYWHERE")
        self.assertEqual([t.read_value(anywhere, "sel", n) for n in (0, 1, 2)], [5, 6, 5])
        last = t.find_row("LAST_ONE")
        self.assertEqual(self.row("LAST_ONE")["counters"], 8)
        self.assertEqual([
            t.read_value(last, k)
            for k in ("set", "weight", "wide", "on_htoff", "filter", "tag", "cmask")
        ], [9, 2, pt.ALL64, 0x200000003, 0xFFFF, 15, 255])
        other = t.find_row("BUS.OTHER")
        self.assertEqual((t.read_value(other, "accepts"), t.read_value(other, "code")), (5, 0xF61))
        self.assertEqual(t.read_value_text(t.find_row("BUS.TRAFFIC"), "note"),
                         'Counts "half" beats.')
        self.assertEqual(len(self.row("L2_LINES_IN")["groups"]), 2)
        self.assertEqual(self.row("GONE")["flags"] & ~pt.ROW_WITHOUT_RULE,
                         pt.ROW_DEPRECATED | pt.ROW_HIDDEN)

    def test_rows_that_no_rule_meets_carry_a_flag(self):
        """A rule of single events meets rows by their own values, or by a unit mask that a text
        chooses; what modifiers add is in the table's mask of keys."""
        text = """pmu t "T"
encoder format
match arch=x86 vendor="V" family=1
source "s"
counter 0..1 width=40
field code at=config:0-7
field umask at=config:8-15
field cmask at=config:24-31
modifier cmask
group unit one x=1 y=2
rule three code=3 on=0 "t" "s"
rule masked code=4 umask=2 on=0 "t" "s"
rule often cmask=1..255 on=0 "t" "s"
rule pairs code=5 limit=1 "t" "s"
event A code=3 "A."
event B code=4 umask=1 "B."
event C code=4 umasks=unit "C."
event D code=5 "D."
"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.pmu")
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            t = view(compiled(path)[0])
        flagged = [r["name"] for r in map(t.read_row, range(t.count["rows"]))
                   if r["flags"] & pt.ROW_WITHOUT_RULE]
        self.assertEqual(flagged, ["B", "D"])

    def test_rows_are_found_by_each_spelling(self):
        t = self.t
        for spelling in ("CYCLES", "cycles", "Cy cl-es", "C_Y_C_L_E_S", "CLK", "cpuclk",
                         "whole:thing", "WHOLE.THING"):
            self.assertEqual(t.find_row(spelling), 0, spelling)
        self.assertEqual(t.find_row("bus.traffic"), t.find_row("BUS:TRAFFIC"))
        for missing in ("", "CYCLE", "CYCLESS", "BUSTRAFFIC", "NOT_HERE", "."):
            self.assertIsNone(t.find_row(missing), missing)
        kind = t.find_folded(pt.fold("not here"))
        self.assertEqual((kind[2], t.read_text(kind[1])),
                         (pt.NAME_UNSUPPORTED, "the invented processor has no such event"))
        shadowed = [i for i in range(t.count["rows"]) if t.read_row(i)["flags"] & pt.ROW_SHADOWED]
        self.assertEqual(len(shadowed), 1)
        self.assertNotEqual(t.find_row("L2_LINES_IN"), shadowed[0])

    def test_use_and_drop(self):
        t = self.t2
        self.assertEqual((t.aliases, t.count["matches"], t.device), ([], 0, "testcpu"))
        self.assertEqual(t.read_value(t.find_row("CYCLES"), "code"), 0x3D)
        self.assertIsNone(t.find_row("CLK"))
        self.assertIsNone(t.find_row("GONE"))
        self.assertIsNone(t.find_folded(pt.fold("NOT_HERE")))
        self.assertEqual(t.read_value(t.find_row("NEW_ONE"), "weight"), 3)
        self.assertEqual(t.read_value(t.find_row("NEW_ONE"), "max"), 2)
        self.assertEqual(t.find_row("WHOLE.THING"), t.find_row("CYCLES"))
        self.assertIn((3, 3, 20, 0, 0x400, 0x500, 1), t.read_records("counters"))
        self.assertIn(("", 6), [(t.read_text(f[1]), f[2]) for f in t.read_records("features")])


class Refusals(unittest.TestCase):
    """Every error at its line and column, all of a file in one run."""

    def check_file(self, path):
        want = set()
        with open(path, encoding="utf-8") as f:
            lines = f.read().split("\n")
        at = 0
        for number, line in enumerate(lines, 1):
            m = re.match(r"#( *)\^ (.*)", line)
            if m:
                want.add("%s:%d:%d: error: %s" % (path, at, len(m[1]) + 2, m[2]))
            else:
                at = number
        status, _, err = run("--check", path)
        self.assertEqual(set(err.splitlines()), want)
        self.assertEqual(status, 1)

    def test_wrong_files_are_refused_at_their_place(self):
        files = sorted(glob.glob(os.path.join(PMU, "wrong_*.pmu")))
        self.assertGreaterEqual(len(files), 6)
        for path in files:
            with self.subTest(os.path.basename(path)):
                self.check_file(path)

    def test_more_elements_than_an_image_counts(self):
        """Each statement at the first element too many; the last one that fits is accepted."""
        head = 'pmu many "x"\nencoder format\ncounter 0 width=8\nfield code bits=8\nsource "s"\n'
        statements = {
            "features": ("feature %s\n", "f%d=1", 9),
            "values": ("group g any field=code %s\n", "v%d=0", 24),
        }
        with tempfile.TemporaryDirectory() as tmp:
            path = os.path.join(tmp, "many.pmu")
            for what, (line, element, column) in statements.items():
                for n, status in ((pt.MAX_ELEMENTS, 0), (pt.MAX_ELEMENTS + 1, 1)):
                    elements = [element % i for i in range(n)]
                    with open(path, "w", encoding="utf-8") as f:
                        f.write(head + line % " ".join(elements) + 'event A code=1 "a"\n')
                    got, _, err = run("--image", os.path.join(tmp, "x.pmdb"), path)
                    self.assertEqual(got, status, err)
                    if status:
                        at = column + len(" ".join(elements[:-1])) + 1
                        self.assertEqual(err, "%s:6:%d: error: more than %d %s\n"
                                         % (path, at, pt.MAX_ELEMENTS, what))

    def test_nothing_is_written_on_error(self):
        with tempfile.TemporaryDirectory() as tmp:
            out = os.path.join(tmp, "out.c")
            self.assertEqual(run("--image", out, os.path.join(PMU, "wrong_rows.pmu"))[0], 1)
            self.assertEqual(os.listdir(tmp), [])

    def test_names_of_two_processors(self):
        with tempfile.TemporaryDirectory() as tmp:
            paths = []
            for name in ("one", "two"):
                paths.append(os.path.join(tmp, name + ".pmu"))
                with open(paths[-1], "w", encoding="utf-8") as f:
                    f.write(
                        'pmu %s "x"\nalias shared\nencoder format\ncounter 0 width=8\nfield code'
                        ' bits=8\nevent A code=1 "a"\n' % name
                    )
            status, _, err = run("--check", *paths)
            self.assertEqual(status, 1)
            self.assertIn("the name 'shared' belongs to %s already" % paths[0], err)

    def test_unreadable_files_are_refused(self):
        with tempfile.TemporaryDirectory() as tmp:
            bad = os.path.join(tmp, "bad.pmu")
            for raw, text in ((b"", "an empty file"), (b"# only this\n", "an empty file"),
                              (b"pmu \xff", "not UTF-8")):
                with open(bad, "wb") as f:
                    f.write(raw)
                status, _, err = run("--check", bad)
                self.assertEqual((status, err.startswith(bad + ":1:1: error: " + text)), (1, True),
                                 err)
            self.assertEqual(run("--check", os.path.join(tmp, "none.pmu"))[0], 1)

    def test_wrong_options_are_refused(self):
        for args in ((), ("--image", ), ("--nonsense", ), ("--check", ),
                     ("--image", "x", "--byteorder", "middle", "y.pmu"), ("x.pmu", )):
            self.assertEqual(run(*args)[0], 2, args)
        self.assertEqual(run("--help")[0], 0)


class RoundTrip(unittest.TestCase):
    """The tables of the library and the invented ones, written and read back."""

    @classmethod
    def setUpClass(cls):
        cls.tables = compiled(*BUILTIN) + compiled(*TESTPMU)

    def test_every_name_finds_its_row(self):
        for t in self.tables:
            v = view(t)
            for i, row in enumerate(t.rows):
                if not row.flags & pt.ROW_SHADOWED:
                    for name in (row.name,) + tuple(row.aliases):
                        self.assertEqual(v.find_row(name), i, "%s %s" % (t.name, name))
                        self.assertEqual(v.find_row(name.upper().replace(".", ":")), i)
            for name, row in t.synonyms:
                self.assertEqual(v.find_row(name), row)
            for name, why in t.unsupported:
                self.assertEqual(v.read_text(v.find_folded(pt.fold(name))[1]), why)

    def test_every_value_comes_back(self):
        for t in self.tables:
            v = view(t)
            texts = {i for i, f in enumerate(t.fields) if f.kind == pt.TEXT}
            for i, row in enumerate(t.rows):
                got = v.read_row(i)
                self.assertEqual(
                    (got["name"], got["desc"], got["counters"], tuple(got["groups"]), got["flags"]),
                    (row.name, row.desc, row.counters, tuple(row.groups), row.flags))
                values = sorted(
                    (f, c, v.read_text(x) if f in texts else x) for f, c, x in got["values"])
                self.assertEqual(values, sorted(row.values))

    def check_order(self, slots, hashes):
        """No slot from the first probe of a name to its own slot has a lower hash."""
        for at, (slot, h) in enumerate(zip(slots, hashes)):
            start = layout.find_first_slot(h, len(slots))
            passed = slots[start:at] if start <= at else slots[start:] + slots[:at]
            self.assertTrue(not slot or all(s >> 16 >= slot >> 16
                                            for s in passed if s != slot) and 0 not in passed)

    def test_bounds_and_index_invariants(self):
        raw = image_writer.make_image(self.tables)
        for v in image_reader.read_image(raw)[0]:
            self.assertEqual((v.size % 8, len(raw) % 8), (0, 0))
            for name, at in v.at.items():
                self.assertLessEqual(at + v.count.get(name, 1) * layout.SIZES[name], len(raw))
                self.assertEqual(at % {"code_index": 2, "pool": 1, "keys": 1}.get(name, 4), 0)
            slots = [s for s, in v.read_records("slots")]
            self.check_order(slots, [
                pt.name_hash(pt.fold(v.read_text(v.read_name((s & 0xFFFF) - 1)[0]))) if s else 0
                for s in slots
            ])
            used = [s for s in slots if s]
            self.assertGreater(v.count["slots"], len(used))
            shadowed = sum(1 for r in v.read_records("rows") if r[5] & pt.ROW_SHADOWED)
            self.assertEqual(len(used), v.count["names"] + v.count["rows"] - shadowed)
            self.assertEqual(raw[v.at["pool"]], 0)
            self.assertEqual(raw[v.at["pool"] + v.count["pool"] - 1], 0)

    def test_strings_rows_and_values_are_stored_once(self):
        """Also where several tables have them: a second processor with the same events costs a head
        and its name."""
        raw = image_writer.make_image(self.tables)
        v = image_reader.read_image(raw)[0][0]
        strings = [
            s for s in raw[v.at["pool"]:v.at["pool"] + v.count["pool"]].rstrip(b"\0").split(b"\0")
            if s
        ]
        self.assertEqual(len(strings), len(set(strings)))
        for t in self.tables:
            v = view(t)
            runs = {(r[2], r[6]) for r in v.read_records("rows") if r[6]}
            contents = {tuple(v.read_element("values", a + i) for i in range(n)) for a, n in runs}
            self.assertEqual(len(runs), len(contents))
            other = copy.copy(t)
            other.name = "another"
            self.assertLess(
                len(image_writer.make_image([t, other])) - len(image_writer.make_image([t])),
                layout.HEAD_SIZE + 200)

    def test_a_first_look_up_reads_few_places(self):
        """Pages are read with those around them: the index of names, then the heads of the tables,
        then small arrays that every event needs, then the names of tables; and of each table its
        fields, slots and rows, with values that are mostly its own."""
        raw = image_writer.make_image(self.tables)
        pmu_names = struct.unpack_from("<I", raw,
                                       layout.IMAGE_SIZE - 8 * layout.N_DIRECTORY + 8)[0]
        views, head = image_reader.read_image(raw)
        self.assertTrue(pmu_names < head["tables"] < min(
            views[0].at[name] for name in ("keys", "counters", "counter_masks", "row_groups")))
        distances = []
        for t, v in zip(self.tables, views):
            own_name = raw.index(t.name.encode() + b"\0", v.at["pool"])
            self.assertLess(
                max(v.at[name] for name in ("keys", "counters", "counter_masks", "row_groups")),
                own_name)
            self.assertLess(own_name - pmu_names, 16 << 10)
            for i in range(len(t.rows)):
                number = v.read_element("row_numbers", i)[0] & (1 << layout.ROW_SOURCES_SHIFT) - 1
                row = v.at["rows"] + number * layout.SIZES["rows"]
                places = row, *(v.at[name] for name in ("fields", "slots", "row_numbers"))
                self.assertLess(max(places) - min(places), 32 << 10)
                distances.append(
                    abs(v.at["values"] + v.read_record("rows", i)[2] * layout.SIZES["values"] -
                        row))
        self.assertLess(sorted(distances)[len(distances) * 3 // 4], 16 << 10)

    def test_codes_lead_back(self):
        """Each row is in the index over code and unit mask."""
        indexed = 0
        for t in self.tables:
            v = view(t)
            for i, row in enumerate(t.rows):
                if not v.count["code_index"] or row.flags & (pt.ROW_SHADOWED | pt.ROW_METRIC):
                    continue
                groups = {t.groups[g].field for g in row.groups}
                mask = layout.CODE_INDEX_ANY_UMASK if v.find_field(
                    "umask") in groups else v.read_value(i, "umask")
                h = layout.hash_code(v.read_value(i, "code"), mask)
                at, bits, found = layout.find_first_slot(h, v.count["code_index"]), len(
                    t.rows).bit_length(), []
                while entry := v.read_element("code_index", at)[0]:
                    if entry >> bits == (h & 0xFFFF) >> bits:
                        found.append((entry & (1 << bits) - 1) - 1)
                    at = (at + 1) % v.count["code_index"]
                self.assertIn(i, found)
                indexed += 1
        self.assertGreater(indexed, 200)

    def test_both_byte_orders_say_the_same(self):
        for t in self.tables:
            little, big = view(t), view(t, "big")
            for name in ("counters", "fields", "matches", "features", "rows", "names", "slots",
                         "code_index", "group_numbers"):
                self.assertTrue(little.read_records(name) == big.read_records(name), name)
            self.assertEqual([little.read_row(i) for i in range(len(t.rows))],
                             [big.read_row(i) for i in range(len(t.rows))])
            self.assertEqual(little.field_of_key, big.field_of_key)
            pools = [v.raw[v.at["pool"]:v.at["pool"] + v.count["pool"]] for v in (little, big)]
            self.assertTrue(pools[0] == pools[1])
            self.assertFalse(little.raw == big.raw)

    def test_same_source_same_bytes(self):
        with tempfile.TemporaryDirectory() as tmp:
            sums = set()
            for i in range(3):
                path = os.path.join(tmp, "a.pmdb" + str(i))
                self.assertEqual(run("--image", path, *BUILTIN)[0], 0)
                with open(path, "rb") as f:
                    sums.add(hashlib.sha256(f.read()).digest())
            self.assertEqual(len(sums), 1)

    def test_image_is_checked_when_read(self):
        raw = image_writer.make_image(self.tables)
        tables, head = image_reader.read_image(raw)
        self.assertEqual([t.name for t in tables], [t.name for t in self.tables])
        self.assertEqual(head["byteorder"], "little")
        for bad in (raw[:-1], raw + b"\0", raw[:200] + bytes([raw[200] ^ 1]) + raw[201:], b"",
                    raw[:40], b"PMDB" + raw[4:]):
            with self.assertRaises(ValueError):
                image_reader.read_image(bad)

    def test_chosen_processors_alone_are_built(self):
        """Names, other names and patterns; the kernel's own events come with any, and what means
        nothing is refused."""
        def names(patterns):
            path = os.path.join(tmp, "some.pmdb")
            status, _, said = run("--image", path, "--processors", patterns, *BUILTIN)
            if status:
                return said.splitlines()[0]
            with open(path, "rb") as f:
                return sorted(t.name for t in image_reader.read_image(f.read())[0])
        kernels = ["hardware", "hw_cache", "software"]
        with tempfile.TemporaryDirectory() as tmp:
            self.assertEqual(names("montecito"), sorted(kernels + ["montecito"]))
            self.assertEqual(names("alpha_ev4,ev6*"), sorted(kernels + ["ev4", "ev6", "ev67"]))
            tables = 0
            for path in BUILTIN:
                with open(path, encoding="utf-8") as f:
                    tables += sum(line.startswith("pmu ") for line in f)
            self.assertEqual(len(names("all")), tables)
            self.assertEqual(names("montecito,none*"), "pmuc: no processor is called 'none*'")

    def test_subset_of_processors_equals_the_whole(self):
        """Processors that match no pattern are not compiled. A processor's boxes are included,
        because its metrics use them."""
        paths = [
            os.path.join(EVENTS, n)
            for n in ("intel/skx.pmu", "intel/skx_uncore.pmu", "intel/slm.pmu", "software.pmu")
        ]
        for patterns in (["skx"], ["skx_uncore_cha"], ["skylakex"], ["slm", "cascade*"]):
            some, _, errors = pmuc.compile_all(
                paths, lambda names: pmuc.find_matching_patterns(names, patterns))
            self.assertEqual(errors, [])
            self.assertEqual("slm" in [t.name for t in some], "slm" in patterns)
            kept = [[
                t for t in tables
                if t.encoder == "perf" or pmuc.find_matching_patterns((t.name, t.family_name,
                                                                       *t.aliases), patterns)
            ] for tables in (some, pmuc.compile_all(paths)[0])]
            self.assertGreater(len(kept[0]), 1)
            self.assertEqual(*map(image_writer.make_image, kept))

    def test_checksum_equals_its_definition(self):
        """Its definition, word for word, over lengths around a block's and words that carry."""
        rng = random.Random(5)
        for n in (*range(9), layout.BLOCK - 1, layout.BLOCK, layout.BLOCK + 1,
                  3 * layout.BLOCK + 7):
            for raw in (rng.randbytes(8 * n), b"\xff" * 8 * n):
                for byteorder in ("little", "big"):
                    first = second = 0
                    for at in range(0, len(raw), 8):
                        first = (first + int.from_bytes(raw[at:at + 8], byteorder)) % 2**64
                        second = (second + first) % 2**64
                    both = first ^ (second << 1 | second >> 63) % 2**64
                    self.assertEqual(layout.compute_checksum(raw, byteorder),
                                     (both ^ both >> 32) & 0xFFFFFFFF, n)

    def test_words_of_a_row_are_its_tokens(self):
        """A line is split the short way or as tokens: both say the same, or the short way leaves it
        to the other."""
        rng = random.Random(8)
        parts = [
            "event", "NAME", '"A B"', "code=0x1", 'note="x y"', '"a text"', '"', "\\", "#", " ",
            "  ", "\t", "=", '"#"', 'a"b'
        ]
        n_checked = 0
        for _ in range(20000):
            text = "event " + "".join(
                rng.choice(parts) + rng.choice(("", " ")) for _ in range(rng.randrange(7)))
            line = RowLine("x", 1, text)
            words, texts = line.find_words()
            if words and len(words) > 1:
                n_checked += 1
                tokens = [t.raw for t in line.make_tokens([])]
                self.assertEqual(words, [t for i, t in enumerate(tokens) if i < 2 or t[0] != '"'],
                                 text)
                self.assertEqual(texts, [t[1:-1] for t in tokens[2:] if t[0] == '"'], text)
        self.assertGreater(n_checked, 1000)

    def test_depfile_names_every_source(self):
        with tempfile.TemporaryDirectory() as tmp:
            c, d = os.path.join(tmp, "t.pmdb"), os.path.join(tmp, "t.d")
            self.assertEqual(run("--image", c, "--depfile", d, TESTPMU[1])[0], 0)
            with open(d, encoding="utf-8") as f:
                target, sources = f.read().split(": ")
            self.assertEqual(target, c)
            for name in ("testpmu.pmu", "testpmu2.pmu", "keys.def", "pmuc.py",
                         "language/table_compiler.py", "language/tables.py", "image/layout.py",
                         "image/image_writer.py"):
                self.assertIn(name, sources)


class Agreement(unittest.TestCase):
    """Definitions that Python and C must share."""

    def header(self):
        text = ""
        for name in ("image.h", "table.h"):
            with open(os.path.join(LIB, "table", name), encoding="utf-8") as f:
                text += f.read()
        return text

    def enum(self, name):
        body = re.search(r"enum %s \{(.*?)\};" % name, self.header(), re.S)[1]
        return re.findall(r"\b([A-Z]\w+)\b(?:\s*=\s*(\d+))?",
                          re.sub(r"/\*.*?\*/", "", body, flags=re.S))

    def test_constants_of_the_header(self):
        text = self.header()
        for name in ("TABLE_FALLBACK", "TABLE_UNCORE", "TABLE_COMPAT_VIEW", "TABLE_TEST_ONLY",
                     "TABLE_FROM_KERNEL", "TABLE_VALUES_OVERRIDE", "TABLE_HAS_FOLDED_TWINS",
                     "GROUP_COMBINABLE", "GROUP_HAS_DEFAULT", "GROUP_REQUIRED",
                     "GROUP_EXPLICIT_IN_LIBPFM", "GROUP_DEFAULT_YIELDS"):
            self.assertEqual(int(re.search(r"\b%s\s*=\s*(\d+)" % name, text)[1]),
                             getattr(pt, name), name)
        self.assertEqual(
            tuple(
                n.split("_", 1)[1].lower() for n, _ in self.enum("encoder_id")
                if n != "N_ENCODERS"), pt.ENCODERS)
        self.assertEqual({n[4:].lower(): int(v) for n, v in self.enum("row_flags")},
                         {"exclusive" if n == "alone" else n: v for n, v in pt.ROW_FLAGS.items()}
                         | {"without_rule": pt.ROW_WITHOUT_RULE})
        with open(os.path.join(LIB, "table", "verify.c"), encoding="utf-8") as f:
            own = dict(re.findall(r"\[ENCODER_(\w+)\] = \{ ([A-Z_ |]+),", f.read()))
        self.assertEqual(
            {n.lower(): sum(int(dict(self.enum("row_flags"))[f]) for f in v.split(" | "))
             for n, v in own.items()}, pt.ENCODER_ROW_FLAGS)
        self.assertEqual(
            [n for n, _ in self.enum("name_kind")],
            ["NAME_EVENT", "NAME_ALIAS", "NAME_SYNONYM", "NAME_UNSUPPORTED", "NAME_NONE"])
        constants = {
            "NAME_HASH_SEED": 0x811C9DC5, "ANY_COUNTER": pt.ANY_COUNTER,
            "TABLE_MAX_NAMES": pt.MAX_NAMES,
            **{
                name: getattr(layout, name) for name in (
                    "IMAGE_MAGIC", "TABLE_MAGIC", "IMAGE_VERSION", "PMU_NAME_IS_ALIAS",
                    "VALUE_IS_WIDE", "CODE_INDEX_ANY_UMASK")
            }
        }
        for name, value in constants.items():
            self.assertEqual(int(re.search(r"#define %s[\s\\]+(\w+?)u\b" % name, text)[1], 0),
                             value)

    def test_hash_known_values(self):
        """To turn 32 bits by seven is to multiply by 128 modulo 2^32 - 1."""
        def weight(c):
            if c in b",/":
                return 0
            word = c * 0x9E3779B1 % (1 << 32)
            word = (word ^ word // (1 << 15)) * 0x85EBCA6B % (1 << 32)
            return (word ^ word // (1 << 13)) % (1 << 31)
        self.assertEqual(pt.name_hash(b""), 0x811C9DC5)
        self.assertEqual(pt.name_hash(b"a"), 0x811C9DC5 + weight(97))
        for text in (b"foobar", b"memloadretired.l3miss", bytes(range(1, 256)), b".", b"..a"):
            h = 0x811C9DC5
            for c in text:
                h = (h * 128 % 0xFFFFFFFF + c if c == 46 else h + weight(c)) % (1 << 32)
            self.assertEqual(pt.name_hash(text), h)
        self.assertEqual(pt.name_hash(b"ab.c"), pt.name_hash(b"ba.c"))
        self.assertNotEqual(pt.name_hash(b"ab.c"), pt.name_hash(b"c.ab"))
        # No two characters that folding keeps apart weigh the same, except separators: nothing.
        self.assertEqual(len({weight(c) for c in range(256) if c not in b",/"}), 254)
        self.assertEqual(pt.fold("Mem-Load_Retired:L3 MISS\t."), b"memloadretired.l3miss.")

    def program(self, tmp, tables, code):
        """A program with @tables built in, and their image."""
        raw, image, embed = image_writer.make_image(tables, sys.byteorder), os.path.join(
            tmp, "t.pmdb"), os.path.join(tmp, "t.S")
        with open(image, "wb") as f:
            f.write(raw)
        with open(embed, "w", encoding="utf-8") as f:
            f.write(image_writer.make_embedding(image, raw))
        source, program = os.path.join(tmp, "t.c"), os.path.join(tmp, "t")
        with open(source, "w", encoding="utf-8") as f:
            f.write('#include <stdio.h>\n#include <string.h>\n#include "table/table.h"\n' + code)
        subprocess.run([
            CC, "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-I", LIB,
            "-I",
            os.path.join(LIB, "..", "include"), source,
            os.path.join(LIB, "table", "table.c"),
            os.path.join(LIB, "table", "names.c"),
            os.path.join(LIB, "base", "text.c"), embed, "-o", program
        ], check=True, capture_output=True)
        return program, raw

    @unittest.skipUnless(CC, "no C compiler")
    def test_built_in_image_equals_the_file(self):
        """A program has byte for byte the image, and C finds every name."""
        tables = self.tables()
        with tempfile.TemporaryDirectory() as tmp:
            program, raw = self.program(tmp, tables, r'''
int main(void)
{
	char line[512];

	fwrite(table_get_builtin_image(), 1, (size_t)table_get_builtin_image()->size, stdout);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		char *name = strchr(line, ' ') + 1, *end = strchr(name, '\n');
		const struct table *t = table_get_builtin((unsigned)(line[0] - 'A'));
		uint32_t h = NAME_HASH_SEED;
		struct name_entry n;

		for (const char *p = name; p < end; p++)
			h = table_hash_char(h, (unsigned char)*p);
		n = table_find_name(t, h, name, (size_t)(end - name));
		fprintf(stderr, "%ld\n", n.kind < NAME_UNSUPPORTED ? (long)n.row : -1L);
	}
	return 0;
}
''')
            lines, want = [], []
            for i, t in enumerate(tables):
                v = view(t)
                for text, _, kind in t.list_names():
                    for spelling in (text, text.swapcase().replace("_", "-"), text + "x",
                                     "_" + text + " "):
                        lines.append("%s %s\n" % (chr(65 + i), spelling))
                        row = v.find_row(spelling)
                        want.append(-1 if row is None else row)
            p = subprocess.run([program], input="".join(lines).encode(), capture_output=True,
                               check=True)
            self.assertTrue(p.stdout == raw, "the program's image and the file differ")
            got = [int(x) for x in p.stderr.split()]
            self.assertEqual(len(got), len(want))
            self.assertEqual([x for x in zip(lines, got, want) if x[1] != x[2]][:10], [])
            self.assertGreater(len(want), 1000)

    @unittest.skipUnless(CC, "no C compiler")
    def test_no_tables_at_all(self):
        with tempfile.TemporaryDirectory() as tmp:
            program, _ = self.program(
                tmp, [], "int main(void)\n{\n\treturn (int)table_count_builtins();\n}\n")
            subprocess.run([program], check=True)

    def test_records_of_the_header(self):
        """The sizes of the structs, from C."""
        with tempfile.TemporaryDirectory() as tmp:
            if not CC:
                self.skipTest("no C compiler")
            structs = {
                "tables": "table", "families": "pmu_family", "fields": "field",
                "named_values": "named_value", "groups": "umask_group", "matches": "host_match",
                "features": "feature", "wide_values": "wide_value", "counters": "counter_range",
                "names": "stored_name", "rows": "row"
            }
            checks = "".join('_Static_assert(sizeof(struct %s) == %d, "%s");\n' %
                             (c, layout.SIZES[name], name) for name, c in structs.items())
            self.program(
                tmp, [], checks + '_Static_assert(sizeof(struct image) == %d, "image");\n'
                '_Static_assert(N_KEYS == %d, "keys");\nint main(void)\n{\n\treturn 0;\n}\n' %
                (layout.IMAGE_SIZE, len(pt.read_keys())))

    @staticmethod
    def tables():
        return compiled(*BUILTIN) + compiled(*TESTPMU)


class Pieces(unittest.TestCase):
    """Corners of the writers."""

    def make(self, n, name=lambda i: "EVENT_%d" % i):
        t = pt.Table("made", "Made up", "format")
        t.counters = [pt.Counter(0, 3, 48)]
        t.add_field(pt.Field("code", width=64))
        t.rows = [pt.Row(name(i), "x", 1, [(0, pt.ANY_COUNTER, i)]) for i in range(n)]
        return t

    def test_names_of_all_kinds(self):
        """Any bytes a name can have, many names, long probes: the index finds them all, and nothing
        else."""
        random.seed(1)
        names = {
            "".join(
                random.choice("abcXYZ0189.:=/+*?\"\\%\u00e9\u4e2d")
                for _ in range(random.randint(1, 40))) for _ in range(3000)
        }
        unique = {
            pt.fold(n): n for n in sorted(names)
            if not pt.has_letter_with_value(pt.fold(n))
        }
        t = self.make(len(unique), lambda i, l=list(unique.values()): l[i])
        v = view(t)
        for i, row in enumerate(t.rows):
            self.assertEqual(v.find_row(row.name), i)
        for folded in (b"nothing", b"zzz", b"a" * 300):
            if folded not in unique:
                self.assertIsNone(v.find_folded(folded))

    def test_strings_ring_no_bell(self):
        odd = [
            'quote " back \\ slash', "what??/ trigraph", "tab\tbell\a", "caf\u00e9 \u4e2d",
            "digits after nul 0", "%s\r"
        ]
        t = self.make(len(odd))
        for row, text in zip(t.rows, odd):
            row.desc = text
        v = view(t)
        self.assertEqual([v.read_row(i)["desc"] for i in range(len(odd))],
                         [text.translate(image_writer.CONTROLS) for text in odd])

    def test_values_of_any_width(self):
        """The largest value that fits in the row's own list, the smallest that does not, and the
        largest of all; each for any counter and for counter 3."""
        t = self.make(2)
        numbers = [0, layout.VALUE_IS_WIDE - 1, layout.VALUE_IS_WIDE, pt.ALL64]
        t.rows[0].values = [(0, c, n) for n in numbers for c in (pt.ANY_COUNTER, 3)]
        self.assertEqual(sorted(view(t).read_row(0)["values"]), sorted(t.rows[0].values))

    def test_two_values_for_one_bit(self):
        """Such a table says that later values take the place of what is there."""
        t = self.make(2)
        t.fields[0] = pt.Field("code", width=8, ranges=[(0, 0, 8)])
        t.add_field(pt.Field("more", width=8, ranges=[(0, 8, 4), (1, 0, 4)]))
        for values, replaces in (([(0, pt.ANY_COUNTER, 1), (1, pt.ANY_COUNTER, 1)], False), ([
            (0, pt.ANY_COUNTER, 1), (0, 3, 1)
        ], False), ([(0, pt.ANY_COUNTER, 1), (0, pt.ANY_COUNTER, 2)], True)):
            t.rows[1].values = values
            self.assertEqual(bool(view(t).flags & pt.TABLE_VALUES_OVERRIDE), replaces)
        t.rows[1].values = [(0, pt.ANY_COUNTER, 1), (1, pt.ANY_COUNTER, 1)]
        t.fields[1].ranges = [(1, 0, 4), (0, 7, 4)]
        self.assertTrue(view(t).flags & pt.TABLE_VALUES_OVERRIDE)
        t.alias_rows, t.rows[1].values = [pt.Row("ALIAS", "x", 1, t.rows[1].values)], []
        self.assertTrue(view(t).flags & pt.TABLE_VALUES_OVERRIDE)

    def test_check_table_refuses_bad_tables(self):
        def wrong(change):
            t = self.make(3)
            change(t)
            return [text for _, text in t.check_table()]
        self.assertEqual(wrong(lambda t: None), [])
        self.assertEqual(len(wrong(lambda t: setattr(t.rows[0], "counters", 16))), 1)
        self.assertEqual(len(wrong(lambda t: setattr(t.rows[1], "name", "event-0"))), 1)
        self.assertEqual(len(wrong(lambda t: setattr(t.rows[1], "name", "_"))), 1)
        self.assertEqual(len(wrong(lambda t: setattr(t.rows[1], "groups", (0,)))), 1)
        self.assertEqual(len(wrong(lambda t: t.rows[1].values.append((0, 7, 1)))), 1)
        self.assertEqual(len(wrong(lambda t: t.groups.append(pt.Group("g", 0, 5)))), 1)
        self.assertEqual(len(wrong(lambda t: setattr(t, "name", "Bad Name"))), 1)
        for encoder in pt.SHAPES:       # the library refuses it as well
            self.assertEqual(len(wrong(lambda t, encoder=encoder: setattr(t, "encoder", encoder))),
                             1)
        self.assertEqual(len(wrong(lambda t: t.synonyms.append(("s", 3)))), 1)
        t = self.make(2)
        t.rows[1].name = "EVENT_0"
        with self.assertRaises(ValueError):
            view(t)

    def test_names_that_look_like_a_modifier_with_a_value(self):
        """The library does not look for a name that ends with "c=2" or the like."""
        for name in ("EVENT:c=2", "EVENT.E=", "EVENT:m=a:b"):
            t = self.make(1)
            t.rows[0].name = name
            with self.assertRaisesRegex(ValueError, "would be read as a modifier"):
                view(t)
        for name in ("EVENT:request=ANY", "c=2", "EVENT:m0=A"):
            t = self.make(1)
            t.rows[0].name = name
            view(t)

    def test_what_the_compiler_lets_through(self):
        """It looks at words one by one and does not ask check() about rows and names: nothing is
        found there either."""
        for t in compiled(*BUILTIN) + compiled(*TESTPMU):
            if not t.alias_rows:
                self.assertEqual(t.check_table(), [], t.name)

    def test_image_limits(self):
        with self.assertRaises(ValueError):
            image_writer.make_image([self.make(1)] * (layout.IMAGE_MAX_TABLES + 1))
        with self.assertRaises(ValueError):
            image_writer.make_image([self.make(pt.MAX_NAMES + 1)])
        self.assertEqual(
            struct.unpack_from("<I", image_writer.make_image([self.make(1)]))[0], layout.IMAGE_MAGIC)


if __name__ == "__main__":
    main()
