/* SPDX-License-Identifier: MIT */
/* Two parallel regions of gcc's OpenMP, with 2 and 3 pages for each of 4 threads, three times. */
#include "marked.h"

int main(void)
{
	for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(4)
		cause_faults(2);
#pragma omp parallel for schedule(dynamic, 1) num_threads(4)
		for (int k = 0; k < 4; k++)
			cause_faults(3);
	}
	return 0;
}
