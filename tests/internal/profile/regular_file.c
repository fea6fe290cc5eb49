/* SPDX-License-Identifier: MIT */
#include "profile/regular_file.h"
#include <sys/stat.h>
#include <unistd.h>
#include "units.h"

static void only_regular_files_are_opened(void **state)
{
	char folder[] = P_tmpdir "/perfmon-file-XXXXXX", pipe[64];
	struct stat st;
	int fd = open_regular_file("/proc/self/exe", &st);

	(void)state;
	assert_true(fd >= 0);
	assert_true(st.st_size > 0);
	close(fd);
	assert_non_null(mkdtemp(folder));
	snprintf(pipe, sizeof(pipe), "%s/pipe", folder);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(open_regular_file(pipe, &st), -1); /* without a writer: does not wait */
	assert_int_equal(open_regular_file(folder, &st), -1);
	assert_int_equal(open_regular_file("/dev/null", &st), -1);
	unlink(pipe);
	rmdir(folder);
	assert_int_equal(open_regular_file(folder, &st), -1);
}

UNIT(profile_regular_file, cmocka_unit_test(only_regular_files_are_opened));
