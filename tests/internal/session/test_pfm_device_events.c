/* SPDX-License-Identifier: MIT */
/* Events that the Tru64 counter device counts together, and those that it leaves out. */
#include "device_session.h"

static void event_of_missing_processor_replaces_no_other(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 1, 0, ALPHA_DEVICE_UNBOUND);

	(void)state;
	add(f, "issues");
	add(f, "loads");
	add(f, "cycles");
	f->counts[1].config.cpu = 7;
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->counts[1].status.cause, PFM_CAUSE_NO_CPU);
	assert_true(f->counts[0].status.cause == 0 && f->counts[2].status.cause == 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	work(f, 0, 1, 2, 3);
	assert_true(value(f, 0) == 1 && value(f, 1) == 0 && value(f, 2) == 3);
	end(f);
}

static void events_that_do_not_fit_are_left_out_and_say_so(void **state)
{
	struct fixture *f = begin(ALPHA_DEVICE_EV5, 1, 0, ALPHA_DEVICE_UNBOUND);

	(void)state;
	add(f, "issues");
	add(f, "loads");
	add(f, "stores"); /* only counter 1, too */
	add(f, "cycles"); /* moves to counter 2 */
	assert_int_equal(f->s.live.backend->open_counts(&f->s, NULL), 0);
	assert_int_equal(f->counts[2].status.cause, PFM_CAUSE_GROUP);
	assert_true(f->counts[0].status.cause == 0 && f->counts[1].status.cause == 0 &&
	            f->counts[3].status.cause == 0);
	assert_int_equal(f->s.live.backend->start_counting(&f->s), 0);
	work(f, 0, 1, 2, 3);
	assert_true(value(f, 0) == 1 && value(f, 1) == 2 && value(f, 2) == 0 && value(f, 3) == 3);
	end(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_of_missing_processor_replaces_no_other),
		cmocka_unit_test(events_that_do_not_fit_are_left_out_and_say_so),
	};

	return cmocka_run_group_tests_name("pfm_device_events", tests, NULL, NULL);
}
