// SPDX-License-Identifier: MIT
// Benchmarks that touch 4 and 9 fresh pages in each operation.
#include <perfmon/bench.hpp>

extern "C" {
#include "marked.h"
}

int main()
{
	perfmon::bench bench("pages");

	bench.epochs(3).run("touch_four", [] { cause_faults(4); });
	bench.run("touch_nine", [] { cause_faults(9); });
	return bench.results().size() == 2 ? 0 : 1;
}
