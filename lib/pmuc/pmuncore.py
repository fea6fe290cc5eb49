# SPDX-License-Identifier: MIT
"""Intel's uncore: the boxes beside the cores, one table each, in Intel's folders and in Linux's lists."""

import re

import pmtable as pt
from pmbuild import Draft, Sheet
from pmheads import box_section, title, unit_device
from pmread import COUNTERS, Refused, name_of, nothing, strings, take

# Boxes whose lists have an extra select bit that the kernel does not let through.
WITHOUT_EXTRA_SELECT = ("jkt.pcu", "jkt.ubox", "ivt.pcu", "ivt.ubox")
THRESHOLDS = ("thresh", "cmask", "threshold")       # one field, named differently


def uncore_event(reading, e, experimental=False):
    """One event of an uncore list."""
    e = strings(e)
    name = name_of(e)
    unit, device = box_of(reading, e, name)
    b = uncore_table(reading, device, unit)
    d = Draft(b, name, e)
    counters, fixed = take(COUNTERS, e, "Counter")
    code, umask = d.number("EventCode"), d.number("UMask")
    d.flags = pt.ROW_PER_PKG | (pt.ROW_EXPERIMENTAL if experimental or d.number("Experimental") else 0)
    ext = 0
    if "free_running" in device:
        d.flags |= pt.ROW_FREE_RUNNING
        if code != 0xFF:
            code, umask = 0xFF, free_running_umask(name)
    elif fixed is not None:
        code, umask = 0xFF, 0
    else:
        if d.number("ExtSel"):
            code |= 0x100
        ext = d.number("UMaskExt")
    masks = given(d, "PortMask"), given(d, "FCMask")
    d.put("code", code, "EventCode")
    put_umask(reading, d, umask, ext, *masks)
    d.put_key("CounterMask", next((field for field in THRESHOLDS if field in b.at), THRESHOLDS[0]))
    d.put_key("Invert", "inv")
    d.put_key("EdgeDetect", "edge")
    if d.number("MSRValue") and d.number("MSRIndex"):
        raise Refused("MSRValue", "an extra register off the core")
    d.filters()
    every_state(d)
    if d.number("ExtSel") and code > 0xFF and b.uses[-1] in WITHOUT_EXTRA_SELECT:
        d.text("note", "the kernel's format of this box drops the extra select bit: another event counts then")
    b.add(d.row(counters or None, reading.file))
    reading.counts["uncore"] += 1


def every_state(d):
    """A look-up of the last cache counts in the states its filter names, and in none if that is empty: without a filter in the list,
    all are meant."""
    field = d.b.at.get("filter_state")
    if field and "LLC_LOOKUP" in d.name and not any(k in ("filter_state", "config1") for k, _ in d.values):
        d.put("filter_state", field.max, "Filter")


# ---- tables ----------------------------------------------------------------------------------------------------------

def box_of(reading, e, name):
    """(unit as the list has it, the kernel's name of that box)."""
    unit = e.get("Unit", "").strip()
    if not unit:
        raise Refused("Unit", "missing")
    if not re.fullmatch(r"[A-Za-z0-9_ -]{1,40}", unit):
        raise Refused("Unit", "'%s' is no unit" % unit[:40])
    device = unit_device(unit)
    if e.get("CounterType", "").strip().upper() == "FREERUN" and "free_running" not in device:
        m = re.match(r"UNC_(?:M_)?MC([01])_", name)
        device = "uncore_imc_free_running_" + m[1] if m else device + "_free_running"
    if unit == "NCU":           # counts clocks, wherever that generation has its counter
        device = "uncore_clock"
    if reading.processor and unit in reading.processor.units:
        device = reading.processor.units[unit]["device"]
    return unit, device


def uncore_table(reading, device, unit):
    """The table of a box, made on first use."""
    m = reading.model
    flat = re.sub(r"[^a-z0-9_]", "_", device.lower())
    name = flat if device.lower().endswith(m.name) else m.name + "_" + flat     # a folder may be named after its unit

    def make():
        box = device[7:] if device.startswith("uncore_") else device
        words = title(m.name, reading.desc, unit=unit) + (", free-running" if "free_running" in device else "")
        b = Sheet(name, words, [box_section(formats_of(reading), box)])
        b.device, b.unit, b.uncore = device, unit, True
        if reading.intel:
            short = box.replace("cbox", "cbo").replace("ubox", "ubo")
            b.aka += ["%s_unc_%s" % (libpfm, short) for libpfm in reading.processor.libpfm]
        return b
    return reading.builder(name, make)


def formats_of(reading):
    """The family of a processor's uncore formats; of one we do not know, the newest of its kind."""
    if reading.intel:
        return reading.processor.boxes
    server = any("x_uncore" in inner or "rapids" in inner for _, inner, _ in reading.model.files)
    return "spr" if server else "lnl"


# ---- selecting what is counted ---------------------------------------------------------------------------------------

def free_running_umask(name):
    """Free-running counters are selected by kind << 4 | index."""
    n = name.upper()
    m = re.search(r"BANDWIDTH_(IN|OUT)\.PART([0-9])", n)
    if m:
        return (0x20 if m[1] == "IN" else 0x30) + int(m[2])
    for words, umask in ((("CLOCKTICKS", "TOTAL"), 0x10), (("_RD", "READ"), 0x20), (("_WR", "WRITE"), 0x30)):
        if any(w in n for w in words):
            return umask
    raise Refused("EventName", "a free-running counter of unknown kind")


def given(d, key):
    """A mask whose 0 means something else than its absence."""
    text = d.e.get(key)
    return None if text is None or nothing(text) else d.number(key)


def put_umask(reading, d, umask, ext, port, flow):
    """The unit mask, its extension, and the port and flow masks that some boxes have in the extension's place."""
    at = d.b.at
    masks = (("ch_mask", port, "PortMask"), ("fc_mask", flow, "FCMask"))
    if "ch_mask" in at:
        ext |= umask >> 8
        umask &= 0xFF
        for field, value, key in masks:
            value = named_or_implied(reading, d, at[field], value, ext)
            if value:
                d.put(field, value, key)
    else:
        umask |= ext << 8
        for field, value, key in masks:
            if value and not ext:
                d.put(field, value, key)
    if umask and "umask" not in at and "occ_sel" in at and umask & ~0xC0 == 0:
        d.put("occ_sel", umask >> 6, "UMask")
    elif umask:
        d.put("umask", umask, "UMask")


def named_or_implied(reading, d, field, value, ext):
    """The extension repeats port and flow class: what is named wins."""
    implied = ext << 32 >> field.ranges[0][1] & field.max
    if value is None:
        return implied
    if implied and implied != value:
        reading.note(d.name, "UMaskExt", "disagrees with the port or flow mask, which is taken")
    return value
