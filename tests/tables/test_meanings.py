#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Meanings of events: tags that the compiler refuses, and refusals of metrics that a table
contradicts."""

import os
import shutil
import sys
import tempfile
import unittest

HERE = os.environ["PERFMON_TESTS"]
SOURCE = os.path.dirname(os.path.abspath(HERE))
sys.path.insert(0, os.path.join(SOURCE, "compiler"))
sys.dont_write_bytecode = True
from language import event_meanings, standard_metrics, table_compiler  # noqa: E402
from tap import main  # noqa: E402

HEAD = """pmu t "T"
encoder format
match arch=x86 vendor="V" family=1
source "s"
counter 0..1 width=40
field code at=config:0-7
"""
CONTRACT = """{cycles}
= CLOCKS

{slots}
= SLOTS

{slots_frontend}
= EMPTY_FRONT
~ .*FRONT.*

{l3_misses}
! u : it has no level-3 cache
= L3_MISS

[topdown_frontend] ratio
Slots.
= {slots_frontend} / {slots}

[l3_rate] ratio
Misses.
= {l3_misses} / {cycles}
"""


class Meanings(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "t.pmu")
        self.contract = os.path.join(self.folder, "contract.txt")

    def compile(self, rows, contract=CONTRACT, head=HEAD):
        for path, text in ((self.path, head + rows), (self.contract, contract)):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        tables, _, errors = table_compiler.compile_all(
            [self.path],
            extend=lambda made, refuse: standard_metrics.add_standard_metrics(
                made, self.contract, refuse))
        return tables[0] if tables else None, errors

    @staticmethod
    def read_tags(table):
        at = table.field_at.get("meaning")
        return {r.name: v for r in table.rows for f, _, v in r.values if f == at}

    def test_an_unknown_meaning_is_refused_where_it_stands(self):
        for tag in ("fun", "64*fun", "+fun", "slots;fun", "slots+cycles", "*slots"):
            _, errors = self.compile('event A code=1 meaning=%s "A."\n' % tag)
            self.assertEqual(errors, [(
                (self.path, 7, 24), "'%s' is not a meaning: expected one of %s, or N*MEANING,"
                " +MEANING" % (tag, " ".join(event_meanings.MEANINGS)))], tag)

    def test_the_contract_knows_the_vocabulary_alone(self):
        _, errors = self.compile('event A code=1 "A."\n', CONTRACT + "\n{fun}\n= A\n")
        line = CONTRACT.count("\n") + 2
        self.assertEqual(errors, [((self.contract, line, 2), "unknown meaning 'fun'")])

    def test_a_refusal_that_the_table_contradicts_stops_the_build(self):
        """An event counts the front end's slots: that all slots lack is no reason."""
        _, errors = self.compile('event EMPTY_FRONT code=1 "A."\n')
        self.assertEqual(errors, [((self.path, 7, 1), "t::topdown_frontend is refused, though only"
                                   " slots of the pipeline lack")])

    def test_an_event_that_looks_like_a_meaning_stops_the_build(self):
        _, errors = self.compile('event NEW_FRONT_SLOTS code=1 "A."\n')
        self.assertEqual(
            errors, [((self.path, 7, 1), "t::NEW_FRONT_SLOTS looks like an event that counts slots"
                      " that the front end left empty: give it this meaning in %s"
                      % self.contract)])

    def test_a_row_has_a_meaning_of_its_own(self):
        """It comes before the contract's names: the metric is made of it, with its factor."""
        table, errors = self.compile(
            'event NEW_FRONT code=1 meaning=2*slots_frontend "A."\n'
            'event EMPTY_FRONT code=2 "A."\nevent SLOTS code=3 "A."\n')
        self.assertEqual(errors, [])
        self.assertEqual(self.read_tags(table),
                         {"NEW_FRONT": "2*slots_frontend", "SLOTS": "slots"})
        row = next(r for r in table.rows if r.name == "topdown_frontend")
        inputs = [v for f, _, v in row.values if table.fields[f].name == "metric_inputs"]
        self.assertEqual(inputs, ["NEW_FRONT", "SLOTS"])

    def test_an_event_can_have_a_meaning_that_no_metric_uses(self):
        """Another event with the meaning gets the tag; the metric is computed from the first."""
        table, errors = self.compile('event EMPTY_FRONT code=2 "A."\nevent SLOTS code=3 "A."\n'
                                     'event SLOTS_TOO code=4 "A."\n',
                                     CONTRACT.replace("= SLOTS\n", "= SLOTS\n& SLOTS_TOO\n"))
        self.assertEqual(errors, [])
        tags = self.read_tags(table)
        self.assertEqual((tags["SLOTS"], tags["SLOTS_TOO"]), ("slots", "slots"))
        row = next(r for r in table.rows if r.name == "topdown_frontend")
        inputs = [v for f, _, v in row.values if table.fields[f].name == "metric_inputs"]
        self.assertEqual(inputs, ["EMPTY_FRONT", "SLOTS"])

    def test_the_meaning_that_lacks_is_the_reason(self):
        table, _ = self.compile('event SLOTS code=3 "A."\n')
        self.assertEqual(dict(table.unsupported), {
            "topdown_frontend": "cannot be measured: no event counts slots that the front end left"
                                " empty",
            "l3_rate": "cannot be measured: no event counts requests that no level-3 cache held"})

    def test_a_fact_of_the_processor_is_the_reason(self):
        """Whatever its events are called."""
        table, _ = self.compile('event L3_MISS code=3 "A."\nevent CLOCKS code=4 "A."\n',
                                head=HEAD.replace("pmu t ", "pmu u "))
        self.assertEqual(dict(table.unsupported)["l3_rate"],
                         "cannot be measured: it has no level-3 cache")


if __name__ == "__main__":
    main()
