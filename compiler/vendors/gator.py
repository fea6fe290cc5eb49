# SPDX-License-Identifier: MIT
"""Lists of gator, the collector of Arm's Streamline: pmus.xml has processors and boxes with the
part numbers of MIDRs and the names of their counter sets, events-*.xml have the events of those.

Events have titles instead of names. A name is that of the comment before an event, else that of the
architecture's event with this number (section arm.codes of the heads), else the title's second part
if it is written like a name, else it is made of the title. The
files have no root element; nothing but elements, attributes and comments is accepted."""

import re
from xml.parsers import expat

from language import tables as pt
from vendors.drafts import Entry, MaskGroup, Sheet
from vendors.heads import LIBRARY, make_table_title
from vendors.hosts import add_match
from vendors.untrusted import (
    MAX_FILE, MAX_NAME, MAX_TEXT, RefusedValue, clean_description, read_source)

MAX_ELEMENTS = 100000
MAX_DEPTH = 16
MAX_OPTIONS = 64
ROOT = b"<gator>"
DECLARATION = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*<\?xml[^>]{0,200}\?>")
LIST = re.compile(rb"<(?:counter_set|category|pmus|event)\b")
SET = re.compile(rb"<(?:counter_set|category)\b[^>]{0,2000}?\b(?:name|counter_set)"
                 rb"\s*=\s*\"([^\"]{1,200})\"")
MNEMONIC = re.compile(r"[A-Z][A-Z0-9_]{1,99}")
NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20}")
CYCLES = 0x11
CYCLE_COUNTER = 0xFF        # the number of the counter for cycles before Armv8, in Linux too
FAMILIES = ("cortex", "neoverse")     # cores whose PMU the kernel calls armv8_ and their name
COMMON = 0x40               # numbers below have one meaning on cores of all versions


class Element:
    """An element: its tag, attributes, line, and the last comment before it."""

    def __init__(self, tag, attributes, line, comment):
        """Keeps an element that begins in line @line, after @comment."""
        self.tag, self.attributes, self.line, self.comment = tag, attributes, line, comment

    def get(self, key):
        """Returns an attribute, "" if it is missing."""
        return self.attributes.get(key, "")


class XmlReader:
    """Reads a file of elements. Raises ValueError with line and column."""

    def __init__(self):
        """Sets the handlers of a parser that refuses document types."""
        self.elements, self.depth, self.comment = [], 0, ""
        p = self.parser = expat.ParserCreate()
        p.StartElementHandler, p.EndElementHandler = self.begin, self.end
        p.CommentHandler = self.set_comment
        p.StartDoctypeDeclHandler = p.EntityDeclHandler = self.refuse_document_type

    def fail(self, why):
        """Raises ValueError with the line that is read."""
        raise ValueError("%s in line %d" % (why, self.parser.CurrentLineNumber))

    def refuse_document_type(self, *_):
        """Refuses the file."""
        self.fail("a document type, which could define entities: remove it")

    def set_comment(self, text):
        """Keeps a comment for the next element."""
        self.comment = text.strip()[:MAX_NAME]

    def begin(self, tag, attributes):
        """Adds an element, within the limits."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail("elements nested deeper than %d" % MAX_DEPTH)
        if len(self.elements) >= MAX_ELEMENTS:
            self.fail("more than %d elements" % MAX_ELEMENTS)
        if any(len(v) > MAX_TEXT for v in attributes.values()):
            self.fail("an attribute of more than %d characters" % MAX_TEXT)
        self.elements.append(Element(tag, attributes, self.parser.CurrentLineNumber, self.comment))
        self.comment = ""

    def end(self, _):
        """Leaves an element; the comment before it has no effect any more."""
        self.depth -= 1
        self.comment = ""

    def read(self, raw):
        """Returns the elements of a file, each before those inside it."""
        if len(raw) > MAX_FILE:
            raise ValueError("larger than %d bytes" % MAX_FILE)
        try:
            self.parser.Parse(ROOT + DECLARATION.sub(b"", raw) + b"</gator>", True)
        except expat.ExpatError as why:
            column = why.offset - (len(ROOT) if why.lineno == 1 else 0)
            raise ValueError("not XML: %s in line %d, column %d: correct the file" % (
                expat.ErrorString(why.code), why.lineno, column)) from None
        return self.elements[1:]


def is_gator_list(head):
    """True if @head begins a file of gator."""
    return LIST.search(head) is not None


def list_counter_sets(raw):
    """Names of the counter sets of an event file, without the ending of gator's generator."""
    return {name.decode("utf-8", "replace").removesuffix("_cnt") for name in SET.findall(raw)}


