/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"

#include <stdio.h>
#include "profile/symbols/lines.h"

#define UNNAMED  "[no name]"
#define COMPILED "[JIT]" /* functions that the program compiled while it ran */

uint32_t names_get_text_number(struct profile_reader *r, const char *text)
{
	uint64_t hash = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15u;
	struct known_text *known = &r->known_texts[hash >> (64 - KNOWN_TEXTS_LOG2)];

	if (!*text)
		return 0;
	if (known->text != text)
		*known =
			(struct known_text){ text, text_pool_add(&r->target_profile->texts, text) };
	return known->number;
}

static void add_spot(struct profile_reader *r, const struct source_spot *spot,
                     struct code_names *at)
{
	at->inlined = spot ? names_get_text_number(r, spot->inlined) : 0;
	at->source = spot ? names_get_text_number(r, spot->source) : 0;
}

static const char *get_mode_object(uint32_t mode)
{
	static const char *const objects[PFM_MISC_MODE + 1] = {
		[PFM_MISC_KERNEL] = "[kernel]",
		[PFM_MISC_HYPERVISOR] = "[hypervisor]",
		[PFM_MISC_GUEST_KERNEL] = "[guest kernel]",
		[PFM_MISC_GUEST_USER] = "[guest]",
	};

	return objects[mode];
}

/* Number of the text of the build id of @object. */
static uint32_t number_build_id(struct profile_reader *r, struct object *object)
{
	char text[2 * 20 + 1] = "";
	size_t n = 0;
	const uint8_t *id = symbols_get_build_id(object, &n);

	for (size_t i = 0; i < n && i < 20; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return text_pool_add(&r->target_profile->texts, text);
}

static bool needs_lines(const struct profile_reader *r)
{
	return !r->options.no_lines &&
	       (r->keys & KEY_LINE || r->options.detail == STACKS || r->options.tree);
}

/* Prints the address as "%#llx", in a tenth of its time. */
static void print_address(uint64_t address, char text[2 + 16 + 1])
{
	unsigned n = address ? (67 - (unsigned)__builtin_clzll(address)) / 4 : 1;
	char *end = address ? text + 2 + n : text + 1;

	text[0] = '0';
	text[1] = 'x';
	for (*end = '\0'; n--; address >>= 4)
		*--end = "0123456789abcdef"[address & 15];
}

static bool is_in_missing_file(const struct mapped_address *code)
{
	return code->mapping && code->mapping->object && symbols_is_missing(code->mapping->object);
}

/* Names code without a symbol: by the process's own list of compiled functions, or by its
 * address. */
static void name_code_without_symbol(struct profile_reader *r, const struct mapped_address *code,
                                     struct code_names *at)
{
	struct text_pool *texts = &r->target_profile->texts;
	const char *name = code->process && !code->is_in_file
	                           ? perf_maps_find(&r->visit.tasks.compiled, code->process->pid,
	                                            code->address)
	                           : NULL;
	uint64_t address = code->address;
	char number[2 + 16 + 1] = "";

	if (name)
		at->object = names_get_text_number(r, COMPILED);
	if (!name &&
	    (r->options.merge_unnamed || (r->options.merge_missing && is_in_missing_file(code))))
		name = UNNAMED;
	if (!name && code->mapping && code->mapping->object)
		address = symbols_get_shown_address(code->mapping->object, code->offset, address);
	if (!name)
		print_address(address, number);
	at->function = text_pool_add(texts, name ? name : number);
}

/* Adds the addresses and the file of the function; with file_addresses the file is its object. */
static void add_range(struct profile_reader *r, const struct symbol_range *range,
                      struct code_names *at)
{
	uint32_t path = text_pool_add(&r->target_profile->texts, range->path);

	at->start = range->start;
	at->end = range->end;
	if (r->options.code_ranges) {
		at->code = path;
		return;
	}
	at->object = path;
	at->address = range->address;
}

/* Finds object and function of @code, and the functions inlined there. */
static void look_up_names(struct profile_reader *r, const struct mapped_address *code,
                          struct code_names *at)
{
	const struct mapping *m = code->mapping;
	const char *where = get_mode_object(code->mode), *name = NULL;
	struct object *object = m ? m->object : NULL;
	struct symbol_range range;

	at->shown = object ? symbols_get_shown_address(object, code->offset, code->address)
	                   : code->address;
	at->object = m && !where ? m->name : names_get_text_number(r, where ? where : "[unknown]");
	if (code->mode == PFM_MISC_KERNEL)
		name = symbols_find_kernel_name(r->visit.tasks.symbols, code->address);
	if (object) {
		name = symbols_find_name(object, code->offset);
		if (needs_lines(r))
			add_spot(r, symbols_find_source_spot(object, code->offset), at);
		if (r->options.build_ids)
			at->build_id = number_build_id(r, object);
		if ((r->options.file_addresses || r->options.code_ranges) &&
		    symbols_find_range(object, code->offset, &range))
			add_range(r, &range, at);
	}
	if (name)
		at->function = names_get_text_number(r, name);
	else
		name_code_without_symbol(r, code, at);
}

/* The generation of the mappings that names of addresses depend on. */
static uint32_t get_mapping_generation(const struct profile_reader *r, uint32_t mode)
{
	return mode == PFM_MISC_KERNEL ? r->visit.tasks.kernel_generation : r->sample_generation;
}

/* Finds the names of @code, or returns those found before. */
static const struct code_names *get_cached_names(struct profile_reader *r,
                                                 const struct mapped_address *code)
{
	const struct object *file = code->is_in_file ? code->mapping->object : NULL;
	uint64_t address = file ? code->offset : code->address;
	uint32_t generation = file ? 0 : get_mapping_generation(r, code->mode);
	uint64_t hash = (address ^ (uint64_t)generation << 40 ^ (uintptr_t)file << 24) *
	                0x9e3779b97f4a7c15u;
	struct named_address *n = &r->named[hash >> (64 - NAMED_ADDRESSES_LOG2)];

	if (n->file != file || n->generation != generation || n->address != address ||
	    n->mode != code->mode) {
		*n = (struct named_address){ .file = file,
			                     .address = address,
			                     .mode = code->mode,
			                     .generation = generation };
		look_up_names(r, code, &n->names);
	}
	return &n->names;
}

void names_find_at_address(struct profile_reader *r, uint32_t pid, uint64_t address, uint32_t mode,
                           struct profile_place *at)
{
	struct mapped_address code = { .address = address, .mode = mode };
	const struct code_names *names;

	tasks_find_mapping(&r->visit.tasks, pid, &code);
	names = get_cached_names(r, &code);
	at->object = names->object;
	at->function = names->function;
	at->inlined = names->inlined;
	at->source = names->source;
	at->build_id = names->build_id;
	at->mode = mode;
	if (r->keys & KEY_ADDRESS)
		at->address = names->shown;
	if (names->end && r->options.file_addresses)
		at->address = names->address;
	at->start = names->start;
	at->end = names->end;
	at->code = names->code;
}
