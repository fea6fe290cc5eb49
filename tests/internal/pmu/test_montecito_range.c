/* SPDX-License-Identifier: MIT */
/* Address ranges and blocks: the smallest cover against exhaustive search in a small address space,
 * and covers of random ranges against their definition. */
#include "rows.h"
#include "pmu/montecito.h"

static uint64_t seed = 1;

static uint64_t any64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static unsigned get_random_below(unsigned n)
{
	return (unsigned)(any64() % n);
}

/* ---- an address space of 32 addresses -------------------------------------------------------- */

#define WORLD    32u
#define N_BLOCKS 63 /* aligned blocks in it */

static uint32_t world_block[N_BLOCKS];

static void make_world(void)
{
	unsigned n = 0;

	for (unsigned k = 0; k <= 5; k++)
		for (unsigned at = 0; at < WORLD; at += 1u << k)
			world_block[n++] = (uint32_t)((((uint64_t)1 << (1u << k)) - 1) << at);
}

static uint32_t bits_of(const struct mont_range *r)
{
	return (uint32_t)((((uint64_t)1 << (r->last - r->first + 1)) - 1) << r->first);
}

/* Fewest addresses that @pairs blocks can cover if they cover all of @wanted. Overlapping blocks
 * gain nothing, so each block starts with the first uncovered address. */
static unsigned find_fewest_addresses(uint32_t wanted, unsigned pairs)
{
	unsigned best = WORLD + 1;

	if (!wanted)
		return 0;
	for (unsigned i = 0; pairs && i < N_BLOCKS; i++)
		if (world_block[i] >> __builtin_ctz(wanted) & 1) {
			unsigned cost = (unsigned)__builtin_popcount(world_block[i]) +
			                find_fewest_addresses(wanted & ~world_block[i], pairs - 1);

			best = cost < best ? cost : best;
		}
	return best;
}

/* With levels: tries every split of the pairs among the levels. */
static unsigned fewest_by_level(const struct mont_range *r, unsigned n, unsigned pairs)
{
	uint32_t wanted[2] = { 0, 0 };
	unsigned best = 2 * WORLD + 1;

	for (unsigned i = 0; i < n; i++)
		wanted[r[i].plm == 8] |= bits_of(&r[i]);
	for (unsigned p = 0; p <= pairs; p++) {
		unsigned a = find_fewest_addresses(wanted[0], p),
			 b = find_fewest_addresses(wanted[1], pairs - p);

		best = a <= WORLD && b <= WORLD && a + b < best ? a + b : best;
	}
	return best;
}

static void check_cover(const struct mont_range *r, unsigned n, const struct mont_block *b,
                        int n_blocks, unsigned pairs)
{
	assert_in_range(n_blocks, 1, pairs);
	for (int i = 0; i < n_blocks; i++) {
		assert_true(b[i].log2 <= MONT_MAX_BLOCK);
		assert_int_equal(b[i].addr & (((uint64_t)1 << b[i].log2) - 1), 0);
	}
	for (unsigned i = 0; i < n; i++) {
		uint64_t at = r[i].first;
		bool done = false;

		while (!done) {
			int k = 0;

			while (k < n_blocks && !(b[k].plm == r[i].plm && b[k].addr <= at &&
			                         at <= mont_get_block_last(b[k])))
				k++;
			assert_true(k < n_blocks);
			done = mont_get_block_last(b[k]) >= r[i].last;
			at = mont_get_block_last(b[k]) + 1;
		}
	}
}

static uint64_t bytes_of(const struct mont_block *b, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += (uint64_t)1 << b[i].log2;
	return sum;
}

static void check_small(const struct mont_range *r, unsigned n)
{
	struct mont_block b[MONT_MAX_PAIRS];

	for (unsigned pairs = 1; pairs <= 4; pairs++) {
		unsigned best = fewest_by_level(r, n, pairs);
		int got = pfmi_mont_compute_best_cover(r, n, pairs, b);

		if (best > 2 * WORLD) {
			assert_int_equal(got, PFMLIB_ERR_TOOMANY);
			continue;
		}
		check_cover(r, n, b, got, pairs);
		assert_int_equal(bytes_of(b, got), best);
		assert_true(got == 1 || fewest_by_level(r, n, (unsigned)got - 1) >
		                                best); /* fewer pairs cannot do as well */
	}
}

static void test_every_single_range(void **state)
{
	(void)state;
	for (unsigned first = 0; first < WORLD; first++)
		for (unsigned last = first; last < WORLD; last++) {
			struct mont_range r = { first, last, 8 };

			check_small(&r, 1);
		}
}

