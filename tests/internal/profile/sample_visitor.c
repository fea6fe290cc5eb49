/* SPDX-License-Identifier: MIT */
#include "profile/sample_visitor.h"
#include <perfmon/recording.h>
#include "tiny_recording.h"
#include "units.h"

enum { COOKIE = 77 };

/* Two samples, of which the first gets its user frames from the record after the second. */
static void write_samples(struct tiny_recording *t)
{
	const uint64_t first[] = { (uint64_t)PFM_CHAIN_DEFERRED, COOKIE };
	const uint64_t frames[] = { (uint64_t)PFM_CHAIN_USER, 0x1000, 0x2000 };

	tiny_begin(t);
	tiny_add_comm(t, "prog");
	tiny_add_sample(t, 10, first, COUNT(first));
	tiny_add_sample(t, 20, frames, COUNT(frames));
	tiny_add_deferred(t, 30, COOKIE, frames, COUNT(frames));
	tiny_end(t, NULL);
}

/* Visits the samples of @v, which must be those of write_samples(). Returns their number. */
static unsigned visit_all(struct sample_visitor *v, const struct text_pool *texts)
{
	struct visited_sample s;
	unsigned n = 0;

	while (visit_next_sample(v, &s) == 1) {
		assert_int_equal(s.record->time, 10 * ++n);
		assert_int_equal(s.record->body.sample.n_chain, 3);
		assert_int_equal(s.event, 0);
		assert_true(s.weight > 0);
		if (texts)
			assert_string_equal(texts->text[s.task], "prog");
	}
	return n;
}

static void samples_of_a_recording_in_order(void **state)
{
	struct profile_losses losses = { .records = 0 };
	struct text_pool texts = { .n = 0 };
	struct sample_visitor v;
	pfm_error_t error;
	pfm_session_t *session;
	struct tiny_recording t;

	(void)state;
	write_samples(&t);
	assert_int_equal(open_visited_recording(&session, t.path, NULL, &error), PFMLIB_SUCCESS);
	begin_sample_visit(&v, session, SOURCE_RECORDING, &losses, NULL);
	assert_true(visit_tasks(&v, &texts, open_recorded_symbols(t.path, NULL, NULL, NULL)));
	assert_int_equal(visit_all(&v, &texts), 2);
	assert_int_equal(v.recorded.last, 20);
	end_sample_visit(&v);
	text_pool_free(&texts);
	pfm_close_session(session);
	tiny_remove(&t);
}

static void samples_without_tasks(void **state)
{
	struct profile_losses losses = { .records = 0 };
	struct sample_visitor v;
	pfm_error_t error;
	pfm_session_t *session;
	struct tiny_recording t;

	(void)state;
	write_samples(&t);
	assert_int_equal(open_visited_recording(&session, t.path, NULL, &error), PFMLIB_SUCCESS);
	begin_sample_visit(&v, session, SOURCE_RECORDING, &losses, NULL);
	assert_int_equal(visit_all(&v, NULL), 2);
	end_sample_visit(&v);
	pfm_close_session(session);
	tiny_remove(&t);
}

/* The first sample is not shown before its frames were given; no record is shown twice. */
static void records_that_a_caller_gives(void **state)
{
	struct profile_losses losses = { .records = 0 };
	pfm_record_t record = PFM_INIT(record);
	struct sample_visitor v;
	struct visited_sample s;
	pfm_session_t *session;
	struct tiny_recording t;
	unsigned n = 0;

	(void)state;
	write_samples(&t);
	assert_int_equal(pfm_open_recording(&session, t.path, NULL), PFMLIB_SUCCESS);
	begin_sample_visit(&v, session, SOURCE_CALLER, &losses, NULL);
	assert_int_equal(visit_next_sample(&v, &s), 0);
	while (pfm_next_record(session, &record) == 1) {
		unsigned before = n;

		give_record_to_visitor(&v, &record);
		n += visit_all(&v, NULL);
		assert_int_equal(n - before, record.type == PFM_RECORD_DEFERRED_CHAIN ? 2 : 0);
	}
	assert_int_equal(n, 2);
	end_sample_visit(&v);
	pfm_close_session(session);
	tiny_remove(&t);
}

UNIT(profile_sample_visitor, cmocka_unit_test(samples_of_a_recording_in_order),
     cmocka_unit_test(samples_without_tasks), cmocka_unit_test(records_that_a_caller_gives));
