/* SPDX-License-Identifier: MIT */
/* Visits as markers of the Firefox Profiler: tables by their schemas, names by the string table. */
#include "made_slices.h"
#include <jansson.h>
#include <unistd.h>

static const json_t *get_member(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);

	if (!value)
		fail_msg("no %s", key);
	return value;
}

/* Column @name of row @row of a table. */
static const json_t *get_cell(const json_t *table, size_t row, const char *name)
{
	json_int_t column = json_integer_value(get_member(get_member(table, "schema"), name));

	return json_array_get(json_array_get(get_member(table, "data"), row), (size_t)column);
}

static double milliseconds(const json_t *table, size_t row, const char *name)
{
	return json_number_value(get_cell(table, row, name));
}

static void expect_marker(const json_t *thread, size_t row, const char *name, double start,
                          double end)
{
	const json_t *markers = get_member(thread, "markers");
	json_int_t string = json_integer_value(get_cell(markers, row, "name"));
	double found = milliseconds(markers, row, "startTime") - start;

	assert_string_equal(json_string_value(json_array_get(get_member(thread, "stringTable"),
	                                                     (size_t)string)),
	                    name);
	assert_true(found < 1e-9 && found > -1e-9);
	found = milliseconds(markers, row, "endTime") - end;
	assert_true(found < 1e-9 && found > -1e-9);
	assert_string_equal(json_string_value(get_member(get_cell(markers, row, "data"), "type")),
	                    "Region");
}

static void visits_are_markers(void **state)
{
	const uint64_t zero[WORDS] = { 2 }, shared[WORDS] = { 2, 100, 99, 5, 6 };
	struct pfm_region_results results = { .layout = &pfmi_regions.layout };
	struct made_regions m;
	const json_t *threads, *fields, *data;
	char *text;
	json_t *root;

	(void)state;
	make_slices(&m);
	pfmi_region_fill_process(&results.process);
	pfmi_slices_add_visit(&m.thread, pfmi_region_find_or_make_number("shared"),
	                      &(struct visit){ .start = zero, .now = shared, .is_complete = true },
	                      &(struct slice_times){ 9000000, 9000100, false });
	text = write_to_text(pfmi_region_write_firefox, &results);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_int_equal(json_integer_value(get_member(get_member(root, "meta"), "version")), 24);
	fields = get_member(json_array_get(get_member(get_member(root, "meta"), "markerSchema"), 0),
	                    "data");
	assert_string_equal(json_string_value(get_member(json_array_get(fields, 0), "label")),
	                    "cycles:u");
	threads = get_member(root, "threads");
	assert_int_equal(json_array_size(threads), 2); /* the main one has no visits */
	assert_int_equal(json_integer_value(get_member(json_array_get(threads, 0), "tid")),
	                 getpid());
	assert_int_equal(json_integer_value(get_member(json_array_get(threads, 1), "tid")), 7);
	expect_marker(json_array_get(threads, 1), 0, "outer", 1.5, 1.501001);
	expect_marker(json_array_get(threads, 1), 1, "inner", 1.5002, 1.50045);
	expect_marker(json_array_get(threads, 1), 2, "apart", 1.5009, 2.5009);
	data = get_cell(get_member(json_array_get(threads, 1), "markers"), 0, "data");
	assert_int_equal(json_integer_value(get_member(data, "event0")), 100);
	assert_int_equal(json_integer_value(get_member(data, "event1")), 4);
	data = get_cell(get_member(json_array_get(threads, 1), "markers"), 3, "data");
	assert_null(json_object_get(data, "event0"));
	assert_string_equal(json_string_value(get_member(data, "left")), "cycles:u, page-faults");
	json_decref(root);
	free(text);
	unmake_slices(&m);
	pfmi_region_fill_process(&results.process);
}

UNIT(region_write_firefox, cmocka_unit_test(visits_are_markers));
