/* SPDX-License-Identifier: MIT */
/* How often tests repeat what they do. */
#ifndef TESTS_REPETITIONS_H
#define TESTS_REPETITIONS_H

#include <stdlib.h>

/* @n times, or a tenth of it in a short run ($PERFMON_QUICK): under valgrind, a sanitizer or an
 * emulator. */
static inline unsigned count_repetitions(unsigned n)
{
	return getenv("PERFMON_QUICK") ? n / 10 : n;
}

#endif
