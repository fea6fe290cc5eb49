#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Texts of events: one for every name that a list or libpfm4 has, in our own words."""

import collections
import glob
import json
import os
import re
import sys
import tarfile
import unittest

import tap

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.join(HERE, "..")
sys.path.insert(0, os.path.join(ROOT, "compiler"))

from texts import event_texts  # noqa: E402

FULL = os.path.join(tap.SHARED, "data", "full")
LIBPFM4 = os.path.join(tap.SHARED, "facts", "libpfm4", "names.jsonl")
RUN = 8
LONGEST = 200
SHOWN = 12
MOST_RAW = 14       # events of a family with one abbreviation that has no words yet
RAW_SHARE = 0.03    # of all names those with such a piece: names of signals, mostly
SMALL_WORDS = set("a an and any are as at be been by counts event events for from in is it no not"
                  " number of on or per that the times to unit was were with".split())
ARCHES = {"x86": "intel", "arm64": "arm", "powerpc": "power", "s390": "s390", "riscv": "riscv"}
OTHERS = {"netburst": "intel", "cpum_sf": "s390", "power_torrent": "power"}
KINDS = {"amd64": "amd", "arm": "arm", "power": "power", "intel_x86": "intel"}


def words(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def members(prefix):
    """(path, parsed JSON) of a packed tree."""
    for path in glob.glob(os.path.join(FULL, prefix + "*.tar.xz")):
        with tarfile.open(path) as t:
            for m in t:
                if m.name.endswith(".json") and m.isfile():
                    text = t.extractfile(m).read()
                    if text.lstrip().startswith((b"{", b"[")):
                        yield m.name, json.loads(text)


def descriptions(row):
    return [row.get("BriefDescription"), row.get("PublicDescription")]


def rows(found):
    found = found.get("Events", found.get("events", [])) if isinstance(found, dict) else found
    return [r for r in found if isinstance(r, dict)] if isinstance(found, list) else []


def intel_lists():
    for path, found in members("intel"):
        if "/events/" not in path:
            continue
        core = "" if "uncore" in path else os.path.basename(path)
        for r in rows(found):
            if r.get("EventName"):
                unit = (r.get("Unit") or "").lower() if not core else ""
                yield "intel", unit, r["EventName"], core, descriptions(r)


def linux_lists():
    for path, found in members("linux"):
        parts = path.split("pmu-events/arch/")[-1].split("/")
        if parts[0] == "test":
            continue
        is_amd = len(parts) > 1 and parts[1].startswith("amd")
        family = "amd" if is_amd else ARCHES.get(parts[0], "other")
        for r in rows(found):
            name = r.get("EventName") or r.get("ArchStdEvent")
            if name:
                unit = (r.get("Unit") or "").lower()
                yield family, unit, name, "/".join(parts[1:-1]), descriptions(r)


def arm_lists():
    for path, found in members("arm-data"):
        for r in rows(found):
            if r.get("name"):
                yield "arm", "", r["name"], os.path.basename(path)[:-5], [r.get("description")]


def arm_telemetry(part):
    """(its path, name, description) of the events or the metrics, of the CPU or of a mesh's
    components."""
    for path, found in members("arm-telemetry"):
        if isinstance(found, dict) and "/pmu/" in path:
            for place in [found, *found.get("components", {}).values()]:
                for name, item in place.get(part, {}).items():
                    if isinstance(item, dict):
                        yield path, name, item.get("description") or ""


def arm_telemetry_lists():
    for path, name, theirs in arm_telemetry("events"):
        yield "arm", "arm_cmn" if "cmn" in path else "", name, os.path.basename(path)[:-5], [theirs]


def libpfm4_names():
    with open(LIBPFM4) as f:
        for line in f:
            table = json.loads(line)
            pmu = table["pmus"][0]["name"]
            family = KINDS.get(table["kind"], "other")
            if table["kind"] == "other":
                family = OTHERS.get(pmu.replace("_p", ""), "other")
            for e in table["events"]:
                yield family, "", e["e"], pmu, []
                for u in e.get("u", []):
                    if table["kind"] != "other" or u.get("t") == 1:
                        yield family, "", e["e"] + ":" + u["u"], pmu, []


def built_in_events():
    """Events of the tables of one family a folder, as some are in no list that is here; Intel's
    need their units."""
    for family in "amd", "arm", "riscv", "s390", "power":
        for path in glob.glob(os.path.join(ROOT, "lib", "events", family, "*.pmu")):
            with open(path, encoding="utf-8") as f:
                text = f.read()
            for name in re.findall(r'^event\s+(\S+)(?!.*\s"[^"]*"$)', text, re.M):
                yield family, "", name, os.path.basename(path)[:-4], []


def own_metrics():
    """{metric of a built-in table: {its units}} of those without a text in their own line."""
    found = collections.defaultdict(set)
    for path in glob.glob(os.path.join(ROOT, "lib", "events", "**", "*.pmu"), recursive=True):
        with open(path, encoding="utf-8") as f:
            for line in f:
                m = re.match(r"metric\s+(\S+)", line)
                if m and not re.search(r'\s"[^"]*"$', line.rstrip()):
                    found[m[1]].update(re.findall(r'\sunit=("[^"]*"|\S+)', line) or [""])
    return found


def vendors_metrics():
    """{metric: {descriptions}} of the vendors' lists."""
    found = collections.defaultdict(set)
    for prefix in ("intel", "linux"):
        for path, items in members(prefix):
            items = items.get("Metrics", []) if isinstance(items, dict) else items
            for m in items if "metrics" in path and isinstance(items, list) else ():
                if isinstance(m, dict) and m.get("MetricName"):
                    found[m["MetricName"]].update(t for t in descriptions(m) if t)
    for _, name, theirs in arm_telemetry("metrics"):
        found[name].add(theirs)
    return found


def runs(text):
    w = words(text)
    return {tuple(w[i:i + RUN]) for i in range(len(w) - RUN + 1)}


class Texts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names, cls.vendors = {}, {}
        if not os.path.isdir(FULL):
            return
        for source in (intel_lists, linux_lists, arm_lists, arm_telemetry_lists, libpfm4_names,
                       built_in_events):
            for family, unit, name, core, theirs in source():
                key = family, unit, name, bool(event_texts.SMALL_CORE.search(core))
                if key not in cls.names:
                    cls.names[key] = event_texts.describe_event(family, unit, name, {"core": core})
                cls.vendors.setdefault((family, name.lower()), set()).update(t for t in theirs if t)

    def need(self):
        if not self.names:
            self.skipTest("vendors' lists are not here")

    def none(self, faults):
        self.assertEqual(faults[:SHOWN], [], "%d of %d texts" % (len(faults), len(self.names)))

    def test_files_are_in_order(self):
        self.assertEqual(event_texts.check_texts(), [])

    def test_every_name_has_a_sentence(self):
        self.need()
        self.none([(k[2], t) for k, t in self.names.items()
                   if not t.endswith(".") or len(words(t)) < 2
                   or not t[0].isupper() and not t[0].isdigit()])

    def test_no_text_is_too_long(self):
        self.need()
        self.none([(k[2], len(t), t) for k, t in self.names.items() if len(t) > LONGEST])

    def test_marks_of_the_glossary_are_not_left(self):
        self.need()
        self.none([(k[2], t) for k, t in self.names.items()
                   if re.search(r"~|\^[A-Za-z]|@[a-z]", t)])

    def test_no_text_only_repeats_its_name(self):
        self.need()

        def repeats(name, text):
            folded = "".join(words(name))
            return all(w in SMALL_WORDS or w in folded for w in words(text))
        self.none([(k[2], t) for k, t in self.names.items() if repeats(k[2], t)])

    def test_no_text_is_a_list_of_words(self):
        """Three pieces of one or two words each are no sentence: "L2 cache, data, reads"."""
        self.need()

        def listed(text):
            pieces = re.split(r"[,:] ", re.sub(r" \([^)]*\)", "", text).rstrip("."))
            return len(pieces) > 2 and max(len(p.split()) for p in pieces) < 3
        self.none([(k[2], t) for k, t in self.names.items() if listed(t)])

    def test_no_text_repeats_itself(self):
        self.need()

        def twice(text, n=5):
            w = words(text)
            return len({tuple(w[i:i + n]) for i in range(len(w) - n + 1)}) < len(w) - n + 1
        self.none([(k[2], t) for k, t in self.names.items() if twice(t)])

    def test_no_text_is_copied_from_a_vendor(self):
        self.need()
        found = []
        for (family, _, name, _), text in self.names.items():
            ours = runs(text)
            if ours and any(ours & runs(t) for t in self.vendors.get((family, name.lower()), ())):
                found.append((name, text))
        self.none(found)

    def test_texts_have_the_numbers_of_names(self):
        self.need()
        told = re.compile(r"(?:_GT_|_GE_|LATENCY_GE_)([0-9]+)$")
        self.none([(k[2], t) for k, t in self.names.items() if k[0] == "intel" and told.search(k[2])
                   and told.search(k[2])[1] not in words(t)])

    def test_abbreviations_have_words(self):
        """A piece that many names of a family share is not repeated verbatim in their texts."""
        self.need()
        raw, names = collections.Counter(), 0
        for (family, unit, name, small), text in self.names.items():
            unknown = []
            event_texts.describe_event(family, unit, name, {"core": "bnl" if small else ""},
                                       unknown)
            pieces = {piece for piece in unknown if re.search(r"\b%s\b" % re.escape(piece), text)}
            raw.update((family, piece) for piece in pieces)
            names += bool(pieces)
        self.none([(n, *k) for k, n in raw.most_common() if n > MOST_RAW])
        self.assertLess(names, RAW_SHARE * len(self.names))

    def test_neighbours_differ(self):
        """Names that people choose between tell what makes the difference."""
        def of(name):
            return event_texts.describe_event("intel", "", name, {"core": "goldencove"})
        for a, b in (("MEM_LOAD_RETIRED.L3_MISS", "LONGEST_LAT_CACHE.MISS"),
                     ("CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.REF_TSC"),
                     ("INST_RETIRED.ANY", "INST_RETIRED.ANY_P"),
                     ("UOPS_ISSUED.ANY", "UOPS_RETIRED.SLOTS")):
            self.assertNotEqual(of(a), of(b))

    def test_text_of_a_shared_mask_fits_each_event(self):
        """A mask of two events must not speak of one of them."""
        def of(event):
            return event_texts.describe_mask("amd", "", event, "local_l2")
        self.assertEqual(of("ls_any_fills_from_sys"), of("ls_dmnd_fills_from_sys"))
        self.assertNotIn("demand", of("ls_dmnd_fills_from_sys").lower())

    def test_a_name_may_have_the_text_of_another(self):
        def of(name, family="arm", unit=""):
            return event_texts.describe_event(family, unit, name, None)
        self.assertEqual(of("PMU_HNS_CACHE_MISS"), of("HNF_CACHE_MISS"))
        self.assertEqual(of("CME_LD_SPEC"), "In the SME2 unit: l" + of("LD_SPEC")[1:])
        self.assertEqual(of("fp_ops_ret_by_type.scalar_add", "amd"),
                         of("fp_ops_retired_by_type.scalar_add", "amd"))

    def test_speed(self):
        """A name whose text is known costs a few look-ups."""
        import time
        start = time.perf_counter()
        for _ in range(10000):
            event_texts.describe_event("intel", "", "MEM_LOAD_RETIRED.L3_MISS", None)
        self.assertLess((time.perf_counter() - start) / 10000, 50e-6)


class Metrics(unittest.TestCase):
    """metrics.txt has a text for each metric of the built-in tables."""
    @classmethod
    def setUpClass(cls):
        cls.units = own_metrics()
        cls.written = event_texts.load_metric_texts()

    def none(self, faults):
        self.assertEqual(faults[:SHOWN], [], "%d of %d metrics" % (len(faults), len(self.units)))

    def sentences(self):
        return {name: text for name, text in self.written.items() if not text.startswith("= ")}

    def test_every_metric_has_a_text(self):
        self.assertGreater(len(self.units), 400)
        self.none(sorted(n for n in self.units if not event_texts.find_metric_text(n)))

    def test_every_text_has_a_metric(self):
        self.none(sorted(set(self.written) - set(self.units)))

    def test_texts_are_sentences(self):
        """Five words or more, a capital, a full stop, and no list of words: "L1 cache, invalid"."""
        def wrong(text):
            first = re.split(r"[.:;] ", text)[0]
            return (len(words(text)) < 5 or len(text) > LONGEST
                    or not text.endswith(".") or not text[0].isupper()
                    or not re.search(r"\b(of|for|that|which|at|per|by)\b", first)
                    or max(len(words(p)) for p in first.split(", ")) < 4)
        self.none([(n, t) for n, t in self.sentences().items() if wrong(t)])

    def test_texts_explain_the_value(self):
        """Besides what is computed, what a value means: a second sentence, or a second half."""
        self.none([(n, t) for n, t in self.sentences().items() if not re.search(r"[.;] ", t)])

    def test_different_metrics_have_different_texts(self):
        """Only names that "=" declares to be the same quantity share a text."""
        by_text = collections.defaultdict(list)
        for name, text in self.sentences().items():
            by_text[text].append(name)
        self.none([names for names in by_text.values() if len(names) > 1])

    def test_metrics_that_share_a_text_have_one_unit(self):
        pairs = [(n, t[2:]) for n, t in self.written.items() if t.startswith("= ")]
        self.none([(a, b) for a, b in pairs if not self.units[a] & self.units[b]])

    def test_metrics_that_are_named_exist(self):
        """A text sends readers to metrics and events that there are."""
        events = set()
        for path in glob.glob(os.path.join(ROOT, "lib", "events", "**", "*.pmu"), recursive=True):
            with open(path, encoding="utf-8") as f:
                events.update(re.findall(r"^event\s+(\S+)", f.read(), re.M))
        events.update([e.partition(".")[0] for e in events])
        named = re.compile(r"\b\w+_[\w.]*\w")
        self.none([(n, w) for n, t in self.sentences().items() for w in named.findall(t)
                   if w not in self.units and w not in events])

    def test_no_text_is_copied_from_a_vendor(self):
        theirs = vendors_metrics()
        if not theirs:
            self.skipTest("vendors' lists are not here")
        folded = collections.defaultdict(set)
        for name, found in theirs.items():
            folded[re.sub("^(tma|metric)_", "", name.lower())].update(found)

        def is_taken(name, text):
            found = folded.get(re.sub(r"^hbm\.", "", name.lower()), ())
            return any(runs(text) & runs(v) for v in found)
        self.none([(n, t) for n, t in self.sentences().items() if is_taken(n, t)])


if __name__ == "__main__":
    tap.main()
