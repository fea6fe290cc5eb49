#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Errata: what the compiler accepts and refuses, and those that come with the library."""
import os
import re
import shutil
import sys
import tempfile
import unittest

HERE = os.environ["PERFMON_TESTS"]
SOURCE = os.path.dirname(os.path.abspath(HERE))
sys.path.insert(0, os.path.join(SOURCE, "compiler"))
sys.path.insert(0, os.path.join(SOURCE, "tests"))
sys.dont_write_bytecode = True
from language import errata, table_compiler  # noqa: E402
from tap import main  # noqa: E402

EVENTS = os.path.join(SOURCE, "lib", "events")
HEAD = """pmu t "T"
encoder format
match arch=x86 vendor="V" family=1
source "s"
counter 0..1 width=40
field code at=config:0-7
field umask at=config:8-15
field inv at=config:23
modifier inv
text errata
event A.ONE code=1 umask=1 errata="X1, X02" "One."
event A.TWO code=1 umask=2 "Two."
event B code=2 "B."
metric M metric="B / A.ONE" "M."
"""


class Statements(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.path = os.path.join(self.folder, "t.pmu")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def compile(self, statement):
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(HEAD + statement + "\n")
        tables, _, errors = table_compiler.compile_all([self.path])
        return tables, errors

    def list_errata(self, statement):
        tables, errors = self.compile(statement)
        self.assertEqual(errors, [])
        return {e.ids: e for e in tables[0].errata}

    def check_refusal(self, statement, column, text):
        _, errors = self.compile(statement)
        line = HEAD.count("\n") + 1
        self.assertEqual(errors, [((self.path, line, column), text)])

    def test_events_are_names_patterns_and_codes(self):
        for events, rows in (("a.one", [0]), ("A.*", [0, 1]), ("0x1", [0, 1]), ("0x1:0x2", [1]),
                             ("B,A.TWO", [1, 2]), ("listed", [])):
            found = self.list_errata('erratum E9 events=%s count=high "e" "s"' % events)
            self.assertEqual(found["E9"].rows if rows else [], rows, events)
        found = self.list_errata('erratum X02 events=listed count=low "e" "s"')
        self.assertEqual((found["X02"].rows, found["X02"].count), ([0], errata.COUNTS["low"]))
        self.assertTrue(self.list_errata('erratum E9 events=all inv=1 "e" "s"')["E9"].is_for_all)

    def test_keys_are_conditions_machines_and_texts(self):
        e = self.list_errata('erratum E1,E2 events=B inv=1 levels=one stepping=2..3 model=7 '
                             'only="steppings 2 and 3" workaround="w" linux="l" instead=A.TWO '
                             'count=zero "e" "s"')["E1 E2"]
        self.assertEqual((e.only, e.workaround, e.linux, e.instead, e.effect, e.source),
                         ("steppings 2 and 3", "w", "l", 1, "e", "s"))
        self.assertEqual([(m.model_lo, m.stepping_mask) for m in e.matches], [(7, 0xC)])
        levels = errata.STATES["levels"][0]
        self.assertEqual([t[3] for t in e.tests], [0, levels, levels])

    def test_an_id_without_a_statement_is_named(self):
        found = self.list_errata("")
        self.assertEqual(sorted(found), ["X02", "X1"])
        self.assertEqual((found["X1"].effect, found["X1"].rows), (errata.UNKNOWN_EFFECT, [0]))
        # the id of a document has zeros that the list lacks
        self.assertEqual(sorted(self.list_errata('erratum X001 events=listed "e" "s"')),
                         ["X001", "X02"])

    def test_refusals_have_a_position(self):
        for statement, column, text in (
                ('erratum E1 events=C "e" "s"', 19, "no event 'C'"),
                ('erratum E1 events=A.ONE,C.* "e" "s"', 25, "no event 'C.*'"),
                ('erratum E1 events=0x9 "e" "s"', 19, "no event '0x9'"),
                ('erratum E1 events=M "e" "s"', 19, "no event 'M'"),
                ('erratum E1 events=B instead=C "e" "s"', 29, "no event 'C'"),
                ('erratum E1 events=B count=more "e" "s"', 27,
                 "count is one of right, high, low, wrong, zero, near"),
                ('erratum E1 events=B for=t "e" "s"', 21,
                 "for=TABLE belongs into the folder errata"),
                ('erratum E1 events=B cmask=1 "e" "s"', 21, "unknown field or effect 'cmask'"),
                ('erratum E1 events=B events=B "e" "s"', 21, "'events' is given twice"),
                ('erratum E1 events=B stepping=40 "e" "s"', 30, "'40' is out of range"),
                ('erratum E1 events=B "e"', 21,
                 "an erratum has two texts, its effect and the source"),
                ('erratum E1 "e" "s"', 9, "events=EVENT,... is missing"),
                ('erratum events=B "e" "s"', 8, "erratum needs an id")):
            self.check_refusal(statement, column, text)


class Folder(unittest.TestCase):
    """The files of lib/events/errata."""

    def test_a_folder_names_its_tables(self):
        folder = tempfile.mkdtemp()
        path = os.path.join(folder, "x.pmu")
        with open(path, "w", encoding="utf-8") as f:
            f.write('erratum E1 for=skl,nope events=INST_RETIRED.ANY,NOTHING.* "e" "s"\n'
                    'erratum E2 events=all "e" "s"\nevent A code=1 "A."\n')
        before, table_compiler.get_errata_folder = table_compiler.get_errata_folder, lambda: folder
        try:
            _, _, errors = table_compiler.compile_all(
                [os.path.join(EVENTS, "intel", "skl.pmu")], is_whole=True)
        finally:
            table_compiler.get_errata_folder = before
            shutil.rmtree(folder)
        self.assertEqual(sorted(e for e in errors if e[0][0] == path), [
            ((path, 1, 20), "unknown table 'nope'"),
            ((path, 1, 49), "no table of the erratum has event 'NOTHING.*'"),
            ((path, 2, 1), "for=TABLE,... is missing"),
            ((path, 3, 1), "expected erratum")])

    @classmethod
    def setUpClass(cls):
        folders = [os.path.join(EVENTS, f) for f in ("intel", "amd", "armv8", "older", "arm")]
        paths = [os.path.join(f, n) for f in folders for n in sorted(os.listdir(f))
                 if n.endswith(".pmu") and "_metrics" not in n]
        cls.tables, _, errors = table_compiler.compile_all(paths)
        assert not errors, errors[:3]

    def test_at_least_150_errata_have_an_effect(self):
        library = table_compiler.Library()
        words = {tuple(w.raw for w in s) for of in library.read_errata().by_table.values()
                 for s in of}
        self.assertEqual(library.errors, [])
        self.assertGreater(len(words), 150)

    def test_each_id_of_a_list_has_an_effect(self):
        unknown = [(t.name, e.ids) for t in self.tables for e in t.errata
                   if e.effect == errata.UNKNOWN_EFFECT]
        self.assertEqual(unknown, [])

    def test_an_effect_is_a_sentence(self):
        for t in self.tables:
            for e in t.errata:
                for text in filter(None, (e.effect, e.workaround, e.linux)):
                    self.assertTrue(re.fullmatch(r"[A-Z0-9].*[.]", text), (t.name, e.ids, text))


if __name__ == "__main__":
    main()
