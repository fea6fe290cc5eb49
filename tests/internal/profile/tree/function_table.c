/* SPDX-License-Identifier: MIT */
#include "profile/tree/function_table.h"
#include <perfmon/profile.h>
#include "tiny_recording.h"
#include "units.h"

/* f calls itself, and the middle one calls g: frames f+1, f+1, g. */
static void write_recursion(struct tiny_recording *t)
{
	const uint64_t deep[] = { (uint64_t)PFM_CHAIN_USER, 0x3000, 0x1001, 0x1001 };
	const uint64_t flat[] = { (uint64_t)PFM_CHAIN_USER, 0x1000 };

	tiny_begin(t);
	tiny_add_comm(t, "prog");
	tiny_add_sample(t, 10, deep, COUNT(deep));
	tiny_add_sample(t, 20, deep, COUNT(deep));
	tiny_add_sample(t, 30, deep, COUNT(deep));
	tiny_add_sample(t, 40, flat, COUNT(flat));
	tiny_end(t, NULL);
}

static void recursion_is_counted_once(void **state)
{
	const struct profile_options options = { .tree = CALLER_TREE };
	struct profile p = { .n_places = 0 };
	struct function_table t;
	struct tiny_recording recording;
	const struct profile_frame *const *frames;
	unsigned n;

	(void)state;
	write_recursion(&recording);
	assert_int_equal(profile_read_selected(&p, recording.path, &options), PFMLIB_SUCCESS);
	assert_true(make_function_table(&t, &p));
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(t.first_rows[0], 0);
	assert_int_equal(t.first_rows[1], 2);
	assert_string_equal(p.texts.text[t.rows[0].function], "0x3000");
	assert_int_equal(t.rows[0].self_samples, 3);
	assert_int_equal(t.rows[0].children_samples, 3);
	assert_string_equal(p.texts.text[t.rows[1].function], "0x1000");
	assert_int_equal(t.rows[1].self_samples, 1);
	assert_int_equal(t.rows[1].children_samples, 4);
	assert_int_equal(t.rows[1].flags, PFM_FRAME_UNNAMED);
	assert_int_equal(t.n_stacks, 2);
	/* The flat one is the root of the deep one, and is the first. */
	frames = list_stack_frames(&t, &p, 1, &n);
	assert_int_equal(n, 3);
	assert_string_equal(p.texts.text[frames[0]->function], "0x3000");
	assert_string_equal(p.texts.text[frames[2]->function], "0x1000");
	free_function_table(&t);
	profile_free(&p);
	tiny_remove(&recording);
}

UNIT(profile_function_table, cmocka_unit_test(recursion_is_counted_once));
