/* SPDX-License-Identifier: MIT */
/* Programs with more rights than the process that counts them: their time goes on, and their
 * events stop. */
#include "units.h"
#include "fake_session.h"

enum { KEY_SECURE = 23 };

/* The auxiliary vector of a program: one word of each is @id. */
static void put_program(uint64_t id, uint64_t is_secure)
{
	const uint64_t vector[] = { 3, id, KEY_SECURE, is_secure, 0, 0 };

	fake_bytes(&fake, "/proc/42/auxv", vector, sizeof(vector));
}

/* As put_program(), of 32 bits. */
static void put_small_program(uint32_t id, uint32_t is_secure)
{
	const uint32_t vector[] = { 3, id, KEY_SECURE, is_secure, 0, 0 };

	fake_bytes(&fake, "/proc/42/auxv", vector, sizeof(vector));
}

/* Opens a session on a process of two threads and follows its children. */
static void follow(void)
{
	make_machine("uncore");
	fake_file(&fake, "/proc/42/status", "Name:\tx\nTgid:\t42\nPid:\t42");
	fake_file(&fake, "/proc/42/task/42/x", "");
	fake_file(&fake, "/proc/42/task/45/x", "");
	put_program(1, 0);
	options.pid = 42;
	options.flags = PFM_SESSION_INHERIT;
}

/* The kernel removes the events of a task that executes a set-user-ID program; the task runs on
 * uncounted. */
static void check_more_rights(void (*put)(void))
{
	follow();
	must_open(TEXTS("cycles", "uncore_imc/clockticks/"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.n_taken = 12000000; /* the 2 ms in which both threads were counted, and a tick */
	for (unsigned i = 0; i < 2; i++) {
		read_all();
		expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	}
	fake.n_taken = 12000001;
	put();
	read_all();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_PERMISSION);
	expect_why(0, "process 42 ran for 0.012 s on CPUs but was counted for 0.002 s");
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE); /* the event does not count tasks */
	assert_int_equal(counts[0].value, event_text(1)->value + event_text(2)->value);
}

static void put_privileged_program(void)
{
	put_program(2, 1);
}

static void put_small_privileged_program(void)
{
	put_small_program(2, 1);
}

static void a_program_with_more_rights(void **state)
{
	(void)state;
	check_more_rights(put_privileged_program);
	assert_int_equal(done(NULL), 0);
	check_more_rights(put_small_privileged_program);
}

/* Each program has an auxiliary vector of its own: that it has changed proves no rights. */
static void a_program_with_equal_rights(void **state)
{
	(void)state;
	follow();
	must_open(TEXTS("cycles"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.n_taken = 12000001;
	put_program(2, 0);
	read_all();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_OTHER);
	put_small_program(3, 0);
	read_all();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_OTHER);
}

/* Missing time since the last reading is found even if the whole time is long enough. */
static void set_seen_time(struct fake *f, struct fake_event *e);

