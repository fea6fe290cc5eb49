/* SPDX-License-Identifier: MIT */
/* Readings of a session at intervals, from which values with intervals are computed. */
#ifndef PFM_EXPLAIN_READINGS_H
#define PFM_EXPLAIN_READINGS_H

#include <sys/types.h>
#include "check_events/check_events.h"
#include "explain/explain.h"

/* When READINGS_MAX are kept, every second one is dropped, and the interval doubles. */
enum { READINGS_MAX = 64 };

struct reading_series {
	pfm_session_t *s;
	unsigned n_counts, n;
	pfm_count_t *counts; /* READINGS_MAX times n_counts */
	double seconds[READINGS_MAX];
	double queued[READINGS_MAX]; /* seconds in which the tasks could run and had no CPU */
	double locked[READINGS_MAX]; /* threads that waited for a lock at that moment */
	pid_t pid;
	uint64_t begin; /* by now_ns() */
	unsigned interval_ms;
};

/* ---- ratios.c -------------------------------------------------------------------------------- */

enum { RATIOS_MAX = 8, RATIO_PARTS_MAX = 4, RATIO_TEXTS_MAX = 2 * RATIOS_MAX * RATIO_PARTS_MAX };

/* A value "A/B": the events that count A, side 0, and those that count B, side 1. */
struct event_ratio {
	size_t value;            /* in the evidence */
	unsigned first[2], n[2]; /* texts of the session */
};

struct event_ratios {
	struct event_ratio list[RATIOS_MAX];
	char texts[RATIO_TEXTS_MAX][EVENT_TEXT_MAX];
	unsigned n, n_texts;
};

/* Finds the events of this machine that count @meaning: one, or those whose sum it is. Returns
 * their number, 0 if there are none or more than @most. */
unsigned find_events_of_meaning(const pfm_ctx_t *ctx, const char *meaning,
                                char texts[][EVENT_TEXT_MAX], unsigned most);
/* Finds the events of the values of @e that are ratios. Values without events get a reason.
 * @first: the number of texts that the session has before these. */
void find_ratios(const pfm_ctx_t *ctx, struct explain_evidence *e, unsigned first,
                 struct event_ratios *out);
/* Computes the value of a ratio from the differences @rounds. */
void compute_ratio(const struct reading_series *r, const pfm_count_t *rounds,
                   const struct event_ratio *ratio, struct explain_value *v);
#define TOO_SHORT "the run was too short for an interval: let the program do more work"
/* Sets a value to the mean of @n numbers, with its interval. */
void set_mean(struct explain_value *v, const double *numbers, unsigned n);

#endif
