/* SPDX-License-Identifier: MIT */
#include "profile/waits.h"
#include "tiny_recording.h"
#include "units.h"

enum { RECORD_SWITCH = 14, MISC_OUT = 1 << 13 };

static void add_switch(struct tiny_recording *t, uint32_t misc, uint64_t time)
{
	tiny_put_head(t, RECORD_SWITCH, misc, 2);
	tiny_put(t, tiny_thread());
	tiny_put(t, time);
}

static void waits_end_at_the_next_arrival(void **state)
{
	struct tiny_recording t;
	struct waits *w;

	(void)state;
	tiny_begin(&t);
	tiny_add_comm(&t, "prog");
	add_switch(&t, MISC_OUT, 100);
	add_switch(&t, 0, 130);
	add_switch(&t, MISC_OUT, 200);
	add_switch(&t, 0, 290);
	add_switch(&t, MISC_OUT, 300);
	tiny_end(&t, NULL);
	w = waits_read(t.path, NULL);
	assert_non_null(w);
	assert_int_equal(waits_find(w, TINY_PID, 99), 31);
	assert_int_equal(waits_find(w, TINY_PID, 130), 160);
	assert_int_equal(waits_find(w, TINY_PID, 200), 90);
	assert_int_equal(waits_count_unended(w), 0);
	assert_int_equal(waits_find(w, TINY_PID, 295), 5);
	assert_int_equal(waits_find(w, TINY_PID + 1, 100), 200);
	assert_int_equal(waits_find(w, TINY_PID, 400), 0);
	assert_int_equal(waits_count_unended(w), 3);
	waits_free(w);
	tiny_remove(&t);
}

static void recordings_without_switches(void **state)
{
	struct tiny_recording t;

	(void)state;
	tiny_begin(&t);
	tiny_add_comm(&t, "prog");
	tiny_end(&t, NULL);
	assert_null(waits_read(t.path, NULL));
	tiny_remove(&t);
	assert_null(waits_read(t.path, NULL));
	assert_null(waits_read("-", NULL));
	waits_free(NULL);
}

UNIT(profile_recorded_waits, cmocka_unit_test(waits_end_at_the_next_arrival),
     cmocka_unit_test(recordings_without_switches));
