// SPDX-License-Identifier: MIT
// Benchmarks that touch 4 and 9 fresh pages in each iteration.
#include <perfmon/google_benchmark.hpp>

extern "C" {
#include "marked.h"
}

static void touch_four(benchmark::State &state)
{
	perfmon::benchmark_counts counts(state, "touch_four");

	for (auto _ : state)
		cause_faults(4);
}
BENCHMARK(touch_four);

static void touch_nine(benchmark::State &state)
{
	perfmon::benchmark_counts counts(state, "touch_nine");

	for (auto _ : state)
		cause_faults(9);
}
BENCHMARK(touch_nine)->Threads(2);

BENCHMARK_MAIN();
