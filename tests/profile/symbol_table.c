/* SPDX-License-Identifier: MIT */
#include "profile/symbol_table.h"
#include "units.h"

enum { SYMBOLS = 200, SPACE = 4096 };

/* The symbol that begins last at or before @address, searched one by one. */
static const struct symbol *search_all(const struct symbol *list, uint64_t address)
{
	const struct symbol *best = NULL;

	for (size_t i = 0; i < SYMBOLS; i++)
		if (list[i].start <= address &&
		    (!best || list[i].start > best->start ||
		     (list[i].start == best->start && list[i].rank > best->rank)))
			best = &list[i];
	return best && address - best->start < best->size ? best : NULL;
}

static void finds_what_a_linear_search_finds(void **state)
{
	struct symbol list[SYMBOLS];
	struct symbol_table t = { .n = 0 };
	uint64_t seed = 7;

	(void)state;
	for (uint32_t i = 0; i < SYMBOLS; i++) {
		list[i] = (struct symbol){ .start = unit_random(&seed) % SPACE,
			                   .size = 1 + unit_random(&seed) % 40,
			                   .rank = i,
			                   .name = "f" };
		assert_true(symbol_table_add(&t, &list[i]));
	}
	symbol_table_sort(&t);
	for (uint64_t a = 0; a < SPACE + 50; a++) {
		const struct symbol *expected = search_all(list, a);
		const struct symbol *found = symbol_table_find(&t, a);

		assert_int_equal(found != NULL, expected != NULL);
		if (found)
			assert_int_equal(found->rank, expected->rank);
	}
	symbol_table_free(&t);
}

static void symbols_without_size_end_with_their_section(void **state)
{
	struct symbol_table t = { .n = 0 };

	(void)state;
	assert_true(symbol_table_add(
		&t, &(struct symbol){ .start = 10, .section_rest = 5, .name = "start" }));
	symbol_table_sort(&t);
	assert_null(symbol_table_find(&t, 9));
	assert_string_equal(symbol_table_find(&t, 14)->name, "start");
	assert_null(symbol_table_find(&t, 15));
	symbol_table_free(&t);
}

UNIT(profile_symbol_table, cmocka_unit_test(finds_what_a_linear_search_finds),
     cmocka_unit_test(symbols_without_size_end_with_their_section));
