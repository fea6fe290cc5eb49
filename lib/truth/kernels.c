/* SPDX-License-Identifier: MIT */
/* The list of kernels, and what they say of each quantity. */
#include "truth/kernels.h"

#include <stdio.h>
#include <string.h>

/* Mispredictions of a loop without branches of its own: its end, interrupts. */
#define RARE_MISSES 0.05

enum { KERNELS_MAX = 128 };

static const char *const quantity_names[N_TRUTH_QUANTITIES] = {
	[TRUTH_INSTRUCTIONS] = "instructions",
	[TRUTH_BRANCHES] = "branches",
	[TRUTH_BRANCHES_TAKEN] = "branches_taken",
	[TRUTH_BRANCHES_NOT_TAKEN] = "branches_not_taken",
	[TRUTH_BRANCHES_CONDITIONAL] = "branches_conditional",
	[TRUTH_BRANCHES_INDIRECT] = "branches_indirect",
	[TRUTH_BRANCHES_DIRECT] = "branches_direct",
	[TRUTH_BRANCHES_CONDITIONAL_TAKEN] = "branches_conditional_taken",
	[TRUTH_BRANCH_MISSES] = "branch_misses",
	[TRUTH_BRANCH_MISSES_CONDITIONAL] = "branch_misses_conditional",
	[TRUTH_BRANCH_MISSES_TAKEN] = "branch_misses_taken",
	[TRUTH_BRANCH_MISSES_NOT_TAKEN] = "branch_misses_not_taken",
	[TRUTH_BRANCH_MISSES_INDIRECT] = "branch_misses_indirect",
	[TRUTH_CALLS] = "calls",
	[TRUTH_RETURNS] = "returns",
	[TRUTH_LOADS] = "loads",
	[TRUTH_STORES] = "stores",
	[TRUTH_MEMORY_ACCESSES] = "memory_accesses",
	[TRUTH_MEMORY_READS] = "memory_reads",
	[TRUTH_MEMORY_WRITES] = "memory_writes",
	[TRUTH_MEMORY_UPDATES] = "memory_updates",
	[TRUTH_LOADS_UNALIGNED] = "loads_unaligned",
	[TRUTH_STORES_UNALIGNED] = "stores_unaligned",
	[TRUTH_ACCESSES_UNALIGNED] = "accesses_unaligned",
	[TRUTH_LOADS_SPLIT] = "loads_split",
	[TRUTH_STORES_SPLIT] = "stores_split",
	[TRUTH_FORWARD_BLOCKS] = "forward_blocks",
	[TRUTH_LOCKED] = "locked",
	[TRUTH_EXCLUSIVE_STORES] = "exclusive_stores",
	[TRUTH_ACQUIRE_LOADS] = "acquire_loads",
	[TRUTH_RELEASE_STORES] = "release_stores",
	[TRUTH_PREFETCHES] = "prefetches",
	[TRUTH_PREFETCHES_T0] = "prefetches_t0",
	[TRUTH_PREFETCHES_T1_T2] = "prefetches_t1_t2",
	[TRUTH_PREFETCHES_NTA] = "prefetches_nta",
	[TRUTH_PREFETCHES_WRITE] = "prefetches_write",
	[TRUTH_CACHE_FLUSHES] = "cache_flushes",
	[TRUTH_NOPS] = "nops",
	[TRUTH_PAUSES] = "pauses",
	[TRUTH_LOAD_FENCES] = "load_fences",
	[TRUTH_ISB_BARRIERS] = "isb_barriers",
	[TRUTH_DSB_BARRIERS] = "dsb_barriers",
	[TRUTH_DMB_BARRIERS] = "dmb_barriers",
	[TRUTH_CPUIDS] = "cpuids",
	[TRUTH_DIVISIONS] = "divisions",
	[TRUTH_INT_128_ADDS] = "int_128_adds",
	[TRUTH_INT_256_ADDS] = "int_256_adds",
	[TRUTH_SIMD_INSTRUCTIONS] = "simd_instructions",
	[TRUTH_FLOPS] = "flops",
	[TRUTH_FLOPS_SP] = "flops_sp",
	[TRUTH_FLOPS_DP] = "flops_dp",
	[TRUTH_FP_SCALARS] = "fp_scalars",
	[TRUTH_FP_VECTORS] = "fp_vectors",
	[TRUTH_FP_SCALAR_SP] = "fp_scalar_sp",
	[TRUTH_FP_SCALAR_DP] = "fp_scalar_dp",
	[TRUTH_FP_128_SP] = "fp_128_sp",
	[TRUTH_FP_128_DP] = "fp_128_dp",
	[TRUTH_FP_256_SP] = "fp_256_sp",
	[TRUTH_FP_256_DP] = "fp_256_dp",
	[TRUTH_FP_512_SP] = "fp_512_sp",
	[TRUTH_FP_512_DP] = "fp_512_dp",
	[TRUTH_FP_128] = "fp_128",
	[TRUTH_FP_256] = "fp_256",
	[TRUTH_FP_512] = "fp_512",
	[TRUTH_FP_SCALAR_ADDS] = "fp_scalar_adds",
	[TRUTH_FP_SCALAR_PRODUCTS] = "fp_scalar_products",
	[TRUTH_FP_SCALAR_ROOTS] = "fp_scalar_roots",
	[TRUTH_FP_SCALAR_FUSED] = "fp_scalar_fused",
	[TRUTH_FP_VECTOR_ADDS] = "fp_vector_adds",
	[TRUTH_FP_SP] = "fp_sp",
	[TRUTH_FP_DP] = "fp_dp",
	[TRUTH_FP_4_ELEMENTS] = "fp_4_elements",
	[TRUTH_FP_8_ELEMENTS] = "fp_8_elements",
	[TRUTH_FP_ASSISTS] = "fp_assists",
	[TRUTH_FP_X87] = "fp_x87",
	[TRUTH_CYCLES] = "cycles",
	[TRUTH_REFERENCE_CYCLES] = "reference_cycles",
	[TRUTH_L1D_MISSES] = "l1d_misses",
	[TRUTH_L2_MISSES] = "l2_misses",
	[TRUTH_L3_REQUESTS] = "l3_requests",
	[TRUTH_L3_MISSES] = "l3_misses",
	[TRUTH_LOAD_L1_HITS] = "load_l1_hits",
	[TRUTH_LOAD_L1_MISSES] = "load_l1_misses",
	[TRUTH_LOAD_L2_HITS] = "load_l2_hits",
	[TRUTH_LOAD_L2_MISSES] = "load_l2_misses",
	[TRUTH_LOAD_L3_HITS] = "load_l3_hits",
	[TRUTH_LOAD_L3_MISSES] = "load_l3_misses",
	[TRUTH_DTLB_MISSES] = "dtlb_misses",
	[TRUTH_L1_DTLB_MISSES] = "l1_dtlb_misses",
	[TRUTH_LOAD_WALKS] = "load_walks",
	[TRUTH_PAGE_FAULTS] = "page_faults",
	[TRUTH_MINOR_FAULTS] = "minor_faults",
	[TRUTH_CONTEXT_SWITCHES] = "context_switches",
	[TRUTH_MIGRATIONS] = "migrations",
	[TRUTH_TASK_NANOSECONDS] = "task_nanoseconds",
	[TRUTH_DRAM_READ_BYTES] = "dram_read_bytes",
	[TRUTH_DRAM_WRITE_BYTES] = "dram_write_bytes",
	[TRUTH_DRAM_BYTES] = "dram_bytes",
};

