/* SPDX-License-Identifier: MIT */
/* Count quality: extrapolation without losing a bit, differences of two readings, and the names of
 * qualities and causes. */
#include "units.h"
#include "session/perf_event_internal.h"

/* Computes raw enabled / running, rounded to the nearest, by long division of a product of single
 * bits: a second algorithm. */
static uint64_t by_long_division(uint64_t raw, uint64_t enabled, uint64_t running)
{
	uint64_t hi = 0, lo = 0, q = 0, rest = 0;

	for (int i = 63; i >= 0; i--) {
		uint64_t before;

		hi = hi << 1 | lo >> 63;
		lo <<= 1;
		before = lo;
		if (raw >> i & 1)
			lo += enabled;
		hi += lo < before;
	}
	for (int i = 127; i >= 0; i--) {
		uint64_t bit = (i < 64 ? lo >> i : hi >> (i - 64)) & 1;
		bool over = rest >> 63, above;

		rest = rest << 1 | bit;
		above = over || rest >= running;
		if (above)
			rest -= running;
		if (above && i >= 64)
			return UINT64_MAX;
		if (above)
			q |= (uint64_t)1 << i;
	}
	/* Rounds up from half of @running on, without a sum that may overflow. */
	return rest && rest >= running - rest && q != UINT64_MAX ? q + 1 : q;
}

static void extrapolated_values_do_not_overflow(void **state)
{
	static const uint64_t edges[] = { 0,
		                          1,
		                          2,
		                          3,
		                          0xffffffff,
		                          0x100000000,
		                          0x100000001,
		                          INT64_MAX,
		                          (uint64_t)1 << 63,
		                          UINT64_MAX - 1,
		                          UINT64_MAX };
	uint64_t seed = 7;

	(void)state;
	for (size_t a = 0; a < COUNT(edges); a++)
		for (size_t b = 0; b < COUNT(edges); b++) {
			assert_true(pfmi_session_extrapolate_value(edges[a], edges[b], 0) == 0);
			for (size_t c = 1; c < COUNT(edges); c++)
				assert_true(pfmi_session_extrapolate_value(edges[a], edges[b],
				                                           edges[c]) ==
				            by_long_division(edges[a], edges[b], edges[c]));
		}
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t raw = unit_random(&seed) >> unit_random(&seed) % 64,
			 enabled = unit_random(&seed) >> unit_random(&seed) % 64,
			 running = (unit_random(&seed) >> unit_random(&seed) % 64) | 1;

		if (pfmi_session_extrapolate_value(raw, enabled, running) !=
		    by_long_division(raw, enabled, running))
			fail_msg("%llu * %llu / %llu", (unsigned long long)raw,
			         (unsigned long long)enabled, (unsigned long long)running);
	}
}

/* Thirds and halves, computed by hand. */
static void extrapolated_values_are_rounded(void **state)
{
	(void)state;
	assert_true(pfmi_session_extrapolate_value(1, 4, 3) == 1);
	assert_true(pfmi_session_extrapolate_value(1, 5, 3) == 2);
	assert_true(pfmi_session_extrapolate_value(1, 5, 2) == 3);
	assert_true(pfmi_session_extrapolate_value(1, 3, 2) == 2);
	assert_true(pfmi_session_extrapolate_value(100, 1, 3) == 33);
	assert_true(pfmi_session_extrapolate_value(UINT64_MAX, UINT64_MAX, UINT64_MAX) ==
	            UINT64_MAX);
	assert_true(pfmi_session_extrapolate_value(UINT64_MAX, 2, 1) == UINT64_MAX);
	assert_true(pfmi_session_extrapolate_value(UINT64_MAX / 2, 2, 1) == UINT64_MAX - 1);
}

static pfm_count_t reading(uint64_t raw, uint64_t enabled, uint64_t running, pfm_quality_t quality)
{
	pfm_count_t n = PFM_INIT(n);

	n.raw = raw;
	n.enabled = enabled;
	n.running = running;
	n.quality = quality;
	n.value = running ? pfmi_session_extrapolate_value(raw, enabled, running) : 0;
	n.cause = quality == PFM_QUALITY_EXACT ? PFM_CAUSE_NONE : PFM_CAUSE_MULTIPLEXED;
	return n;
}

static void expect_between(pfm_count_t a, pfm_count_t b, int is_level, uint64_t value,
                           pfm_quality_t quality, pfm_cause_t cause)
{
	pfm_count_t d = PFM_INIT(d);

	assert_int_equal(pfm_subtract_counts(&a, &b, is_level, &d), PFMLIB_SUCCESS);
	if (d.value != value || d.quality != quality || d.cause != cause)
		fail_msg("%llu %s %s, not %llu %s", (unsigned long long)d.value,
		         pfm_quality_name(d.quality), pfm_cause_name(d.cause),
		         (unsigned long long)value, pfm_quality_name(quality));
}

