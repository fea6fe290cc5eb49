/* SPDX-License-Identifier: MIT */
/* Results in the form of PAPI's high-level interface: all numbers are strings. */
#include "made_slices.h"
#include <jansson.h>

static void expect_text(const json_t *o, const char *key, const char *want)
{
	assert_true(json_is_string(json_object_get(o, key)));
	assert_string_equal(json_string_value(json_object_get(o, key)), want);
}

static const json_t *get_record(const json_t *root, const char *thread, const char *number)
{
	return json_object_get(
		json_object_get(json_object_get(json_object_get(root, "threads"), thread),
	                        "regions"),
		number);
}

static void records_of_each_thread(void **state)
{
	struct made_regions m;
	struct made_results made;
	struct result_row rows[3];
	json_t *root;
	char *text;

	(void)state;
	make_regions(&m);
	make_results(&made, "papi: outer"); /* rows are in the order of their regions */
	rows[0] = made.rows[0];             /* of all threads: PAPI has none */
	rows[1] = rows[2] = made.rows[1];
	rows[2].region = pfmi_region_find_or_make_number("papi: inner");
	rows[2].parent = rows[1].region;
	made.results.rows = rows;
	made.results.n = 3;
	text = write_to_text(pfmi_region_write_papi, &made.results);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_non_null(json_object_get(json_object_get(root, "event_definitions"), "page-faults"));
	assert_int_equal(json_object_size(json_object_get(root, "threads")), 1);
	expect_text(get_record(root, "0", "0"), "name", "papi: outer");
	expect_text(get_record(root, "0", "0"), "parent_region_id", "-1");
	expect_text(get_record(root, "0", "0"), "cycles", "600");
	expect_text(get_record(root, "0", "0"), "cycles:u", "600");
	expect_text(get_record(root, "0", "0"), "real_time_nsec", "3000");
	assert_null(json_object_get(get_record(root, "0", "0"), "page-faults")); /* not counted */
	expect_text(get_record(root, "0", "1"), "name", "papi: inner");
	expect_text(get_record(root, "0", "1"), "parent_region_id", "0");
	assert_null(get_record(root, "0", "2"));
	json_decref(root);
	free(text);
	unmake_regions(&m);
}

/* Visits that were kept have a record each, as PAPI writes them. */
static void records_of_each_visit(void **state)
{
	struct made_regions m;
	struct made_results made;
	json_t *root;
	char *text;

	(void)state;
	make_slices(&m);
	make_results(&made, "outer");
	text = write_to_text(pfmi_region_write_papi, &made.results);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	expect_text(get_record(root, "0", "0"), "name", "outer");
	expect_text(get_record(root, "0", "0"), "parent_region_id", "-1");
	expect_text(get_record(root, "0", "0"), "cycles", "100"); /* 112 - 2 - 10 */
	expect_text(get_record(root, "0", "0"), "real_time_nsec", "1001");
	expect_text(get_record(root, "0", "1"), "name", "inner");
	expect_text(get_record(root, "0", "1"), "parent_region_id", "0");
	expect_text(get_record(root, "0", "1"), "cycles:u", "50");
	expect_text(get_record(root, "0", "2"), "name", "apart");
	expect_text(get_record(root, "0", "2"), "parent_region_id", "-1");
	assert_null(get_record(root, "0", "3"));
	json_decref(root);
	free(text);
	unmake_slices(&m);
}

UNIT(region_write_papi, cmocka_unit_test(records_of_each_thread),
     cmocka_unit_test(records_of_each_visit));
