/* SPDX-License-Identifier: MIT */
/* Montecito address ranges: from requested ranges to pairs of debug registers.
 *
 * A pair holds an address and a mask and so describes a block of 2^k bytes at a multiple of 2^k.
 * Two pairs together, in fine mode, hold the two limits of a range within one page of 64 KB.
 * This file uses neither events nor PMCs. */
#include <string.h>
#include "montecito.h"

#define NO_COVER_COST UINT64_MAX

/* ---- reading --------------------------------------------------------------------------------- */

int pfmi_mont_read_ranges(const pfmlib_mont_input_rr_t *in, unsigned plm, unsigned align,
                          struct mont_range r[MONT_MAX_PAIRS])
{
	int n = 0;

	for (; n < MONT_MAX_PAIRS; n++) {
		const pfmlib_mont_input_rr_desc_t *d = &in->rr_limits[n];

		if (d->rr_start == 0 && d->rr_end == 0)
			break;
		if (d->rr_start >= d->rr_end)
			return PFMLIB_ERR_IRRINVAL;
		if ((d->rr_start | d->rr_end) & (align - 1))
			return PFMLIB_ERR_IRRALIGN;
		r[n].first = d->rr_start;
		r[n].last = d->rr_end - 1;
		r[n].plm = d->rr_plm ? d->rr_plm : plm;
	}
	return n;
}

/* ---- libpfm 3's cover ------------------------------------------------------------------------ */

/* The blocks of libpfm 3's cover. Some may be invalid: too large, or not at a multiple of their
 * size. is_cover_sound() checks them. */
struct libpfm3_cover {
	struct mont_block *blocks;
	unsigned n;
	uint8_t plm;
};

static unsigned floor_log2(uint64_t x)
{
	return 63 - (unsigned)__builtin_clzll(x);
}

static void add_cover_block(struct libpfm3_cover *c, uint64_t addr, unsigned k)
{
	c->blocks[c->n].addr = addr;
	c->blocks[c->n].log2 = (uint8_t)k;
	c->blocks[c->n++].plm = c->plm;
}

/* Covers [s, e): adds the largest block that fits and covers both remainders with the remaining
 * pairs. The last pair gets a block that may be larger than its remainder, or too small. */
static void split_range_like_libpfm3(struct libpfm3_cover *c, uint64_t s, uint64_t e,
                                     unsigned pairs, bool left)
{
	uint64_t b, t, size;
	unsigned k, half;

	if (pairs == 0 || e <= s)
		return;
	k = floor_log2(e - s);
	size = (uint64_t)1 << k;
	t = e & ~(size - 1);
	if (t - s >= size) {
		b = t - size;
	} else {
		size = (uint64_t)1 << --k;
		b = e - t >= size ? t : t - size;
	}
	if (pairs == 1 && k < 63 && (left ? b != s : e - b != size)) {
		size = (uint64_t)1 << ++k;
		b = left ? e - size : s;
	}
	add_cover_block(c, b, k);
	half = (pairs - 1) / 2;
	split_range_like_libpfm3(c, s, b, half + ((pairs - 1) % 2 && b - s > e - b - size), true);
	split_range_like_libpfm3(c, b + size, e,
	                         half + ((pairs - 1) % 2 && !(b - s > e - b - size)), false);
}

static bool is_address_in_block(struct mont_block b, uint64_t addr)
{
	return addr >= b.addr && addr <= mont_get_block_last(b);
}

/* Is all of @r in blocks of its levels? */
static bool is_range_covered(const struct mont_range *r, const struct mont_block *b, unsigned n)
{
	uint64_t at = r->first;

	for (;;) {
		unsigned i = 0;

		while (i < n && !(b[i].plm == r->plm && is_address_in_block(b[i], at)))
			i++;
		if (i == n)
			return false;
		if (mont_get_block_last(b[i]) >= r->last)
			return true;
		at = mont_get_block_last(b[i]) + 1;
	}
}

static bool is_cover_sound(const struct mont_range *r, unsigned n, const struct mont_block *b,
                           unsigned n_blocks)
{
	for (unsigned i = 0; i < n_blocks; i++)
		if (b[i].log2 > MONT_MAX_BLOCK || b[i].addr & (((uint64_t)1 << b[i].log2) - 1))
			return false;
	for (unsigned i = 0; i < n; i++)
		if (!is_range_covered(&r[i], b, n_blocks))
			return false;
	return true;
}

