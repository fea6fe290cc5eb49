/* SPDX-License-Identifier: MIT */
/* Pieces of sentences: what a terminal would obey is not printed, and the length is that of the
 * whole sentence, whatever fits. */
#include "unit_tables.h"
#include "format/sentence.h"

static char buf[256];

static struct sentence begin_sentence(size_t size)
{
	memset(buf, '#', sizeof(buf));
	return (struct sentence){ .buf = buf, .size = size };
}

static void tokens_in_quotes(void **state)
{
	static const struct {
		const char *token, *quoted;
	} rows[] = {
		{ "", "\"\"" },
		{ "cycles", "\"cycles\"" },
		{ "a\033[2Jb\177", "\"a?[2Jb?\"" },
		{ "\xc3\xa4", "\"\xc3\xa4\"" }, /* a letter */
		{ "x\xc2\x9by", "\"x??y\"" },   /* a control character of two bytes */
		{ "1234567890123456789012345678901234567890123456789012345678901234",
		  "\"1234567890123456789012345678901234567890123456789012345678901234\"" },
		{ "12345678901234567890123456789012345678901234567890123456789012345",
		  "\"1234567890123456789012345678901234567890123456789012345678901234...\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sentence s = begin_sentence(sizeof(buf));

		pfmi_format_append_quoted_token(&s, pfmi_base_make_slice(rows[i].token));
		assert_string_equal(buf, rows[i].quoted);
		assert_int_equal(s.length, strlen(rows[i].quoted));
	}
}

static void a_short_buffer_gets_the_start(void **state)
{
	(void)state;
	for (size_t size = 0; size < 12; size++) {
		struct sentence s = begin_sentence(size);

		pfmi_format_extend_sentence(&s, "%s %u", "one", 2);
		pfmi_format_extend_sentence(&s, "%c", '!');
		assert_int_equal(s.length, 6);
		assert_true(buf[size] == '#');
		if (size) {
			assert_int_equal(strlen(buf), size < 7 ? size - 1 : 6);
			assert_memory_equal(buf, "one 2!", strlen(buf));
		}
	}
}

/* The words of L2_ADS's group are this and all; libpfm calls them SELF and BOTH_CORES. */
static void words_of_a_group(void **state)
{
	const struct table *t = table_called("coreduo");
	uint32_t row = 0;

	(void)state;
	while (strcmp(table_get_row_name(t, row), "L2_ADS") != 0)
		assert_true(++row < t->n_rows);
	for (unsigned libpfm = 0; libpfm < 2; libpfm++) {
		struct sentence s = begin_sentence(sizeof(buf));

		assert_int_equal(pfmi_format_append_group_words(
					 &s, t, pfmi_pmu_get_row_group(t, row, 0), libpfm),
		                 2);
		assert_string_equal(buf, libpfm ? "SELF, BOTH_CORES" : "this, all");
	}
}

static void unknown_event_has_no_description(void **state)
{
	struct sentence s = begin_sentence(sizeof(buf));

	(void)state;
	pfmi_format_append_accepted_qualifiers(&s, ", which takes ");
	assert_int_equal(s.length, 0);
	assert_string_equal(pfmi_format_get_event_name(&s.location), "the event");
}

UNIT(format_sentence, cmocka_unit_test(tokens_in_quotes),
     cmocka_unit_test(a_short_buffer_gets_the_start), cmocka_unit_test(words_of_a_group),
     cmocka_unit_test(unknown_event_has_no_description));
