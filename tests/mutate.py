#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutation testing: small faults are put into the sources, one at a time, and the quick suite has
to notice each.

    mutate.py SOURCE BUILD [--sample N] [--from K] [--seed S] [--tests NAME,...] [--seconds T]
              [--near] [--measured] [FILE...]

N faults are drawn from FILES (default: all of lib/ and tools/) and run against the quick suite, or
the tests named, or those that take up to T seconds. Prints one line for each, and the share that
was noticed, with its interval of confidence 95 %. The order of faults depends on the seed: --from K
omits the first K, which another run had.

With --near, of the Python tests only those of the module with the fault (NEAR) are run. Every fault
that is reported as noticed is; some that are reported as unnoticed would be noticed by other tests.
With --measured the times of tests are read from the run before, in BUILD, if sources and tests are
unchanged.

SOURCE is a copy that may be changed, BUILD its build folder. tests/mutate.sh makes both. A fault
that makes the code slower, or changes a value that is never read, cannot be noticed: check the
survivors by hand.

Tests that noticed a fault of the same file run first, then those with its name, then the quickest;
Python tests run last, but first for tools/, which they test.
"""
import argparse
import collections
import json
import math
import os
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SUITES = ("unit", "vectors", "tables", "man", "command", "hostile", "python", "install")
TIMES = "mutate-times.json"
# The Python tests of each module; "lib": tests of the encode path. A folder that is missing here is
# tested by all of them.
NEAR = {
    "lib/base": ("cli", "metric", "property"),
    "lib/table": ("cli", "lists", "pmuc", "store"),
    "lib/machine": ("cli", "doctor", "machines", "store"),
    "lib/pmu": ("cli", "lists", "peer", "property"),
    "lib/context": ("cli", "machines", "store"),
    "lib/lookup": ("cli", "lists", "machines", "peer", "property"),
    "lib/encode": ("cli", "lists", "peer", "property"),
    "lib/decode": ("cli", "peer", "property"),
    "lib/format": ("cli", "machines", "peer", "property", "schema"),
    "lib/metric": ("cli", "metric", "schema", "stat"),
    "lib/session": ("cli", "doctor", "examples", "metric", "schema", "stat"),
    "lib/sampling": ("cli", "examples", "record"),
    "lib/perfdata": ("cli", "record"),
    "lib/compat/libpfm3": ("cli", "examples", "peer"),
    "tools": ("answers", "cli", "doctor", "examples", "import", "lists", "machines", "metric",
              "pager", "permissions", "property", "record", "schema", "stat", "store"),
}
# Modules that only these tests link.
ALONE = {
    "lib/compat/libpfm4": ("units_libpfm4", "libpfm4_threads", "libpfm4", "libpfm4_clients", "peer")
}
# The C tests that have files of tools/ in them.
LINK_TOOLS = ("device_model", "device_run", "doctor_faults", "stat_slices")

SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "<<": ">>", ">>": "<<", "|": "&", "+=": "-=", "-=": "+=", "|=": "&=",
    "true": "false", "false": "true", "continue": "break"
}
FAILED = re.compile(rb"not ok(?!.*# (?:TODO|SKIP))")
# in place of a statement; memory that is not given back is for the sanitizers to tell, so free()
# stays
GONE = "\t;"
TOKEN = re.compile(r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | ^[ \t]*\#(?:\\\n|[^\n])* |
                       __attribute__\(\((?:[^()]|\([^()]*\))*\)\) | [A-Za-z_]\w* | 0[xX][0-9a-fA-F]+\w* | \d+\w* | <<=|>>=|->|
                        \+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\|=|&=|\^= | \S""",
                   re.X | re.S | re.M)
STATEMENT = re.compile(
    r"^\t+(?!return|goto|break|continue|else|case|default|do\b|[a-z_ ]+ \*?[a-z_]+ ?= "
    r"|struct |static |const |unsigned |int |char |bool |size_t |uint)"
    r"(?!\(void\)\w+;|free\()[a-z_*(][^;{}]*;$", re.M)


def unary(text, start):
    """True if the sign at @start has no left operand."""
    before = text[:start].rstrip()
    return not before or before[-1] in "(,=<>+-*/%&|^!?:;{[" or before.endswith("return")


