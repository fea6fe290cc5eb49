/* SPDX-License-Identifier: MIT */
/* How far the counts of a session are trusted, on a scripted kernel: what is extrapolated, what is
 * missing, and differences of two readings. */
#include <errno.h>
#include "fake_session.h"
#include "shared.h"

/* ---- how far counts are trusted -------------------------------------------------------------- */

static uint64_t now[3];

static void as_told(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = now[0];
	e->is_open = now[1];
	e->running = now[2];
}

static void counted(uint64_t value, uint64_t enabled, uint64_t running)
{
	now[0] = value;
	now[1] = enabled;
	now[2] = running;
	read_all();
}

static void times_decide_the_quality(void **state)
{
	(void)state;
	make_machine("uncore");
	fake.tick = as_told;
	must_open(TEXTS("cycles"));
	counted(0, 0, 0);
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	expect_why(0, "never started");
	assert_int_equal(pfm_start_session(session), 0);
	counted(0, 0, 0);
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	/* Alpha: a clock of 128 ticks a second. */
	counted(1048575, 0, 0);
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_TIME);
	expect_why(0, "reports no time");
	assert_int_equal(counts[0].value, 1048575);
	counted(100, 1000, 1000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	counted(100, 1000, 250);
	expect_count(0, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	assert_int_equal(counts[0].value, 400);
	assert_int_equal(counts[0].raw, 100);
	expect_why(0, "25 %");
	counted(0, 1000, 0);
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_OTHER);
	assert_string_equal(is_about(0).evidence, "enabled for 1000 ns, on a counter for 0 ns");
	assert_int_equal(counts[0].value, 0);
	counted(5, 1000, 0);
	assert_int_equal(counts[0].value, 0);
	counted(100, 1000, 1000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE); /* and the sentence is gone */
}

/* A level measured for part of the time is reported as measured: not extrapolated, exact,
 * without a cause. */
static void qualities_of_levels(void **state)
{
	static const uint64_t times[][2] = {
		{ 1000, 1 }, { 1000, 250 }, { 2000, 1999 }, { 3000, 3000 }
	};

	(void)state;
	make_machine("uncore");
	fake.tick = as_told;
	must_open(TEXTS("mesh/occupancy/"));
	assert_int_equal(pfm_start_session(session), 0);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		counted(7, 1000, 0);
		expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_OTHER);
		assert_int_equal(counts[0].value, 0);
		counted(7 + i, times[i][0], times[i][1]);
		expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		assert_true(counts[0].value == 2 * (7 + i) && counts[0].raw == counts[0].value);
		assert_true(counts[0].enabled == 2 * times[i][0] &&
		            counts[0].running == 2 * times[i][1]);
	}
	counted(7, 0, 0); /* not enabled for any time: when the level was measured is unknown */
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_TIME);
	assert_int_equal(counts[0].value, 2 * 7);
}

