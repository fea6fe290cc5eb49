#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Call chains that pfm finds from copies of stacks, branch records and deferred chains, and
branches that it exports.

    PFM  the command (default: pfm of the path)
"""
import collections
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402
from test_record import PFM, Crafted, crafted_program  # noqa: E402

IP, TID, TIME, CALLCHAIN, CPU, PERIOD, BRANCH, REGS, STACK = (
    1,
    2,
    4,
    1 << 5,
    1 << 7,
    1 << 8,
    1 << 11,
    1 << 12,
    1 << 13,
)
KERNEL, USER, DEFERRED = 2 ** 64 - 128, 2 ** 64 - 512, 2 ** 64 - 640
CALL_STACK, ANY = 1 << 11, 1 << 3
X86_REGS, ARM64_REGS = 0xff0fff, (1 << 33) - 1

# Every function spends time at the end of a chain that is known: recursion, threads, a callback of
# libc, a signal handler, and a library that is loaded while the program runs.
PROGRAM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static volatile unsigned long x;
#define OUT __attribute__((noinline, noclone))
OUT void spend(unsigned long n) { for (unsigned long i = 0; i < n; i++) x += i; }
OUT unsigned long down(int n, unsigned long work)
{
	unsigned long r;
	volatile char pad[64];
	pad[n & 63] = 1;
	if (n)
		r = down(n - 1, work) + (unsigned long)pad[3];
	else
		spend(work), r = (unsigned long)pad[0];
	x++;
	return r;
}
OUT void *thread(void *arg) { down((int)(long)arg, 40000000); x++; return NULL; }
OUT void handler(int s) { spend(40000000); x += (unsigned long)s; }
OUT int compare(const void *a, const void *b) { spend(60000); return *(const int *)a - *(const int *)b; }
OUT void sorts(void)
{
	int v[100];
	for (int i = 0; i < 100; i++)
		v[i] = i * 7919 % 100;
	qsort(v, 100, sizeof(*v), compare);
	x += (unsigned long)v[2];
}
int main(int argc, char **argv)
{
	void (*f)(void (*)(unsigned long)) = NULL;
	pthread_t t[2];
	void *lib;
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread, (void *)(5 + 20 * i));
	sorts();
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	lib = dlopen(argv[1], RTLD_NOW);
	if (lib)
		*(void **)&f = dlsym(lib, "outer");
	if (f)
		f(spend);
	return argc == 3;
}
"""
LIBRARY = """
static volatile unsigned long y;
#define OUT __attribute__((noinline, noclone))
OUT void inner(void (*f)(unsigned long)) { f(40000000); y++; }
OUT void outer(void (*f)(unsigned long)) { volatile char pad[100]; pad[3] = 1; inner(f); y += (unsigned long)pad[3]; }
"""
# A function that ends with a jump has no frame; even() and odd() call each other; a child runs on,
# and another program replaces the first.
JUMPS = """
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned long x;
#define OUT __attribute__((noipa))
OUT void spend(unsigned long n)
{
	volatile char any_size[1 + n % 7]; /* needs a frame pointer: gcc leaves it out of others that call nothing */
	any_size[0] = 1;
	for (unsigned long i = 0; i < n; i++)
		x += i;
}
OUT void jumps(unsigned long n) { x++; spend(n); }
OUT void calls(unsigned long n) { jumps(n); x++; }
OUT void odd(unsigned long k, unsigned long n);
OUT void even(unsigned long k, unsigned long n) { if (k) odd(k - 1, n); else spend(n); x++; }
OUT void odd(unsigned long k, unsigned long n) { even(k - 1, n); x++; }
OUT void child(unsigned long n) { spend(n); x++; }
OUT void replaced(unsigned long n) { spend(n); x++; }
int main(int argc, char **argv)
{
	unsigned long n = 40000000;
	int pid;
	if (argc > 2)
		return replaced(n), 0;
	calls(n);
	even(4, n);
	pid = fork();
	if (!pid)
		child(n), _exit(0);
	waitpid(pid, NULL, 0);
	return execl(argv[1], argv[1], "-", "-", (char *)NULL);
}
"""
# Frames with a layout that the test defines. The outermost function has no caller.
ARM64 = """
	.text
	.globl outer, middle, leaf
outer:	.cfi_startproc
	.cfi_undefined x30
	bl middle
	nop
	.cfi_endproc
middle:	.cfi_startproc
	sub sp, sp, #32
	.cfi_def_cfa_offset 32
	str x30, [sp, #16]
	.cfi_offset 30, -16
	bl leaf
	nop
	.cfi_endproc
leaf:	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.type outer, %function
	.type middle, %function
	.type leaf, %function
	.size outer, middle - outer
	.size middle, leaf - middle
	.size leaf, . - leaf
"""


