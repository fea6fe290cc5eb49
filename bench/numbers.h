/* SPDX-License-Identifier: MIT */
/* Helpers of every measurement: a clock, the median, and a generator that gives the same numbers on
 * every machine. */
#ifndef PERFMON_BENCH_NUMBERS_H
#define PERFMON_BENCH_NUMBERS_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline double clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static inline double median_value(double *v, unsigned n)
{
	qsort(v, n, sizeof(*v), compare_values);
	return n ? v[n / 2] : 0;
}

static inline uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

#endif
