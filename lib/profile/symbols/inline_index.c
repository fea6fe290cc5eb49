/* SPDX-License-Identifier: MIT */
#include "profile/symbols/inline_index.h"

#ifdef HAVE_LIBDW
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "profile/symbols/symbols.h"

#define NOT_INLINED UINT32_MAX

/* An inlined function, and the one that it is inlined into, or NOT_INLINED. */
struct inlined_function {
	Dwarf_Die die;
	uint32_t outer;
};

/* Code of an inlined function, including the code inlined into it. */
struct inlined_range {
	Dwarf_Addr begin, end;
	uint32_t function, depth;
};

/* From @begin to the next segment the innermost inlined function is @function. */
struct inline_segment {
	Dwarf_Addr begin;
	uint32_t function;
};

struct inline_unit {
	const void *key; /* address of the unit's first entry in memory */
	struct inlined_function *functions;
	struct inlined_range *ranges;
	struct inline_segment *segments;
	size_t n_functions, n_ranges, n_segments;
	size_t functions_capacity, ranges_capacity, segments_capacity;
	bool failed; /* no memory */
};

/* ---- walking through a unit ------------------------------------------------------------------ */

static void add_ranges(struct inline_unit *u, Dwarf_Die *die, uint32_t function, uint32_t depth)
{
	Dwarf_Addr base = 0, begin, end;
	ptrdiff_t at = 0;

	while (!u->failed && (at = dw.dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		u->ranges = base_grow_list(u->ranges, u->n_ranges, &u->ranges_capacity,
		                           sizeof(*u->ranges), &u->failed);
		if (!u->failed && begin < end)
			u->ranges[u->n_ranges++] =
				(struct inlined_range){ begin, end, function, depth };
	}
}

/* Adds an inlined function. Returns its number. */
static uint32_t add_function(struct inline_unit *u, const Dwarf_Die *die, uint32_t outer)
{
	u->functions = base_grow_list(u->functions, u->n_functions, &u->functions_capacity,
	                              sizeof(*u->functions), &u->failed);
	if (u->failed)
		return NOT_INLINED;
	u->functions[u->n_functions] = (struct inlined_function){ *die, outer };
	return (uint32_t)u->n_functions++;
}

/* True if the entry may hold code. Types are skipped, unless functions may be inside. */
static bool may_hold_code(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_try_block:
	case DW_TAG_catch_block: return true;
	default: return false;
	}
}

enum { DEPTH_MAX = 256 };

/* Adds the inlined functions below @parent, which is inside of function @outer. */
static void add_children(struct inline_unit *u, Dwarf_Die *parent, uint32_t outer, uint32_t depth)
{
	Dwarf_Die die;
	bool is_there = depth < DEPTH_MAX && dw.dwarf_child(parent, &die) == 0;

	for (; is_there && !u->failed; is_there = dw.dwarf_siblingof(&die, &die) == 0) {
		int tag = dw.dwarf_tag(&die);
		uint32_t inner = outer;

		if (!may_hold_code(tag))
			continue;
		if (tag == DW_TAG_inlined_subroutine) {
			inner = add_function(u, &die, outer);
			add_ranges(u, &die, inner, depth);
		}
		add_children(u, &die, inner, depth + 1);
	}
}

/* ---- segments -------------------------------------------------------------------------------- */

