# SPDX-License-Identifier: MIT
"""Arm's own lists of a core: a plain list, a JSON object with the core's events and the part number
of its MIDR, and files of the Telemetry Specification, which vendors/telemetry.py reads.

Events without a name or a code (signals for trace units, events that the manual only describes) are
no events that could be asked for, and are counted as such."""

import re

from vendors import telemetry
from vendors.heads import make_table_title
from vendors.drafts import Entry, Sheet
from vendors.hosts import add_match
from vendors.untrusted import MAX_NAME, RefusedValue, clean_description

CYCLES = 0x11


def is_arm_list(head):
    """True if a file that begins with @head is a list of Arm."""
    return re.match(rb'(?:\xef\xbb\xbf)?\s*\{\s*"_type"\s*:\s*"Events"', head) is not None


def read_arm_lists(reading):
    """Reads the files of a model: telemetry or plain lists."""
    for _, _, data in reading.read_files(reading.model.files):
        if type(data) is dict and "product_configuration" in data:
            telemetry.read_product(reading, data)
        else:
            read_core(reading, data)
    for sheet in reading.builders.values():
        add_manual_names(sheet)


def read_core(reading, data):
    """Reads the plain list of a core."""
    if type(data) is not dict or type(data.get("cpu")) is not str:
        reading.report_refusal("-", "cpu", "expected a core's list")
        return
    m = reading.model
    new = str(data.get("pmu_architecture", "")) >= "pmuv3"
    sheet = reading.get_sheet(
        m.name, lambda: Sheet(m.name, make_table_title(m.name,
                                                       clean_description(data["cpu"])[:100]),
                              ["arm.core" if new else "arm.core7"]))
    reading.cores[""] = m.name
    sheet.source = "ARM-software/data pmu/%s.json, %s" % (
        m.folder, clean_description(str(data.get("timestamp", "")))[:30])
    sheet.device = "armv8_pmuv3_0" if new else "armv7_" + m.name
    sheet.aliases += ["armv8_" + m.name] if new else []
    sheet.aliases += reading.processor.libpfm if reading.processor else []
    counters = list_counters(reading, sheet, data)
    reading.visit_objects(data.get("events"), lambda e: read_event(reading, sheet, e, counters))
    match_core(reading, sheet, data, new)


def add_manual_names(sheet):
    """Adds the names that only the manual has, after all names of the lists."""
    for row, name in sheet.waiting:
        sheet.add_alias(row, name)
    del sheet.waiting[:]


def list_counters(reading, sheet, data):
    """The set of general counters, whose number the list may give."""
    n = data.get("counters")
    return (1 << n) - 1 if type(n) is int and 0 < n < 31 else sheet.known & 0x7FFFFFFF


def read_event(reading, sheet, e, counters):
    """Adds an event of a plain list to @sheet."""
    code, name = e.get("code"), e.get("name")
    if type(name) is not str or not name.strip():
        reading.report_note("-", "name", "an event without a name: left out")
        return
    if code is None:
        reading.report_note(name[:MAX_NAME], "code", "a signal without a code: left out")
        return
    name = name.strip()
    if len(name) > MAX_NAME or not name.isprintable():
        raise RefusedValue("name", "too long, or cannot be printed")
    if type(code) is not int or not 0 <= code <= sheet.at["code"].max:
        raise RefusedValue("code", "expected an event number, got '%s'" % str(code)[:20])
    desc = e.get("description")
    on = counters | 1 << 31 if code == CYCLES and "long" in sheet.at else counters
    row = Entry(name, clean_description(desc) if type(desc) is str else "", on, [("code", code)], 0,
                reading.file)
    if e.get("component") and type(e["component"]) is str:
        row.add_text("topic", clean_description(e["component"]))
    sheet.add_row(row)
    trm = e.get("trm_name")
    if type(trm) is str and 0 < len(trm) <= MAX_NAME and trm.isprintable():
        sheet.waiting.append((row, trm))
    reading.counts["core"] += 1


def match_core(reading, sheet, data, new):
    """Matches the hosts whose MIDR has the list's part number, and the cores of other makers that
    the head names."""
    cpuid = data.get("cpuid")
    if cpuid is None:
        return
    m = re.fullmatch(r"0x([0-9a-fA-F]{2})([0-9a-fA-F]{3})", cpuid) if type(cpuid) is str else None
    if not m:
        reading.report_refusal("-", "cpuid", "not an implementer and a part")
        return
    add_match(sheet, {"arch": "arm64" if new else "arm",
                      "value": int(m[1], 16) << 24 | int(m[2], 16) << 4, "mask": 0xFF00FFF0})
    for what in reading.processor.host_matches() if reading.processor else ():
        add_match(sheet, what)
