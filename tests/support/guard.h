/* SPDX-License-Identifier: MIT */
/* Memory that ends at a page without access rights: an access after the last byte faults, with
 * any compiler. */
#ifndef PERFMON_TESTS_GUARD_H
#define PERFMON_TESTS_GUARD_H

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static inline size_t guard_pages(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (n + page - 1) / page * page;
}

/* @n bytes of 0, a multiple of what their type is aligned to. */
static inline void *guard_begin(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = guard_pages(n);
	char *at =
		mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED && mprotect(at + room, page, PROT_NONE) == 0);
	return at + room - n;
}

static inline void guard_end(void *p, size_t n)
{
	size_t room = guard_pages(n);

	munmap((char *)p + n - room, room + (size_t)sysconf(_SC_PAGESIZE));
}

#endif
