#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings of pfm, and crafted ones, in programs that read perf.data: hotspot, perf2bolt and
llvm-profgen count what pfm counts.

    PFM  the command (default: pfm of the path)
"""
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402
import test_chains  # noqa: E402


def read_hotspot_samples(path):
    """Samples in what hotspot's parser writes: (time, tid, addresses, number of guessed frames)."""
    with open(path, "rb") as f:
        data = f.read()
    at, addresses, samples = len(b"QPERFSTREAM\0") + 4, {}, []
    while at < len(data):
        # the size of a message, then its bytes in network order
        size, kind = struct.unpack_from("<IB", data, at)
        if kind == 3:  # a location: number, address
            number, address = struct.unpack_from(">iQ", data, at + 5)
            addresses[number] = address
        elif kind == 13:  # a sample: pid, tid, time, cpu, locations
            _, tid, time, _, n = struct.unpack_from(">IIQII", data, at + 5)
            numbers = struct.unpack_from(">%di" % n, data, at + 29)
            samples.append((time, tid, [addresses[i] for i in numbers], data[at + 29 + 4 * n]))
        at += 4 + size
    return samples


@unittest.skipUnless(os.uname().machine in ("x86_64", "aarch64"),
                     "stacks are unwound on x86-64 and arm64 only")
class Hotspot(test_chains.Folder):
    def record(self):
        cc = shutil.which("gcc") or shutil.which("cc")
        if not cc:
            self.skipTest("no C compiler (Debian: gcc)")
        for name, text, args in (("program", test_chains.PROGRAM, ["-lpthread", "-ldl"]),
                                 ("lib.so", test_chains.LIBRARY, ["-shared", "-fPIC"])):
            with open(self.path(name + ".c"), "w", encoding="utf-8") as f:
                f.write(text)
            done = self.run_in_folder(cc, "-O1", "-fomit-frame-pointer",
                                      "-fno-optimize-sibling-calls", "-o", name, name + ".c", *args)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_in_folder(test_chains.PFM, "record", "--call-graph", "dwarf", "-e",
                                  "cpu-clock:u:freq=1000", "--", "./program", "./lib.so")
        if done.returncode:
            self.skipTest(done.stderr)

    def frames_without_inlined(self):
        """The addresses of each sample, the innermost first."""
        for sample in re.sub("^#.*\n", "", self.pfm("export", "-f", "script"),
                             flags=re.M).strip().split("\n\n"):
            frames = [
                re.match(r"\s+([0-9a-f]+) .* \(([^)]*)\)$", line) for line in sample.split("\n")[1:]
            ]
            yield [int(m[1], 16) for m in frames if m[2] != "inlined"]

    def test_copied_stacks_are_unwound_the_same(self):
        """Its parser unwinds by elfutils. Where it guesses frames, pfm says that the stack is cut
        off."""
        parser = shutil.which(
            "hotspot-perfparser", path=os.pathsep.join([
                os.environ["PATH"], *glob.glob("/usr/lib/*/libexec"), "/usr/libexec",
                "/usr/lib/libexec"
            ]))
        if not parser:
            self.skipTest("hotspot-perfparser is missing (Debian: hotspot)")
        self.record()
        done = subprocess.run([parser, "--input", "perf.data", "--output", "hotspot.out"],
                              cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        theirs = sorted(read_hotspot_samples(self.path("hotspot.out")))
        samples = json.loads(self.pfm("export", "-f", "json"))["samples"]
        ours = sorted((s["time"], s["tid"], frames)
                      for s, frames in zip(samples, self.frames_without_inlined()))
        self.assertGreater(len(ours), 20)
        self.assertEqual([s[:2] for s in ours], [s[:2] for s in theirs])
        wrong = []
        for (time, _, frames), (_, _, addresses, n_guessed) in zip(ours, theirs):
            # Of the frame below a signal handler it has the address itself, pfm the one before it.
            same = len(frames) == len(addresses) and all(b - a in (0, 1)
                                                         for a, b in zip(frames, addresses))
            if not same and not (frames[-1] == 0 and n_guessed):
                wrong.append(
                    (time, [hex(a) for a in frames], [hex(a) for a in addresses], n_guessed))
        self.assertEqual(wrong[:3], [], "%d of %d" % (len(wrong), len(ours)))


@unittest.skipIf(sys.byteorder == "big", "programs of this order are not crafted")
@unittest.skipUnless(shutil.which("perf"), "perf is missing (Debian: linux-perf)")
class ReadersByPerfScript(test_chains.Folder):
    """perf2bolt and llvm-profgen read recordings by perf script."""
    PROGRAM = test_chains.Branches.PROGRAM

    def tool(self, name, package):
        found = test_chains.tool(name)
        if not found:
            self.skipTest("%s is missing (Debian: %s)" % (name, package))
        return found

    def test_llvm_profgen_reads_the_recording_and_its_export_alike(self):
        profgen = self.tool("llvm-profgen", "llvm")
        test_chains.Branches.loop_recording(self)
        self.pfm("export", "-o", "b.brstack")
        profiles = []
        for source in ("--perfscript=b.brstack", "--perfdata=perf.data"):
            done = self.run_in_folder(profgen, "--binary=program", source, "--format=text",
                                      "--output=o.txt")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(self.path("o.txt"), encoding="utf-8") as f:
                profiles.append(f.read())
        self.assertRegex(profiles[0], r"^loop:\d+:")
        self.assertEqual(profiles[0], profiles[1])

    def test_perf2bolt_counts_the_samples_of_pfm(self):
        perf2bolt = self.tool("perf2bolt", "bolt-15")
        test_chains.Branches.loop_recording(self)
        self.pfm("record", "-e", "task-clock:u:period=100000", "-o", "own.data", "--", "./program",
                 "busy")
        done = self.run_in_folder(perf2bolt, "--aggregate-only", "--nl", "-p", "own.data", "-o",
                                  "own.fdata", "--ignore-build-id", "program")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        rows = [json.loads(line) for line in self.pfm("report", "--json", "own.data").splitlines()]
        loop = sum(row["samples"] for row in rows if row["function"] == "loop")
        self.assertGreater(loop, 10)
        with open(self.path("own.fdata"), encoding="utf-8") as f:
            self.assertEqual(
                sum(int(n) for n in re.findall(r"(?m)^1 loop [0-9a-f]+ (\d+)$", f.read())), loop)


if __name__ == "__main__":
    tap.main()
