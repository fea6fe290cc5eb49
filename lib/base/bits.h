/* SPDX-License-Identifier: MIT */
/* Bits of sets: counters, events, fields. */
#ifndef PERFMON_BASE_BITS_H
#define PERFMON_BASE_BITS_H

#include <stdint.h>

static inline unsigned base_count_bits(uint64_t x)
{
	return (unsigned)__builtin_popcountll(x);
}

/* The number of the lowest bit of @x, which is not 0. */
static inline unsigned base_find_lowest_bit(uint64_t x)
{
	return (unsigned)__builtin_ctzll(x);
}

#endif
