#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The encoder without an operating system (scripts/freestanding.py): it needs memcpy() and memset()
alone, is small, and answers like the library. Needs a C compiler and binutils."""
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap
import native_requests

SOURCE = os.environ["PERFMON_SOURCE"]
TESTS = os.environ["PERFMON_TESTS"]
SCRIPT = os.path.join(SOURCE, "scripts/freestanding.py")
INCLUDE = "-I" + os.path.join(SOURCE, "include")
SIZE_MAX = 64 << 10
# Flags with which kernels are compiled: no register of floating-point numbers.
KERNEL_FLAGS = "-mgeneral-regs-only" if platform.machine() in ("x86_64", "aarch64") else ""
REFUSED = ("coreduo::NO_SUCH_EVENT", "coreduo::L2_Lines_In,core=some", "nosuchpmu::Instr_Ret", "",
           "coreduo::Instr_Ret,cmask=999", "cpu/event=0xc0/")


def run(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


class Freestanding(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for program in ("cc", "ld", "nm", "objcopy", "size"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"no {program}")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        made = os.path.join(cls.folder, "coreduo")
        run(sys.executable, SCRIPT, "--processors", "coreduo", made,
            env={**os.environ, "CFLAGS": KERNEL_FLAGS})
        cls.object = os.path.join(made, "perfmon.o")
        cls.tables = os.path.join(made, "objects/tables.pmdb")
        cls.driver = os.path.join(cls.folder, "vectors")
        run("cc", INCLUDE, os.path.join(TESTS, "bindings/freestanding_vectors.c"), cls.object,
            "-o", cls.driver)

    def answers(self, texts):
        lines = "".join(text + "\n" for text in texts)
        return run(self.driver, input=lines).splitlines()

    def expected(self, texts):
        """Answers of the library in the form of freestanding_vectors.c."""
        requests = [json.dumps({"op": "encode", "text": text, "plm": 0}) for text in texts]
        for line in native_requests.ask([native_requests.VECTORS, "native", "--json"], requests):
            e = json.loads(line)
            if e["rc"]:
                yield [str(e["rc"]), None, str(e["start"]), str(e["end"])]
                continue
            numbers = [f"{e['plm']}", e["counters"][2:], *(c[2:] for c in e["config"]),
                       f"{e['precise']}"]
            for _, number, address, value, name, _ in e["regs"]:
                numbers += [name, str(number), address[2:], value[2:]]
            yield ["0", *numbers]

    def test_needs_memcpy_and_memset_alone(self):
        needed = re.findall(r"U (\w+)", run("nm", "-u", self.object))
        self.assertEqual(set(needed) - {"memcpy", "memset"}, set())

    def measure(self):
        return sum(map(int, run("size", self.object).splitlines()[1].split()[:3]))

    def test_code_and_tables_of_a_processor_have_at_most_64_kib(self):
        self.assertLessEqual(self.measure(), SIZE_MAX)

    def test_code_and_chosen_events_of_a_big_processor_have_at_most_64_kib(self):
        code = self.measure() - os.path.getsize(self.tables)
        events = os.path.join(SOURCE, "lib/events")
        image = os.path.join(self.folder, "skl.pmdb")
        run(sys.executable, os.path.join(SOURCE, "compiler/pmuc.py"), "--image", image,
            "--processors", "skl", "--folders", events, "--bare",
            "INST_RETIRED*,CPU_CLK*,BR_*,MEM_LOAD_*,L2_RQSTS*",
            os.path.join(events, "intel_arch.pmu"))
        self.assertLessEqual(code + os.path.getsize(image), SIZE_MAX)

    def test_golden_vectors_of_the_processor_have_their_registers(self):
        # Some vectors are refusals of texts without "coreduo::".
        vectors = [v for v in native_requests.golden("core") if v["ok"]]
        answers = self.answers("coreduo::" + v["spec"] for v in vectors)
        self.assertGreaterEqual(len(answers), 300)
        for vector, answer in zip(vectors, answers):
            with self.subTest(event=vector["spec"]):
                found = answer.split()
                self.assertEqual(found[0], "0")
                if vector.get("evsel_en_int"):
                    self.assertEqual(int(found[10], 16), int(vector["evsel_en_int"], 16))

    def test_answers_and_refusals_are_those_of_the_library(self):
        texts = ["coreduo::" + v["spec"] for v in native_requests.golden("core")]
        texts += REFUSED[:-1]
        for text, ours, theirs in zip(texts, self.expected(texts), self.answers(texts)):
            with self.subTest(text=text):
                self.assertEqual([a for a, b in zip(theirs.split(), ours) if b is not None],
                                 [b for b in ours if b is not None])

    def test_perfs_notation_is_refused(self):
        self.assertRegex(self.answers(["cpu/event=0xc0/"])[0], r"^-\d+ ")

    def test_program_without_a_c_library_encodes_with_8_kib_of_stack(self):
        if platform.machine() != "x86_64":
            self.skipTest("the program is for x86-64")
        program = os.path.join(self.folder, "program")
        run("cc", "-O2", "-ffreestanding", "-fno-stack-protector", "-nostdlib", "-static",
            "-no-pie", "-fno-pie", INCLUDE,
            os.path.join(TESTS, "bindings/freestanding_program.c"), self.object, "-o", program)
        self.assertEqual(subprocess.run([program], check=False).returncode, 0)


if __name__ == "__main__":
    tap.main()
