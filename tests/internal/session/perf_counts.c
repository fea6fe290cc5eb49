/* SPDX-License-Identifier: MIT */
/* Counts from readings: sums of parts, levels, time on other CPUs. */
#include "kernel_events.h"

static void parts_add_up(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		add_part(0, -1, false, 42, i);
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	set(0, 100, 10, 10);
	set(1, 100, 10, 5);
	set(2, 7, 0, 0); /* never there */
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect(0, 307, 207, 20, 15, PFM_QUALITY_SCALED, PFM_CAUSE_NONE);
	set(2, 0, 10, 0); /* there, without a counter */
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect(0, 300, 200, 30, 15, PFM_QUALITY_PARTIAL, PFM_CAUSE_NONE);
	set(0, 0, 10, 0);
	set(1, 100, 10, 5); /* scaled does not mend it */
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect(0, 200, 100, 30, 5, PFM_QUALITY_PARTIAL, PFM_CAUSE_NONE);
	/* More than 64 bits. */
	set(0, UINT64_MAX - 5, 10, 5);
	set(1, 6, 10, 5);
	set(2, 0, 0, 0);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	assert_true(read_counts[0].value == UINT64_MAX);
}

/* A level is reported as read: not as a difference and not scaled. */
static void reports_levels_as_they_are_read(void **state)
{
	(void)state;
	add_part(0, -1, false, 0, -1);
	counts[0].config.is_level = true;
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	set(0, 50, 10, 10);
	assert_int_equal(pfmi_perf_reset_counts(s), PFMLIB_SUCCESS);
	set(0, 40, 20, 20);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect_exact(0, 40, 10);
	set(0, 40, 30, 20);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect(0, 40, 40, 20, 10, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void time_on_cpus_without_the_pmu_counts_as_enabled(void **state)
{
	struct unserved_time more = { .count_index = 0, .time_reference = 1 };

	(void)state;
	add_part(0, -1, false, 42, 0)->time_reference = 0;
	watch(0, 100, 40);
	watch(1, 500, 100);
	perf.unserved_times = &more;
	perf.n_unserved_times = 1;
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	set(0, 10, 100, 40);
	assert_int_equal(pfmi_perf_reset_counts(s), PFMLIB_SUCCESS);
	/* 60 more of which it was here for 20, and counted all of them; 30 on the CPU that cannot
	 * count it. */
	watch(0, 160, 60);
	watch(1, 600, 130);
	set(0, 25, 160, 60);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect(0, 15, 15, 20 + 30, 20, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_true(counts[0].kernel_state.time_elsewhere == 40 && witnesses[0].time_on_cpu == 20 &&
	            witnesses[1].time_on_cpu == 30);
	/* It counted half of the time that it was here. */
	set(0, 25, 160, 50);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect(0, 30, 15, 20 + 30, 10, PFM_QUALITY_SCALED, PFM_CAUSE_NONE);
	/* The clocks are read at different moments, so time away may seem longer than the time
	 * without counting. */
	set(0, 25, 160, 101);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect(0, 15, 15, 61 + 30, 61, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	/* A time reference event that cannot be read. */
	fake_event(&fake, witnesses[1].fd)->a.attr.pinned = 1;
	watch(1, 600, 0);
	assert_int_equal(try_read(), PFMLIB_ERR_SYS);
	assert_int_equal(s->sys_errno, EIO);
	assert_int_equal(pfmi_perf_reset_counts(s), PFMLIB_ERR_SYS);
	witnesses[1].is_needed = false;
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
}

static void readings_without_a_call(void **state)
{
	pfm_count_t c;

	(void)state;
	s->live.running = true;
	add_part(0, -1, false, 0, -1);
	assert_int_equal(pfmi_perf_read_user_count(s, 0, &c), PFMLIB_ERR_NOTSUPP); /* no page */
	add_part(0, -1, false, 0, -1);
	parts[0].user_page = &c;
	assert_int_equal(pfmi_perf_read_user_count(s, 0, &c), PFMLIB_ERR_NOTSUPP); /* two parts */
	counts[0].kernel_state.n_events = 1;
	s->live.running = false;
	assert_int_equal(pfmi_perf_read_user_count(s, 0, &c), PFMLIB_ERR_NOTSUPP); /* stopped */
}

UNIT(session_perf_counts, CASE(parts_add_up), CASE(reports_levels_as_they_are_read),
     CASE(time_on_cpus_without_the_pmu_counts_as_enabled), CASE(readings_without_a_call));
