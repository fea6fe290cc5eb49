/* SPDX-License-Identifier: MIT */
/* Mappings of the processes of a recording: which file was mapped where, at any time. */
#ifndef PFM_MAPPINGS_H
#define PFM_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

struct object;

struct mapping {
	uint64_t start, end, offset; /* bytes [start, end) hold the file from @offset on */
	uint32_t name;               /* number of the file's name */
	uint32_t build_id;           /* number of its text; 0 if it is not wanted */
	struct object *object;
};

struct map_node;

/* Memory for the mappings of all processes. All zeros is empty. */
struct map_pool {
	struct map_block *blocks;
	struct map_node *unused; /* linked by their left pointers */
	uint64_t random;
	uint32_t last_owner;
};

/* The mappings of one process, which do not overlap. All zeros is empty. */
struct map_set {
	struct map_node *root;
	uint32_t owner; /* nodes of other owners are shared and are not written to */
};

/**
 * Add @m to @set; where older mappings overlap it, only the rest of them stays.
 *
 * Takes time proportional to the logarithm of the number of mappings. Returns false without
 * memory: the set may then lack mappings.
 */
bool mappings_add(struct map_pool *pool, struct map_set *set, const struct mapping *m);

/* The mapping of @address, or NULL. It stays valid until @set changes. */
const struct mapping *mappings_find(const struct map_set *set, uint64_t address);

/* Makes @to, a set that has no other user, equal to @from. Takes constant time. */
void mappings_copy(struct map_pool *pool, struct map_set *from, struct map_set *to);

/* Makes @set empty. Its memory is used for other mappings. */
void mappings_clear(struct map_pool *pool, struct map_set *set);

/* Frees the mappings of all sets that were made in @pool. */
void mappings_free(struct map_pool *pool);

#endif
