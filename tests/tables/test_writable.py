#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No row of any table sets a bit that its register does not have.

Sources of the masks, none of which the tables are made from:
  Intel cores     secure-pmu-access list for IA32_PERFEVTSEL, without the bits that a kernel sets
                  (pin control, interrupt, enable); software developer's manual, volume 3, for the
                  bits above 31, MSR_PEBS_LD_LAT_THRESHOLD and MSR_PEBS_FRONTEND; valid_mask of
                  Linux's intel_*_extra_regs for MSR_OFFCORE_RSP
  Intel uncore    *_RAW_EVENT_MASK, *_MASK_EXT and *_BOX_FILTER_* of Linux's uncore_snbep.c and
                  uncore_snb.c
  AMD             programming references: PERF_CTL, ChL3PmcCfg, DF and UMC PMC_CTL; IBS control
                  registers
  Arm             PMEVTYPER.evtCount: 16 bits from Armv8.1 on, 10 in Armv8.0, 8 in Armv7 and before;
                  formats of Linux's drivers
  RISC-V          mhpmevent without the bits of Sscofpmf; bit 63 is SBI's mark of firmware events
  POWER, s390     formats of Linux's drivers; counter numbers of the CPU measurement facility
"""

import json
import os
import re
import subprocess
import unittest

from tap import main

PFM = os.environ.get("PFM", "pfm")
ALL = (1 << 64) - 1


def bits(*ranges):
    """The mask of bits and ranges (low, high) of bits."""
    mask = 0
    for r in ranges:
        low, high = r if isinstance(r, tuple) else (r, r)
        mask |= (1 << (high + 1)) - (1 << low)
    return mask


# ---- processor cores of x86

EVENTSEL = 0xFFA7FFFF & ~bits(19, 20, 22) | bits(21)         # 21: any thread, until version 5
# EQ, UMASK2: from Lunar Lake and Clearwater Forest on
HIGH = bits(36, (40, 47))
OFFCORE = {
    "snb": 0x3F807F8FFF,
    "jkt": 0x3FFFFF8FFF,
    "ivb": 0x3F807F8FFF,
    "ivt": 0x3FFFFF8FFF,
    "hsw": 0x3FFFFF8FFF,
    "hsx": 0x3FFFFF8FFF,
    "bdw": 0x3FFFFF8FFF,
    "bdx": 0x3FFFFF8FFF,
    "skl": 0x3FFFFF8FFF,
    "skx": 0x3FFFFF8FFF,
    "clx": 0x3FFFFF8FFF,
    "icl": 0x3FFFFFBFFF,
    "icx": 0x3FFFFFBFFF,
    "tgl": 0x3FFFFFBFFF,
    "rkl": 0x3FFFFFBFFF,
    "spr": 0x3FFFFFFFFF,
    "emr": 0x3FFFFFFFFF,
    "gnr": 0x3FFFFFFFFF,
    "adl_goldencove": 0x3FFFFFFFFF,
    "mtl_redwoodcove": 0x3FFFFFFFFF,
    "lnl_lioncove": 0xFFFFFFFFFFF,
    "arl_lioncove": 0xFFFFFFFFFFF,
    "ptl_cougarcove": 0xFFFFFFFFFFF,
    "nhm_ep": 0xFFFF,
    "nhm_ex": 0xFFFF,
    "wsm_ep_dp": 0xFFFF,
    "wsm_ep_sp": 0xFFFF,
    "wsm_ex": 0xFFFF,
    "slm": 0x768005FFFF,
    "glm": 0x760005FFBF,
    "glp": 0x760005FFBF,
    "knl": 0x799FFBFFE7,
    "ehl": 0x800FF0FFFFFF9FFF,
    "snr": 0x800FF0FFFFFF9FFF,
    "adl_gracemont": 0x3FFFFFFFFF,
    "adl_n": 0x3FFFFFFFFF,
    "mtl_crestmont": 0x800FF3FFFFFFFFFF,
    "grr": 0x800FF3FFFFFFFFFF,
    "srf": 0x800FF3FFFFFFFFFF,
}
OFFCORE_CODES = (0xB7, 0xBB, 0x2A, 0x2B)
# Bits that Intel's lists set and Linux's masks leave out, so that perf refuses these events: 53 of
# Knights Landing, two of Gracemont.
BEYOND_LINUX = {"knl": bits(3, 4), "adl_gracemont": bits(46, 47), "adl_n": bits(46, 47)}
LDLAT, FRONTEND = bits((0, 15)), bits((0, 23))
AMD_CORE = bits((0, 15), 18, 23, (24, 31), (32, 35))


def core_config1(name, config):
    """The mask of bits that an event of an Intel core may set in its extra register."""
    pmu, event = name.split("::", 1)
    code = config & 0xFF
    if code in OFFCORE_CODES and pmu in OFFCORE:
        return OFFCORE[pmu] | BEYOND_LINUX.get(pmu, 0)
    if re.search("LATENCY_GT|LOAD_LATENCY", event.upper()):
        return LDLAT
    if code == 0xC6 and "FRONTEND_RETIRED" in event:
        return FRONTEND
    return ALL


# ---- units outside the cores, Intel

BOX = bits((0, 15), 18, 23, (24, 31))
UBOX = bits((0, 15), 18, 23, (24, 28))
PCU = bits((0, 7), 14, 15, 18, 23, (24, 28), 30, 31)
EXTENDED_CODE = bits(21)
CLIENT = bits((0, 15), 18, 23, (24, 31))
SNB_FILTER, IVT_FILTER = bits((0, 4), (10, 31)), bits((0, 8), (17, 22), (32, 47), (52, 63))
HSX_FILTER = bits((0, 9), (17, 23), (32, 47), (52, 63))
SKX_FILTER = bits((0, 12), (17, 26), 32, 33, 35, 36, 37, (41, 50), (51, 60), (61, 63))
# numbers that the kernel gives to what always runs
PSEUDO = bits((0, 15))

# ---- everything: the first pattern that a PMU's name matches; config, config1, config2

MASKS = [
    (r"(hardware|software|msr|rapl)", bits((0, 7)), 0, 0),
    (r"hw_cache", bits((0, 23)), 0, 0),
    # Intel, outside the cores
    (r"\w+_free_running(_\d)?|\w+_uncore_clock|\w+_uncore_cncu", PSEUDO, 0, 0),
    (r"jkt_uncore_cbox", BOX | bits(19), SNB_FILTER, 0),
    (r"ivt_uncore_cbox", BOX | bits(19), IVT_FILTER, 0),
    (r"(hsx|bdx|bdw_de)_uncore_cbox", BOX | bits(19), HSX_FILTER, 0),
    (r"(skx|clx)_uncore_cha", BOX | bits(19), SKX_FILTER, 0),
    (r"(icx|snr)_uncore_cha", BOX | bits(19, (32, 57)), 0, 0),
    (r"knl_uncore_cha", BOX | bits(16, 19), ALL, 0),
    (r"\w+_uncore_cha", BOX | bits(19, (32, 63)), 0, 0),
    (r"(skx|clx)_uncore_iio", BOX | bits((32, 46)), 0, 0),
    (r"\w+_uncore_iio", BOX | bits((32, 50)), 0, 0),
    (r"\w+_uncore_sbox", BOX | bits(19), 0, 0),
    (r"(jkt|ivt|hsx|bdx)_uncore_qpi", BOX | EXTENDED_CODE, ALL, ALL),
    (r"(skx|clx)_uncore_upi", BOX | bits((32, 43), (45, 55)), 0, 0),
    (r"(icx|snr)_uncore_m2m", BOX | bits((32, 39)), 0, 0),
    # Intel's lists set the bit of extended codes for five events of this box; Linux leaves it out.
    (r"jkt_uncore_ubox", UBOX | EXTENDED_CODE, 0, 0),
    (r"(jkt|ivt|hsx|bdx|bdw_de|skx|clx)_uncore_ubox", UBOX, 0, 0),
    # Later kernels lack the bit of extended codes; Intel's lists and uncore guides have it.
    (r"(jkt|ivt)_uncore_pcu", PCU | EXTENDED_CODE, ALL, 0),
    (r"(hsx|bdx|bdw_de|skx|clx|icx|snr)_uncore_pcu", PCU, ALL, 0),
    (r"(nhm|wsm)_unc", bits((0, 15), 17, 18, 22, 23, (24, 31)), 0, 0),
    (r"(snb|ivb|hsw|bdw|skl)_uncore_(arb|cbox|cbox_0)", CLIENT, 0, 0),
    (r"(jkt|ivt|hsx|bdx|bdw_de|knl|skx|clx)_uncore_\w+", BOX, 0, 0),
    (
        r"\w+_uncore_(upi|m2m|m2hbm|b2cmi|cxlcm|cxldp|mdf|m3upi|m2pcie|irp|imc|mchbm|ubox|b2\w+|chacms|pcu)",
        BOX | bits((32, 55)),
        ALL,
        0,
    ),
    (r"\w+_uncore_(arb|hac_arb|hac_cbox|imc|santa)", CLIENT, 0, 0),
    # AMD
    (r"amdzen[1-6]_amd_l3", bits((0, 15), (42, 44), 46, 47, (48, 51), (56, 63)), 0, 0),
    (r"amdzen[1-3]_amd_df", bits((0, 15), (32, 35), 59, 60), 0, 0),
    (r"amdzen[4-6]_amd_df", bits((0, 15), (24, 27), (32, 37)), 0, 0),
    (r"amdzen[4-6]_amd_umc", bits((0, 9)), 0, 0),
    (r"amd_ibs_op", bits((0, 15), 16, 19, (20, 26), 63), bits((0, 11)), 0),
    (r"amd_ibs_fetch", bits((0, 15), 57, 59), bits((0, 11)), 0),
    (r"amd|amdzen\d|amd64_\w+", AMD_CORE, 0, 0),
    # Units of Linux's drivers: the formats that these publish
    (r"amd_iommu", bits((0, 59)), bits((0, 51)), 0),
    (r"dmar", bits((0, 31)), bits((0, 4), (16, 47)), bits((0, 21), (24, 28), (32, 36))),
    (r"dsa|iax", bits((0, 31)), bits((0, 59)), 0),
    (r"cstate_\w+|msr|intel_client_imc", bits((0, 7)), 0, 0),
    (r"nhm_ex_[ucw]box", bits((0, 15), 18, 23, (24, 31)), 0, 0),
    (r"nhm_ex_[bs]box", bits((0, 15), 18, 23, (24, 31)), ALL, ALL),
    (r"(nhm|wsm)_ex_mbox", bits((2, 7), (9, 13), (19, 21)), ALL, ALL),
    (r"nhm_ex_rbox", bits((1, 5), (32, 63)), ALL, ALL),
    (r"qcom_l2", bits((0, 11)), 0, 0),
    (r"qcom_l3", bits((0, 7), 32), 0, 0),
    (r"mrvl_\w+|l2c_310|rockchip_ddr", bits((0, 8)), 0, 0),
    (r"meson_ddr", bits((0, 7)), ALL, ALL),
    (r"starlink", bits((0, 31)), 0, 0),
    (r"dwc_pcie", bits((0, 27)), 0, 0),
    (r"imx8_ddr", bits((0, 7)), bits((0, 31)), bits((0, 3))),
    (r"imx9_ddr", bits((0, 23)), bits((0, 17)), bits((0, 17))),
    (r"xgene_\w+|xgene3_\w+", bits((0, 7)), bits((0, 9)), 0),
    (r"cci_\d+(_r1)?", bits((0, 8)), 0, 0),
    (r"arm_ccn", bits((0, 33)), bits((0, 62)), bits((0, 59))),
    (r"mmu_\d+_t[bc]u", bits((0, 15)), bits((0, 33)), 0),
    (r"hv_gpci|hv_24x7", ALL, ALL, 0),
    (r"(nest|core|thread|trace)_imc", bits((0, 61)), 0, 0),
    (r"i915", bits((0, 20), (60, 63)), 0, 0),
    (r"xe", bits((0, 27), (44, 63)), 0, 0),
    (r"amdgpu_\w+", bits((0, 23), (56, 63)), 0, 0),
    # Arm, outside the cores, and other boxes
    (r"arm_(cmn|ci)(_\w+)?", bits((0, 58)), bits((0, 63)), bits((0, 63))),
    (r"(grace|vera)_\w+", bits((0, 32)), 0, 0),
    (r"dmc620", 0, ALL, bits((0, 9))),
    (r"monaka_\w+|hisi_\w+|hns3", bits((0, 16)), bits((0, 52)), bits((0, 31))),
    (r"ampereone_mcu", bits((0, 8), 32), bits((0, 55)), 0),
    (r"ni700|dsu|\w+_ddr|\w+_drw|hip0\d_\w+", bits((0, 31)), bits((0, 31)), 0),
    (r"smmuv3", bits((0, 15)), bits((0, 33)), 0),
    (r"thunderx2_\w+", bits((0, 8)), 0, 0),
    (r"spe", bits(0, 1, 16, (32, 40)), bits((0, 63)), bits((0, 15))),
    (r"cxl", ALL, bits((0, 63)), 0),
    # Arm cores
    (r"arm11\w+|krait|scorpion(mp)?|cortex_(a5|a7|a8|a9|a15|a17|r4|r5|r7|r8)", bits((0, 7)), 0, 0),
    (r"cortex_(a32|a34|a35|a53|a57|a72|a73|r52(plus)?)|xgene|emag", bits((0, 9)), 0, 0),
    (r"m[12](_\w+)?", bits((0, 7)), 0, 0),
    (
        r"c1_\w+|cortex_\w+|neoverse_\w+|armv8|oryon|a64fx|ampereone\w?|hip08|thunderx2|rainier|monaka|olympus|m[34]"
        r"|kryo_\w+|kirin_980|exynos_\w+|thunderx|nvidia_denver|hip09|hip12|carmel|falkor|octeontx2",
        bits((0, 15)),
        0,
        0,
    ),
    # Zhaoxin: Linux arch/x86/events/zhaoxin/core.c
    (r"zx[cde]", bits((0, 15), 18, 23, (24, 31)), 0, 0),
    # RISC-V, POWER, s390 and others
    (r"riscv_sbi|x60|ax45|bullet\w*|c900_\w+|cva6|dubhe_\d+|p\d50|u74", bits((0, 55), 63), 0, 0),
    (r"power_torrent|power8_mcs_\w+", bits((0, 31)), 0, 0),
    (r"power10", bits((0, 59)), 0, 0),
    (r"power[4-9]p?|ppc970(mp)?", bits((0, 49)), 0, 0),
    (r"cf_z\w+_pai_crypto", bits((0, 12)) & ~bits((8, 11)), 0, 0),
    (r"cf_z\w+_pai_ext", bits((0, 7), 11, 12), 0, 0),
    (r"cf_z\w+", bits((0, 8)), 0, 0),
    (r"cpum_sf", 0xB0000 | 0xBD000, 0, 0),  # the two numbers of the sampling facility
    (r"loongson|mips_74k", bits((0, 9)), 0, 0),
    (r"niagara[12]|ultra\w+", bits((0, 31)), 0, 0),
    # Processor cores of Intel
    (r"netburst(_p)?", ALL, 0, 0),
    (r"p6|pii|pm|ppro|core2|coreduo3?|intel_arch|knc", EVENTSEL, 0, 0),
    (r"(arl|lnl|ptl|nvl|cwf)(_\w+)?", EVENTSEL | HIGH, core_config1, 0),
    (r"[a-z]{3}(_\w+)?", EVENTSEL, core_config1, 0),
]
# Register layouts of their own, which their families' vectors test; and what has no numbers.
ELSEWHERE = r"montecito|ev\d+|pca56|tracepoint|uprobe|breakpoint"


# No machine: what its kernel has is not built in.
ENVIRONMENT = dict(os.environ, PERFMON_CPUID="none",
                   PERFMON_SYSFS=os.path.dirname(os.path.abspath(__file__)))


def encode(names):
    done = subprocess.run([PFM, "encode", "--json", "-"], input="\n".join(names),
                          env=ENVIRONMENT, capture_output=True, text=True, check=False)
    return map(json.loads, done.stdout.splitlines())


def rows():
    """(event, config, config1, config2) of every built-in event; events that need a unit mask with
    each of theirs."""
    done = subprocess.run([PFM, "list", "--json", "--all", "*"], env=ENVIRONMENT,
                          capture_output=True, text=True, check=True)
    listed = [json.loads(line) for line in done.stdout.splitlines()]
    names = ["%s::%s" % (r["pmu"], r["event"]) for r in listed
             if "event" in r and "metric" not in r.get("flags", ()) and r["pmu"] != "tracepoint"]
    while names:
        answers, names = encode(names), []
        for a in answers:
            if a.get("perf"):
                yield a["input"], *(int(a["perf"][k], 16) for k in ("config", "config1", "config2"))
            elif a.get("error", {}).get("kind") == "missing_umask":
                names += ["%s:%s" % (a["input"], mask) for mask in a["error"].get("suggest", ())]


class Writable(unittest.TestCase):
    def find_masks(self, name, config):
        pmu = name.split("::")[0]
        for pattern, *masks in MASKS:
            if re.fullmatch(pattern, pmu):
                return [mask(name, config) if callable(mask) else mask for mask in masks]
        if not re.fullmatch(ELSEWHERE, pmu):
            self.unknown.add(pmu)
        return ALL, ALL, ALL

    def test_every_row(self):
        wrong, n, self.unknown = [], 0, set()
        for name, *words in rows():
            n += 1
            if any(word & ~mask for word, mask in zip(words, self.find_masks(name, words[0]))):
                wrong.append((name, *map(hex, words)))
        self.assertEqual(wrong[:20], [], "of %d events" % n)
        self.assertEqual(self.unknown, set())
        self.assertGreater(n, 65000)

    def test_a_bit_too_many_is_noticed(self):
        for name, config in (("skl::X", 1 << 34), ("icx_uncore_cha::X", 1 << 58),
                             ("amdzen4::X", 1 << 36), ("cortex_a53::X", 1 << 10)):
            self.assertTrue(config & ~self.find_masks(name, config)[0], name)


if __name__ == "__main__":
    main()
