# SPDX-License-Identifier: MIT
"""The modules of lib/: includes and symbols point to lower modules only, and files form no
cycles."""

import collections
import glob
import json
import os
import re
import shutil
import subprocess
import unittest

import tap

BUILD = os.environ["PERFMON_BUILD"]
TESTS = os.environ["PERFMON_TESTS"]
LIB = os.path.join(os.environ["PERFMON_SOURCE"], "lib")

# Lowest first. A module may include and call the modules before it.
ORDER = [
    "base", "table", "machine", "pmu", "context", "lookup", "encode", "format", "find", "decode",
    "metric",
    "session", "sampling", "perfdata", "system", "profile", "region", "compat/libpfm3",
    "compat/libpfm4"
]
# Modules in this list have no user inside lib/: each is a library of its own.
LEAVES = {"compat/libpfm3", "compat/libpfm4"}

# Folders below a module that are shared objects of their own, and use its public interface.
APART = {"region/adapters"}

# Cycles of files inside a module that are wanted: the files, and why.
DEMANGLE = "profile/symbols/demangle/cpp_"
FILE_CYCLES = {
    # The grammar of C++ names is recursive: types have expressions, expressions have names, names
    # have types. The printer follows it.
    frozenset(DEMANGLE + n + ".c" for n in ("entities", "expressions", "types")),
    frozenset(DEMANGLE + n + ".c" for n in ("print", "print_text", "print_types", "print_values")),
}


def module_of(path):
    """The module that holds @path (relative to lib/): the longest name of ORDER above it. Folders
    inside a module are parts of it."""
    folder = os.path.dirname(path)
    while folder and folder not in ORDER and folder not in APART:
        folder = os.path.dirname(folder)
    return folder


def sources(*endings):
    """The files of all modules, relative to lib/."""
    found = []
    for folder, _, names in os.walk(LIB):
        paths = [
            os.path.relpath(os.path.join(folder, n), LIB) for n in names if n.endswith(endings)
        ]
        found += [p for p in paths if module_of(p) in ORDER]
    return sorted(found)


def includes(path):
    """The headers of lib/ that @path includes, relative to lib/."""
    with open(os.path.join(LIB, path), encoding="utf-8") as f:
        names = re.findall(r'^#include "([^"]+)"', f.read(), re.M)
    beside = os.path.dirname(path)
    return [
        os.path.join(beside, n) if os.path.exists(os.path.join(LIB, beside, n)) else n
        for n in names
    ]


