#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/audit.md: how far the sources of our event tables agree, and what is decided where they do
not.

    scripts/audit.py SHARED > docs/audit.md
    scripts/audit.py SHARED --rows > lib/events/audit.txt       remarks on rows, for "pfm show"
    scripts/audit.py SHARED --sources > lib/events/sources.txt  sources that agree with each row

SHARED holds data/full (Intel's, Linux's and Arm's lists) and facts/libpfm4/names.jsonl. The lists
are read here anew, without the readers of compiler, so that a fault there is not shared. Compared
is what programs a counter: event code, unit mask, counter mask, invert, edge, any thread and, where
an event has one, the value of its extra register. Periods, counters and texts are not."""

import collections
import csv
import glob
import json
import os
import re
import sys
import tarfile
import textwrap
import zlib

# Processor: folder of Intel's repository, folder of Linux's lists, libpfm4's core and prefix of its
# boxes.
INTEL = """
NHM-EP nehalemep nhm -
NHM-EX nehalemex nhm_ex -
WSM-EP-SP westmereep-sp wsm -
WSM-EP-DP westmereep-dp wsm_dp -
WSM-EX westmereex - -
SNB sandybridge snb -
JKT jaketown snb_ep snbep_unc
IVB ivybridge ivb -
IVT ivytown ivb_ep ivbep_unc
HSW haswell hsw -
HSX haswellx hsw_ep hswep_unc
BDW broadwell bdw -
BDW-DE broadwellde - -
BDX broadwellx bdw_ep bdx_unc
SKL skylake skl -
SKX skylakex skx skx_unc
CLX cascadelakex clx -
ICL icelake icl -
ICX icelakex icx icx_unc
RKL rocketlake - -
TGL tigerlake - -
SPR sapphirerapids spr spr_unc
EMR emeraldrapids emr -
GNR graniterapids gnr gnr_unc
ADL alderlake adl_glc,adl_grt -
MTL meteorlake - -
LNL lunarlake - -
ARL arrowlake - -
SRF sierraforest - -
GRR grandridge - -
CWF clearwaterforest - -
PTL pantherlake - -
NVL novalake - -
BNL bonnell atom -
SLM silvermont slm -
GLM goldmont glm -
GLP goldmontplus - -
SNR snowridgex tmt -
EHL elkhartlake - -
KNL knightslanding knl knl_unc"""
ARM = (
    "neoverse-n1 n1, neoverse-n2 n2, neoverse-n3 n3, neoverse-v1 v1, neoverse-v2 v2, neoverse-v3"
    " v3, cortex-a53 ac53, cortex-a55 ac55, cortex-a57 ac57, cortex-a72 ac72, cortex-a76 ac76,"
    " cortex-a15 ac15, cortex-a7 ac7, cortex-a8 ac8, cortex-a9 ac9, cortex-x4 x4"
)
AMD = (
    "amdzen1 amd64_fam17h_zen1, amdzen2 amd64_fam17h_zen2, amdzen3 amd64_fam19h_zen3, amdzen4"
    " amd64_fam19h_zen4, amdzen5 amd64_fam1ah_zen5"
)
BIG, SMALL, LOW = "big", "small", "low power"
PARTS = {BIG: "core", SMALL: "small", LOW: "lowpower", "uncore": "boxes"}
# Not told row by row: our tables have these of their own.
OURS = re.compile("offcoreresponse[01]?|perfmetrics.*|fparithinstretired")
# PFM_EVENT_BY_* in perfmon.h has them in the same order
SOURCES = {"Intel": 1, "Arm": 1, "Linux": 2, "libpfm4": 4}
SMALL_CORES = re.compile("gracemont|crestmont|skymont|darkmont|arcticwolf")
LOW_CORES = re.compile("arrowlake_crestmont")      # where a processor has two kinds of small cores

FIELDS = ("code", "umask", "cmask", "inv", "edge", "any", "extra", "port", "fc")
Fact = collections.namedtuple("Fact", FIELDS, defaults=(0,) * len(FIELDS))


def fold(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def number(value):
    value = str(value or "0").split(",")[0].strip()
    try:
        return int(value, 0)
    except ValueError:
        return int(value, 16) if re.fullmatch("[0-9a-fA-F]+", value) else 0


def packed(shared, prefix):
    """(path, parsed JSON) of the lists of a packed tree; members that are links are omitted."""
    for path in sorted(glob.glob(os.path.join(shared, "data", "full", prefix + "*.tar.xz"))):
        with tarfile.open(path) as t:
            for m in t:
                if m.isfile() and m.name.endswith(".json"):
                    text = t.extractfile(m).read()
                    if text.lstrip()[:1] in (b"{", b"["):
                        yield m.name, json.loads(text)


def rows(found):
    found = found.get("Events", found.get("events", [])) if isinstance(found, dict) else found
    return [r for r in found if isinstance(r, dict)] if isinstance(found, list) else []


def fact(row):
    """The fact that Intel's keys give, which Linux uses too."""
    port = [number(row.get(k)) if "IIO" in row.get("EventName", "") else 0
            for k in ("PortMask", "FCMask")]
    return Fact(number(row.get("EventCode")),
                number(row.get("UMask")) | number(row.get("UMaskExt")) << 8,
                number(row.get("CounterMask")),
                number(row.get("Invert")), number(row.get("EdgeDetect")),
                number(row.get("AnyThread")), number(row.get("MSRValue")), *port)


def intel_lists(shared):
    out = collections.defaultdict(dict)
    for path, found in packed(shared, "intel"):
        parts = path.split("/")
        if "events" not in parts:
            continue
        kind = "uncore" if "uncore" in parts[-1] else LOW if LOW_CORES.match(
            parts[-1]) else SMALL if SMALL_CORES.search(parts[-1]) else BIG
        for r in rows(found):
            if r.get("EventName"):
                out[parts[parts.index("events") - 1],
                    kind][fold(r["EventName"])] = r["EventName"], fact(r)
    return out


def linux_lists(shared):
    out, standard, wanted = collections.defaultdict(dict), {}, []
    for path, found in packed(shared, "linux"):
        parts = path.split("pmu-events/arch/")[-1].split("/")
        folder = "/".join(parts[:-1])
        for r in rows(found):
            name = r.get("EventName") or r.get("ArchStdEvent")
            if not name:
                continue
            unit = r.get("Unit") or ""
            kind = SMALL if unit == "cpu_atom" else BIG if unit in ("", "cpu_core") else "uncore"
            if "ArchStdEvent" in r:
                wanted.append((folder, kind, name))
            else:
                out[folder, kind][fold(name)] = name, fact(r)
                if len(parts) == 2:
                    standard.setdefault(fold(name), fact(r))
    for folder, kind, name in wanted:
        if fold(name) in standard:
            out[folder, kind].setdefault(fold(name), (name, standard[fold(name)]))
    return out


def arm_lists(shared):
    """Arm's plain lists; what its telemetry files have besides is Arm's too."""
    out = {}
    for path, found in packed(shared, "arm-data"):
        out[os.path.basename(path)[:-5]] = {
            fold(r["name"]): (r["name"], Fact(r["code"])) for r in rows(found) if r.get("name")
        }
    for path, found in packed(shared, "arm-telemetry"):
        core = re.sub(r"^arm-|[-_]pmu$|-r\dp\d$", "",
                      re.sub(r"[-_]pmu$", "",
                             os.path.basename(path)[:-5]))
        known = out.setdefault(core, {})
        for name, e in found["events"].items() if "/pmu/cpu/" in path else ():
            if "PMU" in e["accesses"]:
                known.setdefault(fold(name), (name, Fact(number(e["code"]))))
    return out


def newer_zen6(shared):
    """Zen 6 of a newer kernel: names and numbers alone."""
    with open(os.path.join(shared, "data", "full", "linux-newer", "amdzen6.csv"), encoding="utf-8",
              newline="") as f:
        return {
            fold(r["EventName"]): (r["EventName"], Fact(number(r["EventCode"]), number(r["UMask"])))
            for r in csv.DictReader(f) if not r["Unit"]
        }


def intel_words(event, mask):
    """libpfm4's encoding of an event with one mask."""
    flags, code = event.get("fl", 0), event.get("code", 0)
    value = mask["c"] >> 8 if mask else 0
    if mask and mask.get("fl", 0) & 0x200:
        code = code & ~0xFF | mask["c"] & 0xFF
    extra = 0
    if flags & 0x1020:
        value, extra = 0, value
    word = code | value << 8
    return Fact(word & 0xFF, word >> 8 & 0xFF, word >> 24 & 0xFF, word >> 23 & 1, word >> 18 & 1,
                word >> 21 & 1, extra)


def box_words(event, mask, pmu):
    """The fact of a box; events of the I/O stacks have ports and flow classes in the upper part of
    the unit mask."""
    code, value = event.get("code", 0), mask["c"] >> 8 if mask else 0
    umask, port, fc = code >> 8 & 0xFF | value & 0xFF | value >> 24 << 8, 0, 0
    if "iio" in pmu:
        at = 20 if pmu.startswith("skx") else 24
        umask, port, fc = umask & 0xFF, umask >> 12 & (1 << at - 12) - 1, umask >> at & 7
    return Fact(code & 0xFF, umask, value >> 16 & 0xFF, 0, value >> 10 & 1, 0, 0, port, fc)


def amd_words(event):
    """{folded name: (name, Fact)} of an event with each of its masks."""
    names = [(event["e"], 0)] + [(event["e"] + "." + u["u"], u["c"]) for u in event.get("u", ())]
    return {fold(n): (n, Fact(event["code"], mask)) for n, mask in names}


def libpfm4_names(shared):
    """PMU name -> {folded name: (name, Fact)}; box instances lose their number."""
    out = collections.defaultdict(dict)
    with open(os.path.join(shared, "facts", "libpfm4", "names.jsonl")) as f:
        for line in f:
            t = json.loads(line)
            for pmu in t["pmus"]:
                box = "_unc" in pmu["name"]
                key = re.sub(r"_unc.*", "_unc", pmu["name"]) if box else pmu["name"]
                for e in t["events"]:
                    if e.get("model", pmu["id"]) != pmu["id"]:
                        continue
                    if t["kind"] == "arm":
                        out[key][fold(e["e"])] = e["e"], Fact(e["code"] & 0xFFFF)
                    elif t["kind"] == "amd64":
                        out[key].update(amd_words(e))
                    elif t["kind"] == "power":
                        out[key][fold(e["e"])] = e["e"], Fact(e["code"])
                    elif t["kind"] == "intel_x86":
                        words = (lambda e, u: box_words(e, u, pmu["name"])) if box else intel_words
                        masks = [u
                                 for u in e.get("u", ()) if u.get("model", pmu["id"]) == pmu["id"]]
                        groups = {u.get("g", 0) & 0xFF for u in masks}
                        if not masks:
                            out[key][fold(e["e"])] = e["e"], words(e, None)
                        for u in masks if len(groups) < 2 else ():
                            name = e["e"] + "." + u["u"]
                            out[key][fold(re.sub("^OFFCORE_RESPONSE_[01]", "OCR",
                                                 name))] = name, words(e, u)
    return out


# ---- why they differ -----------------------------------------------------------------------------

CAUSES = (
    (
        "latency",
        "A threshold that the name carries",
        (
            "Intel's list has a row per threshold with its value; libpfm4 takes the threshold as a"
            " modifier or packs it otherwise."
        ),
        "Intel's row; libpfm4's spelling needs its modifier.",
    ),
    (
        "fixed",
        "Fixed counter or general counter",
        (
            "Intel's row is a fixed counter (event 0), another source gives the code for a general"
            " counter. Both count the same."
        ),
        (
            "The fixed counter, as Intel's row names it; the general code is kept as the row's"
            " other encoding."
        ),
    ),
    (
        "branches",
        "Mask 0 or mask 4 for all branches",
        (
            "BR_INST_RETIRED and BR_MISP_RETIRED count all branches with unit mask 0 and with 4 on"
            " the cores of that generation."
        ),
        "Intel's value.",
    ),
    (
        "any",
        "Both hyper-threads",
        (
            "The sources differ in the AnyThread bit alone; the name says that the whole core is"
            " meant."
        ),
        "The bit is set, as Intel's list has it.",
    ),
    (
        "dropped",
        "Linux's copy loses the longer unit mask",
        (
            "Unit masks of newer boxes have more than eight bits, the upper ones under UMaskExt in"
            " Intel's list. Linux's copy joins the two, but where the lower byte is 0 it drops the"
            " upper part as well, so that `perf` counts something else, mostly nothing."
        ),
        "Intel's mask, both parts.",
    ),
    (
        "longmask",
        "Unit masks beyond eight bits",
        "The sources differ in the upper part of a unit mask of more than eight bits.",
        "Intel's mask.",
    ),
    (
        "driver",
        "Numbers of the kernel's driver",
        (
            "Free-running and fixed box counters have no event code in hardware. Intel writes 0,"
            " Linux the number (0xff) by which its driver names them."
        ),
        "The kernel's number, without which it cannot be asked for them.",
    ),
    (
        "occupancy",
        "Selector of an occupancy",
        (
            "The power unit selects a C-state in bits 14 and 15, which Intel's older lists write as"
            " part of the unit mask and Linux as a filter."
        ),
        "The selector in its own field; the register is the same.",
    ),
    (
        "twin",
        "Two codes that do the same",
        (
            "OCR events can be programmed with 0x2a and 0x2b, each with a response register of its"
            " own; Intel's row names both."
        ),
        "The first; the second is kept as the row's alternative, so that two can count at once.",
    ),
    (
        "newer",
        "Intel's list is newer than Linux's copy",
        "Linux 6.12 holds an older state of the same list, which Intel has since corrected.",
        "Intel's value of 2026-08-13.",
    ),
    (
        "linuxonly",
        "Linux differs from Intel's list and libpfm4 has Intel's value",
        "Two sources contradict the copy.",
        "Intel's value.",
    ),
    (
        "majority",
        "libpfm4 differs from Intel and Linux, which agree",
        (
            "libpfm4's tables are typed from manuals, some of them early ones. Linux's copy comes"
            " from Intel's list, so that these are one and a half sources against one."
        ),
        "Intel's value. `libpfm.so.4` alone gives libpfm4's own numbers.",
    ),
    (
        "condition",
        "Intel's list lacks the condition of an event",
        (
            "Bonnell's list gives one word to micro-ops retired, to clocks without one and to the"
            " beginnings of such clocks, which cannot be. libpfm4 has the conditions (counter mask,"
            " inversion, edge)."
        ),
        "libpfm4's conditions, in Intel's row.",
    ),
    (
        "onesided",
        "libpfm4 differs from Intel's list, and Linux does not have the event",
        "One source against one; the vendor's is newer.",
        "Intel's value.",
    ),
    (
        "three",
        "All three differ",
        "No two sources agree.",
        "Intel's value, which is the newest, in the form that the kernel takes.",
    ),
    (
        "arm",
        "Numbers of Arm events",
        (
            "libpfm4's 0xff for Cortex-A8's cycles is a number inside the kernel's old driver; 0x11"
            " is the architecture's."
        ),
        "Arm's number.",
    ),
    (
        "pmc",
        "Counter of a POWER event",
        (
            "The sources differ in the counter that the code carries (bits 16 to 19) alone: Linux"
            " leaves the choice to the kernel, libpfm4 fixes it."
        ),
        "Linux's code, so that the kernel can choose.",
    ),
    (
        "copied",
        "Masks copied from a neighbour",
        (
            "Linux's list of Zen 6 gives several events one mask; libpfm4 gives each its own, and"
            " Zen 5's list agrees with it."
        ),
        "libpfm4's mask.",
    ),
    (
        "threshold",
        "Thresholds of POWER8 without a start and an end",
        (
            "Linux's list gives two events one code, since it lacks the bits that say what starts"
            " and what ends the time that is compared (MMCRA, bits 32 to 39 of the code). libpfm4"
            " has them, as IBM's POWER8 performance monitor unit user's guide does."
        ),
        "libpfm4's code.",
    ),
    (
        "power",
        "Codes of POWER events",
        (
            "Linux's list and libpfm4 give different codes for the name; which is right has not"
            " been tried on a machine."
        ),
        "Linux's code, which IBM keeps up to date.",
    ),
)


def differing(facts):
    return {f for f in FIELDS if len({getattr(x, f) for x in facts}) > 1}


def cause(kind, name, intel, linux, pfm):
    """Key of CAUSES for a disagreement of Intel's list, Linux's and libpfm4; any may be None."""
    known = [x for x in (intel, linux, pfm) if x]
    fields = differing(known)
    if re.search("(?i)load_latency_gt", name):
        return "latency"
    if kind == "uncore":
        found = box_cause(name, fields, intel, linux, known)
        if found:
            return found
    elif intel and intel.code == 0 and "code" in fields:
        return "fixed"
    if re.fullmatch(r"(?i)uops_retired\.(stalls|stalled_cycles)", name):
        return "condition"
    if re.match("(?i)br_(inst|misp)_retired",
                name) and fields == {"umask"} and {x.umask for x in known} <= {0, 4}:
        return "branches"
    if fields == {"any"}:
        return "any"
    if fields == {"code"} and {x.code for x in known} == {0x2A, 0x2B}:
        return "twin"
    if not pfm:
        return "newer"
    if not linux:
        return "onesided"
    if intel == linux:
        return "majority"
    return "linuxonly" if intel == pfm else "newer" if linux == pfm else "three"


def box_cause(name, fields, intel, linux, known):
    if linux and linux.code == 0xFF or "FREERUN" in name.upper():
        return "driver"
    if "POWER_STATE_OCCUPANCY" in name.upper():
        return "occupancy"
    if fields == {"umask"} and intel and intel.umask > 0xFF and linux and not linux.umask:
        return "dropped"
    if fields == {"umask"} and any(x.umask > 0xFF for x in known):
        return "longmask"
    return None


def power_cause(kind, name, facts):
    a, b = (f.code for f in facts.values())
    if re.match("PM_(L1MISS_LAT|RC_LIFETIME)_EXC_", name):
        return "threshold"
    return "pmc" if (a ^ b) & ~0xF0000 == 0 else "power"


# ---- counting ------------------------------------------------------------------------------------

class Audit:
    def __init__(self):
        self.counts = collections.OrderedDict()      # family -> Counter
        self.found = collections.defaultdict(list)   # cause -> [(processor, name, {source: Fact})]
        # (processor, part) -> {folded name of the first source: bits of SOURCES}
        self.sources = {}

    def compare(self, family, processor, kind, lists, why):
        """@lists: [(source, {folded: (name, Fact)})] of one processor, the first the one we
        follow."""
        count = self.counts.setdefault(family, collections.Counter())
        agreeing = self.sources.setdefault((processor.split()[0].lower().replace("-", "_"),
                                            PARTS[kind]), {})
        for key in sorted({k for _, names in lists for k in names}):
            have = [(source, names[key]) for source, names in lists if key in names]
            facts = {source: f for source, (_, f) in have}
            name, taken = have[0][1]
            if len(have) == 1:
                count["alone in " + have[0][0]] += 1
            elif len(set(facts.values())) == 1:
                count["agree in %d" % len(have)] += 1
            else:
                count["differ"] += 1
                reason = why(kind, name, facts)
                self.found[reason].append((processor, name, facts))
                taken = facts.get("Linux", taken) if reason == "driver" else taken
                taken = facts.get("libpfm4", taken) if reason == "copied" else taken
            if key in lists[0][1]:
                agreeing[key] = sum(SOURCES[s] for s, f in facts.items() if f == taken)


def intel_cause(kind, name, facts):
    return cause(kind, name, facts.get("Intel"), facts.get("Linux"), facts.get("libpfm4"))


def intel_audit(audit, intel, linux, pfm):
    for line in INTEL.split("\n")[1:]:
        folder, copy, cores, boxes = line.split()
        cores = (cores.split(",") + ["-"])[:2]
        for kind, ours in ((BIG, cores[0]), (SMALL, cores[1]), (LOW, "-"), ("uncore", boxes)):
            lists = [("Intel", intel.get((folder, kind), {})),
                     ("Linux", linux.get(("x86/" + copy, kind), {})),
                     ("libpfm4", pfm.get(ours, {}))]
            if lists[0][1]:
                family = "Intel boxes" if kind == "uncore" else "Intel cores"
                audit.compare(family,
                              folder + (" (%s core)" % kind if kind in (SMALL, LOW) else ""), kind,
                              lists, intel_cause)


def arm_audit(audit, arm, linux, pfm):
    for pair in ARM.split(", "):
        core, short = pair.split()
        lists = [("Arm", arm.get(core, {})), ("Linux", linux.get(("arm64/arm/" + core, BIG), {})),
                 ("libpfm4", pfm.get("arm_" + short, {}))]
        audit.compare("Arm cores", core, BIG, lists, lambda *_: "arm")


def amd_audit(audit, linux, pfm):
    """The two have names of their own for AMD's events, so that they are compared by registers."""
    for pair in AMD.split(", "):
        core, theirs = pair.split()
        known = {f for _, f in pfm[theirs].values()}
        ours = linux[("x86/" + core, BIG)]
        lists = [("Linux", ours), ("libpfm4", {k: v for k, v in ours.items() if v[1] in known})]
        audit.compare("AMD cores", core, BIG, lists, None)


# Names of Zen 6 whose masks in the kernel's list are a neighbour's, and libpfm4's names of them.
COPIED = """fp_ret_sse_avx_ops.scalar_half_flops RETIRED_SSE_AVX_FLOPS.FLOP_TYPE_SCALAR_HALF
fp_ret_sse_avx_ops.packed_half_flops RETIRED_SSE_AVX_FLOPS.FLOP_TYPE_PACKED_HALF
fp_nsq_read_stalls.fp_prf NSQ_READ_STALLS.FP_PRF_STALL
fp_nsq_read_stalls.k_prf NSQ_READ_STALLS.K_PRF_STALL
fp_nsq_read_stalls.fp_sq NSQ_READ_STALLS.FP_SQ_STALL"""


def zen6_audit(audit, ours, pfm):
    known = {f for _, f in pfm.values()}
    theirs = {k: v for k, v in ours.items() if v[1] in known}
    for line in COPIED.split("\n"):
        name, other = line.split()
        theirs[fold(name)] = other, pfm[fold(other)][1]
    both = fold("l2_request_g2.all")
    theirs[both] = "REQUESTS_TO_L2_GROUP2", Fact(
        0x61, pfm[fold("REQUESTS_TO_L2_GROUP2.LS_RD_SIZED")][1].umask
        | pfm[fold("REQUESTS_TO_L2_GROUP2.LS_RD_SIZED_NC")][1].umask)
    audit.compare("AMD cores", "amdzen6", BIG, [("Linux", ours), ("libpfm4", theirs)],
                  lambda *_: "copied")


def power_audit(audit, linux, pfm):
    for core in ("power8", "power9", "power10"):
        lists = [("Linux", linux.get(("powerpc/" + core, BIG), {})), ("libpfm4", pfm.get(core, {}))]
        audit.compare("POWER", core, BIG, lists, power_cause)


# ---- printing ------------------------------------------------------------------------------------

def told(f, fields):
    return " ".join("%s=%#x" % (k, getattr(f, k)) for k in FIELDS if k in fields)


def print_counts(audit):
    print(
        "| family | events compared | agree in 3 sources | agree in 2 | in one source alone |"
        " differ |"
    )
    print("|---|---|---|---|---|---|")
    for family, c in audit.counts.items():
        alone = {k[9:]: v for k, v in c.items() if k.startswith("alone")}
        print("| %s | %d | %d | %d | %d (%s) | %d |" %
              (family, sum(c.values()), c["agree in 3"], c["agree in 2"], sum(
                  alone.values()), ", ".join("%s %d" % x
                                             for x in sorted(alone.items())), c["differ"]))


def print_cause(audit, key, title, reason, decision):
    found = audit.found.get(key)
    if not found:
        return
    print("\n## %s\n\n%d events. %s\n\n**Decision:** %s\n" % (title, len(found), reason, decision))
    groups = collections.OrderedDict()
    for processor, name, facts in found:
        fields = differing(facts.values())
        groups.setdefault((name, tuple((s, told(f, fields)) for s, f in facts.items())),
                          []).append(processor)
    for (name, values), processors in sorted(groups.items()):
        print("- `%s` (%s): %s" % (name, ", ".join(processors),
                                   "; ".join("%s `%s`" % v for v in values)))


def print_rows(audit):
    """Writes the file that compiler/language/audit_remarks.py reads."""
    print(
        "# SPDX-License-Identifier: MIT\n# Made by scripts/audit.py: what the sources of a row say"
        " where they disagree, and what is taken."
    )
    lines = collections.defaultdict(list)
    for key, _, _, decision in CAUSES:
        for processor, name, facts in audit.found.get(key, ()):
            of = next((kind for kind in (SMALL, LOW) if processor.endswith(" (%s core)" % kind)),
                      BIG)
            part = PARTS["uncore" if name.upper().startswith("UNC_") else of]
            text = "; ".join("%s %s" % (s, told(f, differing(facts.values()))) for s,
                             f in facts.items())
            lines[part, name, "%s. Taken: %s"
                  % (text, decision)].append(re.sub("-", "_", processor.split()[0].lower()))
    for (part, name, text), processors in sorted(lines.items()):
        print("%s %s %s: %s" % (",".join(processors), part, name.replace(" ", ""), text))


def print_sources(audit):
    """For each processor and part a digit per event of its first source, in the order of their
    folded names; the number of the names and their checksum say whether a table is that list."""
    print(
        "# SPDX-License-Identifier: MIT\n# Made by scripts/audit.py: sources that agree with a row,"
        " added up: the vendor's list 1, Linux 2, libpfm4 4."
    )
    for where, found in sorted(audit.sources.items()):
        names = sorted(n for n in found if not OURS.fullmatch(n))
        if names:
            print("%s %s %d %08x" % (*where, len(names), zlib.crc32(" ".join(names).encode())))
            print("\n".join(textwrap.wrap("".join(str(found[n]) for n in names), 120)))


# ---- tables --------------------------------------------------------------------------------------

AS_OF = 2026, 11        # the month up to which ages are computed
LINUX_NEWER = {
    "amdzen6", "cf_z17", "bullet-07", "bullet-0d", "u74", "p550", "p650", "cva6", "imx91", "imx94"
}
# 6.12.117 has the lists of 6.12
LINUX = {False: ("6.12.117", (2024, 11)), True: ("7.1", (2026, 4))}
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
EVENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib", "events")


def source_date(source):
    """(year, month) of a source, as its own text has it; None for manuals."""
    found = [(int(y), int(m)) for m, y in re.findall(r"(\d\d)/\d\d/(\d{4})", source)]
    found += [(int(y), MONTHS.index(m) + 1)
              for m, y in re.findall(r"([A-Z][a-z]{2}) +\d+ [\d:]+ (\d{4})", source)]
    found += [(int(y), MONTHS.index(m) + 1)
              for m, y in re.findall(r"\d\d ([A-Z][a-z]{2}) (\d{4})", source)]
    found += [(int(y), int(m)) for y, m in re.findall(r"(20\d\d)-(\d\d)", source)]
    m = re.match(r"Linux tools/perf/pmu-events/arch/[^/]*/([^\s,]+)", source)
    found += [LINUX[m[1] in LINUX_NEWER][1]] if m else []
    return max(found, default=None)


def source_name(source):
    """The source with its version: a list of Linux is of a kernel."""
    m = re.match(r"Linux tools/perf/pmu-events/arch/([^/]*)/([^\s,]+)", source)
    return "Linux %s, %s/%s" % (LINUX[m[2] in LINUX_NEWER][0], m[1], m[2]) if m else source.replace(
        "|", "/")


def table_sources():
    """{source: names of its tables} of all .pmu files, sorted."""
    found = collections.defaultdict(list)
    for path in sorted(
            glob.glob(os.path.join(EVENTS, "*.pmu")) +
            glob.glob(os.path.join(EVENTS, "[!h]*", "*.pmu"))):
        name = None
        with open(path, encoding="utf-8") as f:
            for line in f:
                m = re.match(r'(pmu|source)\s+(?:"([^"]*)"|(\S+))', line)
                if m and m[1] == "pmu":
                    name = m[3]
                elif m and name and not name.endswith("_ratios"):
                    found[m[2]].append(name)
    return found


def second_sources(audit, names):
    """Sources besides the first that have rows of these tables."""
    bits = 0
    for (processor, _), rows in audit.sources.items():
        if any(n == processor or n.startswith(processor + "_") for n in names):
            for digit in rows.values():
                bits |= digit
    return ", ".join(s
                     for s, bit in (("Linux", 2), ("libpfm4", 4)) if bits & bit) or "none compared"


COUNTER_CONFLICTS = """
## Counters on which a list and Linux differ

**Decision:** the stricter source. Where that is Linux, a rule of the table narrows the row;
`heads/` names both.

| events | of | one source | other source | taken | rule |
|---|---|---|---|---|---|
| `OCR.*` | lnl, arl, ptl | list: 0 to 9 | Linux: 0 to 3, precise 0 | Linux's | `ocr` |
| `L1D_PEND_MISS.FB_FULL` | snb, jkt | list: 0 to 3 | Linux: 2 | 2 | `l1d_pend` |
| `UNC_C_FAST_ASSERTED` | hsx | list: 0 and 1 | Linux: 0 | 0 | `fast_asserted` |
| `UNC_R3_CLOCKTICKS` | hsx | list: 0 to 2 | Linux: 0 and 1 | 0 and 1 | `clockticks` |
| `ITLB_MISS_RETIRED` | core2 | libpfm4: 0 and 1 | Linux and the manual: 0 | 0 | `itlb_miss` |
| `INST_RETIRED.TOTAL_CYCLES_PS` | skl, skx, clx | list: 0, 2, 3 | Linux: 0 to 3 | the list's | |"""


def print_tables(audit):
    print(COUNTER_CONFLICTS)
    print(
        "\n## Tables\n\nEach table's source with its version and month, how old that is in %d-%02d,"
        " and the sources it was\ncompared with. **Decision:** a list older than two years is"
        " looked for anew before each release.\n" % AS_OF
    )
    print("| tables | source | of | months | compared with |\n|---|---|---|---|---|")
    for source, names in sorted(table_sources().items(), key=lambda x: x[1]):
        date = source_date(source)
        shown = names[0] + (" and %d more" % (len(names) - 1) if len(names) > 1 else "")
        age = (AS_OF[0] - date[0]) * 12 + AS_OF[1] - date[1] if date else ""
        print("| %s | %s | %s | %s | %s |" %
              (shown, source_name(source), "%d-%02d" % date if date else "a manual", age,
               second_sources(audit, names)))


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--rows"], ["--sources"]):
        sys.exit("usage: audit.py SHARED [--rows | --sources]")
    shared = sys.argv[1]
    intel, linux, pfm = intel_lists(shared), linux_lists(shared), libpfm4_names(shared)
    audit = Audit()
    intel_audit(audit, intel, linux, pfm)
    arm_audit(audit, arm_lists(shared), linux, pfm)
    power_audit(audit, linux, pfm)
    amd_audit(audit, linux, pfm)
    zen6_audit(audit, newer_zen6(shared), pfm["amd64_fam1ah_zen6"])
    if sys.argv[2:]:
        (print_rows if sys.argv[2] == "--rows" else print_sources)(audit)
        return
    print(
        "# Audit of the event tables\n\nMade by `scripts/audit.py` from Intel's repository of"
        " 2026-08-13, Linux 6.12.117, Arm's data of 2025-01-17 with the\ntelemetry files of"
        " 2026-04, Linux's list of Zen 6 of 2026-04 and libpfm4 of 2026-06; events are compared by"
        " processor and name, by what programs a counter.\nAn event that one source alone has is as"
        " a rule one that the others list under another name or not yet.\nLinux's x86 lists are"
        " copies of Intel's, so that a row which only these two have rests on one source and a"
        " half.\nAMD's events have other names in libpfm4, so that they are compared by their"
        " registers.\n"
    )
    print_counts(audit)
    for c in CAUSES:
        print_cause(audit, *c)
    print_tables(audit)


if __name__ == "__main__":
    main()
