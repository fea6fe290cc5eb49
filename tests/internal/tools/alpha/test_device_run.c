/* SPDX-License-Identifier: MIT */
/* pfm device: a program that opens /dev/pfcntr and issues requests itself, dynamic and static,
 * served by the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "alpha/model.h"
#include "alpha/session.h"

enum { CANNOT_RUN = 126, NOT_FOUND = 127 };

static int run_on(enum alpha_device_family family, const char *program, const char *word)
{
	const char *build = getenv("PERFMON_BUILD");
	char path[4096], arg[32];
	char *argv[] = { path, arg, NULL };
	struct alpha_device_options options;

	snprintf(path, sizeof path, "%s/tests/%s", build ? build : ".", program);
	snprintf(arg, sizeof arg, "%s", word);
	if (access(path, X_OK))
		skip(); /* not built here */
	alpha_device_set_defaults(&options, family);
	return run_with_device(&options, argv);
}

static int run_program(const char *program, const char *word)
{
	return run_on(ALPHA_DEVICE_EV5, program, word);
}

/* Kernels before 5.9, and containers that forbid it, have no user notification. */
static void expect_success(const char *program)
{
	int status = run_program(program, "all");

	if (status == CANNOT_RUN)
		skip();
	assert_int_equal(status, 0); /* else the number of the check that failed */
}

static void a_dynamic_program_finds_the_device(void **state)
{
	(void)state;
	expect_success("device_program");
}

static void a_static_program_finds_the_device(void **state)
{
	(void)state;
	expect_success("device_program_static");
}

static void a_source_of_tru64_compiles_and_counts(void **state)
{
	static const struct {
		enum alpha_device_family family;
		const char *name;
	} models[] = { { ALPHA_DEVICE_EV4, "ev4" },
		       { ALPHA_DEVICE_EV5, "ev5" },
		       { ALPHA_DEVICE_EV6, "ev6" } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof models / sizeof *models; i++) {
		int status = run_on(models[i].family, "tru64_program", models[i].name);

		if (status == CANNOT_RUN)
			skip();
		assert_int_equal(status, 0);
	}
}

static void the_exit_status_is_the_programs(void **state)
{
	(void)state;
	if (run_program("device_program", "status") == CANNOT_RUN)
		skip();
	assert_int_equal(run_program("device_program", "status"), 42);
	assert_int_equal(run_program("device_program", "abort"), 128 + 6);
}

static void reports_missing_program(void **state)
{
	char name[] = "/nowhere/at/all";
	char *argv[] = { name, NULL };
	struct alpha_device_options options;
	int status;

	(void)state;
	alpha_device_set_defaults(&options, ALPHA_DEVICE_EV4);
	status = run_with_device(&options, argv);
	if (status == CANNOT_RUN)
		skip();
	assert_int_equal(status, NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dynamic_program_finds_the_device),
		cmocka_unit_test(a_static_program_finds_the_device),
		cmocka_unit_test(a_source_of_tru64_compiles_and_counts),
		cmocka_unit_test(the_exit_status_is_the_programs),
		cmocka_unit_test(reports_missing_program),
	};

	return cmocka_run_group_tests_name("pfm device", tests, NULL, NULL);
}
