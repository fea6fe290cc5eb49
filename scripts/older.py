# SPDX-License-Identifier: MIT
"""Tables for processors that no vendor's list has, from what libpfm4 names: names.jsonl becomes .pmu files.

These are the ones whose registers are those of a head: PERFEVTSEL of Intel and AMD, event numbers of Arm's. Unit masks stay unit
masks: an event takes a group, or several. What a name fixes beside masks (a threshold, an inversion) is a row of its own.
"""

import json
import os
import re

HEAD = """# SPDX-License-Identifier: MIT
# Made by scripts/events.py from the names, codes and masks of libpfm4; made again when those change, not edited.
"""
SOURCE = "names and numbers of libpfm4, 2026-06"

P6 = ["pmctype perf 4", "device cpu", "use x86.select", "use x86.count", "use x86.facts", "counter 0..1 width=40 control=0x186 value=0xc1"]
CORE2 = P6 + ["counter F0..2 width=40 control=0x38d value=0x309", "default on=0..1"]
KNC = P6[:-1] + ["use x86.any", "counter 0..1 width=40 control=0x28 value=0x20"]
K7 = ["use amd.select", "counter 0..3 width=48 control=0xc0010000 value=0xc0010004"]
FAM15 = ["use amd.select", "counter 0..5 width=48 control=0xc0010200 value=0xc0010201 step=2"]
NORTH = ["device amd_nb", 'uncore "NB"', "use amd.nb"]
ZEN6 = ["use amd.core"]
ZEN6_L3 = ["whole amdzen6", "device amd_l3", 'uncore "L3"', "use amd.l3_zen3"]
ARM8 = ["use arm.core", "default on=0..%d"]
ARM7 = ["device %s", "use arm.core7", "default on=0..%d"]


def intel(*models, family=6):
    return ['match arch=x86 vendor="GenuineIntel" family=%d model=%d' % (family, m) for m in models]


def amd(family, models=""):
    return ['match arch=x86 vendor="AuthenticAMD" family=%d%s' % (family, "".join(" " + w for w in models.split())) if models else
            'match arch=x86 vendor="AuthenticAMD" family=%d' % family]


def amds(family, *models):
    return [line for m in models for line in amd(family, m)]


def arm(implementer, part, arch="arm64"):
    return ['match arch="%s" id=0x%08x/0xff00fff0' % (arch, implementer << 24 | part << 4)]


