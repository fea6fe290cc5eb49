/* SPDX-License-Identifier: MIT */
/* Results for people. */
#include "made_regions.h"

static void expect_piece(const char *text, const char *piece)
{
	if (!strstr(text, piece))
		fail_msg("no \"%s\" in:\n%s", piece, text);
}

static void table_of_one_region(void **state)
{
	struct made_regions m;
	struct made_results made;
	char *text;

	(void)state;
	make_regions(&m);
	make_results(&made, "table");
	text = write_to_text(pfmi_region_write_table, &made.results);
	expect_piece(text, "Cost of an empty visit: 0 ns (0 ns inside it); subtracted\n");
	expect_piece(text, "\ntable: 3 visits\n");
	expect_piece(text, "wall 3.000 us, own 2.000 us; a visit 500 ns to 1.500 us\n");
	expect_piece(text, "                 600  cycles:u                          own 400;\n"
	                   "                      a visit 100 to 300, deviation 100.0\n");
	expect_piece(text, "         not counted  page-faults");
	assert_null(strstr(text, "thread 7"));
	assert_null(strstr(text, "signal"));
	free(text);
	unmake_regions(&m);
}

static void threads_and_remarks(void **state)
{
	static char unit[] = "J";
	struct made_regions m;
	struct made_results made;
	char *text;

	(void)state;
	make_regions(&m);
	make_results(&made, "table");
	made.results.flags = PFM_REGIONS_PER_THREAD | PFM_REGIONS_NO_SUBTRACT;
	made.results.missed = 2;
	made.results.unmatched = 3;
	made.results.unmatched_region = pfmi_region_find_or_make_number("never\nbegun");
	made.rows[0].parent = pfmi_region_find_or_make_number("parent");
	made.rows[1].open = 1;
	m.events[0].unit = unit;
	m.events[0].scale = 0.5;
	m.events[0].system = true;
	m.events[0].cost_pair = 1234;
	pfmi_regions.layout.wall_pair = 41;
	text = write_to_text(pfmi_region_write_table, &made.results);
	expect_piece(text, "Cost of an empty visit: 41 ns (0 ns inside it); 617.000 J cycles:u;\n"
	                   "                      not subtracted\n");
	expect_piece(text, "2 begins and ends in signal handlers were ignored");
	expect_piece(text, "3 ends without a begin were ignored, one of region never\xef\xbf\xbd"
	                   "begun.\n");
	expect_piece(text, "\ntable (in parent): 3 visits\n");
	expect_piece(text, "\ntable, thread 7: 3 visits, 1 unfinished\n");
	expect_piece(text, "           300.000 J  cycles:u");
	expect_piece(text, "whole machine while the region ran\n");
	free(text);
	unmake_regions(&m);
}

/* A name may hold anything, and lines fit into a terminal. */
static void lines_of_a_terminal(void **state)
{
	struct made_regions m;
	struct made_results made;
	char *text;

	(void)state;
	make_regions(&m);
	make_results(&made, "table");
	made.rows[0].parent = pfmi_region_find_or_make_number("first\nsecond");
	text = write_to_text(pfmi_region_write_table, &made.results);
	expect_piece(text, "\ntable (in first\xef\xbf\xbdsecond): 3 visits\n");
	for (const char *line = text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		assert_true(end - line <= 80);
	}
	free(text);
	unmake_regions(&m);
}

/* Names as C++ has them, and an event with all its terms, have lines of their own. */
static void long_names_have_lines_of_their_own(void **state)
{
	static char event[] = "cpu_core/event=0xd1,umask=0x20,name=mem_load_retired.l3_miss/u";
	struct made_regions m;
	struct made_results made;
	char region[71], *text;

	(void)state;
	memset(region, 'r', sizeof(region) - 1);
	region[sizeof(region) - 1] = '\0';
	make_regions(&m);
	m.events[0].name = event;
	make_results(&made, region);
	made.rows[0].parent = pfmi_region_find_or_make_number("parent");
	text = write_to_text(pfmi_region_write_table, &made.results);
	expect_piece(text, "rrr\n  (in parent):\n  3 visits\n");
	expect_piece(text, "l3_miss/u\n                      own 400;");
	for (const char *line = text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		/* The event alone is longer than what is left beside its count. */
		assert_true(end - line <= 80 || strncmp(line + 22, event, sizeof(event) - 1) == 0);
	}
	free(text);
	unmake_regions(&m);
}

static void table_without_regions(void **state)
{
	struct made_regions m;
	struct made_results made;
	char *text;

	(void)state;
	make_regions(&m);
	make_results(&made, "table");
	made.results.n = 0;
	text = write_to_text(pfmi_region_write_table, &made.results);
	expect_piece(text, "No region was entered.\n");
	free(text);
	unmake_regions(&m);
}

UNIT(region_write_table, cmocka_unit_test(table_of_one_region),
     cmocka_unit_test(threads_and_remarks), cmocka_unit_test(lines_of_a_terminal),
     cmocka_unit_test(long_names_have_lines_of_their_own), cmocka_unit_test(table_without_regions));
