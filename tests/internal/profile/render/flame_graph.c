/* SPDX-License-Identifier: MIT */
#include "profile/render/flame_graph.h"
#include "units.h"

/* a calls b (3) and c (1); d (4) calls nothing. */
static void boxes_of_three_stacks(void **state)
{
	struct flame_stack stacks[] = { { .text = "d", .weight = 4 },
		                        { .text = "a;c", .weight = 1 },
		                        { .text = "a;b", .weight = 3 } };
	struct flame_boxes b;

	(void)state;
	assert_true(make_flame_boxes(stacks, COUNT(stacks), &b));
	assert_int_equal(b.total, 8);
	assert_int_equal(b.depth, 2);
	assert_int_equal(b.n_boxes, 4);
	assert_memory_equal(b.boxes[0].name, "a", b.boxes[0].len);
	assert_int_equal(b.boxes[0].weight, 4);
	assert_memory_equal(b.boxes[1].name, "d", b.boxes[1].len);
	assert_true(b.boxes[1].x == 0.5 && b.boxes[1].width == 0.5);
	assert_memory_equal(b.boxes[2].name, "b", b.boxes[2].len);
	assert_int_equal(b.boxes[2].weight, 3);
	assert_int_equal(b.boxes[2].depth, 1);
	assert_memory_equal(b.boxes[3].name, "c", b.boxes[3].len);
	assert_true(b.boxes[3].x == 3.0 / 8);
	free(b.boxes);
}

static void a_graph_names_each_box(void **state)
{
	struct flame_stack stacks[] = { { .text = "main;<x>", .weight = 1 } };
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	assert_true(write_flame_graph(out, "a & b", stacks, COUNT(stacks)));
	fclose(out);
	assert_non_null(strstr(text, "a &amp; b (click"));
	assert_non_null(strstr(text, "<title>main, 100.00% (1)</title>"));
	assert_non_null(strstr(text, "<title>&lt;x&gt;, 100.00% (1)</title>"));
	assert_non_null(strstr(text, "</svg>\n"));
	free(text);
}

UNIT(profile_flame_graph, cmocka_unit_test(boxes_of_three_stacks),
     cmocka_unit_test(a_graph_names_each_box));
