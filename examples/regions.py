# SPDX-License-Identifier: MIT
"""Regions in Python: as a context manager and as a decorator."""
import perfmon

perfmon.start_regions("page-faults,instructions:u")


@perfmon.region("load")
def load(n: int) -> bytearray:
    return bytearray(n)


for i in range(10):
    with perfmon.region("iteration"):
        memory = load(i << 16)
        with perfmon.region("sum"):
            sum(memory)

for row in perfmon.read_regions():
    if row.thread == 0:
        print(
            "%s%s: %d visits, %.3f ms" %
            (row.region, " (in %s)" % row.parent if row.parent else "", row.visits, row.wall / 1e6))
        for count in row.counts:
            print("    %-20s %s (%s)" %
                  (count.event, "no value" if count.inclusive is None else count.inclusive,
                   count.quality.name.lower()))
