#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times and offsets of a file are subtracted, and made into indexes, where the result is checked:
by profile/tree/time_span.h and profile/symbols/elf_file.h. A subtraction of times elsewhere wraps
as soon as a file has them in another order, and an index made of it is outside of its array.

    PERFMON_SOURCE  the source tree
"""

import glob
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402

SOURCE = os.environ["PERFMON_SOURCE"]
# Sources that read what files say: numbers of the running kernel are not among them.
READERS = ("lib/profile/**/*.[ch]", "lib/perfdata/*.[ch]", "tools/export/*.[ch]",
           "tools/report/*.c", "tools/diff/*.c", "tools/mem/*.c")
CHECKED = {"time_span.c"}
TIME_DIFFERENCE = re.compile(r"\b(?:\w+(?:->|\.|\[[^]]*\])+)*(?:\w+_)?time\s-=?\s"
                             r"|\s-=?\s(?:\w+(?:->|\.|\[[^]]*\]\.?)+)*(?:\w+_)?time\b")
# [... time ...], [... offset / size ...]: an index that is computed in place
COMPUTED_INDEX = re.compile(r"\[[^][]*\b\w*(?:time|offset|address)\w*\s*[-/%][^][]*\]")


def read_sources():
    for pattern in READERS:
        for path in glob.glob(os.path.join(SOURCE, pattern), recursive=True):
            if os.path.basename(path) not in CHECKED:
                with open(path, encoding="utf-8") as f:
                    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), f.read(),
                                  flags=re.DOTALL)
                yield os.path.relpath(path, SOURCE), re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def find(pattern):
    return [
        "%s:%d: %s" % (path, number, line.strip())
        for path, text in read_sources()
        for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)
    ]


class Indexes(unittest.TestCase):
    def test_times_are_subtracted_by_time_span_alone(self):
        self.assertEqual(find(TIME_DIFFERENCE), [], "use time_span_between()")

    def test_no_index_is_computed_from_a_time_or_an_offset_in_place(self):
        self.assertEqual(find(COMPUTED_INDEX), [], "use time_span_part(), or compare it first")

    def test_the_patterns_find_what_they_are_for(self):
        for line in ("sums[(t->samples[k].time - e->reader->first_time) / step] += 1;",
                     "time -= e->reader->first_time;", "x = p->last_time - p->first_time;",
                     "x = best->samples[n].time - best->samples[0].time;"):
            self.assertRegex(line, TIME_DIFFERENCE)
        for line in ("sums[time / step]++;", "a[address - start] = 0;"):
            self.assertRegex(line, COMPUTED_INDEX)
        self.assertTrue(list(read_sources()))


if __name__ == "__main__":
    tap.main()
