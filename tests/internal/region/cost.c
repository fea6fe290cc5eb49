/* SPDX-License-Identifier: MIT */
/* The cost of begin and end, of marks whose cost is known; some of their visits are disturbed. */
#include "made_regions.h"
#include "repetitions.h"

enum { INSIDE = 10, PAIR = 30, WALL_INSIDE = 5, WALL_PAIR = 20 };

static struct thread *measured;
static unsigned n_begins, n_ends, n_disturbed;

static void begin(pfm_region_t *region)
{
	assert_true(pfmi_region_is_own(region->id));
	n_begins++;
}

static void end(pfm_region_t *region)
{
	bool is_outer = region->id == OUTER_REGION;
	unsigned pairs = is_outer ? 8 : 0;

	n_ends++;
	if (!measured->probe)
		return;
	for (unsigned w = 0; w < WORDS; w++)
		measured->probe[w] = INSIDE + pairs * PAIR + w;
	*measured->probe_wall = WALL_INSIDE + pairs * WALL_PAIR;
	if (++n_disturbed % 10 == 0) {
		measured->probe[GROUP_VALUES] += 100000;
		*measured->probe_wall += 100000;
	}
}

static void costs_are_medians(void **state)
{
	const struct layout *l = &pfmi_regions.layout;
	struct made_regions m;

	(void)state;
	make_regions(&m);
	measured = &m.thread;
	n_begins = n_ends = n_disturbed = 0;
	pfmi_region_measure_cost(&m.thread, &(struct region_marks){ begin, end });
	assert_true(n_begins > 100 && n_begins == n_ends);
	assert_true(l->wall_inside == WALL_INSIDE && l->wall_pair == WALL_PAIR);
	assert_true(l->task_inside == INSIDE + GROUP_ENABLED);
	assert_true(m.events[0].cost_inside == INSIDE + GROUP_VALUES &&
	            m.events[0].cost_pair == PAIR);
	assert_true(m.events[1].cost_inside == INSIDE + GROUP_VALUES + 1 &&
	            m.events[1].cost_pair == PAIR);
	assert_true(l->inside.first == 0 && m.events[1].inside.first == 0);
	assert_true(!m.thread.probe && m.thread.handles == 0 && m.thread.round == 0);
	unmake_regions(&m);
}

/* ---- empty regions ------------------------------------------------------------------------- */

static uint64_t seed;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((seed >> 33) % n);
}

/* The cost of a visit that is never less than 40, usually a little more, and in one of 25 visits
 * much more. */
static uint64_t draw_cost(unsigned pairs)
{
	uint64_t cost = 0;

	for (unsigned i = 0; i <= pairs; i++)
		cost += 40 + draw(4) * draw(4) + (draw(25) ? 0 : 30 + draw(100));
	return cost;
}

/* The first visit of a thread costs at least 500 more. The last 9 samples are of such visits. */
static uint64_t draw_first_cost(void)
{
	return 500 + draw(1000);
}

static void end_by_chance(pfm_region_t *region)
{
	const unsigned pairs = region->id == OUTER_REGION ? 8 : 0;
	const bool is_first = measured->probe && n_ends++ >= 4 * 101;

	if (!measured->probe)
		return;
	for (unsigned w = 0; w < WORDS; w++)
		measured->probe[w] = draw_cost(pairs) + (is_first ? draw_first_cost() : 0);
	*measured->probe_wall = draw_cost(pairs) + (is_first ? draw_first_cost() : 0);
}

/* Draws @n visits of a program on a machine that others use: an interrupt in one of 300, another
 * process in one of 3000. None was measured with the costs. */
static struct counted_visits draw_visits(uint64_t n, unsigned pairs)
{
	struct counted_visits v = {
		.visits = n, .pairs = n * pairs, .min = UINT64_MAX, .threads = 1
	};

	for (uint64_t k = 0; k < n; k++) {
		uint64_t cost = draw_cost(pairs) + (k ? 0 : 500 + draw(700)) +
		                (draw(300) ? 0 : 5000 + draw(5000)) + (draw(3000) ? 0 : 4000000);

		v.sum += cost;
		v.min = cost < v.min ? cost : v.min;
	}
	/* A shortest visit is without the cost of those inside. */
	v.min = v.min > (uint64_t)pairs * 40 ? v.min - (uint64_t)pairs * 40 : 0;
	return v;
}

/* Number of 100 empty regions of @visits, with as many inside each as @pairs, whose interval
 * contains 0. */
static unsigned count_empty(const struct region_event *e, uint64_t visits, unsigned pairs)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 100; i++) {
		struct overhead o = pfmi_region_compute_overhead(&pfmi_regions.layout, e, visits,
		                                                 visits * pairs);
		const struct counted_visits v = draw_visits(visits, pairs);

		pfmi_region_add_rare_costs(&o, &pfmi_regions.layout, e, &v);
		n += v.sum <= o.cost + o.error && o.cost <= v.sum + o.error;
	}
	return n;
}

static void intervals_of_empty_regions_contain_0(void **state)
{
	static const uint64_t visits[] = { 1, 2, 10, 100, 1000, 20000 };
	struct made_regions m;

	(void)state;
	seed = 47;
	n_ends = 0;
	make_regions(&m);
	measured = &m.thread;
	pfmi_region_measure_cost(&m.thread, &(struct region_marks){ begin, end_by_chance });
	for (unsigned i = 0;
	     i < sizeof(visits) / sizeof(visits[0]) && visits[i] <= count_repetitions(20000); i++)
		for (unsigned pairs = 0; pairs <= 8; pairs += 8) {
			assert_in_range(count_empty(NULL, visits[i], pairs), 95, 100);
			assert_in_range(count_empty(&m.events[0], visits[i], pairs), 95, 100);
		}
	unmake_regions(&m);
}

/* A region that counts twice the cost is measured, and one that counts a tenth is not. */
static void intervals_are_no_larger_than_the_spread(void **state)
{
	struct made_regions m;
	struct overhead o;

	(void)state;
	seed = 48;
	n_ends = 0;
	make_regions(&m);
	measured = &m.thread;
	pfmi_region_measure_cost(&m.thread, &(struct region_marks){ begin, end_by_chance });
	o = pfmi_region_compute_overhead(&pfmi_regions.layout, NULL, 1, 0);
	assert_in_range(o.error, 5, 130); /* the difference of the costs of two visits */
	o = pfmi_region_compute_overhead(&pfmi_regions.layout, NULL, 10000, 0);
	assert_in_range(o.error, 10000, 10000 * 20); /* that of means */
	assert_int_equal(pfmi_region_find_enough_visits(o.error + 1, 10000, &o), 0);
	assert_int_not_equal(pfmi_region_find_enough_visits(o.error, 10000, &o), 0);
	unmake_regions(&m);
}

UNIT(region_cost, cmocka_unit_test(costs_are_medians),
     cmocka_unit_test(intervals_of_empty_regions_contain_0),
     cmocka_unit_test(intervals_are_no_larger_than_the_spread));
