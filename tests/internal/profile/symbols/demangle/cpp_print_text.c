/* SPDX-License-Identifier: MIT */
/* Template parameters and lists. */
#include "cpp_names.h"

static void packs_without_elements(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_Z1fI1AIiJEEEvv", "void f<A<int> >()" },
		{ "_Z1fIJEJiEEvDpT_DpT0_", "void f<int>(int)" },
		{ "_Z1fIJJiEEEvv", "void f<int>()" },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

UNIT(profile_cpp_print_text, cmocka_unit_test(packs_without_elements));
