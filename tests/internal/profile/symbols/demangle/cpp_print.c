/* SPDX-License-Identifier: MIT */
/* Names: text of every kind, and the budget. */
#include "cpp_names.h"
#include "profile/symbols/symbols.h"

static void scopes_print_before_their_names(void **state)
{
	static const struct cpp_pair pairs[] = {
		{ "_Z1xB3foo", "x[abi:foo]" },
		{ "_ZDC1a1bE", "[a, b]" },
		{ "_ZN1A1xMUlvE_clEv", "A::x::{lambda()#1}::operator()()" },
		{ "_Z1fIiEvRKN1AIT_E1BE", "void f<int>(A<int>::B const&)" },
	};

	(void)state;
	check_cpp_names(pairs, COUNT(pairs));
}

/* Each function type has the one before twice: the text would have 2^30 bytes. It is cut. */
static void a_name_that_doubles(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[1024] = "_Z1fPFvvE", *text;
	size_t length = strlen(symbol);

	(void)state;
	for (unsigned i = 0; i < 17; i++)
		length += (size_t)snprintf(symbol + length, sizeof(symbol) - length, "PFS%c_S%c_E",
		                           digits[2 * i], digits[2 * i]);
	text = symbols_demangle_cpp(symbol);
	assert_non_null(text);
	assert_int_equal(strlen(text), SYMBOL_SIZE - 1);
	free(text);
}

/* A budget of levels, not of the stack. */
static void levels_without_end(void **state)
{
	static char symbol[CPP_MAX_BYTES];

	(void)state;
	memset(symbol, 'P', sizeof(symbol) - 1);
	memcpy(symbol, "_Z1f", 4);
	assert_null(symbols_demangle_cpp(symbol));
	symbol[sizeof(symbol) - 2] = '\0';
	symbol[sizeof(symbol) - 3] = 'i';
	assert_null(symbols_demangle_cpp(symbol));
}

UNIT(profile_cpp_print, cmocka_unit_test(scopes_print_before_their_names),
     cmocka_unit_test(a_name_that_doubles), cmocka_unit_test(levels_without_end));
