/* SPDX-License-Identifier: MIT */
/* Lines as the kernel's include/trace/stages/stage4_event_fields.h declares fields. */
#include "base/trace_line.h"
#include "expect.h"
#include "units.h"

static void expect_parts(const char *line, const char *want)
{
	char got[256] = "no field";
	struct trace_line l;

	if (base_parse_trace_line(line, &l))
		snprintf(got, sizeof(got), "%.*s|%.*s|%.*s|%u|%u|%d", (int)l.type.len, l.type.text,
		         (int)l.name.len, l.name.text, (int)l.array.len, l.array.text, l.offset,
		         l.size, l.is_signed);
	EXPECT_ROW_TEXT(line, got, want);
}

static void lines_have_type_name_and_place(void **state)
{
	(void)state;
	expect_parts("\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;",
	             "int|common_pid||4|4|1");
	expect_parts("\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;",
	             "char|comm|[16]|8|16|0");
	expect_parts("\tfield:u8 raw[2][SIZE + 1];\toffset:8;\tsize:6;\tsigned:0;",
	             "u8|raw|[2][SIZE + 1]|8|6|0");
	expect_parts("\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:1;",
	             "__data_loc char[]|name||8|4|1");
	expect_parts("\tfield:const char * filename;\toffset:16;\tsize:8;\tsigned:0;",
	             "const char *|filename||16|8|0");
	expect_parts("\tfield:long *at;\toffset:16;\tsize:8;", "long *|at||16|8|0");
}

static void other_lines_are_no_fields(void **state)
{
	(void)state;
	expect_parts("", "no field");
	expect_parts("name: sched_switch", "no field");
	expect_parts("print fmt: \"%d\", REC->field", "no field");
	expect_parts("\tfield:;\toffset:4;\tsize:4;\tsigned:1;", "no field");
	expect_parts("\tfield:[3];\toffset:4;\tsize:4;\tsigned:1;", "no field");
	expect_parts("\tfield:int x;\toffset:y;\tsize:4;\tsigned:1;", "no field");
}

UNIT(base_trace_line, cmocka_unit_test(lines_have_type_name_and_place),
     cmocka_unit_test(other_lines_are_no_fields));
