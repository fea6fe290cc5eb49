/* SPDX-License-Identifier: MIT */
/* The search for the least number of groups: compared with all partitions of small problems,
 * together with the bound and the proof that it reports. */
#include "units.h"
#include <perfmon/types.h>
#include "metric/group_packing.h"

enum { MOST = 6 };

/* Items with counters; those of one color of @clash (not 0) cannot be in one group unless they are
 * plain. */
struct problem {
	struct pack_problem p;
	uint64_t mask[PACK_MAX_ITEMS + 1];
	bool plain[PACK_MAX_ITEMS + 1], apart[PACK_MAX_ITEMS + 1];
	uint16_t family[PACK_MAX_ITEMS + 1], group[PACK_MAX_ITEMS + 1];
	uint8_t clash[PACK_MAX_ITEMS + 1];
	uint8_t side[PACK_MAX_ITEMS + 1],
		rank[PACK_MAX_ITEMS +
	             1]; /* those of sides 1 and 2 go together if they are of one rank */
	unsigned asked;
	bool wrong; /* fits() was asked something that its caller promises not to */
};

#define GENERAL 0xffffffffull

/* Tries to give every item a counter of its own. In a group with an item that is kept apart, the
 * other items cannot use general counters. */
static bool seats(const struct problem *q, const uint16_t *items, unsigned n, unsigned i,
                  uint64_t taken)
{
	uint64_t left;
	bool lonely = false;

	for (unsigned k = 0; k < n; k++)
		lonely |= q->apart[items[k]];
	if (i == n)
		return true;
	if (!q->mask[items[i]])
		return seats(q, items, n, i + 1, taken);
	left = q->mask[items[i]] & ~taken & (lonely && !q->apart[items[i]] ? ~GENERAL : UINT64_MAX);
	for (; left; left &= left - 1)
		if (seats(q, items, n, i + 1, taken | (left & -left)))
			return true;
	return false;
}

static bool agree(const struct problem *q, const uint16_t *items, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++) {
			unsigned a = items[i], b = items[k];

			if (q->side[a] + q->side[b] == 3 && q->side[a] && q->side[b] &&
			    q->rank[a] != q->rank[b])
				return false;
			if ((q->clash[a] && q->clash[a] == q->clash[b] && !q->plain[a] &&
			     !q->plain[b]) ||
			    (q->apart[a] && q->apart[b]))
				return false;
		}
	return true;
}

static bool fits(void *arg, const uint16_t *items, unsigned n)
{
	struct problem *q = arg;

	q->asked++;
	q->wrong |= n == 0 || n > PACK_MAX_GROUP || (n > 1 && q->plain[items[0]]);
	return n == 1 ? q->clash[items[0]] != 255 : agree(q, items, n);
}

static struct problem *init_attempt(unsigned n)
{
	static struct problem q;

	memset(&q, 0, sizeof(q));
	q.p = (struct pack_problem){ .n_items = n,
		                     .counter_mask = q.mask,
		                     .is_plain = q.plain,
		                     .can_share_group = fits,
		                     .arg = &q,
		                     .group = q.group,
		                     .effort = 100000 };
	for (unsigned i = 0; i < n; i++) {
		q.plain[i] = true;
		q.mask[i] = 1;
	}
	return &q;
}

/* True if the groups that @q has now are good ones. */
static bool sound(const struct problem *q, unsigned n_groups)
{
	for (unsigned g = 0; g < n_groups; g++) {
		uint16_t items[PACK_MAX_ITEMS];
		unsigned n = 0;

		for (uint16_t i = 0; i < q->p.n_items; i++)
			if (q->group[i] == g)
				items[n++] = i;
		if (!agree(q, items, n) || !seats(q, items, n, 0, 0))
			return false;
	}
	for (unsigned i = 0; i < q->p.n_items; i++)
		if (q->group[i] >= n_groups)
			return false;
	return true;
}

/* The least number of groups, by trying all. */
static unsigned least(struct problem *q)
{
	uint16_t given[PACK_MAX_ITEMS];

	memcpy(given, q->group, sizeof(given));
	for (unsigned k = 1;; k++)
		for (unsigned long way = 0, ways = 1; way < ways; way++) {
			ways = 1;
			for (unsigned i = 0, left = (unsigned)way; i < q->p.n_items;
			     i++, left /= k, ways *= k)
				q->group[i] = (uint16_t)(left % k);
			if (sound(q, k)) {
				memcpy(q->group, given, sizeof(given));
				return k;
			}
		}
}

