# SPDX-License-Identifier: MIT
"""What the processors are, and how their boxes take events: data, no reading.

First the processors: names, CPU models, and which of them has which fields. Then the boxes beside the cores: the bits
each field of an event goes to, as the kernel's format files say it.
"""

import re
from collections import namedtuple

# ---- what the processors are ----------------------------------------------------------------------------------------

# linux: folder of the Linux list; libpfm: libpfm's names; formats: family of the uncore formats; cpus: CPU models when
# no mapfile.csv is at hand, family-model[-steppings] in hexadecimal, as there.
Processor = namedtuple("Processor", "linux libpfm formats cpus")

# By Intel's folder.
INTEL = {
    "bnl": Processor("bonnell", "atom", "", "6-1C 6-26 6-27 6-35 6-36"),
    "nhm-ep": Processor("nehalemep", "nhm", "", "6-1A 6-1E 6-1F"),
    "nhm-ex": Processor("nehalemex", "nhm_ex", "", "6-2E"),
    "wsm-ep-sp": Processor("westmereep-sp", "wsm", "", "6-25"),
    "wsm-ep-dp": Processor("westmereep-dp", "wsm_dp", "", "6-2C"),
    "wsm-ex": Processor("westmereex", "", "", "6-2F"),
    "snb": Processor("sandybridge", "snb", "snb", "6-2A"),
    "jkt": Processor("jaketown", "snb_ep", "jkt", "6-2D"),
    "ivb": Processor("ivybridge", "ivb", "snb", "6-3A"),
    "ivt": Processor("ivytown", "ivb_ep", "ivt", "6-3E"),
    "hsw": Processor("haswell", "hsw", "snb", "6-3C 6-45 6-46"),
    "hsx": Processor("haswellx", "hsw_ep", "hsx", "6-3F"),
    "bdw": Processor("broadwell", "bdw", "snb", "6-3D 6-47"),
    "bdx": Processor("broadwellx", "bdw_ep", "hsx", "6-4F"),
    "bdw-de": Processor("broadwellde", "", "hsx", "6-56"),
    "skl": Processor("skylake", "skl", "snb", "6-4E 6-5E 6-8E 6-9E 6-A5 6-A6"),
    "skx": Processor("skylakex", "skx", "skx", "6-55-01234"),
    "clx": Processor("cascadelakex", "clx", "skx", "6-55-56789ABCDEF"),
    "knl": Processor("knightslanding", "knl knm", "knl", "6-57 6-85"),
    "slm": Processor("silvermont", "slm", "", "6-37 6-4A 6-4C 6-4D 6-5A"),
    "glm": Processor("goldmont", "glm", "", "6-5C 6-5F"),
    "glp": Processor("goldmontplus", "", "", "6-7A"),
    "ehl": Processor("elkhartlake", "tmt", "", "6-96 6-9C"),
    "snr": Processor("snowridgex", "", "icx", "6-86"),
    "icl": Processor("icelake", "icl", "snb", "6-7D 6-7E"),
    "tgl": Processor("tigerlake", "", "snb", "6-8C 6-8D"),
    "rkl": Processor("rocketlake", "", "snb", "6-A7"),
    "icx": Processor("icelakex", "icx", "icx", "6-6A 6-6C"),
    "spr": Processor("sapphirerapids", "spr", "spr", "6-8F"),
    "emr": Processor("emeraldrapids", "emr", "spr", "6-CF"),
    "gnr": Processor("graniterapids", "gnr", "spr", "6-AD 6-AE"),
    "srf": Processor("sierraforest", "", "spr", "6-AF"),
    "grr": Processor("grandridge", "", "spr", "6-B6"),
    "cwf": Processor("clearwaterforest", "", "spr", "6-DD"),
    "adl": Processor("alderlake", "adl", "adl", "6-97 6-9A 6-B7 6-BA 6-BF"),
    "mtl": Processor("meteorlake", "mtl", "adl", "6-AA 6-AC 6-B5"),
    "arl": Processor("arrowlake", "arl", "adl", "6-C5 6-C6"),
    "lnl": Processor("lunarlake", "lnl", "lnl", "6-BD"),
    "ptl": Processor("pantherlake", "ptl", "lnl", "6-CC 6-D5 6-E5"),
    "nvl": Processor("novalake", "nvl", "lnl", "18-1 18-3"),
}
INTEL_OF_LINUX = {p.linux: folder for folder, p in INTEL.items()}
INTEL_OF_LINUX["alderlaken"] = "adl"


def intel_folder(folder):
    """Our short name of an Intel or Linux folder, a key of INTEL; '' for others."""
    folder = folder.lower()
    return folder if folder in INTEL else INTEL_OF_LINUX.get(folder, "")