/* Covers the ranges in their order, each with all remaining pairs. Returns the number of blocks; 0
 * if the pairs do not suffice. */
static unsigned cover_like_libpfm3(const struct mont_range *r, unsigned n, struct mont_block *out)
{
	struct libpfm3_cover c = { .blocks = out };

	for (unsigned i = 0; i < n; i++) {
		if (c.n == MONT_MAX_PAIRS)
			return 0;
		c.plm = (uint8_t)r[i].plm;
		split_range_like_libpfm3(&c, r[i].first, r[i].last + 1, MONT_MAX_PAIRS - c.n, true);
	}
	return is_cover_sound(r, n, out, c.n) ? c.n : 0;
}

/* ---- the smallest cover ---------------------------------------------------------------------- */

/* The addresses to cover. Blocks form a binary tree, so the smallest cover of the addresses in a
 * block is the block, or the smallest covers of its two halves. */
struct cover_request {
	const struct mont_range *ranges;
	unsigned n_ranges;
	unsigned plm; /* ranges of other levels are ignored */
};

/* The first and last requested address in @b. False if no address of @b is requested; *@all if all
 * of @b is requested. */
static bool find_requested_addresses(const struct cover_request *w, struct mont_block b,
                                     uint64_t *first, uint64_t *last, bool *all)
{
	bool any = false;

	*all = false;
	for (unsigned i = 0; i < w->n_ranges; i++) {
		uint64_t lo = w->ranges[i].first, hi = w->ranges[i].last;

		if (w->ranges[i].plm != w->plm || hi < b.addr || lo > mont_get_block_last(b))
			continue;
		*all |= lo <= b.addr && hi >= mont_get_block_last(b);
		lo = lo < b.addr ? b.addr : lo;
		hi = hi > mont_get_block_last(b) ? mont_get_block_last(b) : hi;
		*first = any && *first < lo ? *first : lo;
		*last = any && *last > hi ? *last : hi;
		any = true;
	}
	return any;
}

static bool enclose_addresses(uint64_t first, uint64_t last, struct mont_block *out)
{
	unsigned k = first == last ? 0 : floor_log2(first ^ last) + 1;

	if (k > MONT_MAX_BLOCK)
		return false;
	out->log2 = (uint8_t)k;
	out->addr = first & ~(((uint64_t)1 << k) - 1);
	return true;
}

static void split_block(struct mont_block b, struct mont_block half[2])
{
	half[0] = half[1] = b;
	half[0].log2 = half[1].log2 = (uint8_t)(b.log2 - 1);
	half[1].addr += (uint64_t)1 << half[0].log2;
}

static void compute_cover_costs(const struct cover_request *w, struct mont_block b, unsigned pairs,
                                uint64_t cost[MONT_MAX_PAIRS + 1]);

/* Computes cost[p], the fewest bytes with which p blocks cover both halves, for p = 0 .. @pairs. */
static void combine_half_costs(const struct cover_request *w, const struct mont_block half[2],
                               unsigned pairs, uint64_t cost[MONT_MAX_PAIRS + 1])
{
	uint64_t a[MONT_MAX_PAIRS + 1], b[MONT_MAX_PAIRS + 1];

	compute_cover_costs(w, half[0], pairs, a);
	compute_cover_costs(w, half[1], pairs, b);
	for (unsigned p = 0; p <= pairs; p++) {
		cost[p] = NO_COVER_COST;
		for (unsigned i = 0; i <= p; i++)
			if (a[i] != NO_COVER_COST && b[p - i] != NO_COVER_COST &&
			    a[i] + b[p - i] < cost[p])
				cost[p] = a[i] + b[p - i];
	}
}

/* Computes cost[p], the fewest bytes with which p blocks cover the requested addresses in @b. */
static void compute_cover_costs(const struct cover_request *w, struct mont_block b, unsigned pairs,
                                uint64_t cost[MONT_MAX_PAIRS + 1])
{
	struct mont_block half[2];
	uint64_t first, last, both[MONT_MAX_PAIRS + 1];
	bool all;

	for (unsigned p = 0; p <= pairs; p++)
		cost[p] = 0;
	if (!find_requested_addresses(w, b, &first, &last, &all))
		return;
	enclose_addresses(first, last, &b);
	cost[0] = NO_COVER_COST;
	for (unsigned p = 1; p <= pairs; p++)
		cost[p] = (uint64_t)1 << b.log2;
	if (all || b.log2 == 0 || pairs < 2)
		return;
	split_block(b, half);
	combine_half_costs(w, half, pairs, both);
	for (unsigned p = 2; p <= pairs; p++)
		cost[p] = both[p] < cost[p] ? both[p] : cost[p];
}

