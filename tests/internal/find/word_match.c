/* SPDX-License-Identifier: MIT */
/* Questions in plain words and the names that answer them. */
#include "units.h"
#include "find/word_match.h"

static unsigned compute_cost(const char *question, const char *name, const char *desc)
{
	struct word_query query;

	pfmi_find_parse_words(&query, (struct slice){ question, (uint32_t)strlen(question) });
	return pfmi_find_compute_word_cost(&query, name, desc);
}

static void words_have_synonyms(void **state)
{
	static const struct {
		const char *question, *name, *desc;
		unsigned cost;
	} lines[] = {
		{ "last level cache misses", "LONGEST_LAT_CACHE.MISS", "", 0 },
		{ "LLC-misses", "LL_CACHE_MISS_RD", "", 1 },
		{ "branch mispredictions", "BR_MISP_RETIRED.ALL_BRANCHES", "", 0 },
		{ "branch mispredictions", "BR_MISP_RETIRED.COND", "", 1 },
		{ "mispredicted branches", "ex_ret_brn_misp", "", 0 },
		{ "branch-misses", "BR_MIS_PRED", "", 0 },
		{ "PAPI_L1_DCM", "L1D_CACHE_REFILL", "", 1 },
		{ "page walks", "DTLB_LOAD_MISSES.WALK_COMPLETED", "", 4 },
		{ "L3 misses", "MEM_LOAD_L3_MISS.REMOTE", "", 3 },
		{ "L3 misses", "MEM_LOAD_L3_HIT.XSNP_MISS", "", 6 },
		/* A word of the description is worth less than one of the name. */
		{ "page walks of loads", "DTLB.WALKS", "Page walks for loads.", 5 },
		/* An answer may lack a word such as "accesses", unless it is the only one. */
		{ "mcdram accesses", "OFFCORE.MCDRAM", "", 3 },
		{ "mcdram accesses", "MCDRAM_ACCESS", "", 0 },
		{ "accesses", "BUS_ACCESS", "", 1 },
		{ "accesses", "MCDRAM", "", WORD_NO_MATCH },
		{ "branch mispredictions", "BR_INST_RETIRED.COND", "Branches.", WORD_NO_MATCH },
		{ "branches", "OTHER", "Branches.", WORD_NO_MATCH },
		/* Words of advice are not about the event. */
		{ "slots of loads", "SLOTS", "Slots. When high, look at loads.", WORD_NO_MATCH },
		{ "of the", "BR_INST_RETIRED", "", WORD_NO_MATCH },
		{ "", "BR_INST_RETIRED", "", WORD_NO_MATCH },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		unsigned got = compute_cost(lines[i].question, lines[i].name, lines[i].desc);

		if (got != lines[i].cost)
			fail_msg("\"%s\" and %s: %u, expected %u", lines[i].question, lines[i].name,
			         got, lines[i].cost);
	}
}

static void a_description_can_answer_alone(void **state)
{
	const char *question = "page walks of stores";
	struct word_query query;

	(void)state;
	pfmi_find_parse_words(&query, (struct slice){ question, (uint32_t)strlen(question) });
	assert_int_equal(pfmi_find_compute_word_cost(&query, "TLB", "A page walk by a store."),
	                 WORD_NO_MATCH);
	query.desc_suffices = true;
	assert_int_equal(pfmi_find_compute_word_cost(&query, "TLB", "A page walk by a store."),
	                 WORD_COST_MAX);
}

static void one_concept_of_three_may_be_missing(void **state)
{
	const char *two = "page walks of stores", *three = "page walks of stores upstairs";
	struct word_query query;

	(void)state;
	pfmi_find_parse_words(&query, (struct slice){ two, (uint32_t)strlen(two) });
	assert_false(pfmi_find_relax_words(&query));
	pfmi_find_parse_words(&query, (struct slice){ three, (uint32_t)strlen(three) });
	assert_int_equal(pfmi_find_compute_word_cost(&query, "STORES.WALK", ""), WORD_NO_MATCH);
	assert_true(pfmi_find_relax_words(&query));
	assert_int_equal(pfmi_find_compute_word_cost(&query, "STORES.WALK", ""), 8);
	assert_int_equal(pfmi_find_compute_word_cost(&query, "WALK", ""), WORD_NO_MATCH);
	assert_false(pfmi_find_relax_words(&query));
}

static void plurals_lose_their_ending(void **state)
{
	(void)state;
	assert_int_equal(compute_cost("tiny flushes", "TINY_FLUSH", ""), 0);
	assert_int_equal(compute_cost("red boxes", "RED_BOX", ""), 0);
	assert_int_equal(compute_cost("green dogs", "GREEN_DOG", ""), 0);
}

static void long_texts_are_cut(void **state)
{
	char question[1024], name[1024];

	(void)state;
	memset(question, 'x', sizeof(question) - 1);
	question[sizeof(question) - 1] = 0;
	memset(name, '.', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	assert_int_equal(compute_cost(question, name, question), WORD_NO_MATCH);
	for (size_t i = 1; i < sizeof(question); i += 2)
		question[i] = ' ';
	question[sizeof(question) - 1] = 0;
	assert_int_equal(compute_cost(question, "X", ""), 0);
	assert_int_equal(compute_cost("x", question, ""), 0);
}

UNIT(find_word_match, cmocka_unit_test(words_have_synonyms),
     cmocka_unit_test(a_description_can_answer_alone),
     cmocka_unit_test(one_concept_of_three_may_be_missing),
     cmocka_unit_test(plurals_lose_their_ending), cmocka_unit_test(long_texts_are_cut));
