#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes lib/events/libpfm4 from a list of libpfm4's names (one table per line, JSON):

    libpfm4/name_importer.py NAMES.jsonl FOLDER [--s390 FOLDER]

What the list does not have is here: the order of the PMUs, which encoder a PMU has, the hosts it is
for, and the tables of PMUs that libpfm4 makes up when it starts."""

import argparse
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from libpfm4 import name_tables  # noqa: E402

CBOX_WORDS = {"cbo": 2, "cha": 2, "ha": 3, "qpi": 3, "upi": 3, "irp": 3, "iio": 3, "sbo": 3,
              "pcu": 2}
ONE_WORD = "pii ppro p6 pm coreduo core atom knc".split()

ORDER = """netburst netburst_p amd64_k7 amd64_k8_rev* amd64_fam10h_* amd64_fam11h* amd64_fam12h* amd64_fam14h* amd64_fam15h_interlagos
amd64_fam15h_nb amd64_fam16h amd64_fam17h amd64_fam17h_zen1 amd64_fam17h_zen2 amd64_fam19h_zen3 amd64_fam19h_zen4 amd64_fam19h_zen3_l3
amd64_fam1ah_zen5 amd64_fam1ah_zen5_l3 amd64_fam1ah_zen6 amd64_fam1ah_zen6_l3 amd64_rapl core atom nhm nhm_ex nhm_unc wsm wsm_dp wsm_unc snb
snb_unc_cbo* snb_ep ivb ivb_unc_cbo* ivb_ep hsw hsw_ep bdw bdw_ep skl skx clx icl icx icx_unc_* spr spr_unc_* emr gnr gnr_unc_imc* adl_glc
adl_grt rapl snbep_unc_* knc slm glm tmt ivbep_unc_* hswep_unc_* knl knl_unc_* bdx_unc_* skx_unc_* knm knm_unc_* ix86arch
pii ppro p6 pm coreduo
arm_ac7 arm_ac8 arm_ac9 arm_ac15 arm_1176 qcom_krait arm_ac57 arm_ac53 arm_ac55 arm_ac72 arm_ac76 arm_x4 arm_xgene arm_thunderx2 tx2_*
arm_a64fx arm_monaka hisi_* arm_n1 arm_n2 arm_n3 arm_v1 arm_v2 arm_v3 arm_kunpeng arm_olympus
power4 ppc970 ppc970mp power5 power5p power6 power7 power8 power9 power10 power_torrent powerpc_nest_*
ultra12 ultra3 ultra3i ultra3p ultra4p niagara1 niagara2 mips_74k cpum_cf cpum_sf perf perf_raw""".split()

# Hosts of PMUs whose entry in the list names none: by the part of the name before "_unc", or by
# name.
INTEL_UNCORE = {"ivb": [58], "snbep": [45], "ivbep": [62], "hswep": [63], "bdx": [79, 86],
                "knl": [87], "knm": [133], "skx": [85],
                "icx": [106],
                "spr": [143, 207], "gnr": [173, 174], "snb": [42]}
RAPL = [42, 45, 58, 60, 61, 62, 63, 69, 70, 71, 78, 79, 85, 86, 92, 94, 95, 102, 106, 108, 122, 125,
        126, 142, 143, 157, 158, 165, 166]
AMD_RAPL = "amd64_fam17h_zen2,amd64_fam19h_zen3,amd64_fam19h_zen4"
NO_SYSFS = ("nhm", "wsm", "snbep")
MIDR = {"arm_1176": "41:b76", "arm_ac7": "41:c07", "arm_ac8": "41:c08", "arm_ac9": "41:c09",
        "arm_ac15": "41:c0f", "arm_ac53": "41:d03",
        "arm_ac55": "41:d05", "arm_ac57": "41:d07", "arm_ac72": "41:d08", "arm_ac76": "41:d0b",
        "arm_n1": "41:d0c", "arm_v1": "41:d40",
        "arm_n2": "41:d49", "arm_v2": "41:d4f", "arm_x4": "41:d82", "arm_v3": "41:d84",
        "arm_n3": "41:d8e", "arm_thunderx2": "42:516,43:af",
        "tx2": "42:516,43:af", "arm_a64fx": "46:1", "arm_monaka": "46:3", "arm_kunpeng": "48:d01",
        "hisi": "48:d01", "arm_olympus": "4e:10",
        "arm_xgene": "50:0", "qcom_krait": "51:40"}
PVR = {"power4": "35,38", "ppc970": "39,3c,45", "ppc970mp": "44", "power5": "3a", "power5p": "3b",
       "power6": "3e", "power7": "3f,4a",
       "power8": "4b,4c,4d", "power9": "4e", "power10": "80", "powerpc_nest_mcs_read": "4d",
       "powerpc_nest_mcs_write": "4d"}
CPUINFO = {"ultra12": "pmu:ultra12", "ultra3": "pmu:ultra3", "ultra3i": "pmu:ultra3i",
           "ultra3p": "pmu:ultra3+", "ultra4p": "pmu:ultra4+",
           "niagara1": "pmu:niagara", "niagara2": "pmu:niagara2", "mips_74k": "cpu_model:MIPS_74K"}
REVS = {"amd64_k7": 1, "amd64_k8_revb": 2, "amd64_k8_revc": 3, "amd64_k8_revd": 4,
        "amd64_k8_reve": 5, "amd64_k8_revf": 6,
        "amd64_k8_revg": 7,
        "amd64_fam10h_barcelona": 8, "amd64_fam10h_shanghai": 9, "amd64_fam10h_istanbul": 10,
        "amd64_fam11h_turion": 11,
        "amd64_fam12h_llano": 12,
        "amd64_fam14h_bobcat": 13, "amd64_fam15h_interlagos": 14, "amd64_fam16h": 15,
        "amd64_fam17h": 16, "amd64_fam19h_zen3": 17,
        "amd64_fam19h_zen4": 17, "amd64_fam1ah_zen5": 18, "amd64_fam1ah_zen6": 18}
# Titles of processors, by the part of a PMU's name before its box, and the boxes.
CALLED = {"netburst": "Intel Pentium 4", "netburst_p": "Intel Pentium 4 (Prescott)",
          "core": "Intel Core 2", "atom": "Intel Atom (Bonnell)",
          "nhm": "Intel Nehalem", "nhm_ex": "Intel Nehalem EX", "wsm": "Intel Westmere",
          "wsm_dp": "Intel Westmere (two sockets)",
          "snb": "Intel Sandy Bridge", "snb_ep": "Intel Sandy Bridge EP",
          "snbep": "Intel Sandy Bridge EP", "ivb": "Intel Ivy Bridge",
          "ivb_ep": "Intel Ivy Bridge EP", "ivbep": "Intel Ivy Bridge EP", "hsw": "Intel Haswell",
          "hsw_ep": "Intel Haswell EP",
          "hswep": "Intel Haswell EP", "bdw": "Intel Broadwell", "bdw_ep": "Intel Broadwell EP",
          "bdx": "Intel Broadwell EP",
          "skl": "Intel Skylake", "skx": "Intel Skylake X", "clx": "Intel Cascade Lake X",
          "icl": "Intel Ice Lake",
          "icx": "Intel Ice Lake X",
          "spr": "Intel Sapphire Rapids", "emr": "Intel Emerald Rapids",
          "gnr": "Intel Granite Rapids",
          "adl_glc": "Intel Alder Lake, Golden Cove cores",
          "adl_grt": "Intel Alder Lake, Gracemont cores", "knc": "Intel Knights Corner",
          "slm": "Intel Silvermont", "glm": "Intel Goldmont", "tmt": "Intel Tremont",
          "knl": "Intel Knights Landing",
          "knm": "Intel Knights Mill",
          "rapl": "Intel energy meters", "amd64_rapl": "AMD energy meters",
          "pii": "Intel Pentium II", "ppro": "Intel Pentium Pro",
          "p6": "Intel Pentium III", "pm": "Intel Pentium M",
          "coreduo": "Intel Core Duo and Core Solo",
          "ix86arch": "Intel architectural events",
          "amd64_k7": "AMD K7", "perf": "events of the kernel", "perf_raw": "raw events, rHEX",
          "cpum_sf": "IBM Z sampling facility",
          "qcom_krait": "Qualcomm Krait", "power_torrent": "IBM Torrent", "mips_74k": "MIPS 74K",
          "ultra12": "UltraSPARC I and II", "ultra3": "UltraSPARC III",
          "ultra3i": "UltraSPARC IIIi", "ultra3p": "UltraSPARC III+",
          "ultra4p": "UltraSPARC IV+", "niagara1": "UltraSPARC T1", "niagara2": "UltraSPARC T2",
          "arm_1176": "Arm 1176",
          "arm_xgene": "Applied Micro X-Gene", "arm_thunderx2": "Marvell ThunderX2",
          "arm_a64fx": "Fujitsu A64FX",
          "arm_monaka": "Fujitsu Monaka",
          "arm_kunpeng": "HiSilicon Kunpeng 920", "arm_olympus": "NVIDIA Olympus",
          "arm_x4": "Arm Cortex-X4"}


def get_pmu_title(name):
    """Title of a PMU for users; never compared."""
    base, _, box = name.partition("_unc")
    box = box.strip("_")
    text = CALLED.get(base)
    if text is None:
        text = next((form % m[1].upper() for pattern,
                     form in CALLED_LIKE if (m := re.match(pattern, base))), base.replace("_", " "))
    return text + (", uncore unit " + box.upper().replace("_", " ") if box else ", uncore"
                   if name.endswith("_unc") else "")


CALLED_LIKE = [(r"amd64_fam(1\wh)", "AMD family %s"), (r"amd64_k8_rev(\w)", "AMD K8 revision %s"),
               (r"arm_ac(\d+)", "Arm Cortex-A%s"),
               (r"arm_([nv]\d)", "Arm Neoverse %s"), (r"power(\w+)$", "IBM POWER%s"),
               (r"ppc(\w+)", "IBM PowerPC %s"),
               (r"tx2_(\w+)", "Marvell ThunderX2, %s"), (r"hisi_(\w+)", "HiSilicon uncore %s")]
COUNTED = re.compile(r"skl|skx|clx|icl|icx|spr|emr|gnr|adl_...|amd64_k8_.*|amd64_fam10h_.*")

# Events of SPARC on the upper counter. Events in BOTH can use either counter, all others the lower
# one.
ULTRA3 = """Dispatch0_mispred EC_wb EC_snoop_cb IC_miss_cancelled Re_FPU_bypass Re_DC_miss Re_EC_miss IC_miss DC_rd_miss DC_wr_miss
Rstall_FP_use EC_misses EC_ic_miss Re_PC_miss ITLB_miss DTLB_miss WC_miss WC_snoop_cb WC_scrubbed WC_wb_wo_read PC_soft_hit PC_snoop_inv
PC_hard_hit PC_port1_rd SW_count1 IU_Stat_Br_miss_untaken IU_Stat_Br_Count_untaken PC_MS_miss Re_RAW_miss""".split()
ULTRA3_MC = "MC_writes_0 MC_writes_1 MC_writes_2 MC_writes_3 MC_stalls_1 MC_stalls_3".split()
UPPER = {
    "niagara1": ["Instr_cnt"],
    "ultra12": "Dispatch0_mispred Dispatch0_FP_use IC_hit DC_rd_hit DC_wr_hit Load_use_RAW EC_hit EC_wb EC_snoop_cb EC_ic_hit".split(),
    "ultra3": ULTRA3 + ULTRA3_MC,
    "ultra3p": ULTRA3 + ULTRA3_MC + ["Re_DC_missovhd", "EC_miss_remote"],
    "ultra3i": ULTRA3 + ["MC_reads", "MC_writes", "MC_page_close_stall", "Re_DC_missovhd"],
    "ultra4p": """Dispatch0_other DC_wr Re_DC_missovhd Re_FPU_bypass L3_write_hit_RTO L2L3_snoop_inv_sh
               IC_L2_req DC_rd_miss L2_hit_I_state_sh
