/* SPDX-License-Identifier: MIT */
/* Restrictions of each kind of event; test_live.c counts with each of them. */
#include <errno.h>
#include "built_session.h"

static bool is_counted(const char *text)
{
	begin_session();
	s->options.flags = options.flags;
	s->live.policy_backend = &pfmi_perf_backend;
	assert_int_equal(pfmi_session_add_text(&opening, text), PFMLIB_SUCCESS);
	assert_int_equal(s->n_counts, 1);
	return s->counts[0].status.cause == PFM_CAUSE_NONE;
}

static void software_events_have_levels_but_no_guests(void **state)
{
	(void)state;
	use("uncore");
	assert_true(is_counted("page-faults:u") && is_counted("page-faults:k"));
	assert_true(is_counted("context-switches:k") && !is_counted("context-switches:u"));
	assert_false(is_counted("page-faults:G") || is_counted("page-faults:H"));
	assert_false(is_counted("page-faults:I") || is_counted("task-clock:k"));
	assert_true(is_counted("mem:0x1000:w:u"));
	assert_false(is_counted("mem:0x1000:w:uG") || is_counted("mem:0x1000:w:uI"));
}

/* x86 drivers read no exclude_idle: only tasks are never idle. */
static void idle_time_of_cpus_is_counted_on_x86(void **state)
{
	(void)state;
	use("uncore");
	assert_true(is_counted("cycles:I") && is_counted("cycles:G") && is_counted("cycles:H"));
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	assert_false(is_counted("cycles:I"));
	assert_true(is_counted("cycles:H"));
	assert_non_null(strstr(s->counts[0].config.name, "cycles"));
}

/* The kernel takes the event from a raw value, and the levels from elsewhere. */
static void levels_in_a_raw_value_are_not_ignored(void **state)
{
	(void)state;
	use("uncore");
	assert_true(is_counted("r3c") && is_counted("r53003c") && is_counted("r3c:u"));
	assert_false(is_counted("r41003c") || is_counted("r42003c:u"));
	assert_true(is_counted("r41003c:u") && is_counted("r42003c:k"));
	assert_false(is_counted("cpu/config=0x41003c/"));
	assert_true(is_counted("L1-dcache-load-misses")); /* a number of the kernel's, 0x10000 */
	assert_true(is_counted("cpu/config=0x41003c/u"));
}

UNIT(session_restrictions, CASE(software_events_have_levels_but_no_guests),
     CASE(idle_time_of_cpus_is_counted_on_x86), CASE(levels_in_a_raw_value_are_not_ignored));
