/* SPDX-License-Identifier: MIT */
/* Arenas: zeros, aligned, apart from each other, of any size. */
#include "units.h"
#include "region/region.h"

static void pieces_are_zero_and_apart(void **state)
{
	struct arena a = { 0 };
	unsigned char *piece[300];

	(void)state;
	for (unsigned i = 0; i < COUNT(piece); i++) {
		piece[i] = pfmi_arena_alloc(&a, i + 1);
		assert_non_null(piece[i]);
		assert_int_equal((uintptr_t)piece[i] % 16, 0);
		for (unsigned k = 0; k <= i; k++)
			assert_int_equal(piece[i][k], 0);
		memset(piece[i], (int)(i % 251 + 1), i + 1);
	}
	for (unsigned i = 0; i < COUNT(piece); i++)
		for (unsigned k = 0; k <= i; k++)
			assert_int_equal(piece[i][k], i % 251 + 1);
	pfmi_arena_free(&a);
	assert_true(!a.at && !a.end && !a.chunks);
}

static void large_pieces_have_chunks_of_their_own(void **state)
{
	struct arena a = { 0 };
	char *small = pfmi_arena_alloc(&a, 1), *large = pfmi_arena_alloc(&a, 1 << 20);

	(void)state;
	assert_true(small && large);
	large[0] = large[(1 << 20) - 1] = 1;
	assert_int_equal(*small, 0);
	assert_null(pfmi_arena_alloc(&a, ((size_t)1 << 30) + 1));
	assert_null(pfmi_arena_alloc(&a, SIZE_MAX));
	assert_non_null(pfmi_arena_alloc(&a, 1)); /* a refusal changes nothing */
	pfmi_arena_free(&a);
}

/* An arena's header may be in the arena's own memory, as it is for threads. */
static void arena_can_lie_in_its_own_memory(void **state)
{
	struct arena a = { 0 }, *inside = pfmi_arena_alloc(&a, sizeof(*inside));

	(void)state;
	*inside = a;
	assert_non_null(pfmi_arena_alloc(inside, 100000));
	pfmi_arena_free(inside);
}

UNIT(region_memory, cmocka_unit_test(pieces_are_zero_and_apart),
     cmocka_unit_test(large_pieces_have_chunks_of_their_own),
     cmocka_unit_test(arena_can_lie_in_its_own_memory));