L3_write_miss_RTO L2_miss SI_owned_sh SI_RTO_src_data SW_pf_duplicate IU_stat_jmp_mispred ITLB_miss DTLB_miss WC_miss IC_fill
IU_stat_ret_mispred Re_L3_miss Re_PFQ_full PC_soft_hit PC_inv PC_hard_hit IC_pf SW_count_NOP1 IU_stat_br_miss_untaken PC_miss
MC_writes_0_sh MC_writes_1_sh MC_writes_2_sh MC_writes_3_sh MC_stalls_1_sh MC_stalls_3_sh Re_RAW_miss FM_pipe_completion
SSM_L3_miss_remote SW_pf_exec SW_pf_str_exec SW_pf_dropped SW_pf_L2_installed L2_HW_pf_miss L3_miss L3_IC_miss L3_SW_pf_miss
L3_hit_other_half L3_wb L3_wb_sh L2L3_snoop_cb_sh""".split()}


def get_bit_names(names, bits):
    """Returns the names of the bits that are set, as in `is=`."""
    return ",".join(n for i, n in enumerate(names) if bits >> i & 1)


def get_encoder_name(table, unit):
    """Returns the encoder of the library for the rows of @unit."""
    name, kind = unit["name"], table["kind"]
    if name in ("rapl", "amd64_rapl"):
        return "plain"
    if kind == "intel_x86":
        if name in ("nhm_unc", "wsm_unc"):
            return "nhm_unc"
        return "ep_unc" if "_unc_" in name and not re.match("(snb|ivb)_unc_cbo", name) else "core"
    if kind == "other":
        return {"netburst": "netburst", "netburst_p": "netburst",
                "power_torrent": "torrent"}.get(name, "plain")
    return "plain" if kind == "power" or (kind == "arm" and unit["type"] == 2) else kind


# ---- rows ----------------------------------------------------------------------------------------


def get_flag_names(names, value):
    """Returns the key `is` for the flags of @value, if any is set."""
    return [("is", get_bit_names(names, value))] if get_bit_names(names, value) else []


def get_amd_flags(fl):
    """Returns the keys of AMD's flags and revisions."""
    out = get_flag_names(name_tables.AMD_FLAGS, fl & 0xff)
    return out + [(k, str(v)) for k,
                  v in (("from_rev", fl >> 8 & 0xff), ("to_rev", fl >> 16 & 0xff)) if v]


