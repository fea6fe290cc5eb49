/* SPDX-License-Identifier: MIT */
/* Visits one region under as many parents as the argument says, three times; with a second argument
 * it writes the results of as many regions, each in the one before, in PAPI's form. test_linear.py
 * counts the instructions. */
#include "made_regions.h"

static void write_regions(uint32_t n)
{
	struct made_regions m;
	struct made_results made;
	struct result_row *rows = calloc(n + 1, sizeof(*rows));
	FILE *out = fopen("/dev/null", "w");

	make_regions(&m);
	make_results(&made, "outer");
	for (uint32_t i = 0; rows && i < n; i++) {
		rows[i] = made.rows[1];
		rows[i].region = 1 + i;
		rows[i].parent = i;
	}
	made.results.rows = rows;
	made.results.n = rows ? n : 0;
	if (out)
		pfmi_region_write_papi(out, &made.results);
	if (out)
		fclose(out);
	free(rows);
	unmake_regions(&m);
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
	struct made_regions m;
	struct node *node;
	bool is_found = true;

	if (argc > 2) {
		write_regions(n);
		return 0;
	}
	make_regions(&m);
	for (uint32_t i = 0; i < 3 * n; i++)
		is_found =
			is_found && pfmi_thread_find_or_make_entry(&m.thread, 1, 1 + i % n, &node);
	unmake_regions(&m);
	return is_found ? 0 : 1;
}
