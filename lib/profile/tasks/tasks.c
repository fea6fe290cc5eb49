/* SPDX-License-Identifier: MIT */
#include "profile/tasks/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "profile/tasks/process_maps.h"

enum { TASK_NAME_SIZE = 32, BUILD_ID_MAX = 64 };

/* ---- numbers --------------------------------------------------------------------------------- */

static void *get_element(const struct numbered_list *l, uint32_t i)
{
	return (uint8_t *)l->elements + i * l->size;
}

static uint32_t get_element_number(const struct numbered_list *l, uint32_t i)
{
	uint32_t number;

	memcpy(&number, get_element(l, i), sizeof(number));
	return number;
}

struct number_search {
	const struct numbered_list *list;
	uint32_t number;
};

static bool has_number(const void *arg, uint32_t i)
{
	const struct number_search *s = arg;

	return get_element_number(s->list, i) == s->number;
}

/* Adds an element that has @number and is zero otherwise. Returns its index, or HASH_NOT_FOUND
 * without memory. */
static uint32_t add_number(struct numbered_list *l, uint64_t hash, uint32_t number)
{
	bool failed = false;

	l->elements = base_grow_list(l->elements, l->n, &l->capacity, l->size, &failed);
	if (failed || !pfmi_base_add_hash(&l->table, hash, l->n))
		return HASH_NOT_FOUND;
	memset(get_element(l, l->n), 0, l->size);
	memcpy(get_element(l, l->n), &number, sizeof(number));
	return l->n++;
}

/* The element with @number, which is added if it is new. NULL without memory. */
static void *find_or_add_number(struct recorded_tasks *t, struct numbered_list *l, uint32_t number,
                                bool *is_new)
{
	const struct number_search search = { l, number };
	uint32_t *recent = &l->recent[number % RECENT_NUMBERS], at = *recent;
	uint64_t hash;

	*is_new = false;
	if (at < l->n && get_element_number(l, at) == number)
		return get_element(l, at);
	hash = pfmi_base_hash_number(number);
	at = pfmi_base_find_hash(&l->table, hash, has_number, &search);
	*is_new = at == HASH_NOT_FOUND;
	if (*is_new)
		at = add_number(l, hash, number);
	*recent = at;
	t->failed |= at == HASH_NOT_FOUND;
	return at == HASH_NOT_FOUND ? NULL : get_element(l, at);
}

/* ---- tasks and processes --------------------------------------------------------------------- */

struct process *tasks_find_or_add_process(struct recorded_tasks *t, uint32_t pid)
{
	bool is_new;
	struct process *p = find_or_add_number(t, &t->processes, pid, &is_new);

	if (p && is_new)
		p->generation = ++t->generation;
	return p;
}

/* Reads the name of a task that runs. False if it has ended. */
static bool read_task_name(uint32_t tid, char *name, size_t size)
{
	char path[32];
	FILE *f;
	bool is_read;

	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	f = fopen(path, "re");
	is_read = f && fgets(name, (int)size, f);
	if (f)
		fclose(f);
	if (is_read)
		name[strcspn(name, "\n")] = '\0';
	return is_read;
}

struct task *tasks_find(struct recorded_tasks *t, uint32_t tid)
{
	bool is_new;
	struct task *task = find_or_add_number(t, &t->tasks, tid, &is_new);
	char name[TASK_NAME_SIZE];

	if (!task || !is_new)
		return task;
	if (!t->is_live || !read_task_name(tid, name, sizeof(name)))
		snprintf(name, sizeof(name), ":%d", (int)tid);
	task->name = text_pool_add(t->texts, name);
	return task;
}

struct mapping_target {
	struct recorded_tasks *tasks;
	struct process *process;
};

static void add_process_mapping(void *arg, const struct process_mapping *from)
{
	const struct mapping_target *to = arg;
	struct recorded_tasks *t = to->tasks;
	const struct mapping m = { .start = from->start,
		                   .end = from->end,
		                   .offset = from->offset,
		                   .name = text_pool_add(t->texts, from->name),
		                   .object = symbols_get_object(t->symbols, from->name, NULL, 0) };

	perf_maps_note_mapping(&t->compiled, to->process->pid, from->name);
	t->failed |= !m.object || !mappings_add(&t->map_pool, &to->process->maps, &m);
}

void tasks_load_process(struct recorded_tasks *t, struct process *p)
{
	struct mapping_target to = { t, p };

	mappings_clear(&t->map_pool, &p->maps);
	p->is_loaded = true;
	read_process_maps(p->pid, add_process_mapping, &to);
}