static void time_between_two_readings(void **state)
{
	(void)state;
	follow();
	fake.tick = set_seen_time;
	fake.number = 50000000; /* in each of two threads */
	must_open(TEXTS("cycles"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.n_taken += 80000000; /* births took the rest */
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	fake.n_taken += 10000000;
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	fake.n_taken += 10000001;
	read_all();
	/* The process runs its first program: more rights are not the cause. */
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_OTHER);
	expect_why(0, "the start and end of threads");
}

/* Each thread was counted as long as the test says. */
static void set_seen_time(struct fake *f, struct fake_event *e)
{
	e->value = 1000;
	e->is_open = e->running = (uint64_t)f->number;
}

/* Only the time in which the task is counted is compared. */
static void compares_counted_time_only(void **state)
{
	(void)state;
	follow();
	fake.tick = set_seen_time;
	fake.number = 1000000;
	fake.n_taken = 1000000000;
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	fake.n_taken *= 2;
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	fake.n_taken += 6000000;
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	fake.number += 1000000;
	fake.n_taken += 6000000;
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	fake.n_taken *= 2;
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	end_session();
	options.flags = 0; /* without inheritance new threads are not counted */
	must_open(TEXTS("cycles"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.n_taken *= 2;
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

/* Time counts up to the last stop, once however often the session is started; unknown time does
 * not count. */
static void counts_known_time_only(void **state)
{
	(void)state;
	follow();
	must_open(TEXTS("cycles"));
	fake.n_taken = 5;
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.n_taken = 12;
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS); /* it runs already */
	fake.n_taken = 15;
	assert_int_equal(pfmi_perf_read_process_time(session), 10);
	session->sys.get_process_time = NULL;
	assert_int_equal(pfmi_perf_read_process_time(session), 0);
	session->sys.get_process_time = fake.sys.get_process_time;
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	fake.n_taken = 99;
	assert_int_equal(pfmi_perf_read_process_time(session), 10);
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	assert_int_equal(pfmi_perf_read_process_time(session), 0);
}

/* The thread of an event runs for @number nanoseconds before each reading of the event. */
static void run_while_reading(struct fake *f, struct fake_event *e)
{
	f->n_taken += (uint64_t)f->number;
	e->value = 1000;
	e->is_open = e->running = f->n_taken / 2;
}

/* The process goes on while its counts are read, on a busy machine for long. */
static void time_while_counts_are_read(void **state)
{
	(void)state;
	follow();
	fake.tick = run_while_reading;
	must_open(TEXTS("cycles"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.number = 10000000;
	fake.n_taken++;
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	fake.number = 0;
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

/* Two groups that take turns: the process was counted by one or the other all the time. */
static void groups_that_take_turns(void **state)
{
	static const unsigned turns[] = { 1, 1 };
	static const unsigned char on[] = { 1, 0 };

	(void)state;
	follow();
	fake.tick = set_seen_time;
	fake.number = 20000000; /* of each event, in each of two threads */
	must_open(TEXTS("cycles", "instructions"));
	assert_int_equal(pfm_select_groups(session, turns, on, 2), PFMLIB_SUCCESS);
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fake.n_taken += 90000000; /* and a tick */
	read_all();
	expect_count(0, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	expect_count(1, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	fake.n_taken += 1;
	read_all();
	expect_count(1, PFM_QUALITY_PARTIAL, PFM_CAUSE_OTHER);
}

static int (*fast_ioctl)(const struct sys *sys, int fd, unsigned long request, void *arg);

static int slow_ioctl(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	fake.clock_ns += 1000;
	return fast_ioctl(sys, fd, request, arg);
}

/* Each CPU stops a group and starts another, a microsecond each: half of the time of all belongs to
 * neither, on each of them. */
static void time_while_groups_are_switched(void **state)
{
	static const unsigned turns[] = { 1, 1 };
	unsigned n;

	(void)state;
	make_machine("uncore");
	options = (pfm_session_options_t){ .size = sizeof(options),
		                           .flags = PFM_SESSION_SYSTEM_WIDE };
	fake.tick = set_seen_time;
	fake.number = 1000000; /* of each event */
	must_open(TEXTS("cycles", "instructions"));
	assert_int_equal(pfm_select_groups(session, turns, (const unsigned char[]){ 1, 0 }, 2),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	fast_ioctl = session->sys.ioctl;
	session->sys.ioctl = slow_ioctl;
	assert_int_equal(pfm_select_groups(session, turns, (const unsigned char[]){ 0, 1 }, 2),
	                 PFMLIB_SUCCESS);
	read_all();
	n = session->counts[0].kernel_state.n_open;
	assert_true(n > 1);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(counts[i].enabled, n * (2 * 1000000 + n * 1000));
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	read_all();
	assert_int_equal(counts[0].enabled, 0);
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, done)

UNIT(session_perf_permissions, CASE(a_program_with_more_rights), CASE(a_program_with_equal_rights),
     CASE(time_between_two_readings), CASE(compares_counted_time_only),
     CASE(counts_known_time_only), CASE(time_while_counts_are_read), CASE(groups_that_take_turns),
     CASE(time_while_groups_are_switched));
