/* SPDX-License-Identifier: MIT */
#include "profile/symbols/kernel_symbols.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "units.h"

/* The first function of the running kernel whose address nothing else has. */
static bool read_first_function(uint64_t *address, char name[static 256])
{
	FILE *f = fopen("/proc/kallsyms", "re");
	bool is_found = false;
	char line[512], type;

	while (f && !is_found && fgets(line, sizeof(line), f))
		is_found = sscanf(line, "%" SCNx64 " %c %255s", address, &type, name) == 3 &&
		           *address && type == 't' && !strchr(name, '.');
	if (f)
		fclose(f);
	return is_found;
}

static void a_function_of_the_kernel(void **state)
{
	struct kernel_symbols k = { .is_loaded = false };
	struct kernel_symbols other = { .is_loaded = false };
	uint64_t address = 0;
	char name[256] = "";

	(void)state;
	if (!read_first_function(&address, name)) {
		assert_null(kernel_symbols_find(&k, 0x1000));
		skip(); /* addresses of the kernel are hidden */
	}
	assert_non_null(kernel_symbols_find(&k, address));
	assert_true(k.table.n > 100);
	assert_null(kernel_symbols_find(&k, 0x1000));
	kernel_symbols_expect_symbol(&other, name, address + 16); /* of another boot */
	assert_null(kernel_symbols_find(&other, address));
	kernel_symbols_free(&k);
	kernel_symbols_free(&other);
}

UNIT(profile_kernel_symbols, cmocka_unit_test(a_function_of_the_kernel));
