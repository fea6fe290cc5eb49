/* SPDX-License-Identifier: MIT */
#include "profile/symbols/vmlinux.h"
#include "units.h"

/* test_symbols.py has files that are read. */
static void kernels_without_a_file(void **state)
{
	static const struct recorded_kernel kernels[] = {
		{ .release = "9.9.9-none", .symbol = "_stext", .symbol_at = 0x1000 },
		{ .release = "../9.9.9", .symbol = "_stext", .symbol_at = 0x1000 },
		{ .symbol = "_stext", .symbol_at = 0x1000 },
		{ .release = "9.9.9-none" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(kernels); i++) {
		struct symbol_sources sources = { .debug_folder = "/nonexistent" };
		struct vmlinux v = { .slide = 0 };

		assert_false(vmlinux_read(&v, &kernels[i], &sources));
		assert_null(vmlinux_find_symbol(&v, 0x1000));
		vmlinux_free(&v);
	}
}

UNIT(profile_vmlinux, cmocka_unit_test(kernels_without_a_file));