def objects():
    """Source relative to lib/ -> its object file."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    found = {}
    for c in commands:
        path = os.path.relpath(os.path.realpath(os.path.join(c["directory"], c["file"])),
                               os.path.realpath(LIB))
        target = os.path.join(c["directory"], c["output"])
        if not path.startswith("..") and "/lib/" in target and os.path.exists(target):
            found.setdefault(path, target)
    return found


def program_objects():
    """Source relative to the project -> its object file, for each source that was compiled."""
    root = os.path.realpath(os.path.dirname(LIB))
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    found = {}
    for c in commands:
        path = os.path.relpath(os.path.realpath(os.path.join(c["directory"], c["file"])), root)
        target = os.path.join(c["directory"], c["output"])
        if not path.startswith("..") and os.path.exists(target):
            found.setdefault(path, target)
    return found


def symbols(paths):
    """Object file -> (defined, needed) names, for each of @paths."""
    found = {p: (set(), set()) for p in paths}
    lines = subprocess.run(["nm", "-A", "--"] + sorted(set(paths)), check=True,
                           capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        path, _, entry = line.rpartition(":")
        kind, name = entry.split()[-2:]
        if kind == "U":
            found[path][1].add(name)
        elif kind.isupper():
            found[path][0].add(name)
    return found


def calls():
    """(caller, callee, symbol) between the sources of lib/."""
    paths = objects()
    read = symbols(paths.values())
    tables = {source: read[path] for source, path in paths.items()}
    found, home = [], {}
    for source, (defined, _) in tables.items():
        for name in defined:
            home.setdefault(name, source)
    for source, (defined, needed) in tables.items():
        for name in needed - defined:
            # libpfm.so.4 has names of its own that libperfmon may have as well.
            if name in home and home[name] != source:
                found.append((source, home[name], name))
    return found


def upward(pairs):
    """Those of the (from, to, why) @pairs that lead from a module to a higher one."""
    return ["%s -> %s: %s" % (a, b, why) for a, b, why in pairs
            if module_of(a) in ORDER and module_of(b) in ORDER
            and ORDER.index(module_of(b)) > ORDER.index(module_of(a))]


def cycles(edges):
    """Strongly connected groups of more than one node in @edges: node -> set of nodes."""
    index, low, stack, found = {}, {}, [], []

    def visit(n):
        index[n] = low[n] = len(index)
        stack.append(n)
        for m in sorted(edges.get(n, ())):
            if m not in index:
                visit(m)
                low[n] = min(low[n], low[m])
            elif m in stack:
                low[n] = min(low[n], index[m])
        if low[n] == index[n]:
            group = set()
            while not group or m != n:
                m = stack.pop()
                group.add(m)
            if len(group) > 1:
                found.append(frozenset(group))

    for n in sorted(edges):
        if n not in index:
            visit(n)
    return found


class Modules(unittest.TestCase):
    maxDiff = None

    def test_every_file_is_in_a_module(self):
        strays = [p for p in glob.glob(os.path.join(LIB, "*.[ch]"))]
        self.assertEqual(strays, [])

    def test_includes_point_to_lower_modules(self):
        pairs = [(p, i, "includes") for p in sources(".c", ".h") for i in includes(p)]
        self.assertTrue(pairs)
        self.assertEqual(upward(pairs), [])

    def test_a_module_has_a_header_of_its_name(self):
        """Other modules include the module's own header, or those beside it, never an internal
        one."""
        found = ["%s includes %s" % (p, i) for p in sources(".c", ".h") for i in includes(p)
                 if i.endswith("_internal.h") and module_of(i) != module_of(p)]
        self.assertEqual(found, [])

    def test_symbols_point_to_lower_modules(self):
        if not shutil.which("nm"):
            self.skipTest("nm is missing (Debian package binutils)")
        pairs = calls()
        self.assertTrue(
            any(module_of(a) == "lookup" and module_of(b) == "table" for a, b, _ in pairs))
        self.assertEqual(upward(pairs), [])

    def test_files_of_a_module_form_no_cycle(self):
        if not shutil.which("nm"):
            self.skipTest("nm is missing (Debian package binutils)")
        edges, why = collections.defaultdict(set), collections.defaultdict(list)
        for a, b, name in calls():
            if module_of(a) == module_of(b):
                edges[a].add(b)
                why[a, b].append(name)
        found = [g for g in cycles(edges) if g not in FILE_CYCLES]
        reports = ["\n".join("%s -> %s: %s" % (a, b, " ".join(why[a, b])) for a in sorted(g)
                          for b in sorted(edges[a] & g)) for g in found]
        self.assertEqual(reports, [])

    def test_compatibility_libraries_have_no_user(self):
        found = [
            "%s -> %s: %s" % c for c in calls()
            if module_of(c[1]) in LEAVES and module_of(c[0]) not in LEAVES
        ]
        self.assertEqual(found, [])

    def test_a_cycle_is_found(self):
        self.assertEqual(cycles({"a": {"b"}, "b": {"c"}, "c": set()}), [])
        self.assertEqual(cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}}), [frozenset("bc")])


# A pattern of C text, and the one file that may have it.
ONE_WAY = {
    r"\\\\u%0": "lib/base/text_output.c",  # escapes of JSON
    r"&quot;": "lib/base/text_output.c",  # escapes of XML
}


# A call that is a step of a path through the library, and the files that may have it: those that
# define it, and the one that takes the step.
STEPS = {
    # An event becomes registers: one plan, one placement, one encoder.
    r"->encode_set\(": {"lib/pmu/encoders.c"},
    r"\bpfmi_pmu_encode_registers\(": {"lib/pmu/encoders.c", "lib/pmu/dispatch.c"},
    r"->n_regs = (?!0\b)": {"lib/encode/encode.c"},
    # The kernel's struct, which old headers have without later members, is named by public calls;
    # the library uses struct perf_attr (lib/machine/perf_abi.h).
    r"\bstruct perf_event_attr\b": {"lib/session/perf_attr.c", "lib/compat/libpfm4/perf.c",
                                       "lib/compat/libpfm4/pfmlib.c"},
    # Counts become the value of a metric.
    r"\bpfm_compute_metric\(": {
        "lib/metric/evaluate.c",
        "lib/session/metric_counts.c",  # counts of a session, or of rows of pfm stat
        "tools/encode/metric.c",  # numbers that the user types
        "tools/report/metrics.c",  # weights of samples, by function
    },
    # A program is started. Counters are open before its first instruction only in child.c.
    r"\b(?:execvp?|posix_spawnp?)\(": {
        "lib/base/child.c",
        "tools/alpha/serve_child.c",  # below the model of the device
        "tools/common/exporter.c",  # pfm becomes pfm-exporter
        "tools/common/term.c",  # the pager
        "tools/list/import.c",  # pfm becomes Python
        "tools/pretend/run.c",  # a program on a pretended machine
        "tools/report/disassembly.c",  # objdump
        "tools/simulate/run.c",  # the emulator
        "tools/stat/regions.c",  # a program that counts itself
    },
    # A record becomes a sample.
    r"\bpfmi_sampling_decode_record\(": {"lib/sampling/record_decode.c",
                                         "lib/sampling/sample_reader.c"},
    # Records are read one after the other.
    r"\bpfm_next_records?\(": {
        "lib/sampling/sample_reader.c",
        "lib/perfdata/perfdata_write.c",  # copies records to a file
        "lib/profile/sample_visitor.c",
        "tools/alpha/program_counter.c",  # of the public interface
    },
    # Records of tasks, losses and callers are read there as well.
    r"\b(tasks_read_record|losses_read_record|chains_hold_record)\(": {
        "lib/profile/sample_visitor.c",
        "lib/profile/tasks/tasks.c",
        "lib/profile/tree/losses.c",
        "lib/profile/unwind/deferred_chains.c",
    },
    r"\bchains_complete\(": {"lib/profile/sample_visitor.c", "lib/profile/unwind/chains.c"},
    # State of a thread of the measured program: its open regions, and whether it
    # has seen that the default context is ready. All other state is an argument.
    r"\b(?:_Thread_local|__thread)\b": {"lib/context/opening.c", "lib/region/state.c",
                                         "lib/region/adapters/kokkos.c",
                                         "lib/region/adapters/likwid.c"},
}


class TestOneWay(unittest.TestCase):
    def test_encoders_do_not_fill_encodings(self):
        """An encoder fills the registers of a set; lib/encode/ makes the answer of them, so that no
        encoder has a path of its own for one event."""
        found = []
        for path in glob.glob(os.path.join(LIB, "pmu", "*.[ch]")):
            with open(path, encoding="utf-8") as f:
                if "pfm_encoding_t" in f.read():
                    found.append(os.path.basename(path))
        self.assertEqual(found, [])

    def test_each_form_of_text_has_one_writer(self):
        root = os.path.dirname(LIB)
        found = collections.defaultdict(set)
        for folder in ("lib", "tools", "exporter"):
            for path in glob.glob(os.path.join(root, folder, "**", "*.c"), recursive=True):
                with open(path, encoding="utf-8") as f:
                    text = f.read()
                for pattern in ONE_WAY:
                    if re.search(pattern, text):
                        found[pattern].add(os.path.relpath(path, root))
        self.assertEqual(dict(found), {p: {f} for p, f in ONE_WAY.items()})

    def test_each_step_of_a_path_has_its_files(self):
        """A second encode path, or a second one from records to samples, fails here by its name."""
        root = os.path.dirname(LIB)
        for step, expected in STEPS.items():
            found = set()
            for folder in ("lib", "tools", "exporter"):
                for path in glob.glob(os.path.join(root, folder, "**", "*.c"), recursive=True):
                    with open(path, encoding="utf-8") as f:
                        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.DOTALL)
                    if re.search(step, text):
                        found.add(os.path.relpath(path, root))
            with self.subTest(step=step):
                self.assertEqual(found, expected)


# Functions that only tests call, and why.
TEST_ENTRIES = {
    "qemu_plugin_install": "QEMU calls it in a plugin",
    "qemu_plugin_version": "QEMU reads it in a plugin",
    "pfmi_table_verify": "tests and fuzzers verify one table that is in no image",
}


def exported_names():
    """The names in the version scripts of the libraries."""
    names = set()
    for path in glob.glob(os.path.join(LIB, "**", "*.map"), recursive=True):
        with open(path, encoding="utf-8") as f:
            names.update(re.findall(r"\w+", f.read()))
    return names


class TestCallers(unittest.TestCase):
    def test_every_function_has_a_caller(self):
        """A function that other files can call is exported, or another file of lib/, tools/ or
        exporter/ calls it, or its own file does and a test reads it alone."""
        if not shutil.which("nm"):
            self.skipTest("nm is missing (Debian package binutils)")
        paths = program_objects()
        read = symbols(paths.values())
        tables = {source: read[path] for source, path in paths.items()}
        if "tools/common/pfm.c" not in tables:
            self.skipTest("the command, which calls some functions, was not built")
        missing = [path for path in glob.glob("exporter/*.c", root_dir=os.path.dirname(LIB))
                   if path not in tables]
        if missing:
            self.skipTest("a library is missing, so nothing of %s calls" % ", ".join(missing))
        needed, tested = set(), set()
        for path, (_, names) in tables.items():
            (tested if path.startswith("tests/") else needed).update(names)
        exported = exported_names() | set(TEST_ENTRIES)
        found = []
        for path, (defined, _) in sorted(tables.items()):
            if not path.startswith(("lib/", "tools/", "exporter/")) or "/adapters/" in path or \
                    not path.endswith(".c"):
                continue
            with open(os.path.join(os.path.dirname(LIB), path), encoding="utf-8") as f:
                text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.DOTALL)
            for name in sorted(defined - needed - exported - {"main"}):
                uses = len(re.findall(r"\b%s\b" % name, text)) - 1
                if not uses:
                    found.append("%s: no program calls %s" % (path, name))
                elif name not in tested:
                    found.append("%s: %s can be static" % (path, name))
        self.assertEqual(found, [])


class TestFiles(unittest.TestCase):
    def test_every_source_has_tests(self):
        """A source MODULE/FILE.c is tested by MODULE/FILE.c or MODULE/test_FILE.c of tests/public or
        tests/internal."""
        found = [
            s for s in sources(".c") if not any(
                os.path.exists(
                    os.path.join(TESTS, kind, os.path.dirname(s), prefix + os.path.basename(s)))
                for kind in ("public", "internal") for prefix in ("", "test_"))
        ]
        self.assertEqual(found, [])


if __name__ == "__main__":
    tap.main()