static void test_several_ranges(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		struct mont_range r[4];
		unsigned n = 1 + get_random_below(4);

		for (unsigned i = 0; i < n; i++) {
			r[i].first = get_random_below(WORLD);
			r[i].last = r[i].first + get_random_below((unsigned)(WORLD - r[i].first));
			r[i].plm = round % 3 ? 8 : 1 + 7 * get_random_below(2);
		}
		check_small(r, n);
	}
}

/* ---- 64-bit addresses ------------------------------------------------------------------------ */

static struct mont_range any_range(unsigned plm)
{
	uint64_t size = any64() >> (8 + get_random_below(56)), first = any64();

	if (get_random_below(8) == 0)
		first = ~(uint64_t)0 - (size + (any64() >> (10 + get_random_below(54))));
	if (first + size < first)
		first = ~(uint64_t)0 - size;
	return (struct mont_range){ first, first + size, plm };
}

static void test_any_ranges_are_covered(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		struct mont_range r[4];
		struct mont_block b[4], best[4];
		unsigned n = 1 + get_random_below(4);
		int got, smallest;

		for (unsigned i = 0; i < n; i++)
			r[i] = any_range(get_random_below(4) ? 8 : 1);
		for (unsigned i = 0; i < n; i++)
			r[i].last -=
				r[i].last == ~(uint64_t)0; /* ends are exclusive in the interface */
		got = pfmi_mont_cover_ranges(r, n, 4, b);
		smallest = pfmi_mont_compute_best_cover(r, n, 4, best);
		assert_int_equal(got < 0, smallest < 0);
		if (got < 0)
			continue;
		check_cover(r, n, b, got, 4);
		check_cover(r, n, best, smallest, 4);
		assert_true(bytes_of(best, smallest) <= bytes_of(b, got));
	}
}

static void test_top_of_memory(void **state)
{
	struct mont_range r = { ~(uint64_t)0 - 15, ~(uint64_t)0, 8 };
	struct mont_block b[4];

	(void)state;
	assert_true(pfmi_mont_enclose_range(&r, &b[0]));
	assert_int_equal(b[0].log2, 4);
	assert_int_equal(b[0].addr, r.first);
	r.first -= 0x123450;
	assert_true(pfmi_mont_enclose_range(&r, &b[0]));
	assert_int_equal(mont_get_block_last(b[0]), ~(uint64_t)0);
	check_cover(&r, 1, b, pfmi_mont_compute_best_cover(&r, 1, 4, b), 4);
}

static void test_blocks_end_where_all_bits_are_compared(void **state)
{
	struct mont_range whole = { 0, ((uint64_t)1 << 56) - 1, 8 },
			  more = { 0, (uint64_t)1 << 56, 8 };
	struct mont_range five = { 0, ((uint64_t)4 << 56) | 1, 8 },
			  across = { ((uint64_t)3 << 56) - 16, ((uint64_t)3 << 56) + 15, 8 };
	struct mont_block b[4];

	(void)state;
	assert_true(pfmi_mont_enclose_range(&whole, b));
	assert_false(pfmi_mont_enclose_range(&more, b));
	assert_int_equal(pfmi_mont_cover_ranges(&more, 1, 4, b), 2);
	assert_int_equal(pfmi_mont_cover_ranges(&five, 1, 4, b), PFMLIB_ERR_TOOMANY);
	assert_false(pfmi_mont_enclose_range(&across, b));
	assert_int_equal(pfmi_mont_cover_ranges(&across, 1, 4, b), 2);
	check_cover(&across, 1, b, 2, 4);
}

static void test_fine_mode_is_one_page(void **state)
{
	struct mont_range in = { 0x10000, 0x1ffff, 8 }, out = { 0x1fff0, 0x2000f, 8 },
			  far = { 0x10000, 0x10001ffffull, 8 };

	(void)state;
	assert_true(pfmi_mont_is_fine_range(&in));
	assert_false(pfmi_mont_is_fine_range(&out));
	assert_false(pfmi_mont_is_fine_range(&far)); /* equal bits 16 to 31 are not enough */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_single_range),
		cmocka_unit_test(test_several_ranges),
		cmocka_unit_test(test_any_ranges_are_covered),
		cmocka_unit_test(test_top_of_memory),
		cmocka_unit_test(test_blocks_end_where_all_bits_are_compared),
		cmocka_unit_test(test_fine_mode_is_one_page),
	};

	make_world();
	return cmocka_run_group_tests_name("montecito_range", tests, NULL, NULL);
}
