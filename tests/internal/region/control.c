/* SPDX-License-Identifier: MIT */
/* Start and stop as a program asks for them, in a process of its own. */
#include "region/region.h"
#include "../../support/story.h"
#include "units.h"

static void visit_region(pfm_region_t *region)
{
	(pfm_begin_region)(region);
	(pfm_end_region)(region);
}

static void start_and_stop_story(void)
{
	pfm_region_t *region = pfm_find_region("control");
	double inside, pair;
	pfm_region_results_t *r;

	unsetenv("PERFMON_REGIONS");
	unsetenv("PERFMON_REGIONS_OUTPUT");
	unsetenv("PERFMON_REGIONS_OPTIONS");
	EXPECT(pfm_start_regions(NULL, NULL), PFMLIB_SUCCESS, "start");
	EXPECT(perfmon_regions_active, 1, "active");
	pfm_region_cost(&inside, &pair);
	EXPECT_TRUE(pair > 0 && pair < 1e6, "the cost of an empty visit was measured: %f", pair);
	visit_region(region);
	pfm_stop_regions();
	EXPECT(perfmon_regions_active, 0, "active");
	EXPECT(pfmi_regions.run, 1, "stops");
	visit_region(region);
	EXPECT(pfm_start_regions(NULL, NULL), PFMLIB_SUCCESS, "start");
	visit_region(region);
	r = pfm_read_regions();
	EXPECT_TRUE(r != NULL, "results");
	EXPECT(info_of(r, "control", "", 0).visits, 2, "visits");
	EXPECT(r->n, 2, "rows"); /* those of the measurement are left out */
	pfm_close_region_results(r);
}

/* A visit that is open when a program stops is dropped. */
static void stop_inside_story(void)
{
	pfm_region_t *region = pfm_find_region("control");
	pfm_region_results_t *r;

	unsetenv("PERFMON_REGIONS");
	unsetenv("PERFMON_REGIONS_OUTPUT");
	EXPECT(pfm_start_regions(NULL, NULL), PFMLIB_SUCCESS, "start");
	(pfm_begin_region)(region);
	pfm_stop_regions();
	(pfm_end_region)(region);
	EXPECT(pfm_start_regions(NULL, NULL), PFMLIB_SUCCESS, "start");
	visit_region(region);
	r = pfm_read_regions();
	EXPECT(info_of(r, "control", "", 0).visits, 1, "visits");
	pfm_close_region_results(r);
}

static void refused_story(void)
{
	pfm_regions_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);

	unsetenv("PERFMON_REGIONS");
	options.events = "no-such-event";
	EXPECT_TRUE(pfm_start_regions(&options, &error) != PFMLIB_SUCCESS, "an unknown event");
	EXPECT(pfmi_regions.started, 0, "started");
	EXPECT_TRUE(pfm_read_regions() == NULL, "no results");
}

static void start_and_stop(void **state)
{
	(void)state;
	run_story(start_and_stop_story);
}

static void a_stop_inside_of_a_region_ends_its_visit(void **state)
{
	(void)state;
	run_story(stop_inside_story);
}

static void failed_start_is_reported(void **state)
{
	(void)state;
	run_story(refused_story);
}

UNIT(region_control, cmocka_unit_test(start_and_stop),
     cmocka_unit_test(a_stop_inside_of_a_region_ends_its_visit),
     cmocka_unit_test(failed_start_is_reported));
