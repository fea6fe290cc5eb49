// SPDX-License-Identifier: MIT
// Benchmarks of nanobench that touch 4 and 9 fresh pages in each operation.
#define ANKERL_NANOBENCH_IMPLEMENT
#include <iostream>
#include <perfmon/nanobench.hpp>

extern "C" {
#include "marked.h"
}

int main()
{
	ankerl::nanobench::Bench bench;

	bench.output(nullptr);
	perfmon::run_counted(bench, "touch_four", [] { cause_faults(4); });
	perfmon::run_counted(bench, "touch_nine", [] { cause_faults(9); });
	ankerl::nanobench::render(
		"{{#result}}{{name}} {{context(page-faults)}} {{median(elapsed)}}\n{{/result}}",
		bench, std::cout);
	return 0;
}
