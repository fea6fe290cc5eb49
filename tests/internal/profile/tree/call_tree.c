/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"
#include <stdlib.h>
#include "units.h"

enum { PLACES = 4, STACKS_MADE = 300, DEPTH = 6 };

/* Sums of the samples, counted one by one. */
struct expected {
	uint64_t self[PLACES], children[PLACES];
	struct profile_node nodes[STACKS_MADE * DEPTH]; /* samples and weight alone are used */
};

struct tree_test {
	struct profile_reader *reader;
	struct profile profile;
	struct profile_place places[PLACES];
	struct expected expected;
	unsigned random;
};

static unsigned draw(struct tree_test *t, unsigned n)
{
	t->random = t->random * 1103515245u + 12345u;
	return (t->random >> 16) % n;
}

/* Adds a sample with a stack that was drawn at random, in which functions call themselves. */
static void add_drawn_sample(struct tree_test *t, enum profile_tree tree)
{
	unsigned depth = 1 + draw(t, DEPTH), weight = draw(t, 100), seen = 0;
	uint32_t node = NO_NODE, place, first = 0;

	for (unsigned i = 0; i < depth; i++) {
		const struct profile_node *found;

		place = draw(t, PLACES);
		first = i ? first : place;
		found = places_find_or_add_node(t->reader, node, place);
		assert_non_null(found);
		node = (uint32_t)(found - t->profile.nodes);
		t->expected.nodes[node].samples++;
		t->expected.nodes[node].weight += weight;
		t->expected.children[place] += seen >> place & 1 ? 0 : weight;
		seen |= 1u << place;
	}
	/* The innermost function is the last of a caller tree, and the first of a callee tree. */
	t->expected.self[tree == CALLER_TREE ? place : first] += weight;
	t->profile.nodes[node].end_samples++;
	t->profile.nodes[node].end_weight += weight;
}

static void check_sums(struct tree_test *t, enum profile_tree tree)
{
	profile_add_up_tree(&t->profile, tree);
	for (size_t i = 0; i < t->profile.n_nodes; i++) {
		assert_int_equal(t->profile.nodes[i].samples, t->expected.nodes[i].samples);
		assert_int_equal(t->profile.nodes[i].weight, t->expected.nodes[i].weight);
	}
	for (unsigned i = 0; i < PLACES; i++) {
		assert_int_equal(t->places[i].weight, t->expected.self[i]);
		assert_int_equal(t->places[i].children_weight, t->expected.children[i]);
	}
}

/* The sums are the same when they are made in two steps. */
static void sums_are_those_of_single_samples(void **state)
{
	static const enum profile_tree trees[] = { CALLER_TREE, CALLEE_TREE };

	(void)state;
	for (size_t k = 0; k < COUNT(trees); k++) {
		struct tree_test *t = calloc(1, sizeof(*t));

		assert_non_null(t);
		t->reader = calloc(1, sizeof(*t->reader));
		assert_non_null(t->reader);
		t->reader->target_profile = &t->profile;
		t->profile.places = t->places;
		t->profile.n_places = PLACES;
		for (unsigned i = 0; i < STACKS_MADE; i++) {
			add_drawn_sample(t, trees[k]);
			if (i % 100 == 99)
				check_sums(t, trees[k]);
		}
		pfmi_base_free_hash(&t->reader->node_table);
		free(t->profile.nodes);
		free(t->reader);
		free(t);
	}
}

UNIT(profile_call_tree, cmocka_unit_test(sums_are_those_of_single_samples));
