# SPDX-License-Identifier: MIT
"""A program that counts its own events around a piece of work, and reports the quality of each
count."""
from __future__ import annotations

import perfmon


def work() -> bytearray:
    return bytearray(4 << 20)


def main() -> None:
    with perfmon.Session(["task-clock", "page-faults", "cycles:u", "instructions:u"]) as s:
        work()
    for count in s:
        if count.value is None:
            print(
                f"{count.event:<16} {count.quality}:"
                f" {'; '.join(filter(None, (count.why, count.remedy)))}"
            )
        else:
            print(f"{count.event:<16} {count.value} ({count.quality}) on {count.pmu}")
    clock = s["task-clock"]
    if clock:
        print(f"{clock.amount:.3f} {clock.unit} of CPU time")


if __name__ == "__main__":
    main()