void tasks_forget_names(struct recorded_tasks *t)
{
	t->kernel_generation = ++t->generation;
	for (uint32_t i = 0; i < t->processes.n; i++)
		((struct process *)t->processes.elements)[i].generation = ++t->generation;
}

static uint32_t add_build_id(struct recorded_tasks *t, const pfm_map_t *map)
{
	char text[2 * BUILD_ID_MAX + 1] = "";

	for (uint32_t i = 0; map->build_id && i < map->build_id_size && i < BUILD_ID_MAX; i++) {
		text[2 * i] = "0123456789abcdef"[map->build_id[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[map->build_id[i] & 15];
	}
	return text_pool_add(t->texts, text);
}

/* The mapping of a record, without its file. */
static struct mapping make_mapping(struct recorded_tasks *t, const pfm_map_t *map, const char *name)
{
	return (struct mapping){ .start = map->start,
		                 .end = map->start + map->length,
		                 .offset = map->offset,
		                 .name = text_pool_add(t->texts, name),
		                 .build_id = t->has_build_ids ? add_build_id(t, map) : 0 };
}

static void read_kernel_mmap(struct recorded_tasks *t, const pfm_map_t *map)
{
	bool is_image = strncmp(map->name, KERNEL_MAP, strlen(KERNEL_MAP)) == 0;
	struct mapping m = make_mapping(t, map, is_image ? KERNEL_MAP : map->name);

	t->failed |= !mappings_add(&t->map_pool, &t->kernel_maps, &m);
	t->kernel_generation = ++t->generation;
	if (!is_image)
		return;
	symbols_expect_kernel_symbol(t->symbols, map->name + strlen(KERNEL_MAP), map->offset);
	tasks_forget_names(t);
}

static void read_mmap(struct recorded_tasks *t, const pfm_record_t *record)
{
	const pfm_map_t *map = &record->body.map;
	struct process *p;
	struct mapping m;

	if (!map->name)
		return;
	if ((record->misc & PFM_MISC_MODE) == PFM_MISC_KERNEL) {
		read_kernel_mmap(t, map);
		return;
	}
	p = tasks_find_or_add_process(t, record->pid);
	if (!p)
		return;
	p->generation = ++t->generation;
	perf_maps_note_mapping(&t->compiled, record->pid, map->name);
	m = make_mapping(t, map, map->name);
	m.object = symbols_get_object(t->symbols, map->name, map->build_id, map->build_id_size);
	t->failed |= !mappings_add(&t->map_pool, &p->maps, &m);
}

/* Gives a child the name and the mappings of its parent. */
static void read_fork(struct recorded_tasks *t, const pfm_record_t *record)
{
	const struct task *parent = tasks_find(t, record->body.task.ptid);
	uint32_t name = parent ? parent->name : 0;
	struct task *task = parent ? tasks_find(t, record->tid) : NULL;
	struct process *from, *to;

	if (task)
		task->name = name;
	if (record->pid == record->body.task.ppid)
		return;
	/* The second search may move the list that the first points into. */
	tasks_find_or_add_process(t, record->body.task.ppid);
	to = tasks_find_or_add_process(t, record->pid);
	from = to ? tasks_find_or_add_process(t, record->body.task.ppid) : NULL;
	if (from && to) {
		to->generation = ++t->generation;
		mappings_copy(&t->map_pool, &from->maps, &to->maps);
		to->is_loaded = from->is_loaded;
	}
}

/* Sets the name of a task. A record of exec(2) also removes the mappings of its process. */
static void read_comm(struct recorded_tasks *t, const pfm_record_t *record)
{
	struct task *task = tasks_find(t, record->tid);
	struct process *p = tasks_find_or_add_process(t, record->pid);

	if (task && record->body.comm.name)
		task->name = text_pool_add(t->texts, record->body.comm.name);
	if (p && record->misc & PFM_MISC_EXEC) {
		p->generation = ++t->generation;
		mappings_clear(&t->map_pool, &p->maps);
		p->is_loaded = true;
	}
}

/* ---- control groups -------------------------------------------------------------------------- */

struct cgroup_search {
	const struct cgroup *list;
	uint64_t id;
};

static bool has_cgroup_id(const void *arg, uint32_t i)
{
	const struct cgroup_search *s = arg;

	return s->list[i].id == s->id;
}

bool tasks_has_cgroup_name(const struct recorded_tasks *t, uint64_t id)
{
	const struct cgroup_search search = { t->cgroups, id };

	return pfmi_base_find_hash(&t->cgroup_table, pfmi_base_hash_number(id), has_cgroup_id,
	                           &search) != HASH_NOT_FOUND;
}

uint32_t tasks_get_cgroup_name(const struct recorded_tasks *t, uint64_t id)
{
	const struct cgroup_search search = { t->cgroups, id };
	uint32_t at = pfmi_base_find_hash(&t->cgroup_table, pfmi_base_hash_number(id),
	                                  has_cgroup_id, &search);
	char text[32];

	if (at != HASH_NOT_FOUND)
		return t->cgroups[at].name;
	snprintf(text, sizeof(text), "[cgroup %llu]", (unsigned long long)id);
	return text_pool_add(t->texts, text);
}

static void read_cgroup(struct recorded_tasks *t, const pfm_record_t *record)
{
	uint64_t id = record->body.cgroup.id, hash = pfmi_base_hash_number(id);
	const struct cgroup_search search = { t->cgroups, id };
	const char *path = record->body.cgroup.path;
	uint32_t at = pfmi_base_find_hash(&t->cgroup_table, hash, has_cgroup_id, &search);

	if (!path)
		return;
	if (at == HASH_NOT_FOUND) {
		at = (uint32_t)t->n_cgroups;
		t->cgroups = base_grow_list(t->cgroups, at, &t->cgroups_capacity,
		                            sizeof(*t->cgroups), &t->failed);
		t->failed = t->failed || !pfmi_base_add_hash(&t->cgroup_table, hash, at);
		t->n_cgroups += !t->failed;
	}
	if (!t->failed)
		t->cgroups[at] = (struct cgroup){ id, text_pool_add(t->texts, path) };
}

/* ---- addresses ------------------------------------------------------------------------------- */

static bool is_code_of_process(uint32_t mode)
{
	return mode != PFM_MISC_KERNEL && mode != PFM_MISC_HYPERVISOR &&
	       mode != PFM_MISC_GUEST_KERNEL && mode != PFM_MISC_GUEST_USER;
}

void tasks_find_mapping(struct recorded_tasks *t, uint32_t pid, struct mapped_address *at)
{
	const struct map_set *maps = at->mode == PFM_MISC_KERNEL ? &t->kernel_maps : NULL;
	const struct mapping *m;

	at->process = is_code_of_process(at->mode) ? tasks_find_or_add_process(t, pid) : NULL;
	if (at->process && t->is_live && !at->process->is_loaded)
		tasks_load_process(t, at->process);
	if (at->process)
		maps = &at->process->maps;
	at->mapping = m = maps ? mappings_find(maps, at->address) : NULL;
	at->offset = m ? at->address - m->start + m->offset : 0;
	at->is_in_file = m && m->object && symbols_has_offset(m->object, at->offset);
}

/* ---- records --------------------------------------------------------------------------------- */

void tasks_read_record(struct recorded_tasks *t, const pfm_record_t *record)
{
	switch (record->type) {
	case PFM_RECORD_MAP:
	case PFM_RECORD_MAP2: read_mmap(t, record); break;
	case PFM_RECORD_FORK: read_fork(t, record); break;
	case PFM_RECORD_COMM: read_comm(t, record); break;
	case PFM_RECORD_CGROUP: read_cgroup(t, record); break;
	default: break;
	}
}

bool tasks_find_code(void *arg, uint32_t pid, uint64_t address, struct mapped_code *code)
{
	const struct process *process = tasks_find_or_add_process(arg, pid);
	const struct mapping *m = process ? mappings_find(&process->maps, address) : NULL;

	if (m)
		*code = (struct mapped_code){ m->object, address - m->start + m->offset };
	return m;
}

void tasks_begin(struct recorded_tasks *t, struct text_pool *texts, struct symbols *symbols)
{
	*t = (struct recorded_tasks){ .texts = texts,
		                      .symbols = symbols,
		                      .processes.size = sizeof(struct process),
		                      .tasks.size = sizeof(struct task) };
	t->compiled.messages = symbols ? symbols_get_messages(symbols) : NULL;
	t->compiled.trust = symbols ? symbols_get_trust(symbols) : NULL;
	t->compiled.store = symbols ? symbols_get_recording_store(symbols) : NULL;
	t->generation = t->kernel_generation = 1;
}

void tasks_free(struct recorded_tasks *t)
{
	mappings_free(&t->map_pool);
	perf_maps_free(&t->compiled);
	free(t->processes.elements);
	free(t->tasks.elements);
	free(t->cgroups);
	pfmi_base_free_hash(&t->processes.table);
	pfmi_base_free_hash(&t->tasks.table);
	pfmi_base_free_hash(&t->cgroup_table);
}
