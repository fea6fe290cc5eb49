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

/* Generated code counts at a fixed address as long as a process has one thread. Each process has a
 * page there: a child gets another one. */
union simulated_process {
	struct simulated_thread thread;
	char page[1 << 16]; /* the largest pages that Linux has */
};

enum {
	SIMULATED_THREADS = 1 << 16,
	/* Addresses of 32 bits have no room for more. */
	SIMULATED_PROCESSES = sizeof(void *) < 8 ? 1 << 10 : 1 << 16,
	SIMULATED_VERSION = 2
};

struct simulated_memory {
	uint32_t version;     /* SIMULATED_VERSION, set by the plugin */
	uint32_t n_threads;   /* entries in use, of all processes; more are lost */
	uint32_t n_programs;  /* executions of programs */
	uint32_t n_uncounted; /* of them, those that run without the emulator */
	uint32_t n_processes; /* pages in use; more are lost */
	uint32_t n_raced;     /* threads that started before their counts were apart */
	uint32_t reserved[10];
	struct simulated_thread threads[SIMULATED_THREADS];
	char to_page[(1 << 16) - 64];
	union simulated_process processes[SIMULATED_PROCESSES];
};

/* ---- counts of each instruction -------------------------------------------------------------- */

enum {
	SIMULATED_PLACES = 1 << 23,
	SIMULATED_MAPPINGS = 1 << 14,
	SIMULATED_PATH_MAX = 4096,
	SIMULATED_TASK_MAX = 16
};

/* An instruction of a translated block. It may be translated several times. */
struct simulated_place {
	uint64_t address, count;
	uint64_t mapping;
};

/* A file in the memory of a program, in the order of appearance. */
struct simulated_mapping {
	uint64_t start, size, offset;
	uint32_t pid, program; /* a process may execute several programs */
	char task[SIMULATED_TASK_MAX];
	char path[SIMULATED_PATH_MAX];
};

struct simulated_profile {
	uint32_t n_places, n_mappings;
	uint32_t is_full, reserved; /* some instruction has no place */
	struct simulated_place places[SIMULATED_PLACES];
	struct simulated_mapping mappings[SIMULATED_MAPPINGS];
};

#endif
