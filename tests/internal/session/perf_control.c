/* SPDX-License-Identifier: MIT */
/* The order in which events are started and stopped, also after failures. */
#include "kernel_events.h"

static struct {
	int fd;
	unsigned long request;
} commands[16];
static unsigned n_commands;
static int fails_fd, fails_with, interrupted;

static int noted_ioctl(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	(void)sys;
	assert_null(arg);
	assert_true(n_commands < COUNT(commands));
	commands[n_commands].fd = fd;
	commands[n_commands++].request = request;
	if (interrupted && interrupted--)
		return -EINTR;
	return fd == fails_fd ? fails_with : 0;
}

static void expect_commands(const char *what, const int *fds)
{
	for (unsigned i = 0; what[i]; i++) {
		unsigned long request =
			what[i] == '+' ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

		if (i >= n_commands || commands[i].request != request || commands[i].fd != fds[i])
			fail_msg("command %u of %u", i, n_commands);
	}
	assert_int_equal(n_commands, strlen(what));
	n_commands = 0;
}

/* Time reference events start before the other events and stop after them. */
static void starts_references_first(void **state)
{
	int w, a, b;

	(void)state;
	n_commands = 0;
	fails_fd = -1;
	interrupted = 0;
	add_part(0, -1, true, 42, 0);
	add_part(1, 0, true, 42, 0);
	add_part(2, -1, false, -1, 0);
	watch(0, 0, 0);
	watch(1, 0, 0);
	witnesses[1].is_needed = false;
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	s->sys.ioctl = noted_ioctl;
	w = witnesses[0].fd;
	a = parts[0].fd;
	b = parts[2].fd;
	interrupted = 3;
	assert_int_equal(pfmi_perf_start_counting(s), PFMLIB_SUCCESS);
	expect_commands("++++++", (const int[]){ w, w, w, w, a, b });
	assert_int_equal(pfmi_perf_stop_counting(s), PFMLIB_SUCCESS);
	expect_commands("---", (const int[]){ a, b, w });
	/* With ENABLE_ON_EXEC events of the program start at its exec; events of CPUs start now. */
	s->options.flags = PFM_SESSION_ENABLE_ON_EXEC;
	assert_int_equal(pfmi_perf_start_counting(s), PFMLIB_SUCCESS);
	expect_commands("+", (const int[]){ b });
	assert_int_equal(pfmi_perf_stop_counting(s), PFMLIB_SUCCESS);
	expect_commands("---", (const int[]){ a, b, w });
	parts[2].pid = 0; /* of the caller itself */
	assert_int_equal(pfmi_perf_start_counting(s), PFMLIB_SUCCESS);
	expect_commands("", NULL);
	parts[2].pid = -1;
	/* If one event fails to start, all are tried and then stopped, and the first error is
	 * returned. */
	s->options.flags = 0;
	fails_fd = a;
	fails_with = -EACCES;
	assert_int_equal(pfmi_perf_start_counting(s), PFMLIB_ERR_PERM);
	expect_commands("+++---", (const int[]){ w, a, b, a, b, w });
	assert_int_equal(s->sys_errno, EACCES);
	fails_with = -EIO;
	assert_int_equal(pfmi_perf_stop_counting(s), PFMLIB_ERR_SYS);
	expect_commands("---", (const int[]){ a, b, w });
	assert_int_equal(s->sys_errno, EIO);
	fails_fd = w;
	assert_int_equal(pfmi_perf_stop_counting(s), PFMLIB_ERR_SYS);
	assert_int_equal(n_commands, 3);
}

UNIT(session_perf_control, CASE(starts_references_first));
