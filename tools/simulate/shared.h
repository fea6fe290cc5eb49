/* SPDX-License-Identifier: MIT */
/* The memory in which the plugin counts, and which pfm stat --simulate reads when the program has
 * ended, even if a signal ended it. */
#ifndef PFM_SIMULATE_SHARED_H
#define PFM_SIMULATE_SHARED_H

#include <stdint.h>

enum simulated_event {
	SIMULATED_INSTRUCTIONS,
	SIMULATED_LOADS,
	SIMULATED_STORES,
	SIMULATED_BRANCHES,
	SIMULATED_SYSCALLS,
	N_SIMULATED
};

/* The counts of one thread. No other thread writes them. */
struct simulated_thread {
	uint64_t counts[N_SIMULATED];
	uint64_t repeated_at;     /* address of the last instruction that repeats itself */
	uint64_t repeated_number; /* the count of instructions then */
	uint64_t reserved;        /* a thread has a cache line of its own */
};

enum { SIMULATED_THREADS = 1 << 16, SIMULATED_VERSION = 1 };

struct simulated_memory {
	uint32_t version;     /* SIMULATED_VERSION, set by the plugin */
	uint32_t n_threads;   /* entries in use, of all processes; more are lost */
	uint32_t n_programs;  /* executions of programs */
	uint32_t n_uncounted; /* of them, those that run without the emulator */
	uint32_t reserved[12];
	struct simulated_thread threads[SIMULATED_THREADS];
};

#endif