/* Orders outer ranges before the ranges inside them. */
static int compare_ranges(const void *a, const void *b)
{
	const struct inlined_range *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

static void add_segment(struct inline_unit *u, Dwarf_Addr begin, uint32_t function)
{
	if (u->n_segments && u->segments[u->n_segments - 1].begin == begin) {
		u->segments[u->n_segments - 1].function = function;
		return;
	}
	u->segments = base_grow_list(u->segments, u->n_segments, &u->segments_capacity,
	                             sizeof(*u->segments), &u->failed);
	if (!u->failed)
		u->segments[u->n_segments++] = (struct inline_segment){ begin, function };
}

/* Closes ranges of @open that end at @address or before. Returns how many are left. */
static size_t close_ranges(struct inline_unit *u, const struct inlined_range *open, size_t n,
                           Dwarf_Addr address)
{
	while (n && open[n - 1].end <= address) {
		Dwarf_Addr end = open[n - 1].end;

		/* Outer ranges that end inside this one end with it. */
		for (n--; n && open[n - 1].end <= end;)
			n--;
		add_segment(u, end, n ? open[n - 1].function : NOT_INLINED);
	}
	return n;
}

static void make_segments(struct inline_unit *u)
{
	struct inlined_range *open = malloc((u->n_ranges + 1) * sizeof(*open));
	size_t n = 0;

	u->failed |= !open;
	if (u->n_ranges)
		qsort(u->ranges, u->n_ranges, sizeof(*u->ranges), compare_ranges);
	for (size_t i = 0; i < u->n_ranges && !u->failed; i++) {
		n = close_ranges(u, open, n, u->ranges[i].begin);
		open[n++] = u->ranges[i];
		add_segment(u, u->ranges[i].begin, u->ranges[i].function);
	}
	if (!u->failed)
		close_ranges(u, open, n, UINT64_MAX);
	free(open);
	free(u->ranges);
	u->ranges = NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The function's name, as a symbol table would have it. */
static const char *get_function_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *linkage =
		dw.dwarf_formstring(dw.dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));

	return linkage ? linkage : dw.dwarf_diename(die);
}

/* Adds the name of an inlined function to a text of names. Returns its new length. */
static size_t add_name(char *text, size_t at, size_t size, Dwarf_Die *die)
{
	const char *name = get_function_name(die);
	char *plain = name ? symbols_demangle(name) : NULL;
	size_t begin = at + (at > 0);

	if (name)
		at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ";" : "",
		                       plain ? plain : name);
	free(plain);
	at = at < size ? at : size - 1;
	for (size_t k = begin; k < at; k++)
		if (strchr(";\n\t", text[k]))
			text[k] = ':'; /* separators within a name would split it */
	return at;
}

/* Joins the names of @function and of the functions that it is inlined into. */
static char *join_names(const struct inline_unit *u, uint32_t function)
{
	uint32_t chain[DEPTH_MAX];
	char text[4096] = "";
	size_t at = 0, n = 0;

	for (; function != NOT_INLINED && n < DEPTH_MAX; function = u->functions[function].outer)
		chain[n++] = function;
	while (n-- > 0 && at + 1 < sizeof(text))
		at = add_name(text, at, sizeof(text), &u->functions[chain[n]].die);
	return strdup(text);
}

/* ---- units ----------------------------------------------------------------------------------- */

/* The unit's index, which is made at the first search. NULL without memory. */
static const struct inline_unit *find_unit(struct inline_index *index, Dwarf_Die *unit)
{
	bool failed = false;
	struct inline_unit *u;

	for (size_t i = index->n; i-- > 0;)
		if (index->units[i].key == unit->addr)
			return &index->units[i];
	index->units = base_grow_list(index->units, index->n, &index->capacity,
	                              sizeof(*index->units), &failed);
	if (failed)
		return NULL;
	u = &index->units[index->n++];
	*u = (struct inline_unit){ .key = unit->addr };
	add_children(u, unit, NOT_INLINED, 0);
	if (!u->failed)
		make_segments(u);
	return u;
}

char *inline_index_names(struct inline_index *index, Dwarf_Die *unit, Dwarf_Addr address)
{
	const struct inline_unit *u = find_unit(index, unit);
	size_t low = 0, high = u && !u->failed ? u->n_segments : 0;

	if (!u || u->failed)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (u->segments[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return join_names(u, low ? u->segments[low - 1].function : NOT_INLINED);
}

void inline_index_free(struct inline_index *index)
{
	for (size_t i = 0; i < index->n; i++) {
		free(index->units[i].functions);
		free(index->units[i].ranges);
		free(index->units[i].segments);
	}
	free(index->units);
}
#endif
