/* SPDX-License-Identifier: MIT */
#include "profile/recording_section.h"
#include "tiny_recording.h"
#include "units.h"

enum { RELEASE = 4, ARCHITECTURE = 6 };

static void a_section_with_a_text(void **state)
{
	struct tiny_recording t;
	char *text;

	(void)state;
	tiny_begin(&t);
	tiny_add_comm(&t, "prog");
	tiny_end(&t, "6.1.0-test");
	text = read_recording_text(t.path, RELEASE);
	assert_string_equal(text, "6.1.0-test");
	free(text);
	assert_null(read_recording_text(t.path, ARCHITECTURE));
	tiny_remove(&t);
}

static void files_that_are_cut_off(void **state)
{
	struct tiny_recording t;

	(void)state;
	tiny_begin(&t);
	tiny_end(&t, "6.1.0-test");
	assert_int_equal(truncate(t.path, TINY_HEADER + TINY_ATTR + 8), 0);
	assert_null(read_recording_text(t.path, RELEASE));
	tiny_remove(&t);
	assert_null(read_recording_text("/dev/null", RELEASE));
}

UNIT(profile_recording_section, cmocka_unit_test(a_section_with_a_text),
     cmocka_unit_test(files_that_are_cut_off));
