/* SPDX-License-Identifier: MIT */
/* Mappings and locations of an export: each is stored once, so memory does not grow with the number
 * of samples. */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>
#include "profile/symbols/jitdump.h"
#include "profile/symbols/lines.h"
#include "profile/symbols/symbols.h"

/* ---- mappings -------------------------------------------------------------------------------- */

struct mapping_search {
	const struct export_mapping *list, *key;
};

/* One file is mapped at different addresses in several processes: without those of processes its
 * code has one mapping, that of the process that was seen first. */
static bool is_same_mapping(const void *arg, uint32_t i)
{
	const struct mapping_search *s = arg;
	const struct export_mapping *a = &s->list[i], *b = s->key;

	return (a->start == b->start || (a->is_shared && b->is_shared)) &&
	       a->end - a->start == b->end - b->start && a->offset == b->offset &&
	       a->file == b->file && a->build_id == b->build_id && a->pid == b->pid;
}

static uint32_t add_mapping(struct export_reader *r, const struct export_mapping *m)
{
	const struct mapping_search search = { r->mappings, m };
	const uint64_t key[] = { m->is_shared ? 0 : m->start, m->end - m->start, m->offset,
		                 (uint64_t)m->pid << 32 | m->file, m->build_id };
	uint64_t hash = pfmi_base_hash_bytes(key, sizeof(key));
	uint32_t at = pfmi_base_find_hash(&r->mapping_table, hash, is_same_mapping, &search);

	if (at != HASH_NOT_FOUND)
		return at;
	r->mappings = base_grow_list(r->mappings, r->n_mappings, &r->mappings_capacity,
	                             sizeof(*r->mappings), &r->failed);
	r->failed =
		r->failed || !pfmi_base_add_hash(&r->mapping_table, hash, (uint32_t)r->n_mappings);
	if (r->failed)
		return 0;
	r->mappings[r->n_mappings] = *m;
	return (uint32_t)r->n_mappings++;
}

static uint32_t add_named_mapping(struct export_reader *r, const char *name)
{
	const struct export_mapping m = { .file = text_pool_add(&r->texts, name) };

	return add_mapping(r, &m);
}

/* True for memory of a process without a file: //anon, [heap], /memfd:name, and for dumps. */
static bool may_hold_compiled_code(const char *name)
{
	return *name != '/' || name[1] == '/' || strncmp(name, "/memfd:", 7) == 0 ||
	       strncmp(name, "/dev/zero", 9) == 0 || is_jitdump_path(name);
}

/* The build id of a file that had none in the recording, because the kernel could not read it then.
 */
