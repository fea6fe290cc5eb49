/* SPDX-License-Identifier: MIT */
/* Marked programs: each page of a fresh mapping faults once. */
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline void cause_faults(unsigned n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *at;

	if (!n)
		return;

	at = (volatile char *)mmap(NULL, n * page, PROT_READ | PROT_WRITE,
	                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		abort();
	madvise((void *)at, n * page, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < n; i++)
		at[i * page] = 1;
	munmap((void *)at, n * page);
}
