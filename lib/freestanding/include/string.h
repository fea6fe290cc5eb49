/* SPDX-License-Identifier: MIT */
/* For programs without a C library: they bring memcpy() and memset(), to which compilers make calls
 * of their own. */
#ifndef PERFMON_FREESTANDING_STRING_H
#define PERFMON_FREESTANDING_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *at, int byte, size_t n);

static inline int perfmon_memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;

	while (n && *x == *y) {
		x++;
		y++;
		n--;
	}
	return n ? *x - *y : 0;
}
#define memcmp perfmon_memcmp

static inline const char *perfmon_memchr(const void *at, int c, size_t n)
{
	const char *s = (const char *)at;

	for (; n; n--, s++)
		if (*s == (char)c)
			return s;
	return NULL;
}
#define memchr perfmon_memchr

static inline size_t perfmon_strcspn(const char *s, const char *ends)
{
	size_t n = 0;

	for (; s[n]; n++)
		for (const char *end = ends; *end; end++)
			if (s[n] == *end)
				return n;
	return n;
}
#define strcspn   perfmon_strcspn
#define strlen(S) perfmon_strcspn(S, "")

static inline int perfmon_strncmp(const char *a, const char *b, size_t n)
{
	while (n && *a && *a == *b) {
		a++;
		b++;
		n--;
	}
	return n ? (unsigned char)*a - (unsigned char)*b : 0;
}
#define strncmp      perfmon_strncmp
#define strcmp(A, B) perfmon_strncmp(A, B, (size_t)-1)

static inline const char *perfmon_strchr(const char *s, int c)
{
	while (*s && *s != (char)c)
		s++;
	return *s == (char)c ? s : NULL;
}
#define strchr perfmon_strchr

static inline const char *perfmon_strrchr(const char *s, int c)
{
	const char *last = NULL;

	for (; *s; s++)
		if (*s == (char)c)
			last = s;
	return last;
}
#define strrchr perfmon_strrchr

static inline const char *perfmon_strstr(const char *s, const char *word)
{
	size_t n = strlen(word);

	for (; *s; s++)
		if (perfmon_strncmp(s, word, n) == 0)
			return s;
	return n ? NULL : s;
}
#define strstr perfmon_strstr

#endif
