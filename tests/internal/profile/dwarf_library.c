/* SPDX-License-Identifier: MIT */
#include "profile/dwarf_library.h"
#include "own_code.h"
#include "profile/symbols/symbols.h"
#include "units.h"

static void opens_programs_only(void **state)
{
	(void)state;
#ifdef HAVE_LIBDW
	struct own_code code = find_own_code((uint64_t)(uintptr_t)opens_programs_only);
	struct dwarf_file f;

	if (!dwarf_library_load())
		skip();
	assert_true(dwarf_file_open(&f, code.path, &own_sources));
	assert_non_null(f.module);
	dwarf_file_close(&f);
	assert_false(dwarf_file_open(&f, "/etc/passwd", &own_sources));
	assert_false(dwarf_file_open(&f, "/nonexistent", &own_sources));
#else
	assert_false(dwarf_library_load());
#endif
}

UNIT(profile_dwarf_library, cmocka_unit_test(opens_programs_only));
