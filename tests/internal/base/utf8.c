/* SPDX-License-Identifier: MIT */
/* Every code point in the encoding of RFC 3629 is a valid character; every other byte sequence is
 * invalid. */
#include "units.h"
#include <stdbool.h>
#include "base/utf8.h"

/* Encodes a number by the table of RFC 3629, whether or not it is a character. Returns the
 * length. */
static unsigned encode(unsigned long c, unsigned length, char out[4])
{
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	if (length == 1) {
		out[0] = (char)c;
		return 1;
	}
	for (unsigned i = length - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(leads[length] | c);
	return length;
}

static unsigned shortest_length(unsigned long c)
{
	return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

static void every_number_in_every_length(void **state)
{
	static const unsigned long ends[] = { 0, 0x80, 0x800, 0x10000, 0x200000 };
	char bytes[4];

	(void)state;
	for (unsigned length = 1; length <= 4; length++)
		for (unsigned long c = 0; c < ends[length]; c++) {
			bool surrogate = c >= 0xd800 && c <= 0xdfff;
			bool good = length == shortest_length(c) && c <= 0x10ffff && !surrogate;
			unsigned n = encode(c, length, bytes);
			size_t got = utf8_measure_char(bytes, n);

			if (got != (good ? n : 0))
				fail_msg("U+%04lX in %u bytes: expected %u, got %zu", c, n,
				         good ? n : 0, got);
		}
}

static void cut_characters_are_refused(void **state)
{
	static const char text[] = "\xf0\x9f\x98\x80";

	(void)state;
	for (size_t len = 0; len < 4; len++)
		assert_int_equal(utf8_measure_char(text, len), 0);
	assert_int_equal(utf8_measure_char(text, 4), 4);
}

static void bytes_above_0x7f_alone_are_no_character(void **state)
{
	(void)state;
	for (int c = 0x80; c < 0x100; c++) {
		const char alone[] = { (char)c, 'a', 'a', 'a' };

		assert_int_equal(utf8_measure_char(alone, 4), 0);
	}
}

static void valid_beginning_of_a_text(void **state)
{
	(void)state;
	assert_int_equal(utf8_measure_valid("a\xc3\xa4\xff", 4), 3);
	assert_int_equal(utf8_measure_valid("abc", 3), 3);
	assert_int_equal(utf8_measure_valid("\xff", 1), 0);
	assert_int_equal(utf8_measure_valid("", 0), 0);
}

UNIT(base_utf8, cmocka_unit_test(every_number_in_every_length),
     cmocka_unit_test(cut_characters_are_refused),
     cmocka_unit_test(bytes_above_0x7f_alone_are_no_character),
     cmocka_unit_test(valid_beginning_of_a_text));
