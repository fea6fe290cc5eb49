# SPDX-License-Identifier: MIT
"""Errata: events that count wrong on some machines, and facilities beside them.

erratum ID,... [for=TABLE,...] [HOST...] [CONDITION...] events=EVENT,... [count=WORD]
        [KEY="text"...] "effect" "source"

In a table, a statement is about that table; in the files of the folder errata, it is about the
tables that it names. An event is a name, which may have `*`, or a code with or without a unit mask
(0x60, 0x24:0x4); `all` are all events of the table, `none` no event, and `listed` those whose row
has the id in its own list. The hosts are those of the table, or those of the keys of `match`. An id
of a row without a statement becomes an erratum, too.
"""

import fnmatch
import os
import re

from language import tables as pt
from language.rules import STATES, RuleCompiler
from language.statements import StatementError, split_statements

COUNTS = {"right": 0, "high": 1, "low": 2, "wrong": 3, "zero": 4, "near": 5}
TEXTS = ("workaround", "linux", "only")
WORDS = frozenset(("all", "none", "listed"))    # beside names of events
HOST_KEYS = frozenset(("family", "model", "stepping", "midr", "pvr", "id"))
CODE = re.compile(r"0x[0-9a-f]+(:0x[0-9a-f]+)?")


UNKNOWN_EFFECT = "The vendor's list names this erratum of the event; its effect is not known here."


def fold_id(name):
    """Documents and lists differ in zeros: HSD011 and HSD11."""
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", name)


class Erratum:
    """Rows are numbers of rows; is_for_all: of all events. Tests and matches are as in rules and
    tables. The texts may be empty but for effect and source."""

    def __init__(self, ids, where):
        """Begins an erratum with the ids of a statement."""
        self.ids, self.where = ids, where
        self.effect = self.source = self.workaround = self.linux = self.only = ""
        self.rows, self.is_for_all, self.instead = [], False, None
        self.count = COUNTS["right"]
        self.tests, self.matches = [], []

    def list_texts(self):
        """Texts in the order of the record."""
        return self.ids, self.effect, self.workaround, self.linux, self.only, self.source


class ErrataFolder:
    """The statements of the folder errata, by the table that they name."""

    def __init__(self, folder, read_text, errors):
        """Reads all files of the folder."""
        self.by_table, self.files, self.unused = {}, [], {}
        self.errors = []    # of tables that lack what a statement needs
        for name in sorted(os.listdir(folder)):
            if name.endswith(".pmu"):
                path = os.path.normpath(os.path.join(folder, name))
                self.files.append(path)
                for words in split_statements(read_text(path), path, errors):
                    self.add_statement(words, errors)

    def add_statement(self, words, errors):
        """Files a statement under the tables that it names."""
        if type(words) is not list or words[0].raw != "erratum":
            errors.append(((words.file, words.number, 1) if type(words) is not list
                           else words[0].get_position(), "expected erratum"))
            return
        named = [w.split_pair()[1] for w in words[2:] if w.raw.startswith("for=")]
        if not named:
            errors.append((words[0].get_position(), "for=TABLE,... is missing"))
        for token in named[0].split_list() if named else ():
            self.by_table.setdefault(token.raw, []).append(words)
            self.unused[token.get_position()] = "unknown table '%s'" % token.raw
        for token in list_event_tokens(words):
            self.unused[token.get_position()] = "no table of the erratum has event '%s'" % token.raw

    def mark_used(self, token):
        """Notes that a table exists."""
        self.unused.pop(token.get_position(), None)


def list_event_tokens(words):
    """The elements of events=, in the order of the text."""
    for w in words[2:]:
        if w.raw.startswith("events="):
            return [t for t in w.split_pair()[1].split_list() if t.raw not in WORDS]
    return []


