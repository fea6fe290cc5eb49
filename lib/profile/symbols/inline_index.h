/* SPDX-License-Identifier: MIT */
/* Inlined functions by address. libdw walks through a whole compilation unit for each address; here
 * each unit is walked through once. */
#ifndef PFM_INLINE_INDEX_H
#define PFM_INLINE_INDEX_H

#include <stddef.h>
#include "profile/budget.h"
#include "profile/dwarf_library.h"

#ifdef HAVE_LIBDW
struct inline_unit;

/* Indexes of the units of a file that were searched so far. */
struct inline_index {
	struct inline_unit *units;
	size_t n, capacity;
	struct budget levels, ranges, names;
};

/* Begins the index of the file called @path, which is kept, with @size bytes. */
struct inline_index inline_index_begin(const char *path, uint64_t size,
                                       struct profile_messages *messages);
/* The names of the functions that are inlined at @address of @unit, the outermost first, with
 * semicolons between; "" without any. Valid as long as the index. NULL without memory. */
const char *inline_index_names(struct inline_index *index, Dwarf_Die *unit, Dwarf_Addr address);
void inline_index_free(struct inline_index *index);
#endif

#endif
