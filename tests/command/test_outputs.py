#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every output format of pfm stays readable whatever bytes the names in it have.

Names of events, request ids, threads, mapped files, symbols and commands are made of every byte
class. Python's json and csv, and expat read back what pfm writes.

    PFM  the command (default: pfm of the path)
"""
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.parsers.expat

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, "support")]
import tap  # noqa: E402
from protobuf import fields  # noqa: E402
from test_metric import TREE, compile_text  # noqa: E402
from test_record import Crafted, crafted_program  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
# The driver of the golden vectors, which answers requests.
DRIVER = os.environ.get("PERFMON_VECTORS",
                        os.path.join(os.path.dirname(PFM), "..", "tests", "vectors"))

# One name for each class of bytes. No name has a zero byte: arguments and threads' names end there.
NAMES = {
    "C0 controls": bytes(range(1, 32)),
    "DEL": b"a\x7fb",
    "C1 controls": "".join(chr(c) for c in range(0x80, 0xa0)).encode(),
    "noncharacters": "a\ufffeb\uffffc".encode(),
    "beyond the BMP": "a\U0001f600b".encode(),
    "accents": "na\u00efve \u4e2d\u6587".encode(),
    "surrogates": b"a\xed\xa0\x80b\xed\xbf\xbfc",
    "overlong forms": b"a\xc0\x80b\xe0\x80\x80c\xf0\x80\x80\x80d",
    "beyond U+10FFFF": b"a\xf4\x90\x80\x80b\xf8\x88\x80\x80\x80c",
    "stray bytes": b"\x80a\xbfb\xc3c\xe2\x82d\xff\xfe",
    "cut off": b"a\xf0\x9f\x98",
    "quotes": b"a\"b'c`d\\e\\\"f",
    "separators": b"a,b;c\td:e|f/g=h",
    "markup": b"<script>&amp;]]></script><!--",
    "escape sequences": b"\x1b[31mred\x1b]0;title\x07",
    "4 KiB": b"x" * 4000,
    "4 KiB of stray bytes": b"\xff" * 4000,
}
REPLACEMENT = "\ufffd"
CONTROLS = re.compile("[\x01-\x08\x0b-\x1f\x7f-\x9f]")


def readable(name):
    """@name with U+FFFD for each byte that is not UTF-8: what a reader of JSON expects."""
    out, rest = "", name
    while rest:
        try:
            return out + rest.decode()
        except UnicodeDecodeError as e:
            out += rest[:e.start].decode() + REPLACEMENT
            rest = rest[e.start + 1:]
    return out


def run(*args, stdin=b"", env=None):
    return subprocess.run([PFM, *args], input=stdin, capture_output=True, timeout=120, check=False,
                          env=env)


def parse_xml(data):
    """The text of every element of an XML document."""
    texts = []
    parser = xml.parsers.expat.ParserCreate()
    parser.CharacterDataHandler = texts.append
    parser.Parse(data, True)
    return "".join(texts)


class Names(unittest.TestCase):
    def lines(self, data):
        """The objects in @data, one a line, which is ASCII."""
        self.assertTrue(data.isascii(), data[:200])
        self.assertNotIn(0x7f, data)
        return [json.loads(line) for line in data.splitlines()]


class Requests(Names):
    """Texts that come from the command line or from requests, in JSON."""

    def test_odd_names_of_events_come_back(self):
        for kind, name in NAMES.items():
            with self.subTest(name=kind):
                for command in ("encode", "show"):
                    got = self.lines(run(command, "--json", name).stdout)
                    self.assertEqual([g["input"] for g in got], [readable(name)], (command, kind))

    def test_event_names_on_standard_input(self):
        for kind, name in NAMES.items():
            with self.subTest(name=kind):
                if b"\n" in name or b"#" in name:
                    continue
                got = self.lines(run("encode", "--json", "-", stdin=name + b"\n").stdout)
                self.assertEqual([g["input"].strip() for g in got], [readable(name).strip(" \t\r")])

    def test_a_zero_byte(self):
        got = self.lines(run("encode", "--json", "-", stdin=b"a\0b\n").stdout)
        self.assertEqual(got[0]["input"], "a\0b")

    def ask(self, program, command, request):
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        return self.lines(
            subprocess.run([program, command, "--json"], input=line, capture_output=True,
                           timeout=120, check=False).stdout)

    def test_ids_of_requests(self):
        for kind, name in NAMES.items():
            with self.subTest(name=kind):
                text = readable(name)
                got = self.ask(PFM, "metric", {"id": [text, {text: text}], "metric": "x"})
                self.assertEqual(got[0]["id"], [text, {text: text}])
                got = self.ask(DRIVER, "dispatch", {"id": text, "req": {"op": text}})
                self.assertEqual(got[0].get("id"), text)

    def test_odd_names_are_answered_by_each_command(self):
        for kind, name in NAMES.items():
            with self.subTest(name=kind):
                for words in (["plan", "--json", name], ["dispatch", "--json", name],
                              ["decode", "--json", "--pmu", "skl", name + b"=1"],
                              ["stat", "--json", "-e", name, "--", "true"],
                              ["list", "--json", name], ["list", "--json", "--pmus", name]):
                    done = run(*words)
                    self.assertIn(done.returncode, (0, 1, 2), (words, kind, done.stderr))
                    self.lines(done.stdout)


class Recordings(Names):
    """Names of threads, files and symbols, in each form of the report."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def record(self, name):
        program = os.path.join(self.folder.name, "program").encode()
        symbol = name.replace(b"\n", b"_")[:3000]
        with open(program, "wb") as f:
            f.write(crafted_program([symbol]))
        made = Crafted()
        made.attr()
        made.comm(7, name[:15])
        made.map(7, 0x1000, program)
        made.map(7, 0x10000, name[:2000])
        made.sample(7, 0x1004)
        made.sample(7, 0x10004)
        path = os.path.join(self.folder.name, "data")
        made.write(path)
        return path

    def report(self, name, *form):
        done = run("report", *form, self.record(name))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_odd_names_are_valid_json(self):
        for kind, name in NAMES.items():
            with self.subTest(name=kind):
                got = self.lines(self.report(name, "--json"))
                self.assertEqual({g["task"] for g in got}, {readable(name[:15])}, kind)
                self.assertIn(readable(name[:2000]), {g["object"] for g in got}, kind)

    def test_odd_names_are_valid_xml(self):
        for kind, name in NAMES.items():
            with self.subTest(name=kind):
                text = parse_xml(self.report(name, "--svg"))
                if kind in ("accents", "beyond the BMP", "markup"):
                    self.assertIn(name[:14].decode(errors="ignore").split(";")[0], text)
                self.assertFalse(re.search("[\ud800-\udfff\ufffe\uffff]", text), kind)

    def test_odd_names_are_compared(self):
        for kind, name in NAMES.items():
            with self.subTest(name=kind):
                path = self.record(name)
                drawn, listed, printed = (run("diff", *form, path, path)
                                          for form in (["--svg"], ["--json"], []))
                self.assertEqual((drawn.returncode, listed.returncode, printed.returncode),
                                 (0, 0, 0))
                self.assertFalse(re.search("[\ud800-\udfff\ufffe\uffff]", parse_xml(drawn.stdout)))
                self.assertGreater(len(self.lines(listed.stdout)), 1)
                self.assertFalse(CONTROLS.search(printed.stdout.decode()))

    def test_odd_names_stay_on_their_line(self):
        for kind, name in NAMES.items():
            with self.subTest(name=kind):
                lines = self.report(name, "--folded").decode().splitlines()
                self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in lines), 2, kind)
                self.assertEqual([line.count(";") for line in lines], [1] * len(lines), lines)

    def test_odd_names_have_no_control_characters(self):
        for kind, name in NAMES.items():
            with self.subTest(name=kind):
                text = self.report(name).decode()
                self.assertFalse(CONTROLS.search(text))


