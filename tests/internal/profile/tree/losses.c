/* SPDX-License-Identifier: MIT */
#include "profile/tree/losses.h"
#include "units.h"

static void every_loss_is_shown(void **state)
{
	const struct profile_losses none = { .records = 0 }, all = { 1, 2, 3, 4, true, false, "" };
	char text[LOSSES_MAX];

	(void)state;
	assert_true(is_profile_complete(&none));
	assert_false(is_profile_complete(&all));
	assert_false(is_profile_complete(&(struct profile_losses){ .throttled = 1 }));
	assert_string_equal(print_profile_losses(&none, text),
	                    "quality: exact; lost records: 0; lost samples: 0; throttled: 0 times; "
	                    "samples without an event: 0; recording: complete");
	assert_string_equal(
		print_profile_losses(&all, text),
		"quality: partial; lost records: 1; lost samples: 2; throttled: 3 times; "
		"samples without an event: 4; recording: damaged");
}

UNIT(profile_losses, cmocka_unit_test(every_loss_is_shown));
