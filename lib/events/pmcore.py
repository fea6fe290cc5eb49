# SPDX-License-Identifier: MIT
"""Intel's cores: the fields of a core's table, and its events, as Intel's folders and Linux's lists both have them."""

import re

import pmtable as pt
from pmboxes import ATOM_CORES, ATOMS, BIG_CORES, SNOOP_RSP, TOP_DOWN, WIDE_UMASK, WITH_ANY, WITHOUT_FRONTEND, \
    WITHOUT_TSX
from pmbuild import ANY, Builder, Draft
from pmread import COUNTERS, NUMBERS, Refused, name_of, strings, take

OFFCORE_RSP_0, OFFCORE_RSP_1, PEBS_LD_LAT, PEBS_FRONTEND = 0x1A6, 0x1A7, 0x3F6, 0x3F7
EXTRA_FIELD = {OFFCORE_RSP_0: "offcore_rsp", OFFCORE_RSP_1: "offcore_rsp", PEBS_LD_LAT: "ldlat",
               PEBS_FRONTEND: "frontend"}
MODIFIERS = (("CounterMask", "cmask"), ("Invert", "inv"), ("EdgeDetect", "edge"), ("AnyThread", "any"), ("Equal", "eq"))


# ---- tables ----------------------------------------------------------------------------------------------------------

def core_table(reading, name, core, keys, device, desc):
    """An empty table: @core is the microarchitecture of a hybrid's core, @keys the keys its list has."""
    folder = reading.intel
    atom = core in ATOM_CORES if core else folder in ATOMS
    b = Builder(name, desc, "x86")
    b.t.device = device
    b.t.perf_type = 4 if device == "cpu" else -1
    wide = "UMaskExt" in keys or folder in WIDE_UMASK
    b.field("code", "config:0-7")
    b.field("umask", "config:8-15,40-47" if wide else "config:8-15")
    b.field("edge", "config:18", modifier=True)
    b.field("pc", "config:19", modifier=True)
    if folder in WITH_ANY or not folder and "AnyThread" in keys:
        b.field("any", "config:21", modifier=True)
    b.field("inv", "config:23", modifier=True)
    b.field("cmask", "config:24-31", modifier=True)
    if not atom and folder not in WITHOUT_TSX:
        b.field("in_tx", "config:32", modifier=True)
        b.field("in_tx_cp", "config:33", modifier=True)
    if "Equal" in keys or folder in WIDE_UMASK:
        b.field("eq", "config:36", modifier=True)
    b.field("offcore_rsp", "config1:0-63", modifier=True)
    b.field("ldlat", "config1:0-15", modifier=True)
    if folder not in WITHOUT_FRONTEND:
        b.field("frontend", "config1:0-23", modifier=True)
    if folder in SNOOP_RSP or core == "crestmont":
        b.field("snoop_rsp", "config1:0-63", modifier=True)
    b.field("msr", width=32)
    b.field("msr_value", width=64)
    b.field("precise", width=2, kind=pt.CHOICE, words=[pt.Word("no", 0), pt.Word("may", 1), pt.Word("must", 2)], high=2)
    b.field("period", width=64)
    return b


def core_of(reading, file):
    """The core a list without events of its own speaks of: the one its file name has, else the big one, else the
    first."""
    for core, name in reading.cores.items():
        if core and core in file.lower():
            return reading.builders[name]
    if reading.cores:
        big = [name for core, name in reading.cores.items() if core in BIG_CORES]
        return reading.builders[big[0] if big else next(iter(reading.cores.values()))]
    m = reading.model
    b = reading.builder(m.name, lambda: core_table(reading, m.name, "", (), "cpu", m.folder))
    reading.cores[""] = m.name
    return b


def top_down(reading, b):
    """The figures of PERF_METRICS: no list has them, metrics use them, and the kernel's codes for them are fixed.
    They need SLOTS on fixed counter 3; Ice Lake and its kin have the first four."""
    slots = b.seen.get(b"topdown.slots")
    if slots is None or slots.counters != 1 << 35 or b.t.device not in ("cpu", "cpu_core"):
        return
    four = reading.intel in ("icl", "icx", "tgl", "rkl")
    for i, (kernel, metric, desc) in enumerate(TOP_DOWN[:4] if four else TOP_DOWN):
        name = "PERF_METRICS." + metric
        if pt.fold(name) not in b.seen:
            values = [(b.at["code"], ANY, 0), (b.at["umask"], ANY, 0x80 + i)]
            row = pt.Row(name, desc, 1 << 35, values, (), 0, (), reading.file)
            b.add(row)
            b.alias(row, kernel)


# ---- events ----------------------------------------------------------------------------------------------------------