static void any_small_problem(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (unsigned round = 0; round < 1500; round++) {
		struct problem *q = init_attempt(1 + (unsigned)(unit_random(&seed) % MOST));
		bool some_apart = round % 3 == 0;

		for (unsigned i = 0; i < q->p.n_items; i++) {
			uint64_t r = unit_random(&seed);

			q->mask[i] = (r & 7) == 7 ? 0 : (r & 7) | (r >> 8 & 1) << 32;
			q->plain[i] = r >> 16 & 1;
			q->clash[i] = r >> 20 & 1;
			q->apart[i] = some_apart && !q->plain[i] && q->mask[i] && (r >> 24 & 1);
		}
		q->p.is_exclusive = some_apart ? q->apart : NULL;
		if (pfmi_plan_pack_groups(&q->p) != PFMLIB_SUCCESS || !q->p.is_optimal ||
		    q->wrong || !sound(q, q->p.n_groups))
			fail_msg("round %u", round);
		if (q->p.n_groups != least(q) || q->p.bound != q->p.n_groups)
			fail_msg("round %u: %u groups, %u", round, q->p.n_groups, least(q));
	}
}

/* Why there cannot be fewer. */
static void each_bound_has_its_proof(void **state)
{
	struct problem *q = init_attempt(2);

	(void)state;
	q->mask[1] = 2;
	assert_int_equal(pfmi_plan_pack_groups(&q->p), PFMLIB_SUCCESS);
	assert_true(q->p.n_groups == 1 && q->p.bound == 1 && q->p.proof == PACK_PROOF_ONE_GROUP);
	q = init_attempt(5); /* three of them have counter 2 alone */
	for (unsigned i = 0; i < 5; i++)
		q->mask[i] = i < 3 ? 4 : 0xff;
	pfmi_plan_pack_groups(&q->p);
	assert_true(q->p.n_groups == 3 && q->p.bound == 3 && q->p.proof == PACK_PROOF_COUNTERS &&
	            q->p.proof_counters == 4);
	q = init_attempt(5); /* five on two: by counting */
	for (unsigned i = 0; i < 5; i++)
		q->mask[i] = 3;
	pfmi_plan_pack_groups(&q->p);
	assert_true(q->p.n_groups == 3 && q->p.proof == PACK_PROOF_COUNTERS &&
	            q->p.proof_counters == 3);
	q->p.proven_bound = 3;
	pfmi_plan_pack_groups(&q->p);
	assert_true(q->p.n_groups == 3 &&
	            q->p.proof == PACK_PROOF_COUNTERS); /* what is given proves no more */
	q->p.proven_bound = 4;
	pfmi_plan_pack_groups(&q->p);
	assert_true(q->p.n_groups == 4 && q->p.bound == 4 && q->p.proof == PACK_PROOF_CALLER &&
	            q->p.is_optimal);
	q = init_attempt(3); /* three that never go together, though there are counters */
	for (unsigned i = 0; i < 3; i++) {
		q->mask[i] = 0xff;
		q->plain[i] = false;
		q->clash[i] = 1;
	}
	pfmi_plan_pack_groups(&q->p);
	assert_true(q->p.n_groups == 3 && q->p.bound == 3 && q->p.proof == PACK_PROOF_SEARCH &&
	            q->p.is_optimal);
	for (unsigned i = 0; i < 3; i++) {
		q->clash[i] = 0;
		q->apart[i] = true;
	}
	q->p.is_exclusive = q->apart;
	pfmi_plan_pack_groups(&q->p);
	assert_true(q->p.n_groups == 3 && q->p.bound == 3 && q->p.proof == PACK_PROOF_EXCLUSIVE);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(q->group[i], i); /* the first groups are theirs, in their order */
	q->p.proven_bound = 3;
	pfmi_plan_pack_groups(&q->p);
	assert_int_equal(q->p.proof, PACK_PROOF_CALLER);
}

/* Nothing to count is one group, and items that take no counter are in the first one there is. */
static void items_without_counters(void **state)
{
	struct problem *q = init_attempt(0);

	(void)state;
	assert_int_equal(pfmi_plan_pack_groups(&q->p), PFMLIB_SUCCESS);
	assert_true(q->p.n_groups == 1 && q->p.proof == PACK_PROOF_ONE_GROUP);
	q = init_attempt(3);
	memset(q->mask, 0, sizeof(q->mask));
	memset(q->group, 0xff, sizeof(q->group));
	assert_int_equal(pfmi_plan_pack_groups(&q->p), PFMLIB_SUCCESS);
	assert_int_equal(q->p.n_groups, 1);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(q->group[i], 0);
}

/* As many as there may be, of all items and in one group. */
static void one_item_more_than_fit_is_refused(void **state)
{
	struct problem *q = init_attempt(PACK_MAX_ITEMS);

	(void)state;
	for (unsigned i = 0; i < PACK_MAX_ITEMS; i++)
		q->mask[i] = UINT64_MAX;
	assert_int_equal(pfmi_plan_pack_groups(&q->p), PFMLIB_SUCCESS);
	assert_int_equal(q->p.n_groups, PACK_MAX_ITEMS / 64);
	q = init_attempt(PACK_MAX_ITEMS + 1);
	assert_int_equal(pfmi_plan_pack_groups(&q->p), PFMLIB_ERR_TOOMANY);
	for (unsigned n = PACK_MAX_GROUP; n <= PACK_MAX_GROUP + 1; n++) {
		q = init_attempt(n);
		for (unsigned i = 0; i < n; i++) {
			q->mask[i] = UINT64_MAX;
			q->plain[i] = false;
		}
		assert_int_equal(pfmi_plan_pack_groups(&q->p), PFMLIB_SUCCESS);
		assert_int_equal(q->p.n_groups, n > PACK_MAX_GROUP ? 2 : 1);
		assert_false(q->wrong);
	}
}

