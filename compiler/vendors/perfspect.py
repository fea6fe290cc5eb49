# SPDX-License-Identifier: MIT
"""Lists of Intel's PerfSpect for processors of other makers: NAME.txt has events in perf's syntax,
NAME.json metrics over them.

A line of events is DEVICE/field=number,...,name='NAME'/, and ends with a comma, or with a semicolon
at the end of a group. Events that the kernel names have no number; they are left out, as are
spellings of an event for one level (NAME:k) and metrics of what no counter counts."""

import re

from vendors.drafts import EventDraft, Entry, Sheet
from vendors.heads import make_table_title
from vendors.hosts import add_match
from vendors.metrics import add_metric_row
from language.formulas import rewrite_formula
from vendors.untrusted import MAX_FILE, MAX_NAME, RefusedValue, parse_json, read_source

MAX_LINE = 1000
MAX_FIELDS = 16
EVENT = re.compile(r"([a-z][a-z0-9_]{0,39})/([^/]{1,900})/([a-zA-Z]*)")
GENERIC = re.compile(r"[a-z][a-zA-Z0-9_:.-]*")
NAME = re.compile(r"name='([^']{1,240})'")
TERM = re.compile(r"([a-z0-9_]{1,40})=(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})")
LIST = re.compile(rb"^[a-z_0-9]+/event=[^/\n]*name='", re.M)
REFERENCE = re.compile(r"\[([^\[\]]{1,240})\]")
DEVICES = {"l3": "amd_l3", "df": "amd_df", "umc": "amd_umc"}    # what perf's syntax calls them
NAMES = {"event": "code"}


def is_perfspect_list(head):
    """True if @head begins a list of PerfSpect."""
    return LIST.search(head) is not None


def read_perfspect_lists(reading):
    """Reads the lists of a model of PerfSpect into sheets."""
    for shown, inner, source in sorted(reading.model.files, key=lambda f: f[1]):
        reading.file = shown
        try:
            raw = read_source(source)
            if len(raw) > MAX_FILE:
                raise ValueError("larger than %d bytes" % MAX_FILE)
            if inner == "events":
                read_events(reading, raw.decode("utf-8", "replace"))
            else:
                items = parse_json(raw, reading.report_note)
                reading.visit_objects(items, lambda e: read_metric(reading, e))
        except (ValueError, OSError) as why:
            reading.report_refusal("-", "-", str(why))
            reading.damaged = True
    for sheet in reading.builders.values():
        for what in reading.processor.host_matches() if reading.processor else ():
            add_match(sheet, what)


def read_events(reading, text):
    """Reads a list of events, one a line."""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            read_line(reading, line)
        except RefusedValue as why:
            reading.report_refusal(find_event_name(line), why.key, "%s in line %d" % (
                why.why, number))


def find_event_name(line):
    """Returns the name in a line for messages."""
    m = NAME.search(line[:MAX_LINE])
    return m[1][:MAX_NAME] if m else line[:40]


def read_line(reading, line):
    """Adds the event of a line. Events of the kernel are omitted."""
    if len(line) > MAX_LINE:
        raise RefusedValue("-", "a line of more than %d characters" % MAX_LINE)
    m = EVENT.fullmatch(line.rstrip(",;"))
    if not m:
        if not GENERIC.fullmatch(line.rstrip(",;")):
            raise RefusedValue("-", "expected DEVICE/field=number,name='NAME'/")
        return                  # an event of the kernel
    name = NAME.search(m[2])
    if not name and "=" not in m[2]:
        return                  # an event that the kernel names
    if not name:
        raise RefusedValue("name", "expected name='NAME'")
    if m[3] or ":" in name[1]:
        return                  # one level of an event that is there without levels
    if not name[1].isprintable():
        raise RefusedValue("name", "has characters that cannot be printed")
    add_event(reading, find_sheet(reading, m[1]), name[1], NAME.sub("", m[2]))


def add_event(reading, sheet, name, terms):
    """Adds a row, unless the sheet has it already."""
    values = read_terms(sheet, terms)
    row = next((r for r in sheet.rows if r.name == name), None)
    if row is not None:
        if sorted(row.values) != sorted(values):
            raise RefusedValue("name", "the list has this name twice, with other values")
        return
    sheet.add_row(Entry(name, "", None if sheet.known else 0, values, 0, reading.file))
    reading.counts["uncore" if sheet.uncore else "core"] += 1


def read_terms(sheet, text):
    """Returns the values of field=number terms."""
    terms = [t for t in text.split(",") if t.strip()]
    if len(terms) > MAX_FIELDS:
        raise RefusedValue("-", "more than %d fields" % MAX_FIELDS)
    values = []
    for term in terms:
        m = TERM.fullmatch(term.strip())
        if not m:
            raise RefusedValue("-", "expected field=number, got '%s'" % term[:40])
        field, value = NAMES.get(m[1], m[1]), int(m[2], 0)
        if field not in sheet.at:
            raise RefusedValue(m[1], "this unit has no field '%s'" % m[1])
        if value > sheet.at[field].max:
            raise RefusedValue(m[1], "0x%x does not fit the %d bits of '%s'" % (
                value, sheet.at[field].width, m[1]))
        if value or field == "code":
            values.append((field, value))
    return values


def find_sheet(reading, unit):
    """The sheet of a device: the core, or a unit of the processor."""
    device = DEVICES.get(unit, unit)
    known = reading.processor
    name = reading.model.name if unit == "cpu" else "%s_%s" % (reading.model.name, device)

    def make_sheet():
        """Makes the sheet of a unit."""
        unit_of = (known and known.units.get(device)) or reading.arch.units.get(device, {})
        uses = unit_of.get("use", "any.unit").split(",") if unit != "cpu" else (
            known.cores[""][1] if known else reading.arch.cores[""][1])
        sheet = Sheet(name, make_table_title(reading.model.name, reading.model.name), uses)
        sheet.source = "intel/PerfSpect %s" % reading.model.folder
        sheet.uncore, sheet.unit = unit != "cpu", "" if unit == "cpu" else device
        sheet.device = "cpu" if unit == "cpu" else device
        if unit == "cpu":
            sheet.perf_type = 4
            reading.cores[""] = name
        return sheet
    return reading.get_sheet(name, make_sheet)


# ---- metrics -------------------------------------------------------------------------------------

def read_metric(reading, e):
    """Adds a metric, if the lists have all its events."""
    name, expression = e.get("name"), e.get("expression")
    if type(name) is not str or type(expression) is not str:
        raise RefusedValue("name", "expected texts for name and expression")
    if not reading.cores:
        raise RefusedValue("expression", "no events were read that it could use")
    sheet = reading.builders[reading.cores[""]]
    names = {row.name for other in reading.builders.values() for row in other.rows}
    for used in REFERENCE.findall(expression):
        if used not in names:
            reading.report_note(name[:MAX_NAME], "expression",
                                "left out: it needs %s, which no list has" % used[:60])
            return
    word = re.sub(r"[^a-z0-9]+", "_", name.lower().replace("%", " percent "))[:MAX_NAME].strip("_")
    draft = EventDraft(sheet, word, e)
    formula = REFERENCE.sub(lambda m: "'%s'" % m[1], expression)
    add_metric_row(reading, draft, word, name, rewrite_formula(formula, "own"), "own")
