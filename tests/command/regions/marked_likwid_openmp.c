/* SPDX-License-Identifier: MIT */
/* An OpenMP program marked with the macros of likwid's own header. No thread is pinned: thread n
 * touches 4 pages in "solve" and 2 + n in "copy", five times. */
#include <likwid-marker.h>
#include <omp.h>
#include "marked.h"

int main(void)
{
	LIKWID_MARKER_INIT;
#pragma omp parallel num_threads(3)
	{
		LIKWID_MARKER_THREADINIT;
		LIKWID_MARKER_REGISTER("solve");
		for (unsigned i = 0; i < 5; i++) {
			LIKWID_MARKER_START("solve");
			cause_faults(4);
			LIKWID_MARKER_START("copy");
			cause_faults(2 + (unsigned)omp_get_thread_num());
			LIKWID_MARKER_STOP("copy");
			LIKWID_MARKER_STOP("solve");
		}
	}
	LIKWID_MARKER_CLOSE;
	return 0;
}