def list_common_keys(row, encoder, units):
    """Keys of events and unit masks alike, as (key, value) pairs."""
    fl = row.get("fl", 0)
    if encoder in ("core", "ep_unc", "nhm_unc"):
        out = get_flag_names(name_tables.INTEL_FLAGS, fl)
    else:
        out = get_amd_flags(fl) if encoder == "amd64" else []
    return out + [("only", units[row["model"]])] if "model" in row else out


def list_mask_keys(u, encoder, units):
    """Returns the keys of mask @u and their texts."""
    mods = name_tables.MODS.get(encoder, [])
    out = list_common_keys(u, encoder, units)
    g = u.get("g", 0)
    out += [(k, str(v)) for k, v in (("g", g & 0xff), ("needs", g >> 8),
                                     ("t", u.get("t", 0) if u.get("t") != 1 else 0)) if v]
    out += [(k, get_bit_names(mods, u[v])) for k, v in (("hw", "hw"), ("req", "req")) if v in u]
    out += [(k, hex(u[k])) for k in ("f0", "f1") if k in u]
    if u.get("d"):
        out.append(("is", "dfl"))
    return out + [("equiv", u["equiv"])] if "equiv" in u else out


def list_event_keys(e, encoder, units, table):
    """Returns the keys of event @e and their texts."""
    out = list_common_keys(e, encoder, units)
    mods = name_tables.MODS.get(encoder, [])
    if encoder in ("sparc", "mips", "netburst"):
        bits = (1 << len(mods)) - 1
    else:
        bits = e.get("mod", 0)
    out.append(("mods", get_bit_names(mods, bits)))
    if "modreq" in e:
        out.append(("req", get_bit_names(mods, e["modreq"])))
    if "ngrp" in e:
        out.append(("groups", str(e["ngrp"])))
    if encoder == "sparc":
        out.append(("pic", str(get_pic_mask(table, e["e"]))))
    return out + [("equiv", e["equiv"])] if "equiv" in e else out


