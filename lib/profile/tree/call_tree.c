/* SPDX-License-Identifier: MIT */
/* A call tree, added up. Samples are counted where their stacks end; everything else follows from
 * these counts, once for each stack instead of once for each sample. */
#include "profile/profile.h"

/* Sets the samples of each node to those of the stacks that end there or below. */
static void add_to_parents(struct profile *p)
{
	for (size_t i = 0; i < p->n_nodes; i++) {
		p->nodes[i].samples = p->nodes[i].end_samples;
		p->nodes[i].weight = p->nodes[i].end_weight;
	}
	for (size_t i = p->n_nodes; i-- > 0;) {
		const struct profile_node *n = &p->nodes[i];

		if (n->parent == NO_NODE)
			continue;
		p->nodes[n->parent].samples += n->samples;
		p->nodes[n->parent].weight += n->weight;
	}
}

/* Adds the samples that end at @node to the places of their stack: a function that calls itself
 * has several nodes there, and gets them once. */
static void add_to_children(struct profile *p, uint32_t node)
{
	const struct profile_node *end = &p->nodes[node];

	for (uint32_t at = node; at != NO_NODE; at = p->nodes[at].parent) {
		struct profile_place *place = &p->places[p->nodes[at].place];

		if (place->stamp == node + 1ULL)
			continue;
		place->stamp = node + 1ULL;
		place->children_samples += end->end_samples;
		place->children_weight += end->end_weight;
	}
}

void profile_add_up_tree(struct profile *p, enum profile_tree tree)
{
	for (size_t i = 0; i < p->n_places; i++) {
		struct profile_place *at = &p->places[i];

		at->samples = at->weight = at->stamp = 0;
		at->children_samples = at->children_weight = 0;
	}
	add_to_parents(p);
	for (size_t i = 0; i < p->n_nodes; i++) {
		const struct profile_node *n = &p->nodes[i];
		struct profile_place *at = &p->places[n->place];

		if (n->end_samples)
			add_to_children(p, (uint32_t)i);
		if (tree == CALLER_TREE) {
			at->samples += n->end_samples;
			at->weight += n->end_weight;
		} else if (n->parent == NO_NODE) {
			at->samples += n->samples;
			at->weight += n->weight;
		}
	}
}
