/* SPDX-License-Identifier: MIT */
/* Spawned programs are counted from their first instruction; failures leave no process and no
 * file. */
#include "units.h"
#include <dirent.h>
#include <errno.h>
#include <sys/wait.h>
#include <perfmon/spawn.h>

static unsigned count_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void programs_are_counted_from_their_start(void **state)
{
	char *argv[] = { "sh", "-c", "exit 7", NULL };
	const char *const texts[] = { "page-faults:u" };
	pfm_session_t *s;
	pfm_count_t count = PFM_INIT(count);
	pfm_count_info_t info = PFM_INIT(info);
	unsigned before = count_files();
	int pid, status;

	(void)state;
	assert_int_equal(pfm_spawn_session(&s, NULL, NULL, texts, 1, argv, &pid, NULL),
	                 PFMLIB_SUCCESS);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	assert_int_equal(pfm_read_session(s, &count, 1), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_count(s, 0, &info), PFMLIB_SUCCESS);
	if (count.quality == PFM_QUALITY_NOT_SUPPORTED) {
		pfm_close_session(s);
		skip(); /* the kernel does not allow counting */
	}
	/* A shell has some ten page faults when it starts; those of its parent are not counted. */
	assert_int_equal(count.quality, PFM_QUALITY_EXACT);
	assert_true(count.value > 5 && count.value < 5000);
	pfm_close_session(s);
	assert_int_equal(count_files(), before);
}

static void failures_leave_no_process_and_no_file(void **state)
{
	char *missing[] = { "/nonexistent/program", NULL }, *good[] = { "true", NULL },
	     *empty[] = { NULL };
	const char *const texts[] = { "page-faults:u" }, *const bad[] = { "no-such-event" };
	pfm_session_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *s;
	unsigned before = count_files();
	int pid;

	(void)state;
	assert_int_equal(pfm_spawn_session(&s, NULL, NULL, texts, 1, missing, &pid, &error),
	                 PFMLIB_ERR_SYS);
	assert_int_equal(error.sys_errno, ENOENT);
	assert_true(s == NULL && pid == 0);
	assert_int_equal(pfm_spawn_session(&s, NULL, NULL, bad, 1, good, &pid, &error),
	                 PFMLIB_ERR_NOTFOUND);
	assert_true(s == NULL && pid == 0);
	assert_int_equal(pfm_spawn_session(&s, NULL, NULL, texts, 1, empty, &pid, NULL),
	                 PFMLIB_ERR_INVAL);
	options.pid = 1;
	assert_int_equal(pfm_spawn_session(&s, NULL, &options, texts, 1, good, &pid, NULL),
	                 PFMLIB_ERR_INVAL);
	options.pid = 0;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	assert_int_equal(pfm_spawn_session(&s, NULL, &options, texts, 1, good, &pid, NULL),
	                 PFMLIB_ERR_INVAL);
	/* No child is left to wait for. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(count_files(), before);
}

UNIT(sampling_spawn_session, cmocka_unit_test(programs_are_counted_from_their_start),
     cmocka_unit_test(failures_leave_no_process_and_no_file));
