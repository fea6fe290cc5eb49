/* SPDX-License-Identifier: MIT */
/* Visits one region under as many parents as the argument says, three times. test_linear.py counts
 * the instructions. */
#include "made_regions.h"

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
	struct made_regions m;
	struct node *node;
	bool is_found = true;

	make_regions(&m);
	for (uint32_t i = 0; i < 3 * n; i++)
		is_found =
			is_found && pfmi_thread_find_or_make_entry(&m.thread, 1, 1 + i % n, &node);
	unmake_regions(&m);
	return is_found ? 0 : 1;
}