def get_pic_mask(table, event):
    """Counters of a SPARC for the event: 1 the lower one, 2 the upper one."""
    if table == "niagara2" or event in ("Cycle_cnt", "Instr_cnt") and table != "niagara1":
        return 3
    return 2 if event in UPPER[table] else 1


def select_netburst_masks(e, encoder):
    """Removes the modifiers that Netburst lists among the attributes."""
    return [u for u in e.get("u", []) if encoder != "netburst" or u.get("t") == 1]


class TableWriter:
    """Writes tables in order. A table that equals an earlier one refers to it."""

    def __init__(self, folder):
        """Prepares to write tables into @folder."""
        self.folder = folder
        self.rows = {}    # (encoder, row) -> table
        self.lists = {}   # (encoder, masks) -> table:event

    def write_table(self, name, encoder, events):
        """@events: (name, code, keys, [(mask, code, keys)])."""
        usual = max((dict(e[2]).get("mods", "") for e in events),
                    key=lambda m: sum(dict(e[2]).get("mods", "") == m for e in events),
                    default="")
        lines = ["# SPDX-License-Identifier: MIT",
                 "table %s %s%s" % (name, encoder, " mods=" + usual if usual else "")]
        names = [e[0] for e in events]
        for event in events:
            lines += self.format_event(name, encoder, usual, event, names.count(event[0]) == 1)
        with open(os.path.join(self.folder, name + ".pmu"), "w", encoding="ascii") as f:
            f.write("\n".join(lines) + "\n")

    def format_event(self, table, encoder, usual, event, alone):
        """Returns the lines of an event; a row or masks that an earlier table has are referred
        to."""
        name, code, keys, masks = event
        same = json.dumps([encoder, event])
        if masks and self.rows.get(same, table) != table:
            return ["event %s from=%s" % (name, self.rows[same])]
        if alone:   # the name must find this row
            self.rows.setdefault(same, table)
        keys = [(k, v) for k, v in keys if not (k == "mods" and v == usual)]
        line = "event %s 0x%x%s" % (name, code, "".join(" %s=%s" % kv for kv in keys))
        same = json.dumps([encoder, masks])
        if len(masks) > 2 and same in self.lists:
            where, other = self.lists[same]
            return [line + " masks=" + (other if where == table else where + ":" + other)]
        if alone:
            self.lists.setdefault(same, (table, name))
        return [line] + ["mask %s 0x%x%s" % (n, c, "".join(" %s=%s" % kv for kv in k)) for n, c,
                         k in masks]


