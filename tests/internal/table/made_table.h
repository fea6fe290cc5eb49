/* SPDX-License-Identifier: MIT */
/* A table for tests of the verifier. */
#ifndef PERFMON_TESTS_MADE_TABLE_H
#define PERFMON_TESTS_MADE_TABLE_H

#include "units.h"
#include "table/build.h"

/* Makes a table with one of each thing that a builder can add, without the kernel's flag. */
static inline struct table *make_table(void)
{
	static const struct bitrange code = { .width = 8 },
				     wide = { .config_word = 1, .width = 64 };
	struct table_builder b;
	struct table *t;

	pfmi_table_begin_build(&b);
	pfmi_table_add_field(&b, "code", KEY_CODE, &code, 1);
	pfmi_table_add_field(&b, "wide", KEY_NONE, &wide, 1);
	pfmi_table_add_text_field(&b, KEY_UNIT);
	pfmi_table_add_feature(&b, "one", "text", 1);
	for (unsigned i = 0; i < 3; i++) {
		char name[] = { 'e', (char)('0' + i), '\0' };

		pfmi_table_begin_row(&b, name, "text", 0);
		pfmi_table_set_row_value(&b, 0, 0xff);
		pfmi_table_set_row_value(&b, 1, UINT64_MAX - i);
		pfmi_table_set_row_value(&b, 2, pfmi_table_add_text(&b, "unit", 4));
	}
	t = pfmi_table_finish_build(&b);
	assert_non_null(t);
	return t;
}

#endif
