/* SPDX-License-Identifier: MIT */
/* Values. */
#include "cpp_names.h"

static void literals_print_with_their_type(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_Z1fILd3ff0000000000000EEvv", "void f<(double)[3ff0000000000000]>()" },
		{ "_Z1fIL1E3EEvv", "void f<(E)3>()" },
		{ "_Z1fILPi0EEvv", "void f<(int*)0>()" },
		{ "_Z1fILb2EEvv", "void f<(bool)2>()" },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

UNIT(profile_cpp_print_values, cmocka_unit_test(literals_print_with_their_type));
