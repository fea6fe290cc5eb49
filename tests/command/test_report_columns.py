#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of profiles on terminals of several widths: each row takes one line, and what a row has is
what it has in a pipe.

    PFM  the command (default: pfm of the path)
"""
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402
import test_mem  # noqa: E402
import test_report  # noqa: E402
from test_record import PFM, crafted_program  # noqa: E402
from test_report import Sample  # noqa: E402

WIDTHS = (24, 40, 60, 72, 80, 97, 120, 200)
NAMES = [
    "main",
    (
        "std::vector<std::pair<int, long>, std::allocator<std::pair<int, long> >"
        " >::push_back(std::pair<int, long> const&)"
    ),
    "解析器::読み込む(データの流れ const&, 設定 const&)",
    "\x1b[31m" + "e\u0301te\u0301_" * 12,
    "(anonymous namespace)::Parser::operator()(char const*) const",
    "bool operator< <char, std::char_traits<char> >(std::basic_string<char> const&, char const*)",
    "a_function_in_c_" * 6,
    "work::look_up_in_a_table(unsigned long) [clone .isra.0] [clone .cold]",
]
MARKED = re.compile(r"(?:[*> ] )? *[+-]?\d+\.\d\d% \+- ?\d+\.\d\d")
OURS = re.compile("\x1b\\[(?:0|1|2|31|1;31|32|33|36)m")


def columns_of(text):
    """Those that a terminal gives the text: wide characters take two, those that combine with
    others none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text)


