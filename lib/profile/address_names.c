/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"

#include <stdio.h>
#include "profile/lines.h"

#define UNNAMED  "[no name]"
#define COMPILED "[JIT]" /* functions that the program compiled while it ran */

uint32_t names_number_known_text(struct profile_reader *r, const char *text)
{
	uint64_t hash = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15u;
	struct known_text *known = &r->known_texts[hash >> (64 - KNOWN_TEXTS_LOG2)];

	if (!*text)
		return 0;
	if (known->text != text)
		*known = (struct known_text){ text, text_number(&r->target_profile->texts, text) };
	return known->number;
}

static void add_spot(struct profile_reader *r, const struct source_spot *spot,
                     struct profile_place *at)
{
	at->inlined = spot ? names_number_known_text(r, spot->inlined) : 0;
	at->source = spot ? names_number_known_text(r, spot->source) : 0;
}

static const char *object_of_mode(uint32_t mode)
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
static uint32_t build_id_text(struct profile_reader *r, struct object *object)
{
	char text[2 * 20 + 1] = "";
	size_t n = 0;
	const uint8_t *id = symbols_build_id(object, &n);

	for (size_t i = 0; i < n && i < 20; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return text_number(&r->target_profile->texts, text);
}

static bool needs_lines(const struct profile_reader *r)
{
	return !r->options.no_lines &&
	       (r->keys & KEY_LINE || r->options.detail == STACKS || r->options.tree);
}

/* Names code without a symbol: as its process named what it compiled, or by its address. */
static void find_other_name(struct profile_reader *r, const struct process *process,
                            const struct mapping *m, uint64_t address, struct profile_place *at)
{
	struct text_pool *texts = &r->target_profile->texts;
	const char *name = process ? perf_maps_find(&r->compiled, process->pid, address) : NULL;
	char number[24];

	if (name)
		at->object = names_number_known_text(r, COMPILED);
	if (!name && r->options.merge_unnamed)
		name = UNNAMED;
	if (!name && m && m->object)
		address = symbols_shown_address(m->object, address - m->start + m->offset, address);
	if (!name)
		snprintf(number, sizeof(number), "%#llx", (unsigned long long)address);
	at->function = text_number(texts, name ? name : number);
}

/* Object and function of @address, and what is inlined there. What guests run is in no mapping of
 * the process that runs them. */
static void find_names(struct profile_reader *r, uint32_t pid, uint64_t address, uint32_t mode,
                       struct profile_place *at)
{
	const char *name = NULL, *where = object_of_mode(mode);
	struct process *process = where ? NULL : tasks_find_process(r, pid);
	const struct mapping *m;
	struct symbol_range range;

	if (process && r->is_live && !process->is_loaded)
		tasks_load_process(r, process);
	m = process ? mappings_find(&process->maps, address) : NULL;
	at->object = m ? m->name : names_number_known_text(r, where ? where : "[unknown]");
	if (mode == PFM_MISC_KERNEL)
		name = symbols_kernel(r->symbols, address);
	if (m) {
		uint64_t offset = address - m->start + m->offset;

		name = m->object ? symbols_at(m->object, offset) : NULL;
		if (m->object && needs_lines(r))
			add_spot(r, symbols_spot(m->object, offset), at);
		if (m->object && r->options.build_ids)
			at->build_id = build_id_text(r, m->object);
		if (m->object && r->options.file_addresses &&
		    symbols_range(m->object, offset, &range)) {
			at->object = text_number(&r->target_profile->texts, range.path);
			at->address = range.address;
			at->start = range.start;
			at->end = range.end;
		}
	}
	at->mode = mode;
	if (name)
		at->function = names_number_known_text(r, name);
	else
		find_other_name(r, process, m, address, at);
}

static void copy_names(const struct profile_place *from, struct profile_place *to)
{
	to->object = from->object;
	to->function = from->function;
	to->inlined = from->inlined;
	to->source = from->source;
	to->build_id = from->build_id;
	to->mode = from->mode;
	if (from->end) {
		to->address = from->address;
		to->start = from->start;
		to->end = from->end;
	}
}

/* The generation of the mappings that names of addresses depend on. */
static uint32_t find_generation(const struct profile_reader *r, uint32_t mode)
{
	return mode == PFM_MISC_KERNEL ? r->kernel_generation : r->sample_generation;
}

void names_find_at(struct profile_reader *r, uint32_t pid, uint64_t address, uint32_t mode,
                   struct profile_place *at)
{
	uint32_t generation = find_generation(r, mode);
	uint64_t hash = (address ^ (uint64_t)generation << 40) * 0x9e3779b97f4a7c15u;
	struct named_address *n = &r->named[hash >> (64 - NAMED_ADDRESSES_LOG2)];

	if (n->generation != generation || n->address != address || n->mode != mode) {
		*n = (struct named_address){ .address = address,
			                     .mode = mode,
			                     .generation = generation };
		find_names(r, pid, address, mode, &n->names);
	}
	copy_names(&n->names, at);
}