/* Writes a cheapest cover of the requested addresses in @b with at most @pairs blocks, and as few
 * as possible. Returns their number. */
static unsigned write_cheapest_cover(const struct cover_request *w, struct mont_block b,
                                     unsigned pairs, struct mont_block *out)
{
	uint64_t first, last, cost[MONT_MAX_PAIRS + 1], left[MONT_MAX_PAIRS + 1],
		right[MONT_MAX_PAIRS + 1];
	struct mont_block half[2];
	unsigned give = 1, n;
	bool all;

	if (!find_requested_addresses(w, b, &first, &last, &all))
		return 0;
	enclose_addresses(first, last, &b);
	compute_cover_costs(w, b, pairs, cost);
	while (pairs > 1 && cost[pairs - 1] == cost[pairs])
		pairs--;
	if (pairs <= 1 || b.log2 == 0) {
		b.plm = (uint8_t)w->plm;
		*out = b;
		return 1;
	}
	split_block(b, half);
	compute_cover_costs(w, half[0], pairs, left);
	compute_cover_costs(w, half[1], pairs, right);
	while (left[give] + right[pairs - give] != cost[pairs])
		give++;
	n = write_cheapest_cover(w, half[0], give, out);
	return n + write_cheapest_cover(w, half[1], pairs - give, out + n);
}

/* The tree of one level mask and one value of the address bits that are always compared. */
struct cover_tree {
	struct cover_request request;
	struct mont_block root;
	uint64_t cost[MONT_MAX_PAIRS + 1];
};

static bool add_cover_tree(struct cover_tree *trees, unsigned *n, const struct mont_range *r,
                           unsigned n_ranges, uint64_t top, unsigned plm)
{
	for (unsigned i = 0; i < *n; i++)
		if (trees[i].root.addr >> MONT_MAX_BLOCK == top && trees[i].request.plm == plm)
			return true;
	if (*n == MONT_MAX_PAIRS)
		return false;
	trees[*n].root =
		(struct mont_block){ .addr = top << MONT_MAX_BLOCK, .log2 = MONT_MAX_BLOCK };
	trees[*n].request = (struct cover_request){ .ranges = r, .n_ranges = n_ranges, .plm = plm };
	++*n;
	return true;
}

/* Builds the trees of all ranges. False if there are more trees than pairs. */
static bool build_cover_trees(struct cover_tree *trees, unsigned *n, const struct mont_range *r,
                              unsigned n_ranges)
{
	*n = 0;
	for (unsigned i = 0; i < n_ranges; i++)
		for (uint64_t top = r[i].first >> MONT_MAX_BLOCK;
		     top <= r[i].last >> MONT_MAX_BLOCK; top++)
			if (!add_cover_tree(trees, n, r, n_ranges, top, r[i].plm))
				return false;
	return true;
}

/* The pairs of each tree. Among distributions of equal cost, one with the fewest pairs is best. */
struct pair_shares {
	unsigned tree_pairs[MONT_MAX_PAIRS], n_pairs;
	uint64_t cost;
};

static void distribute_pairs(const struct cover_tree *trees, unsigned n, unsigned at, unsigned left,
                             struct pair_shares *now, struct pair_shares *best)
{
	if (at == n) {
		if (now->cost < best->cost ||
		    (now->cost == best->cost && now->n_pairs < best->n_pairs))
			*best = *now;
		return;
	}
	for (unsigned p = 1; p <= left; p++) {
		now->tree_pairs[at] = p;
		now->n_pairs += p;
		now->cost += trees[at].cost[p];
		distribute_pairs(trees, n, at + 1, left - p, now, best);
		now->cost -= trees[at].cost[p];
		now->n_pairs -= p;
	}
}

