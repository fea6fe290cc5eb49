/* SPDX-License-Identifier: MIT */
#include "profile/symbols/symbols.h"
#include "own_code.h"
#include "units.h"

static __attribute__((noinline)) int function_to_find(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

static void a_function_of_this_program(void **state)
{
	struct own_code code = find_own_code((uint64_t)(uintptr_t)function_to_find);
	struct symbols *all = symbols_open(NULL, NULL);
	struct object *o = symbols_get_object(all, code.path, NULL, 0);
	struct symbol_range range;

	(void)state;
	assert_int_equal(function_to_find(3), 3);
	assert_string_equal(symbols_find_name(o, code.offset), "function_to_find");
	assert_true(symbols_find_range(o, code.offset, &range));
	assert_int_equal(range.start, code.address);
	assert_true(range.end > range.start);
	assert_null(symbols_find_name(o, 0));
	symbols_close(all);
}

static void another_build_has_no_names(void **state)
{
	static const uint8_t other[20] = { 1, 2, 3 };
	struct own_code code = find_own_code((uint64_t)(uintptr_t)function_to_find);
	struct symbols *all = symbols_open(NULL, NULL);

	(void)state;
	assert_null(symbols_find_name(symbols_get_object(all, code.path, other, sizeof(other)),
	                              code.offset));
	symbols_close(all);
}

UNIT(profile_symbols, cmocka_unit_test(a_function_of_this_program),
     cmocka_unit_test(another_build_has_no_names));
