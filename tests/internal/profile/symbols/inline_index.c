/* SPDX-License-Identifier: MIT */
#include "profile/symbols/inline_index.h"
#include "own_code.h"
#include "profile/symbols/symbols.h"
#include "profile/symbols/unit_ranges.h"
#include "units.h"

#ifdef HAVE_LIBDW
static volatile uint64_t address_inside;
static volatile int work_done;

static inline __attribute__((always_inline)) void inlined_function(void)
{
	for (int i = 0; i < 3; i++)
		work_done += i;
#if defined(__x86_64__)
	uint64_t pc;

	__asm__ volatile("leaq 0(%%rip), %0" : "=r"(pc));
	address_inside = pc;
#endif
}

static __attribute__((noinline)) void outer_function(void)
{
	inlined_function();
}
#endif

static void the_inlined_function_at_an_address(void **state)
{
	(void)state;
#ifdef HAVE_LIBDW
	struct inline_index index = inline_index_begin("/proc/self/exe", 1 << 24, NULL);
	struct unit_ranges units = unit_ranges_begin("/proc/self/exe", 1 << 24, NULL);
	struct dwarf_file f;
	struct own_code code;
	Dwarf_Addr bias;
	Dwarf_Die *unit;
	const char *names;

	outer_function();
	if (!address_inside || !dwarf_library_load())
		skip();
	code = find_own_code(address_inside);
	assert_true(dwarf_file_open(&f, code.path, &own_sources));
	unit = unit_ranges_find(&units, f.module, code.address + f.bias, &bias);
	if (!unit)
		skip();
	names = inline_index_names(&index, unit, code.address + f.bias - bias);
	assert_string_equal(names, "inlined_function");
	code = find_own_code((uint64_t)(uintptr_t)the_inlined_function_at_an_address);
	names = inline_index_names(&index, unit, code.address + f.bias - bias);
	assert_string_equal(names, "");
	inline_index_free(&index);
	unit_ranges_free(&units);
	dwarf_file_close(&f);
#else
	skip();
#endif
}

UNIT(profile_inline_index, cmocka_unit_test(the_inlined_function_at_an_address));
