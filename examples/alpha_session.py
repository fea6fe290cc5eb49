# SPDX-License-Identifier: MIT
"""A session on the Tru64 counter device, on a model of it that every machine has: a set of events
of one family of Alphas, processor by processor, and the requests that make the device count them.
Without device_model the same program counts on /dev/pfcntr.

    alpha_session.py [ev4|ev5|pca56|ev6|ev67]
"""
from __future__ import annotations

import sys
import time

import perfmon
from perfmon import alpha

# Events that fit on the counters together: EV67 has two counters, and few pairs of events fit.
EVENTS = {
    "ev4": ["cycles", "intops"],
    "ev5": ["cycles", "issues", "loads"],
    "pca56": ["cycles", "issues", "loads"],
    "ev6": ["retinst", "retcondbranch"],
    "ev67": ["retinst", "cycles1"],
}


def main(family: str) -> None:
    events = [f"{family}::{name}" for name in EVENTS[family]]
    settings = alpha.Settings(scope=alpha.Scope.SYSTEM, open=alpha.Open.EACH)
    for request in perfmon.dispatch(events, model=settings).model.ioctls:
        print(request.name, *map(hex, request.words))
    with alpha.Session(events, device_model=family, settings=settings, n_cpus=2) as s:
        time.sleep(0.02)  # the program to be measured
        s.stop()
        by_cpu = [(cpu, event, s.count(i, cpu)) for cpu in range(s.entries)
                  for i, event in enumerate(events)]
    for count in s:
        print(f"{count.event:<18} {count.value} ({count.quality})")
    for cpu, event, value in by_cpu:
        print(f"CPU {cpu} {event:<18} {value}")


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["ev5"]))
