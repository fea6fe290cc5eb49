/* SPDX-License-Identifier: MIT */
#include "profile/messages.h"
#include <pthread.h>
#include "units.h"

static char last[128];

static void keep_text(void *arg, const char *text)
{
	snprintf(last, sizeof(last), "%s%s", (const char *)arg, text);
}

static void *show_in_thread(void *arg)
{
	show_profile_message("from another thread");
	return arg;
}

static void messages_go_to_their_thread(void **state)
{
	char prefix[] = "> ";
	const struct profile_messages m = { .show_message = keep_text, .arg = prefix };
	const struct profile_messages *before = set_profile_messages(&m);
	pthread_t thread;

	(void)state;
	show_profile_message("%s: %d", "file", 7);
	assert_string_equal(last, "> file: 7");
	show_profile_progress("1 %");
	begin_profile_recording("file");
	count_profile_record(NULL);
	assert_int_equal(pthread_create(&thread, NULL, show_in_thread, NULL), 0);
	pthread_join(thread, NULL);
	assert_string_equal(last, "> file: 7");
	assert_ptr_equal(set_profile_messages(before), &m);
	show_profile_message("nobody listens");
	assert_string_equal(last, "> file: 7");
}

UNIT(profile_messages, cmocka_unit_test(messages_go_to_their_thread));
