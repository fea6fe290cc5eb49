# SPDX-License-Identifier: MIT
"""Makes .pmu statements of the events of a list.

    EventDraft     an event that becomes a row: the keys of its list, and the values made of them
    Sheet          the statements of one table, while rows are added
    ModelReading   one model while its lists are read: its sheets, its counts, and what was refused

The reader of a format is a function that fills the sheets of a ModelReading. Only the compiler
makes tables of sheets.
"""

import functools
import operator
import re
from collections import Counter

from language import tables as pt
from language.table_compiler import Compiler, FilePart, get_row_position
from vendors.heads import LIBRARY, find_architecture, parse_bits, find_processor, build_skeleton
from language.meaning import compile_metrics
from vendors.untrusted import (
    MAX_NAME, MAX_ROWS, NUMBER, RefusedValue, clean_description, read_source, is_placeholder,
    parse_json)
from language.statements import split_statements, split_tokens

REPLACED = re.compile(r"[Rr]efer to new event ([A-Za-z0-9_.:=]+)")
SCALE_UNIT = re.compile(
    r"\s*((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*((?![0-9.]).*)",
                        re.S)
FILTER_TERM = r"[a-z0-9_]+=(?:0?[xX])?[0-9a-fA-F]+"
FILTER_TERMS = re.compile(r"\s*(?:%s)(?:\s*,\s*%s)*\s*" % (FILTER_TERM, FILTER_TERM))
WORD = re.compile(r'[^\s"#\\]+')
# keys outside of register fields that determine what a row counts
SAYS_WHAT = ("metric", "msr", "alt")
FLAG_NAMES = sorted(pt.ROW_FLAGS.items(), key=lambda f: f[1])
GENERAL = (1 << 32) - 1
SMALL = ("cpu_atom", "cpu_lowpower")        # the kernel's names of a hybrid's small cores
SENTENCES = frozenset(("desc", "topic"))


# ---- words of the language -----------------------------------------------------------------------

def quote_text(text):
    """Returns a text in quotes, on one line."""
    if "\\" in text or '"' in text or "\n" in text or "\r" in text:
        text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("\r", " ")
    return '"%s"' % text


def quote_word(text):
    """Returns a name as a word, in quotes if it would otherwise be parsed differently."""
    return text if WORD.fullmatch(text) else quote_text(text)


def quote_list_item(text):
    """Returns a name as an element of a comma-separated list."""
    return quote_text(text) if "," in text else quote_word(text)


@functools.lru_cache(1 << 10)
def format_counters(bits):
    """Formats a set of counters for `on`: 0..3,F1."""
    out = []
    for base, mark in ((0, ""), (32, "F")):
        n = 0
        while n < 32:
            if bits >> base + n & 1:
                last = n
                while last < 31 and bits >> base + last + 1 & 1:
                    last += 1
                out.append("%s%d" % (mark, n) if n == last else "%s%d..%d" % (mark, n, last))
                n = last
            n += 1
    return ",".join(out) or "none"


@functools.lru_cache(1 << 10)
def format_flags(flags):
    """Formats flags of a row for `flags`: NAME,NAME."""
    return ",".join(name for name, bit in FLAG_NAMES if flags & bit)


# ---- rows ----------------------------------------------------------------------------------------

class Entry:
    """A row. @values has numbers, and other values as words, texts in quotes; @counters is None for
    all general counters."""
    __slots__ = ("name", "desc", "detail", "counters", "values", "groups", "flags", "aliases",
                 "file")

    def __init__(self, name, desc, counters, values, flags, file, detail=""):
        """Keeps the values of a row of the list @file."""
        self.name, self.desc, self.detail, self.file = name, desc, detail, file
        self.counters, self.values, self.flags = counters, values, flags
        self.groups, self.aliases = (), ()

    def has_value(self, key):
        """True if the row has a value for @key."""
        return any(k == key for k, _ in self.values)

    def get_value(self, key):
        """Returns the value of @key, or None."""
        return next((v for k, v in self.values if k == key), None)

    def add_text(self, key, text):
        """Adds a text as the value of @key."""
        self.values = self.values + [(key, quote_text(text))]

    def find_statement(self):
        """Returns the statement that declares the row."""
        return "metric" if self.flags & pt.ROW_METRIC else "event"

    def format_row_words(self, counters, flags):
        """The words after the values. @counters and @flags are the table's defaults."""
        metric, parts = self.flags & pt.ROW_METRIC, []
        on = self.counters
        if on is not None and not metric and on != counters:
            parts.append("on=" + format_counters(on))
        own = self.flags & ~pt.ROW_METRIC & ~(0 if metric else flags)
        if own:
            parts.append("flags=" + format_flags(own))
        if self.groups:
            parts.append("umasks=" + ",".join(self.groups))
        if self.aliases:
            parts.append("alias=" + ",".join(map(quote_list_item, self.aliases)))
        return parts

    def format_line(self, counters, flags, facts):
        """The row's line. @counters and @flags are the table's defaults."""
        parts = [self.find_statement(), quote_word(self.name)]
        for key, value in self.values:
            if key not in facts:
                parts.append(key + "=" +
                             (value if type(value) is str else format_number_word(value)))
        parts += self.format_row_words(counters, flags)
        if "desc" not in facts:
            parts += map(quote_text, filter(None, (self.desc, self.detail)))
        return " ".join(parts)


