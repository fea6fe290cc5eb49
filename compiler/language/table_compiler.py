# SPDX-License-Identifier: MIT
"""Compiles .pmu texts to tables.

    Library     files that were read, each once, in parts: a part begins with `pmu` or `section`
    Compiler    one `pmu` part, with all that it uses, to a Table
"""

import functools
import operator
import os
import re

from language import tables as pt
from language.fields import check_fit, parse_row_flags
from language.meaning import compile_metrics, get_family
from language.errata import ErrataCompiler, ErrataFolder
from language.statements import NAME, StatementError, Token, split_statements

try:
    from texts import event_texts
except ImportError:         # a compiler without its texts leaves descriptions empty
    event_texts = None

MAX_FILE = 64 << 20
MAX_USE = 8
ARM_CYCLE_COUNTER = 31    # of PMUv3: counts cycles alone
# Statements that `use` does not copy: the identity of another PMU, and facts for readers of lists.
IDENTITY = frozenset(("pmu", "section", "alias", "match", "fallback", "view", "test", "source",
                      "family", "list", "core", "boxes", "unit",
                      "topdown"))
FOR_READERS = frozenset(("section", "title", "list", "core", "boxes", "unit", "topdown"))
ROW_STATEMENTS = frozenset(("event", "metric", "ratio", "synonym", "unsupported", "drop"))
RATIO_WORDS = frozenset(("if", "else", "min", "max", "d_ratio", "duration_time"))
LONG = 100              # characters: longer words rarely occur twice
SEVERAL = ("alt", "msr", "on_htoff")         # keys whose values are not plain numbers
PLAIN = r"0x[0-9a-f]{1,16}|0|[1-9][0-9]{0,18}"
PLAIN_NUMBER = re.compile(PLAIN)
PLAIN_PAIR = re.compile("(%s):(%s)" % (PLAIN, PLAIN))


# ---- files ---------------------------------------------------------------------------------------

class FilePart:
    """Statements from one `pmu` or `section` to the next, followed by rows that are not lines of a
    file."""
    __slots__ = ("file", "name", "section", "statements", "rows")

    def __init__(self, file, name, section, statements_=(), rows=()):
        """Keeps the statements of a table or a section."""
        self.file, self.name, self.section = file, name, section
        self.statements, self.rows = list(statements_), rows


def is_row(statement):
    """True for a row that is not split into tokens yet."""
    return type(statement) is not list


def split_parts(said, file):
    """Returns the parts of statements. The part before the first `pmu` has no name."""
    parts = []
    for s in said:
        word = "" if is_row(s) else s[0].raw
        if word in ("pmu", "section") or not parts:
            parts.append(
                FilePart(file, s[1].raw if word in ("pmu", "section") and len(s) > 1 else "",
                         word == "section"))
        parts[-1].statements.append(s)
    return parts


def get_heads_folder():
    """The folder of heads, beside the sources or installed."""
    return pt.find_first_existing("../lib/events/heads", "heads")


def get_errata_folder():
    """The folder of errata, beside the sources or installed."""
    return pt.find_first_existing("../lib/events/errata", "errata")


class Library:
    """All files that were read, and the sections of all heads."""

    def __init__(self):
        """Begins without files."""
        self.files = {}         # path -> parts
        self.errors = []
        self._sections = self._errata = None

    def read_parts(self, path):
        """Reads a file once."""
        if path not in self.files:
            self.files[path] = []
            self.files[path] = split_parts(split_statements(read_text(path), path, self.errors),
                                           path)
        return self.files[path]

    def forget_file(self, path):
        """Removes a file that could not be read, and its errors."""
        del self.files[path], self.errors[:]

    def read_errata(self):
        """The errata of the compiler's folders."""
        if self._errata is None:
            self._errata = ErrataFolder(get_errata_folder(), read_text, self.errors)
            self.files.update((path, []) for path in self._errata.files)
        return self._errata

    def read_sections(self):
        """{name: part} of all heads in the compiler's folders."""
        if self._sections is None:
            self._sections = {}
            folder = get_heads_folder()
            for name in sorted(os.listdir(folder)):
                if name.endswith(".pmu"):
                    for part in self.read_parts(os.path.join(folder, name)):
                        self._sections.setdefault(part.name, part)
        return self._sections