static uint32_t read_build_id(struct export_reader *r, struct object *object)
{
	enum { MOST = 64 };
	char text[2 * MOST + 1] = "";
	size_t n = 0;
	const uint8_t *id = symbols_get_build_id(object, &n);

	for (size_t i = 0; i < n && i < MOST; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return text_pool_add(&r->texts, text);
}

/* The mapping of the code at @at, which is added if it is new. */
static uint32_t number_mapping(struct export_reader *r, uint32_t pid,
                               const struct mapped_address *at)
{
	const struct mapping *m = at->mapping;
	struct export_mapping e;

	switch (at->mode) {
	case PFM_MISC_HYPERVISOR: return add_named_mapping(r, "[hypervisor]");
	case PFM_MISC_GUEST_KERNEL: return add_named_mapping(r, "[guest.kernel]");
	case PFM_MISC_GUEST_USER: return add_named_mapping(r, "[guest]");
	case PFM_MISC_KERNEL: break;
	default:
		if (!m)
			return 0;
	}
	if (!m)
		return add_named_mapping(r, KERNEL_MAP);
	e = (struct export_mapping){ .start = m->start,
		                     .end = m->end,
		                     .offset = m->offset,
		                     .file = m->name,
		                     .build_id = m->build_id,
		                     .object = m->object,
		                     .is_shared = at->is_in_file && r->merges_processes };
	if (r->leaves_names && m->object && !*export_text(r, m->build_id))
		e.build_id = read_build_id(r, m->object);
	if (at->process && may_hold_compiled_code(export_text(r, m->name)))
		e.pid = pid;
	return add_mapping(r, &e);
}

/* ---- locations ------------------------------------------------------------------------------- */

static void add_location_name(struct export_reader *r, struct export_location *l, const char *name)
{
	r->names = base_grow_list(r->names, r->n_names, &r->names_capacity, sizeof(*r->names),
	                          &r->failed);
	if (r->failed)
		return;
	r->names[r->n_names++] = text_pool_add(&r->texts, name);
	l->n_names++;
}

static void add_inlined_names(struct export_reader *r, struct export_location *l,
                              const char *inlined)
{
	char name[SYMBOL_SIZE];

	for (const char *s = inlined; *s; s += *s == ';') {
		size_t len = strcspn(s, ";");

		snprintf(name, sizeof(name), "%.*s", (int)len, s);
		add_location_name(r, l, name);
		s += len;
	}
}

static struct export_source add_source(struct export_reader *r, const char *source)
{
	const char *colon = strrchr(source, ':');
	char file[SYMBOL_SIZE];

	if (!colon)
		return (struct export_source){ 0, 0 };
	snprintf(file, sizeof(file), "%.*s", (int)(colon - source), source);
	return (struct export_source){ text_pool_add(&r->texts, file),
		                       (uint32_t)strtoul(colon + 1, NULL, 10) };
}

/* The address of a caller may be the first byte after its function. */
uint64_t export_file_offset(const struct export_reader *r, const struct export_location *l)
{
	const struct export_mapping *m = &r->mappings[l->mapping];

	return l->address - l->is_caller - m->start + m->offset;
}

struct export_source export_read_function_source(struct export_reader *r,
                                                 const struct export_location *l)
{
	const struct export_mapping *m = &r->mappings[l->mapping];
	uint64_t offset = export_file_offset(r, l);
	const struct source_spot *spot = NULL;
	struct symbol_range range;

	if (m->object && l->mode != PFM_MISC_KERNEL &&
	    symbols_find_range(m->object, offset, &range))
		spot = symbols_find_source_spot(m->object, offset - (range.address - range.start));
	return add_source(r, spot && !*spot->inlined ? spot->source : "");
}

bool export_leaves_names(const struct export_reader *r, const struct export_mapping *m)
{
	return r->leaves_names && m->object && *export_text(r, m->build_id);
}

/* Sets the names of @l. */
static void name_location(struct export_reader *r, struct export_location *l)
{
	const struct export_mapping *m = &r->mappings[l->mapping];
	struct object *object = export_leaves_names(r, m) ? NULL : m->object;
	uint64_t address = l->address - l->is_caller;
	uint64_t offset = export_file_offset(r, l);
	const struct source_spot *spot = object ? symbols_find_source_spot(object, offset) : NULL;
	const char *name = object ? symbols_find_name(object, offset) : NULL;
	char number[24];

	if (l->mode == PFM_MISC_KERNEL)
		name = symbols_find_kernel_name(r->visit.tasks.symbols, address);
	if (!name && m->pid)
		name = perf_maps_find(&r->visit.tasks.compiled, m->pid, address);
	if (!name && object)
		address = symbols_get_shown_address(object, offset, address);
	snprintf(number, sizeof(number), "%#llx", (unsigned long long)address);
	l->has_name = name;
	l->first_name = (uint32_t)r->n_names;
	add_location_name(r, l, name ? name : number);
	if (!spot)
		return;
	add_inlined_names(r, l, spot->inlined);
	l->source = add_source(r, spot->source);
}

struct location_search {
	const struct export_location *list, *key;
};

static bool is_same_location(const void *arg, uint32_t i)
{
	const struct location_search *s = arg;
	const struct export_location *a = &s->list[i], *b = s->key;

	return a->address == b->address && a->mapping == b->mapping && a->mode == b->mode &&
	       a->is_caller == b->is_caller;
}

/* Names are looked up once for each location. */
static uint32_t add_location(struct export_reader *r, struct export_location l)
{
	const struct location_search search = { r->locations, &l };
	const uint64_t key[] = { l.address, (uint64_t)l.mapping << 32 | l.mode << 1 | l.is_caller };
	uint64_t hash = pfmi_base_hash_bytes(key, sizeof(key));
	uint32_t at = pfmi_base_find_hash(&r->location_table, hash, is_same_location, &search);

	if (at != HASH_NOT_FOUND)
		return at;
	name_location(r, &l);
	if (r->failed)
		return 0;
	r->locations = base_grow_list(r->locations, r->n_locations, &r->locations_capacity,
	                              sizeof(*r->locations), &r->failed);
	r->failed = r->failed ||
	            !pfmi_base_add_hash(&r->location_table, hash, (uint32_t)r->n_locations);
	if (r->failed)
		return 0;
	r->locations[r->n_locations] = l;
	return (uint32_t)r->n_locations++;
}

uint32_t export_find_object(struct export_reader *r, uint32_t pid, uint64_t address)
{
	struct mapped_address at = { .address = address, .mode = PFM_MISC_USER };

	tasks_find_mapping(&r->visit.tasks, pid, &at);
	return at.mapping ? at.mapping->name : r->mappings[0].file;
}

/* An address whose location is known, as long as the mappings of its process do not change. With
 * 400,000 samples of 12 frames an export takes a third of the time. */
struct known_location {
	uint64_t address;
	uint32_t generation; /* 0: free */
	uint32_t location;
	uint8_t mode;
	bool is_caller;
};

enum { KNOWN_LOCATIONS_LOG2 = 15 };

bool export_begin_locations(struct export_reader *r)
{
	const struct export_location cut = { .n_names = 1, .mode = PFM_MISC_USER };
	uint32_t text;

	r->known = calloc((size_t)1 << KNOWN_LOCATIONS_LOG2, sizeof(*r->known));
	text_pool_add(&r->texts, "");
	add_named_mapping(r, "[unknown]");
	text = text_pool_add(&r->texts, "[cut off]");
	r->names = base_grow_list(r->names, 0, &r->names_capacity, sizeof(*r->names), &r->failed);
	r->locations = base_grow_list(r->locations, 0, &r->locations_capacity,
	                              sizeof(*r->locations), &r->failed);
	r->failed |= r->texts.failed || !r->known;
	if (r->failed)
		return false;
	r->names[r->n_names++] = text;
	r->locations[r->n_locations++] = cut;
	return true;
}

static struct known_location *get_known_location(const struct export_reader *r, uint32_t generation,
                                                 uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)generation << 40) * 0x9e3779b97f4a7c15u;

	return &r->known[hash >> (64 - KNOWN_LOCATIONS_LOG2)];
}

/* The location of an address that is not known. */
static uint32_t find_location(struct export_reader *r, uint32_t pid, struct export_location l)
{
	struct mapped_address at = { .address = l.address - l.is_caller, .mode = l.mode };

	tasks_find_mapping(&r->visit.tasks, pid, &at);
	l.mapping = number_mapping(r, pid, &at);
	if (at.mapping)
		l.address += r->mappings[l.mapping].start - at.mapping->start;
	return add_location(r, l);
}

uint32_t export_number_location(struct export_reader *r, const struct process *process,
                                uint64_t address, uint32_t mode, bool is_caller)
{
	bool is_kernel = mode == PFM_MISC_KERNEL;
	uint32_t generation = is_kernel ? r->visit.tasks.kernel_generation : process->generation;
	struct known_location *known = get_known_location(r, generation, address);
	const struct export_location l = { .address = address,
		                           .mode = mode,
		                           .is_caller = is_caller };

	if (known->generation != generation || known->address != address || known->mode != mode ||
	    known->is_caller != is_caller)
		*known = (struct known_location){ .address = address,
			                          .generation = generation,
			                          .location = find_location(r, process->pid, l),
			                          .mode = (uint8_t)mode,
			                          .is_caller = is_caller };
	return known->location;
}
