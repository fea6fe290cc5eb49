/* SPDX-License-Identifier: MIT */
/* Which file was mapped where in which process, the parent of each process, names of tasks and of
 * control groups. */
#include "profile/profile_internal.h"

#include <stdio.h>
#include <string.h>
#include "profile/process_maps.h"

enum { TASK_NAME_SIZE = 32 };

/* Followed by the name of the symbol at the given address. */
#define KERNEL_MAP "[kernel.kallsyms]"

struct number_search {
	const void *list;
	uint32_t number;
	uint64_t wide; /* in place of @number where numbers have 64 bits */
};

static bool has_pid(const void *arg, uint32_t i)
{
	const struct number_search *s = arg;

	return ((const struct process *)s->list)[i].pid == s->number;
}

static bool has_tid(const void *arg, uint32_t i)
{
	const struct number_search *s = arg;

	return ((const struct task *)s->list)[i].tid == s->number;
}

/* The index of @number among the @n elements of *@list, which have @size bytes each. @n if it is
 * new: the list has, or gets, memory for it. HASH_NOT_FOUND without memory. */
static uint32_t find_number(struct hash_table *table, void **list, uint32_t n, uint32_t *capacity,
                            size_t size, hash_match_fn has_number, uint32_t number)
{
	const struct number_search search = { *list, number, 0 };
	uint64_t hash = pfmi_base_hash_number(number);
	uint32_t at = pfmi_base_find_hash(table, hash, has_number, &search);
	size_t new_capacity = *capacity;
	bool is_added;

	if (at != HASH_NOT_FOUND)
		return at;
	is_added = reserve_profile_element(list, n, &new_capacity, size);
	*capacity = (uint32_t)new_capacity;
	return is_added && pfmi_base_add_hash(table, hash, n) ? n : HASH_NOT_FOUND;
}

struct process *tasks_find_process(struct profile_reader *r, uint32_t pid)
{
	struct process_table *t = &r->processes;
	void *list = t->list;
	uint32_t *recent = &t->recent[pid % RECENT_NUMBERS], at = *recent;

	if (at < t->n && t->list[at].pid == pid)
		return &t->list[at];
	at = find_number(&t->table, &list, t->n, &t->capacity, sizeof(*t->list), has_pid, pid);
	*recent = at;
	t->list = list;
	r->target_profile->failed |= at == HASH_NOT_FOUND;
	if (at == HASH_NOT_FOUND)
		return NULL;
	if (at == t->n)
		t->list[t->n++] = (struct process){ .pid = pid, .generation = ++r->generation };
	return &t->list[at];
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

struct task *tasks_find(struct profile_reader *r, uint32_t tid)
{
	struct task_table *t = &r->tasks;
	void *list = t->list;
	uint32_t *recent = &t->recent[tid % RECENT_NUMBERS], at = *recent;
	char name[TASK_NAME_SIZE];

