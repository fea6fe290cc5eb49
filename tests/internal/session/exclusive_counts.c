/* SPDX-License-Identifier: MIT */
/* Events that must be counted alone, and the events that they keep out. */
#include <errno.h>
#include "built_session.h"

#define BIG   "adl_goldencove::"
#define ALONE BIG "FRONTEND_RETIRED.DSB_MISS"

static void finds_exclusive_conflicts(void **state)
{
	static const struct {
		const char *other;
		bool out;
	} rows[] = {
		{ BIG "L2_RQSTS.MISS", true },
		{ BIG "INST_RETIRED.ANY", false },
		{ "hardware::branches", true },
		{ "hardware::cache-misses", true },
		{ "hardware::cycles", false },
		{ "hardware::instructions", false },
		{ "hardware::ref-cycles", false },
		{ "hw_cache::L1-dcache-load-misses", true },
		{ "page-faults", false },
		{ "cpu_core/cache-misses/", true },
		{ "cpu_core/cpu-cycles/", false },
		{ "cpu_core/instructions/", false },
		{ "cpu_core/slots/", false },
		{ "cpu_core/event=0xc0,umask=1/", true },
		{ "cpu_core/event=0x3c,umask=1/", true },
		{ "cpu_core/event=0xc0,cmask=1/", false },
	};
	struct event alone;

	(void)state;
	use("hybrid");
	alone = event_of(ALONE);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct event other = event_of(rows[i].other);

		if (pfmi_session_has_exclusive_conflict(&alone, &other) != rows[i].out)
			fail_msg("%s", rows[i].other);
		assert_false(pfmi_session_has_exclusive_conflict(&other, &other));
		if (strcmp(rows[i].other, BIG "L2_RQSTS.MISS") == 0)
			assert_false(pfmi_session_has_exclusive_conflict(
				&other, &alone)); /* the rule of the other event applies */
	}
}

static void expect_exclusive(const char *marks)
{
	pfmi_session_mark_exclusive_groups(s);
	assert_int_equal(s->n_counts, strlen(marks));
	for (unsigned i = 0; i < s->n_counts; i++)
		if (s->counts[i].config.exclusive != (marks[i] == 'x'))
			fail_msg("count %u of %s", i, marks);
}

/* A group with an event that must be counted alone is exclusive if another group conflicts with
 * it; a conflict inside the group does not count. */
static void marks_groups_that_exclude_each_other(void **state)
{
	(void)state;
	use("hybrid");
	add_count(ALONE, "cpu_core", 0);
	add_count(BIG "INST_RETIRED.ANY", "cpu_core", 0);
	add_count(BIG "L2_RQSTS.MISS", "cpu_core", 1);
	add_count("page-faults", NULL, 2);
	expect_exclusive("xx..");
	begin_session();
	add_count(BIG "L2_RQSTS.MISS", "cpu_core", 0);
	add_count(ALONE, "cpu_core", 1);
	expect_exclusive(".x");
	begin_session();
	add_count(ALONE, "cpu_core", 0);
	add_count(BIG "L2_RQSTS.MISS", "cpu_core", 0);
	add_count("page-faults", NULL, 1);
	expect_exclusive("...");
	begin_session();
	add_count(ALONE, "cpu_core", 0);
	add_count(BIG "L2_RQSTS.MISS", "cpu_atom", 1); /* on another PMU */
	expect_exclusive("..");
	begin_session();
	add_count(ALONE, "cpu_core", 0);
	add_count("hardware::branches", NULL, 1); /* wherever it is counted */
	expect_exclusive("x.");
	begin_session();
	add_count(ALONE, "cpu_core", 0);
	add_count("hardware::cycles", NULL, 1);
	expect_exclusive("..");
}

UNIT(session_exclusive_counts, CASE(finds_exclusive_conflicts),
     CASE(marks_groups_that_exclude_each_other));