class EntryLine:
    """The line of a row for the compiler, made without text: split_row()
    returns the row's values as pairs."""
    __slots__ = ("file", "number", "row", "counters", "flags")

    def __init__(self, file, number, row, counters, flags):
        """Keeps @row, which is in line @number of @file."""
        self.file, self.number, self.row, self.counters, self.flags = (
            file,
            number,
            row,
            counters,
            flags,
        )

    def split_row(self):
        """Returns (is it a metric, name, values and further words, description, detail)."""
        row = self.row
        words = row.values
        if row.flags != self.flags or row.counters != self.counters or row.groups or row.aliases:
            words = words + row.format_row_words(self.counters, self.flags)
        return row.flags & pt.ROW_METRIC, row.name, tuple(words), row.desc, row.detail or None

    def make_tokens(self, errors):
        """Returns the words of the line, for messages that name a column."""
        return next(
            split_tokens(self.row.format_line(self.counters, self.flags, ()), self.file, errors,
                         self.number), [])


TEXTS = frozenset(key for key, (_, text) in pt.read_keys().items() if text)


@functools.lru_cache(1 << 16)
def format_number_word(n):
    """Returns a number as a word: numbers below 10 in decimal."""
    return str(n) if n < 10 else "0x%x" % n


# ---- tables --------------------------------------------------------------------------------------

