/* SPDX-License-Identifier: MIT */
/* Kernels whose counts are known: pieces of work that do a known number of instructions, branches,
 * loads, page faults and so on in each turn. A PMU that counts them right shows these numbers.
 *
 * The numbers follow from how a kernel is built: a loop of a few instructions of assembly, or
 * system calls that the kernel of the system accounts for in a second way (getrusage(2)). What a
 * kernel says nothing about is unknown, not 0. */
#ifndef PERFMON_TRUTH_H
#define PERFMON_TRUTH_H

#include <stdbool.h>
#include <stddef.h>

/* Quantities that can be counted. Each has the name of a meaning of events (perfmon_events(5)). */
enum truth_quantity {
	TRUTH_INSTRUCTIONS,
	TRUTH_BRANCHES,
	TRUTH_BRANCHES_TAKEN,
	TRUTH_BRANCHES_NOT_TAKEN,
	TRUTH_BRANCHES_CONDITIONAL,
	TRUTH_BRANCHES_INDIRECT,
	TRUTH_BRANCHES_DIRECT,
	TRUTH_BRANCHES_CONDITIONAL_TAKEN,
	TRUTH_BRANCH_MISSES,
	TRUTH_BRANCH_MISSES_CONDITIONAL,
	TRUTH_BRANCH_MISSES_TAKEN,
	TRUTH_BRANCH_MISSES_NOT_TAKEN,
	TRUTH_BRANCH_MISSES_INDIRECT,
	TRUTH_CALLS,
	TRUTH_RETURNS,
	TRUTH_LOADS,
	TRUTH_STORES,
	TRUTH_MEMORY_ACCESSES,
	TRUTH_MEMORY_READS,
	TRUTH_MEMORY_WRITES,
	TRUTH_MEMORY_UPDATES,
	TRUTH_LOADS_UNALIGNED,
	TRUTH_STORES_UNALIGNED,
	TRUTH_ACCESSES_UNALIGNED,
	TRUTH_LOADS_SPLIT,
	TRUTH_STORES_SPLIT,
	TRUTH_FORWARD_BLOCKS,
	TRUTH_LOCKED,
	TRUTH_EXCLUSIVE_STORES,
	TRUTH_ACQUIRE_LOADS,
	TRUTH_RELEASE_STORES,
	TRUTH_PREFETCHES,
	TRUTH_PREFETCHES_T0,
	TRUTH_PREFETCHES_T1_T2,
	TRUTH_PREFETCHES_NTA,
	TRUTH_PREFETCHES_WRITE,
	TRUTH_CACHE_FLUSHES,
	TRUTH_NOPS,
	TRUTH_PAUSES,
	TRUTH_LOAD_FENCES,
	TRUTH_ISB_BARRIERS,
	TRUTH_DSB_BARRIERS,
	TRUTH_DMB_BARRIERS,
	TRUTH_CPUIDS,
	TRUTH_DIVISIONS,
	TRUTH_INT_128_ADDS,
	TRUTH_INT_256_ADDS,
	TRUTH_SIMD_INSTRUCTIONS,
	TRUTH_FLOPS,
	TRUTH_FLOPS_SP,
	TRUTH_FLOPS_DP,
	TRUTH_FP_SCALARS,
	TRUTH_FP_VECTORS,
	TRUTH_FP_SCALAR_SP,
	TRUTH_FP_SCALAR_DP,
	TRUTH_FP_128_SP,
	TRUTH_FP_128_DP,
	TRUTH_FP_256_SP,
	TRUTH_FP_256_DP,
	TRUTH_FP_512_SP,
	TRUTH_FP_512_DP,
	TRUTH_FP_128,
	TRUTH_FP_256,
	TRUTH_FP_512,
	TRUTH_FP_SCALAR_ADDS,
	TRUTH_FP_SCALAR_PRODUCTS,
	TRUTH_FP_SCALAR_ROOTS,
	TRUTH_FP_SCALAR_FUSED,
	TRUTH_FP_VECTOR_ADDS,
	TRUTH_FP_SP,
	TRUTH_FP_DP,
	TRUTH_FP_4_ELEMENTS,
	TRUTH_FP_8_ELEMENTS,
	TRUTH_FP_ASSISTS,
	TRUTH_FP_X87,
	/* Unknown in loops that do not name them. */
	TRUTH_CYCLES,
	TRUTH_REFERENCE_CYCLES,
	TRUTH_L1D_MISSES,
	TRUTH_L2_MISSES,
	TRUTH_L3_REQUESTS,
	TRUTH_L3_MISSES,
	TRUTH_LOAD_L1_HITS,
	TRUTH_LOAD_L1_MISSES,
	TRUTH_LOAD_L2_HITS,
	TRUTH_LOAD_L2_MISSES,
	TRUTH_LOAD_L3_HITS,
	TRUTH_LOAD_L3_MISSES,
	TRUTH_DTLB_MISSES,
	TRUTH_L1_DTLB_MISSES,
	TRUTH_LOAD_WALKS,
	TRUTH_PAGE_FAULTS,
	TRUTH_MINOR_FAULTS,
	TRUTH_CONTEXT_SWITCHES,
	TRUTH_MIGRATIONS,
	TRUTH_TASK_NANOSECONDS,
	/* Of the whole machine. */
	TRUTH_DRAM_READ_BYTES,
	TRUTH_DRAM_WRITE_BYTES,
	TRUTH_DRAM_BYTES,
	N_TRUTH_QUANTITIES
};