# More memory than is needed is not a fault: bounds of arrays that are declared, and constants that
# are called rooms. Neither is a place in no text, nor which element's size is taken.
ROOMS = re.compile(
    r"NULL, \(struct slice\)\{ (0) \}|\b\w*(?:ROOM|SIZE)\w* *= *(\d+)|\bsizeof[ (]\w+\[(\d+)\]")
DECLARED = re.compile(
    r"\b(?:char|int|long|unsigned|bool|double|[a-z]\w*_t|struct \w+)[ \t][^;={}]*")
BOUND = re.compile(r"\[(\d+)\]")


def mutants(text):
    """(start, end, replacement) of every fault."""
    rooms = {m.start(g) for m in ROOMS.finditer(text) for g in (1, 2, 3) if m[g]}
    rooms |= {d.start() + m.start(1) for d in DECLARED.finditer(text) for m in BOUND.finditer(d[0])}
    for m in TOKEN.finditer(text):
        word = m[0]
        if m.start() in rooms:
            continue
        if word in SWAPS and not (word in "+-" and unary(
                text, m.start())) and not (word == "<" and text[:m.start()].endswith("#include ")):
            yield m.start(), m.end(), SWAPS[word]
        elif word == "!" and text[m.end()] != "=":
            yield m.start(), m.end(), ""
        elif word.isdigit() and len(word) < 10:
            yield m.start(), m.end(), str(int(word) + 1)
    for m in STATEMENT.finditer(text):
        yield m.start(), m.end(), GONE


def line_of(text, at):
    return text.count("\n", 0, at) + 1


