#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No row sets a bit that its register does not have.

Expected masks: Intel's secure-pmu-access list for IA32_PERFEVTSEL (without the bits that a kernel
sets: pin control, interrupt and enable), the software developer's manual, volume 3, for the bits
above 31 and for MSR_PEBS_LD_LAT_THRESHOLD and MSR_PEBS_FRONTEND, Linux's valid masks of
MSR_OFFCORE_RSP; AMD's programming references for PERF_CTL; Arm's architecture for PMEVTYPER.
"""

import json
import os
import subprocess
import unittest

from tap import main

PFM = os.environ.get("PFM", "pfm")
BATCH = 500

EVENTSEL = 0xFFA7FFFF
HIGH = 1 << 32 | 1 << 33 | 1 << 36 | 0xFF << 40     # IN_TX, IN_TXCP, EQ, UMASK2
LDLAT, FRONTEND = 0xFFFF, 0xFFFFFF
OFFCORE = {
    "snb": 0x3F807F8FFF, "jkt": 0x3FFFFF8FFF, "ivb": 0x3F807F8FFF, "ivt": 0x3FFFFF8FFF,
    "hsw": 0x3FFFFF8FFF, "hsx": 0x3FFFFF8FFF, "bdw": 0x3FFFFF8FFF, "bdx": 0x3FFFFF8FFF,
    "skl": 0x3FFFFF8FFF, "skx": 0x3FFFFF8FFF, "clx": 0x3FFFFF8FFF, "icl": 0x3FFFFFBFFF,
    "icx": 0x3FFFFFBFFF, "tgl": 0x3FFFFFBFFF, "rkl": 0x3FFFFFBFFF, "spr": 0x3FFFFFFFFF,
    "emr": 0x3FFFFFFFFF, "gnr": 0x3FFFFFFFFF,
}
OFFCORE_CODES = (0xB7, 0xBB, 0x2A, 0x2B)
INTEL = tuple(OFFCORE) + (
    "adl_goldencove", "adl_gracemont", "mtl_redwoodcove", "mtl_crestmont", "lnl_lioncove",
    "lnl_skymont", "arl_lioncove", "arl_skymont", "ptl_cougarcove", "ptl_darkmont",
    "nvl_coyotecove", "nvl_arcticwolf", "srf", "cwf", "grr", "nhm_ep", "wsm_ep_dp", "slm", "glm",
    "glp", "snr", "ehl", "knl", "bnl")
# Event select bits 7:0 and 35:32, unit mask, edge, invert, counter mask.
AMD = 0xF << 32 | 0xFF000000 | 1 << 23 | 1 << 18 | 0xFFFF
ZEN = tuple("amdzen%d" % n for n in range(1, 7))
ARM = 0xFFFF
CORES = ("c1_nano", "c1_pro", "c1_premium", "c1_ultra", "neoverse_n1", "neoverse_n2",
         "neoverse_n3", "neoverse_v1", "neoverse_v2", "neoverse_v3", "cortex_x4", "cortex_a78")


def events(pmu):
    done = subprocess.run([PFM, "list", "--json", "--all", pmu + "::"], capture_output=True,
                          text=True, check=True)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if "event" in row and row["pmu"] == pmu:
            yield "%s::%s" % (pmu, row["event"])


def words(pmu):
    """(name, config, config1) of every event of a PMU that needs no mask."""
    names = list(events(pmu))
    for at in range(0, len(names), BATCH):
        done = subprocess.run([PFM, "encode", "--json", *names[at:at + BATCH]],
                              capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            row = json.loads(line) if line else {}
            if row.get("perf"):     # none of what needs no counter
                config, config1 = (int(row["perf"][k], 16) for k in ("config", "config1"))
                yield row["input"], config, config1


class Writable(unittest.TestCase):
    def check(self, pmus, wrong_bits, least):
        wrong, n = [], 0
        for pmu in pmus:
            for name, config, config1 in words(pmu):
                n += 1
                bad = wrong_bits(pmu, name, config, config1)
                if bad:
                    wrong.append((name, hex(config), hex(config1), hex(bad)))
        self.assertEqual(wrong[:20], [], "of %d events" % n)
        self.assertGreater(n, least)

    def test_intel(self):
        def wrong_bits(pmu, name, config, config1):
            bad = config & ~(EVENTSEL | HIGH)
            code = config & 0xFF
            if code in OFFCORE_CODES and pmu in OFFCORE:
                bad |= config1 & ~OFFCORE[pmu]
            elif "LATENCY_GT" in name.upper() or "LOAD_LATENCY" in name.upper():
                bad |= config1 & ~LDLAT
            elif code == 0xC6 and "FRONTEND_RETIRED" in name:
                bad |= config1 & ~FRONTEND
            return bad
        self.check(INTEL, wrong_bits, 12000)

    def test_amd(self):
        self.check(ZEN, lambda pmu, name, config, config1: config & ~AMD | config1, 1500)

    def test_arm(self):
        self.check(CORES, lambda pmu, name, config, config1: config & ~ARM | config1, 2500)


if __name__ == "__main__":
    main()
