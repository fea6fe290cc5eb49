#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command pfm: what it prints, its exit statuses, its JSON.

PFM names the binary. Prints TAP, one line for each test case. Golden lines come from
tests/vectors/.
"""

import fcntl
import glob
import itertools
import json
import os
import pty
import re
import resource
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import tap
from waiting import start_counting

PFM = os.environ.get("PFM", "pfm")
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VECTORS = os.path.join(HERE, "vectors")
COMPLETION = os.path.join(HERE, "..", "tools", "completion", "pfm.bash")
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(("PERFMON_", "LIBPFM_")) and k not in ("NO_COLOR", "LC_ALL", "LANG")}
for keep in ("PERFMON_PMUC",):
    if keep in os.environ:
        CLEAN[keep] = os.environ[keep]
CLEAN["PERFMON_EVENTS"] = "/nonexistent"    # the user's own images have no part in this


def pfm(*args, env=None, **more):
    """Runs pfm; the result has .returncode, .stdout, .stderr."""
    environment = dict(CLEAN, **(env or {}))
    more.setdefault("timeout", 60)
    if "input" not in more:
        more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([PFM, *args], env=environment, capture_output=True, text=True, **more)


def on_terminal(*args, columns=0, **env):
    """Output of pfm when its standard files are a terminal."""
    master, slave = pty.openpty()
    if columns:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen([PFM, *args], stdout=slave, stderr=slave, stdin=slave,
                         env=dict(CLEAN, TERM="xterm", PAGER="cat", **env))
    os.close(slave)
    out = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:    # Linux says EIO once the other end is closed
            break
        if not piece:
            break
        out += piece
    p.wait()
    os.close(master)
    return out


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def vectors(pattern, key, *kinds):
    """Rows of the golden files that match @pattern, those that have @key (of one of @kinds)."""
    rows = []
    for path in sorted(glob.glob(os.path.join(VECTORS, pattern))):
        with open(path, encoding="utf-8") as f:
            rows += [json.loads(line) for line in f if line.startswith("{")]
    rows = [row for row in rows if key in row and (not kinds or row[key] in kinds)]
    if not rows:
        raise AssertionError(f"no golden rows in tests/vectors/{pattern}")
    return rows


DRIVER = os.environ.get("PERFMON_VECTORS",
                        os.path.join(os.path.dirname(PFM), "..", "tests", "vectors"))


def vectors_driver(*args, **more):
    """The driver of the golden vectors' requests."""
    return subprocess.run([DRIVER, *args], env=CLEAN, capture_output=True, text=True, timeout=300,
                          check=False, **more)


class Case(unittest.TestCase):
    def done(self, *args, **more):
        r = pfm(*args, **more)
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    def fails(self, status, *args, **more):
        r = pfm(*args, **more)
        self.assertEqual(r.returncode, status, r.stdout + r.stderr)
        self.assertNotEqual(r.stderr, "")
        return r.stderr

    def caret(self, stderr, token):
        """The carets mark @token and nothing else."""
        lines = stderr.splitlines()
        for i, line in enumerate(lines):
            if re.fullmatch(r" *\^+", line):
                start = line.index("^")
                self.assertEqual(lines[i - 1][start:start + line.count("^")], token)
                return
        self.fail("no caret in:\n" + stderr)