class Unit:
    """A processor or box of pmus.xml."""

    def __init__(self, attributes, uncore):
        """Keeps the attributes of a PMU."""
        self.id = attributes.get("id", "")
        self.title = attributes.get("core_name") or self.id
        self.set = attributes.get("counter_set") or self.id
        self.profile = attributes.get("profile", "")
        self.counters = attributes.get("pmnc_counters", "")
        self.uncore = uncore
        self.cpuids = [attributes["cpuid"]] if "cpuid" in attributes else []

    def table_name(self):
        """Returns the name of its table: its title in letters, digits and `_`."""
        return re.sub(r"[^a-z0-9_]+", "_", self.title.lower().replace("+", "plus"))


def read_units(raw):
    """Returns the units of pmus.xml that Linux can run on. Raises ValueError."""
    units = []
    for e in XmlReader().read(raw):
        if e.tag in ("pmu", "uncore_pmu"):
            units.append(Unit(e.attributes, e.tag == "uncore_pmu"))
        elif e.tag == "cpuid" and units:
            units[-1].cpuids.append(e.get("id"))
    return [u for u in units if u.title and not u.profile.endswith("m")]


def read_gator_lists(reading):
    """Reads the event files of a model, whose unit is that of pmus.xml or None."""
    for shown, _, source in reading.model.files:
        reading.file = shown
        try:
            elements = XmlReader().read(read_source(source))
        except (ValueError, OSError) as why:
            reading.report_refusal("-", "-", str(why))
            reading.damaged = True
            continue
        GatorList(reading, elements).read()


