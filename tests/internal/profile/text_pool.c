/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"
#include "units.h"

static void texts_have_one_number(void **state)
{
	struct profile p = { .n_places = 0 };
	uint32_t a = text_pool_add(&p.texts, "a"), b = text_pool_add(&p.texts, "b");

	(void)state;
	assert_int_not_equal(a, b);
	assert_int_equal(text_pool_add(&p.texts, "a"), a);
	assert_string_equal(p.texts.text[b], "b");
	profile_free(&p);
}

static void texts_that_are_missing(void **state)
{
	struct text_pool pool = { .n = 0 };
	uint32_t a = text_pool_add(&pool, "a");

	(void)state;
	assert_int_equal(text_pool_find(&pool, "a"), a);
	assert_int_equal(text_pool_find(&pool, "b"), HASH_NOT_FOUND);
	assert_int_equal(pool.n, 1);
	text_pool_free(&pool);
}

UNIT(profile_text_pool, cmocka_unit_test(texts_have_one_number),
     cmocka_unit_test(texts_that_are_missing));
