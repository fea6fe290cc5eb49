#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm stat --regions: page faults of marked programs, which touch a known number of pages in each
region."""

import collections
import csv
import ctypes.util
import io
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..")]
import tap  # noqa: E402
from test_outputs import CONTROLS, NAMES, readable  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

PFM = os.environ.get("PFM", "pfm")
PROGRAMS = os.environ.get("REGION_PROGRAMS", "")
SOURCE = os.environ["PERFMON_SOURCE"]
CLEAN = {
    k: v for k, v in os.environ.items()
    if not k.startswith(("PERFMON_REGIONS", "LD_PRELOAD", "PAPI_"))
}


def program(name):
    return os.path.join(PROGRAMS, name)


def run(*args, env=None, status=0):
    done = subprocess.run([PFM, "stat", *args], capture_output=True, text=True, check=False, env=env
                          or CLEAN)
    if done.returncode != status:
        raise AssertionError("status %d, expected %d: %s" % (done.returncode, status, done.stderr))
    return done


def regions(name, *args, **options):
    """{(region, parent, "all"): row} of a program, and all rows."""
    done = run("--regions", "--json", "-e", "page-faults", "--", program(name), *args, **options)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {(r["region"], r["parent"], r["thread"]): r for r in rows if "region" in r}, rows


def faults(row):
    return row["counts"][0]["inclusive"], row["counts"][0]["exclusive"], row["visits"]


def counts_here():
    if not os.path.exists(program("marked_perfmon")):
        return False
    table, _ = regions("marked_perfmon")
    return table["outer", None, "all"]["counts"][0]["quality"] == "exact"


HERE = counts_here()
# Each visit of marked_perfmon with the pages that it touches.
DRAWN = [("inner, with a comma", 2)] * 4 + [("outer", 7)] * 4 + [("threads", 3)] * 3


@unittest.skipUnless(HERE, "the kernel counts no page faults here")
class Own(unittest.TestCase):
    def test_counts_of_regions_and_threads(self):
        table, rows = regions("marked_perfmon")
        self.assertEqual(faults(table["outer", None, "all"]), (28, 20, 4))
        self.assertEqual(faults(table["inner, with a comma", "outer", "all"]), (8, 8, 4))
        self.assertEqual(faults(table["threads", None, "all"]), (9, 9, 3))
        self.assertEqual(table["threads", None, "all"]["threads"], 3)
        each = [r for k, r in table.items() if k[0] == "threads" and k[2] != "all"]
        self.assertEqual([faults(r) for r in each], [(3, 3, 1)] * 3)
        self.assertEqual(rows[0]["events"][0]["event"], "page-faults")

    @unittest.skipUnless(jsonschema, "no jsonschema")
    def test_json_follows_its_schema(self):
        with open(os.path.join(SOURCE, "docs", "schema", "regions.json"), encoding="utf-8") as f:
            schema = json.load(f)
        done = run("--regions", "--json", "-e", "page-faults,instructions", "-M", "ipc", "--",
                   program("marked_perfmon"))
        for line in done.stdout.splitlines():
            jsonschema.validate(json.loads(line), schema)

    def test_rows_have_their_columns(self):
        done = run("--regions", "-x", ",", "-e", "page-faults", "--", program("marked_perfmon"))
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        row = [r for r in rows if r["region"] == "inner, with a comma" and r["thread"] == "all"][0]
        self.assertEqual((row["parent"], row["visits"], row["inclusive"], row["quality"]),
                         ("outer", "4", "8", "exact"))

    def test_any_bytes_in_names(self):
        """Every format with a name of each byte class; all formats that can be are read back."""
        def visit(form):
            done = subprocess.run([
                PFM, "stat", "--regions=" + form, "-e", "page-faults", "--",
                program("marked_perfmon"), "name", name
            ], capture_output=True, check=False, env=CLEAN)
            self.assertEqual(done.returncode, 0, done.stderr)
            return (done.stdout or done.stderr).decode()

        for kind, name in NAMES.items():
            name = name.lstrip(b"\x01")    # starts the names of the library's own regions
            text = readable(name)
            with self.subTest(kind):
                found = [json.loads(line).get("region") for line in visit("json").splitlines()]
                self.assertIn(text, found)
                self.assertIn(json.dumps(text)[1:-1], json.dumps(json.loads(visit("papi"))))
                self.assertIn(text,
                              [e.get("name") for e in json.loads(visit("chrome"))["traceEvents"]])
                self.assertIn(text, json.loads(visit("firefox"))["threads"][0]["stringTable"])
                rows = list(csv.DictReader(io.StringIO(visit("csv"), newline="")))
                self.assertTrue(all(None not in r and None not in r.values() for r in rows), rows)
                for form in ("table", "csv", "likwid"):
                    self.assertFalse(CONTROLS.search(visit(form)), form)

    def test_the_table_nests_regions(self):
        text = run("--regions", "-e", "page-faults", "--", program("marked_perfmon")).stderr
        self.assertIn("outer: 4 visits", text)
        self.assertIn("inner, with a comma (in outer): 4 visits", text)
        self.assertIn("threads: 3 visits in 3 threads", text)

    def test_table_fits_a_terminal(self):
        text = run("--regions", "--per-thread", "--", program("marked_perfmon")).stderr
        long = [line for line in text.splitlines() if len(line) > 80]
        self.assertEqual(long, [])
        self.assertNotIn("0.000 ", text)

    def test_the_table_goes_to_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out")
            run("--regions", "-o", path, "-e", "page-faults", "--", program("marked_perfmon"))
            with open(path, encoding="utf-8") as f:
                self.assertIn("outer: 4 visits", f.read())

    def test_status_of_the_command(self):
        run("--regions", "-e", "page-faults", "--", program("marked_perfmon"), "fail", status=3)

    def test_forked_process_has_results_of_its_own(self):
        _, rows = regions("marked_perfmon", "fork")
        mine = [r for r in rows if r.get("region") == "threads" and r["thread"] == "all"]
        self.assertEqual(len({r["process"] for r in mine}), 2)
        self.assertEqual([r["counts"][0]["inclusive"] for r in mine], [9, 9])

    def test_command_without_regions(self):
        done = run("--regions", "-e", "page-faults", "--", "true", status=1)
        self.assertIn("entered no region", done.stderr)

    def test_wrong_requests_are_refused(self):
        self.assertIn("not an event",
                      run("--regions", "-e", "nonsense", "--", "true", status=1).stderr)
        self.assertIn("needs a command after --, or -p",
                      run("--regions", "-e", "page-faults", status=2).stderr)
        self.assertIn("expected table, json", run("--regions=xml", "--", "true", status=2).stderr)

    def test_results_that_do_not_fit_the_disk_are_an_error(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))

        done = subprocess.run([PFM, "stat", "--regions", "--json", "-e", "page-faults", "--",
                               program("marked_perfmon")], capture_output=True, text=True,
                              check=False, env=CLEAN, preexec_fn=limit, restore_signals=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("could not write", done.stderr)

    def test_no_option_is_ignored(self):
        """Each option of pfm stat works with --regions and with :: or is refused there."""
        everywhere = {"event", "json", "output", "append", "repeat"}
        works = {
            "--regions": everywhere | {"regions", "regions-system", "no-subtract", "metrics",
                                       "per-thread", "field-separator", "pid", "interval",
                                       "visits", "by", "keep", "html"},
            "several commands": everywhere | {"no-inherit", "regions", "fail-above"},
            "the regions of several commands": everywhere | {"regions", "regions-system",
                                                             "no-subtract", "metrics",
                                                             "fail-above"},
        }
        values = {"control": "fd:2", "format": "prometheus", "field-separator": ",",
                  "event": "page-faults", "repeat": "2", "by": "rank"}
        text = run("--help").stdout
        options = re.findall(r"^  (?:-\w, |    )--([-a-z]+)( [A-Z])?", text, re.M)
        options = [o for o in options if o[0] not in ("help", "color", "simulate")]
        self.assertGreater(len(options), 40)
        for name, has_value in options:
            given = ["-e", "page-faults", "--" + name]
            given += [values.get(name, "1")] if has_value else []
            for mode, before, after in (("--regions", ["--regions"], []),
                                        ("several commands", [], ["::", "true"]),
                                        ("the regions of several commands", ["--regions"],
                                         ["::", "true"])):
                with self.subTest(option=name, mode=mode), \
                        tempfile.TemporaryDirectory() as folder:
                    done = subprocess.run([PFM, "stat", *before, *given, "--", "true", *after],
                                          capture_output=True, text=True, check=False, env=CLEAN,
                                          cwd=folder)
                    self.assertEqual("--%s cannot be combined with %s" % (name, mode)
                                     in done.stderr, name not in works[mode], done.stderr)

    def test_runs_until_there_are_enough_visits(self):
        """Eight visits of outer need two runs, seven of threads three; sums are those of all."""
        done = run("--regions", "--json", "--visits", "7", "-e", "page-faults", "--",
                   program("marked_perfmon"))
        self.assertIn("3 runs", done.stderr)
        head, *rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(head["processes"], 3)
        self.assertEqual([(r["region"], r["thread"], *faults(r)) for r in rows],
                         [("outer", "all", 84, 60, 12),
                          ("inner, with a comma", "all", 24, 24, 12),
                          ("threads", "all", 27, 27, 9)])
        text = run("--regions", "--visits", "1", "-e", "page-faults", "--",
                   program("marked_perfmon"), "fork").stderr
        self.assertIn(", 2 processes", text)
        self.assertIn("threads: 6 visits in 6 threads", text)

    def test_runs_end_where_a_region_has_no_more_visits(self):
        with tempfile.TemporaryDirectory() as folder:
            script = 'if test -e %s/x; then exec %s name a; else touch %s/x; exec %s; fi' % (
                folder, program("marked_perfmon"), folder, program("marked_perfmon"))
            done = run("--regions", "--visits", "9", "-e", "page-faults", "--", "sh", "-c", script)
        self.assertIn("5 runs; the last one did not enter threads, which has 3 of 9 visits",
                      done.stderr)

    def test_options_that_visits_exclude(self):
        for args in (["-r", "2"], ["-I", "100"], ["--per-thread"], ["--regions=likwid"]):
            self.assertIn("--visits", run("--regions", "--visits", "3", *args, "--", "true",
                                          status=2).stderr)

    def test_values_have_errors(self):
        """The first process's values have errors; an event without a cost has none."""
        table, _ = regions("marked_perfmon")
        row = table["outer", None, "all"]
        self.assertGreater(row["wall_ns"]["error"], 0)
        self.assertEqual(row["counts"][0]["error"], 0)
        self.assertNotIn("too_short", row["wall_ns"])
        text = run("--regions", "-e", "page-faults", "--", program("marked_perfmon")).stderr
        self.assertRegex(text, r"wall .*;\s+\+- \d")

    def test_options_of_regions_need_regions(self):
        for name in ("--regions-system", "--no-subtract", "--visits=3"):
            self.assertIn(name.split("=")[0] + " needs --regions",
                          run(name, "-e", "page-faults", "--", "true", status=2).stderr)

    def test_formats_that_contradict_each_other(self):
        for given in (["-x", ";"], ["--json", "-x", ","], ["--append"]):
            run("--regions", *given, "--", "true", status=2)
        run("--regions=likwid", "--json", "--", "true", status=2)

    def test_plugin_that_is_closed_with_open_visits(self):
        done = run("--regions", "--json", "-e", "page-faults", "--", program("marked_dlopen"),
                   program("libmarked_plugin.so"))
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        table = {r["region"]: r for r in rows if r.get("thread") == "all"}
        # The first visit of a thread faults in the plugin's own pages as well.
        self.assertEqual((table["plugin"]["visits"], table["plugin"]["counts"][0]["min"]), (24, 2))
        self.assertEqual((table["left open"]["visits"], table["left open"]["unfinished"]), (0, 8))

    @unittest.skipUnless(os.path.exists(program("marked_cxx")), "no compiler of C++")
    def test_scopes_that_an_exception_or_a_cancellation_ends(self):
        table, _ = regions("marked_cxx")
        for region, pages, visits in (("thrown", 2, 3), ("cancelled", 3, 1)):
            row = table[region, None, "all"]
            self.assertEqual((row["visits"], row["unfinished"]), (visits, 0))
            # Unwinding has page faults of its own the first time.
            self.assertEqual(row["counts"][0]["min"] if visits > 1 else pages, pages)
            self.assertGreaterEqual(row["counts"][0]["inclusive"], visits * pages)

    def test_plugin_without_regions_to_count(self):
        subprocess.run(
            [program("marked_dlopen"), program("libmarked_plugin.so")], check=True, env=CLEAN)

    @unittest.skipUnless(shutil.which("strace"), "needs the Debian package strace")
    def test_begin_and_end_make_one_read_each(self):
        """System calls of 1000 visits more than of 10."""
        seen = []
        with tempfile.TemporaryDirectory() as folder:
            for n in ("10", "1010"):
                path = os.path.join(folder, n)
                done = subprocess.run(
                    ["strace", "-qq", "-o", path,
                     program("marked_perfmon"), "pairs", n], check=False,
                    env=dict(CLEAN, PERFMON_REGIONS="page-faults,minor-faults,context-switches"))
                if done.returncode:
                    self.skipTest("strace cannot trace here")
                with open(path, encoding="utf-8") as f:
                    seen.append(collections.Counter(line.split("(")[0] for line in f))
        self.assertEqual(seen[1] - seen[0], {"read": 2000})

    def test_cost_is_subtracted_unless_it_is_refused(self):
        """A visit of an empty region counts time on the CPU; its median is the cost, so that about
        half of that stays at most."""
        sums = []
        for flag in ([], ["--no-subtract"]):
            out = run("--regions", "--json", *flag, "-e", "task-clock", "--",
                      program("marked_perfmon"), "pairs", "1000").stdout
            head, *rows = (json.loads(line) for line in out.splitlines())
            [row] = [r for r in rows if r["region"] == "empty" and r["thread"] == "all"]
            sums.append((row["counts"][0]["inclusive"], row["counts"][0]["overhead"]))
            self.assertEqual((head["subtracted"], row["costly"]), (not flag, True))
        self.assertGreater(sums[1][0], sums[0][0])
        self.assertGreaterEqual(sums[1][0], 500 * head["events"][0]["inside"])

    def test_clocks_in_a_group(self):
        """Events of several PMUs are read together: each clock of the task runs with the task,
        whatever leads the group."""
        for events in ("page-faults,task-clock,cpu-clock", "task-clock,page-faults,cpu-clock"):
            out = run("--regions", "--json", "--no-subtract", "-e", events, "--",
                      program("marked_perfmon")).stdout
            row = json.loads(out.splitlines()[1])
            counts = {c["event"]: c["inclusive"] for c in row["counts"]}
            self.assertEqual((row["region"], counts["page-faults"]), ("outer", 28))
            for clock in ("task-clock", "cpu-clock"):
                self.assertTrue(0.8 * row["task_ns"] < counts[clock] < 1.2 * row["task_ns"],
                                (clock, row))

    def test_metrics_follow_from_the_counts_of_their_row(self):
        """Computed by the test from the counts in the same row."""
        out = run("--regions", "--json", "-M", "faults_per_second", "--",
                  program("marked_perfmon")).stdout
        for row in map(json.loads, out.splitlines()[1:]):
            counts = {c["event"].split("::")[-1]: c["inclusive"] for c in row["counts"]}
            [metric] = row["metrics"]
            value = counts["page-faults"] / counts["task-clock"] * 1e9
            self.assertEqual((metric["metric"], metric["quality"]), ("faults_per_second", "exact"))
            self.assertAlmostEqual(metric["value"] / value, 1, delta=1e-6)
            self.assertTrue(metric["low"] <= metric["value"] <= metric["high"])

    def test_events_of_the_whole_machine(self):
        """Page faults are refused for tasks here, as events of boxes outside the cores are."""
        env = dict(CLEAN, LD_PRELOAD=program("librefuse_tasks.so"))
        args = ("--regions", "--json", "-e", "page-faults,minor-faults")
        refused = [
            json.loads(line)
            for line in run(*args, "--", program("marked_perfmon"), env=env).stdout.splitlines()
        ]
        self.assertEqual(refused[1]["counts"][0]["quality"], "not supported")
        self.assertTrue(refused[0]["events"][0]["why"])
        out = run(*args, "--regions-system", "--", program("marked_perfmon"), env=env).stdout
        head, row, *_ = (json.loads(line) for line in out.splitlines())
        if row["counts"][0]["quality"] != "exact":
            self.skipTest(head["events"][0]["why"])
        self.assertEqual([e["whole_machine"] for e in head["events"]], [True, False])
        self.assertEqual((row["region"], row["counts"][1]["inclusive"]), ("outer", 28))
        # A medium number of faults is subtracted for the readings themselves.
        self.assertGreater(row["counts"][0]["inclusive"] + row["counts"][0]["overhead"], 27)

    def test_the_environment_alone_counts_regions(self):
        env = dict(CLEAN, PERFMON_REGIONS="page-faults", PERFMON_REGIONS_FORMAT="csv")
        done = subprocess.run([program("marked_perfmon")], capture_output=True, text=True,
                              check=True, env=env)
        self.assertIn(",outer,,all,4,", done.stderr)
        env["PERFMON_REGIONS"] = "nonsense"
        done = subprocess.run([program("marked_perfmon")], capture_output=True, text=True,
                              check=True, env=env)
        self.assertIn("PERFMON_REGIONS: \"nonsense\" is not an event", done.stderr)

    def test_environment_that_cannot_be_followed(self):
        """A misspelled format and results that cannot be written are reported; the program goes
        on."""
        for name, value, expected in (
            (
                "FORMAT",
                "xml",
                (
                    "PERFMON_REGIONS_FORMAT: expected table, json, csv, likwid, papi, chrome or"
                    " firefox, got 'xml'"
                ),
            ),
            (
                "FORMAT",
                "\x1b[2Jx",
                (
                    "PERFMON_REGIONS_FORMAT: expected table, json, csv, likwid, papi, chrome or"
                    " firefox, got '?[2Jx'"
                ),
            ),
            (
                "OUTPUT",
                "/nonexistent/x",
                (
                    "PERFMON_REGIONS_OUTPUT: the results cannot be written to /nonexistent/x: No"
                    " such file"
                ),
            ),
            (
                "OUTPUT",
                "/dev/full",
                "PERFMON_REGIONS_OUTPUT: the results cannot be written to /dev/full: No space left",
            ),
        ):
            env = dict(CLEAN, PERFMON_REGIONS="page-faults")
            env["PERFMON_REGIONS_" + name] = value
            done = subprocess.run([program("marked_perfmon")], capture_output=True, text=True,
                                  check=True, env=env)
            self.assertEqual(done.stderr.count("perfmon: " + expected), 1, done.stderr)
            self.assertEqual("outer: " in done.stderr, name == "FORMAT", done.stderr)

    def test_forms_of_likwid_and_papi(self):
        text = run("--regions=likwid", "-e", "page-faults", "--",
                   program("marked_perfmon")).stdout.splitlines()
        self.assertEqual(text[0], "4 3 1")
        self.assertEqual(text[1:4], ["0:outer-0", "1:inner, with a comma-0", "2:threads-0"])
        fields = text[4].split()
        self.assertEqual((fields[:2], fields[3], fields[5], float(fields[6])),
                         (["0", "0"], "4", "1", 28.0))
        papi = json.loads(
            run("--regions=papi", "-e", "page-faults", "--", program("marked_perfmon")).stdout)
        inner = [
            r for t in papi["threads"].values() for r in t["regions"].values()
            if r["name"].startswith("inner")
        ]
        self.assertEqual([r["page-faults"] for r in inner], ["2"] * 4)
        outer = papi["threads"]["0"]["regions"]
        self.assertEqual({outer[r["parent_region_id"]]["name"] for r in inner}, {"outer"})

    def test_chrome_draws_each_visit(self):
        events = json.loads(
            run("--regions=chrome", "-e", "page-faults", "--",
                program("marked_perfmon")).stdout)["traceEvents"]
        drawn = [e for e in events if e["ph"] == "X"]
        self.assertEqual(sorted((e["name"], e["args"]["page-faults"]) for e in drawn), DRAWN)
        outer = [e for e in drawn if e["name"] == "outer"]
        for inner in (e for e in drawn if e["name"].startswith("inner")):
            around = [
                e for e in outer
                if e["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= e["ts"] + e["dur"]
            ]
            self.assertEqual([e["tid"] for e in around], [inner["tid"]])

    def test_firefox_draws_each_visit(self):
        profile = json.loads(
            run("--regions=firefox", "-e", "page-faults", "--", program("marked_perfmon")).stdout)
        self.assertEqual([f["label"] for f in profile["meta"]["markerSchema"][0]["data"]],
                         ["page-faults", "Not counted"])
        drawn = [(t["stringTable"][m[0]], m[5]["event0"]) for t in profile["threads"]
                 for m in t["markers"]["data"]]
        self.assertEqual(sorted(drawn), DRAWN)

    def test_drawings_of_processes_are_joined(self):
        events = json.loads(
            run("--regions=chrome", "--", program("marked_perfmon"), "fork").stdout)["traceEvents"]
        drawn = [e["pid"] for e in events if e["ph"] == "X" and e["name"] == "threads"]
        self.assertEqual(sorted(drawn.count(pid) for pid in set(drawn)), [3, 3])
        threads = json.loads(
            run("--regions=firefox", "--", program("marked_perfmon"), "fork").stdout)["threads"]
        drawn = [
            t["pid"] for t in threads for m in t["markers"]["data"]
            if t["stringTable"][m[0]] == "threads"
        ]
        self.assertEqual(sorted(drawn.count(pid) for pid in set(drawn)), [3, 3])


@unittest.skipUnless(HERE, "the kernel counts no page faults here")
class Adapters(unittest.TestCase):
    def test_marks_of_likwid_are_regions(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "markers")
            table, _ = regions("marked_likwid", env=dict(CLEAN, LIKWID_FILEPATH=path))
            with open(path, encoding="utf-8") as f:
                self.assertEqual(f.readline(), "2 2 1\n")
        self.assertEqual(faults(table["solve", None, "all"]), (36, 24, 6))
        self.assertEqual(faults(table["copy one", "solve", "all"]), (18, 18, 6))

    @unittest.skipUnless(os.path.exists(program("marked_likwid_openmp")),
                         "needs the Debian package likwid")
    def test_openmp_program_with_the_header_of_likwid(self):
        table, rows = regions("marked_likwid_openmp")
        self.assertEqual(faults(table["solve", None, "all"]), (105, 60, 15))
        self.assertEqual(faults(table["copy", "solve", "all"]), (45, 45, 15))
        each = [r for r in rows if r.get("region") == "copy" and r["thread"] != "all"]
        self.assertEqual(sorted(faults(r) for r in each), [(10, 10, 5), (15, 15, 5), (20, 20, 5)])

    @unittest.skipUnless(os.path.exists(program("marked_libpapi")),
                         "needs the Debian package libpapi-dev")
    def test_program_with_the_header_of_papi(self):
        table, _ = regions("marked_libpapi")
        self.assertEqual(faults(table["compute", None, "all"]), (21, 15, 3))
        self.assertEqual(faults(table["inside", "compute", "all"]), (6, 6, 3))

    def test_marks_of_papi_are_regions(self):
        table, _ = regions("marked_papi")
        self.assertEqual(faults(table["compute", None, "all"]), (21, 15, 3))
        self.assertEqual(faults(table["inside", "compute", "all"]), (6, 6, 3))

    def test_marks_of_kokkos_are_regions(self):
        table, _ = regions("marked_kokkos")
        self.assertEqual(faults(table["time step", None, "all"]), (15, 3, 1))
        self.assertEqual(faults(table["axpy", "time step", "all"]), (12, 12, 3))

    @unittest.skipUnless(os.path.exists(program("marked_real_kokkos")),
                         "needs the Debian package libtrilinos-kokkos-dev")
    def test_program_with_the_library_of_kokkos(self):
        table, _ = regions("marked_real_kokkos")
        self.assertEqual(faults(table["time step", None, "all"]), (15, 3, 1))
        self.assertEqual(faults(table["axpy", "time step", "all"]), (12, 12, 3))

    def test_another_tool_of_kokkos_stays(self):
        """Newer versions refuse two variables that name different tools."""
        env = dict(CLEAN, KOKKOS_PROFILE_LIBRARY="/other.so")
        done = run("--regions", "-e", "page-faults", "--", program("marked_perfmon"), env=env)
        self.assertNotIn("Kokkos", done.stderr)

    def test_marks_of_nvtx_are_regions(self):
        table, _ = regions("marked_nvtx")
        self.assertEqual(faults(table["pushed", None, "all"]), (18, 18, 3))
        self.assertEqual(faults(table["registered", None, "all"]), (9, 9, 3))

    def test_marks_of_itt_are_regions(self):
        table, _ = regions("marked_itt")
        self.assertEqual(faults(table["task", None, "all"]), (18, 18, 3))
        self.assertEqual(faults(table["async", None, "all"]), (9, 9, 3))
        self.assertEqual(faults(table["frames", None, "all"]), (21, 21, 3))

    def test_each_domain_has_a_stack(self):
        for name in ("marked_nvtx", "marked_itt"):
            table, _ = regions(name)
            self.assertEqual([(r["region"], faults(r)[0], r["visits"])
                              for r in table.values()
                              if r["region"].startswith("of ") and r["thread"] == "all"],
                             [("of first", 3, 1), ("of second", 6, 1)], name)

    @unittest.skipUnless(os.path.exists(program("marked_tbb")),
                         "needs the Debian package libtbb-dev")
    def test_program_with_the_library_of_onetbb(self):
        table, _ = regions("marked_tbb")
        # in the graph or outside, by thread
        rows = [r for k, r in table.items() if (k[0], k[2]) == ("body", "all")]
        self.assertEqual((sum(r["visits"] for r in rows), min(r["counts"][0]["min"] for r in rows)),
                         (5, 4))
        # The library may touch a page of its own for the first time.
        self.assertTrue(20 <= sum(faults(r)[0] for r in rows) <= 20 + 4, rows)

    @unittest.skipUnless(os.path.exists(program("marked_openmp")), "no OpenMP runtime with OMPT")
    def test_parallel_regions_of_openmp_are_regions(self):
        table, _ = regions("marked_openmp")
        rows = [r for k, r in table.items() if k[0].startswith("parallel ")]
        [total] = [r for r in rows if r["thread"] == "all"]
        each = [r["counts"][0]["min"] for r in rows if r["thread"] != "all"]
        self.assertEqual(sorted(each), [12, 22, 32, 42])
        self.assertEqual(total["visits"], 12)
        # The runtime may touch a page of its own for the first time in a parallel region.
        self.assertTrue(324 <= faults(total)[0] <= 324 + 8, faults(total))

    def places(self, path, options):
        done = run(options, "--json", "-e", "page-faults", "--", path)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return sorted({r["region"] for r in rows if r.get("region", "").startswith("parallel ")})

    def test_parallel_regions_have_function_and_line(self):
        """From debugging information, else from the symbol table, else an offset in the file."""
        built = [(name, options) for name, options in (("marked_openmp", "--regions"),
                                                       ("marked_gomp", "--regions=gomp"))
                 if os.path.exists(program(name))]
        if not built:
            self.skipTest("built without OpenMP")
        for name, options in built:
            with open(os.path.join(SOURCE, "tests/command/regions", name + ".c"),
                      encoding="utf-8") as f:
                lines = [i for i, line in enumerate(f, 1) if "#pragma omp parallel" in line]
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, name)
                found = self.places(program(name), options)
                if not ctypes.util.find_library("dw"):
                    self.skipTest("libdw is missing (Debian package libdw1)")
                self.assertEqual(found, sorted("parallel main (%s.c:%d)" % (name, n)
                                               for n in lines))
                for strip, form in (("--strip-debug", r"main(\._omp_fn\.\d)?\+0x[0-9a-f]+"),
                                    ("--strip-all", name + r"\+0x[0-9a-f]+")):
                    subprocess.run(["objcopy", strip, program(name), path], check=True)
                    found = self.places(path, options)
                    self.assertEqual(len(found), len(lines))
                    for region in found:
                        self.assertRegex(region, "^parallel " + form + "$")

    @unittest.skipUnless(os.path.exists(program("marked_gomp")), "built without gcc's OpenMP")
    def test_places_that_share_a_line_have_numbers(self):
        """Two bytes of one instruction, in three processes; places that name nothing."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "marked_gomp")
            subprocess.run(["objcopy", "--strip-all", program("marked_gomp"), path], check=True)
            at = int(self.places(path, "--regions=gomp")[0].split("+")[1], 16)
            place = "parallel %s+0x%%x" % os.path.realpath(program("marked_gomp"))
            os.mkfifo(os.path.join(folder, "pipe"))
            names = [place % at, place % (at + 1), place % at, "parallel /nonexistent/a+0x10",
                     "parallel %s/pipe+0x10" % folder, "parallel /a+0x", "parallel a+0x10"]
            script = "".join('"$0" name "%s";' % name for name in names)
            done = run("--regions", "--json", "-e", "page-faults", "--", "sh", "-c", script,
                       program("marked_perfmon"))
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        found = [r["region"] for r in rows if r.get("thread") == "all"]
        first = found[0]
        self.assertTrue(first.startswith("parallel main"))
        # Without debugging information each byte has an offset of its own.
        second = first + " #2" if "(" in first else found[1]
        self.assertEqual(found, [first, second, first, "parallel a+0x10", "parallel pipe+0x10",
                                 "parallel /a+0x", "parallel a+0x10"])

    @unittest.skipUnless(os.path.exists(program("marked_gomp")), "built without gcc's OpenMP")
    def test_openmp_of_gcc(self):
        """Each thread's part of a parallel region is a visit, in the program as gcc built it; on
        request, because they enclose the marks of a program."""
        done = run("--regions=gomp", "--json", "-e", "page-faults", "--", program("marked_gomp"))
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        table = {(r["region"], r["parent"], r["thread"]): r for r in rows if "region" in r}
        self.assertIn("--regions=gomp counts its parallel regions",
                      run("--regions", "--", program("marked_gomp"), status=1).stderr)
        totals = sorted((r["visits"], r["threads"]) for k, r in table.items()
                        if k[0].startswith("parallel ") and k[2] == "all")
        self.assertEqual(totals, [(12, 4), (12, 4)])
        least = sorted(faults(r)[0] for k, r in table.items()
                       if k[0].startswith("parallel ") and k[2] == "all")
        # The runtime may touch a page of its own for the first time in a parallel region.
        self.assertTrue(24 <= least[0] <= 32 and 36 <= least[1] <= 44, least)

    def test_marks_in_any_process_of_the_command(self):
        """Programs behind wrappers, and marks in a shared library."""
        wrappers = {
            "none": [], "sh": ["sh", "-c", '"$@"; exit $?', "sh"], "env": ["env", "X=1"],
            "numactl": ["numactl", "-l"], "nested": ["sh", "-c", '"$@" & wait', "sh"],
        }
        for name in ("marked_likwid", "marked_papi", "marked_library"):
            want = None
            for kind, wrapper in wrappers.items():
                if wrapper and not shutil.which(wrapper[0]):
                    continue
                done = run("--regions", "--json", "-e", "page-faults", "--", *wrapper,
                           program(name))
                rows = [json.loads(line) for line in done.stdout.splitlines()]
                found = sorted((r["region"], r["visits"], r["counts"][0]["inclusive"])
                               for r in rows if r.get("thread") == "all")
                want = want or found
                self.assertTrue(found, (name, kind))
                self.assertEqual(found, want, (name, kind))

    def test_program_without_marks_loads_no_adapter(self):
        done = run("--regions", "-e", "page-faults", "--", "cat", "/proc/self/maps", status=1)
        self.assertIn("libperfmon-preload", done.stdout)
        self.assertNotIn("libperfmon.so", done.stdout)
        self.assertIn("entered no region; marks of perfmon, ITT, NVTX, Kokkos, OpenMP, likwid, "
                      "PAPI are counted", done.stderr)
        self.assertIn("cat imports none of pfm_begin_region, likwid_marker, PAPI_hl_",
                      done.stderr)
        self.assertIn("GOMP_parallel: it has no marks", done.stderr)

    def test_events_of_papi(self):
        """Names of PAPI and libpfm4 in PAPI_EVENTS, without pfm."""
        adapter = os.path.join(os.environ["PERFMON_ADAPTERS"], "libperfmon-papi-hl.so")
        for events in ("perf::PAGE-FAULTS", "perf::PERF_COUNT_SW_PAGE_FAULTS=delta,PAPI_TOT_INS"):
            with tempfile.TemporaryDirectory() as folder:
                env = dict(CLEAN, LD_PRELOAD=adapter, PAPI_EVENTS=events,
                           PAPI_OUTPUT_DIRECTORY=folder)
                done = subprocess.run([program("marked_papi")], env=env, capture_output=True,
                                      text=True, check=True)
                self.assertEqual(done.stderr, "")
                out = os.path.join(folder, "papi_hl_output")
                with open(os.path.join(out, os.listdir(out)[0]), encoding="utf-8") as f:
                    rows = json.load(f)["threads"]["0"]["regions"].values()
                self.assertEqual([(r["name"], r["page-faults"]) for r in rows],
                                 [("compute", "7"), ("inside", "2")] * 3)

    @unittest.skipUnless(os.path.exists(program("marked_benchmarks")), "no Google Benchmark")
    def test_google_benchmark_reports_counts(self):
        """Iterations have their page faults, without those of the runs that look for the number of
        iterations."""
        env = dict(CLEAN, PERFMON_REGIONS="page-faults", PERFMON_REGIONS_OUTPUT="/dev/null")
        done = subprocess.run([program("marked_benchmarks"), "--benchmark_format=json",
                               "--benchmark_min_time=0.01"], capture_output=True, text=True,
                              check=True, env=env)
        found = {b["name"].split("/")[0]: b for b in json.loads(done.stdout)["benchmarks"]}
        self.assertAlmostEqual(found["touch_four"]["page-faults"], 4, delta=0.05)
        self.assertAlmostEqual(found["touch_nine"]["page-faults"], 9, delta=0.05)
        self.assertFalse(found["touch_four"].get("label"))

    @unittest.skipUnless(os.path.exists(program("marked_bench")), "built without C++")
    def test_benchmarks_without_another_library(self):
        env = dict(CLEAN, PERFMON_REGIONS="page-faults", PERFMON_REGIONS_OUTPUT="/dev/null")
        done = subprocess.run([program("marked_bench")], capture_output=True, text=True,
                              check=True, env=env)
        head, *lines = done.stdout.splitlines()
        self.assertEqual(head.split(), ["ns/op", "error", "page-faults", "pages"])
        found = {line.split()[-1]: float(line.split()[-2]) for line in lines}
        self.assertAlmostEqual(found["touch_four"], 4, delta=0.05)
        self.assertAlmostEqual(found["touch_nine"], 9, delta=0.05)

    @unittest.skipUnless(os.path.exists(program("marked_nanobench")), "no nanobench.h")
    def test_results_of_nanobench_have_counts(self):
        env = dict(CLEAN, PERFMON_REGIONS="page-faults", PERFMON_REGIONS_OUTPUT="/dev/null")
        done = subprocess.run([program("marked_nanobench")], capture_output=True, text=True,
                              check=True, env=env)
        found = {words[0]: float(words[1]) for words in map(str.split, done.stdout.splitlines())}
        self.assertAlmostEqual(found["touch_four"], 4, delta=0.05)
        self.assertAlmostEqual(found["touch_nine"], 9, delta=0.05)

    @unittest.skipUnless(os.path.exists(program("marked_fortran_papi")), "no Fortran or no libpapi")
    def test_fortran_program_of_papi(self):
        table, _ = regions("marked_fortran_papi")
        self.assertEqual(table["solve", None, "all"]["visits"], 3)

    def test_which_are_on(self):
        text = run("--regions", "-e", "page-faults", "--", program("marked_papi")).stderr
        self.assertIn("Regions are read from perfmon, ITT, NVTX, Kokkos, OpenMP, likwid, PAPI.",
                      text)


if __name__ == "__main__":
    sys.exit(tap.main())
