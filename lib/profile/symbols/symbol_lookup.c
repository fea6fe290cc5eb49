/* SPDX-License-Identifier: MIT */
/* The public look-up of addresses in files, in processes that run and in the kernel. */
#include <perfmon/profile.h>

#include <stdlib.h>
#include <string.h>
#include "base/sizes.h"
#include "profile/kept_messages.h"
#include "profile/symbols/lines.h"
#include "profile/profile.h"
#include "profile/symbols/symbols.h"
#include "profile/tasks/tasks.h"

struct pfm_symbols {
	char *debug_folder;
	struct text_pool texts;
	struct recorded_tasks tasks;
	struct kept_messages messages;
	bool failed; /* no memory */
};

int pfm_open_symbols(pfm_symbols_t **out, const char *debug_folder)
{
	struct symbols *files = NULL;
	pfm_symbols_t *s;

	if (!out)
		return PFMLIB_ERR_INVAL;
	*out = NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return PFMLIB_ERR_NOMEM;
	s->debug_folder = debug_folder ? strdup(debug_folder) : NULL;
	if (!debug_folder || s->debug_folder)
		files = symbols_open(s->debug_folder, keep_messages(&s->messages));
	if (files)
		symbols_assume_running_kernel(files);
	tasks_begin(&s->tasks, &s->texts, files);
	text_pool_add(&s->texts, "");
	if (!files || s->texts.failed) {
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
	symbols_close(s->tasks.symbols);
	tasks_free(&s->tasks);
	text_pool_free(&s->texts);
	free_kept_messages(&s->messages);
	free(s->debug_folder);
	free(s);
}

/* The mapping of @address; mappings are read once more if it is not known. NULL if nothing is
 * mapped there, and without memory. */
static const struct mapping *find_mapping(pfm_symbols_t *s, uint32_t pid, uint64_t address)
{
	struct process *p = tasks_find_or_add_process(&s->tasks, pid);
	const struct mapping *m = p ? mappings_find(&p->maps, address) : NULL;

	if (m || !p)
		return m;
	tasks_load_process(&s->tasks, p);
	return mappings_find(&p->maps, address);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The text, in memory that lives as long as @s. */
static const char *keep_text(pfm_symbols_t *s, const char *text)
{
	const char *kept = s->texts.text[text_pool_add(&s->texts, text)];

	s->failed |= s->texts.failed;
	return kept;
}

static const char *print_build_id(pfm_symbols_t *s, struct object *object)
{
	char text[2 * 20 + 1] = "";
	size_t n = 0;
	const uint8_t *id = symbols_get_build_id(object, &n);

	for (size_t i = 0; i < n && i < 20; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return keep_text(s, text);
}

static void find_in_file(pfm_symbols_t *s, struct object *object, uint64_t offset,
                         pfm_symbol_t *out)
{
	const char *name = symbols_find_name(object, offset);
	const struct source_spot *spot = symbols_find_source_spot(object, offset);
	struct symbol_range range;

	out->build_id = print_build_id(s, object);
	if (name)
		out->function = keep_text(s, name);
	if (symbols_find_range(object, offset, &range)) {
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
	s->failed = s->tasks.failed = false;
	*found = (pfm_symbol_t){ .size = sizeof(*found),
		                 .function = "",
		                 .object = "",
		                 .inlined = "",
		                 .source = "",
		                 .build_id = "" };
}

static int end_search(pfm_symbols_t *s, const pfm_symbol_t *found, pfm_symbol_t *out)
{
	if (s->failed || s->tasks.failed || s->texts.failed)
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
		name = perf_maps_find(&s->tasks.compiled, (uint32_t)pid, address);
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
	object = symbols_get_object(s->tasks.symbols, path, NULL, 0);
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
	name = symbols_find_kernel_name(s->tasks.symbols, address);
	if (name) {
		found.function = name;
		found.object = "[kernel]";
	}
	return end_search(s, &found, out);
}