class Sheet:
    """The statements of one table, and state for adding its rows."""

    def __init__(self, name, desc, uses):
        """Begins a table that uses the sections @uses of lib/events/heads."""
        self.name, self.desc, self.uses = name, desc, list(uses)
        head, self.registers = build_skeleton(uses)
        self.at = {f.name: f for f in head.fields}      # fields by name
        self.encoder = head.encoder
        self.known = head.get_all_counters()                # counters that the head has
        self.device, self.unit, self.source = "", "", ""
        self.family_name = ""         # the processor of this part
        self.perf_type = -1
        self.uncore = False
        self.aliases, self.extra, self.matches, self.groups, self.features = [], [], [], [], []
        self.rows = []
        self.seen = {}          # folded name -> row
        self.used = 0           # counters of all rows
        self.general = None     # number of general counters, if a list has it
        self.fixed = None
        self.htoff = 0          # counters of all rows with hyper-threading off
        self.width = 48
        self.waiting = []       # (row, name): aliases to add unless a row has the name
        self.same_as = None     # the sheet whose rows this one shares
        self.threshold = ""     # a box's field for thresholds
        self.titled = set()     # names of rows that are made of titles

    def declare_field(self, name, at, width=64):
        """Declares a field of the list that the head lacks."""
        if name not in self.at:
            self.extra.append("field %s %s" % (name, "at=" + at if at else "bits=%d" % width))
            self.at[name] = pt.Field(name, ranges=parse_bits(at) if at else (), width=width)

    def add_row(self, row):
        """Adds a row. Raises RefusedValue if its name exists."""
        if len(self.rows) >= MAX_ROWS:
            raise RefusedValue("EventName", "more than %d rows" % MAX_ROWS)
        folded = pt.fold(row.name)
        if not folded:
            raise RefusedValue("EventName", "an empty name")
        if "," in row.name:
            raise RefusedValue("EventName", "has a comma: no text could ask for it")
        if pt.has_letter_with_value(folded):
            raise RefusedValue("EventName", "has a part that reads as a modifier with a value")
        other = self.seen.setdefault(folded, row)
        if other is not row:
            self.resolve_same_name(row, other, folded)
        if row.counters is not None:
            self.used |= row.counters
        self.rows.append(row)

    def resolve_same_name(self, row, other, folded):
        """Handles two rows whose names compare equal. If both count the same, both stay and the one
        that is not deprecated gets the name. Otherwise the second one is refused, because the name
        would be ambiguous."""
        if other.name == row.name:
            raise RefusedValue("EventName", "the list has this name twice")
        if self.list_selecting_values(row) != self.list_selecting_values(other) or (
                row.flags ^ other.flags) & pt.ROW_METRIC:
            raise RefusedValue("EventName", "the same name as '%s', with other values" % other.name)
        if (
            other.flags & pt.ROW_DEPRECATED
            and not row.flags & pt.ROW_DEPRECATED
            and not other.aliases
        ):
            other.flags |= pt.ROW_SHADOWED
            self.seen[folded] = row
        else:
            row.flags |= pt.ROW_SHADOWED

    def list_selecting_values(self, row):
        """The values that determine what a row counts, sorted."""
        return sorted((k, str(v)) for k,
                      v in row.values if k in SAYS_WHAT or k in self.at and self.at[k].ranges)

    def add_alias(self, row, name):
        """Adds a name to @row unless another row has it."""
        folded = pt.fold(name)
        if self.seen.setdefault(folded, row) is row and folded != pt.fold(row.name):
            row.aliases += (name,)

    # ---- as text ---------------------------------------------------------------------------------

    def format_counter_lines(self):
        """Returns (lines that declare counters, set of general counters). Call it after all rows
        are added."""
        if self.known:
            return [], self.known & GENERAL
        general = max(self.general or 0, (self.used & GENERAL).bit_length())
        fixed = max(self.fixed or 0, (self.used >> 32).bit_length())
        intel = self.encoder == "x86"       # AMD's counters are known from the start
        lines = []
        if general:
            lines.append("counter %s width=%d%s"
                         % (format_counter_range("", general), self.width,
                            " control=0x186 value=0xc1" if intel else ""))
        if fixed:
            lines.append("counter %s width=%d%s"
                         % (format_counter_range("F", fixed), self.width,
                            " control=0x38d value=0x309" if intel else ""))
        return lines, (1 << general) - 1

    def format_identity(self):
        """Lines with the names of the table."""
        out = ["pmu %s %s" % (self.name, quote_text(self.desc or self.name))]
        if self.aliases:
            out.append("alias " + " ".join(dict.fromkeys(a
                                                         for a in self.aliases if a != self.name)))
        out.append("source " + quote_text(self.source))
        if self.family_name:
            out.append("family " + self.family_name)
        if self.unit:
            out.append("%s %s" % ("uncore" if self.uncore else "core_unit", quote_text(self.unit)))
        if self.device:
            out.append("device " + quote_word(self.device))
        if self.perf_type >= 0:
            out.append("pmctype perf %d" % self.perf_type)
        return out + list(dict.fromkeys(self.matches))

    def format_body(self, facts=frozenset()):
        """Lines of the head, then of the rows."""
        out, counters, flags = self.format_head(facts)
        return out + [row.format_line(counters, flags, facts) for row in self.rows]

    def format_head(self, facts=frozenset()):
        """Returns (lines of the head, default counters and default flags of rows)."""
        counters, general = self.format_counter_lines()
        out = ["use " + u for u in self.uses] + self.extra + counters + self.features + [
            g.format_line(facts) for g in self.groups
        ]
        on, flags = self.find_defaults(general)
        default = ["on=" + format_counters(on)] if on is not None else []
        default += ["flags=" + format_flags(flags)] if flags else []
        if default:
            out.append("default " + " ".join(default))
        known = self.known or sum(c
                                  for c in (general,
                                            ((1 << (self.used >> 32).bit_length()) - 1) << 32))
        for row in self.rows:
            if row.counters is None:
                row.counters = general
        return out, known if on is None else on, flags

    def format_lines(self, file, start):
        """Returns (lines before the rows, EntryLines of the rows). The table begins in line @start
        of @file."""
        first, *rest = self.format_identity()
        if self.same_as:
            return [first, "use " + self.same_as.name, *rest], []
        head, counters, flags = self.format_head()
        lines = [first, *rest, *head]
        return lines, [EntryLine(file, number, row, counters, flags) for number,
                       row in enumerate(self.rows, start + len(lines))]

    def find_defaults(self, general):
        """Returns (counters, flags) of most rows; None for the counters of the table."""
        events = [row for row in self.rows if not row.flags & pt.ROW_METRIC]
        sets = Counter([general if row.counters is None else row.counters for row in events])
        flags = functools.reduce(operator.and_, [row.flags for row in events]) if events else 0
        return max(sets, key=sets.get, default=None), flags


