/* SPDX-License-Identifier: MIT */
/* Results as CSV. */
#include "made_regions.h"

#define HEAD                                                                                       \
	"process,region,parent,thread,visits,wall_ns,wall_exclusive_ns,task_ns,event,inclusive,"   \
	"exclusive,min,max,"                                                                       \
	"counted_visits,quality,overhead,error\n"

static void visits_are_csv_lines(void **state)
{
	struct made_regions m;
	struct made_results made;
	char want[1024], *got;
	int pid = (int)getpid();

	(void)state;
	make_regions(&m);
	make_results(&made, "a,\"b\"");
	made.rows[1].times.task = 2500;
	made.rows[1].times.task_visits = 3;
	snprintf(want, sizeof(want),
	         HEAD
	         "%d,\"a,\"\"b\"\"\",,all,3,3000,2000,,cycles:u,600,400,100,300,3,exact,0,0\n"
	         "%d,\"a,\"\"b\"\"\",,all,3,3000,2000,,page-faults,,,,,0,not counted,0,\n"
	         "%d,\"a,\"\"b\"\"\",,7,3,3000,2000,2500,cycles:u,600,400,100,300,3,exact,0,0\n"
	         "%d,\"a,\"\"b\"\"\",,7,3,3000,2000,2500,page-faults,,,,,0,not counted,0,\n",
	         pid, pid, pid, pid);
	got = write_to_text(pfmi_region_write_csv, &made.results);
	assert_string_equal(got, want);
	free(got);
	unmake_regions(&m);
}

/* Times alone, in a region inside another one. */
static void lines_without_events(void **state)
{
	struct made_regions m;
	struct made_results made;
	char want[1024], *got;

	(void)state;
	make_regions(&m);
	make_results(&made, "inner");
	made.results.n = 1;
	made.rows[0].parent = pfmi_region_find_or_make_number("outer");
	made.rows[0].tid = -1;
	pfmi_regions.layout.n_events = 0;
	snprintf(want, sizeof(want), HEAD "%d,inner,outer,ended,3,3000,2000,,,,,,,,,,\n",
	         (int)getpid());
	got = write_to_text(pfmi_region_write_csv, &made.results);
	assert_string_equal(got, want);
	free(got);
	unmake_regions(&m);
}

UNIT(region_write_csv, cmocka_unit_test(visits_are_csv_lines),
     cmocka_unit_test(lines_without_events));
