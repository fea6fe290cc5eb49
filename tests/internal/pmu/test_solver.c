/* SPDX-License-Identifier: MIT */
/* The solver against brute force: it places a set exactly when a placement exists, the placement is
 * the first in the documented order, and the events that it reports as a clash cannot be placed
 * together and are as few as possible. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <time.h>
#include "dispatched_set.h"
#include "pmu/pmu.h"

#define NONE 0xffu

static uint64_t random_state = 88172645463325252u;

static uint64_t random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static unsigned random_below(unsigned n)
{
	return (unsigned)((random_bits() >> 20) % n);
}
static unsigned popcount(uint64_t x)
{
	return (unsigned)__builtin_popcountll(x);
}

/* A plan and the request it belongs to. */
struct set {
	struct encode_request req;
	struct plan plan;
};

static void begin_set(struct set *s, unsigned n, unsigned n_alternatives)
{
	memset(&s->req, 0, sizeof(s->req));
	s->req.n_events = n;
	s->plan.request = &s->req;
	s->plan.counterless_events = s->plan.pairs = s->plan.followers = 0;
	s->plan.n_alternatives = n_alternatives;
	for (unsigned a = 0; a < n_alternatives; a++)
		s->plan.alternatives[a].n_holds = 0;
}

/* ---- brute force ----------------------------------------------------------------------------- */

/* Sorts events as the solver does: fewest candidate counters first, then the order of the caller.
 */
static unsigned order_events(const uint64_t *mask, uint64_t active, unsigned n, unsigned *order)
{
	unsigned count = 0;

	for (unsigned c = 0; c <= 64; c++)
		for (unsigned i = 0; i < n; i++)
			if (active >> i & 1 && popcount(mask[i]) == c)
				order[count++] = i;
	return count;
}

static bool holds_filled(const struct alternative *alt, uint64_t active, unsigned n,
                         const uint8_t *counter)
{
	for (unsigned h = 0; h < alt->n_holds; h++) {
		bool filled = !(alt->holds[h].events & active);

		for (unsigned i = 0; i < n; i++)
			filled |= alt->holds[h].events & active & (uint64_t)1 << i &&
			          counter[i] == alt->holds[h].counter;
		if (!filled)
			return false;
	}
	return true;
}

struct attempt {
	const struct alternative *alt;
	const uint64_t *mask;
	const unsigned *order;
	uint64_t active, pairs;
	unsigned n, n_order;
	uint8_t *counter;
};

/* Tries every placement. The first one found is the first in the documented order. */
static bool try_all(const struct attempt *t, unsigned at, uint64_t used)
{
	if (at == t->n_order)
		return holds_filled(t->alt, t->active, t->n, t->counter);
	for (unsigned c = 0; c < 64; c++) {
		uint64_t takes = (uint64_t)(t->pairs >> t->order[at] & 1 ? 3 : 1) << c;

		if (t->mask[t->order[at]] >> c & 1 && !(used & takes)) {
			t->counter[t->order[at]] = (uint8_t)c;
			if (try_all(t, at + 1, used | takes))
				return true;
		}
	}
	return false;
}

/* Only the events of a hold can use its counter. */
static bool try_alternative(const struct alternative *alt, uint64_t active, uint64_t pairs,
                            unsigned n, uint8_t *counter)
{
	uint64_t mask[PLAN_MAX_EVENTS];
	unsigned order[PLAN_MAX_EVENTS];
	struct attempt t = { alt, mask, order, active, pairs, n, 0, counter };

	memcpy(mask, alt->counter_masks, n * sizeof(mask[0]));
	for (unsigned h = 0; h < alt->n_holds; h++)
		for (unsigned i = 0; i < n && alt->holds[h].events & active; i++)
			if (!(alt->holds[h].events >> i & 1))
				mask[i] &= ~((uint64_t)1 << alt->holds[h].counter);
	t.n_order = order_events(mask, active, n, order);
	return try_all(&t, 0, 0);
}

