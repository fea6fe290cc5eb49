/* SPDX-License-Identifier: MIT */
#include "profile/tasks/mappings.h"
#include "units.h"

enum { SPACE = 512, ROUNDS = 2000 };

/* An array with the name and the file's offset of every byte is what the sets are compared with. */
static void random_mappings_agree_with_an_array(void **state)
{
	static uint32_t name[SPACE];
	static uint64_t offset[SPACE];
	struct map_pool pool = { .random = 0 };
	struct map_set set = { .owner = 0 };
	uint64_t seed = 3;

	(void)state;
	memset(name, 0, sizeof(name));
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		uint64_t start = unit_random(&seed) % (SPACE - 1);
		uint64_t end = start + 1 + unit_random(&seed) % (SPACE - start - 1);
		const struct mapping m = {
			.start = start, .end = end, .offset = 1000 * i, .name = i
		};

		assert_true(mappings_add(&pool, &set, &m));
		for (uint64_t a = start; a < end; a++) {
			name[a] = i;
			offset[a] = 1000 * i + a - start;
		}
		for (unsigned k = 0; k < 8; k++) {
			uint64_t a = unit_random(&seed) % SPACE;
			const struct mapping *found = mappings_find(&set, a);

			assert_int_equal(found ? found->name : 0, name[a]);
			if (found)
				assert_int_equal(found->offset + a - found->start, offset[a]);
		}
	}
	mappings_free(&pool);
}

static void a_copy_is_independent(void **state)
{
	struct map_pool pool = { .random = 0 };
	struct map_set parent = { .owner = 0 }, child = { .owner = 0 };

	(void)state;
	assert_true(
		mappings_add(&pool, &parent, &(struct mapping){ .start = 0, .end = 9, .name = 1 }));
	mappings_copy(&pool, &parent, &child);
	assert_true(
		mappings_add(&pool, &child, &(struct mapping){ .start = 0, .end = 5, .name = 2 }));
	assert_int_equal(mappings_find(&parent, 3)->name, 1);
	assert_int_equal(mappings_find(&child, 3)->name, 2);
	assert_int_equal(mappings_find(&child, 7)->name, 1);
	assert_null(mappings_find(&child, 9));
	mappings_free(&pool);
}

/* A process that starts programs, and a copy of it that must keep its mappings. */
static void cleared_memory_is_used_again(void **state)
{
	struct map_pool pool = { .random = 0 };
	struct map_set parent = { .owner = 0 }, child = { .owner = 0 };
	const struct mapping file = { .start = 0, .end = 9, .name = 1 };
	const struct map_block *first;

	(void)state;
	assert_true(mappings_add(&pool, &parent, &file));
	first = pool.blocks;
	mappings_copy(&pool, &parent, &child);
	for (uint32_t i = 0; i < 10000; i++) {
		for (uint64_t start = 0; start < 50; start += 10)
			assert_true(mappings_add(
				&pool, &child,
				&(struct mapping){ .start = start, .end = start + 15, .name = i }));
		assert_int_equal(mappings_find(&child, 54)->name, i);
		assert_int_equal(mappings_find(&parent, 3)->name, 1);
		mappings_clear(&pool, &child);
		assert_null(mappings_find(&child, 3));
	}
	assert_int_equal(mappings_find(&parent, 8)->name, 1);
	assert_ptr_equal(pool.blocks, first);
	mappings_free(&pool);
}

UNIT(profile_mappings, cmocka_unit_test(random_mappings_agree_with_an_array),
     cmocka_unit_test(a_copy_is_independent), cmocka_unit_test(cleared_memory_is_used_again));
