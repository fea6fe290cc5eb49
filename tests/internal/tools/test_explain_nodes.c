/* SPDX-License-Identifier: MIT */
/* pfm explain: which nodes follow from made-up values, and which samples show where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "explain/explain.h"

/* The conditions of lib/explain/core.rules that are about time without a CPU, and one of the core
 * with its part. */
static const struct explain_rule rules[] = {
	{ "no-cpu", "", 1, { { "run_queue", true, 0.3 } }, "", "", "", "" },
	{ "locks", "", 1, { { "lock_waiters", true, 0.5 } }, "", "", "", "" },
	{ "waiting",
	  "",
	  3,
	  { { "cpus", false, 0.5 }, { "run_queue", false, 0.3 }, { "lock_waiters", false, 0.5 } },
	  "",
	  "",
	  "",
	  "" },
	{ "off-cpu", "", 1, { { "cpus", false, 0.5 } }, "", "", "", "" },
	{ "memory", "", 1, { { "memory", true, 0.2 } }, "", "", "", "" },
	{ "memory-bandwidth",
	  "memory",
	  2,
	  { { "l3", true, 2 }, { BANDWIDTH_METRIC, true, 0.5 } },
	  "",
	  "",
	  "",
	  "" },
	{ NULL, "", 0, { { NULL, false, 0 } }, "", "", "", "" },
};

static struct explain_evidence evidence;

static void set(const char *metric, double low, double high)
{
	for (size_t i = 0; i < evidence.n; i++)
		if (strcmp(evidence.values[i].metric, metric) == 0) {
			evidence.values[i].value = (low + high) / 2;
			evidence.values[i].low = low;
			evidence.values[i].high = high;
			evidence.values[i].is_known = true;
		}
}

/* A program that uses one CPU, of which memory takes 0.4 of the slots. */
static void begin(void)
{
	evidence = (struct explain_evidence){ .n = 0 };
	list_metrics(rules, &evidence);
	set("run_queue", 0, 0.05);
	set("lock_waiters", 0, 0);
	set("cpus", 0.9, 1);
	set("memory", 0.4, 0.4);
}

static void assert_nodes(const char *const *expected)
{
	const struct explain_rule *nodes[EXPLAIN_NODES_MAX];
	const unsigned n = find_nodes(rules, &evidence, nodes);

	for (unsigned i = 0; i < n && expected[i]; i++)
		assert_string_equal(nodes[i]->node, expected[i]);
	assert_true(n == 0 || expected[n - 1]);
	assert_null(expected[n]);
}

#define ASSERT_NODES(...) assert_nodes((const char *const[]){ __VA_ARGS__, NULL })

static void a_program_without_a_cpu_is_explained_as_well(void **state)
{
	(void)state;
	begin();
	ASSERT_NODES("memory");
	set("run_queue", 0.6, 0.8);
	set("cpus", 0.2, 0.3);
	ASSERT_NODES("no-cpu", "memory");
}

static void a_program_that_waits_is_not_limited_by_its_core(void **state)
{
	(void)state;
	begin();
	set("cpus", 0.1, 0.2);
	ASSERT_NODES("waiting");
	set("lock_waiters", 1.5, 2);
	ASSERT_NODES("locks");
}

/* Neither the queue for the CPU nor anything else is certain. */
static void an_uncertain_reason_is_none(void **state)
{
	(void)state;
	begin();
	set("cpus", 0.1, 0.2);
	set("run_queue", 0.2, 0.4);
	ASSERT_NODES("off-cpu", "memory");
	evidence.values[0].is_known = false; /* run_queue: as of a region */
	ASSERT_NODES("off-cpu");
}

static void the_speed_of_the_memory_is_needed_where_lines_come_from_it(void **state)
{
	(void)state;
	begin();
	set("l3", 0.1, 0.2);
	assert_false(needs_metric(rules, &evidence, BANDWIDTH_METRIC));
	set("l3", 8, 9);
	assert_true(needs_metric(rules, &evidence, BANDWIDTH_METRIC));
	ASSERT_NODES("memory");
	set(BANDWIDTH_METRIC, 0.7, 0.8);
	ASSERT_NODES("memory", "memory-bandwidth");
	set("memory", 0.1, 0.1);
	assert_false(needs_metric(rules, &evidence, BANDWIDTH_METRIC));
}

static void waits_show_where_a_program_waits_and_events_where_it_works(void **state)
{
	(void)state;
	begin();
	assert_ptr_equal(find_sites_of_node(&rules[2], true, &evidence), &evidence.waits);
	assert_ptr_equal(find_sites_of_node(&rules[0], true, &evidence), &evidence.work);
	assert_ptr_equal(find_sites_of_node(&rules[5], true, &evidence), &evidence.work);
	evidence.events.n = 1;
	assert_ptr_equal(find_sites_of_node(&rules[5], true, &evidence), &evidence.events);
	assert_ptr_equal(find_sites_of_node(&rules[0], true, &evidence), &evidence.work);
	assert_null(find_sites_of_node(&rules[4], false, &evidence));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_without_a_cpu_is_explained_as_well),
		cmocka_unit_test(a_program_that_waits_is_not_limited_by_its_core),
		cmocka_unit_test(an_uncertain_reason_is_none),
		cmocka_unit_test(the_speed_of_the_memory_is_needed_where_lines_come_from_it),
		cmocka_unit_test(waits_show_where_a_program_waits_and_events_where_it_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