static void zero_is_where_reset_was(void **state)
{
	(void)state;
	make_machine("uncore");
	fake.tick = as_told;
	must_open(TEXTS("cycles", "mesh/occupancy/"));
	assert_int_equal(pfm_start_session(session), 0);
	counted(1000, 1000, 500);
	assert_int_equal(counts[0].value, 2000);
	assert_int_equal(pfm_reset_session(session), 0);
	counted(1000, 1000, 500);
	assert_int_equal(counts[0].raw, 0);
	assert_int_equal(counts[0].enabled, 0);
	counted(1500, 2000, 1500);
	assert_int_equal(counts[0].value, 500);
	assert_int_equal(counts[0].enabled, 1000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	/* A level is not a difference. */
	assert_int_equal(counts[1].value, 2 * 1500);
}

/* All counts are exact, each of @n parts that counted @value in @time nanoseconds. */
static void expect_exact(unsigned n, uint64_t value, uint64_t time)
{
	for (unsigned i = 0; i < pfm_session_size(session); i++) {
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		assert_int_equal(counts[i].value, n * value);
		assert_int_equal(counts[i].raw, n * value);
		assert_int_equal(counts[i].enabled, n * time);
		assert_int_equal(counts[i].running, n * time);
	}
}

static void after_clear_readings(unsigned n)
{
	must_open(TEXTS("{cycles,instructions,branch-misses}", "page-faults", "{cs,faults}"));
	assert_int_equal(pfm_start_session(session), 0);
	for (unsigned i = 1; i <= 3; i++) {
		counted(100 * i, 1000 * i, 1000 * i);
		expect_exact(n, 100 * i, 1000 * i);
	}
	assert_int_equal(pfm_reset_session(session), 0);
	counted(450, 5000, 5000);
	expect_exact(n, 150, 2000);
	counted(450, 5000, 4000);
	for (unsigned i = 0; i < pfm_session_size(session); i++) {
		expect_count(i, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
		assert_int_equal(counts[i].value, n * 300);
		assert_int_equal(counts[i].raw, n * 150);
	}
	for (unsigned i = 0; i < 2; i++) {
		counted(450, 5000, 5000);
		expect_exact(n, 150, 2000);
	}
	assert_int_equal(pfm_reset_session(session), 0);
	counted(450, 5000, 5000);
	for (unsigned i = 0; i < pfm_session_size(session); i++)
		expect_count(i, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	counted(451, 5001, 5001);
	expect_exact(n, 1, 1);
	end_session();
}

/* After an exact reading, counts are read on a faster path, which must still notice every
 * change. */
static void clear_readings_may_change(void **state)
{
	(void)state;
	make_machine("uncore");
	fake.tick = as_told;
	after_clear_readings(1);
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	after_clear_readings(7);
	options.flags |= PFM_SESSION_PER_CPU;
	after_clear_readings(1);
	options.flags = 0;
	must_open(TEXTS("cycles:D"));
	for (unsigned i = 1; i <= 2; i++)
		counted(100 * i, 1000 * i, 1000 * i);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	counted(0, 3000, 0);
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
	assert_int_equal(pfm_reset_session(session), 0);
	counted(400, 4000, 4000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 400);
	end_session();
	/* A level is not a difference. */
	must_open(TEXTS("mesh/occupancy/"));
	counted(100, 1000, 1000);
	assert_int_equal(pfm_reset_session(session), 0);
	counted(300, 2000, 2000);
	counted(300, 3000, 3000);
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_int_equal(counts[0].value, 2 * 300);
}

/* The fast path after exact readings, too, fills as many structs as the caller has, of the
 * caller's size, or none. */
static void clear_readings_into_other_arrays(void **state)
{
	struct {
		pfm_count_t count;
		uint64_t more;
	} later[3];
	pfm_count_t one = PFM_INIT(one);

	(void)state;
	make_machine("uncore");
	fake.tick = as_told;
	must_open(TEXTS("{cycles,instructions}", "page-faults"));
	for (unsigned i = 1; i <= 2; i++)
		counted(100 * i, 1000 * i, 1000 * i);
	for (unsigned i = 0; i < 8; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]),
			                   .quality = (pfm_quality_t)-1,
			                   .cause = (pfm_cause_t)-1,
			                   .sys_errno = -1 };
	now[0] = 300;
	assert_int_equal(pfm_read_session(session, counts, 1), PFMLIB_SUCCESS);
	assert_int_equal(counts[0].value, 300);
	assert_int_equal(counts[0].cause, PFM_CAUSE_NONE);
	assert_true(counts[1].cause == (pfm_cause_t)-1);
	now[0] = 400;
	assert_int_equal(pfm_read_session(session, counts, 8), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(counts[i].value, i < 3 ? 400 : 0);
		assert_int_equal(counts[i].quality, i < 3 ? PFM_QUALITY_EXACT : (pfm_quality_t)-1);
		assert_int_equal(counts[i].sys_errno, i < 3 ? 0 : -1);
	}
	assert_int_equal(counts[3].cause, (pfm_cause_t)-1);
	for (unsigned i = 0; i < 3; i++)
		later[i].count.size = sizeof(later[0]);
	now[0] = 500;
	assert_int_equal(pfm_read_session(session, &later[0].count, 3), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(later[i].count.value, 500);
	later[2].count.size = sizeof(one);
	assert_int_equal(pfm_read_session(session, &later[0].count, 3), PFMLIB_ERR_INVAL);
	now[0] = 600;
	assert_int_equal(pfm_read_count(session, 2, &one), PFMLIB_SUCCESS);
	assert_int_equal(one.value, 600);
	/* A failed reading changes no count. */
	fake.fail = FAKE_READ_PERF;
	fake.fail_at = fake.uses[FAKE_READ_PERF] + 2;
	fake.fail_errno = EIO;
	now[0] = 700;
	assert_int_equal(pfm_read_session(session, counts, 3), PFMLIB_ERR_SYS);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(counts[i].value, 400);
	now[0] = 800;
	assert_int_equal(pfm_read_session(session, counts, 3), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 3; i++) {
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		assert_int_equal(counts[i].value, 800);
		assert_true(counts[i].scale > 0.999 && counts[i].scale < 1.001);
	}
}

static void first_gets_everything(struct fake *f, struct fake_event *e)
{
	e->value = 10;
	e->is_open = 1000;
	e->running = e == &f->events[1] ? 1000 : 0;
}

static void causes_of_not_being_counted(void **state)
{
	(void)state;
	make_machine("uncore");
	fake.tick = first_gets_everything;
	must_open(TEXTS("cycles", "instructions"));
	run_session();
	expect_count(1, PFM_QUALITY_NOT_COUNTED,
	             PFM_CAUSE_OTHER); /* another PMU's event ran, which proves nothing */
	end_session();
	fake.n_events = 1;
	must_open(TEXTS("cpu/cpu-cycles/", "cpu/instructions/"));
	run_session();
	expect_count(1, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_MULTIPLEXED);
	end_session();
	fake.tick = as_told;
	must_open(TEXTS("{cycles,instructions}"));
	counted(0, 1000, 0);
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_GROUP);
	end_session();
	must_open(TEXTS("cycles:D"));
	assert_true(fake.events[fake.n_events - 1].a.attr.pinned);
	counted(0, 1000, 0);
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
	expect_why(0, "pinned");
}

static void last_cpu_waits(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = 10;
	e->is_open = 1000;
	e->running = e->cpu == 7 ? 0 : e->cpu == 5 ? 500 : 1000;
}

static void parts_are_extrapolated_one_by_one(void **state)
{
	(void)state;
	make_machine("uncore");
	fake.tick = last_cpu_waits;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "4-5";
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	assert_int_equal(counts[0].value, 10 + 20);
	end_session();
	options.cpus = "4-5,7";
	must_open(TEXTS("cycles"));
	run_session();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_MULTIPLEXED);
	assert_int_equal(counts[0].value, 10 + 20);
}

