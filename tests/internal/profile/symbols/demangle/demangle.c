/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include "profile/symbols/symbols.h"
#include "units.h"

/* Names from the Itanium C++ ABI, section 5.1. */
static void names_of_cpp(void **state)
{
	static const char *const pairs[][2] = { { "_ZN3foo3barEi", "foo::bar(int)" },
		                                { "_Z3addIiET_S0_S0_", "int add<int>(int, int)" } };

	(void)state;
	assert_null(symbols_demangle("main"));
	assert_null(symbols_demangle(""));
	if (!dlopen("libstdc++.so.6", RTLD_LAZY)) {
		print_message("libstdc++.so.6 is missing (Debian package libstdc++6)\n");
		skip();
	}
	for (size_t i = 0; i < COUNT(pairs); i++) {
		char *plain = symbols_demangle(pairs[i][0]);

		assert_string_equal(plain, pairs[i][1]);
		free(plain);
	}
	assert_null(symbols_demangle("_Znotaname_"));
}

UNIT(profile_demangle, cmocka_unit_test(names_of_cpp));
