/* SPDX-License-Identifier: MIT */
/* Waiting for records, and signals when records arrive. */
#include "filled_buffers.h"

static void waits_for_records_of_every_task(void **state)
{
	struct perf_attr a = { .size = sizeof(a), .type = PERF_TYPE_SOFTWARE };
	int fds[4] = { -7, -7, -7, -7 };

	(void)state;
	open_buffers(2);
	sm.n_side_events = 3;
	for (unsigned i = 0; i < 3; i++)
		places[i] = (struct side_event){ .fd = fake.sys.perf_event_open(
							 &fake.sys, &a, 40 + (int)i, -1, -1, 0),
			                         .buffer_index = i ? 1 : 0 };
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_TIMEOUT);
	assert_int_equal(fake.uses[FAKE_POLL], 1);
	assert_int_equal(pfm_session_fds(s, fds, 1), 2);
	assert_true(fds[0] == places[0].fd && fds[1] == -7);
	/* Records in a buffer need no call; with a timeout of 0 the call comes first. */
	assert_true(write_sample(1, 0, 1, 1));
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_READY);
	assert_int_equal(fake.uses[FAKE_POLL], 1);
	assert_int_equal(pfm_wait_session(s, 0), PFM_WAIT_READY);
	assert_int_equal(fake.uses[FAKE_POLL], 2);
	/* The record handed out last is released by the next call, and does not end the wait. */
	assert_true(next());
	assert_false(next());
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_TIMEOUT);
	/* One task ends; another one writes into the same buffer. */
	fake_event(&fake, places[1].fd)->revents = POLLHUP;
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_TIMEOUT);
	assert_true(streams[1].polled_event == 2 && places[1].has_ended && !places[2].has_ended);
	fake_event(&fake, places[0].fd)->revents = POLLHUP;
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_TIMEOUT);
	assert_true(streams[0].polled_event == -1);
	assert_int_equal(pfm_session_fds(s, fds, 4), 1);
	assert_int_equal(fds[0], places[2].fd);
	fake_event(&fake, places[2].fd)->revents = POLLERR;
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_ENDED);
	assert_int_equal(pfm_session_fds(s, NULL, 0), 0);
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_ENDED);
	assert_true(write_sample(0, 0, 1, 1));
	/* The remaining record can be read */
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_READY);
}

/* Bytes below the watermark end the wait too, but only after a poll. A record that was looked at
 * but not handed out counts. */
static void waits_for_the_watermark(void **state)
{
	static const struct {
		uint32_t mark;
		unsigned polls;
	} rows[] = { { 64, 0 }, { 65, 1 }, { 63, 0 }, { 1000, 1 } };
	struct perf_attr a = { .size = sizeof(a), .type = PERF_TYPE_SOFTWARE };

	(void)state;
	open_buffers(2);
	sm.n_side_events = 2;
	for (unsigned i = 0; i < 2; i++)
		places[i] = (struct side_event){ .fd = fake.sys.perf_event_open(
							 &fake.sys, &a, 40 + (int)i, -1, -1, 0),
			                         .buffer_index = i };
	sm.config.wakeup_events = 0;
	assert_true(write_sample(0, 0, 1, 1) && write_sample(1, 0, 1, 2) &&
	            write_sample(1, 0, 1, 3)); /* 32 bytes each */
	assert_true(next());
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned before = fake.uses[FAKE_POLL];

		sm.config.watermark = rows[i].mark;
		assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_READY);
		assert_int_equal(fake.uses[FAKE_POLL] - before, rows[i].polls);
	}
}

static void reports_failed_poll(void **state)
{
	(void)state;
	open_buffers(1);
	sm.n_side_events = 1;
	fake.fail = FAKE_POLL;
	fake.fail_at = 1;
	fake.fail_errno = EINTR;
	assert_int_equal(pfm_wait_session(s, 10), PFM_WAIT_TIMEOUT);
	fake.fail_at = 2;
	fake.fail_errno = ENOMEM;
	assert_int_equal(pfm_wait_session(s, 10), PFMLIB_ERR_SYS);
	assert_int_equal(s->sys_errno, ENOMEM);
	sm.totals = NULL;
	assert_int_equal(pfm_wait_session(s, 10), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_wait_session(NULL, 10), PFMLIB_ERR_INVAL);
}

/* ---- accounts -------------------------------------------------------------------------------- */

/* An event whose CPU is gone has no descriptor and needs no signal. */
static void signals_skip_closed_events(void **state)
{
	static struct kernel_event gone[2] = { { .fd = -1 }, { .fd = -1 } };

	(void)state;
	open_buffers(2);
	perf.events = gone;
	perf.n_events = 2;
	assert_int_equal(pfm_signal_session(s, SIGUSR1), PFMLIB_SUCCESS);
	gone[1].fd = INT_MAX; /* an invalid descriptor: the kernel's error is returned */
	assert_int_equal(pfm_signal_session(s, SIGUSR1), PFMLIB_ERR_SYS);
	assert_int_equal(s->sys_errno, EBADF);
	gone[1].fd = -1;
}

UNIT(sampling_waiting, CASE(waits_for_records_of_every_task), CASE(waits_for_the_watermark),
     CASE(reports_failed_poll), CASE(signals_skip_closed_events));
