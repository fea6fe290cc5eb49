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


def print_metric(standard, cores):
    print("\n## %s\n\n%s\nUnit: %s.\n" % (standard.name, standard.text, standard.unit))
    users, without = {}, {}
    for core, home in cores:
        row = home.find_row(standard.name)
        if row is None:
            without.setdefault(standard.find_reason(core.name), []).append(core.name)
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


if __name__ == "__main__":
    main()
