/* SPDX-License-Identifier: MIT */
/* The list of a plan's events grows and keeps what it has. */
#include "units.h"
#include "metric/plan.h"

static void events_keep_their_values_as_the_list_grows(void **state)
{
	struct pfm_plan plan = { 0 };

	(void)state;
	for (unsigned i = 0; i < 500; i++) {
		struct planned_event *e = pfmi_plan_add_event(&plan);

		assert_non_null(e);
		assert_ptr_equal(e, &plan.events[i]);
		assert_int_equal(plan.n_events, i + 1);
		assert_true(plan.events_capacity >= plan.n_events);
		assert_int_equal(e->counter, -1);
		assert_true(!e->text[0] && !e->metric_number && !e->is_added && !e->is_leader &&
		            !e->is_in_proof);
		e->request_index = i;
		e->counter = (int)i;
	}
	for (unsigned i = 0; i < 500; i++)
		assert_true(plan.events[i].request_index == i && plan.events[i].counter == (int)i);
	free(plan.events);
}

/* An event that was taken back leaves nothing to the next one. */
static void an_event_taken_back_leaves_nothing_behind(void **state)
{
	struct pfm_plan plan = { 0 };
	struct planned_event *e = pfmi_plan_add_event(&plan);

	(void)state;
	snprintf(e->text, sizeof(e->text), "cycles");
	e->counter = 3;
	plan.n_events--;
	assert_ptr_equal(pfmi_plan_add_event(&plan), e);
	assert_string_equal(e->text, "");
	assert_int_equal(e->counter, -1);
	free(plan.events);
}

UNIT(metric_planned_events, cmocka_unit_test(events_keep_their_values_as_the_list_grows),
     cmocka_unit_test(an_event_taken_back_leaves_nothing_behind));
