/* SPDX-License-Identifier: MIT */
/* The tasks that records describe: their names, the mappings of their processes, and control
 * groups. The records come from a recording, or from a session whose tasks run. */
#ifndef PERFMON_PROFILE_TASKS_H
#define PERFMON_PROFILE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <perfmon/sampling.h>
#include "base/hash.h"
#include "profile/unwind/chains.h"
#include "profile/tasks/mappings.h"
#include "profile/symbols/perf_map.h"
#include "profile/symbols/symbols.h"
#include "profile/text_pool.h"

/* The name of the mapping of the kernel's image. In records the name of the symbol at its offset
 * follows. */
#define KERNEL_MAP "[kernel.kallsyms]"

struct process {
	uint32_t pid;   /* comes first: see struct numbered_list */
	bool is_loaded; /* while it is sampled: its mappings were read, or began with its program */
	uint32_t generation; /* of its mappings: no other process has this number */
	struct map_set maps;
};

struct task {
	uint32_t tid, name; /* tid comes first */
};

/* The path of a control group. */
struct cgroup {
	uint64_t id;
	uint32_t name;
};

/* The index of a process or task that was found before, by the low bits of its number. With 400,000
 * samples a report takes a seventh of the instructions more without. */
enum { RECENT_NUMBERS = 64 };

/* Processes, or tasks: elements of @size bytes that begin with their number. */
struct numbered_list {
	size_t size;
	void *elements;
	uint32_t n;
	size_t capacity;
	struct hash_table table;
	uint32_t recent[RECENT_NUMBERS];
};

/* Code at an address of a process. */
struct mapped_address {
	uint64_t address, offset;      /* in the memory of its process, in the file */
	uint32_t mode;                 /* PFM_MISC_MODE */
	struct process *process;       /* NULL: the kernel, or a guest */
	const struct mapping *mapping; /* NULL: unknown */
	bool is_in_file;               /* of which it is loaded */
};

struct recorded_tasks {
	struct text_pool *texts;
	struct symbols *symbols;
	bool is_live;               /* the tasks run: what no record describes is read from /proc */
	bool has_build_ids;         /* mappings have those of their records */
	bool failed;                /* no memory */
	uint32_t kernel_generation; /* of the kernel's mappings and symbols */
	struct map_set kernel_maps;
	struct perf_maps compiled; /* functions that processes compiled */

	/* of tasks.c alone */
	struct numbered_list processes, tasks;
	struct cgroup *cgroups;
	size_t n_cgroups, cgroups_capacity;
	struct hash_table cgroup_table;
	struct map_pool map_pool;
	uint32_t generation; /* the last number that was given */
};

/* Begins without any task. Names are added to @texts, files to @symbols. */
void tasks_begin(struct recorded_tasks *t, struct text_pool *texts, struct symbols *symbols);
void tasks_free(struct recorded_tasks *t);
/* The process or task, which is added if it is new. NULL without memory. Valid until the next
 * call. */
struct process *tasks_find_or_add_process(struct recorded_tasks *t, uint32_t pid);
struct task *tasks_find(struct recorded_tasks *t, uint32_t tid);
/* Reads the mappings of a process that runs, in place of those that were known. */
void tasks_load_process(struct recorded_tasks *t, struct process *p);
/* Finds what is mapped at the address and mode of @at in process @pid: its other members. Code of
 * guests is in no mapping of the process that runs them. */
void tasks_find_mapping(struct recorded_tasks *t, uint32_t pid, struct mapped_address *at);
/* Discards the names of addresses and stacks that were found so far. */
void tasks_forget_names(struct recorded_tasks *t);
/* Reads a record of a mapping, a fork, a name or a control group; others are left alone. */
void tasks_read_record(struct recorded_tasks *t, const pfm_record_t *record);
/* The find_code_fn of @arg, a struct recorded_tasks. */
bool tasks_find_code(void *arg, uint32_t pid, uint64_t address, struct mapped_code *code);
/* True if the recording has the path of a control group. */
bool tasks_has_cgroup_name(const struct recorded_tasks *t, uint64_t id);
/* The number of the name of a control group; without a record of it, of its id. */
uint32_t tasks_get_cgroup_name(const struct recorded_tasks *t, uint64_t id);

#endif
