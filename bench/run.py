#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures this library beside Debian's libpfm4 in one run: a table of ratios against goals,
bench.json and bench.svg.

Both sides are driven by the same program (bench.h), built once per library. Instruction counts
(callgrind) and counts of system calls, CPUIDs and allocations repeat exactly and are the gates.
Times are medians of interleaved rounds, checked with 20 % slack. Where both sides know a processor
they are given the same events, and only those whose register values agree; that is checked before
any time is taken. A line that has no peer on this machine is checked against a figure written
beside its goal.
"""
import argparse
import glob
import json
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 3
SLACK = 1.2
# Our and libpfm4's names of the processor.
PROCESSORS = {
    "skl": ("skl", "skl"), "icx": ("icx", "icx"), "spr": ("spr", "spr"),
    "zen4": ("amdzen4", "amd64_fam19h_zen4")
}
COREDUO, MONTECITO = 34, 4  # numbers of libpfm 3
# libpfm 3.10 and libpfm4's own build cannot be run here: figures measured elsewhere, ns and s.
LIBPFM3 = {"dispatch1": 196, "dispatch12": 475, "find_coreduo": 336, "find_montecito": 1512}
PEER_BUILD_SECONDS = 6.7


class Table:
    """The lines of the result: measure, peer, ours, ratio, goal, met or not."""

    def __init__(self):
        self.lines = []

    def add(self, number, name, peer, ours, goal, kind="ratio", timed=False, note=""):
        """kind "ratio": ours / peer at most goal; "value": ours at most goal; "least": ours at
        least goal; "told": no goal."""
        ratio = ours / peer if peer and ours is not None else None
        figure = ratio if kind == "ratio" else ours
        slack = SLACK if timed else 1
        met = None
        if figure is not None and kind != "told":
            met = figure * slack >= goal if kind == "least" else figure <= goal * slack
        self.lines.append(
            dict(number=number, measure=name, peer=peer, ours=ours, ratio=ratio, goal=goal,
                 kind=kind, timed=timed, met=met, note=note))

    @staticmethod
    def number(v):
        return "-" if v is None else f"{v:,.0f}" if abs(v) >= 100 else f"{v:.3g}"

    @staticmethod
    def fraction(v):
        return "-" if v is None else f"1/{1 / v:.1f}" if 0 < v < 1 else f"{v:.2f}"

    def goal(self, x):
        if x["kind"] == "told":
            return "-"
        sign = ">=" if x["kind"] == "least" else "<="
        return sign + (f"1/{1 / x['goal']:.0f}"
                       if x["kind"] == "ratio" and x["goal"] < 1 else self.number(x["goal"]))

    def show(self, out):
        out.write(
            f'{"#":>3} {"measure":58} {"peer":>12} {"ours":>12} {"ratio":>9} {"goal":>9}  met\n')
        for x in self.lines:
            met = {True: "yes", False: "NO", None: "-"}[x["met"]]
            out.write(
                f'{x["number"]:>3} {x["measure"]:58} {self.number(x["peer"]):>12} '
                f'{self.number(x["ours"]):>12} {self.fraction(x["ratio"]):>9} {self.goal(x):>9} '
                f' {met}{"  " + x["note"] if x["note"] else ""}\n'
            )

    def markdown(self, path):
        with open(path, "w", encoding="utf-8") as f:
            f.write(
                "| # | measure | libpfm4 | ours | ratio | goal | met"
                " |\n|---|---|---|---|---|---|---|\n"
            )
            for x in self.lines:
                met = {True: "yes", False: "**no**", None: ""}[x["met"]]
                f.write(
                    f'| {x["number"]} |'
                    f' {x["measure"]}{" (" + x["note"] + ")" if x["note"] else ""} |'
                    f' {self.number(x["peer"])} | {self.number(x["ours"])} |'
                    f' {self.fraction(x["ratio"])} | {self.goal(x)} | {met} |\n'
                )

    def svg(self, path):
        """One bar per ratio on a logarithmic scale: how many times less than the peer."""
        rows = [x for x in self.lines if x["ratio"] and x["ratio"] > 0 and x["kind"] == "ratio"]
        if not rows:
            return
        height, left, width, head = 22, 450, 1050, 52
        top = max(max(math.log10(1 / x["ratio"]), math.log10(1 / x["goal"]), 1) for x in rows)
        scale = (width - left - 90) / top
        bottom = head + len(rows) * height
        body = []
        for power in range(0, int(top) + 1):
            at = left + scale * power
            body.append(
                f'<line x1="{at:.0f}" x2="{at:.0f}" y1="{head - 6}" y2="{bottom}"'
                f' stroke="#ddd"/><text x="{at:.0f}" y="{head - 10}" text-anchor="middle"'
                f' fill="#666">{10 ** power}x</text>'
            )
        for i, x in enumerate(rows):
            y, length = head + i * height, max(1, scale * math.log10(1 / x["ratio"]))
            colour = "#2a7f4f" if x["met"] else "#b3422e"
            at = left + scale * math.log10(1 / x["goal"])
            body.append(
                f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{x["number"]} '
                f' {x["measure"]}</text><rect x="{left}" y="{y + 4}" width="{length:.0f}"'
                f' height="{height - 8}" fill="{colour}"/><line x1="{at:.0f}" x2="{at:.0f}"'
                f' y1="{y + 1}" y2="{y + height - 1}" stroke="#111" stroke-width="2"/><text'
                f' x="{max(left + length, at) + 6:.0f}" y="{y + 15}">{1 / x["ratio"]:.1f}x</text>'
            )
        with open(path, "w", encoding="utf-8") as f:
            f.write(
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 14}"'
                ' font-family="sans-serif" font-size="12"><rect width="100%" height="100%"'
                ' fill="white"/><text x="10" y="20" font-size="15" font-weight="bold">How many'
                ' times less than libpfm4. Black mark: the goal; green: met.</text>'
                + "".join(body)
                + "</svg>\n"
            )


def run(args, env=None):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True,
                          env={**os.environ, **(env or {})}, check=False)
    if done.returncode:
        raise RuntimeError(f"{args}: {done.stderr.strip()[-500:]}")
    return done.stdout


def figures(args, env=None):
    return json.loads(run(args, env).strip().splitlines()[-1])


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(x + "\n" for x in lines)
    return path


def read_lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


class Sides:
    """Both programs; everything is given to both."""

    def __init__(self, o):
        self.ours, self.ours3, self.peer = o.ours, o.ours3, o.peer
        self.more, self.process, self.o = o.more, o.process, o
        # what is inside the library, and nothing that this machine has imported
        self.env = {"PERFMON_EVENTS": ""}

    def both(self, *args, rounds=ROUNDS, peer_args=None, envs=({}, {})):
        """Interleaved rounds; the medians of every figure: peer, ours."""
        got = ([], [])
        for _ in range(rounds):
            got[0].append(figures([self.peer, *(peer_args or args)], envs[0]))
            got[1].append(figures([self.ours, *args], {**self.env, **envs[1]}))
        return [{k: statistics.median(x[k] for x in side) for k in side[0]} for side in got]

    def instructions(self, program, function, *args, env=None):
        """Instructions inside @function, callees included."""
        with tempfile.NamedTemporaryFile() as out:
            done = subprocess.run(
                [
                    "valgrind", "--tool=callgrind", "--trace-children=yes",
                    f"--toggle-collect={function}", f"--callgrind-out-file={out.name}.%p", program,
                    *args
                ], capture_output=True, text=True,
                env={**os.environ, **(self.env if program == self.ours else {}),
                     **(env or {})}, check=False)
        for left in glob.glob(out.name + ".*"):
            os.remove(left)
        found = re.findall(r"Collected : (\d+)", done.stderr)
        if not found or not int(found[-1]):
            raise RuntimeError(f"callgrind counted no instruction inside {function}(): " +
                               done.stderr[-500:])
        return int(found[-1])

    def system_calls(self, program, *args, env=None):
        done = subprocess.run(
            ["strace", "-f", "-qq", program, *args], capture_output=True, text=True,
            env={**os.environ, **(self.env if program == self.ours else {}),
                 **(env or {})}, check=False)
        return len([x for x in done.stderr.splitlines() if "(" in x])


# ---- the same events on both sides ---------------------------------------------------------------

def registers(program, path, env):
    """Text -> values of its registers, for those that were encoded."""
    out = {}
    for line in run([program, "regs", path], env).splitlines():
        f = line.split("\t")
        if int(f[1]) >= 0 and int(f[2]) >= 0 and len(f) > 3:
            out[f[0]] = tuple(x for x in f[3:] if not x.startswith("perf"))
    return out


def strings(sides, pmu):
    """The peer's events, one for each unit mask."""
    return [f"{pmu}::{line.split(chr(9))[1]}" for line in run([sides.o.lister, pmu]).splitlines()]


