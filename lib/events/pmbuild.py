# SPDX-License-Identifier: MIT
"""From what a list says to tables.

    Draft     one event on its way to a row: the keys its list has, the values made of them so far
    Builder   one table while its rows arrive
    Reading   one model while its lists are read: its tables, its counts, and everything that could not be taken

Readers of a format are functions that take the Reading and fill its tables.
"""

import re

import pmtable as pt
from pmboxes import bits, intel_folder
from pmread import MAX_NAME, MAX_ROWS, NUMBER, Refused, clean, content, nothing, parse_json, take

ANY = pt.ANYWHERE
REPLACED = re.compile(r"[Rr]efer to new event ([A-Za-z0-9_.:=]+)")
SCALE_UNIT = re.compile(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(.*)", re.S)
FILTER_TERM = r"[a-z0-9_]+=0?[xX]?[0-9a-fA-F]+"
FILTER_TERMS = re.compile(r"\s*(?:%s)(?:\s*,\s*%s)*\s*" % (FILTER_TERM, FILTER_TERM))


class Builder:
    """A table, and what is needed while its rows arrive."""

    def __init__(self, name, desc, encoder):
        self.t = pt.Table(name, desc, encoder)
        self.at = self.t.field_at
        self.seen = {}          # folded name -> row
        self.used = 0           # counters of all rows
        self.general = None     # number of general counters, when a list says so
        self.fixed = None
        self.open_rows = []     # rows whose counters are "all general ones"
        self.width = 48

    def field(self, name, at=None, width=64, kind=pt.NUMBER, modifier=False, **more):
        return self.t.add_field(pt.Field(name, kind, width, bits(at) if at else (), modifier, **more))

    def text(self, name):
        """Index of a text field, made on first use."""
        index = self.at.get(name)
        return self.t.add_field(pt.Field(name, pt.TEXT, 32)) if index is None else index

    def plain(self, name, width):
        """Index of a number that no register holds, made on first use."""
        index = self.at.get(name)
        return self.t.add_field(pt.Field(name, pt.NUMBER, width)) if index is None else index

    def add(self, row):
        """Enters a row. Raises Refused if its name is taken."""
        if len(self.t.rows) >= MAX_ROWS:
            raise Refused("EventName", "more than %d rows" % MAX_ROWS)
        folded = pt.fold(row.name)
        if not folded:
            raise Refused("EventName", "an empty name")
        other = self.seen.setdefault(folded, row)
        if other is not row:
            self.same_name(row, other, folded)
        if row.counters is None:
            self.open_rows.append(row)
        else:
            self.used |= row.counters
        self.t.rows.append(row)

    def same_name(self, row, other, folded):
        """Two rows whose names compare equal: if they also count the same, both stay and one of them answers to the
        name, the one that is not deprecated. Else the second is refused: the name would be ambiguous."""
        if other.name == row.name:
            raise Refused("EventName", "the list has this name twice")
        if self.programming(row) != self.programming(other) or (row.flags ^ other.flags) & pt.ROW_METRIC:
            raise Refused("EventName", "the same name as '%s', with other values" % other.name)
        if other.flags & pt.ROW_DEPRECATED and not row.flags & pt.ROW_DEPRECATED and not other.aliases:
            other.flags |= pt.ROW_SHADOWED
            self.seen[folded] = row
        else:
            row.flags |= pt.ROW_SHADOWED

    def programming(self, row):
        """The values that say what a row counts, in an order of their own."""
        fields = self.t.fields
        return [v for v in sorted(row.values, key=lambda v: v[:2])
                if fields[v[0]].ranges or fields[v[0]].name in ("metric", "msr", "msr_value", "alt")]

    def alias(self, row, name):
        """One more name for @row, unless another row has it."""
        folded = pt.fold(name)
        if self.seen.setdefault(folded, row) is row and folded != pt.fold(row.name):
            row.aliases += (name,)

    def finish(self):
        """Counters are known when all rows are."""
        t = self.t
        if not t.counters:
            general = max(self.general or 0, (self.used & 0xFFFFFFFF).bit_length())
            fixed = max(self.fixed or 0, (self.used >> 32).bit_length())
            intel = t.encoder == "x86"       # AMD's counters are known from the start
            if general:
                control, value = (0x186, 0xC1) if intel else (0, 0)
                t.counters.append(pt.Counter(0, general - 1, self.width, False, control, value))
            if fixed:
                control, value = (0x38D, 0x309) if intel else (0, 0)
                t.counters.append(pt.Counter(0, fixed - 1, self.width, True, control, value))
        general = sum(c.bits() for c in t.counters if not c.fixed)
        for row in self.open_rows:
            row.counters = general
        return t


class Draft:
    """An event on its way to a row: what its list says of it, and the values made of that so far."""

    def __init__(self, b, name, e):
        self.b, self.name, self.e = b, name, e
        self.values = []
        self.flags = 0

    def number(self, key):
        """Value of a key; 0 if it is missing."""
        return take(NUMBER, self.e, key)

    def set(self, index, value):
        self.values.append((index, ANY, value))

    def text(self, field, text):
        self.set(self.b.text(field), text)

    def put(self, field, value, key):
        """A field's value, if the box has the field and it fits."""
        index = self.b.at.get(field)
        if index is None:
            raise Refused(key, "0x%x: this unit has no field '%s'" % (value, field))
        f = self.b.t.fields[index]
        if value > f.max:
            raise Refused(key, "0x%x does not fit the %d bits of '%s'" % (value, f.width, field))
        self.values.append((index, ANY, value))

    def put_key(self, key, field):
        """The same with the value of a key, unless that is 0."""
        text = self.e.get(key)
        if text is not None and text != "0":
            value = take(NUMBER, self.e, key)
            if value:
                self.put(field, value, key)

    def config1(self, value, key):
        """Filters that are given as a whole."""
        if value > pt.ALL64:
            raise Refused(key, "0x%x does not fit 64 bits" % value)
        if "config1" not in self.b.at:
            self.b.field("config1", "config1:0-63")
        self.set(self.b.at["config1"], value)

    def filters(self):
        """Filter is a remark in Intel's lists, terms in Linux's; FILTER_VALUE is what goes in the second filter."""
        second = self.number("FILTER_VALUE")
        if second:
            self.config1(second << 32, "FILTER_VALUE")
        text = self.e.get("Filter")
        if not text or nothing(text) or text.strip() == "0":
            return
        if not FILTER_TERMS.fullmatch(text):
            self.text("note", "filter: " + " ".join(text.split()))
            return
        for term in text.split(","):
            name, _, value = term.strip().partition("=")
            try:
                value = NUMBER[value]
            except ValueError as why:
                raise Refused("Filter", str(why)) from None
            if name == "config1":
                self.config1(value, "Filter")
            else:
                self.put(name, value, "Filter")

    def describe(self):
        """The short description; the long one becomes a value if it says more."""
        e = self.e
        brief = e.get("BriefDescription") or e.get("BriefDescript6ion") or ""
        brief = clean(brief) if brief else ""
        long = e.get("PublicDescription") or e.get("PublicDescrition") or ""
        if long:
            long = clean(long)
            if not brief:
                brief = long
            elif long != brief and long != self.name:
                self.text("detail", long)
        return brief or self.name

    def scale(self):
        """ScaleUnit: '64Bytes', a factor and what it gives."""
        text = self.e["ScaleUnit"]
        m = SCALE_UNIT.fullmatch(text)
        if not m:
            raise Refused("ScaleUnit", "'%s' is not a number and a unit" % text[:40])
        self.text("scale", m[1])
        unit = m[2].strip()
        if unit:
            self.text("unit", unit)

    def row(self, counters, file):
        """The row, with what all lists say alike: descriptions, errata, scale."""
        e = self.e
        desc = self.describe()
        if NUMBER[e.get("Deprecated", "0")]:
            self.flags |= pt.ROW_DEPRECATED
            m = REPLACED.search(desc)
            if m:
                self.text("replaced", m[1].rstrip("."))
        errata = e.get("Errata", "")
        if errata and not nothing(errata) and errata.strip() != "0":
            self.text("errata", " ".join(errata.split()))
        if "ScaleUnit" in e:
            self.scale()
        return pt.Row(self.name, desc, counters, self.values, (), self.flags, (), file)


class Reading:
    """A model while its lists are read."""

    def __init__(self, model):
        self.model = model
        self.intel = intel_folder(model.folder)     # its key in INTEL, or ''
        self.desc = ""
        self.builders = {}      # table name -> Builder, in the order they were begun
        self.cores = {}         # core's name, '' for the only one -> table name
        self.file = model.folder                    # what is being read, as users know it
        self.refused = []       # (file, event, key, reason)
        self.notes = []         # the same, for what was taken with a grain of salt
        self.grammars = {}      # id of a metric's row -> "intel" or "perf": what its expression is written in
        self.counts = {"core": 0, "uncore": 0, "metrics": 0, "masks": 0}

    def refuse(self, event, key, reason):
        self.refused.append((self.file, event or "-", key or "-", reason))

    def note(self, event, key, reason):
        self.notes.append((self.file, event or "-", key or "-", reason))

    def builder(self, name, make):
        """The table of that name, made by @make on first use."""
        b = self.builders.get(name)
        if b is None:
            b = self.builders[name] = make()
        return b

    def files(self, files):
        """(shown path, path below the model's folder, value) of each file that can be read."""
        for shown, inner, source in files:
            self.file = shown
            try:
                data = parse_json(content(source), self.note)
            except (ValueError, OSError) as why:
                self.refuse("-", "-", str(why))
            else:
                yield shown, inner, data

    def objects(self, items, do):
        """Calls @do for each object of a list; one bad object never costs the rest."""
        if not isinstance(items, list):
            self.refuse("-", "-", "a list of objects is expected")
            return
        for e in items:
            name = "-"
            try:
                if type(e) is not dict:
                    raise Refused("-", "not an object")
                name = e.get("EventName") or e.get("MetricName") or e.get("ArchStdEvent") or "-"
                name = name[:MAX_NAME] if type(name) is str else "-"
                do(e)
            except Refused as r:
                self.refuse(name, r.key, r.why)
            except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as why:
                self.refuse(name, "-", "not understood: %s" % why)

    def tables(self):
        """The finished tables, proven sound; rows that are not are refused."""
        sources = [b.t.source for b in self.builders.values() if b.t.source]
        out = []
        for b in self.builders.values():
            t = b.finish()
            self.drop_unsound(t)
            if t.rows:
                t.source = t.source or (sources[0] if sources else "intel/perfmon %s" % self.model.folder)
                out.append(t)
        return out

    def drop_unsound(self, t):
        bad = {}
        for i, why in t.check():
            if i is None:
                raise ValueError("table %s: %s" % (t.name, why))
            bad.setdefault(i, why)
        for i, why in bad.items():
            self.file = t.rows[i].where
            self.refuse(t.rows[i].name, "-", why)
            self.counts["uncore" if t.flags & pt.TABLE_UNCORE else "core"] -= 1
        if bad:
            t.rows = [r for i, r in enumerate(t.rows) if i not in bad]
