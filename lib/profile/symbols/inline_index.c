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

/* A file has some bytes for each range and each name: what takes more memory than so many times its
 * size, and a few bytes, refers to the same bytes again and again. */
enum { BYTES_OF_A_BYTE = 32, FREE_BYTES = 1 << 18, DEPTH_MAX = 256 /* of blocks and functions */ };

/* An inlined function, and the one that it is inlined into, or NOT_INLINED. */
struct inlined_function {
	Dwarf_Die die;
	uint32_t outer;
	char *names; /* with those that it is inlined into, after the first request */
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
	struct inline_index *index;
	const void *key;     /* address of the unit's first entry in memory */
	const void *reached; /* of the last entry that was visited */
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
		if (u->failed || !budget_charge(&u->index->ranges, sizeof(*u->ranges)))
			return;
		if (begin < end)
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
	u->functions[u->n_functions] = (struct inlined_function){ .die = *die, .outer = outer };
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

/* Entries are stored in the order of a walk through their tree. False if @die does not follow all
 * entries that were visited: an attribute of a damaged file leads back to them, and a walk along
 * such attributes takes time that doubles with each level. */
static bool is_next_entry(struct inline_unit *u, const Dwarf_Die *die)
{
	bool is_next = (uintptr_t)die->addr > (uintptr_t)u->reached;

	if (is_next)
		u->reached = die->addr;
	return is_next;
}

/* Adds the inlined functions below @parent, which is inside of function @outer. */
static void add_children(struct inline_unit *u, Dwarf_Die *parent, uint32_t outer, uint32_t depth)
{
	Dwarf_Die die;
	bool is_there =
		dw.dwarf_child(parent, &die) == 0 && budget_allows(&u->index->levels, depth);

	for (; is_there && !u->failed && is_next_entry(u, &die);
	     is_there = dw.dwarf_siblingof(&die, &die) == 0) {
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

/* The names of functions that are joined. */
struct joined_names {
	char *text;
	size_t n, capacity;
	bool failed; /* no memory */
};

/* Adds the first SYMBOL_SIZE - 1 bytes of @name. Separators within a name would split it. */
static void add_plain_name(struct joined_names *j, const char *name)
{
	size_t len = strnlen(name, SYMBOL_SIZE - 1), needed = j->n + len + 2;
	char *more = needed > j->capacity ? realloc(j->text, 2 * needed) : j->text;

	j->failed |= !more;
	if (!more)
		return;
	j->capacity = more == j->text ? j->capacity : 2 * needed;
	j->text = more;
	if (j->n)
		j->text[j->n++] = ';';
	for (size_t i = 0; i < len; i++)
		j->text[j->n++] = strchr(";\n\t", name[i]) ? ':' : name[i];
	j->text[j->n] = '\0';
}

static void add_name(struct joined_names *j, Dwarf_Die *die)
{
	const char *name = get_function_name(die);
	char *plain = name ? symbols_demangle(name) : NULL;

	if (name)
		add_plain_name(j, plain ? plain : name);
	free(plain);
}

/* Joins the names of @function and of the functions that it is inlined into. NULL without
 * memory. */
static char *join_names(const struct inline_unit *u, uint32_t function)
{
	uint32_t chain[DEPTH_MAX + 1];
	struct joined_names j = { .text = strdup("") };
	size_t n = 0;

	j.failed = !j.text;
	for (; function != NOT_INLINED && n <= DEPTH_MAX; function = u->functions[function].outer)
		chain[n++] = function;
	while (n-- > 0 && !j.failed)
		add_name(&j, &u->functions[chain[n]].die);
	if (!j.failed)
		return j.text;
	free(j.text);
	return NULL;
}

/* The names of @function, which are joined at the first request. */
static const char *get_names(struct inline_index *index, struct inline_unit *u, uint32_t function)
{
	struct inlined_function *f;

	if (function == NOT_INLINED)
		return "";
	f = &u->functions[function];
	if (!f->names && !index->names.is_exceeded) {
		f->names = join_names(u, function);
		if (!f->names)
			return NULL;
		budget_charge(&index->names, strlen(f->names) + 1);
	}
	return f->names ? f->names : "";
}

/* ---- units ----------------------------------------------------------------------------------- */

/* The unit's index, which is made at the first search. NULL without memory. */
static struct inline_unit *find_or_add_unit(struct inline_index *index, Dwarf_Die *unit)
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
	*u = (struct inline_unit){ .index = index, .key = unit->addr };
	add_children(u, unit, NOT_INLINED, 1);
	if (!u->failed)
		make_segments(u);
	return u;
}

struct inline_index inline_index_begin(const char *path, uint64_t size,
                                       struct profile_messages *messages)
{
	const struct budget ranges = { .messages = messages,
		                       .file = path,
		                       .subject = "inlined functions",
		                       .unit = "bytes of ranges of code",
		                       .limit = budget_limit(size, BYTES_OF_A_BYTE, FREE_BYTES) };
	struct inline_index index = { .levels = ranges, .ranges = ranges, .names = ranges };

	index.levels.unit = "levels of blocks";
	index.levels.limit = DEPTH_MAX;
	index.names.unit = "bytes of names";
	return index;
}

const char *inline_index_names(struct inline_index *index, Dwarf_Die *unit, Dwarf_Addr address)
{
	struct inline_unit *u = find_or_add_unit(index, unit);
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
	return get_names(index, u, low ? u->segments[low - 1].function : NOT_INLINED);
}

void inline_index_free(struct inline_index *index)
{
	for (size_t i = 0; i < index->n; i++) {
		for (size_t k = 0; k < index->units[i].n_functions; k++)
			free(index->units[i].functions[k].names);
		free(index->units[i].functions);
		free(index->units[i].ranges);
		free(index->units[i].segments);
	}
	free(index->units);
}
#endif