def read_text(path):
    """Reads a file, or raises StatementError."""
    try:
        if os.path.getsize(path) > MAX_FILE:
            raise StatementError((path, 1, 1), "file is too big")
        with open(path, "rb") as f:
            return f.read().decode("utf-8")
    except OSError as e:
        raise StatementError((path, 1, 1), e.strerror or str(e)) from None
    except UnicodeDecodeError as e:
        raise StatementError((path, 1, 1), "not UTF-8 at byte %d" % e.start) from None


# ---- one table -----------------------------------------------------------------------------------

# {everything that determines the meaning of words in rows: ({word: meaning}, {all words of a row:
# their meaning})}
MEANINGS = {}


class Compiler(ErrataCompiler):
    """Compiles one part, with all that it uses, to a Table."""

    def __init__(self, library=None):
        """Begins with files that others have read, or without any."""
        super().__init__()
        self.library = library or Library()

    def load_part(self, part, stack=()):
        """Returns [(statement, (part, depth))] of a part with its `use` statements expanded."""
        out, origin = [], (part, len(stack))
        for s in part.statements:
            if is_row(s) or s[0].raw != "use":
                out.append((s, origin))
                continue
            other = self.find_used_part(part, s)
            if other is None:
                continue
            if other in stack + (part,) or len(stack) >= MAX_USE:
                self.report_error(s[1].get_position(), "files use each other in a circle")
                continue
            out += [x for x in self.load_part(other, stack + (part,)) if is_row(x[0])
                    or x[0][0].raw not in IDENTITY]
            out += [(row, (other, len(stack) + 1)) for row in other.rows]
        return out

    def find_used_part(self, part, words):
        """Finds the part of a `use`: a section or table of this file, a section of a head, or a
        table of another file."""
        if not 2 <= len(words) <= 3 or any(
                w.is_text() or "/" in w.raw
                for w in words[1:]) or words[2:] and words[2].raw.endswith(".pmu"):
            self.report_error(words[-1].get_position(), "use takes one file of this folder")
            return None
        name = words[1].raw
        if not name.endswith(".pmu") and len(words) == 2:
            near = [p for p in self.library.files[part.file] if p.name == name]
            found = near[0] if near else self.library.read_sections().get(name)
            if found is None:
                self.report_error(words[1].get_position(), "no section '%s'" % name)
            return found
        path = os.path.join(os.path.dirname(part.file), name)
        try:
            parts = self.library.read_parts(path)
        except StatementError as e:
            if e.where[0] != path:
                raise
            self.report_error(words[1].get_position(), "%s: %s" % (name, e.text))
            return None
        wanted = words[2].raw if len(words) > 2 else None
        for p in parts:
            if p.name == wanted or wanted is None:
                return p
        self.report_error(words[-1].get_position(), "%s: no table '%s'" % (name, wanted) if wanted
                          else "%s: an empty file" % name)
        return None

    def compile_head(self, part):
        """Adds everything but the rows to self.table. Returns the rows as [(row, origin)]."""
        self.table = pt.Table("", "")
        self.at_name = (part.file, 1, 1)
        self.named = self.encoder_set = False
        self.origins = {}      # (kind, name) -> (token, origin)
        self.groups, self.default, self.modifiers = {}, {}, []
        self.rules = {}        # name -> words
        self.errata = []       # (words, whether the table has them itself)
        self.rows_by_name = self.row_errata = None
        self.registers = {}    # number of an extra register -> its field for users
        self.default_counters = None
        self.default_groups = ()
        self.default_flags = 0
        self.texts_family = None     # the family whose glossary describes events without a text
        self.meanings = None   # caches of words of rows, see use_shared_caches()
        self.rows = []         # Row, or None where dropped
        self.names = {}        # folded -> (text, token, row number, depth)
        self.waiting = []      # synonyms and unsupported names, resolved after all rows are known
        self.ratios = []       # resolved after all rows are known: (words, origin)
        loaded = self.load_part(part)
        first = loaded[0][0] if loaded else None
        if not first or is_row(first) or first[0].raw != "pmu":
            at = (part.file, 1,
                  1) if not first else (part.file, first.number,
                                        1) if is_row(first) else first[0].get_position()
            self.report_error(at, "the first statement must be pmu")
        rows = []
        for words, origin in loaded:
            if is_row(words) or words[0].raw in ROW_STATEMENTS:
                rows.append((words, origin))
            elif words[0].raw not in FOR_READERS:
                self.compile_statement(words, origin)
        self.finish_head()
        self.finish_rules()
        if self.default_counters is None:
            self.default_counters = self.table.get_all_counters()
        self.use_shared_caches()
        return rows

    def compile_part(self, part):
        """Returns the table, or None after errors."""
        for words, origin in self.compile_head(part):
            if is_row(words):
                self.compile_row_line(words, origin)
            else:
                self.compile_statement(words, origin)
        for line in part.rows:
            self.compile_row_line(line, (part, 0))
        self.finish_table()
        return None if self.errors else self.table

    def compile_statement(self, words, origin):
        """Calls the method of a statement of a head."""
        self.origin = origin
        word = words[0]
        method = getattr(self, "do_" + word.raw, None) if NAME.fullmatch(word.raw) else None
        if not method:
            self.report_error(word.get_position(), "unknown statement '%s'" % word.raw)
            return
        try:
            method(words)
        except StatementError as e:
            self.report_error(e.where, e.text)

    # ---- rows ------------------------------------------------------------------------------------

    def use_shared_caches(self):
        """Uses the caches of all tables with the same fields, groups and counters, in which words
        have the same meaning. Called again after a row adds a field."""
        t = self.table
        self.n_fields = len(t.fields)
        key = tuple([(f.name, f.kind, f.min, f.max, tuple([(w.name, w.value) for w in f.words]))
                     for f in t.fields]), \
            tuple(self.groups.items()), tuple(self.registers.items()), t.get_all_counters(), \
            t.encoder
        self.meanings, self.together = MEANINGS.setdefault(key, ({}, {}))

    def compile_row_line(self, line, origin):
        """Adds a row from its words. Parses it as tokens again to locate an error."""
        said = line.split_row()
        if not said or not self.enter_plain_row(line, *said, origin[1]):
            tokens_ = line.make_tokens(self.errors)
            if tokens_:
                self.compile_statement(tokens_, origin)

    def enter_plain_row(self, line, metric, name, words, desc, detail, depth):
        """Adds a row whose words are all known. Returns False without a change otherwise."""
        names, number, folded = self.names, len(self.rows), pt.fold(name)
        if not folded or folded in names or not (desc or metric or self.texts_family):
            return False
        if len(self.table.fields) != self.n_fields:
            self.use_shared_caches()
        together = self.together.get(words) or self.parse_word_set(words, line, metric)
        if together is None:
            return False
        values, on, named, flags, row_groups, aliases = together
        flags |= pt.ROW_METRIC if metric else self.default_flags
        if aliases and not self.enter_plain_names(line, aliases, flags, number, depth):
            return False
        if not flags & pt.ROW_SHADOWED:
            names.setdefault(folded, (name, line, number, depth))
        if detail is not None:
            values = [*values, (self.find_field_index(None, "detail"), pt.ANY_COUNTER, detail)]
        self.rows.append(
            pt.Row(name, desc,
                   self.find_row_counters(on, named, metric) if named or on is None else on, values,
                   self.default_groups if row_groups is None else row_groups, flags, aliases, line))
        return True

    def enter_plain_names(self, line, aliases, flags, number, depth):
        """Adds aliases of a row. Returns False without a change if one is not possible."""
        folded = [pt.fold(a) for a in aliases]
        if flags & pt.ROW_SHADOWED or any(not f or self.names.get(f, (0, 0, number))[2] != number
                                          for f in folded):
            return False
        self.names.update((f, (a, line, number, depth)) for f, a in zip(folded, aliases))
        return True

    def parse_word_set(self, words, line, metric):
        """Parses a set of words that no earlier row had. Returns (values, counters of `on`,
        counters named by values, flags, groups, aliases); None after an error."""
        means = [self.meanings.get(w) or self.parse_word(w, line) for w in words]
        if not all(means) or len({m[0] for m in means}) != len(words):
            return None
        values, on, named, flags, row_groups, aliases = [], None, 0, 0, None, ()
        for _, kind, what, bits in means:
            if kind == "values":
                values += what
                named |= bits
            elif kind == "on":
                on = what
            elif kind == "flags":
                flags |= what
            elif kind == "groups":
                row_groups = what
            else:
                aliases = what
        together = values, on, named, flags, row_groups, aliases
        if not metric:              # metrics have long texts, which rarely repeat
            self.together[words] = together
        return together

    def parse_word(self, w, line):
        """Returns find_word_meaning() of a word that no earlier row had, "KEY=VALUE" or (KEY,
        VALUE); None after an error."""
        m = None if type(w) is str else self.parse_number_word(*w)
        if m:
            self.meanings[w] = m
            return m
        word = w if type(w) is str else "%s=%s" % w if type(w[1]) is str else "%s=0x%x" % w
        try:
            m = self.parse_plain_word(word) or self.find_word_meaning(
                Token(word, line.file, line.number, 1))
        except StatementError:
            return None
        if type(m[2]) is Token:
            m = *m[:2], tuple([a.get_text() for a in m[2].split_list()]), 0
        if len(self.table.fields) != self.n_fields:
            self.use_shared_caches()
        if len(word) < LONG:
            self.meanings[w] = m
        return m

    def parse_number_word(self, key, n):
        """Returns find_word_meaning() of a number that fits its field; None for other words."""
        at = self.table.field_at.get(key)
        f = self.table.fields[at] if at is not None and type(
            n) is int and key not in SEVERAL else None
        return (key, "values", [(at, pt.ANY_COUNTER, n)],
                0) if f and f.kind == pt.NUMBER and f.min <= n <= f.max else None

    def parse_plain_word(self, w):
        """Returns find_word_meaning() of frequent words: a number that fits, a text, or aliases;
        None for other words."""
        key, equals, value = w.partition("=")
        at = self.table.field_at.get(key)
        if at is None:
            return (key, "alias", tuple(value.split(",")),
                    0) if key == "alias" and equals and '"' not in value else None
        if key in SEVERAL:
            return self.parse_register_word(value) if key == "msr" else None
        f = self.table.fields[at]
        if f.kind == pt.TEXT and value[:1] == '"' and value.count(
                '"') == 2 and value[-1] == '"' and "\\" not in value:
            return key, "values", [(at, pt.ANY_COUNTER, value[1:-1])], 0
        return self.parse_number_word(key, int(value, 0)) if PLAIN_NUMBER.fullmatch(value) else None

    def parse_register_word(self, value):
        """Returns the meaning of an extra register and its value."""
        m, t = PLAIN_PAIR.fullmatch(value), self.table
        if not m:
            return None
        number, setting = int(m[1], 0), int(m[2], 0)
        known = self.registers.get(number)
        values = [(t.field_at.get(key), pt.ANY_COUNTER, n) for key, n in (
            *([(known, setting)] if known else []), ("msr", number), ("msr_value", setting))]
        fits = all(f is not None and t.fields[f].kind == pt.NUMBER
                   and t.fields[f].min <= n <= t.fields[f].max for f, _, n in values)
        return ("msr", "values", values, 0) if fits else None

    def find_row_counters(self, on, named, metric):
        """Returns the counters of a row with @on, and the values for the counters in @named
        only."""
        if on is None and not named:
            return 0 if metric else self.default_counters
        return (on or 0) | named

    def find_word_meaning(self, w):
        """Returns the meaning of a word of a row: (key, kind, value, counters it names)."""
        t = self.table
        key, value = w.split_pair()
        if value is None:
            raise StatementError(w.get_position(), "unknown word '%s'" % key)
        key, at, counter = key.partition("@")
        where, named = pt.ANY_COUNTER, 0
        if at:
            named = self.parse_counters(Token(counter, *w.get_position(len(key) + 1)))
            if named & (named - 1):
                raise StatementError(w.get_position(len(key) + 1), "one counter is needed here")
            where = named.bit_length() - 1
        if key in t.field_at or key not in ("on", "umasks", "alias", "hidden", "shadowed", "flags"):
            return w.raw.partition("=")[0], "values", self.parse_key_values(w, key, where,
                                                                            value), named
        if at:
            raise StatementError(w.get_position(), "'%s' takes no counter" % key)
        if key == "on":
            return key, "on", 0 if value.raw == "none" else self.parse_counters(value), 0
        if key == "umasks":
            return key, "groups", self.parse_groups(value), 0
        if key == "alias":
            return key, "alias", value, 0
        if key == "flags":
            return key, "flags", parse_row_flags(value, t.encoder), 0
        if value.parse_number() > 1:
            raise StatementError(value.get_position(),
                                 "%s does not fit %s (0..1)" % (value.raw, key))
        return key, "flags", pt.ROW_FLAGS[key] if value.parse_number() else 0, 0

    def parse_key_values(self, w, key, where, value):
        """The values of KEY=VALUE; some keys set several."""
        t = self.table
        if key == "alt" and ":" in value.raw:
            at = self.find_field_index(w, key)
            return [(at, where, check_fit(t.fields[at], pack_alternative(part), part))
                    for part in value.split_list()]
        if key == "msr" and ":" in value.raw:
            number, setting = value.split_list(":")[:2]
            msr, n = number.parse_number(), setting.parse_number()
            out = [(self.find_field_index(w, "msr"), where,
                    self.parse_field_value(t.fields[self.find_field_index(w, "msr")], number)),
                   (self.find_field_index(w, "msr_value"), where,
                    check_fit(t.fields[self.find_field_index(w, "msr_value")], n, setting))]
            if msr in self.registers:
                f = self.find_field_index(w, self.registers[msr])
                out.insert(0, (f, where, self.parse_field_value(t.fields[f], setting)))
            return out
        f = self.find_field_index(w, key)
        return [(f, where, self.parse_field_value(t.fields[f], value))]

    def enter_name(self, text, token, row):
        """Adds a name. It replaces a row of that name from a deeper `use`; any other row of that
        name is an error."""
        folded = pt.fold(text)
        if not folded:
            raise StatementError(token.get_position(), "an empty name")
        before = self.names.get(folded)
        if before and before[2] == row:
            return
        if before:
            at = before[1]
            line = at.line if type(at) is Token else at.number
            raise StatementError(
                token.get_position(), "'%s' is the same name as '%s' in line %d%s" %
                (text, before[0], line,
                 "" if at.file == token.file else " of " + os.path.basename(at.file)))
        self.names[folded] = text, token, row, self.origin[1]

    def drop_row(self, row):
        """Removes a row and its names."""
        self.rows[row] = None
        self.names = {k: v for k, v in self.names.items() if v[2] != row}

    def do_event(self, words):
        """Adds an event or a metric."""
        if len(words) < 2:
            raise StatementError(words[0].get_position(), "event needs a name")
        metric = words[0].raw in ("metric", "ratio")
        name = words[1].get_text()
        if "," in name:
            raise StatementError(words[1].get_position(),
                                 "a name with a comma: no text could ask for it")
        if pt.has_letter_with_value(pt.fold(name)):
            raise StatementError(words[1].get_position(),
                                 "a part of the name reads as a modifier with a value")
        number = len(self.rows)
        before = self.names.get(pt.fold(name))
        if before and before[3] > self.origin[1] and type(before[2]) is int:
            number = before[2]
            self.drop_row(number)
        else:
            self.rows.append(None)
        texts_, values, aliases, given = [], [], [], set()
        flags = pt.ROW_METRIC if metric else self.default_flags
        on, named, row_groups = None, 0, self.default_groups
        for w in words[2:]:
            try:
                if w.is_text():
                    texts_.append(w)
                    continue
                key, kind, what, bits = self.find_word_meaning(w)
                if key in given:
                    raise StatementError(w.get_position(), "'%s' is given twice" % key)
                given.add(key)
                named |= bits
                if kind == "values":
                    values += what
                elif kind == "on":
                    on = what
                elif kind == "groups":
                    row_groups = what
                elif kind == "alias":
                    aliases += what.split_list()
                else:
                    flags |= what
            except StatementError as e:
                self.report_error(e.where, e.text)
        if not (metric or self.texts_family) and (not texts_ or not texts_[0].get_text()):
            self.report_error(words[1].get_position(), "missing description of event '%s'" % name)
        elif len(texts_) > 2:
            self.report_error(texts_[2].get_position(),
                              "an event has a description and one longer text")
        elif len(texts_) == 2:
            values.append((self.find_field_index(texts_[1],
                                                 "detail"), pt.ANY_COUNTER, texts_[1].get_text()))
        row = pt.Row(name, texts_[0].get_text() if texts_ else "",
                     self.find_row_counters(on, named, metric), values, row_groups, flags, (),
                     words[1])
        if not flags & pt.ROW_SHADOWED:
            self.enter_name(name, words[1], number)
            for a in aliases:
                try:
                    self.enter_name(a.get_text(), a, number)
                    row.aliases += (a.get_text(),)
                except StatementError as e:
                    self.report_error(e.where, e.text)
        elif aliases:
            self.report_error(aliases[0].get_position(), "a shadowed event has no names")
        self.rows[number] = row

    do_metric = do_event

    def do_ratio(self, words):
        """Keeps a ratio for enter_ratios()."""
        if len(words) < 3 or not words[2].raw.startswith("metric="):
            raise StatementError(words[-1].get_position(),
                                 "ratio takes a name and its formula: metric=")
        self.ratios.append((words, self.origin))

    def enter_ratios(self):
        """Adds ratios whose events this table has as metrics; the first one of a name."""
        for words, origin in self.ratios:
            formula = re.sub(r":[a-z]+=\w+", "", words[2].raw.partition("=")[2])
            needed = set(re.findall(r"#?[A-Za-z_][A-Za-z0-9_.]*", formula))
            needed = {n for n in needed if n not in RATIO_WORDS and n[0] != "#"}
            self.origin = origin
            if pt.fold(words[1].get_text()) not in self.names and all(pt.fold(n) in self.names
                                                                      for n in needed):
                self.do_event(words)

    def do_drop(self, words):
        """Removes what came by use."""
        if len(words) < 2:
            raise StatementError(words[0].get_position(), "drop needs a name")

        def drop_name(w):
            """Removes one name."""
            found = self.names.get(pt.fold(w.get_text()))
            if not found:
                raise StatementError(w.get_position(),
                                     "nothing of the name '%s' to drop" % w.get_text())
            if type(found[2]) is int:
                self.drop_row(found[2])
            else:
                del self.names[pt.fold(w.get_text())]
                self.waiting = [x for x in self.waiting if x[1] is not found[1]]
        self.visit_words(words[1:], drop_name)

    def do_synonym(self, words):
        """Adds another name of an event."""
        if len(words) != 3:
            raise StatementError(words[-1].get_position(), "synonym takes a name and an event")
        self.enter_name(words[1].get_text(), words[1], words[1])
        self.waiting.append(("synonym", words[1], words[2]))

    def do_unsupported(self, words):
        """Adds a name that is refused."""
        if len(words) != 3 or not words[2].is_text() or not words[2].get_text():
            raise StatementError(words[-1].get_position(),
                                 "unsupported takes a name and the reason as text")
        self.enter_name(words[1].get_text(), words[1], words[1])
        self.waiting.append(("unsupported", words[1], words[2]))

    # ---- the end ---------------------------------------------------------------------------------

    def drop_absent_counters(self):
        """Drops counters that an Arm core does not have: those after the last one that an event
        uses. An event that is given by its number would be placed there."""
        t = self.table
        if dict(t.features).get("cycle_counter") != ARM_CYCLE_COUNTER or not t.rows:
            return
        used = functools.reduce(operator.or_, (row.counters for row in t.rows)) & ~(
            1 << ARM_CYCLE_COUNTER)
        last = used.bit_length() - 1
        t.counters = [
            pt.Counter(c.first, last, c.width, c.fixed, c.control, c.value, c.step)
            if c.first <= last < c.last < ARM_CYCLE_COUNTER else c for c in t.counters]

    def finish_table(self):
        """Resolves what waited for all rows, and checks the table."""
        self.enter_ratios()
        t = self.table
        t.rows = [row for row in self.rows if row]
        index = {number: i for i, number in enumerate(n for n,
                                                      row in enumerate(self.rows)
                                                      if row)} if self.waiting else {}
        for kind, name, what in self.waiting:
            if kind == "unsupported":
                t.unsupported.append((name.get_text(), what.get_text()))
                continue
            found = self.names.get(pt.fold(what.get_text()))
            if not found or type(found[2]) is not int:
                self.report_error(what.get_position(), "no event '%s'" % what.get_text())
            else:
                t.synonyms.append((name.get_text(), index.get(found[2], 0)))
        if not self.named:
            return
        if not self.encoder_set:
            self.report_error(self.at_name, "no encoder is given")
        if not t.rows and not self.errors:
            self.report_error(self.at_name, "a table without events")
        t.texts_family = self.texts_family or ""
        self.drop_absent_counters()
        self.finish_errata()
        if self.texts_family and event_texts and not self.errors:
            self.add_descriptions()
        if not self.errors:
            for text in t.check_head() + ([pt.TOO_MANY] if t.has_too_many(self.names) else []):
                self.report_error(self.at_name, text)
            for row in t.rows if max(map(len,
                                         [row.values for row in t.rows])) > pt.MAX_VALUES else ():
                if len(row.values) > pt.MAX_VALUES:
                    self.report_error(locate_row(row.where), "more than %d values" % pt.MAX_VALUES)

    def add_descriptions(self):
        """Adds our descriptions to rows without one."""
        t, takers = self.table, {}
        for row in t.rows:
            if not row.desc and row.flags & pt.ROW_METRIC:
                self.add_metric_description(row)
            elif not row.desc:
                facts = {t.fields[f].name: v for f, _, v in row.values}
                facts["core"] = t.name
                row.desc = event_texts.describe_event(
                    self.texts_family, t.unit, row.name, facts) or ""
            for g in row.groups:
                takers.setdefault(g, []).append(row.name)
        for g, events in takers.items():
            self.add_mask_descriptions(events, t.groups[g])

    def add_metric_description(self, row):
        """Adds the description of a metric from the files of metrics, because it cannot be composed
        from its name."""
        row.desc = event_texts.find_metric_text(row.name) or ""
        if not row.desc and event_texts.load_metric_texts():
            self.report_error(locate_row(row.where), "metric '%s' needs a description here "
                              "or in texts/metrics.txt" % row.name)

    def add_mask_descriptions(self, events, group):
        """Describes unit masks as if the event's name included them; masks of a group that several
        events share are described alone."""
        t, facts = self.table, {"core": self.table.name}
        for w in group.words:
            if not w.desc:
                descriptions = {
                    event_texts.describe_event(
                        self.texts_family, t.unit, "%s.%s" % (event, w.name), facts)
                    for event in events
                }
                w.desc = (descriptions.pop() if len(descriptions) == 1 else
                          event_texts.describe_mask(self.texts_family, t.unit, events[0], w.name,
                                                    facts)) or ""