# Which of them, by Intel's folder, have what. AnyThread exists up to here; precise events are said with PEBS there,
# with Precise later.
WITH_ANY = set("bnl nhm-ep nhm-ex wsm-ep-sp wsm-ep-dp wsm-ex snb jkt ivb ivt hsw hsx bdw bdx bdw-de skl skx clx knl "
               "slm glm glp ehl snr".split())
ATOMS = set("bnl slm glm glp ehl snr knl srf grr cwf".split())
WITHOUT_TSX = set("nhm-ep nhm-ex wsm-ep-sp wsm-ep-dp wsm-ex snb jkt ivb ivt".split())
WITHOUT_FRONTEND = WITHOUT_TSX | set("hsw hsx bdw bdx bdw-de bnl slm glm glp knl".split())
WIDE_UMASK = set("lnl arl ptl nvl cwf".split())     # unit mask of 16 bits, EQ
SNOOP_RSP = set("srf grr".split())

# The cores of hybrid processors.
ATOM_CORES = set("gracemont crestmont skymont darkmont arcticwolf".split())
BIG_CORES = set("goldencove redwoodcove lioncove cougarcove coyotecove".split())
CORE_ALIAS = {"goldencove": "glc", "gracemont": "grt", "redwoodcove": "rwc", "crestmont": "cmt", "lioncove": "lnc",
              "skymont": "skt", "darkmont": "dkt"}
HYBRIDS = set("adl mtl arl lnl ptl nvl".split())
BIG_AND_ATOM = {"adl": ("goldencove", "gracemont"), "mtl": ("redwoodcove", "crestmont"), "arl": ("lioncove", "skymont"),
                "lnl": ("lioncove", "skymont"), "ptl": ("cougarcove", "darkmont")}

# libpfm's names of other makers' cores: by Zen's number, by folder.
AMD_ALIAS = {1: "amd64_fam17h_zen1", 2: "amd64_fam17h_zen2", 3: "amd64_fam19h_zen3", 4: "amd64_fam19h_zen4",
             5: "amd64_fam1ah_zen5"}
ARM_ALIAS = {"neoverse-n1": "arm_n1", "neoverse-n2-v2": "arm_n2 arm_v2", "neoverse-v1": "arm_v1",
             "cortex-a53": "arm_ac53", "cortex-a55": "arm_ac55", "cortex-a57-a72": "arm_ac57 arm_ac72",
             "cortex-a76": "arm_ac76", "cortex-a76-n1": "arm_ac76 arm_n1", "thunderx2": "arm_thunderx2",
             "a64fx": "arm_a64fx", "hip08": "arm_hisilicon_kunpeng"}

# The kernel's name, ours, what it counts; in the order of the kernel's codes.
TOP_DOWN = (
    ("topdown-retiring", "RETIRING", "Slots whose operations retired."),
    ("topdown-bad-spec", "BAD_SPECULATION", "Slots lost to speculation that proved wrong."),
    ("topdown-fe-bound", "FRONTEND_BOUND", "Slots the front end left empty."),
    ("topdown-be-bound", "BACKEND_BOUND", "Slots the back end could not take."),
    ("topdown-heavy-ops", "HEAVY_OPERATIONS", "Slots retired by instructions of several operations."),
    ("topdown-br-mispredict", "BRANCH_MISPREDICTS", "Slots lost to branches predicted wrongly."),
    ("topdown-fetch-lat", "FETCH_LATENCY", "Slots empty because instructions came late."),
    ("topdown-mem-bound", "MEMORY_BOUND", "Slots the back end could not take because of memory."),
)

# ---- how the boxes take their events: name -> bits ------------------------------------------------------------------

_BITS = re.compile(r"(config[123]?):([0-9,-]+)")


def bits(text):
    """'config1:0-7,9' as ranges."""
    m = _BITS.fullmatch(text)
    word = int(m[1][6:] or 0)
    out = []
    for part in m[2].split(","):
        low, _, high = part.partition("-")
        out.append((word, int(low), int(high or low) - int(low) + 1))
    return out


SKX_CHA = {"tid_en": "config:19", "filter_tid": "config1:0-8", "filter_state": "config1:17-26",
           "filter_rem": "config1:32", "filter_loc": "config1:33", "filter_all_op": "config1:35",
           "filter_nm": "config1:36", "filter_not_nm": "config1:37", "filter_opc0": "config1:41-50",
           "filter_opc1": "config1:51-60", "filter_nc": "config1:62", "filter_isoc": "config1:63"}
PCU = {"umask": None, "occ_sel": "config:14-15", "thresh": "config:24-28", "occ_invert": "config:30",
       "occ_edge_det": "config:31", "filter_band0": "config1:0-7", "filter_band1": "config1:8-15",
       "filter_band2": "config1:16-23", "filter_band3": "config1:24-31"}
