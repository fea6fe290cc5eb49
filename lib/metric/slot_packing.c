/* SPDX-License-Identifier: MIT */
/* Arrangement of groups in slots. Each group first gets as many slots as it needs. They are spread
 * like tasks of one processor: turn k of a group with w of N slots has the window from k * N / w to
 * (k + 1) * N / w, and scheduling the earliest deadline first keeps every turn in its window,
 * because there are as many slots as turns. Two neighbouring turns can still be almost two windows
 * apart. A group whose slots are too far apart gets another slot. If no slots are left, a limited
 * search decides. */
#include "metric/slot_packing.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

unsigned pfmi_plan_count_needed_slots(const struct slot_demand *d, unsigned n_slots)
{
	unsigned n = d->min_slots ? d->min_slots : 1;
	unsigned by_distance = d->max_distance ? (n_slots - 1) / d->max_distance + 1 : 1;

	return by_distance > n ? by_distance : n;
}

unsigned pfmi_plan_compute_slot_distance(const unsigned *group_of, unsigned n_slots, unsigned g)
{
	unsigned first = n_slots, last = 0, most = 0;

	for (unsigned t = 0; t < n_slots; t++) {
		if (group_of[t] != g)
			continue;
		if (first == n_slots)
			first = t;
		else if (t - last > most)
			most = t - last;
		last = t;
	}
	if (first == n_slots)
		return 0;
	return first + n_slots - last > most ? first + n_slots - last : most;
}

/* ---- an even spread -------------------------------------------------------------------------- */

/* Adds the remaining slots to the groups that have the fewest. */
static void share_spare_slots(unsigned *weights, unsigned n, unsigned n_slots)
{
	unsigned sum = 0;

	for (unsigned g = 0; g < n; g++)
		sum += weights[g];
	for (; sum < n_slots; sum++) {
		unsigned least = 0;

		for (unsigned g = 1; g < n; g++)
			if (weights[g] < weights[least])
				least = g;
		weights[least]++;
	}
}

/* The group whose window ends first among those whose window has begun. */
static unsigned choose_group_by_deadline(const unsigned *weights, const unsigned *turns, unsigned n,
                                         unsigned n_slots, unsigned t)
{
	uint64_t earliest = UINT64_MAX;
	unsigned found = 0;

	for (unsigned g = 0; g < n; g++) {
		uint64_t begin = (uint64_t)turns[g] * n_slots / weights[g],
			 end = (((uint64_t)turns[g] + 1) * n_slots + weights[g] - 1) / weights[g];

		if (turns[g] == weights[g] || begin > t || end >= earliest)
			continue;
		earliest = end;
		found = g;
	}
	return found;
}

static void spread_slots(const unsigned *weights, unsigned *turns, unsigned n, unsigned n_slots,
                         unsigned *group_of)
{
	for (unsigned g = 0; g < n; g++)
		turns[g] = 0;
	for (unsigned t = 0; t < n_slots; t++) {
		group_of[t] = choose_group_by_deadline(weights, turns, n, n_slots, t);
		turns[group_of[t]]++;
	}
}

/* The first group whose slots are too far apart; @n without one. */
static unsigned find_distant_group(const struct slot_demand *demands, unsigned n,
                                   const unsigned *group_of, unsigned n_slots)
{
	for (unsigned g = 0; g < n; g++)
		if (demands[g].max_distance &&
		    pfmi_plan_compute_slot_distance(group_of, n_slots, g) > demands[g].max_distance)
			return g;
	return n;
}

/* Spreads the groups, with more slots for those whose distance is too great. False if the slots do
 * not suffice. @weights: on entry, the slots that each group needs; @work: an array of 2 * @n. */
static bool spread_evenly(const struct slot_demand *demands, unsigned n, unsigned n_slots,
                          unsigned *weights, unsigned *work, unsigned *group_of)
{
	unsigned sum = 0, g;

	for (g = 0; g < n; g++)
		sum += weights[g];
	for (;; sum++) {
		for (g = 0; g < n; g++)
			work[g] = weights[g];
		share_spare_slots(work, n, n_slots);
		spread_slots(work, work + n, n, n_slots, group_of);
		g = find_distant_group(demands, n, group_of, n_slots);
		if (g == n)
			return true;
		if (sum == n_slots)
			return false;
		weights[g]++;
	}
}

/* ---- the search ------------------------------------------------------------------------------ */

/* State of the search when slots 0 to t - 1 are filled. The last turn of each group before the
 * cycle is assumed to be in slot -1, the best case. Group 0 has slot 0: a cycle can begin anywhere,
 * so every arrangement can be rotated to that. */
struct slot_search {
	const struct slot_demand *demands;
	unsigned n_groups, n_slots;
	unsigned *group_of;
	int *last_slot, *first_slot, *previous_slot; /* previous_slot: for each slot, @last_slot of
	                                                its group before the slot was filled */
	unsigned *turns,
		*due_at; /* due_at: the number of groups that are due in each of the next slots */
};

/* The last slot in which group @g must have its next turn. */
static int compute_due_slot(const struct slot_search *s, unsigned g)
{
	const struct slot_demand *d = &s->demands[g];
	unsigned needed = d->min_slots ? d->min_slots : 1;
	int end = (int)s->n_slots - 1, due = end;

	if (s->turns[g] < needed)
		due = end - (int)(needed - s->turns[g] - 1);
	else if (!d->max_distance || s->last_slot[g] + (int)d->max_distance > end)
		return end + 1;
	if (d->max_distance && s->last_slot[g] + (int)d->max_distance < due)
		due = s->last_slot[g] + (int)d->max_distance;
	return due;
}

