#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Metrics from end to end: a list's formula, the parser, the postfix code, the library's machine.

The formulas of an invented processor are checked against Python's own arithmetic. Those of Intel's
lists are checked against independently computed values (vectors/metrics_public.jsonl), if the lists
are installed.
"""

import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import types
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import SHARED, main  # noqa: E402

PFM, PMUC = os.environ["PFM"], os.environ["PERFMON_PMUC"]
sys.path.insert(0, os.path.dirname(PMUC))
sys.dont_write_bytecode = True
from vendors import intel_small_core  # noqa: E402
from language import formulas  # noqa: E402
from vendors.untrusted import RefusedValue  # noqa: E402

HEAD = """pmu invented "invented"
encoder format
source "invented for tests"
counter 0..3 width=48
field code at=config:0-7
field cmask at=config:24-31
field edge at=config:18
modifier cmask
modifier edge
event A code=1 "a"
event B code=2 "b"
event C.D code=3 "c"
"""
NAMES = {"A": 0, "B": 1, "C.D": 2}


def compile_text(text, folder):
    source, image = os.path.join(folder, "x.pmu"), os.path.join(folder, "x.pmdb")
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    done = subprocess.run([sys.executable, PMUC, "--image", image, source], capture_output=True,
                          text=True)
    return image, done.stderr


def ask(image, requests):
    lines = "".join(json.dumps(r) + "\n" for r in requests)
    done = subprocess.run([PFM, "metric", "--json", "-"], input=lines, capture_output=True,
                          text=True, env={"PERFMON_EVENTS": image, "PATH": os.environ["PATH"]})
    return [json.loads(line) for line in done.stdout.splitlines()]


def formula(rng, depth):
    """A random formula, in our grammar and in Python's."""
    if depth == 0 or rng.random() < 0.15:
        leaf = rng.choice(
            ["A", "B", "C.D", "#smt_on",
             "%d" % rng.randrange(9),
             "%g" % rng.uniform(0, 3)])
        return leaf, leaf.replace("C.D", "CD").replace("#smt_on", "smt")
    kind = rng.choice(["+", "-", "*", "/", "if", "min", "max", "neg", "d_ratio"])
    (a, pa), (b, pb), (c, pc) = (formula(rng, depth - 1) for _ in range(3))
    if kind == "if":
        op = rng.choice(["<", ">", "<=", ">=", "==", "!="])
        return ("(%s if %s %s %s else %s)" % (a, b, op, c, a + " + 1"),
                "(%s if (%s) %s (%s) else (%s) + 1)" % (pa, pb, op, pc, pa))
    if kind == "neg":
        return "(-(%s))" % a, "(-(%s))" % pa
    if kind in ("min", "max", "d_ratio"):
        return "%s(%s, %s)" % (kind, a, b), "%s(%s, %s)" % (kind, pa, pb)
    return "((%s) %s (%s))" % (a, kind, b), "((%s) %s (%s))" % (pa, kind, pb)



class Plausibility(unittest.TestCase):
    def test_an_impossible_value_is_marked(self):
        given = {"BR_MISP_RETIRED.ALL_BRANCHES": 200, "BR_INST_RETIRED.ALL_BRANCHES": 100}
        done = subprocess.run([PFM, "metric", "--pmu", "skl", "branch_miss_share",
                               *("%s=%d" % c for c in given.items())], capture_output=True,
                              text=True, check=True)
        self.assertIn("200 %  outside its range: ", done.stdout)
        done = subprocess.run([PFM, "metric", "--json", "-"], capture_output=True, text=True,
                              check=True, input=json.dumps({"pmu": "skl", "counts": given,
                                                            "metric": "branch_miss_share"}))
        self.assertEqual(json.loads(done.stdout)["implausible"], "outside its range")

    def test_counts_have_64_bits(self):
        for count in (-1, 1e23):
            done = subprocess.run([PFM, "metric", "--json", "-"], capture_output=True, text=True,
                                  check=False, input=json.dumps({
                                      "pmu": "skl", "metric": "branch_miss_share",
                                      "counts": {"BR_MISP_RETIRED.ALL_BRANCHES": count}}))
            self.assertIn("from 0 to 2^64", json.loads(done.stdout)["error"]["message"])


