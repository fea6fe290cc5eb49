/* SPDX-License-Identifier: MIT */
#include "profile/symbols/symbol_table.h"
#include <elf.h>
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

/* Which of two names of the same code is kept. */
static const char *choose_name(struct symbol a, struct symbol b)
{
	struct symbol_table t = { .n = 0 };
	const char *name;

	a.size = b.size = 8;
	assert_true(symbol_table_add(&t, &a) && symbol_table_add(&t, &b));
	symbol_table_sort(&t);
	assert_int_equal(t.n, 1);
	name = t.list[0].name;
	symbol_table_free(&t);
	return name;
}

static void the_best_known_name_is_kept(void **state)
{
	/* The better one first. */
	static const struct symbol pairs[][2] = {
		{ { .name = "malloc", .binding = STB_GLOBAL },
		  { .name = "__GI___libc_malloc", .binding = STB_LOCAL } },
		{ { .name = "malloc", .binding = STB_GLOBAL },
		  { .name = "__libc_malloc", .binding = STB_GLOBAL } },
		{ { .name = "read", .binding = STB_WEAK },
		  { .name = "__libc_read", .binding = STB_GLOBAL } },
		{ { .name = "_IO_puts", .binding = STB_GLOBAL },
		  { .name = "puts@@GLIBC_2.2.5", .binding = STB_WEAK } },
		{ { .name = "strong", .binding = STB_GLOBAL },
		  { .name = "longer_weak", .binding = STB_WEAK } },
		{ { .name = "__memmove_erms", .binding = STB_LOCAL },
		  { .name = "__memcpy_erms", .binding = STB_LOCAL } },
		{ { .name = "_ZN1CC1Ev", .binding = STB_WEAK },
		  { .name = "_ZN1CC2Ev", .binding = STB_WEAK } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		assert_string_equal(choose_name(pairs[i][0], pairs[i][1]), pairs[i][0].name);
		assert_string_equal(choose_name(pairs[i][1], pairs[i][0]), pairs[i][0].name);
	}
}

UNIT(profile_symbol_table, cmocka_unit_test(the_best_known_name_is_kept),
     cmocka_unit_test(finds_what_a_linear_search_finds),
     cmocka_unit_test(symbols_without_size_end_with_their_section));
