# SPDX-License-Identifier: MIT
"""Intel's cores: the fields of a core's table, and its events, for Intel's folders and Linux's
lists."""

import functools
import re

from language import tables as pt
from vendors.drafts import EventDraft, Sheet, format_counters
from vendors.heads import sort_sections, is_big, list_row_names, make_table_title
from vendors.untrusted import (
    COUNTERS, NUMBERS, RefusedValue, name_of, is_placeholder, convert_to_strings, get_cached_value)

OFFCORE_RSP_0, OFFCORE_RSP_1, PEBS_LD_LAT = 0x1A6, 0x1A7, 0x3F6
MODIFIERS = (("CounterMask", "cmask"), ("Invert", "inv"), ("EdgeDetect", "edge"),
             ("AnyThread", "any"), ("Equal", "eq"))
# prefix of the sections of intel_core.pmu
ALWAYS = ("x86.select", "x86.count", "x86.extra", "x86.facts")
# facts about a core in a list's keys
BY_KEY = (("UMaskExt", "x86.wide"), ("Equal", "x86.eq"))
# defaults of an unknown processor
NEW = ("x86.tsx", "x86.frontend")


# ---- tables --------------------------------------------------------------------------------------

def make_core_sheet(reading, name, core, keys, device, desc):
    """Makes an empty sheet. @core: microarchitecture of a hybrid's core. @keys: keys of its
    list."""
    processor = reading.processor if reading.intel else None
    known = processor and (processor.cores.get(core) or processor.cores.get(""))
    parts = list(known[1]) if known else list(NEW)
    parts += [section for key, section in BY_KEY if key in keys]
    if not known and "AnyThread" in keys:
        parts.append("x86.any")
    sheet = Sheet(name, desc, sort_sections((*ALWAYS, *parts)))
    sheet.device = device
    sheet.perf_type = 4 if device == "cpu" else -1
    return sheet


def find_core_of_file(reading, file):
    """Returns the core of a list without events: the one in its file name, else the big core, else
    the first one."""
    for core, name in reading.cores.items():
        if core and core in file.lower():
            return reading.builders[name]
    if reading.cores:
        big = [name for core, name in reading.cores.items() if is_big(core)]
        return reading.builders[big[0] if big else next(iter(reading.cores.values()))]
    m = reading.model
    sheet = reading.get_sheet(m.name, lambda: make_core_sheet(reading, m.name, "", (), "cpu",
                                                              make_table_title(m.name, m.folder)))
    reading.cores[""] = m.name
    return sheet


def add_topdown_rows(reading, sheet):
    """Adds the events of PERF_METRICS, from rows of a head, if SLOTS is on fixed counter 3."""
    slots = sheet.seen.get(b"topdown.slots")
    if slots is None or slots.counters != 1 << 35 or sheet.device not in ("cpu", "cpu_core"):
        return
    section = (
        reading.processor.topdown
        if reading.processor and reading.processor.topdown
        else "x86.topdown8"
    )
    sheet.uses.append(section)
    for name in list_row_names(section):
        sheet.seen.setdefault(pt.fold(name), slots)


# ---- events --------------------------------------------------------------------------------------

def add_core_event(reading, sheet, e):
    """Adds an event of a core's list. Returns its row."""
    e = convert_to_strings(e)
    draft = EventDraft(sheet, name_of(e), e)
    counters, fixed = get_cached_value(COUNTERS, e, "Counter")
    msrs, counters = set_event_select(draft, counters, fixed)
    draft.set_fields(MODIFIERS)
    htoff = get_cached_value(COUNTERS, e, "CounterHTOff")[0]
    if htoff:
        draft.set_value("on_htoff", format_counters(htoff))
        sheet.htoff |= htoff
    precise = draft.get_number("PEBS") or draft.get_number("Precise")
    if precise or PEBS_LD_LAT in msrs:
        must = precise == 2 or PEBS_LD_LAT in msrs and not (precise and fixed)
        draft.set_value("precise", "must" if must else "may")
    period = draft.get_number("SampleAfterValue")
    if period:
        draft.set_value("period", str(period))
    if draft.get_number("TakenAlone"):
        draft.flags |= pt.ROW_ALONE
    row = draft.make_row(counters or None, reading.file)
    sheet.add_row(row)
    if row.name.startswith("OFFCORE_RESPONSE"):
        add_offcore_aliases(reading, sheet, row)
    reading.counts["core"] += 1
    return row


