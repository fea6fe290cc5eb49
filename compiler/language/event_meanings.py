# SPDX-License-Identifier: MIT
"""Meanings of events: a small vocabulary, and the tags of rows that have one.

A tag is NAME (the event counts it), N*NAME (each count is N of it) or +NAME and +N*NAME (one of
several events whose sum it is). A row with several meanings has tags separated by ';'.
lib/events/contract.txt says by names which events have which meaning; a row of a table can have
tags of its own, which take precedence. perfmon_events(5) lists the vocabulary."""

import re

from language.statements import StatementError

# The texts complete "no event counts".
MEANINGS = {
    "cycles": "clocks of the core",
    "instructions": "retired instructions",
    "branches": "retired branches",
    "branch_misses": "mispredicted branches",
    "loads": "loads",
    "stores": "stores",
    "l1d_misses": "lines brought into the level-1 data cache",
    "l2_misses": "requests that the level-2 cache did not hold",
    "l3_requests": "requests to a level-3 cache",
    "l3_misses": "requests that no level-3 cache held",
    "itlb_misses": "walks or refills of the instruction TLB",
    "dtlb_misses": "walks or refills of the data TLB",
    "dram_bytes": "bytes read from and written to memory",
    "dram_read_bytes": "bytes read from memory",
    "dram_write_bytes": "bytes written to memory",
    "flops_sp": "single-precision operations alone",
    "flops_dp": "double-precision operations alone",
    "fp_vectors": "vector instructions alone",
    "fp_scalars": "scalar floating-point instructions alone",
    "slots": "slots of the pipeline",
    "slots_frontend": "slots that the front end left empty",
    "slots_backend": "slots that the back end left empty",
    "slots_backend_memory": "slots that the back end left empty because of memory",
    "slots_bad_speculation": "slots of operations that never retired",
    "slots_retired": "slots of operations that retired",
    "ops_retired": "operations that retired",
    "ops_issued": "operations, retired or not",
    "stall_cycles": "clocks without progress",
    "backend_stall_cycles": "clocks without progress because of the back end",
    "backend_memory_stall_cycles": "clocks in which the back end waited for memory",
    "package_joules": "the energy of the package",
    "reference_cycles": "clocks of a constant frequency",
    "branches_taken": "retired branches that were taken",
    "branches_not_taken": "retired conditional branches that were not taken",
    "branches_conditional": "retired conditional branches",
    "branches_indirect": "retired jumps to addresses in registers or memory",
    "calls": "retired calls",
    "returns": "retired returns",
    "loads_unaligned": "loads from unaligned addresses",
    "loads_split": "loads from two cache lines",
    "stores_split": "stores to two cache lines",
    "locked": "atomic accesses",
    "prefetches": "prefetch instructions",
    "nops": "instructions that do nothing",
    "divisions": "divisions of integers",
    "fp_scalar_sp": "scalar instructions of single precision",
    "fp_scalar_dp": "scalar instructions of double precision",
    "fp_128_sp": "128-bit vector instructions of single precision",
    "fp_128_dp": "128-bit vector instructions of double precision",
    "fp_256_sp": "256-bit vector instructions of single precision",
    "fp_256_dp": "256-bit vector instructions of double precision",
    "fp_512_sp": "512-bit vector instructions of single precision",
    "fp_512_dp": "512-bit vector instructions of double precision",
    "branches_direct": "retired branches whose instruction has the target",
    "branches_conditional_taken": "retired conditional branches that were taken",
    "branch_misses_conditional": "mispredicted conditional branches",
    "branch_misses_taken": "mispredicted conditional branches that were taken",
    "branch_misses_not_taken": "mispredicted conditional branches that were not taken",
    "branch_misses_indirect": "mispredicted jumps to addresses in registers or memory",
    "memory_accesses": "loads and stores",
    "memory_reads": "reads of memory or its caches",
    "memory_writes": "writes to memory or its caches",
    "memory_updates": "operations that load and store one address",
    "stores_unaligned": "stores to unaligned addresses",
    "accesses_unaligned": "loads and stores at unaligned addresses",
    "forward_blocks": "loads that wait for a store that cannot forward its data",
    "exclusive_stores": "stores that depend on a reservation",
    "acquire_loads": "loads that order later accesses",
    "release_stores": "stores that order earlier accesses",
    "prefetches_t0": "prefetch instructions for all levels",
    "prefetches_t1_t2": "prefetch instructions for level 2 and later",
    "prefetches_nta": "prefetch instructions of data used once",
    "prefetches_write": "prefetch instructions for stores",
    "cache_flushes": "instructions that flush a cache line",
    "pauses": "hints that a loop spins",
    "load_fences": "fences of loads",
    "isb_barriers": "instruction barriers",
    "dsb_barriers": "barriers that wait for memory",
    "dmb_barriers": "barriers that order memory",
    "cpuids": "CPUID instructions",
    "divider_cycles": "clocks in which a divider works",
    "int_128_adds": "128-bit vector additions of integers",
    "int_256_adds": "256-bit vector additions of integers",
    "simd_instructions": "vector instructions on integers and floating-point numbers",
    "flops": "floating-point operations",
    "fp_128": "128-bit vector instructions on floating-point numbers",
    "fp_256": "256-bit vector instructions on floating-point numbers",
    "fp_512": "512-bit vector instructions on floating-point numbers",
    "fp_scalar_adds": "scalar floating-point additions",
    "fp_scalar_products": "scalar floating-point products",
    "fp_scalar_roots": "scalar square roots",
    "fp_scalar_fused": "scalar fused additions of products",
    "fp_vector_adds": "vector floating-point additions",
    "fp_sp": "instructions of single precision",
    "fp_dp": "instructions of double precision",
    "fp_4_elements": "vector instructions on four floating-point numbers",
    "fp_8_elements": "vector instructions on eight floating-point numbers",
    "fp_assists": "floating-point instructions that need microcode",
    "fp_x87": "instructions of x87",
    "load_l1_hits": "loads that level 1 served",
    "load_l1_misses": "loads that level 1 did not serve",
    "load_l2_hits": "loads that level 2 served",
    "load_l2_misses": "loads that level 2 did not serve",
    "load_l3_hits": "loads that level 3 served",
    "load_l3_misses": "loads that memory served",
    "l1_dtlb_misses": "refills of the first level of the data TLB",
    "load_walks": "page walks for loads",
    "page_faults": "page faults",
    "minor_faults": "page faults without reading from storage",
    "context_switches": "changes from one task to another",
    "migrations": "moves of a task to another CPU",
    "task_nanoseconds": "nanoseconds of a task on a CPU",
}
TAG = re.compile(r"(\+?)(?:([0-9]+)\*)?([a-z0-9_]+)")


def parse_tags(text):
    """Returns [(whether it is a part, factor, name)] of a row's tags, or None if one is wrong."""
    tags = [TAG.fullmatch(part) for part in text.split(";")]
    if not all(m and m[3] in MEANINGS for m in tags):
        return None
    return [(bool(m[1]), int(m[2] or 1), m[3]) for m in tags]


def check_tags(value, text):
    """Refuses tags that are not of the vocabulary."""
    if parse_tags(text) is None:
        raise StatementError(value.get_position(),
                             "'%s' is not a meaning: expected one of %s, or N*MEANING, +MEANING"
                             % (text[:40], " ".join(MEANINGS)))
