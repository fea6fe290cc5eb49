#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pfm stat --simulate`: counts by QEMU with our plugin. The programs are machine code of a few
instructions, so expected counts are counted by hand."""
import csv
import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest

from tap import main

PFM = os.environ.get("PFM", "pfm")
STEPS = os.path.join(os.environ.get("PERFMON_BUILD", ""), "tests", "step_count")
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(("PERFMON_", "QEMU_", "LC_", "LSAN_", "ASAN_"))}
ADDRESS, HEAD = 0x400000, 64 + 56
X86, ARM = 62, 183
EXIT = bytes.fromhex("b83c000000 31ff 0f05")        # mov $60,%eax; xor %edi,%edi; syscall


def loop(n):
    """mov $n,%ecx; dec %ecx; jnz: 2 n + 1 instructions, and 3 of the end."""
    return b"\xb9" + struct.pack("<I", n) + bytes.fromhex("ffc9 75fc") + EXIT


# mov $100,%ecx; lea -4096(%rsp),%rdi; cld; rep stosb; mov $1000,%ecx; lea; rep stosb
REPEATED = bytes.fromhex("b964000000 488dbc2400f0ffff fc f3aa b9e8030000 488dbc2400f0ffff f3aa")
FAULT = bytes.fromhex("31c0 8b00")                  # xor %eax,%eax; mov (%rax),%eax
# mov $15,%eax; syscall: the end of a signal's handler
RETURN = bytes.fromhex("b80f000000 0f05")
# mmap(0x10000, 4096, 3, 0x32, -1, 0); ret: 9 instructions
MAP = bytes.fromhex("b809000000 bf00000100 be00100000 ba03000000 41ba32000000 41b8ffffffff 4531c9"
                    "0f05 c3")


def handled(code, handler):
    """rt_sigaction(SIGSEGV, @handler, 0, 8): 6 instructions, which leave 0 in %rdx; then @code,
    @handler, and RETURN."""
    at = ADDRESS + HEAD + 25 + len(code)
    end = at + len(handler)
    call = (bytes.fromhex("b80d000000 bf0b000000 be") + struct.pack("<I", end + len(RETURN))
            + bytes.fromhex("31d2 41ba08000000 0f05"))
    # struct sigaction: the handler, SA_RESTORER and SA_SIGINFO, the restorer, no mask
    return call + code + handler + RETURN + struct.pack("<QQQQ", at, 0x04000004, end, 0)


def clone(flags, number=b"\xb8\x38\x00\x00\x00"):
    """clone($flags, %rsp - 8192, 0, 0): 7 instructions with the @number's load."""
    return (number + b"\xbf" + struct.pack("<I", flags)
            + bytes.fromhex("488db42400e0ffff 31d2 4531d2 4531c0 0f05"))


THREAD, CHILD = 0x50f00, 17                         # as pthread_create(3) and fork(2)
# wait4(-1, 0, 0, 0): 6 instructions
WAIT = bytes.fromhex("b83d000000 48c7c7ffffffff 31f6 31d2 4531d2 0f05")
# mov x1,#1000; ldr w0,[sp]; stur w0,[sp,#-16]; subs x1,x1,#1; b.ne; mov x8,#93; mov x0,#0; svc
ARM_LOOP = bytes.fromhex("017d80d2 e00340b9 e0031fb8 210400f1 a1ffff54 a80b80d2 000080d2 010000d4")


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def program(self, name, code, machine=X86):
        """A program of one segment."""
        path = os.path.join(self.folder, name)
        head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 2, machine, 1, ADDRESS + HEAD, 64, 0, 0, 64, 56, 1, 0, 0, 0)
        segment = struct.pack("<IIQQQQQQ", 1, 5, 0, ADDRESS, ADDRESS, HEAD + len(code),
                              HEAD + len(code), 0x10000)
        with open(path, "wb") as f:
            f.write(head + segment + code)
        os.chmod(path, 0o755)
        return path


