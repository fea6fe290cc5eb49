#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bindings/api.json: it says what the headers say, and agrees with the ABI that a tool read from
the library's debug information (tests/abi/libperfmon.abi)."""
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

import tap

SOURCE = os.environ["PERFMON_SOURCE"]


def load(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return json.load(f)


class Headers(unittest.TestCase):
    def test_file_is_what_the_script_writes(self):
        for module in ("cffi", "pycparser"):
            if not importlib.util.find_spec(module):
                self.skipTest(f"no Python module {module}")
        if not shutil.which("cc"):
            self.skipTest("no cc")
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "scripts/api.py"), "--check"],
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Abi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.api = load("bindings/api.json")
        cls.abi = ElementTree.parse(os.path.join(SOURCE, "tests/abi/libperfmon.abi")).getroot()

    def test_sizes_and_offsets_of_structs_agree(self):
        ours = {s["tag"]: s for s in self.api["structs"] if "tag" in s}
        compared = 0
        for theirs in self.abi.iter("class-decl"):
            if theirs.get("name") not in ours or not theirs.get("size-in-bits"):
                continue
            struct = ours[theirs.get("name")]
            compared += 1
            self.assertEqual(struct["size"] * 8, int(theirs.get("size-in-bits")), struct["name"])
            offsets = {m.find("var-decl").get("name"): int(m.get("layout-offset-in-bits"))
                       for m in theirs.iter("data-member")}
            for member in struct["members"]:
                with self.subTest(struct=struct["name"], member=member["name"]):
                    if member["name"] in offsets:
                        self.assertEqual(member["offset"] * 8, offsets[member["name"]])
        self.assertGreaterEqual(compared, 60)

    def test_values_of_enumerations_agree(self):
        ours = {v["name"]: v["value"] for e in self.api["enums"] for v in e["values"]}
        theirs = {v.get("name"): int(v.get("value")) for e in self.abi.iter("enum-decl")
                  for v in e.iter("enumerator")}
        self.assertGreaterEqual(len(theirs), 90)
        for name, value in theirs.items():
            self.assertEqual(ours.get(name), value, name)

    def test_functions_and_their_parameters_agree(self):
        ours = {f["name"]: f for f in self.api["functions"]
                if f["library"] == "perfmon" and not f.get("inline")}
        symbols = {s.get("name") for s in self.abi.find("elf-function-symbols")}
        self.assertEqual(sorted(ours), sorted(symbols))
        for theirs in self.abi.iter("function-decl"):
            n = sum(p.get("is-variadic") is None for p in theirs.findall("parameter"))
            self.assertEqual(len(ours[theirs.get("name")]["parameters"]), n, theirs.get("name"))


class Statements(unittest.TestCase):
    """Names that a description refers to exist."""

    def test_errors_and_releases_are_names_of_the_interface(self):
        api = load("bindings/api.json")
        constants = {c["name"] for c in api["constants"]}
        functions = {f["name"] for f in api["functions"]} | {"free"}
        for f in api["functions"]:
            for error in f["errors"]:
                self.assertIn(error.rstrip("_"), constants | {"PFMLIB_ERR"}, f["name"])
            for described in [f, *f["parameters"]]:
                if "release" in described:
                    self.assertIn(described["release"], functions, f["name"])

    def test_each_handle_that_a_function_creates_says_how_it_is_released(self):
        api = load("bindings/api.json")
        closed = {p["type"].replace("const ", "").rstrip(" *") for f in api["functions"]
                  if f["name"].startswith("pfm_close_") for p in f["parameters"][:1]}
        for f in api["functions"]:
            for p in f["parameters"]:
                if p["name"] == "out" and p["type"].count("*") == 2 and \
                        p["type"].replace("const ", "").rstrip(" *") in closed:
                    self.assertEqual(p.get("ownership"), "caller", f["name"])


if __name__ == "__main__":
    tap.main()
