/* SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <perfmon/profile.h>
#include <unistd.h>
#include "own_code.h"
#include "units.h"

static __attribute__((noinline)) int function_to_find(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

static void a_function_of_this_process(void **state)
{
	uint64_t address = (uint64_t)(uintptr_t)function_to_find;
	struct own_code code = find_own_code(address);
	pfm_symbol_t s = PFM_INIT(s), again = PFM_INIT(again);
	pfm_symbols_t *all;

	(void)state;
	assert_int_equal(function_to_find(3), 3);
	assert_int_equal(pfm_open_symbols(&all, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_find_symbol(all, (int)getpid(), address, &s), PFMLIB_SUCCESS);
	assert_string_equal(s.function, "function_to_find");
	assert_string_equal(s.object, code.path);
	assert_int_equal(s.start, code.address);
	assert_true(s.end > s.start);
	assert_int_equal(pfm_find_file_symbol(all, code.path, code.offset, &again), PFMLIB_SUCCESS);
	assert_string_equal(again.function, "function_to_find");
	assert_int_equal(again.start, s.start);
	assert_string_equal(again.build_id, s.build_id);
	pfm_close_symbols(all);
}

static void addresses_without_a_function(void **state)
{
	pfm_symbol_t s = PFM_INIT(s);
	pfm_symbols_t *all;

	(void)state;
	assert_int_equal(pfm_open_symbols(&all, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_find_symbol(all, (int)getpid(), 8, &s), PFMLIB_ERR_NOTFOUND);
	assert_string_equal(s.object, "");
	assert_int_equal(pfm_find_file_symbol(all, "/nonexistent", 8, &s), PFMLIB_ERR_NOTFOUND);
	assert_string_equal(s.object, "/nonexistent");
	assert_int_equal(pfm_find_kernel_symbol(all, 8, &s), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_find_symbol(all, 0, 8, &s), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_symbol(all, (int)getpid(), 8, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_open_symbols(NULL, NULL), PFMLIB_ERR_INVAL);
	pfm_close_symbols(all);
	pfm_close_symbols(NULL);
}

/* The mappings of the process are read again for each of them. */
static void unknown_addresses_take_no_memory(void **state)
{
	pfm_symbol_t s = PFM_INIT(s);
	pfm_symbols_t *all;
	size_t before, after;

	(void)state;
	assert_int_equal(pfm_open_symbols(&all, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_find_symbol(all, (int)getpid(), 8, &s), PFMLIB_ERR_NOTFOUND);
	before = mallinfo2().uordblks;
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(pfm_find_symbol(all, (int)getpid(), 8, &s), PFMLIB_ERR_NOTFOUND);
	after = mallinfo2().uordblks;
	assert_true(after < before + 65536);
	pfm_close_symbols(all);
}

UNIT(profile_symbol_lookup, cmocka_unit_test(a_function_of_this_process),
     cmocka_unit_test(addresses_without_a_function),
     cmocka_unit_test(unknown_addresses_take_no_memory));
