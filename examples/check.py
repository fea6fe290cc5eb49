# SPDX-License-Identifier: MIT
"""Runs an example and looks for what it must print. Prints TAP.

    check.py NAME COMMAND...
"""
import re
import subprocess
import sys

# A count, or the reason why there is none.
COUNT = r"(:u)?:? +(\d+(\.\d+)?( msec)?( \((exact|scaled|partial)\))|not (supported|counted)(:| \() ?\S)"
EXPECTED = {
    "libpfm3_dispatch": [r"^PMC4 +0x0000000002001208 +CPU_OP_CYCLES_ALL", r"^PMC5 +0x00000000420fdd08 +L3_READS_ALL_ALL:M", r"^PMD\d+ +to be read"],
    "self_monitor": [r"^task-clock" + COUNT, r"^page-faults" + COUNT, r"^cycles" + COUNT],
    "count_child": [r"^task-clock" + COUNT, r"^page-faults" + COUNT, r"^context-switches" + COUNT],
    "montecito_ear": [r"^PMC40? ", r"^IBR0 +0x4000000000005400$", r"0x6000000000012340 took 180 cycles", r"slot 1"],
    "alpha_session": [r"^PCNT5MUX 0x800000bc$", r"^PCNT5RESTART 0xff07", r"^ev5::cycles +\d+ \(exact\)", r"^CPU 1 ev5::loads +[1-9]"],
    "resolve_only": [r"register 0x186 = 0x51d024", r"config 0xd024", r"did you mean L2_Lines_In\b",
                     r"PERFEVTSEL0 of coreduo with 0x51d024 counts L2_Lines_In"],
    "system_wide": [r"CPU 0 +cpu-clock:? +(\d|not )", r"context-switches|context switches"],
}


def main(name, command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    missing = [e for e in EXPECTED[name] if not re.search(e, done.stdout, re.M)]
    ok = done.returncode == 0 and not missing
    print("TAP version 13\n1..1\n%s 1 - %s" % ("ok" if ok else "not ok", name))
    if not ok:
        print("# exit status %d, missing: %s" % (done.returncode, missing))
        for line in (done.stdout + done.stderr).splitlines():
            print("# " + line)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
