#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command line that README, the command's help and the manual pages show, typed.

They run in a folder that has what they speak of: a program, lists of events, a machine's vendor's
folder, small and invented. A line that is new is found by itself; one that needs a file that is not
made here fails, and then the file is made here or the line is a bad example.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import tap

SOURCE = os.environ["PERFMON_SOURCE"]
BUILD = os.environ.get("PERFMON_BUILD", os.path.join(SOURCE, "build"))
PFM = os.environ.get("PFM", os.path.join(BUILD, "tools", "pfm"))
PMUC = os.environ.get("PERFMON_PMUC", os.path.join(SOURCE, "compiler/pmuc.py"))

# Examples that show a refusal.
REFUSED = ("pfm dispatch --pmu coreduo Mul Div", "pfm encode neoverse_n1::L2D_CACHE_REFIL")
# Lines for a machine that counts run until they are interrupted, or need rights: they may end with
# "nothing could be counted".
OPEN_END = re.compile(r"^pfm (stat|record|top|explain)\b.* (-a|-p \d+|-C \S+|-I \d+)\b"
                      r"|^pfm (serve\b|agent\b|regions\b|top$)|^pfm-exporter\b")
# Whether a change is significant depends on the samples; whether an event can be sampled, on the
# machine.
EITHER = re.compile(
    r"^pfm (diff .*--fail-above|mem record|record --(metric|off-cpu)|pretend .* check-events)")
# Lines about other programs, programs with regions, and descriptors of a parent process: the suite
# runs them elsewhere (test_install, test_walks, region_tool, python's package test).
ELSEWHERE = re.compile(
    r"^("
    r"pfm (stat|explain) .*(--control fd:|--regions )|pfm diff .*\.json|(\w+=\S+ )?scripts/|"
    r"pfm pretend .*--(simulate|emulate) |"
    r"PERFMON_REGIONS=\S+ pytest |helm |"
    r"cc |\./quickstart|\./check|meson |ninja |pip |python3 |tests/|cat |sudo |sysctl |setcap |"
    r"docker |podman |kubectl |echo .*\| nc |jq |curl |systemctl |systemd-run |flock /run/)")
PCNTOPENALL = "0x18000"    # of perfmon/pfcntr.h
SLOW_MODEL = """generic cpu-cycles CPU_CLK_UNHALTED.THREAD
generic instructions INST_RETIRED.ANY
event CPU_CLK_UNHALTED.* 3 * clock
event INST_RETIRED.* clock
"""
TOY = """# SPDX-License-Identifier: MIT
pmu      toy        "A processor of two counters"
encoder  format
match    arch=x86 vendor="ToyMaker" family=1
source   "the author's imagination"
counter  0..1       width=40
field    code       at=config:0-7
event    CYCLES       code=0x01          "Clocks."
event    LINE_FILLS   code=0x02          "Lines brought into the cache."
"""
ARM = """[
  {"EventCode": "0x0011", "EventName": "CPU_CYCLES", "BriefDescription": "Clocks"},
  {"EventCode": "0x0008", "EventName": "INST_RETIRED", "BriefDescription": "Instructions"}
]
"""
INTEL = """{"Header": {"Copyright": "nobody", "Info": "invented", "DatePublished": "1/1/2026", "Version": "1.00"},
 "Events": [{"EventCode": "0x3C", "UMask": "0x00", "EventName": "CPU_CLK_UNHALTED.THREAD", "BriefDescription": "Clocks",
  "PublicDescription": "Clocks", "Counter": "0,1,2,3", "CounterHTOff": "0,1,2,3", "PEBScounters": "", "SampleAfterValue": "2000003",
  "MSRIndex": "0", "MSRValue": "0", "CollectPEBSRecord": "0", "TakenAlone": "0", "CounterMask": "0", "Invert": "0", "EdgeDetect": "0",
  "PEBS": "0", "Deprecated": "0"}]}
"""


