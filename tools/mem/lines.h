/* SPDX-License-Identifier: MIT */
/* Accesses to memory, added up by level and by cache line. */
#ifndef PFM_MEM_LINES_H
#define PFM_MEM_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "mem/source.h"

struct mem_sum {
	uint64_t samples, loads, stores, hitm, remote_hitm;
	uint64_t latency, n_latency; /* sum of the latencies, and of how many accesses */
};

/* One access. */
struct mem_access {
	struct mem_source source;
	uint64_t address, physical; /* physical 0: unknown */
	uint64_t latency;           /* cycles; 0: unknown */
	uint32_t pid, tid, task;    /* task: number of a text */
	uint32_t node;              /* of the CPU; MEM_NO_NODE: unknown */
	uint32_t data_node;         /* of the memory */
	uint32_t object, function;  /* numbers of texts: what is at the address, who accessed it */
};

#define MEM_NO_NODE UINT32_MAX

/* Accesses of one operation that found their data in one level. */
struct mem_level {
	enum mem_operation operation;
	char name[64];
	uint32_t node, data_node;
	struct mem_sum sum;
};

struct mem_line {
	uint64_t address;  /* virtual, of the first byte */
	uint64_t physical; /* 0: unknown */
	uint32_t pid;      /* of the first access */
	uint32_t object;
	uint32_t n_threads;
	bool is_shared;       /* by threads, of which one stores or finds it modified by others */
	bool is_false_shared; /* is_shared, and no two of the threads use the same byte offset */
	struct mem_sum sum;
};

/* Accesses of one thread, from one function, at one place of a line. */
struct mem_place {
	uint32_t line; /* index */
	uint32_t offset, tid, task, function;
	struct mem_sum sum;
};

struct mem_lines {
	uint32_t line_size; /* a power of two */
	struct mem_sum all;
	struct mem_level *levels;
	struct mem_line *lines;
	struct mem_place *places;
	size_t n_levels, n_lines, n_places;
	size_t levels_capacity, lines_capacity, places_capacity;
	struct hash_table line_table, place_table;
	bool failed; /* no memory */
};

void mem_lines_add(struct mem_lines *m, const struct mem_access *a);

/**
 * Find out which lines are shared, and sort.
 *
 * Levels are sorted by latency together; places by line, then by offset, then by samples.
 * *@order receives the indexes of the lines, those with the largest latency together first, or
 * those with the most samples where no latency is known; the caller frees it. False without memory.
 */
bool mem_lines_sort(struct mem_lines *m, uint32_t **order);

void mem_lines_free(struct mem_lines *m);

#endif
