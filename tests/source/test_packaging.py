#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recipes of package managers name this version and options that exist; what describes a release
is complete and the same each time."""
import ast
import configparser
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap

SOURCE = os.environ["PERFMON_SOURCE"]
FEATURES = ("tools", "python", "man", "tests", "bench")


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as f:
        return f.read()


VERSION = re.search(r"version: '([^']*)'", read("meson.build"))[1]
OPTIONS = set(re.findall(r"option\('(\w+)'", read("meson_options.txt")))


class Recipes(unittest.TestCase):
    def recipe(self, *path):
        text = read("packaging", *path)
        self.assertIn(VERSION, text)
        return text

    def test_conan_and_spack_are_python_and_disable_options_that_exist(self):
        for path in (("conanfile.py",), ("spack", "package.py")):
            words = {node.value for node in ast.walk(ast.parse(self.recipe(*path)))
                     if isinstance(node, ast.Constant) and isinstance(node.value, str)}
            self.assertTrue({"man", "tests", "bench"} <= words)
        self.assertTrue(set(FEATURES) <= OPTIONS)

    def test_conan_exports_what_meson_reads(self):
        folders = set(re.findall(r"^subdir\('([^/']*)", read("meson.build"), re.M))
        for folder in folders:
            self.assertIn(f'"{folder}"', self.recipe("conanfile.py"))

    def test_bazel_is_starlark_with_options_that_exist(self):
        tree = ast.parse(read("packaging", "bazel", "BUILD.bazel"))
        ast.parse(self.recipe("bazel", "MODULE.bazel"))
        options = next(k.value for node in ast.walk(tree) if isinstance(node, ast.Call)
                       for k in node.keywords if k.arg == "options")
        self.assertTrue(set(ast.literal_eval(options)) <= OPTIONS | {"default_library"})

    def test_options_of_the_nix_recipe_exist(self):
        text = self.recipe("default.nix")
        self.assertTrue(set(re.findall(r"-D(\w+)=", text)) <= OPTIONS)
        if not shutil.which("nix-instantiate"):
            self.skipTest("no nix-instantiate")
        subprocess.run(["nix-instantiate", "--parse", "-"], input=text, text=True, check=True,
                       stdout=subprocess.DEVNULL)

    def test_wrap_gives_the_dependency_that_meson_declares(self):
        wrap = configparser.ConfigParser()
        wrap.read_string(read("packaging", "perfmon.wrap"))
        self.assertIn(wrap["provide"]["perfmon"] + " = declare_dependency",
                      read("lib", "meson.build"))


    def test_packages_of_other_languages_have_this_version(self):
        for path in ("bindings/rust/perfmon-sys/Cargo.toml", "bindings/rust/perfmon/Cargo.toml"):
            self.assertIn(f'version = "{VERSION}"', read(path))
        self.assertEqual(json.loads(read("bindings/js/package.json"))["version"], VERSION)
        self.assertEqual(json.loads(read("bindings/api.json"))["version"], VERSION)


class Release(unittest.TestCase):
    def describe(self, folder):
        tarball = os.path.join(folder, "perfmon.tar.xz")
        with open(tarball, "wb") as f:
            f.write(b"a tarball")
        subprocess.run([sys.executable, os.path.join(SOURCE, "scripts/sbom.py"), tarball, "c0ffee",
                        "1764284400"], check=True)
        texts = []
        for kind in ("spdx", "provenance"):
            with open(f"{tarball}.{kind}.json", encoding="utf-8") as f:
                texts.append(f.read())
        return texts

    def test_tarball_and_all_beside_it_are_the_same_each_time(self):
        if not shutil.which("git") or not os.path.exists(os.path.join(SOURCE, ".git")):
            self.skipTest("no git, or not its folder")
        with tempfile.TemporaryDirectory() as folder:
            made = []
            for name in ("one", "other"):
                clone, out = os.path.join(folder, name), os.path.join(folder, name + "-out")
                subprocess.run(["git", "clone", "-q", "--depth", "1", "file://" + SOURCE, clone],
                               check=True)
                subprocess.run([os.path.join(clone, "scripts/release.sh"), "-o", out], check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "XZ_OPT": "-0"})
                made.append({})
                for path in os.listdir(out):
                    with open(os.path.join(out, path), "rb") as f:
                        made[-1][path] = hashlib.sha256(f.read()).hexdigest()
        self.assertEqual(len(made[0]), 5)
        self.assertEqual(made[0], made[1])

    def test_description_is_the_same_each_time(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            self.assertEqual(self.describe(one), self.describe(other))

    def test_description_names_version_licences_and_the_commit(self):
        with tempfile.TemporaryDirectory() as folder:
            spdx, provenance = map(json.loads, self.describe(folder))
        digest = hashlib.sha256(b"a tarball").hexdigest()
        packages = {p["name"]: p for p in spdx["packages"]}
        ids = [p["SPDXID"] for p in spdx["packages"]]
        self.assertEqual(len(set(ids)), len(ids))
        self.assertEqual(packages["perfmon"]["versionInfo"], VERSION)
        self.assertEqual(packages["perfmon"]["checksums"][0]["checksumValue"], digest)
        self.assertEqual(packages["perfmon lib/events/intel/*"]["licenseDeclared"], "BSD-3-Clause")
        self.assertIn("jansson", packages)
        for relation in spdx["relationships"]:
            self.assertIn(relation["spdxElementId"], [*ids, "SPDXRef-DOCUMENT"])
            self.assertIn(relation["relatedSpdxElement"], ids)
        self.assertEqual(provenance["subject"][0]["digest"], {"sha256": digest})
        self.assertIn({"digest": {"gitCommit": "c0ffee"}},
                      provenance["predicate"]["buildDefinition"]["resolvedDependencies"])


if __name__ == "__main__":
    tap.main()
