/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"
#include "tiny_recording.h"
#include "units.h"

static void read_one_sample(struct profile *p, const struct profile_options *options)
{
	const uint64_t flat[] = { (uint64_t)PFM_CHAIN_USER, 0x1000 };
	struct tiny_recording t;

	tiny_begin(&t);
	tiny_add_sample(&t, 10, flat, COUNT(flat));
	tiny_end(&t, NULL);
	*p = (struct profile){ .n_places = 0 };
	assert_int_equal(profile_read_selected(p, t.path, options), PFMLIB_SUCCESS);
	assert_int_equal(p->n_places, 1);
	tiny_remove(&t);
}

static void code_without_a_symbol(void **state)
{
	const struct profile_options by_address = { .keys = KEY_OBJECT | KEY_SYMBOL },
				     merged = { .keys = KEY_SYMBOL, .merge_unnamed = true };
	struct profile p;

	(void)state;
	read_one_sample(&p, &by_address);
	assert_string_equal(p.texts.text[p.places[0].object], "[unknown]");
	assert_string_equal(p.texts.text[p.places[0].function], "0x1000");
	profile_free(&p);
	read_one_sample(&p, &merged);
	assert_string_equal(p.texts.text[p.places[0].function], "[no name]");
	profile_free(&p);
}

UNIT(profile_address_names, cmocka_unit_test(code_without_a_symbol));