def same_events(sides, folder, name, our_name, peer_name):
    """Two files of as many events, line by line with equal registers: the same text where both
    sides know it, else what each side calls the register value."""
    texts = strings(sides, peer_name)
    every = write_lines(os.path.join(folder, name + ".all"), texts)
    theirs = registers(sides.peer, every, {})
    mine = registers(sides.ours, every, sides.env)
    both = [t for t in texts if t in theirs and t in mine]
    pairs = [(t, t) for t in both if theirs[t][0] == mine[t][0]]
    differ = len(both) - len(pairs)
    if len(pairs) < 20:
        listed = dict(
            reversed([
                x.split("\t")[1::-1]
                for x in run([sides.more, "list", our_name], sides.env).splitlines()
            ]))
        pairs = [(t, listed[v[0]]) for t, v in theirs.items() if v[0] in listed]
    print(
        (
            f"{name}: {len(texts)} strings of the peer, {len(pairs)} with the same registers,"
            f" {differ} with others"
        ),
        file=sys.stderr,
    )
    peer = write_lines(os.path.join(folder, name + ".peer"), [a for a, _ in pairs])
    ours = write_lines(os.path.join(folder, name + ".ours"), [b for _, b in pairs])
    return peer, ours, len(pairs)


def misspelt(path, prefix=True):
    """Write the texts of @path with unknown event names; without "pmu::" if not @prefix."""
    lines = []
    for line in read_lines(path):
        pmu, _, rest = line.partition("::")
        head = re.split("[:.]", rest)[0]
        lines.append((pmu + "::" if prefix else "") + head[:-1] + "~" + rest[len(head):])
    return write_lines(path + (".bad" if prefix else ".bare"), lines)


