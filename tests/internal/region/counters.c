/* SPDX-License-Identifier: MIT */
/* A thread's counters: readings of groups, rounds, and what the kernel refuses. */
#include "made_regions.h"
#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>

static void group_reading_has_times_and_counts(void **state)
{
	struct made_regions m;
	uint64_t out[WORDS];

	(void)state;
	make_regions(&m);
	add_reading(&m, 100, 90, 11, 12);
	add_reading(&m, 200, 190, 21, 22);
	pfmi_thread_read_counters(&m.thread, out);
	assert_true(out[GROUP_NR] == 2 && out[GROUP_ENABLED] == 100 && out[GROUP_RUNNING] == 90);
	assert_true(out[GROUP_VALUES] == 11 && out[GROUP_VALUES + 1] == 12);
	pfmi_thread_read_counters(&m.thread, out);
	assert_true(out[GROUP_ENABLED] == 200 && out[GROUP_VALUES + 1] == 22);
	errno = EDOM;
	pfmi_thread_read_counters(&m.thread, out); /* at the end of the file: nothing is read */
	assert_int_equal(out[GROUP_NR], 0);
	assert_int_equal(errno, EDOM);
	m.fds[0] = -1; /* not opened */
	out[GROUP_NR] = 2;
	pfmi_thread_read_counters(&m.thread, out);
	assert_int_equal(out[GROUP_NR], 0);
	unmake_regions(&m);
}

/* An event of the whole machine: the sum over its CPUs. */
static void system_event_sums_its_cpus(void **state)
{
	const uint64_t one[] = { 1, 100, 90, 5 }, two[] = { 1, 10, 9, 7 };
	FILE *a = tmpfile(), *b = tmpfile();
	int fds[2];
	struct made_regions m;
	uint64_t out[WORDS] = { 0 };

	(void)state;
	assert_true(a && b);
	fds[0] = fileno(a);
	fds[1] = fileno(b);
	assert_int_equal(pwrite(fds[0], one, sizeof(one), 0), sizeof(one));
	assert_int_equal(pwrite(fds[1], two, sizeof(two), 0), sizeof(two));
	make_regions(&m);
	m.group.n = 1;
	m.group.n_system = 2;
	m.group.system_fds = fds;
	pfmi_thread_read_counters(&m.thread, out);
	assert_true(out[GROUP_NR] == 1 && out[GROUP_ENABLED] == 110 && out[GROUP_RUNNING] == 99 &&
	            out[GROUP_VALUES] == 12);
	pfmi_thread_read_counters(&m.thread, out);
	assert_int_equal(out[GROUP_NR], 0);
	unmake_regions(&m);
	fclose(a);
	fclose(b);
}

static void rounds_take_turns(void **state)
{
	struct made_regions m;
	struct round rounds[2];

	(void)state;
	make_regions(&m);
	rounds[0] = rounds[1] = m.round;
	pfmi_regions.layout.rounds = rounds;
	pfmi_regions.layout.n_rounds = 2;
	errno = EDOM;
	pfmi_thread_switch_round(&m.thread, 0);
	assert_true(m.thread.round == 0 && m.thread.generation == 1);
	pfmi_thread_switch_round(&m.thread, 1); /* visits that are open are not whole */
	assert_true(m.thread.round == 1 && m.thread.generation == 2);
	assert_int_equal(errno, EDOM);
	unmake_regions(&m);
}

/* Events that no kernel has: the thread is opened, and its groups are not there. */
static void refused_events_leave_empty_groups(void **state)
{
	struct made_regions m;

	(void)state;
	make_regions(&m);
	m.events[0].attr.type = 0x7fffffff;
	assert_true(pfmi_region_open_event(&m.events[0].attr, 0, -1, -1, true) < 0);
	m.thread.opened = false;
	pfmi_thread_open_counters(&m.thread);
	assert_true(m.thread.opened && m.thread.generation == 2 && m.thread.open_errno > 0);
	assert_true(m.fds[0] == -1 && m.fds[1] == -1);
	pfmi_thread_close_counters(&m.thread);
	assert_false(m.thread.opened);
	unmake_regions(&m);
}

/* Drivers count only members that are enabled when they check whether a group fits. */
static void a_disabled_leader_has_enabled_members(void **state)
{
	struct region_event events[2] = {
		{ .attr = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS } },
		{ .attr = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK } },
	};
	unsigned numbers[] = { 0, 1 };
	const struct group g = { .events = numbers, .n = 2 };
	uint64_t reading[5];
	int fds[2];

	(void)state;
	/* Whether a group fits is tried with all of it enabled. */
	if (pfmi_region_open_group(events, &g, true, fds))
		skip();
	for (clock_t end = clock() + CLOCKS_PER_SEC / 1000; clock() < end;)
		;
	assert_int_equal(read(fds[0], reading, sizeof(reading)), sizeof(reading));
	assert_true(reading[1] > 0);
	close(fds[1]);
	close(fds[0]);
	assert_int_equal(pfmi_region_open_group(events, &g, false, fds), 0);
	assert_int_equal(read(fds[0], reading, sizeof(reading)), sizeof(reading));
	assert_true(reading[0] == 2 && reading[1] == 0); /* no time: the leader is off */
	assert_int_equal(ioctl(fds[0], PERF_EVENT_IOC_ENABLE, 0), 0); /* without its group */
	for (clock_t end = clock() + CLOCKS_PER_SEC / 1000; clock() < end;)
		;
	assert_int_equal(read(fds[0], reading, sizeof(reading)), sizeof(reading));
	assert_true(reading[1] > 0 && reading[4] > 0);
	close(fds[1]);
	close(fds[0]);
}

static void wall_clock_advances(void **state)
{
	uint64_t first = pfmi_region_get_wall_time(), second;

	(void)state;
	usleep(1000); /* the time that is measured */
	second = pfmi_region_get_wall_time();
	assert_true(second >= first + 1000000);
}

UNIT(region_counters, cmocka_unit_test(group_reading_has_times_and_counts),
     cmocka_unit_test(system_event_sums_its_cpus), cmocka_unit_test(rounds_take_turns),
     cmocka_unit_test(refused_events_leave_empty_groups),
     cmocka_unit_test(a_disabled_leader_has_enabled_members),
     cmocka_unit_test(wall_clock_advances));
