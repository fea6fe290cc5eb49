/* SPDX-License-Identifier: MIT */
/* CPUs that go off and on line during a count: enabled time that stops, and growing lists. */
#include "units.h"
#include <string.h>
#include "machine/perf_abi.h"
#include "fake_session.h"

#define SECOND   1000000000u
#define ONLINE   "/sys/devices/system/cpu/online"
#define POSSIBLE "/sys/devices/system/cpu/possible"

static uint64_t on[8], groups_on[8]; /* enabled time of each CPU, and of a control group */

static void by_cpu(struct fake *f, struct fake_event *e)
{
	(void)f;
	assert_in_range(e->cpu, 0, 7);
	e->value = 1000;
	e->is_open = e->running = e->flags & PERF_FLAG_PID_CGROUP ? groups_on[e->cpu] : on[e->cpu];
}

static void all_for(uint64_t time)
{
	for (unsigned i = 0; i < COUNT(on); i++)
		on[i] = groups_on[i] = time;
}

/* Opens a session on the CPUs @online, or on those of @cpus, of a machine with eight possible
 * CPUs. */
static void open_on(const char *online, const char *possible, const char *cpus, const char *text)
{
	make_machine("uncore");
	fake_file(&fake, ONLINE, online);
	fake_file(&fake, POSSIBLE, possible);
	fake.tick = by_cpu;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = cpus;
	all_for(0);
	must_open(&text, 1);
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
}

static void expect_whole(unsigned i, bool whole)
{
	expect_count(i, whole ? PFM_QUALITY_EXACT : PFM_QUALITY_PARTIAL,
	             whole ? PFM_CAUSE_NONE : PFM_CAUSE_NO_CPU);
	if (!whole)
		expect_why(i, "came on line");
}

static void expect_now(bool whole)
{
	read_all();
	for (unsigned i = 0; i < pfm_session_size(session); i++)
		expect_whole(i, whole);
}

/* Lets @time pass, in which every started event counts. */
static void pass(uint64_t time)
{
	fake.clock_ns += time;
	for (unsigned i = 0; i < COUNT(on); i++)
		on[i] += time;
}

/* Tolerance of clocks over eight seconds: 40 ms and a 512th. */
#define DUE (8 * (uint64_t)SECOND - 40000000 - 8 * (uint64_t)SECOND / 512)

/* CPU 3 has only a part of eight seconds, with other CPUs and alone. */
static void time_stands_still(void **state)
{
	static const struct {
		uint64_t time;
		const char *online;
		bool whole;
	} rows[] = {
		{ 8 * (uint64_t)SECOND, "0-3", true },
		{ DUE, "0-3", true },
		{ DUE - 1, "0-3", false },
		{ DUE - 1, "0-2", true }, /* still away */
		{ DUE - 1, "x", false },
		{ 1, "3", false },
	};

	(void)state;
	for (size_t i = 0; i < 4 * COUNT(rows); i++) {
		open_on("0-3", "0-3", i & 1 ? "3" : "0-3", "cycles");
		pass(5 * (uint64_t)SECOND);
		if (i & 2)
			assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
		assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
		pass(3 * (uint64_t)SECOND);
		if (i & 2)
			assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
		on[3] = rows[i / 4].time;
		fake_file(&fake, ONLINE, rows[i / 4].online);
		expect_now(rows[i / 4].whole);
		pfmi_perf_check_hotplug(session);
		assert_int_equal(((const struct perf_state *)session->live.backend_state)
		                         ->hotplug.min_enabled_time,
		                 DUE);
		done(NULL);
	}
	/* CPU 3 has no time, and the other CPUs have. */
	open_on("0-3", "0-3", "0-3", "cycles");
	pass(SECOND);
	on[3] = 0;
	expect_now(false);
	done(NULL);
	/* A kernel without times does not say that a CPU is missing. */
	open_on("0-3", "0-3", "0-3", "cycles");
	fake.clock_ns += SECOND;
	read_all();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_TIME);
	done(NULL);
	/* Nor does a kernel whose times exceed the elapsed time. */
	open_on("0-3", "0-3", "0-3", "cycles");
	pass(SECOND);
	expect_now(true);
	on[2] = 1849 * (uint64_t)SECOND;
	read_all();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_OTHER);
	expect_why(0, "more time than has passed");
	assert_true(counts[0].enabled < 5 * (uint64_t)SECOND);
}

