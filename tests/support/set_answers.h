/* SPDX-License-Identifier: MIT */
/* Sets of events with the counters that they get, or the events that do not fit together. */
#ifndef PERFMON_TESTS_SET_ANSWERS_H
#define PERFMON_TESTS_SET_ANSWERS_H

#include <stdbool.h>
#include "units.h"
#include "dispatched_set.h"
#include "open_for.h"

#define MAX_EVENTS 8
enum { FITS, REFUSED };

struct set_answer {
	const char *pmu;
	const char *events[MAX_EVENTS];
	unsigned answer;
	int counters[MAX_EVENTS]; /* where the events are, if the set fits */
	uint64_t clash;           /* otherwise: the events that do not fit together */
};

static inline unsigned count_events(const struct set_answer *a)
{
	unsigned n = 0;

	while (n < MAX_EVENTS && a->events[n])
		n++;
	return n;
}

/* Is the set answered as it should be? Otherwise says what differs. */
static inline bool has_answer(const struct set_answer *a, int rc, const struct dispatched_set *set,
                              const pfm_error_t *why)
{
	unsigned n = count_events(a);
	bool is_right = (rc != PFMLIB_SUCCESS) == (a->answer == REFUSED) &&
	                (rc == PFMLIB_SUCCESS || !a->clash || has_clash(why, a->clash));

	for (unsigned i = 0; i < n && rc == PFMLIB_SUCCESS; i++)
		is_right &= set->counter[i] == a->counters[i];
	if (is_right)
		return true;
	print_error("%s:", a->pmu);
	for (unsigned i = 0; i < n; i++)
		print_error(" %s(%d)", a->events[i], rc ? -1 : set->counter[i]);
	print_error(": %d, clash 0x%llx, %s\n", rc, rc ? (unsigned long long)get_clash(why) : 0ull,
	            rc && why->detail ? why->detail : "");
	return false;
}

static inline bool check_answer(const struct set_answer *a)
{
	pfm_ctx_t *ctx = open_for(a->pmu);
	struct dispatched_set set = { 0 };
	pfm_error_t why = PFM_INIT(why);
	int rc = dispatch_set(ctx, a->events, count_events(a), NULL, &set, &why);
	bool is_right = has_answer(a, rc, &set, &why);

	pfm_close_context(ctx);
	return is_right;
}

static inline void check_answers(const struct set_answer *answers, size_t n)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < n; i++)
		wrong += !check_answer(&answers[i]);
	assert_int_equal(wrong, 0);
}

#endif
