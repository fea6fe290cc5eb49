/* SPDX-License-Identifier: MIT */
/* Makes the n-th allocation of a stretch of code fail. Included by one file of a test program: it
 * takes malloc's place. Sanitizers and other C libraries keep their own; then nothing ever fails
 * and starve_hit stays false. */
#ifndef PERFMON_TESTS_STARVE_H
#define PERFMON_TESTS_STARVE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

static unsigned starve_at; /* 0: nothing fails */
__attribute__((unused)) static bool
	starve_on; /* and every later one fails as well, until starve_at is 0 again */
static bool starve_hit;
__attribute__((unused)) static long starve_live; /* pieces of memory that are not given back */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
	__has_feature(memory_sanitizer)
#define STARVE_NOT_HERE
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define STARVE_NOT_HERE
#endif

#ifndef STARVE_NOT_HERE
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

static bool is_starved(void)
{
	if (!starve_at || starve_at-- > 1)
		return false;
	starve_at = starve_on;
	errno = ENOMEM; /* like malloc() itself: the C library relies on it */
	return starve_hit = true;
}

static void *count_allocation(void *p)
{
	starve_live += p != NULL;
	return p;
}

void *malloc(size_t n)
{
	return count_allocation(is_starved() ? NULL : __libc_malloc(n));
}
void *calloc(size_t n, size_t size)
{
	return count_allocation(is_starved() ? NULL : __libc_calloc(n, size));
}

void *realloc(void *p, size_t n)
{
	if (is_starved())
		return NULL;
	return p ? __libc_realloc(p, n) : count_allocation(__libc_realloc(p, n));
}

void free(void *p)
{
	starve_live -= p != NULL;
	__libc_free(p);
}
#endif

#endif
