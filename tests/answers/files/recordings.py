# SPDX-License-Identifier: MIT
"""Writes recordings d0.data, d1.data ...: processes that fork, start programs, map and unmap one
thing above another, and end, in an order that is drawn by a generator of a fixed seed; samples in
them with chains, of two events, and records that were lost."""
import random
import struct
import sys

from recording import comm, fork, mapped, record, sample, write

OBJECTS = [
    "/no/such/toy", "/no/such/libtoy.so.1", "//anon", "[heap]", "[vdso]", "/dev/zero",
    "/no such/with blank", "/no/such/;odd"
]
NAMES = ["sh", "toy", "a name", "x;y", "<b>", "longer than sixteen"]


def drawn(rng):
    records, tasks = [comm(100, 100, "first", 1 << 13)], [(100, 100)]
    for _ in range(rng.randint(30, 120)):
        pid, tid = rng.choice(tasks)
        what = rng.randrange(12)
        if what == 0:
            child = 100 + len(tasks)
            if rng.random() < 0.6:
                records.append(fork(child, pid, child, tid))
                tasks.append((child, child))
            else:
                records.append(fork(pid, pid, child, tid))
                tasks.append((pid, child))
        elif what in (1, 2):
            start = rng.randrange(8) << 12
            records.append(
                mapped(pid, 0x400000 + start,
                       rng.randint(1, 4) << 12,
                       rng.randrange(3) << 12, rng.choice(OBJECTS)))
        elif what == 3:
            records.append(comm(pid, tid, rng.choice(NAMES), rng.choice([0, 0, 1 << 13])))
        elif what == 4 and rng.random() < 0.3:
            records.append(record(2, 0, struct.pack("<QQ", rng.randint(1, 2), rng.randint(1, 9))))
        elif what == 5 and rng.random() < 0.3:
            records.append(
                record(4, 0, struct.pack("<IIIIQ", pid, pid, tid, tid, 0), tid=(pid, tid)))
        else:
            chain = [0x400000 + rng.randrange(0xa000) for _ in range(rng.randrange(5))]
            ip = rng.choice(
                [0x400000 + rng.randrange(16) * 0x777, 0x10, 0x400000 + rng.randrange(4) * 0x1000])
            records.append(
                sample(rng.choice([1, 1, 1, 2]), pid, tid, ip, rng.choice([1000, 1000, 250, 0, 7]),
                       chain))
    return records


if __name__ == "__main__":
    for seed in range(int(sys.argv[1])):
        with open("d%d.data" % seed, "wb") as f:
            write(drawn(random.Random(seed)), f)
