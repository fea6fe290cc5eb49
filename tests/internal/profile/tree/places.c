/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"
#include <stdlib.h>
#include "units.h"

static void equal_keys_are_one_place(void **state)
{
	struct profile_place *list = NULL, key = { .function = 1, .samples = 9, .weight = 9 };
	struct hash_table table = { 0 };
	size_t n = 0, capacity = 0;
	uint32_t first = places_find(&list, &n, &capacity, &table, &key), other;

	(void)state;
	assert_int_equal(first, 0);
	assert_int_equal(list[first].samples, 0);
	assert_int_equal(list[first].weight, 0);
	places_add_sample(&list[first], 7);
	assert_int_equal(places_find(&list, &n, &capacity, &table, &key), first);
	assert_int_equal(list[first].weight, 7);
	key.cpu = 3;
	other = places_find(&list, &n, &capacity, &table, &key);
	assert_int_equal(other, 1);
	assert_int_equal(n, 2);
	pfmi_base_free_hash(&table);
	free(list);
}

static void nodes_of_a_tree(void **state)
{
	struct profile_reader *r = calloc(1, sizeof(*r));
	struct profile p = { .n_nodes = 0 };
	const struct profile_node *node;

	(void)state;
	assert_non_null(r);
	r->target_profile = &p;
	assert_non_null(places_find_or_add_node(r, NO_NODE, 4));
	node = places_find_or_add_node(r, 0, 4);
	assert_ptr_equal(node, &p.nodes[1]);
	node = places_find_or_add_node(r, NO_NODE, 4);
	assert_ptr_equal(node, &p.nodes[0]);
	assert_int_equal(p.n_nodes, 2);
	assert_int_equal(p.nodes[1].parent, 0);
	pfmi_base_free_hash(&r->node_table);
	free(p.nodes);
	free(r);
}

UNIT(profile_places, cmocka_unit_test(equal_keys_are_one_place), cmocka_unit_test(nodes_of_a_tree));
