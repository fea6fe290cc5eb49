#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every line that a command answers with --json is what its schema in docs/schema/ says, and every
command that has --json has one."""
import json
import os
import re
import subprocess
import tempfile
import unittest

import tap

try:
    import jsonschema
except ImportError:
    jsonschema = None

SOURCE = os.environ["PERFMON_SOURCE"]
SCHEMAS = os.path.join(SOURCE, "docs", "schema")
PFM = os.environ.get("PFM", "pfm")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("PERFMON_", "LIBPFM_"))}
CLEAN["PERFMON_EVENTS"] = "/nonexistent"
ALPHA = (
    '{"kind":"error","pmu":"ev5","steps":[{"op":"open","flags":"0x18000","proc":"A"}]}\nnonsense\n'
)
TRACEPOINTS = "sched:sched_s*"
TRACEFS = "/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"
# Command lines of each command that together produce an answer of every shape.
LINES = {
    "check-events": ["page-faults alignment-faults"],
    "explain": ["sleep 0.2"],
    "list": [
        "--pmus",
        "--pmu coreduo --all",
        "--pmu ev67",
        "--pmu montecito -a",
        "cache",
        TRACEPOINTS,
        "breakpoint",
        "--metrics skl::branch",
        "--metrics --pmu hardware",
    ],
    "plan": [
        "coreduo::Instr_Ret coreduo::L2_Rqsts coreduo::Uops_Ret",
        "hardware::ipc montecito::L3_READS_ALL_ALL",
        "nonsense",
        "skl::Info_System_Power",
        "--schedule --wish coreduo::Mul=7 coreduo::Mul coreduo::Div coreduo::Uops_Ret",
    ],
    "show": [
        "coreduo::rfffe coreduo::r412e mem:0x1000/8:w sched:sched_switch skx::TopdownL1",
        "hardware::ipc skx::Frontend_Bound",
        (
            "coreduo::L2_Rqsts coreduo montecito::DATA_EAR_CACHE_LAT4 ev67::replay montecito"
            " software::task-clock nonsense"
        ),
        "intel_arch armv8 amd",
    ],
    "encode": [
        (
            "coreduo::Instr_Ret,usr montecito::L3_READS_ALL_ALL:M ev67::replay page-faults nonsense"
            " mem:0x1000/8:w skx/event=0xb7,umask=0x1,offcore_rsp=0x10001/"
            " coreduo::L2_Rqsts,core=xx"
        ),
        "cycles:ppu cycles:GI cycles:D cycles:H task-clock:k",
    ],
    "dispatch": [
        "--pmu coreduo Instr_Ret FP_Assist",
        "--pmu coreduo Mul Div",
        "--pmu coreduo nonsense",
        "coreduo::Instr_Ret montecito::ALAT_CAPACITY_MISS_ALL",
        "--pmu montecito --irange 0x4000000000001000+0x200 IA64_INST_RETIRED",
        "--pmu montecito --drange 0x1000-0x2000 LOADS_RETIRED",
    ],
    "decode": [
        "--pmu coreduo config=0x412e PERFEVTSEL0=0xffffffffffffffff x=1 PMC99=1",
        "--pmu montecito PMC4=0x2035808 PMC38=0xdb6",
    ],
    "stat": [
        "-M software::faults_per_second,hardware::ipc -- true",
        "-M skx::TmaL1 --dry-run -- true",
        "-e page-faults,task-clock,cycles,duration_time -- true",
        "-e nonsense -- true",
        "--dry-run -e page-faults,cycles:u,coreduo::Instr_Ret -- true",
        "-r 2 -e page-faults -- true",
        "-I 20 --interval-count 2 -e task-clock -- sleep 1",
        "-a --per-core --timeout 20 -e task-clock",
        "-a --per-cpu --timeout 20 -e task-clock",
        "-p 1 --timeout 20 -e task-clock",
        "--device-model ev5 -e cycles -- true",
    ],
    "doctor": [""],
}


def schema(name):
    with open(os.path.join(SCHEMAS, name + ".json"), encoding="utf-8") as f:
        return json.load(f)


def answers(command, line, **more):
    more.setdefault("input", "")
    r = subprocess.run([PFM, command, "--json", *line.split()], env=CLEAN, capture_output=True,
                       text=True, timeout=60, **more)
    return r.stdout.splitlines()


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        help_text = subprocess.run([PFM, "--help"], env=CLEAN, capture_output=True,
                                   text=True).stdout
        cls.commands = re.findall(
            r"^  ([a-z-]+) +\S",
            help_text.partition("\nCommands\n")[2].partition("\nOptions\n")[0], re.M)

    def setUp(self):
        if not jsonschema:
            self.skipTest("python3-jsonschema is not installed")
        common = schema("common")
        self.resolver = lambda s: jsonschema.RefResolver(s["$id"], s, store={common["$id"]: common})

    def checker(self, name):
        s = schema(name)
        jsonschema.Draft202012Validator.check_schema(s)
        return jsonschema.Draft202012Validator(s, resolver=self.resolver(s))

    def check(self, command, lines):
        checker = self.checker(command)
        for line in lines:
            o = json.loads(line)
            for error in checker.iter_errors(o):
                shown = "; ".join("%s: %s" % ("/".join(map(str, e.path)), e.message[:200])
                                  for e in error.context) or error.message
                self.fail("%s\n%s" % (line[:400], shown[:2000]))

    def test_every_command_has_one(self):
        for command in self.commands:
            text = subprocess.run([PFM, command, "--help"], env=CLEAN, capture_output=True,
                                  text=True).stdout
            self.assertEqual(
                bool(
                    re.search(r"^ +--json\b",
                              text.partition("\nOptions\n")[2].partition("\nExamples\n")[0], re.M)),
                os.path.exists(os.path.join(SCHEMAS, command + ".json")), command)

    def test_answers_follow_their_schema(self):
        for command, lines in LINES.items():
            if command not in self.commands:
                continue
            for line in lines:
                with self.subTest(command + " " + line):
                    if line == TRACEPOINTS and not any(os.path.isdir(path) for path in TRACEFS):
                        self.skipTest("no tracefs is mounted at " + " or ".join(TRACEFS))
                    said = answers(command, line)
                    self.assertTrue(said, command + " " + line)
                    self.check(command, said)

    def test_places_of_samples(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "perf.data")
            done = subprocess.run([
                PFM, "record", "--json", "-o", path, "-e", "task-clock", "-c", "100000", "--", "sh",
                "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"
            ], env=CLEAN, capture_output=True, text=True, check=True)
            self.assertEqual(len(done.stdout.splitlines()), 2)
            self.check("record", done.stdout.splitlines())
            said = answers("report", path)
            self.assertTrue(said)
            self.check("report", said)
            for line in ("-g", "--children", "--sort cpu,cgroup,address,line,task",
                         "--time-slices 2", "--metrics", "--metrics=cpus_used -g"):
                self.check("report", answers("report", line + " " + path))
            said = answers("annotate", "* " + path)
            self.assertTrue(said)
            self.check("annotate", said)
            said = answers("mem", path)
            self.assertFalse(said)
            subprocess.run(
                [PFM, "mem", "record", "-o", path + ".mem", "-e", "page-faults", "--", "true"],
                env=CLEAN, capture_output=True, check=True)
            said = answers("mem", path + ".mem")
            self.assertTrue(said)
            self.check("mem", said)
            waits = subprocess.run(
                [PFM, "record", "--off-cpu", "-o", path + ".waits", "--", "sleep", "0.01"],
                env=CLEAN, capture_output=True, check=False)
            if not waits.returncode:
                self.check("waits", answers("report", "--off-cpu " + path + ".waits"))
            for line in ("", "--normalize count", "--sort task,line,cpu,cgroup"):
                said = answers("diff", "%s %s %s" % (line, path, path))
                self.assertTrue(said)
                self.check("diff", said)

    def test_answers_of_pretended_and_simulated_machines_follow_their_schema(self):
        pretend = [PFM, "pretend", "--cpu", "spr", "--", PFM]
        if subprocess.run([*pretend, "list"], env=CLEAN, capture_output=True).returncode:
            self.skipTest("this machine cannot pretend")
        for command, line in (
                ("stat", "-e cycles,instructions -M ipc -- true"),
                ("stat", "-e {cycles,TOPDOWN.SLOTS} -- true"), ("doctor", ""), ("list", "--pmus"),
                ("plan", "ipc"), ("stat", "--simulate -- /bin/true")):
            done = subprocess.run([*pretend, command, "--json", *line.split()], env=CLEAN,
                                  capture_output=True, text=True, timeout=60)
            with self.subTest(command + " " + line):
                if "--simulate" in line and "qemu" in done.stderr:
                    self.skipTest(done.stderr)
                self.assertTrue(done.stdout, done.stderr)
                self.check(command, done.stdout.splitlines())

    def test_sessions_of_alpha_follow_their_schema(self):
        r = subprocess.run([PFM, "alpha", "session", "--json"], env=CLEAN, capture_output=True,
                           text=True, timeout=60, input=ALPHA)
        self.assertTrue(r.stdout)
        self.check("session", r.stdout.splitlines())

    def test_answers_to_requests_follow_their_schema(self):
        self.check(
            "metric",
            answers(
                "metric",
                "-",
                input=(
                    '{"id": 1, "pmu": "skx", "metric": "Frontend_Bound", "counts":'
                    ' {}}\nnonsense\n[]\n{"pmu": "coreduo", "metric": "ipc", "counts":'
                    ' {"Instr_Ret": 1, "Unhalted_Core_Cycles": 2}}\n{"id": [1], "pmu": "skx",'
                    ' "metric": "Frontend_Bond"}\n{"pmu": "nope", "metric": "x"}\n'
                ),
            ),
        )

    def test_imports_follow_their_schema(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("good.pmu",
                                open(os.path.join(SOURCE, "tests", "pmu", "testpmu.pmu"),
                                     encoding="utf-8").read()), ("bad.pmu", "pmu x\n")):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                    f.write(text)
                said = answers(
                    "import",
                    os.path.join(folder, name) + " -o " + os.path.join(folder, "out.pmdb"))
                self.check("import", [line for line in said if line.startswith("{")])

    def test_every_event_of_a_processor(self):
        names = [json.loads(line) for line in answers("list", "--pmu ev67")]
        self.check("show", answers("show", " ".join("ev67::" + o["event"] for o in names)))

    def test_schemas_notice_wrong_members(self):
        """A number in place of text, a member without a description and a missing member are
        found."""
        (line,) = answers("encode", "coreduo::Instr_Ret")
        for change in ({"pmu": 1}, {"new": 1}, {"perf": None, "regs": [{"num": 0}]}):
            with self.assertRaises(AssertionError):
                self.check("encode", [json.dumps({**json.loads(line), **change})])


if __name__ == "__main__":
    tap.main()
