/* SPDX-License-Identifier: MIT */
/* Names of regions and their numbers. */
#include "units.h"
#include "region/region.h"

static void equal_names_are_one_region(void **state)
{
	char copy[] = "names: one";
	uint32_t before = pfmi_region_get_last_number(),
		 number = pfmi_region_find_or_make_number("names: one");
	pfm_region_t *region = pfm_find_region(copy);

	(void)state;
	assert_int_equal(number, before + 1);
	assert_int_equal(pfmi_region_get_last_number(), number);
	assert_ptr_equal(region, pfmi_region_find_or_make("names: one"));
	assert_int_equal(region->id, number);
	copy[0] = 'x'; /* the name is the library's own */
	assert_string_equal(pfmi_region_get_name(number), "names: one");
	assert_string_equal(region->name, "names: one");
	assert_int_not_equal(pfmi_region_find_or_make_number("names: "), number);
}

static void a_region_without_a_name_is_empty(void **state)
{
	(void)state;
	assert_null(pfm_find_region(NULL));
	assert_string_equal(pfmi_region_get_name(0), "");
	assert_string_equal(pfmi_region_get_name(pfmi_region_get_last_number() + 1), "");
	assert_string_equal(pfmi_region_get_name(EMPTY_REGION), "");
	assert_false(pfmi_region_is_own(pfmi_region_find_or_make_number("")));
	assert_string_equal(pfmi_region_get_name(pfmi_region_find_or_make_number("")), "");
}

/* The tables grow on the way. */
static void table_grows_with_names(void **state)
{
	uint32_t number[1000];
	char name[32];

	(void)state;
	for (unsigned i = 0; i < COUNT(number); i++) {
		snprintf(name, sizeof(name), "names: %u", i);
		number[i] = pfmi_region_find_or_make_number(name);
		assert_int_equal(number[i], number[0] + i);
	}
	for (unsigned i = 0; i < COUNT(number); i++) {
		snprintf(name, sizeof(name), "names: %u", i);
		assert_string_equal(pfmi_region_get_name(number[i]), name);
		assert_int_equal(pfmi_region_find_or_make_number(name), number[i]);
	}
}

UNIT(region_names, cmocka_unit_test(equal_names_are_one_region),
     cmocka_unit_test(a_region_without_a_name_is_empty), cmocka_unit_test(table_grows_with_names));
