/* SPDX-License-Identifier: MIT */
/* Visits as trace events: fields and units of the trace event format. */
#include "made_slices.h"
#include <jansson.h>

static const char *text_of(const json_t *event, const char *key)
{
	const json_t *value = json_object_get(event, key);

	assert_true(json_is_string(value));
	return json_string_value(value);
}

static double number_of(const json_t *event, const char *key)
{
	const json_t *value = json_object_get(event, key);

	assert_true(json_is_number(value));
	return json_number_value(value);
}

/* Microseconds with three digits. */
static void expect_time(const json_t *event, const char *key, double want)
{
	double found = number_of(event, key) - want;

	assert_true(found < 1e-6 && found > -1e-6);
}

static void visits_are_trace_events(void **state)
{
	struct pfm_region_results results = { .layout = &pfmi_regions.layout };
	struct made_regions m;
	const json_t *list;
	char *text;
	json_t *root, *args;

	(void)state;
	make_slices(&m);
	pfmi_region_fill_process(&results.process);
	text = write_to_text(pfmi_region_write_chrome, &results);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	list = json_object_get(root, "traceEvents");
	assert_int_equal(json_array_size(list),
	                 5); /* the process, two slices, a begin and an end */
	assert_string_equal(text_of(json_array_get(list, 0), "ph"), "M");
	assert_string_equal(text_of(json_array_get(list, 1), "name"), "outer");
	assert_string_equal(text_of(json_array_get(list, 1), "ph"), "X");
	expect_time(json_array_get(list, 1), "ts", 1500.0);
	expect_time(json_array_get(list, 1), "dur", 1.001);
	expect_time(json_array_get(list, 2), "ts", 1500.2);
	expect_time(json_array_get(list, 2), "dur", 0.25);
	args = json_object_get(json_array_get(list, 1), "args");
	assert_int_equal(number_of(args, "cycles:u"), 100);
	assert_int_equal(number_of(args, "page-faults"), 4);
	assert_int_equal(number_of(args, "wall_ns"), 1001);
	assert_string_equal(text_of(json_array_get(list, 3), "ph"), "b");
	assert_string_equal(text_of(json_array_get(list, 4), "ph"), "e");
	assert_string_equal(text_of(json_array_get(list, 3), "id"),
	                    text_of(json_array_get(list, 4), "id"));
	expect_time(json_array_get(list, 4), "ts", 2500.9);
	json_decref(root);
	free(text);
	unmake_slices(&m);
	pfmi_region_fill_process(&results.process);
}

/* A program whose visits were not kept is refused, not given an empty picture. */
static void refused_without_slices(void **state)
{
	struct pfm_region_results results = { .layout = &pfmi_regions.layout };
	struct made_regions m;

	(void)state;
	make_regions(&m);
	assert_int_equal(pfm_write_regions(&results, 1, "chrome"), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_write_regions(&results, 1, "firefox"), PFMLIB_ERR_INVAL);
	unmake_regions(&m);
}

UNIT(region_write_chrome, cmocka_unit_test(visits_are_trace_events),
     cmocka_unit_test(refused_without_slices));
