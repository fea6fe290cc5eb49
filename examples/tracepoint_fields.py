# SPDX-License-Identifier: MIT
"""A tracepoint with its fields: which descriptors this program closes, and every field that the
kernel records for such a call."""
from __future__ import annotations

import os

import perfmon


def main() -> None:
    try:
        session = perfmon.Session(["syscalls:sys_enter_close"],
                                  sampling=perfmon.Sampling(fields=perfmon.Sample.TID
                                                            | perfmon.Sample.RAW))
    except perfmon.PerfmonError as e:
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
        if r.type is perfmon.RecordType.SAMPLE and r.fields:
            print(f"close({r.fields['fd']!r})",
                  *(f" {name}={value!r}" for name, value in r.fields.items()))
    if session.read()[0].why:
        print("not shown:", session.read()[0].why)


if __name__ == "__main__":
    main()