# ---- measures ------------------------------------------------------------------------------------

def library_of(program, needle):
    for line in run(["ldd", program]).splitlines():
        if needle in line:
            return os.path.realpath(line.split("=>")[1].split()[0])
    raise RuntimeError(f"{program} is not linked to {needle}")


def relocations(path):
    return sum(
        int(n) for n in re.findall(r"contains (\d+) entr", run(["readelf", "-r", "-W", path])))


def stripped_size(path):
    with tempfile.NamedTemporaryFile() as out:
        run(["strip", "-o", out.name, path])
        return os.path.getsize(out.name) / 1024


def without_path(program, folder):
    """Copy @program with an empty library path, which the dynamic linker ignores, as if it were
    installed. With the build folder's path the linker looks for every library in some thirty
    folders that do not exist."""
    with open(program, "rb") as f:
        binary = f.read()
    for path in re.findall(r"R(?:UN)?PATH\).*\[(.+)\]", run(["readelf", "-d", "-W", program])):
        old = path.encode() + b"\0"
        binary = binary.replace(old, bytes(len(old)))
    out = os.path.join(folder, os.path.basename(program))
    with open(out, "wb") as f:
        f.write(binary)
    os.chmod(out, 0o755)
    return out


def measure_start(t, sides):
    libs = library_of(sides.peer, "libpfm"), library_of(sides.ours, "libperfmon")
    with tempfile.TemporaryDirectory() as folder:
        # A copy, as an installed one is: the cache mostly keeps a file that a linker wrote here and
        # there in smaller pieces.
        lib = shutil.copy(libs[1], os.path.join(folder, "libperfmon.so.1"))
        os.sync()  # pages that are not on the disk yet count as dirty in a process that reads them
        programs = sides.peer, without_path(sides.ours, folder)
        measure_libraries(t, sides, programs, (libs[0], lib),
                          {"PERFMON_EVENTS": "", "LD_LIBRARY_PATH": folder})