def simulate(*words, env=None):
    return subprocess.run([PFM, "stat", "--simulate", *words], env=env or CLEAN, text=True,
                          capture_output=True, timeout=600, stdin=subprocess.DEVNULL, check=False)


def run(*words, program=PFM):
    return subprocess.run([program, *words], env=CLEAN, text=True, capture_output=True,
                          timeout=600, stdin=subprocess.DEVNULL, check=False)


def counts(*words):
    """The JSON objects of the events by name, and the exit status."""
    done = simulate("--json", *words)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"]
    return {r["event"]: r for r in rows}, done


def obstacle():
    """Why nothing can be simulated here; None if it can."""
    done = simulate("-e", "instructions", "--", "/bin/true")
    return None if done.returncode == 0 else done.stderr.strip() or "pfm stat --simulate fails"


WHY = obstacle()


@unittest.skipIf(WHY, WHY)
class Counts(Folder):
    def test_a_loop_is_counted_to_the_instruction_ten_times(self):
        rows, done = counts("-r", "10", "--", self.program("loop", loop(2000000)))
        self.assertEqual(rows["instructions"]["value"], 4000004, done.stderr)
        self.assertEqual(rows["branches"]["value"], 2000000)
        self.assertEqual(rows["syscalls"]["value"], 1)
        self.assertEqual((rows["loads"]["value"], rows["stores"]["value"]), (0, 0))
        self.assertEqual({r["distinct"] for r in rows.values()}, {1})
        self.assertEqual({r["quality"] for r in rows.values()}, {"simulated"})
        self.assertRegex(rows["loads"]["version"], r"^\d+\.\d+")

    def test_a_repeated_instruction_is_one(self):
        """13 instructions by hand; emulators execute 1,113."""
        rows, _ = counts("--", self.program("repeated", REPEATED + b"\x90" * 3 + EXIT))
        self.assertEqual(rows["instructions"]["value"], 13)
        self.assertEqual(rows["stores"]["value"], 1100)

    def test_instructions_that_fault_are_not_counted(self):
        """By hand, and by single steps: 6 to set the handler, which ends the program with 3; or
        which maps the missing page with 9 and returns with 2, after which the load is repeated."""
        load = bytes.fromhex("8b02")                # mov (%rdx),%eax
        place = bytes.fromhex("ba00000100")         # mov $0x10000,%edx
        for name, code, by_hand, loads in (
                ("nine", handled(load + b"\x90" * 4, EXIT), 9, 0),
                ("repaired", handled(place + load + b"\x90" + EXIT, MAP), 23, 2),
                ("killed", FAULT, 1, 0)):
            program = self.program(name, code)
            rows, done = counts("--", program)
            stepped = run(program, program=STEPS).stdout.split()
            self.assertEqual(int(stepped[0]), by_hand, name)
            self.assertEqual(rows["instructions"]["value"], by_hand, (name, done.stderr))
            self.assertEqual(rows["loads"]["value"], loads, name)

    def test_threads_add_up(self):
        """Four threads, of which two start one more; no addition is lost where they meet."""
        code = clone(THREAD) * 2 + loop(300000)
        for name, code in (("plain", code),
                           ("hidden", code.replace(b"\xb8\x38\x00\x00\x00",
                                                   b"\x6a\x38\x58\x90\x90"))):
            rows, done = counts("--", self.program(name, code))
            more = 3 if name == "hidden" else 0     # push, pop, nop, nop instead of mov
            self.assertEqual(rows["instructions"]["value"],
                             (7 + more) * 3 + 4 * 600004, done.stderr)
            self.assertEqual(rows["branches"]["value"], 4 * 300000)
            self.assertEqual(rows["syscalls"]["value"], 7)
            self.assertGreater(rows["syscalls"]["threads"], 1)

    def test_children_add_up(self):
        code = clone(CHILD) + WAIT + loop(100000)
        rows, done = counts("--", self.program("children", code))
        self.assertEqual(rows["instructions"]["value"], 7 + 2 * (6 + 200004), done.stderr)
        self.assertEqual(rows["syscalls"]["value"], 5)

    def test_a_block_that_ends_with_a_page(self):
        """A page ends in the last instruction of a block: QEMU puts it into the next one."""
        for bytes_before in range(1, 6):
            n = 4096 - HEAD - bytes_before
            code = b"\x90" * n + b"\xb9\x01\x00\x00\x00" + b"\x90" * 9 + EXIT
            rows, done = counts("-e", "instructions", "--", self.program("page", code))
            self.assertEqual(rows["instructions"]["value"], n + 10 + 3, done.stderr)

    def test_a_program_that_a_signal_ends_is_counted(self):
        rows, done = counts("--", self.program("fault", FAULT))
        self.assertEqual(done.returncode, 128 + 11)
        self.assertEqual(rows["instructions"]["value"], 1)

    def test_the_emulated_processor_is_chosen(self):
        """vpxor %ymm0,%ymm0,%ymm0; a processor without AVX does not know it: SIGILL."""
        program = self.program("avx", bytes.fromhex("c5fdefc0") + EXIT)
        rows, done = counts("-e", "instructions", "--", program)
        self.assertEqual((rows["instructions"]["value"], done.returncode), (4, 0), done.stderr)
        rows, done = counts("-e", "instructions", "--simulate-cpu", "max,-avx,-avx2", "--", program)
        self.assertEqual(done.returncode, 128 + 4)
        self.assertEqual(rows["instructions"]["model"], "max,-avx,-avx2")

    def test_a_program_for_arm64(self):
        rows, done = counts("--", self.program("arm", ARM_LOOP, ARM))
        self.assertEqual(done.returncode, 0, done.stderr)
        values = {name: r["value"] for name, r in rows.items()}
        self.assertEqual(values, {"instructions": 4004, "loads": 1000, "stores": 1000,
                                  "branches": 1000, "syscalls": 1})
        self.assertEqual(rows["loads"]["engine"], "qemu-aarch64")

    def test_executed_programs_are_counted(self):
        """Static ones, and those behind a script; each adds its own instructions."""
        program = self.program("loop", loop(1000000))
        script = os.path.join(self.folder, "script")
        with open(script, "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\n{program}\n{program}\n")
        os.chmod(script, 0o755)
        for command, times, programs in ((("sh", "-c", f"{program}; true"), 1, 2),
                                         ((script,), 2, 3)):
            rows, done = counts("-e", "instructions", "--", *command)
            found = rows["instructions"]
            self.assertEqual(found["programs"], programs, done.stderr)
            self.assertEqual(found["uncounted"], 0)
            self.assertEqual(found["value"] // 2000004, times)

    def test_a_large_program_has_one_value(self):
        rows, done = counts("-r", "2", "-e", "instructions", "--", "/usr/bin/python3", "-S", "-c",
                            "print(len({str(i) for i in range(100)}))")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(rows["instructions"]["distinct"], 1)
        self.assertGreater(rows["instructions"]["value"], 10 ** 6)

    def test_the_environment_is_kept_on_request(self):
        command = ("-e", "instructions", "--", "sh", "-c", "test -n \"$SIMULATED_WORD\"")
        env = {**CLEAN, "SIMULATED_WORD": "here"}
        self.assertEqual(simulate(*command, env=env).returncode, 1)
        self.assertEqual(simulate("--no-fixed", *command, env=env).returncode, 0)


@unittest.skipIf(WHY, WHY)
class Comparison(Folder):
    def test_a_single_instruction_is_found(self):
        old, new = self.program("old", loop(1000)), self.program("new", b"\x90" + loop(1000))
        done = simulate("--fail-above", "0", "--", old, "::", new)
        self.assertEqual(done.returncode, 1)
        self.assertIn("instructions rose by 0.050%, more than 0%", done.stderr)
        self.assertEqual(simulate("--fail-above", "0.1%", "--", old, "::", new).returncode, 0)
        self.assertEqual(simulate("--fail-above", "0", "--", new, "::", old).returncode, 0)
        self.assertEqual(simulate("--fail-above", "0", "--", old, "::", old).returncode, 0)

    def test_different_emulators_are_not_compared(self):
        done = simulate("--", self.program("x86", loop(10)), "::",
                        self.program("arm", ARM_LOOP, ARM))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be compared", done.stderr)


@unittest.skipIf(WHY, WHY)
class Regions(unittest.TestCase):
    LOOP = os.path.join(os.environ.get("PERFMON_BUILD", ""), "tests", "region_loop")

    def regions(self, rounds, *options):
        done = simulate("--regions=json", *options, "--", self.LOOP, str(rounds))
        rows = [json.loads(line) for line in done.stderr.splitlines() if line[:1] == "{"]
        found = [r for r in rows if r.get("region") == "loop" and r["thread"] == "all"]
        self.assertEqual(len(found), 1, done.stderr)
        return found[0], rows

    def test_a_region_is_counted_to_the_instruction(self):
        """Two instructions for each round in each of ten visits."""
        short, rows = self.regions(1000, "-e", "instructions,branches")
        long = self.regions(3000, "-e", "instructions,branches")[0]
        by_name = [{e["event"]: c for e, c in zip(rows[0]["events"], r["counts"])}
                   for r in (short, long)]
        instructions, branches = [[r[name]["inclusive"] for r in by_name]
                                  for name in ("instructions", "branches")]
        self.assertEqual(instructions[1] - instructions[0], 10 * 2 * 2000)
        self.assertEqual(branches[1] - branches[0], 10 * 2000)
        self.assertEqual(long["visits"], 10)
        self.assertEqual({c["quality"] for c in long["counts"]}, {"simulated"})
        # All but the loop is the call of the end, whose symbol the first visit binds.
        self.assertLess(instructions[0], 10 * (2 * 1000 + 20) + 2000)
        self.assertGreaterEqual(instructions[0], 10 * 2 * 1000)

    def test_two_runs_are_equal(self):
        values = [self.regions(100, "-e", "instructions")[0]["counts"] for _ in range(2)]
        self.assertEqual(values[0], values[1])


@unittest.skipIf(WHY, WHY)
class Recordings(Folder):
    def record(self, name, *command):
        path = os.path.join(self.folder, name + ".data")
        done = run("record", "--simulate", "-o", path, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path, done

    def samples(self, path):
        """(address, count) of each instruction, as pfm export prints them."""
        done = run("export", "--format", "csv", path)
        rows = list(csv.DictReader(line for line in done.stdout.splitlines() if line[:1] != "#"))
        return [(int(r["address"], 0), int(r["weight"])) for r in rows if r["kind"] == "sample"]

    def test_each_instruction_has_its_count(self):
        path, done = self.record("loop", self.program("loop", loop(1000)))
        self.assertIn("2,004 instructions", done.stderr)
        first = ADDRESS + HEAD
        self.assertEqual(self.samples(path), [
            (first, 1), (first + 5, 1000), (first + 7, 1000), (first + 9, 1), (first + 14, 1),
            (first + 16, 1)])

    def test_a_repeated_instruction_and_threads(self):
        path, _ = self.record("repeated", self.program("repeated", REPEATED + EXIT))
        self.assertEqual({n for _, n in self.samples(path)}, {1})
        path, _ = self.record("threads", self.program("threads", clone(THREAD) + loop(5000)))
        self.assertEqual(sum(n for _, n in self.samples(path)), 7 + 2 * 10004)

    def test_places_of_faults_are_not_counted(self):
        path, _ = self.record("nine", self.program(
            "nine", handled(bytes.fromhex("8b02") + b"\x90" * 4, EXIT)))
        samples = self.samples(path)
        self.assertEqual([n for _, n in samples], [1] * 9)
        self.assertNotIn(ADDRESS + HEAD + 25, [at for at, _ in samples])

    def test_samples_add_up_to_the_count(self):
        command = ("sh", "-c", "ls / | wc")
        path, done = self.record("shell", *command)
        total = sum(n for _, n in self.samples(path))
        self.assertIn(f"{total:,} instructions", done.stderr)
        reported = run("report", "--json", "--sort", "task", path)
        self.assertEqual(
            {json.loads(line)["task"] for line in reported.stdout.splitlines()},
            {"sh", "ls", "wc"})

    def test_the_quality_is_simulated_and_nothing_has_an_error(self):
        path, _ = self.record("loop", self.program("loop", loop(1000)))
        reported = run("report", path)
        self.assertRegex(reported.stderr, r"each instruction was counted by qemu-x86_64 \d")
        self.assertNotRegex(reported.stdout, r"\+- *0\.0*[1-9]")
        self.assertIn('"quality": "simulated"', run("export", "--format", "json", path).stdout)

    def test_a_comparison_finds_a_single_instruction(self):
        old, _ = self.record("old", self.program("old", loop(1000)))
        new, _ = self.record("new", self.program("new", b"\x90" + loop(1000)))
        found = run("diff", "--json", old, new)
        total = [r for r in map(json.loads, found.stdout.splitlines()) if r["total"]][0]
        self.assertEqual((total["old"]["weight"], total["new"]["weight"]), (2004, 2005))
        self.assertTrue(total["significant"])
        self.assertEqual((total["low"], total["high"]), (total["change"],) * 2)
        self.assertRegex(run("diff", old, new).stdout, r"\* +\+1 ")
        same = run("diff", old, old)
        self.assertNotIn("*", same.stdout)
        self.assertEqual(run("diff", "--fail-above", "0", old, new).returncode, 1)
        self.assertEqual(run("diff", "--fail-above", "0", old, old).returncode, 0)

    def test_different_emulators_are_not_compared(self):
        x86, _ = self.record("x86", self.program("x86", loop(10)))
        arm, _ = self.record("arm", self.program("arm", ARM_LOOP, ARM))
        refused = run("diff", x86, arm)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("counts of different emulators", refused.stderr)

    @unittest.skipUnless(shutil.which("perf"), "perf (linux-perf) is missing")
    def test_perf_reads_the_recording(self):
        path, _ = self.record("loop", self.program("loop", loop(1000)))
        told = run("report", "-i", path, "--stdio", program="perf")
        self.assertIn("Event count (approx.): 2004", told.stdout)

    def test_what_cannot_be_recorded(self):
        done = run("record", "--simulate", "-o", "/nonexistent/x", "--", "/bin/true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nonexistent/x: No such file", done.stderr)
        self.assertEqual(run("record", "--simulate").returncode, 2)
        self.assertEqual(run("record", "--simulate", "-e", "cycles", "--", "true").returncode, 2)


class Refusals(Folder):
    def expect(self, words, status, message, env=None):
        done = simulate(*words, env=env)
        self.assertEqual((done.returncode, done.stdout), (status, ""))
        self.assertIn(message, done.stderr)

    def test_what_an_emulator_does_not_have(self):
        for event in ("cycles", "page-faults", "cache-misses", "ipc"):
            self.expect(("-e", event, "--", "true"), 2, f"'{event}' cannot be simulated")

    def test_options_that_are_wrong(self):
        self.expect((), 2, "expected a command")
        self.expect(("--fail-above", "much", "--", "true"), 2, "expected percent, got 'much'")
        self.expect(("--fail-above", "1", "--", "true"), 2, "expected OLD :: NEW")
        self.expect(("--", "true", "::"), 2, "expected a command")
        self.expect(("-r", "0", "--", "true"), 2, "-r")

    def test_programs_that_cannot_be_emulated(self):
        self.expect(("--", "/nonexistent"), 1, "no such program")
        self.expect(("--", self.program("other", EXIT, 21)), 1, "expected a program for x86-64")

    def test_a_missing_emulator_has_a_remedy(self):
        env = {**CLEAN, "PATH": self.folder}
        self.expect(("--", self.program("loop", loop(1))), 1, "Debian: qemu-user", env=env)


if __name__ == "__main__":
    main()
