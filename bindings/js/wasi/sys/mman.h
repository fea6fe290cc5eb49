/* SPDX-License-Identifier: MIT */
/* Nothing can be mapped in WebAssembly. */
#ifndef PERFMON_WASI_MMAN_H
#define PERFMON_WASI_MMAN_H

#include <errno.h>
#include <stddef.h>

enum { PROT_READ = 1, PROT_WRITE = 2, MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_ANONYMOUS = 32 };
#define MAP_FAILED ((void *)-1)

static inline void *mmap(void *at, size_t size, int prot, int flags, int fd, long offset)
{
	(void)at, (void)size, (void)prot, (void)flags, (void)fd, (void)offset;
	errno = ENOSYS;
	return MAP_FAILED;
}

static inline int munmap(void *at, size_t size)
{
	(void)at, (void)size;
	return 0;
}

static inline int mprotect(void *at, size_t size, int prot)
{
	(void)at, (void)size, (void)prot;
	return 0;
}

#endif
