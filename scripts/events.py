#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the .pmu files of lib/events that come from lists, or says how they differ.

    events.py DATA [--check] [--into DIR]

DATA holds the packed lists that docs/sources.md names, and ../../facts/libpfm4/names.jsonl beside
it what libpfm4 names. A processor that several have comes from the one with the more permissive
licence: Intel's and Arm's own before Linux's copies. Those that no list has are made from libpfm4's
names."""

import contextlib
import filecmp
import glob
import io
import os
import shutil
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "compiler"), os.path.join(ROOT, "scripts")]
import gator  # noqa: E402
import newer  # noqa: E402
import older  # noqa: E402
from vendors import architectures  # noqa: E402
from vendors import gator as gator_lists  # noqa: E402
from vendors import importing  # noqa: E402

# (archives, folder of lib/events, models). NEWER is what scripts/newer.py makes.
NEWER = "linux-newer"
INTEL, LINUX = "intel-perfmon-*.tar.xz", "linux-*-pmu-events.tar.xz"
ARM = ("arm-data-*.tar.xz", "arm-telemetry-*.tar.xz")
# Linux's lists of Arm's cores, without those that are of two cores.
LINUX_CORES, TWO_CORES = "linux-cores", ("cortex-a57-a72", "cortex-a65-e1", "neoverse-n2-v2")
GATOR = "gator"             # what scripts/gator.py makes
LISTS = (
    ((INTEL,), "intel", ["*"]),
    (ARM + (LINUX_CORES, GATOR), "arm",
     ["cortex*", "neoverse*", "rainier", "c1_*", "cmn_700", "kryo*", "kirin*", "exynos*",
      "thunderx", "scorpion*", "krait", "arm1136", "arm1156", "arm1176",
      "arm11mpcore", "nvidia_denver"]),
    ((LINUX,), "amd", ["amdzen[1-5]"]),
    ((NEWER,), "amd", ["amdzen6"]),
    ((LINUX,), "armv8", ["a64fx", "ampereone*", "cmn", "emag", "hip0*", "imx*", "thunderx2",
                         "yitian710"]),
    ((LINUX,), "power", ["power*"]),
    ((LINUX,), "s390", ["cf_z1[0-6]", "cf_z196", "cf_zec12"]),
    ((NEWER,), "s390", ["cf_z17"]),
    ((LINUX,), "riscv", ["ax45", "c900_legacy", "dubhe_80"]),
    ((NEWER,), "riscv", ["u74", "bullet_*", "p550", "p650", "cva6"]),
)
OLDER = "older"
# Month of the release from which a kernel's lists are: 6.12 and 7.1; and of gator's.
KERNEL_DATES = {LINUX: "2024-11", NEWER: "2026-04", ARM[0]: "2024-11"}
GATOR_DATE = "2025-11"
# Start and end of the time that POWER8 compares with a threshold (bits 32 to 39 of the code).
# Linux's list lacks it, so that two events have one code; libpfm4 has it.
POWER8_THRESHOLDS = {"PM_L1MISS_LAT_EXC_": 0x67, "PM_RC_LIFETIME_EXC_": 0xDE}


def add_power8_thresholds(folder):
    for path in glob.glob(os.path.join(folder, "*.json")):
        events = newer.read_list(path)
        for e in events:
            stem = e.get("EventName", "").rstrip("0123456789")
            if stem in POWER8_THRESHOLDS:
                e["EventCode"] = hex(int(e["EventCode"], 0) | POWER8_THRESHOLDS[stem] << 32)
        newer.write_list(folder, os.path.basename(path), events)


def unpack(data, lists):
    """Each archive of @data in a folder of @lists; pattern -> folder."""
    found = {}
    archives = {p for patterns, _, _ in LISTS for p in patterns} - {NEWER, LINUX_CORES, GATOR}
    for n, pattern in enumerate(sorted(archives)):
        archive, = glob.glob(os.path.join(data, pattern))
        found[pattern] = os.path.join(lists, "%d" % n)
        with tarfile.open(archive) as tar:
            safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            tar.extractall(found[pattern], **safe)
    found[NEWER] = os.path.join(lists, NEWER)
    newer.write_trees(os.path.join(data, NEWER), found[LINUX], found[NEWER])
    add_power8_thresholds(os.path.join(found[LINUX], newer.ARCH, "powerpc", "power8"))
    cores = os.path.join(found[LINUX], newer.ARCH, "arm64", "arm")
    found[GATOR] = os.path.join(lists, GATOR)
    gator.write_tree(os.path.join(data, "..", "newer", "gator"), find_names(data),
                     [found[ARM[0]], os.path.join(cores, "cortex-a53")], found[GATOR])
    found[LINUX_CORES] = [os.path.join(cores, n) for n in sorted(os.listdir(cores))
                          if n not in TWO_CORES and n.startswith(("cortex", "neoverse"))]
    return found


def find_names(data):
    """The file of libpfm4's names."""
    return os.path.join(data, "..", "..", "facts", "libpfm4", "names.jsonl")


def make(data, into):
    """Writes all files below @into."""
    gator_lists.list_date = GATOR_DATE
    with tempfile.TemporaryDirectory(prefix="perfmon-lists-") as lists:
        unpacked = unpack(data, lists)
        for patterns, folder, models in LISTS:
            words = ["--text", os.path.join(into, folder), "--facts", "--jobs", "1"]
            for p in patterns:
                words += unpacked[p] if type(unpacked[p]) is list else [unpacked[p]]
            words += ["--cpu=" + m for m in models]
            said = io.StringIO()
            architectures.list_date = KERNEL_DATES.get(patterns[0], "")
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
                status = importing.main(words)
            if status:
                raise SystemExit("%s: %s" % (folder, said.getvalue()[-500:]))
    older.make(find_names(data), os.path.join(into, OLDER))


def folders():
    return sorted({folder for _, folder, _ in LISTS} | {OLDER})


def differences(ours, made):
    """Files that differ, below two folders."""
    out = []
    for folder in folders():
        a, b = ({n for n in os.listdir(os.path.join(top, folder)) if n.endswith(".pmu")}
                if os.path.isdir(os.path.join(top, folder))
                else set()
                for top in (ours, made))
        both = sorted(a & b)
        _, different, errors = filecmp.cmpfiles(os.path.join(ours, folder),
                                                os.path.join(made, folder), both, shallow=False)
        out += [os.path.join(folder, n) for n in sorted(a ^ b) + different + errors]
    return out


def main(argv):
    check = "--check" in argv
    into = argv[argv.index("--into") + 1] if "--into" in argv else os.path.join(ROOT, "lib",
                                                                                "events")
    if not argv or argv[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="perfmon-events-") as made:
        make(argv[0], made)
        if check:
            different = differences(into, made)
            print("\n".join(different))
            return 1 if different else 0
        for folder in folders():
            for old in glob.glob(os.path.join(into, folder, "*.pmu")):
                os.unlink(old)
            shutil.copytree(os.path.join(made, folder), os.path.join(into, folder),
                            dirs_exist_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