class Recording(Crafted):
    """One event with chosen fields."""

    def __init__(self, fields, branch_type=0, regs=0, stack=0, kind=1):
        super().__init__()
        attr = bytearray(112)
        struct.pack_into("<IIQQQ", attr, 0, kind, 112, 0, 1, IP | TID | TIME | PERIOD | fields)
        struct.pack_into("<Q", attr, 40, 1 << 18)
        struct.pack_into("<QQI", attr, 72, branch_type, regs, stack)
        self.record(64, bytes(attr) + struct.pack("<Q", 1), 0)
        self.first_attr = bytes(attr)

    def write_file(self, path):
        """With the head of a file: some readers take no other."""
        data = b"".join(self.data[2:])
        where = 104 + 8 + len(self.first_attr) + 16
        with open(path, "wb") as f:
            entry = len(self.first_attr) + 16
            f.write(b"PERFILE2" +
                    struct.pack("<8Q", 104, entry, 112, entry, where, len(data), 0, 0) + bytes(32) +
                    struct.pack("<Q", 1) + self.first_attr + struct.pack("<QQ", 104, 8) + data)

    def add(self, pid, ip, rest, misc=2, tid=None):
        self.time += 1
        self.record(9, struct.pack("<QIIQQ", ip, pid, tid or pid, self.time, 1) + rest, misc)

    def deferred(self, pid, cookie, chain):
        self.record(
            22,
            struct.pack("<QQ", cookie, len(chain)) + struct.pack("<%dQ" % len(chain), *chain) +
            self.trailer(pid))

    def exit(self, pid):
        self.record(4, struct.pack("<IIIIQ", pid, 1, pid, 1, self.time + 1) + self.trailer(pid))