class CommandLine(Case):
    COMMANDS = ("list", "show", "encode", "dispatch", "decode", "stat", "import", "alpha")

    def test_help_lists_every_command(self):
        out = self.done("--help")
        for name in self.COMMANDS:
            self.assertRegex(out, rf"(?m)^  {name} ")

    def test_every_command_has_help_with_examples(self):
        for name in self.COMMANDS:
            for way in ((name, "--help"), ("help", name), (name, "-h")):
                out = self.done(*way)
                self.assertTrue(out.startswith(f"usage: pfm {name}"), out)
                self.assertIn("\nExamples\n", out)
                self.assertRegex(out, rf"(?m)^      .*pfm {name}")

    def test_help_is_a_command_too(self):
        for way in (("help",), ("help", "--help"), ("help", "-h"), ("help", "help")):
            self.assertEqual(self.done(*way), self.done("--help"))
        for way in (("help", "--color=always", "list"), ("help", "list", "--color", "always")):
            self.assertEqual(self.done(*way), self.done("list", "--color=always", "--help"))
        self.assertIn("one command after help", self.fails(2, "help", "list", "show"))

    def test_examples_use_options_that_exist(self):
        for name in self.COMMANDS:
            out = self.done(name, "--help")
            options, examples = out.split("\nExamples\n")
            for line in examples.splitlines():
                if not line.strip().startswith(f"pfm {name}"):
                    continue
                for option in re.findall(r" (--[a-z-]+)", line.split(" -- ")[0]):
                    self.assertIn(option, options, line)

    def test_examples_of_the_help_work(self):
        """Examples that need no file and count nothing work; the one about a set that does not fit
        is refused."""
        n = 0
        for name in ("list", "show", "encode", "dispatch", "decode"):
            for line in self.done(name, "--help").split("\nExamples\n")[1].splitlines():
                if not line.startswith("      pfm ") or "<" in line:
                    continue
                r = pfm(*shlex.split(line)[1:])
                self.assertEqual(r.returncode, 1 if line.endswith(" Mul Div") else 0,
                                 line + "\n" + r.stderr)
                n += 1
        self.assertGreater(n, 14)

    def test_no_command_is_usage(self):
        self.assertIn("usage: pfm", self.fails(2))

    def test_a_mistyped_command_has_a_suggestion(self):
        self.assertIn("Did you mean 'encode'?", self.fails(2, "encdoe"))
        self.assertIn("Did you mean 'dispatch'?", self.fails(2, "help", "disptach"))
        self.assertIn("Did you mean 'list'?", self.fails(2, "LIST"))

    def test_a_mistyped_option_has_a_suggestion(self):
        self.assertIn("Did you mean --json?", self.fails(2, "list", "--jsno"))
        self.assertIn("unknown option -Z", self.fails(2, "list", "-Z"))
        self.assertIn("takes no value", self.fails(2, "list", "--json=1"))
        self.assertIn("expected a value", self.fails(2, "encode", "--pmu"))
        self.assertIn("-e: expected a value: EVENT,...\n", self.fails(2, "stat", "-e"))
        self.assertNotRegex(self.done("stat", "--help"), "(?m) $")

    def test_missing_operands_are_usage(self):
        for command in ("show", "encode", "dispatch", "decode", "stat", "import", "alpha",
                        "alpha device"):
            self.fails(2, *command.split())

    def test_the_version_has_two_numbers(self):
        self.assertRegex(self.done("--version"), r"^pfm \d+\.\d+")

    def test_options_before_and_after_operands(self):
        a = self.done("encode", "--pmu", "coreduo", "--json", "Instr_Ret")
        self.assertEqual(a, self.done("encode", "Instr_Ret", "--json", "--pmu=coreduo"))

    def test_colours_only_where_wanted(self):
        self.assertNotIn("\033", self.done("show", "coreduo"))
        self.assertIn("\033[1m", self.done("show", "coreduo", "--color=always"))
        self.assertIn("--color: expected auto", self.fails(2, "show", "--color=pink", "coreduo"))

    def test_colours_before_the_command(self):
        for words in ["--color", "always"], ["--color=always"]:
            self.assertIn("\033[", pfm(*words, "list", "--pmus").stdout)
        self.assertIn("'green'", self.fails(2, "--color", "green", "list"))

    def test_colours_on_a_terminal(self):
        self.assertIn(b"\033[", on_terminal("show", "coreduo"))
        self.assertNotIn(b"\033[", on_terminal("show", "coreduo", NO_COLOR="1"))

    def test_reader_that_leaves_is_no_error(self):
        for preexec in (None, lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)):
            p = subprocess.Popen([PFM, "list", "--pmu", "montecito"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=CLEAN, preexec_fn=preexec)
            p.stdout.readline()
            p.stdout.close()
            self.assertEqual(p.stderr.read(), b"")
            p.stderr.close()
            self.assertIn(p.wait(), (0, 1, -signal.SIGPIPE))

    def test_full_device_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w", encoding="ascii") as full:
            r = subprocess.run([PFM, "list", "--pmu", "coreduo"], stdout=full,
                               stderr=subprocess.PIPE, text=True, env=CLEAN)
        self.assertEqual(r.returncode, 1)
        self.assertIn("cannot write", r.stderr)

    def test_closed_standard_files(self):
        def run(command, closed):
            return subprocess.run(["sh", "-c", f'"$0" {command} {closed}', PFM], env=CLEAN,
                                  capture_output=True, text=True, timeout=20)
        for closed in ("<&-", "2>&-", "<&- 2>&-"):
            r = run("encode coreduo::Instr_Ret", closed)
            self.assertEqual(r.returncode, 0, closed)
            self.assertIn("0x00000000005300c0", r.stdout)
        r = run("encode coreduo::Instr_Ret", ">&-")
        self.assertEqual(r.returncode, 1)
        self.assertIn("cannot write", r.stderr)
        self.assertEqual(run("encode coreduo::Instr_Ret", "<&- >&- 2>&-").returncode, 1)
        r = run("encode --json -", "<&-")
        self.assertEqual((r.returncode, r.stdout), (0, ""))

    def test_numbers_do_not_depend_on_the_locale(self):
        a = self.done("show", "--json", "coreduo::Instr_Ret")
        for name in ("de_DE.UTF-8", "C.UTF-8", "nonsense"):
            self.assertEqual(
                a, self.done("show", "--json", "coreduo::Instr_Ret", env={"LC_ALL": name}))


def without_open_events(lines):
    """Lines of pfm doctor without the open events, which belong to other programs and change, and
    without the known counts, which depend on the load."""
    kept, inside = [], False
    for line in lines:
        starts = line.startswith(("  open events", "  known counts"))
        inside = starts or inside and line.startswith(21 * " ")
        if not inside:
            kept.append(line)
    return kept


class List(Case):
    def test_names_every_founding_processor(self):
        out = self.done("list", "--pmus")
        for name in ("coreduo", "montecito", "ev4", "ev5", "pca56", "ev6", "ev67"):
            self.assertRegex(out, rf"(?m)^  {name} ")

    def test_pattern_is_folded(self):
        a = self.done("list", "coreduo::L2_Rqsts")
        self.assertRegex(a, "(?i)L2_Rqsts")
        self.assertEqual(a, self.done("list", "coreduo::l2rqsts"))
        self.assertEqual(a, self.done("list", "coreduo::L2-RQS?S"))

    def test_the_name_of_a_processor_lists_its_pmus(self):
        for pattern, wanted in (("sapphire", "spr"), ("zen 6", "amdzen6"),
                                ("mtl", "mtl_redwoodcove"), ("alderlake", "adl_goldencove"),
                                ("xeon 6", "gnr"), ("epyc 9005", "amdzen5"), ("ryzen 7000",
                                                                              "amdzen4"),
                                ("graviton 4", "neoverse_v2"), ("core ultra", "lnl_lioncove"),
                                ("14th generation", "adl_goldencove"), ("snapdragon x", "oryon")):
            r = pfm("list", pattern)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertRegex(r.stdout, rf"(?m)^  {wanted} +\d+ events")
            self.assertIn("'%s' names processors" % pattern, r.stderr)

    def test_the_core_pmu_of_this_machine_is_the_first_of_its_processor(self):
        for pattern, first, cpuid in (("zen 4", "amdzen4", "AuthenticAMD-25-11-1"),
                                      ("sapphire rapids", "spr", "GenuineIntel-6-8F-8")):
            for env in {"PERFMON_CPUID": cpuid}, {"PERFMON_CPUID": "GenuineIntel-6-E-8"}:
                self.assertRegex(pfm("list", pattern, env=env).stdout, rf"\APMUs\n  {first} ")

    def test_aliases_of_the_kernels_events_are_found(self):
        for alias, event in (("branches", "branch-instructions"), ("cs", "context-switches"),
                             ("^cycles$", "cpu-cycles")):
            self.assertRegex(self.done("list", alias), rf"(?m)^  {event} ")

    def test_names_that_mean_the_same_are_shown(self):
        self.assertIn("similar: LONGEST_LAT_CACHE.MISS",
                      self.fails(1, "list", "--pmu", "spr", "last level cache misses"))
        self.assertIn("ITLB_MISSES.WALK_COMPLETED", pfm("list", "spr::page walks").stderr)

    def test_dates_of_lists(self):
        self.assertRegex(self.done("list", "--pmus", "neoverse"),
                         r"(?m)^  neoverse_n1 .*, list of 20\d\d-\d\d-\d\d$")
        dates = {
            o["pmu"]: o.get("date", "") for o in objects(self.done("list", "--pmus", "--json"))
        }
        self.assertRegex(dates["spr"], r"^20\d\d-\d\d-\d\d$")
        for pmu in ("amdzen1", "amdzen6", "power10", "cf_z16", "cf_z17", "u74", "a64fx",
                    "m1_firestorm", "krait"):
            self.assertRegex(dates[pmu], r"^20\d\d-\d\d$", pmu)
        self.assertLess(dates["cf_z16"], dates["cf_z17"])       # lists of Linux 6.12 and 7.1
        self.assertEqual(dates["ev5"], "")

    def test_json_counts_agree(self):
        pmus = {o["pmu"]: o["events"] for o in objects(self.done("list", "--pmus", "--json"))}
        events = objects(self.done("list", "--pmu", "coreduo", "--all", "--json"))
        self.assertEqual(len(events), pmus["coreduo"])
        for e in events:
            self.assertEqual(e["pmu"], "coreduo")
            self.assertTrue(e["desc"])
            self.assertTrue(e["counters"])

    def test_the_132_events_of_the_core(self):
        names = [o["event"] for o in objects(self.done("list", "--pmu", "coreduo", "--json"))]
        self.assertEqual(len(names), len(set(names)))
        for row in vectors("core.jsonl", "spec"):
            if row["ok"] and row["tag"] == "event_default":
                self.assertIn(row["event"], names)

    def test_words_of_descriptions_are_found(self):
        self.assertNotEqual(self.done("list", "--pmu", "coreduo", "-d", "cache"), "")

    def test_this_machine_first(self):
        """A name that the kernel's own events have is not searched among all processors; a name
        that they do not have is."""
        pmus = {o["pmu"]: o for o in objects(self.done("list", "--pmus", "--json", "--all"))}
        here = {o["pmu"] for o in objects(self.done("list", "--json", "page-faults"))}
        self.assertIn("software", here)
        for pmu in (here
                    | {o["pmu"]
                       for o in objects(self.done("list", "--json", "cache"))}) - {"tracepoint"}:
            self.assertTrue(pmus[pmu]["host"] or pmus[pmu]["kernel"], pmu)
        r = pfm("list", "--json", "PF67_nonsense|^bcachedreadhits$")
        self.assertEqual({(o["pmu"], o["event"]) for o in objects(r.stdout)},
                         {("pca56", "bcachedreadhits")})
        self.assertIn("belong to other processors", r.stderr)
        everywhere = {o["pmu"] for o in objects(self.done("list", "--json", "--all", "cache"))}
        self.assertLess({"coreduo", "ev5", "montecito"}, everywhere | {"none"})

    def test_this_machine_alone(self):
        """Without a pattern the hundreds of other processors are only counted. On request they
        follow this machine's processors."""
        named = [o for o in objects(self.done("list", "--json")) if "events" in o]
        self.assertTrue(all(o["host"] or o["kernel"] for o in named), named)
        everyone = objects(self.done("list", "--pmus", "--json"))
        self.assertEqual([o["pmu"] for o in everyone[:len(named)]], [o["pmu"] for o in named])
        others = len(everyone) - len(named)
        self.assertGreater(others, 300)
        self.assertIn("and %d of other machines" % others, self.done("list"))

    def test_a_pattern_is_a_regular_expression(self):
        def names(pattern):
            return {o["event"] for o in objects(self.done("list", "--json", pattern))}
        all_of_it = names("coreduo")
        self.assertEqual(len(all_of_it),
                         len(objects(self.done("list", "--json", "--pmu", "coreduo"))))
        for pattern in ("^L2_(Rqsts|Lines_In)$", "Mul|Div", r"^.*_Ret$", "BR_.*"):
            self.assertEqual(names("coreduo::" + pattern),
                             {n for n in all_of_it if re.search(pattern, n, re.I)}, pattern)

    def test_tracepoints_of_the_kernel_are_listed(self):
        with tempfile.TemporaryDirectory() as root:
            for name in ("sched/sched_switch", "sched/sched_wakeup", "irq/softirq_entry"):
                os.makedirs(os.path.join(root, "sys/kernel/tracing/events", name))
            env = {"PERFMON_SYSFS": root}
            self.assertEqual(
                [o["event"] for o in objects(self.done("list", "--json", "sched:*", env=env))],
                ["sched:sched_switch", "sched:sched_wakeup"])
            self.assertEqual(
                [o["event"] for o in objects(self.done("list", "--json", "sched_sw", env=env))],
                ["sched:sched_switch"])
            self.assertIn("tracepoints  of the running kernel\n  irq:softirq_entry\n",
                          self.done("list", "softirq", env=env))

    FIELDS = [("common_pid", "int", 4, 4, True), ("prev_comm", "char[16]", 8, 16, False),
              ("name", "__data_loc char[]", 24, 4, False)]

    def machine_with_tracepoints(self):
        """A folder that is a machine with three tracepoints, and PMUs that have no lists."""
        root = tempfile.TemporaryDirectory()
        self.addCleanup(root.cleanup)
        files = {
            "sys/bus/event_source/devices/%s/type" % name: "%d\n" % n
            for n, name in ((1, "software"), (2, "tracepoint"), (5, "breakpoint"), (8, "uprobe"))
        }
        for n, name in enumerate(("sched/sched_switch", "sched/sched_wakeup", "irq/softirq_entry")):
            files["sys/kernel/tracing/events/%s/id" % name] = "%d\n" % (300 + n)
        # The fields, and a line that looks like one.
        files["sys/kernel/tracing/events/sched/sched_switch/format"] = (
            "name: sched_switch\nID: 300\nformat:\n"
            "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
            "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
            "\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n"
            "\nprint fmt: \"field:int x; offset:1; size:1; signed:0\", REC->x\n")
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root.name, path)), exist_ok=True)
            with open(os.path.join(root.name, path), "w", encoding="ascii") as f:
                f.write(text)
        return {"PERFMON_SYSFS": root.name}

    def test_tracepoints_are_shown_with_their_fields(self):
        env = self.machine_with_tracepoints()
        (o,) = objects(self.done("show", "--json", "sched:sched_switch:u", env=env))
        self.assertEqual([(f["name"], f["type"], f["offset"], f["size"], f["signed"])
                          for f in o["fields"]], self.FIELDS)
        self.assertEqual(
            (o["pmu"], o["perf"]["type"], o["perf"]["config"], o["perf"]["exclude_kernel"]),
            ("tracepoint", 2, "0x12c", 1))
        self.assertRegex(self.done("show", "sched:sched_switch", env=env),
                         r"\n  prev_comm +char\[16\], 16 bytes\n")
        self.assertIn("type=5 bp_type=0x2 bp_addr=0x1000 bp_len=0x4",
                      self.done("show", "mem:0x1000:w", env=env))
        (o,) = objects(self.done("encode", "--json", "mem:0x1000/8:x", env=env))
        self.assertEqual([o["perf"][k] for k in ("type", "bp_type", "bp_addr", "bp_len")],
                         [5, "0x4", "0x1000", "0x8"])
        self.assertNotIn("config", o["perf"])

    def test_raw_events_are_shown(self):
        (o,) = objects(self.done("show", "--json", "coreduo::r412e"))
        self.assertEqual(o["event"], "LLC_Misses")
        (o,) = objects(self.done("show", "--json", "coreduo/event=0x24,umask=0xf0/u"))
        self.assertEqual(o["event"], "L2_Lines_In")
        self.assertIn("L2_LINES_IN:BOTH_CORES", o["spellings"]["libpfm"].upper())
        (o,) = objects(self.done("show", "--json", "coreduo::rfffe"))
        self.assertEqual((o["counters"], o["perf"]["config"], o["fields"]), ([0, 1], "0xfffe", []))
        self.assertIn("no event of its list", self.done("show", "coreduo::rfffe"))
        self.fails(1, "show", "coreduo::rfffffffffffffffffff")

    def test_a_mistyped_tracepoint_has_a_suggestion(self):
        env = self.machine_with_tracepoints()
        for wrong, right in (("sched:sched_swich", "sched:sched_switch"), ("shced:sched_wakeup",
                                                                           "sched:sched_wakeup"),
                             ("sched_switch", "sched:sched_switch"), ("irq:softirq_entr:u",
                                                                      "irq:softirq_entry")):
            said = self.fails(1, "stat", "-e", wrong, "--", "true", env=env)
            self.assertIn("did you mean %s" % right, said)
            self.assertNotIn("newer list", said)
        self.assertIn("similar: sched:sched_switch",
                      self.fails(1, "list", "sched:sched_swich", env=env))

    def test_patterns_of_tracepoints(self):
        env = self.machine_with_tracepoints()

        def counted(*words):
            return [
                o["event"] for o in objects(
                    self.done("stat", "--dry-run", "--json", *words, "--", "true", env=env))
            ]
        self.assertEqual(counted("-e", "sched:sched_*"),
                         ["sched:sched_switch", "sched:sched_wakeup"])
        self.assertEqual(counted("-e", "*:s*y:u,page-faults"),
                         ["irq:softirq_entry:u", "page-faults"])
        self.assertEqual(counted("-e", "sched:*[hp]", "--filter", "common_pid == 1"),
                         ["sched:sched_switch", "sched:sched_wakeup"])
        # A pattern in a group adds as many members as it matches.
        self.assertEqual(
            counted("-e", "{ sched:sched_* , page-faults }:W,irq:*"),
            ["sched:sched_switch", "sched:sched_wakeup", "page-faults", "irq:softirq_entry"])
        self.assertIn("no tracepoint matches 'nosuch:*'",
                      self.fails(1, "stat", "-e", "{page-faults,nosuch:*}", "--", "true", env=env))
        self.assertIn("expected a closing brace",
                      self.fails(1, "stat", "-e", "{sched:sched_*", "--", "true", env=env))
        for wrong in ("sched:nosuch*", "nosuch:*"):
            self.assertIn("no tracepoint matches '%s'" % wrong,
                          self.fails(1, "stat", "-e", wrong, "--", "true", env=env))
        with tempfile.TemporaryDirectory() as bare:
            self.assertIn(
                "tracepoints cannot be looked up",
                self.fails(1, "stat", "-e", "sched:*", "--", "true", env={"PERFMON_SYSFS": bare}))

    def test_events_that_are_written_and_not_listed(self):
        env = self.machine_with_tracepoints()
        forms = {
            o["pmu"]: o["form"] for o in objects(self.done("list", "--json", env=env))
            if "form" in o
        }
        self.assertEqual(set(forms), {"tracepoint", "breakpoint", "uprobe"})
        for name in ("breakpoint", "uprobe"):
            self.assertEqual(
                [o["form"] for o in objects(self.done("list", "--json", name, env=env))],
                [forms[name]])
        self.assertIn(forms["uprobe"], self.done("list", "probe", env=env))
        self.assertEqual(
            [o.get("event") for o in objects(self.done("list", "--json", "tracepoint", env=env))],
            ["irq:softirq_entry", "sched:sched_switch", "sched:sched_wakeup", None])

    def test_refuses_bad_regular_expressions(self):
        self.assertIn("not a regular expression", self.fails(1, "list", "zzz("))

    def test_no_match_is_refused_with_similar_names(self):
        err = self.fails(1, "list", "coreduo::L2_Rqstss_zz")
        self.assertIn("no event matches", err)

    def test_an_unknown_pmu_is_marked(self):
        err = self.fails(1, "list", "--pmu", "coreduoo")
        self.assertIn("coreduo", err)
        self.caret(err, "coreduoo")

    def test_wishes_of_the_environment_are_named(self):
        said = self.fails(1, "list", env={"PERFMON_PMU": "coredou"})
        self.assertIn("PERFMON_PMU", said)
        for place in "/no/such/folder", __file__:
            r = pfm("list", "--pmus", env={"PERFMON_SYSFS": place})
            self.assertEqual(r.returncode, 0)
            self.assertIn(f"PERFMON_SYSFS: expected a folder, got {place}", r.stderr)
        self.assertIn("did you mean coreduo", said)
        with tempfile.TemporaryDirectory() as folder:
            image = os.path.join(folder, "odd.pmdb")
            with open(image, "wb") as f:
                f.write(b"no image" * 100)
            said = self.fails(1, "list", env={"PERFMON_EVENTS": image})
            self.assertIn("odd.pmdb", said)
            self.assertIn("not an image", said)
            r = pfm("list", "--pmus", env={"PERFMON_EVENTS": folder})
            self.assertEqual(r.returncode, 0)
            self.assertIn("%s is not used: not an image" % image, r.stderr)

    def test_processors_are_listed_without_events(self):
        self.assertRegex(self.done("list", "--pmus", "--pmu", "coreduo"),
                         r"(?m)^  coreduo +\d+ events")
        names = [o["pmu"] for o in objects(self.done("list", "--json", "--pmus", "Alpha"))]
        self.assertEqual(names, ["ev4", "ev5", "pca56", "ev6", "ev67"])
        self.assertIn("no PMU matches 'zzz'", self.fails(1, "list", "--pmus", "zzz"))

    def test_all_names_that_begin_with_a_word(self):
        said = self.fails(1, "encode", "skl::MEM_LOAD_RETIRED")
        command = re.search(r"(?m)^  all of them: pfm (.*)$", said)[1]
        names = [o["event"] for o in objects(self.done(*shlex.split(command), "--json"))]
        self.assertEqual(names, [
            o["event"] for o in objects(self.done("list", "--json", "--pmu", "skl"))
            if o["event"].startswith("MEM_LOAD_RETIRED.")
        ])
        self.assertGreater(len(names), 5)
        self.assertNotIn("all of them", self.fails(1, "encode", "skl::MEM_LOAD_RETIRED.L3_MISSES"))

    def test_unknown_pmu_of_a_pattern(self):
        said = self.fails(1, "list", "corduo::br")
        self.caret(said, "corduo")
        self.assertIn("did you mean coreduo?", said)

    def test_lines_fill_the_terminal(self):
        """A wrapped line ends where the next word does not fit, and not before. The expected words
        are those of the output without a terminal."""
        broken = 0
        for columns, words in itertools.chain(
                zip(range(60, 140, 4), itertools.repeat(["doctor"])),
                itertools.product(
                    (80, 97, 113),
                    (["list", "--pmus"], ["list", "--pmu", "skl", "br_inst"], [
                        "show", "skl::INST_RETIRED.ANY"
                    ], ["show", "skl::L2_TRANS"], ["show", "montecito::L3_INSERTS"],
                     ["show", "coreduo"], ["stat", "-e", "page-faults,cycles", "true"]))):
            wide, shown = pfm(*words), on_terminal(*words, columns=columns,
                                                   NO_COLOR="1").decode().replace("\x1b[K",
                                                                                  "").splitlines()
            plain = without_open_events((wide.stdout + wide.stderr).splitlines())
            shown = without_open_events(shown)
            for line in plain:
                self.assertTrue(shown, (words, line))
                want, last = line.split(), shown.pop(0)
                n = len(last.split())
                while n < len(want):
                    following = shown.pop(0)
                    self.assertLessEqual(len(last), columns, (words, last))
                    if len(last.split()) > 1:   # a name may be as long as its column
                        self.assertGreater(
                            len(last) + 1 + len(following.split()[0]), columns,
                            (words, columns, last, following))
                    last, n, broken = following, n + len(following.split()), broken + 1
                self.assertEqual(n, len(want), (words, columns, line, last))
            self.assertEqual(shown, [], words)
        self.assertGreater(broken, 100)

    def test_features_go_on_below_themselves(self):
        shown = on_terminal("show", "coreduo", columns=50, NO_COLOR="1").decode().replace("\r", "")
        lines = list(itertools.takewhile(str.strip, shown.split("\n  Features\n")[1].splitlines()))
        column = lines[0].index(lines[0].split(None, 1)[1])
        below = [line for line in lines if line.startswith("   ")]
        self.assertGreater(len(below), 3)
        self.assertEqual({len(line) - len(line.lstrip()) for line in below}, {column})

    def test_lines_fit_a_narrow_terminal(self):
        """No line of a description is wider than the terminal, and no word is lost."""
        for args in ("list", "coreduo::br"), ("list", "--pmus"):
            wide = " ".join(on_terminal(*args, NO_COLOR="1").decode().split())
            lines = on_terminal(*args, columns=44, NO_COLOR="1").decode().splitlines()
            self.assertEqual(" ".join(" ".join(lines).split()), wide)
            self.assertEqual([line for line in lines if line.startswith("    ") and len(line) > 44],
                             [])

    def test_two_patterns_are_usage(self):
        self.fails(2, "list", "a", "b")

    TOY = ('pmu toy "Toy"\nencoder format\ncounter 0..1 width=32\nfield code at=config:0-7\n'
           'event Zebra code=1 topic="Animals" "Striped."\n'
           'event Apple code=2 topic="Fruit" "Two  blanks, three   more and one behind "\n'
           'event Blank code=3 "  "\n'
           'event Eagle code=4 topic="Animals" "%s"\n'
           'event A_name_that_is_as_wide_as_its_column code=5 topic="Animals" " "\n') % ("word " *
                                                                                         14000)

    def test_topics_blanks_and_long_lines(self):
        """Topics in order, each with its events in order; words with one blank between them,
        however many there are."""
        if "PERFMON_PMUC" not in os.environ:
            self.skipTest("PERFMON_PMUC is not set")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "toy.pmu"), "w", encoding="ascii") as f:
                f.write(self.TOY)
            env = {"PERFMON_EVENTS": os.path.join(folder, "toy.pmdb")}
            self.done("import", f.name, "-o", env["PERFMON_EVENTS"])
            said = self.done("list", "--pmu", "toy", env=env).splitlines()
            rows = objects(self.done("list", "--json", "--pmu", "toy", env=env))
            coloured = self.done("list", "--pmu", "toy", "--color=always", env=env)
        eagle = "  Eagle".ljust(34) + " ".join(["word"] * 14000)
        animals = [
            "  A_name_that_is_as_wide_as_its_column  ", eagle, "  Zebra".ljust(34) + "Striped."
        ]
        fruit = "  Apple".ljust(34) + "Two blanks, three more and one behind"
        self.assertEqual(sorted(said[1:]),
                         sorted(["  Blank".ljust(34), " Animals", *animals, " Fruit", fruit]))
        self.assertEqual([line for line in said if line[1:2] != " "][1:], [" Animals", " Fruit"])
        self.assertEqual((said[1], said[-1]), ("  Blank".ljust(34), fruit))
        self.assertEqual([(o["event"], o.get("topic"))
                          for o in rows if o["event"] in ("Blank", "Apple", "Zebra")],
                         [("Blank", None), ("Zebra", "Animals"), ("Apple", "Fruit")])
        self.assertEqual(re.sub("\033[^m]*m", "", coloured).splitlines(), said)

    def test_two_blanks_wherever_they_stand(self):
        """Many letters are scanned at once: in texts of many lengths, two blanks at each place
        become one."""
        if "PERFMON_PMUC" not in os.environ:
            self.skipTest("PERFMON_PMUC is not set")
        lengths = 4, 15, 16, 17, 18, 19, 31, 32, 33, 34, 50
        texts = {
            f"E{n}_{at}": ("x" * at, "x" * (n - at - 2)) for n in lengths for at in range(1, n - 2)
        }
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "toy.pmu"), "w", encoding="ascii") as f:
                f.write(
                    'pmu toy "Toy"\nencoder format\ncounter 0..1 width=32\nfield code'
                    ' at=config:0-15\n'
                )
                f.writelines(f'event {name} code={i} "{parts[0]}  {parts[1]}"\n'
                             for i, (name, parts) in enumerate(texts.items()))
            env = {"PERFMON_EVENTS": os.path.join(folder, "toy.pmdb")}
            self.done("import", f.name, "-o", env["PERFMON_EVENTS"])
            said = self.done("list", "--pmu", "toy", env=env).splitlines()
        self.assertEqual(
            sorted(said[1:]),
            sorted(f"  {name}".ljust(34) + " ".join(parts) for name, parts in texts.items()))

    def test_not_wrapped_for_programs(self):
        for line in self.done("list", "--pmu", "montecito").splitlines()[1:]:
            self.assertTrue(line.startswith("  ") and not line.startswith("   "), line)


    def test_metrics_are_listed_on_demand(self):
        """Metrics appear in a list of events only with -a."""
        rows = objects(self.done("list", "--json", "--metrics", "--pmu", "hardware"))
        self.assertIn("ipc", [o["metric"] for o in rows])
        ipc = next(o for o in rows if o["metric"] == "ipc")
        self.assertEqual((ipc["unit"], ipc["groups"]), ("insn per cycle", ["ratios"]))
        self.assertNotIn(
            "ipc", [o["event"] for o in objects(self.done("list", "--json", "--pmu", "hardware"))])
        self.assertIn(
            "ipc",
            [o["event"] for o in objects(self.done("list", "--json", "-a", "--pmu", "hardware"))])
        self.assertLess(
            {"Frontend_Bound", "Bad_Speculation", "Backend_Bound", "Retiring"},
            {o["metric"] for o in objects(self.done("list", "--json", "--metrics", "skl::TmaL1"))})
        r = pfm("list", "skl::Memory_Bound")
        self.assertIn("no event matches; these are metrics", r.stderr)
        self.assertIn("[percent; Backend;TmaL2]", r.stdout.replace("\n", " "))
        self.assertIn("no metric matches", self.fails(1, "list", "--metrics",
                                                      "skl::nothing_like_it"))
        self.assertIn("the processor has no metrics",
                      self.fails(1, "list", "--metrics", "--pmu", "coreduo"))

    def test_processors_alone_have_no_metrics_units_or_counters(self):
        for more in (("--metrics",), ("--unit", "cha"), ("--counter", "0")):
            self.assertIn("--pmus lists PMUs only", self.fails(2, "list", "--pmus", *more))

    def test_metrics_of_other_machines_are_said_to_be_so(self):
        r = pfm("list", "--json", "--metrics", "info_botlnk_l2_dsb_misses",
                env={"PERFMON_SYSFS": "/nonexistent"})
        self.assertTrue(objects(r.stdout))
        self.assertIn("no metrics of this machine match", r.stderr)


