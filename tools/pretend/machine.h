/* SPDX-License-Identifier: MIT */
/* The machine that pfm pretend shows: a processor, and PMUs as the kernel would name and number
 * them. */
#ifndef PFM_PRETEND_MACHINE_H
#define PFM_PRETEND_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <perfmon/perfmon.h>

enum { PRETEND_PMUS = 256, PRETEND_ID_MAX = 96, NO_PARANOID_LEVEL = -100 };

/* A PMU of the pretended machine. Boxes have several instances, each with a type of its own. */
struct pretend_pmu {
	char device[64]; /* its folder of sysfs */
	uint32_t type;
	int pmu; /* its number in the library; -1: one of the kernel's own */
	bool is_core;
	int cpu; /* the only CPU that it counts on, -1: all */
};

struct pretend_machine {
	char name[64]; /* of the processor's first table */
	char desc[160];
	char id[PRETEND_ID_MAX];
	pfm_ctx_t *ctx; /* the tables of that processor */
	int paranoid;   /* kernel.perf_event_paranoid of users; NO_PARANOID_LEVEL: unchanged */
	char recording[4096]; /* a folder of sysfs that was recorded; "": made from the tables */
	/* Counts of the programs in the emulator, and their file; NULL: the clock decides. */
	const struct simulated_memory *simulated;
	char simulated_path[64];
	unsigned n_pmus;
	struct pretend_pmu pmus[PRETEND_PMUS];
};

enum processor_family {
	FAMILY_INTEL,
	FAMILY_AMD,
	FAMILY_ARM,
	FAMILY_POWER,
	FAMILY_RISCV,
	FAMILY_S390,
	N_PROCESSOR_FAMILIES
};

/* The family of the processor, by its identity. */
enum processor_family get_processor_family(const struct pretend_machine *m);
/* Fills @m with the machine of processor @cpu: the name of a table, its alias, what the names of
 * the core types of a hybrid begin with, or an identity. Its PMUs are those of the recording @path
 * (recorded.h), or with NULL all that the processor has. Reports a failure; returns an exit status.
 */
int open_pretend_machine(struct pretend_machine *m, const char *cpu, const char *path);
void close_pretend_machine(struct pretend_machine *m);
/* The PMU with type @type, or NULL. RAW events are those of the first core. */
const struct pretend_pmu *find_pretend_type(const struct pretend_machine *m, uint32_t type);
/* The first PMU of a core; NULL without one. */
const struct pretend_pmu *get_pretend_core(const struct pretend_machine *m);

#endif
