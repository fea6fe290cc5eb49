/* SPDX-License-Identifier: MIT */
/* Paths of the kernel below a root, and variables of our own. */
#include "libpfm4_internal.h"

static void paths_begin_with_the_root(void **state)
{
	const char *folder = l4_folder();
	char path[L4_PATH_SIZE], name[L4_PATH_SIZE + 1];

	(void)state;
	assert_true(l4_format_path(path, "/proc/%s%u", "cpu", 7u));
	assert_int_equal(strncmp(path, folder, strlen(folder)), 0);
	assert_string_equal(path + strlen(folder), "/proc/cpu7");
	memset(name, 'x', L4_PATH_SIZE);
	name[L4_PATH_SIZE] = '\0';
	assert_true(
		l4_format_path(path, "/%s", name)); /* there is a root, and no room for the path */
	assert_string_equal(path, "");
}

/* The first root stays: other threads build paths of it at any time. */
static void the_first_root_stays(void **state)
{
	const char *folder = l4_folder();
	char *before = getenv("PERFMON_SYSFS") ? strdup(getenv("PERFMON_SYSFS")) : NULL,
	     path[L4_PATH_SIZE];

	(void)state;
	setenv("PERFMON_SYSFS", "/elsewhere", 1);
	l4_read_root();
	l4_format_path(path, "/a");
	assert_int_equal(strncmp(path, folder, strlen(folder)), 0);
	assert_string_equal(path + strlen(folder), "/a");
	if (before)
		setenv("PERFMON_SYSFS", before, 1);
	else
		unsetenv("PERFMON_SYSFS");
	free(before);
}

static void a_variable_that_is_not_set_is_empty(void **state)
{
	(void)state;
	setenv("PERFMON_UNIT_PATH", "value", 1);
	assert_string_equal(l4_get_perfmon_variable("PERFMON_UNIT_PATH"), "value");
	unsetenv("PERFMON_UNIT_PATH");
	assert_string_equal(l4_get_perfmon_variable("PERFMON_UNIT_PATH"), "");
}

UNIT(compat_libpfm4_path, cmocka_unit_test(paths_begin_with_the_root),
     cmocka_unit_test(the_first_root_stays), cmocka_unit_test(a_variable_that_is_not_set_is_empty));
