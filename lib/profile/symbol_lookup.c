/* SPDX-License-Identifier: MIT */
/* The public look-up of addresses in files, in processes that run and in the kernel. */
#include <perfmon/profile.h>

#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/hash.h"
#include "base/sizes.h"
#include "profile/kept_messages.h"
#include "profile/lines.h"
#include "profile/mappings.h"
#include "profile/perf_map.h"
#include "profile/process_maps.h"
#include "profile/profile.h"
#include "profile/symbols.h"

struct known_process {
	uint32_t pid;
	struct map_set maps;
};

struct pfm_symbols {
	struct symbols *files;
	char *debug_folder;
	struct text_pool texts;
	struct map_pool map_pool;
	struct known_process *processes;
	struct hash_table process_table;
	size_t n_processes, processes_capacity;
	struct perf_maps compiled;
	struct kept_messages messages;
	bool failed; /* no memory */
};

int pfm_open_symbols(pfm_symbols_t **out, const char *debug_folder)
{
	pfm_symbols_t *s;

	if (!out)
		return PFMLIB_ERR_INVAL;
	*out = NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return PFMLIB_ERR_NOMEM;
	s->debug_folder = debug_folder ? strdup(debug_folder) : NULL;
	if (!debug_folder || s->debug_folder)
		s->files = symbols_open(s->debug_folder);
	if (s->files)
		symbols_recorded_running_kernel(s->files);
	text_number(&s->texts, "");
	if (!s->files || s->texts.failed) {
		pfm_close_symbols(s);
		return PFMLIB_ERR_NOMEM;
	}
	*out = s;
	return PFMLIB_SUCCESS;
}

void pfm_close_symbols(pfm_symbols_t *s)
{
	if (!s)
		return;
	if (s->files)
		symbols_close(s->files);
	mappings_free(&s->map_pool);
	perf_maps_free(&s->compiled);
	pfmi_base_free_hash(&s->process_table);
	free(s->processes);
	text_pool_free(&s->texts);
	free_kept_messages(&s->messages);
	free(s->debug_folder);
	free(s);
}

/* ---- processes ------------------------------------------------------------------------------- */

struct process_search {
	const struct known_process *list;
	uint32_t pid;
};

static bool has_pid(const void *arg, uint32_t i)
{
	const struct process_search *s = arg;

	return s->list[i].pid == s->pid;
}

/* The process, which is added without mappings if it is new: *@is_new. NULL without memory. */
static struct known_process *find_process(pfm_symbols_t *s, uint32_t pid, bool *is_new)
{
	const struct process_search search = { s->processes, pid };
	uint64_t hash = pfmi_base_hash_number(pid);
	uint32_t at = pfmi_base_find_hash(&s->process_table, hash, has_pid, &search);
	bool failed = false;

	*is_new = at == HASH_NOT_FOUND;
	if (!*is_new)
		return &s->processes[at];
	s->processes = base_grow_list(s->processes, s->n_processes, &s->processes_capacity,
	                              sizeof(*s->processes), &failed);
	if (failed || !pfmi_base_add_hash(&s->process_table, hash, (uint32_t)s->n_processes))
		return NULL;
	s->processes[s->n_processes] = (struct known_process){ .pid = pid };
	return &s->processes[s->n_processes++];
}

struct mapping_target {
	pfm_symbols_t *symbols;
	struct known_process *process;
};

static void add_mapping(void *arg, const struct process_mapping *from)
{
	const struct mapping_target *to = arg;
	pfm_symbols_t *s = to->symbols;
	const struct mapping m = { .start = from->start,
		                   .end = from->end,
		                   .offset = from->offset,
		                   .name = text_number(&s->texts, from->name),
		                   .object = symbols_object(s->files, from->name, NULL, 0) };

	perf_maps_see_mapping(&s->compiled, to->process->pid, from->name);
	s->failed |=
		s->texts.failed || !m.object || !mappings_add(&s->map_pool, &to->process->maps, &m);
}

static const struct mapping *read_mapping(pfm_symbols_t *s, struct known_process *p,
                                          uint64_t address)
{
	struct mapping_target to = { s, p };

	p->maps = (struct map_set){ .root = NULL };
	read_process_maps(p->pid, add_mapping, &to);
	return mappings_find(&p->maps, address);
}

