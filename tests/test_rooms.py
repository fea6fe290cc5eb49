# SPDX-License-Identifier: MIT
"""The rooms of lib/: who calls whom, read off the object files. No two rooms may need each other."""

import collections
import glob
import os
import shutil
import subprocess
import unittest

import tap

BUILD = os.environ["PERFMON_BUILD"]
TESTS = os.environ["PERFMON_TESTS"]
LIB = os.path.join(os.environ["PERFMON_SOURCE"], "lib")
ROOMS = ("base", "table", "machine", "device", "pmu", "answer", "count", "metric", "libpfm3")

# Sources whose tests are not in a file of their name: where they are, and why there.
ELSEWHERE = {
}


def sources():
    """Every source of the library, as ROOM/FILE.c; those of the corridor, as FILE.c."""
    return sorted(os.path.relpath(path, LIB) for path in glob.glob(os.path.join(LIB, "**", "*.c"), recursive=True))


def own_tests(source, all_sources):
    """The files of tests that are called as @source is."""
    stem, whole = os.path.splitext(os.path.basename(source))[0], os.path.splitext(source)[0].replace("/", "_")
    names = ["units/%s.c" % whole, "test_%s.c" % whole]
    if [os.path.basename(s) for s in all_sources].count(stem + ".c") == 1:
        names += ["test_%s.c" % stem, "test_%s.py" % stem]
    return [n for n in names if os.path.exists(os.path.join(TESTS, n))]


def room_of(path):
    """Object files are called ROOM_FILE.c.o; those of the corridor, FILE.c.o."""
    first = os.path.basename(path).partition("_")[0]
    return first if first in ROOMS else "corridor"


def symbols(path):
    """(defined, needed) by an object file."""
    defined, needed = set(), set()
    for line in subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout.splitlines():
        kind, name = line.split()[-2:]
        if kind == "U":
            needed.add(name)
        elif kind.isupper():
            defined.add(name)
    return defined, needed


def graph_of(objects):
    """room -> room -> the calls that lead there."""
    home, graph = {}, collections.defaultdict(dict)
    tables = {path: symbols(path) for path in objects}
    for path, (defined, _) in tables.items():
        home.update(dict.fromkeys(defined, path))
    for path, (_, needed) in tables.items():
        for name in needed & home.keys():
            here, there = room_of(path), room_of(home[name])
            if here != there:
                graph[here].setdefault(there, []).append("%s: %s" % (os.path.basename(path), name))
    return graph


def circle(graph):
    """Rooms that lead back to the first of them; [] if there are none."""
    def walk(path):
        for there in sorted(graph.get(path[-1], ())):
            found = path[path.index(there):] if there in path else walk(path + [there])
            if found:
                return found
        return []
    for room in sorted(graph):
        found = walk([room])
        if found:
            return found
    return []


def objects(pattern):
    """Object files of the library; what is compiled for size, and the device model, lie in folders of their own."""
    parts = ("libperfmon.so.*.p", "libunhurried.a.p", "libseldom.a.p", "libdevice.a.p")
    return [p for name in parts for p in glob.glob(os.path.join(BUILD, "lib", name, pattern))]


class Rooms(unittest.TestCase):
    def setUp(self):
        self.objects = objects("*.o")
        if not shutil.which("nm") or not self.objects:
            self.skipTest("no nm, or no object files of the shared library")

    def test_no_circle(self):
        graph = graph_of(self.objects)
        found = circle(graph)
        steps = ["%s -> %s: %s" % (a, b, ", ".join(graph[a][b][:5])) for a, b in zip(found, found[1:] + found[:1])]
        self.assertEqual(steps, [])
        self.assertIn("table", graph["corridor"])
        self.assertIn("corridor", graph["answer"])

    def test_a_circle_is_seen(self):
        self.assertEqual(circle({"a": {"b": []}, "b": {"c": []}, "c": {}}), [])
        self.assertEqual(circle({"a": {"b": []}, "b": {"c": []}, "c": {"b": []}}), ["b", "c"])

    def test_old_interfaces_are_not_needed(self):
        graph = graph_of(self.objects)
        self.assertEqual([a for a in graph if "libpfm3" in graph[a]], [])


class TestFiles(unittest.TestCase):
    """Where a source is tested can be told by its name, or stands in the list above."""

    def test_every_source_has_tests(self):
        known = sources()
        self.assertEqual([s for s in known if not own_tests(s, known) and s not in ELSEWHERE], [])

    def test_list_is_true(self):
        known = sources()
        self.assertEqual([s for s in ELSEWHERE if s not in known or own_tests(s, known)], [])
        for source, told in ELSEWHERE.items():
            with self.subTest(source=source):
                self.assertTrue(os.path.exists(os.path.join(TESTS, told.partition(":")[0])), told)

    def test_units_are_about_their_sources(self):
        """Each file of tests/units calls something that the source it is named after has."""
        units = [p for p in glob.glob(os.path.join(BUILD, "tests", "test_units*.p", "units_*.c.o")) if not p.endswith("units_units.c.o")]
        sources = objects("*.c.o")
        if not shutil.which("nm") or not sources or not units:
            self.skipTest("no nm, or no object files")
        has = {os.path.basename(p): symbols(p)[0] for p in sources}
        for p in glob.glob(os.path.join(BUILD, "lib", "libpfm4", "*.p", "*.c.o")):
            has["libpfm4_" + os.path.basename(p)] = symbols(p)[0]
        for unit in units:
            source = os.path.basename(unit)[len("units_"):]
            self.assertTrue(has.get(source, set()) & symbols(unit)[1], source)


if __name__ == "__main__":
    tap.main()