class Exports(Recordings):
    """The names of Recordings, in each format of pfm export."""

    test_json = test_svg = test_diff = test_folded = test_text = None

    def export(self, name, form):
        done = run("export", "-f", form, self.record(name))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def each_name(self, forms, check):
        for kind, name in NAMES.items():
            for form in forms:
                with self.subTest(name=kind, form=form):
                    check(self.export(name, form), name)

    def test_documents_with_odd_names_are_valid(self):
        def check(data, name):
            text = json.dumps(json.loads(data.decode()), ensure_ascii=False)
            self.assertFalse(re.search("[\ud800-\udfff]", text))
            self.assertIn(json.dumps(readable(name[:15]), ensure_ascii=False)[1:-1], text)
        self.each_name(["speedscope", "firefox", "chrome", "json"], check)

    def test_tables_with_odd_names_have_their_columns(self):
        def check(data, _):
            rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
            self.assertTrue(all(None not in row and None not in row.values() for row in rows))
            self.assertEqual(sum(row["address"] in ("0x1004", "0x10004") for row in rows), 2)
        self.each_name(["csv"], check)

    def test_stacks_with_odd_names_have_their_weights(self):
        def check(data, _):
            lines = [line for line in data.decode().split("\n")[:-1] if not line.startswith("#")]
            self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in lines), 2)
        self.each_name(["folded"], check)

    def test_text_of_other_tools(self):
        self.each_name(["script", "callgrind"],
                       lambda data, _: self.assertFalse(CONTROLS.search(data.decode())))

    def test_strings_of_messages(self):
        def check_pprof(data, _):
            strings = [
                value.decode() for number, value in fields(gzip.decompress(data)) if number == 6
            ]
            self.assertEqual(strings[0], "")
            self.assertGreater(len(strings), 4)

        def check_otlp(data, _):
            strings = [
                value.decode() for number, value in fields(dict(fields(data))[2]) if number == 5
            ]
            self.assertGreater(len(strings), 4)
        self.each_name(["pprof"], check_pprof)
        self.each_name(["otlp"], check_otlp)