static uint64_t tasks_time;

static void by_task(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = 1000;
	e->is_open = e->running = tasks_time;
}

/* The tasks of an event can be on all four CPUs at once, and no longer than that. */
static void tasks_have_no_more_time_than_the_cpus(void **state)
{
	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		make_machine("uncore");
		fake_file(&fake, POSSIBLE, "0-3");
		fake_file(&fake, "/proc/42/status", "Name:\tx\nTgid:\t42");
		fake_file(&fake, "/proc/42/task/42/x", "");
		fake.tick = by_task;
		tasks_time = 0;
		options.pid = 42;
		options.flags = PFM_SESSION_INHERIT;
		must_open(TEXTS("cycles"));
		assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
		fake.clock_ns += SECOND;
		tasks_time = (4 + more) * (uint64_t)SECOND;
		read_all();
		if (!more) {
			expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		} else {
			expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_OTHER);
			expect_why(0, "more time than has passed");
			assert_non_null(strstr(is_about(0).evidence, "ns are possible"));
		}
		done(NULL);
	}
}

/* Each read of an event takes a tenth of a second. */
static void read_slowly(struct fake *f, struct fake_event *e)
{
	f->clock_ns += SECOND / 10;
	e->value = 1000;
	e->is_open = e->running = f->clock_ns;
}

/* Time between the start of a reading and an event is not missing time. */
static void readings_take_time(void **state)
{
	(void)state;
	open_on("0-3", "0-3", "0-3", "cycles");
	fake.clock_ns = 0;
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	fake.tick = read_slowly;
	for (unsigned i = 0; i < 3; i++) {
		fake.clock_ns += SECOND;
		read_all();
		expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	}
}

/* A late CPU stays missing after a reset; time outside start and stop is ignored. */
static void only_time_that_was_counted(void **state)
{
	(void)state;
	open_on("0-3", "0-3", "3", "cycles");
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(pfm_start_session(session),
		                 PFMLIB_SUCCESS); /* for the second time */
		pass(SECOND);
		assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
		fake.clock_ns += 60 * (uint64_t)SECOND;
		expect_now(true);
		if (i == 1)
			assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
		assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	}
	pass(SECOND);
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	fake.clock_ns += 41000000;
	read_all();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	expect_why(0, "came on line");
	on[3] += 1000;
	expect_now(false);
	pass(SECOND);
	expect_now(false);
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	pass(1000);
	expect_now(false);
	fake_file(&fake, ONLINE, "0-2"); /* off line again: it was on line in between */
	pass(SECOND);
	on[3] -= SECOND;
	expect_now(false);
}

static void notices_cpus_that_come_on_line(void **state)
{
	(void)state;
	open_on("0-3", "0-7", NULL, "cycles");
	pass(SECOND);
	expect_now(true);
	fake_file(&fake, ONLINE, "0-2"); /* one goes */
	expect_now(true);
	fake_file(&fake, ONLINE, "0-3,7");
	expect_now(false);
	fake_file(&fake, ONLINE, "0-3"); /* and is gone again */
	expect_now(false);
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	pass(SECOND);
	expect_now(false);
	done(NULL);
	/* The list cannot be read. */
	open_on("0-3", "0-7", NULL, "cycles");
	pass(SECOND);
	expect_now(true);
	fake_remove(&fake, ONLINE);
	expect_now(false);
}

