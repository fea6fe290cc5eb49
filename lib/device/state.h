/* SPDX-License-Identifier: MIT */
/* What the device model remembers. Shared by its files, seen by nobody else. */
#ifndef PERFMON_MODEL_STATE_H
#define PERFMON_MODEL_STATE_H

#include <perfmon/pfcntr.h>
#include "model.h"

struct process {
	int pid;
	unsigned uid;
	int cpu;     /* bound to, or MODEL_UNBOUND */
	bool marked; /* PME */
};

enum profile_mode { PROFILE_NONE,
	            PROFILE_USER,
	            PROFILE_KERNEL };

struct text_range {
	uint64_t start, end;
};

/* Where program counters are collected, and the buckets: one block per entry. */
struct profile {
	enum profile_mode mode;
	struct text_range range;
	uint64_t stride;
	bool caller;
	unsigned n_extra;
	struct text_range extra[MODEL_MAX_EXTRA];
	size_t n_buckets; /* of one block */
	uint32_t *buckets;
};

/* One open of the device. */
struct use {
	bool open;
	int pid;
	unsigned mode; /* PCNTOPEN* */
	uint64_t cpus; /* held */
	unsigned items;
	bool select;               /* count marked processes only */
	uint64_t mux, freq, modes; /* as the requests gave them */
	bool interrupts;
	unsigned running;
	struct profile profile;
};

/* One processor: the chip's counters and the driver's. The driver's outlive an open. */
struct cpu {
	int use; /* index of the use that holds it, or -1 */
	bool foreign;
	uint64_t value[MODEL_MAX_COUNTERS];
	uint64_t interrupts[MODEL_MAX_COUNTERS];
	uint64_t ipl[PFM_IPL_LEVELS];
	uint64_t clock;  /* cycles since the counts were cleared */
	uint64_t cycles; /* clock at the last interrupt */
	uint64_t discarded;
};

struct model {
	struct model_options options;
	struct cpu cpus[MODEL_MAX_CPUS];
	struct use uses[MODEL_MAX_CPUS];
	struct process *processes;
	size_t n_processes;
	bool fail_alloc, unconfirmed;
	uint64_t share[MODEL_MAX_COUNTERS]; /* remainders of pfmi_model_run() */
	model_pal_fn pal;
	void *pal_arg;
};

static inline bool model_is_ev5(const struct model *m)
{
	return m->options.family == MODEL_EV5 || m->options.family == MODEL_PCA56;
}

static inline bool model_is_ev6(const struct model *m)
{
	return m->options.family == MODEL_EV6 || m->options.family == MODEL_EV67;
}

static inline unsigned model_n_counters(const struct model *m)
{
	return model_is_ev5(m) ? 3 : 2;
}

/* EV5 and later: those of EV4 cannot be read. */
static inline unsigned model_width(const struct model *m, unsigned counter)
{
	if (model_is_ev6(m))
		return 20;
	return counter == 2 ? 14 : 16;
}

struct process *pfmi_model_find(const struct model *m, int pid);
/* The use behind @handle, or NULL. */
struct use *pfmi_model_use(struct model *m, int handle);
/* Events between interrupts of @counter with the settings of @u. */
uint64_t pfmi_model_use_rate(const struct model *m, const struct use *u, unsigned counter);
/* Drops the buckets. */
void pfmi_model_drop_profile(struct use *u);
/* Blocks of samples and entries of results: one, or one per processor. */
static inline unsigned model_n_entries(const struct model *m, const struct use *u)
{
	return u->mode == PCNTOPENEACH ? m->options.n_cpus : 1;
}

#endif