class ErrataCompiler(RuleCompiler):
    """Statements that begin with erratum. They are resolved when all rows are known."""

    def do_erratum(self, words):
        """Keeps an erratum of the table itself for finish_errata()."""
        self.errata.append((words, True))

    def finish_errata(self):
        """Makes the errata of the table: its own, those of the folder, and ids that rows name."""
        folder = self.library.read_errata()
        given = folder.by_table.get(self.table.name, ())
        for words in given:
            for token in words[2:]:
                if token.raw.startswith("for="):
                    for name in token.split_pair()[1].split_list():
                        if name.raw == self.table.name:
                            folder.mark_used(name)
        for words, is_own in self.errata + [(words, False) for words in given]:
            try:
                self.add_erratum(words, is_own)
            except StatementError as e:
                # A vendor's list can lack an event or a field that the built-in table has.
                (self.errors if is_own else folder.errors).append((e.where, e.text))
        self.add_unknown_errata()

    def list_row_errata(self):
        """{folded id: (id, numbers of the rows whose list has it)}."""
        if self.row_errata is None:
            self.row_errata = {}
            at = [self.table.field_at.get(key) for key in ("errata", "errata_class")]
            for i, row in enumerate(self.table.rows):
                texts = [v for f, _, v in row.values if f in at and f is not None]
                for name in re.findall(r"[A-Z][A-Z0-9_]*[0-9]", " ".join(texts)):
                    self.row_errata.setdefault(fold_id(name), (name, []))[1].append(i)
        return self.row_errata

    def add_unknown_errata(self):
        """Adds the ids of rows that no statement is about. A feature can have their text."""
        described = {fold_id(name) for e in self.table.errata for name in e.ids.split()}
        texts = dict(self.table.features)
        for folded, (name, rows) in self.list_row_errata().items():
            if folded not in described:
                e = Erratum(name, None)
                e.effect = texts.get(name) or UNKNOWN_EFFECT
                e.source, e.count, e.rows = self.table.source, COUNTS["wrong"], sorted(set(rows))
                self.table.errata.append(e)

    def add_erratum(self, words, is_own):
        """Makes an erratum from the words of a statement."""
        if len(words) < 2 or words[1].is_text() or "=" in words[1].raw:
            raise StatementError(words[0].get_position(len(words[0].raw)), "erratum needs an id")
        texts = [w for w in words[2:] if w.is_text()]
        if len(texts) != 2:
            raise StatementError(words[-1].get_position(),
                                 "an erratum has two texts, its effect and the source")
        e = Erratum(words[1].raw.replace(",", " "), words[1])
        e.effect, e.source = (t.get_text() for t in texts)
        self.given, self.erratum_rule, has_rows = {}, pt.Rule(words[1].raw), False
        host = []
        for w in words[2:]:
            if not w.is_text():
                key, value = w.split_pair()
                if value is None or key in self.given:
                    raise StatementError(w.get_position(), "'%s' is given twice" % key if value
                                         else "expected KEY=VALUE, got '%s'" % w.raw)
                self.given[key] = w
                if key in HOST_KEYS:
                    host.append(w)
                elif key == "events":
                    has_rows = self.find_erratum_rows(e, value, is_own)
                else:
                    self.set_erratum_key(e, w, key, value, is_own)
        if "events" not in self.given:
            raise StatementError(words[1].get_position(), "events=EVENT,... is missing")
        e.tests = self.erratum_rule.tests
        e.matches = self.parse_matches([words[0]] + host) if host else []
        if has_rows:
            self.table.errata.append(e)

    def set_erratum_key(self, e, w, key, value, is_own):
        """Sets what one KEY=VALUE of an erratum says."""
        if key == "for":
            if is_own:
                raise StatementError(w.get_position(), "for=TABLE belongs into the folder errata")
        elif key == "count":
            if value.raw not in COUNTS:
                raise StatementError(value.get_position(), "count is one of " + ", ".join(COUNTS))
            e.count = COUNTS[value.raw]
        elif key in TEXTS:
            setattr(e, key, value.get_text())
        elif key == "instead":
            rows = self.match_erratum_rows(value)
            if len(rows) != 1:
                raise StatementError(value.get_position(), "no event '%s'" % value.raw)
            e.instead = rows[0]
        elif key in STATES:
            self.add_state_tests(self.erratum_rule, key, value)
        else:
            self.add_field_tests(self.erratum_rule, w, key, value)

    def find_erratum_rows(self, e, value, is_own):
        """Sets the rows of an erratum. False if none of its events is in this table."""
        tokens = value.split_list()
        if [t.raw for t in tokens] in (["all"], ["none"]):
            e.is_for_all = value.raw == "all"
            return True
        rows = {row for name in e.ids.split()
                for row in self.list_row_errata().get(fold_id(name), ("", ()))[1]}
        for token in tokens:
            found = [] if token.raw == "listed" else self.match_erratum_rows(token)
            if found:
                self.library.read_errata().mark_used(token)
            elif is_own and token.raw != "listed":
                raise StatementError(token.get_position(), "no event '%s'" % token.raw)
            rows.update(found)
        e.rows = sorted(rows)
        return bool(rows)

    def match_erratum_rows(self, token):
        """The numbers of the rows that a name, a pattern or a code means."""
        if CODE.fullmatch(token.raw):
            return self.match_row_codes(*[int(n, 16) for n in token.raw.split(":")])
        pattern = pt.fold(token.get_text()).decode("utf-8", "surrogateescape")
        if "*" not in pattern:
            return [i for i in (self.folded_rows().get(pattern),) if i is not None]
        wanted = re.compile(fnmatch.translate(pattern)).match
        return sorted({i for name, i in self.folded_rows().items() if wanted(name)})

    def match_row_codes(self, code, umask=None):
        """Numbers of the rows with a code, and with a unit mask if one is given."""
        at, mask = self.table.field_at.get("code"), self.table.field_at.get("umask")
        found = []
        for i, row in enumerate(self.table.rows):
            has = {f: v for f, _, v in row.values}
            if has.get(at) == code and umask in (None, has.get(mask, 0)) \
                    and not row.flags & pt.ROW_METRIC:
                found.append(i)
        return found

    def folded_rows(self):
        """{folded name: row number} of the events."""
        if self.rows_by_name is None:
            self.rows_by_name = {
                pt.fold(name).decode("utf-8", "surrogateescape"): i
                for i, row in enumerate(self.table.rows) if not row.flags & pt.ROW_METRIC
                for name in (*row.aliases, row.name)}
        return self.rows_by_name
