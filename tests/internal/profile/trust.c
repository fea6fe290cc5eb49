/* SPDX-License-Identifier: MIT */
#include "profile/trust.h"
#include <sys/stat.h>
#include <unistd.h>
#include "units.h"

enum { USER = 4001, OTHER_USER = 4002 };

static void owners_of_processes(void **state)
{
	const struct trust ended = { .recorder = USER, .recorded = { .tv_sec = 1 } };
	struct trust now = trust_running();
	uint32_t pid = (uint32_t)getpid();

	(void)state;
	assert_int_equal(now.recorder, geteuid());
	assert_true(trust_owner_of_process(&now, pid, 0));
	assert_true(trust_owner_of_process(&now, pid, geteuid()));
	assert_false(trust_owner_of_process(&now, pid, OTHER_USER));
	now.recorder = OTHER_USER; /* this process runs, so that its own user counts */
	assert_true(trust_owner_of_process(&now, pid, geteuid()));
	assert_false(trust_owner_of_process(&now, pid, OTHER_USER));
	/* This process began long after 1970: another one had its number. */
	assert_true(trust_owner_of_process(&ended, pid, USER));
	assert_false(trust_owner_of_process(&ended, pid, OTHER_USER));
	assert_true(trust_owner_of_process(&ended, UINT32_MAX, USER));
	assert_true(trust_owner_of_process(&ended, UINT32_MAX, 0));
	assert_false(trust_owner_of_process(&ended, UINT32_MAX, OTHER_USER));
}

static void files_in_folders_of_all_users(void **state)
{
	const struct trust t = { .recorder = USER };
	struct stat st = { .st_uid = OTHER_USER };

	(void)state;
	assert_false(trust_file(&t, "/tmp/program", &st));
	assert_false(trust_file(&t, "program", &st));
	assert_false(trust_file(&t, "/nonexistent/program", &st));
	assert_true(trust_file(&t, "/usr/program", &st));
	st.st_uid = USER;
	assert_true(trust_file(&t, "/tmp/program", &st));
	st.st_uid = 0;
	assert_true(trust_file(&t, "/tmp/program", &st));
}

static void files_that_are_opened(void **state)
{
	const struct trust t = trust_recording("-");
	struct stat st;
	int fd = trust_open(&t, "/proc/self/exe", &st, NULL);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_true(trust_open(&t, "/nonexistent", &st, NULL) < 0);
	assert_true(trust_open(&t, "/dev/null", &st, NULL) < 0);
	assert_int_equal(trust_recording("/proc/self/exe").recorder, st.st_uid);
}

UNIT(profile_trust, cmocka_unit_test(owners_of_processes),
     cmocka_unit_test(files_in_folders_of_all_users), cmocka_unit_test(files_that_are_opened));
