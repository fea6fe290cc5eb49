/* SPDX-License-Identifier: MIT */
/* pfm stat --simulate: counts by an emulator, which are the same in each run. The files:
 *
 *   plugin.c, instructions.c, places.c, executions.c  counts in QEMU's user mode emulators (a
 * library of its own) engine.c    finds the emulator of a program, and tests it run.c       one run
 *   recording.c  counts of each instruction as a perf.data file
 *   record.c    pfm record --simulate
 *   simulate.c  options, several runs, the report */
#ifndef PFM_SIMULATE_SIMULATE_H
#define PFM_SIMULATE_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "simulate/shared.h"

enum { ENGINE_PATH_MAX = 4096, MESSAGE_MAX = 512 };

/* An emulator. */
struct engine {
	const char *arch; /* "x86-64" or "arm64" */
	unsigned machine; /* EM_* */
	char path[ENGINE_PATH_MAX], plugin[ENGINE_PATH_MAX];
	char version[64];  /* "7.2.22" */
	const char *model; /* of the CPU; NULL: the emulator's default */
	bool has_accesses; /* loads and stores are counted */
	bool is_fixed;     /* addresses, environment and random numbers are the same in each run */
	const char
		*places; /* a file of struct simulated_profile; NULL: instructions have no places */
	const char *regions; /* the format of results of regions; NULL: regions are not counted */
	char events[64];     /* of regions */
};

/* The counts of a run: sums over all threads of all programs. */
struct simulated_run {
	uint64_t counts[N_SIMULATED];
	uint32_t n_threads, n_programs, n_uncounted, n_raced;
	int status; /* exit status as the shell's */
};

/* Finds the emulator of the program @name, as execvp(3) would find it. Returns false and writes
 * what is missing, with the remedy, to @message. */
bool find_engine(struct engine *e, const char *name, char message[MESSAGE_MAX]);
/* Counts a program whose counts are known. False if they are wrong; @message says how. */
bool test_engine(const struct engine *e, char message[MESSAGE_MAX]);
/* Finds the file of a program as execvp(3) does. False if there is none. */
bool find_program(const char *name, char path[ENGINE_PATH_MAX]);

/* Makes a file of @size zeros in memory, whose path is written to @path, and maps it. NULL and
 * errno on failure. */
void *make_shared_file(char path[64], size_t size);
/* Sums of a count over all threads of all programs. */
uint64_t count_simulated(const struct simulated_memory *m, enum simulated_event event);
/* Becomes the emulator of @command, which counts in the file @memory. Returns after a failure. */
void execute_simulated(const struct engine *e, const char *memory, char *const *command);
/* Runs @command. False, with @message, if it could not be run. */
bool run_simulated(const struct engine *e, char *const *command, struct simulated_run *out,
                   char message[MESSAGE_MAX]);

/* Writes the recording @path: the counts of each instruction in @p as samples, and a description of
 * the engine and the command. Returns 0 or errno. */
int write_simulated_recording(const char *path, const struct engine *e, char *const *command,
                              const struct simulated_profile *p);

struct command;
extern const struct command cmd_simulate, cmd_simulate_record;
/* True if the options among @arguments, those of pfm stat or pfm record, have --simulate. */
bool is_simulation(char *const *arguments);

#endif
