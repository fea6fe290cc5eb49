/* SPDX-License-Identifier: MIT */
/* Shared by the adapters. An adapter is a small library that turns the marks of another interface
 * into regions; the runtime of that interface loads it. Its threads keep a pointer into the
 * library: it is linked so that it is never unloaded. */
#ifndef PERFMON_REGION_ADAPTER_H
#define PERFMON_REGION_ADAPTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/region.h>

#define EXPORT __attribute__((visibility("default")))

/* The regions that a thread has open in one domain through push and pop, which name none at the
 * end. Visits deeper than this are left out. */
enum { OPEN_MAX_DEPTH = 256 };

struct open_regions {
	bool is_used;
	const void *domain;
	pfm_region_t *regions[OPEN_MAX_DEPTH];
	unsigned depth;
};

enum { BLOCK_DOMAINS = 8 };

/* Stacks of several domains: those that a thread needs later are allocated before its first
 * region, which would count their page faults. */
struct open_block {
	struct open_block *next;
	struct open_regions stacks[BLOCK_DOMAINS];
};

/* Blocks of the calling thread, which are freed when it ends. */
struct open_domains {
	pthread_once_t once;
	pthread_key_t key;
};

static inline void free_open_blocks(void *first)
{
	for (struct open_block *block = first, *next; block; block = next) {
		next = block->next;
		free(block);
	}
}

static inline struct open_block *add_open_block(const struct open_domains *domains)
{
	struct open_block *block = malloc(sizeof(*block));

	if (!block)
		return NULL;
	block->next = pthread_getspecific(domains->key);
	for (unsigned i = 0; i < BLOCK_DOMAINS; i++) {
		block->stacks[i].is_used = false;
		block->stacks[i].depth = 0;
	}
	if (pthread_setspecific(domains->key, block) == 0)
		return block;
	free(block);
	return NULL;
}

/* Returns what the calling thread has open in @domain; NULL without memory. @make_key creates
 * @domains->key with free_open_blocks(). */
static inline struct open_regions *get_open_regions(struct open_domains *domains,
                                                    void (*make_key)(void), const void *domain)
{
	struct open_regions *unused = NULL;
	struct open_block *block;

	pthread_once(&domains->once, make_key);
	for (block = pthread_getspecific(domains->key); block; block = block->next)
		for (unsigned i = 0; i < BLOCK_DOMAINS; i++) {
			struct open_regions *open = &block->stacks[i];

			if (open->is_used && open->domain == domain)
				return open;
			unused = open->is_used ? unused : open;
		}
	if (!unused && (block = add_open_block(domains)))
		unused = block->stacks;
	if (unused) {
		unused->is_used = true;
		unused->domain = domain;
	}
	return unused;
}

static inline void push_region(struct open_regions *open, pfm_region_t *region)
{
	if (!open)
		return;
	if (open->depth < OPEN_MAX_DEPTH) {
		open->regions[open->depth] = region;
		if (region)
			pfm_begin_region(region);
	}
	open->depth++;
}

/* Returns the depth before, 0 if nothing was open. */
static inline unsigned pop_region(struct open_regions *open)
{
	unsigned depth = open ? open->depth : 0;

	if (!depth)
		return 0;
	open->depth--;
	if (open->depth < OPEN_MAX_DEPTH && open->regions[open->depth])
		pfm_end_region(open->regions[open->depth]);
	return depth;
}

#endif
