/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"
#include "profile/messages.h"
#include <perfmon/recording.h>
#include "tiny_recording.h"
#include "units.h"

static char message[512];

static void keep_message(void *arg, const char *text)
{
	(void)arg;
	snprintf(message, sizeof(message), "%s", text);
}

static void write_three_samples(struct tiny_recording *t)
{
	const uint64_t deep[] = { (uint64_t)PFM_CHAIN_USER, 0x1000, 0x2000 };
	const uint64_t flat[] = { (uint64_t)PFM_CHAIN_USER, 0x1000 };

	tiny_begin(t);
	tiny_add_comm(t, "prog");
	tiny_add_sample(t, 10, deep, COUNT(deep));
	tiny_add_sample(t, 20, deep, COUNT(deep));
	tiny_add_sample(t, 30, flat, COUNT(flat));
	tiny_end(t, NULL);
}

static void samples_of_a_recording(void **state)
{
	const struct profile_options options = { .keys = KEY_TASK };
	struct profile p = { .n_places = 0 };
	struct tiny_recording t;

	(void)state;
	write_three_samples(&t);
	assert_int_equal(profile_read_selected(&p, t.path, &options), PFMLIB_SUCCESS);
	assert_int_equal(p.n_events, 1);
	assert_int_equal(p.samples[0], 3);
	assert_int_equal(p.n_places, 1);
	assert_int_equal(p.places[0].samples, 3);
	assert_string_equal(p.texts.text[p.places[0].task], "prog");
	assert_true(p.has_chains);
	assert_false(p.losses.damaged);
	profile_free(&p);
	tiny_remove(&t);
}

static void equal_stacks_are_one(void **state)
{
	const struct profile_options options = { .detail = STACKS };
	struct profile p = { .n_places = 0 };
	struct tiny_recording t;

	(void)state;
	write_three_samples(&t);
	assert_int_equal(profile_read_selected(&p, t.path, &options), PFMLIB_SUCCESS);
	assert_int_equal(p.n_stacks, 2);
	assert_int_equal(p.stacks[0].samples, 2);
	assert_int_equal(p.stacks[1].samples, 1);
	profile_free(&p);
	tiny_remove(&t);
}

static void records_one_by_one(void **state)
{
	const struct profile_options options = { .keys = KEY_TASK };
	struct profile p = { .n_places = 0 };
	struct profile_reader *r;
	pfm_record_t record = PFM_INIT(record);
	pfm_session_t *session;
	struct tiny_recording t;

	(void)state;
	write_three_samples(&t);
	assert_int_equal(pfm_open_recording(&session, t.path, NULL), PFMLIB_SUCCESS);
	r = profile_begin(&p, session, false, &options);
	assert_non_null(r);
	while (pfm_next_record(session, &record) == 1)
		assert_true(profile_add_record(r, &record));
	assert_int_equal(p.samples[0], 3);
	profile_clear(r, KEY_TASK);
	assert_int_equal(p.samples[0], 0);
	assert_int_equal(p.n_places, 0);
	profile_end(r);
	profile_free(&p);
	tiny_remove(&t);
}

static void files_that_are_no_recordings(void **state)
{
	struct profile_messages m = { .show_message = keep_message };
	const struct profile_options options = { .keys = KEY_TASK, .messages = &m };
	struct profile p = { .n_places = 0 };

	(void)state;
	assert_int_not_equal(profile_read_selected(&p, "/nonexistent", &options), PFMLIB_SUCCESS);
	assert_string_equal(message, "/nonexistent: no such file; 'pfm record' makes a recording");
	profile_free(&p);
}

static void names_of_events(void **state)
{
	(void)state;
	assert_true(profile_matches_event("cycles", "cycles"));
	assert_true(profile_matches_event("cycles:u", "cycles"));
	assert_true(profile_matches_event("cycles:u", "cyc*:u"));
	assert_true(profile_matches_event("skl::A[1]", "skl::A[1]"));
	assert_false(profile_matches_event("cycles:u", "cycles:k"));
	assert_false(profile_matches_event("cycles_any", "cycles"));
	assert_false(profile_matches_event("skl::CYCLES", "skl"));
	assert_false(profile_matches_event("cycles", ""));
}

UNIT(profile_profile, cmocka_unit_test(names_of_events), cmocka_unit_test(samples_of_a_recording),
     cmocka_unit_test(equal_stacks_are_one), cmocka_unit_test(records_one_by_one),
     cmocka_unit_test(files_that_are_no_recordings));
