#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of all events (docs/events.py): its data, and what a browser without a screen shows of it."""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap

SOURCE = os.environ.get("PERFMON_SOURCE", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PFM = os.environ.get("PFM", "pfm")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
# Added to a copy of the page: writes down when the first text was painted.
WATCH = """<script>new PerformanceObserver(function (l) { l.getEntries().forEach(function (e) {
if (e.name === "first-contentful-paint") document.documentElement.setAttribute("data-paint", e.startTime); }); })
.observe({ type: "paint", buffered: true });</script>"""


def value(path):
    """What a data file hands over."""
    with open(path, encoding="utf-8") as f:
        return json.loads("[%s]" % re.fullmatch(r"[\w.]+\((.*)\);\n", f.read(), re.S)[1])


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="perfmon-site-")
        subprocess.run([sys.executable, os.path.join(SOURCE, "docs", "events.py"), "--pfm", PFM, "--out", cls.folder, "--version", "<0>"],
                       check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(cls.folder, "events.html"), encoding="utf-8") as f:
            cls.page = f.read()
        with open(os.path.join(cls.folder, "watched.html"), "w", encoding="utf-8") as f:
            f.write(cls.page.replace("</head>", WATCH + "</head>"))
        (cls.processors,) = value(cls.file("index.js"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def file(cls, *names):
        return os.path.join(cls.folder, "events", *names)

    def browse(self, route, size="1200,800", page="events.html", wait="--virtual-time-budget=8000"):
        """The page as it stands after its scripts."""
        if not BROWSER:
            self.skipTest("chromium is not installed")
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run([BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + profile,
                                   "--window-size=" + size,
                                   wait, "--dump-dom", "file://%s/%s%s" % (self.folder, page, route)], capture_output=True, text=True,
                                  timeout=120, check=False)
        if not done.stdout:
            self.skipTest("the browser does not run here: " + done.stderr.strip()[-200:])
        return done.stdout

    def rows(self, dom):
        body = dom.partition("<tbody>")[2].partition("</tbody>")[0]
        return [[html.unescape(re.sub(r"<[^>]*>", "", c)) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", r, re.S)]
                for r in re.findall(r"<tr>(.*?)</tr>", body, re.S)]

    def test_the_data_is_what_the_command_lists(self):
        names = [p[0] for p in self.processors]
        self.assertTrue({"coreduo", "montecito", "ev5"} <= set(names))
        self.assertEqual(len(set(names)), len(names))
        (everything,) = value(self.file("all.js"))
        total = 0
        for i, (name, _, n, owner, _) in enumerate(self.processors):
            self.assertEqual(self.processors[owner][3], owner, name)
            if owner == i:
                top, tables = value(self.file("p", name + ".js"))
                self.assertEqual(top, name)
                for unit, rows in tables.items():
                    self.assertEqual(len(rows), self.processors[names.index(unit)][2], unit)
                    total += len(rows)
        self.assertEqual(total, sum(p[2] for p in self.processors))
        self.assertLessEqual(len(everything), total)
        self.assertIn("%d events" % total, self.page)
        found = {row[0]: row for row in value(self.file("p", "coreduo.js"))[1]["coreduo"]}
        self.assertEqual(found["L2_Lines_In"][2:4], ["0x24", "0-1"])

    def test_the_page_loads_nothing_from_elsewhere_and_says_what_is_what(self):
        self.assertEqual(re.findall(r'\bsrc="([^"]*)"', self.page), ["events/index.js"])
        self.assertIsNone(re.search(r"https?://", self.page))
        self.assertIn("version &lt;0&gt;", self.page)
        for needed in ('<html lang="en">', 'name="viewport"', 'role="search"', 'label for="search"', 'role="status"',
                       'class="skip" href="#main"'):
            self.assertIn(needed, self.page)

    def test_a_search_over_all_processors(self):
        dom = self.browse("#/s/coreduo%20l2%20lines")
        rows = self.rows(dom)
        self.assertIn("L2_Lines_In", [r[0] for r in rows])
        self.assertTrue(all(r[2] == "coreduo" for r in rows), rows)
        self.assertIn("%d events" % len(rows), dom)

    def test_a_processor_on_a_phone(self):
        dom = self.browse("#/p/ev5", size="390,844")
        self.assertEqual(len(self.rows(dom)), [p[2] for p in self.processors if p[0] == "ev5"][0])
        self.assertIn("<title>ev5 - perfmon</title>", dom)

    def test_two_processors(self):
        rows = self.rows(self.browse("#/compare/ev6/ev67"))
        self.assertEqual({r[4] for r in rows} - {"differs"}, {"only ev6", "only ev67"})

    def test_first_paint(self):
        dom = self.browse("", page="watched.html", wait="--timeout=4000")
        paint = re.search(r'data-paint="([\d.]+)"', dom)
        if not paint:
            self.skipTest("the browser painted nothing")
        print("# first text after %.0f ms" % float(paint[1]))
        self.assertLess(float(paint[1]), 20000)


if __name__ == "__main__":
    tap.main()
