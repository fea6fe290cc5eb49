#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures libpfm.so.4 of this project beside libpfm4's in one run, with one program: only the
library it loads differs.

Prints a table; fails if a goal is missed. Rounds are interleaved and medians taken."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 5
SKYLAKE = """UNHALTED_CORE_CYCLES BR_INST_RETIRED:CONDITIONAL L2_RQSTS:DEMAND_DATA_RD_HIT L2_RQSTS:MISS:c=1 UOPS_RETIRED:RETIRE_SLOTS:u
MEM_LOAD_RETIRED:L3_MISS CYCLE_ACTIVITY:STALLS_L2_MISS MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=50 FRONTEND_RETIRED:DSB_MISS
OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE FP_ARITH:SCALAR_DOUBLE DTLB_LOAD_MISSES:WALK_COMPLETED IDQ_UOPS_NOT_DELIVERED:CORE
RESOURCE_STALLS:ALL INT_MISC:RECOVERY_CYCLES INST_RETIRED:ANY_P""".split()


class Side:
    def __init__(self, program, folder):
        self.program = program
        self.env = {
            k: v for k, v in os.environ.items()
            if not k.startswith(("LIBPFM_", "PERFMON_", "LD_LIBRARY_PATH"))
        }
        self.env["LIBPFM_ENCODE_INACTIVE"] = "1"
        if folder:
            self.env["LD_LIBRARY_PATH"] = folder

    def ask(self, *args):
        done = subprocess.run([self.program, *args], env=self.env, stdout=subprocess.PIPE,
                              check=True, universal_newlines=True)
        return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description="libpfm.so.4 beside libpfm4's.")
    parser.add_argument("--program", required=True,
                        help="built with libpfm4's headers (bench/peer.c)")
    parser.add_argument("--folder", required=True, help="where our libpfm.so.4 is")
    args = parser.parse_args()
    # Pages of a library that the linker has just written would count as private until the disk has
    # them.
    with open(os.path.join(args.folder, "libpfm.so.4"), "rb") as f:
        os.fsync(f.fileno())
    sides = Side(args.program, None), Side(args.program, args.folder)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write("".join("skl::%s\n" % e for e in SKYLAKE))
        f.flush()
        measures = [("initialise, ns", 10, lambda s: s.ask("init")["init"])]
        for what, mode, goal in (("words", "raw", 10), ("words and string", "named", 5),
                                 ("perf_event_attr", "perf", 10), ("find", "find", 10)):
            measures.append(("%s of an event, ns" % what, goal,
                             lambda s, mode=mode: s.ask("encode", mode, f.name)["mixed"]))
        measures.append(("walk, ns for each event and attribute", 20, lambda s:
                         (lambda w: w["ns"] / w["seen"])(s.ask("walk", "5"))))
        measures.append(("private memory, KiB", 30, lambda s: s.ask("memory", "libpfm")["dirty"]))
        print("| measure | libpfm4 | ours | ratio | goal | met |\n|---|---|---|---|---|---|")
        missed = 0
        for name, goal, measure in measures:
            rounds = [[measure(s) for s in sides] for _ in range(ROUNDS)]
            peer, ours = (statistics.median(r[i] for r in rounds) for i in (0, 1))
            met = ours * goal <= peer
            missed += not met
            print(
                "| %s | %s | %s | 1/%.1f | <= 1/%d | %s |" %
                (name, "%.4g" % peer, "%.4g" % ours, peer / ours, goal, "yes" if met else "**no**"))
        for name, mode, wanted in (("words", "raw", 0), ("words and string", "named", 1)):
            found = sides[1].ask("encode", mode, f.name)["mallocs"]
            missed += found != wanted
            print("| allocations for %s | %g | %g | | %d | %s |" %
                  (name, sides[0].ask("encode", mode, f.name)["mallocs"], found, wanted,
                   "yes" if found == wanted else "**no**"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
