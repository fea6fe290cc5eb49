/* SPDX-License-Identifier: MIT */
/* Events into groups and rounds, on the kernel that is here: what it does not count says why. */
#include "units.h"
#include "region/region.h"

static void empty_list_has_one_round(void **state)
{
	struct layout l = { 0 };

	(void)state;
	assert_int_equal(pfmi_layout_plan(&l, NULL, false, NULL), PFMLIB_SUCCESS);
	assert_true(l.n_events == 0 && l.n_rounds == 1 && l.rounds[0].n == 0 && l.words == 0 &&
	            l.n_fds == 0);
	pfmi_layout_free(&l);
	assert_true(!l.ctx && !l.session && !l.events && !l.rounds);
	assert_int_equal(pfmi_layout_plan(&l, "", false, NULL), PFMLIB_SUCCESS);
	assert_int_equal(l.n_events, 0);
	pfmi_layout_free(&l);
}

/* How many groups of @l have event @i. */
static unsigned groups_of(const struct layout *l, unsigned i)
{
	unsigned n = 0;

	for (unsigned r = 0; r < l->n_rounds; r++)
		for (unsigned g = 0; g < l->rounds[r].n; g++)
			for (unsigned k = 0; k < l->rounds[r].groups[g].n; k++)
				n += l->rounds[r].groups[g].events[k] == i;
	return n;
}

static void check_events(const struct layout *l, unsigned n)
{
	assert_int_equal(l->n_events, n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(groups_of(l, i), l->events[i].countable ? 1 : 0);
		if (!l->events[i].countable)
			assert_true(l->events[i].quality != PFM_QUALITY_EXACT && *l->events[i].why);
	}
}

static void software_events_share_a_round(void **state)
{
	struct layout l = { 0 };
	unsigned n;

	(void)state;
	assert_int_equal(pfmi_layout_plan(&l, "page-faults,context-switches", false, NULL),
	                 PFMLIB_SUCCESS);
	check_events(&l, 2);
	assert_int_equal(l.n_rounds, 1); /* they take no counter */
	n = (unsigned)l.events[0].countable + l.events[1].countable;
	assert_int_equal(l.n_fds, n);
	if (n)
		assert_int_equal(l.rounds[0].groups[0].n, n);
	assert_int_equal(l.words, n ? GROUP_VALUES + n : 0);
	pfmi_layout_free(&l);
}

/* One event a group: they take turns. */
static void limited_groups_take_turns(void **state)
{
	struct layout l = { .max_group_size = 1 };

	(void)state;
	assert_int_equal(pfmi_layout_plan(&l, "page-faults,context-switches", false, NULL),
	                 PFMLIB_SUCCESS);
	check_events(&l, 2);
	if (l.events[0].countable && l.events[1].countable) {
		assert_int_equal(l.n_rounds, 2);
		assert_int_equal(l.events[0].round, 0);
		assert_int_equal(l.events[1].round, 1);
		assert_int_equal(l.words, GROUP_VALUES + 1);
	}
	pfmi_layout_free(&l);
}

UNIT(region_layout, cmocka_unit_test(empty_list_has_one_round),
     cmocka_unit_test(software_events_share_a_round), cmocka_unit_test(limited_groups_take_turns));
