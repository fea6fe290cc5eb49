#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts and metrics as OpenMetrics: pfm stat --format and pfm serve.

    PFM, PFM_SCRIPTED  the command, and the command on a scripted kernel
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import openmetrics  # noqa: E402
import tap  # noqa: E402
import test_answers  # noqa: E402

PFM = os.path.abspath(os.environ.get("PFM", "pfm"))
SOURCE = os.environ.get("PERFMON_SOURCE") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
QUALITIES = ["exact", "scaled", "partial", "not counted", "not supported"]


def run(*words, status=0, **more):
    done = subprocess.run(words, capture_output=True, timeout=60, check=False, **more)
    if done.returncode != status:
        raise AssertionError("%s ended with %d: %s" % (words, done.returncode, done.stderr.decode()))
    return done.stdout.decode()


def split(text):
    """The expositions of a text."""
    return [t + "# EOF\n" for t in text.split("# EOF\n")[:-1]]


def quality(families, family="perfmon_event_quality", **labels):
    """The state that is true."""
    states = [s for s in QUALITIES if openmetrics.value(families, family, **labels, **{family: s}) == 1]
    assert len(states) == 1, (labels, states)
    return states[0]


class Parser(unittest.TestCase):
    """The reader of these tests refuses what OpenMetrics excludes."""

    def test_refusals(self):
        good = '# TYPE a_seconds counter\n# UNIT a_seconds seconds\n# HELP a_seconds x\na_seconds_total{b="c"} 1\n# EOF\n'
        openmetrics.parse(good)
        for old, new in (("# EOF\n", ""), ("# EOF", "# EOF\n"), (" 1", " NaN"), ("_total", ""), ('"c"', '"c\\x"'),
                         ('"c"', '"c"c"'), (" 1\n", ' 1\na_seconds_total{b="c"} 1\n'), ("UNIT a_seconds seconds", "UNIT a_seconds ms"),
                         ('b="c"', 'b="c",b="d"'), ("} 1", "}  1"), ("} 1", "} -1"), ("# HELP a_seconds x\n", "")):
            with self.assertRaises(ValueError, msg=(old, new)):
                openmetrics.parse(good.replace(old, new))


class Scripted(unittest.TestCase):
    """A kernel whose counts are known."""

    @classmethod
    def setUpClass(cls):
        cls.place = test_answers.Place()

    @classmethod
    def tearDownClass(cls):
        cls.place.close()

    def stat(self, *words, form="openmetrics", status=0):
        return run("scripted", "stat", "--format", form, *words, env=self.place.env, cwd=self.place.folder, status=status)

    def test_units_and_names(self):
        """tests/answers/files/counts has the counts of each of four CPUs, the second and later ones one more each."""
        f = openmetrics.parse(self.stat("-a", "--timeout", "1", "-e", "page-faults,task-clock,blinks,toy::Trips"))
        self.assertEqual(openmetrics.value(f, "node_perf_page_faults"), 4 * 1234567 + 6)
        self.assertEqual(f["node_perf_page_faults"].type, "counter")
        self.assertEqual(openmetrics.value(f, "perfmon_event_seconds", event="task-clock"), (4 * 1073741824 + 6) / 1e9)
        self.assertEqual(f["perfmon_event_seconds"].unit, "seconds")
        self.assertEqual(openmetrics.value(f, "perfmon_event_joules", event="blinks"), 0.5 * (4 * 31 + 6))

    def test_scaled_counts_have_their_mark(self):
        f = openmetrics.parse(self.stat("-e", "toy::Falls,toy::Trips,page-faults", "--", "true"))
        names = {dict(labels)["event"] for labels in f["perfmon_event_running_ratio"].samples}
        qualities = {e: quality(f, event=e) for e in names}
        self.assertEqual(qualities["page-faults"], "exact")
        self.assertIn("scaled", qualities.values())
        for event, q in qualities.items():
            share = openmetrics.value(f, "perfmon_event_running_ratio", event=event)
            self.assertEqual(q == "scaled", 0 < share < 1, (event, q, share))
            cause = [dict(own).get("cause") for own in f["perfmon_event_cause"].samples if dict(own)["event"] == event]
            self.assertEqual(cause, [] if q == "exact" else ["multiplexed"], event)

    def test_missing_counts_have_no_sample(self):
        """branch-misses are on no counter; the kernel refuses emulation-faults; coreduo is another processor."""
        f = openmetrics.parse(self.stat("-e", "page-faults,branch-misses,emulation-faults,coreduo::Instr_Ret", "--", "true"))
        self.assertEqual(quality(f, event="branch-misses"), "not counted")
        self.assertIsNone(openmetrics.value(f, "node_perf_branch_misses"))
        for event in ("emulation-faults", "Instr_Ret"):
            q = quality(f, event=event)
            self.assertIn(q, ("not counted", "not supported"))
            self.assertIsNone(openmetrics.value(f, "perfmon_events", event=event))

    def test_places(self):
        for option, names in (("--per-cpu", {"cpu"}), ("--per-core", {"socket", "die", "core"}), ("--per-die", {"socket", "die"}),
                              ("--per-socket", {"socket"}), ("--per-node", {"node"})):
            f = openmetrics.parse(self.stat("-a", option, "--timeout", "1", "-e", "context-switches"))
            for labels in f["node_perf_context_switches"].samples:
                self.assertEqual(set(dict(labels)), names | {"event", "pmu"})
            self.assertEqual(sum(f["node_perf_context_switches"].samples.values()), 4 * 12 + 6, option)

    def test_one_series_for_one_event(self):
        """However it is spelled, and if metrics need it, too."""
        f = openmetrics.parse(self.stat("-a", "--timeout", "1", "-e", "faults,page-faults,software::page-faults,page-faults",
                                        "-M", "software::ratios"))
        self.assertEqual(list(f["node_perf_page_faults"].samples.values()), [4 * 1234567 + 6])

    def test_metrics(self):
        f = openmetrics.parse(self.stat("-a", "--timeout", "1", "-M", "software::faults_per_second"))
        self.assertAlmostEqual(openmetrics.value(f, "perfmon_metric", metric="faults_per_second"),
                               (4 * 1234567 + 6) / ((4 * 1073741824 + 6) / 1e9), delta=1e-3)
        self.assertEqual(quality(f, "perfmon_metric_quality", metric="faults_per_second"), "exact")

    def test_prometheus_format(self):
        f = openmetrics.parse(self.stat("-a", "--timeout", "1", "-e", "page-faults,task-clock", form="prometheus"), openmetrics=False)
        self.assertEqual(f["node_perf_page_faults_total"].type, "counter")
        self.assertEqual(f["perfmon_event_quality"].type, "gauge")

    def test_refused_options(self):
        for words in (["--format", "xml"], ["--format", "openmetrics", "--json"], ["--format", "openmetrics", "-x", ","],
                      ["--format", "openmetrics", "-r", "2"], ["--format", "openmetrics", "--regions"],
                      ["--format", "openmetrics", "--", "true", "::", "false"]):
            run(PFM, "stat", "-e", "page-faults", *words, *([] if "::" in words else ["--", "true"]), status=2)


