/* SPDX-License-Identifier: MIT */
#include "profile/symbols/lines.h"
#include "own_code.h"
#include "profile/symbols/symbols.h"
#include "units.h"

static __attribute__((noinline)) int here(void)
{
	return __LINE__ - 2;
}

/* The compiler's own number, __LINE__, is that of the first of four lines. */
static void the_line_of_a_function(void **state)
{
	struct own_code code = find_own_code((uint64_t)(uintptr_t)here);
	struct lines *l = lines_are_supported() ? lines_open(code.path, &own_sources) : NULL;
	const struct source_spot *spot = l ? lines_find_spot(l, code.address) : NULL;
	const char *name;

	(void)state;
	if (!spot || !spot->source[0]) {
		print_message("needs libdw and debugging information (Debian package libdw-dev)\n");
		lines_close(l);
		skip();
	}
	name = strstr(spot->source, "lines.c:");
	assert_non_null(name);
	assert_in_range(atoi(strchr(name, ':') + 1), here(), here() + 3);
	lines_close(l);
}

static void files_without_lines(void **state)
{
	(void)state;
	assert_null(lines_open("/etc/passwd", &own_sources));
}

UNIT(profile_lines, cmocka_unit_test(the_line_of_a_function),
     cmocka_unit_test(files_without_lines));