def locate_row(where):
    """Position of a row that its line or its token gives."""
    return where.get_position() if type(where) is Token else (where.file, where.number, 1)


def pack_alternative(token):
    """Packs CODE:UMASK:REGISTER, an alternative encoding of the event."""
    parts = [p.parse_number() for p in token.split_list(":")]
    if len(parts) != 3 or parts[0] > 0xFFFF or parts[1] > 0xFFFF or parts[2] > pt.ANY32:
        raise StatementError(token.get_position(), "an alternative is CODE:UMASK:REGISTER")
    return parts[0] | parts[1] << 16 | parts[2] << 32


# ---- all of them ---------------------------------------------------------------------------------

def compile_parts(library, parts, errors, is_needed):
    """Compiles the requested `pmu` parts. Sections are used by other parts."""
    tables = []
    for part in parts:
        if part.section or not is_needed(part):
            continue
        c = Compiler(library)
        table = c.compile_part(part)
        errors += c.errors
        if table:
            tables.append((table, c.at_name))
    return tables


def get_row_position(row):
    """Position of a row's statement: (file, line, column)."""
    return locate_row(row.where)


def get_part_names(part):
    """The names of a table and of its processor, as declared in its own statements."""
    return [part.name] + [w.raw for s in part.statements if type(s) is list
                          and s[0].raw in ("alias", "family") for w in s[1:]]


