/* SPDX-License-Identifier: MIT */
/* Bits of sets: counters, events, fields. */
#ifndef PERFMON_BASE_BITS_H
#define PERFMON_BASE_BITS_H

#include <stdint.h>

static inline unsigned base_count_bits(uint64_t x)
{
#if __STDC_HOSTED__
	return (unsigned)__builtin_popcountll(x);
#else
	/* Programs without an operating system may lack the compiler's own library, too. */
	x -= x >> 1 & 0x5555555555555555u;
	x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (unsigned)(x * 0x0101010101010101u >> 56);
#endif
}

/* The number of the lowest bit of @x, which is not 0. */
static inline unsigned base_find_lowest_bit(uint64_t x)
{
	return (unsigned)__builtin_ctzll(x);
}

#endif