static void a_difference_has_the_quality_of_its_interval(void **state)
{
	const int exact = PFM_QUALITY_EXACT, scaled = PFM_QUALITY_SCALED,
		  partial = PFM_QUALITY_PARTIAL, none = PFM_QUALITY_NOT_COUNTED,
		  shared = PFM_CAUSE_MULTIPLEXED;

	(void)state;
	expect_between(reading(100, 50, 50, exact), reading(300, 90, 90, exact), 0, 200, exact,
	               PFM_CAUSE_NONE);
	/* The event was multiplexed before the first reading only: the difference is exact. */
	expect_between(reading(1000, 100, 50, scaled), reading(1500, 200, 150, scaled), 0, 500,
	               exact, PFM_CAUSE_NONE);
	expect_between(reading(1000, 100, 50, scaled), reading(1500, 200, 149, scaled), 0, 505,
	               scaled, shared);
	/* Between exact readings no time is missing, whatever the clocks say. */
	expect_between(reading(100, 100, 99, exact), reading(300, 200, 198, exact), 0, 200, exact,
	               PFM_CAUSE_NONE);
	expect_between(reading(1000, 100, 50, scaled), reading(1000, 200, 50, scaled), 0, 0, none,
	               shared);
	/* A partial difference is the greater of the raw and the extrapolated difference. */
	expect_between(reading(100, 100, 50, partial), reading(300, 200, 100, partial), 0, 400,
	               partial, shared);
	expect_between(reading(100, 100, 50, partial), reading(300, 200, 200, partial), 0, 200,
	               partial, shared);
	/* The difference of a level is its last value. */
	expect_between(reading(80, 10, 10, exact), reading(60, 20, 20, exact), 1, 60, exact,
	               PFM_CAUSE_NONE);
	expect_between(reading(60, 10, 10, exact), reading(80, 20, 20, exact), 1, 80, exact,
	               PFM_CAUSE_NONE);
	/* After a reset between the two readings the difference is the later reading. */
	expect_between(reading(100, 50, 50, exact), reading(99, 90, 90, exact), 0, 99, exact,
	               PFM_CAUSE_NONE);
	expect_between(reading(100, 50, 50, exact), reading(100, 49, 49, exact), 0, 100, exact,
	               PFM_CAUSE_NONE);
	expect_between(reading(100, 50, 50, exact), reading(100, 50, 49, scaled), 0, 102, scaled,
	               shared);
	expect_between(reading(5, 1, 1, exact), reading(0, 0, 0, none), 0, 0, none, shared);
	/* A difference without enabled time is not exact; a known cause stays. */
	expect_between(reading(7, 7, 7, exact), reading(7, 7, 7, exact), 0, 0, none,
	               PFM_CAUSE_NO_TIME);
	expect_between(reading(7, 7, 7, exact), reading(9, 7, 7, exact), 0, 0, none,
	               PFM_CAUSE_NO_TIME);
	expect_between(reading(7, 7, 7, partial), reading(7, 7, 7, partial), 0, 0, none, shared);
	expect_between(reading(0, 0, 0, exact), reading(UINT64_MAX, 5, 5, exact), 0, UINT64_MAX,
	               exact, PFM_CAUSE_NONE);
}

static void differences_refuse_wrong_arguments(void **state)
{
	pfm_count_t a = reading(1, 1, 1, 0), d = PFM_INIT(d);

	(void)state;
	assert_int_equal(pfm_subtract_counts(NULL, &a, 0, &d), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_subtract_counts(&a, NULL, 0, &d), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_subtract_counts(&a, &a, 0, NULL), PFMLIB_ERR_INVAL);
	d.size = 1;
	assert_int_equal(pfm_subtract_counts(&a, &a, 0, &d), PFMLIB_ERR_INVAL);
	d.size = sizeof(d);
	a.size = 1;
	assert_int_equal(pfm_subtract_counts(&a, &a, 0, &d), PFMLIB_ERR_INVAL);
	assert_true(d.value == 0 && d.raw == 0);
}

/* Made-up and simulated counts are as good as their cause says; others keep their quality. */
static void qualities_of_counters(void **state)
{
	static const struct {
		pfm_cause_t cause;
		pfm_quality_t quality;
	} lines[] = { { PFM_CAUSE_NONE, PFM_QUALITY_EXACT },
		      { PFM_CAUSE_ERRATUM, PFM_QUALITY_EXACT },
		      { PFM_CAUSE_MULTIPLEXED, PFM_QUALITY_SCALED },
		      { PFM_CAUSE_NO_CPU, PFM_QUALITY_PARTIAL } };

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		for (int q = PFM_QUALITY_PRETENDED; q <= PFM_QUALITY_SIMULATED; q++)
			assert_int_equal(pfm_counter_quality((pfm_quality_t)q, lines[i].cause),
			                 lines[i].quality);
		for (int q = 0; q <= PFM_QUALITY_NOT_SUPPORTED; q++)
			assert_int_equal(pfm_counter_quality((pfm_quality_t)q, lines[i].cause), q);
	}
}

