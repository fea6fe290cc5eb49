/* SPDX-License-Identifier: MIT */
/* Readings from a layout of kernel events that the test makes by hand: what is read, where values
 * go, and the values at the last reset. */
#include "kernel_events.h"

/* ---- places ---------------------------------------------------------------------------------- */

static void reads_one_event_after_resets(void **state)
{
	(void)state;
	add_part(0, -1, false, 0, -1);
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	assert_int_equal(perf.n_read_events, 1);
	set(0, 5, 100, 100);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect_exact(0, 5, 100);
	assert_int_equal(pfmi_perf_reset_counts(s), PFMLIB_SUCCESS);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect_exact(0, 0, 0);
	set(0, 12, 130, 130);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect_exact(0, 7, 30);
	set(0, 25, 140, 120);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect(0, 40, 20, 40, 20, PFM_QUALITY_SCALED, PFM_CAUSE_NONE);
}

/* Two groups with a single event between them, one of the groups with one member; events that are
 * not open have no place. */
static void groups_and_others(void **state)
{
	(void)state;
	add_part(0, -1, true, 0, -1);
	add_part(1, -1, false, 0, -1);
	add_part(2, 0, true, 0, -1);
	add_part(3, -1, true, 0, -1);
	add_part(4, 0, true, 0, -1);
	add_part(5, -1, false, 0, -1);
	fake.sys.close(&fake.sys, parts[5].fd);
	parts[5].fd = -1;
	counts[5].kernel_state.n_open = 0;
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	assert_int_equal(perf.n_read_events, 3);
	for (unsigned i = 0; i < 5; i++)
		set(i, 100 + i, 10 * (i == 1 || i == 3 ? i : 7), 10 * (i == 1 || i == 3 ? i : 7));
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect_exact(0, 100, 70);
	expect_exact(1, 101, 10);
	expect_exact(2, 102, 70);
	expect_exact(3, 103, 30);
	expect_exact(4, 104, 70);
	expect_exact(5, 0, 0);
	assert_int_equal(fake.uses[FAKE_READ_PERF], 3);
	assert_int_equal(pfmi_perf_reset_counts(s), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 5; i++)
		set(i, 200 + 2 * i, 100, 100);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 5; i++)
		expect_exact(i, 100 + i, i == 1 ? 90 : i == 3 ? 70 : 30);
	/* A new layout forgets the last reset. */
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect_exact(4, 208, 100);
}

/* A member that is read by itself, as older kernels require. */
static void a_group_read_one_by_one(void **state)
{
	(void)state;
	add_part(0, -1, false, 0, -1);
	add_part(1, 0, false, 0, -1);
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	assert_int_equal(perf.n_read_events, 2);
	set(0, 3, 10, 10);
	set(1, 4, 10, 5);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	expect_exact(0, 3, 10);
	expect(1, 8, 4, 10, 5, PFM_QUALITY_SCALED, PFM_CAUSE_NONE);
	/* Only leaders are started. */
	fake.uses[FAKE_IOCTL] = 0;
	assert_int_equal(pfmi_perf_start_counting(s), PFMLIB_SUCCESS);
	assert_int_equal(fake.uses[FAKE_IOCTL], 1);
}

static void a_group_of_another_size(void **state)
{
	(void)state;
	add_part(0, -1, true, 0, -1);
	add_part(1, 0, true, 0, -1);
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	fake.sys.close(&fake.sys, parts[1].fd);
	assert_int_equal(try_read(), PFMLIB_ERR_SYS);
	assert_int_equal(s->sys_errno, EIO);
}

/* ---- losses ---------------------------------------------------------------------------------- */

static void what_did_not_fit(void **state)
{
	(void)state;
	add_part(0, -1, false, 0, -1);
	add_part(1, -1, false, 0, -1);
	parts[0].reads_lost_samples = true;
	fake_event(&fake, parts[0].fd)->a.attr.read_format |= PERF_FORMAT_LOST;
	fake_event(&fake, parts[0].fd)->lost = 77;
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	set(0, 1, 5, 5);
	set(1, 2, 6, 6);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	assert_true(parts[0].lost_samples == 77 && parts[1].lost_samples == 0);
	expect_exact(0, 1, 5);
	expect_exact(1, 2, 6);
}

