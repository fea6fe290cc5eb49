/* SPDX-License-Identifier: MIT */
/* Reading of the files and folders of the kernel's PMUs, and memory for their contents. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "machine/machine_internal.h"

enum { MAX_FOLDER_FILES = 64, MAX_RECENT_FOLDERS = 4 };

struct arena_block {
	struct arena_block *next;
	size_t used, capacity;
	_Alignas(16) char bytes[];
};

void *pfmi_machine_arena_alloc(struct memory_arena *a, size_t n)
{
	struct arena_block *b = a->blocks;

	n = (n + 15) & ~(size_t)15;
	if (!b || b->capacity - b->used < n) {
		size_t size = n > 8000 ? n : 8000;

		b = a->failed ? NULL : malloc(sizeof(*b) + size);
		if (!b) {
			a->failed = true;
			return NULL;
		}
		*b = (struct arena_block){ .next = a->blocks, .capacity = size };
		a->blocks = b;
	}
	b->used += n;
	return memset(b->bytes + b->used - n, 0, n);
}

const char *pfmi_machine_arena_copy_text(struct memory_arena *a, const char *s, size_t len)
{
	char *to = pfmi_machine_arena_alloc(a, len + 1);

	if (!to)
		return "";
	memcpy(to, s, len);
	return to;
}

void pfmi_machine_arena_free(struct memory_arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
}

int pfmi_machine_collect_name(void *arg, const char *name)
{
	struct string_list *s = arg;
	size_t len = strlen(name);

	if (len == 0 || len > s->max_length)
		return 0;
	if (s->n == s->capacity) {
		const char **at =
			pfmi_machine_arena_alloc(s->arena, (s->capacity * 2 + 16) * sizeof(*at));

		if (!at)
			return -ENOMEM;
		if (s->n)
			memcpy(at, s->items, s->n * sizeof(*at));
		s->items = at;
		s->capacity = s->capacity * 2 + 16;
	}
	s->items[s->n] = pfmi_machine_arena_copy_text(s->arena, name, len);
	return ++s->n == s->max_items;
}

static struct string_list list_names(struct sysfs_reader *r, const char *pmu, const char *folder,
                                     size_t max, size_t longest)
{
	struct string_list s = { .max_items = max,
		                 .max_length = longest,
		                 .arena = r->scratch_memory };
	char path[sizeof(EVENT_SOURCE_DIR) + 64 + 16];

	snprintf(path, sizeof(path), EVENT_SOURCE_DIR "%s%.63s%s%.14s", *pmu ? "/" : "", pmu,
	         *folder ? "/" : "", folder);
	r->sys->list_folder(r->sys, path, pfmi_machine_collect_name, &s);
	return s;
}

/* The contents of a PMU's folder. */
struct sysfs_folder {
	struct sysfs_folder *next;
	const char *pmu;
	struct string_list names;
};

/* The names in the folder of @pmu. PMUs are read one after another, so only the last few folders
 * are searched before it is read. */
static const struct sysfs_folder *get_pmu_folder(struct sysfs_reader *r, const char *pmu)
{
	struct sysfs_folder *f = r->known_folders;

	if (r->current_folder && machine_is_same_text(r->current_folder->pmu, pmu))
		return r->current_folder;
	for (unsigned i = 0; f && i < MAX_RECENT_FOLDERS; i++, f = f->next)
		if (machine_is_same_text(f->pmu, pmu))
			return r->current_folder = f;
	f = pfmi_machine_arena_alloc(r->scratch_memory, sizeof(*f));
	if (!f)
		return NULL;
	*f = (struct sysfs_folder){
		r->known_folders, pfmi_machine_arena_copy_text(r->scratch_memory, pmu, strlen(pmu)),
		list_names(r, pmu, "", MAX_FOLDER_FILES, 63)
	};
	return r->current_folder = r->known_folders = f;
}

bool pfmi_machine_can_have_sysfs_file(struct sysfs_reader *r, const char *pmu, const char *name)
{
	const struct sysfs_folder *f = *pmu ? get_pmu_folder(r, pmu) : NULL;

	if (!f || f->names.n == 0 || f->names.n == MAX_FOLDER_FILES)
		return true;
	for (size_t i = 0; i < f->names.n; i++)
		if (strcmp(f->names.items[i], name) == 0)
			return true;
	return false;
}

bool pfmi_machine_read_sysfs_file(struct sysfs_reader *r, const char *pmu, const char *folder,
                                  const char *file)
{
	char path[sizeof(EVENT_SOURCE_DIR) + 64 + 16 + 256];
	int n = snprintf(path, sizeof(path), EVENT_SOURCE_DIR "/%s/%s%s", pmu, folder, file);

	return n > 0 && (size_t)n < sizeof(path) &&
	       (*folder || pfmi_machine_can_have_sysfs_file(r, pmu, file)) &&
	       pfmi_machine_read_small_file(r->sys, path, r->text, sizeof(r->text)) >= 0;
}

struct string_list pfmi_machine_list_sysfs_names(struct sysfs_reader *r, const char *pmu,
                                                 const char *folder, size_t max, size_t longest)
{
	return !*folder || pfmi_machine_can_have_sysfs_file(r, pmu, folder)
	               ? list_names(r, pmu, folder, max, longest)
	               : (struct string_list){ 0 };
}
