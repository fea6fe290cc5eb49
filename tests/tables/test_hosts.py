#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Identities of processors and the PMUs that serve them: every row of the makers' and Linux's map
files leads to the PMU of its list, and a member without a list gets its family's nearest, which
every command says."""

import csv
import glob
import io
import itertools
import json
import os
import re
import subprocess
import sys
import tarfile
import unittest

import tap

PFM = os.environ.get("PFM", "pfm")
DATA = os.path.join(tap.SHARED, "data", "full")
NEWER = os.path.join(DATA, "linux-newer", "riscv_mapfile_rows.csv")
NEAREST, FALLBACK = "nearest", "fallback"

# Identities in use by no processor with a list, by maker. Models of AMD that Linux's
# arch/x86/kernel/cpu/amd.c does not know go where its map file has the rest of the family.
UNKNOWN = (
    ("GenuineIntel-6-FE-0", "intel_arch", FALLBACK),
    ("GenuineIntel-18-7F-0", "intel_arch", FALLBACK),
    ("GenuineIntel-19-1-0", "intel_arch", FALLBACK),
    ("AuthenticAMD-23-85-0", "amdzen2", NEAREST),
    ("AuthenticAMD-23-F0-0", "amdzen2", NEAREST),
    ("AuthenticAMD-25-C0-0", "amdzen4", NEAREST),
    ("AuthenticAMD-26-38-0", "amdzen6", NEAREST),
    ("AuthenticAMD-26-B4-0", "amdzen6", NEAREST),
    ("AuthenticAMD-26-FF-0", "amdzen6", NEAREST),
    ("AuthenticAMD-27-0-0", "amd", FALLBACK),
    ("HygonGenuine-24-9-0", "amd", FALLBACK),
    ("0x00000000410fd990", "armv8", FALLBACK),
    ("0x00000000480fdff0", "armv8", FALLBACK),
    ("0x00000000460f0ff0", "armv8", FALLBACK),
    ("0x00000000c00fac90", "armv8", FALLBACK),
    ("0x00000000fe0f0010", "armv8", FALLBACK),
    ("0x00000000610f0200", "m1_firestorm", NEAREST),
    ("0x00000000610f0610", "m4", NEAREST),
    ("0x00000000610f0910", "m4", NEAREST),
    ("0x00000000610f0400", "m4", NEAREST),
    ("0x489-0x8000000000000fff-0x1", "riscv_sbi", FALLBACK),
    ("0x710-0x1-0x2", "riscv_sbi", FALLBACK),
    ("0xffff-0x1-0x1", "riscv_sbi", FALLBACK),
    ("IBM,9999,705,A01,3.9,002f", "cf_z17", NEAREST),
    ("0x00840100", "power10", NEAREST),
    ("0x008a0100", "power10", NEAREST),
    ("loongarch64,3Z9999", "loongson", FALLBACK),
)
# Linux's amd.c: (family, first model, last model, PMU).
ZEN = (
    (23, 0x00, 0x2F, "amdzen1"), (23, 0x50, 0x5F, "amdzen1"), (23, 0x30, 0x4F, "amdzen2"),
    (23, 0x60, 0x7F, "amdzen2"), (23, 0x90, 0x91, "amdzen2"), (23, 0xA0, 0xAF, "amdzen2"),
    (25, 0x00, 0x0F, "amdzen3"), (25, 0x20, 0x5F, "amdzen3"), (25, 0x10, 0x1F, "amdzen4"),
    (25, 0x60, 0xAF, "amdzen4"), (26, 0x00, 0x2F, "amdzen5"), (26, 0x40, 0x4F, "amdzen5"),
    (26, 0x60, 0x7F, "amdzen5"), (26, 0x50, 0x5F, "amdzen6"), (26, 0x80, 0xAF, "amdzen6"),
    (26, 0xC0, 0xCF, "amdzen6"),
)


def run(cpu, *words):
    env = {k: v for k, v in os.environ.items() if not k.startswith("PERFMON_")}
    env.update(PERFMON_CPUID=cpu, PERFMON_EVENTS="", XDG_DATA_HOME="/nonexistent",
               PERFMON_SYSFS=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return subprocess.run([PFM, *words], env=env, capture_output=True, text=True, check=False)


def cores(cpu):
    """{name: (names, how it serves)} of the PMUs of the processor's cores."""
    found = {}
    for line in run(cpu, "list", "--pmus", "--json").stdout.splitlines():
        p = json.loads(line)
        if p["host"] and not p.get("uncore") and p["pmu"] not in ("hardware", "software",
                                                                  "hw_cache"):
            how = NEAREST if p.get("nearest") else FALLBACK if p.get("fallback") else ""
            found[p["pmu"]] = ({p["pmu"], *p.get("aka", "").split()}, how)
    return found


def spell(pattern):
    """Texts that an extended regular expression of a map file matches: one of each choice."""
    pattern = pattern.strip("^$").replace("[[:xdigit:]]", "[1]")
    pieces = []
    for m in re.finditer(r"\[([^]]+)\]|\(([^)]+)\)|\\(.)|(.)", pattern):
        chars, choices, escaped, plain = m.groups()
        if chars:
            ranges = re.sub(r"(.)-(.)", lambda r: "".join(map(chr, range(ord(r[1]),
                                                                         ord(r[2]) + 1))), chars)
            pieces.append(list(ranges))
        elif choices:
            pieces.append(
                [t for c in re.findall(r"(?:\[[^]]+\]|[^|])+", choices) for t in spell(c)])
        elif plain in ("*", "+"):
            pieces[-1] = [",700,A01,"] if pieces[-1] == [","] else pieces[-1]
        elif plain == "{":
            n = int(pattern[m.end():pattern.index("}", m.end())])
            pieces[-1] = [c * n for c in pieces[-1]]
        elif plain == "}" or (plain and pattern[m.start() - 1] == "{"):
            continue
        else:
            pieces.append([escaped or ("," if plain == "." else plain)])
    return ["".join(p) for p in itertools.product(*pieces)]