class GatorList:
    """The elements of a file while they are read."""

    def __init__(self, reading, elements):
        """Prepares to read the elements of one file."""
        self.reading, self.elements = reading, elements
        self.unit = reading.model.unit
        self.sheet = None
        self.options = []           # words of the option set at hand

    def read(self):
        """Reads the categories of the unit, or all if it is unknown."""
        wanted = True
        for e in self.elements:
            if e.tag == "category":
                wanted = self.unit is None or e.get("counter_set") in ("", self.unit.set + "_cnt",
                                                                       self.unit.set)
            elif wanted and e.tag in self.ELEMENTS:
                self.visit(e, self.ELEMENTS[e.tag])

    def visit(self, e, do):
        """Calls @do. Errors name the line and what to do."""
        try:
            do(self, e)
        except RefusedValue as why:
            self.reading.report_refusal(e.get("name")[:MAX_NAME], why.key,
                                        "%s in line %d" % (why.why, e.line))

    def find_sheet(self):
        """Returns the sheet, which is made at first use."""
        if self.sheet is None:
            self.sheet = self.reading.get_sheet(self.reading.model.name, self.make_sheet)
        return self.sheet

    def make_sheet(self):
        """Makes the sheet of the unit."""
        m, u = self.reading.model, self.unit
        title = make_table_title(m.name, clean_description(u.title if u else m.folder)[:100])
        old = u is not None and not u.profile.startswith(("8", "9"))
        uncore = u is not None and u.uncore
        known = self.reading.processor
        uses = known.cores[""][1] if known and known.cores else [
            "any.unit" if uncore else "arm.core7" if old else "arm.core"]
        sheet = Sheet(m.name, title, uses)
        sheet.source = m.source
        sheet.uncore, sheet.unit = uncore, u.set if uncore else ""
        sheet.device = u.id if uncore else find_device(m.name, u, old)
        if not uncore:
            self.reading.cores[""] = m.name
            sheet.aliases += ["armv8_" + m.name] if not old and m.name.startswith(FAMILIES) else []
            sheet.aliases += self.reading.processor.alias if self.reading.processor else []
        for cpuid in u.cpuids if u else ():
            self.match_core(sheet, cpuid, "arm" if old else "arm64")
        for what in self.reading.processor.host_matches() if self.reading.processor else ():
            add_match(sheet, what)
        return sheet

    def match_core(self, sheet, cpuid, arch):
        """Adds the core with gator's id @cpuid to the machines of @sheet."""
        m = re.fullmatch(r"0x([0-9a-fA-F]{2})([0-9a-fA-F]{3})", cpuid)
        if not m:
            self.reading.report_refusal("-", "cpuid", "expected 0x, two digits of an implementer "
                                        "and three of a part, got '%s'" % cpuid[:40])
            return
        add_match(sheet, {"arch": arch, "value": int(m[1], 16) << 24 | int(m[2], 16) << 4,
                      "mask": 0xFF00FFF0})

    # ---- options: a set of values that are added to the number of an event

    def begin_options(self, e):
        """Begins a group of unit masks."""
        sheet = self.find_sheet()
        name = make_word(e.get("name")).lower() or "option"
        if any(g.name == name for g in sheet.groups):
            raise RefusedValue("option_set", "a second set of this name: rename it")
        self.options = []
        sheet.groups.append(MaskGroup(name, "code", self.options, True))

    def add_option(self, e):
        """Adds a mask to the group that was begun."""
        if len(self.options) >= MAX_OPTIONS:
            raise RefusedValue("option", "more than %d options" % MAX_OPTIONS)
        self.options.append((make_word(e.get("name")).lower(),
                             parse_number(e.get("event_delta"), "event_delta"), ""))

    # ---- events

    def add_event(self, e):
        """Adds a row for an event with a number."""
        sheet = self.find_sheet()
        text = e.get("event")
        if not text:
            raise RefusedValue("event", "a counter that only gator has, without a number: left out")
        code = parse_number(text, "event")
        if code > sheet.at["code"].max:
            raise RefusedValue("event", "expected an event number of at most %#x, got '%s'"
                               % (sheet.at["code"].max, text[:40]))
        if code == CYCLE_COUNTER and e.get("counter") and "long" in sheet.at:
            self.reading.report_note(e.get("name")[:MAX_NAME], "event",
                                     "gator's number of the cycle counter: 0x11 is the event's")
            return
        name, given = self.find_name(sheet, e, code)
        general = self.list_counters(sheet)
        on = 0 if sheet.uncore else general
        if not sheet.uncore and code == CYCLES and "long" in sheet.at:
            on = general | 1 << 31
        desc = clean_description(e.get("description"))
        row = Entry(name, desc, on, [("code", code)], 0, self.reading.file)
        if e.get("option_set"):
            row.groups = (make_word(e.get("option_set")).lower(),)
        sheet.add_row(row)
        if not given:
            sheet.titled.add(name)
        self.reading.counts["uncore" if sheet.uncore else "core"] += 1

    ELEMENTS = {"option_set": begin_options, "option": add_option, "event": add_event}

    def list_counters(self, sheet):
        """The set of general counters, whose number pmus.xml may give."""
        n = self.unit.counters if self.unit else ""
        return (1 << int(n)) - 1 if n.isdecimal() and 0 < len(n) < 3 and 0 < int(n) < 31 else \
            sheet.known & 0x7FFFFFFF

    def find_name(self, sheet, e, code):
        """Returns (name of an event, False if it is made of the title)."""
        name = e.comment if MNEMONIC.fullmatch(e.comment) else ""
        if not name and not sheet.uncore and ("long" in sheet.at or code < COMMON):
            name = read_codes().get(code, "")
        if not name and code == CYCLE_COUNTER and e.get("counter"):
            name = "CYCLE_COUNTER"
        if not name and MNEMONIC.fullmatch(e.get("name")):
            name = e.get("name")
        if name and pt.fold(name) not in sheet.seen:
            return name, True
        name = make_word("%s %s" % (e.get("title"), e.get("name")))
        if not name:
            raise RefusedValue("name", "expected a name or a title")
        return (name if pt.fold(name) not in sheet.seen else "%s_0x%x" % (name, code)), False


def find_device(name, unit, old):
    """The kernel's name of a core's PMU: armv6_1176, armv7_krait."""
    if not old:
        return "armv8_pmuv3_0"
    return "armv6_" + name.removeprefix("arm") if unit.profile.startswith("6") else "armv7_" + name


def parse_number(text, key):
    """Parses a number of an attribute."""
    if not NUMBER.fullmatch(text):
        raise RefusedValue(key, "expected a number such as 0x1d, got '%s'" % text[:40])
    return int(text, 0)


def make_word(text):
    """A name of a title: 'L1 Data Cache: Refill (read)' is L1_DATA_CACHE_REFILL_READ."""
    return re.sub(r"[^A-Z0-9]+", "_", text.upper())[:MAX_NAME // 2].strip("_")


list_date = ""          # YYYY-MM of the lists; empty if unknown


def make_source_text(file):
    """Returns the source of a table: the file, and the date of its copy."""
    text = "ARM-software/gator %s" % file
    return "%s, %s" % (text, list_date) if list_date else text


_codes = {}


def read_codes():
    """Returns {number: name} of the events that the architecture or all cores define."""
    part = LIBRARY.read_sections().get("arm.codes")
    if part and not _codes:
        for s in part.statements:
            words = [w.get_text() for w in s] if type(s) is list else s.find_words()[0]
            if words[0] == "event":
                code = next(w for w in words if w.startswith("code="))
                _codes[int(code[5:], 0)] = words[1]
    return _codes