/* Numbers that a right count lies between, ends included. Both ends are equal where the number is
 * exact. */
struct truth_bounds {
	double low, high;
};

/* The memory that a kernel works on. */
enum truth_memory {
	TRUTH_PAGE,    /* one page */
	TRUTH_RING_L1, /* pointers in random order, one in each cache line: they fit into level 1 */
	TRUTH_RING_L2, /* ... into level 2, and into level 1 by far not */
	TRUTH_RING_L3, /* ... into level 3 */
	TRUTH_RING_DRAM, /* ... into no cache */
	TRUTH_RING_TLB,  /* one pointer in each page */
	N_TRUTH_MEMORIES
};

/* Instruction sets that not every processor of an architecture has. */
enum truth_need {
	TRUTH_NEEDS_NOTHING,
	TRUTH_NEEDS_AVX,
	TRUTH_NEEDS_AVX2,
	TRUTH_NEEDS_FMA,
	TRUTH_NEEDS_AVX512
};

struct truth_kernel {
	const char *name;
	const char *about;   /* "8 loads": what a turn does */
	const char *control; /* the kernel without the counted operation; NULL for none */
	enum truth_memory memory;
	enum truth_need needs;
	unsigned long turns; /* in a measurement: short on slow machines, long enough to count */
	bool is_stream;      /* on all CPUs; its account is the number of bytes */
	bool is_idle;        /* a stream of nothing: more than its bounds is from other programs */
	bool is_loop;        /* instructions of assembly alone: what @does omits, it does 0 times */
	/* Does @n turns on @memory. False if the system refuses. */
	bool (*run)(unsigned long n, void *memory);
	/* The units in which @does is, from the system's own account: nanoseconds of the thread,
	 * faults. NULL: @does is for a turn. */
	double (*account)(void);
	struct truth_bounds does[N_TRUTH_QUANTITIES]; /* {0, 0}: see is_loop */
};

/* The kernels of this architecture; their number in *@n. */
const struct truth_kernel *truth_list_kernels(size_t *n);
/* True if the processor has the instructions of @k. */
bool truth_is_runnable(const struct truth_kernel *k);
/* Computes how much of @q kernel @k does in a turn, or in a unit of its account. False if that is
 * unknown. */
bool truth_get_bounds(const struct truth_kernel *k, enum truth_quantity q,
                      struct truth_bounds *out);

const char *truth_name_quantity(enum truth_quantity q);
/* The quantity called @name, of @len characters. False for other meanings: no kernel knows them. */
bool truth_find_quantity(const char *name, size_t len, enum truth_quantity *out);

/* Makes the memory of kind @memory. Returns NULL with a reason in *@why: the size of a cache is
 * unknown, or memory ran out. @size: for truth_free_memory(). */
void *truth_make_memory(enum truth_memory memory, size_t *size, const char **why);
void truth_free_memory(void *memory, size_t size);

#endif
