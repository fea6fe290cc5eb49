#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boxes that Linux drives: their events make the words that the formats of the drivers lay out, and
they are all there."""

import csv
import json
import os
import re
import subprocess
import sys
import unittest

import tap
from tap import main

ROOT = os.path.join(os.environ["PERFMON_TESTS"], "..")
PFM = os.environ.get("PFM", "pfm")
BUILD = os.environ.get("PERFMON_BUILD", os.path.join(ROOT, "build"))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "compiler"))
from image import image_reader  # noqa: E402

FACTS = os.path.join(tap.SHARED, "data", "newer", "events")

# Words computed by hand from the formats (PMU_FORMAT_ATTR) of the driver in the comment.
WORDS = (
    # arch/x86/events/amd/iommu.c: csource 0-7, devid 8-23, domid 24-39; masks in config1
    ("amd_iommu::mem_dte_hit", ("0xa",)),
    ("amd_iommu::tlb_inv:devid=0x1234:devid_mask=0xffff", ("0x123413", "0xffff")),
    # drivers/iommu/intel/perfmon.c: event 0-27, event_group 28-31
    ("dmar::iotlb_hit", ("0x30000002",)),
    ("dmar::int_cache_hit_posted:filter_domain=5:filter_domain_en=1", ("0x40000004",
                                                                      "0x500000002")),
    # drivers/dma/idxd/perfmon.c: event_category 0-3, event 4-31; filters in config1
    ("dsa::WRITE:filter_wq=3", ("0x81", "0x3")),
    ("dsa::MEMMOVE:filter_eng=1", ("0x83", "0x10000000000000")),
    ("iax::DWQ", ("0x100",)),
    # arch/x86/events/intel/cstate.c and msr.c: the number of the state or register
    ("cstate_core::c7-residency", ("0x3",)),
    ("cstate_pkg::c10-residency", ("0x6",)),
    ("cstate_module::c6-residency", ("0x0",)),
    ("msr::irperf", ("0x6",)),
    # arch/x86/events/intel/uncore_snb.c
    ("intel_client_imc::io_requests", ("0x5",)),
    # uncore_nhmex.c: event 1-5 of an R-box, inc_sel 9-13 of an M-box
    ("nhm_ex_rbox::qpi1_date_response", ("0xc", "0xc4")),
    ("nhm_ex_mbox::bbox_cmds_write", ("0x1a00", "0x2820")),
    ("nhm_ex_cbox::raw:event=0x14:umask=0x1f:thresh=2", ("0x2001f14",)),
    ("nhm_ex_bbox::raw:event=4:counter=2", ("0x88",)),
    # arch/x86/events/amd/uncore.c: event 0-7 and 32-37, umask 8-15 and 24-27
    ("amdzen5_amd_df::local_socket_inbound_data_beats_link_0", ("0xd0f003f5f",)),
    ("amdzen5_amd_df::local_or_remote_socket_write_data_beats_dram_4", ("0x10f00ff1f",)),
    # drivers/perf/qcom_l2_pmu.c: l2_code 4-11, l2_group 0-3; qcom_l3_pmu.c: lc is bit 32
    ("qcom_l2::clrex", ("0x422",)),
    ("qcom_l3::read-miss:lc=1", ("0x100000021",)),
    # marvell_cn10k_ddr_pmu.c, marvell_cn10k_tad_pmu.c, marvell_pem_pmu.c
    ("mrvl_ddr::ddr_ddr_writes", ("0x64",)),
    ("mrvl_tad::tad_hit_any", ("0x1f",)),
    ("mrvl_pem::ats_inv_latency", ("0x1a",)),
    # amlogic/meson_g12_ddr_pmu.c: a bit of config1 for each port
    ("meson_ddr::chan_2_rw_bytes:gpu=1:vdec=1", ("0x2", "0x200002")),
    # devfreq/event/rockchip-dfi.c, starfive_starlink_pmu.c
    ("rockchip_ddr::write-bytes3", ("0xa",)),
    ("starlink::read_hit", ("0x901202",)),
    # dwc_pcie_pmu.c: eventid 0-15, type 16-19, lane 20-27
    ("dwc_pcie::Rx_PCIe_TLP_Data_Payload", ("0x21",)),
    ("dwc_pcie::rx_memory_read:lane=4", ("0x41070c",)),
    # fsl_imx8_ddr_perf.c, fsl_imx9_ddr_perf.c: event 0-7 and 16-23, counter 8-15
    ("imx8_ddr::axid-read:axi_id=0x12:axi_mask=0xff", ("0x41", "0xff0012")),
    ("imx9_ddr::ddrc_qx_row_open_3", ("0x443",)),
    # cache-l2x0-pmu.c
    ("l2c_310::drreq", ("0x3",)),
    # xgene_pmu.c
    ("xgene_l3c::read-miss:l3c_agentid=3", ("0x3", "0x3")),
    ("xgene3_mc::rank-change", ("0x1b",)),
    # hisi_uncore_l3c_pmu.c, hisi_uncore_hha_pmu.c, hisi_uncore_ddrc_pmu.c
    ("hisi_l3c_v2::l3c_ref:tt_core=0xf:tt_req=4:datasrc_skt=1", ("0xb8", "0x1040f")),
    ("hisi_l3c_v3::l3c2ring:ext=1", ("0x100bd",)),
    ("hisi_hha_v2::hha_retry:tracetag_en=1", ("0x2e", "0x400000")),
    ("hisi_ddrc_v2::flux_rd", ("0x84",)),
    # arm-cmn.c: type 0-15, eventid 16-26, occupid 27-30, nodeid 32-47
    ("arm_cmn_600::hnf_cache_miss", ("0x10005",)),
    ("arm_cmn_650::hnf_qos_pocq_occupancy_write:bynodeid=1:nodeid=0x24", ("0x24900f0005",)),
    ("arm_ci_700::mtsx_tc_miss", ("0x30010",)),
    ("arm_cmn_s3::hns_class_mc_reqs_remote_class3", ("0x183c0200",)),
    ("arm_cmn_600::mxp_p1_dat_partial_dat_flit", ("0x770006",)),
    ("arm_cmn_s3::watchpoint_down:wp_dev_sel=1:wp_chn_sel=3:wp_grp=2:wp_val=7:wp_mask=0xf0",
     ("0x219000000027770", "0x7", "0xf0")),
    # arm-ccn.c: node and xp 0-7, type 8-15, event 16-23, port 24-25, vc 26-28, dir 29, mask 30-33
    ("arm_ccn::hnf_mc_reqs:node=9", ("0xd0409",)),
    ("arm_ccn::xp_valid_flit:xp=2:port=1:vc=3:dir=1", ("0x2d040802",)),
    # arm-cci.c: event 0-4, source 5-7 or 5-8; cycles are a word of their own
    ("cci_400::si_wrq_hs_evict:s3", ("0x72",)),
    ("cci_400::cycles", ("0xff",)),
    ("cci_400_r1::mi_rrq_stall_qvn_vn2:m1", ("0xcb",)),
    ("cci_500::cci_snoop_back_invalidation", ("0x1e8",)),
    ("cci_550::mi_w_resp_stall:m6", ("0x1c6",)),
    # arm_dsu_pmu.c, arm_smmuv3_pmu.c
    ("dsu::scu_stash_acp_kill", ("0x524",)),
    ("mmu_600_tbu::main_tlb_miss:filter_stream_id=0x20:filter_enable=1", ("0x81", "0x200000020")),
    ("mmu_700_tcu::s2l3wc_miss", ("0x8f",)),
    # arch/powerpc/perf: hv-gpci.c, hv-24x7.c, imc-pmu.c
    ("hv_gpci::processor_bus_utilization_abc_links_idle_cycles_for_b_link:hw_chip_id=2",
     ("0x200000050", "0x2008000000")),
    ("hv_24x7::counter:domain=2:core=3:offset=8:lpar=1", ("0x800030002", "0x1")),
    ("nest_imc::counter:offset=0x118", ("0x118",)),
    # drm: class << 12 | instance << 4 | sample; xe_pmu.c
    ("i915::vecs0-sema", ("0x3002",)),
    ("xe::engine-total-ticks:engine_instance=1:engine_class=4:gt=1", ("0x1000000000401003",)),
    # amdgpu_pmu.c: event 0-7, instance 8-15, umask 16-23
    ("amdgpu_df::cake1_ftiinstat_rspalloc", ("0x8470b",)),
    # ... and type 56-63: 2 is xGMI
    ("amdgpu_xgmi_arcturus::xgmi_link5_data_outbound", ("0x200000000025007",)),
)

# A list of facts, the table with its events, and the field that holds their numbers.
LISTS = {
    "amd_iommu": ("amd_iommu", "csource"), "intel_dmar": ("dmar", "code"),
    "amdzen5_amd_df": ("amdzen5_amd_df", "code"), "cstate_core": ("cstate_core", "code"),
    "cstate_pkg": ("cstate_pkg", "code"), "cstate_module": ("cstate_module", "code"),
    "msr": ("msr", "code"), "intel_client_imc": ("intel_client_imc", "code"),
    "qcom_l3": ("qcom_l3", "code"), "mrvl_cn10k_ddr": ("mrvl_ddr", "code"),
    "mrvl_cn10k_tad": ("mrvl_tad", "code"), "mrvl_pem": ("mrvl_pem", "code"),
    "dwc_pcie": ("dwc_pcie", "eventid"), "rockchip_dfi": ("rockchip_ddr", "code"),
    "starfive_starlink": ("starlink", "code"), "xgene_l3c": ("xgene_l3c", "l3c_eventid"),
    "xgene_iob": ("xgene_iob", "iob_eventid"), "xgene_mcb": ("xgene_mcb", "mcb_eventid"),
    "xgene_mc": ("xgene_mc", "mc_eventid"), "xgene_l3c_v3": ("xgene3_l3c", "l3c_eventid"),
    "xgene_iob_v3": ("xgene3_iob", "iob_eventid"),
    "xgene_iob_slow_v3": ("xgene3_iob_slow", "iob_slow_eventid"),
    "xgene_mcb_v3": ("xgene3_mcb", "mcb_eventid"), "xgene_mc_v3": ("xgene3_mc", "mc_eventid"),
    "hisi_l3c_v1": ("hip08_hisi_sccl_l3c", "code"), "hisi_l3c_v2": ("hisi_l3c_v2", "code"),
    "hisi_l3c_v3": ("hisi_l3c_v3", "code"), "hisi_ddrc_v1": ("hip08_hisi_sccl_ddrc", "code"),
    "hisi_ddrc_v2": ("hisi_ddrc_v2", "code"), "hisi_hha_v2": ("hisi_hha_v2", "code"),
    "arm_dsu": ("dsu", "code"), "intel_i915": ("i915", "i915_eventid"), "intel_xe": ("xe", "code"),
    "power_hv_gpci": ("hv_gpci", "request"), "arm_ccn": ("arm_ccn", "code"),
}


def encode(text):
    """The three configuration words of @text."""
    said = subprocess.run([PFM, "encode", "--json", text], capture_output=True, text=True,
                          check=False).stdout
    perf = json.loads(said or "{}").get("perf")
    return perf and tuple(perf[word] for word in ("config", "config1", "config2"))


class Words(unittest.TestCase):
    def test_words_are_those_of_the_formats(self):
        for text, words in WORDS:
            self.assertEqual(encode(text), (words + ("0x0", "0x0"))[:3], text)

    def test_a_crossbar_names_its_interface(self):
        """Without one the word would be that of another interface."""
        for text in ("cci_400::mi_rrq_stall_tt_full", "cci_500::si_srq_read"):
            self.assertIsNone(encode(text), text)


class Lists(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.isdir(FACTS):
            raise unittest.SkipTest("no facts about boxes in PERFMON_SHARED")
        with open(os.path.join(BUILD, "lib", "events", "builtin.pmdb"), "rb") as f:
            cls.tables = {t.name: t for t in image_reader.read_image(f.read())[0]}

    def rows(self, name):
        with open(os.path.join(FACTS, name + ".csv"), encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f))

    def test_every_event_is_there(self):
        wrong, n = [], 0
        for name, (table, field) in LISTS.items():
            t = self.tables[table]
            for r in self.rows(name):
                row = t.find_row(r["name"])
                value = 0 if row is None else t.read_value(row, field) or 0
                if row is None or value != int(r["code"] or "0", 0):
                    wrong.append((table, r["name"], r["code"], value))
                n += 1
        self.assertEqual(wrong, [])
        self.assertGreater(n, 900)

    def test_every_event_of_a_mesh_is_in_a_model(self):
        """Names, node types and numbers, of all models but CMN S3. The list has channels 7 and 8
        of crosspoints as they were before Linux 6.12 exchanged them to be right."""
        wrong, channels = [], {"_snp2_": 0x20, "_req2_": -0x20}
        tables = [self.tables["arm_" + n] for n in ("cmn_600", "cmn_650", "ci_700", "cmn_s3")]
        for r in self.rows("arm_cmn"):
            m = re.match(r"type=(0x[0-9a-f]+)", r["fields"])
            if r["note"].startswith("CMN-700") or not m or int(m[1], 0) == 0x7770:
                continue
            moved = sum(by for part, by in channels.items() if part in r["name"])
            want = int(m[1], 0), int(r["code"] or "0", 0) + moved
            got = [(t.read_value(row, "type"), t.read_value(row, "eventid") or 0)
                   for t in tables for row in [t.find_row(r["name"])] if row is not None]
            if want not in got:
                wrong.append((r["name"], want, got, r["note"]))
        self.assertEqual(wrong, [])

    def test_each_box_says_what_it_counts_for(self):
        """pfm show prints how many there are and whom they count for."""
        for table in sorted({t for t, _ in LISTS.values()}):
            if table.startswith(("hip08", "amdzen")):
                continue            # made of lists
            shown = subprocess.run([PFM, "show", "--json", table], capture_output=True, text=True,
                                   check=True).stdout
            features = json.loads(shown.splitlines()[0])["features"]
            self.assertIn("counts", features, table)
            self.assertIn("instances", features, table)

    def test_show_tells_formats_and_what_a_box_counts(self):
        """The bits of the fields, as the drivers write them in sysfs (uncore_snbep.c,
        amd/uncore.c, idxd/perfmon.c, arm-cmn.c)."""
        for table, formats in (
            ("skx_uncore_cha", {"code": "config:0-7", "thresh": "config:24-31",
                                "filter_tid": "config1:0-8", "filter_state": "config1:17-26",
                                "filter_opc0": "config1:41-50"}),
            ("amdzen5_amd_df", {"code": "config:0-7,32-37", "umask": "config:8-15,24-27"}),
            ("dsa", {"event_category": "config:0-3", "filter_eng": "config1:52-59"}),
            ("arm_cmn_700", {"nodeid": "config:32-47", "bynodeid": "config:31"}),
        ):
            done = subprocess.run([PFM, "show", "--json", table], capture_output=True, text=True,
                                  check=True)
            shown = json.loads(done.stdout.splitlines()[0])
            self.assertEqual({n: shown["formats"].get(n) for n in formats}, formats)
            text = subprocess.run([PFM, "show", table], capture_output=True, text=True,
                                  check=True).stdout
            self.assertRegex(text, r"(?m)^  counts +each device, read through one CPU$")
            for name, bits in formats.items():
                self.assertRegex(text, r"(?m)^  %s +%s$" % (name, bits))


if __name__ == "__main__":
    main()
