/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"
#include "tiny_recording.h"
#include "units.h"

/* Two samples in b, which a calls, and one in a; and the same with patterns of names. */
static void samples_and_their_callers(void **state)
{
	const uint64_t deep[] = { (uint64_t)PFM_CHAIN_USER, 0x1000, 0x2000 };
	const uint64_t flat[] = { (uint64_t)PFM_CHAIN_USER, 0x1fff };
	const struct profile_options all = { .keys = KEY_SYMBOL, .children = true },
				     one = { .keys = KEY_SYMBOL, .symbol = "0x1000" };
	struct profile p = { .n_places = 0 };
	struct tiny_recording t;

	(void)state;
	tiny_begin(&t);
	tiny_add_comm(&t, "prog");
	tiny_add_sample(&t, 10, deep, COUNT(deep));
	tiny_add_sample(&t, 20, deep, COUNT(deep));
	tiny_add_sample(&t, 30, flat, COUNT(flat));
	tiny_end(&t, NULL);
	assert_int_equal(profile_read_selected(&p, t.path, &all), PFMLIB_SUCCESS);
	assert_int_equal(p.n_places, 2);
	/* The caller, one byte before the return address, has all three below it. */
	assert_string_equal(p.texts.text[p.places[0].function], "0x1fff");
	assert_int_equal(p.places[0].children_samples, 3);
	assert_int_equal(p.places[0].samples, 1);
	assert_string_equal(p.texts.text[p.places[1].function], "0x1000");
	assert_int_equal(p.places[1].samples, 2);
	profile_free(&p);
	p = (struct profile){ .n_places = 0 };
	assert_int_equal(profile_read_selected(&p, t.path, &one), PFMLIB_SUCCESS);
	assert_int_equal(p.samples[0], 2);
	profile_free(&p);
	tiny_remove(&t);
}

UNIT(profile_samples, cmocka_unit_test(samples_and_their_callers));
