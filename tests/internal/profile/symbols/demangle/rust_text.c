/* SPDX-License-Identifier: MIT */
#include "profile/symbols/demangle/rust_text.h"
#include "profile/symbols/symbols.h"
#include "units.h"

static struct rust_name begin_name(const char *symbol, char text[SYMBOL_SIZE])
{
	text[0] = '\0';
	return (struct rust_name){ .mangled = symbol, .next = symbol, .text = text };
}

static void identifiers_have_a_length_and_a_mark(void **state)
{
	char text[SYMBOL_SIZE];
	struct rust_name r = begin_name("3abc_4_5def0", text);
	struct identifier id;

	(void)state;
	id = rust_read_bytes(&r, false);
	assert_int_equal(id.len, 3);
	assert_memory_equal(id.text, "abc", 3);
	assert_true(rust_take_char(&r, '_'));
	assert_false(rust_take_char(&r, '_'));
	id = rust_read_bytes(&r, true);
	assert_memory_equal(id.text, "5def", 4);
	assert_int_equal(rust_read_bytes(&r, false).len, 0);
	assert_false(r.failed);
	rust_read_bytes(&r, false);
	assert_true(r.failed);
}

static void digits_of_base_62_have_values(void **state)
{
	(void)state;
	assert_int_equal(rust_read_digit('0'), 0);
	assert_int_equal(rust_read_digit('z'), 35);
	assert_int_equal(rust_read_digit('Z'), 61);
	assert_int_equal(rust_read_digit('_'), -1);
}

static void a_text_that_is_full(void **state)
{
	char text[SYMBOL_SIZE];
	struct rust_name r = begin_name("", text);

	(void)state;
	for (int i = 0; i < SYMBOL_SIZE; i++)
		rust_put_text(&r, "ab");
	assert_int_equal(strlen(text), SYMBOL_SIZE - 1);
}

UNIT(profile_rust_text, cmocka_unit_test(identifiers_have_a_length_and_a_mark),
     cmocka_unit_test(digits_of_base_62_have_values), cmocka_unit_test(a_text_that_is_full));
