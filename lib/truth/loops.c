/* SPDX-License-Identifier: MIT */
/* The kernels that are loops of assembly: kernels.def, in the instructions of this architecture. */
#include "truth/kernels.h"
#include "truth/machines/this_machine.h"

#define COUNTS(instructions, branches, taken, conditional)                                         \
	IS(INSTRUCTIONS, (instructions) + LOOP_INSTRUCTIONS), IS(BRANCHES, (branches) + 1),        \
		IS(BRANCHES_TAKEN, (taken) + 1), IS(BRANCHES_NOT_TAKEN, (branches) - (taken)),     \
		IS(BRANCHES_CONDITIONAL, (conditional) + 1)
#define LOADS_ARE(n)  .control = "loop", COUNTS(n, 0, 0, 0), IS(LOADS, n)
#define STORES_ARE(n) .control = "loop", COUNTS(n, 0, 0, 0), IS(STORES, n)
#define SCALARS_SP(n)                                                                              \
	.control = "loop", COUNTS(n, 0, 0, 0), IS(FLOPS_SP, n), IS(FP_SCALARS, n),                 \
	IS(FP_SCALAR_SP, n)
#define SCALARS_DP(n)                                                                              \
	.control = "loop", COUNTS(n, 0, 0, 0), IS(FLOPS_DP, n), IS(FP_SCALARS, n),                 \
	IS(FP_SCALAR_DP, n)
#define VECTORS(kind, n, width, elements)                                                          \
	.control = "loop", COUNTS(n, 0, 0, 0), IS(FLOPS_##kind, (n) * (elements)),                 \
	IS(FP_VECTORS, n), IS(FP_##width##_##kind, n)
#define CHASES(level) .memory = TRUTH_RING_##level, COUNTS(8, 0, 0, 0), IS(LOADS, 8)

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
