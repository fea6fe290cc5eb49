#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pages of pfm report, diff and stat --html in a browser without a window.

    PFM  the command (default: pfm of the path)

Pages are shown by Chromium, which this test drives through a pipe by the DevTools protocol.
"""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402
from test_record import PFM, Crafted, crafted_program  # noqa: E402

FUNCTIONS = ["main", "parse", "print<int>", "hash</script>", "f4", "f5"]
MAIN, PARSE, PRINT, HASH = range(4)
IP, TID, TIME, CPU, PERIOD, CHAIN = 1, 2, 4, 128, 256, 32
USER = 2 ** 64 - 512


class Chains(Crafted):
    """Samples with call chains, times and CPUs."""

    def attr(self, ids=(1,), config=0):
        attr = bytearray(112)
        struct.pack_into("<IIQQQ", attr, 0, 1, 112, config, 1,
                         IP | TID | TIME | CHAIN | CPU | PERIOD)
        struct.pack_into("<Q", attr, 40, 1 << 18)
        self.record(64, bytes(attr) + struct.pack("<%dQ" % len(ids), *ids), 0)

    def trailer(self, pid):
        self.time += 1
        return struct.pack("<IIQII", pid, pid, self.time, 0, 0)

    def add(self, chain, tid=5, cpu=0, weight=1000000):
        self.time += 1000000
        addresses = [0x1004 + 16 * f for f in chain]
        self.record(9, struct.pack("<QIIQIIQQ", addresses[0], 5, tid, self.time, cpu, 0, weight,
                                   len(chain) + 1) +
                    struct.pack("<%dQ" % (len(chain) + 1), USER, *addresses))


class Browser:
    """A page in Chromium: messages are JSON, each with a zero after it."""

    def __init__(self, folder):
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()
        self.number, self.buffer, self.requests = 0, b"", []

        def take_descriptors():
            os.dup2(to_read, 3)
            os.dup2(from_write, 4)

        # The pipes may be 3 and 4 themselves: move them out of the way.
        to_read, from_write = (os.dup2(fd, fd + 100) for fd in (to_read, from_write))
        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--user-data-dir=" + os.path.join(folder, "browser"), "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=take_descriptors, close_fds=False)
        os.close(to_read)
        os.close(from_write)
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Network", "Accessibility":
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.buffer:
            got = os.read(self.source, 1 << 16)
            if not got:
                raise EOFError("the browser has ended")
            self.buffer += got
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        return message

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise ValueError(answer["error"])
                return answer["result"]

    def open(self, path):
        self.call("Emulation.setDeviceMetricsOverride", width=1200, height=900,
                  deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url="file://" + path)
        while self.receive().get("method") != "Page.loadEventFired":
            pass

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise ValueError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def key(self, key, **more):
        codes = {"Enter": 13, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37,
                 "ArrowRight": 39, "Escape": 27}
        event = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0])), **more}
        if len(key) == 1:
            event["text"] = key
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1,
                  buttons=0 if kind == "mouseReleased" else 1)

    def boxes(self):
        """Labels of the boxes of the flame graph."""
        return self.run("[...document.querySelectorAll('.box')].map("
                        "(e) => e.getAttribute('aria-label'))")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (EOFError, OSError):
            pass
        self.process.wait(60)
        os.close(self.to)
        os.close(self.source)


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("chromium"):
            raise unittest.SkipTest("no browser (Debian: chromium)")
        cls.folder = tempfile.mkdtemp(prefix="perfmon-page-")
        cls.program = os.path.join(cls.folder, "program")
        with open(cls.program, "wb") as f:
            f.write(crafted_program([f.encode() for f in FUNCTIONS]))
        cls.browser = Browser(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def write(self, name, stacks):
        """A recording of (chain, thread, CPU, number of samples)."""
        made = Chains()
        made.attr()
        made.comm(5, b"work")
        made.map(5, 0x1000, self.program.encode())
        for chain, tid, cpu, n in stacks:
            for _ in range(n):
                made.add(chain, tid, cpu)
        path = os.path.join(self.folder, name)
        made.write(path)
        return path

    def pfm(self, *args):
        done = subprocess.run([PFM, *args], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def open_report(self):
        """The first half of the time is parse's, the second half print's and hash's."""
        self.write("one.data", [((PARSE, MAIN), 5, 0, 500), ((PRINT, MAIN), 6, 1, 300),
                                ((HASH, PRINT, MAIN), 6, 1, 200)])
        self.pfm("report", "--html", "one.html", "one.data")
        self.browser.open(os.path.join(self.folder, "one.html"))

    def test_the_flame_graph_has_the_shares_of_the_report(self):
        self.open_report()
        labels = self.browser.boxes()
        for wanted in ("main (program): 100.00 %, 1000.0 ms", "parse (program): 50.00 %, 500.0 ms",
                       "print<int> (program): 50.00 %", "hash</script> (program): 20.00 %"):
            self.assertTrue(any(label.startswith(wanted) for label in labels), (wanted, labels))
        self.assertIn("one.data: 1000 samples in",
                      self.browser.run("document.getElementById('about').textContent"))

    def test_a_selection_of_time_filters_everything(self):
        self.open_report()
        left, top, scale = self.browser.run(
            "(() => { const c = document.getElementById('timeline'), b = c.getBoundingClientRect();"
            "return [b.left + LABEL_WIDTH, b.top, c.scaleOfTime]; })()")
        half = scale * 499500
        self.browser.mouse("mousePressed", left + 1, top + 5)
        self.browser.mouse("mouseMoved", left + half / 2, top + 5)
        self.browser.mouse("mouseReleased", left + half, top + 5)
        selected = self.browser.run("document.getElementById('selection').textContent")
        self.assertRegex(selected, r"^(49\d|500) samples of 0\.0\d+ s to 0\.[45]\d+ s$")
        self.assertFalse([b for b in self.browser.boxes() if b.startswith("print")])
        self.browser.run("document.getElementById('tab-table').click()")
        rows = self.browser.run("document.getElementById('rows').innerText")
        self.assertIn("parse", rows)
        self.assertNotIn("hash", rows)
        self.browser.run("document.getElementById('tab-tree').click()")
        self.assertNotIn("print", self.browser.run("document.getElementById('calltree').innerText"))
        self.browser.key("Escape")
        self.assertEqual(self.browser.run("document.getElementById('selection').textContent"),
                         "1,000 samples of all of the time")

    def test_a_lane_filters_by_thread_and_by_cpu(self):
        self.open_report()
        for lanes in "threads", "cpus":
            self.browser.run("{ const s = document.getElementById('lanes'); s.value = '%s';"
                             "s.dispatchEvent(new Event('change')); }" % lanes)
            self.browser.run("document.getElementById('timeline').focus()")
            self.browser.key("ArrowDown")
            self.browser.key("ArrowDown")
            labels = self.browser.boxes()
            self.assertEqual(len(labels), 4 if any("hash" in b for b in labels) else 3, labels)
            self.assertRegex(self.browser.run("document.getElementById('selection').textContent"),
                             "^500 samples of all of the time, " +
                             ("(work 5|:6 6)$" if lanes == "threads" else "CPU [01]$"))
            self.browser.key("Escape")

    def test_search_zoom_and_inverted_by_keyboard_alone(self):
        self.open_report()
        self.browser.run("document.activeElement.blur()")
        self.browser.key("/")
        for letter in "hash":
            self.browser.key(letter)
        self.assertEqual(self.browser.run("document.getElementById('matched').textContent"),
                         '20.00 % in stacks with "hash"')
        self.assertEqual(self.browser.run("document.querySelectorAll('.box.match').length"), 1)
        self.browser.key("Escape")
        self.browser.run("document.querySelector('.box[tabindex=\"0\"]').focus()")
        for key in "ArrowDown", "ArrowDown", "ArrowRight", "Enter":
            self.browser.key(key)
        label = self.browser.run("document.activeElement.getAttribute('aria-label')")
        self.assertTrue(label.startswith("print<int>"), label)
        self.assertFalse([b for b in self.browser.boxes() if b.startswith("parse")])
        self.browser.run("document.getElementById('inverted').click()")
        level = self.browser.run("[...document.querySelectorAll('.box[aria-level=\"2\"]')].map("
                                 "(e) => e.textContent).sort()")
        self.assertEqual(level, ["hash</script>", "parse", "print<int>"])

    def test_the_call_tree_opens_by_arrows(self):
        self.open_report()
        self.browser.run("document.getElementById('tab-tree').click();"
                         "document.querySelector('.branch').focus()")
        text = "[...document.querySelectorAll('.branch .name')].map((e) => e.textContent)"
        self.browser.key("ArrowLeft")
        self.assertEqual(self.browser.run(text), ["main"])
        self.browser.key("ArrowRight")
        self.assertEqual(sorted(self.browser.run(text)), ["main", "parse", "print<int>"])
        self.browser.key("ArrowDown")
        self.assertIn(self.browser.run("document.activeElement.querySelector('.name').textContent"),
                      ("parse", "print<int>"))

    def test_the_accessibility_tree_has_names_and_roles(self):
        self.open_report()
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        found = {(n["role"]["value"], n.get("name", {}).get("value")) for n in nodes
                 if not n.get("ignored")}
        for wanted in (("tab", "Flame graph"), ("tab", "Functions"), ("tab", "Call tree"),
                       ("tree", "Flame graph"), ("searchbox", "Search")):
            self.assertIn(wanted, found)
        self.assertTrue(any(role == "treeitem" and name.startswith("parse") for role, name in found
                            if name))
        self.assertTrue(any(name and name.startswith("Timeline of 2 threads") for _, name in found))
        unnamed = [role for role, name in found
                   if role in ("button", "tab", "combobox", "checkbox", "searchbox") and not name]
        self.assertEqual(unnamed, [])

    def test_nothing_is_fetched(self):
        self.browser.requests.clear()
        self.open_report()
        self.browser.run("document.getElementById('tab-table').click()")
        others = [url for url in self.browser.requests if not url.startswith("file://")]
        self.assertEqual(others, [])
        self.assertEqual(len(self.browser.requests), 1)

    def test_dark_differs_from_light(self):
        self.open_report()
        colour = "getComputedStyle(document.body).backgroundColor"
        before = self.browser.run(colour)
        self.browser.run("document.getElementById('theme').click()")
        self.assertNotEqual(self.browser.run(colour), before)

    def test_a_comparison_marks_what_changed(self):
        draw = random.Random(1)
        sides = {"a": 1, "b": 1.5}
        for side, slower in sides.items():
            for run in range(4):
                self.write("%s%d.data" % (side, run),
                           [((PARSE, MAIN), 5, 0, int(500 * slower) + draw.randrange(10)),
                            ((PRINT, MAIN), 5, 0, 500 + draw.randrange(10)),
                            ((HASH, MAIN), 5, 0, 500 + draw.randrange(10))])
        paths = [["%s%d.data" % (side, i) for i in range(4)] for side in sides]
        self.pfm("diff", "--normalize", "count", "--html", "diff.html", *paths[0], "--", *paths[1])
        self.browser.open(os.path.join(self.folder, "diff.html"))
        labels = self.browser.boxes()
        self.assertTrue(any(b.startswith("parse (program): 4") and " after 3" in b for b in labels),
                        labels)
        colours = self.browser.run("Object.fromEntries([...document.querySelectorAll('.box')].map("
                                   "(e) => [e.textContent, e.style.background]))")
        self.assertIn("hsl(5 ", colours["parse"])
        self.assertEqual(colours["print<int>"], "var(--same)")
        self.browser.run("document.getElementById('tab-table').click()")
        rows = self.browser.run("document.getElementById('rows').innerText").splitlines()
        self.assertRegex(rows[0], r"^parse\tprogram\t★ \+")
        self.assertIn("old: 4 recordings", self.browser.run(
            "document.getElementById('about').textContent"))

    def test_losses_are_at_the_head(self):
        made = Chains()
        made.attr()
        made.comm(5, b"work")
        made.map(5, 0x1000, self.program.encode())
        made.add((PARSE, MAIN))
        made.record(2, struct.pack("<QQ", 1, 77) + made.trailer(5))
        made.write(os.path.join(self.folder, "lost.data"))
        subprocess.run([PFM, "report", "--html", "lost.html", "lost.data"], cwd=self.folder,
                       check=True, capture_output=True, timeout=60)
        self.browser.open(os.path.join(self.folder, "lost.html"))
        self.assertIn("77", self.browser.run("document.querySelector('#about .loss').textContent"))

    def test_source_stands_beside_the_instructions_that_have_the_samples(self):
        compiler = os.environ.get("CC", "cc").split()[-1]
        if not shutil.which("objdump") or not shutil.which(compiler):
            self.skipTest("no compiler, or no objdump (Debian: binutils)")
        source, library = (os.path.join(self.folder, n) for n in ("spin.c", "spin.so"))
        with open(source, "w", encoding="ascii") as f:
            f.write("int spin(int n)\n{\n\tint sum = 0;\n\tfor (int i = 0; i < n; i++)\n"
                    "\t\tsum ^= i * 7919;\n\treturn sum;\n}\n")
        subprocess.run([compiler, "-g", "-O0", "-shared", "-fPIC", "-o", library, source],
                       check=True, timeout=60)
        listing = subprocess.run(["objdump", "-dl", "--no-show-raw-insn", "--disassemble=spin",
                                  library], capture_output=True, text=True, check=True).stdout
        line, address = 0, None
        for text in listing.splitlines():
            if "spin.c:5" in text:
                line = 5
            elif line == 5 and text.startswith(" "):
                address = int(text.split(":")[0], 16)
                break
        made = Chains()
        made.attr()
        made.comm(5, b"work")
        ip = 0x100000 + address - 0x1000
        made.map(5, 0x100000, library.encode())  # from offset 0x1000 on
        for _ in range(30):
            made.time += 1000000
            made.record(9, struct.pack("<QIIQIIQQQQ", ip, 5, 5, made.time, 0, 0, 1000000, 2, USER,
                                       ip))
        made.write(os.path.join(self.folder, "spin.data"))
        self.pfm("report", "--html", "spin.html", "spin.data")
        self.browser.open(os.path.join(self.folder, "spin.html"))
        self.browser.run("document.getElementById('tab-source').click()")
        self.assertRegex(self.browser.run("document.getElementById('hot-lines').innerText"),
                         r"^100\.00 % .*spin\.c:5$")
        rows = self.browser.run("[...document.querySelectorAll('#code-rows tr')].map("
                                "(r) => [...r.children].map((c) => c.textContent))")
        self.assertIn(["100.00", "5", "                sum ^= i * 7919;"],
                      [r[:3] for r in rows])
        self.assertEqual([r[4] for r in rows if len(r) > 4 and r[3]], ["%x" % address])
        self.browser.run("selectTime(0, 10)")
        self.assertRegex(self.browser.run("document.getElementById('hot-lines').innerText"),
                         "^100.00 %")

    def test_code_without_names_is_one_box(self):
        made = Chains()
        made.attr()
        made.comm(5, b"work")
        made.map(5, 0x1000, b"/nonexistent/program")
        for i in range(30):
            made.add((i, i + 1, i + 2))
        made.write(os.path.join(self.folder, "bare.data"))
        subprocess.run([PFM, "report", "--html", "bare.html", "bare.data"], cwd=self.folder,
                       check=True, capture_output=True, timeout=60)
        self.browser.open(os.path.join(self.folder, "bare.html"))
        self.assertEqual([b.split(":")[0] for b in self.browser.boxes()],
                         ["all", "[program] (program)"])

    def test_intervals_are_counts_over_time(self):
        self.pfm("stat", "-I", "20", "--html", "counts.html", "-o", "counts.txt", "-e",
                 "page-faults,task-clock", "--", sys.executable, "-c",
                 "for i in range(40): bytearray(1 << 20)")
        self.browser.open(os.path.join(self.folder, "counts.html"))
        rows = self.browser.run("[...document.querySelectorAll('#counter-rows tr')].map("
                                "(r) => [...r.children].map((c) => c.textContent))")
        self.assertEqual([r[0] for r in rows], ["page-faults", "task-clock"])
        lines = [json.loads(x) for x in self.browser.run(
            "JSON.stringify(data.intervals)").replace("},{", "}\n{").strip("[]").splitlines()]
        faults = sum(x["value"] or 0 for x in lines if x["event"] == "page-faults")
        self.assertEqual(int(rows[0][1].replace(",", "")), faults)
        self.assertRegex(self.browser.run(
            "document.getElementById('timeline').getAttribute('aria-label')"),
            "^Timeline of 2 counts")
        self.browser.run("selectTime(0, 1)")
        self.assertEqual(self.browser.run(
            "document.querySelector('#counter-rows td:nth-child(2)').textContent"), "")

    def test_recorded_metrics_are_over_time(self):
        """Page faults of each second, in the first half and in the second, which has none."""
        done = subprocess.run(
            [PFM, "record", "-M", "software::faults_per_second", "-c", "1000000", "-o", "m.data",
             "--", sys.executable, "-c",
             "for i in range(300): bytearray(1 << 20)\nfor i in range(3000000): pass"],
            cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode or "no samples" in done.stderr:
            self.skipTest(done.stderr)
        self.pfm("report", "--html", "m.html", "m.data")
        self.browser.open(os.path.join(self.folder, "m.html"))
        slices = json.loads(self.browser.run("JSON.stringify(data.recordings[0].slices)"))
        values = [s["metrics"][0]["value"] for s in slices]
        self.assertEqual({s["metrics"][0]["metric"] for s in slices}, {"faults_per_second"})
        known = [v for v in values if v is not None]
        self.assertGreater(len(known), len(values) / 2)
        self.assertGreater(known[0], 10 * (known[-1] + 1))
        read = ("[...document.querySelectorAll('#counter-rows tr')].map("
                "(r) => [...r.children].map((c) => c.textContent)).filter("
                "(r) => r[0] === 'faults_per_second')")
        self.browser.run("document.getElementById('tab-counters').click()")
        (row,) = self.browser.run(read)
        self.assertRegex(row[2], r"^[0-9.]+ [kMG]? ?/s$|^[0-9.]+ ?/s$")
        self.assertIn("faults_per_second", self.browser.run(
            "JSON.stringify(makeCounters(50).map((c) => c.label))"))
        self.browser.run("selectTime(0.9 * span, span)")
        self.assertNotEqual(self.browser.run(read)[0][2], row[2])

    def test_regions_are_boxes(self):
        rows = [{"process": 7, "program": "work",
                 "events": [{"event": "task-clock", "unit": "msec"}]}]
        for name, parent, own in (("step", None, 1), ("solve", "step", 3), ("norm", "solve", 4)):
            rows += [{"region": name, "parent": parent, "thread": thread, "process": 7,
                      "wall_ns": {"exclusive": own * 1000000},
                      "counts": [{"event": "task-clock", "exclusive": 2000000 * own,
                                  "quality": "exact"}]} for thread in ("all", 7)]
        self.open_report()
        made = self.browser.run(
            "(() => { const r = makeRegionRecording(%s); return [r.about, r.functions.map("
            "(f) => f[0]), r.nodes.up, r.samples.weight, r.events.map((e) => e.unit)]; })()"
            % json.dumps(rows))
        self.assertEqual(made, ["3 regions in 1 thread; counts are exact",
                                ["step", "solve", "norm"], [1, 1, 1],
                                [1e6, 2e6, 3e6, 6e6, 4e6, 8e6], ["nanoseconds"] * 2])

    def test_options_that_exclude_a_page_are_refused(self):
        path = self.write("one.data", [((PARSE, MAIN), 5, 0, 5)])
        for args, said in ((["--html", "x.html", "--json"], "cannot be combined"),
                           (["--html", "x.html", "-g"], "combine it with --event alone"),
                           (["--html", "/nonexistent/x.html"], "/nonexistent/x.html: ")):
            done = subprocess.run([PFM, "report", *args, path], cwd=self.folder,
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    tap.main()