# ---- PMUs ----------------------------------------------------------------------------------------


def get_host_key(table, p, numbers):
    """Returns the key `host` of PMU @p: how its processor is identified."""
    name, kind = p["name"], table["kind"]
    if kind == "amd64":
        return "amd:" + (numbers[p["family"]] if "family" in p else AMD_RAPL)
    if "arm" in kind:
        return "arm:" + MIDR.get(name, MIDR.get(name.split("_")[0], ""))
    if name in PVR:
        return "power:" + PVR[name]
    if name in CPUINFO:
        return "cpuinfo:" + CPUINFO[name]
    if name == "cpum_sf":
        return "sysfs:" + name
    if name in ("netburst", "netburst_p"):
        return "intel:15,3,4,6" if name == "netburst_p" else "intel:15"
    models = p.get("models") or (RAPL if name == "rapl" else [14] if name == "coreduo"
                                 else INTEL_UNCORE.get(name.split("_unc")[0], []))
    return "intel:%d,%s" % (p.get("family", 6), ",".join(map(str, models))) if models else "none"


def make_unit_keys(table, p, encoder, table_name, numbers):
    """Returns the keys of PMU @p and their texts."""
    name = p["name"]
    own = {**name_tables.PMU_FLAGS, **name_tables.PMU_OWN.get(encoder, {})}
    flags = [w for b, w in own.items() if p["flags"] & b] + (["machines"] if name == "rapl" else [])
    words = 2
    if encoder == "ep_unc":
        processor, box = name.split("_unc_")
        if processor not in ("icx", "spr", "gnr"):
            words = 1 if processor.startswith("kn") else CBOX_WORDS.get(re.sub(r"\d*$", "", box), 1)
    elif encoder == "netburst":
        words = 3
    elif encoder not in ("sparc", "mips") and not (encoder == "core" and "_unc" not in name
                                                   and name not in ONE_WORD):
        words = 1
    keys = [("id", p["id"]), ("table", table_name), ("type", name_tables.TYPES[p["type"]]),
            ("counters", p["counters"]), ("fixed", p["fixed"]), ("words", words),
            ("levels", "".join(c for b, c in name_tables.LEVELS.items() if p["plm"] & b)),
            ("is", ",".join(flags)), ("perf", p["perf"]), ("host", get_host_key(table, p, numbers)),
            ("rev", REVS.get(name, 0)), ("desc", get_pmu_title(name).replace(" ", "_"))]
    text = " ".join("%s=%s" % kv for kv in keys if kv[1] or kv[0] == "id")
    if COUNTED.fullmatch(name):
        text += " counted"
    if name == "rapl" or (encoder in ("core", "ep_unc") and "_unc" in name
                          and name.split("_unc")[0] not in NO_SYSFS):
        text += " sysfs"
    return text


def sort_units(units):
    """Units (name, text) in the order of libpfm4's list."""
    rest = dict(units)
    for word in ORDER:
        for name in [n for n in rest if re.fullmatch(word.replace("*", ".*"), n)]:
            yield name, rest.pop(name)
    assert not rest, rest