class Newcomer(Case):
    """First steps of a user who is familiar with perf."""

    def test_a_part_of_a_name_leads_to_the_events_of_the_processor(self):
        self.assertIn("did you mean MEM_LOAD_RETIRED.L3_MISS",
                      self.fails(1, "encode", "spr::L3_MISS"))
        self.assertIn("LONGEST_LAT_CACHE.MISS", self.fails(1, "encode", "--pmu", "spr",
                                                           "llc-misses"))

    def test_a_misspelt_name_has_no_recipe_for_another_list(self):
        for name in "cycls", "spr::INST_RETRED.ANY", "intel_arch::INST_RETRED.ANY":
            out = self.fails(1, "encode", name)
            self.assertIn("did you mean", out)
            self.assertNotIn("newer list", out)

    def test_generic_names_are_listed_with_their_aliases(self):
        for alias, name in ("cycles", "cpu-cycles"), ("branches",
                                                      "branch-instructions"), ("cs",
                                                                               "context-switches"):
            self.assertRegex(self.done("list", "^%s$" % alias),
                             r"(?m)^  %s +\(also %s\)" % (name, alias))

    def test_the_name_of_a_family_leads_to_its_pmus(self):
        for name, pmu in ("mtl", "mtl_redwoodcove"), ("alderlake", "adl_gracemont"), ("zen 4",
                                                                                      "amdzen4"):
            self.assertIn(pmu, self.done("list", name))
            self.assertIn(pmu, self.fails(1, "show", name))

    def test_descriptions_name_conditions_and_repetitions(self):
        for event, words in (("spr::MISC_RETIRED.LBR_INSERTS", "only while the LBR is enabled"),
                             ("neoverse_n1::BUS_CYCLES", "repeats CPU_CYCLES"),
                             ("spr::OFFCORE_REQUESTS_OUTSTANDING.L3_MISS_DEMAND_DATA_RD",
                              "no quotient is the whole latency"),
                             ("skx::Split_Stores", "Stores that cross a cache line"),
                             ("amdzen6::ic_fills_from_sys.local_l2",
                              "the instruction cache from this core's L2")):
            self.assertIn(words, self.done("show", event))


