/* SPDX-License-Identifier: MIT */
/* Names of events and attributes: the same in either case, and a hash that is as well. */
#include "libpfm4_internal.h"

/* Case and nothing else: no piece, nothing longer. */
static void names_that_differ_in_case_are_equal(void **state)
{
	(void)state;
	assert_true(l4_is_same_name("Cycles", "cycles", 6) &&
	            l4_is_same_name("Cycles", "Cycles:k", 6) && l4_is_same_name("", "x", 0));
	assert_false(l4_is_same_name("Cycles", "cycle", 5) ||
	             l4_is_same_name("Cycles", "cycless", 7) || l4_is_same_name("", "c", 1));
	assert_false(l4_is_same_name("a[", "a{", 2) ||
	             l4_is_same_name("a@", "a`", 2)); /* no letters */
	for (size_t len = 0; len < 20; len++) {
		char a[21] = "ABCDEFGHIJKLMNOPQRST", b[21] = "abcdefghijklmnopqrst";

		assert_int_equal(l4_hash_name(a, len), l4_hash_name(b, len));
		a[len] = 'x'; /* a byte after the end of the name */
		assert_int_equal(l4_hash_name(a, len), l4_hash_name(b, len));
	}
	assert_int_not_equal(l4_hash_name("abcdefgh", 8), l4_hash_name("abcdefgi", 8));
	assert_int_not_equal(l4_hash_name("abcdefghi", 9), l4_hash_name("abcdefghj", 9));
	assert_int_not_equal(l4_hash_name("ab", 2), l4_hash_name("ba", 2));
}

/* A name that differs in one letter is another name, at every place of the eight that are read at
 * once. */
static void names_that_differ_in_a_letter_are_different(void **state)
{
	(void)state;
	for (size_t len = 1; len < 20; len++)
		for (size_t at = 0; at < len; at++) {
			char a[21] = "ABCDEFGHIJKLMNOPQRST", b[21] = "abcdefghijklmnopqrst";

			a[len] = b[len] = '\0';
			assert_true(l4_is_same_name(a, b, len));
			b[at] = 'z';
			assert_false(l4_is_same_name(a, b, len));
			assert_int_not_equal(l4_hash_name(a, len), l4_hash_name(b, len));
		}
}

UNIT(compat_libpfm4_names, cmocka_unit_test(names_that_differ_in_case_are_equal),
     cmocka_unit_test(names_that_differ_in_a_letter_are_different));
