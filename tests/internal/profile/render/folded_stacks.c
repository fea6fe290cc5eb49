/* SPDX-License-Identifier: MIT */
#include "profile/render/folded_stacks.h"
#include <perfmon/sampling.h>
#include "tiny_recording.h"
#include "units.h"

/* Names hold the characters that separate frames and lines. */
static void write_odd_names(struct tiny_recording *t)
{
	const uint64_t deep[] = { (uint64_t)PFM_CHAIN_USER, 0x1000, 0x2001 };
	const uint64_t flat[] = { (uint64_t)PFM_CHAIN_USER, 0x1000 };

	tiny_begin(t);
	tiny_add_comm(t, "a;b\nc");
	tiny_add_sample(t, 10, flat, COUNT(flat));
	tiny_add_sample(t, 20, deep, COUNT(deep));
	tiny_add_sample(t, 30, deep, COUNT(deep));
	tiny_end(t, NULL);
}

static void lines_of_stacks(void **state)
{
	const struct profile_options options = { .tree = CALLER_TREE };
	struct profile p = { .n_places = 0 };
	struct folded_stacks f;
	struct function_table t;
	struct tiny_recording recording;

	(void)state;
	write_odd_names(&recording);
	assert_int_equal(profile_read_selected(&p, recording.path, &options), PFMLIB_SUCCESS);
	assert_true(make_function_table(&t, &p));
	assert_true(fold_stacks(&f, &t, &p, 0));
	assert_int_equal(f.n, 2);
	assert_string_equal(f.lines[0].text, "a:b\\x0ac;0x2000;0x1000");
	assert_string_equal(f.lines[1].text, "a:b\\x0ac;0x1000");
	assert_int_equal(f.lines[0].weight + f.lines[1].weight, p.weights[0]);
	free_folded_stacks(&f);
	free_function_table(&t);
	profile_free(&p);
	tiny_remove(&recording);
}

UNIT(profile_folded_stacks, cmocka_unit_test(lines_of_stacks));
