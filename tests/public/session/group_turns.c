/* SPDX-License-Identifier: MIT */
/* Groups that take turns, on a kernel whose events count 5 a microsecond while they are enabled. */
#include "units.h"
#include <errno.h>
#include <perfmon/perfmon.h>
#include "fake_session.h"

static void keep_numbers(struct fake *f, struct fake_event *e)
{
	(void)f;
	(void)e;
}

static bool is_counting(const struct fake_event *e)
{
	return e->used && (e->group < 0 ? e : fake_event(&fake, e->group))->enabled;
}

static void pass_time(uint64_t us)
{
	fake.clock_ns += us * 1000;
	for (unsigned i = 0; i < fake.n_events; i++) {
		struct fake_event *e = &fake.events[i];

		if (!is_counting(e))
			continue;
		e->is_open += us * 1000;
		e->running += us * 1000;
		e->value += 5 * us;
	}
}

static unsigned turn_number = 1;

/* The groups of texts 1 and 2 take turns, on each CPU; that of text 0 counts always. */
static void select_group(unsigned which)
{
	unsigned turns[64] = { 0 };
	unsigned char on[64] = { 0 };

	for (unsigned i = 0; i < pfm_session_size(session); i++) {
		const pfm_count_info_t about = is_about(i);

		turns[about.group] = about.request > 0 ? turn_number : 0;
		on[about.group] = about.request == which;
	}
	assert_int_equal(pfm_select_groups(session, turns, on, 64), PFMLIB_SUCCESS);
}

static unsigned count_running_events(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < fake.n_events; i++)
		n += is_counting(&fake.events[i]);
	return n;
}

static unsigned count_members(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < fake.n_events; i++)
		n += fake.events[i].used && fake.events[i].group >= 0;
	return n;
}

static void open_groups(unsigned flags)
{
	make_machine("uncore");
	fake.tick = keep_numbers;
	fake.clock_ns = 1000000000;
	options = (pfm_session_options_t){ .size = sizeof(options), .flags = flags };
	must_open(TEXTS("page-faults", "{context-switches,cpu-migrations}", "minor-faults"));
	select_group(1);
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
}

/* 3 ms for group 1, 1 ms for group 2: each value is that of 4 ms. */
static void shares_of_time(unsigned flags, unsigned n_cpus)
{
	open_groups(flags);
	assert_int_equal(count_running_events(), 3 * n_cpus);
	pass_time(1000);
	select_group(2);
	assert_int_equal(count_running_events(), 2 * n_cpus);
	pass_time(1000);
	select_group(1);
	pass_time(2000);
	read_all();
	for (unsigned i = 0; i < pfm_session_size(session); i++) {
		const pfm_count_info_t about = is_about(i);
		bool always = strcmp(about.name, "page-faults") == 0,
		     rare = strcmp(about.name, "minor-faults") == 0;
		uint64_t places = flags & PFM_SESSION_PER_CPU ? 1 : n_cpus;

		expect_count(i, always ? PFM_QUALITY_EXACT : PFM_QUALITY_SCALED,
		             always ? PFM_CAUSE_NONE : PFM_CAUSE_MULTIPLEXED);
		assert_int_equal(counts[i].enabled, 4000000 * places);
		assert_int_equal(counts[i].running, (always ? 4000000
		                                     : rare ? 1000000
		                                            : 3000000) *
		                                            places);
		assert_int_equal(counts[i].raw, counts[i].running / 200);
		assert_int_equal(counts[i].value, 20000 * places);
	}
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	assert_int_equal(count_running_events(), 0);
	/* Groups that waited for their turn still wait. */
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	assert_int_equal(count_running_events(), 3 * n_cpus);
	end_session();
}

static unsigned count_machine_cpus(void)
{
	unsigned cpus = 0;

	open_groups(PFM_SESSION_SYSTEM_WIDE);
	cpus = fake_open_events(&fake) / 4;
	end_session();
	return cpus;
}

static void on_every_cpu(void **state)
{
	unsigned n = count_machine_cpus();

	(void)state;
	assert_true(n > 1);
	done(NULL);
	shares_of_time(PFM_SESSION_SYSTEM_WIDE, n);
	done(NULL);
	shares_of_time(PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU, n);
}

static void of_a_task(void **state)
{
	(void)state;
	shares_of_time(0, 1);
}

/* Software events share kernel groups until some of them take turns. */
static void software_events_share_groups_until_turns_begin(void **state)
{
	const unsigned always[3] = { 0 };
	const unsigned char on[3] = { 1, 1, 1 };
	unsigned n = count_machine_cpus();

	(void)state;
	done(NULL);
	make_machine("uncore");
	fake.tick = keep_numbers;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("page-faults", "context-switches", "minor-faults"));
	assert_int_equal(count_members(), 2 * n);
	select_group(1);
	assert_int_equal(count_members(), 0);
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	assert_int_equal(count_running_events(), 2 * n);
	select_group(2);
	assert_int_equal(count_running_events(), 2 * n);
	end_session();
	/* Those that count always take none. */
	must_open(TEXTS("page-faults", "context-switches", "minor-faults"));
	assert_int_equal(pfm_select_groups(session, always, on, 3), PFMLIB_SUCCESS);
	assert_int_equal(count_members(), 2 * n);
	end_session();
	/* It is too late for turns after the start. */
	must_open(TEXTS("page-faults", "context-switches", "minor-faults"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pfm_select_groups(session, (const unsigned[]){ 0, 1, 1 }, on, 3),
		                 PFMLIB_ERR_NOTSUPP);
	assert_int_equal(count_running_events(), 3 * n);
	end_session();
}

/* A group that had no turn yet has no value, which is neither 0 nor a guess. */
static void before_the_first_turn(void **state)
{
	(void)state;
	open_groups(0);
	pass_time(1000);
	read_all();
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(3, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_MULTIPLEXED);
	end_session();
}

/* Turns have any numbers; equal ones are one turn. */
static void turns_have_any_number(void **state)
{
	(void)state;
	turn_number = ~0u;
	shares_of_time(0, 1);
	turn_number = 1;
}

/* No CPU ever has both groups of a turn: the old ones stop first. */
static void failures_are_reported(void **state)
{
	const unsigned turns[] = { 0, 1, 1 };
	const unsigned char on[] = { 0, 0, 1 };

	(void)state;
	open_groups(0);
	fake.fail = FAKE_IOCTL;
	fake.fail_at = fake.uses[FAKE_IOCTL] + 1;
	fake.fail_errno = EIO;
	assert_int_equal(pfm_select_groups(session, turns, on, 3), PFMLIB_ERR_SYS);
	assert_int_equal(pfm_session_errno(session), EIO);
	fake.fail_at = 0;
	assert_int_equal(pfm_select_groups(NULL, turns, on, 3), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_select_groups(session, NULL, on, 3), PFMLIB_ERR_INVAL);
	end_session();
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, done)

UNIT(session_group_turns, CASE(on_every_cpu), CASE(of_a_task),
     CASE(software_events_share_groups_until_turns_begin), CASE(before_the_first_turn),
     CASE(turns_have_any_number), CASE(failures_are_reported));
