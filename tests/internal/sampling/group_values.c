/* SPDX-License-Identifier: MIT */
/* Groups of which only the leader samples: values of members against differences worked out by
 * hand. */
#include "units.h"
#include <linux/perf_event.h>
#include "session/perf_event.h"
#include "sampling/sampling.h"

static struct sampling_state sm;
static struct sample_totals totals[2];
static struct event_id ids[] = { { 10, 0 }, { 20, 1 } };

static int set_up(void **state)
{
	(void)state;
	memset(totals, 0, sizeof(totals));
	totals[0].layout = (struct record_layout){
		.fields = PFM_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
	};
	sm = (struct sampling_state){ .totals = totals, .event_ids = ids, .n_event_ids = 2 };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pfmi_sampling_free_group_values(&sm.group);
	return 0;
}

/* Decodes a sample of the leader in task @tid whose values are @leader and @member. */
static pfm_record_t take_sample(uint64_t words[6], uint32_t tid, uint64_t leader, uint64_t member)
{
	pfm_record_t r = {
		.size = sizeof(r), .type = PFM_RECORD_SAMPLE, .has = PFM_SAMPLE_READ, .tid = tid
	};
	const uint64_t all[6] = { 2, 1000, leader, 10, member, 20 };

	memcpy(words, all, sizeof(all));
	r.body.sample.read = words;
	r.body.sample.n_read = 6;
	r.body.sample.ip = 0x1234;
	assert_true(pfmi_sampling_begin_group(&sm, &totals[0].layout, &r));
	return r;
}

static void members_have_samples_of_their_own(void **state)
{
	uint64_t words[6];
	pfm_record_t member, leader = take_sample(words, 1, 100, 7);

	(void)state;
	assert_int_equal(leader.body.sample.period, 100);
	assert_int_equal(pfmi_sampling_next_member(&sm, &member), 1);
	assert_int_equal(member.event, 1);
	assert_int_equal(member.body.sample.period, 7);
	assert_int_equal(member.body.sample.ip, 0x1234);
	assert_int_equal(pfmi_sampling_next_member(&sm, &member), 0);
	leader = take_sample(words, 1, 250, 10);
	assert_int_equal(leader.body.sample.period, 150);
	assert_int_equal(pfmi_sampling_next_member(&sm, &member), 1);
	assert_int_equal(member.body.sample.period, 3);
	/* A member whose value did not change has no sample. */
	leader = take_sample(words, 1, 251, 10);
	assert_int_equal(pfmi_sampling_next_member(&sm, &member), 0);
}

/* Inherited events have one value in each task; other events have one value in all. */
static void inherited_events_have_a_value_per_task(void **state)
{
	uint64_t words[6];

	(void)state;
	take_sample(words, 1, 100, 7);
	assert_int_equal(take_sample(words, 2, 130, 7).body.sample.period, 30);
	totals[0].layout.is_inherited = true;
	tear_down(NULL);
	set_up(NULL);
	totals[0].layout.is_inherited = true;
	take_sample(words, 1, 100, 7);
	assert_int_equal(take_sample(words, 2, 130, 7).body.sample.period, 130);
}

/* A number of members that exceeds the words of the sample is refused. */
static void refuses_member_counts_beyond_the_sample(void **state)
{
	uint64_t words[6] = { UINT64_MAX, 0, 0, 10, 0, 20 };
	pfm_record_t r = { .size = sizeof(r), .has = PFM_SAMPLE_READ };
	pfm_record_t member;

	(void)state;
	r.body.sample.read = words;
	r.body.sample.n_read = 6;
	assert_true(pfmi_sampling_begin_group(&sm, &totals[0].layout, &r));
	assert_int_equal(pfmi_sampling_next_member(&sm, &member), 0);
	r.body.sample.n_read = 1;
	words[0] = 2;
	assert_true(pfmi_sampling_begin_group(&sm, &totals[0].layout, &r));
	assert_int_equal(pfmi_sampling_next_member(&sm, &member), 0);
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

UNIT(sampling_group_values, CASE(members_have_samples_of_their_own),
     CASE(inherited_events_have_a_value_per_task), CASE(refuses_member_counts_beyond_the_sample));
