/* SPDX-License-Identifier: MIT */
#include "profile/symbols/unit_ranges.h"
#include "own_code.h"
#include "profile/symbols/symbols.h"
#include "units.h"

#ifdef HAVE_LIBDW
static bool open_own_file(struct dwarf_file *f, struct own_code *code, const void *function)
{
	*code = find_own_code((uint64_t)(uintptr_t)function);
	return dwarf_library_load() && dwarf_file_open(f, code->path, &own_sources);
}
#endif

/* Both answers are those of libdw where it has the section .debug_aranges (gcc writes it). */
static void a_unit_by_its_ranges(void **state)
{
	(void)state;
#ifdef HAVE_LIBDW
	struct unit_ranges r = unit_ranges_begin("/proc/self/exe", 1 << 24, NULL);
	struct dwarf_file f;
	struct own_code code;
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit, *indexed;

	if (!open_own_file(&f, &code, (const void *)(uintptr_t)a_unit_by_its_ranges))
		skip();
	unit = unit_ranges_find(&r, f.module, code.address + f.bias, &bias);
	if (!unit)
		skip(); /* no debugging information */
	assert_non_null(strstr(dw.dwarf_diename(unit), "unit_ranges.c"));
	/* No unit holds address 1: all ranges are read. */
	assert_null(unit_ranges_find(&r, f.module, 1, &bias));
	assert_true(r.n > 0);
	indexed = NULL;
	for (size_t i = 0; i < r.n; i++) {
		assert_true(r.list[i].begin < r.list[i].end);
		assert_true(!i || r.list[i - 1].begin <= r.list[i].begin);
		if (r.list[i].begin <= code.address && code.address < r.list[i].end)
			indexed = r.list[i].unit;
	}
	assert_ptr_equal(indexed->addr, unit->addr);
	unit_ranges_free(&r);
	dwarf_file_close(&f);
#else
	skip();
#endif
}

UNIT(profile_unit_ranges, cmocka_unit_test(a_unit_by_its_ranges));