# libpfm4's name: (our file and name, description, head, hosts). Revisions of the K8 by model number, as AMD's revision guide has them.
PROCESSORS = {
    "ppro": ("ppro", "Intel Pentium Pro", P6, intel(1)),
    "pii": ("pii", "Intel Pentium II", P6, intel(3, 5, 6)),
    "p6": ("p6", "Intel Pentium III", P6, intel(7, 8, 10, 11)),
    "pm": ("pm", "Intel Pentium M", P6, intel(9, 13)),
    "core": ("core2", "Intel Core 2", CORE2, intel(15, 23, 29)),
    "knc": ("knc", "Intel Knights Corner", KNC, intel(1, family=11)),
    "amd64_k7": ("amd64_k7", "AMD K7", K7, amd(6)),
    "amd64_k8_revb": ("amd64_k8_revb", "AMD K8, revision B", K7, amds(15, "model=4 stepping=0", "model=5 stepping=0..1")),
    "amd64_k8_revc": ("amd64_k8_revc", "AMD K8, revision C", K7,
                      amds(15, "model=0..3", "model=4 stepping=1..15", "model=5 stepping=2..15", "model=6..15")),
    "amd64_k8_revd": ("amd64_k8_revd", "AMD K8, revision D", K7, amds(15, "model=16..31")),
    "amd64_k8_reve": ("amd64_k8_reve", "AMD K8, revision E", K7, amds(15, "model=32..63")),
    "amd64_k8_revf": ("amd64_k8_revf", "AMD K8, revision F", K7, amds(15, "model=64..95", "model=192..207")),
    "amd64_k8_revg": ("amd64_k8_revg", "AMD K8, revision G", K7, amds(15, "model=96..143")),
    "amd64_fam10h_barcelona": ("amd64_fam10h_barcelona", "AMD family 10H, Barcelona", K7,
                               amds(16, "model=0..3", "model=7", "model=10..255")),
    "amd64_fam10h_shanghai": ("amd64_fam10h_shanghai", "AMD family 10H, Shanghai", K7, amds(16, "model=4..6")),
    "amd64_fam10h_istanbul": ("amd64_fam10h_istanbul", "AMD family 10H, Istanbul", K7, amds(16, "model=8..9")),
    "amd64_fam11h_turion": ("amd64_fam11h_turion", "AMD family 11H, Turion", K7, amd(17)),
    "amd64_fam12h_llano": ("amd64_fam12h_llano", "AMD family 12H, Llano", K7, amd(18)),
    "amd64_fam14h_bobcat": ("amd64_fam14h_bobcat", "AMD family 14H, Bobcat", K7, amd(20)),
    "amd64_fam15h_interlagos": ("amd64_fam15h_interlagos", "AMD family 15H, Bulldozer to Excavator", FAM15, amd(21)),
    "amd64_fam15h_nb": ("amd64_fam15h_nb", "AMD family 15H, north bridge", NORTH, amd(21)),
    "amd64_fam16h": ("amd64_fam16h", "AMD family 16H, Jaguar and Puma", K7, amd(22)),
    "amd64_fam1ah_zen6": ("amdzen6", "AMD Zen 6", ZEN6, amds(26, "model=0x50..0x5f", "model=0x80..0xff")),
    "amd64_fam1ah_zen6_l3": ("amdzen6_amd_l3", "AMD Zen 6, L3PMC: last-level cache", ZEN6_L3,
                             amds(26, "model=0x50..0x5f", "model=0x80..0xff")),
    "arm_monaka": ("monaka", "Fujitsu Monaka", ARM8, arm(0x46, 3)),
    "arm_olympus": ("olympus", "NVIDIA Olympus", ARM8, arm(0x4E, 0x10)),
    "arm_xgene": ("xgene", "Applied Micro X-Gene", ARM8, []),     # its identity is that of eMAG, which has a list
    "arm_1176": ("arm1176", "Arm 1176", ARM7, arm(0x41, 0xB76, "arm")),
    "qcom_krait": ("krait", "Qualcomm Krait", ARM7, arm(0x51, 0x40, "arm")),
}
DEVICES = {"arm_1176": "armv6_1176", "qcom_krait": "armv7_krait"}
AMD_REV = {n: i for i, n in enumerate(("", "amd64_k7", *("amd64_k8_rev" + r for r in "bcdefg"), "amd64_fam10h_barcelona",
                                       "amd64_fam10h_shanghai", "amd64_fam10h_istanbul"))}
