# SPDX-License-Identifier: MIT
"""For profilers and simulators: names to registers and back, and nothing else. The context looks at
no machine and no file, and many threads may share it. What happens to the registers afterwards is
the caller's business.

    resolve_only.py [EVENT...]
"""
from __future__ import annotations

import sys

import perfmon

USUAL = [
    "L2_Lines_In,core=all,prefetch=only", "coreduo::L2_LINES_IN:BOTH_CORES:PREFETCH",
    "montecito::CPU_OP_CYCLES_ALL", "L2_Lines_Inn"
]


def main(texts: list[str]) -> None:
    with perfmon.Context("coreduo", host=False, images=False) as ctx:
        for event in ctx.try_encode(texts, plm="u"):
            if isinstance(event, perfmon.PerfmonError):
                print(f"{event.kind}: {event}")
                continue
            print(f"{event.name}: {event.description}")
            for register in event.registers:
                print(f"  register {register.addr:#x} = {register.value:#x}")
            if event.perf_attr is not None:
                print(
                    f"  perf calls it {event.names.get('perf')}, config {event.perf_attr.config:#x}"
                )
        found = ctx.pmus["coreduo"].decode("PERFEVTSEL0", 0x51d024)
        print(f"{found.register} of coreduo with {found.value:#x} counts {found.events[0]}")
        whole = ctx.pmus["montecito"].encode_all(plm="u")
        print(
            f"montecito: {len(whole)} events encoded,"
            f" {sum(1 for code in whole.code if code == 0)} of them alone"
        )


if __name__ == "__main__":
    main(sys.argv[1:] or USUAL)
