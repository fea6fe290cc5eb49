# SPDX-License-Identifier: MIT
"""libperfmon-profile, by its Python module and the example in C: crafted recordings, whose sums are
computed here; a program that was recorded, whose functions and stacks are compared with perf's and
with those of the command.

    PFM  the command (default: pfm of the path)
"""
import collections
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ["PERFMON_BUILD"]
SOURCE = os.environ["PERFMON_SOURCE"]
sys.path.insert(0, os.path.join(BUILD, "python"))
sys.dont_write_bytecode = True
import tap  # noqa: E402
from test_record import PFM, crafted_program  # noqa: E402
from test_report import FUNCTIONS, drawn, write  # noqa: E402

try:
    import perfmon
except ImportError:
    perfmon = None

# few() is inlined into many(); each of the others has a frame.
PROGRAM = """
volatile unsigned long sink;
static inline __attribute__((always_inline)) void few(void) { for (unsigned long i = 0; i < 1000; i++) sink += i; }
__attribute__((noinline)) void many(void) { for (int i = 0; i < 20000; i++) few(); }
__attribute__((noinline)) void some(void) { for (unsigned long i = 0; i < 8000000; i++) sink += i; }
__attribute__((noinline)) void both(void) { many(); some(); sink++; }
int main(void) { for (int i = 0; i < 4; i++) both(); return 0; }
"""


