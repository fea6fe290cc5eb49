/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"
#include "tiny_recording.h"
#include "units.h"

static void read_one_sample(struct profile *p, const struct profile_options *options,
                            uint64_t address)
{
	const uint64_t flat[] = { (uint64_t)PFM_CHAIN_USER, address };
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
	const uint64_t addresses[] = { 0, 1, 0x10, 0xfff, 0x1000, 0x8000123456789abc };
	struct profile p;
	char text[24];

	(void)state;
	for (size_t i = 0; i < COUNT(addresses); i++) {
		snprintf(text, sizeof(text), "%#llx", (unsigned long long)addresses[i]);
		read_one_sample(&p, &by_address, addresses[i]);
		assert_string_equal(p.texts.text[p.places[0].object], "[unknown]");
		assert_string_equal(p.texts.text[p.places[0].function], text);
		profile_free(&p);
	}
	read_one_sample(&p, &merged, 0x1000);
	assert_string_equal(p.texts.text[p.places[0].function], "[no name]");
	profile_free(&p);
}

UNIT(profile_address_names, cmocka_unit_test(code_without_a_symbol));