static bool place_by_brute_force(const struct plan *plan, uint64_t active, struct placement *out)
{
	for (unsigned a = 0; a < plan->n_alternatives; a++) {
		const struct alternative *alt = &plan->alternatives[a];

		out->alternative = a;
		memset(out->counters, NONE, plan->request->n_events);
		if (try_alternative(alt, active, plan->pairs, plan->request->n_events,
		                    out->counters))
			return true;
	}
	return false;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static uint64_t all_of(const struct plan *plan)
{
	return (plan->request->n_events >= 64 ? ~(uint64_t)0
	                                      : ((uint64_t)1 << plan->request->n_events) - 1) &
	       ~plan->counterless_events;
}

static void check_clash(const struct plan *plan, const pfm_error_t *why)
{
	uint64_t active = all_of(plan), counters = 0;
	struct placement scratch;

	assert_int_equal(why->code, PFMLIB_ERR_NOASSIGN);
	assert_int_equal(why->kind, PFM_KIND_NO_PLACEMENT);
	assert_true(get_clash(why) && !(get_clash(why) & ~active));
	assert_false(place_by_brute_force(plan, get_clash(why), &scratch));
	for (uint64_t s = active; s; s = (s - 1) & active)
		if (popcount(s) < popcount(get_clash(why)))
			assert_true(place_by_brute_force(plan, s, &scratch));
	for (unsigned a = 0; a < plan->n_alternatives; a++)
		for (unsigned i = 0; i < plan->request->n_events; i++)
			counters |= get_clash(why) >> i & 1 ? plan->alternatives[a].counter_masks[i]
			                                    : 0;
	assert_true(why->clash_counters == counters);
}

/* Returns true if the set can be placed. */
static bool agrees_with_brute_force(const struct plan *plan)
{
	struct placement fast, slow;
	pfm_error_t why = PFM_INIT(why);
	int rc = pfmi_pmu_assign_counters(plan, &fast, &why);

	if (!place_by_brute_force(plan, all_of(plan), &slow)) {
		assert_int_equal(rc, PFMLIB_ERR_NOASSIGN);
		check_clash(plan, &why);
		return false;
	}
	assert_int_equal(rc, PFMLIB_SUCCESS);
	assert_int_equal(fast.alternative, slow.alternative);
	assert_memory_equal(fast.counters, slow.counters, plan->request->n_events);
	return true;
}

static void fill_randomly(struct alternative *alt, unsigned n, unsigned n_counters,
                          unsigned density)
{
	for (unsigned i = 0; i < n; i++) {
		alt->counter_masks[i] = 0;
		for (unsigned c = 0; c < n_counters; c++)
			/* Counters all over the 64: general ones and fixed ones. */
			if (random_below(100) < density)
				alt->counter_masks[i] |= (uint64_t)1 << (c * 7 % 64);
	}
}

static void random_masks_agree_with_brute_force(void **state)
{
	unsigned placed = 0, refused = 0;
	struct set s;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		unsigned n = 1 + random_below(6);

		begin_set(&s, n, 1);
		fill_randomly(&s.plan.alternatives[0], n, 1 + random_below(7),
		              20 + random_below(70));
		*(agrees_with_brute_force(&s.plan) ? &placed : &refused) += 1;
	}
	print_message("# %u placed, %u refused\n", placed, refused);
	assert_true(placed > 2000 && refused > 2000);
}

/* Pairs begin on the even counters of their masks. */
static void pairs_agree_with_brute_force(void **state)
{
	unsigned placed = 0, refused = 0;
	struct set s;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		unsigned n = 1 + random_below(6);
		struct alternative *alt = &s.plan.alternatives[0];

		begin_set(&s, n, 1);
		s.plan.pairs = random_bits();
		s.plan.pairs &= random_bits() & (((uint64_t)1 << n) - 1); /* about a quarter */
		for (unsigned i = 0; i < n; i++)
			alt->counter_masks[i] = random_bits() & (random_below(2) ? 0xff : 0x3f) &
			                        (s.plan.pairs >> i & 1 ? 0x55 : 0xff);
		*(agrees_with_brute_force(&s.plan) ? &placed : &refused) += 1;
	}
	print_message("# %u placed, %u refused\n", placed, refused);
	assert_true(placed > 2000 && refused > 2000);
}

static void taken_counters_and_alternatives_agree_with_brute_force(void **state)
{
	unsigned placed = 0, refused = 0;
	struct set s;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		unsigned n = 1 + random_below(6), n_counters = 2 + random_below(5);

		begin_set(&s, n, 1 + random_below(3));
		if (random_below(3) == 0)
			s.plan.counterless_events = random_bits() & (((uint64_t)1 << n) - 1);
		for (unsigned a = 0; a < s.plan.n_alternatives; a++) {
			struct alternative *alt = &s.plan.alternatives[a];

			fill_randomly(alt, n, n_counters, 20 + random_below(70));
			alt->n_holds = random_below(3);
			for (unsigned h = 0; h < alt->n_holds; h++)
				alt->holds[h] =
					(struct counter_hold){ random_bits() &
					                               (((uint64_t)1 << n) - 1),
					                       random_below(n_counters) * 7 % 64 };
			for (unsigned i = 0; i < n; i++)
				alt->counter_masks[i] = s.plan.counterless_events >> i & 1
				                                ? 0
				                                : alt->counter_masks[i];
		}
		*(agrees_with_brute_force(&s.plan) ? &placed : &refused) += 1;
	}
	print_message("# %u placed, %u refused\n", placed, refused);
	assert_true(placed > 2000 && refused > 2000);
}

