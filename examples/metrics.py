# SPDX-License-Identifier: MIT
"""Metrics of a piece of work, measured a few times: the library finds the events they need, plans
them into groups, and reports the error of each value. The rows are what pandas.DataFrame()
takes."""
from __future__ import annotations

import perfmon


def work() -> bytearray:
    return bytearray(8 << 20)


def main() -> None:
    rounds = []
    with perfmon.Session(["software::ratios", "hardware::ipc"]) as s:
        for _ in range(5):
            before = s.read()
            work()
            rounds.append(s.read() - before)
        rows = s.metrics(rounds)
    for row in rows:
        if row["value"] is None:
            print(f"{row['metric']:<22} {row['state']}")
        else:
            print(
                f"{row['metric']:<22} {row['value']:.4g} {row['unit']} ({row['low']:.4g} to"
                f" {row['high']:.4g}), {row['quality']}"
            )


if __name__ == "__main__":
    main()