class Counts(Names):
    """Names of threads and commands, in what pfm stat writes."""

    def stat(self, name, *words):
        """Output of pfm stat for a process whose thread has the name @name."""
        child = subprocess.Popen([sys.executable, "-c", "import ctypes, signal, sys\n"
                                  "ctypes.CDLL(None).prctl(15, sys.stdin.buffer.read(), 0, 0, 0)\n"
                                  "print(flush=True); signal.pause()"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            child.stdin.write(name[:15] + b"\0")
            child.stdin.close()
            child.stdout.readline()
            done = run("stat", *words, "--timeout", "10", "-p", str(child.pid))
        finally:
            child.kill()
            child.wait()
            child.stdout.close()
        if done.returncode == 1 and b"permission" in done.stderr.lower():
            self.skipTest("events of other processes cannot be counted")
        return done

    def test_threads_in_columns(self):
        for kind, name in NAMES.items():
            with self.subTest(name=kind):
                for separator in (",", ";", "\t"):
                    done = self.stat(name, "--per-thread", "-x", separator,
                                     "-e", "task-clock,page-faults")
                    text = io.StringIO((done.stdout or done.stderr).decode())
                    rows = list(csv.reader(text, delimiter=separator))
                    self.assertEqual(len({len(r) for r in rows}), 1, (separator, rows, done.stderr))
                    self.assertEqual([r[3] for r in rows][-2:], ["task-clock", "page-faults"], rows)

    def test_threads_in_json(self):
        for kind, name in NAMES.items():
            with self.subTest(name=kind):
                done = self.stat(name, "--per-thread", "--json", "-e", "task-clock")
                for got in self.lines(done.stdout):
                    self.assertEqual(got["thread"].rpartition("-")[0], readable(name[:15]))

    def test_commands_on_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            image, errors = compile_text(TREE, folder)
            self.assertFalse(errors)
            page = os.path.join(folder, "page.html")
            for kind, name in NAMES.items():
                with self.subTest(name=kind):
                    done = run("stat", "--html", page, "-M", "tree::Top", "--", "true", name,
                               env={"PERFMON_EVENTS": image, "PATH": os.environ["PATH"]})
                    self.assertEqual(done.returncode, 0, done.stderr)
                    with open(page, "rb") as f:
                        text = f.read().decode()
                    self.assertFalse(CONTROLS.search(text))
                    self.assertNotIn("<script>&amp;amp;", text)
                    title = re.search("<title>(.*?)</title>", text, re.S).group(1)
                    self.assertNotIn("<", title, kind)


if __name__ == "__main__":
    tap.main()
