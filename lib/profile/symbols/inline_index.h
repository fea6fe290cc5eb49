/* SPDX-License-Identifier: MIT */
/* Inlined functions by address. libdw walks through a whole compilation unit for each address; here
 * each unit is walked through once. */
#ifndef PFM_INLINE_INDEX_H
#define PFM_INLINE_INDEX_H

#include <stddef.h>
#include "profile/dwarf_library.h"

#ifdef HAVE_LIBDW
struct inline_unit;

/* Indexes of the units of a file that were searched so far. All zeros is empty. */
struct inline_index {
	struct inline_unit *units;
	size_t n, capacity;
};

/* The names of the functions that are inlined at @address of @unit, the outermost first, with
 * semicolons between; "" without any. The caller frees it. NULL without memory. */
char *inline_index_names(struct inline_index *index, Dwarf_Die *unit, Dwarf_Addr address);
void inline_index_free(struct inline_index *index);
#endif

#endif
