/* SPDX-License-Identifier: MIT */
/* Words of a user in the names of events: children, components, words, names of many parts. */
#include "units.h"
#include "find/name_match.h"

static void names_that_contain_words(void **state)
{
	static const struct {
		const char *token, *name;
		enum name_match match;
	} lines[] = {
		{ "MEM_LOAD_RETIRED", "MEM_LOAD_RETIRED.L3_MISS", NAME_MATCH_CHILD },
		{ "mem-load-retired", "MEM_LOAD_RETIRED:L3_MISS", NAME_MATCH_CHILD },
		{ "MEM_LOAD", "MEM_LOAD_RETIRED.L3_MISS", NAME_MATCH_WORDS },
		{ "L3_MISS", "MEM_LOAD_RETIRED.L3_MISS", NAME_MATCH_COMPONENT },
		{ "L3_MISS", "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", NAME_MATCH_WORDS },
		{ "L3_MISS", "OCR.DEMAND_DATA_RD.L3_MISS", NAME_MATCH_LONG_NAME },
		{ "L3_MISS", "OFFCORE_REQUESTS.ALL_L3_MISSES", NAME_MATCH_NONE },
		{ "L3_MISS", "L3_MISS", NAME_MATCH_WORDS },
		{ "RETIRED.L3", "MEM_LOAD_RETIRED.L3_MISS", NAME_MATCH_WORDS },
		{ "MEM_LOAD_RETIRED.L3_MISS", "MEM_LOAD_RETIRED", NAME_MATCH_NONE },
		{ "", "MEM_LOAD_RETIRED", NAME_MATCH_NONE },
		{ "L3_MISS", "", NAME_MATCH_NONE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct slice token = { lines[i].token, (uint32_t)strlen(lines[i].token) };
		enum name_match got = pfmi_find_match_name(lines[i].name, token);

		if (got != lines[i].match)
			fail_msg("\"%s\" in %s: %d, expected %d", lines[i].token, lines[i].name,
			         (int)got, (int)lines[i].match);
	}
}

UNIT(find_name_match, cmocka_unit_test(names_that_contain_words));
