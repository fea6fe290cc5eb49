/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"

#include "base/grow.h"

static uint64_t hash_place(const struct profile_place *a)
{
	const uint64_t key[] = { (uint64_t)a->event << 32 | a->task,
		                 (uint64_t)a->object << 32 | a->function,
		                 (uint64_t)a->inlined << 32 | a->source,
		                 (uint64_t)a->cpu << 32 | a->cgroup,
		                 (uint64_t)a->build_id << 32 | a->slice,
		                 (uint64_t)a->pid << 32 | a->tid,
		                 a->address };

	return pfmi_base_hash_bytes(key, sizeof(key));
}

struct place_search {
	const struct profile_place *list, *key;
};

static bool is_same_place(const void *arg, uint32_t i)
{
	const struct place_search *s = arg;
	const struct profile_place *a = &s->list[i], *b = s->key;

	return a->event == b->event && a->task == b->task && a->object == b->object &&
	       a->function == b->function && a->inlined == b->inlined && a->source == b->source &&
	       a->cpu == b->cpu && a->cgroup == b->cgroup && a->slice == b->slice &&
	       a->address == b->address && a->pid == b->pid && a->tid == b->tid &&
	       a->build_id == b->build_id;
}

uint32_t places_find(struct profile_place **places, size_t *n, size_t *capacity,
                     struct hash_table *t, const struct profile_place *key)
{
	const struct place_search search = { *places, key };
	uint64_t hash = hash_place(key);
	uint32_t at = pfmi_base_find_hash(t, hash, is_same_place, &search);
	bool failed = false;

	if (at != HASH_NOT_FOUND)
		return at;
	*places = base_grow_list(*places, *n, capacity, sizeof(**places), &failed);
	if (failed || !pfmi_base_add_hash(t, hash, (uint32_t)*n))
		return HASH_NOT_FOUND;
	at = (uint32_t)(*n)++;
	(*places)[at] = *key;
	(*places)[at].samples = (*places)[at].weight = 0;
	return at;
}

void places_add_sample(struct profile_place *place, uint64_t weight)
{
	place->samples++;
	place->weight += weight;
}

struct node_search {
	const struct profile_node *list;
	uint32_t parent, place;
};

static bool is_same_node(const void *arg, uint32_t i)
{
	const struct node_search *s = arg;

	return s->list[i].parent == s->parent && s->list[i].place == s->place;
}

struct profile_node *places_find_or_add_node(struct profile_reader *r, uint32_t parent,
                                             uint32_t place)
{
	struct profile *p = r->target_profile;
	const struct node_search search = { p->nodes, parent, place };
	uint64_t hash = pfmi_base_hash_number((uint64_t)parent << 32 | place);
	uint32_t at = pfmi_base_find_hash(&r->node_table, hash, is_same_node, &search);
	bool failed = false;

	if (at != HASH_NOT_FOUND)
		return &p->nodes[at];
	p->nodes = base_grow_list(p->nodes, p->n_nodes, &r->nodes_capacity, sizeof(*p->nodes),
	                          &failed);
	if (failed || !pfmi_base_add_hash(&r->node_table, hash, (uint32_t)p->n_nodes))
		return NULL;
	p->nodes[p->n_nodes] = (struct profile_node){ .parent = parent, .place = place };
	return &p->nodes[p->n_nodes++];
}