/* Each quality and cause of the header has a name of its own; other numbers have none. */
static void each_quality_and_cause_has_its_name(void **state)
{
	(void)state;
	for (unsigned i = 0; i <= PFM_QUALITY_SIMULATED; i++)
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(pfm_quality_name((pfm_quality_t)i),
			                        pfm_quality_name((pfm_quality_t)k));
	for (unsigned i = 0; i <= PFM_CAUSE_ERRATUM; i++)
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(pfm_cause_name((pfm_cause_t)i),
			                        pfm_cause_name((pfm_cause_t)k));
	assert_string_equal(pfm_quality_name(PFM_QUALITY_EXACT), "exact");
	assert_string_equal(pfm_quality_name(PFM_QUALITY_NOT_SUPPORTED), "not supported");
	assert_string_equal(pfm_cause_name(PFM_CAUSE_NONE), "");
	assert_string_equal(pfm_cause_name(PFM_CAUSE_THROTTLED), "throttled");
	assert_string_equal(pfm_cause_name(PFM_CAUSE_OTHER_CPU), "other CPU");
	assert_string_equal(pfm_cause_name(PFM_CAUSE_ERRATUM), "erratum");
	for (int i = 1; i < 4; i++) {
		assert_string_equal(pfm_quality_name((pfm_quality_t)-i), "");
		assert_string_equal(pfm_quality_name((pfm_quality_t)(PFM_QUALITY_SIMULATED + i)),
		                    "");
		assert_string_equal(pfm_cause_name((pfm_cause_t)-i), "");
		assert_string_equal(pfm_cause_name((pfm_cause_t)(PFM_CAUSE_ERRATUM + i)), "");
	}
}

/* A count that never ran has quality none on a CPU that came on line late. */
static void a_late_cpu_has_nothing(void **state)
{
	struct session_count c = { .config = { .scale = 1 }, .kernel_state = { .n_open = 1 } };
	struct pfm_session s = { .n_counts = 1, .counts = &c };

	(void)state;
	for (unsigned ran = 0; ran < 2; ran++) {
		pfm_count_t n = reading(50, 100, ran, PFM_QUALITY_PARTIAL);

		n.value = 50;
		n.cause = PFM_CAUSE_NO_CPU;
		pfmi_session_assess_quality(&s, 0, &n);
		assert_true(n.value == (ran ? 50 : 0));
		assert_int_equal(n.quality, ran ? PFM_QUALITY_PARTIAL : PFM_QUALITY_NOT_COUNTED);
		assert_int_equal(n.cause, PFM_CAUSE_NO_CPU);
	}
}

/* The first reason that a backend gives for a count stays. */
static void the_first_reason_stays(void **state)
{
	struct session_count c = { .status = { .cause = 0 } };

	(void)state;
	pfmi_session_set_reason(&c, PFM_CAUSE_BUSY, "wait", "%d of %s", 3, "them");
	assert_int_equal(c.status.reason_cause, PFM_CAUSE_BUSY);
	assert_int_equal(c.status.cause, PFM_CAUSE_NONE);
	assert_string_equal(c.status.reason, "3 of them");
	assert_string_equal(c.status.remedy, "wait");
	pfmi_session_fail_count(&c, PFM_CAUSE_PERMISSION, 13, "ask", "closed %c", 'x');
	assert_int_equal(c.status.cause, PFM_CAUSE_PERMISSION);
	assert_int_equal(c.status.sys_errno, 13);
	assert_int_equal(c.status.reason_cause, PFM_CAUSE_PERMISSION);
	assert_string_equal(c.status.reason, "closed x");
	pfmi_session_set_reason(&c, PFM_CAUSE_BUSY, "wait", "again");
	assert_string_equal(c.status.reason, "closed x");
	assert_string_equal(c.status.remedy, "ask");
}

UNIT(session_count_quality, cmocka_unit_test(extrapolated_values_do_not_overflow),
     cmocka_unit_test(extrapolated_values_are_rounded),
     cmocka_unit_test(a_difference_has_the_quality_of_its_interval),
     cmocka_unit_test(differences_refuse_wrong_arguments),
     cmocka_unit_test(each_quality_and_cause_has_its_name), cmocka_unit_test(qualities_of_counters),
     cmocka_unit_test(a_late_cpu_has_nothing), cmocka_unit_test(the_first_reason_stays));