SMALL_THRESH = {"thresh": "config:24-28"}
CBOX_EP = {"tid_en": "config:19", "filter_nid": "config1:32-47", "filter_opc": "config1:52-60",
           "filter_nc": "config1:62", "filter_c6": "config1:61", "filter_isoc": "config1:63"}
QPI = {"code": "config:0-7,21"}                # the list's ExtSel is bit 21
OLD_PCU = dict(PCU, **QPI)
OLD_UBOX = dict(SMALL_THRESH, **QPI)
ICX_IIO = {"thresh": "config:24-35", "ch_mask": "config:36-47", "fc_mask": "config:48-50"}
# Family of formats: box -> what differs from event 7:0, umask 15:8, edge 18, inv 23, thresh 31:24. "": any box.
FORMATS = {
    "jkt": {"cbox": {"tid_en": "config:19", "filter_tid": "config1:0-4", "filter_nid": "config1:10-17",
                     "filter_state": "config1:18-22", "filter_opc": "config1:23-31"},
            "pcu": OLD_PCU, "ubox": OLD_UBOX, "qpi": QPI},
    "ivt": {"cbox": dict(CBOX_EP, filter_tid="config1:0-4", filter_link="config1:5-8", filter_state="config1:17-22"),
            "pcu": OLD_PCU, "ubox": OLD_UBOX, "qpi": QPI},
    "hsx": {"cbox": dict(CBOX_EP, filter_tid="config1:0-5", filter_link="config1:6-8", filter_state="config1:17-23"),
            "pcu": OLD_PCU, "ubox": dict(OLD_UBOX, filter_tid="config1:0", filter_cid="config1:5"), "qpi": QPI},
    "knl": {"cha": {"tid_en": "config:19", "qor": "config:16", "filter_tid": "config1:0-8",
                    "filter_state": "config1:18-20", "filter_local": "config1:33", "filter_all_op": "config1:35",
                    "filter_nnm": "config1:37", "filter_opc": "config1:41-60",
                    "filter_nc": "config1:62", "filter_isoc": "config1:63"},
            "pcu": PCU, "ubox": SMALL_THRESH},
    "skx": {"cha": SKX_CHA, "upi": {"umask": "config:8-15,32-43,45-55"},
            "iio": {"thresh": "config:24-35", "ch_mask": "config:36-43", "fc_mask": "config:44-46"},
            "ubox": SMALL_THRESH, "pcu": PCU},
    "icx": {"cha": {"umask": "config:8-15,32-57", "tid_en": "config:19", "filter_tid": "config1:0-9"},
            "iio": ICX_IIO, "m2m": {"umask": "config:8-15,32-39"}, "upi": {"umask": "config:8-15,32-55"},
            "ubox": SMALL_THRESH, "pcu": PCU},
    "spr": {"": {"umask": "config:8-15,32-55"},
            "cha": {"umask": "config:8-15,32-63", "tid_en": "config:16", "filter_tid": "config1:0-9"},
            "iio": dict(ICX_IIO, umask="config:8-15")},
    "snb": {"": {"thresh": None, "cmask": "config:24-28"}},
    "adl": {"": {"thresh": None, "threshold": "config:24-29"}},
    "lnl": {"": {"thresh": None, "threshold": "config:24-31"}},
}

def box_format(family, box):
    """Field name -> bits of an Intel uncore box."""
    if box.endswith("free_running") or re.search(r"free_running_\d+$", box):
        return {"code": "config:0-7", "umask": "config:8-15"}
    if box in ("clock", "cncu", "sncu") or re.fullmatch(r"cbox_\d+", box):
        return {"code": "config:0-7"}
    out = {"code": "config:0-7", "umask": "config:8-15", "edge": "config:18", "inv": "config:23",
           "thresh": "config:24-31"}
    family = FORMATS.get(family, {})
    out.update(family.get("", {}))
    out.update(family.get(box, {}))
    return {k: v for k, v in out.items() if v}


UNIT_DEVICES = {
    "l3pmc": "amd_l3", "dfpmc": "amd_df", "umcpmc": "amd_umc",
    "cpu-m-cf": "cpum_cf", "cpu-m-sf": "cpum_sf", "pai-crypto": "pai_crypto", "pai-ext": "pai_ext",
    "imph-u": "uncore_arb", "qpi ll": "uncore_qpi", "upi ll": "uncore_upi",
}


def unit_device(unit):
    """The kernel's name for the box a list calls @unit."""
    u = unit.lower()
    if u in UNIT_DEVICES:
        return UNIT_DEVICES[u]
    if u.startswith(("hisi_", "imx", "ali_", "arm_", "cpu_")):
        return u.replace(",", "_").replace(" ", "_")     # 'hisi_sccl,ddrc' is a pattern: hisi_sccl1_ddrc0 and its like
    u = re.sub(r"cbo$", "cbox", u)
    u = re.sub(r"^sbo$", "sbox", u)
    return "uncore_" + u.replace(" ", "_")
