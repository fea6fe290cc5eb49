/* SPDX-License-Identifier: MIT */
#include "profile/kept_messages.h"
#include "units.h"

static void messages_are_kept_once(void **state)
{
	struct kept_messages k = { .n_texts = 0 };

	(void)state;
	keep_messages(&k);
	show_profile_message("%s", "a");
	show_profile_message("%s", "b");
	show_profile_message("%s", "a");
	stop_keeping_messages(&k);
	show_profile_message("%s", "c");
	assert_int_equal(k.n_texts, 2);
	assert_string_equal(k.texts[0], "a");
	assert_string_equal(k.texts[1], "b");
	free_kept_messages(&k);
	assert_int_equal(k.n_texts, 0);
}

UNIT(profile_kept_messages, cmocka_unit_test(messages_are_kept_once));
