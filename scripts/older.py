# SPDX-License-Identifier: MIT
"""Tables for processors that no vendor's list has, from what libpfm4 names: names.jsonl becomes
.pmu files.

Their registers are those of a head. Unit masks stay unit masks: an event takes a group, or several.
What a name fixes beside masks (a threshold, an inversion) is a row of its own."""

import json
import os
import re

import libpfm4_names
import pmtable

HEAD = """# SPDX-License-Identifier: MIT
# Made by scripts/events.py from the names, codes and masks of libpfm4; made again when those change, not edited.
"""
SOURCE = "names and numbers of libpfm4, 2026-06"

P6 = ["pmctype perf 4", "device cpu", "use x86.select", "use x86.count", "use x86.facts",
      "counter 0..1 width=40 control=0x186 value=0xc1"]
CORE2 = P6 + ["counter F0..2 width=40 control=0x38d value=0x309", "default on=0..1"]
KNC = P6[:-1] + ["use x86.any", "counter 0..1 width=40 control=0x28 value=0x20"]
K7 = ["use amd.select", "counter 0..3 width=48 control=0xc0010000 value=0xc0010004"]
FAM15 = ["use amd.select", "counter 0..5 width=48 control=0xc0010200 value=0xc0010201 step=2"]
NORTH = ["device amd_nb", 'uncore "NB"', "use amd.nb"]
ARM8 = ["use arm.core", "default on=0..%d"]
ARM7 = ["device %s", "use arm.core7", "default on=0..%d"]
# the kernel tells which of them it has
METERS = ["view", "device power", 'uncore "POWER"', "use any.unit"]
SPARC = ["use sparc.core"]
MIPS = ["use mips.core"]
NETBURST = ["use netburst.core"]


def power(counters, general, at):
    """@at: the lowest of the four bits of a code that are the counter it must have."""
    return ["use power.older", "counter 1..%d width=32" % counters, "feature counter_at=%d" % at,
            "default on=1..%d" % general]


def box(device, unit, whole=None):
    return (["family " + whole] if whole else []) + ["device " + device, 'uncore "%s"' % unit,
                                                     "use any.unit"]


def intel(*models, family=6):
    return ['match arch=x86 vendor="GenuineIntel" family=%d model=%s' % (family, m) for m in models]


def amd(family, models=""):
    return ['match arch=x86 vendor="AuthenticAMD" family=%d%s'
            % (family, "".join(" " + w for w in models.split())) if models else
            'match arch=x86 vendor="AuthenticAMD" family=%d' % family]


def amds(family, *models):
    return [line for m in models for line in amd(family, m)]


def arm(implementer, part, arch="arm64"):
    return ['match arch="%s" id=0x%08x/0xff00fff0' % (arch, implementer << 24 | part << 4)]


def pvr(*versions):
    return ['match arch="powerpc" id=0x%x0000/0xffff0000' % v for v in versions]


def named(arch, name):
    """A host that is known by its name."""
    return ['match arch="%s" exact="%s,%s"' % (arch, arch, name)]


# all of the package beside its cores
UNCORE = ["device uncore", 'uncore "UNC"', "use nhm.uncore"]
THUNDERX2 = arm(0x42, 0x516) + arm(0x43, 0xAF)