def has_table_rows(sheet):
    """True if a table can be made: it has rows of its own or uses those of another one."""
    return bool(sheet.rows or (sheet.same_as and sheet.same_as.rows))


def format_counter_range(mark, n):
    """Formats @n counters that begin with 0, with @mark before the first."""
    return "%s0..%d" % (mark, n - 1) if n > 1 else mark + "0"


class MaskGroup:
    """Unit masks that a list gives separately: words are (name, value, text)."""

    def __init__(self, name, field, words, required):
        """Keeps a group; @required: an event has one of its masks."""
        self.name, self.field, self.words, self.required = name, field, words, required

    def format_line(self, facts):
        """Formats the statement of the group. @facts: keys to leave out."""
        out = ["group %s any field=%s%s"
               % (self.name, self.field, " default=!" if self.required else "")]
        for name, value, desc in self.words:
            out.append("%s=0x%x%s"
                       % (name, value,
                          ":" + quote_text(desc) if desc and "desc" not in facts else ""))
        return " ".join(out)


class EventDraft:
    """An event that becomes a row: the keys of its list, and the values made of them so far."""
    __slots__ = ("sheet", "name", "event", "values", "flags", "detail")

    def __init__(self, sheet, name, event):
        """Begins a row of @sheet for the object @event of a list."""
        self.sheet, self.name, self.event = sheet, name, event
        self.values = []
        self.flags = 0
        self.detail = ""

    def get_number(self, key):
        """Number of a key; 0 if it is missing."""
        text = self.event.get(key, "0")
        if text == "0":
            return 0
        try:
            return NUMBER[text]
        except ValueError as why:
            raise RefusedValue(key, str(why)) from None

    def set_value(self, key, value):
        """Adds a value for @key."""
        self.values.append((key, value))

    def set_text(self, key, text):
        """Adds a text as the value of @key, which is declared if it is new."""
        if key not in TEXTS:
            self.declare_text(key)
        self.values.append((key, quote_text(text)))

    def declare_text(self, key):
        """Declares the field of a text that not all tables have."""
        if key not in self.sheet.at:
            self.sheet.extra.append("text " + key)
            self.sheet.at[key] = pt.Field(key, pt.TEXT, 32)

    def set_field(self, field, value, key):
        """Sets a field's value if the box has the field and the value fits."""
        f = self.sheet.at.get(field)
        if f is None:
            raise RefusedValue(key, "0x%x: this unit has no field '%s'" % (value, field))
        if value > f.max:
            raise RefusedValue(key,
                               "0x%x does not fit the %d bits of '%s'" % (value, f.width, field))
        self.values.append((field, value))

    def set_fields(self, fields):
        """Sets the fields of keys; omits zeros."""
        get = self.event.get
        for key, field in fields:
            if get(key, "0") != "0":
                value = self.get_number(key)
                if value:
                    self.set_field(field, value, key)

    def set_config1(self, value, key):
        """Sets filters that are given as a whole register."""
        if value > pt.ALL64:
            raise RefusedValue(key, "0x%x does not fit 64 bits" % value)
        self.sheet.declare_field("config1", "config1:0-63")
        self.set_value("config1", value)

    def set_filters(self):
        """Sets filters. Intel's lists have them as a remark, Linux's lists as terms; FILTER_VALUE
        is the value of the second filter register."""
        second = self.get_number("FILTER_VALUE")
        if second:
            self.set_config1(second << 32, "FILTER_VALUE")
        text = self.event.get("Filter")
        if not text or text == "0" or is_placeholder(text) or text.strip() == "0":
            return
        if not FILTER_TERMS.fullmatch(text):
            self.set_text("note", "filter: " + " ".join(text.split()))
            return
        for term in text.split(","):
            name, _, value = term.strip().partition("=")
            try:
                value = NUMBER[value]
            except ValueError as why:
                raise RefusedValue("Filter", str(why)) from None
            if name == "config1":
                self.set_config1(value, "Filter")
            else:
                self.set_field(name, value | self.pop_value(name), "Filter")

    def pop_value(self, key):
        """Removes and returns the value of a key. A list that sets it twice means both."""
        had = [v for k, v in self.values if k == key]
        self.values = [v for v in self.values if v[0] != key]
        return had[0] if had else 0

    def make_description(self):
        """Sets the short description, and the long one as detail if it says more."""
        e = self.event
        brief = e.get("BriefDescription") or e.get("BriefDescript6ion") or ""
        brief = clean_description(brief)
        long = clean_description(e.get("PublicDescription") or e.get("PublicDescrition") or "")
        if not brief:
            brief = long
        elif long and long not in (brief, self.name):
            self.detail = long
        return brief or self.name

    def parse_scale(self):
        """Parses ScaleUnit: '64Bytes' is a factor and a unit."""
        text = self.event["ScaleUnit"]
        m = SCALE_UNIT.fullmatch(text)
        if not m:
            raise RefusedValue("ScaleUnit", "'%s' is not a number and a unit" % text[:40])
        self.set_text("scale", m[1])
        unit = m[2].strip()
        if unit:
            self.set_text("unit", unit)

    def make_row(self, counters, file):
        """Makes the row, with what all lists have in common: descriptions, errata, scale."""
        e = self.event
        desc = self.make_description()
        if NUMBER[e.get("Deprecated", "0")]:
            self.flags |= pt.ROW_DEPRECATED
            m = REPLACED.search(desc)
            if m:
                self.set_text("replaced", m[1].rstrip("."))
        errata = e.get("Errata", "")
        if errata and not is_placeholder(errata) and errata.strip() != "0":
            self.set_text("errata", " ".join(errata.split()))
        if "ScaleUnit" in e:
            self.parse_scale()
        return Entry(self.name, desc, counters, self.values, self.flags, file, self.detail)


