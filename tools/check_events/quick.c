/* SPDX-License-Identifier: MIT */
/* Checks the most common events of a machine in little time. */
#include "check_events/check_events.h"
#include "stat/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The meanings that most people count. */
static const enum truth_quantity common[] = { TRUTH_INSTRUCTIONS, TRUTH_CYCLES,
	                                      TRUTH_BRANCHES,     TRUTH_BRANCH_MISSES,
	                                      TRUTH_LOADS,        TRUTH_STORES,
	                                      TRUTH_PAGE_FAULTS,  TRUTH_CONTEXT_SWITCHES };

enum { N_COMMON = sizeof(common) / sizeof(common[0]) };

/* The common meanings come first, then the others in the order of kernels. */
static unsigned rank_meaning(enum truth_quantity q)
{
	for (unsigned i = 0; i < N_COMMON; i++)
		if (common[i] == q)
			return i;
	return N_COMMON + (unsigned)q;
}

/* Of one meaning, events keep their order. */
static int compare_meanings(const void *a, const void *b)
{
	const struct event_check *const *x = a, *const *y = b;
	const unsigned i = rank_meaning((*x)->quantity), k = rank_meaning((*y)->quantity);

	if (i != k)
		return i < k ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* True if the counters of the event's PMU were found to be held by others. */
static bool is_held(const struct check_list *list, const struct event_check *c)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->checks[i].is_contended && strcmp(list->checks[i].pmu, c->pmu) == 0)
			return true;
	return false;
}

static void check_one(struct checker *k, const struct check_list *list, struct event_check *c,
                      uint64_t end)
{
	if (is_held(list, c)) {
		c->is_contended = true;
		snprintf(c->reason, sizeof(c->reason), "other users hold the counters");
	} else if (now_ns() >= end) {
		snprintf(c->reason, sizeof(c->reason), "the time was over");
	} else if (c->is_whole_machine) {
		snprintf(c->reason, sizeof(c->reason), "their kernels take long");
	} else {
		check_event(k, c);
	}
}

bool check_quickly(pfm_ctx_t *ctx, double seconds, struct check_list *list)
{
	struct checker k = { .ctx = ctx,
		             .n_pairs = QUICK_PAIRS,
		             .is_quick = true,
		             .is_pretended = is_pretended_machine() };
	const uint64_t end = now_ns() + (uint64_t)(1e9 * seconds);
	struct event_check **order;

	if (!add_tagged_checks(ctx, NULL, false, list))
		return false;
	order = calloc(list->n + 1, sizeof(struct event_check *));
	if (!order)
		return false;
	for (size_t i = 0; i < list->n; i++)
		order[i] = &list->checks[i];
	qsort(order, list->n, sizeof(struct event_check *), compare_meanings);
	for (size_t i = 0; i < list->n; i++)
		check_one(&k, list, order[i], end);
	free_kernel_memory(&k.memory);
	free(order);
	return true;
}