# libpfm4's name: (our file and name, description, head, hosts). Revisions of the K8 by model
# number, as AMD's revision guide has them.
PROCESSORS = {
    "ppro": ("ppro", "Intel Pentium Pro", P6, intel(1)),
    "pii": ("pii", "Intel Pentium II", P6, intel(3, 5, 6)),
    "p6": ("p6", "Intel Pentium III", P6, intel(7, 8, 10, 11)),
    "pm": ("pm", "Intel Pentium M", P6, intel(9, 13)),
    "core": ("core2", "Intel Core 2", CORE2, intel(15, 23, 29)),
    "knc": ("knc", "Intel Knights Corner", KNC, intel(1, family=11)),
    "nhm_unc": ("nhm_unc", "Intel Nehalem, beside the cores", UNCORE, intel(26, 30, 31)),
    "wsm_unc": ("wsm_unc", "Intel Westmere, beside the cores", UNCORE, intel(44, 47)),
    "amd64_k7": ("amd64_k7", "AMD K7", K7, amd(6)),
    "amd64_k8_revb": ("amd64_k8_revb", "AMD K8, revision B", K7,
                      amds(15, "model=4 stepping=0", "model=5 stepping=0..1")),
    "amd64_k8_revc": ("amd64_k8_revc", "AMD K8, revision C", K7,
                      amds(15, "model=0..3", "model=4 stepping=1..15", "model=5 stepping=2..15",
                           "model=6..15")),
    "amd64_k8_revd": ("amd64_k8_revd", "AMD K8, revision D", K7, amds(15, "model=16..31")),
    "amd64_k8_reve": ("amd64_k8_reve", "AMD K8, revision E", K7, amds(15, "model=32..63")),
    "amd64_k8_revf": ("amd64_k8_revf", "AMD K8, revision F", K7,
                      amds(15, "model=64..95", "model=192..207")),
    "amd64_k8_revg": ("amd64_k8_revg", "AMD K8, revision G", K7, amds(15, "model=96..143")),
    "amd64_fam10h_barcelona": ("amd64_fam10h_barcelona", "AMD family 10H, Barcelona", K7,
                               amds(16, "model=0..3", "model=7", "model=10..255")),
    "amd64_fam10h_shanghai": ("amd64_fam10h_shanghai", "AMD family 10H, Shanghai", K7,
                              amds(16, "model=4..6")),
    "amd64_fam10h_istanbul": ("amd64_fam10h_istanbul", "AMD family 10H, Istanbul", K7,
                              amds(16, "model=8..9")),
    "amd64_fam11h_turion": ("amd64_fam11h_turion", "AMD family 11H, Turion", K7, amd(17)),
    "amd64_fam12h_llano": ("amd64_fam12h_llano", "AMD family 12H, Llano", K7, amd(18)),
    "amd64_fam14h_bobcat": ("amd64_fam14h_bobcat", "AMD family 14H, Bobcat", K7, amd(20)),
    "amd64_fam15h_interlagos": ("amd64_fam15h_interlagos", "AMD family 15H, Bulldozer to Excavator",
                                FAM15, amd(21)),
    "amd64_fam15h_nb": ("amd64_fam15h_nb", "AMD family 15H, north bridge", NORTH, amd(21)),
    "amd64_fam16h": ("amd64_fam16h", "AMD family 16H, Jaguar and Puma", K7, amd(22)),
    "arm_monaka": ("monaka", "Fujitsu Monaka", ARM8, arm(0x46, 3)),
    "arm_olympus": ("olympus", "NVIDIA Olympus", ARM8, arm(0x4E, 0x10)),
    # its identity is that of eMAG, which has a list
    "arm_xgene": ("xgene", "Applied Micro X-Gene", ARM8, []),
    "arm_1176": ("arm1176", "Arm 1176", ARM7, arm(0x41, 0xB76, "arm")),
    "qcom_krait": ("krait", "Qualcomm Krait", ARM7, arm(0x51, 0x40, "arm")),
    "tx2_dmc0": ("thunderx2_dmc", "Marvell ThunderX2, memory controllers",
                 box("uncore_dmc", "DMC", "thunderx2"), THUNDERX2),
    "tx2_llc0": ("thunderx2_l3c", "Marvell ThunderX2, last-level cache",
                 box("uncore_l3c", "L3C", "thunderx2"), THUNDERX2),
    "tx2_ccpi0": ("thunderx2_ccpi2", "Marvell ThunderX2, links between sockets",
                  box("uncore_ccpi2", "CCPI2", "thunderx2"), THUNDERX2),
    "netburst": ("netburst", "Intel Pentium 4", NETBURST, intel("0..2", family=15)),
    "netburst_p": ("netburst_p", "Intel Pentium 4, Prescott and later", NETBURST,
                   intel(3, 4, 6, family=15)),
    "power4": ("power4", "IBM POWER4", power(8, 8, 12), pvr(0x35, 0x38)),
    "ppc970": ("ppc970", "IBM PowerPC 970", power(8, 8, 12), pvr(0x39, 0x3C, 0x45)),
    "ppc970mp": ("ppc970mp", "IBM PowerPC 970MP", power(8, 8, 12), pvr(0x44)),
    "power5": ("power5", "IBM POWER5", power(6, 4, 20), pvr(0x3A)),
    "power5p": ("power5p", "IBM POWER5+", power(6, 4, 20), pvr(0x3B)),
    "power6": ("power6", "IBM POWER6", power(6, 4, 20), pvr(0x3E)),
    "power7": ("power7", "IBM POWER7", power(6, 4, 16), pvr(0x3F, 0x4A)),
    "power_torrent": ("power_torrent", "IBM Torrent, the hub chip of POWER7 systems",
                      box("torrent", "Torrent"), []),
    "powerpc_nest_mcs_read": ("power8_mcs_read", "IBM POWER8, reads of memory",
                              box("Nest_MCS_Read_BW", "MCS", "power8"), pvr(0x4D)),
    "powerpc_nest_mcs_write": ("power8_mcs_write", "IBM POWER8, writes to memory",
                               box("Nest_MCS_Write_BW", "MCS", "power8"), pvr(0x4D)),
    "rapl": ("rapl", "Intel, energy meters",
             METERS + ["event RAPL_ENERGY_DRAM code=3", "event RAPL_ENERGY_PSYS code=5"], []),
    "amd64_rapl": ("amd64_rapl", "AMD, energy meters", METERS, []),
    "cpum_sf": ("cpum_sf", "IBM Z, sampling facility", ["view", "device cpum_sf", "use any.unit"],
                []),
    "ultra12": ("ultra12", "Sun UltraSPARC I and II", SPARC, named("sparc", "ultra12")),
    "ultra3": ("ultra3", "Sun UltraSPARC III", SPARC, named("sparc", "ultra3")),
    "ultra3i": ("ultra3i", "Sun UltraSPARC IIIi", SPARC, named("sparc", "ultra3i")),
    "ultra3p": ("ultra3p", "Sun UltraSPARC III+", SPARC, named("sparc", "ultra3+")),
    "ultra4p": ("ultra4p", "Sun UltraSPARC IV+", SPARC, named("sparc", "ultra4+")),
    "niagara1": ("niagara1", "Sun UltraSPARC T1", SPARC, named("sparc", "niagara")),
    "niagara2": ("niagara2", "Sun UltraSPARC T2", ["use sparc.niagara2"],
                 named("sparc", "niagara2")),
    "mips_74k": ("mips_74k", "MIPS 74K", MIPS, named("mips", "74Kc")),
}
DEVICES = {"arm_1176": "armv6_1176", "qcom_krait": "armv7_krait"}
AMD_REV = {n: i for i, n in enumerate(("", "amd64_k7", *("amd64_k8_rev" + r for r in "bcdefg"),
                                       "amd64_fam10h_barcelona",
                                       "amd64_fam10h_shanghai", "amd64_fam10h_istanbul"))}