def measure_libraries(t, sides, programs, libs, plain):
    init = sides.peer, sides.ours3    # programs that call pfm_initialize()
    events = "perf::PERF_COUNT_SW_PAGE_FAULTS", "coreduo::Instr_Ret"
    t.add(1, "dynamic relocations", relocations(libs[0]), relocations(libs[1]), 1 / 200)
    dirty = [
        figures([p, "memory", n], plain)["dirty"]
        for p, n in zip(programs, ("libpfm", "libperfmon"))
    ]
    t.add(2, "private dirty memory of the library, initialised, KiB", *dirty, 1 / 40)
    runs = [{"bare": [], "faults": [], "first": [], "init": [], "init3": [], "open": []}
            for _ in programs]
    for _ in range(15):
        for r, p, p3, event, lib in zip(runs, programs, init, events, libs):
            got = figures([p, "first", event], plain)
            for k in ("faults", "first", "init"):
                r[k].append(got[k])
            r["bare"].append(figures([p, "bare"], plain)["faults"])
            r["init3"].append(figures([p3, "init"], plain)["init"])
            r["open"].append(figures([sides.process, "open", lib])["us"])
    a, b = ({k: statistics.median(v) for k, v in r.items()} for r in runs)
    bare = min(a["bare"], b["bare"])
    t.add(3, "minor faults to one encoding, above a program that calls nothing", a["faults"] - bare,
          max(b["faults"] - bare, 0), 1 / 8)
    t.add(4, "dlopen, us", a["open"], b["open"], 1 / 8, timed=True)
    # The environment is read: it must be the same in every run for the count to be.
    t.add(
        5, "pfm_initialize, instructions",
        *(sides.instructions("/usr/bin/env", "start_timer", "-i", "PATH=/bin:/usr/bin", "HOME=/",
                             "LANG=C", p, "init")
          for p in init), 1 / 30, note="in an environment of three variables")
    cpuids = [figures([sides.process, "cpuid", p, "init"],
            plain)["cpuids"] - figures([sides.process, "cpuid", p, "bare"], plain)["cpuids"]
              for p in init]
    t.add(6, "pfm_initialize, CPUIDs", *cpuids, 2, kind="value")
    # Both write one line and end.
    calls = [
        max(0,
            sides.system_calls(p, "init", env=plain) - sides.system_calls(p, "bare", env=plain))
        for p in init
    ]
    t.add(6, "pfm_initialize, system calls", *calls, 2, kind="value")
    mallocs = [figures([p, "init"], plain)["mallocs"] for p in init]
    t.add(6, "pfm_initialize, mallocs", *mallocs, 0, kind="value")
    t.add(7, "pfm_initialize, us", a["init3"] / 1000, b["init3"] / 1000, 1 / 10, timed=True)
    wall = figures([
        sides.process, "spawn", 101, sides.process, "bare", "--", programs[0], "first", events[0],
        "--", programs[1], "first", events[1]
    ], plain)["us"]
    t.add(8, "whole process to its first encoding, above an empty one, us", wall[1] - wall[0],
          max(wall[2] - wall[0], 0.1), 1 / 8, timed=True)
    filler = {
        f"BENCH_FILLER_{i}": "/usr/local/share/of/a/usual/length"
        for i in range(max(0, 40 - len({**os.environ, **plain})))
    }
    wall = figures(
        [sides.process, "spawn", 201, sides.process, "bare", "--", programs[1], "first", events[1]],
        {**plain, **filler})["us"]
    t.add(
        31,
        "whole process to its first encoding, above an empty one, environment of 40 variables, us",
        None, max(wall[1] - wall[0], 0.1), 100, kind="value", timed=True)
    t.add(9, "first encoding in a fresh process, us", a["first"] / 1000, b["first"] / 1000, 1 / 2,
          timed=True)
    t.add(22, "stripped shared library, KiB", stripped_size(libs[0]), stripped_size(libs[1]), 1 / 2,
          note="the peer's holds the tables of 1 architecture, ours every processor of all")