/* Adds the kernels of a list that this architecture has. */
static size_t add_kernels(struct truth_kernel *to, size_t at, const struct truth_kernel *from,
                          size_t n)
{
	for (size_t i = 0; i < n && at < KERNELS_MAX; i++)
		if (from[i].run)
			to[at++] = from[i];
	return at;
}

const struct truth_kernel *truth_list_kernels(size_t *n)
{
	static struct truth_kernel all[KERNELS_MAX];
	static size_t n_all;
	const struct truth_kernel *list;
	size_t n_list;

	if (!n_all) {
		list = truth_list_loops(&n_list);
		n_all = add_kernels(all, 0, list, n_list);
		list = truth_list_system_work(&n_list);
		n_all = add_kernels(all, n_all, list, n_list);
		list = truth_list_streams(&n_list);
		n_all = add_kernels(all, n_all, list, n_list);
	}
	*n = n_all;
	return all;
}

bool truth_is_runnable(const struct truth_kernel *k)
{
#ifdef __x86_64__
	switch (k->needs) {
	case TRUTH_NEEDS_AVX: return __builtin_cpu_supports("avx");
	case TRUTH_NEEDS_AVX2: return __builtin_cpu_supports("avx2");
	case TRUTH_NEEDS_FMA: return __builtin_cpu_supports("fma");
	case TRUTH_NEEDS_AVX512: return __builtin_cpu_supports("avx512f");
	default: return true;
	}
#else
	return k->run != NULL;
#endif
}

bool truth_get_bounds(const struct truth_kernel *k, enum truth_quantity q, struct truth_bounds *out)
{
	*out = k->does[q];
	if (out->high > 0)
		return true;
	if (q >= TRUTH_BRANCH_MISSES && q <= TRUTH_BRANCH_MISSES_INDIRECT)
		out->high = RARE_MISSES;
	return k->is_loop && q < TRUTH_CYCLES;
}

const char *truth_name_quantity(enum truth_quantity q)
{
	return quantity_names[q];
}

bool truth_find_quantity(const char *name, size_t len, enum truth_quantity *out)
{
	for (unsigned q = 0; q < N_TRUTH_QUANTITIES; q++)
		if (strlen(quantity_names[q]) == len &&
		    strncmp(quantity_names[q], name, len) == 0) {
			*out = (enum truth_quantity)q;
			return true;
		}
	return false;
}