def is_kernel_part(part):
    """True for tables of the kernel's own events."""
    return any(type(s) is list and [w.raw for w in s] == ["encoder", "perf"]
               for s in part.statements)


def select_parts(parts, is_meant):
    """Selects the parts whose names satisfy @is_meant, all other parts of their processors, which
    metrics may refer to, and the kernel's own events."""
    if not is_meant:
        return lambda part: True
    families_ = {get_family(p.name) for p in parts if not p.section and is_meant(get_part_names(p))}
    return lambda part: get_family(part.name) in families_ or is_kernel_part(part)


def compile_all(paths, is_meant=None, extend=None, is_whole=False):
    """Returns (tables, files read, errors) of all processors, or of those whose names satisfy
    @is_meant. @extend adds rows to the tables before metrics are compiled, and reports
    errors. @is_whole: the files are
    all that come with the library, so each event of its errata must be in one of them."""
    library, tables, errors, taken, read = Library(), [], [], {}, []
    for path in paths:
        try:
            read.append((path, library.read_parts(path)))
        except StatementError as e:
            errors.append((e.where, e.text))
    is_needed = select_parts([p for _, parts in read for p in parts], is_meant)
    for path, parts in read:
        if not parts:
            errors.append(((path, 1, 1), "an empty file"))
        for table, at in compile_parts(library, parts, errors, is_needed):
            for name in [table.name] + table.aliases:
                # Aliases of a view may be names of a processor with its own table, which takes
                # precedence in look-ups.
                if name in taken and (name == table.name
                                      or not (table.flags | taken[name][1]) & pt.TABLE_COMPAT_VIEW):
                    errors.append((at,
                                   "the name '%s' belongs to %s already" % (name, taken[name][0])))
                taken.setdefault(name, (path, table.flags))
            tables.append(table)
    if extend:
        extend(tables, lambda where, text: errors.append(
            (get_row_position(where) if isinstance(where, pt.Row) else where, text)))
    compile_metrics(
        tables, lambda t, row, key, why: errors.append((get_row_position(row), "metric '%s': %s" %
                                                        (row.name, why))),
        lambda row, key, why: errors.append((get_row_position(row), "threshold of '%s': %s" %
                                             (row.name, why))))
    if is_whole and not is_meant:
        folder = library.read_errata()
        errors += [*folder.errors, *folder.unused.items()]
    seen = set()
    unique = [e for e in errors + library.errors if not (e in seen or seen.add(e))]
    return tables, sorted(library.files), unique