def measure_events(t, sides, name, files, n):
    peer, ours, _ = files
    counts = [sides.instructions(sides.peer, "encode_all_events", "count", "raw", peer) / n,
              sides.instructions(sides.ours, "encode_all_events", "count", "raw", ours) / n]
    t.add(10, f"encode, mean instructions: {name}", *counts, 1 / 15)
    t.add(10, f"encode, mean instructions, absolute: {name}", None, counts[1], 2400, kind="value")
    for modifier, limit in ((":u", 2600), (":c=2", 3000)):
        path = write_lines(ours + ".modified", [x + modifier for x in read_lines(ours)])
        t.add(28, f"encode with {modifier}, mean instructions: {name}", None,
              sides.instructions(sides.ours, "encode_all_events", "count", "raw", path) / n, limit,
              kind="value")
    for mode, number, goal in (("raw", 11, 1 / 12), ("perf", 11, 1 / 12), ("named", 14, 1 / 6),
                               ("find", 15, 1 / 15)):
        a, b = sides.both("encode", mode, ours, peer_args=("encode", mode, peer))
        what = {
            "raw": "encode to registers", "perf": "encode for perf_event_open",
            "named": "encode, full name asked for", "find": "find by name"
        }[mode]
        t.add(number, f"{what}, mixed, ns: {name}", a["mixed"], b["mixed"], goal, timed=True)
        if mode == "raw":
            t.add(12, f"slowest event, hot, ns: {name}", a["max"], b["max"], 1 / 15, timed=True)
            t.add(12, f"slowest event over the median one: {name}", a["max"] / a["p50"],
                  b["max"] / b["p50"], 4, kind="value", timed=True)
        if mode in ("raw", "find"):
            t.add(13, f"mallocs per {mode}: {name}", a["mallocs"], b["mallocs"], 0, kind="value")


def floor_ns(o, name):
    """Nanoseconds that the ideal encoder of floor.c takes for the peer's strings of a processor,
    mixed and hot: the lowest cost that a lookup of names can have."""
    words = run([o.floor, name]).splitlines()[-1].replace("|", " ").split()
    return float(words[3]), float(words[-1])


def measure_floor(t, sides, name, files):
    """Compare encoding, without and with the full name, to the floor. Rounds alternate."""
    got = {"floor": [], "raw": [], "named": []}
    for _ in range(ROUNDS):
        got["floor"].append(floor_ns(sides.o, PROCESSORS[name][1]))
        for mode in ("raw", "named"):
            found = figures([sides.ours, "encode", mode, files[1]], sides.env)
            got[mode].append((found["mixed"], found["hot"]))
    (floor, raw,
     named), hot = ([statistics.median(x[i] for x in got[k]) for k in ("floor", "raw", "named")]
                    for i in (0, 1))
    t.add("f", f"floor (floor.c), mixed, ns: {name}", None, floor, None, kind="told")
    t.add(27, f"encode over the floor, mixed: {name}", None, raw / floor, 3, kind="value",
          timed=True)
    t.add(27, f"encode over the floor, hot: {name}", None, hot[1] / hot[0], 3, kind="value",
          timed=True)
    t.add(29, f"encode with the full name over the floor, mixed: {name}", None, named / floor, 5,
          kind="value", timed=True)


def perf_spellings(sides, path, folder, name):
    """Two files of as many events: names without "pmu::", and what perf calls the same numbers."""
    texts = [[], []]
    for line in run([sides.ours, "regs", path], sides.env).splitlines():
        f = line.split("\t")
        config, config1 = (int(x, 16) for x in f[-1].split()[1:3])
        if config < 0x10000 and not config1:
            texts[0].append(f[0].partition("::")[2])
            texts[1].append(f"cpu/event={config & 0xff:#x},umask={config >> 8:#x}/")
    return [
        write_lines(os.path.join(folder, f"{name}.{what}"), x)
        for what, x in zip(("names", "perf"), texts)
    ]


def measure_perf_spelling(t, sides, folder, name, files):
    wanted = {**sides.env, "PERFMON_PMU": PROCESSORS[name][0]}
    got = [[figures([sides.ours, "encode", "raw", p], wanted)["mixed"] for _ in range(ROUNDS)]
           for p in perf_spellings(sides, files[1], folder, name)]
    names, perf = (statistics.median(x) for x in got)
    t.add(30, f"perf's numbers over the same event's name, mixed: {name}", None, perf / names, 2,
          kind="value", timed=True)


def measure_unknown(t, sides, name, files):
    peer, ours, _ = files
    a, b = sides.both("encode", "raw", misspelt(ours), peer_args=("encode", "raw", misspelt(peer)))
    t.add(16, f"unknown name, prefixed, every processor listed, ns: {name}", a["mixed"], b["mixed"],
          1 / 40, timed=True)
    t.add(13, f"mallocs per unknown name: {name}", a["mallocs"], b["mallocs"], 0, kind="value")
    a, b = sides.both(
        "encode", "raw", misspelt(ours, False), peer_args=("encode", "raw", misspelt(peer, False)),
        envs=({"LIBPFM_FORCE_PMU": PROCESSORS[name][1]}, {"PERFMON_PMU": PROCESSORS[name][0]}))
    t.add(17, f"unknown name, one processor, ns: {name}", a["mixed"], b["mixed"], 1 / 25,
          timed=True)


