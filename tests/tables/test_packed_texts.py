#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packed texts: each text of the library equals its source, whatever the texts are and in either
byte order."""

import json
import os
import random
import subprocess
import sys
import unittest

import tap

ROOT = os.path.join(os.environ["PERFMON_TESTS"], "..")
BUILD = os.environ.get("PERFMON_BUILD", os.path.join(ROOT, "build"))
PFM = os.environ.get("PFM", "pfm")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "compiler"))
from language import table_compiler  # noqa: E402
from image import image_writer  # noqa: E402
from image import packing  # noqa: E402
from image import image_reader  # noqa: E402


def read_unpacked(unpacked, place):
    return unpacked[place:unpacked.index(b"\0", place)]


class Packing(unittest.TestCase):
    def check(self, texts):
        """Each text is found at its place, in one block; returns the packed bytes."""
        for order in "<>":
            places, packed = packing.pack_texts(texts, order)
            unpacked = packing.unpack_texts(packed, order)
            self.assertEqual([read_unpacked(unpacked, places[text]) for text in texts], texts)
            for text in texts:
                end = places[text] + len(text)
                self.assertEqual(places[text] // packing.BLOCK_SIZE,
                                 (end + packing.BLOCK_SLACK) // packing.BLOCK_SIZE)
            self.assertEqual(packing.read_identity(packed, order)[0], len(unpacked))
            self.assertEqual(len(packed) % 8, 0)
        return packed

    def test_few_texts(self):
        for texts in ([b"a"], [b"a", b"b"], [b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
                      [b"x" * 4000, b"y" * 79,
                       b"x" * 4079], ["größer".encode(), "größte".encode(), b"\xff\x80"]):
            self.check(texts)

    def test_random_texts(self):
        chance = random.Random(1)
        for words in (2, 20, 400):
            known = [
                "".join(chance.choices("abcdefgh", k=chance.randint(1, 9))) for _ in range(words)
            ]
            texts = {
                " ".join(chance.choices(known, k=chance.randint(1, 30))).encode(): None
                for _ in range(1000)
            }
            packed = self.check(list(texts))
            self.assertLess(len(packed), sum(map(len, texts)) * 0.7)

    def test_deep_phrases(self):
        """Texts of which phrases would contain more phrases than the library follows."""
        self.check([b"a" * n + b"b" * m for n in range(1, 1500, 100) for m in range(1, 2000, 333)])

    def test_result_is_the_same_every_time(self):
        texts = [b"Loads of %d bytes that missed cache %d." % (i, i * i % 7) for i in range(500)]
        self.assertEqual(packing.pack_texts(texts, "<"), packing.pack_texts(list(texts), "<"))

    def test_texts_equal_those_of_a_plain_image(self):
        files = [
            os.path.join(ROOT, "lib", "events", name)
            for name in ("coreduo.pmu", "montecito.pmu", "alpha_ev67.pmu", "oryon.pmu")
        ]
        tables, _, errors = table_compiler.compile_all(files, None, None)
        self.assertEqual(errors, [])
        for order in ("little", "big"):
            plain, packed = (image_reader.read_image(image_writer.make_image(tables, order,
                                                                  packed=is_packed))[0]
                             for is_packed in (False, True))
            for t, p in zip(plain, packed):
                self.assertEqual((t.name, t.desc, t.source), (p.name, p.desc, p.source))
                for i in range(t.count["rows"]):
                    a, b = t.read_row(i), p.read_row(i)
                    self.assertEqual((a["name"], a["desc"]), (b["name"], b["desc"]))
                    for key in ("note", "metric", "formula", "const"):
                        self.assertEqual(t.read_texts(i, key), p.read_texts(i, key))
                for a, b in zip(t.read_records("groups"), p.read_records("groups")):
                    for k in range(a[4]):
                        (_, *one), (_, *other) = t.read_element("named_values",
                                                                a[3] + k), p.read_element(
                                                                    "named_values", b[3] + k)
                        self.assertEqual([t.read_text(x) for x in one],
                                         [p.read_text(x) for x in other])


class Library(unittest.TestCase):
    """The library and the Python reader unpack equal texts."""

    def test_every_event(self):
        with open(os.path.join(BUILD, "lib", "events", "builtin.pmdb"), "rb") as f:
            tables, _ = image_reader.read_image(f.read())
        texts = {(t.name, row["name"], row["desc"]) for t in tables
                 for row in map(t.read_row, range(t.count["rows"]))}
        named = {key[:2] for key in texts}
        env = {**os.environ, "PERFMON_EVENTS": "/nonexistent", "XDG_DATA_HOME": "/nonexistent"}
        done = subprocess.run([PFM, "list", "-a", "--json"], capture_output=True, text=True,
                              check=True, env=env)
        events = [(o["pmu"], o["event"], o.get("desc", ""))
                  for o in map(json.loads, done.stdout.splitlines()) if "event" in o]
        events = [key for key in events if key[:2] in named]
        self.assertEqual([key for key in events if key not in texts][:3], [])
        self.assertGreater(len(events), 0.9 * len(texts))


if __name__ == "__main__":
    sys.exit(tap.main())
