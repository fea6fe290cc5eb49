# SPDX-License-Identifier: MIT
"""Runs an example, once for each argument it is to be shown with, and looks for what it must print.
Prints TAP.

    check.py NAME COMMAND...
"""
import re
import subprocess
import sys

# A count, or the reason why it is missing.
COUNT = (
    r"(:u)?:? +(\d+(\.\d+)?( msec)?( \((exact|scaled|partial)\))|not (supported|counted)(:| \()"
    r" ?\S)"
)
EXPECTED = {
    "libpfm3_dispatch": [
        r"^PMC4 +0x0000000002001208 +CPU_OP_CYCLES_ALL",
        r"^PMC5 +0x00000000420fdd08 +L3_READS_ALL_ALL:M", r"^PMD\d+ +to be read"
    ],
    "self_monitor": [r"^task-clock" + COUNT, r"^page-faults" + COUNT, r"^cycles" + COUNT],
    "count_child": [r"^task-clock" + COUNT, r"^page-faults" + COUNT, r"^context-switches" + COUNT],
    "montecito_ear": [
        r"^PMC40? ", r"^IBR0 +0x4000000000005400$", r"0x6000000000012340 took 180 cycles", r"slot 1"
    ],
    "resolve_only": [
        r"register 0x186 = 0x51d024", r"config 0xd024", r"did you mean L2_Lines_In\b",
        r"PERFEVTSEL0 of coreduo with 0x51d024 counts L2_Lines_In"
    ],
    "profile_self": [r"^(much|user) +\d+\.\d%$", r"^\d+ samples, (exact|partial|not )"],
    "off_cpu": [r"^left its CPU [1-9]\d* times$", r"^(asleep|away) +[1-9]\d*\.\d+ ms$"],
    "metrics": [
        r"^faults_per_second +\d\S* /s \(\S+ to \S+\), (exact|scaled|partial)",
        r"^ipc +(\d|not counted)"
    ],
    "tracepoint_fields": [
        r"^(close\(1001\)  common_type=\d+.*  fd=1001\nclose\(1002\) .* fd=1002$|not shown: \S)"
    ],
    "benchmark": [
        r"^touch +\[\d+\.\d ns \d+\.\d ns \d+\.\d ns\]$",
        r"^ +page-faults +(4\.0\d\d \+- 0\.\d+|not (supported|counted): \S)",
        r"^sort +\[\d+\.\d ns \d+\.\d ns \d+\.\d ns\]$",
        r"^ +instructions:u +(\d+\.\d{3} \+- |not (supported|counted): \S)"
    ],
    "regions": [
        r"^iteration: (10|20) visits", r"^load \(in iteration\): (10|20) visits",
        r"^sum \(in iteration\): (9|10|20) visits", r"page-faults"
    ],
    "system_wide": [r"CPU 0 +cpu-clock:? +(\d|not )", r"context-switches|context switches"],
}
# Examples with an argument, and what each of them brings.
WITH = {
    "alpha_session": {
        "": [r"^PCNT5MUX 0x800000bc$", r"^ev5::cycles +\d+ \(exact\)"],
        "ev4": [
            r"^PCNTSETMUX 0x500000a00$", r"^PCNTRENABLE$", r"^ev4::cycles +[1-9]\d* \(exact\)",
            r"^CPU 1 ev4::intops +[1-9]"
        ],
        "ev5": [
            r"^PCNT5MUX 0x800000bc$", r"^PCNT5RESTART 0xff07", r"^ev5::cycles +\d+ \(exact\)",
            r"^CPU 1 ev5::loads +[1-9]"
        ],
        "pca56": [
            r"^PCNT5MUX 0x800000bc$", r"^PCNT5RESTART", r"^pca56::cycles +\d+ \(exact\)",
            r"^CPU 1 pca56::loads +[1-9]"
        ],
        "ev6": [
            r"^PCNT6MUX 0x11$", r"^PCNT6RESTART", r"^ev6::retinst +\d+ \(exact\)",
            r"^CPU 1 ev6::retcondbranch +[1-9]"
        ],
        "ev67": [
            r"^PCNT6MUX 0x0$", r"^PCNT6RESTART", r"^ev67::retinst +\d+ \(exact\)",
            r"^CPU 1 ev67::cycles1 +[1-9]"
        ],
    },
}


def check(number, name, command, expected):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    if done.returncode == 126:
        print("ok %d - %s # SKIP system calls of another process cannot be answered here" %
              (number, name))
        return True
    missing = [e for e in expected if not re.search(e, done.stdout, re.M)]
    ok = done.returncode == 0 and not missing
    print("%s %d - %s" % ("ok" if ok else "not ok", number, name))
    if not ok:
        print("# exit status %d, missing: %s" % (done.returncode, missing))
        for line in (done.stdout + done.stderr).splitlines():
            print("# " + line)
    return ok


def main(name, command):
    runs = WITH.get(name) or {"": EXPECTED[name]}
    print("TAP version 13\n1..%d" % len(runs))
    passed = []
    for i, (word, expected) in enumerate(runs.items(), 1):
        line = [(word or "ev5") if a == "@" else a for a in command] + word.split()
        passed.append(check(i, " ".join([name, *word.split()]), line, expected))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
