#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of the encoder in a browser without a screen: each form answers, links lead to answers,
narrow windows need no scrolling to the side, and every field has a name. Needs clang with
wasm32-wasi, lld and chromium."""
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import tap

SOURCE = os.environ["PERFMON_SOURCE"]
BUILD = os.environ["PERFMON_BUILD"]
sys.path.insert(0, os.path.join(os.environ["PERFMON_TESTS"], "command"))
from test_site import BROWSER, Browser  # noqa: E402


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for program in ("clang", "wasm-ld"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"no {program}")
        if not BROWSER:
            raise unittest.SkipTest("no chromium")
        if not os.path.isdir("/usr/include/wasm32-wasi"):
            raise unittest.SkipTest("no wasi-libc")
        cls.package = os.path.join(BUILD, "tests/page-package")
        subprocess.run([os.path.join(SOURCE, "scripts/wasm.sh"), BUILD, cls.package], check=True)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.url = "file://" + os.path.join(folder.name, "index.html")
        subprocess.run([sys.executable, os.path.join(SOURCE, "bindings/js/page/page.py"),
                        cls.package, folder.name], check=True)
        profile = tempfile.TemporaryDirectory()
        cls.addClassCleanup(profile.cleanup)
        cls.browser = Browser(profile.name)
        cls.addClassCleanup(cls.browser.close)

    def answer(self, form, **fields):
        """The answer at a link."""
        link = urllib.parse.urlencode({"form": form, **fields})
        self.browser.open(f"{self.url}#{link}")
        self.browser.wait("/PMUs are ready|cannot/.test(document.getElementById('state')"
                          ".textContent)")
        return self.browser.ask(f"document.querySelector('#{form} output').textContent")

    def test_event_has_registers_spellings_and_its_source(self):
        text = self.answer("encode", text="spr::MEM_LOAD_RETIRED.L3_MISS:u")
        self.assertIn("PERFEVTSEL0 = 0x5120d1 at 0x186", text)
        self.assertIn("perf: cpu/event=0xd1,umask=0x20/u", text)
        self.assertIn("counters: 0, 1, 2, 3", text)
        self.assertIn("source: intel/perfmon SPR", text)

    def test_page_without_a_link_shows_the_first_answer_at_its_top(self):
        self.browser.open(self.url)
        self.browser.wait("/PMUs are ready/.test(document.getElementById('state').textContent)")
        self.assertIn("PERFEVTSEL0", self.browser.ask(
            "document.querySelector('#encode output').textContent"))
        self.assertEqual(self.browser.ask("scrollY"), 0)

    def test_registers_without_an_address_show_none(self):
        for event, register in (("neoverse_n1::L2D_CACHE", "config"),
                                ("montecito::CPU_OP_CYCLES_ALL", "PMC4"),
                                ("power9::PM_CYC", "config")):
            text = self.answer("encode", text=event)
            self.assertRegex(text, rf"(?m)^{register} = 0x[0-9a-f]+$")

    def test_wrong_name_has_similar_names(self):
        text = self.answer("encode", text="spr::INST_RETIRED.ANX")
        self.assertIn("Similar: INST_RETIRED.ANY", text)

    def test_registers_are_read_as_events(self):
        text = self.answer("decode", pmu="spr", text="PERFEVTSEL0=0x5120d1\nconfig=0x20d1")
        self.assertEqual(text.count("MEM_LOAD_RETIRED.L3_MISS"), 2, text)

    def test_sets_fit_or_name_the_clash(self):
        text = self.answer("fit", text="spr::INST_RETIRED.ANY\nspr::MEM_LOAD_RETIRED.L3_MISS")
        self.assertIn("INST_RETIRED.ANY: fixed counter 0", text)
        self.assertIn("GLOBAL_CTRL = 0x100000001 at 0x38f", text)
        text = self.answer("fit", text="coreduo::Mul\ncoreduo::Div")
        self.assertRegex(text, r"coreduo::Mul\n +coreduo::Div")

    def test_set_with_a_wrong_name_has_similar_names(self):
        text = self.answer("fit", text="spr::INST_RETIRED.ANX\nspr::MEM_LOAD_RETIRED.L3_MISS")
        self.assertIn("Similar: INST_RETIRED.ANY", text)

    def test_metric_is_computed_from_counts(self):
        text = self.answer("metric", name="skl::IPC", text="20 10")
        self.assertIn("skl::IPC: 2 insn per cycle", text)
        self.assertIn("skl::CPU_CLK_UNHALTED.THREAD: 10", text)

    def test_keyboard_submits_and_the_link_changes(self):
        self.answer("encode", text="skl::INST_RETIRED.ANY_P")
        self.browser.ask("document.getElementById('encode-text').value = 'skl::L1D.REPLACEMENT';"
                         "document.getElementById('encode-text').focus()")
        self.browser.press("Enter", "\r")
        self.browser.wait("location.hash.includes('L1D.REPLACEMENT')")
        self.assertIn("0x530151", self.browser.ask(
            "document.querySelector('#encode output').textContent"))

    def test_narrow_window_needs_no_scrolling_to_the_side(self):
        self.answer("encode", text="spr::MEM_LOAD_RETIRED.L3_MISS:u")
        for width in (360, 1200):
            self.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800,
                              deviceScaleFactor=1, mobile=False)
            page = "document.documentElement."
            self.assertEqual(self.browser.ask(f"{page}scrollWidth - {page}clientWidth"), 0)
        self.browser.call("Emulation.clearDeviceMetricsOverride")

    def test_accessibility_tree_names_each_field(self):
        self.answer("encode", text="spr::MEM_LOAD_RETIRED.L3_MISS:u")
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        named = [(n["role"]["value"], n["name"]["value"]) for n in nodes
                 if n.get("role", {}).get("value") in ("textbox", "button")]
        self.assertEqual(sum(role == "textbox" for role, _ in named), 6)
        self.assertEqual(sum(role == "button" for role, _ in named), 4)
        self.assertNotIn("", [name for _, name in named])
        self.assertIn("status", [n.get("role", {}).get("value") for n in nodes])

    def test_names_in_the_text_of_the_page_are_escaped(self):
        with open(self.url[7:], encoding="utf-8") as f:
            page = f.read()
        self.assertNotIn("innerHTML", page)
        self.assertEqual(html.unescape(re.search(r"<h1>(.*?)</h1>", page)[1]),
                         "Events as registers")


if __name__ == "__main__":
    tap.main()
