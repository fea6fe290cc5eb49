#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dashboards for Grafana: types, metrics and queries.

    PFM              the command
    PERFMON_GRAFANA  a folder where npm has installed @grafana/schema and typescript; default: they
                     are installed once, in the cache of the guests (tests/guest/README.md)
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, "support")]
sys.dont_write_bytecode = True
import npm_packages  # noqa: E402
import openmetrics  # noqa: E402
import tap  # noqa: E402
from test_serve import PFM, SOURCE, run  # noqa: E402

PACKAGES = ["@grafana/schema@13.2.3", "typescript@5.9.3"]


def install_schema():
    """The folder with Grafana's types and the compiler."""
    return os.environ.get("PERFMON_GRAFANA") or npm_packages.install("grafana-13.2.3", *PACKAGES)


class Dashboard(unittest.TestCase):
    """exporter/grafana-*.json."""

    @staticmethod
    def boards():
        """(name, text) of each."""
        for path in sorted(glob.glob(os.path.join(SOURCE, "exporter/grafana-*.json"))):
            with open(path, encoding="utf-8") as f:
                yield os.path.basename(path), f.read()

    def compile(self, folder, boards):
        """The errors of Grafana's own types in dashboards: "" if every field is known, and each
        value is of its type."""
        modules = os.path.join(install_schema(), "node_modules")
        types = modules + "/@grafana/schema/dist/types/raw/dashboard/x/types.gen"
        paths = []
        for name, text in boards:
            paths.append(os.path.join(folder, name.replace(".json", ".ts")))
            with open(paths[-1], "w", encoding="utf-8") as f:
                f.write('import type { Dashboard } from "%s";\nexport const d: Dashboard = %s;\n' %
                        (types, text))
        done = subprocess.run([
            modules + "/.bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2020",
            "--module", "esnext", "--moduleResolution", "bundler", *paths
        ], capture_output=True, text=True, check=False)
        self.assertEqual(bool(done.returncode), bool(done.stdout), done.stdout + done.stderr)
        return done.stdout

    def test_grafana_accepts_the_dashboards(self):
        boards = list(self.boards())
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.compile(folder, boards), "")
            wrong = self.compile(folder, [("wrong.json", boards[0][1].replace('"gridPos"',
                                                                         '"position"'))])
            self.assertRegex(wrong, "position.* does not exist in type 'Panel'")

    def test_metrics_of_the_queries_exist(self):
        """Each metric of its queries is one that pfm writes: its table has the name, or an
        exposition of this machine."""
        boards = {name: json.loads(text) for name, text in self.boards()}
        with open(os.path.join(SOURCE, "tools/series/names.c"), encoding="utf-8") as f:
            text = f.read()
        known = set(re.findall(r'"(perfmon_\w+)"', text.split("contract_names[]")[1])) | \
            {name + "_total" for name in re.findall(r'"(node_perf_\w+)"', text)}
        exposition = run(PFM, "stat", "-a", "--format", "prometheus", "--timeout", "10", "-e",
                         "page-faults", "-M", "software::ratios")
        known |= set(openmetrics.parse(exposition, openmetrics=False))
        for name in ("self.c", "pressure.c", "resctrl.c"):
            with open(os.path.join(SOURCE, "exporter", name), encoding="utf-8") as f:
                text = f.read()
            known |= {
                name + "_total"
                for name in re.findall(r'"(process_\w+|perfmon_\w+)",\s+FAMILY_COUNTER', text)
            } | set(re.findall(r'put_gauge\(x, "(\w+)"', text)) | {
                name + ("_total" if kind == "COUNTER" else "")
                for name, kind in re.findall(r'"(perfmon_resctrl_\w+)".*?FAMILY_(\w+)', text,
                                             re.S)}
        self.assertEqual(len(boards), 4)
        self.assertEqual(len({b["uid"] for b in boards.values()}), 4)
        for name, board in boards.items():
            self.check_names(name, board, known)

    def check_names(self, name, board, known):
        queries = [t["expr"] for p in board["panels"] for t in p["targets"]]
        queries += [v["query"] for v in board["templating"]["list"]]
        queries = [re.sub(r"\{.*?\}|by \(.*?\)", "", q) for q in queries]
        used = {name for q in queries for name in re.findall(r"\b(?:perfmon|node|process)_\w+", q)}
        self.assertGreater(len(used), 8, name)
        self.assertEqual(used - known, set(), name)
        self.assertEqual(len({p["id"] for p in board["panels"]}), len(board["panels"]), name)

    def test_promtool_reads_its_queries(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is missing (Debian package prometheus)")
        queries = [t["expr"] for _, text in self.boards() for p in json.loads(text)["panels"]
                   for t in p["targets"]]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as rules:
            rules.write(
                json.dumps({
                    "groups": [{
                        "name": "g", "rules": [{
                            "record": "r%d" % i, "expr": q.replace("$__rate_interval", "1m")
                        } for i, q in enumerate(queries)]
                    }]
                }))
            rules.flush()
            run("promtool", "check", "rules", rules.name)


if __name__ == "__main__":
    tap.main()
