/* SPDX-License-Identifier: MIT */
/* Ids, attributes and names of the events of a recording of a counter device. */
#include "bare_recording.h"

static struct session_count counts[2];
static struct event_id ids[] = { { 101, 0 }, { 201, 1 }, { 102, 0 } };
static struct side_event side_events[] = { { .fd = 5, .id = 900 }, { .fd = -1, .id = 901 } };

/* Two counts with three ids, and @n_side events that bring side records. */
static void make_events(unsigned n_side)
{
	static char names[2][8] = { "first", "second" };

	memset(counts, 0, sizeof(counts));
	for (unsigned i = 0; i < 2; i++) {
		counts[i].config.name = names[i];
		counts[i].kernel_state.n_open = 1;
	}
	s->counts = counts;
	s->n_counts = 2;
	sm.event_ids = ids;
	sm.n_event_ids = COUNT(ids);
	sm.side_events = side_events;
	sm.n_side_events = n_side;
}

static void ids_are_those_of_the_event(void **state)
{
	static const uint64_t first[] = { 101, 102 }, side[] = { 900 };

	(void)state;
	make_events(2);
	assert_int_equal(pfmi_perfdata_count_event_ids(s, 0), 2);
	assert_int_equal(pfmi_perfdata_count_event_ids(s, 1), 1);
	assert_int_equal(pfmi_perfdata_count_event_ids(s, 2), 1); /* of side records; one is open */
	assert_int_equal(pfmi_perfdata_get_first_event_id(s, 0), 101);
	assert_int_equal(pfmi_perfdata_get_first_event_id(s, 1), 201);
	pfmi_perfdata_write_event_ids(&recording, 0);
	expect_bytes(0, first, sizeof(first));
	pfmi_perfdata_write_event_ids(&recording, 2);
	expect_bytes(sizeof(first), side, sizeof(side));
}

static void events_that_are_written(void **state)
{
	(void)state;
	make_events(0);
	assert_true(pfmi_perfdata_is_written_event(s, 0));
	assert_false(pfmi_perfdata_is_written_event(s, 2));
	counts[0].kernel_state.n_open = 0;
	sm.n_side_events = 1;
	assert_false(pfmi_perfdata_is_written_event(s, 0));
	assert_true(pfmi_perfdata_is_written_event(s, 2));
	assert_string_equal(pfmi_perfdata_get_event_name(s, 1), "second");
	assert_string_equal(pfmi_perfdata_get_event_name(s, 2), "dummy:u");
}

/* A record of the name: header, kind of update, first id, then the text, padded to words. */
static void names_are_records(void **state)
{
	uint8_t expected[32 + 32] = { 0 };
	const struct record_header head = { PERFDATA_RECORD_EVENT_UPDATE, 0, 32 };
	const uint64_t first[2] = { PERFDATA_UPDATE_NAME, 101 };
	const uint64_t second[2] = { PERFDATA_UPDATE_NAME, 201 };

	(void)state;
	make_events(0);
	pfmi_perfdata_write_name_records(&recording);
	memcpy(expected, &head, sizeof(head));
	memcpy(expected + 8, first, sizeof(first));
	memcpy(expected + 24, "first", sizeof("first"));
	memcpy(expected + 32, &head, sizeof(head));
	memcpy(expected + 40, second, sizeof(second));
	memcpy(expected + 56, "second", sizeof("second"));
	assert_int_equal(recording.offset, sizeof(expected));
	expect_bytes(0, expected, sizeof(expected));
}

UNIT(perfdata_recording_events, RECORDING_CASE(ids_are_those_of_the_event),
     RECORDING_CASE(events_that_are_written), RECORDING_CASE(names_are_records));
