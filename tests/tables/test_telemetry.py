#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arm's Telemetry Specification: its events and formulas, imported and built in.

Expected values come from the specification's JSON itself, its formulas evaluated by Python.
"""

import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

import tap
from tap import main

BUILD = os.environ["PERFMON_BUILD"]
SOURCE = os.environ["PERFMON_SOURCE"]
PMUC = os.path.join(SOURCE, "compiler", "pmuc.py")
sys.path.insert(0, os.path.dirname(PMUC))
from language import tables  # noqa: E402
from image import image_reader  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
ARCHIVE = os.path.join(tap.SHARED, "data", "full", "arm-telemetry-2026-04.tar.xz")
MESH_CYCLES = "dtc_cycles"
# Metrics of the mesh that need watchpoints or its frequency: neither is an event.
MESH_METRICS, MESH_METRICS_LEFT_OUT = 87, 69
CORES = {"neoverse_n1", "neoverse_n2", "neoverse_n3", "neoverse_v1", "neoverse_v2", "neoverse_v3",
         "c1_nano", "c1_pro", "c1_premium", "c1_ultra", "c1_sme2"}


def ask(requests, **env):
    lines = "".join(json.dumps(r) + "\n" for r in requests)
    done = subprocess.run([PFM, "metric", "--json", "-"], input=lines, capture_output=True,
                          text=True, env={**env, "PATH": os.environ["PATH"]}, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def product(path):
    """The table's name of a file: arm-c1-pro-r1p2-pmu.json is c1_pro."""
    stem = os.path.basename(path)[:-5]
    stem = re.sub(r"^arm-|[-_]pmu$", "", stem)
    return re.sub(r"[-_]r\dp\d$", "", stem).replace("-", "_")


def made_up(names):
    """Counts that differ from each other, none of them 0."""
    return {name: 1000 + 77 * i for i, name in enumerate(sorted(names))}


# Numbers of filters in the event select registers, as the specification gives them.
FILTERS = {"occupancy": ("all", "read", "write", "atomic", "stash", "rxsnp", "lbt", "hbt"),
           "hbt_lbt": ("all", "hbt", "lbt")}


def filter_modifier(metric):
    """The modifier for the filter that a metric's name asks for."""
    m = re.search("__(occupancy|hbt_lbt)_filter_([a-z]+)_", metric)
    return ":occupid=%d" % FILTERS[m[1]].index(m[2]) if m else ""


def our_name(metric, m):
    """`ipc` has one definition on all processors; another one has a name of its own."""
    other = metric == "ipc" and m["formula"] != "INST_RETIRED / CPU_CYCLES"
    return "ipc_active" if other else metric


