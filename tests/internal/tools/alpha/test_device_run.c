/* SPDX-License-Identifier: MIT */
/* pfm device: a program that opens /dev/pfcntr and issues requests itself, dynamic and static,
 * served by the model. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <perfmon/perfmon.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "alpha/model.h"
#include "alpha/program_counter.h"
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

/* Samples of the program and of its child while it waits, which are not those of a request. */
static void a_range_of_addresses_has_samples_of_the_program(void **state)
{
	pfm_error_t why = PFM_INIT(why);
	pfm_session_t *permitted = open_program_counter(getpid(), &why);
	int status;

	(void)state;
	if (!permitted)
		skip();
	pfm_close_session(permitted);
	status = run_program("device_program", "profile");
	if (status == CANNOT_RUN)
		skip();
	assert_int_equal(status, 0);
}

/* Makes perf_event_open() fail in this process. */
static bool forbid_perf_events(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof code / sizeof code[0], code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void missing_samples_are_reported(void **state)
{
	FILE *said = tmpfile();
	char text[512] = "";
	int status = 0;
	pid_t child;

	(void)state;
	assert_non_null(said);
	child = fork();
	if (child == 0) {
		if (dup2(fileno(said), STDERR_FILENO) < 0 || !forbid_perf_events())
			_exit(CANNOT_RUN);
		_exit(run_program("device_program", "requests"));
	}
	assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	rewind(said);
	(void)!fread(text, 1, sizeof text - 1, said);
	fclose(said);
	if (WEXITSTATUS(status) == CANNOT_RUN)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_non_null(strstr(text, "pfm alpha device: cannot sample the program counter: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dynamic_program_finds_the_device),
		cmocka_unit_test(a_static_program_finds_the_device),
		cmocka_unit_test(a_source_of_tru64_compiles_and_counts),
		cmocka_unit_test(the_exit_status_is_the_programs),
		cmocka_unit_test(reports_missing_program),
		cmocka_unit_test(a_range_of_addresses_has_samples_of_the_program),
		cmocka_unit_test(missing_samples_are_reported),
	};

	return cmocka_run_group_tests_name("pfm device", tests, NULL, NULL);
}