def read(*names):
    with open(os.path.join(SOURCE, *names), encoding="utf-8") as f:
        return f.read()


def of_help(text):
    """Examples are indented by six columns."""
    return [
        line.strip() for line in text.partition("\nExamples\n")[2].splitlines()
        if line.startswith("      ")
    ]


def of_markdown(text):
    """Lines of blocks for a shell, and those after a prompt in a console."""
    lines = []
    for kind, body in re.findall(r"^ *```(sh|console)\n(.*?)^ *```$", text, re.M | re.S):
        for line in body.replace("\\\n", " ").splitlines():
            if kind == "sh" and line.strip() and not line.strip().startswith("#"):
                lines.append(line.strip())
            elif kind == "console" and line.startswith("$ "):
                lines.append(line[2:])
    return lines


def of_table(text):
    """Cells of a table that are a command line."""
    return re.findall(r"\| `(pfm [^`]*)` \|", text)


def of_page(text):
    """Displays that begin with a prompt."""
    found = re.findall(r"^(?:\.Dl )?\$ (.*)$", text, re.M)
    return [line.replace("\\-", "-").replace("\\e", "\\") for line in found]


class Examples(unittest.TestCase):
    typed = set()    # lines that several documents have are typed once

    @classmethod
    def setUpClass(cls):
        done = subprocess.run([PFM, "pretend", "--cpu", "skl", "--", "true"], capture_output=True,
                              text=True, check=False)
        cls.no_pretence = done.stderr.strip() if done.returncode else None
        cls.folder = tempfile.mkdtemp(prefix="perfmon-examples-")
        cls.bin = os.path.join(cls.folder, "bin")
        os.makedirs(cls.bin)
        os.symlink(PFM, os.path.join(cls.bin, "pfm"))
        os.symlink(os.path.join(os.path.dirname(PFM), "pfm-exporter"),
                   os.path.join(cls.bin, "pfm-exporter"))
        cls.script(os.path.join("bin", "pmuc.py"), 'exec "%s" "%s" "$@"' % (sys.executable, PMUC))
        cls.script(os.path.join("bin", "make"), "exit 0")
        os.symlink(os.path.join(BUILD, "examples", "example_regions"),
                   os.path.join(cls.folder, "program"))
        os.mkfifo(os.path.join(cls.folder, "control"))
        cls.script("harness", "exit 0")
        # long enough for samples
        for name in ("work", os.path.join("changed", "work"), "my-program", "old", "new"):
            cls.script(name, "i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done")
        for name in ("tru64-program", "countcycles", "ipl-histogram"):
            cls.script(name,
                       """exec python3 -c 'import os; os.open("/dev/pfcntr", %s)'""" % PCNTOPENALL)
        with open(os.path.join(SOURCE, "docs", "guide", "first-profile.md"), encoding="utf-8") as f:
            guide = f.read()
        cls.write("words.c", re.search(r"(?ms)^```c\n(.*?)^```$", guide).group(1))
        for line in re.findall(r"^(?:cc|sed) .*words\.c.*|^cc .*faster\.c$", guide, re.M):
            subprocess.run(line, shell=True, check=True, cwd=cls.folder)
        cls.write("events.txt", "INST_RETIRED.ANY\nMEM_LOAD_RETIRED.L3_MISS:u\n")
        cls.write("toy.pmu", TOY)
        cls.write("slow.model", SLOW_MODEL)
        cls.write(
            "sessions.jsonl",
            '{"kind":"error","pmu":"ev5","steps":[{"op":"open","flags":"0x18000","proc":"A"}]}\n')
        for top in ("perfmon", "intel-perfmon"):
            cls.write(
                top + "/mapfile.csv",
                "Family-model,Version,Filename,EventType,Core Type,Native Model ID,Core Role Name\n"
                "GenuineIntel-6-8F,V1.00,/SPR/events/sapphirerapids_core.json,core,,,\n")
            cls.write(top + "/SPR/events/sapphirerapids_core.json", INTEL)
        arch = "linux-source-6.1/tools/perf/pmu-events/arch/arm64/"
        cls.write(
            arch + "mapfile.csv",
            "#Family-model,Version,Filename,EventType\n0x00000000410fd0c0,v1,arm/neoverse-n1,core\n"
        )
        cls.write(arch + "arm/neoverse-n1/pipeline.json", ARM)
        with tarfile.open(os.path.join(cls.folder, "linux-source-6.1.tar.xz"), "w:xz") as tar:
            tar.add(os.path.join(cls.folder, "linux-source-6.1"), "linux-source-6.1")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def write(cls, name, text):
        path = os.path.join(cls.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    @classmethod
    def script(cls, name, body):
        cls.write(name, "#!/bin/sh\n%s\n" % body)
        os.chmod(os.path.join(cls.folder, name), 0o755)

    def type(self, line, seconds="60"):
        env = {
            k: v for k, v in os.environ.items() if not k.startswith(("PERFMON_", "LIBPFM_", "XDG_"))
        }
        env.update(PATH=self.bin + os.pathsep + env["PATH"], HOME=self.folder,
                   XDG_DATA_HOME=os.path.join(self.folder, "data"), PERFMON_PMUC=PMUC)
        if line.startswith("pfm plan "):    # the guide plans for a server, whatever this machine is
            env["PERFMON_CPUID"] = "GenuineIntel-6-8F"
        if " --control fd:3,4 " in line:    # the descriptors that a harness hands over
            line = "exec 3<>control 4<>control; " + line
        return subprocess.run(["timeout", "-s", "INT", seconds, "sh", "-c", line], cwd=self.folder,
                              env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120)

    def type_all(self, lines):
        n = 0
        for line in lines:
            line = re.sub(r"\s+# .*$", "", line).replace("~/", "")
            if ELSEWHERE.match(line):
                continue
            n += 1
            if line in self.typed:
                continue
            self.typed.add(line)
            with self.subTest(line):
                if line.startswith("pfm pretend ") and self.no_pretence:
                    self.skipTest(self.no_pretence)
                done = self.type(line, "1" if OPEN_END.match(line) else "60")
                wanted = (0, 1, 124) if OPEN_END.match(line) else (
                    0, 1) if EITHER.match(line) else (1, ) if line in REFUSED else (0, )
                self.assertIn(done.returncode, wanted,
                              line + "\n" + done.stdout[-500:] + done.stderr)
                for words in ("is not an event", "unknown option", "usage:"):
                    if line not in REFUSED:
                        self.assertNotIn(words, done.stderr, line)
        return n

    def test_examples_of_the_help_can_be_typed(self):
        overview = self.type("pfm --help").stdout
        commands = re.findall(r"^  ([a-z]+) +\S",
                              overview.partition("\nCommands\n")[2].partition("\nOptions\n")[0],
                              re.M)
        lines = of_help(overview)
        self.assertGreater(len(lines), 4)
        for command in commands:
            more = of_help(self.type("pfm %s --help" % command).stdout)
            self.assertTrue(more, command)
            lines += more
        self.assertGreater(self.type_all(lines), 25)

    def test_examples_of_the_readme_can_be_typed(self):
        self.assertGreater(self.type_all(of_markdown(read("README.md"))), 5)

    def test_examples_of_the_documents_can_be_typed(self):
        for folder in ("", "guide"):
            for name in sorted(os.listdir(os.path.join(SOURCE, "docs", folder))):
                if name.endswith(".md"):
                    self.type_all(of_markdown(read("docs", folder, name)))

    def contributing_lines(self):
        """Command lines of CONTRIBUTING: of its blocks, and in its sentences."""
        text = read("CONTRIBUTING.md")
        prose = re.sub(r"(?ms)^ *```.*?^ *```$", "", text)
        lines = of_markdown(text) + re.findall(
            r"`((?:\./check|meson|python3|scripts/)[^`]* [^`]*)`", prose.replace("\n", " "))
        return [re.sub(r"\s+# .*$", "", line) for line in lines]

    def test_contributing_names_programs_and_options_that_exist(self):
        """The lines take minutes: test_walks runs the build, and this test looks for what each line
        names."""
        with open(os.path.join(BUILD, "meson-info", "intro-tests.json"), encoding="utf-8") as f:
            tests = {test["name"] for test in json.load(f)}
        lines = self.contributing_lines()
        self.assertGreater(len(lines), 10)
        for line in lines:
            words = line.split()
            variables = [word.partition("=")[0] for word in words if re.match(r"[A-Z_]+=", word)]
            program, *operands = words[len(variables):]
            with self.subTest(line):
                if program == "meson":
                    for option in re.findall(r"-D(\w+)=", line):
                        self.assertRegex(read("meson_options.txt"), r"option\('%s'" % option)
                    if operands[:3] == ["test", "-C", "build"]:
                        self.assertLessEqual(set(operands[3:]), tests)
                elif program == "python3":
                    for option in re.findall(" (--\\w+)", line):
                        self.assertIn(option, read(operands[0]))
                elif program not in ("ninja", "pfm"):
                    built = program.startswith("build/")
                    path = os.path.join(BUILD, program[6:]) if built else os.path.join(
                        SOURCE, program)
                    self.assertTrue(os.access(path, os.X_OK), path)
                    source = program
                    if built:
                        source = program.replace("build/tests/test_session_",
                                                 "tests/public/session/test_") + ".c"
                    for name in variables + [
                            word for word in operands if re.match("--?[a-z]", word)
                    ]:
                        self.assertIn(name, read(source))

    def test_random_sessions_of_contributing(self):
        """Its programs of random sessions, with small numbers."""
        for line in self.contributing_lines():
            if "build/tests/test_session" in line:
                variable, program = line.split()
                done = subprocess.run([os.path.join(BUILD, program[6:])],
                                      env=dict(os.environ, **{variable.partition("=")[0]: "1"}),
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                      timeout=120)
                self.assertIn(done.returncode, (0, 77),
                              line + "\n" + done.stdout[-500:] + done.stderr[-500:])

    @unittest.skipUnless(shutil.which("cc"), "cc is missing (Debian package gcc)")
    def test_programs_of_the_guide(self):
        """The C programs compile without warnings, run, and print something."""
        programs = re.findall(r"^```c\n(.*?)^```$", read("docs", "guide", "embedding.md"),
                              re.M | re.S)
        self.assertEqual(len(programs), 1)
        self.write("embed.c", programs[0])
        lib = os.path.join(BUILD, "lib")
        done = self.type(
            "cc -Wall -Wextra -Werror -I%s embed.c -o embed -L%s -lperfmon && LD_LIBRARY_PATH=%s"
            " ./embed" % (os.path.join(SOURCE, "include"), lib, lib)
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 2)

    def test_python_of_the_guide(self):
        """The Python programs run and print something."""
        package = os.path.join(BUILD, "python")
        if subprocess.run([sys.executable, "-c", "import perfmon"],
                          env=dict(os.environ, PYTHONPATH=package), capture_output=True).returncode:
            self.skipTest("the Python module is not built for %s" % sys.executable)
        programs = re.findall(r"^```python\n(.*?)^```$", read("docs", "guide", "embedding.md"),
                              re.M | re.S)
        self.assertEqual(len(programs), 2)
        subprocess.run(
            [PFM, "record", "-e", "page-faults:u", "-c", "1", "-o", "perf.data", "--", "true"],
            cwd=self.folder, capture_output=True, check=True)
        for program, wanted in zip(programs,
                                   (r"page-faults [\d.]+ exact", r"(?m)^\s*\d+\.\d+% \w")):
            done = subprocess.run([sys.executable, "-c", program],
                                  env=dict(os.environ, PYTHONPATH=package), capture_output=True,
                                  text=True, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, wanted)

    def run_binding(self, tool, block, *command):
        """Runs the program of a block of the guide, which counts page faults."""
        if not shutil.which(tool):
            self.skipTest("%s is missing" % tool)
        (program,) = re.findall(r"^```%s\n(.*?)^```$" % block,
                                read("docs", "guide", "embedding.md"), re.M | re.S)
        self.write("binding." + block[:2], program)
        lib = os.path.join(BUILD, "lib")
        env = dict(os.environ, LD_LIBRARY_PATH=lib, LIBRARY_PATH=lib, GO111MODULE="off",
                   CPATH=os.path.join(SOURCE, "include"), GOCACHE=os.path.join(self.folder, "go"))
        done = subprocess.run(" && ".join(command), shell=True, cwd=self.folder, env=env,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^[1-9]\d* exact\n$")

    def test_rust_of_the_guide(self):
        self.run_binding("rustc", "rust", "rustc -D warnings -L $LIBRARY_PATH -o rust binding.ru",
                         "./rust")

    def test_go_of_the_guide(self):
        self.run_binding("go", "go", "cp binding.go main.go", "go build -o go-binding main.go",
                         "./go-binding")

    def test_ctypes_of_the_guide(self):
        self.run_binding(sys.executable, "python ctypes", "%s binding.py" % sys.executable)

    def test_rows_of_the_comparison(self):
        """Each row names a command of ours that shows it."""
        text = read("docs", "comparison.md")
        rows = [
            line for line in text.splitlines()
            if line.startswith("|") and not line.startswith(("| what |", "|---"))
        ]
        self.assertEqual(len(of_table(text)), len(rows))
        self.assertGreater(self.type_all(of_table(text)), 14)

    def test_rows_about_sampling(self):
        """Each names the tests that show it, and they are run."""
        text = read("docs", "sampling.md")
        rows = [
            line for line in text.splitlines()
            if line.startswith("|") and not line.startswith(("| trouble |", "| surprise |", "|---"))
        ]
        self.assertEqual(len(rows), 30)
        for row in rows:
            named = re.findall(r"`((?:\w+/)*\w+\.(?:c|py))` `(\w+)`", row)
            self.assertTrue(named, row)
            for file, name in named:
                folder, = [f for f in ("public", "internal", "command")
                           if os.path.exists(os.path.join(SOURCE, "tests", f, file))]
                uses = re.findall(r"\b%s\b" % name, read("tests", folder, file))
                self.assertGreaterEqual(len(uses), 2 if file.endswith(".c") else 1, (file, name))

    def test_examples_of_the_manual_can_be_typed(self):
        lines = []
        for section in ("man1", "man3", "man5", "man7"):
            for name in sorted(os.listdir(os.path.join(SOURCE, "docs", section))):
                lines += of_page(read("docs", section, name))
        self.assertGreater(self.type_all(lines), 6)

    def test_names_in_the_manual(self):
        """The tables of examples in perfmon(7)."""
        text = read("docs", "man7", "perfmon.7")
        rows = re.findall(r"^\.It Li (\S+) Ta ", text.partition("Examples of names:")[2], re.M)
        rows += re.findall(r"^\.It (?:libpfm|libpmc|perf) Ta \S+ Ta (\S+)$", text, re.M)
        self.assertGreater(len(rows), 6)
        for name in rows:
            pmu = ["--pmu", "coreduo"] if not re.search("::|^coreduo/", name) else []
            done = self.type(" ".join(["pfm", "encode", *pmu, "'%s'" % name]))
            self.assertEqual(done.returncode, 0, name + "\n" + done.stderr)

    def test_diagnostic_in_the_manual_is_printed(self):
        text = read("docs", "man1", "pfm.1").partition(".Sh DIAGNOSTICS")[2]
        shown = re.search(r"^\$ (.*)\n((?:.*\n)*?)\.Ed", text, re.M)
        self.assertEqual(self.type(shown.group(1)).stderr, shown.group(2))


if __name__ == "__main__":
    tap.main()
