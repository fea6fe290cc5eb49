/* SPDX-License-Identifier: MIT */
#include "base/child.h"
#include "units.h"
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

static void a_child_starts_its_program_when_it_is_told_to(void **state)
{
	char *argv[] = { "sh", "-c", "exit 7", NULL };
	struct child c;
	int status;

	(void)state;
	assert_int_equal(base_fork_child(argv, NULL, &c), 0);
	assert_int_equal(waitpid(c.pid, &status, WNOHANG), 0);
	assert_int_equal(base_start_child(&c), 0);
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void a_failure_of_exec_is_an_errno_and_leaves_no_child(void **state)
{
	char *argv[] = { "/nonexistent/program", NULL };
	struct child c;

	(void)state;
	assert_int_equal(base_fork_child(argv, NULL, &c), 0);
	assert_int_equal(base_start_child(&c), ENOENT);
	assert_int_equal(c.pid, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void a_discarded_child_runs_no_program(void **state)
{
	char *argv[] = { "false", NULL };
	struct child c, none = { .pid = 0 };

	(void)state;
	assert_int_equal(base_fork_child(argv, NULL, &c), 0);
	base_discard_child(&c);
	base_discard_child(&c);
	base_discard_child(&none);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Its pipe has no reader then, unless the parent keeps that end open. */
static void starting_a_killed_child_raises_no_signal(void **state)
{
	char *argv[] = { "true", NULL };
	siginfo_t info;
	struct child c;
	int status;

	(void)state;
	assert_int_equal(base_fork_child(argv, NULL, &c), 0);
	kill(c.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)c.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(base_start_child(&c), 0);
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void a_program_starts_with_the_mask_of_its_caller(void **state)
{
	char *argv[] = { "sh", "-c", "kill -USR1 $$; exit 3", NULL };
	sigset_t blocked, none;
	struct child c;
	int status;

	(void)state;
	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	assert_int_equal(base_fork_child(argv, &none, &c), 0);
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	assert_int_equal(base_start_child(&c), 0);
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
}

enum { SLOW_FORK_NS = 20000000 };
static bool is_fork_slow;

static void spend_processor_time(void)
{
	struct timespec t = { .tv_sec = 0 };

	while (is_fork_slow && t.tv_sec == 0 && t.tv_nsec < SLOW_FORK_NS)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
}

/* The processor time of a child includes what it does before its program starts. */
static void the_time_before_exec_is_known(void **state)
{
	char *argv[] = { "true", NULL };
	struct child c;

	(void)state;
	assert_int_equal(pthread_atfork(NULL, NULL, spend_processor_time), 0);
	is_fork_slow = true;
	assert_int_equal(base_fork_child(argv, NULL, &c), 0);
	is_fork_slow = false;
	assert_int_equal(base_start_child(&c), 0);
	assert_true(c.time_before_exec >= SLOW_FORK_NS);
	base_discard_child(&c);
}

UNIT(base_child, cmocka_unit_test(a_child_starts_its_program_when_it_is_told_to),
     cmocka_unit_test(a_failure_of_exec_is_an_errno_and_leaves_no_child),
     cmocka_unit_test(a_discarded_child_runs_no_program),
     cmocka_unit_test(starting_a_killed_child_raises_no_signal),
     cmocka_unit_test(the_time_before_exec_is_known),
     cmocka_unit_test(a_program_starts_with_the_mask_of_its_caller));
