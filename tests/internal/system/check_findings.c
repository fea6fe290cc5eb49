/* SPDX-License-Identifier: MIT */
/* Texts of findings, and the files that checks read. */
#include "check_fixture.h"
#include "system/system_check.h"

static void long_texts_are_cut(void **state)
{
	char text[FINDING_TEXT_SIZE], more[2 * FINDING_TEXT_SIZE];

	(void)state;
	memset(more, 'x', sizeof(more) - 1);
	more[sizeof(more) - 1] = '\0';
	pfmi_check_set_text(text, "%s", more);
	assert_int_equal(strlen(text), FINDING_TEXT_SIZE - 1);
}

static void numbers_and_keys_in_files(void **state)
{
	struct pfm_system_check c = { .n_findings = 0 };
	struct fake fake;
	char value[16];
	long n;

	(void)state;
	fake_begin(&fake);
	pfmi_machine_init_watched_sys(&c.sys, &fake.sys);
	fake_file(&fake, "/proc/n", "-1");
	fake_file(&fake, "/proc/words", "12 apples");
	fake_file(&fake, "/proc/keys", "CapEff2:\t1\nCapEff:\tff\nCapEff:\t0");
	assert_true(pfmi_check_read_number(&c, "/proc/n", &n));
	assert_int_equal(n, -1);
	assert_false(pfmi_check_read_number(&c, "/proc/words", &n));
	assert_false(pfmi_check_read_number(&c, "/proc/missing", &n));
	assert_true(pfmi_check_read_key(&c, "/proc/keys", "CapEff", value, sizeof(value)));
	assert_string_equal(value, "ff");
	assert_false(pfmi_check_read_key(&c, "/proc/keys", "Cap", value, sizeof(value)));
	fake_end(&fake);
}

UNIT(system_check_findings, cmocka_unit_test(long_texts_are_cut),
     cmocka_unit_test(numbers_and_keys_in_files));
