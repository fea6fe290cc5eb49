#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands that have no memory: whatever allocation fails, the answer is the whole one, or the
command says that it is not."""
import os
import re
import subprocess
import tempfile
import unittest

import tap

PFM = os.environ.get("PFM", "pfm")
SHIM = os.path.join(os.environ.get("PERFMON_BUILD", ""), "tests", "libstarved.so")
CLEAN = {
    k: v for k, v in os.environ.items()
    if not k.startswith(("PERFMON_", "LIBPFM_", "LC_", "MALLOC_")) and k != "LANG"
}
# allocations that fail, of each command: the first ones, and some of all
FIRST, SPREAD = (12, 14) if os.environ.get("PERFMON_LONG") else (5, 7)

COMMANDS = {
    "encode": "skl::INST_RETIRED.ANY coreduo::Instr_Ret",
    "encode --json": "skl::INST_RETIRED.ANY_P:u skl::NOPE",
    "decode": "--pmu skl PERFEVTSEL0=0x5301b7",
    "list": "--pmu skl br_inst",
    "list --json": "--pmu skl br_inst",
    "list --pmus": "",
    "list, which finds nothing": "--pmu skl NOPE",
    "show": "skl::INST_RETIRED.ANY",
    "show --json": "skl::L2_TRANS skl::NOPE",
    "plan": "skl::INST_RETIRED.ANY skl::CPU_CLK_UNHALTED.THREAD skl::BR_INST_RETIRED.ALL_BRANCHES",
    "plan --json": "--pmu skl IPC",
    "metric": "--pmu skl IPC INST_RETIRED.ANY=10 CPU_CLK_UNHALTED.THREAD=5",
    "dispatch": "coreduo::Instr_Ret coreduo::FP_Assist",
    "dispatch --json": "montecito::CPU_OP_CYCLES_ALL",
    "alpha device": "true",
    "doctor": "",
    "doctor --json": "",
    "stat": "true",
    "stat --json": "-e page-faults,context-switches,{task-clock,page-faults} true",
    "stat -r": "2 -e page-faults true",
    "stat -I": "20 -e page-faults sleep 0.03",
    "record": "-o %s/new.data -e page-faults true",
    "report": "%s/perf.data",
    "report --json": "%s/perf.data",
    "report --svg": "%s/perf.data",
    "report --source": "%s/perf.data",
    "report -g": "%s/perf.data",
    "report --children": "--sort symbol,cpu %s/perf.data",
    "report --time-slices": "2 %s/perf.data",
    "diff": "%s/perf.data %s/perf.data",
    "export -f pprof": "%s/perf.data",
    "export -f firefox": "%s/perf.data",
    "export -f callgrind": "%s/perf.data",
}


def run(words, **env):
    p = subprocess.run([PFM, *words], env={**CLEAN, **env}, capture_output=True,
                       stdin=subprocess.DEVNULL, timeout=60, check=False)
    return p.returncode, p.stdout, p.stderr


# Events that other programs have open, of pfm doctor as text and as JSON: they come and go.
OPEN_EVENTS = re.compile(rb'(?m)^  open events .*\n(?: {21}.*\n)*|^\{.*"check": "open events".*\n')


def without_numbers(text):
    """Numbers differ from run to run; small ones have an exponent."""
    return re.sub(rb"[0-9a-f]*[0-9][0-9a-f.,]*(?:(?<=e)[-+][0-9]+)?| +", b"#",
                  OPEN_EVENTS.sub(b"", text))


def first_difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return "%r instead of %r" % (a[max(at - 80, 0):at + 80], b[max(at - 80, 0):at + 80])


class Starved(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # pylint: disable-next=consider-using-with
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.count = os.path.join(cls.folder.name, "count")
        run(["record", "-o", cls.folder.name + "/perf.data", "-e", "page-faults", PFM, "--version"])

    def allocations(self, words):
        run(words, LD_PRELOAD=SHIM, STARVED_COUNT=self.count)
        try:
            with open(self.count, encoding="ascii") as f:
                return int(f.read())
        except FileNotFoundError:
            return 0
        finally:
            if os.path.exists(self.count):
                os.remove(self.count)

    def judge(self, at, good, got):
        """The whole answer, or one that says in some way that it is not."""
        rc, out, err = got
        self.assertGreaterEqual(rc, 0, "allocation %s: ended by signal %d" % (at, -rc))
        if rc == good[0] and without_numbers(out) == without_numbers(
                good[1]) and (rc == 0 or err == good[2]):
            return False
        is_reported = err.count(b"\n") > good[2].count(
            b"\n") or b"memory" in err or b"memory" in out
        self.assertTrue(is_reported, "allocation %s: status %d, and no message: %s; %r" % (
            at, rc, first_difference(without_numbers(out), without_numbers(good[1])), err[-300:]))
        return True

    def check(self, name):
        words = (name.split(",")[0] + " " + COMMANDS[name].replace("%s", self.folder.name)).split()
        n = self.allocations(words)
        if not n:
            self.skipTest("an allocator that can be replaced")
        good = run(words)
        n_reported = 0
        for at in sorted({*range(1, min(n, FIRST) + 1), *range(1, n + 1, max(1, n // SPREAD))}):
            n_reported += self.judge(at, good, run(words, LD_PRELOAD=SHIM, STARVED=str(at)))
            n_reported += self.judge("%d and on" % at, good,
                                     run(words, LD_PRELOAD=SHIM, STARVED=str(at), STARVED_ON="1"))
        self.assertTrue(n_reported, "nothing failed")


def each(name):
    return lambda self: self.check(name)


for one in COMMANDS:
    setattr(Starved, "test " + one, each(one))

if __name__ == "__main__":
    tap.main()
