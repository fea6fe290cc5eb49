/* SPDX-License-Identifier: MIT */
#ifndef PERFMON_TEST_RUST_NAMES_H
#define PERFMON_TEST_RUST_NAMES_H

#include "profile/symbols/symbols.h"
#include "units.h"

/* Checks that each symbol is shown as the second text of its pair; NULL: it is not a name of
 * Rust. */
static inline void check_rust_names(const char *const (*pairs)[2], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *plain = symbols_demangle_rust(pairs[i][0]);

		if (pairs[i][1])
			assert_string_equal(plain ? plain : pairs[i][0], pairs[i][1]);
		else
			assert_null(plain);
		free(plain);
	}
}

#endif
