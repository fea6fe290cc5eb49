#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How big the library is, stripped: with every processor, and with the founding ones (the option
`processors`); and how many relocations the dynamic linker makes in it."""

import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap

sys.path.insert(0, os.path.dirname(os.environ.get("PERFMON_PMUC", "")))
from image import image_reader  # noqa: E402

BUILD = os.environ.get("PERFMON_BUILD", "")
ROOT = os.path.join(os.environ["PERFMON_TESTS"], "..")
EVENTS = os.path.join(ROOT, "lib", "events")
LIBRARY = os.path.join(BUILD, "lib", "libperfmon.so.1.0.0")
N_MASKS = 4         # where a group's record has the number of its masks
FOUNDING = "ev*,pca56,montecito,coreduo*"


def options():
    with open(os.path.join(BUILD, "meson-info", "intro-buildoptions.json"), encoding="utf-8") as f:
        return {o["name"]: o["value"] for o in json.load(f)}


def plain():
    """A build as it is packaged, not one that checks or measures itself."""
    try:
        o = options()
    except OSError:
        return False
    return o["b_sanitize"] in ("none", "", []) and not o["b_coverage"] and o["optimization"] in (
        "2", "3", "s") and o["processors"] == ["all"]


@unittest.skipUnless(shutil.which("strip") and os.path.exists(LIBRARY) and plain(),
                     "no optimised library with every processor, or no strip")
class Sizes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.stripped = os.path.join(self.folder, "x.so")
        subprocess.run(["strip", "-o", self.stripped, LIBRARY], check=True)
        self.size = os.path.getsize(self.stripped)

    def size_with_image(self, image_size):
        """The size of the library if its image had this size. The image ends a segment; the file is
        padded up to the next one, whose place in a page stays."""
        headers = subprocess.run(["readelf", "-lW", self.stripped], capture_output=True, text=True,
                                 check=True).stdout
        loads = [[int(word, 16) for word in words]
                 for words in re.findall(r"(?m)^  LOAD +(0x\w+) 0x\w+ 0x\w+ (0x\w+)", headers)]
        image = os.path.getsize(os.path.join(BUILD, "lib", "events", "builtin.pmdb"))
        (start, size), (following, _) = next(pair for pair in zip(loads, loads[1:])
                                             if pair[0][1] > image)
        end = start + size - image + image_size
        return self.size - following + end + (following - end) % 4096

    def test_there_are_at_most_200_dynamic_relocations(self):
        """At most 200, 1/200 of libpfm4's: each takes time when a program starts and makes memory
        private. clang turns more switches into tables of addresses, and other processors have
        relocations of their own."""
        compiler = subprocess.run(["readelf", "-p", ".comment", LIBRARY], capture_output=True,
                                  text=True, check=True).stdout
        sections = subprocess.run(["readelf", "-rW", LIBRARY], capture_output=True, text=True,
                                  check=True).stdout
        kinds = collections.Counter(re.findall(r" R_X86_64_(\w+) ", sections))
        print("# %d: %s" % (sum(kinds.values()), ", ".join("%d %s" % (n, kind)
                                                           for kind, n in kinds.most_common())))
        if not kinds or "clang" in compiler:
            self.skipTest("not built by gcc for x86-64")
        self.assertLessEqual(sum(kinds.values()), 200)

    def test_tables_take_at_most_84_bytes_for_an_event(self):
        """At most 84 bytes for each event, metric and unit mask: three quarters of what libpfm4
        4.13 for x86 takes, 112. Texts are plain strings."""
        with open(os.path.join(BUILD, "lib", "events", "builtin.pmdb"), "rb") as f:
            tables, _ = image_reader.read_image(f.read())
        rows = sum(t.count["rows"] for t in tables)
        masks = sum(
            t.read_record("groups", g)[N_MASKS] for t in tables for i in range(t.count["rows"])
            for g in t.read_row(i)["groups"])
        each = self.size / (rows + masks)
        print("# %d bytes, %d rows, %d unit masks: %.1f each" % (self.size, rows, masks, each))
        self.assertLessEqual(each, 84)

    def test_the_library_of_the_founding_processors_is_small(self):
        """The code is about 700 KiB of it; rules, errata and results that survive added 60."""
        image = os.path.join(self.folder, "founding.pmdb")
        files = sorted(glob.glob(os.path.join(EVENTS, "*.pmu")))
        subprocess.run([
            sys.executable,
            os.path.join(ROOT, "compiler", "pmuc.py"), "--image", image, "--processors",
            FOUNDING, *files
        ], check=True)
        size = self.size_with_image(os.path.getsize(image))
        print("# %d bytes" % size)
        self.assertLess(size, 896 << 10)

    def test_a_processor_nobody_has(self):
        done = subprocess.run([
            sys.executable,
            os.path.join(ROOT, "compiler", "pmuc.py"), "--image",
            os.path.join(self.folder, "x"), "--processors", "z80",
            os.path.join(EVENTS, "software.pmu")
        ], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no processor is called 'z80'", done.stderr)


if __name__ == "__main__":
    sys.exit(tap.main())