def fold_instances(units):
    """Joins instances that differ only in their number into one line."""
    out = []
    for name, text in units:
        m = re.fullmatch(r"(.*?)(\d+)", name)
        base = text and re.sub(r"id=(\d+)", "id=N", text)
        if m:
            base = re.sub(r"((?:perf|desc)=\S*?)%s(?= |$)" % m[2], r"\1{}", base)
        last = out[-1] if out else None
        number = int(re.search(r"id=(\d+)", text)[1])
        if m and last and last[0] == m[1] and last[1] == base and int(
                m[2]) == last[3] + 1 and number == last[4] + 1:
            last[3:] = [int(m[2]), number]
        else:
            out.append([m[1] if m else name, base, int(m[2]) if m else None,
                        int(m[2]) if m else None, number])
    for base, text, first, last, number in out:
        one = first == last
        name = base + ("" if first is None else str(first) if one else "{%d..%d}" % (first, last))
        text = text.replace("id=N", "id=%d" % (number if one else number - (last - first)))
        yield "pmu %s %s" % (name, text.replace("{}", str(first)) if one and first is not None
                             else text)


# ---- tables that libpfm4 generates when it starts ------------------------------------------------

HARDWARE = """CPU_CYCLES:CYCLES,CPU-CYCLES INSTRUCTIONS:INSTRUCTIONS CACHE_REFERENCES:CACHE-REFERENCES CACHE_MISSES:CACHE-MISSES
BRANCH_INSTRUCTIONS:BRANCH-INSTRUCTIONS,BRANCHES BRANCH_MISSES:BRANCH-MISSES BUS_CYCLES:BUS-CYCLES
STALLED_CYCLES_FRONTEND:STALLED-CYCLES-FRONTEND,IDLE-CYCLES-FRONTEND STALLED_CYCLES_BACKEND:STALLED-CYCLES-BACKEND,IDLE-CYCLES-BACKEND
REF_CPU_CYCLES:REF-CYCLES""".split()
SOFTWARE = """CPU_CLOCK=0:CPU-CLOCK TASK_CLOCK=1:TASK-CLOCK PAGE_FAULTS=2:PAGE-FAULTS,FAULTS CONTEXT_SWITCHES=3:CONTEXT-SWITCHES,CS
CPU_MIGRATIONS=4:CPU-MIGRATIONS,MIGRATIONS PAGE_FAULTS_MIN=5:MINOR-FAULTS PAGE_FAULTS_MAJ=6:MAJOR-FAULTS
CGROUP_SWITCHES=11:CGROUP-SWITCHES""".split()
CACHES = [("L1D", "L1-DCACHE", "RWP"), ("L1I", "L1-ICACHE", "RP"), ("LL", "LLC", "RWP"),
          ("DTLB", "DTLB", "RWP"), ("ITLB", "ITLB", "R"),
          ("BPU", "BRANCH", "R"), ("NODE", "NODE", "RWP")]
OPS = {"R": ("READ", 0, "LOAD"), "W": ("WRITE", 0x100, "STORE"),
       "P": ("PREFETCH", 0x200, "PREFETCH")}
TOPDOWN = [("slots", 0x400), ("topdown-retiring", 0x8000), ("topdown-bad-spec", 0x8100),
           ("topdown-fe-bound", 0x8200),
           ("topdown-be-bound", 0x8300)]


def list_perf_events():
    """Yields the kernel's events: (name, code, keys, masks)."""
    for group, prefix, kind in ((HARDWARE, "PERF_COUNT_HW_", 0), (SOFTWARE, "PERF_COUNT_SW_", 1)):
        for n, word in enumerate(group):
            name, _, others = word.partition(":")
            name, _, value = name.partition("=")
            code, full = int(value or n), prefix + name
            keys = [("type", str(kind))] if kind else []
            more = [("is", "pebs")] if full == "PERF_COUNT_HW_CPU_CYCLES" else []
            yield full, code, keys + more, []
            for other in others.split(","):
                yield other, code, keys + [("equiv", full)], []
    for code, (name, short, ops) in enumerate(CACHES):
        yield from list_cache_events(code, "PERF_COUNT_HW_CACHE_" + name, short, ops)
    for name, code in TOPDOWN:
        yield name, code, [("type", "4")], []