# Events by the ESCR that chooses them: the first of the pair, and the counters. Of the first group
# Linux leaves two out, whose CCCRs have faults; what counts entries over time knows one ESCR of the
# pair alone.
NETBURST_UNITS = {
    (0x3A0, "0,2"): "BSQ_cache_reference", (0x3A0, "0..1"): "BSQ_allocation",
    (0x3A0, "2..3"): "BSQ_active_entries",
    (0x3A2, "0,2"): "IOQ_allocation FSB_data_activity global_power_events b2b_cycles bnr snoop response",
    (0x3A2, "2..3"): "IOQ_active_entries", (0x3AA, "0,2"): "MOB_load_replay",
    (0x3AC, "0,2"): "page_walk_type",
    (0x3B2, "0,2"): "BPU_fetch_request", (0x3B6, "0,2"): "ITLB_reference",
    (0x3C0, "4..7"): "tc_ms_xfer uop_queue_writes",
    (0x3C2, "4..7"): "retired_mispred_branch_type retired_branch_type",
    (0x3C4, "4..7"): "TC_deliver_mode TC_misc",
    (0x3A4, "8..11"): "SSE_input_assist packed_SP_uop packed_DP_uop scalar_SP_uop scalar_DP_uop 64bit_MMX_uop 128bit_MMX_uop x87_FP_uop",
    (0x3A8, "8..11"): "memory_cancel WC_Buffer",
    (0x3AE, "8..11"): "memory_complete load_port_replay store_port_replay",
    (0x3B8, "12..17"): "instr_retired uops_retired mispred_branch_retired instr_completed",
    (0x3BC, "12..17"): "uops_type",
    (0x3CA, "12..17"): "resource_stall",
    (0x3CC, "12..17"): "front_end_event execution_event replay_event branch_retired x87_assist machine_clear",
}
NETBURST_UNIT = {event: unit for unit, events in NETBURST_UNITS.items() for event in events.split()}
# Masks of the UltraSPARC T2 where libpfm4 has two of one bit, or bits that are reserved: as
# Solaris' driver has them.
NIAGARA2 = {"Stores": 0x10, "cpu_store": 0x10, "mmu_load": 0x20}
CORE = MASK = 1     # types of a PMU and of an attribute
TAG = 16            # masks from here on are tags
NCOMBO = 1
DEFAULT = 8
OMIT = 0x10         # of AMD's
GRP_EXCL = 0x10    # of an event of Intel's: masks of one group, of the first where none is given
GRP_DFL_NONE = 0x800
MODIFIERS = {"c": "cmask", "i": "inv", "e": "edge"}
BITS = (("umask", 8, 0xFF), ("edge", 18, 1), ("inv", 23, 1), ("cmask", 24, 0xFF))