@unittest.skipUnless(perfmon, "the Python module is not built (Debian package python3-cffi)")
class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="perfmon-profile-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)

    def run_program(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class Crafted(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        program = os.path.join(cls.folder, "program")
        with open(program, "wb") as f:
            f.write(crafted_program([name.encode() for name in FUNCTIONS]))
        cls.path = os.path.join(cls.folder, "perf.data")
        cls.samples = drawn(3000, 2)
        write(cls.path, program, cls.samples)

    def test_functions_have_their_weights(self):
        own, children, counts = collections.Counter(), collections.Counter(), collections.Counter()
        for s in self.samples:
            own[s.stack[-1]] += s.weight
            counts[s.stack[-1]] += 1
            for f in set(s.stack):
                children[f] += s.weight
        total = sum(own.values())
        table = perfmon.profile(self.path).functions()
        self.assertEqual([f.function for f in table], [FUNCTIONS[f] for f, _ in own.most_common()])
        for f in table:
            n = FUNCTIONS.index(f.function)
            share = own[n] / total
            self.assertEqual((f.self_weight, f.self_samples, f.children_weight),
                             (own[n], counts[n], children[n]))
            self.assertAlmostEqual(f.self_share, share)
            self.assertAlmostEqual(f.self_error, math.sqrt(share * (1 - share) / len(self.samples)))
            self.assertTrue(f.object.endswith("/program"))

    def test_stacks_with_labels(self):
        want = collections.Counter()
        for s in self.samples:
            want[s.pid, s.cpu, "/seven" if s.cgroup == 7 else "[cgroup 9]",
                 tuple(FUNCTIONS[f] for f in s.stack)] += s.weight
        stacks = perfmon.profile(self.path, labels=("thread", "cpu", "cgroup")).stacks()
        got = {(s.pid, s.cpu, s.cgroup, tuple(f.function for f in reversed(s.frames))): s.weight
               for s in stacks}
        self.assertEqual(got, want)
        self.assertEqual(len(stacks), len(want))
        self.assertEqual({(s.task, s.tid) for s in stacks}, {("task5", 5), ("task6", 6)})

    def test_filters_choose_samples(self):
        start = self.samples[0].time
        for options, wanted in (({"task": "task5"}, lambda s: s.pid == 5),
                                ({"symbol": "f[12]"}, lambda s: FUNCTIONS[s.stack[-1]] in
                                 ("f1", "f2")), ({"start": 0.5, "end": 1.25}, lambda s: 0.5 <=
                                                 (s.time - start) / 1e9 < 1.25),
                                ({"event": "nothing"}, lambda s: False)):
            (event,) = perfmon.profile(self.path, **options).events
            self.assertEqual(event.samples, sum(map(wanted, self.samples)), options)

    def test_functions_need_no_stacks(self):
        counts = collections.Counter(FUNCTIONS[s.stack[-1]] for s in self.samples)
        table = perfmon.profile(self.path, stacks=False, lines=False).functions()
        self.assertEqual({f.function: f.self_samples for f in table}, counts)
        self.assertTrue(all(f.self_weight == f.children_weight for f in table))

    def test_folded_is_that_of_export(self):
        exported = self.run_program(PFM, "export", "-f", "folded", self.path)
        self.assertEqual(sorted(perfmon.profile(self.path).folded().splitlines()),
                         sorted(exported.splitlines()))

    def test_report_has_the_same_sums(self):
        for options, command in (({}, ["--children"]), ({"stacks": False, "lines": False}, [])):
            rows = [
                json.loads(line) for line in self.run_program(
                    PFM, "report", "--json", "--sort", "symbol", *command, self.path).splitlines()
            ]
            got = {
                f.function: (f.self_samples, f.self_weight)
                for f in perfmon.profile(self.path, **options).functions()
            }
            self.assertEqual(
                {f: n for f, n in got.items() if n[0]},
                {r["function"]: (r["samples"], r["weight"]) for r in rows if r["samples"]})

    def test_boxes_of_the_flame_graph_add_up(self):
        graph = perfmon.profile(self.path).flame_graph(title="a & b")
        root = xml.etree.ElementTree.fromstring(graph.svg)
        boxes = [g for g in root.iter("{http://www.w3.org/2000/svg}g")]
        total, depth = sum(s.weight for s in self.samples), max(len(s.stack) for s in self.samples)
        height = int(root.get("height"))
        for g in boxes:
            rect, level = g.find("{*}rect"), int(g.get("data-d"))
            # The positions that the script computes are in the file.
            self.assertAlmostEqual(float(rect.get("x")), 1200 * float(g.get("data-x")), delta=0.01)
            self.assertEqual(int(rect.get("y")), height - 10 - (level + 1) * 17)
            self.assertLessEqual(level, depth)
        tasks = {
            g.find("{*}title").text.split(",")[0]: float(g.get("data-w")) for g in boxes
            if g.get("data-d") == "0"
        }
        for pid in (5, 6):
            self.assertAlmostEqual(tasks["task%d" % pid],
                                   sum(s.weight for s in self.samples if s.pid == pid) / total,
                                   places=6)
        self.assertIn("srcdoc=", graph._repr_html_())
        self.assertIs(graph._repr_svg_(), graph.svg)

    def test_tables_have_their_columns(self):
        profile = perfmon.profile(self.path)
        table = profile.functions()
        self.assertIn("<td style=\"text-align:right\">%d</td>" % table[0].self_samples,
                      profile._repr_html_())
        self.assertEqual(table.columns()["function"], [f.function for f in table])
        self.assertEqual(len(table[:2]), 2)
        stack = profile.stacks()[0]
        self.assertEqual(profile.stacks().records()[0]["stack"],
                         ";".join(f.function for f in reversed(stack.frames)))
        self.assertIn("<table>", profile.stacks()._repr_html_())
        try:
            import pandas
        except ImportError:
            return
        self.assertEqual(list(pandas.DataFrame(table)["function"]), [f.function for f in table])

    def test_examples_print_functions(self):
        """The programs of examples/ print the functions of the module."""
        rows = [
            "%6.2f%% +-%5.2f %6.2f%%  %s  (%s)" %
            (100 * f.self_share, 100 * f.self_error, 100 * f.children_share, f.function, f.object)
            for f in perfmon.profile(self.path).functions()
        ]
        program = os.path.join(BUILD, "examples/example_hot_functions")
        if os.path.exists(program):    # not with static libraries
            self.assertEqual(self.run_program(program, self.path, "3").splitlines()[1:], rows[:3])
        done = subprocess.run([
            sys.executable,
            os.path.join(SOURCE, "examples/hot_functions.py"), self.path, "graph.svg"
        ], cwd=self.folder, env=dict(os.environ, PYTHONPATH=os.path.join(BUILD, "python")),
                              capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(done.stdout.splitlines(), rows)
        self.assertEqual(
            xml.etree.ElementTree.parse(os.path.join(self.folder, "graph.svg")).getroot().tag[-3:],
            "svg")

    def test_wrong_recordings_are_refused(self):
        with self.assertRaises(perfmon.SystemCallError):
            perfmon.profile("/nonexistent")
        with self.assertRaises(perfmon.PerfmonError):
            perfmon.profile(__file__)
        profile = perfmon.profile(self.path)
        for call in (lambda: perfmon.profile(self.path, labels=["colour"]),
                     lambda: profile.functions("nothing"), profile.update,
                     lambda: perfmon.profile(self.path, start=-1)):
            with self.assertRaises(ValueError):
                call()
        with self.assertRaises(IndexError):
            profile.folded(1)

    def test_a_recording_that_breaks_off(self):
        with open(self.path, "rb") as f:
            data = f.read()
        part = os.path.join(self.folder, "part.data")
        with open(part, "wb") as f:
            f.write(data[:len(data) // 2])
        profile = perfmon.profile(part)
        self.assertTrue(profile.losses.damaged)
        self.assertFalse(profile.losses.complete)
        self.assertTrue(0 < profile.events[0].samples < len(self.samples))
        self.assertIn("recording: damaged", profile.folded())


class Recorded(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(os.path.join(cls.folder, "program.c"), "w", encoding="ascii") as f:
            f.write(PROGRAM)
        cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if not cc:
            raise unittest.SkipTest("no C compiler (Debian package gcc)")
        subprocess.run([cc, "-g", "-O0", "-fno-omit-frame-pointer", "-o", "program", "program.c"],
                       cwd=cls.folder, check=True)
        cls.path = os.path.join(cls.folder, "perf.data")
        done = subprocess.run([
            PFM, "record", "-g", "-e", "task-clock:u:period=1000000", "-o", cls.path, "--",
            "./program"
        ], cwd=cls.folder, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise unittest.SkipTest(done.stderr)

    def perf_stacks(self):
        """The stacks of perf script, each with the innermost function first."""
        if not shutil.which("perf"):
            self.skipTest("perf is not installed (Debian package linux-perf)")
        out = self.run_program("perf", "script", "-i", self.path, "--no-inline", "-F",
                               "event,ip,sym")
        return [
            re.findall(r"(?m)^\s+[0-9a-f]+ (\S+)", block) for block in re.split(r"\n\n", out)
            if block.strip()
        ]

    def test_functions_are_those_of_perf(self):
        stacks = self.perf_stacks()
        self.assertGreater(len(stacks), 50)
        own = collections.Counter(s[0] for s in stacks)
        children = collections.Counter(f for s in stacks for f in set(s))
        table = {f.function: f for f in perfmon.profile(self.path, lines=False).functions()}
        for name in ("many", "some", "both", "main"):
            self.assertEqual((table[name].self_samples, table[name].children_samples),
                             (own[name], children[name]), name)
        self.assertEqual(sum(f.self_samples for f in table.values()), len(stacks))

    def test_shares_are_those_of_perf_report(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed (Debian package linux-perf)")
        out = self.run_program("perf", "report", "-i", self.path, "--stdio", "--no-children", "-g",
                               "none", "--sort", "symbol")
        shares = {m[2]: float(m[1]) for m in re.finditer(r"(?m)^ +(\d+\.\d+)% +\[\.\] (\w+)", out)}
        table = {f.function: f for f in perfmon.profile(self.path, lines=False).functions()}
        for name in ("many", "some"):
            self.assertAlmostEqual(100 * table[name].self_share, shares[name], delta=0.01)

    def test_inlined_functions_are_in_stacks(self):
        if "libdw is missing" in " ".join(perfmon.profile(self.path).messages):
            self.skipTest("libdw is missing (Debian package libdw1)")
        profile = perfmon.profile(self.path)
        stack = max((s for s in profile.stacks() if s.frames[0].function == "few"),
                    key=lambda s: s.weight)
        self.assertEqual([f.function for f in stack.frames][:4], ["few", "many", "both", "main"])
        self.assertTrue(stack.frames[0].flags & perfmon.FrameFlag.INLINED)
        self.assertFalse(stack.frames[1].flags)
        self.assertRegex(stack.frames[0].source, r"program\.c:3$")
        self.assertEqual(stack.frames[1].source, "")
        self.assertRegex(stack.frames[2].source, r"program\.c:6$")
        exported = self.run_program(PFM, "export", "-f", "folded", self.path)
        self.assertEqual(sorted(profile.folded().splitlines()), sorted(exported.splitlines()))

    def test_functions_have_the_build_id_of_their_file(self):
        notes = self.run_program("readelf", "-n", "program") if shutil.which("readelf") else ""
        found = re.search(r"Build ID: ([0-9a-f]+)", notes)
        if not found:
            self.skipTest(
                "readelf is missing (Debian package binutils), or programs have no build id")
        self.assertEqual(
            {
                f.build_id
                for f in perfmon.profile(self.path).functions() if f.object.endswith("/program")
            }, {found[1]})

    def test_symbols_of_a_file(self):
        if not shutil.which("nm"):
            self.skipTest("nm is missing (Debian package binutils)")
        path = os.path.join(self.folder, "program")
        symbols = perfmon.Symbols()
        starts = {
            m[2]: int(m[1], 16)
            for m in re.finditer(r"(?m)^([0-9a-f]+) T (\w+)$", self.run_program("nm", path))
        }
        with open(path, "rb") as f:
            size = len(f.read())
        found = {
            s.function: s
            for s in (symbols.find_in_file(path, offset) for offset in range(0, size, 4)) if s
        }
        for name in ("many", "some", "both", "main"):
            self.assertEqual(found[name].start, starts[name])
        self.assertIsNone(symbols.find_in_file(path, size + 4096))

    def test_a_session_that_runs(self):
        session = perfmon.Session(
            ["task-clock:u:period=1000000"],
            sampling=perfmon.Sampling(records=perfmon.Sideband.MAPS | perfmon.Sideband.COMM
                                      | perfmon.Sideband.TASKS | perfmon.Sideband.BUILD_ID))
        for count in session.plan():
            if count.why:
                self.skipTest(count.why)
        profile = perfmon.profile(session)
        session.start()
        for i in range(3000000):
            pass
        session.stop()
        self.assertGreater(profile.update(), 0)
        self.assertGreater(profile.events[0].samples, 5)
        table = profile.functions()
        self.assertEqual(sum(f.self_samples for f in table), profile.events[0].samples)
        # The interpreter, which was mapped before the session began.
        self.assertTrue(any(os.path.exists(f.object) for f in table), list(table))
        profile.clear()
        self.assertEqual(profile.events[0].samples, 0)
        session.close()
        self.assertEqual(profile.events[0].unit, "nanoseconds")


if __name__ == "__main__":
    tap.main()
