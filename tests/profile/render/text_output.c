/* SPDX-License-Identifier: MIT */
#include "profile/render/text_output.h"
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
	put_xml_text(out, text, sizeof(text) - 1);
	fclose(out);
	assert_string_equal(written,
	                    "a&lt;b&gt;&amp;&quot;\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa4");
}

static void fields_of_csv(void **state)
{
	FILE *out = begin_writing();

	(void)state;
	put_csv_field(out, "plain", ",");
	putc(',', out);
	put_csv_field(out, "a \"b\", c", ",");
	fclose(out);
	assert_string_equal(written, "plain,\"a \"\"b\"\", c\"");
}

static void text_of_a_line(void **state)
{
	FILE *out = begin_writing();

	(void)state;
	put_line_text(out, "a\nb\xc2\x85");
	fclose(out);
	assert_string_equal(written, "a\xef\xbf\xbd"
	                             "b\xef\xbf\xbd");
	free(written);
	written = NULL;
}

UNIT(profile_text_output, cmocka_unit_test(text_of_xml), cmocka_unit_test(fields_of_csv),
     cmocka_unit_test(text_of_a_line));
