/* SPDX-License-Identifier: MIT */
#ifndef PFM_GROW_H
#define PFM_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* @list, which has @n elements of @size bytes, grown to hold one more. The capacity doubles
 * when the list is full, so that adding takes constant time on average. Without memory sets
 * *@failed and returns @list as it was. */
static inline void *base_grow_list(void *list, size_t n, size_t *capacity, size_t size,
                                   bool *failed)
{
	size_t twice = *capacity ? 2 * *capacity : 64;
	void *more;

	if (n < *capacity)
		return list;
	more = n < UINT32_MAX / 2 ? realloc(list, twice * size) : NULL;
	*failed |= !more;
	*capacity = more ? twice : *capacity;
	return more ? more : list;
}

#endif
