/* SPDX-License-Identifier: MIT */
/* The speed of the memory, by the kernels that use nothing else. */
#include "truth/speed.h"
#include "truth/kernels.h"
#include "truth/streams.h"

#include <sched.h>
#include <string.h>

enum { SPEED_RUNS = 3, SPEED_PASSES = 4, CHASE_TURNS = 20000 };

/* Nanoseconds of a dependent load that no cache holds; 0 if that cannot be measured. */
static double measure_latency(void)
{
	size_t n, size;
	const char *why;
	const struct truth_kernel *k = truth_list_kernels(&n);
	void *memory = truth_make_memory(TRUTH_RING_DRAM, &size, &why);
	double best = 0;

	while (n && strcmp(k->name, "chase_memory") != 0) {
		k++;
		n--;
	}
	for (unsigned i = 0; n && memory && i < SPEED_RUNS; i++) {
		const double begin = truth_read_clock();
		double each;

		k->run(CHASE_TURNS, memory);
		each = (truth_read_clock() - begin) * 1e9 /
		       (k->does[TRUTH_LOADS].low * CHASE_TURNS);
		if (i == 0 || each < best)
			best = each;
	}
	truth_free_memory(memory, size);
	return best;
}

bool truth_measure_memory(double *nanoseconds, double *bytes_a_second)
{
	double bytes, seconds;
	cpu_set_t before;

	*nanoseconds = measure_latency();
	*bytes_a_second = 0;
	if (sched_getaffinity(0, sizeof(before), &before))
		return false;
	if (truth_run_stream(TRUTH_STREAM_READ, SPEED_PASSES, &bytes, &seconds))
		*bytes_a_second = bytes / seconds;
	sched_setaffinity(0, sizeof(before), &before);
	return *nanoseconds > 0 && *bytes_a_second > 0;
}
