/* SPDX-License-Identifier: MIT */
#include "profile/waits.h"
#include "units.h"

static void add(struct waits *w, uint32_t type, uint32_t misc, uint32_t tid, uint64_t time)
{
	pfm_record_t record = PFM_INIT(record);

	record.type = type;
	record.misc = (uint16_t)misc;
	record.has = PFM_SAMPLE_TIME;
	record.tid = tid;
	record.time = time;
	assert_true(waits_add_record(w, &record));
}

static void tasks_wait_for_themselves(void **state)
{
	struct waits *w = waits_create();

	(void)state;
	assert_non_null(w);
	assert_false(waits_has_switches(w));
	add(w, PFM_RECORD_SWITCH, PFM_MISC_OUT, 5, 100);
	add(w, PFM_RECORD_SWITCH, 0, 6, 120);
	add(w, PFM_RECORD_SWITCH_CPU, 0, 5, 150);
	assert_true(waits_has_switches(w));
	assert_int_equal(waits_find(w, 5, 99), 51);
	assert_int_equal(waits_find(w, 6, 99), 21);
	assert_int_equal(waits_count_unended(w), 0);
	waits_free(w);
}

static void tasks_that_end_do_not_wait(void **state)
{
	struct waits *w = waits_create();

	(void)state;
	assert_non_null(w);
	add(w, PFM_RECORD_SWITCH, 0, 5, 100);
	add(w, PFM_RECORD_EXIT, 0, 5, 110);
	add(w, PFM_RECORD_SWITCH, 0, 6, 500);
	assert_int_equal(waits_find(w, 5, 111), 0);
	assert_int_equal(waits_find(w, 5, 90), 10);
	assert_int_equal(waits_count_unended(w), 0);
	assert_int_equal(waits_find(w, 7, 400), 100);
	assert_int_equal(waits_count_unended(w), 1);
	waits_free(w);
}

UNIT(profile_waits, cmocka_unit_test(tasks_wait_for_themselves),
     cmocka_unit_test(tasks_that_end_do_not_wait));
