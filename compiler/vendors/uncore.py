# SPDX-License-Identifier: MIT
"""Intel's uncore boxes, one table each, from Intel's folders and Linux's lists."""

import re

from language import tables as pt
from vendors.drafts import EventDraft, Sheet
from vendors.heads import find_box_section, make_table_title, find_unit_device
from vendors.untrusted import (
    COUNTERS, RefusedValue, name_of, is_placeholder, convert_to_strings, get_cached_value)

# Boxes whose lists have an extra select bit that the kernel rejects.
WITHOUT_EXTRA_SELECT = ("jkt.pcu", "jkt.ubox", "ivt.pcu", "ivt.ubox")
MASKS = (("ch_mask", "PortMask"), ("fc_mask", "FCMask"))
THRESHOLDS = ("thresh", "cmask", "threshold")       # one field, named differently


def add_uncore_event(reading, e, experimental=False):
    """Adds an event of an uncore list."""
    e = convert_to_strings(e)
    name = name_of(e)
    sheet = find_box(reading, e, name)
    draft = EventDraft(sheet, name, e)
    counters, fixed = get_cached_value(COUNTERS, e, "Counter")
    code, umask, ext = draft.get_number("EventCode"), draft.get_number("UMask"), 0
    selected = draft.get_number("ExtSel")
    draft.flags = pt.ROW_PER_PKG
    if experimental or draft.get_number("Experimental"):
        draft.flags |= pt.ROW_EXPERIMENTAL
    if "free_running" in sheet.device:
        draft.flags |= pt.ROW_FREE_RUNNING
        if code != 0xFF:
            code, umask = 0xFF, get_free_running_umask(name)
    elif fixed is not None:
        code, umask = 0xFF, 0
    else:
        code |= 0x100 if selected else 0
        ext = draft.get_number("UMaskExt")
    draft.set_field("code", code, "EventCode")
    set_umask(reading, draft, umask, ext)
    draft.set_fields((("CounterMask", sheet.threshold), ("Invert", "inv"), ("EdgeDetect", "edge")))
    if draft.get_number("MSRValue") and draft.get_number("MSRIndex"):
        raise RefusedValue("MSRValue", "an extra register off the core")
    draft.set_filters()
    set_every_state(draft)
    if selected and code > 0xFF and sheet.uses[-1] in WITHOUT_EXTRA_SELECT:
        draft.set_text(
            "note",
            "the kernel's format of this box drops the extra select bit: another event counts then")
    sheet.add_row(draft.make_row(counters or None, reading.file))
    reading.counts["uncore"] += 1


def set_every_state(draft):
    """Selects all states for a look-up event of the last-level cache without a filter. The hardware
    counts the states in the filter, none if it is empty."""
    field = draft.sheet.at.get("filter_state")
    if field and "LLC_LOOKUP" in draft.name and not any(
            k in ("filter_state", "config1") for k, _ in draft.values):
        draft.set_field("filter_state", field.max, "Filter")


# ---- tables --------------------------------------------------------------------------------------

def find_box(reading, e, name):
    """Returns the table of an event's box. Cached, because lists repeat a few unit names."""
    unit, kind = e.get("Unit", ""), e.get("CounterType", "")
    running = kind.strip().upper() == "FREERUN" if kind else False
    controller = running and re.match(r"UNC_(?:M_)?MC([01])_", name)
    key = unit, running, controller and controller[1]
    sheet = reading.boxes.get(key)
    if sheet is None:
        unit = unit.strip()
        sheet = reading.boxes[key] = get_uncore_table(
            reading, get_box_device(reading, unit, running, key[2]), unit)
    return sheet


