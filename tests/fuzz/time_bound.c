/* SPDX-License-Identifier: MIT */
#include "time_bound.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* With the sanitizers the slowest of 1500 inputs took 383 ms: a misspelled name, for which every
 * name of every processor is looked at. Per byte, inputs of 600 bytes and more took 4 us at most.
 * Both have room for a machine that is several times slower. */
enum { FIXED_MS = 2000, PER_BYTE_US = 100, TRIES = 2 };

/* Processor time, not that of a clock: other programs may run. One harness replaces
 * clock_gettime(). */
static uint64_t processor_us(void)
{
	struct rusage r;

	if (getrusage(RUSAGE_SELF, &r))
		abort();
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* An input that is too slow is tried again: the first time may have paid for what is made once. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t bound = FIXED_MS * 1000 + PER_BYTE_US * (uint64_t)size, took = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t before = processor_us();
		int rc = try_input(data, size);

		took = processor_us() - before;
		if (getenv("PERFMON_FUZZ_TIMES"))
			fprintf(stderr, "took %llu us, %zu bytes\n", (unsigned long long)took,
			        size);
		if (took <= bound)
			return rc;
	}
	fprintf(stderr, "%zu bytes took %llu us of processor time, expected at most %llu us\n",
	        size, (unsigned long long)took, (unsigned long long)bound);
	abort();
}
