# SPDX-License-Identifier: MIT
"""Writes a recording: two events, three tasks, chains, a mapping that another replaces, and records
that were lost."""
import struct
import sys

IP, TID, TIME, CHAIN, PERIOD, IDENTIFIER = 1, 2, 4, 32, 256, 1 << 16
SAMPLE = IP | TID | TIME | CHAIN | PERIOD | IDENTIFIER
USER = (1 << 64) - 512    # what follows in a chain was in user mode


def attr(kind, config):
    # flags: sample_id_all
    return struct.pack("<IIQQQQQ", kind, 128, config, 1000, SAMPLE, 0, 1 << 18).ljust(128, b"\0")


def record(kind, misc, body, tail=True, tid=(0, 0), time=0, number=1):
    body += struct.pack("<IIQQ", *tid, time, number) if tail else b""
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def name(text):
    raw = text.encode() + b"\0"
    return raw.ljust((len(raw) + 7) // 8 * 8, b"\0")


def mapped(pid, start, length, offset, text):
    return record(1, 2,
                  struct.pack("<IIQQQ", pid, pid, start, length, offset) + name(text),
                  tid=(pid, pid))


def comm(pid, tid, text, exec_=0):
    return record(3, exec_, struct.pack("<II", pid, tid) + name(text), tid=(pid, tid))


def fork(pid, ppid, tid, ptid):
    return record(7, 0, struct.pack("<IIIIQ", pid, ppid, tid, ptid, 0), tid=(ppid, ptid))


def sample(number, pid, tid, ip, period, chain=()):
    chain = (USER, ip, *chain)
    return record(
        9, 2,
        struct.pack("<QQIIQQQ", number, ip, pid, tid, 1, period, len(chain)) +
        struct.pack("<%dQ" % len(chain), *chain), tail=False)


def write(records, out=sys.stdout.buffer):
    data = b"".join(records)
    ids, attrs = 104, 104 + 16
    events = b"".join(
        attr(1, config) + struct.pack("<QQ", ids + 8 * i, 8) for i, config in enumerate((1, 2)))
    out.write(
        struct.pack("<8sQQQQQQQQ4Q", b"PERFILE2", 104, 144, attrs, len(events), attrs +
                    len(events), len(data), 0, 0, 0, 0, 0, 0) + struct.pack("<QQ", 1, 2) + events +
        data)


if __name__ == "__main__":
    records = [
        comm(100, 100, "toy <&\"'>", 1 << 13),
        mapped(100, 0x400000, 0x2000, 0, "/no/such/toy"),
        mapped(100, 0x7f0000000000, 0x1000, 0x1000, "/no/such/libtoy.so.1"),
        sample(1, 100, 100, 0x400100, 1000, (0x400200, 0x400300)),
        sample(1, 100, 100, 0x400100, 1000, (0x400200, 0x400300)),
        sample(1, 100, 100, 0x7f0000000010, 3000, (0x400200, 0x400300)),
        sample(2, 100, 100, 0x400104, 1),
        fork(100, 100, 101, 100),
        sample(1, 100, 101, 0x401fff, 500),
        comm(100, 101, "helper"),
        sample(1, 100, 101, 0x402000, 500),
        fork(102, 100, 102, 100),
        sample(1, 102, 102, 0x400100, 0),
        mapped(102, 0x400000, 0x1000, 0, "/no/such/other"),
        sample(1, 102, 102, 0x400100, 2000, (0x401000, )),
        comm(102, 102, "new", 1 << 13),
        sample(2, 102, 102, 0x400100, 7),
        sample(1, 103, 103, 0x10, 250),
        record(2, 0, struct.pack("<QQ", 1, 3)),
        record(2, 0, struct.pack("<QQ", 2, 4)),
    ]
    write(records if len(sys.argv) < 2 else records[:int(sys.argv[1])])
