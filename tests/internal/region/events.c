/* SPDX-License-Identifier: MIT */
/* Lists of events for regions that are refused. */
#include "units.h"
#include "region/region.h"

static void too_many_events_are_refused(void **state)
{
	static char list[1025 * 12 + 1];
	pfm_error_t error = PFM_INIT(error);
	struct layout l = { 0 };

	(void)state;
	for (unsigned i = 0; i < 1025; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "page-faults,");
	list[strlen(list) - 1] = '\0';
	assert_int_equal(pfmi_layout_open_events(&l, list, false, &error), PFMLIB_ERR_TOOMANY);
	assert_string_equal(error.detail, "more than 1024 events of regions: name fewer");
	pfmi_layout_free(&l);
}

static void unknown_event_is_refused(void **state)
{
	pfm_error_t error = PFM_INIT(error);
	struct layout l = { 0 };

	(void)state;
	assert_int_not_equal(
		pfmi_layout_open_events(&l, "page-faults,no-such-event", false, &error),
		PFMLIB_SUCCESS);
	assert_int_not_equal(error.code, PFMLIB_SUCCESS);
	pfmi_layout_free(&l);
}

UNIT(region_events, cmocka_unit_test(too_many_events_are_refused),
     cmocka_unit_test(unknown_event_is_refused));
