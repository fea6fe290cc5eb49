/* SPDX-License-Identifier: MIT */
/* Results of several processes as one. */
#include "made_file.h"

/* Twice the same file: each sum is twice as large, and each cost is that of twice the visits. */
static void sums_of_two_processes(void **state)
{
	struct made_regions m;
	pfm_region_process_t process = PFM_INIT(process);
	pfm_region_results_t *to, *from;
	pfm_region_count_t c;
	unsigned row;

	(void)state;
	make_file(&m);
	to = load_file();
	from = load_file();
	assert_int_equal(pfm_add_region_results(to, from), PFMLIB_SUCCESS);
	pfm_close_region_results(from);
	row = made_row(to, "outer", "", 0);
	assert_int_equal(to->n, 2); /* without those of threads */
	assert_true(made_info(to, row).visits == 4 && made_info(to, row).threads == 2);
	c = made_count(to, row, 0);
	assert_true(c.inclusive == 2400 && c.exclusive == 1600 && c.visits == 4);
	assert_true(c.min == 600 && c.max == 600 && c.variance == 0);
	assert_int_equal(c.quality, PFM_QUALITY_EXACT);
	assert_int_equal(made_count(to, made_row(to, "inner", "outer", 0), 1).inclusive, 8);
	assert_int_equal(pfm_describe_region_process(to, &process), PFMLIB_SUCCESS);
	assert_int_equal(process.n_processes, 2);
	pfm_close_region_results(to);
	unmake_file(&m);
}

/* Processes number their regions in the order in which they meet them. */
static void regions_have_the_same_names(void **state)
{
	struct made_regions m;
	pfm_region_results_t *to, *from;
	struct region_loaded *l;
	char *name;

	(void)state;
	make_file(&m);
	to = load_file();
	from = load_file();
	l = from->loaded;
	name = l->names[from->rows[made_row(from, "outer", "", 0)].region];
	assert_string_equal(name, "outer");
	name[0] = 'O';
	assert_int_equal(pfm_add_region_results(to, from), PFMLIB_SUCCESS);
	pfm_close_region_results(from);
	assert_int_equal(made_info(to, made_row(to, "outer", "", 0)).visits, 2);
	assert_int_equal(made_info(to, made_row(to, "Outer", "", 0)).visits, 2);
	assert_int_equal(made_info(to, made_row(to, "inner", "Outer", 0)).visits, 2);
	pfm_close_region_results(to);
	unmake_file(&m);
}

/* Each process subtracts the costs that it has measured. */
static void costs_of_each_process(void **state)
{
	struct made_regions m;
	pfm_region_results_t *to, *from;
	pfm_region_count_t c;
	unsigned row;

	(void)state;
	make_file(&m);
	to = load_file();
	from = load_file();
	from->loaded->layout.events[0].cost_inside = 10;
	from->loaded->layout.events[0].cost_pair = 30;
	from->loaded->layout.events[0].inside.visit = 7;
	assert_int_equal(made_count(from, made_row(from, "outer", "", 0), 0).inclusive,
	                 1200 - 2 * 10 - 2 * 30);
	assert_int_equal(pfm_add_region_results(to, from), PFMLIB_SUCCESS);
	pfm_close_region_results(from);
	row = made_row(to, "outer", "", 0);
	c = made_count(to, row, 0);
	assert_true(c.inclusive == 2400 - 2 * 10 - 2 * 30 && c.exclusive == 1600 - 2 * 30);
	assert_true(c.min == 590 && c.max == 600);
	assert_int_equal(c.error, 14); /* sqrt(4) * 7 */
	pfm_close_region_results(to);
	unmake_file(&m);
}

static void refuses_results_of_other_events(void **state)
{
	struct made_regions m;
	pfm_region_results_t *to, *from, *here;

	(void)state;
	make_file(&m);
	to = load_file();
	from = load_file();
	here = pfm_read_regions();
	assert_int_equal(pfm_add_region_results(to, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_add_region_results(NULL, to), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_add_region_results(to, to), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_add_region_results(here, to), PFMLIB_ERR_INVAL);
	from->loaded->layout.events[1].name[0] = 'x';
	assert_int_equal(pfm_add_region_results(to, from), PFMLIB_ERR_INVAL);
	assert_true(to->n == 4);
	pfm_close_region_results(here);
	pfm_close_region_results(from);
	pfm_close_region_results(to);
	unmake_file(&m);
}

UNIT(region_merge, cmocka_unit_test(sums_of_two_processes),
     cmocka_unit_test(regions_have_the_same_names), cmocka_unit_test(costs_of_each_process),
     cmocka_unit_test(refuses_results_of_other_events));