static void last_cpu_loses(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = 10;
	e->is_open = e->running = e->cpu == 5 ? 0 : 100;
}

static void a_pinned_event_may_lose_some_of_its_counters(void **state)
{
	(void)state;
	make_machine("uncore");
	fake.tick = last_cpu_loses;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	options.cpus = "4-5";
	must_open(TEXTS("{cycles}:D"));
	assert_true(event_text(1)->a.attr.pinned);
	run_session();
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_BUSY);
	expect_why(0, "on some CPUs the pinned event lost its counter");
	assert_int_equal(counts[0].value, 10);
}

static void never_on_any(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = e->running = 0;
	e->is_open = 1000;
}

static void no_type_of_core_found_a_counter(void **state)
{
	(void)state;
	make_machine("hybrid");
	fake.tick = never_on_any;
	must_open(TEXTS("cycles"));
	run_session();
	for (unsigned i = 0; i < 2; i++) {
		expect_count(i, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
		expect_why(i, "NMI watchdog");
		assert_non_null(strstr(is_about(i).evidence, "kernel.nmi_watchdog is 1"));
	}
}

/* The watchdog of other processors than x86 need not have a counter. */
static void a_watchdog_without_a_counter_is_no_cause(void **state)
{
	(void)state;
	fake_recorded(&fake, "arm");
	fake_file(&fake, "/proc/sys/kernel/nmi_watchdog", "1");
	open_context("0x00000000413fd0c1");
	fake.tick = never_on_any;
	must_open(TEXTS("neoverse_n1::CPU_CYCLES"));
	run_session();
	expect_count(0, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_OTHER);
	assert_null(strstr(is_about(0).evidence, "watchdog"));
}

static void values_are_scaled_by_their_share_of_time(void **state)
{
	static const uint64_t max = UINT64_MAX;
	static const struct {
		uint64_t raw, enabled, running, value;
	} rows[] = {
		{ 0, 0, 0, 0 },
		{ 5, 10, 0, 0 },
		{ 5, 10, 10, 5 },
		{ 5, 10, 5, 10 },
		{ 1, 3, 2, 2 },
		{ 1, 5, 4, 1 },
		{ 3, 10, 9, 3 },
		{ UINT64_MAX, 1, 1, UINT64_MAX },
		{ UINT64_MAX, 2, 1, UINT64_MAX },
		{ UINT64_MAX / 2, 2, 1, UINT64_MAX - 1 },
		{ 1000000000000, 86400000000000, 43200000000000, 2000000000000 },
		{ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX },
		{ UINT64_MAX - 1, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1 },
		{ 0x123456789abcdef0, 0xfedcba9876543210, 0xffffffffffffffff, 0x121fa00ad77d7422 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (pfmi_session_extrapolate_value(rows[i].raw, rows[i].enabled, rows[i].running) !=
		    rows[i].value)
			fail_msg("row %u gives %llx", i,
			         (unsigned long long)pfmi_session_extrapolate_value(
					 rows[i].raw, rows[i].enabled, rows[i].running));
	assert_true(pfmi_session_extrapolate_value(max, max, max) == max);
}

/* ---- differences ----------------------------------------------------------------------------- */

static pfm_count_t reading(uint64_t value, uint64_t raw, uint64_t enabled, uint64_t running,
                           pfm_quality_t quality)
{
	pfm_count_t c = PFM_INIT(c);

	c.value = value;
	c.raw = raw;
	c.enabled = enabled;
	c.running = running;
	c.quality = quality;
	return c;
}

static void differences_are_judged_by_their_own_times(void **state)
{
	static const struct {
		uint64_t first[4], second[4]; /* value, raw, enabled, running */
		pfm_quality_t qualities[2];
		int level;
		uint64_t value;
		pfm_quality_t quality;
		pfm_cause_t cause;
	} lines[] = {
		/* Shared before, not shared since. */
		{ { 2000, 1000, 100, 50 },
		  { 2000, 1500, 200, 150 },
		  { 1, 1 },
		  0,
		  500,
		  PFM_QUALITY_EXACT,
		  0 },
		/* The other way round: half of the time. */
		{ { 1000, 1000, 100, 100 },
		  { 1600, 1200, 200, 150 },
		  { 0, 1 },
		  0,
		  400,
		  PFM_QUALITY_SCALED,
		  PFM_CAUSE_MULTIPLEXED },
		{ { 1000, 1000, 100, 100 },
		  { 2000, 1000, 200, 100 },
		  { 0, 1 },
		  0,
		  0,
		  PFM_QUALITY_NOT_COUNTED,
		  PFM_CAUSE_MULTIPLEXED },
		/* The event counted during zero running time, so the difference has no value. */
		{ { 1000, 1000, 100, 100 },
		  { 2006, 1003, 200, 100 },
		  { 0, 1 },
		  0,
		  0,
		  PFM_QUALITY_NOT_COUNTED,
		  PFM_CAUSE_MULTIPLEXED },
		/* A level falls. */
		{ { 80, 80, 100, 100 },
		  { 60, 60, 200, 200 },
		  { 0, 0 },
		  1,
		  60,
		  PFM_QUALITY_EXACT,
		  0 },
		/* Reset in between. */
		{ { 80, 80, 100, 100 }, { 60, 60, 50, 50 }, { 0, 0 }, 0, 60, PFM_QUALITY_EXACT, 0 },
		/* On another type of core for half of the time, which is known to be no loss. */
		{ { 10, 10, 100, 50 },
		  { 30, 30, 200, 100 },
		  { 0, 0 },
		  0,
		  20,
		  PFM_QUALITY_EXACT,
		  0 },
		{ { 10, 10, 100, 50 },
		  { 30, 30, 200, 100 },
		  { 2, 2 },
		  0,
		  20,
		  PFM_QUALITY_PARTIAL,
		  0 },
		/* Nothing to begin with; and nothing at all. */
		{ { 0, 0, 0, 0 }, { 7, 7, 10, 10 }, { 3, 0 }, 0, 7, PFM_QUALITY_EXACT, 0 },
		{ { 7, 7, 10, 10 }, { 0, 0, 0, 0 }, { 0, 4 }, 0, 0, PFM_QUALITY_NOT_SUPPORTED, 0 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const uint64_t *f = lines[i].first, *l = lines[i].second;
		pfm_count_t a = reading(f[0], f[1], f[2], f[3], lines[i].qualities[0]);
		pfm_count_t b = reading(l[0], l[1], l[2], l[3], lines[i].qualities[1]),
			    d = PFM_INIT(d);

		assert_int_equal(pfm_subtract_counts(&a, &b, lines[i].level, &d), 0);
		if (d.value != lines[i].value || d.quality != lines[i].quality ||
		    d.cause != lines[i].cause)
			fail_msg("line %u: %llu, %s, %s", i, (unsigned long long)d.value,
			         pfm_quality_name(d.quality), pfm_cause_name(d.cause));
		assert_int_equal(pfm_subtract_counts(&a, &b, lines[i].level, &b), 0);
		assert_int_equal(b.value, d.value);
	}
}

static void levels_are_marked(void **state)
{
	(void)state;
	make_machine("hybrid");
	fake_file(&fake, "/sys/bus/event_source/devices/uncore_imc_0/events/data_reads.snapshot",
	          "1");
	must_open(TEXTS("uncore_imc/data_reads/", "cycles"));
	assert_int_equal(is_about(0).is_level, 1);
	assert_int_equal(is_about(1).is_level, 0);
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(times_decide_the_quality),
		CASE(qualities_of_levels),
		CASE(zero_is_where_reset_was),
		CASE(clear_readings_may_change),
		CASE(clear_readings_into_other_arrays),
		CASE(causes_of_not_being_counted),
		CASE(parts_are_extrapolated_one_by_one),
		CASE(a_pinned_event_may_lose_some_of_its_counters),
		CASE(no_type_of_core_found_a_counter),
		CASE(a_watchdog_without_a_counter_is_no_cause),
		cmocka_unit_test(values_are_scaled_by_their_share_of_time),
		CASE(differences_are_judged_by_their_own_times),
		CASE(levels_are_marked),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("session trust", tests, NULL, NULL);
}
