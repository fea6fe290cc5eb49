/* SPDX-License-Identifier: MIT */
/* Lists of events: which commas separate, and that nothing is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "expect.h"
#include <perfmon/perfmon.h>

/* The pieces of @list, each followed by '|'. */
static const char *join_pieces(const char *list)
{
	static char out[512];
	const char *event;
	size_t n = 0, len;
	int more;

	out[0] = '\0';
	while ((more = pfm_split_events(&list, &event, &len)) == 1)
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%.*s|", (int)len, event);
	assert_int_equal(more, 0);
	return out;
}

static void lists_split_at_commas(void **state)
{
	static const struct {
		const char *list, *pieces;
	} lists[] = {
		{ "", "|" },
		{ "cycles", "cycles|" },
		{ "cycles,instructions:u", "cycles|instructions:u|" },
		{ " cycles ,\tinstructions\n", "cycles|instructions|" },
		{ "cycles,,instructions,", "cycles||instructions||" },
		{ "L2_Lines_In,Edge,cmask=2, OS ,Instr_Ret,inv",
		  "L2_Lines_In,Edge,cmask=2, OS|Instr_Ret,inv|" },
		{ "edge,cycles", "edge|cycles|" },
		{ "a, edge ,b", "a, edge|b|" },
		{ "a,edge:u,edges,edge b,=3", "a|edge:u|edges|edge b|=3|" },
		{ "a, cmask = 2,inv", "a|cmask = 2,inv|" },
		{ "core=all,cycles", "core=all|cycles|" },
		{ "A:c=1,B:c=2,C.x=3", "A:c=1|B:c=2|C.x=3|" },
		{ "cpu/event=1,umask=2/u,cpu/event=3/", "cpu/event=1,umask=2/u|cpu/event=3/|" },
		{ "cpu/event=1,edge", "cpu/event=1,edge|" },
		{ "mem:0x1000/8:w,cycles", "mem:0x1000/8:w|cycles|" },
		{ "{cycles,instructions}:W,branches", "{cycles,instructions}:W|branches|" },
		{ "{L2_LINES_IN,Edge,Instr_Ret},{a,{b,c}},d",
		  "{L2_LINES_IN,Edge,Instr_Ret}|{a,{b,c}}|d|" },
		{ "{cpu/event=1,umask=2/,b},c", "{cpu/event=1,umask=2/,b}|c|" },
		{ "{a,b", "{a,b|" },
		{ "a},b", "a}|b|" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		EXPECT_ROW_TEXT(lists[i].list, join_pieces(lists[i].list), lists[i].pieces);
}

static void a_missing_list_has_no_events(void **state)
{
	const char *list = NULL, *event = "kept";
	size_t len = 7;

	(void)state;
	assert_int_equal(pfm_split_events(NULL, &event, &len), 0);
	assert_int_equal(pfm_split_events(&list, &event, &len), 0);
	list = "a";
	assert_int_equal(pfm_split_events(&list, NULL, &len), 0);
	assert_int_equal(pfm_split_events(&list, &event, NULL), 0);
	assert_string_equal(event, "kept");
	assert_int_equal(len, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_split_at_commas),
		cmocka_unit_test(a_missing_list_has_no_events),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
