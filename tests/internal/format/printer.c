/* SPDX-License-Identifier: MIT */
/* A printer truncates text that exceeds its buffer, and gives the reason. */
#include "unit_tables.h"
#include "format/printer.h"

static void begin(struct event_printer *p, const struct table *t)
{
	memset(p, 0, sizeof(*p));
	p->table = t;
}

/* The last character that fits, then one more: the truncated text stays NUL-terminated. */
static void the_room_ends(void **state)
{
	static struct event_printer p;

	(void)state;
	begin(&p, NULL);
	for (size_t i = 0; i < PRINTED_TEXT_SIZE - 2; i++)
		pfmi_format_append_char(&p, 'x');
	assert_null(p.reason);
	assert_int_equal(strlen(p.text), PRINTED_TEXT_SIZE - 2);
	pfmi_format_append_text(&p, "yz");
	assert_string_equal(p.reason, "the text is too long");
	assert_int_equal(p.length, PRINTED_TEXT_SIZE - 1);
	assert_int_equal(strlen(p.text), PRINTED_TEXT_SIZE - 1);
	assert_int_equal(p.text[PRINTED_TEXT_SIZE - 2], 'y');

	begin(&p, NULL);
	pfmi_format_append_printf(&p, "%*s", PRINTED_TEXT_SIZE - 10, "");
	assert_null(p.reason);
	pfmi_format_append_printf(&p, "%s", "0123456789abcdef");
	assert_string_equal(p.reason, "the text is too long");
	assert_int_equal(p.length, PRINTED_TEXT_SIZE - 1);
	assert_string_equal(p.text + PRINTED_TEXT_SIZE - 10, "012345678");
}

static void the_first_reason_stays(void **state)
{
	static struct event_printer p;

	(void)state;
	begin(&p, NULL);
	assert_false(pfmi_format_set_reason(&p, "first"));
	assert_false(pfmi_format_set_reason(&p, "second"));
	assert_string_equal(p.reason, "first");
}

static const char *value_of(const struct table *t, enum field_key key, uint64_t value)
{
	static struct event_printer p;

	begin(&p, t);
	pfmi_format_append_value(&p, table_get_key_field(t, key), value);
	return p.text;
}

static void codes_print_in_hexadecimal_and_thresholds_in_decimal(void **state)
{
	const struct table *t = table_with(ENCODER_X86, "coreduo");

	(void)state;
	assert_string_equal(value_of(t, KEY_CODE, 46), "0x2e");
	assert_string_equal(value_of(t, KEY_UMASK, 5), "0x5");
	assert_string_equal(value_of(t, KEY_CMASK, 46), "46");
}

/* Every word of every field that has some: what is written for its value is a word of that value,
 * or the number. */
static void the_word_of_a_value_reads_as_that_value(void **state)
{
	static struct event_printer p;
	unsigned as_word = 0;

	(void)state;
	for (unsigned k = 0; k < table_count_builtins(); k++) {
		const struct table *t = table_get_builtin(k);

		for (unsigned i = 0; i < t->n_fields; i++) {
			const struct field *f = table_fields(t) + i;

			for (unsigned n = 0; n < f->n_named_values && f->kind != FIELD_NUMBER &&
			                     f->kind != FIELD_TEXT;
			     n++) {
				const struct named_value *w =
					table_named_values(t) + f->first_named_value + n;
				bool same = false;

				begin(&p, t);
				pfmi_format_append_value(&p, f, w->value);
				for (unsigned m = 0; m < f->n_named_values; m++)
					same |= table_named_values(t)[f->first_named_value + m]
					                        .value == w->value &&
					        strcmp(p.text,
					               table_get_text(
							       t,
							       table_named_values(
								       t)[f->first_named_value + m]
								       .name)) == 0;
				as_word += same;
				assert_true(same || strtoull(p.text, NULL, 0) == w->value);
			}
		}
	}
	assert_true(as_word > 0);
}

UNIT(format_printer, cmocka_unit_test(the_room_ends), cmocka_unit_test(the_first_reason_stays),
     cmocka_unit_test(codes_print_in_hexadecimal_and_thresholds_in_decimal),
     cmocka_unit_test(the_word_of_a_value_reads_as_that_value));
