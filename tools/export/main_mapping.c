/* SPDX-License-Identifier: MIT */
/* Which mapping of a recording is the main program. */
#include <stdio.h>
#include <string.h>
#include "export/export.h"
#include "common/pfm.h"

enum { COMM_LENGTH = 15 }; /* bytes that the kernel keeps of a task's name */

/* True if the file's name, or what the kernel keeps of it, is one of the names @tasks. */
static bool is_task_program(const struct exporter *e, const struct text_pool *tasks,
                            const struct export_mapping *m)
{
	const char *name = base_name(export_text(e->reader, m->file));
	char comm[COMM_LENGTH + 1];

	snprintf(comm, sizeof(comm), "%s", name);
	return text_pool_find(tasks, name) != HASH_NOT_FOUND ||
	       text_pool_find(tasks, comm) != HASH_NOT_FOUND;
}

/* Adds the names of the tasks that were sampled. False without memory. */
static bool collect_task_names(const struct exporter *e, struct text_pool *tasks)
{
	uint32_t last = 0;

	for (size_t i = 0; i < e->rows.n; i++) {
		if (!i || e->rows.list[i].task != last)
			text_pool_add(tasks, export_text(e->reader, e->rows.list[i].task));
		last = e->rows.list[i].task;
	}
	return !tasks->failed;
}

/* How much a mapping looks like the main program: more if it gave a task its name than if it is
 * not a library, as a program can be called by another name. */
static unsigned rank_program(const struct exporter *e, const struct text_pool *tasks, uint32_t i)
{
	const struct export_mapping *m = &e->reader->mappings[i];
	const char *path = export_text(e->reader, m->file);

	if (is_task_program(e, tasks, m))
		return 2;
	return path[0] == '/' && !strstr(base_name(path), ".so");
}

uint32_t export_choose_main_mapping(struct exporter *e, const uint32_t *ids,
                                    const uint64_t *samples)
{
	struct text_pool tasks = { .n = 0 };
	unsigned best_rank = 0;
	uint32_t best = 0;

	e->failed |= !collect_task_names(e, &tasks);
	for (uint32_t i = 1; i < e->reader->n_mappings; i++) {
		unsigned rank = ids[i] ? rank_program(e, &tasks, i) : 0;

		if (rank > best_rank || (rank && rank == best_rank && samples[i] > samples[best])) {
			best_rank = rank;
			best = i;
		}
	}
	text_pool_free(&tasks);
	return best;
}
