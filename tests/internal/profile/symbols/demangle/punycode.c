/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "profile/symbols/demangle/punycode.h"
#include "units.h"

/* Python's codec made the codes; the delimiter is "_" here. */
static void punycode_reads_as_python_writes_it(void **state)
{
	static const char *const pairs[][2] = {
		{ "gdel_5qa", "g\u00f6del" },
		{ "8cab", "\u00e9\u00e8" },
		{ "x_iv3s", "\U0001f600x" },
		{ "and_6ma2c", "\u00f1and\u00fa" },
		{ "x42aq3h", "\u8aad\u8fbc" },
		{ "", NULL },
		{ "abc_", NULL },
		{ "abc_A", NULL },
		{ "99999999", NULL },
		{ "a_zzzz", NULL },
	};
	char text[PUNYCODE_TEXT], code[200];

	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		bool is_valid = punycode_decode(pairs[i][0], strlen(pairs[i][0]), text);

		assert_int_equal(is_valid, pairs[i][1] != NULL);
		if (is_valid)
			assert_string_equal(text, pairs[i][1]);
	}
	memset(code, 'a', sizeof(code));
	assert_false(punycode_decode(code, sizeof(code), text)); /* too many letters */
}

UNIT(profile_punycode, cmocka_unit_test(punycode_reads_as_python_writes_it));