/* The mapping of @address; mappings are read once more if it is not known. NULL if nothing is
 * mapped there, and without memory. */
static const struct mapping *find_mapping(pfm_symbols_t *s, uint32_t pid, uint64_t address)
{
	bool is_new;
	struct known_process *p = find_process(s, pid, &is_new);
	const struct mapping *m = p ? mappings_find(&p->maps, address) : NULL;

	s->failed |= !p;
	return m || !p ? m : read_mapping(s, p, address);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The text, in memory that lives as long as @s. */
static const char *keep_text(pfm_symbols_t *s, const char *text)
{
	const char *kept = s->texts.text[text_number(&s->texts, text)];

	s->failed |= s->texts.failed;
	return kept;
}

static const char *print_build_id(pfm_symbols_t *s, struct object *object)
{
	char text[2 * 20 + 1] = "";
	size_t n = 0;
	const uint8_t *id = symbols_build_id(object, &n);

	for (size_t i = 0; i < n && i < 20; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return keep_text(s, text);
}

static void find_in_file(pfm_symbols_t *s, struct object *object, uint64_t offset,
                         pfm_symbol_t *out)
{
	const char *name = symbols_at(object, offset);
	const struct source_spot *spot = symbols_spot(object, offset);
	struct symbol_range range;

	out->build_id = print_build_id(s, object);
	if (name)
		out->function = keep_text(s, name);
	if (symbols_range(object, offset, &range)) {
		out->address = range.address;
		out->start = range.start;
		out->end = range.end;
	}
	if (spot) {
		out->inlined = keep_text(s, spot->inlined);
		out->source = keep_text(s, spot->source);
	}
}

static void begin_search(pfm_symbols_t *s, pfm_symbol_t *found)
{
	s->failed = false;
	*found = (pfm_symbol_t){ .size = sizeof(*found),
		                 .function = "",
		                 .object = "",
		                 .inlined = "",
		                 .source = "",
		                 .build_id = "" };
	keep_messages(&s->messages);
}

static int end_search(pfm_symbols_t *s, const pfm_symbol_t *found, pfm_symbol_t *out)
{
	stop_keeping_messages(&s->messages);
	if (s->failed)
		return PFMLIB_ERR_NOMEM;
	base_copy_struct_out(out, found, sizeof(*found));
	return *found->function ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTFOUND;
}

int pfm_find_symbol(pfm_symbols_t *s, int pid, uint64_t address, pfm_symbol_t *out)
{
	const struct mapping *m;
	const char *name = NULL;
	pfm_symbol_t found;

	if (!s || pid <= 0 || !base_has_struct_size(out))
		return PFMLIB_ERR_INVAL;
	begin_search(s, &found);
	m = find_mapping(s, (uint32_t)pid, address);
	if (m) {
		found.object = s->texts.text[m->name];
		find_in_file(s, m->object, address - m->start + m->offset, &found);
	}
	if (!*found.function)
		name = perf_maps_find(&s->compiled, (uint32_t)pid, address);
	if (name) {
		found.function = keep_text(s, name);
		found.object = "[JIT]";
	}
	return end_search(s, &found, out);
}

int pfm_find_file_symbol(pfm_symbols_t *s, const char *path, uint64_t offset, pfm_symbol_t *out)
{
	struct object *object;
	pfm_symbol_t found;

	if (!s || !path || !base_has_struct_size(out))
		return PFMLIB_ERR_INVAL;
	begin_search(s, &found);
	object = symbols_object(s->files, path, NULL, 0);
	s->failed |= !object;
	found.object = keep_text(s, path);
	if (object)
		find_in_file(s, object, offset, &found);
	return end_search(s, &found, out);
}

int pfm_find_kernel_symbol(pfm_symbols_t *s, uint64_t address, pfm_symbol_t *out)
{
	const char *name;
	pfm_symbol_t found;

	if (!s || !base_has_struct_size(out))
		return PFMLIB_ERR_INVAL;
	begin_search(s, &found);
	name = symbols_kernel(s->files, address);
	if (name) {
		found.function = name;
		found.object = "[kernel]";
	}
	return end_search(s, &found, out);
}
