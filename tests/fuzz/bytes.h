/* SPDX-License-Identifier: MIT */
/* An input cut into numbers: taken from the front, zeros once it is used up. */
#ifndef PERFMON_FUZZ_BYTES_H
#define PERFMON_FUZZ_BYTES_H

#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *at;
	size_t left;
};

static inline void take(struct bytes *b, void *to, size_t n)
{
	size_t k = n < b->left ? n : b->left;

	memset(to, 0, n);
	if (k)
		memcpy(to, b->at, k);
	b->at += k;
	b->left -= k;
}

static inline unsigned byte(struct bytes *b)
{
	uint8_t x;

	take(b, &x, 1);
	return x;
}

static inline unsigned pair(struct bytes *b)
{
	unsigned low = byte(b);

	return low | byte(b) << 8;
}

static inline uint64_t word(struct bytes *b)
{
	uint64_t x;

	take(b, &x, 8);
	return x;
}

/* A word with few bits set: what an address or a small setting looks like. */
static inline uint64_t shifted(struct bytes *b)
{
	uint64_t x = pair(b);

	return x << (byte(b) & 63);
}

#endif