def on_terminal(width, *args, folder):
    """Lines on a terminal of @width columns, and in a pipe."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    env = {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm"}
    p = subprocess.Popen([PFM, *args], stdout=slave, stderr=subprocess.PIPE, stdin=slave,
                         cwd=folder, env=env)
    os.close(slave)
    out = b""
    try:
        while piece := os.read(master, 65536):
            out += piece
    except OSError:  # Linux says EIO once the other end is closed
        pass
    os.close(master)
    error = p.stderr.read()
    p.stderr.close()
    assert p.wait() == 0, error
    return OURS.sub("", out.decode()).replace("\r", "").split("\n")


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
class Columns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="perfmon-columns-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.program = os.path.join(cls.folder, "a program with a long name.so.6")
        with open(cls.program, "wb") as f:
            f.write(crafted_program([name.encode() for name in NAMES]))
        test_report.write(os.path.join(cls.folder, "perf.data"), cls.program,
                          test_report.drawn(2000, 1))
        test_report.write(os.path.join(cls.folder, "new.data"), cls.program,
                          test_report.drawn(2000, 2))
        cls.deep = [
            Sample(5, 0, 10**9 + 10**6 * i, 1, tuple([0] + [1, 2, 6] * 20 + [i % 8]), 7)
            for i in range(200)
        ]
        test_report.write(os.path.join(cls.folder, "deep.data"), cls.program, cls.deep)

    def in_pipe(self, *args):
        done = subprocess.run([PFM, *args], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split("\n")

    def rows_fit(self, *args, row=MARKED):
        """Each row is one line, at each width; the rows are those of the pipe. Returns the rows by
        width."""
        want, found = list(filter(row.match, self.in_pipe(*args))), {}
        self.assertTrue(want)
        for width in WIDTHS:
            with self.subTest(args=args, width=width):
                lines = on_terminal(width, *args, folder=self.folder)
                found[width] = list(filter(row.match, lines))
                self.assertEqual([row.match(line)[0] for line in found[width]],
                                 [row.match(line)[0] for line in want])
                if width >= 60:
                    self.assertEqual([line for line in lines if columns_of(line) > width], [])
                    self.assertEqual([
                        line
                        for line in found[width] if columns_of(line) < len(row.match(line)[0]) + 6
                    ], [])
        return found

    def test_rows_of_tables_fit(self):
        for args in ("", "--children", "--source", "--sort symbol", "--sort task,cpu,symbol",
                     "--sort cgroup,object", "--sort address,symbol", "--time-slices 2", "-n 3"):
            self.rows_fit("report", "--stdio", *args.split())

    def test_rows_of_trees_fit(self):
        for order in "caller", "callee":
            for file in "perf.data", "deep.data":
                self.rows_fit("report", "--stdio", "--call-graph=" + order, "-n", "70", file)

    def test_deep_nodes_say_how_deep_they_are(self):
        rows = self.rows_fit("report", "--stdio", "-g", "--sort", "symbol", "-n", "0", "deep.data")
        shares = MARKED.pattern + "  +" + MARKED.pattern
        for width, lines in rows.items():
            if width < 80:
                continue
            depths = []
            for line in lines:
                name = re.sub("^" + shares + "  ", "", line)
                blanks = len(name) - len(name.lstrip(" "))
                more = re.match(r"\+(\d+) ", name.lstrip(" "))
                depths.append((blanks, int(more[1]) if more else 0))
            limit = max(blanks for blanks, _ in depths)
            step = depths[1][0]
            self.assertIn(step, (1, 2))
            self.assertLess(limit, width)
            got = [blanks // step + more for blanks, more in depths]
            self.assertEqual(got, list(range(61)) + [61] * (len(lines) - 61))
            self.assertEqual(max(more for _, more in depths) > 0, width < 200)

    def test_rows_of_differences_fit(self):
        for args in "", "--normalize count", "--sort symbol", "--sort task,object,symbol":
            self.rows_fit("diff", *args.split(), "perf.data", "new.data")

    def test_hints_name_the_recording(self):
        """As a word that a shell takes as it is, or not at all."""
        shutil.copy(os.path.join(self.folder, "perf.data"),
                    os.path.join(self.folder, "two words;.data"))
        for file, shown in (("perf.data", ""), ("new.data", " new.data"), ("two words;.data", ""),
                            ("./new.data", " ./new.data")):
            lines = on_terminal(200, "report", "--stdio", "-n", "1", file, folder=self.folder)
            self.assertIn(
                "pfm report -g%s shows callers, pfm report --svg%s >flame.svg a flame graph" %
                (shown, shown), lines)
            self.assertIn(
                "pfm report --source%s shows source lines, pfm annotate FUNCTION%s instructions" %
                (shown, shown), lines)

    def test_columns_are_left_out_in_pairs(self):
        heads = {}
        for width in (60, 80, 200):
            lines = on_terminal(width, "diff", "perf.data", "new.data", folder=self.folder)
            heads[width] = next(line.split() for line in lines
                                if line.strip().startswith("change "))
        self.assertEqual(heads[200], ["change", "old", "new", "ratio", "samples", "then"])
        self.assertEqual(heads[80], ["change", "old", "new", "ratio"])
        self.assertEqual(heads[60], ["change", "old", "new"])

    def test_nothing_is_cut_where_there_is_room(self):
        wide = on_terminal(400, "report", "--stdio", folder=self.folder)
        for line, other in zip(self.in_pipe("report"), wide):
            if MARKED.match(line):
                self.assertEqual(other.split(), line.split())

    def test_names_are_cut_where_they_say_least(self):
        """First parameters, then arguments of templates, then the middle."""
        seen = {}
        for width in range(40, 140):
            for line in on_terminal(width, "report", "--stdio", "--sort", "symbol",
                                    folder=self.folder):
                if MARKED.match(line):
                    seen.setdefault(MARKED.sub("", line).strip(), width)
        for name in (
            (
                "std::vector<std::pair<int, long>, std::allocator<std::pair<int, long> >"
                " >::push_back(…)"
            ),
            "std::vector<…>::push_back(…)",
            "解析器::読み込む(…)",
            "(anonymous namespace)::Parser::operator()(…) const",
            "bool operator< <…>(…)",
            "work::look_up_in_a_table(…) [clone .isra.0] [clone .cold]",
            "work::look_up_in_a_table(…)",
        ):
            self.assertIn(name, seen)
        self.assertTrue(
            any(
                name.startswith("a_function") and name.endswith("in_c_") and "…" in name
                for name in seen))
        self.assertLess(seen["std::vector<…>::push_back(…)"],
                        seen["解析器::読み込む(データの流れ const&, 設定 const&)"])

    def test_rows_of_an_annotation_are_cut(self):
        """The code of an annotation may be cut at its end; this program's file has no code."""
        for width in WIDTHS:
            lines = on_terminal(width, "annotate", "main", folder=self.folder)
            self.assertTrue(any(MARKED.match(line) for line in lines))

    def test_rows_of_accesses_fit(self):
        folder = os.path.join(self.folder, "mem")
        os.mkdir(folder)
        with open(os.path.join(folder, "program"), "wb") as f:
            f.write(crafted_program([name.encode() for name in NAMES]))
        r = test_mem.Recording()
        for pid in 5, 6:
            r.comm(pid, b"task%d" % pid)
            r.map(pid, 0x1000, os.path.join(folder, "program").encode())
        for i in range(900):
            r.add(
                test_mem.Access(5 + i % 2, 5 + i % 2, i % 4, 0x10000000 + 8 * (i * 7 % 100),
                                0x40000000 + 8 * (i * 7 % 100),
                                test_mem.LOAD if i % 3 else test_mem.STORE,
                                i % len(test_mem.LEVELS), 10 + i % 90, i % 8))
        r.write(os.path.join(folder, "perf.data"), test_mem.Recording.numa())
        for width in (60, 72, 80, 97, 120, 200):
            lines = on_terminal(width, "mem", folder=folder)
            self.assertEqual([line for line in lines if columns_of(line) > width], [], width)
            self.assertEqual(
                sum(line.strip().startswith("0x10000") and "%" in line for line in lines), 10)
            head = next(line for line in lines if line.strip().startswith("line ")).split()
            self.assertEqual(head[:1] + head[-2:], ["line", "sharing", "object"])
            self.assertEqual("loads" in head, width >= 120, (width, head))


if __name__ == "__main__":
    tap.main()
