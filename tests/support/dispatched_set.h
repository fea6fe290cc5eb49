/* SPDX-License-Identifier: MIT */
/* A set whose result outlives its release, in memory of the test. */
#ifndef PERFMON_DISPATCHED_SET_H
#define PERFMON_DISPATCHED_SET_H

#include <string.h>
#include <perfmon/perfmon.h>

enum { MAX_SET = 64, MAX_SET_REGS = 96 };

struct dispatched_set {
	int pmu;
	unsigned n_events, n_pmcs, n_pmds;
	int counter[MAX_SET];
	pfm_reg_t pmcs[MAX_SET_REGS], pmds[MAX_SET_REGS];
};

/* pfm_dispatch_set() with its result copied to @out, which is unchanged on failure. */
static inline int dispatch_set(const pfm_ctx_t *ctx, const char *const *texts, unsigned n,
                               const pfm_dispatch_options_t *options, struct dispatched_set *out,
                               pfm_error_t *error)
{
	const pfm_set_t *set;
	int rc = pfm_dispatch_set(&set, ctx, texts, n, options, error);

	if (rc != PFMLIB_SUCCESS)
		return rc;
	out->pmu = set->pmu;
	out->n_events = set->n_events;
	out->n_pmcs = set->n_pmcs;
	out->n_pmds = set->n_pmds;
	memcpy(out->counter, set->counter, set->n_events * sizeof(out->counter[0]));
	memcpy(out->pmcs, set->pmcs, set->n_pmcs * sizeof(out->pmcs[0]));
	memcpy(out->pmds, set->pmds, set->n_pmds * sizeof(out->pmds[0]));
	pfm_close_set(set);
	return rc;
}

/* The events that clash (bit i: event i); all of them if the list is not ascending. */
static inline uint64_t get_clash(const pfm_error_t *error)
{
	uint64_t events = 0;

	for (uint32_t i = 0; i < error->n_clash; i++) {
		if (error->clash[i] >= MAX_SET || (i && error->clash[i] <= error->clash[i - 1]))
			return UINT64_MAX;
		events |= (uint64_t)1 << error->clash[i];
	}
	return events;
}

/* True if the events that clash are those of @events (bit i: event i). */
static inline int has_clash(const pfm_error_t *error, uint64_t events)
{
	return get_clash(error) == events;
}

/* Makes the events of @events (bit i: event i) those that clash. */
static inline void set_clash(pfm_error_t *error, uint64_t events)
{
	error->n_clash = 0;
	for (unsigned i = 0; i < MAX_SET; i++)
		if (events >> i & 1)
			error->clash[error->n_clash++] = (uint16_t)i;
}

#endif
