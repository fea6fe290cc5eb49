/* SPDX-License-Identifier: MIT */
/* Formats by their names, and results written to a descriptor. */
#include "expect.h"
#include "made_regions.h"
#include <fcntl.h>

static void formats_by_name(void **state)
{
	static const char *const names[] = { "table", "json",   "csv",    "likwid",
		                             "papi",  "chrome", "firefox" };

	(void)state;
	for (unsigned i = 0; i < COUNT(names); i++) {
		EXPECT_ROW_TRUE(names[i], pfmi_region_find_format(names[i]) != NULL);
		EXPECT_ROW_TEXT(names[i], pfmi_region_find_format(names[i])->name, names[i]);
	}
	assert_null(pfmi_region_find_format(NULL));
	assert_null(pfmi_region_find_format(""));
	assert_null(pfmi_region_find_format("JSON"));
}

static void results_are_written_to_a_descriptor(void **state)
{
	struct made_regions m;
	struct made_results made;
	char got[4096] = "", *want;
	FILE *f = tmpfile();
	int closed;

	(void)state;
	assert_non_null(f);
	make_regions(&m);
	make_results(&made, "write");
	want = write_to_text(pfmi_region_write_csv, &made.results);
	assert_int_equal(pfm_write_regions(&made.results, fileno(f), "csv"), PFMLIB_SUCCESS);
	assert_int_equal(pread(fileno(f), got, sizeof(got) - 1, 0), strlen(want));
	assert_string_equal(got, want);
	free(want);
	assert_int_equal(ftruncate(fileno(f), 0), 0);
	lseek(fileno(f), 0, SEEK_SET);
	want = write_to_text(pfmi_region_write_table, &made.results);
	assert_int_equal(pfm_write_regions(&made.results, fileno(f), NULL), PFMLIB_SUCCESS);
	assert_int_equal(lseek(fileno(f), 0, SEEK_CUR), strlen(want));
	free(want);
	assert_int_equal(pfm_write_regions(NULL, fileno(f), "csv"), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_write_regions(&made.results, fileno(f), "xml"), PFMLIB_ERR_INVAL);
	closed = open("/dev/null", O_RDONLY);
	assert_int_equal(pfm_write_regions(&made.results, closed, "csv"), PFMLIB_ERR_SYS);
	close(closed);
	fclose(f);
	unmake_regions(&m);
}

UNIT(region_write, cmocka_unit_test(formats_by_name),
     cmocka_unit_test(results_are_written_to_a_descriptor));
