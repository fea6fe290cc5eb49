/* SPDX-License-Identifier: MIT */
#include "profile/symbols/unit_ranges.h"

#ifdef HAVE_LIBDW
#include <errno.h>
#include <stdlib.h>
#include "base/grow.h"

enum { BYTES_OF_A_BYTE = 32, FREE_BYTES = 1 << 18 };

struct unit_ranges unit_ranges_begin(const char *path, uint64_t size,
                                     struct profile_messages *messages)
{
	return (struct unit_ranges){ .budget = { .messages = messages,
		                                 .file = path,
		                                 .subject = "source lines",
		                                 .unit = "bytes of ranges of code",
		                                 .limit = budget_limit(size, BYTES_OF_A_BYTE,
		                                                       FREE_BYTES) } };
}

static void add_range(struct unit_ranges *r, Dwarf_Addr begin, Dwarf_Addr end, Dwarf_Die *unit)
{
	if (!budget_charge(&r->budget, sizeof(*r->list)) || begin >= end)
		return;
	r->list = base_grow_list(r->list, r->n, &r->capacity, sizeof(*r->list), &r->failed);
	if (r->failed)
		return;
	r->list[r->n++] = (struct unit_range){ begin, end, unit };
}

static int compare_begins(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static void read_ranges(struct unit_ranges *r, Dwfl_Module *module)
{
	Dwarf_Addr base, begin, end;
	Dwarf_Die *unit = NULL;

	r->read = true;
	while (!r->failed && !r->budget.is_exceeded &&
	       (unit = dw.dwfl_module_nextcu(module, unit, &r->bias)) != NULL) {
		ptrdiff_t at = 0;

		base = 0;
		while (!r->failed && !r->budget.is_exceeded &&
		       (at = dw.dwarf_ranges(unit, at, &base, &begin, &end)) > 0)
			add_range(r, begin, end, unit);
	}
	if (r->n)
		qsort(r->list, r->n, sizeof(*r->list), compare_begins);
}

Dwarf_Die *unit_ranges_find(struct unit_ranges *r, Dwfl_Module *module, Dwarf_Addr address,
                            Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dw.dwfl_module_addrdie(module, address, bias);
	size_t low = 0, high;

	if (unit)
		return unit;
	if (!r->read)
		read_ranges(r, module);
	if (r->failed) {
		errno = ENOMEM;
		return NULL;
	}
	*bias = r->bias;
	for (high = r->n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (r->list[middle].begin <= address - r->bias)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address - r->bias < r->list[low - 1].end ? r->list[low - 1].unit : NULL;
}

void unit_ranges_free(struct unit_ranges *r)
{
	free(r->list);
	*r = (struct unit_ranges){ .list = NULL };
}
#endif
