/* SPDX-License-Identifier: MIT */
/* The cost of begin and end, of marks whose cost is known; some of their visits are disturbed. */
#include "made_regions.h"

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
	assert_true(!m.thread.probe && m.thread.handles == 0 && m.thread.round == 0);
	unmake_regions(&m);
}

UNIT(region_cost, cmocka_unit_test(costs_are_medians));