/* ---- sets with known placements -------------------------------------------------------------- */

static int assign_masks(const uint64_t *mask, unsigned n, struct placement *out, pfm_error_t *why)
{
	static struct set s;

	begin_set(&s, n, 1);
	memcpy(s.plan.alternatives[0].counter_masks, mask, n * sizeof(mask[0]));
	return pfmi_pmu_assign_counters(&s.plan, out, why);
}

static void events_with_fewest_counters_choose_first(void **state)
{
	static const uint64_t ev5[] = { 0x5, 0x1 }; /* cycles counts on 0 and 2, issues on 0 */
	static const uint64_t free_ones[] = { 0xf, 0xf, 0xf };
	static const uint64_t core[] = { 0x3, 0x2 };
	struct placement p;

	(void)state;
	assert_int_equal(assign_masks(ev5, 2, &p, NULL), PFMLIB_SUCCESS);
	assert_int_equal(p.counters[0], 2);
	assert_int_equal(p.counters[1], 0);
	assert_int_equal(assign_masks(free_ones, 3, &p, NULL), PFMLIB_SUCCESS);
	assert_int_equal(p.counters[0] | p.counters[1] << 4 | p.counters[2] << 8, 0x210);
	/* libpfm 3.10 puts both events on counter 1, a fault. */
	assert_int_equal(assign_masks(core, 2, &p, NULL), PFMLIB_SUCCESS);
	assert_int_equal(p.counters[0], 0);
	assert_int_equal(p.counters[1], 1);
}

/* Three events share two counters while a fourth counter is free: choosing greedily fails on the
 * first set. */
static void placed_event_moves_to_another_counter(void **state)
{
	static const uint64_t fits[] = { 0x3, 0x6, 0x5 }, clashes[] = { 0xf, 0x3, 0x3, 0x3 };
	pfm_error_t why = PFM_INIT(why);
	struct placement p;

	(void)state;
	assert_int_equal(assign_masks(fits, 3, &p, NULL), PFMLIB_SUCCESS);
	assert_int_equal(p.counters[0], 0);
	assert_int_equal(p.counters[1], 1);
	assert_int_equal(p.counters[2], 2);
	assert_int_equal(assign_masks(clashes, 4, &p, &why), PFMLIB_ERR_NOASSIGN);
	assert_true(has_clash(&why, 0xe));
	assert_true(why.clash_counters == 0x3);
	assert_int_equal(why.event, 1);
	assert_int_equal(assign_masks(clashes, 4, &p, NULL), PFMLIB_ERR_NOASSIGN);
}

static void empty_set_is_always_placed(void **state)
{
	static const uint64_t none[] = { 0 };
	pfm_error_t why = PFM_INIT(why);
	struct placement p;

	(void)state;
	assert_int_equal(assign_masks(none, 0, &p, &why), PFMLIB_SUCCESS);
	assert_int_equal(assign_masks(none, 1, &p, &why), PFMLIB_ERR_NOASSIGN);
	assert_true(has_clash(&why, 1) && why.clash_counters == 0);
}

/* ---- hard sets ------------------------------------------------------------------------------- */

/* One clash has two events for one counter, the other has nine events for eight: the solver reports
 * the two, also in sets too large to try every subset. */
static void smallest_conflict_is_reported(void **state)
{
	uint64_t mask[14];
	struct placement p;
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	for (unsigned i = 0; i < 14; i++)
		mask[i] = i < 2 ? 1 : i < 11 ? 0x1fe : 0xe00;
	assert_int_equal(assign_masks(mask, 14, &p, &why), PFMLIB_ERR_NOASSIGN);
	assert_true(has_clash(&why, 3) && why.clash_counters == 1);
}

static double get_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* Sets that make a backtracking search take exponential time. The solver must finish each quickly,
 * also under a sanitizer. */
