# SPDX-License-Identifier: MIT
"""Counts a program and its children from its first instruction on.

    count_child.py PROGRAM [ARGUMENT...]
"""
from __future__ import annotations

import sys

import perfmon


def main(args: list[str]) -> int:
    done = perfmon.stat(args, ["task-clock", "page-faults", "context-switches"])
    for count in done.counts:
        print(count if count.value is None else f"{count} ({count.quality})")
    print(f"{done.elapsed:.3f} s elapsed, exit status {done.status}")
    return done.status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["sh", "-c", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"]))
