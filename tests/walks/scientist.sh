#!/bin/sh -eu
# SPDX-License-Identifier: MIT
# A data scientist: counts a function, gets rows for a table and HTML for a notebook, and results
# from worker processes.
cat >study.py <<'END'
import csv
import multiprocessing
import sys

import perfmon


def sizes(n: int) -> int:
    return len(bytearray(n << 20))


counted = perfmon.count("page-faults", "task-clock")(sizes)


def measure(n: int) -> list[dict[str, object]]:
    counted(n)
    return [dict(row, megabytes=n) for row in counted.counts.records()]


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        rows = [row for part in pool.map(measure, [1, 4]) for row in part]
    table = csv.DictWriter(sys.stdout, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    counted(1)
    assert "<table>" in counted.total._repr_html_()
    assert perfmon.encode_many(["skl::INST_RETIRED.ANY", "skl::NOTHING"]).records()[1]["why"]
    names = [e.name for e in perfmon.events("MEM_LOAD_RETIRED.L3*", pmu="skl")]
    assert names == ["MEM_LOAD_RETIRED.L3_HIT", "MEM_LOAD_RETIRED.L3_MISS"]
END
"$PYTHON" study.py >rows.csv
[ "$(wc -l <rows.csv)" = 5 ] && grep -q exact rows.csv