def generated(o, folder, name, n, pmu=None):
    """An image with one processor of n events, all names equally long."""
    pmu = pmu or name
    lines = [
        f'pmu {pmu} "Generated"', "encoder x86", "counter 0..3 width=48",
        "field code at=config:0-7", "field umask at=config:8-15"
    ]
    lines += [
        f'event EVENT_{i:06} code={i & 0xff:#x} umask={i >> 8 & 0xff:#x} "Number {i}."'
        for i in range(n)
    ]
    source = write_lines(os.path.join(folder, name + ".pmu"), lines)
    image = os.path.join(folder, name + ".pmdb")
    run([sys.executable, o.pmuc, "--image", image, source])
    return image


def timed_find(sides, image, texts, folder, mode="raw"):
    path = write_lines(os.path.join(folder, "texts"), texts)
    return statistics.median(
        figures([sides.ours, "encode", mode, path], {"PERFMON_EVENTS": image})["mixed"]
        for _ in range(ROUNDS))


def measure_position(t, sides, folder):
    image = generated(sides.o, folder, "gen1000", 1000)
    first, last = (timed_find(sides, image, [f"gen1000::EVENT_{k:06}" for k in r], folder)
                   for r in (range(20), range(980, 1000)))
    t.add(18, "last events of a table of 1000 over the first ones", None, last / first, 1.3,
          kind="value", timed=True)


