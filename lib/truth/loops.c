/* SPDX-License-Identifier: MIT */
/* The kernels that are loops of assembly: kernels.def, in the instructions of this architecture. */
#include "truth/kernels.h"
#include "truth/machines/this_machine.h"

/* @direct: of the branches, those whose target is in the instruction. */
#define COUNTS_OF(instructions, branches, taken, conditional, direct)                              \
	IS(INSTRUCTIONS, (instructions) + LOOP_INSTRUCTIONS), IS(BRANCHES, (branches) + 1),        \
		IS(BRANCHES_TAKEN, (taken) + 1), IS(BRANCHES_NOT_TAKEN, (branches) - (taken)),     \
		IS(BRANCHES_CONDITIONAL, (conditional) + 1), IS(BRANCHES_DIRECT, (direct) + 1),    \
		IS(BRANCHES_CONDITIONAL_TAKEN, (conditional) - (branches) + (taken) + 1)
#define COUNTS(instructions, branches, taken, conditional)                                         \
	COUNTS_OF(instructions, branches, taken, conditional, branches)
/* @most: an access can be made in two parts. */
#define READS(n, most) IS(LOADS, n), WITHIN(MEMORY_READS, n, most), WITHIN(MEMORY_ACCESSES, n, most)
#define WRITES(n, most)                                                                            \
	IS(STORES, n), WITHIN(MEMORY_WRITES, n, most), WITHIN(MEMORY_ACCESSES, n, most)
#define READS_AND_WRITES(reads, writes)                                                            \
	IS(LOADS, reads), IS(MEMORY_READS, reads), IS(STORES, writes), IS(MEMORY_WRITES, writes),  \
		IS(MEMORY_ACCESSES, (reads) + (writes))
/* Up to @n loads and stores: processors differ in what they call one. */
#define MAY_ACCESS(n)                                                                              \
	WITHIN(LOADS, 0, n), WITHIN(MEMORY_READS, 0, n), WITHIN(STORES, 0, n),                     \
		WITHIN(MEMORY_WRITES, 0, n), WITHIN(MEMORY_ACCESSES, 0, 2 * (n))
#define LOADS_ARE(n)                                                                               \
	.control = "loop", COUNTS(n, 0, 0, 0), READS(n, n), WITHIN(LOAD_L1_HITS, 0.9 * (n), n)
#define STORES_ARE(n) .control = "loop", COUNTS(n, 0, 0, 0), WRITES(n, n)
#define SCALARS_OF(kind, n)                                                                        \
	IS(FLOPS, n), IS(FLOPS_##kind, n), IS(FP_SCALARS, n), IS(FP_SCALAR_##kind, n),             \
		IS(FP_##kind, n)
#define SCALARS(kind, n, operation)                                                                \
	.control = "loop", COUNTS(n, 0, 0, 0), SCALARS_OF(kind, n), IS(FP_SCALAR_##operation, n)
#define FUSED(kind, n)                                                                             \
	.control = "loop", .needs = TRUTH_NEEDS_FMA, COUNTS(n, 0, 0, 0), IS(FLOPS, 2 * (n)),       \
	IS(FLOPS_##kind, 2 * (n)), WITHIN(FP_SCALARS, n, 2 * (n)),                                 \
	WITHIN(FP_SCALAR_##kind, n, 2 * (n)), IS(FP_##kind, n), IS(FP_SCALAR_FUSED, n)
#define VECTORS(kind, n, width, elements)                                                          \
	.control = "loop", COUNTS(n, 0, 0, 0), IS(FLOPS, (n) * (elements)),                        \
	IS(FLOPS_##kind, (n) * (elements)), IS(FP_VECTORS, n), IS(FP_##width##_##kind, n),         \
	IS(FP_##width, n), IS(FP_##kind, n), IS(FP_VECTOR_ADDS, n), IS(SIMD_INSTRUCTIONS, n),      \
	IS(FP_4_ELEMENTS, (elements) == 4 ? (n) : 0), IS(FP_8_ELEMENTS, (elements) == 8 ? (n) : 0)
#define PREFETCHES_ARE(n)                                                                          \
	.control = "loads", COUNTS(n, 0, 0, 0), IS(PREFETCHES, n), WITHIN(LOADS, 0, n),            \
	WITHIN(MEMORY_READS, 0, n), WITHIN(MEMORY_ACCESSES, 0, n)
#define CHASES(level) .memory = TRUTH_RING_##level, COUNTS(8, 0, 0, 0), READS(8, 8)

#ifdef HAVE_LOOPS
/* Never 0, and another number after each run: the branches of a run are not those of the last. */
static unsigned long random_state = 2463534242UL;

#define KERNEL(kernel, n_turns, prefix, count, operation, text, ...)                               \
	static bool run_##kernel(unsigned long n, void *memory)                                    \
	{                                                                                          \
		unsigned long state = random_state;                                                \
                                                                                                   \
		__asm__ volatile(LOOP_BEGIN "1:\n" prefix ".rept " #count "\n" operation           \
		                            ".endr\n" LOOP_END LOOP_FINISH                         \
		                 : [n] "+" POINTER_CONSTRAINT(n),                                  \
		                   [p] "+" POINTER_CONSTRAINT(memory), [s] "+r"(state)             \
		                 :                                                                 \
		                 : LOOP_CLOBBERS);                                                 \
		random_state = state;                                                              \
		return true;                                                                       \
	}
#include "truth/kernels.def"
#undef KERNEL
/* A kernel whose operation this architecture lacks has no function. */
#define RUN(kernel, operation) (sizeof(operation) > 1 ? run_##kernel : NULL)
#else
#define RUN(kernel, operation) NULL
#endif

#define KERNEL(kernel, n_turns, prefix, count, operation, text, ...)                               \
	{ .name = #kernel,                                                                         \
	  .about = (text),                                                                         \
	  .turns = (n_turns),                                                                      \
	  .is_loop = true,                                                                         \
	  .run = RUN(kernel, operation),                                                           \
	  __VA_ARGS__ },

static const struct truth_kernel loops[] = {
#include "truth/kernels.def"
};

const struct truth_kernel *truth_list_loops(size_t *n)
{
	*n = sizeof(loops) / sizeof(loops[0]);
	return loops;
}