/* A pinned event that lost its counter reads as end of file; its count is partial and keeps its
 * last value. */
static void a_pinned_event_lost_its_counter(void **state)
{
	(void)state;
	for (unsigned group = 0; group < 2; group++) {
		end(NULL);
		begin(NULL);
		add_part(0, -1, group, 0, 1);
		add_part(0, -1, group, 0, 2);
		fake_event(&fake, parts[0].fd)->a.attr.pinned = 1;
		assert_int_equal(pfmi_perf_assign_readings(s), 0);
		set(0, 10, 5, 5);
		set(1, 20, 5, 5);
		assert_int_equal(pfmi_perf_reset_counts(s), PFMLIB_SUCCESS);
		set(0, 10, 9, 0);
		set(1, 25, 9, 9);
		assert_int_equal(try_read(), PFMLIB_SUCCESS);
		expect(0, 5, 5, 4, 4, PFM_QUALITY_PARTIAL, PFM_CAUSE_BUSY);
		/* A reset in between keeps the values at the last reset. */
		assert_int_equal(pfmi_perf_reset_counts(s), PFMLIB_SUCCESS);
		set(0, 17, 15, 15);
		set(1, 26, 10, 10);
		assert_int_equal(try_read(), PFMLIB_SUCCESS);
		expect_exact(0, 7 + 1, 10 + 1);
	}
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* ---- clear readings -------------------------------------------------------------------------- */

/* Counts take the fast path while only their numbers change; the results are equal. */
static void fast_path_of_counts(void **state)
{
	pfm_count_t into[PARTS];

	(void)state;
	for (unsigned count = 0; count < 2; count++)
		for (int cpu = 0; cpu < 2; cpu++)
			add_part(count, count ? cpu : -1, true, -1, cpu);
	counts[0].config.scale = 3;
	counts[1].config.scale = 4;
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	assert_true(perf.is_uniform);
	for (unsigned i = 0; i < 4; i++)
		set(i, 1 << i, 50, 50);
	s->reading.is_all_exact = true;
	assert_int_equal(pfmi_perf_read_counts(s, read_counts, 2), PFMLIB_SUCCESS);
	assert_true(s->reading.is_all_exact);
	expect_exact(0, 1 + 2, 100);
	expect_exact(1, 4 + 8, 100);
	assert_true(read_counts[0].scale == 3 && read_counts[1].scale == 4);
	/* Values go into the caller's array. */
	s->reading.caller_counts = into;
	memset(read_counts, 0, sizeof(read_counts));
	assert_int_equal(pfmi_perf_read_counts(s, read_counts, 2), PFMLIB_SUCCESS);
	assert_true(s->reading.is_all_exact && !s->reading.caller_counts);
	assert_true(into[1].value == 12 && into[1].scale == 4 && read_counts[1].value == 0);
	/* After a reset at other values. */
	assert_int_equal(pfmi_perf_reset_counts(s), PFMLIB_SUCCESS);
	for (unsigned i = 0; i < 4; i++)
		set(i, (1 << i) + 10 * (i + 1), 80, 80);
	assert_int_equal(pfmi_perf_read_counts(s, read_counts, 2), PFMLIB_SUCCESS);
	assert_true(s->reading.is_all_exact);
	expect_exact(0, 10 + 20, 60);
	expect_exact(1, 30 + 40, 60);
	/* Not all of the time. */
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	for (unsigned i = 0; i < 4; i++)
		set(i, 1 << i, 50, 50);
	set(1, 2, 50, 49);
	assert_int_equal(pfmi_perf_read_counts(s, read_counts, 2), PFMLIB_SUCCESS);
	assert_false(s->reading.is_all_exact);
	expect(0, 3, 3, 100, 99, PFM_QUALITY_SCALED, PFM_CAUSE_NONE);
}

/* Counts take the fast path only if all are plain: no level, no missing kernel event, no time
 * reference event, no closed group leader. */
static void slow_path_of_counts(void **state)
{
	(void)state;
	add_part(0, -1, false, 0, -1);
	add_part(1, -1, false, 0, -1);
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	assert_true(perf.is_uniform);
	counts[1].config.is_level = true;
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	assert_false(perf.is_uniform);
	counts[1].config.is_level = false;
	perf.n_time_references = 1;
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	assert_false(perf.is_uniform);
	perf.n_time_references = 0;
	counts[1].kernel_state.n_events = 0;
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	assert_false(perf.is_uniform);
	counts[1].kernel_state.n_events = 1;
	add_part(2, 1, false, 0, -1); /* read by itself, although it is a member */
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	assert_true(perf.is_uniform);
	fake.sys.close(&fake.sys, parts[1].fd);
	parts[1].fd = -1;
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	assert_false(perf.is_uniform);
}

/* ---- calls that fail ------------------------------------------------------------------------- */

static int scripted[200]; /* results of reads, from the first on; 0: the event's value */
static unsigned at;

static long scripted_read(const struct sys *sys, int fd, void *buf, size_t n)
{
	int rc = at < COUNT(scripted) ? scripted[at] : 0;

	at++;
	return rc ? rc : fake.sys.read(sys, fd, buf, n);
}

static void say(unsigned times, int rc)
{
	memset(scripted, 0, sizeof(scripted));
	for (at = 0; at < times; at++)
		scripted[at] = rc;
	at = 0;
}

static void reports_readings_that_fail(void **state)
{
	(void)state;
	add_part(0, -1, false, 0, -1);
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	s->sys.read = scripted_read;
	set(0, 5, 1, 1);
	say(7, -EINTR);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	assert_int_equal(at, 8);
	expect_exact(0, 5, 1);
	say(1, 16); /* two words */
	assert_int_equal(try_read(), PFMLIB_ERR_SYS);
	assert_int_equal(s->sys_errno, EIO);
	say(1, -EACCES);
	assert_int_equal(try_read(), PFMLIB_ERR_PERM);
	assert_int_equal(s->sys_errno, EACCES);
	say(1, -EPERM);
	assert_int_equal(pfmi_perf_reset_counts(s), PFMLIB_ERR_PERM);
	say(1, -ENOMEM);
	assert_int_equal(try_read(), PFMLIB_ERR_NOMEM);
	say(1, -ENODEV);
	assert_int_equal(try_read(), PFMLIB_ERR_SYS);
	assert_int_equal(s->sys_errno, ENODEV);
	/* A group that is incomplete for a moment, and one that stays incomplete. */
	say(20, -ECHILD);
	assert_int_equal(try_read(), PFMLIB_SUCCESS);
	assert_int_equal(at, 21);
	say(200, -ECHILD);
	assert_int_equal(try_read(), PFMLIB_ERR_SYS);
	assert_int_equal(s->sys_errno, ECHILD);
	assert_int_equal(at, 101);
}

static void groups_that_differ(void **state)
{
	(void)state;
	add_part(0, -1, true, 0, -1);
	add_part(1, 0, true, 0, -1);
	add_part(2, -1, true, 0, -1); /* no event joined this group */
	add_part(3, -1, false, 0, -1);
	assert_int_equal(pfmi_perf_assign_readings(s), 0);
	s->sys.read = scripted_read;
	say(0, 0);
	assert_false(pfmi_perf_has_unreadable_group(s));
	assert_int_equal(at, 1);
	say(1, -EIO);
	assert_false(pfmi_perf_has_unreadable_group(s));
	say(200, -ECHILD);
	assert_true(pfmi_perf_has_unreadable_group(s));
}

UNIT(session_perf_read, CASE(reads_one_event_after_resets), CASE(groups_and_others),
     CASE(a_group_read_one_by_one), CASE(a_group_of_another_size), CASE(what_did_not_fit),
     CASE(a_pinned_event_lost_its_counter), CASE(fast_path_of_counts), CASE(slow_path_of_counts),
     CASE(reports_readings_that_fail), CASE(groups_that_differ));