int pfmi_mont_compute_best_cover(const struct mont_range *r, unsigned n, unsigned n_pairs,
                                 struct mont_block out[MONT_MAX_PAIRS])
{
	struct cover_tree trees[MONT_MAX_PAIRS];
	struct pair_shares now = { .cost = 0, .n_pairs = 0 },
			   best = { .cost = NO_COVER_COST, .n_pairs = 0 };
	unsigned n_trees, n_blocks = 0;

	if (!build_cover_trees(trees, &n_trees, r, n))
		return PFMLIB_ERR_TOOMANY;
	for (unsigned i = 0; i < n_trees; i++)
		compute_cover_costs(&trees[i].request, trees[i].root, n_pairs, trees[i].cost);
	distribute_pairs(trees, n_trees, 0, n_pairs, &now, &best);
	if (best.cost == NO_COVER_COST)
		return PFMLIB_ERR_TOOMANY;
	for (unsigned i = 0; i < n_trees; i++)
		n_blocks += write_cheapest_cover(&trees[i].request, trees[i].root,
		                                 best.tree_pairs[i], out + n_blocks);
	return (int)n_blocks;
}

int pfmi_mont_cover_ranges(const struct mont_range *r, unsigned n, unsigned spare,
                           struct mont_block out[MONT_MAX_PAIRS])
{
	unsigned n_blocks = cover_like_libpfm3(r, n, out);

	return n_blocks ? (int)n_blocks : pfmi_mont_compute_best_cover(r, n, spare, out);
}

bool pfmi_mont_enclose_range(const struct mont_range *r, struct mont_block *out)
{
	out->plm = (uint8_t)r->plm;
	return enclose_addresses(r->first, r->last, out);
}

bool pfmi_mont_is_fine_range(const struct mont_range *r)
{
	return r->first >> 16 == r->last >> 16;
}

/* ---- registers ------------------------------------------------------------------------------- */

static void append_register(pfmlib_mont_output_rr_t *out, unsigned num, uint64_t value,
                            unsigned addr_add)
{
	pfmlib_reg_t *reg = &out->rr_br[out->rr_nbr_used++];

	memset(reg, 0, sizeof(*reg));
	reg->reg_num = num;
	reg->reg_value = value;
	reg->reg_addr = reg->reg_alt_addr = num + addr_add;
}

static uint64_t build_mask_word(unsigned log2, unsigned plm)
{
	uint64_t compared = ~(((uint64_t)1 << log2) - 1) & (((uint64_t)1 << MONT_MAX_BLOCK) - 1);

	return compared | (uint64_t)(plm & 0xf) << MONT_MAX_BLOCK;
}

void pfmi_mont_put_block(pfmlib_mont_output_rr_t *out, unsigned num, struct mont_block b,
                         unsigned addr_add)
{
	append_register(out, num, b.addr, addr_add);
	append_register(out, num + 1, build_mask_word(b.log2, b.plm), addr_add);
}

/* In fine mode the hardware uses only the page bits of the mask. Bits 32 to 55 are 0 as in libpfm
 * 3, because programs compare values. */
#define FINE_MASK 0xffff0000u

void pfmi_mont_put_fine_range(pfmlib_mont_output_rr_t *out, unsigned num,
                              const struct mont_range *r, unsigned info)
{
	uint64_t mask = FINE_MASK | (uint64_t)(r->plm & 0xf) << MONT_MAX_BLOCK;
	uint64_t lower = r->first & ~(uint64_t)31,
		 upper = (r->last & ~(uint64_t)15) | 16; /* second bundle of its pair */

	append_register(out, num, lower, 1);
	append_register(out, num + 1, mask, 1);
	append_register(out, num + 4, upper, 1);
	append_register(out, num + 5, mask, 1);
	out->rr_infos[info].rr_soff = r->first - lower;
	out->rr_infos[info].rr_eoff = upper + 15 - r->last;
}

void pfmi_mont_put_range_infos(pfmlib_mont_output_rr_t *out, const struct mont_range *r, unsigned n,
                               const struct mont_block *b, unsigned n_blocks)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n_blocks; k++) {
			if (b[k].plm != (uint8_t)r[i].plm)
				continue;
			if (is_address_in_block(b[k], r[i].first))
				out->rr_infos[i].rr_soff = r[i].first - b[k].addr;
			if (is_address_in_block(b[k], r[i].last))
				out->rr_infos[i].rr_eoff = mont_get_block_last(b[k]) - r[i].last;
		}
}
