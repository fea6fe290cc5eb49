/* SPDX-License-Identifier: MIT */
/* The text that formats write to: numbers, strings of JSON, growth. */
#include "units.h"
#include <locale.h>
#include <math.h>
#include "region/region.h"

static void expect_json(const char *text, const char *want)
{
	struct text t = { 0 };

	pfmi_region_put_json(&t, text);
	assert_string_equal(t.bytes, want);
	pfmi_region_text_free(&t);
}

static void json_strings_are_escaped(void **state)
{
	(void)state;
	expect_json("", "\"\"");
	expect_json("a \"b\" \\", "\"a \\\"b\\\" \\\\\"");
	expect_json("\n\x01\x7f", "\"\\u000a\\u0001\\u007f\"");
	expect_json("\xc2\x80\xc2\x9f\xc2\xa0", "\"\\u0080\\u009f\xc2\xa0\"");
	expect_json("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
	            "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"");
	expect_json("\xff", "\"\\ufffd\"");
	expect_json("\xc3", "\"\\ufffd\"");
	expect_json("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* a surrogate */
	expect_json("\xc0\xaf", "\"\\ufffd\\ufffd\"");            /* too long a form */
}

static void real_numbers_have_a_point_in_every_locale(void **state)
{
	static const char *const names[] = { "de_DE.UTF-8", "C" };
	struct text t = { 0 };

	(void)state;
	for (unsigned i = 0; i < COUNT(names); i++) {
		if (!setlocale(LC_NUMERIC, names[i]))
			continue;
		pfmi_region_put_real(&t, 3, 1.5);
		pfmi_region_put(&t, " ");
		pfmi_region_put_real(&t, 0, 2.6);
		pfmi_region_put(&t, " ");
		pfmi_region_put_exponent(&t, -0.25);
		pfmi_region_put(&t, " ");
		pfmi_region_put_exponent(&t, NAN);
		EXPECT_ROW_TEXT(names[i], t.bytes, "1.500 3 -2.500000e-01 nan");
		pfmi_region_text_free(&t);
	}
	setlocale(LC_NUMERIC, "C");
}

static void text_grows(void **state)
{
	struct text t = { 0 };

	(void)state;
	for (unsigned i = 0; i < 3000; i++)
		pfmi_region_put(&t, "%04u ", i);
	assert_int_equal(t.n, 15000);
	assert_false(t.failed);
	assert_memory_equal(t.bytes + 5 * 1234, "1234 ", 5);
	pfmi_region_put(&t, "%*s", 100000, "x");
	assert_int_equal(strlen(t.bytes), 115000);
	pfmi_region_text_free(&t);
	assert_true(!t.bytes && !t.n && !t.size);
}

UNIT(region_text, cmocka_unit_test(json_strings_are_escaped),
     cmocka_unit_test(real_numbers_have_a_point_in_every_locale), cmocka_unit_test(text_grows));
