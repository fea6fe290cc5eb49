/* SPDX-License-Identifier: MIT */
#include "profile/symbols/debug_files.h"
#include <sys/mman.h>
#include <unistd.h>
#include "units.h"

/* Paths as gdb's manual describes them, "Debugging Information in Separate Files". */
static void candidates_in_the_order_of_debuggers(void **state)
{
	static const uint8_t id[] = { 0xab, 0xcd, 0xef };
	const struct debug_search s = { "/usr/bin/ls", "/usr/lib/debug", id,        3,
		                        "ls.debug",    "/store",         "/r.files" };
	static const char *const expected[] = { "/usr/lib/debug/.build-id/ab/cdef.debug",
		                                "/usr/bin/ls.debug", "/usr/bin/.debug/ls.debug",
		                                "/usr/lib/debug/usr/bin/ls.debug" };
	char path[256];

	(void)state;
	for (unsigned i = 0; i < COUNT(expected); i++) {
		assert_true(make_debug_file_path(&s, i, path, sizeof(path)));
		assert_string_equal(path, expected[i]);
	}
	assert_true(make_debug_file_path(&s, 4, path, sizeof(path)));
	assert_true(make_debug_file_path(&s, 5, path, sizeof(path)));
	assert_string_equal(path, "/store/.build-id/ab/cdef/debug");
	assert_true(make_debug_file_path(&s, 6, path, sizeof(path)));
	assert_string_equal(path, "/r.files/.build-id/ab/cdef/debug");
	assert_false(make_debug_file_path(&s, 7, path, sizeof(path)));
}

static void links_do_not_leave_their_folder(void **state)
{
	const struct debug_search s = {
		"/usr/bin/ls", "/d", NULL, 0, "../../etc/passwd", NULL, NULL
	};
	char path[256];

	(void)state;
	for (unsigned i = 0; make_debug_file_path(&s, i, path, sizeof(path)); i++)
		assert_string_equal(path, "");
}

/* The check value of CRC-32 that its catalogues give for "123456789". */

UNIT(profile_debug_files, cmocka_unit_test(candidates_in_the_order_of_debuggers),
     cmocka_unit_test(links_do_not_leave_their_folder));
