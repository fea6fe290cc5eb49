/* SPDX-License-Identifier: MIT */
#include "profile/unwind/chains.h"
#include <perfmon/recording.h>
#include "tiny_recording.h"
#include "units.h"

enum { COOKIE = 77 };

/* Takes the next record of @session with its frames. False after the last. */
static bool take_next(struct chains *c, pfm_session_t *session, pfm_record_t *record)
{
	while (!chains_take_record(c, record)) {
		if (pfm_next_record(session, record) != 1) {
			if (c->has_ended)
				return false;
			chains_end(c);
		} else if (!chains_hold_record(c, record)) {
			return true;
		}
	}
	return true;
}

static void frames_that_come_later(void **state)
{
	const uint64_t first[] = { (uint64_t)PFM_CHAIN_KERNEL, 0xfff1, (uint64_t)PFM_CHAIN_DEFERRED,
		                   COOKIE };
	const uint64_t frames[] = { (uint64_t)PFM_CHAIN_USER, 0x1000, 0x2000 };
	const uint64_t expected[] = { (uint64_t)PFM_CHAIN_KERNEL, 0xfff1, (uint64_t)PFM_CHAIN_USER,
		                      0x1000, 0x2000 };
	struct chains c = { .n_words = 0 };
	pfm_session_t *session;
	pfm_record_t record = PFM_INIT(record);
	struct tiny_recording t;
	unsigned n = 0;

	(void)state;
	tiny_begin(&t);
	tiny_add_sample(&t, 10, first, COUNT(first));
	tiny_add_sample(&t, 11, frames, COUNT(frames));
	tiny_add_deferred(&t, 12, COOKIE, frames, COUNT(frames));
	tiny_end(&t, NULL);
	assert_int_equal(pfm_open_recording(&session, t.path, NULL), PFMLIB_SUCCESS);
	while (take_next(&c, session, &record)) {
		if (record.type != PFM_RECORD_SAMPLE)
			continue;
		assert_int_equal(record.time, 10 + n); /* in order, though the first one waited */
		if (n++ == 0) {
			assert_int_equal(record.body.sample.n_chain, COUNT(expected));
			assert_memory_equal(record.body.sample.chain, expected, sizeof(expected));
		}
	}
	assert_int_equal(n, 2);
	chains_free(&c);
	pfm_close_session(session);
	tiny_remove(&t);
}

static void frames_that_never_come(void **state)
{
	const uint64_t first[] = { (uint64_t)PFM_CHAIN_KERNEL, 0xfff1, (uint64_t)PFM_CHAIN_DEFERRED,
		                   COOKIE };
	struct chains c = { .n_words = 0 };
	pfm_session_t *session;
	pfm_record_t record = PFM_INIT(record);
	struct tiny_recording t;

	(void)state;
	tiny_begin(&t);
	tiny_add_sample(&t, 10, first, COUNT(first));
	tiny_end(&t, NULL);
	assert_int_equal(pfm_open_recording(&session, t.path, NULL), PFMLIB_SUCCESS);
	do {
		assert_true(take_next(&c, session, &record));
	} while (record.type != PFM_RECORD_SAMPLE);
	assert_true(record.truncated & PFM_TRUNCATED_CHAIN);
	assert_int_equal(record.body.sample.n_chain, 2);
	chains_free(&c);
	pfm_close_session(session);
	tiny_remove(&t);
}

UNIT(profile_deferred_chains, cmocka_unit_test(frames_that_come_later),
     cmocka_unit_test(frames_that_never_come));