def measure_growth(t, sides, folder):
    """How cost grows; no goals of their own, beyond that it hardly does."""
    for n in (10, 1000, 30000):
        image = generated(sides.o, folder, f"g{n}", n)
        step = max(1, n // 1000)
        ns = timed_find(sides, image, [f"g{n}::EVENT_{k:06}" for k in range(0, n, step)], folder)
        t.add("g", f"encode, one table of {n} events, ns", None, ns, None, kind="told")
    for n in (1, 10, 100):
        many = os.path.join(folder, f"many{n}")
        os.mkdir(many)
        for i in range(n):
            generated(sides.o, many, f"p{i:03}", 40)
        ns = timed_find(sides, many,
                        [f"p{i:03}::EVENT_{k:06}" for i in range(n) for k in range(40)], folder)
        t.add("g", f"encode, {n} processors of 40 events loaded, ns", None, ns, None, kind="told")


def measure_sets(t, sides, folder):
    """Sets of growing size on Montecito, and hostile ones: many events that crowd onto few
    counters."""
    path = os.path.join(folder, "hostile.pmu")
    lines = [
        'pmu hostile "Generated"', "encoder x86", "counter 0..31 width=48",
        "field code at=config:0-7"
    ]
    lines += [f'event ANY_{i} code={i:#x} on=0..31 "Anywhere."' for i in range(32)]
    lines += [
        f'event LAST_{i} code={i + 64:#x} on={i}..{min(i + 1, 31)} "One of two neighbours."'
        for i in range(32)
    ]
    lines += [f'event LOW_{i} code={i + 128:#x} on=0..{30} "All but the last."' for i in range(32)]
    image = os.path.join(folder, "hostile.pmdb")
    run([sys.executable, sides.o.pmuc, "--image", image, write_lines(path, lines)])
    texts = [" ".join(f"hostile::ANY_{i}" for i in range(n)) for n in range(1, 13)]
    texts += [
        " ".join(f"hostile::LAST_{i}" for i in range(31, -1, -1)),
        " ".join(f"hostile::LOW_{i}" for i in range(32)),
        " ".join([f"hostile::LAST_{i}"
                  for i in range(16)] + [f"hostile::LOW_{i}" for i in range(17)])
    ]
    names = [f"set of {n}, easy" for n in range(1, 13)] + [
        "set of 32 that fits in one way", "set of 32 that cannot be placed, explained",
        "set of 33 over 31 counters, explained"
    ]
    got = [
        json.loads(x)
        for x in run([sides.more, "sets",
                      write_lines(os.path.join(folder, "sets"), texts)],
                     {"PERFMON_EVENTS": image}).splitlines()
    ]
    for i, (name, x) in enumerate(zip(names, got)):
        if i in (0, 3, 11) or i > 11:
            t.add("g", f"{name}, ns", None, x["ns"], None, kind="told")
    worst = max(x["ns"] for x in got[12:])
    t.add("g", "worst hostile set, us (its steps are bounded: tests/internal/pmu/test_solver.c)", None,
          worst / 1000, 1000, kind="value", timed=True)


def measure_all_mixed(t, sides, folder, files):
    texts = [[], []]
    for peer, ours, _ in files.values():
        texts[0] += read_lines(peer)
        texts[1] += read_lines(ours)
    both = [
        write_lines(os.path.join(folder, n), x) for n, x in zip(("all.peer", "all.ours"), texts)
    ]
    a, b = sides.both("encode", "raw", both[1], peer_args=("encode", "raw", both[0]))
    t.add(19, "all processors shuffled, mixed, ns", a["mixed"], b["mixed"], 1 / 8, timed=True)
    return both


def measure_walk(t, sides):
    a, b = sides.both("walk", "5", rounds=1)
    per = [x["ns"] / x["seen"] for x in (a, b)]
    t.add(20, "walk over everything, ns per event or attribute", *per, 1 / 40, timed=True)
    n = [
        sides.instructions(p, "time_walk", "walk1") / x["seen"]
        for p, x in ((sides.peer, a), (sides.ours, b))
    ]
    t.add(20, "walk over everything, instructions per event or attribute", *n, 1 / 60)
    t.add(20, "walk over everything, mallocs", a["mallocs"], b["mallocs"], 0, kind="value")


def measure_dynamic(t, sides, folder):
    """System calls of each encoding after the first, for a PMU whose number only the kernel has."""
    if not os.path.exists("/sys/bus/event_source/devices/msr/events/tsc"):
        return
    # "count" goes over the texts twice; reading the longer file takes one more read at most.
    n = [
        sides.system_calls(sides.ours, "count", "perf",
                           write_lines(os.path.join(folder, f"dynamic{k}"), ["msr/tsc/"] * k),
                           env={"BENCH_HOST": "1"}) for k in (10, 110)
    ]
    t.add(
        21, "system calls per encoding for a PMU only the kernel numbers", None,
        max(0, round((n[1] - n[0]) / 200, 1)), 0, kind="value",
        note="the peer opens one file per encoding of such an event; this machine has none it knows"
    )


def helgrind_reports(program, event, env):
    done = subprocess.run(["valgrind", "--tool=helgrind", program, "race", "2", event],
                          capture_output=True, text=True, env={**os.environ, **env}, check=False)
    found = re.search(r"ERROR SUMMARY: (\d+) errors", done.stderr)
    return int(found.group(1)) if found else None


def measure_threads(t, sides, both):
    rates = [[], []]
    for _ in range(ROUNDS):
        for i, (p, path) in enumerate(zip((sides.peer, sides.ours), both)):
            one, two = (figures([p, "threads", n, path], sides.env if i else {})["per_s"]
                        for n in (1, 2))
            rates[i].append(two / one)
    a, b = (statistics.median(r) for r in rates)
    t.add(23, "two threads over one, encodings per second", a, b, 1.9, kind="least", timed=True)
    t.add(23, "helgrind reports, two threads that initialise and encode",
          helgrind_reports(sides.peer, "perf::PERF_COUNT_SW_PAGE_FAULTS", {}),
          helgrind_reports(sides.ours3, "coreduo::Instr_Ret", {"PERFMON_EVENTS": ""}), 0,
          kind="value")


def measure_build(t, o, folder):
    """User time of compiling the library from nothing at -O2, shared and static, and the compiler's
    warnings."""
    build = os.path.join(folder, "build")
    run([
        "meson", "setup", build, o.source, "-Dbuildtype=debugoptimized", "-Ddebug=false",
        "-Dtests=disabled", "-Dbench=disabled", "-Dpython=disabled", "-Dman=disabled",
        "-Dtools=disabled"
    ])
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(["ninja", "-C", build, "-j2"], capture_output=True, text=True,
                          check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    t.add(24, "build of the library, shared and static, user s", PEER_BUILD_SECONDS,
            used if done.returncode == 0 else None, 1, timed=True,
          note="the peer's figure is from another run")
    t.add(24, "warnings with -Wall -Wextra", 81, done.stdout.count("warning:"), 0, kind="value")


def measure_libpfm3(t, sides):
    note = "libpfm 3.10's figure is from another machine"
    for name, kind, n, goal in (("Core Duo", COREDUO, 1, 1 / 4), ("Montecito", MONTECITO, 12, 1)):
        ours = statistics.median(
            figures([sides.more, "dispatch3", kind, n])["p50"] for _ in range(ROUNDS))
        t.add(25, f"dispatch of {n} event{'s' if n > 1 else ''}, {name}, ns",
              LIBPFM3[f"dispatch{n}"], ours, goal, timed=True, note=note)
    for name, kind, peer, goal in (("Core Duo", COREDUO, "find_coreduo", 1 / 5),
                                   ("Montecito", MONTECITO, "find_montecito", 1 / 20)):
        ours = statistics.median(figures([sides.more, "find3", kind])["p50"] for _ in range(ROUNDS))
        t.add(26, f"find, {name}, ns", LIBPFM3[peer], ours, goal, timed=True, note=note)


def measure_core(t, sides, folder):
    """Core Duo beside libpfm4's "core" table of like size: other events, so no equality;
    tests/public/pmu/test_coreduo.c has the registers."""
    peer = write_lines(os.path.join(folder, "core.peer"), strings(sides, "core"))
    ours = write_lines(
        os.path.join(folder, "core.ours"),
        [x.split("\t")[0] for x in run([sides.more, "list", "coreduo"]).splitlines()])
    n = [len(read_lines(p)) for p in (peer, ours)]
    counts = [sides.instructions(p, "encode_all_events", "count", "raw", f) / k
              for p, f, k in zip((sides.peer, sides.ours), (peer, ours), n)]
    note = "Core Duo beside core"
    t.add(10, "encode, mean instructions: core", *counts, 1 / 15, note=note)
    t.add(10, "encode, mean instructions, absolute: core", None, counts[1], 2400, kind="value",
          note=note)
    a, b = sides.both("encode", "raw", ours, peer_args=("encode", "raw", peer))
    t.add(11, "encode to registers, mixed, ns: core", a["mixed"], b["mixed"], 1 / 12, timed=True,
          note=note)
    a, b = sides.both("encode", "find", ours, peer_args=("encode", "find", peer))
    t.add(15, "find by name, mixed, ns: core", a["mixed"], b["mixed"], 1 / 15, timed=True,
          note=note)


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    for name in ("ours", "ours3", "peer", "lister", "pmuc", "more", "process", "floor", "source"):
        p.add_argument("--" + name, required=True)
    p.add_argument("--out", default=".")
    return p.parse_args()


def measure(o, t, folder):
    sides = Sides(o)
    measure_start(t, sides)
    # the peer encodes for processors other than the host's only then
    os.environ["LIBPFM_ENCODE_INACTIVE"] = "1"
    files = {}
    for name, (our_name, peer_name) in PROCESSORS.items():
        found = same_events(sides, folder, name, our_name, peer_name)
        if found[2]:
            files[name] = found
    for name, f in files.items():
        measure_events(t, sides, name, f, f[2])
        measure_unknown(t, sides, name, f)
        measure_floor(t, sides, name, f)
        measure_perf_spelling(t, sides, folder, name, f)
    measure_core(t, sides, folder)
    if files:
        both = measure_all_mixed(t, sides, folder, files)
        measure_threads(t, sides, both)
    measure_position(t, sides, folder)
    measure_walk(t, sides)
    measure_dynamic(t, sides, folder)
    measure_libpfm3(t, sides)
    measure_sets(t, sides, folder)
    measure_growth(t, sides, folder)
    measure_build(t, o, folder)


def main():
    o = arguments()
    os.environ.pop("LIBPFM_ENCODE_INACTIVE", None)
    os.sync() # freshly built files would count as dirty memory
    t = Table()
    with tempfile.TemporaryDirectory() as folder:
        measure(o, t, folder)
    t.lines.sort(key=lambda x: (isinstance(x["number"], str), x["number"]
                                if isinstance(x["number"], int) else ord(x["number"])))
    t.show(sys.stdout)
    with open(os.path.join(o.out, "bench.json"), "w", encoding="utf-8") as f:
        json.dump(t.lines, f, indent=1)
    t.svg(os.path.join(o.out, "bench.svg"))
    t.markdown(os.path.join(o.out, "bench.md"))
    met = [x["met"] for x in t.lines if x["met"] is not None]
    print(f"{sum(met)} of {len(met)} goals met")


if __name__ == "__main__":
    main()
