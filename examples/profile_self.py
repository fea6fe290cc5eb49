# SPDX-License-Identifier: MIT
"""A program that samples itself: how its time is divided between user code and the kernel, and at
which addresses it is."""
from __future__ import annotations

from collections import Counter

import perfmon


def work() -> int:
    return sum(i * i for i in range(3_000_000))


def main() -> None:
    sampling = perfmon.Sampling(period=1_000_000, fields=perfmon.Sample.IP | perfmon.Sample.TID)
    session = perfmon.Session(["task-clock"], sampling=sampling)
    session.start()
    work()
    session.stop()
    samples = [r for r in session.records() if r.type is perfmon.RecordType.SAMPLE]
    where = Counter("kernel" if r.kernel else "user" for r in samples)
    for name, n in where.most_common():
        print(f"{name:<8} {100 * n / len(samples):5.1f}%")
    for address, n in Counter(r.ip & ~0xFFF for r in samples if r.ip).most_common(3):
        print(f"page {address:#x}: {n}")
    print(f"{session.sampled().samples} samples, {session.sampled().quality}")


if __name__ == "__main__":
    main()
