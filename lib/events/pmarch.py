# SPDX-License-Identifier: MIT
"""Tables for Linux's lists: the fields and counters of cores and units, by architecture."""

import re

import pmtable as pt
from pmboxes import AMD_ALIAS, ARM_ALIAS, BIG_AND_ATOM, CORE_ALIAS, HYBRIDS, INTEL, unit_device
from pmbuild import Builder
from pmcore import core_table

WITHOUT_BOX = ("cpum_sf", "pai_crypto", "pai_ext")      # units of s390 that are part of the core
NOT_MODIFIERS = ("code", "umask", "type", "eventid")


def table_for(reading, unit):
    """The table for a unit of a list; '' is the core."""
    m = reading.model
    if m.arch == "s390" and unit == "CPU-M-CF":
        unit = ""
    if m.arch == "x86" and not m.folder.startswith("amd") and (not unit or unit.startswith("cpu_")):
        return intel_core(reading, unit[4:])
    return unit_table(reading, unit) if unit else other_core(reading)


def source_of(model):
    return "Linux tools/perf/pmu-events/arch/%s/%s" % (model.arch, model.folder)


def zen(model):
    """Generation of an AMD core."""
    m = re.fullmatch(r"amdzen([0-9]+)", model.folder)
    return int(m[1]) if m else 99


# ---- Intel's cores ---------------------------------------------------------------------------------------------------

def intel_core(reading, kind):
    """A core of Intel's; @kind is 'core', 'atom' or 'lowpower' in a hybrid."""
    m = reading.model
    alone = m.folder == "alderlaken"            # a hybrid's small cores, sold alone
    if not kind and reading.intel in HYBRIDS and not alone:
        kind = "core"
    name = m.name + "_" + kind if kind else m.name

    def make():
        core = ""
        if kind == "lowpower":
            core = "crestmont"
        elif kind or alone:
            core = BIG_AND_ATOM.get(reading.intel, BIG_AND_ATOM["adl"])[kind != "core"]
        b = core_table(reading, name, core, (), "cpu_" + kind if kind else "cpu", reading.desc)
        b.t.source = source_of(m)
        if reading.intel and not alone:
            b.t.aka += intel_names(reading.intel, kind, core, name)
        reading.cores[kind] = name
        return b
    return reading.builder(name, make)


def intel_names(folder, kind, core, name):
    """Names that other programs have for a core's table."""
    short, libpfm = folder.replace("-", "_"), INTEL[folder].libpfm
    if not kind:
        return [n for n in dict.fromkeys([short] + libpfm.split()) if n != name]
    names = ["%s_%s" % (short, core)]
    if core in CORE_ALIAS:
        names.append("%s_%s" % (libpfm or short, CORE_ALIAS[core]))
    return names


# ---- other cores -----------------------------------------------------------------------------------------------------

def other_core(reading):
    m = reading.model

    def make():
        b = Builder(m.name, reading.desc, "x86" if m.arch == "x86" else "format")
        b.t.source = source_of(m)
        reading.cores[""] = m.name
        CORES.get(m.arch, unknown_core)(b, m)
        return b
    return reading.builder(m.name, make)


def amd_core(b, model):
    """Family 17H on: PERF_CTL and PERF_CTR alternate."""
    b.t.device, b.t.perf_type = "cpu", 4
    b.field("code", "config:0-7,32-35")
    b.field("umask", "config:8-15")
    for name, where in (("edge", "config:18"), ("inv", "config:23"), ("cmask", "config:24-31")):
        b.field(name, where, modifier=True)
    b.t.counters.append(pt.Counter(0, 5, 48, False, 0xC0010200, 0xC0010201, 2))
    if zen(model) in AMD_ALIAS:
        b.t.aka.append(AMD_ALIAS[zen(model)])


