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


    def test_the_library_knows_the_first_size_of_each_growable_struct(self):
        """lib/base/first_sizes.h: a size of 0 is that of version 1.0."""
        with open(os.environ["PERFMON_SOURCE"] + "/lib/base/first_sizes.h", encoding="utf-8") as f:
            rows = dict(re.findall(r"\bX\((\w+), (\w+)[.\w]*\)", f.read()))
        structs = {s.name.removesuffix("_t") + "_t": s for s in read_headers() if s.has_size}
        self.assertEqual(structs.keys() - rows.keys(), set())
        for name, last in rows.items():
            if name in structs:
                self.assertIn(last, [m.name for m in structs[name].members], name)


class Headers(unittest.TestCase):
    def test_headers_are_alike(self):
        """Guards have one prefix, structs and enumerations have tags, types end in _t, and
        visibility is set the same way."""
        for path in sorted(glob.glob(os.path.join(HEADERS, "*.h"))):
            name = os.path.basename(path)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            with self.subTest(header=name):
                guard = "LIBPERFMON_%s_H" % name[:-2].upper()
                self.assertIn("#ifndef %s\n#define %s\n" % (guard, guard), text)
                if name not in FIXED:
                    self.assertEqual(re.findall(r"^(?:typedef )?(?:struct|union|enum) \{", text,
                                                re.M), [])
                    self.assertEqual(re.findall(r"^(?:struct|union|enum) \w+ \{", text, re.M),
                                     ["struct pfm_sampling {"] if name == "sampling.h" else [])
                self.assertNotIn("#ifdef __GNUC__\n#pragma", text)

    def test_perfmon_h_includes_the_headers_of_the_library(self):
        """All but those of other libraries and of processors."""
        with open(os.path.join(HEADERS, "perfmon.h"), encoding="utf-8") as f:
            included = set(re.findall(r"#include <perfmon/(\w+\.h)>", f.read()))
        names = {os.path.basename(p) for p in glob.glob(os.path.join(HEADERS, "*.h"))}
        self.assertEqual(included, names - FIXED - {"perfmon.h", "profile.h"})

    def test_the_version_is_that_of_the_project(self):
        with open(os.environ["PERFMON_SOURCE"] + "/meson.build", encoding="utf-8") as f:
            version = re.search(r"version: '([\d.]+)'", f.read())[1]
        with open(os.path.join(HEADERS, "context.h"), encoding="utf-8") as f:
            text = f.read()
        self.assertIn('#define PFM_VERSION       "%s"\n' % version, text)
        numbers = re.findall(r"#define PFM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)\n", text)
        self.assertEqual(".".join(numbers), version)

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