/* An item that never fits is named, and the first of them. */
static void items_that_do_not_fit(void **state)
{
	struct problem *q = init_attempt(4);

	(void)state;
	q->clash[2] = q->clash[3] = 255;
	assert_int_equal(pfmi_plan_pack_groups(&q->p), PFMLIB_ERR_NOASSIGN);
	assert_int_equal(q->p.n_groups, 2);
}

/* A family goes together where that costs no group. */
static void families_stay_together_where_that_is_free(void **state)
{
	struct problem *q = init_attempt(6);

	(void)state;
	q->p.affinity = q->family;
	for (unsigned i = 0; i < 6; i++) {
		q->mask[i] = 7;
		q->family[i] = i % 2 ? 0 : 9;
	}
	pfmi_plan_pack_groups(&q->p);
	assert_int_equal(q->p.n_groups, 2);
	assert_true(sound(q, 2));
	assert_true(q->group[2] == q->group[0] && q->group[4] == q->group[0]);
	for (unsigned i = 0; i < 6; i++)
		q->family[i] = 1; /* more than fit into one */
	pfmi_plan_pack_groups(&q->p);
	assert_int_equal(q->p.n_groups, 2);
	assert_true(sound(q, 2));
	for (unsigned i = 0; i < 6; i++) {
		q->family[i] = 0; /* of none */
		q->mask[i] = i < 3 ? 1 : 6;
	}
	pfmi_plan_pack_groups(&q->p);
	assert_int_equal(q->p.n_groups, 3);
	assert_true(sound(q, 3));
	/* One that is not plain leads its family, wherever the search has put it. */
	q = init_attempt(4);
	q->p.affinity = q->family;
	for (unsigned i = 0; i < 4; i++) {
		q->mask[i] = 3;
		q->plain[i] = i != 0 && i != 3;
		q->clash[i] = 1;
	}
	q->family[2] = q->family[3] = 1;
	pfmi_plan_pack_groups(&q->p);
	assert_int_equal(q->p.n_groups, 2);
	assert_int_equal(q->group[2], q->group[3]);
	assert_int_not_equal(q->group[0], q->group[3]);
}

/* Of any number of items, which is any size of memory: all in a family, and no more of them in a
 * group than there are counters. */
static void families_of_any_size(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 64; n++)
		for (unsigned width = 1; width <= 5; width += 2) {
			struct problem *q = init_attempt(n);

			q->p.affinity = q->family;
			for (unsigned i = 0; i < n; i++) {
				q->mask[i] = (1u << width) - 1;
				q->family[i] = 1;
			}
			assert_int_equal(pfmi_plan_pack_groups(&q->p), PFMLIB_SUCCESS);
			assert_int_equal(q->p.n_groups, (n + width - 1) / width);
			assert_true(sound(q, q->p.n_groups));
		}
}

/* Two groups suffice, but not with the first two items in one group. They fit together, and many
 * items that fit anywhere come before those that show the mistake. A search that is cut short gives
 * valid groups, a lower bound, and false in @is_optimal. */
static void a_search_that_is_cut_short_says_so(void **state)
{
	enum { ITEMS = 25 };
	struct problem *q = init_attempt(ITEMS);

	(void)state;
	for (unsigned i = 0; i < ITEMS; i++) {
		q->mask[i] = UINT64_MAX;
		q->plain[i] = false;
	}
	for (unsigned i = 0; i < 5; i++) {
		unsigned item = i < 2 ? i : ITEMS - 5 + i;

		q->side[item] = (uint8_t)(1 + i % 2);
		q->rank[item] = (uint8_t)(i / 2);
	}
	q->p.effort = 100;
	assert_int_equal(pfmi_plan_pack_groups(&q->p), PFMLIB_SUCCESS);
	assert_true(sound(q, q->p.n_groups) && q->p.n_groups == 3 && q->p.bound == 2 &&
	            !q->p.is_optimal);
	assert_true(q->p.proof == PACK_PROOF_SEARCH);
}

UNIT(metric_group_packing, cmocka_unit_test(any_small_problem),
     cmocka_unit_test(each_bound_has_its_proof), cmocka_unit_test(items_without_counters),
     cmocka_unit_test(one_item_more_than_fit_is_refused), cmocka_unit_test(items_that_do_not_fit),
     cmocka_unit_test(families_stay_together_where_that_is_free),
     cmocka_unit_test(families_of_any_size), cmocka_unit_test(a_search_that_is_cut_short_says_so));
