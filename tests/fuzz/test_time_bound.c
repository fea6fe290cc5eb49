/* SPDX-License-Identifier: MIT */
/* The bound on the time of a fuzz harness: an input that takes time with the square of its size
 * ends the harness, one that takes time with its size does not. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "time_bound.h"

enum { SMALL = 400, LARGE = 4000 };

static bool is_slow;
static uint8_t input[LARGE];

/* Processor time that passed, in microseconds: it is simulated, so that the test costs none. */
static uint64_t passed_us;

int __wrap_getrusage(int who, struct rusage *usage);
int __wrap_getrusage(int who, struct rusage *usage)
{
	assert_int_equal(who, RUSAGE_SELF);
	*usage = (struct rusage){
		.ru_utime = { .tv_sec = (time_t)(passed_us / 1000000),
		              .tv_usec = (suseconds_t)(passed_us % 1000000) },
	};
	return 0;
}

/* A byte costs a microsecond, or a fifth of one for each byte of the input. */
int try_input(const uint8_t *data, size_t size)
{
	(void)data;
	passed_us += is_slow ? size * size / 5 : size;
	return 0;
}

/* The signal that ended a process which tries @size bytes; 0: it ended well. */
static int end_of(size_t size)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		_exit(LLVMFuzzerTestOneInput(input, size));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status));
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void time_with_the_size_passes(void **state)
{
	(void)state;
	is_slow = false;
	assert_int_equal(end_of(SMALL), 0);
	assert_int_equal(end_of(LARGE), 0);
}

static void time_with_the_square_fails(void **state)
{
	(void)state;
	is_slow = true;
	assert_int_equal(end_of(SMALL), 0);
	assert_int_equal(end_of(LARGE), SIGABRT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_with_the_size_passes),
		cmocka_unit_test(time_with_the_square_fails),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("time bound", tests, NULL, NULL);
}