def set_event_select(draft, counters, fixed):
    """Sets code, unit mask, extra register and alternative encodings. Returns the registers of the
    list, and the counters, which it may have corrected."""
    sheet, e = draft.sheet, draft.event
    codes = get_cached_value(NUMBERS, e, "EventCode")
    umasks = get_cached_value(NUMBERS, e, "UMask")
    msrs = get_cached_value(NUMBERS, e, "MSRIndex")
    msr_value = draft.get_number("MSRValue")
    bare = not any(msrs) and not msr_value and draft.name == "OFFCORE_RESPONSE" and max(
        len(codes), len(umasks)) == 2
    if bare:                # the list leaves both registers to the caller
        msrs = OFFCORE_RSP_0, OFFCORE_RSP_1
    if fixed is not None:
        fixed = get_fixed_number(draft.name, fixed, codes[0], umasks[0])
        counters = 1 << (32 + fixed)
        code, umask = get_fixed_code(draft.name, fixed)
        others, msr = (), 0
    else:
        # not 0, with which the kernel takes the unit mask for the number of a fixed counter
        if is_placeholder(e.get("EventCode", "")):
            raise RefusedValue("EventCode", "missing")
        (code, umask, msr), *others = list_encodings(sheet.at["umask"].max, codes, umasks, msrs,
                                                     draft.get_number("UMaskExt"))
    draft.set_value("code", code)
    draft.set_value("umask", umask)
    # the register of an event without a value is chosen when a user sets a value
    if msr and not bare:
        extra_register(draft, msr, msr_value)
    if others:
        draft.set_value("alt", ",".join("0x%x:0x%x:0x%x" % way for way in others))
    return msrs, counters


def get_fixed_number(name, fixed, code, umask):
    """Returns the fixed counter of an event. Some lists count from one (Silvermont, Nehalem,
    Westmere, one row of Sandy Bridge EP; Bonnell with code 0AH); the unit mask, which is the number
    plus one, or the name is more reliable."""
    if umask:
        return umask - 1 if code == 0 else fixed
    known = {"INST_RETIRED.ANY": 0, "CPU_CLK_UNHALTED.CORE": 1, "CPU_CLK_UNHALTED.THREAD": 1,
             "CPU_CLK_UNHALTED.REF": 2}
    return known.get(name.upper(), fixed)


def get_fixed_code(name, fixed):
    """Returns Linux's (code, unit mask) of an event on a fixed counter. Lists have code 0 and the
    counter's number plus one."""
    if fixed == 0:
        return (0, 1) if name.upper() == "INST_RETIRED.PREC_DIST" else (0xC0, 0)
    if fixed == 1:
        return 0x3C, 0
    return 0, fixed + 1


@functools.lru_cache(1 << 13)
def list_encodings(limit, codes, umasks, msrs, ext):
    """Returns the encodings of an event: (code, unit mask, extra register), paired by position.
    @limit: largest unit mask."""
    out = []
    for i in find_distinct_positions(codes, umasks, msrs):
        code = codes[min(i, len(codes) - 1)]
        umask = umasks[min(i, len(umasks) - 1)] | ext << 8
        if code > 0xFF:
            raise RefusedValue("EventCode", "0x%x does not fit 8 bits" % code)
        if umask > limit:
            raise RefusedValue("UMaskExt" if ext else "UMask",
                               "0x%x does not fit the unit mask" % umask)
        if i >= len(msrs) > 1:
            break
        msr = msrs[i] if len(msrs) > 1 else msrs[0]
        if msr > pt.ANY32:
            raise RefusedValue("MSRIndex", "expected a register number, got 0x%x" % msr)
        out.append((code, umask, msr))
    return out


def find_distinct_positions(codes, umasks, msrs):
    """Returns the positions of the lists that are separate encodings. One register for several unit
    masks or codes belongs to one of them: 1A6H to the first, 1A7H to the second. Without a
    register, several codes are alternatives and several unit masks are not."""
    n = max(len(codes), len(umasks))
    if n > 1 and len(msrs) == 1:
        if msrs[0]:
            return (min(n - 1, {OFFCORE_RSP_1: 1, 0x3E1: 1, 0x3E2: 2, 0x3E3: 3}.get(msrs[0], 0)),)
        if len(codes) == 1:
            return (0,)
    return range(n)


def extra_register(draft, msr, value):
    """Sets an extra register of the event. The head names its field for users; the value must fit
    that field."""
    field = draft.sheet.registers.get(msr)
    if field and value > draft.sheet.at[field].max:
        raise RefusedValue("MSRValue", "0x%x does not fit the %d bits of '%s'"
                           % (value, draft.sheet.at[field].width, field))
    draft.set_value("msr", "0x%x:0x%x" % (msr, value))


def add_offcore_aliases(reading, sheet, row):
    """Adds libpfm's names of an off-core event."""
    m = re.fullmatch(r"OFFCORE_RESPONSE:request=(.*):response=(.*)", row.name, re.I)
    if m:
        sheet.add_alias(row, "OFFCORE_RESPONSE.%s.%s" % (m[1], m[2]))
    elif reading.intel and reading.processor.short_name()[:3] in ("nhm", "wsm"):
        if row.name.startswith("OFFCORE_RESPONSE."):
            sheet.add_alias(row, "OFFCORE_RESPONSE_0." + row.name[17:])
        elif row.name.startswith("OFFCORE_RESPONSE_0."):
            sheet.add_alias(row, "OFFCORE_RESPONSE." + row.name[19:])
