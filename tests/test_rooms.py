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
ROOMS = ("base", "table", "machine", "pmu", "answer", "count", "metric", "libpfm3")


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


class Rooms(unittest.TestCase):
    def setUp(self):
        self.objects = [p for folder in glob.glob(os.path.join(BUILD, "lib", "libperfmon.so.*.p")) for p in glob.glob(folder + "/*.o")]
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


if __name__ == "__main__":
    tap.main()