	if (at < t->n && t->list[at].tid == tid)
		return &t->list[at];
	at = find_number(&t->table, &list, t->n, &t->capacity, sizeof(*t->list), has_tid, tid);
	*recent = at;
	t->list = list;
	r->target_profile->failed |= at == HASH_NOT_FOUND;
	if (at == HASH_NOT_FOUND)
		return NULL;
	if (at < t->n)
		return &t->list[at];
	if (!r->is_live || !read_task_name(tid, name, sizeof(name)))
		snprintf(name, sizeof(name), ":%d", (int)tid);
	t->list[t->n++] =
		(struct task){ .tid = tid, .name = text_number(&r->target_profile->texts, name) };
	return &t->list[at];
}

struct mapping_target {
	struct profile_reader *reader;
	struct process *process;
};

static void add_process_mapping(void *arg, const struct process_mapping *from)
{
	const struct mapping_target *to = arg;
	struct profile_reader *r = to->reader;
	const struct mapping m = { .start = from->start,
		                   .end = from->end,
		                   .offset = from->offset,
		                   .name = text_number(&r->target_profile->texts, from->name),
		                   .object = symbols_object(r->symbols, from->name, NULL, 0) };

	r->target_profile->failed |= !mappings_add(&r->map_pool, &to->process->maps, &m);
}

void tasks_load_process(struct profile_reader *r, struct process *p)
{
	struct mapping_target to = { r, p };

	p->is_loaded = true;
	read_process_maps(p->pid, add_process_mapping, &to);
}

void tasks_forget_names(struct profile_reader *r)
{
	r->kernel_generation = ++r->generation;
	for (uint32_t i = 0; i < r->processes.n; i++)
		r->processes.list[i].generation = ++r->generation;
}

void tasks_read_mmap(struct profile_reader *r, const pfm_record_t *record)
{
	bool kernel = (record->misc & PFM_MISC_MODE) == PFM_MISC_KERNEL;
	struct process *p =
		record->body.map.name && !kernel ? tasks_find_process(r, record->pid) : NULL;
	struct mapping m;

	if (record->body.map.name && kernel &&
	    strncmp(record->body.map.name, KERNEL_MAP, strlen(KERNEL_MAP)) == 0) {
		symbols_expect(r->symbols, record->body.map.name + strlen(KERNEL_MAP),
		               record->body.map.offset);
		tasks_forget_names(r);
	}
	if (!p)
		return;
	p->generation = ++r->generation;
	perf_maps_see_mapping(&r->compiled, record->pid, record->body.map.name);
	m = (struct mapping){ .start = record->body.map.start,
		              .end = record->body.map.start + record->body.map.length,
		              .offset = record->body.map.offset,
		              .name = text_number(&r->target_profile->texts, record->body.map.name),
		              .object = symbols_object(r->symbols, record->body.map.name,
		                                       record->body.map.build_id,
		                                       record->body.map.build_id_size) };
	r->target_profile->failed |= !mappings_add(&r->map_pool, &p->maps, &m);
}

void tasks_read_fork(struct profile_reader *r, const pfm_record_t *record)
{
	const struct task *parent = tasks_find(r, record->body.task.ptid);
	uint32_t name = parent ? parent->name : 0;
	struct task *task = parent ? tasks_find(r, record->tid) : NULL;
	struct process *from, *to;

	if (task)
		task->name = name;
	if (record->pid == record->body.task.ppid)
		return;
	/* The second search may move the list that the first points into. */
	tasks_find_process(r, record->body.task.ppid);
	to = tasks_find_process(r, record->pid);
	from = to ? tasks_find_process(r, record->body.task.ppid) : NULL;
	if (from && to) {
		to->generation = ++r->generation;
		mappings_copy(&r->map_pool, &from->maps, &to->maps);
		to->is_loaded = from->is_loaded;
	}
}

void tasks_read_comm(struct profile_reader *r, const pfm_record_t *record)
{
	struct task *task = tasks_find(r, record->tid);
	struct process *p = tasks_find_process(r, record->pid);

	if (task && record->body.comm.name)
		task->name = text_number(&r->target_profile->texts, record->body.comm.name);
	if (p && record->misc & PFM_MISC_EXEC) {
		p->generation = ++r->generation;
		p->maps = (struct map_set){ .root = NULL };
		p->is_loaded = true;
	}
}

static bool has_cgroup_id(const void *arg, uint32_t i)
{
	const struct cgroup *key = ((const struct number_search *)arg)->list;

	return key[i].id == ((const struct number_search *)arg)->wide;
}

uint32_t tasks_get_cgroup_name(const struct profile_reader *r, uint64_t id)
{
	const struct number_search search = { .list = r->cgroups, .wide = id };
	uint32_t at = pfmi_base_find_hash(&r->cgroup_table, pfmi_base_hash_number(id),
	                                  has_cgroup_id, &search);
	char text[32];

	if (at != HASH_NOT_FOUND)
		return r->cgroups[at].name;
	snprintf(text, sizeof(text), "[cgroup %llu]", (unsigned long long)id);
	return text_number(&r->target_profile->texts, text);
}

void tasks_read_cgroup(struct profile_reader *r, const pfm_record_t *record)
{
	uint64_t id = record->body.cgroup.id, hash = pfmi_base_hash_number(id);
	const struct number_search search = { .list = r->cgroups, .wide = id };
	const char *path = record->body.cgroup.path;
	uint32_t at = pfmi_base_find_hash(&r->cgroup_table, hash, has_cgroup_id, &search);
	void *list = r->cgroups;
	bool is_added = at != HASH_NOT_FOUND;

	if (!path || !(r->keys & KEY_CGROUP))
		return;
	if (!is_added) {
		is_added = reserve_profile_element(&list, r->n_cgroups, &r->cgroups_capacity,
		                                   sizeof(*r->cgroups));
		r->cgroups = list;
		at = (uint32_t)r->n_cgroups;
		is_added = is_added && pfmi_base_add_hash(&r->cgroup_table, hash, at);
		r->n_cgroups += is_added;
	}
	r->target_profile->failed |= !is_added;
	if (is_added)
		r->cgroups[at] =
			(struct cgroup){ id, text_number(&r->target_profile->texts, path) };
}
