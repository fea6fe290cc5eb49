/* SPDX-License-Identifier: MIT */
/* Parallel regions without marks: thread n has 10 * (n + 1) faults and its share of 8. */
#include <omp.h>
#include "marked.h"

int main(void)
{
	for (unsigned i = 0; i < 3; i++) {
#pragma omp parallel num_threads(4)
		{
			cause_faults(10 * ((unsigned)omp_get_thread_num() + 1));
#pragma omp for
			for (int k = 0; k < 8; k++)
				cause_faults(1);
		}
	}
	return 0;
}
