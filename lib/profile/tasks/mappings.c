/* SPDX-License-Identifier: MIT */
/* Mappings of a process as a treap: a tree in the order of addresses whose nodes have random
 * priorities, which keeps it shallow whatever order the mappings come in.
 *
 * A child begins with its parent's mappings. Both sets then share the nodes: a set copies a shared
 * node before it writes to it, so a copy of the whole set costs nothing. */
#include "profile/tasks/mappings.h"

#include <stdlib.h>

#define NODES_PER_BLOCK 256u

struct map_node {
	struct mapping map;
	struct map_node *left, *right;
	uint32_t priority, owner;
};

struct map_block {
	struct map_block *next;
	unsigned n_used;
	struct map_node nodes[NODES_PER_BLOCK];
};

/* State of one aggregation. */
struct map_edit {
	struct map_pool *pool;
	uint32_t owner;
	bool failed; /* no memory */
};

static uint32_t draw_priority(struct map_pool *pool)
{
	pool->random = pool->random ? pool->random : (uint64_t)(uintptr_t)pool | 1;
	pool->random ^= pool->random << 13;
	pool->random ^= pool->random >> 7;
	pool->random ^= pool->random << 17;
	return (uint32_t)(pool->random >> 32);
}

static struct map_node *alloc_node(struct map_edit *e)
{
	struct map_block *b = e->pool->blocks;
	struct map_node *n = e->pool->unused;

	if (n) {
		e->pool->unused = n->left;
		return n;
	}
	if (!b || b->n_used == NODES_PER_BLOCK) {
		b = malloc(sizeof(*b));
		if (!b) {
			e->failed = true;
			return NULL;
		}
		b->next = e->pool->blocks;
		b->n_used = 0;
		e->pool->blocks = b;
	}
	return &b->nodes[b->n_used++];
}

static struct map_node *create_node(struct map_edit *e, const struct mapping *m)
{
	struct map_node *n = alloc_node(e);

	if (n)
		*n = (struct map_node){ .map = *m,
			                .priority = draw_priority(e->pool),
			                .owner = e->owner };
	return n;
}

/* @n itself if only this set uses it, else a copy. NULL without memory. */
static struct map_node *make_writable(struct map_edit *e, struct map_node *n)
{
	struct map_node *copy;

	if (!n || n->owner == e->owner)
		return n;
	copy = alloc_node(e);
	if (copy) {
		*copy = *n;
		copy->owner = e->owner;
	}
	return copy;
}

/* Splits @n: mappings that start below @address go to *@low, the others to *@high. */
static void split_nodes(struct map_edit *e, struct map_node *n, uint64_t address,
                        struct map_node **low, struct map_node **high)
{
	while ((n = make_writable(e, n))) {
		if (n->map.start < address) {
			*low = n;
			low = &n->right;
			n = n->right;
		} else {
			*high = n;
			high = &n->left;
			n = n->left;
		}
	}
	*low = *high = NULL;
}

/* Joins @low and @high: all mappings of @low are below those of @high. */
static struct map_node *join_nodes(struct map_edit *e, struct map_node *low, struct map_node *high)
{
	struct map_node *root = NULL, **at = &root;

	while (low && high) {
		bool is_low_first = low->priority > high->priority;
		struct map_node *n = make_writable(e, is_low_first ? low : high);

		if (!n)
			return root;
		*at = n;
		at = is_low_first ? &n->right : &n->left;
		*(is_low_first ? &low : &high) = *at;
	}
	*at = low ? low : high;
	return root;
}

/* Ends the last mapping of @n at @end at the latest. *@rest: what it had after @from. */
static bool cut_last_mapping(struct map_edit *e, struct map_node **n, uint64_t end, uint64_t from,
                             struct mapping *rest)
{
	struct map_node *last;
	bool has_rest;

	if (!*n)
		return false;
	while ((last = *n = make_writable(e, *n)) && last->right)
		n = &last->right;
	if (!last)
		return false;
	has_rest = last->map.end > from;
	*rest = last->map;
	rest->offset += from - rest->start;
	rest->start = from;
	if (last->map.end > end)
		last->map.end = end;
	return has_rest;
}

static struct map_node *join_mapping(struct map_edit *e, struct map_node *low,
                                     const struct mapping *m)
{
	struct map_node *n = create_node(e, m);

	return n ? join_nodes(e, low, n) : low;
}

/* Keeps @n and the nodes below it for other mappings. Nodes below a shared node are shared. */
static void reuse_nodes(struct map_edit *e, struct map_node *n)
{
	while (n && n->owner == e->owner) {
		struct map_node *right = n->right;

		reuse_nodes(e, n->left);
		n->left = e->pool->unused;
		e->pool->unused = n;
		n = right;
	}
}

bool mappings_add(struct map_pool *pool, struct map_set *set, const struct mapping *m)
{
	struct map_edit e = { .pool = pool };
	struct map_node *low, *covered, *high;
	struct mapping rest;
	bool has_rest;

	if (m->start >= m->end)
		return true;
	if (!set->owner)
		set->owner = ++pool->last_owner;
	e.owner = set->owner;
	split_nodes(&e, set->root, m->start, &low, &high);
	split_nodes(&e, high, m->end, &covered, &high);
	has_rest = cut_last_mapping(&e, &low, m->start, m->end, &rest);
	/* Of the mappings that @m covers only the last can reach beyond it. */
	has_rest |= cut_last_mapping(&e, &covered, UINT64_MAX, m->end, &rest);
	reuse_nodes(&e, covered);
	low = join_mapping(&e, low, m);
	if (has_rest)
		low = join_mapping(&e, low, &rest);
	set->root = join_nodes(&e, low, high);
	return !e.failed;
}

const struct mapping *mappings_find(const struct map_set *set, uint64_t address)
{
	const struct map_node *n = set->root;
	const struct mapping *found = NULL;

	while (n) {
		if (n->map.start <= address)
			found = &n->map;
		n = n->map.start <= address ? n->right : n->left;
	}
	return found && address < found->end ? found : NULL;
}

void mappings_copy(struct map_pool *pool, struct map_set *from, struct map_set *to)
{
	/* From now on neither may write to the nodes that exist. */
	from->owner = ++pool->last_owner;
	to->owner = ++pool->last_owner;
	to->root = from->root;
}

void mappings_clear(struct map_pool *pool, struct map_set *set)
{
	struct map_edit e = { .pool = pool, .owner = set->owner };

	reuse_nodes(&e, set->root);
	set->root = NULL;
}

void mappings_free(struct map_pool *pool)
{
	for (struct map_block *b = pool->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	*pool = (struct map_pool){ .blocks = NULL };
}