def arm_core(b, model):
    b.t.device = "armv8_pmuv3_0"
    b.field("code", "config:0-15")
    for name, where in (("long", "config1:0"), ("rdpmc", "config1:1"), ("threshold_count", "config1:2"),
                        ("threshold_compare", "config1:3-4"), ("threshold", "config1:5-16")):
        b.field(name, where, modifier=True)
    # As armv8.pmu: a core has some of the counters 0 to 30, and counter 31 for cycles alone.
    b.t.counters += [pt.Counter(0, 30, 64), pt.Counter(31, 31, 64)]
    b.t.features += [("cycle_counter", 31), ("cycle_event", 0x11)]
    b.t.aka += ["armv8_" + model.name] if model.name.startswith("cortex") else []
    b.t.aka += ARM_ALIAS.get(model.folder, "").split()


def power_core(b, model):
    b.t.device, b.t.perf_type = "cpu", 4
    b.field("code", {"power8": "config:0-49", "power9": "config:0-51"}.get(model.folder, "config:0-59"))
    if model.folder not in ("power8", "power9"):
        b.field("thresh_cmp", "config1:0-17", modifier=True)
    b.t.counters.append(pt.Counter(1, 6, 32))


def s390_core(b, model):
    b.t.device = "cpum_cf"
    b.field("code", "config:0-63")
    b.t.aka.append(model.name.replace("cf_", ""))


def riscv_core(b, model):
    b.t.device, b.t.perf_type = "cpu", 4
    b.field("code", "config:0-47")
    b.field("firmware", "config:62-63", modifier=True)


def unknown_core(b, model):
    b.t.device, b.t.perf_type = "cpu", 4
    b.field("code", "config:0-63")


CORES = {"x86": amd_core, "arm64": arm_core, "powerpc": power_core, "s390": s390_core, "riscv": riscv_core}


def core_counters(b, arch, event):
    """The counters that can count a core's event; None: all general ones."""
    if arch == "x86":
        return None
    if b.t.device == "armv8_pmuv3_0":
        return 0xFFFFFFFF if event == 0x11 else 0x7FFFFFFF
    if arch == "powerpc" and b.t.device == "cpu":
        counter = event >> 16 & 15
        return 1 << counter if 1 <= counter <= 6 else 0x1E
    return 0


# ---- units beside the core -------------------------------------------------------------------------------------------

def unit_table(reading, unit):
    """A unit's table, on any architecture but Intel's."""
    m = reading.model
    device = unit_device(unit)
    flat = re.sub(r"[^a-z0-9_]", "_", device.lower())
    name = flat if flat.endswith(m.name) else m.name + "_" + flat

    def make():
        b = Builder(name, "%s, %s" % (reading.desc, unit), "format")
        b.t.device, b.t.unit = device, unit
        b.t.source = source_of(m)
        if device not in WITHOUT_BOX:
            b.t.flags |= pt.TABLE_UNCORE
        fields, counters = unit_layout(device, zen(m))
        for field, where in fields.items():
            b.field(field, where, modifier=field not in NOT_MODIFIERS)
        if counters:
            b.t.counters.append(pt.Counter(0, counters - 1, 48))
        if device == "amd_l3" and zen(m) in AMD_ALIAS:
            b.t.aka.append(AMD_ALIAS[zen(m)] + "_l3")
        return b
    return reading.builder(name, make)


def unit_layout(device, generation):
    """(field name -> bits, number of counters or 0 when that is not known)."""
    if device == "amd_l3":
        fields = {"code": "config:0-7", "umask": "config:8-15"}
        if generation < 3:
            fields.update(slicemask="config:48-51", threadmask="config:56-63")
        else:
            fields.update(coreid="config:42-44", enallslices="config:46", enallcores="config:47",
                          sliceid="config:48-50", threadmask="config:56-57")
        return fields, 6
    if device == "amd_df":
        if generation < 4:
            return {"code": "config:0-7,32-35,59-60", "umask": "config:8-15"}, 4
        return {"code": "config:0-7,32-37", "umask": "config:8-15,24-27"}, 16
    if device == "amd_umc":
        return {"code": "config:0-7", "rdwrmask": "config:8-9"}, 4
    if device == "arm_cmn":
        return {"type": "config:0-15", "eventid": "config:16-26", "occupid": "config:27-30",
                "bynodeid": "config:31", "nodeid": "config:32-47"}, 0
    return {"code": "config:0-63"}, 0
