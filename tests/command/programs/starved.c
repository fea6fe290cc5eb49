/* SPDX-License-Identifier: MIT */
/* LD_PRELOAD for pfm: allocation number STARVED of the command fails, with STARVED_ON every later
 * one as well. What the command starts has its memory. How many there were is written into the file
 * STARVED_COUNT.
 *
 * Allocations of elfutils succeed, its tsearch(3) included: without memory libdw calls abort(), and
 * does not check all results. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

static void *(*libc_tsearch)(const void *key, void **root, __compar_fn_t compare);
static __thread unsigned in_tsearch;
static atomic_long calls, which;
static bool on;
static pid_t self;
static char count[256];

__attribute__((constructor)) static void begin_starving(void)
{
	const char *n = getenv("STARVED"), *path = getenv("STARVED_COUNT");

	self = getpid();
	on = getenv("STARVED_ON") != NULL;
	snprintf(count, sizeof(count), "%s", path ? path : "");
	unsetenv("LD_PRELOAD");
	*(void **)&libc_tsearch = dlsym(RTLD_NEXT, "tsearch");
	calls = 0;
	which = n ? atol(n) : 0;
}

__attribute__((destructor)) static void end_starving(void)
{
	int fd = *count && getpid() == self
	                 ? open(count, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
	                 : -1;
	char text[32];

	if (fd < 0)
		return;
	(void)!write(fd, text, (size_t)snprintf(text, sizeof(text), "%ld", calls));
	close(fd);
}

static bool is_elfutils(const void *caller)
{
	Dl_info info;

	return in_tsearch ||
	       (dladdr(caller, &info) && info.dli_fname &&
	        (strstr(info.dli_fname, "/libdw") || strstr(info.dli_fname, "/libelf")));
}

static bool is_starved(const void *caller)
{
	long n = ++calls;

	if (!which || (n != which && !(on && n > which)) || is_elfutils(caller))
		return false;
	errno = ENOMEM;
	return true;
}

/* The parameters of the C library have names that are reserved for it. */
void *starved_tsearch(const void *key, void **root, __compar_fn_t compare) __asm__("tsearch");

void *starved_tsearch(const void *key, void **root, __compar_fn_t compare)
{
	void *found;

	in_tsearch++;
	found = libc_tsearch(key, root, compare);
	in_tsearch--;
	return found;
}

void *malloc(size_t size)
{
	return is_starved(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t nmemb, size_t size)
{
	return is_starved(__builtin_return_address(0)) ? NULL : __libc_calloc(nmemb, size);
}

void *realloc(void *ptr, size_t size)
{
	return is_starved(__builtin_return_address(0)) ? NULL : __libc_realloc(ptr, size);
}
#endif
