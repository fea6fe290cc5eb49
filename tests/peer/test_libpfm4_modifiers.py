# SPDX-License-Identifier: MIT
"""Random modifier strings, asked of libpfm.so.4 and of an installed libpfm4: the same codes, words,
attributes and strings.

Events are those that both libraries encode alike without modifiers, so that differences between
versions of the tables stay out. 10,000 strings by default, a million with PERFMON_LONG=1, another
number with PERFMON_MODIFIER_STRINGS; PERFMON_SEED is the seed. PERFMON_LIBPFM4_PEER_FOLDER names a
folder with another libpfm4, built for another architecture (make -C lib ARCH=arm64)."""

import os
import random
import re
import subprocess
import unittest

import tap

OURS = os.environ.get("PERFMON_LIBPFM4", "")
PEER = os.environ.get("PERFMON_LIBPFM4_PEER")        # a client built with libpfm4's headers
PEER_FOLDER = os.environ.get("PERFMON_LIBPFM4_PEER_FOLDER")
SEED = int(os.environ.get("PERFMON_SEED", "20251126"))
STRINGS = int(
    os.environ.get("PERFMON_MODIFIER_STRINGS",
                   "1000000" if os.environ.get("PERFMON_LONG") else "10000"))
BATCH = 50000
INTEGER = "3"       # PFM_ATTR_MOD_INTEGER
# Numbers around limits of fields, and texts that are no numbers.
VALUES = (
    "0 1 2 3 4 7 8 15 16 31 32 63 64 127 128 255 256 4095 4096 65535 65536 2147483646 2147483647"
    " 4294967295 0x10 0xff 010 08 18446744073709551615 18446744073709551616 -1 +1 y n t f yes x 1x"
).split()


def environment(ours):
    env = {
        k: v for k, v in os.environ.items()
        if not k.startswith(("LIBPFM_", "PERFMON_", "LD_LIBRARY_PATH"))
    }
    env["LIBPFM_ENCODE_INACTIVE"] = "1"
    folder = OURS if ours else PEER_FOLDER
    return dict(env, LD_LIBRARY_PATH=folder) if folder else env


def ask(queries, ours):
    """Answers of one library to (layer, levels, text)."""
    text = "".join("%d %d 0 0 %s\n" % q for q in queries)
    done = subprocess.run([PEER, "encode"], input=text, text=True, capture_output=True,
                          env=environment(ours), timeout=600, check=True)
    # Indices of events belong to the version.
    return [
        line if q[0] else line.rpartition("|")[0]
        for q, line in zip(queries, done.stdout.splitlines())
    ]


def listed_events():
    """(PMU, event, unit masks, modifiers by layer) of everything that the installed libpfm4
    lists."""
    events = {}
    for layer in (0, 1, 2):
        out = subprocess.run([PEER, "walk", str(layer)], text=True, capture_output=True,
                             env=environment(False), timeout=600, check=True).stdout
        for line in out.splitlines():
            words = line.split()
            if not line.startswith(" "):
                pmu = words[1]
            elif not line.startswith("  "):
                event = events.setdefault((pmu, words[1]), ([], {}))
            elif words[words.index("type") + 1] != "1":
                event[1].setdefault(layer, []).append(
                    (words[1], words[words.index("type") + 1] == INTEGER))
            elif layer == 0:
                event[0].append(words[1])
    return [(pmu, name, masks, mods) for (pmu, name), (masks, mods) in sorted(events.items())
            if pmu != "perf_raw"]


def common_events(rng):
    """Those that both libraries know and encode alike, alone, with each unit mask, and for the
    kernel; of a short run, some of them."""
    events = listed_events()
    events = rng.sample(events, min(len(events), max(3000, STRINGS // 20)))
    names = [["%s::%s%s" % (pmu, name, mask) for mask in [""] + [":" + m for m in masks]]
             for pmu, name, masks, _ in events]
    flat = [(0, 9, text) for texts in names for text in texts] + [(2, 9, texts[-1])
                                                                  for texts in names]
    differing = {q[2] for q, a, b in zip(flat, ask(flat, True), ask(flat, False)) if a != b}
    return [event for event, texts in zip(events, names) if not differing.intersection(texts)]


def random_attr(rng, mods):
    name, number = rng.choice(mods) if mods and rng.random() < 0.98 else (rng.choice(
        "u k h e i c t nosuch period cpu".split()), False)
    if rng.random() < 0.2:
        name = name.upper()
    form = rng.random()
    if form < 0.1:
        return "%s=%s" % (name, rng.choice(VALUES) if form < 0.09 else "")
    if number:
        return "%s=%s" % (name, rng.choice(VALUES[:VALUES.index("256")] if form < 0.8 else VALUES))
    return name if form < 0.6 else "%s=%d" % (name, rng.randrange(2))


def random_query(rng, events):
    pmu, name, masks, mods = rng.choice(events)
    layer = rng.choice((0, 0, 1, 2))
    attrs = [random_attr(rng, mods.get(layer)) for _ in range(rng.choice((1, 1, 2, 2, 3, 4, 6)))]
    if rng.random() < 0.4:          # copies, with other values too
        copy = rng.choice(attrs)
        base = copy.partition("=")[0]
        attrs += [copy] * rng.randrange(1, 3) + ["%s=%d" %
                                                 (base, rng.randrange(2))] * rng.randrange(2)
        rng.shuffle(attrs)
    for _ in range(rng.choice((0, 1, 1, 1, 1, 1, 2, 3)) if masks else 0):
        attrs.insert(0 if rng.random() < 0.8 else rng.randrange(len(attrs) + 1), rng.choice(masks))
    separator = "." if rng.random() < 0.1 else ":"
    return layer, rng.choice(
        (0, 1, 8, 9, 9, 9, 16, 25, 31)), separator.join(["%s::%s" % (pmu, name)] + attrs)


@unittest.skipUnless(PEER, "libpfm4 is not installed (Debian package libpfm4-dev)")
class Modifiers(unittest.TestCase):
    def test_random_modifiers_are_answered_as_by_libpfm4(self):
        rng, left = random.Random(SEED), STRINGS
        events = common_events(rng)
        self.assertGreater(len(events), 200)
        while left > 0:
            queries = [random_query(rng, events) for _ in range(min(left, BATCH))]
            answers = ask(queries, True), ask(queries, False)
            self.assertEqual([len(a) for a in answers], [len(queries)] * 2, "a library ended early")
            wrong = [(q, ours, theirs) for q, ours, theirs in zip(queries, *answers)
                     if ours != theirs]
            self.assertEqual(wrong[:5], [],
                             "seed %d: %d of %d differ" % (SEED, len(wrong), len(queries)))
            if STRINGS >= 5000:
                accepted = sum(bool(re.match(r"0\|", a)) for a in answers[1])
                self.assertGreater(accepted, len(queries) // 10)
            left -= len(queries)


if __name__ == "__main__":
    tap.main()
