/* SPDX-License-Identifier: MIT */
#include "profile/budget.h"
#include "profile/messages.h"
#include "units.h"

struct seen {
	unsigned n;
	char text[256];
};

static void see_message(void *arg, const char *text)
{
	struct seen *seen = arg;

	seen->n++;
	snprintf(seen->text, sizeof(seen->text), "%s", text);
}

static void a_spent_budget_is_reported_once(void **state)
{
	struct seen seen = { .n = 0 };
	struct profile_messages messages = { .show_message = see_message, .arg = &seen };
	struct budget b = { .messages = &messages,
		            .file = "/x",
		            .subject = "functions",
		            .unit = "bytes of symbols",
		            .limit = 10 };

	(void)state;
	assert_true(budget_charge(&b, 4));
	assert_true(budget_charge(&b, 6));
	assert_int_equal(seen.n, 0);
	assert_false(budget_charge(&b, 1));
	assert_false(budget_charge(&b, UINT64_MAX));
	assert_true(budget_charge(&b, 0));
	assert_int_equal(seen.n, 1);
	assert_string_equal(seen.text,
	                    "functions of /x are incomplete: the limit is 10 bytes of symbols");
}

static void a_depth_is_allowed_again_after_it_was_too_deep(void **state)
{
	struct budget b = { .subject = "functions", .unit = "levels", .limit = 3 };

	(void)state;
	assert_true(budget_allows(&b, 3));
	assert_false(budget_allows(&b, 4));
	assert_true(b.is_exceeded);
	assert_true(budget_allows(&b, 2));
}

static void limits_do_not_wrap(void **state)
{
	(void)state;
	assert_int_equal(budget_limit(10, 4, 3), 43);
	assert_int_equal(budget_limit(UINT64_MAX / 2, 4, 3), UINT64_MAX);
	assert_int_equal(budget_limit(UINT64_MAX, 1, 3), UINT64_MAX);
}

UNIT(profile_budget, cmocka_unit_test(limits_do_not_wrap),
     cmocka_unit_test(a_spent_budget_is_reported_once),
     cmocka_unit_test(a_depth_is_allowed_again_after_it_was_too_deep));
