/* SPDX-License-Identifier: MIT */
/* Copying of public structs between a caller and the library. Each struct begins with the size its
 * caller was compiled with, which may be shorter or longer than the library's. A size is valid if
 * the size member itself fits. Members that the shorter struct lacks are zero on input and
 * unchanged on output. */
#ifndef PERFMON_SIZES_H
#define PERFMON_SIZES_H

#include <stdbool.h>
#include <string.h>
#include <perfmon/perfmon.h>

/* The size member of the caller's struct @s. */
static inline size_t base_get_struct_size(const void *s)
{
	size_t size;

	memcpy(&size, s, sizeof(size));
	return size;
}

/* True if @s is not NULL and its size is set. */
static inline bool base_has_struct_size(const void *s)
{
	return s && base_get_struct_size(s) >= sizeof(size_t);
}

static inline size_t base_get_shared_struct_size(const void *s, size_t ours)
{
	size_t theirs = base_get_struct_size(s);

	return theirs < ours ? theirs : ours;
}

/* Copies the caller's struct @from, which may be NULL, to @to of @size bytes. False if its size
 * is not set. */
static inline bool base_copy_struct_in(void *to, size_t size, const void *from)
{
	memset(to, 0, size);
	if (from && !base_has_struct_size(from))
		return false;
	if (from)
		memcpy(to, from, base_get_shared_struct_size(from, size));
	memcpy(to, &size, sizeof(size));
	return true;
}

/* Copies the caller's options @from, which may be NULL, to @to of @size bytes. Returns why they are
 * refused, or NULL: a member that only a later version has must be 0. */
static inline const char *base_copy_options_in(void *to, size_t size, const void *from)
{
	if (!base_copy_struct_in(to, size, from))
		return "options.size is not set";
	for (size_t i = size; from && i < base_get_struct_size(from); i++)
		if (((const unsigned char *)from)[i])
			return "options.size: a member that only a later version has is set";
	return NULL;
}

/* The error of flags that this version does not know, NULL for none. @last is the highest flag. */
static inline const char *base_find_unknown_flag(unsigned flags, unsigned last)
{
	return flags & ~(2 * last - 1) ? "options.flags has unknown flags" : NULL;
}

/* Copies @from of @size bytes to the caller's struct @to, whose size was checked. */
static inline void base_copy_struct_out(void *to, const void *from, size_t size)
{
	memcpy((char *)to + sizeof(size_t), (const char *)from + sizeof(size_t),
	       base_get_shared_struct_size(to, size) - sizeof(size_t));
}

/* The @i-th of the caller's structs at @first, all of which have the size of the first. */
static inline void *base_get_struct_at(void *first, size_t i)
{
	return (char *)first + i * base_get_struct_size(first);
}

/* The struct in which a public call writes its error: the caller's @error (may be NULL) if it has
 * all members of the library's, else @mine. */
static inline pfm_error_t *base_choose_error_struct(pfm_error_t *error, pfm_error_t *mine)
{
	if (!error || error->size >= sizeof(*error))
		return error;
	*mine = (pfm_error_t){ .size = sizeof(*mine) };
	return mine;
}

/* Copies as many members of @why as the caller's @error has. Returns @rc. */
static inline int base_return_error(pfm_error_t *error, const pfm_error_t *why, int rc)
{
	if (rc && why != error && base_has_struct_size(error))
		base_copy_struct_out(error, why, sizeof(*why));
	return rc;
}

#endif
