/* SPDX-License-Identifier: MIT */
/* Tests of one source file each, MODULE/.../FILE.c for lib/MODULE/.../FILE.c, in one program. A
 * file ends in UNIT(MODULE_FILE, its cases); tests/meson.build lists them. */
#ifndef PERFMON_TESTS_UNITS_H
#define PERFMON_TESTS_UNITS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "expect.h"

struct unit_cases {
	const struct CMUnitTest *cases;
	size_t n;
};

#define UNIT(NAME, ...)                                                                            \
	static const struct CMUnitTest cases[] = { __VA_ARGS__ };                                  \
	const struct unit_cases unit_##NAME = { cases, sizeof(cases) / sizeof(cases[0]) }

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

/* Random numbers that are equal in every run: xorshift of 64 bits. */
static inline uint64_t unit_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
