# SPDX-License-Identifier: MIT
"""Counts the whole system, CPU by CPU, in three intervals. A count that is not permitted shows the
cause and the remedy."""
from __future__ import annotations

import perfmon


def main() -> None:
    with perfmon.Session(["cpu-clock", "context-switches"], system_wide=True, per_cpu=True) as s:
        for reading in s.intervals(0.05, 3):
            print("; ".join(f"CPU {c.cpus} {c}" for c in reading))
    total = s["context-switches"]
    if total.value is None:
        print(f"{total}; {total.remedy}")
    else:
        print(f"{total.value} context switches in all ({total.quality})")


if __name__ == "__main__":
    main()
