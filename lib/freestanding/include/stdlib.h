/* SPDX-License-Identifier: MIT */
/* Encoding one event allocates nothing. Functions that allocate fail for lack of memory. */
#ifndef PERFMON_FREESTANDING_STDLIB_H
#define PERFMON_FREESTANDING_STDLIB_H

#include <stddef.h>

static inline void *malloc(size_t n)
{
	(void)n;
	return NULL;
}

static inline void free(void *at)
{
	(void)at;
}

#endif
