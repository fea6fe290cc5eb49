/* SPDX-License-Identifier: MIT */
/* Groups in slots, against brute force over every cycle, and against the definition of a gap. */
#include "units.h"
#include <stdbool.h>
#include "metric/slot_packing.h"

enum { MAX_N = 4, MAX_SLOTS = 9, EFFORT = 1000000 };

/* By definition: from each slot of the group, steps to the next one around the cycle. */
static bool keeps_demands(const struct slot_demand *d, unsigned n, const unsigned *group_of,
                          unsigned n_slots)
{
	for (unsigned g = 0; g < n; g++) {
		unsigned here = 0;

		for (unsigned t = 0; t < n_slots; t++) {
			unsigned step = 1;

			if (group_of[t] != g)
				continue;
			here++;
			while (group_of[(t + step) % n_slots] != g)
				step++;
			if (d[g].max_distance && step > d[g].max_distance)
				return false;
		}
		if (here < (d[g].min_slots ? d[g].min_slots : 1))
			return false;
	}
	return true;
}

static bool exists_by_brute_force(const struct slot_demand *d, unsigned n, unsigned n_slots)
{
	unsigned group_of[MAX_SLOTS] = { 0 }, t;

	for (;;) {
		if (keeps_demands(d, n, group_of, n_slots))
			return true;
		for (t = 0; t < n_slots && ++group_of[t] == n; t++)
			group_of[t] = 0;
		if (t == n_slots)
			return false;
	}
}

static uint32_t throw_dice(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % n;
}

static void every_small_cycle(void **state)
{
	uint32_t seed = 34;
	unsigned found[SLOTS_NO_MEMORY + 1] = { 0 };

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		struct slot_demand d[MAX_N];
		unsigned n = 1 + throw_dice(&seed, MAX_N), n_slots = 1 + throw_dice(&seed, 7),
			 group_of[MAX_SLOTS] = { 0 };
		enum slot_result result;
		bool exists;

		for (unsigned g = 0; g < n; g++)
			d[g] = (struct slot_demand){ throw_dice(&seed, 3),
				                     throw_dice(&seed, n_slots + 1) };
		result = pfmi_plan_arrange_slots(d, n, n_slots, EFFORT, group_of);
		exists = exists_by_brute_force(d, n, n_slots);
		found[result]++;
		if ((result == SLOTS_ARRANGED) != exists ||
		    (exists && !keeps_demands(d, n, group_of, n_slots))) {
			for (unsigned g = 0; g < n; g++)
				print_error("group %u: %u slots, distance %u\n", g, d[g].min_slots,
				            d[g].max_distance);
			fail_msg("round %u: %u groups, %u slots: result %d, by brute force %s",
			         round, n, n_slots, result, exists ? "possible" : "impossible");
		}
	}
	assert_true(found[SLOTS_ARRANGED] > 500 && found[SLOTS_TOO_FEW] > 500);
	assert_true(found[SLOTS_IMPOSSIBLE] > 0 && !found[SLOTS_NOT_FOUND]);
}

/* No search is needed: turns of each group are at most two windows apart, and near one. */
static void an_even_spread(void **state)
{
	static const unsigned wanted[] = { 30, 12, 6, 2, 1 };
	struct slot_demand d[5];
	unsigned group_of[60], count[5] = { 0 };

	(void)state;
	for (unsigned g = 0; g < 5; g++)
		d[g] = (struct slot_demand){ wanted[g], 0 };
	assert_int_equal(pfmi_plan_arrange_slots(d, 5, 60, 0, group_of), SLOTS_ARRANGED);
	for (unsigned t = 0; t < 60; t++)
		count[group_of[t]]++;
	for (unsigned g = 0; g < 5; g++) {
		assert_true(count[g] >= wanted[g]);
		assert_true(pfmi_plan_compute_slot_distance(group_of, 60, g) <
		            2 * ((60 + count[g] - 1) / count[g]));
	}
	/* The 9 slots that no demand needs go to the two rarest groups. */
	assert_int_equal(count[3] + count[4], 12);
	assert_true(count[3] == 6 && count[4] == 6);
}

static void demands_beyond_the_slots_are_refused(void **state)
{
	const struct slot_demand many[] = { { 1, 2 }, { 1, 3 }, { 1, 3 } },
				 tight[] = { { 1, 2 }, { 1, 3 } };
	unsigned group_of[12];

	(void)state;
	/* 6 of 12 slots, and 4, and 4. */
	assert_int_equal(pfmi_plan_count_needed_slots(&many[0], 12), 6);
	assert_int_equal(pfmi_plan_count_needed_slots(&many[1], 12), 4);
	assert_int_equal(pfmi_plan_arrange_slots(many, 3, 12, EFFORT, group_of), SLOTS_TOO_FEW);
	assert_int_equal(pfmi_plan_arrange_slots(tight, 2, 12, EFFORT, group_of), SLOTS_ARRANGED);
	assert_true(keeps_demands(tight, 2, group_of, 12));
	assert_int_equal(pfmi_plan_compute_slot_distance(group_of, 12, 7), 0);
}

UNIT(metric_slot_packing, cmocka_unit_test(every_small_cycle), cmocka_unit_test(an_even_spread),
     cmocka_unit_test(demands_beyond_the_slots_are_refused));