class Show(Case):
    def test_a_metric_shows_its_formula_and_groups(self):
        out = self.done("show", "skl::Frontend_Bound")
        for words in (
            "IDQ_UOPS_NOT_DELIVERED.CORE on 0-3",
            "constant       #smt_on",
            "unit           percent",
            (
                "counted as     2 groups of events, no plan has fewer: 2 events have 1 counter (F1)"
                " and no other: at least 2 groups"
            ),
            "(Frontend_Bound > 15)",
            "level 1 of its tree",
        ):
            self.assertIn(words, out)
        (o,) = objects(self.done("show", "--json", "skl::Memory_Bound"))
        self.assertEqual((o["unit"], o["groups"], o["parent"], o["level"]),
                         ("percent", ["Backend", "TmaL2"], "Backend_Bound", 2))
        self.assertEqual(o["plan"]["groups"], o["plan"]["bound"])
        self.assertTrue(o["plan"]["optimal"])
        stores = next(i for i in o["inputs"]
                      if i.get("event") == "skl::EXE_ACTIVITY.BOUND_ON_STORES")
        self.assertEqual(stores["counters"], [0, 1, 2, 3])

    def test_an_event_shows_all_of_its_spellings(self):
        out = self.done("show", "coreduo::L2_Rqsts")
        for word in ("coreduo::L2_Rqsts", "0x2e", "core", "cachestate", "libpmc", "libpfm", "perf",
                     "counters"):
            self.assertIn(word, out)

    def test_an_event_shows_its_counters(self):
        self.assertRegex(self.done("show", "coreduo::FP_Assist"), r"counters +1\n")

    def test_erratum_and_alias(self):
        self.assertIn("AE67", self.done("show", "coreduo::FP_Assist"))
        self.assertIn("Instr_Ret", self.done("show", "--pmu", "coreduo", "instructions"))

    def test_a_processor_shows_its_capabilities(self):
        out = self.done("show", "coreduo")
        for cap in ("INTERRUPT", "USER", "SYSTEM", "EDGE", "THRESHOLD", "READ", "WRITE", "INVERT"):
            self.assertIn("PMC_CAP_" + cap, out)
        self.assertIn("40 bits", out)

    def test_an_event_of_montecito_shows_its_filters(self):
        out = self.done("show", "montecito::L1D_READ_MISSES_ALL")
        self.assertRegex(out, r"event set +L1D:1\n")
        self.assertRegex(out, r"filters +opcode match, code ranges, data ranges\n")
        ear = self.done("show", "montecito::DATA_EAR_CACHE_LAT4")
        self.assertRegex(ear, r"EAR +dcache")

    def test_alpha_event_has_its_constant(self):
        self.assertIn("PF5_MUX1_REPLAY_TRAP", self.done("show", "ev5::replay"))

    def test_json_has_codes_and_masks(self):
        (e,) = objects(self.done("show", "--json", "coreduo::L2_Rqsts"))
        self.assertEqual((e["pmu"], e["code"]), ("coreduo", "0x2e"))
        self.assertEqual(e["counters"], [0, 1])
        self.assertEqual({u["group"] for u in e["umasks"]} & {"core", "cachestate"},
                         {"core", "cachestate"})
        (p,) = objects(self.done("show", "--json", "montecito"))
        self.assertEqual((p["events"], p["width"], p["counters"]), (637, 47, 12))

    def test_show_checks_attributes_after_the_name(self):
        for text, culprit in ("coreduo::L2_Lines_In:zz", "zz"), ("coreduo::L2_Lines_In:c=300",
                                                                 "300"), ("cycles,foo=1", "foo"):
            r = pfm("show", text)
            self.assertEqual((r.returncode, r.stdout), (1, ""))
            self.caret(r.stderr, culprit)
            (o,) = objects(pfm("show", "--json", text).stdout)
            self.assertEqual(list(o), ["input", "error"])

    def test_spellings_mean_the_same(self):
        (e,) = objects(self.done("show", "--json", "coreduo::L2_Lines_In,core=all,prefetch=only"))
        self.assertGreaterEqual(len(e["spellings"]), 3)
        want = objects(self.done("encode", "--json",
                                 "coreduo::L2_Lines_In,core=all,prefetch=only"))[0]["regs"]
        for text in e["spellings"].values():
            got = objects(self.done("encode", "--json", "--pmu", "coreduo", text))[0]["regs"]
            self.assertEqual(got, want, text)

    def test_unknown_event_has_a_caret_and_a_suggestion(self):
        err = self.fails(1, "show", "coreduo::L2_Rqstz")
        self.caret(err, "L2_Rqstz")
        self.assertRegex(err, r"did you mean .*(?i:L2_Rqsts)")
        self.assertNotIn("git clone", err)

    def test_one_letter_less_on_this_machine_is_nearer_than_another_processor(self):
        """Core 2 has an event whose name begins like the text."""
        err = pfm("encode", "MEM_LOAD_RETIRED.L3_MIS",
                  env={"PERFMON_CPUID": "GenuineIntel-6-8F-8"}).stderr
        self.assertIn("did you mean MEM_LOAD_RETIRED.L3_MISS, ", err)

    def test_the_input_option_of_perf_has_a_remedy(self):
        for command in "report", "annotate", "export", "mem":
            self.assertIn("pass the file as an operand, without -i.",
                          self.fails(2, command, "-i", "x"))
        self.assertIn("unknown option -i.", self.fails(2, "show", "-i", "x"))

    def test_unknown_names_that_a_newer_list_may_have(self):
        intel = "git clone --depth 1 https://github.com/intel/perfmon && pfm import perfmon"
        for text, whose in (("skx::QQQQQQQQQQ", "intel/perfmon"),
                            ("amdzen4::qqqqqqqqqq", "torvalds/linux"),
                            ("neoverse_n1::QQQQQQQQQQ", "ARM-software/data")):
            r = pfm("encode", text)
            self.assertEqual((r.returncode, r.stderr.count("git clone")), (1, 1), r.stderr)
            self.assertRegex(r.stderr, "may have it: .*https://github.com/%s.* pfm import" % whose)
        self.assertIn(
            intel,
            pfm("encode", "QQQQQQQQQQ", env={"PERFMON_CPUID": "GenuineIntel-6-55-4"}).stderr)
        self.assertIn(intel, pfm("encode", "--pmu", "skx", "QQQQQQQQQQ").stderr)
        # An Intel processor without a table, and a name unlike any other.
        self.assertIn(
            intel,
            pfm("encode", "L2_RQSTZ", env={"PERFMON_CPUID": "GenuineIntel-6-FE-1"}).stderr)
        self.assertEqual(pfm("encode", "qqqqqqqqqqqq::A").stderr.count("git clone"), 3)
        # The remedy is printed once for several names, but for each name in JSON.
        self.assertEqual(
            pfm("encode", "skx::QQQQQQQQQQ", "skx::QQQQQQQQQZ").stderr.count("git clone"), 1)
        self.assertEqual([
            o["error"]["newer"]
            for o in objects(pfm("encode", "--json", "skx::QQQQQQQQQQ", "skx::QQQQQQQQQZ").stdout)
        ], [[intel]] * 2)
        # A newer list would not help with a typo, an attribute, a founding processor, or a kernel
        # PMU.
        for text in (
            "skx::L2_RQSTZ",
            "neoverse_n1::INST_RETIREDD",
            "amdzen4::l2_mis",
            "skx::INST_RETIRED.ANY:zz",
            "coreduo::L2_Rqstz",
            "nopmu/event=1/",
        ):
            self.assertNotIn("git clone", pfm("encode", text).stderr)
        # A misspelled processor or the name of a family has no such remedy, either.
        for args in (("encode", "skxx::INST_RETIRED.ANY"), ("encode", "--pmu", "zen 4", "cycles"),
                     ("list", "--pmu", "alderlake", "cycles"), ("encode", "zen 4")):
            err = self.fails(1, *args)
            self.assertIn("did you mean ", err)
            self.assertNotIn("git clone", err)


