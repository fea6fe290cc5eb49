#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sessions beside perf_event_open by hand, PAPI and perf: one table on standard output, in
markdown.

Rounds of our side and of the bare calls alternate in one program. PAPI is a program of its own, run
in between: it brings a libpfm4 whose functions have names of ours. System calls are counted by
strace, whole processes are timed in turn. What is not there is left out.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from run import library_of, without_path

SIZES = 1, 8, 64
STEPS = "open", "start", "read", "stop", "close"
TURNS = 5
# Goals: of the bare calls, of PAPI, of perf.
BARE, PAPI, STAT, LIST = 1.1, 1 / 2, 1 / 4, 1 / 5


def run(args, quiet=False):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, check=False)
    if done.returncode and not quiet:
        raise RuntimeError(f"{args}: {done.stderr.strip()[-300:]}")
    return None if done.returncode else done


def medians(programs, n, where):
    """Side -> step -> ns; the median of some turns."""
    turns = []
    for _ in range(TURNS):
        got = {}
        for p in programs:
            done = run([p, "measure", n, where, 201 if n < 64 else 51], quiet=p != programs[0])
            got.update(json.loads(done.stdout) if done else {})
        turns.append(got)
    return {
        side: {s: statistics.median(t[side][s] for t in turns if side in t) for s in STEPS}
        for side in turns[0]
    }


def system_calls(program, side, n, where):
    """Step -> system calls in it."""
    done = subprocess.run(["strace", "-qq", program, "calls", side,
                           str(n), where], capture_output=True, text=True, check=False)
    names = re.findall(r"^(\w+)\(", done.stderr, re.M)
    parts, part = [], []
    for name in names:
        if name == "getppid":
            parts.append(part)
            part = []
        else:
            part.append(name)
    return dict(zip(STEPS, (len(p) for p in parts[-len(STEPS):])))


def number(v):
    return f"{v:,.0f}" if v >= 100 else f"{v:.3g}"


def verdict(value, goal):
    return "yes" if value <= goal else "**no**"


def session_rows(o):
    programs = [o.sessions] + ([o.papi] if o.papi else [])
    for where in "one", "all":
        for n in SIZES:
            got = medians(programs, n, where)
            calls = [system_calls(o.sessions, side, n, where)
                     for side in ("bare", "ours")] if shutil.which("strace") else None
            for step in STEPS:
                bare, ours = got["bare"][step], got["ours"][step]
                papi = got.get("papi", {}).get(step)
                what = (
                    f"{step}, {n} event{'s' if n > 1 else ''},"
                    f" {'one thread' if where == 'one' else 'all CPUs'}"
                )
                yield (what, number(bare), number(papi) if papi else "-", number(ours),
                       f"{ours / bare:.2f}", f"{ours / papi:.2f}" if papi else "-",
                       f"{calls[0][step]} / {calls[1][step]}" if calls else "-",
                       verdict(ours / bare, BARE) if step in ("open", "read") else "",
                       verdict(ours / papi, PAPI) if papi else "")


def process_rows(o):
    """The first counter of each software event waits for the kernel, in every program. So these
    events are open in another process during the measurement, or the measurement is skipped."""
    if not o.pfm or not shutil.which("perf"):
        return
    perf, true = shutil.which("perf"), shutil.which("true")
    stat = [o.pfm, "stat", "-o", "/dev/null", true], [perf, "stat", "-o", "/dev/null", true]
    rows = [("pfm stat true", *stat, STAT, 101, True),
            ("the same, the first counters of the machine", *stat, STAT, 51, False),
            ("pfm list", [o.pfm, "list"], [perf, "list"], LIST, 21, False),
            ("pfm list --all", [o.pfm, "list", "--all"], [perf, "list"], LIST, 11, False)]
    for what, ours, theirs, goal, rounds, held in rows:
        holder = subprocess.Popen([o.pfm, "stat", "-o", "/dev/null", "sleep", "600"
                                   ]) if held else None
        done = run([o.process, "spawn", rounds, *ours, "--", *theirs, "--", true])
        if holder:
            holder.terminate()
            holder.wait()
        a, b, bare = json.loads(done.stdout)["us"]
        if goal == LIST:
            what += ", {:,} lines beside {:,}".format(*(len(run(x).stdout.splitlines())
                                                        for x in (ours, theirs)))
        yield what, number(b), number(a), f"{a / b:.3f}", f"1/{1 / goal:.0f}", verdict(
            a / b, goal), number(bare)


def table(heads, rows):
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    for name in ("sessions", "process"):
        p.add_argument("--" + name, required=True)
    p.add_argument("--pfm", help="the command, if it is built")
    p.add_argument("--papi", help="the program for PAPI, if it is installed")
    o = p.parse_args()
    if run([o.sessions, "calls", "bare", 1, "one"], quiet=True) is None:
        print("this kernel counts nothing for this user")
        return 77
    table(("ns", "bare", "PAPI", "ours", "of bare", "of PAPI", "system calls, bare / ours",
           "<= 1.1", "<= 1/2"), session_rows(o))
    os.environ["PAGER"] = ""
    with tempfile.TemporaryDirectory() as folder:
        if o.pfm:
            shutil.copy(library_of(o.pfm, "libperfmon"), os.path.join(folder, "libperfmon.so.1"))
            o.pfm = without_path(o.pfm, folder)
            os.environ["LD_LIBRARY_PATH"] = folder
        table(("whole process, us", "perf", "ours", "ratio", "goal", "met", "an empty process"),
              process_rows(o))
    return 0


if __name__ == "__main__":
    sys.exit(main())