def member(archive, path):
    where, = glob.glob(os.path.join(DATA, archive))
    with tarfile.open(where) as tar:
        return io.TextIOWrapper(tar.extractfile(path), encoding="utf-8").read().splitlines()


def linux_rows(arch):
    lines = member("linux-*-pmu-events.tar.xz", "tools/perf/pmu-events/arch/%s/mapfile.csv" % arch)
    return [re.match(r"((?:[^,{]|\{[^}]*\})+),[^,]*,([^,]+),core", line).groups()
            for line in lines[1:] if line.strip() and not line.startswith("#") and ",core" in line]


@unittest.skipUnless(os.path.isdir(DATA), "vendors' lists are not here")
class MapFiles(unittest.TestCase):
    def check(self, rows):
        """Each identity has a PMU of the list's own name, or of names that begin with it."""
        wrong = []
        for cpu, folder in rows:
            found = cores(cpu)
            name = folder.split("/")[-1].lower().replace("-", "_")
            names = set().union(*(names for names, how in found.values()
                                  if not how)) if found else set()
            if not any(n == name or n.startswith(name + "_") for n in names):
                wrong.append((cpu, folder, found))
        self.assertEqual(wrong[:10], [])
        return len(rows)

    def test_identities_of_intel_find_their_list(self):
        rows = {(r[0], r[2].split("/")[1])
                for r in csv.reader(member("intel-perfmon-*.tar.xz", "mapfile.csv")[1:])}
        rows = [(cpu, folder) for pattern, folder in sorted(rows) for cpu in spell(pattern)]
        self.assertGreater(self.check(rows), 80)

    def test_identities_of_linux_for_x86_find_their_list(self):
        earlier, rows = [], []
        for pattern, folder in linux_rows("x86"):
            if pattern.startswith("AuthenticAMD"):
                continue        # test_amd()
            rows += [(cpu, folder) for cpu in spell(pattern)
                     if not any(re.fullmatch(e, cpu) for e in earlier)]
            earlier.append(pattern)
        self.assertGreater(self.check(rows), 60)

    def test_identities_of_linux_for_arm64_find_their_list(self):
        of_list = {
            "cortex-a57-a72": ("cortex_a57", "cortex_a72"),
            "cortex-a65-e1": ("cortex_a65", "neoverse_e1"),
            "neoverse-n2-v2": ("neoverse_n2", "neoverse_v2")
        }
        rows = linux_rows("arm64")
        self.assertGreater(len(rows), 25)
        wrong = []
        for cpu, folder in rows:
            name, found = folder.split("/")[1], cores(cpu)
            names = set().union(*(names for names, how in found.values()
                                  if not how)) if found else set()
            if not any(
                    n.startswith(stem) for n in names
                    for stem in of_list.get(name, (name.replace("-", "_"), ))):
                wrong.append((cpu, folder, found))
        self.assertEqual(wrong, [])

    def test_identities_of_linux_for_others_find_their_list(self):
        rows = [(cpu, folder) for arch in ("powerpc", "s390", "riscv")
                for pattern, folder in linux_rows(arch) for cpu in spell(pattern)]
        self.assertGreater(self.check(rows), 25)

    def test_newer_identities_of_riscv_find_their_list(self):
        with open(NEWER, encoding="utf-8") as f:
            lines = [line.strip().split(",") for line in f if line.startswith("0x")]
        rows = [(cpu, folder) for pattern, _, folder, _ in lines for cpu in spell(pattern)]
        self.assertGreater(self.check(rows), 50)


class Amd(unittest.TestCase):
    def test_families_of_amd_find_their_generation(self):
        wrong = [
            (family, model, cores("AuthenticAMD-%d-%X-0" % (family, model)))
            for family, low, high, pmu in ZEN for model in (low, high)
            if {n: how for n, (_, how) in cores("AuthenticAMD-%d-%X-0" %
                                                (family, model)).items()} != {pmu: ""}
        ]
        self.assertEqual(wrong, [])


class Unknown(unittest.TestCase):
    def test_nearest_of_the_family(self):
        wrong = []
        for cpu, pmu, how in UNKNOWN:
            found = {
                name: how for name, (_, how) in cores(cpu).items() if not name.startswith("cf_z17_")
            }
            if found != {pmu: how}:
                wrong.append((cpu, pmu, how, found))
        self.assertEqual(wrong, [])

    def test_commands_say_so(self):
        said = {
            FALLBACK: ("the events common to its family; this model is unknown",
                       "holds the events common to its family",
                       "these events are common to its family"),
            NEAREST: ("the list of the nearest model; this model is unknown",
                      "is the list of the nearest model",
                      "these events are of the nearest model and can differ here")
        }
        for cpu, pmu, how in UNKNOWN:
            listed = run(cpu, "list", "--pmus").stdout
            line, = [line for line in listed.splitlines() if line.split()[:1] == [pmu]]
            self.assertIn(said[how][0], line, cpu)
            event = json.loads(
                next(line for line in run(cpu, "list", "--json", pmu + "::").stdout.splitlines()
                     if '"event"' in line))
            self.assertIn(said[how][1],
                          run(cpu, "show", "%s::%s" % (pmu, event["event"])).stderr, cpu)
            self.assertIn(said[how][2], " ".join(run(cpu, "doctor").stdout.split()), cpu)


if __name__ == "__main__":
    sys.exit(tap.main())
