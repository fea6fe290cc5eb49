/* SPDX-License-Identifier: MIT */
/* The functions that the names of locations belong to.
 *
 * Functions of one object that have one name are several only if their first instructions have
 * different lines of source text: each of two files may have a static function "init". Of code that
 * was inlined only the file is known; it counts for the first function that its name and file
 * allow. */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

struct function_search {
	const struct export_function *list, *key;
};

static bool may_be_same(uint32_t a, uint32_t b)
{
	return !a || !b || a == b;
}

static bool is_same_function(const void *arg, uint32_t i)
{
	const struct function_search *s = arg;
	const struct export_function *a = &s->list[i], *b = s->key;

	return a->name == b->name && a->object == b->object &&
	       may_be_same(a->source.file, b->source.file) &&
	       may_be_same(a->source.line, b->source.line);
}

static uint32_t add_function(struct export_reader *r, const struct export_function *key)
{
	const struct function_search search = { r->functions, key };
	uint64_t hash = pfmi_base_hash_number((uint64_t)key->name << 32 | key->object);
	uint32_t at = pfmi_base_find_hash(&r->function_table, hash, is_same_function, &search);

	if (at != HASH_NOT_FOUND) {
		struct export_source *known = &r->functions[at].source;

		known->file = known->file ? known->file : key->source.file;
		known->line = known->line ? known->line : key->source.line;
		return at;
	}
	r->functions = base_grow_list(r->functions, r->n_functions, &r->functions_capacity,
	                              sizeof(*r->functions), &r->failed);
	r->failed = r->failed ||
	            !pfmi_base_add_hash(&r->function_table, hash, (uint32_t)r->n_functions);
	if (r->failed)
		return 0;
	r->functions[r->n_functions] = *key;
	return (uint32_t)r->n_functions++;
}

/* Name 0 is the function of the symbol table; the lines of the location are of the last name. */
static void number_location(struct export_reader *r, const struct export_location *l)
{
	for (unsigned i = 0; i < l->n_names; i++) {
		struct export_function key = { .name = r->names[l->first_name + i],
			                       .object = r->mappings[l->mapping].file };

		if (i == 0)
			key.source = export_read_function_source(r, l);
		if (!key.source.file && i + 1 == l->n_names)
			key.source.file = l->source.file;
		r->function_numbers[l->first_name + i] = add_function(r, &key);
	}
}

uint32_t export_function_number(const struct export_reader *r, const struct export_location *l,
                                unsigned i)
{
	return r->function_numbers[l->first_name + i];
}

bool export_number_functions(struct export_reader *r)
{
	r->function_numbers = calloc(r->n_names + 1, sizeof(*r->function_numbers));
	r->failed |= !r->function_numbers;
	for (size_t i = 0; i < r->n_locations && !r->failed; i++)
		number_location(r, &r->locations[i]);
	return !r->failed;
}
