/* SPDX-License-Identifier: MIT */
/* The hash table: SipHash against the values of Python, the table against an array. */
#include "units.h"
#include "base/hash.h"

/* CPython 3.11's hashes of bytes 0 to 14 and 0 to 7 with PYTHONHASHSEED=0, whose key is 0. */
static void siphash_agrees_with_python(void **state)
{
	const uint64_t key[2] = { 0, 0 };
	uint8_t bytes[15];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(pfmi_base_compute_siphash(key, bytes, 15), 0xf30eb725bb91c9eau);
	assert_int_equal(pfmi_base_compute_siphash(key, bytes, 8), 0xead411e67ebe2eeau);
}

struct search {
	const uint32_t *keys;
	uint32_t key;
	unsigned n_compared;
};

static bool is_key(const void *arg, uint32_t index)
{
	const struct search *s = arg;

	((struct search *)(uintptr_t)s)->n_compared++;
	return s->keys[index] == s->key;
}

#define N 100000

/* Multiples of 1024 share a slot of any table that takes numbers modulo a power of two. */
static void numbers_of_one_class_are_found_at_once(void **state)
{
	struct hash_table t = { .n_slots = 0 };
	uint32_t *keys = calloc(N, sizeof(*keys));
	struct search s = { .keys = keys };

	(void)state;
	assert_non_null(keys);
	for (uint32_t i = 0; i < N; i++) {
		keys[i] = i * 1024;
		assert_true(pfmi_base_add_hash(&t, pfmi_base_hash_number(keys[i]), i));
	}
	for (uint32_t i = 0; i < N; i++) {
		s.key = keys[i];
		assert_int_equal(pfmi_base_find_hash(&t, pfmi_base_hash_number(s.key), is_key, &s),
		                 i);
	}
	/* The table has 32 bits of each hash: of 100,000 elements about one pair shares them. */
	assert_in_range(s.n_compared, N, N + 20);
	s.key = 1;
	assert_int_equal(pfmi_base_find_hash(&t, pfmi_base_hash_number(1), is_key, &s),
	                 HASH_NOT_FOUND);
	pfmi_base_free_hash(&t);
	assert_int_equal(pfmi_base_find_hash(&t, 0, is_key, &s), HASH_NOT_FOUND);
	free(keys);
}

/* Elements with equal hashes are distinguished by their keys. */
static void distinguishes_equal_hashes(void **state)
{
	static const uint32_t keys[] = { 7, 8, 9 };
	struct hash_table t = { .n_slots = 0 };
	struct search s = { .keys = keys };

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		assert_true(pfmi_base_add_hash(&t, 42, i));
	for (uint32_t i = 0; i < 3; i++) {
		s.key = keys[i];
		assert_int_equal(pfmi_base_find_hash(&t, 42, is_key, &s), i);
	}
	pfmi_base_free_hash(&t);
}

UNIT(base_hash_table, cmocka_unit_test(siphash_agrees_with_python),
     cmocka_unit_test(numbers_of_one_class_are_found_at_once),
     cmocka_unit_test(distinguishes_equal_hashes));