class Specification(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists(ARCHIVE):
            raise unittest.SkipTest("no telemetry files of Arm's in PERFMON_SHARED")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        with tarfile.open(ARCHIVE) as tar:
            more = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            tar.extractall(cls.folder.name, **more)
        cls.files = {}
        for folder, _, names in os.walk(os.path.join(cls.folder.name)):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if "/pmu/" in path and os.path.getsize(path) > 1000:     # others are links
                    with open(path, encoding="utf-8") as f:
                        cls.files.setdefault(product(path), []).append(json.load(f))
        cls.image = os.path.join(cls.folder.name, "all.pmdb")
        done = subprocess.run([sys.executable, PMUC, "import", "--json", cls.folder.name,
                               "-o", cls.image], capture_output=True, text=True, check=False)
        cls.lines = [json.loads(line) for line in done.stdout.splitlines()]
        with open(cls.image, "rb") as f:
            cls.tables = {t.name: t for t in image_reader.read_image(f.read())[0]}

    def cores(self):
        return {name: files for name, files in self.files.items() if not name.startswith("cmn")}

    def test_every_product_is_a_model(self):
        self.assertEqual(set(self.tables), CORES | {"arm_cmn_700"})
        self.assertEqual(set(self.cores()), CORES)

    def test_nothing_of_a_core_is_refused(self):
        refused = [line for line in self.lines if "refused" in line and "cmn" not in str(line)
                   and "model" not in line]
        self.assertEqual([line for line in refused if "summary" not in line], [])

    def test_events_have_their_codes(self):
        wrong, n = [], 0
        for name, files in self.cores().items():
            table = self.tables[name]
            for data in files:
                for event, e in data["events"].items():
                    row = table.find_row(event)
                    if "PMU" not in e["accesses"]:
                        wrong += [(name, event, "a trace unit's signal")] if row is not None else []
                        continue
                    n += 1
                    code = None if row is None else table.read_value(row, "code")
                    if code != int(e["code"], 16):
                        wrong.append((name, event, e["code"], code))
        self.assertEqual(wrong, [])
        self.assertGreater(n, 4200)

    def test_formulas_agree_with_python(self):
        self.check_formulas(PERFMON_EVENTS=self.image)

    def check_formulas(self, **env):
        """Formulas that agree with each other in all revisions of a product are asked once."""
        requests, want = [], []
        for name, files in self.cores().items():
            for metric, m in files[-1]["metrics"].items():
                counts = made_up(set(re.findall(r"[A-Z][A-Z0-9_]+", m["formula"])))
                value = eval(m["formula"], {}, dict(counts))     # noqa: S307 (Arm's arithmetic)
                want.append((name, metric, value, m))
                requests.append({"id": len(requests), "pmu": name, "metric": our_name(metric, m),
                                 "counts": counts})
        got = ask(requests, **env)
        self.assertEqual(len(got), len(want))
        wrong = [(w[:3], g) for w, g in zip(want, got)
                 if abs(g.get("value", 1e300) - w[2]) > 1e-9 * abs(w[2])]
        self.assertEqual(wrong, [])
        self.assertEqual(len(want), 893)

    def test_mesh_formulas_agree_with_python(self):
        table, wrong, requests, want = self.tables["arm_cmn_700"], [], [], []
        for component in self.files["cmn_700"][0]["components"].values():
            for metric, m in component["metrics"].items():
                if table.find_row(metric) is None:
                    continue
                counts = made_up(set(re.findall(r"[A-Z][A-Z0-9_]+", m["formula"])))
                want.append(eval(m["formula"], {}, dict(counts)))     # noqa: S307 (arithmetic)
                filtered = filter_modifier(metric)
                ours = {MESH_CYCLES if k == "SYS_CMN_CYCLES" else k + filtered: v
                        for k, v in counts.items()}
                requests.append({"id": len(requests), "pmu": "arm_cmn_700", "metric": metric,
                                 "counts": ours})
        for r, value, got in zip(requests, want, ask(requests, PERFMON_EVENTS=self.image)):
            if abs(got.get("value", 1e300) - value) > 1e-9 * abs(value):
                wrong.append((r, value, got))
        self.assertEqual(wrong, [])
        self.assertEqual(len(want), MESH_METRICS)

    def test_levels_are_those_of_the_decision_tree(self):
        wrong = []
        for name, files in self.cores().items():
            method = files[-1]["methodologies"]["topdown_methodology"]
            table, tree = self.tables[name], method["decision_tree"]
            nodes = {n["name"]: n["next_items"] for n in tree["metrics"]}
            for node, below in nodes.items():
                row = table.find_row(node)
                if row is None:
                    continue
                level = table.read_value(row, "metric_level")
                if node in tree["root_nodes"] and level != 1:
                    wrong.append((name, node, level))
                for child in below:
                    at = table.find_row(child) if child in nodes else None
                    if at is None or not level or child in tree["root_nodes"]:
                        continue
                    if not 1 < table.read_value(at, "metric_level") <= level + 1:
                        wrong.append((name, node, child))
        self.assertEqual(wrong, [])

    def test_units_groups_and_samples(self):
        for name, files in self.cores().items():
            table, groups = self.tables[name], files[-1]["groups"]["metrics"]
            for metric, m in files[-1]["metrics"].items():
                row = table.find_row(our_name(metric, m))
                self.assertEqual(table.read_value_text(row, "unit"), m["units"], (name, metric))
                of = sorted(g for g, what in groups.items() if metric in what["metrics"])
                ours = (table.read_value_text(row, "metric_group") or "").split(";")
                self.assertEqual(sorted(ours), of or [""])
                self.assertEqual((table.read_value_text(row, "metric_locate") or "").split(";"),
                                 m["sample_events"] or [""])

    def test_the_mesh(self):
        """Events of each node type; metrics that are no sums of watchpoints."""
        table, data = self.tables["arm_cmn_700"], self.files["cmn_700"][0]
        n = 0
        for component in data["components"].values():
            node = component["product_configuration"].get("device_id")
            for event, e in component["events"].items():
                if node is None or "code" not in e:
                    continue
                row = table.find_row(event)
                n += 1
                self.assertEqual((table.read_value(row, "type"), table.read_value(row, "eventid")),
                                 (node, int(e["code"], 16)), event)
        self.assertEqual(n, 499)
        metrics = [i for i in range(table.count["rows"])
                   if table.read_row(i)["flags"] & tables.ROW_METRIC]
        self.assertEqual(len(metrics), MESH_METRICS)
        left = [line for line in self.lines if "an unknown event" in str(line.get("note", ""))]
        self.assertEqual(len(left), MESH_METRICS_LEFT_OUT)


class BuiltIn(unittest.TestCase):
    """The library's own tables have what the specification has."""

    setUpClass = classmethod(Specification.setUpClass.__func__)

    def test_codes(self):
        with open(os.path.join(BUILD, "lib", "events", "builtin.pmdb"), "rb") as f:
            built_in = {t.name: t for t in image_reader.read_image(f.read())[0]}
        wrong, n = [], 0
        for name in sorted(CORES):
            table, ours = self.tables[name], built_in[name]
            for row in range(table.count["rows"]):
                if table.read_row(row)["flags"] & tables.ROW_METRIC:
                    continue
                event, n = table.read_row(row)["name"], n + 1
                at = ours.find_row(event)
                code = None if at is None else ours.read_value(at, "code")
                if code != table.read_value(row, "code"):
                    wrong.append((name, event, table.read_value(row, "code"), code))
        self.assertEqual(wrong, [])
        self.assertGreater(n, 2700)

    def test_formulas_agree_with_python(self):
        Specification.check_formulas(self, PERFMON_EVENTS="", XDG_DATA_HOME="/nonexistent")

    cores = Specification.cores

    def test_events_and_metrics(self):
        wrong = []
        for name in sorted(CORES):
            done = subprocess.run([PFM, "list", "--all", "--json", name + "::"],
                                  capture_output=True, text=True, check=True)
            known = {}
            for line in done.stdout.splitlines():
                row = json.loads(line)
                known[row.get("event") or row.get("name") or row.get("metric")] = row
            table, names = self.tables[name], {k.rpartition("::")[2] for k in known if k}
            wrong += [(name, table.read_row(i)["name"]) for i in range(table.count["rows"])
                      if table.read_row(i)["name"].rpartition("::")[2] not in names]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    main()
