# SPDX-License-Identifier: MIT
"""Tables for Linux's lists: the fields and counters of cores and units, by architecture."""

import re

from vendors.drafts import Sheet
from vendors.intel_core import make_core_sheet
from vendors.heads import get_core_libpfm_name, make_table_title, find_unit_device


def find_table(reading, unit):
    """Returns the table of a unit of a list; '' is the core."""
    m = reading.model
    if m.arch == "s390" and unit == "CPU-M-CF":
        unit = ""
    if m.arch == "x86" and not m.folder.startswith("amd") and (not unit or unit.startswith("cpu_")):
        return make_intel_core(reading, unit[4:])
    return make_unit_table(reading, unit) if unit else make_core_table(reading)


list_date = ""           # YYYY-MM of the kernel that has the lists; empty if unspecified


def make_source_text(model):
    """Returns the source of the tables of @model."""
    text = "Linux tools/perf/pmu-events/arch/%s/%s" % (model.arch, model.folder)
    return "%s, %s" % (text, list_date) if list_date else text


# ---- Intel's cores -------------------------------------------------------------------------------

def make_intel_core(reading, kind):
    """Makes the table of an Intel core; @kind is 'core', 'atom' or 'lowpower' in a hybrid
    processor."""
    m, known = reading.model, reading.processor
    alone = m.folder == "alderlaken"            # a hybrid's small cores, sold alone
    if not kind and known and known.is_hybrid() and not alone:
        kind = "core"
    name = m.name + "_" + kind if kind else m.name

    def make_sheet():
        """Makes an empty sheet."""
        core = ""
        if kind == "lowpower":
            core = "crestmont"
        elif known and (kind or alone):
            core = known.find_core_named(kind != "core")
        sheet = make_core_sheet(reading, name, core, (), "cpu_" + kind if kind else "cpu",
                                make_table_title(m.name, reading.desc, core if kind else ""))
        sheet.source = make_source_text(m)
        if known and not alone:
            sheet.aliases += list_intel_aliases(known, kind, core, name)
        reading.cores[kind] = name
        return sheet
    return reading.get_sheet(name, make_sheet)


def list_intel_aliases(known, kind, core, name):
    """Names of a core's table in other programs."""
    short = known.short_name()
    if not kind:
        return [n for n in dict.fromkeys([short] + known.libpfm) if n != name]
    names = ["%s_%s" % (short, core)]
    if get_core_libpfm_name(core):
        names.append("%s_%s" %
                     (known.libpfm[0] if known.libpfm else short, get_core_libpfm_name(core)))
    return names


# ---- other cores ---------------------------------------------------------------------------------

def make_core_table(reading):
    """Makes the only core table of a list that is not Intel's."""
    m, known = reading.model, reading.processor

    def make_sheet():
        """Makes an empty sheet."""
        small, uses = (known and known.cores.get("")) or reading.arch.cores[""]
        sheet = Sheet(m.name, make_table_title(m.name, reading.desc), uses)
        sheet.source = make_source_text(m)
        reading.cores[""] = m.name
        if m.arch == "arm64" and m.name.startswith("cortex"):
            sheet.aliases.append("armv8_" + m.name)
        if m.arch == "s390":
            sheet.aliases.append(m.name.replace("cf_", ""))
        sheet.aliases += known.libpfm + known.alias if known else []
        return sheet
    return reading.get_sheet(m.name, make_sheet)


def get_core_counters(sheet, arch, event):
    """Counters that can count an event of a core; None: all general counters."""
    if arch == "x86":
        return None
    if sheet.unit:
        return 0
    if arch == "arm64":
        return 0xFFFFFFFF if event == 0x11 else 0x7FFFFFFF
    if arch == "powerpc":
        counter = event >> 16 & 15
        return 1 << counter if 1 <= counter <= 6 else 0x1E
    return 0


# ---- units beside the core -----------------------------------------------------------------------

def make_unit_table(reading, unit):
    """Makes the table of a unit on an architecture other than Intel's."""
    m, known = reading.model, reading.processor
    device = find_unit_device(unit)
    flat = re.sub(r"[^a-z0-9_]", "_", device.lower())
    name = flat if flat.endswith(m.name) else m.name + "_" + flat

    def make_sheet():
        """Makes an empty sheet."""
        here = (known and known.units.get(device)) or reading.arch.units.get(device, {})
        sheet = Sheet(name, make_table_title(m.name, reading.desc, unit=unit),
                      here.get("use", "any.unit").split(","))
        sheet.device, sheet.unit = device, unit
        sheet.source = make_source_text(m)
        sheet.uncore = "core" not in here
        if device == "amd_l3" and known:
            sheet.aliases += [n + "_l3" for n in known.libpfm]
        return sheet
    return reading.get_sheet(name, make_sheet)