class Encode(Case):
    def test_three_spellings_have_equal_registers(self):
        out = objects(
            self.done("encode", "--json", "--pmu", "coreduo", "coreduo::L2_LINES_IN:BOTH_CORES:u",
                      "L2_Lines_In,core=all,usr"))
        self.assertEqual(out[0]["regs"], out[1]["regs"])
        self.assertEqual(out[0]["regs"][0]["addr"], "0x186")
        self.assertEqual(out[0]["perf"]["exclude_kernel"], 1)

    @unittest.skipUnless(shutil.which("strace"), "strace is missing (Debian package strace)")
    def test_an_event_of_another_processor_reads_no_kernel_pmu(self):
        """Registers, and whether the processor is this one, follow from the name and CPUID."""
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            event = ("skl::MEM_LOAD_RETIRED.L3_MISS" if "AuthenticAMD" in f.read() else
                     "amdzen4::ls_dispatch.ld_dispatch")
        plain = {k: v for k, v in CLEAN.items() if k != "PERFMON_EVENTS"}
        # The leak sanitizer of a variant of the build does not work below strace.
        with tempfile.NamedTemporaryFile("r") as trace:
            r = subprocess.run(
                ["strace", "-f", "-qq", "-e", "trace=open,openat", "-o", trace.name, PFM, "encode",
                 event], env=dict(plain, HOME="/nonexistent", ASAN_OPTIONS="detect_leaks=0"),
                capture_output=True, text=True, check=False, timeout=60)
            calls = trace.read()
        if r.returncode and not calls:
            self.skipTest("strace cannot trace here")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual([x for x in calls.splitlines() if "/sys/bus/event_source" in x], [])

    def test_every_listed_name_encodes(self):
        """Metrics are excluded; some events require a unit mask."""
        names = [
            "%s::%s" % (o["pmu"], o["event"]) for o in objects(self.done("list", "--all", "--json"))
            if "event" in o and "metric" not in o.get("flags", [])
        ]
        p = pfm("encode", "--json", "-", input="\n".join(names) + "\n")
        refused = [
            o for o in objects(p.stdout) if "error" in o and o["error"]["kind"] != "missing_umask"
        ]
        self.assertEqual((len(objects(p.stdout)), refused), (len(names), []))
        self.assertGreater(len(names), 60000)

    def test_other_codes_of_an_event(self):
        event = "skx/event=0xb7,umask=0x1,offcore_rsp=0x10001/u"
        (o,) = objects(self.done("encode", "--json", event))
        self.assertEqual(o["alternatives"],
                         [{"control": "0x5101bb", "msr": "0x1a7", "value": "0x10001"}])
        self.assertEqual([r["value"] for r in o["regs"]], ["0x5101b7", "0x10001"])
        self.assertIn("0x5101bb with MSR 0x1a7 = 0x10001", self.done("encode", event))

    def test_an_answer_has_its_members(self):
        (o,) = objects(self.done("encode", "--json", "coreduo::Instr_Ret,usr"))
        self.assertEqual(list(o), ["input", "pmu", "event", "regs", "counters", "perf",
                                   "known_errata", "foreign"])
        self.assertEqual([e["ids"] for e in o.pop("known_errata")], ["AE51"])
        self.assertEqual(list(o["perf"]), [
            "type", "config", "config1", "config2", "exclude_user", "exclude_kernel", "exclude_hv"
        ])
        self.assertEqual(
            o, {
                "input": "coreduo::Instr_Ret,usr", "pmu": "coreduo", "event": "Instr_Ret", "regs": [
                    {"num": 0, "addr": "0x186", "value": "0x5100c0"}
                ], "counters": [0, 1], "perf": {
                    "type": 4, "config": "0xc0", "config1": "0x0", "config2": "0x0",
                    "exclude_user": 0, "exclude_kernel": 1, "exclude_hv": 1
                }, "foreign": True
            })

    def test_an_event_of_another_machine_says_so(self):
        note = "(on a machine with this processor; on this machine it has another meaning)"
        self.assertIn(note, self.done("encode", "coreduo::Instr_Ret"))
        for text, env in (("coreduo::Instr_Ret", {"PERFMON_CPUID": "GenuineIntel-6-E-8"}),
                          ("page-faults", {})):
            self.assertNotIn(note, self.done("encode", text, env=env))
            self.assertNotIn("foreign", objects(self.done("encode", "--json", text, env=env))[0])

    def test_exclusions_of_a_text(self):
        (o,) = objects(self.done("encode", "--json", "coreduo/event=0xc0/GI"))
        self.assertEqual(
            o["perf"], {
                "type": 4, "config": "0xc0", "config1": "0x0", "config2": "0x0", "exclude_user": 0,
                "exclude_kernel": 0, "exclude_idle": 1, "exclude_host": 1
            })
        self.assertIn(" exclude_idle exclude_guest\n", self.done("encode", "coreduo/event=0xc0/HI"))
        self.caret(self.fails(1, "encode", "coreduo/event=0xc0/ue"), "e")

    def test_an_error_has_its_members(self):
        r = pfm("encode", "--json", "coreduo::Instr_Rett")
        self.assertEqual(r.returncode, 1)
        (o,) = objects(r.stdout)
        self.assertEqual(list(o), ["input", "error"])
        self.assertEqual(list(o["error"]), ["code", "kind", "at", "message", "suggest"])
        self.assertEqual((o["error"]["code"], o["error"]["kind"]), (-4, "unknown_event"))
        self.assertEqual(o["input"][slice(*o["error"]["at"])], "Instr_Rett")
        self.assertTrue(any("Instr_Ret" in s for s in o["error"]["suggest"]), o)

    def test_all_vectors_of_core_are_answered(self):
        rows = vectors("core.jsonl", "spec")
        r = pfm("encode", "--json", "--pmu", "coreduo", "-",
                input="".join(row["spec"] + "\n" for row in rows))
        self.assertEqual(r.returncode, 1)    # some are refused, as they should be
        answers = objects(r.stdout)
        self.assertEqual(len(answers), len(rows))
        for row, o in zip(rows, answers):
            self.assertEqual(o["input"], row["spec"])
            if not row["ok"]:
                self.assertEqual(o["error"]["kind"], row["error"], row)
                continue
            self.assertEqual(o["event"], row["event"])
            self.assertEqual(int(o["regs"][0]["value"], 16), int(row["evsel_en_int"], 16), row)
            self.assertEqual(sum(1 << c for c in o["counters"]), row["counters"])
            self.assertEqual(int(o["perf"]["config"], 16), int(row["perf_config"], 16))
            for key in ("exclude_user", "exclude_kernel"):
                self.assertEqual(o["perf"][key], row[key], row)

    def test_messages_name_the_missing_part(self):
        for text in "", ":", ",", "::", "coreduo::", "coreduo::,":
            self.assertIn("expected an event name", self.fails(1, "encode", text))
        self.assertIn("did you mean coreduo::L2_LINES_IN?",
                      self.fails(1, "encode", "coreduo:L2_LINES_IN"))

    def test_nothing_commands_the_terminal(self):
        said = self.fails(1, "encode", "a\x1b[31m\x07b\u009bc")
        self.assertFalse(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", said), said)

    def test_every_byte_that_is_no_letter_shows_in_a_long_text(self):
        """Many bytes are scanned at once: each unprintable byte is escaped in its place."""
        others = [c for c in (*range(1, 9), *range(11, 32), *range(127, 256))]
        said = self.fails(2, b"".join(b"a\tz\n ~" * 101 + bytes([c]) for c in others) + b"a" * 600)
        self.assertIn("".join("a\tz\n ~" * 101 + f"\\x{c:02x}" for c in others) + "a" * 600, said)

    def test_caret_under_a_qualifier(self):
        err = self.fails(1, "encode", "--pmu", "coreduo", "L2_Rqsts,core=al,usr")
        self.caret(err, "al")
        self.assertIn("all", err)

    def test_every_answer_although_one_is_refused(self):
        r = pfm("encode", "--pmu", "coreduo", "Instr_Ret", "nonsense", "BAClears")
        self.assertEqual(r.returncode, 1)
        self.assertIn("5300c0", r.stdout)
        self.assertIn("5300e6", r.stdout)

    def test_sets_are_lists(self):
        apart = self.done("dispatch", "--json", "coreduo::L2_Lines_In,core=all",
                          "coreduo::FP_Assist")
        self.assertEqual(
            self.done("dispatch", "--json", "coreduo::L2_Lines_In,core=all,coreduo::FP_Assist"),
            apart)

    def test_reasons_are_the_reasons(self):
        said = self.fails(1, "dispatch", "ev67::retinst,ev67::replay")
        self.assertIn("one setting pairs the events of counters 0 and 1", str(said))
        self.assertIn("pmc.core(3) lists this alias",
                      str(self.fails(1, "encode", "coreduo::unhalted-cycles")))

    def test_bytes_that_are_no_text(self):
        p = subprocess.run([PFM, "encode", "--json", "--pmu", "coreduo", "-"],
                           input=b"\xff\xfe\"\\\t\nA\0B\n\n  # note\nInstr_Ret\r\nBAClears",
                           capture_output=True, env=CLEAN, check=False)
        out = [json.loads(line) for line in p.stdout.decode("utf-8").splitlines()]
        self.assertEqual([("error" in o) for o in out], [True, True, True, False, False])
        self.assertEqual(out[1]["input"], "A\0B")
        self.assertEqual(out[3]["input"], "Instr_Ret")
        text = self.done("encode", "--pmu", "coreduo", "-",
                         input="# two of them\n\nInstr_Ret\n \t\r\nBAClears\n")
        self.assertEqual(text.count("PERFEVTSEL0 "), 2)

    def test_comments_after_events(self):
        lines = (
            "Instr_Ret # retired\n  BAClears\t# cleared \r\n# nothing\n\nL2_Lines_In,core=all"
            " #\nInstr_Ret#1\n"
        )
        out = objects(pfm("encode", "--json", "--pmu", "coreduo", "-", input=lines).stdout)
        self.assertEqual([o["input"] for o in out],
                         ["Instr_Ret", "BAClears", "", "L2_Lines_In,core=all", "Instr_Ret#1"])
        self.assertEqual(["error" in o for o in out], [False, False, True, False, True])
        planned = objects(
            self.done("plan", "--json", "--pmu", "coreduo", "-",
                      input=" Instr_Ret,BAClears # a set\n#\nBAClears\n"))
        self.assertEqual([str(o).count("'Instr_Ret'") for o in planned], [1, 0])

    def test_answers_a_program_that_waits(self):
        p = subprocess.Popen([PFM, "encode", "--json", "--pmu", "coreduo", "-"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=CLEAN)
        for name in (b"Instr_Ret\n", b"BAClears\n"):
            p.stdin.write(name)
            p.stdin.flush()
            self.assertTrue(
                select.select([p.stdout], [], [], 20)[0], "no answer while the pipe is open")
            self.assertEqual(json.loads(p.stdout.readline())["input"].encode() + b"\n", name)
        p.stdin.close()
        self.assertEqual(p.wait(), 0)
        p.stdout.close()

    def test_a_line_of_200000_letters_is_an_error(self):
        r = pfm("encode", "--json", "--pmu", "coreduo", "-", input="x" * 200000 + "\nInstr_Ret\n")
        out = objects(r.stdout)
        self.assertIn("error", out[0])
        self.assertEqual(out[1]["event"], "Instr_Ret")

    def test_many_lines_quickly(self):
        names = [row["spec"] for row in vectors("core.jsonl", "spec") if row["ok"]]
        lines = "".join(names[i % len(names)] + "\n" for i in range(20000))
        start = time.monotonic()
        out = self.done("encode", "--json", "--pmu", "coreduo", "-", input=lines)
        self.assertEqual(out.count("\n"), 20000)
        # a tenth of a second on an idle machine; sanitizers take longer
        self.assertLess(time.monotonic() - start, 20)


class Dispatch(Case):
    def answers(self, rows):
        r = vectors_driver(
            "dispatch", "--json", input="".join(
                json.dumps({"id": i, "req": row["req"]}) + "\n" for i, row in enumerate(rows)))
        self.assertEqual(r.returncode, 0, r.stderr)
        out = objects(r.stdout)
        self.assertEqual([o["id"] for o in out], list(range(len(rows))))
        return [o["res"] for o in out]

    def compare(self, name):
        rows = [row for row in vectors(name, "req") if not row.get("q")]
        # see test_montecito.c
        better = {row["id"]: row["res"] for row in vectors("montecito_better.jsonl", "res")}
        for row, res in zip(rows, self.answers(rows)):
            want = better.get(row["id"], row["res"])
            # test_montecito.c checks that the placement is a legal one
            if want["rc"] != 0 or "placed" in want:
                res, want = {"rc": res["rc"]}, {"rc": want["rc"]}
            if row["req"].get("op") == "info":
                # one step past the reference's, on purpose
                want = dict(want, version=res.get("version"))
            self.assertEqual(res, want, row)

    def test_vectors_of_montecito_are_answered(self):
        self.compare("montecito*.jsonl")

    def test_vectors_of_coreduo_are_answered(self):
        self.compare("coreduo.jsonl")

    def test_groups_of_alpha_are_answered(self):
        rows = vectors("alpha*.jsonl", "kind", "group")
        requests = [{"req": {"pmu": row["pmu"], "ev": [name for _, name in row["events"]]}}
                    for row in rows]
        for row, res in zip(rows, self.answers(requests)):
            self.assertEqual(res["rc"] == 0, row["ok"], row)
            if row["ok"]:
                self.assertEqual((int(res["arg"], 16), int(res["a1"], 16)),
                                 (int(row["arg"], 16), int(row["a1"], 16)), row)

    def test_rates_of_alpha_are_answered(self):
        rows = vectors("alpha*.jsonl", "kind", "freq")
        requests = [{
            "req": {
                "pmu": row["pmu"], "ev": [name
                                          for _, name in row.get("events", [])], "freq": row["freq"]
            }
        } for row in rows]
        for row, res in zip(rows, self.answers(requests)):
            self.assertEqual(res["rc"], 0, row)
            if row["pmu"] == "ev4":
                self.assertEqual(int(res["arg"], 16), int(row["arg"], 16), row)
            elif "arg" in row:
                for key in ("arg", "a1"):
                    self.assertEqual(int(res["freq"][key], 16), int(row[key], 16), row)
                self.assertEqual(res["freq"]["privileged"], row["privileged"], row)
                self.assertEqual(int(res["freq"]["pmctr_ctl"], 16), int(row["pmctr_ctl"], 16), row)

    def test_request_that_is_no_request(self):
        r = vectors_driver(
            "dispatch", "--json",
            input='{"req":\n[1]\n{"id":7,"req":{"pmu":"vax"}}\n{"id":"x","req":{"op":"fly"}}\n')
        self.assertEqual(r.returncode, 1)
        out = objects(r.stdout)
        self.assertEqual([o["error"]["kind"] for o in out],
                         ["syntax", "syntax", "unknown_pmu", "bad_value"])
        self.assertEqual([o.get("id") for o in out], [None, None, 7, "x"])

    def test_member_that_is_malformed(self):
        """A malformed member is not read as 0, cut to the width of a field, or ignored."""
        event = {"e": "CPU_OP_CYCLES_ALL"}
        wrong = [{"plm": v} for v in ("zzz", "", " 8", "-8", "8x", "99999999999999999999", [8], 8.5,
                                      -8, 1 << 32)]
        numbers = ("count", "code", "len", "mask", "cnt", "sys", "in", "out", "noinp", "nooutp",
                   "modes", "items", "stat")
        wrong += [{key: "x"} for key in (*numbers, "scope")]
        wrong += [{key: v} for key in ("un", "freq", "period")
                  for v in (4, "4", ["x"], [[]])] + [{"freq": [0] * 4}]
        wrong += [{key: 5} for key in ("pmu", "op", "s", "scope", "op1", "op2", "iear", "dear",
                                       "etb", "ipear", "ir", "dr")]
        wrong += [{"op1": {"m": 256}}, {"ipear": {"delay": 1 << 16}}, {"etb": {"tm": "all"}},
                  {"dear": {"um": []}}, {"ir": {"lim": 5}}, {"dr": {"lim": [5]}},
                  {"dr": {"lim": [[0, "y"]]}}, {"ir": {"lim": [[0, 1, 8]] * 5}},
                  {"ev": "CPU_OP_CYCLES_ALL"}]
        wrong += [{"ev": [dict(event, **{key: v})]}
                  for key, v in (("th", "4x"), ("fl", {}), ("idx", "x"), ("um", 5),
                                 ("um", [0] * 49), ("plm", 1 << 40))]
        r = vectors_driver(
            "dispatch", "--json",
            input="".join(json.dumps({"req": dict({"ev": [event]}, **w)}) + "\n" for w in wrong))
        for w, o in zip(wrong, objects(r.stdout)):
            last = w if "ev" not in w else w["ev"][0] if isinstance(w["ev"], list) else w
            names = [k for k in last if k != "e"]
            self.assertEqual(o.get("error", {}).get("kind"), "bad_value", w)
            self.assertRegex(
                o["error"]["message"],
                '^(expected an? (text|list|object|number)( .*)? in |)"(%s)"( is neither "system"|$)'
                % "|".join(names + ["m", "delay", "tm", "um", "lim"]))
        self.assertEqual(r.returncode, 1)
        right = {"ev": [event], "plm": "0x8", "un": [None, 4], "sys": False, "scope": None}
        r = vectors_driver("dispatch", "--json", input=json.dumps({"req": right}))
        self.assertEqual((r.returncode, objects(r.stdout)[0]["res"]["rc"]), (0, 0))

    def test_a_set_has_counters_and_registers(self):
        (o, ) = objects(
            self.done("dispatch", "--json", "--pmu", "coreduo", "Instr_Ret", "FP_Comp_Instr_Ret"))
        self.assertEqual([e["counter"] for e in o["events"]], [1, 0])
        self.assertEqual([r["num"] for r in o["pmc"]], [1, 0])

    def test_clash_names_the_events(self):
        err = self.fails(1, "dispatch", "--pmu", "coreduo", "Mul", "Div")
        self.assertIn("\n  number 1: Mul\n  number 2: Div\n", err)
        r = pfm("dispatch", "--json", "--pmu", "coreduo", "Mul", "Div")
        (o,) = objects(r.stdout)
        self.assertEqual((r.returncode, o["error"]["kind"], o["clash"], o["clash_counters"]),
                         (1, "no_placement", [0, 1], [1]))

    def test_caret_in_one_of_a_set(self):
        err = self.fails(1, "dispatch", "--pmu", "coreduo", "Instr_Ret", "BAClearz")
        self.caret(err, "BAClearz")

    def test_unavailable_registers_are_not_used(self):
        (o, ) = objects(
            self.done("dispatch", "--json", "--pmu", "montecito", "--unavailable", "4-6,8",
                      "CPU_OP_CYCLES_ALL"))
        self.assertEqual(o["pmc"][0]["num"], 7)
        self.fails(2, "dispatch", "--unavailable", "4-", "x")

    def test_montecito_features_answer_as_the_requests_do(self):
        cases = [
            (["--dear", "cache,umask=3"], {"dear": {"mode": 0, "um": 3}}),
            (["--iear", "tlb,umask=2,plm=u"], {"iear": {"mode": 1, "um": 2, "plm": 8}}),
            (["--etb=tm=taken,ptm=all,ppm=wrong,brt=iprel"],
             {"etb": {"tm": 2, "ptm": 3, "ppm": 1, "brt": 1}}),
            (["--ipear=delay=100"], {"ipear": {"delay": 100}}),
            (["--opcm", "slots=mi,match=0x1234,mask=0xff"],
             {"op1": {"m": 1, "i": 1, "match": "0x1234", "mask": "0xff"}}),
            (["--opcm",
              "match=0x1234"], {"op1": {"m": 1, "i": 1, "f": 1, "b": 1, "match": "0x1234"}}),
            (["--irange", "0x4000000000010000-0x4000000000010100"],
             {"ir": {"lim": [["0x4000000000010000", "0x4000000000010100"]]}}),
            (["--irange", "0x4000000000010000+0x100,nofine"],
             {"ir": {"fl": 2, "lim": [["0x4000000000010000", "0x4000000000010100"]]}}),
            (["--thres", "3"], {"ev": [{"e": "IA64_INST_RETIRED", "th": 3}]}),
        ]
        for options, request in cases:
            request = dict({"ev": ["IA64_INST_RETIRED"]}, **request)
            r = pfm("dispatch", "--json", "--pmu", "montecito", *options, "IA64_INST_RETIRED")
            (o,) = objects(r.stdout)
            (res,) = self.answers([{"req": request}])
            self.assertEqual(r.returncode, 0 if res["rc"] == 0 else 1, options)
            if res["rc"] == 0:
                self.assertEqual([[p["num"], p["value"]] for p in o["pmc"]],
                                 [p[:2] for p in res["pmc"]], options)
                self.assertEqual([b["value"] for b in o.get("ibr", [])],
                                 [b[1] for b in res.get("ir", {}).get("br", [])])

    def test_montecito_options_point_at_mistakes(self):
        self.caret(
            self.fails(2, "dispatch", "--pmu", "montecito", "--dear", "cache,umsk=3", "L3_MISSES"),
            "umsk=3")
        self.caret(self.fails(2, "dispatch", "--pmu", "montecito", "--irange", "0x10", "L3_MISSES"),
                   "0x10")
        self.fails(2, "dispatch", "--pmu", "coreduo", "--etb", "Instr_Ret")
        said = self.fails(2, "dispatch", "--pmu", "montecito", "--opcm", "zz", "L3_MISSES")
        self.caret(said, "zz")
        self.assertIn("slots=mifb,match=N,mask=N", said)    # the expected format
        self.assertIn(
            "slots are m, i, f and b",
            self.fails(2, "dispatch", "--pmu", "montecito", "--opcm", "slots=,match=1",
                       "L3_MISSES"))
        self.assertIn(
            "the range is empty",
            self.fails(2, "dispatch", "--pmu", "montecito", "--irange", "0x10+0", "L3_MISSES"))

    def test_more_thresholds_than_events(self):
        self.assertIn(
            "got 3 for 1 event.",
            self.fails(2, "dispatch", "--pmu", "montecito", "--thres", "1,2,3",
                       "IA64_INST_RETIRED"))

    def test_refuses_bad_ranges(self):
        for given in "0x10-0x4", "0x10-0x10", "0x10+0", "0xfffffffffffffff0+0x20":
            self.assertIn(
                given,
                self.fails(2, "dispatch", "--pmu", "montecito", "--irange", given,
                           "IA64_INST_RETIRED"))

    def test_ranges_that_take_several_events_name_them(self):
        command = [
            "dispatch", "--pmu", "montecito", "--irange", "0x4000000000001010-0x4000000000031200"
        ]
        named = re.findall(r"IA64_TAGGED\w+",
                           self.fails(1, *command, "IA64_TAGGED_INST_RETIRED_IBRP1_PMC34_35"))
        self.assertEqual(len(named), 4)
        self.done(*command, *named)
        # One event that counts for the first pair gets one larger block.
        self.assertIn("0x4000000000000000", self.done(*command, named[0]))

    def test_too_many_events(self):
        self.fails(1, "dispatch", "--pmu", "coreduo", *["Instr_Ret"] * 3)
        self.fails(2, "dispatch", "--pmu", "coreduo", *["Instr_Ret"] * 65)


class Limits(Case):
    """Limits of an event and of a counter, not of the field or of counter 0."""

    def test_thresholds_of_an_event(self):
        self.assertIn("thres=0..5", self.done("show", "montecito::NOPS_RETIRED"))
        self.assertNotIn("thres", self.done("show", "montecito::FE_BUBBLE_ALL"))
        self.assertIn("at most 5", self.fails(1, "encode", "montecito::NOPS_RETIRED:thres=6"))
        self.done("encode", "montecito::NOPS_RETIRED:thres=5")

    def test_widths_of_counters(self):
        self.assertIn("16 bits; 14 bits of counter 2", self.done("show", "ev5"))
        self.assertIn("16 bits; 12 bits of counter 1", self.done("show", "ev4"))


class KernelFields(Case):
    """Fields of a PMU that only the kernel knows: the exact name wins over short names, as in
    perf, whose parser knows the names of the format files alone."""

    def test_exact_names_of_fields(self):
        fields = {"event": 0, "edge": 8, "e": 9, "inv": 10, "i": 11, "cmask": 12, "c": 13,
                  "any": 14, "t": 15, "u": 16}
        with tempfile.TemporaryDirectory() as root:
            top = os.path.join(root, "sys/bus/event_source/devices/ux")
            os.makedirs(os.path.join(top, "format"))
            with open(os.path.join(top, "type"), "w") as f:
                f.write("030\n")
            for name, bit in fields.items():
                with open(os.path.join(top, "format", name), "w") as f:
                    f.write("config:%d\n" % bit)
            for name, bit in fields.items():
                (o,) = objects(self.done("encode", "--json", "ux/%s/" % name,
                                         env={"PERFMON_SYSFS": root}))
                self.assertEqual((o["perf"]["type"], int(o["perf"]["config"], 16)),
                                 (30, 1 << bit), name)


class Decode(Case):
    def test_a_register_of_core_decodes_to_its_event(self):
        out = self.done("decode", "--pmu", "coreduo", "PERFEVTSEL0=0x53d024")
        self.assertRegex(out, "(?i)L2_Lines_In")

    def test_json_leads_back(self):
        (o,) = objects(self.done("decode", "--pmu", "coreduo", "--json", "PERFEVTSEL0=0x53d024"))
        self.assertEqual((o["pmu"], o["value"]), ("coreduo", "0x53d024"))
        self.assertTrue(o["events"])
        for text in o["events"]:
            (e,) = objects(self.done("encode", "--json", "--pmu", "coreduo", text))
            self.assertEqual(e["regs"][0]["value"], "0x53d024", text)

    def test_a_register_of_montecito_has_its_fields(self):
        (o,) = objects(self.done("decode", "--pmu", "montecito", "--json", "PMC4=0x2035808"))
        fields = {f["name"]: int(f["value"], 16) for f in o["fields"]}
        self.assertEqual((fields["plm"], fields["es"], fields["umask"]), (8, 0x58, 3))
        self.assertIn("ALAT_CAPACITY_MISS_ALL", " ".join(o["events"]))

    def test_bits_of_no_field_are_named(self):
        self.assertRegex(self.done("decode", "--pmu", "coreduo", "PERFEVTSEL0=0x80000010053d024"),
                         r"no field +0x800000100000000\b")
        self.assertRegex(self.done("decode", "--pmu", "montecito", "PMC4=0x2035888"),
                         r"no field +0x80\b")
        self.assertNotIn("no field", self.done("decode", "--pmu", "coreduo",
                                               "PERFEVTSEL0=0x53d024"))
        (o,) = objects(self.done("decode", "--pmu", "ev5", "--json", "PMC8=0x800f1000000f0"))
        self.assertEqual(o["rest"], "0x800f100000000")

    def test_the_selects_of_the_21164_wherever_they_are(self):
        for pmu, reg, value, event in (("ev5", "PMC8", "0x800f0", "scachereads"),
                                       ("pca56", "PMC8", "0x1f0", "bcachedreadhits"),
                                       ("ev5", "PCNT5MUX", "0x80000000000f0", "scachereads")):
            (o,) = objects(self.done("decode", "--pmu", pmu, "--json", reg + "=" + value))
            self.assertIn(event, o["events"])

    def events(self, pmu, *words):
        """The events of each register."""
        return [o["events"] for o in objects(self.done("decode", "--json", "--pmu", pmu, *words))]

    def test_words_that_belong_together(self):
        for pmu, config, config1, expected in (
            ("skx", "0x1b7", "0x10001", ["OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE"]),
                # The other extra register, a value that matches no row, and a modifier.
            ("skx", "0x1bb", "0x10001", ["OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE"]),
            ("skx", "0x50001bb", "0x10003", ["OFFCORE_RESPONSE:cmask=5:offcore_rsp=0x10003"]),
                # Several fields share these bits: the event decides between them.
            ("skx", "0x1cd", "4", ["MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4"]),
            ("skx", "0x5301cd", "3", ["MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4:ldlat=3"]),
            ("skx", "0x1c6", "0x13", ["FRONTEND_RETIRED.L2_MISS"]),
            ("bdw", "0x1bb", "0x10001", [
                "OFFCORE_RESPONSE_1:request_1=DEMAND_DATA_RD:response_1=ANY_RESPONSE",
                "OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE"
            ]),
                # The second extra register lacks a bit of the first; an unassigned bit is set.
            ("glm", "0x2b7", "0x4000000001", []),
            ("skx", "0x80000000000001b7", "0x10001", [])):
            self.assertEqual(self.events(pmu, "config=" + config, "config1=" + config1),
                             [expected] * 2, (pmu, config, config1))
            self.assertEqual(self.events(pmu, "CONFIG1=" + config1, "config0=" + config),
                             [expected] * 2, (pmu, config, config1))
        # In text output the event appears once, after the last word.
        said = self.done("decode", "--pmu", "skx", "config=0x1b7", "config1=0x10001")
        self.assertEqual(said.count("ANY_RESPONSE"), 1)
        self.assertNotIn(" event ", said[:said.index("config1")])

    def test_a_word_that_comes_again_is_another_events(self):
        events = self.events("skx", "config=0x3c", "config=0x1b7", "config1=0x10001", "config=0xc0")
        self.assertIn("CPU_CLK_UNHALTED.THREAD_P", events[0])
        self.assertEqual(events[1:3], [["OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE"]] * 2)
        self.assertIn("INST_RETIRED.ANY_P", events[3])
        self.assertGreater(
            len(self.events("skx", "config=0x1b7", "PERFEVTSEL0=0x5301b7", "config1=0x10001")[0]),
            1)

    def test_two_registers_that_choose_an_event(self):
        both = ["branch_retired:m32=MMNP:thr=3:u"]
        self.assertEqual(
            self.events("netburst", "CCCR12=0x37b000", "ESCR0=0xc000205", "cccr0=0x39000"),
            [both, both, []])
        self.assertEqual(self.events("netburst", "ESCR1=0xc000205", "PMC14=0x37b000"), [both, both])
        self.assertEqual(self.events("netburst", "CCCR8=0x3b000", "ESCR0=0xc00020f"), [[], []])
        self.assertEqual(self.events("netburst", "ESCR1=0xc00020f", "config=0x520002000003b000"),
                         [["BSQ_active_entries:m12=REQ_TYPE0", "branch_retired:m32=MMNP"],
                          ["branch_retired:m32=MMNP"]])
        said = self.done("decode", "--pmu", "netburst", "CCCR12=0x37b000", "ESCR0=0xc000205",
                         "PMC4=0x39000")
        self.assertEqual(said.count("  event  "), 3)  # one of them is the ESCR's field
        self.assertEqual(said.count("branch_retired"), 1)
        self.assertTrue(said.endswith("is chosen in the ESCR: give both registers\n"), said)
        for pmu, other in (("netburst", "ESCR0=0"), ("netburst", "config=0"), ("coreduo",
                                                                               "PMC0=0")):
            self.assertNotIn("give both", self.done("decode", "--pmu", pmu, other))

    def test_more_events_than_are_named(self):
        (o,) = objects(self.done("decode", "--json", "--pmu", "clx", "config=0x1b7"))
        self.assertEqual((len(o["events"]), o["more"]), (64, True))
        self.assertRegex(
            self.done("decode", "--pmu", "clx", "config=0x1b7"),
            r"\n  or +more than 56 others; --json lists them\n +one of more than 64 events: ")
        (o,) = objects(self.done("decode", "--json", "--pmu", "clx", "config=0x3c"))
        self.assertNotIn("more", o)

    def test_wrong_registers_are_marked(self):
        self.caret(self.fails(1, "decode", "--pmu", "coreduo", "PERFEVTSEL0=12q"), "12q")
        said = self.fails(1, "decode", "--pmu", "coreduo", "NOSUCHREG=1")
        self.caret(said, "NOSUCHREG")
        self.assertIn("there are PMC0 to PMC1, PERFEVTSEL0", said)
        self.fails(1, "decode", "--pmu", "coreduo", "PERFEVTSEL0")
        self.fails(1, "decode", "--pmu", "coreduo", "PERFEVTSEL0=0x10000000000000000")


class Stat(Case):
    def test_counts_of_a_command(self):
        out = objects(self.done("stat", "--json", "-e", "page-faults,task-clock", "--", "true"))
        # An unprivileged user's counts exclude the kernel: ":u" is added to their names.
        self.assertEqual([o["event"].removesuffix(":u") for o in out],
                         ["page-faults", "task-clock"])
        for o in out:
            self.assertIn(o["quality"],
                          ("exact", "scaled", "partial", "not counted", "not supported"))
            if o["value"] is None:
                self.assertIn(o["quality"], ("not counted", "not supported"))
                self.assertTrue(o["why"])
            else:
                self.assertGreater(o["value"], 0)

    def test_a_count_not_taken_is_no_number(self):
        r = pfm("stat", "-e", "coreduo::Instr_Ret,page-faults", "--", "true")
        for line in r.stderr.splitlines():
            if "Instr_Ret" in line and "<not" not in line and not line.startswith("  coreduo"):
                self.assertRegex(line, r"^ *[\d,]+ ")
        objs = objects(pfm("stat", "--json", "-e", "coreduo::Instr_Ret", "--", "true").stdout)
        for o in objs:
            self.assertEqual(o["value"] is None, o["quality"] in ("not counted", "not supported"))

    def test_text_goes_beside_the_commands_output(self):
        r = pfm("stat", "-e", "page-faults", "--", "echo", "hello")
        self.assertEqual(r.stdout, "hello\n")
        self.assertIn("page-faults", r.stderr)
        self.assertIn("seconds elapsed", r.stderr)

    def test_status_of_the_command(self):
        self.assertEqual(pfm("stat", "-e", "page-faults", "--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(
            pfm("stat", "-e", "page-faults", "--", "sh", "-c", "kill -9 $$").returncode, 137)
        self.assertIn("cannot run",
                      self.fails(127, "stat", "-e", "page-faults", "--", "/no/such/program"))
        self.assertIn("cannot run", self.fails(126, "stat", "-e", "page-faults", "--",
                                               "/etc/passwd"))

    def test_options_of_the_command_are_its_own(self):
        r = pfm("stat", "-e", "page-faults", "echo", "-e", "--json")
        self.assertEqual(r.stdout, "--json\n")

    def plan(self, events):
        return [o["event"] for o in objects(self.done("stat", "--dry-run", "--json", "-e", events))]

    def test_commas_separate_events_but_not_their_attributes(self):
        self.assertEqual(self.plan("page-faults,task-clock"), ["page-faults", "task-clock"])
        self.assertEqual(
            self.plan("coreduo::Bus_Snoops,agent=any,cachestate=ms,cmask=2,inv,usr,page-faults"),
            ["coreduo::Bus_Snoops,agent=any,cachestate=ms,cmask=2,inv,usr", "page-faults"])
        self.assertEqual(self.plan("coreduo/event=0x2e,umask=0x41/u,page-faults"),
                         ["coreduo/event=0x2e,umask=0x41/u", "page-faults"])
        self.assertEqual(self.plan("page-faults,coreduo::L2_LINES_IN:SELF:c=1:i"),
                         ["page-faults", "coreduo::L2_LINES_IN:SELF:c=1:i"])

    def test_braces_make_groups(self):
        out = objects(
            self.done("stat", "--dry-run", "--json", "-e",
                      "{page-faults,task-clock},context-switches"))
        self.assertEqual([o["group"] for o in out][0], [o["group"] for o in out][1])
        self.assertNotEqual([o["group"] for o in out][1], [o["group"] for o in out][2])

    def test_dry_run_shows_attributes(self):
        (o,) = objects(self.done("stat", "--dry-run", "--json", "-e", "page-faults"))
        self.assertEqual((o["perf"]["type"], o["perf"]["config"]), (1, "0x2"))
        self.assertIn("type=1 config=0x2", self.done("stat", "--dry-run", "-e", "page-faults"))

    def test_an_unknown_event_starts_no_program(self):
        err = self.fails(1, "stat", "-e", "page-faults,page-fautls", "--", "touch",
                         "/nonexistent/x")
        self.caret(err, "page-fautls")
        self.assertNotIn("touch", err)

    def test_wrong_options_are_refused(self):
        self.fails(2, "stat", "-e", "page-faults")
        self.fails(2, "stat", "-p", "x")
        self.fails(2, "stat", "-r", "0", "--", "true")
        self.fails(2, "stat", "-r", "2", "-a")
        self.fails(2, "stat", "-r", "2", "-I", "10", "--", "true")
        self.fails(1, "stat", "-o", "/no/such/folder/x", "--", "true")

    def test_repeated_runs_have_a_spread(self):
        (o,) = objects(self.done("stat", "--json", "-r", "3", "-e", "page-faults", "--", "true"))
        if o["value"] is None:
            self.skipTest("page faults cannot be counted here: " + o["why"])
        self.assertEqual((o["runs"], o["counted"]), (3, 3))
        self.assertLess(o["deviation"], 100)

    def test_progress_of_long_repeats_is_for_terminals(self):
        many = ("stat", "-r", "3", "-e", "page-faults", "--", "sleep", "0.6")
        out = on_terminal(*many)
        self.assertIn(b"run 3 of 3", out)
        self.assertLess(out.rindex(b"run 3 of 3"), out.rindex(b"page-faults"))
        self.assertNotIn("run 3 of 3", pfm(*many).stderr)

    def test_intervals_are_in_the_order_of_time(self):
        out = objects(
            self.done("stat", "--json", "-I", "100", "-e", "task-clock", "--", "sleep", "0.35"))
        times = [o["time"] for o in out]
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(len(times), 3)

    def test_intervals_add_up(self):
        """Faults of all intervals add up to those of one measurement of the same program, and each
        step's faults are in its own interval."""
        steps = "import mmap, time\nfor n in 1000, 3000:\n  m = mmap.mmap(-1, n * 4096)\n" \
                "  for i in range(n): m[i * 4096] = 1\n  time.sleep(0.3)"    # quiet intervals
        program = ["-e", "page-faults:u", "--", sys.executable, "-S", "-c", steps]
        whole = objects(self.done("stat", "--json", *program))[0]
        parts = objects(self.done("stat", "--json", "-I", "100", *program))
        self.assertEqual(whole["quality"], "exact")
        for o in parts:     # a program that sleeps for all of an interval is enabled for no time
            self.assertEqual((o["quality"], o.get("cause"), o["value"] is None),
                             ("exact", None, False) if o["enabled"] else
                             ("not counted", "no time", True))
        self.assertAlmostEqual(sum(o["value"] or 0 for o in parts), whole["value"], delta=40)
        self.assertTrue([o for o in parts if (o["value"] or 0) < 100],
                        "no interval of the sleep is quiet")

    def test_counts_go_to_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "counts")
            r = pfm("stat", "--json", "-o", path, "-e", "page-faults", "--", "echo", "x")
            self.assertEqual(r.stdout, "x\n")
            with open(path, encoding="utf-8") as f:
                self.assertEqual(
                    json.loads(f.readline())["event"].removesuffix(":u"), "page-faults")

    def test_process_until_it_ends(self):
        p = subprocess.Popen(["sleep", "0.5"])
        try:
            out = objects(self.done("stat", "--json", "-e", "task-clock", "-p", str(p.pid)))
        finally:
            p.wait()
        self.assertGreater(out[0]["elapsed"], 0.1)

    def test_interrupt_ends_the_measurement(self):
        target = subprocess.Popen(["sleep", "30"])
        p = start_counting([PFM, "stat", None, "--json", "-e", "task-clock", "-p", str(target.pid)],
                           env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=20)
        target.kill()
        target.wait()
        self.assertEqual(
            json.loads(out.splitlines()[0])["event"].removesuffix(":u"), "task-clock", err)

    def test_ground_truth_of_page_faults(self):
        touch = "import mmap\nm = mmap.mmap(-1, {n} * 4096)\nfor i in range({n}): m[i * 4096] = 1\n"

        def faults(n):
            (o, ) = objects(
                self.done("stat", "--json", "-e", "page-faults", "--", sys.executable, "-S", "-c",
                          touch.format(n=n)))
            if o["value"] is None:
                self.skipTest("page faults cannot be counted here: " + o["why"])
            return o["value"]
        with open("/sys/kernel/mm/transparent_hugepage/shmem_enabled", encoding="ascii") as f:
            if "[never]" not in f.read() and "[advise]" not in f.read():
                self.skipTest("huge pages for shared memory")
        few, many = faults(100), faults(4100)
        if many - few < 3000:
            self.skipTest("the kernel maps several pages at each fault")
        self.assertLess(abs(many - few - 4000), 100)

    def test_the_model_of_the_device_counts(self):
        out = objects(
            self.done("stat", "--json", "--device-model", "ev5", "-e", "cycles,issues", "--",
                      "sleep", "0.05"))
        self.assertEqual([o["event"] for o in out], ["cycles", "issues"])
        for o in out:
            self.assertIsNotNone(o["value"])

    def test_unknown_device_model(self):
        self.fails(1, "stat", "--device-model", "ev55", "-e", "cycles", "--", "true")

    def test_device_model_wants_events(self):
        self.assertIn("name events with -e",
                      self.fails(2, "stat", "--device-model", "ev6", "--", "true"))

    def test_plan_of_a_device_model(self):
        out = self.done("stat", "--dry-run", "--device-model", "ev6", "-e", "cycles")
        self.assertIn("pmu ev6", out)
        self.assertNotIn("this machine", out)

    def test_profileme_statistics_are_no_events(self):
        """pfm(7) calls a statistic of EV67 "cycles"; processor cycles have other names there."""
        others = {
            "cycles": "cycles0, cycles1 or anycycles", "retired": "retinst", "replay_trap": "replay"
        }
        for name, instead in others.items():
            for more in ((), ("--dry-run",)):
                words = ("stat", *more, "--device-model", "ev67", "-e", name, "--", "true")
                (o,) = objects(self.done(words[0], "--json", *words[1:]))
                self.assertIn("ProfileMe statistic", o["note"])
                self.assertTrue(o["note"].endswith(f"those are {instead}."), o["note"])
                r = pfm(*words)
                self.assertIn(o["note"], " ".join((r.stdout + r.stderr).split()))
            self.assertIn(instead, " ".join(self.done("show", "ev67::" + name).split()))
            self.assertIn(instead, objects(self.done("show", "--json", "ev67::" + name))[0]["note"])
        (o, ) = objects(
            self.done("stat", "--json", "--device-model", "ev67", "-e", "cycles_per_ret", "--",
                      "true"))
        self.assertIn("Not divided", o["note"])
        for model, name in ("ev67", "cycles0"), ("ev67", "retinst"), ("ev5", "cycles"):
            (o, ) = objects(
                self.done("stat", "--json", "--device-model", model, "-e", name, "--", "true"))
            self.assertNotIn("note", o)

    def test_process_that_is_gone(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        r = pfm("stat", "--json", "-e", "page-faults:u", "-p", str(gone.pid))
        (o,) = objects(r.stdout)
        if o["cause"] == "permission":
            self.skipTest(o["why"])    # the kernel looks at permissions first
        self.assertEqual((r.returncode, o["value"], o["quality"], o["cause"]),
                         (1, None, "not counted", "no process"))
        self.assertIn(str(gone.pid), o["why"])

    def test_counts_are_per_cpu(self):
        out = objects(
            self.done("stat", "--json", "--device-model", "ev5", "-C", "0", "--per-cpu", "-e",
                      "cycles", "--", "true"))
        self.assertEqual([(o["cpu"], o["event"]) for o in out], [("0", "cycles")])
        self.fails(2, "stat", "--per-cpu", "-e", "page-faults", "--", "true")

    def test_wrong_lists_of_cpus_are_refused(self):
        for cpus in "", "x", "1-0", "0,", "0-", "0-1-2", "99999999":
            self.assertIn("'%s'" % cpus,
                          self.fails(2, "stat", "-C", cpus, "-e", "page-faults", "--", "true"))
        self.assertIn("-e: expected events", self.fails(2, "stat", "-e", "", "--", "true"))
        for texts, at in (",,", 0), ("cycles,,page-faults", 7), (",cycles", 0), ("cycles,", 6):
            said = self.fails(1, "stat", "-e", texts, "--", "true")
            self.assertIn("expected an event before and after this comma", said)
            self.assertEqual(said.splitlines()[2], " " * (2 + at) + "^")

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_output_that_is_full(self):
        for more in (), ("--json",):
            said = self.fails(1, "stat", *more, "-o", "/dev/full", "-e", "page-faults", "--",
                              "true")
            self.assertIn("/dev/full: No space left on device", said)

    def test_nothing_to_wait_for(self):
        """Process 1 does not end: if none of its events can be counted, the command returns at
        once."""
        for more in (), ("-I", "1000"), ("-r", "1"):
            (o, ) = objects(
                pfm("stat", "--json", *more, "-p", "1", "-e", "coreduo::Instr_Ret",
                    timeout=20).stdout)
            self.assertEqual((o["value"], o["quality"], o["cause"]),
                             (None, "not supported", "no PMU"))


class Fallback(Case):
    """A processor without a list uses the architectural table of its family. This is reported once,
    wherever it happens."""
    EVENT = "LLC_MISSES"
    NOTE = "no list of this machine's processor is loaded; intel_arch "

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        cpu = os.path.join(folder.name, "sys/bus/event_source/devices/cpu")
        os.makedirs(os.path.join(cpu, "format"))
        for name, text in ("type", "4"), ("format/event", "config:0-7"), ("format/umask",
                                                                          "config:8-15"):
            with open(os.path.join(cpu, name), "w", encoding="ascii") as f:
                f.write(text + "\n")
        self.env = {"PERFMON_SYSFS": folder.name, "PERFMON_CPUID": "GenuineIntel-19-7-1"}

    def answer(self, *args):
        r = pfm(*args, env=self.env)
        self.assertEqual(r.returncode, 0, r.stderr)
        return r

    def test_a_fallback_is_said_once(self):
        for args in (("encode", self.EVENT, self.EVENT), ("show", self.EVENT, self.EVENT),
                     ("dispatch", self.EVENT), ("stat", "--dry-run", "-e",
                                                self.EVENT + "," + self.EVENT)):
            for more in (), ("--json",):
                r = self.answer(args[0], *more, *args[1:])
                self.assertEqual(r.stderr.count(self.NOTE), 1, args)
                self.assertEqual(len(r.stderr.splitlines()), 1)
                for o in objects(r.stdout) if more else ():
                    self.assertIs(o["fallback"], True)

    def test_not_said_of_others(self):
        for args in (("encode", "coreduo::Instr_Ret", "page-faults"), ("show", "cpu-cycles"),
                     ("show", "coreduo"), ("stat", "--dry-run", "-e", "page-faults")):
            self.assertEqual(self.answer(*args).stderr, "")
            for o in objects(self.answer(args[0], "--json", *args[1:]).stdout):
                self.assertFalse(o.get("fallback"))
        self.assertEqual(
            pfm("encode", "intel_arch::" + self.EVENT, env={"PERFMON_CPUID": "nonsense"}).stderr,
            "")


class Import(Case):
    def test_arguments_pass_through(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "pmuc.py")
            with open(script, "w", encoding="ascii") as f:
                f.write("import json, sys\nprint(json.dumps(sys.argv[1:]))\nsys.exit(5)\n")
            r = pfm("import", "a b", "--cpu", "x*", "-o", "out", env={"PERFMON_PMUC": script})
        self.assertEqual((r.returncode, json.loads(r.stdout)),
                         (5, ["import", "a b", "--cpu", "x*", "-o", "out"]))

    def test_image_is_found_again(self):
        if "PERFMON_PMUC" not in os.environ:
            self.skipTest("PERFMON_PMUC is not set")
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "toy.pmu")
            with open(source, "w", encoding="ascii") as f:
                f.write(
                    'pmu toy "Toy"\nencoder format\ncounter 0..1 width=32\nfield code'
                    ' at=config:0-7\nevent TICKS code=0x11 "Ticks of the toy."\n'
                )
            image = os.path.join(folder, "toy.pmdb")
            self.done("import", source, "-o", image)
            (o, ) = objects(
                self.done("encode", "--json", "toy::TICKS", env={"PERFMON_EVENTS": image}))
            self.assertEqual(o["perf"]["config"], "0x11")

    def test_a_mistyped_option_has_a_suggestion(self):
        self.assertIn("Did you mean --cpu?", self.fails(2, "import", "--cpy", "x", "."))


    def test_missing_script_is_named(self):
        said = self.fails(1, "import", "x", env={"PERFMON_PMUC": "/nonexistent/pmuc.py"})
        self.assertIn("/nonexistent/pmuc.py", said)
        self.assertIn("PERFMON_PMUC", said)


class Session(Case):
    def test_vectors_with_errors_are_answered(self):
        rows = vectors("alpha*.jsonl", "kind", "session", "error")
        r = pfm("alpha", "session", "--json", input="".join(json.dumps(row) + "\n" for row in rows))
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(len(objects(r.stdout)), len(rows))

    def test_file_that_is_missing(self):
        self.fails(1, "alpha", "session", "--json", "/no/such/file")
        self.assertIn("cannot read '/': Is a directory",
                      self.fails(1, "alpha", "session", "--json", "/"))


class Trace(Case):
    """PERFMON_DEBUG: a trace on standard error, and nothing of it on standard output."""

    def trace(self, topics, *args):
        plain = pfm(*args)
        traced = pfm(*args, env={"PERFMON_DEBUG": topics})
        self.assertEqual((traced.returncode, traced.stdout), (plain.returncode, plain.stdout))
        return [line for line in traced.stderr.splitlines() if line.startswith("perfmon: ")]

    def test_a_trace_of_lookup_names_each_table(self):
        # The rules that hold for the text are looked up as the event is.
        lines = self.trace("lookup", "encode", "skx::UNC_CHA_CLOCKTICKS")
        self.assertEqual(list(dict.fromkeys(lines)), [
            "perfmon: lookup: skx::UNC_CHA_CLOCKTICKS: table skx (built in): no row",
            "perfmon: lookup: skx::UNC_CHA_CLOCKTICKS: table skx_uncore_cha (built in): "
            "row UNC_CHA_CLOCKTICKS"])
        self.assertEqual(self.trace("session,no_such_topic", "encode", "skl::INST_RETIRED.ANY"), [])

    def test_a_trace_of_a_session_names_each_open(self):
        lines = self.trace("session", "stat", "--json", "-e", "no-such-event", "--", "true")
        self.assertEqual(lines, [])
        traced = pfm("stat", "-e", "page-faults", "--", "true",
                     env={"PERFMON_DEBUG": "session"}).stderr
        self.assertRegex(traced, r"(?m)^perfmon: session: perf_event_open\(type=1 config=0x2 .*\): "
                                 r"(descriptor \d+|.* \(errno \d+\))$")


class ExtraRegister(Case):
    """A register that many events share: pfm decode names the extra register that decides."""

    def decided_by(self, *registers):
        return [json.loads(line).get("decided_by")
                for line in self.done("decode", "--json", "--pmu", "skl", *registers).splitlines()]

    def test_an_extra_register_decides_between_equal_codes(self):
        self.assertEqual(self.decided_by("PERFEVTSEL0=0x5301b7"), ["0x1a6"])
        self.assertEqual(self.decided_by("PERFEVTSEL0=0x5301bb"), ["0x1a7"])
        self.assertIn("one of more than 64 events: extra register 0x1a6 decides",
                      self.done("decode", "--pmu", "skl", "PERFEVTSEL0=0x5301b7"))

    def test_a_given_extra_register_chooses_the_event(self):
        """The values are those of Intel's lists."""
        for pmu, control, extra, event in (("spr", "PERFEVTSEL0=0x53012a",
                                            "OFFCORE_RSP_0=0x3fbfc00001",
                                            "OCR.DEMAND_DATA_RD.L3_MISS"),
                                           ("spr", "PMC3=0x53012b", "offcore_rsp_1=0x3fbfc00001",
                                            "OCR.DEMAND_DATA_RD.L3_MISS"),
                                           ("spr", "0x186=0x53012a", "0x1a6=0x3fbfc00001",
                                            "OCR.DEMAND_DATA_RD.L3_MISS"),
                                           ("nvl_coyotecove", "0x186=0x5301d6",
                                            "0x3e0=0xff03f000000001",
                                            "MEM_LOAD_L2_MISS_RETIRED.L3_MISS"),
                                           ("nvl_coyotecove", "PMC0=0x5304d6",
                                            "OMR_2=0xff03f000000001",
                                            "MEM_LOAD_L2_MISS_RETIRED.L3_MISS"),
                                           ("skx", "PERFEVTSEL2=0x5301b7", "OFFCORE_RSP_0=0x10001",
                                            "OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE"),
                                           ("skx", "PERFEVTSEL0=0x5301c6", "PEBS_FRONTEND=0x13",
                                            "FRONTEND_RETIRED.L2_MISS"),
                                           ("skx", "PERFEVTSEL0=0x5301cd", "PEBS_LD_LAT=0x4",
                                            "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4")):
            for registers in (control, extra), (extra, control):
                objects_of = objects(self.done("decode", "--json", "--pmu", pmu, *registers))
                self.assertEqual([o["events"] for o in objects_of], [[event]] * 2, registers)
                self.assertEqual([o.get("decided_by") for o in objects_of], [None] * 2, registers)
        said = self.done("decode", "--pmu", "spr", "PERFEVTSEL0=0x53012a",
                         "OFFCORE_RSP_0=0x3fbfc00001")
        self.assertEqual(said.count("OCR."), 1, said)

    def test_register_of_another_event(self):
        for registers in (("PERFEVTSEL0=0x5301b7", "OFFCORE_RSP_1=0x10001"),
                          ("PERFEVTSEL0=0x5300c0", "OFFCORE_RSP_0=0x10001")):
            events = [
                o["events"]
                for o in objects(self.done("decode", "--json", "--pmu", "skx", *registers))
            ]
            alone = [
                o["events"]
                for o in objects(self.done("decode", "--json", "--pmu", "skx", registers[0]))
            ]
            self.assertEqual(events, alone + [[]], registers)

    def test_event_of_its_own(self):
        self.assertEqual(self.decided_by("PERFEVTSEL0=0x5300c0"), [None])
        self.assertEqual(self.decided_by("config=0x1b7", "config1=0x10001"), [None, None])


class Device(Case):
    def test_status_of_the_program(self):
        self.assertEqual(pfm("alpha", "device", "--", "sh", "-c", "exit 9").returncode, 9)
        self.assertEqual(pfm("alpha", "device", "--", "/no/such/program").returncode, 127)

    def test_the_device_works_with_few_descriptors(self):
        """Descriptors of the device have numbers above the program's own, below any limit."""
        for files in 200, 512, 600, 1024:
            with tempfile.TemporaryDirectory() as folder:
                done = pfm(
                    "alpha", "device", "--model", "ev6", "--", PFM, "record", "-o",
                    os.path.join(folder, "x"), "--device", "0x120000000-0x120002000", "-a", "-e",
                    "ev6::cycles", "--", "true",
                    preexec_fn=lambda n=files: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
            self.assertEqual(done.returncode, 0, (files, done.stderr))

    def test_wrong_models_are_refused(self):
        self.assertIn("Did you mean 'ev6",
                      self.fails(2, "alpha", "device", "--model", "ev66", "--", "true"))
        self.fails(2, "alpha", "device", "--cpus", "0", "--", "true")


class Completion(Case):
    def complete(self, line):
        bash = shutil.which("bash")
        if not bash:
            self.skipTest("no bash")
        script = '''
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
read -r -a COMP_WORDS <<< "$2"
[[ $2 == *' ' ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMP_WORDS[0]=$3
_pfm
printf '%s\\n' "${COMPREPLY[@]}"
'''
        r = subprocess.run([bash, "--norc", "-c", script, "bash", COMPLETION, line, PFM], env=CLEAN,
                           capture_output=True, text=True, timeout=30)
        self.assertEqual(r.stderr, "")
        return r.stdout.split()

    def test_commands_are_completed(self):
        self.assertEqual(self.complete("pfm en"), ["encode"])
        commands = re.findall(r"^  ([a-z]+) ", self.done("--help").split("Options")[0], re.M)
        self.assertLessEqual({"stat", "doctor", "metric", "plan"}, set(commands))
        self.assertEqual(self.complete("pfm help "), commands)
        self.assertLessEqual({*commands, "help"}, set(self.complete("pfm ")))

    def test_options_are_completed(self):
        self.assertIn("--dry-run", self.complete("pfm stat --d"))
        self.assertEqual(self.complete("pfm encode --js"), ["--json"])

    def test_processors_are_completed(self):
        self.assertEqual(self.complete("pfm encode --pmu mont"), ["montecito"])
        self.assertEqual(self.complete("pfm encode --pmu=mont"), ["montecito"])
        self.assertEqual(self.complete("pfm plan -p mont"), ["montecito"])
        self.assertTrue(self.complete("pfm stat -p ")[0].isdigit())

    def test_metrics_are_completed(self):
        for line in ("metric skx::Info_Thread_IP", "metric -p skx Info_Thread_IP",
                     "plan --pmu skx Info_Thread_IP", "stat --metrics=skx::Info_Thread_IP",
                     "stat -M skx::Info_Thread_IP"):
            self.assertRegex(self.complete("pfm " + line)[0], "Info_Thread_IPC$")

    def test_events_are_completed(self):
        self.assertIn("L2_Rqsts", self.complete("pfm encode coreduo::L2_R"))
        self.assertIn("IA64_INST_RETIRED", self.complete("pfm dispatch --pmu montecito IA64_INST"))

    def test_last_event_of_a_list(self):
        self.assertIn(
            "page-faults,page-faults",
            [w.lower().replace("_", "-") for w in self.complete("pfm stat -e page-faults,page-f")])

    def test_files_are_completed(self):
        self.assertTrue(self.complete("pfm import /et"))

    def test_unit_masks_are_completed(self):
        for event, words in (("coreduo::L2_Rqsts:", {"SELF", "MESI"}),
                             ("coreduo::L2_Rqsts,", {"core=this", "cachestate=MESI"})):
            got = self.done("list", "--complete", event).split()
            self.assertEqual([w for w in got if not w.startswith(event)], [])
            self.assertLess(words, {w[len(event):] for w in got})

    def test_a_completion_takes_less_than_5_seconds(self):
        start = time.monotonic()
        self.done("list", "--complete", "coreduo::L")
        self.assertLess(time.monotonic() - start, 5)


class ManualPage(Case):
    def test_knows_every_option(self):
        with open(os.path.join(HERE, "..", "docs", "man1", "pfm.1"), encoding="ascii") as f:
            page = f.read()
        for command in CommandLine.COMMANDS:
            for option in self.done(command, "--complete-options").split():
                self.assertRegex(
                    page, rf"Fl (\w , )?-{option[2:]}\b|Cm -{option[2:]}\b|, -{option[2:]}\b",
                    f"{command} {option}")


if __name__ == "__main__":
    tap.main()