class Tree:
    """A copy of the sources with a build folder."""

    def __init__(self, source, build):
        self.source, self.build = source, build

    def read(self, path):
        with open(os.path.join(self.source, path), encoding="utf-8") as f:
            return f.read()

    def write(self, path, text):
        with open(os.path.join(self.source, path), "w", encoding="utf-8") as f:
            f.write(text)

    def builds(self):
        return subprocess.run(["ninja", "-C", self.build, "test-programs"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def outcome(self, path, text, tests):
        """The result for file @path with contents @text: "no build", "survived", or the name of
        the test that notices."""
        before = self.read(path)
        self.write(path, text)
        try:
            if not self.builds():
                return "no build"
            return next((t.name for t in tests if not t.passes()), "survived")
        finally:
            self.write(path, before)


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Test:
    """One test of the suite, run as Meson runs it."""

    def __init__(self, build, entry):
        self.build, self.name, self.command, self.limit = build, entry["name"], entry["cmd"], entry[
            "timeout"]
        self.suite = min((SUITES.index(s)
                          for s in (name.split(":")[-1] for name in entry["suite"]) if s in SUITES),
                         default=None)
        # as Meson has it: memory is not 0 by chance
        self.env = {**os.environ, "MALLOC_PERTURB_": "165", **entry["env"]}
        self.python = any(word.endswith(".py") for word in self.command)
        self.seconds = 0.0

    def passes(self):
        """True if it ends in time, with success, and no line of it says "not ok": the first that
        does is enough."""
        with subprocess.Popen(self.command, cwd=self.build, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              start_new_session=True) as p:
            watch = threading.Timer(self.limit, os.killpg, (p.pid, signal.SIGKILL))
            watch.start()
            failed = any(FAILED.match(line) for line in p.stdout)
            if failed:
                os.killpg(p.pid, signal.SIGKILL)
            p.wait()
            watch.cancel()
        return p.returncode == 0 and not failed

    def measure(self, most):
        """How long it takes, in seconds of the processor, and how long it may from then on. False
        if it fails without any fault, or takes more than @most seconds (0: takes what it takes)."""
        used, began = processor_time(), time.monotonic()
        self.limit = 8 * most if most else self.limit
        good = self.passes()
        self.seconds = processor_time() - used
        self.limit = 20 + 10 * (time.monotonic() - began)
        return good and (not most or self.seconds <= most)


class Suite:
    """The quick suite, and which test noticed what."""

    def __init__(self, build, names="", near=False):
        tests = json.loads(
            subprocess.run(["meson", "introspect", build, "--tests"], check=True,
                           stdout=subprocess.PIPE).stdout)
        self.tests = [
            t for t in (Test(build, x) for x in tests if not names or x["name"] in names.split(","))
            if t.suite is not None
        ]
        self.noticed = collections.defaultdict(collections.Counter)
        self.times, self.near = os.path.join(build, TIMES), near

    def measure(self, seconds):
        good = [t for t in self.tests if t.measure(seconds)]
        with open(self.times, "w", encoding="utf-8") as f:
            json.dump({t.name: [t.seconds, t.limit] for t in good}, f, indent=1)
        self.keep(good)

    def measured(self, seconds):
        with open(self.times, encoding="utf-8") as f:
            known = json.load(f)
        for t in self.tests:
            t.seconds, t.limit = known.get(t.name, (math.inf, 0))
        self.keep([t for t in self.tests if t.seconds <= (seconds or sys.float_info.max)])

    def keep(self, good):
        print(
            "# %d of %d tests of the quick suite, %.0f s; without %s" %
            (len(good), len(self.tests), sum(
                t.seconds for t in good), " ".join("%s (%.0f s)" % (t.name, t.seconds)
                                                   for t in self.tests if t not in good) or "none"),
            flush=True)
        self.tests = good

    def named(self, names):
        return [t for t in self.tests if t.name in names]

    def asks(self, test, room):
        if room in ALONE:
            return test.name in ALONE[room]
        if room == "tools" and not test.python:
            return test.name in LINK_TOOLS
        return not test.python or room not in NEAR or test.name in NEAR[room]

    def order(self, path):
        room, name = os.path.split(path[:-len(".c")])
        own = {name, name.split("_")[-1], os.path.basename(room) + "_" + name, "units"}
        return sorted(
            (t for t in self.tests if not self.near or self.asks(t, room)), key=lambda t:
            (-self.noticed[path][t.name], t.python !=
             (room == "tools"), t.name not in own, -self.noticed[room][t.name], t.suite, t.seconds))

    def remember(self, path, name):
        self.noticed[path][name] += 1
        self.noticed[os.path.dirname(path)][name] += 1


def interval(k, n):
    """The interval of a share of which @k of @n were seen, with confidence 95 % (Wilson)."""
    z = 1.96
    p, half = (k + z * z / 2) / (n + z * z), z * math.sqrt(k *
                                                           (n - k) / n + z * z / 4) / (n + z * z)
    return 100 * (p - half), 100 * (p + half)


def draw(tree, files, sample, skip, seed):
    files = files or sorted(
        os.path.relpath(os.path.join(d, n), tree.source) for top in ("lib", "tools", "exporter")
        for d, _, names in os.walk(os.path.join(tree.source, top))
        for n in names if n.endswith(".c"))
    faults = [(path, *m) for path in files for m in mutants(tree.read(path))]
    if sample:
        random.Random(seed).shuffle(faults)
    return faults[skip:skip + sample if sample else None], len(faults)


def run_drawn(tree, a):
    """Run the drawn faults and print one line for each, then the share that the tests noticed."""
    if not tree.builds():
        raise SystemExit("the unchanged sources do not build")
    suite = Suite(tree.build, a.tests, a.near)
    (suite.measured if a.measured else suite.measure)(a.seconds)
    drawn, total = draw(tree, a.files, a.sample, a.skip, a.seed)
    count = collections.Counter()
    for path, start, end, new in drawn:
        text = tree.read(path)
        changed = text[:start] + new + text[end:]
        line = line_of(text, start)
        shown = "without " + " ".join(
            text[start:end].split()) if new == GONE else changed.splitlines()[line - 1].strip()
        said = tree.outcome(path, changed, suite.order(path))
        kind = said if said in ("no build", "survived") else "killed"
        if kind == "killed":
            suite.remember(path, said)
        count[kind] += 1
        print(
            "%-10s %s:%d: %s%s" %
            (kind, path, line, shown, "  (" + said + ")" if kind == "killed" else ""), flush=True)
    judged = count["killed"] + count["survived"]
    if judged:
        print("%d of %d noticed (%.1f %%, %.1f to %.1f) of %d drawn from %d; %s" %
              (count["killed"], judged, 100 * count["killed"] / judged,
               *interval(count["killed"], judged), len(drawn), total, ", ".join(
                   "%d %s" % (n, k) for k, n in sorted(count.items()))))


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("source")
    p.add_argument("build")
    p.add_argument("files", nargs="*")
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--from", type=int, default=0, dest="skip")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--tests", default="")
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--near", action="store_true")
    p.add_argument("--measured", action="store_true")
    a = p.parse_intermixed_args()
    # a shell ignores it for background jobs; tests interrupt programs that they start
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    tree = Tree(os.path.abspath(a.source), os.path.abspath(a.build))
    run_drawn(tree, a)


if __name__ == "__main__":
    main()
