#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of kernels newer than the packed tree have the numbers of those kernels' lists, read here
anew; boxes that drivers name have the words that their formats make."""

import csv
import json
import os
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

NEWER = os.path.join(tap.SHARED, "data", "full", "linux-newer")
# Masks of libpfm4 where the kernel's list repeats the mask of a neighbour (docs/audit.md).
MASKS = {"fp_ret_sse_avx_ops.scalar_half_flops": 0xc0, "fp_ret_sse_avx_ops.packed_half_flops": 0xe0,
         "fp_nsq_read_stalls.fp_prf": 2, "fp_nsq_read_stalls.k_prf": 4,
         "fp_nsq_read_stalls.fp_sq": 8, "l2_request_g2.all": 0x60}
UNITS = {"": "amdzen6", "L3PMC": "amdzen6_amd_l3", "UMCPMC": "amdzen6_amd_umc"}
FIELDS = (("UMask", "umask"), ("RdWrMask", "rdwrmask"), ("EnAllCores", "enallcores"),
          ("EnAllSlices", "enallslices"), ("SliceId", "sliceid"), ("ThreadMask", "threadmask"))


def number(text):
    return int(text, 0) if text else 0


class Newer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.isdir(NEWER):
            raise unittest.SkipTest("no numbers of newer kernels in PERFMON_SHARED")
        with open(os.path.join(BUILD, "lib", "events", "builtin.pmdb"), "rb") as f:
            cls.tables = {t.name: t for t in image_reader.read_image(f.read())[0]}

    def rows(self, name):
        with open(os.path.join(NEWER, name), encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f))

    def compare(self, table, event, fields):
        """[] or what differs."""
        t = self.tables[table]
        row = t.find_row(event)
        if row is None:
            return [(table, event, "missing")]
        return [(table, event, key, want, t.read_value(row, key)) for key, want in fields
                if (t.read_value(row, key) or 0) != want]

    def test_events_of_zen_6_equal_the_list(self):
        wrong, rows = [], self.rows("amdzen6.csv")
        for r in rows:
            fields = [("code", number(r["EventCode"]))]
            fields += [(ours, MASKS.get(r["EventName"], number(r[key])) if key == "UMask"
                        else number(r[key])) for key, ours in FIELDS]
            wrong += self.compare(UNITS[r["Unit"]], r["EventName"], fields)
        self.assertEqual(wrong, [])
        self.assertEqual(len(rows), 450)

    def test_events_of_z17_equal_the_list(self):
        wrong, rows = [], self.rows("cf_z17.csv")
        for r in rows:
            table = "cf_z17" + ("_pai_ext" if r["Unit"] == "PAI-EXT" else "")
            wrong += self.compare(table, r["EventName"], [("code", number(r["EventCode"]))])
        self.assertEqual(wrong, [])
        self.assertEqual(self.compare("cf_z17_pai_crypto", "PCKMO_ENCRYPT_AES_XTS_256",
                                      [("code", 4268)]), [])

    def test_events_of_riscv_equal_the_lists(self):
        wrong, rows = [], self.rows("riscv.csv")
        for r in rows:
            folder = r["folder"].split("/")[-1].replace("-", "_")
            table = "u74" if folder == "bullet" else folder
            wrong += self.compare(table, r["EventName"], [("code", number(r["EventCode"]))])
        self.assertEqual(wrong, [])
        self.assertGreater(len(rows), 100)

    def test_words_of_cxl(self):
        """A CXL event is its vendor, its group and the bit of its opcode."""
        t = self.tables["cxl"]
        for name, group, bit in (("d2h_req_rdcurr", 0x10, 1), ("m2s_rwd_memwr", 0x21, 1),
                                 ("s2m_drs_memdata", 0x25, 0), ("ddr_caswr", 0x8000, 3)):
            row = t.find_row(name)
            self.assertEqual([t.read_value(row, k) for k in ("vid", "gid", "mask")],
                             [0x1E98, group, 1 << bit], name)

    def test_counters_of_apple(self):
        """Clocks on counter 0, instructions on counters 1 and 7, branches on 5 to 7 alone."""
        t = self.tables["m1_firestorm"]
        for name, counters in (("CORE_ACTIVE_CYCLE", 0x3FD), ("INST_ALL", 0x82),
                               ("INST_BRANCH", 0xE0), ("INST_LDST", 0x80), ("L1D_TLB_MISS", 0x3FC)):
            self.assertEqual(t.read_row(t.find_row(name))["counters"], counters, name)


class Boxes(unittest.TestCase):
    def test_boxes_encode_as_linuxs_documents_say(self):
        """Examples of Linux's documents (arm-ni.rst, nvidia-tegra410-pmu.rst and others), whose
        words are what the drivers take."""
        for text, words in (
            ("ni700::cycles", ("0x6",)),
            ("ni700::asni:nodeid=3:eventid=0x21", ("0x2100030004",)),
            ("ni700::pmni:nodeid=0x1ff:eventid=1", ("0x101ff0009",)),
            ("vera_ucf::mem_bytes_rd:src_loc_cpu=1:dst_loc_cmem=1", ("0x123", "0x102")),
            ("vera_ucf::cycles", ("0x100000000",)),
            ("vera_pcie::rd_bytes:src_rp_mask=3:dst_loc_cmem=1", ("0x0", "0x3", "0x1")),
            ("vera_pcie::rd_cum_outs:src_bdf=0x180:src_bdf_en=1", ("0x4", "0x1018000")),
            ("vera_pcie_tgt::rd_bytes:dst_rp_mask=3", ("0x18",)),
            (
                "vera_pcie_tgt::wr_bytes:dst_addr_en=1:dst_addr_base=0x10000:dst_addr_mask=0xfff00",
                ("0x801", "0x10000", "0xfff00"),
            ),
            ("vera_nvlink_c2c::out_wr_req:gpu_mask=2", ("0x8", "0x2")),
            ("vera_nvdlink::in_rd_req", ("0x2",)),
            ("vera_cmem_latency::rd_cum_outs", ("0x2",)),
            # ampere_cspmu.rst, fujitsu_uncore_pmu.rst, hisi-pmu.rst, hisi-pcie-pmu.rst, hns3_pmu.c
            ("ampereone_mcu::act_sent:bank=5:rank=3:threshold=2", ("0x1", "0x5000302")),
            ("monaka_mac::write-count-write", ("0x21",)),
            ("monaka_pci::pci-port0-write-count-bus", ("0x24",)),
            ("hisi_noc::cycles:ch=7:tt_en=1", ("0xe", "0xf")),
            ("hisi_pcie::rx_mwr_latency:port=0x101", ("0x10", "0x0", "0x101")),
            ("hisi_pcie::rx_mrd_flux:bdf=0x3900:len_mode=1", ("0x804", "0x400", "0x39000000")),
            ("hns3::bw_ssu_egu_time:port=1:tc=15", ("0x10001", "0xf1")),
        ):
            perf = json.loads(
                subprocess.run([PFM, "encode", "--json", text], capture_output=True, text=True,
                               check=True).stdout)["perf"]
            said = [perf["config"], perf["config1"], perf["config2"]]
            self.assertEqual(said, list(words) + ["0x0"] * (3 - len(words)), text)


if __name__ == "__main__":
    main()
