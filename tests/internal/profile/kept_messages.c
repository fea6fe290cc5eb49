/* SPDX-License-Identifier: MIT */
#include "profile/kept_messages.h"
#include "units.h"

static void messages_are_kept_once(void **state)
{
	struct kept_messages k = { .n_texts = 0 };
	const struct profile_messages *m = keep_messages(&k);

	(void)state;
	show_profile_message(m, "%s", "a");
	show_profile_message(m, "%s", "b");
	show_profile_message(m, "%s", "a");
	assert_int_equal(k.n_texts, 2);
	assert_string_equal(k.texts[0], "a");
	assert_string_equal(k.texts[1], "b");
	free_kept_messages(&k);
	assert_int_equal(k.n_texts, 0);
}

UNIT(profile_kept_messages, cmocka_unit_test(messages_are_kept_once));
