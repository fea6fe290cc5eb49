/* SPDX-License-Identifier: MIT */
#include "profile/symbols/file_symbols.h"
#include "own_code.h"
#include "own_file.h"

static __attribute__((noinline)) int function_to_find(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

static void read_self(struct file_symbols *f, struct symbol_sources *sources)
{
	struct elf_file e = open_own_file();

	*f = (struct file_symbols){ .n_segments = 0 };
	file_symbols_read(f, &e, "/proc/self/exe", sources);
	assert_false(e.out_of_memory);
	close(e.fd);
}

static void functions_of_this_program(void **state)
{
	struct own_code code = find_own_code((uint64_t)(uintptr_t)function_to_find);
	struct symbol_sources sources = { .debug_folder = "/nonexistent" };
	const struct symbol *found;
	struct file_symbols f;
	uint64_t address;

	(void)state;
	assert_int_equal(function_to_find(3), 3);
	read_self(&f, &sources);
	assert_true(file_symbols_compute_address(&f, code.offset, &address));
	assert_int_equal(address, code.address);
	found = symbol_table_find(&f.table, address);
	assert_non_null(found);
	assert_string_equal(found->name, "function_to_find");
	assert_false(file_symbols_compute_address(&f, UINT64_MAX, &address));
	assert_true(sources.table_bytes > 0);
	file_symbols_free(&f);
}

/* Files that are read later get no symbols when those before have taken all that is allowed. */
static void symbols_of_all_files_are_limited(void **state)
{
	struct symbol_sources sources = { .debug_folder = "/nonexistent",
		                          .table_bytes = (uint64_t)1 << 30 };
	struct file_symbols f;

	(void)state;
	read_self(&f, &sources);
	assert_int_equal(f.table.n, 0);
	assert_true(f.n_segments > 0);
	file_symbols_free(&f);
}

UNIT(profile_file_symbols, cmocka_unit_test(functions_of_this_program),
     cmocka_unit_test(symbols_of_all_files_are_limited));
