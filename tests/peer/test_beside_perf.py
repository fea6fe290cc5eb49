#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings of perf with different options: pfm finds the samples, weights, tasks, files and
functions that perf script and perf report find.

    PFM  the command (default: pfm of the path)
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
LIBRARY = """
static volatile unsigned long x;
__attribute__((noinline)) static void hidden(unsigned long n) { for (unsigned long i = 0; i < n; i++) x ^= i; }
void shared(unsigned long n) { hidden(n); x++; }
"""
# Every kind spends some 50 ms in functions that are known.
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define OUT __attribute__((noinline, noclone))
static volatile unsigned long x;
OUT static void one(unsigned long n) { for (unsigned long i = 0; i < n; i++) x += i; }
OUT static void two(unsigned long n) { for (unsigned long i = 0; i < n; i++) x ^= i * 3; }
OUT static void deep(int n) { if (n) deep(n - 1); else two(4000000); x++; }
OUT static void work(void) { for (int i = 0; i < 4; i++) { one(5000000); deep(i * 5); } x++; }
static void *thread(void *arg) { (void)arg; work(); return NULL; }
OUT static void touch(void)
{
	char *p = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 4 << 20; i += 4096)
		p[i] = 1;
}
OUT static void calls(void) { for (int i = 0; i < 300000; i++) syscall(SYS_getppid); }
OUT static void jit(void)
{
	/* mov rcx, rdi; dec rcx; jnz -5; ret */
	static const unsigned char code[] = { 0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3 };
	unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *f;
	memcpy(p, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	fprintf(f, "%lx %zx compiled loop\n", (unsigned long)p, sizeof(code));
	fclose(f);
	((void (*)(unsigned long))p)(200000000);
}
int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	pthread_t t[2];
	if (!strcmp(kind, "threads")) {
		for (int i = 0; i < 2; i++)
			pthread_create(&t[i], NULL, thread, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
	} else if (!strcmp(kind, "fork")) {
		for (int i = 0; i < 2; i++)
			if (fork() == 0) {
				work();
				_exit(0);
			}
		work();
		while (wait(NULL) > 0)
			;
	} else if (!strcmp(kind, "exec")) {
		work();
		execl("./other name", "other name", NULL);
	} else if (!strcmp(kind, "library")) {
		void *l = dlopen("./libshared.so", RTLD_NOW);
		((void (*)(unsigned long))dlsym(l, "shared"))(60000000);
		work();
	} else if (!strcmp(kind, "jit")) {
		jit();
	} else if (!strcmp(kind, "faults")) {
		touch();
		work();
	} else if (!strcmp(kind, "calls")) {
		calls();
		work();
	} else {
		work();
	}
	return 0;
}
"""
# Without build ids, except where they are the subject: perf 6.1 may end by an assertion when it
# reads those of files.
CLOCK = ["-B", "-e", "cpu-clock:u", "-F", "2000"]
IDS = CLOCK[1:]
# Name of the recording: options of perf record, kind of program.
RECORDINGS = {
    "a frequency": (CLOCK, ""),
    "build ids": (IDS, ""),
    "a period": (["-B", "-e", "cpu-clock:u", "-c", "500000"], ""),
    "a period that is recorded": (["-B", "-e", "cpu-clock:u", "-c", "500000", "-P"], ""),
    "the kernel as well": (["-B", "-e", "cpu-clock", "-F", "2000"], "calls"),
    "chains by frame pointers": ([*CLOCK, "-g"], ""),
    "chains by copied stacks": ([*CLOCK, "--call-graph", "dwarf"], ""),
    "chains by short copies": ([*CLOCK, "--call-graph", "dwarf,1024"], ""),
    "two events": (["-B", "-e", "cpu-clock/period=500000/u", "-e",
                    "page-faults/period=4/u"], "faults"),
    "a group": (["-B", "-e", "{cpu-clock,page-faults}:u", "-F", "2000"], "faults"),
    "a group of which the leader samples": (["-B", "-e", "{cpu-clock,page-faults}:S", "-F",
                                             "2000"], "faults"),
    "several events and chains": (["-B", "-e", "task-clock:u,page-faults:u,context-switches",
                                   "-g"], "threads"),
    "switches": ([*CLOCK, "--switch-events"], "threads"),
    "all processors": (["-a", "-e", "cpu-clock", "-F", "500"], ""),
    "per thread": ([*CLOCK, "--per-thread", "-T"], ""),
    "no children": ([*CLOCK, "--no-inherit"], "fork"),
    "compressed": ([*CLOCK, "-z"], "threads"),
    "asynchronous writes": ([*CLOCK, "--aio"], "threads"),
    "a replaced program": (CLOCK, "exec"),
    "children": ([*CLOCK, "-s"], "fork"),
    "threads": ([*CLOCK, "-T", "-d", "--sample-cpu"], "threads"),
    "a library that is loaded": (CLOCK, "library"),
    "compiled code": (CLOCK, "jit"),
    "build ids of all files": ([*IDS, "--buildid-all"], "library"),
    "build ids in mappings": ([*IDS, "--buildid-mmap"], "library"),
    "a clock of its own": ([*CLOCK, "-k", "CLOCK_MONOTONIC"], ""),
    "registers and weights": ([*CLOCK, "-I", "-W", "--data-page-size"], ""),
    "control groups and namespaces": ([*CLOCK, "--all-cgroups", "--namespaces"], "fork"),
    "a delay": ([*CLOCK, "-D", "20"], "exec"),
    "a ring that is overwritten": ([*CLOCK, "--overwrite"], ""),
    "a pipe": ([*CLOCK, "-o", "-"], "library"),
}
# A sample of perf script: task, pid/tid, time, event, address, function (file).
LINE = re.compile(
    r"^(?P<task>.*?) +(?P<pid>-?\d+)/(?P<tid>-?\d+) +(?P<seconds>\d+)\.(?P<ns>\d{9}):"
    r" +(?P<weight>\d+) +(?P<event>\S+): +"
    r"(?P<ip>[0-9a-f]+) (?P<symbol>.*) \((?P<file>[/\[].*)\)$"
)
Sample = collections.namedtuple("Sample", "time event pid tid task weight page file symbol")


def base_name(path):
    """The file's name as both would have it."""
    if path.startswith("[kernel") or path.startswith("[guest.kernel"):
        return "[kernel]"
    if path.startswith(("//anon", "/tmp/perf-", "[JIT]", "anon_inode")):
        return "compiled"
    return os.path.basename(path)


def task_name(name):
    """The idle task has no name in recordings; perf calls it swapper, pfm by its number."""
    return ":0" if name == "swapper" else name


@unittest.skipUnless(shutil.which("perf"), "perf is missing (Debian: linux-perf)")
@unittest.skipUnless(os.uname().machine == "x86_64", "code for x86-64 is compiled at run time")
class BesidePerf(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cc = shutil.which("gcc") or shutil.which("cc")
        if not cc:
            raise unittest.SkipTest("no C compiler (Debian: gcc)")
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="perfmon-perf-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        for name, text in (("program.c", PROGRAM), ("library.c", LIBRARY)):
            with open(os.path.join(cls.folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        for args in (["-o", "program", "program.c", "-lpthread",
                      "-ldl"], ["-shared", "-fPIC", "-o", "libshared.so", "library.c"]):
            subprocess.run([cc, "-O1", "-fno-omit-frame-pointer", *args], cwd=cls.folder,
                           check=True, capture_output=True)
        shutil.copy(os.path.join(cls.folder, "program"), os.path.join(cls.folder, "other name"))
        done = subprocess.run(
            ["perf", "record", "-q", "-e", "cpu-clock:u", "-o", "try.data", "true"], cwd=cls.folder,
            capture_output=True, timeout=60, check=False)
        if done.returncode:
            raise unittest.SkipTest(done.stderr.decode())
        cls.others, cls.symbols = collections.Counter(), {}

    @classmethod
    def tearDownClass(cls):
        for (file, theirs, ours), n in sorted(cls.others.items()):
            print("# %s: perf has %s, pfm has %s; %d samples" % (file, theirs, ours, n))

    def setUp(self):
        # An empty cache of build ids.
        self.home = tempfile.TemporaryDirectory(dir=self.folder)
        self.addCleanup(self.home.cleanup)

    def run_tool(self, *words):
        """Standard output of a command. perf 6.1 ends by an assertion where it takes the number of
        a device for the size of a build id: the kernel marks mappings as if they had one while
        another recorder asks for them."""
        done = subprocess.run(words, cwd=self.folder, capture_output=True, timeout=120, check=False,
                              env={**os.environ, "HOME": self.home.name, "DEBUGINFOD_URLS": ""})
        if words[0] == "perf" and done.returncode < 0:
            self.skipTest("%s ended by signal %d: %s" %
                          (" ".join(words), -done.returncode, done.stderr.decode()))
        # an option that it lacks, or that a user may not use
        if done.returncode and words[:2] == ("perf", "record"):
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def record(self, options, kind):
        words = [
            "perf", "record", "-q", "--no-bpf-event", *options,
            *([] if "-o" in options else ["-o", "perf.data"]), "./program", kind
        ]
        data = self.run_tool(*words)
        if "-o" in options:
            with open(os.path.join(self.folder, "perf.data"), "wb") as f:
                f.write(data)

    def samples_of_perf(self):
        text = self.run_tool("perf", "script", "--ns", "-i", "perf.data", "-G", "-F",
                             "comm,pid,tid,time,period,event,ip,sym,dso").decode()
        for line in text.splitlines():
            m = LINE.match(line)
            self.assertTrue(m, line)
            yield Sample(
                int(m["seconds"]) * 10**9 + int(m["ns"]), m["event"], int(m["pid"]), int(m["tid"]),
                task_name(m["task"].strip()), int(m["weight"]),
                int(m["ip"], 16) & 0xfff, base_name(m["file"]), m["symbol"].strip())

    def samples_of_pfm(self):
        for s in json.loads(self.run_tool(PFM, "export", "-f", "json", "perf.data"))["samples"]:
            frames = s["frames"]
            # Functions inlined at the address come first; perf script prints the function of the
            # symbol table.
            last = next((i for i, f in enumerate(frames) if f["address"] != frames[0]["address"]),
                        len(frames)) - 1
            yield Sample(s["time"], s["event"], s["pid"], s["tid"], s["task"], s["weight"],
                         int(frames[0]["address"], 16) & 0xfff, base_name(frames[0]["object"]),
                         frames[last]["function"]), frames[0]["object"]

    def symbols_of_file(self, path):
        """Address and size of each name in the symbol tables of a file and of its debug file."""
        if path in self.symbols:
            return self.symbols[path]
        found = self.symbols[path] = {}
        if path.startswith("[kernel"):
            with open("/proc/kallsyms", encoding="utf-8") as f:
                found.update(
                    {name: (int(address, 16), 1) for address, _, name, *_ in map(str.split, f)})
        if os.path.isfile(path) and shutil.which("readelf"):
            build_id = re.search(r"Build ID: (..)(\w+)",
                                 self.run_tool("readelf", "-nW", path).decode())
            debug = "/usr/lib/debug/.build-id/%s/%s.debug" % build_id.groups() if build_id else ""
            for name in [path, *([debug] if os.path.isfile(debug) else [])]:
                table = self.run_tool("readelf", "-sW", name).decode()
                for m in re.finditer(r"(?m)^ *\d+: (\w+) +(\w+) +\w+ +\w+ +\w+ +\w+ ([^@\s]+)",
                                     table):
                    found[m[3]] = (int(m[1], 16), int(m[2], 0))
        return found

    def is_as_good(self, theirs, ours, path):
        """Whether our name of a function is that of perf, another one of the same address, or says
        more."""
        symbols = self.symbols_of_file(path)
        theirs = re.sub(r"@@?(?!plt$).*", "", theirs)    # the version of a symbol
        # perf leaves out parameters
        if theirs == ours or ours.startswith((theirs + "(", theirs + "<")):
            return True
        if theirs in symbols and ours in symbols and symbols[theirs][0] == symbols[ours][0]:
            return True
        # perf counts stubs of the linkage table in the order of relocations, which is not theirs
        # where a library chooses implementations:
        # test_symbols.py compares their names with those of objdump.
        if theirs.endswith("@plt") and ours.endswith("@plt"):
            return True
        # Labels of assembler code have no size, so perf guesses where their code ends.
        return ours.startswith("0x") and (theirs == "[unknown]" or symbols.get(theirs,
                                                                               (0, 1))[1] == 0)

    def compare_samples(self):
        theirs = sorted(self.samples_of_perf())
        ours = sorted(self.samples_of_pfm())
        self.assertGreater(len(theirs), 10)
        self.assertEqual([s[:8] for s, _ in ours], [s[:8] for s in theirs])
        worse = collections.Counter()
        for a, (b, path) in zip(theirs, ours):
            # files of other programs may have been replaced
            if a.task not in ("program", "other name"):
                continue
            if a.symbol != b.symbol and not (a.symbol == "[unknown]" and b.symbol.startswith("0x")):
                self.others[b.file, a.symbol, b.symbol] += 1
            if a.symbol != "[unknown]" and not self.is_as_good(a.symbol, b.symbol, path):
                worse[b.file, a.symbol, b.symbol] += 1
        self.assertEqual(worse, {})

    def compare_report(self):
        """Samples and weights of each event, task and file."""
        text = self.run_tool("perf", "report", "-i", "perf.data", "--stdio", "--no-children", "-g",
                             "none", "--no-inline", "--no-group", "-F",
                             "period,sample,comm,dso,sym", "-t", "|").decode()
        expected, found, event = collections.Counter(), collections.Counter(), None
        for line in text.splitlines():
            head = re.match(r"# Samples: .* of events? '(.*)'", line)
            row = re.match(r" *(\d+) *\| *(\d+) *\|(.*)\|(.*)\|", line)
            event = head[1] if head else event
            if row:
                expected[event, task_name(row[3].strip()),
                         base_name(row[4].strip())] += int(row[2]) + 1j * int(row[1])
        for row in map(json.loads,
                       self.run_tool(PFM, "report", "--json", "perf.data").splitlines()):
            found[row["event"], row["task"],
                  base_name(row["object"])] += row["samples"] + 1j * row["weight"]
        self.assertEqual(found, expected)

    def compare(self, name):
        self.record(*RECORDINGS[name])
        self.compare_samples()
        self.compare_report()


for recording in RECORDINGS:
    setattr(BesidePerf, "test_" + recording.replace(" ", "_"),
            lambda self, name=recording: self.compare(name))


if __name__ == "__main__":
    tap.main()
