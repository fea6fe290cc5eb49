/* SPDX-License-Identifier: MIT */
/* Counts of one kernel event: a driver that hands one counter to all of them. */
#include "units.h"
#include "fake_session.h"

static uint64_t values[8];

/* The session opens one trial event first, so the values begin at the second event. */
static void count_values(struct fake *f, struct fake_event *e)
{
	e->value = values[(unsigned)(e - f->events) - 1];
	e->is_open = e->running = 100000000;
}

static void open_values(const char *const *texts, unsigned n, const uint64_t *v)
{
	make_machine("uncore");
	memcpy(values, v, n * sizeof(*v));
	fake.tick = count_values;
	must_open(texts, n);
	run_session();
}

#define VALUES(...) ((const uint64_t[]){ __VA_ARGS__ })

static void one_counter_for_all(void **state)
{
	(void)state;
	open_values(TEXTS("cycles:u", "instructions:u", "cycles:u", "cycles:u"),
	            VALUES(4000000, 7, 0, 2000000));
	expect_count(0, PFM_QUALITY_PARTIAL, PFM_CAUSE_BUSY);
	expect_why(0, "one counter to all of them");
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(2, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
	expect_count(3, PFM_QUALITY_PARTIAL, PFM_CAUSE_BUSY);
	/* The reason of a count is that of its cause. */
	memcpy(values, VALUES(4000000, 7, 4000000, 4000000), 4 * sizeof(*values));
	read_all();
	for (unsigned i = 0; i < 4; i++) {
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		assert_string_equal(is_about(i).why, "");
	}
}

/* Copies start one after the other, so their values differ a little. */
static void copies_that_agree(void **state)
{
	open_values(TEXTS("cycles:u", "cycles:u"), VALUES(4000000, 3900000));
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	done(state);
	open_values(TEXTS("cycles:u", "cycles:u"), VALUES(0, 9000));
	expect_count(0, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	expect_count(1, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void other_levels_are_other_events(void **state)
{
	(void)state;
	open_values(TEXTS("cycles:u", "cycles:k", "cycles"), VALUES(4000000, 0, 1000000));
	for (unsigned i = 0; i < 3; i++)
		expect_count(i, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, done)

UNIT(session_copies, CASE(one_counter_for_all), CASE(copies_that_agree),
     CASE(other_levels_are_other_events));