static void others_do_not_matter(void **state)
{
	(void)state;
	/* There are no other CPUs, so no list is read. */
	open_on("0-3", "0-3", NULL, "cycles");
	pass(SECOND);
	expect_now(true);
	memset(fake.uses, 0, sizeof(fake.uses));
	expect_now(true);
	assert_int_equal(fake.uses[FAKE_OPEN], 0);
	done(NULL);
	/* The caller chose these CPUs. */
	open_on("0-3", "0-7", "0-3", "cycles");
	fake_file(&fake, ONLINE, "0-7");
	pass(SECOND);
	expect_now(true);
	done(NULL);
	/* An uncore event belongs to no CPU and counts all the time. */
	open_on("0-6", "0-7", NULL, "uncore_imc/clockticks/");
	fake_file(&fake, ONLINE, "0-7");
	pass(SECOND);
	expect_now(true);
	done(NULL);
	/* Each CPU has a count of its own. */
	make_machine("uncore");
	fake_file(&fake, ONLINE, "0-3");
	fake_file(&fake, POSSIBLE, "0-7");
	fake.tick = by_cpu;
	options.flags = PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU;
	all_for(0);
	must_open(TEXTS("cycles"));
	assert_int_equal(pfm_session_size(session), 4);
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake_file(&fake, ONLINE, "0-7");
	pass(SECOND);
	expect_now(true);
}

/* Each event of a CPU counts its own number. */
static void by_cpu_and_event(struct fake *f, struct fake_event *e)
{
	by_cpu(f, e);
	e->value = e->a.attr.config + 10 * (uint64_t)e->cpu;
}

/* Sums of software events 2 to 4, of four CPUs. */
static void expect_sums(bool whole)
{
	read_all();
	for (unsigned i = 0; i < 3; i++) {
		expect_whole(i, whole);
		assert_int_equal(counts[i].raw, 4 * (i + 2) + 10 * (0 + 1 + 2 + 3));
	}
}

/* The kernel dissolves the group of a CPU that goes off line: its events are read one by one. */
static void group_of_a_cpu_that_goes(void **state)
{
	(void)state;
	open_on("0-3", "0-3", NULL, "{page-faults,context-switches,cpu-migrations}");
	fake.tick = by_cpu_and_event;
	pass(SECOND);
	expect_sums(true);
	fake_file(&fake, ONLINE, "0-2");
	for (unsigned i = 0; i < fake.n_events; i++)
		if (fake.events[i].cpu == 3)
			fake.events[i].group = -1;
	pass(SECOND);
	on[3] -= SECOND;
	expect_sums(true);
	fake_file(&fake, ONLINE, "0-3");
	pass(SECOND);
	on[3] -= SECOND;
	expect_sums(false);
}

/* Events of a control group are enabled while the group runs on the CPU; other events go on. */
static void events_of_a_control_group_may_be_enabled_less(void **state)
{
	(void)state;
	make_machine("uncore");
	fake_file(&fake, "/sys/fs/cgroup/a", "");
	fake_file(&fake, ONLINE, "0-3");
	fake_file(&fake, POSSIBLE, "0-3");
	fake.tick = by_cpu;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cgroup = "/sys/fs/cgroup/a";
	all_for(0);
	must_open(TEXTS("cycles"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	pass(8 * (uint64_t)SECOND);
	groups_on[1] = 3 * (uint64_t)SECOND;
	expect_now(true);
	assert_true(counts[0].enabled == 3 * (uint64_t)SECOND);
	on[2] = DUE;
	expect_now(true);
	on[2] = DUE - 1;
	expect_now(false);
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, done)

UNIT(session_perf_hotplug, CASE(time_stands_still), CASE(readings_take_time),
     CASE(only_time_that_was_counted), CASE(notices_cpus_that_come_on_line),
     CASE(others_do_not_matter), CASE(group_of_a_cpu_that_goes),
     CASE(events_of_a_control_group_may_be_enabled_less),
     CASE(tasks_have_no_more_time_than_the_cpus));
