/* SPDX-License-Identifier: MIT */
#include "profile/messages.h"
#include "units.h"

static char last[128];

static void keep_text(void *arg, const char *text)
{
	snprintf(last, sizeof(last), "%s%s", (const char *)arg, text);
}

static void messages_go_to_their_receiver(void **state)
{
	char prefix[] = "> ";
	const struct profile_messages m = { .show_message = keep_text, .arg = prefix };

	(void)state;
	show_profile_message(&m, "%s: %d", "file", 7);
	assert_string_equal(last, "> file: 7");
	show_profile_progress(&m, "1 %");
	begin_profile_recording(&m, "file");
	count_profile_record(&m, NULL);
	show_profile_message(NULL, "nobody listens");
	assert_string_equal(last, "> file: 7");
}

static void lack_of_memory_is_told_once_to_each_receiver(void **state)
{
	char first[] = "1: ", second[] = "2: ";
	struct profile_messages a = { .show_message = keep_text, .arg = first },
				b = { .show_message = keep_text, .arg = second };

	(void)state;
	report_missing_names(&a);
	assert_string_equal(last, "1: some functions or source lines are not named: out of memory");
	last[0] = '\0';
	report_missing_names(&a);
	report_missing_names(NULL);
	assert_string_equal(last, "");
	report_missing_names(&b);
	assert_string_equal(last, "2: some functions or source lines are not named: out of memory");
}

UNIT(profile_messages, cmocka_unit_test(messages_go_to_their_receiver),
     cmocka_unit_test(lack_of_memory_is_told_once_to_each_receiver));
