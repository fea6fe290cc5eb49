#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks of the sources themselves, each one a TAP stream.

    lint.py format|tidy|cppcheck|shell|headers|python|words

format    every C file has the layout of .clang-format
tidy      clang-tidy over every file that is compiled; needs a build directory in $PERFMON_BUILD
cppcheck  the library and the command
shell     shellcheck over every shell script
headers   each public header compiled alone, as C and as C++
python    every Python file compiles
words     the licence line first in every file, nothing left to do, no place of this machine

lint.supp has the false reports of checkers, each with its reason. One that no report needs any more
is a failed case.
"""

import concurrent.futures
import io
import json
import os
import py_compile
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
JOBS = int(os.environ.get("PERFMON_JOBS", "1"))


class Skip(Exception):
    pass


def need(program, package):
    if not shutil.which(program):
        raise Skip("%s is missing (Debian package %s)" % (program, package))


def files(*endings, below=("",)):
    """Our own files, by the ends of their names, from the top of the source tree."""
    found = []
    for folder, folders, names in os.walk(TOP):
        folders[:] = sorted(f for f in folders if not f.startswith((".git", "build", "__pycache__",
                "obj-", ".pytest", ".cache", ".mypy")))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), TOP)
            if path.endswith(endings) and path.startswith(
                    tuple(below)) and not os.path.islink(os.path.join(TOP, path)):
                found.append(path)
    return found


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


class Suppressions:
    """The lines of lint.supp for one checker."""

    def __init__(self, checker):
        lines = [line.split(None, 3) for line in read("tests/matrix/lint.supp").splitlines()
                 if line and not line.startswith("#")]
        self.known = {(path, check) for name, path, check, _ in lines if name == checker}
        self.used = set()

    def cover(self, path, checks):
        """Is a report of @checks about @path a false one?"""
        covered = self.known & {(path, check) for check in checks}
        self.used |= covered
        return bool(covered)

    def unused(self):
        """The last case: suppressions without a report."""
        return "lint.supp", ["%s: no report of %s" % line for line in sorted(self.known - self.used)]


def ran(command, **more):
    """Status and output of a command."""
    done = subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, errors="replace", **more)
    return done.returncode, done.stdout


# ---- checkers

def check_format():
    """To lay a file out: clang-format -i FILE."""
    need("clang-format", "clang-format")
    paths = files(".c", ".h")
    found = {path: [] for path in paths}
    for i in range(0, len(paths), 100):
        status, out = ran(["clang-format", "--dry-run", "-Werror", *paths[i:i + 100]])
        path = paths[i]
        for line in out.splitlines() if status else []:
            path = line.split(":")[0] if line.split(":")[0] in found else path
            found[path].append(line)
    yield from found.items()


# Checks that follow paths through functions take nearly all the time: in the library and the
# command alone, and with 10,000 nodes instead of 225,000, which finds the same in an eighth of the
# time. What tests and benchmarks do on purpose: run a shell, include a file of the library, fix
# a seed.
PATIENCE = [
    "--extra-arg=" + arg for arg in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=10000")
]
ELSEWHERE = [
    (
        "-checks=-clang-analyzer-*,-cert-env33-c,-bugprone-suspicious-include,-cert-msc30-c,-cert-msc50-cpp,"
        "-cert-msc32-c,-cert-msc51-cpp"
    ),
    "--extra-arg=-Wno-sign-conversion",
]


def tidy(path, database, build, suppressions):
    status, out = ran([
        "clang-tidy", "-quiet", "-p", database, *(PATIENCE if path.startswith(
            ("lib/", "tools/", "exporter/")) else ELSEWHERE), path
    ])
    found, is_reported = [], False
    for line in out.splitlines():
        match = re.match(
            r"(\S.*?):(\d+):\d+: (?:warning|error): (.*) \[([\w.,-]+?)(?:,-warnings-as-errors)?\]$",
            line)
        if match:
            where = os.path.relpath(os.path.realpath(os.path.join(build, match[1])), TOP)
            is_reported = not suppressions.cover(where, match[4].split(","))
            if is_reported:
                found.append("%s:%s: %s [%s]" % (where, match[2], match[3], match[4]))
        elif is_reported and re.search(r": note: ", line):
            found.append("  " + line.replace(TOP + "/", ""))
        elif "error:" in line:
            found.append(line)
    if status and not found:
        found = out.splitlines() or ["exit status %d" % status]
    return path, found


def check_tidy():
    """Every file of ours that the build compiles, once: some are part of several programs."""
    need("clang-tidy", "clang-tidy")
    suppressions = Suppressions("clang-tidy")
    build = os.environ.get("PERFMON_BUILD", "")
    if not os.path.exists(os.path.join(build, "compile_commands.json")):
        raise Skip("no build directory in $PERFMON_BUILD")
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        units = {
            os.path.relpath(os.path.realpath(os.path.join(unit["directory"], unit["file"])), TOP):
            unit for unit in json.load(f)
        }
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(
            JOBS) as pool:
        with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as f:
            json.dump(list(units.values()), f)
        yield from pool.map(lambda path: tidy(path, folder, build, suppressions),
                            [path for path in files(".c") if path in units])
    yield suppressions.unused()


PLANTED = "int planted(void);\nint planted(void)\n{\n\tint a[2] = { 0 };\n\n\treturn a[2];\n}\n"


def check_cppcheck():
    need("cppcheck", "cppcheck")
    suppressions = Suppressions("cppcheck")
    with tempfile.NamedTemporaryFile("w", suffix=".c") as planted:
        planted.write(PLANTED)
        planted.flush()
        # Only what tests/matrix/jansson.cfg says of macros with arguments: given with -D, cppcheck
        # 2.10 checks nothing and says nothing.
        _, out = ran([
            "cppcheck", "-q", "--std=c11", "--enable=warning,performance,portability",
            "-j%d" % JOBS, "-Iinclude", "-Ilib", "-Itools", "-D_GNU_SOURCE", "-D__x86_64__",
            "-D__GNUC__",
            "--library=tests/matrix/jansson.cfg", "--suppress=missingIncludeSystem",
            "--template={file}:{line}: {message} [{id}]", "lib", "tools", "exporter", planted.name
        ])
    found, seen = {}, False
    for line in out.splitlines():
        match = re.match(r"([\w./-]+):(\d+): .* \[(\w+)\]$", line)
        if not match:
            found.setdefault("cppcheck itself", []).append(line)
        elif match[1] == planted.name:
            seen = True
        elif not suppressions.cover(match[1], [match[3]]):
            found.setdefault(match[1], []).append(line)
    yield "a planted fault is found", [] if seen else ["cppcheck said nothing of it"]
    elsewhere = [p for p in found if not os.path.exists(os.path.join(TOP, p))]
    for path in files(".c", ".h", below=("lib/", "tools/", "exporter/")) + elsewhere:
        yield path, found.get(path, [])
    yield suppressions.unused()


def check_shell():
    need("shellcheck", "shellcheck")
    for path in files(""):
        try:
            first = open(os.path.join(TOP, path), encoding="utf-8").readline()
        except UnicodeDecodeError:
            continue
        if path.endswith((".sh", ".bash")) or re.match(r"#!.*\b(sh|bash|dash)\b", first):
            _, out = ran(["shellcheck", "-x", "-P", "SCRIPTDIR", "-f", "gcc", path])
            yield path, out.splitlines()


def check_headers():
    need("g++", "g++")
    compilers = [c for c in (("gcc", "g++"), ("clang", "clang++")) if all(map(shutil.which, c))]
    strict = [
        "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-Iinclude",
        "-Iinclude/libpfm3"
    ]
    with tempfile.TemporaryDirectory() as folder:
        for path in files(".h", below=("include/",)):
            for c, cpp in compilers:
                for compiler, standard, ending in ((c, "c11", "c"), (c, "c99", "c"),
                                                   (cpp, "c++11", "cc"), (cpp, "c++17", "cc")):
                    unit = os.path.join(folder, "alone." + ending)
                    with open(unit, "w", encoding="utf-8") as f:
                        # Twice: the guard has to hold.
                        f.write("#include <%s>\n" % path[8:] * 2)
                    status, out = ran([compiler, "-std=" + standard, *strict, unit])
                    yield "%s alone, %s as %s" % (path, compiler,
                                                  standard), out.splitlines() if status else []


def check_python():
    for path in files(".py"):
        try:
            with tempfile.TemporaryDirectory() as folder:
                py_compile.compile(os.path.join(TOP, path), cfile=os.path.join(folder, "x"),
                                   doraise=True)
            yield path, []
        except py_compile.PyCompileError as fault:
            yield path, str(fault).splitlines()


CODE = (".c", ".h", ".hpp", ".cc", ".py", ".sh", ".build", "check", "quickstart")


# A string that is not worth breaking: a command for another shell, a pattern, a sentence of a test.
LONG_STRING = re.compile(r"""(["'])(?:(?!\1).){50,}""")


def find_text_rows(text):
    """The rows of a Python file that are in strings of several rows: programs, lists of names."""
    rows = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and token.start[0] < token.end[0]:
            rows.update(range(token.start[0], token.end[0] + 1))
    return rows


def check_words():
    """Files without a place for a comment (vectors, corpora, lists of paths) have no licence
    line."""
    bare = (".jsonl", ".json", ".md", ".txt", ".gitignore", ".clang-format", "LICENSE", ".typed",
            ".supp", ".map", ".svg", ".install", ".docs", ".examples", ".manpages", ".symbols",
            "debian/changelog", "debian/control", "debian/copyright", "debian/source/format",
            "symbols", ".png", ".abi")
    for path in files(""):
        if path == ".git" or path.startswith("tests/fuzz/corpus/") or "/testdata/" in path:
            continue
        try:
            text = read(path)
        except UnicodeDecodeError:
            continue
        found = []
        texts = find_text_rows(text) if path.endswith(".py") else set()
        if not path.endswith(bare) and text and "SPDX-License-Identifier: MIT" not in "".join(
                text.splitlines(True)[:4]):
            found.append("no licence line at its start")
        for number, line in enumerate(text.splitlines(), 1):
            allowed = 140 if number in texts or LONG_STRING.search(line) else 100
            if path.endswith(CODE) and len(line) > allowed:
                found.append("%s:%d: %d columns, %d are allowed" %
                             (path, number, len(line), allowed))
            if re.search(r"\b(TO"
                         "DO|FIX"
                         "ME|X"
                         "XX)\b(?!.*# *SKIP)",
                         line) and "[Tt][Oo]" not in line and not path.endswith(".jsonl"):
                found.append("%s:%d: something is left to do" % (path, number))
            if re.search(r"/wo" r"rk/(main|shared)|(?<![\w\"])/ro" r"ot/|/ho" r"me/[a-z]+/", line):
                found.append("%s:%d: a place of one machine" % (path, number))
        yield path, found


def main(argv):
    checks = {name[6:]: check for name, check in globals().items() if name.startswith("check_")}
    if len(argv) != 1 or argv[0] not in checks:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    n = failed = 0
    try:
        for name, found in checks[argv[0]]():
            n += 1
            failed += bool(found)
            for line in found[:30]:
                print("# " + line)
            print("%sok %d - %s: %s" % ("not " if found else "", n, argv[0], name), flush=True)
    except Skip as why:
        print("1..0 # SKIP %s" % why)
        return 0
    print("1..%d" % n)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
