/* SPDX-License-Identifier: MIT */
/* Costs in a row, and how far they are known. */
#include "made_regions.h"
#include <math.h>

static void errors_of_sums(void **state)
{
	struct made_regions m;
	struct overhead o;
	struct region_event *e = &m.events[0];

	(void)state;
	make_regions(&m);
	e->cost_inside = 50;
	e->cost_pair = 80;
	e->inside = (struct uncertainty){ 3, 40, 0 };
	e->pair = (struct uncertainty){ 4, 30, 0 };
	o = pfmi_region_compute_overhead(&pfmi_regions.layout, e, 100, 0);
	assert_true(o.cost == 5000 && o.error == 500); /* sqrt(300^2 + 400^2) */
	assert_true(o.mean == 3 && o.visit == 40);
	o = pfmi_region_compute_overhead(&pfmi_regions.layout, e, 100, 100);
	assert_true(o.cost == 13000 && o.error == 707); /* sqrt(500^2 + 500^2) */
	o = pfmi_region_compute_own_overhead(&pfmi_regions.layout, e, 100, 100);
	assert_true(o.cost == 8000 && o.error == 707);
	pfmi_regions.layout.wall_inside = 10;
	pfmi_regions.layout.inside = (struct uncertainty){ 0, 5, 0 };
	o = pfmi_region_compute_overhead(&pfmi_regions.layout, NULL, 4, 0);
	assert_true(o.cost == 40 && o.error == 10);
	o = pfmi_region_compute_overhead(&pfmi_regions.layout, &m.events[1], 4, 4);
	assert_true(o.cost == 0 && o.error == 0);
	unmake_regions(&m);
}

/* 100 visits of 10 ns at least, and 9000 ns more in some of them. */
static void errors_of_rare_costs(void **state)
{
	const struct counted_visits v = { 100, 0, 10000, 10, 1 }, two = { 2, 0, 90, 40, 2 },
				    steady = { 100, 0, 1000, 10, 1 };
	struct overhead o = { .error = 400 };
	struct made_regions m;
	struct layout *l = &pfmi_regions.layout;

	(void)state;
	make_regions(&m);
	l->wall_inside = 10;
	pfmi_region_add_rare_costs(&o, l, NULL, &v);
	assert_int_equal(o.error, 9009); /* all of it: sqrt(400^2 + 9000^2) */
	l->wall_inside = 1;
	o.error = 0;
	pfmi_region_add_rare_costs(&o, l, NULL, &v);
	assert_int_equal(o.error, 900); /* the tenth that is the cost */
	l->wall_inside = 10;
	o.error = 30;
	pfmi_region_add_rare_costs(&o, l, NULL, &steady);
	assert_int_equal(o.error, 30);
	l->inside.first = 20;
	o.error = 0;
	l->wall_inside = 40;
	pfmi_region_add_rare_costs(&o, l, NULL, &two);
	assert_int_equal(o.error, 41); /* sqrt(10^2 + (2 * 20)^2) */
	pfmi_region_add_rare_costs(&o, l, &m.events[0], &v);
	assert_int_equal(o.error, 41); /* an event that begin and end do not count */
	unmake_regions(&m);
}

static void visits_that_are_enough(void **state)
{
	const struct overhead exact = { 0 }, o = { .error = 500, .mean = 3, .visit = 40 };
	uint64_t n;

	(void)state;
	assert_int_equal(pfmi_region_find_enough_visits(0, 100, &exact),
	                 0); /* nothing to subtract */
	assert_int_equal(pfmi_region_find_enough_visits(501, 100, &o), 0);
	assert_true(pfmi_region_find_enough_visits(0, 100, &o) == UINT64_MAX);
	/* 5 a visit is less than twice the error of the mean, 3 */
	assert_true(pfmi_region_find_enough_visits(500, 100, &o) == UINT64_MAX);
	/* With N visits the error of one is sqrt(9 + 1600 / N), half of 10. */
	n = pfmi_region_find_enough_visits(10, 1, &o);
	assert_int_equal(n, 101);
}

static void roots_are_exact_to_rounding(void **state)
{
	(void)state;
	for (double v = 0; v < 1e6; v += 997) {
		double root = pfmi_region_compute_root(v);

		assert_true(root * root <= v * (1 + 1e-12) && root * root >= v * (1 - 1e-12));
	}
	assert_true(pfmi_region_compute_root(-1) == 0);
	assert_true(isinf(pfmi_region_compute_root(INFINITY)));
	assert_true(pfmi_region_round(-3) == 0 && pfmi_region_round(2.5) == 3 &&
	            pfmi_region_round(1e30) == UINT64_MAX);
}

UNIT(region_subtract, cmocka_unit_test(errors_of_sums), cmocka_unit_test(errors_of_rare_costs),
     cmocka_unit_test(visits_that_are_enough), cmocka_unit_test(roots_are_exact_to_rounding));
