/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"
#include <string.h>
#include "units.h"

static void a_name_is_one_line(void **state)
{
	static char buf[NAME_LINE], longest[NAME_LINE + 100];

	(void)state;
	assert_string_equal(profile_format_line("a\nb\tc;d", buf), "a\\x0ab\\x09c;d");
	memset(longest, 'x', sizeof(longest) - 1);
	assert_int_equal(strlen(profile_format_line(longest, buf)), NAME_LINE - 1);
}

UNIT(profile_stack_text, cmocka_unit_test(a_name_is_one_line));
