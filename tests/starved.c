/* SPDX-License-Identifier: MIT */
/* LD_PRELOAD for pfm: allocation number STARVED of the command fails, with STARVED_ON every later
 * one as well. What the command starts has its memory. How many there were is written into the file
 * STARVED_COUNT. */
#include <errno.h>
#include <fcntl.h>
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

static bool is_starved(void)
{
	long n = ++calls;

	if (!which || (n != which && !(on && n > which)))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return is_starved() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nmemb, size_t size)
{
	return is_starved() ? NULL : __libc_calloc(nmemb, size);
}

void *realloc(void *ptr, size_t size)
{
	return is_starved() ? NULL : __libc_realloc(ptr, size);
}
#endif
