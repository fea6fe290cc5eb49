/* SPDX-License-Identifier: MIT */
/* The edit distance beside its definition as a recursion. */
#include "units.h"
#include "base/edit_distance.h"

static unsigned get_minimum(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Distance of the first @n characters of @a and the first @m of @b: the last step was an insertion,
 * a deletion, a replacement or a swap. */
static unsigned by_definition(const char *a, unsigned n, const char *b, unsigned m)
{
	unsigned d;

	if (!n || !m)
		return n + m;
	d = by_definition(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
	d = get_minimum(d, by_definition(a, n - 1, b, m) + 1);
	d = get_minimum(d, by_definition(a, n, b, m - 1) + 1);
	if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1])
		d = get_minimum(d, by_definition(a, n - 2, b, m - 2) + 1);
	return d;
}

static void random_word(uint64_t *seed, char *word, unsigned *len)
{
	*len = (unsigned)(unit_random(seed) % 7);
	for (unsigned i = 0; i < *len; i++)
		word[i] = (char)('a' + unit_random(seed) % 3);
}

static void random_words_agree_with_the_definition(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		char a[8], b[8];
		unsigned n, m, expected, limit = (unsigned)(unit_random(&seed) % 8), got;

		random_word(&seed, a, &n);
		random_word(&seed, b, &m);
		expected = get_minimum(by_definition(a, n, b, m), limit + 1);
		got = base_compute_edit_distance((unsigned char *)a, n, (unsigned char *)b, m,
		                                 limit);
		if (got != expected)
			fail_msg("%.*s, %.*s: expected %u, got %u", (int)n, a, (int)m, b, expected,
			         got);
	}
}

static void words_of_the_greatest_length_have_a_distance(void **state)
{
	unsigned char a[EDIT_DISTANCE_MAX], b[EDIT_DISTANCE_MAX];

	(void)state;
	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	assert_int_equal(base_compute_edit_distance(a, sizeof(a), b, sizeof(b), 200),
	                 EDIT_DISTANCE_MAX);
	assert_int_equal(base_compute_edit_distance(a, sizeof(a), a, 0, 200), EDIT_DISTANCE_MAX);
}

UNIT(base_edit_distance, cmocka_unit_test(random_words_agree_with_the_definition),
     cmocka_unit_test(words_of_the_greatest_length_have_a_distance));
