/* SPDX-License-Identifier: MIT */
/* How structs cross the border of the library. Each begins with the size its caller was compiled with, which may be shorter or
 * longer than ours. The one rule: a size is good if the size member itself fits; what the shorter side does not know is zero on the
 * way in and left alone on the way out. */
#ifndef PERFMON_SIZES_H
#define PERFMON_SIZES_H

#include <stdbool.h>
#include <string.h>
#include <perfmon/perfmon.h>

/* The size that the caller's struct @s says it has. */
static inline size_t pfmi_size_of(const void *s)
{
	size_t size;

	memcpy(&size, s, sizeof(size));
	return size;
}

/* True if the caller's struct @s is there and has its size set. */
static inline bool pfmi_sized(const void *s)
{
	return s && pfmi_size_of(s) >= sizeof(size_t);
}

static inline size_t pfmi_shared_size(const void *s, size_t ours)
{
	size_t theirs = pfmi_size_of(s);

	return theirs < ours ? theirs : ours;
}

/* In: copies the caller's struct @from, which may be NULL, to @to of @size bytes. False if its size is not set. */
static inline bool pfmi_take(void *to, size_t size, const void *from)
{
	memset(to, 0, size);
	if (from && !pfmi_sized(from))
		return false;
	if (from)
		memcpy(to, from, pfmi_shared_size(from, size));
	memcpy(to, &size, sizeof(size));
	return true;
}

/* Out: copies @from of @size bytes to the caller's struct @to, whose size was checked. */
static inline void pfmi_give(void *to, const void *from, size_t size)
{
	memcpy((char *)to + sizeof(size_t), (const char *)from + sizeof(size_t), pfmi_shared_size(to, size) - sizeof(size_t));
}

/* Stride: the @i-th of the caller's structs at @first, all of which are as long as that one. */
static inline void *pfmi_nth(void *first, size_t i)
{
	return (char *)first + i * pfmi_size_of(first);
}

/* Where a public call writes its error: the caller's own struct @error (may be NULL) if it has room for all of ours, else @mine. */
static inline pfm_error_t *pfmi_error_begin(pfm_error_t *error, pfm_error_t *mine)
{
	if (!error || error->size >= sizeof(*error))
		return error;
	*mine = (pfm_error_t){ .size = sizeof(*mine) };
	return mine;
}

/* Its end: hands what there is room for to the caller. Returns @rc. */
static inline int pfmi_error_end(pfm_error_t *error, const pfm_error_t *why, int rc)
{
	if (rc && why != error && pfmi_sized(error))
		pfmi_give(error, why, sizeof(*why));
	return rc;
}

#endif
