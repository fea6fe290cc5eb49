/* SPDX-License-Identifier: MIT */
/* Symbols of C++ and their texts. */
#ifndef PERFMON_TESTS_CPP_NAMES_H
#define PERFMON_TESTS_CPP_NAMES_H

#include <stdlib.h>
#include "profile/symbols/demangle/cpp_name.h"
#include "units.h"

struct cpp_pair {
	const char *symbol, *text; /* text NULL: it is not a name */
};

static inline void check_cpp_names(const struct cpp_pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *text = symbols_demangle_cpp(pairs[i].symbol);

		if (!text != !pairs[i].text || (text && strcmp(text, pairs[i].text) != 0))
			print_error("%s: expected %s, got %s\n", pairs[i].symbol,
			            pairs[i].text ? pairs[i].text : "none", text ? text : "none");
		if (pairs[i].text)
			assert_string_equal(text, pairs[i].text);
		else
			assert_null(text);
		free(text);
	}
}

#endif
