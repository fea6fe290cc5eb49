/* SPDX-License-Identifier: MIT */
/* Other names for regions. */
#include "made_file.h"

static void name_is_in_all_rows_of_the_region(void **state)
{
	struct made_regions m;
	pfm_region_results_t *r, *other;
	unsigned row;

	(void)state;
	make_file(&m);
	r = load_file();
	row = made_row(r, "outer", "", 0);
	assert_int_equal(pfm_rename_region(r, row, "solve (a.c:12)"), PFMLIB_SUCCESS);
	assert_int_equal(made_row(r, "solve (a.c:12)", "", 0), row);
	assert_int_equal(made_info(r, made_row(r, "inner", "solve (a.c:12)", 0)).visits, 2);
	other = load_file();
	assert_int_equal(
		pfm_rename_region(other, made_row(other, "outer", "", 0), "solve (a.c:12)"),
		PFMLIB_SUCCESS);
	assert_int_equal(pfm_add_region_results(r, other), PFMLIB_SUCCESS);
	assert_int_equal(made_info(r, made_row(r, "solve (a.c:12)", "", 0)).visits, 4);
	pfm_close_region_results(other);
	pfm_close_region_results(r);
	unmake_file(&m);
}

static void rows_that_have_no_name_to_change(void **state)
{
	struct made_regions m;
	pfm_region_results_t *r;

	(void)state;
	make_file(&m);
	r = load_file();
	assert_int_equal(pfm_rename_region(r, r->n, "x"), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_rename_region(r, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_rename_region(NULL, 0, "x"), PFMLIB_ERR_INVAL);
	pfm_close_region_results(r);
	r = pfm_read_regions(); /* of this process, whose names other threads read */
	assert_int_equal(pfm_rename_region(r, 0, "x"), PFMLIB_ERR_INVAL);
	pfm_close_region_results(r);
	unmake_file(&m);
}

UNIT(region_rename, cmocka_unit_test(name_is_in_all_rows_of_the_region),
     cmocka_unit_test(rows_that_have_no_name_to_change));
