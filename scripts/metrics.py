#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/metrics.md: the metrics that every processor has under one name.

    scripts/metrics.py IMAGE > docs/metrics.md      IMAGE is build/lib/events/builtin.pmdb

For each metric its definition, its formulas with the processors that use each, and the processors
that cannot measure it.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "compiler"))
from language import standard_metrics  # noqa: E402
from language import tables as pt  # noqa: E402
from image import image_reader  # noqa: E402

WIDTH = 100
DIFFERENCES = """
## Where a formula is not the vendor's

Linux, Arm, AMD and PerfSpect have metrics of the same meaning under other names. On the same counts
these differ, on purpose:

| metric | processors | vendor's | here |
|---|---|---|---|
"""
# (metric, processors, the formula of the vendor, the formula here)
DIFFERENT = (
    ("`topdown_frontend`",
     "AmpereOne",
     "what the other shares leave",
     "slots that the front end left empty"),
    ("`topdown_bad_speculation`, `topdown_retired`",
     "AmpereOne",
     "operations of all slots: `(OP_SPEC - OP_RETIRED) / slots`, `OP_RETIRED / slots`",
     "Arm's: the slots that were not empty, divided as the operations are; the shares sum "
     "to 1"),
    ("`topdown_bad_speculation`",
     "Olympus",
     "what the other shares leave",
     "Arm's, as above"),
    ("`topdown_backend_memory`, `topdown_backend_core`",
     "HIP08, AmpereOne",
     "shares of clocks, `MEM_STALL_ANYLOAD / CPU_CYCLES`",
     "the share of slots of the back end, divided as its clocks are; their sum is "
     "`topdown_backend`"),
    ("`topdown_backend_memory`",
     "Arm's cores without MEMBOUND events",
     "none, or the same",
     "the back end waits for the core's last cache (`STALL_BACKEND_MEM`); waits for nearer"
     " caches are in `topdown_backend_core`"),
    ("`l3_mpki`, `l3_hit_ratio`",
     "Neoverse",
     "`LL_CACHE`",
     "the same: the last-level cache of the mesh, reads alone; both metrics are of one "
     "cache"),
    ("`l3_mpki`",
     "AmpereOne",
     "none",
     "reads that reached memory, because no event counts its cache beside the memory "
     "controllers; the whole machine is counted"),
    ("`l2_mpki`",
     "Zen 5, Zen 6",
     "`all_l2_cache_misses_pti`",
     "the same: prefetches of the level-1 cache are misses of that cache, which count "
     "already"),
    ("`flops_sp`, `flops_dp`",
     "Olympus, Monaka, A64FX",
     "`FP_SCALE_OPS_SPEC` without the precision",
     "events of one precision; those of vectors count once for 128 bits, times the vector "
     "length. Speculative operations count"),
    ("`flops_sp`, `flops_dp`",
     "AmpereOne",
     "`VFP_SPEC` as GFLOP/s",
     "refused: `VFP_SPEC` counts instructions"),
    ("`membw_*`",
     "HIP08",
     "none",
     "requests of home agents, whose names say 64 or 128 bytes"),
)
NO_CORES = standard_metrics.BESIDE | {"hardware", "software", "hw_cache"}
CONTRACT = os.path.join(ROOT, "lib", "events", "contract.txt")


def wrap(words, width=WIDTH):
    lines, line = [], ""
    for word in words:
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = line + " " + word if line else word
    return lines + [line] if line else lines


def core_tables(tables):
    """(core, table with its metrics) of each processor."""
    by_name = {t.name: t for t in tables}
    for t in tables:
        beside = t.flags & (pt.TABLE_UNCORE | pt.TABLE_COMPAT_VIEW | pt.TABLE_TEST_ONLY) or t.unit
        if not beside and t.name not in NO_CORES and not t.name.endswith("_ratios"):
            yield t, by_name.get(t.name + "_ratios", t)


def inputs_of(table, row):
    """Events that a metric needs, as a sorted tuple."""
    names = [text.split("|")[0] for text in table.read_texts(row, "metric_inputs")]
    return tuple(sorted(n.rpartition("::")[2] if n.startswith(table.name) else n for n in names))


def read_reason(table, name):
    """Why a table refuses a metric."""
    return table.read_text(table.find_folded(pt.fold(name))[1]).partition(": ")[2]


def print_metric(standard, cores):
    print("\n## %s\n\n%s\nUnit: %s.\n" % (standard.name, standard.text, standard.unit))
    users, without = {}, {}
    for core, home in cores:
        row = home.find_row(standard.name)
        if row is None:
            without.setdefault(read_reason(home, standard.name), []).append(core.name)
        else:
            users.setdefault(inputs_of(home, row), []).append(core.name)
    for inputs, names in sorted(users.items(), key=lambda u: (-len(u[1]), u[0])):
        events = ", ".join("`%s`" % i for i in inputs[:8])
        events += ", ..." if len(inputs) > 8 else ""
        print("\n".join(wrap(("- %s: %s" % (events, " ".join(names))).split(" "))))
    for reason, names in without.items():
        text = "- cannot be measured, %s: %s" % (reason, " ".join(names))
        print("\n".join(wrap(text.split(" "))))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    with open(sys.argv[1], "rb") as f:
        tables, _ = image_reader.read_image(f.read())
    cores = list(core_tables(tables))
    print("# Metrics that every processor has\n\n"
          "Made by `scripts/metrics.py` from the built-in tables; `lib/events/contract.txt`\n"
          "defines them. A metric has one name, one unit and one definition on %d processors,\n"
          "or a reason why it cannot be measured. `pfm stat -M NAME` counts it; its group is\n"
          "`standard`. Events of the kernel (`hardware::cycles`) are used where a processor's\n"
          "list does not name its own." % len(cores))
    for standard in standard_metrics.read_contract(CONTRACT):
        print_metric(standard, cores)
    print(DIFFERENCES, end="")
    for row in DIFFERENT:
        print("| %s |" % " | ".join(row))


if __name__ == "__main__":
    main()