def core_event(reading, b, e):
    """One event of a core's list; returns its row."""
    e = strings(e)
    d = Draft(b, name_of(e), e)
    counters, fixed = take(COUNTERS, e, "Counter")
    msrs, counters = select(d, counters, fixed)
    for key, field in MODIFIERS:
        d.put_key(key, field)
    htoff = take(COUNTERS, e, "CounterHTOff")[0]
    if htoff:
        d.set(b.plain("on_htoff", 64), htoff)
    precise = d.number("PEBS") or d.number("Precise")
    if precise or PEBS_LD_LAT in msrs:
        must = precise == 2 or PEBS_LD_LAT in msrs and not (precise and fixed)
        d.set(b.at["precise"], 2 if must else 1)
    period = d.number("SampleAfterValue")
    if period:
        d.set(b.at["period"], period)
    if d.number("TakenAlone"):
        d.flags |= pt.ROW_ALONE
    row = d.row(counters or None, reading.file)
    b.add(row)
    if row.name.startswith("OFFCORE_RESPONSE"):
        offcore_aliases(reading, b, row)
    reading.counts["core"] += 1
    return row


def select(d, counters, fixed):
    """Adds code, unit mask and extra register, and alternatives to them. Returns the registers that the list names and
    the counters, which it may have given another way."""
    b, e = d.b, d.e
    codes = take(NUMBERS, e, "EventCode")
    umasks = take(NUMBERS, e, "UMask")
    msrs = take(NUMBERS, e, "MSRIndex")
    msr_value = d.number("MSRValue")
    if fixed is not None:
        if codes[0] == 0x0A and not umasks[0]:
            fixed = counted_from_one(d.name, fixed)
            counters = 1 << (32 + fixed)
        code, umask = fixed_code(d.name, fixed)
        others = ()
    else:
        (code, umask, msr), *others = ways(b, codes, umasks, msrs, d.number("UMaskExt"))
        if msr:
            extra_register(d, msr, msr_value)
    d.set(b.at["code"], code)
    d.set(b.at["umask"], umask)
    for c, u, m in others:
        d.set(b.plain("alt", 64), c | u << 16 | m << 32)
    return msrs, counters


def counted_from_one(name, fixed):
    """The fixed counter in lists that give code 0AH and count these counters from one."""
    known = {"INST_RETIRED.ANY": 0, "CPU_CLK_UNHALTED.CORE": 1, "CPU_CLK_UNHALTED.REF": 2}
    return known.get(name.upper(), max(0, fixed - 1))


def fixed_code(name, fixed):
    """(code, unit mask) Linux knows a fixed counter's event by. Lists give 0 and the counter's number plus one."""
    if fixed == 0:
        return (0, 1) if name.upper() == "INST_RETIRED.PREC_DIST" else (0xC0, 0)
    if fixed == 1:
        return 0x3C, 0
    return 0, fixed + 1


def ways(b, codes, umasks, msrs, ext):
    """The ways to program an event: (code, unit mask, extra register); lists pair by position."""
    limit = b.t.fields[b.at["umask"]].max
    out = []
    for i in positions(codes, umasks, msrs):
        code = codes[min(i, len(codes) - 1)]
        umask = umasks[min(i, len(umasks) - 1)] | ext << 8
        if code > 0xFF:
            raise Refused("EventCode", "0x%x does not fit 8 bits" % code)
        if umask > limit:
            raise Refused("UMaskExt" if ext else "UMask", "0x%x does not fit the unit mask" % umask)
        if i >= len(msrs) > 1:
            break
        msr = msrs[i] if len(msrs) > 1 else msrs[0]
        if msr > pt.ANY32:
            raise Refused("MSRIndex", "0x%x is no register number" % msr)
        out.append((code, umask, msr))
    return out


def positions(codes, umasks, msrs):
    """Which positions of the lists are ways of their own. One register for several masks or codes decides which of
    them: 1A6H is the first of its kind, 1A7H the second. With no register at all, several codes are still
    alternatives, several masks are not."""
    n = max(len(codes), len(umasks))
    if n > 1 and len(msrs) == 1:
        if msrs[0]:
            return (min(n - 1, {OFFCORE_RSP_1: 1, 0x3E1: 1, 0x3E2: 2, 0x3E3: 3}.get(msrs[0], 0)),)
        if len(codes) == 1:
            return (0,)
    return range(n)


def extra_register(d, msr, value):
    """A register beside the event's own, and the field that users know it by."""
    field = EXTRA_FIELD.get(msr)
    if field:
        d.put(field, value, "MSRValue")
    d.set(d.b.at["msr"], msr)
    d.set(d.b.at["msr_value"], value)


def offcore_aliases(reading, b, row):
    m = re.fullmatch(r"OFFCORE_RESPONSE:request=(.*):response=(.*)", row.name, re.I)
    if m:
        b.alias(row, "OFFCORE_RESPONSE.%s.%s" % (m[1], m[2]))
    elif reading.intel[:3] in ("nhm", "wsm"):
        if row.name.startswith("OFFCORE_RESPONSE."):
            b.alias(row, "OFFCORE_RESPONSE_0." + row.name[17:])
        elif row.name.startswith("OFFCORE_RESPONSE_0."):
            b.alias(row, "OFFCORE_RESPONSE." + row.name[19:])
