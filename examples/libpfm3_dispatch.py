# SPDX-License-Identifier: MIT
"""The libpfm 3 way: names to registers on one processor, which need not be this machine's.

    libpfm3_dispatch.py [EVENT...]
"""
from __future__ import annotations

import sys

from perfmon import PerfmonError
from perfmon.libpfm3 import Library


def main(texts: list[str]) -> int:
    montecito = Library("montecito")
    try:
        events = [montecito.cycle_event()] + [montecito.find_full_event(t) for t in texts]
        out = montecito.dispatch(events, plm="u")
    except PerfmonError as error:
        print(error, file=sys.stderr)
        return 1
    # The first control registers are the events', in their order; further ones may follow.
    names = [montecito.full_event_name(e) for e in events]
    for i, pmc in enumerate(out.pmcs):
        print(f"PMC{pmc.num:<3} {pmc.value:#018x}  {names[i] if i < len(names) else '(set up)'}")
    for pmd in out.pmds:
        print(f"PMD{pmd.num:<3} to be read")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["L3_READS_ALL_ALL:M", "IA64_INST_RETIRED"]))
