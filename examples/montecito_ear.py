# SPDX-License-Identifier: MIT
"""Itanium 2 "Montecito": where the loads of one function miss. A data EAR samples misses of 64
cycles and more, a code range restricts them to the function. Then it decodes the values that the
kernel read from the registers."""
from __future__ import annotations

import perfmon
from perfmon import montecito

# A function as a symbol table has it. Bundles are 16 bytes.
FUNCTION = (0x4000000000005400, 0x4000000000005520)


def program() -> None:
    set_ = perfmon.dispatch(["DATA_EAR_CACHE_LAT64", "IA64_INST_RETIRED_THIS"], pmu="montecito",
                            plm="u", irange=[FUNCTION])
    for register in set_.pmcs:
        print(f"PMC{register.num:<4} {register.value:#018x}")
    code = set_.model.irange
    for register in code.registers:
        print(f"IBR{register.num:<4} {register.value:#018x}")
    over = code.overhang[0]
    if over.before or over.behind:
        print(f"covers {over.before} bytes before the function and {over.behind} behind it as well")


def decode(pmd32: int, pmd33: int, pmd36: int) -> None:
    """Print the load that these registers describe, as an interrupt handler reads them."""
    sample = montecito.decode_dear(montecito.EarMode.CACHE, pmd32, pmd33, pmd36)
    if sample.data_address is None:
        return
    least = "at least " if sample.overflow else ""
    where = (
        ""
        if sample.instruction_address is None
        else f", asked for by {sample.instruction_address:#018x} slot {sample.slot}"
    )
    far = ", answered beyond the second level" if sample.level is montecito.Level.FAR else ""
    print(f"a load of {sample.data_address:#018x} took {least}{sample.latency} cycles{where}{far}")


if __name__ == "__main__":
    program()
    decode(0x6000000000012340, 3 << 14 | 180, FUNCTION[0] | 0x40 | 8 | 1)
