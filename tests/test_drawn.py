#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands whose options and arguments were drawn at random: tests/answers/drawn.digests has one in each line, behind a digest of all
that it says and of its exit status. Where test_answers.py has answers that people read, this only tells that one has changed.

    PFM=build/tools/pfm PERFMON_PMUC=lib/pmuc/pmuc.py tests/test_drawn.py --said [PATTERN]   what the commands with PATTERN in them say
                                                                          --rewrite          new digests: compare what --said prints
                                                                                             before and after with diff, and read that
                                                                          --draw SEED N      N other commands

They are run where test_answers.py runs its own. What differs from run to run is not drawn.
"""
import hashlib
import os
import random
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import test_answers  # noqa: E402
import tap  # noqa: E402

DRAWN = os.path.join(test_answers.HERE, "drawn.digests")
MARK = "\x01"
RECORDINGS = 8    # which files/recordings.py makes
EVENTS = """toy::Ticks toy::Blinks toy::Blinks:left toy::Blinks,side=right toy::Steps toy::Steps:u toy::Falls toy::Trips toy::Turns:back
toy::Turns:front:back toy::Old_Steps toy::Gone toy::Secret toy::Lonely toy::Stretches toy::Silent page-faults task-clock
cycles instructions branches cache-misses branch-misses cs:k minor-faults:u L1-dcache-loads LLC-loads beats blinks
toyunit/event=1,umask=3/ toycpu/event=0x13/ sched:sched_switch coreduo::Instr_Ret coreduo::L2_Lines_In,core=all
montecito::L3_MISSES ev5::cycles toy::Nothing TICKS.ANY toy::Ticks:cmask=2 toy::Ticks:edge alignment-faults
toy::A_name_that_is_longer_than_the_column_of_names""".split()
METRICS = """toy::Pace toy::Walking toy::Resting toy::Stumbling toy::Falling toy::Threads toy::Sleep toy::Basics toy::TmaL1 TmaL2
hardware::ipc software::faults_per_second toy::Motion toy::Nothing""".split()
PROCESSORS = "toy coreduo montecito ev4 ev5 ev6 ev67 pca56 software toyunit intel_arch toybox".split()
NATIVE = {"coreduo": "Instr_Ret Unhalted_Core_Cycles L2_Lines_In,core=all FP_Assist Bus_Req_Outstanding SSE_Pref",
          "montecito": "L3_MISSES IA64_INST_RETIRED CPU_OP_CYCLES_ALL LOADS_RETIRED L1I_READS BRANCH_EVENT ALAT_CAPACITY_MISS_ALL "
                       "L2D_MISSES",
          "ev4": "issues cycles dcache bcache", "ev5": "cycles loads stores dcachemisses scachewrites issues", "ev6": "cycles retinst",
          "ev67": "cycles retinst replay replay_trap bcachemisses", "pca56": "cycles loads stores",
          "toy": "Ticks Blinks Blinks:left Steps Falls Trips Turns:back Lonely Stretches"}
OPTIONS = {
    "list": "--pmus --metrics -d -a --json --counter=0 --counter=F0 --counter=1-2 --unit=toy --color=always",
    "show": "--json --color=always --pmu=toy",
    "encode": "-u -k --json --pmu=toy --color=always",
    "decode": "--json --color=always",
    "dispatch": "-u -k --json --system-wide --unavailable=0 --unavailable=1-2 --ht-off --color=always",
    "montecito": "--irange=0x1000-0x2000 --irange=0x1010+0x400 --drange=0x1000+0x40 --drange=0x1008-0x9000 --iear=cache,umask=3 "
                 "--iear=tlb,umask=1,plm=k --dear=cache,umask=2 --dear=tlb --dear=alat --etb --etb=tm=taken,ptm=wrong --ipear "
                 "--ipear=delay=9 --opcm=slots=mi,match=1 --opcm=slots=b,mask=0xff --thres=1,2 --thres=3 --no-qualcheck --ht-off "
                 "-u -k --json",
    "plan": "--json --taken=0 --taken=1-2,F0 --htoff --bare --effort=1 --color=always",
    "stat": "-i -v --json -x, -x; --no-ratios --dry-run --color=always --topdown --topdown=2",
    "report": "--json --folded -n1 -n0 -n3 -epage-faults -e* --source --color=always",
}
WORDS = "Tick step L2_ walk cycles Motion lights fall . * ^T [ALNT]".split()
REGISTERS = """PERFEVTSEL0 PERFEVTSEL1 PMC4 PMC5 PMC8 PMC9 PMC10 PMC11 PMC32 PMC37 PMC38 PMC39 PMC40 PMC41 PMC42 config config1 CONFIG0
F0""".split()


def quoted(word):
    return word if all(c.isalnum() or c in "-_=/.,:+" for c in word) else "'" + word + "'"


def some(rng, words, most, least=0):
    words = words.split() if isinstance(words, str) else words
    return rng.sample(words, min(len(words), rng.randint(least, most)))


def stat(rng):
    words, everywhere = some(rng, OPTIONS["stat"], 3), rng.random() < 0.4
    for _ in range(rng.randint(0, 2)):
        words += ["-e", ("{%s}" if rng.random() < 0.3 else "%s") % ",".join(some(rng, EVENTS, 4, 1))]
    if "-e" not in words:
        words += some(rng, "-d -dd -ddd", 1)
    if rng.random() < 0.4:
        words += ["-M", ",".join(some(rng, METRICS, 3, 1))]
    if everywhere:
        return "scripted stat", words + [rng.choice(["-a", "-C0", "-C0-1"]), "--timeout=1"] + some(
            rng, "--per-cpu --per-core --per-socket --per-die --per-node", 1)
    return "scripted stat", words + some(rng, "-r2 -r3 -r5 --table", 2) + ["--", rng.choice(["true", "true", "true", "false"])]


def dispatch(rng):
    pmu = rng.choice(list(NATIVE))
    words = some(rng, OPTIONS["montecito" if pmu == "montecito" else "dispatch"], 3)
    return "pfm dispatch", words + ["--pmu=" + pmu] + some(rng, NATIVE[pmu], 4, 1)


def decode(rng):
    values = ["%s=%#x" % (rng.choice(REGISTERS), rng.getrandbits(rng.choice([4, 10, 24, 40, 64]))) for _ in range(rng.randint(1, 4))]
    return "pfm decode", some(rng, OPTIONS["decode"], 1) + ["--pmu=" + rng.choice(PROCESSORS)] + values


def plan(rng):
    pmu = rng.choice(list(NATIVE))
    native = ["%s::%s" % (pmu, e) for e in NATIVE[pmu].split()]
    return "pfm plan", some(rng, OPTIONS["plan"], 2) + some(rng, rng.choice([native, EVENTS, METRICS + native]), 8, 1)


def metric(rng):
    counts = ["%s=%s" % (e, rng.choice(["0", "1", "250", "1e9", "12.5", "640", "77", "-3" if rng.random() < 0.3 else "3"]))
              for e in some(rng, "Steps Ticks Falls Trips Secret Silent smt_on num_cpus cycles instructions", 9, 2)]
    return "pfm metric", some(rng, "--pmu=toy --color=always", 1) + [rng.choice(METRICS)] + counts


COMMANDS = {
    "list": (70, lambda rng: ("pfm list", ["--pmu=" + rng.choice(PROCESSORS)] + some(rng, OPTIONS["list"], 3) + some(rng, WORDS, 1))),
    "show": (50, lambda rng: ("pfm show", some(rng, OPTIONS["show"], 2) + some(rng, EVENTS + METRICS + PROCESSORS, 1, 1))),
    "encode": (50, lambda rng: ("pfm encode", some(rng, OPTIONS["encode"], 3) + some(rng, EVENTS, 3, 1))),
    "decode": (50, decode),
    "dispatch": (80, dispatch),
    "plan": (60, plan),
    "metric": (50, metric),
    "report": (40, lambda rng: ("pfm report", some(rng, OPTIONS["report"], 3) + [rng.choice(["perf.data", "elf.data"])])),
    "recordings": (90, lambda rng: ("pfm report", some(rng, OPTIONS["report"] + " --svg", 2) + ["d%d.data" % rng.randrange(RECORDINGS)])),
    "stat": (220, stat),
}


def draw(seed, n):
    """@n commands, each once; some of them are no good, as people's are."""
    rng, drawn = random.Random(seed), {}
    for kind, (share, make) in COMMANDS.items():
        for _ in range(share * n // sum(s for s, _ in COMMANDS.values())):
            program, words = make(rng)
            if rng.random() < 0.04:
                words[rng.randrange(len(words))] = rng.choice(["--bogus", "", "-", "--pmu", "--json=1", "0x", "a=b"])
            drawn[program + " " + " ".join(quoted(w) or "''" for w in words)] = kind
    return list(drawn)


def answers(commands):
    """What each of @commands says, with its exit status."""
    place = test_answers.Place()
    script = "exec 2>&1; python3 recording.py >perf.data; python3 elf.py >elf.data; python3 recordings.py %d\necho '%s'\n" % (
        RECORDINGS, MARK)
    script += "".join("%s </dev/null\necho \"? $?\"; echo '%s'\n" % (c, MARK) for c in commands)
    said = subprocess.run(["sh", "-c", "sh | sed -f timeless"], input=script.encode(), env=place.env, cwd=place.folder, timeout=300,
                          stdout=subprocess.PIPE, check=True).stdout.decode("utf-8", "backslashreplace")
    said = said.replace(place.machine.root, "ROOT").split(MARK + "\n")
    place.close()
    if len(said) != len(commands) + 2:
        raise RuntimeError("%d commands gave %d answers" % (len(commands), len(said) - 2))
    return said[1:-1]


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def known():
    with open(DRAWN, encoding="utf-8") as f:
        return [tuple(line.rstrip("\n").split(" ", 1)) for line in f if not line.startswith("#")]


def write(commands):
    """Those whose answers are the same three times. What runs no program says depends on the folders that programs are looked for in."""
    said = [answers(commands) for _ in range(3)]
    with open(DRAWN, "w", encoding="utf-8") as f:
        f.write("# SPDX-License-Identifier: MIT\n")
        for command, first, second, third in zip(commands, *said):
            if first == second == third and not re.search(r"\? 12[67]$", first.strip()):
                f.write("%s %s\n" % (digest(first), command))
            else:
                print("left out: %s" % command)


class Drawn(unittest.TestCase):
    def test_answers_are_what_they_were(self):
        lines = known()
        said = answers([command for _, command in lines])
        changed = ["$ %s\n%s" % (command, text) for (was, command), text in zip(lines, said) if digest(text) != was]
        self.assertEqual(changed, [], "%d answers have changed" % len(changed))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rewrite"]:
        write([c for _, c in known()])
    elif sys.argv[1:2] == ["--draw"]:
        write(draw(int(sys.argv[2]), int(sys.argv[3])))
    elif sys.argv[1:2] == ["--said"]:
        wanted = [c for _, c in known() if len(sys.argv) < 3 or sys.argv[2] in c]
        for asked, text in zip(wanted, answers(wanted)):
            print("$ %s\n%s" % (asked, text), end="")
    else:
        tap.main()