class Live(unittest.TestCase):
    """Software events of this machine, which every kernel counts."""

    def test_intervals_are_expositions(self):
        """Counters go on from interval to interval; page faults of a known load are among them."""
        load = "import mmap, time\nfor _ in range(3):\n m = mmap.mmap(-1, 4096 * 500); m.madvise(mmap.MADV_NOHUGEPAGE)\n" \
               " for i in range(500): m[i * 4096] = 1\n time.sleep(0.15)"
        text = run(PFM, "stat", "--format", "openmetrics", "-I", "100", "-e", "page-faults,task-clock,duration_time", "--",
                   sys.executable, "-c", load)
        found = [openmetrics.parse(t) for t in split(text)]
        self.assertGreaterEqual(len(found), 3)
        for family in ("node_perf_page_faults", "perfmon_event_seconds"):
            for labels in found[-1][family].samples:
                series = [f[family].samples[labels] for f in found if labels in f[family].samples]
                self.assertEqual(series, sorted(series))
        self.assertGreaterEqual(list(found[-1]["node_perf_page_faults"].samples.values())[0], 1500)

    def test_any_bytes_in_labels(self):
        """A thread may have any name."""
        name = b'a"\\\xff\n\xef\xbf\xbd\xc3\xa4'[:15]
        program = "import ctypes\nctypes.CDLL(None).prctl(15, %r, 0, 0, 0)\nprint(flush=True)\nwhile True: pass" % name
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as p:
            p.stdout.readline()
            text = run(PFM, "stat", "--format", "openmetrics", "--per-thread", "-e", "page-faults", "-p", str(p.pid),
                       "--timeout", "100", status=0)
            p.kill()
        (labels, ) = openmetrics.parse(text)["perfmon_event_running_ratio"].samples or [()]
        self.assertIn('a"\\\ufffdff', dict(labels).get("thread", ""))


class Readers(unittest.TestCase):
    """Programs that others wrote to read these formats."""

    WORDS = ("-a", "--per-cpu", "--timeout", "50", "-e", "page-faults,task-clock,cycles", "-M", "software::ratios")

    def test_prometheus_client(self):
        try:
            from prometheus_client.openmetrics import parser
        except ImportError:
            self.skipTest("prometheus_client is missing (Debian package python3-prometheus-client)")
        text = run(PFM, "stat", "--format", "openmetrics", *self.WORDS)
        theirs = {f.name: f for f in parser.text_string_to_metric_families(text)}
        ours = openmetrics.parse(text)
        self.assertEqual(set(theirs), set(ours))
        for name, f in theirs.items():
            self.assertEqual((f.type, f.unit), (ours[name].type, ours[name].unit))
            self.assertEqual({tuple(sorted(s.labels.items())): s.value for s in f.samples}, ours[name].samples)

    def test_promtool(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is missing (Debian package prometheus)")
        text = run(PFM, "stat", "--format", "prometheus", *self.WORDS)
        self.assertEqual(run("promtool", "check", "metrics", input=text.encode()), "")


class Contract(unittest.TestCase):
    """Metrics that every processor has."""

    def test_each_has_a_family(self):
        with open(os.path.join(SOURCE, "lib/events/contract.txt"), encoding="utf-8") as f:
            contract = dict(re.findall(r"^\[(\w+)\] (.+)$", f.read(), re.M))
        with open(os.path.join(SOURCE, "tools/series_names.c"), encoding="utf-8") as f:
            table = re.search(r"contract_names\[\] = \{(.*?)\};", f.read(), re.S)[1]
        ours = dict(re.findall(r'\{ "(\w+)", "([^"]+)", "perfmon_\w+" \}', table))
        self.assertEqual(ours, contract)


if __name__ == "__main__":
    tap.main()
