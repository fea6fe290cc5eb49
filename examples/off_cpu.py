# SPDX-License-Identifier: MIT
"""How long this thread was off its CPU: records of context switches show when it left and when it
came back."""
from __future__ import annotations

import time

import perfmon


def main() -> None:
    session = perfmon.Session(["dummy"],
                              sampling=perfmon.Sampling(records=perfmon.Sideband.SWITCHES))
    session.start()
    for _ in range(10):
        time.sleep(0.002)
    session.stop()
    left, away, switches = 0, 0, 0
    for r in session.records():
        if r.type is not perfmon.RecordType.SWITCH or r.time is None:
            continue
        if r.misc & perfmon.constants.PFM_MISC_OUT:
            left, switches = r.time, switches + 1
        elif left:
            away += r.time - left
            left = 0
    print(f"left its CPU {switches} times")
    print(f"away {away / 1e6:.3f} ms")


if __name__ == "__main__":
    main()
