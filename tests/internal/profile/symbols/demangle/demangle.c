/* SPDX-License-Identifier: MIT */
#include "profile/symbols/symbols.h"
#include "units.h"

static void check_name(const char *symbol, const char *expected)
{
	char *plain = symbols_demangle(symbol);

	assert_string_equal(plain, expected);
	free(plain);
}

static void names_of_both_languages(void **state)
{
	(void)state;
	assert_null(symbols_demangle("main"));
	assert_null(symbols_demangle(""));
	assert_null(symbols_demangle("_Znotaname_"));
	check_name("_ZN3foo3barEi", "foo::bar(int)");
	check_name("_Z3addIiET_S0_S0_", "int add<int>(int, int)");
	check_name("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
}

UNIT(profile_demangle, cmocka_unit_test(names_of_both_languages));