NCOMBO = 1
DEFAULT = 8
OMIT = 0x10         # of AMD's
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
        self.lines = []
        self.groups = 0

    def has(self, row):
        """Sister models share a list, but not all of it."""
        if row.get("model", self.pmu["id"]) != self.pmu["id"]:
            return False
        first, last = row.get("fl", 0) >> 8 & 0xFF, row.get("fl", 0) >> 16 & 0xFF
        return self.kind != "amd64" or not self.rev or (not first or first <= self.rev) and (not last or self.rev <= last)

    def masks(self, e):
        """[(group, [mask])] by rising group."""
        found = {}
        for u in e.get("u", ()):
            if self.has(u):
                found.setdefault(u.get("g", 0) & 0xFF, []).append(u)
        return sorted(found.items())

    def bits(self, u):
        return u.get("c", 0) << 8 if self.kind == "amd64" else u.get("c", 0)

    # ---- rows --------------------------------------------------------------------------------------------------------

    def make(self):
        for e in self.events:
            self.event(e)
        return self.lines

    def event(self, e):
        if "equiv" in e:
            self.alias(e)
            return
        if self.kind == "arm":
            self.row(e["e"], {"code": e["code"]}, e, self.cycles(e))
            return
        code = e.get("code", 0)
        fields = {"code": code & (0xFFF if self.kind == "amd64" else 0xFF)}
        if self.kind != "amd64":
            fields.update(bits_of(code))
        takes = [self.group(e, masks) for _, masks in self.masks(e)]
        self.row(e["e"], fields, e, takes=takes)

    def cycles(self, e):
        """PMUv3 has a counter for cycles alone."""
        return "0..%d,31" % (self.pmu["counters"] - 1) if e["code"] == 0x11 and self.pmu["name"] not in DEVICES else None

    def row(self, name, fields, e, on=None, takes=()):
        words = ["event", name] + ["%s=%s" % (k, hex(v) if v > 9 else v) for k, v in fields.items() if v or k == "code"]
        on = on or self.counters(e)
        if on:
            words.append("on=" + on)
        if takes:
            words.append("takes=" + ",".join(takes))
        self.lines.append(" ".join(words))

    def counters(self, e):
        """Where one counter alone, or a fixed one, has the event."""
        set_ = e.get("cnt", 0)
        general, fixed = set_ & 0xFF, set_ >> 32
        if not set_ or not fixed and general == (1 << self.pmu["counters"]) - 1:
            return None
        return ",".join([str(i) for i in range(8) if general >> i & 1] + ["F%d" % i for i in range(4) if fixed >> i & 1])

    # ---- unit masks --------------------------------------------------------------------------------------------------

    def group(self, e, masks):
        """Declares the masks of one group; those that say more than a mask become rows. Returns its name."""
        one = all(u.get("fl", 0) & NCOMBO for u in masks)
        words, same = [], {}
        for u in masks:
            more = bits_of(self.bits(u))
            if set(more) - {"umask"}:
                raise ValueError("%s:%s is more than a mask" % (e["e"], u["u"]))
            words.append((u, more.get("umask", 0)))
            same.setdefault(more.get("umask", 0), []).append(u["u"])
        defaults = [u["u"] for u, _ in words if u.get("fl", 0) & DEFAULT]
        optional = all(u.get("fl", 0) & (OMIT if self.kind == "amd64" else GRP_DFL_NONE) for u in masks)
        preset = " default=" + (",".join(defaults[:1] if one else defaults)) if defaults else "" if optional else " default=!"
        name = "m%d" % self.groups
        self.groups += 1
        # Names of one value are spellings of it, the first of which is not for colons.
        values = ["%s=0x%x" % (n[0] if len(n) == 1 else "/".join(["BITS_%X" % v] + n), v) for v, n in same.items()]
        self.lines.append("group %s %s%s %s" % (name, "one" if one else "any", preset, " ".join(values)))
        return name

    def alias(self, e):
        """Another name: of a row, or of one with masks and modifiers, which becomes a row of its own."""
        target, *attributes = e["equiv"].split(":")
        base = self.by_name[target]
        code, served = base.get("code", 0), set()
        for a in attributes:
            key, _, value = a.partition("=")
            group = next(((g, u) for g, masks in self.masks(base) for u in masks if u["u"] == key), None)
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
    ours, akas = name, [pmu["name"]] if pmu["name"] not in (name, "core") else []
    last = pmu["counters"] - 1
    lines = ['pmu %s "%s"' % (ours, title)] + (["aka " + " ".join(akas)] if akas else []) + ['source "%s"' % SOURCE] + hosts
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
                lines = head_of(name, title, head, hosts, pmu) + Maker(table["kind"], pmu, table["events"]).make()
                with open(os.path.join(folder, re.sub(r"\W", "_", name) + ".pmu"), "w", encoding="utf-8") as out:
                    out.write(HEAD + "\n" + "\n".join(lines) + "\n")