def get_object_name(e):
    """Name of a list's object for messages."""
    name = next((e[key] for key in ("EventName", "MetricName", "ArchStdEvent", "name")
                 if e.get(key)), "-") if type(e) is dict else "-"
    return name[:MAX_NAME] if type(name) is str else "-"


# ---- a model -------------------------------------------------------------------------------------

class ModelReading:
    """One model while its lists are read."""

    def __init__(self, model):
        """Begins without sheets; nothing has been read."""
        self.model = model
        self.processor = find_processor(model.folder)    # its Processor, or None
        self.arch = find_architecture(model.arch)
        self.intel = bool(self.processor) and self.processor.section.startswith("intel.")
        self.desc = ""
        self.builders = {}      # table name -> Sheet, in order of creation
        self.boxes = {}         # a list's name of a box -> Sheet
        self.cores = {}         # core's name, '' for the only one -> table name
        self.file = model.folder                    # shown path of the current file
        self.damaged = False    # a file could not be read
        self.refused = []       # (file, event, key, reason)
        self.notes = []         # like refused, for rows accepted with a warning
        # id of a metric's row -> "intel" or "perf": what its expression is written in
        self.grammars = {}
        self.counts = {"core": 0, "uncore": 0, "metrics": 0, "masks": 0}

    def report_refusal(self, event, key, reason):
        """Notes that @event is left out: its @key is the reason."""
        self.refused.append((self.file, event or "-", key or "-", reason))

    def report_note(self, event, key, reason):
        """Notes what was taken for @event in place of its @key."""
        self.notes.append((self.file, event or "-", key or "-", reason))

    def get_sheet(self, name, make):
        """The sheet of that name; @make makes it at first use."""
        sheet = self.builders.get(name)
        if sheet is None:
            sheet = self.builders[name] = make()
        return sheet

    def read_files(self, files):
        """Yields (shown path, path below the model's folder, value) of each readable file."""
        for shown, inner, source in files:
            self.file = shown
            try:
                data = parse_json(read_source(source), self.report_note)
            except (ValueError, OSError) as why:
                self.report_refusal("-", "-", str(why))
                self.damaged = True
            else:
                yield shown, inner, data

    def visit_objects(self, items, do):
        """Calls @do for each object of a list. An invalid object is reported and skipped."""
        if not isinstance(items, list):
            self.report_refusal("-", "-", "expected a list of objects")
            return
        for e in items:
            try:
                if type(e) is not dict:
                    raise RefusedValue("-", "not an object")
                do(e)
            except RefusedValue as r:
                self.report_refusal(get_object_name(e), r.key, r.why)
            except (ValueError, TypeError, KeyError, IndexError, AttributeError,
                    OverflowError) as why:
                self.report_refusal(get_object_name(e), "-", "not understood: %s" % why)

    def list_sheets(self):
        """The sheets with rows, big cores before small ones, each with a source."""
        sources = [sheet.source for sheet in self.builders.values() if sheet.source]
        out = [sheet for sheet in self.builders.values() if has_table_rows(sheet)]
        out.sort(key=lambda sheet: sheet.device in SMALL)
        for sheet in out:
            if sheet.name.startswith(self.model.name + "_"):
                sheet.family_name = self.model.name
            sheet.source = sheet.source or (sources[0] if sources
                                            else "intel/perfmon %s" % self.model.folder)
        return out

    def format_parts(self, facts=False):
        """Returns [(table, uncore, identity lines, other lines)] for .pmu files. @facts: omits
        sentences of vendors, and formulas of lists whose licence allows only facts."""
        out = []
        left_out = SENTENCES if facts else frozenset()
        for sheet in self.list_sheets():
            if facts and self.model.kind == "linux":
                sheet.rows = [r for r in sheet.rows if not r.flags & pt.ROW_METRIC]
            if facts:
                sheet.features = [f for f in sheet.features if self.model.kind == "intel"
                                  or not f.startswith("metricgroup")]
            if has_table_rows(sheet):
                out.append((sheet.name, sheet.uncore, sheet.format_identity(),
                            ["use " + sheet.same_as.name] if sheet.same_as
                            else sheet.format_body(left_out)))
        return out

    def compile_tables(self):
        """Returns the compiled tables. Rows that the compiler rejects are reported and left out."""
        sheets = self.list_sheets()
        file = self.model.name + ".pmu"
        while sheets:
            tables, errors, rows_of = self.compile_sheets(sheets, file)
            if not errors:
                self.compile_metrics(tables, errors)
            if not errors:
                return tables
            if not self.remove_bad_rows(rows_of, errors, file):
                raise ValueError("line %d: %s" % (errors[0][0][1], errors[0][1]))
            sheets = [sheet for sheet in sheets if has_table_rows(sheet)]
        return []

    @staticmethod
    def compile_sheets(sheets, file):
        """Returns (tables of the sheets, errors, [(sheet, lines of its rows)])."""
        tables, rows_of, start = [], [], 1
        parts = LIBRARY.files[file] = []
        for sheet in sheets:
            lines, rows = sheet.format_lines(file, start)
            parts.append(
                FilePart(file, sheet.name, False,
                         split_statements("\n".join(lines), file, LIBRARY.errors, start), rows))
            rows_of.append((sheet, rows))
            start += len(lines) + len(rows)
        errors = list(LIBRARY.errors)
        for part in parts:
            c = Compiler(LIBRARY)
            tables.append(c.compile_part(part))
            errors += c.errors
        LIBRARY.forget_file(file)
        return tables, errors, rows_of

    def compile_metrics(self, tables, errors):
        """Compiles formulas. A formula that cannot be compiled is an error of its line."""
        compile_metrics(tables, lambda t, row, key, why: errors.append(
            (get_row_position(row), why)),
                        lambda row, key, why: self.report_note(row.name, key, why))

    def remove_bad_rows(self, rows_of, errors, file):
        """Removes rows with errors from the sheets. False if an error belongs to no row."""
        bad = {}
        for (path, line, _), why in errors:
            if path != file:
                return False
            bad.setdefault(line, why)
        found = 0
        for sheet, rows in rows_of:
            at = {row.number: i for i, row in enumerate(rows)}
            for line in sorted(bad.keys() & at.keys(), reverse=True):
                row = sheet.rows.pop(at[line])
                self.file = row.file
                self.report_refusal(row.name, "-", bad[line])
                self.counts["metrics" if row.flags & pt.ROW_METRIC else "uncore" if sheet.uncore
                            else "core"] -= 1
                found += 1
        return found == len(bad)
