/* SPDX-License-Identifier: MIT */
#include "base/text_output.h"
#include "expect.h"
#include "units.h"

static char *written; /* of the last begin_writing() */
static size_t n_written;

static FILE *begin_writing(void)
{
	free(written);
	written = NULL;
	return open_memstream(&written, &n_written);
}

static void text_of_xml(void **state)
{
	static const char text[] = "a<b>&\"\x01\xff\xef\xbf\xbe\xc3\xa4";
	FILE *out = begin_writing();

	(void)state;
	base_put_xml(out, text, sizeof(text) - 1);
	fclose(out);
	assert_string_equal(written,
	                    "a&lt;b&gt;&amp;&quot;\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa4");
}

static void fields_of_csv(void **state)
{
	FILE *out = begin_writing();

	(void)state;
	base_put_csv(out, "plain", ",");
	putc(',', out);
	base_put_csv(out, "a \"b\", c", ",");
	fclose(out);
	assert_string_equal(written, "plain,\"a \"\"b\"\", c\"");
}

static void text_of_a_line(void **state)
{
	FILE *out = begin_writing();

	(void)state;
	base_put_line(out, "a\nb\xc2\x85");
	fclose(out);
	assert_string_equal(written, "a\xef\xbf\xbd"
	                             "b\xef\xbf\xbd");
}

/* JSON from RFC 8259, section 7. @utf8: the text where characters beyond ASCII stay. */
static void expect_json(const char *text, const char *ascii, const char *utf8)
{
	const char *const want[] = { utf8, ascii };

	for (unsigned is_ascii = 0; is_ascii < 2; is_ascii++) {
		FILE *out = begin_writing();

		base_put_json(out, text, strlen(text), is_ascii);
		fclose(out);
		EXPECT_ROW_TEXT(text, written, want[is_ascii]);
	}
	free(written);
	written = NULL;
}

static void strings_of_json(void **state)
{
	(void)state;
	expect_json("", "", "");
	expect_json("a \"b\" \\ /", "a \\\"b\\\" \\\\ /", "a \\\"b\\\" \\\\ /");
	expect_json("\b\f\n\r\t", "\\b\\f\\n\\r\\t", "\\b\\f\\n\\r\\t");
	expect_json("\x01\x1f\x7f", "\\u0001\\u001F\\u007f", "\\u0001\\u001F\\u007f");
	expect_json("\xc2\x80\xc2\x9f\xc2\xa0", "\\u0080\\u009F\\u00A0", "\\u0080\\u009F\xc2\xa0");
	expect_json("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\\u00E4 \\u20AC \\uD83D\\uDE00",
	            "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
	expect_json("\xff", "\\uFFFD", "\\uFFFD");
	expect_json("x\xc3", "x\\uFFFD", "x\\uFFFD");
	/* a surrogate, and too long a form */
	expect_json("\xed\xa0\x80", "\\uFFFD\\uFFFD\\uFFFD", "\\uFFFD\\uFFFD\\uFFFD");
	expect_json("\xc0\xaf", "\\uFFFD\\uFFFD", "\\uFFFD\\uFFFD");
}

UNIT(base_text_output, cmocka_unit_test(text_of_xml), cmocka_unit_test(fields_of_csv),
     cmocka_unit_test(text_of_a_line), cmocka_unit_test(strings_of_json));
