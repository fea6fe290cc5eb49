#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm export: every format against the samples that a generator wrote, and against the readers that
are installed.

    PFM  the command (default: pfm of the path)
"""
import collections
import csv
import glob
import gzip
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, "support")]
import tap  # noqa: E402
import test_symbols  # noqa: E402
from protobuf import fields, packed  # noqa: E402
from test_record import crafted_program  # noqa: E402
from waiting import wait_until  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
FORMATS = [
    "pprof", "script", "firefox", "speedscope", "folded", "chrome", "callgrind", "otlp", "csv",
    "json"
]
REPLACEMENT = "\ufffd"
EVENTS = ["task-clock", "page-faults"]  # types and numbers of <linux/perf_event.h>: 1/1 and 1/2

# The messages of pprof that are read here, for protoc. From the description of the format.
PROTO = """
syntax = "proto3";
package perftools.profiles;
message Profile {
  repeated ValueType sample_type = 1; repeated Sample sample = 2; repeated Mapping mapping = 3; repeated Location location = 4;
  repeated Function function = 5; repeated string string_table = 6; int64 drop_frames = 7; int64 keep_frames = 8; int64 time_nanos = 9;
  int64 duration_nanos = 10; ValueType period_type = 11; int64 period = 12; repeated int64 comment = 13; int64 default_sample_type = 14;
}
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
message Label { int64 key = 1; int64 str = 2; int64 num = 3; int64 num_unit = 4; }
message Mapping {
  uint64 id = 1; uint64 memory_start = 2; uint64 memory_limit = 3; uint64 file_offset = 4; int64 filename = 5; int64 build_id = 6;
  bool has_functions = 7; bool has_filenames = 8; bool has_line_numbers = 9; bool has_inline_frames = 10;
}
message Location { uint64 id = 1; uint64 mapping_id = 2; uint64 address = 3; repeated Line line = 4; bool is_folded = 5; }
message Line { uint64 function_id = 1; int64 line = 2; }
message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; int64 start_line = 5; }
"""

# Frames are (address, function, object), the innermost first.
Sample = collections.namedtuple("Sample", "event pid tid cpu task time weight frames")


class Recording:
    """A recording as it comes through a pipe: two events with call chains, tasks, mappings and
    losses. Keeps the facts of each."""
    # ip, tid, time, chain, cpu, period, identifier
    FIELDS = 1 | 2 | 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 16

    def __init__(self, folder):
        self.data, self.time, self.folder = [b"PERFILE2" + struct.pack("<Q", 16)], 10**9, folder
        self.samples, self.names, self.maps = [], {}, {}
        for number, config in enumerate((1, 2), 1):
            attr = bytearray(112)
            struct.pack_into("<IIQQQ", attr, 0, 1, 112, config, 1, self.FIELDS)
            struct.pack_into("<Q", attr, 40, 1 << 18)  # sample_id_all
            self.record(64, bytes(attr) + struct.pack("<Q", number), 0)

    def record(self, kind, body, misc=2):
        body += bytes(-len(body) % 8)
        self.data.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)

    def trailer(self, pid):
        self.time += 1000
        return struct.pack("<IIQIIQ", pid, pid, self.time, 0, 0, 1)

    def comm(self, pid, name, misc=2):
        self.names[pid] = name
        self.record(
            3,
            struct.pack("<II", pid, pid) + name + bytes(8 - len(name) % 8) + self.trailer(pid),
            misc)

    def map(self, pid, start, symbols, name):
        """Maps a program with @symbols, 16 bytes each, at @start."""
        path = os.path.join(os.fsencode(self.folder), name)
        with open(path, "wb") as f:
            f.write(crafted_program(symbols))
        padded = path + bytes(8 - len(path) % 8)
        self.record(
            1,
            struct.pack("<IIQQQ", pid, pid, start, 0x1000, 0x1000) + padded + self.trailer(pid))
        self.maps[pid] = (start, symbols, path)

    def frame(self, pid, address, is_caller):
        start, symbols, path = self.maps.get(pid, (0, [], b""))
        at = address - is_caller - start
        if 0 <= at < 16 * len(symbols):
            return address, symbols[at // 16], path
        if 0 <= at < 0x1000:
            # its place in the file, where it is loaded as well
            return address, b"%#x" % (at + 0x1000), path
        return address, b"%#x" % (address - is_caller), b"[unknown]"

    def sample(self, event, pid, chain, weight, cpu=0, tid=None):
        """A sample of event number @event from 0 on; @chain has the innermost address first."""
        self.time += 1000
        tid = tid or pid
        body = struct.pack("<QQIIQIIQ", event + 1, chain[0], pid, tid, self.time, cpu, 0, weight)
        # 512: user frames follow
        body += struct.pack("<Q%dQ" % (len(chain) + 1), len(chain) + 1, 2**64 - 512, *chain)
        self.record(9, body)
        frames = [self.frame(pid, a, i > 0) for i, a in enumerate(chain)]
        self.samples.append(
            Sample(EVENTS[event], pid, tid, cpu, self.names.get(tid, b":%d" % tid), self.time,
                   weight, frames))

    def lose(self, records, samples, throttled):
        self.record(2, struct.pack("<QQ", 1, records) + self.trailer(1))
        self.record(13, struct.pack("<Q", samples) + self.trailer(1))
        for _ in range(throttled):
            self.record(5, struct.pack("<QQQ", self.time, 1, 1) + self.trailer(1))

    def write(self, path):
        with open(path, "wb") as f:
            f.write(b"".join(self.data))

    def sums(self):
        weights, samples = collections.Counter(), collections.Counter()
        for s in self.samples:
            weights[s.event] += s.weight
            samples[s.event] += 1
        return weights, samples


class Profile:
    """A pprof profile, read by the numbers of its fields."""

    def __init__(self, data):
        parts = collections.defaultdict(list)
        for number, value in fields(data):
            parts[number].append(value)
        self.strings = [s.decode() for s in parts[6]]  # raises for what is not UTF-8
        self.types = [(self.strings[t.get(1, 0)], self.strings[t.get(2, 0)])
                      for t in map(dict, map(fields, parts[1]))]
        self.mappings = {m[1]: m for m in map(dict, map(fields, parts[3]))}
        self.first_mapping = dict(fields(parts[3][0])) if parts[3] else {}
        functions = [dict(fields(part)) for part in parts[5]]
        self.functions = {f[1]: self.strings[f.get(2, 0)] for f in functions}
        self.places_of_functions = [(self.functions[f[1]], self.strings[f.get(4, 0)])
                                    for f in functions]
        self.locations = {}
        for part in parts[4]:
            location, lines = {}, []
            for number, value in fields(part):
                if number == 4:
                    lines.append(dict(fields(value)))
                else:
                    location[number] = value
            self.locations[location[1]] = (location, lines)
        self.samples = []
        for part in parts[2]:
            ids, values, labels = [], [], {}
            for number, value in fields(part):
                if number == 1:
                    ids += packed(value)
                elif number == 2:
                    values += packed(value)
                else:
                    label = dict(fields(value))
                    labels[self.strings[label[1]]] = self.strings[
                        label[2]] if 2 in label else label.get(3, 0)
            self.samples.append((ids, values, labels))
        self.comments = [self.strings[i] for i in parts[13]]
        self.default = self.strings[parts[14][0]] if parts[14] else ""
        self.duration = parts[10][0] if parts[10] else 0
        self.counts = {n: len(p) for n, p in parts.items()}


def text(name):
    """Bytes as formats show them: each that is not part of UTF-8 becomes U+FFFD."""
    shown = ""
    while name:
        try:
            return shown + name.decode()
        except UnicodeDecodeError as error:
            shown += name[:error.start].decode() + REPLACEMENT
            name = name[error.start + 1:]
    return shown


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="perfmon-export-")
        r = cls.recording = Recording(cls.folder)
        r.comm(100, b"work")
        r.map(100, 0x400000, [b"spend", b"main", b"helper"], b"work")
        r.comm(200, b"my task")
        r.map(200, 0x7f0000000000, [b"inner", b"outer"], b"libother.so")
        for i in range(200):
            r.sample(i % 5 == 0, 100, [0x400000 + i % 16, 0x400015, 0x400028][:1 + i % 3], 1000 + i,
                     cpu=i % 3)
            r.sample(0, 200, [0x7f0000000004, 0x7f0000000018, 0x7f0000000ff0], 500)
        r.sample(0, 100, [0x400011], 7, tid=101)
        r.sample(1, 300, [0x1234], 3)
        r.lose(5, 4, 2)
        r.write(os.path.join(cls.folder, "perf.data"))
        done = subprocess.run([PFM, "export", "-o", "probe.csv.gz"], cwd=cls.folder,
                              capture_output=True, timeout=60, check=False)
        cls.has_gzip = done.returncode == 0
        # a pfm without zlib refuses names that end in .gz
        cls.pb = "pb.gz" if cls.has_gzip else "pb"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def pfm(self, *args, **more):
        return subprocess.run([PFM, *args], cwd=self.folder, capture_output=True, timeout=60,
                              check=False, **more)

    def export(self, name, *args):
        done = self.pfm("export", "-f", name, *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return gzip.decompress(done.stdout) if done.stdout[:2] == b"\x1f\x8b" else done.stdout

    def frames(self, sample):
        return [(address, text(name), text(path)) for address, name, path in sample.frames]

    # ---- pprof

    def check_profile(self, data, recording):
        """Samples, labels, frames and sums of a pprof profile are those of the recording."""
        p = Profile(data)
        self.assertEqual(p.strings[0], "")
        self.assertEqual(len(set(p.strings)), len(p.strings))
        self.assertEqual(p.types, [("samples", "count"), ("task-clock", "nanoseconds"),
                                   ("page-faults", "count")])
        # ids differ
        self.assertEqual((p.counts[3], p.counts[4], p.counts[5]),
                         (len(p.mappings), len(p.locations), len(p.functions)))
        self.assertNotIn(0, [*p.mappings, *p.locations, *p.functions])
        expected, found = collections.Counter(), collections.Counter()
        for s in recording.samples:
            key = (text(s.task), s.pid, s.tid, s.cpu, tuple(self.frames(s)))
            expected[key + ("samples",)] += 1
            expected[key + (s.event,)] += s.weight
        for ids, values, labels in p.samples:
            frames = []
            for i in ids:
                location, lines = p.locations[i]
                address = location.get(3, 0)
                mapping = p.mappings.get(location.get(2, 0), {})
                shown = address - (i != ids[0]) - mapping.get(2, 0) + mapping.get(4, 0)
                name = p.functions[lines[0][1]] if lines else "%#x" % shown
                frames.append((address, name, p.strings[mapping.get(5, 0)] or "[unknown]"))
                if mapping.get(3):
                    self.assertTrue(mapping[2] <= address <= mapping[3], (address, mapping))
            self.assertEqual(len(values), 3)
            key = (labels["thread"], labels["pid"], labels["tid"], labels["cpu"], tuple(frames))
            for (kind, _), value in zip(p.types, values):
                found[key + (kind,)] += value
        self.assertEqual(+found, expected)
        return p

    def test_pprof_has_every_sample(self):
        p = self.check_profile(self.export("pprof"), self.recording)
        self.assertEqual(p.default, "task-clock")
        self.assertTrue(p.strings[p.first_mapping[5]].endswith("/work"))
        times = [s.time for s in self.recording.samples]
        self.assertEqual(p.duration, max(times) - min(times))
        self.assertIn("lost records: 5; lost samples: 4; throttled: 2 times", p.comments[0])
        self.assertIn("quality: partial", p.comments[0])

    def test_sums_are_those_of_the_report(self):
        report = collections.Counter()
        for line in self.pfm("report", "--json").stdout.splitlines():
            place = json.loads(line)
            report[place["event"]] += place["weight"]
        p = Profile(self.export("pprof"))
        sums = [sum(s[1][i] for s in p.samples) for i in range(3)]
        self.assertEqual({t[0]: s for t, s in zip(p.types[1:], sums[1:])}, dict(report))
        self.assertEqual(sums[0], len(self.recording.samples))

    def test_pprof_has_one_location_for_two_processes(self):
        """Where a file is mapped differs from process to process; what is in no file is of its
        process."""
        r = Recording(self.folder)
        for pid, start in (100, 0x400000), (200, 0x7f0000000000):
            r.comm(pid, b"shared")
            r.map(pid, start, [b"inner", b"outer"], b"shared")
            for _ in range(3):
                r.sample(0, pid, [start + 4, start + 0x18], 10)
            r.sample(0, pid, [0x1234], 10)
        r.write(os.path.join(self.folder, "shared.data"))
        p = Profile(self.export("pprof", "shared.data"))
        self.assertEqual(
            sorted((tuple(ids), labels["pid"], values[0]) for ids, values, labels in p.samples
                   if len(ids) > 1),
            [((a, b), pid, 3) for (a, b) in {tuple(ids) for ids, _, _ in p.samples if len(ids) > 1}
             for pid in (100, 200)])
        self.assertEqual(len(p.mappings), 1)
        mapping, = p.mappings.values()
        self.assertEqual((mapping[2], mapping[3], mapping[4]), (0x400000, 0x401000, 0x1000))
        self.assertEqual(sorted(l.get(3) for l, _ in p.locations.values() if l.get(2)),
                         [0x400004, 0x400018])
        self.assertEqual([(s["frames"][0]["address"], s["frames"][0]["function"])
                          for s in json.loads(self.export("json", "shared.data"))["samples"][::4]],
                         [("0x400004", "inner"), ("0x7f0000000004", "inner")])

    def test_the_first_mapping_of_pprof_is_the_main_program(self):
        """The one that gave the task its name; else one that is not a library, such as dash called
        as sh."""
        for task, expected in ((b"tool", "tool"), (b"sh", "dash"), (b"other", "dash")):
            with self.subTest(task):
                r = Recording(self.folder)
                r.comm(100, task)
                for i, (name, n) in enumerate(
                    ((b"libc.so.6", 9), (b"tool", 1), (b"dash", 3), (b"libm.so.6", 9))):
                    r.map(100, 0x400000 + 0x10000 * i, [b"f" + name], name)
                    for _ in range(n):
                        r.sample(0, 100, [0x400004 + 0x10000 * i], 10)
                r.write(os.path.join(self.folder, "main.data"))
                p = Profile(self.export("pprof", "main.data"))
                self.assertEqual(os.path.basename(p.strings[p.mappings[1][5]]), expected)

    def test_files_that_changed_are_named(self):
        """A file without a build id that is newer than the recording."""
        r = Recording(self.folder)
        r.comm(100, b"changed")
        r.map(100, 0x400000, [b"f"], b"changed")
        r.sample(0, 100, [0x400004], 10)
        path = os.path.join(self.folder, "changed.data")
        r.write(path)
        os.utime(path, (10**9, 10**9))
        for name in ("pprof", "json"):
            self.assertIn(b"/changed has changed since the recording: names may be wrong\n",
                          self.pfm("export", "-f", name, "changed.data").stderr)

    def test_go_reads_pprof(self):
        go = shutil.which("go")
        if not go:
            self.skipTest("go is missing (Debian: golang-go)")
        self.export("pprof", "-o", "go." + self.pb)
        env = dict(os.environ, HOME=self.folder, PPROF_TMPDIR=self.folder, GOFLAGS="",
                   GOTOOLCHAIN="local")
        raw = subprocess.run([go, "tool", "pprof", "-raw", "go." + self.pb], cwd=self.folder,
                             env=env, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(raw.returncode, 0, raw.stderr)
        self.assertRegex(raw.stdout,
                         r"(?m)^samples/count task-clock/nanoseconds\[dflt\] page-faults/count$")
        rows = [
            tuple(map(int, m.groups()))
            for m in re.finditer(r"(?m)^ *(\d+) +(\d+) +(\d+): [\d ]+$", raw.stdout)
        ]
        weights, samples = self.recording.sums()
        self.assertEqual([sum(column) for column in zip(*rows)],
                         [sum(samples.values()), weights["task-clock"], weights["page-faults"]])
        top = subprocess.run([go, "tool", "pprof", "-top", "-unit=ns", "go." + self.pb],
                             cwd=self.folder, env=env, capture_output=True, text=True, timeout=60,
                             check=False)
        inner = sum(s.weight for s in self.recording.samples
                    if s.event == "task-clock" and s.frames[0][1] == b"inner")
        self.assertRegex(top.stdout, r"(?m)^ *%dns .* inner$" % inner)

    def test_protoc_reads_pprof(self):
        protoc = shutil.which("protoc")
        if not protoc:
            self.skipTest("protoc is missing (Debian: protobuf-compiler)")
        with open(os.path.join(self.folder, "profile.proto"), "w", encoding="utf-8") as f:
            f.write(PROTO)
        done = subprocess.run([protoc, "--decode=perftools.profiles.Profile", "profile.proto"],
                              cwd=self.folder, input=self.export("pprof"), capture_output=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotRegex(done.stdout, rb"(?m)^ *\d+: ")  # a field that the messages do not have
        p = Profile(self.export("pprof"))
        self.assertEqual((done.stdout.count(b"\nsample {"), done.stdout.count(b"\nlocation {")),
                         (len(p.samples), len(p.locations)))

    # ---- text

    def read_script(self, data):
        """The samples of perf script's text, by the expressions of stackcollapse-perf.pl. Returns
        the comments as well."""
        samples, comments = [], []
        for line in data.decode().split("\n"):
            head = re.match(r"^(\S.+?)\s+(\d+)/*(\d+)*\s+", line)
            frame = re.match(r"^\s*(\w+)\s*(.+) \((\S*)\)$", line)
            if line.startswith("#"):
                comments.append(line)
            elif frame:
                samples[-1][-1].append((int(frame[1], 16), frame[2], frame[3]))
            elif head:
                rest = re.match(r"\[(\d+)\] +(\d+)\.(\d{6}): +(\d+) (\S+): $", line[head.end():])
                self.assertTrue(rest, line)
                samples.append((rest[5], int(head[2]), int(head[3]), int(rest[1]), head[1],
                                int(rest[2]) * 10**6 + int(rest[3]), int(rest[4]), []))
            else:
                self.assertEqual(line, "")
        return samples, comments

    @staticmethod
    def read_script_for_firefox(data):
        """The samples of perf script's text, by the expressions of the Firefox Profiler."""
        lines, samples = iter(data.decode().split("\n")), []
        for line in lines:
            if not line or line.startswith("#"):
                continue
            start = re.match(r"^(.*)\s+([\d.]+):", line)
            task = re.match(r"^(.*)\s+(?:(\d+)/)?(\d+)\b", start[1])
            # In brackets is a CPU, which it takes for a thread where no process is named.
            samples.append((task[1].strip(), int(task[2] or 0), int(task[3]), start[2], []))
            for frame in lines:
                if not frame.strip():
                    break
                found = re.match(r"^\s*(\w+)\s*(.+) \((\S*)\)", frame)
                samples[-1][-1].append((re.sub(r"\+0x[\da-f]+$", "", found[2]), found[3]))
        return samples

    def test_script_has_every_sample(self):
        data = self.export("script")
        samples, comments = self.read_script(data)
        expected = []
        for s in self.recording.samples:
            frames = [(a - (i > 0), "[unknown]" if name.startswith("0x") else name, path)
                      for i, (a, name, path) in enumerate(self.frames(s))]
            expected.append(
                (s.event, s.pid, s.tid, s.cpu, text(s.task), s.time // 1000, s.weight, frames))
        self.assertEqual(samples, expected)
        # Firefox Profiler takes this for perf's text
        self.assertTrue(data.startswith(b"# ========\n"))
        self.assertIn("lost records: 5; lost samples: 4", comments[-1])
        self.assertEqual(self.read_script_for_firefox(data), [
            (task, pid, tid, "%d.%06d" % divmod(time, 10**6), [frame[1:] for frame in frames])
            for _, pid, tid, _, task, time, _, frames in expected])

    def test_folded_is_that_of_the_report(self):
        for event in EVENTS:
            lines = self.export("folded", "-e", event).decode().splitlines()
            self.assertEqual(
                sorted(lines[:-1]),
                sorted(self.pfm("report", "--folded", "-e", event).stdout.decode().splitlines()))
            self.assertRegex(lines[-1], r"^# quality: partial; lost records: 5; .*\D$")
            expected = collections.Counter()
            for s in self.recording.samples:
                if s.event == event:
                    expected[";".join([text(s.task),
                                       *[f[1] for f in reversed(self.frames(s))]])] += s.weight
            self.assertEqual(
                {m[1]: int(m[2]) for m in (re.match(r"(.*) (\d+)$", line) for line in lines[:-1])},
                expected)

    def test_weights_of_several_events_are_not_added(self):
        done = self.pfm("export", "-f", "folded", "-o", "both.folded")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.decode().splitlines()[1:], ["  task-clock", "  page-faults"])
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("both")], [])
        self.assertEqual(self.pfm("export", "-f", "folded", "-e", "*").returncode, 0)
        done = self.pfm("export", "-f", "folded", "-e", "cycles")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"has no event 'cycles'; recorded events: task-clock, page-faults",
                      done.stderr)

    # ---- tables and JSON

    def test_csv_has_every_sample(self):
        rows = list(csv.DictReader(self.export("csv").decode().splitlines()))
        found = [(r["event"], int(r["pid"]), int(r["tid"]), int(r["cpu"]), r["task"],
                  int(r["time_ns"]), int(r["weight"]), (int(r["address"], 16), r["function"],
                                                        r["object"]), r["stack"]) for r in rows
                 if r["kind"] == "sample"]
        self.assertEqual(found, [(s.event, s.pid, s.tid, s.cpu, text(s.task), s.time, s.weight,
                                  self.frames(s)[0], ";".join(f[1]
                                                              for f in reversed(self.frames(s))))
                                 for s in self.recording.samples])
        self.assertEqual({r["kind"]: int(r["weight"]) for r in rows if r["kind"] != "sample"}, {
            "lost_records": 5, "lost_samples": 4, "throttled": 2, "samples_without_event": 0,
            "damaged": 0
        })

    def check_losses(self, losses):
        self.assertEqual(
            losses, {
                "quality": "partial", "lost_records": 5, "lost_samples": 4, "throttled": 2,
                "samples_without_event": 0, "damaged": False
            })

    def test_json_has_every_sample(self):
        found = json.loads(self.export("json"))
        self.assertEqual(found["events"], [{"name": "task-clock", "unit": "nanoseconds"},
                                           {"name": "page-faults", "unit": "count"}])
        self.assertEqual(
            [(s["event"], s["pid"], s["tid"], s["cpu"], s["task"], s["time"], s["weight"], [(int(
                f["address"], 16), f["function"], f["object"]) for f in s["frames"]])
             for s in found["samples"]],
            [(s.event, s.pid, s.tid, s.cpu, text(s.task), s.time, s.weight, self.frames(s))
             for s in self.recording.samples])
        self.check_losses(found["losses"])

    def test_speedscope_has_every_sample(self):
        found = json.loads(self.export("speedscope"))
        self.assertEqual(found["$schema"], "https://www.speedscope.app/file-format-schema.json")
        names = [f["name"] for f in found["shared"]["frames"]]
        expected = collections.defaultdict(list)
        for s in self.recording.samples:
            expected["%s (%d/%d) %s" % (text(s.task), s.pid, s.tid, s.event)].append(
                (s.weight, [f[1] for f in reversed(self.frames(s))]))
        for p in found["profiles"]:
            self.assertEqual((p["type"], p["startValue"], p["endValue"]),
                             ("sampled", 0, sum(p["weights"])))
            self.assertEqual(p["unit"],
                             "nanoseconds" if p["name"].endswith("task-clock") else "none")
            self.assertEqual(list(zip(p["weights"], [[names[i] for i in s] for s in p["samples"]])),
                             expected.pop(p["name"]))
        self.assertEqual(expected, {})
        self.assertEqual(len(found["profiles"][found["activeProfileIndex"]]["samples"]), 200)
        self.check_losses(found["losses"])

    def import_files(self, *names):
        """Values that the importer of speedscope reads: {file: {profile: {function: (total, self)}}}."""
        roots = [os.environ.get("SPEEDSCOPE", "")]
        if shutil.which("npm") and shutil.which("node"):
            done = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, timeout=60,
                                  check=False)
            roots.append(os.path.join(done.stdout.strip(), "speedscope"))
        programs = [
            p for root in roots
            for p in glob.glob(os.path.join(root, "dist", "release", "speedscope-*.js"))
        ]
        if not programs or not shutil.which("node"):
            self.skipTest(
                "speedscope is missing (npm install -g speedscope, or its folder in SPEEDSCOPE)")
        script = os.path.join(os.environ["PERFMON_TESTS"], "speedscope_import.js")
        done = subprocess.run(["node", script, programs[0], *names], cwd=self.folder,
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        return {
            found["file"]: {
                p["name"]: {f["name"]: (f["total"], f["self"]) for f in p["frames"]}
                for p in found["profiles"]
            } for found in map(json.loads, done.stdout.splitlines())
        }

    def test_speedscope_reads_four_formats(self):
        names = [
            "import.speedscope.json", "import." + self.pb, "import.trace.json", "import.script"
        ]
        for name in names:
            self.export(
                name.split(".")[1] if name.endswith(".script") else
                {"p": "pprof", "s": "speedscope", "t": "chrome"}[name[7]], "-o", name)
        found = self.import_files(*names)

        def sums(samples):
            total, own = collections.Counter(), collections.Counter()
            for s in samples:
                functions = [f[1] for f in self.frames(s)]
                own[functions[0]] += s.weight
                total.update({f: s.weight for f in set(functions)})
            return {f: (total[f], own[f]) for f in total}

        lines, threads = collections.defaultdict(list), collections.defaultdict(set)
        for s in self.recording.samples:
            lines["%s (%d/%d) %s" % (text(s.task), s.pid, s.tid, s.event)].append(s)
            threads[s.tid] |= {f[1] for f in self.frames(s)}
        self.assertEqual(found[names[0]], {name: sums(samples) for name, samples in lines.items()})
        clock = [s for s in self.recording.samples if s.event == "task-clock"]
        # it leaves out locations without a function
        named = {f: v for f, v in sums(clock).items() if not f.startswith("0x")}
        imported, = found[names[1]].values()
        self.assertEqual({f: v for f, v in imported.items() if v[0]}, named)
        self.assertEqual(
            {
                int(re.search(r"tid (\d+)", name)[1]): set(functions)
                for name, functions in found[names[2]].items()
            }, threads)
        first = self.recording.samples[0].event  # it reads the event that comes first
        self.assertEqual(
            {
                f for functions in found[names[3]].values()
                for f in functions if "[unknown]" not in f
            }, {
                f[1] for s in self.recording.samples if s.event == first
                for f in self.frames(s) if not f[1].startswith("0x")
            })

    def test_firefox_has_every_sample(self):
        found = json.loads(self.export("firefox"))
        self.assertEqual((found["meta"]["version"], found["meta"]["presymbolicated"]), (24, True))
        expected = collections.defaultdict(list)
        start = self.recording.samples[0].time
        for s in self.recording.samples:
            expected["%s (%s)" % (text(s.task), s.event), s.pid, s.tid].append(
                (round((s.time - start) / 1e6,
                       6), ["%s (in %s)" % f[1:] for f in reversed(self.frames(s))]))
        for t in found["threads"]:
            frames, stacks = t["frameTable"]["data"], t["stackTable"]["data"]
            samples = []
            for stack, at, _ in t["samples"]["data"]:
                names = []
                while stack is not None:
                    prefix, frame = stacks[stack]
                    self.assertTrue(prefix is None or prefix < stack)  # callers come first
                    names.insert(0, t["stringTable"][frames[frame][0]])
                    stack = prefix
                samples.append((round(at, 6), names))
            name = t["processName"] if t["name"] == "GeckoMain" else t["name"]
            self.assertEqual(samples, expected.pop((name, t["pid"], t["tid"])))
            for table in ("markers", "samples", "frameTable", "stackTable"):
                for row in t[table]["data"]:
                    self.assertEqual(len(row), len(t[table]["schema"]))
            marker = t["markers"]["data"][0]
            self.assertEqual(t["stringTable"][marker[0]], "Quality of the recording")
            self.assertIn("lost records: 5; lost samples: 4", marker[5]["name"])
        self.assertEqual(expected, {})

    def test_firefox_has_counters(self):
        """The weights of each event in intervals of time. The page reads counters of gecko 24 in
        groups of samples, beside GeckoMain."""
        found = json.loads(self.export("firefox"))
        longest = max(found["threads"], key=lambda t: len(t["samples"]["data"]))
        self.assertEqual([t["name"] == "GeckoMain" for t in found["threads"]],
                         [t is longest for t in found["threads"]])
        self.assertEqual({c["name"] for c in found["counters"]},
                         {s.event for s in self.recording.samples})
        start = self.recording.samples[0].time
        for c in found["counters"]:
            group, = c["sample_groups"]
            self.assertEqual(group["samples"]["schema"], {"time": 0, "number": 1, "count": 2})
            rows = group["samples"]["data"]
            self.assertEqual(rows[0], [0, 0, 0])
            step, expected = rows[1][0] * 10**6, collections.Counter()
            for s in self.recording.samples:
                if s.event == c["name"]:
                    expected[(s.time - start) // step + 1] += s.weight
            self.assertEqual({i: row[2] for i, row in enumerate(rows) if row[2]}, expected)
            self.assertEqual([round(row[0] * 10**6) for row in rows],
                             [step * i for i in range(len(rows))])

    def test_profiler_cli_of_firefox_reads_samples_and_counters(self):
        """The importer of the page in a program, which needs a node of version 24."""
        program = shutil.which("profiler-cli")
        if not program:
            self.skipTest("profiler-cli is missing (npm install -g @firefox-devtools/profiler-cli)")
        self.export("firefox", "-o", "cli.json")
        env = dict(os.environ, HOME=self.folder, XDG_RUNTIME_DIR=self.folder, TMPDIR=self.folder)

        def ask(*words):
            return subprocess.run([program, *words], cwd=self.folder, env=env, capture_output=True,
                                  text=True, timeout=60, check=False)

        done = ask("load", "cli.json")
        self.addCleanup(ask, "stop", "--all")
        if done.returncode and "node" in done.stderr.lower():
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = ask("counter", "list").stdout
        for event in {s.event for s in self.recording.samples}:
            self.assertRegex(said, r"c-\d+: %s \(Events\)" % event)
        threads = {(s.tid, s.event) for s in self.recording.samples}
        self.assertRegex(ask("thread", "list").stdout, r"Threads \(%d threads" % len(threads))

    def test_chrome_has_every_function_and_weight(self):
        found = json.loads(self.export("chrome"))
        self.check_losses(found["otherData"])
        start = self.recording.samples[0].time
        stacks, weights, times = collections.defaultdict(
            list), collections.Counter(), collections.Counter()
        names, at_sample = {}, collections.defaultdict(dict)
        for event in found["traceEvents"]:
            self.assertIn(event["ph"], "MBEC")
            self.assertGreaterEqual(event["ts"], 0)
            if event["ph"] == "M":
                names[event["name"], event["tid"]] = event["args"]["name"]
            elif event["ph"] == "C":
                weights[event["pid"], event["name"]] += event["args"]["weight"]
            else:
                tid = event["tid"]
                self.assertGreaterEqual(event["ts"], times[tid])  # in order within a thread
                times[tid] = event["ts"]
                if event["ph"] == "B":
                    stacks[tid].append(event["name"])
                else:
                    self.assertEqual(event["name"], stacks[tid].pop())
                at_sample[tid][round(event["ts"] * 1000) + start] = list(stacks[tid])
        self.assertEqual({tid: s for tid, s in stacks.items() if s}, {})
        expected, last = collections.Counter(), {}
        for s in self.recording.samples:
            expected[s.pid, s.event] += s.weight
            functions = [f[1] for f in reversed(self.frames(s))]
            # slices change at this sample; elsewhere the stack is that of the sample before
            if s.time in at_sample[s.tid]:
                last[s.tid] = at_sample[s.tid][s.time]
            self.assertEqual(last[s.tid], functions)
        self.assertEqual(weights, expected)
        self.assertEqual({t: n for (kind, t), n in names.items() if kind == "thread_name"},
                         {s.tid: text(s.task) for s in self.recording.samples})

    def read_callgrind(self, data):
        """Costs by function, and by caller and callee: lists of a value for each event."""
        own, calls, known = {}, {}, {"ob": {}, "fl": {}, "fn": {}}
        events, summary, function, callee = [], [], None, None
        for line in data.decode().splitlines():
            spec = re.match(r"(c?)(ob|fl|fi|fe|fn)=\((\d+)\)(?: (.+))?$", line)
            if spec:
                table = known[{"fi": "fl", "fe": "fl"}.get(spec[2], spec[2])]
                name = table.setdefault(spec[3], spec[4])
                self.assertTrue(name, line)
                self.assertTrue(spec[4] is None or name == spec[4])  # named once
                if spec[2] == "fn":
                    if spec[1]:
                        callee = name
                    else:
                        function = name
            elif line.startswith("events: "):
                events = line.split()[1:]
            elif line.startswith("summary: "):
                summary = [int(v) for v in line.split()[1:]]
            elif line.startswith("calls="):
                self.assertIsNotNone(callee)
            elif re.match(r"\d", line):
                costs = [int(v) for v in line.split()[1:]]
                self.assertEqual(len(costs), len(events))
                table, key = (calls, (function, callee)) if callee else (own, function)
                table[key] = [a + b for a, b in zip(table.get(key, [0] * len(costs)), costs)]
                callee = None
        return events, summary, own, calls

    def test_callgrind_has_every_call(self):
        data = self.export("callgrind")
        events, summary, own, calls = self.read_callgrind(data)
        self.assertEqual(events, ["Samples", "task_clock", "page_faults"])
        self.assertIn(b"lost records: 5; lost samples: 4", data)
        expected_own, expected_calls = {}, {}
        for s in self.recording.samples:
            costs = [1] + [s.weight if s.event == event else 0 for event in EVENTS]
            functions = [f[1] for f in self.frames(s)]
            for table, keys in ((expected_own, {functions[0]}), (expected_calls,
                                                                 set(zip(functions[1:],
                                                                         functions)))):
                for key in keys:
                    table[key] = [a + b for a, b in zip(table.get(key, [0, 0, 0]), costs)]
        self.assertEqual((own, calls), (expected_own, expected_calls))
        self.assertEqual(summary, [sum(column) for column in zip(*own.values())])
        annotate = shutil.which("callgrind_annotate")
        if not annotate:
            self.skipTest("callgrind_annotate is missing (Debian: valgrind)")
        self.export("callgrind", "-o", "x.callgrind")
        done = subprocess.run([annotate, "--threshold=100", "x.callgrind"], cwd=self.folder,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout,
                         r"(?m)^%s \(100\.0%%\).*PROGRAM TOTALS$" % "{:,}".format(summary[0]))
        self.assertRegex(done.stdout, r"(?m)^ *%s .*:inner \[" % "{:,}".format(own["inner"][0]))

    def test_callgrind_counts_recursion_once(self):
        r = Recording(self.folder)
        r.comm(100, b"deep")
        r.map(100, 0x400000, [b"f", b"g"], b"recursive")
        r.sample(0, 100, [0x400000, 0x400001, 0x400014, 0x400001, 0x400001, 0x400014], 10)
        r.write(os.path.join(self.folder, "recursive.data"))
        _, _, own, calls = self.read_callgrind(self.export("callgrind", "recursive.data"))
        self.assertEqual(own, {"f": [1, 10, 0]})
        self.assertEqual(calls, {("f", "f"): [1, 10, 0], ("g", "f"): [1, 10, 0],
                                 ("f", "g"): [1, 10, 0]})

    def test_otlp_has_every_sample(self):
        """By the numbers of fields in opentelemetry.proto.profiles.v1development."""
        data = dict(fields(self.export("otlp")))
        tables = collections.defaultdict(list)
        for number, value in fields(data[2]):
            tables[number].append(value)
        strings = [s.decode() for s in tables[5]]
        # element 0 is empty
        self.assertEqual([strings[0]] + [tables[n][0] for n in (1, 2, 3, 6, 7)], [""] + [b""] * 5)
        for table in (*tables.values(), strings):
            self.assertEqual(len(set(table)), len(table))  # nothing is there twice
        attributes = [{}]
        for a in map(dict, map(fields, tables[6][1:])):
            value = dict(fields(a[2]))
            attributes.append((strings[a[1]], value[1].decode() if 1 in value else value[3]))
        mappings = [(m.get(1, 0) - m.get(3, 0), strings[m.get(4, 0)])
                    for m in map(dict, map(fields, tables[1]))]
        functions = [strings[dict(fields(f)).get(1, 0)] for f in tables[3]]
        locations = []
        for part in tables[2]:
            location = dict(fields(part))
            line = dict(fields(location[3])) if 3 in location else None
            locations.append(
                (location.get(2,
                              0), functions[line[1]] if line else None, mappings[location.get(1,
                                                                                              0)]))
        stacks = [packed(dict(fields(s)).get(1, b"")) for s in tables[7]]
        found, expected, kinds = collections.Counter(), collections.Counter(), []
        scope = [value for number, value in fields(dict(fields(data[1]))[2]) if number == 2]
        for part in scope:
            profile = dict(fields(part))
            kind = dict(fields(profile[1]))
            kinds.append((strings[kind[1]], strings[kind[2]]))
            self.assertEqual(
                dict(attributes[i] for i in packed(profile[11])), {
                    "pfm.quality": "partial", "pfm.lost_records": 5, "pfm.lost_samples": 4,
                    "pfm.throttled": 2, "pfm.samples_without_event": 0, "pfm.damaged": 0
                })
            for sample in (dict(fields(value)) for number, value in fields(part) if number == 2):
                labels = dict(attributes[i] for i in packed(sample[2]))
                frames = []
                for i, k in enumerate(stacks[sample[1]]):
                    address, name, (bias, path) = locations[k]
                    frames.append((address, name or "%#x" % (address - (i > 0) - bias), path
                                   or "[unknown]"))
                found[kinds[-1][0], labels["thread.name"], labels["process.pid"],
                      labels["thread.id"], labels["cpu.logical_number"],
                      tuple(frames)] += sum(packed(sample[4]))
        self.assertEqual(kinds, [("task-clock", "nanoseconds"), ("page-faults", "count")])
        for s in self.recording.samples:
            expected[s.event, text(s.task), s.pid, s.tid, s.cpu, tuple(self.frames(s))] += s.weight
        self.assertEqual(found, expected)
        if shutil.which("protoc"):
            done = subprocess.run(["protoc", "--decode_raw"], input=self.export("otlp"),
                                  capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    # ---- names of any bytes

    def test_names_of_any_bytes_give_valid_output(self):
        symbols = [
            b'quote"and\\', b"semi;colon", b"caf\xc3\xa9", b"bad\xff\xfebytes", b"blank in name",
            b"comma,name", b"a\x1b[31mb", b"line\nend", b"(paren) (x)", b"<&>"
        ]
        r = Recording(self.folder)
        r.comm(100, b"# a;b\xff\n9")
        r.map(100, 0x400000, symbols, b"a b\xff(c)\n;,\"")
        for i in range(len(symbols)):
            r.sample(0, 100, [0x400000 + 16 * i, 0x400001 + 16 * ((i + 1) % len(symbols))], 10)
        r.sample(1, 100, [0x400000], 1)
        r.write(os.path.join(self.folder, "names.data"))
        weights, _ = r.sums()
        self.check_profile(self.export("pprof", "names.data"), r)
        for name in ("json", "speedscope", "firefox", "chrome"):
            json.loads(self.export(name, "names.data"))
        _, summary, own, _ = self.read_callgrind(self.export("callgrind", "names.data"))
        self.assertEqual((len(own), summary),
                         (len(symbols), [sum(column) for column in zip(*own.values())]))
        for number, value in fields(dict(fields(self.export("otlp", "names.data")))[2]):
            if number == 5:
                value.decode()
        functions = {
            f["function"] for s in json.loads(self.export("json", "names.data"))["samples"]
            for f in s["frames"]
        }
        self.assertEqual(functions, {text(s) for s in symbols})
        rows = list(csv.DictReader(self.export("csv", "names.data").decode().split("\n")))
        self.assertEqual(sum(int(row["weight"]) for row in rows if row["event"] == "task-clock"),
                         weights["task-clock"])
        self.assertTrue(all(None not in row for row in rows))
        folded = self.export("folded", "-e", "task-clock", "names.data").decode().split("\n")
        self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in folded[:-2]),
                         weights["task-clock"])
        self.assertTrue(all(line.count(";") == 2 for line in folded[:-2]), folded)
        samples, _ = self.read_script(self.export("script", "names.data"))
        self.assertEqual((len(samples), {len(s[-1]) for s in samples[:-1]}), (len(r.samples), {2}))
        self.assertNotIn(b"\x1b",
                         self.export("script", "names.data") + self.export("csv", "names.data"))
        self.assertEqual(
            self.pfm("export", "--check", "-o", "names." + self.pb, "names.data").returncode, 0)
        self.assertEqual(
            self.pfm("export", "--check", "-o", "names.folded", "-e", "task-clock",
                     "names.data").returncode, 0)

    def test_a_chain_that_is_cut_off_says_so(self):
        r = Recording(self.folder)
        r.comm(100, b"deep")
        r.map(100, 0x400000, [b"f"], b"deep")
        r.sample(0, 100, [0x400001] * 127, 10)
        r.write(os.path.join(self.folder, "cut.data"))
        self.assertTrue(self.export("folded", "cut.data").startswith(b"deep;[cut off];f;f;"))
        p = Profile(self.export("pprof", "cut.data"))
        (ids, _, _), = p.samples
        self.assertEqual(([p.functions[p.locations[i][1][0][1]] for i in ids]),
                         ["f"] * 127 + ["[cut off]"])

    def test_a_sample_without_its_period_weighs_that_of_the_event(self):
        """perf record -c 1000 with one event: the event has an id, its samples have neither id nor
        period."""
        attr = bytearray(112)
        struct.pack_into("<IIQQQ", attr, 0, 1, 112, 1, 1000, 1 | 2 | 4)  # ip, tid, time
        parts = [struct.pack("<IHH", 64, 0, 8 + 112 + 8) + bytes(attr) + struct.pack("<Q", 77)]
        parts += [struct.pack("<IHHQIIQ", 9, 2, 32, 0x400000, 5, 5, 10 + i) for i in range(3)]
        with open(os.path.join(self.folder, "fixed.data"), "wb") as f:
            f.write(b"PERFILE2" + struct.pack("<Q", 16) + b"".join(parts))
        self.assertEqual(
            [s["weight"] for s in json.loads(self.export("json", "fixed.data"))["samples"]],
            [1000] * 3)
        report, = map(json.loads, self.pfm("report", "--json", "fixed.data").stdout.splitlines())
        self.assertEqual((report["samples"], report["weight"]), (3, 3000))

    def test_a_recording_without_samples(self):
        r = Recording(self.folder)
        r.comm(100, b"idle")
        r.write(os.path.join(self.folder, "empty.data"))
        for name in FORMATS:
            with self.subTest(name):
                data = self.export(name, "empty.data")
                if name in ("json", "speedscope", "firefox", "chrome"):
                    json.loads(data)
                elif name == "pprof":
                    self.assertEqual(Profile(data).samples, [])
                    self.assertIn("quality: exact", Profile(data).comments[0])

    def test_a_recording_that_breaks_off_says_so(self):
        with open(os.path.join(self.folder, "perf.data"), "rb") as f:
            data = f.read()
        with open(os.path.join(self.folder, "torn.data"), "wb") as f:
            f.write(data[:len(data) // 2 + 3])
        done = self.pfm("export", "-f", "json", "torn.data")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["losses"]["damaged"], True)
        self.assertIn(b"recording: damaged", done.stderr)

    # ---- output

    def test_the_name_of_the_output_says_the_format(self):
        for path, magic in {
                "a.pb.gz": b"\x1f\x8b", "a.pb": b"\n", "a.script": b"# ====", "a.csv": b"kind,",
                "a.json": b'{"format"', "a.csv.gz": b"\x1f\x8b", "a.speedscope.json": b'{"$schema"',
                "a.gecko.json": b'{"meta"', "a.trace.json": b'{"displayTimeUnit"',
                "a.callgrind": b"# callgrind format", "a.otlp": b"\n"
        }.items():
            refused = path.endswith(".gz") and not self.has_gzip
            self.assertEqual(self.pfm("export", "-o", path).returncode, 2 if refused else 0, path)
            if refused:
                continue
            with open(os.path.join(self.folder, path), "rb") as f:
                self.assertTrue(f.read().startswith(magic), path)
        if self.has_gzip:
            with gzip.open(os.path.join(self.folder, "a.csv.gz")) as f:
                self.assertEqual(f.read(), self.export("csv"))
        for args in ([], ["-o", "unknown.name"], ["-f", "nothing"],
                     ["-f", "csv", "--check", "-o", "x"], ["-f", "pprof",
                                                           "--check"], ["-f", "csv", "one", "two"]):
            self.assertEqual(self.pfm("export", *args).returncode, 2, args)

    def leftovers(self, name):
        return sorted(n for n in os.listdir(self.folder) if n.startswith(name))

    def test_a_failure_leaves_the_old_file(self):
        for name in FORMATS:
            with self.subTest(name):
                path = os.path.join(self.folder, "old-" + name)
                with open(path, "wb") as f:
                    f.write(b"old")
                args = [PFM, "export", "-f", name, "-o", path, "-e", "task-clock"]
                done = subprocess.run(
                    args, cwd=self.folder, capture_output=True, timeout=60, check=False,
                    restore_signals=False,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(b"File too large", done.stderr)
                with open(path, "rb") as f:
                    self.assertEqual(f.read(), b"old")
                self.assertEqual(self.leftovers("old-" + name), ["old-" + name])
                self.assertEqual(
                    subprocess.run(args, cwd=self.folder, capture_output=True, timeout=60,
                                   check=False).returncode, 0)
                self.assertEqual(self.leftovers("old-" + name), ["old-" + name])
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PFM, "export", "-f", "csv"], cwd=self.folder, stdout=full,
                                  stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual((done.returncode, b"No space left" in done.stderr), (1, True))
        done = self.pfm("export", "-f", "csv", "-o", "nowhere/x.csv")
        self.assertEqual((done.returncode, b"create it first" in done.stderr), (1, True))

    def test_a_signal_leaves_no_file(self):
        with open(os.path.join(self.folder, "perf.data"), "rb") as f:
            data = f.read()
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([PFM, "export", "-f", "csv", "-o", "killed.csv", "-"],
                                  cwd=self.folder, stdin=subprocess.PIPE) as child:
                child.stdin.write(data[:len(data) // 2])
                child.stdin.flush()
                wait_until(lambda: self.leftovers("killed"))
                self.assertEqual(self.leftovers("killed"), ["killed.csv.tmp"])
                child.send_signal(number)
                child.stdin.close()
                self.assertEqual(child.wait(20), -number)
            self.assertEqual(self.leftovers("killed"), [])

    def test_a_signal_while_the_file_is_created_leaves_none(self):
        """strace holds the program in the call that creates the file."""
        if not shutil.which("strace"):
            self.skipTest("strace is missing (Debian package strace)")
        with open(os.path.join(self.folder, "perf.data"), "rb") as f:
            data = f.read()
        with subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-P", "held.csv.tmp", "-e",
                               "trace=openat", "-e", "inject=openat:delay_exit=1000000", PFM,
                               "export", "-f", "csv", "-o", "held.csv", "-"], cwd=self.folder,
                              stdin=subprocess.PIPE, stderr=subprocess.PIPE) as tracer:
            tracer.stdin.write(data[:len(data) // 2])
            tracer.stdin.flush()
            wait_until(lambda: self.leftovers("held") or tracer.poll() is not None)
            if tracer.poll() is not None:
                self.skipTest("strace cannot trace: %s" % tracer.stderr.read().decode())
            with open("/proc/%d/task/%d/children" % (tracer.pid, tracer.pid),
                      encoding="ascii") as f:
                os.kill(int(f.read().split()[0]), signal.SIGTERM)
            tracer.stdin.close()
            tracer.wait(20)
        self.assertEqual(self.leftovers("held"), [])

    def test_links_and_devices_stay(self):
        os.symlink("target.csv", os.path.join(self.folder, "link.csv"))
        with open(os.path.join(self.folder, "target.csv"), "w", encoding="utf-8"):
            pass
        self.export("csv", "-o", "link.csv")
        self.assertTrue(os.path.islink(os.path.join(self.folder, "link.csv")))
        with open(os.path.join(self.folder, "target.csv"), "rb") as f:
            self.assertEqual(f.read(), self.export("csv"))
        # Not /dev/stdout itself: a fault here would replace that of the machine.
        os.symlink("/proc/self/fd/1", os.path.join(self.folder, "stdout"))
        self.assertEqual(self.export("csv", "-o", "stdout"), self.export("csv"))
        self.assertTrue(os.path.islink(os.path.join(self.folder, "stdout")))
        os.mkfifo(os.path.join(self.folder, "fifo"))
        with subprocess.Popen(["cat", "fifo"], cwd=self.folder, stdout=subprocess.PIPE) as cat:
            self.export("csv", "-o", "fifo")
            self.assertEqual(cat.communicate(timeout=20)[0], self.export("csv"))
        with open(os.path.join(self.folder, "perf.data"), "rb") as f:
            self.assertEqual(
                self.pfm("export", "-f", "csv", "-", stdin=f).stdout, self.export("csv"))

    def test_record_exports_by_the_name_of_its_output(self):
        done = self.pfm("record", "-e", "page-faults:u", "-c", "1", "-o", "direct." + self.pb, "--",
                        sys.executable, "-c", "raise SystemExit(3)")
        if done.returncode == 1:
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"samples are in direct." + self.pb.encode(), done.stderr)
        self.assertEqual(self.leftovers("direct"), ["direct." + self.pb])
        with (gzip.open if self.has_gzip else open)(os.path.join(self.folder, "direct." + self.pb),
                                                    "rb") as f:
            p = Profile(f.read())
        self.assertEqual(p.default, "page-faults:u")
        self.assertGreater(sum(s[1][0] for s in p.samples), 100)
        os.mkdir(os.path.join(self.folder, "kept.csv"))  # the export cannot write here
        done = self.pfm("record", "-e", "page-faults:u", "-c", "1", "-o", "kept.csv", "--",
                        sys.executable, "-c", "")
        self.assertEqual((done.returncode, self.leftovers("kept")),
                         (1, ["kept.csv", "kept.csv.perf.data"]), done.stderr)
        self.assertIn(b"the recording is kept in kept.csv.perf.data", done.stderr)
        self.assertEqual(self.pfm("report", "kept.csv.perf.data").returncode, 0)

    # ---- beside perf

    def test_script_is_that_of_perf(self):
        if not shutil.which("perf"):
            self.skipTest("perf is missing (Debian: linux-perf)")
        done = self.pfm("record", "-e", "page-faults:u", "-c", "1", "-g", "-o", "real.data", "--",
                        sys.executable, "-c", "print('done')")
        if done.returncode:
            self.skipTest(done.stderr.decode())
        perf = subprocess.run(
            ["perf", "script", "-i", "real.data", "-F", "comm,pid,tid,cpu,time,period,event"],
            cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(perf.returncode, 0, perf.stderr)
        theirs = [line.split() for line in perf.stdout.splitlines() if line]
        ours = [line.split() for line in self.export("script", "real.data").decode().splitlines()
                if line and not line.startswith(("#", "\t"))]
        self.assertGreater(len(ours), 100)
        self.assertEqual(ours, theirs)


FUNCTIONS = """
static volatile int x;
static inline __attribute__((always_inline)) void
add(int n) { for (int i = 0; i < n; i++) x += i; }
__attribute__((noinline)) static void
hidden_one(int n)
{
    add(n);
}
__attribute__((noinline)) static void
hidden_two(int n)
{
    x++;
    add(n);
}
void
shown(int n) { hidden_one(n); hidden_two(n); }
"""


class Functions(test_symbols.Library):
    """Samples at every instruction of a library's functions."""

    def setUp(self):
        super().setUp()
        self.build(source=FUNCTIONS)
        made = test_symbols.Recording()
        made.attr()
        made.comm(5, b"work")
        made.file(5, self.path.encode())
        self.n_samples, self.lines = 0, {"add": 0}
        for address, size, name in re.findall(
                r"(?m)^(\w+) (\w+) [tT] (hidden_one|hidden_two|shown)$",
                self.tool("nm", "-S", self.path)):
            listing = self.tool("objdump", "-d", "--start-address=0x" + address,
                                "--stop-address=%d" % (int(address, 16) + int(size, 16)), self.path)
            for at in re.findall(r"(?m)^ +(\w+):\t", listing):
                made.sample(
                    5, test_symbols.START + self.offsets[name] + int(at, 16) - int(address, 16))
                self.n_samples += 1
            lines = self.tool("addr2line", "-i", "-e", self.path, "0x" + address).split("\n")[:-1]
            # several: code that is inlined
            self.lines[name] = int(re.search(r":(\d+)", lines[0])[1]) if len(lines) == 1 else 0
        made.write(os.path.join(self.folder, "perf.data"))

    def export(self, name):
        done = subprocess.run([PFM, "export", "-f", name], cwd=self.folder, capture_output=True,
                              timeout=60, check=True)
        if b"libdw is missing" in done.stderr:
            self.skipTest("libdw is missing (Debian package libdw1)")
        return gzip.decompress(done.stdout) if done.stdout[:2] == b"\x1f\x8b" else done.stdout

    def expect_functions(self, found):
        """Each function is there once, with its file, whether it is inlined or not."""
        self.assertEqual(
            sorted((name, os.path.basename(path)) for name, path in found if name != "[cut off]"),
            sorted((name, "lib.c") for name in self.lines))

    def test_a_frame_of_speedscope_is_a_function(self):
        found = json.loads(self.export("speedscope"))
        self.expect_functions([(f["name"], f["file"]) for f in found["shared"]["frames"]])
        self.assertEqual(
            {
                f["name"]: f.get("line", 0)
                for f in found["shared"]["frames"] if f["name"] != "[cut off]"
            }, self.lines)
        profile, = found["profiles"]
        self.assertEqual(len(profile["samples"]), self.n_samples)

    def test_functions_of_pprof_are_there_once(self):
        p = Profile(self.export("pprof"))
        self.expect_functions(p.places_of_functions)
        self.assertEqual(sum(values[0] for _, values, _ in p.samples), self.n_samples)

    def test_functions_of_otlp_are_there_once(self):
        tables = collections.defaultdict(list)
        for number, value in fields(dict(fields(self.export("otlp")))[2]):
            tables[number].append(value)
        strings = [s.decode() for s in tables[5]]
        self.expect_functions([(strings[f.get(1, 0)], strings[f.get(3, 0)])
                               for f in map(dict, map(fields, tables[3][1:]))])


if __name__ == "__main__":
    tap.main()
