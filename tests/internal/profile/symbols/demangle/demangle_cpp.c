/* SPDX-License-Identifier: MIT */
#include "cpp_names.h"

static void clones_of_a_function_are_named(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_ZN1A1fEv.isra.0.cold", "A::f() [clone .isra.0] [clone .cold]" },
		{ "_ZN1A1fEv.constprop.1.2", "A::f() [clone .constprop.1.2]" },
		{ "_ZN1A1fEv.123", "A::f() [clone .123]" },
		{ "_ZN1A1fEv.Foo", NULL },
		{ "_ZN1A1fEv.", NULL },
		{ "_ZN1A1fEvx.", NULL },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

static void texts_that_are_not_names(void **state)
{
	static const struct cpp_pair pairs[] = { { "", NULL },      { "_Z", NULL },
		                                 { "main", NULL },  { "_Z1", NULL },
		                                 { "_ZN1A", NULL }, { "_Znotaname_", NULL } };

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

UNIT(profile_demangle_cpp, cmocka_unit_test(clones_of_a_function_are_named),
     cmocka_unit_test(texts_that_are_not_names));
