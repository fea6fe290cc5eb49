/* SPDX-License-Identifier: MIT */
/* Values of groups as words: exact ones, sums of words, defaults that are omitted, raw numbers. */
#include "unit_tables.h"
#include <perfmon/types.h>
#include "format/printer.h"

static struct event_printer p;
static struct event ev;

static void begin_event(const char *name, pfm_dialect_t dialect)
{
	const struct table *t = table_called("coreduo");
	uint32_t row = 0;

	while (strcmp(table_get_row_name(t, row), name) != 0)
		assert_true(++row < t->n_rows);
	pfmi_pmu_init_event(&ev, t, row);
	p = (struct event_printer){ .event = &ev, .table = t, .dialect = dialect };
}

/* The values of the group's words in the order of the table. */
static uint64_t get_word_value(unsigned i)
{
	const struct umask_group *g = event_get_group(&ev, 0);

	assert_true(i < g->n_values);
	return table_named_values(ev.table)[g->first_named_value + i].value;
}

static void words_of_each_dialect(void **state)
{
	(void)state;
	begin_event("L2_ADS", PFM_DIALECT_LIBPMC); /* this, all */
	ev.group_values[0] = get_word_value(1);
	assert_true(pfmi_format_append_groups(&p));
	assert_string_equal(p.text, ",core=all");
	begin_event("L2_ADS", PFM_DIALECT_VENDOR);
	ev.group_values[0] = get_word_value(1);
	assert_true(pfmi_format_append_groups(&p));
	assert_string_equal(p.text, ":core=all");
	begin_event("L2_ADS", PFM_DIALECT_LIBPFM);
	ev.group_values[0] = get_word_value(1);
	assert_true(pfmi_format_append_libpfm_groups(&p));
	assert_string_equal(p.text, ":BOTH_CORES");
}

static void sums_of_words(void **state)
{
	(void)state;
	begin_event("SIMD_INT_INSTRUCTIONS", PFM_DIALECT_LIBPFM);
	ev.group_values[0] = get_word_value(0) | get_word_value(2);
	assert_true(pfmi_format_has_words_for_value(ev.table, event_get_group(&ev, 0),
	                                            ev.group_values[0]));
	assert_true(pfmi_format_append_libpfm_groups(&p));
	assert_string_equal(p.text, ":MUL:PACK");
	assert_false(pfmi_format_has_words_for_value(ev.table, event_get_group(&ev, 0), 0x80));
}

/* A value without words is a raw unit mask, or cannot be written. */
static void values_without_words(void **state)
{
	(void)state;
	begin_event("SIMD_INT_INSTRUCTIONS", PFM_DIALECT_LIBPFM);
	ev.group_values[0] = 0x80;
	assert_true(pfmi_format_append_libpfm_groups(&p));
	assert_string_equal(p.text, ":0x80");
	begin_event("SIMD_INT_INSTRUCTIONS", PFM_DIALECT_LIBPMC);
	ev.group_values[0] = 0x80;
	assert_false(pfmi_format_append_groups(&p));
	assert_string_equal(p.reason, "a value of this event has no word");
	ev.has_raw_umask = 1;
	p.reason = NULL;
	assert_false(pfmi_format_append_groups(&p));
	assert_string_equal(p.reason, "this raw unit mask has no words");
}

static void required_groups_are_written(void **state)
{
	(void)state;
	begin_event("SIMD_INT_INSTRUCTIONS", PFM_DIALECT_VENDOR);
	assert_true(pfmi_format_is_written_without_fields(&ev, 0));
}

UNIT(format_print_umasks, cmocka_unit_test(words_of_each_dialect), cmocka_unit_test(sums_of_words),
     cmocka_unit_test(values_without_words), cmocka_unit_test(required_groups_are_written));