/* True if the groups that are due in the next k slots are at most k, for every k. */
static bool can_meet_deadlines(const struct slot_search *s, unsigned t)
{
	unsigned sum = 0;

	for (unsigned k = 0; k <= s->n_groups; k++)
		s->due_at[k] = 0;
	for (unsigned g = 0; g < s->n_groups; g++) {
		int due = compute_due_slot(s, g), left = due - (int)t;

		if (left < 0)
			return false;
		if (due == (int)s->n_slots) /* in the next cycle */
			continue;
		s->due_at[left < (int)s->n_groups ? left : (int)s->n_groups]++;
	}
	for (unsigned k = 0; k < s->n_groups; k++) {
		sum += s->due_at[k];
		if (sum > k + 1)
			return false;
	}
	return true;
}

static bool can_repeat_cycle(const struct slot_search *s)
{
	for (unsigned g = 0; g < s->n_groups; g++)
		if (s->demands[g].max_distance &&
		    s->first_slot[g] + (int)s->n_slots - s->last_slot[g] >
		            (int)s->demands[g].max_distance)
			return false;
	return true;
}

/* The group to try after @tried, in the order of due slots and numbers; n after the last. */
static unsigned choose_next_group(const struct slot_search *s, unsigned tried, bool is_first)
{
	int after = is_first ? -1 : compute_due_slot(s, tried), least = (int)s->n_slots + 2;
	unsigned found = s->n_groups;

	for (unsigned g = 0; g < s->n_groups; g++) {
		int due = compute_due_slot(s, g);

		if (!is_first && (due < after || (due == after && g <= tried)))
			continue;
		if (due < least) {
			least = due;
			found = g;
		}
	}
	return found;
}

static void take_slot(struct slot_search *s, unsigned t, unsigned g)
{
	s->group_of[t] = g;
	s->previous_slot[t] = s->last_slot[g];
	s->last_slot[g] = (int)t;
	if (!s->turns[g]++)
		s->first_slot[g] = (int)t;
}

static void return_slot(struct slot_search *s, unsigned t)
{
	unsigned g = s->group_of[t];

	s->last_slot[g] = s->previous_slot[t];
	s->turns[g]--;
}

static enum slot_result search_slots(struct slot_search *s, unsigned long effort)
{
	unsigned t = 0, g = 0;
	bool is_first = true;

	for (unsigned long steps = 0; steps < effort; steps++) {
		if (t == s->n_slots) {
			if (can_repeat_cycle(s))
				return SLOTS_ARRANGED;
			g = s->n_groups;
		} else if (t > 0) {
			g = choose_next_group(s, g, is_first);
		} else {
			g = is_first ? 0 : s->n_groups;
		}
		if (g == s->n_groups) { /* every group was tried: back to the slot before */
			if (t == 0)
				return SLOTS_IMPOSSIBLE;
			return_slot(s, --t);
			g = s->group_of[t];
			is_first = false;
			continue;
		}
		take_slot(s, t, g);
		if (can_meet_deadlines(s, t + 1)) {
			t++;
			is_first = true;
		} else {
			return_slot(s, t);
			is_first = false;
		}
	}
	return SLOTS_NOT_FOUND;
}

static enum slot_result search_arrangement(const struct slot_demand *demands, unsigned n,
                                           unsigned n_slots, unsigned long effort,
                                           unsigned *group_of)
{
	int *numbers = calloc(2 * (size_t)n + n_slots, sizeof(*numbers));
	unsigned *counts = calloc(2 * (size_t)n + 1, sizeof(*counts));
	struct slot_search s = {
		.demands = demands, .n_groups = n, .n_slots = n_slots, .last_slot = numbers
	};
	enum slot_result result = SLOTS_NO_MEMORY;

	s.group_of = group_of;
	if (numbers && counts) {
		s.first_slot = numbers + n;
		s.previous_slot = numbers + 2 * (size_t)n;
		s.turns = counts;
		s.due_at = counts + n;
		for (unsigned g = 0; g < n; g++)
			s.last_slot[g] = -1;
		result = search_slots(&s, effort);
	}
	free(numbers);
	free(counts);
	return result;
}

enum slot_result pfmi_plan_arrange_slots(const struct slot_demand *demands, unsigned n,
                                         unsigned n_slots, unsigned long effort, unsigned *group_of)
{
	unsigned *weights = calloc(3 * (size_t)n + 1, sizeof(*weights));
	unsigned long sum = 0;
	bool is_spread;

	if (!weights)
		return SLOTS_NO_MEMORY;
	for (unsigned g = 0; g < n; g++) {
		weights[g] = pfmi_plan_count_needed_slots(&demands[g], n_slots);
		sum += weights[g];
	}
	is_spread = sum <= n_slots &&
	            spread_evenly(demands, n, n_slots, weights, weights + n, group_of);
	free(weights);
	if (sum > n_slots)
		return SLOTS_TOO_FEW;
	return is_spread ? SLOTS_ARRANGED
	                 : search_arrangement(demands, n, n_slots, effort, group_of);
}
