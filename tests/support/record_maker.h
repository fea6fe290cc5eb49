/* SPDX-License-Identifier: MIT */
/* Records that a test writes field by field, in either byte order. */
#ifndef PERFMON_TESTS_RECORD_MAKER_H
#define PERFMON_TESTS_RECORD_MAKER_H

#include <byteswap.h>
#include <stdlib.h>
#include <string.h>
#include "sampling/sampling.h"

/* A record under construction. */
struct maker {
	_Alignas(8) uint8_t bytes[4096];
	size_t n;
	bool foreign;
};

static inline void put(struct maker *m, const void *p, size_t n)
{
	assert_true(m->n + n <= sizeof(m->bytes));
	memcpy(m->bytes + m->n, p, n);
	m->n += n;
}

static inline void put64(struct maker *m, uint64_t v)
{
	v = m->foreign ? bswap_64(v) : v;
	put(m, &v, 8);
}

static inline void put32(struct maker *m, uint32_t v)
{
	v = m->foreign ? bswap_32(v) : v;
	put(m, &v, 4);
}

static inline void put16(struct maker *m, uint16_t v)
{
	v = m->foreign ? bswap_16(v) : v;
	put(m, &v, 2);
}

static inline void put_text(struct maker *m, const char *s)
{
	char padded[64] = "";

	memcpy(padded, s, strlen(s));
	put(m, padded, (strlen(s) + 8) & ~(size_t)7);
}

static inline void begin(struct maker *m, bool foreign, uint32_t type, uint16_t misc)
{
	memset(m, 0, sizeof(*m));
	m->foreign = foreign;
	put32(m, type);
	put16(m, misc);
	put16(m, 0);
}

static inline void finish(struct maker *m)
{
	uint16_t size = (uint16_t)m->n;

	size = m->foreign ? bswap_16(size) : size;
	memcpy(m->bytes + 6, &size, 2);
}

/* A layout with fields of every kind, of which the test sets the fields. */
static const struct record_layout plain = {
	.read_format = 4 | 16,
	.branch_type = (uint64_t)1 << 17,
	.user_regs = 0x15,
	.intr_regs = 0x7,
	.has_trailers = true,
};

#endif