def get_box_device(reading, unit, running, controller):
    """The kernel's name of the box that a list calls @unit."""
    if not unit:
        raise RefusedValue("Unit", "missing")
    if not re.fullmatch(r"[A-Za-z0-9_ -]{1,40}", unit):
        raise RefusedValue("Unit", "unknown unit '%s'" % unit[:40])
    device = find_unit_device(unit)
    if running and "free_running" not in device:
        device = "uncore_imc_free_running_" + controller if controller else device + "_free_running"
    if unit == "NCU":           # counts clocks, on a counter that depends on the generation
        device = "uncore_clock"
    if reading.processor and unit in reading.processor.units:
        device = reading.processor.units[unit]["device"]
    return device


def get_uncore_table(reading, device, unit):
    """Returns the table of a box; makes it at first use."""
    m = reading.model
    flat = re.sub(r"[^a-z0-9_]", "_", device.lower())
    # a folder may be named after its unit
    name = flat if device.lower().endswith(m.name) else m.name + "_" + flat

    def make_sheet():
        """Makes the empty sheet of a box."""
        box = device[7:] if device.startswith("uncore_") else device
        words = make_table_title(m.name, reading.desc,
                                 unit=unit) + (", free-running" if "free_running" in device else "")
        sheet = Sheet(name, words, [find_box_section(find_formats(reading), box)])
        sheet.device, sheet.unit, sheet.uncore = device, unit, True
        sheet.threshold = next((field for field in THRESHOLDS if field in sheet.at), THRESHOLDS[0])
        if reading.intel:
            short = box.replace("cbox", "cbo").replace("ubox", "ubo")
            sheet.aliases += ["%s_unc_%s" % (libpfm, short) for libpfm in reading.processor.libpfm]
        return sheet
    return reading.get_sheet(name, make_sheet)


def find_formats(reading):
    """Returns the family of a processor's uncore formats; the newest family of its kind for an
    unknown processor."""
    if reading.intel:
        return reading.processor.boxes
    server = any("x_uncore" in inner or "rapids" in inner for _, inner, _ in reading.model.files)
    return "spr" if server else "lnl"


# ---- selecting what is counted -------------------------------------------------------------------

def get_free_running_umask(name):
    """Returns the unit mask of a free-running counter: kind << 4 | index."""
    n = name.upper()
    m = re.search(r"BANDWIDTH_(IN|OUT)\.PART([0-9])", n)
    if m:
        return (0x20 if m[1] == "IN" else 0x30) + int(m[2])
    for words, umask in ((("CLOCKTICKS", "TOTAL"), 0x10), (("_RD", "READ"), 0x20),
                         (("_WR", "WRITE"), 0x30)):
        if any(w in n for w in words):
            return umask
    raise RefusedValue("EventName", "a free-running counter of unknown kind")


def get_mask_value(draft, key):
    """Returns a unit mask for which 0 differs from absence."""
    text = draft.event.get(key)
    return None if text is None or is_placeholder(text) else draft.get_number(key)


def set_umask(reading, draft, umask, ext):
    """Sets the unit mask, its extension, and the port and flow masks that some boxes have in place
    of the extension."""
    at = draft.sheet.at
    masks = [(field, get_mask_value(draft, key), key) for field, key in MASKS
             if key in draft.event or field in at]
    if "ch_mask" in at:
        ext |= umask >> 8
        umask &= 0xFF
    else:
        umask |= ext << 8
    for field, value, key in masks:
        if "ch_mask" in at:
            value = set_explicit_or_extension(reading, draft, at[field], value, ext)
        elif ext:
            value = 0
        if value:
            draft.set_field(field, value, key)
    if umask and "umask" not in at and "occ_sel" in at and umask & ~0xC0 == 0:
        draft.set_field("occ_sel", umask >> 6, "UMask")
    elif umask:
        draft.set_field("umask", umask, "UMask")


def set_explicit_or_extension(reading, draft, field, value, ext):
    """Sets port and flow class, which the extension repeats; explicit keys take precedence."""
    implied = ext << 32 >> field.ranges[0][1] & field.max
    if value is None:
        return implied
    if implied and implied != value:
        reading.report_note(draft.name, "UMaskExt",
                            "disagrees with the port or flow mask, which is taken")
    return value
