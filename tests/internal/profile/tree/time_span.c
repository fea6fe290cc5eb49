/* SPDX-License-Identifier: MIT */
#include "profile/tree/time_span.h"
#include "units.h"

static void a_time_of_0_is_the_first(void **state)
{
	struct time_span s = { .has_time = false };

	(void)state;
	assert_int_equal(time_span_length(&s), 0);
	time_span_note(&s, 0);
	time_span_note(&s, 70);
	assert_int_equal(s.first, 0);
	assert_int_equal(time_span_length(&s), 70);
}

static void parts_are_below_their_number(void **state)
{
	const struct time_span s = { .first = 100, .last = 200, .has_time = true };

	(void)state;
	assert_int_equal(time_span_part(&s, 100, 10, 11), 0);
	assert_int_equal(time_span_part(&s, 155, 10, 11), 5);
	assert_int_equal(time_span_part(&s, 0, 10, 11), 0);
	assert_int_equal(time_span_part(&s, UINT64_MAX, 10, 11), 10);
	assert_int_equal(time_span_part(&s, UINT64_MAX, 0, 11), 0);
	assert_int_equal(time_span_slice(&s, 0, 4), 0);
	assert_int_equal(time_span_slice(&s, 174, 4), 2);
	assert_int_equal(time_span_slice(&s, 200, 4), 3);
	assert_int_equal(time_span_slice(&s, UINT64_MAX, 4), 3);
}

static void times_do_not_wrap(void **state)
{
	(void)state;
	assert_int_equal(time_span_between(5, 3), 0);
	assert_int_equal(time_span_between(0, UINT64_MAX), UINT64_MAX);
	assert_int_equal(time_span_after(UINT64_MAX - 1, 5), UINT64_MAX);
	assert_int_equal(time_span_after(7, 5), 12);
}

UNIT(profile_time_span, cmocka_unit_test(a_time_of_0_is_the_first),
     cmocka_unit_test(parts_are_below_their_number), cmocka_unit_test(times_do_not_wrap));