def chain_bytes(*words):
    return struct.pack("<Q%dQ" % len(words), len(words), *words)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perfmon-chains-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_in_folder(self, *args):
        return subprocess.run(args, cwd=self.folder, capture_output=True, text=True, timeout=120,
                              check=False)

    def pfm(self, *args):
        done = self.run_in_folder(PFM, *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def folded(self, path="perf.data"):
        """Stacks without the task: weight."""
        return {
            tuple(stack.split(";")[1:]): int(weight)
            for stack, weight in (line.rsplit(" ", 1)
                                  for line in self.pfm("report", "--folded", path).splitlines())
        }


def functions_only(stack):
    return tuple(f for f in stack if not f.endswith(("_[i]", "_[k]")))


@unittest.skipUnless(platform.machine() in ("x86_64", "aarch64"),
                     "stacks are unwound on x86-64 and arm64 only")
class CopiedStacks(Folder):
    """Programs without frame pointers."""

    def setUp(self):
        super().setUp()
        cc = shutil.which("gcc") or shutil.which("cc")
        if not cc:
            self.skipTest("no C compiler (Debian: gcc)")
        for name, text, args in (("program", PROGRAM, ["-lpthread", "-ldl"]),
                                 ("lib.so", LIBRARY, ["-shared", "-fPIC"])):
            with open(self.path(name + ".c"), "w", encoding="utf-8") as f:
                f.write(text)
            done = self.run_in_folder(cc, "-O1", "-fomit-frame-pointer",
                                      "-fno-optimize-sibling-calls", "-o", name, name + ".c", *args)
            if done.returncode:
                self.skipTest(done.stderr)

    def record(self, how="dwarf", frequency=1000):
        done = self.run_in_folder(PFM, "record", "--call-graph", how, "-e",
                                  "cpu-clock:u:freq=%d" % frequency, "--", "./program", "./lib.so")
        if done.returncode:
            self.skipTest(done.stderr)

    def test_stacks_of_a_known_program_are_whole(self):
        self.record()
        weights = collections.Counter()
        for stack, weight in self.folded().items():
            stack = functions_only(stack)
            if stack[-1] != "spend":
                continue
            self.assertNotIn("[cut off]", stack)
            weights["library"] += weight * (stack[-4:] == ("main", "outer", "inner", "spend"))
            weights["handler"] += weight * (stack[-2:] == ("handler", "spend") and "main" in stack)
            weights["sorts"] += weight * (stack[-2:] == ("compare", "spend")
                                          and stack[stack.index("main") + 1] == "sorts")
            weights["deep"] += weight * (stack[-28:] == ("thread",) + ("down",) * 26 + ("spend",))
            weights["shallow"] += weight * (stack[-8:] == ("thread",) + ("down",) * 6 + ("spend",))
            weights["all"] += weight
        self.assertGreater(weights["all"], 0)
        for kind in ("library", "handler", "sorts", "deep", "shallow"):
            self.assertGreater(weights[kind], weights["all"] / 50, weights)
        # no stack is of another kind
        self.assertEqual(sum(weights.values()), 2 * weights["all"], weights)

    def test_jumps_recursion_children_and_replaced_programs(self):
        with open(self.path("jumps.c"), "w", encoding="utf-8") as f:
            f.write(JUMPS)
        wanted = {("jumps", "main", "calls"),
                  ("jumps", "main", "even", "odd", "even", "odd", "even"),
                  ("jumps", "main", "child"), ("replaced", "main", "replaced")}
        for how, option in (("dwarf", "-fomit-frame-pointer"), ("fp", "-fno-omit-frame-pointer")):
            done = self.run_in_folder("gcc", "-O1", option, "-fno-shrink-wrap",
                                      "-foptimize-sibling-calls", "-o", "jumps", "jumps.c")
            if done.returncode:
                self.skipTest(done.stderr)  # noipa is gcc's
            shutil.copy(self.path("jumps"), self.path("replaced"))
            done = self.run_in_folder(PFM, "record", "--call-graph", how, "-e",
                                      "cpu-clock:u:freq=1000", "--", "./jumps", "./replaced")
            if done.returncode:
                self.skipTest(done.stderr)
            weights = collections.Counter()
            for line in self.pfm("report", "--folded", "perf.data").splitlines():
                stack, weight = line.rsplit(" ", 1)
                task, *frames = stack.split(";")
                if frames[-1] == "spend":
                    weights[(task, *frames[frames.index("main"):-1])] += int(weight)
            with self.subTest(how):
                self.assertGreater(min(weights[w] for w in wanted),
                                   sum(weights.values()) / 10, weights)
                self.assertGreater(sum(weights[w] for w in wanted), 0.98 * sum(weights.values()),
                                   weights)

    def test_all_views_have_the_same_weights(self):
        self.record()
        stacks = self.folded()
        self.assertEqual(
            sum(stacks.values()),
            sum(
                int(line.rsplit(" ", 1)[1])
                for line in self.pfm("export", "-f", "folded").splitlines() if line[0] != "#"))
        tree = self.pfm("report", "-g", "-n", "0")
        self.assertRegex(tree, r"lib\.so +outer\n[^\n]*lib\.so +inner\n[^\n]* spend\n")
        shares = [
            line for line in self.pfm("report", "--children").splitlines() if line.endswith(" main")
        ]
        self.assertEqual(len(shares), 1)

    def test_buffers_for_copies_are_larger(self):
        """Mappings of the recorder, the parent of the command: a page of the kernel's numbers and
        the buffer."""
        if os.geteuid():
            self.skipTest("the limit of locked memory makes buffers of other users smaller")
        for how, pages in (["--call-graph", "dwarf"], 512), (["--off-cpu"], 512), (["-g"], 128):
            said = self.run_in_folder(PFM, "record", "-e", "cpu-clock", *how, "-o", "b.data", "--",
                                      "sh", "-c", "grep perf_event /proc/$PPID/maps").stdout
            sizes = {int(m[2], 16) - int(m[1], 16)
                     for m in re.finditer(r"(?m)^([0-9a-f]+)-([0-9a-f]+) ", said)}
            self.assertEqual(sizes, {(pages + 1) * os.sysconf("SC_PAGESIZE")})

    def test_short_copies_are_cut(self):
        self.record("dwarf,512")
        deep = [
            functions_only(s) for s in self.folded() if s.count("down") > 2 and s[-1] == "spend"
        ]
        self.assertTrue(deep)
        self.assertTrue(any(s[0] == "[cut off]" for s in deep), deep)
        for stack in deep:
            self.assertTrue(stack[0] == "[cut off]" or "thread" in stack, stack)
        self.assertIn("[cut off]", self.pfm("report", "-g", "-n", "0"))

    def compare_with_perf(self, path):
        """Expects the frames of perf, besides those that pfm adds for inlined functions."""
        perf = self.run_in_folder("perf", "script", "-i", path, "--no-inline", "-F",
                                  "tid,time,ip").stdout
        # perf prints addresses of the file, pfm those of the process: they agree within a page.
        wanted = [[int(ip, 16) & 0xfff for ip in re.findall(r"^\s+([0-9a-f]+)\s*$", sample, re.M)]
                  for sample in perf.strip().split("\n\n")]
        got = []
        for sample in re.sub("^#.*\n", "", self.pfm("export", "-f", "script", path),
                             flags=re.M).strip().split("\n\n"):
            frames = [
                re.match(r"\s+([0-9a-f]+) .* \(([^)]*)\)$", line) for line in sample.split("\n")[1:]
            ]
            got.append([int(m[1], 16) & 0xfff for m in frames if m[2] != "inlined"])
        self.assertGreater(len(wanted), 20)
        self.assertEqual(len(got), len(wanted))
        # The kernel enters a signal's trampoline at its first byte, which pfm looks up, as gdb does;
        # perf takes its address for a return address and looks up the byte before.
        other = [
            x for x in zip(got, wanted)
            if len(x[0]) != len(x[1]) or any(b - a not in (-1, 0) for a, b in zip(*x))
        ]
        self.assertLessEqual(len(other), 0.02 * len(wanted), other[:3])

    @unittest.skipUnless(shutil.which("perf"), "no perf (Debian: linux-perf)")
    def test_recordings_of_perf_and_of_pfm(self):
        done = self.run_in_folder("perf", "record", "-q", "-e", "cpu-clock:u", "-F", "1000",
                                  "--call-graph", "dwarf", "-o", "p.data", "./program", "./lib.so")
        if done.returncode:
            self.skipTest(done.stderr)
        self.compare_with_perf("p.data")
        self.record()
        self.compare_with_perf("perf.data")


@unittest.skipUnless(platform.machine() in ("x86_64", "aarch64"),
                     "stacks are unwound on x86-64 and arm64 only")
class Inlined(Folder):
    """Inlined functions are nodes of call trees."""
    PROGRAM = """
static volatile unsigned x;
static inline __attribute__((always_inline)) void inner(unsigned n) { for (unsigned i = 0; i < n; i++) x += i; }
static inline __attribute__((always_inline)) void outer(unsigned n) { inner(n); x++; }
__attribute__((noinline)) void work(unsigned n) { outer(n); x++; }
int main(void) { work(200000000); x++; return 0; }
"""

    def test_inlined_functions_are_nodes_of_the_tree(self):
        cc = shutil.which("gcc") or shutil.which("cc")
        if not cc:
            self.skipTest("no C compiler (Debian: gcc)")
        with open(self.path("p.c"), "w", encoding="utf-8") as f:
            f.write(self.PROGRAM)
        done = self.run_in_folder(cc, "-g", "-O1", "-o", "program", "p.c")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_in_folder(PFM, "record", "--call-graph", "dwarf", "-e",
                                  "cpu-clock:u:freq=500", "--", "./program")
        if done.returncode:
            self.skipTest(done.stderr)
        if "libdw is missing" in self.run_in_folder(PFM, "report", "--source").stderr:
            self.skipTest("no libdw (Debian: libdw1)")
        for order, chain in (("caller", ("main", "work", "outer (inlined)", "inner (inlined)")),
                             ("callee", ("inner (inlined)", "outer (inlined)", "work", "main"))):
            tree = self.pfm("report", "--call-graph=" + order).splitlines()
            rows = [re.search(r"([0-9.]+)% .* program  ( *)(\S.*)$", line) for line in tree]
            rows = [(m[3], len(m[2]), float(m[1])) for m in rows if m]
            names = [name for name, _, _ in rows]
            at = names.index(chain[0])
            self.assertEqual(tuple(names[at:at + 4]), chain, rows)
            depths = [depth for _, depth, _ in rows[at:at + 4]]
            self.assertEqual([d - depths[0] for d in depths], [0, 2, 4, 6])
            self.assertTrue(all(share > 90 for _, _, share in rows[at:at + 4]), rows)


@unittest.skipUnless(platform.machine() in ("x86_64", "aarch64"),
                     "stacks are unwound on x86-64 and arm64 only")
class Vdso(Folder):
    """Code that the kernel maps into each process."""
    PROGRAM = """
#include <time.h>
__attribute__((noinline)) long ask(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_nsec; }
int main(void) { long s = 0; for (int i = 0; i < 4000000; i++) s += ask(); return s == 1; }
"""

    def test_names_and_callers(self):
        cc = shutil.which("gcc") or shutil.which("cc")
        if not cc:
            self.skipTest("no C compiler (Debian: gcc)")
        with open(self.path("p.c"), "w", encoding="utf-8") as f:
            f.write(self.PROGRAM)
        done = self.run_in_folder(cc, "-O1", "-o", "program", "p.c")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_in_folder(PFM, "record", "--call-graph", "dwarf", "-e", "cpu-clock:u", "--",
                                  "./program")
        if done.returncode:
            self.skipTest(done.stderr)
        text = re.sub("^#.*\n", "", self.pfm("export", "-f", "script"), flags=re.M)
        stacks = [[line.split() for line in sample.split("\n")[1:]]
                  for sample in text.strip().split("\n\n")]
        inside = [[name.split("+")[0] for _, name, *_ in stack] for stack in stacks
                  if stack[0][-1] == "([vdso])"]
        if not inside:
            self.skipTest("this machine's clock needs a system call")
        good = [
            names for names in inside
            if "gettime" in names[0] and "ask" in names and "main" in names
        ]
        self.assertGreaterEqual(len(good), 0.9 * len(inside), inside[:3])


class Options(unittest.TestCase):
    def test_wrong_ways_to_take_chains_are_refused(self):
        for args, text in ((["--call-graph", "gdb"], "expected fp, dwarf, dwarf,SIZE or lbr"),
                           (["--call-graph", "dwarf,7"], "multiple of 8"),
                           (["--call-graph",
                             "dwarf,65536"], "multiple of 8"), (["--call-graph",
                                                                 "dwarf,"], "multiple of 8"),
                           (["--branch-filter",
                             "any,some"], "got 'any,some'"), (["-b", "--call-graph",
                                                               "lbr"], "cannot be combined")):
            if "multiple" in text and platform.machine() not in ("x86_64", "aarch64"):
                continue
            done = subprocess.run([PFM, "record", *args, "--", "true"], capture_output=True,
                                  text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2, args)
            self.assertIn(text, done.stderr)


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class CraftedStacks(Folder):
    def setUp(self):
        super().setUp()
        with open(self.path("program"), "wb") as f:
            f.write(crafted_program([b"f%d" % i for i in range(8)]))

    def at(self, function, offset=4):
        return 0x1000 + 16 * function + offset

    def make(self, *args, **named):
        r = Recording(*args, **named)
        r.comm(5, b"five")
        r.map(5, 0x1000, self.path("program").encode())
        return r

    def test_branch_call_stacks(self):
        r = self.make(CALLCHAIN | BRANCH, branch_type=CALL_STACK | 1)
        # f3 is on top; the calls were in f2, in f1, at the first instruction of f0.
        calls = [(self.at(2), self.at(3, 0), 0), (self.at(1), self.at(2, 0), 0),
                 (self.at(0, 0), self.at(1, 0), 0)]
        r.add(
            5, self.at(3),
            chain_bytes() + struct.pack("<Q", 3) + b"".join(struct.pack("<QQQ", *c) for c in calls))
        # A kernel frame before two of these calls.
        r.add(
            5, 0xffffffff81000000,
            chain_bytes(KERNEL, 0xffffffff81000000) + struct.pack("<Q", 2) +
            b"".join(struct.pack("<QQQ", *c) for c in calls[:2]), 1)
        r.write(self.path("perf.data"))
        stacks = self.folded()
        self.assertEqual(stacks.pop(("f0", "f1", "f2", "f3")), 1)
        (stack, weight), = stacks.items()
        self.assertEqual((stack[:3], stack[3][-4:], weight), (("f1", "f2", "f3"), "_[k]", 1))

    def test_interrupted_frames_are_looked_up_where_they_are(self):
        """A15: a page fault on the first instruction of f2, which the last one of f1 called."""
        kernel = 0xffffffff81000000
        r = self.make(CALLCHAIN)
        r.add(5, kernel, chain_bytes(KERNEL, kernel, USER, self.at(2, 0), self.at(2, 0)), 1)
        r.write(self.path("perf.data"))
        (stack, _), = self.folded().items()
        self.assertEqual(stack[:-1], ("f1", "f2"))
        out = json.loads(self.pfm("export", "-f", "speedscope", "perf.data"))
        names = [frame["name"] for frame in out["shared"]["frames"]]
        self.assertEqual([names[i] for i in out["profiles"][0]["samples"][0]][:2], ["f1", "f2"])

    @unittest.skipUnless(platform.machine() == "x86_64" and shutil.which("cc"), "for x86-64")
    def test_linkage_stubs_have_callers(self):
        """A16: each instruction of a stub, with the rules of the linker and without them."""
        with open(self.path("plt.c"), "w", encoding="utf-8") as f:
            f.write("int other(int); int work(int n) { return other(n) + other(n + 1); }")
        for flags in ("-Wl,-z,lazy", ), ("-Wl,-z,lazy", "-fcf-protection", "-Wl,-z,ibtplt"), (
                "-Wl,-z,lazy", "-Wl,--no-ld-generated-unwind-info"):
            with self.subTest(flags):
                done = self.run_in_folder("cc", "-shared", "-fPIC", "-O1", *flags, "-o", "plt.so",
                                          "plt.c")
                self.assertEqual(done.returncode, 0, done.stderr)
                code = self.run_in_folder("objdump", "-d", "--no-show-raw-insn", "plt.so").stdout
                stub = re.search(r"<other@plt>:\n((?: +[0-9a-f]+:.*\n)+)", code)[1]
                calls = re.search(r"call.*<other@plt>\n +([0-9a-f]+):", code)
                base, stack = 0x7f0000000000, 0x7fff00001000
                caller = base + int(calls[1], 16)
                r = Recording(CALLCHAIN | REGS | STACK, regs=X86_REGS, stack=64)
                name = self.path("plt.so").encode()
                r.comm(5, b"five")
                r.record(
                    1,
                    struct.pack("<IIQQQ", 5, 5, base, 0x10000, 0) + name +
                    bytes(8 - len(name) % 8) + r.trailer(5))
                pushed = 0
                instructions = re.findall(r" +([0-9a-f]+):\t(\w+)", stub)
                for address, what in instructions:
                    pc = base + int(address, 16)
                    regs = [0] * 20
                    regs[7], regs[8] = stack, pc    # sp and ip, as the kernel numbers them
                    copy = struct.pack("<Q", 1) * pushed + struct.pack("<Q", caller)
                    r.add(
                        5, pc,
                        chain_bytes() + struct.pack("<Q20Q", 2, *regs) +
                        struct.pack("<Q64sQ", 64, copy, len(copy)))
                    pushed += what == "push"
                r.write(self.path("perf.data"))
                self.assertEqual({s[-2:] for s in self.folded()}, {("work", "other@plt")})

    def test_deferred_chains_join_their_samples(self):
        r = self.make(CALLCHAIN)
        kernel = 0xffffffff81000000
        r.add(5, kernel, chain_bytes(KERNEL, kernel, DEFERRED, 77), 1)
        r.add(5, kernel, chain_bytes(KERNEL, kernel, DEFERRED, 77), 1)
        r.add(6, self.at(7), chain_bytes(USER, self.at(7)))      # of another task, in between
        r.deferred(5, 77, [USER, self.at(4), self.at(3), self.at(2)])
        r.add(5, kernel, chain_bytes(KERNEL, kernel, DEFERRED, 78), 1)
        r.deferred(5, 79, [USER, self.at(1)])                    # of samples that were lost
        r.add(5, kernel, chain_bytes(KERNEL, kernel, DEFERRED, 80), 1)
        r.exit(5)
        r.add(5, self.at(6), chain_bytes(USER, self.at(6), self.at(5)))
        r.write(self.path("perf.data"))
        stacks = {
            tuple("K" if f.endswith("_[k]") else f for f in s): w for s, w in self.folded().items()
        }
        self.assertEqual(
            stacks, {("f2", "f3", "f4", "K"): 2, ("[cut off]", "K"): 2, ("f5", "f6"): 1,
                     (("0x%x" % self.at(7)), ): 1})
        times = re.findall(r" (\d+\.\d+): ", self.pfm("export", "-f", "script"))
        self.assertEqual(len(times), 6)
        self.assertEqual(times, sorted(times))

    def test_stacks_of_arm64_unwind(self):
        tools = [shutil.which("aarch64-linux-gnu-" + tool) for tool in ("as", "ld")]
        if not all(tools):
            self.skipTest("no assembler for arm64 (Debian: binutils-aarch64-linux-gnu)")
        with open(self.path("a.s"), "w", encoding="utf-8") as f:
            f.write(ARM64)
        for command in ([tools[0], "-o", "a.o",
                         "a.s"], [tools[1], "-shared", "--build-id=none", "-o", "a.so", "a.o"]):
            done = self.run_in_folder(*command)
            self.assertEqual(done.returncode, 0, done.stderr)
        code = self.run_in_folder("readelf", "-SW", "a.so").stdout
        start, offset = (int(
            v, 16) for v in re.search(r" \.text +PROGBITS +([0-9a-f]+) ([0-9a-f]+)", code).groups())
        self.assertEqual(start & 0xfff, offset & 0xfff)
        base = 0x7f0000000000
        outer = base + offset
        middle, leaf, stack = outer + 8, outer + 24, 0x7fff00001000
        r = Recording(CALLCHAIN | REGS | STACK, regs=ARM64_REGS, stack=64)
        r.comm(5, b"five")
        name = self.path("a.so").encode()
        r.record(
            1,
            struct.pack("<IIQQQ", 5, 5, base, 0x10000, 0) + name + bytes(8 - len(name) % 8) +
            r.trailer(5))

        def add(pc, lr, copy):
            regs = [0] * 29 + [0, lr, stack, pc]
            r.add(
                5, pc,
                chain_bytes() + struct.pack("<Q33Q", 2, *regs) +
                struct.pack("<Q64sQ", 64, copy, len(copy)))

        signature = 0x0012 << 48    # of pointer authentication
        add(leaf, middle + 12, struct.pack("<4Q", 0, 0, (outer + 4) | signature, 0))
        # its link register was used for something else
        add(middle + 8, 1, struct.pack("<4Q", 0, 0, outer + 4, 0))
        add(leaf, middle + 12, b"")                                     # the stack was not copied
        r.write(self.path("perf.data"))
        self.assertEqual(self.folded(), {("outer", "middle", "leaf"): 1, ("outer", "middle"): 1,
                                         ("[cut off]", "middle", "leaf"): 1})

    def test_registers_of_other_processors(self):
        r = self.make(CALLCHAIN | REGS | STACK, regs=0xffffffff, stack=8)   # RISC-V
        r.add(
            5, self.at(3),
            chain_bytes(USER, self.at(3)) + struct.pack("<Q32Q", 2, *range(32)) +
            struct.pack("<QQQ", 8, 0, 8))
        r.write(self.path("perf.data"))
        self.assertEqual(self.folded(), {("[cut off]", "f3"): 1})


def tool(name, *folders):
    """A program of a package of which Debian has several versions."""
    found = shutil.which(name)
    for version in range(22, 13, -1):
        found = found or shutil.which("%s-%d" % (name, version))
    return found


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class Branches(Folder):
    """Branch records, which this machine may not have: the recordings are crafted."""
    PROGRAM = """
volatile unsigned x;
__attribute__((noinline)) void loop(unsigned n) { for (unsigned i = 0; i < n; i++) x += i; }
int main(int argc, char **argv) { (void)argv; loop(argc > 1 ? 50000000 : 1000); return 0; }
"""

    def test_branches_print_as_text(self):
        r = Recording(BRANCH, branch_type=ANY)
        name = b"/usr/bin/some thing"
        r.record(
            10,
            struct.pack("<IIQQQIIQQII", 5, 6, 0x400000, 0x2000, 0x1000, 8, 2, 77, 9, 5, 2) + name +
            bytes(8 - len(name) % 8) + r.trailer(5))
        # mispredicted, predicted, in a transaction, aborted, cycles, a call
        flags = [1, 2, 4 | 2, 8, 255 << 4 | 2, 4 << 20 | 2, 0]
        branches = [(0x400010 + i, 0x400100 + i, f) for i, f in enumerate(flags)]
        r.add(
            5, 0x400123,
            struct.pack("<Q", len(branches)) + b"".join(struct.pack("<QQQ", *b) for b in branches))
        r.add(5, 0x400124, struct.pack("<Q", 0))
        r.write(self.path("perf.data"))
        lines = self.pfm("export", "-f", "brstack").splitlines()
        # perf script -F ip,brstack --show-mmap-events, from its source:
        # FROM/TO/prediction/transaction/abort/cycles/type.
        self.assertEqual(
            lines[0],
            (
                "PERF_RECORD_MMAP2 5/6: [0x400000(0x2000) @ 0x1000 08:02 77 9]: r-xp /usr/bin/some"
                " thing"
            ),
        )
        self.assertEqual(lines[1].split(), [
            "400123", "0x400010/0x400100/M/-/-/0", "0x400011/0x400101/P/-/-/0",
            "0x400012/0x400102/P/X/-/0", "0x400013/0x400103/-/-/A/0", "0x400014/0x400104/P/-/-/255",
            "0x400015/0x400105/P/-/-/0/CALL", "0x400016/0x400106/-/-/-/0"
        ])
        self.assertEqual(lines[2].split(), ["400124"])
        self.assertEqual(len(lines), 3)

    def test_recordings_without_branches(self):
        r = Recording(0)
        r.add(5, 1, b"")
        r.write(self.path("perf.data"))
        done = self.run_in_folder(PFM, "export", "-f", "brstack")
        self.assertIn("record them with 'pfm record -b'", done.stderr)

    def loop_recording(self, *options):
        """A recording in which the loop of the program ran 3 * 99 times. Returns how often its
        first instruction did."""
        cc = shutil.which("gcc") or shutil.which("cc")
        if platform.machine() != "x86_64" or not cc:
            self.skipTest("no C compiler for x86-64 (Debian: gcc)")
        with open(self.path("p.c"), "w", encoding="utf-8") as f:
            f.write(self.PROGRAM)
        done = self.run_in_folder(cc, "-g", "-O1", "-no-pie", "-Wl,-q", *options, "-o", "program",
                                  "p.c")
        self.assertEqual(done.returncode, 0, done.stderr)
        code = self.run_in_folder("objdump", "-d", "--no-show-raw-insn", "program").stdout
        code = code[code.index("<loop>:"):].split("\n\n")[0]
        jumps = [(int(a, 16), int(b, 16))
                 for a, b in re.findall(r"^ +([0-9a-f]+):\s+j\w+ +([0-9a-f]+)", code, re.M)]
        jump, head = next((a, b) for a, b in jumps if b < a)
        r = Recording(BRANCH, branch_type=ANY, kind=0)  # cycles
        r.comm(5, b"program")
        name = self.path("program").encode()
        r.record(
            10,
            struct.pack("<IIQQQIIQQII", 5, 5, 0x401000, 0x1000, 0x1000, 8, 2, 77, 9, 5, 2) + name +
            bytes(8 - len(name) % 8) + r.trailer(5))
        for _ in range(99):
            r.add(5, head, struct.pack("<Q", 4) + struct.pack("<QQQ", jump, head, 2) * 4)
        r.write_file(self.path("perf.data"))
        return 3 * 99

    def test_llvm_profgen_reads_the_branches(self):
        profgen = tool("llvm-profgen")
        if not profgen:
            self.skipTest("no llvm-profgen (Debian: llvm)")
        self.loop_recording()
        self.pfm("export", "-o", "b.brstack")
        done = self.run_in_folder(profgen, "--binary=program", "--perfscript=b.brstack",
                                  "--format=text", "--output=o.txt")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("o.txt"), encoding="utf-8") as f:
            profile = f.read()
        self.assertRegex(profile, r"^loop:\d+:")
        self.assertRegex(profile, r"(?m)^ \d+(\.\d+)?: (297|396)$")

    def test_autofdo_counts_the_samples_of_the_report(self):
        """Its reader takes perf.data only: a crafted one with branches, and one of pfm whose
        samples it has to count like the report."""
        if not tool("create_llvm_prof"):
            self.skipTest("no create_llvm_prof (Debian: autofdo)")
        times = self.loop_recording("-gdwarf-4")  # it cannot read later versions
        self.assertRegex(self.autofdo_profile("program", "perf.data"),
                         r"(?m)^loop:\d+:0\n 0: %d$" % times)
        self.pfm("record", "-e", "task-clock:u:period=100000", "-o", "own.data", "--", "./program",
                 "busy")
        own = self.autofdo_profile("program", "own.data", "--use_lbr=false")
        rows = [json.loads(line) for line in self.pfm("report", "--json", "own.data").splitlines()]
        loop = sum(row["samples"] for row in rows if row["function"] == "loop")
        self.assertGreater(loop, 10)
        self.assertRegex(own, r"(?m)^loop:%d:0$" % loop)

    def autofdo_profile(self, program, recording, *options):
        done = self.run_in_folder(tool("create_llvm_prof"), "--binary=" + program,
                                  "--profile=" + recording, "--profiler=perf", "--format=text",
                                  "--out=o.prof", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("o.prof"), encoding="utf-8") as f:
            return f.read()

    def test_perf2bolt_reads_the_branches(self):
        perf2bolt = tool("perf2bolt")
        if not perf2bolt or not shutil.which("perf"):
            self.skipTest("no perf2bolt (Debian: bolt-15 and linux-perf)")
        times = self.loop_recording()
        done = self.run_in_folder(perf2bolt, "--aggregate-only", "-p", "perf.data", "-o", "o.fdata",
                                  "--ignore-build-id", "program")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        with open(self.path("o.fdata"), encoding="utf-8") as f:
            self.assertRegex(f.read(),
                             r"(?m)^1 loop [0-9a-f]+ 1 loop [0-9a-f]+ 0 %d$" % (times + 99))


if __name__ == "__main__":
    tap.main()
