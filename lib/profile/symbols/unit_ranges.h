/* SPDX-License-Identifier: MIT */
/* Compilation units by address. libdw finds them by .debug_aranges alone, which clang does not
 * write: where that fails, the ranges of all units are read and sorted once. */
#ifndef PFM_UNIT_RANGES_H
#define PFM_UNIT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include "profile/budget.h"
#include "profile/dwarf_library.h"

#ifdef HAVE_LIBDW
/* Code of a unit: [begin, end) in the file's own addresses. */
struct unit_range {
	Dwarf_Addr begin, end;
	Dwarf_Die *unit;
};

/* The ranges of a module's units, sorted by address. */
struct unit_ranges {
	struct unit_range *list;
	size_t n, capacity;
	Dwarf_Addr bias; /* from the file's own addresses to libdwfl's */
	struct budget budget;
	bool read, failed;
};

/* Begins the ranges of the file called @path, which is kept, with @size bytes. */
struct unit_ranges unit_ranges_begin(const char *path, uint64_t size,
                                     struct profile_messages *messages);
/* The unit of @module that holds libdwfl's @address, and in @bias the difference from the unit's
 * own addresses to libdwfl's. libdwfl owns the unit. NULL without debugging information there, or
 * without memory (errno is ENOMEM then). */
Dwarf_Die *unit_ranges_find(struct unit_ranges *r, Dwfl_Module *module, Dwarf_Addr address,
                            Dwarf_Addr *bias);
void unit_ranges_free(struct unit_ranges *r);
#endif

#endif
