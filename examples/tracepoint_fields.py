# SPDX-License-Identifier: MIT
"""A tracepoint with its fields: which descriptors this program closes. The kernel says where each field lies in a sample's bytes."""
from __future__ import annotations

import os
import re
import sys

import perfmon

FORMAT = "/sys/kernel/tracing/events/syscalls/sys_enter_close/format"


def find_field(name: str) -> slice:
    """Where the field lies, by a line like "field:unsigned int fd; offset:16; size:8; signed:0;"."""
    with open(FORMAT, encoding="ascii") as f:
        found = re.search(rf" {name};\s*offset:(\d+);\s*size:(\d+);", f.read())
    if not found:
        raise LookupError(name)
    return slice(int(found[1]), int(found[1]) + int(found[2]))


def main() -> None:
    try:
        place = find_field("fd")
        session = perfmon.Session(["syscalls:sys_enter_close"], sampling=perfmon.Sampling(fields=perfmon.Sample.TID | perfmon.Sample.RAW))
    except (OSError, LookupError, perfmon.PerfmonError) as e:
        print("not shown:", e)
        return
    session.start()
    for fd in (1001, 1002):
        try:
            os.close(fd)
        except OSError:
            pass  # nothing is open there: that it is asked for is enough
    session.stop()
    for r in session.records():
        if r.type is perfmon.RecordType.SAMPLE and r.data:
            print(f"close({int.from_bytes(r.data[place], sys.byteorder)})")
    if session.read()[0].why:
        print("not shown:", session.read()[0].why)


if __name__ == "__main__":
    main()
