#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Structs of the public headers can grow without moving a member of another struct.

    PERFMON_SOURCE  the source tree
"""

import glob
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import public_structs  # noqa: E402
import tap  # noqa: E402

# The interfaces of libpfm 3 and Tru64 UNIX, whose layout never changes.
FIXED = {"alpha.h", "coreduo.h", "montecito.h", "pfcntr.h", "types.h"}
HEADERS = os.environ.get("PERFMON_HEADERS") or os.environ["PERFMON_SOURCE"] + "/include/perfmon"


def read_headers():
    structs = []
    for path in sorted(glob.glob(os.path.join(HEADERS, "*.h"))):
        if os.path.basename(path) in FIXED:
            continue
        with open(path, encoding="utf-8") as f:
            structs += public_structs.read_structs(f.read())
    return structs


def faults_of(text):
    return public_structs.find_faults(public_structs.read_structs(text))


class Growth(unittest.TestCase):
    maxDiff = None

    def test_growable_structs_are_embedded_last_only(self):
        self.assertEqual(public_structs.find_faults(read_headers()), [])

    def test_the_structs_of_the_headers_are_found(self):
        names = {s.name for s in read_headers() if s.has_size}
        self.assertTrue({"pfm_count_t", "pfm_encoding_t", "pfm_record_t"} <= names, names)
        self.assertGreater(len(names), 40)


class Headers(unittest.TestCase):
    def test_the_readme_names_each_header(self):
        with open(os.path.join(HEADERS, "README.md"), encoding="utf-8") as f:
            named = set(re.findall(r"`(\w+\.hp*)`", f.read()))
        names = {os.path.basename(p) for p in glob.glob(os.path.join(HEADERS, "*.h*"))}
        self.assertEqual(named, names)


INNER = "typedef struct a {\n\tsize_t size;\n\tint n;\n} a_t;\n"


class Rule(unittest.TestCase):
    def test_a_member_behind_a_growable_struct_is_refused(self):
        text = INNER + "typedef struct b {\n\tsize_t size;\n\ta_t inner;\n\tint n;\n} b_t;\n"
        self.assertEqual(faults_of(text), ["b_t.inner: a_t can grow, so it must be the last member"])

    def test_an_array_of_a_growable_struct_is_refused(self):
        text = INNER + "typedef struct b {\n\tsize_t size;\n\ta_t inner[4];\n} b_t;\n"
        self.assertEqual(faults_of(text),
                         ["b_t.inner: a_t can grow, so an array of it has no fixed stride"])

    def test_a_struct_grows_with_its_last_member(self):
        text = (INNER + "typedef struct b {\n\tint n;\n\ta_t inner;\n} b_t;\n"
                + "typedef struct c {\n\tb_t whole;\n\tint n;\n} c_t;\n")
        self.assertEqual(faults_of(text), ["c_t.whole: b_t can grow, so it must be the last member"])

    def test_a_frozen_struct_may_stand_anywhere(self):
        text = ("/** An a. Frozen: its size never changes. */\n" + INNER
                + "typedef struct b {\n\ta_t inner[4];\n\ta_t other;\n\tint n;\n} b_t;\n")
        self.assertEqual(faults_of(text), [])

    def test_an_embedded_struct_without_size_and_mark_is_refused(self):
        text = ("typedef struct a {\n\tint n;\n} a_t;\n"
                + "typedef struct b {\n\tsize_t size;\n\ta_t inner;\n} b_t;\n")
        self.assertEqual(faults_of(text), ["b_t.inner: a_t has no size and is not marked 'Frozen:'"])

    def test_a_pointer_to_a_growable_struct_may_stand_anywhere(self):
        text = INNER + "typedef struct b {\n\tsize_t size;\n\tconst a_t *inner;\n\tint n;\n} b_t;\n"
        self.assertEqual(faults_of(text), [])


if __name__ == "__main__":
    tap.main()