class Formulas(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def image(self, metrics):
        image, errors = compile_text(HEAD + metrics, self.folder.name)
        self.assertEqual(errors, "")
        return image

    def values(self, metrics, counts, constants=None):
        """Value of each of the metrics."""
        image = self.image("".join('metric M%d metric="%s"\n' % (i, m)
                                   for i, m in enumerate(metrics)))
        return [
            a for a in ask(image, [{
                "id": i, "pmu": "invented", "metric": "M%d" %
                i, "counts": counts, "constants": constants or {}
            } for i in range(len(metrics))])
        ]

    def test_random_formulas_agree_with_python(self):
        rng = random.Random(7)
        made = [formula(rng, rng.randrange(1, 6)) for _ in range(400)]
        env = {"A": 7.0, "B": 0.25, "CD": 3e9, "smt": 1.0, "min": min, "max": max,
               "d_ratio": lambda a, b: a / b if b else 0.0}
        got = self.values([ours for ours, _ in made], {"A": 7, "B": 0.25, "C.D": 3e9},
                          {"HYPERTHREADING_ON": 1})
        undefined = 0
        for (ours, python), answer in zip(made, got):
            try:
                value = eval(python, {}, env)   # noqa: S307 (made here)
            except ZeroDivisionError:
                value = None
            # Python leaves out what is not chosen; so does the library, except that equal parts are
            # computed once.
            if value is None or math.isinf(value) or math.isnan(value):
                undefined += 1
                self.assertIsNone(answer["value"], ours)
            else:
                self.assertIsNotNone(answer["value"], ours)
                self.assertTrue(math.isclose(answer["value"], value, rel_tol=1e-12, abs_tol=1e-300),
                                ours)
        self.assertGreater(undefined, 5)
        self.assertLess(undefined, 300)

    def printed(self, image, n):
        """(formula, threshold) of the metrics M0 ... of an image, as the library prints them."""
        done = subprocess.run([PFM, "show", "--json", *("invented::M%d" % i for i in range(n))],
                              capture_output=True, text=True,
                              env={"PERFMON_EVENTS": image, "PATH": os.environ["PATH"]})
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return [(r["formula"], r.get("threshold", "")) for r in rows]

    def test_printed_formulas_are_the_same_formulas(self):
        """A printed formula, compiled again, has the same text and the same value."""
        rng = random.Random(19)
        made = [formula(rng, rng.randrange(1, 6))[0] for _ in range(60)]
        made += [
            "A & B", "A | B ^ C.D", "A != B", "A == B", "A >= B", "A <= 2", "A % 7", "1e25 * A",
            "-2.5 + A", "0.1 * 1e-9 * A", "1e300", "(A + B) * (A + B) / (A + B)",
            "A:cmask=2 + A:edge=1", "'cpu-clock' - A", "123456789012"
        ]
        lines = [
            'metric M%d metric="%s" metric_threshold="M%d > 1 & A < 5"\n' % (i, m, i)
            for i, m in enumerate(made)
        ]
        counts = {
            "A": 7, "B": 0.25, "C.D": 3e9, "A:cmask=2": 4, "A:edge=1": 5, "software::cpu-clock": 2
        }
        requests = [{
            "id": i, "pmu": "invented", "metric": "M%d" % i, "counts": counts,
            "constants": {"smt_on": 1}
        } for i in range(len(made))]
        image = self.image("".join(lines))
        once, before = self.printed(image, len(made)), ask(image, requests)
        image = self.image("".join('metric M%d metric="%s" metric_threshold="%s"\n' % (i, f, t)
                                   for i, (f, t) in enumerate(once)))
        twice, after = self.printed(image, len(made)), ask(image, requests)
        self.assertEqual(once, twice)
        for i, (a, b) in enumerate(zip(before, after)):
            self.assertEqual(a.get("why"), b.get("why"), made[i])
            self.assertEqual(a["over_threshold"], b["over_threshold"], made[i])
            if a["value"] is not None:
                self.assertTrue(math.isclose(a["value"], b["value"], rel_tol=1e-12),
                                (made[i], once[i]))

    def test_rewritten_formulas_read_back_equal(self):
        """A formula that was written in our grammar is not read again: reading would give the
        same."""
        rng = random.Random(23)
        spelled = {
            "a": "X.Y", "b": "X.Y", "c": "A:cmask=2", "d": "cpu-clock", "e": "4", "f": "0x1F",
            "g": "2.50e3", "h": "if"
        }
        made = [
            "a + b * c", "a - (b - c) - -d", "a / b if c > 1 else d if a else b",
            "min(a, max(b, c)) % (d + 2.50)", "e * a", "d_ratio(a, e)", "f * a + g / 31 - 4 * e",
            *("(a %s (b %s c)) %s d" % tuple(rng.choice("+-*/<>&|^%") for _ in range(3))
              for _ in range(200))
        ]
        for text in made:
            ours = formulas.rewrite_formula(text, "intel", lambda name: spelled.get(name, name))
            read, short = formulas.Parser(ours, "own").parse_all(), formulas.REWRITTEN[ours]
            self.assertEqual((short.code, short.names), (read.code, read.names), ours)
        self.assertIsNone(formulas.REWRITTEN[formulas.rewrite_formula("a * h", "intel",
                                                                        spelled.get)])

    def test_operators_have_the_precedence_of_perf(self):
        got = self.values([
            "1 + 2 * 3", "-2 * 3 - 1", "7 - 2 - 1", "16 / 4 / 2", "1 if 2 < 1 else 5 if 0 else 6",
            "1 < 2 & 3 > 2", "0 | 1 ^ 1", "7 % 4 + 1", "1 + 1 if 1 > 0 & 1 else 9"
        ], {})
        self.assertEqual([a["value"] for a in got], [7, -7, 4, 2, 6, 1, 0, 4, 2])

    def test_undefined_results_have_a_reason(self):
        got = self.values([
            "A / B", "d_ratio(A, B)", "A + C.D", "A if 1 else A / B", "max(A / B, 1)",
            "1e200 * 1e200", "5 % B", "0 & A / B"
        ], {"A": 1, "B": 0})
        self.assertEqual([a["value"] for a in got], [None, 0, None, 1, None, None, None, 0])
        self.assertEqual([a.get("why") for a in got], [
            "division by zero", None, "not counted", None, "division by zero", "out of range",
            "division by zero", None
        ])
        self.assertEqual(got[2]["missing"], "invented::C.D")

    def test_metrics_of_metrics_and_thresholds(self):
        image = self.image(
            'metric IN metric="A / B"\n'
            'metric OUT metric="100 * IN" metric_threshold="OUT > 40 & IN < 2" unit="percent"\n'
            'metric SCALED metric="IN" scale="100" unit="%" metric_threshold="SCALED > 0.4"\n')
        for a, over in ((1, False), (5, True), (90, False)):
            out, scaled = ask(image, [{"metric": m, "pmu": "invented", "counts": {"A": a, "B": 10}}
                                      for m in ("OUT", "SCALED")])
            self.assertAlmostEqual(out["value"], 10 * a)
            self.assertAlmostEqual(scaled["value"], 10 * a)
            self.assertEqual(out["over_threshold"], over if a != 90 else False if 9 >= 2 else True)
            self.assertEqual(scaled["over_threshold"], a > 4)
            self.assertEqual((out["unit"], scaled["unit"]), ("percent", "%"))

    def test_unknown_name_is_refused_by_name(self):
        for text, word in (("A / NOBODY", "NOBODY"), ("#nothing", "#nothing"), ("f(A)",
                                                                                "f"), ("A B", "B"),
                           ("(A", "')'"), ("A +", "the end"), ("A $ B", "$"), ("1e999", "1e999")):
            _, errors = compile_text(HEAD + 'metric M metric="%s"\n' % text, self.folder.name)
            self.assertIn("metric 'M'", errors, text)
            self.assertIn(word, errors, text)
        _, errors = compile_text(HEAD + 'metric M metric="N"\nmetric N metric="M"\n',
                                 self.folder.name)
        self.assertIn("computed from itself", errors)

    def test_ratio_is_one_whose_events_exist(self):
        image = self.image(
            'ratio R metric="A / NOBODY" unit="wrong"\nratio R metric="max(A, B) / C.D"'
            ' unit="right"\nratio R metric="A"\nratio GONE metric="NOBODY"\nratio A metric="B"\n'
        )
        done = subprocess.run([PFM, "list", "--json", "--metrics", "invented::*"],
                              capture_output=True, text=True,
                              env={"PERFMON_EVENTS": image, "PATH": os.environ["PATH"]})
        self.assertEqual([(r["metric"], r["unit"])
                          for r in map(json.loads, done.stdout.splitlines())], [("R", "right")])
        self.assertEqual(
            ask(image, [{"pmu": "invented", "metric": "R", "counts": {"A": 1, "B": 4, "C.D": 2}}
                        ])[0]["value"], 2)
        self.assertIn("ratio takes a name and its formula",
                      compile_text(HEAD + "ratio R unit=x\n", self.folder.name)[1])

    def test_qualifiers_of_lists_and_ours_are_one_event(self):
        image = self.image('metric M metric="A:c2:e1 / A:cmask=2:edge=1"\n')
        shown = subprocess.run([PFM, "show", "invented::M"], capture_output=True, text=True,
                               env={"PERFMON_EVENTS": image, "PATH": os.environ["PATH"]}).stdout
        self.assertIn("A:cmask=2:edge=1", shown)

    def test_the_kernels_name_for_a_core_is_the_core(self):
        """Lists in Linux's form name the PMU as the kernel of that machine does; it is planned on
        any machine."""
        image, errors = compile_text(
            HEAD.replace("encoder", "device cpu_core\nencoder") +
            "".join('metric %s metric="\'%s\' / B"\n' % (name, text)
                    for name, text in (("N", "cpu_core/A,cmask=1/k"), ("ANY", "cpu_core/C.D/"),
                                       ("CPU", "cpu/C.D/"), ("ELSEWHERE", "cpu_atom/C.D/"),
                                       ("LATENCY", "cpu_core/A/R"))), self.folder.name)
        self.assertEqual(errors, "")
        env = {"PERFMON_EVENTS": image, "PATH": os.environ["PATH"]}
        done = subprocess.run([PFM, "plan", "--json", "--bare", "-"],
                              input="invented::N\ninvented::ANY\ninvented::CPU\ninvented::LATENCY\n"
                              "invented::ELSEWHERE\n", capture_output=True, text=True, env=env)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        b = "invented::B"
        self.assertEqual([r.get("groups") for r in rows],
                         [[["invented/A,cmask=1/k", b]], [["invented/C.D/", b]],
                          [["invented/C.D/", b]], [[b]], None])
        # A metric with an event that only that machine's kernel has is refused.
        self.assertEqual(
            rows[-1]["error"]["message"],
            "the metric needs an event that this processor lacks; 'pfm show' lists its events")
        self.assertEqual((rows[-1]["input"], rows[-1]["error"]["at"]),
                         ("invented::ELSEWHERE", [0, 19]))
        answer = ask(
            image,
            [{"pmu": "invented", "metric": "N", "counts": {"cpu_core/A,cmask=1/k": 6, "B": 3}}])
        self.assertEqual(answer[0]["value"], 2)


class Counted(unittest.TestCase):
    """pfm stat computes metrics from what it counts; software events are counted everywhere."""

    def stat(self, *words, check=True, **env):
        done = subprocess.run([PFM, "stat", *words, "--", "true"], capture_output=True, text=True,
                              env=dict(os.environ, **env))
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def test_constants_are_those_of_the_machine_that_is_looked_at(self):
        with tempfile.TemporaryDirectory() as folder:
            image, errors = compile_text(
                HEAD + "".join('metric M%d metric="%s"\n' % (i, name)
                               for i, name in enumerate(("#num_cpus", "#num_cpus_online", "#smt_on",
                                                         "#threads_per_core"))), folder)
            self.assertEqual(errors, "")
            names = ",".join("invented::M%d" % i for i in range(4))
            self.assertIn("need no events",
                          self.stat("-M", names, check=False, PERFMON_EVENTS=image)[1])
            for present, online, smt in (("0-3,8-11", "0,2,8-9", "1"), ("0", "0", "0")):
                for name, text in (("present", present), ("online", online), ("smt/active", smt)):
                    path = os.path.join(folder, "sys/devices/system/cpu", name)
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "w", encoding="utf-8") as f:
                        f.write(text + "\n")
                rows = [
                    json.loads(line) for line in
                    self.stat("--json", "-e", "page-faults", "-M", names, check=False,
                              PERFMON_EVENTS=image, PERFMON_SYSFS=folder)[0].splitlines()
                ]
                values = [r["value"] for r in rows if "metric" in r]
                self.assertEqual(values, [8, 4, 1, 2] if smt == "1" else [1, 1, 0, 1])

    def test_a_metric_equals_its_formula_over_its_counts(self):
        rows = [
            json.loads(line)
            for line in self.stat("--json", "-M", "software::faults_per_second")[0].splitlines()
        ]
        counts = {r["event"]: r["value"] for r in rows if "event" in r}
        metric = next(r for r in rows if "metric" in r)
        self.assertEqual(set(counts), {"software::page-faults", "software::task-clock"})
        self.assertAlmostEqual(
            metric["value"], counts["software::page-faults"] / counts["software::task-clock"] * 1e9,
            delta=1)
        self.assertEqual((metric["unit"], metric["scaled"]), ("/s", False))

    def test_metrics_are_labelled_as_their_counts_are(self):
        text = self.stat("-a", "--per-cpu", "-M", "software::faults_per_second", check=False)[1]
        labels = [
            re.match(r"  CPU (\d+) +\S", line)[1] for line in text.splitlines()
            if "faults_per_second" in line
        ]
        self.assertEqual(labels, [
            re.match(r"  CPU (\d+) +\S", line)[1]
            for line in text.splitlines() if "task-clock" in line
        ])
        self.assertEqual(len(set(labels)), len(labels))
        self.assertEqual(labels[:1], ["0"])

    def test_repetitions_give_an_error(self):
        rows = [
            json.loads(line) for line in self.stat("--json", "-r", "4", "-M",
                                                   "software::faults_per_second")[0].splitlines()
        ]
        metric = next(r for r in rows if "metric" in r)
        self.assertGreater(metric["error"], 0)

    def test_scaled_counts_have_an_error(self):
        """The counts of one run are extrapolated. The error is estimated from slices of its time; a
        run that is too short has an unknown error."""
        shim = os.path.join(os.path.dirname(PFM), "..", "tests", "libshared_counter.so")
        if not os.path.exists(shim):
            self.skipTest("no library to preload")
        busy = (
            "import mmap, time; t = time.time()\nwhile time.time() < t + 1: mmap.mmap(-1, 1 <<"
            " 18).write(b'x' * (1 << 18))"
        )

        def counted(*words):
            done = subprocess.run([
                PFM, "stat", *words, "-M", "software::faults_per_second", "--", sys.executable,
                "-c", busy
            ], capture_output=True, text=True, env=dict(os.environ, LD_PRELOAD=shim))
            return done.stdout or done.stderr
        metric = json.loads(counted("--json").splitlines()[-1])
        if not metric["scaled"]:
            self.skipTest("nothing is preloaded here")
        # Each slice is off by 0.2 / sqrt(3) at the root of its mean square, as numerator and
        # divisor; half of that was seen, and there are 32 to 64 slices.
        self.assertTrue(
            0.25 < metric["error"] / metric["value"] / (0.1155 * 2**0.5 * 0.5**0.5 / 48**0.5) < 4,
            metric)
        self.assertAlmostEqual(metric["value"] - metric["low"], metric["high"] - metric["value"])
        self.assertGreater(metric["high"] - metric["value"], 1.9 * metric["error"])
        self.assertRegex(counted(), r"faults_per_second  \+- [0-9.e+]+  scaled")
        columns = counted("-x", ";").splitlines()[-1].split(";")
        self.assertEqual(columns[-3:-1], ["scaled", ""])
        self.assertTrue(
            0.25 < float(columns[-1]) / float(columns[-5]) /
            (0.1155 * 2**0.5 * 0.5**0.5 / 48**0.5) < 4, columns)
        # An interval has its own error: it has only some of the slices, whose values differ by that
        # much.
        found = [
            r for r in map(json.loads,
                           counted("--json", "-I", "250", "--interval-count", "3").splitlines())
            if "metric" in r
        ]
        self.assertEqual([r["scaled"] for r in found], [True] * 3)
        for r in found[1:]:
            self.assertTrue(
                0.25 < r["error"] / r["value"] / (0.1155 * 2**0.5 * 0.5**0.5 / 22**0.5) < 4, r)
        busy = "pass"
        text = counted("-r", "1")
        self.assertRegex(text, r"faults_per_second  \+- (unknown|[0-9.e+]+)  scaled")

    def test_usual_ratios_without_asking(self):
        text = self.stat("-e", "task-clock,page-faults,minor-faults")[1]
        self.assertRegex(text, r"task-clock .*# [0-9.]+ CPUs used\n")
        # One that no formula begins with, too: how many in a second of the task's time. Nothing is
        # said twice.
        self.assertRegex(text, r"minor-faults .*# [0-9.]+ [KMG]?/s\n")
        self.assertEqual((text.count("CPUs used"), text.count("/s\n")), (1, 2))
        self.assertNotIn("#", self.stat("-e", "task-clock", "--no-ratios")[1])
        self.assertNotIn("#", self.stat("-e", "minor-faults")[1])

    def test_the_details_are_perfs(self):
        """-d and its like count what perf's do, each miss beside what it is a share of."""
        events = [
            json.loads(line)["event"]
            for line in self.stat("--json", "-d", "-d", "-d", check=False)[0].splitlines()
        ]
        for name in ("L1-dcache", "LLC", "L1-icache", "dTLB", "iTLB"):
            self.assertEqual([e for e in events if e.startswith(name + "-load")],
                             [name + "-loads", name + "-load-misses"])

    def test_ratios_are_fields(self):
        """Beside the count that is the numerator, in JSON and in perf's columns."""
        rows = [
            json.loads(line)
            for line in self.stat("--json", "-e", "task-clock,page-faults")[0].splitlines()
        ]
        by = {r["event"]: r for r in rows}
        self.assertEqual([(r["ratio"], r["ratio_unit"]) for r in rows],
                         [("cpus_used", "CPUs used"), ("faults_per_second", "/s")])
        self.assertRegex(
            self.stat("-e", "task-clock,page-faults")[1], r"page-faults .*# [0-9.]+ K/s\n")
        self.assertAlmostEqual(by["page-faults"]["ratio_value"],
                               by["page-faults"]["value"] / by["task-clock"]["value"] * 1e9,
                               delta=1)
        self.assertNotIn("ratio",
                         self.stat("--json", "--no-ratios", "-e", "task-clock,page-faults")[0])
        self.assertNotIn("ratio", self.stat("--json", "-e", "page-faults")[0])
        clock, faults = [
            line.split(";") for line in self.stat("-x", ";", "--no-header", "-e",
                                                  "task-clock,page-faults")[1].splitlines()
        ]
        self.assertEqual((clock[6], faults[6]), ("CPUs used", "/s"))
        self.assertAlmostEqual(float(faults[5]), int(faults[0]) / float(clock[0]) * 1e3, delta=1)
        bare = [
            line.split(";") for line in self.stat("-x", ";", "--no-header", "--no-ratios", "-e",
                                                  "task-clock")[1].splitlines()
        ]
        self.assertEqual((len(bare[0]), bare[0][5:7]), (len(clock), ["", ""]))

    def test_ratios_of_every_family(self):
        """Each processor family has a table of ratios, and all ratios can be planned."""
        tables = [
            o["pmu"] for o in map(
                json.loads,
                subprocess.run([PFM, "list", "--json", "--pmus", "ratios", "--all"],
                               capture_output=True, text=True).stdout.splitlines())
            if o["pmu"].endswith("_ratios")
        ]
        self.assertLessEqual(
            {
                n + "_ratios" for n in ("ev4", "ev5", "pca56", "ev6", "ev67", "coreduo",
                                        "montecito", "intel_arch", "armv8", "amd")
            }, set(tables))
        self.planned([t + "::ratios" for t in tables])

    def planned(self, sets):
        done = subprocess.run([PFM, "plan", "--bare", "--json", "-"], input="\n".join(sets) + "\n",
                              capture_output=True, text=True)
        plans = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([(s, p) for s, p in zip(sets, plans) if not p.get("optimal")], [])
        self.assertEqual(len(plans), len(sets))
        return plans

    def listed(self, *words):
        """PMU -> the names of its metrics."""
        out = {}
        done = subprocess.run([PFM, "list", "--json", "--all", "--metrics", *words],
                              capture_output=True, text=True)
        for o in map(json.loads, done.stdout.splitlines()):
            if "metric" in o:
                out.setdefault(o["pmu"], {})[o["metric"]] = o
        return out

    def test_ratios_of_every_processor(self):
        """Ratios of a processor's own events are in its own table. They name only events that the
        processor has, and can be planned."""
        listed = self.listed()
        ratios = {
            pmu: {n for n, o in metrics.items() if "ratios" in o["groups"]}
            for pmu, metrics in listed.items()
        }
        ratios = {pmu: names for pmu, names in ratios.items() if names}
        self.planned([pmu + "::ratios" for pmu in sorted(ratios)])
        everywhere = {
            "power8", "power9", "power10", "cf_z10", "cf_z16", "ax45", "amdzen1", "amdzen5",
            "amdzen6", "amd64_k8_revb", "cortex_a53", "neoverse_v2", "a64fx", "skl",
            "adl_gracemont", "adl_goldencove", "slm", "bnl", "p6", "core2"
        }
        self.assertEqual({pmu for pmu in everywhere if "ipc" not in listed.get(pmu, ())}, set())
        self.assertLessEqual(
            {"branch_miss_share", "L1D_miss_share", "stalled_frontend", "stalled_backend"},
            ratios["power9"])
        self.assertEqual(ratios["cf_z15"], ratios["cf_z10"])
        self.assertIn("branch_miss_share",
                      ratios["u74"] & ratios["c900_legacy"] & ratios["dubhe_80"])
        self.assertIn("ipc", ratios["cortex_a9"])           # Linux and gator count its clocks
        self.assertGreater(len(ratios), 130)

    def test_values_of_ratios(self):
        """From counts, by hand."""
        made = [("power10", "stalled_backend", {"PM_EXEC_STALL": 30, "PM_RUN_CYC": 120}, 25),
                ("power8", "stalled_frontend", {"PM_GCT_NOSLOT_CYC": 6, "PM_RUN_CYC": 120}, 5),
                ("cf_z14", "L1D_misses_per_insn", {"L1D_DIR_WRITES": 5, "INSTRUCTIONS": 200}, 2.5),
                ("ax45", "ipc", {"inst_count": 3, "cycle_count": 4}, 0.75),
                ("amdzen5", "stalled_frontend", {
                    "de_no_dispatch_per_slot.no_ops_from_frontend": 2, "de_src_op_disp.all": 5,
                    "de_no_dispatch_per_slot.backend_stalls": 2,
                    "de_no_dispatch_per_slot.smt_contention": 1
                }, 20), ("cortex_a5", "branch_miss_share", {"BR_MIS_PRED": 1, "BR_PRED": 8}, 12.5),
                ("slm", "ipc", {"INST_RETIRED.ANY": 6, "CPU_CLK_UNHALTED.CORE": 4}, 1.5)]
        lines = "".join(
            json.dumps({"id": i, "pmu": p, "metric": m, "counts": c}) + "\n"
            for i, (p, m, c, _) in enumerate(made))
        done = subprocess.run([PFM, "metric", "--json", "-"], input=lines, capture_output=True,
                              text=True)
        self.assertEqual([json.loads(line).get("value") for line in done.stdout.splitlines()],
                         [v for _, _, _, v in made])

    def test_ratios_of_a_device(self):
        """Ratios of Alpha's counts, on the model of its device."""
        rows = [
            json.loads(line) for line in self.stat("--json", "--device-model", "ev5", "-e",
                                                   "issues,cycles")[0].splitlines()
        ]
        issues, cycles = rows[0], rows[1]
        self.assertEqual((issues["ratio"], issues["ratio_unit"]), ("ipc", "insn per cycle"))
        self.assertAlmostEqual(issues["ratio_value"], issues["value"] / cycles["value"])

    def test_an_event_named_twice_is_one_count(self):
        rows = [
            json.loads(line) for line in self.stat(
                "--json", "-e", "page-faults,page-faults,task-clock")[0].splitlines()
        ]
        self.assertAlmostEqual(rows[0]["ratio_value"], rows[0]["value"] / rows[2]["value"] * 1e9,
                               delta=1)

    def test_a_metric_among_events(self):
        rows = [
            json.loads(line) for line in self.stat(
                "--json", "-e", "context-switches,software::faults_per_second")[0].splitlines()
        ]
        self.assertEqual([r.get("event", r.get("metric")) for r in rows][0], "context-switches")
        metric = next(r for r in rows if "metric" in r)
        counts = {r["event"]: r["value"] for r in rows if "event" in r}
        self.assertAlmostEqual(
            metric["value"], counts["software::page-faults"] / counts["software::task-clock"] * 1e9,
            delta=1)

    def test_metrics_in_columns(self):
        for more in ([], ["-r", "2"]):
            lines = [
                line.split(";") for line in self.stat(
                    "-x", ";", *more, "-M", "software::faults_per_second")[1].splitlines()
            ]
            self.assertEqual({len(line) for line in lines}, {len(lines[0])})
            metric = lines[-1]
            self.assertEqual((metric[:3], metric[-4:-1]),
                             (["", "", ""], ["/s  faults_per_second", "exact", ""]))
            self.assertGreater(float(metric[-5]), 0)
        done = subprocess.run([PFM, "stat", "-x", ";", "-M", "skx::Info_Thread_IPC", "--", "true"],
                              capture_output=True, text=True)
        self.assertEqual(done.stderr.splitlines()[-1],
                         ";;;;;;Info_Thread_IPC;not counted;not counted;")

    def test_answers_to_requests_have_their_ids(self):
        ids = [1, 0, -3, 2 ** 53 - 1, 1.5, 1e300, "x", None, [1], {"a": "b"}, True]
        lines = "".join(
            json.dumps({"id": i, "pmu": "coreduo", "metric": "ipc"}) + "\n" for i in ids)
        done = subprocess.run([PFM, "metric", "--json", "-"], input=lines, capture_output=True,
                              text=True)
        got = [json.loads(line)["id"] for line in done.stdout.splitlines()]
        self.assertEqual(got, ids)
        self.assertEqual([type(i) for i in got[:6]], [int] * 4 + [float] * 2)

    def test_refusal_points_into_the_text_it_shows(self):
        requests = [{"pmu": "skx", "metric": "Info_Thread_IPCC"}, {"pmu": "nope", "metric": "x"}]
        lines = "".join(json.dumps(r) + "\n" for r in requests)
        done = subprocess.run([PFM, "metric", "--json"], input=lines, capture_output=True,
                              text=True)
        for line, wrong in zip(done.stdout.splitlines(), ("Info_Thread_IPCC", "nope")):
            o = json.loads(line)
            self.assertEqual(o["input"].encode()[slice(*o["error"]["at"])].decode(), wrong)
            self.assertIn('"%s"' % wrong, o["error"]["message"])
        self.assertIn("Info_Thread_IPC",
                      json.loads(done.stdout.splitlines()[0])["error"]["suggest"])
        done = subprocess.run([PFM, "metric", "--pmu", "skx", "Info_Thread_IPCC"],
                              capture_output=True, text=True)
        self.assertIn("\n  skx::Info_Thread_IPCC\n       ^^^^^^^^^^^^^^^^\n", done.stderr)

    def test_counts_that_are_not_needed(self):
        """One may be a name that was mistyped, of an input that has a value without it."""
        counts = ["FRONTEND_RETIRED.MS_FLOWS=3000", "CPU_CLK_UNHALTED.THREAD=2000"]
        for name, value, note in (("latency", "10.5", ""),
                                  ("latncy", "115.71",
                                   "does not need FRONTEND_RETIRED.MS_FLOWS:retire_latncy")):
            constant = "FRONTEND_RETIRED.MS_FLOWS:retire_%s=7" % name
            given = subprocess.run([PFM, "metric", "gnr::Info_Frontend_MS_Latency_Ret", *counts,
                                    constant], capture_output=True, text=True)
            self.assertIn("  %s " % value, given.stdout)
            self.assertIn(note, given.stderr) if note else self.assertEqual(given.stderr, "")
        for other in ("cycles=2", "Cycles=2"):
            twice = subprocess.run(
                [PFM, "metric", "hardware::ipc", "cycles=1", other, "instructions=3"],
                capture_output=True, text=True)
            self.assertEqual((twice.returncode, twice.stdout), (2, ""))
            self.assertIn("ycles is given twice", twice.stderr)

    def test_a_member_that_is_malformed_is_refused(self):
        counts = {"cycles": 2, "instructions": 6}
        for key, wrong in (("pmu", 5), ("list", []), ("counts", []), ("counts", {"cycles": "2"}),
                           ("constants", 5), ("constants", {"#x": True})):
            lines = json.dumps({"metric": "hardware::ipc", "counts": counts, key: wrong})
            done = subprocess.run([PFM, "metric", "--json"], input=lines, capture_output=True,
                                  text=True)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(
                json.loads(done.stdout)["error"]["message"], '^expected an? .* in "%s"$' % key)
        lines = json.dumps({
            "metric": "hardware::ipc", "pmu": None, "counts": dict(counts, branches=None),
            "constants": None
        })
        done = subprocess.run([PFM, "metric", "--json"], input=lines, capture_output=True,
                              text=True)
        self.assertEqual(json.loads(done.stdout)["value"], 3)

    def test_a_name_with_a_processor_is_that_processors(self):
        for pmu in ("hardware", "skx", "coreduo"):
            done = subprocess.run(
                [PFM, "metric", "--pmu", pmu, "hardware::ipc", "cycles=2", "instructions=6"],
                capture_output=True, text=True)
            self.assertEqual((done.stdout, done.stderr), ("ipc  3 insn per cycle\n", ""))

    def test_a_set_that_is_refused_names_its_event(self):
        done = subprocess.run([PFM, "plan", "--pmu", "coreduo", "--json", "-"],
                              input="Mul,Div\nMul,nonsense\nDiv\n", capture_output=True, text=True)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([r.get("input") for r in rows], [None, "nonsense", None])
        said = subprocess.run([PFM, "plan", "--pmu", "coreduo", "-"], input="Mul\nnonsense\n",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        self.assertLess(said.index("group 1"), said.index("nonsense"))

    def test_counters_that_somebody_holds(self):
        """They must be there; what show writes as a list is read as one."""
        def plan(taken, *events, status):
            done = subprocess.run([PFM, "plan", "--json", "--bare", "--taken", taken, *events],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done)
            return done.stderr if status == 2 else json.loads(done.stdout)
        self.assertEqual(plan("0", "coreduo::Uops_Ret", status=0)["counters"], [[1]])
        self.assertEqual(plan("0-2,F0-F2", "skl::UOPS_ISSUED.ANY", status=0)["counters"], [[3]])
        self.assertIn("no free counter",
                      plan("0-1", "coreduo::Uops_Ret", status=1)["error"]["message"])
        for taken, lacks in (("9", "9"), ("0,2-3,F0", "2-3,F0")):
            message = plan(taken, "coreduo::Uops_Ret", status=1)["error"]["message"]
            self.assertEqual(
                message, "--taken %s: unknown counter; the PMUs of these events have 0-1" % lacks)
        # Those of one PMU are no business of another; who has no counters at all lacks none.
        plan("F1", "coreduo::Uops_Ret", "skl::UOPS_ISSUED.ANY", status=0)
        plan("9", "page-faults", status=0)
        for wrong in ("", ",", "3,", ",3", "x", "32", "F32", "3-1", "3-", "-3", "0-F1", "F", "3 4",
                      "0x3", "99999999999999999999"):
            self.assertIn("expected a list of counters such as 0-3,F1",
                          plan(wrong, "coreduo::Uops_Ret", status=2))

    def test_a_reader_sees_what_a_proof_speaks_of(self):
        said = subprocess.run([PFM, "plan", "--bare", "skl::Frontend_Bound"], capture_output=True,
                              text=True).stdout
        n = re.search(r"no plan has fewer: ([0-9]+) events have 1 counter \(F1\) and no other",
                      said)[1]
        self.assertEqual(re.findall(r"^  (\S+) .*  \*$", said, re.M), ["F1"] * int(n))
        self.assertIn("\n* the events of this proof\n", said)
        self.assertNotIn(
            "*",
            subprocess.run([PFM, "plan", "coreduo::Mul"], capture_output=True, text=True).stdout)

    def test_sets_come_from_one_place(self):
        for words in (("-", "coreduo::Uops_Ret"), ("coreduo::Uops_Ret", "-")):
            done = subprocess.run([PFM, "plan", *words], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("sets are read from standard input", done.stderr)

    def test_no_list_has_an_event_without_a_name(self):
        done = subprocess.run([PFM, "plan", ""], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "pfm: expected an event name\n"))

    def test_a_mistyped_metric_has_a_suggestion(self):
        text = self.stat("-M", "ipcc", check=False)[1]
        self.assertIn("did you mean ipc?", text)
        self.assertIn("pfm list --metrics", text)

    def test_metric_without_counts_has_no_value(self):
        done = subprocess.run([PFM, "stat", "--json", "-M", "skx::Info_Thread_IPC", "--", "true"],
                              capture_output=True, text=True)
        metric = next(r for r in map(json.loads, done.stdout.splitlines()) if "metric" in r)
        self.assertEqual((metric["value"], metric["why"]), (None, "not counted"))

    def test_groups_are_those_of_the_plan(self):
        rows = [
            json.loads(line)
            for line in subprocess.run([PFM, "stat", "--dry-run", "--json", "-M", "skx::TmaL1"],
                                       capture_output=True, text=True).stdout.splitlines()
        ]
        plan = json.loads(
            subprocess.run([PFM, "plan", "--json", "--bare", "skx::TmaL1"], capture_output=True,
                           text=True).stdout)
        groups = {}
        for r in rows:
            groups.setdefault(r["group"], []).append(r["event"])
        self.assertEqual(list(groups.values()), plan["groups"])


class TopDown(unittest.TestCase):
    """The tree of processors, as far down as it is asked for, of all types of cores."""

    def counted(self, cpuid, *words):
        done = subprocess.run([PFM, "stat", "--json", *words, "--", "true"], capture_output=True,
                              text=True, env=dict(os.environ, PERFMON_CPUID=cpuid))
        return [r for r in map(json.loads, done.stdout.splitlines()) if "metric" in r]

    def test_every_level_of_the_tree_is_a_group(self):
        with open(os.path.join(os.environ["PERFMON_SOURCE"], "lib/events/intel/skx_metrics.pmu"),
                  encoding="utf-8") as f:
            # Intel's old names of the tree have two dots for each level below the first; what is
            # beside the tree has none.
            dots = dict(
                re.findall(r"^metric (\w+) .*alias=metric_TMA_(\.*)\w+\(%\)$", f.read(), re.M))
        for level in range(1, 7):
            tree = {
                n for n, d in dots.items()
                if len(d) // 2 < level and not n.startswith(("Info_", "Bottleneck_"))
            }
            self.assertEqual(
                {m["metric"] for m in self.counted("GenuineIntel-6-55-4", "--topdown=%d" % level)},
                tree, level)
        self.assertEqual(self.counted("GenuineIntel-6-55-4", "--topdown=9"),
                         self.counted("GenuineIntel-6-55-4", "--topdown=6"))

    def test_both_types_of_cores(self):
        """Those of the small cores are in a sheet of Intel's, beside its lists of metrics."""
        for cpuid, pmus in (("GenuineIntel-6-97-2", ["adl_goldencove", "adl_gracemont"]),
                            ("GenuineIntel-6-BD-0", ["lnl_lioncove", "lnl_skymont"]),
                            ("GenuineIntel-6-AA-0", ["mtl_redwoodcove", "mtl_crestmont"])):
            found = self.counted(cpuid, "--topdown")
            self.assertEqual(
                [(m["pmu"], m["metric"]) for m in found],
                [(p, m) for p in pmus
                 for m in ("Frontend_Bound", "Bad_Speculation", "Backend_Bound", "Retiring")])
        said = subprocess.run([PFM, "stat", "--topdown", "--", "true"], capture_output=True,
                              text=True, env=dict(os.environ,
                                                  PERFMON_CPUID="GenuineIntel-6-97-2")).stderr
        self.assertRegex(said, r"Retiring +\[adl_gracemont\]")

    def test_small_cores_of_servers_and_of_hybrids_agree(self):
        """The server has a list of its own with the formulas that the sheet has for its core."""
        def shown(pmu):
            done = subprocess.run([PFM, "list", "--json", "--metrics", pmu + "::*"],
                                  capture_output=True, text=True)
            names = [
                m["metric"] for m in map(json.loads, done.stdout.splitlines()) if any(
                    g.startswith("TmaL") for g in m["groups"])
            ]
            rows = map(
                json.loads,
                subprocess.run([PFM, "show", "--json", *("%s::%s" % (pmu, n) for n in names)],
                               capture_output=True, text=True).stdout.splitlines())
            return {r["event"]: (r["formula"].replace(pmu + "::", ""),
                    r["threshold"].replace(pmu + "::", ""), r["groups"], r.get("parent"))
                    for r in rows}
        server, client = shown("srf"), shown("mtl_crestmont")
        self.assertGreater(len(server), 24)
        self.assertEqual(server, client)


SHEET = """TMA,Version,4
Key,Level1,Level2,GRT,SKT,LNL-SKT,Metric Description,Metric Group,Threshold
FE,Frontend_Bound,,A.ALL / #SLOTS,B / #SLOTS,C / #SLOTS,"one, two",,>0.20
FE,,Latency,( ( A.ALL / #SLOTS ) - Frontend_Bound ),#NA,C,,Fetch,>0.15 & P
Info.Core,%_MUX,,#CLKS_P / #CLKS,,,,,( > 1.1 | < 0.9 )
Aux,#SLOTS,,#WIDTH * #CLKS,#CLKS,#CLKS,,,
Aux,#WIDTH,,5,,,,,
Aux,#CLKS,,CLK.CORE,CLK.CORE,CLK.CORE,,,
Aux,#CLKS_P,,CLK.CORE_P:sup,,,,,
"""


class Sheet(unittest.TestCase):
    """Metrics of Intel's sheet for small cores are read in the form of Intel's lists."""

    def read(self, text, folder, core):
        refused = []
        reading = types.SimpleNamespace(cores={core: "table", "lioncove": "big"},
                                        model=types.SimpleNamespace(folder=folder),
                                        report_refusal=lambda *why: refused.append(why))
        return list(intel_small_core.read_small_core_metrics(reading, text.encode())), refused

    def test_rows_become_metrics(self):
        made, refused = self.read(SHEET, "ADL", "gracemont")
        self.assertEqual(([n for n, _ in made], refused), (["table"] * 3, []))
        front, latency, mux = (e for _, e in made)
        self.assertEqual((front["Formula"], [e["Name"] for e in front["Events"]]),
                         ("100 * ( e0 / ( ( 5 ) * ( e1 ) ) )", ["A.ALL", "CLK.CORE"]))
        self.assertEqual((front["Threshold"], front["MetricGroup"], front["BriefDescription"]),
                         ({"Formula": "Frontend_Bound > 20"}, "TmaL1", "one, two"))
        self.assertEqual((latency["ParentCategory"], latency["Level"], latency["MetricGroup"]),
                         ("Frontend_Bound", 2, "Fetch;TmaL2"))
        self.assertEqual(latency["Threshold"]["Formula"], "Latency > 15 & Frontend_Bound > 20")
        # what it is a part of, as a share
        self.assertEqual(latency["Formula"].count("e0 /"), 2)
        self.assertEqual(
            (mux["MetricName"], mux["UnitOfMeasure"], mux["Threshold"]["Formula"]),
            ("Info_Core_MUX", "percent", "( Info_Core_MUX > 1.1 | Info_Core_MUX < 0.9 )"))

    def test_a_models_own_column_goes_before_its_cores(self):
        self.assertEqual([e["Events"][0]["Name"] for _, e in self.read(SHEET, "ARL", "skymont")[0]],
                         ["B"])
        self.assertEqual([e["Events"][0]["Name"] for _, e in self.read(SHEET, "LNL", "skymont")[0]],
                         ["C", "C"])
        self.assertEqual(self.read(SHEET, "PTL", "darkmont"), ([], []))

    def test_damage_costs_a_row_or_the_sheet(self):
        self.assertEqual(self.read("nothing", "ADL", "gracemont")[1][0][:2], ("-", "-"))
        self.assertEqual(self.read("\xff", "ADL", "gracemont")[0], [])
        made, refused = self.read(SHEET.replace("#WIDTH,,5", "#WIDTH,,#SLOTS"), "ADL", "gracemont")
        self.assertEqual(([e["MetricName"] for _, e in made], [r[0] for r in refused]),
                         (["Info_Core_MUX"], ["Frontend_Bound", "Latency"]))


TREE = """pmu tree "tree"
encoder format
field metric_level bits=8
source "invented for tests"
metric Top metric="100 * 'page-faults' / ('page-faults' + 1)" unit="%" metric_group="TmaL1" metric_level=1 metric_threshold="Top > 10"
metric Other metric="100 / ('page-faults' + 1)" unit="%" metric_group="TmaL1" metric_level=1 metric_threshold="Other > 99"
metric Below metric="80 * 'page-faults' / ('page-faults' + 1)" unit="%" metric_group="TmaL2" metric_parent="Top" metric_level=2 \
    metric_threshold="Below > 10 & Top > 10"
metric Small metric="1" unit="%" metric_group="TmaL2" metric_parent="Other" metric_level=2
metric Deepest metric="40 * 'page-faults' / ('page-faults' + 'context-switches' + 1)" unit="%" metric_group="TmaL3" \
    metric_parent="Below" metric_level=3
metric Info_Rate metric="'page-faults' / 'task-clock'" unit="/ns" metric_group="TmaL1"
metric Never metric="1 / ('page-faults' - 'page-faults')" unit="%" metric_group="TmaL1" "<script>"
"""
CLICKS = """<script>
const shown = n => [...document.querySelectorAll('.name')].find(e => e.textContent == n).checkVisibility();
const said = [shown('Below'), shown('Small')];
document.getElementById('all').click(); said.push(shown('Small'));
document.getElementById('worth').click(); said.push(shown('Small'), shown('Below'));
document.querySelector('details.over > summary').click(); said.push(shown('Below'));
document.body.dataset.said = said.join();
</script>
"""


class Tree(unittest.TestCase):
    """A metric over its threshold opens its branch."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.image, errors = compile_text(TREE, cls.folder.name)
        assert not errors, errors

    def stat(self, *words, status=0):
        done = subprocess.run([PFM, "stat", *words, "--", "true"], capture_output=True, text=True,
                              env={"PERFMON_EVENTS": self.image, "PATH": os.environ["PATH"]})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def page(self, *words):
        path = os.path.join(self.folder.name, "page.html")
        self.stat("--html", path, *words)
        with open(path, encoding="utf-8") as f:
            return f.read()

    def test_order_and_next(self):
        said = self.stat("-M", "tree::TmaL2,tree::TmaL1").stderr
        names = [n for n in ("Top", "Below", "Other", "Small", "Info_Rate") if n in said]
        self.assertEqual(sorted(names, key=lambda n: said.index("  " + n)), names)
        self.assertIn("below Below: pfm stat -M tree::Below_group  (1 metric, 1 group)", said)
        self.assertNotIn("below Other", said)
        rows = [
            json.loads(line)
            for line in self.stat("--json", "-M", "tree::TmaL1").stdout.splitlines()
        ]
        self.assertEqual([r for r in rows if "next" in r],
                         [{"next": "tree::Top_group", "below": "Top", "metrics": 1, "groups": 1}])

    def test_a_group_is_shown(self):
        env = {"PERFMON_EVENTS": self.image, "PATH": os.environ["PATH"]}
        for name, members in (("tree::TmaL2", ["Below",
                                               "Small"]), ("tree::TopdownL2", ["Below", "Small"]),
                              ("tree::Top_group", ["Below"])):
            done = subprocess.run([PFM, "show", "--json", name], capture_output=True, text=True,
                                  env=env)
            self.assertEqual(json.loads(done.stdout),
                             {"input": name, "metrics": ["tree::" + m for m in members]})
            text = subprocess.run([PFM, "show", name], capture_output=True, text=True,
                                  env=env).stdout
            self.assertEqual(re.findall(r"^  tree::(\w+)$", text, re.M), members)
        self.assertEqual(
            subprocess.run([PFM, "show", "tree::TmaL9"], capture_output=True, env=env).returncode,
            1)

    def test_parts_of_a_metric(self):
        for name in ("tree::Top_group", "tree::tma_top_group"):
            rows = [
                json.loads(line) for line in self.stat("--json", "-M", name).stdout.splitlines()
            ]
            self.assertEqual([r["metric"] for r in rows if "metric" in r], ["Below"])
            rows = [
                json.loads(line) for line in self.stat("--json", "-e", name).stdout.splitlines()
            ]
            self.assertEqual([r["metric"] for r in rows if "metric" in r], ["Below"])
        self.stat("-M", "tree::Small_group", status=1)

    def test_the_page_opens_the_large_nodes(self):
        text = self.page("-r", "3", "-M", "tree::TmaL1,tree::TmaL2")
        self.assertEqual(text.count("<details"), text.count("</details>"))
        self.assertIn('<details class="over" open>', text)
        self.assertIn("pfm stat -M tree::Below_group</code>", text)
        self.assertIn("division by zero", text)
        self.assertIn("&lt;script&gt;", text)
        self.assertNotRegex(text, r'(src|href)=')
        self.assertIn("No value exceeds its threshold", self.page("-M", "tree::Other"))
        uncounted = self.page("-e", "page-faults", "-M", "power10::stalled_backend")
        self.assertIn("Not counted: ", uncounted)
        self.assertNotIn("threshold and has metrics below", uncounted)
        for words in (["-e", "page-faults"], ["-a", "--per-cpu", "-M", "tree::Top"]):
            self.stat("--html", "x", *words, status=2)
        self.stat("--html", "/nonexistent/x", "-M", "tree::Top", status=1)

    def test_in_a_browser(self):
        browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which(
            "google-chrome")
        if not browser:
            self.skipTest("no Chromium")
        path = os.path.join(self.folder.name, "clicked.html")
        text = self.page("-M", "tree::TmaL1,tree::TmaL2")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace("</html>", CLICKS + "</html>"))
        with tempfile.TemporaryDirectory(prefix="perfmon-browser-") as profile:
            done = subprocess.run([
                browser, "--headless", "--no-sandbox", "--disable-gpu",
                "--user-data-dir=" + profile, "--dump-dom", "file://" + path
            ], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True,
                                  timeout=120)
        if done.returncode:
            self.skipTest("Chromium does not start here")
        self.assertIn('data-said="true,false,true,false,true,false"', done.stdout)


class Hostile(unittest.TestCase):
    """Formulas come from outside and are not trusted."""

    def refused(self, text, grammar="own"):
        with self.assertRaises(RefusedValue):
            formulas.rewrite_formula(text, grammar)

    def test_depth_length_numbers(self):
        self.refused("(" * 5000 + "1" + ")" * 5000)
        self.refused("-" * 5000 + "1")
        self.refused("1 if 1 else " * 5000 + "1")
        self.refused("1+" * 400000 + "1")
        self.refused("9" * 400)
        self.refused("1" + "e9" * 3)

    def test_noise_never_breaks_the_parser(self):
        rng = random.Random(3)
        words = [
            "A", "(", ")", "+", "-", "if", "else", "min", ",", "1", "1e9", "<", "&", "#x", "'",
            "\\-", "@", "has_event", "/", "%"
        ]
        for _ in range(3000):
            text = " ".join(rng.choice(words) for _ in range(rng.randrange(12)))
            for grammar in formulas.NAMES:
                try:
                    formulas.rewrite_formula(text, grammar)
                except RefusedValue:
                    pass

    def test_formulas_of_perf_are_rewritten(self):
        self.assertEqual(
            formulas.rewrite_formula(r"cpu_core@A\,cmask\=1@ / topdown\-retiring", "perf"),
            "'cpu_core/A,cmask=1/' / 'topdown-retiring'")
        self.assertEqual(formulas.rewrite_formula("1 - (2 - 3) - 4", "own"), "1 - (2 - 3) - 4")

    def test_rewriting_twice_changes_nothing(self):
        rng = random.Random(11)
        for _ in range(300):
            once = formulas.rewrite_formula(formula(rng, 5)[0], "own")
            self.assertEqual(formulas.rewrite_formula(once, "own"), once)


class Lists(unittest.TestCase):
    """Every formula of Intel's lists."""

    @classmethod
    def setUpClass(cls):
        archive = os.path.join(SHARED, "data", "full", "intel-perfmon-2026-08-13.tar.xz")
        cls.vectors = os.path.join(SHARED, "vectors", "metrics_public.jsonl")
        if not os.path.exists(archive) or not os.path.exists(cls.vectors):
            raise unittest.SkipTest("no lists of Intel's in PERFMON_SHARED")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        with tarfile.open(archive) as tar:
            tar.extractall(cls.folder.name, filter="data") if hasattr(
                tarfile, "data_filter") else tar.extractall(cls.folder.name)
        cls.image = os.path.join(cls.folder.name, "all.pmdb")
        cls.said = subprocess.run(
            [sys.executable, PMUC, "import", "--json", cls.folder.name, "-o", cls.image],
            capture_output=True, text=True).stdout

    def test_every_metric_has_its_events(self):
        lines = [json.loads(line) for line in self.said.splitlines()]
        self.assertEqual([
            line for line in lines
            if "refused" in line and "model" not in line and "Formula" in str(line)
        ], [])
        self.assertEqual([line for line in lines if "note" in line and "Threshold" in str(line)],
                         [])
        self.assertGreater(lines[-1]["summary"]["metrics"], 4400)

    def test_metrics_have_the_values_of_the_vectors(self):
        with open(self.vectors, encoding="utf-8") as f:
            rows = [json.loads(line) for line in f]
        answers = ask(self.image, [{k: v for k, v in r.items() if k != "value"} for r in rows])
        self.assertEqual(len(answers), len(rows))
        wrong = []
        for r, a in zip(rows, answers):
            same = a["id"] == r["id"] and "error" not in a
            if same and (r["value"] is None or a["value"] is None):
                same = a["value"] is r["value"]
            elif same:
                same = abs(a["value"] - r["value"]) <= 1e-9 * max(abs(a["value"]), abs(r["value"]))
            if not same:
                wrong.append((r["list"], r["metric"], r["value"], a))
        self.assertEqual(wrong, [])
        self.assertEqual(len(rows), 2363)


if __name__ == "__main__":
    main()
