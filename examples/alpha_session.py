# SPDX-License-Identifier: MIT
"""A session on the Tru64 counter device, on a model of it that every machine has: cycles, issues and loads of a 21164, processor
by processor, and the requests that make the device count them. Without device_model the same program counts on /dev/pfcntr."""
from __future__ import annotations

import time

import perfmon
from perfmon import alpha

EVENTS = ["ev5::cycles", "ev5::issues", "ev5::loads"]


def main() -> None:
    settings = alpha.Settings(scope=alpha.Scope.SYSTEM, open=alpha.Open.EACH)
    for request in perfmon.dispatch(EVENTS, model=settings).model.ioctls:
        print(request.name, *map(hex, request.words))
    with alpha.Session(EVENTS, device_model="ev5", settings=settings, n_cpus=2) as s:
        time.sleep(0.02)  # the program to be measured
        s.stop()
        by_cpu = [(cpu, event, s.count(i, cpu)) for cpu in range(s.entries) for i, event in enumerate(EVENTS)]
    for count in s:
        print(f"{count.event:<12} {count.value} ({count.quality})")
    for cpu, event, value in by_cpu:
        print(f"CPU {cpu} {event:<12} {value}")


if __name__ == "__main__":
    main()
