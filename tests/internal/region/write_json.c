/* SPDX-License-Identifier: MIT */
/* Results as JSON: a line for the process, then one for each row. */
#include "made_regions.h"
#include <jansson.h>

static json_int_t get_integer(const json_t *o, const char *key)
{
	assert_true(json_is_integer(json_object_get(o, key)));
	return json_integer_value(json_object_get(o, key));
}

static const char *get_string(const json_t *o, const char *key)
{
	assert_true(json_is_string(json_object_get(o, key)));
	return json_string_value(json_object_get(o, key));
}

static void check_process(const json_t *o)
{
	const json_t *events = json_object_get(o, "events");

	assert_int_equal(get_integer(o, "process"), getpid());
	assert_true(json_is_true(json_object_get(o, "subtracted")));
	assert_int_equal(get_integer(o, "missed"), 4);
	assert_int_equal(get_integer(o, "unmatched"), 5);
	assert_int_equal(json_array_size(events), 2);
	assert_string_equal(get_string(json_array_get(events, 0), "event"), "cycles:u");
	assert_string_equal(get_string(json_array_get(events, 1), "event"), "page-faults");
	assert_true(json_is_false(json_object_get(json_array_get(events, 1), "whole_machine")));
}

static void check_row(const json_t *o)
{
	const json_t *wall = json_object_get(o, "wall_ns"), *counts = json_object_get(o, "counts"),
		     *first = json_array_get(counts, 0), *second = json_array_get(counts, 1);

	assert_string_equal(get_string(o, "region"), "js\"on");
	assert_true(json_is_null(json_object_get(o, "parent")));
	assert_true(json_is_null(json_object_get(o, "task_ns")));
	assert_int_equal(get_integer(o, "visits"), 3);
	assert_int_equal(get_integer(wall, "inclusive"), 3000);
	assert_int_equal(get_integer(wall, "exclusive"), 2000);
	assert_true(json_number_value(json_object_get(wall, "variance")) == 250000);
	assert_int_equal(get_integer(first, "inclusive"), 600);
	assert_int_equal(get_integer(first, "max"), 300);
	assert_string_equal(get_string(first, "quality"), "exact");
	assert_null(json_object_get(first, "cause"));
	assert_true(json_is_null(json_object_get(second, "inclusive")) &&
	            json_is_null(json_object_get(second, "variance")));
	assert_string_equal(get_string(second, "quality"),
	                    pfm_quality_name(PFM_QUALITY_NOT_COUNTED));
	assert_string_equal(get_string(second, "cause"), pfm_cause_name(PFM_CAUSE_BUSY));
}

static void rows_are_json_lines(void **state)
{
	struct made_regions m;
	struct made_results made;
	json_t *lines[3];
	char *text, *at;

	(void)state;
	make_regions(&m);
	make_results(&made, "js\"on");
	made.results.missed = 4;
	made.results.unmatched = 5;
	text = at = write_to_text(pfmi_region_write_json, &made.results);
	for (unsigned i = 0; i < COUNT(lines); i++) {
		lines[i] = json_loads(at, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(lines[i]);
		at = strchr(at, '\n');
		assert_non_null(at++);
	}
	assert_string_equal(at, "");
	check_process(lines[0]);
	check_row(lines[1]);
	check_row(lines[2]);
	assert_string_equal(get_string(lines[1], "thread"), "all");
	assert_int_equal(get_integer(lines[2], "thread"), 7);
	for (unsigned i = 0; i < COUNT(lines); i++)
		json_decref(lines[i]);
	free(text);
	unmake_regions(&m);
}

UNIT(region_write_json, cmocka_unit_test(rows_are_json_lines));