static void hard_sets_take_no_time(void **state)
{
	uint64_t mask[64];
	static struct set s;
	struct placement p;
	pfm_error_t why = PFM_INIT(why);
	double start = get_seconds();

	(void)state;
	/* A chain: event i can use counters i and i + 1, the last event only its own. */
	for (unsigned i = 0; i < 64; i++)
		mask[i] = i < 63 ? (uint64_t)3 << i : (uint64_t)1 << 63;
	assert_int_equal(assign_masks(mask, 64, &p, &why), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(p.counters[i], i);

	/* The chain in reverse, so that the lowest counter is always the wrong choice. */
	for (unsigned i = 0; i < 64; i++)
		mask[i] = i < 63 ? (uint64_t)3 << (62 - i) : (uint64_t)1;
	assert_int_equal(assign_masks(mask, 64, &p, &why), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 63; i++)
		assert_int_equal(p.counters[i], 63 - i);

	/* 64 events, each of which can use the same 63 counters. */
	for (unsigned i = 0; i < 64; i++)
		mask[i] = ~(uint64_t)0 >> 1;
	assert_int_equal(assign_masks(mask, 64, &p, &why), PFMLIB_ERR_NOASSIGN);
	assert_int_equal(popcount(get_clash(&why)), 64);

	/* 33 events with different masks within the same 32 counters, among events that do not
	 * clash. */
	for (unsigned i = 0; i < 64; i++)
		mask[i] = i % 2 ? ~(uint64_t)0 : 0xffffffffu & ~((uint64_t)1 << i % 29);
	mask[63] = 0xffffffffu;
	assert_int_equal(assign_masks(mask, 64, &p, &why), PFMLIB_ERR_NOASSIGN);

	/* 64 different events and eight alternatives: the search for a smallest clash gives up. */
	begin_set(&s, 64, 8);
	for (unsigned a = 0; a < 8; a++)
		fill_randomly(&s.plan.alternatives[a], 64, 24, 60);
	assert_int_equal(pfmi_pmu_assign_counters(&s.plan, &p, &why), PFMLIB_ERR_NOASSIGN);
	assert_true(get_seconds() - start < 2);
}

/* In sets too large to try every subset, the reported clash is minimal: without any one of its
 * events the rest can be placed. */
static void a_large_clash_cannot_be_made_smaller(void **state)
{
	unsigned seen = 0;
	struct placement p;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		uint64_t mask[40], inner[40];
		pfm_error_t why = PFM_INIT(why);
		unsigned n = 14 + random_below(26);

		for (unsigned i = 0; i < n; i++)
			mask[i] = random_bits() >> 32 & random_bits();
		if (assign_masks(mask, n, &p, &why) == PFMLIB_SUCCESS)
			continue;
		seen++;
		for (unsigned out = 0; out <= n; out++) {
			unsigned k = 0;

			for (unsigned i = 0; i < n; i++)
				if (get_clash(&why) >> i & 1 && i != out)
					inner[k++] = mask[i];
			if (out < n && !(get_clash(&why) >> out & 1))
				continue;
			assert_int_equal(assign_masks(inner, k, &p, NULL),
			                 out < n ? PFMLIB_SUCCESS : PFMLIB_ERR_NOASSIGN);
		}
	}
	print_message("# %u clashes\n", seen);
	assert_true(seen > 50);
}

/* Sets of more than 12 events with more than 12 counter masks, sets with pairs, and sets with
 * alternatives and holds: their clashes are smallest ones too. */
static void clashes_of_large_sets_are_smallest(void **state)
{
	unsigned refused[3] = { 0 };
	struct set s;

	(void)state;
	for (unsigned round = 0; round < 90; round++) {
		unsigned n = 13 + random_below(3), kind = round % 3;
		struct alternative *alt = s.plan.alternatives;

		begin_set(&s, n, kind == 2 ? 2 : 1);
		fill_randomly(&alt[0], n, 7, 30 + random_below(40));
		fill_randomly(&alt[1], n, 7, 30 + random_below(40));
		if (kind == 1) {
			s.plan.pairs = 3;
			alt->counter_masks[0] = alt->counter_masks[1] = 0x55;
		}
		alt->n_holds = kind == 2;
		alt->holds[0] = (struct counter_hold){ random_bits() & 0x1fff, 7 };
		refused[kind] += !agrees_with_brute_force(&s.plan);
	}
	print_message("# %u, %u and %u clashes\n", refused[0], refused[1], refused[2]);
	assert_true(refused[0] > 20 && refused[1] > 20 && refused[2] > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_masks_agree_with_brute_force),
		cmocka_unit_test(pairs_agree_with_brute_force),
		cmocka_unit_test(taken_counters_and_alternatives_agree_with_brute_force),
		cmocka_unit_test(events_with_fewest_counters_choose_first),
		cmocka_unit_test(placed_event_moves_to_another_counter),
		cmocka_unit_test(empty_set_is_always_placed),
		cmocka_unit_test(smallest_conflict_is_reported),
		cmocka_unit_test(hard_sets_take_no_time),
		cmocka_unit_test(a_large_clash_cannot_be_made_smaller),
		cmocka_unit_test(clashes_of_large_sets_are_smallest),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
