/* SPDX-License-Identifier: MIT */
/* Types around names. */
#include "cpp_names.h"

static void signs_of_nested_types_stand_inside(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_Z1fPPFvvE", "f(void (**)())" },
		{ "_Z1fRPA2_i", "f(int (*&) [2])" },
		{ "_Z1fIM1AFivEEvT_", "void f<int (A::*)()>(int (A::*)())" },
		{ "_Z1fIA2_iEvRKT_", "void f<int [2]>(int const (&) [2])" },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

UNIT(profile_cpp_print_types, cmocka_unit_test(signs_of_nested_types_stand_inside));