def bits_of(code):
    """Bits above the event's code, as fields."""
    return {name: code >> lsb & most for name, lsb, most in BITS if code >> lsb & most}


class Maker:
    """One table: the events of one PMU."""

    def __init__(self, kind, pmu, events):
        self.kind, self.pmu = kind, pmu
        self.rev = AMD_REV.get(pmu["name"], 0)
        self.events = [e for e in events if self.has(e)]
        self.by_name = {e["e"]: e for e in reversed(self.events)}
        self.number = {e["e"]: i for i, e in enumerate(events)}
        self.counter_at = next((int(w.split("=")[1])
                                for w in PROCESSORS[pmu["name"]][2]
                                if w.startswith("feature counter_at")), 0)
        self.lines = []
        self.groups = {}    # what follows a name -> the name

    def has(self, row):
        """Sister models share a list, but not all of it."""
        if row.get("model", self.pmu["id"]) != self.pmu["id"]:
            return False
        first, last = row.get("fl", 0) >> 8 & 0xFF, row.get("fl", 0) >> 16 & 0xFF
        return self.kind != "amd64" or not self.rev or (not first
                                                        or first <= self.rev) and (not last or self.rev <= last)

    def masks(self, e):
        """[(group, [mask])] by rising group."""
        found = {}
        for u in e.get("u", ()):
            if self.has(u):
                found.setdefault(u.get("g", 0) & 0xFF, []).append(u)
        return sorted(found.items())

    def bits(self, u):
        return u.get("c", 0) << 8 if self.kind == "amd64" else u.get("c", 0)

    # ---- rows ------------------------------------------------------------------------------------

    def make(self):
        """Of two events of one name the first is found; names that differ by "_" are told apart by
        their spelling."""
        seen, folded = set(), set()
        for e in self.events:
            name = e["e"].lower()
            if name not in seen:
                self.event(e)
                if pmtable.fold(name) in folded:
                    self.lines[-1] += " flags=shadowed"
            seen.add(name)
            folded.add(pmtable.fold(name))
        return self.lines

    def event(self, e):
        if "equiv" in e:
            self.alias(e)
            return
        own = getattr(self, self.kind,
                      None) if self.kind != "other" else self.netburst if "netburst" in self.pmu["name"] else self.power
        if own:
            own(e)
            return
        code = e.get("code", 0)
        fields = {"code": code & (0xFFF if self.kind == "amd64" else 0xFF)}
        if self.kind != "amd64":
            fields.update(bits_of(code))
        groups = [masks for _, masks in self.masks(e)]
        if self.kind == "intel_x86" and e.get("fl", 0) & GRP_EXCL:
            groups = [groups[0] + [dict(u, fl=u.get("fl", 0) & ~DEFAULT) for masks in groups[1:]
                                   for u in masks]]
        takes = [self.group(e, masks) for masks in groups]
        self.row(e["e"], fields, e, takes=takes)

    def arm(self, e):
        self.row(e["e"], {"code": e["code"]}, e,
                 self.cycles(e) if self.pmu["type"] == CORE else None)

    def power(self, e):
        counter = e["code"] >> self.counter_at & 15 if self.counter_at else 0
        self.row(e["e"], {"code": e["code"]}, {}, str(counter) if counter else None)

    def mips(self, e):
        self.row(e["e"], {"code": e["code"]}, {},
                 None if e["code"] < 2 else "1,3" if e["code"] & 0x80 else "0,2")

    def sparc(self, e):
        pic = libpfm4_names.pic_mask(self.pmu["name"], e["e"])
        values = [(u["u"], NIAGARA2.get(u["u"], u["c"])) for u in e.get("u", ())]
        takes = [self.values("any", "", values)] if values else []
        self.row(e["e"], {"code": e["code"], "pic": pic}, {}, {1: "0", 2: "1", 3: None}[pic], takes)

    def netburst(self, e):
        escr, counters = NETBURST_UNIT[e["e"]]
        masks = [u for u in e["u"] if u["t"] == MASK]
        tagged = [u["u"] for u in masks if e["e"] == "replay_event" and u["c"] > 1]
        values = [(u["u"], 1 << u["c"] if u["c"] < TAG else 1 << TAG | 2 << u["c"])
                  for u in masks if u["u"] not in tagged]
        default = [u["u"] for u in masks if u.get("d")]
        takes = [self.values("any",
                             "" if tagged else " default=" + (default[0] if default else "!"),
                             values)]
        if tagged:
            takes.append(self.values("one field=pebs", "",
                                     [(n, i + 1) for i, n in enumerate(tagged)]))
        fields = {"code": self.number[e["e"]], "select": e["code"] >> 8, "sel": e["code"] & 0xFF,
                  "msr": escr}
        self.row(e["e"], fields, {}, counters, takes)

    def cycles(self, e):
        """PMUv3 has a counter for cycles alone."""
        return "0..%d,31" % (self.pmu["counters"] - 1) if e["code"] == 0x11 and self.pmu["name"] not in DEVICES else None

    def row(self, name, fields, e, on=None, takes=()):
        words = ["event", name] + ["%s=%s" % (k, hex(v) if v > 9 else v) for k,
                                   v in fields.items() if v or k == "code"]
        on = on or self.counters(e)
        if on:
            words.append("on=" + on)
        if takes:
            words.append("umasks=" + ",".join(takes))
        self.lines.append(" ".join(words))

    def counters(self, e):
        """Where one counter alone, or a fixed one, has the event."""
        set_ = e.get("cnt", 0)
        general, fixed = set_ & 0xFF, set_ >> 32
        if not set_ or not self.pmu["counters"] or not fixed and general == (1 << self.pmu["counters"]) - 1:
            return None
        return ",".join([str(i) for i in range(8) if general >> i & 1]
                        + ["F%d" % i for i in range(4) if fixed >> i & 1])

    # ---- unit masks ------------------------------------------------------------------------------

    def group(self, e, masks):
        """Declares the masks of one group; those that say more than a mask become rows. Returns its
        name."""
        one = all(u.get("fl", 0) & NCOMBO for u in masks)
        words, same = [], {}
        for u in masks:
            more = bits_of(self.bits(u))
            if set(more) - {"umask"}:
                raise ValueError("%s:%s is more than a mask" % (e["e"], u["u"]))
            words.append((u, more.get("umask", 0)))
            same.setdefault(more.get("umask", 0), []).append(u["u"])
        defaults = [u["u"] for u, _ in words if u.get("fl", 0) & DEFAULT]
        optional = all(u.get("fl", 0) & (OMIT if self.kind == "amd64" else GRP_DFL_NONE)
                       for u in masks)
        preset = " default=" + (",".join(defaults[:1] if one
                                         else defaults)) if defaults else "" if optional else " default=!"
        return self.values("one" if one else "any", preset,
                           [(n, v) for v, names in same.items() for n in names])

    def values(self, kind, preset, values):
        """Declares a group of (name, value). Names of one value are spellings of it, the first of
        which is not for colons."""
        same = {}
        for n, v in values:
            same.setdefault(v, []).append(n)
        words = ["%s=0x%x" % (n[0] if len(n) == 1 else "/".join(["BITS_%X" % v] + n), v) for v,
                 n in same.items()]
        said = "%s%s %s" % (kind, preset, " ".join(words))
        if said not in self.groups:
            self.groups[said] = "m%d" % len(self.groups)
            self.lines.append("group %s %s" % (self.groups[said], said))
        return self.groups[said]

    def alias(self, e):
        """Another name: of a row, or of one with masks and modifiers, which becomes a row of its
        own."""
        target, *attributes = e["equiv"].split(":")
        base = self.by_name[target]
        code, served = base.get("code", 0), set()
        for a in attributes:
            key, _, value = a.partition("=")
            group = next(((g, u) for g, masks in self.masks(base) for u in masks if u["u"] == key),
                         None)
            if group:
                served.add(group[0])
                code |= self.bits(group[1])
            elif key in MODIFIERS:
                code |= int(value or "1", 0) << {"c": 24, "i": 23, "e": 18}[key]
            else:
                raise ValueError("%s: %s is neither mask nor modifier" % (e["e"], a))
        if not attributes:
            self.event(dict(base, e=e["e"]))
            return
        for g, masks in self.masks(base):
            for u in masks if g not in served else ():
                if u.get("fl", 0) & DEFAULT:
                    code |= self.bits(u)
        self.row(e["e"], {"code": code & 0xFF, **bits_of(code)}, base)


def head_of(name, title, head, hosts, pmu):
    ours, alias_names = name, [pmu["name"]] if pmu["name"] not in (name, "core") else []
    last = pmu["counters"] - 1
    lines = ['pmu %s "%s"' % (ours, title)] + (["alias " + " ".join(alias_names)] if alias_names
                                               else []) + ['source "%s"' % SOURCE] + hosts
    for line in head:
        lines.append(line.replace("%d", str(last)).replace("%s", DEVICES.get(pmu["name"], "")))
    return lines


def make(names, folder):
    """Writes a file for each of PROCESSORS into @folder, from the list @names."""
    os.makedirs(folder, exist_ok=True)
    with open(names, encoding="utf-8") as f:
        for line in f:
            table = json.loads(line)
            for pmu in table["pmus"]:
                if pmu["name"] not in PROCESSORS:
                    continue
                name, title, head, hosts = PROCESSORS[pmu["name"]]
                lines = head_of(name, title, head, hosts, pmu) + Maker(table["kind"], pmu,
                                                                       table["events"]).make()
                with open(os.path.join(folder, re.sub(r"\W", "_", name) + ".pmu"), "w",
                          encoding="utf-8") as out:
                    out.write(HEAD + "\n" + "\n".join(lines) + "\n")