def list_cache_events(code, full, short, ops):
    """Yields the events of one cache: with masks, and perf's names of each access."""
    masks = [(OPS[o][0], OPS[o][1], [("is", "dfl")] if o == "R" else []) for o in ops]
    masks += [("ACCESS", 0, [("g", "1")]), ("MISS", 0x10000, [("is", "dfl"), ("g", "1")])]
    yield full, code, [("type", "3"), ("groups", "2")], masks
    for o in ops:
        one = OPS[o][2]
        many = one + ("ES" if one.endswith("H") else "S")
        yield "%s-%s" % (short, many), code, [("type", "3"),
                                              ("equiv", "%s:%s:ACCESS" % (full, OPS[o][0]))], []
        yield "%s-%s-MISSES" % (short, one), code, [("type", "3"),
                                                    ("equiv", "%s:%s:MISS" % (full, OPS[o][0]))], []


def list_arch_events():
    """Yields the events of Intel's architectural PMU."""
    mods = [("mods", "k,u,e,i,c,t,intx,intxcp")]
    for name, code in (("UNHALTED_CORE_CYCLES", 0x3c), ("INSTRUCTION_RETIRED", 0xc0),
                       ("UNHALTED_REFERENCE_CYCLES", 0x13c),
                       ("LLC_REFERENCES", 0x4f2e), ("LLC_MISSES", 0x412e),
                       ("BRANCH_INSTRUCTIONS_RETIRED", 0xc4),
                       ("MISPREDICTED_BRANCH_RETIRED", 0xc5)):
        yield name, code, mods, []


def list_rapl_events():
    """Intel's energy meters. Bits of the type: client processors, first servers, processors with a
    platform meter, later servers."""
    for name, code, kinds in (("CORES", 1, 7), ("PKG", 2, 15), ("GPU", 4, 5), ("DRAM", 3, 10),
                              ("PSYS", 5, 4)):
        yield "RAPL_ENERGY_" + name, code, [("type", str(kinds))], []


MADE = {
    "cpum_cf": (
        "id=101 table=cpum_cf type=core words=1 is=default,machines perf=cpum_cf host=sysfs:cpum_cf"
        " desc=IBM_Z_counter_facility"
    ),
    "perf": "id=51 table=perf type=os words=1 levels=kuh host=any desc=events_of_the_kernel",
    "perf_raw": "id=114 table=perf_raw type=os words=1 levels=kuh host=any desc=raw_events,_rHEX",
    "ix86arch": (
        "id=18 table=ix86arch type=core words=1 levels=ku is=default host=arch"
        " desc=Intel_architectural_events"
    ),
}


def main():
    """Reads the list of names and writes the tables."""
    parser = argparse.ArgumentParser(description="Write lib/events/libpfm4 from a list of names.")
    parser.add_argument("names")
    parser.add_argument("folder")
    args = parser.parse_args()
    with open(args.names, encoding="utf-8") as f:
        tables = [json.loads(line) for line in f]
    numbers = {p["id"]: p["name"] for t in tables for p in t["pmus"]}
    writer = TableWriter(args.folder)
    units = []
    for t in tables:
        first = t["pmus"][0]
        encoder = get_encoder_name(t, first)
        name = re.sub(
            r"(?<=[a-z])0$", "",
            first["name"]) if "unc_" in first["name"] or first["type"] == 2 else first["name"]
        rows = [(e["e"], e["code"], list_event_keys(e, encoder, numbers, name),
                 [(u["u"], u["c"], list_mask_keys(u, encoder, numbers))
                  for u in select_netburst_masks(e, encoder)]) for e in t["events"]]
        writer.write_table(name, encoder, list(list_rapl_events()) if name == "rapl" else rows)
        units += [(p["name"], make_unit_keys(t, p, encoder, name, numbers)) for p in t["pmus"]]
    writer.write_table("perf", "perf", list(list_perf_events()))
    writer.write_table("perf_raw", "perf_raw", [("r0000", 0, [("type", "4")], [])])
    writer.write_table("ix86arch", "arch", list(list_arch_events()))
    with open(os.path.join(args.folder, "pmus.pmu"), "w", encoding="ascii") as f:
        f.write(
            "# SPDX-License-Identifier: MIT\n# Every PMU in libpfm4's order, which is the order"
            " names are looked up in.\n"
        )
        f.writelines(line + "\n" for line in fold_instances(sort_units(units + list(MADE.items()))))


if __name__ == "__main__":
    main()
