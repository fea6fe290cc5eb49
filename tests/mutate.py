#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutation testing: small faults are put into the sources, one at a time, and the quick suite has to notice each.

mutate.py SOURCE BUILD --listed            the faults of mutants.txt, each with the tests that must notice it: TAP
mutate.py SOURCE BUILD [--sample N] [--seed S] [FILE...]
                                           N faults drawn from FILES (default: all of lib/ and tools/), against the whole quick
                                           suite; one line each, and the share that was noticed

SOURCE is a copy that may be changed, BUILD its build folder. tests/mutate.sh makes both. A fault that cannot be seen from outside
(it makes the code slower, or changes what nobody reads) stands in mutants.txt as "equivalent", with the reason.
"""
import argparse
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LISTED = os.path.join(HERE, "mutants.txt")

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
         "<<": ">>", ">>": "<<", "|": "&", "+=": "-=", "-=": "+=", "|=": "&=", "true": "false", "false": "true",
         "continue": "break"}
TOKEN = re.compile(r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | ^[ \t]*\#(?:\\\n|[^\n])* |
                       [A-Za-z_]\w* | 0[xX][0-9a-fA-F]+\w* | \d+\w* | <<=|>>=|->|
                        \+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\|=|&=|\^= | \S""",
                   re.X | re.S | re.M)
STATEMENT = re.compile(r"^\t+(?!return|goto|break|continue|else|case|do\b|[a-z_ ]+ \*?[a-z_]+ ?= "
                       r"|struct |static |const |unsigned |int |char |bool |size_t |uint)"
                       r"[a-z_*(][^;{}]*;$", re.M)


def unary(text, start):
    """True if the sign at @start has no left operand."""
    before = text[:start].rstrip()
    return not before or before[-1] in "(,=<>+-*/%&|^!?:;{[" or before.endswith("return")


def mutants(text):
    """(start, end, replacement) of every fault."""
    for m in TOKEN.finditer(text):
        word = m[0]
        if word in SWAPS and not (word in "+-" and unary(text, m.start())) and not (word == "<" and text[:m.start()].endswith("#include ")):
            yield m.start(), m.end(), SWAPS[word]
        elif word == "!" and text[m.end()] != "=":
            yield m.start(), m.end(), ""
        elif word.isdigit() and len(word) < 10:
            yield m.start(), m.end(), str(int(word) + 1)
    for m in STATEMENT.finditer(text):
        yield m.start(), m.end(), "\t;"


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
        return subprocess.run(["ninja", "-C", self.build], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def notices(self, tests):
        """True if a test fails, or does not end. @tests: names; none for the whole quick suite, what is quickest first."""
        rounds = [tests] if tests else [["--suite", s] for s in ("unit", "vectors", "tables", "man", "command", "hostile", "python",
                                                                 "install")]
        for names in rounds:
            try:
                if subprocess.run(["meson", "test", "-C", self.build, "--no-rebuild", "--maxfail", "1", *names], timeout=1200,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                    return True
            except subprocess.TimeoutExpired:
                return True
        return False

    def outcome(self, path, text, tests):
        """What becomes of the file @path with @text in it: "killed", "survived", "no build"."""
        before = self.read(path)
        self.write(path, text)
        try:
            if not self.builds():
                return "no build"
            return "killed" if self.notices(tests) else "survived"
        finally:
            self.write(path, before)


def listed():
    """(file, line of source, line with the fault, tests or None if equivalent, reason) of mutants.txt."""
    with open(LISTED, encoding="utf-8") as f:
        for number, block in enumerate(re.split(r"\n\n+", f.read().strip()), 1):
            lines = [line for line in block.splitlines() if not line.startswith("#")]
            if not lines:
                continue
            if len(lines) != 4:
                raise SystemExit("mutants.txt: block %d has %d lines: file, line, line with the fault, tests" % (number, len(lines)))
            yield tuple(lines)


def run_listed(tree):
    faults = [f for f in listed() if not f[3].startswith("equivalent")]
    print("1..%d" % len(faults), flush=True)
    good = tree.builds()
    for i, (path, line, fault, tests) in enumerate(faults, 1):
        text = tree.read(path)
        found = text.count(line) == 1
        said = "the line is not there once" if not found else "it does not build" if not good else tree.outcome(path,
                text.replace(line, fault), tests.split())
        print("%s %d - %s: %s%s" % ("ok" if said == "killed" else "not ok", i, path, fault.strip(), "" if said == "killed"
                                    else ": " + said), flush=True)
    return 0


def run_drawn(tree, files, sample, seed):
    if not tree.builds():
        raise SystemExit("the unchanged sources do not build")
    equivalent = {(path, fault.strip()) for path, _, fault, tests in listed() if tests.startswith("equivalent")}
    files = files or sorted(os.path.relpath(os.path.join(d, n), tree.source) for top in ("lib", "tools") for d, _, names in
                            os.walk(os.path.join(tree.source, top)) for n in names if n.endswith(".c"))
    faults = [(path, *m) for path in files for m in mutants(tree.read(path))]
    drawn = random.Random(seed).sample(faults, min(sample, len(faults))) if sample else faults
    count = {}
    for path, start, end, new in drawn:
        text = tree.read(path)
        changed = text[:start] + new + text[end:]
        line = line_of(text, start)
        shown = changed.splitlines()[line - 1].strip()
        said = "equivalent" if (path, shown) in equivalent else tree.outcome(path, changed, None)
        count[said] = count.get(said, 0) + 1
        print("%-10s %s:%d: %s" % (said, path, line, shown), flush=True)
    judged = count.get("killed", 0) + count.get("survived", 0)
    print("%d of %d noticed (%.1f %%) of %d drawn from %d; %s" %
          (count.get("killed", 0), judged, 100 * count.get("killed", 0) / max(1, judged), len(drawn), len(faults),
           ", ".join("%d %s" % (n, k) for k, n in sorted(count.items()))))
    return 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("source")
    p.add_argument("build")
    p.add_argument("files", nargs="*")
    p.add_argument("--listed", action="store_true")
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    tree = Tree(os.path.abspath(a.source), os.path.abspath(a.build))
    return run_listed(tree) if a.listed else run_drawn(tree, a.files, a.sample, a.seed)


if __name__ == "__main__":
    sys.exit(main())
