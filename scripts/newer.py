# SPDX-License-Identifier: MIT
"""Lists of kernels newer than the packed tree, in Linux's form.

SHARED/data/full/linux-newer holds names and numbers as comma-separated values. write_trees() writes
them as the JSON lists that compiler reads, below tools/perf/pmu-events/arch. Where a newer list
leaves files to links, their targets are added here.
"""

import csv
import json
import os
import shutil

ARCH = os.path.join("tools", "perf", "pmu-events", "arch")
KEYS = ("EventName", "EventCode", "UMask", "Unit", "PerPkg", "RdWrMask", "EnAllCores",
        "EnAllSlices", "SliceId", "ThreadMask")

# Masks that are copies of a neighbour's in amdzen6. libpfm4 has the mask of each name; Zen 5's list
# agrees with it where it has the name.
CORRECTED = {
    "fp_ret_sse_avx_ops.scalar_half_flops": "0xc0",
    "fp_ret_sse_avx_ops.packed_half_flops": "0xe0",
    "fp_nsq_read_stalls.fp_prf": "0x02",
    "fp_nsq_read_stalls.k_prf": "0x04",
    "fp_nsq_read_stalls.fp_sq": "0x08",
    "l2_request_g2.all": "0x60",
}
# Files of RISC-V lists that are links.
LINKS = {
    "bullet-07": ("bullet/instruction.json", "bullet/memory.json"),
    "bullet-0d": ("bullet/instruction.json", "bullet/memory.json", "bullet-07/watchpoint.json",
                  "bullet-07/cycle-and-instruction-count.json"),
    "p550": ("bullet/instruction.json", "bullet/microarch.json"),
    "p650": ("bullet/instruction.json", "bullet/microarch.json", "bullet-07/watchpoint.json",
             "bullet-07/cycle-and-instruction-count.json"),
}
# Processor-activity counters for cryptography that z17 adds to z16's, in order of their numbers.
Z17_CRYPTO = 4253
Z17_CRYPTO_NAMES = """KM_FULL_XTS_AES_128 KM_FULL_XTS_AES_256 KM_FULL_XTS_ENCRYPTED_AES_128
KM_FULL_XTS_ENCRYPTED_AES_256 KMAC_HMAC_SHA_224 KMAC_HMAC_SHA_256 KMAC_HMAC_SHA_384
KMAC_HMAC_SHA_512 KMAC_HMAC_ENCRYPTED_SHA_224 KMAC_HMAC_ENCRYPTED_SHA_256
KMAC_HMAC_ENCRYPTED_SHA_384 KMAC_HMAC_ENCRYPTED_SHA_512 PCKMO_ENCRYPT_HMAC_512_KEY
PCKMO_ENCRYPT_HMAC_1024_KEY PCKMO_ENCRYPT_AES_XTS_128 PCKMO_ENCRYPT_AES_XTS_256""".split()


def read_rows(newer, name):
    with open(os.path.join(newer, name), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def read_list(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def write_list(folder, file, events):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, file), "w", encoding="utf-8") as f:
        json.dump(events, f)


def event(row):
    found = {key: row[key] for key in KEYS if row.get(key)}
    if row["EventName"] in CORRECTED:
        found["UMask"] = CORRECTED[row["EventName"]]
    return found


def write_rows(top, rows, folder_of):
    """Writes rows to the files they come from; returns {(folder, file): events}."""
    files = {}
    for row in rows:
        files.setdefault((folder_of(row), row["file"]), []).append(event(row))
    for (folder, file), events in files.items():
        write_list(os.path.join(top, folder), file, events)
    return files


def write_trees(newer, packed, into):
    """@newer has the numbers, @packed the unpacked tree of an older kernel, @into is new."""
    top, old = os.path.join(into, ARCH), os.path.join(packed, ARCH)
    write_rows(top, read_rows(newer, "amdzen6.csv"), lambda row: "x86/amdzen6")
    write_z17(top, old, read_rows(newer, "cf_z17.csv"))
    write_riscv(top, old, newer)


def write_z17(top, old, rows):
    """The basic and the cryptographic counter sets are those of earlier machines."""
    folder = os.path.join(top, "s390", "cf_z17")
    write_rows(top, rows, lambda row: "s390/cf_z17")
    for file in ("basic.json", "crypto6.json"):
        shutil.copyfile(os.path.join(old, "s390", "cf_z16", file), os.path.join(folder, file))
    crypto = read_list(os.path.join(old, "s390", "cf_z16", "pai_crypto.json"))
    crypto += [{"EventName": name, "EventCode": str(Z17_CRYPTO + i), "Unit": "PAI-CRYPTO"}
               for i, name in enumerate(Z17_CRYPTO_NAMES)]
    write_list(folder, "pai_crypto.json", crypto)


def write_riscv(top, old, newer):
    riscv = os.path.join(top, "riscv")
    files = write_rows(riscv, read_rows(newer, "riscv.csv"), lambda row: row["folder"])
    u74 = os.path.join(old, "riscv", "sifive", "u74")
    for core, links in LINKS.items():
        for link in links:
            folder, file = link.split("/")
            write_list(os.path.join(riscv, "sifive", core), file, files["sifive/" + folder, file])
        shutil.copyfile(os.path.join(u74, "firmware.json"),
                        os.path.join(riscv, "sifive", core, "firmware.json"))
    write_u74(riscv, u74, files)
    for file in os.listdir(os.path.join(old, "riscv")):
        if file.endswith(".json"):      # standard events
            shutil.copyfile(os.path.join(old, "riscv", file), os.path.join(riscv, file))
    with open(os.path.join(newer, "riscv_mapfile_rows.csv"), encoding="utf-8") as f:
        rows = f.read().replace(",sifive/bullet,", ",sifive/u74,")
    with open(os.path.join(riscv, "mapfile.csv"), "w", encoding="utf-8") as f:
        f.write("#MVENDORID-MARCHID-MIMPID,Version,Filename,EventType\n" + rows)


def write_u74(riscv, u74, files):
    """Newer kernels call the U74 bullet and rename eight of its events: both names stay."""
    folder, known = os.path.join(riscv, "sifive", "u74"), set()
    for file in sorted(os.listdir(u74)):
        events = read_list(os.path.join(u74, file))
        known |= {e.get("EventName") for e in events}
        write_list(folder, file, events)
    more = [e for (core, _), events in files.items() if core == "sifive/bullet" for e in events
            if e["EventName"] not in known]
    write_list(folder, "bullet.json", more)
    shutil.rmtree(os.path.join(riscv, "sifive", "bullet"))
