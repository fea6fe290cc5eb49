/* SPDX-License-Identifier: MIT */
/* Results in the form of likwid's marker file. */
#include "made_regions.h"

static void one_region_in_two_threads(void **state)
{
	struct made_regions m;
	struct made_results made;
	char *got;

	(void)state;
	make_regions(&m);
	make_results(&made, "likwid");
	got = write_to_text(pfmi_region_write_likwid, &made.results);
	assert_string_equal(got, "1 1 1\n0:likwid-0\n0 0 0 3 3.000000e-06 2 6.000000e+02 nan\n");
	free(got);
	unmake_regions(&m);
}

/* Two threads, of which one has the region under two parents: its rows are added up. */
static void parents_are_added(void **state)
{
	struct made_regions m;
	struct made_results made;
	struct result_row rows[3];
	char *got;

	(void)state;
	make_regions(&m);
	make_results(&made, "likwid");
	rows[0] = rows[1] = rows[2] = made.rows[1];
	rows[0].tid = 12;
	rows[1].parent = pfmi_region_find_or_make_number("likwid: parent");
	made.results.rows = rows;
	made.results.n = 3;
	got = write_to_text(pfmi_region_write_likwid, &made.results);
	assert_string_equal(got, "2 1 1\n0:likwid-0\n0 0 0 6 6.000000e-06 2 1.200000e+03 nan\n0 0 "
	                         "1 3 3.000000e-06 2 6.000000e+02 nan\n");
	free(got);
	unmake_regions(&m);
}

static void long_tags_are_written_whole(void **state)
{
	struct made_regions m;
	struct made_results made;
	char name[200], want[200], *got;

	(void)state;
	memset(name, 't', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	make_regions(&m);
	make_results(&made, name);
	got = write_to_text(pfmi_region_write_likwid, &made.results);
	snprintf(want, sizeof(want), "1 1 1\n0:%.139s-0\n", name);
	assert_memory_equal(got, want, strlen(want));
	free(got);
	unmake_regions(&m);
}

UNIT(region_write_likwid, cmocka_unit_test(one_region_in_two_threads),
     cmocka_unit_test(parents_are_added), cmocka_unit_test(long_tags_are_written_whole));
