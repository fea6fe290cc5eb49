/* SPDX-License-Identifier: MIT */
/* The list of the best suggestions: order, size, duplicates; and what counts as similar. */
#include "units.h"
#include "find/suggestion_list.h"

static void expect_names(const struct suggestion_list *l, const char *const *names, unsigned n)
{
	assert_int_equal(l->n_names, n);
	for (unsigned i = 0; i < n; i++)
		assert_string_equal(l->names[i], names[i]);
}

static void the_best_suggestion_comes_first(void **state)
{
	char names[3][SUGGESTION_SIZE];
	struct suggestion_list l = { .names = names, .max_names = 3 };

	(void)state;
	pfmi_find_add_suggestion(&l, 5, 0, "", "e");
	pfmi_find_add_suggestion(&l, 2, 0, "x::", "b");
	pfmi_find_add_suggestion(&l, 2, 0, "", "c");
	expect_names(&l, (const char *[]){ "x::b", "c", "e" }, 3);
	/* A full list drops its last; a name that costs as much as the last does not enter. */
	pfmi_find_add_suggestion(&l, 5, 0, "", "f");
	pfmi_find_add_suggestion(&l, 3, 0, "", "d");
	expect_names(&l, (const char *[]){ "x::b", "c", "d" }, 3);
}

static void once_for_each_subject(void **state)
{
	char names[4][SUGGESTION_SIZE], longest[SUGGESTION_SIZE + 1];
	struct suggestion_list l = { .names = names, .max_names = 4 };

	(void)state;
	pfmi_find_add_suggestion(&l, 4, 7, "", "alias");
	pfmi_find_add_suggestion(&l, 6, 7, "", "name");
	expect_names(&l, (const char *[]){ "alias" }, 1);
	pfmi_find_add_suggestion(&l, 1, 7, "", "name");
	pfmi_find_add_suggestion(&l, 0, 8, "", "name");
	expect_names(&l, (const char *[]){ "name" }, 1);
	/* Longer names than the caller's arrays hold are left out. */
	memset(longest, 'a', SUGGESTION_SIZE);
	longest[SUGGESTION_SIZE] = '\0';
	pfmi_find_add_suggestion(&l, 0, 0, "", longest);
	pfmi_find_add_suggestion(&l, 9, 0, "", longest + 1);
	expect_names(&l, (const char *[]){ "name", longest + 1 }, 2);
}

/* A swap of neighbours is one edit. A token of n characters is similar to names at an edit distance
 * of at most 1 + n / 4, and to names that begin with it if completions are wanted. */
static void names_within_an_edit_distance_are_similar(void **state)
{
	static const struct {
		const char *token, *name;
		unsigned cost;
	} names[] = {
		{ "Instr_Ret", "INSTR_RET", 0 },
		{ "Instr-Ret", "instr ret", 0 },
		{ "Instr_Rett", "INSTR_RET", 1 },
		{ "Isntr_Ret", "INSTR_RET", 1 },
		{ "abc", "abd", 1 },
		{ "abc", "xyz", ~0u },
		{ "L2_Li", "L2_Lines_In", COST_COMPLETION },
		{ "L", "L2_Lines_In", ~0u },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct folded_name token =
			pfmi_find_fold_text(pfmi_base_make_slice(names[i].token));
		unsigned cost = pfmi_find_compute_name_cost(&token, names[i].name, true);

		if (cost != names[i].cost)
			fail_msg("%s for %s: expected %u, got %u", names[i].name, names[i].token,
			         names[i].cost, cost);
		if (names[i].cost == COST_COMPLETION)
			assert_int_equal(pfmi_find_compute_name_cost(&token, names[i].name, false),
			                 ~0u);
	}
}

UNIT(find_suggestion_list, cmocka_unit_test(the_best_suggestion_comes_first),
     cmocka_unit_test(once_for_each_subject),
     cmocka_unit_test(names_within_an_edit_distance_are_similar));
