/* SPDX-License-Identifier: MIT */
/* Copying of public structs between a caller and the library. Each struct begins with the size its
 * caller was compiled with, which may be shorter or longer than the library's; 0 means the size of
 * version 1.0. A size is valid if the size member itself fits. Members that the shorter struct
 * lacks are zero on input and unchanged on output. */
#ifndef PERFMON_SIZES_H
#define PERFMON_SIZES_H

#include <stdbool.h>
#include <string.h>
#include "base/first_sizes.h"

/* The size of the caller's struct @s; @first: in version 1.0. */
static inline size_t base_read_struct_size(const void *s, size_t first)
{
	size_t size;

	memcpy(&size, s, sizeof(size));
	return size ? size : first;
}

/* The size of the caller's struct S. */
#define base_get_struct_size(S) base_read_struct_size((S), BASE_FIRST_SIZE_OF(S))

static inline bool base_is_struct_size_valid(const void *s, size_t first)
{
	return s && base_read_struct_size(s, first) >= sizeof(size_t);
}

/* True if the caller's struct S is not NULL and its size is valid. */
#define base_has_struct_size(S) base_is_struct_size_valid((S), BASE_FIRST_SIZE_OF(S))

static inline bool base_copy_sized_in(void *to, size_t size, const void *from, size_t first)
{
	memset(to, 0, size);
	if (from && !base_is_struct_size_valid(from, first))
		return false;
	if (from) {
		size_t theirs = base_read_struct_size(from, first);

		memcpy(to, from, theirs < size ? theirs : size);
	}
	memcpy(to, &size, sizeof(size));
	return true;
}

/* Copies the caller's struct FROM, which may be NULL, to the library's TO of SIZE bytes. False if
 * its size is not valid. */
#define base_copy_struct_in(TO, SIZE, FROM)                                                        \
	base_copy_sized_in((TO), (SIZE), (FROM), BASE_FIRST_SIZE_OF(TO))

static inline const char *base_copy_sized_options_in(void *to, size_t size, const void *from,
                                                     size_t first)
{
	if (!base_copy_sized_in(to, size, from, first))
		return "options.size is invalid";
	for (size_t i = size; from && i < base_read_struct_size(from, first); i++)
		if (((const unsigned char *)from)[i])
			return "options.size: a member that only a later version has is set";
	return NULL;
}

/* Copies the caller's options FROM, which may be NULL, to the library's TO of SIZE bytes. Returns
 * why they are refused, or NULL: a member that only a later version has must be 0. */
#define base_copy_options_in(TO, SIZE, FROM)                                                       \
	base_copy_sized_options_in((TO), (SIZE), (FROM), BASE_FIRST_SIZE_OF(TO))

/* The error of flags that this version does not know, NULL for none. @last is the highest flag. */
static inline const char *base_find_unknown_flag(unsigned flags, unsigned last)
{
	return flags & ~(2 * last - 1) ? "options.flags has unknown flags" : NULL;
}

static inline void base_copy_sized_out(void *to, const void *from, size_t size, size_t first)
{
	size_t theirs = base_read_struct_size(to, first);

	memcpy((char *)to + sizeof(size_t), (const char *)from + sizeof(size_t),
	       (theirs < size ? theirs : size) - sizeof(size_t));
}

/* Copies the library's FROM of SIZE bytes to the caller's struct TO, whose size was checked. */
#define base_copy_struct_out(TO, FROM, SIZE)                                                       \
	base_copy_sized_out((TO), (FROM), (SIZE), BASE_FIRST_SIZE_OF(FROM))

/* The I-th of the caller's structs at FIRST, all of which have the size of the first. */
#define base_get_struct_at(FIRST, I)                                                               \
	((__typeof__(FIRST))(void *)((char *)(FIRST) + (I)*base_get_struct_size(FIRST)))

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
