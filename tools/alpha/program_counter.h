/* SPDX-License-Identifier: MIT */
/* The program counter of a running program and of its children, as samples of the CPU clock. */
#ifndef PERFMON_ALPHA_PROGRAM_COUNTER_H
#define PERFMON_ALPHA_PROGRAM_COUNTER_H

#include <perfmon/sampling.h>
#include <stdbool.h>
#include <stdint.h>

/* A task has a sample after each of these periods on a processor, in nanoseconds. */
#define PROGRAM_COUNTER_PERIOD 1000000u

struct program_counter {
	uint64_t time; /* of CLOCK_MONOTONIC, in nanoseconds */
	uint64_t pc;   /* in user mode */
	int process, task;
};

/* Starts to sample process @pid and what it starts from now on. Returns NULL, with the reason in
 * *@why, if the kernel does not permit it; pfm_close_session() ends it. */
pfm_session_t *open_program_counter(int pid, pfm_error_t *why);

/* Takes the next sample in the order of time. False if none is ready. */
bool read_program_counter(pfm_session_t *s, struct program_counter *out);

#endif
