/* SPDX-License-Identifier: MIT */
/* State of the device model, private to its files. */
#ifndef PERFMON_MODEL_STATE_H
#define PERFMON_MODEL_STATE_H

#include <perfmon/pfcntr.h>
#include "alpha/model.h"

struct device_process {
	int pid;
	unsigned uid;
	int bound_cpu;  /* processor that it is bound to, or ALPHA_DEVICE_UNBOUND */
	bool is_marked; /* PME */
};

enum profile_mode { PROFILE_NONE, PROFILE_USER, PROFILE_KERNEL };

struct device_text_range {
	uint64_t start, end;
};

/* The range in which program counters are sampled, and the buckets: one block for each entry. */
struct device_profile {
	enum profile_mode mode;
	struct device_text_range range;
	uint64_t stride;
	bool charges_callers;
	unsigned n_caller_ranges;
	struct device_text_range caller_ranges[ALPHA_DEVICE_MAX_CALLER_RANGES];
	size_t n_buckets; /* of one block */
	uint32_t *buckets;
};

/* An open of the device. */
struct device_session {
	bool is_open;
	int pid;
	unsigned mode; /* PCNTOPEN* */
	uint64_t cpus; /* processors that it holds */
	unsigned items;
	bool counts_marked_only;                 /* only marked processes are counted */
	uint64_t mux_word, freq_word, mode_word; /* as set by the requests */
	bool has_interrupts_on;
	unsigned running_counters;
	struct device_profile profile;
};

/* A processor: the chip's counters, and the driver's counts, which outlive an open. */
struct device_cpu {
	int session; /* index of the session that holds it, or -1 */
	bool is_foreign;
	uint64_t chip_values[ALPHA_DEVICE_MAX_COUNTERS];
	uint64_t interrupt_counts[ALPHA_DEVICE_MAX_COUNTERS];
	uint64_t level_counts[PFM_IPL_LEVELS];
	uint64_t clock_cycles;     /* cycles since the counts were cleared */
	uint64_t interrupt_cycles; /* clock_cycles at the last interrupt */
	uint64_t n_discarded;
};

struct alpha_device {
	struct alpha_device_options options;
	struct device_cpu cpus[ALPHA_DEVICE_MAX_CPUS];
	struct device_session sessions[ALPHA_DEVICE_MAX_CPUS];
	struct device_process *processes;
	size_t n_processes;
	bool fails_next_alloc, is_error_unconfirmed;
	uint64_t event_remainders[ALPHA_DEVICE_MAX_COUNTERS]; /* remainders of alpha_device_run() */
	alpha_device_pal_fn trace_pal;
	void *trace_arg;
};

static inline bool alpha_device_is_ev5(const struct alpha_device *m)
{
	return m->options.family == ALPHA_DEVICE_EV5 || m->options.family == ALPHA_DEVICE_PCA56;
}

static inline bool alpha_device_is_ev6(const struct alpha_device *m)
{
	return m->options.family == ALPHA_DEVICE_EV6 || m->options.family == ALPHA_DEVICE_EV67;
}

static inline unsigned alpha_device_count_counters(const struct alpha_device *m)
{
	return alpha_device_is_ev5(m) ? 3 : 2;
}

/* Bits of a counter, for EV5 and later: EV4's counters cannot be read. */
static inline unsigned alpha_device_counter_width(const struct alpha_device *m, unsigned counter)
{
	if (alpha_device_is_ev6(m))
		return 20;
	return counter == 2 ? 14 : 16;
}

struct device_process *alpha_device_find_process(const struct alpha_device *m, int pid);
/* The session with handle @handle, or NULL. */
struct device_session *alpha_device_get_session(struct alpha_device *m, int handle);
/* Events between interrupts of @counter with the settings of @u. */
uint64_t alpha_device_get_rate(const struct alpha_device *m, const struct device_session *u,
                               unsigned counter);
/* Frees the buckets. */
void alpha_device_drop_profile(struct device_session *u);
/* The number of blocks of samples and of entries of results: one, or one for each processor. */
static inline unsigned alpha_device_count_entries(const struct alpha_device *m,
                                                  const struct device_session *u)
{
	return u->mode == PCNTOPENEACH ? m->options.n_cpus : 1;
}

#endif
